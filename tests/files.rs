//! What stands in the way of files: links, pipes, folders where files are meant, names that nobody expects.

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use support::{expect, folder, program, tpuc, tpuc_in};

const LOOSE: &str = "main{print( 1 );}";
const NEAT: &str = "main {\n    print(1);\n}\n";

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("the temporary folder can be written");
    path.display().to_string()
}

fn link(target: &str, at: &Path) {
    symlink(target, at).expect("the temporary folder takes links");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it is there")
}

#[test]
fn what_is_written_goes_where_links_lead() {
    let dir = folder();
    let place = |name: &str| dir.path().join(name);
    write(dir.path(), "own.tl", LOOSE);
    fs::create_dir(place("links")).expect("the temporary folder can be written");
    link("../own.tl", &place("links/one.tl"));
    link("one.tl", &place("links/two.tl"));
    assert_eq!(tpuc_in(dir.path(), &["fmt", "links/two.tl"]).code, 0);
    assert_eq!(read(&place("own.tl")), NEAT);
    // What a link leads to need not be there yet.
    link("own.mlir", &place("dump.mlir"));
    let dump = ["dump-hlo", "own.tl", "--stage", "ast", "-o", "dump.mlir"];
    assert_eq!(tpuc_in(dir.path(), &dump).code, 0);
    assert!(read(&place("own.mlir")).contains("print"));
    for name in ["links/one.tl", "links/two.tl", "dump.mlir"] {
        assert!(place(name).is_symlink(), "{name}");
    }
    link("round.mlir", &place("round.mlir"));
    let dump = ["dump-hlo", "own.tl", "--stage", "ast", "-o", "round.mlir"];
    let said = ["error[E0713]", "a link that leads back to itself"];
    expect(&tpuc_in(dir.path(), &dump), 2, &said);
}

#[test]
fn one_bad_file_does_not_keep_the_others_from_being_formatted() {
    let dir = folder();
    let bad = write(dir.path(), "bad.tl", "main { print(1)");
    let none = dir.path().join("none.tl").display().to_string();
    let loose = write(dir.path(), "loose.tl", LOOSE);
    let said = ["error[E0105]", "error[E0901]"];
    expect(&tpuc(&["fmt", &bad, &none, &loose]), 2, &said);
    assert_eq!(read(Path::new(&loose)), NEAT);
    expect(&tpuc(&["fmt", &bad, &loose]), 1, &said[..1]);
}

#[test]
fn tests_of_a_folder_are_found_once_and_run_whatever_the_others_are() {
    let dir = folder();
    let inner = dir.path().join("inner.tl");
    fs::create_dir(&inner).expect("the temporary folder can be written");
    write(&inner, "a.tl", "test \"a\" { assert(true, \"a\"); }");
    for name in ["round", "again"] {
        link("..", &inner.join(name));
    }
    let good = tpuc(&["test", &dir.path().display().to_string()]);
    assert_eq!(
        (good.code, &*good.stdout),
        (0, "test a ... ok\n1 passed, 0 failed\n")
    );
    link("nowhere", &dir.path().join("gone.tl"));
    fs::write(dir.path().join("bytes.tl"), b"\xff").expect("the temporary folder can be written");
    let mixed = tpuc(&["test", &dir.path().display().to_string()]);
    expect(&mixed, 2, &["error[E0901]", "gone.tl", "is not UTF-8 text"]);
    assert!(
        mixed.stdout.contains("1 passed, 2 failed"),
        "{}",
        mixed.stdout
    );
}

#[test]
fn data_comes_from_files() {
    let dir = folder();
    let made = Command::new("mkfifo")
        .arg(dir.path().join("pipe.npy"))
        .status();
    assert!(made.expect("mkfifo can be started").success());
    write(dir.path(), "p.tl", "main { print(load(\"pipe.npy\")); }");
    let said = ["error[E0701]", "pipe.npy: it is no ordinary file"];
    expect(&tpuc_in(dir.path(), &["run", "p.tl"]), 2, &said);
}

#[test]
fn data_that_is_not_there_is_no_error_of_the_program() {
    let dir = folder();
    let cases = [
        ("load(\"none.npy\")", 2, "E0701"),
        ("load(\"none/*.npz\")", 2, "E0708"),
        ("load(\"none.txt\")", 1, "E0716"),
        ("load(\"none.npy\") + none", 1, "E0701"),
    ];
    for (data, code, said) in cases {
        write(dir.path(), "p.tl", &format!("main {{ print({data}); }}"));
        for command in ["run", "check"] {
            expect(&tpuc_in(dir.path(), &[command, "p.tl"]), code, &[said]);
        }
    }
}

