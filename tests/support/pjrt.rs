//! Functions of the IR on the CPU plugin, without the command around them.

use super::scratch;
use tpuc_compiler::ir::{Builder, Func, Type};
use tpuc_compiler::lower::{self, Options};
use tpuc_runtime::Surroundings;
use tpuc_runtime::cache::{Cache, Key};
use tpuc_runtime::client::{
    Buffer, Client, ClientOptions, CompileOptions, Executable, Input, OverrideValue, Signature,
};
use tpuc_runtime::error::Error;
use tpuc_runtime::host::{Bytes, DType, HostArray, TensorSpec};
use tpuc_runtime::plugin::{Device, Plugin};

/// One function that takes all inputs and gives all outputs.
pub fn together(funcs: &[Func]) -> Func {
    let mut b = Builder::new("cases");
    let args: Vec<Vec<_>> = funcs
        .iter()
        .map(|f| f.input_types().into_iter().map(|t| b.param(t)).collect())
        .collect();
    let results = funcs
        .iter()
        .zip(&args)
        .flat_map(|(f, args)| b.inline(f, args))
        .collect();
    b.finish(results)
}

/// The CPU plugin, and the version of StableHLO that it reads.
pub fn cpu() -> (Client, String) {
    let around = Surroundings::of_process();
    let device = Device::choose(Some("cpu"), &around).expect("a device name");
    let plugin = Plugin::open(&device, &around).expect("the CPU plugin");
    let [major, minor, patch] = plugin.stablehlo_version().expect("a StableHLO version");
    let client = Client::new(&plugin, ClientOptions::default()).expect("a client");
    (client, format!("{major}.{minor}.{patch}"))
}

/// Compiles and runs a function; inputs and results are the bits of their elements.
pub fn run(client: &Client, version: &str, func: &Func, inputs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let specs = |types: Vec<Type>| types.iter().map(spec).collect();
    let signature = Signature {
        inputs: specs(func.input_types()),
        outputs: specs(func.output_types()),
        donated: Vec::new(),
        placed: None,
    };
    let module = lower::module(&[func], Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let code = module
        .to_portable_artifact(version)
        .unwrap_or_else(|e| panic!("{e}"));
    let program =
        executable(client, &func.name, &code, signature).unwrap_or_else(|e| panic!("{e}"));
    let buffers: Vec<Buffer> = func
        .input_types()
        .iter()
        .zip(inputs)
        .map(|(ty, bits)| client.upload(&array(ty, bits)).expect("an upload"))
        .collect();
    let results = program.execute(buffers.iter().map(Input::Keep).collect());
    results
        .unwrap_or_else(|e| panic!("{e}"))
        .iter()
        .map(|buffer| patterns(&buffer.to_host().expect("a result")))
        .collect()
}

/// Compiled, or from the cache of the tests.
fn executable(
    client: &Client,
    name: &str,
    code: &[u8],
    signature: Signature,
) -> Result<Executable, Error> {
    let folder = scratch("cache").display().to_string();
    let around = Surroundings::new([("XDG_CACHE_HOME".to_owned(), folder)], None, None);
    let cache = Cache::of(&around).expect("a folder is given");
    let key = Key::new(client.plugin_path(), code, &client.options_text(&options()));
    if let Ok(bytes) = cache.find(name, &key) {
        return client.load(name, &bytes, signature);
    }
    let compiled = client.compile(name, code, signature, &options())?;
    cache.put(name, &key, &compiled.serialize()?)?;
    Ok(compiled)
}

/// The CPU plugin's default drops a NaN that `maximum` meets.
fn options() -> CompileOptions {
    let name = "xla_cpu_enable_fast_min_max".to_string();
    CompileOptions {
        overrides: vec![(name, OverrideValue::Bool(false))],
    }
}

fn array(ty: &Type, bits: &[u64]) -> HostArray {
    let width = ty.elem.bytes();
    let bytes: Vec<u8> = bits
        .iter()
        .flat_map(|b| b.to_le_bytes().into_iter().take(width))
        .collect();
    let spec = spec(ty);
    HostArray::new(spec.dtype, spec.shape, Bytes::from_slice(&bytes)).expect("as many bytes")
}

fn patterns(array: &HostArray) -> Vec<u64> {
    let chunks = array.bytes().chunks_exact(array.dtype().size());
    chunks
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
        })
        .collect()
}

fn spec(ty: &Type) -> TensorSpec {
    let dtype = DType::from_name(ty.elem.name()).expect("the same names");
    TensorSpec::new(dtype, ty.shape.clone())
}
