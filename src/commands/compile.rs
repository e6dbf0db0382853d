//! `tpuc compile`: a program for devices that are not here, and what can be said of it.

use super::fmt::write;
use crate::ahead::analyse::{self, Context, details};
use crate::ahead::chip::{self, Chip};
use crate::ahead::counts::{self, Counts};
use crate::ahead::html;
use crate::ahead::report::{Epoch, Outcome, Program, Report, Run, Target};
use crate::cli::CompileArgs;
use crate::costs;
use crate::execute::mesh;
use crate::failure::Failure;
use crate::parallel;
use crate::pipeline;
use crate::program_file::{self, place_of};
use crate::progress::Progress;
use crate::target::version_text;
use tpuc_compiler::plan::Plan;
use tpuc_lang::source::Sources;
use tpuc_runtime::client::{CompileOptions, Compiled, Topology};
use tpuc_runtime::error::ProgramError;
use tpuc_runtime::plugin::{Device, Plugin};
use tpuc_runtime::prebuilt::Prebuilt;
use tpuc_runtime::{Error, Surroundings, save};

pub fn compile(args: &CompileArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let progress = Progress::new();
    let (mut program, sources) = program_file::load(&args.file, &args.program, &around)?;
    let device = match &args.plugin {
        Some(name) => Device::parse(name)?,
        None => Device::Tpu,
    };
    if let Some(path) = &args.html {
        save::check_writable(path)?;
    }
    if let Some(folder) = &args.output {
        save::writable_folder(folder)?;
    }
    let plugin = Plugin::open(&device, &around)?;
    let topology = Topology::open(&plugin, &args.target)?;
    mesh::settle(&mut program, topology.device_count(), false)?;
    let plan = plan(args, &program, &sources)?;
    progress.doing("compiling");
    let report = report(args, &plan, &sources, &plugin, &topology)?;
    progress.done();
    if let Some(path) = &args.html {
        write(path, &html::page(&report))?;
    }
    match args.json {
        true => println!(
            "{:#}",
            serde_json::to_value(&report).map_err(pipeline::internal)?
        ),
        false => print!("{report}"),
    }
    let mut misfits = report.programs.iter();
    match misfits.find(|p| matches!(p.outcome, Outcome::DoesNotFit { .. })) {
        None => Ok(()),
        Some(program) => Err(Failure::runtime(
            "E0732",
            format!("`{}` does not fit on {}", program.name, args.target),
            Some(
                "use a smaller batch, a narrower type, `checkpoint`, or more chips with a mesh"
                    .into(),
            ),
        )),
    }
}

/// The programs of `main`, or the functions asked for, optimised for the chips.
fn plan(
    args: &CompileArgs,
    program: &tpuc_lang::typed::Program,
    sources: &Sources,
) -> Result<Plan, Failure> {
    let cost = costs::of_target(&args.target);
    let (axes, level) = (mesh::axes(program), args.program.opt);
    if args.functions.is_empty() {
        let (script, _) = pipeline::main_script(program, sources)?;
        return Ok(pipeline::plan(&script, axes, level, cost, None));
    }
    let mut funcs = Vec::new();
    for name in &args.functions {
        funcs.push(pipeline::function(program, name, sources)?);
    }
    let mut plan = Plan {
        mesh: axes,
        ..Plan::of_programs(funcs)
    };
    pipeline::optimise(&mut plan, level, cost, None);
    Ok(plan)
}

