//! Small mistakes made in right programs: nothing may panic, the error is where the mistake is, and what is still
//! accepted gives values of the same shapes.

mod checking;

use checking::{checked, root, with_deep_stack};
use std::collections::BTreeMap;
use tpuc_lang::check::Checked;
use tpuc_lang::diag::Severity;
use tpuc_lang::lexer;
use tpuc_lang::span::FileId;
use tpuc_lang::typed::{Block, Effect, Expr, PrintPiece, Program, Stmt, StmtKind, Ty};

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

    fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        let at = self.below(of.len());
        of.get(at)
    }
}

type Place = (usize, usize);

/// The words of a program with their places.
struct Words<'t> {
    text: &'t str,
    places: Vec<Place>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        let tokens = lexer::lex(FileId(0), text).tokens;
        let places = tokens.iter().map(|t| (t.start as usize, t.end as usize));
        Words {
            text,
            places: places.filter(|(start, end)| start < end).collect(),
        }
    }

    fn at(&self, i: usize) -> &'t str {
        let (start, end) = self.places[i];
        &self.text[start..end]
    }

    fn where_(&self, is: impl Fn(&str) -> bool) -> Vec<usize> {
        (0..self.places.len()).filter(|i| is(self.at(*i))).collect()
    }
}

/// What was changed, and on which line.
struct Mutant {
    text: String,
    line: usize,
}

fn replaced(text: &str, (start, end): Place, new: &str) -> Mutant {
    Mutant {
        text: format!("{}{new}{}", &text[..start], &text[end..]),
        line: text[..start].matches('\n').count() + 1,
    }
}

fn is_elem(word: &str) -> bool {
    matches!(word, "f32" | "i32" | "bool" | "bf16" | "u8" | "key")
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The kinds of mistakes. Each gives `None` where the program has no place for it.
type Kind = (
    &'static str,
    fn(words: &Words, numbers: &mut Numbers) -> Option<Mutant>,
);

const KINDS: [Kind; 6] = [
    ("a word left out", |words, numbers| {
        let i = numbers.below(words.places.len());
        // `[1, ]` is a shorter list; `sum(x)` and `x[0]` without their names are other expressions, and right.
        let next = words.places.get(i + 1).map(|p| &words.text[p.0..p.1]);
        let ends = next.is_some_and(|w| matches!(w, "]" | ")"));
        if i > 0 && words.at(i - 1) == "," && ends || next.is_some_and(|w| matches!(w, "(" | "[")) {
            return None;
        }
        Some(replaced(words.text, words.places[i], ""))
    }),
    ("a word doubled", |words, numbers| {
        let at = *numbers.pick(&words.places)?;
        let word = &words.text[at.0..at.1];
        Some(replaced(words.text, at, &format!("{word} {word}")))
    }),
    ("two dimensions of a type exchanged", |words, numbers| {
        let types: Vec<usize> = words
            .where_(is_elem)
            .into_iter()
            .filter(|&i| {
                i + 5 < words.places.len() && words.at(i + 1) == "[" && words.at(i + 3) == ","
            })
            .filter(|&i| words.at(i + 5) == "]" && words.at(i + 2) != words.at(i + 4))
            .collect();
        let i = *numbers.pick(&types)?;
        let both = (words.places[i + 2].0, words.places[i + 4].1);
        let new = format!("{}, {}", words.at(i + 4), words.at(i + 2));
        Some(replaced(words.text, both, &new))
    }),
    ("another element type", |words, numbers| {
        let i = *numbers.pick(&words.where_(is_elem))?;
        let others: Vec<&str> = ["f32", "i32", "bool", "bf16", "u8", "key"]
            .into_iter()
            .filter(|e| *e != words.at(i))
            .collect();
        Some(replaced(
            words.text,
            words.places[i],
            numbers.pick(&others)?,
        ))
    }),
    ("a use renamed", |words, numbers| {
        let uses: Vec<usize> = words
            .where_(|w| is_name(w) && !is_elem(w))
            .into_iter()
            .filter(|&i| {
                i > 0
                    && matches!(
                        words.at(i - 1),
                        "(" | "+" | "-" | "*" | "/" | "@" | "=" | "."
                    )
            })
            .collect();
        let i = *numbers.pick(&uses)?;
        let new = format!("{}_", words.at(i));
        Some(replaced(words.text, words.places[i], &new))
    }),
    ("another number", |words, numbers| {
        let sizes = words.where_(|w| w.chars().all(|c| c.is_ascii_digit()));
        let i = *numbers.pick(&sizes)?;
        let new = numbers.below(1000).to_string();
        Some(replaced(words.text, words.places[i], &new))
    }),
];

/// The lines at which the errors point, and those that their further labels show.
fn lines(checked: &Checked) -> (Vec<usize>, Vec<usize>) {
    let errors = checked
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error);
    let line = |span| checked.sources.line_col(span).0;
    let mut at = Vec::new();
    let mut shown = Vec::new();
    for d in errors {
        let own = |s: &tpuc_lang::span::Span| s.file == FileId(0);
        at.extend(Some(d.primary.span).filter(own).map(line));
        shown.extend(d.secondary.iter().map(|l| l.span).filter(own).map(line));
    }
    (at, shown)
}

