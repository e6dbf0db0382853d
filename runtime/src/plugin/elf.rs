//! Looks at a plugin's file before it is loaded: the dynamic loader's own words on a bad file help nobody,
//! and mapping a truncated one can end the process.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use object::elf::{
    DataEncoding, ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV,
    EM_S390, EM_X86_64, FileClass, FileHeader64, Machine, PT_LOAD,
};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, ReadCache};

use crate::error::{DataError, Error, PluginError};

/// Checks that the file is a complete ELF file for this machine.
pub fn check(path: &Path) -> Result<(), Error> {
    let unreadable = |error: std::io::Error| {
        Error::Data(DataError::FileUnreadable {
            path: path.to_path_buf(),
            reason: error.to_string(),
        })
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let len = file.metadata().map_err(unreadable)?.len();
    let mut start = Vec::new();
    file.by_ref()
        .take(64)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    if !start.starts_with(&ELFMAG) {
        start.truncate(8);
        return Err(Error::Plugin(PluginError::NotElf {
            path: path.to_path_buf(),
            found: start,
        }));
    }
    let truncated = |expected: u64| {
        Error::Plugin(PluginError::Truncated {
            path: path.to_path_buf(),
            expected,
            found: len,
        })
    };
    if start.len() < 64 {
        return Err(truncated(64));
    }
    check_machine(path, &start)?;
    match end_of_contents(&file) {
        Some(end) if end <= len => Ok(()),
        Some(end) => Err(truncated(end)),
        // The header itself points outside of the file.
        None => Err(truncated(len + 1)),
    }
}

/// `start` is the 64-byte header.
fn check_machine(path: &Path, start: &[u8]) -> Result<(), Error> {
    let machine = Machine(u16::from_le_bytes([start[18], start[19]]));
    let is_64_bit = FileClass(start[4]) == ELFCLASS64 && DataEncoding(start[5]) == ELFDATA2LSB;
    let (own, expected) = match std::env::consts::ARCH {
        "aarch64" => (EM_AARCH64, "AArch64"),
        "riscv64" => (EM_RISCV, "RISC-V"),
        _ => (EM_X86_64, "x86-64"),
    };
    if is_64_bit && machine == own {
        return Ok(());
    }
    let name = match machine {
        EM_X86_64 => "x86-64",
        EM_AARCH64 => "AArch64",
        EM_386 => "32-bit x86",
        EM_ARM => "32-bit ARM",
        EM_RISCV => "RISC-V",
        EM_PPC64 => "PowerPC",
        EM_S390 => "S/390",
        _ => "",
    };
    let found = match (name, is_64_bit) {
        ("", _) => format!("machine number {}", machine.0),
        (name, true) => name.to_owned(),
        (name, false) => format!("{name}, and not 64-bit little-endian"),
    };
    Err(Error::Plugin(PluginError::Architecture {
        path: path.to_path_buf(),
        expected,
        found,
    }))
}

/// Where the last loaded segment and the section table end. `None` for a header that makes no sense.
fn end_of_contents(file: &File) -> Option<u64> {
    let cache = ReadCache::new(file);
    let header = FileHeader64::<Endianness>::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let mut end = 0;
    for segment in header.program_headers(endian, &cache).ok()? {
        if segment.p_type(endian) == PT_LOAD {
            let last = segment
                .p_offset(endian)
                .checked_add(segment.p_filesz(endian))?;
            end = end.max(last);
        }
    }
    let sections = u64::from(header.e_shnum(endian)) * u64::from(header.e_shentsize(endian));
    Some(end.max(header.e_shoff(endian).checked_add(sections)?))
}
