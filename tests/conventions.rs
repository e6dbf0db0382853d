//! The tables of conventions in `docs/ad.md`: each row is a function at a point, its value and its derivatives. The first
//! is of primitives, the second of expressions of the language.

mod support;

use std::fmt::Write;
use std::path::Path;
use support::{safetensors, scratch, tpuc};
use tpuc_compiler::interp::{Array, Precision, eval};
use tpuc_compiler::ir::Func;
use tpuc_compiler::ir::parse::parse;
use tpuc_compiler::ir::verify::verify_pure;
use tpuc_compiler::transform;

const DOC: &str = include_str!("../docs/ad.md");

/// Not 1, so that a rule which forgets its cotangent is caught; a power of two, so that it rounds nothing.
const COTANGENT: f64 = -4.0;

struct Row<'a> {
    function: &'a str,
    at: &'a str,
    value: &'a str,
    derivative: &'a str,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    DOC.lines().filter_map(|line| {
        let cells = line.trim().trim_matches('|').split('|').map(str::trim);
        let cells: Vec<&str> = cells.collect();
        let [function, at, value, derivative] = cells[..] else {
            return None;
        };
        Some(Row {
            function: function.strip_prefix('`')?.strip_suffix('`')?,
            at,
            value,
            derivative,
        })
    })
}

impl Row<'_> {
    fn is_primitive(&self) -> bool {
        let mut letters = self.function.chars();
        letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    }
}

fn numbers(text: &str) -> Vec<f64> {
    let words = text.trim_matches(['[', ']']).split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let number = |word: &str| word.parse();
    words
        .map(|word| number(word).unwrap_or_else(|_| panic!("`{word}` is no number")))
        .collect()
}

#[test]
fn primitives() {
    let rows: Vec<Row> = rows().filter(Row::is_primitive).collect();
    let mut wrong = Vec::new();
    for row in &rows {
        if let Err(found) = check(row) {
            wrong.push(format!("{} at {}: {found}", row.function, row.at));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(rows.len() > 100, "only {} rows", rows.len());
}

fn check(row: &Row) -> Result<(), String> {
    let point = numbers(row.at);
    let is_vector = row.at.starts_with('[');
    let f = if is_vector {
        vector_function(row, point.len())
    } else {
        scalar_function(row.function, point.len())
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
    let attributes = match row.function {
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
        row.function
    ))
}

fn func(text: &str) -> Func {
    checked(parse(text).unwrap_or_else(|e| panic!("{e}\nin {text}")))
}

fn checked(f: Func) -> Func {
    verify_pure(&f).unwrap_or_else(|e| panic!("{e}\nin {f}"));
    f
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

/// On both backends.
#[test]
fn builtins() {
    let rows: Vec<Row> = rows().filter(|row| !row.is_primitive()).collect();
    assert!(rows.len() > 50, "only {} rows", rows.len());
    let folder = scratch("conventions");
    let path = |name: &str| folder.join(name).display().to_string();
    let (mut lets, mut saved) = (String::new(), Vec::new());
    for (i, row) in rows.iter().enumerate() {
        let e = row.function;
        // From a file, so that no compiler knows the point.
        let _ = writeln!(lets, "    let v{i} = {{ let x = data.x{i}; {e} }};");
        let _ = writeln!(
            lets,
            "    let g{i} = grad(|x| {{ let y = {e}; {COTANGENT:?} * sum(y) }})(data.x{i});"
        );
        saved.push(format!("v{i}: v{i}, g{i}: g{i}"));
    }
    let text = format!(
        "main {{\n    let data = load(\"{}\");\n{lets}    save({{ {} }}, \"{}\");\n}}\n",
        path("in.safetensors"),
        saved.join(", "),
        path("out.safetensors")
    );
    std::fs::write(path("program.tl"), &text).expect("written");
    let point = |(i, row): (usize, &Row)| safetensors::Tensor {
        name: format!("x{i}"),
        elem: "f32".into(),
        shape: vec![numbers(row.at).len()],
        numbers: numbers(row.at),
    };
    let points: Vec<_> = rows.iter().enumerate().map(point).collect();
    safetensors::write(Path::new(&path("in.safetensors")), &points);
    let mut wrong = Vec::new();
    for backend in ["cpu", "interp"] {
        let file = path("program.tl");
        let run = match backend {
            "cpu" => tpuc(&["run", &file, "--opt", "0"]),
            _ => tpuc(&["run", &file, "--opt", "0", "--backend", backend]),
        };
        assert_eq!(run.code, 0, "{}", run.stderr);
        let found = safetensors::read(Path::new(&path("out.safetensors")));
        for (i, row) in rows.iter().enumerate() {
            let gradient: Vec<f64> = found[&format!("g{i}")]
                .iter()
                .map(|g| g / COTANGENT)
                .collect();
            for (what, found, expected) in [
                ("value", &found[&format!("v{i}")], numbers(row.value)),
                ("gradient", &gradient, numbers(row.derivative)),
            ] {
                let close = |(f, e): (&f64, &f64)| {
                    f == e || f.is_nan() && e.is_nan() || (f - e).abs() <= 1e-6 * e.abs().max(0.1)
                };
                if found.len() != expected.len() || !found.iter().zip(&expected).all(close) {
                    wrong.push(format!(
                        "{} at {}: the {what} is {found:?}, not {expected:?} ({backend})",
                        row.function, row.at
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
