//! Compiled programs.

use std::ffi::c_char;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use pjrt_sys::{
    PJRT_Buffer, PJRT_Event, PJRT_Executable, PJRT_Executable_Destroy_Args,
    PJRT_Executable_NumOutputs_Args, PJRT_Executable_OutputDimensions_Args,
    PJRT_Executable_OutputElementTypes_Args, PJRT_Executable_Serialize_Args,
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_AddressableDevices_Args, PJRT_LoadedExecutable_Destroy_Args,
    PJRT_LoadedExecutable_Execute_Args, PJRT_LoadedExecutable_GetExecutable_Args,
};

use super::api::{Failure, call, copy_bytes};
use super::buffer::{Buffer, dtype_of};
use super::client::{Client, invalid, null};
use super::event::Event;
use super::structs;
use crate::host::TensorSpec;

/// A program that is compiled and loaded. It keeps its client alive.
pub struct Executable {
    client: Arc<Client>,
    loaded: NonNull<PJRT_LoadedExecutable>,
    /// The part that does not depend on devices; asked for once and owned.
    program: NonNull<PJRT_Executable>,
    num_outputs: usize,
    /// Indices among the client's devices, in the order in which rows of arguments come.
    devices: Vec<usize>,
}

// SAFETY: PJRT executables may be used from any thread, and several at once.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

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

/// Results of a started execution, a row for each device.
pub struct Outputs {
    pub rows: Vec<Vec<Buffer>>,
    /// One event for each device, where they were asked for.
    pub done: Vec<Event>,
}

impl Executable {
    /// Takes ownership of an executable that a call returned.
    ///
    /// # Safety
    /// `raw` is null or a live executable of this client that nothing else will destroy.
    pub(super) unsafe fn own(
        client: &Arc<Client>,
        raw: *mut PJRT_LoadedExecutable,
    ) -> Result<Executable, Failure> {
        let loaded = NonNull::new(raw).ok_or_else(|| null("PJRT_Client_Compile"))?;
        let mut args = PJRT_LoadedExecutable_GetExecutable_Args::new();
        args.loaded_executable = loaded.as_ptr();
        let got = call!(client.api(), PJRT_LoadedExecutable_GetExecutable, args).and_then(|()| {
            NonNull::new(args.executable).ok_or_else(|| null("PJRT_LoadedExecutable_GetExecutable"))
        });
        let program = match got {
            Ok(program) => program,
            Err(failure) => {
                destroy_loaded(client, loaded);
                return Err(failure);
            }
        };
        let mut executable = Executable {
            client: Arc::clone(client),
            loaded,
            program,
            num_outputs: 0,
            devices: Vec::new(),
        };
        executable.num_outputs = executable.read_num_outputs()?;
        executable.devices = executable.read_devices()?;
        Ok(executable)
    }

    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Indices among the client's devices of those it runs on, in the order of argument rows.
    pub fn devices(&self) -> &[usize] {
        &self.devices
    }

    fn read_num_outputs(&self) -> Result<usize, Failure> {
        let mut args = PJRT_Executable_NumOutputs_Args::new();
        args.executable = self.program.as_ptr();
        call!(self.client.api(), PJRT_Executable_NumOutputs, args)?;
        Ok(args.num_outputs)
    }

    fn read_devices(&self) -> Result<Vec<usize>, Failure> {
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.loaded.as_ptr();
        call!(
            self.client.api(),
            PJRT_LoadedExecutable_AddressableDevices,
            args
        )?;
        if args.addressable_devices.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the call succeeded, so the array has that many entries.
        let devices = unsafe {
            std::slice::from_raw_parts(args.addressable_devices, args.num_addressable_devices)
        };
        devices
            .iter()
            .map(|&device| {
                self.client.device_index(device).ok_or_else(|| {
                    invalid("the program was placed on a device of another process".to_owned())
                })
            })
            .collect()
    }

