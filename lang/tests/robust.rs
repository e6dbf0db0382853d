//! No text makes the parser panic, overflow its stack, or lose its way.

mod checking;
mod common;

use checking::{checked, with_deep_stack};
use common::{cases, errors};
use proptest::prelude::*;
use tpuc_lang::fmt::format;
use tpuc_lang::render::{json_lines, render};
use tpuc_lang::source::Sources;
use tpuc_lang::{dump, parse};

/// Runs everything that takes a text; checks what must hold for all.
fn survive(text: &str) {
    let mut sources = Sources::default();
    let file = sources.add("a.tl", text);
    let parsed = parse(file, text);
    for d in &parsed.diagnostics {
        let spans = std::iter::once(&d.primary)
            .chain(&d.secondary)
            .map(|l| l.span);
        for span in spans {
            let (start, end) = (span.start as usize, span.end as usize);
            assert!(start <= end && end <= text.len(), "{}: {span:?}", d.code.0);
            assert!(
                text.is_char_boundary(start) && text.is_char_boundary(end),
                "{}",
                d.code.0
            );
        }
    }
    dump::ast(&parsed.module);
    dump::tokens(text);
    render(&sources, &parsed.diagnostics, false);
    json_lines(&sources, &parsed.diagnostics);
    let formatted = format(text);
    assert_eq!(formatted.is_ok(), parsed.diagnostics.is_empty());
    // Without an error nothing is missing from the tree, and formatting changes it no more than itself.
    if let Ok(formatted) = formatted {
        let tree = dump::ast(&parsed.module);
        assert!(!tree.contains("(error)"), "{text}");
        assert_eq!(dump::ast(&parse(file, &formatted).module), tree, "{text}");
        assert_eq!(format(&formatted).ok(), Some(formatted), "{text}");
    }
}

/// Checks a text to the end: an error, or a program that can be printed.
fn survive_checking(text: &str) {
    let found = checked("a.tl", text, &[]);
    match &found.program {
        Some(program) => drop(dump::typed::program(program, None)),
        None => assert!(!found.diagnostics.is_empty(), "{text}"),
    }
    checking::shown(&found);
}

/// Checks a program in which nothing is wrong.
fn accept(text: &str) {
    let found = checked("a.tl", text, &[]);
    assert_eq!(checking::shown(&found), "");
    let program = found.program.expect("a program without errors");
    dump::typed::program(&program, None);
}

const WORDS: [&str; 84] = [
    "fn",
    "type",
    "const",
    "import",
    "main",
    "test",
    "let",
    "mut",
    "for",
    "in",
    "while",
    "if",
    "else",
    "return",
    "true",
    "false",
    "none",
    "inf",
    "mesh",
    "as",
    "vjp",
    "tree",
    "f",
    "x",
    "f32",
    "B",
    "1",
    "2.5",
    "0xff",
    "1e-3",
    "12abc",
    "\"",
    "\"s\"",
    "\"a{x}b\"",
    "\"{x:.2f}\"",
    "\"{",
    "}\"",
    "\"{{\"",
    "\\",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "..",
    "->",
    "=",
    "|",
    "||",
    "&&",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "@",
    "**",
    "!",
    "//",
    "+=",
    "=>",
    "&",
    "^",
    "$",
    "é",
    "# c",
    "## d",
    "\n",
    "\n\n",
    "\t",
    "fn f(x: f32) -> f32 {",
    "let a = ",
    "}\n",
];

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn characters(text in "\\PC{0,100}") {
        survive(&text);
    }

    #[test]
    fn words(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..60), spaced in any::<bool>()) {
        survive(&words.join(if spaced { " " } else { "" }));
    }

    #[test]
    fn words_in_a_function(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..20)) {
        survive(&format!("fn f(x: f32) -> f32 {{\n    {}\n    let after = 1;\n    x\n}}\nfn g() {{ }}\n", words.join(" ")));
    }

    #[test]
    fn words_are_formatted(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..12)) {
        survive(&format!("main {{\n    let x = [{}];\n}}\n", words.join(" ")));
    }

    /// A program with a piece cut out, doubled, or replaced.
    #[test]
    fn mutations(at in any::<prop::sample::Index>(), len in 0..12usize, word in prop::sample::select(WORDS.to_vec()), kind in 0..3) {
        let text = include_str!("../../examples/mnist.tl");
        let at = at.index(text.len());
        let end = (at + len).min(text.len());
        survive(&match kind {
            0 => format!("{}{}", &text[..at], &text[end..]),
            1 => format!("{}{word}{}", &text[..at], &text[end..]),
            _ => format!("{}{}{}", &text[..end], &text[at..end], &text[end..]),
        });
    }
}

