//! Finding the first NaN or infinity of a program, on whatever device it runs.
//!
//! [`watch`] makes of a program one that also says which of its instructions was the first to make a NaN, or an
//! infinity, out of operands that had none; [`look`] makes one that gives that instruction's operands and results
//! at that moment, and the turns of the loops around it. Neither exists unless it is asked for, so a program that is
//! not watched costs nothing.
//!
//! ```text
//! %1 = log %0 : f32[4]          %1 = log %0 : f32[4]
//! return %1               →     %2 = … %1 has a NaN and %0 has none, or an infinity and %0 has neither
//!                               %3 = … 1 (the number of this instruction) if %2 and nothing was found before, else 0
//!                               return %1, %3
//! ```

mod flags;
mod thread;

use crate::ir::op::ScatterOp;
use crate::ir::{Elem, Func, Inst, Op, ReduceOp, Type};
use crate::passes::copy;
use thread::{Goal, Thread};
use tpuc_lang::span::Span;

/// An instruction that can make a NaN or an infinity.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The name of the primitive.
    pub op: &'static str,
    pub span: Span,
    /// Types of the float operands, and of the float results.
    pub operands: Vec<Type>,
    pub results: Vec<Type>,
    /// How many loops with a known number of turns are around it.
    pub loops: usize,
}

/// The program with one more output, i32: the number, from 1, of the site that was the first to make a NaN or an
/// infinity; 0 if none did.
pub fn watch(func: &Func) -> (Func, Vec<Site>) {
    let mut pass = Thread::new(Goal::Find);
    let watched = run(func, &mut pass, vec![Type::scalar(Elem::I32)]);
    (watched, pass.sites)
}

/// The program that gives, instead of its outputs, what the site `number` of [`watch`] read and made when it was the
/// first: its float operands, then its float results, then the turns (i32) of the loops around it, outermost first.
pub fn look(func: &Func, number: usize, site: &Site) -> Func {
    let turns = vec![Type::scalar(Elem::I32); site.loops];
    let state = std::iter::once(Type::scalar(Elem::Bool))
        .chain(site.operands.iter().cloned())
        .chain(site.results.iter().cloned())
        .chain(turns)
        .collect();
    let mut pass = Thread::new(Goal::Look(number));
    let mut found = run(func, &mut pass, state);
    let outputs = func.body.results.len();
    // The outputs of the program, and whether the site was met, are no longer asked for.
    found.body.results.drain(..=outputs);
    found
}

fn run(func: &Func, pass: &mut Thread, state: Vec<Type>) -> Func {
    copy::rewrite_with(func, |c| {
        pass.start(c, &state);
        c.insts(pass, &func.body.insts);
        let mut results = c.values(&func.body.results);
        results.extend(pass.state());
        results
    })
}

/// Whether an instruction computes floats, so that it can make what its operands do not have: those that only
/// choose or move elements cannot.
fn computes(inst: &Inst) -> bool {
    match &inst.op {
        Op::Constant(_) | Op::Iota { .. } => false,
        Op::Unary(_) | Op::Binary(_) => true,
        Op::Compare(_) | Op::Select | Op::Clamp => false,
        Op::Convert(to) => to.is_float(),
        Op::Bitcast(_) | Op::Threefry => false,
        Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Gather(_) => false,
        Op::Scatter { op, .. } => *op == ScatterOp::Add,
        Op::Reduce { op, .. } | Op::Cumulate { op, .. } | Op::ReduceWindow { op, .. } => {
            matches!(op, ReduceOp::Sum | ReduceOp::Prod)
        }
        Op::ArgReduce { .. } => false,
        Op::WindowGather { .. } => false,
        Op::WindowScatter { .. } => true,
        Op::Dot(_) | Op::Conv(_) | Op::Cholesky | Op::TriangularSolve { .. } => true,
        Op::Sort { .. } => false,
        Op::Scan { .. } | Op::While | Op::If | Op::CustomVjp | Op::Remat => false,
        Op::StopGradient | Op::Barrier | Op::Shard { .. } => false,
        Op::Host(_) | Op::Effect(..) => false,
    }
}

#[cfg(test)]
mod tests;
