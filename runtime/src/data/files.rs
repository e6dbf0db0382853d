//! Several files as one: a pattern such as `big/*.npz` names files whose arrays follow each other, row by row.

use std::path::{Path, PathBuf};

use super::Contents;
use crate::error::{DataError, Error};
use crate::host::{Bytes, HostArray, TensorSpec};

/// Whether a name stands for those that it matches.
pub fn is_pattern(name: &Path) -> bool {
    name.to_string_lossy().contains(['*', '?', '[']) && !name.exists()
}

/// The files of a name: itself, or in order of their names those that it matches where it is a pattern.
/// A file that is really called so is meant before any pattern.
pub fn expand(name: &Path) -> Result<Vec<PathBuf>, Error> {
    if !is_pattern(name) {
        return Ok(vec![name.to_path_buf()]);
    }
    let text = name.to_string_lossy();
    let none = |reason: &str| {
        Error::Data(DataError::NoFiles {
            pattern: name.to_path_buf(),
            reason: reason.to_owned(),
        })
    };
    let found = glob::glob(&text).map_err(|error| none(error.msg))?;
    let files: Vec<PathBuf> = found.flatten().filter(|path| path.is_file()).collect();
    match files.is_empty() {
        true => Err(none("no file matches it")),
        false => Ok(files),
    }
}

/// The types of the arrays of all files together. `parts`: those of each file, of which there is at least one.
pub fn join_specs(
    parts: Vec<(PathBuf, Contents<TensorSpec>)>,
) -> Result<Contents<TensorSpec>, Error> {
    let mut parts = parts.into_iter();
    let Some((first, one)) = parts.next() else {
        return Ok(Contents::Named(Vec::new()));
    };
    let mut all = one.clone();
    for (path, part) in parts {
        each_pair(&first, &one, &path, &part)?;
        match (&mut all, &part) {
            (Contents::One(all), Contents::One(part)) => all.shape[0] += part.shape[0],
            (Contents::Named(all), Contents::Named(part)) => {
                for (name, all) in all {
                    let own = part.iter().filter(|(n, _)| n == name);
                    all.shape[0] += own.map(|(_, spec)| spec.shape[0]).sum::<usize>();
                }
            }
            // Such do not get here.
            _ => {}
        }
    }
    Ok(all)
}

/// The arrays of all files together, rows after rows.
pub fn join_arrays(
    parts: Vec<(PathBuf, Contents<HostArray>)>,
) -> Result<Contents<HostArray>, Error> {
    let specs = |contents: &Contents<HostArray>| match contents {
        Contents::One(array) => Contents::One(array.spec().clone()),
        Contents::Named(arrays) => {
            let named = arrays.iter().map(|(n, a)| (n.clone(), a.spec().clone()));
            Contents::Named(named.collect())
        }
    };
    let described = parts.iter().map(|(p, c)| (p.clone(), specs(c))).collect();
    let whole = join_specs(described)?;
    if parts.len() == 1 {
        let mut parts = parts;
        return Ok(parts.remove(0).1);
    }
    // Joining the types has made sure that every part has every array.
    let of_name = |name: Option<&str>| {
        let arrays = parts.iter().map(move |(_, part)| match part {
            Contents::One(array) => Some(array),
            Contents::Named(arrays) => {
                let own = arrays.iter().find(|(n, _)| Some(n.as_str()) == name);
                own.map(|(_, array)| array)
            }
        });
        arrays.flatten().collect::<Vec<_>>()
    };
    let stack = |spec: &TensorSpec, name| stack(spec, of_name(name).into_iter());
    Ok(match &whole {
        Contents::One(spec) => Contents::One(stack(spec, None)?),
        Contents::Named(specs) => {
            let arrays = specs
                .iter()
                .map(|(n, s)| Ok((n.clone(), stack(s, Some(n))?)));
            Contents::Named(arrays.collect::<Result<_, Error>>()?)
        }
    })
}

/// An array of a type whose rows are those of the parts.
pub fn stack<'a>(
    spec: &TensorSpec,
    parts: impl Iterator<Item = &'a HostArray>,
) -> Result<HostArray, Error> {
    let mut bytes = Bytes::zeroed(spec.checked_len()?);
    let mut rest = bytes.as_mut_slice();
    for part in parts {
        let (own, after) = rest.split_at_mut(part.bytes().len().min(rest.len()));
        own.copy_from_slice(&part.bytes()[..own.len()]);
        rest = after;
    }
    HostArray::new(spec.dtype, spec.shape.clone(), bytes)
}

/// Whether rows of each array of a further file can follow those of the first.
fn each_pair(
    first: &Path,
    one: &Contents<TensorSpec>,
    path: &Path,
    part: &Contents<TensorSpec>,
) -> Result<(), Error> {
    let differ = |reason: String| {
        Error::Data(DataError::FilesDiffer {
            first: first.to_path_buf(),
            other: path.to_path_buf(),
            reason,
        })
    };
    let pair = |name: &str, a: &TensorSpec, b: &TensorSpec| {
        let named = match name {
            "" => String::new(),
            name => format!("`{name}` "),
        };
        let same =
            a.dtype == b.dtype && !b.shape.is_empty() && a.shape.get(1..) == b.shape.get(1..);
        match same {
            true => Ok(()),
            false => Err(differ(format!(
                "{named}is {a} in the one and {b} in the other"
            ))),
        }
    };
    match (one, part) {
        (Contents::One(a), Contents::One(b)) => pair("", a, b),
        (Contents::Named(many), Contents::Named(others)) => {
            let missing = |name: &str| differ(format!("only one of them has an array `{name}`"));
            let unknown = |(n, _): &&(String, _)| !many.iter().any(|(m, _)| m == n);
            if let Some((name, _)) = others.iter().find(unknown) {
                return Err(missing(name));
            }
            for (name, a) in many {
                let b = others.iter().find(|(n, _)| n == name);
                pair(name, a, &b.ok_or_else(|| missing(name))?.1)?;
            }
            Ok(())
        }
        _ => Err(differ(
            "only one of them has names for its arrays".to_owned(),
        )),
    }
}
