//! Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, 2011): integer arithmetic, exact on every device.

use crate::ir::literal::Literal;
use crate::ir::threefry::{GROUPS, PARITY, TURNS};
use crate::ir::types::Type;
use crate::lower::emit::{Emit, Tensor};

/// Operands (k0, k1, x0, x1): key and counter. The five groups of rounds are written out: in XLA that compiles faster
/// than a loop, and runs as one kernel.
pub fn threefry<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>]) -> Vec<Tensor<'c>> {
    let ty = args[0].ty.clone();
    let args: Vec<&Tensor<'c>> = args.iter().collect();
    e.call(
        "threefry2x32",
        &args,
        &[ty.clone(), ty.clone()],
        |e, args| {
            let words = Words { e, ty };
            let parity = words.xor(&words.xor(&args[0], &args[1]), &words.number(PARITY.into()));
            let keys = [&args[0], &args[1], &parity];
            let mut x0 = words.add(&args[2], keys[0]);
            let mut x1 = words.add(&args[3], keys[1]);
            for group in 0..GROUPS {
                for turn in TURNS[group % 2] {
                    x0 = words.add(&x0, &x1);
                    x1 = words.xor(&x0, &words.turn(&x1, turn.into()));
                }
                x0 = words.add(&x0, keys[(group + 1) % 3]);
                let injected = words.add(&x1, keys[(group + 2) % 3]);
                x1 = words.add(&injected, &words.number(group as i64 + 1));
            }
            vec![x0, x1]
        },
    )
}

/// Arithmetic on tensors of u32.
struct Words<'e, 'b, 'c> {
    e: &'e Emit<'b, 'c>,
    ty: Type,
}

impl<'c> Words<'_, '_, 'c> {
    fn number(&self, value: i64) -> Tensor<'c> {
        self.e.constant(&Literal::splat_i64(self.ty.clone(), value))
    }

    fn add(&self, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        self.e.binary("stablehlo.add", x, y)
    }

    fn xor(&self, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        self.e.binary("stablehlo.xor", x, y)
    }

    /// Rotates the bits to the left.
    fn turn(&self, x: &Tensor<'c>, by: i64) -> Tensor<'c> {
        let e = self.e;
        let high = e.binary("stablehlo.shift_left", x, &self.number(by));
        let low = e.binary("stablehlo.shift_right_logical", x, &self.number(32 - by));
        e.binary("stablehlo.or", &high, &low)
    }
}
