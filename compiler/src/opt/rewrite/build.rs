//! Building the right side of a rule, every node checked by its shape rule.

use super::matcher::Match;
use super::pattern::{Args, Number, Pattern};
use crate::ir::Literal;
use crate::ir::literal::{decode_f64, encode_f64, encode_i64};
use crate::ir::op::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::ir::types::{Elem, Shape, Type};
use crate::opt::graph::{Graph, Head, Kind, Node};
use egg::Id;
use std::sync::Arc;

/// A match and the e-graph to build in.
pub struct Rw<'a> {
    pub graph: &'a mut Graph,
    found: &'a Match,
}

impl<'a> Rw<'a> {
    pub fn new(graph: &'a mut Graph, found: &'a Match) -> Rw<'a> {
        Rw { graph, found }
    }

    /// The class of the left side.
    pub fn root(&self) -> Id {
        self.found.class
    }

    /// The value that a letter of the left side stands for.
    ///
    /// # Panics
    /// When the left side has no such letter: a rule is wrong about itself, which its test shows.
    pub fn var(&self, name: char) -> Id {
        match self.found.var(name) {
            Some(id) => id,
            None => panic!("the rule's left side binds no value `{name}`"),
        }
    }

    /// The node bound to a letter of the left side.
    ///
    /// # Panics
    /// As [`Rw::var`].
    pub fn node(&self, name: char) -> Node {
        match self.found.node(name) {
            Some(node) => node.clone(),
            None => panic!("the rule's left side binds no primitive `{name}`"),
        }
    }

    /// The primitive with its attributes bound to a letter.
    pub fn op(&self, name: char) -> Option<Op> {
        self.graph.op_of(&self.node(name))
    }

    pub fn head(&self, name: char) -> Arc<Head> {
        self.graph.head(&self.node(name))
    }

    /// All bound primitives, outermost first.
    pub fn bound(&self) -> &'a [(char, Node)] {
        &self.found.nodes
    }

    /// A node of this kind in a class, whose primitive passes.
    pub fn find(&self, id: Id, kind: Kind, passes: impl Fn(&Op) -> bool) -> Option<Node> {
        let nodes = self.graph.egg[id].nodes.iter();
        nodes
            .filter(|n| n.kind == kind)
            .find(|n| self.graph.op_of(n).is_some_and(|op| passes(&op)))
            .cloned()
    }

    /// A node in a class whose kind passes.
    pub fn find_where(&self, id: Id, passes: impl Fn(Kind) -> bool) -> Option<Node> {
        let mut nodes = self.graph.egg[id].nodes.iter();
        nodes.find(|n| passes(n.kind)).cloned()
    }

    /// The operands of the primitive bound to a letter.
    pub fn args(&self, name: char) -> Vec<Id> {
        self.node(name).children.to_vec()
    }

    pub fn ty(&self, id: Id) -> Type {
        self.graph.data(id).ty().clone()
    }

    pub fn shape(&self, id: Id) -> Shape {
        self.graph.data(id).ty().shape.clone()
    }

    pub fn constant(&self, id: Id) -> Option<Arc<Literal>> {
        self.graph.data(id).constant.clone()
    }

    /// The value of a one-valued constant.
    pub fn splat_value(&self, id: Id) -> Option<f64> {
        self.constant(id)?.splat_value()
    }

    // Building. Each is the identity where it would change nothing.

    /// None for a new constant that its type cannot hold: `x * 300 * 300` is not `x * inf` in f16, where x is small enough.
    pub fn add(&mut self, op: Op, args: &[Id]) -> Option<Id> {
        if let (Op::Binary(op), [x, y]) = (&op, args)
            && let Some((x, y)) = self.splat_value(*x).zip(self.splat_value(*y))
            && !holds(self.graph.data(args[0]).ty().elem, *op, x, y)
        {
            return None;
        }
        self.graph.op(op, args).ok()
    }

    pub fn unary(&mut self, op: UnaryOp, x: Id) -> Option<Id> {
        self.add(Op::Unary(op), &[x])
    }

    pub fn binary(&mut self, op: BinaryOp, x: Id, y: Id) -> Option<Id> {
        self.add(Op::Binary(op), &[x, y])
    }

    pub fn compare(&mut self, op: CompareOp, x: Id, y: Id) -> Option<Id> {
        self.add(Op::Compare(op), &[x, y])
    }

    pub fn reshape(&mut self, x: Id, shape: Shape) -> Option<Id> {
        if self.shape(x) == shape {
            return Some(x);
        }
        self.add(Op::Reshape { shape }, &[x])
    }

    pub fn transpose(&mut self, x: Id, perm: Vec<usize>) -> Option<Id> {
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return Some(x);
        }
        self.add(Op::Transpose { perm }, &[x])
    }

    pub fn broadcast(&mut self, x: Id, shape: Shape, dims: Vec<usize>) -> Option<Id> {
        if self.shape(x) == shape {
            return Some(x);
        }
        self.add(Op::Broadcast { shape, dims }, &[x])
    }

    pub fn convert(&mut self, x: Id, elem: Elem) -> Option<Id> {
        if self.graph.data(x).ty().elem == elem {
            return Some(x);
        }
        self.add(Op::Convert(elem), &[x])
    }

    pub fn literal(&mut self, literal: Literal) -> Option<Id> {
        self.add(Op::Constant(literal), &[])
    }

    pub fn splat_bits(&mut self, ty: Type, bits: u64) -> Option<Id> {
        self.literal(Literal::splat_bits(ty, bits))
    }

    pub fn splat_f64(&mut self, ty: Type, value: f64) -> Option<Id> {
        self.literal(Literal::splat_f64(ty, value))
    }

    pub fn splat_i64(&mut self, ty: Type, value: i64) -> Option<Id> {
        let bits = encode_i64(ty.elem, value);
        self.splat_bits(ty, bits)
    }

    /// A one-valued constant in another shape; itself where the shape is that already.
    pub fn respread(&mut self, id: Id, shape: &[usize]) -> Option<Id> {
        let data = self.graph.data(id);
        if data.ty().shape == shape {
            return Some(id);
        }
        let (ty, bits) = (data.ty().with_shape(shape), data.splat()?);
        self.splat_bits(ty, bits)
    }

    /// A pattern over what the letters stand for, of the type of the left side.
    pub fn instantiate(&mut self, pattern: &Pattern) -> Option<Id> {
        let ty = self.ty(self.root());
        self.pattern(pattern, Some(&ty))
    }

    /// `want` gives numbers and constants their type where nothing beside them does.
    fn pattern(&mut self, pattern: &Pattern, want: Option<&Type>) -> Option<Id> {
        match pattern {
            Pattern::Var(name) => Some(self.var(*name)),
            Pattern::Splat(name) => {
                let id = self.var(*name);
                match want {
                    Some(ty) => self.respread(id, &ty.shape),
                    None => Some(id),
                }
            }
            Pattern::Number(number) => {
                let ty = want?.clone();
                let bits = match number {
                    Number::Value(v) => encode_f64(ty.elem, *v),
                    Number::Bool(b) => u64::from(*b),
                };
                self.splat_bits(ty, bits)
            }
            Pattern::Apply { kinds, bind, args } => {
                let op = match (bind, kinds.as_slice()) {
                    (Some(name), _) => self.op(*name)?,
                    (None, [kind]) => plain(*kind)?,
                    (None, _) => return None,
                };
                let Args::Fixed(args) = args else { return None };
                let args = self.operands(&op, args, want)?;
                self.add(op, &args)
            }
        }
    }

    /// Builds the operands: first those that have a type of their own, then numbers and constants like them.
    fn operands(&mut self, op: &Op, args: &[Pattern], want: Option<&Type>) -> Option<Vec<Id>> {
        let mut built: Vec<Option<Id>> = vec![None; args.len()];
        for (i, arg) in args.iter().enumerate() {
            if !matches!(arg, Pattern::Number(_) | Pattern::Splat(_)) {
                let want = operand_like_result(op, i).then_some(want).flatten();
                built[i] = Some(self.pattern(arg, want)?);
            }
        }
        for (i, arg) in args.iter().enumerate() {
            if built[i].is_some() {
                continue;
            }
            let beside = built
                .iter()
                .enumerate()
                .filter(|(j, _)| alike(op, i, *j))
                .find_map(|(_, b)| *b)
                .map(|id| self.ty(id));
            let ty = match op {
                Op::Pad { .. } => built[0].map(|x| Type::scalar(self.ty(x).elem)),
                _ => beside.or_else(|| operand_like_result(op, i).then(|| want.cloned()).flatten()),
            };
            built[i] = Some(self.pattern(arg, ty.as_ref())?);
        }
        built.into_iter().collect()
    }
}

