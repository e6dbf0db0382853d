//! Walking a plan: programs run on a backend, values wait in slots, effects happen in order.
//!
//! Only what an effect or the host's control flow reads is fetched. A slot's last reader gives its memory away.

pub mod checkpoint;
pub mod device;
mod effects;
pub mod interpreter;
pub mod mesh;
pub mod profile;
pub mod profile_report;
mod sources;
mod streams;
pub mod watched;

use crate::convert;
use crate::failure::Failure;
use crate::progress::Progress;
use checkpoint::Checkpoints;
use sources::read_source;
use std::io::Write;
use std::rc::Rc;
use std::time::SystemTime;
use streams::Streams;
use tpuc_compiler::ir::Literal;
use tpuc_compiler::ir::op::{Effect, HostSource};
use tpuc_compiler::plan::{Carried, Plan, Slot, Step, StepKind};
use tpuc_lang::span::Span;
use tpuc_runtime::Surroundings;
use tpuc_runtime::client::Upload;
use tpuc_runtime::host::{Bytes, HostArray, Scalar};
use tpuc_runtime::metrics::Metrics;

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
    fn upload(&self, array: &HostArray, slot: Slot, how: Upload) -> Result<Self::Buffer, Failure>;
    fn fetch(&self, buffer: &Self::Buffer) -> Result<HostArray, Failure>;
    /// Until the contents are there.
    fn wait(&self, buffer: &Self::Buffer) -> Result<(), Failure>;
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
    checkpoints: Option<Checkpoints>,
    metrics: Option<Metrics>,
    /// The way to a loop in the plan, from its end, and the iteration to begin with there.
    resumed: Option<(Vec<u64>, usize)>,
    /// The way to the step being walked: its number in its list, and in an `if` the branch, and so on; not into loops.
    path: Vec<usize>,
    /// How many loops it is in.
    depth: usize,
    /// The variables of the counted loop that is being walked.
    carried: Vec<Carried>,
    /// Data that is being read ahead.
    streams: Streams,
    /// Another host prints and saves; this one reads the same values, which all hosts have to ask for.
    silent: bool,
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
            checkpoints: None,
            metrics: None,
            resumed: None,
            path: Vec::new(),
            depth: 0,
            carried: Vec::new(),
            streams: Streams::default(),
            silent: false,
        }
    }

    pub fn silent(mut self, silent: bool) -> Self {
        self.silent = silent;
        self
    }

    /// Saves checkpoints on the way.
    pub fn with_checkpoints(mut self, checkpoints: Option<Checkpoints>) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Writes what `log` gives.
    pub fn with_metrics(mut self, metrics: Option<Metrics>) -> Self {
        self.metrics = metrics;
        self
    }

    pub fn run(mut self) -> Located<()> {
        self.steps(&self.plan.steps)
    }

    fn steps(&mut self, steps: &[Step]) -> Located<()> {
        let start = self.way().unwrap_or(0);
        for (i, step) in steps.iter().enumerate().skip(start) {
            self.check_interrupt().map_err(|e| (e, step.span))?;
            if self.depth > 0 {
                self.step(step)?;
            } else {
                self.path.push(i);
                self.step(step)?;
                self.path.pop();
            }
        }
        Ok(())
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
                let buffer = self
                    .backend
                    .upload(&array, *output, Upload::Copied)
                    .map_err(at)?;
                self.put(*output, Rc::new(buffer));
            }
            StepKind::Host {
                source,
                inputs,
                outputs,
            } => {
                let arrays = self.host(source, inputs, outputs).map_err(at)?;
                for (slot, array) in outputs.iter().zip(arrays) {
                    let buffer = self
                        .backend
                        .upload(&array, *slot, Upload::InPlace)
                        .map_err(at)?;
                    self.put(*slot, Rc::new(buffer));
                }
                if let HostSource::Batches { .. } = source {
                    self.keep_pace().map_err(at)?;
                }
            }
            StepKind::Effect { effect, inputs } => {
                let arrays = inputs
                    .iter()
                    .map(|s| self.fetch(*s))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(at)?;
                match effect {
                    Effect::Metrics { names } => self.log(names, &arrays),
                    Effect::Save { .. } if self.silent => Ok(()),
                    _ => self
                        .progress
                        .pause(|| effects::perform(effect, &arrays, self.out)),
                }
                .map_err(at)?;
            }
            StepKind::For {
                index,
                length,
                carried,
                body,
            } => {
                let outer = std::mem::replace(&mut self.carried, carried.clone());
                for i in self.begin(carried)..*length {
                    self.progress.iteration(i, *length);
                    let number =
                        HostArray::from_elements([], &[i as i32]).map_err(|e| at(e.into()))?;
                    let number = self
                        .backend
                        .upload(&number, *index, Upload::Copied)
                        .map_err(at)?;
                    self.put(*index, Rc::new(number));
                    self.steps(body)?;
                    self.iterated(carried, Some(*index), i + 1, step.span)?;
                }
                self.carried = outer;
                self.leave(carried);
            }
            StepKind::While {
                cond,
                go,
                carried,
                body,
            } => {
                let mut done = self.begin(carried);
                loop {
                    self.steps(cond)?;
                    if !self.truth(*go).map_err(at)? {
                        break;
                    }
                    self.steps(body)?;
                    done += 1;
                    self.iterated(carried, None, done, step.span)?;
                }
                self.leave(carried);
            }
            StepKind::If {
                pred,
                then,
                otherwise,
                results,
            } => {
                let taken = match self.way() {
                    Some(branch) => branch == 0,
                    None => self.truth(*pred).map_err(at)?,
                };
                self.path.push(usize::from(!taken));
                self.steps(if taken { then } else { otherwise })?;
                self.path.pop();
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

    fn enter(&mut self, carried: &[Carried]) {
        let values: Vec<_> = carried
            .iter()
            .map(|c| self.slots[c.init.0 as usize].clone())
            .collect();
        for c in carried.iter().filter(|c| c.takes_init) {
            self.slots[c.init.0 as usize] = None;
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
        self.depth -= 1;
        for c in carried {
            self.slots[c.result.0 as usize] = self.slots[c.current.0 as usize].take();
        }
    }

    fn host(
        &mut self,
        source: &HostSource,
        inputs: &[Slot],
        outputs: &[Slot],
    ) -> Result<Vec<HostArray>, Failure> {
        match source {
            HostSource::Batches {
                path,
                fields,
                count,
            } => {
                let given = inputs.iter().map(|slot| self.fetch(*slot));
                let given = given.collect::<Result<Vec<_>, _>>()?;
                let place = outputs.first().copied();
                self.streams.next(place, (path, fields, *count), &given)
            }
            HostSource::Time => {
                let seconds = self.start.elapsed().as_secs_f64();
                Ok(vec![HostArray::from_elements([], &[seconds])?])
            }
            other => read_source(other, self.around),
        }
    }
}

impl<B: Backend> Executor<'_, B> {
    /// Shows what is measured, and writes it where that was asked for.
    fn log(&mut self, names: &[String], arrays: &[HostArray]) -> Result<(), Failure> {
        let (step, values) = effects::metrics(names, arrays);
        self.progress.metrics(effects::metrics_text(step, &values));
        match &mut self.metrics {
            Some(metrics) => Ok(metrics.write(step, &values, SystemTime::now())?),
            None => Ok(()),
        }
    }

    /// Waits for the turn before: a batch is brought over while the one before it is computed with, and no sooner, or
    /// all of the data would wait in memory.
    fn keep_pace(&self) -> Result<(), Failure> {
        let made = self
            .carried
            .iter()
            .filter_map(|c| self.slots[c.current.0 as usize].as_ref());
        for buffer in made {
            self.backend.wait(buffer)?;
        }
        Ok(())
    }
}

fn literal_array(literal: &Literal) -> Result<HostArray, Failure> {
    let ty = literal.ty();
    let width = ty.elem.bytes();
    let bytes = match literal.splat() {
        Some(bits) => Bytes::repeated(&bits.to_le_bytes()[..width], ty.numel())
            .ok_or_else(|| Failure::runtime("E0732", format!("memory does not hold {ty}"), None))?,
        None => {
            let words = literal.iter_bits().map(u64::to_le_bytes);
            let bytes: Vec<u8> = words.flat_map(|w| w.into_iter().take(width)).collect();
            Bytes::from_slice(&bytes)
        }
    };
    Ok(HostArray::new(
        convert::dtype(ty.elem),
        ty.shape.clone(),
        bytes,
    )?)
}
