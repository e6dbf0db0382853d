//! What holds the memory of a compiled program, in the words of its source.

use super::report::Holding;
use crate::program_file::place_of;
use std::collections::HashMap;
use tpuc_compiler::ir::Func;
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_runtime::hlo::buffers::{Buffer, Role, buffers};
use tpuc_runtime::hlo::{Instruction, Module, Place};

/// How many lines a list of a report has.
pub const LISTED: usize = 5;

/// The largest buffers, from the compiler's report on them.
pub fn largest(module: &Module, report: &str, func: &Func, sources: &Sources) -> Vec<Holding> {
    let by_name: HashMap<&str, &Instruction> = module
        .computations
        .iter()
        .flat_map(|c| &c.instructions)
        .map(|i| (i.name.as_str(), i))
        .collect();
    let all = buffers(report, 4096);
    let largest = all.iter().take(LISTED);
    largest
        .map(|b| holding(b, &by_name, func, sources))
        .collect()
}

fn holding(
    buffer: &Buffer,
    by_name: &HashMap<&str, &Instruction>,
    func: &Func,
    sources: &Sources,
) -> Holding {
    let made = by_name.get(buffer.value.as_str());
    // Of a tuple the buffer is the part of its size.
    let array = made.and_then(|i| {
        let arrays = i.shape.arrays();
        let fitting = arrays.iter().find(|a| a.padded_bytes() == buffer.bytes);
        fitting.or(arrays.first()).copied()
    });
    let shape = array.map_or(String::new(), ToString::to_string);
    // Where the instruction that fills it says it is from.
    let own = || {
        let place = made.and_then(|i| i.place());
        let source = place
            .as_ref()
            .and_then(|p| line_of(sources, &p.file, p.line));
        (place.as_ref().map(show), source)
    };
    let (role, (place, source)) = match buffer.role {
        Role::Argument(n) => {
            let span = func.body.params.get(n).map(|&v| func.span(v));
            let place = span.map(|s| place_of(sources, s));
            let source = span.and_then(|s| source_of(sources, s));
            ("argument", (place, source))
        }
        Role::Result => {
            // The report does not say which one: the first of its type. On several devices it is a part of one.
            let mut results = func.body.results.iter();
            let span = results
                .find(|&&v| func.ty(v).to_string() == shape)
                .map(|&v| func.span(v));
            let place = |s| (Some(place_of(sources, s)), source_of(sources, s));
            ("result", span.map_or_else(own, place))
        }
        Role::Temporary => ("temporary", own()),
    };
    Holding {
        bytes: buffer.bytes,
        role,
        shape,
        place,
        source,
    }
}

pub fn show(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}

pub fn source_of(sources: &Sources, span: Span) -> Option<String> {
    let (line, _) = sources.line_col(span);
    line_of(sources, &sources.get(span.file).name, line as u32)
}

/// A line of the source, without what surrounds it.
pub fn line_of(sources: &Sources, file: &str, line: u32) -> Option<String> {
    let (_, file) = sources.iter().find(|(_, f)| f.name == file)?;
    let text = file.text.lines().nth((line as usize).checked_sub(1)?)?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}
