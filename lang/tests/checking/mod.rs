//! What the tests of the checker share: a loader with files and data of its own, and results as text.

use std::path::{Path, PathBuf};
use tpuc_lang::check::{Checked, Options, check};
use tpuc_lang::dump;
use tpuc_lang::render::render;
use tpuc_lang::source::{LoadError, LoadedData, Loader};
use tpuc_lang::typed::{Elem, Ty};

/// Imports come from a table; `dataset("mnist")` is known.
#[derive(Default)]
pub struct Table {
    pub files: Vec<(String, String)>,
}

impl Loader for Table {
    fn import(&self, _from: &str, path: &str) -> Result<(String, String), String> {
        let found = self.files.iter().find(|(name, _)| name == path);
        found
            .cloned()
            .ok_or_else(|| format!("there is no file `{path}`"))
    }

    fn dataset(&self, name: &str) -> Result<Ty, LoadError> {
        if name != "mnist" {
            return Err(LoadError {
                code: "E0702",
                message: format!("there is no dataset `{name}`"),
                help: None,
            });
        }
        let field = |name: &str, sizes: &[i64]| (name.into(), Ty::tensor(Elem::U8, sizes));
        let fields = [
            field("x_train", &[60000, 28, 28]),
            field("y_train", &[60000]),
            field("x_test", &[10000, 28, 28]),
            field("y_test", &[10000]),
        ];
        Ok(Ty::Record(fields.into_iter().collect()))
    }

    fn load(&self, path: &str) -> Result<LoadedData, LoadError> {
        match path {
            "points.npy" => Ok(Ty::tensor(Elem::F32, &[100, 2]).into()),
            "people.csv" => Ok(LoadedData {
                ty: Ty::Record(
                    [("age".into(), Ty::tensor(Elem::F32, &[3]))]
                        .into_iter()
                        .collect(),
                ),
                left_out: vec![(
                    "name".into(),
                    LoadError {
                        code: "E0717",
                        message: "people.csv, line 2, column 2: expected a number, found \"Ada\""
                            .into(),
                        help: None,
                    },
                )],
            }),
            _ => Err(LoadError {
                code: "E0703",
                message: format!("there is no file `{path}`"),
                help: None,
            }),
        }
    }
}

/// The root of the repository.
#[allow(dead_code)]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[allow(dead_code)]
pub fn checked(name: &str, text: &str, sets: &[(&str, &str)]) -> Checked {
    checked_with(name, text, sets, &Table::default())
}

pub fn checked_with(name: &str, text: &str, sets: &[(&str, &str)], table: &Table) -> Checked {
    let consts = sets
        .iter()
        .map(|(n, v)| ((*n).to_string(), (*v).to_string()));
    let options = Options {
        consts: consts.collect(),
        ..Options::default()
    };
    check(name, text, table, &options)
}

/// What a terminal would show; empty if there is nothing to say.
pub fn shown(checked: &Checked) -> String {
    render(&checked.sources, &checked.diagnostics, false)
}

/// The diagnostics, then the checked program if there is one.
#[allow(dead_code)]
pub fn outcome(checked: &Checked) -> String {
    let mut out = shown(checked);
    if let Some(program) = &checked.program {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&own_part(checked, &dump::typed::program(program, None)));
    }
    out
}

/// Without the functions of the standard library, which has tests of its own.
fn own_part(checked: &Checked, dump: &str) -> String {
    let (_, file) = checked.sources.iter().next().expect("a program has a file");
    let is_own = |item: &&str| match item.strip_prefix("fn ") {
        Some(rest) => {
            let name = rest.split(['[', '(']).next().unwrap_or(rest);
            file.text.contains(&format!("fn {name}"))
        }
        None => true,
    };
    let items: Vec<&str> = dump.split("\n\n").filter(is_own).collect();
    items.join("\n\n")
}

/// Runs a test with as much stack as the command has.
#[allow(dead_code)]
pub fn with_deep_stack(test: fn()) {
    let worker = std::thread::Builder::new()
        .stack_size(512 << 20)
        .spawn(test);
    let done = worker.expect("a thread starts").join();
    done.unwrap_or_else(|e| std::panic::resume_unwind(e));
}
