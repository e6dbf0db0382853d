//! Removes what a function prints for debugging, where the function is looked at by itself: a program of a device has
//! no way to print.
//!
//! ```text
//! debug[pieces = ["x = ", _]] %0
//! %1 = mul %0, %0 : f32                 →    %1 = mul %0, %0 : f32
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst};
use crate::ir::op::{Effect, Op};

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut Silence)
}

struct Silence;

impl Rewrite for Silence {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        if !matches!(inst.op, Op::Effect(Effect::Debug(_), _)) {
            c.keep(self, inst);
        }
    }
}
