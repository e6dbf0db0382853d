//! The verifier, run after every pass. What it accepts never makes a later stage panic. It checks that
//!
//! 1. every value in a parameter list or among results is in the arena, and defined exactly once in the function;
//! 2. every value used, as an operand or as a result of a region, was defined before: earlier in the same region, or earlier in
//!    one around it, so that nothing leaves a region but through its results;
//! 3. each primitive has its number of regions, and its operands, attributes and regions satisfy its shape rule;
//! 4. the results of each instruction have the types that its shape rule gives;
//! 5. the parameters of each region have the types that its primitive passes in;
//! 6. the regions of `custom_vjp` and `remat` use no value from outside;
//! 7. each pattern of a constant fits its element type, and every type is of a size that memory can have;
//! 8. effects and host sources stand only where they run exactly as often as they are written: not in the condition of a `while`, nor in
//!    `custom_vjp` or `remat`, whose regions are run anew at will. [`verify_pure`] refuses them everywhere.

use super::func::{Func, Inst, Region, Value};
use super::literal::Literal;
use super::op::{Effect, Op};
use super::shape;
use super::types::{Elem, Type};
use std::fmt;
use tpuc_lang::span::Span;

#[cfg(test)]
mod tests;

/// A broken invariant: always a bug of the pass before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    pub func: String,
    /// The name of the primitive at fault, unless it is the function itself.
    pub op: Option<&'static str>,
    /// Where its first result came from.
    pub span: Span,
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid IR in {}", self.func)?;
        if let Some(op) = self.op {
            write!(f, ", {op}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a function that may have effects.
pub fn verify(func: &Func) -> Result<(), VerifyError> {
    Verifier::new(func, true).func()
}

/// Checks a function that must have none.
pub fn verify_pure(func: &Func) -> Result<(), VerifyError> {
    Verifier::new(func, false).func()
}

struct Verifier<'a> {
    func: &'a Func,
    /// Whether a definition was met anywhere, and whether it can be seen from here.
    defined: Vec<bool>,
    visible: Vec<bool>,
    effects: bool,
    /// The instructions around the current place, for the report.
    at: Vec<&'a Inst>,
}

impl<'a> Verifier<'a> {
    fn new(func: &'a Func, effects: bool) -> Self {
        Verifier {
            func,
            defined: vec![false; func.value_count()],
            visible: vec![false; func.value_count()],
            effects,
            at: Vec::new(),
        }
    }

    fn func(&mut self) -> Result<(), VerifyError> {
        self.region(&self.func.body)
    }

    fn region(&mut self, region: &'a Region) -> Result<(), VerifyError> {
        let mut own: Vec<Value> = Vec::new();
        self.define(&region.params, &mut own)?;
        for inst in &region.insts {
            self.at.push(inst);
            self.inst(inst)?;
            self.define(&inst.results, &mut own)?;
            self.signature(inst)?;
            self.at.pop();
        }
        self.used(&region.results)?;
        for v in own {
            self.visible[v.0 as usize] = false;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &'a Inst) -> Result<(), VerifyError> {
        self.used(&inst.args)?;
        match &inst.op {
            Op::Constant(literal) => self.literal(literal)?,
            Op::Effect(Effect::Debug(_), _) => {}
            Op::Host(_) | Op::Effect(..) if !self.effects => {
                return Err(self.error("an effect where none can be"));
            }
            _ => {}
        }
        for (index, region) in inst.regions.iter().enumerate() {
            self.nested(&inst.op, index, region)?;
        }
        Ok(())
    }

    /// The region itself; what its primitive makes of its parameters and results is checked with the signature.
    fn nested(&mut self, op: &Op, index: usize, region: &'a Region) -> Result<(), VerifyError> {
        let isolated = matches!(op, Op::CustomVjp | Op::Remat);
        let condition = matches!(op, Op::While) && index == 0;
        let effects = self.effects;
        self.effects = effects && !isolated && !condition;
        if isolated {
            let outside = std::mem::replace(&mut self.visible, vec![false; self.defined.len()]);
            let result = self.region(region);
            self.visible = outside;
            result?;
        } else {
            self.region(region)?;
        }
        self.effects = effects;
        Ok(())
    }

    fn signature(&self, inst: &Inst) -> Result<(), VerifyError> {
        let types = |values: &[Value]| -> Vec<Type> {
            values.iter().map(|&v| self.func.ty(v).clone()).collect()
        };
        let args: Vec<&Type> = inst.args.iter().map(|&v| self.func.ty(v)).collect();
        let regions: Vec<Vec<Type>> = inst.regions.iter().map(|r| types(&r.results)).collect();
        let expected = shape::infer(&inst.op, &args, &regions).map_err(|m| self.error(m))?;
        let found = types(&inst.results);
        if expected != found {
            return Err(self.error(format!(
                "the results are {} instead of {}",
                list(&found),
                list(&expected)
            )));
        }
        for (index, region) in inst.regions.iter().enumerate() {
            let expected = shape::region_params(&inst.op, index, &args, &regions);
            let found = types(&region.params);
            if expected != found {
                return Err(self.error(format!(
                    "region {index} takes {} instead of {}",
                    list(&found),
                    list(&expected)
                )));
            }
        }
        Ok(())
    }

    fn define(&mut self, values: &[Value], own: &mut Vec<Value>) -> Result<(), VerifyError> {
        for &v in values {
            match self.defined.get(v.0 as usize) {
                None => return Err(self.error(format!("{v:?} is not in the arena"))),
                Some(true) => return Err(self.error(format!("{v:?} is defined twice"))),
                Some(false) => {}
            }
            if !shape::addressable(self.func.ty(v)) {
                let ty = self.func.ty(v);
                return Err(self.error(format!("{ty} is larger than memory can be")));
            }
            self.defined[v.0 as usize] = true;
            self.visible[v.0 as usize] = true;
            own.push(v);
        }
        Ok(())
    }

    fn used(&self, values: &[Value]) -> Result<(), VerifyError> {
        for &v in values {
            if !self.visible.get(v.0 as usize).is_some_and(|&seen| seen) {
                return Err(self.error(format!("{v:?} is used where it is not defined")));
            }
        }
        Ok(())
    }

    fn literal(&self, literal: &Literal) -> Result<(), VerifyError> {
        let elem = literal.ty().elem;
        let unused = match elem {
            Elem::Bool => !1,
            _ if elem.bits() == 64 => 0,
            _ => u64::MAX << elem.bits(),
        };
        if !shape::addressable(literal.ty()) {
            return Err(self.error("a constant larger than memory can be"));
        }
        let count = literal.splat().map_or(literal.ty().numel(), |_| 1);
        if (0..count).any(|i| literal.bit(i) & unused != 0) {
            return Err(self.error(format!("a pattern of more bits than {elem} has")));
        }
        Ok(())
    }

    fn error(&self, message: impl Into<String>) -> VerifyError {
        let inst = self.at.last();
        let first = inst.and_then(|i| i.results.first());
        let known = first.filter(|v| (v.0 as usize) < self.func.value_count());
        VerifyError {
            func: self.func.name.clone(),
            op: inst.map(|i| i.op.name()),
            span: known.map_or(Span::default(), |&v| self.func.span(v)),
            message: message.into(),
        }
    }
}

fn list(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(Type::to_string).collect();
    format!("({})", names.join(", "))
}
