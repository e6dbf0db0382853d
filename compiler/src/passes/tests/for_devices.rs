//! Passes for the compilers of devices: the forms that they make fast.

use super::{applied, same_results, same_sums, shown};
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};

#[test]
fn canonical_conv_transposes_around_a_convolution() {
    let text = shown(
        "canonical_conv",
        "func f(%x: f32[3, 5, 6, 2], %k: f32[4, 4, 2, 3]) -> (f32[3, 4, 2, 2]) {
           %y = conv[stride = [1, 1], padding = [(1, 0), (0, 1)], lhs_dilation = [1, 1], rhs_dilation = [1, 1], reverse = [false, true], input = [3, 0, 1, 2], kernel = [3, 2, 0, 1], output = [2, 3, 0, 1], feature_groups = 1, batch_groups = 1] %x, %k : f32[3, 4, 2, 2]
           return %y
         }",
    );
    insta::assert_snapshot!(text);
}

/// A key that is stretched is held; bits that only become numbers are not.
#[test]
fn hold_keys_stands_between_keys_and_draws() {
    let text = shown(
        "hold_keys",
        "func f(%a: u32[3], %b: u32[3], %c: u32[3, 2]) -> (u32[3, 2], u32[3, 2]) {
           %x, %y = threefry %a, %b, %a, %a : u32[3], u32[3]
           %k = broadcast[dims = [0]] %x : u32[3, 2]
           %l = broadcast[dims = [0]] %b : u32[3, 2]
           %u, %v = threefry %k, %l, %c, %c : u32[3, 2], u32[3, 2]
           return %u, %v
         }",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn spread_pool_has_no_scatter_left() {
    let text = shown(
        "spread_pool",
        "func f(%x: f32[2, 5, 4], %s: f32[2, 2, 2], %n: i32[6], %t: f32[3]) -> (f32[2, 5, 4], f32[6]) {
           %a = window_scatter_max[size = [1, 2, 2], stride = [1, 2, 2], padding = [(0, 0), (0, 0), (0, 0)], base_dilation = [1, 1, 1], window_dilation = [1, 1, 1]] %x, %s : f32[2, 5, 4]
           %b = window_scatter_min[size = [2], stride = [2], padding = [(0, 0)], base_dilation = [1], window_dilation = [1]] %n, %t : f32[6]
           return %a, %b
         }",
    );
    insta::assert_snapshot!(text);
}

/// Ties, signed zeros, infinities and NaN, and windows that overlap or are padded, which stay.
#[test]
fn spread_pool_finds_the_same_places() {
    let text = "func f(%x: f32[12], %s: f32[4]) -> (f32[12], f32[12], f32[12]) {
        %a = window_scatter_max[size = [3], stride = [3], padding = [(0, 0)], base_dilation = [1], window_dilation = [1]] %x, %s : f32[12]
        %b = window_scatter_min[size = [3], stride = [3], padding = [(0, 0)], base_dilation = [1], window_dilation = [1]] %x, %s : f32[12]
        %c = window_scatter_max[size = [3], stride = [3], padding = [(1, 0)], base_dilation = [1], window_dilation = [1]] %x, %s : f32[12]
        return %a, %b, %c
      }";
    let before = parse(text).expect(text);
    let after = applied("spread_pool", &before);
    assert_eq!(after.to_string().matches("window_scatter").count(), 1);
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let row = |values: &[f32]| {
        let bits = values.iter().map(|v| u64::from(v.to_bits())).collect();
        Array::from_bits(Type::new(Elem::F32, [values.len()]), bits)
    };
    let s = row(&[-0.0, 2.0, nan, -3.0]);
    for x in [
        [
            0.0, -0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 5.0, 5.0, -1.0, -2.0, -3.0,
        ],
        [
            nan, 1.0, nan, 1.0, nan, 7.0, inf, nan, nan, -inf, -inf, -inf,
        ],
        [
            -inf, nan, -inf, inf, inf, -inf, 3.0, 3.0, 3.0, 0.0, nan, 0.0,
        ],
    ] {
        let inputs = [row(&x), s.clone()];
        let bits = |f: &Func| -> Vec<Vec<u64>> {
            let results = eval(f, &inputs, Precision::Element).expect("evaluates");
            results.iter().map(Array::to_bits).collect()
        };
        assert_eq!(bits(&before), bits(&after), "{x:?}");
    }
}

