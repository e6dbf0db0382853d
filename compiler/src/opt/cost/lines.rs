//! Where in the source a program's time goes, by the cost model: each kernel's time is shared out over the instructions
//! computed in it, by their arithmetic. An estimate: a plugin fuses, and a machine behaves, in ways of their own.

use super::profile::WHILE_TRIPS;
use super::{DeviceCost, Kernel, Nodes, listing};
use crate::ir::{Func, Inst, Op, Region};
use std::collections::BTreeMap;
use tpuc_lang::span::Span;

/// The part of a function's time that each place of its source takes, the largest first. They add up to 1, or there
/// are none.
pub fn by_place(func: &Func, device: &DeviceCost) -> Vec<(Span, f64)> {
    let mut found = BTreeMap::new();
    spread(func, &func.body, device, 1.0, &mut found);
    let total: f64 = found.values().map(|(_, time)| time).sum();
    let mut parts: Vec<(Span, f64)> = found
        .into_values()
        .map(|(span, time)| (span, time / total))
        .filter(|(_, part)| *part > 0.0)
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

type Found = BTreeMap<(u32, u32, u32), (Span, f64)>;

fn spread(func: &Func, region: &Region, device: &DeviceCost, times: f64, found: &mut Found) {
    let listing = listing(func, region, device);
    let (cutter, _) = listing.cut(device);
    for (inst, &at) in region.insts.iter().zip(&listing.insts) {
        let (profile, _) = listing.nodes.node(at);
        let mut time = 0.0;
        cutter.computed_in(at, profile, |end, kernel| {
            let part = match kernel.compute {
                0 if end == at => 1.0,
                0 => 0.0,
                all => profile.compute as f64 / all as f64,
            };
            let own = Kernel {
                inside: 0,
                ..kernel
            };
            time += part * own.time(device) as f64;
        });
        if let Some(&result) = inst.results.first() {
            let span = func.span(result);
            let key = (span.file.0, span.start, span.end);
            found.entry(key).or_insert((span, 0.0)).1 += times * time;
        }
        for region in &inst.regions {
            spread(func, region, device, times * turns(inst), found);
        }
    }
}

/// How often the regions of an instruction run; of an `if`, each is taken to run half of the time.
fn turns(inst: &Inst) -> f64 {
    match &inst.op {
        Op::Scan { length, .. } => *length as f64,
        Op::While => WHILE_TRIPS as f64,
        Op::If => 0.5,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::CPU;
    use super::*;
    use crate::ir::op::{BinaryOp, DotDims, UnaryOp};
    use crate::ir::{Builder, Elem, Type};
    use tpuc_lang::span::FileId;

    fn at(start: u32) -> Span {
        Span {
            file: FileId(0),
            start,
            end: start + 1,
            derivative: false,
        }
    }

    /// A product of 2 · 256³ operations, in a loop of 10 turns a smaller one, and a sum.
    #[test]
    fn time_goes_to_products_and_loops() {
        let mut b = Builder::new("f");
        let big = b.param(Type::new(Elem::F32, [256, 256]));
        let dims = DotDims {
            lhs_batch: vec![],
            rhs_batch: vec![],
            lhs_contract: vec![1],
            rhs_contract: vec![0],
        };
        b.span = at(10);
        let first = b.op(Op::Dot(dims.clone()), &[big, big]);
        b.open_region();
        b.param(Type::scalar(Elem::I32));
        let x = b.param(Type::new(Elem::F32, [256, 256]));
        b.span = at(20);
        let second = b.op(Op::Dot(dims), &[x, big]);
        b.span = at(30);
        let third = b.op(Op::Binary(BinaryOp::Add), &[second, x]);
        let region = b.close_region(vec![third]);
        let op = Op::Scan {
            length: 10,
            reverse: false,
            carry: 1,
        };
        b.span = at(40);
        let looped = b.push(op, vec![first], vec![region])[0];
        b.span = at(50);
        let last = b.op(Op::Unary(UnaryOp::Neg), &[looped]);
        let func = b.finish(vec![last]);
        let parts = by_place(&func, &CPU);
        let of = |start| {
            let part = parts.iter().find(|(span, _)| span.start == start);
            part.map_or(0.0, |(_, part)| *part)
        };
        assert!((parts.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(parts[0].0, at(20));
        assert!((of(20) / of(10) - 10.0).abs() < 0.5, "{parts:?}");
        assert!(of(30) > of(50) && of(50) > 0.0, "{parts:?}");
    }
}
