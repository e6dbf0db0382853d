//! Several hosts, played by processes of this machine. The CPU plugin cannot take part in such a run, so they go as far as
//! its refusal; what comes before it is all here: meeting, and every way in which they do not meet.

mod support;

use std::net::TcpListener;
use std::thread;
use support::{Run, tpuc};

/// An address of this machine on which nothing listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it has a number").to_string()
}

struct Host {
    thread: thread::JoinHandle<Run>,
}

impl Host {
    fn start(file: &str, hosts: &str, host: &str, address: &str, more: &[&str]) -> Host {
        let mut args = vec!["run", file, "--no-cache", "--device", "cpu:2"];
        args.extend(["--hosts", hosts, "--host", host, "--coordinator", address]);
        args.extend(more);
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        Host {
            thread: thread::spawn(move || tpuc(&args)),
        }
    }

    fn end(self) -> Run {
        self.thread.join().expect("the command ends")
    }
}

const MLP: &str = "tests/devices/mlp.tl";

fn check(run: &Run, said: &str) {
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(said), "{said}\n{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn two_hosts_meet_and_hear_that_the_cpu_cannot_take_part() {
    let address = free_address();
    let hosts = ["0", "1"].map(|host| Host::start(MLP, "2", host, &address, &["--mesh", "data=4"]));
    for host in hosts {
        let run = host.end();
        check(&run, "error[E0829]: ");
        check(
            &run,
            "cannot run a program on several hosts: Unexpected option name passed to PJRT_Client_Create: n",
        );
    }
}

#[test]
fn hosts_that_do_not_belong_together_say_why() {
    let address = free_address();
    let first = Host::start(MLP, "2", "0", &address, &[]);
    let second = Host::start(MLP, "3", "1", &address, &[]);
    let said = "error[E0824]: host 1 was told of 3 hosts, and host 0 of 2\n";
    for host in [first, second] {
        check(&host.end(), said);
    }

    let address = free_address();
    let others = ["0", "1", "1"].map(|host| Host::start(MLP, "3", host, &address, &[]));
    for host in others {
        check(
            &host.end(),
            "error[E0825]: there are two hosts with the number 1\n",
        );
    }

    let address = free_address();
    let first = Host::start(MLP, "2", "0", &address, &[]);
    let second = Host::start(MLP, "2", "1", &address, &["--opt", "0"]);
    let said = "error[E0826]: host 1 has another program than host 0, or other options\n";
    for host in [first, second] {
        check(&host.end(), said);
    }
}

#[test]
fn a_host_that_waits_in_vain_says_for_what() {
    let hasty = ["--join-timeout", "1"];
    let address = free_address();
    let first = Host::start(MLP, "3", "0", &address, &hasty).end();
    check(
        &first,
        "error[E0827]: hosts 1, 2 did not come within 1 seconds\n",
    );

    let alone = Host::start(MLP, "2", "1", &address, &hasty).end();
    let said =
        format!("error[E0823]: the coordinator at {address} cannot be reached: Connection refused");
    check(&alone, &said);

    let other = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let taken = other.local_addr().expect("it has a number");
    let busy = Host::start(MLP, "2", "0", &taken.to_string(), &hasty).end();
    check(
        &busy,
        &format!("error[E0822]: host 0 cannot listen on {taken}: Address already in use"),
    );
}

#[test]
fn what_the_command_line_says_of_hosts_is_checked() {
    let usage = |options: &[&str]| {
        let mut args = vec!["run", MLP];
        args.extend(options);
        let run = tpuc(&args);
        assert_eq!(run.code, 64, "{options:?}: {}", run.stderr);
        run.stderr
    };
    assert!(usage(&["--hosts", "2"]).contains("--host"));
    assert!(usage(&["--host", "1"]).contains("--hosts"));
    let address = ["--coordinator", "127.0.0.1:1"];
    let two = |host| [&["--hosts", "2", "--host", host], &address[..]].concat();
    assert!(usage(&two("2")).contains("there is no host 2 of 2: they are counted from 0"));
    for address in ["node0", "node0:", ":8476", "node0:0", "node0:99999"] {
        let said = usage(&["--hosts", "2", "--host", "0", "--coordinator", address]);
        assert!(said.contains("such as 10.0.0.1:8476"), "{said}");
    }
    let interp = [&two("0")[..], &["--backend", "interp"]].concat();
    assert!(usage(&interp).contains("the reference interpreter runs on one host"));
}
