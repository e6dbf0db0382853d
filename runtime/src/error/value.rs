//! What can be wrong with values, and with writing them.

use std::path::PathBuf;

use thiserror::Error;

use crate::host::TensorSpec;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValueError {
    #[error("{spec} takes {expected} bytes, and {found} were given")]
    ByteCount {
        spec: TensorSpec,
        expected: usize,
        found: usize,
    },
    #[error("{spec} takes more bytes than a 64-bit number can count")]
    TensorTooLarge { spec: TensorSpec },
    #[error("the format \":{spec}\" does not work here: {reason}")]
    FormatSpec { spec: String, reason: String },
    #[error("cannot write to {path}: {reason}")]
    Unwritable { path: PathBuf, reason: String },
    #[error("writing {path} failed: {reason}")]
    WriteFailed { path: PathBuf, reason: String },
    #[error("two arrays for {path} have the same name \"{name}\"")]
    NameTwice { path: PathBuf, name: String },
}

impl ValueError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            ValueError::FormatSpec { .. } => "E0712",
            ValueError::Unwritable { .. } => "E0713",
            ValueError::WriteFailed { .. } => "E0714",
            ValueError::NameTwice { .. } => "E0715",
            ValueError::ByteCount { .. } => "E0718",
            ValueError::TensorTooLarge { .. } => "E0719",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        match self {
            ValueError::FormatSpec { .. } => Some(
                "format specs are Python's: [[fill]align][sign][0][width][,][.precision][type]"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::host::DType;

    /// One of each.
    pub fn samples() -> Vec<ValueError> {
        let path = || PathBuf::from("/data/x.npy");
        let text = |text: &str| text.to_owned();
        let spec = || TensorSpec::new(DType::F32, [128, 784]);
        vec![
            ValueError::ByteCount {
                spec: spec(),
                expected: 401408,
                found: 4,
            },
            ValueError::TensorTooLarge {
                spec: TensorSpec::new(DType::F32, [1 << 62]),
            },
            ValueError::FormatSpec {
                spec: text(".4q"),
                reason: text("\"q\" is not understood"),
            },
            ValueError::Unwritable {
                path: path(),
                reason: text("permission denied"),
            },
            ValueError::WriteFailed {
                path: path(),
                reason: text("the disk is full"),
            },
            ValueError::NameTwice {
                path: path(),
                name: text("w1"),
            },
        ]
    }
}
