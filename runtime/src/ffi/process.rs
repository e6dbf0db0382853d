//! The process's environment variables, which plugins read while they load.

use std::env;
use std::ffi::OsString;
use std::sync::Mutex;

/// One change at a time. Readers inside Rust's standard library take its own lock; C code that
/// reads the environment is a plugin's, and runs only after the change.
static CHANGING: Mutex<()> = Mutex::new(());

/// Sets a variable unless it is set already.
pub fn default_env(name: &str, value: &str) {
    let _guard = CHANGING.lock();
    if env::var_os(name).is_none() {
        // SAFETY: no plugin that reads the environment is loading at the same time, because
        // loading holds its own lock around this call and the load.
        unsafe { env::set_var(name, value) };
    }
}

/// Takes a variable out of the environment and returns its value.
pub fn take_env(name: &str) -> Option<OsString> {
    let _guard = CHANGING.lock();
    let value = env::var_os(name)?;
    // SAFETY: as in `default_env`.
    unsafe { env::remove_var(name) };
    Some(value)
}
