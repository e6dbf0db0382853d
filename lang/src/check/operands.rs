//! What is wrong with an operand, and what would mend it.

use super::cx::Cx;
use super::infer::Class;
use super::problem::{Operand, Problem};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, Expr, Ty};

impl<'a> Cx<'a, '_> {
    pub fn wrong_class(&mut self, x: &Expr, what: &str, wanted: &'static str) {
        self.wrong_class_beside(x, what, wanted, None);
    }

    /// `other`: the elements of the operator's other operand, which a cast had better agree with.
    pub(super) fn wrong_class_beside(
        &mut self,
        x: &Expr,
        what: &str,
        wanted: &'static str,
        other: Option<&ElemTy>,
    ) {
        let problem = Problem::WrongElem {
            span: x.span,
            what: what.into(),
            wanted,
            found: self.infer.ty(&x.ty),
            help: self.class_help(x, wanted, other),
        };
        self.report(problem);
    }

    fn class_help(&self, x: &Expr, wanted: &str, other: Option<&ElemTy>) -> Option<String> {
        let beside = other.map(|e| self.infer.elem(e));
        let cast = match wanted {
            "a float" => "f32",
            "a number" => match beside {
                Some(ElemTy::Known(e)) if !matches!(e, Elem::Bool | Elem::Key) => e.name(),
                _ => "i32",
            },
            "an integer" => "i32",
            "a bool" => return Some(format!("compare it: `{} != 0`", self.text(x.span))),
            _ => return None,
        };
        let Ty::Tensor(elem, _) = self.infer.ty(&x.ty) else {
            return None;
        };
        match elem {
            ElemTy::Known(Elem::Key) => None,
            ElemTy::Param(_) if wanted != "a number" => {
                let class = if wanted == "a float" { "float" } else { "int" };
                Some(format!(
                    "declare it as `{}: {class}`",
                    self.names.elem(&elem)
                ))
            }
            _ => Some(format!("cast it: `{cast}({})`", self.text(x.span))),
        }
    }

    pub fn operand(&self, x: &Expr) -> Operand {
        Operand {
            span: x.span,
            ty: self.infer.ty(&x.ty),
            text: self.text(x.span).into(),
        }
    }

    /// The cast that makes two operands agree: of the integer to the float, of the narrower to the wider.
    pub fn cast_help(
        &mut self,
        (l, l_span): (&Ty, Span),
        (r, r_span): (&Ty, Span),
    ) -> Option<String> {
        self.name_literals();
        let elem_of = |ty: &Ty| match self.infer.ty(ty) {
            Ty::Tensor(ElemTy::Known(Elem::Key), _) => None,
            Ty::Tensor(elem, _) => Some(elem),
            _ => None,
        };
        let (le, re) = (elem_of(l)?, elem_of(r)?);
        if le == re {
            return None;
        }
        let is_float = |e: &ElemTy| self.infer.is(e, Class::Float);
        // What a parameter stands for is not known: the other is made like it.
        let rank = |e: &ElemTy| match e {
            ElemTy::Known(e) => width(*e),
            ElemTy::Param(_) => u32::MAX,
            ElemTy::LeafOf(_) | ElemTy::Var(_) => 0,
        };
        let (cast, to) = match (is_float(&le), is_float(&re)) {
            (true, false) => (r_span, &le),
            (false, true) => (l_span, &re),
            _ if rank(&le) >= rank(&re) => (r_span, &le),
            _ => (l_span, &re),
        };
        let name = match to {
            ElemTy::LeafOf(_) => return None,
            ElemTy::Var(_) => "f32".to_string(),
            to => self.names.elem(to),
        };
        Some(format!("cast one of them: `{name}({})`", self.text(cast)))
    }
}

/// An order of how much an element type holds, for choosing what to cast.
fn width(e: Elem) -> u32 {
    match e {
        Elem::Bool | Elem::Key => 0,
        Elem::I8 | Elem::U8 => 1,
        Elem::I16 | Elem::U16 => 2,
        Elem::I32 | Elem::U32 => 3,
        Elem::I64 | Elem::U64 => 4,
        Elem::F16 => 5,
        Elem::BF16 => 6,
        Elem::F32 => 7,
        Elem::F64 => 8,
    }
}
