//! Programs on the devices of a client.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use pjrt_sys::{
    PJRT_Buffer, PJRT_Event, PJRT_LoadedExecutable, PJRT_LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable_Destroy_Args, PJRT_LoadedExecutable_Execute_Args,
    PJRT_LoadedExecutable_GetExecutable_Args,
};

use super::api::{Failure, call};
use super::buffer::Buffer;
use super::client::{Client, invalid, null};
use super::event::Event;
use super::program::Program;
use super::structs;

/// A program that is compiled and loaded. It keeps its client alive.
pub struct Executable {
    /// The part that does not depend on devices; asked for once, and gone before the rest.
    program: Program,
    loaded: Loaded,
    /// Indices among the client's devices, in the order in which rows of arguments come.
    devices: Vec<usize>,
}

/// The handle of a loaded program.
struct Loaded {
    client: Arc<Client>,
    raw: NonNull<PJRT_LoadedExecutable>,
}

// SAFETY: PJRT executables may be used from any thread, and several at once.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

/// Results of a started execution.
pub struct Outputs {
    /// Those of each device, one device after another.
    pub results: Vec<Buffer>,
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
        let loaded = Loaded {
            client: Arc::clone(client),
            raw: NonNull::new(raw).ok_or_else(|| null("PJRT_Client_Compile"))?,
        };
        let mut args = PJRT_LoadedExecutable_GetExecutable_Args::new();
        args.loaded_executable = loaded.raw.as_ptr();
        call!(client.api(), PJRT_LoadedExecutable_GetExecutable, args)?;
        Ok(Executable {
            // SAFETY: the call succeeded and passed the program's ownership.
            program: unsafe { Program::own(client.api(), args.executable)? },
            devices: loaded.devices()?,
            loaded,
        })
    }

    pub fn client(&self) -> &Arc<Client> {
        &self.loaded.client
    }

    /// What was compiled, apart from the devices.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Indices among the client's devices of those it runs on, in the order of argument rows.
    pub fn devices(&self) -> &[usize] {
        &self.devices
    }

    /// Starts the program on its devices: the arguments of each, one device after another. Arguments whose index is in `kept` are not donated although the program would
    /// take them. Returns without waiting; with `with_events`, the completion events come back too.
    pub fn execute(
        &self,
        arguments: &[&Buffer],
        kept: &[i64],
        with_events: bool,
    ) -> Result<Outputs, Failure> {
        let num_devices = self.devices.len();
        let num_args = arguments.len() / num_devices.max(1);
        if arguments.len() != num_args * num_devices {
            return Err(invalid(format!(
                "{} arguments for {num_devices} devices",
                arguments.len()
            )));
        }
        let arguments: Vec<*mut PJRT_Buffer> = arguments.iter().map(|b| b.raw()).collect();
        let num_outputs = self.program.num_outputs();
        let mut outputs: Vec<*mut PJRT_Buffer> = vec![ptr::null_mut(); num_outputs * num_devices];
        let first = arguments.as_ptr();
        let row_of = |device: usize| first.wrapping_add(device * num_args);
        let argument_rows: Vec<*const *mut PJRT_Buffer> = (0..num_devices).map(row_of).collect();
        let first = outputs.as_mut_ptr();
        let row_of = |device: usize| first.wrapping_add(device * num_outputs);
        let output_rows: Vec<*mut *mut PJRT_Buffer> = (0..num_devices).map(row_of).collect();
        let awaited = if with_events { num_devices } else { 0 };
        let mut events: Vec<*mut PJRT_Event> = vec![ptr::null_mut(); awaited];

        let mut options = structs::ExecuteOptions::new();
        options.head.non_donatable_input_indices = kept.as_ptr();
        options.head.num_non_donatable_input_indices = kept.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.loaded.raw.as_ptr();
        args.options = (&raw mut options).cast();
        args.argument_lists = argument_rows.as_ptr();
        args.num_devices = num_devices;
        args.num_args = num_args;
        args.output_lists = output_rows.as_ptr();
        if with_events {
            args.device_complete_events = events.as_mut_ptr();
        }
        call!(self.client().api(), PJRT_LoadedExecutable_Execute, args)?;

        // SAFETY: the call succeeded and passed the ownership of each output and event.
        let done = unsafe {
            events
                .iter()
                .filter_map(|&event| Event::own(self.client().api(), event))
                .collect()
        };
        let mut results = Vec::with_capacity(outputs.len());
        // SAFETY: as above.
        results.extend(
            outputs
                .iter()
                .filter_map(|&raw| unsafe { Buffer::own(self.client(), raw) }),
        );
        if results.len() != outputs.len() {
            return Err(null("PJRT_LoadedExecutable_Execute"));
        }
        Ok(Outputs { results, done })
    }
}

impl Loaded {
    fn devices(&self) -> Result<Vec<usize>, Failure> {
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.raw.as_ptr();
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
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let mut args = PJRT_LoadedExecutable_Destroy_Args::new();
        args.executable = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.client.api(), PJRT_LoadedExecutable_Destroy, args);
    }
}
