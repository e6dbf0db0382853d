//! The MLIR library that the build linked is the one with StableHLO in it.
#![cfg(feature = "mlir")]

use melior::{
    Context,
    dialect::{DialectHandle, DialectRegistry},
    ir::{Module, operation::OperationLike},
};

unsafe extern "C" {
    fn mlirGetDialectHandle__stablehlo__() -> mlir_sys::MlirDialectHandle;
    fn mlirGetDialectHandle__func__() -> mlir_sys::MlirDialectHandle;
}

fn context() -> Context {
    let registry = DialectRegistry::new();
    // SAFETY: both functions take nothing and return a handle to a static dialect hook of the linked library.
    let (stablehlo, func) = unsafe {
        (
            DialectHandle::from_raw(mlirGetDialectHandle__stablehlo__()),
            DialectHandle::from_raw(mlirGetDialectHandle__func__()),
        )
    };
    stablehlo.insert_dialect(&registry);
    func.insert_dialect(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();
    context
}

#[test]
fn parses_and_verifies_stablehlo() {
    let context = context();
    let source = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %y = stablehlo.add %x, %x : tensor<2x3xf32>
        return %y : tensor<2x3xf32>
    }";
    let module = Module::parse(&context, source).expect("the module is well formed");
    assert!(module.as_operation().verify());
    assert!(module.as_operation().to_string().contains("stablehlo.add"));
}

#[test]
fn refuses_ill_typed_stablehlo() {
    let context = context();
    let source = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
        %y = \"stablehlo.add\"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
        return %y : tensor<2x2xf32>
    }";
    assert!(Module::parse(&context, source).is_none());
}
