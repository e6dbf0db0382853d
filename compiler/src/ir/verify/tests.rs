//! Every check of the verifier, with a function that breaks it.

use super::{verify, verify_pure};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::literal::Literal;
use crate::ir::op::{Op, UnaryOp};
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};
use tpuc_lang::span::Span;

fn refuses(text: &str, part: &str) {
    let func = parse(text).expect(text);
    let error = verify(&func).expect_err(text);
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn every_primitive_is_accepted() {
    let func = parse(include_str!("../primitives.ir")).expect("parses");
    assert_eq!(verify(&func), Ok(()));
    let error = verify_pure(&func).expect_err("it has effects");
    assert_eq!(error.op, Some("dataset"));
}

#[test]
fn values_are_defined_once_before_use() {
    let mut func = Func::new("f");
    let x = func.new_value(Type::scalar(Elem::F32), Span::default());
    let exp = |arg: Value, result: Value| Inst {
        op: Op::Unary(UnaryOp::Exp),
        args: vec![arg],
        regions: vec![],
        results: vec![result],
    };
    let message = |func: &Func| verify(func).map_err(|e| e.message);
    func.body.params = vec![x];
    func.body.insts = vec![exp(x, x)];
    assert_eq!(message(&func), Err("Value(0) is defined twice".into()));
    func.body.insts = vec![exp(x, Value(7))];
    assert_eq!(message(&func), Err("Value(7) is not in the arena".into()));
    func.body.insts = vec![exp(Value(7), x)];
    assert_eq!(
        message(&func),
        Err("Value(7) is used where it is not defined".into())
    );
    func.body.insts.clear();
    let late = func.new_value(Type::scalar(Elem::F32), Span::default());
    func.body.insts = vec![exp(late, late)];
    assert!(message(&func).is_err());
    func.body.insts.clear();
    func.body.results = vec![late];
    assert!(message(&func).is_err());
}

#[test]
fn nothing_leaves_a_region_but_through_its_results() {
    refuses(
        "func f(%c: bool, %x: f32) -> (f32) {
           %r = if %c : f32 then {
             %y = exp %x : f32
             yield %y
           } else {
             yield %x
           }
           return %y
         }",
        "used where it is not defined",
    );
}

#[test]
fn types_follow_the_shape_rules() {
    refuses(
        "func f(%x: f32[2]) -> (f32[3]) {\n %y = exp %x : f32[3]\n return %y\n}",
        "invalid IR in f, exp: the results are (f32[3]) instead of (f32[2])",
    );
    refuses(
        "func f(%x: f32[2], %y: f32[3]) -> () {\n %z = add %x, %y : f32[2]\n return\n}",
        "operand types differ",
    );
    refuses(
        "func f(%x: f32[4, 2]) -> (f32[2]) {
           %r = scan[length = 4, carry = 0] %x : f32[4, 2] body(%i: i32, %row: f32[3]) {
             %row2 = slice[start = [0], limit = [2], stride = [1]] %row : f32[2]
             yield %row2
           }
           %s = reduce_sum[axes = [0]] %r : f32[2]
           return %s
         }",
        "region 0 takes (i32, f32[3]) instead of (i32, f32[2])",
    );
    refuses(
        "func f(%x: f32[4000000000, 4000000000]) -> () {\n return\n}",
        "larger than memory",
    );
}

#[test]
fn derivative_and_remat_regions_are_closed() {
    refuses(
        "func f(%x: f32, %y: f32) -> (f32) {
           %r = remat %x : f32 body(%a: f32) {
             %b = mul %a, %y : f32
             yield %b
           }
           return %r
         }",
        "used where it is not defined",
    );
}

#[test]
fn effects_stand_where_they_run_once() {
    refuses(
        "func f(%x: f32) -> (f32) {
           %r = remat %x : f32 body(%a: f32) {
             print[pieces = [_]] %a
             yield %a
           }
           return %r
         }",
        "an effect where none can be",
    );
    let looped = parse(
        "func main(%x: f32) -> (f32) {
           %r = scan[length = 3, carry = 1] %x : f32 body(%i: i32, %a: f32) {
             print[pieces = [_]] %a
             yield %a
           }
           return %r
         }",
    )
    .expect("parses");
    assert_eq!(verify(&looped), Ok(()));
}

#[test]
fn patterns_of_constants_fit() {
    for (elem, bits, fits) in [
        (Elem::Bool, 2, false),
        (Elem::I8, 0xff, true),
        (Elem::I8, 0x100, false),
        (Elem::U64, u64::MAX, true),
    ] {
        let mut func = Func::new("f");
        let ty = Type::scalar(elem);
        let v = func.new_value(ty.clone(), Span::default());
        func.body.insts = vec![Inst {
            op: Op::Constant(Literal::splat_bits(ty, bits)),
            args: vec![],
            regions: vec![],
            results: vec![v],
        }];
        assert_eq!(verify(&func).is_ok(), fits, "{elem} {bits:#x}");
    }
}
