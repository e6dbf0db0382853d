//! Places known at run time, and sorting.

use super::{Case, R, text_case};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    indexing(&mut cases);
    sorting(&mut cases);
    cases
}

fn indexing(cases: &mut Vec<Case>) {
    let texts = [
        (
            "dynamic slice",
            "func f(%x: f32[4, 5], %i: i32, %j: i32) -> (f32[2, 3]) { %y = dynamic_slice[sizes = [2, 3]] %x, %i, %j : f32[2, 3]\n return %y }",
            vec![R, (-1.0, 4.0), (0.0, 3.0)],
        ),
        (
            "dynamic slice past the end",
            "func f(%x: f32[4], %i: i32) -> (f32[2]) { %y = dynamic_slice[sizes = [2]] %x, %i : f32[2]\n return %y }",
            vec![R, (7.0, 9.0)],
        ),
        (
            "dynamic slices of one array",
            "func f(%x: f32[4], %i: i32, %j: i32) -> (f32[2]) { %y = dynamic_slice[sizes = [2]] %x, %i : f32[2]\n %z = dynamic_slice[sizes = [2]] %x, %j : f32[2]\n %p = mul %y, %z : f32[2]\n return %p }",
            vec![R, (0.0, 3.0), (1.0, 3.0)],
        ),
        (
            "dynamic update",
            "func f(%x: f32[4, 5], %u: f32[2, 3], %i: i32, %j: i32) -> (f32[4, 5]) { %y = dynamic_update_slice %x, %u, %i, %j : f32[4, 5]\n return %y }",
            vec![R, R, (-1.0, 5.0), (0.0, 3.0)],
        ),
        (
            "gather rows",
            "func f(%x: f32[4, 3], %i: i32[5]) -> (f32[5, 3]) { %y = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]] %x, %i : f32[5, 3]\n return %y }",
            vec![R, (-2.0, 6.0)],
        ),
        (
            "gather windows",
            "func f(%x: f32[4, 5], %i: i32[3, 2]) -> (f32[2, 3, 3]) { %y = gather[offset_dims = [0, 2], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [1, 0], index_vector_dim = 1, slice_sizes = [2, 3]] %x, %i : f32[2, 3, 3]\n return %y }",
            vec![R, (-1.0, 4.0)],
        ),
        (
            "gather batched",
            "func f(%x: f32[3, 4], %i: i32[3, 2, 1]) -> (f32[3, 2]) { %y = gather[offset_dims = [], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2, slice_sizes = [1, 1]] %x, %i : f32[3, 2]\n return %y }",
            vec![R, (-1.0, 5.0)],
        ),
        (
            "scatter add",
            "func f(%x: f32[4, 3], %i: i32[5], %u: f32[5, 3]) -> (f32[4, 3]) { %y = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (-2.0, 6.0), R],
        ),
        (
            "scatter set",
            "func f(%x: f32[4, 3], %i: i32[5], %u: f32[5, 3]) -> (f32[4, 3]) { %y = scatter_set[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (-2.0, 6.0), R],
        ),
        (
            "scatter set of one window",
            "func f(%x: f32[4, 3], %i: i32[2], %u: f32[2, 2]) -> (f32[4, 3]) { %y = scatter_set[update_window_dims = [0, 1], inserted_window_dims = [], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (0.0, 3.0), R],
        ),
        (
            "scatter add windows",
            "func f(%x: f32[4, 5], %i: i32[3, 2], %u: f32[2, 3, 3]) -> (f32[4, 5]) { %y = scatter_add[update_window_dims = [0, 2], inserted_window_dims = [], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1] %x, %i, %u : f32[4, 5]\n return %y }",
            vec![R, (-1.0, 4.0), R],
        ),
        (
            "scatter batched",
            "func f(%x: f32[3, 4], %i: i32[3, 2, 1], %u: f32[3, 2]) -> (f32[3, 4]) { %y = scatter_set[update_window_dims = [], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2] %x, %i, %u : f32[3, 4]\n return %y }",
            vec![R, (-1.0, 5.0), R],
        ),
        (
            "dynamic slice of a scalar",
            "func f(%x: f32) -> (f32) { %y = dynamic_slice[sizes = []] %x : f32\n return %y }",
            vec![R],
        ),
        (
            "empty dynamic slice",
            "func f(%x: f32[4], %i: i32) -> (f32[0]) { %y = dynamic_slice[sizes = [0]] %x, %i : f32[0]\n return %y }",
            vec![R, (0.0, 3.0)],
        ),
        (
            "dynamic slice of one",
            "func f(%x: f32[1], %i: i32) -> (f32[1]) { %y = dynamic_slice[sizes = [1]] %x, %i : f32[1]\n return %y }",
            vec![R, (-2.0, 3.0)],
        ),
        (
            "dynamic update of a scalar",
            "func f(%x: f32, %u: f32) -> (f32) { %y = dynamic_update_slice %x, %u : f32\n return %y }",
            vec![R, R],
        ),
        (
            "empty dynamic update",
            "func f(%x: f32[4], %u: f32[0], %i: i32) -> (f32[4]) { %y = dynamic_update_slice %x, %u, %i : f32[4]\n return %y }",
            vec![R, R, (0.0, 5.0)],
        ),
        (
            "dynamic update of one",
            "func f(%x: f32[1], %u: f32[1], %i: i32) -> (f32[1]) { %y = dynamic_update_slice %x, %u, %i : f32[1]\n return %y }",
            vec![R, R, (0.0, 5.0)],
        ),
        (
            "gather one",
            "func f(%x: f32[4], %i: i32) -> (f32) { %y = gather[offset_dims = [], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1]] %x, %i : f32\n return %y }",
            vec![R, (0.0, 4.0)],
        ),
        (
            "gather of one",
            "func f(%x: f32[1, 2], %i: i32[3]) -> (f32[3, 2]) { %y = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 2]] %x, %i : f32[3, 2]\n return %y }",
            vec![R, (-2.0, 4.0)],
        ),
        (
            "gather none",
            "func f(%x: f32[4, 2], %i: i32[0]) -> (f32[0, 2]) { %y = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 2]] %x, %i : f32[0, 2]\n return %y }",
            vec![R, R],
        ),
        (
            "gather empty rows",
            "func f(%x: f32[4, 0], %i: i32[3]) -> (f32[3, 0]) { %y = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 0]] %x, %i : f32[3, 0]\n return %y }",
            vec![R, (0.0, 4.0)],
        ),
        (
            "scatter add one",
            "func f(%x: f32[4], %i: i32, %u: f32) -> (f32[4]) { %y = scatter_add[update_window_dims = [], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 0] %x, %i, %u : f32[4]\n return %y }",
            vec![R, (-1.0, 5.0), R],
        ),
        (
            "scatter add into one",
            "func f(%x: f32[1, 2], %i: i32[3], %u: f32[3, 2]) -> (f32[1, 2]) { %y = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[1, 2]\n return %y }",
            vec![R, (-1.0, 2.0), R],
        ),
        (
            "scatter add nothing",
            "func f(%x: f32[4, 2], %i: i32[0], %u: f32[0, 2]) -> (f32[4, 2]) { %y = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 2]\n return %y }",
            vec![R, R, R],
        ),
        (
            "scatter set one",
            "func f(%x: f32[4], %i: i32, %u: f32) -> (f32[4]) { %y = scatter_set[update_window_dims = [], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 0] %x, %i, %u : f32[4]\n return %y }",
            vec![R, (-1.0, 5.0), R],
        ),
        (
            "scatter set into one",
            "func f(%x: f32[1, 2], %i: i32[3], %u: f32[3, 2]) -> (f32[1, 2]) { %y = scatter_set[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[1, 2]\n return %y }",
            vec![R, (-1.0, 2.0), R],
        ),
        (
            "scatter set nothing",
            "func f(%x: f32[4, 2], %i: i32[0], %u: f32[0, 2]) -> (f32[4, 2]) { %y = scatter_set[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 2]\n return %y }",
            vec![R, R, R],
        ),
        (
            "scatter add into nothing",
            "func f(%x: f32[0, 2], %i: i32[3], %u: f32[3, 2]) -> (f32[0, 2]) { %y = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[0, 2]\n return %y }",
            vec![R, R, R],
        ),
        (
            "scatter set into nothing",
            "func f(%x: f32[0, 2], %i: i32[3], %u: f32[3, 2]) -> (f32[0, 2]) { %y = scatter_set[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[0, 2]\n return %y }",
            vec![R, R, R],
        ),
    ];
    for (name, text, bounds) in texts {
        cases.push(text_case(name, text, &bounds));
    }
}

