//! Each primitive × element type × shapes × both modes × order 2, and batched. The cases stand by subject in the files
//! beside; a primitive without a case of each kind of shape fails [`every_primitive_has_cases`].

mod elementwise;
mod indexing;
mod linalg;
mod reduce;
mod shape;

use super::check::{Case, Numbers, Order, check};
use super::control;
use super::programs::func;
use crate::interp::Array;
use crate::ir::parse::parse;
use crate::ir::{Builder, Elem, Func, Inst, Op, Region, Type, Value};
use std::collections::{HashMap, HashSet};

/// A function of inputs of the given types, and inputs between the bounds given with them.
fn case(
    name: &str,
    inputs: &[(Type, f64, f64)],
    body: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Case {
    let mut b = Builder::new("f");
    let params: Vec<Value> = inputs.iter().map(|(ty, ..)| b.param(ty.clone())).collect();
    let results = body(&mut b, &params);
    let mut numbers = Numbers::new(name);
    Case {
        name: name.to_string(),
        func: b.finish(results),
        inputs: inputs
            .iter()
            .map(|(ty, low, high)| numbers.array(ty, *low, *high))
            .collect(),
    }
}

pub const R: (f64, f64) = (-1.0, 1.0);

/// A function in text, its inputs between the bounds given.
pub fn text_case(name: &str, text: &str, bounds: &[(f64, f64)]) -> Case {
    let func: Func = func(text);
    let mut numbers = Numbers::new(name);
    let inputs = func
        .input_types()
        .iter()
        .zip(bounds)
        .map(|(ty, &(low, high))| numbers.array(ty, low, high))
        .collect::<Vec<Array>>();
    assert_eq!(inputs.len(), func.input_types().len(), "{name}");
    Case {
        name: name.to_string(),
        func,
        inputs,
    }
}

/// The same with every f32 of another element type. None for what takes the bits of one.
fn with_elem(case: &Case, elem: Elem) -> Option<Case> {
    let text = case.func.to_string();
    if text.contains("bitcast") {
        return None;
    }
    let retyped = |x: &Array| match x.ty.elem {
        Elem::F32 => Array::floats(x.ty.with_elem(elem), x.to_f64()),
        _ => x.clone(),
    };
    Some(Case {
        name: format!("{} in {elem}", case.name),
        func: func(&text.replace("f32", elem.name())),
        inputs: case.inputs.iter().map(retyped).collect(),
    })
}

fn check_all(cases: &[Case]) {
    for case in cases {
        check(case, Order::Second);
        for elem in [Elem::F64, Elem::BF16, Elem::F16] {
            if let Some(case) = with_elem(case, elem) {
                check(&case, Order::Second);
            }
        }
    }
}

#[test]
fn elementwise() {
    check_all(&elementwise::cases());
}

#[test]
fn indexing() {
    check_all(&indexing::cases());
}

#[test]
fn linalg() {
    check_all(&linalg::cases());
}

#[test]
fn reduce() {
    check_all(&reduce::cases());
}

#[test]
fn shape() {
    check_all(&shape::cases());
}

/// Those that need an axis.
const NEVER_SCALAR: [&str; 18] = [
    "iota",
    "concat",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "reduce_window_sum",
    "reduce_window_prod",
    "reduce_window_max",
    "reduce_window_min",
    "window_gather_max",
    "window_gather_min",
    "window_scatter_max",
    "window_scatter_min",
    "conv",
    "cholesky",
    "triangular_solve",
    "sort",
];

#[test]
fn every_primitive_has_cases() {
    let subjects = [
        elementwise::cases(),
        indexing::cases(),
        linalg::cases(),
        reduce::cases(),
        shape::cases(),
        control::cases(),
    ];
    // By primitive: whether there is a scalar, an empty dimension, one of size 1.
    let mut seen: HashMap<&str, [bool; 3]> = HashMap::new();
    for case in subjects.iter().flatten() {
        visit(&case.func.body, &mut |inst| {
            let values = inst.args.iter().chain(&inst.results);
            let shapes: Vec<&[usize]> = values.map(|&v| &case.func.ty(v).shape[..]).collect();
            let found = [
                shapes.iter().any(|s| s.is_empty()),
                shapes.iter().any(|s| s.contains(&0)),
                shapes.iter().any(|s| s.contains(&1)),
            ];
            let kinds = seen.entry(inst.op.name()).or_default();
            kinds.iter_mut().zip(found).for_each(|(k, f)| *k |= f);
        });
    }
    let everything = parse(include_str!("../../../ir/primitives.ir")).expect("parses");
    let mut names = HashSet::new();
    visit(&everything.body, &mut |inst| {
        if !matches!(inst.op, Op::Host(_) | Op::Effect(..)) {
            names.insert((inst.op.name(), inst.regions.is_empty()));
        }
    });
    let mut missing = Vec::new();
    for (name, is_plain) in names {
        let kinds = seen.get(name);
        if kinds.is_none() {
            missing.push(format!("{name}: no case"));
        }
        let Some([scalar, empty, one]) = kinds.filter(|_| is_plain) else {
            continue;
        };
        if !scalar && !NEVER_SCALAR.contains(&name) {
            missing.push(format!("{name}: none of rank 0"));
        }
        if !empty {
            missing.push(format!("{name}: none of a dimension 0"));
        }
        if !one {
            missing.push(format!("{name}: none of a dimension 1"));
        }
    }
    missing.sort();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

fn visit(region: &Region, look: &mut impl FnMut(&Inst)) {
    for inst in &region.insts {
        look(inst);
        inst.regions.iter().for_each(|r| visit(r, look));
    }
}
