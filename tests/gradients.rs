//! Derivatives of composite functions against JAX, through the whole command: `scripts/reference/gradients_tl.py` made the
//! data. Each function's value, tangent, gradient and second derivative are computed by one program for many functions,
//! on the CPU plugin and by the interpreter.

mod support;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use support::composite::{Case, Number, cases, inputs};
use support::program::function;
use support::{safetensors, scratch, tpuc};
use tpuc_compiler::ir::flops::func_work;
use tpuc_compiler::ir::{Func, Inst, Op, Region, Value};
use tpuc_compiler::passes::{self, Stage};
use tpuc_compiler::transform;

/// How many functions are compiled together.
const TOGETHER: usize = 24;

/// The device, which takes its time to compile, gets one function in so many: what it makes of each primitive is tested elsewhere.
const DEVICE_EVERY: usize = 3;

/// Relative to the largest element of the result: the tests compare f32 with JAX's f64.
const TOLERANCE: f64 = 5e-5;
const SECOND_TOLERANCE: f64 = 2e-4;

/// Flops of value and gradient together, as a multiple of those of the value.
const MOST: u64 = 4;

/// Those that cost up to five times the value: a loop over scalars, each of which is read from an array and written to it, which is no
/// work, and whose cotangent is added up; and a Cholesky factor of so many rows that nothing else counts (`docs/ad.md`).
const DEARER: (u64, [&str; 2]) = (5, ["loop_bubbles", "mixed_factor_sum"]);

