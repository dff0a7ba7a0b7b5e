//! `plimsoll measure`: runs schedules on this machine and compares measured with predicted times.

use crate::args::{bytes, bytes_within, seconds};
use crate::command::{Command, Main, Task};
use crate::commands::choose::no_machine;
use crate::commands::overlap::chosen;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND};
use crate::format;
use crate::input::{input_file, input_name};
use crate::output;
use clap::{Args, Subcommand};
use plimsoll::datasets::{ImportOptions, import_file};
use plimsoll::model::Bytes;
use plimsoll::model::graph::Graph;
use plimsoll::model::timelines::{Machine, PRESETS};
use plimsoll::run::Limits;
use plimsoll_hardware::{
    CalibrateError, Calibration, CalibrationSample, CalibrationSettings, Cold, CompareError, Link, Question,
    Record, Settings, about, chain, compare, conclude, take_samples,
};
use plimsoll_lab::external::quote;
use plimsoll_support::contents::{has_suffix, name_of};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Node limit of each search, so that searching takes no longer than measuring.
const SEARCH_NODES: u64 = 20_000;

#[derive(Args, Debug)]
pub struct MeasureArgs {
    #[command(subcommand)]
    what: MeasureCommand,
}

/// The actions of `measure`.
#[derive(Debug, Subcommand)]
pub enum MeasureCommand {
    /// Measure the rates of this machine, and write a machine file for `overlap` and `measure run`
    Calibrate(CalibrateArgs),
    /// Run schedules of graphs and compare measured with predicted times
    Run(RunArgs),
}

/// Settings of the weight transfers, the size of the off-chip memory, and the number of measured runs.
#[derive(Args, Clone, Copy, Debug)]
pub struct LinkArgs {
    /// Limit transfers to this many bytes per second, to imitate slower memory [default: the speed of a copy]
    #[arg(long, value_name = "BYTES/S", value_parser = rate)]
    bandwidth: Option<f64>,
    /// Add this setup latency to every transfer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = startup)]
    startup: Duration,
    /// Size of the off-chip memory that weights are fetched from, in bytes; should be larger than the caches
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = bytes_within(64..=1 << 34))]
    cold: u64,
    /// Number of measured runs of every schedule, after one warm-up run
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
}

impl LinkArgs {
    /// Converts the arguments to a [`Link`].
    fn link(self) -> Link {
        Link { startup: self.startup, bandwidth: self.bandwidth }
    }
}

/// Settings of a calibration, and properties of the machine that the calibration does not measure.
#[derive(Args, Clone, Copy, Debug)]
pub struct ChipArgs {
    /// Split operators with more bytes of weights than this into slices
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = bytes_within(8192..=1 << 30))]
    slice: u64,
    /// Size of the on-chip memory, in bytes
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = bytes_within(8192..=1 << 34))]
    capacity: u64,
    /// Random seed for the order of operators in the calibration
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Args, Debug)]
pub struct CalibrateArgs {
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    chip: ChipArgs,
    /// Write the machine as TOML
    #[arg(long, short, value_name = "MACHINE.toml", value_parser = format::TOML.file())]
    output: Option<PathBuf>,
    /// Write all measured times as CSV
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    samples: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub struct RunArgs {
    /// Graphs (.json, as written by `import`) or models (.onnx, .tflite) without branches or loops
    #[arg(value_name = "GRAPH|MODEL", value_parser = input_file())]
    models: Vec<PathBuf>,
    /// Also run this many random chains
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1000))]
    chains: u64,
    /// Machine file written by `measure calibrate` with the same --bandwidth and --startup, or any other
    /// machine [default: calibrate first]
    #[arg(long, value_name = "FILE.toml", value_parser = input_name(), conflicts_with_all = ["slice", "capacity", "seed"])]
    machine: Option<String>,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    chip: ChipArgs,
    /// Algorithm that schedules the transfers, or `all` (see `plimsoll list`)
    #[arg(long, value_name = "NAME", default_value = "all")]
    algorithm: String,
    /// Number of weight buffers of the schedule `k-buffers`
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    buffers: u32,
    /// Set the on-chip memory to the peak activations of each graph plus this many bytes [default: the
    /// capacity of the machine]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    slack: Option<u64>,
    /// Replace the first dimension of every model input
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
    /// Skip graphs with a predicted time above this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// Write machine.toml, calibration.csv, samples.csv, summary.csv and summary.md into this folder
    #[arg(long, value_name = "DIR", value_parser = format::folder())]
    out: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Parses a rate in bytes per second.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected bytes per second, as in 1e9".to_owned())?;
    if (1e3..=1e15).contains(&rate) {
        Ok(rate)
    } else {
        Err("expected 1e3 to 1e15 bytes per second".to_owned())
    }
}

/// Parses a setup latency in seconds.
fn startup(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time <= Duration::from_secs(1) { Ok(time) } else { Err("expected at most one second".to_owned()) }
}

