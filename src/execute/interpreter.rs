//! The backend of the reference interpreter: plain, slow, the meaning of the language.

use super::{Backend, Input};
use crate::convert;
use crate::failure::Failure;
use std::rc::Rc;
use tpuc_compiler::interp::{self, Array, Precision};
use tpuc_compiler::ir::{Func, Literal, Type};
use tpuc_compiler::plan::Slot;
use tpuc_runtime::client::Upload;
use tpuc_runtime::host::{Bytes, HostArray};

pub struct InterpreterBackend<'p> {
    programs: &'p [Func],
}

impl<'p> InterpreterBackend<'p> {
    pub fn new(programs: &'p [Func]) -> Self {
        InterpreterBackend { programs }
    }
}

impl Backend for InterpreterBackend<'_> {
    type Buffer = Rc<Array>;

    fn run(
        &self,
        program: usize,
        inputs: Vec<Input<'_, Rc<Array>>>,
    ) -> Result<Vec<Rc<Array>>, Failure> {
        let inputs: Vec<Array> = inputs
            .into_iter()
            .map(|i| match i {
                Input::Keep(a) => (**a).clone(),
                Input::Give(a) => (*a).clone(),
            })
            .collect();
        let outputs = interp::eval(&self.programs[program], &inputs, Precision::Element)
            .map_err(|e| Failure::runtime("E0793", e.to_string(), None))?;
        Ok(outputs.into_iter().map(Rc::new).collect())
    }

    fn upload(&self, array: &HostArray, _: Slot, _: Upload) -> Result<Rc<Array>, Failure> {
        let ty = Type::new(convert::elem(array.dtype()), array.shape().to_vec());
        let width = array.dtype().size();
        let bits = array
            .bytes()
            .chunks_exact(width)
            .map(|chunk| {
                let mut word = [0u8; 8];
                word[..width].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            })
            .collect();
        Ok(Rc::new(Array::from_literal(&Literal::dense_bits(ty, bits))))
    }

    fn fetch(&self, array: &Rc<Array>) -> Result<HostArray, Failure> {
        let literal = array.to_literal();
        let width = literal.ty().elem.bytes();
        let bytes: Vec<u8> = literal
            .iter_bits()
            .flat_map(|b| b.to_le_bytes()[..width].to_vec())
            .collect();
        let dtype = convert::dtype(literal.ty().elem);
        Ok(HostArray::new(
            dtype,
            literal.ty().shape.clone(),
            Bytes::from_slice(&bytes),
        )?)
    }

    fn wait(&self, _: &Rc<Array>) -> Result<(), Failure> {
        Ok(())
    }
}
