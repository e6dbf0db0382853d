//! Sums, products, comparisons and logic, element by element.

use crate::ir::literal::encode_f64;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::Elem;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // Signs.
    Rule::new("neg-neg",              Exact,    "neg(neg(x))",                 "x"),
    Rule::new("not-not",              Exact,    "not(not(x))",                 "x"),
    Rule::new("abs-abs",              Exact,    "abs(abs(x))",                 "abs(x)"),
    Rule::new("abs-neg",              Exact,    "abs(neg(x))",                 "abs(x)"),
    Rule::new("abs-nonneg",           Exact,    "abs(x)",                      "x").when("nonneg x, not_neg_zero x"),
    Rule::new("sign-times-abs",       Exact,    "mul(sign(x), abs(x))",        "x"),
    Rule::new("abs-times-abs",        Exact,    "mul(abs(x), abs(x))",         "mul(x, x)"),
    Rule::new("neg-times-neg",        Exact,    "mul(neg(x), neg(y))",         "mul(x, y)"),
    Rule::new("neg-over-neg",         Exact,    "div(neg(x), neg(y))",         "div(x, y)").when("float x"),
    Rule::new("neg-times-const",      Exact,    "mul(neg(x), C)",              "mul(x, neg(C))"),
    Rule::new("neg-over-const",       Exact,    "div(neg(x), C)",              "div(x, neg(C))").when("float x"),
    Rule::new("neg-of-times-const",   Exact,    "neg(mul(x, C))",              "mul(x, neg(C))"),
    Rule::new("neg-of-over-const",    Exact,    "neg(div(x, C))",              "div(x, neg(C))").when("float x"),
    Rule::new("neg-out-of-mul",       Exact,    "mul(neg(x), y)",              "neg(mul(x, y))"),
    Rule::new("neg-out-of-div",       Exact,    "div(neg(x), y)",              "neg(div(x, y))").when("float x"),
    Rule::new("sub-neg",              Exact,    "sub(x, neg(y))",              "add(x, y)"),
    Rule::new("add-neg",              Exact,    "add(x, neg(y))",              "sub(x, y)"),
    Rule::new("sub-of-neg",           Exact,    "sub(neg(x), C)",              "sub(neg(C), x)"),
    Rule::new("neg-sub-int",          Exact,    "neg(sub(x, y))",              "sub(y, x)").when("int x"),
    Rule::new("neg-sub",              Harmless, "neg(sub(x, y))",              "sub(y, x)").when("float x"),
    Rule::new("sub-from-neg-zero",    Exact,    "sub(-0, x)",                  "neg(x)"),
    Rule::new("sub-from-zero-int",    Exact,    "sub(0, x)",                   "neg(x)").when("int x"),
    Rule::new("sub-from-zero",        Harmless, "sub(0, x)",                   "neg(x)").when("float x"),
    Rule::new("mul-neg-one",          Exact,    "mul(x, -1)",                  "neg(x)"),
    Rule::new("div-neg-one",          Exact,    "div(x, -1)",                  "neg(x)"),

    // Neutral elements.
    Rule::new("add-neg-zero",         Exact,    "add(x, -0)",                  "x"),
    Rule::new("add-zero-int",         Exact,    "add(x, 0)",                   "x").when("int x"),
    Rule::new("add-zero-not-neg",     Exact,    "add(x, 0)",                   "x").when("not_neg_zero x"),
    Rule::new("add-zero",             Harmless, "add(x, 0)",                   "x").when("float x"),
    Rule::new("sub-zero",             Exact,    "sub(x, 0)",                   "x"),
    Rule::new("sub-neg-zero",         Harmless, "sub(x, -0)",                  "x"),
    Rule::new("mul-one",              Exact,    "mul(x, 1)",                   "x"),
    Rule::new("div-one",              Exact,    "div(x, 1)",                   "x"),
    Rule::new("rem-one-int",          Exact,    "rem(x, 1)",                   "0").when("int x"),
    Rule::new("mul-zero-int",         Exact,    "mul(x, 0)",                   "0").when("int x"),
    Rule::new("mul-zero-finite",      Harmless, "mul(x, 0)",                   "0").when("float x, finite x"),
    Rule::new("mul-zero",             Fast,     "mul(x, 0)",                   "0").when("float x"),
    Rule::new("and-true",             Exact,    "and(x, true)",                "x"),
    Rule::new("and-false",            Exact,    "and(x, false)",               "false"),
    Rule::new("or-false",             Exact,    "or(x, false)",                "x"),
    Rule::new("or-true",              Exact,    "or(x, true)",                 "true"),
    Rule::new("xor-false",            Exact,    "xor(x, false)",               "x"),
    Rule::new("xor-true",             Exact,    "xor(x, true)",                "not(x)"),
    Rule::new("and-zero",             Exact,    "and(x, 0)",                   "0"),
    Rule::new("or-zero",              Exact,    "or(x, 0)",                    "x"),
    Rule::new("xor-zero",             Exact,    "xor(x, 0)",                   "x"),
    Rule::new("shl-zero",             Exact,    "shl(x, 0)",                   "x"),
    Rule::new("shr-arith-zero",       Exact,    "shr_arith(x, 0)",             "x"),
    Rule::new("shr-logical-zero",     Exact,    "shr_logical(x, 0)",           "x"),

    // An operand twice.
    Rule::new("sub-self-int",         Exact,    "sub(x, x)",                   "0").when("int x"),
    Rule::new("sub-self-finite",      Exact,    "sub(x, x)",                   "0").when("float x, finite x"),
    Rule::new("sub-self",             Fast,     "sub(x, x)",                   "0").when("float x"),
    Rule::new("div-self",             Fast,     "div(x, x)",                   "1").when("float x"),
    Rule::new("max-self",             Exact,    "max(x, x)",                   "x"),
    Rule::new("min-self",             Exact,    "min(x, x)",                   "x"),
    Rule::new("and-self",             Exact,    "and(x, x)",                   "x"),
    Rule::new("or-self",              Exact,    "or(x, x)",                    "x"),
    Rule::new("xor-self",             Exact,    "xor(x, x)",                   "0").when("int x"),
    Rule::new("xor-self-bool",        Exact,    "xor(x, x)",                   "false").when("bool x"),
    Rule::new("and-absorbs-or",       Exact,    "and(x, or(x, y))",            "x"),
    Rule::new("or-absorbs-and",       Exact,    "or(x, and(x, y))",            "x"),
    Rule::new("max-absorbs-max",      Exact,    "max(x, max(x, y))",           "max(x, y)"),
    Rule::new("min-absorbs-min",      Exact,    "min(x, min(x, y))",           "min(x, y)"),
    Rule::new("add-same-to-mul",      Exact,    "add(x, x)",                   "mul(x, 2)"),
    Rule::new("add-sub-int",          Exact,    "add(sub(x, y), y)",           "x").when("int x"),
    Rule::new("sub-add-int",          Exact,    "sub(add(x, y), y)",           "x").when("int x"),
    Rule::new("sub-sub-int",          Exact,    "sub(x, sub(x, y))",           "y").when("int x"),
    Rule::new("add-sub",              Fast,     "add(sub(x, y), y)",           "x").when("float x"),
    Rule::new("sub-add",              Fast,     "sub(add(x, y), y)",           "x").when("float x"),
    Rule::new("sub-sub",              Fast,     "sub(x, sub(x, y))",           "y").when("float x"),

    // Chains of constants.
    Rule::new("sub-const",            Exact,    "sub(x, C)",                   "add(x, neg(C))"),
    Rule::new("add-chain-int",        Exact,    "add(add(x, C), D)",           "add(x, add(C, D))").when("int x"),
    Rule::new("mul-chain-int",        Exact,    "mul(mul(x, C), D)",           "mul(x, mul(C, D))").when("int x"),
    Rule::new("add-chain",            Reassoc,  "add(add(x, C), D)",           "add(x, add(C, D))").when("float x"),
    Rule::new("mul-chain",            Reassoc,  "mul(mul(x, C), D)",           "mul(x, mul(C, D))").when("float x"),
    Rule::new("sub-chain",            Reassoc,  "sub(C, add(x, D))",           "sub(sub(C, D), x)").when("float x"),
    Rule::new("sub-chain-int",        Exact,    "sub(C, add(x, D))",           "sub(sub(C, D), x)").when("int x"),
    Rule::new("div-of-mul",           Reassoc,  "div(mul(x, C), D)",           "mul(x, div(C, D))").when("float x, nonzero D"),
    Rule::new("mul-of-div",           Reassoc,  "mul(div(x, C), D)",           "mul(x, div(D, C))").when("float x, nonzero C"),
    Rule::new("max-chain",            Exact,    "max(max(x, C), D)",           "max(x, max(C, D))"),
    Rule::new("min-chain",            Exact,    "min(min(x, C), D)",           "min(x, min(C, D))"),
    Rule::new("and-chain",            Exact,    "and(and(x, C), D)",           "and(x, and(C, D))"),
    Rule::new("or-chain",             Exact,    "or(or(x, C), D)",             "or(x, or(C, D))"),
    Rule::new("xor-chain",            Exact,    "xor(xor(x, C), D)",           "xor(x, xor(C, D))"),
    Rule::new("rem-rem-int",          Exact,    "rem(rem(x, C), C)",           "rem(x, C)").when("int x"),

    // Division.
    Rule::build("div-pow2",           Exact,    "div(x, C)",                   "mul(x, 1/C)", times_reciprocal).when("pow2 C"),
    Rule::build("div-const",          Reassoc,  "div(x, C)",                   "mul(x, 1/C)", times_reciprocal).when("float x, nonzero C"),
    Rule::new("div-div",              Reassoc,  "div(div(x, y), z)",           "div(x, mul(y, z))").when("float x"),
    Rule::new("div-by-div",           Reassoc,  "div(x, div(y, z))",           "div(mul(x, z), y)").when("float x"),
    Rule::new("mul-by-reciprocal",    Reassoc,  "mul(x, div(1, y))",           "div(x, y)").when("float x"),
    Rule::new("reciprocal-twice",     Reassoc,  "div(1, div(1, x))",           "x").when("float x"),
    Rule::new("mul-div-same",         Fast,     "mul(x, div(y, x))",           "y").when("float x"),
    Rule::new("div-mul-same",         Fast,     "div(mul(x, y), x)",           "y").when("float x"),
    Rule::new("quotients-multiplied",  Fast,     "mul(div(x, y), div(z, w))",   "div(mul(x, z), mul(y, w))").when("float x"),
    Rule::new("quotients-cancel",     Fast,     "mul(div(x, y), div(z, x))",   "div(z, y)").when("float x"),
    Rule::new("factor-cancels",       Fast,     "div(mul(x, y), mul(x, z))",   "div(y, z)").when("float x"),

    // Common factors.
    Rule::new("factor-int",           Exact,    "add(mul(x, y), mul(x, z))",   "mul(x, add(y, z))").when("int x"),
    Rule::new("factor-sub-int",       Exact,    "sub(mul(x, y), mul(x, z))",   "mul(x, sub(y, z))").when("int x"),
    Rule::new("factor",               Fast,     "add(mul(x, y), mul(x, z))",   "mul(x, add(y, z))").when("float x"),
    Rule::new("factor-sub",           Fast,     "sub(mul(x, y), mul(x, z))",   "mul(x, sub(y, z))").when("float x"),
    Rule::new("factor-one",           Fast,     "add(x, mul(x, C))",           "mul(x, add(C, 1))").when("float x"),
    Rule::new("factor-one-int",       Exact,    "add(x, mul(x, C))",           "mul(x, add(C, 1))").when("int x"),
    Rule::build("lerp",               Fast,     "add(mul(x, C), mul(y, D))",   "x + D * (y - x), if C is 1 - D",  toward).when("float x"),
    Rule::new("factor-div",           Fast,     "add(div(x, z), div(y, z))",   "div(add(x, y), z)").when("float x"),
    Rule::new("factor-div-sub",       Fast,     "sub(div(x, z), div(y, z))",   "div(sub(x, y), z)").when("float x"),

    // Largest and smallest.
    Rule::new("max-neg",              Exact,    "max(neg(x), neg(y))",         "neg(min(x, y))").when("float x"),
    Rule::new("min-neg",              Exact,    "min(neg(x), neg(y))",         "neg(max(x, y))").when("float x"),
    Rule::new("max-zero-nonneg",      Exact,    "max(x, 0)",                   "x").when("nonneg x, not_neg_zero x"),
    Rule::new("min-zero-nonneg",      Exact,    "min(x, 0)",                   "0").when("nonneg x, no_nan x, not_neg_zero x"),
    Rule::new("max-neg-inf",          Exact,    "max(x, -inf)",                "x"),
    Rule::new("min-inf",              Exact,    "min(x, inf)",                 "x"),
    Rule::new("min-max-to-clamp",     Exact,    "min(max(x, C), D)",           "clamp(C, x, D)"),

    // Rounding to integers, twice.
    Rule::new("floor-floor",          Exact,    "floor(floor(x))",             "floor(x)"),
    Rule::new("ceil-ceil",            Exact,    "ceil(ceil(x))",               "ceil(x)"),
    Rule::new("round-round",          Exact,    "round(round(x))",             "round(x)"),
    Rule::new("floor-ceil",           Exact,    "floor(ceil(x))",              "ceil(x)"),
    Rule::new("floor-round",          Exact,    "floor(round(x))",             "round(x)"),
    Rule::new("ceil-floor",           Exact,    "ceil(floor(x))",              "floor(x)"),
    Rule::new("sign-sign",            Exact,    "sign(sign(x))",               "sign(x)"),

    // Comparisons.
    Rule::new("gt-to-lt",             Exact,    "gt(x, y)",                    "lt(y, x)"),
    Rule::new("ge-to-le",             Exact,    "ge(x, y)",                    "le(y, x)"),
    Rule::new("not-eq",               Exact,    "not(eq(x, y))",               "ne(x, y)"),
    Rule::new("not-ne",               Exact,    "not(ne(x, y))",               "eq(x, y)"),
    Rule::new("not-lt",               Exact,    "not(lt(x, y))",               "le(y, x)").when("no_nan x, no_nan y"),
    Rule::new("not-le",               Exact,    "not(le(x, y))",               "lt(y, x)").when("no_nan x, no_nan y"),
    Rule::new("eq-self",              Exact,    "eq(x, x)",                    "true").when("no_nan x"),
    Rule::new("ne-self",              Exact,    "ne(x, x)",                    "false").when("no_nan x"),
    Rule::new("lt-self",              Exact,    "lt(x, x)",                    "false"),
    Rule::new("le-self",              Exact,    "le(x, x)",                    "true").when("no_nan x"),
    Rule::new("eq-true",              Exact,    "eq(x, true)",                 "x"),
    Rule::new("eq-false",             Exact,    "eq(x, false)",                "not(x)"),
    Rule::new("ne-true",              Exact,    "ne(x, true)",                 "not(x)"),
    Rule::new("ne-false",             Exact,    "ne(x, false)",                "x"),
    Rule::new("lt-neg-neg",           Exact,    "lt(neg(x), neg(y))",          "lt(y, x)").when("float x"),
    Rule::new("le-neg-neg",           Exact,    "le(neg(x), neg(y))",          "le(y, x)").when("float x"),
    Rule::new("eq-shifted-int",       Exact,    "eq(add(x, C), D)",            "eq(x, sub(D, C))").when("int x"),
    Rule::new("ne-shifted-int",       Exact,    "ne(add(x, C), D)",            "ne(x, sub(D, C))").when("int x"),
    Rule::new("lt-zero-nonneg",       Exact,    "lt(x, 0)",                    "false").when("nonneg x"),
    Rule::new("zero-le-nonneg",       Exact,    "le(0, x)",                    "true").when("nonneg x, no_nan x"),
    Rule::build("count-below",        Exact,    "lt(iota.i(), C)",             "true, if it counts no further",   counts_below),
    Rule::new("lt-or-eq",             Exact,    "or(lt(x, y), eq(x, y))",      "le(x, y)"),
    Rule::new("le-and-ne",            Exact,    "and(le(x, y), ne(x, y))",     "lt(x, y)"),
    Rule::new("not-and-not",          Exact,    "and(not(x), not(y))",         "not(or(x, y))"),
    Rule::new("not-or-not",           Exact,    "or(not(x), not(y))",          "not(and(x, y))"),
];

