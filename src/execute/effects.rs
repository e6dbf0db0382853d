//! What `main` does to the outside: printing, saving, asserting.

use crate::failure::Failure;
use crate::say;
use std::io::Write;
use std::path::Path;
use tpuc_compiler::ir::op::{Effect, PrintPiece, TreeShape};
use tpuc_runtime::host::{HostArray, Scalar};
use tpuc_runtime::metrics::Metric;
use tpuc_runtime::print::{self, FormatSpec, format_scalar};
use tpuc_runtime::save;

/// `arrays`: the operands, fetched.
pub fn perform(effect: &Effect, arrays: &[HostArray], out: &mut dyn Write) -> Result<(), Failure> {
    match effect {
        Effect::Print(pieces) | Effect::Debug(pieces) => {
            let mut text = line(pieces, &mut arrays.iter())?;
            text.push('\n');
            say::note(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
            Ok(())
        }
        Effect::Save { path, names } => {
            let named: Vec<(&str, &HostArray)> =
                names.iter().map(String::as_str).zip(arrays).collect();
            save::safetensors(Path::new(path), &named)?;
            Ok(())
        }
        Effect::Assert(message) => {
            let (cond, said) = arrays.split_at(1.min(arrays.len()));
            if let Some(Scalar::B(true)) = cond.first().and_then(HostArray::scalar) {
                return Ok(());
            }
            let message = line(message, &mut said.iter())?;
            let message = format!("assertion failed: {message}");
            Err(Failure::runtime("E0791", message, None))
        }
        Effect::Metrics { .. } => Ok(()),
        Effect::AssertClose { tolerance_bits } => {
            let (actual, expected) = arrays.split_at(arrays.len() / 2);
            let tolerance = f64::from_bits(*tolerance_bits);
            actual
                .iter()
                .zip(expected)
                .try_for_each(|(a, e)| close(a, e, tolerance))
        }
    }
}

/// The step and the numbers of a `log`.
pub fn metrics(names: &[String], arrays: &[HostArray]) -> (i64, Vec<Metric>) {
    let step = match arrays.first().and_then(HostArray::scalar) {
        Some(Scalar::I(step)) => step,
        Some(Scalar::U(step)) => i64::try_from(step).unwrap_or(i64::MAX),
        _ => 0,
    };
    let metrics = names.iter().zip(arrays.iter().skip(1));
    let metrics = metrics.filter_map(|(name, array)| {
        Some(Metric {
            name: name.clone(),
            dtype: array.dtype(),
            value: array.scalar()?,
        })
    });
    (step, metrics.collect())
}

/// `step 3  loss=0.25`, in four digits.
pub fn metrics_text(step: i64, metrics: &[Metric]) -> String {
    let mut text = format!("step {step}");
    for metric in metrics {
        let digits = FormatSpec::parse(".4g").and_then(|s| s.format(metric.dtype, metric.value));
        let value = digits.unwrap_or_else(|_| format_scalar(metric.dtype, metric.value));
        text.push_str(&format!("  {}={value}", metric.name));
    }
    text
}

fn line<'a>(
    pieces: &[PrintPiece],
    arrays: &mut impl Iterator<Item = &'a HostArray>,
) -> Result<String, Failure> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            PrintPiece::Text(t) => text.push_str(t),
            PrintPiece::Value { tree, spec } => {
                let spec = spec.as_deref().map(FormatSpec::parse).transpose()?;
                text.push_str(&tree_text(tree, spec.as_ref(), arrays)?);
            }
        }
    }
    Ok(text)
}

fn tree_text<'a>(
    tree: &TreeShape,
    spec: Option<&FormatSpec>,
    arrays: &mut impl Iterator<Item = &'a HostArray>,
) -> Result<String, Failure> {
    Ok(match tree {
        TreeShape::Leaf => match (arrays.next(), spec) {
            (Some(array), Some(spec)) if array.len() == 1 && array.shape().is_empty() => {
                match array.scalar() {
                    Some(scalar) => spec.format(array.dtype(), scalar)?,
                    None => String::new(),
                }
            }
            (Some(array), _) => print::nested(array),
            (None, _) => unreachable!("a print has one operand for each leaf"),
        },
        TreeShape::Tuple(fields) => {
            let parts = fields
                .iter()
                .map(|f| tree_text(f, spec, arrays))
                .collect::<Result<Vec<_>, _>>()?;
            match parts.as_slice() {
                [one] => format!("({one},)"),
                many => format!("({})", many.join(", ")),
            }
        }
        TreeShape::Record(fields) => {
            let parts = fields
                .iter()
                .map(|(name, f)| Ok(format!("{name}: {}", tree_text(f, spec, arrays)?)))
                .collect::<Result<Vec<_>, Failure>>()?;
            format!("{{{}}}", parts.join(", "))
        }
    })
}

/// |actual − expected| ≤ tolerance · (1 + |expected|), element by element. NaN matches NaN; infinities and bools match
/// only themselves.
fn close(actual: &HostArray, expected: &HostArray, tolerance: f64) -> Result<(), Failure> {
    for (i, (a, e)) in actual.iter().zip(expected.iter()).enumerate() {
        let near = match (a, e) {
            (Scalar::B(a), Scalar::B(e)) => a == e,
            _ => near(a.to_f64(), e.to_f64(), tolerance),
        };
        if !near {
            let shown = |x| format_scalar(actual.dtype(), x);
            let message = format!(
                "assertion failed: element {i} is {}, expected {} within {tolerance}",
                shown(a),
                shown(e)
            );
            return Err(Failure::runtime("E0792", message, None));
        }
    }
    Ok(())
}

fn near(a: f64, e: f64, tolerance: f64) -> bool {
    let both_nan = a.is_nan() && e.is_nan();
    // An infinite expectation would make the bound infinite, too.
    a == e || both_nan || e.is_finite() && (a - e).abs() <= tolerance * (1.0 + e.abs())
}
