//! The vocabulary that builtins and passes are written in: NumPy-like operations on IR values, broadcasts made explicit.

use super::op::DotDims;
use super::{BinaryOp, Builder, CompareOp, Elem, Literal, Op, ReduceOp, Type, UnaryOp, Value};

/// Extends the builder; every method appends what it needs and gives the result.
pub trait Num {
    fn constant(&mut self, literal: Literal) -> Value;
    fn full(&mut self, elem: Elem, shape: &[usize], value: f64) -> Value;
    fn int(&mut self, elem: Elem, value: i64) -> Value;
    /// A constant of the element type and shape of `like`.
    fn like(&mut self, like: Value, value: f64) -> Value;
    fn unary(&mut self, op: UnaryOp, x: Value) -> Value;
    /// With NumPy's broadcasting.
    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value;
    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value;
    fn select(&mut self, c: Value, a: Value, b: Value) -> Value;
    /// All to their common shape.
    fn together(&mut self, vals: &[Value]) -> Vec<Value>;
    /// To `shape`, aligned at the last dimension.
    fn broadcast_to(&mut self, x: Value, shape: &[usize]) -> Value;
    /// Operand dimension `i` to result dimension `dims[i]`.
    fn broadcast_in(&mut self, x: Value, shape: &[usize], dims: &[usize]) -> Value;
    fn reshape(&mut self, x: Value, shape: &[usize]) -> Value;
    fn transpose(&mut self, x: Value, perm: &[usize]) -> Value;
    fn convert(&mut self, x: Value, elem: Elem) -> Value;
    fn iota(&mut self, elem: Elem, shape: &[usize], axis: usize) -> Value;
    fn reduce(&mut self, op: ReduceOp, x: Value, axes: &[usize]) -> Value;
    /// `x` reduced over `axes`, broadcast back to the shape of `like`.
    fn spread_back(&mut self, reduced: Value, axes: &[usize], shape: &[usize]) -> Value;
    /// Elements `lo..hi` of one axis.
    fn slice_axis(&mut self, x: Value, axis: usize, lo: usize, hi: usize) -> Value;
    fn concat(&mut self, parts: &[Value], axis: usize) -> Value;
    fn matmul(&mut self, a: Value, b: Value) -> Value;
    fn shape_of(&self, x: Value) -> Vec<usize>;
    fn elem_of(&self, x: Value) -> Elem;
}

impl Num for Builder {
    fn constant(&mut self, literal: Literal) -> Value {
        self.op(Op::Constant(literal), &[])
    }

    fn full(&mut self, elem: Elem, shape: &[usize], value: f64) -> Value {
        self.constant(Literal::splat_f64(Type::new(elem, shape), value))
    }

    fn int(&mut self, elem: Elem, value: i64) -> Value {
        self.constant(Literal::splat_i64(Type::scalar(elem), value))
    }

    fn like(&mut self, like: Value, value: f64) -> Value {
        let ty = self.ty(like).clone();
        self.constant(Literal::splat_f64(ty, value))
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        self.op(Op::Unary(op), &[x])
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ab = self.together(&[a, b]);
        self.op(Op::Binary(op), &ab)
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        let ab = self.together(&[a, b]);
        self.op(Op::Compare(op), &ab)
    }

    fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        let cab = self.together(&[c, a, b]);
        self.op(Op::Select, &cab)
    }

    fn together(&mut self, vals: &[Value]) -> Vec<Value> {
        let mut shape: Vec<usize> = Vec::new();
        for &v in vals {
            shape = common_shape(&shape, &self.ty(v).shape);
        }
        vals.iter().map(|&v| self.broadcast_to(v, &shape)).collect()
    }

    fn broadcast_to(&mut self, x: Value, shape: &[usize]) -> Value {
        let lead = shape.len() - self.ty(x).rank();
        let dims: Vec<usize> = (lead..shape.len()).collect();
        self.broadcast_in(x, shape, &dims)
    }

    fn broadcast_in(&mut self, x: Value, shape: &[usize], dims: &[usize]) -> Value {
        if self.ty(x).shape == shape {
            return x;
        }
        self.op(
            Op::Broadcast {
                shape: shape.to_vec(),
                dims: dims.to_vec(),
            },
            &[x],
        )
    }

    fn reshape(&mut self, x: Value, shape: &[usize]) -> Value {
        if self.ty(x).shape == shape {
            return x;
        }
        self.op(
            Op::Reshape {
                shape: shape.to_vec(),
            },
            &[x],
        )
    }

    fn transpose(&mut self, x: Value, perm: &[usize]) -> Value {
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return x;
        }
        self.op(
            Op::Transpose {
                perm: perm.to_vec(),
            },
            &[x],
        )
    }

    fn convert(&mut self, x: Value, elem: Elem) -> Value {
        if self.ty(x).elem == elem {
            return x;
        }
        self.op(Op::Convert(elem), &[x])
    }

    fn iota(&mut self, elem: Elem, shape: &[usize], axis: usize) -> Value {
        self.op(
            Op::Iota {
                ty: Type::new(elem, shape),
                axis,
            },
            &[],
        )
    }

    fn reduce(&mut self, op: ReduceOp, x: Value, axes: &[usize]) -> Value {
        if axes.is_empty() {
            return x;
        }
        self.op(
            Op::Reduce {
                op,
                axes: axes.to_vec(),
            },
            &[x],
        )
    }

    fn spread_back(&mut self, reduced: Value, axes: &[usize], shape: &[usize]) -> Value {
        let dims: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
        self.broadcast_in(reduced, shape, &dims)
    }

    fn slice_axis(&mut self, x: Value, axis: usize, lo: usize, hi: usize) -> Value {
        let shape = self.shape_of(x);
        if lo == 0 && hi == shape[axis] {
            return x;
        }
        let mut start = vec![0; shape.len()];
        let mut limit = shape.clone();
        (start[axis], limit[axis]) = (lo, hi);
        self.op(
            Op::Slice {
                start,
                limit,
                stride: vec![1; shape.len()],
            },
            &[x],
        )
    }

    fn concat(&mut self, parts: &[Value], axis: usize) -> Value {
        match parts {
            [one] => *one,
            many => self.op(Op::Concat { axis }, many),
        }
    }

    fn matmul(&mut self, a: Value, b: Value) -> Value {
        let (sa, sb) = (self.shape_of(a), self.shape_of(b));
        let (ra, rb) = (sa.len(), sb.len());
        if ra <= 2 && rb <= 2 {
            let dims = DotDims {
                lhs_batch: vec![],
                rhs_batch: vec![],
                lhs_contract: vec![ra - 1],
                rhs_contract: vec![rb.saturating_sub(2)],
            };
            return self.op(Op::Dot(dims), &[a, b]);
        }
        if rb <= 2 {
            // Only the left operand is batched: its leading dimensions are free ones.
            let dims = DotDims {
                lhs_batch: vec![],
                rhs_batch: vec![],
                lhs_contract: vec![ra - 1],
                rhs_contract: vec![rb.saturating_sub(2)],
            };
            return self.op(Op::Dot(dims), &[a, b]);
        }
        batched_matmul(self, a, b, &sa, &sb)
    }

    fn shape_of(&self, x: Value) -> Vec<usize> {
        self.ty(x).shape.clone()
    }

    fn elem_of(&self, x: Value) -> Elem {
        self.ty(x).elem
    }
}

/// NumPy's batched product: the leading dimensions broadcast together; a vector operand has none.
fn batched_matmul(b: &mut Builder, x: Value, y: Value, sx: &[usize], sy: &[usize]) -> Value {
    let lead_x = &sx[..sx.len().saturating_sub(2)];
    let lead_y = &sy[..sy.len() - 2];
    if sx.len() == 1 {
        // A vector against a stack of matrices: contract, batch dimensions stay on the right.
        let dims = DotDims {
            lhs_batch: vec![],
            rhs_batch: vec![],
            lhs_contract: vec![0],
            rhs_contract: vec![sy.len() - 2],
        };
        return b.op(Op::Dot(dims), &[x, y]);
    }
    let lead = common_shape(lead_x, lead_y);
    let full = |tail: &[usize]| lead.iter().chain(tail).copied().collect::<Vec<_>>();
    let x = b.broadcast_to(x, &full(&sx[sx.len() - 2..]));
    let y = b.broadcast_to(y, &full(&sy[sy.len() - 2..]));
    let batch: Vec<usize> = (0..lead.len()).collect();
    let dims = DotDims {
        lhs_batch: batch.clone(),
        rhs_batch: batch,
        lhs_contract: vec![lead.len() + 1],
        rhs_contract: vec![lead.len()],
    };
    b.op(Op::Dot(dims), &[x, y])
}

/// NumPy's common shape of two; the checker has made sure that there is one.
pub fn common_shape(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |j| s[j]);
    (0..rank)
        .map(|i| if at(a, i) == 1 { at(b, i) } else { at(a, i) })
        .collect()
}
