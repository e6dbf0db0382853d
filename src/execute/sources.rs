//! Where data comes from that does not depend on the run.

use crate::convert;
use crate::failure::Failure;
use std::path::Path;
use tpuc_compiler::ir::Type;
use tpuc_compiler::ir::op::HostSource;
use tpuc_runtime::data::{self, Contents, Dataset, Field};
use tpuc_runtime::error::DataError;
use tpuc_runtime::host::HostArray;
use tpuc_runtime::{Error, Surroundings, numpy_random};

/// Data that does not depend on the run: files and NumPy's permutations.
pub(super) fn read_source(
    source: &HostSource,
    around: &Surroundings,
) -> Result<Vec<HostArray>, Failure> {
    match source {
        HostSource::Dataset { name, fields } => {
            let dataset = Dataset::find(name, around)?;
            let known = fields
                .iter()
                .filter_map(|(field, _)| Field::from_name(field));
            let arrays = known.map(|field| dataset.read(field));
            let arrays = arrays.collect::<Result<_, _>>()?;
            as_compiled(Path::new(name), fields, arrays)
        }
        HostSource::Load { path, fields } => {
            let path = Path::new(path);
            let used = |name: &str| fields.iter().any(|(field, _)| field == name);
            let arrays = match data::read(path, &used)? {
                Contents::One(array) => vec![array],
                Contents::Named(mut arrays) => {
                    let of_name = |(name, _): &(String, Type)| {
                        let at = arrays.iter().position(|(n, _)| n == name);
                        let gone = || changed(path, format!("it has no array `{name}`"));
                        Ok(arrays.swap_remove(at.ok_or_else(gone)?).1)
                    };
                    let found = fields.iter().map(of_name);
                    found.collect::<Result<_, Failure>>()?
                }
            };
            as_compiled(path, fields, arrays)
        }
        HostSource::NumpyPermutations { seed, n, count } => {
            Ok(vec![numpy_random::permutations(*seed, *n, *count)?])
        }
        HostSource::Time | HostSource::Batches { .. } => Ok(Vec::new()),
    }
}

/// The arrays of data, which must be of the types that the program was compiled for.
fn as_compiled(
    name: &Path,
    fields: &[(String, Type)],
    arrays: Vec<HostArray>,
) -> Result<Vec<HostArray>, Failure> {
    for ((field, ty), array) in fields.iter().zip(&arrays) {
        let (spec, found) = (convert::spec(ty), array.spec());
        if spec != *found {
            let of = match field.as_str() {
                "" => String::new(),
                field => format!("`{field}` "),
            };
            return Err(changed(name, format!("{of}was {spec}, and is {found}")));
        }
    }
    Ok(arrays)
}

fn changed(name: &Path, reason: String) -> Failure {
    let name = name.to_path_buf();
    Failure::from(Error::Data(DataError::DataChanged { name, reason }))
}
