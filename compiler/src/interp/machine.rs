//! Running instructions: environments, regions, and the table from primitives to their meanings.

use super::array::Array;
use super::outside::{NoOutside, Outside};
use super::{
    InterpError, Precision, convert, elementwise, indexing, linalg, reduce, sort, structural,
    window,
};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use crate::ir::types::{Elem, Type};
use crate::ir::verify::verify;
use std::collections::HashMap;
use tpuc_lang::span::Span;

/// Of one array. Each takes eight bytes.
const MOST_ELEMENTS: usize = 1 << 30;

/// The results of a pure function.
pub fn eval(
    func: &Func,
    inputs: &[Array],
    precision: Precision,
) -> Result<Vec<Array>, InterpError> {
    eval_main(func, inputs, precision, &mut NoOutside)
}

/// The results of a function with effects, which happen in order.
pub fn eval_main(
    func: &Func,
    inputs: &[Array],
    precision: Precision,
    outside: &mut dyn Outside,
) -> Result<Vec<Array>, InterpError> {
    verify(func).map_err(|e| InterpError {
        span: e.span,
        message: e.to_string(),
    })?;
    let found: Vec<&Type> = inputs.iter().map(|a| &a.ty).collect();
    let expected = func.input_types();
    if !found.iter().copied().eq(&expected) {
        return Err(InterpError {
            span: Span::default(),
            message: format!("{} takes {expected:?}, not {found:?}", func.name),
        });
    }
    let mut machine = Machine {
        func,
        precision,
        outside,
        values: vec![None; func.value_count()],
    };
    machine.run(&Code::new(&func.body), inputs.to_vec())
}

/// The results of one primitive without regions and effects, for operands that its shape rule accepts.
pub fn apply(op: &Op, args: &[Array], precision: Precision) -> Result<Vec<Array>, InterpError> {
    let types: Vec<&Type> = args.iter().map(|a| &a.ty).collect();
    let failed = |message| InterpError {
        span: Span::default(),
        message,
    };
    crate::ir::shape::infer(op, &types, &[]).map_err(failed)?;
    primitive(op, args.to_vec(), precision)
        .ok_or_else(|| failed(format!("{op} needs more than its operands")))
}

/// A region prepared to run: which use of a value is its last, so that the value can be taken and changed in place.
struct Code<'a> {
    region: &'a Region,
    steps: Vec<Step<'a>>,
    /// For each result, whether it may be taken.
    last: Vec<bool>,
}

struct Step<'a> {
    inst: &'a Inst,
    /// For each operand, whether nothing reads the value afterwards.
    last: Vec<bool>,
    regions: Vec<Code<'a>>,
}

impl<'a> Code<'a> {
    fn new(region: &'a Region) -> Code<'a> {
        // Only values of this very region may be taken: those around it are read again when a loop comes back.
        let own = region.insts.iter().flat_map(|i| &i.results);
        let mut own: HashMap<Value, bool> =
            own.chain(&region.params).map(|&v| (v, false)).collect();
        let mark = |v: &Value, own: &mut HashMap<Value, bool>| {
            own.get_mut(v)
                .is_some_and(|read| !std::mem::replace(read, true))
        };
        let mut results = vec![false; region.results.len()];
        for (i, v) in region.results.iter().enumerate().rev() {
            results[i] = mark(v, &mut own);
        }
        let mut steps: Vec<Step<'a>> = Vec::with_capacity(region.insts.len());
        for inst in region.insts.iter().rev() {
            for nested in &inst.regions {
                for v in nested.captures() {
                    mark(&v, &mut own);
                }
            }
            let mut last = vec![false; inst.args.len()];
            for (i, v) in inst.args.iter().enumerate().rev() {
                last[i] = mark(v, &mut own);
            }
            steps.push(Step {
                inst,
                last,
                regions: inst.regions.iter().map(Code::new).collect(),
            });
        }
        steps.reverse();
        Code {
            region,
            steps,
            last: results,
        }
    }
}

struct Machine<'a> {
    func: &'a Func,
    precision: Precision,
    outside: &'a mut dyn Outside,
    values: Vec<Option<Array>>,
}