/// A reduction of `x`, by name, over `axes`, with results of the shape `to`.
fn reduction(name: &str, x: &str, axes: &str, to: &str) -> String {
    format!(
        "func f(%x: {x}) -> ({to}) {{
           %s = {name}[axes = {axes}] %x : {to}
           return %s
         }}"
    )
}

#[test]
fn short_reductions_to_many_are_operations_on_slices() {
    let text = reduction("reduce_sum", "f32[8192, 2, 2]", "[1]", "f32[8192, 2]");
    insta::assert_snapshot!(shown("short_reduce", &text));
    for (name, x, axes, to) in [
        ("reduce_max", "f32[16384, 3]", "[1]", "f32[16384]"),
        ("reduce_min", "i32[5, 16384]", "[0]", "i32[16384]"),
        ("reduce_prod", "f64[2, 16384, 4]", "[0, 2]", "f64[16384]"),
    ] {
        let text = shown("short_reduce", &reduction(name, x, axes, to));
        let after = text.split("-->").nth(1).expect("an after");
        assert!(
            after.contains("slice[") && !after.contains("reduce"),
            "{after}"
        );
    }
}

#[test]
fn other_reductions_stay() {
    for (x, axes, to) in [
        // Too many elements, too few results, one element, narrow ones.
        ("f32[16384, 9]", "[1]", "f32[16384]"),
        ("f32[8192, 4]", "[1]", "f32[8192]"),
        ("f32[16384, 1]", "[1]", "f32[16384]"),
        ("bf16[16384, 4]", "[1]", "bf16[16384]"),
    ] {
        let before = parse(&reduction("reduce_sum", x, axes, to)).expect("parses");
        assert_eq!(
            applied("short_reduce", &before).to_string(),
            before.to_string()
        );
    }
}

#[test]
fn floats_are_sorted_by_integers_of_the_same_order() {
    let alone = "func f(%x: f32[64, 64]) -> (f32[64, 64]) {
        %s = sort[axis = 1, keys = 1] %x : f32[64, 64]
        return %s
      }";
    insta::assert_snapshot!(shown("sort_keys", alone));
    // Numbers of all kinds, many of them equal, with their places sorted along.
    let kinds = [
        1.5,
        -2.0,
        f64::NAN,
        f64::INFINITY,
        -f64::NAN,
        0.0,
        f64::NEG_INFINITY,
        -0.0,
        -2.0,
        1e-45,
        -1e-45,
        f64::MAX,
    ];
    for elem in ["f32", "f64", "bf16", "f16"] {
        for descending in ["", ", descending", ", total", ", descending, total"] {
            let text = format!(
                "func f(%x: {elem}[4096]) -> ({elem}[4096], i32[4096]) {{
                   %i = iota[axis = 0] : i32[4096]
                   %s, %p = sort[axis = 0, keys = 1{descending}] %x, %i : {elem}[4096], i32[4096]
                   return %s, %p
                 }}"
            );
            let before = parse(&text).expect("parses");
            let after = applied("sort_keys", &before);
            assert!(after.to_string().contains("bitcast"), "{after}");
            let x: Vec<f64> = (0..4096).map(|i| kinds[i * i % kinds.len()]).collect();
            let input = [Array::of(before.input_types()[0].clone(), &x)];
            let sorted = |f: &Func| eval(f, &input, Precision::Element).expect("evaluates");
            let (x, y) = (sorted(&before), sorted(&after));
            assert_eq!(x[1].to_f64(), y[1].to_f64(), "{text}");
            if descending.ends_with("total") {
                assert_eq!(x[0].to_bits(), y[0].to_bits(), "{text}");
            }
            let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            assert!(x[0].to_f64().iter().zip(&y[0].to_f64()).all(same));
        }
    }
    let few = parse(&alone.replace("64, 64", "4, 4")).expect("parses");
    assert_eq!(applied("sort_keys", &few).to_string(), few.to_string());
}

