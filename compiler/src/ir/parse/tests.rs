//! The text form round-trips: every primitive, any attributes, any bits of constants, any nesting.

use super::{parse, parse_all};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::literal::Literal;
use crate::ir::op::*;
use crate::ir::shape::region_count;
use crate::ir::table::NAMES;
use crate::ir::types::{Elem, Type};
use proptest::prelude::*;
use tpuc_lang::span::Span;

const EVERYTHING: &str = include_str!("../primitives.ir");

#[test]
fn every_primitive_round_trips() {
    let func = parse(EVERYTHING).expect("parses");
    let text = func.to_string();
    let again = parse(&text).expect("parses again");
    assert_eq!(again, func);
    assert_eq!(again.to_string(), text);

    let mut used = Vec::new();
    func.body.walk(&mut |inst| used.push(inst.op.name()));
    for name in NAMES {
        assert!(used.contains(&name), "{name} is in no instruction");
    }
    for name in used {
        assert!(NAMES.contains(&name), "{name} is not listed");
    }
}

#[test]
fn a_loop_prints_readably() {
    let func = parse(
        "func total(%x: f32[4, 6], %start: f32) -> (f32) {
           %sum = scan[length = 4, carry = 1] %start, %x : f32 body(%i: i32, %c: f32, %row: f32[6]) {
             %r = reduce_sum[axes = [0]] %row : f32
             %next = add %c, %r : f32   # comment
             yield %next
           }
           %third = constant 0.33333334 : f32
           %out = mul %sum, %third : f32
           return %out
         }",
    )
    .expect("parses");
    insta::assert_snapshot!(func);
}

#[test]
fn numbering_does_not_depend_on_the_arena() {
    let mut func = Func::new("f");
    let ty = Type::scalar(Elem::F32);
    let out = func.new_value(ty.clone(), Span::default());
    let unused = func.new_value(ty.clone(), Span::default());
    let x = func.new_value(ty, Span::default());
    func.body = Region {
        params: vec![x],
        insts: vec![Inst {
            op: Op::Unary(UnaryOp::Exp),
            args: vec![x],
            regions: vec![],
            results: vec![out],
        }],
        results: vec![out],
    };
    assert_eq!((out, unused), (Value(0), Value(1)));
    let text = "func f(%0: f32) -> (f32) {\n  %1 = exp %0 : f32\n  return %1\n}\n";
    assert_eq!(func.to_string(), text);
    assert_eq!(parse(text).as_ref(), Ok(&func));
    let other = text.replace("exp", "sin");
    assert_ne!(parse(&other).as_ref(), Ok(&func));
}

#[test]
fn several_functions() {
    let text = "func f() -> () {\n  return\n}\nfunc \"g h\"() -> () {\n  return\n}\n";
    let funcs = parse_all(text).expect("parses");
    let printed: String = funcs.iter().map(Func::to_string).collect();
    assert_eq!(printed, text);
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let body = |inst: &str| format!("func f(%x: f32[2]) -> () {{\n  {inst}\n  return\n}}");
    for (inst, message) in [
        ("%y = exp %z : f32[2]", "%z is not defined"),
        ("%x = exp %x : f32[2]", "%x is defined twice"),
        ("%y = expo %x : f32[2]", "`expo` is no primitive"),
        (
            "%y = exp[axis = 1] %x : f32[2]",
            "attribute `axis` does not belong here",
        ),
        ("%y = cumsum %x : f32[2]", "attribute `axis` is missing"),
        (
            "%y = cumsum[axis = no] %x : f32[2]",
            "`no` does not belong here",
        ),
        ("%y = constant 300 : u8", "`300` is no u8"),
        ("%y = constant [1, 2, 3] : u8[2]", "3 numbers for u8[2]"),
        ("%y = exp %x : float", "`float` is no type"),
        ("%y = exp %x", "`return` instead of `:`"),
        (
            "print[pieces = [\"a]]",
            "a string ends at the end of its line",
        ),
    ] {
        let error = parse(&body(inst)).expect_err(inst);
        assert_eq!(error.message, message, "{inst}");
        let line = if inst == "%y = exp %x" { 3 } else { 2 };
        assert_eq!(error.line, line, "{inst}");
    }
    let deep = format!("func f() -> () {{ print[pieces = {}", "[".repeat(100_000));
    assert_eq!(
        parse(&deep).expect_err("too deep").message,
        "nested too deep"
    );
}

