//! Left sides in text, for rules about primitives with regions, which are not made at random.

use crate::ir::Func;
use crate::ir::parse::parse_all;

/// The examples of a rule; none for those whose left sides are made from their patterns.
pub fn of(rule: &str) -> Vec<Func> {
    let text = match rule {
        "remat-inline" => REMAT,
        "custom-vjp-inline" => CUSTOM_VJP,
        "if-same-branches" => IF_SAME,
        "if-known" => IF_KNOWN,
        "scan-never" => SCAN_NEVER,
        "scan-once" => SCAN_ONCE,
        "scan-carry-unchanged" => SCAN_UNCHANGED,
        "scan-hoist" => SCAN_HOIST,
        "while-hoist" => WHILE_HOIST,
        "gather-by-one-hot" => ROWS,
        "scan-power" => SCAN_POWER,
        "scan-horner" => SCAN_HORNER,
        "window-max-of-floor" => WINDOW_MAX,
        "trace-of-dot" => TRACE,
        "diagonal-of-dot" => DIAGONAL,
        "gather-of-gather" => ROWS_OF_ROWS,
        "largest-of-sorted" | "smallest-of-sorted" => ENDS,
        "convs-beside" => CONVS_BESIDE,
        "dots-beside-left" | "dots-beside-right" => BESIDE,
        "convs-of-one-input"
        | "convs-of-one-kernel"
        | "conv-neg-kernel"
        | "scaled-conv"
        | "conv-scaled-input" => CONVOLUTIONS,
        _ => return Vec::new(),
    };
    parse_all(text).unwrap_or_else(|e| panic!("example of {rule}: {e:?}"))
}

const REMAT: &str = "
func one(%0: f32[3]) -> (f32[3]) {
  %1 = remat %0 : f32[3] body(%2: f32[3]) {
    %3 = sin %2 : f32[3]
    %4 = mul %3, %2 : f32[3]
    yield %4
  }
  return %1
}
func several(%0: f32[3], %1: f32[3]) -> (f32[3], f32) {
  %2, %3 = remat %0, %1 : f32[3], f32 body(%4: f32[3], %5: f32[3]) {
    %6 = sub %4, %5 : f32[3]
    %7 = reduce_sum[axes = [0]] %6 : f32
    yield %6, %7
  }
  return %2, %3
}
func nested(%0: f32[3]) -> (f32[3]) {
  %1 = remat %0 : f32[3] body(%2: f32[3]) {
    %3 = constant 0 : i32
    %4 = lt %3, %3 : bool
    %5 = neg %2 : f32[3]
    %6 = if %4 : f32[3] then {
      yield %5
    } else {
      %7 = add %5, %2 : f32[3]
      yield %7
    }
    yield %6
  }
  return %1
}
";

const CUSTOM_VJP: &str = "
func one(%0: f32, %1: i32) -> (f32) {
  %2 = custom_vjp %0, %1 : f32 function(%3: f32, %4: i32) {
    %5 = exp %3 : f32
    yield %5
  } derivative(%6: f32, %7: i32, %8: f32, %9: f32) {
    %10 = mul %8, %9 : f32
    yield %10
  }
  return %2
}
";

const ROWS: &str = "
func rows(%0: bf16[5, 3], %1: i32[4]) -> (bf16[4, 3]) {
  %2 = reshape %1 : i32[4, 1]
  %3 = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]] %0, %2 : bf16[4, 3]
  return %3
}
func columns(%0: f16[2, 5], %1: i32[3, 2, 1]) -> (f16[3, 2, 2]) {
  %2 = gather[offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 2, slice_sizes = [2, 1]] %0, %1 : f16[3, 2, 2]
  return %2
}
func one(%0: bf16[3], %1: i32[1]) -> (bf16) {
  %2 = gather[offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1]] %0, %1 : bf16
  return %2
}
func one_row(%0: f16[1, 2], %1: i32[2, 1]) -> (f16[2, 2]) {
  %2 = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 2]] %0, %1 : f16[2, 2]
  return %2
}
";

