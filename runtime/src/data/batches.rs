//! Data larger than memory, in shuffled batches: a thread reads ahead while the device computes.
//!
//! The files are taken in an order drawn from the key. Their rows pass through a pool of bounded size: each row that is
//! given out is drawn from the pool, and the next one of the files takes its place. A pool that holds all rows shuffles
//! them evenly; a smaller one moves a row about as far as it is large. The same key and the same files give the same
//! batches, so that a run can be taken up in the middle.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::images::Classes;
use super::rows::{self, Rows};
use super::{Named, files_of};
use crate::error::{DataError, Error};
use crate::host::{Bytes, HostArray, TensorSpec};
use crate::numpy_random::Pcg64;

/// The size of the pool of rows.
pub const POOL_BYTES: usize = 256 << 20;

/// How many batches wait for the device.
const AHEAD: usize = 2;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// A file, or a pattern of several.
    pub name: PathBuf,
    /// The arrays wanted, each with the type of its batch; the only array of a file without names is meant by any name.
    pub fields: Named<TensorSpec>,
    pub key: u64,
    /// The batch to begin with.
    pub first: usize,
    /// Bytes of the pool of rows.
    pub pool: usize,
}

/// The batches of a request, in order.
pub struct Batches {
    received: Receiver<Result<Vec<HostArray>, Error>>,
    name: PathBuf,
}

impl Batches {
    /// Starts to read. The thread ends when the batches are dropped.
    pub fn start(request: Request) -> Batches {
        let (send, received) = sync_channel(AHEAD);
        let name = request.name.clone();
        // Without the thread nothing is ever sent, which the next call reports.
        let _ = thread::Builder::new().name("data".into()).spawn(move || {
            let mut pool = match Pool::open(&request) {
                Ok(pool) => pool,
                Err(error) => return drop(send.send(Err(error))),
            };
            loop {
                let batch = pool.batch().transpose();
                let Some(batch) = batch else { return };
                if send.send(batch).is_err() {
                    return;
                }
            }
        });
        Batches { received, name }
    }

    /// The next batch, one array for each field. Errors where the files give out too early.
    pub fn next_batch(&mut self) -> Result<Vec<HostArray>, Error> {
        self.received.recv().unwrap_or_else(|_| {
            Err(Error::Data(DataError::DataChanged {
                name: self.name.clone(),
                reason: "there are fewer rows".to_owned(),
            }))
        })
    }
}

/// Rows drawn at random from those that the files have given so far.
struct Pool {
    stream: Stream,
    random: Pcg64,
    fields: Vec<Field>,
    /// Rows in a batch.
    size: usize,
    /// Rows in the pool.
    held: usize,
}

struct Field {
    batch: TensorSpec,
    row_len: usize,
    /// The pool's rows of this field.
    rows: Vec<u8>,
}

impl Pool {
    fn open(request: &Request) -> Result<Pool, Error> {
        let mut random = Pcg64::new(request.key);
        let (mut files, classes) = files_of(&request.name)?;
        random.shuffle(&mut files);
        files.reverse();
        let field = |(_, batch): &(String, TensorSpec)| -> Result<Field, Error> {
            let row = TensorSpec::new(batch.dtype, batch.shape.get(1..).unwrap_or_default());
            Ok(Field {
                batch: batch.clone(),
                row_len: row.checked_len()?,
                rows: Vec::new(),
            })
        };
        let fields: Vec<Field> = request.fields.iter().map(field).collect::<Result<_, _>>()?;
        let size = fields.first().and_then(|f| f.batch.shape.first().copied());
        let mut pool = Pool {
            stream: Stream {
                name: request.name.clone(),
                files,
                classes,
                wanted: request.fields.clone(),
                open: Vec::new(),
                left: 0,
            },
            random,
            fields,
            size: size.unwrap_or(0),
            held: 0,
        };
        pool.fill(request.pool)?;
        for _ in 0..request.first * pool.size {
            pool.draw(&mut [])?;
        }
        Ok(pool)
    }

    /// Takes in rows up to the size of the pool, at least one batch.
    fn fill(&mut self, bytes: usize) -> Result<(), Error> {
        let row_len: usize = self.fields.iter().map(|f| f.row_len).sum();
        // A place in the pool is a 32-bit number.
        let most = (bytes / row_len.max(1)).clamp(self.size, u32::MAX as usize);
        while self.held < most && self.stream.advance()? {
            for (field, rows) in self.fields.iter_mut().zip(&mut self.stream.open) {
                let start = field.rows.len();
                field.rows.resize(start + field.row_len, 0);
                rows.next_into(&mut field.rows[start..])?;
            }
            self.held += 1;
        }
        Ok(())
    }

