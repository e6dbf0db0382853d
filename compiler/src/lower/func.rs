//! Functions and regions: signatures, which IR value is which MLIR value, and the walk over instructions.

use super::emit::{Emit, OpenBlock, Tensor};
use super::mesh::{self, Mesh};
use super::place::Places;
use super::session::Session;
use super::table;
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use crate::ir::types::Type;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::FunctionType;
use melior::ir::{
    Attribute, Identifier, Location, Operation, Region as MlirRegion, Type as MlirType,
};
use std::collections::HashSet;

/// The head of a `func.func`.
pub struct Signature<'a> {
    pub name: &'a str,
    pub visibility: &'a str,
    pub inputs: &'a [Type],
    pub outputs: &'a [Type],
    /// (input, output): the output takes over the memory of the input.
    pub donate: &'a [(usize, usize)],
    pub mesh: Option<Mesh<'a>>,
}

impl<'a> Signature<'a> {
    pub fn private(name: &'a str, inputs: &'a [Type], outputs: &'a [Type]) -> Self {
        Signature {
            name,
            visibility: "private",
            inputs,
            outputs,
            donate: &[],
            mesh: None,
        }
    }

    pub fn function<'c>(
        &self,
        session: &Session<'c>,
        body: MlirRegion<'c>,
        location: Location<'c>,
    ) -> Operation<'c> {
        let context = session.context;
        let types = |list: &[Type]| -> Vec<MlirType<'c>> {
            list.iter().map(|t| session.tensor_type(t)).collect()
        };
        let function_type =
            FunctionType::new(context, &types(self.inputs), &types(self.outputs)).into();
        let string = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
        let mut attributes: Vec<Named<'c>> = vec![
            (session.id("sym_name"), string(self.name)),
            (session.id("sym_visibility"), string(self.visibility)),
            (
                session.id("function_type"),
                TypeAttribute::new(function_type).into(),
            ),
        ];
        if !self.donate.is_empty() || self.mesh.is_some() {
            attributes.push((session.id("arg_attrs"), self.input_attributes(session)));
        }
        if let Some(mesh) = self.mesh {
            let layouts = |i: usize| shardings(session, mesh.outputs, i, self.outputs);
            let results = (0..self.outputs.len()).map(layouts);
            attributes.push((session.id("res_attrs"), dictionaries(session, results)));
        }
        OperationBuilder::new("func.func", location)
            .add_attributes(&attributes)
            .add_regions([body])
            .build()
            // Its attributes are of the kinds that the op asks for, whatever their contents.
            .expect("a function with a name and a type can be built")
    }

    /// `{tf.aliasing_output = i : i32}` on each donated input, and its layout where there is a mesh.
    fn input_attributes<'c>(&self, session: &Session<'c>) -> Attribute<'c> {
        let lists = (0..self.inputs.len()).map(|input| {
            let mut list = match self.mesh {
                Some(mesh) => shardings(session, mesh.inputs, input, self.inputs),
                None => Vec::new(),
            };
            if let Some(&(_, output)) = self.donate.iter().find(|&&(i, _)| i == input) {
                list.push((session.id("tf.aliasing_output"), session.i32(output)));
            }
            list
        });
        dictionaries(session, lists)
    }
}

type Named<'c> = (Identifier<'c>, Attribute<'c>);

/// `sdy.sharding` of an input or output.
fn shardings<'c>(
    session: &Session<'c>,
    layouts: &[Vec<Option<String>>],
    index: usize,
    types: &[Type],
) -> Vec<Named<'c>> {
    let layout = layouts.get(index).map_or(&[][..], Vec::as_slice);
    let sharding = mesh::sharding(session, layout, types[index].rank());
    vec![(session.id("sdy.sharding"), sharding)]
}

fn dictionaries<'c>(
    session: &Session<'c>,
    lists: impl Iterator<Item = Vec<Named<'c>>>,
) -> Attribute<'c> {
    let context = session.context;
    let dictionaries: Vec<Attribute<'c>> = lists
        .map(|list| DictionaryAttribute::new(context, &list).into())
        .collect();
    ArrayAttribute::new(context, &dictionaries).into()
}

