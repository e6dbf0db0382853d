//! Lowering by example: each family of primitives as IR and as StableHLO, side by side.
#![cfg(feature = "mlir")]

use tpuc_compiler::ir::op::{BinaryOp, Op};
use tpuc_compiler::ir::parse::parse;
use tpuc_compiler::ir::types::{Elem, Type};
use tpuc_compiler::ir::{Builder, Func};
use tpuc_compiler::lower::{self, Mesh, Module, Options};
use tpuc_lang::source::Sources;
use tpuc_lang::span::Span;

fn lowered(func: &Func, options: Options<'_>) -> Module {
    match lower::module(&[func], options) {
        Ok(module) => module,
        Err(e) => panic!("{}: {e}", func.name),
    }
}

fn beside(ir: &str) -> String {
    let func = parse(ir).unwrap_or_else(|e| panic!("{e:?}"));
    let names = input_names(ir);
    let options = Options {
        input_names: &names,
        ..Options::default()
    };
    let text = lowered(&func, options).to_text(false);
    format!("{ir}\n{text}")
}

/// The names of the parameters in the text of a function.
fn input_names(ir: &str) -> Vec<String> {
    let head = ir.lines().next().unwrap_or_default();
    let params = head.split(" -> ").next().unwrap_or_default();
    params
        .split('%')
        .skip(1)
        .filter_map(|p| p.split(':').next())
        .map(str::to_string)
        .collect()
}

macro_rules! families {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let ir = include_str!(concat!("lower/", stringify!($name), ".ir"));
            insta::assert_snapshot!(stringify!($name), beside(ir));
        })*
    };
}

families! { elementwise constants structural indexing reductions windows linear_algebra sorting loops transparent random special integers empty }

/// The text that holds one instruction of every primitive, without what only `main` may hold.
fn every_pure_primitive() -> Func {
    let all = include_str!("../src/ir/primitives.ir");
    let impure = [
        "dataset[",
        "load[",
        "numpy_permutations[",
        " = time",
        "print[",
        "debug[",
        "save[",
        "assert",
    ];
    let pure: Vec<&str> = all
        .lines()
        .filter(|line| !impure.iter().any(|word| line.contains(word)))
        .collect();
    parse(&pure.join("\n")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_primitive_lowers_and_verifies() {
    let func = every_pure_primitive();
    let module = lowered(&func, Options::default());
    assert!(module.op_count() > 128);
    let artifact = module.to_portable_artifact(&lower::stablehlo_version());
    assert!(artifact.is_ok_and(|bytes| bytes.starts_with(b"ML\xefR")));
}

#[test]
fn bytes_are_the_same_on_every_run() {
    let func = every_pure_primitive();
    let version = lower::stablehlo_version();
    let once = || {
        let module = lowered(&func, Options::default());
        (module.to_text(true), module.to_portable_artifact(&version))
    };
    assert_eq!(once(), once());
}

/// `x + y` in a file of its own, on its second line.
fn sum() -> (Func, Sources) {
    let mut sources = Sources::default();
    let file = sources.add("sum.tl", "# Größe\nx + y\n");
    let mut b = Builder::new("sum");
    b.span = Span::new(file, 10, 11);
    let x = b.param(Type::new(Elem::F32, [2]));
    b.span = Span::new(file, 14, 15);
    let y = b.param(Type::new(Elem::F32, [2]));
    b.span = Span::new(file, 12, 13);
    let z = b.op(Op::Binary(BinaryOp::Add), &[x, y]);
    (b.finish(vec![z]), sources)
}

#[test]
fn ops_carry_places_and_inputs_are_donated() {
    let (func, sources) = sum();
    let names = ["p.x".to_string(), "y".to_string()];
    let options = Options {
        sources: Some(&sources),
        input_names: &names,
        donate: &[(1, 0)],
        mesh: None,
    };
    let module = lowered(&func, options);
    insta::assert_snapshot!("places", module.to_text(true));
    assert_eq!(module.op_count(), 1);
    // What a plugin reads still holds the donation.
    let artifact = module.to_portable_artifact("1.0.0").unwrap_or_default();
    let found = artifact.windows(18).any(|w| w == b"tf.aliasing_output");
    assert!(found, "donation is lost");
}

#[test]
fn layouts_go_into_annotations() {
    let ir = include_str!("lower/layouts.ir");
    let func = parse(ir).unwrap_or_else(|e| panic!("{e}"));
    let axes = [("data".to_string(), 4), ("model".to_string(), 1)];
    let rows = vec![Some("data".to_string()), None];
    let mesh = Mesh {
        axes: &axes,
        inputs: std::slice::from_ref(&rows),
        outputs: &[],
    };
    let names = input_names(ir);
    let options = Options {
        input_names: &names,
        mesh: Some(mesh),
        ..Options::default()
    };
    let module = lowered(&func, options);
    let text = module.to_text(false);
    insta::assert_snapshot!("layouts", format!("{ir}\n{text}"));
    let program = module.to_program("1.0.0").unwrap_or_default();
    assert!(program.starts_with(b"#loc") || program.starts_with(b"module"));
    // On one device there is nothing to lay out.
    assert!(!beside(ir).contains("sdy"));
}

#[test]
fn other_functions_keep_their_names() {
    let (first, _) = sum();
    let second = parse("func step(%x: f32) -> (f32) {\n  %0 = erf %x : f32\n  return %0\n}");
    let second = second.unwrap_or_else(|e| panic!("{e}"));
    let module = lower::module(&[&first, &second], Options::default());
    let text = module.map(|m| m.to_text(false)).unwrap_or_default();
    let heads: Vec<&str> = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("func.func "))
        .filter_map(|l| l.split('(').next())
        .collect();
    assert_eq!(heads, ["public @main", "public @step", "private @erf.f32"]);
}

#[test]
fn an_effect_is_an_error_with_its_place() {
    let mut sources = Sources::default();
    let file = sources.add("t.tl", "\n  time()");
    let mut b = Builder::new("main");
    b.span = Span::new(file, 3, 9);
    let source = tpuc_compiler::ir::op::HostSource::Time;
    let time = b.op(Op::Host(source), &[]);
    let twice = b.op(Op::Binary(BinaryOp::Add), &[time, time]);
    let func = b.finish(vec![twice]);
    let options = Options {
        sources: Some(&sources),
        ..Options::default()
    };
    let error = lower::module(&[&func], options)
        .err()
        .map(|e| e.to_string());
    let expected = "t.tl:2:3: host data cannot be read inside a device program";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn an_unknown_version_is_an_error() {
    let (func, _) = sum();
    let module = lowered(&func, Options::default());
    let error = module.to_portable_artifact("0.1.0").err();
    assert!(error.is_some_and(|e| e.message.contains("0.1.0")));
    assert!(module.to_portable_artifact("nonsense").is_err());
    // A reader of the future reads what is written today.
    let own = module.to_portable_artifact(&lower::stablehlo_version());
    assert_eq!(module.to_portable_artifact("999.0.0"), own);
}
