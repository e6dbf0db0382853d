//! Running a plan on a target: compiled, walked, and what it does on the way told of.

mod failures;
mod interrupt;
mod profiled;

use crate::execute::checkpoint::{self, Checkpoints};
use crate::execute::device::{DeviceBackend, Stores};
use crate::execute::interpreter::InterpreterBackend;
use crate::execute::watched::{self, Watched};
use crate::execute::{Backend, Executor, Input};
use crate::failure::Failure;
use crate::hosts;
use crate::pipeline;
use crate::progress::Progress;
use crate::target::Target;
pub use failures::located;
use interrupt::on_interrupt;
use std::io::Write;
use std::path::Path;
use std::time::{Instant, SystemTime};
use tpuc_compiler::ir::Func;
use tpuc_compiler::opt::cost::device::DeviceCost;
use tpuc_compiler::plan::Plan;
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_runtime::Surroundings;
use tpuc_runtime::cache::Cache;
use tpuc_runtime::host::HostArray;
use tpuc_runtime::hosts::Member;
use tpuc_runtime::metrics::Metrics;
use tpuc_runtime::prebuilt::Prebuilt;

/// What does not change what a run computes.
#[derive(Clone, Copy, Default)]
pub struct How<'a> {
    /// Compiled programs may come from the disk, and go there.
    pub cached: bool,
    /// Those that `tpuc compile` compiled.
    pub prebuilt: Option<&'a Prebuilt>,
    /// Where the programs came from is said.
    pub verbose: bool,
    /// The folder for what was measured.
    pub profile: Option<&'a Path>,
    pub checkpoints: Option<&'a checkpoint::Options>,
    /// The folder for what `log` gives.
    pub log: Option<&'a Path>,
    /// Another host prints and saves.
    pub silent: bool,
    /// This host, where there are several.
    pub member: Option<&'a Member>,
}

impl<'a> How<'a> {
    fn stores(&self, cache: Option<&'a Cache>) -> Stores<'a> {
        Stores {
            prebuilt: self.prebuilt,
            cache,
        }
    }
}

/// A plan, and all it takes to run it.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub plan: &'a Plan,
    pub sources: &'a Sources,
    pub target: &'a Target<'a>,
    /// Of the device, by which the time of a program is shared out over its lines.
    pub costs: &'a DeviceCost,
    pub how: How<'a>,
    pub around: &'a Surroundings,
    pub progress: &'a Progress,
}

impl Job<'_> {
    /// Runs the plan on the target.
    pub fn execute(&self) -> Result<(), Failure> {
        let start = Instant::now();
        let Some((client, version)) = self.target.client(self.around)? else {
            let backend = InterpreterBackend::new(&self.plan.programs);
            return self.finish(backend, start, &[], None);
        };
        self.progress.doing("compiling");
        let programs = pipeline::lower(self.plan, self.sources, &version)?;
        let cache = self.cache();
        let stores = self.how.stores(cache.as_ref());
        let backend = DeviceBackend::new(client.clone(), self.plan, programs, stores)
            .map_err(|e| self.located(e, Span::default()))?;
        let notes = backend.notes().to_vec();
        if self.how.verbose {
            notes.iter().for_each(|n| eprintln!("{}", n.text));
        }
        let fits = backend.check_fits(self.plan);
        fits.map_err(|(e, span)| self.located(e, span))?;
        self.finish(backend, start, &notes, Some(&client))
    }

    /// As [`Job::execute`], with every program watched for its first NaN or infinity.
    pub fn watch(&self) -> Result<(), Failure> {
        let (watched, sites) = watched::watch(self.plan);
        let programs = &self.plan.programs;
        let Some((client, version)) = self.target.client(self.around)? else {
            let inner = InterpreterBackend::new(&watched.programs);
            let once = |func: &Func, inputs: &[&_]| {
                once(&InterpreterBackend::new(std::slice::from_ref(func)), inputs)
            };
            return self.walk(&Watched::new(inner, programs, sites, &once));
        };
        let cache = self.cache();
        let stores = self.how.stores(cache.as_ref());
        let device = |plan: &Plan| {
            let programs = pipeline::lower(plan, self.sources, &version)?;
            DeviceBackend::new(client.clone(), plan, programs, stores)
        };
        self.progress.doing("compiling");
        let once = |func: &Func, inputs: &[&_]| {
            once(&device(&Plan::of_programs(vec![func.clone()]))?, inputs)
        };
        self.walk(&Watched::new(device(&watched)?, programs, sites, &once))
    }

    fn cache(&self) -> Option<Cache> {
        self.how.cached.then(|| Cache::of(self.around))?
    }
    fn walk<B: Backend>(&self, backend: &B) -> Result<(), Failure> {
        let silent = self.how.silent;
        let mut out: Box<dyn Write> = match silent {
            true => Box::new(std::io::sink()),
            false => Box::new(std::io::stdout()),
        };
        let (checkpoints, resumed) = match self.how.checkpoints {
            Some(options) => {
                let (c, resumed) =
                    Checkpoints::open(options, self.plan, on_interrupt(self.progress), silent)?;
                if let Some(member) = self.how.member {
                    hosts::agree_on(member, resumed.as_ref())?;
                }
                (Some(c), resumed)
            }
            None => (None, None),
        };
        let log = self.how.log.filter(|_| !silent);
        let metrics = log.map(|folder| Metrics::open(folder, SystemTime::now()));
        let metrics = metrics.transpose()?;
        self.progress.doing("running");
        let executor = Executor::new(backend, self.plan, self.around, &mut *out, self.progress);
        let executor = executor.silent(silent);
        let mut executor = executor.with_checkpoints(checkpoints).with_metrics(metrics);
        if let Some(checkpoint) = resumed {
            executor.resume(checkpoint)?;
        }
        let result = executor.run();
        self.progress.done();
        result.map_err(|(e, span)| self.located(e, span))
    }
}

/// The results of a backend's only program, on the host.
fn once<B: Backend>(backend: &B, inputs: &[&B::Buffer]) -> Result<Vec<HostArray>, Failure> {
    let inputs = inputs.iter().map(|&buffer| Input::Keep(buffer)).collect();
    let outputs = backend.run(0, inputs)?;
    outputs.iter().map(|buffer| backend.fetch(buffer)).collect()
}
