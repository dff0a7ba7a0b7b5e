//! Runs anybody's binary under the limits of the benchmark and hands its answer to the checker.
//!
//! A peer is a command line with placeholders: `{input}` is an instance file (half-open `MiniMalloc` columns, the
//! capacity also in its name), `{output}` the file where the peer must leave a layout (`id` and `offset`),
//! `{capacity}` the capacity in bytes. The line is split into words as a shell would (blanks, single and double
//! quotes, backslash) and the placeholders are filled in afterwards, so no path needs quoting and no shell runs;
//! who wants one writes `sh -c '..'`.
//!
//! The peer leads a process group of its own. At the deadline, and when it ends, the whole group is killed, so
//! nothing it started lives on. Nothing it says counts but the layout it leaves.

use plimsoll_model::csv::{read_layout_file, write_instance};
use plimsoll_model::{Bytes, Instance, Layout};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a running peer is looked at.
const POLL: Duration = Duration::from_millis(2);
/// How much of the peer's standard error is kept, bytes from its end.
const TAIL: usize = 400;

/// A peer: a name and its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    name: String,
    words: Vec<String>,
}

/// One run of a peer.
#[derive(Debug)]
pub struct ExternalAttempt {
    /// The layout it left, not yet checked; or why there is none.
    pub layout: Result<Layout, String>,
    /// Wall-clock seconds from start to end or deadline.
    pub seconds: f64,
    /// True where the deadline ended it.
    pub timed_out: bool,
    /// Why it ended: exit code or signal, and the end of its standard error; `None` for a clean, silent end.
    pub remark: Option<String>,
    /// Highest resident memory seen of the process itself, bytes, sampled while it ran.
    pub peak_memory: Option<u64>,
}

impl External {
    /// Reads `NAME=cmd {input} {output} {capacity}`.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("external '{text}': {why}"));
        let Some((name, line)) = text.split_once('=') else {
            return wrong("expected NAME='cmd {input} {output} {capacity}'");
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return wrong("the name before '=' may hold letters, digits and - _ . + only");
        }
        let words = match split(line) {
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
        Ok(Self { name: name.to_owned(), words })
    }

    /// Its name in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its command line, for the record.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }

    /// Runs it on `instance` with `capacity`; ends at the time limit, with whatever it has left by then.
    pub fn run(&self, instance: &Instance, capacity: Bytes, limit: Option<Duration>) -> ExternalAttempt {
        self.try_run(instance, capacity, limit).unwrap_or_else(|error| ExternalAttempt {
            layout: Err(format!("cannot run '{}': {error}", self.words[0])),
            seconds: 0.0,
            timed_out: false,
            remark: None,
            peak_memory: None,
        })
    }

    fn try_run(
        &self,
        instance: &Instance,
        capacity: Bytes,
        limit: Option<Duration>,
    ) -> io::Result<ExternalAttempt> {
        let folder = tempfile::tempdir()?;
        let input = folder.path().join(format!("input.{capacity}.csv"));
        let output = folder.path().join("output.csv");
        let errors = folder.path().join("stderr");
        write_instance(instance, io::BufWriter::new(File::create(&input)?))?;
        let fill = |word: &String| {
            word.replace("{input}", &input.to_string_lossy())
                .replace("{output}", &output.to_string_lossy())
                .replace("{capacity}", &capacity.to_string())
        };
        let mut words = self.words.iter().map(fill);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors)?);
        lead_a_group(&mut command);
        let started = Instant::now();
        let ended = watch(command.spawn()?, limit.and_then(|limit| started.checked_add(limit)))?;
        let seconds = started.elapsed().as_secs_f64();
        let remark = remark(&ended, &errors)
            // Where the files lay is of no interest to a reader of the record.
            .map(|text| text.replace(&*folder.path().to_string_lossy(), "FOLDER"));
        let layout = if output.exists() {
            read_layout_file(&output, instance)
                .map_err(|error| error.to_string().replace(&output.display().to_string(), "its answer"))
        } else {
            Err("it left no answer".to_owned())
        };
        let Ended { timed_out, peak_memory, .. } = ended;
        Ok(ExternalAttempt { layout, seconds, timed_out, remark, peak_memory })
    }
}

/// How a process ended.
struct Ended {
    status: ExitStatus,
    timed_out: bool,
    peak_memory: Option<u64>,
}

/// Waits for the process or the deadline, then ends its whole group.
fn watch(mut child: Child, deadline: Option<Instant>) -> io::Result<Ended> {
    let process = child.id().to_string();
    let mut peak_memory = None;
    let timed_out = loop {
        if has_ended(&mut child)? {
            break false;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break true;
        }
        peak_memory = peak_memory.max(crate::machine::high_water_mark(&process));
        let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()));
        std::thread::sleep(left.min(POLL));
    };
    kill_group(&mut child);
    Ok(Ended { status: child.wait()?, timed_out, peak_memory })
}