#[test]
fn the_largest_few_of_single_precision_are_left_to_xla() {
    let text = |elem: &str, used: &str| {
        format!(
            "func f(%x: {elem}[64, 64]) -> ({elem}[64, 8], i32[64, 8], {elem}[64, 64]) {{
               %i = iota[axis = 1] : i32[64, 64]
               %s, %p = sort[axis = 1, keys = 1, descending, total] %x, %i : {elem}[64, 64], i32[64, 64]
               %a = slice[start = [0, 0], limit = [64, 8], stride = [1, 1]] %s : {elem}[64, 8]
               %b = slice[start = [0, 0], limit = [64, 8], stride = [1, 1]] %p : i32[64, 8]
               return %a, %b, {used}
             }}"
        )
    };
    for (elem, used, left) in [
        ("f32", "%x", true),
        ("f32", "%s", false),
        ("f64", "%x", false),
        ("bf16", "%x", false),
    ] {
        let before = parse(&text(elem, used)).expect("parses");
        let after = applied("sort_keys", &before);
        assert_eq!(!after.to_string().contains("bitcast"), left, "{after}");
        same_results(&before, &after);
    }
}

/// Ties, zeros of both signs, infinities and NaN.
#[test]
fn extremes_are_found_by_integers_that_hold_their_places() {
    let text = |name: &str, elem: &str, axis: usize, to: usize| {
        format!(
            "func f(%x: {elem}[64, 96]) -> (i32[{to}]) {{
               %p = {name}[axis = {axis}] %x : i32[{to}]
               return %p
             }}"
        )
    };
    insta::assert_snapshot!(shown("arg_keys", &text("argmin", "f32", 1, 64)));
    let kinds = [
        1.5,
        -2.0,
        0.0,
        -0.0,
        1.5,
        -1e-45,
        1e-45,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    for name in ["argmax", "argmin"] {
        for (elem, axis, to) in [("f32", 1, 64), ("f32", 0, 96), ("i32", 1, 64)] {
            let before = parse(&text(name, elem, axis, to)).expect("parses");
            let after = applied("arg_keys", &before);
            assert!(!after.to_string().contains(name), "{after}");
            // Rows with ever more of the kinds.
            let x = (0..64 * 96).map(|i| kinds[(i * i / 7) % (1 + i / 96 % kinds.len())]);
            let x = Array::of(before.input_types()[0].clone(), &x.collect::<Vec<f64>>());
            let places = |f: &Func| {
                eval(f, std::slice::from_ref(&x), Precision::Element).expect("evaluates")[0]
                    .to_bits()
            };
            assert_eq!(places(&before), places(&after), "{name} {elem} {axis}");
        }
    }
    let short = parse(&text("argmax", "f32", 1, 64).replace("96", "31")).expect("parses");
    assert_eq!(applied("arg_keys", &short).to_string(), short.to_string());
}

/// A product of matrices with `terms` terms, of `elem` converted to `wide`.
fn whole_product(elem: &str, wide: &str, terms: usize) -> String {
    format!(
        "func f(%x: {elem}[16, {terms}], %y: {elem}[{terms}, 16]) -> ({wide}[16, 16]) {{
           %a = convert %x : {wide}[16, {terms}]
           %b = convert %y : {wide}[{terms}, 16]
           %c = dot_general[contract = [1] x [0]] %a, %b : {wide}[16, 16]
           return %c
         }}"
    )
}

