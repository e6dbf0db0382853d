//! What can be read off the HLO text that a plugin's compiler made: the collectives, and the bytes that they move.

/// The collectives of one kind in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Such as `all-reduce`.
    pub kind: &'static str,
    pub count: usize,
    /// Of their results on one device; those in a loop are counted once.
    pub bytes: u64,
}

const KINDS: [&str; 6] = [
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "reduce-scatter",
];

/// The collectives of an HLO module, by kind. A pair of a start and its end is one.
pub fn collectives(hlo: &str) -> Vec<Collective> {
    let mut found: Vec<Collective> = Vec::new();
    for line in hlo.lines() {
        let Some((result, call)) = instruction(line) else {
            continue;
        };
        let Some((kind, bytes)) = sent(call, shapes(result).map(shape_bytes)) else {
            continue;
        };
        match found.iter_mut().find(|c| c.kind == kind) {
            Some(c) => {
                c.count += 1;
                c.bytes += bytes;
            }
            None => found.push(Collective {
                kind,
                count: 1,
                bytes,
            }),
        }
    }
    found.sort_by_key(|c| c.kind);
    found
}

/// The kind of a collective, and the bytes of its result on one device; `sizes`: of the arrays of its result.
pub(super) fn sent(op: &str, sizes: impl Iterator<Item = u64>) -> Option<(&'static str, u64)> {
    let name = op.strip_suffix("-start").unwrap_or(op);
    let kind = KINDS.into_iter().find(|&k| k == name)?;
    // The start of an asynchronous one gives its operand beside its result; what it moves is the larger part.
    let bytes = if op.ends_with("-start") && kind != "all-reduce" {
        sizes.max().unwrap_or(0)
    } else {
        sizes.sum()
    };
    Some((kind, bytes))
}

/// The type of the result and the name of the operation of a line `%x = f32[2]{0} name(…)`.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let (_, right) = line.split_once(" = ")?;
    let end = if right.starts_with('(') {
        // A tuple; layouts in it have parentheses of their own.
        let mut depth = 0;
        right.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        })? + 1
    } else {
        right.find(' ')?
    };
    let (result, rest) = right.split_at(end);
    let (name, _) = rest.trim_start().split_once('(')?;
    Some((result, name))
}

/// The array types in the type of a result: `f32[2,3]` of `(f32[2,3]{1,0}, s32[])`.
fn shapes(result: &str) -> impl Iterator<Item = (&str, &str)> {
    result.split(']').filter_map(|part| {
        let (before, dims) = part.rsplit_once('[')?;
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric());
        Some((&before[start.map_or(0, |i| i + 1)..], dims))
    })
}

fn shape_bytes((element, dims): (&str, &str)) -> u64 {
    let digits: String = element
        .trim_start_matches(|c: char| !c.is_ascii_digit())
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let bits: u64 = if element == "pred" {
        8
    } else {
        digits.parse().unwrap_or(0)
    };
    let sizes = dims.split(',').filter(|d| !d.is_empty());
    let count: u64 = sizes
        .map(|d| d.trim_start_matches("<=").parse().unwrap_or(1))
        .product();
    count * bits / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_counted_with_their_bytes() {
        let hlo = "HloModule step\n\
            ENTRY %main (p: f32[8,4]) -> f32[4] {\n\
            \x20 %p = f32[8,4]{1,0} parameter(0)\n\
            \x20 %all-reduce.1 = f32[16,4]{1,0} all-reduce(%p), channel_id=1, to_apply=%add\n\
            \x20 %ar.2 = (f32[16]{0:T(8)}, bf16[3]{0}, pred[]) all-reduce(%a, %b, %c), to_apply=%add\n\
            \x20 %g = (s32[4]{0}, s32[16]{0}) all-gather-start(s32[4]{0} %x), dimensions={0}\n\
            \x20 ROOT %d = s32[16]{0} all-gather-done(%g)\n\
            \x20 %n = f32[4]{0} fusion(%all-reduce.1), calls=%all-gather\n}\n";
        let of = |kind, count, bytes| Collective { kind, count, bytes };
        let expected = [
            of("all-gather", 1, 64),
            of("all-reduce", 2, 256 + 64 + 6 + 1),
        ];
        assert_eq!(collectives(hlo), expected);
        assert_eq!(collectives("ENTRY %main { }"), []);
    }
}
