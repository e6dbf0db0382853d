//! The mesh of a program on the devices there are: whether it fits, and where each value of a plan lies.

use crate::failure::Failure;
use tpuc_compiler::plan::{Layout, Plan};
use tpuc_lang::typed::Program;
use tpuc_runtime::client::{Client, Placed};
use tpuc_runtime::host::Placement;

/// Takes the mesh out of a program that runs on one device; an error if the mesh has more devices than there are, or
/// leaves out some of several hosts.
pub fn settle(program: &mut Program, devices: usize, several_hosts: bool) -> Result<(), Failure> {
    let wanted = program.devices();
    if several_hosts && wanted != devices {
        return Err(mismatch(
            format!(
                "{}, and the hosts have {devices} together",
                described(program)
            ),
            "give it sizes with `--mesh`, so that every device of every host has a place",
        ));
    }
    if devices == 1 || wanted == 1 {
        program.mesh.clear();
        return Ok(());
    }
    if wanted <= devices {
        return Ok(());
    }
    Err(mismatch(
        format!("{}, and there are {devices}", described(program)),
        "give it other sizes with `--mesh`, or more CPU devices with `--device cpu:N`",
    ))
}

/// Errors where other processes share the devices, for a program that takes one.
pub fn check_alone(client: &Client) -> Result<(), Failure> {
    match client.is_shared() {
        true => Err(mismatch(
            format!(
                "the program takes one device, and the hosts have {} together",
                client.device_count()
            ),
            "give it a mesh, in the program or with `--mesh`, so that every device of every host has a place",
        )),
        false => Ok(()),
    }
}

fn mismatch(message: String, help: &str) -> Failure {
    Failure::runtime("E0818", message, Some(help.into()))
}

fn described(program: &Program) -> String {
    if program.mesh.is_empty() {
        return "the program has no mesh, so it takes one device".into();
    }
    let axes = program.mesh.iter().map(|(n, size)| format!("{n}={size}"));
    let axes: Vec<String> = axes.collect();
    let wanted = program.devices();
    format!("the mesh {} has {wanted} devices", axes.join(","))
}

/// The axes as the compiler takes them.
pub fn axes(program: &Program) -> Vec<(String, usize)> {
    let axes = program.mesh.iter();
    axes.map(|(name, size)| (name.to_string(), *size as usize))
        .collect()
}

/// Where a value of a layout lies.
pub fn placement(mesh: &[(String, usize)], layout: &Layout) -> Placement {
    if mesh.is_empty() {
        return Placement::default();
    }
    let sizes: Vec<usize> = mesh.iter().map(|(_, size)| *size).collect();
    let axis = |name: &String| mesh.iter().position(|(n, _)| n == name);
    let axes: Vec<Option<usize>> = layout
        .iter()
        .map(|name| name.as_ref().and_then(axis))
        .collect();
    Placement::on_mesh(&sizes, &axes)
}

/// The placements of the slots of a plan.
pub fn slots(plan: &Plan) -> Vec<Placement> {
    let layouts = plan.layouts.iter();
    layouts.map(|l| placement(&plan.mesh, l)).collect()
}

/// The placements of the arguments and results of a program.
pub fn placed(mesh: &[(String, usize)], inputs: &[Layout], outputs: &[Layout]) -> Option<Placed> {
    let all = |layouts: &[Layout]| layouts.iter().map(|l| placement(mesh, l)).collect();
    (!mesh.is_empty()).then(|| Placed {
        devices: mesh.iter().map(|(_, size)| size).product(),
        inputs: all(inputs),
        outputs: all(outputs),
    })
}
