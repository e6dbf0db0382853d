//! The optimiser as a whole, on programs in text.

mod constants;
mod devices;
mod extraction;
mod limits;
mod loops;
mod meter;
mod proofs;
mod published;
mod stable;

use super::cost::device::CPU;
use super::rewrite::saturate::Stop;
use super::{Level, Report, optimise};
use crate::ir::Func;
use crate::ir::parse;
use crate::ir::verify::verify;

fn func(text: &str) -> Func {
    match parse::parse(text) {
        Ok(func) => func,
        Err(e) => panic!("{e:?}"),
    }
}

fn run(text: &str, level: Level) -> (Func, Report) {
    let before = func(text);
    let (after, report) = optimise(&before, level, &CPU);
    if let Err(e) = verify(&after) {
        panic!("{e:?}\n{after}");
    }
    (after, report)
}

#[test]
fn a_gradient_is_cheaper_after_and_the_same_on_every_run() {
    for level in [Level::Default, Level::Aggressive] {
        let (after, report) = run(include_str!("mlp_gradient.ir"), level);
        assert_eq!(report.rejected, None);
        assert_eq!(report.stop, Stop::Saturated);
        assert!(report.after < report.before, "{report}");
        assert_eq!(report.decisive.get("stop-gradient"), Some(&1), "{report}");
        let text = after.to_string();
        assert!(!text.contains("stop_gradient"), "{text}");
        let (again, _) = run(include_str!("mlp_gradient.ir"), level);
        assert_eq!(text, again.to_string());
    }
}

#[test]
fn no_rules_change_nothing_at_level_0() {
    let text = include_str!("mlp_gradient.ir");
    let (after, report) = run(text, Level::None);
    assert_eq!(after.to_string(), func(text).to_string());
    assert_eq!(report.before, report.after);
}

#[test]
fn every_harmless_rule_is_in_the_documents() {
    let text = include_str!("../../../../docs/optimiser.md");
    for rule in super::rules::all() {
        let listed = text.contains(&format!("`{}`", rule.name));
        let harmless = rule.class == super::rewrite::Class::Harmless;
        assert_eq!(listed, harmless, "{}", rule.name);
    }
}
