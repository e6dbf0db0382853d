//! `grad`, `jvp`, `vjp`, `jacobian`, `hessian`, `vmap`, `checkpoint`: the callee becomes a function of its own, is
//! transformed IR → IR, and the result is inlined. What the callee captures becomes further, inactive inputs.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::{Val, leaf_types};
use crate::ir::{Builder, Elem, Func, Literal, Op, Type, Value};
use crate::passes::{self, Stage};
use crate::transform;
use tpuc_lang::typed::{Callee, Transform, TransformKind, Ty};

/// A callee as a closed function.
struct Closed {
    func: Func,
    /// Concrete types of its arguments.
    params: Vec<Ty>,
    ret: Ty,
    /// Values for the inputs after those of the arguments.
    captures: Vec<Value>,
}

impl Specialiser<'_> {
    pub(crate) fn transform(
        &mut self,
        frame: &mut Frame,
        t: &Transform,
        args: Vec<Val>,
    ) -> Result<Val> {
        let span = self.b.span;
        let closed = self.close(frame, t)?;
        let out = match &t.kind {
            TransformKind::Grad { .. } => self.grad(&closed, &t.kind, &args),
            TransformKind::Jvp { tuple } => self.jvp(&closed, *tuple, &args),
            TransformKind::Vjp { tuple } => self.vjp(&closed, *tuple, &args),
            TransformKind::Jacobian => self.jacobian(&closed, &args),
            TransformKind::Hessian => self.hessian(&closed, &args),
            TransformKind::Vmap { axes, out, size } => {
                let size = frame.size(size, span)?;
                self.vmap(&closed, axes, *out, size, &args)
            }
            TransformKind::Checkpoint => Ok(self.checkpoint(&closed, &args)),
        };
        self.b.span = span;
        out
    }

    fn close(&mut self, frame: &mut Frame, t: &Transform) -> Result<Closed> {
        let params = t
            .params
            .iter()
            .map(|p| frame.ty(p, t.span))
            .collect::<Result<Vec<_>>>()?;
        let ret = frame.ty(&t.ret, t.span)?;
        self.b.open_region();
        let args = params.iter().map(|p| self.params_of(p)).collect();
        let result = self.call(frame, &t.callee, args, t.span);
        let region = self
            .b
            .close_region(result.as_ref().map(Val::leaves).unwrap_or_default());
        result?;
        let (func, captures) = self.b.extract(self.name_of(&t.callee), &region);
        let func = passes::run(Stage::BeforeDerivatives, &func);
        if !self.callees.contains(&func) {
            self.callees.push(func.clone());
        }
        Ok(Closed {
            func,
            params,
            ret,
            captures,
        })
    }

    fn name_of(&self, callee: &Callee) -> String {
        match callee {
            Callee::Fn { id, .. } => self.program.fns[id.0 as usize].name.to_string(),
            Callee::Lambda(_) | Callee::Local(_) => "lambda".to_string(),
            Callee::Transform(inner) => self.name_of(&inner.callee),
        }
    }

    /// Which inputs of the closed function belong to the arguments chosen, and are floats.
    fn active(&self, closed: &Closed, chosen: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut active = Vec::new();
        for (i, ty) in closed.params.iter().enumerate() {
            active.extend(
                leaf_types(ty)
                    .iter()
                    .map(|t| chosen(i) && t.elem.is_float()),
            );
        }
        active.resize(closed.func.body.params.len(), false);
        active
    }

    /// `grad` and `value_and_grad`; the first output is the loss, the others are `aux`.
    fn grad(&mut self, closed: &Closed, kind: &TransformKind, args: &[Val]) -> Result<Val> {
        let asked = self.b.span;
        let TransformKind::Grad {
            wrt,
            tuple,
            value,
            aux,
        } = kind
        else {
            unreachable!("the caller has matched the kind")
        };
        let active = self.active(closed, |i| wrt.contains(&i));
        let derivative =
            transform::value_and_grad(&closed.func, &active).map_err(|e| e.at(asked))?;
        let mut inputs: Vec<Value> = args.iter().flat_map(Val::leaves).collect();
        inputs.extend(&closed.captures);
        let outputs = self.b.inline(&derivative, &inputs);
        let (primals, gradients) = outputs.split_at(closed.func.body.results.len());
        let gradient = self.select_args(closed, args, wrt, *tuple, gradients);
        let primal = Val::of_type(&closed.ret, &mut primals.iter().copied());
        Ok(match (*value, *aux) {
            (true, _) => Val::Fields(vec![primal, gradient]),
            (false, false) => gradient,
            (false, true) => Val::Fields(vec![gradient, primal.fields()[1].clone()]),
        })
    }

    /// The gradients of the chosen arguments in their structure, in the order asked for.
    fn select_args(
        &mut self,
        closed: &Closed,
        args: &[Val],
        wrt: &[usize],
        tuple: bool,
        grads: &[Value],
    ) -> Val {
        let mut grads = grads.iter().copied();
        let mut by_arg: Vec<Option<Val>> = vec![None; args.len()];
        for (i, arg) in args.iter().enumerate() {
            if wrt.contains(&i) {
                by_arg[i] = Some(self.with_zeros(&closed.params[i], arg, &mut grads));
            }
        }
        let mut chosen: Vec<Val> = wrt.iter().filter_map(|&i| by_arg[i].clone()).collect();
        if tuple {
            Val::Fields(chosen)
        } else {
            chosen.remove(0)
        }
    }

    /// The structure of `like`, float leaves taken from `floats`, zeros for the others.
    fn with_zeros(&mut self, ty: &Ty, like: &Val, floats: &mut impl Iterator<Item = Value>) -> Val {
        let mut leaves = Vec::new();
        for t in leaf_types(ty) {
            let float = if t.elem.is_float() {
                floats.next()
            } else {
                None
            };
            leaves.push(match float {
                Some(v) => v,
                None => self.b.op(Op::Constant(Literal::splat_i64(t, 0)), &[]),
            });
        }
        like.rebuild(&mut leaves.into_iter())
    }

    fn jvp(&mut self, closed: &Closed, tuple: bool, args: &[Val]) -> Result<Val> {
        let asked = self.b.span;
        let active = self.active(closed, |_| true);
        let jvp = transform::jvp(&closed.func, &active).map_err(|e| e.at(asked))?;
        let primals = unpack(tuple, &args[0]);
        let tangents = unpack(tuple, &args[1]);
        let mut inputs: Vec<Value> = primals.iter().flat_map(Val::leaves).collect();
        inputs.extend(&closed.captures);
        let tangent_leaves: Vec<Value> = tangents.iter().flat_map(Val::leaves).collect();
        inputs.extend(
            tangent_leaves
                .into_iter()
                .zip(&active)
                .filter(|(_, a)| **a)
                .map(|(v, _)| v),
        );
        let outputs = self.b.inline(&jvp, &inputs);
        let (primals, tangents) = outputs.split_at(closed.func.body.results.len());
        let out = Val::of_type(&closed.ret, &mut primals.iter().copied());
        let dout = self.with_zeros(&closed.ret, &out, &mut tangents.iter().copied());
        Ok(Val::Fields(vec![out, dout]))
    }

    fn vjp(&mut self, closed: &Closed, tuple: bool, args: &[Val]) -> Result<Val> {
        let asked = self.b.span;
        let active = self.active(closed, |_| true);
        let vjp = transform::vjp(&closed.func, &active).map_err(|e| e.at(asked))?;
        let primals = unpack(tuple, &args[0]);
        let mut inputs: Vec<Value> = primals.iter().flat_map(Val::leaves).collect();
        inputs.extend(&closed.captures);
        let cts = args[1].leaves().into_iter().zip(closed.func.output_types());
        inputs.extend(cts.filter(|(_, t)| t.elem.is_float()).map(|(v, _)| v));
        let outputs = self.b.inline(&vjp, &inputs);
        let (out, cts) = outputs.split_at(closed.func.body.results.len());
        let out = Val::of_type(&closed.ret, &mut out.iter().copied());
        let mut cts = cts.iter().copied();
        let mut grads: Vec<Val> = closed
            .params
            .iter()
            .zip(&primals)
            .map(|(ty, p)| self.with_zeros(ty, p, &mut cts))
            .collect();
        let grads = if tuple {
            Val::Fields(grads)
        } else {
            grads.remove(0)
        };
        Ok(Val::Fields(vec![out, grads]))
    }

    /// Reverse mode over a basis of each output leaf: result tree, and in each of its leaves the tree of the first
    /// argument, with the shape [..output, ..input].
    fn jacobian(&mut self, closed: &Closed, args: &[Val]) -> Result<Val> {
        let asked = self.b.span;
        let active = self.active(closed, |i| i == 0);
        let vjp = transform::vjp(&closed.func, &active).map_err(|e| e.at(asked))?;
        let mut primals: Vec<Value> = args.iter().flat_map(Val::leaves).collect();
        primals.extend(&closed.captures);
        let out_types = closed.func.output_types();
        let float_outputs: Vec<Type> = out_types
            .iter()
            .filter(|t| t.elem.is_float())
            .cloned()
            .collect();
        let mut rows = Vec::new();
        for (k, ty) in float_outputs.iter().enumerate() {
            let n = ty.numel();
            let mut axes = vec![None; primals.len() + float_outputs.len()];
            axes[primals.len() + k] = Some(0);
            let batched = transform::vmap(&vjp, &axes, n).map_err(|e| e.at(asked))?;
            let mut inputs = primals.clone();
            for (j, t) in float_outputs.iter().enumerate() {
                inputs.push(if j == k {
                    basis(&mut self.b, t)
                } else {
                    zeros(&mut self.b, t)
                });
            }
            let outputs = self.b.inline(&batched, &inputs);
            let grads = outputs[out_types.len()..].iter().map(|&g| {
                let shape: Vec<usize> = ty
                    .shape
                    .iter()
                    .chain(&self.b.ty(g).shape[1..])
                    .copied()
                    .collect();
                self.b.op(Op::Reshape { shape }, &[g])
            });
            let grads: Vec<Value> = grads.collect();
            rows.push(args[0].rebuild(&mut grads.into_iter()));
        }
        let mut rows = rows.into_iter();
        Ok(place_trees(&closed.ret, &mut rows))
    }

    /// Forward over reverse: in each leaf of the first argument, its tree again, with the shape [..outer, ..inner].
    fn hessian(&mut self, closed: &Closed, args: &[Val]) -> Result<Val> {
        let asked = self.b.span;
        let active = self.active(closed, |i| i == 0);
        let gradient = gradient_only(&closed.func, &active).map_err(|e| e.at(asked))?;
        let gradient = passes::run(Stage::BeforeDerivatives, &gradient);
        let jvp = transform::jvp(&gradient, &active).map_err(|e| e.at(asked))?;
        let mut primals: Vec<Value> = args.iter().flat_map(Val::leaves).collect();
        primals.extend(&closed.captures);
        let inner: Vec<Type> = leaf_types(&closed.params[0]);
        // `columns[k][i]`: derivative of gradient leaf `i` by input leaf `k`.
        let mut columns: Vec<Vec<Value>> = Vec::new();
        for (k, ty) in inner.iter().enumerate() {
            let mut axes = vec![None; primals.len() + inner.len()];
            axes[primals.len() + k] = Some(0);
            let batched = transform::vmap(&jvp, &axes, ty.numel()).map_err(|e| e.at(asked))?;
            let mut inputs = primals.clone();
            for (j, t) in inner.iter().enumerate() {
                inputs.push(if j == k {
                    basis(&mut self.b, t)
                } else {
                    zeros(&mut self.b, t)
                });
            }
            let outputs = self.b.inline(&batched, &inputs);
            let column = outputs[inner.len()..]
                .iter()
                .map(|&d| self.basis_last(d, ty))
                .collect();
            columns.push(column);
        }
        let rows: Vec<Val> = (0..inner.len())
            .map(|i| args[0].rebuild(&mut columns.iter().map(|column| column[i])))
            .collect();
        Ok(place_trees(&closed.params[0], &mut rows.into_iter()))
    }

    /// [n, ..outer] → [..outer, ..shape of `ty`].
    fn basis_last(&mut self, v: Value, ty: &Type) -> Value {
        let outer = self.b.ty(v).shape[1..].to_vec();
        let perm: Vec<usize> = (1..=outer.len()).chain([0]).collect();
        let moved = self.b.op(Op::Transpose { perm }, &[v]);
        let shape = outer.into_iter().chain(ty.shape.iter().copied()).collect();
        self.b.op(Op::Reshape { shape }, &[moved])
    }

    fn vmap(
        &mut self,
        closed: &Closed,
        axes: &[Option<i64>],
        out: i64,
        size: usize,
        args: &[Val],
    ) -> Result<Val> {
        let asked = self.b.span;
        let mut in_axes = Vec::new();
        let mut inputs = Vec::new();
        for (axis, arg) in axes.iter().zip(args) {
            for leaf in arg.leaves() {
                let rank = self.b.ty(leaf).rank();
                in_axes.push(axis.map(|a| from_end(a, rank)));
                inputs.push(leaf);
            }
        }
        in_axes.extend(closed.captures.iter().map(|_| None));
        inputs.extend(&closed.captures);
        let batched = transform::vmap(&closed.func, &in_axes, size).map_err(|e| e.at(asked))?;
        let outputs: Vec<Value> = self
            .b
            .inline(&batched, &inputs)
            .into_iter()
            .map(|v| self.axis_to(v, out))
            .collect();
        Ok(Val::of_type(&closed.ret, &mut outputs.into_iter()))
    }

    /// Moves axis 0 to `axis`, counted in the result, from its end if negative.
    fn axis_to(&mut self, v: Value, axis: i64) -> Value {
        let rank = self.b.ty(v).rank();
        let axis = from_end(axis, rank);
        if axis == 0 {
            return v;
        }
        let mut perm: Vec<usize> = (1..rank).collect();
        perm.insert(axis, 0);
        self.b.op(Op::Transpose { perm }, &[v])
    }

    fn checkpoint(&mut self, closed: &Closed, args: &[Val]) -> Val {
        let mut inputs: Vec<Value> = args.iter().flat_map(Val::leaves).collect();
        inputs.extend(&closed.captures);
        let region = self.b.region(|b| {
            let params: Vec<Value> = closed
                .func
                .input_types()
                .into_iter()
                .map(|t| b.param(t))
                .collect();
            b.inline(&closed.func, &params)
        });
        let outputs = self.b.push(Op::Remat, inputs, vec![region]);
        Val::of_type(&closed.ret, &mut outputs.into_iter())
    }
}

