//! What is said of a program that was compiled ahead of time: the data, as `--json` prints it.
//!
//! Sizes are bytes on one chip, times seconds, work floating-point operations on one chip; places are `file:line`.

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub file: String,
    pub target: Target,
    pub programs: Vec<Program>,
    /// Of a run of `main`; absent where the chip's figures are not known, or a program does not fit.
    pub run: Option<Run>,
}

/// What is compiled for.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Such as `v6e:2x2`.
    pub name: String,
    /// The compiler's name for a chip.
    pub kind: String,
    pub chips: usize,
    /// How many of them the program's mesh uses.
    pub chips_used: usize,
    /// Of one chip; absent where the compiler does not say.
    pub memory: Option<u64>,
    /// Where the chip's rates come from.
    pub rates: Option<String>,
}

/// One of the programs that `main` is cut into at its effects.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    pub name: String,
    pub place: Option<String>,
    /// In one run of `main`; more where a `while` runs it more than once.
    pub runs: u64,
    pub runs_at_least: bool,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Fits(Box<Details>),
    /// The compiler's words, and the arguments as far as they explain it.
    DoesNotFit {
        message: String,
        largest: Vec<Holding>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct Details {
    pub memory: Memory,
    pub work: Work,
    /// Absent where the chip's figures are not known.
    pub time: Option<Time>,
    /// What the compiler itself expects of one run, in seconds, loops counted once; absent where it does not know.
    pub compiler_seconds: Option<f64>,
    /// The bytes that the compiler counts, those within the chip too, loops counted once.
    pub compiler_bytes: Option<f64>,
    /// What the optimiser's model expects of one run, by which it chose. Absent where the chip's figures are not known.
    pub model_seconds: Option<f64>,
    /// The bytes by the same model.
    pub model_bytes: Option<u64>,
    pub collectives: Vec<Collective>,
    /// Matrix products that leave part of the matrix unit empty, the dearest first.
    pub unfilled: Vec<Unfilled>,
    pub precision: Precision,
}

#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    pub arguments: u64,
    pub outputs: u64,
    /// The part of the outputs that takes the place of arguments.
    pub aliased: u64,
    pub temporaries: u64,
    pub code: u64,
    /// All together.
    pub needed: u64,
    /// What tiles add to the arguments: bytes that hold nothing.
    pub padding: u64,
    pub largest: Vec<Holding>,
}

/// What holds memory.
#[derive(Clone, Debug, Serialize)]
pub struct Holding {
    pub bytes: u64,
    /// `argument`, `result` or `temporary`.
    pub role: &'static str,
    /// Its type, as the language writes it.
    pub shape: String,
    pub place: Option<String>,
    /// The source there.
    pub source: Option<String>,
}

/// Arithmetic and traffic of one run, loops unfolded.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    pub flops: f64,
    /// The part of them in matrix products.
    pub product_flops: f64,
    /// Through the main memory.
    pub bytes: f64,
    /// Loops whose count the compiler does not tell, which count once.
    pub loops_of_unknown_count: usize,
}

/// An estimate of one run: a roofline over each kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Time {
    pub seconds: f64,
    pub compute: f64,
    pub memory: f64,
    pub interconnect: f64,
    pub launch: f64,
    /// `compute`, `memory`, `interconnect` or `latency`.
    pub bound: &'static str,
    /// The longest of compute, memory and interconnect, as a part of the seconds: 1 is the roofline.
    pub of_roofline: f64,
    pub loops: Vec<Loop>,
    pub hottest: Vec<Hot>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    pub place: Option<String>,
    /// Absent where it is not known.
    pub count: Option<u64>,
    pub seconds_a_turn: f64,
}

/// Where the time goes.
#[derive(Clone, Debug, Serialize)]
pub struct Hot {
    pub place: Option<String>,
    pub source: Option<String>,
    /// Of one run of the program.
    pub seconds: f64,
    pub share: f64,
    pub bound: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct Collective {
    pub kind: &'static str,
    /// In one run, loops unfolded.
    pub count: f64,
    pub bytes: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Unfilled {
    pub place: Option<String>,
    pub source: Option<String>,
    pub rows: u64,
    pub inner: u64,
    pub columns: u64,
    /// The useful part of the unit's work.
    pub fill: f64,
    /// Of the program's product flops.
    pub share: f64,
}

/// bf16 against f32.
#[derive(Clone, Debug, Serialize)]
pub struct Precision {
    /// Of the product flops: those with bf16 operands, with f32 operands in one bf16 pass, and in several.
    pub products_bf16: f64,
    pub products_f32_one_pass: f64,
    pub products_f32_several_passes: f64,
    /// Of the arguments, what is f32: half of it would go with bf16.
    pub arguments_f32: u64,
}

/// A run of `main`, and what it costs.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub seconds: f64,
    /// Whether it may be longer: a loop of unknown count counts once.
    pub at_least: bool,
    pub dollars: f64,
    pub price_per_chip_hour: f64,
    pub price_source: String,
    /// The loops of `main` that the host walks: an epoch, as a rule.
    pub epochs: Vec<Epoch>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Epoch {
    pub place: String,
    pub count: usize,
    pub seconds: f64,
    pub dollars: f64,
}