    /// The types of the outputs on one device. `None` for an element type that this crate lacks.
    pub fn output_specs(&self) -> Result<Vec<Option<TensorSpec>>, Failure> {
        let mut types = PJRT_Executable_OutputElementTypes_Args::new();
        types.executable = self.program.as_ptr();
        call!(self.client.api(), PJRT_Executable_OutputElementTypes, types)?;
        let mut dims = PJRT_Executable_OutputDimensions_Args::new();
        dims.executable = self.program.as_ptr();
        call!(self.client.api(), PJRT_Executable_OutputDimensions, dims)?;
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

    /// Starts the program on its devices: `rows[d]` are the arguments for device `d`, all rows of
    /// one length. Arguments whose index is in `kept` are not donated although the program would
    /// take them. Returns without waiting; with `with_events`, the completion events come back too.
    pub fn execute(
        &self,
        rows: &[Vec<&Buffer>],
        kept: &[i64],
        with_events: bool,
    ) -> Result<Outputs, Failure> {
        let num_devices = self.devices.len();
        let num_args = rows.first().map_or(0, Vec::len);
        if rows.len() != num_devices || rows.iter().any(|row| row.len() != num_args) {
            return Err(invalid(format!(
                "{} rows of arguments for {num_devices} devices",
                rows.len()
            )));
        }
        let arguments: Vec<Vec<*mut PJRT_Buffer>> = rows
            .iter()
            .map(|row| row.iter().map(|buffer| buffer.raw()).collect())
            .collect();
        let argument_rows: Vec<*const *mut PJRT_Buffer> =
            arguments.iter().map(|row| row.as_ptr()).collect();
        let mut outputs: Vec<Vec<*mut PJRT_Buffer>> =
            vec![vec![ptr::null_mut(); self.num_outputs]; num_devices];
        let output_rows: Vec<*mut *mut PJRT_Buffer> =
            outputs.iter_mut().map(|row| row.as_mut_ptr()).collect();
        let mut events: Vec<*mut PJRT_Event> = vec![ptr::null_mut(); num_devices];

        let mut options = structs::ExecuteOptions::new();
        options.head.non_donatable_input_indices = kept.as_ptr();
        options.head.num_non_donatable_input_indices = kept.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.loaded.as_ptr();
        args.options = (&raw mut options).cast();
        args.argument_lists = argument_rows.as_ptr();
        args.num_devices = num_devices;
        args.num_args = num_args;
        args.output_lists = output_rows.as_ptr();
        if with_events {
            args.device_complete_events = events.as_mut_ptr();
        }
        call!(self.client.api(), PJRT_LoadedExecutable_Execute, args)?;

        // SAFETY: the call succeeded and passed the ownership of each output and event.
        let done = unsafe {
            events
                .iter()
                .filter_map(|&event| Event::own(self.client.api(), event))
                .collect()
        };
        let mut complete = true;
        let rows = outputs
            .iter()
            .map(|row| {
                row.iter()
                    .filter_map(|&raw| {
                        // SAFETY: as above.
                        let buffer = unsafe { Buffer::own(&self.client, raw) };
                        complete &= buffer.is_some();
                        buffer
                    })
                    .collect()
            })
            .collect();
        if !complete {
            return Err(null("PJRT_LoadedExecutable_Execute"));
        }
        Ok(Outputs { rows, done })
    }

    pub fn memory(&self) -> Result<CompiledMemory, Failure> {
        let mut args = structs::CompiledMemoryStats::new(self.program.as_ptr());
        call!(
            self.client.api(),
            PJRT_Executable_GetCompiledMemoryStats,
            args
        )?;
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
        args.executable = self.program.as_ptr();
        call!(
            self.client.api(),
            PJRT_Executable_SizeOfGeneratedCodeInBytes,
            args
        )?;
        Ok(u64::try_from(args.size_in_bytes).unwrap_or(0))
    }

    /// Bytes that [`Client::deserialize`] of the same plugin loads again.
    pub fn serialize(&self) -> Result<Vec<u8>, Failure> {
        let mut args = PJRT_Executable_Serialize_Args::new();
        args.executable = self.program.as_ptr();
        call!(self.client.api(), PJRT_Executable_Serialize, args)?;
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
}

impl Drop for Executable {
    fn drop(&mut self) {
        let mut args = PJRT_Executable_Destroy_Args::new();
        args.executable = self.program.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.client.api(), PJRT_Executable_Destroy, args);
        destroy_loaded(&self.client, self.loaded);
    }
}

fn destroy_loaded(client: &Client, loaded: NonNull<PJRT_LoadedExecutable>) {
    let mut args = PJRT_LoadedExecutable_Destroy_Args::new();
    args.executable = loaded.as_ptr();
    // As above.
    let _ = call!(client.api(), PJRT_LoadedExecutable_Destroy, args);
}
