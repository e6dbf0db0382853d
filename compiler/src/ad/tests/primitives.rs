//! Each primitive × shapes × both modes × order 2, and batched.

use super::check::{Case, Numbers, Order, check};
use super::programs::func;
use crate::interp::Array;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Func, Op, ReduceOp, Type, UnaryOp, Value};

const SHAPES: [&[usize]; 4] = [&[], &[0], &[1], &[2, 3]];
const FLOATS: [Elem; 4] = [Elem::F32, Elem::F64, Elem::BF16, Elem::F16];

/// A function of inputs of the given types, and inputs between the bounds given with them.
fn case(
    name: &str,
    inputs: &[(Type, f64, f64)],
    body: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Case {
    let mut b = Builder::new("f");
    let params: Vec<Value> = inputs.iter().map(|(ty, ..)| b.param(ty.clone())).collect();
    let results = body(&mut b, &params);
    let mut numbers = Numbers::new(name);
    Case {
        name: name.to_string(),
        func: b.finish(results),
        inputs: inputs
            .iter()
            .map(|(ty, low, high)| numbers.array(ty, *low, *high))
            .collect(),
    }
}

/// A function in text, its inputs between the bounds given.
pub fn text_case(name: &str, text: &str, bounds: &[(f64, f64)]) -> Case {
    let func: Func = func(text);
    let mut numbers = Numbers::new(name);
    let inputs = func
        .input_types()
        .iter()
        .zip(bounds)
        .map(|(ty, &(low, high))| numbers.array(ty, low, high))
        .collect::<Vec<Array>>();
    assert_eq!(inputs.len(), func.input_types().len(), "{name}");
    Case {
        name: name.to_string(),
        func,
        inputs,
    }
}

#[test]
fn unary() {
    use UnaryOp::*;
    let cases = [
        (Neg, -2.0, 2.0),
        (Abs, -2.0, 2.0),
        (Sign, 0.1, 2.0),
        (Floor, 0.1, 0.9),
        (Ceil, 0.1, 0.9),
        (Round, 0.6, 1.4),
        (Exp, -1.0, 1.0),
        (Expm1, -1.0, 1.0),
        (Log, 0.5, 2.0),
        (Log1p, -0.4, 2.0),
        (Sqrt, 0.5, 2.0),
        (Rsqrt, 0.5, 2.0),
        (Cbrt, 0.5, 2.0),
        (Sin, -2.0, 2.0),
        (Cos, -2.0, 2.0),
        (Tan, -1.0, 1.0),
        (Tanh, -2.0, 2.0),
        (Logistic, -2.0, 2.0),
        (Erf, -1.0, 1.0),
        (Erfc, -1.0, 1.0),
        (ErfInv, -0.7, 0.7),
        (Lgamma, 0.7, 3.0),
        (Polygamma(0), 0.7, 3.0),
        (Polygamma(1), 1.0, 3.0),
        (Polygamma(2), 1.0, 3.0),
    ];
    for (op, low, high) in cases {
        for shape in SHAPES {
            for elem in FLOATS {
                let ty = Type::new(elem, shape);
                let name = format!("{op:?} {ty}");
                let c = case(&name, &[(ty, low, high)], |b, p| {
                    vec![b.op(Op::Unary(op), &[p[0]])]
                });
                check(&c, Order::Second);
            }
        }
    }
}

#[test]
fn unary_without_tangents() {
    let ty = Type::new(Elem::F32, [3]);
    let c = case("is_finite", &[(ty, -1.0, 1.0)], |b, p| {
        let finite = b.op(Op::Unary(UnaryOp::IsFinite), &[p[0]]);
        let not = b.op(Op::Unary(UnaryOp::Not), &[finite]);
        vec![b.op(Op::Select, &[not, p[0], p[0]]), finite]
    });
    check(&c, Order::Second);
}

#[test]
fn binary() {
    use BinaryOp::*;
    let cases = [
        (Add, -2.0, 2.0, -2.0, 2.0),
        (Sub, -2.0, 2.0, -2.0, 2.0),
        (Mul, -2.0, 2.0, -2.0, 2.0),
        (Div, -2.0, 2.0, 0.5, 2.0),
        (Rem, 2.2, 2.8, 0.9, 1.0),
        (Pow, 0.5, 2.0, -2.0, 2.0),
        (Max, -2.0, 2.0, -2.0, 2.0),
        (Min, -2.0, 2.0, -2.0, 2.0),
        (Atan2, -2.0, 2.0, 0.5, 2.0),
    ];
    for (op, a, b, c, d) in cases {
        for shape in SHAPES {
            let ty = Type::new(Elem::F32, shape);
            let name = format!("{op:?} {ty}");
            let both = case(&name, &[(ty.clone(), a, b), (ty.clone(), c, d)], |b, p| {
                vec![b.op(Op::Binary(op), p)]
            });
            check(&both, Order::Second);
            // One operand a function of the other, and one without a tangent.
            let name = format!("{op:?} with itself {ty}");
            let same = case(&name, &[(ty.clone(), c.max(0.5), d)], |b, p| {
                let y = b.op(Op::Binary(op), &[p[0], p[0]]);
                let stop = b.op(Op::StopGradient, &[p[0]]);
                let more = b.op(Op::Binary(Mul), &[stop, y]);
                vec![y, more]
            });
            if !matches!(op, Max | Min | Rem) {
                check_value_modes(&same);
            }
        }
    }
}

/// Without differences, for functions that hide a dependence behind `stop_gradient`.
fn check_value_modes(case: &Case) {
    super::check::check_batching(&case.name, &case.func, &case.inputs);
}

#[test]
fn logic_and_integers() {
    use BinaryOp::*;
    for op in [
        And, Or, Xor, Shl, ShrArith, ShrLogical, Add, Mul, Div, Rem, Max,
    ] {
        let ty = Type::new(Elem::I32, [4]);
        let x = Type::new(Elem::F32, [4]);
        let name = format!("{op:?} of integers");
        let inputs = [(ty.clone(), 1.0, 9.0), (ty, 1.0, 5.0), (x, -1.0, 1.0)];
        let c = case(&name, &inputs, |b, p| {
            let n = b.op(Op::Binary(op), &p[..2]);
            let y = b.op(Op::Convert(Elem::F32), &[n]);
            vec![b.op(Op::Binary(Mul), &[y, p[2]]), n]
        });
        check(&c, Order::Second);
    }
}

#[test]
fn selection() {
    for shape in SHAPES {
        let ty = Type::new(Elem::F32, shape);
        let mask = Type::new(Elem::Bool, shape);
        let inputs = [
            (mask, 0.0, 1.0),
            (ty.clone(), -1.0, 1.0),
            (ty.clone(), -1.0, 1.0),
        ];
        let c = case(&format!("select {ty}"), &inputs, |b, p| {
            vec![b.op(Op::Select, p)]
        });
        check(&c, Order::Second);
        for (low, high) in [(-1.0, 1.0), (0.0, 0.1), (-0.1, 0.0)] {
            let inputs = [
                (ty.clone(), -0.5, -0.4),
                (ty.clone(), 2.0 * low, 2.0 * high),
                (ty.clone(), 0.4, 0.5),
            ];
            let c = case(&format!("clamp {ty} {low}"), &inputs, |b, p| {
                vec![b.op(Op::Clamp, p)]
            });
            check(&c, Order::Second);
        }
        let c = case(
            &format!("compare {ty}"),
            &[(ty.clone(), -1.0, 1.0), (ty.clone(), -1.0, 1.0)],
            |b, p| {
                let less = b.op(Op::Compare(CompareOp::Lt), p);
                vec![b.op(Op::Select, &[less, p[0], p[1]]), less]
            },
        );
        check(&c, Order::Second);
    }
}

#[test]
fn conversions() {
    for from in FLOATS {
        for to in FLOATS {
            let ty = Type::new(from, [3]);
            let c = case(&format!("{from} to {to}"), &[(ty, -1.0, 1.0)], |b, p| {
                let y = b.op(Op::Convert(to), p);
                vec![b.op(Op::Binary(BinaryOp::Mul), &[y, y])]
            });
            check(&c, Order::Second);
        }
        let ty = Type::new(from, [3]);
        let c = case(&format!("{from} to integer"), &[(ty, 0.1, 0.9)], |b, p| {
            let n = b.op(Op::Convert(Elem::I32), p);
            let back = b.op(Op::Convert(from), &[n]);
            vec![b.op(Op::Binary(BinaryOp::Add), &[back, p[0]]), n]
        });
        check(&c, Order::Second);
    }
    let words = Type::new(Elem::U32, [3]);
    let ty = Type::new(Elem::F32, [3]);
    let inputs = [(words, 1.0, 100.0), (ty, 0.1, 0.9)];
    let c = case("bitcast and threefry", &inputs, |b, p| {
        let bits = b.op(Op::Bitcast(Elem::U32), &[p[1]]);
        let random = b.push(Op::Threefry, vec![p[0], p[0], p[0], bits], Vec::new());
        let small = b.op(
            Op::Constant(crate::ir::Literal::splat_i64(Type::new(Elem::U32, [3]), 7)),
            &[],
        );
        let small = b.op(Op::Binary(BinaryOp::And), &[random[0], small]);
        let number = b.op(Op::Convert(Elem::F32), &[small]);
        let zero = b.op(Op::Binary(BinaryOp::Sub), &[number, number]);
        let y = b.op(Op::Binary(BinaryOp::Mul), &[zero, p[1]]);
        vec![b.op(Op::Binary(BinaryOp::Add), &[y, p[1]])]
    });
    super::check::check_modes(&c.name, &c.func, &c.inputs);
}

pub const R: (f64, f64) = (-1.0, 1.0);

#[test]
fn shape() {
    let texts = [
        (
            "broadcast new axes",
            "func f(%x: f32[3]) -> (f32[2, 3, 4]) { %y = broadcast[dims = [1]] %x : f32[2, 3, 4]\n return %y }",
        ),
        (
            "broadcast stretched",
            "func f(%x: f32[1, 3]) -> (f32[2, 5, 3]) { %y = broadcast[dims = [1, 2]] %x : f32[2, 5, 3]\n return %y }",
        ),
        (
            "broadcast scalar",
            "func f(%x: f32) -> (f32[2, 0]) { %y = broadcast[dims = []] %x : f32[2, 0]\n return %y }",
        ),
        (
            "reshape",
            "func f(%x: f32[2, 3]) -> (f32[3, 1, 2]) { %y = reshape %x : f32[3, 1, 2]\n return %y }",
        ),
        (
            "transpose",
            "func f(%x: f32[2, 3, 4]) -> (f32[4, 2, 3]) { %y = transpose[perm = [2, 0, 1]] %x : f32[4, 2, 3]\n return %y }",
        ),
        (
            "slice",
            "func f(%x: f32[5, 6]) -> (f32[2, 3]) { %y = slice[start = [1, 0], limit = [4, 6], stride = [2, 2]] %x : f32[2, 3]\n return %y }",
        ),
        (
            "empty slice",
            "func f(%x: f32[5]) -> (f32[0]) { %y = slice[start = [2], limit = [2], stride = [1]] %x : f32[0]\n return %y }",
        ),
        (
            "reverse",
            "func f(%x: f32[2, 3]) -> (f32[2, 3]) { %y = reverse[axes = [1]] %x : f32[2, 3]\n return %y }",
        ),
    ];
    for (name, text) in texts {
        check(&text_case(name, text, &[R]), Order::Second);
    }
    let pads = [
        (
            "pad",
            "func f(%x: f32[2, 3], %v: f32) -> (f32[5, 7]) { %y = pad[low = [1, 0], high = [2, 2], interior = [0, 1]] %x, %v : f32[5, 7]\n return %y }",
        ),
        (
            "pad negative",
            "func f(%x: f32[4, 5], %v: f32) -> (f32[3, 6]) { %y = pad[low = [-1, 2], high = [0, -1], interior = [0, 0]] %x, %v : f32[3, 6]\n return %y }",
        ),
        (
            "pad negative inside",
            "func f(%x: f32[3, 3], %v: f32) -> (f32[5, 6]) { %y = pad[low = [-1, 1], high = [-1, -2], interior = [2, 2]] %x, %v : f32[5, 6]\n return %y }",
        ),
        (
            "pad empty",
            "func f(%x: f32[0], %v: f32) -> (f32[3]) { %y = pad[low = [1], high = [2], interior = [0]] %x, %v : f32[3]\n return %y }",
        ),
    ];
    for (name, text) in pads {
        check(&text_case(name, text, &[R, R]), Order::Second);
    }
    let concat = "func f(%x: f32[2, 3], %y: f32[2, 1], %z: f32[2, 0]) -> (f32[2, 7]) { %r = concat[axis = 1] %x, %y, %x, %z : f32[2, 7]\n return %r }";
    check(&text_case("concat", concat, &[R, R, R]), Order::Second);
    let concat = "func f(%x: f32[2, 3], %k: i32[2, 1]) -> (f32[2, 4]) { %y = convert %k : f32[2, 1]\n %r = concat[axis = 1] %x, %y : f32[2, 4]\n return %r }";
    check(
        &text_case("concat of one tangent", concat, &[R, (0.0, 5.0)]),
        Order::Second,
    );
}

#[test]
fn indexing() {
    let texts = [
        (
            "dynamic slice",
            "func f(%x: f32[4, 5], %i: i32, %j: i32) -> (f32[2, 3]) { %y = dynamic_slice[sizes = [2, 3]] %x, %i, %j : f32[2, 3]\n return %y }",
            vec![R, (-1.0, 4.0), (0.0, 3.0)],
        ),
        (
            "dynamic slice past the end",
            "func f(%x: f32[4], %i: i32) -> (f32[2]) { %y = dynamic_slice[sizes = [2]] %x, %i : f32[2]\n return %y }",
            vec![R, (7.0, 9.0)],
        ),
        (
            "dynamic slices of one array",
            "func f(%x: f32[4], %i: i32, %j: i32) -> (f32[2]) { %y = dynamic_slice[sizes = [2]] %x, %i : f32[2]\n %z = dynamic_slice[sizes = [2]] %x, %j : f32[2]\n %p = mul %y, %z : f32[2]\n return %p }",
            vec![R, (0.0, 3.0), (1.0, 3.0)],
        ),
        (
            "dynamic update",
            "func f(%x: f32[4, 5], %u: f32[2, 3], %i: i32, %j: i32) -> (f32[4, 5]) { %y = dynamic_update_slice %x, %u, %i, %j : f32[4, 5]\n return %y }",
            vec![R, R, (-1.0, 5.0), (0.0, 3.0)],
        ),
        (
            "gather rows",
            "func f(%x: f32[4, 3], %i: i32[5]) -> (f32[5, 3]) { %y = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]] %x, %i : f32[5, 3]\n return %y }",
            vec![R, (-2.0, 6.0)],
        ),
        (
            "gather windows",
            "func f(%x: f32[4, 5], %i: i32[3, 2]) -> (f32[2, 3, 3]) { %y = gather[offset_dims = [0, 2], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [1, 0], index_vector_dim = 1, slice_sizes = [2, 3]] %x, %i : f32[2, 3, 3]\n return %y }",
            vec![R, (-1.0, 4.0)],
        ),
        (
            "gather batched",
            "func f(%x: f32[3, 4], %i: i32[3, 2, 1]) -> (f32[3, 2]) { %y = gather[offset_dims = [], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2, slice_sizes = [1, 1]] %x, %i : f32[3, 2]\n return %y }",
            vec![R, (-1.0, 5.0)],
        ),
        (
            "scatter add",
            "func f(%x: f32[4, 3], %i: i32[5], %u: f32[5, 3]) -> (f32[4, 3]) { %y = scatter_add[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (-2.0, 6.0), R],
        ),
        (
            "scatter set",
            "func f(%x: f32[4, 3], %i: i32[5], %u: f32[5, 3]) -> (f32[4, 3]) { %y = scatter_set[update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (-2.0, 6.0), R],
        ),
        (
            "scatter set of one window",
            "func f(%x: f32[4, 3], %i: i32[2], %u: f32[2, 2]) -> (f32[4, 3]) { %y = scatter_set[update_window_dims = [0, 1], inserted_window_dims = [], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0] %x, %i, %u : f32[4, 3]\n return %y }",
            vec![R, (0.0, 3.0), R],
        ),
        (
            "scatter add windows",
            "func f(%x: f32[4, 5], %i: i32[3, 2], %u: f32[2, 3, 3]) -> (f32[4, 5]) { %y = scatter_add[update_window_dims = [0, 2], inserted_window_dims = [], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1] %x, %i, %u : f32[4, 5]\n return %y }",
            vec![R, (-1.0, 4.0), R],
        ),
        (
            "scatter batched",
            "func f(%x: f32[3, 4], %i: i32[3, 2, 1], %u: f32[3, 2]) -> (f32[3, 4]) { %y = scatter_set[update_window_dims = [], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2] %x, %i, %u : f32[3, 4]\n return %y }",
            vec![R, (-1.0, 5.0), R],
        ),
    ];
    for (name, text, bounds) in texts {
        check(&text_case(name, text, &bounds), Order::Second);
    }
}

#[test]
fn reductions() {
    for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min] {
        let shapes: [(&[usize], &[usize]); 7] = [
            (&[5], &[0]),
            (&[2, 3], &[1]),
            (&[2, 3, 4], &[0, 2]),
            (&[2, 3], &[0, 1]),
            (&[1, 3], &[0]),
            (&[], &[]),
            (&[0, 2], &[1]),
        ];
        for (shape, axes) in shapes {
            let ty = Type::new(Elem::F32, shape);
            let name = format!("reduce {op:?} {axes:?} of {ty}");
            let c = case(&name, &[(ty, -2.0, 2.0)], |b, p| {
                let axes = axes.to_vec();
                vec![b.op(Op::Reduce { op, axes }, p)]
            });
            check(&c, Order::Second);
        }
        for (shape, axis) in [
            (&[5][..], 0),
            (&[2, 4], 1),
            (&[3, 2], 0),
            (&[1], 0),
            (&[2], 0),
        ] {
            for reverse in [false, true] {
                let ty = Type::new(Elem::F32, shape);
                let name = format!("cumulate {op:?} {axis} of {ty} {reverse}");
                let c = case(&name, &[(ty, -2.0, 2.0)], |b, p| {
                    vec![b.op(Op::Cumulate { op, axis, reverse }, p)]
                });
                check(&c, Order::Second);
            }
        }
    }
    let empty = Type::new(Elem::F32, [0, 2]);
    for op in [ReduceOp::Sum, ReduceOp::Prod] {
        let c = case(
            &format!("empty {op:?}"),
            &[(empty.clone(), 0.0, 1.0)],
            |b, p| vec![b.op(Op::Reduce { op, axes: vec![0] }, p)],
        );
        check(&c, Order::Second);
    }
    let ty = Type::new(Elem::F32, [3, 4]);
    let c = case("argmax", &[(ty, -1.0, 1.0)], |b, p| {
        let place = b.op(Op::ArgReduce { max: true, axis: 1 }, p);
        let number = b.op(Op::Convert(Elem::F32), &[place]);
        let sum = b.op(
            Op::Reduce {
                op: ReduceOp::Sum,
                axes: vec![1],
            },
            p,
        );
        vec![b.op(Op::Binary(BinaryOp::Mul), &[number, sum]), place]
    });
    check(&c, Order::Second);
}

