//! Proofs of lower bounds as files: `solve --proof` and `order --proof` write them, and `verify --proof`
//! checks them.

use crate::failure::Failure;
use crate::output;
use crate::report::{Text, bytes};
use plimsoll::graphs::OrderedRegion;
use plimsoll::model::graph::Graph;
use plimsoll::model::{Bytes, Instance, LowerBound};
use plimsoll::run::Limits;
use plimsoll::solvers::offsets::proof::NoProof;
use plimsoll_lab::proofs::{Checked, instance_of_checker, prove, prove_orders, within};
use plimsoll_lab::report::human;
use plimsoll_proof::{CheckError, OrderProved, Proved, check, check_orders};
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::Instant;

/// A proof that the checker has accepted.
pub struct Accepted<P> {
    /// The content that the checker confirmed. For orders, the innermost regions come first, and the body is
    /// last.
    pub proved: P,
    /// Length of the file in bytes.
    pub length: u64,
    /// Seconds to find the proof, or `None` if it was read from a file.
    derived: Option<f64>,
    /// Seconds to check the proof.
    checked: f64,
}

/// A proof as part of a report.
#[derive(Serialize)]
pub struct ProofReport {
    #[serde(flatten)]
    figures: Figures,
    /// Length of the file.
    bytes: u64,
    seconds: Option<f64>,
    check_seconds: f64,
    /// The proof as text.
    #[serde(skip)]
    pub line: String,
}

/// The content of a proof.
#[derive(Serialize)]
#[serde(untagged)]
enum Figures {
    Offsets { bound: u64, buffers: usize, clauses: u64, steps: u64 },
    Orders { bound: Option<u64>, regions: usize, sets: u64 },
}

/// The reason why a proof was not accepted.
#[derive(Serialize)]
pub struct Refusal {
    /// The line of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub reason: String,
    /// False if the check ended at a limit.
    pub rejected: bool,
}

/// The result of checking a proof, as part of a report.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Verdict {
    Accepted(ProofReport),
    Refused(Refusal),
}

impl Verdict {
    /// Adds the line about the proof.
    pub fn print(&self, text: &mut Text) {
        match self {
            Self::Accepted(proof) => text.line("proof", format_args!("accepted: {}", proof.line)),
            Self::Refused(Refusal { line, reason, rejected }) => {
                let verdict = if *rejected { "rejected" } else { "not checked" };
                let at = line.map_or_else(String::new, |line| format!("line {line}: "));
                text.line("proof", format_args!("{verdict}: {at}{reason}"));
            }
        }
    }
}

impl<P> Accepted<P> {
    fn with(&self, figures: Figures, line: String) -> ProofReport {
        ProofReport { figures, bytes: self.length, seconds: self.derived, check_seconds: self.checked, line }
    }
}

impl Accepted<Proved> {
    /// Returns the bound in bytes.
    pub fn bound(&self) -> Bytes {
        Bytes::new(self.proved.bound)
    }

    /// Returns the proof for an instance as part of a report.
    pub fn report(&self, instance: &Instance) -> ProofReport {
        let Proved { bound, buffers, clauses, steps, .. } = self.proved;
        let figures = Figures::Offsets { bound, buffers, clauses, steps };
        self.with(figures, self.line(instance))
    }

    /// Describes the proof for an instance in one line.
    fn line(&self, instance: &Instance) -> String {
        let Proved { clauses, steps, .. } = self.proved;
        let bound = match instance.contradiction() {
            Some(_) => "no layout exists".to_owned(),
            None => format!("no layout below {}", bytes(self.bound())),
        };
        let clauses = human::count(clauses, "clause");
        let (steps, length) = (human::count(steps, "step"), bytes(Bytes::new(self.length)));
        let checked = human::seconds(self.checked);
        format!("{bound}: {clauses}, {steps}, {length}, checked in {checked}")
    }
}

/// Derives a proof of a bound, checks it and writes it. If no proof is found, returns the reason and writes
/// nothing. Fails if a layout refutes the bound.
pub fn write(
    path: &Path,
    instance: &Instance,
    bound: &LowerBound,
    limits: Limits,
) -> Result<Result<Accepted<Proved>, NoProof>, Failure> {
    store(path, prove(instance, bound, limits))
}

