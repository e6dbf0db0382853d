//! Argument structs that have grown since the bindings' API 0.54, with the tails that plugins up to
//! 0.117 know. The head of each is the bindings' own struct; the tail is zero unless a field says
//! otherwise.

use std::ffi::{c_char, c_void};
use std::ptr;

use pjrt_sys::{
    PJRT_Client, PJRT_Client_Create_Args, PJRT_Executable,
    PJRT_Executable_GetCompiledMemoryStats_Args, PJRT_ExecuteOptions, PJRT_Extension_Base,
    PJRT_LoadedExecutable, PJRT_NamedValue,
};

use super::store::TryGetCallback;

/// `PJRT_Plugin_Attributes_Args`: no new field, but the bindings state its size without the count.
#[repr(C)]
pub struct PluginAttributes {
    struct_size: usize,
    extension_start: *mut PJRT_Extension_Base,
    pub attributes: *const PJRT_NamedValue,
    pub num_attributes: usize,
}

impl PluginAttributes {
    pub fn new() -> PluginAttributes {
        PluginAttributes {
            struct_size: size_of::<PluginAttributes>(),
            extension_start: ptr::null_mut(),
            attributes: ptr::null(),
            num_attributes: 0,
        }
    }
}

/// `PJRT_Client_Create_Args` with the non-blocking look-up of the key-value store.
#[repr(C)]
pub struct ClientCreate {
    pub head: PJRT_Client_Create_Args,
    pub kv_try_get_callback: Option<TryGetCallback>,
    pub kv_try_get_user_arg: *mut c_void,
}

impl ClientCreate {
    pub fn new() -> ClientCreate {
        let mut head = PJRT_Client_Create_Args::new();
        head.struct_size = size_of::<ClientCreate>();
        ClientCreate {
            head,
            kv_try_get_callback: None,
            kv_try_get_user_arg: ptr::null_mut(),
        }
    }
}

/// `PJRT_ExecuteOptions` with the context, call location, multi-slice and callback fields.
#[repr(C)]
pub struct ExecuteOptions {
    pub head: PJRT_ExecuteOptions,
    context: *mut c_void,
    call_location: *const c_char,
    num_tasks: usize,
    task_ids: *mut i32,
    incarnation_ids: *mut i64,
    multi_slice_config: *mut c_void,
    use_major_to_minor_data_layout_for_callbacks: bool,
    hlo_output_callbacks: *mut c_void,
    num_hlo_output_callbacks: usize,
}

impl ExecuteOptions {
    pub fn new() -> ExecuteOptions {
        let mut head = PJRT_ExecuteOptions::new();
        head.struct_size = size_of::<ExecuteOptions>();
        ExecuteOptions {
            head,
            context: ptr::null_mut(),
            call_location: ptr::null(),
            num_tasks: 0,
            task_ids: ptr::null_mut(),
            incarnation_ids: ptr::null_mut(),
            multi_slice_config: ptr::null_mut(),
            use_major_to_minor_data_layout_for_callbacks: false,
            hlo_output_callbacks: ptr::null_mut(),
            num_hlo_output_callbacks: 0,
        }
    }
}

/// `PJRT_Executable_GetCompiledMemoryStats_Args` with the peak and the totals.
#[repr(C)]
pub struct CompiledMemoryStats {
    pub head: PJRT_Executable_GetCompiledMemoryStats_Args,
    /// 0 where the plugin does not know it.
    pub peak_memory_in_bytes: i64,
    total_size_in_bytes: i64,
    total_allocation_bytes: i64,
    indefinite_allocations: i64,
    peak_unpadded_heap_bytes: i64,
}

impl CompiledMemoryStats {
    pub fn new(executable: *mut PJRT_Executable) -> CompiledMemoryStats {
        let mut head = PJRT_Executable_GetCompiledMemoryStats_Args::new();
        head.struct_size = size_of::<CompiledMemoryStats>();
        head.executable = executable;
        CompiledMemoryStats {
            head,
            peak_memory_in_bytes: 0,
            total_size_in_bytes: 0,
            total_allocation_bytes: 0,
            indefinite_allocations: 0,
            peak_unpadded_heap_bytes: 0,
        }
    }
}

/// `PJRT_Executable_DeserializeAndLoad_Args` with the overriding compile options.
#[repr(C)]
pub struct DeserializeAndLoad {
    struct_size: usize,
    extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub serialized_executable: *const c_char,
    pub serialized_executable_size: usize,
    pub loaded_executable: *mut PJRT_LoadedExecutable,
    overridden_serialized_compile_options: *const c_char,
    overridden_serialized_compile_options_size: usize,
    load_options: *mut c_void,
}

impl DeserializeAndLoad {
    pub fn new(client: *mut PJRT_Client) -> DeserializeAndLoad {
        DeserializeAndLoad {
            struct_size: size_of::<DeserializeAndLoad>(),
            extension_start: ptr::null_mut(),
            client,
            serialized_executable: ptr::null(),
            serialized_executable_size: 0,
            loaded_executable: ptr::null_mut(),
            overridden_serialized_compile_options: ptr::null(),
            overridden_serialized_compile_options_size: 0,
            load_options: ptr::null_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The full sizes of the 0.114 layout, as plugins of 0.81 to 0.117 were seen to accept.
    #[test]
    fn sizes_are_those_of_current_plugins() {
        assert_eq!(size_of::<PluginAttributes>(), 32);
        assert_eq!(size_of::<ClientCreate>(), 88);
        assert_eq!(size_of::<ExecuteOptions>(), 144);
        assert_eq!(size_of::<CompiledMemoryStats>(), 144);
        assert_eq!(size_of::<DeserializeAndLoad>(), 72);
    }
}
