//! A compiled program, apart from the devices that it is loaded on.

use std::ffi::c_char;
use std::ptr::NonNull;

use pjrt_sys::{
    PJRT_Executable, PJRT_Executable_Destroy_Args, PJRT_Executable_GetCostAnalysis_Args,
    PJRT_Executable_NumOutputs_Args, PJRT_Executable_OutputDimensions_Args,
    PJRT_Executable_OutputElementTypes_Args, PJRT_Executable_Serialize_Args,
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
};

use super::api::{Api, Failure, call, copy_bytes};
use super::buffer::dtype_of;
use super::client::null;
use super::options::{self, NamedValue};
use super::structs;
use crate::host::TensorSpec;

/// A compiled program: what it gives, what it takes of memory, and its bytes.
pub struct Program {
    api: Api,
    raw: NonNull<PJRT_Executable>,
    num_outputs: usize,
}

// SAFETY: PJRT executables may be used from any thread, and several at once.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

/// What a program takes on each device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompiledMemory {
    pub arguments: u64,
    pub outputs: u64,
    /// The part of the outputs that reuses donated arguments.
    pub aliased: u64,
    pub temporaries: u64,
    pub code: u64,
    /// `None` where the plugin does not know it.
    pub peak: Option<u64>,
}

impl Program {
    /// Takes ownership of a program that a call returned.
    ///
    /// # Safety
    /// `raw` is null or a live program of this plugin that nothing else will destroy.
    pub(super) unsafe fn own(api: Api, raw: *mut PJRT_Executable) -> Result<Program, Failure> {
        let raw = NonNull::new(raw).ok_or_else(|| null("PJRT_LoadedExecutable_GetExecutable"))?;
        let mut program = Program {
            api,
            raw,
            num_outputs: 0,
        };
        let mut args = PJRT_Executable_NumOutputs_Args::new();
        args.executable = program.raw.as_ptr();
        call!(api, PJRT_Executable_NumOutputs, args)?;
        program.num_outputs = args.num_outputs;
        Ok(program)
    }

    pub fn num_outputs(&self) -> usize {
        self.num_outputs
    }

    /// The types of the outputs on one device. `None` for an element type that this crate lacks.
    pub fn output_specs(&self) -> Result<Vec<Option<TensorSpec>>, Failure> {
        let mut types = PJRT_Executable_OutputElementTypes_Args::new();
        types.executable = self.raw.as_ptr();
        call!(self.api, PJRT_Executable_OutputElementTypes, types)?;
        let mut dims = PJRT_Executable_OutputDimensions_Args::new();
        dims.executable = self.raw.as_ptr();
        call!(self.api, PJRT_Executable_OutputDimensions, dims)?;
        let count = self.num_outputs;
        if count == 0 {
            return Ok(Vec::new());
        }
        if types.num_output_types != count || types.output_types.is_null() {
            return Err(null("PJRT_Executable_OutputElementTypes"));
        }
        if dims.num_outputs != count || dims.dim_sizes.is_null() {
            return Err(null("PJRT_Executable_OutputDimensions"));
        }
        // SAFETY: the calls succeeded: a type and a rank for each output, and one flat array of
        // dimensions as long as the sum of the ranks (not looked at when that is 0).
        let (types, ranks, dims) = unsafe {
            let ranks = std::slice::from_raw_parts(dims.dim_sizes, count);
            let total: usize = ranks.iter().sum();
            let flat = if total == 0 || dims.dims.is_null() {
                &[]
            } else {
                std::slice::from_raw_parts(dims.dims, total)
            };
            let types = std::slice::from_raw_parts(types.output_types, count);
            (types, ranks, flat)
        };
        let mut specs = Vec::with_capacity(count);
        let mut rest = dims;
        for (&element, &rank) in types.iter().zip(ranks) {
            let Some((own, others)) = rest.split_at_checked(rank) else {
                return Err(null("PJRT_Executable_OutputDimensions"));
            };
            rest = others;
            let shape: Option<Vec<usize>> =
                own.iter().map(|&dim| usize::try_from(dim).ok()).collect();
            specs.push(
                dtype_of(element)
                    .zip(shape)
                    .map(|(dtype, shape)| TensorSpec { dtype, shape }),
            );
        }
        Ok(specs)
    }

    pub fn memory(&self) -> Result<CompiledMemory, Failure> {
        let mut args = structs::CompiledMemoryStats::new(self.raw.as_ptr());
        call!(self.api, PJRT_Executable_GetCompiledMemoryStats, args)?;
        let bytes = |value: i64| u64::try_from(value).unwrap_or(0);
        Ok(CompiledMemory {
            arguments: bytes(args.head.argument_size_in_bytes),
            outputs: bytes(args.head.output_size_in_bytes),
            aliased: bytes(args.head.alias_size_in_bytes),
            temporaries: bytes(args.head.temp_size_in_bytes),
            code: bytes(args.head.generated_code_size_in_bytes).max(self.code_size()?),
            peak: u64::try_from(args.peak_memory_in_bytes)
                .ok()
                .filter(|&peak| peak > 0),
        })
    }

    fn code_size(&self) -> Result<u64, Failure> {
        let mut args = PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::new();
        args.executable = self.raw.as_ptr();
        call!(self.api, PJRT_Executable_SizeOfGeneratedCodeInBytes, args)?;
        Ok(u64::try_from(args.size_in_bytes).unwrap_or(0))
    }

    /// Bytes that [`Client::deserialize`] of the same plugin loads again.
    pub fn serialize(&self) -> Result<Vec<u8>, Failure> {
        let mut args = PJRT_Executable_Serialize_Args::new();
        args.executable = self.raw.as_ptr();
        call!(self.api, PJRT_Executable_Serialize, args)?;
        let data: *const c_char = args.serialized_bytes;
        // SAFETY: the call succeeded; the bytes are copied before their deleter runs, once.
        unsafe {
            let bytes = copy_bytes(data, args.serialized_bytes_size);
            if let Some(delete) = args.serialized_executable_deleter {
                delete(args.serialized_executable);
            }
            Ok(bytes)
        }
    }

    /// What the plugin's compiler expects of one execution, by names such as `flops`.
    pub fn cost(&self) -> Result<Vec<NamedValue>, Failure> {
        let mut args = PJRT_Executable_GetCostAnalysis_Args::new();
        args.executable = self.raw.as_ptr();
        call!(self.api, PJRT_Executable_GetCostAnalysis, args)?;
        // SAFETY: the call succeeded, so the plugin's array has that many valid entries.
        Ok(unsafe { options::read_values(args.properties, args.num_properties) })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let mut args = PJRT_Executable_Destroy_Args::new();
        args.executable = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.api, PJRT_Executable_Destroy, args);
    }
}
