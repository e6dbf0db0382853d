//! Long runs: killed at any moment and resumed, they end with the same bits; and what can be wrong with a checkpoint.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{Run, expect, tpuc};

/// A training that keeps weights of several types, draws at random, reads data made before the loop, and has a loop
/// after it.
const TRAIN: &str = "const EPOCHS = 12\n\
type State = { w: f32[16, 16], n: i32, k: key, seen: bool, half: bf16[4] }\n\
fn step(s: State, x: f32[32, 16]) -> State {\n\
    let (k, draw) = split(s.k);\n\
    let mut w = s.w;\n\
    for _i in 0..20 { w = w - 0.01 * (transpose(x) @ (x @ w - tanh(x))) / 32.0; }\n\
    { w: w + 1e-3 * normal(draw, [16, 16]), n: s.n + 1, k: k, seen: !s.seen, half: s.half * 1.5 }\n\
}\n\
main {\n\
    let (kx, kw, k) = split(key(0), 3);\n\
    let x = normal(kx, [32, 16]);\n\
    let mut s: State = { w: normal(kw, [16, 16]), n: 0, k: k, seen: false, half: ones([4]) };\n\
    let mut last = -1;\n\
    for epoch in 0..EPOCHS {\n\
        s = step(s, x);\n\
        last = epoch;\n\
        print(\"epoch {epoch} {sum(s.w):.9g}\");\n\
    }\n\
    let mut t = 0.0;\n\
    for j in 0..4 { t = t + sum(s.w) * f32(j) + sum(x); print(\"after {j} {t:.9g}\"); }\n\
    save({ s: { w: s.w, n: s.n, seen: s.seen, half: s.half }, t: t, last: last }, \"OUT\");\n\
}\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A folder with the program in it.
    fn new(text: &str) -> Place {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let place = Place { dir };
        let text = text.replace("OUT", &place.path("out.safetensors"));
        fs::write(place.path("p.tl"), text).expect("the temporary folder can be written");
        place
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn args(&self, options: &[&str]) -> Vec<String> {
        let (file, folder) = (self.path("p.tl"), self.path("c"));
        let mut args = vec!["run".into(), file, "--checkpoint".into(), folder];
        args.extend(options.iter().map(|o| (*o).to_string()));
        args
    }

    fn run(&self, options: &[&str]) -> Run {
        tpuc(&self.args(options))
    }

    fn start(&self, options: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_tpuc"))
            .args(self.args(options))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command that cargo has just built starts")
    }

    fn checkpoints(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.path("c")).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = listed
            .map(|e| e.path())
            .filter(|p| p.display().to_string().contains("checkpoint-"))
            .collect();
        found.sort();
        found
    }

    /// The number of the last checkpoint; 0 where there is none.
    fn last(&self) -> usize {
        let last = self.checkpoints().pop();
        let name = last.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let number = name.and_then(|name| name.split('-').nth(1)?.parse().ok());
        number.unwrap_or(0)
    }

    /// Waits for a checkpoint of this number or a later one, or for the end of the run: none of them stays for long.
    fn wait_for(&self, child: &mut Child, number: usize) {
        let start = Instant::now();
        while self.last() < number && child.try_wait().expect("the child can be asked").is_none() {
            assert!(
                start.elapsed() < Duration::from_secs(240),
                "no checkpoint {number}"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn saved(&self) -> Vec<u8> {
        fs::read(self.path("out.safetensors")).expect("the run has saved its weights")
    }
}

/// The weights of a run that nothing has stopped, and its lines.
fn undisturbed(options: &[&str]) -> (Vec<u8>, Vec<String>) {
    let place = Place::new(TRAIN);
    let file = place.path("p.tl");
    let run = tpuc(&[&["run", &file], options].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    (
        place.saved(),
        run.stdout.lines().map(String::from).collect(),
    )
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

/// Runs are killed at random moments, while they start, compute or write, and taken up again, until 20 have been hit
/// while they ran. Wherever it was, each ends with the bits of one that nobody stopped.
#[test]
fn runs_killed_twenty_times_end_with_the_same_bits() {
    let long = ["--set", "EPOCHS=40"];
    let resume = ["--resume", "--set", "EPOCHS=40"];
    let (weights, lines) = undisturbed(&long);
    let mut random = Random(7);
    let (mut hits, mut misses) = (0, 0);
    while hits < 20 {
        let place = Place::new(TRAIN);
        for _ in 0..5 {
            let mut child = place.start(&resume);
            let saved = place.checkpoints().len();
            let wanted = random.below(6) as usize;
            let number = place.last() + wanted;
            if wanted > 0 {
                place.wait_for(&mut child, number);
            }
            let pause = if wanted == 0 { 400 } else { 12 };
            std::thread::sleep(Duration::from_millis(random.below(pause)));
            child.kill().expect("the child can be killed");
            let status = child.wait().expect("the child ends");
            assert!(place.checkpoints().len() >= saved.min(1), "none was lost");
            if status.signal() != Some(9) {
                // It was at its end already.
                misses += 1;
                break;
            }
            hits += 1;
        }
        assert!(misses < 20, "{hits} of {} were hit", hits + misses);
        let begun = place.checkpoints().is_empty();
        let last = place.run(&resume);
        assert_eq!(last.code, 0, "{}", last.stderr);
        assert_eq!(place.saved(), weights);
        let said: Vec<String> = last.stdout.lines().map(String::from).collect();
        assert!(lines.ends_with(&said), "{said:?}");
        assert_eq!(said.len() == lines.len(), begun, "{said:?}");
        let left = fs::read_dir(place.path("c")).expect("readable").count();
        assert!(left <= 5, "{left} files are left");
    }
}

#[test]
fn every_and_keep_say_how_many_there_are() {
    let place = Place::new(TRAIN);
    let run = place.run(&["--every", "5", "--keep", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // After 5 and 10 of 12 iterations; the loop after it has only 4.
    assert_eq!(place.checkpoints().len(), 1);
    assert!(
        place.checkpoints()[0]
            .display()
            .to_string()
            .contains("-00000002-")
    );
    let resumed = place.run(&["--resume"]);
    assert!(
        resumed.stdout.starts_with("epoch 10 "),
        "{}",
        resumed.stdout
    );
}

#[test]
fn loops_in_branches_and_while_loops_resume_too() {
    let text = "main {\n\
        let mut x = 1.0;\n\
        if time() >= 0.0 {\n\
            while x < 1000.0 { x = x * 2.0 + 1.0; print(x); }\n\
        } else {\n\
            for i in 0..3 { x = x + 1.0; print(\"never {x}\"); }\n\
        }\n\
        save({ x: x }, \"OUT\");\n\
    }\n";
    let place = Place::new(text);
    let whole = place.run(&["--keep", "9"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let saved = place.saved();
    let checkpoints = place.checkpoints();
    assert_eq!(checkpoints.len(), whole.stdout.lines().count());
    for last in &checkpoints[3..] {
        fs::remove_file(last).expect("removable");
    }
    let resumed = place.run(&["--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let rest: Vec<&str> = whole.stdout.lines().skip(3).collect();
    assert_eq!(resumed.stdout.lines().collect::<Vec<_>>(), rest);
    assert_eq!(place.saved(), saved);
}

#[test]
fn an_interrupt_stops_between_programs_and_says_how_to_go_on() {
    let (weights, _) = undisturbed(&[]);
    // The code is that of the signal, as a shell has it.
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = Place::new(TRAIN);
        let mut child = place.start(&[]);
        place.wait_for(&mut child, 2);
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill can be started").success());
        let output = child.wait_with_output().expect("the child ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(
            said.contains("interrupted") && said.contains("--resume`"),
            "{said}"
        );
        assert_eq!(place.run(&["--resume"]).code, 0);
        assert_eq!(place.saved(), weights);
    }
}

#[test]
fn an_interrupt_says_what_it_waits_for() {
    let place = Place::new(
        "main {\n\
        let mut x = 1.0;\n\
        for i in 0..3 {\n\
            if i > 0 { while x < 1e9 { x = x + 1.0; } }\n\
            print(\"{i} {x}\");\n\
        }\n\
        }\n",
    );
    let mut child = place.start(&[]);
    place.wait_for(&mut child, 1);
    let pid = child.id().to_string();
    let interrupt = || {
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill can be started").success());
    };
    // The loop on the device has begun by then.
    std::thread::sleep(Duration::from_millis(500));
    interrupt();
    let mut said = String::new();
    let errors = child.stderr.take().expect("it is piped");
    let read = BufReader::new(errors).read_line(&mut said);
    read.expect("the error stream can be read");
    assert!(said.starts_with("note: the run ends when"), "{said}");
    // In f32 that sum never comes to its end.
    interrupt();
    let status = child.wait().expect("the child ends");
    assert_eq!(status.code(), Some(130));
}

/// Changes one byte of the arrays of a file, which stand at its end.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("readable");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    fs::write(path, bytes).expect("writable");
}

#[test]
fn what_is_wrong_with_a_checkpoint_is_said() {
    let place = Place::new(TRAIN);
    expect(&place.run(&["--set", "EPOCHS=3"]), 0, &[]);
    expect(
        &place.run(&["--set", "EPOCHS=3"]),
        2,
        &["error[E0744]", "--resume"],
    );
    expect(
        &place.run(&["--resume"]),
        2,
        &[
            "error[E0743]",
            "another program",
            "saved with `--set EPOCHS=3 --opt 1` on one device, and this is `--opt 1` on one device",
        ],
    );
    let last = place.checkpoints().pop().expect("a checkpoint");
    let whole = fs::read(&last).expect("readable");
    let resume = ["--resume", "--set", "EPOCHS=3"];
    damage(&last);
    expect(
        &place.run(&resume),
        2,
        &["error[E0741]", "contents have changed"],
    );
    fs::write(&last, &whole[..whole.len() / 2]).expect("writable");
    expect(&place.run(&resume), 2, &["error[E0741]", "cut short"]);
    fs::copy(place.path("out.safetensors"), &last).expect("writable");
    expect(&place.run(&resume), 2, &["error[E0742]", "no checkpoint"]);
    // The one before it is as it was.
    fs::remove_file(&last).expect("removable");
    expect(&place.run(&resume), 0, &[]);
}

#[test]
fn checkpoints_need_a_loop_and_a_folder() {
    let place = Place::new("main { print(1); }");
    expect(&place.run(&[]), 1, &["error[E0607]", "no loop", "effect"]);
    let text = "main { for i in 0..2 { print(i); } }";
    let place = Place::new(text);
    fs::write(place.path("c"), "a file").expect("writable");
    expect(&place.run(&[]), 2, &["error[E0713]"]);
    let place = Place::new(text);
    let run = place.run(&["--resume"]);
    expect(&run, 0, &["no checkpoint", "starting at the beginning"]);
    assert_eq!(run.stdout, "0\n1\n");
    let args = ["run", &place.path("p.tl"), "--resume"];
    expect(&tpuc(&args), 64, &["--checkpoint"]);
    expect(&place.run(&["--every", "0"]), 64, &["at least 1"]);
    expect(&place.run(&["--keep", "0"]), 64, &["at least 1"]);
}

/// A run that writes more than a file may hold, or a disk: both are errors of the write. The first is easier to bring
/// about.
#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_one_before() {
    let text = "main {\n\
        let mut w = zeros([3]);\n\
        for i in 0..3 { w = w + 1.0; print(i); }\n\
        let mut v = zeros([100000]);\n\
        for i in 0..3 { v = v + w[i]; print(sum(v)); }\n\
        save({ v: v }, \"OUT\");\n\
    }\n";
    let place = Place::new(text);
    let (exe, args) = (env!("CARGO_BIN_EXE_tpuc"), place.args(&["--no-cache"]));
    let limited = Command::new("bash")
        .args(["-c", "ulimit -f 200; \"$@\"", "bash", exe])
        .args(args)
        .output()
        .expect("bash can be started");
    let said = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(2), "{said}");
    for part in [
        "error[E0714]: writing ",
        "/checkpoint-00000004-",
        "p.tl:5",
        "go on from the last checkpoint with `tpuc run ",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert_eq!(place.last(), 3);
    let resumed = place.run(&["--resume"]);
    assert_eq!(
        (resumed.code, resumed.stdout.as_str()),
        (0, "300000.0\n600000.0\n900000.0\n")
    );
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let place = Place::new(TRAIN);
    let long = ["--resume", "--set", "EPOCHS=100000"];
    let mut child = place.start(&long);
    place.wait_for(&mut child, 1);
    let says = [
        "error[E0745]: another run writes its checkpoints to",
        "name another folder",
    ];
    expect(&place.run(&long), 2, &says);
    child.kill().expect("the child can be killed");
    child.wait().expect("the child ends");
    // With the process the lock is gone.
    let next = place.last() + 1;
    let mut child = place.start(&long);
    place.wait_for(&mut child, next);
    assert!(place.last() >= next);
    child.kill().expect("the child can be killed");
    child.wait().expect("the child ends");
}
