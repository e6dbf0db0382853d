//! What a loop of the host reads crosses into its programs as narrow as it was: widened and scaled where it is read, and only the
//! rows that are picked.
//!
//! ```text
//! %1 = convert %bytes : f32[60000, 784]        scan[…] {
//! %2 = div %1, %255                              %3 = gather %bytes, %rows : u8[128, 784]
//! scan[…] {                               →      %4 = convert %3 : f32[128, 784]
//!   %3 = gather %2, %rows : f32[128, 784]        %5 = div %4, %255
//!   … print … }                                  … print … }
//! ```
//!
//! Exact, since each element of the result comes of one element. Data of bytes then takes a quarter of the memory.

use super::split::has_effect;
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::literal::Literal;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::Elem;
use crate::passes::copy::{Copier, Rewrite, rewrite};
use std::collections::HashMap;

/// Smaller values stay as they are.
const LEAST_BYTES: usize = 1 << 20;

pub(super) fn narrow(main: &Func) -> Func {
    let chains = chains(main);
    if chains.is_empty() {
        return main.clone();
    }
    let mut pass = Narrow {
        chains,
        walked: false,
        nested: false,
    };
    rewrite(main, &mut pass)
}

/// An elementwise step from one operand.
#[derive(Clone)]
enum Link {
    Convert(Elem),
    /// With the same number for each element, on the left or on the right.
    Number(BinaryOp, Literal, Side),
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// How a value is made of a narrower one: reshaped to its own shape, then step by step.
struct Chain {
    source: Value,
    shape: Vec<usize>,
    links: Vec<Link>,
}

fn chains(main: &Func) -> HashMap<Value, Chain> {
    let insts = main.body.insts.iter();
    let made: HashMap<Value, &Inst> = insts
        .flat_map(|i| i.results.iter().map(move |&v| (v, i)))
        .collect();
    let wide = made.keys().filter(|&&v| main.ty(v).bytes() >= LEAST_BYTES);
    wide.filter_map(|&v| Some((v, chain(main, &made, v)?)))
        .collect()
}

/// From the narrowest value on the way; none where that is no narrower than `v`.
fn chain(main: &Func, made: &HashMap<Value, &Inst>, v: Value) -> Option<Chain> {
    let mut links = Vec::new();
    let mut at = v;
    let mut narrowest = (main.ty(v).bytes(), v, 0);
    while let Some(inst) = made.get(&at) {
        at = match &inst.op {
            Op::Reshape { .. } => inst.args[0],
            Op::Convert(elem) => {
                links.push(Link::Convert(*elem));
                inst.args[0]
            }
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)) => {
                let [x, y] = [inst.args[0], inst.args[1]];
                let (next, number, side) = match (number(made, x), number(made, y)) {
                    (None, Some(number)) => (x, number, Side::Right),
                    (Some(number), None) => (y, number, Side::Left),
                    _ => break,
                };
                links.push(Link::Number(*op, number, side));
                next
            }
            _ => break,
        };
        let bytes = main.ty(at).bytes();
        if bytes < narrowest.0 || bytes == narrowest.0 && narrowest.1 != v {
            narrowest = (bytes, at, links.len());
        }
    }
    let (_, source, count) = narrowest;
    links.truncate(count);
    links.reverse();
    let shape = main.ty(v).shape.clone();
    (source != v).then_some(Chain {
        source,
        shape,
        links,
    })
}

/// The number that all elements of a value are.
fn number(made: &HashMap<Value, &Inst>, v: Value) -> Option<Literal> {
    let inst = made.get(&v)?;
    match &inst.op {
        Op::Constant(literal) => literal.splat().map(|_| literal.clone()),
        Op::Broadcast { .. } => number(made, inst.args[0]),
        _ => None,
    }
}

struct Narrow {
    chains: HashMap<Value, Chain>,
    /// In a region that the host walks, and in a loop or branch of the device within that.
    walked: bool,
    nested: bool,
}

impl Rewrite for Narrow {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        if has_effect(inst) {
            let outer = std::mem::replace(&mut self.walked, true);
            c.keep(self, inst);
            self.walked = outer;
        } else if !self.walked || matches!(inst.op, Op::Effect(..)) {
            c.keep(self, inst);
        } else if let Some(chain) = self.picked(inst) {
            let source = reshaped(c, chain);
            let mut args = c.values(&inst.args);
            args[0] = source;
            let rows = c.b.op(inst.op.clone(), &args);
            let result = widened(c, chain, rows);
            c.set(inst.results[0], result);
        } else if self.nested {
            c.keep(self, inst);
        } else {
            self.with_wholes(c, inst);
        }
    }
}

impl Narrow {
    /// The chain of the array that an instruction picks elements of.
    fn picked(&self, inst: &Inst) -> Option<&Chain> {
        let picks = matches!(
            inst.op,
            Op::Gather(_) | Op::DynamicSlice { .. } | Op::Slice { .. }
        );
        self.chains.get(inst.args.first().filter(|_| picks)?)
    }

