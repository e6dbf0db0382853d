//! Changes of a program that must not change what becomes of it, and laws that transforms obey.

mod support;

use std::fmt::Write;
use std::path::Path;
use support::composite::{Case, cases, inputs};
use support::generate::{Function, function};
use support::{program, safetensors, tpuc};
use tpuc_compiler::lower::{self, Options};
use tpuc_compiler::opt::cost::device::CPU;
use tpuc_compiler::opt::{Level, optimise};
use tpuc_compiler::passes::{self, Stage};
use tpuc_lang::fmt::format;

/// StableHLO without locations.
fn stablehlo(text: &str, level: Level) -> String {
    let func = program::function(text, "f").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = optimise(&passes::run(Stage::AfterDerivatives, &func), level, &CPU).0;
    let module =
        lower::module(&[&func], Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.to_text(false)
}

/// How many generated programs are changed in each way.
const PROGRAMS: u64 = 16;

#[test]
fn names_order_dead_code_and_layout_leave_the_stablehlo_as_it_is() {
    let mut wrong = Vec::new();
    for seed in 0..PROGRAMS {
        let given = function("f", seed);
        let text = given.text();
        let unused = "{\n    let unused = sin(f32(v1));\n    let also = [unused, unused];\n";
        let changes = [
            ("renamed", renamed(&text)),
            ("reordered", reordered(given)),
            ("with dead code", text.replacen("{\n", unused, 1)),
            (
                "laid out anew",
                format(&text).unwrap_or_else(|_| panic!("it has been parsed\n{text}")),
            ),
            (
                "with spaces and comments",
                text.replace(", ", " ,\n# a comment\n   ")
                    .replace(" = ", "="),
            ),
        ];
        for level in [Level::None, Level::Aggressive] {
            let before = stablehlo(&text, level);
            for (what, changed) in &changes {
                assert_ne!(*changed, text, "{what}");
                let after = stablehlo(changed, level);
                if after != before {
                    wrong.push(format!(
                        "seed {seed} {what} at {level:?}:\n{changed}\n{before}\n{after}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[0]);
}

/// Parts of a function that do not need each other, between what stands before and what stands behind them.
struct Parts {
    before: &'static str,
    apart: &'static [&'static str],
    behind: &'static str,
}

const APART: [Parts; 10] = [
    // Variables of a loop, all of which are asked for behind it.
    Parts {
        before: "fn f(x: f32[4], n: i32) -> f32[4] {",
        apart: &[
            "let mut a = sin(x);",
            "let mut b = cos(x);",
            "let mut c = n;",
        ],
        behind: "for i in 0..5 { let t = a; a = b * 0.5; b = tanh(t) + f32(c); c = c + i; } a - b * f32(c) }",
    },
    // One that only the others need.
    Parts {
        before: "fn f(x: f32[4], n: i32) -> f32[4] {",
        apart: &[
            "let mut a = sin(x);",
            "let mut b = cos(x);",
            "let mut c = x * 2.0;",
        ],
        behind: "for i in 0..5 { a = a + b; b = b * c; c = exp(-c); } a }",
    },
    // What a turn computes, from slices of two arrays.
    Parts {
        before: "fn f(x: f32[6, 4], y: f32[6, 4]) -> f32[4] { let mut a = x[0]; let mut b = y[0]; for i in 0..6 {",
        apart: &[
            "let p = sin(x[i]);",
            "let q = cos(y[i]);",
            "let r = x[i] * y[i];",
        ],
        behind: "a = a * r + q; b = b - p; } a / (1.0 + b * b) }",
    },
    // Assignments in a loop.
    Parts {
        before: "fn f(x: f32[4]) -> f32[4] { let mut a = x; let mut b = x * 2.0; let mut c = x * 3.0; for i in 0..4 { let (p, q) = (a, b);",
        apart: &["a = q + p;", "b = sin(p) * q;", "c = c - p * q;"],
        behind: "} b * a + c }",
    },
    // A loop that turns as long as something holds.
    Parts {
        before: "fn f(x: f32[4]) -> f32[4] {",
        apart: &[
            "let mut n = 0;",
            "let mut a = x * x;",
            "let mut b = exp(x);",
            "let mut s = 1.0;",
        ],
        behind: "while s < 9.0 { a = a + b; b = b * 0.5; s = s + f32(n); n = n + 1; } a }",
    },
    // Branches that change several variables.
    Parts {
        before: "fn f(x: f32[4]) -> f32[4] { let mut a = x; let mut b = x + 1.0; let mut c = 2; if sum(x) > 0.0 {",
        apart: &["a = sin(x);", "b = cos(x);", "c = c + 1;"],
        behind: "} else { b = a * 2.0; } a * f32(c) - b }",
    },
    // Loops beside each other.
    Parts {
        before: "fn f(x: f32[4]) -> f32[4] { let mut a = x; let mut b = x + 1.0;",
        apart: &[
            "for i in 0..3 { a = sin(a) * 2.0; }",
            "for i in 0..3 { b = b * b - x; }",
            "let c = exp(x);",
        ],
        behind: "b / (a * a + c) }",
    },
    // A loop in a loop, differentiated.
    Parts {
        before: "fn g(x: f32[4], w: f32[4]) -> f32 {",
        apart: &[
            "let mut a = sin(x);",
            "let mut b = w;",
            "let mut c = x - w;",
        ],
        behind: "for i in 0..3 { for j in 0..2 { let t = a; a = a * b; b = sin(t) + c; } c = c * a; } sum(a * b) } fn f(x: f32[4], w: f32[4]) -> f32[4] { let (p, q) = grad(g, wrt=(0, 1))(x, w); p - q }",
    },
    // What is computed again in the backward pass, from outside.
    Parts {
        before: "fn g(x: f32[4], v: f32[4], w: f32[4]) -> f32 { let mut h = x; for i in 0..3 { h = checkpoint(|h| {",
        apart: &[
            "let p = sin(h * w);",
            "let q = cos(h + v);",
            "let r = h * x;",
        ],
        behind: "p * q - r })(h); } sum(h) } fn f(x: f32[4], w: f32[4]) -> f32[4] { grad(g)(x, w, w * w) }",
    },
    // Under a batch, with one variable that is mapped and one that is not.
    Parts {
        before: "fn g(x: f32[4], w: f32[4]) -> f32[4] {",
        apart: &["let mut a = sin(x);", "let mut b = w;", "let mut c = 1.0;"],
        behind: "for i in 0..3 { a = a * b + c; b = b * 0.5; c = c + 1.0; } a - b } fn f(x: f32[2, 4], w: f32[4]) -> f32[2, 4] { vmap(g, in=(0, none))(x, w) }",
    },
];

#[test]
fn the_order_of_what_does_not_need_each_other_leaves_the_stablehlo_as_it_is() {
    for Parts {
        before,
        apart,
        behind,
    } in &APART
    {
        let text = |parts: &[&str]| format!("{before} {} {behind}", parts.join(" "));
        for level in [Level::None, Level::Aggressive] {
            let expected = stablehlo(&text(apart), level);
            for order in orders(apart.len()) {
                let parts: Vec<&str> = order.iter().map(|&i| apart[i]).collect();
                let found = stablehlo(&text(&parts), level);
                assert_eq!(found, expected, "{} at {level:?}", text(&parts));
            }
        }
    }
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let shorter = orders(last);
    let with = |order: &Vec<usize>| {
        (0..n)
            .map(|at| [&order[..at], &[last], &order[at..]].concat())
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(with).collect()
}

/// The first two values, of which none needs the other, in the other order.
fn reordered(mut given: Function) -> String {
    given.lets.swap(0, 1);
    given.text()
}

/// Every variable `v1`, `v2`, … under another name.
fn renamed(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let starts = c == 'v' && !before.is_alphanumeric() && before != '_';
        if starts && rest.peek().is_some_and(char::is_ascii_digit) {
            out.push_str("another_");
        }
        out.push(c);
        before = c;
    }
    out
}

/// The gradient of a sum of losses, each with a factor, is the sum of their gradients with the factors.
#[test]
fn gradients_are_linear_in_the_loss() {
    let pairs = |case: &Case| {
        // A function's own derivative need not be linear; those that are have a forward mode too.
        if case.gradient.is_none() || case.tangent.is_none() {
            return Vec::new();
        }
        let name = &case.name;
        let params = case.float_names("").join(", ");
        let at = case.float_names(&format!("data.{name}_")).join(", ");
        let call = case.call();
        let (a, b) = (
            format!("sum({call} * data.{name}_ct)"),
            format!("sum(sin({call}))"),
        );
        let grad = |loss: &str| format!("grad(|{params}| {loss})({at})");
        let together = grad(&format!("2.5 * {a} - 0.75 * {b}"));
        let apart = format!("2.5 * {} - 0.75 * {}", grad(&a), grad(&b));
        vec![(together, apart)]
    };
    laws(&pairs, 5e-5);
}

/// `vmap(f)` of stacked arguments is what `f` gives for each, stacked; the same of its gradient.
#[test]
fn vmap_of_a_stack_is_the_stack_of_the_results() {
    let pairs = |case: &Case| {
        let name = &case.name;
        let names: Vec<&String> = case.params.iter().map(|p| &p.0).collect();
        let integer = |i: usize| case.params[i].1 != "f32";
        let stacks = names.iter().enumerate().map(|(i, p)| match integer(i) {
            true => format!("stack((data.{name}_{p}, data.{name}_{p}, data.{name}_{p}))"),
            false => {
                format!("stack((data.{name}_{p}, data.{name}_{p} * 1.25, data.{name}_{p} * 0.75))")
            }
        });
        let stacks = stacks.collect::<Vec<_>>().join(", ");
        let one = |scale: &str| {
            let args = names.iter().enumerate().map(|(i, p)| match integer(i) {
                true => format!("data.{name}_{p}"),
                false => format!("data.{name}_{p} * {scale}"),
            });
            args.collect::<Vec<_>>().join(", ")
        };
        let each = |f: &str| {
            format!(
                "stack(({f}({}), {f}({}), {f}({})))",
                one("1.0"),
                one("1.25"),
                one("0.75")
            )
        };
        let mut found = vec![(format!("vmap({name})({stacks})"), each(name))];
        if case.gradient.is_some() {
            let first = case
                .params
                .iter()
                .position(|p| p.1 == "f32")
                .expect("a float");
            let params: Vec<String> = names.iter().map(|p| p.to_string()).collect();
            let loss = format!("|{0}| sum({name}({0}) * data.{name}_ct)", params.join(", "));
            let grad = format!("grad({loss}, wrt={first})");
            found.push((format!("vmap({grad})({stacks})"), each(&grad)));
        }
        found
    };
    laws(&pairs, 2e-5);
}

/// One in so many of the composite functions is asked.
const EVERY: usize = 3;

/// Runs both sides of equations about composite functions, in the interpreter, and compares them.
fn laws(pairs: &dyn Fn(&Case) -> Vec<(String, String)>, tolerance: f64) {
    let cases: Vec<Case> = cases().into_iter().step_by(EVERY).collect();
    let folder = tempfile::tempdir().expect("a folder for the program");
    let path = |name: &str| folder.path().join(name);
    let shown = |path: &Path| path.display().to_string();
    let (mut text, mut lets, mut saved, mut names) =
        (String::new(), String::new(), Vec::new(), Vec::new());
    for case in &cases {
        let _ = writeln!(text, "{}\n", case.text);
        for (i, (left, right)) in pairs(case).into_iter().enumerate() {
            let name = format!("{}_{i}", case.name);
            let _ = writeln!(
                lets,
                "    let {name}_l = {left};\n    let {name}_r = {right};"
            );
            saved.push(format!("{name}_l: {name}_l, {name}_r: {name}_r"));
            names.push(name);
        }
    }
    let main = format!(
        "{text}main {{\n    let data = load(\"{}\");\n{lets}    save({{ {} }}, \"{}\");\n}}\n",
        shown(&path("in.safetensors")),
        saved.join(", "),
        shown(&path("out.safetensors"))
    );
    std::fs::write(path("program.tl"), &main).expect("written");
    safetensors::write(&path("in.safetensors"), &inputs(&cases));
    let run = tpuc(&[
        "run",
        &shown(&path("program.tl")),
        "--opt",
        "0",
        "--backend",
        "interp",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found = safetensors::read(&path("out.safetensors"));
    let mut wrong = Vec::new();
    for name in &names {
        let (l, r) = (&found[&format!("{name}_l")], &found[&format!("{name}_r")]);
        let scale = r
            .iter()
            .filter(|x| x.is_finite())
            .fold(1e-2_f64, |m, x| m.max(x.abs()));
        let close = |(l, r): (&f64, &f64)| {
            l == r || l.is_nan() && r.is_nan() || (l - r).abs() <= tolerance * scale
        };
        if l.len() != r.len() || !l.iter().zip(r).all(close) {
            wrong.push(format!("{name}:\n  {l:?}\n  {r:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        names.len(),
        wrong.join("\n")
    );
    assert!(names.len() >= 100, "only {} equations", names.len());
}
