//! Runs the command as users do.

use plimsoll_lab::row::{MEASURED, Row, read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An instance with load 7 and optimum 17. Only a search proves the optimum.
pub const ABOVE_LOAD: &str = "id,lower,upper,size,alignment,offset\nb0,2,7,4,1,\nb1,7,11,1,4,\nb2,7,8,1,1,12\n\
    b3,7,10,1,4,4\nb4,5,6,1,1,0\nb5,6,8,2,1,0\nb6,7,11,2,4,\n";

/// An instance whose load, 11, is the optimum, as in the book.
pub const TWELVE: &str =
    "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

/// An instance of three buffers whose load, 8, is the optimum.
pub const TINY: &str = "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\n";

/// The cells of a CSV row by column.
pub type Cells = BTreeMap<String, String>;

/// Returns the cells of these columns.
pub fn pick<'a, const N: usize>(row: &'a Cells, columns: [&str; N]) -> [&'a str; N] {
    columns.map(|column| row[column].as_str())
}

/// A scratch folder in which the command runs.
pub struct Scratch {
    folder: TempDir,
}

/// The result of a run.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates a folder with a file.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Self {
        let scratch = Self::new();
        scratch.write(name, text);
        scratch
    }

    /// Creates a folder in which this line has run.
    #[track_caller]
    pub fn after(line: &str) -> Self {
        let scratch = Self::new();
        scratch.ok(line);
        scratch
    }

    /// Creates a folder with these models, which are seeds of the fuzz targets.
    pub fn with_models(names: &[&str]) -> Self {
        let scratch = Self::new();
        for name in names {
            scratch.write(name, std::fs::read(seed(name)).unwrap());
        }
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and creates its folder.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `plimsoll` with the arguments in this line, which a shell would split in the same way.
    pub fn run(&self, line: impl AsRef<str>) -> Run {
        let words = shlex::split(line.as_ref()).unwrap();
        self.plimsoll(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a line with this standard input.
    pub fn piped(&self, line: impl AsRef<str>, input: impl AsRef<[u8]>) -> Run {
        let mut command = command(self.folder.path());
        command.args(shlex::split(line.as_ref()).unwrap()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that rejects its arguments may end before it reads its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        Run::from(child.wait_with_output().unwrap())
    }

    /// Runs a line that exits with 0.
    #[track_caller]
    pub fn ok(&self, line: impl AsRef<str>) -> Run {
        self.run(line).exits(0)
    }

    /// Runs a line with `--json`, which exits with 0, and returns the printed report.
    #[track_caller]
    pub fn json(&self, line: impl AsRef<str>) -> Value {
        self.ok(format!("{} --json", line.as_ref())).json()
    }

    /// Runs a line that is refused, as [`Run::refuses`] describes.
    #[track_caller]
    pub fn refuses(&self, line: impl AsRef<str>, parts: &[&str]) {
        self.run(line).refuses(parts);
    }

    /// Reads a JSON file.
    pub fn document(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Reads the rows of a CSV file.
    pub fn cells(&self, name: &str) -> Vec<Cells> {
        let mut reader = csv::Reader::from_path(self.path(name)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// Reads the rows of a record.
    pub fn rows(&self, record: &str) -> Vec<Row> {
        read(&self.path(record).join("rows.csv")).unwrap()
    }

    /// Reads the rows of a record, without measured times and memory.
    pub fn steady(&self, record: &str) -> Vec<Cells> {
        let mut rows = self.cells(&format!("{record}/rows.csv"));
        for row in &mut rows {
            row.retain(|name, _| !MEASURED.contains(&name.as_str()));
        }
        rows
    }

    /// Runs `plimsoll` with these arguments, without corpora, at a width at which no line wraps.
    pub fn plimsoll(&self, words: &[&str]) -> Run {
        let mut command = command(self.folder.path());
        Run::from(command.env("COLUMNS", "1000").args(words).output().unwrap())
    }

    /// Runs `plimsoll` with these arguments, without corpora, at the default width.
    pub fn narrow(&self, words: &[&str]) -> Run {
        Run::from(command(self.folder.path()).args(words).output().unwrap())
    }
}

/// Returns the path of the binary in the environment variable `PLIMSOLL_LEAN`, if it is set. That binary is
/// a build without HiGHS and z3, and is tested instead of the binary built with these tests.
pub fn lean() -> Option<PathBuf> {
    std::env::var_os("PLIMSOLL_LEAN").map(PathBuf::from)
}

/// Returns the command to run in a folder, without corpora.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(lean().unwrap_or_else(|| env!("CARGO_BIN_EXE_plimsoll").into()));
    command
        .current_dir(folder)
        .env_remove("PLIMSOLL_CORPORA")
        .env_remove("RUST_BACKTRACE")
        .env_remove("COLUMNS");
    command
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// Asserts the exit code. If it differs, the panic message contains the whole output.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts exit code 2 with one line on standard error that contains all `parts`.
    #[track_caller]
    pub fn refuses(self, parts: &[&str]) -> Self {
        let run = self.exits(2);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.starts_with("plimsoll: "), "{}", run.stderr);
        assert!(!run.stderr.contains("panicked") && run.stdout.is_empty());
        run.warns(parts);
        run
    }

    /// Asserts that standard output contains all `parts`.
    #[track_caller]
    pub fn prints(&self, parts: &[&str]) -> &Self {
        contains(&self.stdout, parts);
        self
    }

    /// Asserts that standard output contains all `parts`, apart from line breaks and the number of blanks.
    #[track_caller]
    pub fn reports(&self, parts: &[&str]) -> &Self {
        contains(&self.words(), parts);
        self
    }

    /// Asserts that standard error contains all `parts`.
    #[track_caller]
    pub fn warns(&self, parts: &[&str]) -> &Self {
        contains(&self.stderr, parts);
        self
    }

    /// Returns standard output with every run of blanks and line breaks reduced to one blank.
    pub fn words(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Asserts that a text contains all `parts`.
#[track_caller]
pub fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
}

/// Asserts that an object has the members of `expected`. It may have more.
#[track_caller]
pub fn has(found: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(found[name], *value, "{name} of {found}");
    }
}

/// Returns the path of a model among the seeds of the fuzz targets.
pub fn seed(name: &str) -> PathBuf {
    let (_, suffix) = name.rsplit_once('.').unwrap();
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/seeds/{suffix}_model/{name}"))
}

/// Waits until something is done, and fails if it takes longer than the given time.
pub fn wait_until(what: &str, longest: Duration, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < longest, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the names of the algorithms of one kind for the offset problem.
pub fn algorithms(kind: &str) -> Vec<String> {
    let list = Scratch::new().plimsoll(&["list", "--json"]).exits(0).json();
    let all = list["algorithms"].as_array().unwrap().iter();
    let chosen = all.filter(|a| a["problem"] == "offsets" && a["kind"] == kind);
    chosen.map(|a| a["name"].as_str().unwrap().to_owned()).collect()
}

/// Pseudo-random numbers from 0 (inclusive) to 1 (exclusive), generated by xorshift.
pub struct Moments(pub u64);

impl Moments {
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Pseudo-random whole numbers, which are the same on every machine.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
