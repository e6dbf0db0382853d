//! Conditions from outside: where the values that a letter takes do not have a property, or its type is another, a rule
//! that asks for it must not fire, whatever the analysis believes.

use super::instance::lettered;
use super::random::{Random, Values};
use crate::interp::{Array, Precision, eval};
use crate::ir::literal::decode_f64;
use crate::ir::types::{Elem, Type};
use crate::ir::{Func, Value};
use crate::opt::graph::load;
use crate::opt::rewrite::rule::{CONDITIONS, Compiled};
use crate::opt::rules;

/// Left sides of each rule that break each of its conditions, and how many are tried to get there.
const BROKEN: usize = 12;
const TRIES: usize = 40_000;
/// Sets of data for each left side.
const DATA: usize = 4;

/// Whether these values of a letter, one array a set of inputs, lack the property.
fn broken(condition: &str, ty: &Type, seen: &[Array]) -> Option<bool> {
    let elem = ty.elem;
    let any = |test: &dyn Fn(f64) -> bool| {
        seen.iter()
            .flat_map(Array::to_bits)
            .any(|bits| test(decode_f64(elem, bits)))
    };
    Some(match condition {
        "int" => elem.is_float() || elem == Elem::Bool,
        "float" => !elem.is_float(),
        "wide" => !elem.is_float() || elem.bits() < 32,
        "bool" => elem != Elem::Bool,
        "signed" => !elem.is_signed_int(),
        "unsigned" => !elem.is_unsigned_int(),
        "const" => seen.windows(2).any(|w| w[0].to_bits() != w[1].to_bits()),
        "nonneg" => any(&|x| x < 0.0),
        "finite" => any(&|x| !x.is_finite()),
        "no_nan" => any(&f64::is_nan),
        "not_neg_zero" => any(&|x| x == 0.0 && x.is_sign_negative()),
        "positive" => any(&|x| x.is_nan() || x <= 0.0),
        "nonzero" => any(&|x| x == 0.0),
        "pow2" => any(&|x| x == 0.0 || !x.is_finite() || 1.0 / (1.0 / x) != x || !one_bit(x)),
        _ => return None,
    })
}

fn one_bit(x: f64) -> bool {
    x.to_bits() & ((1 << 52) - 1) == 0
}

#[test]
fn no_rule_fires_where_a_condition_fails() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for rule in rules::all().filter(|r| !r.when.is_empty()) {
        let compiled = Compiled::new(rule).unwrap();
        if !super::examples::of(rule.name).is_empty() {
            continue;
        }
        let parts: Vec<&str> = rule.when.split(',').map(str::trim).collect();
        for part in &parts {
            let (condition, letter) = part.split_once(' ').unwrap();
            let letter = letter.chars().next().unwrap();
            let others: Vec<&str> = parts.iter().copied().filter(|p| p != part).collect();
            match outside(&compiled, condition, letter, &others.join(", ")) {
                Ok(()) => checked += 1,
                Err(why) => failures.push(format!("{}, {condition} {letter}: {why}", rule.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(checked > 80, "{checked}");
}

#[test]
fn every_condition_has_a_meaning_here() {
    let one = Array::splat_bits(Type::scalar(Elem::F32), 0);
    for (name, _) in CONDITIONS {
        let known = broken(name, &Type::scalar(Elem::F32), std::slice::from_ref(&one));
        assert!(known.is_some(), "{name}");
    }
}

fn outside(compiled: &Compiled, condition: &str, letter: char, others: &str) -> Result<(), String> {
    let rule = compiled.rule;
    let mut random = Random::named(&format!("{} {condition} {letter}", rule.name));
    let mut found = 0;
    for _ in 0..TRIES {
        let want = Type::new(random.elem(), random.shape());
        // Only the other conditions are helped to hold.
        let data = Values::Everything;
        let made = lettered(&mut random, data, &compiled.left, others, want);
        let Some((left, letters)) = made else {
            continue;
        };
        let value = letters[&letter];
        let mut probe = left.clone();
        probe.body.results = vec![value];
        let mut seen = Vec::new();
        for _ in 0..DATA {
            let inputs: Vec<Array> = probe
                .input_types()
                .iter()
                .map(|ty| random.array(ty, Values::Everything))
                .collect();
            let results = eval(&probe, &inputs, Precision::Element);
            seen.push(results.map_err(|e| e.to_string())?.swap_remove(0));
        }
        if broken(condition, probe.ty(value), &seen) != Some(true) {
            continue;
        }
        found += 1;
        if fires(compiled, &left, letter, value) {
            return Err(format!("fires on\n{left}"));
        }
        if found == BROKEN {
            return Ok(());
        }
    }
    Err(format!("broken {found} times of {TRIES}, not {BROKEN}"))
}

/// Whether a rule applies to the result of a function with this value for a letter.
fn fires(compiled: &Compiled, left: &Func, letter: char, value: Value) -> bool {
    let mut both = left.clone();
    both.body.results.push(value);
    let mut loaded = load::load(&both, &[], &mut |body, _| body);
    let root = loaded.graph.egg.find(loaded.roots[0]);
    let value = loaded.graph.egg.find(loaded.roots[1]);
    let mut found = Vec::new();
    compiled.matcher.search(&loaded.graph, root, &mut found);
    let egg = &loaded.graph.egg;
    found.retain(|m| m.var(letter).map(|id| egg.find(id)) == Some(value));
    found
        .iter()
        .any(|m| compiled.holds(&loaded.graph, m) && compiled.apply(&mut loaded.graph, m).is_some())
}
