//! `tpuc run`.

use crate::cli::{BackendName, RunArgs};
use crate::execute::device::DeviceBackend;
use crate::execute::interpreter::InterpreterBackend;
use crate::execute::{Backend, Executor};
use crate::failure::Failure;
use crate::pipeline;
use crate::progress::Progress;
use std::path::Path;
use tpuc_compiler::ir::op::Effect;
use tpuc_compiler::plan::{Plan, Step, StepKind};
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_runtime::cache::Cache;
use tpuc_runtime::client::{Client, ClientOptions};
use tpuc_runtime::plugin::{Device, Plugin};
use tpuc_runtime::{Surroundings, save};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let progress = Progress::new();
    let (program, sources) = pipeline::load(&args.file, &args.program, &around)?;
    let Some(main) = &program.main else {
        return Err(Failure::Source {
            code: "E0601",
            message: format!("`{}` has no `main`", args.file.display()),
            help: "add `main { … }`; `tpuc test` runs the `test` blocks of a file".into(),
        });
    };
    let (script, _) =
        pipeline::script(&program, "main", main).map_err(|d| pipeline::report(*d, &sources))?;
    let plan = pipeline::plan(&script, args.program.opt, args.explain_opt);
    check_paths(&plan.steps).map_err(|(e, span)| located(e, span, &sources))?;
    execute(
        &plan,
        &sources,
        args.backend,
        args.device.as_deref(),
        !args.no_cache,
        &around,
        &progress,
    )
}

/// Runs a plan on the backend asked for; `cached`: compiled programs may come from the disk, and go there.
pub fn execute(
    plan: &Plan,
    sources: &Sources,
    backend: BackendName,
    device: Option<&str>,
    cached: bool,
    around: &Surroundings,
    progress: &Progress,
) -> Result<(), Failure> {
    match backend {
        BackendName::Interp => walk(
            &InterpreterBackend::new(&plan.programs),
            plan,
            sources,
            around,
            progress,
        ),
        BackendName::Pjrt => {
            let client = client(device, around)?;
            let version = client.1.stablehlo_version();
            progress.doing("compiling");
            let programs = pipeline::lower(plan, sources, &version_text(version))?;
            let cache = if cached { Cache::of(around) } else { None };
            let backend = DeviceBackend::new(client.0, programs, cache.as_ref())?;
            walk(&backend, plan, sources, around, progress)
        }
    }
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

fn walk<B: Backend>(
    backend: &B,
    plan: &Plan,
    sources: &Sources,
    around: &Surroundings,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    progress.doing("running");
    let result = Executor::new(backend, plan, around, &mut out, progress).run();
    progress.done();
    result.map_err(|(e, span)| located(e, span, sources))
}

/// The failure with the source line it belongs to.
pub fn located(failure: Failure, span: Span, sources: &Sources) -> Failure {
    match failure {
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
    for step in steps {
        match &step.kind {
            StepKind::Effect {
                effect: Effect::Save { path, .. },
                ..
            } => {
                save::check_writable(Path::new(path)).map_err(|e| (e.into(), step.span))?;
            }
            StepKind::For { body, .. } => check_paths(body)?,
            StepKind::While { cond, body, .. } => {
                check_paths(cond)?;
                check_paths(body)?;
            }
            StepKind::If {
                then, otherwise, ..
            } => {
                check_paths(then)?;
                check_paths(otherwise)?;
            }
            StepKind::Run { .. }
            | StepKind::Constant { .. }
            | StepKind::Host { .. }
            | StepKind::Effect { .. } => {}
        }
    }
    Ok(())
}
