//! One line on a terminal while something takes over a second; nothing where the output is piped.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

pub struct Progress {
    bar: ProgressBar,
    /// What is being done, since when.
    doing: RefCell<(String, Instant)>,
    /// The numbers of the last `log`.
    metrics: RefCell<String>,
}

impl Progress {
    pub fn new() -> Progress {
        let shown = std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        Progress {
            bar,
            doing: RefCell::new((String::new(), Instant::now())),
            metrics: RefCell::default(),
        }
    }

    /// Says what is being done from now on.
    pub fn doing(&self, what: impl Into<String>) {
        *self.doing.borrow_mut() = (what.into(), Instant::now());
        self.tick();
    }

    /// An iteration of a loop that the host walks.
    pub fn iteration(&self, i: usize, of: usize) {
        self.doing(format!("iteration {} of {of}", i + 1));
    }

    /// Numbers to be shown until the next ones.
    pub fn metrics(&self, text: String) {
        *self.metrics.borrow_mut() = text;
        self.tick();
    }

    fn tick(&self) {
        let (what, since) = &*self.doing.borrow();
        let metrics = self.metrics.borrow();
        self.bar.set_message(match metrics.is_empty() {
            true => what.clone(),
            false => format!("{what}  {metrics}"),
        });
        if since.elapsed() > Duration::from_secs(1) || self.bar.elapsed() > Duration::from_secs(1) {
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Takes the line away while something is printed.
    pub fn pause<T>(&self, f: impl FnOnce() -> T) -> T {
        self.bar.suspend(f)
    }

    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}
