//! Whole programs on the CPU plugin: values, donation, loops, and what is refused before the call.

mod common;

use common::{ADD, add_signature, compile, cpu, cpu_plugin, f32s, i32s, signature};
use tpuc_runtime::Error;
use tpuc_runtime::client::{
    Buffer, Client, ClientOptions, CompileOptions, Input, Signature, Upload,
};
use tpuc_runtime::error::{ProgramError, ValueError};
use tpuc_runtime::host::{Element, HostArray, Placement};

fn upload<T: Element>(client: &Client, shape: &[usize], elements: &[T]) -> Buffer {
    let array = HostArray::from_elements(shape, elements).unwrap();
    client.upload(&array).unwrap()
}

fn fetch(buffer: &Buffer) -> Vec<f32> {
    buffer.to_host().unwrap().to_vec().unwrap()
}

#[test]
fn a_program_runs_and_its_arguments_stay() {
    let client = cpu();
    let add = compile(&client, ADD, add_signature());
    let x = upload(&client, &[4], &[1.0f32, 2.0, 3.0, 4.0]);
    let y = upload(&client, &[4], &[10.0f32, 20.0, 30.0, 40.0]);
    for _ in 0..2 {
        let out = add.execute(vec![Input::Keep(&x), Input::Keep(&y)]).unwrap();
        assert_eq!(fetch(&out[0]), [11.0, 22.0, 33.0, 44.0]);
    }
    assert_eq!(fetch(&x), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_donated_argument_is_taken_and_its_memory_reused() {
    let client = cpu();
    let add = compile(&client, ADD, add_signature());
    let memory = add.memory().unwrap();
    assert_eq!(
        (memory.arguments, memory.outputs, memory.aliased),
        (32, 16, 16)
    );
    let y = upload(&client, &[4], &[1.0f32; 4]);
    let mut x = upload(&client, &[4], &[0.0f32; 4]);
    for _ in 0..1000 {
        let out = add
            .execute(vec![Input::Donate(x), Input::Keep(&y)])
            .unwrap();
        x = out.into_iter().next().unwrap();
    }
    assert_eq!(fetch(&x), [1000.0; 4]);
}

#[test]
fn large_uploads_are_used_in_place_and_outlive_their_array() {
    let client = cpu();
    const N: usize = 1 << 20;
    let code = format!(
        "func.func public @main(%x: tensor<{N}xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<{N}xf32> {{
           %0 = stablehlo.add %x, %x : tensor<{N}xf32>
           return %0 : tensor<{N}xf32>
         }}"
    );
    let double = compile(&client, &code, signature(&[f32s([N])], &[f32s([N])], &[0]));
    let elements: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let array = HostArray::from_elements([N], &elements).unwrap();
    let kept = client.upload(&array).unwrap();
    let given = client.upload(&array).unwrap();
    // A donated buffer must not write into the array, which others still read.
    let out = double.execute(vec![Input::Donate(given)]).unwrap();
    assert_eq!(fetch(&out[0])[N - 1], 2.0 * (N - 1) as f32);
    assert_eq!(array.to_vec::<f32>().unwrap(), elements);
    drop(array);
    assert_eq!(fetch(&kept), elements);
}

#[test]
fn a_while_loop_runs_and_may_read_values_from_outside() {
    let client = cpu();
    // `%step` and `%limit` are not carried: the regions capture them.
    let code = r#"
      func.func public @main(%step: tensor<f32>, %limit: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %start = stablehlo.constant dense<0.0> : tensor<f32>
        %out:2 = stablehlo.while(%i = %zero, %sum = %start) : tensor<i32>, tensor<f32>
          cond {
            %more = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %more : tensor<i1>
          } do {
            %next = stablehlo.add %i, %one : tensor<i32>
            %added = stablehlo.add %sum, %step : tensor<f32>
            stablehlo.return %next, %added : tensor<i32>, tensor<f32>
          }
        return %out#0, %out#1 : tensor<i32>, tensor<f32>
      }
    "#;
    let types = signature(&[f32s([]), i32s([])], &[i32s([]), f32s([])], &[]);
    let program = compile(&client, code, types);
    let step = upload(&client, &[], &[0.5f32]);
    let limit = upload(&client, &[], &[10i32]);
    let out = program
        .execute(vec![Input::Keep(&step), Input::Keep(&limit)])
        .unwrap();
    assert_eq!(out[0].to_host().unwrap().to_vec::<i32>().unwrap(), [10]);
    assert_eq!(fetch(&out[1]), [5.0]);
}

