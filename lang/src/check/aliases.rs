//! What the names of types stand for.

use super::cx::{Cx, Place, generics_of};
use super::problem::Problem;
use super::show::Alias;
use super::subst::Subst;
use super::world::{State, TypeId};
use crate::ast::{Ident, TypeArg};
use crate::span::Span;
use crate::typed::{GenericArg, Ty};
use std::collections::HashMap;
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    pub(super) fn alias_type(&mut self, id: TypeId, args: &'a [TypeArg], span: Span) -> Ty {
        let Some(alias) = self.alias(id, span) else {
            return Ty::Error;
        };
        let Some(args) = self.generic_args(&alias.shown, &alias.generics, args, span) else {
            return Ty::Error;
        };
        self.open_alias(&alias, &args, span)
    }

    pub(super) fn open_alias(&mut self, alias: &Alias, args: &[GenericArg], span: Span) -> Ty {
        if args.is_empty() {
            return alias.ty.clone();
        }
        match Subst::new(args).ty(&alias.ty) {
            Some(ty) => ty,
            None => {
                self.report(Problem::Inexact {
                    span,
                    callee: None,
                    text: None,
                });
                Ty::Error
            }
        }
    }

    /// What an alias stands for, resolving it on first use.
    pub fn alias(&mut self, id: TypeId, span: Span) -> Option<Rc<Alias>> {
        let item = &mut self.w.types[id.0];
        match &item.resolved {
            State::Done(alias) => return Some(alias.clone()),
            State::Busy => {
                let problem = Problem::TypeCycle {
                    span,
                    name: item.def.name.node.clone(),
                    definition: item.def.name.span,
                };
                self.report(problem);
                return None;
            }
            State::Open => item.resolved = State::Busy,
        }
        let (def, module) = (item.def, item.module);
        if !self.open_definition(span) {
            self.w.types[id.0].resolved = State::Open;
            return None;
        }
        let generics = generics_of(&def.generics);
        let mut cx = Cx::new(&mut *self.w, module, Place::Pure, generics.clone());
        cx.no_duplicates("parameter", def.generics.iter().map(|g| &g.name));
        let ty = cx.resolve_type(&def.ty);
        cx.lint_generics(&def.generics);
        let shown = def.name.node.to_string();
        let alias = Rc::new(Alias {
            shown,
            generics: generics.to_vec(),
            ty,
        });
        self.close_definition();
        self.w.types[id.0].resolved = State::Done(alias.clone());
        Some(alias)
    }

    /// Reports names that stand twice; whether there are none.
    pub fn no_duplicates<'n>(
        &mut self,
        what: &'static str,
        names: impl Iterator<Item = &'n Ident>,
    ) -> bool {
        let mut first: HashMap<&str, Span> = HashMap::new();
        let mut ok = true;
        for name in names {
            if let Some(&before) = first.get(&*name.node) {
                self.report(Problem::Duplicate {
                    what,
                    name: name.node.clone(),
                    span: name.span,
                    before,
                });
                ok = false;
            } else {
                first.insert(&name.node, name.span);
            }
        }
        ok
    }
}