impl Machine<'_> {
    fn run(&mut self, code: &Code, args: Vec<Array>) -> Result<Vec<Array>, InterpError> {
        for (v, array) in code.region.params.iter().zip(args) {
            self.values[v.0 as usize] = Some(array);
        }
        for step in &code.steps {
            self.expect_room(step)?;
            let args = step
                .inst
                .args
                .iter()
                .zip(&step.last)
                .map(|(&v, &last)| self.read(v, last))
                .collect();
            let results = self.step(step, args)?;
            for (v, array) in step.inst.results.iter().zip(results) {
                debug_assert_eq!(array.ty, *self.func.ty(*v), "result of {}", step.inst.op);
                self.values[v.0 as usize] = Some(array);
            }
        }
        let results = &code.region.results;
        let results = results.iter().zip(&code.last);
        let results = results.map(|(&v, &last)| self.read(v, last)).collect();
        self.forget(code.region);
        Ok(results)
    }

    /// Fails before an array that memory may not hold is made: the allocator would end the process.
    fn expect_room(&self, step: &Step) -> Result<(), InterpError> {
        let types = step.inst.results.iter().map(|&v| self.func.ty(v));
        let too_large = |t: &&Type| {
            let count = t.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
            !t.shape.contains(&0) && count.is_none_or(|n| n > MOST_ELEMENTS)
        };
        match types.into_iter().find(too_large) {
            Some(t) => Err(self.failure(step, format!("the interpreter has no room for {t}"))),
            None => Ok(()),
        }
    }

    /// Drops what a region has defined, so that nothing but its results lives on.
    fn forget(&mut self, region: &Region) {
        let defined = region.insts.iter().flat_map(|i| &i.results);
        for v in defined.chain(&region.params) {
            self.values[v.0 as usize] = None;
        }
    }

    fn read(&mut self, v: Value, last: bool) -> Array {
        let slot = &mut self.values[v.0 as usize];
        let array = if last { slot.take() } else { slot.clone() };
        // The verifier has seen a definition before each use, and a value is taken only at its last.
        array.unwrap_or_else(|| unreachable!("{v:?} has no value"))
    }

    fn step(&mut self, step: &Step, args: Vec<Array>) -> Result<Vec<Array>, InterpError> {
        match &step.inst.op {
            Op::Scan {
                length,
                reverse,
                carry,
            } => self.scan(step, *length, *reverse, *carry, args),
            Op::While => self.while_loop(step, args),
            Op::If => {
                let taken = usize::from(!args[0].truth());
                self.run(&step.regions[taken], Vec::new())
            }
            Op::CustomVjp | Op::Remat => self.run(&step.regions[0], args),
            Op::Host(source) => {
                let arrays = self.outside.host(source);
                let arrays = arrays.map_err(|m| self.failure(step, m))?;
                let expected = step.inst.results.iter().map(|&v| self.func.ty(v));
                if arrays.iter().map(|a| &a.ty).eq(expected) {
                    Ok(arrays)
                } else {
                    Err(self.failure(step, "the host gave arrays of other types".into()))
                }
            }
            Op::Effect(effect, _) => {
                let done = self.outside.effect(effect, &args);
                done.map_err(|m| self.failure(step, m))?;
                Ok(Vec::new())
            }
            op => Ok(primitive(op, args, self.precision)
                .unwrap_or_else(|| unreachable!("{op} has regions or effects, met above"))),
        }
    }

    fn scan(
        &mut self,
        step: &Step,
        length: usize,
        reverse: bool,
        carry: usize,
        mut args: Vec<Array>,
    ) -> Result<Vec<Array>, InterpError> {
        let xs = args.split_off(carry);
        let mut carries = args;
        let body = &step.regions[0];
        let y_types: Vec<Type> = body.region.results[carry..]
            .iter()
            .map(|&v| self.func.ty(v).clone())
            .collect();
        let mut ys: Vec<Vec<Array>> = vec![Vec::with_capacity(length); y_types.len()];
        for n in 0..length {
            let i = if reverse { length - 1 - n } else { n };
            let mut inputs = vec![Array::ints(Type::scalar(Elem::I32), vec![i as i64])];
            inputs.append(&mut carries);
            inputs.extend(xs.iter().map(|x| x.row(i)));
            carries = self.run(body, inputs)?;
            for (rows, y) in ys.iter_mut().zip(carries.split_off(carry)) {
                rows.push(y);
            }
        }
        let stacked = ys.into_iter().zip(&y_types).map(|(mut rows, ty)| {
            if reverse {
                rows.reverse();
            }
            Array::stack(ty, &rows)
        });
        carries.extend(stacked);
        Ok(carries)
    }

    fn while_loop(
        &mut self,
        step: &Step,
        mut carries: Vec<Array>,
    ) -> Result<Vec<Array>, InterpError> {
        while self.run(&step.regions[0], carries.clone())?[0].truth() {
            carries = self.run(&step.regions[1], carries)?;
        }
        Ok(carries)
    }

    fn failure(&self, step: &Step, message: String) -> InterpError {
        let first = step.inst.results.first();
        InterpError {
            span: first.map_or(Span::default(), |&v| self.func.span(v)),
            message,
        }
    }
}

