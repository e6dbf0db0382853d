//! Datasets fetched from a server on this machine that behaves well, and badly in each of the ways that servers do.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tpuc_runtime::data::{Dataset, Download, Field};
use tpuc_runtime::error::PluginError;
use tpuc_runtime::{Error, Surroundings};

/// What the server does with the n-th request for a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// All of it, or the range that is asked for.
    Whole,
    /// It breaks off in the middle of what was asked for.
    Half,
    /// It knows no ranges.
    NoRanges,
    /// An error of its own.
    Trouble,
    /// There is no such file.
    Missing,
    /// It is at another address, of the same server.
    Elsewhere,
    /// A page of its own.
    Page,
    /// It breaks off in the middle without having said how much there is.
    Unannounced,
    /// All of it, in small pieces.
    Slow,
    /// It sends half of it, and then nothing, but stays on the line.
    Silence,
}

struct Server {
    address: String,
    /// The ranges asked for, `None` for all.
    asked: Arc<Mutex<Vec<Option<usize>>>>,
}

/// Serves one file's contents under every name; the last answer stands for all further requests.
fn serve(contents: Vec<u8>, answers: &'static [Answer]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let count = AtomicUsize::new(0);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let n = count.fetch_add(1, Ordering::Relaxed);
            let answer = answers[n.min(answers.len() - 1)];
            let start = request(&stream);
            noted.lock().unwrap().push(start);
            // A client that goes away ends only its own request.
            let _ = respond(stream, &contents, answer, start);
        }
    });
    Server { address, asked }
}

/// Where the range that a request asks for starts.
fn request(stream: &TcpStream) -> Option<usize> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let range = head.iter().find_map(|l| l.strip_prefix("Range: bytes="))?;
    range.trim_end_matches('-').parse().ok()
}

fn respond(
    mut to: TcpStream,
    all: &[u8],
    answer: Answer,
    start: Option<usize>,
) -> std::io::Result<()> {
    let start = start.filter(|_| answer != Answer::NoRanges);
    let rest = &all[start.unwrap_or(0).min(all.len())..];
    let (status, body): (&str, &[u8]) = match answer {
        Answer::Trouble => ("503 Service Unavailable", &[]),
        Answer::Missing => ("404 Not Found", b"no such page"),
        Answer::Elsewhere => ("302 Found\r\nLocation: /there", &[]),
        Answer::Page => ("200 OK", b"a page that asks to log in"),
        _ if start.is_some() && rest.is_empty() => ("416 Range Not Satisfiable", &[]),
        _ if start.is_some() => ("206 Partial Content", rest),
        _ => ("200 OK", rest),
    };
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    if answer != Answer::Unannounced {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    if let Some(start) = start {
        let (end, len) = (all.len().saturating_sub(1), all.len());
        head.push_str(&format!("Content-Range: bytes {start}-{end}/{len}\r\n"));
    }
    to.write_all(format!("{head}\r\n").as_bytes())?;
    let half = &body[..body.len() / 2];
    match answer {
        Answer::Half | Answer::Unannounced => to.write_all(half),
        Answer::Slow => body.chunks(body.len() / 10 + 1).try_for_each(|piece| {
            thread::sleep(Duration::from_millis(30));
            to.write_all(piece)
        }),
        Answer::Silence => {
            to.write_all(half)?;
            // Until the client goes away.
            to.read(&mut [0]).map(|_| ())
        }
        _ => to.write_all(body),
    }
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

fn contents() -> Vec<u8> {
    (0..100_000u32)
        .map(|i| (i.wrapping_mul(i) >> 3) as u8)
        .collect()
}

/// Fetches the file `f` of a dataset `d`; its contents where that succeeds.
fn fetch(address: &str, parent: &Path, expected: &[u8]) -> Result<Vec<u8>, Error> {
    let files = vec![("f".to_owned(), sum(expected))];
    let folder = Download::at("d", address, files).fetch(parent)?;
    assert_eq!(folder, parent.join("d"));
    Ok(fs::read(folder.join("f")).unwrap())
}

#[test]
fn what_breaks_off_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(
        contents(),
        &[Answer::Half, Answer::Trouble, Answer::Half, Answer::Whole],
    );
    assert_eq!(
        fetch(&server.address, folder.path(), &contents()),
        Ok(contents())
    );
    let asked = server.asked.lock().unwrap().clone();
    assert_eq!(asked, [None, Some(50_000), Some(50_000), Some(75_000)]);
    assert!(!folder.path().join("d.part").exists());

    // Another run finds it there, without the server.
    assert_eq!(
        fetch("http://127.0.0.1:9", folder.path(), &contents()),
        Ok(contents())
    );
}

#[test]
fn another_run_goes_on_where_one_gave_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(contents(), &[Answer::Half, Answer::Trouble]);
    let error = fetch(&server.address, folder.path(), &contents()).unwrap_err();
    assert_eq!(error.code(), "E0820");
    assert!(error.to_string().contains("503"), "{error}");
    assert!(!folder.path().join("d").exists());
    let server = serve(contents(), &[Answer::Whole]);
    assert_eq!(
        fetch(&server.address, folder.path(), &contents()),
        Ok(contents())
    );
    assert_eq!(*server.asked.lock().unwrap(), [Some(50_000)]);
}

