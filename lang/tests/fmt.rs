//! The formatter: what it makes of small programs, and that it loses nothing and settles at once.

mod common;

use common::{programs, side_by_side};
use proptest::prelude::*;
use tpuc_lang::dump;
use tpuc_lang::fmt::format;
use tpuc_lang::lexer::lex;
use tpuc_lang::lexer::token::Tok;
use tpuc_lang::parse;
use tpuc_lang::span::FileId;

fn tree(text: &str) -> String {
    let parsed = parse(FileId(0), text);
    assert!(
        parsed.diagnostics.is_empty(),
        "{}\n{text}",
        common::errors(text)
    );
    dump::ast(&parsed.module)
}

fn comments(text: &str) -> Vec<String> {
    let mut all: Vec<String> = lex(FileId(0), text)
        .comments
        .iter()
        .map(|c| text[c.span.start as usize..c.span.end as usize].to_string())
        .collect();
    all.sort();
    all
}

/// Formats, and checks that nothing was lost and that formatting again changes nothing.
fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|_| panic!("{}\n{text}", common::errors(text)));
    assert_eq!(
        tree(&once),
        tree(text),
        "another program:\n{text}\n----\n{once}"
    );
    assert_eq!(
        comments(&once),
        comments(text),
        "other comments:\n{text}\n----\n{once}"
    );
    let twice = format(&once).unwrap_or_else(|_| panic!("{}", common::errors(&once)));
    assert_eq!(twice, once, "not settled, from:\n{text}");
    once
}

#[test]
fn mnist_stays_as_it_is() {
    let text = include_str!("../../examples/mnist.tl");
    assert_eq!(formatted(text), text);
}

/// Programs that are read, or copied from, are in the one style; those that test spans or the formatter are not.
#[test]
fn the_library_the_examples_and_the_cases_are_formatted() {
    let root = common::root();
    let folders = ["std", "examples", "tests/cases"].map(|f| root.join(f).display().to_string());
    let mut off = Vec::new();
    let mut count = 0;
    for (name, text) in programs() {
        if folders.iter().any(|f| name.starts_with(f)) {
            count += 1;
            if format(&text).is_ok_and(|formatted| formatted != text) {
                off.push(name);
            }
        }
    }
    assert!(count > 10);
    assert!(off.is_empty(), "`tpuc fmt` would change {off:?}");
}

/// Where there may be a space there may be a line break, and what was typed so has the same form.
#[test]
fn line_breaks_mean_nothing() {
    let mut count = 0;
    for (name, text) in programs() {
        if !parse(FileId(0), &text).diagnostics.is_empty() {
            continue;
        }
        let mut broken = String::new();
        let (mut end, mut strings) = (0, 0);
        for token in lex(FileId(0), &text).tokens {
            let gap = &text[end..token.start as usize];
            let is_space = !gap.is_empty() && gap.trim().is_empty() && !gap.contains('\n');
            broken.push_str(if is_space && strings == 0 { "\n" } else { gap });
            match token.tok {
                Tok::StrOpen => strings += 1,
                Tok::StrClose => strings -= 1,
                _ => {}
            }
            end = token.end as usize;
            broken.push_str(&text[token.start as usize..end]);
        }
        broken.push_str(&text[end..]);
        assert_eq!(tree(&broken), tree(&text), "{name}");
        formatted(&broken);
        count += 1;
    }
    assert!(count > 100);
}

#[test]
fn programs_of_the_repository_settle() {
    for (name, text) in programs() {
        if parse(FileId(0), &text).diagnostics.is_empty() {
            formatted(&text);
        } else {
            assert!(format(&text).is_err(), "{name}");
        }
    }
}

#[test]
fn a_broken_program_is_left_alone() {
    let errors = format("fn f() { let x = ; }").unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code.0, "E0101");
}

#[test]
fn nothing_is_formatted_to_nothing() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("\n\n# a\n\n\n\n# b"), "# a\n\n# b\n");
}

macro_rules! snapshots {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(side_by_side($text, &formatted($text)));
        }
    )*};
}

snapshots! {
    spaces: "const A=1+2*-3\nfn f[ N ](x:f32[N,3],lr:f32=1e-3)->f32{g( x ,axis = 1)+x[0 : 2,:]  [ 1 ]-  - x}";
    statements_on_lines: "main{let a=1;let b=2;;if a{b=3;}else{b=4;};for i in 0..3{f(i);};return;}";
    one_line_blocks: "fn f(x: f32) -> f32 { if x > 0.0 { x } else { let y = 3.0; y } }\nfn g(x: f32) -> f32 { x }";
    long_signature: "fn attention[B, T, H, D: float](query: D[B, T, H], key: D[B, T, H], value: D[B, T, H], mask: bool[T, T]) -> D[B, T, H] { query }";
    long_sums: "main { let total = first_term_of_the_loss * weight_of_the_first + second_term_of_the_loss * weight_of_the_second - penalty; }";
    long_conditions: "main { if first_condition_that_is_long && second_condition_that_is_long || third_condition_that_is_long_too { f(); } }";
    long_calls: "main { let out = function(first_argument_of_it(a, b, c), second_argument_of_it[0, 1:2], third=third_argument_of_it, fourth=4); }";
    lambdas_with_blocks: "main { let (c, ys) = scan(|c, x| { let d = c + x; (d, d) }, zeros([3]), xs); let y = map(|p, q| p - q, a, b); }";
    aligned_records: "type P = {\n  w1:f32[784, 10],  b1: f32[10],\n  w2:f32[5, 10],   b2: f32[10],\n}";
    records_by_lines: "fn f() -> P { {\n w: normal(k, [784, HID]) * sqrt(2.0 / 784.0), b: zeros([HID]), } }";
    aligned_comments: "main {\n  let a = 1;      # first\n  let bb =   2;   # second\n  let c = 3; # third\n}";
    comments_everywhere: "# top\nimport optim # lib\n\n\n# above f\n## doc\nfn f( # open\n x: f32, # x\n # y next\n y: f32 # y\n # end\n) -> f32 { # body\n\n # first\n let z = x + # plus\n y;\n\n # last\n}\n# end";
    empty_things: "type E = { }\nfn f ( ) { }\nmain { # nothing\n }\ntest \"t\" {\n\n # still nothing\n\n}";
    generic_types: "type Adam[T:tree]={m:T,v:T,t:i32}\nfn f[..S,D:num](x:D[..S,2*N+1,B@data],g:fn(f32[N],i32)->f32)->(D[..S],){(x,)}";
    strings_are_the_users: "main { print(\"{ a+b :.4f}  a very long text that goes on past the hundredth column of the line {c} and further\", end=\"\"); }";
    vjp_and_mesh: "mesh {data:4,model:1}\nfn f(x:f32)->f32{x*x}vjp(x,y,ct){let d=2.0*x;(ct*d,)}";
}