const ROWS_OF_ROWS: &str = "
func rows(%0: f32[5, 3], %1: i32[4, 1], %2: i32[2, 1]) -> (f32[2, 3]) {
  %3 = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]] %0, %1 : f32[4, 3]
  %4 = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]] %3, %2 : f32[2, 3]
  return %4
}
func one_of_columns(%0: f32[2, 5], %1: i32[3, 1], %2: i32[1]) -> (f32[2]) {
  %3 = gather[offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 1]] %0, %1 : f32[3, 2]
  %4 = gather[offset_dims = [0], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1, 2]] %3, %2 : f32[2]
  return %4
}
func of_numbers(%0: i32[6], %1: i32[3, 1], %2: i32[2, 2, 1]) -> (i32[2, 2]) {
  %3 = gather[offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1]] %0, %1 : i32[3]
  %4 = gather[offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 2, slice_sizes = [1]] %3, %2 : i32[2, 2]
  return %4
}
";

const ENDS: &str = "
func last(%0: f32[3, 5]) -> (f32[3, 1]) {
  %1 = sort[axis = 1, keys = 1] %0 : f32[3, 5]
  %2 = slice[start = [0, 4], limit = [3, 5], stride = [1, 1]] %1 : f32[3, 1]
  return %2
}
func first(%0: f64[4]) -> (f64[1]) {
  %1 = sort[axis = 0, keys = 1] %0 : f64[4]
  %2 = slice[start = [0], limit = [1], stride = [1]] %1 : f64[1]
  return %2
}
func first_falling(%0: i32[4, 3]) -> (i32[1, 2]) {
  %1 = sort[axis = 0, keys = 1, descending = true] %0 : i32[4, 3]
  %2 = slice[start = [0, 1], limit = [1, 3], stride = [1, 1]] %1 : i32[1, 2]
  return %2
}
func last_falling(%0: f32[4]) -> (f32[1]) {
  %1 = sort[axis = 0, keys = 1, descending = true] %0 : f32[4]
  %2 = slice[start = [3], limit = [4], stride = [1]] %1 : f32[1]
  return %2
}
";

const SCAN_POWER: &str = "
func by_the_turn(%0: f32[3], %1: f32[3]) -> (f32[3]) {
  %2 = scan[length = 5, carry = 1] %1 : f32[3] body(%3: i32, %4: f32[3]) {
    %5 = convert %3 : f32
    %6 = broadcast[dims = []] %5 : f32[3]
    %7 = pow %0, %6 : f32[3]
    %8 = add %4, %7 : f32[3]
    yield %8
  }
  return %2
}
func from_one(%0: f64, %1: f64[4]) -> (f64, f64[4]) {
  %2, %3 = scan[length = 4, carry = 1] %0, %1 : f64, f64[4] body(%4: i32, %5: f64, %6: f64) {
    %7 = constant 0.9 : f64
    %8 = constant 1 : i32
    %9 = add %4, %8 : i32
    %10 = convert %9 : f64
    %11 = pow %7, %10 : f64
    %12 = mul %6, %11 : f64
    %13 = add %12, %5 : f64
    yield %13, %12
  }
  return %2, %3
}
func by_a_carried_count(%0: f32, %1: i32) -> (f32, i32) {
  %2 = constant 7 : i32
  %3 = rem %1, %2 : i32
  %4, %5 = scan[length = 3, carry = 2] %0, %3 : f32, i32 body(%6: i32, %7: f32, %8: i32) {
    %9 = constant 0.5 : f32
    %10 = constant 1 : i32
    %11 = convert %8 : f32
    %12 = pow %9, %11 : f32
    %13 = add %7, %12 : f32
    %14 = add %8, %10 : i32
    yield %13, %14
  }
  return %4, %5
}
";