proptest! {
    #[test]
    fn any_function_round_trips(entropy in proptest::collection::vec(any::<u64>(), 0..400)) {
        let func = Random { entropy, at: 0, func: Func::new("f") }.finish();
        let text = func.to_string();
        let again = parse(&text);
        prop_assert_eq!(again.as_ref(), Ok(&func), "{}", text);
        prop_assert_eq!(again.map(|f| f.to_string()), Ok(text));
    }

    #[test]
    fn no_text_crashes_the_parser(cut in 0..EVERYTHING.len(), insert in ".{0,3}") {
        let head: String = EVERYTHING.chars().take(cut).collect();
        let tail: String = EVERYTHING.chars().skip(cut + 1).collect();
        let _ = parse(&format!("{head}{insert}{tail}"));
    }
}

/// Makes functions whose operands exist and whose attributes are arbitrary: the text form does not check more.
struct Random {
    entropy: Vec<u64>,
    at: usize,
    func: Func,
}

impl Random {
    fn finish(mut self) -> Func {
        let mut scope = Vec::new();
        let body = self.region(&mut scope, 0);
        self.func.body = body;
        self.func
    }

    fn next(&mut self) -> u64 {
        self.at += 1;
        self.entropy.get(self.at - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| item(self)).collect()
    }

    fn sizes(&mut self) -> Vec<usize> {
        self.list(|r| r.below(9))
    }

    fn ints(&mut self) -> Vec<i64> {
        self.list(|r| r.next() as i64)
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 8] = ['a', '"', '\\', '\n', '\u{7}', 'é', '%', ' '];
        self.list(|r| CHARS[r.below(CHARS.len())])
            .into_iter()
            .collect()
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn ty(&mut self) -> Type {
        let elem = Elem::ALL[self.below(Elem::ALL.len())];
        Type::new(elem, self.sizes())
    }

    fn literal(&mut self, ty: &Type) -> Literal {
        let mask = u64::MAX >> (64 - ty.elem.bits());
        let mask = if ty.elem == Elem::Bool { 1 } else { mask };
        if self.flag() || ty.numel() > 9 {
            Literal::splat_bits(ty.clone(), self.next() & mask)
        } else {
            let bits = (0..ty.numel()).map(|_| self.next() & mask).collect();
            Literal::dense_bits(ty.clone(), bits)
        }
    }

    fn window(&mut self) -> Window {
        Window {
            size: self.sizes(),
            stride: self.sizes(),
            padding: self.list(|r| (r.next() as i64, r.next() as i64)),
            base_dilation: self.sizes(),
            window_dilation: self.sizes(),
        }
    }

    fn tree(&mut self, depth: usize) -> TreeShape {
        match self.below(3) {
            1 if depth < 3 => TreeShape::Tuple(self.list(|r| r.tree(depth + 1))),
            2 if depth < 3 => TreeShape::Record(self.list(|r| (r.text(), r.tree(depth + 1)))),
            _ => TreeShape::Leaf,
        }
    }

    fn piece(&mut self) -> PrintPiece {
        if self.flag() {
            return PrintPiece::Text(self.text());
        }
        let spec = if self.flag() { Some(self.text()) } else { None };
        PrintPiece::Value {
            tree: self.tree(0),
            spec,
        }
    }

    fn reduction(&mut self) -> ReduceOp {
        ReduceOp::ALL[self.below(4)]
    }

