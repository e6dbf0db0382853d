//! The command line: names, options and help texts.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tpuc_compiler::passes::{Pass, REGISTRY};

#[derive(Debug, Parser)]
#[command(
    name = "tpuc",
    about = "Compiles and runs .tl programs: shapes checked before anything runs, readable StableHLO, PJRT devices",
    disable_version_flag = true,
    after_help = "Examples:\n  \
        tpuc run examples/mnist.tl                         train on the CPU\n  \
        tpuc run examples/mnist.tl --set EPOCHS=1          with another constant\n  \
        tpuc check model.tl                                types and shapes only\n  \
        tpuc dump-hlo model.tl --fn step                   the StableHLO of one function\n  \
        tpuc dump-hlo model.tl -o step.mlir --fn step      into a file\n  \
        tpuc dump-hlo model.tl --fn step --check step.mlir fail if it has changed\n  \
        tpuc compile model.tl --target v6e:2x2             does it fit a TPU, and what will it cost\n  \
        tpuc devices                                       what programs can run on here\n\n\
        Exit codes: 0 success, 1 errors in the program, 2 run-time and environment errors, 64 usage,\n\
        130 and 143 interrupted by Ctrl-C or SIGTERM."
)]
pub struct Cli {
    /// Print the version of tpuc and of its native parts.
    #[arg(long, short = 'V')]
    pub version: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program's `main`.
    Run(RunArgs),
    /// Check a program: every error and warning of the file, in order.
    Check(CheckArgs),
    /// Print what a program becomes, at any stage.
    DumpHlo(DumpArgs),
    /// Compile a program for TPUs that are not here: whether it fits, how long it takes, what it costs.
    Compile(CompileArgs),
    /// Fetch the plugin of a device.
    Setup {
        #[arg(value_parser = ["tpu", "cuda"])]
        device: String,
    },
    /// Compare two programs, or one at two settings: what differs once they are optimised, values matched up.
    Diff(DiffArgs),
    /// Show the devices that programs can run on, and where their plugins were looked for.
    Devices(DevicesArgs),
    /// Time this machine's CPU, beside the figures of the optimiser's cost model.
    Calibrate,
    /// Run the `test` blocks of a file, or of all .tl files under a folder.
    Test(TestArgs),
    /// Format programs in the one style.
    Fmt(FmtArgs),
    /// Compare a function's derivative with finite differences, in f64.
    GradCheck(GradCheckArgs),
    /// Show the signatures and descriptions of the standard library.
    Doc(DocArgs),
    /// Show where compiled programs are kept and how much they take, or remove them.
    Cache {
        #[arg(value_parser = ["clear"])]
        action: Option<String>,
    },
    /// Print the completion script of a shell.
    Completions {
        /// Such as bash or zsh.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, for `man`.
    Man,
    /// Explain an error code.
    Explain {
        /// Such as E0302.
        code: String,
    },
}

/// What changes how a program is compiled.
#[derive(Debug, Args, Clone)]
pub struct ProgramArgs {
    /// Give a top-level `const` another value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_value)]
    pub set: Vec<(String, String)>,
    /// Sizes of the axes of the device mesh, such as data=2,model=2: those of the program's `mesh`, or all of it if it
    /// has none.
    #[arg(long, value_name = "NAME=N,…", value_delimiter = ',', value_parser = axis_size)]
    pub mesh: Vec<(String, i64)>,
    /// 0: no rewrites; 1: those that keep every bit, and harmless regroupings; 2: all.
    #[arg(long, value_name = "LEVEL", default_value = "1", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub opt: u8,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    pub file: PathBuf,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// cpu, cpu:N, tpu, cuda, rocm, or the path of a PJRT plugin [default: $TPUC_PLUGIN, else cpu].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Where the arithmetic is done: a PJRT device, or the reference interpreter (slow).
    #[arg(long, value_enum, default_value_t = BackendName::Pjrt)]
    pub backend: BackendName,
    /// Say what the optimiser did, and why each value became what it did, on the error stream.
    #[arg(long)]
    pub explain_opt: bool,
    /// Compile everything anew, and keep nothing on disk.
    #[arg(long)]
    pub no_cache: bool,
    /// Take what `tpuc compile -o DIR` compiled, where it has it.
    #[arg(long, value_name = "DIR")]
    pub executables: Option<PathBuf>,
    /// Stop at the first operation that makes a NaN or an infinity, and show its operands. As --opt 0.
    #[arg(long)]
    pub check_finite: bool,
    /// Measure where the time goes: a summary on the error stream, and DIR/trace.json for Chrome or Perfetto.
    #[arg(long, value_name = "DIR", conflicts_with = "check_finite")]
    pub profile: Option<PathBuf>,
    /// Write what `log(step, …)` gives into this folder: metrics.jsonl, and an event file for TensorBoard.
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,
    /// Say of each program whether it was compiled, and why.
    #[arg(long, short)]
    pub verbose: bool,
    /// Save the values of `main` in this folder between iterations of its outermost loop that has effects.
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Iterations from one checkpoint to the next.
    #[arg(long, value_name = "N", requires = "checkpoint", default_value_t = 1, value_parser = positive)]
    pub every: usize,
    /// How many checkpoints stay.
    #[arg(long, value_name = "K", requires = "checkpoint", default_value_t = 2, value_parser = positive)]
    pub keep: usize,
    /// Go on from the last checkpoint; from the beginning if there is none.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    #[command(flatten)]
    pub hosts: HostsArgs,
}

/// A run over several hosts: the same command on each, but for `--host`.
#[derive(Debug, Args)]
pub struct HostsArgs {
    /// How many hosts run the program together, each this command. Host 0 prints and saves.
    #[arg(long, value_name = "N", requires_all = ["host", "coordinator"], conflicts_with = "check_finite", value_parser = positive)]
    pub hosts: Option<usize>,
    /// Which of them this is, from 0.
    #[arg(long, value_name = "I", requires = "hosts")]
    pub host: Option<usize>,
    /// An address of host 0, and a free port there, where the hosts meet.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "hosts", value_parser = address)]
    pub coordinator: Option<String>,
    /// How long to wait for the other hosts, at the start and at the end.
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "hosts",
        default_value_t = 300
    )]
    pub join_timeout: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    Pjrt,
    Interp,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    pub file: PathBuf,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// One JSON object a diagnostic, for editors.
    #[arg(long)]
    pub json: bool,
    /// Count warnings as errors.
    #[arg(long, value_name = "WHAT", value_parser = ["warnings"])]
    pub deny: Option<String>,
}

