//! Whatever the shape rules accept, the interpreter evaluates, to arrays of just the types that they say: random
//! primitives on random small shapes, empty dimensions and scalars among them.

use crate::interp::{Array, Precision, apply};
use crate::ir::op::*;
use crate::ir::shape::infer;
use crate::ir::types::{Elem, Type};
use std::collections::BTreeMap;

const CASES: usize = 60_000;

#[test]
fn accepted_primitives_evaluate_to_their_type() {
    let mut random = Random(1);
    let mut accepted: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..CASES {
        let (op, types) = random.case();
        let refs: Vec<&Type> = types.iter().collect();
        let Ok(expected) = infer(&op, &refs, &[]) else {
            continue;
        };
        // Attributes are small, but several of them multiply.
        if expected.iter().any(|t| t.numel() > 5000) {
            continue;
        }
        let args: Vec<Array> = types.iter().map(|t| random.array(t)).collect();
        let results =
            apply(&op, &args, Precision::Element).unwrap_or_else(|e| panic!("{op} {types:?}: {e}"));
        let found: Vec<Type> = results.into_iter().map(|a| a.ty).collect();
        assert_eq!(found, expected, "{op} {types:?}");
        *accepted.entry(op.name()).or_default() += 1;
    }
    for (name, count) in &accepted {
        assert!(*count >= 10, "{name}: only {count} cases");
    }
    assert!(accepted.len() >= 80, "{} primitives", accepted.len());
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn shape(&mut self) -> Vec<usize> {
        (0..self.below(4)).map(|_| self.below(4)).collect()
    }

    fn elem(&mut self) -> Elem {
        Elem::ALL[self.below(Elem::ALL.len())]
    }

    fn float(&mut self) -> Elem {
        [Elem::F32, Elem::F64, Elem::BF16][self.below(3)]
    }

    fn array(&mut self, ty: &Type) -> Array {
        let values: Vec<f64> = (0..ty.numel())
            .map(|_| match self.below(8) {
                0 if ty.elem.is_float() => f64::NAN,
                1 if ty.elem.is_float() => f64::NEG_INFINITY,
                2 => 0.0,
                _ => self.below(9) as f64 - 4.0,
            })
            .collect();
        Array::of(ty.clone(), &values)
    }

    /// Some of the numbers below `n`, ascending.
    fn subset(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.flag()).collect()
    }

    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut perm: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            perm.swap(i, self.below(i + 1));
        }
        perm
    }

    fn list(&mut self, n: usize, low: usize, high: usize) -> Vec<usize> {
        (0..n).map(|_| low + self.below(high - low)).collect()
    }

    fn pads(&mut self, n: usize) -> Vec<(i64, i64)> {
        let mut pad = || self.below(5) as i64 - 2;
        (0..n).map(|_| (pad(), pad())).collect()
    }

    fn window(&mut self, rank: usize) -> Window {
        Window {
            size: self.list(rank, 1, 4),
            stride: self.list(rank, 1, 3),
            padding: self.pads(rank),
            base_dilation: self.list(rank, 1, 3),
            window_dilation: self.list(rank, 1, 3),
        }
    }

    fn reduction(&mut self) -> ReduceOp {
        ReduceOp::ALL[self.below(4)]
    }

    fn case(&mut self) -> (Op, Vec<Type>) {
        let elem = self.elem();
        let ty = Type::new(elem, self.shape());
        let rank = ty.rank();
        let scalar = Type::scalar(elem);
        let index = Type::scalar(Elem::I32);
        match self.below(31) {
            0 => {
                let mut op = UnaryOp::ALL[self.below(24)];
                if self.below(24) == 0 {
                    op = UnaryOp::Polygamma(self.below(4) as u8);
                }
                (Op::Unary(op), vec![ty])
            }
            1 | 2 => {
                let op = BinaryOp::ALL[self.below(15)];
                (Op::Binary(op), vec![ty.clone(), ty])
            }
            3 => {
                let op = CompareOp::ALL[self.below(6)];
                (Op::Compare(op), vec![ty.clone(), ty])
            }
            4 => (Op::Select, vec![ty.with_elem(Elem::Bool), ty.clone(), ty]),
            5 => (Op::Clamp, vec![ty.clone(), ty.clone(), ty]),
            6 => (Op::Convert(self.elem()), vec![ty]),
            7 => (Op::Bitcast(self.elem()), vec![ty]),
            8 => (Op::Threefry, vec![ty.with_elem(Elem::U32); 4]),
            9 => self.broadcast(ty),
            10 => {
                let mut shape = ty.shape.clone();
                shape.reverse();
                shape.push(1);
                (Op::Reshape { shape }, vec![ty])
            }
            11 => {
                let perm = self.permutation(rank);
                (Op::Transpose { perm }, vec![ty])
            }
            12 => {
                let start: Vec<usize> = ty.shape.iter().map(|&d| self.below(d + 1)).collect();
                let limit = start
                    .iter()
                    .zip(&ty.shape)
                    .map(|(&s, &d)| s + self.below(d - s + 1))
                    .collect();
                let stride = self.list(rank, 1, 4);
                let op = Op::Slice {
                    start,
                    limit,
                    stride,
                };
                (op, vec![ty])
            }
            13 => {
                let (low, high) = self.pads(rank).into_iter().unzip();
                let interior = self.list(rank, 0, 3);
                let op = Op::Pad {
                    low,
                    high,
                    interior,
                };
                (op, vec![ty, scalar])
            }
            14 => {
                let axis = self.below(rank.max(1));
                let mut other = ty.clone();
                if let Some(size) = other.shape.get_mut(axis) {
                    *size = self.below(3);
                }
                (Op::Concat { axis }, vec![ty, other.clone(), other])
            }
            15 => {
                let axes = self.subset(rank);
                (Op::Reverse { axes }, vec![ty])
            }
            16 => {
                let sizes: Vec<usize> = ty.shape.iter().map(|&d| self.below(d + 1)).collect();
                let starts = vec![index; rank];
                if self.flag() {
                    let args = [vec![ty], starts].concat();
                    return (Op::DynamicSlice { sizes }, args);
                }
                let update = ty.with_shape(sizes);
                (Op::DynamicUpdateSlice, [vec![ty, update], starts].concat())
            }
            17 | 18 => self.gather(ty),
            19 | 20 => self.scatter(ty),
            21 => {
                let op = self.reduction();
                let axes = self.subset(rank);
                (Op::Reduce { op, axes }, vec![ty])
            }
            22 => {
                let max = self.flag();
                let axis = self.below(rank.max(1));
                (Op::ArgReduce { max, axis }, vec![ty])
            }
            23 => {
                let op = Op::Cumulate {
                    op: self.reduction(),
                    axis: self.below(rank.max(1)),
                    reverse: self.flag(),
                };
                (op, vec![ty])
            }
            24 => {
                let op = self.reduction();
                let window = self.window(rank);
                (Op::ReduceWindow { op, window }, vec![ty])
            }
            25 => {
                let (max, window) = (self.flag(), self.window(rank));
                if self.flag() {
                    let t = ty.with_elem(self.elem());
                    return (Op::WindowGather { max, window }, vec![ty, t]);
                }
                let windows = crate::ir::shape::window_output(&ty.shape, &window);
                let s = Type::new(self.elem(), windows.unwrap_or_default());
                (Op::WindowScatter { max, window }, vec![ty, s])
            }
            26 => self.dot(ty),
            27 => self.conv(elem),
            28 => {
                let float = self.float();
                let n = self.below(4);
                let batch = self.shape();
                let a = Type::new(float, [batch.clone(), vec![n, n]].concat());
                if self.flag() {
                    return (Op::Cholesky, vec![a]);
                }
                let left = self.flag();
                let m = self.below(3);
                let sides = if left { vec![n, m] } else { vec![m, n] };
                let b = Type::new(float, [batch, sides].concat());
                let op = Op::TriangularSolve {
                    left,
                    lower: self.flag(),
                    transpose: self.flag(),
                    unit_diagonal: self.flag(),
                };
                (op, vec![a, b])
            }
            29 => {
                let op = Op::Sort {
                    axis: self.below(rank.max(1)),
                    keys: 1 + self.below(2),
                    descending: self.flag(),
                    total: self.flag(),
                };
                let other = ty.with_elem(self.elem());
                (op, vec![ty, other])
            }
            _ => match self.below(3) {
                0 => (Op::StopGradient, vec![ty]),
                1 => (Op::Barrier, vec![ty, scalar]),
                _ => {
                    let axis = self.below(rank.max(1));
                    (Op::Iota { ty, axis }, vec![])
                }
            },
        }
    }

    fn broadcast(&mut self, ty: Type) -> (Op, Vec<Type>) {
        let rank = ty.rank() + self.below(3);
        let mut dims = self.permutation(rank);
        dims.truncate(ty.rank());
        dims.sort_unstable();
        let mut shape = self.list(rank, 0, 4);
        for (&d, &size) in dims.iter().zip(&ty.shape) {
            if size != 1 {
                shape[d] = size;
            }
        }
        (Op::Broadcast { shape, dims }, vec![ty])
    }

    /// Dimensions of the array pointed into, those among them without a window, and the shape of the indices.
    fn pointing(&mut self, ty: &Type) -> (Vec<usize>, Vec<usize>, Vec<usize>, Vec<usize>) {
        let mut order = self.permutation(ty.rank());
        let batching: Vec<usize> = order
            .pop()
            .filter(|_| self.below(3) == 0)
            .into_iter()
            .collect();
        order.retain(|d| !batching.contains(d));
        order.truncate(self.below(3));
        let collapsed = (0..ty.rank())
            .filter(|d| !batching.contains(d) && self.flag())
            .collect();
        let mut indices: Vec<usize> = batching.iter().map(|&d| ty.shape[d]).collect();
        indices.extend(self.list(1, 0, 4));
        indices.push(order.len());
        (order, collapsed, batching, indices)
    }

    fn gather(&mut self, ty: Type) -> (Op, Vec<Type>) {
        let (map, collapsed, batching, indices) = self.pointing(&ty);
        let slice_sizes = (0..ty.rank())
            .map(|d| {
                let dropped = collapsed.contains(&d) || batching.contains(&d);
                let most = if dropped {
                    ty.shape[d].min(1)
                } else {
                    ty.shape[d]
                };
                most - self.below(2).min(most)
            })
            .collect();
        let windows = ty.rank() - collapsed.len() - batching.len();
        let mut offset_dims = self.permutation(indices.len() - 1 + windows);
        offset_dims.truncate(windows);
        offset_dims.sort_unstable();
        let dims = GatherDims {
            offset_dims,
            collapsed_slice_dims: collapsed,
            start_indices_batching_dims: (0..batching.len()).collect(),
            operand_batching_dims: batching,
            start_index_map: map,
            index_vector_dim: indices.len() - 1,
            slice_sizes,
        };
        (Op::Gather(dims), vec![ty, Type::new(Elem::I32, indices)])
    }

    fn scatter(&mut self, ty: Type) -> (Op, Vec<Type>) {
        let (map, inserted, batching, indices) = self.pointing(&ty);
        let kept: Vec<usize> = (0..ty.rank())
            .filter(|d| !inserted.contains(d) && !batching.contains(d))
            .collect();
        let rank = indices.len() - 1 + kept.len();
        let mut window_dims = self.permutation(rank);
        window_dims.truncate(kept.len());
        window_dims.sort_unstable();
        let mut batch = indices[..indices.len() - 1].iter();
        let mut window = kept.iter();
        let shape: Vec<usize> = (0..rank)
            .map(|d| {
                if window_dims.contains(&d) {
                    window
                        .next()
                        .map_or(0, |&k| ty.shape[k] - self.below(2).min(ty.shape[k]))
                } else {
                    batch.next().map_or(0, |&size| size)
                }
            })
            .collect();
        let dims = ScatterDims {
            update_window_dims: window_dims,
            inserted_window_dims: inserted,
            scatter_indices_batching_dims: (0..batching.len()).collect(),
            input_batching_dims: batching,
            scatter_dims_to_operand_dims: map,
            index_vector_dim: indices.len() - 1,
        };
        let op = if self.flag() {
            ScatterOp::Add
        } else {
            ScatterOp::Set
        };
        let updates = ty.with_shape(shape);
        let args = vec![ty, Type::new(Elem::I32, indices), updates];
        (Op::Scatter { op, dims }, args)
    }

    fn dot(&mut self, ty: Type) -> (Op, Vec<Type>) {
        let mut shared = self.permutation(ty.rank());
        shared.truncate(self.below(3));
        let split = self.below(shared.len() + 1);
        let rank = shared.len() + self.below(2);
        let places = self.permutation(rank);
        let mut shape = self.list(places.len(), 0, 4);
        for (&l, &r) in shared.iter().zip(&places) {
            shape[r] = ty.shape[l];
        }
        let dims = DotDims {
            lhs_batch: shared[..split].to_vec(),
            rhs_batch: places[..split].to_vec(),
            lhs_contract: shared[split..].to_vec(),
            rhs_contract: places[split..shared.len()].to_vec(),
        };
        let other = ty.with_shape(shape);
        (Op::Dot(dims), vec![ty, other])
    }

    fn conv(&mut self, elem: Elem) -> (Op, Vec<Type>) {
        let spatial = self.below(3);
        let rank = spatial + 2;
        let (groups, batch_groups) = [(1, 1), (2, 1), (1, 2)][self.below(3)];
        let [input, kernel, output] = [(); 3].map(|()| self.permutation(rank));
        let mut x = self.list(rank, 0, 5);
        let mut k = self.list(rank, 1, 4);
        x[input[0]] = batch_groups * self.below(3);
        let inputs = self.below(3);
        x[input[1]] = groups * inputs;
        k[kernel[0]] = inputs;
        k[kernel[1]] = groups * batch_groups * self.below(3);
        let dims = ConvDims {
            stride: self.list(spatial, 1, 3),
            padding: self.pads(spatial),
            lhs_dilation: self.list(spatial, 1, 3),
            rhs_dilation: self.list(spatial, 1, 3),
            reverse: (0..spatial).map(|_| self.flag()).collect(),
            input_batch: input[0],
            input_feature: input[1],
            input_spatial: input[2..].to_vec(),
            kernel_input: kernel[0],
            kernel_output: kernel[1],
            kernel_spatial: kernel[2..].to_vec(),
            output_batch: output[0],
            output_feature: output[1],
            output_spatial: output[2..].to_vec(),
            feature_groups: groups,
            batch_groups,
        };
        (Op::Conv(dims), vec![Type::new(elem, x), Type::new(elem, k)])
    }
}
