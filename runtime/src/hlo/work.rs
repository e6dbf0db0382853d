//! The arithmetic of one instruction.

use super::module::{Computation, Instruction, Module, Place};
use super::shape::{ArrayShape, Shape};

/// Arithmetic: matrix products apart from the rest, since the devices do them apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    pub products: Vec<Product>,
    /// Operations of everything else, one for each element made (or read, by a reduction).
    pub other: f64,
}

/// A matrix product, or a convolution as one: `rows × inner` by `inner × columns`.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    pub rows: f64,
    pub inner: f64,
    pub columns: f64,
    /// Of its operands.
    pub element: String,
    /// How often the matrix unit goes over f32 operands: 1, 3 or 6 by their precision.
    pub passes: u32,
    /// Its own, which may be another line than that of the fusion around it.
    pub place: Option<Place>,
}

impl Product {
    /// A multiply-add counts 2.
    pub fn flops(&self) -> f64 {
        2.0 * self.rows * self.inner * self.columns
    }

    /// The part of a matrix unit's work that is useful where rows go in eights, and the rest in 128s.
    pub fn fill(&self) -> f64 {
        let part = |n: f64, unit: f64| n / ((n / unit).ceil() * unit).max(1.0);
        part(self.rows, 8.0) * part(self.inner, 128.0) * part(self.columns, 128.0)
    }
}

impl Work {
    pub fn flops(&self) -> f64 {
        self.other + self.products.iter().map(Product::flops).sum::<f64>()
    }

    fn add(&mut self, more: Work) {
        self.products.extend(more.products);
        self.other += more.other;
    }
}

/// The work of an instruction, that of the computation it is fused of included.
pub(super) fn work(module: &Module, inside: &Computation, instruction: &Instruction) -> Work {
    if instruction.op == "fusion" {
        let mut sum = Work::default();
        if let Some(fused) = module.called(instruction, "calls") {
            let all = fused.instructions.iter();
            all.for_each(|i| sum.add(work(module, fused, i)));
        }
        return sum;
    }
    let operand = |n: usize| operand_shape(inside, instruction, n);
    let elements = |shape: Option<&ArrayShape>| shape.map_or(0, ArrayShape::numel) as f64;
    let made = elements(instruction.shape.arrays().first().copied());
    let other = |other: f64| Work {
        other,
        ..Work::default()
    };
    match instruction.op.as_str() {
        "convolution" | "dot" => Work {
            products: product(instruction, operand(0), operand(1))
                .into_iter()
                .collect(),
            ..Work::default()
        },
        "reduce" => other(elements(operand(0))),
        "reduce-window" => other(made * window(instruction, "size").iter().product::<i64>() as f64),
        "sort" => {
            let n = elements(operand(0));
            other(n * n.max(2.0).log2())
        }
        name if MOVES.contains(&name) => Work::default(),
        _ => other(made),
    }
}

/// Operations that move or name values and compute none.
const MOVES: [&str; 31] = [
    "add-dependency",
    "after-all",
    "bitcast",
    "bitcast-convert",
    "broadcast",
    "call",
    "concatenate",
    "conditional",
    "constant",
    "copy",
    "copy-done",
    "copy-start",
    "custom-call",
    "domain",
    "dynamic-slice",
    "dynamic-update-slice",
    "gather",
    "get-tuple-element",
    "iota",
    "opt-barrier",
    "pad",
    "parameter",
    "partition-id",
    "replica-id",
    "reshape",
    "reverse",
    "slice",
    "transpose",
    "tuple",
    "while",
    "async-start",
];

/// The type of an operand that is an array.
pub(super) fn operand_shape<'m>(
    inside: &'m Computation,
    instruction: &Instruction,
    n: usize,
) -> Option<&'m ArrayShape> {
    let operand = instruction.operands.get(n)?;
    match inside.find(&operand.name)?.shape.part(operand.part) {
        Shape::Array(array) => Some(array),
        Shape::Tuple(_) => None,
    }
}

fn product(
    instruction: &Instruction,
    left: Option<&ArrayShape>,
    right: Option<&ArrayShape>,
) -> Option<Product> {
    let out = instruction.shape.arrays().into_iter().next()?;
    let (left, right) = (left?, right?);
    let (rows, inner, columns) = match instruction.op.as_str() {
        "dot" => dot(instruction, left, right)?,
        _ => convolution(instruction, left, right, out)?,
    };
    let precision = instruction.attribute("operand_precision").unwrap_or("");
    let wide = left.element == "f32" || right.element == "f32";
    let passes = match (wide, precision) {
        (true, p) if p.contains("highest") => 6,
        (true, p) if p.contains("high") => 3,
        _ => 1,
    };
    Some(Product {
        rows,
        inner,
        columns,
        element: left.element.clone(),
        passes,
        place: instruction.place(),
    })
}

