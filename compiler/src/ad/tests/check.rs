//! The checks that every function of the tests goes through, in f64 in the interpreter:
//! forward mode against central differences, reverse mode against forward mode by the inner-product identity, the same
//! for the derivatives themselves, and batching against a loop.

use super::programs::checked;
use crate::interp::{Array, Precision, eval};
use crate::ir::{Elem, Func, Type};
use crate::transform;

/// A function and a point to look at it.
pub struct Case {
    pub name: String,
    pub func: Func,
    pub inputs: Vec<Array>,
}

/// How thoroughly a case is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    First,
    Second,
}

/// Numbers that look random and never change.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: &str) -> Self {
        let hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        });
        Numbers(hash | 1)
    }

    /// In 0..1.
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn array(&mut self, ty: &Type, low: f64, high: f64) -> Array {
        let values: Vec<f64> = (0..ty.numel()).map(|_| self.between(low, high)).collect();
        if ty.elem.is_float() {
            Array::floats(ty.clone(), values)
        } else if ty.elem == Elem::Bool {
            Array::bools(
                ty.clone(),
                values.iter().map(|&x| x > (low + high) / 2.0).collect(),
            )
        } else {
            Array::of(
                ty.clone(),
                &values.iter().map(|x| x.floor()).collect::<Vec<_>>(),
            )
        }
    }
}

pub fn run(f: &Func, inputs: &[Array]) -> Vec<Array> {
    eval(f, inputs, Precision::F64).unwrap_or_else(|e| panic!("{e}\nin {f}"))
}

fn floats(f: &Func) -> Vec<bool> {
    f.input_types().iter().map(|t| t.elem.is_float()).collect()
}

/// All checks of a case; `Order::Second` also for its derivatives.
pub fn check(case: &Case, order: Order) {
    check_modes(&case.name, &case.func, &case.inputs);
    check_batching(&case.name, &case.func, &case.inputs);
    if order == Order::First {
        return;
    }
    let name = &case.name;
    let f = &case.func;
    let active = floats(f);
    let mut numbers = Numbers::new(name);

    let g = checked(transform::vjp(f, &active).expect("reverse mode"));
    let mut inputs = case.inputs.clone();
    for ty in &g.input_types()[inputs.len()..] {
        inputs.push(numbers.array(ty, -1.0, 1.0));
    }
    check_modes(&format!("{name}, derivative of its vjp"), &g, &inputs);
    let all = vec![Some(0); inputs.len()];
    check_layout(&format!("{name}, batching of its vjp"), &g, &inputs, &all);

    let g = checked(transform::jvp(f, &active).expect("forward mode"));
    let mut inputs = case.inputs.clone();
    for ty in &g.input_types()[inputs.len()..] {
        inputs.push(numbers.array(ty, -1.0, 1.0));
    }
    check_modes(&format!("{name}, derivative of its jvp"), &g, &inputs);
}

/// Forward mode against differences, reverse mode against forward mode.
pub fn check_modes(name: &str, f: &Func, inputs: &[Array]) {
    let active = floats(f);
    let mut numbers = Numbers::new(name);
    let values = run(f, inputs);

    let jvp = checked(transform::jvp(f, &active).unwrap_or_else(|e| panic!("{name}: {e:?}")));
    let tangents: Vec<Array> = inputs
        .iter()
        .zip(&active)
        .filter(|(_, a)| **a)
        .map(|(x, _)| numbers.array(&x.ty, -1.0, 1.0))
        .collect();
    let results = run(&jvp, &[inputs, &tangents].concat());
    let (primals, derivatives) = results.split_at(values.len());
    equal(&format!("{name}: value in jvp"), primals, &values);
    let step = 1e-5;
    let ahead = float_outputs(run(f, &moved(inputs, &tangents, step)));
    let behind = float_outputs(run(f, &moved(inputs, &tangents, -step)));
    for (i, d) in derivatives.iter().enumerate() {
        let differences: Vec<f64> = ahead[i]
            .to_f64()
            .iter()
            .zip(behind[i].to_f64())
            .map(|(a, b)| (a - b) / (2.0 * step))
            .collect();
        let label = format!("{name}: jvp, output {i}");
        close(&label, &d.to_f64(), &differences, constant_error(f), &jvp);
    }

    let vjp = checked(transform::vjp(f, &active).unwrap_or_else(|e| panic!("{name}: {e:?}")));
    let cts: Vec<Array> = derivatives
        .iter()
        .map(|d| numbers.array(&d.ty, -1.0, 1.0))
        .collect();
    let results = run(&vjp, &[inputs, &cts].concat());
    let (primals, gradients) = results.split_at(values.len());
    equal(&format!("{name}: value in vjp"), primals, &values);
    let forward = dot(&cts, derivatives);
    let reverse = dot(gradients, &tangents);
    close(
        &format!("{name}: inner product"),
        &[reverse],
        &[forward],
        1e-8,
        &vjp,
    );
}

/// What differences may differ by: constants of the rules are rounded to the element type even here.
fn constant_error(f: &Func) -> f64 {
    f.input_types()
        .iter()
        .map(|t| match t.elem {
            Elem::BF16 => 8e-3,
            Elem::F16 => 1e-3,
            _ => 2e-5,
        })
        .fold(2e-5, f64::max)
}

