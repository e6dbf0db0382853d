//! What a device can do per second: the numbers of the roofline, and where each comes from.
//!
//! Peaks are what a well-shaped kernel reaches, not promises. Where the vendor gives no figure the number is an
//! estimate and says so; only ratios matter for choosing between programs.

use crate::ir::types::Elem;

/// Rates of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceCost {
    pub name: &'static str,
    /// Matrix products: operations a second (a multiply-add counts 2) in f32 at default precision.
    pub matrix_f32: f64,
    /// The same in bf16 and f16.
    pub matrix_half: f64,
    /// The same in f64 and integers.
    pub matrix_other: f64,
    /// Elementwise operations a second in f32.
    pub vector: f64,
    /// Bytes a second to and from main memory.
    pub bandwidth: f64,
    /// Seconds to start one kernel inside an executable.
    pub launch: f64,
    /// Seconds to fetch one row from a position that is known at run time only.
    pub row: f64,
    /// Whether elementwise operations before and after a matrix product are computed in its kernel, which a library
    /// that is called does not do.
    pub fuses_products: bool,
    /// Bytes of what one kernel leaves for the next that stay on the chip, because the compiler places them there; 0 where
    /// a cache decides.
    pub on_chip: u64,
    /// Where the numbers come from.
    pub source: &'static str,
}

/// Half of a TPU core's vector memory of 128 MiB (https://jax-ml.github.io/scaling-book/tpus), for the other half is in use.
const ON_CHIP_TPU: u64 = 64 << 20;

/// How many times as fast as the main memory that memory is: about 22 by the same source, less what is not overlapped.
pub const ON_CHIP_SPEED: u64 = 16;

/// Two cores of a current x86-64 server.
pub const CPU: DeviceCost = DeviceCost {
    name: "cpu",
    matrix_f32: 186e9,
    matrix_half: 60e9,
    matrix_other: 40e9,
    vector: 24e9,
    bandwidth: 20e9,
    launch: 0.5e-6,
    row: 5e-9,
    fuses_products: false,
    on_chip: 0,
    source: "matrix_f32 measured on two cores; the rest estimated from vector width and clock",
};

pub const TPU_V5E: DeviceCost = DeviceCost {
    name: "v5e",
    matrix_f32: 197e12,
    matrix_half: 197e12,
    matrix_other: 20e12,
    vector: 6e12,
    bandwidth: 819e9,
    launch: 0.4e-6,
    row: 10e-9,
    fuses_products: true,
    on_chip: ON_CHIP_TPU,
    source: "https://cloud.google.com/tpu/docs/v5e (197 TFLOP/s bf16, 819 GB/s); f32 at default precision is one bf16 pass; \
             matrix_other, vector, launch and row estimated",
};

pub const TPU_V5P: DeviceCost = DeviceCost {
    name: "v5p",
    matrix_f32: 459e12,
    matrix_half: 459e12,
    matrix_other: 46e12,
    vector: 14e12,
    bandwidth: 2765e9,
    launch: 0.4e-6,
    row: 10e-9,
    fuses_products: true,
    on_chip: ON_CHIP_TPU,
    source: "https://cloud.google.com/tpu/docs/v5p (459 TFLOP/s bf16, 2765 GB/s); f32 at default precision is one bf16 pass; \
             matrix_other, vector, launch and row estimated",
};

pub const TPU_V6E: DeviceCost = DeviceCost {
    name: "v6e",
    matrix_f32: 918e12,
    matrix_half: 918e12,
    matrix_other: 92e12,
    vector: 14e12,
    bandwidth: 1640e9,
    launch: 0.4e-6,
    row: 10e-9,
    fuses_products: true,
    on_chip: ON_CHIP_TPU,
    source: "https://cloud.google.com/tpu/docs/v6e (918 TFLOP/s bf16, 1640 GB/s); f32 at default precision is one bf16 pass; \
             matrix_other, vector, launch and row estimated",
};

pub const H200: DeviceCost = DeviceCost {
    name: "h200",
    matrix_f32: 494e12,
    matrix_half: 989e12,
    matrix_other: 67e12,
    vector: 33e12,
    bandwidth: 4800e9,
    launch: 2e-6,
    row: 0.02e-9,
    fuses_products: false,
    on_chip: 0,
    source: "https://www.nvidia.com/en-us/data-center/h200/, SXM, dense (TF32 494, BF16 989, FP64 tensor 67 TFLOP/s; 4.8 TB/s); \
             vector is half the FP32 figure, launch and row estimated",
};

/// All devices that have numbers.
pub const DEVICES: &[&DeviceCost] = &[&CPU, &TPU_V5E, &TPU_V5P, &TPU_V6E, &H200];

impl DeviceCost {
    /// Operations a second of a matrix product.
    pub fn matrix(&self, elem: Elem) -> f64 {
        match elem {
            Elem::F32 => self.matrix_f32,
            Elem::BF16 | Elem::F16 => self.matrix_half,
            Elem::F64
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::Bool => self.matrix_other,
        }
    }
}
