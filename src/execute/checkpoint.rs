//! Long runs: the values of `main` saved while it runs, and taken up again.
//!
//! The place of a checkpoint is the end of an iteration of an outermost loop that the host walks: there, every value
//! of `main` that is still needed waits in a slot. Values that the loop does not change are written once.

use super::{Backend, Executor, Located};
use crate::cli::RunArgs;
use crate::failure::Failure;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tpuc_compiler::plan::{self, Carried, Plan, Slot, StepKind};
use tpuc_lang::span::Span;
use tpuc_runtime::checkpoint::{Checkpoint, Digest, Folder, Place, Program, digest_of};
use tpuc_runtime::client::Upload;
use tpuc_runtime::host::HostArray;

/// What the command line says of checkpoints.
pub struct Options {
    pub folder: PathBuf,
    /// Iterations from one to the next.
    pub every: usize,
    pub keep: usize,
    pub resume: bool,
    /// How to go on after an interruption.
    pub command: String,
    /// What belongs to the program among the options, as they are written.
    how: String,
}

impl Options {
    /// `None` where no checkpoints are asked for.
    pub fn of(args: &RunArgs) -> Option<Options> {
        let own = std::env::args_os().skip(1);
        let more = (!args.resume).then(|| "--resume".into());
        let command: Vec<String> = own.chain(more).map(|a| quoted(&a)).collect();
        Some(Options {
            folder: args.checkpoint.clone()?,
            every: args.every,
            keep: args.keep,
            resume: args.resume,
            how: how(args),
            command: format!("tpuc {}", command.join(" ")),
        })
    }
}

/// The options that make a program another one.
fn how(args: &RunArgs) -> String {
    let set = args.program.set.iter();
    let mut parts: Vec<String> = set.map(|(n, v)| format!("--set {n}={v}")).collect();
    parts.push(format!("--opt {}", args.program.opt));
    format!("`{}`", parts.join(" "))
}

/// An argument as a shell takes it.
fn quoted(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_=+./,:@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The checkpoints of one run.
pub struct Checkpoints {
    folder: Folder,
    every: usize,
    command: String,
    /// The signal that wants the run to stop; 0 while none has come.
    interrupted: Arc<AtomicUsize>,
    /// What the loop being run does not change: its digest, once it is written.
    shared: Option<Digest>,
    /// Whether a checkpoint is there to resume from.
    any: bool,
    /// Another host writes them.
    silent: bool,
}

impl Checkpoints {
    /// Opens the folder; gives the checkpoint to resume from, if that is wanted and there is one.
    pub fn open(
        options: &Options,
        plan: &Plan,
        interrupted: Arc<AtomicUsize>,
        silent: bool,
    ) -> Result<(Checkpoints, Option<Checkpoint>), Failure> {
        let mut loops = false;
        plan::walk(&plan.steps, &mut |step| {
            loops |= matches!(step.kind, StepKind::For { .. } | StepKind::While { .. });
        });
        if !loops {
            return Err(Failure::Source {
                code: "E0607",
                message: "`main` has no loop to save checkpoints in".into(),
                help: "checkpoints are saved between iterations of a loop with an effect in it, such as `print`"
                    .into(),
            });
        }
        let devices: usize = plan.mesh.iter().map(|(_, size)| size).product();
        let on = match devices {
            1 => "one device",
            _ => "several devices",
        };
        let program = Program {
            digest: identity(plan),
            how: format!("{} on {on}", options.how),
        };
        let folder = match silent {
            true => Folder::to_read(&options.folder, program),
            false => Folder::open(&options.folder, program, options.keep)?,
        };
        let there = folder.list();
        let shown = options.folder.display();
        let checkpoint = match (there.last(), options.resume) {
            (Some(last), true) => Some(folder.read(last)?),
            (Some(_), false) => {
                return Err(Failure::runtime(
                    "E0744",
                    format!("{shown} holds the checkpoints of an earlier run"),
                    Some("go on from there with `--resume`, or name another folder".into()),
                ));
            }
            (None, true) => {
                eprintln!("note: there is no checkpoint in {shown} yet: starting at the beginning");
                None
            }
            (None, false) => None,
        };
        let checkpoints = Checkpoints {
            folder,
            every: options.every,
            command: options.command.clone(),
            interrupted,
            shared: None,
            any: checkpoint.is_some(),
            silent,
        };
        Ok((checkpoints, checkpoint))
    }

    /// How to go on from the last checkpoint.
    fn way_on(&self) -> String {
        match self.any {
            true => format!("go on from the last checkpoint with `{}`", self.command),
            false => "no checkpoint was saved yet".into(),
        }
    }

    /// A failure to save one; those that are there stay as they are.
    fn explain(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Runtime {
                code,
                message,
                help: None,
            } => Failure::Runtime {
                code,
                message,
                help: Some(self.way_on()),
            },
            other => other,
        }
    }
}

