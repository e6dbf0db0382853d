//! The error function and its complement.
//!
//! f64: rational approximations of Cody's kind, with the constants of Cephes (`ndtr.c`). f32: erf as an odd rational
//! function on the range where it is not yet ±1, and erfc with the constants of Cephes (`ndtrf.c`).

use super::expr::{self, Expr};
use crate::lower::emit::{Emit, Tensor};

pub fn erf<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    expr::call(e, "erf", x, |x| {
        if x.is_f64() {
            let far = 1.0 - erfc_far_double(x);
            x.abs().less(1.0).select(erf_near_double(x), far)
        } else {
            erf_single(x)
        }
    })
}

pub fn erfc<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    expr::call(e, "erfc", x, |x| {
        let (near, far) = if x.is_f64() {
            (erf_near_double(x), erfc_far_double(x))
        } else {
            (erf_near_single(x), erfc_far_single(x))
        };
        x.abs().less(1.0).select(1.0 - near, far)
    })
}

/// Where erf rounds to 1 in f32.
const ONE_FROM: f64 = 3.832_506_856_900_711;

/// x P(x²) / Q(x²), x held within ±[`ONE_FROM`].
fn erf_single<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    const P: [f64; 5] = [
        0.00022905065861350646,
        0.0034082910107109506,
        0.050955695062380861,
        0.18520832239976145,
        1.128379143519084,
    ];
    const Q: [f64; 7] = [
        -1.1791602954361697e-7,
        0.000023547966471313185,
        0.0010179625278914885,
        0.014070470171167667,
        0.11098505178285362,
        0.49746925110067538,
        1.0,
    ];
    let x = x.max(-ONE_FROM).min(ONE_FROM);
    let square = x * x;
    x * square.polynomial(&P) / square.polynomial(&Q)
}

/// x T(x²), for |x| < 1.
fn erf_near_single<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    const T: [f64; 7] = [
        7.853861353153693e-5,
        -8.010193625184903e-4,
        5.188327685732524e-3,
        -2.685381193529856e-2,
        1.128358514861418e-1,
        -3.761262582423300e-1,
        1.128379165726710,
    ];
    x * (x * x).polynomial(&T)
}

/// exp(−x²) / |x| times a polynomial in 1/x², for |x| ≥ 1.
fn erfc_far_single<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    const BELOW_2: [f64; 9] = [
        2.326819970068386e-2,
        -1.387039388740657e-1,
        3.687424674597105e-1,
        -5.824733027278666e-1,
        6.210004621745983e-1,
        -4.944515323274145e-1,
        3.404879937665872e-1,
        -2.741127028184656e-1,
        5.638259427386472e-1,
    ];
    const FROM_2: [f64; 8] = [
        -1.047766399936249e+1,
        1.297719955372516e+1,
        -7.495518717768503e+0,
        2.921019019210786e+0,
        -1.015265279202700e+0,
        4.218463358204948e-1,
        -2.820767439740514e-1,
        5.641895067754075e-1,
    ];
    let square = x * x;
    let size = x.abs();
    let inverse = 1.0 / square;
    let low = inverse.polynomial(&BELOW_2);
    let high = inverse.polynomial(&FROM_2);
    let y = (-square).exp() * (1.0 / size) * size.less(2.0).select(low, high);
    mirrored(x, vanishing(x, y, f64::from(f32::MAX).ln()))
}

/// x T(x²) / U(x²), for |x| < 1.
fn erf_near_double<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    const T: [f64; 5] = [
        9.60497373987051638749e0,
        9.00260197203842689217e1,
        2.23200534594684319226e3,
        7.00332514112805075473e3,
        5.55923013010394962768e4,
    ];
    const U: [f64; 6] = [
        1.0,
        3.35617141647503099647e1,
        5.21357949780152679795e2,
        4.59432382970980127987e3,
        2.26290000613890934246e4,
        4.92673942608635921086e4,
    ];
    let square = x * x;
    x * square.polynomial(&T) / square.polynomial(&U)
}

/// exp(−x²) times a rational function of |x|, for |x| ≥ 1.
fn erfc_far_double<'e, 'c>(x: Expr<'e, 'c>) -> Expr<'e, 'c> {
    const P: [f64; 9] = [
        2.46196981473530512524e-10,
        5.64189564831068821977e-1,
        7.46321056442269912687e0,
        4.86371970985681366614e1,
        1.96520832956077098242e2,
        5.26445194995477358631e2,
        9.34528527171957607540e2,
        1.02755188689515710272e3,
        5.57535335369399327526e2,
    ];
    const Q: [f64; 9] = [
        1.0,
        1.32281951154744992508e1,
        8.67072140885989742329e1,
        3.54937778887819891062e2,
        9.75708501743205489753e2,
        1.82390916687909736289e3,
        2.24633760818710981792e3,
        1.65666309194161350182e3,
        5.57535340817727675546e2,
    ];
    const R: [f64; 6] = [
        5.64189583547755073984e-1,
        1.27536670759978104416e0,
        5.01905042251180477414e0,
        6.16021097993053585195e0,
        7.40974269950448939160e0,
        2.97886665372100240670e0,
    ];
    const S: [f64; 7] = [
        1.0,
        2.26052863220117276590e0,
        9.39603524938001434673e0,
        1.20489539808096656605e1,
        1.70814450747565897222e1,
        9.60896809063285878198e0,
        3.36907645100081516050e0,
    ];
    let size = x.abs();
    let bell = (-(x * x)).exp();
    let low = bell * size.polynomial(&P) / size.polynomial(&Q);
    let high = bell * size.polynomial(&R) / size.polynomial(&S);
    let y = size.less(8.0).select(low, high);
    mirrored(x, vanishing(x, y, f64::MAX.ln()))
}

/// 0 where exp(−x²) has underflowed.
fn vanishing<'e, 'c>(x: Expr<'e, 'c>, y: Expr<'e, 'c>, max_log: f64) -> Expr<'e, 'c> {
    (-(x * x)).less(-max_log).select(0.0, y)
}

/// erfc(−x) = 2 − erfc(x).
fn mirrored<'e, 'c>(x: Expr<'e, 'c>, y: Expr<'e, 'c>) -> Expr<'e, 'c> {
    x.less(0.0).select(2.0 - y, y)
}
