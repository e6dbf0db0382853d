//! Products and factorisations.

use super::args::{Args, dim_attr, flag_attr, int_attr};
use super::reduce::widened;
use super::{Default, Kind, Out, Param, Row, opt, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::check::shape;
use crate::typed::{Attr, Builtin, Dim, ElemTy, Expr, ExprKind, Shape, ShapeItem, Static, Ty};
use std::collections::{BTreeMap, BTreeSet};

const AB: &[Param] = &[req("a", Kind::Value), req("b", Kind::Value)];

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("dot",      Builtin::Dot,      AB, dot),
    row("matmul",   Builtin::MatMul,   AB, matmul),
    row("outer",    Builtin::Outer,    AB, outer),
    row("einsum",   Builtin::Einsum,   &[req("spec", Kind::Text), req("arrays", Kind::Rest)], einsum),
    row("trace",    Builtin::Trace,
        &[req("x", Kind::Value), opt("offset", Kind::Int, Default::Int(0)), opt("axis1", Kind::Int, Default::Int(0)),
          opt("axis2", Kind::Int, Default::Int(1))], trace),
    row("cholesky", Builtin::Cholesky,
        &[req("x", Kind::Value), opt("upper", Kind::Flag, Default::Flag(false)),
          opt("symmetrize_input", Kind::Flag, Default::Flag(true))], cholesky),
    row("triangular_solve", Builtin::TriangularSolve,
        &[req("a", Kind::Value), req("b", Kind::Value),
          opt("left_side", Kind::Flag, Default::Flag(false)), opt("lower", Kind::Flag, Default::Flag(false)),
          opt("transpose_a", Kind::Flag, Default::Flag(false)), opt("unit_diagonal", Kind::Flag, Default::Flag(false))],
        triangular_solve),
];

fn matmul(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, y) = (a.value(0), a.value(1));
    cx.require_class(&x, "matmul", Class::Num)?;
    cx.require_class(&y, "matmul", Class::Num)?;
    cx.same_elem("matmul", &x, &y)?;
    let product = cx.matmul_of((x, None), (y, None), a.span);
    match product.kind {
        ExprKind::Builtin {
            builtin,
            args,
            attrs,
        } => Some(Out {
            builtin,
            args,
            attrs,
            ty: product.ty,
        }),
        _ => None,
    }
}

/// NumPy's `dot`: over the last dimension of `a` and the last but one of `b`, no batch; with a scalar a product.
fn dot(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, y) = (a.value(0), a.value(1));
    let (_, xs) = cx.require_class(&x, "dot", Class::Num)?;
    let (_, ys) = cx.require_class(&y, "dot", Class::Num)?;
    let elem = cx.same_elem("dot", &x, &y)?;
    let items: Shape = match (xs.as_slice(), ys.as_slice()) {
        ([], other) | (other, []) => other.to_vec(),
        ([free @ .., k], [j]) if shape::same(k, j) => free.to_vec(),
        ([free @ .., k], [lead @ .., j, n]) if shape::same(k, j) => {
            let mut items = free.to_vec();
            items.extend_from_slice(lead);
            items.push(n.clone());
            items
        }
        _ => {
            let problem = Problem::MatMulInner {
                left: cx.operand(&x),
                right: cx.operand(&y),
                help: Vec::new(),
            };
            cx.report(problem);
            return None;
        }
    };
    Some(Out {
        builtin: Builtin::Dot,
        args: vec![x, y],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, items),
    })
}

/// Of the flattened operands.
fn outer(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, y) = (a.value(0), a.value(1));
    let (_, xs) = cx.require_class(&x, "outer", Class::Num)?;
    let (_, ys) = cx.require_class(&y, "outer", Class::Num)?;
    let elem = cx.same_elem("outer", &x, &y)?;
    let rows = cx.flat(&x, &xs, a.span)?;
    let columns = cx.flat(&y, &ys, a.span)?;
    Some(Out {
        builtin: Builtin::Outer,
        args: vec![x, y],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, vec![rows, columns]),
    })
}

