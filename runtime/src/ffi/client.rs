//! A plugin's client: its devices, uploads and compilation.

use std::ptr::NonNull;
use std::sync::Arc;

use pjrt_sys::{
    PJRT_Client, PJRT_Client_BufferFromHostBuffer_Args, PJRT_Client_Compile_Args,
    PJRT_Client_Destroy_Args, PJRT_Client_Devices_Args, PJRT_Client_PlatformName_Args,
    PJRT_Client_PlatformVersion_Args, PJRT_Client_ProcessIndex_Args, PJRT_Device,
    PJRT_Device_GetDescription_Args, PJRT_Device_IsAddressable_Args, PJRT_Device_MemoryStats_Args,
    PJRT_DeviceDescription_DebugString_Args, PJRT_DeviceDescription_Id_Args,
    PJRT_DeviceDescription_Kind_Args,
    PJRT_HostBufferSemantics_PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
    PJRT_HostBufferSemantics_PJRT_HostBufferSemantics_kImmutableZeroCopy,
};

use super::api::{Api, Failure, Status, call, copy_text};
use super::buffer::{Buffer, element_type};
use super::event::Event;
use super::executable::Executable;
use super::options::{self, NamedValue};
use super::store::{KeyValueStore, Lent};
use super::structs;
use super::topology::stablehlo;
use crate::host::{Bytes, TensorSpec};

/// A client and its devices, those of other processes included.
pub struct Client {
    api: Api,
    raw: NonNull<PJRT_Client>,
    devices: Vec<Device>,
    /// Whether its devices have their arrays in the memory of this process.
    is_cpu: bool,
    /// By which the plugin may find other processes for as long as the client is there.
    _store: Option<Lent>,
}

#[derive(Clone, Copy)]
struct Device {
    raw: NonNull<PJRT_Device>,
    /// Whether it is this process's.
    own: bool,
}

// SAFETY: PJRT clients may be used from any thread, and several at once.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

/// What a plugin says of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceText {
    pub id: i32,
    pub kind: String,
    pub name: String,
}

/// A device's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    pub bytes_in_use: i64,
    pub peak_bytes: Option<i64>,
    pub bytes_limit: Option<i64>,
}

/// The bytes of an upload.
pub enum HostData<'a> {
    /// Copied before the call returns.
    Copy(&'a [u8]),
    /// Used in place where the plugin can, and kept alive until it has no more use for them.
    Keep(Arc<Bytes>),
}

impl Client {
    /// `store`: of the processes that make the client together, where there are several.
    pub fn create(
        api: Api,
        options: &[NamedValue],
        store: Option<Arc<dyn KeyValueStore>>,
    ) -> Result<Arc<Client>, Failure> {
        let c_options = options::as_c(options);
        let mut args = structs::ClientCreate::new();
        let store = store.map(Lent::new);
        if let Some(store) = &store {
            store.lend(&mut args);
        }
        args.head.create_options = c_options.as_ptr();
        args.head.num_options = c_options.len();
        call!(api, PJRT_Client_Create, args)?;
        let raw = NonNull::new(args.head.client).ok_or_else(|| null("PJRT_Client_Create"))?;
        let mut client = Client {
            api,
            raw,
            devices: Vec::new(),
            is_cpu: false,
            _store: store,
        };
        client.devices = client.read_devices()?;
        client.is_cpu = client.platform_name()? == "cpu";
        Ok(Arc::new(client))
    }

    fn read_devices(&self) -> Result<Vec<Device>, Failure> {
        let mut args = PJRT_Client_Devices_Args::new();
        args.client = self.raw.as_ptr();
        call!(self.api, PJRT_Client_Devices, args)?;
        if args.devices.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the call succeeded, so the array has that many entries; it lives as long as
        // the client.
        let devices = unsafe { std::slice::from_raw_parts(args.devices, args.num_devices) };
        let devices = devices.iter().copied().filter_map(NonNull::new);
        devices
            .map(|raw| {
                let mut args = PJRT_Device_IsAddressable_Args::new();
                args.device = raw.as_ptr();
                call!(self.api, PJRT_Device_IsAddressable, args)?;
                let own = args.is_addressable;
                Ok(Device { raw, own })
            })
            .collect()
    }

