//! What differs from device to device.

use super::func;
use crate::opt::cost::device::{CPU, TPU_V6E};
use crate::opt::cost::groups::groups;

const LAYERS: &str = "
func layers(%0: f32[64, 64], %1: f32[64, 64], %2: f32[64, 64]) -> (f32[64, 64]) {
  %3 = exp %0 : f32[64, 64]
  %4 = dot_general[contract = [1] x [0]] %3, %1 : f32[64, 64]
  %5 = tanh %4 : f32[64, 64]
  %6 = dot_general[contract = [1] x [0]] %5, %2 : f32[64, 64]
  %7 = neg %6 : f32[64, 64]
  return %7
}
";

#[test]
fn a_product_takes_along_what_is_around_it_where_no_library_is_called() {
    let source = func(LAYERS);
    let of = |device| -> Vec<Vec<usize>> {
        let all = groups(&source, &source.body, device);
        all.into_iter().map(|group| group.members).collect()
    };
    assert_eq!(of(&CPU), [[0], [1], [2], [3], [4]]);
    // Two products are never one kernel: what is between them goes along with the second.
    assert_eq!(of(&TPU_V6E), [vec![0, 1], vec![2, 3, 4]]);
}
