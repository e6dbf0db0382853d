//! Text and random numbers against what CPython and NumPy gave; the scripts that asked them are in
//! `scripts/reference/`.

use flate2::Crc;
use tpuc_runtime::host::{DType, Scalar};
use tpuc_runtime::numpy_random::permutations;
use tpuc_runtime::print::{FormatSpec, format_scalar};

#[test]
fn permutations_are_numpys() {
    let table = include_str!("reference/numpy_permutations.txt");
    let mut cases = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(' ').collect();
        let [seed, n, count, first, crc] = cells[..] else {
            panic!("a line of the table: {line}");
        };
        let (seed, n, count) = (
            seed.parse().unwrap(),
            n.parse().unwrap(),
            count.parse().unwrap(),
        );
        let array = permutations(seed, n, count).unwrap();
        assert_eq!(array.shape(), [count, n]);
        let last: Vec<String> = array.to_vec::<i32>().unwrap()[(count - 1) * n..]
            .iter()
            .take(5)
            .map(i32::to_string)
            .collect();
        assert_eq!(last.join(","), first.trim_matches('-'), "{line}");
        let mut own = Crc::new();
        own.update(array.bytes());
        assert_eq!(format!("{:08x}", own.sum()), crc, "{line}");
        cases += 1;
    }
    assert_eq!(cases, 80);
}

#[test]
fn a_permutation_too_large_is_refused() {
    assert!(permutations(0, 1 << 31, 1).is_err());
    assert!(permutations(0, 1 << 20, usize::MAX).is_err());
}

#[test]
fn formats_are_pythons() {
    let table = include_str!("reference/python_format.txt");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for line in table.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [kind, value, spec, expected] = cells[..] else {
            panic!("a line of the table: {line}");
        };
        cases += 1;
        if kind == "f16-all" {
            assert_eq!(crc_of_all_f16(), expected);
            continue;
        }
        let (dtype, scalar) = read(kind, value);
        let shown = if matches!(kind, "f64" | "int") {
            FormatSpec::parse(spec)
                .and_then(|spec| spec.format(dtype, scalar))
                .unwrap_or_else(|_| "!".to_owned())
        } else {
            format_scalar(dtype, scalar)
        };
        if shown != expected {
            wrong.push(format!("{line:?}: got {shown:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(cases, 6285);
}

/// Every finite f16 that is not negative, one a line.
fn crc_of_all_f16() -> String {
    let lines: Vec<String> = (0..0x7c00)
        .map(|bits| Scalar::F(half::f16::from_bits(bits).to_f64()))
        .map(|scalar| format_scalar(DType::F16, scalar))
        .collect();
    let mut crc = Crc::new();
    crc.update(lines.join("\n").as_bytes());
    format!("{:08x}", crc.sum())
}

fn read(kind: &str, value: &str) -> (DType, Scalar) {
    let bits = |text| u64::from_str_radix(text, 16).unwrap();
    match kind {
        "f64" => (DType::F64, Scalar::F(f64::from_bits(bits(value)))),
        "f32" => {
            let float = f32::from_bits(bits(value) as u32);
            (DType::F32, Scalar::F(f64::from(float)))
        }
        "f16" => {
            let float = half::f16::from_bits(bits(value) as u16);
            (DType::F16, Scalar::F(float.to_f64()))
        }
        "bf16" => {
            let float = half::bf16::from_bits(bits(value) as u16);
            (DType::BF16, Scalar::F(float.to_f64()))
        }
        _ => match value.parse() {
            Ok(int) => (DType::I64, Scalar::I(int)),
            Err(_) => (DType::U64, Scalar::U(value.parse().unwrap())),
        },
    }
}
