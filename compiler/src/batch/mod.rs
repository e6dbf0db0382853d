//! Batching: a function becomes one that does the same for every element along a new axis.
//!
//! The batching table [`rules::batch`] says for each primitive how. A value is either *shared*, one for the whole
//! batch, or *mapped*, with the batch as its axis 0. What depends on nothing mapped is copied as it is, and stays
//! shared until something mapped meets it.

mod control;
mod conv;
mod indexing;
mod mapped;
mod rules;

use crate::ad::emit::Emit;
use crate::ad::{AdError, AdErrorKind, tidy};
use crate::ir::{Func, Inst, Region, Type, Value};
use std::collections::{HashMap, HashSet};

/// A value of the batched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Shared(Value),
    /// With the batch as axis 0.
    Mapped(Value),
}

impl Lane {
    pub(crate) fn value(self) -> Value {
        match self {
            Lane::Shared(v) | Lane::Mapped(v) => v,
        }
    }

    pub(crate) fn is_mapped(self) -> bool {
        matches!(self, Lane::Mapped(_))
    }

    pub(crate) fn new(v: Value, mapped: bool) -> Lane {
        if mapped {
            Lane::Mapped(v)
        } else {
            Lane::Shared(v)
        }
    }
}

/// The function over a batch of `size`: input `i` has it as axis `in_axes[i]`, or is shared; all outputs have it as
/// axis 0.
///
/// # Errors
/// An axis beyond an input's rank; an effect.
pub fn vmap(f: &Func, in_axes: &[Option<usize>], size: usize) -> Result<Func, AdError> {
    let mut bx = Batcher::new(format!("vmap_{}", f.name), size);
    for (i, &p) in f.body.params.iter().enumerate() {
        let ty = f.ty(p);
        bx.e.set_span(f.span(p));
        let lane = match in_axes.get(i).copied().flatten() {
            None => Lane::Shared(bx.e.param(ty.clone())),
            Some(axis) if axis > ty.rank() => {
                let kind = AdErrorKind::MappedAxis {
                    input: i,
                    axis,
                    rank: ty.rank() + 1,
                };
                return Err(AdError::new(kind, f.span(p)));
            }
            Some(axis) => {
                let mut shape = ty.shape.clone();
                shape.insert(axis, size);
                let v = bx.e.param(ty.with_shape(shape));
                Lane::Mapped(v)
            }
        };
        bx.set(p, lane);
    }
    if size == 0 {
        // No element to compute anything for; a slice that drops the batch would find none.
        let empty = f.output_types().into_iter().map(|ty| {
            let shape = bx.batched_shape(&ty.shape);
            bx.e.zeros(&ty.with_shape(shape))
        });
        let results = empty.collect();
        return Ok(bx.e.finish(results));
    }
    // Only after all parameters, which must come first.
    for (i, &p) in f.body.params.iter().enumerate() {
        if let (Lane::Mapped(v), Some(Some(axis))) = (bx.get(p), in_axes.get(i)) {
            let moved = bx.e.move_axis(v, *axis, 0);
            bx.set(p, Lane::Mapped(moved));
        }
    }
    let outs = bx.region(f, &f.body)?;
    let results = outs.into_iter().map(|lane| bx.mapped(lane)).collect();
    Ok(tidy(bx.e.finish(results)))
}

pub(crate) struct Batcher {
    pub(crate) e: Emit,
    pub(crate) size: usize,
    values: HashMap<Value, Value>,
    mapped: HashSet<Value>,
}

impl Batcher {
    fn new(name: String, size: usize) -> Self {
        Batcher {
            e: Emit::new(name),
            size,
            values: HashMap::new(),
            mapped: HashSet::new(),
        }
    }

    pub(crate) fn get(&self, v: Value) -> Lane {
        Lane::new(self.values[&v], self.mapped.contains(&v))
    }

    pub(crate) fn set(&mut self, v: Value, lane: Lane) {
        self.values.insert(v, lane.value());
        if lane.is_mapped() {
            self.mapped.insert(v);
        } else {
            self.mapped.remove(&v);
        }
    }

    /// Batches a region into the open one; its parameters have been set.
    pub(crate) fn region(&mut self, f: &Func, region: &Region) -> Result<Vec<Lane>, AdError> {
        for inst in &region.insts {
            self.inst(f, inst)?;
        }
        Ok(region.results.iter().map(|&v| self.get(v)).collect())
    }

    fn inst(&mut self, f: &Func, inst: &Inst) -> Result<(), AdError> {
        if let Some(&v) = inst.results.first() {
            self.e.set_span(f.span(v));
        }
        let touched = inst.args.iter().any(|v| self.mapped.contains(v))
            || inst
                .regions
                .iter()
                .any(|r| r.captures().iter().any(|v| self.mapped.contains(v)));
        if !touched {
            self.e.copy(f, inst, &mut self.values);
            for v in &inst.results {
                self.mapped.remove(v);
            }
            return Ok(());
        }
        let args: Vec<Lane> = inst.args.iter().map(|&v| self.get(v)).collect();
        let results = rules::batch(self, f, inst, &args)?;
        for (&v, lane) in inst.results.iter().zip(results) {
            self.set(v, lane);
        }
        Ok(())
    }

    /// The value with a batch axis, made by broadcast if it is shared.
    pub(crate) fn mapped(&mut self, lane: Lane) -> Value {
        match lane {
            Lane::Mapped(v) => v,
            Lane::Shared(v) => {
                let shape = self.batched_shape(self.e.shape(v));
                self.e.expand(v, &shape, &[0])
            }
        }
    }

    /// The value, with a batch axis if `mapped` asks for one.
    pub(crate) fn lane_as(&mut self, lane: Lane, mapped: bool) -> Value {
        if mapped {
            self.mapped(lane)
        } else {
            lane.value()
        }
    }

    pub(crate) fn batched_shape(&self, shape: &[usize]) -> Vec<usize> {
        std::iter::once(self.size)
            .chain(shape.iter().copied())
            .collect()
    }

    pub(crate) fn batched_type(&self, ty: &Type, mapped: bool) -> Type {
        if mapped {
            ty.with_shape(self.batched_shape(&ty.shape))
        } else {
            ty.clone()
        }
    }

    pub(crate) fn mapped_set(&self) -> &HashSet<Value> {
        &self.mapped
    }
}
