//! Checkpoints: the values of a running program at a place in it, in files of a folder.
//!
//! A checkpoint is a safetensors file whose arrays are the values by number, and beside them `program` (which program
//! they are of), `how` (how it was run), `place` (where it stood) and `digest` (of all the others). Values that a loop does not change are in
//! a file of their own, written once and named by its digest in `shared`. Files are written beside and renamed, so
//! whatever happens the last complete checkpoint stays.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::{CheckpointError, Error};
use crate::host::HostArray;
use crate::{data, save};

/// SHA-256: of what makes a program the same program, or of the arrays of a file.
pub type Digest = [u8; 32];

/// Where a program stood: the way to a loop in it, as numbers, and how many iterations it had done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: Vec<u64>,
    pub iteration: u64,
}

/// The values of a program at a place, by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub place: Place,
    pub values: Vec<(u32, HostArray)>,
}

/// What checkpoints are of.
#[derive(Clone, Debug)]
pub struct Program {
    /// Only where it is the same can a run go on.
    pub digest: Digest,
    /// How it is run, in the user's words: for saying what is different where it is not the same.
    pub how: String,
}

/// A folder of checkpoints of one program.
pub struct Folder {
    path: PathBuf,
    program: Program,
    /// How many checkpoints stay.
    keep: usize,
    /// Held while this process may write.
    _lock: Option<File>,
}

const PROGRAM: &str = "program";
const HOW: &str = "how";
const PLACE: &str = "place";
const DIGEST: &str = "digest";
const SHARED: &str = "shared";
const VALUE: &str = "value ";
const ENDING: &str = ".safetensors";
const LOCK: &str = ".lock";

impl Folder {
    /// Makes the folder if there is none. Errors when it cannot be written, or another process writes there.
    pub fn open(path: &Path, program: Program, keep: usize) -> Result<Folder, Error> {
        save::writable_folder(path)?;
        Ok(Folder {
            keep: keep.max(1),
            _lock: lock(path)?,
            ..Folder::to_read(path, program)
        })
    }

    /// A folder in which another host writes.
    pub fn to_read(path: &Path, program: Program) -> Folder {
        Folder {
            path: path.to_path_buf(),
            program,
            keep: usize::MAX,
            _lock: None,
        }
    }

