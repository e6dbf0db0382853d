//! What all functions of one module share: its types and attributes, the private functions made so far, and the first
//! failure.

use super::error::LowerError;
use crate::ir::literal::Literal;
use crate::ir::types::{Elem, Type};
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::r#type::{IntegerType, RankedTensorType};
use melior::ir::{Attribute, Identifier, Location, Operation, Type as MlirType};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// What all functions of one module share.
pub struct Session<'c> {
    pub context: &'c Context,
    /// Whether layouts are written down.
    pub has_mesh: bool,
    types: RefCell<HashMap<Type, MlirType<'c>>>,
    private_names: RefCell<BTreeSet<String>>,
    private: RefCell<Vec<Operation<'c>>>,
    failure: RefCell<Option<LowerError>>,
}

impl<'c> Session<'c> {
    pub fn new(context: &'c Context, has_mesh: bool) -> Self {
        Session {
            context,
            has_mesh,
            types: RefCell::default(),
            private_names: RefCell::default(),
            private: RefCell::default(),
            failure: RefCell::default(),
        }
    }

    /// `tensor<2x3xf32>`.
    pub fn tensor_type(&self, ty: &Type) -> MlirType<'c> {
        if let Some(&known) = self.types.borrow().get(ty) {
            return known;
        }
        let dims: Vec<u64> = ty.shape.iter().map(|&d| d as u64).collect();
        let made = RankedTensorType::new(&dims, self.elem_type(ty.elem), None).into();
        self.types.borrow_mut().insert(ty.clone(), made);
        made
    }

    fn elem_type(&self, elem: Elem) -> MlirType<'c> {
        let c = self.context;
        match elem {
            Elem::F32 => MlirType::float32(c),
            Elem::BF16 => MlirType::bfloat16(c),
            Elem::F16 => MlirType::float16(c),
            Elem::F64 => MlirType::float64(c),
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => {
                IntegerType::new(c, elem.bits() as u32).into()
            }
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
                IntegerType::unsigned(c, elem.bits() as u32).into()
            }
            Elem::Bool => IntegerType::new(c, 1).into(),
        }
    }

    pub fn i64s(&self, values: &[usize]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, &to_i64(values)).into()
    }

    pub fn signed_i64s(&self, values: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, values).into()
    }

    /// `n : i64`.
    pub fn i64(&self, value: usize) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.context, 64).into(), value as i64).into()
    }

    /// `n : i32`.
    pub fn i32(&self, value: usize) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.context, 32).into(), value as i64).into()
    }

    /// `dense<[[low, high], …]> : tensor<Nx2xi64>`.
    pub fn padding(&self, pairs: &[(i64, i64)]) -> Attribute<'c> {
        let flat: Vec<i64> = pairs.iter().flat_map(|&(low, high)| [low, high]).collect();
        let ty = self.tensor_type(&Type::new(Elem::I64, [pairs.len(), 2]));
        DenseElementsAttribute::i64_values(ty, &flat).into()
    }

    pub fn id(&self, name: &str) -> Identifier<'c> {
        Identifier::new(self.context, name)
    }

    /// Keeps the first failure; lowering goes on, and ends with it.
    pub fn fail(&self, location: Location<'c>, message: impl Into<String>) {
        let mut failure = self.failure.borrow_mut();
        failure.get_or_insert_with(|| LowerError {
            message: message.into(),
            place: shown(location),
        });
    }

    pub fn take_failure(&self) -> Option<LowerError> {
        self.failure.borrow_mut().take()
    }

    /// Whether a private function is asked for the first time; it is to be made then.
    pub fn is_new(&self, private: &str) -> bool {
        self.private_names.borrow_mut().insert(private.to_owned())
    }

    pub fn keep_private(&self, function: Operation<'c>) {
        self.private.borrow_mut().push(function);
    }

    /// The private functions made so far, each after those that it calls.
    pub fn take_private(&self) -> Vec<Operation<'c>> {
        self.private.take()
    }
}

/// A location in MLIR's notation without `loc("…")`; nothing if it is unknown.
pub fn shown(location: Location<'_>) -> Option<String> {
    let text = location.to_string();
    let inner = text.strip_prefix("loc(")?.strip_suffix(')')?;
    (inner != "unknown").then(|| inner.replace('"', ""))
}

pub fn to_i64(values: &[usize]) -> Vec<i64> {
    values.iter().map(|&v| v as i64).collect()
}

/// A literal as the value of a constant.
pub fn elements<'c>(session: &Session<'c>, literal: &Literal) -> Attribute<'c> {
    let ty = literal.ty();
    let mlir_type = session.tensor_type(ty);
    let splat = literal.splat().filter(|_| ty.numel() > 0);
    if ty.elem == Elem::Bool {
        return match splat {
            Some(bit) => DenseElementsAttribute::bool_splat(mlir_type, bit != 0),
            None => {
                let bits: Vec<i32> = literal.iter_bits().map(|b| b as i32).collect();
                DenseElementsAttribute::bool_values(mlir_type, &bits)
            }
        }
        .into();
    }
    let width = ty.elem.bytes();
    let bytes: Vec<u8> = match splat {
        Some(bits) => bits.to_le_bytes()[..width].to_vec(),
        None => literal
            .iter_bits()
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(width))
            .collect(),
    };
    DenseElementsAttribute::raw_buffer(mlir_type, &bytes).into()
}
