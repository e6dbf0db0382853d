//! Random builtins: bit for bit `jax.random` with the threefry generator, partitionable.

use super::Call;
use super::num::Num;
use crate::ir::{BinaryOp, Builder, Elem, Literal, Op, Type, UnaryOp, Value};

/// `key(seed)`: the words (high, low) of the seed; a 32-bit seed has no high word.
pub(super) fn key(b: &mut Builder, c: &Call) -> Value {
    let seed = c.args[0];
    let (high, low) = if matches!(b.elem_of(seed), Elem::I64 | Elem::U64) {
        let wide = b.convert(seed, Elem::U64);
        let shift = b.like(wide, 32.0);
        let high = b.binary(BinaryOp::ShrLogical, wide, shift);
        (b.convert(high, Elem::U32), b.convert(wide, Elem::U32))
    } else {
        (b.int(Elem::U32, 0), b.convert(seed, Elem::U32))
    };
    pair(b, high, low)
}

/// `split(k)`, `split(k, n)`: the i-th new key is the block of the counter i.
pub(super) fn split(b: &mut Builder, c: &Call) -> Value {
    let shape = c.out().shape;
    let counters = &shape[..shape.len() - 1];
    let (y0, y1) = blocks(b, c.args[0], counters);
    let words: Vec<Value> = [y0, y1]
        .into_iter()
        .map(|y| b.reshape(y, &append(counters, 1)))
        .collect();
    b.concat(&words, counters.len())
}

pub(super) fn uniform(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let (lo, hi) = (c.args[1], c.args[2]);
    uniform_between(b, c.args[0], &out, lo, hi)
}

/// √2 · erf⁻¹(u), u uniform on (−1, 1).
pub(super) fn normal(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let scalar = Type::scalar(out.elem);
    let lo = b.op(
        Op::Constant(Literal::splat_bits(
            scalar.clone(),
            above_minus_one(out.elem),
        )),
        &[],
    );
    let hi = b.op(Op::Constant(Literal::splat_f64(scalar, 1.0)), &[]);
    let u = uniform_between(b, c.args[0], &out, lo, hi);
    let inverse = b.unary(UnaryOp::ErfInv, u);
    let root = b.like(inverse, std::f64::consts::SQRT_2);
    b.binary(BinaryOp::Mul, root, inverse)
}

/// The bit pattern of the number next above −1.
fn above_minus_one(elem: Elem) -> u64 {
    crate::ir::literal::encode_f64(elem, -1.0) - 1
}

/// The mantissa of a float in [1, 2) is filled with random bits; then scaled to [lo, hi).
fn uniform_between(b: &mut Builder, key: Value, out: &Type, lo: Value, hi: Value) -> Value {
    let (mantissa, word) = match out.elem {
        Elem::F64 => (52, Elem::U64),
        Elem::F16 => (10, Elem::U16),
        Elem::BF16 => (7, Elem::U16),
        _ => (23, Elem::U32),
    };
    // bf16 has fewer mantissa bits than a byte: JAX draws 8.
    let drawn = if mantissa < 8 { Elem::U8 } else { word };
    let bits = random_bits(b, key, drawn, &out.shape);
    let bits = b.convert(bits, word);
    let shift = b.like(bits, (drawn.bits() - mantissa) as f64);
    let bits = b.binary(BinaryOp::ShrLogical, bits, shift);
    let one = Literal::splat_bits(
        Type::new(word, out.shape.clone()),
        crate::ir::literal::encode_f64(out.elem, 1.0),
    );
    let one = b.op(Op::Constant(one), &[]);
    let bits = b.binary(BinaryOp::Or, bits, one);
    let float = b.op(Op::Bitcast(out.elem), &[bits]);
    let unit = b.like(float, 1.0);
    let float = b.binary(BinaryOp::Sub, float, unit);
    let width = b.binary(BinaryOp::Sub, hi, lo);
    let scaled = b.binary(BinaryOp::Mul, float, width);
    let moved = b.binary(BinaryOp::Add, scaled, lo);
    b.binary(BinaryOp::Max, lo, moved)
}

/// Random bits of an unsigned type: the two words of the block of each element's position, combined.
pub(super) fn random_bits(b: &mut Builder, key: Value, elem: Elem, shape: &[usize]) -> Value {
    let (y0, y1) = blocks(b, key, shape);
    if elem == Elem::U64 {
        let high = b.convert(y0, Elem::U64);
        let low = b.convert(y1, Elem::U64);
        let shift = b.like(high, 32.0);
        let high = b.binary(BinaryOp::Shl, high, shift);
        return b.binary(BinaryOp::Or, high, low);
    }
    let word = b.binary(BinaryOp::Xor, y0, y1);
    b.convert(word, elem)
}

/// Threefry of the 64-bit row-major position of each element, as two words.
pub(super) fn blocks(b: &mut Builder, key: Value, shape: &[usize]) -> (Value, Value) {
    let n: usize = shape.iter().product();
    let flat = if n > u32::MAX as usize {
        let wide = b.iota(Elem::U64, &[n], 0);
        let shift = b.like(wide, 32.0);
        let high = b.binary(BinaryOp::ShrLogical, wide, shift);
        (b.convert(high, Elem::U32), b.convert(wide, Elem::U32))
    } else {
        (b.full(Elem::U32, &[n], 0.0), b.iota(Elem::U32, &[n], 0))
    };
    let (high, low) = (b.reshape(flat.0, shape), b.reshape(flat.1, shape));
    threefry(b, key, high, low)
}

pub(super) fn threefry(b: &mut Builder, key: Value, x0: Value, x1: Value) -> (Value, Value) {
    let shape = b.shape_of(x0);
    let words: Vec<Value> = (0..2)
        .map(|i| {
            let word = b.slice_axis(key, 0, i, i + 1);
            let word = b.reshape(word, &[]);
            b.broadcast_to(word, &shape)
        })
        .collect();
    let out = b.push(Op::Threefry, vec![words[0], words[1], x0, x1], vec![]);
    (out[0], out[1])
}

fn pair(b: &mut Builder, high: Value, low: Value) -> Value {
    let (high, low) = (b.reshape(high, &[1]), b.reshape(low, &[1]));
    b.concat(&[high, low], 0)
}

fn append(shape: &[usize], last: usize) -> Vec<usize> {
    shape.iter().copied().chain([last]).collect()
}
