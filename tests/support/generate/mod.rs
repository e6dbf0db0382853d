//! Well-typed `.tl` functions put together at random, the same for the same seed: an expression of a wanted type is made
//! of expressions of the types that it needs.
//!
//! A float is *exact* where every backend computes it without rounding: inputs, and what only moves or
//! compares them. Only exact floats are compared, floored or ranked, because there the last digit decides.

mod arithmetic;
mod arrays;
mod control;

/// Numbers that look random and never change (splitmix64).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ty {
    pub elem: &'static str,
    pub shape: Vec<usize>,
}

impl Ty {
    pub fn new(elem: &'static str, shape: &[usize]) -> Ty {
        Ty {
            elem,
            shape: shape.to_vec(),
        }
    }

    fn of(&self, shape: &[usize]) -> Ty {
        Ty::new(self.elem, shape)
    }

    fn elems(&self, elem: &'static str) -> Ty {
        Ty::new(elem, &self.shape)
    }

    fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn is_float(&self) -> bool {
        matches!(self.elem, "f32" | "f64" | "f16" | "bf16")
    }

    /// As it is written in a program.
    pub fn text(&self) -> String {
        match self.rank() {
            0 => self.elem.into(),
            _ => format!("{}{:?}", self.elem, self.shape),
        }
    }
}

struct Var {
    name: String,
    ty: Ty,
    exact: bool,
}

/// A generated function.
pub struct Function {
    /// Up to and including the result type.
    head: String,
    /// Names and their values; none of the first two depends on the other.
    pub lets: Vec<(String, String)>,
    result: String,
    pub inputs: Vec<Ty>,
}

impl Function {
    pub fn text(&self) -> String {
        let lets = self
            .lets
            .iter()
            .map(|(name, e)| format!("    let {name} = {e};\n"));
        format!(
            "{} {{\n{}    {}\n}}\n",
            self.head,
            lets.collect::<String>(),
            self.result
        )
    }
}

struct Gen {
    rng: Rng,
    scope: Vec<Var>,
    names: usize,
    /// The float and the integer that most values of this program are.
    float: &'static str,
    int: &'static str,
    /// Whether reverse mode is around, which has no `while`.
    reverse: bool,
}

/// How deep expressions are.
const DEPTH: usize = 3;

pub fn function(name: &str, seed: u64) -> Function {
    let mut rng = Rng::new(seed);
    let float = rng.pick(&["f32", "f32", "f32", "f32", "f64", "f64", "bf16", "f16"]);
    let int = rng.pick(&["i32", "i32", "i32", "i64", "u32", "u8", "i8", "i16", "u64"]);
    let mut g = Gen {
        rng,
        scope: Vec::new(),
        names: 0,
        float,
        int,
        reverse: false,
    };
    let mut inputs = vec![Ty::new("i32", &[])];
    for _ in 0..2 + g.rng.below(3) {
        let elem = g.rng.pick(&[float, float, float, int, "bool", "i32"]);
        let shape = g.shape();
        inputs.push(Ty::new(elem, &shape));
    }
    for ty in &inputs {
        g.bind(ty.clone(), true);
    }
    let params = g
        .scope
        .iter()
        .map(|v| format!("{}: {}", v.name, v.ty.text()));
    let params = params.collect::<Vec<_>>().join(", ");
    let types: Vec<Ty> = (0..2 + g.rng.below(2)).map(|_| g.any_type()).collect();
    let mut lets = Vec::new();
    let independent: Vec<String> = types[..2].iter().map(|ty| g.expr(ty, DEPTH)).collect();
    for (ty, e) in types.iter().zip(independent) {
        lets.push((g.bind(ty.clone(), false), e));
    }
    for ty in &types[2..] {
        let e = g.expr(ty, DEPTH);
        lets.push((g.bind(ty.clone(), false), e));
    }
    let outs: Vec<Ty> = (0..2)
        .map(|i| {
            let elem = if i == 0 {
                float
            } else {
                g.rng.pick(&[float, int, "bool"])
            };
            let shape = g.shape();
            Ty::new(elem, &shape)
        })
        .collect();
    let results: Vec<String> = outs.iter().map(|ty| g.expr(ty, DEPTH)).collect();
    Function {
        head: format!(
            "fn {name}({params}) -> ({}, {})",
            outs[0].text(),
            outs[1].text()
        ),
        lets,
        result: format!("({}, {})", results[0], results[1]),
        inputs,
    }
}

impl Gen {
    /// A new variable.
    fn bind(&mut self, ty: Ty, exact: bool) -> String {
        self.names += 1;
        let name = format!("v{}", self.names);
        self.scope.push(Var {
            name: name.clone(),
            ty,
            exact,
        });
        name
    }

