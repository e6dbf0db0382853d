//! From a compiled program to what is said of it.

use super::chip::Chip;
use super::holdings::{LISTED, largest, line_of, show, source_of};
use super::report::{
    Collective, Details, Holding, Hot, Loop, Memory, Precision, Time, Unfilled, Work,
};
use super::time;
use crate::program_file::place_of;
use tpuc_compiler::ir::Func;
use tpuc_compiler::opt::cost::of_func;
use tpuc_lang::source::Sources;
use tpuc_runtime::client::Compiled;
use tpuc_runtime::hlo::kernels::Kernels;
use tpuc_runtime::hlo::{Module, kernels};

/// Products that fill less of the matrix unit than this are listed.
const FILLED: f64 = 0.9;

/// What a program is looked at with.
pub struct Context<'a> {
    pub func: &'a Func,
    pub sources: &'a Sources,
    /// Absent where its figures are not known.
    pub chip: Option<&'a Chip>,
    /// How many work together.
    pub chips: usize,
}

/// Everything but how often it runs. `None` where the compiler's text is of another form than is known.
pub fn details(compiled: &Compiled, context: &Context<'_>) -> Option<Details> {
    let module = Module::parse(&compiled.hlo)?;
    let found = kernels(&module);
    let memory = memory(compiled, &module, context);
    let model = context.chip.map(|chip| of_func(context.func, chip.cost));
    Some(Details {
        precision: precision(&found, &module),
        unfilled: unfilled(&found, context.sources),
        collectives: collectives(&found),
        compiler_seconds: compiled.seconds,
        compiler_bytes: compiled.bytes_accessed,
        model_seconds: model.map(|cost| cost.time as f64 * 1e-12),
        model_bytes: model.map(|cost| cost.bytes),
        time: context.chip.map(|chip| time(&found, chip, context)),
        work: work(&found),
        memory,
    })
}

/// The largest arguments, for a program that was refused.
pub fn arguments(context: &Context<'_>) -> Vec<Holding> {
    let func = context.func;
    let mut all: Vec<Holding> = func
        .body
        .params
        .iter()
        .map(|&v| {
            let ty = func.ty(v);
            Holding {
                bytes: crate::convert::spec(ty)
                    .byte_len()
                    .map_or(u64::MAX, |b| b as u64),
                role: "argument",
                shape: ty.to_string(),
                place: Some(place_of(context.sources, func.span(v))),
                source: source_of(context.sources, func.span(v)),
            }
        })
        .collect();
    all.sort_by_key(|h| std::cmp::Reverse(h.bytes));
    all.truncate(LISTED);
    all
}

fn work(found: &Kernels) -> Work {
    let mut sum = Work {
        flops: 0.0,
        product_flops: 0.0,
        bytes: 0.0,
        loops_of_unknown_count: found.loops.iter().filter(|l| l.count.is_none()).count(),
    };
    for kernel in &found.kernels {
        let times = found.times(kernel.inside);
        sum.flops += times * kernel.work.flops();
        sum.product_flops += times * (kernel.work.flops() - kernel.work.other);
        sum.bytes += times * kernel.bytes as f64;
    }
    sum
}

fn time(found: &Kernels, chip: &Chip, context: &Context<'_>) -> Time {
    let all = time::of_program(found, chip, context.chips);
    let loops = found.loops.iter().enumerate().map(|(number, l)| Loop {
        place: l.place.as_ref().map(show),
        count: l.count,
        seconds_a_turn: time::of_turn(found, number, chip, context.chips).total,
    });
    Time {
        seconds: all.total,
        compute: all.compute,
        memory: all.memory,
        interconnect: all.interconnect,
        launch: all.launch,
        bound: all.bound(),
        of_roofline: all.roofline() / all.total.max(f64::MIN_POSITIVE),
        loops: loops.collect(),
        hottest: hottest(found, chip, context, all.total),
    }
}

