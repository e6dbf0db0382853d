//! The command as a user meets it: exit codes, files, devices, dumps, and everything that goes wrong outside the program.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{expect, folder, program, tpuc, tpuc_with};

const SMALL: &str = "main { print(1 + 2); }";

#[test]
fn usage_errors_exit_with_64() {
    expect(&tpuc(&["frobnicate"]), 64, &["unrecognized subcommand"]);
    expect(&tpuc(&["run"]), 64, &["<FILE>"]);
    expect(&tpuc::<&str>(&[]), 64, &["no command"]);
    expect(
        &tpuc(&["run", "x.tl", "--set", "N"]),
        64,
        &["expected NAME=VALUE"],
    );
}

#[test]
fn help_shows_examples_and_version_names_the_native_parts() {
    let help = tpuc(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("tpuc run examples/mnist.tl"));
    let version = tpuc(&["--version"]);
    assert_eq!(version.code, 0, "{}", version.stderr);
    assert!(version.stdout.starts_with("tpuc "));
    assert!(version.stdout.contains("StableHLO") && version.stdout.contains("PJRT API"));
}

#[test]
fn a_missing_program_is_an_environment_error() {
    expect(
        &tpuc(&["run", "no/such.tl"]),
        2,
        &["error[E0901]", "no/such.tl"],
    );
}

#[test]
fn a_program_without_main_says_so() {
    let (_dir, path) = program("fn f(x: f32) -> f32 { x }");
    expect(
        &tpuc(&["run", &path]),
        1,
        &["error[E0601]", "has no `main`"],
    );
}

#[test]
fn constants_are_set_from_the_command_line() {
    let (_dir, path) = program("const N = 2\nconst LR = 0.5\nmain { print(f32(N) * LR); }");
    assert_eq!(
        tpuc(&["run", &path, "--set", "N=4", "--set", "LR=0.25"]).stdout,
        "1.0\n"
    );
    let unknown = tpuc(&["run", &path, "--set", "NN=4"]);
    expect(&unknown, 1, &["NN", "`N`"]);
    expect(&tpuc(&["run", &path, "--set", "N=many"]), 1, &["N=many"]);
}

#[test]
fn plugins_that_are_none_say_what_they_are() {
    let (dir, path) = program(SMALL);
    let text = dir.path().join("plugin.so");
    fs::write(&text, "not a library").expect("the temporary folder can be written");
    let missing = dir.path().join("none.so");
    expect(
        &tpuc(&["run", &path, "--device", &missing.display().to_string()]),
        2,
        &["error[E0802]", "none.so"],
    );
    expect(
        &tpuc(&["run", &path, "--device", &text.display().to_string()]),
        2,
        &["error[E0803]"],
    );
    expect(
        &tpuc_with(
            &["run", &path],
            &[("TPUC_PLUGIN", &text.display().to_string())],
        ),
        2,
        &["error[E0803]"],
    );
    expect(
        &tpuc(&["run", &path, "--device", "gpu9"]),
        2,
        &["error[E0800]", "gpu9"],
    );
}

#[test]
fn a_library_without_the_entry_point_is_no_plugin() {
    let (_dir, path) = program(SMALL);
    let library =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(".deps/lib/libTorchMLIRAggregateCAPI.so");
    expect(
        &tpuc(&["run", &path, "--device", &library.display().to_string()]),
        2,
        &["GetPjrtApi"],
    );
}

#[test]
fn an_unwritable_path_is_known_before_the_run() {
    let (_dir, path) = program("main { print(\"ran\"); save(1.0, \"/proc/none/w.safetensors\"); }");
    let run = tpuc(&["run", &path]);
    expect(
        &run,
        2,
        &["error[E0713]", "/proc/none/w.safetensors", "p.tl:1"],
    );
    assert_eq!(run.stdout, "", "nothing ran");
}

