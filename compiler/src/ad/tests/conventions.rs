//! The table of conventions in `docs/ad.md`: each row is a function at a point.

use super::programs::{checked, func};
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::transform;

const DOC: &str = include_str!("../../../../docs/ad.md");

/// Not 1, so that a rule which forgets its cotangent is caught; a power of two, so that it rounds nothing.
const COTANGENT: f64 = -4.0;

#[test]
fn every_row_of_the_table_holds() {
    let rows = DOC.lines().filter_map(row).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for row in &rows {
        if let Err(found) = check(row) {
            wrong.push(format!("{} at {}: {found}", row.op, row.at));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(rows.len() > 100, "only {} rows", rows.len());
}

struct Row<'a> {
    op: &'a str,
    at: &'a str,
    value: &'a str,
    derivative: &'a str,
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line
        .trim()
        .trim_matches('|')
        .split('|')
        .map(str::trim)
        .collect();
    let [op, at, value, derivative] = cells[..] else {
        return None;
    };
    let op = op.strip_prefix('`')?.strip_suffix('`')?;
    // The other table is of expressions of the language; `tests/gradients.rs` reads it.
    let is_primitive = op
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
    is_primitive.then_some(Row {
        op,
        at,
        value,
        derivative,
    })
}

fn numbers(text: &str) -> Vec<f64> {
    text.trim_matches(['[', ']'])
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(|word| {
            word.parse()
                .unwrap_or_else(|_| panic!("`{word}` is no number"))
        })
        .collect()
}

fn check(row: &Row) -> Result<(), String> {
    let point = numbers(row.at);
    let is_vector = row.at.starts_with('[');
    let f = if is_vector {
        vector_function(row, point.len())
    } else {
        scalar_function(row.op, point.len())
    };
    let inputs: Vec<Array> = if is_vector {
        vec![Array::of(f.input_types()[0].clone(), &point)]
    } else {
        f.input_types()
            .iter()
            .zip(&point)
            .map(|(ty, x)| Array::of(ty.clone(), &[*x]))
            .collect()
    };
    let active = vec![true; inputs.len()];
    let expected = numbers(row.derivative);

    let vjp = checked(transform::vjp(&f, &active).expect("reverse mode"));
    let out = f.output_types().remove(0);
    let ct = Array::of(out.clone(), &vec![COTANGENT; out.numel()]);
    let results = run(&vjp, &[&inputs[..], &[ct]].concat());
    let value = results[0].to_f64();
    same("value", &value, &numbers(row.value))?;
    let gradient: Vec<f64> = results[1..]
        .iter()
        .flat_map(Array::to_f64)
        .map(|g| g / COTANGENT)
        .collect();
    same("gradient", &gradient, &expected)?;

    // Forward mode, one operand (or element) after the other.
    let jvp = checked(transform::jvp(&f, &active).expect("forward mode"));
    for (i, e) in expected.iter().enumerate() {
        let basis = |j: usize| if i == j { COTANGENT } else { 0.0 };
        let tangents: Vec<Array> = if is_vector {
            let direction: Vec<f64> = (0..point.len()).map(basis).collect();
            vec![Array::of(f.input_types()[0].clone(), &direction)]
        } else {
            let types = f.input_types();
            (0..point.len())
                .map(|j| Array::of(types[j].clone(), &[basis(j)]))
                .collect()
        };
        let results = run(&jvp, &[&inputs[..], &tangents].concat());
        let derivative: f64 = results[1].to_f64().iter().sum::<f64>() / COTANGENT;
        // A zero tangent of another operand times an infinite derivative is no part of the convention.
        let alone = expected.len() == 1 || expected.iter().all(|e| e.is_finite());
        if alone {
            same("forward derivative", &[derivative], &[*e])?;
        }
    }
    Ok(())
}

fn scalar_function(op: &str, operands: usize) -> Func {
    let params: Vec<String> = (0..operands).map(|i| format!("%x{i}: f32")).collect();
    let args: Vec<String> = (0..operands).map(|i| format!("%x{i}")).collect();
    func(&format!(
        "func f({}) -> (f32) {{ %y = {op} {} : f32\n return %y }}",
        params.join(", "),
        args.join(", ")
    ))
}

fn vector_function(row: &Row, n: usize) -> Func {
    let attributes = match row.op {
        op if op.starts_with("reduce") || op == "reverse" => "axes = [0]",
        "sort" => "axis = 0, keys = 1",
        _ => "axis = 0",
    };
    let out = if row.value.starts_with('[') {
        format!("f32[{n}]")
    } else {
        "f32".into()
    };
    func(&format!(
        "func f(%x: f32[{n}]) -> ({out}) {{ %y = {}[{attributes}] %x : {out}\n return %y }}",
        row.op
    ))
}

fn run(f: &Func, inputs: &[Array]) -> Vec<Array> {
    eval(f, inputs, Precision::Element).unwrap_or_else(|e| panic!("{e}\nin {f}"))
}

fn same(what: &str, found: &[f64], expected: &[f64]) -> Result<(), String> {
    let close =
        |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 3e-7 * b.abs();
    let all =
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| close(*a, *b));
    if all {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, not {expected:?}"))
    }
}
