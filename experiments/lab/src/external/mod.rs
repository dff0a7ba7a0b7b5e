//! Runs external planners under the limits of the benchmark and checks their answers.
//!
//! An external planner is a command line with placeholders. The line is split into words by the rules of a
//! shell for spaces, single and double quotes, and backslashes. Placeholders are replaced after the split, so
//! paths need no quoting. No shell is used unless the command is `sh -c '..'`.
//!
//! | placeholder | meaning |
//! |---|---|
//! | `{input}` | an instance file with half-open `MiniMalloc` columns; the file name contains the capacity |
//! | `{output}` | the file to which the planner must write a layout (`id` and `offset`) |
//! | `{capacity}` | the capacity in bytes |
//! | `{seed}` | the seed; a command with `{seed}` runs once per seed, and any other command runs once per repetition |
//! | `{threads}` | the number of threads that the planner may use |
//! | `{time_limit}` | the time limit in seconds; a command with `{time_limit}` is killed [`GRACE`] after the limit, any other command at the limit |
//!
//! Each planner runs in its own process group. The whole group is killed at the deadline, on a [request to
//! stop](plimsoll::interrupt), and when the planner ends. No child of the planner in this group survives,
//! even if this process is killed ([`reaper`]). The measured time covers the whole process.
//!
//! Nothing that an external planner reports counts as proof. The checker verifies its layout. The printed
//! claims and bounds ([`Said`]) and the printed time ([`ElapsedPattern`]) are recorded unverified.

mod check;
mod elapsed;
mod process;
pub mod reaper;
mod said;
mod tail;
mod words;

pub use check::answer;
pub use elapsed::{Elapsed, ElapsedError, ElapsedPattern};
pub use said::Said;
pub use words::quote;

use crate::machine::Machine;
use crate::row::{Improvements, Unit};
use plimsoll_model::csv::{read_layout_file, write_instance};
use plimsoll_model::{Bytes, Instance, Layout};
use process::Ended;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum number of bytes at the end of standard error that are searched for the last line.
const TAIL: u64 = 16 << 10;
/// Additional time for an external planner that receives the time limit and enforces it itself.
pub const GRACE: Duration = Duration::from_secs(1);
/// Time limit of a version command.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
/// Maximum length of a version, in characters.
const VERSION_LENGTH: usize = 160;

/// An external planner: a name and its command line.
#[derive(Clone, Debug)]
pub struct External {
    name: String,
    words: Vec<String>,
    version: Option<String>,
    is_version_skipped: bool,
    is_own: bool,
    elapsed: Option<ElapsedPattern>,
}

/// Whether reading a description of external planners runs their version commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionCommands {
    /// The commands run, and their first line is the version.
    Run,
    /// The commands are only parsed. The versions stay unknown.
    Skip,
}

/// The inputs of an external run.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The instance, which is written to the file `{input}`.
    pub instance: &'a Instance,
    /// The capacity of the layout, in bytes.
    pub capacity: Bytes,
    /// The wall-clock time limit.
    pub limit: Option<Duration>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of threads that the planner may use.
    pub threads: usize,
}

/// One run of an external planner.
#[derive(Debug)]
pub struct ExternalAttempt {
    /// The layout that the planner wrote, which is not checked yet, or the reason why there is none.
    pub layout: Result<Layout, String>,
    /// The printed reports, in order.
    pub said: Vec<Said>,
    /// Wall-clock time of the whole process in seconds, from its start to its end or to the deadline.
    pub seconds: f64,
    /// The self-reported time, or `None` if there is no pattern or the deadline ended the process.
    pub elapsed: Option<Result<Elapsed, ElapsedError>>,
    /// Whether the deadline ended the process.
    pub timed_out: bool,
    /// Whether a [request to stop](plimsoll::interrupt) ended the process. The results of such a run are
    /// meaningless.
    pub interrupted: bool,
    /// The exit status of a failed process or a note that the time limit ended it, and the last line of
    /// standard error. The remark is `None` if the process was successful and printed nothing on standard
    /// error.
    pub remark: Option<String>,
    /// Peak resident memory of the process without its children, in bytes, sampled during the run.
    pub peak_memory: Option<u64>,
}