#[test]
fn narrow_integers_are_multiplied_as_floats() {
    insta::assert_snapshot!(shown("float_products", &whole_product("i8", "i32", 16)));
    for (elem, wide, terms, float) in [
        ("i8", "i32", 1024, Some("f32")),
        ("i8", "i32", 1025, Some("f64")),
        ("u8", "i32", 258, Some("f32")),
        ("u8", "u64", 259, Some("f64")),
        ("i16", "i64", 64, Some("f64")),
        ("bool", "i32", 64, Some("f32")),
        // Numbers that are larger, that change with their sign, and little work.
        ("i32", "i64", 64, None),
        ("i8", "u32", 64, None),
        ("i8", "i32", 15, None),
    ] {
        let before = parse(&whole_product(elem, wide, terms)).expect("parses");
        let after = applied("float_products", &before);
        let found = ["f32", "f64"]
            .into_iter()
            .find(|f| after.to_string().contains(f));
        assert_eq!(found, float, "{after}");
        // The largest numbers too.
        for value in [-128.0, 127.0, 255.0] {
            let inputs: Vec<Array> = before
                .input_types()
                .into_iter()
                .map(|ty| Array::of(ty.clone(), &vec![value; ty.numel()]))
                .collect();
            let bits =
                |f: &Func| eval(f, &inputs, Precision::Element).expect("evaluates")[0].to_bits();
            assert_eq!(bits(&before), bits(&after), "{value} {after}");
        }
    }
    // The element type stays, and the product wraps.
    let narrow = "func f(%x: i8[16, 16], %y: i8[16, 16]) -> (i8[16, 16]) {
        %c = dot_general[contract = [1] x [0]] %x, %y : i8[16, 16]
        return %c
      }";
    let before = parse(narrow).expect("parses");
    let after = applied("float_products", &before);
    assert!(after.to_string().contains("f32"), "{after}");
    let inputs = [64.0, 127.0].map(|v| Array::of(before.input_types()[0].clone(), &[v; 256]));
    let bits = |f: &Func| eval(f, &inputs, Precision::Element).expect("evaluates")[0].to_bits();
    assert_eq!(bits(&before), bits(&after), "{after}");
}

/// A product of two arrays of `elem`.
fn product(elem: &str, lhs: &str, rhs: &str, contract: &str, to: &str) -> String {
    format!(
        "func f(%x: {elem}{lhs}, %g: {elem}{rhs}) -> ({elem}{to}) {{
           %y = dot_general[contract = {contract}] %x, %g : {elem}{to}
           return %y
         }}"
    )
}

#[test]
fn leading_dot_holds_or_transposes_the_left_operand() {
    for (lhs, rhs, contract, to) in [
        ("[2, 3]", "[2, 1024]", "[0] x [0]", "[3, 1024]"),
        ("[2, 3, 4]", "[2, 3, 5]", "[0, 1] x [0, 1]", "[4, 5]"),
    ] {
        let text = product("f32", lhs, rhs, contract, to);
        insta::assert_snapshot!(shown("leading_dot", &text));
    }
}

#[test]
fn leading_dot_leaves_other_products() {
    for (elem, lhs, rhs, contract, to) in [
        // Few columns, rows by columns, another type, and nothing but a contraction.
        ("f32", "[2, 3]", "[2, 1023]", "[0] x [0]", "[3, 1023]"),
        ("f32", "[3, 2]", "[2, 1024]", "[1] x [0]", "[3, 1024]"),
        ("f32", "[2, 3]", "[1024, 2]", "[0] x [1]", "[3, 1024]"),
        ("f64", "[2, 3]", "[2, 1024]", "[0] x [0]", "[3, 1024]"),
        ("f32", "[2]", "[2, 1024]", "[0] x [0]", "[1024]"),
        ("f32", "[2, 3]", "[2, 3]", "[0, 1] x [0, 1]", ""),
    ] {
        let before = parse(&product(elem, lhs, rhs, contract, to)).expect("parses");
        let after = applied("leading_dot", &before);
        assert_eq!(before.to_string(), after.to_string());
    }
}