    /// Which of the processes that make the client this is.
    pub fn process_index(&self) -> Result<usize, Failure> {
        let mut args = PJRT_Client_ProcessIndex_Args::new();
        args.client = self.raw.as_ptr();
        call!(self.api, PJRT_Client_ProcessIndex, args)?;
        Ok(usize::try_from(args.process_index).unwrap_or(0))
    }

    pub fn api(&self) -> Api {
        self.api
    }

    pub(super) fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    /// Of all processes.
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// Whether a device is this process's: only those take and give data.
    pub fn is_own(&self, index: usize) -> bool {
        self.devices.get(index).is_some_and(|device| device.own)
    }

    /// The index of a device handle among this client's devices.
    pub(super) fn device_index(&self, device: *mut PJRT_Device) -> Option<usize> {
        self.devices.iter().position(|d| d.raw.as_ptr() == device)
    }

    fn device(&self, index: usize) -> Result<NonNull<PJRT_Device>, Failure> {
        self.devices
            .get(index)
            .map(|device| device.raw)
            .ok_or_else(|| {
                invalid(format!(
                    "there is no device {index}; the client has {}",
                    self.devices.len()
                ))
            })
    }

    pub fn platform_name(&self) -> Result<String, Failure> {
        let mut args = PJRT_Client_PlatformName_Args::new();
        args.client = self.raw.as_ptr();
        call!(self.api, PJRT_Client_PlatformName, args)?;
        // SAFETY: the call succeeded; the text lives as long as the client.
        Ok(unsafe { copy_text(args.platform_name, args.platform_name_size) })
    }

    pub fn platform_version(&self) -> Result<String, Failure> {
        let mut args = PJRT_Client_PlatformVersion_Args::new();
        args.client = self.raw.as_ptr();
        call!(self.api, PJRT_Client_PlatformVersion, args)?;
        // SAFETY: as above.
        Ok(unsafe { copy_text(args.platform_version, args.platform_version_size) })
    }

    pub fn device_text(&self, index: usize) -> Result<DeviceText, Failure> {
        let mut description = PJRT_Device_GetDescription_Args::new();
        description.device = self.device(index)?.as_ptr();
        call!(self.api, PJRT_Device_GetDescription, description)?;
        let description = description.device_description;

        let mut id = PJRT_DeviceDescription_Id_Args::new();
        id.device_description = description;
        call!(self.api, PJRT_DeviceDescription_Id, id)?;
        let mut kind = PJRT_DeviceDescription_Kind_Args::new();
        kind.device_description = description;
        call!(self.api, PJRT_DeviceDescription_Kind, kind)?;
        let mut name = PJRT_DeviceDescription_DebugString_Args::new();
        name.device_description = description;
        call!(self.api, PJRT_DeviceDescription_DebugString, name)?;
        // SAFETY: the calls succeeded; the texts live as long as the client.
        unsafe {
            Ok(DeviceText {
                id: id.id,
                kind: copy_text(kind.device_kind, kind.device_kind_size),
                name: copy_text(name.debug_string, name.debug_string_size),
            })
        }
    }

