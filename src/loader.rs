//! What the checker asks of the outside, answered from disk.

use crate::convert;
use std::path::{Path, PathBuf};
use tpuc_lang::source::{LoadError, LoadedData, Loader};
use tpuc_lang::typed::Ty;
use tpuc_runtime::data::{self, Contents, Dataset};
use tpuc_runtime::host::TensorSpec;
use tpuc_runtime::{Error, Surroundings};

/// Imports are found beside the file that imports them; data where the runtime looks for it.
pub struct DiskLoader<'a> {
    root: PathBuf,
    around: &'a Surroundings,
}

impl<'a> DiskLoader<'a> {
    pub fn new(file: &Path, around: &'a Surroundings) -> Self {
        DiskLoader {
            root: file.to_path_buf(),
            around,
        }
    }
}

impl Loader for DiskLoader<'_> {
    fn import(&self, from: &str, path: &str) -> Result<(String, String), String> {
        let from = if from.is_empty() {
            self.root.as_path()
        } else {
            Path::new(from)
        };
        let found = from.parent().unwrap_or(Path::new("")).join(path);
        match std::fs::read_to_string(&found) {
            Ok(text) => Ok((found.display().to_string(), text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                Err(format!("there is no file `{}`", found.display()))
            }
            Err(e) => Err(format!("cannot read `{}`: {e}", found.display())),
        }
    }

    fn dataset(&self, name: &str) -> Result<Ty, LoadError> {
        let say = |what: &str| eprintln!("note: {what}");
        let fields = Dataset::find_or_fetch(name, self.around, &say)
            .and_then(|d| d.describe())
            .map_err(load_error)?;
        Ok(record(
            fields.iter().map(|(field, spec)| (field.name(), spec)),
        ))
    }

    fn load(&self, path: &str) -> Result<LoadedData, LoadError> {
        let found = data::describe(Path::new(path)).map_err(load_error)?;
        let ty = match found.contents {
            Contents::One(spec) => convert::tensor_ty(&spec),
            Contents::Named(many) => record(many.iter().map(|(name, spec)| (name.as_str(), spec))),
        };
        let left_out = found.left_out.into_iter();
        let left_out = left_out.map(|(name, error)| (name, load_error(error)));
        Ok(LoadedData {
            ty,
            left_out: left_out.collect(),
        })
    }
}

/// A record of arrays by name. A dotted name, as `save` writes of trees, stands for what is inside of another: `opt.m`
/// for the field `m` of `opt`. Names that cannot all be meant so, such as `a` and `a.b`, are taken as they are.
fn record<'s>(fields: impl Iterator<Item = (&'s str, &'s TensorSpec)>) -> Ty {
    let fields: Vec<(&str, Ty)> = fields
        .map(|(name, spec)| (name, convert::tensor_ty(spec)))
        .collect();
    tree(&fields).unwrap_or_else(|| flat(&fields))
}

fn flat(fields: &[(&str, Ty)]) -> Ty {
    Ty::Record(
        fields
            .iter()
            .map(|(n, ty)| ((*n).into(), ty.clone()))
            .collect(),
    )
}

/// The rest of a dotted name, if there is one, and the type of its array.
type Inner<'a> = (Option<&'a str>, Ty);

/// A record, or a tuple where the names are the numbers from 0; `None` where one name is that of an array and of a group.
fn tree(fields: &[(&str, Ty)]) -> Option<Ty> {
    let mut parts: Vec<(&str, Vec<Inner>)> = Vec::new();
    for (name, ty) in fields {
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (*name, None),
        };
        match parts.iter_mut().find(|(part, _)| *part == first) {
            Some((_, inner)) => inner.push((rest, ty.clone())),
            None => parts.push((first, vec![(rest, ty.clone())])),
        }
    }
    let parts = parts.into_iter().map(|(name, inner)| match &inner[..] {
        _ if name.is_empty() => None,
        [(None, ty)] => Some((name, ty.clone())),
        _ => {
            let inner = inner.iter().map(|(rest, ty)| Some(((*rest)?, ty.clone())));
            Some((name, tree(&inner.collect::<Option<Vec<_>>>()?)?))
        }
    });
    let parts: Vec<(&str, Ty)> = parts.collect::<Option<_>>()?;
    let numbered = |i: usize| parts.iter().find(|(name, _)| *name == i.to_string());
    let tuple: Option<Vec<Ty>> = (0..parts.len())
        .map(|i| numbered(i).map(|(_, ty)| ty.clone()))
        .collect();
    Some(
        tuple
            .filter(|parts| !parts.is_empty())
            .map_or_else(|| flat(&parts), Ty::Tuple),
    )
}

fn load_error(e: Error) -> LoadError {
    LoadError {
        code: e.code(),
        message: e.to_string(),
        help: e.help(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tpuc_runtime::host::DType;

    fn shown(names: &[&str]) -> String {
        let spec = TensorSpec::new(DType::F32, []);
        show(&record(names.iter().map(|name| (*name, &spec))))
    }

    fn show(ty: &Ty) -> String {
        match ty {
            Ty::Record(fields) => {
                let each = fields
                    .iter()
                    .map(|(name, ty)| format!("{name}: {}", show(ty)));
                format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
            }
            Ty::Tuple(parts) => {
                let each: Vec<String> = parts.iter().map(show).collect();
                format!("({})", each.join(", "))
            }
            _ => "_".into(),
        }
    }

    #[test]
    fn dotted_names_are_a_tree() {
        assert_eq!(shown(&["a", "b"]), "{a: _, b: _}");
        let nested = shown(&["p.w", "p.b", "opt.m.w", "n"]);
        assert_eq!(nested, "{p: {w: _, b: _}, opt: {m: {w: _}}, n: _}");
        assert_eq!(shown(&["0", "1"]), "(_, _)");
        assert_eq!(shown(&["l.1.w", "l.0.w"]), "{l: ({w: _}, {w: _})}");
        assert_eq!(shown(&["l.1", "l.2"]), "{l: {1: _, 2: _}}");
        assert_eq!(shown(&[]), "{}");
    }

    #[test]
    fn names_that_are_no_tree_stay_as_they_are() {
        for names in [
            ["a", "a.b"],
            ["a.b", "a"],
            ["a..b", "c"],
            [".a", "c"],
            ["a.", "a.b"],
        ] {
            assert_eq!(
                shown(&names),
                format!("{{{}: _, {}: _}}", names[0], names[1])
            );
        }
    }
}
