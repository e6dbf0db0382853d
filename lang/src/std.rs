//! The standard library, embedded: its files by the name they are imported under.

/// File name as shown in messages, and text.
pub type File = (&'static str, &'static str);

/// In scope in every file without an import.
pub const PRELUDE: File = ("<std>/prelude.tl", include_str!("../../std/prelude.tl"));

const MODULES: &[(&str, File)] = &[
    (
        "metrics",
        ("<std>/metrics.tl", include_str!("../../std/metrics.tl")),
    ),
    ("nn", ("<std>/nn.tl", include_str!("../../std/nn.tl"))),
    (
        "optim",
        ("<std>/optim.tl", include_str!("../../std/optim.tl")),
    ),
];

/// The module that `import name` means.
pub fn module(name: &str) -> Option<File> {
    MODULES
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, file)| *file)
}

/// What can be imported by name, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    MODULES.iter().map(|(n, _)| *n).collect()
}
