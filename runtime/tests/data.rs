//! Data files: good ones of every format, and each way in which one can be bad.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use common::files::{array, gzip, named, one, reference, refused, write};
use common::{describe, read};
use half::{bf16, f16};
use tempfile::TempDir;
use tpuc_runtime::Error;
use tpuc_runtime::data::{self, Contents};
use tpuc_runtime::error::{DataError, ValueError};

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
