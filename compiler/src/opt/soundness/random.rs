//! Random numbers, element types, shapes and data for the tests: small, and rich in the cases where rules go wrong.

use crate::interp::Array;
use crate::ir::literal::encode_f64;
use crate::ir::types::{Elem, Shape, Type};

/// SplitMix64: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    /// A seed of its own for each rule.
    pub fn named(name: &str) -> Random {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Random(hash)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    /// Each of `0..n` with even chance, ascending.
    pub fn subset(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.chance(50)).collect()
    }

    pub fn elem(&mut self) -> Elem {
        self.pick(&[
            Elem::F32,
            Elem::F32,
            Elem::F32,
            Elem::F64,
            Elem::BF16,
            Elem::F16,
            Elem::I32,
            Elem::I32,
            Elem::I8,
            Elem::I16,
            Elem::I64,
            Elem::U8,
            Elem::U16,
            Elem::U32,
            Elem::U64,
            Elem::Bool,
            Elem::Bool,
        ])
    }

    pub fn size(&mut self) -> usize {
        self.pick(&[0, 1, 1, 2, 2, 3, 3, 4])
    }

    pub fn shape(&mut self) -> Shape {
        let rank = self.pick(&[0, 1, 1, 2, 2, 2, 3]);
        (0..rank).map(|_| self.size()).collect()
    }

    /// Data of a type, for a class of rules.
    pub fn array(&mut self, ty: &Type, data: Values) -> Array {
        let bits = (0..ty.numel()).map(|_| self.value(ty.elem, data)).collect();
        Array::from_bits(ty.clone(), bits)
    }

    /// The pattern of one element.
    pub fn value(&mut self, elem: Elem, data: Values) -> u64 {
        if !elem.is_float() {
            return self.int(elem);
        }
        let plain = self.plain();
        let special = match data {
            Values::Everything => 50,
            Values::Special => 35,
            Values::Finite => 0,
        };
        if !self.chance(special) {
            return encode_f64(elem, plain);
        }
        let some = [
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.0,
            -1.0,
            2.0,
            0.5,
        ];
        if data == Values::Special || self.chance(60) {
            return encode_f64(elem, self.pick(&some));
        }
        // The smallest and largest subnormal, the smallest normal and the largest number, of either sign.
        let (width, fraction) = match elem {
            Elem::F64 => (64, 52),
            Elem::F32 => (32, 23),
            Elem::BF16 => (16, 7),
            _ => (16, 10),
        };
        let infinity = ((1u64 << (width - 1)) - 1) & !((1u64 << fraction) - 1);
        let pattern = self.pick(&[1, (1 << fraction) - 1, 1 << fraction, infinity - 1]);
        pattern | u64::from(self.chance(50)) << (width - 1)
    }

    /// A number whose size is near 1, halves and integers among them, so that ties occur.
    fn plain(&mut self) -> f64 {
        let size = if self.chance(50) {
            (1 + self.below(8)) as f64 * 0.5
        } else {
            0.25 + (self.bits() >> 11) as f64 / (1u64 << 53) as f64 * 3.0
        };
        if self.chance(40) { -size } else { size }
    }

    fn int(&mut self, elem: Elem) -> u64 {
        if elem == Elem::Bool {
            return self.bits() & 1;
        }
        let mask = if elem.bits() == 64 {
            u64::MAX
        } else {
            (1 << elem.bits()) - 1
        };
        let top = 1u64 << (elem.bits() - 1);
        let raw = match self.below(3) {
            0 => self.bits(),
            1 => self.below(8) as u64,
            _ => self.pick(&[0, 1, 2, u64::MAX, top, top - 1, top + 1, u64::MAX - 1]),
        };
        raw & mask
    }
}

/// Which floats to draw from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// NaN, infinities, signed zeros, subnormals, ties, the largest.
    Everything,
    /// As `Everything`, but nothing whose sums and products overflow or underflow.
    Special,
    /// Near 1 in size.
    Finite,
}
