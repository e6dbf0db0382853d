//! The attributes of every primitive, as they are written after its name.

use super::attr::Attr;
use super::literal::write_bits;
use crate::ir::op::*;
use crate::ir::types::{Elem, Type};

type Fields = Vec<(&'static str, Attr)>;

/// The attributes that stand in brackets after the name. A constant's value and what the result types state are not among them.
pub fn write(op: &Op) -> Fields {
    match op {
        Op::Constant(_) => vec![],
        Op::Iota { ty: _, axis } => vec![("axis", Attr::word(axis))],
        Op::Unary(op) => match op {
            UnaryOp::Polygamma(order) => vec![("order", Attr::word(order))],
            _ => vec![],
        },
        Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Clamp => vec![],
        Op::Convert(_) | Op::Bitcast(_) | Op::Threefry => vec![],
        Op::Broadcast { shape: _, dims } => vec![("dims", Attr::words(dims))],
        Op::Reshape { shape: _ } => vec![],
        Op::Transpose { perm } => vec![("perm", Attr::words(perm))],
        Op::Slice {
            start,
            limit,
            stride,
        } => vec![
            ("start", Attr::words(start)),
            ("limit", Attr::words(limit)),
            ("stride", Attr::words(stride)),
        ],
        Op::Pad {
            low,
            high,
            interior,
        } => vec![
            ("low", Attr::words(low)),
            ("high", Attr::words(high)),
            ("interior", Attr::words(interior)),
        ],
        Op::Concat { axis } => vec![("axis", Attr::word(axis))],
        Op::Reverse { axes } => vec![("axes", Attr::words(axes))],
        Op::DynamicSlice { sizes } => vec![("sizes", Attr::words(sizes))],
        Op::DynamicUpdateSlice => vec![],
        Op::Gather(dims) => gather(dims),
        Op::Scatter { op: _, dims } => scatter(dims),
        Op::Reduce { op: _, axes } => vec![("axes", Attr::words(axes))],
        Op::ArgReduce { max: _, axis } => vec![("axis", Attr::word(axis))],
        Op::Cumulate {
            op: _,
            axis,
            reverse,
        } => flagged(vec![("axis", Attr::word(axis))], &[("reverse", *reverse)]),
        Op::ReduceWindow { op: _, window: w }
        | Op::WindowGather { max: _, window: w }
        | Op::WindowScatter { max: _, window: w } => window(w),
        Op::Dot(dims) => dot(dims),
        Op::Conv(dims) => conv(dims),
        Op::Cholesky => vec![],
        Op::TriangularSolve {
            left,
            lower,
            transpose,
            unit_diagonal,
        } => flagged(
            vec![],
            &[
                ("left", *left),
                ("lower", *lower),
                ("transpose", *transpose),
                ("unit_diagonal", *unit_diagonal),
            ],
        ),
        Op::Sort {
            axis,
            keys,
            descending,
            total,
        } => flagged(
            vec![("axis", Attr::word(axis)), ("keys", Attr::word(keys))],
            &[("descending", *descending), ("total", *total)],
        ),
        Op::Scan {
            length,
            reverse,
            carry,
        } => flagged(
            vec![("length", Attr::word(length)), ("carry", Attr::word(carry))],
            &[("reverse", *reverse)],
        ),
        Op::While | Op::If | Op::CustomVjp | Op::Remat | Op::StopGradient | Op::Barrier => vec![],
        Op::Shard { axes } => {
            let axis = |a: &Option<String>| match a {
                Some(name) => Attr::Text(name.clone()),
                None => Attr::word("_"),
            };
            vec![("axes", Attr::List(axes.iter().map(axis).collect()))]
        }
        Op::Host(source) => host(source),
        Op::Effect(e, _) => effect(e),
    }
}

fn gather(dims: &GatherDims) -> Fields {
    vec![
        ("offset_dims", Attr::words(&dims.offset_dims)),
        (
            "collapsed_slice_dims",
            Attr::words(&dims.collapsed_slice_dims),
        ),
        (
            "operand_batching_dims",
            Attr::words(&dims.operand_batching_dims),
        ),
        (
            "start_indices_batching_dims",
            Attr::words(&dims.start_indices_batching_dims),
        ),
        ("start_index_map", Attr::words(&dims.start_index_map)),
        ("index_vector_dim", Attr::word(dims.index_vector_dim)),
        ("slice_sizes", Attr::words(&dims.slice_sizes)),
    ]
}

fn scatter(dims: &ScatterDims) -> Fields {
    vec![
        ("update_window_dims", Attr::words(&dims.update_window_dims)),
        (
            "inserted_window_dims",
            Attr::words(&dims.inserted_window_dims),
        ),
        (
            "input_batching_dims",
            Attr::words(&dims.input_batching_dims),
        ),
        (
            "scatter_indices_batching_dims",
            Attr::words(&dims.scatter_indices_batching_dims),
        ),
        (
            "scatter_dims_to_operand_dims",
            Attr::words(&dims.scatter_dims_to_operand_dims),
        ),
        ("index_vector_dim", Attr::word(dims.index_vector_dim)),
    ]
}

fn window(window: &Window) -> Fields {
    vec![
        ("size", Attr::words(&window.size)),
        ("stride", Attr::words(&window.stride)),
        ("padding", Attr::pairs(&window.padding)),
        ("base_dilation", Attr::words(&window.base_dilation)),
        ("window_dilation", Attr::words(&window.window_dilation)),
    ]
}

fn dot(dims: &DotDims) -> Fields {
    let mut fields = vec![];
    if !dims.lhs_batch.is_empty() || !dims.rhs_batch.is_empty() {
        fields.push(("batch", Attr::cross(&dims.lhs_batch, &dims.rhs_batch)));
    }
    fields.push((
        "contract",
        Attr::cross(&dims.lhs_contract, &dims.rhs_contract),
    ));
    fields
}

fn conv(dims: &ConvDims) -> Fields {
    let layout =
        |a: usize, b: usize, spatial: &[usize]| Attr::words(&[&[a, b][..], spatial].concat());
    vec![
        ("stride", Attr::words(&dims.stride)),
        ("padding", Attr::pairs(&dims.padding)),
        ("lhs_dilation", Attr::words(&dims.lhs_dilation)),
        ("rhs_dilation", Attr::words(&dims.rhs_dilation)),
        ("reverse", Attr::words(&dims.reverse)),
        (
            "input",
            layout(dims.input_batch, dims.input_feature, &dims.input_spatial),
        ),
        (
            "kernel",
            layout(dims.kernel_input, dims.kernel_output, &dims.kernel_spatial),
        ),
        (
            "output",
            layout(dims.output_batch, dims.output_feature, &dims.output_spatial),
        ),
        ("feature_groups", Attr::word(dims.feature_groups)),
        ("batch_groups", Attr::word(dims.batch_groups)),
    ]
}

fn host(source: &HostSource) -> Fields {
    let names = |fields: &[(String, Type)]| {
        Attr::List(fields.iter().map(|(n, _)| Attr::Text(n.clone())).collect())
    };
    match source {
        HostSource::Dataset { name, fields } => vec![
            ("name", Attr::Text(name.clone())),
            ("fields", names(fields)),
        ],
        HostSource::Load { path, fields } => vec![
            ("path", Attr::Text(path.clone())),
            ("fields", names(fields)),
        ],
        HostSource::Batches {
            path,
            fields,
            count,
        } => vec![
            ("path", Attr::Text(path.clone())),
            ("fields", names(fields)),
            ("count", Attr::word(count)),
        ],
        HostSource::NumpyPermutations { seed, n, count } => vec![
            ("seed", Attr::word(seed)),
            ("n", Attr::word(n)),
            ("count", Attr::word(count)),
        ],
        HostSource::Time => vec![],
    }
}

fn effect(effect: &Effect) -> Fields {
    match effect {
        Effect::Print(pieces) | Effect::Debug(pieces) | Effect::Assert(pieces) => {
            vec![("pieces", Attr::List(pieces.iter().map(piece).collect()))]
        }
        Effect::Save { path, names } => vec![
            ("path", Attr::Text(path.clone())),
            (
                "names",
                Attr::List(names.iter().cloned().map(Attr::Text).collect()),
            ),
        ],
        Effect::Metrics { names } => vec![(
            "names",
            Attr::List(names.iter().cloned().map(Attr::Text).collect()),
        )],
        Effect::AssertClose { tolerance_bits } => {
            vec![(
                "tolerance",
                Attr::Word(write_bits(Elem::F64, *tolerance_bits)),
            )]
        }
    }
}

fn piece(piece: &PrintPiece) -> Attr {
    match piece {
        PrintPiece::Text(text) => Attr::Text(text.clone()),
        PrintPiece::Value { tree: t, spec } => match spec {
            None => tree(t),
            Some(spec) => Attr::Call("format".into(), vec![tree(t), Attr::Text(spec.clone())]),
        },
    }
}

fn tree(shape: &TreeShape) -> Attr {
    match shape {
        TreeShape::Leaf => Attr::word("_"),
        TreeShape::Tuple(items) => Attr::Tuple(items.iter().map(tree).collect()),
        TreeShape::Record(fields) => {
            Attr::Record(fields.iter().map(|(n, t)| (n.clone(), tree(t))).collect())
        }
    }
}

/// Appends the words whose flag is set.
fn flagged(mut fields: Fields, flags: &[(&'static str, bool)]) -> Fields {
    fields.extend(
        flags
            .iter()
            .filter(|(_, set)| *set)
            .map(|(name, _)| (*name, Attr::word("true"))),
    );
    fields
}
