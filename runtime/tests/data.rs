//! Data files: good ones of every format, and each way in which one can be bad.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use common::{describe, read, unpack};
use flate2::Compression;
use flate2::write::GzEncoder;
use half::{bf16, f16};
use tempfile::TempDir;
use tpuc_runtime::data::{self, Contents, Dataset, Field};
use tpuc_runtime::error::{DataError, ValueError};
use tpuc_runtime::host::{DType, HostArray, TensorSpec};
use tpuc_runtime::{Error, Surroundings};

/// A folder with the files of the reference tables.
fn reference() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    unpack(include_str!("reference/numpy_files.txt"), folder.path());
    unpack(include_str!("reference/parquet_files.txt"), folder.path());
    folder
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The array of a file that has one; its description says the same.
fn one(path: &Path) -> HostArray {
    match (describe(path).unwrap(), read(path).unwrap()) {
        (Contents::One(spec), Contents::One(array)) => {
            assert_eq!(&spec, array.spec());
            array
        }
        other => panic!("not one array: {other:?}"),
    }
}

/// The arrays of a file that names them; their description says the same.
fn named(path: &Path) -> Vec<(String, HostArray)> {
    match (describe(path).unwrap(), read(path).unwrap()) {
        (Contents::Named(specs), Contents::Named(arrays)) => {
            let found: Vec<(String, TensorSpec)> = arrays
                .iter()
                .map(|(name, array)| (name.clone(), array.spec().clone()))
                .collect();
            assert_eq!(specs, found);
            arrays
        }
        other => panic!("not named: {other:?}"),
    }
}

/// The error of reading and of describing, which must be the same.
fn refused(path: &Path) -> Error {
    let error = read(path).unwrap_err();
    assert_eq!(describe(path).unwrap_err(), error);
    error
}

fn array<T: tpuc_runtime::host::Element>(shape: &[usize], elements: &[T]) -> HostArray {
    HostArray::from_elements(shape, elements).unwrap()
}

#[test]
fn npy_files_of_every_kind_are_read() {
    let folder = reference();
    let file = |name: &str| one(&folder.path().join(name));
    let matrix = array(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(file("f32.npy"), matrix);
    let cube: Vec<i16> = (0..24).collect();
    assert_eq!(file("columns.npy"), array(&[2, 3, 4], &cube));
    assert_eq!(file("big.npy"), array(&[3], &[1i32, -2, 3]));
    assert_eq!(file("f64.npy"), array(&[], &[1.5f64]));
    let halves = [f16::from_f32(1.5), f16::from_f32(-0.5)];
    assert_eq!(file("f16.npy"), array(&[2], &halves));
    assert_eq!(file("bool.npy"), array(&[2], &[true, false]));
    assert_eq!(file("u64.npy"), array(&[1], &[u64::MAX]));
    assert_eq!(file("empty.npy"), array::<i8>(&[0, 3], &[]));

    let packed = gzip(&fs::read(folder.path().join("f32.npy")).unwrap());
    assert_eq!(one(&write(&folder, "f32.npy.gz", &packed)), matrix);
}

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

#[test]
fn elements_that_the_language_lacks_are_named() {
    let folder = reference();
    for (name, element) in [
        ("complex.npy", "'<c16'"),
        ("object.npy", "'|O'"),
        ("text.npy", "'<U2'"),
        ("f8.safetensors", "F8_E4M3"),
    ] {
        let path = folder.path().join(name);
        let found = element.to_owned();
        let error = refused(&path);
        assert_eq!(error.code(), "E0707", "{error}");
        assert!(error.to_string().contains(&found), "{error}");
    }
}

/// An archive of the npy files of the reference table, by the names that they have in it.
fn npz(folder: &TempDir, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = folder.path().join(name);
    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (array, file) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{array}.npy"), options).unwrap();
        let bytes = fs::read(folder.path().join(file)).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap();
    path
}

/// What is read of a file, and the errors of what it leaves out, by name.
fn partly(path: &Path) -> (Vec<String>, Vec<(String, String)>) {
    let found = data::describe(path).unwrap();
    let Contents::Named(specs) = found.contents else {
        panic!("not named");
    };
    let read = data::read(path, &|_| true).unwrap();
    let Contents::Named(arrays) = read else {
        panic!("not named");
    };
    let names: Vec<String> = specs.into_iter().map(|(name, _)| name).collect();
    let same: Vec<String> = arrays.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, same);
    let left_out = found.left_out.into_iter();
    let left_out = left_out.map(|(name, error)| (name, format!("{}: {error}", error.code())));
    (names, left_out.collect())
}

