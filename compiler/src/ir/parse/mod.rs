//! Parsing the text form: the inverse of `print`. It builds whatever is written; whether that makes sense is for the
//! verifier to say. Values may have any name here (`%x`, `%12`); printing numbers them anew.

mod token;

#[cfg(test)]
mod tests;

use super::func::{Func, Inst, Region, Value};
use super::print::region_labels;
use super::shape::region_count;
use super::table::{self, Attr, Attrs};
use super::types::{Elem, Type};
use std::collections::HashMap;
use std::fmt;
use token::{Lexer, Token};
use tpuc_lang::span::Span;

/// Where the text stopped making sense, counted from 1, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The one function that `text` holds.
pub fn parse(text: &str) -> Result<Func, ParseError> {
    let mut parser = Parser::new(text)?;
    let func = parser.func()?;
    match parser.token {
        Token::End => Ok(func),
        _ => Err(parser.unexpected("the end")),
    }
}

/// All functions of `text`, in order.
pub fn parse_all(text: &str) -> Result<Vec<Func>, ParseError> {
    let mut parser = Parser::new(text)?;
    let mut funcs = Vec::new();
    while parser.token != Token::End {
        funcs.push(parser.func()?);
    }
    Ok(funcs)
}

/// Regions and attributes nest at most this deep, so that no text can exhaust the stack.
const MAX_DEPTH: usize = 200;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    /// Line of `token`, and of the one before it: operands stand on the line of their primitive.
    line: usize,
    last_line: usize,
    depth: usize,
    func: Func,
    values: HashMap<String, Value>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, ParseError> {
        let mut parser = Parser {
            lexer: Lexer::new(text),
            token: Token::End,
            line: 1,
            last_line: 1,
            depth: 0,
            func: Func::new(""),
            values: HashMap::new(),
        };
        parser.advance()?;
        Ok(parser)
    }

    fn func(&mut self) -> Result<Func, ParseError> {
        self.keyword("func")?;
        self.func = Func::new(self.name()?);
        self.values.clear();
        let params = self.params()?;
        self.expect("->")?;
        self.expect("(")?;
        let types = self.types_until(")")?;
        self.expect("{")?;
        let region = self.block(params, "return")?;
        self.func.body = region;
        if self.func.output_types() != types {
            return Err(self.error("the results have other types than the function names"));
        }
        Ok(std::mem::replace(&mut self.func, Func::new("")))
    }

    /// `(%a: f32[2], %b: i32)`
    fn params(&mut self) -> Result<Vec<Value>, ParseError> {
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.accept(")")? {
            if !params.is_empty() {
                self.expect(",")?;
            }
            let name = self.value_name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            params.push(self.define(name, ty)?);
        }
        Ok(params)
    }

    /// Instructions up to `return` or `yield`, its operands and the closing brace.
    fn block(&mut self, params: Vec<Value>, last: &str) -> Result<Region, ParseError> {
        self.enter()?;
        let mut insts = Vec::new();
        while self.token != Token::Word(last.into()) {
            insts.push(self.inst()?);
        }
        self.advance()?;
        let results = self.operands()?;
        self.expect("}")?;
        self.depth -= 1;
        Ok(Region {
            params,
            insts,
            results,
        })
    }

    fn inst(&mut self) -> Result<Inst, ParseError> {
        let mut names = Vec::new();
        if matches!(self.token, Token::Value(_)) {
            names.push(self.value_name()?);
            while self.accept(",")? {
                names.push(self.value_name()?);
            }
            self.expect("=")?;
        }
        let line = self.line;
        let name = self.word()?;
        let value = if name == "constant" {
            Some(self.attr()?)
        } else {
            None
        };
        let attrs = self.attrs()?;
        let args = self.operands()?;
        let types = if names.is_empty() {
            Vec::new()
        } else {
            self.expect(":")?;
            self.types(names.len())?
        };
        let op = table::read(&name, attrs, value.as_ref(), &types)
            .map_err(|message| ParseError { line, message })?;
        let results = names
            .into_iter()
            .zip(types)
            .map(|(n, t)| self.define(n, t))
            .collect::<Result<_, _>>()?;
        let labels = region_labels(&op);
        let mut regions = Vec::new();
        for label in &labels[..region_count(&op)] {
            self.keyword(label)?;
            let params = if self.token == Token::Mark("(") {
                self.params()?
            } else {
                Vec::new()
            };
            self.expect("{")?;
            regions.push(self.block(params, "yield")?);
        }
        Ok(Inst {
            op,
            args,
            regions,
            results,
        })
    }

    /// The values that stand on the line of what came before.
    fn operands(&mut self) -> Result<Vec<Value>, ParseError> {
        let mut values = Vec::new();
        if self.line == self.last_line && matches!(self.token, Token::Value(_)) {
            values.push(self.used()?);
            while self.accept(",")? {
                values.push(self.used()?);
            }
        }
        Ok(values)
    }

    /// `[name = value, flag]`, or nothing.
    fn attrs(&mut self) -> Result<Attrs, ParseError> {
        let mut attrs = Attrs::default();
        if !self.accept("[")? {
            return Ok(attrs);
        }
        let mut first = true;
        while !self.accept("]")? {
            if !first {
                self.expect(",")?;
            }
            first = false;
            let name = self.word()?;
            let value = if self.accept("=")? {
                self.attr()?
            } else {
                Attr::word("true")
            };
            attrs.push(name, value).map_err(|m| self.error(m))?;
        }
        Ok(attrs)
    }

    fn attr(&mut self) -> Result<Attr, ParseError> {
        self.enter()?;
        let attr = match self.token.clone() {
            Token::Text(text) => {
                self.advance()?;
                Attr::Text(text)
            }
            Token::Word(word) => {
                self.advance()?;
                if self.accept("(")? {
                    Attr::Call(word, self.attr_list(")")?)
                } else {
                    Attr::Word(word)
                }
            }
            Token::Mark("(") => {
                self.advance()?;
                Attr::Tuple(self.attr_list(")")?)
            }
            Token::Mark("{") => {
                self.advance()?;
                Attr::Record(self.attr_fields()?)
            }
            Token::Mark("[") => {
                self.advance()?;
                let left = Attr::List(self.attr_list("]")?);
                if self.token == Token::Word("x".into()) {
                    self.advance()?;
                    Attr::Cross(Box::new(left), Box::new(self.attr()?))
                } else {
                    left
                }
            }
            _ => return Err(self.unexpected("a value of an attribute")),
        };
        self.depth -= 1;
        Ok(attr)
    }

    fn attr_list(&mut self, close: &'static str) -> Result<Vec<Attr>, ParseError> {
        let mut items = Vec::new();
        while !self.accept(close)? {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.attr()?);
        }
        Ok(items)
    }

    fn attr_fields(&mut self) -> Result<Vec<(String, Attr)>, ParseError> {
        let mut fields = Vec::new();
        while !self.accept("}")? {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            let name = self.name()?;
            self.expect(":")?;
            fields.push((name, self.attr()?));
        }
        Ok(fields)
    }

    fn types(&mut self, count: usize) -> Result<Vec<Type>, ParseError> {
        let mut types = vec![self.ty()?];
        while types.len() < count {
            self.expect(",")?;
            types.push(self.ty()?);
        }
        Ok(types)
    }

    fn types_until(&mut self, close: &'static str) -> Result<Vec<Type>, ParseError> {
        let mut types = Vec::new();
        while !self.accept(close)? {
            if !types.is_empty() {
                self.expect(",")?;
            }
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// `f32`, `f32[2, 3]`
    fn ty(&mut self) -> Result<Type, ParseError> {
        let word = self.word()?;
        let elem =
            Elem::from_name(&word).ok_or_else(|| self.error(format!("`{word}` is no type")))?;
        let mut shape = Vec::new();
        if self.accept("[")? {
            while !self.accept("]")? {
                if !shape.is_empty() {
                    self.expect(",")?;
                }
                let size = self.word()?;
                let size = size
                    .parse()
                    .map_err(|_| self.error(format!("`{size}` is no dimension")))?;
                shape.push(size);
            }
        }
        Ok(Type { elem, shape })
    }

    fn define(&mut self, name: String, ty: Type) -> Result<Value, ParseError> {
        let value = self.func.new_value(ty, Span::default());
        match self.values.insert(name.clone(), value) {
            None => Ok(value),
            Some(_) => Err(self.error(format!("%{name} is defined twice"))),
        }
    }

    fn used(&mut self) -> Result<Value, ParseError> {
        let name = self.value_name()?;
        self.values
            .get(&name)
            .copied()
            .ok_or_else(|| self.error(format!("%{name} is not defined")))
    }

    fn value_name(&mut self) -> Result<String, ParseError> {
        match &self.token {
            Token::Value(name) => {
                let name = name.clone();
                self.advance()?;
                Ok(name)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self) -> Result<String, ParseError> {
        match &self.token {
            Token::Word(word) => {
                let word = word.clone();
                self.advance()?;
                Ok(word)
            }
            _ => Err(self.unexpected("a word")),
        }
    }

    /// A word, or a quoted name.
    fn name(&mut self) -> Result<String, ParseError> {
        match &self.token {
            Token::Text(text) => {
                let text = text.clone();
                self.advance()?;
                Ok(text)
            }
            _ => self.word(),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), ParseError> {
        if self.token == Token::Word(word.into()) {
            self.advance()
        } else {
            Err(self.unexpected(&format!("`{word}`")))
        }
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), ParseError> {
        if self.accept(mark)? {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{mark}`")))
        }
    }

    fn accept(&mut self, mark: &'static str) -> Result<bool, ParseError> {
        if self.token == Token::Mark(mark) {
            self.advance()?;
            Ok(true)
        } else {
            Ok(false)
        }
    }

    fn advance(&mut self) -> Result<(), ParseError> {
        self.last_line = self.line;
        let next = self.lexer.next();
        self.line = self.lexer.line;
        self.token = next.map_err(|message| ParseError {
            line: self.lexer.line,
            message,
        })?;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deep"));
        }
        Ok(())
    }

    /// The next token is not the one that must follow.
    fn unexpected(&self, wanted: &str) -> ParseError {
        ParseError {
            line: self.line,
            message: format!("{} instead of {wanted}", self.token),
        }
    }

    /// What was just read makes no sense.
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.last_line,
            message: message.into(),
        }
    }
}
