//! The plugin's own profiler, where it has that extension: what its devices did, and when.

use std::ffi::{c_char, c_void};
use std::ptr::{self, NonNull};

use pjrt_sys::{PJRT_Extension_Base, PJRT_Extension_Type_PJRT_Extension_Type_Profiler};

use super::api::{Api, Failure, Status, copy_bytes, copy_text};

type Raw = *mut c_void;
type Fallible<T> = Option<unsafe extern "C" fn(*mut T) -> Raw>;

/// The extension, of which the bindings have only the number.
#[repr(C)]
struct Extension {
    base: PJRT_Extension_Base,
    api: *const Functions,
    trace_me_context: i64,
}

#[repr(C)]
struct Functions {
    struct_size: usize,
    private: *mut c_void,
    error_destroy: Option<unsafe extern "C" fn(*mut ErrorArgs)>,
    error_message: Option<unsafe extern "C" fn(*mut ErrorMessage)>,
    error_code: Fallible<ErrorCode>,
    create: Fallible<Create>,
    destroy: Fallible<Handle>,
    start: Fallible<Handle>,
    stop: Fallible<Handle>,
    collect: Fallible<Collect>,
}

#[repr(C)]
struct ErrorArgs {
    struct_size: usize,
    private: *mut c_void,
    error: Raw,
}

#[repr(C)]
struct ErrorMessage {
    head: ErrorArgs,
    message: *const c_char,
    message_size: usize,
}

#[repr(C)]
struct ErrorCode {
    head: ErrorArgs,
    code: i32,
}

#[repr(C)]
struct Create {
    struct_size: usize,
    options: *const c_char,
    options_size: usize,
    profiler: Raw,
}

#[repr(C)]
struct Handle {
    struct_size: usize,
    profiler: Raw,
}

#[repr(C)]
struct Collect {
    struct_size: usize,
    profiler: Raw,
    buffer: *mut u8,
    buffer_size: usize,
}

/// A profile being taken.
pub struct Profiler {
    functions: &'static Functions,
    raw: NonNull<c_void>,
}

impl Profiler {
    /// Starts a profile; `None` where the plugin has no profiler. `options`: a serialised `ProfileOptions`.
    pub fn start(api: Api, options: &[u8]) -> Option<Result<Profiler, Failure>> {
        let functions = functions(api)?;
        Some(Profiler::start_with(functions, options))
    }

    fn start_with(functions: &'static Functions, options: &[u8]) -> Result<Profiler, Failure> {
        let mut create = Create {
            struct_size: size_of::<Create>(),
            options: options.as_ptr().cast(),
            options_size: options.len(),
            profiler: ptr::null_mut(),
        };
        functions.call(functions.create, &mut create)?;
        let raw = NonNull::new(create.profiler).ok_or_else(missing)?;
        let profiler = Profiler { functions, raw };
        profiler.handle(functions.start)?;
        Ok(profiler)
    }

    /// Ends the profile: an `XSpace`, serialised.
    pub fn stop(self) -> Result<Vec<u8>, Failure> {
        self.handle(self.functions.stop)?;
        let mut collect = Collect {
            struct_size: size_of::<Collect>(),
            profiler: self.raw.as_ptr(),
            buffer: ptr::null_mut(),
            buffer_size: 0,
        };
        // Without a buffer of ours it says how large that must be; some plugins give their own, which lives as long as
        // the profiler, and others expect one at the second call.
        self.functions.call(self.functions.collect, &mut collect)?;
        if collect.buffer.is_null() {
            let mut bytes = vec![0; collect.buffer_size];
            collect.buffer = bytes.as_mut_ptr();
            self.functions.call(self.functions.collect, &mut collect)?;
            if collect.buffer == bytes.as_mut_ptr() {
                return Ok(bytes);
            }
        }
        // SAFETY: the calls succeeded, so the plugin's buffer has that many bytes; they are copied before it goes.
        Ok(unsafe { copy_bytes(collect.buffer.cast(), collect.buffer_size) })
    }

    fn handle(&self, function: Fallible<Handle>) -> Result<(), Failure> {
        let mut args = Handle {
            struct_size: size_of::<Handle>(),
            profiler: self.raw.as_ptr(),
        };
        self.functions.call(function, &mut args)
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = self.handle(self.functions.destroy);
    }
}

/// The functions of the plugin's profiler, if it has one.
fn functions(api: Api) -> Option<&'static Functions> {
    let mut next = api.table().extension_start.cast::<PJRT_Extension_Base>();
    // SAFETY: the plugin's extensions are a chain that ends with null and lives as long as the plugin, which is never
    // unloaded. Each is as its number says; this one has had its layout since it exists.
    unsafe {
        while let Some(extension) = next.as_ref() {
            if extension.type_ == PJRT_Extension_Type_PJRT_Extension_Type_Profiler {
                let functions = (*next.cast::<Extension>()).api.as_ref()?;
                let whole = functions.struct_size >= size_of::<Functions>();
                return whole.then_some(functions);
            }
            next = extension.next;
        }
    }
    None
}

impl Functions {
    /// Calls one of the functions, whose arguments have live pointers.
    fn call<T>(&self, function: Fallible<T>, args: &mut T) -> Result<(), Failure> {
        let function = function.ok_or_else(missing)?;
        // SAFETY: the arguments are those of the function, by its type here, with their size.
        let error = unsafe { function(args) };
        match error.is_null() {
            true => Ok(()),
            false => Err(self.failure(error)),
        }
    }

    /// Reads and destroys an error.
    fn failure(&self, error: Raw) -> Failure {
        let head = |struct_size| ErrorArgs {
            struct_size,
            private: ptr::null_mut(),
            error,
        };
        let mut code = ErrorCode {
            head: head(std::mem::offset_of!(ErrorCode, code) + size_of::<i32>()),
            code: 0,
        };
        let mut message = ErrorMessage {
            head: head(size_of::<ErrorMessage>()),
            message: ptr::null(),
            message_size: 0,
        };
        let mut destroy = head(size_of::<ErrorArgs>());
        // SAFETY: a live error, owned here; its message is copied before it is destroyed.
        unsafe {
            if let Some(function) = self.error_code {
                function(&raw mut code);
            }
            if let Some(function) = self.error_message {
                function(&raw mut message);
            }
            let text = copy_text(message.message, message.message_size);
            if let Some(function) = self.error_destroy {
                function(&raw mut destroy);
            }
            Failure {
                status: Status::from_code(code.code.unsigned_abs()),
                message: text,
            }
        }
    }
}

fn missing() -> Failure {
    Failure {
        status: Status::Unimplemented,
        message: "the plugin's profiler lacks a function".to_owned(),
    }
}