/// The lines of the source that take the most time.
fn hottest(found: &Kernels, chip: &Chip, context: &Context<'_>, total: f64) -> Vec<Hot> {
    let mut lines: Vec<(Option<(String, u32)>, time::Seconds)> = Vec::new();
    for kernel in &found.kernels {
        let times = found.times(kernel.inside);
        let one = time::of_kernel(kernel, chip, context.chips);
        let line = kernel.place.as_ref().map(|p| (p.file.clone(), p.line));
        let at = lines
            .iter()
            .position(|(l, _)| *l == line)
            .unwrap_or_else(|| {
                lines.push((line, time::Seconds::default()));
                lines.len() - 1
            });
        let sum = &mut lines[at].1;
        sum.compute += times * one.compute;
        sum.memory += times * one.memory;
        sum.interconnect += times * one.interconnect;
        sum.launch += times * one.launch;
        sum.total += times * one.total;
    }
    lines.retain(|(_, seconds)| seconds.total > 0.0);
    lines.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
    lines.truncate(LISTED);
    let hot = lines.into_iter().map(|(line, seconds)| Hot {
        source: line
            .as_ref()
            .and_then(|(f, l)| line_of(context.sources, f, *l)),
        place: line.map(|(file, line)| format!("{file}:{line}")),
        seconds: seconds.total,
        share: seconds.total / total.max(f64::MIN_POSITIVE),
        bound: seconds.bound(),
    });
    hot.collect()
}

fn collectives(found: &Kernels) -> Vec<Collective> {
    let mut all: Vec<Collective> = Vec::new();
    for kernel in &found.kernels {
        let Some((kind, bytes)) = kernel.sent else {
            continue;
        };
        let times = found.times(kernel.inside);
        match all.iter_mut().find(|c| c.kind == kind) {
            Some(c) => {
                c.count += times;
                c.bytes += times * bytes as f64;
            }
            None => all.push(Collective {
                kind,
                count: times,
                bytes: times * bytes as f64,
            }),
        }
    }
    all
}

fn unfilled(found: &Kernels, sources: &Sources) -> Vec<Unfilled> {
    let products = found.kernels.iter().flat_map(|k| {
        let times = found.times(k.inside);
        k.work
            .products
            .iter()
            .map(move |p| (k, p, times * p.flops()))
    });
    let products: Vec<_> = products.collect();
    let all: f64 = products.iter().map(|(_, _, flops)| flops).sum();
    let mut poor: Vec<(f64, Unfilled)> = products
        .into_iter()
        .filter(|(_, p, _)| p.fill() < FILLED)
        .map(|(kernel, p, flops)| {
            let place = p.place.as_ref().or(kernel.place.as_ref());
            let one = Unfilled {
                place: place.map(show),
                source: place.and_then(|p| line_of(sources, &p.file, p.line)),
                rows: p.rows as u64,
                inner: p.inner as u64,
                columns: p.columns as u64,
                fill: p.fill(),
                share: flops / all.max(1.0),
            };
            (flops / p.fill().max(1e-3), one)
        })
        .collect();
    poor.sort_by(|a, b| b.0.total_cmp(&a.0));
    poor.into_iter().take(LISTED).map(|(_, one)| one).collect()
}

fn precision(found: &Kernels, module: &Module) -> Precision {
    let mut sum = Precision {
        products_bf16: 0.0,
        products_f32_one_pass: 0.0,
        products_f32_several_passes: 0.0,
        arguments_f32: 0,
    };
    for kernel in &found.kernels {
        let times = found.times(kernel.inside);
        for product in &kernel.work.products {
            let flops = times * product.flops();
            match (product.element.as_str(), product.passes) {
                ("bf16" | "f16", _) => sum.products_bf16 += flops,
                ("f32", 1) => sum.products_f32_one_pass += flops,
                ("f32", _) => sum.products_f32_several_passes += flops,
                _ => {}
            }
        }
    }
    let parameters = module.entry().instructions.iter();
    let arrays = parameters
        .filter(|i| i.op == "parameter")
        .flat_map(|i| i.shape.arrays());
    sum.arguments_f32 = arrays
        .filter(|a| a.element == "f32")
        .map(|a| a.padded_bytes())
        .sum();
    sum
}

fn memory(compiled: &Compiled, module: &Module, context: &Context<'_>) -> Memory {
    let m = compiled.memory;
    let parameters = module.entry().instructions.iter();
    let padding = parameters
        .filter(|i| i.op == "parameter")
        .flat_map(|i| i.shape.arrays())
        .map(|a| a.padded_bytes().saturating_sub(a.bytes()));
    Memory {
        arguments: m.arguments,
        outputs: m.outputs,
        aliased: m.aliased,
        temporaries: m.temporaries,
        code: m.code,
        needed: m.arguments + m.outputs.saturating_sub(m.aliased) + m.temporaries + m.code,
        padding: padding.sum(),
        largest: largest(module, &compiled.buffers, context.func, context.sources),
    }
}
