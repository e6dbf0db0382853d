//! Shape rules of regions and of effects.

use super::{is_numeric, operands, require, same_type};
use crate::ir::op::{Effect, HostSource, Op, PrintPiece, TreeShape};
use crate::ir::types::{Elem, Type};

/// The parameters that region `index` of a primitive takes, from its operands and the result types of its regions.
/// Empty for a primitive without regions.
pub fn region_params(op: &Op, index: usize, args: &[&Type], regions: &[Vec<Type>]) -> Vec<Type> {
    let all = || args.iter().map(|&t| t.clone()).collect::<Vec<_>>();
    match region_form(op) {
        RegionForm::None | RegionForm::Branches => Vec::new(),
        RegionForm::Scan { carry } => {
            let (carries, xs) = args.split_at(carry.min(args.len()));
            let slices = xs
                .iter()
                .map(|t| t.with_shape(t.shape.get(1..).unwrap_or_default()));
            std::iter::once(Type::scalar(Elem::I32))
                .chain(carries.iter().map(|&t| t.clone()))
                .chain(slices)
                .collect()
        }
        RegionForm::While | RegionForm::Function => all(),
        RegionForm::FunctionAndDerivative if index == 0 => all(),
        RegionForm::FunctionAndDerivative => {
            let results = regions.first().map_or(&[][..], |r| r);
            let cotangents = results.iter().filter(|t| t.elem.is_float());
            all()
                .iter()
                .chain(results)
                .chain(cotangents)
                .cloned()
                .collect()
        }
    }
}

/// How many regions a primitive holds.
pub fn region_count(op: &Op) -> usize {
    match region_form(op) {
        RegionForm::None => 0,
        RegionForm::Scan { .. } | RegionForm::Function => 1,
        RegionForm::While | RegionForm::Branches | RegionForm::FunctionAndDerivative => 2,
    }
}

/// What the regions of a primitive are to it.
enum RegionForm {
    None,
    Scan {
        carry: usize,
    },
    /// Condition, then body.
    While,
    /// Then, and else.
    Branches,
    FunctionAndDerivative,
    Function,
}

fn region_form(op: &Op) -> RegionForm {
    match op {
        Op::Scan { carry, .. } => RegionForm::Scan { carry: *carry },
        Op::While => RegionForm::While,
        Op::If => RegionForm::Branches,
        Op::CustomVjp => RegionForm::FunctionAndDerivative,
        Op::Remat => RegionForm::Function,
        Op::Constant(_)
        | Op::Iota { .. }
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::Threefry
        | Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Gather(_)
        | Op::Scatter { .. }
        | Op::Reduce { .. }
        | Op::ArgReduce { .. }
        | Op::Cumulate { .. }
        | Op::ReduceWindow { .. }
        | Op::WindowGather { .. }
        | Op::WindowScatter { .. }
        | Op::Dot(_)
        | Op::Conv(_)
        | Op::Cholesky
        | Op::TriangularSolve { .. }
        | Op::Sort { .. }
        | Op::StopGradient
        | Op::Barrier
        | Op::Shard { .. }
        | Op::Host(_)
        | Op::Effect(..) => RegionForm::None,
    }
}

pub fn scan(
    length: usize,
    carry: usize,
    args: &[&Type],
    body: &[Type],
) -> Result<Vec<Type>, String> {
    require(carry <= args.len() && carry <= body.len(), || {
        format!(
            "{carry} carries of {} operands and {} results",
            args.len(),
            body.len()
        )
    })?;
    let (carries, xs) = args.split_at(carry);
    for (i, (start, next)) in carries.iter().zip(body).enumerate() {
        require(*start == next, || {
            format!("carry {i} begins as {start} and becomes {next}")
        })?;
    }
    for t in xs {
        require(t.shape.first() == Some(&length), || {
            format!("{t} does not have the {length} slices of the loop")
        })?;
    }
    let stacked = body[carry..].iter().map(|t| {
        let mut shape = vec![length];
        shape.extend(&t.shape);
        t.with_shape(shape)
    });
    Ok(body[..carry].iter().cloned().chain(stacked).collect())
}

