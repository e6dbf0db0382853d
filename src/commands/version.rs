//! `tpuc --version`: ours, and those of the native parts.

use crate::failure::Failure;
use tpuc_compiler::lower;
use tpuc_runtime::Surroundings;
use tpuc_runtime::plugin::{Device, Plugin};

pub fn version() -> Result<(), Failure> {
    println!("tpuc {}", env!("CARGO_PKG_VERSION"));
    println!("StableHLO {} (MLIR library)", lower::stablehlo_version());
    let around = Surroundings::of_process();
    match Device::choose(None, &around).and_then(|device| Plugin::open(&device, &around)) {
        Ok(plugin) => {
            let (major, minor) = plugin.api_version();
            let stablehlo = plugin
                .stablehlo_version()
                .map(|[a, b, c]| format!(", StableHLO {a}.{b}.{c}"));
            println!(
                "PJRT API {major}.{minor}{} ({})",
                stablehlo.unwrap_or_default(),
                plugin.path().display()
            );
        }
        Err(e) => println!("PJRT: {e}"),
    }
    Ok(())
}