#[test]
fn branches_may_read_values_from_outside() {
    let client = cpu();
    let code = r#"
      func.func public @main(%which: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
        %out = "stablehlo.if"(%which) ({
          %a = stablehlo.add %x, %x : tensor<3xf32>
          stablehlo.return %a : tensor<3xf32>
        }, {
          %b = stablehlo.negate %x : tensor<3xf32>
          stablehlo.return %b : tensor<3xf32>
        }) : (tensor<i1>) -> tensor<3xf32>
        return %out : tensor<3xf32>
      }
    "#;
    let bool = tpuc_runtime::host::TensorSpec::new(tpuc_runtime::host::DType::Bool, []);
    let program = compile(
        &client,
        code,
        signature(&[bool, f32s([3])], &[f32s([3])], &[]),
    );
    let x = upload(&client, &[3], &[1.0f32, 2.0, 3.0]);
    for (which, expected) in [(true, [2.0, 4.0, 6.0]), (false, [-1.0, -2.0, -3.0])] {
        let which = upload(&client, &[], &[which]);
        let out = program
            .execute(vec![Input::Keep(&which), Input::Keep(&x)])
            .unwrap();
        assert_eq!(fetch(&out[0]), expected);
    }
}

#[test]
fn wrong_arguments_are_refused_before_the_call() {
    let client = cpu();
    let add = compile(&client, ADD, add_signature());
    let x = upload(&client, &[4], &[1.0f32; 4]);
    // Same bytes, other shape and other type: plugins take these in silence.
    let square = upload(&client, &[2, 2], &[1.0f32; 4]);
    let ints = upload(&client, &[4], &[1i32; 4]);
    let run = |inputs: Vec<Input<'_>>| add.execute(inputs).map(|_| ()).unwrap_err();

    let few = run(vec![Input::Keep(&x)]);
    assert!(matches!(
        few,
        Error::Program(ProgramError::ArgumentCount {
            expected: 2,
            found: 1,
            ..
        })
    ));
    let shape = run(vec![Input::Keep(&x), Input::Keep(&square)]);
    assert!(matches!(
        shape,
        Error::Program(ProgramError::ArgumentType { index: 1, .. })
    ));
    let kind = run(vec![Input::Keep(&ints), Input::Keep(&x)]);
    assert!(matches!(
        kind,
        Error::Program(ProgramError::ArgumentType { index: 0, .. })
    ));

    let mut deleted = upload(&client, &[4], &[1.0f32; 4]);
    deleted.delete().unwrap();
    let gone = run(vec![Input::Keep(&x), Input::Keep(&deleted)]);
    assert!(matches!(
        gone,
        Error::Program(ProgramError::ArgumentDeleted { index: 1, .. })
    ));
    assert_eq!(
        deleted.to_host().unwrap_err(),
        Error::Program(ProgramError::BufferDeleted)
    );
    assert_eq!(
        deleted.wait().unwrap_err(),
        Error::Program(ProgramError::BufferDeleted)
    );

    let other = cpu();
    let elsewhere = upload(&other, &[4], &[1.0f32; 4]);
    let apart = run(vec![Input::Keep(&x), Input::Keep(&elsewhere)]);
    assert!(matches!(
        apart,
        Error::Program(ProgramError::ArgumentElsewhere { index: 1, .. })
    ));
    // None of this has hurt the program.
    let out = add.execute(vec![Input::Keep(&x), Input::Keep(&x)]).unwrap();
    assert_eq!(fetch(&out[0]), [2.0; 4]);
}

#[test]
fn bad_programs_and_signatures_are_refused() {
    let client = cpu();
    let refuse = |code: &str, signature: Signature| {
        client
            .compile(
                "bad",
                code.as_bytes(),
                signature,
                &CompileOptions::default(),
            )
            .map(|_| ())
            .unwrap_err()
    };
    let none = || signature(&[], &[], &[]);
    for code in ["", "no program", "func.func @other() { return }"] {
        assert!(
            matches!(
                refuse(code, none()),
                Error::Program(ProgramError::CompileFailed { .. })
            ),
            "{code}"
        );
    }
    let huge = signature(&[f32s([1 << 62])], &[], &[]);
    assert!(matches!(
        refuse(ADD, huge),
        Error::Value(ValueError::TensorTooLarge { .. })
    ));
    let fewer = signature(&[f32s([4]), f32s([4])], &[], &[]);
    assert!(matches!(
        refuse(ADD, fewer),
        Error::Program(ProgramError::SignatureMismatch { .. })
    ));
    let other = signature(&[f32s([4]), f32s([4])], &[f32s([2, 2])], &[]);
    assert!(matches!(
        refuse(ADD, other),
        Error::Program(ProgramError::SignatureMismatch { .. })
    ));
    let outside = signature(&[f32s([4]), f32s([4])], &[f32s([4])], &[2]);
    assert!(matches!(
        refuse(ADD, outside),
        Error::Program(ProgramError::SignatureMismatch { .. })
    ));
}

