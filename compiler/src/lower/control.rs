//! Loops and branches. Their regions use the values around them directly, as those of the IR do.

use super::emit::{Emit, Tensor};
use super::func::Scope;
use super::indexing;
use crate::ir::func::Inst;
use crate::ir::types::Type;

/// The attributes of a scan.
#[derive(Clone, Copy)]
pub struct ScanForm {
    pub length: usize,
    pub reverse: bool,
    pub carry: usize,
}

/// A counted loop over (count, carries, ys): slices of the xs are read where they stand, and slices of the ys
/// written into arrays that begin as zeros.
pub fn scan<'f, 'c>(
    e: &Emit<'_, 'c>,
    scope: &mut Scope<'f, '_, 'c>,
    inst: &'f Inst,
    args: &[Tensor<'c>],
    types: &[Type],
    form: ScanForm,
) -> Vec<Tensor<'c>> {
    let (carries, xs) = args.split_at(form.carry);
    let ys = types[form.carry..].iter().map(|ty| e.splat(ty, 0.0));
    let start: Vec<Tensor<'c>> = carries.iter().cloned().chain(ys).collect();
    if form.length == 0 {
        return start;
    }
    let body = &inst.regions[0];
    counted(e, form.length, start, |e, count, state| {
        let (carries, ys) = state.split_at(form.carry);
        let index = if form.reverse {
            let last = e.index(form.length - 1);
            e.binary("stablehlo.subtract", &last, count)
        } else {
            count.clone()
        };
        let mut at = Position::new(&index);
        let slices: Vec<Tensor<'c>> = xs.iter().map(|x| at.read(e, x)).collect();
        let params = std::iter::once(index.clone())
            .chain(carries.iter().cloned())
            .chain(slices)
            .collect();
        let mut results = scope.enter(e, body, params);
        let slices = results.split_off(form.carry);
        let ys = ys
            .iter()
            .zip(&slices)
            .map(|(y, slice)| at.write(e, y, slice));
        results.extend(ys);
        results
    })
}

/// `while` with a count in front of the state; the state after `length` iterations.
fn counted<'c>(
    e: &Emit<'_, 'c>,
    length: usize,
    start: Vec<Tensor<'c>>,
    body: impl FnOnce(&Emit<'_, 'c>, &Tensor<'c>, &[Tensor<'c>]) -> Vec<Tensor<'c>>,
) -> Vec<Tensor<'c>> {
    let zero = e.index(0);
    let operands: Vec<&Tensor<'c>> = std::iter::once(&zero).chain(&start).collect();
    let types: Vec<Type> = operands.iter().map(|t| t.ty.clone()).collect();
    let condition = e.region(&types, |e, state| {
        let length = e.index(length);
        vec![e.compare("LT", &state[0], &length)]
    });
    let body = e.region(&types, |e, state| {
        let mut next = body(e, &state[0], &state[1..]);
        let one = e.index(1);
        let count = e.binary("stablehlo.add", &state[0], &one);
        next.insert(0, count);
        next
    });
    let mut results = e.op_with(
        "stablehlo.while",
        &operands,
        &[],
        &types,
        vec![condition, body],
    );
    results.remove(0);
    results
}

/// Where along axis 0 an iteration reads and writes; the zero of the other axes is made when one is met.
struct Position<'a, 'c> {
    index: &'a Tensor<'c>,
    zero: Option<Tensor<'c>>,
}

impl<'a, 'c> Position<'a, 'c> {
    fn new(index: &'a Tensor<'c>) -> Self {
        Position { index, zero: None }
    }

    /// The starts of a slice in an array of some rank, of one along axis 0 and all along the others.
    fn starts(&mut self, e: &Emit<'_, 'c>, rank: usize) -> Vec<Tensor<'c>> {
        let mut starts = vec![self.index.clone()];
        if rank > 1 {
            let zero = self.zero.get_or_insert_with(|| e.index(0));
            starts.extend(std::iter::repeat_n(zero.clone(), rank - 1));
        }
        starts
    }

    fn read(&mut self, e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
        let mut operands = vec![x.clone()];
        operands.extend(self.starts(e, x.ty.rank()));
        let mut sizes = x.ty.shape.clone();
        sizes[0] = 1;
        let slice = indexing::dynamic_slice(e, &operands, &sizes);
        e.reshape(&slice, &x.ty.shape[1..])
    }

    fn write(&mut self, e: &Emit<'_, 'c>, y: &Tensor<'c>, slice: &Tensor<'c>) -> Tensor<'c> {
        let mut shape = slice.ty.shape.clone();
        shape.insert(0, 1);
        let update = e.reshape(slice, &shape);
        let mut operands = vec![y.clone(), update];
        operands.extend(self.starts(e, y.ty.rank()));
        indexing::dynamic_update_slice(e, &operands)
    }
}

pub fn while_loop<'f, 'c>(
    e: &Emit<'_, 'c>,
    scope: &mut Scope<'f, '_, 'c>,
    inst: &'f Inst,
    args: &[Tensor<'c>],
    types: &[Type],
) -> Vec<Tensor<'c>> {
    let regions = inst
        .regions
        .iter()
        .map(|region| e.region(types, |e, state| scope.enter(e, region, state)))
        .collect();
    e.op_with(
        "stablehlo.while",
        &args.iter().collect::<Vec<_>>(),
        &[],
        types,
        regions,
    )
}

pub fn branch<'f, 'c>(
    e: &Emit<'_, 'c>,
    scope: &mut Scope<'f, '_, 'c>,
    inst: &'f Inst,
    args: &[Tensor<'c>],
    types: &[Type],
) -> Vec<Tensor<'c>> {
    let regions = inst
        .regions
        .iter()
        .map(|region| e.region(&[], |e, none| scope.enter(e, region, none)))
        .collect();
    e.op_with("stablehlo.if", &[&args[0]], &[], types, regions)
}
