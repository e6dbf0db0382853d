//! Keys, transforms, effects, and warnings.

use super::{count, elsewhere, error};
use crate::check::cx::Place;
use crate::check::problem::{BatchesFault, Problem, Repeat};
use crate::check::show::Names;
use crate::diag::Diagnostic;
use crate::span::Span;

pub fn say(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    match p {
        P::KeyReuse {
            span,
            key,
            first,
            repeats,
        } => {
            let d = match repeats {
                Some(Repeat::Loop) => error(
                    p,
                    format!("the key `{key}` is used up again in every round of the loop"),
                    *span,
                    "the same key in each round",
                ),
                Some(Repeat::Lambda) => error(
                    p,
                    format!("the key `{key}` is used up again in every call of the function"),
                    *span,
                    "the same key in each call",
                ),
                Some(Repeat::Map) => error(
                    p,
                    format!("`vmap` uses the key `{key}` up in every one of its calls"),
                    *span,
                    "the same key in each call",
                ),
                None => error(
                    p,
                    format!("the key `{key}` is used twice"),
                    *span,
                    "used again here",
                )
                .label(*first, "used up here"),
            };
            match repeats {
                Some(Repeat::Map) => d.help(format!(
                    "map over keys of their own: `in=0` for this argument, and `split({key}, N)`"
                )),
                Some(Repeat::Loop | Repeat::Lambda) => d.help(format!(
                    "make one for each: `fold_in({key}, i)`, or `for k in split({key}, N)`"
                )),
                None => d.help(format!(
                    "split it first: `let (k1, k2) = split({key});`"
                )),
            }
        }
        P::NotAKey { span, what, ty } => error(
            p,
            format!("`{what}` needs a key"),
            *span,
            format!("this is {}", n.ty(ty)),
        )
        .help("`key(seed)` makes the first, `split(k)` further ones"),
        P::GradOfNonScalar {
            span,
            transform,
            function,
            ty,
            definition,
        } => {
            let d = error(
                p,
                format!("`{transform}` needs a function that gives one float"),
                *span,
                format!("{function} gives {}", n.ty(ty)),
            );
            let d = match definition {
                Some(at) => d.label(*at, "its result"),
                None => d,
            };
            d.help("reduce the result with `sum` or `mean`; `jacobian` differentiates all of it")
        }
        P::GradOfInteger {
            span,
            transform,
            transform_span,
            path,
            leaf,
            ty,
        } => {
            let label = match path.as_str() {
                "" => format!("this is {}", n.ty(ty)),
                path => format!("`{path}` in it is {}", n.ty(leaf)),
            };
            let d = error(
                p,
                format!("`{transform}` with respect to what has no gradient"),
                *span,
                label,
            );
            let d = if transform_span == span {
                d
            } else {
                d.label(*transform_span, "differentiates with respect to it")
            };
            d.note("only floats have gradients")
                .help("name other arguments with `wrt=`, or cast it: `f32(…)`")
        }
        P::WrtRange { span, wrt, args } => error(
            p,
            format!("`wrt={wrt}`, but the function takes {}", count(*args, "argument")),
            *span,
            "arguments are counted from 0",
        ),
        P::AuxResult { span, function, ty } => error(
            p,
            "with `aux=true` the function must give `(loss, aux)`",
            *span,
            format!("{function} gives {}", n.ty(ty)),
        ),
        P::ReverseThroughWhile {
            span,
            transform,
            loop_span,
            is_for,
        } => error(
            p,
            match is_for {
                true => format!("`{transform}` cannot go back through a loop of unknown length"),
                false => format!("`{transform}` cannot go back through a `while`"),
            },
            *span,
            "reverse mode runs the steps backwards, and must know how many there are",
        )
        .label(
            *loop_span,
            match is_for {
                true => "the number of rounds is known only when it runs",
                false => "this loop",
            },
        )
        .help("use `for i in 0..N` with N a constant or a dimension of the function, as of `fn f[N](…)` (and `where` to stop early), or forward mode: `jvp`"),
        P::ProductArgs {
            span,
            transform,
            found,
        } => error(
            p,
            format!("`{transform}(f)` takes 2 arguments, {found} given"),
            *span,
            match *transform {
                "jvp" => "the primals and the tangents: `jvp(f)((a, b), (da, db))`",
                _ => "the primals and the cotangent: `vjp(f)((a, b), ct)`",
            },
        ),
        P::VmapAxesCount { span, axes, args } => error(
            p,
            format!("`in=` names {axes} axes for {}", count(*args, "argument")),
            *span,
            "one, or `none`, for each argument",
        ),
        P::VmapNothing { span } => error(
            p,
            "`vmap` has nothing to map over",
            *span,
            "no argument has a mapped axis",
        ),
        P::VmapNoAxis { span, axis, ty } => error(
            p,
            format!("`vmap`: there is no axis {axis} to map over"),
            *span,
            format!("this is {}", n.ty(ty)),
        )
        .help("an argument that is the same for all: `in=(0, none)`"),
        P::VmapSizes {
            span,
            first,
            first_span,
            other,
            other_span,
        } => {
            let d = error(
                p,
                "`vmap`: the mapped axes have different sizes",
                *span,
                format!("{} and {}", n.dim(first), n.dim(other)),
            );
            if first_span == other_span {
                d
            } else {
                d.label(*first_span, format!("{} here", n.dim(first)))
                    .label(*other_span, format!("{} here", n.dim(other)))
            }
        }
        P::VmapOut { span, out, ty } => error(
            p,
            format!("`vmap`: the result has no place for `out={out}`"),
            *span,
            format!("one result is {}", n.ty(ty)),
        ),
        P::ScanResult { span, ty } => error(
            p,
            "the function of `scan` must give `(carry, y)`",
            *span,
            format!("it gives {}", n.ty(ty)),
        ),
        P::VjpParams {
            span,
            found,
            wanted,
            name,
        } => error(
            p,
            format!("the `vjp` of `{name}` takes {wanted} names, {found} given"),
            *span,
            "the arguments, the result, and its cotangent",
        ),
        P::VjpFunctionParam { span, name } => error(
            p,
            format!("`{name}` takes a function, and cannot have a `vjp` of its own"),
            *span,
            "a function has no cotangent",
        ),
        P::RigidTree { span, what, ty } => error(
            p,
            format!("`{what}` needs to know the leaves"),
            *span,
            format!("{} can be any tree", n.ty(ty)),
        ),
        _ => outside(p, n),
    }
}

