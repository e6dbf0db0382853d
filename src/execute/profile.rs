//! Taking the time of a run: a backend that waits for everything it starts, and notes how long it took.
//!
//! Waiting takes away what runs side by side, so a run that is looked at is a little longer than one that is not.

use super::{Backend, Input};
use crate::failure::Failure;
use std::cell::RefCell;
use std::time::{Duration, Instant};
use tpuc_compiler::plan::Slot;
use tpuc_runtime::client::Upload;
use tpuc_runtime::host::HostArray;

/// What time goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Compile,
    Execute,
    /// To the device.
    Upload,
    /// From it.
    Fetch,
}

impl Kind {
    pub(super) const ALL: [Kind; 4] = [Kind::Compile, Kind::Execute, Kind::Upload, Kind::Fetch];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Compile => "compile",
            Kind::Execute => "execute",
            Kind::Upload => "upload",
            Kind::Fetch => "fetch",
        }
    }
}

/// A stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: Kind,
    /// The program, or the type of what is carried.
    pub name: String,
    pub start: Instant,
    pub took: Duration,
}

impl Event {
    pub(super) fn end(&self) -> Instant {
        self.start + self.took
    }
}

/// A program as the profile names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    pub name: String,
    /// `file:line` of where it begins in `main`.
    pub place: String,
    /// Lines of the source, each with the part of the program's time that it is thought to take.
    pub lines: Vec<(String, f64)>,
}

/// A backend with a notebook.
pub struct Profiled<'a, B: Backend> {
    inner: B,
    labels: &'a [Label],
    events: RefCell<Vec<Event>>,
}

impl<'a, B: Backend> Profiled<'a, B> {
    /// `labels`: of the programs.
    pub fn new(inner: B, labels: &'a [Label]) -> Self {
        Profiled {
            inner,
            labels,
            events: RefCell::new(Vec::new()),
        }
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    fn timed<T>(
        &self,
        kind: Kind,
        name: String,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let start = Instant::now();
        let result = work();
        self.note(kind, name, start);
        result
    }

    fn note(&self, kind: Kind, name: String, start: Instant) {
        let took = start.elapsed();
        self.events.borrow_mut().push(Event {
            kind,
            name,
            start,
            took,
        });
    }
}

impl<B: Backend> Backend for Profiled<'_, B> {
    type Buffer = B::Buffer;

    fn run(
        &self,
        program: usize,
        inputs: Vec<Input<'_, B::Buffer>>,
    ) -> Result<Vec<B::Buffer>, Failure> {
        let name = self.labels[program].name.clone();
        self.timed(Kind::Execute, name, || {
            let outputs = self.inner.run(program, inputs)?;
            outputs.iter().try_for_each(|b| self.inner.wait(b))?;
            Ok(outputs)
        })
    }

    fn upload(&self, array: &HostArray, slot: Slot, how: Upload) -> Result<B::Buffer, Failure> {
        self.timed(Kind::Upload, array.spec().to_string(), || {
            let buffer = self.inner.upload(array, slot, how)?;
            self.inner.wait(&buffer)?;
            Ok(buffer)
        })
    }

    fn fetch(&self, buffer: &B::Buffer) -> Result<HostArray, Failure> {
        let start = Instant::now();
        let array = self.inner.fetch(buffer)?;
        self.note(Kind::Fetch, array.spec().to_string(), start);
        Ok(array)
    }

    fn wait(&self, buffer: &B::Buffer) -> Result<(), Failure> {
        self.inner.wait(buffer)
    }
}
