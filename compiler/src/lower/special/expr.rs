//! Formulas over tensors of one shape, written as formulas: `x * (1.0 - x)`, `x.less(0.5).select(a, b)`.

use crate::ir::types::{Elem, Type};
use crate::lower::emit::{Emit, Tensor};
use melior::ir::Value;
use std::ops::{Add, BitAnd, Div, Mul, Neg, Sub};

/// Where the ops of a formula go, and the type of its values.
pub struct Formula<'e, 'c> {
    emit: &'e Emit<'e, 'c>,
    ty: Type,
}

/// A float value of a formula.
#[derive(Clone, Copy)]
pub struct Expr<'e, 'c> {
    formula: &'e Formula<'e, 'c>,
    value: Value<'c, 'c>,
}

/// The outcome of a comparison in a formula.
#[derive(Clone, Copy)]
pub struct Truth<'e, 'c> {
    formula: &'e Formula<'e, 'c>,
    value: Value<'c, 'c>,
}

/// Calls a function of one float tensor, `name`, as a private function of the module that is made on first use.
/// For 16-bit floats it computes in f32 and rounds once.
pub fn call<'c>(
    e: &Emit<'_, 'c>,
    name: &str,
    x: &Tensor<'c>,
    body: impl for<'e> FnOnce(Expr<'e, 'c>) -> Expr<'e, 'c>,
) -> Tensor<'c> {
    let result = std::slice::from_ref(&x.ty);
    e.call(name, &[x], result, |e, args| {
        let narrow = args[0].ty.elem;
        let wide = match narrow {
            Elem::BF16 | Elem::F16 => Elem::F32,
            other => other,
        };
        let x = e.convert(&args[0], wide);
        let formula = Formula { emit: e, ty: x.ty };
        let y = body(Expr {
            formula: &formula,
            value: x.value,
        });
        vec![e.convert(&y.tensor(), narrow)]
    })
    .remove(0)
}

impl<'e, 'c> Expr<'e, 'c> {
    pub fn is_f64(self) -> bool {
        self.formula.ty.elem == Elem::F64
    }

    /// The constant `value` in the type of the formula.
    pub fn constant(self, value: f64) -> Self {
        self.formula.constant(value)
    }

    pub fn abs(self) -> Self {
        self.unary("stablehlo.abs")
    }

    pub fn floor(self) -> Self {
        self.unary("stablehlo.floor")
    }

    pub fn sqrt(self) -> Self {
        self.unary("stablehlo.sqrt")
    }

    pub fn exp(self) -> Self {
        self.unary("stablehlo.exponential")
    }

    pub fn log(self) -> Self {
        self.unary("stablehlo.log")
    }

    pub fn log1p(self) -> Self {
        self.unary("stablehlo.log_plus_one")
    }

    pub fn sin(self) -> Self {
        self.unary("stablehlo.sine")
    }

    pub fn cos(self) -> Self {
        self.unary("stablehlo.cosine")
    }

    pub fn pow(self, exponent: f64) -> Self {
        self.binary("stablehlo.power", exponent)
    }

    pub fn max(self, other: impl Operand<'e, 'c>) -> Self {
        self.binary("stablehlo.maximum", other)
    }

    pub fn min(self, other: impl Operand<'e, 'c>) -> Self {
        self.binary("stablehlo.minimum", other)
    }

    pub fn is_finite(self) -> Truth<'e, 'c> {
        let ty = self.formula.ty.with_elem(Elem::Bool);
        let emit = self.formula.emit;
        let truth = emit.op("stablehlo.is_finite", &[&self.tensor()], &[], &ty);
        self.formula.truth(truth)
    }

    pub fn less(self, other: impl Operand<'e, 'c>) -> Truth<'e, 'c> {
        self.compare("LT", other)
    }

    pub fn at_most(self, other: impl Operand<'e, 'c>) -> Truth<'e, 'c> {
        self.compare("LE", other)
    }

    pub fn equals(self, other: impl Operand<'e, 'c>) -> Truth<'e, 'c> {
        self.compare("EQ", other)
    }

    /// The polynomial with these coefficients at `self`, by Horner's rule; the highest power first.
    pub fn polynomial(self, coefficients: &[f64]) -> Self {
        let mut terms = coefficients.iter();
        let first = terms.next().copied().unwrap_or(0.0);
        terms.fold(self.constant(first), |sum, &c| sum * self + c)
    }