    /// One row out, into a place for each field, or nowhere where there are no places; the next one in. `false`: none
    /// is left.
    fn draw(&mut self, places: &mut [&mut [u8]]) -> Result<bool, Error> {
        let Some(last) = self.held.checked_sub(1) else {
            return Ok(false);
        };
        let drawn = self.random.up_to(last as u32) as usize;
        let mut places = places.iter_mut();
        for field in &self.fields {
            if let Some(place) = places.next() {
                place.copy_from_slice(field.row(drawn));
            }
        }
        if self.stream.advance()? {
            for (field, rows) in self.fields.iter_mut().zip(&mut self.stream.open) {
                let start = drawn * field.row_len;
                rows.next_into(&mut field.rows[start..start + field.row_len])?;
            }
        } else {
            for field in &mut self.fields {
                let (to, from) = (drawn * field.row_len, last * field.row_len);
                field.rows.copy_within(from..from + field.row_len, to);
            }
            self.held = last;
        }
        Ok(true)
    }

    /// The next batch; `None` when no whole one is left.
    fn batch(&mut self) -> Result<Option<Vec<HostArray>>, Error> {
        let len = |field: &Field| Bytes::zeroed(self.size * field.row_len);
        let mut arrays: Vec<Bytes> = self.fields.iter().map(len).collect();
        let lens: Vec<usize> = self.fields.iter().map(|f| f.row_len).collect();
        for row in 0..self.size {
            let mut places: Vec<&mut [u8]> = arrays
                .iter_mut()
                .zip(&lens)
                .map(|(a, len)| &mut a.as_mut_slice()[row * len..(row + 1) * len])
                .collect();
            if !self.draw(&mut places)? {
                return Ok(None);
            }
        }
        let arrays = arrays.into_iter().zip(&self.fields);
        let made = arrays.map(|(a, f)| HostArray::new(f.batch.dtype, f.batch.shape.clone(), a));
        Ok(Some(made.collect::<Result<_, _>>()?))
    }
}

impl Field {
    fn row(&self, i: usize) -> &[u8] {
        &self.rows[i * self.row_len..(i + 1) * self.row_len]
    }
}

/// The rows of one file after another.
struct Stream {
    name: PathBuf,
    /// Those still to be opened, the next one last.
    files: Vec<PathBuf>,
    classes: Option<Classes>,
    wanted: Named<TensorSpec>,
    /// The arrays of the file being read, in the order of the fields.
    open: Vec<Rows>,
    /// Rows left in it.
    left: usize,
}

impl Stream {
    /// Moves on to the next row; `false` at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        while self.left == 0 {
            let Some(path) = self.files.pop() else {
                return Ok(false);
            };
            self.open = self.wanted_of(&path)?;
            self.left = self.open.first().map_or(0, |rows| rows.spec().shape[0]);
        }
        self.left -= 1;
        Ok(true)
    }

    /// The arrays wanted of a file. Errors where they are not what the program was compiled for.
    fn wanted_of(&self, path: &Path) -> Result<Vec<Rows>, Error> {
        let changed = |reason: String| {
            Error::Data(DataError::DataChanged {
                name: self.name.clone(),
                reason,
            })
        };
        let of_batch = |name: &str| self.wanted.iter().any(|(own, _)| own == name);
        let mut arrays = rows::open(path, self.classes.as_ref(), &of_batch)?;
        let mut wanted: Vec<Rows> = Vec::new();
        for (name, batch) in &self.wanted {
            let shown = path.display();
            let Some(i) = arrays.iter().position(|(n, _)| n == name || n.is_empty()) else {
                return Err(changed(format!("{shown} has no array `{name}`")));
            };
            let rows = arrays.swap_remove(i).1;
            let spec = rows.spec();
            let same = spec.dtype == batch.dtype
                && spec.shape.len() == batch.shape.len()
                && spec.shape.get(1..) == batch.shape.get(1..);
            let as_long = wanted
                .first()
                .is_none_or(|w| w.spec().shape.first() == spec.shape.first());
            if !same || !as_long {
                return Err(changed(format!("`{name}` of {shown} is {spec}")));
            }
            wanted.push(rows);
        }
        Ok(wanted)
    }
}
