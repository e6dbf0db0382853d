//! A few values more, threaded through a program and all its loops and branches: what has been found so far.

use super::flags::Known;
use super::{Site, computes};
use crate::ir::{BinaryOp, CompareOp, Elem, Func, Inst, Literal, Op, Region, Type, UnaryOp, Value};
use crate::passes::copy::{Copier, Plain, Rewrite};

/// What the threaded values are.
#[derive(Clone, Copy)]
pub enum Goal {
    /// The number of the first site that made something.
    Find,
    /// Of the site with this number: whether it made something yet, and what it read and made then.
    Look(usize),
}

pub struct Thread {
    goal: Goal,
    pub sites: Vec<Site>,
    state: Vec<Value>,
    /// Turns of the loops around the current place, outermost first.
    turns: Vec<Value>,
    known: Known,
}

impl Thread {
    pub fn new(goal: Goal) -> Self {
        Thread {
            goal,
            sites: Vec::new(),
            state: Vec::new(),
            turns: Vec::new(),
            known: Known::default(),
        }
    }

    pub fn start(&mut self, c: &mut Copier, types: &[Type]) {
        self.known.enter();
        self.state = types
            .iter()
            .map(|ty| {
                let zeros = Literal::splat_bits(ty.clone(), 0);
                c.b.op(Op::Constant(zeros), &[])
            })
            .collect();
    }

    pub fn state(&self) -> &[Value] {
        &self.state
    }

    /// A region that starts with the state `params` and gives its own results, then the state.
    fn region(
        &mut self,
        c: &mut Copier,
        region: &Region,
        params: impl FnOnce(&mut Self, &mut Copier),
        results: usize,
    ) -> Region {
        let outer = self.state.clone();
        c.b.open_region();
        self.known.enter();
        params(self, c);
        c.insts(self, &region.insts);
        let mut out = c.values(&region.results);
        let ys = out.split_off(results);
        out.extend(&self.state);
        out.extend(ys);
        self.known.leave();
        self.state = outer;
        c.b.close_region(out)
    }

    /// Parameters for the state.
    fn state_params(&mut self, c: &mut Copier) {
        let types: Vec<Type> = self.state.iter().map(|&v| c.b.ty(v).clone()).collect();
        self.state = types.into_iter().map(|ty| c.b.param(ty)).collect();
    }

    fn scan(
        &mut self,
        c: &mut Copier,
        inst: &Inst,
        (length, reverse, carry): (usize, bool, usize),
    ) {
        let body = &inst.regions[0];
        let mut args = c.values(&inst.args);
        args.splice(carry..carry, self.state.iter().copied());
        let (before, rows) = body.params.split_at(1 + carry);
        let params = |t: &mut Self, c: &mut Copier| {
            c.params(before);
            t.state_params(c);
            c.params(rows);
            t.turns.push(c.value(body.params[0]));
        };
        let region = self.region(c, body, params, carry);
        self.turns.pop();
        let op = Op::Scan {
            length,
            reverse,
            carry: carry + self.state.len(),
        };
        self.finish(c, inst, op, args, vec![region], carry);
    }

    fn while_loop(&mut self, c: &mut Copier, inst: &Inst) {
        let [condition, body] = &inst.regions[..] else {
            return c.keep(&mut Plain, inst);
        };
        let mut args = c.values(&inst.args);
        args.extend(&self.state);
        let state = self.state.clone();
        c.b.open_region();
        c.params(&condition.params);
        self.state_params(c);
        c.insts(&mut Plain, &condition.insts);
        let go = c.values(&condition.results);
        let condition = c.b.close_region(go);
        self.state = state;
        let params = |t: &mut Self, c: &mut Copier| {
            c.params(&body.params);
            t.state_params(c);
        };
        let region = self.region(c, body, params, body.results.len());
        self.finish(
            c,
            inst,
            Op::While,
            args,
            vec![condition, region],
            inst.results.len(),
        );
    }

