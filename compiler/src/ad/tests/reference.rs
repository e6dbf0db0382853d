//! Composite functions against JAX: `scripts/reference/gradients.py` made the data, IR text included.
//! Values, cotangents of inputs, tangents of outputs, and the directional derivative of the cotangents, in f32.

use super::check::{Numbers, check_batching, check_layout};
use super::programs::{checked, func};
use crate::interp::tests::array;
use crate::interp::{Array, Precision, eval};
use crate::ir::{Func, Type};
use crate::transform;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    ir: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    cotangents: Vec<String>,
    gradients: Vec<String>,
    tangents: Vec<String>,
    derivatives: Vec<String>,
    second: Vec<String>,
}

fn cases() -> impl Iterator<Item = (Case, Func)> {
    include_str!("gradients.jsonl").lines().map(|line| {
        let case: Case = serde_json::from_str(line).expect("a case");
        let f = func(&case.ir);
        (case, f)
    })
}

fn arrays<'a>(types: impl IntoIterator<Item = &'a Type>, bits: &[String]) -> Vec<Array> {
    let pairs = types.into_iter().zip(bits);
    pairs.map(|(ty, text)| array(ty.clone(), text)).collect()
}

fn run(f: &Func, inputs: &[Array]) -> Vec<Array> {
    eval(f, inputs, Precision::Element).unwrap_or_else(|e| panic!("{e}\nin {f}"))
}

fn floats(types: &[Type]) -> Vec<Type> {
    types
        .iter()
        .filter(|t| t.elem.is_float())
        .cloned()
        .collect()
}

/// Largest error of `found`, relative to the largest element expected.
fn error(found: &[Array], expected: &[Array]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let mut worst = 0.0_f64;
    for (f, e) in found.iter().zip(expected) {
        assert_eq!(f.ty, e.ty);
        let (f, e) = (f.to_f64(), e.to_f64());
        let scale = e.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
        for (f, e) in f.iter().zip(&e) {
            let same = f == e || (f.is_nan() && e.is_nan());
            worst = worst.max(if same { 0.0 } else { (f - e).abs() / scale });
        }
    }
    worst
}

#[test]
fn composite_functions_agree_with_jax() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (case, f) in cases() {
        count += 1;
        let types = f.input_types();
        let active: Vec<bool> = types.iter().map(|t| t.elem.is_float()).collect();
        let inputs = arrays(&types, &case.inputs);
        let outputs = f.output_types();
        let n = outputs.len();
        let values = arrays(&outputs, &case.outputs);
        let cotangents = arrays(&floats(&outputs), &case.cotangents);
        let gradients = arrays(&floats(&types), &case.gradients);
        let tangents = arrays(&floats(&types), &case.tangents);
        let derivatives = arrays(&floats(&outputs), &case.derivatives);
        let mut expect = |what: &str, found: &[Array], expected: &[Array], tolerance: f64| {
            let e = error(found, expected);
            if e.is_nan() || e > tolerance {
                wrong.push(format!("{}: {what} differs by {e:.1e}", case.name));
            }
        };

        let vjp = checked(transform::vjp(&f, &active).expect("reverse mode"));
        let found = run(&vjp, &[&inputs[..], &cotangents].concat());
        expect("the value", &found[..n], &values, 1e-5);
        expect("a gradient", &found[n..], &gradients, 2e-5);

        let jvp = checked(transform::jvp(&f, &active).expect("forward mode"));
        let found = run(&jvp, &[&inputs[..], &tangents].concat());
        expect("a tangent", &found[n..], &derivatives, 2e-5);

        if !case.second.is_empty() {
            let second = arrays(&floats(&types), &case.second);
            let mut along = active.clone();
            along.extend(cotangents.iter().map(|_| false));
            let both = checked(transform::jvp(&vjp, &along).expect("forward over reverse"));
            let found = run(&both, &[&inputs[..], &cotangents, &tangents].concat());
            let from = found.len() - second.len();
            expect("a second derivative", &found[from..], &second, 1e-4);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count >= 70, "only {count} cases");
}

#[test]
fn composite_functions_batch_as_a_loop() {
    for (case, f) in cases() {
        let types = f.input_types();
        let inputs = arrays(&types, &case.inputs);
        check_batching(&case.name, &f, &inputs);
        let active: Vec<bool> = types.iter().map(|t| t.elem.is_float()).collect();
        let vjp = checked(transform::vjp(&f, &active).expect("reverse mode"));
        let mut numbers = Numbers::new(&case.name);
        let mut all = inputs;
        for ty in &vjp.input_types()[all.len()..] {
            all.push(numbers.array(ty, -1.0, 1.0));
        }
        // The arguments mapped and the cotangents shared, and the other way round.
        for mapped in [true, false] {
            let n = types.len();
            let layout: Vec<Option<usize>> = (0..all.len())
                .map(|i| ((i < n) == mapped).then_some(0))
                .collect();
            check_layout(&format!("vjp of {}", case.name), &vjp, &all, &layout);
        }
    }
}
