//! The primitive of a name and attributes: the inverse of `write`.

use super::attr::{Attr, Attrs};
use super::literal::read_literal;
use crate::ir::op::*;
use crate::ir::types::{Elem, Type};

/// The primitive written as `name` with `attrs`. `value` is that of a constant; `results` are the written result types.
pub fn read(
    name: &str,
    mut attrs: Attrs,
    value: Option<&Attr>,
    results: &[Type],
) -> Result<Op, String> {
    let op = primitive(name, &mut attrs, value, results)?;
    attrs.finish()?;
    Ok(op)
}

fn primitive(
    name: &str,
    attrs: &mut Attrs,
    value: Option<&Attr>,
    results: &[Type],
) -> Result<Op, String> {
    if let Some(op) = elementwise(name) {
        return Ok(op);
    }
    if let Some(op) = reduction(name, attrs) {
        return op;
    }
    Ok(match name {
        "constant" => {
            let value = value.ok_or("a constant needs a value")?;
            Op::Constant(read_literal(value, result(results)?)?)
        }
        "iota" => Op::Iota {
            ty: result(results)?.clone(),
            axis: attrs.word("axis")?,
        },
        "polygamma" => Op::Unary(UnaryOp::Polygamma(attrs.word("order")?)),
        "select" => Op::Select,
        "clamp" => Op::Clamp,
        "convert" => Op::Convert(result(results)?.elem),
        "bitcast" => Op::Bitcast(result(results)?.elem),
        "threefry" => Op::Threefry,
        "broadcast" => Op::Broadcast {
            shape: result(results)?.shape.clone(),
            dims: attrs.words("dims")?,
        },
        "reshape" => Op::Reshape {
            shape: result(results)?.shape.clone(),
        },
        "transpose" => Op::Transpose {
            perm: attrs.words("perm")?,
        },
        "slice" => Op::Slice {
            start: attrs.words("start")?,
            limit: attrs.words("limit")?,
            stride: attrs.words("stride")?,
        },
        "pad" => Op::Pad {
            low: attrs.words("low")?,
            high: attrs.words("high")?,
            interior: attrs.words("interior")?,
        },
        "concat" => Op::Concat {
            axis: attrs.word("axis")?,
        },
        "reverse" => Op::Reverse {
            axes: attrs.words("axes")?,
        },
        "dynamic_slice" => Op::DynamicSlice {
            sizes: attrs.words("sizes")?,
        },
        "dynamic_update_slice" => Op::DynamicUpdateSlice,
        "gather" => Op::Gather(gather(attrs)?),
        "scatter_set" => Op::Scatter {
            op: ScatterOp::Set,
            dims: scatter(attrs)?,
        },
        "scatter_add" => Op::Scatter {
            op: ScatterOp::Add,
            dims: scatter(attrs)?,
        },
        "argmax" | "argmin" => Op::ArgReduce {
            max: name == "argmax",
            axis: attrs.word("axis")?,
        },
        "window_gather_max" | "window_gather_min" => Op::WindowGather {
            max: name.ends_with("max"),
            window: window(attrs)?,
        },
        "window_scatter_max" | "window_scatter_min" => Op::WindowScatter {
            max: name.ends_with("max"),
            window: window(attrs)?,
        },
        "dot_general" => Op::Dot(dot(attrs)?),
        "conv" => Op::Conv(conv(attrs)?),
        "cholesky" => Op::Cholesky,
        "triangular_solve" => Op::TriangularSolve {
            left: attrs.flag("left")?,
            lower: attrs.flag("lower")?,
            transpose: attrs.flag("transpose")?,
            unit_diagonal: attrs.flag("unit_diagonal")?,
        },
        "sort" => Op::Sort {
            axis: attrs.word("axis")?,
            keys: attrs.word("keys")?,
            descending: attrs.flag("descending")?,
            total: attrs.flag("total")?,
        },
        "scan" => Op::Scan {
            length: attrs.word("length")?,
            reverse: attrs.flag("reverse")?,
            carry: attrs.word("carry")?,
        },
        "while" => Op::While,
        "if" => Op::If,
        "custom_vjp" => Op::CustomVjp,
        "remat" => Op::Remat,
        "stop_gradient" => Op::StopGradient,
        "barrier" => Op::Barrier,
        "shard" => Op::Shard {
            axes: attrs
                .take("axes")?
                .list()?
                .iter()
                .map(|a| match a {
                    Attr::Word(w) if w == "_" => Ok(None),
                    other => other.text().map(Some),
                })
                .collect::<Result<_, _>>()?,
        },
        _ => return outside(name, attrs, results),
    })
}

