//! Left sides of rules as small functions: built from the pattern, from its root down, each primitive given random
//! attributes that yield the wanted type.

use super::random::{Random, Values};
use crate::ir::literal::{Literal, decode_f64, encode_f64};
use crate::ir::op::{BinaryOp, DotDims, GatherDims, Op, UnaryOp};
use crate::ir::shape;
use crate::ir::types::{Elem, Shape, Type};
use crate::ir::{Builder, Func, Value};
use crate::opt::graph::Kind;
use crate::opt::rewrite::pattern::{Args, Number, Pattern};
use std::collections::HashMap;

/// A function whose result a pattern may match; `None` where the random choices do not fit together.
pub fn instance(
    random: &mut Random,
    data: Values,
    left: &Pattern,
    when: &str,
    want: Type,
) -> Option<Func> {
    lettered(random, data, left, when, want).map(|(func, _)| func)
}

/// As [`instance`], with what the letters stand for.
pub fn lettered(
    random: &mut Random,
    data: Values,
    left: &Pattern,
    when: &str,
    want: Type,
) -> Option<(Func, HashMap<char, Value>)> {
    let mut maker = Maker {
        random,
        data,
        builder: Builder::new("left"),
        vars: HashMap::new(),
        ops: HashMap::new(),
        when: conditions(when),
    };
    let root = maker.pattern(left, &want)?;
    Some((maker.builder.finish(vec![root]), maker.vars))
}

/// The conditions of each letter.
pub fn conditions(when: &str) -> HashMap<char, Vec<String>> {
    let mut all: HashMap<char, Vec<String>> = HashMap::new();
    for part in when.split(',') {
        if let Some((name, letter)) = part.trim().split_once(' ') {
            let letter = letter.chars().next().unwrap_or(' ');
            all.entry(letter).or_default().push(name.to_string());
        }
    }
    all
}

struct Maker<'a> {
    random: &'a mut Random,
    /// What constants are drawn from.
    data: Values,
    builder: Builder,
    vars: HashMap<char, Value>,
    ops: HashMap<char, Op>,
    when: HashMap<char, Vec<String>>,
}

