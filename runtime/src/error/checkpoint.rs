//! What can be wrong with checkpoints.

use std::path::PathBuf;

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum CheckpointError {
    #[error("the checkpoint {path} is damaged: {reason}")]
    Damaged { path: PathBuf, reason: String },
    #[error("{path} is no checkpoint of tpuc")]
    Foreign { path: PathBuf },
    #[error("the checkpoint {path} is of another program, or of this one before it was changed{}", .differs.as_ref().map_or(String::new(), |(saved, now)| format!(": it was saved with {saved}, and this is {now}")))]
    OfOther {
        path: PathBuf,
        /// How the program was run that saved it, and how this one is, where that is not the same.
        differs: Option<(String, String)>,
    },
    #[error("another run writes its checkpoints to {path}")]
    InUse { path: PathBuf },
}

impl CheckpointError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            CheckpointError::Damaged { .. } => "E0741",
            CheckpointError::Foreign { .. } => "E0742",
            CheckpointError::OfOther { .. } => "E0743",
            CheckpointError::InUse { .. } => "E0745",
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        let help = match self {
            CheckpointError::Damaged { .. } => {
                "remove the file: `--resume` then goes on from the checkpoint before it, if there is one"
            }
            CheckpointError::Foreign { .. } => "remove the file, or name another folder",
            CheckpointError::OfOther { .. } => {
                "run the program as it was, with the same `--set` and `--opt`, and on several devices only if it was, or begin anew in another folder"
            }
            CheckpointError::InUse { .. } => "wait for it, or end it, or name another folder",
        };
        Some(help.to_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One of each.
    pub fn samples() -> Vec<CheckpointError> {
        let text = |text: &str| text.to_owned();
        vec![
            CheckpointError::Damaged {
                path: "/run/checkpoint-00000003.safetensors".into(),
                reason: text("its contents have changed since it was written"),
            },
            CheckpointError::Foreign {
                path: "/run/checkpoint-00000003.safetensors".into(),
            },
            CheckpointError::OfOther {
                path: "/run/checkpoint-00000003.safetensors".into(),
                differs: Some((text("`--opt 1`"), text("`--opt 2`"))),
            },
            CheckpointError::InUse {
                path: "/run".into(),
            },
        ]
    }
}
