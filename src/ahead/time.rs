//! What the kernels of a program take on a chip: a roofline over each.

use super::chip::Chip;
use tpuc_compiler::ir::Elem;
use tpuc_runtime::hlo::kernels::Kernels;
use tpuc_runtime::hlo::{Kernel, Product};

/// Seconds, by what they go to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Arithmetic at the chip's peak.
    pub compute: f64,
    /// Traffic of the main memory at its peak.
    pub memory: f64,
    /// Sending between chips.
    pub interconnect: f64,
    /// Starting kernels.
    pub launch: f64,
    /// All in all: each kernel takes the longer of its arithmetic, at the part of the matrix unit that it fills, and
    /// its traffic; copies that overlap only bound a loop's turn by its traffic.
    pub total: f64,
}

impl Seconds {
    fn add(&mut self, more: Seconds, times: f64) {
        self.compute += more.compute * times;
        self.memory += more.memory * times;
        self.interconnect += more.interconnect * times;
        self.launch += more.launch * times;
        self.total += more.total * times;
    }

    /// The least that arithmetic, traffic and sending allow, were each alone and at its peak.
    pub fn roofline(&self) -> f64 {
        self.compute.max(self.memory).max(self.interconnect)
    }

    /// What takes the longest.
    pub fn bound(&self) -> &'static str {
        let roofline = self.roofline();
        if self.launch > roofline {
            "latency"
        } else if roofline == self.compute {
            "compute"
        } else if roofline == self.memory {
            "memory"
        } else {
            "interconnect"
        }
    }
}

/// One run of the whole program, on `chips` of them.
pub fn of_program(kernels: &Kernels, chip: &Chip, chips: usize) -> Seconds {
    of_level(kernels, None, chip, chips)
}

/// One turn of a loop.
pub fn of_turn(kernels: &Kernels, number: usize, chip: &Chip, chips: usize) -> Seconds {
    of_level(kernels, Some(number), chip, chips)
}

fn of_level(kernels: &Kernels, level: Option<usize>, chip: &Chip, chips: usize) -> Seconds {
    let mut sum = Seconds::default();
    let mut memory = 0.0;
    for kernel in kernels.kernels.iter().filter(|k| k.inside == level) {
        let one = of_kernel(kernel, chip, chips);
        memory += one.memory;
        sum.add(one, 1.0);
    }
    sum.total = sum.total.max(memory);
    for (number, inner) in kernels.loops.iter().enumerate() {
        if inner.inside == level {
            let turn = of_level(kernels, Some(number), chip, chips);
            sum.add(turn, inner.count.unwrap_or(1) as f64);
        }
    }
    sum
}

/// One run of a kernel.
pub fn of_kernel(kernel: &Kernel, chip: &Chip, chips: usize) -> Seconds {
    let products = |fill: fn(&Product) -> f64| -> f64 {
        let all = kernel.work.products.iter();
        all.map(|p| {
            let passes = f64::from(p.passes);
            p.flops() * passes / chip.cost.matrix(element(&p.element)) / fill(p).max(1e-3)
        })
        .sum()
    };
    let other = kernel.work.other / chip.cost.vector;
    let memory = kernel.bytes as f64 / chip.cost.bandwidth;
    let interconnect = kernel.sent.map_or(0.0, |(kind, bytes)| {
        sending(kind, bytes, chips) / chip.interconnect
    });
    // A scalar instruction starts nothing.
    let starts = !kernel.overlapped && (kernel.work.flops() > 1.0 || kernel.bytes > 512);
    let launch = if starts { chip.cost.launch } else { 0.0 };
    let filled = products(Product::fill) + other;
    let total = match kernel.overlapped && kernel.sent.is_none() {
        true => 0.0,
        false => filled.max(memory) + interconnect + launch,
    };
    Seconds {
        compute: products(|_| 1.0) + other,
        memory,
        interconnect,
        launch,
        total,
    }
}

/// Bytes that go over a chip's links, in a ring.
fn sending(kind: &str, bytes: u64, chips: usize) -> f64 {
    let n = chips.max(1) as f64;
    let part = (n - 1.0) / n;
    match kind {
        "all-reduce" => 2.0 * part * bytes as f64,
        // The result is the part that stays.
        "reduce-scatter" => (n - 1.0) * bytes as f64,
        "all-gather" | "all-to-all" => part * bytes as f64,
        _ => bytes as f64,
    }
}

fn element(name: &str) -> Elem {
    match name {
        "f32" => Elem::F32,
        "bf16" => Elem::BF16,
        "f16" => Elem::F16,
        "f64" => Elem::F64,
        _ => Elem::I32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::chip::of_target;
    use super::*;
    use tpuc_runtime::hlo::kernels::Loop;
    use tpuc_runtime::hlo::{Kernel, Work};

    fn product(n: f64, inside: Option<usize>) -> Kernel {
        let product = Product {
            rows: n,
            inner: n,
            columns: n,
            element: "f32".into(),
            passes: 1,
            place: None,
        };
        Kernel {
            name: "p".into(),
            op: "fusion".into(),
            place: None,
            work: Work {
                products: vec![product],
                other: 0.0,
            },
            bytes: 1640,
            overlapped: false,
            sent: None,
            inside,
        }
    }

    #[test]
    fn a_turn_counts_as_often_as_it_runs() {
        let chip = of_target("v6e:1x1").unwrap();
        let kernels = Kernels {
            kernels: vec![product(1024.0, Some(0)), product(1024.0, None)],
            loops: vec![Loop {
                place: None,
                count: Some(9),
                inside: None,
            }],
        };
        let one = 2.0 * 1024f64.powi(3) / 918e12;
        let seconds = of_program(&kernels, chip, 1);
        assert!((seconds.compute / (10.0 * one) - 1.0).abs() < 1e-9);
        assert!((seconds.memory / 1e-8 - 1.0).abs() < 1e-9);
        assert_eq!(seconds.bound(), "compute");
        assert!(seconds.total > seconds.roofline());
        let turn = of_turn(&kernels, 0, chip, 1);
        assert!((turn.compute / one - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_does_not_fill_the_unit_takes_longer_than_its_flops() {
        let chip = of_target("v6e:1x1").unwrap();
        let full = of_kernel(&product(128.0, None), chip, 1);
        let half = of_kernel(&product(64.0, None), chip, 1);
        assert!((full.compute / half.compute - 8.0).abs() < 1e-9);
        let arithmetic = |s: &Seconds| s.total - s.launch;
        // Of 64 rows none is wasted, of 64 columns and 64 products each half.
        assert!((arithmetic(&full) / arithmetic(&half) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn collectives_take_the_links() {
        let chip = of_target("v6e:2x2").unwrap();
        let mut kernel = product(8.0, None);
        kernel.work = Work::default();
        kernel.sent = Some(("all-reduce", 448_000));
        let seconds = of_kernel(&kernel, chip, 4);
        assert!((seconds.interconnect / 1.5e-6 - 1.0).abs() < 1e-9);
        assert_eq!(of_kernel(&kernel, chip, 1).interconnect, 0.0);
    }
}
