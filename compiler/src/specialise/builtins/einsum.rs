//! `einsum`: repeated indices become diagonals, lone ones are summed, the rest are contractions, left to right.

use super::Call;
use super::reduce::sum_over;
use crate::ir::num::Num;
use crate::ir::op::DotDims;
use crate::ir::{Builder, CompareOp, Elem, ReduceOp, Value};

/// An operand and the index of each of its dimensions. Indices of an ellipsis are numbered from its end, upper bits set.
struct Term {
    value: Value,
    labels: Vec<u32>,
}

const ELLIPSIS: u32 = 1 << 31;

pub(super) fn einsum(b: &mut Builder, c: &Call) -> Value {
    let spec: String = c
        .attrs
        .str("spec")
        .unwrap_or("")
        .chars()
        .filter(|ch| !ch.is_whitespace())
        .collect();
    let (inputs, output) = match spec.split_once("->") {
        Some((inputs, output)) => (inputs.to_string(), Some(output.to_string())),
        None => (spec, None),
    };
    let mut terms: Vec<Term> = inputs
        .split(',')
        .zip(&c.args)
        .map(|(text, &value)| Term {
            value,
            labels: labels(text, b.ty(value).rank()),
        })
        .collect();
    let out = match output {
        Some(text) => labels(&text, c.out().rank()),
        None => implicit_output(&terms),
    };
    drop_stretched(b, &mut terms);
    for term in &mut terms {
        take_diagonals(b, term);
    }
    let mut acc = terms.remove(0);
    while !terms.is_empty() {
        let right = terms.remove(0);
        let wanted = |l: &u32| out.contains(l) || terms.iter().any(|t| t.labels.contains(l));
        acc = contract(b, acc, right, &wanted);
    }
    sum_out(b, &mut acc, &|l| out.contains(l));
    lay_out(b, &acc, &out, &c.out().shape)
}

fn labels(text: &str, rank: usize) -> Vec<u32> {
    let named = |s: &str| s.chars().map(|ch| ch as u32).collect::<Vec<_>>();
    match text.split_once("...") {
        None => named(text),
        Some((before, after)) => {
            let (before, after) = (named(before), named(after));
            let dots = rank.saturating_sub(before.len() + after.len());
            let dots = (0..dots as u32).rev().map(|i| ELLIPSIS | i);
            before.into_iter().chain(dots).chain(after).collect()
        }
    }
}

/// Without `->`: the ellipsis, then the indices that occur once, in alphabetical order.
fn implicit_output(terms: &[Term]) -> Vec<u32> {
    let all: Vec<u32> = terms
        .iter()
        .flat_map(|t| t.labels.iter().copied())
        .collect();
    let dots = all
        .iter()
        .filter(|&&l| l & ELLIPSIS != 0)
        .map(|l| l & !ELLIPSIS)
        .max();
    let mut out: Vec<u32> = dots.map_or(vec![], |n| (0..=n).rev().map(|i| ELLIPSIS | i).collect());
    let mut once: Vec<u32> = all
        .iter()
        .copied()
        .filter(|l| l & ELLIPSIS == 0 && all.iter().filter(|m| *m == l).count() == 1)
        .collect();
    once.sort_unstable();
    out.extend(once);
    out
}

/// A dimension of size 1 that meets a larger one under the same index broadcasts: it is dropped.
fn drop_stretched(b: &mut Builder, terms: &mut [Term]) {
    let size_of = |b: &Builder, terms: &[Term], l: u32| {
        let each = terms.iter().flat_map(|t| {
            t.labels
                .iter()
                .zip(b.shape_of(t.value))
                .filter(|(m, _)| **m == l)
                .map(|(_, n)| n)
                .collect::<Vec<_>>()
        });
        each.filter(|&n| n != 1).max()
    };
    for i in 0..terms.len() {
        let shape = b.shape_of(terms[i].value);
        let keep: Vec<bool> = terms[i]
            .labels
            .iter()
            .zip(&shape)
            .map(|(&l, &n)| n != 1 || size_of(b, terms, l).is_none())
            .collect();
        if keep.iter().all(|&k| k) {
            continue;
        }
        let kept = |d: usize| keep[d];
        let sizes: Vec<usize> = (0..shape.len())
            .filter(|&d| kept(d))
            .map(|d| shape[d])
            .collect();
        terms[i].labels = (0..shape.len())
            .filter(|&d| kept(d))
            .map(|d| terms[i].labels[d])
            .collect();
        terms[i].value = b.reshape(terms[i].value, &sizes);
    }
}