pub fn while_loop(args: &[&Type], condition: &[Type], body: &[Type]) -> Result<Vec<Type>, String> {
    require(condition == [Type::scalar(Elem::Bool)], || {
        format!("the condition gives {}", list(condition))
    })?;
    require(args.iter().copied().eq(body), || {
        format!("the carries become {}", list(body))
    })?;
    Ok(body.to_vec())
}

pub fn branch(args: &[&Type], then: &[Type], otherwise: &[Type]) -> Result<Vec<Type>, String> {
    let [condition] = operands(args)?;
    is_bool_scalar(condition)?;
    require(then == otherwise, || {
        format!("branches give {} and {}", list(then), list(otherwise))
    })?;
    Ok(then.to_vec())
}

pub fn custom_vjp(
    args: &[&Type],
    function: &[Type],
    cotangents: &[Type],
) -> Result<Vec<Type>, String> {
    let floats = args.iter().copied().filter(|t| t.elem.is_float());
    require(floats.eq(cotangents), || {
        format!("the derivative gives {}", list(cotangents))
    })?;
    Ok(function.to_vec())
}

pub fn host(source: &HostSource, args: &[&Type]) -> Result<Vec<Type>, String> {
    if let HostSource::Batches { .. } = source {
        let [key, i] = super::operands(args)?;
        let fits = *key == Type::new(Elem::U32, [2]) && *i == Type::scalar(Elem::I32);
        require(fits, || format!("{key} and {i} are no key and position"))?;
    } else {
        let [] = super::operands(args)?;
    }
    Ok(match source {
        HostSource::Dataset { fields, .. }
        | HostSource::Load { fields, .. }
        | HostSource::Batches { fields, .. } => fields.iter().map(|(_, t)| t.clone()).collect(),
        HostSource::NumpyPermutations { n, count, .. } => {
            vec![Type::new(Elem::I32, [*count, *n])]
        }
        HostSource::Time => vec![Type::scalar(Elem::F64)],
    })
}

pub fn effect(effect: &Effect, args: &[&Type]) -> Result<(), String> {
    match effect {
        Effect::Print(pieces) | Effect::Debug(pieces) => print(pieces, args),
        Effect::Save { names, .. } => require(names.len() == args.len(), || {
            format!("{} names for {} operands", names.len(), args.len())
        }),
        Effect::Assert(message) => {
            let (condition, said) = args.split_first().ok_or("there is no condition")?;
            is_bool_scalar(condition)?;
            print(message, said)
        }
        Effect::Metrics { names } => {
            require(names.len() + 1 == args.len(), || {
                format!("{} names for {} operands", names.len(), args.len())
            })?;
            args.iter().try_for_each(|t| {
                is_numeric(t)?;
                require(t.rank() == 0, || format!("{t} is no single number"))
            })
        }
        Effect::AssertClose { .. } => {
            require(args.len().is_multiple_of(2), || {
                format!("{} operands do not pair up", args.len())
            })?;
            let (actual, expected) = args.split_at(args.len() / 2);
            for (a, b) in actual.iter().zip(expected) {
                same_type(a, b)?;
            }
            Ok(())
        }
    }
}

fn print(pieces: &[PrintPiece], args: &[&Type]) -> Result<(), String> {
    let mut rest = args;
    for piece in pieces {
        match piece {
            PrintPiece::Text(_) => {}
            PrintPiece::Value { tree, spec } => {
                let count = leaves(tree);
                require(count <= rest.len(), || {
                    format!("{} operands are too few to print", args.len())
                })?;
                let (mine, others) = rest.split_at(count);
                rest = others;
                let scalar = matches!(mine, [t] if t.rank() == 0) && *tree == TreeShape::Leaf;
                require(spec.is_none() || scalar, || {
                    "only a scalar has a format".into()
                })?;
            }
        }
    }
    require(rest.is_empty(), || {
        format!("{} operands are not printed", rest.len())
    })
}

fn leaves(tree: &TreeShape) -> usize {
    match tree {
        TreeShape::Leaf => 1,
        TreeShape::Tuple(items) => items.iter().map(leaves).sum(),
        TreeShape::Record(fields) => fields.iter().map(|(_, t)| leaves(t)).sum(),
    }
}

fn is_bool_scalar(t: &Type) -> Result<(), String> {
    require(*t == Type::scalar(Elem::Bool), || {
        format!("condition is {t} instead of bool")
    })
}

fn list(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(Type::to_string).collect();
    format!("({})", names.join(", "))
}