#[test]
fn what_the_language_lacks_does_no_harm_to_what_stands_beside_it() {
    let folder = reference();
    let files = [("who", "text.npy"), ("x", "f32.npy"), ("any", "object.npy")];
    let path = npz(&folder, "mixed.npz", &files);
    let (names, left_out) = partly(&path);
    assert_eq!(names, ["x"]);
    assert_eq!(left_out[0].0, "who");
    let said = format!(
        "E0707: {}/who.npy has elements of type '<U2', which the language does not have",
        path.display()
    );
    assert_eq!(left_out[0].1, said);
    assert_eq!(left_out[1].0, "any");
    // In batches too.
    let shape = match read(&path).unwrap() {
        Contents::Named(arrays) => arrays[0].1.spec().clone(),
        Contents::One(_) => panic!("not named"),
    };
    let mut batches = data::Batches::start(data::Request {
        name: path,
        fields: vec![("x".to_owned(), shape.clone())],
        key: 0,
        first: 0,
        pool: data::POOL_BYTES,
    });
    assert_eq!(batches.next_batch().unwrap()[0].spec(), &shape);

    // A column of a csv without any number is one of texts; where one has some, the others are mistakes.
    let iris = b"length,species,width\n5.1,setosa,3.5\n4.9,virginica,3\n";
    let (names, left_out) = partly(&write(&folder, "iris.csv", iris));
    assert_eq!(names, ["length", "width"]);
    assert_eq!(left_out[0].0, "species");
    assert!(
        left_out[0]
            .1
            .ends_with("iris.csv, line 2, column 2: expected a number, found \"setosa\""),
        "{left_out:?}"
    );
    let some = b"a,b\n1,2\n3,four\nfive,6\n";
    let error = refused(&write(&folder, "some.csv", some));
    assert!(
        error.to_string().contains("line 3, column 2"),
        "the first of them: {error}"
    );

    // Where nothing else is there, that is what is wrong with the file.
    let path = npz(&folder, "texts.npz", &[("who", "text.npy")]);
    assert_eq!(refused(&path).code(), "E0707");
    assert_eq!(
        refused(&write(&folder, "words.csv", b"a\nx\n")).code(),
        "E0717"
    );
}

#[test]
fn only_what_is_wanted_is_read() {
    let folder = reference();
    let files = [("x", "f32.npy"), ("y", "columns.npy")];
    let two = npz(&folder, "both.npz", &files);
    let columns = write(&folder, "two.csv", b"x,y\n1,2\n");
    let tensors = folder.path().join("two.safetensors");
    let x = array(&[1], &[1.0f32]);
    tpuc_runtime::save::safetensors(&tensors, &[("x", &x), ("y", &x)]).unwrap();
    for path in [two, columns, tensors] {
        match data::read(&path, &|name| name == "y").unwrap() {
            Contents::Named(arrays) => {
                let names: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(names, ["y"], "{}", path.display());
            }
            Contents::One(_) => panic!("not named"),
        }
    }
}

#[test]
fn npz_files_are_read_packed_or_not() {
    let folder = reference();
    let two = named(&folder.path().join("two.npz"));
    assert_eq!(two[0].0, "x");
    assert_eq!(two[0].1.shape(), [2, 3]);
    assert_eq!(two[1], ("n".to_owned(), array(&[], &[7i64])));
    let packed = named(&folder.path().join("packed.npz"));
    assert_eq!(packed[0].1, array(&[1000], &[0.0f32; 1000]));
    assert_eq!(packed[1].1, array(&[2], &[1u8, 2]));
}

