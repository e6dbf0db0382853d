//! Rewrites as data: published lists, and what people write without a thought for cost.

use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::opt::cost::device::CPU;
use crate::opt::cost::of_func;
use crate::opt::soundness::random;
use crate::opt::{Level, optimise};
use random::{Random, Values};

const PUBLISHED: &str = include_str!("../../../../tests/data/published_rules.ir");
const NAIVE: &str = include_str!("../../../../tests/data/naive.ir");

#[test]
fn of_published_rules_the_dearer_side_becomes_as_cheap_as_the_cheaper_one() {
    let count = dearer_sides_become_cheap(PUBLISHED);
    assert!(count >= 80, "{count}");
}

#[test]
fn what_is_written_without_a_thought_becomes_as_cheap_as_what_is_not() {
    let count = dearer_sides_become_cheap(NAIVE);
    assert!(count >= 10, "{count}");
}

/// Checks all blocks of a text; how many there are.
fn dearer_sides_become_cheap(text: &str) -> usize {
    let mut failures = Vec::new();
    let mut count = 0;
    for block in text.split("\n## ").skip(1) {
        let (title, rest) = block.split_once('\n').expect("a block has a title");
        let said = |what: &str| {
            let line = rest.lines().next().unwrap_or_default();
            line.strip_prefix(what).is_some_and(|why| !why.is_empty())
        };
        let (why_not, no_gain) = (said("why not: "), said("no gain: "));
        let text = match why_not || no_gain {
            true => rest.split_once('\n').map_or("", |(_, rest)| rest),
            false => rest,
        };
        let funcs = crate::ir::parse::parse_all(text).unwrap_or_else(|e| panic!("{title}: {e:?}"));
        let [dear, cheap] = &funcs[..] else {
            panic!("{title}: {} functions", funcs.len());
        };
        count += 1;
        let mut random = Random::named(title);
        let inputs: Vec<_> = dear
            .input_types()
            .iter()
            .map(|ty| random.array(ty, Values::Finite))
            .collect();
        if let Err(e) = close(dear, cheap, &inputs) {
            failures.push(format!("{title}: {e}"));
        }
        if (of_func(dear, &CPU) <= of_func(cheap, &CPU)) != no_gain {
            failures.push(format!("{title}: which side is dearer is said wrongly"));
        }
        let (after, report) = optimise(dear, Level::Aggressive, &CPU);
        let (best, _) = optimise(cheap, Level::Aggressive, &CPU);
        let reached = report.after.time <= of_func(&best, &CPU).time
            && report.after.insts <= of_func(&best, &CPU).insts;
        if !reached && !why_not {
            failures.push(format!("{title}: not reached\n{after}{best}"));
        } else if reached && why_not {
            failures.push(format!("{title}: is reached"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    count
}

/// Whether two functions agree up to the rounding of the numbers that they add up.
fn close(dear: &Func, cheap: &Func, inputs: &[Array]) -> Result<(), String> {
    let run = |f: &Func| eval(f, inputs, Precision::Element).map_err(|e| e.to_string());
    for (a, b) in run(dear)?.iter().zip(run(cheap)?) {
        if a.ty != b.ty {
            return Err("the types differ".into());
        }
        let (a, b) = (a.to_f64(), b.to_f64());
        let largest = a.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (x, y) in a.iter().zip(&b) {
            let same = x == y || (x.is_nan() && y.is_nan());
            // What is outside of a function, such as the root of what is negative, may be NaN or not.
            if !same && x.is_finite() && (x - y).abs() > 1e-5 * largest {
                return Err(format!("{x} on the dearer side, {y} on the other"));
            }
        }
    }
    Ok(())
}
