//! Random builtins: bit for bit `jax.random` with the threefry generator, partitionable.

use super::Call;
use super::index;
use super::reduce::extreme_position;
use crate::ir::num::Num;
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

/// A value that the device's compiler does not compute itself where it is constant: it rounds functions otherwise than
/// the device does. Hiding the key instead makes its analysis of the generator exponential.
fn hidden(b: &mut Builder, x: Value) -> Value {
    b.push(Op::Barrier, vec![x], vec![])[0]
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
    // From 0 nothing is rounded; elsewhere the device multiplies and adds in one, and its compiler would not.
    let from_zero = c.literal_int(1) == Some(0);
    let lo = if from_zero { lo } else { hidden(b, lo) };
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
    // Hidden as a scalar, so that the array is made in one kernel.
    let lo = hidden(b, lo);
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
    if elem.bits() == 64 {
        let high = b.convert(y0, Elem::U64);
        let low = b.convert(y1, Elem::U64);
        let shift = b.like(high, 32.0);
        let high = b.binary(BinaryOp::Shl, high, shift);
        let word = b.binary(BinaryOp::Or, high, low);
        return b.convert(word, elem);
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

/// `fold_in(k, i)`: the block of the counter i.
pub(super) fn fold_in(b: &mut Builder, c: &Call) -> Value {
    let data = b.convert(c.args[1], Elem::U32);
    let (zero, data) = (b.full(Elem::U32, &[1], 0.0), b.reshape(data, &[1]));
    let (y0, y1) = threefry(b, c.args[0], zero, data);
    b.concat(&[y0, y1], 0)
}

pub(super) fn bits(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    random_bits(b, c.args[0], out.elem, &out.shape)
}

/// `bernoulli(k, p, shape)`.
pub(super) fn bernoulli(b: &mut Builder, c: &Call) -> Value {
    bernoulli_mask(b, c.args[0], c.args[1], &c.out().shape)
}

/// True with probability `p`, which broadcasts to `shape`.
pub(super) fn bernoulli_mask(b: &mut Builder, key: Value, p: Value, shape: &[usize]) -> Value {
    let u = unit_uniform(b, key, &Type::new(b.elem_of(p), shape));
    b.compare(crate::ir::CompareOp::Lt, u, p)
}

fn unit_uniform(b: &mut Builder, key: Value, out: &Type) -> Value {
    let (lo, hi) = (b.full(out.elem, &[], 0.0), b.full(out.elem, &[], 1.0));
    uniform_between(b, key, out, lo, hi)
}

/// `randint(k, shape, lo, hi)`. Narrow types draw in 32 bits, as JAX does.
pub(super) fn randint(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let (lo, hi) = (c.args[1], c.args[2]);
    if out.elem.bits() >= 32 {
        return randint_between(b, c.args[0], &out, lo, hi);
    }
    // Narrow types are drawn in 32 bits, where the number above the largest has its place as the end of a range.
    let drawn = out.with_elem(Elem::I32);
    let (least, end) = match (out.elem.is_signed_int(), out.elem.bits() as i32) {
        (true, bits) => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        (false, bits) => (0.0, 2f64.powi(bits)),
    };
    let lo = within(b, lo, least, end - 1.0);
    let hi = within(b, hi, least, end);
    let x = randint_between(b, c.args[0], &drawn, lo, hi);
    b.convert(x, out.elem)
}

/// A bound of a narrow type as `i32`: one that is given so is brought into the range.
fn within(b: &mut Builder, bound: Value, least: f64, most: f64) -> Value {
    if b.elem_of(bound) != Elem::I32 {
        return b.convert(bound, Elem::I32);
    }
    let (least, most) = (b.like(bound, least), b.like(bound, most));
    let raised = b.binary(BinaryOp::Max, bound, least);
    b.binary(BinaryOp::Min, raised, most)
}

/// Twice the bits of the type, folded into the span.
fn randint_between(b: &mut Builder, key: Value, out: &Type, lo: Value, hi: Value) -> Value {
    let word = if out.elem.bits() == 32 {
        Elem::U32
    } else {
        Elem::U64
    };
    let (k1, k2) = split_two(b, key);
    let higher = random_bits(b, k1, word, &out.shape);
    let lower = random_bits(b, k2, word, &out.shape);
    let width = b.binary(BinaryOp::Sub, hi, lo);
    let span = b.convert(width, word);
    let one = b.like(span, 1.0);
    let empty = b.compare(crate::ir::CompareOp::Le, hi, lo);
    let span = b.select(empty, one, span);
    let half = b.like(span, 2f64.powi(word.bits() as i32 / 2));
    let multiplier = b.binary(BinaryOp::Rem, half, span);
    let multiplier = b.binary(BinaryOp::Mul, multiplier, multiplier);
    let multiplier = b.binary(BinaryOp::Rem, multiplier, span);
    let high = b.binary(BinaryOp::Rem, higher, span);
    let high = b.binary(BinaryOp::Mul, high, multiplier);
    let low = b.binary(BinaryOp::Rem, lower, span);
    let offset = b.binary(BinaryOp::Add, high, low);
    let offset = b.binary(BinaryOp::Rem, offset, span);
    let offset = b.convert(offset, out.elem);
    b.binary(BinaryOp::Add, lo, offset)
}

fn split_two(b: &mut Builder, key: Value) -> (Value, Value) {
    let (y0, y1) = blocks(b, key, &[2]);
    let (c0, c1) = (b.reshape(y0, &[2, 1]), b.reshape(y1, &[2, 1]));
    let keys = b.concat(&[c0, c1], 1);
    let (first, second) = (b.slice_axis(keys, 0, 0, 1), b.slice_axis(keys, 0, 1, 2));
    (b.reshape(first, &[2]), b.reshape(second, &[2]))
}

/// `permutation(k, n)`, or the rows of `permutation(k, x)`: JAX sorts a vector itself, and of more dimensions the row
/// numbers.
pub(super) fn permutation(b: &mut Builder, c: &Call) -> Value {
    match c.args.get(1) {
        None => {
            let count = b.iota(Elem::I32, &c.out().shape, 0);
            shuffled(b, c.args[0], count)
        }
        Some(&x) => {
            let rows = b.ty(x).shape[0];
            let count = b.iota(Elem::I32, &[rows], 0);
            let order = shuffled(b, c.args[0], count);
            index::along_axis(b, x, order, 0)
        }
    }
}

/// A vector sorted by random words, as often as collisions make it needful.
fn shuffled(b: &mut Builder, key: Value, x: Value) -> Value {
    let shape = b.shape_of(x);
    let n = b.ty(x).numel();
    let rounds = (3.0 * (n.max(1) as f64).ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    let (mut order, mut key) = (x, key);
    for _ in 0..rounds {
        let (next, sub) = split_two(b, key);
        key = next;
        let words = random_bits(b, sub, Elem::U32, &shape);
        let sort = Op::Sort {
            axis: 0,
            keys: 1,
            descending: false,
            total: false,
        };
        order = b.push(sort, vec![words, order], vec![])[1];
    }
    order
}

pub(super) fn gumbel(b: &mut Builder, c: &Call) -> Value {
    gumbel_noise(b, c.args[0], &c.out())
}

/// −log(−log u), u uniform from the smallest normal number to 1.
fn gumbel_noise(b: &mut Builder, key: Value, out: &Type) -> Value {
    let tiny = Literal::splat_bits(Type::scalar(out.elem), smallest_normal(out.elem));
    let lo = b.op(Op::Constant(tiny), &[]);
    let hi = b.full(out.elem, &[], 1.0);
    let mut x = uniform_between(b, key, out, lo, hi);
    for _ in 0..2 {
        x = b.unary(UnaryOp::Log, x);
        x = b.unary(UnaryOp::Neg, x);
    }
    x
}

fn smallest_normal(elem: Elem) -> u64 {
    match elem {
        Elem::F64 => f64::MIN_POSITIVE.to_bits(),
        Elem::F16 => 0x0400,
        Elem::BF16 => 0x0080,
        _ => u64::from(f32::MIN_POSITIVE.to_bits()),
    }
}

/// `categorical(k, logits)` along `axis` (the last). Further draws stand on leading dimensions, each with noise of its
/// own.
pub(super) fn categorical(b: &mut Builder, c: &Call) -> Value {
    let logits = c.args[1];
    let ty = b.ty(logits).clone();
    let out = c.out().shape;
    let draws = out.len() + 1 - ty.rank();
    let axis = c.attrs.axis(ty.rank(), -1);
    let classes = ty.shape[axis];
    let axis = draws + axis;
    let mut shape = out;
    shape.insert(axis, classes);
    let noise = gumbel_noise(b, c.args[0], &Type::new(ty.elem, shape));
    let noisy = b.binary(BinaryOp::Add, noise, logits);
    extreme_position(b, noisy, axis, true)
}

/// `truncated_normal(k, lo, hi, shape)`.
pub(super) fn truncated_normal(b: &mut Builder, c: &Call) -> Value {
    let out = c.out();
    let root = b.full(out.elem, &[], std::f64::consts::SQRT_2);
    let ends: Vec<Value> = c.args[1..3]
        .iter()
        .map(|&end| {
            let end = hidden(b, end);
            let scaled = b.binary(BinaryOp::Div, end, root);
            b.unary(UnaryOp::Erf, scaled)
        })
        .collect();
    // Bounds count as constants for differentiation only where they are clamped against, as in JAX.
    let u = uniform_between(b, c.args[0], &out, ends[0], ends[1]);
    let inverse = b.unary(UnaryOp::ErfInv, u);
    let x = b.binary(BinaryOp::Mul, root, inverse);
    let lo = b.op(Op::StopGradient, &[c.args[1]]);
    let hi = b.op(Op::StopGradient, &[c.args[2]]);
    let (lo, hi) = (next_after(b, lo, true), next_after(b, hi, false));
    let all = b.together(&[lo, x, hi]);
    b.op(Op::Clamp, &all)
}

/// The neighbour of a float toward +∞ or −∞, by its bits.
fn next_after(b: &mut Builder, x: Value, up: bool) -> Value {
    use crate::ir::CompareOp::{Eq, Gt, Lt};
    let elem = b.elem_of(x);
    let word = match elem.bits() {
        16 => Elem::I16,
        32 => Elem::I32,
        _ => Elem::I64,
    };
    let bits = b.op(Op::Bitcast(word), &[x]);
    let one = b.like(bits, 1.0);
    let (more, less) = (
        b.binary(BinaryOp::Add, bits, one),
        b.binary(BinaryOp::Sub, bits, one),
    );
    let zero = b.like(x, 0.0);
    let positive = b.compare(if up { Gt } else { Lt }, x, zero);
    let away = b.select(positive, more, less);
    let away = b.op(Op::Bitcast(elem), &[away]);
    let smallest = Literal::splat_bits(
        Type::new(elem, b.shape_of(x)),
        if up { 1 } else { 1 | sign_bit(elem) },
    );
    let smallest = b.op(Op::Constant(smallest), &[]);
    let is_zero = b.compare(Eq, x, zero);
    let next = b.select(is_zero, smallest, away);
    let end = b.like(x, if up { f64::INFINITY } else { f64::NEG_INFINITY });
    let at_end = b.compare(Eq, x, end);
    b.select(at_end, x, next)
}

fn sign_bit(elem: Elem) -> u64 {
    1 << (elem.bits() - 1)
}
