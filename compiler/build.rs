//! Tells the linker where this checkout keeps the MLIR library, so that tests run without `LD_LIBRARY_PATH`.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_MLIR").is_none() {
        return;
    }
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let library = Path::new(&manifest).with_file_name(".deps").join("lib");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());
}
