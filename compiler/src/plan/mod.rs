//! `main` split at its effects: what the host does step by step, and the programs the device runs between.
//!
//! Every stretch of instructions between two effects, effect-free loops included, is one [`Func`]: its live-in values
//! are inputs, its live-outs outputs. A loop or branch with an effect inside is walked by the host. Values that cross
//! from one step to another live in slots.

mod layout;
mod liveness;
mod narrow;
mod split;
mod unslice;

pub use layout::Layout;
pub use split::split;

use crate::ir::op::{Effect, HostSource};
use crate::ir::{Func, Literal, Type, Value};
use layout::Layouts;
use tpuc_lang::span::Span;

/// Where a value that crosses steps is kept: index into [`Plan::slots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// What the host does for one `main` or test.
#[derive(Clone, Debug)]
pub struct Plan {
    pub programs: Vec<Func>,
    /// Types of the slots.
    pub slots: Vec<Type>,
    /// How the values of the slots lie on the mesh, where there is one.
    pub layouts: Vec<Layout>,
    /// Names and sizes of the axes of the device mesh, the slowest first; empty: one device.
    pub mesh: Vec<(String, usize)>,
    pub steps: Vec<Step>,
}

/// How the inputs and outputs of a program lie on the mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramLayouts {
    pub inputs: Vec<Layout>,
    pub outputs: Vec<Layout>,
}

impl Plan {
    /// A plan of programs that no step runs: they are only looked at.
    pub fn of_programs(programs: Vec<Func>) -> Plan {
        Plan {
            programs,
            slots: Vec::new(),
            layouts: Vec::new(),
            mesh: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The programs that no loop of the host runs.
    pub fn outside_loops(&self) -> Vec<usize> {
        let mut found = Vec::new();
        outside_loops(&self.steps, &mut found);
        found
    }

    /// For each program, the layouts of its slots; of one that no step runs, what it says itself.
    pub fn program_layouts(&self) -> Vec<ProgramLayouts> {
        let mut found: Vec<Option<ProgramLayouts>> = vec![None; self.programs.len()];
        let of = |slots: &[Slot]| {
            let layouts = slots.iter().map(|s| self.layouts[s.0 as usize].clone());
            layouts.collect::<Vec<_>>()
        };
        walk(&self.steps, &mut |step| {
            if let StepKind::Run {
                program,
                inputs,
                outputs,
            } = &step.kind
            {
                found[*program] = Some(ProgramLayouts {
                    inputs: of(inputs),
                    outputs: of(outputs),
                });
            }
        });
        let own = |func: &Func| {
            let layouts = Layouts::of(func);
            let of = |values: &[Value]| values.iter().map(|&v| layouts.get(v)).collect();
            ProgramLayouts {
                inputs: of(&func.body.params),
                outputs: of(&func.body.results),
            }
        };
        let programs = self.programs.iter().zip(found);
        programs
            .map(|(func, l)| l.unwrap_or_else(|| own(func)))
            .collect()
    }
}

fn outside_loops(steps: &[Step], found: &mut Vec<usize>) {
    for step in steps {
        match &step.kind {
            StepKind::Run { program, .. } => found.push(*program),
            StepKind::If {
                then, otherwise, ..
            } => {
                outside_loops(then, found);
                outside_loops(otherwise, found);
            }
            _ => {}
        }
    }
}

/// Every step, those inside others included, each before those inside it.
pub fn walk<'p>(steps: &'p [Step], visit: &mut dyn FnMut(&'p Step)) {
    for step in steps {
        visit(step);
        match &step.kind {
            StepKind::For { body, .. } => walk(body, visit),
            StepKind::While { cond, body, .. } => {
                walk(cond, visit);
                walk(body, visit);
            }
            StepKind::If {
                then, otherwise, ..
            } => {
                walk(then, visit);
                walk(otherwise, visit);
            }
            StepKind::Run { .. }
            | StepKind::Constant { .. }
            | StepKind::Host { .. }
            | StepKind::Effect { .. } => {}
        }
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Span,
    /// Slots that nothing reads after this step (nor in the next iteration): freed, or donated to it.
    pub last_use: Vec<Slot>,
}

#[derive(Clone, Debug)]
pub enum StepKind {
    /// Runs a program on the device.
    Run {
        program: usize,
        inputs: Vec<Slot>,
        outputs: Vec<Slot>,
    },
    /// A constant that an effect or the host's control flow needs.
    Constant {
        value: Literal,
        output: Slot,
    },
    /// Data from the outside.
    Host {
        source: HostSource,
        inputs: Vec<Slot>,
        outputs: Vec<Slot>,
    },
    Effect {
        effect: Effect,
        inputs: Vec<Slot>,
    },
    /// Counted loop. `carried`: (initial value, slot in the body, value at the end of the body, result).
    For {
        index: Slot,
        length: usize,
        carried: Vec<Carried>,
        body: Vec<Step>,
    },
    While {
        cond: Vec<Step>,
        go: Slot,
        carried: Vec<Carried>,
        body: Vec<Step>,
    },
    /// `results`: (slot, its value in the first branch, in the second).
    If {
        pred: Slot,
        then: Vec<Step>,
        otherwise: Vec<Step>,
        results: Vec<(Slot, Slot, Slot)>,
    },
}

/// A variable of a loop that the host walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    pub init: Slot,
    /// Holds the value during an iteration.
    pub current: Slot,
    /// Holds it at the end of one; moved to `current` for the next.
    pub next: Slot,
    /// Holds it after the loop.
    pub result: Slot,
    /// Whether `next` is made in the body, so that it is given up when it has moved on.
    pub next_is_own: bool,
    /// Whether nothing reads `init` once the loop has begun, so that it is given up then.
    pub takes_init: bool,
}

/// Which inputs of a program may give their memory to which outputs: for each input in `candidates`, the first
/// output of equal type and layout that no other input has taken.
pub fn donations(
    func: &Func,
    layouts: &ProgramLayouts,
    candidates: &[usize],
) -> Vec<(usize, usize)> {
    let outputs = func.output_types();
    let inputs = func.input_types();
    let mut taken = vec![false; outputs.len()];
    let mut pairs = Vec::new();
    for &i in candidates {
        let free = (0..outputs.len()).find(|&o| {
            !taken[o] && outputs[o] == inputs[i] && layouts.outputs[o] == layouts.inputs[i]
        });
        if let Some(o) = free {
            taken[o] = true;
            pairs.push((i, o));
        }
    }
    pairs
}