const SCAN_HORNER: &str = "
func up(%0: f32[3], %1: f32[3], %2: f32[4, 3]) -> (f32[3]) {
  %3 = scan[length = 4, carry = 1] %1, %2 : f32[3] body(%4: i32, %5: f32[3], %6: f32[3]) {
    %7 = convert %4 : f32
    %8 = broadcast[dims = []] %7 : f32[3]
    %9 = pow %0, %8 : f32[3]
    %10 = mul %6, %9 : f32[3]
    %11 = add %5, %10 : f32[3]
    yield %11
  }
  return %3
}
func down_with_more_results(%0: f32, %1: f32[3], %2: f32[5, 3]) -> (f32[3], f32[5, 3]) {
  %3, %4 = scan[length = 5, carry = 1] %1, %2 : f32[3], f32[5, 3] body(%5: i32, %6: f32[3], %7: f32[3]) {
    %8 = constant 6 : i32
    %9 = sub %8, %5 : i32
    %10 = convert %9 : f32
    %11 = pow %0, %10 : f32
    %12 = broadcast[dims = []] %11 : f32[3]
    %13 = mul %12, %7 : f32[3]
    %14 = add %13, %6 : f32[3]
    yield %14, %13
  }
  return %3, %4
}
func divided(%0: f32[3], %1: f32[3]) -> (f32[3]) {
  %2 = scan[length = 3, carry = 1] %1 : f32[3] body(%3: i32, %4: f32[3]) {
    %5 = convert %3 : f32
    %6 = broadcast[dims = []] %5 : f32[3]
    %7 = pow %0, %6 : f32[3]
    %8 = constant 2.0 : f32[3]
    %9 = add %6, %8 : f32[3]
    %10 = div %7, %9 : f32[3]
    %11 = add %10, %4 : f32[3]
    yield %11
  }
  return %2
}
func from_the_last_turn(%0: f64, %1: f64) -> (f64) {
  %2 = scan[length = 6, reverse = true, carry = 1] %1 : f64 body(%3: i32, %4: f64) {
    %5 = convert %3 : f64
    %6 = constant 2.0 : f64
    %7 = add %5, %6 : f64
    %8 = pow %0, %7 : f64
    %9 = add %4, %8 : f64
    yield %9
  }
  return %2
}
";

const IF_SAME: &str = "
func same(%0: bool, %1: f32[2], %2: f32[2]) -> (f32[2]) {
  %3 = if %0 : f32[2] then {
    %4 = max %1, %2 : f32[2]
    yield %4
  } else {
    %5 = max %1, %2 : f32[2]
    yield %5
  }
  return %3
}
func two(%0: bool, %1: f32[2], %2: f32[2]) -> (f32[2], f32[2]) {
  %3, %4 = if %0 : f32[2], f32[2] then {
    yield %2, %1
  } else {
    yield %2, %1
  }
  return %3, %4
}
";

const IF_KNOWN: &str = "
func then(%0: f32[2]) -> (f32[2]) {
  %1 = constant true : bool
  %2 = if %1 : f32[2] then {
    %3 = neg %0 : f32[2]
    yield %3
  } else {
    yield %0
  }
  return %2
}
func otherwise(%0: f32[2], %1: f32) -> (f32[2], f32) {
  %2 = constant false : bool
  %3, %4 = if %2 : f32[2], f32 then {
    %5 = neg %0 : f32[2]
    yield %5, %1
  } else {
    %6 = exp %1 : f32
    yield %0, %6
  }
  return %3, %4
}
";

const SCAN_NEVER: &str = "
func never(%0: f32, %1: f32[0, 2]) -> (f32, f32[0, 2]) {
  %2, %3 = scan[length = 0, carry = 1] %0, %1 : f32, f32[0, 2] body(%4: i32, %5: f32, %6: f32[2]) {
    %7 = neg %5 : f32
    yield %7, %6
  }
  return %2, %3
}
func carry(%0: f32) -> (f32) {
  %1 = scan[length = 0, carry = 1] %0 : f32 body(%2: i32, %3: f32) {
    %4 = exp %3 : f32
    yield %4
  }
  return %1
}
";

const SCAN_ONCE: &str = "
func once(%0: f32, %1: f32[1, 2], %2: f32) -> (f32, f32[1, 2]) {
  %3, %4 = scan[length = 1, carry = 1] %0, %1 : f32, f32[1, 2] body(%5: i32, %6: f32, %7: f32[2]) {
    %8 = convert %5 : f32
    %9 = add %8, %6 : f32
    %10 = mul %9, %2 : f32
    %11 = neg %7 : f32[2]
    yield %10, %11
  }
  return %3, %4
}
func reversed(%0: i32, %1: i32[1]) -> (i32) {
  %2 = scan[length = 1, reverse, carry = 1] %0, %1 : i32 body(%3: i32, %4: i32, %5: i32) {
    %6 = add %3, %4 : i32
    %7 = mul %6, %5 : i32
    yield %7
  }
  return %2
}
";

