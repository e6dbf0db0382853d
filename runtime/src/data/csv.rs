//! csv files of numbers, all of them `f32`.
//!
//! Where the first row has a cell that is no number, and not just empty, it names the columns, and each is an array of its
//! own. Otherwise the file is one array, a row for each line.

use std::path::Path;

use csv::ErrorKind;

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
        .map_err(|error| malformed(said(&error)))?
    {
        table.columns = record.len();
        // A cell without anything in it is a value that is missing, and no name.
        let is_name = |cell: &str| !cell.is_empty() && number(cell).is_none();
        if is_first && record.iter().any(is_name) {
            // A quote that nothing closes takes in all that follows, line by line.
            if record.iter().any(|cell| cell.contains('\n')) {
                return Err(malformed(
                    "a name of a column has several lines; is a quote not closed?".to_owned(),
                ));
            }
            let names: Vec<String> = record.iter().map(str::to_owned).collect();
            if let Some(name) = twice(&names) {
                return Err(malformed(format!("two columns are named `{name}`")));
            }
            table.names = Some(names);
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

/// The first name that stands twice; that of columns without one may.
fn twice(names: &[String]) -> Option<&str> {
    let mut again = names.iter().enumerate();
    let found = again.find(|(i, name)| !name.is_empty() && names[..*i].contains(name));
    found.map(|(_, name)| name.as_str())
}

/// What is wrong with a row, by its line.
fn said(error: &csv::Error) -> String {
    let line = |position: &Option<csv::Position>| position.as_ref().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => format!(
            "line {} has another number of cells than those before it: expected {expected_len}, found {len}",
            line(pos)
        ),
        ErrorKind::Utf8 { pos, .. } => format!("line {} is no UTF-8 text", line(pos)),
        _ => error.to_string(),
    }
}

/// The nearest `f32`, rounded once.
fn number(cell: &str) -> Option<f32> {
    cell.parse().ok()
}
