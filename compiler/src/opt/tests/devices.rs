//! What differs from device to device.

use super::func;
use crate::opt::cost::device::{CPU, DeviceCost, TPU_V6E};
use crate::opt::cost::groups::groups;
use crate::opt::{Level, optimise};

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

/// Rows of a table, by picking them and by a product.
fn picks(rows: usize, positions: usize) -> [String; 2] {
    let head = format!("(%0: bf16[{rows}, 64], %1: i32[{positions}]) -> (bf16[{positions}, 64])");
    let picked = format!(
        "
func picked{head} {{
  %2 = reshape %1 : i32[{positions}, 1]
  %3 = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 64]] %0, %2 : bf16[{positions}, 64]
  return %3
}}
"
    );
    let product = format!(
        "
func product{head} {{
  %2 = broadcast[dims = [0]] %1 : i32[{positions}, {rows}]
  %3 = iota[axis = 1] : i32[{positions}, {rows}]
  %4 = eq %2, %3 : bool[{positions}, {rows}]
  %5 = convert %4 : bf16[{positions}, {rows}]
  %6 = dot_general[contract = [1] x [0]] %5, %0 : bf16[{positions}, 64]
  return %6
}}
"
    );
    [picked, product]
}

#[test]
fn rows_are_picked_or_multiplied_out_by_what_the_device_takes_for_it() {
    let gathers = |text: &str, device: &DeviceCost| {
        let (after, _) = optimise(&func(text), Level::Aggressive, device);
        after.to_string().contains("gather")
    };
    for (rows, device, picked) in [
        (16, &CPU, true),
        (16, &TPU_V6E, false),
        (1 << 20, &CPU, true),
        (1 << 20, &TPU_V6E, true),
    ] {
        for text in picks(rows, 4096) {
            assert_eq!(gathers(&text, device), picked, "{rows}, {}", device.name);
        }
    }
}
