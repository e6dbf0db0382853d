//! Transforms of functions, IR → IR: derivatives and batching. They nest in any order.

use crate::ad::cx::{Cx, Dual, Env, Sink};
use crate::ad::tape::Tape;
use crate::ad::transpose::Transposer;
use crate::ad::{AdErrorKind, tidy};
use crate::ir::{Func, Type, Value};

pub use crate::ad::AdError;
pub use crate::batch::vmap;

/// Forward mode. Inputs: those of `f`, then a tangent for each active input. Outputs: those of `f`, then the tangent
/// of each float output.
///
/// # Errors
/// An active input that is not a float; an effect; a function with its own derivative that forward mode cannot use.
pub fn jvp(f: &Func, active: &[bool]) -> Result<Func, AdError> {
    let mut cx = Cx::new(format!("jvp_{}", f.name), Sink::Inline);
    let (mut env, inputs) = primal_inputs(&mut cx, f, active)?;
    for (i, (&p, &v)) in f.body.params.iter().zip(&inputs).enumerate() {
        if active.get(i) == Some(&true) {
            cx.e.set_span(f.span(p));
            let t = cx.e.param(f.ty(p).clone());
            env.set(p, Dual::new(v, Some(t)));
        }
    }
    let outs = cx.region(f, &f.body, &mut env)?;
    let mut results: Vec<Value> = outs.iter().map(|d| d.primal).collect();
    for out in &outs {
        if cx.e.elem(out.primal).is_float() {
            let t = cx.tangent_or_zeros(out);
            results.push(t);
        }
    }
    Ok(tidy(cx.e.finish(results)))
}

/// Reverse mode. Inputs: those of `f`, then a cotangent for each float output. Outputs: those of `f`, then the
/// cotangent of each active input.
///
/// # Errors
/// As [`jvp`]; and a `while` whose carried values have derivatives.
pub fn vjp(f: &Func, active: &[bool]) -> Result<Func, AdError> {
    let mut cx = Cx::new(format!("vjp_{}", f.name), Sink::Inline);
    let lin = linearise(&mut cx, f, active)?;
    let seeds = lin
        .outs
        .iter()
        .filter_map(|d| {
            let ty = cx.e.type_of(d.primal);
            ty.elem.is_float().then(|| (d.tangent, cx.e.param(ty)))
        })
        .collect();
    finish_reverse(cx, lin, seeds)
}

/// Outputs: those of `f`, then the gradient of the first of them with respect to each active input. It is [`vjp`] with
/// cotangent 1 for the first output and none for the others, without the code that would take.
///
/// # Errors
/// As [`vjp`]; and a first output that is not a single float.
pub fn value_and_grad(f: &Func, active: &[bool]) -> Result<Func, AdError> {
    let first = f.body.results.first().copied();
    let scalar = first.filter(|&v| f.ty(v).elem.is_float() && f.ty(v).rank() == 0);
    let Some(_) = scalar else {
        let found = match first {
            Some(v) => f.ty(v).to_string(),
            None => "nothing".into(),
        };
        let span = first.map(|v| f.span(v)).unwrap_or_default();
        return Err(AdError::new(AdErrorKind::NotScalar { found }, span));
    };
    let mut cx = Cx::new(format!("grad_{}", f.name), Sink::Inline);
    let lin = linearise(&mut cx, f, active)?;
    let one = cx.e.like(lin.outs[0].primal, 1.0);
    let seeds = vec![(lin.outs[0].tangent, one)];
    finish_reverse(cx, lin, seeds)
}

/// The primal half of a function, emitted, and its linear half.
struct Linear<'f> {
    outs: Vec<Dual>,
    /// Tangents of the active inputs.
    inputs: Vec<Value>,
    tape: Tape<'f>,
}

fn linearise<'f>(cx: &mut Cx<'f>, f: &'f Func, active: &[bool]) -> Result<Linear<'f>, AdError> {
    let (mut env, values) = primal_inputs(cx, f, active)?;
    let mut inputs = Vec::new();
    for (i, (&p, &v)) in f.body.params.iter().zip(&values).enumerate() {
        if active.get(i) == Some(&true) {
            let t = cx.e.fresh(f.ty(p).clone());
            env.set(p, Dual::new(v, Some(t)));
            inputs.push(t);
        }
    }
    let (outs, tape) = cx.taped(|cx| cx.region(f, &f.body, &mut env))?;
    Ok(Linear { outs, inputs, tape })
}

/// Transposes the linear half from the cotangents in `seeds`: (tangent of an output, its cotangent).
fn finish_reverse<'f>(
    mut cx: Cx<'f>,
    lin: Linear<'f>,
    seeds: Vec<(Option<Value>, Value)>,
) -> Result<Func, AdError> {
    let mut results: Vec<Value> = lin.outs.iter().map(|d| d.primal).collect();
    let mut tx = Transposer::new(&mut cx);
    for (tangent, ct) in seeds {
        if let Some(t) = tangent {
            tx.add(t, ct);
        }
    }
    tx.run(&lin.tape)?;
    for &t in &lin.inputs {
        let ct = tx.take(t);
        results.push(tx.or_zeros(ct, t));
    }
    Ok(tidy(cx.e.finish(results)))
}

/// Parameters for the inputs of `f`; none of them has a tangent yet.
fn primal_inputs(cx: &mut Cx, f: &Func, active: &[bool]) -> Result<(Env, Vec<Value>), AdError> {
    let mut env = Env::default();
    let mut values = Vec::new();
    for (i, &p) in f.body.params.iter().enumerate() {
        let ty: &Type = f.ty(p);
        if active.get(i) == Some(&true) && !ty.elem.is_float() {
            let kind = AdErrorKind::NotDifferentiable {
                input: i,
                elem: ty.elem,
            };
            return Err(AdError::new(kind, f.span(p)));
        }
        cx.e.set_span(f.span(p));
        let v = cx.e.param(ty.clone());
        env.set(p, Dual::constant(v));
        values.push(v);
    }
    Ok((env, values))
}
