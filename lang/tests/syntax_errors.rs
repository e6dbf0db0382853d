//! The text of every syntax error, and that one mistake is one message.

mod common;

use common::{errors, side_by_side};
use tpuc_lang::dump;
use tpuc_lang::parse;
use tpuc_lang::span::FileId;

macro_rules! snapshots {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            let text: &str = $text;
            insta::assert_snapshot!(side_by_side(text, &errors(text)));
        }
    )*};
}

/// In the body of a function.
macro_rules! in_block {
    ($($name:ident: $text:expr;)*) => {
        snapshots! { $($name: concat!("fn f(x: f32) -> f32 {\n", $text, "\n}\n");)* }
    };
}

in_block! {
    expected_expression: "    let a = ;\n    f(1, , 2);\n    x + )";
    expected_operator: "    let a = x y;\n    f(a b);\n    [a b];\n    x y";
    expected_pattern: "    let 3 = x;\n    for 1 in x { }";
    expected_in: "    for a, b in x { }\n    for a x { }";
    expected_field: "    x.;\n    x.+;\n    x.\"w\";";
    expected_assignment: "    let a;\n    let a, b = x;\n    const C: i32;";
    expected_block: "    if x 1.0 else 2.0;\n    while x;";
    expected_dimension: "    let a: f32[+] = x;\n    let b: f32[3 +] = x;\n    let c: f32[f(3)] = x;";
    words_of_other_languages: "    if a and b { }\n    if not a { }\n    if a { } elif b { }\n    var y = 3;\n    let f = lambda x: x;";
    unclosed_string: "    let s = \"abc;\n    print(\"abc);\n    print(\"{x}, \n    x";
    strings_over_lines: "    print(\"a\nb\");\n    print(\"{x);\n    print(\"abc}\");\n    print(\"} {y);";
    mut_of_each_name: "    let (mut a, mut b) = x;\n    a = b;\n    for mut i in 0..3 { }";
    unclosed_interpolation: "    print(\"{x\");\n    print(\"{x:.4f\");\n    print(\"} {\");";
    stray_characters: "    let λ = x;\n    let y = x $ 2 ? 'a';";
    malformed_numbers: "    12abc + 1. + .5 + 0b1 + 1.0f32 + 0x + 1e999 + 999999999999999999999999999999999999999999";
    unclosed_brackets: "    let a = (x + 1;\n    let b = f([1, 2);\n    let c = x[0;\n    for i in (0..3 {\n    }";
    unopened_brackets: "    let a = x + 1);\n    let b = x];\n    x";
    missing_semicolons: "    let a = 3\n    let b = f(a)\n    a = b\n    for i in 0..3 { b = 1 }\n    return a";
    reserved_words: "    let fn = 1;\n    let mut in = 1;\n    for type in x { }\n    let { main } = x;\n    let nan = 1;\n    x.test + type";
    lets_with_a_slip: "    mut (k, n) = x;\n    let (a, b) split(k);\n    let c, d) = x;\n    let let mut p = 1;\n    let mut mut q = 1;\n    k + n";
    stray_braces: "    let y = f([} 2, 3], 4);\n    let z = g(1 }, 2);\n    y";
    reserved_fields_and_arguments: "    let r = { in: 1, for: 2 };\n    f(type=1);\n    let g = |in, y: f32| in + y;\n    for in in x { }\n    print(\"{main}\");\n    if x { return }";
    chained_comparisons: "    if 0 < x < 1 { }\n    (a < b) == c";
    lost_values: "    if x > 0.0 { x } else { -x } - 1.0;\n    { x } (x);\n    if x > 0.0 { f(x) } else if x < 1.0 { 1.0 } else { x }\n    [0, 1];\n    if x > 0.0 { x } else { 2.0 } * 2.0;\n    if x > 0.0 { x }\n    -x;\n    if x > 0.0 { f(x) } else { x };\n    -x;\n    if x > 0.0 { print(x) } else { print(1) }\n    (x)";
    bad_escapes: "    \"a\\d\\u{110000}\\u\"";
    bad_format_specs: "    print(\"{x:4.f} {x:.} {x:q} {x:>>>} {x:} {x:+,.2f} {x:*^10}\");";
    fields_without_values: "    let r = { w, b: 3 };\n    { w, b }";
    not_assignable: "    x[0] = 1;\n    (a, b) = x;\n    f(x) = 1;\n    x + 1 = 2;\n    s.w[0].v = 1;\n    s.w = 1;";
    positional_after_named: "    f(a=1, x, b=2, y)";
    items_in_blocks: "    fn g(x: f32) -> f32 { x }\n    type T = f32;\n    let a = 1;\n    import optim\n    let b = 2;\n    a";
    foreign_operators: "    // a comment\n    let a = x // 2;\n    a += 1;\n    let b = x & y ^ z;\n    let f = x => x;";
    records_as_bodies: "    for i in 0..3 { w: 1 }\n    if x { w: 1 } else { w: 2, b: 3 }";
    cascades: "    let a = (1 + ;\n    let b = f(a, ;\n    let c = { w: , b: 2 };\n    let d = [1, 2;\n    if { } else ;\n    a + b";
}

