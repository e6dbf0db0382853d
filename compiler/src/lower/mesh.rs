//! Layouts over several devices, as annotations of the Shardy dialect, from which XLA's partitioner works.
//!
//! The library does not know that dialect: its ops and attributes are built as those of an unregistered one, in the
//! textual form that plugins parse.

use super::emit::{Emit, Tensor};
use super::session::Session;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationBuilder;
use melior::ir::{Attribute, Location, Operation};

/// On which axis of the mesh each dimension of a tensor lies, if any.
pub type Layout = [Option<String>];

/// The devices of a program, and how the tensors lie that come in and go out.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    /// Names and sizes, the slowest first.
    pub axes: &'a [(String, usize)],
    /// One layout an input; there may be fewer: the others are whole on every device.
    pub inputs: &'a [Vec<Option<String>>],
    /// One layout an output, likewise.
    pub outputs: &'a [Vec<Option<String>>],
}

const SYMBOL: &str = "mesh";

/// `sdy.mesh @mesh = <["data"=4, "model"=2]>`.
pub fn declaration<'c>(
    session: &Session<'c>,
    mesh: &Mesh<'_>,
    location: Location<'c>,
) -> Operation<'c> {
    let axes: Vec<String> = mesh
        .axes
        .iter()
        .map(|(name, size)| format!("{name:?}={size}"))
        .collect();
    let mesh = parsed(session, format!("#sdy.mesh<[{}]>", axes.join(", ")));
    let symbol = StringAttribute::new(session.context, SYMBOL).into();
    OperationBuilder::new("sdy.mesh", location)
        .add_attributes(&[(session.id("mesh"), mesh), (session.id("sym_name"), symbol)])
        .build()
        // An op of an unregistered dialect takes any attributes.
        .expect("an op of an unregistered dialect can be built")
}

/// `#sdy.sharding<@mesh, [{"data"}, {}]>`, of a tensor of some rank.
pub fn sharding<'c>(session: &Session<'c>, layout: &Layout, rank: usize) -> Attribute<'c> {
    let dims: Vec<String> = (0..rank)
        .map(|i| match layout.get(i) {
            Some(Some(axis)) => format!("{{{axis:?}}}"),
            _ => "{}".to_string(),
        })
        .collect();
    let text = format!("#sdy.sharding<@{SYMBOL}, [{}]>", dims.join(", "));
    parsed(session, text)
}

/// Lays a value on the mesh; without one it is as it was.
pub fn constrain<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>, layout: &Layout) -> Tensor<'c> {
    if !e.session.has_mesh {
        return x.clone();
    }
    let sharding = sharding(e.session, layout, x.ty.rank());
    e.op(
        "sdy.sharding_constraint",
        &[x],
        &[("sharding", sharding)],
        &x.ty,
    )
}

fn parsed<'c>(session: &Session<'c>, text: String) -> Attribute<'c> {
    Attribute::parse(session.context, &text)
        // Axis names are identifiers of the language, quoted here: the text is always well-formed.
        .unwrap_or_else(|| panic!("{text} does not parse"))
}