fn sorting(cases: &mut Vec<Case>) {
    let text =
        "func f(%x: f32[2, 5], %y: f32[2, 5], %n: i32[2, 5]) -> (f32[2, 5], f32[2, 5], i32[2, 5]) {
      %a, %b, %c = sort[axis = 1, keys = 1] %x, %y, %n : f32[2, 5], f32[2, 5], i32[2, 5]
      return %a, %b, %c }";
    cases.push(text_case("sort", text, &[R, R, (0.0, 9.0)]));
    let text = "func f(%x: f32[4, 2], %n: i32[4, 2]) -> (f32[4, 2]) {
      %c, %a = sort[axis = 0, keys = 2, descending] %n, %x : i32[4, 2], f32[4, 2]
      return %a }";
    cases.push(text_case("sort by two keys", text, &[R, (0.0, 2.0)]));
    let small = [
        ("[0]", 0),
        ("[1]", 0),
        ("[2, 0]", 0),
        ("[2, 0]", 1),
        ("[1, 3]", 0),
    ];
    for (shape, axis) in small {
        let ty = format!("f32{shape}");
        let text = format!(
            "func f(%x: {ty}, %y: {ty}) -> ({ty}, {ty}) {{
              %a, %b = sort[axis = {axis}, keys = 1] %x, %y : {ty}, {ty}
              return %a, %b }}"
        );
        cases.push(text_case(
            &format!("sort {ty} along {axis}"),
            &text,
            &[R, R],
        ));
    }
}
