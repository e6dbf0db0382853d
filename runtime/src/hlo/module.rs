//! HLO text as data: computations of instructions.

use std::collections::HashMap;

use super::shape::Shape;

/// A module: its computations, the one that runs among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    pub computations: Vec<Computation>,
    pub entry: usize,
    by_name: HashMap<String, usize>,
}

/// Instructions in their order; the last but for the root gives the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Computation {
    pub name: String,
    pub instructions: Vec<Instruction>,
    /// The index of the instruction that gives the result.
    pub root: usize,
}

/// `%name = shape op(operands), attributes`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub name: String,
    pub shape: Shape,
    pub op: String,
    /// What stands between the parentheses, for constants and parameters.
    pub inside: String,
    pub operands: Vec<Operand>,
    pub attributes: String,
}

/// A value that an instruction reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub name: String,
    /// The part, where it is one of a tuple.
    pub part: Option<usize>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Module {
    /// `None` for a text that has no entry computation.
    pub fn parse(text: &str) -> Option<Module> {
        let mut computations: Vec<Computation> = Vec::new();
        let mut entry = None;
        for line in text.lines() {
            if let Some((is_entry, name)) = header(line) {
                if is_entry {
                    entry = Some(computations.len());
                }
                computations.push(Computation {
                    name: name.to_owned(),
                    ..Computation::default()
                });
            } else if let Some((is_root, instruction)) = Instruction::parse(line)
                && let Some(computation) = computations.last_mut()
            {
                if is_root {
                    computation.root = computation.instructions.len();
                }
                computation.instructions.push(instruction);
            }
        }
        let names = computations.iter().enumerate();
        Some(Module {
            by_name: names.map(|(i, c)| (c.name.clone(), i)).collect(),
            entry: entry?,
            computations,
        })
    }

    pub fn entry(&self) -> &Computation {
        &self.computations[self.entry]
    }

    pub fn computation(&self, name: &str) -> Option<&Computation> {
        self.by_name.get(name).map(|&i| &self.computations[i])
    }

    /// The computation that an attribute such as `calls` of an instruction names.
    pub fn called(&self, instruction: &Instruction, attribute: &str) -> Option<&Computation> {
        let value = instruction.attribute(attribute)?;
        self.computation(value.trim_start_matches('%'))
    }

    /// The computations that a `conditional` chooses among.
    pub fn branches(&self, instruction: &Instruction) -> Vec<&Computation> {
        let several = instruction.attribute("branch_computations");
        let two = ["true_computation", "false_computation"].map(|a| instruction.attribute(a));
        let names = several.into_iter().chain(two.into_iter().flatten());
        names
            .flat_map(|list| list.trim_matches(['{', '}']).split(','))
            .filter_map(|name| self.computation(name.trim().trim_start_matches('%')))
            .collect()
    }
}

impl Computation {
    pub fn root(&self) -> Option<&Instruction> {
        self.instructions.get(self.root)
    }

    pub fn find(&self, name: &str) -> Option<&Instruction> {
        self.instructions.iter().find(|i| i.name == name)
    }

    /// The parameter of this number.
    pub fn parameter(&self, number: usize) -> Option<&Instruction> {
        let number = number.to_string();
        let mut all = self.instructions.iter();
        all.find(|i| i.op == "parameter" && i.inside == number)
    }
}

impl Instruction {
    /// A line `[ROOT] %x = f32[2]{0} add(%a, %b), metadata={…}`, and whether it is the root.
    fn parse(line: &str) -> Option<(bool, Instruction)> {
        let line = line.trim();
        let (root, line) = match line.strip_prefix("ROOT ") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (name, rest) = line.strip_prefix('%')?.split_once(" = ")?;
        let (shape, rest) = Shape::parse(rest)?;
        let (op, rest) = rest.trim_start().split_once('(')?;
        let close = closing(rest)?;
        let (inside, attributes) = (&rest[..close], &rest[close + 1..]);
        let instruction = Instruction {
            name: name.to_owned(),
            shape,
            op: op.to_owned(),
            inside: inside.to_owned(),
            operands: operands(inside),
            attributes: attributes.trim_start_matches([',', ' ']).to_owned(),
        };
        Some((root, instruction))
    }

    /// The value of `name=value` among the attributes, braces included.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut from = 0;
        let value = loop {
            let at = from + self.attributes[from..].find(name)?;
            let before = self.attributes[..at].chars().next_back();
            let after = &self.attributes[at + name.len()..];
            if before.is_none_or(|c| c == ' ' || c == ',')
                && let Some(value) = after.strip_prefix('=')
            {
                break value;
            }
            from = at + name.len();
        };
        let end = match value.strip_prefix('{') {
            Some(inner) => closing(inner)? + 2,
            None => value.find([',', ' ']).unwrap_or(value.len()),
        };
        Some(&value[..end])
    }

    /// Where in the source it comes from: what the compiler says, or else what the instruction is called in a program
    /// for several devices.
    pub fn place(&self) -> Option<Place> {
        let Some((_, file)) = self.attributes.split_once("source_file=\"") else {
            let (_, name) = self.attributes.split_once("op_name=\"")?;
            return of_name(name.split_once('"')?.0);
        };
        let number = |name: &str| -> Option<u32> {
            let (_, rest) = self.attributes.split_once(name)?;
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse().ok()
        };
        Some(Place {
            file: file.split_once('"')?.0.to_owned(),
            line: number("source_line=")?,
            column: number("source_column=").unwrap_or(0),
        })
    }
}