impl ExternalAttempt {
    /// Returns the reported improvements. Their times are self-reported and capped at the end of the run.
    pub fn improvements(&self) -> Improvements {
        let mut improvements = Improvements::default();
        for said in &self.said {
            let Some(seconds) = said.seconds.filter(|seconds| *seconds >= 0.0) else { continue };
            let seconds = seconds.min(self.seconds);
            if let Some(peak) = said.peak {
                improvements.value(seconds, Unit::Bytes, peak);
            }
            if let Some(bound) = said.lower_bound {
                improvements.bound(seconds, Unit::Bytes, bound);
            }
        }
        improvements
    }
}

/// Returns true if a name is suitable for tables and file names.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    !name.is_empty() && name.chars().all(plain)
}

impl External {
    /// Parses `NAME=cmd {input} {output} {capacity}`.
    ///
    /// # Errors
    /// A one-line message that describes the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("external '{text}': {why}"));
        let Some((name, line)) = text.split_once('=') else {
            return wrong("expected NAME='cmd {input} {output} {capacity}'");
        };
        if !is_plain(name) {
            return wrong("the name before '=' may contain only letters, digits and - _ . +");
        }
        let words = match words::split(line) {
            Ok(words) => words,
            Err(why) => return wrong(why),
        };
        if words.is_empty() {
            return wrong("the command is empty");
        }
        for placeholder in ["{input}", "{output}"] {
            if !words.iter().any(|word| word.contains(placeholder)) {
                return wrong(&format!("the command has no {placeholder}"));
            }
        }
        Ok(Self::new(name, words))
    }

    /// Creates an external planner from a command line that is already split into words.
    pub fn new(name: &str, words: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            words,
            version: None,
            is_version_skipped: false,
            is_own: false,
            elapsed: None,
        }
    }

    /// Creates a built-in algorithm that runs in a process of this command. The first word is the path of
    /// the command, which rows do not contain.
    pub fn own(name: &str, words: Vec<String>) -> Self {
        Self { is_own: true, ..Self::new(name, words) }
    }

    /// Returns true if the process runs a built-in algorithm.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Returns the name of the planner in tables and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the quoted command line for the record.
    pub fn line(&self) -> String {
        let quoted = self.words.iter().map(|word| quote(word)).enumerate();
        let word = |(at, word)| if at == 0 && self.is_own { "plimsoll".to_owned() } else { word };
        quoted.map(word).collect::<Vec<_>>().join(" ")
    }

    /// Returns the version, if a version command was given.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the machine with the version of the planner in place of the version of this build.
    pub fn machine(&self, machine: &Machine) -> Machine {
        if self.is_own {
            return machine.clone();
        }
        Machine { version: self.version.clone().unwrap_or_default(), ..machine.clone() }
    }

    /// Returns true if there is a version command that did not run ([`VersionCommands::Skip`]).
    pub fn is_version_skipped(&self) -> bool {
        self.is_version_skipped
    }

    /// Returns true if the command line contains `{seed}`.
    pub fn is_seeded(&self) -> bool {
        self.asks_for("{seed}")
    }

    fn asks_for(&self, placeholder: &str) -> bool {
        self.words.iter().any(|word| word.contains(placeholder))
    }

    /// Runs the command in `NAME='cmd'`, or only parses it. The first non-empty line that it prints becomes
    /// the version of the planner NAME.
    ///
    /// # Errors
    /// A one-line message if the name is unknown, or if the command cannot be run, fails, or prints nothing.
    pub fn ask_version(peers: &mut [Self], text: &str, commands: VersionCommands) -> Result<(), String> {
        let wrong = |why: String| format!("external version '{text}': {why}");
        let (name, line) = text.split_once('=').ok_or_else(|| wrong("expected NAME='cmd'".to_owned()))?;
        let peer = peers.iter_mut().find(|peer| peer.name == name);
        let peer = peer.ok_or_else(|| wrong(format!("no external planner is called '{name}'")))?;
        let words = words::split(line).map_err(|why| wrong(why.to_owned()))?;
        let (first, others) = words.split_first().ok_or_else(|| wrong("the command is empty".to_owned()))?;
        if commands == VersionCommands::Skip {
            peer.is_version_skipped = true;
            return Ok(());
        }
        let said = first_line(first, others).map_err(|error| wrong(format!("'{first}': {error}")))?;
        peer.version = Some(said.chars().take(VERSION_LENGTH).collect());
        Ok(())
    }

    /// Parses `NAME=REGEX`, which describes how the planner NAME prints its time in seconds.
    ///
    /// # Errors
    /// [`ElapsedError::Pattern`] if the name is unknown or already has a pattern, or if the pattern is
    /// invalid or does not have exactly one group.
    pub fn set_elapsed_pattern(peers: &mut [Self], text: &str) -> Result<(), ElapsedError> {
        let wrong = |why: String| ElapsedError::Pattern { text: text.to_owned(), why };
        let (name, pattern) = text.split_once('=').ok_or_else(|| wrong("expected NAME=REGEX".to_owned()))?;
        let peer = peers.iter_mut().find(|peer| peer.name == name);
        let peer = peer.ok_or_else(|| wrong(format!("no external planner is called '{name}'")))?;
        if peer.elapsed.is_some() {
            return Err(wrong(format!("'{name}' already has a pattern")));
        }
        peer.elapsed = Some(ElapsedPattern::parse(pattern, text)?);
        Ok(())
    }

    /// Runs the planner until it ends. At the deadline or on a request to stop, the planner is killed.
    pub fn run(&self, task: &Task<'_>) -> ExternalAttempt {
        self.try_run(task).unwrap_or_else(|error| ExternalAttempt {
            layout: Err(format!("cannot run '{}': {error}", self.words[0])),
            said: Vec::new(),
            seconds: 0.0,
            elapsed: None,
            timed_out: false,
            interrupted: false,
            remark: None,
            peak_memory: None,
        })
    }

    fn try_run(&self, task: &Task<'_>) -> io::Result<ExternalAttempt> {
        let folder = tempfile::tempdir()?;
        let _ward = reaper::watch(&reaper::Ward::Folder(folder.path().to_owned()));
        let place = |name: &str| folder.path().join(name);
        let input = place(&format!("input.{}.csv", task.capacity));
        let (output, prints, errors) = (place("output.csv"), place("stdout"), place("stderr"));
        write_instance(task.instance, io::BufWriter::new(File::create(&input)?))?;
        let mut command = self.command(task, &input, &output);
        command.stdin(Stdio::null()).stdout(File::create(&prints)?).stderr(File::create(&errors)?);
        let ended = process::run(&mut command, self.deadline(task.limit))?;
        let remark = remark(&ended, &errors)
            // The path of the scratch folder is irrelevant to readers of the record.
            .map(|text| text.replace(&*folder.path().to_string_lossy(), "FOLDER"));
        let layout = if output.exists() {
            read_layout_file(&output, task.instance)
                .map_err(|error| error.to_string().replace(&output.display().to_string(), "the answer"))
        } else {
            Err("no answer was written".to_owned())
        };
        let Ended { seconds, timed_out, interrupted, peak_memory, .. } = ended;
        let said = said::read(&prints)?;
        let pattern = self.elapsed.as_ref().filter(|_| !timed_out);
        let elapsed = pattern.map(|pattern| pattern.find_in(&prints, &errors)).transpose()?;
        Ok(ExternalAttempt { layout, said, seconds, elapsed, timed_out, interrupted, remark, peak_memory })
    }

    /// Returns the deadline: the limit, plus [`GRACE`] if the planner enforces the limit itself.
    fn deadline(&self, limit: Option<Duration>) -> Option<Duration> {
        let grace = if self.asks_for("{time_limit}") { GRACE } else { Duration::ZERO };
        limit.map(|limit| limit.saturating_add(grace))
    }

    /// Returns the command with its placeholders replaced.
    fn command(&self, task: &Task<'_>, input: &Path, output: &Path) -> Command {
        // Without a limit, the planner gets a limit of one year.
        let limit = task.limit.map_or(31_536_000.0, |limit| limit.as_secs_f64());
        let fill = |word: &String| {
            word.replace("{input}", &input.to_string_lossy())
                .replace("{output}", &output.to_string_lossy())
                .replace("{capacity}", &task.capacity.to_string())
                .replace("{seed}", &task.seed.to_string())
                .replace("{threads}", &task.threads.to_string())
                .replace("{time_limit}", &limit.to_string())
        };
        // Placeholders are replaced only in the arguments, not in the name of the program.
        let mut command = Command::new(PathBuf::from(&self.words[0]));
        command.args(self.words[1..].iter().map(fill));
        command
    }
}