#[test]
fn windows() {
    let windows = [
        (
            "f32[6, 4]",
            "[3, 2]",
            "size = [2, 2], stride = [2, 2], padding = [(0, 0), (0, 0)], base_dilation = [1, 1], window_dilation = [1, 1]",
        ),
        (
            "f32[4, 3]",
            "[5, 2]",
            "size = [2, 3], stride = [1, 2], padding = [(1, 1), (1, 1)], base_dilation = [1, 1], window_dilation = [1, 1]",
        ),
        (
            "f32[5, 4]",
            "[2, 4]",
            "size = [2, 2], stride = [2, 1], padding = [(0, 1), (1, 1)], base_dilation = [1, 1], window_dilation = [3, 2]",
        ),
        (
            "f32[3, 3]",
            "[4, 2]",
            "size = [2, 2], stride = [1, 1], padding = [(0, 0), (-1, 1)], base_dilation = [2, 1], window_dilation = [1, 1]",
        ),
    ];
    for (input, output, window) in windows {
        for op in ["sum", "prod", "max", "min"] {
            let text = format!(
                "func f(%x: {input}) -> (f32{output}) {{ %y = reduce_window_{op}[{window}] %x : f32{output}\n return %y }}"
            );
            let c = text_case(
                &format!("window {op} {input} {window}"),
                &text,
                &[(0.5, 2.0)],
            );
            check(&c, Order::Second);
        }
        for op in ["max", "min"] {
            let text = format!(
                "func f(%x: {input}, %t: {input}) -> (f32{output}) {{ %y = window_gather_{op}[{window}] %x, %t : f32{output}\n return %y }}"
            );
            check(
                &text_case(&format!("gather {op} {window}"), &text, &[R, R]),
                Order::Second,
            );
            let text = format!(
                "func f(%x: {input}, %s: f32{output}) -> ({input}) {{ %y = window_scatter_{op}[{window}] %x, %s : {input}\n return %y }}"
            );
            check(
                &text_case(&format!("scatter {op} {window}"), &text, &[R, R]),
                Order::Second,
            );
        }
    }
}

