//! The report as text, for a terminal.

use super::report::{
    Details, Epoch, Holding, Memory, Outcome, Precision, Program, Report, Run, Time,
};
use std::fmt::{self, Display, Formatter};
use tpuc_runtime::client::show_bytes;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let t = &self.target;
        write!(f, "{} for {}: {} × {}", self.file, t.name, t.chips, t.kind)?;
        if let Some(memory) = t.memory {
            write!(f, ", {} each", bytes(memory as f64))?;
        }
        writeln!(f)?;
        if t.chips_used < t.chips {
            writeln!(
                f,
                "the program's mesh uses {} of them; `--mesh NAME={}` would use all",
                t.chips_used, t.chips
            )?;
        }
        for program in &self.programs {
            writeln!(f)?;
            one(f, program, t.memory)?;
        }
        match &self.run {
            Some(run) => {
                writeln!(f)?;
                bill(f, run, t.chips)?;
            }
            None if t.rates.is_none() => {
                writeln!(
                    f,
                    "\nno time and no price: the rates of this chip are not known to tpuc"
                )?;
            }
            None => {}
        }
        Ok(())
    }
}

fn one(f: &mut Formatter<'_>, program: &Program, limit: Option<u64>) -> fmt::Result {
    write!(f, "{}", program.name)?;
    if let Some(place) = &program.place {
        write!(f, " ({place})")?;
    }
    let open = if program.runs_at_least {
        " or more"
    } else {
        ""
    };
    let times = if program.runs == 1 { "time" } else { "times" };
    writeln!(f, ", run {}{open} {times}", program.runs)?;
    match &program.outcome {
        Outcome::Fits(details) => fitting(f, details, limit),
        Outcome::DoesNotFit { message, largest } => {
            writeln!(
                f,
                "  DOES NOT FIT: {}",
                message.lines().next().unwrap_or("")
            )?;
            holdings(f, largest)
        }
    }
}

fn fitting(f: &mut Formatter<'_>, d: &Details, limit: Option<u64>) -> fmt::Result {
    memory(f, &d.memory, limit)?;
    let w = &d.work;
    write!(
        f,
        "  work         {} in products, {} besides; {} through the memory",
        flops(w.product_flops),
        flops(w.flops - w.product_flops),
        bytes(w.bytes)
    )?;
    match w.loops_of_unknown_count {
        0 => writeln!(f)?,
        n => writeln!(f, " ({n} loops of unknown count counted once)")?,
    }
    if let Some(t) = &d.time {
        time(f, t)?;
    }
    if let Some(s) = d.compiler_seconds {
        writeln!(
            f,
            "  compiler     expects {}, loops counted once",
            seconds(s)
        )?;
    }
    for c in &d.collectives {
        writeln!(
            f,
            "  collectives  {} × {}, {} a chip",
            c.count,
            c.kind,
            bytes(c.bytes)
        )?;
    }
    for u in &d.unfilled {
        writeln!(
            f,
            "  matrix unit  {:.0} % filled by {} × {} × {} ({:.0} % of the product flops){}",
            u.fill * 100.0,
            u.rows,
            u.inner,
            u.columns,
            u.share * 100.0,
            at(u.place.as_deref(), u.source.as_deref())
        )?;
    }
    precision(f, &d.precision)
}

fn memory(f: &mut Formatter<'_>, m: &Memory, limit: Option<u64>) -> fmt::Result {
    write!(f, "  fits         {} ", bytes(m.needed as f64))?;
    if let Some(limit) = limit {
        let part = 100.0 * m.needed as f64 / limit as f64;
        write!(f, "of {} ({part:.1} %)", bytes(limit as f64))?;
    }
    writeln!(
        f,
        ": arguments {} ({} padding), results {} ({} in their place), temporaries {}, code {}",
        bytes(m.arguments as f64),
        bytes(m.padding as f64),
        bytes(m.outputs as f64),
        bytes(m.aliased as f64),
        bytes(m.temporaries as f64),
        bytes(m.code as f64)
    )?;
    holdings(f, &m.largest)
}

fn holdings(f: &mut Formatter<'_>, all: &[Holding]) -> fmt::Result {
    all.iter()
        .try_for_each(|h| writeln!(f, "    {}", holding(h)))
}

/// A line of the list of what holds memory.
pub fn holding(h: &Holding) -> String {
    let place = at(h.place.as_deref(), h.source.as_deref());
    format!(
        "{:>10}  {} {}{place}",
        bytes(h.bytes as f64),
        h.role,
        h.shape
    )
}

