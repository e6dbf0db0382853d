//! Appending StableHLO ops to a block: the vocabulary in which the rest of the lowering is written.
//!
//! An [`Emit`] is a block and a location. Its methods are named for the ops they append. Building an op fails only
//! through a bug of the lowering; the first failure is kept in the [`Session`], an unknown op stands in for the one
//! that failed, and lowering ends with an error. So the methods give tensors, not results.

use super::ffi;
use super::func::Signature;
use super::session::{Session, elements};
use crate::ir::literal::Literal;
use crate::ir::op::ReduceOp;
use crate::ir::types::{Elem, Type};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{
    Attribute, Block, Identifier, Location, Operation, Region, RegionLike, Type as MlirType, Value,
};
use std::cell::RefCell;
use std::collections::HashMap;

/// A value of the module with its type.
#[derive(Clone, Debug)]
pub struct Tensor<'c> {
    pub value: Value<'c, 'c>,
    pub ty: Type,
}

/// A block under construction, and the constants that stand in it already.
pub struct OpenBlock<'c> {
    block: Block<'c>,
    constants: RefCell<HashMap<Literal, Tensor<'c>>>,
}

impl<'c> OpenBlock<'c> {
    pub fn new() -> Self {
        OpenBlock {
            block: Block::new(&[]),
            constants: RefCell::default(),
        }
    }

    pub fn add_param(&self, session: &Session<'c>, ty: &Type, at: Location<'c>) -> Tensor<'c> {
        Tensor {
            value: self.block.add_argument(session.tensor_type(ty), at),
            ty: ty.clone(),
        }
    }

    /// A region of this one block.
    pub fn into_region(self) -> Region<'c> {
        let region = Region::new();
        region.append_block(self.block);
        region
    }
}

/// A place where ops are appended.
#[derive(Clone, Copy)]
pub struct Emit<'b, 'c> {
    pub session: &'b Session<'c>,
    open: &'b OpenBlock<'c>,
    pub location: Location<'c>,
}

type Named<'n, 'c> = (&'n str, Attribute<'c>);

impl<'b, 'c> Emit<'b, 'c> {
    pub fn new(session: &'b Session<'c>, open: &'b OpenBlock<'c>, location: Location<'c>) -> Self {
        Emit {
            session,
            open,
            location,
        }
    }

    /// The same block, with another location for the ops to come.
    pub fn at(self, location: Location<'c>) -> Self {
        Emit { location, ..self }
    }

    /// Appends an op with one result.
    pub fn op(
        &self,
        name: &str,
        operands: &[&Tensor<'c>],
        attributes: &[Named<'_, 'c>],
        ty: &Type,
    ) -> Tensor<'c> {
        let operation = self.build(
            name,
            operands,
            attributes,
            std::slice::from_ref(ty),
            Vec::new(),
        );
        self.append(operation, std::slice::from_ref(ty)).remove(0)
    }

    /// Appends an op with any number of results, and regions.
    pub fn op_with(
        &self,
        name: &str,
        operands: &[&Tensor<'c>],
        attributes: &[Named<'_, 'c>],
        types: &[Type],
        regions: Vec<Region<'c>>,
    ) -> Vec<Tensor<'c>> {
        let operation = self.build(name, operands, attributes, types, regions);
        self.append(operation, types)
    }

