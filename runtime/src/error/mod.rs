//! Everything that can go wrong outside the compiler: an enum of facts. The prose is in [`text`],
//! nowhere else.
//!
//! Codes: `E070x` data files, `E071x` values and writing, `E072x` arguments of a program,
//! `E073x` compiling and running one, `E08xx` plugins and the environment.

mod text;

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
    FieldMissing {
        path: PathBuf,
        field: String,
        known: Vec<String>,
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
    TransferFailed {
        spec: TensorSpec,
        failure: Failure,
    },
    DumpMissing {
        program: String,
    },
    DeviceCount {
        wanted: usize,
        present: usize,
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
}

impl Error {
    /// The code under which `tpuc explain` knows it.
    pub fn code(&self) -> &'static str {
        match self {
            Error::FileUnreadable { .. } => "E0700",
            Error::DatasetMissing { .. } => "E0701",
            Error::DatasetUnknown { .. } => "E0702",
            Error::WrongMagic { .. } => "E0703",
            Error::Truncated { .. } => "E0704",
            Error::Malformed { .. } => "E0705",
            Error::UnsupportedElement { .. } => "E0706",
            Error::UnknownFormat { .. } => "E0707",
            Error::CsvCell { .. } => "E0708",
            Error::FieldMissing { .. } => "E0709",
            Error::ByteCount { .. } => "E0710",
            Error::TensorTooLarge { .. } => "E0711",
            Error::FormatSpec { .. } => "E0712",
            Error::Unwritable { .. } => "E0713",
            Error::WriteFailed { .. } => "E0714",
            Error::NameTwice { .. } => "E0715",
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
            Error::DeviceCount { .. } => "E0736",
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
        }
    }
}

impl std::error::Error for Error {}