/// `main`, effects, and warnings.
fn outside(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    match p {
        P::TwoMains { span, before } => {
            error(p, "there are two `main`s", *span, "again here").label(*before, "the first one")
        }
        P::EffectHere {
            span,
            name,
            place,
            in_lambda,
        } => {
            let label = match (place, in_lambda) {
                _ if *name == "debug" => "it gives nothing: it is a statement of its own",
                (Place::Pure, _) => "functions are pure: they have no effects",
                (Place::Script, true) => "a lambda is a function, and functions are pure",
                (Place::Script, false) => "an effect is a statement of its own",
            };
            let help = match *name {
                "debug" => "put it in a block: `{ debug(…); value }`".to_string(),
                _ => format!("give the value back, and `{name}` it in `main`"),
            };
            error(p, format!("`{name}` cannot stand here"), *span, label).help(help)
        }
        P::HostHere { span, name } => error(
            p,
            format!("`{name}` cannot stand in a function"),
            *span,
            "functions see only their arguments",
        )
        .help(match *name {
            "batches" => "go through them in `main`, and call the function with each".to_string(),
            _ => format!("call `{name}` in `main` and pass the result"),
        }),
        P::FormatSpec {
            span,
            value,
            spec,
            ty,
            formats,
        } => error(
            p,
            format!("the format `{spec}` does not fit"),
            *span,
            *formats,
        )
        .label(*value, format!("this is {}", n.ty(ty))),
        P::SaveFormat { span, path } => error(
            p,
            format!("cannot save as `{path}`"),
            *span,
            "files are saved as .safetensors",
        ),
        P::Batches { span, fault } => batches(p, n, *span, fault),
        P::LogValue {
            span,
            name,
            ty,
            wants_int,
        } => error(
            p,
            match wants_int {
                true => "the step that `log` is given first must be an integer".to_string(),
                false => format!("`log` writes numbers, and `{name}` is none"),
            },
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::Data { span, error: e } => {
            let d = error(p, e.message.clone(), *span, "needed to compile the program");
            match &e.help {
                Some(help) => d.help(help.clone()),
                None => d,
            }
        }
        P::Unused {
            what,
            name,
            span,
            field,
        } => error(p, format!("unused {what} `{name}`"), *span, "never used").help(match *what {
            "import" => "remove the import".to_string(),
            _ if *field => "a pattern need not name every field: leave it out".to_string(),
            _ => format!("if that is meant, call it `_{name}`"),
        }),
        P::Unreachable { span, after } => {
            error(p, "this is never reached", *span, "after a `return`")
                .label(*after, "always returns")
        }
        P::Shadows { span, name, what } => error(
            p,
            format!("`{name}` hides the builtin of that name"),
            *span,
            format!("this {what} is meant from here on"),
        ),
        P::FloatEquality {
            span,
            left,
            right,
            negated,
        } => error(
            p,
            "floats are compared for equality",
            *span,
            "rounding makes this unreliable",
        )
        .help(equality_help(left, right, *negated)),
        P::Dropped { span, ty } => error(
            p,
            "this value is not used",
            *span,
            format!("{} is computed and dropped", n.ty(ty)),
        )
        .help("assign it with `let`, or remove the `;` if it is the result"),
        _ => elsewhere(p),
    }
}

fn batches(p: &Problem, n: &Names, span: Span, fault: &BatchesFault) -> Diagnostic {
    match fault {
        BatchesFault::Place => error(
            p,
            "`batches` can only be gone through by a `for` of `main`",
            span,
            "a batch is there while the loop is at it",
        )
        .help("`for b in batches(load(\"data/*.npz\"), 128, key(0)) { … }`"),
        BatchesFault::NotLoad => error(
            p,
            "`batches` reads from files",
            span,
            "this must be `load(…)` itself",
        )
        .help("of values that are there, take rows by `permutation` and `slice`"),
        BatchesFault::TooFew { rows, size } => error(
            p,
            format!("there are {rows} rows, which do not fill a batch"),
            span,
            format!("asks for {} in each", n.dim(size)),
        ),
    }
}

/// What to write instead of `left == right` of floats. Nothing equals NaN, not even itself.
fn equality_help(left: &str, right: &str, negated: bool) -> String {
    let tested = match (left, right) {
        ("nan", x) | (x, "nan") => Some((x, negated)),
        (x, y) if x == y => Some((x, !negated)),
        _ => None,
    };
    match tested {
        Some((x, true)) => format!("`!is_nan({x})` tests for NaN, which equals nothing"),
        Some((x, false)) => format!("`is_nan({x})` tests for NaN, which equals nothing"),
        None if negated => format!("`!isclose({left}, {right})` allows for rounding"),
        None => format!("`isclose({left}, {right})` allows for rounding"),
    }
}