/// And not of the value that it is about, which may be made far away.
#[test]
fn what_an_effect_fails_with_stands_at_the_effect() {
    for (effect, said) in [
        ("save(x, \"/proc/none/w.safetensors\")", "E0713"),
        ("assert(low, \"no\")", "E0791"),
        ("assert_close(x, 9.0)", "E0792"),
    ] {
        let text = format!(
            "main {{\n    let mut x = 1.0;\n    let low = x < 0.5;\n    for i in 0..2 {{\n        x = x + 1.0;\n        \
             print(i);\n    }}\n    {effect};\n}}\n"
        );
        let (_dir, path) = program(&text);
        for backend in ["pjrt", "interp"] {
            let run = tpuc(&["run", &path, "--backend", backend]);
            assert!(run.stderr.contains(said), "{}", run.stderr);
            assert!(run.stderr.contains("p.tl:8:5"), "{}", run.stderr);
        }
    }
}

#[test]
fn what_is_saved_can_be_loaded() {
    let dir = folder();
    let file = dir.path().join("w.safetensors").display().to_string();
    let save = dir.path().join("save.tl");
    fs::write(
        &save,
        format!("main {{ save({{ w: [1.5, 2.0], n: 3 }}, \"{file}\"); }}"),
    )
    .expect("writable");
    expect(&tpuc(&["run", &save.display().to_string()]), 0, &[]);
    let load = dir.path().join("load.tl");
    fs::write(
        &load,
        format!("main {{ let d = load(\"{file}\"); print(d.w); print(d.n); }}"),
    )
    .expect("writable");
    let run = tpuc(&["run", &load.display().to_string()]);
    expect(&run, 0, &[]);
    assert_eq!(run.stdout, "[1.5, 2.0]\n3\n");
    let left: Vec<_> = fs::read_dir(dir.path())
        .expect("readable")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(left.len(), 3, "nothing is left beside the file: {left:?}");
}

/// A tree comes back as it was, whatever it is made of.
#[test]
fn a_saved_tree_is_loaded_as_a_tree() {
    let dir = folder();
    let file = dir.path().join("s.safetensors").display().to_string();
    let text = "type P = { w: f32[2], layers: (f32[1], { b: i32 }) }\n\
        main {\n\
            let p: P = { w: [1.5, 2.0], layers: ([3.0], { b: 4 }) };\n\
            MAIN\n\
        }\n";
    let run = |main: &str| {
        let path = dir.path().join("p.tl");
        let text = text.replace("MAIN", &main.replace("FILE", &file));
        fs::write(&path, text).expect("it can be written");
        tpuc(&["run", &path.display().to_string()])
    };
    expect(&run("save({ p: p, n: [true] }, \"FILE\");"), 0, &[]);
    let back = run(
        "let s = load(\"FILE\"); let q: P = s.p; print(q); print(s.p.layers.1.b + p.layers.1.b, s.n);",
    );
    expect(&back, 0, &[]);
    let same = run("print(p);").stdout;
    assert_eq!(back.stdout, format!("{same}8 [true]\n"));
}

/// A file that is read in a loop is read in each turn.
#[test]
fn data_that_changes_between_compiling_and_reading_is_noticed() {
    let dir = folder();
    let file = dir.path().join("d.safetensors").display().to_string();
    let run = |text: &str| {
        let path = dir.path().join("p.tl");
        fs::write(&path, text.replace("FILE", &file)).expect("it can be written");
        tpuc(&["run", &path.display().to_string()])
    };
    for (saved, said) in [
        ("x: zeros([3])", "`x` was f32[2], and is f32[3]"),
        ("x: zeros([2], dtype=i32)", "`x` was f32[2], and is i32[2]"),
        ("y: zeros([2])", "it has no array `x`"),
    ] {
        expect(&run("main { save({ x: zeros([2]) }, \"FILE\"); }"), 0, &[]);
        let text = "main {\n    save({ SAVED }, \"FILE\");\n    for i in 0..2 { print(i); print(load(\"FILE\").x); }\n}\n";
        let found = run(&text.replace("SAVED", saved));
        let place = "p.tl:3:";
        expect(
            &found,
            2,
            &["error[E0710]", "d.safetensors has changed", said, place],
        );
        assert_eq!(found.stdout, "");
    }
}

