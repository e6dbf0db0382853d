//! The syntax trees and tokens of small programs, source and result together.

mod common;

use common::{errors, side_by_side};
use tpuc_lang::ast::{ExprKind, ItemKind, StmtKind};
use tpuc_lang::dump;
use tpuc_lang::parse;
use tpuc_lang::span::FileId;

fn tree(text: &str) -> String {
    let parsed = parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{}", errors(text));
    dump::ast(&parsed.module)
}

macro_rules! snapshots {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            let text: &str = $text;
            insta::assert_snapshot!(side_by_side(text, &tree(text)));
        }
    )*};
}

snapshots! {
    mnist: include_str!("../../examples/mnist.tl");
    every_form: include_str!("programs/every_form.tl");
    numbers: "main { let a = [12, 1_000, 0xff, 0xFF_ff, 1.0, 1e-3, 1_0.5e1_0, 1E5, inf, nan, -1]; }";
    strings: r#"main { print("", "a{x}b", "{x:.4f}{y:>8,}", "{{}} {{x}}", "\n\t\"\\\u{3bb}", "{f("in {y}")}", "{ {w: 1}.w }", "{x[0:2]}"); }"#;
    precedence: "main {\n    a || b && c == d + e * f ** g;\n    -x ** 2 + 2 ** -1 ** 2;\n    !a && -b.c(d)[e] == f;\n    a - b - c @ d / e % f;\n    (a + b) * c;\n    |x| |y| x + y;\n}";
    tuple_fields: "main { t.0 + t.0.1 + t.0.1.2 + t. 0 . 1 + f(x).1.w.2[0].3; }";
    indices: "main { x[i]; x[a:b]; x[a:b:s]; x[:]; x[::2]; x[:b]; x[a:]; x[-1]; x[.., 0]; x[:, 0]; x[none, ..]; x[i + 1:j * 2, 3,]; f[3](x); f[..S]; f[f32[3], B]; f[fn(f32) -> f32](g); }";
    records_and_blocks: "main { {}; { w }; { w: w }; { w: 1, b: { c: 2, }, }; { let a = 1; a }; let f = |x| { w: x }; let g = |x| { x }; f({ w: 1 }.w, {}); }";
    patterns: "main { let a = x; let _ = x; let (a, b) = x; let (a, (b, _),) = x; let (a,) = x; let () = x; let { w } = x; let { w, b } = x; let { w: (a, _), b: { c } } = x; let mut (a, b): (f32, i32) = x; for (i, { w }) in x { } }";
    lambdas: "main { let f = || 1; let f = | | 1; let f = |x| x; let f = |x, y,| x; let f = |x: f32[3], (a, b): (f32, f32)| x; let f = |{ w, b }| w; let f = |p: { w: f32 }| p.w; map(|a| { a }, |b| -b, t); let g = a || b; }";
    ifs: "fn f(x: f32) -> f32 { if a { b } if a { b } else { c } let y = if a { b } else { c } + 1; if a { 1 } else if b { 2 } else { 3 } }\nfn g() { if a { b; } }\nfn h() { if a { b } else { c }; }";
    statements_without_semicolon: "main { if a { } -x; for i in 0..3 { } (a, b); while c { } [a]; { x } |y| y; { a } { b } }";
    loops: "main { for i in 0..n { } for i in a + 1..b * 2 { } for row in x { } for (a, b) in zip(x, y) { } while i < 3 && !done { i = i + 1; } }";
    assignments: "main { s = s2; s.w = 1; t.0 = 2; s.w.0.b = x; s.a = s.b == c; }";
    constants: "const A = 1\nconst B: i32 = 2;\nmain { const C = A * B; const D: f32 = 1.5; return; }\ntest \"t\" { return; }";
    types: "type A = f32\ntype B[N, T: tree] = { w: f32[N, 784], t: T }\ntype C = (f32, i32[N], ())\ntype D = (f32,)\ntype E = {}\ntype F = fn(f32[N], fn() -> i32) -> (f32, f32)\ntype G = optim.Adam[Params, f32[3], (f32, i32), { w: f32 }, fn() -> f32]\ntype H = f32[2 * N + 1, (A - B) / 2, -C % 3, m.HID, ..S, B @ data, 2 * H @ model, (N)]\ntype I = (f32)\ntype J = f32[]";
    functions: "fn f() { }\nfn g[B, D: float, E: int, F: num, T: tree, ..S](x: D[B, ..S], p: T, lr: f32 = 1e-3, h: fn(f32) -> f32,) -> (D[B], T) { (x, p) }\nfn r(x: f32) -> f32 { x } vjp(x, y, ct) { (ct,) }";
    contextual_words: "import mesh as vjp\nfn as(mesh: f32, vjp: f32) -> f32 { let as = mesh.as + vjp(mesh); as }\nfn vjp() { } vjp() { }\nmesh { data: 4, model: N * 2 }\nmesh { }";
    named_arguments: "main { vmap(f, in=0, out=1); vmap(f, in=(0, none))(x); f(a, b, c=d == e, f=|x| x,); f(); }";
    doc_comments: "## One.\n##  Two.\nfn f() { }\n\n## Not of g.\n\n# plain\nfn g() { }\n## Of h.\n# plain\n##\n## More.\nconst h = 1\n### a ruler\nconst i = 2";
    sharding: "fn f(x: f32[B @ data, 784]) -> f32[B @ data, 10] { shard(x, [data, none]) @ w }";
}

#[test]
fn tokens() {
    let text = "## doc\nfn f(x: f32[3]) { # end\n\tlet µ = \"a{x:.2f}b\"; t.0.1 0..1 1e-3\n}\n";
    insta::assert_snapshot!(side_by_side(text, &dump::tokens(text)));
}

/// Spans are those of the source, in strings too, and parentheses belong to what they enclose.
#[test]
fn spans_are_of_the_source() {
    let text = "main { print(\"é {(a + b):.2f}\"); }";
    let parsed = parse(FileId(0), text);
    let slice = |s: tpuc_lang::span::Span| &text[s.start as usize..s.end as usize];
    let ItemKind::Main(block) = &parsed.module.items[0].kind else {
        panic!("no main");
    };
    assert_eq!(slice(parsed.module.items[0].span), text);
    assert_eq!(slice(block.stmts[0].span), "print(\"é {(a + b):.2f}\");");
    let StmtKind::Expr(call) = &block.stmts[0].kind else {
        panic!("no call");
    };
    let ExprKind::Call { args, .. } = &call.kind else {
        panic!("no call");
    };
    assert_eq!(slice(args[0].span), "\"é {(a + b):.2f}\"");
    let ExprKind::Str(parts) = &args[0].kind else {
        panic!("no string");
    };
    let tpuc_lang::ast::StrPart::Expr(sum, Some(spec)) = &parts[1] else {
        panic!("no expression");
    };
    assert_eq!(slice(sum.span), "(a + b)");
    assert_eq!(slice(spec.span), ".2f");
    let ExprKind::Binary(op, a, b) = &sum.kind else {
        panic!("no sum");
    };
    assert_eq!(
        (slice(a.span), slice(op.span), slice(b.span)),
        ("a", "+", "b")
    );
}