/// Whether the float type has the sum, difference, product or quotient of two numbers, but for rounding. What falls among
/// the subnormal numbers has lost digits, or is 0 on a device.
fn holds(elem: Elem, op: BinaryOp, x: f64, y: f64) -> bool {
    let value = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        _ => return true,
    };
    if !elem.is_float() || !x.is_finite() || !y.is_finite() {
        return true;
    }
    let scaled = matches!(op, BinaryOp::Mul | BinaryOp::Div) && x != 0.0 && y != 0.0;
    decode_f64(elem, encode_f64(elem, value)).is_finite()
        && !(scaled && value.abs() < smallest_normal(elem))
}

fn smallest_normal(elem: Elem) -> f64 {
    match elem {
        Elem::F64 => f64::MIN_POSITIVE,
        Elem::F16 => f64::powi(0.5, 14),
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// Whether operands `i` and `j` have equal types.
fn alike(op: &Op, i: usize, j: usize) -> bool {
    match Kind::of(op) {
        Kind::Binary(_) | Kind::Compare(_) | Kind::Clamp => true,
        Kind::Select => i != 0 && j != 0,
        _ => false,
    }
}

/// Whether operand `i` has the type of the result.
fn operand_like_result(op: &Op, i: usize) -> bool {
    match Kind::of(op) {
        Kind::Unary(u) => u != UnaryOp::IsFinite,
        Kind::Binary(_) | Kind::Clamp => true,
        Kind::Select => i != 0,
        _ => false,
    }
}

/// The primitive of a kind that has no attributes.
fn plain(kind: Kind) -> Option<Op> {
    Some(match kind {
        Kind::Unary(u) => Op::Unary(u),
        Kind::Binary(b) => Op::Binary(b),
        Kind::Compare(c) => Op::Compare(c),
        Kind::Select => Op::Select,
        Kind::Clamp => Op::Clamp,
        Kind::DynamicUpdateSlice => Op::DynamicUpdateSlice,
        Kind::StopGradient => Op::StopGradient,
        _ => return None,
    })
}
