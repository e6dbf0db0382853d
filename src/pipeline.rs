//! The pipeline: checked program → IR → plan → optimised programs → StableHLO. Each step is one call.

use crate::execute::device::{Lowered, plan_donations, signature};
use crate::failure::Failure;
use crate::program_file::report;
use std::path::Path;
use std::time::Instant;
use tpuc_compiler::ir::{Func, Op};
use tpuc_compiler::lower::{self, Mesh, Module};
use tpuc_compiler::opt::cost::device::{CPU, DeviceCost};
use tpuc_compiler::opt::{self, Level};
use tpuc_compiler::passes::{self, Pass, Stage};
use tpuc_compiler::plan::{Plan, split};
use tpuc_compiler::specialise::{self, Instance};
use tpuc_lang::check::near::near;
use tpuc_lang::diag::Diagnostic;
use tpuc_lang::source::Sources;
use tpuc_lang::span::FileId;
use tpuc_lang::typed::{Body, FnDef, FnId, Program};
use tpuc_runtime::client::Signature;

/// `main` or a test, with its effects in place and all transforms applied.
pub fn script(
    program: &Program,
    name: &str,
    body: &Body,
) -> Result<(Func, Vec<Instance>), Box<Diagnostic>> {
    let (func, instances) = specialise::script(program, name, body)?;
    Ok((passes::run(Stage::AfterDerivatives, &func), instances))
}

/// What the host does, with each program optimised.
pub fn plan(
    script: &Func,
    mesh: Vec<(String, usize)>,
    level: u8,
    device: &DeviceCost,
    explain: Option<&Sources>,
) -> Plan {
    let mut plan = Plan {
        mesh,
        ..split(script)
    };
    optimise(&mut plan, level, device, explain);
    plan
}

/// What a program goes through on its way to a device.
#[derive(Clone, Copy, PartialEq)]
enum Leg {
    Passes(Stage),
    EGraph,
}

/// The way of each program of a plan, in order.
fn routes(plan: &Plan, level: u8, device: &DeviceCost) -> Vec<Vec<Leg>> {
    let on_cpu = level > 0 && device.name == CPU.name;
    let on_one_cpu = on_cpu && plan.mesh.is_empty();
    let once = plan.outside_loops();
    let route = |program: usize| {
        let repeated = !once.contains(&program) || has_loop(&plan.programs[program]);
        let legs = [
            (level > 0, Leg::Passes(Stage::BeforeOptimiser)),
            (
                on_one_cpu && once.contains(&program),
                Leg::Passes(Stage::OnceOnCpu),
            ),
            (true, Leg::EGraph),
            (true, Leg::Passes(Stage::ForXla)),
            (on_cpu, Leg::Passes(Stage::ForCpu)),
            (on_one_cpu, Leg::Passes(Stage::ForOneCpu)),
            (on_one_cpu && repeated, Leg::Passes(Stage::Repeated)),
        ];
        legs.into_iter()
            .filter_map(|(taken, leg)| taken.then_some(leg))
    };
    (0..plan.programs.len())
        .map(|program| route(program).collect())
        .collect()
}

fn has_loop(func: &Func) -> bool {
    let is_loop = |op: &Op| matches!(op, Op::Scan { .. } | Op::While);
    func.body.insts.iter().any(|inst| inst.any(&is_loop))
}

impl Leg {
    fn take(self, func: &Func, level: u8, device: &DeviceCost, explain: Option<&Sources>) -> Func {
        match (self, explain) {
            (Leg::Passes(stage), _) => passes::run(stage, func),
            (Leg::EGraph, Some(sources)) => explained(func, level, device, sources),
            (Leg::EGraph, None) => opt::optimise(func, named_level(level), device).0,
        }
    }
}

/// Each program through the e-graph, with the costs of the device, then what the device's compiler needs. With sources,
/// what the e-graph did is said on the error stream.
pub fn optimise(plan: &mut Plan, level: u8, device: &DeviceCost, explain: Option<&Sources>) {
    let routes = routes(plan, level, device);
    for (func, route) in plan.programs.iter_mut().zip(routes) {
        for leg in route {
            *func = leg.take(func, level, device, explain);
        }
    }
}

/// As [`optimise`], but each program as the pass `last` leaves it, those only that come by it.
pub fn optimise_to(last: &Pass, plan: &Plan, level: u8, device: &DeviceCost) -> Vec<Func> {
    let programs = plan.programs.iter().zip(routes(plan, level, device));
    let to_pass = |(func, route): (&Func, Vec<Leg>)| {
        let at = route
            .iter()
            .position(|&leg| leg == Leg::Passes(last.stage))?;
        let before = route[..at].iter();
        let func = before.fold(func.clone(), |f, leg| leg.take(&f, level, device, None));
        Some(passes::run_to(last, &func))
    };
    programs.filter_map(to_pass).collect()
}

fn named_level(level: u8) -> Level {
    match level {
        0 => Level::None,
        1 => Level::Default,
        _ => Level::Aggressive,
    }
}

