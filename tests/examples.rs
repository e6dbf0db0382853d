//! Every example that has an `examples/expected/NAME.txt` prints it, but for some rounding: training multiplies it, and each
//! program asserts what it has to reach.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use support::{close_text, tpuc};

fn main() {
    let args = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/expected");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the expected outputs are in the repository")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no example has an expected output");
    let trials = names.into_iter().map(|name| {
        let expected = folder.join(format!("{name}.txt"));
        Trial::test(name.clone(), move || run(&name, &expected))
    });
    libtest_mimic::run(&args, trials.collect()).exit();
}

fn run(name: &str, expected: &Path) -> Result<(), Failed> {
    let expected = std::fs::read_to_string(expected)?;
    let run = tpuc(&["run", &format!("examples/{name}.tl")]);
    if run.code != 0 || !run.stderr.is_empty() {
        return Err(format!("exit code {}\n{}", run.code, run.stderr).into());
    }
    if !close_text(&expected, &run.stdout, 1e-2, 5e-3) {
        return Err(format!("the output should be\n{expected}and is\n{}", run.stdout).into());
    }
    Ok(())
}