// ---- Any layout of a program is formatted to the same program

/// The tokens as written, a string whole.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for token in lex(FileId(0), text).tokens {
        if depth == 0 {
            start = token.start as usize;
        }
        match token.tok {
            Tok::StrOpen => depth += 1,
            Tok::StrClose => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            words.push(text[start..token.end as usize].to_string());
        }
    }
    words
}

/// Puts the words together with the given gaps, in turn.
fn relaid(words: &[String], gaps: &[u8]) -> String {
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        text.push_str(word);
        text.push_str(match gaps[i % gaps.len()] {
            0..=59 => " ",
            60..=69 => "   ",
            70..=84 => "\n",
            85..=89 => "\n\n\n",
            90..=92 => " # behind\n",
            93 => "   # further\n",
            94 | 95 => "\n  # alone\n",
            96 => "#close\n# below\n\n # two\n",
            _ => "\n    ",
        });
    }
    text
}

const PROGRAMS: [&str; 4] = [
    include_str!("../../examples/mnist.tl"),
    include_str!("programs/every_form.tl"),
    "fn f(x: f32[3]) -> f32 { map(|a, b| { let c = a; c + b }, x, { w: x, b: [x, -x] }); x[0:2, ..] }",
    "main { if a { b = 1; } else if c { d } else { (e, (f,)) } x.0.1 = !y && z ** -2 < 3; || { q } }",
];

proptest! {
    #![proptest_config(common::cases(300))]

    #[test]
    fn any_layout_settles(program in 0..PROGRAMS.len(), gaps in prop::collection::vec(0..100u8, 1..80)) {
        let words = words(PROGRAMS[program]);
        formatted(&relaid(&words, &gaps));
    }

    #[test]
    fn long_names_settle(program in 0..PROGRAMS.len(), gaps in prop::collection::vec(0..90u8, 1..40), factor in 2..12usize) {
        let words: Vec<String> = words(PROGRAMS[program]).iter().map(|w| lengthen(w, factor)).collect();
        formatted(&relaid(&words, &gaps));
    }

    #[test]
    fn any_expression_settles(expr in expression(), gaps in prop::collection::vec(0..99u8, 1..20)) {
        let text = format!("main {{ let value = {expr}; {expr} }}");
        let words = words(&text);
        formatted(&text);
        formatted(&relaid(&words, &gaps));
    }

    #[test]
    fn what_follows_a_block_settles(expr in expression(), gaps in prop::collection::vec(0..99u8, 1..20)) {
        let text = format!("main {{ for i in a {{ }} ({expr},); while a {{ b = 1; }} [{expr}]; if a {{ b = 1; }} ({expr}) }}");
        let words = words(&text);
        formatted(&text);
        formatted(&relaid(&words, &gaps));
    }
}

/// A longer name in place of a short one that is no keyword.
fn lengthen(word: &str, factor: usize) -> String {
    let short = word.len() == 1 && word.chars().all(|c| c.is_ascii_lowercase());
    if short {
        word.repeat(factor * 3)
    } else {
        word.to_string()
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "bee",
        "1",
        "2.5",
        "nan",
        "true",
        "none",
        "\"s {x:.2f}\"",
        "()",
        "0xff",
    ]);
    leaf.prop_map(str::to_string)
        .prop_recursive(6, 64, 4, |inner| {
            let many = prop::collection::vec(inner.clone(), 0..4);
            let op = prop::sample::select(vec![
                "+", "-", "*", "/", "%", "@", "**", "&&", "||", "<", "==",
            ]);
            prop_oneof![
                (inner.clone(), op, inner.clone())
                    .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("-({a}) + ({b})")),
                inner.clone().prop_map(|a| format!("({a}).w.0")),
                (inner.clone(), many.clone())
                    .prop_map(|(f, args)| format!("({f})({})", args.join(", "))),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("g({a}, axis={b})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("x[{a}, {b}:, ..]")),
                many.clone().prop_map(|es| format!("[{}]", es.join(", "))),
                many.clone().prop_map(|es| format!(
                    "({},)",
                    if es.is_empty() {
                        "a".into()
                    } else {
                        es.join(", ")
                    }
                )),
                many.prop_map(|es| format!(
                    "{{ w: a{} }}",
                    es.iter().map(|e| format!(", v: {e}")).collect::<String>()
                )),
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| format!("if {a} {{ {b} }} else {{ {a} }}")),
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| format!("(|x, y| {{ let z = {a}; {b} }})")),
                inner.prop_map(|a| format!("(|p| {a})")),
            ]
        })
}
