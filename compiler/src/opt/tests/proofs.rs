//! What saturation says of a program is replayed on data: every node that was ever made is evaluated from the operands
//! it was made with, and the two sides of every step of a rule have to agree, as have all nodes of a class. So every
//! chain of steps from a value of the source to what stands for it is checked, on the program that it was made for.

use super::func;
use crate::interp::{Array, Precision, apply};
use crate::ir::Func;
use crate::opt::Level;
use crate::opt::graph::{Head, load};
use crate::opt::rewrite::RuleSet;
use crate::opt::rewrite::saturate::saturate;
use crate::opt::soundness::random::{Random, Values};
use std::collections::HashMap;

/// Steps replayed, and why one is wrong.
fn replay(source: &Func, level: Level) -> Result<usize, String> {
    let rules = RuleSet::of(level);
    let mut loaded = load::load(source, &[], &mut |body, _| body);
    let saturation = saturate(&mut loaded.graph, rules);
    let mut random = Random::named(&source.name);
    let inputs: Vec<Array> = source
        .input_types()
        .iter()
        .map(|ty| random.array(ty, Values::Finite))
        .collect();
    let egg = &loaded.graph.egg;
    // Operands stand before their users; what depends on a loop or a branch is left out.
    let mut values: Vec<Option<Vec<Array>>> = Vec::new();
    for node in egg.nodes() {
        let args: Option<Vec<&Vec<Array>>> = node
            .children
            .iter()
            .map(|&c| values[usize::from(c)].as_ref())
            .collect();
        let found = args.and_then(|args| match &**egg.analysis.heads.get(node.head) {
            Head::Input(i) => Some(vec![inputs[*i as usize].clone()]),
            Head::Proj(i) => Some(vec![args[0][*i as usize].clone()]),
            Head::Tuple => Some(args.iter().map(|a| a[0].clone()).collect()),
            Head::Op(op) => {
                let args: Vec<Array> = args.iter().map(|a| a[0].clone()).collect();
                apply(op, &args, Precision::Element).ok()
            }
            Head::Block(_) => None,
        });
        values.push(found);
    }
    let mut steps = 0;
    for union in &saturation.unions {
        let sides = (
            &values[usize::from(union.left)],
            &values[usize::from(union.right)],
        );
        if let (Some(left), Some(right)) = sides {
            steps += 1;
            let name = rules.rules[union.rule].rule.name;
            same(left, right).map_err(|e| format!("{name}: {e}"))?;
        }
    }
    let mut first: HashMap<egg::Id, &Vec<Array>> = HashMap::new();
    for (i, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let class = egg.find(egg::Id::from(i));
        same(first.entry(class).or_insert(value), value).map_err(|e| format!("a class: {e}"))?;
    }
    Ok(steps)
}

fn same(left: &[Array], right: &[Array]) -> Result<(), String> {
    for (a, b) in left.iter().zip(right) {
        if a.ty != b.ty {
            return Err(format!("{} and {}", a.ty, b.ty));
        }
        let (a, b) = (a.to_f64(), b.to_f64());
        let largest = a.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (x, y) in a.iter().zip(&b) {
            // A root of what is negative is NaN on one side and left out on the other.
            let apart = (x - y).abs() > 2e-4 * largest;
            if apart && x.is_finite() && y.is_finite() {
                return Err(format!("{x} and {y}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_step_holds_on_the_program_it_was_made_for() {
    let mut sources = vec![func(include_str!("mlp_gradient.ir"))];
    let published = include_str!("../../../../tests/data/published_rules.ir");
    for block in published.split("\n## ").skip(1) {
        let at = block.find("func ").expect("a block has functions");
        sources.extend(crate::ir::parse::parse_all(&block[at..]).expect("the file is well formed"));
    }
    let mut steps = 0;
    for level in [Level::Default, Level::Aggressive] {
        for source in &sources {
            match replay(source, level) {
                Ok(count) => steps += count,
                Err(e) => panic!("{e}\n{source}"),
            }
        }
    }
    assert!(steps > 200, "{steps}");
}
