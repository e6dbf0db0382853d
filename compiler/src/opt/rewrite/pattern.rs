//! The text of a rule's side, parsed.
//!
//! ```text
//! x  y           any value; the same letter twice is the same value
//! C  D           a constant with one value for all its elements
//! 0  -0  1  0.5  inf  true     that value in every element, bit for bit
//! add(x, y)      a primitive without attributes
//! transpose.p(x) a primitive whose attributes are bound to p; p twice means equal attributes
//! concat.c(*)    a primitive with any operands, which the right side asks for by name
//! unary.f(x)     any of a group of primitives, bound to f; on the right, f applied again
//! ```
//!
//! The operands of commutative primitives match in either order.

use crate::ir::op::{BinaryOp, CompareOp, ReduceOp, UnaryOp};
use crate::opt::graph::Kind;

#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Var(char),
    Splat(char),
    Number(Number),
    Apply {
        kinds: Vec<Kind>,
        bind: Option<char>,
        args: Args,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    Any,
    Fixed(Vec<Pattern>),
}

/// A number in a pattern; it stands for its value in whatever element type it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Value(f64),
    Bool(bool),
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut p = Parser { rest: text };
        let pattern = p.pattern()?;
        p.space();
        if p.rest.is_empty() {
            Ok(pattern)
        } else {
            Err(format!("`{}` is left over in `{text}`", p.rest))
        }
    }

    /// How many primitives deep the pattern looks.
    pub fn depth(&self) -> usize {
        match self {
            Pattern::Var(_) | Pattern::Splat(_) | Pattern::Number(_) => 0,
            Pattern::Apply { args, .. } => match args {
                Args::Any => 1,
                Args::Fixed(args) => 1 + args.iter().map(Pattern::depth).max().unwrap_or(0),
            },
        }
    }

    /// Visits the pattern and all inside it.
    pub fn visit(&self, f: &mut impl FnMut(&Pattern)) {
        f(self);
        if let Pattern::Apply {
            args: Args::Fixed(args),
            ..
        } = self
        {
            args.iter().for_each(|a| a.visit(f));
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, c: char) -> bool {
        self.space();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(format!("expected `{c}` at `{}`", self.rest))
        }
    }

    fn word(&mut self) -> String {
        self.space();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_string()
    }

    fn pattern(&mut self) -> Result<Pattern, String> {
        self.space();
        if self
            .rest
            .starts_with(|c: char| c.is_ascii_digit() || c == '-')
        {
            return self.number();
        }
        let word = self.word();
        match word.as_str() {
            "" => return Err(format!("expected a pattern at `{}`", self.rest)),
            "true" => return Ok(Pattern::Number(Number::Bool(true))),
            "false" => return Ok(Pattern::Number(Number::Bool(false))),
            "inf" => return Ok(Pattern::Number(Number::Value(f64::INFINITY))),
            _ => {}
        }
        let mut chars = word.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return Ok(if c.is_ascii_uppercase() {
                Pattern::Splat(c)
            } else {
                Pattern::Var(c)
            });
        }
        let kinds = kinds(&word).ok_or_else(|| format!("no primitive is called `{word}`"))?;
        let bind = if self.eat('.') {
            let name = self.word();
            let mut chars = name.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => Some(c),
                _ => return Err(format!("`{name}` is not one letter")),
            }
        } else {
            None
        };
        let args = self.args()?;
        Ok(Pattern::Apply { kinds, bind, args })
    }

    fn args(&mut self) -> Result<Args, String> {
        self.expect('(')?;
        if self.eat('*') {
            self.expect(')')?;
            return Ok(Args::Any);
        }
        let mut args = Vec::new();
        if self.eat(')') {
            return Ok(Args::Fixed(args));
        }
        loop {
            args.push(self.pattern()?);
            if self.eat(')') {
                return Ok(Args::Fixed(args));
            }
            self.expect(',')?;
        }
    }

    fn number(&mut self) -> Result<Pattern, String> {
        let end = self.rest.find([',', ')', ' ']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let value = text
            .parse()
            .map_err(|_| format!("`{text}` is not a number"))?;
        Ok(Pattern::Number(Number::Value(value)))
    }
}

/// The kinds that a name in a pattern stands for.
pub fn kinds(name: &str) -> Option<Vec<Kind>> {
    let one = |k: Kind| Some(vec![k]);
    if let Some((_, u)) = UNARY.iter().find(|(n, _)| *n == name) {
        return one(Kind::Unary(*u));
    }
    if let Some((_, b)) = BINARY.iter().find(|(n, _)| *n == name) {
        return one(Kind::Binary(*b));
    }
    if let Some((_, c)) = COMPARE.iter().find(|(n, _)| *n == name) {
        return one(Kind::Compare(*c));
    }
    if let Some((_, k)) = PLAIN.iter().find(|(n, _)| *n == name) {
        return one(*k);
    }
    Some(match name {
        "unary" => UNARY.iter().map(|(_, u)| Kind::Unary(*u)).collect(),
        "binary" => BINARY.iter().map(|(_, b)| Kind::Binary(*b)).collect(),
        "compare" => COMPARE.iter().map(|(_, c)| Kind::Compare(*c)).collect(),
        "reduce" => REDUCE.iter().map(|r| Kind::Reduce(*r)).collect(),
        _ => return None,
    })
}

