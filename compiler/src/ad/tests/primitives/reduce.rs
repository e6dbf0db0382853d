//! Reductions, running ones and those of windows.

use super::{Case, R, case, text_case};
use crate::ir::{BinaryOp, Elem, Op, ReduceOp, Type};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    reductions(&mut cases);
    windows(&mut cases);
    cases
}

fn reductions(cases: &mut Vec<Case>) {
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
            cases.push(c);
        }
        for (shape, axis) in [
            (&[5][..], 0),
            (&[2, 4], 1),
            (&[3, 2], 0),
            (&[1], 0),
            (&[2], 0),
            (&[0, 2], 0),
            (&[1, 0], 0),
        ] {
            for reverse in [false, true] {
                let ty = Type::new(Elem::F32, shape);
                let name = format!("cumulate {op:?} {axis} of {ty} {reverse}");
                let c = case(&name, &[(ty, -2.0, 2.0)], |b, p| {
                    vec![b.op(Op::Cumulate { op, axis, reverse }, p)]
                });
                cases.push(c);
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
        cases.push(c);
    }
    for max in [true, false] {
        for (shape, axis) in [(&[3, 4][..], 1), (&[4], 0), (&[1], 0), (&[0, 2], 1)] {
            let ty = Type::new(Elem::F32, shape);
            let name = format!("place of the extreme, {max}, {ty}");
            cases.push(case(&name, &[(ty, -1.0, 1.0)], |b, p| {
                let place = b.op(Op::ArgReduce { max, axis }, p);
                let number = b.op(Op::Convert(Elem::F32), &[place]);
                let (op, axes) = (ReduceOp::Sum, vec![axis]);
                let sum = b.op(Op::Reduce { op, axes }, p);
                vec![b.op(Op::Binary(BinaryOp::Mul), &[number, sum]), place]
            }));
        }
    }
}

fn windows(cases: &mut Vec<Case>) {
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
        (
            "f32[1, 3]",
            "[1, 2]",
            "size = [1, 2], stride = [1, 1], padding = [(0, 0), (0, 0)], base_dilation = [1, 1], window_dilation = [1, 1]",
        ),
        (
            "f32[0, 3]",
            "[0, 2]",
            "size = [1, 2], stride = [1, 1], padding = [(0, 0), (0, 0)], base_dilation = [1, 1], window_dilation = [1, 1]",
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
            cases.push(c);
        }
        for op in ["max", "min"] {
            let text = format!(
                "func f(%x: {input}, %t: {input}) -> (f32{output}) {{ %y = window_gather_{op}[{window}] %x, %t : f32{output}\n return %y }}"
            );
            cases.push(text_case(&format!("gather {op} {window}"), &text, &[R, R]));
            let text = format!(
                "func f(%x: {input}, %s: f32{output}) -> ({input}) {{ %y = window_scatter_{op}[{window}] %x, %s : {input}\n return %y }}"
            );
            cases.push(text_case(&format!("scatter {op} {window}"), &text, &[R, R]));
        }
    }
}
