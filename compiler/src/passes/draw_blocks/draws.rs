//! The random arrays of a function: from the generator to the first value that all of the rest is made from.

use crate::ir::flops::{ELEMENTARY, own_work};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::Op;
use crate::ir::types::Elem;
use crate::passes::copy::is_elementwise;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A random array: numbers of a key, drawn at the positions `0..count`.
pub struct Draw {
    pub key: [Word; 2],
    pub count: usize,
    /// How a number is made of the two words of the generator; draws in one loop have it in common.
    pub recipe: Vec<Step>,
    /// The scalars that it needs besides.
    pub scalars: Vec<Value>,
    /// The array, which is what the last step of the recipe makes.
    pub end: Value,
    /// The instructions that it takes the place of; the first is the generator.
    pub insts: BTreeSet<usize>,
}

/// A word of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Known(u64),
    /// A scalar.
    Made(Value),
}

/// An elementwise instruction, apart from shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub op: Op,
    pub args: Vec<Operand>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The words of the generator, then the results of the steps, counted from 0.
    Drawn(usize),
    /// The same number everywhere.
    Splat(Elem, u64),
    /// A scalar of the draw, everywhere.
    Scalar(usize),
}

/// What defines and what uses the values of a function's body.
pub struct Flow<'f> {
    pub func: &'f Func,
    pub defs: HashMap<Value, usize>,
    /// What each instruction uses, in its regions too.
    pub uses: Vec<Vec<Value>>,
    users: HashMap<Value, Vec<usize>>,
    results: HashSet<Value>,
}

impl<'f> Flow<'f> {
    pub fn of(func: &'f Func) -> Flow<'f> {
        let mut defs = HashMap::new();
        let mut users: HashMap<Value, Vec<usize>> = HashMap::new();
        let uses: Vec<Vec<Value>> = func.body.insts.iter().map(Inst::uses).collect();
        for (i, inst) in func.body.insts.iter().enumerate() {
            for &v in &uses[i] {
                users.entry(v).or_default().push(i);
            }
            defs.extend(inst.results.iter().map(|&v| (v, i)));
        }
        Flow {
            func,
            defs,
            uses,
            users,
            results: func.body.results.iter().copied().collect(),
        }
    }

    /// The instruction that makes a value; none for a parameter.
    fn def(&self, v: Value) -> Option<&'f Inst> {
        self.defs.get(&v).map(|&i| &self.func.body.insts[i])
    }

    fn users(&self, v: Value) -> &[usize] {
        self.users.get(&v).map_or(&[], Vec::as_slice)
    }

    /// The draw that begins at an instruction, if one does.
    pub fn draw(&self, at: usize) -> Option<Draw> {
        let generator = &self.func.body.insts[at];
        if generator.op != Op::Threefry || !self.counts(&generator.args[2..]) {
            return None;
        }
        let key = [self.word(generator.args[0])?, self.word(generator.args[1])?];
        let reach = self.reach(at);
        let dear = |&&i: &&usize| is_dear(self.func, &self.func.body.insts[i]);
        let last_dear = reach.iter().rev().find(dear);
        let insts = last_dear
            .into_iter()
            .chain(&reach)
            .find_map(|&end| self.closed(at, end, &reach))?;
        let end = self.func.body.insts[*insts.last()?].results[0];
        let (recipe, scalars) = self.recipe(&insts)?;
        Some(Draw {
            key,
            count: self.func.ty(end).numel(),
            recipe,
            scalars,
            end,
            insts,
        })
    }

    /// Whether these are the words of the row-major position of each element, the high one 0.
    fn counts(&self, words: &[Value]) -> bool {
        let through_reshapes = |mut v: Value| {
            while let Some(inst) = self.def(v)
                && matches!(inst.op, Op::Reshape { .. })
            {
                v = inst.args[0];
            }
            v
        };
        let low = self.def(through_reshapes(words[1])).map(|inst| &inst.op);
        matches!(low, Some(Op::Iota { ty, .. }) if ty.rank() == 1)
            && self.splat(through_reshapes(words[0])) == Some(0)
    }

