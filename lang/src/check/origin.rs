//! Where the things that an error is about come from: a label at the declaration of the variable, field or function that
//! stands at the place of the error.

use super::cx::Cx;
use super::scope::Bound;
use super::world::{Item, State};
use crate::ast::TypeExprKind;
use crate::diag::{Diagnostic, Label};
use crate::span::Span;
use crate::typed::Ty;

/// More would hide the error itself.
const MAX_LABELS: usize = 2;

impl Cx<'_, '_> {
    /// Adds labels to an error of types or shapes, unless something near by is offered in place of what is wrong.
    pub fn show_origins(&self, d: &mut Diagnostic) {
        let about_types = ["E03", "E04", "E05"]
            .iter()
            .any(|c| d.code.0.starts_with(c));
        let repaired = d.help.iter().any(|h| h.contains("did you mean"));
        if !about_types || repaired || d.code.0 == "E0401" || self.w.has_many_problems() {
            return;
        }
        // A name in another function is another one.
        let here = |l: &&Label| self.function_at(l.span) == self.function_at(d.primary.span);
        let places = std::iter::once(&d.primary).chain(&d.secondary);
        let places = places.filter(here);
        let found: Vec<(Span, String)> = places
            .filter_map(|label| self.origin(self.text(label.span), d.code.0))
            .collect();
        let mut added = 0;
        for (span, text) in found {
            let shown = std::iter::once(&d.primary).chain(&d.secondary);
            let own = span.file == d.primary.span.file;
            if own
                && added < MAX_LABELS
                && shown.into_iter().all(|l| !self.on_one_line(l.span, span))
            {
                d.secondary.push(Label { span, text });
                added += 1;
            }
        }
    }

    fn function_at(&self, at: Span) -> Option<usize> {
        let holds = |s: Span| s.file == at.file && s.start <= at.start && at.end <= s.end;
        self.w.fns.iter().position(|f| holds(f.span))
    }

    fn on_one_line(&self, a: Span, b: Span) -> bool {
        if a.file != b.file {
            return false;
        }
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        let between = Span {
            start: first.start,
            end: second.start,
            ..first
        };
        !self.text(between).contains('\n')
    }

    /// The declaration of what an expression begins with: `x` of `x[0]`, the field `w` of `p.w`.
    fn origin(&self, text: &str, code: &str) -> Option<(Span, String)> {
        let text = text.trim_start_matches(['-', '!', '(']);
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let path: &str = &text[..text.find(|c| !word(c)).unwrap_or(text.len())];
        let mut names = path.split('.');
        let root = names.next().filter(|n| !n.is_empty())?;
        let Some(bound) = self.scope.peek(root) else {
            // A call, or a function that is passed. Any other word may be the name of something else.
            let rest = text[path.len()..].trim_start();
            let is_function = rest.starts_with('(') || rest.is_empty() && code == "E0307";
            return self.function_origin(root).filter(|_| is_function);
        };
        let (mut at, mut ty) = match &bound.bound {
            Bound::Local(id) => (bound.span, self.infer.ty(self.local_ty(*id))),
            Bound::Function(_) => (bound.span, Ty::Error),
            Bound::Const(..) | Bound::Shape(_) | Bound::Bad => return None,
        };
        let mut name = root;
        for field in names {
            let Ty::Record(fields) = &ty else { break };
            let Some((_, inner)) = fields.iter().find(|(n, _)| **n == *field) else {
                break;
            };
            if let Some(span) = self.field_origin(&ty, field) {
                (at, name) = (span, field);
            }
            ty = inner.clone();
        }
        Some((at, format!("`{name}` is declared here")))
    }

    /// The field in the definition of the type that a record has.
    pub fn field_origin(&self, record: &Ty, field: &str) -> Option<Span> {
        self.w.types.iter().find_map(|item| {
            let State::Done(alias) = &item.resolved else {
                return None;
            };
            let TypeExprKind::Record(fields) = &item.def.ty.kind else {
                return None;
            };
            let (name, _) = fields.iter().find(|(n, _)| *n.node == *field)?;
            (alias.ty == *record).then_some(name.span)
        })
    }

    /// A function of this file that is called: its result is what its head says.
    fn function_origin(&self, name: &str) -> Option<(Span, String)> {
        match self.w.module(self.module).items.get(name)? {
            Item::Fn(id) => {
                let def = self.w.fns[id.0].def;
                let at = def.ret.as_ref().map_or(def.name.span, |r| r.span);
                Some((at, format!("what `{name}` gives is declared here")))
            }
            Item::Const(_) | Item::Type(_) | Item::Module(_) => None,
        }
    }
}
