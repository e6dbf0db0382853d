//! Long runs keep memory flat: the process is looked at from outside while it walks 10,000 steps, or as many as
//! `TPUC_STEPS` says.

use std::fs;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Resident memory of a process, in bytes, without the code that its libraries take back from their files when it is run again.
fn resident(process: u32) -> u64 {
    number(process, "RssAnon:")
}

fn number(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes: u64 = kilobytes.and_then(|k| k.parse().ok()).expect("a number");
    kilobytes * 1024
}

/// The most memory that a process has had, what it mapped of files included.
fn peak(process: u32) -> u64 {
    number(process, "VmHWM:")
}

/// Memory at each line that a program prints, while it waits for the line to be read.
fn memory_at_lines(folder: &Path, text: &str, options: &[&str]) -> Vec<u64> {
    at_lines(folder, text, options, resident)
}

fn at_lines(folder: &Path, text: &str, options: &[&str], look: fn(u32) -> u64) -> Vec<u64> {
    fs::write(folder.join("p.tl"), text).expect("the temporary folder can be written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tpuc"))
        .current_dir(folder)
        .args(["run", "p.tl"])
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let process = child.id();
    let found: Vec<u64> = lines.map_while(Result::ok).map(|_| look(process)).collect();
    assert!(child.wait().expect("it ends").success());
    found
}

/// How many steps are walked between the two looks.
fn steps() -> u64 {
    let given = std::env::var("TPUC_STEPS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// Growth that is no leak: pools of the allocators settle late. The smallest thing to lose, an event, takes 250 bytes
/// or more.
fn flat(memory: &[u64]) {
    assert_eq!(memory.len(), 2, "two lines were printed while it ran");
    let growth = memory[1].saturating_sub(memory[0]);
    eprintln!("{growth} bytes in {} steps", steps());
    assert!(
        growth < 1_500_000 + 60 * steps(),
        "memory grew by {growth} bytes"
    );
}

#[test]
fn a_loop_of_steps_keeps_memory_flat() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let text = format!(
        "main {{\n\
        let mut w = normal(key(0), [64, 64]);\n\
        let mut n = 0;\n\
        for i in 0..{} {{\n\
            w = 0.99 * w + 0.01;\n\
            n = n + 1;\n\
            log(i, mean=w[0, 0], n=n);\n\
            if i == 2000 || i == {} {{ print(n); }}\n\
        }}\n\
    }}\n",
        2001 + steps(),
        2000 + steps()
    );
    flat(&memory_at_lines(dir.path(), &text, &["--log", "runs"]));
}

#[test]
fn going_through_files_keeps_memory_flat() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let rows: String = (0..200).map(|i| format!("{i},{}\n", 2 * i)).collect();
    fs::write(dir.path().join("a.csv"), &rows).expect("the temporary folder can be written");
    fs::write(dir.path().join("b.csv"), &rows).expect("the temporary folder can be written");
    let text = format!(
        "main {{\n\
        let mut w = 0.0;\n\
        for e in 0..{} {{\n\
            for b in batches(load(\"*.csv\"), 1, fold_in(key(0), e)) {{ w = 0.9 * w + b[0, 1]; }}\n\
            if e == 5 || e == {} {{ print(w); }}\n\
        }}\n\
    }}\n",
        6 + steps() / 400,
        5 + steps() / 400
    );
    flat(&memory_at_lines(dir.path(), &text, &[]));
}

/// An npy file of 2 GiB, all zero but for its last row, which takes no room on the disk.
fn large_npy(path: &Path, rows: u64) {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 1024), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut start = b"\x93NUMPY\x01\x00".to_vec();
    start.extend((header.len() as u16).to_le_bytes());
    start.extend(header.bytes());
    let file = fs::File::create(path).expect("the temporary folder can be written");
    let mut file = std::io::BufWriter::new(file);
    file.write_all(&start).expect("it can be written");
    let last = start.len() as u64 + (rows - 1) * 4096;
    file.seek(SeekFrom::Start(last)).expect("it has places");
    for i in 0..1024u32 {
        file.write_all(&(i as f32).to_le_bytes())
            .expect("it can be written");
    }
    file.flush().expect("it can be written");
}

/// A file that is read by the page is never in memory as a whole, on the CPU's device neither.
#[test]
fn of_a_large_npy_file_only_what_is_used_is_read() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    const ROWS: u64 = 1 << 19;
    large_npy(&dir.path().join("large.npy"), ROWS);
    let text = "main { print(1); let x = load(\"large.npy\"); print(x[-1, 1020:1024], x[7, 7]); print(sum(x[1000:1010])); }";
    let memory = at_lines(dir.path(), text, &[], peak);
    assert_eq!(memory.len(), 3);
    let grown = memory[2] - memory[0];
    eprintln!("{grown} bytes for a file of {} bytes", ROWS * 4096);
    assert!(grown < 256 << 20, "{grown} bytes");
}

#[test]
fn what_a_branch_gives_is_held_once() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let at_the_end = |step: &str| {
        let text = format!(
            "main {{\n\
            let mut s = zeros([64000000]);\n\
            for i in 0..6 {{ {step} }}\n\
            print(s[5]);\n\
            }}\n"
        );
        let lines = at_lines(dir.path(), &text, &[], peak);
        assert_eq!(lines.len(), 7);
        lines[5]
    };
    let plain = at_the_end("s = s + 1.0; print(i, s[0]);");
    let branches = "if i % 2 == 0 { s = s + 1.0; print(s[0]); } else { s = s * 2.0; print(s[1]); }";
    let branched = at_the_end(branches);
    assert!(
        branched < plain + 128_000_000,
        "{branched} bytes, and {plain} without a branch"
    );
}