    /// The checkpoints there are, oldest first.
    pub fn list(&self) -> Vec<PathBuf> {
        let mut found: Vec<(u64, PathBuf)> = self
            .files()
            .filter_map(|path| Some((number(&path)?, path)))
            .collect();
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// Writes a checkpoint, and then removes those that need not stay. `shared`: the digest of the file that
    /// [`Folder::write_shared`] wrote.
    pub fn write(&self, checkpoint: &Checkpoint, shared: &Digest) -> Result<PathBuf, Error> {
        let last = self.list().last().and_then(|path| number(path));
        let next = last.map_or(1, |n| n + 1);
        let path = self
            .path
            .join(format!("checkpoint-{next:08}-{}{ENDING}", short(shared)));
        let mut arrays = self.arrays(&checkpoint.values)?;
        let place = checkpoint
            .place
            .path
            .iter()
            .chain([&checkpoint.place.iteration]);
        let place: Vec<u64> = place.copied().collect();
        arrays.push((
            PLACE.into(),
            HostArray::from_elements([place.len()], &place)?,
        ));
        arrays.push((SHARED.into(), HostArray::from_elements([32], shared)?));
        let how = self.program.how.as_bytes();
        arrays.push((HOW.into(), HostArray::from_elements([how.len()], how)?));
        write(&path, arrays)?;
        self.clean();
        Ok(path)
    }

    /// Writes the values that a loop does not change, unless they are there; gives their digest. What need not stay
    /// goes before that: a full disk may be full of it.
    pub fn write_shared(&self, values: &[(u32, HostArray)]) -> Result<Digest, Error> {
        self.clean();
        let arrays = self.arrays(values)?;
        let sum = digest(&arrays);
        let path = self.shared_path(&sum);
        if read(&path).is_err() {
            write(&path, arrays)?;
        }
        Ok(sum)
    }

    /// Reads a checkpoint with the values it shares. Errors when it is damaged, no checkpoint, or another program's.
    pub fn read(&self, path: &Path) -> Result<Checkpoint, Error> {
        let arrays = read(path)?;
        self.check_program(path, &arrays)?;
        let damaged = |reason: &str| {
            Error::Checkpoint(CheckpointError::Damaged {
                path: path.to_path_buf(),
                reason: reason.to_owned(),
            })
        };
        let place: Vec<u64> = named(&arrays, PLACE)
            .and_then(HostArray::to_vec)
            .ok_or_else(|| damaged("it does not say where the program stood"))?;
        let (&iteration, way) = place
            .split_last()
            .ok_or_else(|| damaged("it does not say where the program stood"))?;
        let shared: Digest = named(&arrays, SHARED)
            .and_then(|a| a.bytes().try_into().ok())
            .ok_or_else(|| damaged("it does not name the values it shares"))?;
        let shared_path = self.shared_path(&shared);
        if !shared_path.exists() {
            let gone = name_of(&shared_path);
            return Err(damaged(&format!(
                "the values that it shares, in {gone}, are gone"
            )));
        }
        let shared = read(&shared_path)?;
        self.check_program(&shared_path, &shared)?;
        let values = arrays
            .into_iter()
            .chain(shared)
            .filter_map(|(name, array)| {
                let slot = name.strip_prefix(VALUE)?.parse().ok()?;
                Some((slot, array))
            });
        Ok(Checkpoint {
            place: Place {
                path: way.to_vec(),
                iteration,
            },
            values: values.collect(),
        })
    }

    fn check_program(&self, path: &Path, arrays: &[(String, HostArray)]) -> Result<(), Error> {
        let same = named(arrays, PROGRAM).is_some_and(|a| a.bytes() == self.program.digest);
        if same {
            return Ok(());
        }
        let saved = named(arrays, HOW).map(|how| String::from_utf8_lossy(how.bytes()));
        let differs = saved.filter(|saved| *saved != self.program.how);
        Err(Error::Checkpoint(CheckpointError::OfOther {
            path: path.to_path_buf(),
            differs: differs.map(|saved| (saved.into_owned(), self.program.how.clone())),
        }))
    }

    fn arrays(&self, values: &[(u32, HostArray)]) -> Result<Vec<(String, HostArray)>, Error> {
        let mut arrays: Vec<(String, HostArray)> = values
            .iter()
            .map(|(slot, array)| (format!("{VALUE}{slot}"), array.clone()))
            .collect();
        arrays.push((
            PROGRAM.into(),
            HostArray::from_elements([32], &self.program.digest)?,
        ));
        Ok(arrays)
    }

    fn shared_path(&self, sum: &Digest) -> PathBuf {
        self.path.join(format!("shared-{}{ENDING}", short(sum)))
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    }

    /// Removes the checkpoints beyond those that stay, shared values that none of them names any more, and what
    /// writers that were killed have left.
    fn clean(&self) {
        let list = self.list();
        let old = list.len().saturating_sub(self.keep);
        for path in &list[..old] {
            // What cannot be removed is only in the way.
            let _ = fs::remove_file(path);
        }
        // The name of a checkpoint ends like that of what it shares.
        let used: Vec<String> = list[old..].iter().map(|path| name_of(path)).collect();
        for path in self.files() {
            let name = name_of(&path);
            let unused =
                end_of_shared(&name).is_some_and(|end| !used.iter().any(|u| u.ends_with(end)));
            if unused || name.starts_with(save::TEMPORARY) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The lock of a folder, which the system takes back when the process ends, however it ends. `None` where the file
/// system has no locks.
fn lock(folder: &Path) -> Result<Option<File>, Error> {
    let Ok(file) = File::create(folder.join(LOCK)) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::Checkpoint(CheckpointError::InUse {
            path: folder.to_path_buf(),
        })),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn write(path: &Path, mut arrays: Vec<(String, HostArray)>) -> Result<(), Error> {
    let sum = digest(&arrays);
    arrays.push((DIGEST.into(), HostArray::from_elements([32], &sum)?));
    let named: Vec<(&str, &HostArray)> = arrays.iter().map(|(n, a)| (n.as_str(), a)).collect();
    save::safetensors(path, &named)
}

/// The arrays of a file that is whole, without its digest.
fn read(path: &Path) -> Result<Vec<(String, HostArray)>, Error> {
    let damaged = |reason: String| {
        Error::Checkpoint(CheckpointError::Damaged {
            path: path.to_path_buf(),
            reason,
        })
    };
    let mut arrays = data::safetensors(path).map_err(|error| {
        // The file has been named already.
        let said = error.to_string();
        let rest = said.strip_prefix(&format!("{} ", path.display()));
        damaged(rest.map_or(said.clone(), |rest| format!("it {rest}")))
    })?;
    let at = arrays.iter().position(|(name, _)| name == DIGEST);
    let Some(at) = at else {
        return Err(Error::Checkpoint(CheckpointError::Foreign {
            path: path.to_path_buf(),
        }));
    };
    let (_, sum) = arrays.swap_remove(at);
    if sum.bytes() != digest(&arrays) {
        return Err(damaged(
            "its contents have changed since it was written".into(),
        ));
    }
    Ok(arrays)
}

fn named<'a>(arrays: &'a [(String, HostArray)], name: &str) -> Option<&'a HostArray> {
    let found = arrays.iter().find(|(n, _)| n == name);
    found.map(|(_, array)| array)
}

/// Of names, types and elements, in the order of the names.
fn digest(arrays: &[(String, HostArray)]) -> Digest {
    let mut sorted: Vec<&(String, HostArray)> = arrays.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut hash = Sha256::new();
    for (name, array) in sorted {
        let head = format!("{name}\n{}\n{}\n", array.spec(), array.bytes().len());
        hash.update(head.as_bytes());
        hash.update(array.bytes());
    }
    hash.finalize().into()
}

/// SHA-256 of a text.
pub fn digest_of(text: &str) -> Digest {
    Sha256::digest(text.as_bytes()).into()
}

fn short(sum: &Digest) -> String {
    sum[..8].iter().map(|b| format!("{b:02x}")).collect()
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    name.unwrap_or_default()
}

/// The number of a checkpoint; `None` for other files.
fn number(path: &Path) -> Option<u64> {
    let name = name_of(path);
    let (number, end) = name.strip_prefix("checkpoint-")?.split_once('-')?;
    is_end(end).then(|| number.parse().ok())?
}

/// How the name of a file of shared values ends; `None` for other files.
fn end_of_shared(name: &str) -> Option<&str> {
    name.strip_prefix("shared-").filter(|end| is_end(end))
}

/// Whether a name ends as those that are given here: a user's own files in the folder are left alone.
fn is_end(text: &str) -> bool {
    let digest = text.strip_suffix(ENDING).unwrap_or_default();
    digest.len() == 16 && digest.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(iteration: u64, value: f32) -> Checkpoint {
        let array = HostArray::from_elements([2], &[value, -0.0]).unwrap();
        Checkpoint {
            place: Place {
                path: vec![3, 1],
                iteration,
            },
            values: vec![(7, array)],
        }
    }

    fn of(program: &str) -> Program {
        Program {
            digest: digest_of(program),
            how: format!("`--set P={program}`"),
        }
    }

    fn folder(dir: &Path, program: &str) -> Folder {
        Folder::open(dir, of(program), 2).unwrap()
    }

    fn shared(folder: &Folder) -> Digest {
        let data = HostArray::from_elements([3], &[1u8, 2, 3]).unwrap();
        folder.write_shared(&[(1, data)]).unwrap()
    }

    #[test]
    fn the_last_ones_stay_and_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir.path().join("new"), "p");
        assert!(folder.list().is_empty());
        let shared = shared(&folder);
        for i in 1..=4 {
            folder.write(&checkpoint(i, i as f32), &shared).unwrap();
        }
        let list = folder.list();
        assert_eq!(list.len(), 2);
        let last = folder.read(&list[1]).unwrap();
        assert_eq!(last.place.path, [3, 1]);
        assert_eq!(last.place.iteration, 4);
        let slots: Vec<u32> = last.values.iter().map(|(slot, _)| *slot).collect();
        assert_eq!(slots.len(), 2);
        let value = last.values.iter().find(|(slot, _)| *slot == 7).unwrap();
        assert_eq!(value.1.to_vec::<f32>().unwrap(), [4.0, -0.0]);
        let mine = folder.files().count() - 1;
        assert_eq!(mine, 3, "two checkpoints and what they share");
    }

