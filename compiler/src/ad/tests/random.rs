//! Programs put together at random (the same on every run): loops, branches, recomputation and own derivatives, nested and
//! sharing values in every way, through the same checks as the others.

use super::check::{Case, Numbers, Order, check};
use super::programs::checked;
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::{
    BinaryOp, Builder, CompareOp, Elem, Literal, Op, ReduceOp, Region, Type, UnaryOp, Value,
};

/// How many in an ordinary run; `TPUC_RANDOM_PROGRAMS` asks for more.
const PROGRAMS: usize = 16;
const WIDTH: usize = 3;

#[test]
fn random_programs() {
    let asked = std::env::var("TPUC_RANDOM_PROGRAMS").ok();
    let programs = asked.and_then(|n| n.parse().ok()).unwrap_or(PROGRAMS);
    for seed in 0..programs {
        let case = program(&format!("random program {seed}"));
        check(&case, Order::Second);
    }
}

/// Values in scope, by kind: vectors of [`WIDTH`], scalars, integers.
#[derive(Clone, Default)]
struct Pool {
    vectors: Vec<Value>,
    scalars: Vec<Value>,
    integers: Vec<Value>,
}

fn vector() -> Type {
    Type::new(Elem::F32, [WIDTH])
}

fn scalar() -> Type {
    Type::scalar(Elem::F32)
}

fn integer() -> Type {
    Type::scalar(Elem::I32)
}

fn program(name: &str) -> Case {
    let mut numbers = Numbers::new(name);
    let mut g = Generator {
        b: Builder::new("f"),
        numbers: Numbers::new(&format!("{name}, structure")),
    };
    let mut pool = Pool::default();
    let mut inputs = Vec::new();
    for _ in 0..2 {
        pool.vectors.push(g.b.param(vector()));
        inputs.push(numbers.array(&vector(), -1.0, 1.0));
    }
    pool.scalars.push(g.b.param(scalar()));
    inputs.push(numbers.array(&scalar(), -1.0, 1.0));
    pool.integers.push(g.b.param(integer()));
    inputs.push(numbers.array(&integer(), 0.0, 3.0));
    g.block(&mut pool, 2, 7);
    let results = vec![g.vector(&pool), g.scalar(&pool), g.vector(&pool)];
    Case {
        name: name.into(),
        func: checked(g.b.finish(results)),
        inputs,
    }
}

