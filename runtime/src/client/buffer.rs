//! Arrays on devices.

use std::sync::Arc;

use super::{Client, call_error, run_error};
use crate::error::{Error, ProgramError};
use crate::ffi::{self, Failure, HostData};
use crate::host::{Bytes, HostArray, Placement, TensorSpec};

/// What becomes of the host's memory after an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upload {
    /// Large arrays are used in place where the plugin can (the CPU's can), so that they are in memory once. A program that
    /// is given such a buffer to overwrite copies it first.
    InPlace,
    /// Copied at once: for what will be overwritten, and for what the host lets go.
    Copied,
}

/// Below this many bytes an upload is copied at once: cheaper than keeping the host's memory alive.
const COPY_BELOW: usize = 1 << 16;

/// An array on one or several devices. Its contents may still be on their way.
pub struct Buffer {
    /// The whole array's type, also where each device holds a part.
    spec: TensorSpec,
    placement: Placement,
    /// In the order of the placement, one for each device of this process that holds the array or a part of it.
    shards: Vec<Shard>,
    /// The program that computes it; `None` for an upload.
    program: Option<Arc<str>>,
    /// Whether the memory was given back. (A buffer that is donated is gone itself.)
    deleted: bool,
}

/// The part of an array on one device.
pub(super) struct Shard {
    pub device: usize,
    pub raw: ffi::Buffer,
}

impl Client {
    /// Starts the upload of an array to the first device, in place where that can be.
    pub fn upload(&self, array: &HostArray) -> Result<Buffer, Error> {
        self.upload_placed(array, &Placement::default(), Upload::InPlace)
    }

    /// As [`Client::upload`], to the first devices, as the placement says.
    pub fn upload_placed(
        &self,
        array: &HostArray,
        placement: &Placement,
        how: Upload,
    ) -> Result<Buffer, Error> {
        let own = (0..placement.devices()).filter(|&device| self.raw.is_own(device));
        let shards = own.map(|device| {
            let raw = if placement.is_whole() {
                self.upload_part(array.spec(), array.shared_bytes(), device, how)
            } else {
                let part = placement.part_spec(array.spec());
                let bytes = placement.take(array.spec(), array.bytes(), device);
                let (Some(part), Some(bytes)) = (part, bytes) else {
                    return Err(Error::Program(ProgramError::ArgumentElsewhere {
                        program: "upload".to_owned(),
                        index: 0,
                    }));
                };
                self.upload_part(&part, &Arc::new(bytes), device, how)
            };
            let raw = raw.map_err(|failure| transfer_error(array.spec(), failure))?;
            Ok(Shard { device, raw })
        });
        Ok(Buffer {
            spec: array.spec().clone(),
            placement: placement.clone(),
            shards: shards.collect::<Result<_, _>>()?,
            program: None,
            deleted: false,
        })
    }

    fn upload_part(
        &self,
        spec: &TensorSpec,
        bytes: &Arc<Bytes>,
        device: usize,
        how: Upload,
    ) -> Result<ffi::Buffer, Failure> {
        let small = bytes.as_slice().len() < COPY_BELOW;
        let data = match how {
            Upload::InPlace if !small => HostData::Keep(Arc::clone(bytes)),
            Upload::InPlace | Upload::Copied => HostData::Copy(bytes.as_slice()),
        };
        self.raw.upload(spec, data, device)
    }
}

impl Buffer {
    pub(super) fn new(
        spec: TensorSpec,
        placement: Placement,
        shards: Vec<Shard>,
        program: Arc<str>,
    ) -> Buffer {
        Buffer {
            spec,
            placement,
            shards,
            program: Some(program),
            deleted: false,
        }
    }

    /// With the part of a further device.
    pub(super) fn add(&mut self, shard: Shard) {
        self.shards.push(shard);
    }

    pub fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    pub(super) fn placement(&self) -> &Placement {
        &self.placement
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

    /// One shard for each different part that this process has.
    fn distinct(&self) -> impl Iterator<Item = &Shard> {
        let earlier = |shard: &Shard| {
            let before = self.shards.iter().take_while(|s| s.device < shard.device);
            before.map(|s| s.device).collect::<Vec<_>>()
        };
        let first = move |s: &&Shard| !self.placement.holds_the_same(s.device, &earlier(s));
        self.shards.iter().filter(first)
    }

    /// Whether this process has every part of the array.
    pub fn is_here(&self) -> bool {
        self.placement.is_whole() || self.distinct().count() == self.placement.distinct().len()
    }

    /// Waits, and copies the array to the host, which must have all of it ([`Buffer::is_here`]).
    pub fn to_host(&self) -> Result<HostArray, Error> {
        self.check_live()?;
        let mut bytes = Bytes::zeroed(self.spec.checked_len()?);
        let rank = self.spec.shape.len();
        let fetch = |shard: &Shard, target: &mut [u8]| {
            let copied = shard.raw.copy_to_host(rank, target);
            copied.map_err(|failure| self.content_error(failure))
        };
        if self.placement.is_whole() {
            if let Some(shard) = self.shards.first() {
                fetch(shard, bytes.as_mut_slice())?;
            }
        } else {
            // A placement that does not fit its array has been refused before.
            let part = self.placement.part_spec(&self.spec);
            let len = part.unwrap_or_else(|| self.spec.clone()).checked_len()?;
            for shard in self.distinct() {
                let mut part = Bytes::zeroed(len);
                fetch(shard, part.as_mut_slice())?;
                let whole = bytes.as_mut_slice();
                self.placement
                    .put(&self.spec, whole, shard.device, part.as_slice());
            }
        }
        HostArray::new(self.spec.dtype, self.spec.shape.clone(), bytes)
    }

    /// Gives the device memory back before the buffer is dropped. Using it afterwards is an error.
    pub fn delete(&mut self) -> Result<(), Error> {
        self.deleted = true;
        for shard in &mut self.shards {
            shard.raw.delete().map_err(call_error)?;
        }
        Ok(())
    }

    pub fn is_deleted(&self) -> bool {
        self.deleted
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
        match self.deleted {
            true => Err(Error::Program(ProgramError::BufferDeleted)),
            false => Ok(()),
        }
    }

    fn content_error(&self, failure: Failure) -> Error {
        match &self.program {
            Some(program) => run_error(program, failure),
            None => transfer_error(&self.spec, failure),
        }
    }
}

fn transfer_error(spec: &TensorSpec, failure: Failure) -> Error {
    Error::Program(ProgramError::TransferFailed {
        spec: spec.clone(),
        failure,
    })
}
