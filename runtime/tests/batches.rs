//! Several files as one, and shuffled batches of them.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use common::{describe, read};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use tpuc_runtime::Error;
use tpuc_runtime::data::{Batches, Contents, POOL_BYTES, Request};
use tpuc_runtime::error::DataError;
use tpuc_runtime::host::{DType, HostArray, TensorSpec};
use tpuc_runtime::save;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An npy file of version 1.
fn npy(descr: &str, shape: &str, order: bool, elements: &[u8]) -> Vec<u8> {
    let order = if order { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(elements);
    bytes
}

fn floats(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(|n| (n as f32).to_le_bytes()).collect()
}

/// `x`: f32[n, 2] of rows (i, i + 1000), `y`: i64[n] of i, big-endian; i counts from `first`.
fn npz(first: u32, n: u32, compression: CompressionMethod) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipWriter::new(std::io::Cursor::new(&mut bytes));
    let options = SimpleFileOptions::default().compression_method(compression);
    let rows = first..first + n;
    let x = floats(rows.clone().flat_map(|i| [i, i + 1000]));
    let y: Vec<u8> = rows.flat_map(|i| i64::from(i).to_be_bytes()).collect();
    for (name, file) in [
        ("x.npy", npy("<f4", &format!("({n}, 2)"), false, &x)),
        ("y.npy", npy(">i8", &format!("({n},)"), false, &y)),
    ] {
        archive.start_file(name, options).unwrap();
        archive.write_all(&file).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

/// Three files of 10, 7 and 33 rows, numbered on.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("a.npz"), npz(0, 10, CompressionMethod::Stored)).unwrap();
    fs::write(file("b.npz"), npz(10, 7, CompressionMethod::Deflated)).unwrap();
    fs::write(file("c.npz"), npz(17, 33, CompressionMethod::Deflated)).unwrap();
    folder
}

fn request(name: PathBuf, size: usize, key: u64) -> Request {
    Request {
        name,
        fields: vec![
            ("x".to_owned(), TensorSpec::new(DType::F32, [size, 2])),
            ("y".to_owned(), TensorSpec::new(DType::I64, [size])),
        ],
        key,
        first: 0,
        pool: POOL_BYTES,
    }
}

/// The numbers of the rows of `count` batches, once it is sure that the arrays belong together.
fn numbers(request: Request, count: usize) -> Vec<i64> {
    let size = request.fields[0].1.shape[0];
    let mut batches = Batches::start(request);
    let mut all = Vec::new();
    for _ in 0..count {
        let batch = batches.next_batch().unwrap();
        let x: Vec<f32> = batch[0].to_vec().unwrap();
        let y: Vec<i64> = batch[1].to_vec().unwrap();
        assert_eq!((x.len(), y.len()), (2 * size, size));
        for (row, &i) in x.chunks(2).zip(&y) {
            assert_eq!(row, [i as f32, (i + 1000) as f32]);
        }
        all.extend(y);
    }
    all
}

#[test]
fn a_pattern_stands_for_the_rows_of_all_its_files() {
    let folder = folder();
    let name = folder.path().join("*.npz");
    let Contents::Named(specs) = describe(&name).unwrap() else {
        panic!("the arrays have names")
    };
    let x = TensorSpec::new(DType::F32, [50, 2]);
    let y = TensorSpec::new(DType::I64, [50]);
    assert_eq!(specs, [("x".to_owned(), x), ("y".to_owned(), y)]);
    let Contents::Named(arrays) = read(&name).unwrap() else {
        panic!("the arrays have names")
    };
    let whole: Vec<i64> = arrays[1].1.to_vec().unwrap();
    assert_eq!(whole, (0..50).collect::<Vec<_>>());
}

#[test]
fn each_row_comes_once_in_an_order_of_the_key() {
    let folder = folder();
    let name = folder.path().join("*.npz");
    let found = numbers(request(name.clone(), 10, 7), 5);
    assert_eq!(found.iter().copied().collect::<BTreeSet<_>>().len(), 50);
    assert_ne!(found, (0..50).collect::<Vec<_>>());
    assert_eq!(numbers(request(name.clone(), 10, 7), 5), found);
    assert_ne!(numbers(request(name.clone(), 10, 8), 5), found);

    // What does not fill a batch is left out, and taking up in the middle gives the same.
    let sevens = numbers(request(name.clone(), 7, 7), 7);
    assert_eq!(sevens, found[..49]);
    let later = Request {
        first: 3,
        ..request(name, 7, 7)
    };
    assert_eq!(numbers(later, 4), sevens[21..]);
}

#[test]
fn a_small_pool_still_gives_each_row_once() {
    let folder = folder();
    let name = folder.path().join("*.npz");
    // Room for one batch; less is never had.
    let small = Request {
        pool: 1,
        ..request(name, 5, 3)
    };
    let found = numbers(small, 10);
    assert_eq!(found.iter().copied().collect::<BTreeSet<_>>().len(), 50);
    assert_ne!(
        found,
        numbers(request(folder.path().join("*.npz"), 5, 3), 10)
    );
}

#[test]
fn every_format_is_streamed() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rows: Vec<u32> = (0..12).collect();
    let columns: Vec<u32> = rows.iter().flat_map(|i| [2 * i, 2 * i + 1]).collect();
    let across: Vec<u32> = (0..2)
        .flat_map(|j| rows.iter().map(move |i| 2 * i + j))
        .collect();
    let plain = npy("<f4", "(12, 2)", false, &floats(columns.iter().copied()));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&plain).unwrap();
    fs::write(file("a.npy"), &plain).unwrap();
    fs::write(file("b.npy.gz"), encoder.finish().unwrap()).unwrap();
    fs::write(
        file("c.npy"),
        npy("<f4", "(12, 2)", true, &floats(across.into_iter())),
    )
    .unwrap();
    let text: String = rows
        .iter()
        .map(|i| format!("{},{}\n", 2 * i, 2 * i + 1))
        .collect();
    fs::write(file("d.csv"), text).unwrap();
    let mut idx = vec![0, 0, 0x0d, 2, 0, 0, 0, 12, 0, 0, 0, 2];
    idx.extend(columns.iter().flat_map(|&n| (n as f32).to_be_bytes()));
    fs::write(file("e.idx"), idx).unwrap();
    let numbers: Vec<f32> = columns.iter().map(|&n| n as f32).collect();
    let array = HostArray::from_elements([12, 2], &numbers).unwrap();
    let other = HostArray::from_elements([12], &[1u8; 12]).unwrap();
    save::safetensors(&file("f.safetensors"), &[("b", &other), ("w", &array)]).unwrap();

    let batch = TensorSpec::new(DType::F32, [12, 2]);
    for (name, field) in [
        ("a.npy", ""),
        ("b.npy.gz", ""),
        ("c.npy", ""),
        ("d.csv", ""),
        ("e.idx", ""),
        ("f.safetensors", "w"),
    ] {
        let mut batches = Batches::start(Request {
            name: file(name),
            fields: vec![(field.to_owned(), batch.clone())],
            key: 1,
            first: 0,
            pool: POOL_BYTES,
        });
        let found: Vec<f32> = batches.next_batch().unwrap()[0].to_vec().unwrap();
        let mut rows: Vec<&[f32]> = found.chunks(2).collect();
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(rows.concat(), numbers, "{name}");
    }
}

