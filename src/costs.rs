//! Whose costs the optimiser counts with.

use std::path::Path;

use tpuc_compiler::opt::cost::device::{CPU, DeviceCost, H200, TPU_V6E};
use tpuc_runtime::Surroundings;
use tpuc_runtime::plugin::Device;

use crate::ahead::chip;
use crate::failure::Failure;

/// The figures of the device that `--device` and the environment name. Which TPU or GPU it is shows only once it is
/// open, so the newest stands for its kind.
pub fn chosen(flag: Option<&str>, around: &Surroundings) -> Result<&'static DeviceCost, Failure> {
    Ok(match Device::choose(flag, around)? {
        Device::Cpu { .. } => &CPU,
        Device::Tpu => &TPU_V6E,
        Device::Cuda | Device::Rocm => &H200,
        Device::Path(path) => of_plugin(&path),
    })
}

/// By the names that plugins have: `libtpu.so`, `xla_cuda_plugin.so`, `pjrt_c_api_gpu_plugin.so`.
fn of_plugin(path: &Path) -> &'static DeviceCost {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let has = |part| name.contains(part);
    match () {
        () if has("tpu") => &TPU_V6E,
        () if has("cuda") || has("rocm") || has("gpu") => &H200,
        () => &CPU,
    }
}

/// The figures of what `--target` names, such as `v5e:2x2`.
pub fn of_target(target: &str) -> &'static DeviceCost {
    chip::of_target(target).map_or(&TPU_V6E, |chip| chip.cost)
}