/// Reads and checks a proof within limits.
pub fn read(
    path: &Path,
    instance: &Instance,
    limits: Limits,
) -> Result<Result<Accepted<Proved>, CheckError>, Failure> {
    let instance = instance_of_checker(instance).map_err(Failure::internal)?;
    load(path, limits, |file, stop| check(&instance, file, stop))
}

impl Accepted<Vec<OrderProved>> {
    /// Returns the proof as part of a report.
    pub fn report(&self) -> ProofReport {
        let (bound, regions) = (self.proved.last().map(|body| body.bound), self.proved.len());
        self.with(Figures::Orders { bound, regions, sets: self.sets() }, self.line())
    }

    /// Describes the proof in one line.
    fn line(&self) -> String {
        let bound = bytes(Bytes::new(self.proved.last().map_or(0, |body| body.bound)));
        let (sets, length) = (human::count(self.sets(), "set"), bytes(Bytes::new(self.length)));
        let checked = human::seconds(self.checked);
        format!("no order below {bound}: {sets} of operators, {length}, checked in {checked}")
    }

    fn sets(&self) -> u64 {
        self.proved.iter().map(|one| one.sets).sum()
    }
}

/// Derives a proof of the bounds of all regions, checks it and writes it. If no proof is found, returns the
/// reason and writes nothing. Fails if an order refutes a bound.
pub fn write_orders(
    path: &Path,
    graph: &Graph,
    regions: &[OrderedRegion],
    limits: Limits,
) -> Result<Result<Accepted<Vec<OrderProved>>, NoProof>, Failure> {
    store(path, prove_orders(graph, regions, limits))
}

/// Reads and checks a proof about orders within limits.
pub fn read_orders(
    path: &Path,
    limits: Limits,
) -> Result<Result<Accepted<Vec<OrderProved>>, CheckError>, Failure> {
    load(path, limits, check_orders)
}

/// Writes a checked proof. A bound that proves to be wrong is an internal error.
fn store<P>(
    path: &Path,
    proof: Result<Result<Checked<P>, NoProof>, String>,
) -> Result<Result<Accepted<P>, NoProof>, Failure> {
    let proof = match proof.map_err(Failure::internal)? {
        Ok(proof) => proof,
        Err(wrong @ (NoProof::Refuted { .. } | NoProof::Wrong(_))) => return Err(Failure::internal(wrong)),
        Err(reason) => return Ok(Err(reason)),
    };
    output::late(output::write_file(path, |file| file.write_all(&proof.text)));
    let (length, derived) = (proof.text.len() as u64, Some(proof.seconds));
    Ok(Ok(Accepted { proved: proof.proved, length, derived, checked: proof.check_seconds }))
}

/// Opens a proof and runs the checker on it.
fn load<P>(
    path: &Path,
    limits: Limits,
    check: impl FnOnce(BufReader<File>, &dyn Fn() -> bool) -> Result<P, CheckError>,
) -> Result<Result<Accepted<P>, CheckError>, Failure> {
    let fail = |error| Failure::input(format!("{}: cannot read: {error}", path.display()));
    let file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    let start = Instant::now();
    let (proved, _) = within(limits, |stop| check(BufReader::new(file), stop));
    let checked = start.elapsed().as_secs_f64();
    if let Err(error) = &proved
        && error.reason.is_no_proof()
    {
        return Err(Failure::input(format!("{}: not a proof of this kind: {error}", path.display())));
    }
    Ok(proved.map(|proved| Accepted { proved, length, derived: None, checked }))
}

/// Returns true if the first line of a file starts with `words`.
pub fn starts_with(path: &Path, words: &str) -> Result<bool, Failure> {
    let fail = |error| Failure::input(format!("{}: cannot read: {error}", path.display()));
    let mut first = Vec::new();
    let file = BufReader::new(File::open(path).map_err(fail)?);
    file.take(words.len() as u64).read_until(b'\n', &mut first).map_err(fail)?;
    Ok(first == words.as_bytes())
}
