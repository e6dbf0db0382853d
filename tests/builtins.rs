//! Every builtin gives what its JAX function gives, on the device and in the reference interpreter.
//!
//! `scripts/reference/builtins.py` wrote `tests/data/builtins`: `.tl` expressions, their inputs, and JAX's results. The
//! cases of a subject become the fields of one record, so that they are compiled together, by the command itself.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use support::values::Tolerance::{self, Mixed, Ulps};
use support::values::{Array, difference, read};
use support::{scratch, tpuc};

const FOLDER: &str = "tests/data/builtins";

/// How many cases are compiled as one program.
const TOGETHER: usize = 30;

/// Where a program runs, and how much is rewritten before.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Backend {
    Device,
    Rewritten,
    Interpreter,
}

impl Backend {
    const ALL: [Backend; 3] = [Backend::Device, Backend::Rewritten, Backend::Interpreter];

    fn options(self) -> &'static [&'static str] {
        match self {
            Backend::Device => &["--opt", "1"],
            Backend::Rewritten => &["--opt", "2"],
            Backend::Interpreter => &["--opt", "0", "--backend", "interp"],
        }
    }

    /// Rewriting has tests of its own: here every seventh case is enough.
    fn step(self) -> usize {
        match self {
            Backend::Rewritten => 7,
            Backend::Device | Backend::Interpreter => 1,
        }
    }
}

/// What a backend is known to do otherwise than the reference, and why: cases by the beginning of their names.
struct Exception {
    backends: &'static [Backend],
    case: &'static str,
    /// None: not compared.
    tolerance: Option<Tolerance>,
    #[allow(dead_code)] // It is for the reader.
    reason: &'static str,
}

const fn on(
    backends: &'static [Backend],
    case: &'static str,
    tolerance: Option<Tolerance>,
    reason: &'static str,
) -> Exception {
    Exception {
        backends,
        case,
        tolerance,
        reason,
    }
}

const DEVICE: &[Backend] = &[Backend::Device, Backend::Rewritten];
const INTERPRETER: &[Backend] = &[Backend::Interpreter];

#[rustfmt::skip]
const EXCEPTIONS: &[Exception] = &[
    on(INTERPRETER, "erfc ", Some(Ulps(200)), "JAX's approximation is that far from the function, which the interpreter computes"),
    on(INTERPRETER, "erf_inv ", Some(Ulps(16)), "the same"),
    on(INTERPRETER, "gelu(x) f32 ", Some(Mixed(1e-6)), "the same, as it is made of erfc"),
    on(INTERPRETER, "gelu(x) f64 ", Some(Mixed(4e-15)), "the same"),
    on(INTERPRETER, "normal f32 of many", None, "a sum of all bits, which differ where erf_inv does"),
    on(INTERPRETER, "normal f64 of many", None, "the same"),
    on(INTERPRETER, "normal bf16 of many", None, "the same"),
    on(INTERPRETER, "normal f16 of many", None, "the same"),
    on(INTERPRETER, "truncated_normal f32 of many", None, "the same"),
    on(INTERPRETER, "truncated_normal f64 of many", None, "the same"),
    on(INTERPRETER, "truncated_normal bf16 of many", None, "the same"),
    on(INTERPRETER, "truncated_normal f16 of many", None, "the same"),
    on(INTERPRETER, "normal ", Some(Ulps(16)), "made of erf_inv"),
    on(INTERPRETER, "truncated_normal ", Some(Mixed(2e-6)), "made of erf and erf_inv"),
    on(INTERPRETER, "uniform of many bounds", Some(Mixed(1e-6)), "the device multiplies and adds with one rounding"),
    on(INTERPRETER, "dropout ", Some(Ulps(1)), "the device divides by a scalar as it multiplies by its reciprocal"),
    on(INTERPRETER, "sigmoid f16 ", Some(Mixed(1e-5)), "exp(11.7) is inf in the f16 of JAX, and the quotient 0"),
    on(INTERPRETER, "silu(x) f32 ", Some(Mixed(1e-6)), "sigmoid(-87.5) is subnormal, so 0 on the device"),
    on(DEVICE, "lgamma f32 subnormal", None, "the device takes the argument for 0"),
];

fn main() {
    let args = Arguments::from_args();
    let mut trials = vec![
        Trial::test("every builtin has a case", every_builtin_has_a_case),
        Trial::test("every builtin is documented", every_builtin_is_documented),
    ];
    for subject in subjects() {
        for backend in Backend::ALL {
            let subject = subject.clone();
            let name = format!("{subject} {backend:?}").to_lowercase();
            trials.push(Trial::test(name, move || run(&subject, backend)));
        }
    }
    libtest_mimic::run(&args, trials).exit();
}

