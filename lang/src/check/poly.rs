//! What the checker asks of dimension polynomials beyond their arithmetic.

use crate::typed::{Atom, Dim};

pub fn has_var(dim: &Dim) -> bool {
    dim.any_atom(&|a| matches!(a, Atom::Var(_)))
}

/// Whether the size of a `..S` or of a leaf is in it.
pub fn has_elements(dim: &Dim) -> bool {
    dim.any_atom(&|a| matches!(a, Atom::Elements(_) | Atom::LeafElements(_)))
}

pub fn has_quotient(dim: &Dim) -> bool {
    dim.any_atom(&|a| matches!(a, Atom::Quot(..)))
}

/// The atom that a dimension is, if it is nothing more.
pub fn single_atom(dim: &Dim) -> Option<&Atom> {
    let mut terms = dim.terms();
    match (terms.next(), terms.next()) {
        (Some(([atom], 1)), None) => Some(atom),
        _ => None,
    }
}

/// The inference variables in it, each once.
pub fn variables(dim: &Dim) -> Vec<u32> {
    let mut out = Vec::new();
    collect(dim, &mut out);
    out.sort_unstable();
    out.dedup();
    out
}

fn collect(dim: &Dim, out: &mut Vec<u32>) {
    for (m, _) in dim.terms() {
        for atom in m {
            match atom {
                Atom::Var(v) => out.push(*v),
                Atom::Quot(x, y) => {
                    collect(x, out);
                    collect(y, out);
                }
                Atom::Param(_) | Atom::Elements(_) | Atom::LeafElements(_) => {}
            }
        }
    }
}

/// The `v` that makes `dim` zero: where it is linear in it and the division is exact, or where all else is numbers.
/// What is divided divides: `v / 2` is 3 for 6.
pub fn solve(dim: &Dim, v: u32) -> Option<Dim> {
    let is_it = |a: &Atom| *a == Atom::Var(v);
    let mut dim = dim.clone();
    for _ in 0..QUOTIENTS {
        let divided = quotient(&dim, |a| Dim::atom(a.clone()).any_atom(&is_it));
        match divided {
            Some(q) => dim = multiply_out(&dim, &q)?,
            None => return linear(&dim, v).or_else(|| root(&dim)),
        }
    }
    None
}

/// The whole number that makes a polynomial in one variable zero, where it rises with it from a negative constant:
/// `N*N` is 9 for 3.
fn root(dim: &Dim) -> Option<Dim> {
    let mut powers: Vec<(u32, i128)> = Vec::new();
    let mut constant = 0;
    let sign = dim.terms().find(|(m, _)| !m.is_empty())?.1.signum();
    for (m, c) in dim.terms() {
        let c = i128::from(c) * i128::from(sign);
        let is_var = m.iter().all(|a| matches!(a, Atom::Var(_)));
        match u32::try_from(m.len()).ok()? {
            0 => constant = c,
            n if is_var && c > 0 => powers.push((n, c)),
            _ => return None,
        }
    }
    let at = |x: i128| {
        let each = powers
            .iter()
            .map(|&(n, c)| x.checked_pow(n)?.checked_mul(c));
        each.sum::<Option<i128>>()?.checked_add(constant)
    };
    let (mut low, mut high) = (0, constant.checked_neg()?.max(0));
    while low < high {
        let middle = (low + high) / 2;
        match at(middle) {
            Some(value) if value < 0 => low = middle + 1,
            _ => high = middle,
        }
    }
    (at(low) == Some(0)).then(|| i64::try_from(low).ok().map(Dim::int))?
}

fn linear(dim: &Dim, v: u32) -> Option<Dim> {
    let mut factor = Dim::int(0);
    let mut rest = Dim::int(0);
    for (m, c) in dim.terms() {
        let (vars, others): (Vec<&Atom>, Vec<&Atom>) =
            m.iter().partition(|a| matches!(a, Atom::Var(w) if *w == v));
        let product = product(c, &others)?;
        if has_var(&product) {
            return None;
        }
        match vars.len() {
            0 => rest = rest.add(&product)?,
            1 => factor = factor.add(&product)?,
            _ => return None,
        }
    }
    let solution = rest.neg()?.div(&factor)?;
    let exact = !has_quotient(&solution) || has_quotient(&rest);
    exact.then_some(solution)
}

fn product(c: i64, atoms: &[&Atom]) -> Option<Dim> {
    atoms
        .iter()
        .try_fold(Dim::int(c), |d, &a| d.mul(&Dim::atom(a.clone())))
}

/// Equality with quotients multiplied out: `2*(N/2)` equals `N`, since the quotient is exact by definition.
pub fn equal(a: &Dim, b: &Dim) -> bool {
    if a == b {
        return true;
    }
    if a.as_int().is_some() && b.as_int().is_some() {
        return false;
    }
    a.sub(b).is_some_and(|d| vanishes(&d))
}

fn vanishes(dim: &Dim) -> bool {
    let mut dim = dim.clone();
    // Each round removes one quotient; nested ones come to the surface and go in later rounds.
    for _ in 0..QUOTIENTS {
        if dim.as_int() == Some(0) {
            return true;
        }
        match quotient(&dim, |_| true).and_then(|q| multiply_out(&dim, &q)) {
            Some(next) => dim = next,
            None => return false,
        }
    }
    false
}

