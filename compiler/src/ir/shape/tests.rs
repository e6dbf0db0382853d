//! Shape rules: what each gives, and a sentence for each way the operands can fail to fit.

use super::infer;
use crate::ir::op::*;
use crate::ir::types::{Elem, Type};

fn f32(shape: &[usize]) -> Type {
    Type::new(Elem::F32, shape)
}

fn i32(shape: &[usize]) -> Type {
    Type::new(Elem::I32, shape)
}

fn one(op: Op, args: &[Type]) -> Result<String, String> {
    let args: Vec<&Type> = args.iter().collect();
    infer(&op, &args, &[]).map(|types| {
        let names: Vec<String> = types.iter().map(Type::to_string).collect();
        names.join(" ")
    })
}

fn ok(op: Op, args: &[Type], expected: &str) {
    assert_eq!(one(op, args).as_deref(), Ok(expected));
}

fn fails(op: Op, args: &[Type], part: &str) {
    match one(op, args) {
        Ok(t) => panic!("gives {t}"),
        Err(e) => assert!(e.contains(part), "{e}"),
    }
}

#[test]
fn elementwise() {
    ok(Op::Unary(UnaryOp::Exp), &[f32(&[2])], "f32[2]");
    ok(Op::Unary(UnaryOp::IsFinite), &[f32(&[2])], "bool[2]");
    fails(Op::Unary(UnaryOp::Exp), &[i32(&[2])], "not a float");
    fails(Op::Unary(UnaryOp::Not), &[f32(&[2])], "not integer or bool");
    fails(Op::Binary(BinaryOp::Add), &[f32(&[2]), f32(&[1])], "differ");
    fails(
        Op::Binary(BinaryOp::Shl),
        &[f32(&[]), f32(&[])],
        "not an integer",
    );
    ok(
        Op::Compare(CompareOp::Lt),
        &[i32(&[3]), i32(&[3])],
        "bool[3]",
    );
    let mask = Type::new(Elem::Bool, [2]);
    ok(Op::Select, &[mask.clone(), f32(&[2]), f32(&[2])], "f32[2]");
    fails(Op::Select, &[mask, f32(&[3]), f32(&[3])], "shapes differ");
    ok(Op::Bitcast(Elem::U32), &[f32(&[2])], "u32[2]");
    fails(Op::Bitcast(Elem::U64), &[f32(&[2])], "bits");
    let key = Type::scalar(Elem::U32);
    let four = [key.clone(), key.clone(), key.clone(), key];
    ok(Op::Threefry, &four, "u32 u32");
}

#[test]
fn structural() {
    let up = |shape: &[usize], dims: &[usize]| Op::Broadcast {
        shape: shape.to_vec(),
        dims: dims.to_vec(),
    };
    ok(up(&[4, 3], &[1]), &[f32(&[3])], "f32[4, 3]");
    ok(up(&[4, 3], &[0, 1]), &[f32(&[1, 3])], "f32[4, 3]");
    fails(up(&[4, 3], &[1]), &[f32(&[4])], "does not stretch");
    fails(up(&[4, 3], &[1, 0]), &[f32(&[3, 4])], "do not ascend");
    let slice = |start: usize, limit: usize, stride: usize| Op::Slice {
        start: vec![start],
        limit: vec![limit],
        stride: vec![stride],
    };
    ok(slice(1, 6, 2), &[f32(&[6])], "f32[3]");
    fails(slice(1, 7, 2), &[f32(&[6])], "does not fit");
    let pad = |low: i64, high: i64, interior: usize| Op::Pad {
        low: vec![low],
        high: vec![high],
        interior: vec![interior],
    };
    ok(pad(1, -2, 3), &[f32(&[4]), f32(&[])], "f32[12]");
    ok(pad(1, 0, 3), &[f32(&[0]), f32(&[])], "f32[1]");
    fails(pad(-2, -3, 0), &[f32(&[4]), f32(&[])], "padded to -1");
    ok(
        Op::Concat { axis: 0 },
        &[i32(&[2, 3]), i32(&[1, 3])],
        "i32[3, 3]",
    );
    fails(
        Op::Concat { axis: 0 },
        &[i32(&[2, 3]), i32(&[1, 2])],
        "do not join",
    );
    fails(Op::Concat { axis: 0 }, &[], "no operands");
    fails(
        Op::Broadcast {
            shape: vec![usize::MAX, 2],
            dims: vec![],
        },
        &[f32(&[])],
        "larger than memory",
    );
}

#[test]
fn indexing() {
    let take = GatherDims {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        operand_batching_dims: vec![],
        start_indices_batching_dims: vec![],
        start_index_map: vec![0],
        index_vector_dim: 1,
        slice_sizes: vec![1, 784],
    };
    ok(
        Op::Gather(take.clone()),
        &[f32(&[600, 784]), i32(&[128])],
        "f32[128, 784]",
    );
    ok(
        Op::Gather(take.clone()),
        &[f32(&[600, 784]), i32(&[128, 1])],
        "f32[128, 784]",
    );
    fails(
        Op::Gather(take),
        &[f32(&[600, 784]), i32(&[128, 2])],
        "index vectors of 2",
    );
    let put = Op::Scatter {
        op: ScatterOp::Add,
        dims: ScatterDims {
            update_window_dims: vec![1],
            inserted_window_dims: vec![0],
            input_batching_dims: vec![],
            scatter_indices_batching_dims: vec![],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: 1,
        },
    };
    ok(
        put.clone(),
        &[f32(&[9, 4]), i32(&[5]), f32(&[5, 4])],
        "f32[9, 4]",
    );
    fails(put, &[f32(&[9, 4]), i32(&[5]), f32(&[6, 4])], "instead of");
    let cut = Op::DynamicSlice { sizes: vec![2, 4] };
    ok(
        cut.clone(),
        &[f32(&[9, 4]), i32(&[]), i32(&[])],
        "f32[2, 4]",
    );
    fails(cut, &[f32(&[9, 3]), i32(&[]), i32(&[])], "does not fit");
}