    fn branch(&mut self, c: &mut Copier, inst: &Inst) {
        let regions = inst
            .regions
            .iter()
            .map(|r| self.region(c, r, |_, _| {}, r.results.len()))
            .collect();
        let args = c.values(&inst.args);
        self.finish(c, inst, Op::If, args, regions, inst.results.len());
    }

    /// Emits the instruction with its new regions; the state comes out behind its first `own` results.
    fn finish(
        &mut self,
        c: &mut Copier,
        inst: &Inst,
        op: Op,
        args: Vec<Value>,
        regions: Vec<Region>,
        own: usize,
    ) {
        c.at(inst.results.first());
        let mut results = c.b.push(op, args, regions);
        let after = results.split_off(own);
        let (state, ys) = after.split_at(self.state.len());
        self.state = state.to_vec();
        results.extend(ys);
        c.set_all(&inst.results, &results);
    }

    fn site(&mut self, c: &mut Copier, inst: &Inst) {
        let floats = |values: &[Value], f: &Func| -> Vec<Value> {
            let is_float = |v: &&Value| f.ty(**v).elem.is_float();
            values.iter().filter(is_float).copied().collect()
        };
        let (reads, makes) = (floats(&inst.args, c.from), floats(&inst.results, c.from));
        if makes.is_empty() {
            return;
        }
        let types = |values: &[Value]| values.iter().map(|&v| c.from.ty(v).clone()).collect();
        self.sites.push(Site {
            op: inst.op.name(),
            span: c.from.span(makes[0]),
            operands: types(&reads),
            results: types(&makes),
            loops: self.turns.len(),
        });
        let number = self.sites.len();
        let (reads, makes) = (c.values(&reads), held(c, &makes));
        match self.goal {
            Goal::Find => {
                let Some(made) = self.known.made(&mut c.b, &reads, &makes) else {
                    return;
                };
                let zero = integer(c, 0);
                let none = c.b.op(Op::Compare(CompareOp::Eq), &[self.state[0], zero]);
                let first = c.b.op(Op::Binary(BinaryOp::And), &[made, none]);
                let here = integer(c, number as i64);
                self.state[0] = c.b.op(Op::Select, &[first, here, self.state[0]]);
            }
            Goal::Look(wanted) if wanted == number => {
                let Some(made) = self.known.made(&mut c.b, &reads, &makes) else {
                    return;
                };
                let not_yet = c.b.op(Op::Unary(UnaryOp::Not), &[self.state[0]]);
                let first = c.b.op(Op::Binary(BinaryOp::And), &[made, not_yet]);
                self.state[0] = c.b.op(Op::Binary(BinaryOp::Or), &[made, self.state[0]]);
                let seen = reads.iter().chain(&makes).chain(&self.turns);
                for (kept, &now) in self.state[1..].iter_mut().zip(seen) {
                    let shape = c.b.ty(now).shape.clone();
                    let mask = c.b.op(
                        Op::Broadcast {
                            shape,
                            dims: vec![],
                        },
                        &[first],
                    );
                    *kept = c.b.op(Op::Select, &[mask, now, *kept]);
                }
            }
            Goal::Look(_) => {}
        }
    }
}

impl Rewrite for Thread {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match &inst.op {
            Op::Scan {
                length,
                reverse,
                carry,
            } => self.scan(c, inst, (*length, *reverse, *carry)),
            Op::While => self.while_loop(c, inst),
            Op::If => self.branch(c, inst),
            _ => {
                c.keep(&mut Plain, inst);
                if computes(inst) {
                    self.site(c, inst);
                }
            }
        }
    }
}

/// The copies of values behind a barrier, where all that reads them finds them. Without it a device's compiler would
/// compute a chain of instructions again for each of the checks along it.
fn held(c: &mut Copier, values: &[Value]) -> Vec<Value> {
    let copies = c.values(values);
    let held = c.b.push(Op::Barrier, copies, Vec::new());
    c.set_all(values, &held);
    held
}

fn integer(c: &mut Copier, value: i64) -> Value {
    let literal = Literal::splat_i64(Type::scalar(Elem::I32), value);
    c.b.op(Op::Constant(literal), &[])
}