fn remark(ended: &Ended, errors: &Path) -> Option<String> {
    let bytes = fs::read(errors).unwrap_or_default();
    let tail = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL)..]).into_owned();
    let tail = tail.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = Vec::new();
    if ended.timed_out {
        parts.push("killed at the time limit".to_owned());
    } else if !ended.status.success() {
        parts.push(ended.status.to_string());
    }
    if !tail.is_empty() {
        parts.push(format!("stderr: {tail}"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(unix)]
fn lead_a_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// True where it has ended. It is not reaped yet, so its number still stands for its group.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = pid_of(child) else { return Ok(child.try_wait()?.is_some()) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use rustix::process::{Signal, kill_process_group};
    if let Some(pid) = pid_of(child) {
        // Fails only where nobody is left, which is what is wanted.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(unix)]
fn pid_of(child: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(child.id()).ok()?)
}

#[cfg(not(unix))]
fn lead_a_group(_: &mut Command) {}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Without process groups only the process itself is ended.
#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

/// Splits a line into words as a shell does: blanks separate; single quotes keep everything; double quotes keep
/// everything but backslashes before `"` and `\`; a backslash keeps the next letter.
fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a single quote is not closed")? {
                        '\'' => break,
                        kept => word.push(kept),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a double quote is not closed")? {
                        '"' => break,
                        '\\' if letters.peek().is_some_and(|&next| next == '"' || next == '\\') => {
                            word.extend(letters.next());
                        }
                        kept => word.push(kept),
                    }
                }
            }
            '\\' => {
                let kept = letters.next().ok_or("nothing follows the last backslash")?;
                word.get_or_insert_default().push(kept);
            }
            kept => word.get_or_insert_default().push(kept),
        }
    }
    words.extend(word);
    Ok(words)
}

/// A word as a shell would read it back.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/=:,@%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{Buffer, InstanceBuilder, Lifespan};

    #[test]
    fn words_are_split_as_by_a_shell() {
        let words = |line| split(line).unwrap();
        assert_eq!(words("a  b\tc"), ["a", "b", "c"]);
        assert_eq!(
            words(r#"sh -c 'x "y" \z' "q \"r\" \s" t\ u ''"#),
            ["sh", "-c", r#"x "y" \z"#, r#"q "r" \s"#, "t u", ""]
        );
        assert!(split("'a").is_err() && split("\"a").is_err() && split("a\\").is_err());
        for word in ["plain", "two words", "it's", "", "{input}"] {
            assert_eq!(split(&quote(word)).unwrap(), [word]);
        }
    }

    #[test]
    fn peers_are_parsed() {
        let peer = External::parse("mm=./bin --input={input} --output={output}").unwrap();
        assert_eq!((peer.name(), peer.words.len()), ("mm", 3));
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

    #[cfg(unix)]
    #[test]
    fn nothing_a_peer_started_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("alive");
        let line = format!(
            "p=sh -c '(sleep 0.4; touch \"$2\") & sleep 5' x {{input}} {} {{output}}",
            quote(&mark.to_string_lossy())
        );
        let peer = External::parse(&line).unwrap();
        let attempt = peer.run(&instance(), Bytes::new(4), Some(Duration::from_millis(100)));
        assert!(attempt.timed_out && attempt.layout.is_err() && attempt.seconds < 2.0);
        std::thread::sleep(Duration::from_millis(600));
        assert!(!mark.exists(), "a child of the peer lived on");
    }

    #[cfg(unix)]
    #[test]
    fn answers_and_failures_are_told_apart() {
        let run = |script: &str| {
            let peer =
                External::parse(&format!("p=sh -c {} x {{input}} {{output}} {{capacity}}", quote(script)));
            peer.unwrap().run(&instance(), Bytes::new(9), Some(Duration::from_secs(20)))
        };
        let good =
            run("test \"$3\" = 9 && grep -q '^a,0,4,4$' \"$1\" && printf 'id,offset\\na,5\\n' > \"$2\"");
        assert_eq!(good.layout.unwrap().offsets()[0].get(), 5);
        assert!(good.remark.is_none());
        let bad = run("echo oops >&2; exit 7");
        assert!(bad.layout.unwrap_err().contains("no answer"));
        let remark = bad.remark.unwrap();
        assert!(remark.contains('7') && remark.contains("oops"), "{remark}");
        assert!(run("echo nonsense > \"$2\"").layout.unwrap_err().contains("its answer: line 1"));
        let missing = External::parse("p=/no/such/binary {input} {output}").unwrap();
        assert!(missing.run(&instance(), Bytes::new(9), None).layout.unwrap_err().contains("cannot run"));
    }
}
