//! Generated programs: the interpreter, the device without the optimiser, and the device with all of it give the same
//! values, within the rounding of the element type.
//!
//! `TPUC_GENERATED` is how many programs are tried, `TPUC_GENERATED_FROM` the first seed. How far rounding may carry a result is
//! measured: the interpreter computes each program in its element types and in f64. Where the two are far apart the program
//! says nothing, and where it gives a NaN or an infinity neither; both are counted.

mod support;

use std::fmt::{Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use support::generate::{Rng, Ty, function};
use support::pjrt::{cpu, run, together};
use support::program;
use tpuc_compiler::interp::{Array, Precision, eval};
use tpuc_compiler::ir::literal::decode_f64;
use tpuc_compiler::ir::{Elem, Func};
use tpuc_compiler::opt::cost::device::CPU;
use tpuc_compiler::opt::{Level, optimise};
use tpuc_compiler::passes::row_blocks::{self, Terms};
use tpuc_compiler::passes::{self, Stage};
use tpuc_runtime::client::Client;

const PROGRAMS: u64 = 300;
/// Seeds of programs that have been computed wrongly, or not at all: they are always tried.
const FOUND: [u64; 5] = [82, 643, 1808, 4394, 5070];
/// How many are compiled as one module.
const TOGETHER: usize = 30;
const WORKERS: usize = 2;
/// How many results each function has.
const RESULTS: usize = 2;

/// A generated function with its inputs and what it should give.
struct Trial {
    seed: u64,
    text: String,
    func: Func,
    inputs: Vec<Array>,
    /// In the element types, and in f64.
    expected: [Vec<Array>; 2],
}

#[derive(Default)]
struct Count {
    tried: usize,
    not_finite: usize,
    unstable: usize,
    /// Those of which a part goes row by row.
    by_row: usize,
    compared: usize,
    wrong: Vec<String>,
}

#[test]
fn interpreter_and_device_agree_on_generated_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let from = number("TPUC_GENERATED_FROM").unwrap_or(0);
    let programs = number("TPUC_GENERATED").unwrap_or(PROGRAMS);
    let seeds: Vec<u64> = FOUND.into_iter().chain(from..from + programs).collect();
    let chunks: Vec<&[u64]> = seeds.chunks(TOGETHER).collect();
    let count = Mutex::new(Count::default());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (chunks, count) = (&chunks, &count);
            scope.spawn(move || {
                let device = cpu();
                for seeds in chunks.iter().skip(worker).step_by(WORKERS) {
                    let found = compare_all(seeds, &device);
                    let mut count = count.lock().expect("no worker panics with it");
                    count.add(found);
                    println!("{count}");
                }
            });
        }
    });
    let count = count.into_inner().expect("no worker panics with it");
    assert_eq!(count.tried, seeds.len(), "a worker ended early");
    assert!(count.wrong.is_empty(), "{}", count.wrong.join("\n"));
    assert!(count.compared > count.tried, "{count}");
    assert!(count.by_row > 0, "{count}");
}

impl Count {
    fn add(&mut self, other: Count) {
        self.tried += other.tried;
        self.not_finite += other.not_finite;
        self.unstable += other.unstable;
        self.by_row += other.by_row;
        self.compared += other.compared;
        self.wrong.extend(other.wrong);
    }
}

impl Display for Count {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        write!(
            f,
            "{} programs: {} not finite, {} in part row by row, {} results compared, {} unstable, {} wrong",
            self.tried,
            self.not_finite,
            self.by_row,
            self.compared,
            self.unstable,
            self.wrong.len()
        )
    }
}

fn compare_all(seeds: &[u64], device: &(Client, String)) -> Count {
    let mut count = Count::default();
    let mut trials = Vec::new();
    for &seed in seeds {
        count.tried += 1;
        let made = catch_unwind(AssertUnwindSafe(|| trial(seed)));
        match made.unwrap_or_else(|_| Err("panicked".into())) {
            Ok(trial) if trial.is_finite() => trials.push(trial),
            Ok(_) => count.not_finite += 1,
            Err(e) => {
                let text = function("f", seed).text();
                count.wrong.push(format!("seed {seed}: {e}\n{text}"));
            }
        }
    }
    count.by_row = trials.iter().filter(|t| by_row(t).is_some()).count();
    for level in [Level::None, Level::Aggressive] {
        match on_device(&trials, level, device) {
            Ok(found) => {
                let mut found = found.into_iter();
                for trial in &trials {
                    let results: Vec<_> = found.by_ref().take(RESULTS).collect();
                    compare(trial, level, &results, &mut count);
                }
            }
            // One at a time, to name those that do not run.
            Err(()) => {
                for trial in &trials {
                    match on_device(std::slice::from_ref(trial), level, device) {
                        Ok(found) => compare(trial, level, &found, &mut count),
                        Err(()) => count.wrong.push(format!(
                            "seed {}: does not run at {level:?}\n{}",
                            trial.seed, trial.text
                        )),
                    }
                }
            }
        }
    }
    count
}

