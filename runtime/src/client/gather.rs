//! Values whose parts lie on several hosts, made whole on every device: what the host reads, all hosts gather.

use std::sync::{Arc, Mutex};

use super::{Buffer, Client, CompileOptions, Executable, Input, Placed, Signature};
use crate::error::{Error, ProgramError};
use crate::host::{DType, Placement, TensorSpec};

/// The programs that gather, by what they gather.
pub(super) type Gathers = Arc<Mutex<Vec<(TensorSpec, Placement, Arc<Executable>)>>>;

impl Client {
    /// The array whole on each of its devices. Every host has to ask for it.
    pub fn gather(&self, buffer: &Buffer) -> Result<Buffer, Error> {
        let program = self.gather_program(buffer.spec(), buffer.placement())?;
        let mut results = program.execute(vec![Input::Keep(buffer)])?;
        // The signature has one result, and executing has checked that.
        results
            .pop()
            .ok_or(Error::Program(ProgramError::BufferDeleted))
    }

    fn gather_program(
        &self,
        spec: &TensorSpec,
        placement: &Placement,
    ) -> Result<Arc<Executable>, Error> {
        let mut known = self
            .gathers
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let same = |(s, p, _): &&(TensorSpec, Placement, _)| s == spec && p == placement;
        if let Some((_, _, program)) = known.iter().find(same) {
            return Ok(Arc::clone(program));
        }
        let whole = placement.whole();
        let signature = Signature {
            inputs: vec![spec.clone()],
            outputs: vec![spec.clone()],
            donated: Vec::new(),
            placed: Some(Placed {
                devices: placement.devices(),
                inputs: vec![placement.clone()],
                outputs: vec![whole.clone()],
            }),
        };
        let code = module(spec, placement, &whole);
        let options = CompileOptions::default();
        let program = Arc::new(self.compile("gather", code.as_bytes(), signature, &options)?);
        known.push((spec.clone(), placement.clone(), Arc::clone(&program)));
        Ok(program)
    }
}

/// A program that gives back what it takes, which lies another way.
fn module(spec: &TensorSpec, from: &Placement, to: &Placement) -> String {
    let dims: Vec<String> = spec.shape.iter().map(|dim| format!("{dim}x")).collect();
    let ty = format!("tensor<{}{}>", dims.concat(), element(spec.dtype));
    let axes = from.mesh().iter().enumerate();
    let axes: Vec<String> = axes.map(|(i, size)| format!("\"a{i}\"={size}")).collect();
    let sharding = |placement: &Placement| {
        let dims = (0..spec.shape.len()).map(|dim| match placement.axes().get(dim) {
            Some(Some(axis)) => format!("{{\"a{axis}\"}}"),
            _ => "{}".to_owned(),
        });
        let dims: Vec<String> = dims.collect();
        format!(
            "{{sdy.sharding = #sdy.sharding<@mesh, [{}]>}}",
            dims.join(", ")
        )
    };
    format!(
        "module @gather {{\n  sdy.mesh @mesh = <[{}]>\n  func.func public @main(%0: {ty} {}) -> ({ty} {}) {{\n    return %0 : {ty}\n  }}\n}}\n",
        axes.join(", "),
        sharding(from),
        sharding(to)
    )
}

/// The element type in StableHLO's words.
fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "f32",
        DType::BF16 => "bf16",
        DType::F16 => "f16",
        DType::F64 => "f64",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::Bool => "i1",
    }
}
