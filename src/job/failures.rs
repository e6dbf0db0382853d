//! What is said of a run that failed: where, and where memory is lacking, what takes the most of it.

use super::Job;
use crate::ahead::holdings::largest;
use crate::ahead::report::Holding;
use crate::ahead::text;
use crate::execute::device;
use crate::failure::Failure;
use crate::pipeline;
use crate::program_file::{self, place_of};
use tpuc_compiler::ir::{Func, Value};
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;
use tpuc_runtime::client::show_bytes;
use tpuc_runtime::error::MEMORY_HELP;
use tpuc_runtime::hlo::Module;

impl Job<'_> {
    /// The failure with its place; where memory is lacking, with what takes the most of it.
    pub(super) fn located(&self, failure: Failure, span: Span) -> Failure {
        let Failure::Device {
            code,
            program,
            message,
            help,
        } = failure
        else {
            return located(failure, span, self.sources);
        };
        let named = |f: &Func| f.name == program;
        let program = self.plan.programs.iter().position(named);
        // Where it is compiled no step is there to say where it stands.
        let own = program.and_then(|p| place_in(&self.plan.programs[p]));
        let span = match span == Span::default() {
            true => own.unwrap_or_default(),
            false => span,
        };
        let no_memory =
            |more: String, help| Failure::runtime("E0732", message.clone() + &more, help);
        let failure = match program {
            Some(p) if code == "E0732" => no_memory(self.largest(p), help),
            // Kernels that ask for memory themselves may fail without saying that there was none.
            Some(p) => match self.too_large(p) {
                Some(more) => no_memory(more, Some(MEMORY_HELP.into())),
                None => Failure::runtime(code, message, help),
            },
            None => Failure::runtime(code, message, help),
        };
        located(failure, span, self.sources)
    }

    /// A value of a program that is larger than the device, if there is one.
    fn too_large(&self, program: usize) -> Option<String> {
        let (client, _) = self.target.client(self.around).ok()??;
        let devices = self.plan.mesh.iter().map(|(_, size)| size).product();
        let limit = client.memory_limit(devices)?;
        let func = &self.plan.programs[program];
        let bytes = |v: Value| func.ty(v).bytes() as u64;
        let values = (0..func.value_count() as u32).map(Value);
        let values = values.filter(|&v| bytes(v) > limit);
        let largest = values.max_by_key(|&v| bytes(v))?;
        Some(format!(
            "\nthe device has {}, and {} takes {}: {}",
            show_bytes(limit),
            func.ty(largest),
            show_bytes(bytes(largest)),
            place_of(self.sources, func.span(largest))
        ))
    }

    /// The largest buffers of a program; nothing where the plugin does not tell.
    fn largest(&self, program: usize) -> String {
        let found = self.holdings(program).into_iter().flatten();
        let lines = found.map(|h| format!("\n  {}", text::holding(&h)));
        let lines: Vec<String> = lines.collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("\nthe largest buffers are{}", lines.concat()),
        }
    }

    /// What holds the memory of a program, which is compiled once more for it.
    fn holdings(&self, program: usize) -> Option<Vec<Holding>> {
        let (client, version) = self.target.client(self.around).ok()??;
        let lowered = pipeline::lower(self.plan, self.sources, &version).ok()?;
        let lowered = lowered.into_iter().nth(program)?;
        let options = device::compile_options(&client);
        let (hlo, report) = client
            .optimized_with_buffers(&lowered.name, &lowered.code, &lowered.signature, &options)
            .ok()?;
        let func = &self.plan.programs[program];
        Some(largest(&Module::parse(&hlo)?, &report, func, self.sources))
    }
}

/// Where a program begins in the source.
pub(super) fn place_in(func: &Func) -> Option<Span> {
    let first = func.body.insts.first().and_then(|i| i.results.first());
    first.map(|&v| func.span(v))
}

/// The failure with the source line it belongs to.
pub fn located(failure: Failure, span: Span, sources: &Sources) -> Failure {
    match failure {
        Failure::Placed(diagnostic) => {
            program_file::print_diagnostics(&[*diagnostic], sources);
            Failure::Said
        }
        Failure::Runtime {
            code,
            message,
            help,
        } if span != Span::default() => {
            let (line, column) = sources.line_col(span);
            let file = &sources.get(span.file).name;
            Failure::Runtime {
                code,
                message: format!("{message}\n  --> {file}:{line}:{column}"),
                help,
            }
        }
        other => other,
    }
}
