//! What the tests of devices share: the CPU plugin of the set-up, and small programs.

#![allow(dead_code)] // Each test file uses a part of it.

pub mod files;

use std::fs;
use std::path::Path;

use tpuc_runtime::client::{Client, ClientOptions, CompileOptions, Executable, Signature};
use tpuc_runtime::data::{self, Contents};
use tpuc_runtime::host::{DType, HostArray, TensorSpec};
use tpuc_runtime::plugin::{Device, Plugin};
use tpuc_runtime::{Error, Surroundings};

/// The CPU plugin of `.deps`. A missing one fails the test: without it nothing is tested.
pub fn cpu_plugin() -> Plugin {
    let device = Device::Cpu { count: 1 };
    match Plugin::open(&device, &Surroundings::of_process()) {
        Ok(plugin) => plugin,
        Err(error) => panic!("no CPU plugin ({error}): run `make setup` first"),
    }
}

pub fn cpu() -> Client {
    Client::new(&cpu_plugin(), ClientOptions::default()).expect("the CPU plugin starts")
}

pub fn f32s(shape: impl Into<Vec<usize>>) -> TensorSpec {
    TensorSpec::new(DType::F32, shape)
}

pub fn i32s(shape: impl Into<Vec<usize>>) -> TensorSpec {
    TensorSpec::new(DType::I32, shape)
}

pub fn signature(inputs: &[TensorSpec], outputs: &[TensorSpec], donated: &[usize]) -> Signature {
    Signature {
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        donated: donated.to_vec(),
        placed: None,
    }
}

pub fn compile(client: &Client, code: &str, signature: Signature) -> Executable {
    client
        .compile(
            "test",
            code.as_bytes(),
            signature,
            &CompileOptions::default(),
        )
        .expect("the program compiles")
}

/// `x + y`, element by element, over `f32[4]`; the first argument is donated.
pub const ADD: &str = r#"
module @add {
  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>)
      -> tensor<4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"#;

pub fn add_signature() -> Signature {
    signature(&[f32s([4]), f32s([4])], &[f32s([4])], &[0])
}

/// Writes the files of a table, each a line of a name and the contents in hexadecimal; gives their names.
pub fn unpack<'a>(table: &'a str, folder: &Path) -> Vec<&'a str> {
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).unwrap();
        u8::from_str_radix(digits, 16).unwrap()
    };
    let files = table.lines().map(|line| line.split_once(' ').unwrap());
    files
        .map(|(name, hex)| {
            let bytes: Vec<u8> = hex.as_bytes().chunks(2).map(byte).collect();
            fs::write(folder.join(name), bytes).unwrap();
            name
        })
        .collect()
}

/// The types of a file's arrays, where none is left out.
pub fn describe(path: &Path) -> Result<Contents<TensorSpec>, Error> {
    let found = data::describe(path)?;
    assert_eq!(found.left_out, []);
    Ok(found.contents)
}

/// All arrays of a file.
pub fn read(path: &Path) -> Result<Contents<HostArray>, Error> {
    data::read(path, &|_| true)
}
