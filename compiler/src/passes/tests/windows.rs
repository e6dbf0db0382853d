//! Convolutions and pooling as operations on slices.

use super::{applied, same_results, same_sums, shown};
use crate::ir::parse::parse;

/// A convolution over one dimension; the attributes that are not the plain ones come first.
fn conv(x: &str, kernel: &str, to: &str, attributes: &str) -> String {
    let plain = [
        ("stride", "[1]"),
        ("padding", "[(0, 0)]"),
        ("lhs_dilation", "[1]"),
        ("rhs_dilation", "[1]"),
        ("reverse", "[false]"),
        ("input", "[0, 2, 1]"),
        ("kernel", "[1, 2, 0]"),
        ("output", "[0, 2, 1]"),
        ("feature_groups", "1"),
        ("batch_groups", "1"),
    ];
    let given: Vec<&str> = attributes.split("; ").collect();
    let all: Vec<String> = plain
        .iter()
        .map(|(name, value)| {
            let given = given
                .iter()
                .find_map(|a| a.strip_prefix(&format!("{name} = ")));
            format!("{name} = {}", given.unwrap_or(value))
        })
        .collect();
    format!(
        "func f(%x: {x}, %k: {kernel}) -> ({to}) {{
           %y = conv[{}] %x, %k : {to}
           return %y
         }}",
        all.join(", ")
    )
}

#[test]
fn spread_conv_has_an_operation_for_each_tap() {
    let attributes = "padding = [(1, 0)]; feature_groups = 3";
    let depthwise = conv("i32[2, 4, 3]", "i32[2, 1, 3]", "i32[2, 4, 3]", attributes);
    insta::assert_snapshot!(shown("spread_conv", &depthwise));
}

/// The gradient of a depthwise kernel.
#[test]
fn spread_conv_has_an_operation_for_each_place() {
    let attributes = "input = [2, 0, 1]; kernel = [0, 2, 1]; output = [1, 2, 0]; batch_groups = 3";
    let gradient = conv("i32[2, 5, 3]", "i32[2, 4, 3]", "i32[2, 1, 3]", attributes);
    insta::assert_snapshot!(shown("spread_conv", &gradient));
}

#[test]
fn spread_conv_means_the_same() {
    for (x, kernel, to, attributes) in [
        // Two features a group, and one group.
        (
            "f32[2, 5, 3]",
            "f32[2, 1, 6]",
            "f32[2, 4, 6]",
            "feature_groups = 3",
        ),
        ("f32[2, 5, 1]", "f32[2, 1, 4]", "f32[2, 4, 4]", ""),
        ("f32[2, 5, 1]", "f32[5, 1, 1]", "f32[2, 1, 1]", ""),
        // Strides, dilations, padding that cuts off, mirrored kernels.
        (
            "f64[1, 9, 2]",
            "f64[3, 1, 2]",
            "f64[1, 3, 2]",
            "stride = [2]; rhs_dilation = [2]; feature_groups = 2",
        ),
        (
            "f64[1, 3, 2]",
            "f64[3, 1, 2]",
            "f64[1, 5, 2]",
            "lhs_dilation = [2]; padding = [(2, 0)]; reverse = [true]; feature_groups = 2",
        ),
        (
            "i32[1, 9, 2]",
            "i32[2, 1, 2]",
            "i32[1, 6, 2]",
            "padding = [(-1, -1)]; feature_groups = 2",
        ),
        // Another layout.
        (
            "f32[2, 4, 3]",
            "f32[2, 2, 1]",
            "f32[4, 3, 2]",
            "input = [2, 0, 1]; kernel = [2, 0, 1]; output = [1, 2, 0]; padding = [(0, 1)]; feature_groups = 2",
        ),
        // Gradients of kernels: several features for one element of the batch, steps, mirrored.
        (
            "f32[2, 5, 3]",
            "f32[2, 4, 6]",
            "f32[2, 1, 6]",
            "input = [2, 0, 1]; kernel = [0, 2, 1]; output = [1, 2, 0]; batch_groups = 3",
        ),
        (
            "f32[2, 9, 3]",
            "f32[2, 3, 3]",
            "f32[2, 1, 3]",
            "input = [2, 0, 1]; kernel = [0, 2, 1]; output = [1, 2, 0]; rhs_dilation = [3]; padding = [(-1, 0)]; batch_groups = 3",
        ),
        (
            "f32[2, 6, 3]",
            "f32[2, 4, 3]",
            "f32[2, 1, 3]",
            "input = [2, 0, 1]; kernel = [0, 2, 1]; output = [1, 2, 0]; stride = [2]; reverse = [true]; batch_groups = 3",
        ),
    ] {
        let before = parse(&conv(x, kernel, to, attributes)).expect("parses");
        let after = applied("spread_conv", &before);
        assert!(!after.to_string().contains("conv"), "{after}");
        same_sums(&before, &after);
    }
}

