//! The calls into the MLIR library that melior does not wrap, each behind one safe function.
//! The only unsafe code of this crate; it knows nothing of the IR.

use melior::Context;
use melior::StringRef;
use melior::dialect::{DialectHandle, DialectRegistry};
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::ir::{Attribute, Module};
use mlir_sys::{
    MlirAttribute, MlirContext, MlirDialectHandle, MlirLogicalResult, MlirModule,
    MlirOpPrintingFlags, MlirStringCallback, MlirStringRef,
};
use std::ffi::c_void;
use std::mem::ManuallyDrop;

type Count = isize;
type Dims = *const i64;

unsafe extern "C" {
    fn mlirGetDialectHandle__stablehlo__() -> MlirDialectHandle;
    fn mlirDenseBoolArrayGet(context: MlirContext, n: Count, values: *const i32) -> MlirAttribute;
    fn mlirOpPrintingFlagsPrintNameLocAsPrefix(flags: MlirOpPrintingFlags);
    fn stablehloComparisonDirectionAttrGet(
        context: MlirContext,
        value: MlirStringRef,
    ) -> MlirAttribute;
    fn stablehloComparisonTypeAttrGet(context: MlirContext, value: MlirStringRef) -> MlirAttribute;
    fn stablehloTransposeAttrGet(context: MlirContext, value: MlirStringRef) -> MlirAttribute;
    fn stablehloDotDimensionNumbersGet(
        context: MlirContext,
        n_lhs_batch: Count,
        lhs_batch: Dims,
        n_rhs_batch: Count,
        rhs_batch: Dims,
        n_lhs_contract: Count,
        lhs_contract: Dims,
        n_rhs_contract: Count,
        rhs_contract: Dims,
    ) -> MlirAttribute;
    fn stablehloGatherDimensionNumbersGet(
        context: MlirContext,
        n_offset: Count,
        offset: Dims,
        n_collapsed: Count,
        collapsed: Dims,
        n_operand_batching: Count,
        operand_batching: Dims,
        n_indices_batching: Count,
        indices_batching: Dims,
        n_start_index_map: Count,
        start_index_map: Dims,
        index_vector_dim: i64,
    ) -> MlirAttribute;
    fn stablehloScatterDimensionNumbersGet(
        context: MlirContext,
        n_update_window: Count,
        update_window: Dims,
        n_inserted_window: Count,
        inserted_window: Dims,
        n_input_batching: Count,
        input_batching: Dims,
        n_indices_batching: Count,
        indices_batching: Dims,
        n_scatter_to_operand: Count,
        scatter_to_operand: Dims,
        index_vector_dim: i64,
    ) -> MlirAttribute;
    fn stablehloConvDimensionNumbersGet(
        context: MlirContext,
        input_batch: i64,
        input_feature: i64,
        n_input_spatial: Count,
        input_spatial: Dims,
        kernel_input: i64,
        kernel_output: i64,
        n_kernel_spatial: Count,
        kernel_spatial: Dims,
        output_batch: i64,
        output_feature: i64,
        n_output_spatial: Count,
        output_spatial: Dims,
    ) -> MlirAttribute;
    fn stablehloGetCurrentVersion(callback: MlirStringCallback, user_data: *mut c_void);
    fn stablehloGetSmallerVersion(
        one: MlirStringRef,
        other: MlirStringRef,
        callback: MlirStringCallback,
        user_data: *mut c_void,
    ) -> MlirLogicalResult;
    fn stablehloSerializePortableArtifactFromModule(
        module: MlirModule,
        version: MlirStringRef,
        callback: MlirStringCallback,
        user_data: *mut c_void,
        allow_other_dialects: bool,
    ) -> MlirLogicalResult;
}

/// A context in which `func` and `stablehlo` are loaded, one-threaded so that diagnostics come in order.
/// Other dialects may stand in attributes (`tf.aliasing_output`, `sdy.sharding`), unregistered.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    DialectHandle::func().insert_dialect(&registry);
    // SAFETY: the handle is a constant of the library.
    let stablehlo = unsafe { DialectHandle::from_raw(mlirGetDialectHandle__stablehlo__()) };
    stablehlo.insert_dialect(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    context.set_allow_unregistered_dialects(true);
    context
}

