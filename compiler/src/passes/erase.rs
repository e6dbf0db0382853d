//! Removes what only derivatives needed: functions with their own derivative and recomputed ones become their bodies,
//! `stop_gradient` its operand.
//!
//! ```text
//! %1 = custom_vjp %0 : f32 function(%2: f32) {
//!   %3 = exp %2 : f32
//!   yield %3                                        →    %1 = exp %0 : f32
//! } derivative(…) { … }
//! %5 = stop_gradient %1 : f32                            return %1
//! return %5
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst};
use crate::ir::op::Op;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut Erase)
}

struct Erase;

impl Rewrite for Erase {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match inst.op {
            Op::CustomVjp | Op::Remat => {
                let args = c.values(&inst.args);
                let results = c.inline(self, &inst.regions[0], &args);
                c.set_all(&inst.results, &results);
            }
            Op::StopGradient => {
                let args = c.values(&inst.args);
                c.set_all(&inst.results, &args);
            }
            _ => c.keep(self, inst),
        }
    }
}
