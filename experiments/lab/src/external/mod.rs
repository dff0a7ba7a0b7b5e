//! Runs external planners under the limits of the benchmark and checks their answers.
//!
//! An external is a command line with placeholders. The line is split into words as a shell does (blanks,
//! single and double quotes, backslash), and placeholders are replaced afterwards. Paths therefore need no
//! quoting, and no shell runs; use `sh -c '..'` to get one.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{input}` | an instance file: half-open `MiniMalloc` columns, the capacity also in its name |
//! | `{output}` | the file to which the external must write a layout (`id` and `offset`) |
//! | `{capacity}` | the capacity, bytes |
//! | `{seed}` | the seed; commands without `{seed}` run once |
//! | `{threads}` | the number of threads it may use |
//! | `{time_limit}` | the time limit, seconds; commands with it have [`GRACE`] more to write an answer |
//!
//! An external leads its own process group. The whole group is killed at the deadline, on a [request to
//! stop](plimsoll::interrupt), and when the process ends, so none of its children survives, even if this
//! process is killed ([`reaper`]). Seconds are those of the whole process.
//!
//! Nothing that an external planner reports counts as proof. The checker verifies its layout. The claims and
//! bounds it prints ([`Said`]) and the time it reports ([`ElapsedPattern`]) are recorded unverified.

mod check;
mod elapsed;
mod process;
pub mod reaper;
mod said;
mod tail;
mod words;

pub use check::{Whose, answer};
pub use elapsed::{Elapsed, ElapsedError, ElapsedPattern};
pub use said::Said;
pub use words::quote;

use crate::record::Improvements;
use plimsoll_model::csv::{read_layout_file, write_instance};
use plimsoll_model::{Bytes, Instance, Layout, Value};
use process::Ended;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Length of the end of standard error that is searched for its last line, bytes.
const TAIL: u64 = 16 << 10;
/// Time beyond the limit for an external that enforces the limit itself.
pub const GRACE: Duration = Duration::from_secs(1);
/// Time limit of a version command.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
/// Longest version that is kept, characters.
const VERSION_LENGTH: usize = 160;

/// An external planner: a name and its command line.
#[derive(Clone, Debug)]
pub struct External {
    name: String,
    words: Vec<String>,
    version: Option<String>,
    elapsed: Option<ElapsedPattern>,
}

/// The task of an external run.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The instance, written to the file `{input}`.
    pub instance: &'a Instance,
    /// The capacity that the layout must keep, bytes.
    pub capacity: Bytes,
    /// The wall-clock time limit.
    pub limit: Option<Duration>,
    /// Seed of all randomness.
    pub seed: u64,
    /// The number of threads it may use.
    pub threads: usize,
}

/// One run of an external planner.
#[derive(Debug)]
pub struct ExternalAttempt {
    /// The layout it wrote, not yet checked, or why there is none.
    pub layout: Result<Layout, String>,
    /// The reports it printed, in order.
    pub said: Vec<Said>,
    /// Wall-clock seconds of the whole process, from its start to its end or the deadline.
    pub seconds: f64,
    /// The time it reports; `None` without a pattern, or where the deadline ended it.
    pub elapsed: Option<Result<Elapsed, ElapsedError>>,
    /// True where the deadline ended it.
    pub timed_out: bool,
    /// True where a [request to stop](plimsoll::interrupt) ended it: the run is then no evidence about the
    /// external.
    pub interrupted: bool,
    /// How it ended: exit code or signal, and the last line of its standard error; `None` for a successful,
    /// silent end.
    pub remark: Option<String>,
    /// Highest resident memory of the process itself, bytes, sampled while it ran.
    pub peak_memory: Option<u64>,
}

impl ExternalAttempt {
    /// The improvements it reported, by its own clock but never later than its end.
    pub fn improvements(&self) -> Improvements {
        let mut improvements = Improvements::default();
        for said in &self.said {
            let Some(seconds) = said.seconds.filter(|seconds| *seconds >= 0.0) else { continue };
            let seconds = seconds.min(self.seconds);
            if let Some(peak) = said.peak {
                improvements.value(seconds, Bytes::UNIT, peak);
            }
            if let Some(bound) = said.lower_bound {
                improvements.bound(seconds, Bytes::UNIT, bound);
            }
        }
        improvements
    }
}

/// Whether a name is fit for tables and file names.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    !name.is_empty() && name.chars().all(plain)
}

impl External {
    /// Parses `NAME=cmd {input} {output} {capacity}`.
    ///
    /// # Errors
    /// One line that states what is wrong.
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

    /// An external from words that are already split.
    pub fn new(name: &str, words: Vec<String>) -> Self {
        Self { name: name.to_owned(), words, version: None, elapsed: None }
    }

    /// The name under which it appears in tables and records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The command line, quoted, for the record.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }

