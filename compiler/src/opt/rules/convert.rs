//! Conversions between element types.

use crate::ir::op::Op;
use crate::ir::types::Elem;
use crate::opt::graph::facts::widens;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("convert-same",       Exact, "convert.c(x)",                    "x, of its own type",                convert_same),
    Rule::build("convert-convert",    Exact, "convert.c(convert.d(x))",         "convert.c(x), if d loses nothing",  convert_convert),
    Rule::build("convert-iota",       Exact, "convert.c(iota.i())",             "iota of c, if c counts that far",   convert_iota),
    Rule::build("select-one-zero",    Exact, "select(c, 1, 0)",                 "convert(c)",                        select_one_zero),
    Rule::build("select-zero-one",    Exact, "select(c, 0, 1)",                 "convert(not(c))",                   select_zero_one),
    Rule::build("ne-zero-of-bool",    Exact, "ne(convert.c(x), 0)",             "x, of bool",                        of_bool).when("bool x"),
    Rule::build("eq-one-of-bool",     Exact, "eq(convert.c(x), 1)",             "x, of bool",                        of_bool).when("bool x"),
    Rule::build("eq-converted-int",   Exact, "eq(convert.c(x), convert.c(y))",  "eq(x, y), if c loses nothing",      eq_converted).when("int x, int y"),
    Rule::build("eq-converted-const", Exact, "eq(convert.c(x), C)",             "eq(x, C of x's type), if that is C", eq_converted_const).when("int x"),
    Rule::build("bitcast-same",       Exact, "bitcast.c(x)",                    "x, of its own type",                bitcast_same),
    Rule::new("bitcast-bitcast",      Exact, "bitcast.c(bitcast.d(x))",         "bitcast.c(x)"),
];

fn convert_same(rw: &mut Rw) -> Option<Id> {
    let x = rw.var('x');
    let same = rw.ty(x) == rw.ty(rw.root());
    same.then_some(x)
}

fn target(rw: &Rw, name: char) -> Option<Elem> {
    match rw.op(name)? {
        Op::Convert(elem) | Op::Bitcast(elem) => Some(elem),
        _ => None,
    }
}

fn convert_convert(rw: &mut Rw) -> Option<Id> {
    let x = rw.var('x');
    let (outer, inner) = (target(rw, 'c')?, target(rw, 'd')?);
    let from = rw.ty(x).elem;
    if !widens(from, inner) {
        return None;
    }
    // An integer that does not fit the last type wraps on the direct way and saturates on the way over a float.
    if from.is_int() && inner.is_float() && outer.is_int() && !widens(from, outer) {
        return None;
    }
    rw.convert(x, outer)
}

fn convert_iota(rw: &mut Rw) -> Option<Id> {
    let to = target(rw, 'c')?;
    let Op::Iota { ty, axis } = rw.op('i')? else {
        return None;
    };
    let count = *ty.shape.get(axis)? as u64;
    if count > counts_to(ty.elem) || count > counts_to(to) {
        return None;
    }
    let ty = ty.with_elem(to);
    rw.add(Op::Iota { ty, axis }, &[])
}

/// How many numbers from 0 up are all exact in a type.
pub(super) fn counts_to(elem: Elem) -> u64 {
    match elem {
        Elem::F64 => 1 << 53,
        Elem::F32 => 1 << 24,
        Elem::F16 => 1 << 11,
        Elem::BF16 => 1 << 8,
        Elem::Bool => 2,
        _ => 1 << (elem.bits() - usize::from(elem.is_signed_int())).min(62),
    }
}

fn select_one_zero(rw: &mut Rw) -> Option<Id> {
    let elem = rw.ty(rw.root()).elem;
    rw.convert(rw.var('c'), elem)
}

fn select_zero_one(rw: &mut Rw) -> Option<Id> {
    let elem = rw.ty(rw.root()).elem;
    let not = rw.unary(crate::ir::UnaryOp::Not, rw.var('c'))?;
    rw.convert(not, elem)
}

fn of_bool(rw: &mut Rw) -> Option<Id> {
    Some(rw.var('x'))
}

fn eq_converted(rw: &mut Rw) -> Option<Id> {
    let (x, y, to) = (rw.var('x'), rw.var('y'), target(rw, 'c')?);
    let same = rw.ty(x).elem == rw.ty(y).elem;
    if !same || !widens(rw.ty(x).elem, to) {
        return None;
    }
    rw.compare(crate::ir::CompareOp::Eq, x, y)
}

fn eq_converted_const(rw: &mut Rw) -> Option<Id> {
    let (x, to) = (rw.var('x'), target(rw, 'c')?);
    let ty = rw.ty(x);
    if !widens(ty.elem, to) {
        return None;
    }
    let value = rw.splat_value(rw.var('C'))?;
    // Every value that f64 holds exactly is compared exactly; larger integers are left alone.
    if value.abs() > 9e15 || value != value.trunc() {
        return None;
    }
    let bits = crate::ir::literal::encode_i64(ty.elem, value as i64);
    if crate::ir::literal::decode_f64(ty.elem, bits) != value {
        return None;
    }
    let constant = rw.splat_bits(ty, bits)?;
    rw.compare(crate::ir::CompareOp::Eq, x, constant)
}

fn bitcast_same(rw: &mut Rw) -> Option<Id> {
    convert_same(rw)
}
