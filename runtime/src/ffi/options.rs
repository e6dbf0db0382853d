//! Named values: the options of a client, and the attributes of plugins and devices.

use std::ffi::c_char;

use pjrt_sys::{
    PJRT_NamedValue, PJRT_NamedValue_Type_PJRT_NamedValue_kBool,
    PJRT_NamedValue_Type_PJRT_NamedValue_kFloat, PJRT_NamedValue_Type_PJRT_NamedValue_kInt64,
    PJRT_NamedValue_Type_PJRT_NamedValue_kInt64List, PJRT_NamedValue_Type_PJRT_NamedValue_kString,
};

use super::api::copy_text;

/// A value with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue {
    pub name: String,
    pub value: OptionValue,
}

/// The types that PJRT has for them. A plugin may abort when an option comes with the wrong one.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    Text(String),
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Bool(bool),
}

/// Borrows `values` as the C structs that a call takes; they must outlive the result's use.
pub(super) fn as_c(values: &[NamedValue]) -> Vec<PJRT_NamedValue> {
    values.iter().map(one_as_c).collect()
}

fn one_as_c(value: &NamedValue) -> PJRT_NamedValue {
    let mut c = PJRT_NamedValue::new();
    c.name = value.name.as_ptr().cast();
    c.name_size = value.name.len();
    c.value_size = 1;
    match &value.value {
        OptionValue::Text(text) => {
            c.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kString;
            c.__bindgen_anon_1.string_value = text.as_ptr().cast::<c_char>();
            c.value_size = text.len();
        }
        OptionValue::Int(int) => {
            c.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kInt64;
            c.__bindgen_anon_1.int64_value = *int;
        }
        OptionValue::Ints(ints) => {
            c.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kInt64List;
            c.__bindgen_anon_1.int64_array_value = ints.as_ptr();
            c.value_size = ints.len();
        }
        OptionValue::Float(float) => {
            c.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kFloat;
            c.__bindgen_anon_1.float_value = *float;
        }
        OptionValue::Bool(bool) => {
            c.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kBool;
            c.__bindgen_anon_1.bool_value = *bool;
        }
    }
    c
}

/// Copies a plugin's array of named values. Values of a type that is not known are left out.
///
/// # Safety
/// `values` is null, or points to `count` valid entries.
pub(super) unsafe fn read_values(values: *const PJRT_NamedValue, count: usize) -> Vec<NamedValue> {
    if values.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: not null, and the caller vouches for the length.
    let values = unsafe { std::slice::from_raw_parts(values, count) };
    // SAFETY: each entry is valid, so its union holds what its type says.
    values
        .iter()
        .filter_map(|value| unsafe { read_value(value) })
        .collect()
}

/// # Safety
/// `c` is a valid entry: its union holds the field that its type names.
#[allow(non_upper_case_globals)] // The bindings' constants are matched by their own names.
unsafe fn read_value(c: &PJRT_NamedValue) -> Option<NamedValue> {
    let union = &c.__bindgen_anon_1;
    // SAFETY: the type says which field of the union is set and how long it is.
    let value = unsafe {
        match c.type_ {
            PJRT_NamedValue_Type_PJRT_NamedValue_kString => {
                OptionValue::Text(copy_text(union.string_value, c.value_size))
            }
            PJRT_NamedValue_Type_PJRT_NamedValue_kInt64 => OptionValue::Int(union.int64_value),
            PJRT_NamedValue_Type_PJRT_NamedValue_kInt64List => {
                let data = union.int64_array_value;
                OptionValue::Ints(if data.is_null() || c.value_size == 0 {
                    Vec::new()
                } else {
                    std::slice::from_raw_parts(data, c.value_size).to_vec()
                })
            }
            PJRT_NamedValue_Type_PJRT_NamedValue_kFloat => OptionValue::Float(union.float_value),
            PJRT_NamedValue_Type_PJRT_NamedValue_kBool => OptionValue::Bool(union.bool_value),
            _ => return None,
        }
    };
    // SAFETY: the name's pointer and length belong together.
    let name = unsafe { copy_text(c.name, c.name_size) };
    Some(NamedValue { name, value })
}
