//! The composite functions of `tests/gradients.jsonl`, which `scripts/reference/gradients_tl.py` made.

use super::program::function;
use super::safetensors::Tensor;
use serde::Deserialize;
use tpuc_compiler::ir::Func;

#[derive(Clone, Deserialize)]
pub struct Case {
    pub name: String,
    /// The function, then those that it calls.
    pub text: String,
    /// Name, element type, shape.
    pub params: Vec<(String, String, Vec<usize>)>,
    pub inputs: Vec<Vec<Number>>,
    /// Of the value.
    pub shape: Vec<usize>,
    pub cotangent: Vec<Number>,
    /// One for each float parameter, as all that follow.
    pub tangents: Vec<Vec<Number>>,
    pub value: Vec<Number>,
    pub tangent: Option<Vec<Number>>,
    pub gradient: Option<Vec<Vec<Number>>>,
    pub second: Option<Vec<Vec<Number>>>,
}

/// JSON has no infinities and no NaN.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Finite(f64),
    Other(String),
}

impl Number {
    pub fn value(&self) -> f64 {
        match self {
            Number::Finite(x) => *x,
            Number::Other(text) => text.parse().expect("inf, -inf or nan"),
        }
    }
}

pub fn cases() -> Vec<Case> {
    include_str!("../gradients.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect()
}

impl Case {
    pub fn floats(&self) -> impl Iterator<Item = &(String, String, Vec<usize>)> {
        self.params.iter().filter(|p| p.1 == "f32")
    }

    /// Names of the float parameters, with something before each.
    pub fn float_names(&self, prefix: &str) -> Vec<String> {
        self.floats().map(|p| format!("{prefix}{}", p.0)).collect()
    }

    /// The function applied to its float parameters, the others from the file of inputs.
    pub fn call(&self) -> String {
        let name = &self.name;
        let args = self.params.iter().map(|(p, elem, _)| match elem.as_str() {
            "f32" => p.clone(),
            _ => format!("data.{name}_{p}"),
        });
        format!("{name}({})", args.collect::<Vec<_>>().join(", "))
    }

    /// One thing, or a tuple of several.
    pub fn group(list: &[String]) -> String {
        match list {
            [one] => one.clone(),
            _ => format!("({})", list.join(", ")),
        }
    }

    /// `wrt=` for all float parameters.
    pub fn wrt(&self) -> String {
        let places: Vec<String> = (0..self.floats().count()).map(|i| i.to_string()).collect();
        Case::group(&places)
    }

    /// What is differentiated, in the IR: the sum of the result's elements, each times its cotangent, which is the last
    /// input. And which of the inputs are the function's floats.
    pub fn loss(&self) -> (Func, Vec<bool>) {
        let typed = |(name, elem, shape): &(String, String, Vec<usize>)| match shape[..] {
            [] => format!("{name}: {elem}"),
            _ => format!("{name}: {elem}{shape:?}"),
        };
        let mut params: Vec<String> = self.params.iter().map(typed).collect();
        params.push(typed(&("ct".into(), "f32".into(), self.shape.clone())));
        let args: Vec<&str> = self.params.iter().map(|p| p.0.as_str()).collect();
        let text = format!(
            "{}\nfn loss_of_it({}) -> f32 {{ sum({}({}) * ct) }}\n",
            self.text,
            params.join(", "),
            self.name,
            args.join(", ")
        );
        let func = function(&text, "loss_of_it").unwrap_or_else(|e| panic!("{e}"));
        let mut floats: Vec<bool> = self.params.iter().map(|p| p.1 == "f32").collect();
        floats.push(false);
        (func, floats)
    }
}

/// What a program reads as `data`: inputs, tangents and cotangents of each case.
pub fn inputs(cases: &[Case]) -> Vec<Tensor> {
    let tensor = |name: String, elem: &str, shape: &[usize], numbers: &[Number]| Tensor {
        name,
        elem: elem.into(),
        shape: shape.to_vec(),
        numbers: numbers.iter().map(Number::value).collect(),
    };
    let mut out = Vec::new();
    for case in cases {
        let name = &case.name;
        for ((p, elem, shape), x) in case.params.iter().zip(&case.inputs) {
            out.push(tensor(format!("{name}_{p}"), elem, shape, x));
        }
        for ((p, elem, shape), t) in case.floats().zip(&case.tangents) {
            out.push(tensor(format!("{name}_d_{p}"), elem, shape, t));
        }
        out.push(tensor(
            format!("{name}_ct"),
            "f32",
            &case.shape,
            &case.cotangent,
        ));
    }
    out
}
