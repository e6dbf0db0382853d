//! Between the compiler's types and the runtime's, which know nothing of each other.

use tpuc_compiler::ir;
use tpuc_lang::typed;
use tpuc_runtime::host::{DType, TensorSpec};

pub fn dtype(elem: ir::Elem) -> DType {
    match elem {
        ir::Elem::F32 => DType::F32,
        ir::Elem::BF16 => DType::BF16,
        ir::Elem::F16 => DType::F16,
        ir::Elem::F64 => DType::F64,
        ir::Elem::I8 => DType::I8,
        ir::Elem::I16 => DType::I16,
        ir::Elem::I32 => DType::I32,
        ir::Elem::I64 => DType::I64,
        ir::Elem::U8 => DType::U8,
        ir::Elem::U16 => DType::U16,
        ir::Elem::U32 => DType::U32,
        ir::Elem::U64 => DType::U64,
        ir::Elem::Bool => DType::Bool,
    }
}

pub fn elem(dtype: DType) -> ir::Elem {
    match dtype {
        DType::F32 => ir::Elem::F32,
        DType::BF16 => ir::Elem::BF16,
        DType::F16 => ir::Elem::F16,
        DType::F64 => ir::Elem::F64,
        DType::I8 => ir::Elem::I8,
        DType::I16 => ir::Elem::I16,
        DType::I32 => ir::Elem::I32,
        DType::I64 => ir::Elem::I64,
        DType::U8 => ir::Elem::U8,
        DType::U16 => ir::Elem::U16,
        DType::U32 => ir::Elem::U32,
        DType::U64 => ir::Elem::U64,
        DType::Bool => ir::Elem::Bool,
    }
}

pub fn spec(ty: &ir::Type) -> TensorSpec {
    TensorSpec::new(dtype(ty.elem), ty.shape.clone())
}

/// The language's type of a tensor from outside.
pub fn tensor_ty(spec: &TensorSpec) -> typed::Ty {
    let sizes: Vec<i64> = spec.shape.iter().map(|&n| n as i64).collect();
    let elem = match spec.dtype {
        DType::F32 => typed::Elem::F32,
        DType::BF16 => typed::Elem::BF16,
        DType::F16 => typed::Elem::F16,
        DType::F64 => typed::Elem::F64,
        DType::I8 => typed::Elem::I8,
        DType::I16 => typed::Elem::I16,
        DType::I32 => typed::Elem::I32,
        DType::I64 => typed::Elem::I64,
        DType::U8 => typed::Elem::U8,
        DType::U16 => typed::Elem::U16,
        DType::U32 => typed::Elem::U32,
        DType::U64 => typed::Elem::U64,
        DType::Bool => typed::Elem::Bool,
    };
    typed::Ty::tensor(elem, &sizes)
}