#[test]
fn a_lack_of_memory_shows_when_the_result_is_needed() {
    let client = cpu();
    // Two TiB of temporaries: the execution starts, and its event fails.
    let code = r#"
      func.func public @main(%x: tensor<f32>) -> tensor<f32> {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %scale = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<549755813888xf32>
        %count = stablehlo.iota dim = 0 : tensor<549755813888xf32>
        %big = stablehlo.multiply %count, %scale : tensor<549755813888xf32>
        %sorted = "stablehlo.sort"(%big) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
        }) {dimension = 0 : i64, is_stable = true} : (tensor<549755813888xf32>) -> tensor<549755813888xf32>
        %sum = stablehlo.reduce(%sorted init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<549755813888xf32>, tensor<f32>) -> tensor<f32>
        return %sum : tensor<f32>
      }
    "#;
    let program = compile(&client, code, signature(&[f32s([])], &[f32s([])], &[]));
    let x = upload(&client, &[], &[1.0f32]);
    let out = program.execute(vec![Input::Keep(&x)]).unwrap();
    let is_memory =
        |error: Error| matches!(error, Error::Program(ProgramError::OutOfMemory { .. }));
    assert!(is_memory(out[0].wait().unwrap_err()));
    assert!(is_memory(out[0].to_host().unwrap_err()));
    // What is computed from it fails likewise, and the client lives on.
    let next = program
        .execute(vec![Input::Keep(&out[0])])
        .and_then(|out| out[0].wait());
    assert!(is_memory(next.unwrap_err()));
    assert_eq!(fetch(&x), [1.0]);
}

#[test]
fn all_element_types_and_shapes_go_there_and_back() {
    let client = cpu();
    let check = |array: HostArray| {
        let back = client.upload(&array).unwrap().to_host().unwrap();
        assert_eq!(back, array);
    };
    check(HostArray::from_elements([2, 3], &[1.0f32, f32::NAN, 3.0, 4.0, 5.0, -0.0]).unwrap());
    check(HostArray::from_elements([2], &[1e300f64, -1.0]).unwrap());
    check(HostArray::from_elements([3], &[1i8, -2, 3]).unwrap());
    check(HostArray::from_elements([3], &[1u16, 2, 3]).unwrap());
    check(HostArray::from_elements([1], &[i64::MIN]).unwrap());
    check(HostArray::from_elements([1], &[u64::MAX]).unwrap());
    check(HostArray::from_elements([2], &[true, false]).unwrap());
    check(HostArray::from_elements([], &[7i32]).unwrap());
    check(HostArray::from_elements::<f32>([0, 3], &[]).unwrap());
    check(HostArray::from_elements([2, 1, 2], &[1u8, 2, 3, 4]).unwrap());
}

#[test]
fn a_program_without_results_runs() {
    let client = cpu();
    let code = "func.func public @main(%x: tensor<f32>) { return }";
    let program = compile(&client, code, signature(&[f32s([])], &[], &[]));
    let x = upload(&client, &[], &[1.0f32]);
    assert!(program.execute(vec![Input::Keep(&x)]).unwrap().is_empty());
}

#[test]
fn the_optimised_program_can_be_read() {
    let client = cpu();
    let options = CompileOptions::default();
    let text = client
        .optimized_hlo("add", ADD.as_bytes(), &add_signature(), &options)
        .unwrap();
    assert!(text.contains("HloModule"), "{text}");
    assert!(text.contains("input_output_alias"), "{text}");
}

#[test]
fn a_compiled_program_is_stored_and_loaded() {
    let client = cpu();
    let bytes = compile(&client, ADD, add_signature()).serialize().unwrap();
    let add = client.load("add", &bytes, add_signature()).unwrap();
    let x = upload(&client, &[4], &[1.5f32; 4]);
    let out = add.execute(vec![Input::Keep(&x), Input::Keep(&x)]).unwrap();
    assert_eq!(fetch(&out[0]), [3.0; 4]);
    let cut = client.load("add", &bytes[..bytes.len() / 2], add_signature());
    assert!(matches!(
        cut.map(|_| ()).unwrap_err(),
        Error::Program(ProgramError::CompileFailed { .. })
    ));
}

/// How hosts read what none of them has whole; here all parts are in one process, which can say what should come.
#[test]
fn what_lies_in_parts_is_gathered_on_every_device() {
    let options = ClientOptions {
        cpu_devices: 4,
        ..ClientOptions::default()
    };
    let client = Client::new(&cpu_plugin(), options).unwrap();
    let placements = [
        Placement::on_mesh(&[4], &[Some(0), None]),
        Placement::on_mesh(&[2, 2], &[Some(1), Some(0)]),
        Placement::on_mesh(&[2, 2], &[None, Some(1)]),
        Placement::on_mesh(&[4], &[]),
    ];
    for placement in placements {
        let numbers: Vec<i32> = (0..32).collect();
        let bytes: Vec<u8> = (0..32).collect();
        let thirds: Vec<bool> = (0..32).map(|n| n % 3 == 0).collect();
        for array in [
            HostArray::from_elements([8, 4], &numbers).unwrap(),
            HostArray::from_elements([8, 4], &bytes).unwrap(),
            HostArray::from_elements([8, 4], &thirds).unwrap(),
        ] {
            let parts = client
                .upload_placed(&array, &placement, Upload::Copied)
                .unwrap();
            assert!(parts.is_here());
            for _ in 0..2 {
                let whole = client.gather(&parts).unwrap();
                let size = array.bytes().len();
                assert_eq!(
                    whole.device_size().unwrap(),
                    4 * size,
                    "whole on each of four"
                );
                assert_eq!(whole.to_host().unwrap(), array);
            }
        }
    }
}
