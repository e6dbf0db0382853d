//! The interpreter against NumPy, SciPy and JAX: `scripts/reference/primitives.py` made the data.

mod any_shape;

use super::array::round;
use super::{Array, Data, Precision, eval};
use crate::ir::literal::{decode_f64, ulps_between};
use crate::ir::parse::parse;
use crate::ir::types::{Elem, Type};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    ir: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    ulps: u64,
    relative: f64,
}

#[test]
fn primitives_agree_with_the_references() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("primitives.jsonl").lines() {
        let case: Case = serde_json::from_str(line).expect("a case");
        let func = parse(&case.ir).unwrap_or_else(|e| panic!("{}: {e}\n{}", case.name, case.ir));
        let inputs: Vec<Array> = func
            .input_types()
            .into_iter()
            .zip(&case.inputs)
            .map(|(ty, bits)| array(ty, bits))
            .collect();
        let results = eval(&func, &inputs, Precision::Element)
            .unwrap_or_else(|e| panic!("{}: {e}", case.name));
        assert_eq!(results.len(), case.outputs.len(), "{}", case.name);
        for (found, expected) in results.iter().zip(&case.outputs) {
            let expected = array(found.ty.clone(), expected);
            for (i, (f, e)) in found
                .to_bits()
                .into_iter()
                .zip(expected.to_bits())
                .enumerate()
            {
                let elem = found.ty.elem;
                if !close(elem, f, e, &case) {
                    let (f, e) = (decode_f64(elem, f), decode_f64(elem, e));
                    wrong.push(format!("{}: element {i} is {f:?}, not {e:?}", case.name));
                }
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "only {count} cases");
}

/// An array from its elements' bits, as the reference files have them: words in hexadecimal.
pub fn array(ty: Type, bits: &str) -> Array {
    let bits = bits
        .split_whitespace()
        .map(|word| u64::from_str_radix(word, 16).expect("hexadecimal"))
        .collect();
    Array::from_bits(ty, bits)
}

fn close(elem: Elem, found: u64, expected: u64, case: &Case) -> bool {
    if found == expected || !elem.is_float() {
        return found == expected;
    }
    let (f, e) = (decode_f64(elem, found), decode_f64(elem, expected));
    if f.is_nan() || e.is_nan() {
        return f.is_nan() && e.is_nan();
    }
    // A zero's sign counts where nothing is allowed to differ.
    if f.is_sign_negative() != e.is_sign_negative() && case.ulps == 0 && case.relative == 0.0 {
        return false;
    }
    (f - e).abs() <= case.relative * e.abs() || ulps_between(elem, f, e) <= case.ulps
}

fn run(text: &str, inputs: &[Array], precision: Precision) -> Vec<Array> {
    let func = parse(text).expect(text);
    eval(&func, inputs, precision).expect(text)
}

fn f32s(values: &[f64]) -> Array {
    Array::of(Type::new(Elem::F32, [values.len()]), values)
}

#[test]
fn f64_precision_rounds_nothing() {
    let text = "func f(%x: f32[2]) -> (f32[2]) {\n %y = exp %x : f32[2]\n return %y\n}";
    let x = f32s(&[1.0, 0.5]);
    let exact = run(text, std::slice::from_ref(&x), Precision::F64);
    assert_eq!(exact[0].to_f64()[0], libm::exp(1.0));
    let rounded = run(text, &[x], Precision::Element);
    assert_eq!(rounded[0].to_f64()[0], f64::from(libm::exp(1.0) as f32));
}

#[test]
fn every_primitive_evaluates_in_both_precisions() {
    use super::{Outside, eval_main};
    use crate::ir::op::{Effect, HostSource};

    /// Zeros from the host, and effects without trace.
    struct Zeros;
    impl Outside for Zeros {
        fn host(&mut self, source: &HostSource) -> Result<Vec<Array>, String> {
            let types = match source {
                HostSource::Dataset { fields, .. }
                | HostSource::Load { fields, .. }
                | HostSource::Batches { fields, .. } => {
                    fields.iter().map(|(_, t)| t.clone()).collect()
                }
                HostSource::NumpyPermutations { n, count, .. } => {
                    vec![Type::new(Elem::I32, [*count, *n])]
                }
                HostSource::Time => vec![Type::scalar(Elem::F64)],
            };
            Ok(types.into_iter().map(|t| Array::splat_bits(t, 0)).collect())
        }
        fn effect(&mut self, _: &Effect, _: &[Array]) -> Result<(), String> {
            Ok(())
        }
    }
    let func = parse(include_str!("../ir/primitives.ir")).expect("parses");
    let inputs: Vec<Array> = func
        .input_types()
        .into_iter()
        .map(|ty| {
            let ones = vec![1.0; ty.numel()];
            Array::of(ty, &ones)
        })
        .collect();
    for precision in [Precision::Element, Precision::F64] {
        let results = eval_main(&func, &inputs, precision, &mut Zeros).expect("evaluates");
        assert_eq!(results[0].to_f64(), [1.0; 24]);
    }
}

#[test]
fn narrow_floats_round_once() {
    for bits in 0..=u64::from(u16::MAX) {
        for elem in [Elem::F16, Elem::BF16] {
            let x = decode_f64(elem, bits);
            if x.is_finite() {
                assert_eq!(round(elem, x).to_bits(), x.to_bits());
                // Half-way to the next value, a tie, goes to the even pattern.
                let next = decode_f64(elem, bits + 1);
                if bits & 0x7fff != 0x7fff && next.is_finite() {
                    let even = if bits & 1 == 0 { x } else { next };
                    assert_eq!(round(elem, (x + next) / 2.0), even, "{elem} {bits:#x}");
                }
            }
        }
    }
    assert_eq!(round(Elem::F16, 65519.9), 65504.0);
    assert_eq!(round(Elem::F16, 65520.0), f64::INFINITY);
    assert_eq!(round(Elem::BF16, -1e39), f64::NEG_INFINITY);
}

#[test]
fn derivatives_and_remat_evaluate_their_function() {
    let text = "func f(%x: f32) -> (f32, f32) {
        %a = custom_vjp %x : f32 function(%p: f32) {
          %q = add %p, %p : f32
          yield %q
        } derivative(%p1: f32, %q1: f32, %ct: f32) {
          yield %ct
        }
        %b = remat %a : f32 body(%r: f32) {
          %s = mul %r, %r : f32
          yield %s
        }
        return %a, %b
      }";
    let x = Array::of(Type::scalar(Elem::F32), &[1.5]);
    let results = run(text, &[x], Precision::Element);
    assert_eq!(results[0].to_f64(), [3.0]);
    assert_eq!(results[1].to_f64(), [9.0]);
}

