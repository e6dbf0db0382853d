//! What members and the coordinator say to each other: messages of Protocol Buffers, each after its length.

use std::io::{self, Read, Write};

use prost::{Message, Oneof};

use crate::error::{Error, HostsError};

/// More than any plugin keeps under a key; a length above it is no message of ours.
const MAX_LEN: usize = 64 << 20;

/// From a member.
#[derive(Clone, PartialEq, Message)]
pub struct Request {
    #[prost(oneof = "Ask", tags = "1, 2, 3, 4, 5, 6")]
    pub ask: Option<Ask>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Ask {
    #[prost(message, tag = "1")]
    Join(Join),
    #[prost(message, tag = "2")]
    Get(Get),
    #[prost(bytes, tag = "3")]
    TryGet(Vec<u8>),
    #[prost(message, tag = "4")]
    Put(Put),
    /// Still there.
    #[prost(bool, tag = "5")]
    Beat(bool),
    /// Done, without an error.
    #[prost(bool, tag = "6")]
    Leave(bool),
}

#[derive(Clone, PartialEq, Message)]
pub struct Join {
    #[prost(uint64, tag = "1")]
    pub count: u64,
    #[prost(uint64, tag = "2")]
    pub index: u64,
    #[prost(string, tag = "3")]
    pub program: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Get {
    #[prost(bytes, tag = "1")]
    pub key: Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub timeout_ms: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Put {
    #[prost(bytes, tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes, tag = "2")]
    pub value: Vec<u8>,
}

/// From the coordinator.
#[derive(Clone, PartialEq, Message)]
pub struct Reply {
    #[prost(oneof = "Answer", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub answer: Option<Answer>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Answer {
    /// All hosts are there.
    #[prost(bool, tag = "1")]
    Joined(bool),
    #[prost(bytes, tag = "2")]
    Value(Vec<u8>),
    #[prost(bool, tag = "3")]
    Stored(bool),
    /// There is no such key, or was none in time.
    #[prost(bool, tag = "4")]
    Absent(bool),
    /// The key is there already, with another value.
    #[prost(bool, tag = "5")]
    Taken(bool),
    #[prost(bool, tag = "6")]
    Beat(bool),
    /// All hosts are done.
    #[prost(bool, tag = "7")]
    Ended(bool),
    #[prost(message, tag = "8")]
    Trouble(Trouble),
}

/// Why the hosts cannot go on together.
#[derive(Clone, PartialEq, Message)]
pub struct Trouble {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Kind {
    /// A host was told another number of hosts than the coordinator.
    #[prost(message, tag = "1")]
    Count(Count),
    /// Two hosts have this number.
    #[prost(uint64, tag = "2")]
    Twice(u64),
    /// This host has another program.
    #[prost(uint64, tag = "3")]
    Program(u64),
    #[prost(message, tag = "4")]
    Missing(Missing),
    #[prost(uint64, tag = "5")]
    Lost(u64),
}

#[derive(Clone, PartialEq, Message)]
pub struct Count {
    #[prost(uint64, tag = "1")]
    pub index: u64,
    #[prost(uint64, tag = "2")]
    pub said: u64,
    #[prost(uint64, tag = "3")]
    pub expected: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Missing {
    #[prost(uint64, repeated, tag = "1")]
    pub hosts: Vec<u64>,
    #[prost(uint64, tag = "2")]
    pub seconds: u64,
}

impl From<Kind> for Trouble {
    fn from(kind: Kind) -> Trouble {
        Trouble { kind: Some(kind) }
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Error {
        match trouble.kind.unwrap_or(Kind::Lost(0)) {
            Kind::Count(Count {
                index,
                said,
                expected,
            }) => Error::Hosts(HostsError::Count {
                host: index,
                said,
                expected,
            }),
            Kind::Twice(host) => Error::Hosts(HostsError::Twice { host }),
            Kind::Program(host) => Error::Hosts(HostsError::Program { host }),
            Kind::Missing(Missing { hosts, seconds }) => {
                Error::Hosts(HostsError::Missing { hosts, seconds })
            }
            Kind::Lost(host) => Error::Hosts(HostsError::Lost { host }),
        }
    }
}

pub fn send(mut to: impl Write, message: &impl Message) -> io::Result<()> {
    let mut bytes = Vec::new();
    bytes.extend((message.encoded_len() as u32).to_be_bytes());
    message
        .encode(&mut bytes)
        .map_err(|error| io::Error::other(error.to_string()))?;
    to.write_all(&bytes)?;
    to.flush()
}

pub fn receive<M: Message + Default>(mut from: impl Read) -> io::Result<M> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_be_bytes(len) as usize;
    let foreign = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    if len > MAX_LEN {
        return Err(foreign("it answers in another protocol".into()));
    }
    let mut bytes = Vec::new();
    from.take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    M::decode(bytes.as_slice()).map_err(|error| foreign(error.to_string()))
}
