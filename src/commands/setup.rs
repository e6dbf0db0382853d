//! `tpuc setup`: fetching a plugin.

use crate::failure::Failure;
use crate::progress::Progress;
use tpuc_runtime::Surroundings;
use tpuc_runtime::plugin::{Fetched, Wheel};

pub fn setup(device: &str) -> Result<(), Failure> {
    let Some(wheel) = Wheel::of(device) else {
        return Err(Failure::Usage(format!(
            "there is nothing to fetch for `{device}`"
        )));
    };
    let progress = Progress::new();
    progress.doing("downloading");
    let fetched = wheel.fetch(&Surroundings::of_process());
    progress.done();
    match fetched? {
        Fetched::There(path) => println!("{} is there: {}", wheel.package, path.display()),
        Fetched::New(path) => println!("{} {}: {}", wheel.package, wheel.version, path.display()),
    }
    Ok(())
}
