//! Expressions and callees.

use super::{Printer, full_name};
use crate::typed::*;
use std::fmt::Write;

impl<'p> Printer<'p> {
    pub(super) fn list(&mut self, exprs: &[Expr]) {
        for (i, e) in exprs.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(e);
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) {
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

    pub(super) fn fields(&mut self, parts: &[Expr], ty: &Ty) {
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

    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Expr], attrs: &[Attr], ty: &Ty) {
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

    pub(super) fn index(&mut self, positions: &[Expr], attrs: &[Attr]) {
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

    pub(super) fn attr(&self, value: &Static) -> String {
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

    pub(super) fn callees(&mut self, callees: &[Callee]) {
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

    pub(super) fn callee(&mut self, callee: &Callee) {
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

    pub(super) fn transform(&mut self, t: &Transform) {
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

    pub(super) fn generic_arg(&self, arg: &GenericArg) -> String {
        match arg {
            GenericArg::Dim(d) => self.names.plain_dim(d),
            GenericArg::Spread(s) => self.names.shape(s),
            GenericArg::Tree(t) => self.names.plain(t),
            GenericArg::Elem(e) => self.names.elem(e),
        }
    }

    pub(super) fn host(&mut self, host: &Host, ty: &Ty) {
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
