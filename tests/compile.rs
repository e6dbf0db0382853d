//! Programs compiled for TPUs that are not here, by the real compiler: what is reported, against what can be counted
//! by hand.

mod support;

use serde_json::{Value, json};
use std::fs;
use std::sync::Once;
use support::{Run, expect, program, tpuc};

/// The compiler is fetched once; where it is, nothing is downloaded.
fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let run = tpuc(&["setup", "tpu"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    });
}

fn compile(options: &[&str]) -> Run {
    set_up();
    let mut args = vec!["compile"];
    args.extend(options);
    tpuc(&args)
}

fn report(options: &[&str]) -> Value {
    let run = compile(&[options, &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("the report is JSON")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(found: &Value, expected: f64, relative: f64) {
    let found = number(found);
    let off = (found - expected).abs() / expected;
    assert!(off <= relative, "{found}, not {expected}");
}

#[test]
fn mnist_is_sized_timed_and_priced() {
    let report = report(&["examples/mnist.tl", "--target", "v6e:2x2", "--price", "0.9"]);
    let chips = (&report["target"]["chips"], &report["target"]["chips_used"]);
    assert_eq!(chips, (&4.into(), &1.into()));
    close(&report["target"]["memory"], 32e9, 0.06);
    let training = &report["programs"][1];
    assert_eq!(
        (&training["outcome"], &training["runs"]),
        (&"fits".into(), &5.into())
    );

    // Two layers forward; backward, both for the weights and the second for its input; then both evaluations.
    let (first, second) = (2.0 * 784.0 * 256.0, 2.0 * 256.0 * 10.0);
    let steps = 468.0 * 128.0 * (2.0 * first + 3.0 * second);
    let evaluations = 70_000.0 * (first + second);
    close(
        &training["work"]["product_flops"],
        steps + evaluations,
        1e-3,
    );
    assert_eq!(training["time"]["loops"][0]["count"], 468);
    assert_eq!(training["work"]["loops_of_unknown_count"], 0);

    // A product is of the line that it stands in, and not of that which ends the fusion around it.
    let listed = training["unfilled"].as_array().expect("a list");
    let wide = listed.iter().find(|p| p["inner"] == 784);
    let source = wide.expect("784 is no multiple of 128")["source"].as_str();
    assert!(
        source.is_some_and(|line| line.contains("x @ p.w1")),
        "{wide:?}"
    );

    // What it needs is at least its data, which stays as narrow as it was read, and the data is named.
    let memory = &training["memory"];
    assert!(number(&memory["needed"]) >= 70_000.0 * 784.0);
    let largest = &memory["largest"][0];
    assert_eq!(
        (&largest["role"], &largest["shape"]),
        (&"argument".into(), &"u8[60000, 28, 28]".into())
    );
    let source = largest["source"].as_str().unwrap_or_default();
    assert_eq!(source, "let d = dataset(\"mnist\");");

    // A dollar buys a thousand seconds of four chips at this price.
    let run = &report["run"];
    close(&run["dollars"], number(&run["seconds"]) / 1000.0, 1e-9);
    let epoch = &run["epochs"][0];
    assert_eq!(
        (&epoch["place"], &epoch["count"]),
        (&"examples/mnist.tl:59".into(), &5.into())
    );
    close(
        &epoch["seconds"],
        number(&training["time"]["seconds"]),
        1e-9,
    );
}

#[test]
fn programs_with_a_mesh_are_compiled_for_all_chips() {
    let mesh = ["--target", "v6e:2x2", "--mesh", "data=2,model=2"];
    for file in ["tests/devices/mlp.tl", "tests/devices/attention.tl"] {
        let report = report(&[&[file], mesh.as_slice()].concat());
        assert_eq!(report["target"]["chips_used"], 4);
        let programs = report["programs"].as_array().expect("a list");
        let sent = programs
            .iter()
            .flat_map(|p| p["collectives"].as_array().into_iter().flatten());
        let kinds: Vec<&str> = sent.filter_map(|c| c["kind"].as_str()).collect();
        assert!(kinds.contains(&"all-reduce"), "{file}: {kinds:?}");
        // What is distributed still knows its lines: the shares of the time without one are small.
        let in_lines = |list: &Value, key: &str| -> f64 {
            let all = list.as_array().into_iter().flatten();
            all.filter(|one| one["place"].is_string())
                .map(|one| number(&one[key]))
                .sum()
        };
        let training = programs.iter().find(|p| p["collectives"][0].is_object());
        let training = training.expect("one sends something");
        let share = in_lines(&training["time"]["hottest"], "share");
        assert!(share > 0.5, "{file}: {share} of the time has a line");
        for product in training["unfilled"].as_array().expect("a list") {
            assert!(product["place"].is_string(), "{file}: {product}");
        }
    }
}

#[test]
fn the_transformer_fits_four_chips_and_its_page_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let page = folder.path().join("report.html");
    let kept = folder.path().join("executables");
    let run = compile(&[
        "examples/transformer_block.tl",
        "--target",
        "v6e:2x2",
        "--html",
        &page.display().to_string(),
        "-o",
        &kept.display().to_string(),
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("the program's mesh uses 1 of them"),
        "{}",
        run.stdout
    );
    for part in [
        "  fits  ",
        "  work  ",
        "  time  ",
        "% of the roofline",
        "run: ",
    ] {
        assert!(run.stdout.contains(part), "no `{part}` in\n{}", run.stdout);
    }
    let html = fs::read_to_string(page).expect("the page was written");
    assert!(html.starts_with("<!doctype html>") && html.contains("transformer_block.tl"));
    let executables = fs::read_dir(kept).expect("the folder was made").count();
    assert!(executables > 0);
}

#[test]
fn what_does_not_fit_names_what_is_too_large() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("large.tl");
    let text = "main {\n    let w = iota(0, [131072, 131072], f32);\n    print(sum(w));\n    print(sum(w * w + w));\n    print(w[0, 0]);\n}\n";
    let text = text.replace(
        "iota(0, [131072, 131072], f32)",
        "normal(key(0), [131072, 131072])",
    );
    fs::write(&path, text).expect("the folder can be written");
    let run = compile(&[&path.display().to_string(), "--target", "v6e:1x1"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(run.stderr.contains("error[E0732]"), "{}", run.stderr);
    assert!(run.stdout.contains("DOES NOT FIT"), "{}", run.stdout);
}

#[test]
fn nothing_to_run_takes_no_time_and_no_money() {
    let (_dir, path) = program("main { }");
    let found = report(&[&path, "--target", "v6e:1x1"]);
    assert_eq!(found["programs"], json!([]));
    for figure in ["seconds", "dollars"] {
        assert_eq!(number(&found["run"][figure]).to_bits(), 0f64.to_bits());
    }
}

#[test]
fn executables_of_other_chips_say_so() {
    let (dir, path) = program("main { let x = normal(key(0), [4]); print(sum(x) > 100.0); }");
    let folder = dir.path().join("executables").display().to_string();
    assert_eq!(
        compile(&[&path, "--target", "v6e:1x1", "-o", &folder]).code,
        0
    );
    let run = tpuc(&["run", &path, "--executables", &folder]);
    expect(
        &run,
        2,
        &["error[E0731]", "`--executables`", "other devices"],
    );
}

#[test]
fn unknown_chips_and_plugins_are_errors() {
    let small = "examples/linear_regression.tl";
    let run = compile(&[small, "--target", "v6e-4"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("error[E0819]: the plugin knows no devices `v6e-4`"),
        "{}",
        run.stderr
    );
    let run = compile(&[small, "--target", "v6e:1x1", "--plugin", "/no/such.so"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("error[E0802]"), "{}", run.stderr);
    // A side without chips would end the process inside of the library.
    let run = compile(&[small, "--target", "v6e:0x0"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("`v6e:0x0`: each side has a number of chips, at least 1"),
        "{}",
        run.stderr
    );
    let run = compile(&[small, "--target", "v6e:1x1", "--price", "-1"]);
    assert_eq!(run.code, 64);
}

/// Ranks from 0, the mean of their places for equal values.
fn ranks(values: &[f64]) -> Vec<f64> {
    let place = |x: &f64| {
        let below = values.iter().filter(|v| *v < x).count();
        let equal = values.iter().filter(|v| *v == x).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(place).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let along = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum()
    };
    along(&|x, y| x * y) / (along(&|x, _| x * x) * along(&|_, y| y * y)).sqrt()
}

/// The compiler's analysis is the same on every run, so the ranks are. It counts traffic alone, that within the chip
/// too, and loops once.
#[test]
fn the_optimisers_model_ranks_programs_as_the_tpu_compiler_does() {
    let file = "bench/optimiser.tl";
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the programs are there");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("fn ")?.split(['(', '[']).next())
        .collect();
    let (mut modelled, mut expected, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for level in ["0", "2"] {
        let mut args = vec![file, "--target", "v6e:1x1", "--opt", level];
        args.extend(names.iter().flat_map(|name| ["--fn", name]));
        let report = report(&args);
        for program in report["programs"].as_array().expect("a list") {
            let loops = program["time"]["loops"].as_array().map_or(0, Vec::len);
            let (bytes, time) = (&program["compiler_bytes"], &program["compiler_seconds"]);
            if loops == 0 && !bytes.is_null() && !time.is_null() {
                modelled.push(number(&program["model_bytes"]));
                expected.push(number(bytes));
                seconds.push((number(&program["model_seconds"]), number(time)));
            }
        }
    }
    assert!(modelled.len() >= 60, "{} variants", modelled.len());
    let traffic = correlation(&ranks(&modelled), &ranks(&expected));
    let (model, compiler): (Vec<f64>, Vec<f64>) = seconds.into_iter().unzip();
    let time = correlation(&ranks(&model), &ranks(&compiler));
    println!(
        "{} variants: {traffic:.2} of traffic, {time:.2} of times",
        modelled.len()
    );
    assert!(traffic > 0.5 && time > 0.45, "{traffic} {time}");
}
