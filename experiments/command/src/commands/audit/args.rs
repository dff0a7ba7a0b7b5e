//! The arguments of `plimsoll audit`.

use crate::args::{EffortArgs, bytes as size_of};
use crate::commands::subject::SubjectArgs;
use crate::format;
use crate::input::input_file;
use clap::Args;
use std::path::PathBuf;

/// The arguments of `plimsoll audit`.
#[derive(Args, Debug)]
#[command(mut_arg("instance", |arg| arg.value_name("FILE|FOLDER")
    .help("Captured plan (of XLA, IREE, PyTorch or idealloc, or .json), folder of captured plans or instances, \
        instance (.csv), graph (.json) or model (.onnx, .tflite)")))]
pub struct AuditArgs {
    /// Layout of the planner: a CSV file with columns `id` and `offset`, or with `offset` alone in the order
    /// of the instance; for a folder of instances, a folder of layouts with the names of the instances
    /// [default: the plan in the instance file if every buffer has an offset]
    #[arg(index = 2, value_name = "LAYOUT", value_parser = input_file())]
    pub layout: Option<PathBuf>,
    /// Peak that the planner reports, if its layout is not known
    #[arg(long, value_name = "BYTES", conflicts_with = "layout", value_parser = size_of)]
    pub planner_peak: Option<u64>,
    /// Exit with 1 if the peak exceeds the lower bound by more than this percentage, such as 5%
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub max_gap: Option<f64>,
    /// Draw the layout of the planner and the best known layout side by side as SVG or PNG
    #[arg(long, value_name = "FILE.svg", value_parser = format::PICTURE.file())]
    pub plot: Option<PathBuf>,
    /// Write each instance and the layout of its planner as NAME.csv (with a capacity: NAME.CAPACITY.csv) and
    /// NAME.layout.csv into this folder; equal names get a number
    #[arg(long, value_name = "FOLDER", value_parser = format::folder())]
    pub export: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    #[command(flatten)]
    pub subject: SubjectArgs,
}

/// Parses a percentage such as `5%`, `5` or `0.5 %`.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse().ok();
    let valid = number.filter(|share: &f64| share.is_finite() && *share >= 0.0);
    valid.ok_or_else(|| "expected a non-negative percentage such as 5%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        for (text, number) in [("5%", 5.0), ("0", 0.0), ("0.5 %", 0.5), ("12.5", 12.5)] {
            assert_eq!(share(text), Ok(number), "{text}");
        }
        for text in ["", "%", "-1", "nan", "inf", "five"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
