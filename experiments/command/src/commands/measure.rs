//! `plimsoll measure`: runs schedules on this machine, beside what was predicted.

use crate::cli::{CalibrateArgs, ChipArgs, LinkArgs, MeasureArgs, MeasureCommand, RunArgs};
use crate::commands::{command_line, overlap};
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND};
use crate::output;
use plimsoll::datasets::{ImportOptions, import_file};
use plimsoll::model::Bytes;
use plimsoll::model::graph::Graph;
use plimsoll::model::overlap::Machine;
use plimsoll::run::Limits;
use plimsoll_hardware::{
    CalibrateError, Calibration, CalibrationSample, CalibrationSettings, Cold, CompareError, Link, Question,
    Record, Settings, about, chain, compare, conclude, take_samples,
};
use plimsoll_lab::external::quote;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

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
    let settings = settings(args.link, args.chip);
    let samples = samples(settings, &cold)?;
    if let Some(path) = &args.samples {
        output::write_file(path, |file| output::csv(file, &samples))?;
    }
    let calibration = match conclude(settings, samples) {
        Ok(calibration) => calibration,
        Err(inconclusive) => {
            if args.json {
                output::print_json(&serde_json::json!({ "inconclusive": inconclusive }))?;
            }
            return Err(Failure { code: NOTHING_FOUND, message: inconclusive.to_string() });
        }
    };
    if let Some(path) = &args.output {
        output::write_file(path, |file| file.write_all(calibration.machine.toml().as_bytes()))?;
    }
    if args.json {
        output::print_json(&calibration)?;
    } else {
        output::print(&calibration.text())?;
    }
    Ok(ANSWERED)
}

fn settings(link: LinkArgs, chip: ChipArgs) -> CalibrationSettings {
    CalibrationSettings {
        link: link.link(),
        repeat: link.repeat,
        seed: chip.seed,
        slice: Bytes::new(chip.slice),
        capacity: Bytes::new(chip.capacity),
    }
}

/// The times of a calibration.
fn samples(settings: CalibrationSettings, cold: &Cold) -> Result<Vec<CalibrationSample>, Failure> {
    let mut told = |run: u32, of: u32| tell(&format!("calibration: run {} of {of}", run + 1));
    let found = take_samples(settings, cold, &mut told);
    tell("");
    found.map_err(|error| match error {
        CalibrateError::Timeline(_) => Failure::input(error),
        CalibrateError::Execute(_) | CalibrateError::Digest => Failure::internal(error),
    })
}

/// A calibration before other runs, without which none of them has a prediction.
fn calibrated(args: &RunArgs, cold: &Cold) -> Result<Calibration, Failure> {
    let settings = settings(args.link, args.chip);
    conclude(settings, samples(settings, cold)?).map_err(|inconclusive| Failure {
        code: NOTHING_FOUND,
        message: format!("{inconclusive}; or give a machine with --machine"),
    })
}

/// Refuses a machine that was measured with another link; of others nobody knows, and the record says so.
fn same_link(machine: &Machine, link: Link) -> Result<Option<String>, Failure> {
    let here = about(link);
    if machine.about == here {
        return Ok(None);
    }
    if machine.about.starts_with("measured: ") {
        let (name, there) = (&machine.name, &machine.about);
        return Err(Failure::input(format!(
            "--machine: '{name}' is {there}; these runs are {here}: give the same --bandwidth and --startup"
        )));
    }
    Ok(Some(format!(
        "whether predictions are for this machine: '{}' is not known to have been measured here",
        machine.name
    )))
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
    let unknown = machine.as_ref().map(|machine| same_link(machine, args.link.link())).transpose()?.flatten();
    let cold = Cold::new(args.link.cold as usize);
    let calibration = match &machine {
        Some(_) => None,
        None => Some(calibrated(args, &cold)?),
    };
    let machine = machine.or_else(|| calibration.as_ref().map(|found| found.machine.clone()));
    let machine = machine.expect("given or calibrated");
    let settings = Settings {
        machine: &machine,
        link: args.link.link(),
        repeat: args.link.repeat,
        room: args.room.map(Bytes::new),
        buffers: args.buffers as usize,
        limits: Limits { nodes: Some(overlap::SEARCH_NODES), ..Limits::default() },
        most: args.time_limit,
    };
    let question = Question {
        command: without_folders(command_line(), &args.models),
        machine: machine.clone(),
        cold: cold.size(),
        repeat: args.link.repeat,
        calibration,
    };
    let mut record = Record::new(question);
    if let Some(unknown) = unknown {
        record.leave_out(unknown);
    }
    for graph in &graphs {
        match compare(graph, &schedules, settings, &cold, &mut tell) {
            Ok(measured) => record.add(graph, measured),
            Err(CompareError::Defect(message)) => return Err(Failure::internal(message)),
            // What others have taken long to find is not thrown away.
            Err(CompareError::LeftOut(message)) => record.leave_out(message),
        }
    }
    tell("");
    if let Some(folder) = &args.out {
        store(folder, &record, &machine)?;
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

fn store(folder: &Path, record: &Record, machine: &Machine) -> Result<(), Failure> {
    let write = |name: &str, text: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        output::write_file(&folder.join(name), text)
    };
    write("machine.toml", &|file| file.write_all(machine.toml().as_bytes()))?;
    if let Some(calibration) = record.calibration() {
        write("calibration.csv", &|file| output::csv(file, &calibration.samples))?;
    }
    write("samples.csv", &|file| output::csv(file, record.samples()))?;
    write("summary.csv", &|file| output::csv(file, record.comparisons()))?;
    write("summary.md", &|file| file.write_all(record.markdown().as_bytes()))
}
