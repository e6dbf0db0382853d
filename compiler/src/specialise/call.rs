//! Calls: the callee is always known, and its body is evaluated in place.

use super::error::{BuildError, Result, TOO_MUCH};
use super::frame::Frame;
use super::val::{Val, leaf_types};
use super::{Instance, Specialiser};
use crate::ir::num::Num;
use crate::ir::{Elem, Literal, Op, Value};
use std::rc::Rc;
use tpuc_lang::ast::GenericKind;
use tpuc_lang::diag::Diagnostic;
use tpuc_lang::span::Span;
use tpuc_lang::typed::{self, Callee, ElemTy, FnDef, FnId, GenericArg, Vjp};

/// The functions of floats that the prelude writes in `.tl` take 16 bits in f32 and round once at the end, as one of
/// the device's own functions does: their steps could overflow, and their errors add up. Gives the element type of
/// the call and the arguments of the instance that stands in.
fn in_single(def: &FnDef, generics: &[GenericArg]) -> Option<(Elem, Vec<GenericArg>)> {
    let is_float = def.generics.iter().any(|g| g.kind == GenericKind::Float);
    if !is_float || *def.module != *typed::PRELUDE {
        return None;
    }
    let narrow = generics.iter().find_map(|g| match g {
        GenericArg::Elem(ElemTy::Known(typed::Elem::BF16)) => Some(Elem::BF16),
        GenericArg::Elem(ElemTy::Known(typed::Elem::F16)) => Some(Elem::F16),
        _ => None,
    })?;
    let wide = generics.iter().map(|g| match g {
        GenericArg::Elem(_) => GenericArg::Elem(ElemTy::Known(typed::Elem::F32)),
        other => other.clone(),
    });
    Some((narrow, wide.collect()))
}

/// Calls are written out, so functions that each call the one before twice double the program with every line.
const MAX_OPERATIONS: usize = 200_000;
const MAX_DEPTH: usize = 400;

/// More calls than these are not shown of one error.
const MAX_LABELS: usize = 4;

/// What is wrong with the sizes in a function comes from its calls.
fn called_here(mut d: Box<Diagnostic>, span: Span) -> Box<Diagnostic> {
    let at = d.primary.span;
    let holds = span.file == at.file && (span.start..=span.end).contains(&at.start);
    let is_long = d.code.0 == TOO_MUCH || d.secondary.len() >= MAX_LABELS;
    if !holds && !is_long {
        *d = d.label(span, "in this call");
    }
    d
}

