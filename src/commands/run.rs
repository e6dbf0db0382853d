//! `tpuc run`.

use crate::ahead::holdings::largest;
use crate::ahead::report::Holding;
use crate::ahead::text;
use crate::cli::{BackendName, RunArgs};
use crate::costs;
use crate::execute::checkpoint::{self, Checkpoints};
use crate::execute::device::{self, DeviceBackend, Note, Stores};
use crate::execute::interpreter::InterpreterBackend;
use crate::execute::profile::{Event, Kind, Label, Profile, Profiled};
use crate::execute::watched::{self, Watched};
use crate::execute::{Backend, Executor, Input, mesh};
use crate::failure::Failure;
use crate::pipeline::{self, place_of};
use crate::progress::Progress;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};
use tpuc_compiler::ir::Func;
use tpuc_compiler::ir::op::Effect;
use tpuc_compiler::opt::cost::device::CPU;
use tpuc_compiler::opt::cost::lines;
use tpuc_compiler::plan::{self, Plan, Step, StepKind};
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_lang::typed::Program;
use tpuc_runtime::cache::Cache;
use tpuc_runtime::client::{Client, ClientOptions};
use tpuc_runtime::hlo::Module;
use tpuc_runtime::host::HostArray;
use tpuc_runtime::metrics::Metrics;
use tpuc_runtime::plugin::{Device, Plugin};
use tpuc_runtime::prebuilt::Prebuilt;
use tpuc_runtime::{Surroundings, save};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let progress = Progress::new();
    let (mut program, sources) = pipeline::load(&args.file, &args.program, &around)?;
    if program.main.is_none() {
        return Err(Failure::Source {
            code: "E0601",
            message: format!("`{}` has no `main`", args.file.display()),
            help: "add `main { … }`; `tpuc test` runs the `test` blocks of a file".into(),
        });
    }
    if args.check_finite {
        mesh::settle(&mut program, 1)?;
    }
    let costs = costs::chosen(args.device.as_deref(), &around)?;
    let target = Target::open(&mut program, args.backend, args.device.as_deref(), &around)?;
    let (script, _) = pipeline::main_script(&program, &sources)?;
    let axes = mesh::axes(&program);
    // What is looked for is the operation as it was written, not what it was folded or merged into.
    let level = if args.check_finite {
        0
    } else {
        args.program.opt
    };
    let plan = pipeline::plan(
        &script,
        axes,
        level,
        costs,
        args.explain_opt.then_some(&sources),
    );
    check_paths(&plan.steps).map_err(|(e, span)| located(e, span, &sources))?;
    let prebuilt = args.executables.as_deref().map(Prebuilt::at);
    let checkpoints = checkpoints(args);
    let job = Job {
        plan: &plan,
        sources: &sources,
        target: &target,
        how: How {
            cached: !args.no_cache,
            prebuilt: prebuilt.as_ref(),
            verbose: args.verbose,
            profile: args.profile.as_deref(),
            checkpoints: checkpoints.as_ref(),
            log: args.log.as_deref(),
        },
        around: &around,
        progress: &progress,
    };
    match args.check_finite {
        true => job.watch(),
        false => job.execute(),
    }
}

fn checkpoints(args: &RunArgs) -> Option<checkpoint::Options> {
    let folder = args.checkpoint.clone()?;
    let mut command: Vec<String> = std::env::args().skip(1).collect();
    if !args.resume {
        command.push("--resume".into());
    }
    Some(checkpoint::Options {
        folder,
        every: args.every,
        keep: args.keep,
        resume: args.resume,
        command: format!("tpuc {}", command.join(" ")),
    })
}

/// Where a program runs.
pub enum Target<'a> {
    Interpreter,
    /// Opened when it is needed, so that errors of the program come first.
    Named(Option<&'a str>),
    /// With the version of StableHLO that it reads.
    Open(Client, String),
}

