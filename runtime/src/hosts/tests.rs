//! Members in threads of one process, which meet over the loopback interface.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use super::*;
use crate::error::{Error, HostsError};
use crate::ffi::{KeyValueStore, Status};

fn timing() -> Timing {
    Timing {
        patience: Duration::from_secs(20),
        beat: Duration::from_millis(20),
        silence: Duration::from_secs(10),
        grace: Duration::from_millis(20),
    }
}

/// An address of this machine on which nothing listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn host(index: usize, count: usize, coordinator: &str) -> Hosts {
    Hosts {
        count,
        index,
        coordinator: coordinator.to_owned(),
        program: "the same".to_owned(),
    }
}

type Joining = JoinHandle<Result<Member, Error>>;

fn joining(hosts: Hosts, timing: Timing) -> Joining {
    thread::spawn(move || Member::join(hosts, timing, |_| {}))
}

/// All hosts of a run, each with an error that it hears of.
fn all(count: usize) -> (Vec<Member>, mpsc::Receiver<(usize, Error)>) {
    let address = free_address();
    let (send, heard) = mpsc::channel();
    let members: Vec<Joining> = (0..count)
        .map(|index| {
            let (hosts, send) = (host(index, count, &address), send.clone());
            thread::spawn(move || {
                Member::join(hosts, timing(), move |e| drop(send.send((index, e))))
            })
        })
        .collect();
    let members = members.into_iter().map(|m| m.join().unwrap().unwrap());
    (members.collect(), heard)
}

#[test]
fn what_one_host_puts_every_host_gets() {
    let (members, _) = all(3);
    let missing = members[2].try_get(b"a").unwrap_err();
    assert_eq!(missing.status, Status::NotFound);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| members[1].get(b"a", Duration::from_secs(10)));
        members[2].put(b"a", b"1\0two").unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), b"1\0two");
    });
    assert_eq!(members[0].try_get(b"a").unwrap(), b"1\0two");
    members[0].put(b"a", b"1\0two").unwrap();
    let taken = members[0].put(b"a", b"other").unwrap_err();
    assert_eq!(taken.status, Status::AlreadyExists);
    members[0].put(b"", b"").unwrap();
    assert_eq!(members[1].get(b"", Duration::ZERO).unwrap(), b"");
    let large = vec![7; 1 << 20];
    members[1].put(b"large", &large).unwrap();
    assert_eq!(members[2].try_get(b"large").unwrap(), large);
    let late = members[1].get(b"never", Duration::from_millis(50));
    assert_eq!(late.unwrap_err().status, Status::DeadlineExceeded);
}

#[test]
fn hosts_end_together_and_agree() {
    let (members, heard) = all(3);
    assert_eq!(members[0].agree("place", "7"), Ok(true));
    assert_eq!(members[1].agree("place", "7"), Ok(true));
    assert_eq!(members[2].agree("place", "8"), Ok(false));
    let leaving = members
        .into_iter()
        .map(|m| thread::spawn(move || m.leave()));
    let leaving: Vec<_> = leaving.collect();
    for left in leaving {
        assert_eq!(left.join().unwrap(), Ok(()));
    }
    assert!(heard.recv().is_err(), "nobody was lost");
}

#[test]
fn a_host_that_is_lost_is_missed_by_all() {
    let (mut members, heard) = all(3);
    let lost = Error::Hosts(HostsError::Lost { host: 1 });
    thread::scope(|scope| {
        let (first, last) = (&members[0], &members[2]);
        let waiting = scope.spawn(|| first.get(b"its", Duration::from_secs(60)));
        let leaving = scope.spawn(|| last.leave());
        // Of the three, only this one goes without a word.
        let gone = scope.spawn(|| members[1].hang_up());
        gone.join().unwrap();
        assert_eq!(leaving.join().unwrap(), Err(lost.clone()));
        let failure = waiting.join().unwrap().unwrap_err();
        assert_eq!(failure.status, Status::Unavailable);
        assert_eq!(failure.message, lost.to_string());
    });
    // The lost one may hear of itself, that it has no coordinator any more.
    let of_first = heard.iter().find(|(index, _)| *index == 0);
    assert_eq!(of_first.unwrap().1, lost);
    members.clear();
}

#[test]
fn without_the_first_host_there_is_none() {
    let (mut members, heard) = all(2);
    drop(members.remove(0));
    assert_eq!(
        heard.recv().unwrap(),
        (1, Error::Hosts(HostsError::Lost { host: 0 }))
    );
    let failure = members[0].put(b"a", b"b").unwrap_err();
    assert_eq!(failure.status, Status::Unavailable);
}

#[test]
fn hosts_that_do_not_belong_together_all_hear_why() {
    let other = |mut hosts: Hosts| {
        hosts.program = "another".to_owned();
        hosts
    };
    type Change<'a> = &'a dyn Fn(&str) -> Hosts;
    let cases: [(Change<'_>, Error); 4] = [
        (
            &|a| host(1, 3, a),
            Error::Hosts(HostsError::Count {
                host: 1,
                said: 3,
                expected: 2,
            }),
        ),
        (
            &|a| host(2, 2, a),
            Error::Hosts(HostsError::Count {
                host: 2,
                said: 2,
                expected: 2,
            }),
        ),
        (
            &|a| other(host(1, 2, a)),
            Error::Hosts(HostsError::Program { host: 1 }),
        ),
        (
            &|a| host(0, 2, a),
            Error::Hosts(HostsError::Twice { host: 0 }),
        ),
    ];
    for (second, error) in cases {
        let address = free_address();
        let first = joining(host(0, 2, &address), timing());
        let second = second(&address);
        // A second host 0 on this machine cannot listen there too; it comes as one on another machine would.
        let came = match second.index {
            0 => member::come(&second, timing()),
            _ => joining(second, timing()).join().unwrap().map(|_| ()),
        };
        assert_eq!(came, Err(error.clone()));
        assert_eq!(first.join().unwrap().err(), Some(error));
    }
}

#[test]
fn a_host_that_does_not_come_is_named() {
    let hasty = Timing {
        patience: Duration::from_millis(300),
        ..timing()
    };
    let address = free_address();
    let members: Vec<Joining> = [0, 2]
        .map(|index| joining(host(index, 4, &address), hasty))
        .into();
    let missing = Error::Hosts(HostsError::Missing {
        hosts: vec![1, 3],
        seconds: 0,
    });
    for member in members {
        assert_eq!(member.join().unwrap().err(), Some(missing.clone()));
    }
}

#[test]
fn where_nobody_listens_there_is_no_coordinator() {
    let hasty = Timing {
        patience: Duration::from_millis(300),
        ..timing()
    };
    let code = |address: &str, index| {
        let member = joining(host(index, 2, address), hasty).join().unwrap();
        member.err().map(|error| error.code())
    };
    assert_eq!(code(&free_address(), 1), Some("E0823"));
    assert_eq!(code("no port", 1), Some("E0823"));
    assert_eq!(code("no port", 0), Some("E0822"));
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    assert_eq!(code(&taken, 0), Some("E0822"));
}

#[test]
fn a_server_of_something_else_is_no_coordinator() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = thread::spawn(move || {
        use std::io::Write;
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
    });
    let error = joining(host(1, 2, &address), timing())
        .join()
        .unwrap()
        .err()
        .unwrap();
    answering.join().unwrap();
    let reason = "what listens there is no coordinator of tpuc".to_owned();
    assert_eq!(
        error,
        Error::Hosts(HostsError::CoordinatorUnreachable { address, reason })
    );
}
