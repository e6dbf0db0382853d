//! One host among several: coming, asking the store, hearing of losses, and going.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::coordinator::Coordinator;
use super::message::{Answer, Ask, Get, Join, Kind, Put, Reply, Request, Trouble, receive, send};
use super::{Hosts, Timing};
use crate::error::{Error, HostsError};
use crate::ffi::{Failure, KeyValueStore, Status};

/// From one try to reach the coordinator to the next.
const RETRY: Duration = Duration::from_millis(200);

/// What it means when the coordinator does not answer.
const LOST: Error = Error::Hosts(HostsError::Lost { host: 0 });

/// This process as one of the hosts. Dropping it without [`Member::leave`] tells the others that it is lost.
pub struct Member {
    hosts: Hosts,
    timing: Timing,
    address: SocketAddr,
    stream: TcpStream,
    end: Arc<End>,
    /// On host 0.
    _coordinator: Option<Coordinator>,
}

/// How it ended, as far as it has.
#[derive(Default)]
struct End {
    state: Mutex<EndState>,
    changed: Condvar,
}

#[derive(Default)]
struct EndState {
    /// Whether this host waits for the end.
    leaving: bool,
    ended: Option<Result<(), Trouble>>,
}

impl Member {
    /// Waits for all hosts. Errors when the coordinator cannot be reached, when a host does not come in time, and when
    /// they do not belong together.
    ///
    /// `on_loss` is called, on another thread, when another host is lost while this one computes.
    pub fn join(
        hosts: Hosts,
        timing: Timing,
        on_loss: impl FnOnce(Error) + Send + 'static,
    ) -> Result<Member, Error> {
        let first = hosts.index == 0;
        let coordinator = first.then(|| Coordinator::start(&hosts, timing));
        let coordinator = coordinator.transpose()?;
        let own = coordinator.as_ref().map(Coordinator::address);
        let (stream, address) = meet(&hosts, own, timing)?;
        let end = Arc::new(End::default());
        let heard = Arc::clone(&end);
        let unreachable = |error: io::Error| unreachable(&hosts, &error);
        let reader = stream.try_clone().map_err(unreachable)?;
        thread::Builder::new()
            .name("hosts".into())
            .spawn(move || heard.listen(&reader, timing, on_loss))
            .map_err(unreachable)?;
        Ok(Member {
            hosts,
            timing,
            address,
            stream,
            end,
            _coordinator: coordinator,
        })
    }

    pub fn index(&self) -> usize {
        self.hosts.index
    }

    pub fn count(&self) -> usize {
        self.hosts.count
    }

    /// Says that this host is done, and waits until all are: only then may the coordinator go.
    pub fn leave(&self) -> Result<(), Error> {
        self.end.state().leaving = true;
        // If it cannot be said the coordinator is lost, which is heard on the other side.
        let _ = ask(&self.stream, Ask::Leave(true));
        let deadline = Instant::now() + self.timing.patience;
        let mut state = self.end.state();
        loop {
            match state.ended.take() {
                Some(Ok(())) => return Ok(()),
                Some(Err(trouble)) => return Err(trouble.into()),
                None if deadline <= Instant::now() => {
                    return Err(Error::Hosts(HostsError::Lost { host: 0 }));
                }
                None => state = self.end.wait(state, deadline),
            }
        }
    }

    /// Whether this host says the same as host 0 on a matter.
    pub fn agree(&self, matter: &str, said: &str) -> Result<bool, Error> {
        let key = format!("tpuc/{matter}").into_bytes();
        if self.hosts.index == 0 {
            self.put(&key, said.as_bytes()).map_err(|_| LOST)?;
            return Ok(true);
        }
        let first = self.get(&key, self.timing.patience).map_err(|_| LOST)?;
        Ok(first == said.as_bytes())
    }

    fn question(&self, question: Ask, timeout: Duration) -> Result<Answer, Failure> {
        let failed = |error: io::Error| Failure {
            status: Status::Unavailable,
            message: format!(
                "the coordinator at {} does not answer: {}",
                self.address,
                plain(&error)
            ),
        };
        let stream = TcpStream::connect_timeout(&self.address, self.timing.silence);
        let stream = stream.map_err(failed)?;
        let patience = timeout.saturating_add(self.timing.silence);
        stream.set_read_timeout(Some(patience)).map_err(failed)?;
        ask(&stream, question).map_err(failed)?;
        let reply: Reply = receive(&stream).map_err(failed)?;
        match reply.answer {
            Some(Answer::Trouble(trouble)) => Err(Failure {
                status: Status::Unavailable,
                message: Error::from(trouble).to_string(),
            }),
            Some(answer) => Ok(answer),
            None => Err(failed(io::ErrorKind::InvalidData.into())),
        }
    }

    fn value(&self, question: Ask, key: &[u8], timeout: Duration) -> Result<Vec<u8>, Failure> {
        let failure = |status, message: String| Err(Failure { status, message });
        let key = String::from_utf8_lossy(key).into_owned();
        match self.question(question, timeout)? {
            Answer::Value(value) => Ok(value),
            _ if timeout.is_zero() => failure(Status::NotFound, format!("there is no key {key}")),
            _ => failure(
                Status::DeadlineExceeded,
                format!("no host has set the key {key} within {timeout:?}"),
            ),
        }
    }
}

