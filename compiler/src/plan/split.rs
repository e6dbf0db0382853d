//! Splitting the IR of `main` into steps.

use super::layout::{Layout, Layouts};
use super::narrow::narrow;
use super::unslice::unslice;
use super::{Carried, Plan, Slot, Step, StepKind, liveness};
use crate::ir::op::{Here, HostSource};
use crate::ir::{Builder, Func, Inst, Literal, Op, Region, Type, Value};
use std::collections::{HashMap, HashSet};
use tpuc_lang::span::Span;

/// The plan of a function whose effects are in place.
///
/// Constants never cross steps: each program makes its own.
pub fn split(script: &Func) -> Plan {
    let main = &narrow(&unslice(script));
    let mut s = Splitter {
        main,
        constants: HashMap::new(),
        slots: HashMap::new(),
        types: Vec::new(),
        of_values: Layouts::of(main),
        layouts: Vec::new(),
        programs: Vec::new(),
        uses: use_sites(main),
    };
    s.collect_constants(&main.body);
    let mut steps = s.region(&main.body);
    liveness::mark(&mut steps, &HashSet::new());
    Plan {
        programs: s.programs,
        slots: s.types,
        layouts: s.layouts,
        mesh: Vec::new(),
        steps,
    }
}

struct Splitter<'f> {
    main: &'f Func,
    constants: HashMap<Value, &'f Literal>,
    slots: HashMap<Value, Slot>,
    types: Vec<Type>,
    of_values: Layouts,
    layouts: Vec<Layout>,
    programs: Vec<Func>,
    /// For each value, the top-level instructions of walked regions that use it, by the address of the instruction.
    uses: HashMap<Value, Vec<*const Inst>>,
}

impl<'f> Splitter<'f> {
    fn collect_constants(&mut self, region: &'f Region) {
        region.walk(&mut |inst| {
            if let Op::Constant(literal) = &inst.op {
                self.constants.insert(inst.results[0], literal);
            }
        });
    }

    fn region(&mut self, region: &'f Region) -> Vec<Step> {
        let mut steps = Vec::new();
        // Sources without operands come first: they need not cut a stretch in two.
        for inst in &region.insts {
            if let Op::Host(source) = &inst.op
                && !is_placed(source)
            {
                let used: Vec<bool> = inst.results.iter().map(|v| self.is_used(v)).collect();
                if !used.contains(&true) {
                    continue;
                }
                let results = inst.results.iter().zip(&used).filter(|(_, used)| **used);
                let outputs = results.map(|(&v, _)| self.slot(v)).collect();
                let kind = StepKind::Host {
                    source: only(source, &used),
                    inputs: Vec::new(),
                    outputs,
                };
                steps.push(self.step(kind, inst));
            }
        }
        let mut stretch: Vec<&'f Inst> = Vec::new();
        for inst in &region.insts {
            match &inst.op {
                Op::Host(source) if is_placed(source) => {
                    self.flush(&mut stretch, region, &mut steps);
                    let inputs = self.read_all(&inst.args, &mut steps, inst);
                    let outputs = inst.results.iter().map(|&v| self.slot(v)).collect();
                    let kind = StepKind::Host {
                        source: source.clone(),
                        inputs,
                        outputs,
                    };
                    steps.push(self.step(kind, inst));
                }
                Op::Host(_) | Op::Constant(_) => {}
                Op::Effect(effect, _) => {
                    self.flush(&mut stretch, region, &mut steps);
                    let inputs = self.read_all(&inst.args, &mut steps, inst);
                    let kind = StepKind::Effect {
                        effect: effect.clone(),
                        inputs,
                    };
                    steps.push(self.step(kind, inst));
                }
                Op::Scan { .. } | Op::While | Op::If if has_effect(inst) => {
                    self.flush(&mut stretch, region, &mut steps);
                    self.control(inst, &mut steps);
                }
                _ => stretch.push(inst),
            }
        }
        self.flush(&mut stretch, region, &mut steps);
        steps
    }

    fn is_used(&self, v: &Value) -> bool {
        self.uses.contains_key(v) || self.main.body.results.contains(v)
    }

