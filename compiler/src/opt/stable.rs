//! `log(sum(exp(x)))` made stable, and with it `exp(x) / sum(exp(x))`, which is its derivative: the largest element is taken
//! out before exponentials are. It costs a little more, so no choice by cost would do it.
//!
//! ```text
//! log(sum(exp(x)))             log(sum(exp(x - m))) + m       where m = max(x); m itself where that is not finite
//! exp(x) * spread(y / sum(…))  exp(x - m) * spread(y / sum(exp(x - m)))
//! exp(x) / spread(sum(…))      exp(x - m) / spread(sum(exp(x - m)))
//! ```
//!
//! Where `exp(m)` cancels in everything that becomes of the exponentials ([`scaled`]), as in a derivative, they are
//! shifted once for all; otherwise each of these forms for itself. A long sum of which nothing but the logarithm is
//! wanted is shifted only in a run in which that is needed ([`unless`]).

mod scaled;
mod unless;

use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{BinaryOp, Op, ReduceOp, UnaryOp};
use crate::opt::DeviceCost;
use crate::passes::copy::{Copier, Rewrite, rewrite};
use std::collections::{HashMap, HashSet};

/// The function with its sums of exponentials shifted where that is known to help.
pub fn run(func: &Func, device: &DeviceCost) -> Func {
    let mut defined = HashMap::new();
    func.body.walk(&mut |inst| {
        if let [result] = inst.results[..] {
            defined.insert(result, inst);
        }
    });
    let defined = Defined(defined);
    let mut sums = HashSet::new();
    func.body.walk(&mut |inst| {
        let found = match inst.op {
            Op::Unary(UnaryOp::Log) => defined.sum(inst.args[0]).map(|_| inst.args[0]),
            _ => defined.quotient(inst).map(|q| q.sum),
        };
        sums.extend(found);
    });
    if sums.is_empty() {
        return func.clone();
    }
    let mut pass = Stable {
        defined: &defined,
        device,
        checked: HashMap::new(),
        whole: HashMap::new(),
        logs: HashMap::new(),
        sums: HashSet::new(),
        largest: HashMap::new(),
        shifted: HashMap::new(),
    };
    let mut sums: Vec<Value> = sums.into_iter().collect();
    sums.sort_unstable();
    for value in sums {
        let Some(sum) = defined.sum(value) else {
            continue;
        };
        if pass.whole.contains_key(&sum.exp) {
            continue;
        }
        if unless::pays(func, value, &sum, device) {
            pass.checked.insert(value, sum);
            continue;
        }
        match scaled::cancels(func, sum.exp, &sum.kept(func)) {
            Some(logs) => {
                pass.logs.extend(logs.into_iter().map(|log| (log, sum.exp)));
                pass.whole.insert(sum.exp, sum);
            }
            None => {
                pass.sums.insert(value);
            }
        }
    }
    rewrite(func, &mut pass)
}

/// The instruction of each value that is the only result of one.
struct Defined<'a>(HashMap<Value, &'a Inst>);

/// A sum of exponentials that overflow where `x` is large.
struct Sum {
    x: Value,
    exp: Value,
    axes: Vec<usize>,
}

impl Sum {
    fn kept(&self, func: &Func) -> Vec<usize> {
        let rank = func.ty(self.x).rank();
        (0..rank).filter(|d| !self.axes.contains(d)).collect()
    }
}

/// A product or quotient of exponentials with their own sum.
struct Quotient {
    sum: Value,
    /// `y` of `exp(x) * spread(y / sum)`; none for `exp(x) / spread(sum)`.
    over: Option<Value>,
    /// What spreads, from the inside out.
    spread: Vec<Op>,
    /// Whether the exponentials are the left operand.
    exp_left: bool,
}

impl<'a> Defined<'a> {
    fn of(&self, v: Value) -> Option<&'a Inst> {
        self.0.get(&v).copied()
    }

    fn sum(&self, v: Value) -> Option<Sum> {
        let inst = self.of(v)?;
        let Op::Reduce {
            op: ReduceOp::Sum,
            axes,
        } = &inst.op
        else {
            return None;
        };
        let exp = inst.args[0];
        let inner = self.of(exp)?;
        if inner.op != Op::Unary(UnaryOp::Exp) || self.is_shifted(inner.args[0]) {
            return None;
        }
        Some(Sum {
            x: inner.args[0],
            exp,
            axes: axes.clone(),
        })
    }

    /// Whether the largest element has been taken out of a value already.
    fn is_shifted(&self, v: Value) -> bool {
        let Some(inst) = self.of(v) else { return false };
        inst.op == Op::Binary(BinaryOp::Sub) && self.is_largest(inst.args[1], 6)
    }

    fn is_largest(&self, v: Value, depth: usize) -> bool {
        let Some(inst) = self.of(v).filter(|_| depth > 0) else {
            return false;
        };
        match inst.op {
            Op::Reduce {
                op: ReduceOp::Max, ..
            } => true,
            Op::Broadcast { .. } | Op::Reshape { .. } | Op::StopGradient | Op::Select => {
                inst.args.iter().any(|&a| self.is_largest(a, depth - 1))
            }
            _ => false,
        }
    }

    fn quotient(&self, inst: &Inst) -> Option<Quotient> {
        let (product, sides): (bool, &[bool]) = match inst.op {
            Op::Binary(BinaryOp::Mul) => (true, &[true, false]),
            Op::Binary(BinaryOp::Div) => (false, &[true]),
            _ => return None,
        };
        sides.iter().find_map(|&exp_left| {
            let (exp, other) = match exp_left {
                true => (inst.args[0], inst.args[1]),
                false => (inst.args[1], inst.args[0]),
            };
            let (spread, inner) = self.spread(other);
            let (sum, over) = match product {
                true => {
                    let div = self.of(inner)?;
                    (div.op == Op::Binary(BinaryOp::Div))
                        .then(|| (div.args[1], Some(div.args[0])))?
                }
                false => (inner, None),
            };
            let found = self.sum(sum)?;
            (found.exp == exp && !spread.is_empty()).then_some(Quotient {
                sum,
                over,
                spread,
                exp_left,
            })
        })
    }

    /// What a value is spread from, and by what, from the inside out.
    fn spread(&self, v: Value) -> (Vec<Op>, Value) {
        let mut ops = Vec::new();
        let mut at = v;
        while let Some(inst) = self.of(at)
            && let Op::Broadcast { .. } | Op::Reshape { .. } = inst.op
        {
            ops.push(inst.op.clone());
            at = inst.args[0];
        }
        ops.reverse();
        (ops, at)
    }
}

