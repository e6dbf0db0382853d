//! One type where another was expected.

use super::{MaybeHelp, error};
use crate::check::infer::Clash;
use crate::check::problem::{Context, Problem};
use crate::check::show::Names;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::typed::Ty;

#[allow(clippy::too_many_arguments)]
pub fn say(
    p: &Problem,
    n: &Names,
    context: &Context,
    span: Span,
    expected: &Ty,
    found: &Ty,
    clash: &Clash,
    help: &[String],
) -> Diagnostic {
    let (want, have) = (n.ty(expected), n.ty(found));
    let d = match context {
        Context::Let { ty } => error(
            p,
            "the value does not have the declared type",
            span,
            format!("this is {have}"),
        )
        .label(*ty, format!("declared as {want}")),
        Context::Const { name, ty } => error(
            p,
            format!("`{name}` does not have the declared type"),
            span,
            format!("this is {have}"),
        )
        .label(*ty, format!("declared as {want}")),
        Context::Return { name, ty } => error(
            p,
            format!("`{name}` gives another type than it declares"),
            span,
            format!("this is {have}"),
        )
        .label(*ty, format!("declared to give {want}")),
        Context::Arg {
            callee,
            param,
            definition,
            shown,
            itself,
        } => {
            let is_position = param.chars().all(|c| c.is_ascii_digit());
            let which = if is_position {
                format!("argument {param} of {callee}")
            } else {
                format!("argument `{param}` of {callee}")
            };
            error(
                p,
                format!("{which} has the wrong type"),
                span,
                match itself {
                    true => format!("this is {have}, expected {shown}"),
                    false => format!("here it gets {have}, expected {shown}"),
                },
            )
            .label(
                *definition,
                match is_position {
                    true => format!("takes {shown}"),
                    false => format!("`{param}` is declared here"),
                },
            )
        }
        Context::LambdaParam { ty } => error(
            p,
            "the lambda is given another type than it declares",
            span,
            format!("gives {have}"),
        )
        .label(*ty, format!("declared as {want}")),
        Context::Field { name, declared } => {
            let d = error(
                p,
                format!("the field `{name}` has the wrong type"),
                span,
                format!("this is {have}, expected {want}"),
            );
            match declared {
                Some(at) => d.label(*at, format!("`{name}` is declared here")),
                None => d,
            }
        }
        Context::Assign {
            name,
            definition,
            in_loop: true,
        } => error(
            p,
            format!("`{name}` changes its type in the loop"),
            span,
            format!("becomes {have}"),
        )
        .label(*definition, format!("{want} before the loop"))
        .note("a variable carried from round to round keeps one type: the loop is compiled once"),
        Context::Assign {
            name, definition, ..
        } => error(
            p,
            format!("`{name}` is assigned another type"),
            span,
            format!("this is {have}"),
        )
        .label(*definition, format!("`{name}` is {want}")),
        Context::Carry { what, init } => error(
            p,
            format!("the value carried by `{what}` changes its type"),
            span,
            format!("the function gives {have}"),
        )
        .label(*init, format!("{want} at the start")),
        Context::Element { first } => error(
            p,
            "the elements of a list have different types",
            span,
            format!("this is {have}"),
        )
        .label(*first, format!("the first is {want}")),
        Context::Bound => error(p, "a loop counts in i32", span, format!("this is {have}")),
        Context::Operand { what } => error(
            p,
            format!("an argument of `{what}` has the wrong type"),
            span,
            format!("this is {have}, expected {want}"),
        ),
        Context::Product { what } => error(
            p,
            match *what {
                "tangents" => "the tangents must have the types of the primals",
                _ => "the cotangent must have the type of the result",
            },
            span,
            format!("this is {have}, expected {want}"),
        ),
        Context::Close { first } => error(
            p,
            "`assert_close` compares values of one type",
            span,
            format!("this is {have}"),
        )
        .label(*first, want.clone()),
        Context::Cotangent { params } => error(
            p,
            "the `vjp` block must give the cotangents of the arguments",
            span,
            format!("this is {have}, expected {want}"),
        )
        .label(*params, "one for each argument, of its type"),
    };
    let detail = detail(n, expected, found, clash);
    let d = match detail {
        Some(text) => d.note(text),
        None => d,
    };
    d.all(help)
}

/// What exactly differs, where the two types do not show it at a glance.
fn detail(n: &Names, expected: &Ty, found: &Ty, clash: &Clash) -> Option<String> {
    match (expected, found) {
        (Ty::Record(x), Ty::Record(y)) => {
            let missing: Vec<&str> = x
                .iter()
                .filter(|(name, _)| y.iter().all(|(m, _)| m != name))
                .map(|(name, _)| &**name)
                .collect();
            let extra: Vec<&str> = y
                .iter()
                .filter(|(name, _)| x.iter().all(|(m, _)| m != name))
                .map(|(name, _)| &**name)
                .collect();
            if !missing.is_empty() {
                return Some(format!("missing: `{}`", missing.join("`, `")));
            }
            if !extra.is_empty() {
                return Some(format!("not expected: `{}`", extra.join("`, `")));
            }
            let differs = x.iter().zip(y).find(|((m, s), (o, t))| m != o || s != t);
            differs.map(|((name, s), (other, t))| {
                if name == other {
                    format!("field `{name}`: expected {}, found {}", n.ty(s), n.ty(t))
                } else {
                    "the fields stand in another order".to_string()
                }
            })
        }
        (Ty::Tuple(x), Ty::Tuple(y)) if x.len() == y.len() && x.len() > 1 => {
            let differs = x.iter().zip(y).position(|(s, t)| s != t)?;
            Some(format!(
                "part {differs}: expected {}, found {}",
                n.ty(&x[differs]),
                n.ty(&y[differs])
            ))
        }
        _ => match clash {
            Clash::Inexact(a, b) => Some(format!(
                "no whole number makes {} equal to {}",
                n.dim(a),
                n.dim(b)
            )),
            _ => None,
        },
    }
}
