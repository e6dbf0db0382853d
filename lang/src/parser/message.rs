//! Syntax errors in prose, and their codes. Each code has a page in `docs/errors/`.

use super::deep::{MAX_HEIGHT, MAX_NESTING};
use super::error::{BadTarget, Expected, Foreign, Found, NumberFault, SyntaxError};
use crate::diag::{Code, Diagnostic};

/// More places than these are not shown of one mistake.
const MAX_LABELS: usize = 4;

impl SyntaxError {
    pub fn code(&self) -> Code {
        Code(match self {
            SyntaxError::Unexpected { .. } => "E0101",
            SyntaxError::UnclosedString { .. } => "E0102",
            SyntaxError::StrayCharacter { .. } => "E0103",
            SyntaxError::MalformedNumber { .. } => "E0104",
            SyntaxError::Unclosed { .. } => "E0105",
            SyntaxError::Unopened { .. } => "E0106",
            SyntaxError::MissingSemicolon { .. } | SyntaxError::LostValue { .. } => "E0107",
            SyntaxError::Reserved { .. } => "E0108",
            SyntaxError::TooDeep { .. } | SyntaxError::TooLong { .. } => "E0109",
            SyntaxError::ChainedComparison { .. } => "E0110",
            SyntaxError::BadEscape { .. } => "E0111",
            SyntaxError::LoneBrace { .. } => "E0112",
            SyntaxError::BadFormatSpec { .. } => "E0113",
            SyntaxError::FieldWithoutValue { .. } => "E0114",
            SyntaxError::NotAssignable { .. } => "E0115",
            SyntaxError::PositionalAfterNamed { .. } => "E0116",
            SyntaxError::ItemInBlock { .. } => "E0117",
            SyntaxError::StatementOutside { .. } => "E0118",
            SyntaxError::Foreign { .. } => "E0119",
            SyntaxError::RecordAsBody { .. } => "E0120",
            SyntaxError::UnknownKind { .. } => "E0121",
        })
    }

