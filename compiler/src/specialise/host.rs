//! What `main` takes from and does to the outside.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::{Val, leaf_types};
use crate::ir::op::{Effect, Here, HostSource, PrintPiece, TreeShape};
use crate::ir::{Op, Type, Value};
use tpuc_lang::span::Span;
use tpuc_lang::typed::{self, Batches, Host, Ty};

impl Specialiser<'_> {
    pub(crate) fn effect(&mut self, frame: &mut Frame, effect: &typed::Effect) -> Result<()> {
        let span = self.b.span;
        let (effect, operands) = match effect {
            typed::Effect::Print(pieces) => {
                let (pieces, operands) = self.pieces(frame, pieces, span)?;
                (Effect::Print(pieces), operands)
            }
            typed::Effect::Debug(pieces) => {
                let (pieces, operands) = self.pieces(frame, pieces, span)?;
                (Effect::Debug(pieces), operands)
            }
            typed::Effect::Save { value, path } => {
                let operands = self.expr(frame, value)?.leaves();
                let names = leaf_names(&frame.ty(&value.ty, span)?, "");
                (
                    Effect::Save {
                        path: path.clone(),
                        names,
                    },
                    operands,
                )
            }
            typed::Effect::Assert { cond, message } => {
                let mut operands = self.expr(frame, cond)?.leaves();
                let (message, said) = self.pieces(frame, message, span)?;
                operands.extend(said);
                (Effect::Assert(message), operands)
            }
            typed::Effect::Log { step, values } => {
                let mut operands = self.expr(frame, step)?.leaves();
                for (_, value) in values {
                    operands.extend(self.expr(frame, value)?.leaves());
                }
                let names = values.iter().map(|(name, _)| name.to_string()).collect();
                (Effect::Metrics { names }, operands)
            }
            typed::Effect::AssertClose {
                actual,
                expected,
                tolerance,
            } => {
                let mut operands = self.expr(frame, actual)?.leaves();
                operands.extend(self.expr(frame, expected)?.leaves());
                (
                    Effect::AssertClose {
                        tolerance_bits: tolerance.to_bits(),
                    },
                    operands,
                )
            }
        };
        self.b.span = span;
        let op = Op::Effect(effect, Here(span));
        self.b.push(op, operands, Vec::new());
        Ok(())
    }

    /// What is printed, and the leaves of its values in order.
    fn pieces(
        &mut self,
        frame: &mut Frame,
        pieces: &[typed::PrintPiece],
        span: Span,
    ) -> Result<(Vec<PrintPiece>, Vec<Value>)> {
        let mut operands = Vec::new();
        let mut out = Vec::new();
        for piece in pieces {
            out.push(match piece {
                typed::PrintPiece::Text(text) => PrintPiece::Text(text.clone()),
                typed::PrintPiece::Value { value, spec } => {
                    operands.extend(self.expr(frame, value)?.leaves());
                    PrintPiece::Value {
                        tree: tree_shape(&frame.ty(&value.ty, span)?),
                        spec: spec.clone(),
                    }
                }
            });
        }
        Ok((out, operands))
    }

    pub(crate) fn host(&mut self, frame: &Frame, host: &Host, ty: &Ty, span: Span) -> Result<Val> {
        let ty = frame.ty(ty, span)?;
        let source = match host {
            Host::Dataset { name } => HostSource::Dataset {
                name: name.clone(),
                fields: fields(&ty),
            },
            Host::Load { path } => HostSource::Load {
                path: path.clone(),
                fields: fields(&ty),
            },
            Host::NumpyPermutations { seed, n, count } => HostSource::NumpyPermutations {
                seed: *seed,
                n: frame.size(n, span)?,
                count: frame.size(count, span)?,
            },
            Host::Time => HostSource::Time,
        };
        let leaves = self.b.push(Op::Host(source), Vec::new(), Vec::new());
        Ok(Val::of_type(&ty, &mut leaves.into_iter()))
    }
}

impl Specialiser<'_> {
    /// The batch of a turn of a loop.
    pub(crate) fn batch(
        &mut self,
        frame: &Frame,
        batches: &Batches,
        (key, i): (Value, Value),
        span: Span,
    ) -> Result<Val> {
        let ty = frame.ty(&batches.ty, span)?;
        let source = HostSource::Batches {
            path: batches.path.clone(),
            fields: fields(&ty),
            count: batches.count,
        };
        self.b.span = span;
        let leaves = self.b.push(Op::Host(source), vec![key, i], Vec::new());
        Ok(Val::of_type(&ty, &mut leaves.into_iter()))
    }
}

fn tree_shape(ty: &Ty) -> TreeShape {
    match ty {
        Ty::Tuple(fields) => TreeShape::Tuple(fields.iter().map(tree_shape).collect()),
        Ty::Record(fields) => TreeShape::Record(
            fields
                .iter()
                .map(|(n, t)| (n.to_string(), tree_shape(t)))
                .collect(),
        ),
        Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => TreeShape::Leaf,
    }
}

/// Dotted paths of the leaves below `root`: `opt.m.w1`, `0.b`; a bare tensor without a root is `value`.
pub(super) fn leaf_names(ty: &Ty, root: &str) -> Vec<String> {
    // The names of files may be empty, so an empty path is not the same as none.
    fn go(ty: &Ty, path: Option<&str>, out: &mut Vec<String>) {
        let join = |name: &str| match path {
            None => name.to_string(),
            Some(path) => format!("{path}.{name}"),
        };
        match ty {
            Ty::Tuple(fields) => fields
                .iter()
                .enumerate()
                .for_each(|(i, t)| go(t, Some(&join(&i.to_string())), out)),
            Ty::Record(fields) => fields.iter().for_each(|(n, t)| go(t, Some(&join(n)), out)),
            Ty::Fn(..) => {}
            Ty::Tensor(..) | Ty::Tree { .. } | Ty::Var(_) | Ty::Error => {
                out.push(path.unwrap_or("value").to_string());
            }
        }
    }
    let mut out = Vec::new();
    go(ty, (!root.is_empty()).then_some(root), &mut out);
    out
}

fn fields(ty: &Ty) -> Vec<(String, Type)> {
    leaf_names(ty, "").into_iter().zip(leaf_types(ty)).collect()
}
