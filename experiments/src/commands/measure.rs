//! `plimsoll measure`: runs schedules on this machine, beside what was predicted.

use crate::cli::{CalibrateArgs, ChipArgs, LinkArgs, MeasureArgs, MeasureCommand, RunArgs};
use crate::commands::{command_line, overlap};
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND};
use crate::output;
use plimsoll::datasets::{ImportOptions, import_file};
use plimsoll::external::quote;
use plimsoll::measure::{
    Calibration, CalibrationSettings, Cold, CompareError, Found, Question, Record, Settings, calibrate,
    chain, compare,
};
use plimsoll::model::Bytes;
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::Machine;
use plimsoll::run::Limits;
use serde::Serialize;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Nodes of a search per graph.
const SEARCH_NODES: u64 = 20_000;

/// Runs of a calibration at least: it takes little time, and everything rests on it.
const LEAST_RUNS: u32 = 9;

/// Runs the command.
pub fn main(args: &MeasureArgs) -> Result<u8, Failure> {
    match &args.what {
        MeasureCommand::Calibrate(args) => only_calibrate(args),
        MeasureCommand::Run(args) => run(args),
    }
}

fn only_calibrate(args: &CalibrateArgs) -> Result<u8, Failure> {
    output::check_targets(&[&args.output, &args.samples], &[])?;
    let cold = Cold::new(args.link.cold as usize);
    let calibration = calibrated(args.link, args.chip, &cold)?;
    if let Some(path) = &args.output {
        output::write_file(path, |file| file.write_all(calibration.machine.toml().as_bytes()))?;
    }
    if let Some(path) = &args.samples {
        output::write_file(path, |file| write_csv(file, &calibration.samples))?;
    }
    let found = Found::of(&calibration);
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&found.text())?;
    }
    Ok(ANSWERED)
}

fn calibrated(link: LinkArgs, chip: ChipArgs, cold: &Cold) -> Result<Calibration, Failure> {
    let settings = CalibrationSettings {
        link: link.link(),
        repeat: link.repeat.max(LEAST_RUNS),
        seed: chip.seed,
        slice: Bytes::new(chip.slice),
        capacity: Bytes::new(chip.capacity),
    };
    calibrate(settings, cold, &mut |_, _| ()).map_err(Failure::internal)
}

/// Shows what is going on, where somebody looks; nothing is printed while something runs.
fn tell(what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // Nobody is left to tell if this fails.
        let _ = write!(stderr, "\r\x1b[K{what}");
        let _ = stderr.flush();
    }
}

fn run(args: &RunArgs) -> Result<u8, Failure> {
    let schedules = overlap::chosen(&plimsoll::registry().schedules, &args.schedule)?;
    if let Some(folder) = &args.out {
        prepare(folder)?;
    }
    let graphs = graphs(args)?;
    let machine = args.machine.as_deref().map(Machine::find).transpose().map_err(Failure::input)?;
    let cold = Cold::new(args.link.cold as usize);
    let calibration = match &machine {
        Some(_) => None,
        None => Some(calibrated(args.link, args.chip, &cold)?),
    };
    let machine = machine.or_else(|| calibration.as_ref().map(|found| found.machine.clone()));
    let machine = machine.expect("given or calibrated");
    let settings = Settings {
        machine: &machine,
        link: args.link.link(),
        repeat: args.link.repeat,
        room: args.room.map(Bytes::new),
        buffers: args.buffers as usize,
        limits: Limits { nodes: Some(SEARCH_NODES), ..Limits::default() },
        most: args.time_limit,
    };
    let question = Question {
        command: without_folders(command_line(), &args.models),
        machine: machine.clone(),
        cold: cold.size(),
        repeat: args.link.repeat,
        calibration: calibration.as_ref().map(Found::of),
    };
    let mut record = Record::new(question);
    for graph in &graphs {
        match compare(graph, &schedules, settings, &cold, &mut tell) {
            Ok(measured) => record.add(graph, measured),
            Err(error) if error.is_defect() => return Err(Failure::internal(error)),
            Err(error @ (CompareError::Work(_) | CompareError::TooLong { .. })) => {
                record.leave_out(error.to_string());
            }
            Err(error) => return Err(Failure::input(error)),
        }
    }
    tell("");
    if let Some(folder) = &args.out {
        store(folder, &record, calibration.as_ref(), &machine)?;
    }
    if args.json {
        output::print_json(&record.report())?;
    } else {
        output::print(&record.text())?;
    }
    Ok(if record.is_empty() { NOTHING_FOUND } else { ANSWERED })
}

/// The graphs asked for.
fn graphs(args: &RunArgs) -> Result<Vec<Graph>, Failure> {
    let options = ImportOptions { batch: args.batch, ..ImportOptions::default() };
    let mut all = Vec::new();
    for path in &args.models {
        // A graph as JSON has its shapes already.
        let options = if path.extension().is_some_and(|end| end == "json") {
            ImportOptions::default()
        } else {
            options.clone()
        };
        all.push(import_file(path, &options).map_err(Failure::input)?.graph);
    }
    for nth in 0..args.chains {
        all.push(chain(nth).map_err(Failure::internal)?);
    }
    if all.is_empty() {
        return Err(Failure::input("nothing to run: name models, or ask for --chains N"));
    }
    Ok(all)
}

/// The command with models by their bare names, so that records hold no paths.
fn without_folders(mut command: String, models: &[PathBuf]) -> String {
    for path in models {
        if let (Some(path), Some(name)) = (path.to_str(), path.file_name().and_then(|name| name.to_str())) {
            command = command.replace(&quote(path), &quote(name));
        }
    }
    command
}

/// A folder for a record: made, or empty.
fn prepare(folder: &Path) -> Result<(), Failure> {
    let wrong = |error| Failure::input(format!("cannot write into {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(wrong)?;
    if fs::read_dir(folder).map_err(wrong)?.next().is_some() {
        return Err(Failure::input(format!("{} is not empty", folder.display())));
    }
    Ok(())
}

fn store(
    folder: &Path,
    record: &Record,
    calibration: Option<&Calibration>,
    machine: &Machine,
) -> Result<(), Failure> {
    let write = |name: &str, text: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        output::write_file(&folder.join(name), text)
    };
    write("machine.toml", &|file| file.write_all(machine.toml().as_bytes()))?;
    if let Some(calibration) = calibration {
        write("calibration.csv", &|file| write_csv(file, &calibration.samples))?;
    }
    write("samples.csv", &|file| write_csv(file, record.samples()))?;
    write("summary.csv", &|file| write_csv(file, record.comparisons()))?;
    write("summary.md", &|file| file.write_all(record.markdown().as_bytes()))
}

fn write_csv<T: Serialize>(file: &mut dyn Write, rows: &[T]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    for row in rows {
        writer.serialize(row).map_err(io::Error::other)?;
    }
    writer.flush()
}
