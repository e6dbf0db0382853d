//! Puts instructions in the order in which the results need them, operands first and from left to right. So the order in which a
//! program states independent things leaves no trace in what is emitted. Nothing moves past an effect.
//!
//! ```text
//! %1 = sin %0 : f32
//! %2 = cos %0 : f32                 %1 = cos %0 : f32
//! %3 = sub %2, %1 : f32      →      %2 = sin %0 : f32
//! return %3                         %3 = sub %1, %2 : f32
//!                                   return %3
//! ```

use super::copy::{Plain, has_effect, rewrite};
use crate::ir::func::{Func, Inst, Region, Value};
use std::collections::HashMap;

pub fn run(func: &Func) -> Func {
    let mut ordered = func.clone();
    order(&mut ordered.body);
    // Values are numbered anew, as they now come.
    rewrite(&ordered, &mut Plain)
}

fn order(region: &mut Region) {
    for inst in &mut region.insts {
        inst.regions.iter_mut().for_each(order);
    }
    let insts = std::mem::take(&mut region.insts);
    let uses: Vec<Vec<Value>> = insts.iter().map(Inst::uses).collect();
    // Stretches without effects; an effect is a stretch of its own.
    let mut stretch = 0;
    let mut stretches = Vec::with_capacity(insts.len());
    for inst in &insts {
        let ends = has_effect(inst);
        stretch += usize::from(ends);
        stretches.push(stretch);
        stretch += usize::from(ends);
    }
    let mut defs = HashMap::new();
    for (i, inst) in insts.iter().enumerate() {
        defs.extend(inst.results.iter().map(|&v| (v, i)));
    }
    // What later stretches and the results need of each, in the order in which they do.
    let mut roots: Vec<Vec<usize>> = vec![Vec::new(); stretch + 1];
    for (i, inst) in insts.iter().enumerate() {
        for v in &uses[i] {
            if let Some(&def) = defs.get(v)
                && stretches[def] != stretches[i]
            {
                roots[stretches[def]].push(def);
            }
        }
        if has_effect(inst) {
            roots[stretches[i]].push(i);
        }
    }
    for v in &region.results {
        if let Some(&def) = defs.get(v) {
            roots[stretches[def]].push(def);
        }
    }
    let mut placed = vec![false; insts.len()];
    let mut sequence = Vec::with_capacity(insts.len());
    for (stretch, roots) in roots.iter().enumerate() {
        for &root in roots {
            // A depth-first walk with its own stack: chains are long.
            let mut path = vec![(root, 0)];
            while let Some((i, next)) = path.pop() {
                if placed[i] {
                    continue;
                }
                let mut operands = uses[i].iter().enumerate().skip(next);
                let waiting = operands.find_map(|(place, v)| {
                    let &def = defs.get(v)?;
                    (stretches[def] == stretch && !placed[def]).then_some((place, def))
                });
                match waiting {
                    Some((place, def)) => path.extend([(i, place + 1), (def, 0)]),
                    None => {
                        placed[i] = true;
                        sequence.push(i);
                    }
                }
            }
        }
    }
    let mut insts: Vec<Option<Inst>> = insts.into_iter().map(Some).collect();
    region.insts = sequence
        .into_iter()
        .filter_map(|i| insts[i].take())
        .collect();
}