fn explained(func: &Func, level: u8, device: &DeviceCost, sources: &Sources) -> Func {
    let start = Instant::now();
    let (out, report) = opt::optimise_explained(func, named_level(level), device);
    let time = start.elapsed().as_secs_f64() * 1e3;
    eprint!("{}: {time:.1} ms\n{report}", func.name);
    for change in &report.changes {
        let source = sources.get(change.span.file);
        let (line, column) = sources.line_col(change.span);
        let text = source
            .text
            .get(change.span.start as usize..change.span.end as usize);
        let text = text.and_then(|t| t.lines().next()).unwrap_or_default();
        let why = match change.rules.is_empty() {
            true => "the same value".to_string(),
            false => format!("by {}", change.rules.join(", ")),
        };
        let name = &source.name;
        eprintln!("  {name}:{line}:{column} `{text}`");
        eprintln!("    {} → {}, {why}", change.was, change.is);
    }
    out
}

/// StableHLO for the device, one module for each program of the plan.
pub fn lower(plan: &Plan, sources: &Sources, version: &str) -> Result<Vec<Lowered>, Failure> {
    let file = Path::new(&sources.get(FileId(0)).name);
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let mut programs = Vec::new();
    for (func, module, signature) in modules(plan, sources, &[])? {
        programs.push(Lowered {
            name: func.name.clone(),
            label: format!("{} {}", file.display(), func.name),
            code: module.to_program(version).map_err(internal)?,
            signature,
        });
    }
    Ok(programs)
}

/// The module and the signature of each program of a plan. `names`: of the inputs, for whoever reads the text of a plan
/// of one function.
pub fn modules<'p>(
    plan: &'p Plan,
    sources: &Sources,
    names: &[String],
) -> Result<Vec<(&'p Func, Module, Signature)>, Failure> {
    let layouts = plan.program_layouts();
    let donations = plan_donations(plan, &layouts);
    let programs = plan.programs.iter().zip(&layouts).zip(&donations);
    programs
        .map(|((func, layouts), donate)| {
            let mesh = (!plan.mesh.is_empty()).then_some(Mesh {
                axes: &plan.mesh,
                inputs: &layouts.inputs,
                outputs: &layouts.outputs,
            });
            let options = lower::Options {
                sources: Some(sources),
                input_names: names,
                mesh,
                donate,
            };
            let module = lower::module(&[func], options).map_err(internal)?;
            let signature = signature(func, donate, &plan.mesh, layouts);
            Ok((func, module, signature))
        })
        .collect()
}

/// What the verifier refuses is a bug of the compiler: the program has been checked.
pub fn internal(e: impl std::fmt::Display) -> Failure {
    Failure::runtime("E0900", format!("this is a bug in tpuc: {e}"), None)
}

/// The IR of `main`, and the instances of functions it calls.
pub fn main_script(program: &Program, sources: &Sources) -> Result<(Func, Vec<Instance>), Failure> {
    let (func, instances) = bare_main(program, sources)?;
    Ok((passes::run(Stage::AfterDerivatives, &func), instances))
}

/// As [`main_script`], with functions that have their own derivatives still marked as such.
pub fn bare_main(program: &Program, sources: &Sources) -> Result<(Func, Vec<Instance>), Failure> {
    match &program.main {
        Some(main) => specialise::script(program, "main", main).map_err(|d| report(*d, sources)),
        None => Err(Failure::Source {
            code: "E0601",
            message: "the program has no `main`".into(),
            help: "name a function without parameters to infer with `--fn`".into(),
        }),
    }
}

/// A function at the shapes of its first call from `main`, or as it is where nothing is to be inferred.
pub fn bare_function(program: &Program, name: &str, sources: &Sources) -> Result<Func, Failure> {
    let instance = instance(program, name, sources)?;
    let func = specialise::function(program, &instance).map_err(|d| report(*d, sources))?;
    match func {
        Some(func) => Ok(passes::silent(&func)),
        None => Err(Failure::Usage(format!(
            "`{name}` takes a function, so it has no code of its own"
        ))),
    }
}

/// As [`bare_function`], ready for the optimiser: functions with their own derivatives are plain ones.
pub fn function(program: &Program, name: &str, sources: &Sources) -> Result<Func, Failure> {
    Ok(passes::run(
        Stage::AfterDerivatives,
        &bare_function(program, name, sources)?,
    ))
}

pub fn instance(program: &Program, name: &str, sources: &Sources) -> Result<Instance, Failure> {
    let full_name = |def: &FnDef| match def.module.is_empty() {
        true => def.name.to_string(),
        false => format!("{}.{}", def.module, def.name),
    };
    let names: Vec<String> = program.fns.iter().map(full_name).collect();
    let Some(at) = names.iter().position(|n| n == name) else {
        let near = near(name, names.iter().map(String::as_str));
        return Err(Failure::Usage(format!(
            "the program has no function `{name}`{}",
            meant(near)
        )));
    };
    let id = FnId(at as u32);
    if program.fns[id.0 as usize].generics.is_empty() {
        return Ok(Instance {
            id,
            generics: Vec::new(),
        });
    }
    let met = if program.main.is_some() {
        main_script(program, sources)?.1
    } else {
        Vec::new()
    };
    met.into_iter().find(|i| i.id == id).ok_or_else(|| {
        Failure::Usage(format!(
            "`{name}` has parameters to infer, and `main` does not call it: its sizes are unknown"
        ))
    })
}

/// The end of a message about a name that is not known, where one is near.
pub fn meant(near: Option<String>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// For each input of [`function`], the parameter it belongs to, with the path of its leaf.
pub fn input_names(
    program: &Program,
    name: &str,
    sources: &Sources,
) -> Result<Vec<String>, Failure> {
    let instance = instance(program, name, sources)?;
    specialise::input_names(program, &instance).map_err(|d| report(*d, sources))
}
