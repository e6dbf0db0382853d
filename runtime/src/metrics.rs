//! What a run measures, step by step: JSON lines for scripts, and an event file for TensorBoard.
//!
//! Each entry is written before the run goes on, so that a killed run loses none. Both files are appended to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prost::Message;

use crate::error::{Error, ValueError};
use crate::host::{DType, Scalar};
use crate::print::format_scalar;
use crate::save;

/// A number, with the element type that says how many of its digits count.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: String,
    pub dtype: DType,
    pub value: Scalar,
}

/// The files of a folder that metrics go to.
pub struct Metrics {
    lines: Sink,
    events: Sink,
}

struct Sink {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens `metrics.jsonl`, and a new event file, in a folder that is made if it is not there.
    pub fn open(folder: &Path, now: SystemTime) -> Result<Metrics, Error> {
        save::make_folder(folder)?;
        let seconds = since_epoch(now).as_secs();
        let events = format!("events.out.tfevents.{seconds}.tpuc.{}", std::process::id());
        let mut metrics = Metrics {
            lines: Sink::open_whole_lines(folder.join("metrics.jsonl"))?,
            events: Sink::open(folder.join(events))?,
        };
        let version = Event {
            wall_time: since_epoch(now).as_secs_f64(),
            file_version: Some("brain.Event:2".to_owned()),
            ..Event::default()
        };
        metrics.events.write(&record(&version.encode_to_vec()))?;
        Ok(metrics)
    }

    pub fn write(&mut self, step: i64, metrics: &[Metric], now: SystemTime) -> Result<(), Error> {
        let wall_time = since_epoch(now).as_secs_f64();
        self.lines
            .write(line(step, metrics, wall_time).as_bytes())?;
        let value = |m: &Metric| Value {
            tag: Some(m.name.clone()),
            simple_value: Some(m.value.to_f64() as f32),
        };
        let event = Event {
            wall_time,
            step,
            summary: Some(Summary {
                value: metrics.iter().map(value).collect(),
            }),
            ..Event::default()
        };
        self.events.write(&record(&event.encode_to_vec()))
    }
}

impl Sink {
    fn open(path: PathBuf) -> Result<Sink, Error> {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|error| failed(&path, &error))?;
        Ok(Sink { path, file })
    }

    /// As [`Sink::open`], without the part of a line that a run has left which ended while it wrote: the next line would
    /// go on with it.
    fn open_whole_lines(path: PathBuf) -> Result<Sink, Error> {
        let sink = Sink::open(path)?;
        let cut = || -> io::Result<()> {
            let text = fs::read(&sink.path)?;
            let whole = text
                .iter()
                .rposition(|&b| b == b'\n')
                .map_or(0, |at| at + 1);
            match whole == text.len() {
                true => Ok(()),
                false => sink.file.set_len(whole as u64),
            }
        };
        cut().map_err(|error| failed(&sink.path, &error))?;
        Ok(sink)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Value(ValueError::WriteFailed {
        path: path.to_path_buf(),
        reason: save::plain(error),
    })
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// `{"step": 3, "time": 1.5, "loss": 0.25}`. JSON has no NaN and no infinities: they are `null`. No key may stand there
/// twice, so what a program calls `time` is in the place of the clock's.
fn line(step: i64, metrics: &[Metric], time: f64) -> String {
    let mut text = format!("{{\"step\": {step}");
    if metrics.iter().all(|metric| metric.name != "time") {
        text.push_str(&format!(", \"time\": {time:.3}"));
    }
    for metric in metrics {
        let name = serde_json::Value::from(metric.name.as_str());
        let value = match metric.value.to_f64().is_finite() {
            true => format_scalar(metric.dtype, metric.value),
            false => "null".to_owned(),
        };
        text.push_str(&format!(", {name}: {value}"));
    }
    text.push_str("}\n");
    text
}

/// TensorBoard's framing: the length and its checksum, the event and its checksum.
fn record(event: &[u8]) -> Vec<u8> {
    let len = (event.len() as u64).to_le_bytes();
    let mut bytes = len.to_vec();
    bytes.extend(checksum(&len));
    bytes.extend(event);
    bytes.extend(checksum(event));
    bytes
}

/// CRC-32C, rotated and moved away, so that checksums of checksums differ.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let masked = crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8);
    masked.to_le_bytes()
}

/// TensorBoard's `Event`, the fields that are used.
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, optional, tag = "1")]
    tag: Option<String>,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs_f64(seconds)
    }

    fn loss(value: f32) -> Metric {
        Metric {
            name: "loss".to_owned(),
            dtype: DType::F32,
            value: Scalar::F(f64::from(value)),
        }
    }

    #[test]
    fn lines_are_json_with_the_shortest_numbers() {
        let rows = Metric {
            name: "a \"b\"".to_owned(),
            dtype: DType::I32,
            value: Scalar::I(-7),
        };
        let text = line(3, &[loss(0.1), rows, loss(f32::NAN)], 1.5);
        assert_eq!(
            text,
            "{\"step\": 3, \"time\": 1.500, \"loss\": 0.1, \"a \\\"b\\\"\": -7, \"loss\": null}\n"
        );
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        let time = Metric {
            name: "time".to_owned(),
            ..loss(0.5)
        };
        assert_eq!(line(3, &[time], 1.5), "{\"step\": 3, \"time\": 0.5}\n");
    }

    /// The bytes that `tensorboard.summary.writer` writes: `scripts/reference/events.py`.
    #[test]
    fn event_files_are_those_of_tensorboard() {
        let folder = tempfile::tempdir().unwrap();
        let mut metrics = Metrics::open(folder.path(), at(1000.5)).unwrap();
        metrics
            .write(3, &[loss(0.25), loss(-1.0)], at(1001.0))
            .unwrap();
        metrics
            .write(-1, &[loss(f32::INFINITY)], at(1002.25))
            .unwrap();
        let entries = fs::read_dir(folder.path()).unwrap().flatten();
        let mut files = entries.map(|e| e.path());
        let events = files
            .find(|p| p.to_string_lossy().contains("tfevents"))
            .unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let expected = include_str!("../tests/reference/events.txt");
        assert_eq!(hex(&fs::read(events).unwrap()), expected.trim());
        let lines = fs::read_to_string(folder.path().join("metrics.jsonl")).unwrap();
        assert_eq!(lines.lines().count(), 2);
    }

    #[test]
    fn half_a_line_of_a_killed_run_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        for (left, kept) in [
            ("", 0),
            ("{\"step\": 0}\n", 1),
            ("{\"step\": 0}\n{\"st", 1),
            ("{\"s", 0),
        ] {
            fs::write(&path, left).unwrap();
            let mut metrics = Metrics::open(folder.path(), at(0.0)).unwrap();
            metrics.write(7, &[loss(0.5)], at(1.0)).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<serde_json::Value> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(lines.len(), kept + 1, "{left:?}");
            assert_eq!(lines[kept]["step"], 7);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let inside = file.path().join("run");
        let error = Metrics::open(&inside, at(0.0)).err().unwrap();
        assert_eq!(error.code(), "E0713");
    }
}
