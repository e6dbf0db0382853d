//! Compiled programs on disk: found again, shared, and why one is compiled anew.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use support::{folder, program, tpuc_with};

#[test]
fn verbose_says_why_a_program_is_compiled() {
    let cache = folder();
    let env = [("XDG_CACHE_HOME", cache.path().to_str().expect("UTF-8"))];
    let text = "const N = 1000\nmain { let mut t = 0; for i in 0..N { t = t + i; } print(t); }";
    let (_dir, path) = program(text);
    let said = |options: &[&str]| {
        let mut args = vec!["run", path.as_str(), "--verbose"];
        args.extend(options);
        let run = tpuc_with(&args, &env);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr
    };
    let new = said(&[]);
    assert!(
        new.contains("main_0: compiled in ") && new.contains("it is new"),
        "{new}"
    );
    assert_eq!(said(&[]), "main_0: from the cache\n");
    let entries = fs::read_dir(cache.path().join("tpuc/executables")).expect("it was made");
    for entry in entries.flatten().filter(|e| e.path().is_file()) {
        fs::write(entry.path(), "not an executable").expect("it can be written");
    }
    let damaged = said(&[]);
    assert!(
        damaged.ends_with(" s: its entry in the cache is damaged\n"),
        "{damaged}"
    );
    assert_eq!(said(&[]), "main_0: from the cache\n");
    let changed = said(&["--set", "N=999"]);
    assert!(
        changed.ends_with(" s: changed since the last time: code\n"),
        "{changed}"
    );
    let more = said(&["--device", "cpu:2", "--set", "N=999"]);
    assert!(
        more.ends_with("changed since the last time: options\n"),
        "{more}"
    );
    assert!(said(&["--no-cache"]).ends_with("there is no cache\n"));
    let other = program("main { let mut t = 1; for i in 0..50 { t = t + i; } print(t); }");
    let run = tpuc_with(&["run", &other.1, "-v"], &env);
    assert!(run.stderr.ends_with(": it is new\n"), "{}", run.stderr);
}

#[test]
fn a_cache_that_cannot_be_written_stops_nothing() {
    let dir = folder();
    let text = "main { let mut t = 0; for i in 0..10 { t = t + i; } print(t); }";
    let (_dir, path) = program(text);
    let file = dir.path().join("file");
    fs::write(&file, "").expect("it can be written");
    let file = file.display().to_string();
    let args = ["run", &path, "--verbose"];
    let run = tpuc_with(&args, &[("XDG_CACHE_HOME", &file)]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "45\n"));
    let said = " s: it is new; it is not kept: cannot write to ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(
        run.stderr
            .ends_with("a part of the path is a file, not a folder\n"),
        "{}",
        run.stderr
    );

    let nowhere = [("XDG_CACHE_HOME", "relative"), ("HOME", "")];
    let run = tpuc_with(&args, &nowhere);
    assert_eq!((run.code, run.stdout.as_str()), (0, "45\n"));
    assert!(
        run.stderr.ends_with(" s: there is no cache\n"),
        "{}",
        run.stderr
    );
    let shown = tpuc_with(&["cache"], &nowhere).stdout;
    assert!(
        shown.starts_with("there is no folder for caches"),
        "{shown}"
    );
}

#[test]
fn processes_that_start_together_share_the_cache() {
    let cache = folder();
    let place = cache.path().to_str().expect("UTF-8");
    let (_dir, path) = program("main { for i in 0..3 { print(sum(normal(key(i), [50]))); } }");
    let args = ["run", &path, "--verbose"];
    let started: Vec<_> = (0..4)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_tpuc"))
                .args(args)
                .env("XDG_CACHE_HOME", place)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the command runs")
        })
        .collect();
    let ended = started.into_iter().map(|child| child.wait_with_output());
    let outputs: Vec<_> = ended.map(|output| output.expect("it ends")).collect();
    for output in &outputs {
        assert!(output.status.success());
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    let env = [("XDG_CACHE_HOME", place)];
    assert_eq!(tpuc_with(&args, &env).stderr, "main_0: from the cache\n");
    let files = fs::read_dir(cache.path().join("tpuc/executables")).expect("it was made");
    let files = files.flatten().filter(|entry| entry.path().is_file());
    assert_eq!(files.count(), 1);
}

#[test]
fn a_second_run_finds_its_programs_on_disk() {
    let cache = folder();
    let env = [("XDG_CACHE_HOME", cache.path().to_str().expect("UTF-8"))];
    // A sum of two constants would need no program at all.
    let (_dir, path) = program("main { let mut t = 0; for i in 0..1000 { t = t + i; } print(t); }");
    for _ in 0..2 {
        assert_eq!(tpuc_with(&["run", &path], &env).stdout, "499500\n");
        let shown = tpuc_with(&["cache"], &env).stdout;
        assert!(shown.contains(": 1 programs"), "{shown}");
    }
    assert!(
        tpuc_with(&["cache", "clear"], &env)
            .stdout
            .contains(": 0 programs")
    );
}
