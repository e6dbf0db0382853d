//! Writing arrays as safetensors, so that a reader finds the old file or the new one, never a part.

use std::collections::HashMap;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::{Error, ValueError};
use crate::host::{DType, HostArray};

/// What a file's own text has the names under, in the order in which they were saved: a record comes back with its
/// fields as they were.
pub(crate) const ORDER: &str = "order";

/// How many links one after another the system follows.
const LINKS: usize = 40;

/// How the names of files begin that are being written.
pub(crate) const TEMPORARY: &str = ".tpuc-save-";

/// Writes the arrays to `path`: beside it first, and renamed when all of it is on the disk. The same arrays
/// give the same bytes. On an error the old file is as it was, and nothing else is left.
pub fn safetensors(path: &Path, arrays: &[(&str, &HostArray)]) -> Result<(), Error> {
    let path = &target(path)?;
    let names: Vec<&str> = arrays.iter().map(|(name, _)| *name).collect();
    let arrays = in_file_order(path, arrays)?;
    let header = header(&arrays, &names).map_err(|reason| failed(path, reason))?;
    replace(path, |writer| {
        writer.write_all(&(header.len() as u64).to_le_bytes())?;
        writer.write_all(&header)?;
        arrays
            .iter()
            .try_for_each(|(_, array)| writer.write_all(array.bytes()))
    })
}

/// Writes a text to `path`, beside it first, as [`safetensors`] does.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    write_bytes(path, text.as_bytes())
}

/// Writes bytes to `path`, likewise.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let path = &target(path)?;
    replace(path, |writer| writer.write_all(bytes))
}

/// Says whether writing to `path` can work as far as that can be known now, and leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), Error> {
    let path = &target(path)?;
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(unwritable(
            path,
            format!("there is no folder {}", folder.display()),
        ));
    }
    // A file without a name: it is gone when it is closed, and when the process is killed before.
    tempfile::tempfile_in(&folder)
        .map(drop)
        .map_err(|error| unwritable(path, plain(&error)))
}

/// What renaming is to replace: the file that a name stands for, where it is a link. Refuses what is no file that a
/// program wrote: a folder, a device such as `/dev/null`, a file that its owner protects.
fn target(path: &Path) -> Result<PathBuf, Error> {
    let own = followed(path)
        .ok_or_else(|| unwritable(path, "it is a link that leads back to itself".to_owned()))?;
    let reason = match own.metadata() {
        _ if own.file_name().is_none() => "it has no file name",
        Ok(found) if found.is_dir() => "it is a folder",
        Ok(found) if !found.is_file() => "it is no ordinary file",
        Ok(found) if found.permissions().readonly() => "the file there is read-only",
        Ok(_) | Err(_) => return Ok(own),
    };
    Err(unwritable(path, reason.to_owned()))
}

/// Where a chain of links leads to, whether or not something is there; `None` where it has no end.
fn followed(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match path.read_link() {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Some(path),
        }
    }
    None
}

/// Makes a folder, and those above it, where there is none.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|error| unwritable(path, plain(&error)))
}

/// Makes a folder where there is none, and says whether files can be written there.
pub fn writable_folder(path: &Path) -> Result<(), Error> {
    make_folder(path)?;
    check_writable(&path.join("file"))
}

/// Puts what `fill` writes in the place of `path`, when all of it is on the disk.
fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let folder = folder_of(path);
    let write = || -> io::Result<()> {
        // The temporary file removes itself unless it is renamed.
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .permissions(permissions(path))
            .tempfile_in(&folder)?;
        let mut writer = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        fill(&mut writer)?;
        writer.flush()?;
        drop(writer);
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The rename itself is on the disk only when the folder is.
        File::open(&folder)?.sync_all()
    };
    write().map_err(|error| failed(path, plain(&error)))
}

/// Those of the file that is replaced, or of any new file: not the private ones of temporary files.
fn permissions(path: &Path) -> Permissions {
    match path.metadata() {
        Ok(found) => found.permissions(),
        Err(_) => Permissions::from_mode(0o666),
    }
}

fn failed(path: &Path, reason: String) -> Error {
    Error::Value(ValueError::WriteFailed {
        path: path.to_path_buf(),
        reason,
    })
}

fn unwritable(path: &Path, reason: String) -> Error {
    Error::Value(ValueError::Unwritable {
        path: path.to_path_buf(),
        reason,
    })
}

/// The type's name in a safetensors header.
pub(crate) fn safetensors_dtype(dtype: DType) -> Dtype {
    match dtype {
        DType::F32 => Dtype::F32,
        DType::BF16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F64 => Dtype::F64,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U8 => Dtype::U8,
        DType::U16 => Dtype::U16,
        DType::U32 => Dtype::U32,
        DType::U64 => Dtype::U64,
        DType::Bool => Dtype::BOOL,
    }
}

/// Widest elements first, so that each array is aligned to its element; then by name.
fn in_file_order<'a>(
    path: &Path,
    arrays: &[(&'a str, &'a HostArray)],
) -> Result<Vec<(&'a str, &'a HostArray)>, Error> {
    let mut sorted = arrays.to_vec();
    sorted.sort_by_key(|(name, array)| (std::cmp::Reverse(array.dtype().size()), *name));
    let mut names: Vec<&str> = sorted.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::Value(ValueError::NameTwice {
            path: path.to_path_buf(),
            name: pair[0].to_owned(),
        })),
        None => Ok(sorted),
    }
}

/// The JSON header, padded with spaces to a multiple of 8 bytes. `names`: in the order in which they were given, which
/// is kept where it is another.
fn header(arrays: &[(&str, &HostArray)], names: &[&str]) -> Result<Vec<u8>, String> {
    let mut offset = 0;
    let infos = arrays
        .iter()
        .map(|(name, array)| {
            let start = offset;
            offset += array.bytes().len();
            let info = TensorInfo {
                dtype: safetensors_dtype(array.dtype()),
                shape: array.shape().to_vec(),
                data_offsets: (start, offset),
            };
            ((*name).to_owned(), info)
        })
        .collect();
    let sorted = arrays.iter().map(|(name, _)| name).eq(names);
    let order = (!sorted).then(|| serde_json::to_string(names));
    let order = order.transpose().map_err(|error| error.to_string())?;
    let more = order.map(|order| HashMap::from([(ORDER.to_owned(), order)]));
    let metadata = Metadata::new(more, infos).map_err(|error| error.to_string())?;
    let mut header = serde_json::to_vec(&metadata).map_err(|error| error.to_string())?;
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok(header)
}

/// The folder of a file; the current one for a bare name.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// An error without the temporary file's name, which says nothing to anybody.
pub(crate) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::FileTooLarge => "it is larger than a file may be".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        io::ErrorKind::AlreadyExists => "what is there is no folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        kind => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code).to_string(),
            None => kind.to_string(),
        },
    }
}