#[test]
fn a_loop_may_give_back_a_value_from_outside() {
    let text = "func f(%x: f32[2], %n: i32) -> (f32[2], f32[2], f32[3, 2]) {
        %c, %ys = scan[length = 3, carry = 1] %x : f32[2], f32[3, 2] body(%i: i32, %old: f32[2]) {
          %one = constant [5.0] : f32[1]
          %new = dynamic_update_slice %old, %one, %n : f32[2]
          yield %new, %x
        }
        return %x, %c, %ys
      }";
    let n = Array::ints(Type::scalar(Elem::I32), vec![1]);
    let results = run(text, &[f32s(&[1.0, 2.0]), n], Precision::Element);
    assert_eq!(results[0].to_f64(), [1.0, 2.0]);
    assert_eq!(results[1].to_f64(), [1.0, 5.0]);
    assert_eq!(results[2].to_f64(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn inputs_must_fit() {
    let func = parse("func f(%x: f32[2]) -> () {\n return\n}").expect("parses");
    let error = eval(&func, &[f32s(&[1.0])], Precision::Element);
    assert!(error.is_err());
    let printing = parse("func main() -> () {\n print[pieces = []]\n return\n}").expect("parses");
    let error = eval(&printing, &[], Precision::Element).expect_err("effect");
    assert_eq!(error.message, "a pure function has no effects");
}

#[test]
fn effects_happen_in_order_inside_loops() {
    use super::{Outside, eval_main};
    use crate::ir::op::{Effect, HostSource, PrintPiece};

    #[derive(Default)]
    struct Log(Vec<f64>);
    impl Outside for Log {
        fn host(&mut self, source: &HostSource) -> Result<Vec<Array>, String> {
            match source {
                HostSource::Time => Ok(vec![Array::of(Type::scalar(Elem::F64), &[10.0])]),
                _ => Err("nothing but time".into()),
            }
        }
        fn effect(&mut self, effect: &Effect, args: &[Array]) -> Result<(), String> {
            match effect {
                Effect::Assert(message) if args[0].data == Data::Bool(vec![false].into()) => {
                    match message.as_slice() {
                        [PrintPiece::Text(text)] => Err(text.clone()),
                        _ => Err("another message".into()),
                    }
                }
                _ => {
                    self.0.extend(args[0].to_f64());
                    Ok(())
                }
            }
        }
    }
    let main = parse(
        "func main() -> (f64) {
           %t = time : f64
           %end = scan[length = 3, carry = 1] %t : f64 body(%i: i32, %c: f64) {
             print[pieces = [_]] %c
             %next = add %c, %c : f64
             yield %next
           }
           %ok = gt %t, %end : bool
           assert[pieces = [\"too late\"]] %ok
           return %end
         }",
    )
    .expect("parses");
    let mut log = Log::default();
    let error = eval_main(&main, &[], Precision::Element, &mut log).expect_err("assertion");
    assert_eq!(error.message, "too late");
    assert_eq!(log.0, [10.0, 20.0, 40.0]);
}