    /// Appends `return` of a region or of a function.
    pub fn terminate(&self, name: &str, results: &[&Tensor<'c>]) {
        let operation = self.build(name, results, &[], &[], Vec::new());
        self.open.block.append_operation(operation);
    }

    fn build(
        &self,
        name: &str,
        operands: &[&Tensor<'c>],
        attributes: &[Named<'_, 'c>],
        types: &[Type],
        regions: Vec<Region<'c>>,
    ) -> Operation<'c> {
        let session = self.session;
        let operands: Vec<Value<'c, 'c>> = operands.iter().map(|t| t.value).collect();
        let attributes: Vec<(Identifier<'c>, Attribute<'c>)> = attributes
            .iter()
            .map(|&(key, attribute)| (session.id(key), attribute))
            .collect();
        let results: Vec<MlirType<'c>> = types.iter().map(|t| session.tensor_type(t)).collect();
        OperationBuilder::new(name, self.location)
            .add_operands(&operands)
            .add_attributes(&attributes)
            .add_results(&results)
            .add_regions_vec(regions)
            .build()
            .unwrap_or_else(|_| {
                session.fail(self.location, format!("building `{name}`"));
                self.placeholder(&results)
            })
    }

    /// An op of no dialect with the given results, so that lowering can go on to its end after a failure.
    fn placeholder(&self, results: &[MlirType<'c>]) -> Operation<'c> {
        OperationBuilder::new("tl.failed", self.location)
            .add_results(results)
            .build()
            // The library refuses an op only for its attributes, and this one has none.
            .expect("an op without attributes can be built")
    }

    fn append(&self, operation: Operation<'c>, types: &[Type]) -> Vec<Tensor<'c>> {
        let operation = self.open.block.append_operation(operation);
        operation
            .results()
            .zip(types)
            .map(|(result, ty)| Tensor {
                value: result.into(),
                ty: ty.clone(),
            })
            .collect()
    }

    /// Records that a primitive cannot be lowered; values of the given types stand in for its results.
    pub fn refuse(&self, message: &str, types: &[Type]) -> Vec<Tensor<'c>> {
        self.session.fail(self.location, message);
        let results: Vec<MlirType<'c>> =
            types.iter().map(|t| self.session.tensor_type(t)).collect();
        self.append(self.placeholder(&results), types)
    }

    /// A region of one block: `body` appends to it, and what it gives is returned.
    pub fn region(
        &self,
        params: &[Type],
        body: impl FnOnce(&Emit<'_, 'c>, Vec<Tensor<'c>>) -> Vec<Tensor<'c>>,
    ) -> Region<'c> {
        self.filled_region(params, "stablehlo.return", body).0
    }

    fn filled_region(
        &self,
        params: &[Type],
        terminator: &str,
        body: impl FnOnce(&Emit<'_, 'c>, Vec<Tensor<'c>>) -> Vec<Tensor<'c>>,
    ) -> (Region<'c>, Vec<Type>) {
        let open = OpenBlock::new();
        let args = params
            .iter()
            .map(|ty| open.add_param(self.session, ty, self.location))
            .collect();
        let inner = Emit::new(self.session, &open, self.location);
        let results = body(&inner, args);
        inner.terminate(terminator, &results.iter().collect::<Vec<_>>());
        let types = results.into_iter().map(|t| t.ty).collect();
        (open.into_region(), types)
    }

    /// Calls a private function of the module, which is made on first use. The name must tell apart all bodies;
    /// the types of the arguments are appended to it. All arguments have the type of the first.
    pub fn call(
        &self,
        name: &str,
        args: &[&Tensor<'c>],
        results: &[Type],
        body: impl FnOnce(&Emit<'_, 'c>, Vec<Tensor<'c>>) -> Vec<Tensor<'c>>,
    ) -> Vec<Tensor<'c>> {
        let session = self.session;
        let params: Vec<Type> = args.iter().map(|t| t.ty.clone()).collect();
        let name = format!("{name}.{}", params.first().map_or(String::new(), suffix));
        if session.is_new(&name) {
            let (region, types) = self.filled_region(&params, "func.return", body);
            let signature = Signature::private(&name, &params, &types);
            let function = signature.function(session, region, self.location);
            session.keep_private(function);
        }
        let callee = FlatSymbolRefAttribute::new(session.context, &name);
        self.op_with(
            "func.call",
            args,
            &[("callee", callee.into())],
            results,
            Vec::new(),
        )
    }

    /// `stablehlo.constant`; one op in a block for equal splats, which the lowering needs again and again.
    pub fn constant(&self, literal: &Literal) -> Tensor<'c> {
        let make = || {
            let value = elements(self.session, literal);
            self.op("stablehlo.constant", &[], &[("value", value)], literal.ty())
        };
        if literal.splat().is_none() {
            return make();
        }
        let mut known = self.open.constants.borrow_mut();
        match known.get(literal) {
            Some(tensor) => tensor.clone(),
            None => {
                let tensor = make();
                known.insert(literal.clone(), tensor.clone());
                tensor
            }
        }
    }

    /// Every element is `value`, rounded to the element type.
    pub fn splat(&self, ty: &Type, value: f64) -> Tensor<'c> {
        self.constant(&Literal::splat_f64(ty.clone(), value))
    }

    /// An i32 scalar.
    pub fn index(&self, value: usize) -> Tensor<'c> {
        self.constant(&Literal::splat_i64(Type::scalar(Elem::I32), value as i64))
    }

    pub fn binary(&self, name: &str, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        self.op(name, &[x, y], &[], &x.ty)
    }

    /// `stablehlo.compare`, by the order of the element type (floats as IEEE); `EQ NE LT LE GT GE`.
    pub fn compare(&self, direction: &str, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        let direction = ffi::comparison_direction(self.session.context, direction);
        self.op(
            "stablehlo.compare",
            &[x, y],
            &[("comparison_direction", direction)],
            &x.ty.with_elem(Elem::Bool),
        )
    }

    /// As [`Emit::compare`], of floats in IEEE 754's totalOrder.
    pub fn compare_total(&self, direction: &str, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        if !x.ty.elem.is_float() {
            return self.compare(direction, x, y);
        }
        let context = self.session.context;
        self.op(
            "stablehlo.compare",
            &[x, y],
            &[
                (
                    "comparison_direction",
                    ffi::comparison_direction(context, direction),
                ),
                ("compare_type", ffi::total_order(context)),
            ],
            &x.ty.with_elem(Elem::Bool),
        )
    }

    pub fn select(&self, condition: &Tensor<'c>, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        self.op("stablehlo.select", &[condition, x, y], &[], &x.ty)
    }

    pub fn reshape(&self, x: &Tensor<'c>, shape: &[usize]) -> Tensor<'c> {
        self.op("stablehlo.reshape", &[x], &[], &x.ty.with_shape(shape))
    }

    pub fn convert(&self, x: &Tensor<'c>, elem: Elem) -> Tensor<'c> {
        if x.ty.elem == elem {
            return x.clone();
        }
        self.op("stablehlo.convert", &[x], &[], &x.ty.with_elem(elem))
    }

    pub fn iota(&self, ty: &Type, axis: usize) -> Tensor<'c> {
        let axis = self.session.i64(axis);
        self.op("stablehlo.iota", &[], &[("iota_dimension", axis)], ty)
    }

    /// One step of a reduction, of two tensors.
    pub fn combine(&self, op: ReduceOp, x: &Tensor<'c>, y: &Tensor<'c>) -> Tensor<'c> {
        let bool = x.ty.elem == Elem::Bool;
        let name = match op {
            ReduceOp::Sum => "stablehlo.add",
            ReduceOp::Prod => "stablehlo.multiply",
            ReduceOp::Max if bool => "stablehlo.or",
            ReduceOp::Max => "stablehlo.maximum",
            ReduceOp::Min if bool => "stablehlo.and",
            ReduceOp::Min => "stablehlo.minimum",
        };
        self.binary(name, x, y)
    }

    /// The scalar with which a reduction begins.
    pub fn identity(&self, op: ReduceOp, elem: Elem) -> Tensor<'c> {
        self.constant(&op.identity(elem))
    }
}

/// `f32`, `f32_2x3`: a type as part of a symbol.
fn suffix(ty: &Type) -> String {
    let dims: Vec<String> = ty.shape.iter().map(usize::to_string).collect();
    if dims.is_empty() {
        ty.elem.name().to_string()
    } else {
        format!("{}_{}", ty.elem, dims.join("x"))
    }
}
