//! `tpuc grad-check`: a function's derivative against finite differences, in f64 in the reference interpreter.

use crate::cli::GradCheckArgs;
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file;
use tpuc_compiler::interp::{self, Array, Precision};
use tpuc_compiler::ir::{Func, Type};
use tpuc_compiler::passes::{self, Stage};
use tpuc_compiler::transform;
use tpuc_lang::source::Sources;
use tpuc_runtime::Surroundings;

/// More elements of an input than this are checked by every n-th of them.
const ELEMENTS: usize = 512;

/// Differences below this, relative to the size of the derivative and absolute near 0, are agreement.
const TOLERANCE: f64 = 1e-5;

pub fn grad_check(args: &GradCheckArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let (program, sources) = program_file::load(&args.file, &args.program, &around)?;
    let func = pipeline::bare_function(&program, &args.function, &sources)?;
    let func = passes::run(Stage::BeforeDerivatives, &func);
    let names = pipeline::input_names(&program, &args.function, &sources)?;
    if names.is_empty() {
        return Err(Failure::Usage(format!(
            "`{}` takes nothing, so there is no derivative to check",
            args.function
        )));
    }
    let check = Check::new(&func, args.seed).map_err(|e| e.failure(&sources))?;
    let mut worst_fails = false;
    for (i, ty) in func.input_types().iter().enumerate() {
        if !ty.elem.is_float() {
            println!("{}: {ty} has no derivative", names[i]);
            continue;
        }
        let worst = check.input(i).map_err(|e| e.failure(&sources))?;
        let fails = worst.error > TOLERANCE;
        worst_fails |= fails;
        let span = func.span(func.body.params[i]);
        let (line, _) = sources.line_col(span);
        println!(
            "{}: {ty}  {}  worst at {:?}: derivative {:e}, differences {:e} ({}:{line})",
            names[i],
            if fails { "WRONG" } else { "ok" },
            position(worst.element, &ty.shape),
            worst.derivative,
            worst.difference,
            sources.get(span.file).name,
        );
    }
    if worst_fails {
        Err(Failure::Program)
    } else {
        Ok(())
    }
}

/// What can go wrong: the derivative is refused, or the interpreter fails.
enum Trouble {
    Refused(Box<tpuc_lang::diag::Diagnostic>),
    Interpreter(String),
}

impl Trouble {
    fn failure(self, sources: &Sources) -> Failure {
        match self {
            Trouble::Refused(d) => program_file::report(*d, sources),
            Trouble::Interpreter(message) => Failure::runtime("E0793", message, None),
        }
    }
}

/// The element of an input where derivative and differences lie furthest apart.
struct Worst {
    element: usize,
    derivative: f64,
    difference: f64,
    error: f64,
}

struct Check<'f> {
    func: &'f Func,
    inputs: Vec<Array>,
    /// A weight for each element of each float output.
    cotangents: Vec<Vec<f64>>,
    /// Cotangents of the float inputs, in order.
    derivatives: Vec<Vec<f64>>,
}

impl<'f> Check<'f> {
    fn new(func: &'f Func, seed: u64) -> Result<Self, Trouble> {
        let mut numbers = Numbers(seed);
        let inputs: Vec<Array> = func
            .input_types()
            .iter()
            .map(|ty| numbers.array(ty))
            .collect();
        let active: Vec<bool> = func
            .input_types()
            .iter()
            .map(|ty| ty.elem.is_float())
            .collect();
        let float_outputs: Vec<Type> = func
            .output_types()
            .into_iter()
            .filter(|t| t.elem.is_float())
            .collect();
        let weights: Vec<Array> = float_outputs.iter().map(|ty| numbers.array(ty)).collect();
        let span = tpuc_lang::span::Span::default();
        let vjp = transform::vjp(func, &active).map_err(|e| Trouble::Refused(e.at(span)))?;
        let all: Vec<Array> = inputs.iter().chain(&weights).cloned().collect();
        let outputs = eval(&vjp, &all)?;
        let derivatives = outputs[func.body.results.len()..]
            .iter()
            .map(Array::to_f64)
            .collect();
        let cotangents = weights.iter().map(Array::to_f64).collect();
        Ok(Check {
            func,
            inputs,
            cotangents,
            derivatives,
        })
    }

    fn input(&self, i: usize) -> Result<Worst, Trouble> {
        let ty = &self.func.input_types()[i];
        let float_index = self.func.input_types()[..i]
            .iter()
            .filter(|t| t.elem.is_float())
            .count();
        let derivative = &self.derivatives[float_index];
        let step = (ty.numel() / ELEMENTS).max(1);
        let mut worst = Worst {
            element: 0,
            derivative: 0.0,
            difference: 0.0,
            error: 0.0,
        };
        for element in (0..ty.numel()).step_by(step) {
            let difference = self.difference(i, element)?;
            let d = derivative[element];
            let error = (d - difference).abs() / d.abs().max(1.0);
            if error >= worst.error || error.is_nan() {
                worst = Worst {
                    element,
                    derivative: d,
                    difference,
                    error: if error.is_nan() { f64::INFINITY } else { error },
                };
            }
        }
        Ok(worst)
    }

    /// Central difference of the weighted sum of the outputs.
    fn difference(&self, i: usize, element: usize) -> Result<f64, Trouble> {
        let values = self.inputs[i].to_f64();
        let h = 1e-5 * values[element].abs().max(1.0);
        let mut ends = [0.0; 2];
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            let mut moved = values.clone();
            moved[element] += sign * h;
            let mut inputs = self.inputs.clone();
            inputs[i] = Array::floats(self.func.input_types()[i].clone(), moved);
            let outputs = eval(self.func, &inputs)?;
            let floats = outputs
                .iter()
                .zip(self.func.output_types())
                .filter(|(_, t)| t.elem.is_float());
            *end = floats
                .zip(&self.cotangents)
                .map(|((out, _), w)| out.to_f64().iter().zip(w).map(|(a, b)| a * b).sum::<f64>())
                .sum();
        }
        Ok((ends[0] - ends[1]) / (2.0 * h))
    }
}

fn eval(func: &Func, inputs: &[Array]) -> Result<Vec<Array>, Trouble> {
    interp::eval(func, inputs, Precision::F64).map_err(|e| Trouble::Interpreter(e.to_string()))
}

/// A small generator of its own, so that a seed gives the same check everywhere: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Floats between −1.5 and 1.5; other elements are 0 or 1.
    fn array(&mut self, ty: &Type) -> Array {
        let values: Vec<f64> = (0..ty.numel())
            .map(|_| {
                let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
                if ty.elem.is_float() {
                    3.0 * unit - 1.5
                } else {
                    (unit * 2.0).floor()
                }
            })
            .collect();
        if ty.elem.is_float() {
            Array::floats(ty.clone(), values)
        } else {
            Array::of(ty.clone(), &values)
        }
    }
}

/// Row-major position as one index a dimension.
fn position(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut out: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let at = element % n;
            element /= n;
            at
        })
        .collect();
    out.reverse();
    out
}
