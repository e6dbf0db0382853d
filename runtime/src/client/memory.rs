//! What programs take: whether one fits its device, which is known before it runs, and what work leaves behind.

use super::{Client, Executable, Signature, machine};
use crate::error::{Error, ProgramError};
use crate::ffi::{self, CompiledMemory};
use crate::host::TensorSpec;

impl Client {
    /// The bytes that a program may take on one of its `devices`; `None` where nobody says. Devices that the CPU plays
    /// share the machine's memory.
    pub fn memory_limit(&self, devices: usize) -> Option<u64> {
        let own = self.own_devices().next().unwrap_or(0);
        let first = self.raw.device_memory(own).ok().flatten();
        let counted = first.and_then(|m| u64::try_from(m.bytes_limit?).ok());
        let own = counted.filter(|&bytes| bytes > 0);
        own.or_else(|| {
            let machine = (self.platform() == "cpu").then(machine::memory)??;
            Some(machine / devices.max(1) as u64)
        })
    }
}

/// Gives back the memory that work left behind: freed heap, and the code that it ran, most of which nothing runs again.
pub fn give_back() {
    ffi::trim_heap();
    ffi::forget_code();
}

impl Executable {
    /// Errors when what the program takes on a device is more than the device has.
    pub fn check_fits(&self, client: &Client) -> Result<(), Error> {
        let Some(limit) = client.memory_limit(self.signature().devices()) else {
            return Ok(());
        };
        // A plugin that does not know what its program takes finds out when it runs.
        let Ok(memory) = self.memory() else {
            return Ok(());
        };
        if needed(&memory) <= limit {
            return Ok(());
        }
        Err(Error::Program(ProgramError::OutOfMemory {
            program: self.name().to_owned(),
            message: explain(&memory, limit, self.signature()),
        }))
    }
}

fn needed(memory: &CompiledMemory) -> u64 {
    let fresh = memory.outputs.saturating_sub(memory.aliased);
    memory
        .arguments
        .saturating_add(fresh)
        .saturating_add(memory.temporaries)
}

fn explain(memory: &CompiledMemory, limit: u64, signature: &Signature) -> String {
    let mut text = format!(
        "it takes {} on a device that has {} (arguments {}, results {}, of which {} in place of arguments, between them {})",
        show_bytes(needed(memory)),
        show_bytes(limit),
        show_bytes(memory.arguments),
        show_bytes(memory.outputs),
        show_bytes(memory.aliased),
        show_bytes(memory.temporaries),
    );
    let bytes = |spec: &TensorSpec| spec.byte_len().unwrap_or(usize::MAX);
    let all = signature.inputs.iter().map(|s| ("argument", s));
    let all = all.chain(signature.outputs.iter().map(|s| ("result", s)));
    if let Some((what, spec)) = all.max_by_key(|(_, spec)| bytes(spec)) {
        let size = show_bytes(bytes(spec) as u64);
        text.push_str(&format!("; the largest {what} is {spec}, {size}"));
    }
    text
}

/// A number of bytes for people, such as `1.5 KiB`.
pub fn show_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit < UNITS.len() - 1 {
        size /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{size:.1} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::DType;

    #[test]
    fn what_a_program_takes_is_compared_and_said() {
        let memory = CompiledMemory {
            arguments: 3 << 30,
            outputs: 2 << 30,
            aliased: 1 << 30,
            temporaries: 512,
            code: 0,
            peak: None,
        };
        assert_eq!(needed(&memory), (4 << 30) + 512);
        let signature = Signature {
            inputs: vec![TensorSpec::new(DType::F32, [4])],
            outputs: vec![TensorSpec::new(DType::F32, [1 << 29])],
            ..Signature::default()
        };
        assert_eq!(
            explain(&memory, 1 << 20, &signature),
            "it takes 4.0 GiB on a device that has 1.0 MiB (arguments 3.0 GiB, results 2.0 GiB, of which 1.0 GiB in \
             place of arguments, between them 512 B); the largest result is f32[536870912], 2.0 GiB"
        );
    }
}