    fn splat(&self, v: Value) -> Option<u64> {
        match &self.def(v)?.op {
            Op::Constant(literal) => literal.splat(),
            _ => None,
        }
    }

    /// The scalar that a value holds everywhere.
    fn scalar(&self, v: Value) -> Option<Value> {
        let inst = self.def(v)?;
        let spreads = matches!(inst.op, Op::Broadcast { .. });
        (spreads && self.func.ty(inst.args[0]).rank() == 0).then(|| inst.args[0])
    }

    fn word(&self, v: Value) -> Option<Word> {
        let known = self.splat(v).map(Word::Known);
        known.or_else(|| self.scalar(v).map(Word::Made))
    }

    /// The instructions that go element by element from the generator on, and need nothing but scalars besides.
    fn reach(&self, generator: usize) -> BTreeSet<usize> {
        let insts = &self.func.body.insts;
        let mut drawn: HashSet<Value> = insts[generator].results.iter().copied().collect();
        let mut reach = BTreeSet::new();
        let mut waiting: BTreeSet<usize> =
            drawn.iter().flat_map(|&v| self.users(v)).copied().collect();
        // Users come after what they use, so that in this order all operands that can be drawn are known.
        while let Some(i) = waiting.pop_first() {
            let inst = &insts[i];
            let known = |v: &Value| drawn.contains(v) || self.word(*v).is_some();
            if is_elementwise(inst) && inst.args.iter().all(known) {
                reach.insert(i);
                drawn.insert(inst.results[0]);
                waiting.extend(self.users(inst.results[0]));
            }
        }
        reach
    }

    /// What the instruction `end` of a reach is made by, the generator first, if only `end` is used by others.
    fn closed(
        &self,
        generator: usize,
        end: usize,
        reach: &BTreeSet<usize>,
    ) -> Option<BTreeSet<usize>> {
        let insts = &self.func.body.insts;
        let mut needed = BTreeSet::from([end]);
        let mut waiting = vec![end];
        while let Some(i) = waiting.pop() {
            let defs = insts[i].args.iter().filter_map(|v| self.defs.get(v));
            for &def in defs.filter(|&&def| def == generator || reach.contains(&def)) {
                if needed.insert(def) && def != generator {
                    waiting.push(def);
                }
            }
        }
        let inside = |&i: &usize| {
            let kept = |v: &Value| {
                !self.results.contains(v) && self.users(*v).iter().all(|u| needed.contains(u))
            };
            i == end || insts[i].results.iter().all(kept)
        };
        needed.iter().all(inside).then_some(needed)
    }

    fn recipe(&self, insts: &BTreeSet<usize>) -> Option<(Vec<Step>, Vec<Value>)> {
        let all = &self.func.body.insts;
        let mut insts = insts.iter().map(|&i| &all[i]);
        let generator = insts.next()?;
        let places = 0..generator.results.len();
        let mut places: HashMap<Value, usize> =
            generator.results.iter().copied().zip(places).collect();
        let mut scalars = Vec::new();
        let mut steps = Vec::new();
        for inst in insts {
            let operand = |&v: &Value| match places.get(&v) {
                Some(&place) => Some(Operand::Drawn(place)),
                None => Some(match self.word(v)? {
                    Word::Known(bits) => Operand::Splat(self.func.ty(v).elem, bits),
                    Word::Made(scalar) => Operand::Scalar(place_of(&mut scalars, scalar)),
                }),
            };
            let args = inst.args.iter().map(operand).collect::<Option<Vec<_>>>()?;
            places.insert(inst.results[0], places.len());
            steps.push(Step {
                op: inst.op.clone(),
                args,
            });
        }
        Some((steps, scalars))
    }
}

fn place_of(values: &mut Vec<Value>, value: Value) -> usize {
    let known = values.iter().position(|&v| v == value);
    known.unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    })
}

/// Whether an instruction computes a transcendental function.
fn is_dear(func: &Func, inst: &Inst) -> bool {
    let count = func.ty(inst.results[0]).numel() as u64;
    own_work(inst, |v| func.ty(v)).flops >= ELEMENTARY * count
}
