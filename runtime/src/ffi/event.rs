//! Events: the completion of something asynchronous, with its error.

use std::ffi::c_void;
use std::ptr::NonNull;

use pjrt_sys::{
    PJRT_Error, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args,
    PJRT_Event_IsReady_Args, PJRT_Event_OnReady_Args,
};

use super::api::{Api, Failure, call};

/// An owned event.
pub struct Event {
    api: Api,
    raw: NonNull<PJRT_Event>,
}

// SAFETY: PJRT events may be awaited, queried and destroyed from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Takes ownership of an event that a call returned; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or a live event of this plugin that nothing else will destroy.
    pub(super) unsafe fn own(api: Api, raw: *mut PJRT_Event) -> Option<Event> {
        NonNull::new(raw).map(|raw| Event { api, raw })
    }

    /// Blocks until the event is ready, and returns its error. (The event is always awaited, also
    /// when it is ready: only that reports the error of an event that was ready from the start.)
    pub fn wait(&self) -> Result<(), Failure> {
        let mut args = PJRT_Event_Await_Args::new();
        args.event = self.raw.as_ptr();
        call!(self.api, PJRT_Event_Await, args)
    }

    pub fn is_ready(&self) -> Result<bool, Failure> {
        let mut args = PJRT_Event_IsReady_Args::new();
        args.event = self.raw.as_ptr();
        call!(self.api, PJRT_Event_IsReady, args)?;
        Ok(args.is_ready)
    }

    /// Keeps `kept` alive until the event is ready, without blocking; then drops it, possibly on a
    /// thread of the plugin. The event's error, if any, is dropped: whoever needs it waits instead.
    pub fn keep_until_ready<T: Send + 'static>(self, kept: T) {
        let kept = Box::into_raw(Box::new(Kept {
            api: self.api,
            value: Box::new(kept),
        }));
        let mut args = PJRT_Event_OnReady_Args::new();
        args.event = self.raw.as_ptr();
        args.callback = Some(release);
        args.user_arg = kept.cast();
        if call!(self.api, PJRT_Event_OnReady, args).is_err() {
            // The callback was not registered, so it will never run. Wait here instead; the wait's own
            // error says nothing about the memory, which nobody reads once the event is over.
            let _ = self.wait();
            // SAFETY: the callback does not run, so this is the only owner of the box.
            drop(unsafe { Box::from_raw(kept) });
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut args = PJRT_Event_Destroy_Args::new();
        args.event = self.raw.as_ptr();
        // A failing destroy leaves nothing to do: the handle is gone either way.
        let _ = call!(self.api, PJRT_Event_Destroy, args);
    }
}

struct Kept {
    api: Api,
    value: Box<dyn Send>,
}

/// The plugin calls this exactly once, and passes the error's ownership.
extern "C" fn release(error: *mut PJRT_Error, user_arg: *mut c_void) {
    // SAFETY: `user_arg` is the box that `keep_until_ready` leaked for this one call.
    let kept = unsafe { Box::from_raw(user_arg.cast::<Kept>()) };
    let _ = kept.api.check(error);
    drop(kept.value);
}