    pub fn to_diagnostic(&self) -> Diagnostic {
        let error = |message: &str, label: &str| {
            Diagnostic::error(self.code(), message, self.span(), label)
        };
        match self {
            SyntaxError::Unexpected {
                found, expected, ..
            } => unexpected(self, found, expected),
            SyntaxError::UnclosedString { .. } => error(
                "this string is not closed",
                "no `\"` closes it on this line",
            )
            .help("close it with `\"`; a line break in a string is written `\\n`"),
            SyntaxError::StrayCharacter { .. } => error(
                "this character means nothing here",
                "not part of any name, number or operator",
            )
            .help("names consist of ASCII letters, digits and `_`; text goes in `\"…\"`"),
            SyntaxError::MalformedNumber { fault, .. } => malformed_number(self, *fault),
            SyntaxError::Unclosed {
                bracket,
                before,
                at_end,
                suspect,
                ..
            } => {
                let place = match at_end {
                    true => "the file ends here",
                    false => "it should be closed before this",
                };
                let d = error(
                    &format!("this `{bracket}` is not closed"),
                    "nothing closes it",
                )
                .label(*before, place);
                match suspect {
                    Some((open, close)) => d
                        .label(*open, "this brace …")
                        .label(*close, "… is closed here, by one of another indentation"),
                    None => d,
                }
            }
            SyntaxError::Unopened { bracket, .. } => error(
                &format!("this `{bracket}` closes nothing"),
                "no open bracket matches it",
            ),
            SyntaxError::MissingSemicolon { .. } => {
                error("a `;` is missing", "the statement ends here").help("add `;`")
            }
            SyntaxError::LostValue { value, .. } => error(
                "an `if` or a block at the start of a statement ends with its `}`",
                "begins another statement",
            )
            .label(*value, "the value of this is lost")
            .help("to compute with it, put it in parentheses; to drop it, write `;` behind it"),
            SyntaxError::Reserved { word: "mut", .. } => {
                error("`mut` stands once, behind `let`", "not in front of a name")
                    .help("`let mut (a, b) = …;` makes variables of all of them")
            }
            SyntaxError::Reserved { word, .. } => error(
                &format!("`{word}` is a reserved word"),
                "cannot be used as a name",
            )
            .help(match &**word {
                "main" => {
                    "a program begins with `main { … }`; as a name, `main_` will do".to_string()
                }
                _ => format!("another name will do, such as `{word}_`"),
            }),
            SyntaxError::TooDeep { .. } => error(
                "nested too deeply",
                &format!("deeper than {MAX_NESTING} levels"),
            )
            .help("give parts of it names with `let`, or move them into functions"),
            SyntaxError::TooLong { .. } => error(
                "too many operators in a row",
                &format!("a chain of more than {MAX_HEIGHT}"),
            )
            .help("give parts of it names with `let`, or put the operands into a list"),
            SyntaxError::ChainedComparison { first, .. } => error(
                "comparisons cannot be chained",
                "a second comparison of the same expression",
            )
            .label(*first, "the first")
            .help("write `a < b && b < c`"),
            SyntaxError::BadEscape { .. } => error("unknown escape in a string", "means nothing")
                .help(
                    "the escapes are `\\n`, `\\t`, `\\r`, `\\0`, `\\\\`, `\\\"` and `\\u{…}`; \
                     a backslash is `\\\\`",
                ),
            SyntaxError::LoneBrace { .. } => error(
                "a brace in a string without its partner",
                "`{` and `}` enclose an expression in a string",
            )
            .help("a brace that is meant as text is written twice: `{{` or `}}`"),
            SyntaxError::BadFormatSpec { .. } => error(
                "this is no format spec",
                "expected one like `:.4f`, `:8d` or `:>10,`",
            )
            .note(
                "the form is Python's: [[fill]align][sign][0][width][,][.precision][f e g d x %]",
            ),
            SyntaxError::FieldWithoutValue { others, .. } => others
                .iter()
                .take(MAX_LABELS)
                .fold(
                    error(
                        "a record field needs a name and a value",
                        "expected `name: value`",
                    ),
                    |d, &other| d.label(other, "here too"),
                )
                .help("a field of the same name is written in full: `{ w: w, b: b }`"),
            SyntaxError::NotAssignable { target, .. } => not_assignable(self, *target),
            SyntaxError::PositionalAfterNamed { named, .. } => error(
                "a positional argument after a named one",
                "this argument has no name",
            )
            .label(*named, "the named one")
            .help("move it before the named arguments, or name it too"),
            SyntaxError::ItemInBlock { word, .. } => error(
                &format!("`{word}` cannot stand inside a block"),
                "only at the top level of a file",
            )
            .help(match *word {
                "fn" => "move it out of the block, or use a lambda: `let f = |x| x + 1.0;`",
                _ => "move it out of the block",
            }),
            SyntaxError::StatementOutside { .. } => error(
                "a statement outside of any function",
                "only `import`, `const`, `type`, `fn`, `main`, `test` and `mesh` may stand here",
            )
            .help("put it into `main { … }`, or make it a `const`"),
            SyntaxError::Foreign { form, .. } => foreign(self, *form),
            SyntaxError::RecordAsBody { .. } => error(
                "expected a block, found the fields of a record",
                "these braces are those of the block",
            )
            .help("a record as the value of a block has braces of its own: `{ { w: w, b: b } }`"),
            SyntaxError::UnknownKind { .. } => error(
                "unknown kind of parameter",
                "expected `tree`, `float`, `int` or `num`",
            )
            .help("a dimension is written without a kind: `[N]`"),
        }
    }
}

fn unexpected(e: &SyntaxError, found: &Found, expected: &Expected) -> Diagnostic {
    let what = phrase(expected);
    let shown = match found {
        Found::Token(text) if text.chars().count() > 40 => {
            let head: String = text.chars().take(40).collect();
            format!("`{head}…`")
        }
        Found::Token(text) => format!("`{text}`"),
        Found::Str => "a string".to_string(),
        Found::EndOfFile => "the end of the file".to_string(),
    };
    let message = format!("expected {what}, found {shown}");
    let d = Diagnostic::error(e.code(), message, e.span(), format!("expected {what}"));
    match found {
        Found::Token(text) => match hint(text, expected) {
            Some(help) => d.help(help),
            None => d,
        },
        _ => d,
    }
}

fn phrase(expected: &Expected) -> String {
    let text = match expected {
        Expected::Statement => "a statement or an expression",
        Expected::Expression => "an expression",
        Expected::Pattern => "a name or a pattern",
        Expected::Type => "a type",
        Expected::TypeArgument => "a dimension or a type",
        Expected::Dimension => "a dimension",
        Expected::Field => "the name or number of a field",
        Expected::Parameter => "a parameter",
        Expected::Name => "a name",
        Expected::ImportPath => "the name of a module or the quoted path of a file",
        Expected::QuotedName => "a name in quotes",
        Expected::Item => "`fn`, `const`, `type`, `import`, `main`, `test` or `mesh`",
        Expected::NextItem => "the next item or the end of the file",
        Expected::Tokens(tokens) => return one_of(tokens),
    };
    text.to_string()
}

