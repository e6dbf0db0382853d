//! Exponentials, logarithms, roots and powers.

use crate::opt::rewrite::{Class::*, Rule};

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // Values that every implementation gives exactly.
    Rule::new("exp-zero",             Exact,    "exp(0)",                          "1"),
    Rule::new("log-one",              Exact,    "log(1)",                          "0"),
    Rule::new("tanh-zero",            Exact,    "tanh(0)",                         "0"),
    Rule::new("sin-zero",             Exact,    "sin(0)",                          "0"),
    Rule::new("cos-zero",             Exact,    "cos(0)",                          "1"),
    Rule::new("log1p-zero",           Exact,    "log1p(0)",                        "0"),
    Rule::new("expm1-zero",           Exact,    "expm1(0)",                        "0"),
    Rule::new("erf-zero",             Exact,    "erf(0)",                          "0"),
    Rule::new("logistic-zero",        Exact,    "logistic(0)",                     "0.5"),

    // Odd and even functions.
    Rule::new("tanh-neg",             Exact,    "tanh(neg(x))",                    "neg(tanh(x))"),
    Rule::new("sin-neg",              Exact,    "sin(neg(x))",                     "neg(sin(x))"),
    Rule::new("erf-neg",              Exact,    "erf(neg(x))",                     "neg(erf(x))"),
    Rule::new("cos-neg",              Exact,    "cos(neg(x))",                     "cos(x)"),
    Rule::new("cos-abs",              Exact,    "cos(abs(x))",                     "cos(x)"),

    // Powers.
    Rule::new("pow-zero",             Exact,    "pow(x, 0)",                       "1"),
    Rule::new("pow-one",              Exact,    "pow(x, 1)",                       "x"),
    Rule::new("pow-two-int",          Exact,    "pow(x, 2)",                       "mul(x, x)").when("int x"),
    Rule::new("pow-three-int",        Exact,    "pow(x, 3)",                       "mul(x, mul(x, x))").when("int x"),
    Rule::new("pow-two",              Harmless, "pow(x, 2)",                       "mul(x, x)").when("float x"),
    Rule::new("pow-minus-one",        Harmless, "pow(x, -1)",                      "div(1, x)").when("float x"),
    Rule::new("pow-three",            Reassoc,  "pow(x, 3)",                       "mul(x, mul(x, x))").when("float x"),
    Rule::new("pow-four",             Reassoc,  "pow(x, 4)",                       "mul(mul(x, x), mul(x, x))").when("float x"),
    Rule::new("pow-half",             Reassoc,  "pow(x, 0.5)",                     "sqrt(x)").when("nonneg x, not_neg_zero x"),
    Rule::new("pow-minus-half",       Reassoc,  "pow(x, -0.5)",                    "rsqrt(x)").when("nonneg x, not_neg_zero x"),
    Rule::new("pow-half-finite",      Fast,     "pow(x, 0.5)",                     "sqrt(x)"),
    Rule::new("pow-minus-half-finite", Fast,    "pow(x, -0.5)",                    "rsqrt(x)"),
    Rule::new("pow-pow-two",          Fast,     "pow(mul(x, x), C)",               "pow(abs(x), mul(C, 2))").when("float x"),

    // Roots.
    Rule::new("one-over-sqrt",        Reassoc,  "div(1, sqrt(x))",                 "rsqrt(x)"),
    Rule::new("over-sqrt",            Reassoc,  "div(x, sqrt(y))",                 "mul(x, rsqrt(y))"),
    Rule::new("one-over-rsqrt",       Fast,     "div(1, rsqrt(x))",                "sqrt(x)"),
    Rule::new("over-rsqrt",           Fast,     "div(x, rsqrt(y))",                "mul(x, sqrt(y))"),
    Rule::new("sqrt-times-sqrt",      Reassoc,  "mul(sqrt(x), sqrt(x))",           "x").when("nonneg x"),
    Rule::new("sqrt-times-itself",    Fast,     "mul(sqrt(x), sqrt(x))",           "x"),
    Rule::new("sqrt-of-square",       Fast,     "sqrt(mul(x, x))",                 "abs(x)"),
    Rule::new("rsqrt-times-rsqrt",    Fast,     "mul(rsqrt(x), rsqrt(x))",         "div(1, x)"),
    Rule::new("times-rsqrt",          Fast,     "mul(x, rsqrt(x))",                "sqrt(x)"),
    Rule::new("over-own-sqrt",        Fast,     "div(x, sqrt(x))",                 "sqrt(x)"),

    // Exponentials and logarithms.
    Rule::new("log-of-exp",           Fast,     "log(exp(x))",                     "x"),
    Rule::new("exp-of-log",           Fast,     "exp(log(x))",                     "x"),
    Rule::new("log1p-of-expm1",       Fast,     "log1p(expm1(x))",                 "x"),
    Rule::new("expm1-of-log1p",       Fast,     "expm1(log1p(x))",                 "x"),
    Rule::new("exp-times-exp",        Fast,     "mul(exp(x), exp(y))",             "exp(add(x, y))"),
    Rule::new("exp-over-exp",         Fast,     "div(exp(x), exp(y))",             "exp(sub(x, y))"),
    Rule::new("one-over-exp",         Fast,     "div(1, exp(x))",                  "exp(neg(x))"),
    Rule::new("over-exp",             Fast,     "div(x, exp(y))",                  "mul(x, exp(neg(y)))"),
    Rule::new("log-of-quotient",      Fast,     "log(div(exp(x), y))",             "sub(x, log(y))"),
    Rule::new("log-of-reciprocal",    Fast,     "log(div(1, x))",                  "neg(log(x))"),
    Rule::new("log-of-sqrt",          Fast,     "log(sqrt(x))",                    "mul(log(x), 0.5)"),
    Rule::new("log-of-pow",           Fast,     "log(pow(x, C))",                  "mul(log(x), C)").when("nonneg x"),
    Rule::new("exp-of-half-log",      Fast,     "exp(mul(log(x), 0.5))",           "sqrt(x)"),
    Rule::new("logistic-formula",     Fast,     "div(1, add(exp(neg(x)), 1))",     "logistic(x)"),
    Rule::new("tanh-of-exponentials", Fast,     "div(sub(exp(x), exp(neg(x))), add(exp(x), exp(neg(x))))", "tanh(x)"),
    Rule::new("tanh-formula",         Fast,     "sub(mul(logistic(mul(x, 2)), 2), 1)", "tanh(x)"),
];
