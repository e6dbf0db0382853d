//! `tpuc grad-check`: a function's derivative against finite differences, in f64 in the reference interpreter.

mod check;
mod numbers;

use crate::cli::GradCheckArgs;
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file;
use check::{Check, Checked, Trouble};
use tpuc_compiler::passes::{self, Stage};
use tpuc_lang::source::Sources;
use tpuc_runtime::Surroundings;

pub fn grad_check(args: &GradCheckArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let (program, sources) = program_file::load(&args.file, &args.program, &around)?;
    let func = pipeline::bare_function(&program, &args.function, &sources)?;
    let func = passes::run(Stage::BeforeDerivatives, &func);
    let names = pipeline::input_names(&program, &args.function, &sources)?;
    if names.is_empty() {
        return Err(Failure::Usage(format!(
            "`{}` takes nothing, so there is no derivative to check",
            args.function
        )));
    }
    let failure = |trouble| failure(trouble, &args.function, &sources);
    let check = Check::new(&func, args.seed).map_err(failure)?;
    let mut all_hold = true;
    for (i, ty) in func.input_types().iter().enumerate() {
        if !ty.elem.is_float() {
            println!("{}: {ty} has no derivative", names[i]);
            continue;
        }
        let checked = check.input(i).map_err(failure)?;
        all_hold &= checked.holds();
        let span = func.span(func.body.params[i]);
        let (line, _) = sources.line_col(span);
        println!(
            "{}: {ty}  {} ({}:{line})",
            names[i],
            said(&checked, &ty.shape),
            sources.get(span.file).name
        );
    }
    if all_hold {
        Ok(())
    } else {
        Err(Failure::Program)
    }
}

/// What was found of one input.
fn said(checked: &Checked, shape: &[usize]) -> String {
    let left_out = match checked.rough {
        0 => String::new(),
        n => format!(
            "; {n} of {} left out, at a jump or a kink",
            checked.elements
        ),
    };
    match &checked.worst {
        Some(worst) => format!(
            "{}  worst at {:?}: derivative {:e}, differences {:e}{left_out}",
            if checked.holds() { "ok" } else { "WRONG" },
            position(worst.element, shape),
            worst.derivative,
            worst.difference,
        ),
        None if checked.elements == 0 => "ok  of nothing".to_string(),
        None => "NO VERDICT  every element lies at a jump, a kink or the edge of what is finite"
            .to_string(),
    }
}

fn failure(trouble: Trouble, function: &str, sources: &Sources) -> Failure {
    match trouble {
        Trouble::Refused(d) => program_file::report(*d, sources),
        Trouble::Interpreter(message) => Failure::runtime("E0793", message, None),
        Trouble::NotFinite => Failure::Usage(format!(
            "`{function}` is not finite at the random inputs, numbers between -1.5 and 1.5, so there is nothing to compare\n  \
             = help: check a function that makes valid arguments of any numbers: `exp(x)` is positive, `a @ transpose(a) + eye(N)` positive definite"
        )),
    }
}

/// Row-major position as one index a dimension.
fn position(mut element: usize, shape: &[usize]) -> Vec<usize> {
    let mut out: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let at = element % n;
            element /= n;
            at
        })
        .collect();
    out.reverse();
    out
}
