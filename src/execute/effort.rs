//! Which programs are worth the optimisation of the plugin's compiler.
//!
//! A program that draws initial values runs once, for a fraction of the time that it takes to optimise: kernels are generated for
//! each array that is drawn. So what runs once, without a loop and on little, is translated as it is.

use tpuc_compiler::ir::flops::func_work;
use tpuc_compiler::ir::{Func, Region};
use tpuc_compiler::plan::{Plan, StepKind, walk};

/// Flops and bytes, of primitives one by one, for each instruction. On a machine of two cores optimising an instruction of
/// `normal` takes as long as is lost by 25 million of them.
const LITTLE: u64 = 4_000_000;

/// For each program of the plan, whether it should be optimised.
pub fn worthwhile(plan: &Plan) -> Vec<bool> {
    let mut runs = vec![0; plan.programs.len()];
    walk(&plan.steps, &mut |step| {
        if let StepKind::Run { program, .. } = step.kind {
            runs[program] += 1;
        }
    });
    // What stands at the top is in no loop of the host.
    let mut once = vec![false; plan.programs.len()];
    for step in &plan.steps {
        if let StepKind::Run { program, .. } = step.kind {
            once[program] = runs[program] == 1;
        }
    }
    let programs = plan.programs.iter().zip(once);
    programs
        .map(|(func, once)| !once || !little(func))
        .collect()
}

fn little(func: &Func) -> bool {
    let work = func_work(func);
    let instructions = func.body.insts.len() as u64;
    straight(&func.body)
        && work.flops.saturating_add(work.bytes) <= LITTLE.saturating_mul(instructions)
}

fn straight(region: &Region) -> bool {
    region.insts.iter().all(|inst| inst.regions.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tpuc_compiler::ir::parse;
    use tpuc_compiler::plan::{Slot, Step};
    use tpuc_lang::span::Span;

    fn draw(size: usize) -> Func {
        let text = format!(
            "func draw(%x: f32[{size}]) -> (f32[{size}]) {{\n  %0 = exp %x : f32[{size}]\n  return %0\n}}\n"
        );
        parse::parse(&text).unwrap()
    }

    fn run(program: usize) -> StepKind {
        StepKind::Run {
            program,
            inputs: vec![],
            outputs: vec![],
        }
    }

    fn plan(programs: Vec<Func>, steps: Vec<StepKind>) -> Plan {
        Plan {
            steps: steps.into_iter().map(step).collect(),
            ..Plan::of_programs(programs)
        }
    }

    fn step(kind: StepKind) -> Step {
        Step {
            kind,
            span: Span::default(),
            last_use: vec![],
        }
    }

    #[test]
    fn what_runs_once_on_little_is_not_optimised() {
        assert_eq!(worthwhile(&plan(vec![draw(1000)], vec![run(0)])), [false]);
    }

    #[test]
    fn what_runs_again_or_on_much_is_optimised() {
        assert_eq!(
            worthwhile(&plan(vec![draw(1000)], vec![run(0), run(0)])),
            [true]
        );
        assert_eq!(
            worthwhile(&plan(vec![draw(10_000_000)], vec![run(0)])),
            [true]
        );
        let body = vec![step(run(0))];
        let turning = StepKind::For {
            index: Slot(0),
            length: 2,
            carried: vec![],
            body,
        };
        assert_eq!(worthwhile(&plan(vec![draw(1000)], vec![turning])), [true]);
    }

    #[test]
    fn loops_of_the_device_are_optimised() {
        let text = "func count(%n: i32) -> (i32) {
  %0 = while %n : i32 cond(%1: i32) {
    %2 = constant 9 : i32
    %3 = lt %1, %2 : bool
    yield %3
  } body(%4: i32) {
    %5 = add %4, %4 : i32
    yield %5
  }
  return %0
}
";
        let count = parse::parse(text).unwrap();
        assert_eq!(worthwhile(&plan(vec![count], vec![run(0)])), [true]);
    }
}