impl<'a> Target<'a> {
    /// The target asked for, and the program with the mesh that it has there. A device is opened at once where the
    /// program has a mesh, which must fit it.
    pub fn open(
        program: &mut Program,
        backend: BackendName,
        device: Option<&'a str>,
        around: &Surroundings,
    ) -> Result<Target<'a>, Failure> {
        match backend {
            BackendName::Interp => {
                mesh::settle(program, 1)?;
                Ok(Target::Interpreter)
            }
            BackendName::Pjrt if program.devices() == 1 => {
                mesh::settle(program, 1)?;
                Ok(Target::Named(device))
            }
            BackendName::Pjrt => {
                let (client, plugin) = client(device, around)?;
                mesh::settle(program, client.device_count())?;
                Ok(Target::Open(
                    client,
                    version_text(plugin.stablehlo_version()),
                ))
            }
        }
    }
}

impl Target<'_> {
    /// A client with the version of StableHLO that it reads; none for the interpreter.
    fn client(&self, around: &Surroundings) -> Result<Option<(Client, String)>, Failure> {
        Ok(match self {
            Target::Interpreter => None,
            Target::Named(device) => {
                let (client, plugin) = client(*device, around)?;
                Some((client, version_text(plugin.stablehlo_version())))
            }
            Target::Open(client, version) => Some((client.clone(), version.clone())),
        })
    }
}

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
            return self.finish(backend, start, &[]);
        };
        self.progress.doing("compiling");
        let programs = pipeline::lower(self.plan, self.sources, &version)?;
        let cache = self.cache();
        let stores = self.how.stores(cache.as_ref());
        let backend = DeviceBackend::new(client, self.plan, programs, stores)?;
        let notes = backend.notes().to_vec();
        if self.how.verbose {
            notes.iter().for_each(|n| eprintln!("{}", n.text));
        }
        let fits = backend.check_fits(self.plan);
        fits.map_err(|(e, span)| self.located(e, span))?;
        self.finish(backend, start, &notes)
    }

    /// As [`Job::execute`], with every program watched for its first NaN or infinity.
    fn watch(&self) -> Result<(), Failure> {
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

    /// Walks the plan, with the time measured where that is asked for. `notes`: of the compilation.
    fn finish<B: Backend>(
        &self,
        backend: B,
        start: Instant,
        notes: &[Note],
    ) -> Result<(), Failure> {
        let Some(folder) = self.how.profile else {
            return self.walk(&backend);
        };
        let labels = self.labels();
        let profiled = Profiled::new(backend, &labels);
        self.walk(&profiled)?;
        let compiled = notes.iter().zip(&labels).map(|(note, label)| Event {
            kind: Kind::Compile,
            name: label.name.clone(),
            start: note.start,
            took: note.took,
        });
        let profile = Profile {
            start,
            took: start.elapsed(),
            events: compiled.chain(profiled.events()).collect(),
            labels: labels.clone(),
        };
        eprint!("{profile}");
        profile.write(folder)
    }

    fn labels(&self) -> Vec<Label> {
        let programs = self.plan.programs.iter();
        programs
            .map(|func| Label {
                name: func.name.clone(),
                place: match func.body.insts.first().and_then(|i| i.results.first()) {
                    Some(&v) => place_of(self.sources, func.span(v)),
                    None => String::new(),
                },
                lines: self.lines(func),
            })
            .collect()
    }

    /// Lines of the source with the part of a program's time that the cost model gives them.
    fn lines(&self, func: &Func) -> Vec<(String, f64)> {
        let mut lines: Vec<(String, f64)> = Vec::new();
        for (span, part) in lines::by_place(func, &CPU) {
            let place = place_of(self.sources, span);
            match lines.iter_mut().find(|(p, _)| *p == place) {
                Some(line) => line.1 += part,
                None => lines.push((place, part)),
            }
        }
        lines
    }

    fn walk<B: Backend>(&self, backend: &B) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        let (checkpoints, resumed) = match self.how.checkpoints {
            Some(options) => {
                let (c, resumed) = Checkpoints::open(options, self.plan, on_interrupt())?;
                (Some(c), resumed)
            }
            None => (None, None),
        };
        let metrics = self
            .how
            .log
            .map(|folder| Metrics::open(folder, SystemTime::now()));
        let metrics = metrics.transpose()?;
        self.progress.doing("running");
        let executor = Executor::new(backend, self.plan, self.around, &mut out, self.progress);
        let mut executor = executor.with_checkpoints(checkpoints).with_metrics(metrics);
        if let Some(checkpoint) = resumed {
            executor.resume(checkpoint)?;
        }
        let result = executor.run();
        self.progress.done();
        result.map_err(|(e, span)| self.located(e, span))
    }

    /// The failure with its place; where memory is lacking, with what takes the most of it.
    fn located(&self, failure: Failure, span: Span) -> Failure {
        let failure = match failure {
            Failure::Runtime {
                code,
                message,
                help,
            } if code == "E0732" => Failure::Runtime {
                message: message.clone() + &self.largest(&message),
                code,
                help,
            },
            other => other,
        };
        located(failure, span, self.sources)
    }

    /// The largest buffers of the program that a message names; nothing where the plugin does not tell.
    fn largest(&self, message: &str) -> String {
        let named = |f: &Func| message.contains(&format!("`{}`", f.name));
        let program = self.plan.programs.iter().position(named);
        let found = program.and_then(|p| self.holdings(p));
        let lines = found.into_iter().flatten();
        let lines: Vec<String> = lines
            .map(|h| format!("\n  {}", text::holding(&h)))
            .collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("\nthe largest buffers are{}", lines.concat()),
        }
    }

    /// What holds the memory of a program, which is compiled once more for it.
    fn holdings(&self, program: usize) -> Option<Vec<Holding>> {
        let (client, version) = self.target.client(self.around).ok()??;
        let lowered = pipeline::lower(self.plan, self.sources, &version).ok()?;
        let lowered = lowered.into_iter().nth(program)?;
        let options = device::compile_options(&client);
        let (hlo, report) = client
            .optimized_with_buffers(&lowered.name, &lowered.code, &lowered.signature, &options)
            .ok()?;
        let func = &self.plan.programs[program];
        Some(largest(&Module::parse(&hlo)?, &report, func, self.sources))
    }
}

