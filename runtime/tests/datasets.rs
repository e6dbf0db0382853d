//! Datasets by name: found, described and read.

mod common;

use std::fs;

use common::files::{array, gzip};
use tpuc_runtime::data::{Dataset, Field};
use tpuc_runtime::error::DataError;
use tpuc_runtime::host::{DType, TensorSpec};
use tpuc_runtime::{Error, Surroundings};

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
