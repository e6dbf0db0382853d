//! `vmap`: what is mapped over which axis.

use super::cx::Cx;
use super::func::{ArgTy, FnRef};
use super::problem::Problem;
use super::shape;
use super::subst::map_leaves;
use super::transform::{MapAxes, transformed};
use crate::span::Span;
use crate::typed::{Callee, Dim, Shape, ShapeItem, TransformKind as Kind, Ty};

impl<'a> Cx<'a, '_> {
    pub fn apply_vmap(
        &mut self,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
        axes: &MapAxes,
        out: i64,
    ) -> Option<(Callee, Ty)> {
        let axes: Vec<Option<i64>> = match axes {
            MapAxes::All(axis) => vec![Some(*axis); args.len()],
            MapAxes::Each(axes) if axes.len() == args.len() => axes.clone(),
            MapAxes::Each(axes) => {
                self.report(Problem::VmapAxesCount {
                    span: at,
                    axes: axes.len(),
                    args: args.len(),
                });
                return None;
            }
        };
        let mut size: Option<(Dim, Span)> = None;
        let mut mapped = Vec::new();
        for (axis, arg) in axes.iter().zip(args) {
            let ty = self.infer.ty(&arg.ty);
            let Some(axis) = axis else {
                mapped.push(arg.clone());
                continue;
            };
            let ty = self.without_axis(&ty, *axis, arg.span, at, &mut size)?;
            mapped.push(ArgTy::made_from(ty, arg.span));
        }
        let Some((size, _)) = size else {
            self.report(Problem::VmapNothing { span: at });
            return None;
        };
        let (callee, ret) = self.apply(inner, &mapped, at, None)?;
        let ret = self.infer.ty(&ret);
        let mut misplaced = None;
        let ty = map_leaves(&ret, &mut |leaf| match leaf {
            Ty::Tensor(elem, items) => match insert_axis(items, out, &size) {
                Some(items) => Ty::Tensor(elem.clone(), items),
                None => {
                    misplaced = Some(leaf.clone());
                    Ty::Error
                }
            },
            other => {
                misplaced = Some(other.clone());
                Ty::Error
            }
        });
        if let Some(leaf) = misplaced {
            self.report(Problem::VmapOut {
                span: at,
                out,
                ty: leaf,
            });
            return None;
        }
        let kind = Kind::Vmap { axes, out, size };
        let types = mapped.into_iter().map(|a| a.ty).collect();
        Some((transformed(kind, callee, types, ret, at), ty))
    }

    /// Every tensor of a tree without one axis, whose size all share.
    fn without_axis(
        &mut self,
        ty: &Ty,
        axis: i64,
        span: Span,
        at: Span,
        size: &mut Option<(Dim, Span)>,
    ) -> Option<Ty> {
        let mut ok = true;
        let out = map_leaves(ty, &mut |leaf| {
            let found = match leaf {
                Ty::Tensor(elem, items) => {
                    shape::axis(items, axis).map(|(at, _)| (elem, items, at))
                }
                _ => None,
            };
            let Some((elem, items, index)) = found else {
                if ok && !matches!(leaf, Ty::Error) {
                    self.report(Problem::VmapNoAxis {
                        span,
                        axis,
                        ty: leaf.clone(),
                    });
                }
                ok = false;
                return Ty::Error;
            };
            let mut rest = items.clone();
            if let ShapeItem::Dim(d) = rest.remove(index) {
                match size {
                    Some((n, first)) if !super::poly::equal(n, &d) => {
                        if ok {
                            self.report(Problem::VmapSizes {
                                span: at,
                                first: n.clone(),
                                first_span: *first,
                                other: d,
                                other_span: span,
                            });
                        }
                        ok = false;
                    }
                    Some(_) => {}
                    None => *size = Some((d, span)),
                }
            }
            Ty::Tensor(elem.clone(), rest)
        });
        ok.then_some(out)
    }
}

/// `items` with a new axis at `out`, counted in the result.
fn insert_axis(items: &[ShapeItem], out: i64, size: &Dim) -> Option<Shape> {
    let rank = items.len() as i64 + 1;
    let at = if out < 0 { out + rank } else { out };
    let at = usize::try_from(at).ok().filter(|&a| a <= items.len())?;
    let is_dim = |i: &ShapeItem| matches!(i, ShapeItem::Dim(_));
    // A `..` part between the axis and the end it is counted from leaves its place open.
    let reachable = if out < 0 {
        items[at..].iter().all(is_dim)
    } else {
        items[..at].iter().all(is_dim)
    };
    if !reachable {
        return None;
    }
    let mut grown = items.to_vec();
    grown.insert(at, ShapeItem::Dim(size.clone()));
    Some(grown)
}
