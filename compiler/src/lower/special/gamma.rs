//! log|Γ| and digamma, by Lanczos' approximation (g = 7, 9 terms; log Γ in f32 by that of `lgamma_single`), reflected
//! for x < ½.

use super::expr::{self, Expr};
use super::lgamma_single::lgamma_single;
use crate::lower::emit::{Emit, Tensor};
use std::f64::consts::PI;

const G: f64 = 7.0;
const FIRST: f64 = 0.99999999999980993227684700473478;
const TERMS: [f64; 8] = [
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
];

pub fn lgamma<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    expr::call(e, "lgamma", x, |x| {
        let reflected = x.less(0.5);
        let direct = if x.is_f64() {
            lgamma_double(reflected.select(-x, x - 1.0))
        } else {
            lgamma_single(reflected.select(1.0 - x, x))
        };

        // log|Γ(x)| = log π − log|sin πx| − log|Γ(1 − x)|; the sine is taken of the distance to the nearest integer.
        let part = x.abs() - x.abs().floor();
        let distance = part.constant(0.5).less(part).select(1.0 - part, part);
        let log_sine = (distance * PI).sin().log();
        let mirror = PI.ln() - log_sine - direct;
        // At the poles the sine is 0 and the result +∞.
        let mirror = log_sine.is_finite().select(mirror, -log_sine);

        let y = reflected.select(mirror, direct);
        x.abs().equals(f64::INFINITY).select(f64::INFINITY, y)
    })
}

/// log Γ(z + 1).
fn lgamma_double<'e, 'c>(z: Expr<'e, 'c>) -> Expr<'e, 'c> {
    let half_log_two_pi = (2.0 * PI).ln() / 2.0;
    let (t, log_t) = shifted(z);
    (z + 0.5 - t / log_t) * log_t + half_log_two_pi + series(z).log()
}

pub fn digamma<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    expr::call(e, "digamma", x, |x| {
        let reflected = x.less(0.5);
        let z = reflected.select(-x, x - 1.0);
        let slope = slope(z);
        let sum = series(z);
        let (t, log_t) = shifted(z);
        let direct = log_t + slope / sum - G / t;

        // ψ(x) = ψ(1 − x) − π / tan πx; a whole number added to x keeps the argument of the tangent small.
        let near = (x + (x + 0.5).floor().abs()) * PI;
        let mirror = direct - near.cos() * PI / near.sin();

        let y = reflected.select(mirror, direct);
        let pole = x.less(0.0) & x.equals(x.floor());
        let y = pole.select(f64::NAN, y);
        x.equals(0.0).select(f64::NEG_INFINITY, y)
    })
}

/// c₀ + Σ cᵢ / (z + i).
fn series<'e, 'c>(z: Expr<'e, 'c>) -> Expr<'e, 'c> {
    terms(z).fold(z.constant(FIRST), |sum, (c, d)| sum + c / d)
}

/// The derivative of the series: −Σ cᵢ / (z + i)².
fn slope<'e, 'c>(z: Expr<'e, 'c>) -> Expr<'e, 'c> {
    terms(z).fold(z.constant(0.0), |sum, (c, d)| sum - c / (d * d))
}

fn terms<'e, 'c>(z: Expr<'e, 'c>) -> impl Iterator<Item = (f64, Expr<'e, 'c>)> {
    TERMS
        .iter()
        .zip(1..)
        .map(move |(&c, i)| (c, z + f64::from(i)))
}

/// t = z + g + ½ and its logarithm, which log1p gives without cancellation.
fn shifted<'e, 'c>(z: Expr<'e, 'c>) -> (Expr<'e, 'c>, Expr<'e, 'c>) {
    let base: f64 = G + 0.5;
    (z + base, (z / base).log1p() + base.ln())
}
