//! What can be read off the HLO text that a plugin's compiler made: the collectives, and the bytes that they move.

use super::module::{Instruction, Module};

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
    let Some(module) = Module::parse(hlo) else {
        return found;
    };
    for instruction in module.computations.iter().flat_map(|c| &c.instructions) {
        let Some((kind, bytes)) = sent(instruction) else {
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

/// The kind of a collective, and the bytes of its result on one device.
pub(super) fn sent(instruction: &Instruction) -> Option<(&'static str, u64)> {
    let op = &instruction.op;
    let name = op.strip_suffix("-start").unwrap_or(op);
    let kind = KINDS.into_iter().find(|&k| k == name)?;
    let arrays = instruction.shape.arrays();
    let sizes = arrays.iter().map(|a| a.bytes());
    // The start of an asynchronous one gives its operand beside its result; what it moves is the larger part.
    let bytes = if op.ends_with("-start") && kind != "all-reduce" {
        sizes.max().unwrap_or(0)
    } else {
        sizes.sum()
    };
    Some((kind, bytes))
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
