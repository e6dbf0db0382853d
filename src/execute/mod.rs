//! Walking a plan: programs run on a backend, values wait in slots, effects happen in order.
//!
//! Only what an effect or the host's control flow reads is fetched. A slot's last reader gives its memory away.

pub mod device;
mod effects;
pub mod interpreter;
pub mod mesh;
pub mod watched;

use crate::convert;
use crate::failure::Failure;
use crate::progress::Progress;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use tpuc_compiler::ir::Literal;
use tpuc_compiler::ir::op::HostSource;
use tpuc_compiler::plan::{Carried, Plan, Slot, Step, StepKind};
use tpuc_lang::span::Span;
use tpuc_runtime::data::{self, Contents, Dataset, Field};
use tpuc_runtime::host::{Bytes, HostArray, Scalar};
use tpuc_runtime::{Surroundings, numpy_random};

/// Where programs run and arrays live.
pub trait Backend {
    type Buffer;
    /// Starts a program of the plan; errors of its run may also show when a result is fetched.
    fn run(
        &self,
        program: usize,
        inputs: Vec<Input<'_, Self::Buffer>>,
    ) -> Result<Vec<Self::Buffer>, Failure>;
    /// `slot`: where the plan keeps it.
    fn upload(&self, array: &HostArray, slot: Slot) -> Result<Self::Buffer, Failure>;
    fn fetch(&self, buffer: &Self::Buffer) -> Result<HostArray, Failure>;
}

/// An argument of a program.
pub enum Input<'a, B> {
    Keep(&'a B),
    /// Nothing reads it afterwards: its memory may become a result's.
    Give(B),
}

/// Runs a plan to its end; `out` gets what it prints.
pub struct Executor<'a, B: Backend> {
    backend: &'a B,
    plan: &'a Plan,
    slots: Vec<Option<Rc<B::Buffer>>>,
    around: &'a Surroundings,
    out: &'a mut dyn Write,
    progress: &'a Progress,
    start: std::time::Instant,
}

/// A failure and the source it belongs to.
pub type Located<T> = Result<T, (Failure, Span)>;

impl<'a, B: Backend> Executor<'a, B> {
    pub fn new(
        backend: &'a B,
        plan: &'a Plan,
        around: &'a Surroundings,
        out: &'a mut dyn Write,
        progress: &'a Progress,
    ) -> Self {
        let slots = plan.slots.iter().map(|_| None).collect();
        Executor {
            backend,
            plan,
            slots,
            around,
            out,
            progress,
            start: std::time::Instant::now(),
        }
    }

    pub fn run(mut self) -> Located<()> {
        self.steps(&self.plan.steps)
    }

    fn steps(&mut self, steps: &[Step]) -> Located<()> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Located<()> {
        let at = |e: Failure| (e, step.span);
        match &step.kind {
            StepKind::Run {
                program,
                inputs,
                outputs,
            } => {
                let results = self
                    .run_program(*program, inputs, &step.last_use)
                    .map_err(at)?;
                for (slot, result) in outputs.iter().zip(results) {
                    self.put(*slot, Rc::new(result));
                }
            }
            StepKind::Constant { value, output } => {
                let array = literal_array(value).map_err(at)?;
                let buffer = self.backend.upload(&array, *output).map_err(at)?;
                self.put(*output, Rc::new(buffer));
            }
            StepKind::Host { source, outputs } => {
                for (slot, array) in outputs.iter().zip(self.host(source).map_err(at)?) {
                    let buffer = self.backend.upload(&array, *slot).map_err(at)?;
                    self.put(*slot, Rc::new(buffer));
                }
            }
            StepKind::Effect { effect, inputs } => {
                let arrays = inputs
                    .iter()
                    .map(|s| self.fetch(*s))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(at)?;
                self.progress
                    .pause(|| effects::perform(effect, &arrays, self.out))
                    .map_err(at)?;
            }
            StepKind::For {
                index,
                length,
                carried,
                body,
            } => {
                self.enter(carried, &step.last_use);
                for i in 0..*length {
                    self.progress.iteration(i, *length);
                    let i = HostArray::from_elements([], &[i as i32]).map_err(|e| at(e.into()))?;
                    let i = self.backend.upload(&i, *index).map_err(at)?;
                    self.put(*index, Rc::new(i));
                    self.steps(body)?;
                    self.advance(carried);
                }
                self.slots[index.0 as usize] = None;
                self.leave(carried);
            }
            StepKind::While {
                cond,
                go,
                carried,
                body,
            } => {
                self.enter(carried, &step.last_use);
                loop {
                    self.steps(cond)?;
                    if !self.truth(*go).map_err(at)? {
                        break;
                    }
                    self.steps(body)?;
                    self.advance(carried);
                }
                self.leave(carried);
            }
            StepKind::If {
                pred,
                then,
                otherwise,
                results,
            } => {
                let taken = self.truth(*pred).map_err(at)?;
                self.steps(if taken { then } else { otherwise })?;
                for (slot, a, b) in results {
                    let value = self.slots[if taken { a.0 } else { b.0 } as usize].clone();
                    self.slots[slot.0 as usize] = value;
                }
            }
        }
        for slot in &step.last_use {
            self.slots[slot.0 as usize] = None;
        }
        Ok(())
    }

