//! Every rule, tested against the interpreter.
//!
//! For each rule left sides are made at random from its pattern (or taken from `examples`), the rule is applied, and
//! both sides are evaluated on the same data: an `exact` rule has to give the same bits, NaN for NaN, on everything;
//! a `harmless` or `reassoc` one the same up to rounding and the sign of zero, NaN and infinity included; a `fast` one
//! the same up to rounding where the left side is finite. A rule that never fires fails too.

mod examples;
mod exhaustive;
mod instance;
mod outside;
pub mod random;

use super::cost::device::CPU;
use super::extract::{Snapshot, emit};
use super::graph::Facts;
use super::graph::load::{self, Loaded};
use super::rewrite::rule::{Class, Compiled};
use super::rules;
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::ir::literal::decode_f64;
use crate::ir::types::{Elem, Type};
use crate::ir::verify::verify;
use random::{Random, Values};
use std::collections::BTreeMap;

/// Instances of each rule that have to fire, and how many are tried to get there.
const FIRINGS: usize = 20;
const TRIES: usize = 30_000;
/// Sets of data for each instance.
const DATA: usize = 3;

#[test]
fn every_rule_parses_and_has_a_name_of_its_own() {
    let mut names = std::collections::BTreeSet::new();
    for rule in rules::all() {
        if let Err(e) = Compiled::new(rule) {
            panic!("{}: {e}", rule.name);
        }
        assert!(
            names.insert(rule.name),
            "two rules are called {}",
            rule.name
        );
    }
    for (subject, rules) in rules::SUBJECTS {
        println!("{subject}: {} rules", rules.len());
    }
    println!("{} rules", names.len());
    assert!(names.len() >= 150);
}

#[test]
fn every_rule_is_sound() {
    let mut failures: BTreeMap<&str, String> = BTreeMap::new();
    for rule in rules::all() {
        let compiled = Compiled::new(rule).unwrap();
        if let Err(why) = sound(&compiled) {
            failures.insert(rule.name, why);
        }
    }
    let list: Vec<String> = failures.iter().map(|(n, w)| format!("{n}: {w}")).collect();
    assert!(
        list.is_empty(),
        "{} rules:\n{}",
        list.len(),
        list.join("\n")
    );
}

fn sound(compiled: &Compiled) -> Result<(), String> {
    let rule = compiled.rule;
    let mut random = Random::named(rule.name);
    let given = examples::of(rule.name);
    let mut fired = 0;
    let mut tries = 0;
    while fired < FIRINGS {
        tries += 1;
        if tries > TRIES {
            return Err(format!("fired {fired} times of {TRIES}, not {FIRINGS}"));
        }
        let left = if given.is_empty() {
            let want = Type::new(random.elem(), random.shape());
            let data = values(rule.class);
            match instance::instance(&mut random, data, &compiled.left, rule.when, want) {
                Some(left) => left,
                None => continue,
            }
        } else {
            given[tries % given.len()].clone()
        };
        for right in apply(compiled, &left) {
            fired += 1;
            for _ in 0..DATA {
                same(rule.class, &left, &right, &mut random)?;
            }
        }
    }
    Ok(())
}

/// The functions that a rule makes of another at its result.
pub fn apply(compiled: &Compiled, left: &Func) -> Vec<Func> {
    let mut loaded = load::load(left, &[], &mut |body, _: &[Facts]| body);
    let root = loaded.graph.egg.find(loaded.roots[0]);
    let mut found = Vec::new();
    compiled.matcher.search(&loaded.graph, root, &mut found);
    // Results of a multi-result primitive stand above it.
    if found.is_empty() {
        for class in loaded.graph.egg.classes().map(|c| c.id) {
            if loaded.graph.data(class).types.len() > 1 {
                compiled.matcher.search(&loaded.graph, class, &mut found);
            }
        }
    }
    let mut results = Vec::new();
    for m in found {
        let inexact = compiled.rule.class != Class::Exact;
        let constant = loaded.graph.data(m.class).types.len() == 1
            && loaded.graph.data(m.class).constant.is_some();
        if !compiled.holds(&loaded.graph, &m) || (inexact && constant) {
            continue;
        }
        if let Some(right) = compiled.apply(&mut loaded.graph, &m) {
            let roots: Vec<egg::Id> = if m.class == root {
                vec![right]
            } else {
                (0..left.body.results.len())
                    .map(|i| loaded.graph.proj(right, i))
                    .collect()
            };
            results.push(written(left, &mut loaded, roots));
        }
    }
    results
}

fn written(left: &Func, loaded: &mut Loaded, roots: Vec<egg::Id>) -> Func {
    loaded.graph.egg.rebuild();
    let before = std::mem::replace(&mut loaded.roots, roots);
    let snapshot = Snapshot::take(loaded, &CPU);
    loaded.roots = before;
    let selection = vec![0; snapshot.entries.len()];
    emit::emit(left, &snapshot, &selection, 0)
}

/// What a class of rules has to hold for.
fn values(class: Class) -> Values {
    match class {
        Class::Exact => Values::Everything,
        Class::Harmless | Class::Reassoc => Values::Special,
        Class::Fast => Values::Finite,
    }
}

/// Whether two functions agree on random data, as much as the class asks.
fn same(class: Class, left: &Func, right: &Func, random: &mut Random) -> Result<(), String> {
    let data = values(class);
    let inputs: Vec<Array> = left
        .input_types()
        .iter()
        .map(|ty| random.array(ty, data))
        .collect();
    agree(class, left, right, &inputs)
}

pub fn agree(class: Class, left: &Func, right: &Func, inputs: &[Array]) -> Result<(), String> {
    verify(right).map_err(|e| format!("{e}\n{left}{right}"))?;
    if left.output_types() != right.output_types() {
        return Err(format!("types differ\n{left}{right}"));
    }
    // What cancels leaves the rounding of what was there.
    let largest = inputs.iter().flat_map(Array::to_f64);
    let largest = largest
        .filter(|x| x.is_finite())
        .fold(1.0, |m: f64, x| m.max(x.abs()));
    let run = |f: &Func| eval(f, inputs, Precision::Element).map_err(|e| format!("{e}\n{f}"));
    for (a, b) in run(left)?.iter().zip(run(right)?) {
        let bits = a.to_bits().into_iter().zip(b.to_bits());
        for (i, (x, y)) in bits.enumerate() {
            if !close(class, a.ty.elem, x, y, largest) {
                let (x, y) = (decode_f64(a.ty.elem, x), decode_f64(a.ty.elem, y));
                return Err(format!(
                    "element {i} is {x:?} on the left, {y:?} on the right, of {inputs:?}\n{left}{right}"
                ));
            }
        }
    }
    Ok(())
}

pub fn close(class: Class, elem: Elem, x: u64, y: u64, largest: f64) -> bool {
    if x == y {
        return true;
    }
    if !elem.is_float() {
        return false;
    }
    let (x, y) = (decode_f64(elem, x), decode_f64(elem, y));
    let epsilon = match elem {
        Elem::F64 => f64::EPSILON,
        Elem::F32 => f64::from(f32::EPSILON),
        Elem::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-7),
    };
    match class {
        Class::Exact => x.is_nan() && y.is_nan(),
        Class::Fast if !x.is_finite() => true,
        Class::Harmless | Class::Reassoc | Class::Fast => {
            (x.is_nan() && y.is_nan())
                || x == y
                || (x - y).abs() <= 32.0 * epsilon * x.abs().max(y.abs()).max(largest)
        }
    }
}
