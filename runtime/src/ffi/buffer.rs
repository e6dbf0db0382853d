//! Device buffers of one device.

use std::ptr::NonNull;
use std::sync::Arc;

use pjrt_sys::{
    PJRT_Buffer, PJRT_Buffer_Delete_Args, PJRT_Buffer_Destroy_Args,
    PJRT_Buffer_GetMemoryLayout_Args, PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Tiled,
    PJRT_Buffer_MemoryLayout_Type_PJRT_Buffer_MemoryLayout_Type_Tiled,
    PJRT_Buffer_OnDeviceSizeInBytes_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args, PJRT_Buffer_Type, PJRT_Buffer_Type_PJRT_Buffer_Type_BF16,
    PJRT_Buffer_Type_PJRT_Buffer_Type_F16, PJRT_Buffer_Type_PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_PJRT_Buffer_Type_F64, PJRT_Buffer_Type_PJRT_Buffer_Type_PRED,
    PJRT_Buffer_Type_PJRT_Buffer_Type_S8, PJRT_Buffer_Type_PJRT_Buffer_Type_S16,
    PJRT_Buffer_Type_PJRT_Buffer_Type_S32, PJRT_Buffer_Type_PJRT_Buffer_Type_S64,
    PJRT_Buffer_Type_PJRT_Buffer_Type_U8, PJRT_Buffer_Type_PJRT_Buffer_Type_U16,
    PJRT_Buffer_Type_PJRT_Buffer_Type_U32, PJRT_Buffer_Type_PJRT_Buffer_Type_U64,
    PJRT_Buffer_UnsafePointer_Args,
};

use super::api::{Failure, call};
use super::client::{Client, null};
use super::event::Event;
use crate::host::DType;

/// A buffer on one device. It keeps its client alive.
pub struct Buffer {
    client: Arc<Client>,
    raw: NonNull<PJRT_Buffer>,
}

// SAFETY: PJRT buffers may be used from any thread, and several at once.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Takes ownership of a buffer that a call returned; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or a live buffer of this client that nothing else will destroy.
    pub(super) unsafe fn own(client: &Arc<Client>, raw: *mut PJRT_Buffer) -> Option<Buffer> {
        NonNull::new(raw).map(|raw| Buffer {
            client: Arc::clone(client),
            raw,
        })
    }

    pub(super) fn raw(&self) -> *mut PJRT_Buffer {
        self.raw.as_ptr()
    }

    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// The event of the buffer's contents being there, or of the error that kept them from it.
    pub fn ready(&self) -> Result<Event, Failure> {
        let mut args = PJRT_Buffer_ReadyEvent_Args::new();
        args.buffer = self.raw.as_ptr();
        call!(self.client.api(), PJRT_Buffer_ReadyEvent, args)?;
        // SAFETY: the call succeeded and passed the event's ownership.
        unsafe { Event::own(self.client.api(), args.event) }
            .ok_or_else(|| null("PJRT_Buffer_ReadyEvent"))
    }

    /// Waits for the buffer and copies it, dense and row-major, into `target`, which must be at
    /// least as large. `rank` is the buffer's.
    pub fn copy_to_host(&self, rank: usize, target: &mut [u8]) -> Result<(), Failure> {
        if self.client.is_cpu() {
            self.ready()?.wait()?;
            if self.copy_here(rank, target) {
                return Ok(());
            }
        }
        let minor_to_major: Vec<i64> = (0..rank as i64).rev().collect();
        let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
        tiled.minor_to_major = minor_to_major.as_ptr();
        tiled.minor_to_major_size = minor_to_major.len();
        let mut layout = PJRT_Buffer_MemoryLayout::new();
        layout.type_ = PJRT_Buffer_MemoryLayout_Type_PJRT_Buffer_MemoryLayout_Type_Tiled;
        layout.__bindgen_anon_1.tiled = tiled;

        let mut args = PJRT_Buffer_ToHostBuffer_Args::new();
        args.src = self.raw.as_ptr();
        args.host_layout = &raw mut layout;
        args.dst = target.as_mut_ptr().cast();
        args.dst_size = target.len();
        call!(self.client.api(), PJRT_Buffer_ToHostBuffer, args)?;
        // SAFETY: the call succeeded and passed the event's ownership.
        let event = unsafe { Event::own(self.client.api(), args.event) }
            .ok_or_else(|| null("PJRT_Buffer_ToHostBuffer"))?;
        // The borrow of `target` ends with this function, so the copy must have ended too.
        event.wait()
    }

    /// Copies an array that is there from the memory of this process, where the CPU has it; the plugin's own copy is made
    /// by a thread of its own, which takes far longer to wake than a number to copy. Whether it is copied: not where the
    /// array does not lie dense and row-major.
    fn copy_here(&self, rank: usize, target: &mut [u8]) -> bool {
        let mut layout = PJRT_Buffer_GetMemoryLayout_Args::new();
        layout.buffer = self.raw.as_ptr();
        let mut args = PJRT_Buffer_UnsafePointer_Args::new();
        args.buffer = self.raw.as_ptr();
        if !self.device_size().is_ok_and(|size| size >= target.len())
            || call!(self.client.api(), PJRT_Buffer_GetMemoryLayout, layout).is_err()
            || call!(self.client.api(), PJRT_Buffer_UnsafePointer, args).is_err()
            || args.buffer_pointer == 0
            || !is_row_major(&layout.layout, rank)
        {
            return false;
        }
        let source = args.buffer_pointer as *const u8;
        // SAFETY: the buffer is on the CPU, its contents are there, and it has at least as many bytes. It stays while
        // `self` is borrowed: nothing gives it away or deletes it that does not have it whole.
        target.copy_from_slice(unsafe { std::slice::from_raw_parts(source, target.len()) });
        true
    }

    /// Gives the memory back; the handle stays.
    pub fn delete(&mut self) -> Result<(), Failure> {
        let mut args = PJRT_Buffer_Delete_Args::new();
        args.buffer = self.raw.as_ptr();
        call!(self.client.api(), PJRT_Buffer_Delete, args)
    }

    /// Bytes on the device, padding included.
    pub fn device_size(&self) -> Result<usize, Failure> {
        let mut args = PJRT_Buffer_OnDeviceSizeInBytes_Args::new();
        args.buffer = self.raw.as_ptr();
        call!(self.client.api(), PJRT_Buffer_OnDeviceSizeInBytes, args)?;
        Ok(args.on_device_size_in_bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut args = PJRT_Buffer_Destroy_Args::new();
        args.buffer = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.client.api(), PJRT_Buffer_Destroy, args);
    }
}

