//! `tpuc run`.

use crate::cli::RunArgs;
use crate::costs;
use crate::execute::{checkpoint, mesh};
use crate::failure::Failure;
use crate::hosts;
use crate::job::{How, Job, located};
use crate::pipeline;
use crate::program_file;
use crate::progress::Progress;
use crate::target::{At, Target};
use std::path::Path;
use tpuc_compiler::ir::op::Effect;
use tpuc_compiler::plan::{self, Step, StepKind};
use tpuc_lang::span::Span;
use tpuc_runtime::prebuilt::Prebuilt;
use tpuc_runtime::{Surroundings, save};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let progress = Progress::new();
    let (mut program, sources) = program_file::load(&args.file, &args.program, &around)?;
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

/// Finds out before the run whether the files it will save can be written.
fn check_paths(steps: &[Step]) -> Result<(), (Failure, Span)> {
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