/// The sum of a diagonal of two dimensions, the first two unless said.
fn trace(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.require_class(&x, "trace", Class::Num)?;
    let (x, elem) = widened(cx, x, &elem);
    let Some(rank) = shape::dims(&items).map(|d| d.len()).filter(|&n| n >= 2) else {
        return not_a_matrix(cx, &x, "trace");
    };
    let offset = a.int(1)?;
    let axes = [a.int(2)?, a.int(3)?];
    let axes = cx.axes_of("trace", a.span, &axes, &items, &x.ty)?;
    let rest = (0..rank).filter(|i| axes.iter().all(|(at, _)| at != i));
    let rest: Shape = rest.map(|i| items[i].clone()).collect();
    let axis = |i: usize| axes[i].0 as i64;
    Some(Out {
        builtin: Builtin::Trace,
        args: vec![x],
        attrs: vec![
            dim_attr("k", offset),
            int_attr("axis1", axis(0)),
            int_attr("axis2", axis(1)),
        ],
        ty: Ty::Tensor(elem, rest),
    })
}

/// Reports that a value has fewer than two dimensions.
pub fn not_a_matrix<T>(cx: &mut Cx, x: &Expr, what: &'static str) -> Option<T> {
    let ty = cx.infer.ty(&x.ty);
    cx.report(Problem::NotAMatrix {
        span: x.span,
        what,
        ty,
    });
    None
}

/// The side of a square matrix at the end of a shape.
fn square(cx: &mut Cx, x: &Expr, what: &'static str) -> Option<(ElemTy, Shape, Dim)> {
    let (elem, items) = cx.require_class(x, what, Class::Float)?;
    match items.as_slice() {
        [.., ShapeItem::Dim(n), ShapeItem::Dim(m)] if crate::check::poly::equal(n, m) => {
            let n = n.clone();
            Some((elem, items, n))
        }
        [.., ShapeItem::Dim(_), ShapeItem::Dim(_)] => {
            let ty = cx.infer.ty(&x.ty);
            cx.report(Problem::NotSquare {
                span: x.span,
                what,
                ty,
            });
            None
        }
        _ => not_a_matrix(cx, x, what),
    }
}

fn cholesky(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items, _) = square(cx, &x, "cholesky")?;
    Some(Out {
        builtin: Builtin::Cholesky,
        args: vec![x],
        attrs: vec![
            flag_attr("upper", a.flag(1)),
            flag_attr("symmetrize_input", a.flag(2)),
        ],
        ty: Ty::Tensor(elem, items),
    })
}

/// Solves x op(a) = b, or op(a) x = b with `left_side`.
fn triangular_solve(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (m, b) = (a.value(0), a.value(1));
    let (_, ms, n) = square(cx, &m, "triangular_solve")?;
    let (_, bs) = cx.require_class(&b, "triangular_solve", Class::Float)?;
    let elem = cx.same_elem("triangular_solve", &m, &b)?;
    let left = a.flag(2);
    let fits_at = |side: &Dim, batch: &[ShapeItem]| {
        crate::check::poly::equal(side, &n) && shape::same_shape(&ms[..ms.len() - 2], batch)
    };
    let fits = match bs.as_slice() {
        // One right side, as a vector.
        [batch @ .., ShapeItem::Dim(side)] if bs.len() + 1 == ms.len() => fits_at(side, batch),
        [batch @ .., ShapeItem::Dim(rows), ShapeItem::Dim(columns)] => {
            fits_at(if left { rows } else { columns }, batch)
        }
        _ => false,
    };
    if !fits {
        let problem = Problem::SolveShapes {
            matrix: cx.operand(&m),
            rhs: cx.operand(&b),
            left,
        };
        cx.report(problem);
        return None;
    }
    let attrs = vec![
        flag_attr("left_side", left),
        flag_attr("lower", a.flag(3)),
        flag_attr("transpose_a", a.flag(4)),
        flag_attr("unit_diagonal", a.flag(5)),
    ];
    Some(Out {
        builtin: Builtin::TriangularSolve,
        args: vec![m, b],
        attrs,
        ty: Ty::Tensor(elem, bs),
    })
}

