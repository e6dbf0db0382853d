//! The server on host 0: who is there, and the store of keys and values.
//!
//! Each connection has a thread. A member keeps one open for as long as it is there, and opens one more for each question
//! to the store, so that a question that waits holds up no other.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::message::{
    Answer, Ask, Count, Join, Kind, Missing, Reply, Request, Trouble, receive, send,
};
use super::{Hosts, Timing};
use crate::error::{Error, HostsError};

/// The running server. It ends when it is dropped.
pub struct Coordinator {
    address: SocketAddr,
    table: Arc<Table>,
}

/// What the threads share.
struct Table {
    hosts: Hosts,
    timing: Timing,
    start: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Of each host, whether it came, and whether it is done.
    joined: Vec<bool>,
    left: Vec<bool>,
    /// The first thing that went wrong.
    trouble: Option<Trouble>,
    values: HashMap<Vec<u8>, Vec<u8>>,
    /// How many members have heard how it ends.
    told: usize,
    closed: bool,
}

impl Coordinator {
    pub fn start(hosts: &Hosts, timing: Timing) -> Result<Coordinator, Error> {
        let failed = |error: io::Error| {
            Error::Hosts(HostsError::CoordinatorAddress {
                address: hosts.coordinator.clone(),
                reason: error.to_string(),
            })
        };
        let addresses: Vec<SocketAddr> = hosts
            .coordinator
            .to_socket_addrs()
            .map_err(failed)?
            .collect();
        let listener = TcpListener::bind(addresses.as_slice()).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let table = Arc::new(Table {
            hosts: hosts.clone(),
            timing,
            start: Instant::now(),
            state: Mutex::new(State {
                joined: vec![false; hosts.count],
                left: vec![false; hosts.count],
                ..State::default()
            }),
            changed: Condvar::new(),
        });
        let served = Arc::clone(&table);
        thread::Builder::new()
            .name("coordinator".into())
            .spawn(move || served.listen(&listener))
            .map_err(failed)?;
        Ok(Coordinator { address, table })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // The process may end right after: the members hear how it ends first.
        let deadline = Instant::now() + self.table.timing.grace;
        let mut state = self.table.state();
        state.closed = true;
        self.table.changed.notify_all();
        let there = state.joined.iter().filter(|&&joined| joined).count();
        while state.told < there && Instant::now() < deadline {
            state = self.table.wait(state, Some(deadline));
        }
        drop(state);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl Table {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.state().closed {
                return;
            }
            let Ok(stream) = stream else { continue };
            let table = Arc::clone(self);
            // Without a thread the connection closes, and its member tries again or says so.
            let _ = thread::Builder::new().spawn(move || {
                // A member whose connection fails is lost, which is noted where it is read.
                let _ = table.serve(&stream);
            });
        }
    }

