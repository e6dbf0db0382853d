//! `tpuc dump-hlo`: what a program becomes, at any stage; and comparing it with a stored dump.

use super::fmt::write;
use crate::cli::{DumpArgs, Stage};
use crate::costs;
use crate::execute::{device::compile_options, mesh};
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file;
use crate::target::{self, At};
use similar::TextDiff;
use std::fmt::Write;
use std::path::Path;
use tpuc_compiler::ir::Func;
use tpuc_compiler::opt::cost::device::DeviceCost;
use tpuc_compiler::opt::cost::groups;
use tpuc_compiler::passes::{self, Pass};
use tpuc_compiler::plan::Plan;
use tpuc_compiler::specialise;
use tpuc_lang::source::Sources;
use tpuc_lang::typed::Program;
use tpuc_lang::{dump, parser};
use tpuc_runtime::Surroundings;
use tpuc_runtime::client::Client;
use tpuc_runtime::hlo::{Collective, collectives};
use tpuc_runtime::plugin::Plugin;

pub fn dump(args: &DumpArgs) -> Result<(), Failure> {
    let text = text(args)?;
    if let Some(stored) = &args.check {
        return compare(stored, &text, args.update);
    }
    match &args.output {
        Some(path) => write(path, &text),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// Exit code 1 and a unified diff if the stored dump is another.
fn compare(stored: &Path, text: &str, update: bool) -> Result<(), Failure> {
    if update {
        return write(stored, text);
    }
    let old = program_file::read(stored)?;
    if old == text {
        return Ok(());
    }
    let name = stored.display().to_string();
    print!(
        "{}",
        TextDiff::from_lines(old.as_str(), text)
            .unified_diff()
            .header(&name, "emitted now")
    );
    Err(Failure::Program)
}

fn text(args: &DumpArgs) -> Result<String, Failure> {
    let around = Surroundings::of_process();
    if matches!(args.stage, Stage::Tokens | Stage::Ast) {
        return syntax(args);
    }
    let (mut program, sources) = program_file::load(&args.file, &args.program, &around)?;
    if args.stage == Stage::Typed {
        return Ok(dump::typed::program(&program, args.function.as_deref()));
    }
    if let Some(pass) = args.after {
        return after(pass, args, &program, &sources, &around);
    }
    match args.stage {
        // Where nothing is transformed, the function itself.
        Stage::Ir => match callees(args, &program, &sources)? {
            none if none.is_empty() => Ok(joined(&funcs(args, &program, &sources)?)),
            callees => Ok(joined(&callees)),
        },
        Stage::Grad => Ok(joined(&funcs(args, &program, &sources)?)),
        Stage::Opt => {
            let mut plan = plan(args, &program, &sources)?;
            let costs = optimise(args, &mut plan, &sources, &around)?;
            let fused = |f: &Func| format!("{f}{}", groups::text(f, costs));
            Ok(plan
                .programs
                .iter()
                .map(fused)
                .collect::<Vec<_>>()
                .join("\n"))
        }
        Stage::Stablehlo | Stage::Hlo | Stage::Tokens | Stage::Ast | Stage::Typed => {
            let device = match args.stage {
                Stage::Hlo => Some(target::client(At::device(args.device.as_deref()), &around)?),
                _ => None,
            };
            if let Some((client, _)) = &device {
                mesh::settle(&mut program, client.device_count(), false)?;
            }
            let mut plan = plan(args, &program, &sources)?;
            optimise(args, &mut plan, &sources, &around)?;
            let names = match &args.function {
                Some(name) => pipeline::input_names(&program, name, &sources)?,
                None => Vec::new(),
            };
            modules(args, &plan, &sources, &names, device)
        }
    }
}

fn syntax(args: &DumpArgs) -> Result<String, Failure> {
    let text = program_file::read(&args.file)?;
    if args.stage == Stage::Tokens {
        return Ok(dump::tokens(&text));
    }
    let mut sources = Sources::default();
    let file = sources.add(args.file.display().to_string(), text.clone());
    let parsed = parser::parse(file, &text);
    program_file::print_diagnostics(&parsed.diagnostics, &sources);
    if parsed.diagnostics.is_empty() {
        Ok(dump::ast(&parsed.module))
    } else {
        Err(Failure::Program)
    }
}

/// The functions as a pass leaves them.
fn after(
    pass: &Pass,
    args: &DumpArgs,
    program: &Program,
    sources: &Sources,
    around: &Surroundings,
) -> Result<String, Failure> {
    let to_pass = |funcs: Vec<Func>| funcs.iter().map(|f| passes::run_to(pass, f)).collect();
    let left: Vec<Func> = match pass.stage {
        passes::Stage::BeforeDerivatives => to_pass(callees(args, program, sources)?),
        passes::Stage::AfterDerivatives => to_pass(vec![match &args.function {
            Some(name) => pipeline::bare_function(program, name, sources)?,
            None => pipeline::bare_main(program, sources)?.0,
        }]),
        _ => {
            let costs = costs::chosen(args.device.as_deref(), around)?;
            let plan = plan(args, program, sources)?;
            pipeline::optimise_to(pass, &plan, args.program.opt, costs)
        }
    };
    match left.is_empty() {
        false => Ok(joined(&left)),
        true => Err(Failure::Usage(format!(
            "no program comes by the pass `{}` here: it depends on --opt and --device, and on how often a program runs",
            pass.name
        ))),
    }
}

fn joined(funcs: &[Func]) -> String {
    let texts: Vec<String> = funcs.iter().map(Func::to_string).collect();
    texts.join("\n")
}

/// The function asked for, or the script of `main`, with all transforms applied.
fn funcs(args: &DumpArgs, program: &Program, sources: &Sources) -> Result<Vec<Func>, Failure> {
    match &args.function {
        Some(name) => Ok(vec![pipeline::function(program, name, sources)?]),
        None => Ok(vec![pipeline::main_script(program, sources)?.0]),
    }
}

/// The functions that transforms are applied to, each once.
fn callees(args: &DumpArgs, program: &Program, sources: &Sources) -> Result<Vec<Func>, Failure> {
    let report = |d: Box<tpuc_lang::diag::Diagnostic>| program_file::report(*d, sources);
    match (&args.function, &program.main) {
        (Some(name), _) => {
            let instance = pipeline::instance(program, name, sources)?;
            specialise::function_callees(program, &instance).map_err(report)
        }
        (None, Some(main)) => specialise::script_callees(program, "main", main).map_err(report),
        (None, None) => Ok(Vec::new()),
    }
}

/// The programs of `main`, or the one of the function asked for; not optimised yet.
fn plan(args: &DumpArgs, program: &Program, sources: &Sources) -> Result<Plan, Failure> {
    let plan = match &args.function {
        Some(name) => Plan::of_programs(vec![pipeline::function(program, name, sources)?]),
        None => tpuc_compiler::plan::split(&pipeline::main_script(program, sources)?.0),
    };
    let mesh = match program.devices() {
        1 => Vec::new(),
        _ => mesh::axes(program),
    };
    Ok(Plan { mesh, ..plan })
}

/// Each program, optimised for the device; its costs.
fn optimise(
    args: &DumpArgs,
    plan: &mut Plan,
    sources: &Sources,
    around: &Surroundings,
) -> Result<&'static DeviceCost, Failure> {
    let explain = args.explain_opt.then_some(sources);
    let costs = costs::chosen(args.device.as_deref(), around)?;
    pipeline::optimise(plan, args.program.opt, costs, explain);
    Ok(costs)
}

fn modules(
    args: &DumpArgs,
    plan: &Plan,
    sources: &Sources,
    names: &[String],
    device: Option<(Client, Plugin)>,
) -> Result<String, Failure> {
    let mut texts = Vec::new();
    for (func, module, signature) in pipeline::modules(plan, sources, names)? {
        texts.push(match &device {
            None => module.to_text(args.locations),
            Some((client, plugin)) => {
                let version = target::version_text(plugin.stablehlo_version());
                let code = module.to_program(&version).map_err(pipeline::internal)?;
                let options = compile_options(client);
                let hlo = client.optimized_hlo(&func.name, &code, &signature, &options)?;
                match plan.mesh.is_empty() {
                    true => hlo,
                    false => format!("{}{hlo}", summary(&collectives(&hlo))),
                }
            }
        });
    }
    Ok(texts.join("\n"))
}

/// What passes between the devices, as comments of HLO.
fn summary(found: &[Collective]) -> String {
    if found.is_empty() {
        return "// collectives: none\n".into();
    }
    let mut text = String::new();
    for c in found {
        let _ = writeln!(
            text,
            "// collectives: {} × {}, {} bytes a device",
            c.count, c.kind, c.bytes
        );
    }
    text
}
