//! Help lines: small repairs that are tried, and offered where they make the code type-check.

use super::cx::Cx;
use super::func::ArgTy;
use super::near::near;
use super::ops::{is_simple, matmul_shape};
use super::poly;
use super::scope::Bound;
use super::shape::{self, same_shape};
use crate::ast::{self, ExprKind as A};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, Expr, Shape, Ty, elements};

impl<'a> Cx<'a, '_> {
    /// What would turn a value of one type into the one expected.
    pub fn mismatch_help(&mut self, expected: &Ty, found: &Ty, span: Span) -> Vec<String> {
        self.name_literals();
        let (Ty::Tensor(want_elem, want), Ty::Tensor(have_elem, have)) = (expected, found) else {
            return Vec::new();
        };
        let text = self.text(span);
        let literal = self.infer.literal_class(have_elem);
        let becomes = |class| self.infer.is(want_elem, class);
        let same_elem = want_elem == have_elem || literal.is_some_and(becomes);
        let mut help = Vec::new();
        if same_shape(want, have) {
            if !same_elem {
                help.extend(self.cast_line(want_elem, have_elem, text));
            }
        } else if same_elem {
            help.extend(self.shape_line(want, have, text));
        }
        help
    }

    /// The same of an argument, if what stands there is the argument.
    pub fn arg_help(&mut self, expected: &Ty, found: &Ty, arg: &ArgTy) -> Vec<String> {
        match arg.itself {
            true => self.mismatch_help(expected, found, arg.span),
            false => Vec::new(),
        }
    }

    pub fn cast_line(&self, to: &ElemTy, from: &ElemTy, text: &str) -> Option<String> {
        let key = ElemTy::Known(Elem::Key);
        let nameable = matches!(to, ElemTy::Known(_) | ElemTy::Param(_));
        if *to == key || *from == key || !nameable {
            return None;
        }
        if *to == ElemTy::Known(Elem::Bool) {
            return Some(format!("compare it: `{text} != 0`"));
        }
        Some(format!("cast it: `{}({text})`", self.names.elem(to)))
    }

    fn shape_line(&self, want: &Shape, have: &Shape, text: &str) -> Option<String> {
        if let [a, b] = have.as_slice()
            && !same_shape(have, want)
            && same_shape(&[b.clone(), a.clone()], want)
        {
            return Some(match text.strip_prefix("transpose(") {
                Some(_) => "it fits without the `transpose`".to_string(),
                None => format!("transpose it: `transpose({text})`"),
            });
        }
        if want.is_empty() && !have.is_empty() {
            return Some(format!(
                "`mean({text})` or `sum({text})` makes one number of it"
            ));
        }
        let (total, wanted) = (elements(have)?, elements(want)?);
        if poly::equal(&total, &wanted) {
            let sizes = self.names.written_shape(want)?;
            return Some(format!("reshape it: `reshape({text}, {sizes})`"));
        }
        let stretched = shape::broadcast(have, want).ok()?;
        let sizes = self.names.written_shape(want)?;
        same_shape(&stretched.shape, want)
            .then(|| format!("stretch it: `broadcast_to({text}, {sizes})`"))
    }

    /// Another field or variable that would fit, a transposition, or the operands the other way round.
    pub fn matmul_help(
        &mut self,
        (l, l_ast): (&Expr, Option<&'a ast::Expr>),
        (r, r_ast): (&Expr, Option<&'a ast::Expr>),
    ) -> Vec<String> {
        self.name_literals();
        let tensor = |x: &Expr| match self.infer.ty(&x.ty) {
            Ty::Tensor(elem, dims) => Some((elem, dims)),
            _ => None,
        };
        let (Some((elem, ls)), Some((_, rs))) = (tensor(l), tensor(r)) else {
            return Vec::new();
        };
        let fits = |ls: &Shape, rs: &Shape| matmul_shape(ls, rs).is_ok();
        let right = self.other_operand(r_ast, r, &elem, |s| s.len() == rs.len() && fits(&ls, s));
        let found = right.or_else(|| {
            self.other_operand(l_ast, l, &elem, |s| s.len() == ls.len() && fits(s, &rs))
        });
        if let Some(line) = found {
            return vec![line];
        }
        let turned = |s: &Shape| match s.as_slice() {
            [a, b] => Some(vec![b.clone(), a.clone()]),
            _ => None,
        };
        let shown = |s: Shape| self.names.plain(&Ty::Tensor(elem.clone(), s));
        if let Some(t) = turned(&rs).filter(|t| fits(&ls, t)) {
            let text = self.text(r.span);
            return vec![format!("`transpose({text})` is {}", shown(t))];
        }
        if let Some(t) = turned(&ls).filter(|t| fits(t, &rs)) {
            let text = self.text(l.span);
            return vec![format!("`transpose({text})` is {}", shown(t))];
        }
        match matmul_shape(&rs, &ls) {
            Ok(shape) => vec![format!(
                "the other way round, `{} @ {}`, it is {}",
                parenthesised(self.text(r.span)),
                parenthesised(self.text(l.span)),
                shown(shape)
            )],
            Err(_) => Vec::new(),
        }
    }

    /// A sibling field, or a variable of a similar name, whose shape fits.
    fn other_operand(
        &self,
        ast: Option<&'a ast::Expr>,
        x: &Expr,
        elem: &ElemTy,
        fits: impl Fn(&Shape) -> bool,
    ) -> Option<String> {
        let is_fit = |ty: &Ty| match self.infer.ty(ty) {
            Ty::Tensor(e, s) => e == *elem && fits(&s),
            _ => false,
        };
        let (name, ty) = match &ast?.kind {
            A::Field(base, name) => {
                let crate::typed::ExprKind::Field(inner, _) = &x.kind else {
                    return None;
                };
                let Ty::Record(fields) = self.infer.ty(&inner.ty) else {
                    return None;
                };
                let candidates: Vec<&(ast::Name, Ty)> = fields
                    .iter()
                    .filter(|(n, t)| *n != name.node && is_fit(t))
                    .collect();
                let nearest = near(&name.node, candidates.iter().map(|(n, _)| &**n));
                let chosen = match nearest {
                    Some(n) => candidates.into_iter().find(|(c, _)| **c == *n),
                    None => candidates.into_iter().next(),
                };
                let (field, ty) = chosen?;
                (format!("{}.{field}", self.text(base.span)), ty.clone())
            }
            A::Name(name) => {
                let candidates: Vec<(&ast::Name, &Ty)> = self
                    .scope
                    .visible()
                    .filter_map(|(n, b)| match b.bound {
                        Bound::Local(id) if n != name => Some((n, self.local_ty(id))),
                        _ => None,
                    })
                    .filter(|(_, t)| is_fit(t))
                    .collect();
                let nearest = near(name, candidates.iter().map(|(n, _)| &***n));
                let chosen = match nearest {
                    Some(n) => candidates.into_iter().find(|(c, _)| ***c == *n),
                    None if candidates.len() == 1 => candidates.into_iter().next(),
                    None => None,
                };
                let (variable, ty) = chosen?;
                (variable.to_string(), ty.clone())
            }
            _ => return None,
        };
        let ty = self.infer.ty(&ty);
        Some(format!(
            "`{name}` is {}; did you mean it?",
            self.names.plain(&ty)
        ))
    }
}

fn parenthesised(text: &str) -> String {
    if is_simple(text) {
        text.to_string()
    } else {
        format!("({text})")
    }
}
