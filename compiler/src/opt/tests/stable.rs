//! Sums of exponentials that overflow as written, and do not at `--opt 2`.

use super::{func, run};
use crate::interp::{Array, Precision, eval};
use crate::ir::op::Op;
use crate::ir::types::{Elem, Type};
use crate::opt::cost::device::{CPU, DeviceCost};
use crate::opt::{Level, optimise};

const SOURCE: &str = "
func f(%x: f32[2, 3], %y: f32[2]) -> (f32[2], f32[2, 3], f32[2, 3]) {
  %e = exp %x : f32[2, 3]
  %s = reduce_sum[axes = [1]] %e : f32[2]
  %l = log %s : f32[2]
  %q = div %y, %s : f32[2]
  %b = broadcast[dims = [0]] %q : f32[2, 3]
  %g = mul %b, %e : f32[2, 3]
  %r = reshape %s : f32[2, 1]
  %t = broadcast[dims = [0, 1]] %r : f32[2, 3]
  %p = div %e, %t : f32[2, 3]
  return %l, %g, %p
}
";

fn values(level: Level, x: &[f64]) -> Vec<Vec<f64>> {
    let (after, report) = run(SOURCE, level);
    assert_eq!(report.rejected, None);
    let inputs = [
        Array::of(Type::new(Elem::F32, [2, 3]), x),
        Array::of(Type::new(Elem::F32, [2]), &[1.0, 2.0]),
    ];
    let found = eval(&after, &inputs, Precision::Element).expect("the program runs");
    found.iter().map(Array::to_f64).collect()
}

#[test]
fn large_numbers_do_not_overflow() {
    let x = [1000.0, 1000.0, 1000.0, -2000.0, -2000.0, -1999.0];
    let plain = values(Level::Default, &x);
    assert_eq!(plain[0], [f64::INFINITY, f64::NEG_INFINITY]);
    let stable = values(Level::Aggressive, &x);
    let e = std::f64::consts::E;
    let expected = [
        vec![1000.0 + 3f64.ln(), -2000.0 + (2.0 + e).ln()],
        [1.0 / 3.0; 3]
            .into_iter()
            .chain([1.0, 1.0, e].map(|v| 2.0 * v / (2.0 + e)))
            .collect(),
        [1.0 / 3.0; 3]
            .into_iter()
            .chain([1.0, 1.0, e].map(|v| v / (2.0 + e)))
            .collect(),
    ];
    for (found, expected) in stable.iter().zip(&expected) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-6 * b.abs(), "{a}, not {b}");
        }
    }
}

#[test]
fn infinities_stay_in_logarithms_and_masked_elements_are_zero() {
    let inf = f64::INFINITY;
    let logs = &values(Level::Aggressive, &[inf, 0.0, 1.0, -inf, -inf, -inf])[0];
    assert_eq!(logs, &[inf, -inf]);
    // With all of a row masked, and with an infinity, a share is NaN, as `softmax` gives it.
    let shares = &values(Level::Aggressive, &[-inf, -inf, -inf, inf, 0.0, 1.0])[2];
    assert!(shares.iter().all(|x| x.is_nan()), "{shares:?}");
    let masked = [-inf, 0.0, 0.0, 1.0, -inf, -inf];
    let shares = &values(Level::Aggressive, &masked)[2];
    assert_eq!(shares, &[0.0, 0.5, 0.5, 1.0, 0.0, 0.0]);
    assert_eq!(shares, &values(Level::Default, &masked)[2]);
}

/// Reverse mode of `-sum(t * log(exp(x) / sum(exp(x))))`, as it comes out.
const GRADIENT: &str = "
func g(%x: f32[2, 3], %t: f32[2, 3]) -> (f32[2, 3]) {
  %e = exp %x : f32[2, 3]
  %s = reduce_sum[axes = [1]] %e : f32[2]
  %r = reshape %s : f32[2, 1]
  %b = broadcast[dims = [0, 1]] %r : f32[2, 3]
  %p = div %e, %b : f32[2, 3]
  %a = div %t, %p : f32[2, 3]
  %c = div %a, %b : f32[2, 3]
  %n = neg %c : f32[2, 3]
  %q = mul %n, %p : f32[2, 3]
  %u = reduce_sum[axes = [1]] %q : f32[2]
  %v = broadcast[dims = [0]] %u : f32[2, 3]
  %w = mul %v, %e : f32[2, 3]
  %y = mul %c, %e : f32[2, 3]
  %z = add %w, %y : f32[2, 3]
  return %z
}
";

