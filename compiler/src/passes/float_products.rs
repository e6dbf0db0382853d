//! Multiplies matrices of narrow integers as floats, whose sums are exact while they are below 2²⁴ (in double precision 2⁵³); XLA's CPU
//! compiler has a library for products of floats, and a plain loop for those of integers.
//!
//! ```text
//! %1 = convert %x : i32[n, 64]                      %x : i8[n, 64], %y : i8[64, m]
//! %2 = convert %y : i32[64, m]
//! %3 = dot_general[contract = [1] x [0]] %1, %2 : i32[n, m]
//! →
//! %4 = convert %x : f32[n, 64]
//! %5 = convert %y : f32[64, m]
//! %6 = dot_general[contract = [1] x [0]] %4, %5 : f32[n, m]
//! %3 = convert %6 : i32[n, m]
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{DotDims, Op};
use crate::ir::types::{Elem, Type};
use std::collections::HashMap;

/// Multiplications, at least: below, the loop is as fast.
const LEAST_WORK: usize = 1 << 12;

pub fn run(func: &Func) -> Func {
    let mut narrow = HashMap::new();
    func.body.walk(&mut |inst| {
        if matches!(inst.op, Op::Convert(elem) if elem.is_int()) {
            narrow.insert(inst.results[0], inst.args[0]);
        }
    });
    rewrite(func, &mut FloatProducts { narrow })
}

struct FloatProducts {
    /// What integers are converted from.
    narrow: HashMap<Value, Value>,
}

impl Rewrite for FloatProducts {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let Op::Dot(dims) = &inst.op else {
            return c.keep(self, inst);
        };
        let operands = [0, 1].map(|i| self.narrowest(c.from, inst.args[i]));
        let result = c.from.ty(inst.results[0]);
        let types = operands.map(|v| c.from.ty(v));
        let Some(float) = exact(dims, types, result) else {
            return c.keep(self, inst);
        };
        let elem = result.elem;
        let operands = operands.map(|v| c.value(v));
        c.at(inst.results.first());
        let [lhs, rhs] = operands.map(|v| c.b.op(Op::Convert(float), &[v]));
        let product = c.b.op(inst.op.clone(), &[lhs, rhs]);
        let wide = if float == Elem::F32 {
            Elem::I32
        } else {
            Elem::I64
        };
        let mut product = c.b.op(Op::Convert(wide), &[product]);
        // What is wider than the result wraps, as the integers' own product does.
        if elem != wide {
            product = c.b.op(Op::Convert(elem), &[product]);
        }
        c.set(inst.results[0], product);
    }
}

impl FloatProducts {
    /// What a value is converted from, if that is a narrower integer, of which it is the same number.
    fn narrowest(&self, func: &Func, v: Value) -> Value {
        let Some(&from) = self.narrow.get(&v) else {
            return v;
        };
        let (wide, narrow) = (func.ty(v).elem, func.ty(from).elem);
        let same = largest(narrow).is_some() && narrow.bits() < wide.bits();
        let signed = narrow.is_signed_int() <= wide.is_signed_int();
        if same && signed { from } else { v }
    }
}

/// The floats in which no sum of this product is rounded.
fn exact(dims: &DotDims, operands: [&Type; 2], result: &Type) -> Option<Elem> {
    let [lhs, rhs] = operands;
    let terms: usize = dims.lhs_contract.iter().map(|&d| lhs.shape[d]).product();
    let term = largest(lhs.elem)?.checked_mul(largest(rhs.elem)?)?;
    let sum = term.checked_mul(terms as u64)?;
    let busy = result.elem.is_int() && result.numel() * terms >= LEAST_WORK;
    let held = |bits: u32| busy && sum <= 1 << bits;
    match held(24) {
        true => Some(Elem::F32),
        false => held(53).then_some(Elem::F64),
    }
}

/// The largest magnitude of narrow integers.
fn largest(elem: Elem) -> Option<u64> {
    let bits = elem.bits();
    match elem {
        Elem::Bool => Some(1),
        _ if !elem.is_int() || bits > 16 => None,
        _ if elem.is_signed_int() => Some(1 << (bits - 1)),
        _ => Some((1 << bits) - 1),
    }
}
