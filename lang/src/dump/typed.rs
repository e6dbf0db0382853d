//! The checked program as text: every name resolved, every variable with its type, calls complete.
//!
//! It reads like the source. What the checker has put in can be seen: the element type of each literal (`2.0:f32`), the
//! parameters of each call (`relu[D=f32, S=[B, 256]](…)`), the variables that loops and branches carry.

mod expr;

use crate::ast::{GenericKind, Name};
use crate::check::Names;
use crate::typed::*;
use std::fmt::Write;

/// All functions, `main` and the tests; or only the functions of one name, `step` or `optim.adam`.
pub fn program(program: &Program, only: Option<&str>) -> String {
    let mut out = String::new();
    for def in &program.fns {
        let name = full_name(def);
        if only.is_none_or(|o| *o == *name || *o == *def.name) {
            out.push_str(&function(program, def));
            out.push('\n');
        }
    }
    if only.is_none() {
        for (name, size) in &program.mesh {
            let _ = writeln!(out, "mesh {name}: {size}");
        }
        if let Some(body) = &program.main {
            out.push_str(&script(program, "main", body));
        }
        for test in &program.tests {
            out.push_str(&script(
                program,
                &format!("test {:?}", test.name),
                &test.body,
            ));
        }
    }
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn full_name(def: &FnDef) -> String {
    if def.module.is_empty() {
        def.name.to_string()
    } else {
        format!("{}.{}", def.module, def.name)
    }
}

fn function(program: &Program, def: &FnDef) -> String {
    let names = Names {
        generics: def.generics.iter().map(|g| g.name.clone()).collect(),
        ..Names::default()
    };
    let mut p = Printer::new(program, names, &def.body);
    let generics: Vec<String> = def.generics.iter().map(generic).collect();
    let generics = match generics.as_slice() {
        [] => String::new(),
        list => format!("[{}]", list.join(", ")),
    };
    let params: Vec<String> = def
        .params
        .iter()
        .map(|param| format!("{}: {}", p.local(param.local), p.names.ty(&param.ty)))
        .collect();
    let _ = write!(
        p.out,
        "fn {}{generics}({}) -> {} ",
        full_name(def),
        params.join(", "),
        p.names.ty(&def.ret)
    );
    p.block(&def.body.block);
    if let Some(vjp) = &def.vjp {
        let params: Vec<String> = vjp.params.iter().map(|&id| p.local(id)).collect();
        let _ = write!(p.out, " vjp({}) ", params.join(", "));
        p.block(&vjp.body.block);
    }
    p.out.push('\n');
    p.out
}

fn generic(g: &Generic) -> String {
    match g.kind {
        GenericKind::Dim => g.name.to_string(),
        GenericKind::Spread => format!("..{}", g.name),
        GenericKind::Tree => format!("{}: tree", g.name),
        GenericKind::Float => format!("{}: float", g.name),
        GenericKind::Int => format!("{}: int", g.name),
        GenericKind::Num => format!("{}: num", g.name),
    }
}

fn script(program: &Program, head: &str, body: &Body) -> String {
    let mut p = Printer::new(program, Names::default(), body);
    let _ = write!(p.out, "{head} ");
    p.block(&body.block);
    p.out.push_str("\n\n");
    p.out
}

struct Printer<'p> {
    program: &'p Program,
    names: Names,
    /// Each variable by a name of its own: a number behind those that are not the first of their name.
    locals: Vec<String>,
    types: Vec<Ty>,
    out: String,
    indent: usize,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program, names: Names, body: &Body) -> Self {
        let mut seen: std::collections::HashMap<Name, u32> = std::collections::HashMap::new();
        let locals = body
            .locals
            .iter()
            .map(|l| {
                let n = seen.entry(l.name.clone()).or_default();
                *n += 1;
                match *n {
                    1 => l.name.to_string(),
                    n => format!("{}'{n}", l.name),
                }
            })
            .collect();
        Printer {
            program,
            names,
            locals,
            types: body.locals.iter().map(|l| l.ty.clone()).collect(),
            out: String::new(),
            indent: 0,
        }
    }

    fn local(&self, id: LocalId) -> String {
        self.locals[id.0 as usize].clone()
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    fn block(&mut self, block: &Block) {
        if block.stmts.is_empty() && block.value.is_none() {
            self.out.push_str("{ }");
            return;
        }
        self.out.push('{');
        self.indent += 1;
        for stmt in &block.stmts {
            self.line();
            self.stmt(stmt);
        }
        if let Some(value) = &block.value {
            self.line();
            self.expr(value);
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { pattern, value } => {
                let pattern = self.typed_pattern(pattern);
                let _ = write!(self.out, "let {pattern} = ");
                self.expr(value);
            }
            StmtKind::Assign { local, path, value } => {
                let path: String = path.iter().map(|i| format!(".{i}")).collect();
                let _ = write!(self.out, "{}{path} = ", self.local(*local));
                self.expr(value);
            }
            StmtKind::For {
                pattern,
                iter,
                body,
                carried,
            } => {
                let pattern = self.pattern(pattern);
                let _ = write!(self.out, "for {pattern} in ");
                match iter {
                    ForIter::Range(lo, hi) => {
                        self.expr(lo);
                        self.out.push_str("..");
                        self.expr(hi);
                    }
                    ForIter::Over(e) => self.expr(e),
                    ForIter::Batches(b) => {
                        let _ = write!(self.out, "batches(load({:?}), count={}, ", b.path, b.count);
                        self.expr(&b.key);
                        let _ = write!(self.out, "):{}", self.names.plain(&b.ty));
                    }
                }
                self.carries(carried);
                self.block(body);
            }
            StmtKind::While {
                cond,
                body,
                carried,
            } => {
                self.out.push_str("while ");
                self.expr(cond);
                self.carries(carried);
                self.block(body);
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Effect(effect) => self.effect(effect),
        }
    }

    fn carries(&mut self, carried: &[LocalId]) {
        if carried.is_empty() {
            self.out.push(' ');
            return;
        }
        let names: Vec<String> = carried.iter().map(|&id| self.local(id)).collect();
        let _ = write!(self.out, " carrying {} ", names.join(", "));
    }

    fn pieces(&mut self, pieces: &[PrintPiece]) {
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            match piece {
                PrintPiece::Text(text) => {
                    let _ = write!(self.out, "{text:?}");
                }
                PrintPiece::Value { value, spec } => {
                    self.expr(value);
                    if let Some(spec) = spec {
                        let _ = write!(self.out, " as {spec:?}");
                    }
                }
            }
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Print(pieces) | Effect::Debug(pieces) => {
                let debug = matches!(effect, Effect::Debug(_));
                self.out.push_str(if debug { "debug(" } else { "print(" });
                self.pieces(pieces);
                self.out.push(')');
            }
            Effect::Save { value, path } => {
                self.out.push_str("save(");
                self.expr(value);
                let _ = write!(self.out, ", {path:?})");
            }
            Effect::Assert { cond, message } => {
                self.out.push_str("assert(");
                self.expr(cond);
                self.out.push_str(", ");
                self.pieces(message);
                self.out.push(')');
            }
            Effect::Log { step, values } => {
                self.out.push_str("log(");
                self.expr(step);
                for (name, value) in values {
                    let _ = write!(self.out, ", {name}=");
                    self.expr(value);
                }
                self.out.push(')');
            }
            Effect::AssertClose {
                actual,
                expected,
                tolerance,
            } => {
                self.out.push_str("assert_close(");
                self.expr(actual);
                self.out.push_str(", ");
                self.expr(expected);
                let _ = write!(self.out, ", tol={tolerance:?})");
            }
        }
    }

    fn typed_pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Local(id) => {
                let ty = self.names.ty(&self.types[id.0 as usize]);
                format!("{}: {ty}", self.local(*id))
            }
            Pattern::Wild => "_".to_string(),
            Pattern::Fields(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.typed_pattern(p)).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Local(id) => self.local(*id),
            Pattern::Wild => "_".to_string(),
            Pattern::Fields(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.pattern(p)).collect();
                format!("({})", parts.join(", "))
            }
        }
    }
}
