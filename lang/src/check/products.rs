//! Calls of `jvp`, `vjp`, `jacobian` and `hessian`.

use super::cx::Cx;
use super::func::{ArgTy, FnRef};
use super::infer::Class;
use super::problem::{Context, Problem};
use super::subst::{leaves, map_leaves};
use super::transform::{Spec, transformed, with_leading};
use crate::span::Span;
use crate::typed::{Callee, TransformKind as Kind, Ty};

impl<'a> Cx<'a, '_> {
    /// `jvp(f)((a, b), (da, db))` and `vjp(f)((a, b), ct)`.
    pub(super) fn apply_products(
        &mut self,
        spec: &Spec,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
    ) -> Option<(Callee, Ty)> {
        let is_jvp = *spec == Spec::Jvp;
        let name = if is_jvp { "jvp" } else { "vjp" };
        let [primals, other] = args else {
            self.report(Problem::ProductArgs {
                span: at,
                transform: name,
                found: args.len(),
            });
            return None;
        };
        let primal_ty = self.infer.ty(&primals.ty);
        let (types, tuple) = self.unpacked(inner, &primal_ty);
        let each: Vec<ArgTy> = types
            .iter()
            .map(|ty| ArgTy::made_from(ty.clone(), primals.span))
            .collect();
        for arg in &each {
            let has_float = leaves(&arg.ty).iter().any(|(_, t)| match t {
                Ty::Tensor(elem, _) => self.infer.is(elem, Class::Float),
                _ => true,
            });
            if each.len() == 1 || !has_float && is_jvp {
                self.differentiable(name, arg, at)?;
            }
        }
        let (callee, ret) = self.apply(inner, &each, at, None)?;
        let ret = self.infer.ty(&ret);
        let (want, what) = if is_jvp {
            (primal_ty.clone(), "tangents")
        } else {
            (ret.clone(), "cotangent")
        };
        if let Err(clash) = self.infer.unify(&want, &other.ty) {
            let (expected, found) = (self.infer.ty(&want), self.infer.ty(&other.ty));
            let help = self.mismatch_help(&expected, &found, other.span);
            self.report(Problem::Mismatch {
                context: Context::Product { what },
                span: other.span,
                expected,
                found,
                clash,
                help,
            });
            return None;
        }
        let (kind, ty) = if is_jvp {
            (
                Kind::Jvp { tuple },
                Ty::Tuple(vec![ret.clone(), ret.clone()]),
            )
        } else {
            self.no_while(name, &callee, at)?;
            (Kind::Vjp { tuple }, Ty::Tuple(vec![ret.clone(), primal_ty]))
        };
        Some((transformed(kind, callee, types, ret, at), ty))
    }

    /// The arguments that a tuple of primals stands for; a bare value is the only one.
    fn unpacked(&self, inner: &FnRef<'a>, primals: &Ty) -> (Vec<Ty>, bool) {
        match (primals, self.arity(inner)) {
            // A function of one tuple given that tuple itself.
            (Ty::Tuple(parts), Some(1)) if parts.len() != 1 => (vec![primals.clone()], false),
            (Ty::Tuple(parts), _) => (parts.clone(), true),
            _ => (vec![primals.clone()], false),
        }
    }

    pub(super) fn apply_jacobian(
        &mut self,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
    ) -> Option<(Callee, Ty)> {
        let (callee, ret) = self.apply(inner, args, at, None)?;
        let Some(first) = args.first() else {
            self.report(Problem::WrtRange {
                span: at,
                wrt: 0,
                args: 0,
            });
            return None;
        };
        self.differentiable("jacobian", first, at)?;
        let ret = self.infer.ty(&ret);
        let out = ArgTy::made_from(ret.clone(), at);
        self.differentiable("jacobian", &out, at)?;
        self.no_while("jacobian", &callee, at)?;
        let input = self.infer.ty(&first.ty);
        let ty = map_leaves(&ret, &mut |outer| with_leading(&input, outer));
        let types = args.iter().map(|a| self.infer.ty(&a.ty)).collect();
        Some((transformed(Kind::Jacobian, callee, types, ret, at), ty))
    }

    pub(super) fn apply_hessian(
        &mut self,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
    ) -> Option<(Callee, Ty)> {
        let (callee, ret) = self.apply(inner, args, at, None)?;
        self.loss_of("hessian", inner, &ret, false, at)?;
        let Some(first) = args.first() else {
            self.report(Problem::WrtRange {
                span: at,
                wrt: 0,
                args: 0,
            });
            return None;
        };
        self.differentiable("hessian", first, at)?;
        self.no_while("hessian", &callee, at)?;
        let input = self.infer.ty(&first.ty);
        if leaves(&input)
            .iter()
            .any(|(_, t)| matches!(t, Ty::Tree { .. }))
        {
            self.report(Problem::RigidTree {
                span: at,
                what: "hessian",
                ty: input,
            });
            return None;
        }
        let ty = map_leaves(&input, &mut |outer| with_leading(&input, outer));
        let ret = self.infer.ty(&ret);
        let types = args.iter().map(|a| self.infer.ty(&a.ty)).collect();
        Some((transformed(Kind::Hessian, callee, types, ret, at), ty))
    }
}
