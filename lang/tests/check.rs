//! Snapshots of what the checker says, source and result together: programs that are wrong with every message, and
//! programs that are right with what they became.

mod checking;

use checking::{checked, outcome};

/// Checks a program of `tests/check/` and compares source and outcome with the stored ones.
fn compare(name: &str, text: &str, sets: &[(&str, &str)]) {
    let found = checked(&format!("{name}.tl"), text, sets);
    let text = format!("{}\n\n---- gives\n\n{}\n", text.trim_end(), outcome(&found));
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        snapshot_path => "check/snapshots",
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

macro_rules! programs {
    ($($folder:ident { $($name:ident)* })*) => {
        $(mod $folder {
            $(#[test]
            fn $name() {
                let text = include_str!(concat!("check/", stringify!($folder), "/", stringify!($name), ".tl"));
                super::compare(stringify!($name), text, &[]);
            })*
        })*
    };
}

programs! {
    bad {
        arguments broadcasting calls declarations effects generics gradients key_reuse keys_and_bools_in_arrays left_out loop_carried missing_names mixed_elements
        mnist_wrong_weights names never_run no_cascades recursion shape_arguments wrong_transforms
    }
    warned { warnings }
    good { builtins control dimensions functions indexing keys literals mnist modules shape_parameters transforms trees }
}

/// The snapshots are all of programs that are right or of programs that are wrong, as their folder says.
#[test]
fn right_and_wrong_are_told_apart() {
    let folder = checking::root().join("lang/tests/check");
    for (name, right) in [("good", true), ("bad", false)] {
        let files = std::fs::read_dir(folder.join(name)).expect("the folder is there");
        let mut count = 0;
        for file in files.flatten() {
            let text = std::fs::read_to_string(file.path()).expect("a program can be read");
            let found = checked("program.tl", &text, &[]);
            assert_eq!(found.program.is_some(), right, "{:?}", file.path());
            count += 1;
        }
        assert!(count > 10);
    }
}

#[test]
fn constants_can_be_set() {
    let text = "const HID = 256\nconst LR = 1e-3\nconst DOUBLE = HID * 2\nmain { print(zeros([DOUBLE]), LR); }\n";
    compare(
        "set_constants",
        text,
        &[("HID", "3"), ("LR", "1"), ("HIDD", "4"), ("DOUBLE", "2.5")],
    );
    let found = checked("set.tl", text, &[("HID", "3"), ("LR", "1")]);
    assert!(outcome(&found).contains("zeros(shape=[DOUBLE=6])"));
    // Any text will do for a string.
    let text = "const NAME = \"mnist\"\nmain { print(NAME); }\n";
    for value in ["5", "true", "1e3", "nan"] {
        let found = checked("set.tl", text, &[("NAME", value)]);
        assert!(
            outcome(&found).contains(&format!("{value:?}")),
            "{}",
            outcome(&found)
        );
    }
}

/// Types that each hold the one before twice: the first that is too large is told of, not all that hold it.
#[test]
fn a_type_that_is_too_large_is_told_of_once() {
    let types: Vec<String> = (1..60)
        .map(|i| format!("type T{i} = (T{}, T{})\n", i - 1, i - 1))
        .collect();
    let found = checked(
        "types.tl",
        &format!("type T0 = f32\n{}", types.concat()),
        &[],
    );
    let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["E0339"]);
}
