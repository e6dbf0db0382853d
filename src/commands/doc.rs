//! `tpuc doc`: the standard library's signatures and descriptions, from its source.

use crate::failure::Failure;
use crate::pipeline::meant;
use tpuc_lang::ast::{Item, ItemKind};
use tpuc_lang::check::near::near;
use tpuc_lang::span::FileId;
use tpuc_lang::{parse, std as library};

/// `std`, a module, or `module.function`.
pub fn doc(what: &str) -> Result<(), Failure> {
    let (module, item) = match what.split_once('.') {
        Some((module, item)) => (module, Some(item)),
        None => (what, None),
    };
    let names = library::names();
    let chosen: Vec<&str> = names
        .into_iter()
        .filter(|n| module == "std" || *n == module)
        .collect();
    let mut shown = 0;
    for name in &chosen {
        let Some((_, text)) = library::module(name) else {
            continue;
        };
        let parsed = parse(FileId(0), text);
        let items = parsed
            .module
            .items
            .iter()
            .filter(|i| item.is_none_or(|wanted| item_name(i) == Some(wanted)));
        let texts: Vec<String> = items.filter_map(|i| entry(i, text)).collect();
        if !texts.is_empty() {
            println!("module {name}\n\n{}\n", texts.join("\n\n"));
            shown += texts.len();
        }
    }
    match shown {
        0 => Err(Failure::Usage(format!(
            "the standard library has no `{what}`{}",
            meant(near(what, known().iter().map(String::as_str)))
        ))),
        _ => Ok(()),
    }
}

/// The modules, and what each has.
fn known() -> Vec<String> {
    let mut all = Vec::new();
    for name in library::names() {
        all.push(name.to_owned());
        let text = library::module(name).map_or("", |(_, text)| text);
        let parsed = parse(FileId(0), text);
        let documented = parsed.module.items.iter().filter(|i| i.doc.is_some());
        all.extend(
            documented
                .filter_map(item_name)
                .map(|item| format!("{name}.{item}")),
        );
    }
    all
}

fn item_name(item: &Item) -> Option<&str> {
    match &item.kind {
        ItemKind::Fn(f) => Some(&f.name.node),
        ItemKind::Type(t) => Some(&t.name.node),
        ItemKind::Const(c) => Some(&c.name.node),
        ItemKind::Import(_) | ItemKind::Main(_) | ItemKind::Test(_) | ItemKind::Mesh(_) => None,
    }
}

/// Signature and description of a documented item; helpers without a description are the library's own business.
fn entry(item: &Item, text: &str) -> Option<String> {
    let doc = item.doc.as_ref()?;
    let signature = match &item.kind {
        ItemKind::Fn(f) => &text[item.span.start as usize..f.body.span.start as usize],
        ItemKind::Type(_) | ItemKind::Const(_) => {
            &text[item.span.start as usize..item.span.end as usize]
        }
        ItemKind::Import(_) | ItemKind::Main(_) | ItemKind::Test(_) | ItemKind::Mesh(_) => {
            return None;
        }
    };
    let code = signature
        .lines()
        .filter(|l| !l.trim_start().starts_with("##"))
        .collect::<Vec<_>>()
        .join("\n  ");
    let described: Vec<String> = doc.lines().map(|l| format!("      {}", l.trim())).collect();
    Some(format!("  {}\n{}", code.trim(), described.join("\n")))
}
