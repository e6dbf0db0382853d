//! Cotangents of slices. The slices of one array along one axis are kept apart until its cotangent is asked for; those that do
//! not overlap are then joined, which costs nothing, where a sum of arrays padded with zeros would cost their size each.
//!
//! ```text
//! %a = pad %ct1 (0, 3)
//! %b = pad %ct2 (2, 0)        →    %ct = concat %ct1, %ct2
//! %ct = add %a, %b
//! ```

use crate::ad::emit::Emit;
use crate::ir::{Op, Value};
use std::collections::BTreeMap;

/// Cotangents of slices of one array, along one axis, that do not overlap: by their first position.
struct Layer {
    axis: usize,
    parts: BTreeMap<usize, Value>,
}

/// What is known of the cotangent of one array from its slices.
#[derive(Default)]
pub struct Parts {
    layers: Vec<Layer>,
}

impl Parts {
    /// Adds the cotangent of the slice along `axis` that begins at `from`.
    pub fn add(&mut self, e: &mut Emit, axis: usize, from: usize, ct: Value) {
        let size = |v: Value| e.shape(v)[axis];
        let same = |layer: &&mut Layer| {
            let there = layer.parts.get(&from);
            layer.axis == axis && there.is_some_and(|&v| size(v) == size(ct))
        };
        if let Some(layer) = self.layers.iter_mut().find(same) {
            if let Some(part) = layer.parts.get_mut(&from) {
                *part = e.add(*part, ct);
            }
            return;
        }
        let to = from + size(ct);
        let is_free = |layer: &&mut Layer| {
            let mut others = layer.parts.range(..to).rev();
            layer.axis == axis && others.next().is_none_or(|(at, &v)| at + size(v) <= from)
        };
        match self.layers.iter_mut().find(is_free) {
            Some(layer) => {
                layer.parts.insert(from, ct);
            }
            None => self.layers.push(Layer {
                axis,
                parts: BTreeMap::from([(from, ct)]),
            }),
        }
    }

    /// The whole array's cotangent: `whole`, which is what other uses gave, and the parts. `like` has its type.
    pub fn join(self, e: &mut Emit, whole: Option<Value>, like: Value) -> Option<Value> {
        let mut sum = whole;
        for layer in self.layers {
            let ct = layer.join(e, like);
            sum = Some(match sum {
                Some(sum) => e.add(sum, ct),
                None => ct,
            });
        }
        sum
    }
}

impl Layer {
    fn join(&self, e: &mut Emit, like: Value) -> Value {
        let ty = e.type_of(like);
        let axis = self.axis;
        let length = ty.shape[axis];
        if let [(&from, &part)] = self.parts.iter().collect::<Vec<_>>()[..] {
            let after = length - from - e.shape(part)[axis];
            return e.pad_axis(part, 0.0, axis, (from as i64, after as i64, 0));
        }
        let mut joined = Vec::new();
        let mut at = 0;
        let ends = self.parts.iter().map(|(&from, &part)| (from, Some(part)));
        for (from, part) in ends.chain([(length, None)]) {
            if from > at {
                let mut shape = ty.shape.to_vec();
                shape[axis] = from - at;
                joined.push(e.zeros(&ty.with_shape(shape)));
                at = from;
            }
            if let Some(part) = part {
                joined.push(part);
                at += e.shape(part)[axis];
            }
        }
        e.op(Op::Concat { axis }, &joined)
    }
}