/// `ii` → `i`: off the diagonal is masked, then the later of the two dimensions is summed.
fn take_diagonals(b: &mut Builder, term: &mut Term) {
    while let Some((i, j)) = repeated(&term.labels) {
        let shape = b.shape_of(term.value);
        let (row, column) = (b.iota(Elem::I32, &shape, i), b.iota(Elem::I32, &shape, j));
        let mask = b.compare(CompareOp::Eq, row, column);
        let zero = b.like(term.value, 0.0);
        let kept = b.select(mask, term.value, zero);
        term.value = b.reduce(ReduceOp::Sum, kept, &[j]);
        term.labels.remove(j);
    }
}

fn repeated(labels: &[u32]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|i| {
        (i + 1..labels.len())
            .find(|&j| labels[i] == labels[j])
            .map(|j| (i, j))
    })
}

fn sum_out(b: &mut Builder, term: &mut Term, wanted: &dyn Fn(&u32) -> bool) {
    let axes: Vec<usize> = (0..term.labels.len())
        .filter(|&d| !wanted(&term.labels[d]))
        .collect();
    if axes.is_empty() {
        return;
    }
    term.value = sum_over(b, term.value, &axes);
    term.labels.retain(|l| wanted(l));
}

/// One dot_general: shared indices are batch where wanted afterwards, else contracted.
fn contract(b: &mut Builder, mut x: Term, mut y: Term, wanted: &dyn Fn(&u32) -> bool) -> Term {
    let in_y = y.labels.clone();
    sum_out(b, &mut x, &|l| wanted(l) || in_y.contains(l));
    let in_x = x.labels.clone();
    sum_out(b, &mut y, &|l| wanted(l) || in_x.contains(l));
    let shared: Vec<u32> = x
        .labels
        .iter()
        .copied()
        .filter(|l| y.labels.contains(l))
        .collect();
    let (batch, contracted): (Vec<u32>, Vec<u32>) = shared.into_iter().partition(|l| wanted(l));
    let at = |labels: &[u32], which: &[u32]| -> Vec<usize> {
        which
            .iter()
            .filter_map(|l| labels.iter().position(|m| m == l))
            .collect()
    };
    let dims = DotDims {
        lhs_batch: at(&x.labels, &batch),
        rhs_batch: at(&y.labels, &batch),
        lhs_contract: at(&x.labels, &contracted),
        rhs_contract: at(&y.labels, &contracted),
    };
    let value = b.op(crate::ir::Op::Dot(dims), &[x.value, y.value]);
    let free = |t: &Term| {
        t.labels
            .iter()
            .copied()
            .filter(|l| !batch.contains(l) && !contracted.contains(l))
            .collect::<Vec<_>>()
    };
    let (free_x, free_y) = (free(&x), free(&y));
    let labels = batch.into_iter().chain(free_x).chain(free_y).collect();
    Term { value, labels }
}

/// Dimensions in the order of the output; those that no operand kept are of size 1 or stretched.
fn lay_out(b: &mut Builder, term: &Term, out: &[u32], shape: &[usize]) -> Value {
    let present: Vec<usize> = (0..out.len())
        .filter(|&d| term.labels.contains(&out[d]))
        .collect();
    let perm: Vec<usize> = present
        .iter()
        .filter_map(|&d| term.labels.iter().position(|l| *l == out[d]))
        .collect();
    let moved = b.transpose(term.value, &perm);
    b.broadcast_in(moved, shape, &present)
}
