//! What the meter says after every exchange is what the whole selection costs.

use super::func;
use crate::opt::Level;
use crate::opt::cost::device::{CPU, H200, TPU_V6E};
use crate::opt::extract::meter::Meter;
use crate::opt::extract::{Judge, Snapshot, greedy};
use crate::opt::graph::load;
use crate::opt::rewrite::RuleSet;
use crate::opt::rewrite::saturate::saturate;
use crate::opt::soundness::random::Random;

/// `%2` equals the difference that is made of it: a choice that runs in a circle.
const CIRCLE: &str = "
func circle(%0: f32[4], %1: f32[4]) -> (f32[4], f32[4]) {
  %2 = exp %0 : f32[4]
  %3 = add %2, %1 : f32[4]
  %4 = sub %3, %1 : f32[4]
  %5 = mul %4, %3 : f32[4]
  %6 = tanh %5 : f32[4]
  %7 = mul %6, %2 : f32[4]
  return %4, %7
}
";

#[test]
fn exchanges_cost_what_whole_selections_do() {
    let (mut done, mut circles) = (0, 0);
    let texts = [include_str!("mlp_gradient.ir"), CIRCLE];
    for (device, text) in [
        (&CPU, texts[0]),
        (&H200, texts[0]),
        (&TPU_V6E, texts[0]),
        (&CPU, texts[1]),
    ] {
        let source = func(text);
        let mut loaded = load::load(&source, &[], &mut |body, _| body);
        saturate(&mut loaded.graph, RuleSet::of(Level::Aggressive));
        let snapshot = Snapshot::take(&loaded, device);
        let mut judge = Judge::new(&snapshot, device);
        let seed = greedy::as_written(&snapshot);
        let mut meter = Meter::new(&snapshot, device, seed).expect("the source has no circle");
        let mut random = Random::named("meter");
        for _ in 0..20_000 {
            let class = random.below(snapshot.entries.len());
            let choices = snapshot.entries[class].choices.len();
            if !meter.in_use(class) || choices < 2 {
                continue;
            }
            let choice = random.below(choices);
            let mut other = meter.selection.clone();
            other[class] = choice;
            let expected = judge.score(&other);
            if meter.exchange(class, choice) {
                done += 1;
                assert_eq!(Some(meter.score()), expected);
                assert_eq!(meter.selection, other);
            } else {
                circles += 1;
                assert_eq!(expected, None);
                assert_eq!(judge.score(&meter.selection), Some(meter.score()));
            }
        }
    }
    assert!(done > 2_000 && circles > 100, "{done} {circles}");
}
