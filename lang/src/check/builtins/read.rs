//! Reading the arguments of a builtin call: by position and name, each as its parameter's kind says.

use super::args::Given;
use super::{Default, Kind, Param, Row};
use crate::ast::{self, ExprKind as A, Ident};
use crate::check::cx::Cx;
use crate::check::konst::Const;
use crate::check::near::near;
use crate::check::problem::Problem;
use crate::span::Span;
use crate::typed::{Builtin, Dim, Expr, ExprKind, Shape, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    /// Reads the arguments of a call; `None` once something has been reported.
    pub fn read_args(
        &mut self,
        row: &'static Row,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Vec<Given>> {
        let takes_rest = row.params.iter().any(|p| p.kind == Kind::Rest);
        let mut slots: Vec<Option<&'a ast::Expr>> = vec![None; row.params.len()];
        let mut rest: Vec<&'a ast::Expr> = Vec::new();
        let mut ok = true;
        for (i, arg) in args.iter().enumerate() {
            match row.params.get(i) {
                Some(p) if p.kind != Kind::Rest => slots[i] = Some(arg),
                _ if takes_rest => rest.push(arg),
                _ => ok = false,
            }
        }
        let optional = row
            .params
            .iter()
            .filter(|p| p.default != Default::Required)
            .count();
        let callee = format!("`{}`", row.name);
        if !ok {
            self.report(Problem::ArgCount {
                span,
                callee,
                expected: row.params.len(),
                optional,
                found: args.len(),
                missing: Vec::new(),
                definition: None,
            });
            return None;
        }
        for (name, value) in named {
            match row.params.iter().position(|p| *p.name == *name.node) {
                Some(i) if slots[i].is_none() && row.params[i].kind != Kind::Rest => {
                    slots[i] = Some(value);
                }
                Some(_) => {
                    self.report(Problem::ArgTwice {
                        span: name.span,
                        name: name.node.clone(),
                        callee: callee.clone(),
                    });
                    ok = false;
                }
                None => {
                    let known = || row.params.iter().map(|p| p.name);
                    self.report(Problem::UnknownArg {
                        span: name.span,
                        name: name.node.clone(),
                        callee: callee.clone(),
                        near: near(&name.node, known()),
                        known: known().map(Into::into).collect(),
                    });
                    ok = false;
                }
            }
        }
        let missing: Vec<ast::Name> = row
            .params
            .iter()
            .zip(&slots)
            .filter(|(p, s)| s.is_none() && p.default == Default::Required && p.kind != Kind::Rest)
            .map(|(p, _)| p.name.into())
            .collect();
        if !missing.is_empty() {
            self.report(Problem::ArgCount {
                span,
                callee,
                expected: row.params.len(),
                optional,
                found: args.len() + named.len(),
                missing,
                definition: None,
            });
            return None;
        }
        if !ok {
            return None;
        }
        let mut given = Vec::with_capacity(row.params.len());
        let mut failed = false;
        for (param, slot) in row.params.iter().zip(slots) {
            let one = match (param.kind, slot) {
                // A text that was wanted in another place stands here.
                (Kind::Rest, _) if failed && rest.iter().any(|e| matches!(e.kind, A::Str(_))) => {
                    None
                }
                (Kind::Rest, _) => Some(Given::Values(
                    rest.iter().map(|e| self.expr(e, None)).collect(),
                )),
                (kind, Some(e)) => self.read(row, param.name, kind, e),
                (_, None) => self.default_given(param, span),
            };
            match one {
                Some(one) => given.push(one),
                None => failed = true,
            }
        }
        (!failed).then_some(given)
    }

    pub fn default_given(&mut self, param: &Param, span: Span) -> Option<Given> {
        Some(match param.default {
            Default::Required if param.kind == Kind::Rest => Given::Values(Vec::new()),
            Default::Required => return None,
            Default::Absent => Given::Absent,
            Default::Int(n) if param.kind == Kind::Ints => Given::Ints {
                list: vec![Dim::int(n)],
                scalar: true,
            },
            Default::Int(n) => Given::Int(Dim::int(n)),
            Default::Flag(b) => Given::Flag(b),
            Default::Real(x) => Given::Real(x),
            Default::Text(t) => Given::Text(t.into()),
            Default::Literal(x) if x.fract() == 0.0 => {
                Given::Value(self.konst(Const::Int(x as i128), None, span))
            }
            Default::Literal(x) => Given::Value(self.konst(Const::Float(x), None, span)),
        })
    }

    fn read(
        &mut self,
        row: &'static Row,
        name: &'static str,
        kind: Kind,
        e: &'a ast::Expr,
    ) -> Option<Given> {
        Some(match kind {
            Kind::Value | Kind::Rest => Given::Value(self.expr(e, None)),
            Kind::Positions => match &e.kind {
                A::Tuple(items) => {
                    Given::Values(items.iter().map(|i| self.expr(i, None)).collect())
                }
                _ => Given::Values(vec![self.expr(e, None)]),
            },
            Kind::Values => match &e.kind {
                A::Tuple(items) | A::List(items) => {
                    Given::Values(items.iter().map(|i| self.expr(i, None)).collect())
                }
                _ => self.several(e),
            },
            Kind::Int => Given::Int(self.static_dim(e)?),
            Kind::Number => {
                let value = self.expr(e, None);
                match self.const_of(&value) {
                    Some(Const::Float(x)) => Given::Real(x),
                    _ => Given::Int(self.static_dim(e)?),
                }
            }
            Kind::Ints if matches!(e.kind, A::None) => Given::Absent,
            Kind::Ints => Given::Ints {
                scalar: !matches!(e.kind, A::Tuple(_) | A::List(_)),
                list: self.static_ints(e)?,
            },
            Kind::IntsOrValues => self.ints_or_values(e)?,
            Kind::Shape => Given::Shape(self.static_shape(e)?),
            Kind::OpenShape => Given::Shape(self.open_shape(e)?),
            Kind::Pads => Given::Pads(self.pads(e)?),
            Kind::Flag => Given::Flag(self.static_flag(e)?),
            Kind::Real => Given::Real(self.static_float(e)?),
            Kind::Elem => Given::Elem(self.number_elem(e)?),
            Kind::Text => Given::Text(self.text_arg(e)?),
            Kind::TextOrValue => match self.static_text(e) {
                Some(text) => Given::Text(text),
                None => Given::Value(self.expr(e, None)),
            },
            Kind::Padding => match self.static_text(e) {
                Some(text) => Given::Text(text),
                None => Given::Pads(self.pads(e)?),
            },
            Kind::MeshAxes => {
                let _ = (row, name);
                Given::MeshAxes(self.axis_names(e)?)
            }
        })
    }

    /// A tuple value taken apart, or one operand.
    fn several(&mut self, e: &'a ast::Expr) -> Given {
        let value = self.expr(e, None);
        match self.infer.ty(&value.ty) {
            Ty::Tuple(types) => Given::Values(
                types
                    .into_iter()
                    .enumerate()
                    .map(|(i, ty)| crate::check::composite::project(value.clone(), i, ty, e.span))
                    .collect(),
            ),
            _ => Given::Value(value),
        }
    }

    /// Integers that are all known when the program is compiled, or operands.
    fn ints_or_values(&mut self, e: &'a ast::Expr) -> Option<Given> {
        let (given, scalar) = match &e.kind {
            A::Tuple(items) | A::List(items) => {
                let values = items.iter().map(|i| self.expr(i, None)).collect();
                (Given::Values(values), false)
            }
            _ => (self.several(e), true),
        };
        let all_known = match &given {
            Given::Values(values) => !scalar && values.iter().all(|v| self.is_size(v)),
            Given::Value(value) => self.is_size(value),
            _ => false,
        };
        if !all_known {
            return Some(given);
        }
        let list = self.static_ints(e)?;
        Some(Given::Ints { list, scalar })
    }

    /// Whether a value is an integer made of literals, constants and sizes.
    fn is_size(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Builtin { builtin, args, .. } => {
                let is_arithmetic = matches!(
                    builtin,
                    Builtin::Neg | Builtin::Add | Builtin::Sub | Builtin::Mul | Builtin::Div
                );
                is_arithmetic && args.iter().all(|a| self.is_size(a))
            }
            _ => self.const_of(value).is_some_and(|c| c.dim().is_some()),
        }
    }

    /// Sizes with −1 left in for the one to be found.
    fn open_shape(&mut self, e: &'a ast::Expr) -> Option<Shape> {
        let items = match &e.kind {
            A::List(items) | A::Tuple(items) => items.as_slice(),
            A::Unary(..) | A::Int(_) => std::slice::from_ref(e),
            A::Name(_) => match self.inline_list(e) {
                Some((module, list)) => return self.in_module(module, |cx| cx.open_shape(list)),
                None => return self.static_shape(e),
            },
            _ => return self.static_shape(e),
        };
        let sizes = self.each(items, |cx, item| match &item.kind {
            A::Spread(name) => cx.spread(name),
            _ => cx.static_dim(item).map(|d| {
                if d.as_int() != Some(-1) {
                    cx.need_size(&d, item.span);
                }
                ShapeItem::Dim(d)
            }),
        });
        sizes.into_iter().collect()
    }

    fn pads(&mut self, e: &'a ast::Expr) -> Option<Vec<(Dim, Dim)>> {
        let (A::Tuple(items) | A::List(items)) = &e.kind else {
            let d = self.static_dim(e)?;
            return Some(vec![(d.clone(), d)]);
        };
        let nested = items
            .iter()
            .any(|i| matches!(i.kind, A::Tuple(_) | A::List(_)));
        if !nested {
            let both = self.static_ints(e)?;
            return match both.as_slice() {
                [lo, hi] => Some(vec![(lo.clone(), hi.clone())]),
                _ => {
                    self.report(Problem::NotStatic {
                        span: e.span,
                        what: "a padding: `n`, `(low, high)`, or one pair for each dimension",
                    });
                    None
                }
            };
        }
        let mut out = Vec::new();
        for item in items {
            let both = self.static_ints(item)?;
            match both.as_slice() {
                [both] => out.push((both.clone(), both.clone())),
                [lo, hi] => out.push((lo.clone(), hi.clone())),
                _ => {
                    self.report(Problem::NotStatic {
                        span: item.span,
                        what: "a pair of paddings `(low, high)`",
                    });
                    return None;
                }
            }
        }
        Some(out)
    }

    fn axis_names(&mut self, e: &'a ast::Expr) -> Option<Vec<Option<String>>> {
        let (A::Tuple(items) | A::List(items)) = &e.kind else {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "mesh axes, `[data, none]`",
            });
            return None;
        };
        let known = self.mesh_axes();
        let mut out = Vec::new();
        let mut named = Vec::new();
        for item in items {
            if let A::Name(name) = &item.kind {
                named.push((name.clone(), item.span));
            }
            out.push(match &item.kind {
                A::None => None,
                A::Name(name) if known.is_empty() || known.iter().any(|k| **k == **name) => {
                    Some(name.to_string())
                }
                A::Name(name) => {
                    let near = near(name, known.iter().map(String::as_str));
                    self.report(Problem::UnknownName {
                        what: "mesh axis",
                        name: name.clone(),
                        module: None,
                        span: item.span,
                        near,
                    });
                    return None;
                }
                _ => {
                    self.report(Problem::NotStatic {
                        span: item.span,
                        what: "a mesh axis or `none`",
                    });
                    return None;
                }
            });
        }
        self.check_axes_once(&named).then_some(out)
    }

    /// Axes as plain integers.
    pub fn static_axes(&mut self, e: &'a ast::Expr) -> Option<Vec<i64>> {
        let dims = self.static_ints(e)?;
        let numbers: Option<Vec<i64>> = dims.iter().map(Dim::as_int).collect();
        if numbers.is_none() {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "a number",
            });
        }
        numbers
    }
}
