//! Patterns, matching them, building what they become, and applying rules until nothing changes.

pub mod build;
pub mod matcher;
pub mod pattern;
pub mod rule;
pub mod saturate;

pub use build::Rw;
pub use matcher::{Match, Matcher};
pub use pattern::Pattern;
pub use rule::{Class, Rule, RuleSet};