#[test]
fn contractions() {
    let texts = [
        (
            "matrix product",
            "f32[2, 3], %b: f32[3, 4]",
            "f32[2, 4]",
            "contract = [1] x [0]",
        ),
        (
            "transposed",
            "f32[3, 2], %b: f32[4, 3]",
            "f32[2, 4]",
            "contract = [0] x [1]",
        ),
        (
            "vectors",
            "f32[3], %b: f32[3]",
            "f32",
            "contract = [0] x [0]",
        ),
        (
            "outer",
            "f32[3], %b: f32[2]",
            "f32[3, 2]",
            "contract = [] x []",
        ),
        (
            "batched",
            "f32[5, 2, 3], %b: f32[5, 3, 4]",
            "f32[5, 2, 4]",
            "batch = [0] x [0], contract = [2] x [1]",
        ),
        (
            "batch inside",
            "f32[2, 5, 3], %b: f32[3, 4, 5]",
            "f32[5, 2, 4]",
            "batch = [1] x [2], contract = [2] x [0]",
        ),
        (
            "two contracted",
            "f32[2, 3, 4], %b: f32[4, 5, 3]",
            "f32[2, 5]",
            "contract = [1, 2] x [2, 0]",
        ),
        (
            "empty",
            "f32[2, 0], %b: f32[0, 3]",
            "f32[2, 3]",
            "contract = [1] x [0]",
        ),
    ];
    for (name, inputs, output, dims) in texts {
        let text = format!(
            "func f(%a: {inputs}) -> ({output}) {{ %y = dot_general[{dims}] %a, %b : {output}\n return %y }}"
        );
        check(&text_case(name, &text, &[R, R]), Order::Second);
    }
    let square = "func f(%a: f32[3, 3]) -> (f32[3, 3]) { %y = dot_general[contract = [1] x [0]] %a, %a : f32[3, 3]\n return %y }";
    check(
        &text_case("square of a matrix", square, &[R]),
        Order::Second,
    );
}

