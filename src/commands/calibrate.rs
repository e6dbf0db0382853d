//! `tpuc calibrate`: what this machine's CPU reaches, beside the figures that the optimiser's model of a CPU has.
//!
//! Only a report: choices that depended on the machine would make other programs of one source.

use crate::execute::device::compile_options;
use crate::failure::Failure;
use crate::loader::DiskLoader;
use crate::pipeline;
use crate::program_file;
use crate::target::{At, client, version_text};
use std::path::Path;
use std::time::Instant;
use tpuc_compiler::opt::cost::device::CPU;
use tpuc_compiler::plan::Plan;
use tpuc_lang::check::{self, Options};
use tpuc_runtime::Surroundings;
use tpuc_runtime::client::{Buffer, Executable, Input};

const PROGRAM: &str = include_str!("calibrate.tl");

/// Calls of each program; the fastest counts.
const CALLS: usize = 9;

/// One figure: the program that is timed, the result of `data` that it takes, what it does in one call, and the figure of the
/// model, both in the unit.
struct Figure {
    name: &'static str,
    takes: usize,
    work: f64,
    model: f64,
    unit: &'static str,
}

const PRODUCT: f64 = 2.0 * 512.0 * 512.0 * 512.0;

const FIGURES: [Figure; 6] = [
    Figure {
        name: "matrix_f32",
        takes: 0,
        work: PRODUCT,
        model: CPU.matrix_f32,
        unit: "GFLOP/s",
    },
    Figure {
        name: "matrix_half",
        takes: 1,
        work: PRODUCT,
        model: CPU.matrix_half,
        unit: "GFLOP/s",
    },
    Figure {
        name: "matrix_other",
        takes: 2,
        work: PRODUCT,
        model: CPU.matrix_other,
        unit: "GFLOP/s",
    },
    Figure {
        name: "vector",
        takes: 3,
        work: 128.0 * 65536.0,
        model: CPU.vector,
        unit: "GFLOP/s",
    },
    Figure {
        name: "bandwidth",
        takes: 4,
        work: 2.0 * 4.0 * 8_388_608.0,
        model: CPU.bandwidth,
        unit: "GB/s",
    },
    // Kernels a second; printed as the time of one.
    Figure {
        name: "launch",
        takes: 5,
        work: 1000.0,
        model: 1.0 / CPU.launch,
        unit: "ns",
    },
];

pub fn calibrate() -> Result<(), Failure> {
    let around = Surroundings::of_process();
    let loader = DiskLoader::new(Path::new("calibrate.tl"), &around);
    let checked = check::check("calibrate.tl", PROGRAM, &loader, &Options::default());
    let Some(program) = checked.program else {
        program_file::print_diagnostics(&checked.diagnostics, &checked.sources);
        return Err(pipeline::internal("its own programs have errors"));
    };
    let names = ["data"].into_iter().chain(FIGURES.map(|f| f.name));
    let funcs: Result<Vec<_>, Failure> = names
        .map(|name| pipeline::function(&program, name, &checked.sources))
        .collect();
    let plan = Plan::of_programs(funcs?);
    let (client, plugin) = client(At::device(Some("cpu")), &around)?;
    let version = version_text(plugin.stablehlo_version());
    let mut executables = Vec::new();
    for (func, module, signature) in pipeline::modules(&plan, &checked.sources, &[])? {
        let code = module.to_program(&version).map_err(pipeline::internal)?;
        let options = compile_options(&client);
        executables.push(client.compile(&func.name, &code, signature, &options)?);
    }
    let (data, programs) = match executables.split_first() {
        Some((data, programs)) => (data.execute(Vec::new())?, programs),
        None => return Err(pipeline::internal("nothing was compiled")),
    };
    println!("{:<14}{:>12}{:>12}", "", "measured", "the model's");
    for (figure, program) in FIGURES.iter().zip(programs) {
        let seconds = fastest(program, &data[figure.takes])?;
        let shown = |rate: f64| match figure.unit {
            "ns" => 1e9 / rate,
            _ => rate / 1e9,
        };
        println!(
            "{:<14}{:>12.1}{:>12.1} {}",
            figure.name,
            shown(figure.work / seconds),
            shown(figure.model),
            figure.unit
        );
    }
    Ok(())
}

/// Seconds of the fastest call.
fn fastest(program: &Executable, input: &Buffer) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..CALLS {
        let start = Instant::now();
        for result in program.execute(vec![Input::Keep(input)])? {
            result.wait()?;
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
