//! Arithmetic: elementwise, reductions, products.

use super::{Gen, Ty};

impl Gen {
    /// An operand that broadcasts to a type.
    fn operand(&mut self, ty: &Ty, depth: usize) -> String {
        let mut shape = ty.shape.clone();
        match self.rng.below(6) {
            0 if !shape.is_empty() => {
                let axis = self.rng.below(shape.len());
                shape[axis] = 1;
            }
            1 if !shape.is_empty() => {
                shape.remove(0);
            }
            _ => {}
        }
        self.expr(&ty.of(&shape), depth)
    }

    fn binary(&mut self, ty: &Ty, depth: usize, op: &str) -> String {
        let (a, b) = match self.rng.below(2) {
            0 => (self.expr(ty, depth), self.operand(ty, depth)),
            _ => (self.operand(ty, depth), self.expr(ty, depth)),
        };
        match op {
            "min" | "max" => format!("{op}({a}, {b})"),
            _ => format!("({a} {op} {b})"),
        }
    }

    /// The type that a reduction to `ty` starts from, and its axis.
    fn widened(&mut self, ty: &Ty, least: usize) -> (Ty, usize) {
        let axis = self.rng.below(ty.rank() + 1);
        let mut shape = ty.shape.clone();
        shape.insert(axis, self.size().max(least));
        (ty.of(&shape), axis)
    }

    pub fn float(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let elem = ty.elem;
        let text = match self.rng.below(30) {
            0..=6 => {
                let op = self.rng.pick(&["+", "+", "-", "*", "*", "min", "max"]);
                self.binary(ty, depth, op)
            }
            7 => {
                let (a, b) = (self.expr(ty, depth), self.operand(ty, depth));
                format!("({a} / (abs({b}) + 0.5))")
            }
            8..=13 => {
                let f = self.rng.pick(&[
                    "sin",
                    "cos",
                    "tanh",
                    "sigmoid",
                    "erf",
                    "softplus",
                    "gelu",
                    "relu",
                    "atan",
                    "silu",
                    "square",
                    "abs",
                    "-",
                    "elu",
                    "log_sigmoid",
                    "asinh",
                    "relu6",
                    "hard_tanh",
                    "gelu_tanh",
                    "selu",
                    "cbrt",
                ]);
                let a = self.expr(ty, depth);
                format!("{f}({a})")
            }
            14 => {
                let f = self.rng.pick(&[
                    "log",
                    "sqrt",
                    "rsqrt",
                    "log2",
                    "reciprocal",
                    "log1p",
                    "lgamma",
                    "digamma",
                ]);
                format!("{f}(abs({}) + 0.5)", self.expr(ty, depth))
            }
            15 => {
                let f = self.rng.pick(&["exp", "expm1", "exp2", "sinh", "cosh"]);
                format!("{f}(-abs({}))", self.expr(ty, depth))
            }
            16..=17 => {
                let f = self
                    .rng
                    .pick(&["sum", "mean", "max", "min", "logsumexp", "prod"]);
                let (wide, axis) = self.widened(ty, usize::from(!matches!(f, "sum" | "prod")));
                format!("{f}({}, axis={axis})", self.expr(&wide, depth))
            }
            18 => {
                let f = self.rng.pick(&["norm", "var", "std"]);
                let (wide, axis) = self.widened(ty, 2);
                format!("{f}({}, axis={axis})", self.expr(&wide, depth))
            }
            19..=20 if ty.rank() > 0 && !ty.shape.contains(&0) => {
                let f = self.rng.pick(&[
                    "softmax",
                    "log_softmax",
                    "cumsum",
                    "cummax",
                    "cummin",
                    "cumprod",
                    "sort",
                ]);
                let axis = self.rng.below(ty.rank());
                format!("{f}({}, axis={axis})", self.expr(ty, depth))
            }
            21..=23 if ty.rank() >= 2 => {
                let [.., m, n] = ty.shape[..] else {
                    return None;
                };
                let k = self.size();
                let batch = &ty.shape[..ty.rank() - 2];
                let a = self.expr(&ty.of(&[batch, &[m, k]].concat()), depth);
                let b = self.expr(&ty.of(&[k, n]), depth);
                format!("({a} @ {b})")
            }
            21 if ty.rank() == 1 => {
                let (m, k) = (ty.shape[0], self.size());
                let (a, b) = (
                    self.expr(&ty.of(&[m, k]), depth),
                    self.expr(&ty.of(&[k]), depth),
                );
                format!("({a} @ {b})")
            }
            24 if ty.rank() == 2 => {
                let (m, n, k) = (ty.shape[0], ty.shape[1], self.size());
                let (a, b) = (
                    self.expr(&ty.of(&[k, m]), depth),
                    self.expr(&ty.of(&[n, k]), depth),
                );
                format!("einsum(\"ki,jk->ij\", {a}, {b})")
            }
            25 if ty.rank() == 3 && !ty.shape.contains(&0) => {
                let [b, n, f] = ty.shape[..] else { return None };
                let c = 1 + self.rng.below(2);
                let x = self.expr(&ty.of(&[b, n, c]), depth);
                let w = self.expr(&ty.of(&[2, c, f]), depth);
                format!("conv({x}, {w})")
            }
            26 if ty.rank() == 3 && !ty.shape.contains(&0) => {
                let f = self.rng.pick(&["max_pool", "avg_pool"]);
                let [b, n, c] = ty.shape[..] else { return None };
                let x = self.expr(&ty.of(&[b, 2 * n, c]), depth);
                format!("{f}({x}, 2, stride=2)")
            }
            27 => {
                let from = self.rng.pick(&["f32", "f64", self.int, "bool", "f16"]);
                format!("{elem}({})", self.expr(&ty.elems(from), depth))
            }
            28 => {
                let f = self.rng.pick(&["floor", "ceil", "round", "sign", "trunc"]);
                format!("{f}({})", self.exact(ty, 2))
            }
            29 => {
                let n = self.rng.pick(&["2", "3", "0", "1"]);
                format!("(({}) ** {n})", self.expr(ty, depth))
            }
            _ => return None,
        };
        Some(text)
    }

