//! Prints and stores the results of a measurement.

use super::calibrate::Calibration;
use super::compare::{Measured, Sample, ScheduleComparison, median_error};
use super::fit::median;
use plimsoll_lab::machine::{Machine as Here, largest_cache, timestamp};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::graph::{Graph, Role};
use plimsoll_model::timelines::{Machine, Time};
use serde::Serialize;
use std::fmt::Write as _;

/// The note that is printed if this process has only one core, so nothing can overlap.
const ONE_CORE: &str = "overlap: this process has one core, so transfers and computations alternate";

impl Calibration {
    /// Returns the calibration as text.
    pub fn text(&self) -> String {
        let (mut text, fit) = (String::new(), &self.alone);
        let _ = writeln!(text, "machine      {}", self.machine.about);
        let _ = writeln!(text, "latency      {} per transfer", time(fit.startup));
        let _ = writeln!(text, "bandwidth    {:.1} MB/s", fit.bandwidth / 1e6);
        let _ = writeln!(text, "overhead     {} per operator", time(fit.overhead));
        for (kind, rate) in &fit.rates {
            let unit = if *kind == "stream" { "GB/s" } else { "GMAC/s" };
            let _ = writeln!(text, "{kind:<11}  {:.2} {unit}", rate / 1e9);
        }
        for (what, beside, factor) in [
            ("computations", "transfers", self.compute_slowdown),
            ("transfers", "computations", self.transfer_slowdown),
        ] {
            match factor {
                Some(factor) => {
                    let _ =
                        writeln!(text, "overlap      {what} take {factor:.3} times as long during {beside}");
                }
                None => {
                    let _ = writeln!(text, "overlap      no {what} ran entirely during {beside}");
                }
            }
        }
        let _ = writeln!(text, "samples      {}", self.samples.len());
        for warning in &self.warnings {
            let _ = writeln!(text, "warning      {warning}");
        }
        text
    }
}

/// The parameters of a measurement.
#[derive(Clone, Debug)]
pub struct Question {
    /// The command as typed.
    pub command: String,
    /// The machine used for the predictions.
    pub machine: Machine,
    /// Size of the off-chip memory, in bytes.
    pub cold: u64,
    /// Number of counted runs per schedule.
    pub repeat: u32,
    /// The calibration, if there was one.
    pub calibration: Option<Calibration>,
}

/// A measured graph.
#[derive(Clone, Debug, Serialize)]
struct GraphLine {
    graph: String,
    operators: usize,
    /// Number of operators after slicing.
    steps: usize,
    weights: u64,
    capacity: u64,
}

/// All results of a measurement.
#[derive(Clone, Debug)]
pub struct Record {
    question: Question,
    graphs: Vec<GraphLine>,
    samples: Vec<Sample>,
    comparisons: Vec<ScheduleComparison>,
    skipped: Vec<String>,
}

/// The JSON output.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    machine: &'a str,
    about: &'a str,
    cpu: String,
    commit: String,
    cold: u64,
    repeat: u32,
    calibration: Option<&'a Calibration>,
    graphs: &'a [GraphLine],
    schedules: &'a [ScheduleComparison],
    /// The median of the absolute errors. The errors in `schedules` are signed.
    median_error_percent: Option<f64>,
    worst_error_percent: Option<f64>,
    skipped: &'a [String],
}

impl Record {
    /// Creates an empty record.
    pub fn new(question: Question) -> Self {
        let (graphs, samples, comparisons) = Default::default();
        let alone = Here::here().cores < 2;
        let skipped = if alone { vec![ONE_CORE.to_owned()] } else { Vec::new() };
        Self { question, graphs, samples, comparisons, skipped }
    }

    /// Adds the measurements of a graph.
    pub fn add(&mut self, graph: &Graph, measured: Measured) {
        // If no schedule fits, nothing was run, and notes give the reasons.
        if !measured.comparisons.is_empty() {
            self.graphs.push(GraphLine {
                graph: graph.name().to_owned(),
                operators: graph.operators().len(),
                steps: measured.steps,
                weights: graph.bytes(Role::Weight).get(),
                capacity: measured.capacity.get(),
            });
        }
        self.samples.extend(measured.samples);
        self.comparisons.extend(measured.comparisons);
        self.skipped.extend(measured.notes);
    }