fn dot(
    instruction: &Instruction,
    left: &ArrayShape,
    right: &ArrayShape,
) -> Option<(f64, f64, f64)> {
    let contracting = list(instruction.attribute("lhs_contracting_dims").unwrap_or(""));
    let batch = list(instruction.attribute("lhs_batch_dims").unwrap_or(""));
    let size = |dims: &[i64]| -> Option<f64> {
        let sizes = dims.iter().map(|&d| left.dims.get(d as usize));
        sizes.map(|s| s.map(|&s| s as f64)).product()
    };
    let (inner, batch) = (size(&contracting)?, size(&batch)?);
    let rows = left.numel() as f64 / inner.max(1.0);
    let columns = right.numel() as f64 / (inner * batch).max(1.0);
    Some((rows, inner, columns))
}

/// Compilers write batches of products as convolutions whose windows are dilated and padded, so that what counts are
/// the positions at which a window meets an element.
fn convolution(
    instruction: &Instruction,
    left: &ArrayShape,
    right: &ArrayShape,
    out: &ArrayShape,
) -> Option<(f64, f64, f64)> {
    let (input, rest) = instruction.attribute("dim_labels")?.split_once('_')?;
    let (kernel, output) = rest.split_once("->")?;
    let dim = |labels: &str, label: char, shape: &ArrayShape| {
        shape.dims.get(labels.find(label)?).map(|&d| d as f64)
    };
    let columns = dim(output, 'f', out)?;
    let groups = instruction.attribute("batch_group_count");
    let groups: f64 = groups.and_then(|g| g.parse().ok()).unwrap_or(1.0);
    let mut inner = dim(kernel, 'i', right)? / groups;
    let [sizes, strides, pads, lhs, rhs] = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate"]
        .map(|field| window(instruction, field));
    let rows = out.numel() as f64 / columns.max(1.0);
    for (d, &size) in sizes.iter().enumerate() {
        let label = char::from_digit(d as u32, 10)?;
        let (from, to) = (
            dim(input, label, left)? as i64,
            dim(output, label, out)? as i64,
        );
        let of = |field: &[i64], default| field.get(d).copied().unwrap_or(default);
        // Padding comes in pairs.
        let pad = pads.get(2 * d).copied().unwrap_or(0);
        let (stride, lhs, rhs) = (of(&strides, 1), of(&lhs, 1), of(&rhs, 1));
        let met = meetings(from, to, [size, stride, pad, lhs, rhs]);
        inner *= met as f64 / to.max(1) as f64;
    }
    Some((rows, inner, columns))
}

/// How many pairs of an output position and a window position read an element rather than padding or a hole.
fn meetings(from: i64, to: i64, [size, stride, pad, lhs, rhs]: [i64; 5]) -> i64 {
    let last = (from - 1) * lhs;
    let met = |o: i64| {
        let reads = (0..size).map(move |k| o * stride + k * rhs - pad);
        reads
            .filter(|&at| at >= 0 && at <= last && at % lhs == 0)
            .count() as i64
    };
    // Where everything is dense and inside, no position needs to be looked at.
    if pad == 0 && lhs == 1 && (to - 1) * stride + (size - 1) * rhs <= last {
        return to * size;
    }
    (0..to).map(met).sum()
}

/// A field of the window, such as `size` of `window={size=3x3 pad=1_1x1_1}`.
fn window(instruction: &Instruction, field: &str) -> Vec<i64> {
    let text = instruction.attribute("window").unwrap_or("");
    let fields = text.trim_matches(['{', '}']).split(' ');
    let mut fields = fields.filter_map(|f| f.split_once('='));
    fields
        .find(|(name, _)| *name == field)
        .map_or(Vec::new(), |(_, value)| list(value))
}

