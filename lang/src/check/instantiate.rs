//! Generic parameters at a call: variables for them, what is given explicitly, and what they were found to be.

use super::cx::Cx;
use super::func::ArgTy;
use super::infer::Clash;
use super::problem::{Context, Problem};
use super::subst::has_error;
use super::world::{ItemFn, Signature};
use crate::ast::{GenericKind, IndexArg, Name};
use crate::span::Span;
use crate::typed::{Atom, Callee, Dim, Elem, ElemTy, FnId, Generic, GenericArg, Shape, Ty};
use std::collections::HashMap;
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    /// Fresh variables for the generic parameters, those given explicitly set.
    pub fn instantiate(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        explicit: Option<&'a [IndexArg]>,
        span: Span,
    ) -> Option<Vec<GenericArg>> {
        let given = match explicit {
            Some(explicit) => {
                let name = self.item_name(id);
                let name = name.trim_matches('`');
                self.explicit_args(name, &signature.generics, explicit, span)?
            }
            None => vec![None; signature.generics.len()],
        };
        let pairs = signature.generics.iter().zip(given);
        Some(
            pairs
                .map(|(g, given)| given.unwrap_or_else(|| self.infer.instantiate(g)))
                .collect(),
        )
    }

    /// What brackets in an expression give for each parameter.
    pub fn explicit_args(
        &mut self,
        name: &str,
        generics: &[Generic],
        explicit: &'a [IndexArg],
        span: Span,
    ) -> Option<Vec<Option<GenericArg>>> {
        let mut args = vec![None; generics.len()];
        let mut kinds = generics.iter().map(|g| g.kind);
        let before = kinds.position(|k| k == GenericKind::Spread);
        let fixed = args.len() - usize::from(before.is_some());
        // Without a `..` the last ones may be left to the arguments of the call.
        let found = explicit.len();
        let few = before.is_some_and(|at| found < fixed && found > at);
        if few || before.is_none() && found > fixed {
            self.report(Problem::GenericArgCount {
                span,
                name: name.into(),
                expected: fixed,
                found,
            });
            return None;
        }
        // A `..` takes what is between the others; if that is nothing, it is inferred.
        let (first, rest) = explicit.split_at(before.map_or(found, |at| at.min(found)));
        let (middle, last) = rest.split_at(found.saturating_sub(fixed));
        let last_from = args.len() - last.len();
        let single = first.iter().enumerate();
        let single = single.chain(last.iter().enumerate().map(|(i, g)| (last_from + i, g)));
        for (i, given) in single {
            args[i] = Some(self.explicit_arg(generics[i].kind, given, span)?);
        }
        if let (Some(at), [_, ..]) = (before, middle) {
            args[at] = Some(GenericArg::Spread(self.explicit_shape(middle, span)?));
        }
        Some(args)
    }

    /// The sizes in brackets behind an element type, or those given for a `..S`.
    pub fn explicit_shape(&mut self, given: &'a [IndexArg], span: Span) -> Option<Shape> {
        let parts: Option<Vec<Shape>> = given.iter().map(|g| self.explicit_dims(g, span)).collect();
        Some(parts?.concat())
    }

    /// Dimensions given for a `..S`: a size, `..T`, or a shape of several.
    fn explicit_dims(&mut self, given: &'a IndexArg, span: Span) -> Option<Shape> {
        match given {
            IndexArg::Spread(name) => self.spread(name).map(|s| vec![s]),
            IndexArg::Expr(e) => self.static_shape(e),
            _ => {
                self.report(Problem::TypeForDimension { span });
                None
            }
        }
    }

    fn explicit_arg(
        &mut self,
        kind: GenericKind,
        given: &'a IndexArg,
        span: Span,
    ) -> Option<GenericArg> {
        match (kind, given) {
            (GenericKind::Dim, IndexArg::Expr(e)) => self.size(e).map(GenericArg::Dim),
            (GenericKind::Spread, given) => self.explicit_dims(given, span).map(GenericArg::Spread),
            (GenericKind::Tree, IndexArg::Expr(e)) => self.type_of_expr(e).map(GenericArg::Tree),
            (GenericKind::Tree, IndexArg::Type(t)) => Some(GenericArg::Tree(self.resolve_type(t))),
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, IndexArg::Expr(e)) => {
                let ty = self.type_of_expr(e)?;
                self.elem_arg(kind, ty, e.span)
            }
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, IndexArg::Type(t)) => {
                let ty = self.resolve_type(t);
                self.elem_arg(kind, ty, t.span)
            }
            _ => {
                self.report(Problem::TypeForDimension { span });
                None
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn arg_mismatch(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        generics: &[GenericArg],
        index: usize,
        arg: &ArgTy,
        clash: Clash,
    ) {
        let (span, found) = (arg.span, self.infer.ty(&arg.ty));
        let param = &signature.params[index];
        let solved = self.solved_names(signature, generics);
        let clash = self.in_words_of(&solved, generics, clash);
        let expected = super::subst::Subst::new(&solved)
            .ty(&param.ty)
            .unwrap_or(Ty::Error);
        let actual = super::subst::Subst::new(generics)
            .ty(&param.ty)
            .map_or(Ty::Error, |t| self.infer.ty(&t));
        let mut help = self.arg_help(&actual, &found, arg);
        let class = match clash {
            Clash::Elem => self.open_class(signature, &expected),
            _ => None,
        };
        if let (Clash::Elem, Ty::Tensor(want, _), Ty::Tensor(have, _)) = (&clash, &actual, &found)
            && help.is_empty()
            && arg.itself
        {
            let text = self.text(span);
            help.extend(self.cast_line(want, have, text));
        }
        if let (Some((_, cast)), Ty::Tensor(elem, _)) = (&class, &found)
            && *elem != ElemTy::Known(Elem::Key)
            && arg.itself
        {
            help = vec![format!("cast it: `{cast}({})`", self.text(span))];
        }
        // The parameters still open are shown by their names in the signature.
        let names = super::show::Names {
            generics: open_names(self, signature),
            literals: self.infer.defaults(),
            aliases: self.names.aliases.clone(),
        };
        let context = Context::Arg {
            callee: self.item_name(id),
            param: param.name.clone(),
            definition: param.span,
            shown: match class {
                Some((class, _)) => format!("{} with `{class}`", names.ty(&expected)),
                None => names.ty(&expected),
            },
            itself: arg.itself,
        };
        let own = std::mem::replace(&mut self.names.generics, names.generics);
        self.report(Problem::Mismatch {
            context,
            span,
            expected: actual,
            found,
            clash,
            help,
        });
        self.names.generics = own;
    }

    /// The class of an element parameter that no argument has told yet, as declared, and a cast into it.
    fn open_class(&self, signature: &Signature, expected: &Ty) -> Option<(String, &'static str)> {
        let Ty::Tensor(ElemTy::Param(p), _) = expected else {
            return None;
        };
        let open = (p.0 as usize).checked_sub(self.generics.len())?;
        let g = signature.generics.get(open)?;
        let (class, cast) = match g.kind {
            GenericKind::Float => ("float", "f32"),
            GenericKind::Int => ("int", "i32"),
            GenericKind::Num => ("num", "i32"),
            _ => return None,
        };
        Some((format!("{}: {class}", g.name), cast))
    }

    /// What does not fit, with the signature's own names for the sizes still open.
    fn in_words_of(&self, solved: &[GenericArg], generics: &[GenericArg], clash: Clash) -> Clash {
        let name = |atom: &Atom| {
            let is_it = |arg: &GenericArg| match arg {
                GenericArg::Dim(d) => super::poly::single_atom(d) == Some(atom),
                _ => false,
            };
            match solved.get(generics.iter().position(is_it)?)? {
                GenericArg::Dim(d) => Some(d.clone()),
                _ => None,
            }
        };
        let named = |d: Dim| d.substitute(&name).unwrap_or(d);
        match clash {
            Clash::Inexact(a, b) => Clash::Inexact(named(a), named(b)),
            Clash::Dim(a, b) => Clash::Dim(named(a), named(b)),
            other => other,
        }
    }

    /// The sizes that a parameter takes, for a message: those still open by their names in the signature.
    pub fn shown_shape(
        &self,
        signature: &Signature,
        generics: &[GenericArg],
        index: usize,
    ) -> String {
        let names = super::show::Names {
            generics: open_names(self, signature),
            literals: HashMap::new(),
            aliases: Rc::default(),
        };
        let solved = self.solved_names(signature, generics);
        let shape = signature.params[index].shape.as_ref();
        let shape = shape.and_then(|s| super::subst::Subst::new(&solved).shape(s));
        names.shape(&shape.unwrap_or_default())
    }

    /// The generic arguments for a message: solved sizes with the parameter's name, `B=128`; open ones as parameters.
    fn solved_names(&self, signature: &Signature, generics: &[GenericArg]) -> Vec<GenericArg> {
        let mine = self.generics.len() as u32;
        signature
            .generics
            .iter()
            .zip(generics)
            .enumerate()
            .map(|(i, (g, arg))| {
                let arg = self.infer.generic_arg(arg);
                if !self.infer.is_solved(&arg) {
                    // Numbered after the caller's own parameters, see `open_names`.
                    return super::subst::parameter(
                        g.kind,
                        crate::typed::GenericId(mine + i as u32),
                    );
                }
                match arg {
                    GenericArg::Dim(d) if d.as_int().is_some() => {
                        GenericArg::Dim(d.named(g.name.clone()))
                    }
                    arg => arg,
                }
            })
            .collect()
    }

    /// What the arguments have not told may come from the wanted type.
    pub fn take_hint(
        &mut self,
        signature: &Signature,
        generics: &[GenericArg],
        want: Option<&Ty>,
        since: usize,
    ) {
        if generics.iter().any(|g| !self.infer.is_solved(g))
            && let Some(want) = want
            && let Some(ret) = super::subst::Subst::new(generics).ty(&signature.ret)
        {
            // Only a hint: a clash shows where the result is used.
            let before = self.infer.clone();
            let fits =
                self.infer.unify(&ret, want).is_ok() && self.infer.solve_deferred(since).is_ok();
            if !fits {
                self.infer = before;
            }
        }
    }

    /// Ends a call, whose equations are those deferred since it began: what the arguments did not tell may come from the
    /// wanted type; then nothing may be open.
    pub fn finish_item(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        generics: Vec<GenericArg>,
        want: Option<&Ty>,
        span: Span,
        since: usize,
    ) -> Option<(Callee, Ty)> {
        let name: Name = self.item_name(id).trim_matches('`').into();
        if let Err(clash) = self.infer.solve_deferred(since) {
            let solved = self.solved_names(signature, &generics);
            let clash = self.in_words_of(&solved, &generics, clash);
            let names = open_names(self, signature);
            let own = std::mem::replace(&mut self.names.generics, names);
            self.report(Problem::Deferred {
                span,
                callee: name,
                clash,
            });
            self.names.generics = own;
            return None;
        }
        self.take_hint(signature, &generics, want, since);
        self.infer.drop_deferred(since);
        if let Some(i) = generics.iter().position(|g| !self.infer.is_solved(g)) {
            // A type that could not be read, which may have told it, has been reported.
            if signature.params.iter().any(|p| has_error(&p.ty)) || has_error(&signature.ret) {
                return None;
            }
            self.report(Problem::CannotInfer {
                span,
                param: signature.generics[i].name.clone(),
                callee: name,
                definition: self.w.fns[id.0].def.name.span,
            });
            return None;
        }
        let generics: Vec<GenericArg> =
            generics.iter().map(|g| self.infer.generic_arg(g)).collect();
        self.require_leaves(id, &generics, &name, span);
        let requirements = self.w.fns[id.0].requirements.clone();
        if !self.prove(&requirements, &generics, &name, span) {
            return None;
        }
        let ret = match super::subst::Subst::new(&generics).ty(&signature.ret) {
            Some(ret) => ret,
            None => Ty::Error,
        };
        let id = self.w.fns[id.0].typed.unwrap_or(FnId(u32::MAX));
        Some((Callee::Fn { id, generics }, ret))
    }

    fn require_leaves(&mut self, id: ItemFn, generics: &[GenericArg], name: &Name, span: Span) {
        let requirements = self.w.fns[id.0].requirements.clone();
        for requirement in requirements.iter() {
            let super::require::Need::Leaves(g, class) = requirement.need else {
                continue;
            };
            let Some(GenericArg::Tree(tree)) = generics.get(g.0 as usize) else {
                continue;
            };
            match super::require::wrong_leaf(tree, class, self) {
                Some((path, ty)) => self.report(Problem::Leaves {
                    span,
                    callee: name.clone(),
                    class,
                    path,
                    ty,
                    origin: requirement.span,
                }),
                None => {
                    for (_, leaf) in super::subst::leaves(tree) {
                        if let Ty::Tensor(elem, _) = leaf {
                            let _ = self.infer.require(&elem, class);
                        }
                    }
                }
            }
        }
    }
}

/// Generic names for messages about a signature: the caller's own, then the signature's.
fn open_names(cx: &Cx, signature: &Signature) -> Vec<Name> {
    let mine = cx.generics.iter().map(|g| g.name.clone());
    mine.chain(signature.generics.iter().map(|g| g.name.clone()))
        .collect()
}