/// Returns the first non-empty line that a command prints.
fn first_line(first: &str, others: &[String]) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let prints = folder.path().join("stdout");
    let mut command = Command::new(first);
    command.args(others).stdin(Stdio::null()).stdout(File::create(&prints)?).stderr(Stdio::null());
    let ended = process::run(&mut command, Some(VERSION_LIMIT))?;
    if !ended.status.success() {
        return Err(io::Error::other(ended.status.to_string()));
    }
    let text = String::from_utf8_lossy(&fs::read(&prints)?).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| io::Error::other("the command prints nothing"))
}

fn remark(ended: &Ended, errors: &Path) -> Option<String> {
    let said = tail::last_line(&tail::tail(errors, TAIL).unwrap_or_default());
    let mut parts = Vec::new();
    if ended.timed_out {
        parts.push("killed at the time limit".to_owned());
    } else if !ended.status.success() {
        parts.push(ended.status.to_string());
    }
    if !said.is_empty() {
        parts.push(format!("stderr: {said}"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Buffer, InstanceBuilder, Lifespan};

    #[test]
    fn peers_are_parsed() {
        let peer = External::parse("mm=./bin --input={input} --output={output}").unwrap();
        assert_eq!((peer.name(), peer.words.len(), peer.is_seeded()), ("mm", 3, false));
        assert!(External::parse("x=c {input} {output} -s {seed}").unwrap().is_seeded());
        for bad in ["", "x", "=cmd {input} {output}", "a b=c {input} {output}", "x=", "x=cmd {input}", "x='c"]
        {
            assert!(External::parse(bad).is_err(), "{bad}");
        }
    }

    fn instance() -> Instance {
        InstanceBuilder::new("t")
            .buffer(Buffer::new("a", 4, Lifespan::single(0, 4).unwrap()))
            .build()
            .unwrap()
    }

    fn ask(peer: &External, capacity: u64, limit: Option<Duration>) -> ExternalAttempt {
        let capacity = Bytes::new(capacity);
        peer.run(&Task { instance: &instance(), capacity, limit, seed: 7, threads: 2 })
    }

    #[cfg(unix)]
    #[test]
    fn children_of_a_peer_do_not_survive_it() {
        let folder = tempfile::tempdir().unwrap();
        let (go, mark) = (folder.path().join("go"), folder.path().join("survivor"));
        let line = format!(
            "p=sh -c '(while ! test -e \"$2\"; do sleep 0.02; done; touch \"$3\") & sleep 600' x {{input}} {} {} {{output}}",
            quote(&go.to_string_lossy()),
            quote(&mark.to_string_lossy())
        );
        let peer = External::parse(&line).unwrap();
        let attempt = ask(&peer, 4, Some(Duration::from_millis(100)));
        assert!(attempt.timed_out && attempt.layout.is_err());
        // A surviving child would detect this file.
        fs::write(&go, "").unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(!mark.exists(), "a child of the peer survived");
    }

    #[cfg(unix)]
    #[test]
    fn answers_and_failures_are_distinguished() {
        let run = |script: &str| {
            let peer =
                External::parse(&format!("p=sh -c {} x {{input}} {{output}} {{capacity}}", quote(script)));
            ask(&peer.unwrap(), 9, Some(Duration::from_secs(600)))
        };
        let good =
            run("test \"$3\" = 9 && grep -q '^a,0,4,4$' \"$1\" && printf 'id,offset\\na,5\\n' > \"$2\"");
        assert_eq!(good.layout.unwrap().offsets()[0].get(), 5);
        assert!(good.remark.is_none() && good.said.is_empty());
        let bad = run("echo oops >&2; exit 7");
        assert!(bad.layout.unwrap_err().contains("no answer"));
        let remark = bad.remark.unwrap();
        assert!(remark.contains('7') && remark.contains("oops"), "{remark}");
        assert!(run("echo nonsense > \"$2\"").layout.unwrap_err().contains("the answer: line 1"));
        let missing = External::parse("p=/no/such/binary {input} {output}").unwrap();
        assert!(ask(&missing, 9, None).layout.unwrap_err().contains("cannot run"));
    }

    #[cfg(unix)]
    #[test]
    fn peers_get_seed_threads_and_limit_and_may_report() {
        let script = "echo \"{\\\"peak\\\": $3, \\\"lower_bound\\\": $4, \\\"seconds\\\": $5}\"";
        let line =
            format!("p=sh -c {} x {{input}} {{output}} {{seed}} {{threads}} {{time_limit}}", quote(script));
        let attempt = ask(&External::parse(&line).unwrap(), 9, Some(Duration::from_millis(600_500)));
        let said = Said::last(&attempt.said);
        assert_eq!((said.peak, said.lower_bound, said.seconds), (Some(7), Some(2), Some(600.5)));
    }

    #[cfg(unix)]
    #[test]
    fn peers_with_a_time_limit_get_grace_to_write() {
        let peer = |more: &str| External::parse(&format!("p=sleep 600 {{input}} {{output}} {more}")).unwrap();
        let limit = Some(Duration::from_millis(100));
        assert_eq!(peer("").deadline(limit), limit);
        assert_eq!(peer("{time_limit}").deadline(limit), Some(Duration::from_millis(1100)));
        assert_eq!(peer("{time_limit}").deadline(None), None);
        let line = "p=sh -c 'exec sleep 600' x {input} {output}";
        let attempt = ask(&External::parse(line).unwrap(), 9, limit);
        assert!(attempt.timed_out && attempt.layout.is_err());
    }

    #[cfg(unix)]
    #[test]
    fn versions_are_the_first_line_printed() {
        let mut peers = vec![External::parse("p=cmd {input} {output}").unwrap()];
        let mut ask = |text: &str| External::ask_version(&mut peers, text, VersionCommands::Run);
        assert!(ask("p=sh -c 'echo; echo 1.2 of may; echo more'").is_ok());
        for (bad, why) in [
            ("q=true", "no external planner is called 'q'"),
            ("p", "expected NAME='cmd'"),
            ("p=", "is empty"),
            ("p=true", "prints nothing"),
            ("p=false", "exit status"),
            ("p=/no/such/binary", "No such file"),
        ] {
            let error = ask(bad).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(peers[0].version(), Some("1.2 of may"));
    }
    #[cfg(unix)]
    #[test]
    fn own_times_are_read_from_either_stream() {
        let run = |script: &str, limit: u64| {
            let line = format!("p=sh -c {} x {{input}} {{output}}", quote(script));
            let mut peers = vec![External::parse(&line).unwrap()];
            External::set_elapsed_pattern(&mut peers, "p=took ([0-9.]+)s").unwrap();
            ask(&peers[0], 9, Some(Duration::from_millis(limit))).elapsed
        };
        assert!(matches!(run("echo took 0.25s", 600_000), Some(Ok(elapsed)) if elapsed.seconds > 0.24));
        assert!(matches!(run("echo took 1s; echo took 2s >&2", 600_000), Some(Ok(e)) if e.seconds > 1.9));
        assert!(matches!(run("echo none", 600_000), Some(Err(ElapsedError::NoMatch { .. }))));
        assert_eq!(run("echo took 0.01s; exec sleep 600", 200), None);
    }

    #[test]
    fn own_times_need_a_peer_and_a_pattern() {
        let mut peers = vec![External::parse("p=cmd {input} {output}").unwrap()];
        for (bad, why) in [
            ("p", "expected NAME=REGEX"),
            ("q=(a)", "no external planner is called 'q'"),
            ("p=", "has 0 groups"),
            ("p=(", "unclosed group"),
        ] {
            let error = External::set_elapsed_pattern(&mut peers, bad).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains(&format!("'{bad}'")), "{error}");
        }
        External::set_elapsed_pattern(&mut peers, "p=x=([0-9]+)").unwrap();
        let twice = External::set_elapsed_pattern(&mut peers, "p=(b)").unwrap_err().to_string();
        assert!(twice.contains("already has a pattern"), "{twice}");
    }
}