/// A batch of products of two arrays, of each of which the first dimension is the batch.
fn batch_of_products(elem: &str, lhs: &str, rhs: &str, contract: &str, to: &str) -> String {
    format!(
        "func f(%x: {elem}{lhs}, %y: {elem}{rhs}) -> ({elem}{to}) {{
           %z = dot_general[batch = [0] x [0], contract = {contract}] %x, %y : {elem}{to}
           return %z
         }}"
    )
}

#[test]
fn small_products_have_two_or_three_terms_a_piece() {
    let text = batch_of_products("i32", "[8, 2, 4]", "[8, 4, 7]", "[2] x [1]", "[8, 2, 7]");
    insta::assert_snapshot!(shown("small_products", &text));
    for (elem, lhs, rhs, contract, to) in [
        ("f64", "[8, 5, 3]", "[8, 5, 6]", "[1] x [1]", "[8, 3, 6]"),
        ("i32", "[9, 2, 7]", "[9, 3, 7]", "[2] x [2]", "[9, 2, 3]"),
    ] {
        let before = parse(&batch_of_products(elem, lhs, rhs, contract, to)).expect("parses");
        let after = applied("small_products", &before);
        assert!(after.to_string().contains("slice"), "{after}");
        same_sums(&before, &after);
    }
}

#[test]
fn other_products_are_left_whole() {
    for (elem, lhs, rhs, contract, to) in [
        // Three terms, eight, eight rows or columns, a vector, few products, narrow floats.
        ("f32", "[8, 4, 3]", "[8, 3, 4]", "[2] x [1]", "[8, 4, 4]"),
        ("f32", "[8, 4, 8]", "[8, 8, 4]", "[2] x [1]", "[8, 4, 4]"),
        ("f32", "[8, 8, 4]", "[8, 4, 4]", "[2] x [1]", "[8, 8, 4]"),
        ("f32", "[8, 4, 4]", "[8, 4, 8]", "[2] x [1]", "[8, 4, 8]"),
        ("f32", "[8, 4, 4]", "[8, 4]", "[2] x [1]", "[8, 4]"),
        ("f32", "[7, 4, 4]", "[7, 4, 4]", "[2] x [1]", "[7, 4, 4]"),
        ("bf16", "[8, 4, 4]", "[8, 4, 4]", "[2] x [1]", "[8, 4, 4]"),
    ] {
        let before = parse(&batch_of_products(elem, lhs, rhs, contract, to)).expect("parses");
        let after = applied("small_products", &before);
        assert_eq!(before.to_string(), after.to_string());
    }
}

/// A mask that is used forwards and backwards is held as a mask; what is used once, or is a scalar's, is not.
#[test]
fn hold_draws_stands_between_a_mask_and_its_users() {
    let text = shown(
        "hold_draws",
        "func f(%k: u32, %x: f32[2000], %g: f32[2000]) -> (f32[2000], f32[2000], f32[2000]) {
           %w = broadcast[dims = []] %k : u32[2000]
           %z = constant 0 : u32[2000]
           %i = iota[axis = 0] : u32[2000]
           %u, %v = threefry %w, %w, %z, %i : u32[2000], u32[2000]
           %b = xor %u, %v : u32[2000]
           %h = constant 2147483648 : u32[2000]
           %m = lt %b, %h : bool[2000]
           %n = constant 0.0 : f32[2000]
           %y = select %m, %x, %n : f32[2000]
           %d = select %m, %g, %n : f32[2000]
           %s, %t = threefry %w, %z, %z, %i : u32[2000], u32[2000]
           %c = xor %s, %t : u32[2000]
           %o = lt %c, %h : bool[2000]
           %e = select %o, %x, %g : f32[2000]
           return %y, %d, %e
         }",
    );
    insta::assert_snapshot!(text);
}