    #[test]
    fn what_need_not_stay_goes_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let many = Folder::open(dir.path(), of("p"), 9).unwrap();
        let shared = shared(&many);
        for i in 1..=5 {
            many.write(&checkpoint(i, 0.0), &shared).unwrap();
        }
        let left = dir.path().join(format!("{}x", save::TEMPORARY));
        fs::write(&left, "of a killed run").unwrap();
        drop(many);
        let two = folder(dir.path(), "p");
        assert_eq!(two.list().len(), 5, "opening it removes nothing");
        self::shared(&two);
        assert_eq!(two.list().len(), 2);
        assert!(!left.exists());
        assert!(two.read(&two.list()[1]).is_ok());
    }

    #[test]
    fn only_one_writes_and_files_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let others = [
            "shared-notes.txt",
            "shared-x.safetensors",
            "checkpoint-3.txt",
        ];
        for name in others {
            fs::write(dir.path().join(name), "mine").unwrap();
        }
        let first = folder(dir.path(), "p");
        assert!(first.list().is_empty());
        let second = Folder::open(dir.path(), of("p"), 2).err().unwrap();
        assert_eq!(second.code(), "E0745");
        let shared = shared(&first);
        for i in 1..=4 {
            first.write(&checkpoint(i, 0.0), &shared).unwrap();
        }
        let reader = Folder::to_read(dir.path(), of("p"));
        assert_eq!(reader.list().len(), 2);
        assert!(others.iter().all(|name| dir.path().join(name).is_file()));
        drop(first);
        folder(dir.path(), "p");
    }

    #[test]
    fn damaged_foreign_and_other_programs_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let mine = folder(dir.path(), "p");
        let shared = shared(&mine);
        let path = mine.write(&checkpoint(1, 0.5), &shared).unwrap();
        let other = Folder::to_read(dir.path(), of("q"));
        let error = other.read(&path).unwrap_err();
        assert_eq!(error.code(), "E0743");
        let said = error.to_string();
        assert!(
            said.contains("saved with `--set P=p`, and this is `--set P=q`"),
            "{said}"
        );
        let whole = fs::read(&path).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            let error = mine.read(&path).unwrap_err();
            assert!(["E0741", "E0742"].contains(&error.code()), "{at}: {error}");
        }
        fs::write(&path, &whole[..whole.len() - 4]).unwrap();
        let error = mine.read(&path).unwrap_err();
        assert_eq!(error.code(), "E0741");
        assert!(
            error.to_string().contains("is damaged: it is cut short: "),
            "{error}"
        );
        let array = HostArray::from_elements([1], &[1.0f32]).unwrap();
        save::safetensors(&path, &[("w", &array)]).unwrap();
        assert_eq!(mine.read(&path).unwrap_err().code(), "E0742");
        fs::write(&path, &whole).unwrap();
        assert!(mine.read(&path).is_ok());
        fs::remove_file(mine.shared_path(&shared)).unwrap();
        assert_eq!(mine.read(&path).unwrap_err().code(), "E0741");
    }
}
