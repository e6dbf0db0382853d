//! A run over several hosts: coming together, and going.

use crate::cli::{BackendName, RunArgs};
use crate::failure::Failure;
use std::process;
use std::sync::Arc;
use std::time::Duration;
use tpuc_lang::source::Sources;
use tpuc_runtime::Error;
use tpuc_runtime::checkpoint::{Checkpoint, digest_of};
use tpuc_runtime::error::HostsError;
use tpuc_runtime::hosts::{Hosts, Member, Timing};

/// Waits for the other hosts; nothing where there are none. When one of them is lost later on, this process ends: what
/// it computes waits for the other's part.
pub fn join(args: &RunArgs, sources: &Sources) -> Result<Option<Arc<Member>>, Failure> {
    let hosts = &args.hosts;
    let (Some(count), Some(index), Some(coordinator)) =
        (hosts.hosts, hosts.host, &hosts.coordinator)
    else {
        return Ok(None);
    };
    if args.backend == BackendName::Interp {
        return Err(Failure::Usage(
            "the reference interpreter runs on one host".into(),
        ));
    }
    if index >= count {
        return Err(Failure::Usage(format!(
            "there is no host {index} of {count}: they are counted from 0"
        )));
    }
    let hosts = Hosts {
        count,
        index,
        coordinator: coordinator.clone(),
        program: program(args, sources),
    };
    let timing = Timing::with_patience(Duration::from_secs(args.hosts.join_timeout));
    let member = Member::join(hosts, timing, |error| {
        eprint!("{}", Failure::from(error));
        process::exit(2);
    })?;
    Ok(Some(Arc::new(member)))
}

/// What must be alike on all hosts, or they would wait for each other at different places.
fn program(args: &RunArgs, sources: &Sources) -> String {
    let texts: Vec<&str> = sources.iter().map(|(_, file)| &*file.text).collect();
    let checkpoints = args.checkpoint.is_some().then_some(args.every);
    let text = format!(
        "{} {:?} {:?} {:?} {checkpoints:?} {}",
        env!("CARGO_PKG_VERSION"),
        texts,
        args.program,
        args.device,
        args.resume
    );
    let digest = digest_of(&text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes sure that all hosts take up the same checkpoint, which they read each for itself.
pub fn agree_on(member: &Member, resumed: Option<&Checkpoint>) -> Result<(), Failure> {
    let place = format!("{:?}", resumed.map(|checkpoint| &checkpoint.place));
    match member.agree("resume", &place)? {
        true => Ok(()),
        false => Err(Error::Hosts(HostsError::Checkpoint {
            host: member.index() as u64,
        })
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;
    use tpuc_runtime::checkpoint::Place;

    /// Two hosts that find these iterations; what each is told.
    fn agreed(found: [Option<u64>; 2]) -> Vec<Result<(), String>> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let coordinator = listener.local_addr().expect("it has a number").to_string();
        drop(listener);
        let hosts = found.into_iter().enumerate().map(|(index, iteration)| {
            let hosts = Hosts {
                count: 2,
                index,
                coordinator: coordinator.clone(),
                program: "the same".into(),
            };
            thread::spawn(move || {
                let timing = Timing::with_patience(Duration::from_secs(60));
                let member = Member::join(hosts, timing, |_| {}).expect("they meet");
                let checkpoint = iteration.map(|iteration| Checkpoint {
                    place: Place {
                        path: vec![0],
                        iteration,
                    },
                    values: Vec::new(),
                });
                let agreed = agree_on(&member, checkpoint.as_ref());
                member.leave().expect("they part");
                agreed.map_err(|failure| failure.to_string())
            })
        });
        let hosts: Vec<_> = hosts.collect();
        hosts
            .into_iter()
            .map(|host| host.join().expect("it ends"))
            .collect()
    }

    #[test]
    fn hosts_go_on_from_one_checkpoint() {
        assert_eq!(agreed([Some(3), Some(3)]), [Ok(()), Ok(())]);
        assert_eq!(agreed([None, None]), [Ok(()), Ok(())]);
        for found in [[Some(3), Some(4)], [Some(3), None], [None, Some(3)]] {
            let said = agreed(found);
            assert_eq!(said[0], Ok(()));
            let other = said[1].as_ref().expect_err("it finds another");
            assert_eq!(
                *other,
                "error[E0830]: host 1 finds another checkpoint than host 0\n  = help: every host needs the same \
                 checkpoint folder, on a disk that all of them see\n"
            );
        }
    }
}