#[test]
fn convolutions() {
    let plain = "input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1]";
    let texts = [
        ("plain", "f32[2, 5, 3], %w: f32[2, 3, 4]", "f32[2, 4, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("strided, padded", "f32[2, 6, 3], %w: f32[3, 3, 4]", "f32[2, 4, 4]", format!("stride = [2], padding = [(1, 2)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("dilated, mirrored", "f32[2, 5, 3], %w: f32[2, 3, 4]", "f32[2, 5, 4]", format!("stride = [2], padding = [(1, 1)], lhs_dilation = [2], rhs_dilation = [2], reverse = [true], {plain}, feature_groups = 1, batch_groups = 1")),
        ("negative padding", "f32[2, 6, 3], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(-1, -1)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 1")),
        ("feature groups", "f32[2, 4, 6], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 2, batch_groups = 1")),
        ("batch groups", "f32[4, 4, 3], %w: f32[2, 3, 4]", "f32[2, 3, 4]", format!("stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], {plain}, feature_groups = 1, batch_groups = 2")),
        ("other layout", "f32[3, 5, 2], %w: f32[4, 3, 2]", "f32[4, 4, 2]", "stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [2, 0, 1], kernel = [1, 0, 2], output = [2, 0, 1], feature_groups = 1, batch_groups = 1".into()),
        ("no spatial", "f32[2, 3], %w: f32[3, 4]", "f32[2, 4]", "stride = [], padding = [], lhs_dilation = [], rhs_dilation = [], reverse = [], input = [0, 1], kernel = [0, 1], output = [0, 1], feature_groups = 1, batch_groups = 1".into()),
        ("two dimensions", "f32[1, 4, 5, 2], %w: f32[3, 2, 2, 3]", "f32[1, 4, 2, 3]", "stride = [1, 2], padding = [(1, 1), (0, 0)], lhs_dilation = [1, 1], rhs_dilation = [1, 2], reverse = [false, false], input = [0, 3, 1, 2], kernel = [2, 3, 0, 1], output = [0, 3, 1, 2], feature_groups = 1, batch_groups = 1".into()),
    ];
    for (name, inputs, output, dims) in texts {
        let text = format!(
            "func f(%x: {inputs}) -> ({output}) {{ %y = conv[{dims}] %x, %w : {output}\n return %y }}"
        );
        check(
            &text_case(&format!("conv {name}"), &text, &[R, R]),
            Order::Second,
        );
    }
}