#[test]
fn safetensors_are_read_in_the_order_of_their_data() {
    let folder = reference();
    let two = named(&folder.path().join("two.safetensors"));
    let matrix = array(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(two[0], ("w".to_owned(), matrix));
    let halves = [bf16::from_f32(1.0), bf16::from_f32(-2.0)];
    assert_eq!(two[1], ("b".to_owned(), array(&[2], &halves)));

    let overlap = refused(&folder.path().join("overlap.safetensors"));
    assert!(matches!(
        overlap,
        Error::Data(DataError::Malformed {
            format: "safetensors",
            ..
        })
    ));
}

#[test]
fn a_cut_file_says_how_much_is_missing() {
    let folder = reference();
    let cut = |name: &str, keep: usize| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        write(&folder, &format!("cut-{keep}-{name}"), &bytes[..keep])
    };
    let path = cut("f32.npy", 140);
    let (expected, found) = (152, 140);
    assert_eq!(
        refused(&path),
        Error::Data(DataError::Truncated {
            path,
            expected,
            found
        })
    );
    let path = cut("two.safetensors", 200);
    let expected = fs::metadata(folder.path().join("two.safetensors"))
        .unwrap()
        .len();
    assert_eq!(
        refused(&path),
        Error::Data(DataError::Truncated {
            path,
            expected,
            found: 200
        })
    );
    for keep in [0, 5, 50] {
        let error = refused(&cut("two.safetensors", keep));
        assert!(
            matches!(error, Error::Data(DataError::Truncated { .. })),
            "{error:?}"
        );
    }
    assert!(matches!(
        refused(&cut("f32.npy", 3)),
        Error::Data(DataError::WrongMagic { .. })
    ));
    assert!(matches!(
        refused(&cut("f32.npy", 20)),
        Error::Data(DataError::Malformed { format: "npy", .. })
    ));
    assert!(matches!(
        refused(&cut("two.npz", 300)),
        Error::Data(DataError::Malformed { format: "npz", .. })
    ));
    assert!(matches!(
        refused(&cut("two.npz", 1)),
        Error::Data(DataError::WrongMagic { .. })
    ));
}

#[test]
fn a_packed_file_has_its_end_or_is_an_error() {
    let folder = reference();
    let packed = gzip(&[0, 0, 8, 1, 0, 0, 0, 2, 5, 6]);
    assert_eq!(
        one(&write(&folder, "x.idx.gz", &packed)),
        array(&[2], &[5u8, 6])
    );
    let mut other = packed.clone();
    let at = other.len() - 6;
    other[at] ^= 1;
    let cut = &packed[..packed.len() - 3];
    for (bytes, says) in [(&other[..], "checksum"), (cut, "breaks off")] {
        let error = read(&write(&folder, "y.idx.gz", bytes)).unwrap_err();
        assert!(
            matches!(&error, Error::Data(DataError::FileUnreadable { reason, .. }) if reason.contains(says)),
            "{error}"
        );
    }
    let path = write(&folder, "z.idx.gz", &[0, 0, 8, 1, 0, 0, 0, 2, 5, 6]);
    let (expected, found) = ("1f 8b".to_owned(), vec![0, 0, 8, 1]);
    assert_eq!(
        refused(&path),
        Error::Data(DataError::WrongMagic {
            path,
            expected,
            found
        })
    );
}

#[test]
fn a_quote_that_is_not_closed_does_not_swallow_the_rows() {
    let folder = reference();
    let error = refused(&write(&folder, "q.csv", b"\"a,b\n1,2\n3,4\n"));
    assert!(
        error.to_string().contains("is a quote not closed?"),
        "{error}"
    );
}

#[test]
fn a_file_of_another_kind_shows_its_first_bytes() {
    let folder = reference();
    for name in ["a.npy", "a.npz", "a.idx", "a.safetensors"] {
        let path = write(&folder, name, b"<html><body>not here</body></html>");
        let Error::Data(DataError::WrongMagic { found, .. }) = refused(&path) else {
            panic!("{name} was taken");
        };
        assert!(b"<html><body>".starts_with(&found), "{name}");
    }
    let path = write(&folder, "a.txt", b"1 2 3");
    assert_eq!(
        refused(&path),
        Error::Data(DataError::UnknownFormat { path })
    );
    let path = folder.path().join("none.npy");
    assert!(matches!(
        refused(&path),
        Error::Data(DataError::FileUnreadable { .. })
    ));
    fs::create_dir(folder.path().join("folder.npy")).unwrap();
    let error = refused(&folder.path().join("folder.npy"));
    assert!(
        matches!(error, Error::Data(DataError::FileUnreadable { reason, .. }) if reason == "it is a folder")
    );
}

