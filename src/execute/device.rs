//! The backend of PJRT devices.

use super::{Backend, Input, Located, mesh};
use crate::convert;
use crate::failure::Failure;
use crate::parallel;
use std::time::{Duration, Instant};
use tpuc_compiler::ir::Func;
use tpuc_compiler::plan::{self, Plan, ProgramLayouts, Slot, Step, StepKind, donations};
use tpuc_runtime::cache::{Cache, Key, Reason};
use tpuc_runtime::client::{
    self, Buffer, Client, CompileOptions, Executable, OverrideValue, Signature, Upload,
};
use tpuc_runtime::host::{HostArray, Placement};
use tpuc_runtime::prebuilt::Prebuilt;

pub struct DeviceBackend {
    client: Client,
    programs: Vec<Executable>,
    /// For each program, where it came from.
    notes: Vec<Note>,
    /// Of the slots.
    placements: Vec<Placement>,
}

/// Where compiled programs may come from instead of the plugin's compiler.
#[derive(Clone, Copy, Default)]
pub struct Stores<'a> {
    /// What was compiled ahead of time.
    pub prebuilt: Option<&'a Prebuilt>,
    pub cache: Option<&'a Cache>,
}

/// A program ready for the plugin's compiler.
pub struct Lowered {
    pub name: String,
    /// Its file and name, by which the cache remembers it.
    pub label: String,
    pub code: Vec<u8>,
    pub signature: Signature,
}

impl DeviceBackend {
    /// Compiles the programs, but for those that the stores have.
    pub fn new(
        client: Client,
        plan: &Plan,
        programs: Vec<Lowered>,
        stores: Stores<'_>,
    ) -> Result<DeviceBackend, Failure> {
        // The front end and MLIR are done; below, the plugin's compiler is. What they took would stay resident.
        client::give_back();
        let noted = parallel::map(programs, |p| executable(&client, p, stores));
        let noted: Vec<Noted> = noted.into_iter().collect::<Result<_, _>>()?;
        client::give_back();
        let (programs, notes) = noted.into_iter().unzip();
        Ok(DeviceBackend {
            client,
            programs,
            notes,
            placements: mesh::slots(plan),
        })
    }

    /// For each program, whether it was compiled, and why.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Errors, before anything runs, when a program takes more memory than its device has.
    pub fn check_fits(&self, plan: &Plan) -> Located<()> {
        let mut result = Ok(());
        plan::walk(&plan.steps, &mut |step| {
            if let StepKind::Run { program, .. } = &step.kind
                && result.is_ok()
            {
                let fits = self.programs[*program].check_fits(&self.client);
                result = fits.map_err(|e| (e.into(), step.span));
            }
        });
        result
    }
}

/// Where a program came from.
#[derive(Clone, Debug)]
pub struct Note {
    pub text: String,
    pub start: Instant,
    pub took: Duration,
}

/// Why an executable that was compiled ahead of time may not load.
const OTHER_DEVICES: &str = "`--executables` has it from `tpuc compile`, for other devices or by another version of the plugin: compile it again, or leave the option out";

type Noted = (Executable, Note);

fn executable(client: &Client, program: Lowered, stores: Stores<'_>) -> Result<Noted, Failure> {
    let options = compile_options(client);
    let Lowered {
        name,
        label,
        code,
        signature,
    } = program;
    let start = Instant::now();
    let note = |text: String| Note {
        text: format!("{name}: {text}"),
        start,
        took: start.elapsed(),
    };
    let because = |why: String| {
        let seconds = start.elapsed().as_secs_f64();
        note(format!("compiled in {seconds:.2} s: {why}"))
    };
    if let Some(prebuilt) = stores.prebuilt
        && let Some(bytes) = prebuilt.get(&name, &code)
    {
        let loaded = client.load(&name, &bytes, signature);
        let loaded = loaded.map_err(|error| match Failure::from(error) {
            Failure::Device {
                code,
                program,
                message,
                ..
            } => Failure::Device {
                code,
                program,
                message,
                help: Some(OTHER_DEVICES.into()),
            },
            other => other,
        })?;
        return Ok((loaded, note("compiled ahead of time".into())));
    }
    let Some(cache) = stores.cache else {
        let compiled = client.compile(&name, &code, signature, &options)?;
        return Ok((compiled, because("there is no cache".into())));
    };
    let key = Key::new(client.plugin_path(), &code, &client.options_text(&options));
    let loaded = cache.find(&label, &key).and_then(|bytes| {
        let loaded = client.load(&name, &bytes, signature.clone());
        loaded.map_err(|_| Reason::Refused)
    });
    let why = match loaded {
        Ok(loaded) => return Ok((loaded, note("from the cache".into()))),
        Err(why) => why,
    };
    let compiled = client.compile(&name, &code, signature, &options)?;
    // A plugin that cannot serialise, or a full disk, costs only the next compilation.
    let kept = compiled.serialize();
    let kept = kept.and_then(|bytes| cache.put(&label, &key, &bytes));
    let why = match kept {
        Ok(()) => why.to_string(),
        Err(error) => format!("{why}; it is not kept: {error}"),
    };
    Ok((compiled, because(why)))
}