#[test]
fn what_cancels_is_shifted_everywhere() {
    let (after, report) = run(GRADIENT, Level::Aggressive);
    assert_eq!(report.rejected, None);
    let x = [1000.0, 1000.0, 1001.0, -2000.0, -2000.0, -2000.0];
    let inputs = [
        Array::of(Type::new(Elem::F32, [2, 3]), &x),
        Array::of(
            Type::new(Elem::F32, [2, 3]),
            &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0],
        ),
    ];
    let found = eval(&after, &inputs, Precision::Element).expect("the program runs");
    // `t - sum(t) * softmax(x)`.
    let e = std::f64::consts::E;
    let of = |t: f64, all: f64, share: f64| t - all * share;
    let shares = [1.0, 1.0, e].map(|v| v / (2.0 + e));
    let expected = [
        of(1.0, 1.0, shares[0]),
        of(0.0, 1.0, shares[1]),
        of(0.0, 1.0, shares[2]),
        -2.0 / 3.0,
        2.0 - 2.0 / 3.0,
        -2.0 / 3.0,
    ];
    for (a, b) in found[0].to_f64().iter().zip(expected) {
        assert!((a - b).abs() < 1e-6, "{a}, not {b}\n{after}");
    }
    assert_eq!(after.to_string().matches(" = exp ").count(), 1, "{after}");
}

#[test]
fn what_does_not_cancel_stays_and_the_rest_is_shifted_for_itself() {
    let source = "
func two(%x: f32[2, 2]) -> (f32[2], f32[2], f32[2, 2]) {
  %e = exp %x : f32[2, 2]
  %s = reduce_sum[axes = [0]] %e : f32[2]
  %t = reduce_sum[axes = [1]] %e : f32[2]
  %l = log %s : f32[2]
  %m = log %t : f32[2]
  return %l, %m, %e
}
";
    let (after, _) = run(source, Level::Aggressive);
    let x = Array::of(Type::new(Elem::F32, [2, 2]), &[500.0, 0.0, 0.0, 500.0]);
    let found = eval(&after, &[x], Precision::Element).expect("the program runs");
    assert_eq!(found[0].to_f64(), [500.0, 500.0]);
    assert_eq!(found[1].to_f64(), [500.0, 500.0]);
    assert_eq!(found[2].to_f64()[1], 1.0);
}

/// The logarithms of sums of 128 exponentials of `3 * x`.
fn long(wanted: &str, types: &str) -> String {
    format!(
        "
func long(%x: f32[256, 128]) -> ({types}) {{
  %c = constant 3.0 : f32[256, 128]
  %t = mul %x, %c : f32[256, 128]
  %e = exp %t : f32[256, 128]
  %s = reduce_sum[axes = [1]] %e : f32[256]
  %l = log %s : f32[256]
  return {wanted}
}}
"
    )
}

#[test]
fn a_long_sum_is_shifted_only_where_it_needs_to_be() {
    let source = long("%l", "f32[256]");
    // So slow that a short sum is long.
    let device = DeviceCost {
        vector: CPU.vector / 100.0,
        ..CPU
    };
    let optimised = |level: Level| optimise(&func(&source), level, &device);
    let logs = |level: Level, x: &[f64]| {
        let (after, report) = optimised(level);
        assert_eq!(report.rejected, None);
        let input = Array::of(Type::new(Elem::F32, [256, 128]), x);
        let found = eval(&after, &[input], Precision::Element).expect("the program runs");
        found[0].to_f64()
    };
    let (after, _) = optimised(Level::Aggressive);
    let branch = after.body.insts.iter().find(|inst| inst.op == Op::If);
    // What the exponentials are of need not be kept for the branch that is hardly ever taken.
    let [_, shifted] = &branch.expect("a branch").regions[..] else {
        panic!("{after}");
    };
    assert!(
        shifted.insts.iter().any(|i| i.op.name() == "mul"),
        "{after}"
    );

    let mut x: Vec<f64> = (0..256 * 128).map(|i| (i % 37) as f64 * 0.125).collect();
    let plain = logs(Level::Default, &x);
    assert_eq!(logs(Level::Aggressive, &x), plain);
    // Rows that overflow, vanish, hold an infinity or a NaN; all others stay as they are, to the bit.
    let rows = [
        (1, 1000.0),
        (2, -1000.0),
        (3, f64::INFINITY),
        (4, f64::NEG_INFINITY),
        (5, f64::NAN),
    ];
    for (row, value) in rows {
        x[row * 128..(row + 1) * 128].fill(value);
    }
    let stable = logs(Level::Aggressive, &x);
    for (row, value) in rows {
        let expected = 3.0 * value + 128f64.ln();
        let same = stable[row] == expected || (stable[row].is_nan() && value.is_nan());
        let near = (stable[row] - expected).abs() < 1e-6 * expected.abs();
        assert!(same || near, "{}, not {expected}", stable[row]);
    }
    assert_eq!(stable[0], plain[0]);
    assert_eq!(stable[6..], plain[6..]);
}

#[test]
fn a_long_sum_that_is_wanted_itself_and_a_short_one_have_no_branch() {
    let slow = DeviceCost {
        vector: CPU.vector / 100.0,
        ..CPU
    };
    for (wanted, types, device) in [
        ("%s, %l", "f32[256], f32[256]", &slow),
        ("%l, %s", "f32[256], f32[256]", &slow),
        ("%l", "f32[256]", &CPU),
    ] {
        let source = func(&long(wanted, types));
        let (after, _) = optimise(&source, Level::Aggressive, device);
        assert!(after.body.insts.iter().all(|inst| inst.op != Op::If));
        assert!(after.to_string().contains("reduce_max"), "{after}");
    }
}
