//! A lowered module: what can be asked of it.

use super::error::LowerError;
use super::ffi::{OwnedModule, names_as_prefixes, older_version, stablehlo_version};
use melior::ir::operation::{OperationLike, OperationPrintingFlags, WalkOrder, WalkResult};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A verified StableHLO module.
pub struct Module {
    owned: OwnedModule,
}

impl Module {
    pub(super) fn new(owned: OwnedModule) -> Self {
        Module { owned }
    }

    /// MLIR text in StableHLO's own form, inputs named as in the source; the same on every run.
    pub fn to_text(&self, with_locations: bool) -> String {
        let flags = OperationPrintingFlags::new().enable_debug_info(with_locations, false);
        let flags = names_as_prefixes(flags);
        // The library writes UTF-8: names come from the source, which is UTF-8.
        self.owned.text(flags).unwrap_or_default()
    }

    /// What a plugin that reads StableHLO `version` compiles: the portable artifact, or text where the module says how
    /// tensors lie on several devices, which the artifact has no room for.
    ///
    /// # Errors
    /// As for [`Module::to_portable_artifact`].
    pub fn to_program(&self, version: &str) -> Result<Vec<u8>, LowerError> {
        if self.op_counts().contains_key("sdy.mesh") {
            return Ok(name_places(&self.to_text(true)).into_bytes());
        }
        self.to_portable_artifact(version)
    }

    /// The serialisation for a reader of StableHLO `version` (as in `1.13.0`); a reader that is newer than this
    /// library reads what the library writes by itself.
    ///
    /// # Errors
    /// When `version` is no version, or older than an op in use.
    pub fn to_portable_artifact(&self, version: &str) -> Result<Vec<u8>, LowerError> {
        let target = older_version(version, &stablehlo_version()).ok_or_else(|| LowerError {
            message: format!("`{version}` is no version of StableHLO"),
            place: None,
        })?;
        let messages = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&messages);
        let handler = self.owned.context().attach_diagnostic_handler(move |d| {
            sink.borrow_mut().push(d.to_string());
            true
        });
        let artifact = self.owned.portable_artifact(&target);
        self.owned.context().detach_diagnostic_handler(handler);
        artifact.ok_or_else(|| LowerError {
            message: format!(
                "no portable artifact of StableHLO {target}: {}",
                messages.borrow().join("; ")
            ),
            place: None,
        })
    }

    /// How many ops of each name the module holds, those of nested regions and private functions included.
    pub fn op_counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let module = self.owned.get();
        module.as_operation().walk(WalkOrder::PreOrder, |op| {
            if let Ok(name) = op.name().as_string_ref().as_str() {
                *counts.entry(name.to_string()).or_insert(0) += 1;
            }
            WalkResult::Advance
        });
        counts
    }

    /// How many StableHLO ops the module holds: constants and loops count, the `return` that ends a region does not.
    pub fn op_count(&self) -> usize {
        self.op_counts()
            .iter()
            .filter(|(name, _)| name.starts_with("stablehlo.") && *name != "stablehlo.return")
            .map(|(_, count)| count)
            .sum()
    }
}

/// A module's text in which each place is a name as well: `loc("a.tl":3:5)` becomes `loc("a.tl:3:5"("a.tl":3:5))`. Of
/// an op without a name XLA forgets the place when it distributes a program over several devices.
fn name_places(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(at) = rest.find("loc(\"") {
        let (before, found) = rest.split_at(at + "loc(".len());
        out.push_str(before);
        match place(found) {
            Some((file, position)) => {
                out.push_str(&format!("\"{file}{position}\"(\"{file}\"{position})"));
                rest = &found[file.len() + 2 + position.len()..];
            }
            None => {
                out.push('"');
                rest = &found[1..];
            }
        }
    }
    out + rest
}

/// The file, as it is written, and `:3:5` of `"a.tl":3:5)`.
fn place(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let inner = text.strip_prefix('"')?;
    let end = inner.find(|c| {
        let is_end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    })?;
    let after = &inner[end + 1..];
    let position = &after[..after.find(')')?];
    let is_position =
        position.starts_with(':') && position.chars().all(|c| c == ':' || c.is_ascii_digit());
    is_position.then_some((&inner[..end], position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_names_too() {
        let text = |place: &str| {
            format!(
                "%0 = a loc(#loc1)\n%1 = b loc(\"x\"(\"a.tl\":1:2)) loc(unknown)\n#loc1 = loc({place})\n"
            )
        };
        let named = text(r#""a \22b.tl:3:15"("a \22b.tl":3:15)"#);
        assert_eq!(name_places(&text(r#""a \22b.tl":3:15"#)), named);
    }
}
