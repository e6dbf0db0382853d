//! What runs, in order and how often: the instructions of a module that do work, loops unfolded by their counts.

use super::collectives::sent;
use super::fused::traffic;
use super::module::{Computation, Instruction, Module, Operand, Place};
use super::work::{Work, work};

/// An instruction that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    pub name: String,
    /// Such as `fusion` or `all-reduce`.
    pub op: String,
    pub place: Option<Place>,
    pub work: Work,
    /// Through the main memory.
    pub bytes: u64,
    /// Whether it goes on while others run: copies that are started and awaited later.
    pub overlapped: bool,
    /// What it sends between devices, by kind and bytes on one device.
    pub sent: Option<(&'static str, u64)>,
    /// The loop it is in, an index of [`Kernels::loops`].
    pub inside: Option<usize>,
}

/// A loop of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub place: Option<Place>,
    /// `None` where the text does not say; it counts as one.
    pub count: Option<u64>,
    /// The loop around it.
    pub inside: Option<usize>,
}

/// The kernels of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernels {
    pub kernels: Vec<Kernel>,
    pub loops: Vec<Loop>,
}

impl Kernels {
    /// How often what is in a loop runs in one run of the program.
    pub fn times(&self, inside: Option<usize>) -> f64 {
        let around = inside.map(|l| &self.loops[l]);
        around.map_or(1.0, |l| l.count.unwrap_or(1) as f64 * self.times(l.inside))
    }
}

/// The kernels of a program from its optimised module.
pub fn kernels(module: &Module) -> Kernels {
    let mut found = Kernels::default();
    walk(module, module.entry(), None, None, &mut found);
    found
}

/// Names that stand for no work of their own.
const FREE: [&str; 12] = [
    "add-dependency",
    "after-all",
    "bitcast",
    "constant",
    "domain",
    "get-tuple-element",
    "opt-barrier",
    "parameter",
    "partition-id",
    "replica-id",
    "tuple",
    "iota",
];

/// A computation that is called with the arguments of an instruction, for constants that come from outside.
#[derive(Clone, Copy)]
struct Caller<'m> {
    computation: &'m Computation,
    instruction: &'m Instruction,
}

fn walk<'m>(
    module: &'m Module,
    computation: &'m Computation,
    caller: Option<Caller<'m>>,
    inside: Option<usize>,
    found: &mut Kernels,
) {
    for instruction in &computation.instructions {
        let own = Some(Caller {
            computation,
            instruction,
        });
        match instruction.op.as_str() {
            "while" => {
                let number = found.loops.len();
                found.loops.push(Loop {
                    place: instruction.place(),
                    count: count(module, computation, instruction, caller),
                    inside,
                });
                if let Some(body) = module.called(instruction, "body") {
                    walk(module, body, own, Some(number), found);
                }
            }
            "conditional" => {
                let branches = module.branches(instruction);
                let all = branches.into_iter().map(|branch| {
                    let mut own = Kernels {
                        loops: found.loops.clone(),
                        ..Kernels::default()
                    };
                    walk(module, branch, None, inside, &mut own);
                    own
                });
                // One of them runs; the dearest is the one to reckon with.
                if let Some(dearest) = all.max_by(|a, b| dear(a).total_cmp(&dear(b))) {
                    found.loops = dearest.loops;
                    found.kernels.extend(dearest.kernels);
                }
            }
            "call" | "async-start" => {
                let called = ["to_apply", "calls"].into_iter();
                if let Some(c) = called.filter_map(|a| module.called(instruction, a)).next() {
                    walk(module, c, own, inside, found);
                }
            }
            name if FREE.contains(&name) || name.ends_with("-done") => {}
            _ => {
                let kernel = kernel(module, computation, instruction, inside);
                found.kernels.push(kernel);
            }
        }
    }
}

fn kernel(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
    inside: Option<usize>,
) -> Kernel {
    Kernel {
        name: instruction.name.clone(),
        op: instruction.op.clone(),
        place: instruction.place(),
        work: work(module, computation, instruction),
        bytes: traffic(module, computation, instruction),
        overlapped: instruction.op.ends_with("-start"),
        sent: sent(instruction),
        inside,
    }
}

