//! Dimensions: integer polynomials over dimension parameters, in a normal form, so that `2*N` equals `N+N`.

use crate::ast::Name;
use std::collections::BTreeMap;

/// A generic parameter of the function being checked: index into its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GenericId(pub u32);

/// What cannot be taken apart further.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A rigid dimension parameter.
    Param(GenericId),
    /// The number of elements of a rigid `..S`.
    Elements(GenericId),
    /// That of a leaf of the rigid tree parameter, inside a function mapped over it.
    LeafElements(GenericId),
    /// An inference variable of the checker; none is left in a checked program.
    Var(u32),
    /// An exact division that the polynomials alone cannot carry out, `N / 2`.
    Quot(Box<Dim>, Box<Dim>),
}

/// The greatest size of a dimension's own text: what doubles without end stops here.
const MAX_WEIGHT: usize = 400;

/// A sum of integer multiples of products of atoms. Equality is that of the normal form; the name is only for
/// messages (`HID=256`).
#[derive(Clone, Debug)]
pub struct Dim {
    terms: Terms,
    /// The constant or expression it was written as, where that says more than the number.
    pub origin: Option<Name>,
}

/// The normal form. Almost every dimension is a number or one parameter, and these need no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Terms {
    Int(i64),
    Atom([Atom; 1]),
    /// Each product of atoms (ascending, with repeats; the empty one for the constant) and its coefficient, never 0;
    /// in ascending order, and nothing that one of the other forms can hold.
    Sum(Vec<(Vec<Atom>, i64)>),
}

impl Dim {
    pub fn int(value: i64) -> Dim {
        Dim {
            terms: Terms::Int(value),
            origin: None,
        }
    }

    pub fn atom(atom: Atom) -> Dim {
        Dim {
            terms: Terms::Atom([atom]),
            origin: None,
        }
    }

    pub fn param(id: GenericId) -> Dim {
        Dim::atom(Atom::Param(id))
    }

    /// `None` where it is larger than any program needs.
    fn sum(terms: BTreeMap<Vec<Atom>, i64>) -> Option<Dim> {
        let terms: Vec<(Vec<Atom>, i64)> = terms.into_iter().collect();
        let weight: usize = terms.iter().map(|(m, _)| 1 + weight(m)).sum();
        if weight > MAX_WEIGHT {
            return None;
        }
        let terms = match terms.as_slice() {
            [] => Terms::Int(0),
            [(m, c)] if m.is_empty() => Terms::Int(*c),
            [(m, 1)] => match m.as_slice() {
                [atom] => Terms::Atom([atom.clone()]),
                _ => Terms::Sum(terms),
            },
            _ => Terms::Sum(terms),
        };
        Some(Dim {
            terms,
            origin: None,
        })
    }

    /// How many numbers and names it is made of.
    fn weight(&self) -> usize {
        self.terms().map(|(m, _)| 1 + weight(m)).sum()
    }

