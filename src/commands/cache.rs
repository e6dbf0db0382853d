//! `tpuc cache`: the compiled programs on disk.

use crate::failure::Failure;
use tpuc_runtime::Surroundings;
use tpuc_runtime::cache::Cache;

pub fn cache(action: Option<&str>) -> Result<(), Failure> {
    let Some(cache) = Cache::of(&Surroundings::of_process()) else {
        println!("there is no folder for caches: neither XDG_CACHE_HOME nor HOME is set");
        return Ok(());
    };
    if action == Some("clear") {
        cache.clear();
    }
    let (count, bytes) = cache.size();
    println!(
        "{}: {count} programs, {:.1} MiB",
        cache.folder().display(),
        bytes as f64 / f64::from(1 << 20)
    );
    Ok(())
}