#[test]
fn idx_files_are_big_endian_and_may_be_packed() {
    let folder = reference();
    let bytes = [
        0, 0, 0x0d, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0,
    ];
    let expected = array(&[1, 2], &[1.0f32, -2.0]);
    assert_eq!(one(&write(&folder, "x.idx", &bytes)), expected);
    assert_eq!(one(&write(&folder, "x.idx.gz", &gzip(&bytes))), expected);

    let path = write(&folder, "short.idx", &bytes[..18]);
    let (expected, found) = (20, 18);
    assert_eq!(
        refused(&path),
        Error::Data(DataError::Truncated {
            path,
            expected,
            found
        })
    );
    let path = write(&folder, "header.idx", &bytes[..9]);
    let (expected, found) = (12, 9);
    assert_eq!(
        refused(&path),
        Error::Data(DataError::Truncated {
            path,
            expected,
            found
        })
    );
    let path = write(&folder, "wrong.idx", &[0, 0, 0x0a, 1, 0, 0, 0, 0]);
    assert!(matches!(
        refused(&path),
        Error::Data(DataError::WrongMagic { .. })
    ));
    let path = write(&folder, "long.idx", &[&bytes[..], &[0]].concat());
    assert!(matches!(
        read(&path).unwrap_err(),
        Error::Data(DataError::Malformed { .. })
    ));
    // Of a packed file only reading tells how long it is, or that it is damaged.
    let path = write(&folder, "short.idx.gz", &gzip(&bytes[..18]));
    assert_eq!(
        read(&path).unwrap_err(),
        Error::Data(DataError::Truncated {
            path,
            expected: 20,
            found: 18
        })
    );
    let large: Vec<u8> = (0..100_000u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    let large = [&[0, 0, 8, 1, 0, 1, 0x86, 0xa0], &large[..]].concat();
    let packed = gzip(&large);
    let path = write(&folder, "broken.idx.gz", &packed[..packed.len() / 2]);
    let error = read(&path).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Data(DataError::Truncated {
                expected: 100_008,
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn a_header_that_announces_too_much_is_an_error_and_not_an_allocation() {
    let folder = reference();
    let huge = [
        0, 0, 0x0e, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    let path = write(&folder, "huge.idx", &huge);
    assert!(matches!(
        refused(&path),
        Error::Value(ValueError::TensorTooLarge { .. })
    ));
    let huge = [0, 0, 8, 2, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff];
    let path = write(&folder, "huge.idx.gz", &gzip(&huge));
    let error = read(&path).unwrap_err();
    assert!(
        matches!(error, Error::Data(DataError::FileUnreadable { reason, .. }) if reason.contains("memory"))
    );
}

#[test]
fn csv_files_are_one_matrix_or_named_columns() {
    let folder = reference();
    let path = write(&folder, "plain.csv", b"1,2.5\n-3e2, inf\n");
    let plain = [1.0, 2.5, -300.0, f32::INFINITY];
    assert_eq!(one(&path), array(&[2, 2], &plain));
    let path = write(&folder, "names.csv", b"age,height\r\n1,2\r\n3,4\r\n5,6");
    let columns = named(&path);
    assert_eq!(
        columns[0],
        ("age".to_owned(), array(&[3], &[1.0f32, 3.0, 5.0]))
    );
    assert_eq!(
        columns[1],
        ("height".to_owned(), array(&[3], &[2.0f32, 4.0, 6.0]))
    );

    let path = write(&folder, "word.csv", b"1,2\n3,four\n");
    let (line, column, found) = (2, 2, "four".to_owned());
    assert_eq!(
        refused(&path),
        Error::Data(DataError::CsvCell {
            path,
            line,
            column,
            found
        })
    );
    for bad in [&b""[..], b"1,2\n3\n", b"\n\n"] {
        let path = write(&folder, "bad.csv", bad);
        assert!(matches!(
            refused(&path),
            Error::Data(DataError::Malformed { format: "csv", .. })
        ));
    }
}

/// What is wrong with a file, and what to do about it.
fn told(path: &Path) -> String {
    let error = refused(path);
    format!("{error} ({})", error.help().unwrap_or_default())
}

#[test]
fn rows_of_a_csv_that_are_no_rows_are_told_apart() {
    let folder = reference();
    let missing = "a missing value is written as a number, such as `nan`";
    for (name, text, said) in [
        // The first row is data too, where all that it lacks is a value.
        (
            "gap.csv",
            &b"1,,3\n4,5,6\n"[..],
            "line 1, column 2: expected a number, found \"\"",
        ),
        ("gap.csv", b"1,,3\n4,5,6\n", missing),
        ("end.csv", b"1,2,\n3,4,\n", missing),
        ("semi.csv", b"a;b\n1;2\n", "cells are separated by commas"),
        ("two.csv", b"a,b,a\n1,2,3\n", "two columns are named `a`"),
        (
            "short.csv",
            b"1,2\n3\n",
            "line 2 has another number of cells than those before it: expected 2, found 1",
        ),
        ("latin.csv", b"1,2\n\xe4,3\n", "line 2 is no UTF-8 text"),
    ] {
        let found = told(&write(&folder, name, text));
        assert!(found.contains(said), "{found}");
    }
    let columns = named(&write(&folder, "pandas.csv", b"\xef\xbb\xbf,a,\n0,1,2\n"));
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["", "a", ""]);
}

#[test]
fn what_is_longer_or_shorter_than_its_header_says_so_before_it_is_read() {
    let folder = reference();
    let whole = fs::read(folder.path().join("f32.npy")).unwrap();
    let more = [&whole[..], b"x"].concat();
    for (bytes, said) in [
        (&more[..], "there are more bytes than its header announces"),
        (&whole[..50], "it ends within its header"),
    ] {
        let path = write(&folder, "bad.npy", bytes);
        let error = describe(&path).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn a_dataset_is_found_described_and_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("fashion_mnist");
    fs::create_dir(&folder).unwrap();
    let images = [
        &[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2][..],
        &[1, 2, 3, 4],
    ]
    .concat();
    let labels = [0, 0, 8, 1, 0, 0, 0, 2, 7, 9];
    fs::write(folder.join("train-images-idx3-ubyte"), &images).unwrap();
    fs::write(folder.join("train-labels-idx1-ubyte.gz"), gzip(&labels)).unwrap();
    fs::write(folder.join("t10k-images.idx3-ubyte"), &images).unwrap();
    fs::write(folder.join("t10k-labels-idx1-ubyte"), labels).unwrap();

    let data = root.path().display().to_string();
    let around = Surroundings::new([("TPUC_DATA".to_owned(), data)], None, None);
    let dataset = Dataset::find("fashion_mnist", &around).unwrap();
    let types = dataset.describe().unwrap();
    let images_type = TensorSpec::new(DType::U8, [2, 1, 2]);
    assert_eq!(types[0], (Field::XTrain, images_type));
    assert_eq!(types[3], (Field::YTest, TensorSpec::new(DType::U8, [2])));
    assert_eq!(
        dataset.read(Field::XTest).unwrap(),
        array(&[2, 1, 2], &[1u8, 2, 3, 4])
    );
    assert_eq!(dataset.read(Field::YTrain).unwrap(), array(&[2], &[7u8, 9]));

    // Images where labels belong are a wrong magic number, not labels of a strange shape.
    fs::write(folder.join("t10k-labels-idx1-ubyte"), &images).unwrap();
    let error = dataset.read(Field::YTest).unwrap_err();
    assert!(
        matches!(error, Error::Data(DataError::WrongMagic { found, .. }) if found == [0, 0, 8, 3])
    );
    fs::remove_file(folder.join("train-images-idx3-ubyte")).unwrap();
    let error = dataset.describe().unwrap_err();
    assert!(matches!(
        error,
        Error::Data(DataError::FileUnreadable { .. })
    ));
}

#[test]
fn a_dataset_that_is_nowhere_says_where_it_was_looked_for() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().display().to_string();
    let around = Surroundings::new([("HOME".to_owned(), home)], Some(root.path().into()), None);
    let Err(Error::Data(DataError::DatasetMissing { looked, .. })) =
        Dataset::find("mnist", &around)
    else {
        panic!("found a dataset in an empty folder");
    };
    assert!(looked.contains(&root.path().join(".deps/data/mnist")));
    assert!(looked.contains(&root.path().join(".cache/tpuc/mnist")));
    let unknown = Dataset::find("imagenet", &around).unwrap_err();
    assert!(matches!(
        unknown,
        Error::Data(DataError::DatasetUnknown { .. })
    ));
}

/// The real files of the set-up, by their well-known sizes and first labels.
#[test]
fn the_real_mnist_is_read() {
    let dataset = Dataset::find("mnist", &Surroundings::of_process())
        .unwrap_or_else(|error| panic!("{error}: run `make setup` first"));
    let types = dataset.describe().unwrap();
    assert_eq!(types[0].1, TensorSpec::new(DType::U8, [60000, 28, 28]));
    assert_eq!(types[2].1, TensorSpec::new(DType::U8, [10000, 28, 28]));
    let labels = dataset.read(Field::YTrain).unwrap().to_vec::<u8>().unwrap();
    assert_eq!(labels[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
}
