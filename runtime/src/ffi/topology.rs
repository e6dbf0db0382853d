//! Devices that are described, not there: what a program can be compiled for ahead of time.

use std::ptr::{self, NonNull};

use pjrt_sys::{
    PJRT_Compile_Args, PJRT_DeviceDescription_Attributes_Args, PJRT_DeviceDescription_Kind_Args,
    PJRT_Program, PJRT_TopologyDescription, PJRT_TopologyDescription_Create_Args,
    PJRT_TopologyDescription_Destroy_Args, PJRT_TopologyDescription_GetDeviceDescriptions_Args,
};

use super::api::{Api, Failure, call, copy_text};
use super::client::null;
use super::options::{self, NamedValue};
use super::program::Program;

/// A description of devices.
pub struct Topology {
    api: Api,
    raw: NonNull<PJRT_TopologyDescription>,
}

// SAFETY: PJRT topologies are immutable, and may be used from any thread.
unsafe impl Send for Topology {}
// SAFETY: as above.
unsafe impl Sync for Topology {}

/// What a plugin says of a described device.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipText {
    pub kind: String,
    pub attributes: Vec<NamedValue>,
}

impl Topology {
    /// `name`: in the plugin's own form, such as `v6e:2x2`.
    pub fn create(api: Api, name: &str) -> Result<Topology, Failure> {
        let mut args = PJRT_TopologyDescription_Create_Args::new();
        args.topology_name = name.as_ptr().cast();
        args.topology_name_size = name.len();
        call!(api, PJRT_TopologyDescription_Create, args)?;
        let raw =
            NonNull::new(args.topology).ok_or_else(|| null("PJRT_TopologyDescription_Create"))?;
        Ok(Topology { api, raw })
    }

    /// The devices of the description, in their order.
    pub fn devices(&self) -> Result<Vec<ChipText>, Failure> {
        let mut args = PJRT_TopologyDescription_GetDeviceDescriptions_Args::new();
        args.topology = self.raw.as_ptr();
        call!(
            self.api,
            PJRT_TopologyDescription_GetDeviceDescriptions,
            args
        )?;
        if args.descriptions.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the call succeeded, so the array has that many entries; it lives as long as the topology.
        let devices =
            unsafe { std::slice::from_raw_parts(args.descriptions, args.num_descriptions) };
        devices
            .iter()
            .map(|&device| {
                let mut kind = PJRT_DeviceDescription_Kind_Args::new();
                kind.device_description = device;
                call!(self.api, PJRT_DeviceDescription_Kind, kind)?;
                let mut attributes = PJRT_DeviceDescription_Attributes_Args::new();
                attributes.device_description = device;
                call!(self.api, PJRT_DeviceDescription_Attributes, attributes)?;
                // SAFETY: the calls succeeded; text and array live as long as the topology.
                unsafe {
                    Ok(ChipText {
                        kind: copy_text(kind.device_kind, kind.device_kind_size),
                        attributes: options::read_values(
                            attributes.attributes,
                            attributes.num_attributes,
                        ),
                    })
                }
            })
            .collect()
    }

    /// Compiles `code` for the devices: StableHLO and options as [`super::Client::compile`] takes them.
    pub fn compile(&self, code: &[u8], options: &[u8]) -> Result<Program, Failure> {
        let program = stablehlo(code);
        let mut args = PJRT_Compile_Args::new();
        args.topology = self.raw.as_ptr();
        args.program = &raw const program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        args.client = ptr::null_mut();
        call!(self.api, PJRT_Compile, args)?;
        // SAFETY: the call succeeded and passed the program's ownership.
        unsafe { Program::own(self.api, args.executable) }
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        let mut args = PJRT_TopologyDescription_Destroy_Args::new();
        args.topology = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.api, PJRT_TopologyDescription_Destroy, args);
    }
}

/// A program of StableHLO: text, bytecode or a portable artifact. It borrows the code.
pub(super) fn stablehlo(code: &[u8]) -> PJRT_Program {
    const FORMAT: &str = "mlir";
    let mut program = PJRT_Program::new();
    // The struct serves both directions; as an input the code is only read.
    program.code = code.as_ptr().cast_mut().cast();
    program.code_size = code.len();
    program.format = FORMAT.as_ptr().cast();
    program.format_size = FORMAT.len();
    program
}
