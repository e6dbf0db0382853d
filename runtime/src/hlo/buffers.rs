//! The buffers of a compiled program, from the compiler's report on them.

use std::collections::BTreeMap;

/// A buffer in the main memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub bytes: u64,
    pub role: Role,
    /// The instruction whose value it holds; of several the first.
    pub value: String,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The argument of this number; a result may take its place.
    Argument(usize),
    Result,
    Temporary,
}

/// The buffers of at least so many bytes, the largest first. Temporaries that follow each other in one place count as
/// one, the largest. Empty where the text has another form.
pub fn buffers(report: &str, at_least: u64) -> Vec<Buffer> {
    let mut found: Vec<Buffer> = Vec::new();
    // The temporaries of one allocation, by where they begin in it.
    let mut temporaries: BTreeMap<u64, Buffer> = BTreeMap::new();
    let mut role = None;
    for line in report.lines() {
        if let Some(rest) = line.strip_prefix("allocation ") {
            role = role_of(rest);
        } else if let (Some(role), Some(value)) = (role, line.strip_prefix(" value: <"))
            && let Some((buffer, offset)) = value_of(value, role)
        {
            let slot = match role {
                Role::Temporary => temporaries.entry(offset).or_insert_with(|| buffer.clone()),
                Role::Argument(_) | Role::Result => {
                    if found
                        .last()
                        .is_some_and(|last| last.role == role && role != Role::Result)
                    {
                        continue;
                    }
                    found.push(buffer);
                    continue;
                }
            };
            if slot.bytes < buffer.bytes {
                *slot = buffer;
            }
        }
    }
    found.extend(temporaries.into_values());
    found.retain(|b| b.bytes >= at_least);
    found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.role.cmp(&b.role)));
    found
}

/// `1: size 512, page 0, parameter 5, …`; nothing for what lies elsewhere than in the main memory.
fn role_of(allocation: &str) -> Option<Role> {
    let (_, rest) = allocation.split_once(": ")?;
    if rest.contains(", color ") {
        return None;
    }
    if let Some((_, rest)) = rest.split_once(", parameter ") {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        return rest[..end].parse().ok().map(Role::Argument);
    }
    if rest.contains("preallocated-temp") {
        return Some(Role::Temporary);
    }
    rest.contains("maybe-live-out").then_some(Role::Result)
}

/// `54 add.86 @0> (size=4096,offset=0): s32[]`
fn value_of(text: &str, role: Role) -> Option<(Buffer, u64)> {
    let number = |name: &str| -> Option<u64> {
        let (_, rest) = text.split_once(name)?;
        rest[..rest.find([',', ')'])?].parse().ok()
    };
    let name = text.split(' ').nth(1)?;
    let buffer = Buffer {
        bytes: number("(size=")?,
        role,
        value: name.split('{').next()?.to_owned(),
    };
    Some((buffer, number("offset=")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let text = "BufferAssignment:\n\
            allocation 0: size 4096, page 0, thread-local:\n value: <5 add.8 @0> (size=4096,offset=0): s32[]\n\
            allocation 1: size 800, page 0, parameter 15, shape |f32[20,10]| at ShapeIndex {}, maybe-live-out:\n \
            value: <52 Arg_15.1 @0> (size=800,offset=0): f32[20,10]\n \
            value: <53 copy-start.2{0} @0> (size=800,offset=0): f32[20,10]\n\
            allocation 2: size 99, color 1, page 0, preallocated-temp:\n value: <7 x @1> (size=99,offset=0): f32[9]\n\
            allocation 3: size 900, page 0, preallocated-temp:\n \
            value: <8 small @0> (size=100,offset=0): f32[9]\n value: <9 while.3{1} (phi) @0> (size=600,offset=0): f32[9]\n \
            value: <10 other @0> (size=300,offset=600): f32[9]\n\
            allocation 4: size 512, page 0, maybe-live-out:\n value: <11 out @0> (size=512,offset=0): f32[]\n";
        let found: Vec<(u64, Role, String)> = buffers(text, 200)
            .into_iter()
            .map(|b| (b.bytes, b.role, b.value))
            .collect();
        let expected = [
            (800, Role::Argument(15), "Arg_15.1"),
            (600, Role::Temporary, "while.3"),
            (512, Role::Result, "out"),
            (300, Role::Temporary, "other"),
        ];
        assert_eq!(found, expected.map(|(b, r, v)| (b, r, v.to_owned())));
        assert_eq!(buffers("nothing of the kind", 0), []);
    }
}
