//! How long it takes to start a program that does next to nothing and to have its result: microseconds, the median of
//! many rounds. `bench/dispatch.py` runs it beside JAX's `jit` of the same program.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{ADD, add_signature, compile, cpu};
use std::time::Instant;
use tpuc_runtime::client::{Buffer, Input};
use tpuc_runtime::host::HostArray;

const ROUNDS: usize = 21;
const STEPS: usize = 5_000;

fn main() {
    let client = cpu();
    let add = compile(&client, ADD, add_signature());
    let ones = HostArray::from_elements([4], &[1.0f32; 4]).expect("an array");
    let upload = || client.upload(&ones).expect("an upload");
    let y = upload();
    let mut x = upload();
    let step = |x: Buffer| -> Buffer {
        let inputs = vec![Input::Donate(x), Input::Keep(&y)];
        let out = add.execute(inputs).expect("the program runs").remove(0);
        out.wait().expect("it gives a result");
        out
    };
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..STEPS {
            x = step(x);
        }
        times.push(start.elapsed().as_secs_f64() / STEPS as f64 * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!("{:.3}", times[ROUNDS / 2]);
}
