//! Lowering: IR to a verified StableHLO module, op by op.
//!
//! One primitive is one op wherever StableHLO has it; [`table`] lists them all. Nothing is optimised here, and
//! nothing decides what a program means: conventions of NumPy and JAX belong to the front end. Every op carries the
//! place of its source. The bytes of a module depend on nothing but the IR and the options.
//!
//! ```text
//! %2: f32[2] = add %0, %1      →      %0 = stablehlo.add %x, %y : tensor<2xf32> loc("a.tl":3:5)
//! ```

mod control;
mod elementwise;
mod emit;
mod error;
mod ffi;
mod func;
mod indexing;
mod linalg;
mod mesh;
mod module;
mod place;
mod reduce;
mod session;
mod sort;
mod special;
mod structural;
mod table;
mod window;

pub use error::LowerError;
pub use ffi::stablehlo_version;
pub use mesh::Mesh;
pub use module::Module;

use crate::ir::func::Func;
use ffi::OwnedModule;
use func::Signature;
use melior::Context;
use melior::ir::attribute::StringAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Location, Module as MlirModule};
use place::Places;
use session::{Session, shown};
use std::cell::RefCell;
use std::rc::Rc;
use tpuc_lang::source::Sources;

/// How the first function of a module, its `main`, meets its caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Where the spans of the functions point; without it the ops have no places.
    pub sources: Option<&'a Sources>,
    /// Names of the inputs, such as `params.w1`, for whoever reads the text; there may be fewer than inputs.
    pub input_names: &'a [String],
    /// (input, output): the output takes over the memory of the input, which the caller gives up. Each input and
    /// each output stands once at most, and their types are equal.
    pub donate: &'a [(usize, usize)],
    /// Several devices; without it `Shard` is nothing.
    pub mesh: Option<Mesh<'a>>,
}

/// Lowers functions into one module, named for the first, which becomes its `@main`; the others keep their names.
///
/// # Errors
/// When a function holds an effect or reads from the host, when the IR is not well-formed, or when StableHLO's
/// verifier refuses what came out; with the place in the source.
pub fn module(funcs: &[&Func], options: Options<'_>) -> Result<Module, LowerError> {
    OwnedModule::build(ffi::context(), |context| build(context, funcs, options)).map(Module::new)
}

fn build<'c>(
    context: &'c Context,
    funcs: &[&Func],
    options: Options<'_>,
) -> Result<MlirModule<'c>, LowerError> {
    let found: Rc<RefCell<Option<LowerError>>> = Rc::default();
    let sink = Rc::clone(&found);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.borrow_mut().get_or_insert_with(|| LowerError {
            message: diagnostic.to_string(),
            place: shown(diagnostic.location()),
        });
        true
    });
    let (module, failure) = fill(context, funcs, options);
    let verified = module.as_operation().verify();
    context.detach_diagnostic_handler(handler);
    let diagnostic = found.borrow_mut().take();
    match failure {
        // What the library said about an op that could not be built is the better message.
        Some(failure) => Err(diagnostic.unwrap_or(failure)),
        None if verified => Ok(module),
        None => Err(diagnostic.unwrap_or_else(|| LowerError {
            message: "the module does not verify".into(),
            place: None,
        })),
    }
}

fn fill<'c>(
    context: &'c Context,
    funcs: &[&Func],
    options: Options<'_>,
) -> (MlirModule<'c>, Option<LowerError>) {
    let session = Session::new(context, options.mesh.is_some());
    let places = Places::new(context, options.sources);
    let first = funcs.first();
    let location = match first {
        Some(first) => func::beginning(first, &places),
        None => Location::unknown(context),
    };
    let mut module = MlirModule::new(location);
    if let Some(first) = first {
        let name = StringAttribute::new(context, &first.name);
        module
            .as_operation_mut()
            .set_attribute("sym_name", name.into());
    }
    if let Some(mesh) = &options.mesh {
        let declaration = mesh::declaration(&session, mesh, location);
        module.body().append_operation(declaration);
    }
    for (i, func) in funcs.iter().enumerate() {
        let (name, options) = match i {
            0 => ("main", options),
            _ => (func.name.as_str(), Options::default()),
        };
        let signature = Signature {
            name,
            visibility: "public",
            inputs: &func.input_types(),
            outputs: &func.output_types(),
            donate: options.donate,
            mesh: options.mesh,
        };
        let names = options.input_names;
        let function = func::function(&session, &places, func, &signature, names);
        module.body().append_operation(function);
    }
    for function in session.take_private() {
        module.body().append_operation(function);
    }
    let failure = session.take_failure();
    (module, failure)
}