#[test]
fn files_that_cannot_follow_each_other_are_refused() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name);
    let refused = |pattern: &str| {
        let error = describe(&file(pattern)).unwrap_err();
        assert_eq!(read(&file(pattern)).unwrap_err(), error);
        error
    };
    assert_eq!(refused("*.npy").code(), "E0708");
    assert_eq!(refused("[.npz").code(), "E0708");
    fs::write(file("1.npy"), npy("<f4", "(1, 2)", false, &floats(0..2))).unwrap();
    fs::write(file("2.npy"), npy("<f4", "(1, 3)", false, &floats(0..3))).unwrap();
    let error = refused("?.npy");
    assert_eq!(error.code(), "E0709");
    assert!(
        error
            .to_string()
            .contains("f32[1, 2] in the one and f32[1, 3] in the other"),
        "{error}"
    );
    fs::write(file("2.npy"), npy("<f4", "()", false, &floats(0..1))).unwrap();
    assert_eq!(refused("?.npy").code(), "E0709");
    fs::write(file("d.npz"), npy("<f4", "(1, 2)", false, &floats(0..2))).unwrap();
    assert_eq!(refused("[cd].npz").code(), "E0704");
}

#[test]
fn data_that_has_changed_is_noticed() {
    let folder = folder();
    let name = folder.path().join("*.npz");
    let error = |request: Request, after: usize| {
        let mut batches = Batches::start(request);
        for _ in 0..after {
            batches.next_batch().unwrap();
        }
        batches.next_batch().unwrap_err()
    };
    let early = error(request(name.clone(), 10, 7), 5);
    assert_eq!(early.code(), "E0710");
    assert!(early.to_string().contains("fewer rows"), "{early}");

    let mut other = request(name.clone(), 10, 7);
    other.fields[0].1 = TensorSpec::new(DType::F32, [10, 3]);
    assert_eq!(error(other, 0).code(), "E0710");
    let mut other = request(name.clone(), 10, 7);
    other.fields[1].0 = "z".to_owned();
    assert!(error(other, 0).to_string().contains("has no array `z`"));

    // A file that breaks off is found when its end is reached.
    let file = folder.path().join("a.npy");
    let whole = npy("<f4", "(40000, 2)", false, &floats(0..80000));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&whole).unwrap();
    let packed = encoder.finish().unwrap();
    let gz = folder.path().join("a.npy.gz");
    fs::write(&gz, &packed[..packed.len() / 2]).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    for path in [file, gz] {
        let one = Request {
            name: path.clone(),
            fields: vec![(String::new(), TensorSpec::new(DType::F32, [10, 2]))],
            key: 1,
            first: 0,
            pool: 1,
        };
        let mut batches = Batches::start(one);
        let error = (0..4000).find_map(|_| batches.next_batch().err()).unwrap();
        assert!(
            matches!(error, Error::Data(DataError::Truncated { .. })),
            "{}: {error}",
            path.display()
        );
    }
    assert_eq!(
        describe(Path::new("/nowhere/*.npz")).unwrap_err().code(),
        "E0708"
    );
}