/// Something to compare branches by.
fn dear(kernels: &Kernels) -> f64 {
    let all = kernels.kernels.iter();
    all.map(|k| kernels.times(k.inside) * (k.work.flops() + k.bytes as f64))
        .sum()
}

/// How often a loop runs: what the compiler noted, or else a counter from a constant to a constant.
fn count<'m>(
    module: &'m Module,
    computation: &'m Computation,
    instruction: &'m Instruction,
    caller: Option<Caller<'m>>,
) -> Option<u64> {
    let config = instruction.attribute("backend_config").unwrap_or("");
    if let Some((_, rest)) = config.split_once("\"known_trip_count\":{\"n\":\"") {
        return rest.split_once('"')?.0.parse().ok();
    }
    let condition = module.called(instruction, "condition")?;
    let root = condition.root()?;
    let inclusive = match root.attribute("direction")? {
        "LT" => 0,
        "LE" => 1,
        _ => return None,
    };
    let [counter, limit] = root.operands.as_slice() else {
        return None;
    };
    let position = element(condition, counter)?;
    let start = initial(computation, instruction, position, caller)?;
    let own = Some(Caller {
        computation,
        instruction,
    });
    let limit = constant(condition, limit, own)?;
    let body = module.called(instruction, "body")?;
    let step = step(module, body, position, own?)?;
    let turns = (limit + inclusive - start).max(0) as u64;
    Some(turns.div_ceil(u64::try_from(step).ok().filter(|&s| s > 0)?))
}

/// The position in the loop's tuple of a value that a computation reads of its parameter.
fn element(computation: &Computation, operand: &Operand) -> Option<usize> {
    let made = computation.find(&operand.name)?;
    match made.op.as_str() {
        "parameter" => operand.part,
        "get-tuple-element" => made.attribute("index")?.parse().ok(),
        "copy" | "bitcast" => element(computation, made.operands.first()?),
        _ => None,
    }
}

/// The constant at a position of the tuple that a loop starts with.
fn initial<'m>(
    computation: &'m Computation,
    instruction: &'m Instruction,
    position: usize,
    caller: Option<Caller<'m>>,
) -> Option<i64> {
    let tuple = computation.find(&instruction.operands.first()?.name)?;
    constant(computation, tuple.operands.get(position)?, caller)
}

/// The value of an integer that is a constant, here or where the computation is called.
fn constant<'m>(
    computation: &'m Computation,
    operand: &Operand,
    caller: Option<Caller<'m>>,
) -> Option<i64> {
    let made = computation.find(&operand.name)?;
    match made.op.as_str() {
        "constant" => made.inside.parse().ok(),
        "copy" | "bitcast" => constant(computation, made.operands.first()?, caller),
        "parameter" | "get-tuple-element" => {
            let position = element(computation, operand)?;
            let Caller {
                computation,
                instruction,
            } = caller?;
            initial(computation, instruction, position, None)
        }
        _ => None,
    }
}

