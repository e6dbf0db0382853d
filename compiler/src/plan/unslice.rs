//! Loops over an array that the host walks: the row is picked by the index.
//!
//! ```text
//! scan[…] %x { (i, row) … print row … }   →   scan[…] { (i) row = reshape dynamic_slice %x, i, 0 … print row … }
//! ```

use super::split::has_effect;
use crate::ir::{Elem, Func, Inst, Literal, Op, Region, Type, Value};
use tpuc_lang::span::Span;

pub(super) fn unslice(func: &mut Func) {
    let mut body = std::mem::take(&mut func.body);
    region(func, &mut body);
    func.body = body;
}

fn region(func: &mut Func, r: &mut Region) {
    for inst in &mut r.insts {
        if !has_effect(inst) {
            continue;
        }
        if let Op::Scan { carry, .. } = inst.op {
            let xs = inst.args.split_off(carry);
            let rows = inst.regions[0].params.split_off(1 + carry);
            let index = inst.regions[0].params[0];
            let picks: Vec<Inst> = xs
                .iter()
                .zip(rows)
                .flat_map(|(&x, row)| pick(func, x, index, row))
                .collect();
            inst.regions[0].insts.splice(0..0, picks);
        }
        inst.regions
            .iter_mut()
            .for_each(|nested| region(func, nested));
    }
}

/// Instructions that give `row`, which is `x[index]`.
fn pick(func: &mut Func, x: Value, index: Value, row: Value) -> Vec<Inst> {
    let ty = func.ty(x).clone();
    let span = func.span(row);
    let mut insts = Vec::new();
    let mut emit = |func: &mut Func, op: Op, args: Vec<Value>, ty: Type, span: Span| {
        let result = func.new_value(ty, span);
        insts.push(Inst {
            op,
            args,
            regions: vec![],
            results: vec![result],
        });
        result
    };
    let scalar = Type::scalar(Elem::I32);
    let zero = emit(
        func,
        Op::Constant(Literal::splat_i64(scalar.clone(), 0)),
        vec![],
        scalar,
        span,
    );
    let mut args = vec![x, index];
    args.resize(ty.rank() + 1, zero);
    let mut sizes = ty.shape.clone();
    sizes[0] = 1;
    let slice = emit(
        func,
        Op::DynamicSlice {
            sizes: sizes.clone(),
        },
        args,
        ty.with_shape(sizes),
        span,
    );
    let shape = ty.shape[1..].to_vec();
    insts.push(Inst {
        op: Op::Reshape { shape },
        args: vec![slice],
        regions: vec![],
        results: vec![row],
    });
    insts
}