// einsum.

/// An einsum with its ellipses spelt out: the letters of each operand and of the result.
struct Spec {
    inputs: Vec<Vec<char>>,
    output: Vec<char>,
    /// The letters that stand for an ellipsis; its dimensions broadcast.
    dots: Vec<char>,
}

fn einsum(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let text = a.text(0)?;
    let arrays = a.values(1);
    let Some(first) = arrays.first() else {
        let problem = Problem::Einsum {
            span: a.span,
            reason: "it has no operands".into(),
        };
        cx.report(problem);
        return None;
    };
    let mut shapes = Vec::new();
    for array in &arrays {
        cx.require_class(array, "einsum", Class::Num)?;
        cx.same_elem("einsum", first, array)?;
        let (_, items) = cx.tensor(array, "einsum")?;
        shapes.push(items);
    }
    let ranks: Vec<usize> = shapes.iter().map(Vec::len).collect();
    let spec = match parse_einsum(&text, &ranks) {
        Ok(spec) => spec,
        Err(reason) => {
            cx.report(Problem::Einsum {
                span: a.span,
                reason,
            });
            return None;
        }
    };
    let mut sizes: BTreeMap<char, ShapeItem> = BTreeMap::new();
    for ((letters, items), array) in spec.inputs.iter().zip(&shapes).zip(&arrays) {
        for (at, (&letter, item)) in letters.iter().zip(items).enumerate() {
            if !spec.dots.contains(&letter) && !matches!(item, ShapeItem::Dim(_)) {
                let problem = Problem::UnknownRank {
                    span: array.span,
                    what: "`einsum`".into(),
                    ty: cx.infer.ty(&array.ty),
                };
                cx.report(problem);
                return None;
            }
            // Of one operand a diagonal; of two, a dimension of 1 is stretched.
            let again = letters[..at].contains(&letter);
            match sizes.get(&letter) {
                Some(known) if shape::same(known, item) => {}
                Some(ShapeItem::Dim(_)) if !again && shape::is_one(item) => {}
                Some(known)
                    if !again && shape::is_one(known) && matches!(item, ShapeItem::Dim(_)) =>
                {
                    sizes.insert(letter, item.clone());
                }
                Some(known) => {
                    let problem = Problem::EinsumSizes {
                        span: a.span,
                        letter,
                        dots: spec.dots.contains(&letter),
                        first: known.clone(),
                        other: item.clone(),
                    };
                    cx.report(problem);
                    return None;
                }
                None => {
                    sizes.insert(letter, item.clone());
                }
            }
        }
    }
    let items: Shape = spec
        .output
        .iter()
        .filter_map(|l| sizes.get(l).cloned())
        .collect();
    let (elem, _) = cx.tensor(first, "einsum")?;
    // An ellipsis over a `..` part is spelt out where the rank is known.
    let ranks_known = shapes.iter().all(|s| shape::dims(s).is_some());
    let attrs = vec![Attr {
        name: "spec",
        value: Static::Str(match ranks_known {
            true => spec.text(),
            false => text.to_string(),
        }),
    }];
    Some(Out {
        builtin: Builtin::Einsum,
        args: arrays,
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

impl Spec {
    fn text(&self) -> String {
        let inputs: Vec<String> = self.inputs.iter().map(|l| l.iter().collect()).collect();
        let output: String = self.output.iter().collect();
        format!("{}->{output}", inputs.join(","))
    }
}

fn parse_einsum(text: &str, ranks: &[usize]) -> Result<Spec, String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((l, r)) => (l, Some(r)),
        None => (text.as_str(), None),
    };
    let operands: Vec<&str> = left.split(',').collect();
    if operands.len() != ranks.len() {
        return Err(format!(
            "it names {} operands, and {} are given",
            operands.len(),
            ranks.len()
        ));
    }
    let used: BTreeSet<char> = text.chars().filter(char::is_ascii_uppercase).collect();
    let fresh: Vec<char> = ('A'..='Z').filter(|c| !used.contains(c)).collect();
    let mut widest = 0;
    let mut inputs = Vec::new();
    for (operand, &rank) in operands.iter().zip(ranks) {
        let (head, tail) = match operand.split_once("...") {
            Some((h, t)) => (h, Some(t)),
            None => (*operand, None),
        };
        let named = letters(head)?.len() + tail.map_or(Ok(0), |t| letters(t).map(|l| l.len()))?;
        let covered = rank.checked_sub(named);
        let covered = match (covered, tail) {
            (Some(0), None) => 0,
            (Some(n), Some(_)) => n,
            _ => {
                return Err(format!(
                    "`{operand}` names {named} dimensions, and its operand has {rank}"
                ));
            }
        };
        widest = widest.max(covered);
        if covered > fresh.len() {
            return Err("too many letters".into());
        }
        inputs.push((
            letters(head)?,
            covered,
            tail.map_or(Ok(Vec::new()), letters)?,
        ));
    }
    // Ellipses are aligned at their last dimension.
    let rest = |covered: usize| fresh[widest - covered..widest].to_vec();
    let inputs: Vec<Vec<char>> = inputs
        .into_iter()
        .map(|(head, covered, tail)| [head, rest(covered), tail].concat())
        .collect();
    let output = match right {
        Some(r) => match r.split_once("...") {
            Some((h, t)) => [letters(h)?, rest(widest), letters(t)?].concat(),
            None => letters(r)?,
        },
        None => implicit_output(&inputs, &rest(widest)),
    };
    for (i, letter) in output.iter().enumerate() {
        if output[..i].contains(letter) {
            return Err(format!("`{letter}` stands twice in the result"));
        }
        if !inputs.iter().any(|l| l.contains(letter)) {
            return Err(format!("`{letter}` of the result is in no operand"));
        }
    }
    Ok(Spec {
        inputs,
        output,
        dots: rest(widest),
    })
}

fn letters(text: &str) -> Result<Vec<char>, String> {
    match text.chars().find(|c| !c.is_ascii_alphabetic()) {
        Some(c) => Err(format!("`{c}` is not a letter")),
        None => Ok(text.chars().collect()),
    }
}

/// The ellipsis, then the letters that stand once, in alphabetical order.
fn implicit_output(inputs: &[Vec<char>], rest: &[char]) -> Vec<char> {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for &letter in inputs.iter().flatten() {
        *counts.entry(letter).or_default() += 1;
    }
    let once = counts
        .into_iter()
        .filter(|(l, n)| *n == 1 && !rest.contains(l))
        .map(|(l, _)| l);
    rest.iter().copied().chain(once).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_einsum;

    fn parsed(text: &str, ranks: &[usize]) -> Result<String, String> {
        parse_einsum(text, ranks).map(|s| s.text())
    }

    #[test]
    fn einsum_specs_are_made_explicit() {
        assert_eq!(
            parsed("bij, bjk -> bik", &[3, 3]).as_deref(),
            Ok("bij,bjk->bik")
        );
        assert_eq!(parsed("ij,jk", &[2, 2]).as_deref(), Ok("ij,jk->ik"));
        assert_eq!(parsed("ii", &[2]).as_deref(), Ok("ii->"));
        assert_eq!(
            parsed("...ij,...jk", &[4, 3]).as_deref(),
            Ok("ABij,Bjk->ABik")
        );
        assert!(parsed("ij,jk->iz", &[2, 2]).is_err());
        assert!(parsed("ij,jk->ik", &[2, 3]).is_err());
        assert!(parsed("ij->ik", &[2, 2]).is_err());
    }
}