#[derive(Debug, Args)]
pub struct DumpArgs {
    pub file: PathBuf,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Stage::Stablehlo)]
    pub stage: Stage,
    /// Print the IR as this pass leaves it, instead of a stage. `docs/ir.md` says what each does.
    #[arg(long, value_name = "PASS", value_parser = pass(), conflicts_with_all = ["stage", "explain_opt"])]
    pub after: Option<&'static Pass>,
    /// Only this function, at the shapes of its first call from `main` (or as it is, if it has no parameters to infer).
    #[arg(long = "fn", value_name = "NAME")]
    pub function: Option<String>,
    /// Write to a file instead of the terminal.
    #[arg(short, long, value_name = "PATH", conflicts_with_all = ["check", "update"])]
    pub output: Option<PathBuf>,
    /// Compare with a stored dump; print the difference and exit with 1 if there is one.
    #[arg(long, value_name = "PATH")]
    pub check: Option<PathBuf>,
    /// With --check: rewrite the stored dump instead.
    #[arg(long, requires = "check")]
    pub update: bool,
    /// Keep the .tl location of each op in the StableHLO.
    #[arg(long)]
    pub locations: bool,
    /// For the stage `hlo`: the device whose compiler is asked.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Say what the optimiser did, and why each value became what it did, on the error stream.
    #[arg(long)]
    pub explain_opt: bool,
}

