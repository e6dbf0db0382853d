//! Gathers the files of a program: the one given, the prelude, and what they import.

use super::problem::Problem;
use crate::ast::{self, ItemKind, Name};
use crate::diag::Diagnostic;
use crate::source::{Loader, Sources};
use crate::span::Span;
use crate::typed;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// The file given by the user.
pub const ROOT: ModuleId = ModuleId(0);
/// `std/prelude.tl`, whose names are in scope everywhere.
pub const PRELUDE: ModuleId = ModuleId(1);

pub struct LoadedModule {
    /// What its functions are called by in dumps: empty for the root, [`typed::PRELUDE`] for the prelude.
    pub name: Name,
    pub ast: ast::Module,
    pub imports: Vec<ImportedAs>,
    /// Names of imports and items that could not be read: what they would be is not known, and no error.
    pub broken: Vec<Name>,
    /// Whether it is part of the standard library, and so not reported on by lints.
    pub std: bool,
}

pub struct ImportedAs {
    pub name: Name,
    pub module: ModuleId,
    pub span: Span,
}

pub struct Loaded {
    pub sources: Sources,
    pub modules: Vec<LoadedModule>,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn load(file_name: &str, text: &str, loader: &dyn Loader) -> Loaded {
    let mut l = Load {
        out: Loaded {
            sources: Sources::default(),
            modules: Vec::new(),
            diagnostics: Vec::new(),
        },
        by_file: HashMap::new(),
        open: Vec::new(),
        loader,
    };
    let root = l.parse(file_name, text, "", false);
    let (prelude, prelude_text) = crate::std::PRELUDE;
    l.parse(prelude, prelude_text, typed::PRELUDE, true);
    l.imports_of(root, file_name);
    l.out
}

struct Load<'l> {
    out: Loaded,
    by_file: HashMap<String, ModuleId>,
    /// The files being loaded, each imported by the one before, with the place of the import.
    open: Vec<(String, Span)>,
    loader: &'l dyn Loader,
}

impl Load<'_> {
    fn parse(&mut self, file: &str, text: &str, name: &str, std: bool) -> ModuleId {
        let id = self.out.sources.add(file, text);
        let parsed = crate::parser::parse(id, text);
        self.out.diagnostics.extend(parsed.diagnostics);
        self.out.modules.push(LoadedModule {
            name: name.into(),
            ast: parsed.module,
            imports: Vec::new(),
            broken: parsed.broken.into_iter().map(|ident| ident.node).collect(),
            std,
        });
        let module = ModuleId(self.out.modules.len() as u32 - 1);
        self.by_file.insert(file.to_string(), module);
        module
    }

    fn imports_of(&mut self, module: ModuleId, file: &str) {
        let imports: Vec<ast::Import> = self.out.modules[module.0 as usize]
            .ast
            .items
            .iter()
            .filter_map(|i| match &i.kind {
                ItemKind::Import(import) => Some(import.clone()),
                _ => None,
            })
            .collect();
        for import in imports {
            self.open.push((file.to_string(), import.path.span));
            let name: Name = match &import.alias {
                Some(alias) => alias.node.clone(),
                None => stem(&import.path.node).into(),
            };
            let span = import.alias.as_ref().map_or(import.path.span, |a| a.span);
            let found = self.import(&import, file);
            let module = &mut self.out.modules[module.0 as usize];
            match found {
                Some(found) => module.imports.push(ImportedAs {
                    name,
                    module: found,
                    span,
                }),
                None => module.broken.push(name),
            }
            self.open.pop();
        }
    }

    fn import(&mut self, import: &ast::Import, from: &str) -> Option<ModuleId> {
        let path = &import.path;
        let (file, text, std) = match crate::std::module(&path.node).filter(|_| !import.quoted) {
            Some((file, text)) => (file.to_string(), text.to_string(), true),
            None => {
                let wanted = if import.quoted {
                    path.node.to_string()
                } else {
                    format!("{}.tl", path.node)
                };
                match self.loader.import(from, &wanted) {
                    Ok((file, text)) => (file, text, false),
                    Err(reason) => {
                        self.report(Problem::ImportFailed {
                            span: path.span,
                            path: wanted,
                            reason,
                            near: super::near::near(&path.node, crate::std::names().into_iter()),
                            std: match import.quoted {
                                true => Vec::new(),
                                false => crate::std::names(),
                            },
                        });
                        return None;
                    }
                }
            }
        };
        if let Some(at) = self.open.iter().position(|(f, _)| *f == file) {
            let chain = self.open[at..].to_vec();
            self.report(Problem::ImportCycle { chain });
            return None;
        }
        if let Some(&known) = self.by_file.get(&file) {
            return Some(known);
        }
        let module = self.parse(&file, &text, stem(&path.node), std);
        self.imports_of(module, &file);
        Some(module)
    }

    fn report(&mut self, problem: Problem) {
        self.out
            .diagnostics
            .push(problem.diagnostic(&super::show::Names::default()));
    }
}

/// `layers` of `lib/layers.tl`.
fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".tl").unwrap_or(file)
}