/// What a primitive does with its operands; nothing for one that has regions or reaches outside.
fn primitive(op: &Op, args: Vec<Array>, p: Precision) -> Option<Vec<Array>> {
    let one = match op {
        Op::Constant(literal) => Array::from_literal(literal),
        Op::Iota { ty, axis } => structural::iota(ty, *axis, p),

        Op::Unary(op) => elementwise::unary(*op, &args[0], p),
        Op::Binary(op) => elementwise::binary(*op, &args[0], &args[1], p),
        Op::Compare(op) => elementwise::compare(*op, &args[0], &args[1]),
        Op::Select => elementwise::select(&args[0], &args[1], &args[2]),
        Op::Clamp => elementwise::clamp(&args[0], &args[1], &args[2]),
        Op::Convert(to) => convert::convert(&args[0], *to, p),
        Op::Bitcast(to) => convert::bitcast(&args[0], *to),
        Op::Threefry => return Some(elementwise::threefry(&args)),

        Op::Broadcast { shape, dims } => structural::broadcast(&args[0], shape, dims),
        Op::Reshape { shape } => take_first(args).reshaped(shape.clone()),
        Op::Transpose { perm } => structural::transpose(&args[0], perm),
        Op::Slice {
            start,
            limit,
            stride,
        } => structural::slice(&args[0], start, limit, stride),
        Op::Pad {
            low,
            high,
            interior,
        } => structural::pad(&args[0], &args[1], low, high, interior),
        Op::Concat { axis } => structural::concat(&args, *axis),
        Op::Reverse { axes } => structural::reverse(&args[0], axes),
        Op::DynamicSlice { sizes } => indexing::dynamic_slice(&args, sizes),
        Op::DynamicUpdateSlice => indexing::dynamic_update_slice(args),
        Op::Gather(dims) => indexing::gather(dims, &args[0], &args[1]),
        Op::Scatter { op, dims } => indexing::scatter(*op, dims, args, p),

        Op::Reduce { op, axes } => reduce::reduce(*op, axes, &args[0], p),
        Op::ArgReduce { max, axis } => reduce::arg_reduce(*max, *axis, &args[0]),
        Op::Cumulate { op, axis, reverse } => reduce::cumulate(*op, *axis, *reverse, &args[0], p),
        Op::ReduceWindow { op, window } => window::reduce_window(*op, window, &args[0], p),
        Op::WindowGather { max, window } => window::window_gather(*max, window, &args[0], &args[1]),
        Op::WindowScatter { max, window } => {
            window::window_scatter(*max, window, &args[0], &args[1], p)
        }

        Op::Dot(dims) => linalg::dot(dims, &args[0], &args[1], p),
        Op::Conv(dims) => linalg::conv(dims, &args[0], &args[1], p),
        Op::Cholesky => linalg::cholesky(&args[0], p),
        Op::TriangularSolve {
            left,
            lower,
            transpose,
            unit_diagonal,
        } => {
            let form = linalg::Triangle {
                left: *left,
                lower: *lower,
                transpose: *transpose,
                unit_diagonal: *unit_diagonal,
            };
            linalg::triangular_solve(form, &args[0], &args[1], p)
        }

        Op::Sort {
            axis,
            keys,
            descending,
            total,
        } => {
            let order = sort::Order {
                descending: *descending,
                total: *total,
            };
            return Some(sort::sort(*axis, *keys, order, &args));
        }

        Op::StopGradient | Op::Barrier | Op::Shard { axes: _ } => return Some(args),

        Op::Scan { .. }
        | Op::While
        | Op::If
        | Op::CustomVjp
        | Op::Remat
        | Op::Host(_)
        | Op::Effect(..) => return None,
    };
    Some(vec![one])
}

fn take_first(args: Vec<Array>) -> Array {
    // The shape rule has counted the operands.
    args.into_iter()
        .next()
        .unwrap_or_else(|| unreachable!("no operand"))
}