fn report(
    args: &CompileArgs,
    plan: &Plan,
    sources: &Sources,
    plugin: &Plugin,
    topology: &Topology,
) -> Result<Report, Failure> {
    let prebuilt = args.output.as_deref().map(Prebuilt::at);
    let chip = chip::of_target(&args.target);
    let counts = match args.functions.is_empty() {
        true => counts::of_run(plan),
        false => counts::once_each(plan),
    };
    let used: usize = plan.mesh.iter().map(|(_, size)| size).product();
    let version = version_text(plugin.stablehlo_version());
    let mut lowered = Vec::new();
    for (func, module, signature) in pipeline::modules(plan, sources, &[])? {
        let code = module.to_program(&version).map_err(pipeline::internal)?;
        lowered.push((func, code, signature));
    }
    let programs = parallel::map(lowered, |(func, code, signature)| {
        let compiled = topology.compile(&func.name, &code, &signature, &CompileOptions::default());
        let context = Context {
            func,
            sources,
            chip,
            chips: used,
        };
        if let (Ok(compiled), Some(folder)) = (&compiled, &prebuilt) {
            folder.put(&func.name, &code, &compiled.bytes)?;
        }
        outcome(compiled, &context)
    });
    let mut reported = Vec::new();
    for ((outcome, func), count) in programs
        .into_iter()
        .zip(&plan.programs)
        .zip(&counts.programs)
    {
        let first = func.body.insts.first();
        reported.push(Program {
            name: func.name.clone(),
            place: first.map(|inst| place_of(sources, func.span(inst.results[0]))),
            runs: count.times,
            runs_at_least: count.at_least,
            outcome: outcome?,
        });
    }
    let programs = reported;
    let run = chip.and_then(|chip| run(args, plan, sources, &programs, &counts, chip, topology));
    Ok(Report {
        file: args.file.display().to_string(),
        target: Target {
            name: args.target.clone(),
            kind: topology.device().kind.clone(),
            chips: topology.device_count(),
            chips_used: used,
            memory: topology.device().memory,
            rates: chip::of_target(&args.target).map(|c| c.cost.source.to_owned()),
        },
        programs,
        run,
    })
}

fn outcome(compiled: Result<Compiled, Error>, context: &Context<'_>) -> Result<Outcome, Failure> {
    match compiled {
        Ok(compiled) => match details(&compiled, context) {
            Some(details) => Ok(Outcome::Fits(Box::new(details))),
            None => Err(Failure::from(Error::Program(ProgramError::DumpMissing {
                program: context.func.name.clone(),
            }))),
        },
        Err(Error::Program(ProgramError::OutOfMemory { message, .. })) => Ok(Outcome::DoesNotFit {
            message,
            largest: analyse::arguments(context),
        }),
        Err(other) => Err(other.into()),
    }
}

/// A run and its price; `None` where a program does not fit.
fn run(
    args: &CompileArgs,
    plan: &Plan,
    sources: &Sources,
    programs: &[Program],
    counts: &Counts,
    chip: &Chip,
    topology: &Topology,
) -> Option<Run> {
    let times: Option<Vec<f64>> = programs
        .iter()
        .map(|p| match &p.outcome {
            Outcome::Fits(details) => details.time.as_ref().map(|t| t.seconds),
            Outcome::DoesNotFit { .. } => None,
        })
        .collect();
    let times = times?;
    // Not `sum`, which is -0 of nothing.
    let seconds = |counts: &Counts| {
        let all = times.iter().zip(&counts.programs);
        all.fold(0.0, |sum, (t, count)| sum + t * count.times as f64)
    };
    let price = args.price.unwrap_or(chip.price);
    let dollars = |seconds: f64| seconds / 3600.0 * price * topology.device_count() as f64;
    let open = programs.iter().any(|p| match &p.outcome {
        Outcome::Fits(details) => details.work.loops_of_unknown_count > 0,
        Outcome::DoesNotFit { .. } => false,
    });
    let epochs = counts::outer_loops(plan).into_iter().map(|outer| {
        let one = seconds(&outer.turn);
        Epoch {
            place: place_of(sources, outer.span),
            count: outer.length,
            seconds: one,
            dollars: dollars(one),
        }
    });
    let all = seconds(counts);
    Some(Run {
        seconds: all,
        at_least: open || counts.programs.iter().any(|c| c.at_least),
        dollars: dollars(all),
        price_per_chip_hour: price,
        price_source: match args.price {
            Some(_) => "as given".to_owned(),
            None => chip::PRICES.to_owned(),
        },
        epochs: epochs.collect(),
    })
}