struct Generator {
    b: Builder,
    numbers: Numbers,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        (self.numbers.unit() * n as f64) as usize
    }

    /// One of the values, more often a late one.
    fn pick(&mut self, values: &[Value]) -> Value {
        let (a, b) = (self.below(values.len()), self.below(values.len()));
        values[a.max(b)]
    }

    fn vector(&mut self, pool: &Pool) -> Value {
        self.pick(&pool.vectors)
    }

    fn scalar(&mut self, pool: &Pool) -> Value {
        self.pick(&pool.scalars)
    }

    fn integer(&mut self, pool: &Pool) -> Value {
        self.pick(&pool.integers)
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        self.b.op(Op::Unary(op), &[x])
    }

    fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        self.b.op(Op::Binary(op), &[x, y])
    }

    fn number(&mut self, value: f64, ty: Type) -> Value {
        self.b.op(Op::Constant(Literal::splat_f64(ty, value)), &[])
    }

    /// Some more values, all of moderate size.
    fn block(&mut self, pool: &mut Pool, depth: usize, steps: usize) {
        for _ in 0..steps {
            self.step(pool, depth);
        }
    }

    fn step(&mut self, pool: &mut Pool, depth: usize) {
        let choices = if depth > 0 { 20 } else { 14 };
        match self.below(choices) {
            0 => {
                let op = [UnaryOp::Sin, UnaryOp::Tanh, UnaryOp::Logistic][self.below(3)];
                let x = self.vector(pool);
                pool.vectors.push(self.unary(op, x));
            }
            1 => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][self.below(3)];
                let (x, y) = (self.vector(pool), self.vector(pool));
                let z = self.binary(op, x, y);
                pool.vectors.push(self.unary(UnaryOp::Sin, z));
            }
            2 => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][self.below(3)];
                let (x, y) = (self.scalar(pool), self.scalar(pool));
                pool.scalars.push(self.binary(op, x, y));
            }
            3 => {
                let x = self.vector(pool);
                let sum = Op::Reduce {
                    op: ReduceOp::Sum,
                    axes: vec![0],
                };
                let s = self.b.op(sum, &[x]);
                let third = self.number(0.25, scalar());
                pool.scalars.push(self.binary(BinaryOp::Mul, s, third));
            }
            4 => {
                let x = self.scalar(pool);
                let wide = self.fill(x);
                pool.vectors.push(wide);
            }
            5 => {
                let (x, y) = (self.vector(pool), self.vector(pool));
                let dims = crate::ir::op::DotDims {
                    lhs_batch: vec![],
                    rhs_batch: vec![],
                    lhs_contract: vec![0],
                    rhs_contract: vec![0],
                };
                let s = self.b.op(Op::Dot(dims), &[x, y]);
                pool.scalars.push(self.unary(UnaryOp::Tanh, s));
            }
            6 => {
                let x = self.vector(pool);
                let op = [
                    Op::Cumulate {
                        op: ReduceOp::Sum,
                        axis: 0,
                        reverse: true,
                    },
                    Op::Reverse { axes: vec![0] },
                ][self.below(2)]
                .clone();
                let y = self.b.op(op, &[x]);
                pool.vectors.push(self.unary(UnaryOp::Tanh, y));
            }
            7 => {
                let (x, y, k) = (self.vector(pool), self.vector(pool), self.integer(pool));
                let place = self.b.op(
                    Op::Iota {
                        ty: Type::new(Elem::I32, [WIDTH]),
                        axis: 0,
                    },
                    &[],
                );
                let k = self.fill(k);
                let mask = self.b.op(Op::Compare(CompareOp::Lt), &[place, k]);
                pool.vectors.push(self.b.op(Op::Select, &[mask, x, y]));
            }
            8 => {
                let (x, y, k) = (self.vector(pool), self.vector(pool), self.integer(pool));
                let both = self.b.op(Op::Concat { axis: 0 }, &[x, y]);
                let sizes = vec![WIDTH];
                pool.vectors
                    .push(self.b.op(Op::DynamicSlice { sizes }, &[both, k]));
            }
            9 => {
                let (x, s, k) = (self.vector(pool), self.scalar(pool), self.integer(pool));
                let one = self.b.op(Op::Reshape { shape: vec![1] }, &[s]);
                pool.vectors
                    .push(self.b.op(Op::DynamicUpdateSlice, &[x, one, k]));
            }
            10 => {
                let (x, indices) = (self.vector(pool), self.places(pool));
                let dims = GatherDims {
                    offset_dims: vec![],
                    collapsed_slice_dims: vec![0],
                    operand_batching_dims: vec![],
                    start_indices_batching_dims: vec![],
                    start_index_map: vec![0],
                    index_vector_dim: 1,
                    slice_sizes: vec![1],
                };
                pool.vectors
                    .push(self.b.op(Op::Gather(dims), &[x, indices]));
            }
            11 => {
                let (x, y, indices) = (self.vector(pool), self.vector(pool), self.places(pool));
                let dims = ScatterDims {
                    update_window_dims: vec![],
                    inserted_window_dims: vec![0],
                    input_batching_dims: vec![],
                    scatter_indices_batching_dims: vec![],
                    scatter_dims_to_operand_dims: vec![0],
                    index_vector_dim: 1,
                };
                let op = [ScatterOp::Add, ScatterOp::Set][self.below(2)];
                pool.vectors
                    .push(self.b.op(Op::Scatter { op, dims }, &[x, indices, y]));
            }
            12 => {
                let (x, y) = (self.vector(pool), self.vector(pool));
                let low = self.unary(UnaryOp::Logistic, y);
                pool.vectors.push(self.binary(BinaryOp::Div, x, low));
                let last = pool.vectors.len() - 1;
                pool.vectors[last] = self.unary(UnaryOp::Tanh, pool.vectors[last]);
            }
            13 => {
                let x = self.vector(pool);
                pool.vectors.push(self.b.op(Op::Barrier, &[x]));
            }
            14..=16 => self.scan(pool, depth),
            17 => self.branch(pool, depth),
            18 => self.remat(pool, depth),
            _ => self.custom(pool),
        }
    }

    fn fill(&mut self, x: Value) -> Value {
        let op = Op::Broadcast {
            shape: vec![WIDTH],
            dims: vec![],
        };
        self.b.op(op, &[x])
    }

    /// Indices, some of which meet and some of which lie outside.
    fn places(&mut self, pool: &Pool) -> Value {
        let k = self.integer(pool);
        let k = self.fill(k);
        let ty = Type::new(Elem::I32, [WIDTH]);
        let steps = Literal::dense_bits(ty, vec![0, 1 + self.below(2) as u64, 1]);
        let steps = self.b.op(Op::Constant(steps), &[]);
        self.binary(BinaryOp::Add, k, steps)
    }

    /// A loop with a vector and a scalar carried, slices read, values from outside used, and slices given out.
    fn scan(&mut self, pool: &mut Pool, depth: usize) {
        let length = 1 + self.below(3);
        let reverse = self.below(2) == 0;
        let inits = vec![self.vector(pool), self.scalar(pool), self.integer(pool)];
        let rows: Vec<Value> = (0..length).map(|_| self.vector(pool)).collect();
        let rows = self.b.op(Op::Concat { axis: 0 }, &rows);
        let shape = vec![length, WIDTH];
        let xs = self.b.op(Op::Reshape { shape }, &[rows]);

        self.b.open_region();
        let mut inner = pool.clone();
        inner.integers.push(self.b.param(integer()));
        inner.vectors.push(self.b.param(vector()));
        inner.scalars.push(self.b.param(scalar()));
        inner.integers.push(self.b.param(integer()));
        inner.vectors.push(self.b.param(vector()));
        self.block(&mut inner, depth - 1, 5);
        let x = self.vector(&inner);
        let s = self.scalar(&inner);
        let results = vec![
            self.unary(UnaryOp::Tanh, x),
            self.unary(UnaryOp::Sin, s),
            self.integer(&inner),
            self.vector(&inner),
            self.scalar(&inner),
        ];
        let body = self.b.close_region(results);
        let op = Op::Scan {
            length,
            reverse,
            carry: inits.len(),
        };
        let operands = [inits, vec![xs]].concat();
        let results = self.b.push(op, operands, vec![body]);
        pool.vectors.push(results[0]);
        pool.scalars.push(results[1]);
        pool.integers.push(results[2]);
        let sum = |axis| Op::Reduce {
            op: ReduceOp::Sum,
            axes: vec![axis],
        };
        let column = self.b.op(sum(0), &[results[3]]);
        pool.vectors.push(self.unary(UnaryOp::Tanh, column));
        pool.scalars.push(self.b.op(sum(0), &[results[4]]));
    }

    fn branch(&mut self, pool: &mut Pool, depth: usize) {
        let k = self.integer(pool);
        let limit = self.number(1.0, integer());
        let predicate = self.b.op(Op::Compare(CompareOp::Le), &[k, limit]);
        let regions: Vec<Region> = (0..2)
            .map(|_| {
                self.b.open_region();
                let mut inner = pool.clone();
                let steps = self.below(5);
                self.block(&mut inner, depth - 1, steps);
                let results = vec![self.vector(&inner), self.scalar(&inner)];
                self.b.close_region(results)
            })
            .collect();
        let results = self.b.push(Op::If, vec![predicate], regions);
        pool.vectors.push(results[0]);
        pool.scalars.push(results[1]);
    }

    fn remat(&mut self, pool: &mut Pool, depth: usize) {
        let operands = vec![self.vector(pool), self.scalar(pool), self.integer(pool)];
        self.b.open_region();
        let mut inner = Pool {
            vectors: vec![self.b.param(vector())],
            scalars: vec![self.b.param(scalar())],
            integers: vec![self.b.param(integer())],
        };
        self.block(&mut inner, depth - 1, 5);
        let results = vec![self.vector(&inner), self.scalar(&inner)];
        let body = self.b.close_region(results);
        let results = self.b.push(Op::Remat, operands, vec![body]);
        pool.vectors.push(results[0]);
        pool.scalars.push(results[1]);
    }

    /// `tanh(x)·s` with its own derivative, in which the result is used.
    fn custom(&mut self, pool: &mut Pool) {
        let operands = vec![self.vector(pool), self.scalar(pool)];
        self.b.open_region();
        let (x, s) = (self.b.param(vector()), self.b.param(scalar()));
        let t = self.unary(UnaryOp::Tanh, x);
        let wide = self.fill(s);
        let y = self.binary(BinaryOp::Mul, t, wide);
        let function = self.b.close_region(vec![y]);

        self.b.open_region();
        let (x, s) = (self.b.param(vector()), self.b.param(scalar()));
        let (y, ct) = (self.b.param(vector()), self.b.param(vector()));
        let t = self.unary(UnaryOp::Tanh, x);
        let wide = self.fill(s);
        // s·(1 − t²) = s − y·t
        let square = self.binary(BinaryOp::Mul, y, t);
        let slope = self.binary(BinaryOp::Sub, wide, square);
        let dx = self.binary(BinaryOp::Mul, slope, ct);
        let part = self.binary(BinaryOp::Mul, t, ct);
        let sum = Op::Reduce {
            op: ReduceOp::Sum,
            axes: vec![0],
        };
        let ds = self.b.op(sum, &[part]);
        let derivative = self.b.close_region(vec![dx, ds]);

        let regions = vec![function, derivative];
        let y = self.b.push(Op::CustomVjp, operands, regions)[0];
        pool.vectors.push(y);
    }
}