impl Maker<'_> {
    fn push(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let types: Vec<&Type> = args.iter().map(|&v| self.builder.ty(v)).collect();
        shape::infer(&op, &types, &[]).ok()?;
        Some(self.builder.op(op, args))
    }

    fn pattern(&mut self, pattern: &Pattern, want: &Type) -> Option<Value> {
        match pattern {
            Pattern::Var(name) | Pattern::Splat(name) => {
                if let Some(&v) = self.vars.get(name) {
                    return (self.builder.ty(v) == want).then_some(v);
                }
                let v = match pattern {
                    Pattern::Splat(_) => self.splat(*name, want)?,
                    _ => self.var(*name, want)?,
                };
                self.vars.insert(*name, v);
                Some(v)
            }
            Pattern::Number(number) => self.number(*number, want),
            Pattern::Apply { kinds, bind, args } => {
                let bound = bind.and_then(|b| self.ops.get(&b).cloned());
                let kind = match &bound {
                    Some(op) => Kind::of(op),
                    None => self.random.pick(kinds),
                };
                let (op, wants) = match bound {
                    Some(op) => self.again(op, want)?,
                    None => self.attributes(kind, want)?,
                };
                if let Some(name) = bind {
                    self.ops.insert(*name, op.clone());
                }
                let values = match args {
                    Args::Fixed(args) if args.len() == wants.len() => {
                        // Letters that stand bare are taken last: what is inside primitives settles their types.
                        let values: Option<Vec<Value>> = args
                            .iter()
                            .zip(&wants)
                            .map(|(arg, want)| self.pattern(arg, want))
                            .collect();
                        values?
                    }
                    Args::Fixed(_) => return None,
                    Args::Any => self.operands(&op, &wants)?,
                };
                let v = self.push(op, &values)?;
                (self.builder.ty(v) == want).then_some(v)
            }
        }
    }

    fn has(&self, name: char, condition: &str) -> bool {
        let all = self.when.get(&name);
        all.is_some_and(|c| c.iter().any(|c| c == condition))
    }

    /// A value that may have what the letter's conditions ask for.
    fn var(&mut self, name: char, want: &Type) -> Option<Value> {
        let fussy = ["nonneg", "not_neg_zero", "no_nan", "finite", "const"];
        let wanted = fussy.iter().any(|c| self.has(name, c));
        if !wanted && self.random.chance(85) {
            return Some(self.builder.param(want.clone()));
        }
        if self.has(name, "const") {
            return self.constant(want);
        }
        match self.random.below(6) {
            0 => Some(self.builder.param(want.clone())),
            1 => self.constant(want),
            2 if want.elem.is_float() || want.elem.is_signed_int() => {
                let x = self.builder.param(want.clone());
                self.push(Op::Unary(UnaryOp::Abs), &[x])
            }
            3 if want.elem.is_float() => {
                let x = self.builder.param(want.clone());
                self.push(Op::Unary(UnaryOp::Exp), &[x])
            }
            4 => {
                let from = self.random.pick(&[Elem::I8, Elem::U8, Elem::Bool]);
                let x = self.builder.param(want.with_elem(from));
                self.push(Op::Convert(want.elem), &[x])
            }
            _ => {
                let x = self.builder.param(want.clone());
                self.push(Op::Binary(BinaryOp::Mul), &[x, x])
            }
        }
    }

    fn constant(&mut self, want: &Type) -> Option<Value> {
        let array = self.random.array(want, self.data);
        self.push(Op::Constant(array.to_literal()), &[])
    }

    fn splat(&mut self, name: char, want: &Type) -> Option<Value> {
        let bits = if self.has(name, "pow2") {
            let exponent = self.random.below(13) as i32 - 6;
            let sign = if self.random.chance(50) { -1.0 } else { 1.0 };
            encode_f64(want.elem, sign * f64::from(exponent).exp2())
        } else if self.random.chance(50) {
            self.random.value(want.elem, Values::Finite)
        } else {
            self.random.value(want.elem, self.data)
        };
        let literal = Literal::splat_bits(want.clone(), bits);
        self.push(Op::Constant(literal), &[])
    }

    fn number(&mut self, number: Number, want: &Type) -> Option<Value> {
        let bits = match number {
            Number::Bool(b) => (want.elem == Elem::Bool).then_some(u64::from(b))?,
            Number::Value(_) if want.elem == Elem::Bool => return None,
            Number::Value(v) => {
                let bits = encode_f64(want.elem, v);
                let exact = decode_f64(want.elem, bits) == v;
                exact.then_some(bits)?
            }
        };
        self.push(Op::Constant(Literal::splat_bits(want.clone(), bits)), &[])
    }

    /// The operand types that a primitive already chosen needs for this result.
    fn again(&mut self, op: Op, want: &Type) -> Option<(Op, Vec<Type>)> {
        let scalar = Type::scalar(want.elem);
        let wants = match &op {
            Op::Broadcast { shape, dims } => {
                let from: Shape = dims.iter().map(|&d| shape[d]).collect();
                vec![want.with_shape(from)]
            }
            Op::Transpose { perm } => {
                let mut from = vec![0; perm.len()];
                for (i, &p) in perm.iter().enumerate() {
                    from[p] = *want.shape.get(i)?;
                }
                vec![want.with_shape(from)]
            }
            Op::Convert(_) => vec![want.with_elem(self.random.elem())],
            Op::Reshape { .. } => vec![want.with_shape(self.reshaped(&want.shape))],
            Op::Reduce { axes, .. } => {
                let mut from = want.shape.clone();
                for &a in axes {
                    from.insert(a.min(from.len()), self.random.size());
                }
                vec![want.with_shape(from)]
            }
            Op::Pad { .. } => vec![want.clone(), scalar],
            _ => return self.attributes(Kind::of(&op), want).map(|(_, w)| (op, w)),
        };
        Some((op, wants))
    }

    /// Random attributes for a primitive of this kind with this result, and the types of its operands.
    fn attributes(&mut self, kind: Kind, want: &Type) -> Option<(Op, Vec<Type>)> {
        let r = &mut *self.random;
        let (shape, rank) = (&want.shape, want.rank());
        let like = |n: usize| vec![want.clone(); n];
        Some(match kind {
            Kind::Unary(UnaryOp::IsFinite) => {
                let from = r.pick(&[Elem::F32, Elem::F64, Elem::BF16]);
                (Op::Unary(UnaryOp::IsFinite), vec![want.with_elem(from)])
            }
            Kind::Unary(u) => (Op::Unary(u), like(1)),
            Kind::Binary(b) => (Op::Binary(b), like(2)),
            Kind::Compare(c) => {
                if want.elem != Elem::Bool {
                    return None;
                }
                (Op::Compare(c), vec![want.with_elem(r.elem()); 2])
            }
            Kind::Select => {
                let mut wants = like(3);
                wants[0] = want.with_elem(Elem::Bool);
                (Op::Select, wants)
            }
            Kind::Clamp => (Op::Clamp, like(3)),
            Kind::Convert => (Op::Convert(want.elem), vec![want.with_elem(r.elem())]),
            Kind::Bitcast => (Op::Bitcast(want.elem), vec![want.with_elem(r.elem())]),
            Kind::StopGradient => (Op::StopGradient, like(1)),
            Kind::Iota => {
                let axis = r.below(rank);
                let ty = want.clone();
                (Op::Iota { ty, axis }, vec![])
            }
            Kind::Broadcast => {
                let dims = r.subset(rank);
                let from: Shape = dims
                    .iter()
                    .map(|&d| if r.chance(20) { 1 } else { shape[d] })
                    .collect();
                let to = shape.clone();
                (
                    Op::Broadcast { shape: to, dims },
                    vec![want.with_shape(from)],
                )
            }
            Kind::Reshape => {
                let from = self.reshaped(shape);
                let to = shape.clone();
                (Op::Reshape { shape: to }, vec![want.with_shape(from)])
            }
            Kind::Transpose => {
                let perm = r.shuffled(rank);
                let op = Op::Transpose { perm };
                return self.again(op, want);
            }
            Kind::Reverse => (
                Op::Reverse {
                    axes: r.subset(rank),
                },
                like(1),
            ),
            Kind::Slice => {
                let whole = r.chance(10);
                let mut from = Vec::new();
                let (mut start, mut limit, mut stride) = (vec![], vec![], vec![]);
                for &n in shape {
                    let s = if whole { 1 } else { r.pick(&[1, 1, 2, 3]) };
                    let a = if whole { 0 } else { r.below(3) };
                    let b = if n == 0 { a } else { a + (n - 1) * s + 1 };
                    start.push(a);
                    limit.push(b);
                    stride.push(s);
                    from.push(b + if whole { 0 } else { r.below(3) });
                }
                let op = Op::Slice {
                    start,
                    limit,
                    stride,
                };
                (op, vec![want.with_shape(from)])
            }
            Kind::Pad => {
                let (mut low, mut high, mut interior, mut from) = (vec![], vec![], vec![], vec![]);
                let (none, takes) = (r.chance(15), r.chance(20));
                for &n in shape {
                    let n = n as i64;
                    let gaps = if !none && r.chance(20) { 1 } else { 0 };
                    let k = if none {
                        n
                    } else if takes {
                        n + r.below(3) as i64
                    } else {
                        r.below(n as usize + 1) as i64
                    };
                    let inside = k + gaps * (k - 1).max(0);
                    let left = n - inside;
                    let l = if left >= 0 {
                        r.below(left as usize + 1) as i64
                    } else {
                        -(r.below((-left) as usize + 1) as i64)
                    };
                    low.push(l);
                    high.push(left - l);
                    interior.push(gaps as usize);
                    from.push(k as usize);
                }
                let op = Op::Pad {
                    low,
                    high,
                    interior,
                };
                (op, vec![want.with_shape(from), Type::scalar(want.elem)])
            }
            Kind::Concat => {
                if rank == 0 {
                    return None;
                }
                let axis = r.below(rank);
                let mut left = shape[axis];
                let mut wants = Vec::new();
                for _ in 0..r.below(3) {
                    let n = r.below(left + 1);
                    left -= n;
                    let mut part = shape.clone();
                    part[axis] = n;
                    wants.push(want.with_shape(part));
                }
                let mut part = shape.clone();
                part[axis] = left;
                wants.push(want.with_shape(part));
                (Op::Concat { axis }, wants)
            }
            Kind::DynamicSlice => {
                let all = r.chance(15);
                let from: Shape = shape
                    .iter()
                    .map(|&n| if all { n } else { n + r.below(3) })
                    .collect();
                let mut wants = vec![want.with_shape(from)];
                wants.extend(vec![Type::scalar(Elem::I32); rank]);
                let sizes = shape.clone();
                (Op::DynamicSlice { sizes }, wants)
            }
            Kind::DynamicUpdateSlice => {
                let all = r.chance(30);
                let part: Shape = shape
                    .iter()
                    .map(|&n| if all { n } else { r.below(n + 1) })
                    .collect();
                let mut wants = vec![want.clone(), want.with_shape(part)];
                wants.extend(vec![Type::scalar(Elem::I32); rank]);
                (Op::DynamicUpdateSlice, wants)
            }
            Kind::Gather => self.gather(want)?,
            Kind::Reduce(op) => {
                let mut from: Vec<(usize, bool)> = shape.iter().map(|&n| (n, false)).collect();
                for _ in 0..r.below(3) {
                    from.insert(r.below(from.len() + 1), (r.size(), true));
                }
                let axes = (0..from.len()).filter(|&i| from[i].1).collect();
                let from: Shape = from.iter().map(|f| f.0).collect();
                (Op::Reduce { op, axes }, vec![want.with_shape(from)])
            }
            Kind::Dot => self.dot(want),
            _ => return None,
        })
    }

    /// Another shape of as many elements.
    fn reshaped(&mut self, shape: &[usize]) -> Shape {
        let r = &mut *self.random;
        let mut new: Shape = match r.below(3) {
            0 => shape.to_vec(),
            1 => vec![shape.iter().product()],
            _ => shape.iter().copied().filter(|&n| n != 1).collect(),
        };
        if new.len() > 1 && r.chance(20) {
            new.reverse();
        }
        for _ in 0..r.below(3) {
            new.insert(r.below(new.len() + 1), 1);
        }
        if new == [1] && r.chance(50) {
            new.clear();
        }
        new
    }

    fn dot(&mut self, want: &Type) -> (Op, Vec<Type>) {
        let r = &mut *self.random;
        let rank = want.rank();
        let batch = if r.chance(50) { 0 } else { r.below(rank + 1) };
        let left = batch + r.below(rank - batch + 1);
        let contracted: Shape = (0..r.pick(&[0, 1, 1, 1, 2])).map(|_| r.size()).collect();
        // Each operand: what its dimensions are, free ones in order, the others anywhere.
        let mut operand = |free: std::ops::Range<usize>| {
            let mut dims: Vec<(usize, usize)> = free.map(|d| (2, d)).collect();
            for d in 0..batch {
                dims.insert(r.below(dims.len() + 1), (0, d));
            }
            for d in 0..contracted.len() {
                dims.insert(r.below(dims.len() + 1), (1, d));
            }
            dims
        };
        let (lhs, rhs) = (operand(batch..left), operand(left..rank));
        let places = |dims: &[(usize, usize)], role: usize, n: usize| -> Vec<usize> {
            (0..n)
                .filter_map(|d| dims.iter().position(|&x| x == (role, d)))
                .collect()
        };
        let ty = |dims: &[(usize, usize)]| {
            let sizes = dims.iter().map(|&(role, d)| {
                if role == 1 {
                    contracted[d]
                } else {
                    want.shape[d]
                }
            });
            want.with_shape(sizes.collect::<Shape>())
        };
        let dims = DotDims {
            lhs_batch: places(&lhs, 0, batch),
            rhs_batch: places(&rhs, 0, batch),
            lhs_contract: places(&lhs, 1, contracted.len()),
            rhs_contract: places(&rhs, 1, contracted.len()),
        };
        (Op::Dot(dims), vec![ty(&lhs), ty(&rhs)])
    }

    /// Rows taken along axis 0: the result's first dimension counts them.
    fn gather(&mut self, want: &Type) -> Option<(Op, Vec<Type>)> {
        let (&count, row) = want.shape.split_first()?;
        let r = &mut *self.random;
        let taken = 1 + r.below(2);
        let rows = taken + r.below(4);
        let keep = r.chance(40) && row.first() == Some(&taken);
        let mut from = vec![rows];
        from.extend(if keep { &row[1..] } else { row });
        let mut slice_sizes = from.clone();
        slice_sizes[0] = if keep { taken } else { 1 };
        let op = Op::Gather(GatherDims {
            offset_dims: (1..want.rank()).collect(),
            collapsed_slice_dims: if keep { vec![] } else { vec![0] },
            operand_batching_dims: vec![],
            start_indices_batching_dims: vec![],
            start_index_map: vec![0],
            index_vector_dim: 1,
            slice_sizes,
        });
        let indices = Type::new(Elem::I32, [count]);
        Some((op, vec![want.with_shape(from), indices]))
    }

    /// Operands of a primitive whose pattern does not say what they are.
    fn operands(&mut self, op: &Op, wants: &[Type]) -> Option<Vec<Value>> {
        match op {
            Op::Concat { axis } if self.random.chance(30) => self.neighbours(*axis, wants),
            Op::DynamicSlice { .. } if self.random.chance(25) => {
                let mut args = vec![self.builder.param(wants[0].clone())];
                for want in &wants[1..] {
                    args.push(self.any(want, 0)?);
                }
                // What is read back was just put there.
                let sizes = match op {
                    Op::DynamicSlice { sizes } => sizes.clone(),
                    _ => return None,
                };
                let update = self.builder.param(wants[0].with_shape(sizes));
                let mut put = args.clone();
                put.insert(1, update);
                args[0] = self.push(Op::DynamicUpdateSlice, &put)?;
                Some(args)
            }
            _ => wants.iter().map(|want| self.any(want, 1)).collect(),
        }
    }

    /// Slices of one value that stand side by side.
    fn neighbours(&mut self, axis: usize, wants: &[Type]) -> Option<Vec<Value>> {
        let mut whole = wants[0].clone();
        whole.shape[axis] = wants.iter().map(|w| w.shape[axis]).sum::<usize>() + 1;
        let x = self.builder.param(whole.clone());
        let mut before = self.random.below(2);
        let mut parts = Vec::new();
        for want in wants {
            let mut start = vec![0; want.rank()];
            let mut limit = want.shape.clone();
            start[axis] = before;
            limit[axis] += before;
            before = limit[axis];
            let stride = vec![1; want.rank()];
            let op = Op::Slice {
                start,
                limit,
                stride,
            };
            parts.push(self.push(op, &[x])?);
        }
        Some(parts)
    }

    /// Some value of a type: an input, a constant, or something made from one.
    fn any(&mut self, want: &Type, depth: usize) -> Option<Value> {
        let kinds = [
            Kind::Concat,
            Kind::Broadcast,
            Kind::Unary(UnaryOp::Neg),
            Kind::Convert,
            Kind::Slice,
        ];
        match self.random.below(4) {
            0 => self.splat('?', want),
            1 if depth > 0 => {
                let kind = self.random.pick(&kinds);
                let (op, wants) = match self.attributes(kind, want) {
                    Some(made) => made,
                    None => return Some(self.builder.param(want.clone())),
                };
                let args: Option<Vec<Value>> =
                    wants.iter().map(|w| self.any(w, depth - 1)).collect();
                self.push(op, &args?)
            }
            _ => Some(self.builder.param(want.clone())),
        }
    }
}
