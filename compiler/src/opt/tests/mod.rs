//! The optimiser as a whole, on programs in text.

use super::cost::device::CPU;
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
fn mlp_gradient() {
    for level in [Level::Default, Level::Aggressive] {
        let start = std::time::Instant::now();
        let (after, report) = run(include_str!("mlp_gradient.ir"), level);
        eprintln!("{:?}\n{after}\n{report}", start.elapsed());
    }
}
