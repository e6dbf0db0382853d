//! The random inputs.

use tpuc_compiler::interp::Array;
use tpuc_compiler::ir::Type;

/// A small generator of its own, so that a seed gives the same check everywhere: SplitMix64.
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Floats between −1.5 and 1.5; other elements are 0 or 1.
    pub fn array(&mut self, ty: &Type) -> Array {
        let values: Vec<f64> = (0..ty.numel())
            .map(|_| {
                let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
                if ty.elem.is_float() {
                    3.0 * unit - 1.5
                } else {
                    (unit * 2.0).floor()
                }
            })
            .collect();
        if ty.elem.is_float() {
            Array::floats(ty.clone(), values)
        } else {
            Array::of(ty.clone(), &values)
        }
    }
}