    /// A loop or branch that the host walks.
    fn control(&mut self, inst: &'f Inst, steps: &mut Vec<Step>) {
        let kind = match &inst.op {
            Op::Scan { length, carry, .. } => {
                let body = &inst.regions[0];
                let inits = self.read_all(&inst.args[..*carry], steps, inst);
                let index = self.slot(body.params[0]);
                let inner = self.region(body);
                let (carried, inner) = self.carried(inst, &inits, &body.params[1..], body, inner);
                StepKind::For {
                    index,
                    length: *length,
                    carried,
                    body: inner,
                }
            }
            Op::While => {
                let (cond, body) = (&inst.regions[0], &inst.regions[1]);
                let inits = self.read_all(&inst.args, steps, inst);
                // Both regions read the carried values: the condition's parameters are the body's.
                for (c, b) in cond.params.iter().zip(&body.params) {
                    let slot = self.slot(*b);
                    self.slots.insert(*c, slot);
                }
                let mut test = self.region(cond);
                let go = self.read_all(&cond.results, &mut test, inst)[0];
                let inner = self.region(body);
                let (carried, inner) = self.carried(inst, &inits, &body.params, body, inner);
                StepKind::While {
                    cond: test,
                    go,
                    carried,
                    body: inner,
                }
            }
            _ => {
                let pred = self.read_all(&inst.args, steps, inst)[0];
                let mut branches = Vec::new();
                let mut values = Vec::new();
                for region in &inst.regions {
                    let mut inner = self.region(region);
                    values.push(self.read_all(&region.results, &mut inner, inst));
                    branches.push(inner);
                }
                let results = inst
                    .results
                    .iter()
                    .enumerate()
                    .map(|(i, &v)| (self.slot(v), values[0][i], values[1][i]))
                    .collect();
                let otherwise = branches.pop().unwrap_or_default();
                let then = branches.pop().unwrap_or_default();
                StepKind::If {
                    pred,
                    then,
                    otherwise,
                    results,
                }
            }
        };
        steps.push(self.step(kind, inst));
    }

    fn carried(
        &mut self,
        inst: &Inst,
        inits: &[Slot],
        params: &[Value],
        body: &Region,
        mut inner: Vec<Step>,
    ) -> (Vec<Carried>, Vec<Step>) {
        let next = self.read_all(&body.results, &mut inner, inst);
        let made = liveness::written(&inner);
        let carried = inits
            .iter()
            .enumerate()
            .map(|(i, &init)| Carried {
                init,
                current: self.slot(params[i]),
                next: next[i],
                result: self.slot(inst.results[i]),
                next_is_own: made.contains(&next[i]),
                takes_init: false,
            })
            .collect();
        (carried, inner)
    }

    /// Slots of values; a constant gets a step that makes it.
    fn read_all(&mut self, values: &[Value], steps: &mut Vec<Step>, inst: &Inst) -> Vec<Slot> {
        values
            .iter()
            .map(|v| match self.constants.get(v) {
                Some(&literal) => {
                    let output = self.fresh(literal.ty().clone(), self.of_values.get(*v));
                    let kind = StepKind::Constant {
                        value: literal.clone(),
                        output,
                    };
                    steps.push(self.step(kind, inst));
                    output
                }
                None => self.slot(*v),
            })
            .collect()
    }

    /// Makes one program of the instructions gathered.
    fn flush(&mut self, stretch: &mut Vec<&'f Inst>, region: &Region, steps: &mut Vec<Step>) {
        let insts = std::mem::take(stretch);
        let inside: HashSet<*const Inst> = insts.iter().map(|&i| std::ptr::from_ref(i)).collect();
        let escapes = |v: &Value| {
            region.results.contains(v)
                || self
                    .uses
                    .get(v)
                    .is_some_and(|u| u.iter().any(|i| !inside.contains(i)))
        };
        let outputs: Vec<Value> = insts
            .iter()
            .flat_map(|i| &i.results)
            .filter(|v| escapes(v))
            .copied()
            .collect();
        let Some(last) = insts.last() else { return };
        if outputs.is_empty() {
            return;
        }
        let span = last
            .results
            .first()
            .map_or(Span::default(), |&v| self.main.span(v));
        let body = Region {
            params: Vec::new(),
            insts: insts.iter().map(|&i| i.clone()).collect(),
            results: outputs,
        };
        let inputs: Vec<Value> = body
            .captures()
            .into_iter()
            .filter(|v| !self.constants.contains_key(v))
            .collect();
        let func = self.program(&body, &inputs);
        let program = self.programs.len();
        self.programs.push(func);
        let inputs = inputs.iter().map(|&v| self.slot(v)).collect();
        let outputs = body.results.iter().map(|&v| self.slot(v)).collect();
        steps.push(Step {
            kind: StepKind::Run {
                program,
                inputs,
                outputs,
            },
            span,
            last_use: Vec::new(),
        });
    }

