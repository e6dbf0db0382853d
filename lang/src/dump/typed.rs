//! The checked program as text: every name resolved, every variable with its type, calls complete.
//!
//! It reads like the source. What the checker has put in can be seen: the element type of each literal (`2.0:f32`), the
//! parameters of each call (`relu[D=f32, S=[B, 256]](…)`), the variables that loops and branches carry.

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

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Print(pieces) => {
                self.out.push_str("print(");
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
                let _ = write!(self.out, ", {message:?})");
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

    fn list(&mut self, exprs: &[Expr]) {
        for (i, e) in exprs.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(n) => {
                let _ = write!(self.out, "{n}:{}", self.names.ty(&e.ty));
            }
            ExprKind::Float(x) => {
                let _ = write!(self.out, "{x:?}:{}", self.names.ty(&e.ty));
            }
            ExprKind::Bool(b) => {
                let _ = write!(self.out, "{b}");
            }
            ExprKind::Dim(d) => {
                let _ = write!(
                    self.out,
                    "{}:{}",
                    self.names.plain_dim(d),
                    self.names.ty(&e.ty)
                );
            }
            ExprKind::Local(id) => {
                let name = self.local(*id);
                self.out.push_str(&name);
            }
            ExprKind::Fields(parts) => self.fields(parts, &e.ty),
            ExprKind::Field(inner, i) => {
                self.expr(inner);
                let field = match &inner.ty {
                    Ty::Record(fields) => fields[*i].0.to_string(),
                    _ => i.to_string(),
                };
                let _ = write!(self.out, ".{field}");
            }
            ExprKind::Builtin {
                builtin,
                args,
                attrs,
            } => self.builtin(*builtin, args, attrs, &e.ty),
            ExprKind::Call(callee, args) => {
                self.callee(callee);
                self.out.push('(');
                self.list(args);
                self.out.push(')');
            }
            ExprKind::Function(callee) => self.callee(callee),
            ExprKind::Map { callees, trees } => {
                self.out.push_str("map(");
                self.callees(callees);
                self.out.push_str(", ");
                self.list(trees);
                self.out.push(')');
            }
            ExprKind::Fold {
                callees,
                init,
                tree,
            } => {
                self.out.push_str("fold(");
                self.callees(callees);
                self.out.push_str(", ");
                self.expr(init);
                self.out.push_str(", ");
                self.expr(tree);
                self.out.push(')');
            }
            ExprKind::Scan { callee, init, xs } => {
                self.out.push_str("scan(");
                self.callee(callee);
                self.out.push_str(", ");
                self.expr(init);
                self.out.push_str(", ");
                self.expr(xs);
                self.out.push(')');
            }
            ExprKind::If {
                cond,
                then,
                otherwise,
                assigned,
            } => {
                self.out.push_str("if ");
                self.expr(cond);
                self.carries(assigned);
                self.block(then);
                self.out.push_str(" else ");
                self.block(otherwise);
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Host(host) => self.host(host, &e.ty),
        }
    }

    fn fields(&mut self, parts: &[Expr], ty: &Ty) {
        if let Ty::Record(names) = ty {
            self.out.push_str("{ ");
            for (i, (part, (name, _))) in parts.iter().zip(names).enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                let _ = write!(self.out, "{name}: ");
                self.expr(part);
            }
            self.out.push_str(" }");
            return;
        }
        self.out.push('(');
        self.list(parts);
        if parts.len() == 1 {
            self.out.push(',');
        }
        self.out.push(')');
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], attrs: &[Attr], ty: &Ty) {
        match (builtin, args) {
            (Builtin::Cast, [x]) => {
                if let Ty::Tensor(elem, _) = ty {
                    let _ = write!(self.out, "{}(", self.names.elem(elem));
                }
                self.expr(x);
                self.out.push(')');
            }
            (Builtin::Index, [x, positions @ ..]) => {
                self.expr(x);
                self.index(positions, attrs);
            }
            (Builtin::StackList, items) => {
                self.out.push('[');
                self.list(items);
                self.out.push(']');
            }
            (Builtin::Neg, [x]) => {
                self.out.push('-');
                self.expr(x);
            }
            (Builtin::Not, [x]) => {
                self.out.push('!');
                self.expr(x);
            }
            (op, [a, b]) if op.name().chars().all(|c| c.is_ascii_punctuation()) => {
                self.out.push('(');
                self.expr(a);
                let _ = write!(self.out, " {} ", op.name());
                self.expr(b);
                self.out.push(')');
            }
            _ => {
                let _ = write!(self.out, "{}(", builtin.name());
                self.list(args);
                for (i, attr) in attrs.iter().enumerate() {
                    if i > 0 || !args.is_empty() {
                        self.out.push_str(", ");
                    }
                    let _ = write!(self.out, "{}={}", attr.name, self.attr(&attr.value));
                }
                self.out.push(')');
            }
        }
    }

    fn index(&mut self, positions: &[Expr], attrs: &[Attr]) {
        let mut positions = positions.iter();
        self.out.push('[');
        let items = match attrs.first().map(|a| &a.value) {
            Some(Static::Index(items)) => items.as_slice(),
            _ => &[],
        };
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            match item {
                IndexItem::At(d) => {
                    let shown = self.names.plain_dim(d);
                    self.out.push_str(&shown);
                }
                IndexItem::Tensor => {
                    if let Some(e) = positions.next() {
                        self.expr(e);
                    }
                }
                IndexItem::Range { lo, hi, step } => {
                    let bound = |d: &Option<Dim>| {
                        d.as_ref()
                            .map_or_else(String::new, |d| self.names.plain_dim(d))
                    };
                    let mut text = format!("{}:{}", bound(lo), bound(hi));
                    if step.is_some() {
                        text = format!("{text}:{}", bound(step));
                    }
                    self.out.push_str(&text);
                }
                IndexItem::Rest => self.out.push_str(".."),
                IndexItem::NewAxis => self.out.push_str("none"),
            }
        }
        self.out.push(']');
    }

    fn attr(&self, value: &Static) -> String {
        match value {
            Static::Int(d) => self.names.plain_dim(d),
            Static::Shape(shape) => self.names.shape(shape),
            Static::Bool(b) => b.to_string(),
            Static::Float(x) => format!("{x:?}"),
            Static::Str(s) => format!("{s:?}"),
            Static::Elem(e) => self.names.elem(e),
            Static::Axes(axes) => {
                let each: Vec<&str> = axes
                    .iter()
                    .map(|a| a.as_deref().unwrap_or("none"))
                    .collect();
                format!("[{}]", each.join(", "))
            }
            // Printed by `index`.
            Static::Index(_) => "…".to_string(),
        }
    }

    fn callees(&mut self, callees: &[Callee]) {
        match callees {
            [one] => self.callee(one),
            many => {
                self.out.push('<');
                for (i, callee) in many.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.callee(callee);
                }
                self.out.push('>');
            }
        }
    }

    fn callee(&mut self, callee: &Callee) {
        match callee {
            Callee::Fn { id, generics } => {
                let Some(def) = self.program.fns.get(id.0 as usize) else {
                    return;
                };
                self.out.push_str(&full_name(def));
                if !generics.is_empty() {
                    let each: Vec<String> = def
                        .generics
                        .iter()
                        .zip(generics)
                        .map(|(g, arg)| format!("{}={}", g.name, self.generic_arg(arg)))
                        .collect();
                    let _ = write!(self.out, "[{}]", each.join(", "));
                }
            }
            Callee::Lambda(lambda) => {
                let params: Vec<String> = lambda
                    .params
                    .iter()
                    .map(|p| self.typed_pattern(p))
                    .collect();
                let _ = write!(self.out, "|{}| ", params.join(", "));
                self.expr(&lambda.body);
            }
            Callee::Local(id) => {
                let name = self.local(*id);
                self.out.push_str(&name);
            }
            Callee::Transform(t) => self.transform(t),
        }
    }

    fn transform(&mut self, t: &Transform) {
        let (name, options) = match &t.kind {
            TransformKind::Grad {
                wrt,
                tuple,
                value,
                aux,
            } => {
                let name = if *value { "value_and_grad" } else { "grad" };
                let mut options = String::new();
                let places: Vec<String> = wrt.iter().map(usize::to_string).collect();
                if *tuple {
                    options = format!(", wrt=({})", places.join(", "));
                } else if wrt != &[0] {
                    options = format!(", wrt={}", places.join(", "));
                }
                if *aux {
                    options.push_str(", aux=true");
                }
                (name, options)
            }
            TransformKind::Jvp { .. } => ("jvp", String::new()),
            TransformKind::Vjp { .. } => ("vjp", String::new()),
            TransformKind::Jacobian => ("jacobian", String::new()),
            TransformKind::Hessian => ("hessian", String::new()),
            TransformKind::Vmap { axes, out, size } => {
                let each: Vec<String> = axes
                    .iter()
                    .map(|a| a.map_or("none".to_string(), |a| a.to_string()))
                    .collect();
                let size = self.names.plain_dim(size);
                (
                    "vmap",
                    format!(", in=({}), out={out}, size={size}", each.join(", ")),
                )
            }
            TransformKind::Checkpoint => ("checkpoint", String::new()),
        };
        let _ = write!(self.out, "{name}(");
        self.callee(&t.callee);
        let _ = write!(self.out, "{options})");
    }

    fn generic_arg(&self, arg: &GenericArg) -> String {
        match arg {
            GenericArg::Dim(d) => self.names.plain_dim(d),
            GenericArg::Spread(s) => self.names.shape(s),
            GenericArg::Tree(t) => self.names.plain(t),
            GenericArg::Elem(e) => self.names.elem(e),
        }
    }

    fn host(&mut self, host: &Host, ty: &Ty) {
        let text = match host {
            Host::Dataset { name } => format!("dataset({name:?})"),
            Host::Load { path } => format!("load({path:?})"),
            Host::NumpyPermutations { seed, n, count } => format!(
                "numpy_permutations({seed}, {}, {})",
                self.names.plain_dim(n),
                self.names.plain_dim(count)
            ),
            Host::Time => "time()".to_string(),
        };
        let _ = write!(self.out, "{text}:{}", self.names.plain(ty));
    }
}