fn subjects() -> Vec<String> {
    let files = std::fs::read_dir(FOLDER).expect("the folder of tables");
    let names = files.filter_map(|file| {
        let name = file.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(".cases").map(String::from)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

struct Case {
    name: String,
    tolerance: Tolerance,
    expression: String,
}

fn cases(subject: &str) -> Vec<Case> {
    let path = format!("{FOLDER}/{subject}.cases");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines()
        .map(|line| {
            let mut fields = line.split('\t').map(String::from);
            let mut next = || fields.next().unwrap_or_else(|| panic!("{path}: {line}"));
            let (name, tolerance, expression) = (next(), next(), next());
            let tolerance = Tolerance::parse(&tolerance).unwrap_or_else(|| panic!("{line}"));
            Case {
                name,
                tolerance,
                expression,
            }
        })
        .collect()
}

fn run(subject: &str, backend: Backend) -> Result<(), Failed> {
    let cases = cases(subject);
    let step = backend.step();
    let expected = read(Path::new(&format!("{FOLDER}/{subject}.out.safetensors")));
    let mut wrong = Vec::new();
    let numbers: Vec<usize> = (0..cases.len()).step_by(step).collect();
    for chunk in numbers.chunks(TOGETHER) {
        let found = results(subject, backend, &cases, chunk)?;
        for &number in chunk {
            judge(
                &cases[number],
                number,
                backend,
                [&found, &expected],
                &mut wrong,
            );
        }
    }
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{n} of {} cases:\n{}", cases.len(), wrong.join("\n")).into()),
    }
}

/// The results of some cases, by name.
fn results(
    subject: &str,
    backend: Backend,
    cases: &[Case],
    chunk: &[usize],
) -> Result<BTreeMap<String, Array>, Failed> {
    let first = chunk.first().map_or(0, |&number| number);
    let folder = scratch(&format!("builtins/{subject}-{backend:?}-{first}"));
    let (program, out) = (folder.join("cases.tl"), folder.join("out.safetensors"));
    let mut text =
        format!("main {{\n    let d = load(\"{FOLDER}/{subject}.in.safetensors\");\n    save({{\n");
    for &number in chunk {
        writeln!(text, "        c{number}: {},", cases[number].expression)?;
    }
    writeln!(text, "    }}, \"{}\");\n}}", out.display())?;
    std::fs::write(&program, text)?;
    let mut command = vec!["run"];
    command.extend(backend.options());
    let program = program.display().to_string();
    command.push(&program);
    let run = tpuc(&command);
    if run.code != 0 {
        return Err(format!("exit code {}\n{}", run.code, run.stderr).into());
    }
    Ok(read(&out))
}

/// A case may have several results, `cN.0`, `cN.1`, ….
fn judge(
    case: &Case,
    number: usize,
    backend: Backend,
    [found, expected]: [&BTreeMap<String, Array>; 2],
    wrong: &mut Vec<String>,
) {
    let tolerance = EXCEPTIONS
        .iter()
        .find(|e| e.backends.contains(&backend) && case.name.starts_with(e.case))
        .map_or(Some(case.tolerance), |e| e.tolerance);
    let Some(tolerance) = tolerance else {
        return;
    };
    let first = format!("c{number}");
    let several = format!("c{number}.");
    for (name, e) in expected.range(first.clone()..) {
        if *name != first && !name.starts_with(&several) {
            break;
        }
        if name.ends_with(".exact") {
            continue;
        }
        let exact = expected.get(&format!("{name}.exact"));
        let e = match (backend, exact) {
            (Backend::Interpreter, Some(exact)) => exact,
            _ => e,
        };
        let problem = match found.get(name) {
            Some(f) => difference(f, e, tolerance),
            None => Some("is missing".to_string()),
        };
        if let Some(problem) = problem {
            wrong.push(format!(
                "  {}: {} = {name} {problem}",
                case.name, case.expression
            ));
        }
    }
}

/// The names in the language: what the compiler knows, and the functions of the prelude.
fn builtins() -> Vec<String> {
    let known = tpuc_lang::typed::Builtin::ALL
        .iter()
        .map(|b| b.name().to_string());
    let prelude = std::fs::read_to_string("std/prelude.tl").expect("the prelude");
    let written = prelude.lines().filter_map(|line| {
        let name = line.strip_prefix("fn ")?.split('[').next()?;
        Some(name.to_string())
    });
    // An operator, and what has no value of its own to compare.
    let others = ["neg", "stop_gradient", "shard"];
    known
        .chain(written)
        .filter(|name| name.starts_with(char::is_alphabetic) && !others.contains(&name.as_str()))
        .collect()
}

fn every_builtin_has_a_case() -> Result<(), Failed> {
    let expressions: String = subjects()
        .iter()
        .flat_map(|subject| cases(subject))
        .map(|case| case.expression + "\n")
        .collect();
    let missing: Vec<String> = builtins()
        .into_iter()
        .filter(|name| !expressions.contains(&format!("{name}(")))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("no case for {missing:?}").into()),
    }
}

fn every_builtin_is_documented() -> Result<(), Failed> {
    let page = std::fs::read_to_string("docs/builtins.md")?;
    let words: Vec<&str> = page
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let missing: Vec<String> = builtins()
        .into_iter()
        .filter(|name| !words.contains(&name.as_str()))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("docs/builtins.md does not have {missing:?}").into()),
    }
}