    /// `Ok(None)` where the plugin keeps no such count (the CPU's does not).
    pub fn device_memory(&self, index: usize) -> Result<Option<DeviceMemory>, Failure> {
        let mut args = PJRT_Device_MemoryStats_Args::new();
        args.device = self.device(index)?.as_ptr();
        match call!(self.api, PJRT_Device_MemoryStats, args) {
            Ok(()) => Ok(Some(DeviceMemory {
                bytes_in_use: args.bytes_in_use,
                peak_bytes: args
                    .peak_bytes_in_use_is_set
                    .then_some(args.peak_bytes_in_use),
                bytes_limit: args.bytes_limit_is_set.then_some(args.bytes_limit),
            })),
            Err(failure) if failure.status == Status::Unimplemented => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Starts the copy of a dense row-major array to a device.
    pub fn upload(
        self: &Arc<Self>,
        spec: &TensorSpec,
        data: HostData<'_>,
        device: usize,
    ) -> Result<Buffer, Failure> {
        let bytes = match &data {
            HostData::Copy(bytes) => *bytes,
            HostData::Keep(bytes) => bytes.as_slice(),
        };
        // The plugin reads as many bytes as the shape says, so this check is what makes it safe.
        if spec.byte_len() != Some(bytes.len()) {
            return Err(invalid(format!("{} bytes for {spec}", bytes.len())));
        }
        let dims: Vec<i64> = spec.shape.iter().map(|&dim| dim as i64).collect();
        let mut args = PJRT_Client_BufferFromHostBuffer_Args::new();
        args.client = self.raw.as_ptr();
        args.data = bytes.as_ptr().cast();
        args.type_ = element_type(spec.dtype);
        args.dims = dims.as_ptr();
        args.num_dims = dims.len();
        args.host_buffer_semantics = match &data {
            HostData::Copy(_) => {
                PJRT_HostBufferSemantics_PJRT_HostBufferSemantics_kImmutableOnlyDuringCall
            }
            HostData::Keep(_) => {
                PJRT_HostBufferSemantics_PJRT_HostBufferSemantics_kImmutableZeroCopy
            }
        };
        args.device = self.device(device)?.as_ptr();
        call!(self.api, PJRT_Client_BufferFromHostBuffer, args)?;
        // SAFETY: the call succeeded and passed the event's ownership.
        let done = unsafe { Event::own(self.api, args.done_with_host_buffer) };
        // SAFETY: likewise the buffer's.
        let buffer = unsafe { Buffer::own(self, args.buffer) };
        match (data, done) {
            (HostData::Keep(bytes), Some(done)) => done.keep_until_ready(bytes),
            // The plugin has copied the bytes already: a done event of this kind is ready and has
            // no error of its own (the buffer's event has).
            (HostData::Copy(_), Some(done)) => done.wait()?,
            (HostData::Copy(_), None) => {}
            // Without an event nothing says when the bytes are free, so they are never freed.
            (HostData::Keep(bytes), None) => std::mem::forget(bytes),
        }
        buffer.ok_or_else(|| null("PJRT_Client_BufferFromHostBuffer"))
    }

    /// Compiles `code`, which is StableHLO (text, bytecode or a portable artifact).
    /// `options` is a serialised `CompileOptionsProto`.
    pub fn compile(self: &Arc<Self>, code: &[u8], options: &[u8]) -> Result<Executable, Failure> {
        let program = stablehlo(code);
        let mut args = PJRT_Client_Compile_Args::new();
        args.client = self.raw.as_ptr();
        args.program = &raw const program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        call!(self.api, PJRT_Client_Compile, args)?;
        // SAFETY: the call succeeded and passed the executable's ownership.
        unsafe { Executable::own(self, args.executable) }
    }

    /// Loads what [`Executable::serialize`] gave. The bytes must come from the same plugin: another
    /// version may accept them and compute garbage.
    pub fn deserialize(self: &Arc<Self>, bytes: &[u8]) -> Result<Executable, Failure> {
        let mut args = structs::DeserializeAndLoad::new(self.raw.as_ptr());
        args.serialized_executable = bytes.as_ptr().cast();
        args.serialized_executable_size = bytes.len();
        call!(self.api, PJRT_Executable_DeserializeAndLoad, args)?;
        // SAFETY: the call succeeded and passed the executable's ownership.
        unsafe { Executable::own(self, args.loaded_executable) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut args = PJRT_Client_Destroy_Args::new();
        args.client = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.api, PJRT_Client_Destroy, args);
    }
}

pub(super) fn invalid(message: String) -> Failure {
    Failure {
        status: Status::InvalidArgument,
        message,
    }
}

pub(super) fn null(function: &str) -> Failure {
    Failure {
        status: Status::Internal,
        message: format!("`{function}` returned nothing"),
    }
}