impl Specialiser<'_> {
    pub(crate) fn call(
        &mut self,
        frame: &mut Frame,
        callee: &Callee,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        self.calls += 1;
        if self.calls.max(self.b.value_count()) > MAX_OPERATIONS {
            return Err(BuildError::TooMuchCode.at(span));
        }
        if self.depth == MAX_DEPTH {
            return Err(BuildError::TooDeep.at(span));
        }
        self.depth += 1;
        let out = self.call_here(frame, callee, args, span);
        self.depth -= 1;
        out
    }

    fn call_here(
        &mut self,
        frame: &mut Frame,
        callee: &Callee,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        match callee {
            Callee::Fn { id, generics } => {
                let generics = generics
                    .iter()
                    .map(|g| frame.arg(g, span))
                    .collect::<Result<Vec<_>>>()?;
                let out = self.call_fn(*id, generics, args, span);
                out.map_err(|d| called_here(d, span))
            }
            Callee::Lambda(lambda) => {
                let mut inner = frame.clone();
                for (pattern, arg) in lambda.params.iter().zip(args) {
                    self.bind(&mut inner, pattern, arg);
                }
                self.expr(&mut inner, &lambda.body)
            }
            Callee::Local(id) => match frame.local(*id).clone() {
                Val::Closure(c) => self.call(&mut c.frame.clone(), &c.callee, args, span),
                Val::Tensor(_) | Val::Fields(_) => {
                    unreachable!("the checker has typed this variable as a function")
                }
            },
            Callee::Transform(t) => self.transform(frame, t, args),
        }
    }

    pub(crate) fn call_fn(
        &mut self,
        id: FnId,
        generics: Vec<GenericArg>,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let def = &self.program.fns[id.0 as usize];
        if let Some((narrow, wide)) = in_single(def, &generics) {
            let args = args.iter().map(|a| self.converted(a, Elem::F32)).collect();
            let out = self.call_fn(id, wide, args, span)?;
            return Ok(self.converted(&out, narrow));
        }
        let instance = Instance { id, generics };
        if !self.instances.contains(&instance) {
            self.instances.push(instance.clone());
        }
        let frame = Frame {
            function: Some(id),
            generics: Rc::new(instance.generics),
            ..Frame::default()
        };
        match &def.vjp {
            None => self.body_of(def, frame, args),
            Some(vjp) => self.with_own_derivative(def, vjp, frame, args, span),
        }
    }

    fn converted(&mut self, val: &Val, elem: Elem) -> Val {
        let leaves: Vec<Value> = val
            .leaves()
            .into_iter()
            .map(|v| self.b.convert(v, elem))
            .collect();
        val.rebuild(&mut leaves.into_iter())
    }

    fn body_of(&mut self, def: &FnDef, mut frame: Frame, args: Vec<Val>) -> Result<Val> {
        for (param, arg) in def.params.iter().zip(args) {
            frame.locals.insert(param.local, arg);
        }
        let outer = self.b.span;
        let out = self.block(&mut frame, &def.body.block);
        self.b.span = outer;
        out
    }

    /// A function with a `vjp` block: one primitive that holds both. What its function-typed arguments capture
    /// becomes further arguments, whose cotangents are zero.
    fn with_own_derivative(
        &mut self,
        def: &FnDef,
        vjp: &Vjp,
        frame: Frame,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let leaves: Vec<Value> = args.iter().flat_map(Val::leaves).collect();

        self.b.open_region();
        let inner_args = self.params_like(&args);
        let out = self.body_of(def, frame.clone(), inner_args);
        let mut primal = self
            .b
            .close_region(out.as_ref().map(Val::leaves).unwrap_or_default());
        let out = out?;

        self.b.open_region();
        let inner_args = self.params_like(&args);
        let inner_out = self.params_like(std::slice::from_ref(&out)).remove(0);
        let ct = self.cotangent_params(&out);
        let cts = self.vjp_block(def, vjp, frame, inner_args, inner_out, ct, span);
        let mut derivative = self.b.close_region(cts.clone().unwrap_or_default());
        cts?;

        let mut captures = primal.captures();
        for v in derivative.captures() {
            if !captures.contains(&v) {
                captures.push(v);
            }
        }
        if !captures.is_empty() {
            self.close_over(&mut primal, &captures, 0);
            self.close_over(&mut derivative, &captures, leaves.len());
        }
        self.b.span = span;
        let operands = leaves.into_iter().chain(captures).collect();
        let results = self
            .b
            .push(Op::CustomVjp, operands, vec![primal, derivative]);
        Ok(out.rebuild(&mut results.into_iter()))
    }

    #[allow(clippy::too_many_arguments)]
    fn vjp_block(
        &mut self,
        def: &FnDef,
        vjp: &Vjp,
        mut frame: Frame,
        args: Vec<Val>,
        out: Val,
        ct: Val,
        span: Span,
    ) -> Result<Vec<Value>> {
        let types = def
            .params
            .iter()
            .map(|p| frame.ty(&p.ty, span))
            .collect::<Result<Vec<_>>>()?;
        for (local, val) in vjp.params.iter().zip(args.into_iter().chain([out, ct])) {
            frame.locals.insert(*local, val);
        }
        let result = self.block(&mut frame, &vjp.body.block)?;
        let parts: Vec<Val> = match (&types[..], result) {
            ([_], single) => vec![single],
            (_, Val::Fields(fields)) => fields,
            (_, Val::Tensor(_) | Val::Closure(_)) => {
                unreachable!("the checker wants one cotangent an argument")
            }
        };
        let mut cts = Vec::new();
        for (ty, part) in types.iter().zip(parts) {
            let of_float = leaf_types(ty).into_iter().map(|t| t.elem.is_float());
            cts.extend(
                part.leaves()
                    .into_iter()
                    .zip(of_float)
                    .filter(|(_, float)| *float)
                    .map(|(v, _)| v),
            );
        }
        Ok(cts)
    }

    fn params_like(&mut self, vals: &[Val]) -> Vec<Val> {
        vals.iter()
            .map(|val| {
                let params: Vec<Value> = val
                    .leaves()
                    .into_iter()
                    .map(|v| {
                        let ty = self.b.ty(v).clone();
                        self.b.param(ty)
                    })
                    .collect();
                val.rebuild(&mut params.into_iter())
            })
            .collect()
    }

    /// Cotangent parameters for the float leaves of a result; zeros of their type stand for the others.
    fn cotangent_params(&mut self, out: &Val) -> Val {
        let cts: Vec<Value> = out
            .leaves()
            .into_iter()
            .map(|v| {
                let ty = self.b.ty(v).clone();
                if ty.elem.is_float() {
                    self.b.param(ty)
                } else {
                    self.b.op(Op::Constant(Literal::splat_i64(ty, 0)), &[])
                }
            })
            .collect();
        out.rebuild(&mut cts.into_iter())
    }

    /// Makes captured values parameters of a region, inserted at position `at` for the derivative's region (after
    /// the arguments) or at the end for the function's (`at` = 0), with zero cotangents for those that are floats.
    fn close_over(&mut self, region: &mut crate::ir::Region, captures: &[Value], at: usize) {
        let (func, order) = self.b.extract("closed", region);
        let own = region.params.len();
        *region = self.b.region(|b| {
            let types: Vec<_> = func.input_types();
            let mut params: Vec<Value> = Vec::new();
            let mut extra: Vec<Value> = Vec::new();
            for (i, ty) in types[..own].iter().enumerate() {
                if at > 0 && i == at {
                    extra = captures.iter().map(|&c| b.param(b.ty(c).clone())).collect();
                }
                params.push(b.param(ty.clone()));
            }
            if extra.is_empty() {
                extra = captures.iter().map(|&c| b.param(b.ty(c).clone())).collect();
            }
            params.extend(
                order
                    .iter()
                    .filter_map(|c| captures.iter().position(|x| x == c))
                    .map(|i| extra[i]),
            );
            let mut results = b.inline(&func, &params);
            if at > 0 {
                for &c in captures {
                    let ty = b.ty(c).clone();
                    if ty.elem.is_float() {
                        results.push(b.op(Op::Constant(Literal::splat_f64(ty, 0.0)), &[]));
                    }
                }
            }
            results
        });
    }
}
