//! Images: what they are read as, and folders of them.

mod common;

use std::fs;
use std::path::Path;

use common::{describe, read, unpack};
use tempfile::TempDir;
use tpuc_runtime::Error;
use tpuc_runtime::data::{Batches, Contents, POOL_BYTES, Request};
use tpuc_runtime::error::DataError;
use tpuc_runtime::host::{DType, HostArray, TensorSpec};

/// A folder with the images of the reference table, and Pillow's reading of each.
fn reference() -> (TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let names = unpack(include_str!("reference/images.txt"), folder.path());
    let images = names.into_iter().filter(|name| !name.ends_with(".npy"));
    let names = images.map(str::to_owned).collect();
    (folder, names)
}

fn one(path: &Path) -> HostArray {
    match (describe(path).unwrap(), read(path).unwrap()) {
        (Contents::One(spec), Contents::One(array)) => {
            assert_eq!(&spec, array.spec());
            array
        }
        other => panic!("not one array: {other:?}"),
    }
}

#[test]
fn images_are_what_pillow_reads() {
    let (folder, names) = reference();
    assert_eq!(names.len(), 11);
    for name in names {
        let image = one(&folder.path().join(&name));
        let expected = one(&folder.path().join(format!("{name}.npy")));
        // Decoders of jpeg may round differently.
        let off = if name.ends_with("jpg") { 2.0 } else { 0.0 };
        assert_eq!(image.spec(), expected.spec(), "{name}");
        for (found, wanted) in image.iter().zip(expected.iter()) {
            let gap = (found.to_f64() - wanted.to_f64()).abs();
            assert!(gap <= off, "{name}: {found:?}, {wanted:?}");
        }
    }
}

/// A grey png of one value.
fn png(width: u32, height: u32, value: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    let pixels = vec![value; (width * height) as usize];
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

/// `cat/…` and `dog/…`, with two images and one of different values.
fn animals() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in [("dog/1.png", 7), ("cat/b.png", 2), ("cat/a.png", 1)] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, png(3, 2, value)).unwrap();
    }
    folder
}

#[test]
fn the_images_of_a_pattern_belong_to_the_classes_of_their_folders() {
    let folder = animals();
    let pattern = folder.path().join("**/*.png");
    let Contents::Named(arrays) = read(&pattern).unwrap() else {
        panic!("images have names");
    };
    let specs = arrays.iter().map(|(n, a)| (n.clone(), a.spec().clone()));
    let specs: Vec<_> = specs.collect();
    assert_eq!(describe(&pattern).unwrap(), Contents::Named(specs));
    let [(x, images), (y, labels)] = &arrays[..] else {
        panic!("two arrays: {arrays:?}");
    };
    assert_eq!((x.as_str(), y.as_str()), ("x", "y"));
    assert_eq!(images.spec(), &TensorSpec::new(DType::U8, [3, 2, 3, 1]));
    let values: Vec<u8> = images.to_vec().unwrap();
    assert_eq!(values, [[1; 6], [2; 6], [7; 6]].concat());
    assert_eq!(labels.to_vec::<i32>().unwrap(), [0, 0, 1]);

    // A pattern is one although it matches a single file; a file by its own name is an image.
    let alone = folder.path().join("dog/*.png");
    let Contents::Named(arrays) = read(&alone).unwrap() else {
        panic!("images have names");
    };
    assert_eq!(arrays[0].1.shape(), [1, 2, 3, 1]);
    assert_eq!(one(&folder.path().join("dog/1.png")).shape(), [2, 3, 1]);
}

#[test]
fn batches_of_images_keep_their_classes() {
    let folder = animals();
    for i in 0..20 {
        fs::write(folder.path().join(format!("dog/x{i}.png")), png(3, 2, 7)).unwrap();
    }
    let mut batches = Batches::start(Request {
        name: folder.path().join("**/*.png"),
        fields: vec![
            ("x".to_owned(), TensorSpec::new(DType::U8, [4, 2, 3, 1])),
            ("y".to_owned(), TensorSpec::new(DType::I32, [4])),
        ],
        key: 5,
        first: 0,
        pool: POOL_BYTES,
    });
    let mut classes = Vec::new();
    for _ in 0..5 {
        let batch = batches.next_batch().unwrap();
        let values: Vec<u8> = batch[0].to_vec().unwrap();
        let labels: Vec<i32> = batch[1].to_vec().unwrap();
        for (image, label) in values.chunks(6).zip(labels) {
            assert_eq!(i32::from(image[0] == 7), label);
            assert_eq!(image, [image[0]; 6]);
            classes.push(label);
        }
    }
    assert_eq!(classes.len(), 20);
    assert!(
        batches.next_batch().is_err(),
        "23 images make 5 batches of 4"
    );
}

#[test]
fn images_that_do_not_fit_together_are_both_named() {
    let folder = animals();
    let other = folder.path().join("dog/2.png");
    fs::write(&other, png(3, 3, 7)).unwrap();
    let pattern = folder.path().join("*/*.png");
    let error = describe(&pattern).unwrap_err();
    assert_eq!(read(&pattern).unwrap_err(), error);
    let first = folder.path().join("cat/a.png");
    let said = format!(
        "{} and {} cannot follow each other: `x` is u8[1, 2, 3, 1] in the one and u8[1, 3, 3, 1] in the other",
        first.display(),
        other.display()
    );
    assert_eq!((error.code(), error.to_string()), ("E0709", said));
}

#[test]
fn what_is_no_image_is_refused() {
    let (folder, names) = reference();
    for name in names {
        let path = folder.path().join(&name);
        let whole = fs::read(&path).unwrap();
        for bytes in [&b"not an image"[..], &[], &whole[..whole.len() / 2]] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap_err().code(), "E0706", "{name}");
        }
    }
    let gone = read(&folder.path().join("gone.png")).unwrap_err();
    assert!(matches!(
        gone,
        Error::Data(DataError::FileUnreadable { .. })
    ));
}