/// A pass by its name.
fn pass() -> impl TypedValueParser<Value = &'static Pass> {
    PossibleValuesParser::new(REGISTRY.iter().map(|pass| pass.name)).map(|name| {
        let named = REGISTRY.iter().find(|pass| pass.name == name);
        named.unwrap_or_else(|| unreachable!("{name} is not among its own possible values"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    Tokens,
    Ast,
    Typed,
    /// At concrete shapes, before differentiation: the functions that transforms are applied to.
    Ir,
    /// After all transforms.
    Grad,
    /// After the e-graph optimiser.
    Opt,
    Stablehlo,
    /// What the plugin's compiler makes of it.
    Hlo,
}

#[derive(Debug, Args)]
pub struct CompileArgs {
    pub file: PathBuf,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// The chips, such as v6e:1x1, v6e:2x2, v5e:2x2 or v5p:2x2x1.
    #[arg(long, value_name = "CHIPS")]
    pub target: String,
    /// Not `main` but this function, at the shapes of its first call from `main` (or as it is, if it has no parameters
    /// to infer); may be repeated.
    #[arg(long = "fn", value_name = "NAME")]
    pub functions: Vec<String>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report as a page for people.
    #[arg(long, value_name = "PATH")]
    pub html: Option<PathBuf>,
    /// Keep the executables in this folder, for `tpuc run --executables DIR` on such chips.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What an hour of one chip costs, in dollars [default: the list price].
    #[arg(long, value_name = "USD_PER_CHIP_HOUR", value_parser = price)]
    pub price: Option<f64>,
    /// The compiler, if not that of `tpuc setup tpu`: the path of a PJRT plugin.
    #[arg(long, value_name = "PATH")]
    pub plugin: Option<String>,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The program as it was.
    pub old: PathBuf,
    /// The program as it is [default: the same file, for --old-opt and --old-set].
    pub new: Option<PathBuf>,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// The level at which OLD is optimised, if it is another.
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub old_opt: Option<u8>,
    /// As --set, for OLD only.
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_value)]
    pub old_set: Vec<(String, String)>,
    /// Only this function, at the shapes of its first call from `main` (or as it is, if it has no parameters to infer).
    #[arg(long = "fn", value_name = "NAME")]
    pub function: Option<String>,
}

#[derive(Debug, Args)]
pub struct DevicesArgs {
    #[arg(long)]
    pub json: bool,
    /// Only this device, or the plugin at this path.
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// A file or a folder.
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Only tests whose name contains this.
    #[arg(long)]
    pub filter: Option<String>,
    #[command(flatten)]
    pub program: ProgramArgs,
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    #[arg(long, value_enum, default_value_t = BackendName::Pjrt)]
    pub backend: BackendName,
}

#[derive(Debug, Args)]
pub struct GradCheckArgs {
    pub file: PathBuf,
    /// The function, at the shapes of its first call from `main`, or as it is if nothing is to be inferred.
    #[arg(long = "fn", value_name = "NAME")]
    pub function: String,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Of the random inputs and weights.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct DocArgs {
    /// `std` for all of it, a module such as `optim`, or a function such as `optim.adam`.
    #[arg(default_value = "std")]
    pub what: String,
}

#[derive(Debug, Args)]
pub struct FmtArgs {
    /// Files to rewrite in place; `-` reads the standard input and writes the standard output.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not in the style.
    #[arg(long)]
    pub check: bool,
}

fn axis_size(text: &str) -> Result<(String, i64), String> {
    let (name, size) = name_value(text).map_err(|_| "expected NAME=NUMBER".to_string())?;
    match size.parse() {
        Ok(size) if (1..=1 << 20).contains(&size) => Ok((name, size)),
        _ => Err(format!("`{size}` is no number of devices")),
    }
}

/// An address with a port. Whether there is such a host only the network tells.
fn address(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0) => {
            Ok(text.into())
        }
        _ => Err("expected an address and a port, such as 10.0.0.1:8476".into()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("expected a number, at least 1".into()),
    }
}

fn price(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(price) if f64::is_finite(price) && price >= 0.0 => Ok(price),
        _ => Err("expected dollars, such as 2.70".into()),
    }
}

fn name_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().into(), value.trim().into()))
        }
        _ => Err("expected NAME=VALUE".into()),
    }
}
