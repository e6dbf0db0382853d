//! `tpuc diff`: what differs between two programs, or one program at two settings, once they are optimised.

use crate::cli::{DiffArgs, ProgramArgs};
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file;
use std::path::Path;
use tpuc_compiler::ir::Func;
use tpuc_compiler::opt::cost::{self, device::CPU};
use tpuc_compiler::opt::diff::{self, Diff};
use tpuc_compiler::plan::{Plan, split};
use tpuc_runtime::Surroundings;

/// Exit code 1 if there is a difference, as for `diff`.
pub fn diff(args: &DiffArgs) -> Result<(), Failure> {
    if args.new.is_none() && args.old_opt.is_none() && args.old_set.is_empty() {
        return Err(Failure::Usage(
            "nothing to compare with: name a second program, or give --old-opt or --old-set".into(),
        ));
    }
    let new_path = args.new.as_deref().unwrap_or(&args.old);
    let mut before = args.program.clone();
    before.set.extend(args.old_set.iter().cloned());
    before.opt = args.old_opt.unwrap_or(before.opt);
    let function = args.function.as_deref();
    let old = programs(&args.old, &before, function)?;
    let new = programs(new_path, &args.program, function)?;
    let mut text = format!(
        "--- {}\n+++ {}\n",
        title(&args.old, &before),
        title(new_path, &args.program)
    );
    let mut differs = false;
    for i in 0..old.len().max(new.len()) {
        let (name, found) = match (old.get(i), new.get(i)) {
            (Some(a), Some(b)) => (format!("{}: {}", b.name, costs(a, b)), diff::diff(a, b)),
            (Some(a), None) => (a.name.clone(), diff::one_sided(a, '-')),
            (None, Some(b)) => (b.name.clone(), diff::one_sided(b, '+')),
            (None, None) => continue,
        };
        if !found.is_empty() {
            differs = true;
            text += &format!("@@ {name}; {}\n{}", counts(&found), found.text);
        }
    }
    if !differs {
        return Ok(());
    }
    print!("{text}");
    Err(Failure::Program)
}

fn programs(path: &Path, args: &ProgramArgs, function: Option<&str>) -> Result<Vec<Func>, Failure> {
    let around = Surroundings::of_process();
    let (program, sources) = program_file::load(path, args, &around)?;
    let funcs = match function {
        Some(name) => vec![pipeline::function(&program, name, &sources)?],
        None => split(&pipeline::main_script(&program, &sources)?.0).programs,
    };
    let mut plan = Plan::of_programs(funcs);
    pipeline::optimise(&mut plan, args.opt, &CPU, None);
    Ok(plan.programs)
}

fn title(path: &Path, args: &ProgramArgs) -> String {
    let mut text = format!("{} --opt {}", path.display(), args.opt);
    for (name, value) in &args.set {
        text += &format!(" --set {name}={value}");
    }
    text
}

/// By the optimiser's model of the CPU.
fn costs(old: &Func, new: &Func) -> String {
    let (a, b) = (cost::of_func(old, &CPU), cost::of_func(new, &CPU));
    let both = |a: u64, b: u64| match a == b {
        true => a.to_string(),
        false => format!("{a} → {b}"),
    };
    format!(
        "{} flops, {} bytes, {} kernels",
        both(a.flops, b.flops),
        both(a.bytes, b.bytes),
        both(a.kernels, b.kernels)
    )
}

fn counts(found: &Diff) -> String {
    format!(
        "{} values the same, {} changed, {} removed, {} added",
        found.same, found.changed, found.removed, found.added
    )
}