/// Names of functions and words that go together often enough to reach the checker.
const CALLS: [&str; 60] = [
    "x",
    "y",
    "w",
    "k",
    "p.a",
    "f",
    "g",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    ",",
    ",",
    "+",
    "-",
    "*",
    "@",
    "1",
    "2.0",
    "-1",
    "0",
    "true",
    "none",
    "..S",
    "..",
    ":",
    "|v| v",
    "|a, b| a",
    "sum",
    "mean",
    "max",
    "reshape",
    "transpose",
    "zeros",
    "grad",
    "vmap",
    "scan",
    "map",
    "fold",
    "split",
    "normal",
    "einsum",
    "concat",
    "where",
    "x[0]",
    "axis=0",
    "keepdims=true",
    "shape(x)",
    "N",
    "f32",
    "i32",
    "let z =",
    ";",
    "if true {",
    "} else {",
    "}",
    "for i in 0..3 {",
    "\"ij->ji\"",
];

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn soups_are_checked(words in prop::collection::vec(prop::sample::select(CALLS.to_vec()), 1..14)) {
        let body = words.join(" ");
        survive_checking(&format!(
            "fn f[N, ..S](x: f32[N, ..S], y: i32[3], k: key) -> f32 {{\n    let w = ones([3, 3]);\n    let p = {{ a: w, b: y }};\n    {body}\n}}\nfn g(x: f32) -> f32 {{ x }}\n"
        ));
    }

    #[test]
    fn scripts_are_checked(words in prop::collection::vec(prop::sample::select(CALLS.to_vec()), 1..10)) {
        let body = words.join(" ");
        survive_checking(&format!(
            "fn f(x: f32[3]) -> f32 {{ sum(x) }}\nfn g(v: f32) -> f32 {{ v }}\nmain {{\n    let x = [1.0, 2.0, 3.0];\n    let (y, w) = (x, [x, x, x]);\n    let k = key(0);\n    let p = {{ a: w }};\n    print({body});\n}}\n"
        ));
    }

    /// Anything at all, to the end.
    #[test]
    fn bytes_are_checked(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survive_checking(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn words_are_checked(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..40)) {
        survive_checking(&words.join(" "));
    }

    /// A program with a piece cut out or doubled, to the end.
    #[test]
    fn mutations_are_checked(at in any::<prop::sample::Index>(), len in 0..12usize, double in any::<bool>()) {
        let text = include_str!("../../examples/mnist.tl");
        let at = at.index(text.len());
        let end = (at + len).min(text.len());
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(end));
        survive_checking(&match double {
            false => format!("{}{}", &text[..at], &text[end..]),
            true => format!("{}{}{}", &text[..end], &text[at..end], &text[end..]),
        });
    }
}

/// Everything that can nest, 10,000 deep: an error.
#[test]
fn deep_nesting_is_an_error() {
    with_deep_stack(deep_nesting);
}

