//! `tpuc test`: the `test` blocks of files.

use crate::cli::TestArgs;
use crate::costs;
use crate::execute::mesh;
use crate::failure::Failure;
use crate::job::{How, Job};
use crate::pipeline;
use crate::program_file;
use crate::progress::Progress;
use crate::target::{At, Target};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tpuc_runtime::Surroundings;

pub fn test(args: &TestArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let progress = Progress::new();
    let (mut passed, mut failed) = (0, 0);
    let mut worst = 0;
    for file in files(&args.path)? {
        let (mut program, sources) = match program_file::load(&file, &args.program, &around) {
            Ok(loaded) => loaded,
            // The other files have their tests none the less.
            Err(failure) => {
                eprint!("{failure}");
                println!("{}: has errors", file.display());
                failed += 1;
                worst = worst.max(failure.exit_code());
                continue;
            }
        };
        let costs = costs::chosen(args.device.as_deref(), &around)?;
        let at = At::device(args.device.as_deref());
        let target = Target::open(&mut program, args.backend, at, &around)?;
        for test in &program.tests {
            if args.filter.as_ref().is_some_and(|f| !test.name.contains(f)) {
                continue;
            }
            let result = pipeline::script(&program, &test.name, &test.body)
                .map_err(|d| program_file::report(*d, &sources))
                .and_then(|(script, _)| {
                    let axes = mesh::axes(&program);
                    let plan = pipeline::plan(&script, axes, args.program.opt, costs, None);
                    let how = How {
                        cached: true,
                        ..How::default()
                    };
                    Job {
                        plan: &plan,
                        sources: &sources,
                        target: &target,
                        costs,
                        how,
                        around: &around,
                        progress: &progress,
                    }
                    .execute()
                });
            match result {
                Ok(()) => {
                    passed += 1;
                    println!("test {} ... ok", test.name);
                }
                Err(e) => {
                    failed += 1;
                    println!("test {} ... FAILED", test.name);
                    eprint!("{e}");
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    match (failed, worst) {
        (0, _) => Ok(()),
        (_, 0 | 1) => Err(Failure::Program),
        _ => Err(Failure::Said),
    }
}

/// The file, or all `.tl` files under the folder, sorted.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    // Links may lead back to a folder above them.
    let mut seen = HashSet::new();
    while let Some(folder) = folders.pop() {
        if !folder.canonicalize().is_ok_and(|own| seen.insert(own)) {
            continue;
        }
        let entries = std::fs::read_dir(&folder).map_err(|e| {
            Failure::runtime(
                "E0901",
                format!("cannot read `{}`: {e}", folder.display()),
                None,
            )
        })?;
        for entry in entries.flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if path.is_dir() && !hidden {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "tl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
