//! Derivatives of digamma: ψ⁽ⁿ⁾(x) = (−1)ⁿ⁺¹ n! ζ(n + 1, x), with Hurwitz' zeta by the Euler–Maclaurin formula, and
//! reflected for x < 0.

use super::expr::{self, Expr};
use crate::lower::emit::{Emit, Tensor};
use std::f64::consts::PI;

/// For n ≥ 1.
pub fn polygamma<'c>(e: &Emit<'_, 'c>, n: u8, x: &Tensor<'c>) -> Tensor<'c> {
    let factorial: f64 = (1..=n).map(f64::from).product();
    let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
    expr::call(e, &format!("polygamma{n}"), x, |x| {
        let negative = x.less(0.0);
        let z = negative.select(1.0 - x, x);
        let direct = hurwitz_zeta(f64::from(n) + 1.0, z) * (sign * factorial);

        // ψ⁽ⁿ⁾(x) = (−1)ⁿ ψ⁽ⁿ⁾(1 − x) − dⁿ/dxⁿ π cot πx
        let mirror = direct * -sign - cotangent_derivative(n, x);
        let y = negative.select(mirror, direct);

        // The poles of odd order rise on both sides, those of even order do not.
        let pole = x.at_most(0.0) & x.equals(x.floor());
        let at_pole = if n % 2 == 1 { f64::INFINITY } else { f64::NAN };
        pole.select(at_pole, y)
    })
}

/// (2k)! / B₂ₖ for k = 12 down to 1.
const BERNOULLI: [f64; 12] = [
    -7.1661652561756670113e18,
    1.8152105401943546773e17,
    -4.5979787224074726105e15,
    1.1646782814350067249e14,
    -2.950130727918164224e12,
    7.47242496e10,
    -1.8924375803183791606e9,
    47900160.0,
    -1209600.0,
    30240.0,
    -720.0,
    12.0,
];

/// Σ (q + k)⁻ˢ over k ≥ 0, for s > 1 and q ≥ 0: ten terms by themselves, the rest by the integral and its corrections.
fn hurwitz_zeta<'e, 'c>(s: f64, q: Expr<'e, 'c>) -> Expr<'e, 'c> {
    let mut a = q;
    let mut sum = q.pow(-s);
    for _ in 0..9 {
        a = a + 1.0;
        sum = sum + a.pow(-s);
    }
    a = a + 1.0;
    let term = a.pow(-s);
    let integral = term * a / (s - 1.0);

    let inverse_square = 1.0 / (a * a);
    let mut corrections = a.constant(1.0 / BERNOULLI[0]);
    for (i, coefficient) in BERNOULLI.iter().enumerate().skip(1) {
        let k = (2 * (BERNOULLI.len() - i)) as f64;
        let factor = (s + k) * (s + k - 1.0);
        corrections = corrections * inverse_square * factor + 1.0 / coefficient;
    }
    let corrections = s / a * corrections + 0.5;
    sum + integral + term * corrections
}

/// dⁿ/dxⁿ π cot πx = πⁿ⁺¹ Pₙ(cot πx), where P₀(c) = c and Pₙ₊₁(c) = −(1 + c²) P′ₙ(c).
fn cotangent_derivative<'e, 'c>(n: u8, x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    // Lowest power first.
    let mut p = vec![0.0, 1.0];
    for _ in 0..n {
        let mut next = vec![0.0; p.len() + 1];
        for (k, c) in p.iter().enumerate().skip(1) {
            next[k - 1] -= k as f64 * c;
            next[k + 1] -= k as f64 * c;
        }
        p = next;
    }
    p.reverse();
    let turn = (x - x.floor()) * PI;
    let cotangent = turn.cos() / turn.sin();
    cotangent.polynomial(&p) * PI.powi(i32::from(n) + 1)
}
