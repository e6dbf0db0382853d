//! The key-value store by which the processes of several hosts find each other, as a plugin calls it.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use pjrt_sys::{
    PJRT_CallbackError, PJRT_Error, PJRT_Extension_Base, PJRT_KeyValueGetCallback_Args,
    PJRT_KeyValueGetCallback_ValueDeleter, PJRT_KeyValuePutCallback_Args,
};

use super::api::{Failure, copy_bytes};
use super::structs::ClientCreate;

/// What a plugin asks of the store, from any of its threads.
pub trait KeyValueStore: Send + Sync {
    /// Waits for the key, up to `timeout`.
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>, Failure>;
    fn try_get(&self, key: &[u8]) -> Result<Vec<u8>, Failure>;
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure>;
}

/// A store that a plugin holds. It must live as long as the client.
pub(super) struct Lent(Box<Arc<dyn KeyValueStore>>);

impl Lent {
    pub fn new(store: Arc<dyn KeyValueStore>) -> Lent {
        Lent(Box::new(store))
    }

    /// Names the store in the arguments of a client's creation.
    pub fn lend(&self, args: &mut ClientCreate) {
        let user_arg = (&raw const *self.0).cast_mut().cast::<c_void>();
        args.head.kv_get_callback = Some(get);
        args.head.kv_get_user_arg = user_arg;
        args.head.kv_put_callback = Some(put);
        args.head.kv_put_user_arg = user_arg;
        args.kv_try_get_callback = Some(try_get);
        args.kv_try_get_user_arg = user_arg;
    }
}

/// `PJRT_KeyValueTryGetCallback_Args`, which the bindings lack.
#[repr(C)]
pub(super) struct TryGetArgs {
    struct_size: usize,
    extension_start: *mut PJRT_Extension_Base,
    key: *const c_char,
    key_size: usize,
    callback_error: *mut PJRT_CallbackError,
    user_arg: *mut c_void,
    value: *mut c_char,
    value_size: usize,
    value_deleter_callback: PJRT_KeyValueGetCallback_ValueDeleter,
}

pub(super) type TryGetCallback = unsafe extern "C" fn(*mut TryGetArgs) -> *mut PJRT_Error;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The plugin copies a value and then calls this, with nothing but its address.
unsafe extern "C" fn delete(value: *mut c_char) {
    // SAFETY: the value came from `hand_out`, and this is called once for it.
    unsafe { free(value.cast()) }
}

unsafe extern "C" fn get(args: *mut PJRT_KeyValueGetCallback_Args) -> *mut PJRT_Error {
    // SAFETY: the plugin passes live arguments, for the time of the call, with the user argument that it was given.
    unsafe {
        let args = &mut *args;
        let key = copy_bytes(args.key, args.key_size);
        let timeout = Duration::from_millis(u64::try_from(args.timeout_in_ms).unwrap_or(0));
        let found = store(args.user_arg).get(&key, timeout);
        let to = (
            &mut args.value,
            &mut args.value_size,
            &mut args.value_deleter_callback,
        );
        answer(found, to, args.callback_error)
    }
}

unsafe extern "C" fn try_get(args: *mut TryGetArgs) -> *mut PJRT_Error {
    // SAFETY: as in `get`.
    unsafe {
        let args = &mut *args;
        let key = copy_bytes(args.key, args.key_size);
        let found = store(args.user_arg).try_get(&key);
        let to = (
            &mut args.value,
            &mut args.value_size,
            &mut args.value_deleter_callback,
        );
        answer(found, to, args.callback_error)
    }
}

unsafe extern "C" fn put(args: *mut PJRT_KeyValuePutCallback_Args) -> *mut PJRT_Error {
    // SAFETY: as in `get`.
    unsafe {
        let args = &mut *args;
        let key = copy_bytes(args.key, args.key_size);
        let value = copy_bytes(args.value, args.value_size);
        match store(args.user_arg).put(&key, &value) {
            Ok(()) => std::ptr::null_mut(),
            Err(failure) => raise(args.callback_error, &failure),
        }
    }
}

/// # Safety
/// `user_arg` comes from [`Lent::lend`], and that store is still there.
unsafe fn store<'a>(user_arg: *mut c_void) -> &'a dyn KeyValueStore {
    // SAFETY: passed on to the caller.
    unsafe { &**user_arg.cast::<Arc<dyn KeyValueStore>>() }
}

/// Where the arguments of a callback take a value, its length and what frees it.
type Answer<'a> = (
    &'a mut *mut c_char,
    &'a mut usize,
    &'a mut PJRT_KeyValueGetCallback_ValueDeleter,
);

/// # Safety
/// As of [`raise`].
unsafe fn answer(
    found: Result<Vec<u8>, Failure>,
    (value, size, deleter): Answer<'_>,
    maker: *mut PJRT_CallbackError,
) -> *mut PJRT_Error {
    match found.and_then(|v| hand_out(&v)) {
        Ok(given) => {
            (*value, *size) = given;
            *deleter = Some(delete);
            std::ptr::null_mut()
        }
        // SAFETY: passed on to the caller.
        Err(failure) => unsafe { raise(maker, &failure) },
    }
}

/// A copy of a value that [`delete`] frees.
fn hand_out(value: &[u8]) -> Result<(*mut c_char, usize), Failure> {
    // SAFETY: a block of at least one byte, which is checked before it is written.
    let memory = unsafe { malloc(value.len().max(1)) };
    if memory.is_null() {
        return Err(Failure {
            status: super::Status::ResourceExhausted,
            message: format!("no memory for a value of {} bytes", value.len()),
        });
    }
    // SAFETY: the block is new and as long as the value.
    unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), memory.cast(), value.len()) };
    Ok((memory.cast(), value.len()))
}

/// An error as the plugin wants it made; without a maker there is none, and the call passes for a success without a value.
///
/// # Safety
/// `maker` is null or points to a live callback.
unsafe fn raise(maker: *mut PJRT_CallbackError, failure: &Failure) -> *mut PJRT_Error {
    // SAFETY: passed on to the caller; the message lives for the time of the call.
    unsafe {
        match maker.as_ref().copied().flatten() {
            Some(make) => make(
                failure.status.code(),
                failure.message.as_ptr().cast(),
                failure.message.len(),
            ),
            None => std::ptr::null_mut(),
        }
    }
}

#[cfg(test)]
mod tests;
