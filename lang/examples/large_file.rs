//! How long the checker takes over long files, and how much memory: one line for each kind of file and length.
//!
//! `cargo run --release -p tpuc-lang --example large_file`

use std::time::Instant;
use tpuc_lang::check::{Options, check};
use tpuc_lang::source::{LoadError, LoadedData, Loader};
use tpuc_lang::typed::Ty;

/// There is nothing outside.
struct Nothing;

impl Loader for Nothing {
    fn import(&self, _from: &str, path: &str) -> Result<(String, String), String> {
        Err(path.to_string())
    }

    fn dataset(&self, name: &str) -> Result<Ty, LoadError> {
        self.load(name).map(|loaded| loaded.ty)
    }

    fn load(&self, path: &str) -> Result<LoadedData, LoadError> {
        Err(LoadError {
            code: "E0703",
            message: path.to_string(),
            help: None,
        })
    }
}

/// Functions of ten lines: products, a loop that carries a record, a branch, a lambda.
fn functions(lines: usize) -> String {
    let one = |i: usize| {
        format!(
            "## Number {i}.\nfn g{i}[B](x: f32[B, 784], w: f32[784, 10]) -> f32[B, 10] {{\n    let h = relu(x @ w + 1.0); # layer\n    let mut s = {{ w: h, b: (h, 1) }};\n    for i in 0..10 {{\n        s.w = s.w * 2.0 - h + f32(i + s.b.1);\n    }}\n    if sum(h) > 0.0 {{ s.w }} else {{ map(|a| {{ a }}, h) }}\n}}\n\n"
        )
    };
    (0..lines / 10).map(one).collect()
}

/// One `main` of statements, each of which uses the one before.
fn statements(lines: usize) -> String {
    let one = |i: usize| format!("    let a{} = a{i} * 0.5 + {i}.0;\n", i + 1);
    let body: String = (0..lines - 4).map(one).collect();
    format!(
        "main {{\n    let a0 = 1.0;\n{body}    print(a{});\n}}\n",
        lines - 4
    )
}

/// Constants, each made of the one before.
fn constants(lines: usize) -> String {
    let one = |i: usize| format!("const C{} = C{i} + 1\n", i + 1);
    let chain: String = (0..lines - 2).map(one).collect();
    format!("const C0 = 1\n{chain}main {{ print(C{}); }}\n", lines - 2)
}

/// A record of 9,000 fields, used on every ninth line.
fn wide_record(lines: usize) -> String {
    let fields = 9_000;
    let declared: String = (0..fields)
        .map(|i| format!("    f{i}: f32[{}],\n", i % 7 + 1))
        .collect();
    let made: String = (0..fields)
        .map(|i| format!("    f{i}: ones([{}]),\n", i % 7 + 1))
        .collect();
    let one = |i: usize| match i % 9 {
        0 => format!("    s = s + sum(p.f{}) + g(p);\n", i * 7 % fields),
        _ => format!("    s = s + {i}.0;\n"),
    };
    let uses: String = (0..lines.saturating_sub(2 * fields)).map(one).collect();
    format!(
        "type P = {{\n{declared}}}\nfn g(p: P) -> f32 {{ sum(p.f3) }}\nfn f(p: P) -> f32 {{\n    let mut s = 0.0;\n{uses}    s\n}}\nmain {{\n    let p: P = {{\n{made}}};\n    print(f(p));\n}}\n"
    )
}

/// A mistake on every line.
fn mistakes(lines: usize) -> String {
    let one = |i: usize| format!("fn e{i}(x: f32[{}]) -> f32[{}] {{ x }}\n", i + 1, i + 2);
    (0..lines).map(one).collect()
}

/// The most memory that this process has had, in megabytes; Linux only.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kb| kb / 1024)
}

/// A kind of file: its name, and the text of so many lines.
type Kind = (&'static str, fn(usize) -> String);

fn main() {
    let kinds: [Kind; 5] = [
        ("functions", functions),
        ("statements", statements),
        ("constants", constants),
        ("mistakes", mistakes),
        ("wide record", wide_record),
    ];
    for (name, text) in kinds {
        for lines in [12_500, 25_000, 50_000] {
            let text = text(lines);
            let start = Instant::now();
            let checked = check("large.tl", &text, &Nothing, &Options::default());
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name:11} {:6} lines  {:5} errors  {seconds:6.3} s  peak so far {} MB",
                text.lines().count(),
                checked
                    .diagnostics
                    .iter()
                    .filter(|d| d.code.0.starts_with('E'))
                    .count(),
                peak_memory().map_or("?".to_string(), |mb| mb.to_string()),
            );
        }
    }
}
