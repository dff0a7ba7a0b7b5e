use crate::args::{EndpointsArg, OpenArgs, bytes, problem, seconds, threads};
use crate::commands::choose::in_order;
use crate::format;
use crate::input::input_name;
use clap::Args;
use plimsoll_lab::row::{Decide, Extras};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Suites by name (see `plimsoll list`), or files, folders or patterns of instances, graphs and models
    /// [default: embedded, attributed, captured-sample and graphs; with `PLIMSOLL_CORPORA` set, also
    /// minimalloc and idealloc]
    #[arg(value_name = "SUITE", value_parser = input_name())]
    pub suites: Vec<String>,
    /// Run only instances and graphs whose name matches one of these patterns; `*` matches any text, `?` one
    /// character
    #[arg(long, value_name = "P,Q,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Algorithms by name (see `plimsoll list`), also with parameters, as in search:-memo, or the groups
    /// `heuristics`, `solvers`, `all` [default: every heuristic and the default exact method of each problem]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = in_order)]
    pub algorithms: Vec<String>,
    /// Problems by name (see `plimsoll list`). If every input is a graph or a model, problems on instances
    /// use instances derived from these inputs. Spilling skips instances unless this option names spilling
    /// [default: offsets if all files are instances or --processes is given; orders and offsets if all files
    /// are graphs or models; otherwise all problems that apply]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = problem)]
    pub problems: Vec<&'static str>,
    /// Parameters of spilling and of the problems on graphs: KEY=VALUE terms separated by spaces. The keys
    /// `machine`, `order`, `patterns`, `units`, `addresses`, `boundary`, `weights`, `in-place`, `no-views`,
    /// `no-states` and `align` take the same values as the options of the commands. For an instance derived
    /// from a model, `order` is as-in-file by default. `fusion` is none, ordinary or cross-unit. `capacity`
    /// (spilling) is in bytes or in percent of the load. May be repeated; each occurrence adds one question
    /// [default: machine=generic, capacity=75%, and the defaults of the commands]
    #[arg(long, value_name = "'KEY=VALUE ..'")]
    pub terms: Vec<String>,
    /// Stop each run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub time_limit: Duration,
    /// Stop each run after this many nodes
    #[arg(long, value_name = "NODES")]
    pub node_limit: Option<u64>,
    /// First random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of consecutive seeds; an external program runs once per seed if its command contains `{seed}`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Number of runs of each external program whose command does not contain `{seed}`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub repeat: u64,
    /// Threads per algorithm
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Stop at the first layout within this capacity instead of minimising: `load`, a number of bytes, or
    /// `file` for the number in the file name; `--decide` alone means `file`
    #[arg(
        long,
        value_name = "file|load|BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "file",
        value_parser = decide
    )]
    pub decide: Option<Decide>,
    /// Run built-in algorithms for offsets in separate processes, so that times include the process start
    #[arg(long)]
    pub processes: bool,
    /// Whether lifespans in CSV files include their end [default: by column name; `upper` is half-open, and
    /// `end` is inclusive]
    #[arg(long, value_name = "CONVENTION")]
    pub endpoints: Option<EndpointsArg>,
    #[command(flatten)]
    pub import: OpenArgs,
    /// Compare times with those of this algorithm: ratios per instance and a performance profile
    #[arg(long, value_name = "NAME", value_parser = in_order)]
    pub reference: Option<String>,
    /// Shift of the shifted geometric means of times, such as 0.01 or 10ms
    #[arg(long, value_name = "SECONDS", default_value = "0.01", value_parser = seconds)]
    pub shift: Duration,
    /// Write rows.csv, README.md, layouts, memory maps and charts into this folder
    #[arg(long, value_name = "DIR", value_parser = format::folder())]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it is not empty
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Also write the HTML page of `plimsoll report`, as DIR/report/report.html
    #[arg(long, requires = "out")]
    pub report: bool,
    /// Print all algorithms and all runs instead of only the best algorithms
    #[arg(long, short)]
    pub verbose: bool,
    /// Record improvements of solutions and bounds over time (trace.csv), and draw the gap over time
    #[arg(long, requires = "out")]
    pub trace: bool,
    /// Prove the bound of each run for offsets or orders if the bound rests on a search, and check the proof
    /// with the independent checker. Record the size of the proof, the time to prove and the time to check.
    /// The limits of the run apply to the proof again
    #[arg(long, conflicts_with = "processes")]
    pub proofs: bool,
    /// Run an external program: NAME='cmd {input} {output} {capacity}', optionally with `{seed}`, `{threads}`
    /// and `{time_limit}`; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external: Vec<String>,
    /// Record the first output line of this command as the version of an external program; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external_version: Vec<String>,
    /// Use a regular expression to extract the time in seconds that an external program itself reports. The
    /// single group of the expression matches the seconds; `^` and `$` match at the start and end of every
    /// line. The last match on standard error counts or, if there is none, the last match on standard
    /// output; may be repeated
    #[arg(long, value_name = "NAME=REGEX")]
    pub external_elapsed: Vec<String>,
}

impl BenchArgs {
    /// Returns the optional data to record.
    pub fn extras(&self) -> Extras {
        Extras { trace: self.trace, layouts: self.out.is_some(), proofs: self.proofs }
    }
}

/// Reads the capacity for `--decide`.
fn decide(text: &str) -> Result<Decide, String> {
    text.parse()
        .or_else(|_| bytes(text).map(Decide::Bytes).map_err(|reason| format!("{reason}, or file, or load")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: BenchArgs,
    }

    #[test]
    fn capacities_to_decide_are_keywords_or_bytes() {
        assert_eq!((decide("file"), decide("load")), (Ok(Decide::File), Ok(Decide::Load)));
        assert_eq!(decide("1048576"), Ok(Decide::Bytes(1 << 20)));
        assert!(decide("1e6").is_err() && decide("").is_err());
        let parse = |words: &[&str]| {
            let args = Line::try_parse_from(words).unwrap().args;
            (args.decide, args.suites)
        };
        // A suite after the bare option is not its value.
        assert_eq!(parse(&["bench", "--decide", "x"]), (Some(Decide::File), vec!["x".to_owned()]));
        assert_eq!(parse(&["bench", "--decide=load"]), (Some(Decide::Load), vec![]));
        assert_eq!(parse(&["bench"]), (None, vec![]));
    }
}