impl Command for MeasureArgs {
    const NAME: &str = "measure";
    const ABOUT: &str =
        "Run the timelines of `overlap` on this machine and compare predicted with measured times";
    const TASK: Task = Task::Model;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate lenet5 --out net.json && plimsoll measure run net.json --machine generic --algorithm ping-pong --cold 1MiB --repeat 1",
            "Run a schedule on this machine, and compare measured with predicted times",
        ),
        (
            "plimsoll measure run --chains 2 --machine generic --algorithm ping-pong --cold 1MiB --repeat 1",
            "Measure two random chains",
        ),
    ];
    const EAGER: bool = true;
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &MeasureArgs) -> Result<u8, Failure> {
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
        output::late(output::write_file(path, |file| output::csv(file, &samples)));
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
        output::late(output::write_file(path, |file| file.write_all(calibration.machine.toml().as_bytes())));
    }
    if args.json {
        output::print_json(&calibration)?;
    } else {
        output::print(&output::filled(&calibration.text()))?;
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

/// Measures the times of a calibration.
fn samples(settings: CalibrationSettings, cold: &Cold) -> Result<Vec<CalibrationSample>, Failure> {
    let mut progress = |run: u32, of: u32| show(&format!("calibration: run {} of {of}", run + 1));
    let found = take_samples(settings, cold, &mut progress);
    show("");
    found.map_err(|error| match error {
        CalibrateError::Timeline(_) => Failure::input(error),
        CalibrateError::Execute(_) | CalibrateError::Digest => Failure::internal(error),
    })
}

/// Calibrates the machine before the runs, because the predictions need the measured rates.
fn calibrated(args: &RunArgs, cold: &Cold) -> Result<Calibration, Failure> {
    let settings = settings(args.link, args.chip);
    conclude(settings, samples(settings, cold)?).map_err(|inconclusive| Failure {
        code: NOTHING_FOUND,
        message: format!("{inconclusive}; or set a machine with --machine"),
    })
}

/// Rejects a machine that was measured with another link. Returns a note if the origin of the machine is
/// unknown.
fn same_link(machine: &Machine, link: Link) -> Result<Option<String>, Failure> {
    let here = about(link);
    if machine.about == here {
        return Ok(None);
    }
    if machine.about.starts_with("measured: ") {
        let (name, there) = (&machine.name, &machine.about);
        return Err(Failure::input(format!(
            "--machine: '{name}' is {there}, but these runs are {here}; use the same --bandwidth and --startup"
        )));
    }
    Ok(Some(format!(
        "a check that the machine '{}' was measured here: predictions may be for another machine",
        machine.name
    )))
}

/// Shows progress on a terminal; nothing is printed during a measured run.
fn show(what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // There is no way to report a failure here.
        let _ = write!(stderr, "\r\x1b[K{what}");
        let _ = stderr.flush();
    }
}

fn run(args: &RunArgs) -> Result<u8, Failure> {
    let schedules = chosen(&plimsoll::registry().timelines, &args.algorithm)?;
    if let Some(folder) = &args.out {
        prepare(folder)?;
    }
    let graphs = graphs(args)?;
    let find = |name| Machine::find(name).map_err(|error| no_machine(error, name, &PRESETS));
    let machine = args.machine.as_deref().map(find).transpose()?;
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
        slack: args.slack.map(Bytes::new),
        buffers: args.buffers as usize,
        limits: Limits { nodes: Some(SEARCH_NODES), ..Limits::default() },
        most: args.time_limit,
    };
    let question = Question {
        command: without_folders(output::command_line(), &args.models),
        machine: machine.clone(),
        cold: cold.size(),
        repeat: args.link.repeat,
        calibration,
    };
    let mut record = Record::new(question);
    if let Some(unknown) = unknown {
        record.skip(unknown);
    }
    for graph in &graphs {
        match compare(graph, &schedules, settings, &cold, &mut show) {
            Ok(measured) => record.add(graph, measured),
            Err(CompareError::Defect(message)) => return Err(Failure::internal(message)),
            // The results of other graphs are kept.
            Err(CompareError::Skipped(message)) => record.skip(message),
        }
    }
    show("");
    if let Some(folder) = &args.out {
        output::late(store(folder, &record, &machine));
    }
    if args.json {
        output::print_json(&record.report())?;
    } else {
        output::print(&output::filled(&record.text(output::width())))?;
    }
    Ok(if record.is_empty() { NOTHING_FOUND } else { ANSWERED })
}

fn graphs(args: &RunArgs) -> Result<Vec<Graph>, Failure> {
    let options = ImportOptions { batch: args.batch, ..ImportOptions::default() };
    let mut all = Vec::new();
    for path in &args.models {
        // A graph in JSON has fixed shapes.
        let options =
            if has_suffix(&name_of(path), &["json"]) { ImportOptions::default() } else { options.clone() };
        all.push(import_file(path, &options).map_err(Failure::input)?.graph);
    }
    for nth in 0..args.chains {
        all.push(chain(nth).map_err(Failure::internal)?);
    }
    if all.is_empty() {
        return Err(Failure::input("nothing to run: name models or use --chains N"));
    }
    Ok(all)
}

/// Returns the command with the paths of models reduced to file names, so that records contain no local
/// paths.
fn without_folders(mut command: String, models: &[PathBuf]) -> String {
    for path in models {
        if let (Some(path), Some(name)) = (path.to_str(), path.file_name().and_then(|name| name.to_str())) {
            command = command.replace(&quote(path), &quote(name));
        }
    }
    command
}

/// Creates the folder of a record if necessary, and fails if it is not empty.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_latencies_are_checked() {
        assert_eq!(rate("1e9"), Ok(1e9));
        assert_eq!(startup("2e-5"), Ok(Duration::from_micros(20)));
        for bad in ["0", "nan", "-1", "fast", "1e99"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert!(startup("2").is_err() && startup("-1").is_err());
    }
}
