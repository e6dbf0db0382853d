//! log Γ in f32 for x ≥ ½, to a few units in the last place, also near its zeros at 1 and 2.
//!
//! Below 3 a polynomial times the distance to the nearer zero; from 3 on Stirling's series, arranged so that nothing
//! cancels. `scripts/reference/lgamma.py` fitted the polynomials.

use super::expr::Expr;
use std::f64::consts::PI;

/// log Γ(x) / (x − 1) in x − 1 for ½ ≤ x < 1½, and log Γ(x) / (x − 2) in x − 2 for 1½ ≤ x < 3; highest power first.
const NEAR: [(f64, f64); 13] = [
    (-0.15786305, -3.6143788e-06),
    (0.17993785, 1.8522813e-05),
    (-0.065437056, -4.8377715e-05),
    (0.06517628, 0.00010247688),
    (-0.11455253, -0.00022279444),
    (0.13112769, 0.0005086977),
    (-0.14391887, -0.0011926749),
    (0.16913114, 0.0028906423),
    (-0.20738238, -0.007385567),
    (0.27059442, 0.0205808),
    (-0.40068588, -0.0673523),
    (0.8224669, 0.32246703),
    (-0.5772157, 0.42278433),
];

/// B₂ₖ / (2k (2k − 1)) for k = 5 down to 1.
const STIRLING: [f64; 5] = [
    1.0 / 1188.0,
    -1.0 / 1680.0,
    1.0 / 1260.0,
    -1.0 / 360.0,
    1.0 / 12.0,
];

pub fn lgamma_single<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    x.less(3.0).select(near(x), far(x))
}

fn near<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    let first = x.less(1.5);
    let v = x - first.select(1.0, 2.0);
    let coefficient = |&(one, two): &(f64, f64)| first.select(one, two);
    let highest = coefficient(&NEAR[0]);
    let p = NEAR[1..]
        .iter()
        .fold(highest, |sum, pair| sum * v + coefficient(pair));
    p * v
}

/// (x − ½)(log x − 1) + ½ (log 2π − 1) + Σ B₂ₖ / (2k (2k − 1) x²ᵏ⁻¹).
fn far<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    let inverse = 1.0 / x;
    let series = (inverse * inverse).polynomial(&STIRLING) * inverse;
    let constant = ((2.0 * PI).ln() - 1.0) / 2.0;
    (x - 0.5) * (x.log() - 1.0) + (series + constant)
}