/// Whether an array of that many dimensions lies row after row, the last axis closest, without tiles.
fn is_row_major(layout: &PJRT_Buffer_MemoryLayout, rank: usize) -> bool {
    if layout.type_ != PJRT_Buffer_MemoryLayout_Type_PJRT_Buffer_MemoryLayout_Type_Tiled {
        return false;
    }
    // SAFETY: the type says which of the two it is.
    let tiled = unsafe { layout.__bindgen_anon_1.tiled };
    if rank == 0 {
        return tiled.num_tiles == 0;
    }
    if tiled.num_tiles != 0 || tiled.minor_to_major_size != rank || tiled.minor_to_major.is_null() {
        return false;
    }
    // SAFETY: the plugin says that it has so many entries; they live as long as the buffer.
    let order = unsafe { std::slice::from_raw_parts(tiled.minor_to_major, rank) };
    order.iter().copied().eq((0..rank as i64).rev())
}

/// The C API's number for an element type. Every [`DType`] has one, so no call can pass a bad one.
pub(super) fn element_type(dtype: DType) -> PJRT_Buffer_Type {
    match dtype {
        DType::F32 => PJRT_Buffer_Type_PJRT_Buffer_Type_F32,
        DType::BF16 => PJRT_Buffer_Type_PJRT_Buffer_Type_BF16,
        DType::F16 => PJRT_Buffer_Type_PJRT_Buffer_Type_F16,
        DType::F64 => PJRT_Buffer_Type_PJRT_Buffer_Type_F64,
        DType::I8 => PJRT_Buffer_Type_PJRT_Buffer_Type_S8,
        DType::I16 => PJRT_Buffer_Type_PJRT_Buffer_Type_S16,
        DType::I32 => PJRT_Buffer_Type_PJRT_Buffer_Type_S32,
        DType::I64 => PJRT_Buffer_Type_PJRT_Buffer_Type_S64,
        DType::U8 => PJRT_Buffer_Type_PJRT_Buffer_Type_U8,
        DType::U16 => PJRT_Buffer_Type_PJRT_Buffer_Type_U16,
        DType::U32 => PJRT_Buffer_Type_PJRT_Buffer_Type_U32,
        DType::U64 => PJRT_Buffer_Type_PJRT_Buffer_Type_U64,
        DType::Bool => PJRT_Buffer_Type_PJRT_Buffer_Type_PRED,
    }
}

/// The element type of a number of the C API; `None` for those that this crate does not carry.
pub(super) fn dtype_of(element: PJRT_Buffer_Type) -> Option<DType> {
    DType::ALL
        .into_iter()
        .find(|&dtype| element_type(dtype) == element)
}