const SCAN_UNCHANGED: &str = "
func middle(%0: f32, %1: f32, %2: f32, %3: f32[3]) -> (f32, f32, f32, f32[3]) {
  %4, %5, %6, %7 = scan[length = 3, carry = 3] %0, %1, %2, %3 : f32, f32, f32, f32[3] body(%8: i32, %9: f32, %10: f32, %11: f32, %12: f32) {
    %13 = add %9, %10 : f32
    %14 = mul %11, %12 : f32
    yield %13, %10, %14, %13
  }
  return %4, %5, %6, %7
}
func only(%0: f32, %1: f32[3]) -> (f32, f32[3]) {
  %2, %3 = scan[length = 3, carry = 1] %0, %1 : f32, f32[3] body(%4: i32, %5: f32, %6: f32) {
    %7 = mul %5, %6 : f32
    yield %5, %7
  }
  return %2, %3
}
func alone(%0: f32) -> (f32) {
  %1 = scan[length = 3, carry = 1] %0 : f32 body(%2: i32, %3: f32) {
    yield %3
  }
  return %1
}
";

const SCAN_HOIST: &str = "
func product(%0: f32[2, 2], %1: f32[2, 2], %2: f32[2]) -> (f32[2]) {
  %3 = scan[length = 3, carry = 1] %2 : f32[2] body(%4: i32, %5: f32[2]) {
    %6 = dot_general[contract = [1] x [0]] %0, %1 : f32[2, 2]
    %7 = constant 0.5 : f32[2, 2]
    %8 = mul %6, %7 : f32[2, 2]
    %9 = dot_general[contract = [1] x [0]] %8, %5 : f32[2]
    yield %9
  }
  return %3
}
func slices(%0: f32, %1: f32[3], %2: f32) -> (f32, f32[3]) {
  %3, %4 = scan[length = 3, reverse, carry = 1] %0, %1 : f32, f32[3] body(%5: i32, %6: f32, %7: f32) {
    %8 = exp %2 : f32
    %9 = mul %8, %7 : f32
    %10 = add %9, %6 : f32
    %11 = neg %8 : f32
    yield %10, %11
  }
  return %3, %4
}
";

const WHILE_HOIST: &str = "
func bound(%12: i32, %1: i32) -> (i32) {
  %13 = constant 7 : i32
  %0 = and %12, %13 : i32
  %2 = while %0 : i32 cond(%3: i32) {
    %4 = constant 7 : i32
    %5 = rem %1, %4 : i32
    %6 = lt %3, %5 : bool
    yield %6
  } body(%7: i32) {
    %8 = constant 1 : i32
    %9 = or %1, %8 : i32
    %10 = and %9, %8 : i32
    %11 = add %7, %10 : i32
    yield %11
  }
  return %2
}
";

const WINDOW_MAX: &str = "
func plain(%0: f32[5, 4]) -> (f32[2, 3]) {
  %1 = constant 0.0 : f32[5, 4]
  %2 = max %0, %1 : f32[5, 4]
  %3 = reduce_window_max[size = [2, 2], stride = [2, 1], padding = [(0, 0), (0, 0)], base_dilation = [1, 1], window_dilation = [2, 1]] %2 : f32[2, 3]
  return %3
}
func cropped(%0: i32[6]) -> (i32[3]) {
  %1 = constant -3 : i32[6]
  %2 = max %0, %1 : i32[6]
  %3 = reduce_window_max[size = [2], stride = [1], padding = [(-1, -1)], base_dilation = [1], window_dilation = [1]] %2 : i32[3]
  return %3
}
func padded(%0: f32[3]) -> (f32[6]) {
  %1 = constant 0.0 : f32[3]
  %2 = max %0, %1 : f32[3]
  %3 = reduce_window_max[size = [2], stride = [1], padding = [(2, 2)], base_dilation = [1], window_dilation = [1]] %2 : f32[6]
  return %3
}
";

const DIAGONAL: &str = "
func plain(%0: f32[3, 2], %1: f32[2, 3]) -> (f32[3]) {
  %2 = dot_general[contract = [1] x [0]] %0, %1 : f32[3, 3]
  %3 = reshape %2 : f32[9]
  %4 = slice[start = [0], limit = [9], stride = [4]] %3 : f32[3]
  return %4
}
func turned(%0: f64[2, 4], %1: f64[4, 2]) -> (f64[4]) {
  %2 = dot_general[contract = [0] x [1]] %0, %1 : f64[4, 4]
  %3 = reshape %2 : f64[16]
  %4 = slice[start = [0], limit = [16], stride = [5]] %3 : f64[4]
  return %4
}
func one(%0: f32[1, 2], %1: f32[1, 2]) -> (f32[1]) {
  %2 = dot_general[contract = [1] x [1]] %0, %1 : f32[1, 1]
  %3 = reshape %2 : f32[1]
  %4 = slice[start = [0], limit = [1], stride = [2]] %3 : f32[1]
  return %4
}
";

