//! Arguments of `measure`.

use super::{bytes, seconds};
use crate::format;
use clap::{Args, Subcommand};
use plimsoll_hardware::Link;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `measure`.
#[derive(Args, Debug)]
pub struct MeasureArgs {
    #[command(subcommand)]
    pub what: MeasureCommand,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum MeasureCommand {
    /// Find out what this machine can do, and write it as a machine for `overlap` and `measure run`
    #[command(after_help = super::EXIT_CODES)]
    Calibrate(CalibrateArgs),
    /// Run schedules of graphs and hold what they take against what was predicted
    #[command(after_help = super::EXIT_CODES)]
    Run(RunArgs),
}

/// How weights are fetched.
#[derive(Args, Clone, Copy, Debug)]
pub struct LinkArgs {
    /// Fetch at most so many bytes per second, like a slower memory [default: as fast as copies are]
    #[arg(long, value_name = "BYTES/S", value_parser = rate)]
    pub bandwidth: Option<f64>,
    /// Let every transfer wait so many seconds before its first byte
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = startup)]
    pub startup: Duration,
    /// Bytes of memory outside, from which weights are fetched: more than the caches hold
    #[arg(long, value_name = "BYTES", default_value = "268435456", value_parser = clap::value_parser!(u64).range(64..=1 << 34))]
    pub cold: u64,
    /// Runs of every schedule that count; one more goes before
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
}

impl LinkArgs {
    /// The same for the library.
    pub fn link(self) -> Link {
        Link { startup: self.startup, bandwidth: self.bandwidth }
    }
}

/// The machine that a calibration writes.
#[derive(Args, Clone, Copy, Debug)]
pub struct ChipArgs {
    /// Operators with more bytes of weights run in slices
    #[arg(long, value_name = "BYTES", default_value = "1048576", value_parser = clap::value_parser!(u64).range(8192..=1 << 30))]
    pub slice: u64,
    /// Bytes on chip
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = clap::value_parser!(u64).range(8192..=1 << 34))]
    pub capacity: u64,
    /// Decides the order of the calibration's operators
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// Arguments of `measure calibrate`.
#[derive(Args, Debug)]
pub struct CalibrateArgs {
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub chip: ChipArgs,
    /// Write the machine, a TOML file
    #[arg(long, short, value_name = "MACHINE.toml", value_parser = format::TOML.file())]
    pub output: Option<PathBuf>,
    /// Write every time measured, a CSV file
    #[arg(long, value_name = "FILE.csv", value_parser = format::CSV.file())]
    pub samples: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `measure run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Straight graphs (.json, as `import` writes them) or models (.onnx, .tflite)
    #[arg(value_name = "GRAPH|MODEL")]
    pub models: Vec<PathBuf>,
    /// So many random chains besides
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub chains: u64,
    /// What `measure calibrate` wrote with the same --bandwidth and --startup, which is compared; or any machine
    /// [default: calibrates first]
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["slice", "capacity", "seed"])]
    pub machine: Option<String>,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub chip: ChipArgs,
    /// When weights are fetched, or `all`; `plimsoll list` names them
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub schedule: String,
    /// Buffers of k-buffers
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub buffers: u32,
    /// Bytes on chip beside the most activations of each graph, in place of the machine's capacity
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub room: Option<u64>,
    /// First dimension of every input of the models
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: Option<u64>,
    /// Leave out graphs that would take more seconds than these, as predicted
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// Write machine.toml, calibration.csv, samples.csv, summary.csv and summary.md into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Bytes per second.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected bytes per second, as in 1e9".to_owned())?;
    if (1e3..=1e15).contains(&rate) {
        Ok(rate)
    } else {
        Err("expected 1e3 to 1e15 bytes per second".to_owned())
    }
}

/// A start-up.
fn startup(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time <= Duration::from_secs(1) { Ok(time) } else { Err("expected at most one second".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_checked() {
        assert_eq!(rate("1e9"), Ok(1e9));
        assert_eq!(startup("2e-5"), Ok(Duration::from_micros(20)));
        for bad in ["0", "nan", "-1", "fast", "1e99"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert!(startup("2").is_err() && startup("-1").is_err());
    }
}
