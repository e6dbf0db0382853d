//! Functions, `main` and tests: signatures first, then bodies, callees before callers.

use super::cx::{Cx, Place, generics_of, is_bad};
use super::facts::Facts;
use super::infer::Class;
use super::konst::Const;
use super::load::{ModuleId, ROOT};
use super::problem::{Context, Problem};
use super::require::Requirement;
use super::scope::{Binder, Bound};
use super::world::{ItemFn, SigParam, Signature, World};
use crate::ast::{self, GenericKind};
use crate::diag::Severity;
use crate::span::Span;
use crate::typed::{self, Block, Body, FnId, Ty};
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    /// The signature of a function, resolved on first use.
    pub fn signature(&mut self, id: ItemFn) -> Rc<Signature> {
        if let Some(signature) = &self.w.fns[id.0].signature {
            return signature.clone();
        }
        let (def, module) = (self.w.fns[id.0].def, self.w.fns[id.0].module);
        let generics = generics_of(&def.generics);
        let mut cx = Cx::new(&mut *self.w, module, Place::Pure, generics.clone());
        cx.no_duplicates("parameter", def.generics.iter().map(|g| &g.name));
        let mut params: Vec<SigParam> = Vec::new();
        for param in &def.params {
            if let Some(before) = params.iter().find(|p| p.name == param.name.node) {
                let problem = Problem::Duplicate {
                    what: "parameter",
                    name: param.name.node.clone(),
                    span: param.name.span,
                    before: before.span,
                };
                cx.report(problem);
            }
            let (ty, shape) = match &param.ty.kind {
                ast::TypeExprKind::Shape(sizes) => match cx.sizes(sizes) {
                    Some(shape) => (cx.resolve_type(&param.ty), Some(shape)),
                    None => (Ty::Error, None),
                },
                _ => (cx.resolve_type(&param.ty), None),
            };
            let default = param
                .default
                .as_ref()
                .and_then(|e| cx.default_value(e, &ty, &param.name, param.ty.span));
            params.push(SigParam {
                name: param.name.node.clone(),
                ty,
                shape,
                default,
                span: param.name.span,
            });
        }
        let is_told = cx.used_generics.len() == generics.len();
        let ret = match &def.ret {
            Some(t) => cx.value_type(t),
            None => Ty::unit(),
        };
        let needs = std::mem::take(&mut cx.needs);
        let mentioned = std::mem::take(&mut cx.used_generics);
        let signature = Rc::new(Signature {
            generics,
            mentioned,
            is_told,
            params,
            ret,
        });
        let item = &mut self.w.fns[id.0];
        item.signature = Some(signature.clone());
        item.requirements = Rc::new(needs);
        signature
    }

    /// The default of a parameter: a constant of its type.
    fn default_value(
        &mut self,
        e: &'a ast::Expr,
        ty: &Ty,
        name: &ast::Ident,
        at: Span,
    ) -> Option<Const> {
        let context = Context::Const {
            name: name.node.clone(),
            ty: at,
        };
        let value = self.check(e, ty, context);
        if is_bad(&value) {
            return None;
        }
        let known = self.folded(&value);
        if known.is_none() {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "a constant",
            });
        }
        known
    }
}

/// What comes of checking the body of a function.
struct CheckedFn {
    def: typed::FnDef,
    /// Its lambdas that are never called.
    uncalled: Vec<typed::Callee>,
    needs: Vec<Requirement>,
}

impl<'a> World<'a> {
    /// Checks one function; its callees have been. The leaves of a tree may be any numbers where the body allows it, else
    /// they must be floats.
    pub fn check_fn(&mut self, id: ItemFn) {
        let module = self.fns[id.0].module;
        let signature = Cx::new(self, module, Place::Pure, Rc::default()).signature(id);
        let mark = self.diagnostics.len();
        let mut checked = None;
        if signature
            .generics
            .iter()
            .any(|g| g.kind == GenericKind::Tree)
        {
            let body = self.check_body(id, &signature, Class::Num);
            if !self.has_errors_from(mark) {
                checked = Some(body);
            } else {
                // What it found outside, in constants and types, is not found twice.
                let inside = self.fns[id.0].span;
                let within = |s: Span| {
                    s.file == inside.file && s.start >= inside.start && s.end <= inside.end
                };
                let mut found = self.diagnostics.split_off(mark);
                found.retain(|d| !within(d.primary.span));
                self.diagnostics.append(&mut found);
            }
        }
        let checked = checked.unwrap_or_else(|| self.check_body(id, &signature, Class::Float));
        let facts = Facts::of(&checked.def, &self.facts);
        self.facts.push(facts);
        let (keys, problems) = super::keys::of_fn(&checked.def, &self.keys, self.sources);
        self.keys.push(keys);
        self.report_all(problems);
        self.check_uncalled(&checked.uncalled, &checked.def.body.locals);
        self.typed_fns.push(checked.def);
        let item = &mut self.fns[id.0];
        item.requirements = Rc::new(checked.needs);
        item.typed = Some(FnId(self.typed_fns.len() as u32 - 1));
    }