/// The types of everything that `main` and the tests print, save and compare, in order.
fn outputs(program: &Program) -> Vec<String> {
    let mut out = Vec::new();
    let scripts = program
        .main
        .iter()
        .chain(program.tests.iter().map(|t| &t.body));
    scripts.for_each(|body| effects(&body.block, &mut out));
    out
}

fn effects(block: &Block, out: &mut Vec<String>) {
    block.stmts.iter().for_each(|s| effect(s, out));
}

fn effect(stmt: &Stmt, out: &mut Vec<String>) {
    let mut value = |e: &Expr| out.push(shapes(&e.ty));
    match &stmt.kind {
        StmtKind::Effect(Effect::Print(pieces)) => pieces.iter().for_each(|p| {
            if let PrintPiece::Value { value: e, .. } = p {
                value(e);
            }
        }),
        StmtKind::Effect(Effect::Save { value: e, .. }) => value(e),
        StmtKind::Effect(Effect::AssertClose {
            actual, expected, ..
        }) => {
            value(actual);
            value(expected);
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => effects(body, out),
        _ => {}
    }
}

/// A type without its elements: a cast that was changed changes them, and nothing is wrong with that.
fn shapes(ty: &Ty) -> String {
    match ty {
        Ty::Tensor(_, shape) => format!("{shape:?}"),
        Ty::Tuple(parts) => format!(
            "({})",
            parts.iter().map(shapes).collect::<Vec<_>>().join(", ")
        ),
        Ty::Record(fields) => {
            let each = fields.iter().map(|(n, t)| format!("{n}: {}", shapes(t)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}

#[derive(Default)]
struct Count {
    wrong: usize,
    at: usize,
    shown: usize,
}

impl Count {
    fn line(&self) -> String {
        let share = |n: usize| n as f64 / self.wrong.max(1) as f64;
        format!(
            "{:4} refused, the error stands on the line for {:.3}, shows it for {:.3}",
            self.wrong,
            share(self.at),
            share(self.shown)
        )
    }
}

/// The share of wrong mutants on whose line an error stands, and of those whose line an error at least shows. In most of
/// the others one use contradicts one declaration, and nothing tells which is wrong.
const AT: f64 = 0.9;
const SHOWN: f64 = 0.95;
const MUTANTS: usize = 600;

#[test]
fn mistakes_are_found_where_they_are() {
    let programs = programs();
    let right: Vec<Vec<String>> = programs
        .iter()
        .map(|(name, text)| {
            let found = checked(name, text, &[]);
            outputs(found.program.as_ref().unwrap_or_else(|| panic!("{name}")))
        })
        .collect();
    let mut numbers = Numbers(1);
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut all = Count::default();
    let mut n = 0;
    while n < MUTANTS {
        let which = numbers.below(programs.len());
        let (name, text) = &programs[which];
        let (kind, change) = KINDS[n % KINDS.len()];
        let Some(mutant) = change(&Words::of(text), &mut numbers) else {
            continue;
        };
        n += 1;
        let found = checked(name, &mutant.text, &[]);
        if let Some(program) = &found.program {
            // Another number is another size.
            if kind != "another number" {
                let line = mutant.text.lines().nth(mutant.line - 1).unwrap_or("");
                let at = format!("{kind}: {name}:{}: {line}", mutant.line);
                assert_eq!(outputs(program), right[which], "{at}");
            }
            continue;
        }
        let (at, shown) = lines(&found);
        assert!(
            !at.is_empty(),
            "an error without a place in {name}, line {}",
            mutant.line
        );
        let hit = at.contains(&mutant.line);
        let seen = hit || shown.contains(&mutant.line);
        if std::env::var_os("MISSES").is_some() && !hit {
            let line = mutant.text.lines().nth(mutant.line - 1).unwrap_or("");
            println!(
                "\n{kind}: {name}:{}: {line}\n{}",
                mutant.line,
                checking::shown(&found)
            );
        }
        for count in [&mut all, counts.entry(kind).or_default()] {
            count.wrong += 1;
            count.at += usize::from(hit);
            count.shown += usize::from(seen);
        }
    }
    for (kind, count) in &counts {
        println!("{kind:36}{}", count.line());
    }
    println!("{:36}{}", "all", all.line());
    assert!(all.wrong > MUTANTS / 2);
    assert!(all.at as f64 >= AT * all.wrong as f64);
    assert!(all.shown as f64 >= SHOWN * all.wrong as f64);
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

/// What doubles with every line is refused, and shown, without doubling.
#[test]
fn what_doubles_is_refused() {
    let chain = |first: &str, line: &dyn Fn(usize) -> String, last: &str| {
        let lines: Vec<String> = (1..=60).map(line).collect();
        format!("{first}\n{}\n{last}\n", lines.join("\n"))
    };
    let programs = [
        chain(
            "fn f(x: f32) -> f32 { let a0 = x;",
            &|i| format!("let a{i} = (a{}, a{});", i - 1, i - 1),
            "x }",
        ),
        chain(
            "type A0 = f32",
            &|i| format!("type A{i} = (A{}, A{})", i - 1, i - 1),
            "fn f(x: A60) -> f32 { 1.0 }",
        ),
        chain(
            "type P[T: tree] = { a: T, b: T }\ntype A0 = f32",
            &|i| format!("type A{i} = P[A{}]", i - 1),
            "",
        ),
        chain(
            "fn two[T: tree](t: T) -> (T, T) { (t, t) }\nmain { let a0 = 1.0;",
            &|i| format!("let a{i} = two(a{});", i - 1),
            "}",
        ),
        chain(
            "fn f(x: f32) -> f32 { let g0 = |v| v * 2.0;",
            &|i| format!("let g{i} = |v| g{}(v) + g{}(v);", i - 1, i - 1),
            "g60(x) }",
        ),
        chain(
            "const C0 = [1.0]",
            &|i| format!("const C{i} = (C{}, C{})", i - 1, i - 1),
            "main { print(C60); }",
        ),
        chain(
            "fn f[N](x: f32[N]) -> f32 { const D0 = N;",
            &|i| format!("const D{i} = D{} / (D{} + 1);", i - 1, i - 1),
            "1.0 }",
        ),
        chain(
            "fn f[N, M](x: f32[N, M]) -> f32 { let a0 = flatten(x);",
            &|i| format!("let a{i} = flatten(outer(a{}, a{}));", i - 1, i - 1),
            "1.0 }",
        ),
    ];
    for text in programs {
        let found = checked("doubling.tl", &text, &[]);
        let errors: Vec<&str> = found
            .diagnostics
            .iter()
            .map(|d| d.code.0)
            .filter(|c| c.starts_with('E'))
            .collect();
        assert!(
            !errors.is_empty() && errors.len() < 100,
            "{errors:?}\n{text}"
        );
        assert!(checking::shown(&found).len() < 1_000_000);
    }
}

/// Chains of any length are followed, or refused, without running out of stack.
#[test]
fn long_chains_do_not_exhaust_the_stack() {
    with_deep_stack(long_chains);
}

fn long_chains() {
    let n = 5000;
    let up = |line: &dyn Fn(usize) -> String| (1..=n).map(line).collect::<Vec<_>>().join("\n");
    let down =
        |line: &dyn Fn(usize) -> String| (1..=n).rev().map(line).collect::<Vec<_>>().join("\n");
    for text in [
        format!(
            "const C0 = 1\n{}\nmain {{ print(C{n}); }}",
            up(&|i| format!("const C{i} = C{} + 1", i - 1))
        ),
        format!(
            "{}\nconst C0 = 1\nmain {{ print(C{n}); }}",
            down(&|i| format!("const C{i} = C{} + 1", i - 1))
        ),
        format!(
            "{}\ntype T0 = f32",
            down(&|i| format!("type T{i} = (T{},)", i - 1))
        ),
        format!(
            "fn f0(x: f32) -> f32 {{ x }}\n{}",
            down(&|i| format!("fn f{i}(x: f32) -> f32 {{ f{}(x) }}", i - 1))
        ),
        format!(
            "fn f(x: f32) -> f32 {{ let g0 = |v| v;\n{}\ng{n}(x) }}",
            up(&|i| format!("let g{i} = |v| g{}(v);", i - 1))
        ),
        format!(
            "fn f(x: f32) -> f32 {{\n{}\nx }}",
            up(&|_| "let x = (x,);".to_string())
        ),
        format!(
            "fn f(x: f32) -> f32 {{\n{}\nx }}",
            up(&|_| "let x = x + 1.0;".to_string())
        ),
        format!("fn f(x: f32) -> f32 {{ x{} }}", " + x".repeat(n)),
        format!(
            "fn f(x: f32) -> f32 {{ if x > 0.0 {{ x }} {} else {{ x }} }}",
            "else if x < 1.0 { x } ".repeat(n)
        ),
    ] {
        let found = checked("long.tl", &text, &[]);
        assert!(
            found.diagnostics.len() <= n + 1,
            "{}",
            found.diagnostics.len()
        );
    }
}