/// `x / C` as a product with the reciprocal, which is a constant.
fn times_reciprocal(rw: &mut Rw) -> Option<Id> {
    let (x, c) = (rw.var('x'), rw.var('C'));
    let ty = rw.ty(c);
    let one = rw.splat_f64(ty, 1.0)?;
    let by = rw.binary(BinaryOp::Div, one, c)?;
    rw.binary(BinaryOp::Mul, x, by)
}

/// A mean of two values with weights that add up to 1 takes one constant. The greater weight, which goes, has to be 1 less
/// the other as exactly as its type can say; the smaller one has to be felt beside it: 0.999 is 1 in bf16, where 0.001 is
/// not 0. And were the smaller one to go, `y - x` could be all that is left of x.
fn toward(rw: &mut Rw) -> Option<Id> {
    let (x, y, d) = (rw.var('x'), rw.var('y'), rw.var('D'));
    let ty = rw.ty(d);
    let (gone, kept) = (rw.splat_value(rw.var('C'))?, rw.splat_value(d)?);
    let half_a_place = spacing(ty.elem) / 2.0;
    let adds_up = (gone + kept - 1.0).abs() <= half_a_place * gone.abs();
    let felt = encode_f64(ty.elem, gone) != encode_f64(ty.elem, 1.0);
    if !adds_up || !felt || kept.abs() > gone.abs() {
        return None;
    }
    let apart = rw.binary(BinaryOp::Sub, y, x)?;
    let step = rw.binary(BinaryOp::Mul, apart, d)?;
    rw.binary(BinaryOp::Add, x, step)
}

/// From 1 to the next number of the type.
fn spacing(elem: Elem) -> f64 {
    let bits = match elem {
        Elem::F64 => 52,
        Elem::F16 => 10,
        Elem::BF16 => 7,
        _ => 23,
    };
    f64::powi(0.5, bits)
}

fn counts_below(rw: &mut Rw) -> Option<Id> {
    let Op::Iota { ty, axis } = rw.op('i')? else {
        return None;
    };
    let count = *ty.shape.get(axis)?;
    let last = count.checked_sub(1)? as u64;
    let below = super::convert::counts_to(ty.elem) >= count as u64
        && rw.splat_value(rw.var('C'))? > last as f64;
    let to = rw.ty(rw.root());
    below.then(|| rw.splat_bits(to, 1))?
}
