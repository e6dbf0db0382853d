//! Specialisation: the checked, generic program → IR at concrete shapes.
//!
//! It starts at `main` (or a test, or one function with given types) and evaluates the typed tree over IR values:
//! calls are inlined, generic parameters and functions are known, transforms are applied as IR → IR. It decides no
//! types: every question of types has been answered by the checker.

pub mod builtins;
mod call;
mod control;
pub mod error;
mod expr;
pub mod frame;
mod host;
mod statics;
mod stmt;
mod transforms;
mod tree;
pub mod val;

use crate::ir::{Builder, Func, Value};
use error::Result;
use frame::Frame;
use std::collections::HashMap;
use std::rc::Rc;
use tpuc_lang::typed::{Body, FnId, GenericArg, Program, Ty};
use val::Val;

/// Evaluates typed trees into the IR function under construction.
pub struct Specialiser<'p> {
    pub(crate) program: &'p Program,
    pub(crate) b: Builder,
    /// What the functions called by the one being specialised were specialised for: filled when wanted by a dump.
    pub(crate) instances: Vec<Instance>,
    /// Values that are literals of the program.
    constants: HashMap<Value, statics::Known>,
    /// The functions that transforms were applied to, as they were before.
    pub(crate) callees: Vec<Func>,
    /// How many calls have been written out so far, and inside how many this one stands.
    calls: usize,
    depth: usize,
}

/// A function with the concrete generic arguments of a call met on the way from `main`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub id: FnId,
    pub generics: Vec<GenericArg>,
}

/// The IR of `main` or of a test: no inputs and no outputs, its effects in place. Also the instances it calls, each
/// once, in order of the first call.
pub fn script(program: &Program, name: &str, body: &Body) -> Result<(Func, Vec<Instance>)> {
    let s = evaluate_script(program, name, body)?;
    Ok((s.b.finish(Vec::new()), s.instances))
}

/// The functions that `main` or a test differentiates, maps or otherwise transforms, as they are before.
pub fn script_callees(program: &Program, name: &str, body: &Body) -> Result<Vec<Func>> {
    Ok(evaluate_script(program, name, body)?.callees)
}

fn evaluate_script<'p>(program: &'p Program, name: &str, body: &Body) -> Result<Specialiser<'p>> {
    let mut s = Specialiser::new(program, name);
    s.block(&mut Frame::default(), &body.block)?;
    Ok(s)
}

/// The IR of one function at concrete generic arguments; its inputs are the leaves of its parameters. `None` where it
/// takes functions, which only a call can give.
pub fn function(program: &Program, instance: &Instance) -> Result<Option<Func>> {
    Ok(evaluate_function(program, instance)?.map(|(s, out)| s.b.finish(out.leaves())))
}

/// For each input of [`function`], the parameter it belongs to and the path of the leaf in it: `p.w1`.
pub fn input_names(program: &Program, instance: &Instance) -> Result<Vec<String>> {
    let def = &program.fns[instance.id.0 as usize];
    let frame = Frame {
        generics: Rc::new(instance.generics.clone()),
        ..Frame::default()
    };
    let mut names = Vec::new();
    for param in &def.params {
        let ty = frame.ty(&param.ty, def.span)?;
        names.extend(host::leaf_names(&ty, &param.name));
    }
    Ok(names)
}

/// As [`script_callees`], for one function.
pub fn function_callees(program: &Program, instance: &Instance) -> Result<Vec<Func>> {
    Ok(evaluate_function(program, instance)?
        .map(|(s, _)| s.callees)
        .unwrap_or_default())
}

fn evaluate_function<'p>(
    program: &'p Program,
    instance: &Instance,
) -> Result<Option<(Specialiser<'p>, Val)>> {
    let def = &program.fns[instance.id.0 as usize];
    let mut s = Specialiser::new(program, &def.name);
    s.b.span = def.span;
    let frame = Frame {
        generics: Rc::new(instance.generics.clone()),
        ..Frame::default()
    };
    let mut args = Vec::new();
    for param in &def.params {
        let ty = frame.ty(&param.ty, def.span)?;
        if matches!(ty, Ty::Fn(..)) {
            return Ok(None);
        }
        args.push(s.params_of(&ty));
    }
    let out = s.call_fn(instance.id, instance.generics.clone(), args, def.span)?;
    Ok(Some((s, out)))
}

impl<'p> Specialiser<'p> {
    fn new(program: &'p Program, name: &str) -> Self {
        Specialiser {
            program,
            b: Builder::new(name),
            instances: Vec::new(),
            constants: HashMap::new(),
            callees: Vec::new(),
            calls: 0,
            depth: 0,
        }
    }

    /// Parameters of the innermost open region, one for each leaf of a concrete type.
    pub(crate) fn params_of(&mut self, ty: &Ty) -> Val {
        let leaves: Vec<_> = val::leaf_types(ty)
            .into_iter()
            .map(|t| self.b.param(t))
            .collect();
        Val::of_type(ty, &mut leaves.into_iter())
    }
}
