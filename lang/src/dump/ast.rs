//! The syntax tree as nested parentheses: an item or statement a line, every operator in front of its operands.
//!
//! Spans are left out, so that equal programs in different layout have equal dumps.

use crate::ast::*;
use std::fmt::Write;

/// The whole module; the empty string if it has no items.
pub fn ast(module: &Module) -> String {
    let mut p = Printer {
        out: String::new(),
        indent: 0,
    };
    for item in &module.items {
        p.item(item);
        p.out.push('\n');
    }
    p.out
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn each<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(" ");
            }
            put(self, item);
        }
    }

    /// `(word a b)`
    fn list<T>(&mut self, word: &str, items: &[T], mut put: impl FnMut(&mut Self, &T)) {
        let _ = write!(self.out, "({word}");
        for item in items {
            self.put(" ");
            put(self, item);
        }
        self.put(")");
    }

    // ---- Items

    fn item(&mut self, item: &Item) {
        if let Some(doc) = &item.doc {
            let _ = write!(self.out, "(doc {doc:?})");
            self.line();
        }
        match &item.kind {
            ItemKind::Import(import) => {
                self.put("(import ");
                if import.quoted {
                    let _ = write!(self.out, "{:?}", import.path.node);
                } else {
                    self.put(&import.path.node);
                }
                if let Some(alias) = &import.alias {
                    let _ = write!(self.out, " as {}", alias.node);
                }
                self.put(")");
            }
            ItemKind::Const(def) => self.const_def(def),
            ItemKind::Type(def) => {
                let _ = write!(self.out, "(type {}", def.name.node);
                self.generics(&def.generics);
                self.put(" ");
                self.ty(&def.ty);
                self.put(")");
            }
            ItemKind::Fn(def) => self.fn_def(def),
            ItemKind::Main(body) => {
                self.put("(main");
                self.body(body);
                self.put(")");
            }
            ItemKind::Test(def) => {
                let _ = write!(self.out, "(test {:?}", def.name.node);
                self.body(&def.body);
                self.put(")");
            }
            ItemKind::Mesh(axes) => {
                self.list("mesh", axes, |p, (name, size)| p.field(name, size));
            }
        }
    }

    fn const_def(&mut self, def: &ConstDef) {
        let _ = write!(self.out, "(const {} ", def.name.node);
        self.annotation(&def.ty);
        self.expr(&def.value);
        self.put(")");
    }

    fn fn_def(&mut self, def: &FnDef) {
        let _ = write!(self.out, "(fn {}", def.name.node);
        self.generics(&def.generics);
        self.indent += 2;
        for param in &def.params {
            self.line();
            let _ = write!(self.out, "(param {} ", param.name.node);
            self.ty(&param.ty);
            if let Some(default) = &param.default {
                self.put(" = ");
                self.expr(default);
            }
            self.put(")");
        }
        if let Some(ret) = &def.ret {
            self.line();
            self.put("-> ");
            self.ty(ret);
        }
        self.indent -= 2;
        self.body(&def.body);
        if let Some(vjp) = &def.vjp {
            self.indent += 1;
            self.line();
            self.put("(vjp");
            for param in &vjp.params {
                let _ = write!(self.out, " {}", param.node);
            }
            self.body(&vjp.body);
            self.put(")");
            self.indent -= 1;
        }
        self.put(")");
    }

    fn generics(&mut self, generics: &[GenericParam]) {
        if generics.is_empty() {
            return;
        }
        self.put(" [");
        self.each(generics, |p, g| {
            let name = &g.name.node;
            let _ = match g.kind {
                GenericKind::Dim => write!(p.out, "{name}"),
                GenericKind::Spread => write!(p.out, "..{name}"),
                GenericKind::Tree => write!(p.out, "{name}:tree"),
                GenericKind::Float => write!(p.out, "{name}:float"),
                GenericKind::Int => write!(p.out, "{name}:int"),
                GenericKind::Num => write!(p.out, "{name}:num"),
            };
        });
        self.put("]");
    }

    // ---- Types

    /// `: T `, if there is one.
    fn annotation(&mut self, ty: &Option<TypeExpr>) {
        if let Some(ty) = ty {
            self.put(": ");
            self.ty(ty);
            self.put(" ");
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Path { module, name, args } => {
                if let Some(module) = module {
                    let _ = write!(self.out, "{}.", module.node);
                }
                self.put(&name.node);
                if !args.is_empty() {
                    self.put("[");
                    self.each(args, Self::type_arg);
                    self.put("]");
                }
            }
            TypeExprKind::Tuple(items) => {
                self.list("tuple", items, Self::ty);
            }
            TypeExprKind::Record(fields) => {
                self.list("record", fields, |p, (name, ty)| {
                    let _ = write!(p.out, "{}: ", name.node);
                    p.ty(ty);
                });
            }
            TypeExprKind::Fn(params, ret) => {
                self.put("(fn");
                for param in params {
                    self.put(" ");
                    self.ty(param);
                }
                self.put(" -> ");
                self.ty(ret);
                self.put(")");
            }
            TypeExprKind::Shape(sizes) => {
                self.put("[");
                self.each(sizes, Self::type_arg);
                self.put("]");
            }
            TypeExprKind::Error => self.put("(error)"),
        }
    }

    fn type_arg(&mut self, arg: &TypeArg) {
        match arg {
            TypeArg::Dim { size, axis } => {
                self.expr(size);
                if let Some(axis) = axis {
                    let _ = write!(self.out, "@{}", axis.node);
                }
            }
            TypeArg::Spread(name) => {
                let _ = write!(self.out, "..{}", name.node);
            }
            TypeArg::Type(ty) => self.ty(ty),
        }
    }

    // ---- Statements

    /// The statements of a block, each on a line further in.
    fn body(&mut self, block: &Block) {
        self.indent += 1;
        for stmt in &block.stmts {
            self.line();
            self.stmt(stmt);
        }
        if let Some(value) = &block.value {
            self.line();
            self.put("(value ");
            self.expr(value);
            self.put(")");
        }
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let {
                pattern,
                mutable,
                ty,
                value,
            } => {
                self.put(if *mutable { "(let mut " } else { "(let " });
                self.pattern(pattern);
                self.put(" ");
                self.annotation(ty);
                self.expr(value);
                self.put(")");
            }
            StmtKind::Const(def) => self.const_def(def),
            StmtKind::Assign { target, value } => {
                self.put("(= ");
                self.expr(target);
                self.put(" ");
                self.expr(value);
                self.put(")");
            }
            StmtKind::For {
                pattern,
                iter,
                body,
            } => {
                self.put("(for ");
                self.pattern(pattern);
                match iter {
                    ForIter::Range(lo, hi) => {
                        self.put(" (.. ");
                        self.expr(lo);
                        self.put(" ");
                        self.expr(hi);
                        self.put(")");
                    }
                    ForIter::Over(e) => {
                        self.put(" ");
                        self.expr(e);
                    }
                }
                self.body(body);
                self.put(")");
            }
            StmtKind::While { cond, body } => {
                self.put("(while ");
                self.expr(cond);
                self.body(body);
                self.put(")");
            }
            StmtKind::Return(value) => {
                self.put("(return");
                if let Some(value) = value {
                    self.put(" ");
                    self.expr(value);
                }
                self.put(")");
            }
            StmtKind::Expr(e) => {
                self.put("(do ");
                self.expr(e);
                self.put(")");
            }
            StmtKind::Error => self.put("(error)"),
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(name) => self.put(&name.node),
            Pattern::Wild(_) => self.put("_"),
            Pattern::Tuple(items, _) => {
                self.list("tuple", items, Self::pattern);
            }
            Pattern::Record(fields, _) => {
                self.list("record", fields, |p, (name, pattern)| {
                    let _ = write!(p.out, "{}: ", name.node);
                    p.pattern(pattern);
                });
            }
        }
    }

    // ---- Expressions

    fn field(&mut self, name: &Ident, value: &Expr) {
        let _ = write!(self.out, "{}: ", name.node);
        self.expr(value);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            ExprKind::Float(x) => {
                let _ = write!(self.out, "{x:?}");
            }
            ExprKind::Bool(b) => self.put(if *b { "true" } else { "false" }),
            ExprKind::None => self.put("none"),
            ExprKind::Name(name) => self.put(name),
            ExprKind::Str(parts) => {
                self.put("(string");
                for part in parts {
                    self.put(" ");
                    self.str_part(part);
                }
                self.put(")");
            }
            ExprKind::Field(e, name) => {
                self.put("(. ");
                self.expr(e);
                let _ = write!(self.out, " {})", name.node);
            }
            ExprKind::TupleField(e, n) => {
                self.put("(. ");
                self.expr(e);
                let _ = write!(self.out, " {})", n.node);
            }
            ExprKind::Tuple(items) => self.list("tuple", items, Self::expr),
            ExprKind::List(items) => self.list("list", items, Self::expr),
            ExprKind::Spread(name) => {
                let _ = write!(self.out, "..{}", name.node);
            }
            ExprKind::Record(fields) => {
                self.list("record", fields, |p, (name, value)| p.field(name, value));
            }
            ExprKind::Unary(op, e) => {
                self.put(match op {
                    UnaryOp::Neg => "(- ",
                    UnaryOp::Not => "(! ",
                });
                self.expr(e);
                self.put(")");
            }
            ExprKind::Binary(op, a, b) => {
                let _ = write!(self.out, "({} ", op.node.symbol());
                self.expr(a);
                self.put(" ");
                self.expr(b);
                self.put(")");
            }
            ExprKind::Call {
                callee,
                args,
                named,
            } => {
                self.put("(call ");
                self.expr(callee);
                for arg in args {
                    self.put(" ");
                    self.expr(arg);
                }
                for (name, value) in named {
                    let _ = write!(self.out, " {}=", name.node);
                    self.expr(value);
                }
                self.put(")");
            }
            ExprKind::Index(e, args) => {
                self.put("(index ");
                self.expr(e);
                for arg in args {
                    self.put(" ");
                    self.index_arg(arg);
                }
                self.put(")");
            }
            ExprKind::Lambda(params, body) => {
                self.put("(lambda (");
                self.each(params, |p, param| {
                    p.pattern(&param.pattern);
                    if let Some(ty) = &param.ty {
                        p.put(": ");
                        p.ty(ty);
                    }
                });
                self.put(") ");
                self.expr(body);
                self.put(")");
            }
            ExprKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.put("(if ");
                self.expr(cond);
                self.body(then);
                if let Some(otherwise) = otherwise {
                    self.line();
                    self.put("else ");
                    self.expr(otherwise);
                }
                self.put(")");
            }
            ExprKind::Block(block) => {
                self.put("(block");
                self.body(block);
                self.put(")");
            }
            ExprKind::Error => self.put("(error)"),
        }
    }

    fn str_part(&mut self, part: &StrPart) {
        match part {
            StrPart::Text(text) => {
                let _ = write!(self.out, "{text:?}");
            }
            StrPart::Expr(e, spec) => {
                self.put("{");
                self.expr(e);
                if let Some(spec) = spec {
                    let _ = write!(self.out, ":{}", spec.node);
                }
                self.put("}");
            }
        }
    }

    fn index_arg(&mut self, arg: &IndexArg) {
        match arg {
            IndexArg::Expr(e) => self.expr(e),
            IndexArg::Range { lo, hi, step, .. } => {
                self.put("(:");
                for part in [lo, hi, step] {
                    self.put(" ");
                    match part {
                        Some(e) => self.expr(e),
                        None => self.put("_"),
                    }
                }
                self.put(")");
            }
            IndexArg::Rest(_) => self.put(".."),
            IndexArg::Spread(name) => {
                let _ = write!(self.out, "..{}", name.node);
            }
            IndexArg::NewAxis(_) => self.put("none"),
            IndexArg::Type(ty) => self.ty(ty),
        }
    }
}