/// By how much a loop's body moves its counter: the constant that is added to it, in a fusion perhaps.
fn step(module: &Module, body: &Computation, position: usize, own: Caller<'_>) -> Option<i64> {
    let root = body.root().filter(|r| r.op == "tuple")?;
    let mut next = body.find(&root.operands.get(position)?.name)?;
    while matches!(next.op.as_str(), "copy" | "bitcast") {
        next = body.find(&next.operands.first()?.name)?;
    }
    let counter = |o: &Operand| element(body, o) == Some(position);
    let fixed = |o: &Operand| (!counter(o)).then(|| constant(body, o, Some(own)))?;
    match next.op.as_str() {
        "add" => next.operands.iter().find_map(fixed),
        "fusion" => {
            let fused = module.called(next, "calls")?;
            let sum = fused.root().filter(|r| r.op == "add")?;
            sum.operands.iter().find_map(|o| {
                let made = fused.find(&o.name)?;
                match made.op.as_str() {
                    "constant" => made.inside.parse().ok(),
                    "parameter" => fixed(next.operands.get(made.inside.parse::<usize>().ok()?)?),
                    _ => None,
                }
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of which the counter goes from 0 below 468 by a step that comes from outside, over a product.
    const LOOP: &str = "HloModule m\n\n\
        %cond (t: (s32[], f32[128,128], s32[])) -> pred[] {\n\
        \x20 %limit = s32[] constant(468)\n\
        \x20 %t = (s32[], f32[128,128]{1,0}, s32[]) parameter(0)\n\
        \x20 ROOT %less = pred[] compare(%t#0, %limit), direction=LT\n\
        }\n\n\
        %body (u: (s32[], f32[128,128], s32[])) -> (s32[], f32[128,128], s32[]) {\n\
        \x20 %u = (s32[], f32[128,128]{1,0}, s32[]) parameter(0)\n\
        \x20 %next = s32[] add(%u#0, %u#2)\n\
        \x20 %p = f32[128,128]{1,0} convolution(%u#1, %u#1), dim_labels=bf_io->bf, metadata={source_file=\"a.tl\" source_line=4}\n\
        \x20 ROOT %r = (s32[], f32[128,128]{1,0}, s32[]) tuple(%next, %p, %u#2)\n\
        }\n\n\
        ENTRY %main (x: f32[128,128]) -> f32[128,128] {\n\
        \x20 %x = f32[128,128]{1,0} parameter(0)\n\
        \x20 %zero = s32[] constant(0)\n\
        \x20 %two = s32[] constant(2)\n\
        \x20 %init = (s32[], f32[128,128]{1,0}, s32[]) tuple(%zero, %x, %two)\n\
        \x20 %w = (s32[], f32[128,128]{1,0}, s32[]) while(%init), condition=%cond, body=%body\n\
        \x20 ROOT %n = f32[128,128]{1,0} negate(%w#1)\n\
        }\n";

    #[test]
    fn loops_are_unfolded_by_their_counts() {
        let found = kernels(&Module::parse(LOOP).unwrap());
        assert_eq!(found.loops[0].count, Some(234));
        let times: Vec<(&str, f64)> = found
            .kernels
            .iter()
            .map(|k| (k.name.as_str(), found.times(k.inside)))
            .collect();
        assert_eq!(times, [("next", 234.0), ("p", 234.0), ("n", 1.0)]);
        let product = &found.kernels[1];
        assert_eq!(product.work.flops(), 2.0 * 128.0 * 128.0 * 128.0);
        assert_eq!(product.bytes, 3 * 128 * 128 * 4);
        assert_eq!(product.place.as_ref().map(|p| p.line), Some(4));
    }

    #[test]
    fn what_the_compiler_noted_comes_first() {
        let noted = "body=%body, backend_config={\"known_trip_count\":{\"n\":\"7\"}}";
        let found = kernels(&Module::parse(&LOOP.replace("body=%body", noted)).unwrap());
        assert_eq!(found.loops[0].count, Some(7));
    }

    #[test]
    fn a_loop_without_a_known_count_counts_once() {
        let text = LOOP.replace("constant(0)", "constant({...})");
        let found = kernels(&Module::parse(&text).unwrap());
        assert_eq!(found.loops[0].count, None);
        assert_eq!(found.times(Some(0)), 1.0);
    }

    #[test]
    fn of_branches_the_dearest_counts() {
        let text = "%a (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4]{0} parameter(0)\n}\n\
            %b (q: f32[4]) -> f32[4] {\n  %q = f32[4]{0} parameter(0)\n  ROOT %s = f32[4]{0} sine(%q)\n}\n\
            ENTRY %m (x: f32[4], c: pred[]) -> f32[4] {\n  %x = f32[4]{0} parameter(0)\n  %c = pred[] parameter(1)\n\
            \x20 ROOT %r = f32[4]{0} conditional(%c, %x, %x), branch_computations={%a, %b}\n}\n";
        let found = kernels(&Module::parse(text).unwrap());
        let names: Vec<&str> = found.kernels.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(names, ["s"]);
    }
}