fn time(f: &mut Formatter<'_>, t: &Time) -> fmt::Result {
    writeln!(
        f,
        "  time         {}: {} bound, {:.0} % of the roofline (compute {}, memory {}, interconnect {}, starting kernels {})",
        seconds(t.seconds),
        t.bound,
        100.0 * t.of_roofline,
        seconds(t.compute),
        seconds(t.memory),
        seconds(t.interconnect),
        seconds(t.launch)
    )?;
    for l in &t.loops {
        let count = l.count.map_or("?".to_owned(), |n| n.to_string());
        let place = at(l.place.as_deref(), None);
        writeln!(
            f,
            "    {count} × {} a turn of the loop{place}",
            seconds(l.seconds_a_turn)
        )?;
    }
    for h in &t.hottest {
        writeln!(
            f,
            "    {:>5.1} %  {}{}",
            100.0 * h.share,
            h.bound,
            at(h.place.as_deref(), h.source.as_deref())
        )?;
    }
    Ok(())
}

fn precision(f: &mut Formatter<'_>, p: &Precision) -> fmt::Result {
    let all = p.products_bf16 + p.products_f32_one_pass + p.products_f32_several_passes;
    if all == 0.0 {
        return Ok(());
    }
    let part = |x: f64| 100.0 * x / all;
    write!(
        f,
        "  precision    products: {:.0} % bf16, {:.0} % f32 in one bf16 pass",
        part(p.products_bf16),
        part(p.products_f32_one_pass)
    )?;
    if p.products_f32_several_passes > 0.0 {
        write!(
            f,
            ", {:.0} % f32 in several",
            part(p.products_f32_several_passes)
        )?;
    }
    writeln!(
        f,
        "; as bf16 the f32 arguments would take {} less",
        bytes(p.arguments_f32 as f64 / 2.0)
    )
}

fn bill(f: &mut Formatter<'_>, run: &Run, chips: usize) -> fmt::Result {
    let least = if run.at_least { "at least " } else { "" };
    writeln!(
        f,
        "run: {least}{} on the chips, ${} at ${:.2} an hour for each of {chips} ({})",
        seconds(run.seconds),
        dollars(run.dollars),
        run.price_per_chip_hour,
        run.price_source
    )?;
    for Epoch {
        place,
        count,
        seconds: s,
        dollars: d,
    } in &run.epochs
    {
        writeln!(
            f,
            "  {count} × {}, ${} a turn of the loop at {place}",
            seconds(*s),
            dollars(*d)
        )?;
    }
    Ok(())
}

/// ` at file:line: source`.
fn at(place: Option<&str>, source: Option<&str>) -> String {
    let place = place.map_or(String::new(), |p| format!("  {p}"));
    let source = source.map_or(String::new(), |s| format!("  {s}"));
    format!("{place}{source}")
}

pub(super) fn bytes(n: f64) -> String {
    show_bytes(n as u64)
}

pub(super) fn flops(mut n: f64) -> String {
    const UNITS: [&str; 7] = ["flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop", "Eflop"];
    let mut unit = 0;
    while n >= 1000.0 && unit + 1 < UNITS.len() {
        n /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{n:.0} {}", UNITS[0]),
        _ => format!("{n:.1} {}", UNITS[unit]),
    }
}

pub(super) fn seconds(s: f64) -> String {
    match s {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} µs", s * 1e6),
    }
}

/// Two digits that say something, and cents at least.
pub(super) fn dollars(d: f64) -> String {
    match d {
        d if d >= 0.1 || d == 0.0 => format!("{d:.2}"),
        d => {
            let digits = (1.0 - d.log10().floor()) as usize;
            format!("{d:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_short() {
        assert_eq!(
            [0.0, 512.0, 1536.0, 3e9].map(bytes).join(" "),
            "0 B 512 B 1.5 KiB 2.8 GiB"
        );
        assert_eq!(
            [9.0, 1.5e6, 2e13].map(flops).join(" "),
            "9 flop 1.5 Mflop 20.0 Tflop"
        );
        assert_eq!(
            [250.0, 1.5, 0.0123, 4.2e-6].map(seconds).join(" "),
            "250 s 1.50 s 12.30 ms 4.20 µs"
        );
        assert_eq!(
            [2.0, 0.15, 0.0123, 0.0000456].map(dollars).join(" "),
            "2.00 0.15 0.012 0.000046"
        );
    }
}
