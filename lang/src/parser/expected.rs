//! From the terminals that the grammar would have taken to what a user would call it.

use super::error::Expected;

/// What an expression can be continued with; saying so helps nobody.
const CONTINUATIONS: [&str; 19] = [
    "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "@", "**", "(", "[",
    ".", "spec",
];

pub fn expected(terminals: &[String], item: bool) -> Expected {
    let names: Vec<&str> = terminals.iter().map(|t| t.trim_matches('"')).collect();
    let has = |name: &str| names.contains(&name);
    if has("let") {
        Expected::Statement
    } else if has("import") {
        Expected::Item
    } else if has("true") {
        Expected::Expression
    } else if has("integer") {
        match (has("fn"), has("(")) {
            (true, _) => Expected::TypeArgument,
            (false, true) => Expected::Dimension,
            (false, false) => Expected::Field,
        }
    } else if has("fn") {
        Expected::Type
    } else if has("string") {
        if has("name") {
            Expected::ImportPath
        } else {
            Expected::QuotedName
        }
    } else if has("name") {
        match (has("{"), has("..")) {
            (true, _) => Expected::Pattern,
            (_, true) => Expected::Parameter,
            _ => Expected::Name,
        }
    } else {
        tokens(&names, item)
    }
}

fn tokens(names: &[&str], item: bool) -> Expected {
    let ends_statement = names.contains(&";");
    let argument = names.contains(&")");
    let mut tokens: Vec<String> = Vec::new();
    for name in names {
        let shown = match *name {
            "block" => "{",
            "interpolation end" => "}",
            "string end" => "\"",
            "=" if ends_statement || argument => continue,
            "broken" | "text" | "interpolation" => continue,
            name if CONTINUATIONS.contains(&name) && names.len() > 1 => continue,
            name => name,
        };
        if !tokens.iter().any(|t| t == shown) {
            tokens.push(shown.to_string());
        }
    }
    // The comma before the bracket that ends the list.
    tokens.sort_by_key(|t| t != ",");
    // Behind a function a `vjp` may follow, which is seldom what is missing.
    if item && tokens.iter().all(|t| t == ";" || t == "vjp") {
        return Expected::NextItem;
    }
    if tokens == [";"] {
        tokens.push("}".to_string());
    }
    if tokens.is_empty() {
        return Expected::Statement;
    }
    Expected::Tokens(tokens)
}