    fn program(&self, body: &Region, inputs: &[Value]) -> Func {
        let mut b = Builder::new(format!("{}_{}", self.main.name, self.programs.len()));
        let mut map = HashMap::new();
        for &v in inputs {
            b.span = self.main.span(v);
            let p = b.param(self.main.ty(v).clone());
            map.insert(v, p);
        }
        for v in body.captures() {
            if let Some(&literal) = self.constants.get(&v) {
                b.span = self.main.span(v);
                let c = b.op(Op::Constant(literal.clone()), &[]);
                map.insert(v, c);
            }
        }
        b.inline_insts(self.main, &body.insts, &mut map);
        let results = body.results.iter().map(|v| map[v]).collect();
        b.finish(results)
    }

    fn slot(&mut self, v: Value) -> Slot {
        if let Some(&slot) = self.slots.get(&v) {
            return slot;
        }
        let slot = self.fresh(self.main.ty(v).clone(), self.of_values.get(v));
        self.slots.insert(v, slot);
        slot
    }

    fn fresh(&mut self, ty: Type, layout: Layout) -> Slot {
        self.types.push(ty);
        self.layouts.push(layout);
        Slot(self.types.len() as u32 - 1)
    }

    fn step(&self, kind: StepKind, inst: &Inst) -> Step {
        let near = inst.results.first().or(inst.args.first());
        let span = match inst.op {
            Op::Effect(_, Here(span)) if span != Span::default() => span,
            _ => near.map_or(Span::default(), |&v| self.main.span(v)),
        };
        Step {
            kind,
            span,
            last_use: Vec::new(),
        }
    }
}

/// A source of data with only those of its fields that are used: nothing else need be read.
fn only(source: &HostSource, used: &[bool]) -> HostSource {
    let pick = |fields: &[(String, Type)]| {
        let fields = fields.iter().zip(used);
        let fields = fields.filter(|(_, used)| **used);
        fields.map(|(field, _)| field.clone()).collect()
    };
    match source {
        HostSource::Dataset { name, fields } => HostSource::Dataset {
            name: name.clone(),
            fields: pick(fields),
        },
        HostSource::Load { path, fields } => HostSource::Load {
            path: path.clone(),
            fields: pick(fields),
        },
        other => other.clone(),
    }
}

/// Whether a source keeps its place among the other steps.
fn is_placed(source: &HostSource) -> bool {
    matches!(source, HostSource::Time | HostSource::Batches { .. })
}

/// Whether something in its regions reaches outside.
pub(super) fn has_effect(inst: &Inst) -> bool {
    inst.any_within(&|op| matches!(op, Op::Effect(..) | Op::Host(_)))
}

/// For each value, the instructions that use it, directly or in a nested region that stays whole.
fn use_sites(main: &Func) -> HashMap<Value, Vec<*const Inst>> {
    fn region(r: &Region, uses: &mut HashMap<Value, Vec<*const Inst>>) {
        for inst in &r.insts {
            let site = std::ptr::from_ref(inst);
            let mut note = |v: Value| uses.entry(v).or_default().push(site);
            inst.args.iter().for_each(|&v| note(v));
            if has_effect(inst) {
                for nested in &inst.regions {
                    // A value that leaves a walked region is read by the host.
                    nested.results.iter().for_each(|&v| note(v));
                }
                inst.regions.iter().for_each(|nested| region(nested, uses));
            } else {
                inst.regions
                    .iter()
                    .flat_map(Region::captures)
                    .for_each(note);
            }
        }
    }
    let mut uses = HashMap::new();
    region(&main.body, &mut uses);
    uses
}

#[cfg(test)]
mod tests {
    use super::super::{Slot, StepKind};
    use super::*;
    use crate::ir::parse::parse;

    #[test]
    fn fields_that_nothing_uses_are_not_read() {
        let main = "func main() -> () {
          %a, %b, %c = load[path = \"d.npz\", fields = [\"a\", \"b\", \"c\"]] : f32[2], f32[3], f32[4]
          %d = load[path = \"e.npy\", fields = [\"\"]] : f32[2]
          %n = constant 1 : i32
          print[pieces = [_]] %b
          %v = scan[length = 3, carry = 1] %n : i32 body(%i: i32, %k: i32) {
            print[pieces = [_]] %c
            yield %k
          }
          return
        }";
        let plan = split(&parse(main).expect("parses"));
        let read: Vec<(&HostSource, &[Slot])> = plan
            .steps
            .iter()
            .filter_map(|step| match &step.kind {
                StepKind::Host {
                    source, outputs, ..
                } => Some((source, outputs.as_slice())),
                _ => None,
            })
            .collect();
        let [(HostSource::Load { fields, .. }, outputs)] = read[..] else {
            panic!("one load is left: {read:?}");
        };
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(outputs.len(), 2);
    }
}
