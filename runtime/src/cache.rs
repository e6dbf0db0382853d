//! Compiled executables on disk, found again by content: the program, the options, the plugin and the machine.
//!
//! An entry that is damaged, foreign or gone is no error: the program is compiled again. Several processes may share
//! the folder: entries are written beside and renamed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::Surroundings;
use crate::error::Error;
use crate::save;

/// Entries are dropped, least recently used first, when together they take more bytes than this.
pub const LIMIT: u64 = 1 << 30;

/// Of so many programs it is remembered what they were last compiled from.
const REMEMBERED: usize = 4096;

/// A file that has been in writing for longer has no writer any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The folder of what programs were last compiled from.
const LAST: &str = "last";

const MAGIC: &[u8] = b"tpucexe1";

/// The folder of the entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// What an entry is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    name: String,
    /// Digests of what it is made of, in the order of [`PARTS`].
    parts: [String; 4],
}

const PARTS: [&str; 4] = ["plugin", "processor", "options", "code"];

/// Why a program is compiled although there is a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has not been compiled here before.
    First,
    /// These are others than when it was last compiled.
    Changed(Vec<&'static str>),
    /// Nothing has changed, so its entry was dropped.
    Gone,
    /// Its entry is not what was written.
    Damaged,
    /// The plugin does not take its entry.
    Refused,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::First => f.write_str("it is new"),
            Reason::Changed(parts) => {
                write!(f, "changed since the last time: {}", parts.join(", "))
            }
            Reason::Gone => f.write_str("it is not in the cache any more"),
            Reason::Damaged => f.write_str("its entry in the cache is damaged"),
            Reason::Refused => f.write_str("the plugin does not take its entry in the cache"),
        }
    }
}

impl Key {
    /// `plugin`: the file that compiles, whose size and time stand for its content; `options`: as text, all that
    /// changes what is compiled.
    pub fn new(plugin: &Path, program: &[u8], options: &str) -> Key {
        let (plugin, processor) = (identity(plugin), processor());
        let parts = [
            plugin.as_bytes(),
            processor.as_bytes(),
            options.as_bytes(),
            program,
        ]
        .map(|part| hex(&Sha256::digest(part)));
        Key {
            name: hex(&Sha256::digest(parts.concat())),
            parts,
        }
    }
}

impl Cache {
    /// `None` where the user has no folder for caches.
    pub fn of(around: &Surroundings) -> Option<Cache> {
        Some(Cache {
            folder: around.cache()?.join("executables"),
        })
    }

    /// The bytes of an entry that is there and whole, or why the program called `label` has to be compiled.
    pub fn find(&self, label: &str, key: &Key) -> Result<Vec<u8>, Reason> {
        let path = self.path(key);
        let Ok(bytes) = fs::read(&path) else {
            return Err(self.reason(label, key));
        };
        let payload = unseal(&bytes).ok_or(Reason::Damaged)?;
        // The time of the file is that of its last use; where it cannot be set the entry only goes earlier.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(payload)
    }

    /// Writes the entry of the program called `label`, and drops old ones beyond the limit.
    pub fn put(&self, label: &str, key: &Key, payload: &[u8]) -> Result<(), Error> {
        let last = self.last(label);
        let folder = last.parent().unwrap_or(&self.folder);
        save::make_folder(folder)?;
        save::write_bytes(&self.path(key), &seal(payload))?;
        save::write_text(&last, &key.parts.join("\n"))?;
        self.trim(LIMIT);
        self.forget(REMEMBERED);
        Ok(())
    }

    /// Why a program has no entry, as far as what it was last compiled from tells.
    fn reason(&self, label: &str, key: &Key) -> Reason {
        let Ok(before) = fs::read_to_string(self.last(label)) else {
            return Reason::First;
        };
        let old = before.lines().map(Some).chain(std::iter::repeat(None));
        let parts = PARTS.into_iter().zip(&key.parts).zip(old);
        let changed: Vec<&str> = parts
            .filter(|((_, now), old)| *old != Some(now.as_str()))
            .map(|((part, _), _)| part)
            .collect();
        match changed.is_empty() {
            true => Reason::Gone,
            false => Reason::Changed(changed),
        }
    }

