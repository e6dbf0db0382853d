//! Special functions that `libm` does not have, in f64.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// The inverse of erf: ±∞ at ±1, NaN outside.
pub fn erf_inv(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        return x;
    }
    if x.abs() >= 1.0 {
        return if x.abs() > 1.0 {
            f64::NAN
        } else {
            f64::INFINITY.copysign(x)
        };
    }
    // Winitzki's closed form is right to some per cent; Halley's steps triple the digits each time.
    let a = 0.147;
    let log = libm::log1p(-x * x);
    let b = 2.0 / (PI * a) + log / 2.0;
    let mut y = ((b * b - log / a).sqrt() - b).sqrt();
    let rest = 1.0 - x.abs();
    for _ in 0..4 {
        // Near 1 the difference of the complements is exact where that of the functions cancels.
        let error = if x.abs() > 0.5 {
            rest - libm::erfc(y)
        } else {
            libm::erf(y) - x.abs()
        };
        let step = error / (FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// The n-th derivative of digamma. At the poles 0, −1, −2, …: digamma is −∞ at 0 and NaN at the others, its derivatives of
/// odd order are ∞, those of even order NaN. −∞ is a pole too; at ∞ digamma is ∞, and its derivatives are NaN, as in JAX.
pub fn polygamma(order: u8, x: f64) -> f64 {
    if order == 0 {
        return digamma(x);
    }
    let n = i32::from(order);
    if x.is_nan() || x == f64::INFINITY {
        return f64::NAN;
    }
    if x <= 0.0 && x == x.floor() {
        return if n % 2 == 1 { f64::INFINITY } else { f64::NAN };
    }
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    if x < -20.0 {
        // ψₙ(1 − x) + (−1)ⁿ⁺¹ ψₙ(x) = (−1)ⁿ dⁿ/dxⁿ π cot(πx)
        return sign * (-sign * cotangent_derivative(n, x) - polygamma(order, 1.0 - x));
    }
    sign * factorial(n) * zeta(n + 1, x)
}

fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // Of a small number there is nothing left in `x - x.floor()`, and the tangent has its period.
        let fraction = if x > -0.5 { x } else { x - x.floor() };
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    // ψ(x) = ψ(x + 1) − 1/x, up to where the asymptotic series holds.
    let mut shift = 0.0;
    let mut x = x;
    while x < 12.0 {
        shift += 1.0 / x;
        x += 1.0;
    }
    let inverse_square = 1.0 / (x * x);
    let mut series = 0.0;
    for (k, b) in BERNOULLI.iter().enumerate().rev() {
        series = (series + b / (2.0 * (k as f64 + 1.0))) * inverse_square;
    }
    libm::log(x) - 0.5 / x - series - shift
}

/// B₂, B₄, …
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
];

/// Σ 1 / (x + k)ˢ over k ≥ 0, for whole s ≥ 2, x no pole and not far below 0: terms, then Euler and Maclaurin's tail.
fn zeta(s: i32, x: f64) -> f64 {
    let mut sum = 0.0;
    let mut x = x;
    while x < 12.0 + f64::from(s) / 2.0 {
        sum += power(x, -s);
        x += 1.0;
    }
    let exponent = f64::from(s);
    let mut tail = power(x, 1 - s) / (exponent - 1.0) + 0.5 * power(x, -s);
    // s (s + 1) … (s + 2k − 2) / (2k)! · x^(−s − 2k + 1)
    let mut factor = exponent * power(x, -s - 1) / 2.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        tail += b * factor;
        let even = 2.0 * (k as f64 + 1.0);
        factor *=
            (exponent + even - 1.0) * (exponent + even) / ((even + 1.0) * (even + 2.0) * x * x);
    }
    sum + tail
}

fn power(x: f64, n: i32) -> f64 {
    libm::pow(x, f64::from(n))
}

fn factorial(n: i32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// dⁿ/dxⁿ π cot(πx), as πⁿ⁺¹ Pₙ(cot πx) with P₀(c) = c and Pₙ₊₁(c) = −(1 + c²) P′ₙ(c).
fn cotangent_derivative(n: i32, x: f64) -> f64 {
    let mut p = vec![0.0, 1.0];
    for _ in 0..n {
        let mut next = vec![0.0; p.len() + 1];
        for (k, c) in p.iter().enumerate().skip(1) {
            next[k - 1] -= k as f64 * c;
            next[k + 1] -= k as f64 * c;
        }
        p = next;
    }
    let c = 1.0 / libm::tan(PI * (x - x.floor()));
    let value = p.iter().rev().fold(0.0, |sum, a| sum * c + a);
    power(PI, n + 1) * value
}