fn elementwise(name: &str) -> Option<Op> {
    let unary = UnaryOp::ALL.into_iter().find(|op| op.name() == name);
    let binary = BinaryOp::ALL.into_iter().find(|op| op.name() == name);
    let compare = CompareOp::ALL.into_iter().find(|op| op.name() == name);
    unary
        .map(Op::Unary)
        .or(binary.map(Op::Binary))
        .or(compare.map(Op::Compare))
}

fn reduction(name: &str, attrs: &mut Attrs) -> Option<Result<Op, String>> {
    let combination = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        ReduceOp::ALL.into_iter().find(|op| op.name() == rest)
    };
    if let Some(op) = combination("reduce_window_") {
        return Some(window(attrs).map(|window| Op::ReduceWindow { op, window }));
    }
    if let Some(op) = combination("reduce_") {
        return Some(attrs.words("axes").map(|axes| Op::Reduce { op, axes }));
    }
    combination("cum").map(|op| {
        Ok(Op::Cumulate {
            op,
            axis: attrs.word("axis")?,
            reverse: attrs.flag("reverse")?,
        })
    })
}

fn outside(name: &str, attrs: &mut Attrs, results: &[Type]) -> Result<Op, String> {
    Ok(match name {
        "dataset" => Op::Host(HostSource::Dataset {
            name: attrs.text("name")?,
            fields: fields(attrs, results)?,
        }),
        "load" => Op::Host(HostSource::Load {
            path: attrs.text("path")?,
            fields: fields(attrs, results)?,
        }),
        "batches" => Op::Host(HostSource::Batches {
            path: attrs.text("path")?,
            fields: fields(attrs, results)?,
            count: attrs.word("count")?,
        }),
        "numpy_permutations" => Op::Host(HostSource::NumpyPermutations {
            seed: attrs.word("seed")?,
            n: attrs.word("n")?,
            count: attrs.word("count")?,
        }),
        "time" => Op::Host(HostSource::Time),
        "print" => Op::effect(Effect::Print(pieces(attrs)?)),
        "debug" => Op::effect(Effect::Debug(pieces(attrs)?)),
        "save" => Op::effect(Effect::Save {
            path: attrs.text("path")?,
            names: texts(attrs, "names")?,
        }),
        "assert" => Op::effect(Effect::Assert(pieces(attrs)?)),
        "metrics" => Op::effect(Effect::Metrics {
            names: texts(attrs, "names")?,
        }),
        "assert_close" => {
            let tolerance = attrs.take("tolerance")?;
            let literal = read_literal(&tolerance, &Type::scalar(Elem::F64))?;
            Op::effect(Effect::AssertClose {
                tolerance_bits: literal.bit(0),
            })
        }
        _ => return Err(format!("`{name}` is no primitive")),
    })
}

fn pieces(attrs: &mut Attrs) -> Result<Vec<PrintPiece>, String> {
    let pieces = attrs.take("pieces")?;
    pieces.list()?.iter().map(piece).collect()
}

fn gather(attrs: &mut Attrs) -> Result<GatherDims, String> {
    Ok(GatherDims {
        offset_dims: attrs.words("offset_dims")?,
        collapsed_slice_dims: attrs.words("collapsed_slice_dims")?,
        operand_batching_dims: attrs.words("operand_batching_dims")?,
        start_indices_batching_dims: attrs.words("start_indices_batching_dims")?,
        start_index_map: attrs.words("start_index_map")?,
        index_vector_dim: attrs.word("index_vector_dim")?,
        slice_sizes: attrs.words("slice_sizes")?,
    })
}

