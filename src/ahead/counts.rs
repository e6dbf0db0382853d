//! How often the host runs each program of a plan.

use tpuc_compiler::plan::{Plan, Step, StepKind};
use tpuc_lang::span::Span;

/// How often something runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub times: u64,
    /// Whether it may be more: a `while` counts one turn.
    pub at_least: bool,
}

/// How often each program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    pub programs: Vec<Count>,
}

/// The loop of `main` that the host walks, with what it runs in one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outer {
    pub span: Span,
    pub length: usize,
    pub turn: Counts,
}

/// In one run of `main`.
pub fn of_run(plan: &Plan) -> Counts {
    of_steps(&plan.steps, plan.programs.len())
}

/// Of functions that are looked at without a `main`.
pub fn once_each(plan: &Plan) -> Counts {
    let once = Count {
        times: 1,
        at_least: false,
    };
    Counts {
        programs: vec![once; plan.programs.len()],
    }
}

/// The outermost loops that the host walks.
pub fn outer_loops(plan: &Plan) -> Vec<Outer> {
    let loops = plan.steps.iter().filter_map(|step| match &step.kind {
        StepKind::For { length, body, .. } => Some(Outer {
            span: step.span,
            length: *length,
            turn: of_steps(body, plan.programs.len()),
        }),
        StepKind::Run { .. }
        | StepKind::Constant { .. }
        | StepKind::Host { .. }
        | StepKind::Effect { .. }
        | StepKind::While { .. }
        | StepKind::If { .. } => None,
    });
    loops.collect()
}

fn of_steps(steps: &[Step], programs: usize) -> Counts {
    let never = Count {
        times: 0,
        at_least: false,
    };
    let mut counts = Counts {
        programs: vec![never; programs],
    };
    let once = Count {
        times: 1,
        at_least: false,
    };
    add(steps, once, &mut counts);
    counts
}

fn add(steps: &[Step], around: Count, counts: &mut Counts) {
    for step in steps {
        match &step.kind {
            StepKind::Run { program, .. } => {
                let count = &mut counts.programs[*program];
                count.times = count.times.saturating_add(around.times);
                count.at_least |= around.at_least;
            }
            StepKind::For { length, body, .. } => {
                let times = around.times.saturating_mul(*length as u64);
                add(body, Count { times, ..around }, counts);
            }
            StepKind::While { cond, body, .. } => {
                let open = Count {
                    at_least: true,
                    ..around
                };
                add(cond, open, counts);
                add(body, open, counts);
            }
            // Either side may run; what is reckoned with is both.
            StepKind::If {
                then, otherwise, ..
            } => {
                add(then, around, counts);
                add(otherwise, around, counts);
            }
            StepKind::Constant { .. } | StepKind::Host { .. } | StepKind::Effect { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tpuc_compiler::plan::Slot;

    fn step(kind: StepKind) -> Step {
        Step {
            kind,
            span: Span::default(),
            last_use: Vec::new(),
        }
    }

    fn run(program: usize) -> Step {
        step(StepKind::Run {
            program,
            inputs: Vec::new(),
            outputs: Vec::new(),
        })
    }

    fn repeat(length: usize, body: Vec<Step>) -> Step {
        step(StepKind::For {
            index: Slot(0),
            length,
            carried: Vec::new(),
            body,
        })
    }

    #[test]
    fn loops_multiply_and_whiles_are_open() {
        let wait = step(StepKind::While {
            cond: vec![run(2)],
            go: Slot(0),
            carried: Vec::new(),
            body: Vec::new(),
        });
        let steps = vec![
            run(0),
            repeat(5, vec![run(1), repeat(3, vec![run(1)]), wait]),
        ];
        let plan = Plan {
            steps,
            ..Plan::of_programs(vec![tpuc_compiler::ir::Func::new("f"); 3])
        };
        let counts: Vec<(u64, bool)> = of_run(&plan)
            .programs
            .iter()
            .map(|c| (c.times, c.at_least))
            .collect();
        assert_eq!(counts, [(1, false), (20, false), (5, true)]);
        let outer = &outer_loops(&plan)[0];
        assert_eq!((outer.length, outer.turn.programs[1].times), (5, 4));
    }
}
