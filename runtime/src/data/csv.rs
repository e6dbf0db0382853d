//! csv files of numbers, all of them `f32`.
//!
//! Where the first row has a cell that is no number, it names the columns, and each is an array of its
//! own. Otherwise the file is one array, a row for each line.

use std::path::Path;

use super::Contents;
use super::source::open_file;
use crate::error::{DataError, Error};
use crate::host::{DType, HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Contents<TensorSpec>, Error> {
    let table = parse(path)?;
    let (rows, columns) = (table.rows, table.columns);
    Ok(match table.names {
        None => Contents::One(TensorSpec::new(DType::F32, [rows, columns])),
        Some(names) => Contents::Named(
            names
                .into_iter()
                .map(|name| (name, TensorSpec::new(DType::F32, [rows])))
                .collect(),
        ),
    })
}

pub fn read(path: &Path) -> Result<Contents<HostArray>, Error> {
    let table = parse(path)?;
    let (rows, columns) = (table.rows, table.columns);
    Ok(match table.names {
        None => Contents::One(HostArray::from_elements([rows, columns], &table.cells)?),
        Some(names) => {
            let mut arrays = Vec::with_capacity(columns);
            for (column, name) in names.into_iter().enumerate() {
                let cells = table.cells.iter().skip(column).step_by(columns);
                let cells: Vec<f32> = cells.copied().collect();
                arrays.push((name, HostArray::from_elements([rows], &cells)?));
            }
            Contents::Named(arrays)
        }
    })
}

struct Table {
    names: Option<Vec<String>>,
    rows: usize,
    columns: usize,
    /// Row by row.
    cells: Vec<f32>,
}

fn parse(path: &Path) -> Result<Table, Error> {
    let malformed = |reason: String| {
        Error::Data(DataError::Malformed {
            path: path.to_path_buf(),
            format: "csv",
            reason,
        })
    };
    let (file, _) = open_file(path)?;
    // The reader itself refuses rows of unequal length.
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(file);
    let mut table = Table {
        names: None,
        rows: 0,
        columns: 0,
        cells: Vec::new(),
    };
    let mut record = csv::StringRecord::new();
    let mut is_first = true;
    while reader
        .read_record(&mut record)
        .map_err(|error| malformed(error.to_string()))?
    {
        table.columns = record.len();
        if is_first && record.iter().any(|cell| number(cell).is_none()) {
            // A quote that nothing closes takes in all that follows, line by line.
            if record.iter().any(|cell| cell.contains('\n')) {
                return Err(malformed(
                    "a name of a column has several lines; is a quote not closed?".to_owned(),
                ));
            }
            table.names = Some(record.iter().map(str::to_owned).collect());
        } else {
            for (column, cell) in record.iter().enumerate() {
                table.cells.push(number(cell).ok_or_else(|| {
                    Error::Data(DataError::CsvCell {
                        path: path.to_path_buf(),
                        line: record.position().map_or(0, csv::Position::line),
                        column: column + 1,
                        found: cell.to_owned(),
                    })
                })?);
            }
            table.rows += 1;
        }
        is_first = false;
    }
    if is_first {
        return Err(malformed("it is empty".to_owned()));
    }
    Ok(table)
}

/// The nearest `f32`, rounded once.
fn number(cell: &str) -> Option<f32> {
    cell.parse().ok()
}
