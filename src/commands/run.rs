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
use crate::hosts;
use crate::pipeline::{self, place_of};
use crate::progress::Progress;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tpuc_compiler::ir::op::Effect;
use tpuc_compiler::ir::{Func, Value};
use tpuc_compiler::opt::cost::device::DeviceCost;
use tpuc_compiler::opt::cost::lines;
use tpuc_compiler::plan::{self, Plan, Step, StepKind};
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_lang::typed::Program;
use tpuc_runtime::cache::Cache;
use tpuc_runtime::client::{Client, ClientOptions, show_bytes};
use tpuc_runtime::error::MEMORY_HELP;
use tpuc_runtime::hlo::Module;
use tpuc_runtime::host::HostArray;
use tpuc_runtime::hosts::Member;
use tpuc_runtime::metrics::Metrics;
use tpuc_runtime::plugin::{Device, Plugin};
use tpuc_runtime::prebuilt::Prebuilt;
use tpuc_runtime::{Surroundings, save};

/// After so long it is said what an interruption waits for.
const PATIENCE: Duration = Duration::from_millis(250);

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
        mesh::settle(&mut program, 1, false)?;
    }
    let costs = costs::chosen(args.device.as_deref(), &around)?;
    let member = hosts::join(args, &sources)?;
    let place = At {
        device: args.device.as_deref(),
        member: member.as_ref(),
    };
    let target = Target::open(&mut program, args.backend, place, &around)?;
    let first = target.is_first_host()?;
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
    if first {
        check_paths(&plan.steps).map_err(|(e, span)| located(e, span, &sources))?;
    }
    for folder in args.log.iter().filter(|_| first).chain(&args.profile) {
        save::writable_folder(folder)?;
    }
    let prebuilt = args.executables.as_deref().map(prebuilt).transpose()?;
    let checkpoints = checkpoint::Options::of(args);
    let job = Job {
        plan: &plan,
        sources: &sources,
        target: &target,
        costs,
        how: How {
            cached: !args.no_cache,
            prebuilt: prebuilt.as_ref(),
            verbose: args.verbose,
            profile: args.profile.as_deref(),
            checkpoints: checkpoints.as_ref(),
            log: args.log.as_deref(),
            silent: !first,
            member: member.as_deref(),
        },
        around: &around,
        progress: &progress,
    };
    match args.check_finite {
        true => job.watch(),
        false => job.execute(),
    }?;
    Ok(member.map_or(Ok(()), |member| member.leave())?)
}

/// What `tpuc compile -o` left in a folder.
fn prebuilt(folder: &Path) -> Result<Prebuilt, Failure> {
    match folder.is_dir() {
        true => Ok(Prebuilt::at(folder)),
        false => Err(Failure::runtime(
            "E0901",
            format!("there is no folder `{}`", folder.display()),
            Some("`tpuc compile FILE --target CHIPS -o DIR` makes one".into()),
        )),
    }
}

/// Where a program is to run: the device, and this host among those that make the devices up.
#[derive(Clone, Copy, Default)]
pub struct At<'a> {
    pub device: Option<&'a str>,
    pub member: Option<&'a Arc<Member>>,
}

impl<'a> At<'a> {
    /// A device of this host alone.
    pub fn device(device: Option<&'a str>) -> At<'a> {
        At {
            device,
            member: None,
        }
    }
}

/// Where a program runs.
pub enum Target<'a> {
    Interpreter,
    /// Opened when it is needed, so that errors of the program come first.
    Named(At<'a>),
    /// With the version of StableHLO that it reads.
    Open(Client, String),
}

impl<'a> Target<'a> {
    /// The target asked for, and the program with the mesh that it has there. A device is opened at once where the
    /// program has a mesh, which must fit it, and where there are other hosts.
    pub fn open(
        program: &mut Program,
        backend: BackendName,
        at: At<'a>,
        around: &Surroundings,
    ) -> Result<Target<'a>, Failure> {
        match backend {
            BackendName::Interp => {
                mesh::settle(program, 1, false)?;
                Ok(Target::Interpreter)
            }
            BackendName::Pjrt if program.devices() == 1 && at.member.is_none() => {
                mesh::settle(program, 1, false)?;
                Ok(Target::Named(at))
            }
            BackendName::Pjrt => {
                let (client, version) = open(at, around)?;
                mesh::settle(program, client.device_count(), client.is_shared())?;
                Ok(Target::Open(client, version))
            }
        }
    }
}

