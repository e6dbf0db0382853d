//! What only `main` and tests may do: print, save, assert, and take data from the host.

use super::cx::{Cx, Place, bad, is_bad};
use super::func::{FnRef, Form};
use super::infer::Class;
use super::konst::Const;
use super::near::near;
use super::problem::{Context, Problem};
use crate::ast::{self, ExprKind as A, Ident, StrPart};
use crate::parser::format_spec;
use crate::source::LoadedData;
use crate::span::{Span, Spanned};
use crate::typed::{
    Dim, Effect, Elem, ElemTy, Expr, ExprKind, Host, PrintPiece, ShapeItem, Stmt, StmtKind, Ty,
};

impl<'a> Cx<'a, '_> {
    /// Whether a statement is an effect that may stand here.
    pub fn is_effect(&mut self, e: &'a ast::Expr) -> bool {
        match self.effect_form(e) {
            // It changes nothing that a program can see, so it may stand in a pure function.
            Some(Form::Debug) => true,
            // An expression that looks like this is no logarithm either.
            Some(Form::Log) => true,
            Some(_) => self.in_script(),
            None => false,
        }
    }

    fn effect_form(&mut self, e: &'a ast::Expr) -> Option<Form> {
        self.calls_form(e).filter(|form| form.is_effect())
    }

    /// The statement of an effect; nothing where it has been reported.
    pub fn effect(&mut self, e: &'a ast::Expr) -> Option<Stmt> {
        let form = self.effect_form(e)?;
        if form == Form::Log && !self.in_script() {
            self.report(Problem::EffectHere {
                span: e.span,
                name: form.name(),
                place: self.place,
                in_lambda: self.lambda_depth > 0,
            });
            return None;
        }
        let A::Call { args, named, .. } = &e.kind else {
            return None;
        };
        let effect = match form {
            Form::Print | Form::Debug => {
                self.no_named(&FnRef::Form(form, e.span), named);
                let pieces = self.pieces(args);
                pieces.map(match form {
                    Form::Print => Effect::Print,
                    _ => Effect::Debug,
                })
            }
            Form::Save => self.save(args, named, e.span),
            Form::Assert => self.assert(args, named, e.span),
            Form::Log => self.log(args, named, e.span),
            _ => self.assert_close(args, named, e.span),
        }?;
        Some(Stmt {
            kind: StmtKind::Effect(effect),
            span: e.span,
        })
    }

    pub fn arg_count(&mut self, form: Form, wanted: usize, found: usize, span: Span) -> Option<()> {
        if wanted == found {
            return Some(());
        }
        self.arg_count_up_to(form, wanted, 0, found, span);
        None
    }

    fn arg_count_up_to(
        &mut self,
        form: Form,
        expected: usize,
        optional: usize,
        found: usize,
        span: Span,
    ) {
        self.report(Problem::ArgCount {
            span,
            callee: format!("`{}`", form.name()),
            expected,
            optional,
            found,
            missing: Vec::new(),
            definition: None,
        });
    }

    // print and debug.

    fn pieces(&mut self, args: &'a [ast::Expr]) -> Option<Vec<PrintPiece>> {
        let mut pieces = Vec::new();
        let mut ok = true;
        for (i, arg) in args.iter().enumerate() {
            if i > 0 {
                text(&mut pieces, " ");
            }
            match &arg.kind {
                A::Str(parts) => {
                    for part in parts {
                        match part {
                            StrPart::Text(t) => text(&mut pieces, t),
                            StrPart::Expr(e, spec) => {
                                ok &= self.print_value(e, spec.as_ref(), &mut pieces);
                            }
                        }
                    }
                }
                _ => match self.static_text(arg) {
                    Some(t) => text(&mut pieces, &t),
                    None => ok &= self.print_value(arg, None, &mut pieces),
                },
            }
        }
        ok.then_some(pieces)
    }

    fn print_value(
        &mut self,
        e: &'a ast::Expr,
        spec: Option<&Spanned<String>>,
        pieces: &mut Vec<PrintPiece>,
    ) -> bool {
        if spec.is_none()
            && let Some(t) = self.static_text(e)
        {
            text(pieces, &t);
            return true;
        }
        let value = self.expr(e, None);
        if is_bad(&value) {
            return false;
        }
        if let Some(spec) = spec
            && !self.check_spec(&value, spec)
        {
            return false;
        }
        pieces.push(PrintPiece::Value {
            value,
            spec: spec.map(|s| s.node.clone()),
        });
        true
    }

    /// That a format spec fits what it formats: a number, an integer for `d` and `x`, and a float for a precision.
    fn check_spec(&mut self, value: &Expr, spec: &Spanned<String>) -> bool {
        let ty = self.infer.ty(&value.ty);
        let (scalar, is_int) = match &ty {
            Ty::Tensor(elem, dims) => (
                dims.is_empty() && self.infer.is(elem, Class::Num),
                self.infer.is(elem, Class::Int)
                    || self.infer.literal_class(elem) == Some(Class::Num),
            ),
            _ => (false, false),
        };
        let form = format_spec::read(&spec.node);
        let wants_int = form.is_some_and(|f| matches!(f.presentation, Some('d' | 'x')));
        let wants_float = form.is_some_and(|f| f.has_precision && f.presentation.is_none());
        let formats = match () {
            _ if !scalar => "formats a single number",
            _ if wants_int && !is_int => "formats integers",
            _ if wants_float && is_int => "an integer has no precision: add `f`, `e` or `g`",
            _ => return true,
        };
        self.report(Problem::FormatSpec {
            span: spec.span,
            value: value.span,
            spec: spec.node.clone(),
            ty,
            formats,
        });
        false
    }

    // save, assert.

    fn save(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Effect> {
        self.no_named(&FnRef::Form(Form::Save, span), named);
        self.arg_count(Form::Save, 2, args.len(), span)?;
        let value = self.expr(&args[0], None);
        let path = self.text_arg(&args[1])?;
        if is_bad(&value) {
            return None;
        }
        if !path.ends_with(".safetensors") {
            self.report(Problem::SaveFormat {
                span: args[1].span,
                path: path.to_string(),
            });
            return None;
        }
        Some(Effect::Save {
            value,
            path: path.to_string(),
        })
    }

    fn assert(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Effect> {
        self.no_named(&FnRef::Form(Form::Assert, span), named);
        if !matches!(args.len(), 1 | 2) {
            self.arg_count_up_to(Form::Assert, 2, 1, args.len(), span);
            return None;
        }
        let cond = self.condition(&args[0]);
        let message = match args.get(1) {
            Some(e) if matches!(e.kind, A::Str(_)) => self.pieces(std::slice::from_ref(e))?,
            Some(e) => vec![PrintPiece::Text(self.text_arg(e)?.to_string())],
            None => vec![PrintPiece::Text(self.text(args[0].span).to_string())],
        };
        (!is_bad(&cond)).then_some(Effect::Assert { cond, message })
    }

    /// `log(step, loss=l, …)`.
    fn log(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Effect> {
        self.arg_count(Form::Log, 1, args.len(), span)?;
        let step = self.logged("step", &args[0], Class::Int);
        let mut values = Vec::new();
        for (i, (name, value)) in named.iter().enumerate() {
            let twice = named[..i].iter().any(|(n, _)| n.node == name.node);
            if twice || &*name.node == "step" {
                self.report(Problem::ArgTwice {
                    span: name.span,
                    name: name.node.clone(),
                    callee: "`log`".into(),
                });
            }
            let value = self.logged(&name.node, value, Class::Num);
            values.push((name.node.clone(), value));
        }
        let values = values.into_iter().map(|(name, v)| Some((name, v?)));
        let values: Option<Vec<_>> = values.collect();
        Some(Effect::Log {
            step: step?,
            values: values?,
        })
    }

    /// A single number, of a class, that `log` writes.
    fn logged(&mut self, name: &str, e: &'a ast::Expr, class: Class) -> Option<Expr> {
        let value = self.expr(e, None);
        if is_bad(&value) {
            return None;
        }
        let ty = self.infer.ty(&value.ty);
        let fits = match &ty {
            Ty::Tensor(elem, dims) => {
                let literal = self.infer.literal_class(elem);
                let fits = self.infer.is(elem, class) || literal == Some(Class::Num);
                dims.is_empty() && (fits || class == Class::Num && literal.is_some())
            }
            _ => false,
        };
        if !fits {
            self.report(Problem::LogValue {
                span: value.span,
                name: name.into(),
                ty,
                wants_int: class == Class::Int,
            });
        }
        fits.then_some(value)
    }

    fn assert_close(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Effect> {
        let mut tolerance = 1e-5;
        for (name, value) in named {
            if &*name.node == "tol" {
                tolerance = self.static_float(value)?;
            } else {
                self.report(Problem::UnknownArg {
                    span: name.span,
                    name: name.node.clone(),
                    callee: "`assert_close`".into(),
                    near: None,
                    known: vec!["tol".into()],
                });
                return None;
            }
        }
        let args = match args {
            [a, b, tol] if named.is_empty() => {
                tolerance = self.static_float(tol)?;
                [a, b]
            }
            [a, b] => [a, b],
            _ => {
                self.arg_count_up_to(Form::AssertClose, 3, 1, args.len(), span);
                return None;
            }
        };
        let actual = self.expr(args[0], None);
        let want = actual.ty.clone();
        let expected = self.check(args[1], &want, Context::Close { first: actual.span });
        if is_bad(&actual) || is_bad(&expected) {
            return None;
        }
        Some(Effect::AssertClose {
            actual,
            expected,
            tolerance,
        })
    }

    // Data from the host.

    pub fn host_form(
        &mut self,
        form: Form,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let _ = want;
        self.no_named(&FnRef::Form(form, span), named);
        if self.place != Place::Script || self.lambda_depth > 0 {
            self.report(Problem::HostHere {
                span,
                name: form.name(),
            });
            return bad(span);
        }
        let host = match form {
            Form::Dataset => self.dataset(args, span),
            Form::Load => self.load_file(args, span),
            Form::NumpyPermutations => self.permutations(args, span),
            _ => self
                .arg_count(form, 0, args.len(), span)
                .map(|()| (Host::Time, Ty::scalar(Elem::F64))),
        };
        match host {
            Some((host, ty)) => Expr {
                kind: ExprKind::Host(host),
                ty,
                span,
            },
            None => bad(span),
        }
    }

    fn dataset(&mut self, args: &'a [ast::Expr], span: Span) -> Option<(Host, Ty)> {
        self.arg_count(Form::Dataset, 1, args.len(), span)?;
        let name = self.text_arg(&args[0])?;
        match self.w.loader.dataset(&name) {
            Ok(ty) => Some((
                Host::Dataset {
                    name: name.to_string(),
                },
                ty,
            )),
            Err(error) => {
                self.report(Problem::Data {
                    span: args[0].span,
                    error,
                });
                None
            }
        }
    }

    fn load_file(&mut self, args: &'a [ast::Expr], span: Span) -> Option<(Host, Ty)> {
        self.arg_count(Form::Load, 1, args.len(), span)?;
        let path = self.text_arg(&args[0])?;
        match self.w.loader.load(&path) {
            Ok(LoadedData { ty, left_out }) => {
                self.left_out.extend(left_out);
                let path = path.to_string();
                Some((Host::Load { path }, ty))
            }
            Err(error) => {
                self.report(Problem::Data {
                    span: args[0].span,
                    error,
                });
                None
            }
        }
    }

    /// `numpy_permutations(seed, n, count)`: i32[count, n].
    fn permutations(&mut self, args: &'a [ast::Expr], span: Span) -> Option<(Host, Ty)> {
        self.arg_count(Form::NumpyPermutations, 3, args.len(), span)?;
        let seed = self.static_value(&args[0]);
        let n = self.size(&args[1]);
        let count = self.size(&args[2]);
        let seed = match seed?.int().and_then(|s| u64::try_from(s).ok()) {
            Some(seed) => seed,
            None => {
                self.report(Problem::NotStatic {
                    span: args[0].span,
                    what: "a seed, an integer that is not negative",
                });
                return None;
            }
        };
        let (n, count): (Dim, Dim) = (n?, count?);
        let dims = vec![ShapeItem::Dim(count.clone()), ShapeItem::Dim(n.clone())];
        let ty = Ty::Tensor(ElemTy::Known(Elem::I32), dims);
        Some((Host::NumpyPermutations { seed, n, count }, ty))
    }

    /// The constants of `mesh { … }`, with the sizes that the command line gives.
    pub fn mesh_sizes(
        &mut self,
        declared: Option<&'a [(Ident, ast::Expr)]>,
    ) -> Vec<(ast::Name, i64)> {
        let given = self.w.mesh_options.clone();
        let Some(axes) = declared else {
            return given.into_iter().map(|(n, size)| (n.node, size)).collect();
        };
        let mut out = self.declared_mesh(axes);
        for (name, size) in given {
            match out.iter_mut().find(|(n, _)| *n == name.node) {
                Some(axis) => axis.1 = size,
                None => {
                    let near = near(&name.node, axes.iter().map(|(n, _)| &*n.node));
                    self.report(Problem::UnknownName {
                        what: "mesh axis",
                        name: name.node,
                        module: None,
                        span: name.span,
                        near,
                    });
                }
            }
        }
        out
    }

    fn declared_mesh(&mut self, axes: &'a [(Ident, ast::Expr)]) -> Vec<(ast::Name, i64)> {
        let mut out: Vec<(ast::Name, i64)> = Vec::new();
        for (i, (name, size)) in axes.iter().enumerate() {
            if let Some((before, _)) = axes[..i].iter().find(|(n, _)| n.node == name.node) {
                self.report(Problem::Duplicate {
                    what: "mesh axis",
                    name: name.node.clone(),
                    span: name.span,
                    before: before.span,
                });
                continue;
            }
            let known = match self.static_value(size) {
                Some(Const::Int(n)) if n >= 1 => i64::try_from(n).ok(),
                Some(_) => {
                    self.report(Problem::NotStatic {
                        span: size.span,
                        what: "a number of devices, at least 1",
                    });
                    None
                }
                None => None,
            };
            if let Some(n) = known {
                out.push((name.node.clone(), n));
            }
        }
        out
    }
}

fn text(pieces: &mut Vec<PrintPiece>, t: &str) {
    match pieces.last_mut() {
        Some(PrintPiece::Text(last)) => last.push_str(t),
        _ => pieces.push(PrintPiece::Text(t.to_string())),
    }
}