/// The place in a name such as `a.tl:3:5`; the first where instructions were merged, as in `(a.tl:3:5:a.tl:4:1)`.
fn of_name(name: &str) -> Option<Place> {
    let name = name.strip_prefix('(').unwrap_or(name);
    let number = |text: &str| -> Option<(u32, usize)> {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        Some((text[..end].parse().ok()?, end))
    };
    let mut found = name.match_indices(':').filter_map(|(at, _)| {
        let (line, len) = number(&name[at + 1..])?;
        let rest = name[at + 1 + len..].strip_prefix(':')?;
        let (column, len) = number(rest)?;
        let ends = rest[len..].chars().next();
        let is_end = ends.is_none_or(|c| [':', ')', ';', '/'].contains(&c));
        (at > 0 && is_end).then(|| Place {
            file: name[..at].to_owned(),
            line,
            column,
        })
    });
    found.next()
}

/// The name of a computation in the line that opens it, and whether it is the one that runs.
fn header(line: &str) -> Option<(bool, &str)> {
    if line.starts_with(' ') || !line.ends_with('{') {
        return None;
    }
    let (entry, line) = match line.strip_prefix("ENTRY ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let name = line.strip_prefix('%')?;
    let end = name.find([' ', '('])?;
    Some((entry, &name[..end]))
}

/// The index of the bracket that closes one which was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut quoted = false;
    for (i, c) in text.bytes().enumerate() {
        match c {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// `%a, %b#1`; in older texts each has its type before it.
fn operands(inside: &str) -> Vec<Operand> {
    let names = inside.split('%').skip(1);
    names
        .map(|rest| {
            let end = rest.find([',', ' ', ')']).unwrap_or(rest.len());
            let (name, part) = match rest[..end].split_once('#') {
                Some((name, part)) => (name, part.parse().ok()),
                None => (&rest[..end], None),
            };
            Operand {
                name: name.to_owned(),
                part,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\n\
        %f (p: f32[2]) -> f32[2] {\n\
        \x20 %p = f32[2]{0} parameter(0)\n\
        \x20 ROOT %n = f32[2]{0:T(128)S(1)} negate(%p), metadata={source_file=\"a b.tl\" source_line=3 source_end_line=3 source_column=5}\n\
        }\n\n\
        ENTRY %main.1 (x: f32[2]) -> f32[2] {\n\
        \x20 %x = f32[2]{0} parameter(0)\n\
        \x20 %w = (s32[], f32[2]{0}) while(%t), condition=%c, body=%f, backend_config={\"a\":[\"}\"],\"n\":{\"m\":1}}\n\
        \x20 %c = s32[2]{0} constant({1, 2})\n\
        \x20 ROOT %r = f32[2]{0} fusion(%w#1, f32[2]{0} %x), kind=kLoop, calls=%f\n\
        }\n";

    #[test]
    fn a_module_is_read() {
        let module = Module::parse(TEXT).unwrap();
        assert_eq!(module.entry().name, "main.1");
        let root = module.entry().root().unwrap();
        assert_eq!((root.op.as_str(), root.name.as_str()), ("fusion", "r"));
        let operand = |name: &str, part| Operand {
            name: name.to_owned(),
            part,
        };
        assert_eq!(root.operands, [operand("w", Some(1)), operand("x", None)]);
        let body = module.called(root, "calls").unwrap();
        let place = body.root().unwrap().place().unwrap();
        assert_eq!(
            (place.file.as_str(), place.line, place.column),
            ("a b.tl", 3, 5)
        );
        assert_eq!(body.parameter(0).unwrap().name, "p");
        let config = module
            .entry()
            .find("w")
            .unwrap()
            .attribute("backend_config");
        assert_eq!(config, Some("{\"a\":[\"}\"],\"n\":{\"m\":1}}"));
        assert_eq!(module.entry().find("c").unwrap().inside, "{1, 2}");
        assert_eq!(Module::parse("HloModule m"), None);
    }

    #[test]
    fn a_name_may_be_a_place() {
        let place = |name| of_name(name).map(|p| (p.file, p.line, p.column));
        let of = |file: &str, line, column| Some((file.to_owned(), line, column));
        assert_eq!(place("a b.tl:3:15"), of("a b.tl", 3, 15));
        assert_eq!(place("(a.tl:3:15:a.tl:4:1)"), of("a.tl", 3, 15));
        assert_eq!(place("/x:1/a.tl:3:15;b"), of("/x:1/a.tl", 3, 15));
        for none in ["dot.26", "", "a.tl:3", ":3:4", "a:b:c"] {
            assert_eq!(place(none), None, "{none}");
        }
    }
}