/// Lowers the body of a function of the IR into the function of a signature. Input names go into the locations of
/// the arguments, from which the printer names them.
pub fn function<'c>(
    session: &Session<'c>,
    places: &Places<'c, '_>,
    func: &Func,
    signature: &Signature<'_>,
    input_names: &[String],
) -> Operation<'c> {
    let open = OpenBlock::new();
    let mut scope = Scope::new(func, places);
    for (i, &param) in func.body.params.iter().enumerate() {
        let place = places.location(func.span(param));
        let location = match input_names.get(i) {
            Some(name) => Location::name(session.context, name, place),
            None => place,
        };
        scope.set(param, open.add_param(session, func.ty(param), location));
    }
    let location = beginning(func, places);
    let emit = Emit::new(session, &open, location);
    let results = scope.insts(&emit, &func.body);
    emit.terminate("func.return", &results.iter().collect::<Vec<_>>());
    signature.function(session, open.into_region(), location)
}

/// The place of the first value that a function computes.
pub fn beginning<'c>(func: &Func, places: &Places<'c, '_>) -> Location<'c> {
    let first = func.body.insts.iter().find_map(|i| i.results.first());
    places.location(first.map(|&v| func.span(v)).unwrap_or_default())
}

/// The MLIR values of the IR's values. Each value of a function is defined once, so one table serves all its
/// regions; that a use stands where the value is visible is the concern of both verifiers.
pub struct Scope<'f, 'p, 'c> {
    pub func: &'f Func,
    places: &'p Places<'c, 'p>,
    tensors: Vec<Option<Tensor<'c>>>,
    ones: HashSet<Value>,
}

impl<'f, 'p, 'c> Scope<'f, 'p, 'c> {
    fn new(func: &'f Func, places: &'p Places<'c, 'p>) -> Self {
        Scope {
            func,
            places,
            tensors: vec![None; func.value_count()],
            ones: HashSet::new(),
        }
    }

    /// Whether a value that has been lowered is known to be 1 everywhere.
    pub fn is_one(&self, v: Value) -> bool {
        self.ones.contains(&v)
    }

    fn note_ones(&mut self, inst: &Inst) {
        let one = match &inst.op {
            Op::Constant(literal) => literal.splat_value() == Some(1.0),
            Op::Broadcast { .. } | Op::Reshape { .. } | Op::Convert(_) => self.is_one(inst.args[0]),
            _ => false,
        };
        if one {
            self.ones.extend(&inst.results);
        }
    }

    fn set(&mut self, v: Value, tensor: Tensor<'c>) {
        self.tensors[v.0 as usize] = Some(tensor);
    }

    /// Gives values to the parameters of a region, appends its instructions, and gives its results.
    pub fn enter(
        &mut self,
        emit: &Emit<'_, 'c>,
        region: &'f Region,
        args: Vec<Tensor<'c>>,
    ) -> Vec<Tensor<'c>> {
        for (&param, arg) in region.params.iter().zip(args) {
            self.set(param, arg);
        }
        self.insts(emit, region)
    }

    fn insts(&mut self, emit: &Emit<'_, 'c>, region: &'f Region) -> Vec<Tensor<'c>> {
        for inst in &region.insts {
            let span = inst.results.first().map(|&v| self.func.span(v));
            let emit = emit.at(self.places.location(span.unwrap_or_default()));
            let args = self.all(&emit, &inst.args);
            self.note_ones(inst);
            let results = table::lower(&emit, self, inst, &args);
            for (&v, tensor) in inst.results.iter().zip(results) {
                self.set(v, tensor);
            }
        }
        self.all(emit, &region.results)
    }

    fn all(&self, emit: &Emit<'_, 'c>, values: &[Value]) -> Vec<Tensor<'c>> {
        values
            .iter()
            .map(|&v| match &self.tensors[v.0 as usize] {
                Some(tensor) => tensor.clone(),
                None => emit
                    .refuse(
                        "a value is used before it is made",
                        std::slice::from_ref(self.func.ty(v)),
                    )
                    .remove(0),
            })
            .collect()
    }
}