fn list(text: &str) -> Vec<i64> {
    let parts = text.trim_matches(['{', '}']).split([',', 'x', '_']);
    parts.filter_map(|part| part.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &str) -> Work {
        let text = format!("ENTRY %m () -> f32[] {{\n{lines}\n}}\n");
        let module = Module::parse(&text).unwrap();
        let entry = module.entry();
        work(&module, entry, entry.root().unwrap())
    }

    #[test]
    fn products_are_measured_however_they_are_written() {
        let dot = of(
            "  %a = f32[5,2,3]{2,1,0} parameter(0)\n  %b = f32[5,3,4]{2,1,0} parameter(1)\n  \
             ROOT %d = f32[5,2,4]{2,1,0} dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, \
             rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={highest,highest}",
        );
        let p = &dot.products[0];
        assert_eq!((p.rows, p.inner, p.columns, p.passes), (10.0, 3.0, 4.0, 6));
        assert_eq!(dot.flops(), 240.0);
        let plain = of(
            "  %a = bf16[128,784]{1,0} parameter(0)\n  %b = bf16[784,256]{1,0} parameter(1)\n  \
             ROOT %c = f32[128,256]{1,0} convolution(%a, %b), dim_labels=bf_io->bf",
        );
        assert_eq!(plain.flops(), 2.0 * 128.0 * 784.0 * 256.0);
        // Four products of 2×3 by 3×5, the batch as a dilated dimension of space.
        let batch = of(
            "  %a = f32[2,4,3]{2,1,0} parameter(0)\n  %b = f32[4,3,5]{2,1,0} parameter(1)\n  \
             ROOT %c = f32[2,4,5]{2,1,0} convolution(%a, %b), window={size=4 stride=3 pad=0_0 lhs_dilate=4}, \
             dim_labels=b0f_0io->b0f",
        );
        assert_eq!(batch.flops(), 4.0 * 2.0 * 2.0 * 3.0 * 5.0);
        // A 3×3 window over 4×4 with padding 1 meets 10 of 12 positions in each direction.
        let image = of(
            "  %a = f32[1,4,4,2]{3,2,1,0} parameter(0)\n  %b = f32[3,3,2,7]{3,2,1,0} parameter(1)\n  \
             ROOT %c = f32[1,4,4,7]{3,2,1,0} convolution(%a, %b), window={size=3x3 pad=1_1x1_1}, \
             dim_labels=b01f_01io->b01f",
        );
        assert!((image.flops() - 2.0 * 100.0 * 2.0 * 7.0).abs() < 1e-9);
    }

    #[test]
    fn a_product_in_a_fusion_keeps_its_own_line() {
        let text = "%fused (a: f32[8,8]) -> f32[8,8] {\n  %a = f32[8,8]{1,0} parameter(0)\n\
            \x20 %c = f32[8,8]{1,0} convolution(%a, %a), dim_labels=bf_io->bf, \
            metadata={source_file=\"a.tl\" source_line=4}\n\
            \x20 ROOT %r = f32[8,8]{1,0} tanh(%c), metadata={source_file=\"a.tl\" source_line=5}\n}\n\
            ENTRY %m (x: f32[8,8]) -> f32[8,8] {\n  %x = f32[8,8]{1,0} parameter(0)\n\
            \x20 ROOT %f = f32[8,8]{1,0} fusion(%x), kind=kOutput, calls=%fused, \
            metadata={source_file=\"a.tl\" source_line=5}\n}\n";
        let module = Module::parse(text).unwrap();
        let entry = module.entry();
        let work = work(&module, entry, entry.root().unwrap());
        let place = work.products[0].place.as_ref();
        assert_eq!(place.map(|p| p.line), Some(4));
    }

    #[test]
    fn what_does_not_fill_the_unit_is_known() {
        let product = |rows, inner, columns| Product {
            rows,
            inner,
            columns,
            element: "f32".into(),
            passes: 1,
            place: None,
        };
        assert_eq!(product(128.0, 256.0, 128.0).fill(), 1.0);
        assert_eq!(product(128.0, 256.0, 10.0).fill(), 10.0 / 128.0);
        assert_eq!(product(4.0, 128.0, 128.0).fill(), 0.5);
    }

    #[test]
    fn other_work_is_counted_by_elements() {
        let operand = "  %a = f32[4,6]{1,0} parameter(0)\n  ROOT %r = ";
        let flops = |root: &str| of(&format!("{operand}{root}")).flops();
        assert_eq!(flops("f32[4,6]{1,0} add(%a, %a)"), 24.0);
        assert_eq!(flops("f32[4]{0} reduce(%a, %a), dimensions={1}"), 24.0);
        assert_eq!(flops("f32[6,4]{1,0} transpose(%a), dimensions={1,0}"), 0.0);
        assert_eq!(
            flops("f32[4,6]{1,0} reduce-window(%a, %a), window={size=1x3 pad=0_0x1_1}"),
            72.0
        );
    }
}
