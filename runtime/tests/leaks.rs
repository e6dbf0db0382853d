//! Long runs keep memory flat. A process of its own: the tests of other files would be in its memory too.

mod common;

use std::fs;

use common::{ADD, add_signature, compile, cpu, f32s, signature};
use tpuc_runtime::client::Input;
use tpuc_runtime::host::HostArray;

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[test]
fn ten_thousand_steps_leave_nothing() {
    let client = cpu();
    let add = compile(&client, ADD, add_signature());
    let small = HostArray::from_elements([4], &[1.0f32; 4]).unwrap();
    // Large enough to be used in place, and so to be kept alive by an event.
    const N: usize = 1 << 15;
    let large = HostArray::from_elements([N], &vec![1.0f32; N]).unwrap();
    let code = format!(
        "func.func public @main(%x: tensor<{N}xf32>) -> tensor<f32> {{
           %zero = stablehlo.constant dense<0.0> : tensor<f32>
           %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
             : (tensor<{N}xf32>, tensor<f32>) -> tensor<f32>
           return %sum : tensor<f32>
         }}"
    );
    let sum = compile(&client, &code, signature(&[f32s([N])], &[f32s([])], &[]));

    let step = || {
        let (x, y) = (
            client.upload(&small).unwrap(),
            client.upload(&small).unwrap(),
        );
        assert!(add.execute(vec![Input::Keep(&x)]).is_err());
        let kept = add.execute(vec![Input::Keep(&x), Input::Keep(&y)]).unwrap();
        let out = add
            .execute(vec![Input::Donate(x), Input::Keep(&y)])
            .unwrap();
        out[0].wait().unwrap();
        assert_eq!(kept[0].to_host().unwrap(), out[0].to_host().unwrap());
        let z = client.upload(&large).unwrap();
        let total = sum.execute(vec![Input::Donate(z)]).unwrap();
        assert_eq!(
            total[0].to_host().unwrap().to_vec::<f32>().unwrap(),
            [N as f32]
        );
    };
    // Pools and caches fill first.
    (0..2_000).for_each(|_| step());
    let before = resident();
    (0..10_000).for_each(|_| step());
    let growth = resident().saturating_sub(before);
    // The smallest thing to lose, a ready event, is 28 bytes, or 280 kB in all.
    assert!(growth < 200_000, "memory grew by {growth} bytes");
}
