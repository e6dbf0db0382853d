//! Columns of parquet files, against reference values that pyarrow wrote.

mod common;

use std::fs;

use common::files::{array, named, reference, refused, write};
use common::read;
use half::f16;
use tpuc_runtime::Error;
use tpuc_runtime::data;
use tpuc_runtime::error::DataError;

#[test]
fn parquet_files_are_columns_of_numbers() {
    let folder = reference();
    let file = |name: &str| named(&folder.path().join(name));
    let column = |name: &str| {
        let columns = file("numbers.parquet");
        let found = columns.into_iter().find(|(n, _)| n == name);
        found.map(|(_, array)| array)
    };
    let halves: Vec<f16> = (0..5).map(|i| f16::from_f32(i as f32 / 8.0)).collect();
    let expected = [
        ("f", array(&[5], &[0.0f32, 0.5, 1.0, 1.5, 2.0])),
        ("d", array(&[5], &[0.0f64, -0.25, -0.5, -0.75, -1.0])),
        ("i8", array(&[5], &[-2i8, -1, 0, 1, 2])),
        ("u8", array(&[5], &[250u8, 251, 252, 253, 254])),
        ("i16", array(&[5], &[-300i16, -299, -298, -297, -296])),
        ("u16", array(&[5], &[65000u16, 65001, 65002, 65003, 65004])),
        (
            "i32",
            array(&[5], &[-70000, -69999, -69998, -69997, -69996]),
        ),
        (
            "u32",
            array(&[5], &[0, 1, 2, 3, 4].map(|i: u32| i + 4_294_967_000)),
        ),
        (
            "i64",
            array(&[5], &[0, 1, 2, 3, 4].map(|i: i64| i - (1 << 40))),
        ),
        (
            "u64",
            array(&[5], &[0, 1, 2, 3, 4].map(|i: u64| i + (1 << 63))),
        ),
        ("h", array(&[5], &halves)),
        ("b", array(&[5], &[true, false, true, false, true])),
    ];
    for (name, array) in expected {
        assert_eq!(column(name), Some(array), "{name}");
    }
    let x = |values: &[f32]| vec![("x".to_owned(), array(&[values.len()], values))];
    for packing in ["plain", "gzip", "zstd", "brotli", "lz4"] {
        let found = file(&format!("{packing}.parquet"));
        assert_eq!(found, x(&[0.0, 1.0, 2.0, 3.0, 4.0]), "{packing}");
    }
    let lists = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let rows = file("rows.parquet");
    assert_eq!(rows[0], ("x".to_owned(), array(&[3, 2], &lists)));
    let whole = array(&[3, 2], &[0i64, 1, 2, 3, 4, 5]);
    assert_eq!(rows[1], ("n".to_owned(), whole));
    let parts = file("struct.parquet");
    assert_eq!(parts[0], ("s.a".to_owned(), array(&[2], &[1.0f64, 3.0])));
    assert_eq!(file("empty.parquet"), x(&[]));
}

#[test]
fn a_parquet_file_that_cannot_be_an_array_says_why() {
    let folder = reference();
    let path = |name: &str| folder.path().join(name);
    for (name, found) in [
        ("text.parquet", "text in the column `name`"),
        (
            "deep.parquet",
            "lists of lists in the column `x.list.element.list.element`",
        ),
        ("dates.parquet", "dates in the column `day`"),
        ("times.parquet", "times in the column `t`"),
        ("decimals.parquet", "decimal numbers in the column `d`"),
        ("bytes.parquet", "BYTE_ARRAY in the column `b`"),
    ] {
        let path = path(name);
        let found = found.to_owned();
        // What stands beside it can be had.
        let error = match data::describe(&path) {
            Ok(mut described) => described.left_out.remove(0).1,
            Err(error) => error,
        };
        let expected = DataError::UnsupportedElement { path, found };
        assert_eq!(error, Error::Data(expected));
    }
    let lists = "the column `x` has rows without a value (null), or lists of several lengths";
    for (name, said) in [
        (
            "missing.parquet",
            "the column `x` has rows without a value (null)",
        ),
        ("lists.parquet", lists),
        ("gaps.parquet", lists),
        ("holes.parquet", lists),
        ("shifted.parquet", lists),
    ] {
        let error = read(&path(name)).unwrap_err();
        assert_eq!(error.code(), "E0706", "{name}");
        assert!(error.to_string().ends_with(said), "{name}: {error}");
    }
    let whole = fs::read(path("gzip.parquet")).unwrap();
    for (name, bytes) in [
        ("cut.parquet", &whole[..whole.len() - 9]),
        ("none.parquet", b"{}"),
    ] {
        assert_eq!(refused(&write(&folder, name, bytes)).code(), "E0706");
    }
}