/// The results of a backend's only program, on the host.
fn once<B: Backend>(backend: &B, inputs: &[&B::Buffer]) -> Result<Vec<HostArray>, Failure> {
    let inputs = inputs.iter().map(|&buffer| Input::Keep(buffer)).collect();
    let outputs = backend.run(0, inputs)?;
    outputs.iter().map(|buffer| backend.fetch(buffer)).collect()
}

/// A client of the device asked for, and its plugin.
pub fn client(device: Option<&str>, around: &Surroundings) -> Result<(Client, Plugin), Failure> {
    let device = Device::choose(device, around)?;
    let options = ClientOptions {
        cpu_devices: device.cpu_devices(),
    };
    let plugin = Plugin::open(&device, around)?;
    Ok((Client::new(&plugin, options)?, plugin))
}

/// The newest StableHLO that both the plugin and we know.
pub fn version_text(plugin: Option<[i64; 3]>) -> String {
    let [a, b, c] = plugin.unwrap_or([1, 0, 0]);
    format!("{a}.{b}.{c}")
}

/// Set by the first Ctrl-C; the second ends the process at once.
fn on_interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Where signals cannot be caught they end the process, and its last checkpoint stays.
        let _ = register_conditional_shutdown(signal, 130, Arc::clone(&flag));
        let _ = register(signal, Arc::clone(&flag));
    }
    flag
}

/// The failure with the source line it belongs to.
pub fn located(failure: Failure, span: Span, sources: &Sources) -> Failure {
    match failure {
        Failure::Placed(diagnostic) => {
            pipeline::print_diagnostics(&[*diagnostic], sources);
            Failure::Said
        }
        Failure::Runtime {
            code,
            message,
            help,
        } if span != Span::default() => {
            let (line, column) = sources.line_col(span);
            let file = &sources.get(span.file).name;
            Failure::Runtime {
                code,
                message: format!("{message}\n  --> {file}:{line}:{column}"),
                help,
            }
        }
        other => other,
    }
}

/// Finds out before the run whether the files it will save can be written.
pub fn check_paths(steps: &[Step]) -> Result<(), (Failure, Span)> {
    let mut found = Ok(());
    plan::walk(steps, &mut |step| {
        if let StepKind::Effect {
            effect: Effect::Save { path, .. },
            ..
        } = &step.kind
            && found.is_ok()
        {
            found = save::check_writable(Path::new(path)).map_err(|e| (e.into(), step.span));
        }
    });
    found
}
