//! Tells the linker where `tpuc` finds the MLIR library: first beside the command as `make install` lays it out, then in this checkout.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let library = Path::new(&manifest).join(".deps").join("lib");
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../lib/tpuc");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());
}
