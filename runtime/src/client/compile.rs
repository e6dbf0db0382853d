//! Compilation and its options.

use std::sync::Arc;

use pjrt_sys::protos::xla::{
    CompileOptionsProto, DeviceAssignmentProto, ExecutableBuildOptionsProto, OptionOverrideProto,
    device_assignment_proto::ComputationDevice, option_override_proto::Value,
};
use prost::Message;

use super::{Client, Executable, Signature, call_error};
use crate::error::{Error, ProgramError};
use crate::ffi::{Failure, Status};

/// How a program is compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileOptions {
    /// XLA options by name, without `--`. An unknown one is an error of the compilation.
    pub overrides: Vec<(String, OverrideValue)>,
}

/// The value of an XLA option.
#[derive(Clone, Debug, PartialEq)]
pub enum OverrideValue {
    Text(String),
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl CompileOptions {
    /// The options as the C API takes them, for a program that is cut for so many devices. Counts of 0 or a missing
    /// part would end the process. `ids`: of those devices, where there are several and they are there.
    pub(super) fn encode(
        &self,
        flags: &[(String, OverrideValue)],
        devices: usize,
        ids: &[i32],
    ) -> Vec<u8> {
        let several = devices > 1;
        let on_device = |&id: &i32| ComputationDevice {
            replica_device_ids: vec![i64::from(id)],
        };
        let build = ExecutableBuildOptionsProto {
            device_ordinal: -1,
            num_replicas: 1,
            num_partitions: devices.max(1) as i64,
            use_spmd_partitioning: several,
            use_shardy_partitioner: several,
            device_assignment: (!ids.is_empty()).then(|| DeviceAssignmentProto {
                replica_count: 1,
                computation_count: ids.len() as i32,
                computation_devices: ids.iter().map(on_device).collect(),
            }),
            ..Default::default()
        };
        let overrides = flags.iter().chain(&self.overrides);
        CompileOptionsProto {
            executable_build_options: Some(build),
            env_option_overrides: overrides
                .map(|(name, value)| {
                    let value = match value {
                        OverrideValue::Text(text) => Value::StringField(text.clone()),
                        OverrideValue::Bool(bool) => Value::BoolField(*bool),
                        OverrideValue::Int(int) => Value::IntField(*int),
                        OverrideValue::Float(float) => Value::DoubleField(*float),
                    };
                    (name.clone(), OptionOverrideProto { value: Some(value) })
                })
                .collect(),
            ..Default::default()
        }
        .encode_to_vec()
    }
}

impl Client {
    /// All that changes what a program is compiled to, as text.
    pub fn options_text(&self, options: &CompileOptions) -> String {
        let own: Vec<usize> = self.own_devices().collect();
        format!(
            "{:?} {} {:?} {} {own:?}",
            self.flags,
            self.extra_options,
            options.overrides,
            self.device_count()
        )
    }

    /// Compiles `code`: StableHLO as text, bytecode or a portable artifact, with a function `main`.
    /// `name` is what errors call the program.
    ///
    /// Errors when the signature has a tensor of uncountable size or does not fit the program's results,
    /// and when the plugin's compiler refuses.
    pub fn compile(
        &self,
        name: &str,
        code: &[u8],
        signature: Signature,
        options: &CompileOptions,
    ) -> Result<Executable, Error> {
        signature.check(name)?;
        let ids = self.assigned(name, &signature)?;
        let raw = self
            .raw
            .compile(
                code,
                &options.encode(&self.flags, signature.devices(), &ids),
            )
            .map_err(|failure| compile_error(name, failure))?;
        Executable::new(Arc::from(name), raw, signature)
    }

    /// The ids of the devices that a program of the signature is cut for: the client's first ones.
    fn assigned(&self, name: &str, signature: &Signature) -> Result<Vec<i32>, Error> {
        let wanted = signature.devices();
        if wanted > self.device_count() {
            return Err(Error::Program(ProgramError::SignatureMismatch {
                program: name.to_owned(),
                reason: format!(
                    "it is for {wanted} devices, and there are {}",
                    self.device_count()
                ),
            }));
        }
        if wanted == 1 {
            return Ok(Vec::new());
        }
        let id = |index| Ok(self.raw.device_text(index).map_err(call_error)?.id);
        (0..wanted).map(id).collect()
    }

    /// Loads what [`Executable::serialize`] gave. The bytes must come from the very same plugin and
    /// options: another version may take them and compute garbage.
    pub fn load(
        &self,
        name: &str,
        bytes: &[u8],
        signature: Signature,
    ) -> Result<Executable, Error> {
        signature.check(name)?;
        let raw = self
            .raw
            .deserialize(bytes)
            .map_err(|failure| compile_error(name, failure))?;
        Executable::new(Arc::from(name), raw, signature)
    }
}

pub(super) fn compile_error(name: &str, failure: Failure) -> Error {
    let program = name.to_owned();
    if failure.status == Status::ResourceExhausted {
        Error::Program(ProgramError::OutOfMemory {
            program,
            message: failure.message,
        })
    } else {
        Error::Program(ProgramError::CompileFailed { program, failure })
    }
}
