//! csv files of numbers, all of them `f32`.
//!
//! Where the first row has a cell that is no number, and not just empty, it names the columns, and each is an array of its
//! own; one in which no row has a number is left out. Otherwise the file is one array, a row for each line.

use std::path::Path;

use csv::{ErrorKind, StringRecord};

use super::source::open_file;
use super::{Contents, Description, Named, Wanted, described, had};
use crate::error::{DataError, Error};
use crate::host::{DType, HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Description, Error> {
    match parse(path, &|_| true)? {
        Table::Matrix { columns, cells } => {
            let shape = [cells.len() / columns.max(1), columns];
            Ok(Description {
                contents: Contents::One(TensorSpec::new(DType::F32, shape)),
                left_out: Vec::new(),
            })
        }
        Table::Columns(columns) => {
            let spec = |cells: Vec<f32>| TensorSpec::new(DType::F32, [cells.len()]);
            let each = columns.into_iter();
            described(each.map(|(n, column)| (n, column.map(spec))).collect())
        }
    }
}

pub fn read(path: &Path, wanted: Wanted<'_>) -> Result<Contents<HostArray>, Error> {
    match parse(path, wanted)? {
        Table::Matrix { columns, cells } => {
            let shape = [cells.len() / columns.max(1), columns];
            Ok(Contents::One(HostArray::from_elements(shape, &cells)?))
        }
        Table::Columns(columns) => {
            let array = |cells: Vec<f32>| HostArray::from_elements([cells.len()], &cells);
            let each = columns.into_iter();
            had(each
                .map(|(n, column)| (n, column.and_then(array)))
                .collect())
        }
    }
}

enum Table {
    /// Row by row.
    Matrix {
        columns: usize,
        cells: Vec<f32>,
    },
    Columns(Named<Result<Vec<f32>, Error>>),
}

/// A column with a name.
#[derive(Default)]
struct Column {
    numbers: Vec<f32>,
    /// How many rows have a number.
    good: usize,
    /// The first cell that is none: which row it is in, and the error.
    bad: Option<(usize, Error)>,
}

fn parse(path: &Path, wanted: Wanted<'_>) -> Result<Table, Error> {
    let (file, _) = open_file(path)?;
    // The reader itself refuses rows of unequal length.
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(file);
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| {
        let read = reader.read_record(record);
        read.map_err(|error| malformed(path, said(&error)))
    };
    if !next(&mut record)? {
        return Err(malformed(path, "it is empty"));
    }
    // A cell without anything in it is a value that is missing, and no name.
    let is_name = |cell: &str| !cell.is_empty() && number(cell).is_none();
    if !record.iter().any(is_name) {
        let columns = record.len();
        let mut cells = Vec::new();
        loop {
            for column in 0..columns {
                cells.push(cell(path, &record, column)?);
            }
            if !next(&mut record)? {
                return Ok(Table::Matrix { columns, cells });
            }
        }
    }
    let names = names(path, &record)?;
    let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
    let mut row = 0;
    while next(&mut record)? {
        for (number, column) in columns.iter_mut().enumerate() {
            column.push(row, cell(path, &record, number));
        }
        row += 1;
    }
    // Of columns that have numbers too, the first cell without one is a mistake.
    let mistakes = columns.iter_mut().filter(|column| column.good > 0);
    let mistakes = mistakes.filter_map(|column| column.bad.take());
    if let Some((_, error)) = mistakes.min_by_key(|(row, _)| *row) {
        return Err(error);
    }
    let each = names.into_iter().zip(columns);
    let each = each.filter(|(name, _)| wanted(name));
    let each = each.map(|(name, column)| match column.bad {
        Some((_, error)) => (name, Err(error)),
        None => (name, Ok(column.numbers)),
    });
    Ok(Table::Columns(each.collect()))
}

impl Column {
    fn push(&mut self, row: usize, cell: Result<f32, Error>) {
        match cell {
            Ok(number) => {
                self.good += 1;
                self.numbers.push(number);
            }
            Err(error) => {
                self.bad.get_or_insert((row, error));
            }
        }
    }
}

/// The names of the columns, in the first row.
fn names(path: &Path, record: &StringRecord) -> Result<Vec<String>, Error> {
    // A quote that nothing closes takes in all that follows, line by line.
    if record.iter().any(|cell| cell.contains('\n')) {
        let reason = "a name of a column has several lines; is a quote not closed?";
        return Err(malformed(path, reason));
    }
    let names: Vec<String> = record.iter().map(str::to_owned).collect();
    match twice(&names) {
        Some(name) => Err(malformed(path, format!("two columns are named `{name}`"))),
        None => Ok(names),
    }
}

fn cell(path: &Path, record: &StringRecord, column: usize) -> Result<f32, Error> {
    let found = record.get(column).unwrap_or_default();
    number(found).ok_or_else(|| {
        Error::Data(DataError::CsvCell {
            path: path.to_path_buf(),
            line: record.position().map_or(0, csv::Position::line),
            column: column + 1,
            found: found.to_owned(),
        })
    })
}

fn malformed(path: &Path, reason: impl ToString) -> Error {
    DataError::malformed(path, "csv", reason)
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