/// `array<i1: …>`.
pub fn bool_array<'c>(context: &'c Context, values: &[bool]) -> Attribute<'c> {
    let values: Vec<i32> = values.iter().map(|&b| i32::from(b)).collect();
    // SAFETY: pointer and count are of one vector, which the library copies.
    unsafe {
        Attribute::from_raw(mlirDenseBoolArrayGet(
            context.to_raw(),
            values.len() as Count,
            values.as_ptr(),
        ))
    }
}

/// `#stablehlo<comparison_direction …>`: `EQ NE LT LE GT GE`.
pub fn comparison_direction<'c>(context: &'c Context, direction: &str) -> Attribute<'c> {
    // SAFETY: the library copies the string.
    unsafe {
        Attribute::from_raw(stablehloComparisonDirectionAttrGet(
            context.to_raw(),
            StringRef::new(direction).to_raw(),
        ))
    }
}

/// `#stablehlo<comparison_type TOTALORDER>`.
pub fn total_order(context: &Context) -> Attribute<'_> {
    // SAFETY: the library copies the string.
    unsafe {
        Attribute::from_raw(stablehloComparisonTypeAttrGet(
            context.to_raw(),
            StringRef::new("TOTALORDER").to_raw(),
        ))
    }
}

/// `#stablehlo<transpose …>`: `NO_TRANSPOSE TRANSPOSE ADJOINT`.
pub fn transpose<'c>(context: &'c Context, value: &str) -> Attribute<'c> {
    // SAFETY: the library copies the string.
    unsafe {
        Attribute::from_raw(stablehloTransposeAttrGet(
            context.to_raw(),
            StringRef::new(value).to_raw(),
        ))
    }
}

/// `#stablehlo.dot<…>`, from the four lists in the order of their names in [`crate::ir::op::DotDims`].
pub fn dot_dimensions<'c>(context: &'c Context, [lb, rb, lc, rc]: [&[i64]; 4]) -> Attribute<'c> {
    let n = |list: &[i64]| list.len() as Count;
    // SAFETY: each pointer goes with its own count, and the library copies the lists.
    unsafe {
        Attribute::from_raw(stablehloDotDimensionNumbersGet(
            context.to_raw(),
            n(lb),
            lb.as_ptr(),
            n(rb),
            rb.as_ptr(),
            n(lc),
            lc.as_ptr(),
            n(rc),
            rc.as_ptr(),
        ))
    }
}

/// `#stablehlo.gather<…>`: offset, collapsed, operand batching, indices batching, start index map.
pub fn gather_dimensions<'c>(
    context: &'c Context,
    lists: [&[i64]; 5],
    index_vector_dim: i64,
) -> Attribute<'c> {
    let n = |i: usize| lists[i].len() as Count;
    // SAFETY: each pointer goes with its own count, and the library copies the lists.
    unsafe {
        Attribute::from_raw(stablehloGatherDimensionNumbersGet(
            context.to_raw(),
            n(0),
            lists[0].as_ptr(),
            n(1),
            lists[1].as_ptr(),
            n(2),
            lists[2].as_ptr(),
            n(3),
            lists[3].as_ptr(),
            n(4),
            lists[4].as_ptr(),
            index_vector_dim,
        ))
    }
}

/// `#stablehlo.scatter<…>`: update window, inserted window, input batching, indices batching, scatter to operand.
pub fn scatter_dimensions<'c>(
    context: &'c Context,
    lists: [&[i64]; 5],
    index_vector_dim: i64,
) -> Attribute<'c> {
    let n = |i: usize| lists[i].len() as Count;
    // SAFETY: each pointer goes with its own count, and the library copies the lists.
    unsafe {
        Attribute::from_raw(stablehloScatterDimensionNumbersGet(
            context.to_raw(),
            n(0),
            lists[0].as_ptr(),
            n(1),
            lists[1].as_ptr(),
            n(2),
            lists[2].as_ptr(),
            n(3),
            lists[3].as_ptr(),
            n(4),
            lists[4].as_ptr(),
            index_vector_dim,
        ))
    }
}

/// Where the dimensions of one array of a convolution stand.
pub struct ConvLayout<'a> {
    pub first: i64,
    pub second: i64,
    pub spatial: &'a [i64],
}