    fn compare(self, direction: &str, other: impl Operand<'e, 'c>) -> Truth<'e, 'c> {
        let other = other.value(self.formula);
        let emit = self.formula.emit;
        let truth = emit.compare(direction, &self.tensor(), &other.tensor());
        self.formula.truth(truth)
    }

    fn unary(self, name: &str) -> Self {
        let emit = self.formula.emit;
        let result = emit.op(name, &[&self.tensor()], &[], &self.formula.ty);
        self.formula.expr(result)
    }

    fn binary(self, name: &str, other: impl Operand<'e, 'c>) -> Self {
        let other = other.value(self.formula);
        let emit = self.formula.emit;
        let result = emit.binary(name, &self.tensor(), &other.tensor());
        self.formula.expr(result)
    }

    fn tensor(self) -> Tensor<'c> {
        Tensor {
            value: self.value,
            ty: self.formula.ty.clone(),
        }
    }
}

impl<'e, 'c> Truth<'e, 'c> {
    /// `yes` where true, `no` elsewhere.
    pub fn select(self, yes: impl Operand<'e, 'c>, no: impl Operand<'e, 'c>) -> Expr<'e, 'c> {
        let (yes, no) = (yes.value(self.formula), no.value(self.formula));
        let emit = self.formula.emit;
        let result = emit.select(&self.tensor(), &yes.tensor(), &no.tensor());
        self.formula.expr(result)
    }

    fn tensor(self) -> Tensor<'c> {
        Tensor {
            value: self.value,
            ty: self.formula.ty.with_elem(Elem::Bool),
        }
    }
}

impl<'c> Formula<'_, 'c> {
    fn expr(&self, tensor: Tensor<'c>) -> Expr<'_, 'c> {
        Expr {
            formula: self,
            value: tensor.value,
        }
    }

    fn truth(&self, tensor: Tensor<'c>) -> Truth<'_, 'c> {
        Truth {
            formula: self,
            value: tensor.value,
        }
    }

    fn constant(&self, value: f64) -> Expr<'_, 'c> {
        self.expr(self.emit.splat(&self.ty, value))
    }
}

/// What may stand beside an expression: another one, or a number.
pub trait Operand<'e, 'c> {
    #[doc(hidden)]
    fn value(self, formula: &'e Formula<'e, 'c>) -> Expr<'e, 'c>;
}

impl<'e, 'c> Operand<'e, 'c> for Expr<'e, 'c> {
    fn value(self, _: &'e Formula<'e, 'c>) -> Expr<'e, 'c> {
        self
    }
}

impl<'e, 'c> Operand<'e, 'c> for f64 {
    fn value(self, formula: &'e Formula<'e, 'c>) -> Expr<'e, 'c> {
        formula.constant(self)
    }
}

impl<'e, 'c, T: Operand<'e, 'c>> Add<T> for Expr<'e, 'c> {
    type Output = Self;
    fn add(self, other: T) -> Self {
        self.binary("stablehlo.add", other)
    }
}

impl<'e, 'c, T: Operand<'e, 'c>> Sub<T> for Expr<'e, 'c> {
    type Output = Self;
    fn sub(self, other: T) -> Self {
        self.binary("stablehlo.subtract", other)
    }
}

impl<'e, 'c, T: Operand<'e, 'c>> Mul<T> for Expr<'e, 'c> {
    type Output = Self;
    fn mul(self, other: T) -> Self {
        self.binary("stablehlo.multiply", other)
    }
}

impl<'e, 'c, T: Operand<'e, 'c>> Div<T> for Expr<'e, 'c> {
    type Output = Self;
    fn div(self, other: T) -> Self {
        self.binary("stablehlo.divide", other)
    }
}

impl<'e, 'c> Sub<Expr<'e, 'c>> for f64 {
    type Output = Expr<'e, 'c>;
    fn sub(self, other: Expr<'e, 'c>) -> Expr<'e, 'c> {
        other.constant(self) - other
    }
}

impl<'e, 'c> Div<Expr<'e, 'c>> for f64 {
    type Output = Expr<'e, 'c>;
    fn div(self, other: Expr<'e, 'c>) -> Expr<'e, 'c> {
        other.constant(self) / other
    }
}

impl Neg for Expr<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary("stablehlo.negate")
    }
}

impl BitAnd for Truth<'_, '_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        let emit = self.formula.emit;
        let both = emit.binary("stablehlo.and", &self.tensor(), &other.tensor());
        self.formula.truth(both)
    }
}
