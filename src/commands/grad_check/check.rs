//! One derivative, and central differences beside each of its elements.

use super::numbers::Numbers;
use tpuc_compiler::interp::{self, Array, Precision};
use tpuc_compiler::ir::flops::func_work;
use tpuc_compiler::ir::{Func, Type};
use tpuc_compiler::transform;

/// More elements of an input than this are checked by every n-th of them.
const MOST: usize = 512;

/// So many are checked however dear the function is.
const FEWEST: usize = 8;

/// Flops for all differences of a check, some ten seconds of the interpreter's.
const BUDGET: u64 = 4_000_000_000;

/// Differences below this, relative to the size of the derivative and absolute near 0, are agreement.
const TOLERANCE: f64 = 1e-5;

/// Steps of the differences, for elements up to 1. A smaller one is tried where the one before disagrees: it may have
/// crossed a kink.
const STEPS: [f64; 3] = [1e-5, 1e-6, 1e-7];

/// Differences of two steps that lie further apart than this are those of no smooth function.
const SETTLED: f64 = 1e-2;

/// What can go wrong: the derivative is refused, the interpreter fails, or the inputs lie where the function has no value.
pub enum Trouble {
    Refused(Box<tpuc_lang::diag::Diagnostic>),
    Interpreter(String),
    NotFinite,
}

/// What became of the elements of one input.
pub struct Checked {
    /// Where derivative and differences lie furthest apart, of the elements that are not rough.
    pub worst: Option<Worst>,
    pub elements: usize,
    /// Those around which the function has no derivative: smaller steps give other differences.
    pub rough: usize,
}

impl Checked {
    pub fn holds(&self) -> bool {
        match &self.worst {
            Some(worst) => worst.error <= TOLERANCE,
            None => self.elements == 0,
        }
    }
}

pub struct Worst {
    pub element: usize,
    pub derivative: f64,
    pub difference: f64,
    error: f64,
}

pub struct Check<'f> {
    func: &'f Func,
    inputs: Vec<Array>,
    /// A weight for each element of each float output.
    cotangents: Vec<Vec<f64>>,
    /// Cotangents of the float inputs, in order.
    derivatives: Vec<Vec<f64>>,
    /// How many elements of each input are checked, at most.
    most: usize,
}

impl<'f> Check<'f> {
    pub fn new(func: &'f Func, seed: u64) -> Result<Self, Trouble> {
        let mut numbers = Numbers(seed);
        let types = func.input_types();
        let inputs: Vec<Array> = types.iter().map(|ty| numbers.array(ty)).collect();
        let active: Vec<bool> = types.iter().map(|ty| ty.elem.is_float()).collect();
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
        let floats = active.iter().filter(|&&a| a).count().max(1) as u64;
        let each = BUDGET / (2 * func_work(func).flops.max(1)) / floats;
        let check = Check {
            func,
            inputs,
            cotangents: weights.iter().map(Array::to_f64).collect(),
            derivatives,
            most: usize::try_from(each).unwrap_or(MOST).clamp(FEWEST, MOST),
        };
        match check.weighted(&check.inputs)?.is_finite() {
            true => Ok(check),
            false => Err(Trouble::NotFinite),
        }
    }

    pub fn input(&self, i: usize) -> Result<Checked, Trouble> {
        let types = self.func.input_types();
        let float_index = types[..i].iter().filter(|t| t.elem.is_float()).count();
        let derivative = &self.derivatives[float_index];
        let count = types[i].numel();
        let mut checked = Checked {
            worst: None,
            elements: 0,
            rough: 0,
        };
        for element in (0..count).step_by(count.div_ceil(self.most).max(1)) {
            checked.elements += 1;
            match self.element(i, element, derivative[element])? {
                None => checked.rough += 1,
                Some(worst)
                    if checked
                        .worst
                        .as_ref()
                        .is_some_and(|w| w.error > worst.error) => {}
                Some(worst) => checked.worst = Some(worst),
            }
        }
        Ok(checked)
    }

    /// The derivative by one element beside the differences that come nearest to it; nothing where there is none, since
    /// the differences depend on the step.
    fn element(&self, i: usize, element: usize, derivative: f64) -> Result<Option<Worst>, Trouble> {
        let mut differences = Vec::new();
        for step in STEPS {
            let difference = self.difference(i, element, step)?;
            let error = apart(derivative, difference);
            let worst = Worst {
                element,
                derivative,
                difference,
                error,
            };
            if error <= TOLERANCE {
                return Ok(Some(worst));
            }
            differences.push(worst);
        }
        let first = differences.swap_remove(0);
        let settled = differences
            .iter()
            .all(|d| apart(first.difference, d.difference) <= SETTLED);
        Ok(settled.then_some(first))
    }

    /// Central difference of the weighted sum of the outputs.
    fn difference(&self, i: usize, element: usize, step: f64) -> Result<f64, Trouble> {
        let values = self.inputs[i].to_f64();
        let h = step * values[element].abs().max(1.0);
        let mut ends = [0.0; 2];
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            let mut moved = values.clone();
            moved[element] += sign * h;
            let mut inputs = self.inputs.clone();
            inputs[i] = Array::floats(self.func.input_types()[i].clone(), moved);
            *end = self.weighted(&inputs)?;
        }
        Ok((ends[0] - ends[1]) / (2.0 * h))
    }

    /// The outputs, each times its weight, together.
    fn weighted(&self, inputs: &[Array]) -> Result<f64, Trouble> {
        let outputs = eval(self.func, inputs)?;
        let floats = outputs
            .iter()
            .zip(self.func.output_types())
            .filter(|(_, t)| t.elem.is_float());
        Ok(floats
            .zip(&self.cotangents)
            .map(|((out, _), w)| out.to_f64().iter().zip(w).map(|(a, b)| a * b).sum::<f64>())
            .sum())
    }
}

/// How far b lies from a, relative to the size of a, absolute near 0. What is not a number is infinitely far.
fn apart(a: f64, b: f64) -> f64 {
    let error = (a - b).abs() / a.abs().max(1.0);
    if error.is_nan() { f64::INFINITY } else { error }
}

fn eval(func: &Func, inputs: &[Array]) -> Result<Vec<Array>, Trouble> {
    interp::eval(func, inputs, Precision::F64).map_err(|e| Trouble::Interpreter(e.to_string()))
}