#[test]
fn texts_among_the_data_do_no_harm_until_they_are_used() {
    let dir = folder();
    let iris = "length,species\n5.1,setosa\n4.9,virginica\n";
    write(dir.path(), "iris.csv", iris);
    let run = |main: &str| {
        write(dir.path(), "p.tl", &format!("main {{ {main} }}"));
        tpuc_in(dir.path(), &["run", "p.tl"])
    };
    let fine = run("let d = load(\"iris.csv\"); print(d.length, d);");
    assert_eq!(
        fine.stdout, "[5.1, 4.9] {length: [5.1, 4.9]}\n",
        "{}",
        fine.stderr
    );
    let said = [
        "error[E0717]",
        "iris.csv, line 2, column 2: expected a number, found \"setosa\"",
    ];
    for main in [
        "let d = load(\"iris.csv\"); print(d.species);",
        "let { species } = load(\"iris.csv\"); print(species);",
        "for { species } in batches(load(\"iris.csv\"), 1, key(0)) { print(species); }",
    ] {
        expect(&run(main), 2, &said);
    }
}

#[test]
fn a_column_may_have_no_name() {
    let dir = folder();
    write(dir.path(), "frame.csv", ",x\n0,1.5\n1,2.5\n");
    write(
        dir.path(),
        "p.tl",
        "main { let d = load(\"frame.csv\"); print(d.x); print(d); }",
    );
    let run = tpuc_in(dir.path(), &["run", "p.tl"]);
    assert_eq!(
        run.stdout, "[1.5, 2.5]\n{: [0.0, 1.0], x: [1.5, 2.5]}\n",
        "{}",
        run.stderr
    );
}

#[test]
fn folders_that_cannot_be_written_are_known_before_the_run() {
    let (dir, path) = program("main { for i in 0..2 { print(f64(i) + time() * 0.0); } }");
    let file = write(dir.path(), "file", "");
    for option in ["--profile", "--log", "--checkpoint"] {
        let run = tpuc(&["run", &path, option, &file]);
        expect(
            &run,
            2,
            &["error[E0713]", "file: what is there is no folder"],
        );
        assert_eq!(run.stdout, "", "{option}");
    }
    let none = dir.path().join("none").display().to_string();
    let run = tpuc(&["run", &path, "--executables", &none]);
    expect(
        &run,
        2,
        &["error[E0901]: there is no folder", "tpuc compile"],
    );
    let page = dir.path().join("none/page.html").display().to_string();
    let run = tpuc(&["compile", &path, "--target", "v6e:1x1", "--html", &page]);
    expect(&run, 2, &["error[E0713]", "page.html: there is no folder"]);
}

#[test]
fn any_name_will_do() {
    let dir = folder();
    let text = "main { let mut x = time() * 0.0; for _i in 0..2 { x = x + 1.0; print(x); } }";
    let names = [
        b"a b.tl" as &[u8],
        "größe.tl".as_bytes(),
        b"-x.tl",
        b"\xff\xfe.tl",
        b"new\nline.tl",
    ];
    for name in names.map(OsStr::from_bytes) {
        fs::write(dir.path().join(name), text).expect("the temporary folder can be written");
        let folder = OsStr::new("runs");
        let args = ["run", "--checkpoint"].map(OsStr::new);
        let run = tpuc_in(
            dir.path(),
            &[&args[..], &[folder, OsStr::new("--"), name]].concat(),
        );
        assert_eq!(run.stdout, "1.0\n2.0\n", "{name:?}: {}", run.stderr);
        fs::remove_dir_all(dir.path().join(folder)).expect("the checkpoints are there");
    }
}

#[test]
fn what_has_no_end_is_no_program() {
    let said = [
        "error[E0901]",
        "`/dev/zero` is longer than any program: over 256.0 MiB",
    ];
    expect(&tpuc(&["check", "/dev/zero"]), 2, &said);
    expect(
        &tpuc(&["fmt", "/dev"]),
        2,
        &["error[E0901]: `/dev` is a folder"],
    );
}
