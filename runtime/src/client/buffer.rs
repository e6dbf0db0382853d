//! Arrays on devices.

use std::sync::Arc;

use super::{Client, call_error, run_error};
use crate::error::Error;
use crate::ffi::{self, Failure, HostData};
use crate::host::{Bytes, HostArray, TensorSpec};

/// Below this many bytes an upload is copied at once: cheaper than keeping the host's memory alive.
const COPY_BELOW: usize = 1 << 16;

/// An array on one or several devices. Its contents may still be on their way.
pub struct Buffer {
    /// The whole array's type, also where each device holds a part.
    spec: TensorSpec,
    /// One for each device that holds the array or a part of it.
    shards: Vec<Shard>,
    /// The program that computes it; `None` for an upload.
    program: Option<Arc<str>>,
}

/// The part of an array on one device.
pub(super) struct Shard {
    pub device: usize,
    pub raw: ffi::Buffer,
}

impl Client {
    /// Starts the copy of an array to the first device. Large arrays are used in place where the plugin
    /// can (the CPU's can), so that they are in memory once.
    pub fn upload(&self, array: &HostArray) -> Result<Buffer, Error> {
        let device = 0;
        let data = if array.bytes().len() < COPY_BELOW {
            HostData::Copy(array.bytes())
        } else {
            HostData::Keep(Arc::clone(array.shared_bytes()))
        };
        let raw = self
            .raw
            .upload(array.spec(), data, device)
            .map_err(|failure| transfer_error(array.spec(), failure))?;
        Ok(Buffer {
            spec: array.spec().clone(),
            shards: vec![Shard { device, raw }],
            program: None,
        })
    }
}

impl Buffer {
    pub(super) fn new(spec: TensorSpec, shards: Vec<Shard>, program: Arc<str>) -> Buffer {
        Buffer {
            spec,
            shards,
            program: Some(program),
        }
    }

    pub fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    pub(super) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Waits until the contents are there. Errors with whatever kept them from it: this is where a
    /// failure of the program that computes the buffer shows.
    pub fn wait(&self) -> Result<(), Error> {
        self.check_live()?;
        for shard in &self.shards {
            let event = shard.raw.ready().map_err(call_error)?;
            event
                .wait()
                .map_err(|failure| self.content_error(failure))?;
        }
        Ok(())
    }

    /// Whether waiting would return at once. Errors like [`Buffer::wait`] where it is over and failed.
    pub fn is_ready(&self) -> Result<bool, Error> {
        self.check_live()?;
        for shard in &self.shards {
            let event = shard.raw.ready().map_err(call_error)?;
            if !event.is_ready().map_err(call_error)? {
                return Ok(false);
            }
            event
                .wait()
                .map_err(|failure| self.content_error(failure))?;
        }
        Ok(true)
    }

    /// Waits, and copies the array to the host.
    pub fn to_host(&self) -> Result<HostArray, Error> {
        self.check_live()?;
        let too_large = || Error::TensorTooLarge {
            spec: self.spec.clone(),
        };
        let mut bytes = Bytes::zeroed(self.spec.byte_len().ok_or_else(too_large)?);
        // An array that is not partitioned is whole on each of its devices.
        if let Some(shard) = self.shards.first() {
            shard
                .raw
                .copy_to_host(self.spec.shape.len(), bytes.as_mut_slice())
                .map_err(|failure| self.content_error(failure))?;
        }
        HostArray::new(self.spec.dtype, self.spec.shape.clone(), bytes)
    }

    /// Gives the device memory back before the buffer is dropped. Using it afterwards is an error.
    pub fn delete(&self) -> Result<(), Error> {
        for shard in &self.shards {
            shard.raw.delete().map_err(call_error)?;
        }
        Ok(())
    }

    pub fn is_deleted(&self) -> Result<bool, Error> {
        for shard in &self.shards {
            if shard.raw.is_deleted().map_err(call_error)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Bytes on all of its devices together, padding included.
    pub fn device_size(&self) -> Result<usize, Error> {
        let mut total = 0;
        for shard in &self.shards {
            total += shard.raw.device_size().map_err(call_error)?;
        }
        Ok(total)
    }

    fn check_live(&self) -> Result<(), Error> {
        if self.is_deleted()? {
            return Err(Error::BufferDeleted);
        }
        Ok(())
    }

    fn content_error(&self, failure: Failure) -> Error {
        match &self.program {
            Some(program) => run_error(program, failure),
            None => transfer_error(&self.spec, failure),
        }
    }
}

fn transfer_error(spec: &TensorSpec, failure: Failure) -> Error {
    Error::TransferFailed {
        spec: spec.clone(),
        failure,
    }
}
