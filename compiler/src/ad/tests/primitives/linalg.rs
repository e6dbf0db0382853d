//! Contractions, convolutions, factorisations.

use super::{Case, R, text_case};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    contractions(&mut cases);
    convolutions(&mut cases);
    factorisations(&mut cases);
    cases
}

fn contractions(cases: &mut Vec<Case>) {
    let texts = [
        (
            "matrix product",
            "f32[2, 3], %b: f32[3, 4]",
            "f32[2, 4]",
            "contract = [1] x [0]",
        ),
        (
            "transposed",
            "f32[3, 2], %b: f32[4, 3]",
            "f32[2, 4]",
            "contract = [0] x [1]",
        ),
        (
            "vectors",
            "f32[3], %b: f32[3]",
            "f32",
            "contract = [0] x [0]",
        ),
        (
            "outer",
            "f32[3], %b: f32[2]",
            "f32[3, 2]",
            "contract = [] x []",
        ),
        (
            "batched",
            "f32[5, 2, 3], %b: f32[5, 3, 4]",
            "f32[5, 2, 4]",
            "batch = [0] x [0], contract = [2] x [1]",
        ),
        (
            "batch inside",
            "f32[2, 5, 3], %b: f32[3, 4, 5]",
            "f32[5, 2, 4]",
            "batch = [1] x [2], contract = [2] x [0]",
        ),
        (
            "two contracted",
            "f32[2, 3, 4], %b: f32[4, 5, 3]",
            "f32[2, 5]",
            "contract = [1, 2] x [2, 0]",
        ),
        (
            "of one row and column",
            "f32[1, 1], %b: f32[1, 3]",
            "f32[1, 3]",
            "contract = [1] x [0]",
        ),
        (
            "without rows",
            "f32[0, 2], %b: f32[2, 3]",
            "f32[0, 3]",
            "contract = [1] x [0]",
        ),
        (
            "empty",
            "f32[2, 0], %b: f32[0, 3]",
            "f32[2, 3]",
            "contract = [1] x [0]",
        ),
    ];
    for (name, inputs, output, dims) in texts {
        let text = format!(
            "func f(%a: {inputs}) -> ({output}) {{ %y = dot_general[{dims}] %a, %b : {output}\n return %y }}"
        );
        cases.push(text_case(name, &text, &[R, R]));
    }
    let square = "func f(%a: f32[3, 3]) -> (f32[3, 3]) { %y = dot_general[contract = [1] x [0]] %a, %a : f32[3, 3]\n return %y }";
    cases.push(text_case("square of a matrix", square, &[R]));
}