#[test]
fn a_server_without_ranges_is_asked_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(contents(), &[Answer::Half, Answer::NoRanges]);
    assert_eq!(
        fetch(&server.address, folder.path(), &contents()),
        Ok(contents())
    );
}

/// Fetches from a server that answers so; how often it was asked, and what came.
fn answered(answers: &'static [Answer]) -> (usize, Result<Vec<u8>, Error>) {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(contents(), answers);
    let files = vec![("f".to_owned(), sum(&contents()))];
    let download = Download::at("d", &server.address, files).waiting(1);
    let found = download.fetch(folder.path());
    let found = found.map(|folder| fs::read(folder.join("f")).unwrap());
    let count = server.asked.lock().unwrap().len();
    (count, found)
}

#[test]
fn servers_that_are_slow_or_send_elsewhere_are_followed() {
    for answers in [
        &[Answer::Slow] as &[Answer],
        &[Answer::Elsewhere, Answer::Whole],
        &[
            Answer::Elsewhere,
            Answer::Half,
            Answer::Elsewhere,
            Answer::Whole,
        ],
        &[Answer::Silence, Answer::Whole],
        &[Answer::Page, Answer::Whole],
        &[Answer::Half, Answer::Page, Answer::Whole],
        &[Answer::Unannounced, Answer::Whole],
    ] {
        let (count, found) = answered(answers);
        assert_eq!(
            (count, found),
            (answers.len(), Ok(contents())),
            "{answers:?}"
        );
    }
}

#[test]
fn servers_that_will_not_are_left_soon() {
    let failed = |answers, code, says: &str, times| {
        let (count, found) = answered(answers);
        let error = found.unwrap_err();
        assert_eq!((error.code(), count), (code, times), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    // What is not there will not come by asking again; what is overloaded may.
    failed(&[Answer::Missing], "E0820", "404", 1);
    failed(&[Answer::Trouble], "E0820", "503", 4);
    failed(&[Answer::Silence, Answer::Missing], "E0820", "404", 2);
    failed(&[Answer::Page], "E0821", "another file", 2);
}

#[test]
fn what_lies_there_and_does_not_fit_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d.part")).unwrap();
    fs::write(folder.path().join("d.part/f"), vec![1; 50_000]).unwrap();
    let server = serve(contents(), &[Answer::Whole]);
    assert_eq!(
        fetch(&server.address, folder.path(), &contents()),
        Ok(contents())
    );
    let asked = server.asked.lock().unwrap().clone();
    assert_eq!(asked, [Some(50_000), None]);
}

#[test]
fn a_file_that_was_longer_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d.part")).unwrap();
    fs::write(folder.path().join("d.part/f"), vec![1; 200_000]).unwrap();
    let server = serve(contents(), &[Answer::Whole]);
    assert_eq!(
        fetch(&server.address, folder.path(), &contents()),
        Ok(contents())
    );
}

