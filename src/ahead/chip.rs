//! The figures of the chips that programs are compiled for.

use tpuc_compiler::opt::cost::device::{DeviceCost, TPU_V5E, TPU_V5P, TPU_V6E};

/// A kind of chip.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// As targets name it.
    pub family: &'static str,
    pub cost: &'static DeviceCost,
    /// Bytes a second to its neighbours, in one direction over all its links.
    pub interconnect: f64,
    /// Dollars for an hour of one chip.
    pub price: f64,
}

/// What the prices are, and of when; they change, and `--price` says the one that counts.
pub const PRICES: &str =
    "list price on demand in the United States, cloud.google.com/tpu/pricing, of June 2025";

/// The interconnect is that of Google Cloud's pages on the chips: 1600, 4800 and 3584 Gbit/s.
const CHIPS: [Chip; 3] = [
    Chip {
        family: "v5e",
        cost: &TPU_V5E,
        interconnect: 200e9,
        price: 1.20,
    },
    Chip {
        family: "v5p",
        cost: &TPU_V5P,
        interconnect: 600e9,
        price: 4.20,
    },
    Chip {
        family: "v6e",
        cost: &TPU_V6E,
        interconnect: 448e9,
        price: 2.70,
    },
];

/// The chip of a target such as `v6e:2x2`; `None` for those of which only the compiler knows something.
pub fn of_target(target: &str) -> Option<&'static Chip> {
    let family = target.split(':').next()?;
    CHIPS.iter().find(|c| c.family.eq_ignore_ascii_case(family))
}
