//! Walking a plan with the time measured.

use super::Job;
use super::failures::place_in;
use crate::execute::Backend;
use crate::execute::device::Note;
use crate::execute::profile::{Event, Kind, Label, Profiled};
use crate::execute::profile_report::Profile;
use crate::failure::Failure;
use crate::program_file::place_of;
use std::time::Instant;
use tpuc_compiler::ir::Func;
use tpuc_compiler::opt::cost::lines;
use tpuc_runtime::client::Client;

impl Job<'_> {
    /// Walks the plan, with the time measured where that is asked for. `notes`: of the compilation.
    pub(super) fn finish<B: Backend>(
        &self,
        backend: B,
        start: Instant,
        notes: &[Note],
        client: Option<&Client>,
    ) -> Result<(), Failure> {
        let Some(folder) = self.how.profile else {
            return self.walk(&backend);
        };
        let labels = self.labels();
        let profiled = Profiled::new(backend, &labels);
        let device = client.map(Client::start_profile).transpose();
        self.walk(&profiled)?;
        // Without it the rest is still there.
        let device = device.and_then(|profile| {
            let written = profile.flatten().map(|profile| profile.write(folder));
            written.transpose()
        });
        let compiled = notes.iter().zip(&labels).map(|(note, label)| Event {
            kind: Kind::Compile,
            name: label.name.clone(),
            start: note.start,
            took: note.took,
        });
        let profile = Profile {
            start,
            took: start.elapsed(),
            events: compiled.chain(profiled.events()).collect(),
            labels: labels.clone(),
            device: match device {
                Ok(Some(path)) => format!("{}, for TensorBoard or XProf", path.display()),
                Ok(None) => "the plugin offers no profile of its own".into(),
                Err(e) => format!("the plugin's own profile failed: {e}"),
            },
        };
        eprint!("{profile}");
        profile.write(folder)
    }

    fn labels(&self) -> Vec<Label> {
        let programs = self.plan.programs.iter();
        programs
            .map(|func| Label {
                name: func.name.clone(),
                place: place_in(func).map_or(String::new(), |s| place_of(self.sources, s)),
                lines: self.lines(func),
            })
            .collect()
    }

    /// Lines of the source with the part of a program's time that the cost model gives them.
    fn lines(&self, func: &Func) -> Vec<(String, f64)> {
        let mut lines: Vec<(String, f64)> = Vec::new();
        for (span, part) in lines::by_place(func, self.costs) {
            let place = place_of(self.sources, span);
            match lines.iter_mut().find(|(p, _)| *p == place) {
                Some(line) => line.1 += part,
                None => lines.push((place, part)),
            }
        }
        lines
    }
}
