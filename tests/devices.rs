//! Several devices: the mesh of a program on those that the CPU plays. What one device computes is what all must.

mod support;

use support::{Run, expect, program, tpuc};

fn run(file: &str, options: &[&str]) -> Run {
    let path = format!("tests/devices/{file}");
    let mut args = vec!["run", &path, "--no-cache"];
    args.extend(options);
    let run = tpuc(&args);
    assert_eq!(run.code, 0, "{options:?}: {}", run.stderr);
    run
}

/// The numbers of an output.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| c.is_whitespace() || "[],".contains(c))
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// The largest difference, measured by the largest number of the line it stands in.
fn distance(expected: &str, actual: &str) -> f64 {
    assert_eq!(expected.lines().count(), actual.lines().count());
    let lines = expected.lines().zip(actual.lines());
    let of_line = |(e, a): (&str, &str)| {
        let (e, a) = (numbers(e), numbers(a));
        assert_eq!(e.len(), a.len());
        let scale = e.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let gap = e
            .iter()
            .zip(&a)
            .fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
        gap / scale
    };
    lines.map(of_line).fold(0.0, f64::max)
}

#[test]
fn data_and_model_parallel_training_equal_one_device() {
    let one = run("mlp.tl", &[]).stdout;
    assert!(numbers(&one).len() > 200, "{one}");
    for mesh in [
        "data=4,model=1",
        "data=1,model=4",
        "data=2,model=2",
        "data=2",
    ] {
        let several = run("mlp.tl", &["--device", "cpu:4", "--mesh", mesh]).stdout;
        let off = distance(&one, &several);
        assert!(off <= 1e-6, "{mesh}: {off}\n{one}\n{several}");
    }
}

/// The real one, laid out for data and model parallelism by its types alone, over its first steps.
fn parallel_mnist() -> String {
    let mut text = std::fs::read_to_string("examples/mnist.tl").expect("it is committed");
    for (from, to) in [
        (
            "import optim\n",
            "import optim\nmesh { data: 4, model: 1 }\n",
        ),
        ("x: f32[B, 784]", "x: f32[B @ data, 784]"),
        ("y: i32[B]", "y: i32[B @ data]"),
        (
            "w1: f32[784, HID], b1: f32[HID]",
            "w1: f32[784, HID @ model], b1: f32[HID @ model]",
        ),
        ("w2: f32[HID, 10]", "w2: f32[HID @ model, 10]"),
        ("const EPOCHS = 5", "const EPOCHS = 1"),
        ("const STEPS = 60000 / BATCH;", "const STEPS = 10;"),
        ("loss={total / STEPS:.4f}", "{total:.9g}"),
        (
            "train_acc={accuracy(s.params, x, y):.4f}",
            "{loss(s.params, x_test, y_test):.9g}",
        ),
        (
            "save(s.params, \"mnist.safetensors\");",
            "print(s.params.w2);",
        ),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "there is no `{from}`");
        text = changed;
    }
    text
}

#[test]
fn mnist_in_parallel_equals_one_device() {
    let (_dir, path) = program(&parallel_mnist());
    let run = |options: &[&str]| {
        let run = tpuc(&[&["run", &path], options].concat());
        assert_eq!(run.code, 0, "{options:?}: {}", run.stderr);
        run.stdout
    };
    let one = run(&[]);
    assert!(numbers(&one).len() > 2560, "{one}");
    for mesh in ["data=4,model=1", "data=1,model=4", "data=2,model=2"] {
        let several = run(&["--device", "cpu:4", "--mesh", mesh]);
        let off = distance(&one, &several);
        assert!(off <= 1e-6, "{mesh}: {off}");
    }
}

#[test]
fn a_transformer_block_equals_one_device() {
    let one = run("attention.tl", &[]).stdout;
    let interpreted = run("attention.tl", &["--backend", "interp"]).stdout;
    assert!(distance(&interpreted, &one) <= 1e-5);
    for mesh in ["data=2,model=2", "data=4,model=1", "data=1,model=4"] {
        let several = run("attention.tl", &["--device", "cpu:4", "--mesh", mesh]).stdout;
        let off = distance(&one, &several);
        assert!(off <= 1e-6, "{mesh}: {off}\n{one}\n{several}");
    }
}