fn scatter(attrs: &mut Attrs) -> Result<ScatterDims, String> {
    Ok(ScatterDims {
        update_window_dims: attrs.words("update_window_dims")?,
        inserted_window_dims: attrs.words("inserted_window_dims")?,
        input_batching_dims: attrs.words("input_batching_dims")?,
        scatter_indices_batching_dims: attrs.words("scatter_indices_batching_dims")?,
        scatter_dims_to_operand_dims: attrs.words("scatter_dims_to_operand_dims")?,
        index_vector_dim: attrs.word("index_vector_dim")?,
    })
}

fn window(attrs: &mut Attrs) -> Result<Window, String> {
    Ok(Window {
        size: attrs.words("size")?,
        stride: attrs.words("stride")?,
        padding: attrs.pairs("padding")?,
        base_dilation: attrs.words("base_dilation")?,
        window_dilation: attrs.words("window_dilation")?,
    })
}

fn dot(attrs: &mut Attrs) -> Result<DotDims, String> {
    let (lhs_batch, rhs_batch) = attrs.cross("batch")?;
    let (lhs_contract, rhs_contract) = attrs.cross("contract")?;
    Ok(DotDims {
        lhs_batch,
        rhs_batch,
        lhs_contract,
        rhs_contract,
    })
}

fn conv(attrs: &mut Attrs) -> Result<ConvDims, String> {
    let mut layout = |name: &str| {
        let dims: Vec<usize> = attrs.words(name)?;
        match dims[..] {
            [a, b, ref spatial @ ..] => Ok((a, b, spatial.to_vec())),
            _ => Err(format!("`{name}` needs at least two dimensions")),
        }
    };
    let (input_batch, input_feature, input_spatial) = layout("input")?;
    let (kernel_input, kernel_output, kernel_spatial) = layout("kernel")?;
    let (output_batch, output_feature, output_spatial) = layout("output")?;
    Ok(ConvDims {
        stride: attrs.words("stride")?,
        padding: attrs.pairs("padding")?,
        lhs_dilation: attrs.words("lhs_dilation")?,
        rhs_dilation: attrs.words("rhs_dilation")?,
        reverse: attrs.words("reverse")?,
        input_batch,
        input_feature,
        input_spatial,
        kernel_input,
        kernel_output,
        kernel_spatial,
        output_batch,
        output_feature,
        output_spatial,
        feature_groups: attrs.word("feature_groups")?,
        batch_groups: attrs.word("batch_groups")?,
    })
}

fn fields(attrs: &mut Attrs, results: &[Type]) -> Result<Vec<(String, Type)>, String> {
    let names = texts(attrs, "fields")?;
    if names.len() != results.len() {
        return Err(format!(
            "{} fields for {} results",
            names.len(),
            results.len()
        ));
    }
    Ok(names.into_iter().zip(results.iter().cloned()).collect())
}

fn texts(attrs: &mut Attrs, name: &str) -> Result<Vec<String>, String> {
    attrs.take(name)?.list()?.iter().map(Attr::text).collect()
}

fn piece(attr: &Attr) -> Result<PrintPiece, String> {
    match attr {
        Attr::Text(text) => Ok(PrintPiece::Text(text.clone())),
        Attr::Call(name, items) if name == "format" && items.len() == 2 => Ok(PrintPiece::Value {
            tree: tree(&items[0])?,
            spec: Some(items[1].text()?),
        }),
        other => Ok(PrintPiece::Value {
            tree: tree(other)?,
            spec: None,
        }),
    }
}

fn tree(attr: &Attr) -> Result<TreeShape, String> {
    match attr {
        Attr::Word(w) if w == "_" => Ok(TreeShape::Leaf),
        Attr::Tuple(items) => items
            .iter()
            .map(tree)
            .collect::<Result<_, _>>()
            .map(TreeShape::Tuple),
        Attr::Record(fields) => fields
            .iter()
            .map(|(n, t)| Ok((n.clone(), tree(t)?)))
            .collect::<Result<_, String>>()
            .map(TreeShape::Record),
        other => Err(format!("`{other}` is no tree of operands")),
    }
}

fn result(results: &[Type]) -> Result<&Type, String> {
    match results {
        [t] => Ok(t),
        _ => Err(format!("{} results instead of 1", results.len())),
    }
}