/// Values of the new function.
struct Shifted {
    largest: Value,
    exp: Value,
    sum: Value,
}

struct Stable<'a> {
    defined: &'a Defined<'a>,
    device: &'a DeviceCost,
    /// Sums that are shifted only if they turn out to need it.
    checked: HashMap<Value, Sum>,
    /// Exponentials that are shifted for all their users, with a sum of each.
    whole: HashMap<Value, Sum>,
    /// Logarithms to which the largest element of such exponentials is added again.
    logs: HashMap<Value, Value>,
    /// Sums that are shifted for some of their users only.
    sums: HashSet<Value>,
    /// The largest elements of the former, by the exponentials; what was made of the latter, by the sum.
    largest: HashMap<Value, Value>,
    shifted: HashMap<Value, Shifted>,
}

impl Rewrite for Stable<'_> {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        c.at(inst.results.first());
        if let [result] = inst.results[..]
            && let Some(sum) = self.whole.get(&result)
        {
            let x = c.value(sum.x);
            let (largest, exp) = shift(c, x, &sum.axes);
            self.largest.insert(result, largest);
            return c.set(result, exp);
        }
        if inst.op == Op::Unary(UnaryOp::Log) {
            if let Some(sum) = self.checked.get(&inst.args[0]) {
                let result = unless::log(c, self, inst.args[0], sum);
                return c.set(inst.results[0], result);
            }
            let whole = self.logs.get(&inst.results[0]);
            let found = match whole.and_then(|exp| self.largest.get(exp)) {
                Some(&largest) => Some((c.value(inst.args[0]), largest)),
                None => self.shifted.get(&inst.args[0]).map(|s| (s.sum, s.largest)),
            };
            if let Some((sum, largest)) = found {
                let result = back(c, sum, largest);
                return c.set(inst.results[0], result);
            }
        }
        if let Some(q) = self.defined.quotient(inst)
            && let Some(shifted) = self.shifted.get(&q.sum)
        {
            let mut other = shifted.sum;
            if let Some(over) = q.over {
                let over = c.value(over);
                other = c.b.op(Op::Binary(BinaryOp::Div), &[over, other]);
            }
            for op in &q.spread {
                other = c.b.op(op.clone(), &[other]);
            }
            let args = match q.exp_left {
                true => [shifted.exp, other],
                false => [other, shifted.exp],
            };
            let result = c.b.op(inst.op.clone(), &args);
            return c.set(inst.results[0], result);
        }
        c.keep(self, inst);
        if let [result] = inst.results[..]
            && self.sums.contains(&result)
            && let Some(sum) = self.defined.sum(result)
        {
            let x = c.value(sum.x);
            let (largest, exp) = shift(c, x, &sum.axes);
            let sum = reduce(c, ReduceOp::Sum, &sum.axes, exp);
            self.shifted.insert(result, Shifted { largest, exp, sum });
        }
    }
}

/// The largest elements, and the exponentials without them.
fn shift(c: &mut Copier, x: Value, axes: &[usize]) -> (Value, Value) {
    let whole = c.b.ty(x).clone();
    let largest = reduce(c, ReduceOp::Max, axes, x);
    let dims = (0..whole.rank()).filter(|d| !axes.contains(d)).collect();
    let spread = Op::Broadcast {
        shape: whole.shape,
        dims,
    };
    let spread = c.b.op(spread, &[largest]);
    let apart = c.b.op(Op::Binary(BinaryOp::Sub), &[x, spread]);
    let exp = c.b.op(Op::Unary(UnaryOp::Exp), &[apart]);
    (largest, exp)
}

fn reduce(c: &mut Copier, op: ReduceOp, axes: &[usize], x: Value) -> Value {
    let axes = axes.to_vec();
    c.b.op(Op::Reduce { op, axes }, &[x])
}

/// The logarithm of what was shifted, as it was before. The largest alone says what comes of an infinity; that is
/// asked after the sum, so that nothing stands between the exponentials and their sum.
fn back(c: &mut Copier, sum: Value, largest: Value) -> Value {
    let log = c.b.op(Op::Unary(UnaryOp::Log), &[sum]);
    let back = c.b.op(Op::Binary(BinaryOp::Add), &[log, largest]);
    let finite = c.b.op(Op::Unary(UnaryOp::IsFinite), &[largest]);
    c.b.op(Op::Select, &[finite, back, largest])
}