#[test]
fn derivatives_agree_with_jax() {
    let cases = cases();
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    let on_device: Vec<Case> = cases.iter().step_by(DEVICE_EVERY).cloned().collect();
    for (cases, backend) in [(&on_device, "cpu"), (&cases, "interp")] {
        for chunk in cases.chunks(TOGETHER) {
            match run(chunk, backend) {
                Ok(found) => chunk
                    .iter()
                    .for_each(|case| compare(case, backend, &found, &mut wrong)),
                // One at a time, to name those that do not run.
                Err(_) => {
                    for case in chunk {
                        match run(std::slice::from_ref(case), backend) {
                            Ok(found) => compare(case, backend, &found, &mut wrong),
                            Err(e) => wrong.push(format!("{} on {backend}: {e}", case.name)),
                        }
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

type Arrays = BTreeMap<String, Vec<f64>>;

fn run(cases: &[Case], backend: &str) -> Result<Arrays, String> {
    let first = cases.first().map_or("none", |case| &case.name);
    let folder = scratch(&format!("gradients/{first}-{backend}"));
    let path = |name: &str| folder.join(name);
    std::fs::write(path("program.tl"), program(cases, backend, &folder)).expect("written");
    safetensors::write(&path("in.safetensors"), &inputs(cases));
    let file = path("program.tl").display().to_string();
    let run = match backend {
        "cpu" => tpuc(&["run", &file, "--opt", "0"]),
        _ => tpuc(&["run", &file, "--opt", "0", "--backend", backend]),
    };
    if run.code != 0 {
        return Err(format!("exit {}\n{}", run.code, run.stderr));
    }
    Ok(safetensors::read(&path("out.safetensors")))
}

/// All functions, and a `main` that saves what is asked of them.
fn program(cases: &[Case], backend: &str, folder: &Path) -> String {
    let mut text = String::new();
    let mut lets = String::new();
    let mut saved = Vec::new();
    for case in cases {
        let name = &case.name;
        let floats = case.float_names("");
        let params = floats.join(", ");
        let at = case.float_names(&format!("data.{name}_"));
        let along = Case::group(&case.float_names(&format!("data.{name}_d_")));
        let (point, at) = (Case::group(&at), at.join(", "));
        let wrt = case.wrt();
        let call = case.call();
        let loss = format!("|{params}| sum({call} * data.{name}_ct)");
        let grad = format!("grad({loss}, wrt={wrt})");
        let parts = |result: &str, key: &str| {
            let leaf = |i: usize| match floats.len() {
                1 => format!("{name}_{key}_0: {result}"),
                _ => format!("{name}_{key}_{i}: {result}.{i}"),
            };
            (0..floats.len()).map(leaf).collect::<Vec<_>>()
        };
        let _ = writeln!(text, "{}\n", case.text);
        // Compiling takes most of the time: the device is asked for gradients, where there are any.
        let all = backend == "interp" || case.gradient.is_none();
        if case.tangent.is_some() && all {
            let _ = writeln!(
                lets,
                "    let {name}_j = jvp(|{params}| {call})({point}, {along});"
            );
            saved.push(format!(
                "{name}_value: {name}_j.0, {name}_tangent: {name}_j.1"
            ));
        }
        if case.gradient.is_some() {
            let _ = writeln!(
                lets,
                "    let {name}_v = value_and_grad({loss}, wrt={wrt})({at});"
            );
            saved.push(format!("{name}_loss: {name}_v.0"));
            saved.extend(parts(&format!("{name}_v.1"), "gradient"));
        }
        if case.second.is_some() && all {
            let _ = writeln!(
                lets,
                "    let {name}_s = jvp(|{params}| {grad}({params}))({point}, {along});"
            );
            saved.extend(parts(&format!("{name}_s.1"), "second"));
            // The same by reverse mode twice: the second derivative is symmetric.
            let product = |(i, p): (usize, &String)| match floats.len() {
                1 => format!("sum(g * data.{name}_d_{p})"),
                _ => format!("sum(g.{i} * data.{name}_d_{p})"),
            };
            let products: Vec<String> = floats.iter().enumerate().map(product).collect();
            let products = products.join(" + ");
            let _ = writeln!(
                lets,
                "    let {name}_r = grad(|{params}| {{ let g = {grad}({params}); {products} }}, wrt={wrt})({at});"
            );
            saved.extend(parts(&format!("{name}_r"), "reverse"));
        }
    }
    let at = |name: &str| folder.join(name).display().to_string();
    format!(
        "{text}main {{\n    let data = load(\"{}\");\n{lets}    save({{ {} }}, \"{}\");\n}}\n",
        at("in.safetensors"),
        saved.join(", "),
        at("out.safetensors")
    )
}

/// Names of results, what they should be, and how near.
fn expected(case: &Case, backend: &str) -> Vec<(String, Vec<f64>, f64)> {
    let name = &case.name;
    let numbers = |v: &[Number]| v.iter().map(Number::value).collect::<Vec<f64>>();
    let mut out = Vec::new();
    let all = backend == "interp" || case.gradient.is_none();
    if let Some(tangent) = case.tangent.as_ref().filter(|_| all) {
        out.push((format!("{name}_value"), numbers(&case.value), TOLERANCE));
        out.push((format!("{name}_tangent"), numbers(tangent), TOLERANCE));
    }
    if let Some(gradient) = &case.gradient {
        let products = case.value.iter().zip(&case.cotangent);
        let loss = products.map(|(v, c)| v.value() * c.value()).sum::<f64>();
        out.push((format!("{name}_loss"), vec![loss], 1e-4));
        for (i, g) in gradient.iter().enumerate() {
            out.push((format!("{name}_gradient_{i}"), numbers(g), TOLERANCE));
        }
    }
    let second = case.second.iter().filter(|_| all).flatten();
    for (i, g) in second.enumerate() {
        for mode in ["second", "reverse"] {
            out.push((format!("{name}_{mode}_{i}"), numbers(g), SECOND_TOLERANCE));
        }
    }
    out
}

fn compare(case: &Case, backend: &str, found: &Arrays, wrong: &mut Vec<String>) {
    for (key, expected, tolerance) in expected(case, backend) {
        let found = &found[&key];
        let scale = expected
            .iter()
            .filter(|x| x.is_finite())
            .fold(1e-2_f64, |m, x| m.max(x.abs()));
        let error = |(f, e): (&f64, &f64)| {
            if f == e || (f.is_nan() && e.is_nan()) {
                0.0
            } else {
                (f - e).abs() / scale
            }
        };
        let worst = found.iter().zip(&expected).map(error).fold(0.0, f64::max);
        let has_nan = found.iter().zip(&expected).any(|p| error(p).is_nan());
        if found.len() != expected.len() || has_nan || worst > tolerance {
            wrong.push(format!(
                "{key} on {backend} differs by {worst:.1e}:\n  {found:?}\n  {expected:?}"
            ));
        }
    }
}

/// Value and gradient together cost at most four times what the value costs, and nothing of it is computed in vain.
#[test]
fn gradients_cost_at_most_four_times_the_value() {
    let mut wrong = Vec::new();
    let mut counted = 0;
    for case in cases() {
        // Forward mode only.
        if case.gradient.is_none() {
            continue;
        }
        let (loss, floats) = case.loss();
        let gradient = reverse(&loss, &floats);
        if let Some(inst) = dead(&gradient.body) {
            wrong.push(format!("{}: dead code {inst:?}", case.name));
        }
        let clean = |f: &Func| passes::run(Stage::AfterDerivatives, f);
        let cost = |f: &Func| func_work(&clean(f)).flops;
        let (value, both) = (cost(&loss), cost(&gradient));
        counted += 1;
        let most = match DEARER.1.contains(&case.name.as_str()) {
            true => DEARER.0,
            false => MOST,
        };
        if both > most * value {
            wrong.push(format!("{}: {both} flops, the value {value}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counted >= 150, "only {counted} gradients");
}

/// Value and gradient of a function, as a program that asks for them has them.
fn reverse(func: &Func, active: &[bool]) -> Func {
    let ready = passes::run(Stage::BeforeDerivatives, func);
    transform::value_and_grad(&ready, active).unwrap_or_else(|e| panic!("{e:?}\n{func}"))
}

/// An instruction none of whose results is used.
fn dead(region: &Region) -> Option<&Inst> {
    let mut used = HashSet::new();
    uses(region, &mut used);
    unused(region, &used)
}

fn uses(region: &Region, used: &mut HashSet<Value>) {
    used.extend(&region.results);
    for inst in &region.insts {
        used.extend(&inst.args);
        inst.regions.iter().for_each(|r| uses(r, used));
    }
}

fn unused<'r>(region: &'r Region, used: &HashSet<Value>) -> Option<&'r Inst> {
    region.insts.iter().find_map(|inst| {
        let is_used = inst.results.iter().any(|v| used.contains(v));
        match is_used {
            true => inst.regions.iter().find_map(|r| unused(r, used)),
            false => Some(inst),
        }
    })
}

/// A loop of n steps keeps for its backward pass what that needs of each step, and with `checkpoint` only its carry.
#[test]
fn loops_keep_only_what_their_backward_pass_needs() {
    const STEPS: usize = 100;
    // One step's value is 4 x 8 floats.
    const STEP: usize = 4 * 8 * 4;
    let kept = |body: &str| {
        let text = format!(
            "fn f(x: f32[4, 8], w: f32[8, 8]) -> f32 {{ let mut h = x; for i in 0..{STEPS} {{ {body} }} sum(h) }}"
        );
        let func = function(&text, "f").unwrap_or_else(|e| panic!("{e}"));
        let gradient = reverse(&func, &[true, true]);
        stacked(&gradient) / STEPS
    };
    // Nothing but the carry is needed by a product; tanh needs its result, which is the next step's carry.
    assert_eq!(kept("h = h @ w;"), STEP);
    assert_eq!(kept("h = h + 0.5;"), 0);
    assert!(kept("h = tanh(h @ w);") <= 2 * STEP);
    let deep = "let a = sin(h @ w); let b = exp(-a * a) @ w; let c = tanh(b + a); h = c * a + sigmoid(c @ w);";
    let without = kept(deep);
    let with = kept(&format!(
        "h = checkpoint(|h| {{ {} }})(h);",
        deep.replace("h = c * a", "c * a").trim_end_matches(';')
    ));
    assert_eq!(with, STEP);
    assert!(without > 3 * STEP, "{without}");
}

/// Bytes that the loops of a function give out slice by slice.
fn stacked(func: &Func) -> usize {
    let scans = func.body.insts.iter().filter_map(|inst| match inst.op {
        Op::Scan { carry, .. } => Some(&inst.results[carry..]),
        _ => None,
    });
    scans.flatten().map(|&v| func.ty(v).bytes()).sum()
}

/// Slices that do not overlap are joined; one that stands alone is padded; what overlaps is added.
#[test]
fn cotangents_of_slices_are_joined() {
    let count = |body: &str, name: &str| {
        let text = format!("fn f(x: f32[6, 2]) -> f32 {{ {body} }}");
        let func = function(&text, "f").unwrap_or_else(|e| panic!("{e}"));
        let gradient = reverse(&func, &[true]).to_string();
        gradient
            .lines()
            .filter(|line| line.contains(&format!(" = {name}")))
            .count()
    };
    let apart = "sum(sin(x[0:2])) + sum(exp(x[2:5])) + sum(tanh(x[5:6]))";
    assert_eq!((count(apart, "concat"), count(apart, "pad")), (1, 0));
    let gap = "sum(sin(x[0:2])) * sum(exp(x[4:6]))";
    assert_eq!((count(gap, "concat"), count(gap, "pad")), (1, 0));
    let alone = "sum(sin(x[1:3]))";
    assert_eq!((count(alone, "concat"), count(alone, "pad")), (0, 1));
    let columns = "sum(sin(x[:, 0:1]) * exp(x[:, 1:2]))";
    assert_eq!((count(columns, "concat"), count(columns, "pad")), (1, 0));
    let rows = "sum(x[0] * x[1] * x[2] * x[3] * x[4] * x[5])";
    assert_eq!((count(rows, "concat"), count(rows, "pad")), (1, 0));
}