/// The results of all trials, one after the other; the panic of one that does not compile or run has been printed.
fn on_device(
    trials: &[Trial],
    level: Level,
    (client, version): &(Client, String),
) -> Result<Vec<Vec<u64>>, ()> {
    let inputs = trials.iter().flat_map(|t| &t.inputs);
    let inputs: Vec<Vec<u64>> = inputs.map(Array::to_bits).collect();
    let compiled = || {
        let funcs: Vec<Func> = trials.iter().map(|t| optimised(t, level)).collect();
        run(client, version, &together(&funcs), &inputs)
    };
    catch_unwind(AssertUnwindSafe(compiled)).map_err(|_| ())
}

fn trial(seed: u64) -> Result<Trial, String> {
    let given = function("f", seed);
    let text = given.text();
    let func = program::function(&text, "f")?;
    let mut rng = Rng::new(!seed);
    let inputs: Vec<Array> = func
        .input_types()
        .into_iter()
        .zip(&given.inputs)
        .map(|(ty, given)| {
            let values: Vec<f64> = (0..ty.numel()).map(|_| number(&mut rng, given)).collect();
            Array::of(ty, &values)
        })
        .collect();
    let eval = |precision| eval(&func, &inputs, precision).map_err(|e| format!("interpreter: {e}"));
    let expected = [eval(Precision::Element)?, eval(Precision::F64)?];
    Ok(Trial {
        seed,
        text,
        func,
        inputs,
        expected,
    })
}

/// Floats are short in every element type, so that all of them hold the same.
fn number(rng: &mut Rng, ty: &Ty) -> f64 {
    match ty.elem {
        "bool" => (rng.unit() < 0.5).into(),
        _ if ty.is_float() => (rng.unit() * 256.0).floor() / 64.0 - 2.0,
        elem if elem.starts_with('u') => (rng.unit() * 5.0).floor(),
        _ => (rng.unit() * 7.0).floor() - 2.0,
    }
}

/// Every other one row by row, where it can go so: the arrays are too small for blocks that pay.
fn by_row(trial: &Trial) -> Option<Func> {
    let plain = passes::run(Stage::AfterDerivatives, &trial.func);
    let cut = row_blocks::blocked(&plain, Terms::ROW_BY_ROW);
    (trial.seed.is_multiple_of(2) && cut.to_string() != plain.to_string()).then_some(cut)
}

/// Without the optimiser, some go row by row.
fn optimised(trial: &Trial, level: Level) -> Func {
    let plain = passes::run(Stage::AfterDerivatives, &trial.func);
    match level {
        Level::None => by_row(trial).unwrap_or(plain),
        _ => {
            let whole = passes::run(Stage::BeforeOptimiser, &plain);
            passes::run(Stage::ForCpu, &optimise(&whole, level, &CPU).0)
        }
    }
}

impl Trial {
    fn is_finite(&self) -> bool {
        let arrays = self.expected.iter().flatten();
        arrays
            .filter(|a| a.ty.elem.is_float())
            .all(|a| a.to_f64().iter().all(|x| x.is_finite()))
    }
}

fn epsilon(elem: Elem) -> f64 {
    match elem {
        Elem::F64 => f64::EPSILON,
        Elem::F16 => f64::from(f32::EPSILON) * 8192.0,
        Elem::BF16 => f64::from(f32::EPSILON) * 65536.0,
        _ => f64::from(f32::EPSILON),
    }
}

fn compare(trial: &Trial, level: Level, found: &[Vec<u64>], count: &mut Count) {
    let [expected, wide] = &trial.expected;
    for (i, (found, (expected, wide))) in found.iter().zip(expected.iter().zip(wide)).enumerate() {
        let elem = expected.ty.elem;
        let e = expected.to_f64();
        let f: Vec<f64> = match elem.is_float() {
            true => found.iter().map(|&b| decode_f64(elem, b)).collect(),
            false => Array::from_bits(expected.ty.clone(), found.clone()).to_f64(),
        };
        let mut allowed = 0.0;
        if elem.is_float() {
            let scale = e.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            let pairs = e.iter().zip(wide.to_f64());
            let rounding = pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            // Numbers of the size of 1 were rounded on the way, by the device's own functions too: its digamma cancels near
            // the zero. An f64 has nothing wider to be compared with.
            let least = 8.0 * epsilon(elem).min(f64::from(f32::EPSILON));
            allowed = 20.0 * rounding + 100.0 * epsilon(elem) * scale + least;
            if rounding > 0.02 * scale {
                count.unstable += 1;
                continue;
            }
        }
        count.compared += 1;
        let close = |(f, e): (&f64, &f64)| (f - e).abs() <= allowed;
        if f.len() != e.len() || !f.iter().zip(&e).all(close) {
            let (seed, text) = (trial.seed, &trial.text);
            count.wrong.push(format!(
                "seed {seed}: result {i} at {level:?}: {f:?}\nnot {e:?}\n{text}"
            ));
        }
    }
}
