//! Diagnostics as a terminal and as an editor get them.

use tpuc_lang::diag::{Code, Diagnostic};
use tpuc_lang::render::{json_lines, render};
use tpuc_lang::source::Sources;
use tpuc_lang::span::{FileId, Span};

/// Where the `n`-th occurrence of a piece of text stands.
fn span(sources: &Sources, file: FileId, piece: &str, n: usize) -> Span {
    let text = &sources.get(file).text;
    let (start, _) = text
        .match_indices(piece)
        .nth(n)
        .expect("the piece is in the text");
    Span::new(file, start, start + piece.len())
}

/// The error that the language's description shows.
fn matmul(sources: &Sources, file: FileId) -> Diagnostic {
    let operator = span(sources, file, "@", 0);
    Diagnostic::error(
        Code("E0302"),
        "matrix product: inner dimensions differ",
        operator,
        "f32[B, 784]: its last dimension is 784, and `p.w2` has 256 rows",
    )
    .label(span(sources, file, "p.w2", 0), "f32[HID=256, 10]")
    .help("`p.w1` is f32[784, 256]; did you mean it?")
}

const FORWARD: &str = "# a net\n\n\n\n\n\n\n\nfn forward[B](p: Params, x: f32[B, 784]) -> f32[B, 10] {\n    let h = relu(x @ p.w2 + p.b1);\n}\n";

#[test]
fn the_form_of_the_description() {
    let mut sources = Sources::default();
    let file = sources.add("mnist.tl", FORWARD);
    insta::assert_snapshot!(render(&sources, &[matmul(&sources, file)], false));
}

#[test]
fn colours() {
    let mut sources = Sources::default();
    let file = sources.add("mnist.tl", FORWARD);
    let text = render(&sources, &[matmul(&sources, file)], true);
    assert!(text.contains('\u{1b}'));
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
}

#[test]
fn order_and_closing_line() {
    let mut sources = Sources::default();
    let a = sources.add("a.tl", "one two\nthree\n");
    let b = sources.add("b.tl", "four\n");
    let at = |file, piece| span(&sources, file, piece, 0);
    let all = [
        Diagnostic::error(Code("E0002"), "second file", at(b, "four"), "here"),
        Diagnostic::error(Code("E0001"), "third", at(a, "three"), "here"),
        Diagnostic::warning(Code("W0001"), "second", at(a, "two"), "here")
            .note("a note\nof two lines"),
        Diagnostic::error(Code("E0003"), "first", at(a, "one"), "here")
            .label(at(b, "four"), "from there"),
    ];
    insta::assert_snapshot!(render(&sources, &all, false));
    assert!(render(&sources, &all[2..3], false).ends_with("\nwarning: 1 warning\n"));
    assert!(render(&sources, &all[..1], false).ends_with("\nerror: aborting, 1 error\n"));
    assert_eq!(render(&sources, &[], false), "");
    assert_eq!(json_lines(&sources, &[]), "");
}

#[test]
fn tabs_wide_letters_and_many_lines() {
    let mut sources = Sources::default();
    let file = sources.add(
        "ä.tl",
        "\tlet größe = \"日本\" @ x;\r\nfn f() {\n    a\n\n\n\n\n    b\n}",
    );
    let at = |piece| span(&sources, file, piece, 0);
    let text = &sources.get(file).text;
    let whole = Span::new(file, text.find("{").unwrap_or(0), text.len());
    let end = Span::new(file, text.len(), text.len());
    let all = [
        Diagnostic::error(Code("E0001"), "after wide letters", at("@"), "the operator")
            .label(at("größe"), "a name"),
        Diagnostic::error(Code("E0002"), "many lines", whole, "the block"),
        Diagnostic::error(Code("E0003"), "at the end", end, ""),
    ];
    insta::assert_snapshot!(render(&sources, &all, false));
}

#[test]
fn a_long_line_is_not_shown() {
    let mut sources = Sources::default();
    let text = format!("main {{ {} @ }}", "x + ".repeat(1000));
    let file = sources.add("long.tl", text);
    let at = span(&sources, file, "@", 0);
    let d = Diagnostic::error(Code("E0001"), "far out", at, "here").help("break the line");
    insta::assert_snapshot!(render(&sources, &[d], false));
}

#[test]
fn spans_out_of_place_do_no_harm() {
    let mut sources = Sources::default();
    let file = sources.add("a.tl", "äö");
    for (start, end) in [(0, 1), (1, 3), (1, 1), (3, 900), (800, 900), (4, 4)] {
        let d = Diagnostic::error(Code("E0001"), "m", Span::new(file, start, end), "l");
        assert!(render(&sources, std::slice::from_ref(&d), false).contains("E0001"));
        assert!(json_lines(&sources, &[d]).contains("E0001"));
    }
}

#[test]
fn json() {
    let mut sources = Sources::default();
    let file = sources.add("dir/ä \"x\".tl", "größe @ x\n");
    let d = Diagnostic::warning(
        Code("W0101"),
        "both sides \"stretch\"",
        span(&sources, file, "@", 0),
        "tab\there",
    )
    .label(span(&sources, file, "größe", 0), "a\\b")
    .help("one")
    .help("two")
    .note("line\nbreak \u{1}");
    let lines = json_lines(&sources, &[d.clone(), d]);
    assert_eq!(lines.lines().count(), 2);
    insta::assert_snapshot!(lines.lines().next().unwrap_or(""));
}
