//! Prepares the left operand of a product that contracts the leading dimensions of both, as gradients of weights do.
//!
//! Where several are contracted, XLA's CPU compiler transposes it, and works out what it is made of once more in that loop,
//! against the grain of the arrays: it is held. Where it is one, XLA calls Eigen, whose packed rows fall on the same lines of
//! the cache when they are long and of round length; rows by columns go to a faster library: it is transposed, and held
//! so that XLA does not take the transpose back.
//!
//! ```text
//! dot_general[contract = [0, 1] x [0, 1]] %x, %g    →    %1 = barrier %x
//!                                                        dot_general[contract = [0, 1] x [0, 1]] %1, %g
//! dot_general[contract = [0] x [0]] %x, %g          →    %1 = transpose[perm = [1, 0]] %x
//!                                                        %2 = barrier %1
//!                                                        dot_general[contract = [1] x [0]] %2, %g
//! ```
//!
//! A product of the second kind may add its terms in another order.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst};
use crate::ir::op::{DotDims, Op};
use crate::ir::types::{Elem, Type};

/// Transposing costs what the faster library saves on about half as many columns of the result.
const FEWEST_COLUMNS: usize = 1024;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut LeadingDot)
}

struct LeadingDot;

impl Rewrite for LeadingDot {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let Op::Dot(dims) = &inst.op else {
            return c.keep(self, inst);
        };
        let [lhs_ty, rhs_ty] = [0, 1].map(|i| c.from.ty(inst.args[i]));
        let Some(prepared) = prepared(dims, lhs_ty, rhs_ty) else {
            return c.keep(self, inst);
        };
        let [mut lhs, rhs] = [0, 1].map(|i| c.value(inst.args[i]));
        let mut dims = dims.clone();
        c.at(inst.results.first());
        if prepared == Prepared::Transposed {
            lhs = c.b.op(Op::Transpose { perm: vec![1, 0] }, &[lhs]);
            dims.lhs_contract = vec![1];
        }
        let held = c.b.op(Op::Barrier, &[lhs]);
        let result = c.b.op(Op::Dot(dims), &[held, rhs]);
        c.set(inst.results[0], result);
    }
}

/// What is done to a left operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prepared {
    Held,
    Transposed,
}

fn prepared(dims: &DotDims, lhs: &Type, rhs: &Type) -> Option<Prepared> {
    let leading = |contracted: &[usize]| contracted.iter().all(|&d| d < contracted.len());
    let concerned = dims.lhs_batch.is_empty()
        && leading(&dims.lhs_contract)
        && leading(&dims.rhs_contract)
        && (lhs.elem, rhs.elem) == (Elem::F32, Elem::F32);
    let columns = |contracted: usize| rhs.shape[contracted..].iter().product::<usize>();
    match (dims.lhs_contract.len(), lhs.rank()) {
        (1, 2) if concerned && columns(1) >= FEWEST_COLUMNS => Some(Prepared::Transposed),
        (contracted @ 2.., rank) if concerned && contracted < rank => Some(Prepared::Held),
        _ => None,
    }
}
