//! What lowering means: every case of the interpreter's references (NumPy, SciPy, JAX), lowered and run on the CPU
//! plugin, gives the same values.
//!
//! Many cases are compiled as one program. Where XLA's own approximations are coarser than the interpreter's, the
//! table below says by how much a result may differ.

mod support;

use serde::Deserialize;
use support::pjrt::{cpu, run, together};
use tpuc_compiler::interp::{Array, Precision, eval};
use tpuc_compiler::ir::literal::{decode_f64, encode_f64, ulps_between};
use tpuc_compiler::ir::parse::parse;
use tpuc_compiler::ir::{Elem, Func, Type};

#[derive(Deserialize)]
struct Case {
    name: String,
    ir: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    ulps: u64,
    relative: f64,
}

/// How many cases are compiled together.
const TOGETHER: usize = 64;

#[test]
fn lowered_primitives_agree_with_the_references() {
    let (client, version) = cpu();
    let lines: Vec<&str> = include_str!("../compiler/src/interp/primitives.jsonl")
        .lines()
        .collect();
    let mut wrong = Vec::new();
    for chunk in lines.chunks(TOGETHER) {
        let cases: Vec<Case> = chunk
            .iter()
            .map(|line| serde_json::from_str(line).expect("a case"))
            .collect();
        let funcs: Vec<Func> = cases
            .iter()
            .map(|case| parse(&case.ir).unwrap_or_else(|e| panic!("{}: {e}", case.name)))
            .collect();
        let inputs: Vec<Vec<u64>> = cases
            .iter()
            .flat_map(|c| &c.inputs)
            .map(|t| words(t))
            .collect();
        let mut found = run(&client, &version, &together(&funcs), &inputs).into_iter();
        for (case, func) in cases.iter().zip(&funcs) {
            for (ty, expected) in func.output_types().iter().zip(&case.outputs) {
                let found = found.next().expect("as many results as outputs");
                compare(case, func, ty, [&found, &words(expected)], &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(lines.len() > 700, "only {} cases", lines.len());
}

#[test]
fn every_primitive_gives_what_the_interpreter_gives() {
    let (client, version) = cpu();
    let func = every_pure_primitive();
    let inputs = plausible_inputs(&func);
    let arrays: Vec<Array> = func
        .input_types()
        .into_iter()
        .zip(&inputs)
        .map(|(ty, bits)| Array::from_bits(ty, bits.clone()))
        .collect();
    let expected = eval(&func, &arrays, Precision::Element).unwrap_or_else(|e| panic!("{e}"));
    let found = run(&client, &version, &func, &inputs);
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let ty = &expected.ty;
        let largest = rounding_of_sums(ty.elem, &expected.to_bits()) * 50.0;
        for (&f, e) in found.iter().zip(expected.to_bits()) {
            let (x, y) = (decode_f64(ty.elem, f), decode_f64(ty.elem, e));
            let close = f == e || x.is_nan() && y.is_nan() || (x - y).abs() <= largest;
            assert!(close, "result {i} of {ty}: {x}, not {y}");
        }
    }
    assert!(expected.len() > 100);
}

/// So that random normal numbers are JAX's: `scripts/reference/erf_inv.py` made the data.
#[test]
fn erf_inv_is_jaxs_bit_for_bit() {
    let lines = include_str!("reference/erf_inv_f32.txt").lines();
    let pairs: Vec<Vec<u64>> = lines.map(words).collect();
    let x: Vec<u64> = pairs.iter().map(|pair| pair[0]).collect();
    let n = pairs.len();
    let text =
        format!("func f(%x: f32[{n}]) -> (f32[{n}]) {{\n%y = erf_inv %x : f32[{n}]\nreturn %y\n}}");
    let func = parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let (client, version) = cpu();
    let found = run(&client, &version, &func, &[x]).remove(0);
    for (found, pair) in found.into_iter().zip(&pairs) {
        let [x, expected] = pair[..] else {
            panic!("{pair:x?}")
        };
        let nan = |bits: u64| f32::from_bits(bits as u32).is_nan();
        let same = found == expected || nan(found) && nan(expected);
        assert!(same, "erf_inv of {x:#x} is {found:#x}, not {expected:#x}");
    }
    assert!(n > 1000);
}

/// The IR that holds one instruction of every primitive, without what only `main` may hold, with all values of the
/// body as results.
fn every_pure_primitive() -> Func {
    let impure = [
        "dataset[",
        "load[",
        "numpy_permutations[",
        " = time",
        "print[",
        "debug[",
        "save[",
        "assert",
        "return",
    ];
    let text: Vec<&str> = include_str!("../compiler/src/ir/primitives.ir")
        .lines()
        .filter(|line| !impure.iter().any(|word| line.contains(word)))
        .collect();
    let head = text
        .iter()
        .position(|line| line.starts_with("func"))
        .expect("a function");
    let (params, _) = text[head].split_once(" -> ").expect("results");
    let body = text[head + 1..].join("\n");
    let closed = format!(
        "{params} -> () {{\n{}\nreturn\n}}",
        body.trim_end().trim_end_matches('}')
    );
    let mut func = parse(&closed).unwrap_or_else(|e| panic!("{e}"));
    func.body.results = func
        .body
        .insts
        .iter()
        .flat_map(|i| i.results.clone())
        .collect();
    func
}

/// Numbers of both signs, small indices, and matrices that have a Cholesky factor.
fn plausible_inputs(func: &Func) -> Vec<Vec<u64>> {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut fill = |ty: &Type| -> Vec<u64> {
        let square = ty.shape.len() == 3 && ty.shape[1] == ty.shape[2];
        let n = ty.shape.last().copied().unwrap_or(1);
        (0..ty.numel())
            .map(|i| match ty.elem {
                // Diagonally dominant, and symmetric enough: only the lower half is read.
                Elem::F32 if square => {
                    let diagonal = i / n % n == i % n;
                    next() + if diagonal { 6.0 } else { 0.0 }
                }
                Elem::F32 | Elem::BF16 => next() * 2.0 - 1.0,
                Elem::Bool => f64::from(u8::from(next() < 0.5)),
                _ => (next() * 4.0).floor() + 1.0,
            })
            .map(|x| encode_f64(ty.elem, x))
            .collect()
    };
    func.input_types().iter().map(&mut fill).collect()
}

fn words(text: &str) -> Vec<u64> {
    text.split_whitespace()
        .map(|word| u64::from_str_radix(word, 16).expect("hexadecimal"))
        .collect()
}

fn compare(case: &Case, func: &Func, ty: &Type, results: [&[u64]; 2], wrong: &mut Vec<String>) {
    let [found, expected] = results;
    let allowed = Allowance::of(case, ty.elem, expected);
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        if f != e && !allowed.covers(ty.elem, f, e) && !reads_subnormal(case, func, i) {
            let shown = |bits| match ty.elem.is_float() {
                true => format!("{:?}", decode_f64(ty.elem, bits)),
                false => format!("{bits:#x}"),
            };
            wrong.push(format!(
                "{}: element {i} is {}, not {}",
                case.name,
                shown(f),
                shown(e)
            ));
        }
    }
}

/// Whether an operand has a subnormal number at this place: the plugin takes it for 0.
fn reads_subnormal(case: &Case, func: &Func, place: usize) -> bool {
    func.input_types()
        .iter()
        .zip(&case.inputs)
        .any(|(ty, text)| {
            let bits = words(text).get(place).copied().unwrap_or_default();
            ty.elem.is_float() && is_subnormal(ty.elem, decode_f64(ty.elem, bits))
        })
}

/// Half precision is computed in single, where its subnormal numbers are not.
fn is_subnormal(elem: Elem, x: f64) -> bool {
    let smallest = match elem {
        Elem::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    x != 0.0 && x.abs() < smallest
}

/// By how much a float may differ; any one of them suffices.
struct Allowance {
    ulps: u64,
    relative: f64,
    absolute: f64,
}

impl Allowance {
    fn of(case: &Case, elem: Elem, expected: &[u64]) -> Allowance {
        let primitive = case.name.split(' ').next().unwrap_or_default();
        let ulps = match (primitive, elem) {
            // XLA's and our approximations in single precision, against f64 rounded once.
            ("tanh" | "erf" | "erfc" | "erf_inv" | "lgamma", Elem::F32) => 8,
            // By way of f32, so rounded twice.
            ("convert", Elem::BF16) if case.name.contains("once rounded") => 1,
            _ => 0,
        };
        let relative = match (primitive, elem) {
            // The reflection cancels near the zeros on the negative axis.
            ("lgamma", Elem::F32) => 1e-5,
            ("lgamma", Elem::F64) => 1e-11,
            // exp(−x²) with x² rounded.
            ("erfc", Elem::F32) => 1e-5,
            _ => 0.0,
        };
        Allowance {
            ulps: ulps.max(case.ulps),
            relative: case.relative.max(relative),
            absolute: match primitive {
                "dot" | "conv" | "cumsum" | "cumprod" | "reduce_sum" | "reduce_prod"
                | "reduce_window_sum" | "reduce_window_prod" | "triangular_solve" | "cholesky" => {
                    rounding_of_sums(elem, expected)
                }
                _ => 0.0,
            },
        }
    }

    fn covers(&self, elem: Elem, found: u64, expected: u64) -> bool {
        if !elem.is_float() {
            return false;
        }
        let (f, e) = (decode_f64(elem, found), decode_f64(elem, expected));
        if f.is_nan() || e.is_nan() {
            return f.is_nan() && e.is_nan();
        }
        if f == 0.0 && is_subnormal(elem, e) {
            return true;
        }
        if f == e {
            // Zeros of different signs.
            return self.ulps > 0 || self.relative > 0.0 || self.absolute > 0.0;
        }
        let error = (f - e).abs();
        error <= self.relative * e.abs()
            || error <= self.absolute
            || ulps_between(elem, f, e) <= self.ulps
    }
}

/// Results of many terms are rounded at each: the error goes with the size of the terms, which the largest of the
/// results stands for.
fn rounding_of_sums(elem: Elem, results: &[u64]) -> f64 {
    let step = match elem {
        Elem::F64 => f64::EPSILON,
        Elem::F32 => f64::from(f32::EPSILON),
        _ => return 0.0,
    };
    let sizes = results.iter().map(|&b| decode_f64(elem, b).abs());
    let largest = sizes.filter(|x| x.is_finite()).fold(0.0, f64::max);
    2.0 * step * largest
}