    /// A primitive with the types of its results, which agree where the text form takes one from the other.
    fn op(&mut self) -> (Op, Vec<Type>) {
        let ty = self.ty();
        let one = vec![ty.clone()];
        let op = match self.below(28) {
            0 => Op::Constant(self.literal(&ty)),
            1 => Op::Iota {
                ty: ty.clone(),
                axis: self.below(5),
            },
            2 => Op::Unary(UnaryOp::Polygamma(self.next() as u8)),
            3 => Op::Convert(ty.elem),
            4 => Op::Bitcast(ty.elem),
            5 => Op::Broadcast {
                shape: ty.shape.clone(),
                dims: self.sizes(),
            },
            6 => Op::Reshape {
                shape: ty.shape.clone(),
            },
            7 => Op::Slice {
                start: self.sizes(),
                limit: self.sizes(),
                stride: self.sizes(),
            },
            8 => Op::Pad {
                low: self.ints(),
                high: self.ints(),
                interior: self.sizes(),
            },
            9 => Op::Gather(GatherDims {
                offset_dims: self.sizes(),
                collapsed_slice_dims: self.sizes(),
                operand_batching_dims: self.sizes(),
                start_indices_batching_dims: self.sizes(),
                start_index_map: self.sizes(),
                index_vector_dim: self.below(4),
                slice_sizes: self.sizes(),
            }),
            10 => Op::Scatter {
                op: if self.flag() {
                    ScatterOp::Set
                } else {
                    ScatterOp::Add
                },
                dims: ScatterDims {
                    update_window_dims: self.sizes(),
                    inserted_window_dims: self.sizes(),
                    input_batching_dims: self.sizes(),
                    scatter_indices_batching_dims: self.sizes(),
                    scatter_dims_to_operand_dims: self.sizes(),
                    index_vector_dim: self.below(4),
                },
            },
            11 => Op::Reduce {
                op: self.reduction(),
                axes: self.sizes(),
            },
            12 => Op::ArgReduce {
                max: self.flag(),
                axis: self.below(4),
            },
            13 => Op::Cumulate {
                op: self.reduction(),
                axis: self.below(4),
                reverse: self.flag(),
            },
            14 => Op::ReduceWindow {
                op: self.reduction(),
                window: self.window(),
            },
            15 => Op::WindowScatter {
                max: self.flag(),
                window: self.window(),
            },
            16 => Op::Dot(DotDims {
                lhs_batch: self.sizes(),
                rhs_batch: self.sizes(),
                lhs_contract: self.sizes(),
                rhs_contract: self.sizes(),
            }),
            17 => Op::Conv(ConvDims {
                stride: self.sizes(),
                padding: self.list(|r| (r.next() as i64, r.next() as i64)),
                lhs_dilation: self.sizes(),
                rhs_dilation: self.sizes(),
                reverse: self.list(Random::flag),
                input_batch: self.below(5),
                input_feature: self.below(5),
                input_spatial: self.sizes(),
                kernel_input: self.below(5),
                kernel_output: self.below(5),
                kernel_spatial: self.sizes(),
                output_batch: self.below(5),
                output_feature: self.below(5),
                output_spatial: self.sizes(),
                feature_groups: self.below(5),
                batch_groups: self.below(5),
            }),
            18 => Op::TriangularSolve {
                left: self.flag(),
                lower: self.flag(),
                transpose: self.flag(),
                unit_diagonal: self.flag(),
            },
            19 => Op::Sort {
                axis: self.below(4),
                keys: self.below(4),
                descending: self.flag(),
                total: self.flag(),
            },
            20 => Op::Shard {
                axes: self.list(|r| if r.flag() { Some(r.text()) } else { None }),
            },
            21 => Op::Host(HostSource::Load {
                path: self.text(),
                fields: vec![(self.text(), ty.clone())],
            }),
            22 if self.flag() => Op::Host(HostSource::Batches {
                path: self.text(),
                fields: vec![(self.text(), ty.clone())],
                count: self.below(9),
            }),
            22 => Op::Host(HostSource::NumpyPermutations {
                seed: self.next(),
                n: self.below(9),
                count: self.below(9),
            }),
            23 => return (Op::effect(Effect::Print(self.list(Random::piece))), vec![]),
            24 => {
                let effect = Effect::Save {
                    path: self.text(),
                    names: self.list(Random::text),
                };
                return (Op::effect(effect), vec![]);
            }
            25 if self.flag() => {
                let names = self.list(Random::text);
                return (Op::effect(Effect::Metrics { names }), vec![]);
            }
            25 => {
                let tolerance_bits = self.next();
                return (Op::effect(Effect::AssertClose { tolerance_bits }), vec![]);
            }
            26 => {
                let op = Op::Scan {
                    length: self.below(9),
                    reverse: self.flag(),
                    carry: self.below(4),
                };
                let types = self.list(Random::ty);
                return (op, types);
            }
            _ => {
                let forms = [Op::If, Op::While, Op::CustomVjp, Op::Remat, Op::Barrier];
                return (forms[self.below(5)].clone(), self.list(Random::ty));
            }
        };
        (op, one)
    }

    fn region(&mut self, scope: &mut Vec<Value>, depth: usize) -> Region {
        let outside = scope.len();
        let params = self.list(|r| r.ty());
        let params: Vec<Value> = params.into_iter().map(|t| self.define(t)).collect();
        scope.extend(&params);
        let mut insts = Vec::new();
        for _ in 0..self.below(if depth == 0 { 12 } else { 3 }) {
            let (mut op, types) = self.op();
            if depth >= 3 && region_count(&op) > 0 {
                op = Op::Barrier;
            }
            let args = self.pick(scope);
            let regions = (0..region_count(&op))
                .map(|_| self.region(scope, depth + 1))
                .collect();
            let results: Vec<Value> = types.into_iter().map(|t| self.define(t)).collect();
            scope.extend(&results);
            insts.push(Inst {
                op,
                args,
                regions,
                results,
            });
        }
        let results = self.pick(scope);
        scope.truncate(outside);
        Region {
            params,
            insts,
            results,
        }
    }

    fn define(&mut self, ty: Type) -> Value {
        self.func.new_value(ty, Span::default())
    }

    fn pick(&mut self, scope: &[Value]) -> Vec<Value> {
        if scope.is_empty() {
            return Vec::new();
        }
        self.list(|r| scope[r.below(scope.len())])
    }
}
