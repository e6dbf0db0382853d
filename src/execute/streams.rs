//! The batches that loops of `main` go through, each read ahead by a thread of its own.

use crate::convert;
use crate::failure::Failure;
use std::collections::HashMap;
use std::path::PathBuf;
use tpuc_compiler::ir::Type;
use tpuc_compiler::plan::Slot;
use tpuc_runtime::data::{Batches, POOL_BYTES, Request};
use tpuc_runtime::host::HostArray;

/// The streams being read, by the slot that gets their first array.
#[derive(Default)]
pub struct Streams {
    open: HashMap<Option<Slot>, Stream>,
}

struct Stream {
    key: u64,
    /// The position of the batch that comes next.
    next: usize,
    batches: Batches,
}

/// The files, the arrays of a batch, and how many batches there are.
pub type Source<'a> = (&'a String, &'a Vec<(String, Type)>, usize);

impl Streams {
    /// The batch at a position. `given`: the key and the position. It usually follows the one before; else reading
    /// begins anew.
    pub fn next(
        &mut self,
        place: Option<Slot>,
        (path, fields, count): Source<'_>,
        given: &[HostArray],
    ) -> Result<Vec<HostArray>, Failure> {
        let words = given.first().and_then(HostArray::to_vec::<u32>);
        let words = words.unwrap_or_default();
        let key = words
            .iter()
            .fold(0, |key, &word| key << 32 | u64::from(word));
        let at = given.get(1).and_then(HostArray::to_vec::<i32>);
        let at = at.and_then(|at| usize::try_from(*at.first()?).ok());
        let at = at.unwrap_or(0);
        let mut stream = match self.open.remove(&place) {
            Some(stream) if stream.key == key && stream.next == at => stream,
            _ => Stream {
                key,
                next: at,
                batches: Batches::start(Request {
                    name: PathBuf::from(path),
                    fields: fields
                        .iter()
                        .map(|(name, ty)| (name.clone(), convert::spec(ty)))
                        .collect(),
                    key,
                    first: at,
                    pool: POOL_BYTES,
                }),
            },
        };
        let batch = stream.batches.next_batch()?;
        stream.next += 1;
        if stream.next < count {
            self.open.insert(place, stream);
        }
        Ok(batch)
    }
}