    /// The version, where a version command was given.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// True where its command line contains `{seed}`.
    pub fn is_seeded(&self) -> bool {
        self.asks_for("{seed}")
    }

    fn asks_for(&self, placeholder: &str) -> bool {
        self.words.iter().any(|word| word.contains(placeholder))
    }

    /// Runs the command of `NAME='cmd'` and keeps the first line it prints as the version of that external.
    ///
    /// # Errors
    /// One line that states what is wrong: an unknown name, or a command that cannot be run, fails, or prints
    /// nothing.
    pub fn ask_version(peers: &mut [Self], text: &str) -> Result<(), String> {
        let wrong = |why: String| format!("external version '{text}': {why}");
        let (name, line) = text.split_once('=').ok_or_else(|| wrong("expected NAME='cmd'".to_owned()))?;
        let peer = peers.iter_mut().find(|peer| peer.name == name);
        let peer = peer.ok_or_else(|| wrong(format!("no external is called '{name}'")))?;
        let words = words::split(line).map_err(|why| wrong(why.to_owned()))?;
        let (first, others) = words.split_first().ok_or_else(|| wrong("the command is empty".to_owned()))?;
        let said = first_line(first, others).map_err(|error| wrong(format!("'{first}': {error}")))?;
        peer.version = Some(said.chars().take(VERSION_LENGTH).collect());
        Ok(())
    }

    /// Parses `NAME=REGEX`: where the external of that name prints its time, seconds.
    ///
    /// # Errors
    /// [`ElapsedError::Pattern`]: an unknown name, a second pattern for one name, an invalid pattern, or not
    /// exactly one group.
    pub fn set_elapsed_pattern(peers: &mut [Self], text: &str) -> Result<(), ElapsedError> {
        let wrong = |why: String| ElapsedError::Pattern { text: text.to_owned(), why };
        let (name, pattern) = text.split_once('=').ok_or_else(|| wrong("expected NAME=REGEX".to_owned()))?;
        let peer = peers.iter_mut().find(|peer| peer.name == name);
        let peer = peer.ok_or_else(|| wrong(format!("no external is called '{name}'")))?;
        if peer.elapsed.is_some() {
            return Err(wrong(format!("'{name}' already has a pattern")));
        }
        peer.elapsed = Some(ElapsedPattern::parse(pattern, text)?);
        Ok(())
    }

    /// Runs it until it ends or reaches the time limit.
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
            // The path of the scratch folder is irrelevant to a reader of the record.
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

    /// Its deadline: the limit, or [`GRACE`] beyond it where it enforces the limit itself.
    fn deadline(&self, limit: Option<Duration>) -> Option<Duration> {
        let grace = if self.asks_for("{time_limit}") { GRACE } else { Duration::ZERO };
        limit.map(|limit| limit.saturating_add(grace))
    }

    /// The command with its placeholders replaced.
    fn command(&self, task: &Task<'_>, input: &Path, output: &Path) -> Command {
        // No limit is passed as one year.
        let limit = task.limit.map_or(31_536_000.0, |limit| limit.as_secs_f64());
        let fill = |word: &String| {
            word.replace("{input}", &input.to_string_lossy())
                .replace("{output}", &output.to_string_lossy())
                .replace("{capacity}", &task.capacity.to_string())
                .replace("{seed}", &task.seed.to_string())
                .replace("{threads}", &task.threads.to_string())
                .replace("{time_limit}", &limit.to_string())
        };
        // The program is taken as given: placeholders are replaced in arguments only.
        let mut command = Command::new(PathBuf::from(&self.words[0]));
        command.args(self.words[1..].iter().map(fill));
        command
    }
}

/// The first non-empty line that a command prints.
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
    line.map(str::to_owned).ok_or_else(|| io::Error::other("it prints nothing"))
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
        // A surviving child would see this file sooner or later.
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
        let script = "echo \"{\\\"peak\\\": $3, \\\"lower_bound\\\": $4, \\\"claim\\\": \\\"$5\\\"}\"";
        let line =
            format!("p=sh -c {} x {{input}} {{output}} {{seed}} {{threads}} {{time_limit}}", quote(script));
        let attempt = ask(&External::parse(&line).unwrap(), 9, Some(Duration::from_millis(600_500)));
        let said = Said::last(&attempt.said);
        assert_eq!((said.peak, said.lower_bound, said.claim.as_deref()), (Some(7), Some(2), Some("600.5")));
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
        let mut ask = |text: &str| External::ask_version(&mut peers, text);
        assert!(ask("p=sh -c 'echo; echo 1.2 of may; echo more'").is_ok());
        for (bad, why) in [
            ("q=true", "no external is called 'q'"),
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
            ("q=(a)", "no external is called 'q'"),
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