    fn run_program(
        &mut self,
        program: usize,
        inputs: &[Slot],
        last_use: &[Slot],
    ) -> Result<Vec<B::Buffer>, Failure> {
        let held: Vec<Rc<B::Buffer>> = inputs
            .iter()
            .map(|s| {
                let slot = &mut self.slots[s.0 as usize];
                let value = if last_use.contains(s) {
                    slot.take()
                } else {
                    slot.clone()
                };
                value.unwrap_or_else(|| unreachable!("a slot is written before it is read"))
            })
            .collect();
        // A buffer that two slots share is still read through the other one.
        let mut kept = Vec::new();
        let mut owned: Vec<Result<B::Buffer, usize>> = Vec::new();
        for rc in held {
            match Rc::try_unwrap(rc) {
                Ok(buffer) => owned.push(Ok(buffer)),
                Err(rc) => {
                    owned.push(Err(kept.len()));
                    kept.push(rc);
                }
            }
        }
        let inputs = owned.into_iter().map(|o| match o {
            Ok(buffer) => Input::Give(buffer),
            Err(i) => Input::Keep(&*kept[i]),
        });
        self.backend.run(program, inputs.collect())
    }

    fn put(&mut self, slot: Slot, buffer: Rc<B::Buffer>) {
        self.slots[slot.0 as usize] = Some(buffer);
    }

    fn fetch(&self, slot: Slot) -> Result<HostArray, Failure> {
        match &self.slots[slot.0 as usize] {
            Some(buffer) => self.backend.fetch(buffer),
            None => unreachable!("a slot is written before it is read"),
        }
    }

    fn truth(&self, slot: Slot) -> Result<bool, Failure> {
        Ok(matches!(self.fetch(slot)?.scalar(), Some(Scalar::B(true))))
    }

    fn enter(&mut self, carried: &[Carried], last_use: &[Slot]) {
        let values: Vec<_> = carried
            .iter()
            .map(|c| self.slots[c.init.0 as usize].clone())
            .collect();
        for slot in last_use
            .iter()
            .filter(|s| carried.iter().any(|c| c.init == **s))
        {
            self.slots[slot.0 as usize] = None;
        }
        for (c, value) in carried.iter().zip(values) {
            self.slots[c.current.0 as usize] = value;
        }
    }

    /// The values at the end of an iteration become those of the next, all at once.
    fn advance(&mut self, carried: &[Carried]) {
        let values: Vec<_> = carried
            .iter()
            .map(|c| self.slots[c.next.0 as usize].clone())
            .collect();
        for c in carried.iter().filter(|c| c.next_is_own) {
            self.slots[c.next.0 as usize] = None;
        }
        for (c, value) in carried.iter().zip(values) {
            self.slots[c.current.0 as usize] = value;
        }
    }

    fn leave(&mut self, carried: &[Carried]) {
        for c in carried {
            self.slots[c.result.0 as usize] = self.slots[c.current.0 as usize].take();
        }
    }

    fn host(&self, source: &HostSource) -> Result<Vec<HostArray>, Failure> {
        match source {
            HostSource::Time => {
                let seconds = self.start.elapsed().as_secs_f64();
                Ok(vec![HostArray::from_elements([], &[seconds])?])
            }
            other => read_source(other, self.around),
        }
    }
}

/// Data that does not depend on the run: files and NumPy's permutations.
fn read_source(source: &HostSource, around: &Surroundings) -> Result<Vec<HostArray>, Failure> {
    match source {
        HostSource::Dataset { name, fields } => {
            let dataset = Dataset::find(name, around)?;
            let known = fields
                .iter()
                .filter_map(|(field, _)| Field::from_name(field));
            Ok(known
                .map(|field| dataset.read(field))
                .collect::<Result<_, _>>()?)
        }
        HostSource::Load { path, fields } => match data::read(Path::new(path))? {
            Contents::One(array) => Ok(vec![array]),
            Contents::Named(mut arrays) => fields
                .iter()
                .map(
                    |(name, _)| match arrays.iter().position(|(n, _)| n == name) {
                        Some(i) => Ok(arrays.swap_remove(i).1),
                        None => Err(Failure::runtime(
                            "E0790",
                            format!("`{path}` has no array `{name}` any more"),
                            None,
                        )),
                    },
                )
                .collect(),
        },
        HostSource::NumpyPermutations { seed, n, count } => {
            Ok(vec![numpy_random::permutations(*seed, *n, *count)?])
        }
        HostSource::Time => Ok(Vec::new()),
    }
}

fn literal_array(literal: &Literal) -> Result<HostArray, Failure> {
    let width = literal.ty().elem.bytes();
    let bytes: Vec<u8> = literal
        .iter_bits()
        .flat_map(|b| b.to_le_bytes()[..width].to_vec())
        .collect();
    Ok(HostArray::new(
        convert::dtype(literal.ty().elem),
        literal.ty().shape.clone(),
        Bytes::from_slice(&bytes),
    )?)
}