/// The name of a kind in patterns, for those that have one.
pub fn kind_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Unary(u) => UNARY.iter().find(|(_, k)| *k == u).map(|(n, _)| *n),
        Kind::Binary(b) => BINARY.iter().find(|(_, k)| *k == b).map(|(n, _)| *n),
        Kind::Compare(c) => COMPARE.iter().find(|(_, k)| *k == c).map(|(n, _)| *n),
        _ => PLAIN.iter().find(|(_, k)| *k == kind).map(|(n, _)| *n),
    }
}

const UNARY: &[(&str, UnaryOp)] = &[
    ("neg", UnaryOp::Neg),
    ("not", UnaryOp::Not),
    ("abs", UnaryOp::Abs),
    ("sign", UnaryOp::Sign),
    ("floor", UnaryOp::Floor),
    ("ceil", UnaryOp::Ceil),
    ("round", UnaryOp::Round),
    ("exp", UnaryOp::Exp),
    ("expm1", UnaryOp::Expm1),
    ("log", UnaryOp::Log),
    ("log1p", UnaryOp::Log1p),
    ("sqrt", UnaryOp::Sqrt),
    ("rsqrt", UnaryOp::Rsqrt),
    ("cbrt", UnaryOp::Cbrt),
    ("sin", UnaryOp::Sin),
    ("cos", UnaryOp::Cos),
    ("tan", UnaryOp::Tan),
    ("tanh", UnaryOp::Tanh),
    ("logistic", UnaryOp::Logistic),
    ("is_finite", UnaryOp::IsFinite),
    ("erf", UnaryOp::Erf),
    ("erfc", UnaryOp::Erfc),
    ("erf_inv", UnaryOp::ErfInv),
    ("lgamma", UnaryOp::Lgamma),
];

const BINARY: &[(&str, BinaryOp)] = &[
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("div", BinaryOp::Div),
    ("rem", BinaryOp::Rem),
    ("pow", BinaryOp::Pow),
    ("max", BinaryOp::Max),
    ("min", BinaryOp::Min),
    ("atan2", BinaryOp::Atan2),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("shr_arith", BinaryOp::ShrArith),
    ("shr_logical", BinaryOp::ShrLogical),
];

const COMPARE: &[(&str, CompareOp)] = &[
    ("eq", CompareOp::Eq),
    ("ne", CompareOp::Ne),
    ("lt", CompareOp::Lt),
    ("le", CompareOp::Le),
    ("gt", CompareOp::Gt),
    ("ge", CompareOp::Ge),
];

const REDUCE: &[ReduceOp] = &[ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min];

const PLAIN: &[(&str, Kind)] = &[
    ("proj", Kind::Proj),
    ("tuple", Kind::Tuple),
    ("constant", Kind::Constant),
    ("iota", Kind::Iota),
    ("select", Kind::Select),
    ("clamp", Kind::Clamp),
    ("convert", Kind::Convert),
    ("bitcast", Kind::Bitcast),
    ("broadcast", Kind::Broadcast),
    ("reshape", Kind::Reshape),
    ("transpose", Kind::Transpose),
    ("slice", Kind::Slice),
    ("pad", Kind::Pad),
    ("concat", Kind::Concat),
    ("reverse", Kind::Reverse),
    ("dynamic_slice", Kind::DynamicSlice),
    ("dynamic_update_slice", Kind::DynamicUpdateSlice),
    ("gather", Kind::Gather),
    ("scatter", Kind::Scatter),
    ("reduce_sum", Kind::Reduce(ReduceOp::Sum)),
    ("reduce_prod", Kind::Reduce(ReduceOp::Prod)),
    ("reduce_max", Kind::Reduce(ReduceOp::Max)),
    ("reduce_min", Kind::Reduce(ReduceOp::Min)),
    ("reduce_window_max", Kind::ReduceWindow(ReduceOp::Max)),
    ("arg_reduce", Kind::ArgReduce),
    ("cumulate_sum", Kind::Cumulate(ReduceOp::Sum)),
    ("dot", Kind::Dot),
    ("conv", Kind::Conv),
    ("sort", Kind::Sort),
    ("scan", Kind::Scan),
    ("while", Kind::While),
    ("if", Kind::If),
    ("custom_vjp", Kind::CustomVjp),
    ("remat", Kind::Remat),
    ("stop_gradient", Kind::StopGradient),
];
