//! What moves elements without computing, and identities.

use super::{Case, R, text_case};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    shape(&mut cases);
    identities(&mut cases);
    cases
}

fn shape(cases: &mut Vec<Case>) {
    let texts = [
        (
            "broadcast new axes",
            "func f(%x: f32[3]) -> (f32[2, 3, 4]) { %y = broadcast[dims = [1]] %x : f32[2, 3, 4]\n return %y }",
        ),
        (
            "broadcast stretched",
            "func f(%x: f32[1, 3]) -> (f32[2, 5, 3]) { %y = broadcast[dims = [1, 2]] %x : f32[2, 5, 3]\n return %y }",
        ),
        (
            "broadcast scalar",
            "func f(%x: f32) -> (f32[2, 0]) { %y = broadcast[dims = []] %x : f32[2, 0]\n return %y }",
        ),
        (
            "reshape",
            "func f(%x: f32[2, 3]) -> (f32[3, 1, 2]) { %y = reshape %x : f32[3, 1, 2]\n return %y }",
        ),
        (
            "transpose",
            "func f(%x: f32[2, 3, 4]) -> (f32[4, 2, 3]) { %y = transpose[perm = [2, 0, 1]] %x : f32[4, 2, 3]\n return %y }",
        ),
        (
            "slice",
            "func f(%x: f32[5, 6]) -> (f32[2, 3]) { %y = slice[start = [1, 0], limit = [4, 6], stride = [2, 2]] %x : f32[2, 3]\n return %y }",
        ),
        (
            "empty slice",
            "func f(%x: f32[5]) -> (f32[0]) { %y = slice[start = [2], limit = [2], stride = [1]] %x : f32[0]\n return %y }",
        ),
        (
            "reverse",
            "func f(%x: f32[2, 3]) -> (f32[2, 3]) { %y = reverse[axes = [1]] %x : f32[2, 3]\n return %y }",
        ),
    ];
    for (name, text) in texts {
        cases.push(text_case(name, text, &[R]));
    }
    // Operand, primitive, result.
    let small = [
        ("f32", "broadcast[dims = []]", "f32[1, 2]"),
        ("f32", "reshape", "f32[1, 1]"),
        ("f32[1]", "reshape", "f32"),
        ("f32[0, 3]", "reshape", "f32[2, 0]"),
        ("f32", "transpose[perm = []]", "f32"),
        ("f32[0, 2]", "transpose[perm = [1, 0]]", "f32[2, 0]"),
        ("f32[1, 3]", "transpose[perm = [1, 0]]", "f32[3, 1]"),
        ("f32", "slice[start = [], limit = [], stride = []]", "f32"),
        (
            "f32[1]",
            "slice[start = [0], limit = [1], stride = [3]]",
            "f32[1]",
        ),
        (
            "f32[0, 2]",
            "slice[start = [0, 1], limit = [0, 2], stride = [1, 1]]",
            "f32[0, 1]",
        ),
        ("f32", "reverse[axes = []]", "f32"),
        ("f32[0]", "reverse[axes = [0]]", "f32[0]"),
        ("f32[1, 2]", "reverse[axes = [0, 1]]", "f32[1, 2]"),
    ];
    for (input, op, output) in small {
        let text =
            format!("func f(%x: {input}) -> ({output}) {{ %y = {op} %x : {output}\n return %y }}");
        cases.push(text_case(&format!("{op} of {input}"), &text, &[R]));
    }
    let pads = [
        (
            "pad",
            "func f(%x: f32[2, 3], %v: f32) -> (f32[5, 7]) { %y = pad[low = [1, 0], high = [2, 2], interior = [0, 1]] %x, %v : f32[5, 7]\n return %y }",
        ),
        (
            "pad negative",
            "func f(%x: f32[4, 5], %v: f32) -> (f32[3, 6]) { %y = pad[low = [-1, 2], high = [0, -1], interior = [0, 0]] %x, %v : f32[3, 6]\n return %y }",
        ),
        (
            "pad negative inside",
            "func f(%x: f32[3, 3], %v: f32) -> (f32[5, 6]) { %y = pad[low = [-1, 1], high = [-1, -2], interior = [2, 2]] %x, %v : f32[5, 6]\n return %y }",
        ),
        (
            "pad empty",
            "func f(%x: f32[0], %v: f32) -> (f32[3]) { %y = pad[low = [1], high = [2], interior = [0]] %x, %v : f32[3]\n return %y }",
        ),
        (
            "pad nothing",
            "func f(%x: f32, %v: f32) -> (f32) { %y = pad[low = [], high = [], interior = []] %x, %v : f32\n return %y }",
        ),
        (
            "pad one",
            "func f(%x: f32[1], %v: f32) -> (f32[4]) { %y = pad[low = [2], high = [1], interior = [3]] %x, %v : f32[4]\n return %y }",
        ),
    ];
    for (name, text) in pads {
        cases.push(text_case(name, text, &[R, R]));
    }
    let concat = "func f(%x: f32[2, 3], %y: f32[2, 1], %z: f32[2, 0]) -> (f32[2, 7]) { %r = concat[axis = 1] %x, %y, %x, %z : f32[2, 7]\n return %r }";
    cases.push(text_case("concat", concat, &[R, R, R]));
    let concat = "func f(%x: f32[2, 3], %k: i32[2, 1]) -> (f32[2, 4]) { %y = convert %k : f32[2, 1]\n %r = concat[axis = 1] %x, %y : f32[2, 4]\n return %r }";
    cases.push(text_case("concat of one tangent", concat, &[R, (0.0, 5.0)]));
}

fn identities(cases: &mut Vec<Case>) {
    for (shape, axes) in [
        ("", "[]"),
        ("[0]", "[_]"),
        ("[1]", "[_]"),
        ("[3]", "[\"data\"]"),
    ] {
        let ty = format!("f32{shape}");
        let text = format!(
            "func f(%x: {ty}, %y: {ty}) -> ({ty}, {ty}) {{
              %a, %b = barrier %x, %y : {ty}, {ty}
              %c = mul %a, %b : {ty}
              %d = shard[axes = {axes}] %c : {ty}
              return %d, %b }}"
        );
        cases.push(text_case(&format!("barrier, shard {ty}"), &text, &[R, R]));
        let text = format!(
            "func f(%x: {ty}) -> ({ty}) {{
              %c = constant 2.0 : {ty}
              %y = mul %x, %c : {ty}
              return %y }}"
        );
        cases.push(text_case(&format!("constant {ty}"), &text, &[R]));
    }
    for n in [0, 1, 3] {
        let text = format!(
            "func f(%x: f32[{n}]) -> (f32[{n}], i32[{n}]) {{
              %n = iota[axis = 0] : i32[{n}]
              %c = convert %n : f32[{n}]
              %y = mul %x, %c : f32[{n}]
              return %y, %n }}"
        );
        cases.push(text_case(&format!("iota {n}"), &text, &[R]));
    }
}
