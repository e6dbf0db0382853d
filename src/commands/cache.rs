//! `tpuc cache`: the compiled programs on disk.

use crate::failure::Failure;
use tpuc_runtime::Surroundings;
use tpuc_runtime::cache::Cache;
use tpuc_runtime::client::show_bytes;

pub fn cache(action: Option<&str>) -> Result<(), Failure> {
    let Some(cache) = Cache::of(&Surroundings::of_process()) else {
        println!(
            "there is no folder for caches: neither XDG_CACHE_HOME nor HOME is the path of one"
        );
        return Ok(());
    };
    if action == Some("clear") {
        cache.clear();
    }
    let (count, bytes) = cache.size();
    println!(
        "{}: {count} programs, {}",
        cache.folder().display(),
        show_bytes(bytes)
    );
    Ok(())
}