#[test]
fn random_numbers_are_the_same_bit_for_bit() {
    let one = run("random.tl", &[]).stdout;
    for mesh in ["data=2,model=2", "data=1,model=2", "data=2,model=1"] {
        let options = ["--device", "cpu:4", "--mesh", mesh];
        assert_eq!(run("random.tl", &options).stdout, one, "{mesh}");
    }
}

#[test]
fn the_partitioner_puts_in_collectives() {
    let dump = |options: &[&str]| {
        let mut args = vec!["dump-hlo", "tests/devices/mlp.tl", "--stage", "hlo"];
        args.extend(options);
        let run = tpuc(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let one = dump(&[]);
    assert!(
        !one.contains("all-reduce") && !one.contains("// collectives"),
        "{one}"
    );
    let four = dump(&["--device", "cpu:4"]);
    assert!(four.contains(" all-reduce("), "{four}");
    let summary = four.lines().find(|l| l.contains("× all-reduce"));
    let summary = summary.expect("a line that counts the all-reduces");
    assert!(summary.starts_with("// collectives: ") && summary.ends_with(" bytes a device"));
}

#[test]
fn annotations_stand_in_the_stablehlo_of_a_program_with_a_mesh() {
    let args = ["dump-hlo", "tests/devices/mlp.tl", "--fn", "loss"];
    let run = tpuc(&args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for text in ["sdy.mesh", "[{\"data\"}, {}]", "[{}, {\"model\"}]"] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
}

fn refused(text: &str, command: &str, options: &[&str], code: i32, says: &[&str]) {
    let (_dir, path) = program(text);
    let mut args = vec![command, &path];
    args.extend(options);
    expect(&tpuc(&args), code, says);
}

const UNEVEN: &str = "mesh { data: 4 }\nconst N = 6\n\
    fn total[B](x: f32[B @ data, 3]) -> f32 { sum(x) }\n\
    main {\n    print(total(zeros([N, 3])));\n}\n";

#[test]
fn a_dimension_that_does_not_divide_is_an_error_of_the_program() {
    let said = [
        "error[E0345]",
        "dimension B=6",
        "axis `data`",
        "4 equal parts",
        "p.tl:3",
    ];
    refused(UNEVEN, "check", &[], 1, &said);
    refused(UNEVEN, "run", &["--device", "cpu:4"], 1, &said);
    let named = "mesh { data: 4 }\nconst N = 6\nmain { print(shard(zeros([N]), [data])); }";
    refused(named, "check", &[], 1, &["error[E0345]", "dimension N=6"]);
    // One device ignores the mesh, and another mesh may fit.
    let (_dir, path) = program(UNEVEN);
    assert_eq!(tpuc(&["run", &path]).stdout, "0.0\n");
    let other = ["run", &path, "--device", "cpu:4", "--mesh", "data=2"];
    assert_eq!(tpuc(&other).stdout, "0.0\n");
}

#[test]
fn axes_are_known_and_stand_once() {
    let unknown = "mesh { data: 2 }\nfn f(x: f32[4 @ dat]) -> f32 { sum(x) }";
    refused(
        unknown,
        "check",
        &[],
        1,
        &["error[E0201]", "mesh axis `dat`", "`data`"],
    );
    let shard = "mesh { data: 2 }\nfn f(x: f32[4]) -> f32[4] { shard(x, [rows]) }";
    refused(
        shard,
        "check",
        &[],
        1,
        &["error[E0201]", "mesh axis `rows`"],
    );
    let twice = "mesh { data: 2 }\nfn f(x: f32[4 @ data, 4 @ data]) -> f32 { sum(x) }";
    refused(
        twice,
        "check",
        &[],
        1,
        &["error[E0346]", "mesh axis `data`"],
    );
    let good = "mesh { data: 2 }\nmain { print(1); }";
    let said = [
        "error[E0201]",
        "mesh axis `dta`",
        "<command line>",
        "`data`",
    ];
    refused(good, "run", &["--mesh", "dta=2"], 1, &said);
    refused(
        good,
        "run",
        &["--mesh", "data=0"],
        64,
        &["`0` is no number of devices"],
    );
    refused(good, "run", &["--mesh", "data"], 64, &["NAME=NUMBER"]);
}

#[test]
fn a_mesh_needs_its_devices() {
    let text = "mesh { data: 4, model: 2 }\nmain { print(shard(arange(8), [data])); }";
    let said = [
        "error[E0818]",
        "data=4,model=2 has 8 devices, and there are 4",
        "--mesh",
    ];
    refused(text, "run", &["--device", "cpu:4"], 2, &said);
    let (_dir, path) = program(text);
    let run = |options: &[&str]| {
        let mut args = vec!["run", &path];
        args.extend(options);
        tpuc(&args).stdout
    };
    assert_eq!(run(&[]), "[0, 1, 2, 3, 4, 5, 6, 7]\n");
    assert_eq!(run(&["--device", "cpu:8"]), run(&[]));
    // More devices than the mesh has: it takes the first.
    assert_eq!(run(&["--device", "cpu:16"]), run(&[]));
    let bare = "main { print(shard(arange(8), [data])); }";
    let (_dir, path) = program(bare);
    let args = ["run", &path, "--device", "cpu:2", "--mesh", "data=2"];
    assert_eq!(
        tpuc(&args).stdout,
        run(&[]),
        "a mesh only from the command line"
    );
}

#[test]
fn arrays_pass_between_programs_and_the_host_in_parts() {
    // `x` crosses from program to program, is read by the host, changes inside a loop that it walks, and comes from
    // a file; an `if` that the host walks picks one of two.
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let file = dir
        .path()
        .join("x.npz")
        .display()
        .to_string()
        .replace(".npz", ".safetensors");
    let text = format!(
        "mesh {{ data: 4 }}\n\
         main {{\n\
             let start = shard(f32(reshape(arange(24), [8, 3])), [data, none]);\n\
             save({{ start: start }}, \"{file}\");\n\
             let mut x = start;\n\
             for i in 0..3 {{\n\
                 print(sum(x));\n\
                 x = shard(x * 2.0 + f32(i), [data, none]);\n\
             }}\n\
             print(x[7], x[0]);\n\
             let y = if sum(x) > 0.0 {{ print(\"up\"); x + 1.0 }} else {{ print(\"down\"); start }};\n\
             print(shard(transpose(y), [none, data]));\n\
             print(start);\n\
         }}\n"
    );
    let (_dir, path) = program(&text);
    let one = tpuc(&["run", &path]);
    assert_eq!(one.code, 0, "{}", one.stderr);
    let four = tpuc(&["run", &path, "--device", "cpu:4"]);
    assert_eq!((four.code, four.stdout), (0, one.stdout), "{}", four.stderr);
    let load = format!(
        "mesh {{ data: 2 }}\nmain {{ let d = load(\"{file}\"); print(shard(d.start, [data, none])); }}"
    );
    let (_dir, path) = program(&load);
    let two = tpuc(&["run", &path, "--device", "cpu:2"]);
    assert_eq!(two.code, 0, "{}", two.stderr);
    assert!(
        two.stdout.starts_with("[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]"),
        "{}",
        two.stdout
    );
}

#[test]
fn programs_for_several_devices_come_back_from_the_cache() {
    let cache = tempfile::tempdir().expect("a temporary folder can be made");
    let env = [("XDG_CACHE_HOME", cache.path().to_str().expect("UTF-8"))];
    let args = ["run", "tests/devices/random.tl", "--device", "cpu:4"];
    let first = support::tpuc_with(&args, &env);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let kept = support::tpuc_with(&["cache"], &env).stdout;
    assert_eq!(support::tpuc_with(&args, &env).stdout, first.stdout);
    // One device has programs of its own.
    assert_eq!(support::tpuc_with(&args[..2], &env).stdout, first.stdout);
    assert_ne!(support::tpuc_with(&["cache"], &env).stdout, kept);
}
