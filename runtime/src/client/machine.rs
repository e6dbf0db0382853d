//! How much memory the machine gives to this process.

use std::fs;
use std::path::Path;

/// The memory of the machine, or less of it where a control group holds the process to less, as containers and batch
/// systems do; and the swap space. `None` where the system does not say.
pub fn memory() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = read("/proc/meminfo");
    let group = of_group(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    let memory = field(&machine, "MemTotal:")?.min(group.unwrap_or(u64::MAX));
    Some(memory + field(&machine, "SwapTotal:").unwrap_or(0))
}

/// A field of `/proc/meminfo`, in bytes.
fn field(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The least that the control groups of `/proc/self/cgroup`, and those above them, allow; `root`: where they are
/// mounted. A line of it is a number, the controllers (none where all are together) and the group.
fn of_group(own: &str, root: &Path) -> Option<u64> {
    let limits = own.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let (mount, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            some if some.split(',').any(|one| one == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = mount.join(group.trim_start_matches('/'));
        let groups = group.ancestors().take_while(|g| g.starts_with(&mount));
        let limits =
            groups.filter_map(|g| fs::read_to_string(g.join(file)).ok()?.trim().parse().ok());
        limits.min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_memory_is_read() {
        let text = "MemTotal:  1000 kB\nMemFree: 1 kB\nSwapTotal: 24 kB\n";
        assert_eq!(field(text, "MemTotal:"), Some(1000 << 10));
        assert_eq!(field(text, "SwapTotal:"), Some(24 << 10));
        assert_eq!(field("MemTotal: much", "MemTotal:"), None);
        assert!(memory().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn the_least_of_the_groups_above_counts() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "7000\n");
        let of = |own: &str| of_group(own, dir.path());
        assert_eq!(of("0::/a/b\n"), Some(5000));
        assert_eq!(of("0::/\n"), None);
        assert_eq!(of("4:cpu,memory:/c\n3:pids:/a\n"), Some(7000));
        assert_eq!(of("4:memory:/c\n0::/a/b\n"), Some(5000));
        assert_eq!(of(""), None);
    }
}
