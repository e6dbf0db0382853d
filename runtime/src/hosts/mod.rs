//! Several processes, one on each host, that make one client between them.
//!
//! Host 0 runs the [`coordinator`], a small server of keys and values; every host, the first included, is a [`Member`].
//! Members wait for each other, hand the plugin the store by which its processes find each other, and hear when one of
//! them is lost: a collective would wait for it for ever.
//!
//! Nobody is asked who they are: like other coordinators of training runs it belongs on a network that is trusted.

mod coordinator;
mod member;
mod message;

use std::time::Duration;

pub use member::Member;

/// Which process of how many this is, and where they meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    pub count: usize,
    /// From 0.
    pub index: usize,
    /// `ADDRESS:PORT`, on which host 0 listens.
    pub coordinator: String,
    /// What must be the same on all hosts: a digest of the program and its options.
    pub program: String,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until all hosts are there, and at the end until all are done.
    pub patience: Duration,
    /// From one sign of life to the next.
    pub beat: Duration,
    /// Without a sign of life a host counts as lost.
    pub silence: Duration,
    /// From the loss of another host to the end of this process, which may say by itself what is wrong.
    pub grace: Duration,
}

impl Timing {
    pub fn with_patience(patience: Duration) -> Timing {
        Timing {
            patience,
            beat: Duration::from_secs(5),
            silence: Duration::from_secs(60),
            grace: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests;
