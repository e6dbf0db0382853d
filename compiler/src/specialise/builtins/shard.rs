//! `shard(x, [data, none])`, and the layouts written in types, which the checker makes into it.

use super::Call;
use super::attrs::Arg;
use crate::ir::Op;
use crate::specialise::Specialiser;
use crate::specialise::error::{BuildError, Result};
use crate::specialise::frame::Frame;
use crate::specialise::val::Val;
use tpuc_lang::typed::{Atom, Dim, Expr, ShapeItem, Ty};

impl Specialiser<'_> {
    /// The value laid out; without several devices it is as it was.
    pub(super) fn shard(&mut self, frame: &Frame, e: &Expr, c: &Call) -> Result<Val> {
        let mut leaf = c.args[0];
        if let Some(Arg::Axes(axes)) = c.attrs.get("axes")
            && self.program.devices() > 1
        {
            self.check_even(frame, e, c, axes)?;
            let mut axes = axes.clone();
            // The words of keys stand on one more dimension.
            axes.resize(self.b.ty(leaf).rank(), None);
            leaf = self.b.op(Op::Shard { axes }, &[leaf]);
        }
        Ok(Val::of_type(&c.ret, &mut std::iter::once(leaf)))
    }

    fn check_even(&self, frame: &Frame, e: &Expr, c: &Call, axes: &[Option<String>]) -> Result<()> {
        let shape = c.out().shape;
        for (i, axis) in axes.iter().enumerate() {
            let Some(axis) = axis else { continue };
            let known = self.program.mesh.iter().find(|(n, _)| **n == **axis);
            let devices = known.map_or(1, |&(_, n)| n as usize);
            if !shape[i].is_multiple_of(devices) {
                let error = BuildError::Uneven {
                    dim: self.dim_name(frame, &e.ty, i, shape[i]),
                    size: shape[i],
                    axis: axis.clone(),
                    devices,
                };
                return Err(error.at(c.span));
            }
        }
        Ok(())
    }

    /// What the source calls a dimension: `dimension B=6`, or `dimension 0, of size 6,` where it has no name.
    fn dim_name(&self, frame: &Frame, ty: &Ty, i: usize, size: usize) -> String {
        let written = match ty {
            Ty::Tensor(_, items) => items.get(i),
            _ => None,
        };
        let name = match written {
            Some(ShapeItem::Dim(dim)) => self.written_name(frame, dim),
            _ => None,
        };
        match name {
            Some(name) => format!("dimension {name}={size}"),
            None => format!("dimension {i}, of size {size},"),
        }
    }

    fn written_name(&self, frame: &Frame, dim: &Dim) -> Option<String> {
        if let Some(origin) = &dim.origin {
            return Some(origin.to_string());
        }
        match dim.terms().collect::<Vec<_>>()[..] {
            [([Atom::Param(id)], 1)] => {
                let def = &self.program.fns[frame.function?.0 as usize];
                Some(def.generics.get(id.0 as usize)?.name.to_string())
            }
            _ => None,
        }
    }
}
