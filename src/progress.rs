//! One line on a terminal while something takes over a second; nothing where the output is piped.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::thread;
use std::time::Duration;

/// What is over sooner is not worth a line.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Progress {
    bar: ProgressBar,
    doing: RefCell<String>,
    /// The numbers of the last `log`.
    metrics: RefCell<String>,
}

impl Progress {
    pub fn new() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        if say::on_screen() {
            let bar = bar.clone();
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                    bar.enable_steady_tick(Duration::from_millis(200));
                }
            });
        }
        Progress {
            bar,
            doing: RefCell::default(),
            metrics: RefCell::default(),
        }
    }

    /// Says what is being done from now on.
    pub fn doing(&self, what: impl Into<String>) {
        *self.doing.borrow_mut() = what.into();
        self.show();
    }

    /// An iteration of a loop that the host walks.
    pub fn iteration(&self, i: usize, of: usize) {
        self.doing(format!("iteration {} of {of}", i + 1));
    }

    /// Numbers to be shown until the next ones.
    pub fn metrics(&self, text: String) {
        *self.metrics.borrow_mut() = text;
        self.show();
    }

    fn show(&self) {
        let (what, metrics) = (self.doing.borrow(), self.metrics.borrow());
        self.bar.set_message(match metrics.is_empty() {
            true => what.clone(),
            false => format!("{what}  {metrics}"),
        });
    }

    /// Takes the line away while something is printed.
    pub fn pause<T>(&self, f: impl FnOnce() -> T) -> T {
        self.bar.suspend(f)
    }

    /// Says something on the error stream, from any thread.
    pub fn note(&self) -> impl Fn(&str) + Send + use<> {
        let bar = self.bar.clone();
        move |text| bar.suspend(|| eprintln!("note: {text}"))
    }

    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