snapshots! {
    expected_items: "hello\nfn f() { }\nf(3)\n";
    expected_type: "fn f(x: 3) -> { }\ntype T = ;\nfn g(x) -> f32 { x }\n";
    expected_name: "fn (x: f32) { }\nfn 3() { }\ntype = f32\nconst = 3\nimport 3\nimport \"a\" as \"b\"\ntest name { }\n";
    reserved_items: "const type = 3\nfn in(x: f32) -> f32 { x }\ntype main = f32\nfn f(x: f32) -> f32 { x }\n";
    reserved_items_of_later_lines: "import optim as type\nconst N = 3\nfn for(in: f32) -> f32 { in }\nmain { print(1); }\n";
    semicolons_behind_items: "fn f() { };\nmesh { data: 1 };\nconst A = 1;\nfn g() { } h\n";
    misspelled_items: "importx optim\nfn f() { }\ntypo T = f32\nfn\nmain { }\n";
    record_types: "type P = { w) : f32[2], b: f32 }\n";
    expected_parameters: "fn f[3](x: f32) { }\nfn g[N](x: f32, 4) { }\nfn h[N: ](x: f32) { }\n";
    unknown_kinds: "fn f[T: Tree, N: dim](x: T) -> T { x }\n";
    statements_outside: "let x = 3;\nfn f() { }\nx = 4;\nconst Y = 5;\nprint(x);\nfor i in 0..3 { }\n";
    missing_brace: "fn f(x: f32) -> f32 {\n    for i in 0..3 {\n        g(i);\n    x\n}\n\nfn g() { let a = ; }\n";
    missing_brace_before_else: "fn f(x: f32) -> f32 { if x > 0.0 { x else { -x } }\n\nfn g() { let a = ; }\n";
    missing_brace_at_the_end: "main {\n    if x {\n        print(\"a\");\n";
    end_of_file: "fn f(x: f32) -> f32 { x }\nconst A =";
    end_of_file_in_string: "main { print(\"abc";
    brace_in_the_middle: "fn f() {\n    let y = 1;\n        y = 2;\n    }\n    y = 3;\n}\n\nfn g() { }\n";
    brace_too_many: "fn f() {\n    if a { } }\n}\n\nfn g() { }\n";
    nested_too_deeply: concat!("const A = ", include_str!("programs/deep.txt"), "\n");
    errors_in_every_function: "fn f() { let a = ; let b = ); }\nfn g(x: ) { let c = * 2; c }\nfn h() { d d; }\n";
}

/// One mistake, of each kind, in an otherwise sound program: exactly one message, on its line.
#[test]
fn one_mistake_is_one_message() {
    let mistakes = [
        "let a = ;",
        "let a = (1 + 2;",
        "let a = [1, 2;",
        "let a = f(x, y;",
        "let a = 1 + 2);",
        "let a = \"abc;",
        "f(\"abc);",
        "let a = 3 $ 4;",
        "let a = 12abc;",
        "let = 3;",
        "let a 3;",
        "let a = x y;",
        "let fn = 3;",
        "a += 1;",
        "x[0] = 1;",
        "f(a=1, 2);",
        "if a < b < c { }",
        "for in x { }",
        "for i in { }",
        "while { }",
        "let { a, 3 } = x;",
        "let a = { w: };",
        "let a = { w: 1 b: 2 };",
        "let a: f32[ = x;",
        "let a: = x;",
        "return return;",
        "if x { } else else { }",
        "let a = |x x;",
        "let a = x[;",
        "let a = x.;",
        "mut a = 3;",
        "let a = \"{x\";",
        "let a = \"{x:zz}\";",
        "let a = \"\\q\";",
        "let a = x[1:2:3:4];",
        "let a = -;",
        ", ;",
        "= 3;",
        "const 3 = 4;",
        "let a = fn(x) { };",
        "let (a, b = x;",
        "let a = if x { 1 } else;",
        "in x;",
        "let a = (;",
    ];
    let mut wrong = Vec::new();
    for mistake in mistakes {
        let text = format!(
            "fn f(x: f32) -> f32 {{\n    let before = 1;\n    {mistake}\n    let after = 2;\n    after\n}}\n\nfn g() {{ }}\n"
        );
        let parsed = parse(FileId(0), &text);
        let lines: Vec<usize> = parsed
            .diagnostics
            .iter()
            .map(|d| text[..d.primary.span.start as usize].matches('\n').count() + 1)
            .collect();
        let tree = dump::ast(&parsed.module);
        let kept = tree.contains("(let before 1)")
            && tree.contains("(let after 2)")
            && tree.contains("(value after)");
        if lines != [3] || !kept || parsed.module.items.len() != 2 {
            wrong.push(format!("{mistake}\n{}{tree}", errors(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is known of a broken `let` or item, so that its uses are not reported too.
#[test]
fn names_of_broken_parts_are_known() {
    let text = "fn f(x: ) { }\nconst K = ;\nmain { let (a, b): f32 = ; let mut c = +; const D = ; fn inner() { } a }\n";
    let parsed = parse(FileId(0), text);
    let broken: Vec<&str> = parsed.broken.iter().map(|n| &*n.node).collect();
    assert_eq!(broken, ["inner", "f", "K"]);
    insta::assert_snapshot!(side_by_side(text, &dump::ast(&parsed.module)));
}