/// `#stablehlo.conv<…>`: input (batch, feature), kernel (input, output feature), output (batch, feature).
pub fn conv_dimensions<'c>(context: &'c Context, arrays: [ConvLayout<'_>; 3]) -> Attribute<'c> {
    let [input, kernel, output] = arrays;
    // SAFETY: each pointer goes with its own count, and the library copies the lists.
    unsafe {
        Attribute::from_raw(stablehloConvDimensionNumbersGet(
            context.to_raw(),
            input.first,
            input.second,
            input.spatial.len() as Count,
            input.spatial.as_ptr(),
            kernel.first,
            kernel.second,
            kernel.spatial.len() as Count,
            kernel.spatial.as_ptr(),
            output.first,
            output.second,
            output.spatial.len() as Count,
            output.spatial.as_ptr(),
        ))
    }
}

/// The version of StableHLO that the library writes by itself, such as `1.13.2`.
pub fn stablehlo_version() -> String {
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: `collect` is called before the function returns, with the pointer to `bytes`.
    unsafe { stablehloGetCurrentVersion(Some(collect), (&raw mut bytes).cast()) };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The older of two versions; nothing if one of them is no version.
pub fn older_version(one: &str, other: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: the strings are read, and `collect` is called with the pointer to `bytes`, before the function returns.
    let result = unsafe {
        stablehloGetSmallerVersion(
            StringRef::new(one).to_raw(),
            StringRef::new(other).to_raw(),
            Some(collect),
            (&raw mut bytes).cast(),
        )
    };
    (result.value != 0).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Printing flags under which a value with a named location is shown by that name.
pub fn names_as_prefixes(flags: OperationPrintingFlags) -> OperationPrintingFlags {
    // SAFETY: the flags are alive.
    unsafe { mlirOpPrintingFlagsPrintNameLocAsPrefix(flags.to_raw()) };
    flags
}

/// A module together with the context that it lives in.
pub struct OwnedModule {
    module: ManuallyDrop<Module<'static>>,
    // Boxed, so that it stays where it is; dropped after the module.
    context: Box<Context>,
}

impl OwnedModule {
    /// Builds a module in a context and keeps both.
    pub fn build<E>(
        context: Context,
        build: impl for<'c> FnOnce(&'c Context) -> Result<Module<'c>, E>,
    ) -> Result<OwnedModule, E> {
        let context = Box::new(context);
        let module = ManuallyDrop::new(build(&context)?);
        // SAFETY: the module is only handed out with a shorter lifetime than that of `self`, and is dropped before
        // the context, which does not move.
        let module = unsafe { Module::from_raw(module.to_raw()) };
        Ok(OwnedModule {
            module: ManuallyDrop::new(module),
            context,
        })
    }

    pub fn get(&self) -> &Module<'_> {
        &self.module
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// StableHLO's stable serialisation for readers of `version` or later; `None` with diagnostics on failure.
    pub fn portable_artifact(&self, version: &str) -> Option<Vec<u8>> {
        let mut bytes: Vec<u8> = Vec::new();
        // SAFETY: the module is alive, the string is copied, and `collect` is called with the pointer to `bytes`
        // before the function returns. The function clones the module before it changes it.
        let result = unsafe {
            stablehloSerializePortableArtifactFromModule(
                self.module.to_raw(),
                StringRef::new(version).to_raw(),
                Some(collect),
                (&raw mut bytes).cast(),
                false,
            )
        };
        (result.value != 0).then_some(bytes)
    }

    /// MLIR text; with locations as aliases at the end.
    pub fn text(&self, flags: OperationPrintingFlags) -> Option<String> {
        self.module.as_operation().to_string_with_flags(flags).ok()
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: dropped once, here, while the context is alive.
        unsafe { ManuallyDrop::drop(&mut self.module) };
    }
}

/// Appends what the library hands over to the `Vec<u8>` behind `user_data`.
unsafe extern "C" fn collect(text: MlirStringRef, user_data: *mut c_void) {
    if text.length == 0 {
        return;
    }
    // SAFETY: `user_data` is the vector of the caller, and the library's string is valid during this call.
    unsafe {
        let bytes = std::slice::from_raw_parts(text.data.cast::<u8>(), text.length);
        (*user_data.cast::<Vec<u8>>()).extend_from_slice(bytes);
    }
}
