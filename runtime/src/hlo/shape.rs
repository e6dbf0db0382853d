//! The types of HLO values, with how they lie in memory: `f32[128,784]{1,0:T(8,128)S(1)}`.

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Array(ArrayShape),
    Tuple(Vec<Shape>),
}

/// An array, with its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayShape {
    /// Such as `f32` or `pred`.
    pub element: String,
    pub dims: Vec<u64>,
    /// The dimensions from the one whose neighbours lie side by side outwards.
    pub minor_to_major: Vec<usize>,
    /// Of the first level of tiling, over the minor dimensions, the most minor last; empty where there is none.
    pub tile: Vec<u64>,
    /// 0 is the device's main memory; others are on the chip, or the host's.
    pub space: u32,
}

impl Shape {
    /// Reads a type from the beginning of a text; gives the rest.
    pub(super) fn parse(text: &str) -> Option<(Shape, &str)> {
        let Some(mut rest) = text.strip_prefix('(') else {
            let (array, rest) = ArrayShape::parse(text)?;
            return Some((Shape::Array(array), rest));
        };
        let mut parts = Vec::new();
        loop {
            rest = rest.trim_start_matches([',', ' ']);
            // Long tuples are numbered: `/*index=5*/`.
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/")?.1;
                continue;
            }
            if let Some(rest) = rest.strip_prefix(')') {
                return Some((Shape::Tuple(parts), rest));
            }
            let (part, after) = Shape::parse(rest)?;
            parts.push(part);
            rest = after;
        }
    }

    /// The arrays, in their order.
    pub fn arrays(&self) -> Vec<&ArrayShape> {
        match self {
            Shape::Array(array) => vec![array],
            Shape::Tuple(parts) => parts.iter().flat_map(Shape::arrays).collect(),
        }
    }

    /// The part of a tuple; the type itself where it is none.
    pub fn part(&self, index: Option<usize>) -> &Shape {
        match (self, index) {
            (Shape::Tuple(parts), Some(i)) => parts.get(i).unwrap_or(self),
            (Shape::Tuple(_) | Shape::Array(_), _) => self,
        }
    }

    /// What its arrays take of the main memory, padding included.
    pub fn main_bytes(&self) -> u64 {
        let main = self.arrays().into_iter().filter(|a| a.space == 0);
        main.map(ArrayShape::padded_bytes).sum()
    }
}

impl ArrayShape {
    fn parse(text: &str) -> Option<(ArrayShape, &str)> {
        let (element, rest) = text.split_once('[')?;
        if element.is_empty() || !element.bytes().all(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        let (dims, rest) = rest.split_once(']')?;
        let dims: Option<Vec<u64>> = numbers(dims).collect();
        let mut shape = ArrayShape {
            element: element.to_owned(),
            dims: dims?,
            ..ArrayShape::default()
        };
        let Some(layout) = rest.strip_prefix('{') else {
            return Some((shape, rest));
        };
        let (layout, rest) = layout.split_once('}')?;
        let (order, tiling) = layout.split_once(':').unwrap_or((layout, ""));
        shape.minor_to_major = numbers(order).flatten().map(|d| d as usize).collect();
        let group = |name| {
            let (_, inside) = tiling.split_once(name)?;
            Some(inside.split_once(')')?.0)
        };
        shape.tile = group("T(").map_or(Vec::new(), |t| numbers(t).flatten().collect());
        shape.space = group("S(").and_then(|s| s.parse().ok()).unwrap_or(0);
        Some((shape, rest))
    }

    /// Bits of an element; 0 for what is no number (tokens).
    pub fn bits(&self) -> u64 {
        if self.element == "pred" {
            return 8;
        }
        let name = self
            .element
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }

    pub fn numel(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Without padding.
    pub fn bytes(&self) -> u64 {
        self.numel() * self.bits() / 8
    }

    /// With the padding of its tiles.
    pub fn padded_bytes(&self) -> u64 {
        let order = self.minor_to_major.iter();
        let mut sizes: Vec<u64> = order.filter_map(|&d| self.dims.get(d).copied()).collect();
        if sizes.len() != self.dims.len() {
            return self.bytes();
        }
        let tile: Vec<u64> = self.tile.iter().rev().copied().collect();
        sizes.resize(sizes.len().max(tile.len()), 1);
        for (size, tile) in sizes.iter_mut().zip(tile) {
            *size = size.next_multiple_of(tile.max(1));
        }
        sizes.iter().product::<u64>() * self.bits() / 8
    }
}

impl std::fmt::Display for ArrayShape {
    /// As the language writes it: `f32[128, 784]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let element = match self.element.as_str() {
            "pred" => "bool".to_owned(),
            name => match name.strip_prefix('s') {
                Some(bits) => format!("i{bits}"),
                None => name.to_owned(),
            },
        };
        let dims: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{element}[{}]", dims.join(", "))
    }
}

/// The numbers of a list; `<=` says that a dimension has at most that size.
fn numbers(list: &str) -> impl Iterator<Item = Option<u64>> {
    let parts = list.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| p.trim_start_matches("<=").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Shape {
        let (shape, rest) = Shape::parse(text).unwrap();
        assert_eq!(rest, "");
        shape
    }

    #[test]
    fn arrays_and_tuples_are_read_with_their_layouts() {
        let Shape::Array(a) = parse("bf16[60000,784]{0,1:T(8,128)(2,1)S(1)}") else {
            panic!("no array");
        };
        assert_eq!(a.dims, [60000, 784]);
        assert_eq!(a.minor_to_major, [0, 1]);
        assert_eq!(a.tile, [8, 128]);
        assert_eq!((a.space, a.bits()), (1, 16));
        assert_eq!(a.to_string(), "bf16[60000, 784]");
        let t = parse("(s32[]{:T(128)}, f32[<=4]{0}, /*index=2*/(pred[2], token[]))");
        let arrays: Vec<String> = t.arrays().iter().map(ToString::to_string).collect();
        assert_eq!(arrays, ["i32[]", "f32[4]", "bool[2]", "token[]"]);
        for bad in ["", "f32", "f32[2", "(f32[2]", "[2]", "f 2[3]"] {
            assert_eq!(Shape::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn tiles_pad_the_minor_dimensions() {
        let padded = |text: &str| parse(text).main_bytes();
        // The layout makes the 784 rows the minor dimension: 60000 to 60032, 784 is a multiple of 8.
        assert_eq!(padded("f32[60000,784]{0,1:T(8,128)}"), 60032 * 784 * 4);
        assert_eq!(padded("f32[10]{0:T(128)}"), 512);
        assert_eq!(padded("f32[]{:T(128)}"), 512);
        assert_eq!(padded("bf16[128,10]{1,0:T(8,128)(2,1)}"), 128 * 128 * 2);
        assert_eq!(padded("f32[3]{0}"), 12);
        assert_eq!(padded("f32[3]"), 12);
        assert_eq!(padded("(f32[3]{0:S(1)}, f32[2]{0})"), 8);
    }
}
