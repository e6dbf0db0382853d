//! Integer rules on every 8-bit value.

use super::instance::instance;
use super::random::{Random, Values};
use super::{agree, apply};
use crate::interp::Array;
use crate::ir::types::{Elem, Type};
use crate::opt::graph::Kind;
use crate::opt::rewrite::pattern::Pattern;
use crate::opt::rewrite::rule::{Class, Compiled};
use crate::opt::rules;

/// Every pair of bytes.
const PAIRS: usize = 1 << 16;
/// Instances of each rule and element type, which differ in their constants.
const INSTANCES: usize = 12;

#[test]
fn integer_rules_hold_for_every_byte() {
    let mut checked = 0;
    for rule in rules::all().filter(|r| r.class == Class::Exact) {
        let compiled = Compiled::new(rule).unwrap();
        if !elementwise(&compiled.left) {
            continue;
        }
        for elem in [Elem::I8, Elem::U8] {
            let mut random = Random::named(rule.name);
            for _ in 0..INSTANCES {
                let want = Type::new(elem, [PAIRS]);
                let data = Values::Everything;
                let left = instance(&mut random, data, &compiled.left, rule.when, want);
                let Some(left) = left else { continue };
                let types = left.input_types();
                let bytes = types.iter().filter(|t| t.elem == elem).count();
                if bytes > 2 || types.iter().any(|t| t.elem != elem && t.elem != Elem::Bool) {
                    continue;
                }
                let mut seen = 0;
                let inputs: Vec<Array> = types
                    .iter()
                    .map(|ty| {
                        if ty.elem == Elem::Bool {
                            let bits = (0..PAIRS).map(|_| random.bits() & 1).collect();
                            return Array::from_bits(ty.clone(), bits);
                        }
                        let shift = 8 * seen;
                        seen += 1;
                        let bits = (0..PAIRS).map(|i| (i >> shift) as u64 & 0xff).collect();
                        Array::from_bits(ty.clone(), bits)
                    })
                    .collect();
                for right in apply(&compiled, &left) {
                    checked += 1;
                    if let Err(why) = agree(Class::Exact, &left, &right, &inputs) {
                        let short: String = why.chars().take(400).collect();
                        panic!("{}: {short}\n{left}{right}", rule.name);
                    }
                }
            }
        }
    }
    assert!(checked > 500, "only {checked} instances were checked");
}

/// Whether a pattern has elementwise primitives only.
fn elementwise(pattern: &Pattern) -> bool {
    let mut all = true;
    pattern.visit(&mut |p| {
        if let Pattern::Apply { kinds, .. } = p {
            all &= kinds.iter().all(|k| {
                matches!(
                    k,
                    Kind::Unary(_)
                        | Kind::Binary(_)
                        | Kind::Compare(_)
                        | Kind::Select
                        | Kind::Clamp
                )
            });
        }
    });
    all
}
