//! Data from files in batches, and what `log` writes, as a user runs them.

mod support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{expect, tpuc_in};

/// Three csv files of 40, 25 and 35 rows `i, 2 i`, the rows numbered on.
fn data(folder: &Path) {
    fs::create_dir(folder.join("big")).expect("the temporary folder can be written");
    for (name, rows) in [("a", 0..40), ("b", 40..65), ("c", 65..100)] {
        let mut text = "x,y\n".to_string();
        for i in rows {
            writeln!(text, "{i},{}", 2 * i).expect("a string grows");
        }
        fs::write(folder.join("big").join(name).with_extension("csv"), text)
            .expect("the temporary folder can be written");
    }
}

fn folder(program: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    fs::write(dir.path().join("p.tl"), program).expect("the temporary folder can be written");
    dir
}

/// The numbers that a run prints, a line for each batch.
fn printed(folder: &Path, options: &[&str]) -> Vec<Vec<i64>> {
    let run = tpuc_in(folder, &[&["run", "p.tl"], options].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let line = |l: &str| serde_json::from_str::<Vec<f64>>(l).expect("a list of numbers");
    run.stdout
        .lines()
        .map(|l| line(l).iter().map(|&x| x as i64).collect())
        .collect()
}

#[test]
fn each_row_comes_once_in_an_epoch_and_the_order_is_the_keys() {
    let dir = folder(
        "main { for e in 0..2 { for { x, y } in batches(load(\"big/*.csv\"), 8, fold_in(key(3), e)) {\n\
         assert(all(abs(y - 2.0 * x) < 0.5), \"rows stay together\"); print(x); } } }\n",
    );
    let batches = printed(dir.path(), &[]);
    // Of 100 rows 12 batches of 8 are full.
    assert_eq!(batches.len(), 24);
    let (first, second) = batches.split_at(12);
    for epoch in [first, second] {
        let rows: BTreeSet<i64> = epoch.iter().flatten().copied().collect();
        assert_eq!(rows.len(), 96);
        assert!(rows.iter().all(|i| (0..100).contains(i)));
    }
    assert_ne!(first, second);
    assert_eq!(printed(dir.path(), &[]), batches);
    assert_eq!(printed(dir.path(), &["--backend", "interp"]), batches);
    assert_eq!(printed(dir.path(), &["--opt", "0"]), batches);
}

/// Sums are exact in i32, so that every order and every device gives the same.
const SUMS: &str = "mesh { data: 2 }\n\
main {\n\
    let mut seen = zeros([100], dtype=i32);\n\
    for b in batches(load(\"big/*.csv\"), 20, key(1)) { seen = add_at(seen, i32(shard(b.x, [data])), 1); }\n\
    print(sum(seen), min(seen), max(seen));\n\
}\n";

#[test]
fn batches_are_cut_for_several_devices() {
    let dir = folder(SUMS);
    for device in ["cpu", "cpu:2"] {
        let run = tpuc_in(dir.path(), &["run", "p.tl", "--device", device]);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (0, "100 1 1\n"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn files_that_change_are_noticed() {
    let dir = folder("main { for b in batches(load(\"big/*.csv\"), 20, key(1)) { print(b); } }\n");
    fs::write(dir.path().join("big/d.csv"), "x,z\n1,2\n").expect("the folder can be written");
    let run = tpuc_in(dir.path(), &["check", "p.tl"]);
    expect(
        &run,
        2,
        &[
            "error[E0709]",
            "big/a.csv and big/d.csv",
            "an array `z`",
            "p.tl:1",
        ],
    );
    fs::remove_dir_all(dir.path().join("big")).expect("the folder can be written");
    let run = tpuc_in(dir.path(), &["check", "p.tl"]);
    expect(
        &run,
        2,
        &["error[E0708]", "big/*.csv", "no file matches it"],
    );
}

/// Killed inside of an epoch and resumed, a run ends with the same bits: the batches go on where they were.
#[test]
fn a_killed_epoch_is_resumed() {
    let program = "main {\n\
        let mut w = 0.0;\n\
        let mut n = 0;\n\
        for b in batches(load(\"big/*.csv\"), 2, key(9)) {\n\
            for _i in 0..20000 { w = w + 1e-7 * sin(w); }\n\
            w = 0.9 * w + mean(b.x) - 0.3 * b.y[0];\n\
            n = n + 1;\n\
        }\n\
        save({ w: w, n: n }, \"out.safetensors\");\n\
    }\n";
    let result = |dir: &Path| fs::read(dir.join("out.safetensors")).expect("the run has saved");
    let whole = folder(program);
    let run = tpuc_in(whole.path(), &["run", "p.tl"]);
    assert_eq!(run.code, 0, "{}", run.stderr);

    let cut = folder(program);
    let args = [
        "run",
        "p.tl",
        "--checkpoint",
        "c",
        "--every",
        "3",
        "--resume",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_tpuc"))
        .current_dir(cut.path())
        .args(args)
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    let start = Instant::now();
    let checkpoints = || fs::read_dir(cut.path().join("c")).map_or(0, Iterator::count);
    while checkpoints() < 3 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let run = tpuc_in(cut.path(), &args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(result(cut.path()), result(whole.path()));
}

#[test]
fn metrics_are_json_lines_and_an_event_file() {
    let dir = folder(
        "main { for i in 0..3 { log(i, loss=1.0 / f32(i), rows=10 * i); } log(7, big=f64(0.1)); }\n",
    );
    let run = tpuc_in(dir.path(), &["run", "p.tl", "--log", "runs/a"]);
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (0, "", "")
    );
    let text = fs::read_to_string(dir.path().join("runs/a/metrics.jsonl")).expect("it is there");
    let lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).expect("each line is JSON"))
        .collect();
    let of = |name: &str| lines.iter().map(|l| l[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("step"), [0, 1, 2, 7]);
    assert_eq!(
        of("loss"),
        [Value::Null, 1.0.into(), 0.5.into(), Value::Null]
    );
    assert_eq!(of("rows"), [0.into(), 10.into(), 20.into(), Value::Null]);
    assert_eq!(lines[3]["big"], 0.1);
    let events = fs::read_dir(dir.path().join("runs/a")).expect("it is there");
    let names = events
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned());
    assert_eq!(
        names
            .filter(|n| n.starts_with("events.out.tfevents."))
            .count(),
        1
    );

    // Without a folder they go nowhere; a folder that cannot be written is said before the run.
    assert_eq!(tpuc_in(dir.path(), &["run", "p.tl"]).code, 0);
    let run = tpuc_in(dir.path(), &["run", "p.tl", "--log", "p.tl/x"]);
    let said = "error[E0713]: cannot write to p.tl/x: a part of the path is a file, not a folder";
    expect(&run, 2, &[said]);
}