impl Member {
    /// Goes without a word. The listening thread has a handle of its own, so the connection is closed for both.
    pub(super) fn hang_up(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // What comes back now is no news.
        self.end.state().leaving = true;
        self.hang_up();
    }
}

impl KeyValueStore for Member {
    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>, Failure> {
        let get = Get {
            key: key.to_vec(),
            timeout_ms: timeout.as_millis().try_into().unwrap_or(u64::MAX),
        };
        self.value(Ask::Get(get), key, timeout)
    }

    fn try_get(&self, key: &[u8]) -> Result<Vec<u8>, Failure> {
        self.value(Ask::TryGet(key.to_vec()), key, Duration::ZERO)
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let put = Put {
            key: key.to_vec(),
            value: value.to_vec(),
        };
        match self.question(Ask::Put(put), Duration::ZERO)? {
            Answer::Taken(_) => Err(Failure {
                status: Status::AlreadyExists,
                message: format!(
                    "the key {} has another value already",
                    String::from_utf8_lossy(key)
                ),
            }),
            _ => Ok(()),
        }
    }
}

impl End {
    fn state(&self) -> MutexGuard<'_, EndState> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, EndState>,
        deadline: Instant,
    ) -> MutexGuard<'a, EndState> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.changed.wait_timeout(state, left) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    /// Answers the coordinator's signs of life until it says how it ends, or is silent.
    fn listen(&self, stream: &TcpStream, timing: Timing, on_loss: impl FnOnce(Error)) {
        let ended = loop {
            match receive::<Reply>(stream).map(|reply| reply.answer) {
                Ok(Some(Answer::Beat(_))) => {
                    // A failure to answer is a failure to read next.
                    let _ = ask(stream, Ask::Beat(true));
                }
                Ok(Some(Answer::Ended(_))) => break Ok(()),
                Ok(Some(Answer::Trouble(trouble))) => break Err(trouble),
                _ => break Err(Kind::Lost(0).into()),
            }
        };
        let trouble = ended.clone().err();
        let mut state = self.state();
        state.ended = Some(ended);
        self.changed.notify_all();
        let Some(trouble) = trouble.filter(|_| !state.leaving) else {
            return;
        };
        drop(state);
        thread::sleep(timing.grace);
        if !self.state().leaving {
            on_loss(trouble.into());
        }
    }
}

/// A connection over which all hosts have met. `own`: where the coordinator listens, if it is in this process.
fn meet(
    hosts: &Hosts,
    own: Option<SocketAddr>,
    timing: Timing,
) -> Result<(TcpStream, SocketAddr), Error> {
    let unreachable = |error: io::Error| unreachable(hosts, &error);
    let (stream, address) = reach(&hosts.coordinator, own, timing).map_err(unreachable)?;
    let join = Ask::Join(Join {
        count: hosts.count as u64,
        index: hosts.index as u64,
        program: hosts.program.clone(),
    });
    ask(&stream, join).map_err(unreachable)?;
    await_all(&stream).map_err(unreachable)??;
    Ok((stream, address))
}

fn unreachable(hosts: &Hosts, error: &io::Error) -> Error {
    Error::Hosts(HostsError::CoordinatorUnreachable {
        address: hosts.coordinator.clone(),
        reason: plain(error),
    })
}

/// A connection to the coordinator, which may not have started yet. `own`: where it listens in this process.
fn reach(
    coordinator: &str,
    own: Option<SocketAddr>,
    timing: Timing,
) -> io::Result<(TcpStream, SocketAddr)> {
    let deadline = Instant::now() + timing.patience;
    let tries = || -> io::Result<(TcpStream, SocketAddr)> {
        let addresses = match own {
            Some(own) => vec![own],
            None => coordinator.to_socket_addrs()?.collect(),
        };
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            let left = deadline.saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(&address, left.max(RETRY)) {
                Ok(stream) => return Ok((stream, address)),
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    loop {
        match tries() {
            Ok((stream, address)) => {
                stream.set_read_timeout(Some(timing.silence))?;
                stream.set_write_timeout(Some(timing.silence))?;
                return Ok((stream, address));
            }
            Err(error) if deadline <= Instant::now() => return Err(error),
            Err(_) => thread::sleep(RETRY),
        }
    }
}

/// Until the coordinator says that all are there, or why that cannot be.
fn await_all(stream: &TcpStream) -> io::Result<Result<(), Trouble>> {
    loop {
        let reply: Reply = receive(stream)?;
        match reply.answer {
            Some(Answer::Joined(_)) => return Ok(Ok(())),
            Some(Answer::Beat(_)) => ask(stream, Ask::Beat(true))?,
            Some(Answer::Trouble(trouble)) => return Ok(Err(trouble)),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn ask(stream: &TcpStream, ask: Ask) -> io::Result<()> {
    send(stream, &Request { ask: Some(ask) })
}

/// A host that comes to a coordinator elsewhere, whatever its number.
#[cfg(test)]
pub(super) fn come(hosts: &Hosts, timing: Timing) -> Result<(), Error> {
    meet(hosts, None, timing).map(|_| ())
}

/// An error in words that do not speak of how it was found.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            "it closed the connection".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer".to_owned(),
        io::ErrorKind::InvalidData => "what listens there is no coordinator of tpuc".to_owned(),
        _ => error.to_string(),
    }
}