    /// An expression in which a variable is known.
    fn with(
        &mut self,
        vars: &[(&Ty, bool)],
        f: impl FnOnce(&mut Gen, &[String]) -> String,
    ) -> String {
        let before = self.scope.len();
        let names: Vec<String> = vars
            .iter()
            .map(|(ty, exact)| self.bind((*ty).clone(), *exact))
            .collect();
        let text = f(self, &names);
        self.scope.truncate(before);
        text
    }

    fn size(&mut self) -> usize {
        self.rng.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 3, 4])
    }

    fn shape(&mut self) -> Vec<usize> {
        let rank = self.rng.pick(&[0, 0, 1, 1, 1, 2, 2, 2, 3]);
        (0..rank).map(|_| self.size()).collect()
    }

    fn any_type(&mut self) -> Ty {
        let elem = self
            .rng
            .pick(&[self.float, self.float, self.float, self.int, "bool"]);
        // Often that of something there is, so that it can be used.
        if self.rng.below(2) == 0 {
            let shape = self.scope[self.rng.below(self.scope.len())]
                .ty
                .shape
                .clone();
            return Ty::new(elem, &shape);
        }
        let shape = self.shape();
        Ty::new(elem, &shape)
    }

    /// A variable, or constants.
    fn leaf(&mut self, ty: &Ty, exact: bool) -> String {
        let fits = |v: &&Var| v.ty == *ty && (v.exact || !exact);
        let found: Vec<String> = self
            .scope
            .iter()
            .filter(fits)
            .map(|v| v.name.clone())
            .collect();
        if !found.is_empty() && self.rng.below(8) > 0 {
            let (i, late) = (self.rng.below(found.len()), self.rng.below(found.len()));
            return found[i.max(late)].clone();
        }
        let shape = format!("{:?}", ty.shape);
        // The largest element of something there is, in every place: that rounds nothing.
        let full =
            |v: &&Var| v.ty.elem == ty.elem && (v.exact || !exact) && !v.ty.shape.contains(&0);
        let places: Vec<usize> = (0..self.scope.len())
            .filter(|&i| full(&&self.scope[i]))
            .collect();
        if !places.is_empty() && self.rng.below(5) > 0 {
            let i = self.rng.below(places.len());
            let var = &self.scope[places[i]];
            return match (ty.elem, var.ty.rank()) {
                (_, 0) => format!("broadcast_to({}, {shape})", var.name),
                ("bool", _) => format!("broadcast_to(any({}), {shape})", var.name),
                _ => format!("broadcast_to(max({}), {shape})", var.name),
            };
        }
        match ty.elem {
            "bool" if self.rng.below(2) == 0 => format!("ones({shape}, dtype=bool)"),
            "bool" => format!("zeros({shape}, dtype=bool)"),
            elem if ty.is_float() => {
                let x = self
                    .rng
                    .pick(&["0.5", "-1.5", "1.0", "2.25", "-0.75", "0.0"]);
                format!("full({shape}, {x}, dtype={elem})")
            }
            elem => format!("full({shape}, {}, dtype={elem})", self.rng.below(4)),
        }
    }

    fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.rng.below(10) == 0 {
            return self.leaf(ty, false);
        }
        let depth = depth - 1;
        // Some rules fit only some types: another is drawn then.
        for _ in 0..8 {
            let found = match self.rng.below(10) {
                0..=2 => self.arrays(ty, depth),
                3..=4 => self.control(ty, depth),
                _ if ty.elem == "bool" => self.truth(ty, depth),
                _ if ty.is_float() => self.float(ty, depth),
                _ => self.integer(ty, depth),
            };
            if let Some(text) = found {
                return text;
            }
        }
        self.leaf(ty, false)
    }

    /// A float without rounding behind it.
    fn exact(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty, true);
        }
        match self.rng.below(6) {
            0 => format!("(-{})", self.exact(ty, depth - 1)),
            1 => format!("abs({})", self.exact(ty, depth - 1)),
            2 => {
                let (a, b) = (self.exact(ty, depth - 1), self.exact(ty, depth - 1));
                let op = self.rng.pick(&["min", "max"]);
                format!("{op}({a}, {b})")
            }
            _ => self.leaf(ty, true),
        }
    }

    /// An index that may be out of range: those are clamped or dropped.
    fn index(&mut self, shape: &[usize]) -> String {
        let depth = 1 + self.rng.below(2);
        self.expr(&Ty::new("i32", shape), depth)
    }
}
