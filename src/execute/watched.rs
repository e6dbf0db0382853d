//! A backend that looks at every program for the first NaN or infinity (`--check-finite`).
//!
//! Each program is compiled with one output more, which names the instruction at fault. Only when there is one is a
//! second program made, which gives that instruction's operands; so the inputs of a run are kept until it is judged.

use super::{Backend, Input};
use crate::failure::Failure;
use std::fmt::Write;
use tpuc_compiler::finite::{self, Site};
use tpuc_compiler::ir::Func;
use tpuc_compiler::plan::{Plan, Slot};
use tpuc_lang::diag::{Code, Diagnostic};
use tpuc_runtime::client::Upload;
use tpuc_runtime::host::{HostArray, Scalar};
use tpuc_runtime::print::format_scalar;

/// What one run of a program gives, copied to the host.
pub type Once<'a, B> = dyn Fn(&Func, &[&B]) -> Result<Vec<HostArray>, Failure> + 'a;

pub struct Watched<'a, B: Backend> {
    /// Its programs are those that [`watch`] made.
    inner: B,
    programs: &'a [Func],
    sites: Vec<Vec<Site>>,
    once: &'a Once<'a, B::Buffer>,
}

/// The plan to compile for a watched backend, whose programs keep their inputs, and the sites in each program.
pub fn watch(plan: &Plan) -> (Plan, Vec<Vec<Site>>) {
    let (programs, sites) = plan.programs.iter().map(finite::watch).unzip();
    let watched = Plan {
        programs,
        steps: Vec::new(),
        ..plan.clone()
    };
    (watched, sites)
}

impl<'a, B: Backend> Watched<'a, B> {
    pub fn new(
        inner: B,
        programs: &'a [Func],
        sites: Vec<Vec<Site>>,
        once: &'a Once<'a, B::Buffer>,
    ) -> Self {
        Watched {
            inner,
            programs,
            sites,
            once,
        }
    }

    /// What there is to say of the site `number`, which counts from 1.
    fn failure(&self, program: usize, number: usize, inputs: &[&B::Buffer]) -> Failure {
        let site = &self.sites[program][number - 1];
        let look = finite::look(&self.programs[program], number, site);
        match (self.once)(&look, inputs) {
            Ok(seen) => Failure::Placed(Box::new(diagnostic(site, &seen))),
            Err(e) => e,
        }
    }
}

impl<B: Backend> Backend for Watched<'_, B> {
    type Buffer = B::Buffer;

    fn run(
        &self,
        program: usize,
        inputs: Vec<Input<'_, B::Buffer>>,
    ) -> Result<Vec<B::Buffer>, Failure> {
        let held: Vec<&B::Buffer> = inputs
            .iter()
            .map(|input| match input {
                Input::Keep(buffer) => *buffer,
                Input::Give(buffer) => buffer,
            })
            .collect();
        let kept = held.iter().map(|&buffer| Input::Keep(buffer)).collect();
        let mut outputs = self.inner.run(program, kept)?;
        let found = match outputs.pop() {
            Some(first) => self.inner.fetch(&first)?.scalar(),
            None => None,
        };
        match found {
            Some(Scalar::I(number)) if number > 0 => {
                Err(self.failure(program, number as usize, &held))
            }
            _ => Ok(outputs),
        }
    }

    fn wait(&self, buffer: &B::Buffer) -> Result<(), Failure> {
        self.inner.wait(buffer)
    }

    fn upload(&self, array: &HostArray, slot: Slot, how: Upload) -> Result<B::Buffer, Failure> {
        self.inner.upload(array, slot, how)
    }

    fn fetch(&self, buffer: &B::Buffer) -> Result<HostArray, Failure> {
        self.inner.fetch(buffer)
    }
}

fn diagnostic(site: &Site, seen: &[HostArray]) -> Diagnostic {
    let (operands, rest) = seen.split_at(site.operands.len());
    let (results, turns) = rest.split_at(site.results.len());
    let made = results.iter().find_map(first_bad);
    let (what, place) = match &made {
        Some((array, at)) => (
            format_scalar(array.dtype(), element(array, *at)),
            place(array, *at),
        ),
        None => ("NaN".to_string(), String::new()),
    };
    let derivative = match site.span.derivative {
        true => "in the derivative of this, ",
        false => "",
    };
    let ty = site.results.first().map(ToString::to_string);
    let label = format!("{derivative}{place}{} is {what}", ty.unwrap_or_default());
    let message = format!("`{}` makes the first {what}", site.op);
    let mut d = Diagnostic::error(Code("E0794"), message, site.span, label);
    for (i, array) in operands.iter().enumerate() {
        let same_shape = made.filter(|(m, _)| m.shape() == array.shape());
        d = d.note(operand(i + 1, array, same_shape.map(|(_, at)| at)));
    }
    if !turns.is_empty() {
        let turns: Vec<String> = turns
            .iter()
            .filter_map(HostArray::scalar)
            .map(|turn| format!("{}", turn.to_f64()))
            .collect();
        d = d.note(format!(
            "in turn {} of the loop, counted from 0",
            turns.join(", ")
        ));
    }
    d
}

/// One line about an operand: its value at the place in question if it has one there, and what it spans.
fn operand(number: usize, array: &HostArray, at: Option<usize>) -> String {
    let mut line = format!("operand {number}, {}", type_of(array));
    if let Some(at) = at {
        let value = format_scalar(array.dtype(), element(array, at));
        let _ = write!(line, ", is {value} there");
    }
    if array.shape().is_empty() {
        if at.is_none() {
            let value = format_scalar(array.dtype(), element(array, 0));
            let _ = write!(line, ", is {value}");
        }
        return line;
    }
    let values: Vec<f64> = array.iter().map(Scalar::to_f64).collect();
    let finite = || (0..values.len()).filter(|&i| values[i].is_finite());
    let by_size = |&a: &usize, &b: &usize| values[a].total_cmp(&values[b]);
    let others = values.len() - finite().count();
    if let (Some(least), Some(most)) = (finite().min_by(by_size), finite().max_by(by_size)) {
        let [least, most] = [least, most].map(|i| format_scalar(array.dtype(), element(array, i)));
        let _ = write!(line, "; from {least} to {most}");
    }
    if others > 0 {
        let _ = write!(line, "; {others} of {} are not finite", values.len());
    }
    line
}

fn first_bad(array: &HostArray) -> Option<(&HostArray, usize)> {
    let nan = array.iter().position(|v| v.to_f64().is_nan());
    let bad = nan.or_else(|| array.iter().position(|v| !v.to_f64().is_finite()));
    bad.map(|at| (array, at))
}

fn element(array: &HostArray, at: usize) -> Scalar {
    array.iter().nth(at).unwrap_or(Scalar::F(f64::NAN))
}

/// `element [1, 2] of `; nothing for a scalar.
fn place(array: &HostArray, at: usize) -> String {
    let mut rest = at;
    let mut index: Vec<String> = Vec::new();
    for &size in array.shape().iter().rev() {
        index.push((rest % size).to_string());
        rest /= size;
    }
    index.reverse();
    match index.is_empty() {
        true => String::new(),
        false => format!("element [{}] of ", index.join(", ")),
    }
}

fn type_of(array: &HostArray) -> String {
    let sizes: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
    match sizes.is_empty() {
        true => array.dtype().name().to_string(),
        false => format!("{}[{}]", array.dtype().name(), sizes.join(", ")),
    }
}
