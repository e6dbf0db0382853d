//! Names, imports, constants: `E02xx`.

use super::{MaybeHelp, did_you_mean, elsewhere, error};
use crate::check::problem::{Growth, Problem};
use crate::diag::Diagnostic;

pub fn say(p: &Problem) -> Diagnostic {
    use Problem as P;
    match p {
        P::UnknownName {
            what,
            name,
            module: Some(module),
            span,
            near,
        } => error(
            p,
            format!("`{module}` has no {what} `{name}`"),
            *span,
            "not found in it",
        )
        .maybe(did_you_mean(near)),
        P::UnknownName {
            what,
            name,
            module: None,
            span,
            near,
        } => error(
            p,
            format!("unknown {what} `{name}`"),
            *span,
            "not found in this scope",
        )
        .maybe(missing_import(name).or_else(|| did_you_mean(near)))
        .maybe(match near {
            None if *what == "dimension" => Some(format!(
                "if it stands for any size, declare it: `fn f[{name}](…)` or `type T[{name}] = …`"
            )),
            None if matches!(&**name, "break" | "continue") => Some(format!(
                "there is no `{name}`: put the condition into `while`, or what depends on it into `if`"
            )),
            None if *what == "variable" => Some(format!(
                "a new variable is made by `let`: `let mut {name} = …;`"
            )),
            _ => None,
        }),
        P::ForeignModule { span, module, name } => {
            let d = error(
                p,
                format!("unknown name `{module}`"),
                *span,
                "not found in this scope",
            );
            match (name, &**module) {
                (Some(name), _) => d.help(format!("builtins stand without a module: `{name}`")),
                (None, "optax") => d.help("the optimisers are in `optim`: `import optim`"),
                (None, _) => d.maybe(missing_import(module)),
            }
        }
        P::UnknownModule { span, name, near } => error(
            p,
            format!("`{name}` is not an imported module"),
            *span,
            "not imported",
        )
        .maybe(
            near.as_ref()
                .map(|n| format!("write `import {n}` at the top of the file")),
        ),
        P::Duplicate {
            what,
            name,
            span,
            before,
        } => error(
            p,
            format!("the {what} `{name}` is there twice"),
            *span,
            "again here",
        )
        .label(*before, "first here"),
        P::ReservedName { span, name } => error(
            p,
            format!("`{name}` is the name of an element type"),
            *span,
            "taken",
        ),
        P::ImportFailed {
            span,
            path,
            reason,
            std,
            near,
        } => {
            let d = error(p, format!("cannot import `{path}`"), *span, reason.clone());
            match (near, std.as_slice()) {
                (_, []) => d,
                (Some(_), _) => d.maybe(did_you_mean(near)),
                (None, std) => d.help(format!("the standard library has `{}`", std.join("`, `"))),
            }
        }
        P::ImportCycle { chain } => {
            let Some(((file, span), outer)) = chain.split_last() else {
                elsewhere(p)
            };
            let first = chain.first().map_or(file, |(f, _)| f);
            let mut d = error(
                p,
                "these files import each other",
                *span,
                format!("imports `{first}` again"),
            );
            for (file, span) in outer.iter().rev() {
                d = d.label(*span, format!("`{file}` is being loaded for this import"));
            }
            d.help("move what both need into a third file")
        }
        P::SetUnknown { span, name, near } => error(
            p,
            format!("there is no constant `{name}` to set"),
            *span,
            "not a top-level `const` of the program",
        )
        .maybe(did_you_mean(near)),
        P::SetKind {
            span,
            name,
            found,
            wanted,
            definition,
        } => error(
            p,
            format!("`{name}` cannot be set to {found}"),
            *span,
            format!("{found}, but `{name}` is {wanted}"),
        )
        .label(*definition, format!("{wanted} here")),
        P::ConstCycle {
            span,
            name,
            definition,
        } => error(
            p,
            format!("the constant `{name}` depends on itself"),
            *definition,
            "defined here",
        )
        .label(*span, "needs its own value here"),
        P::TypeCycle {
            span,
            name,
            definition,
        } => error(
            p,
            format!("the type `{name}` contains itself"),
            *definition,
            "defined here",
        )
        .label(*span, "contains it here")
        .note("a type is a finite tree of tensors; for sequences use an axis"),
        P::Recursion { cycle } => {
            let Some((name, span)) = cycle.first() else {
                elsewhere(p)
            };
            let path: Vec<String> = cycle.iter().map(|(n, _)| format!("`{n}`")).collect();
            let mut d = error(
                p,
                format!("`{name}` calls itself"),
                *span,
                match cycle.len() {
                    1 => "it is called in its own body".to_string(),
                    _ => format!("`{name}` calls the next one here"),
                },
            );
            for (inner, at) in &cycle[1..] {
                d = d.label(*at, format!("`{inner}` calls on here"));
            }
            if cycle.len() > 1 {
                d = d.note(format!("the cycle is {} → `{name}`", path.join(" → ")));
            }
            d.help("write the repetition as a `for` or `while` loop, or with `scan`")
        }
        P::NotAType { span, name, what } => error(
            p,
            format!("`{name}` is not a type"),
            *span,
            format!("it is {what}"),
        ),
        P::NotAValue { span, name, what } => error(
            p,
            format!("`{name}` is not a value"),
            *span,
            format!("it is {what}"),
        ),
        P::NotAssignable {
            span,
            name,
            definition,
            in_lambda,
        } => {
            let d = error(
                p,
                format!("`{name}` cannot be assigned"),
                *span,
                match (in_lambda, definition) {
                    (true, _) => "a lambda cannot assign what is outside it",
                    (false, Some((_, true))) => "it keeps the value that it is given",
                    (false, Some((_, false))) => "it was not declared with `let mut`",
                    (false, None) => "it is not a variable",
                },
            );
            match definition {
                Some((at, true)) => d
                    .label(*at, "its value is given to it here")
                    .help(format!("begin with a variable: `let mut {name} = {name};`")),
                Some((at, false)) => d
                    .label(*at, "declared here")
                    .help(format!("declare it as `let mut {name}`")),
                None if *in_lambda => {
                    d.help("give the new value back as the result of the lambda instead")
                }
                None => d,
            }
        }
        P::TooLarge { span, what } => {
            let (message, label) = match what {
                Growth::Type => (
                    "this type is too large",
                    "it has more than 10,000 parts, or nests more than 200 deep",
                ),
                Growth::Code => (
                    "this function becomes too much code",
                    "the lambdas and constants that it uses are expanded more than 10,000 times",
                ),
                Growth::Nesting => (
                    "definitions use one another too deeply",
                    "more than 200 are open here",
                ),
            };
            error(p, message, *span, label)
        }
        P::ConstOverflow { span } => error(
            p,
            "this constant is too large",
            *span,
            "it does not fit in 64 bits",
        ),
        P::ConstDivisionByZero { span } => error(
            p,
            "a constant is divided by zero",
            *span,
            "the divisor is 0",
        ),
        P::Misplaced { span, what } => {
            let d = error(
                p,
                format!("{what} is not a value"),
                *span,
                "cannot stand here",
            );
            match *what {
                "a string" => d.note("strings are for `print`, file names and options"),
                _ => d.note("`none` stands in an index, `x[none]`, or in `in=(0, none)`"),
            }
        }
        P::FunctionAsValue { span, name } => error(
            p,
            match name {
                Some(name) => format!("the function `{name}` is not a value"),
                None => "a function is not a value".to_string(),
            },
            *span,
            "a function cannot be stored or computed with",
        )
        .help("call it, pass it to a function, or name it with `let`"),
        P::BareTransform { span, name } => error(
            p,
            format!("`{name}` needs a function to transform"),
            *span,
            "a transform alone is not a function",
        )
        .help(format!("write `{name}(f)(x)`")),
        P::FormAsFunction { span, name } => error(
            p,
            format!("`{name}` cannot be passed as a function"),
            *span,
            "only called",
        )
        .help(format!("wrap it in a lambda: `|x| {name}(x)`")),
        P::BuiltinAsFunction { span, name, needs } => error(
            p,
            format!("`{name}` needs its argument `{needs}`"),
            *span,
            "cannot be passed without it",
        )
        .help(format!("wrap it in a lambda: `|x| {name}(x, {needs}=…)`")),
        P::ShapeOfPassed { span, name, needs } => error(
            p,
            format!("{name} needs its argument `{needs}`"),
            *span,
            "cannot be passed without it",
        )
        .help(format!("wrap it in a lambda that gives `{needs}`")),
        _ => elsewhere(p),
    }
}

/// A module of the standard library that the file does not import.
fn missing_import(name: &str) -> Option<String> {
    crate::std::names()
        .contains(&name)
        .then(|| format!("write `import {name}` at the top of the file"))
}