    pub fn integer(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let elem = ty.elem;
        let wide = matches!(elem, "i32" | "i64" | "u32" | "u64");
        let text = match self.rng.below(14) {
            0..=4 => {
                let op = self.rng.pick(&["+", "-", "*", "min", "max"]);
                self.binary(ty, depth, op)
            }
            5 => {
                let op = self.rng.pick(&["/", "%"]);
                let n = self.rng.pick(&["2", "3", "5"]);
                format!("({} {op} {n})", self.expr(ty, depth))
            }
            6 => {
                let from = self.rng.pick(&["bool", "i32", self.int, "u8", "i64"]);
                format!("{elem}({})", self.expr(&ty.elems(from), depth))
            }
            // Floats of moderate size only: what does not fit differs by device.
            7 if elem != "u8" && !elem.starts_with('u') => {
                let float = ty.elems(self.float);
                format!("{elem}(floor(clamp({}, -8, 8)))", self.exact(&float, 1))
            }
            8 if wide => {
                let f = self.rng.pick(&["sum", "prod"]);
                let (from, axis) = self.widened(ty, 0);
                format!("{f}({}, axis={axis})", self.expr(&from, depth))
            }
            9 => {
                let f = self.rng.pick(&["max", "min"]);
                let (from, axis) = self.widened(ty, 1);
                format!("{f}({}, axis={axis})", self.expr(&from, depth))
            }
            10 if elem == "i32" => {
                let f = self.rng.pick(&["argmax", "argmin"]);
                let (from, axis) = self.widened(&ty.elems(self.float), 1);
                format!("{f}({}, axis={axis})", self.exact(&from, 1))
            }
            11 if elem == "i32" && ty.rank() > 0 => {
                let axis = self.rng.below(ty.rank());
                let float = ty.elems(self.float);
                format!("argsort({}, axis={axis})", self.exact(&float, 1))
            }
            12 if wide && ty.rank() > 0 => {
                let f = self.rng.pick(&["cumsum", "cummax", "sort"]);
                let axis = self.rng.below(ty.rank());
                format!("{f}({}, axis={axis})", self.expr(ty, depth))
            }
            13 if wide && ty.rank() == 2 => {
                let k = self.size();
                let (a, b) = (ty.of(&[ty.shape[0], k]), ty.of(&[k, ty.shape[1]]));
                format!("({} @ {})", self.expr(&a, depth), self.expr(&b, depth))
            }
            _ => return None,
        };
        Some(text)
    }

    pub fn truth(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let text = match self.rng.below(8) {
            0..=1 => {
                let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let from = ty.elems(self.int);
                self.binary(&from, depth, op)
            }
            2..=3 => {
                let op = self.rng.pick(&["==", "<", "<=", ">="]);
                let from = ty.elems(self.float);
                format!("({} {op} {})", self.exact(&from, 1), self.exact(&from, 2))
            }
            4 => {
                let op = self.rng.pick(&["&&", "||"]);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                format!("({a} {op} {b})")
            }
            5 => format!("(!{})", self.expr(ty, depth)),
            6 => {
                let f = self.rng.pick(&["any", "all"]);
                let (from, axis) = self.widened(ty, 0);
                format!("{f}({}, axis={axis})", self.expr(&from, depth))
            }
            _ => {
                let f = self.rng.pick(&["is_finite", "is_nan"]);
                let from = ty.elems(self.float);
                format!("{f}({})", self.exact(&from, 1))
            }
        };
        Some(text)
    }
}