#[test]
fn broken_data_files_say_what_is_wrong() {
    let dir = folder();
    let data = dir.path().join("mnist");
    fs::create_dir(&data).expect("writable");
    let names = [
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    ];
    let idx = |magic: u8, dims: &[u32], bytes: usize| {
        let mut file = vec![0, 0, 8, magic];
        dims.iter().for_each(|d| file.extend(d.to_be_bytes()));
        file.resize(file.len() + bytes, 7);
        file
    };
    let good = [
        idx(3, &[2, 2, 2], 8),
        idx(1, &[2], 2),
        idx(3, &[1, 2, 2], 4),
        idx(1, &[1], 1),
    ];
    for (name, bytes) in names.iter().zip(&good) {
        fs::write(data.join(name), bytes).expect("writable");
    }
    let (_p, path) = program("main { let d = dataset(\"mnist\"); print(d.y_train); }");
    let env = [("TPUC_DATA", dir.path().to_str().expect("UTF-8"))];
    assert_eq!(tpuc_with(&["run", &path], &env).stdout, "[7, 7]\n");

    fs::write(data.join(names[0]), idx(9, &[2, 2, 2], 8)).expect("writable");
    expect(
        &tpuc_with(&["run", &path], &env),
        2,
        &["E0704", "expected 00 00 08 03, found 00 00 08 09"],
    );
    fs::write(data.join(names[0]), idx(3, &[2, 2, 2], 5)).expect("writable");
    expect(&tpuc_with(&["run", &path], &env), 2, &["E0705"]);
    fs::remove_file(data.join(names[0])).expect("writable");
    expect(&tpuc_with(&["run", &path], &env), 2, &["train-images"]);
    let (_p, path) = program("main { let d = dataset(\"mnits\"); print(d.y_train); }");
    expect(&tpuc(&["check", &path]), 1, &["E0703", "mnits"]);
}

#[test]
fn the_interpreter_gives_what_the_device_gives() {
    let (_dir, path) = program(
        "fn f(x: f32[4]) -> f32 { sum(x * x) / 2.0 }\nmain { print(grad(f)([1.0, -2.0, 0.5, 4.0])); print(argmax([1, 9, 3])); }",
    );
    let device = tpuc(&["run", &path]);
    expect(&device, 0, &[]);
    assert_eq!(device.stdout, "[1.0, -2.0, 0.5, 4.0]\n1\n");
    assert_eq!(
        tpuc(&["run", &path, "--backend", "interp"]).stdout,
        device.stdout
    );
    assert_eq!(tpuc(&["run", &path, "--opt", "0"]).stdout, device.stdout);
    assert_eq!(tpuc(&["run", &path, "--opt", "2"]).stdout, device.stdout);
}

#[test]
fn devices_are_listed_with_their_versions() {
    let run = tpuc(&["devices"]);
    expect(&run, 0, &[]);
    assert!(run.stdout.contains("cpu: PJRT API"), "{}", run.stdout);
    let json = tpuc(&["devices", "--json"]);
    assert!(json.stdout.contains("\"api\""), "{}", json.stdout);
    let unknown = tpuc_with(&["devices"], &[("TPUC_PLUGIN", "gpu")]);
    let said = "$TPUC_PLUGIN: error[E0800]: \"gpu\" names no device";
    assert!(unknown.stdout.contains(said), "{}", unknown.stdout);
    let no = [("TPUC_PLUGIN", "/no/such/plugin.so")];
    let run = tpuc_with(&["devices"], &no);
    expect(&run, 0, &[]);
    let said = "$TPUC_PLUGIN: not found\n  looked in /no/such/plugin.so";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    // Devices that the CPU plays share the machine's memory.
    let memory = |device: &str| {
        let run = tpuc(&["devices", "--device", device, "--json"]);
        expect(&run, 0, &[]);
        let entry: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let devices = entry["devices"].as_array().expect("a list").clone();
        let bytes = devices.iter().map(|d| d["memory_bytes"].as_u64());
        bytes.collect::<Option<Vec<_>>>().expect("each has memory")
    };
    let one = memory("cpu");
    assert_eq!(one.len(), 1);
    assert_eq!(memory("cpu:4"), [one[0] / 4; 4]);
}

