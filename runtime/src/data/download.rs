//! Fetching the files of a dataset from where they are published.
//!
//! curl does it, since it knows the user's proxies and certificates. What was fetched of a file stays where it is until
//! all of it is there, so that another attempt, or another run, goes on with the rest. A dataset gets its name only
//! when all its files are there and are those that were published.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use crate::cache::hex;
use crate::error::{Error, PluginError, ValueError};
use crate::surroundings::Surroundings;

/// How often a file is asked for before giving up, and the pause after the first time, which doubles.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(250);

/// A published dataset.
#[derive(Debug)]
pub struct Published {
    pub name: &'static str,
    /// The address before the names of the files.
    address: &'static str,
    files: &'static [PublishedFile],
}

/// A file of it, with its SHA-256 sum.
#[derive(Debug)]
struct PublishedFile {
    name: &'static str,
    sha256: &'static str,
}

const fn file(name: &'static str, sha256: &'static str) -> PublishedFile {
    PublishedFile { name, sha256 }
}

/// The datasets that can be fetched.
#[rustfmt::skip]
pub const PUBLISHED: [Published; 3] = [
    Published {
        name: "mnist",
        address: "https://storage.googleapis.com/cvdf-datasets/mnist",
        files: &[
            file("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
            file("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
            file("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
            file("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
        ],
    },
    Published {
        name: "fashion_mnist",
        address: "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
        files: &[
            file("train-images-idx3-ubyte.gz", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
            file("train-labels-idx1-ubyte.gz", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
            file("t10k-images-idx3-ubyte.gz", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
            file("t10k-labels-idx1-ubyte.gz", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
        ],
    },
    Published {
        name: "cifar10",
        address: "https://www.cs.toronto.edu/~kriz",
        files: &[
            file("cifar-10-binary.tar.gz", "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
        ],
    },
];

/// A dataset as it is fetched here: from its own place, or from a mirror.
#[derive(Debug)]
pub struct Download {
    pub name: String,
    address: String,
    /// Names and sums.
    files: Vec<(String, String)>,
    /// How many seconds a server may send nothing.
    patience: u32,
}

const PATIENCE: u32 = 60;

impl Download {
    /// The dataset of this name, from `$TPUC_DATASETS` where that is set. Errors where nothing may be fetched.
    pub fn of(name: &str, around: &Surroundings) -> Result<Download, String> {
        let published = PUBLISHED.iter().find(|p| p.name == name);
        let published = published.ok_or("it is published nowhere that is known")?;
        let address = match around.variable("TPUC_DATASETS").as_deref() {
            Some("none") => return Err("$TPUC_DATASETS forbids to fetch it".to_owned()),
            Some(mirror) => format!("{}/{name}", mirror.trim_end_matches('/')),
            None => published.address.to_owned(),
        };
        let files = published.files.iter();
        Ok(Download {
            name: name.to_owned(),
            address,
            files: files
                .map(|f| (f.name.to_owned(), f.sha256.to_owned()))
                .collect(),
            patience: PATIENCE,
        })
    }

    /// As it would be at another address with other contents.
    pub fn at(name: &str, address: &str, files: Vec<(String, String)>) -> Download {
        Download {
            name: name.to_owned(),
            address: address.to_owned(),
            files,
            patience: PATIENCE,
        }
    }

    /// With another patience.
    pub fn waiting(self, patience: u32) -> Download {
        Download { patience, ..self }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Fetches all files into the folder of the dataset's name below `parent`, and gives that folder. Of several
    /// processes one does it and the others wait.
    pub fn fetch(&self, parent: &Path) -> Result<PathBuf, Error> {
        let folder = parent.join(&self.name);
        let part = parent.join(format!("{}.part", self.name));
        let unwritable = |error: io::Error| {
            Error::Value(ValueError::WriteFailed {
                path: part.clone(),
                reason: error.to_string(),
            })
        };
        fs::create_dir_all(&part).map_err(unwritable)?;
        let lock = part.join(".lock");
        let held = File::create(&lock).map_err(unwritable)?;
        held.lock().map_err(unwritable)?;
        if folder.is_dir() {
            // Another process was faster; what this one has begun is not needed.
            let _ = fs::remove_dir_all(&part);
            return Ok(folder);
        }
        for (name, sum) in &self.files {
            let path = part.join(name);
            self.file(name, sum, &path)?;
            if name.ends_with(".tar.gz") {
                unpack(&path, &part).map_err(unwritable)?;
                fs::remove_file(&path).map_err(unwritable)?;
            }
        }
        fs::remove_file(&lock).map_err(unwritable)?;
        fs::rename(&part, &folder).map_err(unwritable)?;
        Ok(folder)
    }

    /// Fetches one file, what is there of it already left out.
    fn file(&self, name: &str, sum: &str, path: &Path) -> Result<(), Error> {
        let mut pause = PAUSE;
        let mut other = None;
        let mut reason = String::new();
        for attempt in 0..ATTEMPTS {
            if path.is_file() && digest(path).is_some_and(|found| found == sum) {
                return Ok(());
            }
            if attempt > 0 {
                thread::sleep(pause);
                pause *= 2;
            }
            match curl(&format!("{}/{name}", self.address), path, self.patience) {
                Ok(()) => {
                    let found = digest(path).unwrap_or_default();
                    if found == sum {
                        return Ok(());
                    }
                    // Once it may be a rest that does not fit what was there; a second time it is another file.
                    let again = other.replace(found);
                    let _ = fs::remove_file(path);
                    if again.is_some() {
                        break;
                    }
                }
                Err(Refused::Rest) => {
                    let _ = fs::remove_file(path);
                }
                Err(Refused::Other(said)) => reason = said,
                Err(Refused::ForGood(said)) => {
                    reason = said;
                    break;
                }
            }
        }
        Err(match other {
            Some(found) => Error::Plugin(PluginError::FetchedOther {
                package: format!("{}/{name}", self.address),
                expected: sum.to_owned(),
                found,
            }),
            None => Error::Plugin(PluginError::FetchFailed {
                package: format!("{}/{name}", self.address),
                reason,
            }),
        })
    }
}

/// Why curl did not deliver.
enum Refused {
    /// The server gives no rest of a file, or the file has none.
    Rest,
    /// Another time it may.
    Other(String),
    /// The server has no such file, or not for everybody.
    ForGood(String),
}

fn curl(address: &str, path: &Path, patience: u32) -> Result<(), Refused> {
    let output = Command::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error"])
        .args(["--connect-timeout", "15", "--speed-limit", "1"])
        .args(["--speed-time", &patience.to_string()])
        .args(["--write-out", "%{http_code}", "--continue-at", "-"])
        .arg("--output")
        .arg(path)
        .arg(address)
        .output()
        .map_err(|error| Refused::ForGood(format!("curl cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    let said = last.unwrap_or("curl failed").to_owned();
    let answer = String::from_utf8_lossy(&output.stdout);
    // 33: the server knows no ranges; 416: there is nothing after what is there.
    Err(match (output.status.code(), answer.trim().parse()) {
        (Some(33), _) | (_, Ok(416)) => Refused::Rest,
        (_, Ok(408 | 429)) => Refused::Other(said),
        (_, Ok(400..=499)) => Refused::ForGood(said),
        _ => Refused::Other(said),
    })
}

fn digest(path: &Path) -> Option<String> {
    let mut digest = Sha256::new();
    io::copy(&mut File::open(path).ok()?, &mut digest).ok()?;
    Some(hex(&digest.finalize()))
}

/// Takes the files of an archive out, without the folders that they are in.
fn unpack(archive: &Path, folder: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(archive)?));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.file_name().map(|name| folder.join(name));
        if let (Some(name), true) = (name, entry.header().entry_type().is_file()) {
            io::copy(&mut entry, &mut File::create(name)?)?;
        }
    }
    Ok(())
}