fn moved(inputs: &[Array], tangents: &[Array], step: f64) -> Vec<Array> {
    let mut tangents = tangents.iter();
    inputs
        .iter()
        .map(|x| {
            if !x.ty.elem.is_float() {
                return x.clone();
            }
            let t = tangents.next().expect("a tangent for each float");
            let sum = x
                .to_f64()
                .iter()
                .zip(t.to_f64())
                .map(|(x, t)| x + step * t)
                .collect();
            Array::floats(x.ty.clone(), sum)
        })
        .collect()
}

fn float_outputs(values: Vec<Array>) -> Vec<Array> {
    values
        .into_iter()
        .filter(|v| v.ty.elem.is_float())
        .collect()
}

fn dot(a: &[Array], b: &[Array]) -> f64 {
    a.iter()
        .zip(b)
        .flat_map(|(x, y)| x.to_f64().into_iter().zip(y.to_f64()))
        .map(|(x, y)| x * y)
        .sum()
}

/// Batching against a loop: every input mapped, each one alone, and along the last axis.
pub fn check_batching(name: &str, f: &Func, inputs: &[Array]) {
    let n = inputs.len();
    let ranks: Vec<usize> = inputs.iter().map(|x| x.ty.rank()).collect();
    let mut layouts: Vec<Vec<Option<usize>>> =
        vec![vec![Some(0); n], ranks.iter().map(|&r| Some(r)).collect()];
    for i in 0..n {
        let mut one = vec![None; n];
        one[i] = Some(0);
        layouts.push(one);
        let mut others = vec![Some(0); n];
        others[i] = None;
        layouts.push(others);
    }
    for layout in layouts {
        check_layout(name, f, inputs, &layout);
    }
}

/// Batching against a loop, each input mapped along the axis given with it.
pub fn check_layout(name: &str, f: &Func, inputs: &[Array], layout: &[Option<usize>]) {
    const SIZE: usize = 3;
    let batched = transform::vmap(f, layout, SIZE).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let batched = checked(batched);
    let mut numbers = Numbers::new(name);
    // Element 0 is the case's own; the others are near it, or for integers the same numbers in another order.
    let points: Vec<Vec<Array>> = (0..SIZE)
        .map(|k| {
            inputs
                .iter()
                .zip(layout)
                .map(|(x, axis)| {
                    if axis.is_some() {
                        vary(&mut numbers, x, k)
                    } else {
                        x.clone()
                    }
                })
                .collect()
        })
        .collect();
    let stacked: Vec<Array> = (0..inputs.len())
        .map(|i| match layout[i] {
            None => inputs[i].clone(),
            Some(axis) => {
                let column: Vec<&Array> = points.iter().map(|p| &p[i]).collect();
                stack(&column, axis)
            }
        })
        .collect();
    let found = run(&batched, &stacked);
    let rows: Vec<Vec<Array>> = points.iter().map(|p| run(f, p)).collect();
    for (i, found) in found.iter().enumerate() {
        let column: Vec<&Array> = rows.iter().map(|r| &r[i]).collect();
        let expected = stack(&column, 0);
        assert_eq!(found.ty, expected.ty, "{name}, {layout:?}");
        let label = format!("{name}: batched as {layout:?}, output {i}");
        close(&label, &found.to_f64(), &expected.to_f64(), 1e-9, &batched);
    }
}

fn vary(numbers: &mut Numbers, x: &Array, k: usize) -> Array {
    if k == 0 {
        return x.clone();
    }
    let mut values = x.to_f64();
    if x.ty.elem.is_float() {
        for v in &mut values {
            *v *= numbers.between(0.97, 1.03);
        }
        Array::floats(x.ty.clone(), values)
    } else {
        if values.len() > 1 {
            let by = k % values.len();
            values.rotate_left(by);
        }
        Array::of(x.ty.clone(), &values)
    }
}

/// Arrays of one type along a new axis.
fn stack(rows: &[&Array], axis: usize) -> Array {
    let ty = &rows[0].ty;
    let mut shape = ty.shape.clone();
    shape.insert(axis, rows.len());
    let outer: usize = ty.shape[..axis].iter().product();
    let inner: usize = ty.shape[axis..].iter().product();
    let mut values = Vec::new();
    let data: Vec<Vec<f64>> = rows.iter().map(|r| r.to_f64()).collect();
    for o in 0..outer {
        for row in &data {
            values.extend_from_slice(&row[o * inner..(o + 1) * inner]);
        }
    }
    let ty = ty.with_shape(shape);
    if ty.elem.is_float() {
        Array::floats(ty, values)
    } else {
        Array::of(ty, &values)
    }
}

fn equal(name: &str, found: &[Array], expected: &[Array]) {
    for (a, b) in found.iter().zip(expected) {
        assert_eq!(a.to_bits(), b.to_bits(), "{name}");
    }
}

pub fn close(name: &str, found: &[f64], expected: &[f64], tolerance: f64, f: &Func) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let ok = (a - b).abs() <= tolerance * scale || a == b || (a.is_nan() && b.is_nan());
        assert!(
            ok,
            "{name}: element {i} is {a}, not {b}\nof {found:?}\nand {expected:?}\nin {f}"
        );
    }
}