    fn serve(self: &Arc<Self>, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(self.timing.silence))?;
        stream.set_write_timeout(Some(self.timing.silence))?;
        let request: Request = receive(stream)?;
        let answer = match request.ask {
            Some(Ask::Join(join)) => return self.member(stream, &join),
            Some(Ask::Get(get)) => self.get(&get.key, Duration::from_millis(get.timeout_ms)),
            Some(Ask::TryGet(key)) => self.get(&key, Duration::ZERO),
            Some(Ask::Put(put)) => self.put(put.key, put.value),
            Some(Ask::Beat(_) | Ask::Leave(_)) | None => return Ok(()),
        };
        reply(stream, answer)
    }

    /// Waits for the state, until `deadline` at the latest.
    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        deadline: Option<Instant>,
    ) -> MutexGuard<'a, State> {
        let left = match deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => Duration::MAX,
        };
        match self.changed.wait_timeout(state, left) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    fn get(&self, key: &[u8], timeout: Duration) -> Answer {
        // A time beyond what the clock counts is no limit.
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.state();
        loop {
            if let Some(value) = state.values.get(key) {
                return Answer::Value(value.clone());
            }
            if let Some(trouble) = &state.trouble {
                return Answer::Trouble(trouble.clone());
            }
            if deadline.is_some_and(|d| d <= Instant::now()) || state.closed {
                return Answer::Absent(true);
            }
            state = self.wait(state, deadline);
        }
    }

    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> Answer {
        let mut state = self.state();
        match state.values.get(&key) {
            Some(there) if *there != value => Answer::Taken(true),
            _ => {
                state.values.insert(key, value);
                self.changed.notify_all();
                Answer::Stored(true)
            }
        }
    }

    /// The connection of a member, for as long as it is there.
    fn member(self: &Arc<Self>, stream: &TcpStream, join: &Join) -> io::Result<()> {
        if let Err(trouble) = self.admit(join) {
            // This host first: when the others hear of it, the coordinator may go.
            let replied = reply(stream, Answer::Trouble(trouble.clone()));
            self.trouble(trouble);
            return replied;
        }
        let table = Arc::clone(self);
        let writer = stream.try_clone()?;
        let told = thread::Builder::new().spawn(move || {
            // If it cannot be told it is lost, which the reading side finds out.
            let _ = table.tell(&writer);
            table.state().told += 1;
            table.changed.notify_all();
        })?;
        loop {
            let request = receive::<Request>(stream);
            match request.map(|r| r.ask) {
                Ok(Some(Ask::Beat(_))) => {}
                Ok(Some(Ask::Leave(_))) => {
                    self.state().left[join.index as usize] = true;
                    self.changed.notify_all();
                    break;
                }
                _ => {
                    self.trouble(Kind::Lost(join.index).into());
                    break;
                }
            }
        }
        // The connection stays until the member has heard how it ends.
        let _ = told.join();
        Ok(())
    }

    /// Takes a host in if it is one of those that are waited for. If not, none can go on: the job is not what it should be.
    fn admit(&self, join: &Join) -> Result<(), Trouble> {
        let expected = self.hosts.count as u64;
        let kind = if join.count != expected || join.index >= expected {
            Some(Kind::Count(Count {
                index: join.index,
                said: join.count,
                expected,
            }))
        } else if self.state().joined[join.index as usize] {
            Some(Kind::Twice(join.index))
        } else if join.program != self.hosts.program {
            Some(Kind::Program(join.index))
        } else {
            None
        };
        if let Some(kind) = kind {
            return Err(kind.into());
        }
        self.state().joined[join.index as usize] = true;
        self.changed.notify_all();
        Ok(())
    }

    fn trouble(&self, trouble: Trouble) {
        self.state().trouble.get_or_insert(trouble);
        self.changed.notify_all();
    }

    /// Tells a member when all are there, that the coordinator still is, and how it ends.
    fn tell(&self, stream: &TcpStream) -> io::Result<()> {
        let mut all_there = false;
        loop {
            let mut state = self.state();
            let next = if let Some(trouble) = &state.trouble {
                Answer::Trouble(trouble.clone())
            } else if state.left.iter().all(|&left| left) {
                Answer::Ended(true)
            } else if state.closed {
                return Ok(());
            } else if !all_there && state.joined.iter().all(|&joined| joined) {
                all_there = true;
                Answer::Joined(true)
            } else {
                let late = self.start + self.timing.patience;
                if !all_there && late <= Instant::now() {
                    let missing = self.missing(&state);
                    state.trouble.get_or_insert(missing);
                    self.changed.notify_all();
                    continue;
                }
                let beat = Instant::now() + self.timing.beat;
                let until = if all_there { beat } else { beat.min(late) };
                let (joined, left) = (state.joined.clone(), state.left.clone());
                state = self.wait(state, Some(until));
                let same = state.joined == joined && state.left == left && state.trouble.is_none();
                if !same || Instant::now() < until {
                    continue;
                }
                Answer::Beat(true)
            };
            drop(state);
            let last = matches!(next, Answer::Ended(_) | Answer::Trouble(_));
            reply(stream, next)?;
            if last {
                return Ok(());
            }
        }
    }

    fn missing(&self, state: &State) -> Trouble {
        let hosts = (0..self.hosts.count).filter(|&host| !state.joined[host]);
        let missing = Missing {
            hosts: hosts.map(|host| host as u64).collect(),
            seconds: self.timing.patience.as_secs(),
        };
        Kind::Missing(missing).into()
    }
}

fn reply(stream: &TcpStream, answer: Answer) -> io::Result<()> {
    let reply = Reply {
        answer: Some(answer),
    };
    send(stream, &reply)
}