fn deep_nesting() {
    let n = 10_000;
    let nested = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    let values = [
        nested("(", "1", ")"),
        nested("[", "1", "]"),
        nested("{", "1", "}"),
        nested("{a: ", "1", "}"),
        nested("f(", "1", ")"),
        nested("x[", "1", "]"),
        nested("-", "1", ""),
        nested("!", "a", ""),
        nested("|a| ", "1", ""),
        nested("|| ", "1", ""),
        nested("if a { } else ", "{ }", ""),
        nested("if a { ", "1", " } else { 2 }"),
        nested("if ", "a", " { }"),
        nested("1 + ", "1", ""),
        nested("1 ** ", "1", ""),
        nested("a || ", "b", ""),
        nested("a < b && ", "b", ""),
        nested("", "f", "(x)"),
        nested("", "f", ".w"),
        nested("", "f", ".0"),
        nested("", "f", "[0]"),
        nested("(|x| { let y = ", "1", "; y })"),
        nested("|x: fn(f32) -> ", "f32", "| x"),
    ];
    let types = [
        nested("(", "f32", ",)"),
        nested("f32[", "3", "]"),
        nested("A[", "3", "]"),
        nested("{a: ", "f32", "}"),
        nested("fn(", "", ") -> f32"),
        nested("fn() -> ", "f32", ""),
        format!("f32[{}]", nested("1 + ", "1", "")),
        format!("f32[{}]", nested("-", "1", "")),
        format!("f32[{}]", nested("(", "1", ")")),
    ];
    let statements = [
        nested("for i in x { ", "", "}"),
        nested("while x { ", "", "}"),
        nested("for i in x ", "", "{ }"),
        format!("let {} = x;", nested("(", "a", ",)")),
        format!("let {} = x;", nested("{a: ", "a", "}")),
    ];
    let texts = values
        .iter()
        .map(|v| format!("main {{ let x = {v}; }}"))
        .chain(values.iter().map(|v| format!("const X = {v}")))
        .chain(types.iter().map(|t| format!("type T = {t}")))
        .chain(
            types
                .iter()
                .map(|t| format!("fn f(x: {t}) {{ let y: {t} = x; }}")),
        )
        .chain(statements.iter().map(|s| format!("main {{ {s} }}")));
    for text in texts {
        let parsed = parse(Default::default(), &text);
        assert!(!parsed.diagnostics.is_empty(), "accepted: {:.60}…", text);
        let is_depth = |d: &&tpuc_lang::diag::Diagnostic| d.message == "nested too deeply";
        let told = parsed.diagnostics.iter().filter(is_depth).count();
        assert!(told <= 1, "told {told} times: {text:.60}…");
        survive(&text);
    }
}

/// As deep as is allowed, everything still works.
#[test]
fn nesting_within_the_limit_is_fine() {
    let n = 120;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("f(", ")"),
        ("-", ""),
        ("|a| ", ""),
        ("1 + ", ""),
        ("(|x| { ", " })"),
    ] {
        let text = format!("main {{ let x = {}1{}; }}", open.repeat(n), close.repeat(n));
        assert_eq!(errors(&text), "");
        survive(&text);
    }
}

/// What reads from left to right nests nothing, however long it is.
#[test]
fn long_chains_are_fine() {
    with_deep_stack(long_chains);
}

fn long_chains() {
    let chain = |link: &str| format!("x{}", link.repeat(3000));
    for link in [" + y", " / y", " @ y", " - y * 2.0"] {
        let text = format!(
            "fn f(x: f32[2, 2], y: f32[2, 2]) -> f32[2, 2] {{ {} }}",
            chain(link)
        );
        survive(&text);
        accept(&text);
    }
    for link in [" && y", " || y", " || y && x"] {
        let text = format!("fn f(x: bool, y: bool) -> bool {{ {} }}", chain(link));
        accept(&text);
    }
    // Sizes, too.
    let size = format!("N{}", " + 1".repeat(3000));
    let text = format!("fn f[N](x: f32[{size}]) -> f32 {{ sum(x) }}");
    survive(&text);
    accept(&text);
}

/// Broken brackets and strings of any number.
#[test]
fn thousands_of_open_ends() {
    for piece in [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\"{",
        "\"{\"{",
        "f(\"",
        "let x = (",
        "fn f() {\n",
        "|",
        "a.",
        "{ a: ",
        "\"\n",
        "($",
        ";",
        "if ",
        "else ",
    ] {
        survive(&piece.repeat(3000));
        survive(&format!("main {{ {} }}", piece.repeat(3000)));
    }
}

/// A long file of functions has as many items as it should, and one mistake in it one message.
#[test]
fn a_long_file() {
    let function = |i: usize| {
        format!(
            "## Number {i}.\nfn f{i}[B](x: f32[B, 784], w: f32[784, 10]) -> f32[B, 10] {{\n    let h = relu(x @ w + 1.0); # layer\n    let mut s = {{ w: h, b: (h, 1) }};\n    for i in 0..10 {{\n        s.w = s.w * 2.0 - h[0:1, ..];\n    }}\n    if sum(h) > 0.0 {{ s.w }} else {{ map(|a| {{ a }}, h) }}\n}}\n\n"
        )
    };
    let mut text: String = (0..5000).map(function).collect();
    assert!(text.lines().count() >= 50_000);
    let parsed = parse(Default::default(), &text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.module.items.len(), 5000);
    let at = text.rfind("* 2.0").expect("the product is there");
    text.replace_range(at..at + 1, "* *");
    let parsed = parse(Default::default(), &text);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.module.items.len(), 5000);
}