const TRACE: &str = "
func whole(%0: f32[3, 2], %1: f32[2, 3]) -> (f32) {
  %2 = dot_general[contract = [1] x [0]] %0, %1 : f32[3, 3]
  %3 = iota[axis = 0] : i32[3, 3]
  %4 = iota[axis = 1] : i32[3, 3]
  %5 = eq %3, %4 : bool[3, 3]
  %6 = constant 0.0 : f32[3, 3]
  %7 = select %5, %2, %6 : f32[3, 3]
  %8 = reduce_sum[axes = [0, 1]] %7 : f32
  return %8
}
func turned(%0: f64[2, 3], %1: f64[3, 2]) -> (f64) {
  %2 = dot_general[contract = [0] x [1]] %0, %1 : f64[3, 3]
  %3 = iota[axis = 1] : i32[3, 3]
  %4 = iota[axis = 0] : i32[3, 3]
  %5 = eq %3, %4 : bool[3, 3]
  %6 = constant 0.0 : f64[3, 3]
  %7 = select %5, %2, %6 : f64[3, 3]
  %8 = reduce_sum[axes = [0, 1]] %7 : f64
  return %8
}
func rows(%0: f32[2, 3], %1: f32[2, 3]) -> (f32[3]) {
  %2 = dot_general[contract = [0] x [0]] %0, %1 : f32[3, 3]
  %3 = iota[axis = 0] : u8[3, 3]
  %4 = iota[axis = 1] : u8[3, 3]
  %5 = eq %3, %4 : bool[3, 3]
  %6 = constant 0.0 : f32[3, 3]
  %7 = select %5, %2, %6 : f32[3, 3]
  %8 = reduce_sum[axes = [0]] %7 : f32[3]
  return %8
}
func columns(%0: i32[3, 2], %1: i32[3, 2]) -> (i32[3]) {
  %2 = dot_general[contract = [1] x [1]] %0, %1 : i32[3, 3]
  %3 = iota[axis = 0] : i32[3, 3]
  %4 = iota[axis = 1] : i32[3, 3]
  %5 = eq %3, %4 : bool[3, 3]
  %6 = constant 0 : i32[3, 3]
  %7 = select %5, %2, %6 : i32[3, 3]
  %8 = reduce_sum[axes = [1]] %7 : i32[3]
  return %8
}
";