fn convolutions(cases: &mut Vec<Case>) {
    let plain = "input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1]";
    let texts = [
        ("plain", "f32[2, 5, 3], %w: f32[2, 3, 4]", "f32[2, 4, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("strided, padded", "f32[2, 6, 3], %w: f32[3, 3, 4]", "f32[2, 4, 4]", format!("stride = [2], padding = [(1, 2)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("dilated, mirrored", "f32[2, 5, 3], %w: f32[2, 3, 4]", "f32[2, 5, 4]", format!("stride = [2], padding = [(1, 1)], lhs_dilation = [2], rhs_dilation = [2], reverse = [true], {plain}, feature_groups = 1, batch_groups = 1")),
        ("negative padding", "f32[2, 6, 3], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(-1, -1)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("feature groups", "f32[2, 4, 6], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 2, batch_groups = 1")),
        ("batch groups", "f32[4, 4, 3], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 2")),
        ("other layout", "f32[3, 5, 2], %w: f32[4, 3, 2]", "f32[4, 4, 2]", "stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [2, 0, 1], kernel = [1, 0, 2], output = [2, 0, 1], feature_groups = 1, batch_groups = 1".into()),
        ("no spatial", "f32[2, 3], %w: f32[3, 4]", "f32[2, 4]", "stride = [], padding = [], lhs_dilation = [], rhs_dilation = [], reverse = [], input = [0, 1], kernel = [0, 1], output = [0, 1], feature_groups = 1, batch_groups = 1".into()),
        ("without a batch", "f32[0, 5, 3], %w: f32[2, 3, 4]", "f32[0, 4, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("of one", "f32[1, 1, 1], %w: f32[1, 1, 1]", "f32[1, 1, 1]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("two dimensions", "f32[1, 4, 5, 2], %w: f32[3, 2, 2, 3]", "f32[1, 4, 2, 3]", "stride = [1, 2], padding = [(1, 1), (0, 0)], lhs_dilation = [1, 1], rhs_dilation = [1, 2], reverse = [false, false], input = [0, 3, 1, 2], kernel = [2, 3, 0, 1], output = [0, 3, 1, 2], feature_groups = 1, batch_groups = 1".into()),
    ];
    for (name, inputs, output, dims) in texts {
        let text = format!(
            "func f(%x: {inputs}) -> ({output}) {{ %y = conv[{dims}] %x, %w : {output}\n return %y }}"
        );
        cases.push(text_case(&format!("conv {name}"), &text, &[R, R]));
    }
}

fn factorisations(cases: &mut Vec<Case>) {
    // A symmetric positive-definite matrix as I + x xᵀ; and the lower triangle alone counts.
    let text = "func f(%x: f32[2, 3, 3]) -> (f32[2, 3, 3]) {
      %g = dot_general[batch = [0] x [0], contract = [2] x [2]] %x, %x : f32[2, 3, 3]
      %r = iota[axis = 1] : i32[2, 3, 3]
      %c = iota[axis = 2] : i32[2, 3, 3]
      %d = eq %r, %c : bool[2, 3, 3]
      %i = convert %d : f32[2, 3, 3]
      %a = add %g, %i : f32[2, 3, 3]
      %l = cholesky %a : f32[2, 3, 3]
      return %l }";
    cases.push(text_case("cholesky", text, &[R]));
    let text = "func f(%x: f32[3, 3]) -> (f32[3, 3]) {
      %r = iota[axis = 0] : i32[3, 3]
      %c = iota[axis = 1] : i32[3, 3]
      %d = eq %r, %c : bool[3, 3]
      %i = convert %d : f32[3, 3]
      %two = constant 3.0 : f32[3, 3]
      %ii = mul %i, %two : f32[3, 3]
      %a = add %x, %ii : f32[3, 3]
      %l = cholesky %a : f32[3, 3]
      return %l }";
    cases.push(text_case("cholesky, unsymmetric", text, &[(-0.5, 0.5)]));
    for shape in ["[1, 1]", "[0, 2, 2]", "[2, 0, 0]"] {
        let text = format!(
            "func f(%x: f32{shape}) -> (f32{shape}) {{ %l = cholesky %x : f32{shape}\n return %l }}"
        );
        cases.push(text_case(
            &format!("cholesky {shape}"),
            &text,
            &[(0.5, 2.0)],
        ));
    }
    for (a, b) in [
        ("[1, 1]", "[1, 2]"),
        ("[0, 2, 2]", "[0, 2, 3]"),
        ("[2, 2]", "[2, 0]"),
        ("[0, 0]", "[0, 2]"),
    ] {
        let text = format!(
            "func f(%a: f32{a}, %b: f32{b}) -> (f32{b}) {{ %x = triangular_solve[left, lower] %a, %b : f32{b}\n return %x }}"
        );
        cases.push(text_case(
            &format!("solve {a} {b}"),
            &text,
            &[(0.5, 2.0), R],
        ));
    }
    for left in [true, false] {
        for lower in [true, false] {
            for transpose in [true, false] {
                for unit in [true, false] {
                    let flags: Vec<&str> = [
                        (left, "left"),
                        (lower, "lower"),
                        (transpose, "transpose"),
                        (unit, "unit_diagonal"),
                    ]
                    .iter()
                    .filter(|f| f.0)
                    .map(|f| f.1)
                    .collect();
                    let flags = if flags.is_empty() {
                        String::new()
                    } else {
                        format!("[{}]", flags.join(", "))
                    };
                    let b = if left { "f32[2, 3, 2]" } else { "f32[2, 2, 3]" };
                    let text = format!(
                        "func f(%a: f32[2, 3, 3], %b: {b}) -> ({b}) {{ %x = triangular_solve{flags} %a, %b : {b}\n return %x }}"
                    );
                    cases.push(text_case(
                        &format!("solve {flags}"),
                        &text,
                        &[(0.8, 1.6), R],
                    ));
                }
            }
        }
    }
}