    /// Returns the calibration, if there was one.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.question.calibration.as_ref()
    }

    /// Adds a note about a skipped graph or schedule.
    pub fn skip(&mut self, why: String) {
        self.skipped.push(why);
    }

    /// Returns true if nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.comparisons.is_empty()
    }

    /// Returns all counted runs, in the order of execution.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns the comparisons, one per graph and schedule.
    pub fn comparisons(&self) -> &[ScheduleComparison] {
        &self.comparisons
    }

    /// Returns the comparison with the largest absolute error.
    fn worst(&self) -> Option<&ScheduleComparison> {
        self.comparisons.iter().max_by(|a, b| a.error_percent.abs().total_cmp(&b.error_percent.abs()))
    }

    /// Returns the record for JSON output.
    pub fn report(&self) -> Report<'_> {
        let here = Here::here();
        Report {
            machine: &self.question.machine.name,
            about: &self.question.machine.about,
            cpu: here.cpu,
            commit: here.commit,
            cold: self.question.cold,
            repeat: self.question.repeat,
            calibration: self.question.calibration.as_ref(),
            graphs: &self.graphs,
            schedules: &self.comparisons,
            median_error_percent: median_error(&self.comparisons),
            worst_error_percent: self.worst().map(|one| one.error_percent.abs()),
            skipped: &self.skipped,
        }
    }

    /// Returns the record as text for a terminal of this width.
    pub fn text(&self, width: usize) -> String {
        let mut text = match &self.question.calibration {
            Some(found) => found.text(),
            None => format!("machine      {}: {}\n", self.question.machine.name, self.question.machine.about),
        };
        let _ = writeln!(text, "\n{}", self.table().text_within(width).trim_end());
        let _ = writeln!(text, "\n{}", self.verdict());
        for why in &self.skipped {
            let _ = writeln!(text, "skipped: {why}");
        }
        text
    }

    /// Describes the errors in one sentence.
    fn verdict(&self) -> String {
        let (Some(middle), Some(worst)) = (median_error(&self.comparisons), self.worst()) else {
            return "nothing was measured".to_owned();
        };
        let (graph, schedule, error) = (&worst.graph, worst.schedule, worst.error_percent);
        format!(
            "median error {middle:.2} % over {} of {}; the largest error is {error:+.2} %, on {graph} with {schedule}",
            counted(self.comparisons.len(), "schedule"),
            counted(self.graphs.len(), "graph")
        )
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            ("graph", Align::Left),
            ("schedule", Align::Left),
            ("predicted", Align::Right),
            ("measured", Align::Right),
            ("least", Align::Right),
            ("most", Align::Right),
            ("error %", Align::Right),
            ("gain predicted %", Align::Right),
            ("gain measured %", Align::Right),
        ]);
        let digits = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.2}"));
        for one in &self.comparisons {
            table.row([
                one.graph.clone(),
                one.schedule.to_owned(),
                time(one.predicted_seconds),
                time(one.measured_seconds),
                time(one.least_seconds),
                time(one.most_seconds),
                format!("{:+.2}", one.error_percent),
                digits(one.predicted_gain_percent),
                digits(one.measured_gain_percent),
            ]);
        }
        table
    }

    /// Returns a table of the errors of each schedule.
    fn by_schedule(&self) -> Table {
        let mut table = Table::new([
            ("schedule", Align::Left),
            ("graphs", Align::Right),
            ("median error %", Align::Right),
            ("largest error %", Align::Right),
        ]);
        let mut names: Vec<&str> = Vec::new();
        for one in &self.comparisons {
            if !names.contains(&one.schedule) {
                names.push(one.schedule);
            }
        }
        for name in names {
            let own = || self.comparisons.iter().filter(|one| one.schedule == name);
            let errors = || own().map(|one| one.error_percent.abs());
            table.row([
                name.to_owned(),
                own().count().to_string(),
                median(errors()).map_or("-".to_owned(), |middle| format!("{middle:.2}")),
                format!("{:.2}", errors().fold(0.0, f64::max)),
            ]);
        }
        table
    }

    /// Returns the Markdown page of a record.
    pub fn markdown(&self) -> String {
        let (here, question) = (Here::here(), &self.question);
        let mut text = String::from("# Predicted and measured makespans\n\n");
        let _ = writeln!(text, "**{}.**\n", capitalised(&self.verdict()));
        let _ = writeln!(text, "- {}\n- `{}`", timestamp(), question.command);
        text.push_str(&here.facts());
        let _ = writeln!(
            text,
            "- every schedule has {} counted runs after one warm-up run\n- weights are in {} bytes of off-chip memory, \
             which is read between runs to flush the caches{}\n",
            question.repeat,
            question.cold,
            caches(question.cold, largest_cache())
        );
        let _ = writeln!(
            text,
            "The error is the difference between the prediction and the median, in percent of the median. Every run \
             returned the same digest as a run without transfers. The gain is the reduction of the makespan relative to \
             `synchronous`.\n"
        );
        if let Some(found) = &question.calibration {
            let _ = writeln!(text, "## Calibration\n\n```\n{}```\n", found.text());
        }
        let _ = writeln!(text, "## By schedule\n\n{}", self.by_schedule().markdown());
        let _ = writeln!(text, "## All schedules\n\n{}", self.table().markdown());
        let mut graphs = Table::new([
            ("graph", Align::Left),
            ("operators", Align::Right),
            ("with slices", Align::Right),
            ("bytes of weights", Align::Right),
            ("on-chip bytes", Align::Right),
        ]);
        for one in &self.graphs {
            let numbers = [one.operators as u64, one.steps as u64, one.weights, one.capacity];
            graphs.row([one.graph.clone()].into_iter().chain(numbers.map(|number| number.to_string())));
        }
        let _ = writeln!(text, "## Graphs\n\n{}", graphs.markdown());
        if !self.skipped.is_empty() {
            let lines: Vec<String> = self.skipped.iter().map(|why| format!("- {why}\n")).collect();
            let _ = writeln!(text, "Skipped:\n\n{}", lines.concat());
        }
        text.push_str(
            "| file | contents |\n|---|---|\n| `machine.toml` | the machine, for `plimsoll overlap --machine` |\n\
             | `calibration.csv` | every time measured by the calibration |\n| `samples.csv` | every counted run |\n\
             | `summary.csv` | one row per graph and schedule, as above |\n",
        );
        text
    }
}