/// What a plugin's compiler is told. The CPU's default drops NaN in maximum and minimum.
pub fn compile_options(client: &Client) -> CompileOptions {
    let mut options = CompileOptions::default();
    if client.platform() == "cpu" {
        let exact = (
            "xla_cpu_enable_fast_min_max".to_owned(),
            OverrideValue::Bool(false),
        );
        options.overrides.push(exact);
    }
    options
}

impl Backend for DeviceBackend {
    type Buffer = Buffer;

    fn run(&self, program: usize, inputs: Vec<Input<'_, Buffer>>) -> Result<Vec<Buffer>, Failure> {
        let inputs = inputs
            .into_iter()
            .map(|input| match input {
                Input::Keep(b) => client::Input::Keep(b),
                Input::Give(b) => client::Input::Donate(b),
            })
            .collect();
        Ok(self.programs[program].execute(inputs)?)
    }

    fn upload(&self, array: &HostArray, slot: Slot, how: Upload) -> Result<Buffer, Failure> {
        let placement = &self.placements[slot.0 as usize];
        Ok(self.client.upload_placed(array, placement, how)?)
    }

    fn fetch(&self, buffer: &Buffer) -> Result<HostArray, Failure> {
        match buffer.is_here() {
            true => Ok(buffer.to_host()?),
            false => Ok(self.client.gather(buffer)?.to_host()?),
        }
    }

    fn wait(&self, buffer: &Buffer) -> Result<(), Failure> {
        Ok(buffer.wait()?)
    }
}

/// For each program of a plan, which inputs may give their memory to which outputs: those that some step that runs
/// it reads last.
pub fn plan_donations(plan: &Plan, layouts: &[ProgramLayouts]) -> Vec<Vec<(usize, usize)>> {
    let mut candidates: Vec<Vec<usize>> = vec![Vec::new(); plan.programs.len()];
    collect(&plan.steps, &mut candidates);
    plan.programs
        .iter()
        .zip(layouts)
        .zip(candidates)
        .map(|((func, l), c)| donations(func, l, &c))
        .collect()
}

fn collect(steps: &[Step], candidates: &mut [Vec<usize>]) {
    for step in steps {
        match &step.kind {
            StepKind::Run {
                program, inputs, ..
            } => {
                let last = inputs
                    .iter()
                    .enumerate()
                    .filter(|(_, s)| step.last_use.contains(s))
                    .map(|(i, _)| i);
                candidates[*program].extend(last);
            }
            StepKind::For { body, .. } => collect(body, candidates),
            StepKind::While { cond, body, .. } => {
                collect(cond, candidates);
                collect(body, candidates);
            }
            StepKind::If {
                then, otherwise, ..
            } => {
                collect(then, candidates);
                collect(otherwise, candidates);
            }
            StepKind::Constant { .. } | StepKind::Host { .. } | StepKind::Effect { .. } => {}
        }
    }
}

pub fn signature(
    func: &Func,
    donated: &[(usize, usize)],
    mesh: &[(String, usize)],
    layouts: &ProgramLayouts,
) -> Signature {
    Signature {
        placed: mesh::placed(mesh, &layouts.inputs, &layouts.outputs),
        inputs: func.input_types().iter().map(convert::spec).collect(),
        outputs: func.output_types().iter().map(convert::spec).collect(),
        donated: donated.iter().map(|(i, _)| *i).collect(),
    }
}
