use crate::args::{EndpointsArg, OpenArgs, problem, seconds, threads};
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Suites by name (`plimsoll list` shows them), or files with instances, graphs or models, folders and patterns of them
    /// [default: embedded and graphs, and minimalloc and idealloc where corpora are there]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// Only instances and graphs whose names fit one of these patterns; `*` stands for anything, `?` for one letter
    #[arg(long, value_name = "P,Q,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Algorithms by name, or the groups `heuristics`, `solvers`, `all`
    /// [default: every heuristic, and the leading exact method of each problem]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// Problems by name (`plimsoll list` shows them) [default: all that the instances and graphs pose, spilling of graphs only; with --processes: offsets]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = problem)]
    pub problems: Vec<&'static str>,
    /// What else defines the questions of graphs and of spilling, in words KEY=VALUE separated by blanks: `machine`, `order`,
    /// `patterns`, `units`, `addresses`, `boundary`, `weights`, `in-place`, `no-views`, `no-states`, `align` as the commands
    /// of these problems take them, `fusion` (none, ordinary, cross-unit), `capacity` of spilling in bytes or percent of the
    /// load [default: machine=generic, capacity=75%, and the defaults of those commands]; may be repeated: one question each
    #[arg(long, value_name = "'KEY=VALUE ..'")]
    pub terms: Vec<String>,
    /// Seconds of wall-clock time per run
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Duration,
    /// Nodes per run
    #[arg(long, value_name = "NODES")]
    pub node_limit: Option<u64>,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of seeds, counted from the first; externals run once per seed where their command has {seed}
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Runs of every external whose command has no {seed}
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub repeat: u64,
    /// Threads an algorithm may use
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// Stop at the first layout within a capacity instead of minimising without one: `file` (the number in the file
    /// name, where nothing is said), `load`, or a number of bytes
    #[arg(
        long,
        value_name = "file|load|BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "file"
    )]
    pub decide: Option<Decide>,
    /// Run our own algorithms for offsets as processes too, like externals: seconds are those of whole processes
    #[arg(long)]
    pub processes: bool,
    /// How instances write ends of lifespans; by default their column names say
    #[arg(long, value_name = "HOW")]
    pub endpoints: Option<EndpointsArg>,
    #[command(flatten)]
    pub import: OpenArgs,
    /// Compare times with those of this algorithm: a table of ratios per instance, and a performance profile
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// Shift of geometric means of times, seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.01", value_parser = seconds, allow_negative_numbers = true)]
    pub shift: Duration,
    /// Folder for rows.csv, summary.md, README.md, maps and charts
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Also analyse what was written, as `plimsoll report` does: DIR/report/report.html is a page to open
    #[arg(long, requires = "out")]
    pub report: bool,
    /// Print a table of every run and every algorithm instead of one screen
    #[arg(long)]
    pub details: bool,
    /// Write down when layouts and bounds improved (trace.csv), and draw the gap over time
    #[arg(long, requires = "out")]
    pub trace: bool,
    /// Anybody's binary: NAME='cmd {input} {output} {capacity}', also `{seed} {threads} {time_limit}`; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external: Vec<String>,
    /// A command whose first line of output is put on record as the version of an external; may be repeated
    #[arg(long, value_name = "NAME='CMD ..'")]
    pub external_version: Vec<String>,
    /// Where an external prints how long it took, in seconds, from after reading the instance to its answer: a regular
    /// expression with one group, `^` and `$` ends of lines, whose last match counts: on standard error, else on standard
    /// output; may be repeated
    #[arg(long, value_name = "NAME=REGEX")]
    pub external_elapsed: Vec<String>,
}

/// What capacity is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decide {
    /// The one the instance came with.
    File,
    /// The load.
    Load,
    /// This, bytes.
    Bytes(u64),
}

impl FromStr for Decide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "load" => Ok(Self::Load),
            _ => text
                .parse()
                .map(Self::Bytes)
                .map_err(|_| "expected file, load, or a number of bytes".to_owned()),
        }
    }
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
    fn capacities_to_decide_are_words_or_bytes() {
        assert_eq!("file".parse(), Ok(Decide::File));
        assert_eq!("load".parse(), Ok(Decide::Load));
        assert_eq!("1048576".parse(), Ok(Decide::Bytes(1 << 20)));
        assert!("1e6".parse::<Decide>().is_err() && "".parse::<Decide>().is_err());
        let parse = |words: &[&str]| {
            let args = Line::try_parse_from(words).unwrap().args;
            (args.decide, args.suites)
        };
        // The suite behind the bare word is no capacity.
        assert_eq!(parse(&["bench", "--decide", "x"]), (Some(Decide::File), vec!["x".to_owned()]));
        assert_eq!(parse(&["bench", "--decide=load"]), (Some(Decide::Load), vec![]));
        assert_eq!(parse(&["bench"]), (None, vec![]));
    }
}
