//! Opening a plugin's shared library and finding its function table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use pjrt_sys::PJRT_Api;

use super::api::{Api, Failure};

/// Why a library gave no function table.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadFailure {
    /// The dynamic loader's own words.
    Open(String),
    NoEntryPoint,
    NullTable,
    /// The table is smaller than this crate needs.
    TooOld {
        version: (i32, i32),
    },
    /// Another major version: nothing about its layout is known.
    TooNew {
        version: (i32, i32),
    },
    Initialize(Failure),
}

/// Tables of the plugins loaded so far. A plugin is initialised once, however often it is asked for.
static LOADED: Mutex<Option<HashMap<PathBuf, Api>>> = Mutex::new(None);

/// Loads and initialises the plugin at `path` (which should be canonical), or returns it if it is loaded.
/// `prepare` runs just before the library is opened, and not at all if it is open already.
///
/// The library is never closed: plugins start threads that outlive any client.
pub fn load(path: &Path, prepare: impl FnOnce()) -> Result<Api, LoadFailure> {
    let mut loaded = LOADED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let loaded = loaded.get_or_insert_with(HashMap::new);
    if let Some(api) = loaded.get(path) {
        return Ok(*api);
    }
    prepare();
    let api = open(path)?;
    api.initialize().map_err(LoadFailure::Initialize)?;
    loaded.insert(path.to_path_buf(), api);
    Ok(api)
}

fn open(path: &Path) -> Result<Api, LoadFailure> {
    // RTLD_NOW: a function that a plugin lacks is an error here, not the end of the process when it
    // is first called.
    // SAFETY: loading runs the library's initialisers; the caller chose this file as a plugin.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LoadFailure::Open(innermost(&error)))?;
    // SAFETY: `GetPjrtApi` has this type in every version of the C API.
    let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const PJRT_Api>(b"GetPjrtApi") }
        .map_err(|_| LoadFailure::NoEntryPoint)?;
    // SAFETY: the entry point takes nothing and returns a pointer to a static table.
    let table = unsafe { entry() };
    if table.is_null() {
        return Err(LoadFailure::NullTable);
    }
    // The header (size, extensions, version) has been the same in all versions; the table behind
    // it is touched only once its size is known.
    // SAFETY: not null, and at least the header is there.
    let (size, version) = unsafe { ((*table).struct_size, (*table).pjrt_api_version) };
    let version = (version.major_version, version.minor_version);
    if version.0 > 0 {
        return Err(LoadFailure::TooNew { version });
    }
    if size < Api::MIN_SIZE {
        return Err(LoadFailure::TooOld { version });
    }
    std::mem::forget(library);
    // SAFETY: the table is static in a library that is never closed, and large enough.
    Ok(Api::new(unsafe { &*table }))
}

/// The loader's own words, which the error keeps as its cause.
fn innermost(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => innermost(cause),
        None => error.to_string(),
    }
}
