//! Where a run's time went: a summary, and a trace to look at.

use super::profile::{Event, Kind, Label};
use crate::failure::Failure;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::{Duration, Instant};
use tpuc_runtime::save;

/// What a run's time went to.
#[derive(Clone, Debug)]
pub struct Profile {
    pub start: Instant,
    pub took: Duration,
    pub events: Vec<Event>,
    pub labels: Vec<Label>,
    /// What there is of the plugin's own profile.
    pub device: String,
}

impl Profile {
    /// As Chrome and Perfetto show it: a row for each kind, and further ones for what went on at the same time, since
    /// stretches of one row may not overlap.
    pub fn trace(&self) -> Value {
        let mut rows = Vec::new();
        let mut events = Vec::new();
        for kind in Kind::ALL {
            for (i, lane) in self.lanes(kind).iter().enumerate() {
                let name = match i {
                    0 => kind.name().to_owned(),
                    more => format!("{} {}", kind.name(), more + 1),
                };
                let row = rows.len() + 1;
                rows.push(json!({
                    "name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": { "name": name },
                }));
                events.extend(lane.iter().map(|e| {
                    let place = self.place(&e.name);
                    json!({
                        "name": e.name,
                        "cat": e.kind.name(),
                        "ph": "X",
                        "ts": micros(e.start.saturating_duration_since(self.start)),
                        "dur": micros(e.took),
                        "pid": 1,
                        "tid": row,
                        "args": { "place": place },
                    })
                }));
            }
        }
        let all: Vec<Value> = rows.into_iter().chain(events).collect();
        let lines = self.lines().into_iter();
        let lines = lines.map(|(place, seconds)| json!({ "place": place, "seconds": seconds }));
        json!({
            "traceEvents": all, "displayTimeUnit": "ms",
            "otherData": { "estimated_lines": lines.collect::<Vec<_>>() },
        })
    }

    /// The events of a kind, by their start, in as few rows as keep those apart that overlap; at least one.
    fn lanes(&self, kind: Kind) -> Vec<Vec<&Event>> {
        let mut events: Vec<&Event> = self.events.iter().filter(|e| e.kind == kind).collect();
        events.sort_by_key(|e| e.start);
        let mut lanes: Vec<Vec<&Event>> = vec![Vec::new()];
        for event in events {
            let is_free =
                |lane: &&mut Vec<&Event>| lane.last().is_none_or(|l| l.end() <= event.start);
            match lanes.iter_mut().find(is_free) {
                Some(lane) => lane.push(event),
                None => lanes.push(vec![event]),
            }
        }
        lanes
    }

    /// The time in which nothing of all this went on: reading files, lowering, printing.
    fn rest(&self) -> Duration {
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by_key(|e| e.start);
        let (mut covered, mut until) = (Duration::ZERO, self.start);
        for event in events {
            covered += event
                .end()
                .saturating_duration_since(until.max(event.start));
            until = until.max(event.end());
        }
        self.took.saturating_sub(covered)
    }

    /// Writes `trace.json` into a folder, which is made if need be.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        save::make_folder(folder)?;
        save::write_text(&folder.join("trace.json"), &self.trace().to_string())?;
        Ok(())
    }

    fn place(&self, name: &str) -> Option<&str> {
        let label = self.labels.iter().find(|l| l.name == name)?;
        Some(&label.place)
    }

    /// Time and number of the events of each kind and name, the longest first.
    fn sums(&self) -> Vec<(Kind, &str, Duration, usize)> {
        let mut sums: Vec<(Kind, &str, Duration, usize)> = Vec::new();
        for e in &self.events {
            match sums.iter_mut().find(|s| s.0 == e.kind && s.1 == e.name) {
                Some(sum) => {
                    sum.2 += e.took;
                    sum.3 += 1;
                }
                None => sums.push((e.kind, &e.name, e.took, 1)),
            }
        }
        sums.sort_by_key(|s| (std::cmp::Reverse(s.2), s.0, s.1));
        sums
    }

    /// The seconds that programs ran, shared out over the lines of the source, the longest first.
    fn lines(&self) -> Vec<(&str, f64)> {
        let mut sums: Vec<(&str, f64)> = Vec::new();
        for e in self.events.iter().filter(|e| e.kind == Kind::Execute) {
            let label = self.labels.iter().find(|l| l.name == e.name);
            for (place, part) in label.iter().flat_map(|l| &l.lines) {
                let seconds = part * e.took.as_secs_f64();
                match sums.iter_mut().find(|(p, _)| p == place) {
                    Some(sum) => sum.1 += seconds,
                    None => sums.push((place, seconds)),
                }
            }
        }
        sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        sums
    }
}