    fn has_errors_from(&self, mark: usize) -> bool {
        let mut found = self.diagnostics[mark..].iter();
        found.any(|d| d.severity == Severity::Error)
    }

    /// Checks the body of a function, taking the leaves of its trees to be of a class.
    fn check_body(&mut self, id: ItemFn, signature: &Signature, leaves: Class) -> CheckedFn {
        let (def, module, span) = {
            let item = &self.fns[id.0];
            (item.def, item.module, item.span)
        };
        let before = self.fns[id.0].requirements.clone();
        let mut cx = Cx::new(self, module, Place::Pure, signature.generics.clone());
        cx.infer.take_leaves_for(leaves);
        for requirement in before.iter() {
            cx.require(requirement.clone());
        }
        for generic in &def.generics {
            cx.lint_shadowed(
                &generic.name.node,
                generic.name.span,
                Binder::Parameter.what(),
            );
        }
        let mark = cx.scope.open();
        let mut params = Vec::new();
        let mut laid_out = Vec::new();
        for (param, written) in signature.params.iter().zip(&def.params) {
            let span = written.name.span;
            let id = cx.local(param.name.clone(), param.ty.clone(), false, span);
            let (name, bound) = (param.name.clone(), param.bound(id));
            match written.ty.kind {
                // `shape: [B, N]` is called as the builtins call theirs, and may hide `shape(x)`.
                ast::TypeExprKind::Shape(_) => cx.scope.bind(name, span, Binder::Parameter, bound),
                _ => cx.bind(name, span, Binder::Parameter, bound),
            }
            params.push(typed::Param {
                local: id,
                name: param.name.clone(),
                ty: param.ty.clone(),
            });
            laid_out.extend(cx.lay_out_param(id, written));
        }
        let ret_span = def.ret.as_ref().map_or(def.name.span, |r| r.span);
        let mut block = cx.body(&def.body, &signature.ret, &def.name.node, ret_span);
        block.stmts.splice(0..0, laid_out);
        if let Some(t) = &def.ret
            && let Some(value) = block.value.take()
        {
            let layout = cx.layout(t);
            block.value = Some(Box::new(cx.laid_out(*value, &layout)));
        }
        let vjp = def.vjp.as_ref().map(|v| cx.own_vjp(def, v, signature));
        cx.scope.close(mark);
        cx.lint_unused();
        cx.used_generics.extend(&signature.mentioned);
        cx.lint_generics(&def.generics);
        let vjp = vjp.map(|(params, mut block)| {
            cx.zonk_block(&mut block);
            typed::Vjp {
                params,
                // Its variables are among those of the function's body.
                body: Body {
                    locals: Vec::new(),
                    block,
                },
            }
        });
        let body = cx.finish(block);
        let uncalled = std::mem::take(&mut cx.uncalled);
        let needs = std::mem::take(&mut cx.needs);
        let module_name = self.module(module).name.clone();
        let def = typed::FnDef {
            name: def.name.node.clone(),
            module: module_name,
            doc: self.fns[id.0].doc.map(str::to_string),
            generics: signature.generics.to_vec(),
            params,
            ret: signature.ret.clone(),
            body,
            vjp,
            span,
        };
        CheckedFn {
            def,
            uncalled,
            needs,
        }
    }

    /// `main` or a test.
    pub fn check_script(&mut self, block: &'a ast::Block) -> Body {
        let mut cx = Cx::new(self, ROOT, Place::Script, Rc::default());
        let mark = cx.infer.mark();
        let (mut out, ty) = cx.block(block, None);
        cx.lint_loop_value(block, &ty);
        if let Some(value) = out.value.take()
            && !is_bad(&value)
        {
            let span = value.span;
            out.stmts.push(typed::Stmt {
                kind: typed::StmtKind::Expr(*value),
                span,
            });
        }
        cx.infer.settle(mark);
        cx.scope.close(0);
        cx.lint_unused();
        let body = cx.finish(out);
        let uncalled = std::mem::take(&mut cx.uncalled);
        let problems = super::keys::of_body(&body, &self.keys, self.sources);
        self.report_all(problems);
        self.check_uncalled(&uncalled, &body.locals);
        body
    }

