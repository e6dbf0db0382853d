//! Elementwise primitives.

use super::{Case, case};
use crate::ir::{BinaryOp, CompareOp, Elem, Literal, Op, Type, UnaryOp};

const SHAPES: [&[usize]; 4] = [&[], &[0], &[1], &[2, 3]];
const FLOATS: [Elem; 4] = [Elem::F32, Elem::F64, Elem::BF16, Elem::F16];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    unary(&mut cases);
    unary_without_tangents(&mut cases);
    binary(&mut cases);
    logic_and_integers(&mut cases);
    selection(&mut cases);
    conversions(&mut cases);
    cases
}

fn unary(cases: &mut Vec<Case>) {
    use UnaryOp::*;
    let table = [
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
    for (op, low, high) in table {
        for shape in SHAPES {
            let ty = Type::new(Elem::F32, shape);
            let name = format!("{op:?} {ty}");
            cases.push(case(&name, &[(ty, low, high)], |b, p| {
                vec![b.op(Op::Unary(op), p)]
            }));
        }
    }
}

fn unary_without_tangents(cases: &mut Vec<Case>) {
    for shape in SHAPES {
        let ty = Type::new(Elem::F32, shape);
        let name = format!("is_finite, not, stop_gradient {ty}");
        cases.push(case(&name, &[(ty, 0.1, 1.0)], |b, p| {
            let finite = b.op(Op::Unary(UnaryOp::IsFinite), p);
            let not = b.op(Op::Unary(UnaryOp::Not), &[finite]);
            let sign = b.op(Op::Unary(UnaryOp::Sign), p);
            let stop = b.op(Op::StopGradient, &[sign]);
            let y = b.op(Op::Binary(BinaryOp::Mul), &[stop, p[0]]);
            vec![b.op(Op::Select, &[not, p[0], y]), finite]
        }));
    }
}

fn binary(cases: &mut Vec<Case>) {
    use BinaryOp::*;
    let table = [
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
    for (op, a, b, c, d) in table {
        for shape in SHAPES {
            let ty = Type::new(Elem::F32, shape);
            let (left, right) = ((ty.clone(), a, b), (ty.clone(), c, d));
            let both = [left.clone(), right.clone()];
            cases.push(case(&format!("{op:?} {ty}"), &both, |b, p| {
                vec![b.op(Op::Binary(op), p)]
            }));
            // One operand without a tangent.
            let whole = (ty.with_elem(Elem::I32), 1.0, 4.0);
            let inputs = [left, whole.clone()];
            cases.push(case(
                &format!("{op:?} of the left {ty}"),
                &inputs,
                |b, p| {
                    let k = b.op(Op::Convert(Elem::F32), &p[1..]);
                    vec![b.op(Op::Binary(op), &[p[0], k])]
                },
            ));
            let inputs = [whole, right];
            cases.push(case(
                &format!("{op:?} of the right {ty}"),
                &inputs,
                |b, p| {
                    let k = b.op(Op::Convert(Elem::F32), &p[..1]);
                    vec![b.op(Op::Binary(op), &[k, p[1]])]
                },
            ));
            // Both the same. The remainder jumps there.
            if op != Rem {
                let inputs = [(ty.clone(), c.max(0.5), d)];
                cases.push(case(
                    &format!("{op:?} with itself {ty}"),
                    &inputs,
                    |b, p| vec![b.op(Op::Binary(op), &[p[0], p[0]])],
                ));
            }
        }
    }
}

fn logic_and_integers(cases: &mut Vec<Case>) {
    use BinaryOp::*;
    for op in [
        And, Or, Xor, Shl, ShrArith, ShrLogical, Add, Mul, Div, Rem, Max,
    ] {
        for shape in SHAPES {
            let (ty, x) = (Type::new(Elem::I32, shape), Type::new(Elem::F32, shape));
            let name = format!("{op:?} {ty}");
            let inputs = [(ty.clone(), 1.0, 9.0), (ty, 1.0, 5.0), (x, -1.0, 1.0)];
            cases.push(case(&name, &inputs, |b, p| {
                let n = b.op(Op::Binary(op), &p[..2]);
                let y = b.op(Op::Convert(Elem::F32), &[n]);
                vec![b.op(Op::Binary(Mul), &[y, p[2]]), n]
            }));
        }
    }
}

fn selection(cases: &mut Vec<Case>) {
    for shape in SHAPES {
        let ty = Type::new(Elem::F32, shape);
        let mask = Type::new(Elem::Bool, shape);
        let inputs = [
            (mask, 0.0, 1.0),
            (ty.clone(), -1.0, 1.0),
            (ty.clone(), -1.0, 1.0),
        ];
        cases.push(case(&format!("select {ty}"), &inputs, |b, p| {
            vec![b.op(Op::Select, p)]
        }));
        for (low, high) in [(-1.0, 1.0), (0.0, 0.1), (-0.1, 0.0)] {
            let inputs = [
                (ty.clone(), -0.5, -0.4),
                (ty.clone(), 2.0 * low, 2.0 * high),
                (ty.clone(), 0.4, 0.5),
            ];
            cases.push(case(&format!("clamp {ty} {low}"), &inputs, |b, p| {
                vec![b.op(Op::Clamp, p)]
            }));
        }
        use CompareOp::*;
        for op in [Eq, Ne, Lt, Le, Gt, Ge] {
            let inputs = [(ty.clone(), -1.0, 1.0), (ty.clone(), -1.0, 1.0)];
            cases.push(case(&format!("{op:?} {ty}"), &inputs, |b, p| {
                let holds = b.op(Op::Compare(op), p);
                vec![b.op(Op::Select, &[holds, p[0], p[1]]), holds]
            }));
        }
    }
}

fn conversions(cases: &mut Vec<Case>) {
    for from in FLOATS {
        for shape in SHAPES {
            let ty = Type::new(from, shape);
            for to in FLOATS {
                let name = format!("{ty} to {to}");
                cases.push(case(&name, &[(ty.clone(), -1.0, 1.0)], |b, p| {
                    let y = b.op(Op::Convert(to), p);
                    vec![b.op(Op::Binary(BinaryOp::Mul), &[y, y])]
                }));
            }
            let name = format!("{ty} to integer");
            cases.push(case(&name, &[(ty, 0.1, 0.9)], |b, p| {
                let n = b.op(Op::Convert(Elem::I32), p);
                let back = b.op(Op::Convert(from), &[n]);
                vec![b.op(Op::Binary(BinaryOp::Add), &[back, p[0]]), n]
            }));
        }
    }
    for shape in SHAPES {
        let (words, ty) = (Type::new(Elem::U32, shape), Type::new(Elem::F32, shape));
        let inputs = [(words.clone(), 1.0, 100.0), (ty, 0.1, 0.9)];
        // Random bits of a key that is made of a float; they drop out.
        let name = format!("bitcast, threefry {words}");
        cases.push(case(&name, &inputs, |b, p| {
            let finite = b.op(Op::Unary(UnaryOp::Sign), &[p[1]]);
            let bits = b.op(Op::Bitcast(Elem::U32), &[finite]);
            let random = b.push(Op::Threefry, vec![p[0], p[0], p[0], bits], Vec::new());
            let three = Literal::splat_i64(words.clone(), 3);
            let three = b.op(Op::Constant(three), &[]);
            let small = b.op(Op::Binary(BinaryOp::And), &[random[0], three]);
            let number = b.op(Op::Convert(Elem::F32), &[small]);
            vec![b.op(Op::Binary(BinaryOp::Mul), &[number, p[1]]), random[1]]
        }));
    }
}