    /// Copies an instruction before which all of what it reads in whole is widened.
    fn with_wholes(&mut self, c: &mut Copier, inst: &Inst) {
        let mut wholes = Vec::new();
        self.read_whole(inst, &mut wholes);
        wholes.sort();
        wholes.dedup();
        let before: Vec<(Value, Value)> = wholes.iter().map(|&v| (v, c.value(v))).collect();
        for v in wholes {
            c.at(Some(&v));
            let chain = &self.chains[&v];
            let source = reshaped(c, chain);
            let whole = widened(c, chain, source);
            c.set(v, whole);
        }
        self.nested = true;
        c.keep(self, inst);
        self.nested = false;
        for (v, old) in before {
            c.set(v, old);
        }
    }

    fn read_whole(&self, inst: &Inst, found: &mut Vec<Value>) {
        let picked = usize::from(self.picked(inst).is_some());
        let mut note = |values: &[Value]| {
            found.extend(values.iter().filter(|v| self.chains.contains_key(v)));
        };
        note(&inst.args[picked..]);
        let inner = |region: &Region| region.results.clone();
        inst.regions.iter().for_each(|region| note(&inner(region)));
        for region in &inst.regions {
            region.insts.iter().for_each(|i| self.read_whole(i, found));
        }
    }
}

fn reshaped(c: &mut Copier, chain: &Chain) -> Value {
    let source = c.value(chain.source);
    if c.b.ty(source).shape == chain.shape {
        return source;
    }
    let shape = chain.shape.clone();
    c.b.op(Op::Reshape { shape }, &[source])
}

fn widened(c: &mut Copier, chain: &Chain, narrow: Value) -> Value {
    chain.links.iter().fold(narrow, |x, link| match link {
        Link::Convert(elem) => c.b.op(Op::Convert(*elem), &[x]),
        Link::Number(op, number, side) => {
            let shape = c.b.ty(x).shape.clone();
            let number = c.b.op(Op::Constant(number.with_shape(shape)), &[]);
            let args = match side {
                Side::Left => [number, x],
                Side::Right => [x, number],
            };
            c.b.op(Op::Binary(*op), &args)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::{StepKind, split, walk};
    use crate::ir::parse::parse;
    use crate::ir::types::{Elem, Type};
    use crate::ir::verify::verify;

    const EPOCHS: &str = "func main() -> () {
      %d = load[path = \"d.npy\", fields = [\"x\"]] : u8[1000, 28, 64]
      %flat = reshape %d : u8[1000, 1792]
      %wide = convert %flat : f32[1000, 1792]
      %most = constant 255.0 : f32
      %all = broadcast[dims = []] %most : f32[1000, 1792]
      %x = div %wide, %all : f32[1000, 1792]
      %w = constant 0.5 : f32[1792]
      %v = scan[length = 3, carry = 1] %w : f32[1792] body(%i: i32, %c: f32[1792]) {
        %at = constant [1, 2] : i32[2, 1]
        %zero = constant 0 : i32
        %n = scan[length = 4, carry = 1] %c : f32[1792] body(%j: i32, %e: f32[1792]) {
          %rows = gather[offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 1792]] %x, %at : f32[2, 1792]
          %s = reduce_sum[axes = [0]] %rows : f32[1792]
          %one = dynamic_slice[sizes = [1, 1792]] %x, %j, %zero : f32[1, 1792]
          %r = reshape %one : f32[1792]
          %t = add %s, %r : f32[1792]
          %z = dot_general[contract = [1] x [0]] %x, %e : f32[1000]
          %u = dot_general[contract = [0] x [0]] %z, %x : f32[1792]
          %o = add %t, %u : f32[1792]
          yield %o
        }
        print[pieces = [_]] %n
        yield %n
      }
      print[pieces = [_]] %v
      return
    }";

    #[test]
    fn bytes_cross_as_bytes() {
        let main = parse(EPOCHS).expect("parses");
        verify(&main).expect("verifies");
        let plan = split(&main);
        let large: Vec<&Type> = plan.slots.iter().filter(|t| t.bytes() > 100_000).collect();
        assert_eq!(large, [&Type::new(Elem::U8, [1000, 28, 64])]);
        let mut runs = Vec::new();
        walk(&plan.steps, &mut |step| {
            if let StepKind::Run { program, .. } = step.kind {
                runs.push(plan.programs[program].to_string());
            }
        });
        insta::assert_snapshot!(runs.join("\n"));
    }

    #[test]
    fn what_is_no_narrower_stays() {
        let same = EPOCHS
            .replace("u8[", "f32[")
            .replace("convert %flat", "neg %flat");
        let main = parse(&same).expect("parses");
        assert_eq!(super::narrow(&main).to_string(), main.to_string());
    }
}
