//! Everything that can go wrong outside the compiler: an enum of facts. The prose is in [`text`],
//! nowhere else.
//!
//! Codes: `E070x` and `E071x` data files, values and writing (some of these numbers are the command's own),
//! `E072x` arguments of a program, `E073x` compiling and running one, `E074x`
//! checkpoints, `E08xx` plugins and the environment.

mod text;

pub use text::MEMORY_HELP;

use std::path::PathBuf;

use crate::ffi::Failure;
use crate::host::TensorSpec;

/// A failure, with what is needed to say what happened and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    // Data files.
    FileUnreadable {
        path: PathBuf,
        reason: String,
    },
    DatasetMissing {
        name: String,
        looked: Vec<PathBuf>,
        /// Why it could not be fetched, where that was tried.
        reason: Option<String>,
    },
    DatasetUnknown {
        name: String,
        known: Vec<&'static str>,
    },
    WrongMagic {
        path: PathBuf,
        expected: String,
        found: Vec<u8>,
    },
    Truncated {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    Malformed {
        path: PathBuf,
        format: &'static str,
        reason: String,
    },
    UnsupportedElement {
        path: PathBuf,
        found: String,
    },
    UnknownFormat {
        path: PathBuf,
    },
    CsvCell {
        path: PathBuf,
        line: u64,
        column: usize,
        found: String,
    },
    NoFiles {
        pattern: PathBuf,
        reason: String,
    },
    FilesDiffer {
        first: PathBuf,
        other: PathBuf,
        reason: String,
    },
    DataChanged {
        name: PathBuf,
        reason: String,
    },

    // Values and writing.
    ByteCount {
        spec: TensorSpec,
        expected: usize,
        found: usize,
    },
    TensorTooLarge {
        spec: TensorSpec,
    },
    FormatSpec {
        spec: String,
        reason: String,
    },
    Unwritable {
        path: PathBuf,
        reason: String,
    },
    WriteFailed {
        path: PathBuf,
        reason: String,
    },
    NameTwice {
        path: PathBuf,
        name: String,
    },

    // Arguments of a program.
    ArgumentCount {
        program: String,
        expected: usize,
        found: usize,
    },
    ArgumentType {
        program: String,
        index: usize,
        expected: TensorSpec,
        found: TensorSpec,
    },
    ArgumentDeleted {
        program: String,
        index: usize,
    },
    ArgumentElsewhere {
        program: String,
        index: usize,
    },
    BufferDeleted,

    // Compiling and running a program.
    SignatureMismatch {
        program: String,
        reason: String,
    },
    CompileFailed {
        program: String,
        failure: Failure,
    },
    OutOfMemory {
        program: String,
        message: String,
    },
    ExecutionFailed {
        program: String,
        failure: Failure,
    },
    DeviceLost {
        program: String,
        message: String,
    },
    DeviceTimeout {
        program: String,
        message: String,
    },
    TransferFailed {
        spec: TensorSpec,
        failure: Failure,
    },
    DumpMissing {
        program: String,
    },

    // Checkpoints.
    CheckpointDamaged {
        path: PathBuf,
        reason: String,
    },
    CheckpointForeign {
        path: PathBuf,
    },
    CheckpointOfOther {
        path: PathBuf,
    },

    // Plugins and the environment.
    DeviceName {
        found: String,
    },
    PluginNotFound {
        device: String,
        looked: Vec<PathBuf>,
    },
    PluginFileMissing {
        path: PathBuf,
    },
    PluginNotElf {
        path: PathBuf,
        found: Vec<u8>,
    },
    PluginArchitecture {
        path: PathBuf,
        expected: &'static str,
        found: String,
    },
    PluginTruncated {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    PluginLibraryMissing {
        path: PathBuf,
        library: String,
    },
    PluginSymbolMissing {
        path: PathBuf,
        symbol: String,
    },
    PluginUnloadable {
        path: PathBuf,
        reason: String,
    },
    PluginNoEntry {
        path: PathBuf,
    },
    PluginTooOld {
        path: PathBuf,
        version: (i32, i32),
    },
    PluginTooNew {
        path: PathBuf,
        version: (i32, i32),
    },
    PluginStructs {
        path: PathBuf,
        message: String,
    },
    DeviceMissing {
        path: PathBuf,
        message: String,
    },
    DeviceBusy {
        path: PathBuf,
        message: String,
    },
    ClientFailed {
        path: PathBuf,
        failure: Failure,
    },
    PlatformMismatch {
        path: PathBuf,
        wanted: String,
        found: String,
    },
    PluginCall {
        failure: Failure,
    },
    TargetUnknown {
        found: String,
        message: String,
    },
    FetchFailed {
        package: String,
        reason: String,
    },
    FetchedOther {
        package: String,
        expected: String,
        found: String,
    },

    // Several hosts.
    CoordinatorAddress {
        address: String,
        reason: String,
    },
    CoordinatorUnreachable {
        address: String,
        reason: String,
    },
    HostCount {
        host: u64,
        said: u64,
        expected: u64,
    },
    HostTwice {
        host: u64,
    },
    HostProgram {
        host: u64,
    },
    HostsMissing {
        hosts: Vec<u64>,
        seconds: u64,
    },
    HostLost {
        host: u64,
    },
    HostsUnsupported {
        path: PathBuf,
        message: String,
    },
}

/// All codes, in order.
pub const CODES: [&str; 63] = [
    "E0701", "E0702", "E0703", "E0704", "E0705", "E0706", "E0707", "E0708", "E0709", "E0710",
    "E0712", "E0713", "E0714", "E0715", "E0716", "E0717", "E0718", "E0719", "E0720", "E0721",
    "E0722", "E0723", "E0724", "E0730", "E0731", "E0732", "E0733", "E0734", "E0735", "E0736",
    "E0737", "E0741", "E0742", "E0743", "E0800", "E0801", "E0802", "E0803", "E0804", "E0805",
    "E0806", "E0807", "E0808", "E0809", "E0810", "E0811", "E0812", "E0813", "E0814", "E0815",
    "E0816", "E0817", "E0819", "E0820", "E0821", "E0822", "E0823", "E0824", "E0825", "E0826",
    "E0827", "E0828", "E0829",
];

impl Error {
    /// The code under which `tpuc explain` knows it.
    pub fn code(&self) -> &'static str {
        match self {
            Error::FileUnreadable { .. } => "E0701",
            Error::DatasetMissing { .. } => "E0702",
            Error::DatasetUnknown { .. } => "E0703",
            Error::WrongMagic { .. } => "E0704",
            Error::Truncated { .. } => "E0705",
            Error::Malformed { .. } => "E0706",
            Error::UnsupportedElement { .. } => "E0707",
            Error::NoFiles { .. } => "E0708",
            Error::FilesDiffer { .. } => "E0709",
            Error::DataChanged { .. } => "E0710",
            Error::FormatSpec { .. } => "E0712",
            Error::Unwritable { .. } => "E0713",
            Error::WriteFailed { .. } => "E0714",
            Error::NameTwice { .. } => "E0715",
            Error::UnknownFormat { .. } => "E0716",
            Error::CsvCell { .. } => "E0717",
            Error::ByteCount { .. } => "E0718",
            Error::TensorTooLarge { .. } => "E0719",
            Error::ArgumentCount { .. } => "E0720",
            Error::ArgumentType { .. } => "E0721",
            Error::ArgumentDeleted { .. } => "E0722",
            Error::ArgumentElsewhere { .. } => "E0723",
            Error::BufferDeleted => "E0724",
            Error::SignatureMismatch { .. } => "E0730",
            Error::CompileFailed { .. } => "E0731",
            Error::OutOfMemory { .. } => "E0732",
            Error::ExecutionFailed { .. } => "E0733",
            Error::TransferFailed { .. } => "E0734",
            Error::DumpMissing { .. } => "E0735",
            Error::DeviceLost { .. } => "E0736",
            Error::DeviceTimeout { .. } => "E0737",
            Error::CheckpointDamaged { .. } => "E0741",
            Error::CheckpointForeign { .. } => "E0742",
            Error::CheckpointOfOther { .. } => "E0743",
            Error::DeviceName { .. } => "E0800",
            Error::PluginNotFound { .. } => "E0801",
            Error::PluginFileMissing { .. } => "E0802",
            Error::PluginNotElf { .. } => "E0803",
            Error::PluginArchitecture { .. } => "E0804",
            Error::PluginTruncated { .. } => "E0805",
            Error::PluginLibraryMissing { .. } => "E0806",
            Error::PluginSymbolMissing { .. } => "E0807",
            Error::PluginUnloadable { .. } => "E0808",
            Error::PluginNoEntry { .. } => "E0809",
            Error::PluginTooOld { .. } => "E0810",
            Error::PluginTooNew { .. } => "E0811",
            Error::PluginStructs { .. } => "E0812",
            Error::DeviceMissing { .. } => "E0813",
            Error::DeviceBusy { .. } => "E0814",
            Error::ClientFailed { .. } => "E0815",
            Error::PlatformMismatch { .. } => "E0816",
            Error::PluginCall { .. } => "E0817",
            Error::TargetUnknown { .. } => "E0819",
            Error::FetchFailed { .. } => "E0820",
            Error::FetchedOther { .. } => "E0821",
            Error::CoordinatorAddress { .. } => "E0822",
            Error::CoordinatorUnreachable { .. } => "E0823",
            Error::HostCount { .. } => "E0824",
            Error::HostTwice { .. } => "E0825",
            Error::HostProgram { .. } => "E0826",
            Error::HostsMissing { .. } => "E0827",
            Error::HostLost { .. } => "E0828",
            Error::HostsUnsupported { .. } => "E0829",
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::Status;
    use crate::host::DType;

    /// One of each kind.
    fn samples() -> Vec<Error> {
        let path = || PathBuf::from("/data/x.npy");
        let plugin = || PathBuf::from("/plugins/libtpu.so");
        let text = |text: &str| text.to_owned();
        let program = || text("step");
        let spec = || TensorSpec::new(DType::F32, [128, 784]);
        let failure = || Failure {
            status: Status::Internal,
            message: text("something broke\n"),
        };
        vec![
            Error::FileUnreadable {
                path: path(),
                reason: text("there is no such file"),
            },
            Error::DatasetMissing {
                name: text("mnist"),
                looked: vec!["/a/mnist".into(), "/b/mnist".into()],
                reason: Some(text("fetching it failed: curl: (6) Could not resolve host")),
            },
            Error::DatasetUnknown {
                name: text("mnits"),
                known: vec!["mnist", "fashion_mnist", "cifar10"],
            },
            Error::WrongMagic {
                path: path(),
                expected: text("93 4e 55 4d 50 59"),
                found: b"<html>".to_vec(),
            },
            Error::Truncated {
                path: path(),
                expected: 47040016,
                found: 1000,
            },
            Error::Malformed {
                path: path(),
                format: "npy",
                reason: text("a dimension is too large"),
            },
            Error::UnsupportedElement {
                path: path(),
                found: text("'<c16'"),
            },
            Error::UnknownFormat {
                path: "/data/x.txt".into(),
            },
            Error::CsvCell {
                path: "/data/x.csv".into(),
                line: 3,
                column: 2,
                found: text("four"),
            },
            Error::NoFiles {
                pattern: "/data/*.npz".into(),
                reason: text("no file matches it"),
            },
            Error::FilesDiffer {
                first: "/data/a.npy".into(),
                other: "/data/b.npy".into(),
                reason: text("`x` is f32[3, 4] in the one and f32[3, 5] in the other"),
            },
            Error::DataChanged {
                name: "/data/*.npz".into(),
                reason: text("there are fewer rows"),
            },
            Error::ByteCount {
                spec: spec(),
                expected: 401408,
                found: 4,
            },
            Error::TensorTooLarge {
                spec: TensorSpec::new(DType::F32, [1 << 62]),
            },
            Error::FormatSpec {
                spec: text(".4q"),
                reason: text("\"q\" is not understood"),
            },
            Error::Unwritable {
                path: path(),
                reason: text("permission denied"),
            },
            Error::WriteFailed {
                path: path(),
                reason: text("the disk is full"),
            },
            Error::NameTwice {
                path: path(),
                name: text("w1"),
            },
            Error::ArgumentCount {
                program: program(),
                expected: 3,
                found: 2,
            },
            Error::ArgumentType {
                program: program(),
                index: 1,
                expected: spec(),
                found: TensorSpec::new(DType::I32, []),
            },
            Error::ArgumentDeleted {
                program: program(),
                index: 0,
            },
            Error::ArgumentElsewhere {
                program: program(),
                index: 0,
            },
            Error::BufferDeleted,
            Error::SignatureMismatch {
                program: program(),
                reason: text("it gives 2 results, not 3"),
            },
            Error::CompileFailed {
                program: program(),
                failure: failure(),
            },
            Error::OutOfMemory {
                program: program(),
                message: text("Out of memory allocating 99 bytes."),
            },
            Error::ExecutionFailed {
                program: program(),
                failure: failure(),
            },
            Error::TransferFailed {
                spec: spec(),
                failure: failure(),
            },
            Error::DumpMissing { program: program() },
            Error::DeviceLost {
                program: program(),
                message: text("The TPU worker has stopped."),
            },
            Error::DeviceTimeout {
                program: program(),
                message: text("Timed out waiting for an all-reduce."),
            },
            Error::CheckpointDamaged {
                path: "/run/checkpoint-00000003.safetensors".into(),
                reason: text("its contents have changed since it was written"),
            },
            Error::CheckpointForeign {
                path: "/run/checkpoint-00000003.safetensors".into(),
            },
            Error::CheckpointOfOther {
                path: "/run/checkpoint-00000003.safetensors".into(),
            },
            Error::DeviceName { found: text("gpu") },
            Error::PluginNotFound {
                device: text("tpu"),
                looked: vec![plugin()],
            },
            Error::PluginFileMissing { path: plugin() },
            Error::PluginNotElf {
                path: plugin(),
                found: b"GROUP ( ".to_vec(),
            },
            Error::PluginArchitecture {
                path: plugin(),
                expected: "x86-64",
                found: text("AArch64"),
            },
            Error::PluginTruncated {
                path: plugin(),
                expected: 201600336,
                found: 4096,
            },
            Error::PluginLibraryMissing {
                path: plugin(),
                library: text("libcudart.so.13"),
            },
            Error::PluginSymbolMissing {
                path: plugin(),
                symbol: text("cuInit"),
            },
            Error::PluginUnloadable {
                path: plugin(),
                reason: text("cannot allocate memory in static TLS block"),
            },
            Error::PluginNoEntry { path: plugin() },
            Error::PluginTooOld {
                path: plugin(),
                version: (0, 40),
            },
            Error::PluginTooNew {
                path: plugin(),
                version: (1, 2),
            },
            Error::PluginStructs {
                path: plugin(),
                message: text("Unexpected PJRT_Client_Create_Args size: expected 96, got 88."),
            },
            Error::DeviceMissing {
                path: plugin(),
                message: text("No jellyfish device found."),
            },
            Error::DeviceBusy {
                path: plugin(),
                message: text("The TPU is already in use by process with pid 7."),
            },
            Error::ClientFailed {
                path: plugin(),
                failure: Failure {
                    status: Status::Unavailable,
                    message: String::new(),
                },
            },
            Error::PlatformMismatch {
                path: plugin(),
                wanted: text("tpu"),
                found: text("cpu"),
            },
            Error::PluginCall { failure: failure() },
            Error::TargetUnknown {
                found: text("v9:1x1"),
                message: text("Invalid TPU external name: TPU v9"),
            },
            Error::FetchFailed {
                package: text("libtpu 0.0.52"),
                reason: text("ERROR: No matching distribution found for libtpu==0.0.52"),
            },
            Error::FetchedOther {
                package: text("libtpu 0.0.52"),
                expected: text("f76a"),
                found: text("00ff"),
            },
            Error::CoordinatorAddress {
                address: text("10.0.0.1:8476"),
                reason: text("Address already in use"),
            },
            Error::CoordinatorUnreachable {
                address: text("10.0.0.1:8476"),
                reason: text("Connection refused"),
            },
            Error::HostCount {
                host: 1,
                said: 3,
                expected: 2,
            },
            Error::HostTwice { host: 1 },
            Error::HostProgram { host: 1 },
            Error::HostsMissing {
                hosts: vec![1, 3],
                seconds: 300,
            },
            Error::HostLost { host: 1 },
            Error::HostsUnsupported {
                path: plugin(),
                message: text("Unexpected option name passed to PJRT_Client_Create: num_nodes"),
            },
        ]
    }

    #[test]
    fn every_code_has_its_text() {
        let mut samples = samples();
        samples.sort_by_key(Error::code);
        let codes: Vec<&str> = samples.iter().map(Error::code).collect();
        assert_eq!(codes, CODES);
        let texts: Vec<String> = samples
            .iter()
            .map(|error| {
                let help = error.help().map(|help| format!("\n  = help: {help}"));
                format!("{}: {error}{}", error.code(), help.unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(texts.join("\n\n"));
    }
}