    /// The file that says what the program called `label` was last compiled from.
    fn last(&self, label: &str) -> PathBuf {
        self.folder.join(LAST).join(hex(&Sha256::digest(label)))
    }

    /// How many entries there are, and their bytes.
    pub fn size(&self) -> (usize, u64) {
        let entries = listed(&self.folder);
        (entries.len(), entries.iter().map(|e| e.1).sum())
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.trim(0);
        let _ = fs::remove_dir_all(self.folder.join(LAST));
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.name)
    }

    fn trim(&self, limit: u64) {
        let mut entries = listed(&self.folder);
        entries.sort();
        let mut total: u64 = entries.iter().map(|e| e.1).sum();
        for (_, bytes, path) in entries {
            if total <= limit {
                return;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }

    /// Drops what is remembered of all but the programs that were compiled last.
    fn forget(&self, most: usize) {
        let mut files = listed(&self.folder.join(LAST));
        files.sort();
        let old = files.len().saturating_sub(most);
        for (_, _, path) in &files[..old] {
            let _ = fs::remove_file(path);
        }
    }
}

/// Time of the last use, bytes and path of each file of a folder.
fn listed(folder: &Path) -> Vec<(SystemTime, u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let time = data.modified().ok()?;
            let name = entry.file_name();
            let written = name.to_string_lossy().starts_with(save::TEMPORARY);
            // Another process is writing it, unless it was killed while it did.
            let abandoned = time.elapsed().is_ok_and(|age| age >= ABANDONED);
            (!written || abandoned).then(|| (time, data.len(), entry.path()))
        })
        .collect()
}

/// The bytes of a file that says whether it is whole.
pub(crate) fn seal(payload: &[u8]) -> Vec<u8> {
    let sum = Sha256::digest(payload);
    [MAGIC, sum.as_slice(), payload].concat()
}

/// What was sealed; `None` for what is damaged, or another kind of file.
pub(crate) fn unseal(bytes: &[u8]) -> Option<Vec<u8>> {
    let (sum, payload) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
    let whole = Sha256::digest(payload).as_slice() == sum;
    whole.then(|| payload.to_vec())
}

fn identity(plugin: &Path) -> String {
    let stamp = fs::metadata(plugin).and_then(|data| Ok((data.len(), data.modified()?)));
    format!("{} {stamp:?}", plugin.display())
}

