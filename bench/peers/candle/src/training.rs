//! Parameters that are trained, and Adam.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor, Var, bail};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};

use crate::Start;

pub struct Params(BTreeMap<String, Var>);

impl Params {
    /// Takes what has a name out of `start`; the data, which are numbered, stay.
    pub fn take(start: &mut Start) -> Result<Self> {
        let names: Vec<String> = start
            .keys()
            .filter(|name| name.parse::<usize>().is_err())
            .cloned()
            .collect();
        let mut vars = BTreeMap::new();
        for name in names {
            if let Some(tensor) = start.remove(&name) {
                vars.insert(name, Var::from_tensor(&tensor)?);
            }
        }
        Ok(Params(vars))
    }

    pub fn get(&self, name: &str) -> Result<&Tensor> {
        match self.0.get(name) {
            Some(var) => Ok(var),
            None => bail!("there is no parameter {name}"),
        }
    }

    /// Adam without decay of the weights.
    pub fn adam(&self, lr: f64) -> Result<AdamW> {
        AdamW::new(
            self.0.values().cloned().collect(),
            ParamsAdamW {
                lr,
                weight_decay: 0.0,
                ..Default::default()
            },
        )
    }

    /// `x @ w + b`.
    pub fn dense(&self, w: &str, b: &str, x: &Tensor) -> Result<Tensor> {
        x.matmul(self.get(w)?)?.broadcast_add(self.get(b)?)
    }
}

pub fn data(start: &Start, place: usize) -> Result<Tensor> {
    match start.get(&place.to_string()) {
        Some(tensor) => Ok(tensor.clone()),
        None => bail!("the file has no array {place}"),
    }
}
