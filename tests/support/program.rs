//! Functions of `.tl` texts as IR, without the command around them.

use tpuc_compiler::ir::Func;
use tpuc_compiler::specialise::{self, Instance};
use tpuc_lang::check::{Options, check};
use tpuc_lang::render::render;
use tpuc_lang::source::{LoadError, LoadedData, Loader};
use tpuc_lang::typed::{FnId, Ty};

/// The function of a name in a text that neither imports nor loads anything; else what the compiler says.
pub fn function(text: &str, name: &str) -> Result<Func, String> {
    let checked = check("program.tl", text, &Nothing, &Options::default());
    let Some(program) = checked.program else {
        return Err(render(&checked.sources, &checked.diagnostics, false));
    };
    let place = program
        .fns
        .iter()
        .position(|f| *f.name == *name && f.module.is_empty());
    let instance = Instance {
        id: FnId(place.expect("a function of that name") as u32),
        generics: Vec::new(),
    };
    match specialise::function(&program, &instance) {
        Ok(func) => Ok(func.expect("no parameter is a function")),
        Err(d) => Err(render(&checked.sources, &[*d], false)),
    }
}

struct Nothing;

impl Loader for Nothing {
    fn import(&self, _: &str, path: &str) -> Result<(String, String), String> {
        Err(format!("no file {path}"))
    }

    fn dataset(&self, name: &str) -> Result<Ty, LoadError> {
        panic!("no data set {name}")
    }

    fn load(&self, path: &str) -> Result<LoadedData, LoadError> {
        panic!("no file {path}")
    }
}