impl Target<'_> {
    /// A client with the version of StableHLO that it reads; none for the interpreter.
    fn client(&self, around: &Surroundings) -> Result<Option<(Client, String)>, Failure> {
        Ok(match self {
            Target::Interpreter => None,
            Target::Named(at) => {
                let (client, version) = open(*at, around)?;
                mesh::check_alone(&client)?;
                Some((client, version))
            }
            Target::Open(client, version) => Some((client.clone(), version.clone())),
        })
    }

    /// Whether this is the process that prints and saves. Of devices that are opened later there are no other hosts.
    fn is_first_host(&self) -> Result<bool, Failure> {
        match self {
            Target::Open(client, _) => Ok(client.process_index()? == 0),
            Target::Interpreter | Target::Named(_) => Ok(true),
        }
    }
}

/// A client, and the version of StableHLO that it reads.
fn open(at: At<'_>, around: &Surroundings) -> Result<(Client, String), Failure> {
    let (client, plugin) = client(at, around)?;
    Ok((client, version_text(plugin.stablehlo_version())))
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
        client: Option<&Client>,
    ) -> Result<(), Failure> {
        let Some(folder) = self.how.profile else {
            return self.walk(&backend);
        };
        let labels = self.labels();
        let profiled = Profiled::new(backend, &labels);
        let device = client.map(Client::start_profile).transpose();
        self.walk(&profiled)?;
        // Without it the rest is still there.
        let device = device.and_then(|profile| {
            let written = profile.flatten().map(|profile| profile.write(folder));
            written.transpose()
        });
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
            device: match device {
                Ok(Some(path)) => format!("{}, for TensorBoard or XProf", path.display()),
                Ok(None) => "the plugin offers no profile of its own".into(),
                Err(e) => format!("the plugin's own profile failed: {e}"),
            },
        };
        eprint!("{profile}");
        profile.write(folder)
    }

    fn labels(&self) -> Vec<Label> {
        let programs = self.plan.programs.iter();
        programs
            .map(|func| Label {
                name: func.name.clone(),
                place: place_in(func).map_or(String::new(), |s| place_of(self.sources, s)),
                lines: self.lines(func),
            })
            .collect()
    }

    /// Lines of the source with the part of a program's time that the cost model gives them.
    fn lines(&self, func: &Func) -> Vec<(String, f64)> {
        let mut lines: Vec<(String, f64)> = Vec::new();
        for (span, part) in lines::by_place(func, self.costs) {
            let place = place_of(self.sources, span);
            match lines.iter_mut().find(|(p, _)| *p == place) {
                Some(line) => line.1 += part,
                None => lines.push((place, part)),
            }
        }
        lines
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
                    Checkpoints::open(options, self.plan, self.on_interrupt(), silent)?;
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

    /// The first signal that asks the run to stop, or 0; the second ends the process at once.
    fn on_interrupt(&self) -> Arc<AtomicUsize> {
        let (asked, which) = (Arc::new(AtomicBool::new(false)), Arc::default());
        for signal in [SIGINT, SIGTERM] {
            // Where signals cannot be caught they end the process, and its last checkpoint stays.
            let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked));
            let _ = register(signal, Arc::clone(&asked));
            let _ = register_usize(signal, Arc::clone(&which), signal as usize);
        }
        // Most programs end sooner than anybody wonders. Without the thread it is only not said.
        let note = self.progress.note();
        let _ = thread::Builder::new().spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                thread::sleep(PATIENCE);
            }
            thread::sleep(PATIENCE);
            note("the run ends when the program that the device is running does; interrupt it again to end at once");
        });
        which
    }

    /// The failure with its place; where memory is lacking, with what takes the most of it.
    fn located(&self, failure: Failure, span: Span) -> Failure {
        let Failure::Device {
            code,
            program,
            message,
            help,
        } = failure
        else {
            return located(failure, span, self.sources);
        };
        let named = |f: &Func| f.name == program;
        let program = self.plan.programs.iter().position(named);
        // Where it is compiled no step is there to say where it stands.
        let own = program.and_then(|p| place_in(&self.plan.programs[p]));
        let span = match span == Span::default() {
            true => own.unwrap_or_default(),
            false => span,
        };
        let no_memory =
            |more: String, help| Failure::runtime("E0732", message.clone() + &more, help);
        let failure = match program {
            Some(p) if code == "E0732" => no_memory(self.largest(p), help),
            // Kernels that ask for memory themselves may fail without saying that there was none.
            Some(p) => match self.too_large(p) {
                Some(more) => no_memory(more, Some(MEMORY_HELP.into())),
                None => Failure::runtime(code, message, help),
            },
            None => Failure::runtime(code, message, help),
        };
        located(failure, span, self.sources)
    }

    /// A value of a program that is larger than the device, if there is one.
    fn too_large(&self, program: usize) -> Option<String> {
        let (client, _) = self.target.client(self.around).ok()??;
        let devices = self.plan.mesh.iter().map(|(_, size)| size).product();
        let limit = client.memory_limit(devices)?;
        let func = &self.plan.programs[program];
        let bytes = |v: Value| func.ty(v).bytes() as u64;
        let values = (0..func.value_count() as u32).map(Value);
        let values = values.filter(|&v| bytes(v) > limit);
        let largest = values.max_by_key(|&v| bytes(v))?;
        Some(format!(
            "\nthe device has {}, and {} takes {}: {}",
            show_bytes(limit),
            func.ty(largest),
            show_bytes(bytes(largest)),
            place_of(self.sources, func.span(largest))
        ))
    }

    /// The largest buffers of a program; nothing where the plugin does not tell.
    fn largest(&self, program: usize) -> String {
        let found = self.holdings(program).into_iter().flatten();
        let lines = found.map(|h| format!("\n  {}", text::holding(&h)));
        let lines: Vec<String> = lines.collect();
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

/// Where a program begins in the source.
fn place_in(func: &Func) -> Option<Span> {
    let first = func.body.insts.first().and_then(|i| i.results.first());
    first.map(|&v| func.span(v))
}

/// The results of a backend's only program, on the host.
fn once<B: Backend>(backend: &B, inputs: &[&B::Buffer]) -> Result<Vec<HostArray>, Failure> {
    let inputs = inputs.iter().map(|&buffer| Input::Keep(buffer)).collect();
    let outputs = backend.run(0, inputs)?;
    outputs.iter().map(|buffer| backend.fetch(buffer)).collect()
}

/// A client of the device asked for, and its plugin.
pub fn client(at: At<'_>, around: &Surroundings) -> Result<(Client, Plugin), Failure> {
    let device = Device::choose(at.device, around)?;
    let options = ClientOptions {
        cpu_devices: device.cpu_devices(),
        member: at.member.cloned(),
    };
    let plugin = Plugin::open(&device, around)?;
    Ok((Client::new(&plugin, options)?, plugin))
}

/// The newest StableHLO that both the plugin and we know.
pub fn version_text(plugin: Option<[i64; 3]>) -> String {
    let [a, b, c] = plugin.unwrap_or([1, 0, 0]);
    format!("{a}.{b}.{c}")
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