#[test]
fn factorisations() {
    // A symmetric positive-definite matrix as I + x xᵀ; and the lower triangle alone counts.
    let text = "func f(%x: f32[2, 3, 3]) -> (f32[2, 3, 3]) {
      %g = dot_general[batch = [0] x [0], contract = [2] x [2]] %x, %x : f32[2, 3, 3]
      %r = iota[axis = 1] : i32[2, 3, 3]
      %c = iota[axis = 2] : i32[2, 3, 3]
      %d = eq %r, %c : bool[2, 3, 3]
      %i = convert %d : f32[2, 3, 3]
      %a = add %g, %i : f32[2, 3, 3]
      %l = cholesky %a : f32[2, 3, 3]
      return %l }";
    check(&text_case("cholesky", text, &[R]), Order::Second);
    let text = "func f(%x: f32[3, 3]) -> (f32[3, 3]) {
      %r = iota[axis = 0] : i32[3, 3]
      %c = iota[axis = 1] : i32[3, 3]
      %d = eq %r, %c : bool[3, 3]
      %i = convert %d : f32[3, 3]
      %two = constant 3.0 : f32[3, 3]
      %ii = mul %i, %two : f32[3, 3]
      %a = add %x, %ii : f32[3, 3]
      %l = cholesky %a : f32[3, 3]
      return %l }";
    check(
        &text_case("cholesky, unsymmetric", text, &[(-0.5, 0.5)]),
        Order::Second,
    );
    for left in [true, false] {
        for lower in [true, false] {
            for transpose in [true, false] {
                for unit in [true, false] {
                    let flags: Vec<&str> = [
                        (left, "left"),
                        (lower, "lower"),
                        (transpose, "transpose"),
                        (unit, "unit_diagonal"),
                    ]
                    .iter()
                    .filter(|f| f.0)
                    .map(|f| f.1)
                    .collect();
                    let flags = if flags.is_empty() {
                        String::new()
                    } else {
                        format!("[{}]", flags.join(", "))
                    };
                    let b = if left { "f32[2, 3, 2]" } else { "f32[2, 2, 3]" };
                    let text = format!(
                        "func f(%a: f32[2, 3, 3], %b: {b}) -> ({b}) {{ %x = triangular_solve{flags} %a, %b : {b}\n return %x }}"
                    );
                    check(
                        &text_case(&format!("solve {flags}"), &text, &[(0.8, 1.6), R]),
                        Order::Second,
                    );
                }
            }
        }
    }
}

