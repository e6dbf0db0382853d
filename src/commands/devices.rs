//! `tpuc devices`: what programs can run on, and what was looked for where.

use crate::cli::DevicesArgs;
use crate::failure::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;
use tpuc_runtime::client::{Client, ClientOptions, DeviceInfo, show_bytes};
use tpuc_runtime::plugin::{Device, Plugin, search};
use tpuc_runtime::{Error, Surroundings};

/// What the environment names stands under this name.
const VARIABLE: &str = "$TPUC_PLUGIN";

pub fn devices(args: &DevicesArgs) -> Result<(), Failure> {
    let around = Surroundings::of_process();
    if let Some(name) = &args.device {
        let device = Device::parse(name)?;
        let plugin = Plugin::open(&device, &around)?;
        let client = Client::new(
            &plugin,
            ClientOptions {
                cpu_devices: device.cpu_devices(),
                ..ClientOptions::default()
            },
        )?;
        let entry = describe(&plugin, &client)?;
        if args.json {
            println!("{entry:#}");
        } else {
            show(name, &entry);
        }
        return Ok(());
    }
    let mut entries = Vec::new();
    for found in search::survey(&around) {
        let looked: Vec<PathBuf> = found.places.iter().map(|p| p.path.clone()).collect();
        let looked: Vec<String> = match args.json {
            true => looked.iter().map(|p| p.display().to_string()).collect(),
            false => search::by_folder(&looked),
        };
        let mut entry = match found.plugin() {
            None => json!({ "found": false }),
            Some(_) => match open(&found.device, &around) {
                Ok(entry) => entry,
                Err(e) => json!({ "found": true, "code": e.code(), "error": e.to_string() }),
            },
        };
        entry["name"] = json!(found.device.platform().unwrap_or(VARIABLE));
        entry["looked_in"] = json!(looked);
        entries.push(entry);
    }
    if let Err(e) = Device::choose(None, &around) {
        entries.push(
            json!({ "name": VARIABLE, "found": false, "code": e.code(), "error": e.to_string() }),
        );
    }
    if args.json {
        println!("{:#}", Value::Array(entries));
    } else {
        for entry in &entries {
            show(entry["name"].as_str().unwrap_or("plugin"), entry);
        }
    }
    Ok(())
}

fn open(device: &Device, around: &Surroundings) -> Result<Value, Error> {
    let plugin = Plugin::open(device, around)?;
    let client = Client::new(&plugin, ClientOptions::default())?;
    describe(&plugin, &client)
}

fn describe(plugin: &Plugin, client: &Client) -> Result<Value, Error> {
    let (major, minor) = plugin.api_version();
    let devices = client.devices()?;
    // Where the plugin does not say, as the CPU's: what a program of all of them may take on each.
    let limit = client.memory_limit(devices.len());
    let devices: Vec<Value> = devices
        .iter()
        .map(|d| {
            json!({
                "id": d.id,
                "name": d.name,
                "kind": d.kind,
                "memory_bytes": own_memory(d).or(limit),
            })
        })
        .collect();
    Ok(json!({
        "found": true,
        "plugin": plugin.path().display().to_string(),
        "platform": client.platform(),
        "api": format!("{major}.{minor}"),
        "stablehlo": plugin.stablehlo_version().map(|[a, b, c]| format!("{a}.{b}.{c}")),
        "devices": devices,
    }))
}

fn own_memory(device: &DeviceInfo) -> Option<u64> {
    let limit = device.memory.as_ref()?.bytes_limit?;
    u64::try_from(limit).ok().filter(|&bytes| bytes > 0)
}

fn show(name: &str, entry: &Value) {
    let text = |key: &str| entry[key].as_str().unwrap_or("unknown").to_string();
    if entry["found"] == json!(true) && entry["error"].is_null() {
        println!(
            "{name}: PJRT API {}, StableHLO {}, {}",
            text("api"),
            text("stablehlo"),
            text("plugin")
        );
        for device in entry["devices"].as_array().into_iter().flatten() {
            let memory = match device["memory_bytes"].as_u64() {
                Some(bytes) => format!(", {}", show_bytes(bytes)),
                None => String::new(),
            };
            println!(
                "  {} ({}){memory}",
                device["name"].as_str().unwrap_or("device"),
                device["kind"].as_str().unwrap_or("unknown kind")
            );
        }
        return;
    }
    if let Some(error) = entry["error"].as_str() {
        println!("{name}: error[{}]: {error}", text("code"));
        return;
    }
    println!("{name}: not found");
    for place in entry["looked_in"].as_array().into_iter().flatten() {
        println!("  looked in {}", place.as_str().unwrap_or(""));
    }
}