/// How many quotients are multiplied out before a dimension is given up.
const QUOTIENTS: usize = 16;

/// The first quotient such.
fn quotient(dim: &Dim, is: impl Fn(&Atom) -> bool) -> Option<Atom> {
    dim.terms()
        .flat_map(|(m, _)| m.iter())
        .find(|a| matches!(a, Atom::Quot(..)) && is(a))
        .cloned()
}

/// `dim` times the denominator of `q` to the power in which `q` occurs.
fn multiply_out(dim: &Dim, q: &Atom) -> Option<Dim> {
    let Atom::Quot(num, den) = q else {
        return None;
    };
    let power = |m: &[Atom]| m.iter().filter(|a| *a == q).count();
    let highest = dim.terms().map(|(m, _)| power(m)).max()?;
    let mut out = Dim::int(0);
    for (m, c) in dim.terms() {
        let others: Vec<&Atom> = m.iter().filter(|a| *a != q).collect();
        let mut term = product(c, &others)?;
        for _ in 0..power(m) {
            term = term.mul(num)?;
        }
        for _ in power(m)..highest {
            term = term.mul(den)?;
        }
        out = out.add(&term)?;
    }
    Some(out)
}

/// The divisions in it, as (dividend, divisor).
pub fn quotients(dim: &Dim) -> Vec<(Dim, Dim)> {
    let mut out = Vec::new();
    for (m, _) in dim.terms() {
        for atom in m {
            if let Atom::Quot(a, b) = atom {
                out.extend(quotients(a));
                out.extend(quotients(b));
                out.push(((**a).clone(), (**b).clone()));
            }
        }
    }
    out
}

/// Whether it cannot be negative, whatever the (never negative) parameters are.
pub fn never_negative(dim: &Dim) -> bool {
    dim.terms().all(|(_, c)| c >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::GenericId;

    fn n() -> Dim {
        Dim::param(GenericId(0))
    }

    #[test]
    fn quotients_are_exact() {
        let half = n().div(&Dim::int(2)).unwrap();
        assert!(equal(&half.mul(&Dim::int(2)).unwrap(), &n()));
        assert!(equal(&half.add(&half).unwrap(), &n()));
        assert!(!equal(&half, &n()));
        let quarter = half.div(&Dim::int(2)).unwrap();
        assert!(equal(&quarter.mul(&Dim::int(4)).unwrap(), &n()));
    }

    #[test]
    fn polynomials_have_whole_roots() {
        let v = Dim::atom(Atom::Var(7));
        let square = v.mul(&v).unwrap();
        let equation = |a: &Dim, n: i64| a.sub(&Dim::int(n)).unwrap();
        assert_eq!(solve(&equation(&square, 9), 7), Some(Dim::int(3)));
        assert_eq!(solve(&equation(&square, 8), 7), None);
        assert_eq!(solve(&equation(&square, 0), 7), Some(Dim::int(0)));
        let next = square.add(&v).unwrap();
        assert_eq!(solve(&equation(&next, 12), 7), Some(Dim::int(3)));
        assert_eq!(
            solve(&equation(&next, 12).neg().unwrap(), 7),
            Some(Dim::int(3))
        );
        assert_eq!(solve(&square.sub(&n()).unwrap(), 7), None);
    }

    #[test]
    fn what_is_divided_divides() {
        let v = Dim::atom(Atom::Var(7));
        let half = v.div(&Dim::int(2)).unwrap();
        let equation = |a: &Dim, rhs: &Dim| a.sub(rhs).unwrap();
        assert_eq!(solve(&equation(&half, &Dim::int(3)), 7), Some(Dim::int(6)));
        let twice = n().mul(&Dim::int(2)).unwrap();
        assert_eq!(solve(&equation(&half, &n()), 7), Some(twice));
        let next = half.add(&v).unwrap();
        assert_eq!(solve(&equation(&next, &Dim::int(9)), 7), Some(Dim::int(6)));
        assert_eq!(solve(&equation(&next, &Dim::int(8)), 7), None);
        let part = Dim::int(6).div(&v).unwrap();
        assert_eq!(solve(&equation(&part, &Dim::int(3)), 7), Some(Dim::int(2)));
        assert_eq!(solve(&equation(&part, &Dim::int(4)), 7), None);
    }

    #[test]
    fn linear_equations_have_exact_solutions() {
        let v = Dim::atom(Atom::Var(7));
        let two_v = v.mul(&Dim::int(2)).unwrap();
        let equation = |rhs: Dim| two_v.sub(&rhs).unwrap();
        assert_eq!(solve(&equation(Dim::int(10)), 7), Some(Dim::int(5)));
        assert_eq!(solve(&equation(Dim::int(7)), 7), None);
        assert_eq!(solve(&equation(n()), 7), None);
        let four_n = n().mul(&Dim::int(4)).unwrap();
        assert_eq!(
            solve(&equation(four_n), 7),
            Some(n().mul(&Dim::int(2)).unwrap())
        );
    }
}