fn unpack(tuple: bool, val: &Val) -> Vec<Val> {
    if tuple {
        val.fields().to_vec()
    } else {
        vec![val.clone()]
    }
}

fn from_end(axis: i64, rank: usize) -> usize {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).unwrap_or(0)
}

/// Inputs of a scalar function → the gradients of its active inputs.
fn gradient_only(func: &Func, active: &[bool]) -> std::result::Result<Func, transform::AdError> {
    let mut gradient = transform::value_and_grad(func, active)?;
    gradient.body.results.drain(..func.body.results.len());
    Ok(gradient)
}

/// The n unit tensors of a type with n elements: [n, ..shape].
fn basis(b: &mut Builder, ty: &Type) -> Value {
    let n = ty.numel();
    let grid = Type::new(Elem::I32, vec![n, n]);
    let row = b.op(
        Op::Iota {
            ty: grid.clone(),
            axis: 0,
        },
        &[],
    );
    let column = b.op(Op::Iota { ty: grid, axis: 1 }, &[]);
    let eye = b.op(Op::Compare(crate::ir::CompareOp::Eq), &[row, column]);
    let eye = b.op(Op::Convert(ty.elem), &[eye]);
    let shape = std::iter::once(n).chain(ty.shape.iter().copied()).collect();
    b.op(Op::Reshape { shape }, &[eye])
}

fn zeros(b: &mut Builder, ty: &Type) -> Value {
    b.op(Op::Constant(Literal::splat_f64(ty.clone(), 0.0)), &[])
}

/// A value of the structure of `ty` with a whole tree in place of each float leaf.
fn place_trees(ty: &Ty, trees: &mut impl Iterator<Item = Val>) -> Val {
    match ty {
        Ty::Tuple(fields) => Val::Fields(fields.iter().map(|t| place_trees(t, trees)).collect()),
        Ty::Record(fields) => {
            Val::Fields(fields.iter().map(|(_, t)| place_trees(t, trees)).collect())
        }
        Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
            trees.next().unwrap_or_else(Val::unit)
        }
    }
}