const CONVOLUTIONS: &str = "
func inputs(%0: f32[1, 4, 4, 2], %1: f32[2, 2, 2, 3], %2: f32[2, 2, 2, 3]) -> (f32[1, 3, 3, 3]) {
  %3 = conv[stride = [1, 1], padding = [(0, 0), (0, 0)], lhs_dilation = [1, 1], rhs_dilation = [1, 1], reverse = [false, false], input = [0, 3, 1, 2], kernel = [2, 3, 0, 1], output = [0, 3, 1, 2], feature_groups = 1, batch_groups = 1] %0, %1 : f32[1, 3, 3, 3]
  %4 = conv[stride = [1, 1], padding = [(0, 0), (0, 0)], lhs_dilation = [1, 1], rhs_dilation = [1, 1], reverse = [false, false], input = [0, 3, 1, 2], kernel = [2, 3, 0, 1], output = [0, 3, 1, 2], feature_groups = 1, batch_groups = 1] %0, %2 : f32[1, 3, 3, 3]
  %5 = add %3, %4 : f32[1, 3, 3, 3]
  return %5
}
func kernels(%0: f32[1, 4, 1], %1: f32[1, 4, 1], %2: f32[2, 1, 2]) -> (f32[1, 4, 2]) {
  %3 = conv[stride = [1], padding = [(1, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [true], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %0, %2 : f32[1, 4, 2]
  %4 = conv[stride = [1], padding = [(1, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [true], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %1, %2 : f32[1, 4, 2]
  %5 = add %3, %4 : f32[1, 4, 2]
  return %5
}
func negative(%0: f32[1, 4, 1], %1: f32[2, 1, 2]) -> (f32[1, 3, 2]) {
  %2 = neg %1 : f32[2, 1, 2]
  %3 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %0, %2 : f32[1, 3, 2]
  return %3
}
func scaled(%0: f32[2, 4, 1], %1: f32[2, 1, 2]) -> (f32[2, 3, 2]) {
  %2 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %0, %1 : f32[2, 3, 2]
  %3 = constant 0.3 : f32[2, 3, 2]
  %4 = mul %2, %3 : f32[2, 3, 2]
  return %4
}
func input(%0: f32[2, 4, 1], %1: f32[2, 1, 2]) -> (f32[2, 3, 2]) {
  %2 = constant 0.3 : f32[2, 4, 1]
  %3 = mul %0, %2 : f32[2, 4, 1]
  %4 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %3, %1 : f32[2, 3, 2]
  return %4
}
";

const BESIDE: &str = "
func right(%0: f32[3, 2], %1: f32[2, 4], %2: f32[2, 1]) -> (f32[3, 5]) {
  %3 = dot_general[contract = [1] x [0]] %0, %1 : f32[3, 4]
  %4 = dot_general[contract = [1] x [0]] %0, %2 : f32[3, 1]
  %5 = concat[axis = 1] %3, %4 : f32[3, 5]
  return %5
}
func left(%0: f64[3, 2], %1: f64[1, 2], %2: f64[2, 2]) -> (f64[4, 2]) {
  %3 = dot_general[contract = [1] x [1]] %0, %2 : f64[3, 2]
  %4 = dot_general[contract = [1] x [1]] %1, %2 : f64[1, 2]
  %5 = concat[axis = 0] %3, %4 : f64[4, 2]
  return %5
}
func batched(%0: f32[2, 3, 2], %1: i32[1], %2: f32[2, 2, 1], %3: f32[2, 2, 2]) -> (f32[2, 3, 3]) {
  %4 = dot_general[batch = [0] x [0], contract = [2] x [1]] %0, %2 : f32[2, 3, 1]
  %5 = dot_general[batch = [0] x [0], contract = [2] x [1]] %0, %3 : f32[2, 3, 2]
  %6 = concat[axis = 2] %4, %5 : f32[2, 3, 3]
  return %6
}
func batched_left(%0: i32[2, 3, 2], %1: i32[2, 2, 2], %2: i32[2, 2, 3]) -> (i32[2, 5, 3]) {
  %3 = dot_general[batch = [0] x [0], contract = [2] x [1]] %0, %2 : i32[2, 3, 3]
  %4 = dot_general[batch = [0] x [0], contract = [2] x [1]] %1, %2 : i32[2, 2, 3]
  %5 = concat[axis = 1] %3, %4 : i32[2, 5, 3]
  return %5
}
func shared(%0: f32[2, 3, 2], %1: f32[2, 3, 2], %2: f32[2, 2, 3]) -> (f32[4, 3, 3]) {
  %3 = dot_general[batch = [0] x [0], contract = [2] x [1]] %0, %2 : f32[2, 3, 3]
  %4 = dot_general[batch = [0] x [0], contract = [2] x [1]] %1, %2 : f32[2, 3, 3]
  %5 = concat[axis = 0] %3, %4 : f32[4, 3, 3]
  return %5
}
";

const CONVS_BESIDE: &str = "
func features(%0: f32[1, 4, 2], %1: f32[2, 2, 1], %2: f32[2, 2, 3]) -> (f32[1, 3, 4]) {
  %3 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %0, %1 : f32[1, 3, 1]
  %4 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %0, %2 : f32[1, 3, 3]
  %5 = concat[axis = 2] %3, %4 : f32[1, 3, 4]
  return %5
}
func grouped(%0: f32[1, 4, 2], %1: f32[2, 1, 2], %2: f32[2, 1, 2]) -> (f32[1, 3, 4]) {
  %3 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 2, batch_groups = 1] %0, %1 : f32[1, 3, 2]
  %4 = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 2, batch_groups = 1] %0, %2 : f32[1, 3, 2]
  %5 = concat[axis = 2] %3, %4 : f32[1, 3, 4]
  return %5
}
";