#[test]
fn sorting() {
    let text =
        "func f(%x: f32[2, 5], %y: f32[2, 5], %n: i32[2, 5]) -> (f32[2, 5], f32[2, 5], i32[2, 5]) {
      %a, %b, %c = sort[axis = 1, keys = 1] %x, %y, %n : f32[2, 5], f32[2, 5], i32[2, 5]
      return %a, %b, %c }";
    check(&text_case("sort", text, &[R, R, (0.0, 9.0)]), Order::Second);
    let text = "func f(%x: f32[4, 2], %n: i32[4, 2]) -> (f32[4, 2]) {
      %c, %a = sort[axis = 0, keys = 2, descending] %n, %x : i32[4, 2], f32[4, 2]
      return %a }";
    check(
        &text_case("sort by two keys", text, &[R, (0.0, 2.0)]),
        Order::Second,
    );
}

#[test]
fn identities() {
    let text = "func f(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3]) {
      %a, %b = barrier %x, %y : f32[3], f32[3]
      %c = mul %a, %b : f32[3]
      %d = shard[axes = [\"data\"]] %c : f32[3]
      return %d, %b }";
    check(
        &text_case("barrier and shard", text, &[R, R]),
        Order::Second,
    );
    let constants = "func f(%x: f32[3]) -> (f32[3], i32[3]) {
      %c = constant [1.0, 2.0, 3.0] : f32[3]
      %n = iota[axis = 0] : i32[3]
      %y = mul %x, %c : f32[3]
      return %y, %n }";
    check(&text_case("constants", constants, &[R]), Order::Second);
}