/// Compares the size of the off-chip memory with that of the largest cache, if the latter is known.
fn caches(cold: u64, largest: Option<u64>) -> String {
    match largest {
        None => String::new(),
        Some(cache) if cold > cache => format!(", more than the {cache} bytes of the largest cache"),
        Some(cache) => format!(
            ": **not more than the {cache} bytes of the largest cache, so weights may come from the cache**"
        ),
    }
}

/// Formats a time in seconds with a suitable unit.
fn time(seconds: f64) -> String {
    Time::from_seconds(seconds).map_or("-".to_owned(), |time| time.to_string())
}

/// Formats a number of things, as in `1 graph` or `2 graphs`.
fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measured, chain};

    #[test]
    fn only_graphs_that_ran_are_counted() {
        let machine = Machine::find("luna").unwrap();
        let question = Question { command: String::new(), machine, cold: 64, repeat: 1, calibration: None };
        let mut record = Record::new(question);
        let comparison = ScheduleComparison {
            graph: "chain-0-rows-2".to_owned(),
            schedule: "eager",
            predicted_seconds: 1.0,
            measured_seconds: 2.0,
            least_seconds: 2.0,
            most_seconds: 2.0,
            error_percent: -50.0,
            predicted_gain_percent: None,
            measured_gain_percent: None,
        };
        let ran = Measured { comparisons: vec![comparison], ..Measured::default() };
        let notes = vec!["chain-1-rows-16, eager: does not fit".to_owned()];
        record.add(&chain(0).unwrap(), ran);
        record.add(&chain(1).unwrap(), Measured { notes, ..Measured::default() });
        assert!(record.verdict().contains("over 1 schedule of 1 graph; the largest error is -50.00 %"));
        assert!(!record.markdown().contains("| chain-1-rows-16 |"), "{}", record.markdown());
        let report = serde_json::to_value(record.report()).unwrap();
        assert_eq!(
            (&report["worst_error_percent"], &report["median_error_percent"]),
            (&50.0.into(), &50.0.into())
        );
    }

    #[test]
    fn off_chip_memory_is_compared_with_the_largest_cache() {
        assert_eq!(caches(64, None), "");
        assert!(caches(64, Some(32)).contains("more than the 32 bytes"));
        assert!(caches(64, Some(64)).contains("may come from the cache"));
    }
}