#[test]
fn another_file_than_the_published_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(b"a page that asks to log in".to_vec(), &[Answer::Whole]);
    let error = fetch(&server.address, folder.path(), &contents()).unwrap_err();
    assert!(
        matches!(error, Error::Plugin(PluginError::FetchedOther { .. })),
        "{error}"
    );
    assert!(!folder.path().join("d").exists());
}

/// An archive of CIFAR-10's form, two images a file: image i has the planes i, i + 1, i + 2, and the label i.
fn cifar() -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let names = (1..=5).map(|i| format!("data_batch_{i}.bin"));
    for (file, name) in names.chain(["test_batch.bin".to_owned()]).enumerate() {
        let mut bytes = Vec::new();
        for i in [2 * file as u8, 2 * file as u8 + 1] {
            bytes.push(i);
            (0..3).for_each(|colour| bytes.extend([i + colour; 1024]));
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        let path = format!("cifar-10-batches-bin/{name}");
        archive
            .append_data(&mut header, path, bytes.as_slice())
            .unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

#[test]
fn cifar_is_unpacked_and_read_with_its_colours_last() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(cifar(), &[Answer::Whole]);
    let files = vec![("cifar-10-binary.tar.gz".to_owned(), sum(&cifar()))];
    let download = Download::at("cifar10", &server.address, files);
    download.fetch(folder.path()).unwrap();
    let data = folder.path().display().to_string();
    let around = Surroundings::new([("TPUC_DATA".to_owned(), data)], None, None);
    let dataset = Dataset::find("cifar10", &around).unwrap();
    let specs: Vec<String> = dataset
        .describe()
        .unwrap()
        .iter()
        .map(|(field, spec)| format!("{}: {spec}", field.name()))
        .collect();
    let expected = [
        "x_train: u8[10, 32, 32, 3]",
        "y_train: u8[10]",
        "x_test: u8[2, 32, 32, 3]",
        "y_test: u8[2]",
    ];
    assert_eq!(specs, expected);
    let images: Vec<u8> = dataset.read(Field::XTrain).unwrap().to_vec().unwrap();
    let all = (0..10u8).flat_map(|i| (0..1024).flat_map(move |_| [i, i + 1, i + 2]));
    assert_eq!(images, all.collect::<Vec<_>>());
    let labels: Vec<u8> = dataset.read(Field::YTest).unwrap().to_vec().unwrap();
    assert_eq!(labels, [10, 11]);
    fs::write(folder.path().join("cifar10/test_batch.bin"), [1; 4000]).unwrap();
    assert_eq!(dataset.describe().unwrap_err().code(), "E0705");
}

#[test]
fn where_neither_is_possible_it_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = |variables: &[(&str, &str)]| {
        let owned = |(n, v): &(&str, &str)| ((*n).to_owned(), (*v).to_owned());
        let around = Surroundings::new(variables.iter().map(owned), None, None);
        let said = Mutex::new(Vec::new());
        let say = |what: &str| said.lock().unwrap().push(what.to_owned());
        let error = Dataset::find_or_fetch("mnist", &around, &say).unwrap_err();
        assert_eq!(error.code(), "E0702");
        (error.to_string(), said.into_inner().unwrap())
    };
    let data = folder.path().to_str().unwrap();
    let (text, said) = missing(&[("TPUC_DATA", data), ("TPUC_DATASETS", "none")]);
    assert!(
        text.ends_with("$TPUC_DATASETS forbids to fetch it"),
        "{text}"
    );
    assert!(said.is_empty());
    let (text, said) = missing(&[
        ("TPUC_DATA", data),
        ("TPUC_DATASETS", "http://127.0.0.1:9/"),
    ]);
    assert!(text.contains("fetching it failed: curl: (7)"), "{text}");
    assert!(
        said[0].contains("from http://127.0.0.1:9/mnist into"),
        "{said:?}"
    );
    let (text, _) = missing(&[]);
    assert!(text.ends_with("there is no folder to put it"), "{text}");
}

#[test]
fn two_at_once_fetch_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(contents(), &[Answer::Whole]);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                assert_eq!(
                    fetch(&server.address, folder.path(), &contents()),
                    Ok(contents())
                )
            });
        }
    });
    assert_eq!(server.asked.lock().unwrap().len(), 1);
}