#[test]
fn tests_of_a_file_run_and_fail_by_name() {
    let (_dir, path) = program(
        "test \"adds\" { assert(1 + 1 == 2, \"sum\"); }\ntest \"wrong\" { assert(1 + 1 == 3, \"off by one\"); }",
    );
    let run = tpuc(&["test", &path]);
    expect(&run, 1, &["off by one", "p.tl:2"]);
    assert!(
        run.stdout.contains("test adds ... ok") && run.stdout.contains("1 passed, 1 failed"),
        "{}",
        run.stdout
    );
    assert_eq!(tpuc(&["test", &path, "--filter", "adds"]).code, 0);
}

#[test]
fn derivatives_are_checked_against_differences() {
    let (_dir, path) = program(
        "fn good(x: f32[3], n: i32) -> f32 { sum(tanh(x)) * f32(n) }\nfn wrong(x: f32[2]) -> f32[2] { x * x } vjp(x, y, ct) { ct * x }\nmain { print(good([1.0, 2.0, 3.0], 1)); }",
    );
    let good = tpuc(&["grad-check", &path, "--fn", "good"]);
    expect(&good, 0, &[]);
    assert!(
        good.stdout.contains("x: f32[3]  ok") && good.stdout.contains("n: i32 has no derivative"),
        "{}",
        good.stdout
    );
    let wrong = tpuc(&["grad-check", &path, "--fn", "wrong"]);
    expect(&wrong, 1, &[]);
    assert!(
        wrong.stdout.contains("x: f32[2]  WRONG") && wrong.stdout.contains("p.tl:2"),
        "{}",
        wrong.stdout
    );
}

/// Steps and zigzags so fine that every difference of the first step goes over several of them.
#[test]
fn jumps_and_kinks_are_not_called_wrong_derivatives() {
    let (_dir, path) = program(
        "fn jumps(x: f32[9]) -> f32 { sum(x * x) + sum(floor(x * 3e6)) / 1e6 }
fn kinks(x: f32[9]) -> f32 { sum(abs(x * 3e5 - round(x * 3e5))) / 3e5 }
",
    );
    let check = |function: &str| tpuc(&["grad-check", &path, "--fn", function]);
    let jumps = check("jumps");
    expect(&jumps, 0, &[]);
    assert!(
        jumps.stdout.contains("x: f32[9]  ok")
            && jumps.stdout.contains(" of 9 left out, at a jump or a kink"),
        "{}",
        jumps.stdout
    );
    expect(&check("kinks"), 0, &[]);
}

#[test]
fn a_function_that_is_not_finite_has_no_derivative_to_check() {
    let (_dir, path) = program(
        "fn factor(a: f32[2, 2]) -> f32 { sum(cholesky(a - 9.0 * eye(2))) }
fn of_any(b: f32[2, 2]) -> f32 { sum(cholesky(b @ transpose(b) + eye(2))) }
",
    );
    let factor = tpuc(&["grad-check", &path, "--fn", "factor"]);
    let said = [
        "`factor` is not finite at the random inputs",
        "`a @ transpose(a) + eye(N)` positive definite",
    ];
    expect(&factor, 64, &said);
    assert_eq!(factor.stdout, "", "no verdict");
    expect(&tpuc(&["grad-check", &path, "--fn", "of_any"]), 0, &[]);
}

/// Runs on without it, and says so where it is asked.
/// None of them waits for another, breaks another's entry, or leaves anything but entries.
#[test]
fn a_program_that_does_not_fit_is_refused_before_it_runs() {
    let text = "main {\n    print(\"before\");\n    let x = arange(8388608);\n    print(sum(reshape(x, [8388608, 1]) * sort(reshape(x, [1, 8388608]))));\n    print(sort(flatten(f32(reshape(x, [8388608, 1])) * f32(reshape(x, [1, 8388608]))))[0]);\n}";
    let (_dir, path) = program(text);
    let run = tpuc(&["run", &path, "--no-cache"]);
    let said = [
        "error[E0732]",
        "it takes",
        "TiB on a device that has",
        "the largest buffers are",
        "256.0 TiB  temporary i32[8388608, 8388608]",
        "p.tl:",
    ];
    expect(&run, 2, &said);
    assert_eq!(run.stdout, "", "nothing ran");
}

