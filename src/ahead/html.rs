//! The report as one page of HTML that needs nothing else.

use super::report::{Details, Holding, Outcome, Program, Report, Run, Time};
use super::text::{bytes, dollars, flops, seconds};
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
    h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;margin:.5em 0}\
    td,th{text-align:left;padding:.15em .9em .15em 0;vertical-align:top}td.n{text-align:right}code{color:#555}\
    .bar{background:#e8e8e8;width:16em;height:1em;display:inline-block}.bar i{background:#3b74c4;height:1em;display:block}\
    .bad{color:#b00020;font-weight:bold}";

/// The whole page.
pub fn page(report: &Report) -> String {
    let t = &report.target;
    let mut body = format!(
        "<h1>{} for {}</h1>\n<p>{} × {}{}; {} used.</p>\n",
        escape(&report.file),
        escape(&t.name),
        t.chips,
        escape(&t.kind),
        t.memory
            .map_or(String::new(), |m| format!(", {} each", bytes(m as f64))),
        t.chips_used
    );
    if let Some(run) = &report.run {
        body.push_str(&bill(run, t.chips));
    }
    for program in &report.programs {
        body.push_str(&section(program, t.memory));
    }
    if let Some(rates) = &t.rates {
        let _ = writeln!(body, "<p><small>Rates: {}.</small></p>", escape(rates));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{} for {}</title>\
         <style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n",
        escape(&report.file),
        escape(&t.name)
    )
}

fn bill(run: &Run, chips: usize) -> String {
    let least = if run.at_least { "at least " } else { "" };
    let mut rows = vec![vec![
        "a run".to_owned(),
        format!("{least}{}", seconds(run.seconds)),
        format!("${}", dollars(run.dollars)),
    ]];
    for e in &run.epochs {
        rows.push(vec![
            format!("a turn of the loop at {} ({} of them)", e.place, e.count),
            seconds(e.seconds),
            format!("${}", dollars(e.dollars)),
        ]);
    }
    format!(
        "{}<p><small>At ${:.2} an hour for each of {chips} chips: {}.</small></p>\n",
        table(&["", "time", "cost"], &rows),
        run.price_per_chip_hour,
        escape(&run.price_source)
    )
}

fn section(program: &Program, limit: Option<u64>) -> String {
    let place = program.place.as_deref().unwrap_or("");
    let open = if program.runs_at_least {
        " or more"
    } else {
        ""
    };
    let mut out = format!(
        "<h2>{} <code>{}</code></h2>\n<p>Run {}{open} time(s).</p>\n",
        escape(&program.name),
        escape(place),
        program.runs
    );
    match &program.outcome {
        Outcome::Fits(details) => fitting(&mut out, details, limit),
        Outcome::DoesNotFit { message, largest } => {
            let _ = writeln!(
                out,
                "<p class=\"bad\">Does not fit: {}</p>",
                escape(message)
            );
            out.push_str(&holdings(largest));
        }
    }
    out
}

fn fitting(out: &mut String, d: &Details, limit: Option<u64>) {
    let m = &d.memory;
    if let Some(limit) = limit {
        let part = m.needed as f64 / limit as f64;
        let used = format!("{} of {}", bytes(m.needed as f64), bytes(limit as f64));
        let _ = writeln!(out, "<p>Memory: {} {used}</p>", bar(part));
    }
    let size = |name: &str, n: u64| vec![name.to_owned(), bytes(n as f64)];
    out.push_str(&table(
        &["memory", ""],
        &[
            size("arguments", m.arguments),
            size("of them padding", m.padding),
            size("results", m.outputs),
            size("in place of arguments", m.aliased),
            size("temporaries", m.temporaries),
            size("code", m.code),
        ],
    ));
    out.push_str(&holdings(&m.largest));
    let _ = writeln!(
        out,
        "<p>Work: {} in matrix products, {} besides, {} through the memory.</p>",
        flops(d.work.product_flops),
        flops(d.work.flops - d.work.product_flops),
        bytes(d.work.bytes)
    );
    if let Some(t) = &d.time {
        time(out, t);
    }
    let sent: Vec<Vec<String>> = d
        .collectives
        .iter()
        .map(|c| vec![c.kind.to_owned(), c.count.to_string(), bytes(c.bytes)])
        .collect();
    if !sent.is_empty() {
        out.push_str(&table(&["collective", "times", "bytes a chip"], &sent));
    }
    let unfilled: Vec<Vec<String>> = d
        .unfilled
        .iter()
        .map(|u| {
            vec![
                format!("{} × {} × {}", u.rows, u.inner, u.columns),
                format!("{:.0} %", 100.0 * u.fill),
                format!("{:.0} %", 100.0 * u.share),
                u.place.clone().unwrap_or_default(),
                u.source.clone().unwrap_or_default(),
            ]
        })
        .collect();
    if !unfilled.is_empty() {
        let heads = [
            "product",
            "of the matrix unit filled",
            "of the product flops",
            "at",
            "",
        ];
        out.push_str(&table(&heads, &unfilled));
    }
}

fn time(out: &mut String, t: &Time) {
    let _ = writeln!(
        out,
        "<p>Time: {}, {} bound. Of the roofline: {} {:.0} %</p>",
        seconds(t.seconds),
        t.bound,
        bar(t.of_roofline),
        100.0 * t.of_roofline
    );
    let loops: Vec<Vec<String>> = t
        .loops
        .iter()
        .map(|l| {
            vec![
                l.place.clone().unwrap_or_default(),
                l.count.map_or("unknown".to_owned(), |n| n.to_string()),
                seconds(l.seconds_a_turn),
            ]
        })
        .collect();
    if !loops.is_empty() {
        out.push_str(&table(&["loop", "turns", "a turn"], &loops));
    }
    let mut rows = String::new();
    for h in &t.hottest {
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td class=\"n\">{:.1} %</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
            bar(h.share),
            100.0 * h.share,
            h.bound,
            escape(h.place.as_deref().unwrap_or("")),
            escape(h.source.as_deref().unwrap_or(""))
        );
    }
    let _ = writeln!(out, "<table>{rows}</table>");
}

fn holdings(all: &[Holding]) -> String {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|h| {
            vec![
                bytes(h.bytes as f64),
                h.role.to_owned(),
                h.shape.clone(),
                h.place.clone().unwrap_or_default(),
                h.source.clone().unwrap_or_default(),
            ]
        })
        .collect();
    table(&["largest", "", "", "", ""], &rows)
}

fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = "<table><tr>".to_owned();
    for head in heads {
        let _ = write!(out, "<th>{}</th>", escape(head));
    }
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    out
}

fn bar(part: f64) -> String {
    let width = 100.0 * part.clamp(0.0, 1.0);
    format!("<span class=\"bar\"><i style=\"width:{width:.1}%\"></i></span>")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_text() {
        assert_eq!(escape("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
        assert!(bar(2.0).contains("width:100.0%"));
    }
}
