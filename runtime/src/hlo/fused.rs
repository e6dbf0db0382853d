//! What an instruction reads from the main memory and writes to it: of a large array it may touch only a part.

use super::module::{Computation, Instruction, Module};
use super::shape::Shape;

/// Bytes that go through the main memory, padding included.
pub(super) fn traffic(module: &Module, inside: &Computation, instruction: &Instruction) -> u64 {
    let read: u64 = (0..instruction.operands.len())
        .map(|n| read(module, inside, instruction, n))
        .sum();
    read + written(module, inside, instruction)
}

/// What is read of operand `n`.
fn read(module: &Module, inside: &Computation, instruction: &Instruction, n: usize) -> u64 {
    let operand = &instruction.operands[n];
    let Some(source) = inside.find(&operand.name) else {
        return 0;
    };
    let whole = source.shape.part(operand.part).main_bytes();
    if whole == 0 {
        return 0;
    }
    match touched(module, instruction, n) {
        Touch::All => whole,
        Touch::Bytes(part) => part.min(whole),
    }
}

enum Touch {
    All,
    Bytes(u64),
}

/// How much of its operand `n` an instruction looks at.
fn touched(module: &Module, instruction: &Instruction, n: usize) -> Touch {
    match (instruction.op.as_str(), n) {
        ("dynamic-slice" | "slice" | "gather", 0) => Touch::Bytes(dense(&instruction.shape)),
        // It is changed in place: what is overwritten is not read.
        ("dynamic-update-slice" | "scatter", 0) => Touch::Bytes(0),
        ("fusion", _) => {
            let fused = module.called(instruction, "calls");
            match fused.and_then(|f| Some((f, f.parameter(n)?))) {
                Some((fused, parameter)) => touched_by_users(module, fused, &parameter.name),
                None => Touch::All,
            }
        }
        _ => Touch::All,
    }
}

fn touched_by_users(module: &Module, inside: &Computation, name: &str) -> Touch {
    let mut sum = 0;
    for user in &inside.instructions {
        for (n, operand) in user.operands.iter().enumerate() {
            if operand.name != name {
                continue;
            }
            let touch = match user.op.as_str() {
                "bitcast" => touched_by_users(module, inside, &user.name),
                _ => touched(module, user, n),
            };
            match touch {
                Touch::All => return Touch::All,
                Touch::Bytes(bytes) => sum += bytes,
            }
        }
    }
    Touch::Bytes(sum)
}

/// What is written of the results.
fn written(module: &Module, inside: &Computation, instruction: &Instruction) -> u64 {
    let whole = instruction.shape.main_bytes();
    if whole == 0 {
        return 0;
    }
    match instruction.op.as_str() {
        "fusion" => match module.called(instruction, "calls") {
            Some(fused) => match fused.root() {
                Some(root) if root.op == "tuple" => {
                    let parts = instruction.shape.arrays().into_iter().zip(&root.operands);
                    parts
                        .filter(|(array, _)| array.space == 0)
                        .map(|(array, operand)| {
                            let made = fused.find(&operand.name);
                            let update = made.and_then(|i| update(module, fused, i));
                            update.unwrap_or(array.padded_bytes())
                        })
                        .sum()
                }
                Some(root) => update(module, fused, root).map_or(whole, |u| u.min(whole)),
                None => whole,
            },
            None => whole,
        },
        // The start of a copy gives its source and a flag beside what it makes.
        "copy-start" => instruction.shape.part(Some(0)).main_bytes(),
        name if name.ends_with("-start") => instruction
            .shape
            .arrays()
            .iter()
            .filter(|a| a.space == 0)
            .map(|a| a.padded_bytes())
            .max()
            .unwrap_or(0),
        _ => update(module, inside, instruction).map_or(whole, |u| u.min(whole)),
    }
}

/// The bytes of the part that an update in place writes; `None` for what is no such update.
fn update(module: &Module, inside: &Computation, instruction: &Instruction) -> Option<u64> {
    let operand = |n: usize| inside.find(&instruction.operands.get(n)?.name);
    match instruction.op.as_str() {
        "dynamic-update-slice" => Some(dense(&operand(1)?.shape)),
        "scatter" => Some(dense(
            &operand(instruction.operands.len().checked_sub(1)?)?.shape,
        )),
        "bitcast" => update(module, inside, operand(0)?),
        "fusion" => {
            let fused = module.called(instruction, "calls")?;
            update(module, fused, fused.root()?)
        }
        _ => None,
    }
}

/// Bytes of a part of an array in main memory, wherever the part itself is put.
fn dense(shape: &Shape) -> u64 {
    shape.arrays().iter().map(|a| a.bytes()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fused: &str, lines: &str) -> u64 {
        let text = format!("{fused}\nENTRY %m () -> f32[] {{\n{lines}\n}}\n");
        let module = Module::parse(&text).unwrap();
        let entry = module.entry();
        traffic(&module, entry, entry.root().unwrap())
    }

    const BIG: &str = "  %a = f32[1000,8]{1,0} parameter(0)\n  %i = s32[]{:S(6)} parameter(1)\n";

    #[test]
    fn whole_arrays_in_main_memory_are_counted() {
        let add = "  %b = f32[8]{0:S(1)} parameter(0)\n  %c = f32[8]{0} parameter(1)\n  ROOT %r = f32[8]{0} add(%b, %c)";
        assert_eq!(of("", add), 64);
    }

    #[test]
    fn of_a_slice_only_the_part_is_read() {
        let slice = "ROOT %s = f32[1,8]{1,0} dynamic-slice(%a, %i), dynamic_slice_sizes={1,8}";
        assert_eq!(of("", &format!("{BIG}  {slice}")), 64);
        let fused = "%f (p: f32[1000,8], q: s32[]) -> f32[8] {\n  %p = f32[1000,8]{1,0} parameter(0)\n  \
             %q = s32[] parameter(1)\n  %v = f32[8000]{0} bitcast(%p)\n  \
             ROOT %s = f32[8]{0:S(1)} dynamic-slice(%v, %q), dynamic_slice_sizes={8}\n}\n";
        let call = "ROOT %r = f32[8]{0:S(1)} fusion(%a, %i), kind=kLoop, calls=%f";
        assert_eq!(of(fused, &format!("{BIG}  {call}")), 32);
    }

    #[test]
    fn an_update_in_place_writes_the_part() {
        let fused = "%f (p: f32[1000,8], q: s32[]) -> f32[1000,8] {\n  %p = f32[1000,8]{1,0} parameter(0)\n  \
             %q = s32[] parameter(1)\n  %u = f32[1,8]{1,0} constant({...})\n  \
             ROOT %s = f32[1000,8]{1,0} dynamic-update-slice(%p, %u, %q, %q)\n}\n";
        let call = "ROOT %r = f32[1000,8]{1,0} fusion(%a, %i), kind=kLoop, calls=%f";
        assert_eq!(of(fused, &format!("{BIG}  {call}")), 32);
    }

    #[test]
    fn a_copy_to_the_chip_reads() {
        let copy =
            "ROOT %c = (f32[1000,8]{1,0:S(1)}, f32[1000,8]{1,0}, u32[]{:S(2)}) copy-start(%a)";
        assert_eq!(of("", &format!("{BIG}  {copy}")), 32000);
    }
}