#[test]
fn reductions_and_windows() {
    let sum = |axes: &[usize]| Op::Reduce {
        op: ReduceOp::Sum,
        axes: axes.to_vec(),
    };
    ok(sum(&[0, 2]), &[f32(&[2, 3, 4])], "f32[3]");
    ok(sum(&[]), &[f32(&[2])], "f32[2]");
    fails(sum(&[0]), &[Type::new(Elem::Bool, [2])], "not a number");
    fails(
        Op::ArgReduce { max: true, axis: 0 },
        &[f32(&[0, 2])],
        "no extreme",
    );
    let window = Window {
        size: vec![3],
        stride: vec![2],
        padding: vec![(1, 0)],
        base_dilation: vec![2],
        window_dilation: vec![2],
    };
    let op = Op::ReduceWindow {
        op: ReduceOp::Max,
        window: window.clone(),
    };
    ok(op, &[f32(&[5])], "f32[3]");
    let scatter = Op::WindowScatter { max: true, window };
    ok(scatter, &[f32(&[5]), f32(&[3])], "f32[5]");
}

#[test]
fn linear_algebra() {
    let dims = DotDims {
        lhs_batch: vec![0],
        rhs_batch: vec![2],
        lhs_contract: vec![2],
        rhs_contract: vec![0],
    };
    ok(
        Op::Dot(dims.clone()),
        &[f32(&[5, 2, 3]), f32(&[3, 4, 5])],
        "f32[5, 2, 4]",
    );
    fails(
        Op::Dot(dims),
        &[f32(&[5, 2, 3]), f32(&[2, 4, 5])],
        "contracted",
    );
    let conv = ConvDims {
        stride: vec![2],
        padding: vec![(1, 1)],
        lhs_dilation: vec![1],
        rhs_dilation: vec![1],
        reverse: vec![false],
        input_batch: 0,
        input_feature: 2,
        input_spatial: vec![1],
        kernel_input: 1,
        kernel_output: 2,
        kernel_spatial: vec![0],
        output_batch: 0,
        output_feature: 2,
        output_spatial: vec![1],
        feature_groups: 2,
        batch_groups: 1,
    };
    ok(
        Op::Conv(conv.clone()),
        &[f32(&[8, 9, 4]), f32(&[3, 2, 6])],
        "f32[8, 5, 6]",
    );
    fails(
        Op::Conv(conv),
        &[f32(&[8, 9, 4]), f32(&[3, 4, 6])],
        "kernel of 4 inputs",
    );
    let solve = |left: bool| Op::TriangularSolve {
        left,
        lower: true,
        transpose: false,
        unit_diagonal: false,
    };
    ok(
        solve(true),
        &[f32(&[7, 3, 3]), f32(&[7, 3, 2])],
        "f32[7, 3, 2]",
    );
    fails(
        solve(false),
        &[f32(&[7, 3, 3]), f32(&[7, 3, 2])],
        "do not multiply",
    );
}

#[test]
fn control() {
    let scan = Op::Scan {
        length: 4,
        reverse: false,
        carry: 1,
    };
    let (c, xs) = (f32(&[2]), i32(&[4, 3]));
    let body = vec![f32(&[2]), i32(&[])];
    let results = infer(&scan, &[&c, &xs], std::slice::from_ref(&body));
    assert_eq!(results, Ok(vec![f32(&[2]), i32(&[4])]));
    let params = super::region_params(&scan, 0, &[&c, &xs], &[body]);
    assert_eq!(params, [i32(&[]), f32(&[2]), i32(&[3])]);
    let grown = infer(&scan, &[&c, &xs], &[vec![f32(&[3])]]);
    assert!(grown.is_err_and(|e| e.contains("begins as f32[2] and becomes f32[3]")));
    let count = infer(&Op::While, &[&c], &[]);
    assert!(count.is_err_and(|e| e.contains("0 regions instead of 2")));
}

#[test]
fn effects() {
    let print = Op::effect(Effect::Print(vec![
        PrintPiece::Text("loss ".into()),
        PrintPiece::Value {
            tree: TreeShape::Leaf,
            spec: Some(".4f".into()),
        },
    ]));
    ok(print.clone(), &[f32(&[])], "");
    fails(print.clone(), &[f32(&[2])], "only a scalar");
    fails(print.clone(), &[], "too few");
    fails(print, &[f32(&[]), f32(&[])], "not printed");
    let numpy = Op::Host(HostSource::NumpyPermutations {
        seed: 0,
        n: 5,
        count: 2,
    });
    ok(numpy, &[], "i32[2, 5]");
}
