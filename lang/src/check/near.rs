//! The nearest of the known names to a misspelt one.

/// What something called so in Python or C++ is here.
pub fn elsewhere(name: &str) -> Option<String> {
    let here = match name {
        "float" | "float32" => "f32",
        "double" | "float64" => "f64",
        "half" | "float16" => "f16",
        "bfloat16" => "bf16",
        "int" | "int32" => "i32",
        "long" | "int64" => "i64",
        "int8" => "i8",
        "int16" => "i16",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "bool_" | "boolean" => "bool",
        "None" => "none",
        "len" => "shape",
        _ => return None,
    };
    Some(here.to_string())
}

/// The best candidate within a third of the length of the name, at least one edit; `None` if nothing is near.
pub fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let limit = match name.chars().count() {
        // Of names this short everything is near.
        0 | 1 => 0,
        n => (n / 3).clamp(1, 3),
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let same_letters = candidate.eq_ignore_ascii_case(name);
        let distance = if same_letters {
            0
        } else {
            edits(name, candidate, limit)
        };
        let better = match best {
            Some((d, c)) => (distance, candidate) < (d, c),
            None => true,
        };
        if distance <= limit && candidate != name && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, c)| c.to_string())
}

/// Edit distance with swaps of neighbours; anything above `limit` may be returned as `limit + 1`.
fn edits(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut d = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn offers_what_was_meant() {
        let known = ["relu", "reshape", "accuracy", "params", "w1"];
        let offered = |name| near(name, known.iter().copied());
        assert_eq!(offered("rleu").as_deref(), Some("relu"));
        assert_eq!(offered("acuracy").as_deref(), Some("accuracy"));
        assert_eq!(offered("Params").as_deref(), Some("params"));
        assert_eq!(offered("w2").as_deref(), Some("w1"));
        assert_eq!(offered("dataset"), None);
    }
}
