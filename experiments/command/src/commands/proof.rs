//! Proofs of lower bounds as files: written by `solve --proof`, checked by `verify --proof`.

use crate::failure::Failure;
use crate::output;
use crate::report::bytes;
use plimsoll::model::csv::write_instance;
use plimsoll::model::{Bytes, Instance, LowerBound};
use plimsoll::run::Limits;
use plimsoll::solvers::proof::{NoProof, Proof};
use plimsoll_lab::report::human;
use plimsoll_proof::{CheckError, Proved, check};
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

/// A proof that the checker has accepted.
pub struct Accepted {
    pub proved: Proved,
    /// Length of the file in bytes.
    pub length: u64,
    /// Seconds to find the proof, or `None` if it was read from a file, and seconds to check it.
    derived: Option<f64>,
    checked: f64,
}

impl Accepted {
    /// Returns the bound in bytes.
    pub fn bound(&self) -> Bytes {
        Bytes::new(self.proved.bound)
    }

    pub fn members(&self) -> Value {
        json!({
            "bound": self.proved.bound,
            "buffers": self.proved.buffers,
            "clauses": self.proved.clauses,
            "steps": self.proved.steps,
            "bytes": self.length,
            "seconds": self.derived,
            "check_seconds": self.checked,
        })
    }

    /// Describes the proof in one line.
    pub fn line(&self) -> String {
        let Proved { clauses, steps, .. } = self.proved;
        let (bound, clauses) = (bytes(self.bound()), human::count(clauses, "clause"));
        let (steps, length) = (human::count(steps, "step"), bytes(Bytes::new(self.length)));
        let checked = human::seconds(self.checked);
        format!("no layout below {bound}: {clauses}, {steps}, {length}, checked in {checked}")
    }
}

/// Converts an instance for the checker, which has a reader of its own.
fn checkers(instance: &Instance) -> Result<plimsoll_proof::Instance, Failure> {
    let mut csv = Vec::new();
    write_instance(instance, &mut csv).map_err(Failure::internal)?;
    plimsoll_proof::Instance::from_csv(&String::from_utf8_lossy(&csv)).map_err(Failure::internal)
}

/// Derives a proof of a bound, checks it and writes it. If there is no proof, returns the reason and writes
/// nothing.
pub fn write(
    path: &Path,
    instance: &Instance,
    bound: &LowerBound,
    limits: Limits,
) -> Result<Result<Accepted, NoProof>, Failure> {
    let start = Instant::now();
    let proof = match Proof::of(instance, bound, &mut Limits { target: None, ..limits }.budget()) {
        Ok(proof) => proof,
        Err(NoProof::Refuted { peak, bound }) => {
            return Err(Failure::internal(NoProof::Refuted { peak, bound }));
        }
        Err(reason) => return Ok(Err(reason)),
    };
    let mut text = Vec::new();
    proof.write(&mut text).map_err(Failure::internal)?;
    let derived = Some(start.elapsed().as_secs_f64());
    let start = Instant::now();
    let proved = check(&checkers(instance)?, text.as_slice());
    let proved = proved.map_err(|error| Failure::internal(format!("the proof is rejected: {error}")))?;
    let checked = start.elapsed().as_secs_f64();
    output::write_file(path, |file| file.write_all(&text))?;
    Ok(Ok(Accepted { proved, length: text.len() as u64, derived, checked }))
}

/// Reads and checks a proof.
pub fn read(path: &Path, instance: &Instance) -> Result<Result<Accepted, CheckError>, Failure> {
    let fail = |error| Failure::input(format!("{}: cannot read: {error}", path.display()));
    let file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    let start = Instant::now();
    let proved = check(&checkers(instance)?, BufReader::new(file));
    let checked = start.elapsed().as_secs_f64();
    Ok(proved.map(|proved| Accepted { proved, length, derived: None, checked }))
}
