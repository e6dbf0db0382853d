//! Saving: what is written reads back, atomically, and what cannot be written is known beforehand.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::read;
use half::bf16;
use tpuc_runtime::Error;
use tpuc_runtime::data::Contents;
use tpuc_runtime::error::ValueError;
use tpuc_runtime::host::HostArray;
use tpuc_runtime::save::{check_writable, safetensors, write_text};

fn arrays() -> Vec<(String, HostArray)> {
    let array = |name: &str, array: Result<HostArray, Error>| (name.to_owned(), array.unwrap());
    vec![
        array("b", HostArray::from_elements([3], &[true, false, true])),
        array(
            "w1",
            HostArray::from_elements([2, 2], &[1.0f32, -0.0, f32::NAN, 4.0]),
        ),
        array(
            "opt.m",
            HostArray::from_elements([2], &[bf16::ONE, bf16::NEG_ONE]),
        ),
        array("t", HostArray::from_elements([], &[7i64])),
        array("a1", HostArray::from_elements([0, 2], &[0f32; 0])),
    ]
}

fn save(path: &Path, arrays: &[(String, HostArray)]) -> Result<(), Error> {
    let named: Vec<(&str, &HostArray)> = arrays
        .iter()
        .map(|(name, array)| (name.as_str(), array))
        .collect();
    safetensors(path, &named)
}

/// The folder's entries, so that a test can say that nothing else is there.
fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_saved_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    check_writable(&path).unwrap();
    assert!(entries(folder.path()).is_empty());
    save(&path, &arrays()).unwrap();
    assert_eq!(read(&path).unwrap(), Contents::Named(arrays()));
    assert_eq!(entries(folder.path()), ["x.safetensors"]);
}

#[test]
fn the_same_arrays_give_the_same_bytes_and_come_back_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    save(&path("1"), &arrays()).unwrap();
    save(&path("2"), &arrays()).unwrap();
    assert_eq!(fs::read(path("1")).unwrap(), fs::read(path("2")).unwrap());
    let mut other = arrays();
    other.reverse();
    let reversed = path("3.safetensors");
    save(&reversed, &other).unwrap();
    assert_eq!(read(&reversed).unwrap(), Contents::Named(other));
}

#[test]
fn the_old_file_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    save(&path, &arrays()).unwrap();
    check_writable(&path).unwrap();
    let less = &arrays()[..1];
    save(&path, less).unwrap();
    assert_eq!(read(&path).unwrap(), Contents::Named(less.to_vec()));
    assert_eq!(entries(folder.path()), ["x.safetensors"]);
}

#[test]
fn targets_that_cannot_be_written_are_known_before_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"kept").unwrap();
    let read_only = folder.path().join("read-only");
    fs::write(&read_only, b"kept").unwrap();
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o444)).unwrap();
    for path in [
        folder.path().to_path_buf(),
        folder.path().join("none/x.safetensors"),
        file.join("x.safetensors"),
        read_only.clone(),
        "/dev/null".into(),
        "/".into(),
        "..".into(),
        "/proc/x.safetensors".into(),
    ] {
        let error = check_writable(&path).unwrap_err();
        assert!(
            matches!(error, Error::Value(ValueError::Unwritable { .. })),
            "{}",
            path.display()
        );
        assert!(save(&path, &arrays()).is_err(), "{}", path.display());
    }
    assert_eq!(fs::read(&read_only).unwrap(), b"kept");
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert_eq!(entries(folder.path()), ["file", "read-only"]);
}

#[test]
fn names_are_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let twice = [
        arrays()[0].clone(),
        arrays()[1].clone(),
        arrays()[0].clone(),
    ];
    let error = save(&path, &twice).unwrap_err();
    assert!(matches!(error, Error::Value(ValueError::NameTwice { name, .. }) if name == "b"));
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn a_text_replaces_a_text_and_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tl");
    write_text(&path, "one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_text(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(entries(folder.path()), ["x.tl"]);
}
