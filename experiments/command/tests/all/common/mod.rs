//! Runs the command as users do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// An instance with load 7 and optimum 17. Only a search proves the optimum.
pub const ABOVE_LOAD: &str = "id,lower,upper,size,alignment,offset\nb0,2,7,4,1,\nb1,7,11,1,4,\nb2,7,8,1,1,12\n\
    b3,7,10,1,4,4\nb4,5,6,1,1,0\nb5,6,8,2,1,0\nb6,7,11,2,4,\n";

/// An instance of three buffers whose load, 8, is the optimum.
pub const TINY: &str = "id,lower,upper,size\na,0,4,4\nb,0,2,4\nc,2,4,4\n";

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

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
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
        for part in parts {
            assert!(run.stderr.contains(part), "no '{part}' in: {}", run.stderr);
        }
        run
    }

    /// Returns standard output with every run of blanks and line breaks reduced to one blank.
    pub fn words(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Returns the names of the algorithms of one kind for the offset problem.
pub fn algorithms(kind: &str) -> Vec<String> {
    let list = Scratch::new().plimsoll(&["list", "--json"]).exits(0).json();
    let all = list["algorithms"].as_array().unwrap().iter();
    let chosen = all.filter(|a| a["problem"] == "offsets" && a["kind"] == kind);
    chosen.map(|a| a["name"].as_str().unwrap().to_owned()).collect()
}

/// Pseudo-random numbers from 0 to 1 (xorshift).
pub struct Moments(pub u64);

impl Moments {
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