fn one_of(tokens: &[String]) -> String {
    let quoted: Vec<String> = tokens.iter().map(|t| format!("`{t}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "something else".to_string(),
    }
}

/// Habits of other languages, and what is written here instead.
fn hint(found: &str, expected: &Expected) -> Option<&'static str> {
    let among =
        |token: &str| matches!(expected, Expected::Tokens(t) if t.iter().any(|t| t == token));
    if let Some((_, help)) = FOREIGN_WORDS.iter().find(|(word, _)| *word == found) {
        return Some(help);
    }
    Some(match found {
        "," if among("in") => "several names need parentheses: `for (a, b) in …`",
        "," if among("=") => "several names need parentheses: `let (a, b) = …;`",
        ")" | "," | "=" if among(":") => "a parameter needs a type, as in `x: f32[N]`",
        ":" if among(";") => {
            "a slice stands in brackets: `x[a:b]`; a record's names have no quotes: `{ w: 1 }`"
        }
        _ => return None,
    })
}

const FOREIGN_WORDS: [(&str, &str); 14] = [
    ("and", "write `&&`"),
    ("or", "write `||`"),
    ("not", "write `!`"),
    ("elif", "write `else if`"),
    (
        "def",
        "a function is written `fn name(x: f32[N]) -> f32 { … }`",
    ),
    (
        "func",
        "a function is written `fn name(x: f32[N]) -> f32 { … }`",
    ),
    (
        "function",
        "a function is written `fn name(x: f32[N]) -> f32 { … }`",
    ),
    ("lambda", "a lambda is written `|x| x + 1`"),
    ("var", "a variable is written `let mut x = …;`"),
    ("val", "a variable is written `let x = …;`"),
    (
        "struct",
        "a record type is written `type Name = { w: f32[N] }`",
    ),
    (
        "class",
        "a record type is written `type Name = { w: f32[N] }`",
    ),
    ("from", "a module is imported whole: `import optim`"),
    (
        "then",
        "the branches of an `if` are blocks: `if c { a } else { b }`",
    ),
];

/// Whether it is a keyword elsewhere that people write by habit.
pub fn is_foreign_word(word: &str) -> bool {
    FOREIGN_WORDS.iter().any(|(w, _)| *w == word)
}

fn malformed_number(e: &SyntaxError, fault: NumberFault) -> Diagnostic {
    let error = |message, label| Diagnostic::error(e.code(), message, e.span(), label);
    match fault {
        NumberFault::Letters => error("malformed number", "letters in a number").help(
            "numbers are written `12`, `1_000`, `0xff`, `1.5` or `1e-3`; \
             an element type is given by a cast: `f32(1)`",
        ),
        NumberFault::Point => error("malformed number", "a digit is missing beside the point")
            .help("write `1.0` or `0.5`"),
        NumberFault::TooLarge => error("this number is too large", "cannot be represented")
            .help("infinity is written `inf`"),
    }
}

fn not_assignable(e: &SyntaxError, target: BadTarget) -> Diagnostic {
    let error = |label| Diagnostic::error(e.code(), "this cannot be assigned to", e.span(), label);
    match target {
        BadTarget::Element => error("elements of an array are not variables")
            .help("make a new array: `x = set(x, i, v);` or `x = add_at(x, i, v);`"),
        BadTarget::Tuple => error("only a variable or a field of one can be")
            .help("to take it apart write `let (a, b) = …;` and assign each"),
        BadTarget::Other => error("only a variable or a field of one can be")
            .help("an equality test is written `==`"),
    }
}

fn foreign(e: &SyntaxError, form: Foreign) -> Diagnostic {
    let error = |message, label| Diagnostic::error(e.code(), message, e.span(), label);
    match form {
        Foreign::SlashComment => {
            error("comments do not start with `//`", "not a comment").help("write `#`")
        }
        Foreign::FloorDivision => error("there is no operator `//`", "unknown operator")
            .help("`/` of integers truncates; `floor(a / b)` rounds down"),
        Foreign::OpAssign => error("there are no assignment operators", "unknown operator")
            .help("write it out: `x = x + 1;`"),
        Foreign::FatArrow => error("there is no `=>`", "unknown operator")
            .help("a result type follows `->`; a lambda is `|x| x + 1`; at least is `>=`"),
        Foreign::Ampersand => {
            error("there is no operator `&`", "unknown operator").help("\"and\" is `&&`")
        }
        Foreign::Caret => {
            error("there is no operator `^`", "unknown operator").help("a power is `x ** 2`")
        }
        Foreign::SingleQuotes => {
            error("text stands in double quotes", "in single quotes").help("write `\"…\"`")
        }
    }
}