/// Model and features of the processor, for which the CPU's executables are made.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let wanted = |line: &&str| line.starts_with("model name") || line.starts_with("flags");
    text.lines().filter(wanted).take(2).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let cache = Cache {
            folder: folder.path().join("executables"),
        };
        (folder, cache)
    }

    #[test]
    fn an_entry_comes_back_whole_or_not_at_all() {
        let (_folder, cache) = cache();
        let key = Key::new(Path::new("plugin.so"), b"program", "");
        let find = || cache.find("p", &key);
        assert_eq!(find(), Err(Reason::First));
        cache
            .put("p", &key, b"executable")
            .expect("the folder can be written");
        assert_eq!(find(), Ok(b"executable".to_vec()));
        assert_eq!(cache.size().0, 1);
        let path = cache.path(&key);
        let mut bytes = fs::read(&path).expect("the entry is there");
        *bytes.last_mut().expect("it is not empty") ^= 1;
        fs::write(&path, bytes).expect("the entry can be written");
        assert_eq!(find(), Err(Reason::Damaged));
        fs::write(&path, "short").expect("the entry can be written");
        assert_eq!(find(), Err(Reason::Damaged));
        cache.clear();
        assert_eq!(cache.size(), (0, 0));
    }

    #[test]
    fn keys_differ_with_program_options_and_plugin() {
        let key = |plugin: &str, program: &[u8], options: &str| {
            Key::new(Path::new(plugin), program, options)
        };
        let first = key("a.so", b"p", "o");
        assert_eq!(first, key("a.so", b"p", "o"));
        for other in [
            key("b.so", b"p", "o"),
            key("a.so", b"q", "o"),
            key("a.so", b"p", ""),
        ] {
            assert_ne!(first, other);
        }
        assert_ne!(
            key("a.so", b"xy", ""),
            key("a.so", b"y", "x"),
            "parts do not run together"
        );
    }

    #[test]
    fn why_a_program_is_compiled_again() {
        let (_folder, cache) = cache();
        let key = |program: &[u8], options: &str| Key::new(Path::new("a.so"), program, options);
        let why = |key: &Key| cache.find("a.tl main_0", key).map_err(|r| r.to_string());
        let no = |why: &str| Err(why.to_owned());
        assert_eq!(why(&key(b"p", "o")), no("it is new"));
        cache
            .put("a.tl main_0", &key(b"p", "o"), b"x")
            .expect("the folder can be written");
        assert_eq!(why(&key(b"p", "o")), Ok(b"x".to_vec()));
        let changed = "changed since the last time: code";
        assert_eq!(why(&key(b"q", "o")), no(changed));
        let both = "changed since the last time: options, code";
        assert_eq!(why(&key(b"q", "x")), no(both));
        let other = cache.find("b.tl main_0", &key(b"q", "x"));
        assert_eq!(other, Err(Reason::First));
        assert_eq!(cache.size().0, 1, "what is remembered is no entry");
        cache.trim(0);
        assert_eq!(why(&key(b"p", "o")), no("it is not in the cache any more"));
        cache.forget(1);
        assert_eq!(why(&key(b"p", "o")), no("it is not in the cache any more"));
        cache.forget(0);
        assert_eq!(why(&key(b"p", "o")), no("it is new"));
        cache
            .put("a.tl main_0", &key(b"p", "o"), b"x")
            .expect("the folder can be written");
        cache.clear();
        assert_eq!(why(&key(b"p", "o")), no("it is new"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_says_why() {
        let (folder, _) = cache();
        let file = folder.path().join("file");
        fs::write(&file, "").expect("the folder can be written");
        let cache = Cache {
            folder: file.join("executables"),
        };
        let key = Key::new(Path::new("a.so"), b"p", "");
        assert_eq!(cache.find("p", &key), Err(Reason::First));
        let error = cache.put("p", &key, b"x").expect_err("it is a file");
        assert!(error.to_string().ends_with("not a folder"), "{error}");
        assert_eq!(cache.size(), (0, 0));
        cache.clear();
    }

    #[test]
    fn the_oldest_entries_go_first() {
        let (_folder, cache) = cache();
        let keys = [b"1", b"2", b"3"].map(|p| Key::new(Path::new("a.so"), p, ""));
        for (i, key) in keys.iter().enumerate() {
            cache
                .put("p", key, &[0; 100])
                .expect("the folder can be written");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + i as u64);
            let file = fs::File::options()
                .append(true)
                .open(cache.path(key))
                .expect("the entry is there");
            file.set_modified(time).expect("its time can be set");
        }
        // The first one is used, so the second is now the oldest.
        let is_there = |i: usize| cache.find("p", &keys[i]).is_ok();
        assert!(is_there(0));
        cache.trim(300);
        assert_eq!([0, 1, 2].map(is_there), [true, false, true]);
    }

    #[test]
    fn several_may_use_the_folder_at_once() {
        let (_folder, cache) = cache();
        let keys: Vec<Key> = (0..4u8)
            .map(|p| Key::new(Path::new("a.so"), &[p], ""))
            .collect();
        std::thread::scope(|scope| {
            for t in 0..4 {
                let (cache, keys) = (cache.clone(), &keys);
                scope.spawn(move || {
                    for i in 0..50 {
                        let (at, key) = ((i + t) % 4, &keys[(i + t) % 4]);
                        let payload = vec![at as u8; 5000];
                        let put = cache.put("p", key, &payload);
                        put.expect("the folder can be written");
                        // Another may have dropped it meanwhile, but nobody sees a part.
                        match cache.find("p", key) {
                            Ok(found) => assert_eq!(found, payload),
                            Err(why) => assert_ne!(why, Reason::Damaged),
                        }
                        if i % 10 == 9 {
                            cache.trim(6000);
                        }
                    }
                });
            }
        });
        assert!(cache.size().0 <= 4);
    }
}
