//! Small mistakes made in right programs: nothing may panic, and the error is where the mistake is.

mod checking;

use checking::{checked, root};
use tpuc_lang::check::Checked;
use tpuc_lang::diag::Severity;
use tpuc_lang::lexer;
use tpuc_lang::span::FileId;

/// The programs of `tests/check/good/` and the examples.
fn programs() -> Vec<(String, String)> {
    let mut out = Vec::new();
    for folder in ["lang/tests/check/good", "examples"] {
        let files = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        for file in files
            .flatten()
            .filter(|f| f.path().extension().is_some_and(|e| e == "tl"))
        {
            let text = std::fs::read_to_string(file.path()).expect("a program can be read");
            out.push((file.path().display().to_string(), text));
        }
    }
    out.sort();
    out
}

/// The words of a program with their places.
fn words(text: &str) -> Vec<(usize, usize)> {
    lexer::lex(FileId(0), text)
        .tokens
        .iter()
        .map(|t| (t.start as usize, t.end as usize))
        .collect()
}

/// A sequence of numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// What was changed, and on which line.
struct Mutant {
    text: String,
    line: usize,
}

fn replaced(text: &str, (start, end): (usize, usize), new: &str) -> Mutant {
    Mutant {
        text: format!("{}{new}{}", &text[..start], &text[end..]),
        line: text[..start].matches('\n').count() + 1,
    }
}

/// One mistake: a word left out or doubled, two sizes or names exchanged, an element type or number changed.
fn mutant(text: &str, numbers: &mut Numbers) -> Mutant {
    let words = words(text);
    let at = words[numbers.below(words.len())];
    let word = &text[at.0..at.1];
    match numbers.below(5) {
        0 => replaced(text, at, ""),
        1 => replaced(text, at, &format!("{word} {word}")),
        2 => {
            let other = words[numbers.below(words.len())];
            replaced(text, at, &text[other.0..other.1])
        }
        3 => {
            let elements: Vec<(usize, usize)> = words
                .iter()
                .copied()
                .filter(|w| matches!(&text[w.0..w.1], "f32" | "i32" | "bool" | "bf16" | "key"))
                .collect();
            if elements.is_empty() {
                return replaced(text, at, "");
            }
            let at = elements[numbers.below(elements.len())];
            let kinds = ["f32", "i32", "bool", "bf16", "u8", "key"];
            replaced(text, at, kinds[numbers.below(kinds.len())])
        }
        _ => {
            let sizes: Vec<(usize, usize)> = words
                .iter()
                .copied()
                .filter(|w| text[w.0..w.1].chars().all(|c| c.is_ascii_digit()))
                .collect();
            if sizes.is_empty() {
                return replaced(text, at, "");
            }
            let at = sizes[numbers.below(sizes.len())];
            replaced(text, at, &numbers.below(1000).to_string())
        }
    }
}

fn first_lines(checked: &Checked) -> Vec<usize> {
    let errors = checked
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error);
    errors
        .flat_map(|d| {
            let labels = d.secondary.iter().map(|l| l.span);
            std::iter::once(d.primary.span)
                .chain(labels)
                .collect::<Vec<_>>()
        })
        .filter(|span| span.file == FileId(0))
        .map(|span| checked.sources.line_col(span).0)
        .collect()
}

/// The share of wrong mutants whose line an error shows; the others are, most of them, items whose users are elsewhere.
const SHARE: f64 = 0.9;

#[test]
fn mistakes_are_found_where_they_are() {
    let programs = programs();
    let mut numbers = Numbers(1);
    let (mut wrong, mut shown) = (0, 0);
    for _ in 0..150 {
        let (name, text) = &programs[numbers.below(programs.len())];
        let mutant = mutant(text, &mut numbers);
        let found = checked(name, &mutant.text, &[]);
        let lines = first_lines(&found);
        if found.program.is_none() {
            assert!(!lines.is_empty(), "an error without a place in {name}");
            wrong += 1;
            shown += usize::from(lines.contains(&mutant.line));
        }
    }
    let share = f64::from(shown as u32) / f64::from(wrong);
    println!("{wrong} of 150 mutants are wrong; the line is shown for {shown}, {share:.3}");
    assert!(wrong > 100);
    assert!(share >= SHARE, "{share}");
}

/// What nests deeply is checked on the stack that a test has.
#[test]
fn nesting_does_not_exhaust_the_stack() {
    let depth = 120;
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    for body in [
        nested("(", "x", ")"),
        nested("sin(", "x", ")"),
        nested("-", "x", ""),
        nested("[", "x", "]"),
        nested("relu(x + ", "x", ")"),
        nested("if x > 0.0 { ", "x", " } else { 0.0 }"),
        nested("{ let y = x; ", "y", " }"),
        nested("(|v| ", "x", ")(x)"),
        nested("grad(", "sin", ")") + "(x)",
    ] {
        let found = checked("deep.tl", &format!("fn f(x: f32) -> f32 {{ {body} }}"), &[]);
        assert!(found.diagnostics.len() < 500);
    }
}
