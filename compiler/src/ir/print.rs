//! The text form of functions. Values are numbered in the order in which their definitions are printed, so that
//! the text does not depend on how the function was built, and functions equal up to numbering print equally.

use super::func::{Func, Inst, Region, Value};
use super::op::Op;
use super::table;
use super::table::Attr;
use std::fmt::{self, Write};

impl fmt::Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer::new(self, f);
        p.func()
    }
}

/// The name and attributes: `dot_general[contract = [1] x [0]]`.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_op(f, self)
    }
}

/// What stands before each region of a primitive.
pub(crate) fn region_labels(op: &Op) -> &'static [&'static str] {
    match op.name() {
        "while" => &["cond", "body"],
        "if" => &["then", "else"],
        "custom_vjp" => &["function", "derivative"],
        _ => &["body", "body"],
    }
}

fn write_op(out: &mut impl Write, op: &Op) -> fmt::Result {
    out.write_str(op.name())?;
    if let Op::Constant(literal) = op {
        return write!(out, " {}", table::write_literal(literal));
    }
    let attrs = table::write(op);
    if attrs.is_empty() {
        return Ok(());
    }
    out.write_str("[")?;
    for (i, (name, value)) in attrs.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        if *value == Attr::word("true") {
            out.write_str(name)?;
        } else {
            write!(out, "{name} = {value}")?;
        }
    }
    out.write_str("]")
}

/// The number that each value has in the text; `None` for one that is not defined there.
pub fn numbers(func: &Func) -> Vec<Option<u32>> {
    let mut text = String::new();
    let mut printer = Printer::new(func, &mut text);
    // Writing to a string does not fail.
    let _ = printer.func();
    printer.numbers
}

struct Printer<'a, W> {
    func: &'a Func,
    out: &'a mut W,
    /// Printed number by value, given when the definition is printed.
    numbers: Vec<Option<u32>>,
    next: u32,
    depth: usize,
}

impl<'a, W: Write> Printer<'a, W> {
    fn new(func: &'a Func, out: &'a mut W) -> Self {
        Printer {
            func,
            out,
            numbers: vec![None; func.value_count()],
            next: 0,
            depth: 0,
        }
    }

    fn func(&mut self) -> fmt::Result {
        self.out.write_str("func ")?;
        table::write_name(self.out, &self.func.name)?;
        self.params(&self.func.body.params)?;
        self.out.write_str(" -> (")?;
        self.types(&self.func.body.results)?;
        self.out.write_str(") {\n")?;
        self.block(&self.func.body, "return")?;
        self.out.write_str("}\n")
    }

    fn params(&mut self, params: &[Value]) -> fmt::Result {
        self.out.write_str("(")?;
        for (i, &v) in params.iter().enumerate() {
            if i > 0 {
                self.out.write_str(", ")?;
            }
            self.define(v)?;
            write!(self.out, ": {}", self.func.ty(v))?;
        }
        self.out.write_str(")")
    }

    fn block(&mut self, region: &Region, last: &str) -> fmt::Result {
        self.depth += 1;
        for inst in &region.insts {
            self.inst(inst)?;
        }
        self.indent()?;
        self.out.write_str(last)?;
        self.operands(&region.results)?;
        self.out.write_str("\n")?;
        self.depth -= 1;
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> fmt::Result {
        self.indent()?;
        for (i, &v) in inst.results.iter().enumerate() {
            if i > 0 {
                self.out.write_str(", ")?;
            }
            self.define(v)?;
        }
        if !inst.results.is_empty() {
            self.out.write_str(" = ")?;
        }
        write_op(self.out, &inst.op)?;
        self.operands(&inst.args)?;
        if !inst.results.is_empty() {
            self.out.write_str(" : ")?;
            self.types(&inst.results)?;
        }
        let labels = region_labels(&inst.op);
        for (i, region) in inst.regions.iter().enumerate() {
            if i > 0 {
                self.indent()?;
                self.out.write_str("}")?;
            }
            write!(self.out, " {}", labels.get(i).copied().unwrap_or("body"))?;
            if !region.params.is_empty() {
                self.params(&region.params)?;
            }
            self.out.write_str(" {\n")?;
            self.block(region, "yield")?;
        }
        if !inst.regions.is_empty() {
            self.indent()?;
            self.out.write_str("}")?;
        }
        self.out.write_str("\n")
    }

    fn operands(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &v) in values.iter().enumerate() {
            self.out.write_str(if i == 0 { " " } else { ", " })?;
            self.used(v)?;
        }
        Ok(())
    }

    fn types(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &v) in values.iter().enumerate() {
            if i > 0 {
                self.out.write_str(", ")?;
            }
            write!(self.out, "{}", self.func.ty(v))?;
        }
        Ok(())
    }

    fn define(&mut self, v: Value) -> fmt::Result {
        let number = self.next;
        self.next += 1;
        self.numbers[v.0 as usize] = Some(number);
        write!(self.out, "%{number}")
    }

    fn used(&mut self, v: Value) -> fmt::Result {
        match self.numbers.get(v.0 as usize).copied().flatten() {
            Some(number) => write!(self.out, "%{number}"),
            // Not verified: shown so that the mistake can be seen, under a name that no printed value has.
            None => write!(self.out, "%undefined{}", v.0),
        }
    }

    fn indent(&mut self) -> fmt::Result {
        for _ in 0..self.depth {
            self.out.write_str("  ")?;
        }
        Ok(())
    }
}