#[test]
fn spread_conv_leaves_what_xla_does_well() {
    for (x, kernel, to, attributes) in [
        // Two channels a group, many taps, many channels of one, narrow floats, nothing, a batch of several a group.
        (
            "f32[2, 5, 4]",
            "f32[2, 2, 4]",
            "f32[2, 4, 4]",
            "feature_groups = 2",
        ),
        (
            "f32[2, 40, 3]",
            "f32[33, 1, 3]",
            "f32[2, 8, 3]",
            "feature_groups = 3",
        ),
        ("f32[2, 5, 1]", "f32[2, 1, 201]", "f32[2, 4, 201]", ""),
        (
            "bf16[2, 5, 3]",
            "bf16[2, 1, 3]",
            "bf16[2, 4, 3]",
            "feature_groups = 3",
        ),
        (
            "f32[0, 5, 3]",
            "f32[2, 1, 3]",
            "f32[0, 4, 3]",
            "feature_groups = 3",
        ),
        (
            "f32[4, 5, 3]",
            "f32[4, 3, 2]",
            "f32[2, 2, 2]",
            "batch_groups = 2",
        ),
        (
            "f32[3, 5, 2]",
            "f32[2, 2, 3]",
            "f32[1, 4, 3]",
            "batch_groups = 3",
        ),
    ] {
        let before = parse(&conv(x, kernel, to, attributes)).expect("parses");
        let after = applied("spread_conv", &before);
        assert_eq!(before.to_string(), after.to_string());
    }
}

/// A reduction over windows along the first of two dimensions.
fn pool(name: &str, x: &str, to: &str, size: usize, stride: usize, padding: &str) -> String {
    format!(
        "func f(%x: {x}) -> ({to}) {{
           %y = reduce_window_{name}[size = [{size}, 1], stride = [{stride}, 1], padding = [{padding}, (0, 0)], base_dilation = [1, 1], window_dilation = [1, 1]] %x : {to}
           return %y
         }}"
    )
}

#[test]
fn small_windows_are_operations_on_slices() {
    let text = pool("max", "f32[5, 1024]", "f32[3, 1024]", 3, 2, "(1, 1)");
    insta::assert_snapshot!(shown("small_windows", &text));
    for (name, x, to, size, stride, padding) in [
        ("min", "f32[4, 1024]", "f32[2, 1024]", 2, 2, "(0, 0)"),
        ("sum", "f64[4, 1024]", "f64[4, 1024]", 3, 1, "(2, 0)"),
        ("prod", "i32[6, 1024]", "i32[2, 1024]", 3, 1, "(-1, -1)"),
    ] {
        let before = parse(&pool(name, x, to, size, stride, padding)).expect("parses");
        let after = applied("small_windows", &before);
        assert!(!after.to_string().contains("reduce_window"), "{after}");
        same_results(&before, &after);
    }
}

#[test]
fn other_windows_stay() {
    for (x, to, size) in [
        // Few results, large windows, windows of one, narrow floats.
        ("f32[3, 1023]", "f32[2, 1023]", 2),
        ("f32[18, 2048]", "f32[2, 2048]", 17),
        ("f32[2, 2048]", "f32[2, 2048]", 1),
        ("bf16[3, 2048]", "bf16[2, 2048]", 2),
    ] {
        let before = parse(&pool("sum", x, to, size, 1, "(0, 0)")).expect("parses");
        let after = applied("small_windows", &before);
        assert_eq!(before.to_string(), after.to_string());
    }
}