    /// The keys of lambdas that are never called, each on its own.
    fn check_uncalled(&mut self, lambdas: &[typed::Callee], locals: &[typed::Local]) {
        for lambda in lambdas {
            let problems = super::keys::of_lambda(lambda, locals, &self.keys, self.sources);
            self.report_all(problems);
        }
    }

    fn report_all(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.report(&super::show::Names::default(), problem);
        }
    }

    /// Everything of a module that no function's body leads to.
    pub fn check_module(&mut self, id: ModuleId) {
        let consts: Vec<usize> = (0..self.consts.len())
            .filter(|&i| self.consts[i].module == id)
            .collect();
        let types: Vec<usize> = (0..self.types.len())
            .filter(|&i| self.types[i].module == id)
            .collect();
        let mut cx = Cx::new(self, id, Place::Pure, Rc::default());
        for i in consts {
            let span = cx.w.consts[i].def.name.span;
            cx.const_item(super::world::ConstId(i), span);
        }
        for i in types {
            let span = cx.w.types[i].def.name.span;
            cx.alias(super::world::TypeId(i), span);
        }
    }
}

impl<'a> Cx<'a, '_> {
    /// `vjp(x, y, ct) { … }`: names for the arguments, the result and its cotangent; gives the arguments' cotangents.
    fn own_vjp(
        &mut self,
        def: &'a ast::FnDef,
        vjp: &'a ast::VjpDef,
        signature: &Signature,
    ) -> (Vec<typed::LocalId>, Block) {
        let wanted = signature.params.len() + 2;
        if vjp.params.len() != wanted {
            self.report(Problem::VjpParams {
                span: vjp.span,
                found: vjp.params.len(),
                wanted,
                name: def.name.node.clone(),
            });
            return (Vec::new(), Block::default());
        }
        if signature.params.iter().any(|p| matches!(p.ty, Ty::Fn(..))) {
            self.report(Problem::VjpFunctionParam {
                span: vjp.span,
                name: def.name.node.clone(),
            });
            return (Vec::new(), Block::default());
        }
        self.no_duplicates("parameter", vjp.params.iter());
        let mark = self.scope.open();
        let params = signature.params.iter().map(Some).chain([None, None]);
        let mut locals = Vec::new();
        for (name, param) in vjp.params.iter().zip(params) {
            let ty = param.map_or(&signature.ret, |p| &p.ty).clone();
            let id = self.local(name.node.clone(), ty, false, name.span);
            let bound = param.map_or(Bound::Local(id), |p| p.bound(id));
            self.lint_shadowed(&name.node, name.span, Binder::Parameter.what());
            // Not every rule needs all of them.
            self.scope
                .bind_silently(name.node.clone(), name.span, bound);
            locals.push(id);
        }
        let mut cotangents: Vec<Ty> = signature
            .params
            .iter()
            .map(|p| self.cotangent_of(&p.ty))
            .collect();
        let want = match cotangents.len() {
            1 => cotangents.swap_remove(0),
            _ => Ty::Tuple(cotangents),
        };
        let settle = self.infer.mark();
        let (mut block, _) = self.block(&vjp.body, Some(&want));
        let value = match block.value.take() {
            Some(value) => *value,
            None => super::stmt::unit(vjp.span),
        };
        let value = self.lone_cotangent(value, signature);
        let params = def.name.span;
        let value = self.coerce(value, &want, Context::Cotangent { params });
        self.infer.settle(settle);
        block.value = Some(Box::new(value));
        self.scope.close(mark);
        (locals, block)
    }

    /// The cotangent of a single argument may stand alone, or as a tuple of one.
    fn lone_cotangent(&self, value: typed::Expr, signature: &Signature) -> typed::Expr {
        let is_tuple = |ty: &Ty| matches!(self.infer.head(ty), Ty::Tuple(_));
        match (self.infer.head(&value.ty), signature.params.as_slice()) {
            (Ty::Tuple(mut parts), [param]) if parts.len() == 1 && !is_tuple(&param.ty) => {
                let span = value.span;
                super::composite::project(value, 0, parts.remove(0), span)
            }
            _ => value,
        }
    }

    /// A parameter's own type; `()` for one that has no gradient at all.
    fn cotangent_of(&self, ty: &Ty) -> Ty {
        let has_float = super::subst::leaves(ty).iter().any(|(_, t)| match t {
            Ty::Tensor(elem, _) => self.infer.is(elem, super::infer::Class::Float),
            _ => true,
        });
        if has_float { ty.clone() } else { Ty::unit() }
    }
}
