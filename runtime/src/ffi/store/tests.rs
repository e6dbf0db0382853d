//! The callbacks, called as a plugin calls them.

use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;

use super::*;
use crate::ffi::Status;

/// A store of this process alone.
#[derive(Default)]
struct Local(Mutex<HashMap<Vec<u8>, Vec<u8>>>);

impl KeyValueStore for Local {
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>, Failure> {
        self.try_get(key).map_err(|_| Failure {
            status: Status::DeadlineExceeded,
            message: format!("waited {} ms", timeout.as_millis()),
        })
    }

    fn try_get(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        let value = self.0.lock().unwrap().get(key).cloned();
        value.ok_or(Failure {
            status: Status::NotFound,
            message: "no such key".to_owned(),
        })
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.0.lock().unwrap().insert(key.to_vec(), value.to_vec());
        Ok(())
    }
}

/// The errors that the callbacks had made, by address.
static MADE: Mutex<Vec<(u32, String)>> = Mutex::new(Vec::new());

unsafe extern "C" fn make(code: u32, message: *const c_char, size: usize) -> *mut PJRT_Error {
    // SAFETY: a message of that many bytes.
    let text = unsafe { super::super::api::copy_text(message, size) };
    let mut made = MADE.lock().unwrap();
    made.push((code, text));
    ptr::without_provenance_mut(made.len())
}

fn error_of(error: *mut PJRT_Error) -> Option<(u32, String)> {
    let number = error.addr().checked_sub(1)?;
    Some(MADE.lock().unwrap()[number].clone())
}

#[test]
fn a_plugin_puts_and_gets() {
    let lent = Lent::new(Arc::new(Local::default()));
    let mut create = ClientCreate::new();
    lent.lend(&mut create);
    let mut maker: PJRT_CallbackError = Some(make);

    let (key, value) = (b"global\0topology", b"\0\x01\xff");
    let mut put_args = PJRT_KeyValuePutCallback_Args::new();
    put_args.key = key.as_ptr().cast();
    put_args.key_size = key.len();
    put_args.value = value.as_ptr().cast();
    put_args.value_size = value.len();
    put_args.callback_error = &raw mut maker;
    put_args.user_arg = create.head.kv_put_user_arg;

    let mut get_args = PJRT_KeyValueGetCallback_Args::new();
    get_args.key = key.as_ptr().cast();
    get_args.key_size = key.len();
    get_args.timeout_in_ms = 250;
    get_args.callback_error = &raw mut maker;
    get_args.user_arg = create.head.kv_get_user_arg;

    let mut try_args = TryGetArgs {
        struct_size: size_of::<TryGetArgs>(),
        extension_start: ptr::null_mut(),
        key: key.as_ptr().cast(),
        key_size: key.len(),
        callback_error: &raw mut maker,
        user_arg: create.kv_try_get_user_arg,
        value: ptr::null_mut(),
        value_size: 0,
        value_deleter_callback: None,
    };
    let (get, put) = (
        create.head.kv_get_callback.unwrap(),
        create.head.kv_put_callback.unwrap(),
    );
    let try_get = create.kv_try_get_callback.unwrap();
    // SAFETY: live arguments with the user arguments of a live store; each value is deleted once.
    unsafe {
        let late = error_of(get(&raw mut get_args));
        assert_eq!(late, Some((4, "waited 250 ms".to_owned())));
        let missing = error_of(try_get(&raw mut try_args));
        assert_eq!(missing, Some((5, "no such key".to_owned())));
        assert_eq!(error_of(put(&raw mut put_args)), None);
        assert_eq!(error_of(get(&raw mut get_args)), None);
        assert_eq!(copy_bytes(get_args.value, get_args.value_size), value);
        get_args.value_deleter_callback.unwrap()(get_args.value);
        assert_eq!(error_of(try_get(&raw mut try_args)), None);
        assert_eq!(copy_bytes(try_args.value, try_args.value_size), value);
        try_args.value_deleter_callback.unwrap()(try_args.value);
    }
}

/// The layout that plugins from API 0.60 on were built with.
#[test]
fn the_arguments_are_as_long_as_the_plugin_makes_them() {
    assert_eq!(size_of::<TryGetArgs>(), 72);
    assert_eq!(size_of::<PJRT_KeyValueGetCallback_Args>(), 80);
}
