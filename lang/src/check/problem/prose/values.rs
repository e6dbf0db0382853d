//! Calls, fields, elements, statements: the rest of `E03xx`.

use super::{MaybeHelp, count, did_you_mean, elsewhere, error};
use crate::ast::GenericKind;
use crate::check::infer::{Clash, Class};
use crate::check::problem::Problem;
use crate::check::show::Names;
use crate::diag::Diagnostic;
use crate::typed::Ty;

pub fn say(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    match p {
        P::ArgCount {
            span,
            callee,
            expected,
            optional,
            found,
            missing,
            definition,
        } => {
            let takes = match optional {
                0 => count(*expected, "argument"),
                n => format!("{} to {}", expected - n, count(*expected, "argument")),
            };
            let message = format!("{callee} takes {takes}, {found} given");
            let label = match missing.as_slice() {
                [] if found > expected => "too many".to_string(),
                [] => "too few".to_string(),
                names => format!("missing `{}`", names.join("`, `")),
            };
            let d = error(p, message, *span, label);
            match definition {
                Some(at) => d.label(*at, "defined here"),
                None => d,
            }
        }
        P::ArgTwice { span, name, callee } => error(
            p,
            format!("the argument `{name}` of {callee} is given twice"),
            *span,
            "again here",
        ),
        P::UnknownArg {
            span,
            name,
            callee,
            near,
            known,
        } => {
            let d = error(
                p,
                format!("{callee} has no parameter `{name}`"),
                *span,
                "unknown here",
            );
            match (near, known.as_slice()) {
                (Some(_), _) => d.maybe(did_you_mean(near)),
                (None, []) => d.help("give its arguments by position"),
                (None, known) => d.help(format!("it has `{}`", known.join("`, `"))),
            }
        }
        P::NoField {
            span,
            name,
            base,
            ty,
            near,
        } => no_field(p, n, *span, name, *base, ty, near),
        P::NoTupleField { span, index, ty } => error(
            p,
            format!("there is no part {index}"),
            *span,
            match ty {
                Ty::Tuple(parts) => format!("{} has {}", n.ty(ty), count(parts.len(), "part")),
                _ => format!("{} is not a tuple", n.ty(ty)),
            },
        ),
        P::NotATensor { span, what, ty } => {
            let d = error(
                p,
                format!("{what} takes tensors"),
                *span,
                format!("this is {}", n.ty(ty)),
            );
            match ty {
                Ty::Record(_) | Ty::Tuple(_) | Ty::Tree { .. } => {
                    d.help("`map(|a, b| …, t, u)` works on trees leaf by leaf")
                }
                _ => d,
            }
        }
        P::NotAScalar { span, what, ty } => error(
            p,
            format!("`{what}` needs a scalar here"),
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::NotAVector { span, what, ty } => error(
            p,
            format!("`{what}` needs a vector here"),
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::NotAMatrix { span, what, ty } => error(
            p,
            format!("`{what}` needs a matrix"),
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::NotSquare { span, what, ty } => error(
            p,
            format!("`{what}` needs a square matrix"),
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::NotATree { span, ty } => error(
            p,
            "this is not a tree of tensors",
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::WrongElem {
            span,
            what,
            wanted,
            found,
            help,
        } => error(
            p,
            format!("{} needs {wanted}", quoted(what)),
            *span,
            format!("this is {}", n.ty(found)),
        )
        .maybe(help.clone()),
        P::NotIndexable { span, ty } => error(
            p,
            "only tensors are indexed",
            *span,
            format!("this is {}", n.ty(ty)),
        )
        .maybe(match ty {
            Ty::Tuple(_) => Some("the parts of a tuple are `t.0`, `t.1`, …".into()),
            Ty::Record(_) => Some("the fields of a record are `r.name`".into()),
            _ => None,
        }),
        P::BadIndex {
            span,
            ty,
            is_bool,
            text,
        } => {
            let d = error(
                p,
                "an index is an integer, a range or a tensor of integers",
                *span,
                match ty {
                    Some(ty) => format!("this is {}", n.ty(ty)),
                    None => "cannot stand in an index".to_string(),
                },
            );
            match (is_bool, ty) {
                (true, _) => d.help(
                    "a mask gives no static shape: `where(mask, x, 0)`, or `nonzero(mask, size=N)`",
                ),
                (false, Some(Ty::Tensor(..))) => d.help(format!("cast it: `i32({text})`")),
                _ => d,
            }
        }
        P::CannotInfer {
            span,
            param,
            callee,
            definition,
        } => error(
            p,
            format!("cannot infer `{param}` of `{callee}`"),
            *span,
            format!("nothing here says what `{param}` is"),
        )
        .label(*definition, format!("`{param}` is a parameter of it"))
        .help(format!("give it explicitly: `{callee}[…](…)`")),
        P::Deferred {
            span,
            callee,
            clash,
        } => error(
            p,
            format!("the arguments of `{callee}` do not agree"),
            *span,
            match clash {
                Clash::Dim(a, b) | Clash::Inexact(a, b) => {
                    format!("{} against {}", n.dim(a), n.dim(b))
                }
                _ => "their types differ".to_string(),
            },
        ),
        P::NotStatic { span, what } => error(
            p,
            format!("expected {what} here"),
            *span,
            "not known at compile time, or of another kind",
        ),
        P::BranchesDiffer {
            first,
            first_span,
            second,
            second_span,
            help,
        } => error(
            p,
            "the branches of `if` have different types",
            *second_span,
            format!("this is {}", n.ty(second)),
        )
        .label(*first_span, format!("this is {}", n.ty(first)))
        .maybe(help.clone()),
        P::IfWithoutElse { span, ty } => error(
            p,
            "an `if` without `else` has no value",
            *span,
            format!("it would be {} only sometimes", n.ty(ty)),
        )
        .help("add an `else`, or end the value with `;`"),
        P::NotACondition { span, ty, text } => condition(p, n, *span, ty, text),
        P::LiteralRange { span, value, ty } => error(
            p,
            format!("{value} does not fit in {}", n.ty(ty)),
            *span,
            "out of range for this type",
        ),
        P::BecomesInfinite { span, ty } => error(
            p,
            format!("this number is too large for {}", n.ty(ty)),
            *span,
            "becomes infinity",
        )
        .help("infinity is written `inf`; a larger number fits in another type: `f64(…)`"),
        P::PatternMismatch { span, parts, ty } => error(
            p,
            "the pattern does not fit the value",
            *span,
            match ty {
                Ty::Tuple(types) => format!(
                    "{} for {} of {}",
                    count(*parts, "name"),
                    count(types.len(), "part"),
                    n.ty(ty)
                ),
                _ => format!("the value is {}", n.ty(ty)),
            },
        ),
        P::NotCallable { span, ty, what } => error(
            p,
            "this is not a function",
            *span,
            match ty {
                Some(ty) => format!("it is {}", n.ty(ty)),
                None => format!("it is {what}"),
            },
        ),
        P::TreesDiffer {
            span,
            first_span,
            first,
            other,
        } => error(
            p,
            "`map` needs trees of one structure",
            *span,
            format!("this is {}", n.ty(other)),
        )
        .label(*first_span, format!("this is {}", n.ty(first))),
        P::LeafResult { span, ty } => error(
            p,
            "the function of `map` must give a tensor for each leaf",
            *span,
            format!("it gives {}", n.ty(ty)),
        ),
        P::Leaves {
            span,
            callee,
            class,
            path,
            ty,
            origin,
        } => error(
            p,
            match class {
                Class::Float => format!("`{callee}` needs a tree of floats"),
                _ => format!("`{callee}` needs a tree of numbers"),
            },
            *span,
            match path.as_str() {
                "" => format!("this is {}", n.ty(ty)),
                path => format!("`{path}` is {}", n.ty(ty)),
            },
        )
        .label(*origin, "it computes with the leaves here"),
        P::ReturnHere { span, in_loop } => error(
            p,
            match in_loop {
                true => "`return` cannot leave a loop",
                false => "`return` cannot stand here",
            },
            *span,
            match in_loop {
                true => "loops run to their end",
                false => "only in the statements of a function, and in branches of `if` there",
            },
        )
        .help(match in_loop {
            true => "assign the result to a `let mut` variable, and return it after the loop",
            false => "let the expression itself be the value",
        }),
        P::MissingValue {
            span,
            name,
            ret,
            dropped,
        } => {
            let d = error(
                p,
                format!("`{name}` ends without a value"),
                dropped.unwrap_or(*span),
                format!("must give {}", n.ty(ret)),
            );
            match dropped {
                Some(_) => d.help("remove the `;` after the last expression"),
                None => d,
            }
        }
        P::TooManyReturns { span, name } => error(
            p,
            format!("`{name}` has too many ways to return"),
            *span,
            "what follows each of them is compiled again",
        )
        .help("use `if … else` with a value"),
        P::EmptyList { span } => error(p, "an empty list has no type", *span, "no elements")
            .help("`zeros([0])` makes an empty tensor"),
        P::GenericArgCount {
            span,
            name,
            expected,
            found,
        } => error(
            p,
            format!(
                "`{name}` takes {}, {found} given",
                count(*expected, "parameter")
            ),
            *span,
            "in the brackets",
        ),
        P::TypeForDimension { span } => error(
            p,
            "expected a dimension, found a type",
            *span,
            "a size stands here",
        ),
        P::DimensionForType { span } => error(
            p,
            "expected a type, found a dimension",
            *span,
            "a type stands here",
        ),
        P::ElemArg { span, kind, found } => error(
            p,
            match kind {
                GenericKind::Float => "expected a float element type",
                GenericKind::Int => "expected an integer element type",
                _ => "expected an element type of numbers",
            },
            *span,
            format!("this is {}", n.ty(found)),
        ),
        P::NoInstantiation { span } => error(
            p,
            "only a `fn` takes parameters in brackets",
            *span,
            "not a generic function",
        ),
        P::OneOfTexts {
            span,
            what,
            found,
            known,
        } => error(
            p,
            format!("`{what}` cannot be \"{found}\""),
            *span,
            format!("one of \"{}\"", known.join("\", \"")),
        ),
        P::ExtremeOfTwo { span, name } => error(
            p,
            format!("`{name}` of two arguments has no axis"),
            *span,
            "of two it compares element by element, of one it reduces",
        )
        .help(format!("reduce one of them first: `{name}(x, axis=0)`")),
        P::MatrixNorm { span } => error(
            p,
            "another `ord` than 2 is for vectors",
            *span,
            "give the one axis of the vectors with `axis=`",
        ),
        P::Rate { span, rate } => error(
            p,
            format!("the rate {rate} is not between 0 and 1"),
            *span,
            "the share of elements that are dropped",
        ),
        P::ZeroStep { span } => error(p, "a step of 0", *span, "it would never end"),
        P::BitcastWidth { span, from, to } => error(
            p,
            format!("`bitcast` from {} to {}", n.ty(from), n.ty(to)),
            *span,
            "the elements must have the same number of bits",
        ),
        _ => elsewhere(p),
    }
}

/// `what` in backquotes, unless it has them.
fn quoted(what: &str) -> String {
    if what.contains('`') {
        what.to_string()
    } else {
        format!("`{what}`")
    }
}

fn no_field(
    p: &Problem,
    n: &Names,
    span: crate::span::Span,
    name: &str,
    base: crate::span::Span,
    ty: &Ty,
    near: &Option<String>,
) -> Diagnostic {
    let d = match ty {
        Ty::Record(fields) => {
            let known: Vec<&str> = fields.iter().map(|(f, _)| &**f).collect();
            let d = error(
                p,
                format!("no field `{name}` in {}", n.ty(ty)),
                span,
                "unknown field",
            );
            match near {
                Some(_) => d.maybe(did_you_mean(near)),
                None => d.help(format!("it has `{}`", known.join("`, `"))),
            }
        }
        Ty::Tree { .. } => error(
            p,
            format!("no field `{name}`: this can be any tree"),
            span,
            format!("{} has no fields that are known here", n.ty(ty)),
        ),
        Ty::Tuple(_) => error(
            p,
            format!("no field `{name}` in a tuple"),
            span,
            "the parts of a tuple are `t.0`, `t.1`, …",
        ),
        _ => {
            let d = error(
                p,
                format!("no field `{name}`: this is not a record"),
                span,
                "unknown field",
            );
            match near {
                Some(call) => d.help(format!("functions come first: `{call}`")),
                None => d,
            }
        }
    };
    match ty {
        Ty::Record(_) => d,
        _ => d.label(base, format!("this is {}", n.ty(ty))),
    }
}

fn condition(p: &Problem, n: &Names, span: crate::span::Span, ty: &Ty, text: &str) -> Diagnostic {
    let d = error(
        p,
        "a condition is a single bool",
        span,
        format!("this is {}", n.ty(ty)),
    );
    match ty {
        Ty::Tensor(elem, shape) => {
            let is_bool = n.elem(elem) == "bool";
            match (is_bool, shape.is_empty()) {
                (true, false) => d.help(format!(
                    "`any({text})` or `all({text})`; `where(…)` chooses element by element"
                )),
                (false, true) => d.help(format!("compare it: `{text} != 0`")),
                _ => d,
            }
        }
        _ => d,
    }
}
