//! Forward rules of the factorisation and the triangular solve.

use crate::ad::cx::{Cx, Dual};
use crate::ad::tape::Operand;
use crate::ir::op::DotDims;
use crate::ir::{CompareOp, Elem, Op, Type, Value};

/// The attributes of a triangular solve.
#[derive(Clone, Copy, Debug)]
pub struct Solve {
    pub left: bool,
    pub lower: bool,
    pub transpose: bool,
    pub unit_diagonal: bool,
}

impl Solve {
    pub fn op(self) -> Op {
        Op::TriangularSolve {
            left: self.left,
            lower: self.lower,
            transpose: self.transpose,
            unit_diagonal: self.unit_diagonal,
        }
    }
}

/// `L̇ = L · φ(L⁻¹ Ȧ L⁻ᵀ)`, where φ keeps the lower triangle and halves the diagonal (Murray 2016). The primitive reads
/// only the lower triangle, so the tangent's is mirrored.
pub fn cholesky(cx: &mut Cx, a: Dual) -> Dual {
    let l = cx.e.op(Op::Cholesky, &[a.primal]);
    let Some(t) = a.tangent else {
        return Dual::constant(l);
    };
    let shape = cx.e.shape(l).to_vec();
    let lower = triangle(cx, &shape, CompareOp::Ge);
    let strict = triangle(cx, &shape, CompareOp::Gt);
    let kept = cx.lin_select(lower, Some(t), None);
    let below = cx.lin_select(strict, Some(t), None);
    let above = below.map(|b| {
        let perm = matrix_transpose(shape.len());
        cx.lin_transpose(b, &perm)
    });
    let Some(symmetric) = cx.lin_add(kept, above) else {
        return Dual::constant(l);
    };

    let solve = |left, transpose| {
        Solve {
            left,
            lower: true,
            transpose,
            unit_diagonal: false,
        }
        .op()
    };
    let right = cx.lin(
        solve(false, true),
        vec![Operand::Coef(l), Operand::Lin(symmetric)],
    );
    let both = cx.lin(
        solve(true, false),
        vec![Operand::Coef(l), Operand::Lin(right)],
    );

    let diagonal = triangle(cx, &shape, CompareOp::Eq);
    let ty = cx.e.type_of(l);
    let (zero, half, one) = (
        cx.e.splat(&ty, 0.0),
        cx.e.splat(&ty, 0.5),
        cx.e.splat(&ty, 1.0),
    );
    let weight = cx.e.select(diagonal, half, one);
    let weight = cx.e.select(lower, weight, zero);
    let phi = cx.scale(both, weight);
    let dot = Op::Dot(product(shape.len(), false, false));
    let t = cx.lin(dot, vec![Operand::Coef(l), Operand::Lin(phi)]);
    Dual::new(l, Some(t))
}

/// `op(a) x = b` gives `op(a) ẋ = ḃ − op(ȧ) x`, with only the triangle of `ȧ` that the primitive reads.
pub fn triangular_solve(cx: &mut Cx, solve: Solve, a: Dual, b: Dual) -> Dual {
    let x = cx.e.op(solve.op(), &[a.primal, b.primal]);
    let less = a.tangent.and_then(|t| {
        let shape = cx.e.shape(a.primal).to_vec();
        let side = match (solve.lower, solve.unit_diagonal) {
            (true, false) => CompareOp::Ge,
            (true, true) => CompareOp::Gt,
            (false, false) => CompareOp::Le,
            (false, true) => CompareOp::Lt,
        };
        let mask = triangle(cx, &shape, side);
        let t = cx.lin_select(mask, Some(t), None)?;
        let rank = shape.len();
        Some(if solve.left {
            let dot = Op::Dot(product(rank, solve.transpose, false));
            cx.lin(dot, vec![Operand::Lin(t), Operand::Coef(x)])
        } else {
            let dot = Op::Dot(product(rank, false, solve.transpose));
            cx.lin(dot, vec![Operand::Coef(x), Operand::Lin(t)])
        })
    });
    let t = cx
        .lin_sub(b.tangent, less)
        .map(|rhs| cx.lin(solve.op(), vec![Operand::Coef(a.primal), Operand::Lin(rhs)]));
    Dual::new(x, t)
}

/// Mask of the matrices in the last two axes where row and column compare so.
fn triangle(cx: &mut Cx, shape: &[usize], side: CompareOp) -> Value {
    let rank = shape.len();
    let ty = Type::new(Elem::I32, shape);
    let row = cx.e.iota(ty.clone(), rank - 2);
    let column = cx.e.iota(ty, rank - 1);
    cx.e.compare(side, row, column)
}

/// Swaps the last two axes.
pub fn matrix_transpose(rank: usize) -> Vec<usize> {
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    perm
}

/// The matrix product of the last two axes, either side transposed, batched over the others.
fn product(rank: usize, lhs_transposed: bool, rhs_transposed: bool) -> DotDims {
    let batch: Vec<usize> = (0..rank - 2).collect();
    DotDims {
        lhs_batch: batch.clone(),
        rhs_batch: batch,
        lhs_contract: vec![if lhs_transposed { rank - 2 } else { rank - 1 }],
        rhs_contract: vec![if rhs_transposed { rank - 1 } else { rank - 2 }],
    }
}
