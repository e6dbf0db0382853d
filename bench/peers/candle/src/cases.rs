//! One function a case, each with the numbers of its `program.tl`.

use candle_core::{D, DType, Device, IndexOp, Result, Tensor, Var};
use candle_nn::Optimizer;
use candle_nn::loss::cross_entropy;

use crate::training::{Params, data};
use crate::{Start, laps};

pub fn find(name: &str) -> Option<fn(Start) -> Result<()>> {
    Some(match name {
        "char_rnn" => char_rnn,
        "elementwise" => elementwise,
        "kmeans" => kmeans,
        "logistic" => logistic,
        "matrix_chain" => matrix_chain,
        "mlp_wide" => mlp_wide,
        "mnist" => mnist,
        _ => return None,
    })
}

/// The letters' embeddings and the logits stand outside the loop.
fn char_rnn(mut start: Start) -> Result<()> {
    let params = Params::take(&mut start)?;
    let letters = data(&start, 0)?.to_dtype(DType::U32)?;
    let (t, batch) = letters.dims2()?;
    let (embed, w) = (params.get("embed")?, params.get("w")?);
    let read = letters.i(..t - 1)?.flatten_all()?;
    let following = letters.i(1..)?.flatten_all()?;
    let mut adam = params.adam(1e-3)?;
    laps(4, 5, "loss", |_| {
        let inputs = embed
            .index_select(&read, 0)?
            .broadcast_add(params.get("b")?)?
            .reshape((t - 1, batch, ()))?;
        let mut h = Tensor::zeros((batch, w.dim(0)?), DType::F32, &Device::Cpu)?;
        let mut states = Vec::with_capacity(t - 1);
        for i in 0..t - 1 {
            h = (inputs.i(i)? + h.matmul(w)?)?.tanh()?;
            states.push(h.clone());
        }
        let logits = Tensor::cat(&states, 0)?.matmul(params.get("out")?)?;
        let loss = cross_entropy(&logits, &following)?;
        adam.backward_step(&loss)?;
        Ok(loss)
    })
}

fn elementwise(start: Start) -> Result<()> {
    fn ten(x: &Tensor) -> Result<Tensor> {
        let a = x.affine(0.9, 0.05)?;
        let b = (a.tanh()? - ((&a * &a)? * 0.1)?)?;
        let c = b.maximum(&(&b * 0.01)?)?;
        &c / (c.abs()? + 1.0)?
    }
    let mut x = data(&start, 0)?;
    drop(start);
    let steps = 4;
    laps(4, steps, "mean", |i| {
        x = ten(&ten(&ten(&ten(&x)?)?)?)?;
        if i % steps == steps - 1 {
            // In rows: Candle adds all numbers one after the other, and ten million are too many for that.
            x.reshape(((), 4000))?.mean(1)?.mean_all()
        } else {
            Tensor::zeros((), DType::F32, &Device::Cpu)
        }
    })
}

fn kmeans(start: Start) -> Result<()> {
    let (x, mut c) = (data(&start, 0)?, data(&start, 1)?);
    let k = c.dim(0)?;
    let ones = Tensor::ones(x.dim(0)?, DType::F32, &Device::Cpu)?;
    laps(4, 5, "inertia", |_| {
        let distances = x
            .sqr()?
            .sum_keepdim(1)?
            .broadcast_sub(&(x.matmul(&c.t()?)? * 2.0)?)?;
        let distances = distances.broadcast_add(&c.sqr()?.sum(1)?)?;
        let nearest = distances.argmin(1)?;
        let count = Tensor::zeros(k, DType::F32, &Device::Cpu)?
            .index_add(&nearest, &ones, 0)?
            .unsqueeze(1)?;
        let sums = c.zeros_like()?.index_add(&nearest, &x, 0)?;
        let means = sums.broadcast_div(&count.maximum(1.0)?)?;
        c = count
            .gt(0.0)?
            .broadcast_as(c.shape())?
            .where_cond(&means, &c)?;
        distances.min(1)?.mean_all()
    })
}

fn logistic(start: Start) -> Result<()> {
    let (w, x, y) = (
        Var::from_tensor(&data(&start, 0)?.unsqueeze(1)?)?,
        data(&start, 1)?,
        data(&start, 2)?,
    );
    laps(4, 10, "loss", |_| {
        let z = x.matmul(&w)?.squeeze(1)?;
        // softplus, written so that nothing overflows.
        let softplus = (z.relu()? + (z.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
        let loss = (softplus - (&y * &z)?)?.mean_all()?;
        if let Some(g) = loss.backward()?.get(&w) {
            w.set(&(w.as_tensor() - g)?)?;
        }
        Ok(loss)
    })
}

fn matrix_chain(start: Start) -> Result<()> {
    let (a, b, c) = (data(&start, 0)?, data(&start, 1)?, data(&start, 2)?);
    let mut v = data(&start, 3)?.unsqueeze(1)?;
    laps(4, 20, "norm", |_| {
        let w = a.matmul(&b)?.matmul(&c)?.matmul(&v)?;
        v = w.broadcast_div(&w.sqr()?.sum_all()?.sqrt()?)?;
        v.sum_all()
    })
}

fn mlp_wide(mut start: Start) -> Result<()> {
    let params = Params::take(&mut start)?;
    let (x, y) = (data(&start, 0)?, data(&start, 1)?.to_dtype(DType::U32)?);
    let mut adam = params.adam(1e-4)?;
    laps(4, 2, "loss", |_| {
        let h = params.dense("w1", "b1", &x)?.relu()?;
        let h = params.dense("w2", "b2", &h)?.relu()?;
        let loss = cross_entropy(&params.dense("w3", "b3", &h)?, &y)?;
        adam.backward_step(&loss)?;
        Ok(loss)
    })
}

fn mnist(mut start: Start) -> Result<()> {
    const BATCH: usize = 128;
    let params = Params::take(&mut start)?;
    let pixels = |place| data(&start, place)?.to_dtype(DType::F32)? / 255.0;
    let labels = |place| data(&start, place)?.to_dtype(DType::U32);
    let (x, y, x_test, y_test) = (pixels(0)?, labels(1)?, pixels(2)?, labels(3)?);
    let orders = data(&start, 4)?;
    drop(start);

    let forward = |x: &Tensor| params.dense("w2", "b2", &params.dense("w1", "b1", x)?.relu()?);
    let accuracy = |x: &Tensor, y: &Tensor| {
        forward(x)?
            .argmax(D::Minus1)?
            .eq(y)?
            .to_dtype(DType::F32)?
            .mean_all()?
            .to_scalar::<f32>()
    };
    let mut adam = params.adam(1e-3)?;
    let (epochs, images) = orders.dims2()?;
    for epoch in 0..epochs {
        let order = orders.i(epoch)?;
        let mut sum = 0.0;
        let steps = images / BATCH;
        for i in 0..steps {
            let batch = order.narrow(0, i * BATCH, BATCH)?;
            let loss = cross_entropy(
                &forward(&x.index_select(&batch, 0)?)?,
                &y.index_select(&batch, 0)?,
            )?;
            adam.backward_step(&loss)?;
            sum += loss.to_scalar::<f32>()?;
        }
        let (train, test) = (accuracy(&x, &y)?, accuracy(&x_test, &y_test)?);
        let loss = sum / steps as f32;
        println!(
            "epoch {}/{epochs}  loss={loss:.4}  train_acc={train:.4}  test_acc={test:.4}",
            epoch + 1
        );
    }
    Ok(())
}