#[test]
fn a_profile_names_programs_and_lines() {
    let (dir, path) = program(
        "main {\n    let mut x = normal(key(0), [50, 50]);\n    for i in 0..3 {\n        x = x @ x / 50.0;\n        print(\"{i} {sum(x)}\");\n    }\n}\n",
    );
    let profile = dir.path().join("profile");
    let run = tpuc(&[
        "run",
        &path,
        "--no-cache",
        "--profile",
        &profile.display().to_string(),
    ]);
    let no_own = "device: the plugin offers no profile of its own\n";
    expect(
        &run,
        0,
        &["profile: ", "3 × execute main_1", "p.tl:4", no_own],
    );
    let trace = fs::read_to_string(profile.join("trace.json")).expect("the trace was written");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("the trace is JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let of = |kind: &str| events.iter().filter(|e| e["cat"] == kind).count();
    // Stretches of one row do not overlap: viewers would show one inside of the other.
    let mut ends = std::collections::BTreeMap::new();
    for event in events.iter().filter(|e| e["ph"] == "X") {
        let number = |name: &str| event[name].as_f64().expect("a number");
        let end: &mut f64 = ends.entry(event["tid"].as_u64()).or_default();
        assert!(number("ts") >= *end, "{event}");
        *end = number("ts") + number("dur");
    }
    assert!(run.stderr.contains(", the rest 0."), "{}", run.stderr);
    // Two programs; the second runs in each turn of the loop; the index goes up, and it and the sum come back.
    assert_eq!((of("compile"), of("execute")), (2, 4));
    assert_eq!((of("upload"), of("fetch")), (3, 6));
    // Without it nothing is said.
    assert_eq!(tpuc(&["run", &path]).stderr, "");
}

#[test]
fn calibrate_measures_what_the_model_assumes() {
    let run = tpuc(&["calibrate"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for name in [
        "matrix_f32",
        "matrix_half",
        "matrix_other",
        "vector",
        "bandwidth",
        "launch",
    ] {
        let line = run.stdout.lines().find(|l| l.starts_with(name));
        let figures: Vec<f64> = line
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        assert!(
            figures.len() == 2 && figures.iter().all(|&f| f > 0.0),
            "{}",
            run.stdout
        );
    }
}

/// Runs the command with its standard output and its error stream closed by their readers at once.
fn run_unread(args: &[&str]) -> Option<i32> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tpuc"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().expect("it ends").code()
}

#[test]
fn nobody_has_to_read_what_is_printed() {
    let (_p, good) = program("main { for i in 0..1000 { print(i); } }");
    let (_q, bad) = program("main { print(x); }");
    for args in [
        &["run", &good] as &[&str],
        &["run", &good, "--profile", "/dev/null/x"],
        &["check", &bad],
        &["dump-hlo", &good, "--explain-opt"],
        &["devices"],
        &["completions", "bash"],
        &["man"],
        &["explain", "E0302"],
        &["run", "/nowhere.tl"],
        &["frobnicate"],
    ] {
        let silent = tpuc(args).code;
        assert_eq!(run_unread(args), Some(silent), "{args:?}");
    }
}

#[test]
fn output_that_is_lost_is_an_error() {
    let (_p, path) = program("main { let x = time(); print(2.0 * x); }");
    for args in [
        &["run", &path] as &[&str],
        &["dump-hlo", &path],
        &["completions", "zsh"],
        &["man"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_tpuc"))
            .args(args)
            .stdout(full.expect("Linux has it"))
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("error[E0714]: writing to the standard output failed"),
            "{said}"
        );
    }
}
