//! The function table of a loaded plugin, and the errors its functions return.

use pjrt_sys::{
    PJRT_Api, PJRT_Error, PJRT_Error_Destroy_Args, PJRT_Error_GetCode_Args,
    PJRT_Error_Message_Args, PJRT_Plugin_Initialize_Args,
};

use super::options::{self, NamedValue};
use super::structs;

/// The status of a failed call, numbered as in `PJRT_Error_Code` (absl's status codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

impl Status {
    pub(super) fn from_code(code: u32) -> Status {
        match code {
            1 => Status::Cancelled,
            3 => Status::InvalidArgument,
            4 => Status::DeadlineExceeded,
            5 => Status::NotFound,
            6 => Status::AlreadyExists,
            7 => Status::PermissionDenied,
            8 => Status::ResourceExhausted,
            9 => Status::FailedPrecondition,
            10 => Status::Aborted,
            11 => Status::OutOfRange,
            12 => Status::Unimplemented,
            13 => Status::Internal,
            14 => Status::Unavailable,
            15 => Status::DataLoss,
            16 => Status::Unauthenticated,
            _ => Status::Unknown,
        }
    }

    /// The C API's number.
    pub(super) fn code(self) -> u32 {
        (1..=16)
            .find(|&code| Status::from_code(code) == self)
            .unwrap_or(2)
    }
}

/// A failed PJRT call: what the plugin said, word for word.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub status: Status,
    pub message: String,
}

/// A plugin's function table. It lives as long as the process: plugins own threads and cannot be
/// unloaded safely, so [`super::load`] never closes the library.
#[derive(Clone, Copy)]
pub struct Api {
    table: &'static PJRT_Api,
}

// SAFETY: the table is immutable after loading, and the PJRT C API may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// Calls one function of the table with its argument struct, and turns the returned error into a
/// [`Failure`]. The argument struct must have valid pointers for the duration of the call.
macro_rules! call {
    ($api:expr, $function:ident, $args:expr) => {{
        let api: $crate::ffi::Api = $api;
        match api.table().$function {
            // SAFETY: the caller filled the argument struct with live pointers; the struct's
            // layout is a prefix-compatible version of what the plugin was built with.
            Some(function) => api.check(unsafe { function((&raw mut $args).cast()) }),
            None => Err($crate::ffi::Api::missing(stringify!($function))),
        }
    }};
}
pub(super) use call;

impl Api {
    /// The smallest function table that this crate can use: API 0.54.
    pub const MIN_SIZE: usize = size_of::<PJRT_Api>();

    /// Takes a table that [`super::load`] has checked for size.
    pub(super) fn new(table: &'static PJRT_Api) -> Api {
        Api { table }
    }

    pub(super) fn table(self) -> &'static PJRT_Api {
        self.table
    }

    /// (major, minor) of the API that the plugin was built with.
    pub fn version(self) -> (i32, i32) {
        let version = &self.table.pjrt_api_version;
        (version.major_version, version.minor_version)
    }

    /// Must be called once per plugin before a client is made.
    pub fn initialize(self) -> Result<(), Failure> {
        let mut args = PJRT_Plugin_Initialize_Args::new();
        call!(self, PJRT_Plugin_Initialize, args)
    }

    /// What the plugin says of itself, such as the StableHLO versions it reads.
    pub fn attributes(self) -> Result<Vec<NamedValue>, Failure> {
        let mut args = structs::PluginAttributes::new();
        call!(self, PJRT_Plugin_Attributes, args)?;
        // SAFETY: the call succeeded, so the plugin's array has `num_attributes` valid entries
        // that live as long as the plugin.
        Ok(unsafe { options::read_values(args.attributes, args.num_attributes) })
    }

    pub(super) fn missing(function: &str) -> Failure {
        Failure {
            status: Status::Unimplemented,
            message: format!("the plugin has no function `{function}`"),
        }
    }

    /// Reads, destroys and returns the error of a call, if there is one.
    pub(super) fn check(self, error: *mut PJRT_Error) -> Result<(), Failure> {
        if error.is_null() {
            return Ok(());
        }
        let mut message = PJRT_Error_Message_Args::new();
        message.error = error;
        let mut code = PJRT_Error_GetCode_Args::new();
        code.error = error;
        let mut destroy = PJRT_Error_Destroy_Args::new();
        destroy.error = error;
        // SAFETY: `error` is a live error that this function owns; the message is copied before
        // the error is destroyed, and the error is not used afterwards.
        unsafe {
            if let Some(function) = self.table.PJRT_Error_Message {
                function(&raw mut message);
            }
            if let Some(function) = self.table.PJRT_Error_GetCode {
                // An error while asking for the code would be an error about an error: destroy it.
                let nested = function(&raw mut code);
                if let (false, Some(destroy_function)) =
                    (nested.is_null(), self.table.PJRT_Error_Destroy)
                {
                    let mut args = PJRT_Error_Destroy_Args::new();
                    args.error = nested;
                    destroy_function(&raw mut args);
                }
            }
            let text = copy_text(message.message, message.message_size);
            if let Some(function) = self.table.PJRT_Error_Destroy {
                function(&raw mut destroy);
            }
            Err(Failure {
                status: Status::from_code(code.code),
                message: text,
            })
        }
    }
}

/// Copies text that a plugin owns. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `data` is null, or points to `len` readable bytes.
pub(super) unsafe fn copy_text(data: *const std::ffi::c_char, len: usize) -> String {
    // SAFETY: passed on to the caller.
    String::from_utf8_lossy(unsafe { copy_bytes(data, len) }.as_slice()).into_owned()
}

/// Copies bytes that a plugin owns.
///
/// # Safety
/// `data` is null, or points to `len` readable bytes.
pub(super) unsafe fn copy_bytes(data: *const std::ffi::c_char, len: usize) -> Vec<u8> {
    if data.is_null() || len == 0 {
        return Vec::new();
    }
    // SAFETY: not null, and the caller vouches for the length.
    unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec()
}
