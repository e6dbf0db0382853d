//! What a terminal shows, which `script` plays here.

mod support;

use std::process::Command;
use support::program;

/// What a command writes to a terminal.
fn shown(args: &[&str], env: &[(&str, &str)]) -> String {
    let command = [&[env!("CARGO_BIN_EXE_tpuc")], args].concat().join(" ");
    let output = Command::new("script")
        .args(["-qc", &command, "/dev/null"])
        .env_remove("NO_COLOR")
        .envs(env.iter().copied())
        .output()
        .expect("`script` can be started");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn colours_are_for_those_who_see_and_want_them() {
    let (_dir, path) = program("main { print(x); }");
    let check = ["check", &path];
    let screen = ("TERM", "xterm");
    for (env, coloured) in [
        (&[screen] as &[(&str, &str)], true),
        (&[screen, ("NO_COLOR", "")], true),
        (&[screen, ("NO_COLOR", "1")], false),
        (&[("TERM", "dumb")], false),
    ] {
        let text = shown(&check, env);
        assert!(text.contains("E0201"), "{text}");
        assert_eq!(text.contains('\u{1b}'), coloured, "{env:?}: {text:?}");
    }
}

#[test]
fn a_line_of_progress_is_drawn_while_something_takes_long() {
    let waits = "main { for i in 0..3 { let t = time(); let mut u = t; while u < t + 0.6 { u = time(); } print(i, u > t); } }";
    let (_dir, path) = program(waits);
    let long = shown(&["run", &path], &[("TERM", "xterm")]);
    assert!(
        long.contains("iteration 3 of 3") && long.contains("2 true"),
        "{long:?}"
    );
    let dumb = shown(&["run", &path], &[("TERM", "dumb")]);
    assert_eq!(
        dumb.lines().collect::<Vec<_>>(),
        ["0 true", "1 true", "2 true"]
    );
}