/// How many lines the summary has.
const LISTED: usize = 12;

impl Display for Profile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = self.took.as_secs_f64();
        write!(f, "profile: {all:.3} s")?;
        for kind in Kind::ALL {
            let of_kind = self.events.iter().filter(|e| e.kind == kind);
            let took: Duration = of_kind.map(|e| e.took).sum();
            write!(f, ", {} {:.3} s", kind.name(), took.as_secs_f64())?;
        }
        writeln!(f, ", the rest {:.3} s", self.rest().as_secs_f64())?;
        let sums = self.sums();
        for (kind, name, took, count) in sums.iter().take(LISTED) {
            let took = took.as_secs_f64();
            let part = 100.0 * took / all.max(f64::MIN_POSITIVE);
            write!(
                f,
                "  {took:>9.4} s {part:>5.1} %  {count:>6} × {:<8}{name}",
                kind.name()
            )?;
            match self.place(name) {
                Some(place) => writeln!(f, "  {place}")?,
                None => writeln!(f)?,
            }
        }
        match sums.len().saturating_sub(LISTED) {
            0 => {}
            more => writeln!(f, "  and {more} more in the trace")?,
        }
        let lines = self.lines();
        if !lines.is_empty() {
            writeln!(
                f,
                "by line (an estimate: the time of each program, shared out by the cost model)"
            )?;
        }
        for (place, seconds) in lines.iter().take(LISTED) {
            let part = 100.0 * seconds / all.max(f64::MIN_POSITIVE);
            writeln!(f, "  {seconds:>9.4} s {part:>5.1} %  {place}")?;
        }
        writeln!(f, "device: {}", self.device)
    }
}

fn micros(d: Duration) -> f64 {
    d.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_summed_and_traced() {
        let start = Instant::now();
        let event = |kind, name: &str, at: u64, took: u64| Event {
            kind,
            name: name.into(),
            start: start + Duration::from_millis(at),
            took: Duration::from_millis(took),
        };
        let profile = Profile {
            start,
            took: Duration::from_millis(100),
            events: vec![
                event(Kind::Compile, "main_0", 0, 20),
                event(Kind::Compile, "main_1", 5, 10),
                event(Kind::Execute, "main_0", 20, 30),
                event(Kind::Execute, "main_0", 50, 40),
                event(Kind::Fetch, "f32[]", 90, 1),
            ],
            device: "the plugin offers no profile of its own".into(),
            labels: vec![Label {
                name: "main_0".into(),
                place: "a.tl:3".into(),
                lines: vec![("a.tl:4".into(), 0.75), ("a.tl:9".into(), 0.25)],
            }],
        };
        assert_eq!(
            profile.to_string(),
            "profile: 0.100 s, compile 0.030 s, execute 0.070 s, upload 0.000 s, fetch 0.001 s, the rest 0.009 s\n\
             \x20    0.0700 s  70.0 %       2 × execute main_0  a.tl:3\n\
             \x20    0.0200 s  20.0 %       1 × compile main_0  a.tl:3\n\
             \x20    0.0100 s  10.0 %       1 × compile main_1\n\
             \x20    0.0010 s   1.0 %       1 × fetch   f32[]\n\
             by line (an estimate: the time of each program, shared out by the cost model)\n\
             \x20    0.0525 s  52.5 %  a.tl:4\n\
             \x20    0.0175 s  17.5 %  a.tl:9\n\
             device: the plugin offers no profile of its own\n"
        );
        let trace = profile.trace();
        let events = trace["traceEvents"].as_array().expect("a list");
        // Five rows, one of them for what was compiled beside another; then the events.
        assert_eq!(events.len(), 5 + 5);
        assert_eq!(events[1]["args"]["name"], "compile 2");
        let rows: Vec<_> = events[5..].iter().map(|e| e["tid"].as_u64()).collect();
        assert_eq!(rows, [1, 2, 3, 3, 5].map(Some));
        assert_eq!(events[8]["ts"], 50000.0);
        assert_eq!(events[8]["args"]["place"], "a.tl:3");
    }
}