    pub fn named(mut self, origin: impl Into<Name>) -> Dim {
        self.origin = Some(origin.into());
        self
    }

    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        let one: Option<(&[Atom], i64)> = match &self.terms {
            Terms::Int(0) | Terms::Sum(_) => None,
            Terms::Int(n) => Some((&[], *n)),
            Terms::Atom(atom) => Some((atom, 1)),
        };
        let many: &[(Vec<Atom>, i64)] = match &self.terms {
            Terms::Sum(terms) => terms,
            Terms::Int(_) | Terms::Atom(_) => &[],
        };
        one.into_iter()
            .chain(many.iter().map(|(m, c)| (m.as_slice(), *c)))
    }

    fn map(&self) -> BTreeMap<Vec<Atom>, i64> {
        self.terms().map(|(m, c)| (m.to_vec(), c)).collect()
    }

    /// The value, if no atom is left.
    pub fn as_int(&self) -> Option<i64> {
        match self.terms {
            Terms::Int(n) => Some(n),
            Terms::Atom(_) | Terms::Sum(_) => None,
        }
    }

    /// `None` on overflow and where the result is too long, here and below.
    pub fn add(&self, other: &Dim) -> Option<Dim> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int()) {
            return a.checked_add(b).map(Dim::int);
        }
        let mut terms = self.map();
        for (m, c) in other.terms() {
            let sum = terms.get(m).copied().unwrap_or(0).checked_add(c)?;
            set(&mut terms, m.to_vec(), sum);
        }
        Dim::sum(terms)
    }

    pub fn neg(&self) -> Option<Dim> {
        self.mul(&Dim::int(-1))
    }

    pub fn sub(&self, other: &Dim) -> Option<Dim> {
        self.add(&other.neg()?)
    }

    pub fn mul(&self, other: &Dim) -> Option<Dim> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int()) {
            return a.checked_mul(b).map(Dim::int);
        }
        let mut terms = BTreeMap::new();
        for (m, c) in self.terms() {
            for (n, d) in other.terms() {
                let mut product = m.to_vec();
                product.extend(n.iter().cloned());
                product.sort();
                let sum = terms
                    .get(&product)
                    .copied()
                    .unwrap_or(0i64)
                    .checked_add(c.checked_mul(d)?)?;
                set(&mut terms, product, sum);
            }
        }
        Dim::sum(terms)
    }

    /// Exact division: by a constant that divides every coefficient, by itself, or of one product by another that it
    /// holds; otherwise, when atoms are in play, an opaque quotient. `None` where constants do not divide, or by 0.
    pub fn div(&self, other: &Dim) -> Option<Dim> {
        if let Some(d) = self.div_polynomial(other) {
            return Some(d);
        }
        match (self.as_int(), other.as_int()) {
            (_, Some(0)) | (Some(_), Some(_)) => None,
            _ if self.weight() + other.weight() > MAX_WEIGHT => None,
            _ => Some(Dim::atom(Atom::Quot(
                Box::new(self.clone()),
                Box::new(other.clone()),
            ))),
        }
    }

    fn div_polynomial(&self, other: &Dim) -> Option<Dim> {
        let mut divisors = other.terms();
        let (divisor, by) = divisors.next()?;
        if divisors.next().is_some() {
            return (self == other).then(|| Dim::int(1));
        }
        let mut terms = BTreeMap::new();
        for (m, c) in self.terms() {
            if c.checked_rem(by)? != 0 {
                return None;
            }
            let mut rest = m.to_vec();
            for atom in divisor {
                let at = rest.iter().position(|a| a == atom)?;
                rest.remove(at);
            }
            set(&mut terms, rest, c / by);
        }
        Dim::sum(terms)
    }

    /// Whether one of its atoms, those in quotients among them, is such.
    pub fn any_atom(&self, is: &impl Fn(&Atom) -> bool) -> bool {
        let mut atoms = self.terms().flat_map(|(m, _)| m);
        atoms.any(|a| match a {
            Atom::Quot(x, y) => is(a) || x.any_atom(is) || y.any_atom(is),
            Atom::Param(_) | Atom::Elements(_) | Atom::LeafElements(_) | Atom::Var(_) => is(a),
        })
    }

    /// The dimension with every atom replaced; `None` on overflow or where a quotient does not divide.
    pub fn substitute(&self, f: &impl Fn(&Atom) -> Option<Dim>) -> Option<Dim> {
        if self.as_int().is_some() {
            return Some(self.clone());
        }
        let mut sum = Dim::int(0);
        for (m, c) in self.terms() {
            let mut product = Dim::int(c);
            for atom in m {
                let value = match f(atom) {
                    Some(d) => d,
                    None => match atom {
                        Atom::Quot(a, b) => a.substitute(f)?.div(&b.substitute(f)?)?,
                        other => Dim::atom(other.clone()),
                    },
                };
                product = product.mul(&value)?;
            }
            sum = sum.add(&product)?;
        }
        sum.origin = self.origin.clone();
        Some(sum)
    }
}

fn weight(product: &[Atom]) -> usize {
    product
        .iter()
        .map(|atom| match atom {
            Atom::Quot(a, b) => 1 + a.weight() + b.weight(),
            Atom::Param(_) | Atom::Elements(_) | Atom::LeafElements(_) | Atom::Var(_) => 1,
        })
        .sum()
}

fn set(terms: &mut BTreeMap<Vec<Atom>, i64>, m: Vec<Atom>, c: i64) {
    if c == 0 {
        terms.remove(&m);
    } else {
        terms.insert(m, c);
    }
}

impl PartialEq for Dim {
    fn eq(&self, other: &Dim) -> bool {
        self.terms == other.terms
    }
}
impl Eq for Dim {}
impl std::hash::Hash for Dim {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.terms.hash(state);
    }
}
impl PartialOrd for Dim {
    fn partial_cmp(&self, other: &Dim) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Dim {
    fn cmp(&self, other: &Dim) -> std::cmp::Ordering {
        self.terms.cmp(&other.terms)
    }
}