/// What makes two plans the same program: programs, steps and values, but not where they stand in the source nor what
/// is printed.
fn identity(plan: &Plan) -> Digest {
    let mut text = String::new();
    for func in &plan.programs {
        text.push_str(&func.to_string());
    }
    text.push_str(&format!("{:?}\n", plan.slots));
    plan::walk(&plan.steps, &mut |step| {
        let line = match &step.kind {
            StepKind::Run {
                program,
                inputs,
                outputs,
            } => format!("run {program} {inputs:?} {outputs:?}"),
            StepKind::Constant { value, output } => format!("constant {value:?} {output:?}"),
            StepKind::Host {
                source,
                inputs,
                outputs,
            } => format!("host {source:?} {inputs:?} {outputs:?}"),
            StepKind::Effect { inputs, .. } => format!("effect {inputs:?}"),
            StepKind::For {
                index,
                length,
                carried,
                body,
            } => format!("for {index:?} {length} {carried:?} {}", body.len()),
            StepKind::While {
                cond,
                go,
                carried,
                body,
            } => format!("while {} {go:?} {carried:?} {}", cond.len(), body.len()),
            StepKind::If {
                pred,
                then,
                otherwise,
                results,
            } => format!("if {pred:?} {} {} {results:?}", then.len(), otherwise.len()),
        };
        text.push_str(&line);
        text.push('\n');
    });
    digest_of(&text)
}

impl<B: Backend> Executor<'_, B> {
    /// Puts the values of a checkpoint in their slots; the walk then goes straight to the loop.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<(), Failure> {
        for (slot, array) in checkpoint.values {
            let slot = Slot(slot);
            if (slot.0 as usize) < self.slots.len() {
                let buffer = self.backend.upload(&array, slot, Upload::Copied)?;
                self.put(slot, Rc::new(buffer));
            }
        }
        let Place { path, iteration } = checkpoint.place;
        self.resumed = Some((path.into_iter().rev().collect(), iteration as usize));
        Ok(())
    }

    /// The next number on the way to the loop to be resumed, if the walk is still on it.
    pub(super) fn way(&mut self) -> Option<usize> {
        let (path, _) = self.resumed.as_mut()?;
        path.pop().map(|n| n as usize)
    }

    /// Enters a loop; gives the iteration to begin with.
    pub(super) fn begin(&mut self, carried: &[Carried]) -> usize {
        self.depth += 1;
        if self.depth == 1
            && let Some(checkpoints) = &mut self.checkpoints
        {
            checkpoints.shared = None;
        }
        match self.resumed.take() {
            Some((_, iteration)) => iteration,
            None => {
                self.enter(carried);
                0
            }
        }
    }

    /// After `done` iterations of a loop; its index is needed no more.
    pub(super) fn iterated(
        &mut self,
        carried: &[Carried],
        index: Option<Slot>,
        done: usize,
        span: Span,
    ) -> Located<()> {
        let at = |e: Failure| (e, span);
        self.advance(carried);
        if let Some(index) = index {
            self.slots[index.0 as usize] = None;
        }
        let outermost = self.depth == 1;
        let due = |c: &Checkpoints| outermost && done.is_multiple_of(c.every);
        if let Some(mut checkpoints) = self.checkpoints.take_if(|c| due(c)) {
            let saved = self.save(&mut checkpoints, carried, done);
            let saved = saved.map_err(|failure| at(checkpoints.explain(failure)));
            self.checkpoints = Some(checkpoints);
            saved?;
        }
        self.check_interrupt().map_err(at)
    }

    fn save(
        &self,
        checkpoints: &mut Checkpoints,
        carried: &[Carried],
        done: usize,
    ) -> Result<(), Failure> {
        let own: Vec<u32> = carried.iter().map(|c| c.current.0).collect();
        let folder = (!checkpoints.silent).then_some(&checkpoints.folder);
        let fetch = |wanted: &dyn Fn(&u32) -> bool| -> Result<Vec<(u32, HostArray)>, Failure> {
            let held = (0..self.slots.len() as u32)
                .filter(|&slot| self.slots[slot as usize].is_some() && wanted(&slot));
            held.map(|slot| Ok((slot, self.fetch(Slot(slot))?)))
                .collect()
        };
        let shared = match checkpoints.shared {
            Some(shared) => shared,
            None => {
                let values = fetch(&|slot| !own.contains(slot))?;
                let written = folder.map(|folder| folder.write_shared(&values));
                written.transpose()?.unwrap_or_default()
            }
        };
        checkpoints.shared = Some(shared);
        let checkpoint = Checkpoint {
            place: Place {
                path: self.path.iter().map(|&n| n as u64).collect(),
                iteration: done as u64,
            },
            values: fetch(&|slot| own.contains(slot))?,
        };
        if let Some(folder) = folder {
            folder.write(&checkpoint, &shared)?;
        }
        checkpoints.any = true;
        Ok(())
    }

    /// Ends the run where the user wants that: programs end where they are, so this is asked between them.
    pub(super) fn check_interrupt(&self) -> Result<(), Failure> {
        let Some(checkpoints) = &self.checkpoints else {
            return Ok(());
        };
        match checkpoints.interrupted.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Failure::Interrupted {
                signal: signal as u8,
                help: checkpoints.way_on(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back_from_a_shell() {
        for (argument, shown) in [
            ("runs/a.b-c_1", "runs/a.b-c_1"),
            ("LR=1e-3", "LR=1e-3"),
            ("a b.tl", "'a b.tl'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
            ("größe", "größe"),
        ] {
            assert_eq!(quoted(OsStr::new(argument)), shown);
        }
    }
}
