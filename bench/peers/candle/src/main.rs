//! The benchmark's cases in Candle: `candle-peer CASE START`, where START is the file that the JAX peer wrote.

mod cases;
mod training;

use std::collections::BTreeMap;

use candle_core::{Result, Tensor, bail};

/// What `Cargo.toml` pins.
const VERSION: &str = "candle 0.11.1";

/// Tensors by name: the initial values that all peers share.
pub type Start = BTreeMap<String, Tensor>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--version"] => {
            println!("{VERSION}");
            Ok(())
        }
        [case, file] => {
            let Some(run) = cases::find(case) else {
                bail!("there is no case {case}")
            };
            run(Tensor::read_npz(file)?.into_iter().collect())
        }
        _ => bail!("usage: candle-peer CASE START"),
    }
}

/// `step(i)` gives the figure; `i` counts over all laps, and only the last one's figure of a lap is looked at.
pub fn laps(
    count: usize,
    steps: usize,
    name: &str,
    mut step: impl FnMut(usize) -> Result<Tensor>,
) -> Result<()> {
    for k in 0..count {
        let mut figure = None;
        for i in 0..steps {
            figure = Some(step(k * steps + i)?);
        }
        if let Some(figure) = figure {
            println!(
                "lap {}/{count}  {name}={:.6}",
                k + 1,
                figure.to_scalar::<f32>()?
            );
        }
    }
    Ok(())
}
