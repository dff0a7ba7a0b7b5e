//! The manifest of an experiment. It is stored next to the rows and contains the experiment, the shard, the
//! build and the machine.

use super::ExperimentError;
use crate::machine::Machine;
use crate::row::{Decide, Extras, leads_out};
use plimsoll::posed::Terms;
use plimsoll_datasets::ImportOptions;
use plimsoll_model::{json_error, json_from_slice};
use plimsoll_support::files::write_durably;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The name of the manifest in the folder of an experiment.
pub const MANIFEST: &str = "experiment.json";
const FORMAT: &str = "plimsoll-experiment";
const VERSION: u32 = 1;

/// One of several parts of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The number of the part, counted from 1.
    pub part: u64,
    /// The number of parts.
    pub of: u64,
}

impl Shard {
    /// Returns true if a run belongs to this part. A part contains every `of`-th run, so all parts take about
    /// the same time.
    pub fn has(self, index: u64) -> bool {
        index % self.of == self.part - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("'{text}' is not a shard such as 1/4");
        let (part, of) = text.split_once('/').ok_or_else(expected)?;
        let part: u64 = part.parse().map_err(|_| expected())?;
        let of = of.parse().map_err(|_| expected())?;
        if (1..=of).contains(&part) { Ok(Self { part, of }) } else { Err(expected()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// An instance or graph of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputRecord {
    /// The suite, path or family.
    pub suite: String,
    /// The name of the instance or graph.
    pub name: String,
    /// SHA-256 of the canonical form, or an empty string if the input could not be read.
    pub sha256: String,
    /// The capacity in the instance file, in bytes. It is stored only if an algorithm decides this
    /// capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// The terms under which the instance was derived from a model.
    #[serde(default, skip_serializing_if = "Terms::is_empty")]
    pub terms: Terms,
    /// The model and its import options, or `None` if all options have their default values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
}

/// A model and the options with which it was imported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// The name of the model, without the values of its dimensions.
    pub name: String,
    /// The import options.
    pub import: ImportOptions,
}

impl InputRecord {
    /// Returns true if both records describe the same input. The import options are not compared,
    /// because the hash covers their effect.
    fn is_same(&self, other: &Self) -> bool {
        let of = |input: &Self| {
            let Self { suite, name, sha256, capacity, terms, model: _ } = input.clone();
            (suite, name, sha256, capacity, terms)
        };
        of(self) == of(other)
    }
}

/// An algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmRecord {
    /// The name of the problem.
    pub problem: String,
    /// The name of the algorithm.
    pub name: String,
    /// The terms of the question.
    #[serde(default, skip_serializing_if = "Terms::is_empty")]
    pub terms: Terms,
    /// Number of threads that a run may use.
    pub threads: usize,
    /// The capacity to decide.
    pub decide: Option<Decide>,
    /// Time limits of the runs in seconds. `None` means no limit.
    pub time: Vec<Option<f64>>,
    /// Node limits of the runs. `None` means no limit.
    pub nodes: Vec<Option<u64>>,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Number of runs with equal parameters.
    pub repetitions: u64,
    /// The command line of an external program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
    /// The version that an external program reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A sweep as resolved from its file. Two files that resolve to equal values describe the same sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolved {
    /// The instances and graphs.
    pub inputs: Vec<InputRecord>,
    /// The algorithms with their parameters, in file order.
    pub algorithms: Vec<AlgorithmRecord>,
    /// Columns kept in addition to the fixed ones. `None` means all columns.
    pub metrics: Option<Vec<String>>,
    /// Whether improvements over time are recorded.
    #[serde(default)]
    pub trace: bool,
    /// Whether layouts are stored.
    #[serde(default)]
    pub layouts: bool,
    /// Whether bounds are proved.
    #[serde(default)]
    pub proofs: bool,
    /// Time beyond the time limit after which a run counts as hung, in seconds.
    pub grace: f64,
    /// Limit on the resident memory of a run, in bytes.
    pub memory: Option<u64>,
    /// Number of runs of the whole sweep.
    pub runs: u64,
    /// SHA-256 of the keys of all runs, in order.
    pub keys: String,
}

impl Resolved {
    /// Returns the groups of optional columns that are recorded.
    pub(super) fn extras(&self) -> Extras {
        Extras { trace: self.trace, layouts: self.layouts, proofs: self.proofs }
    }

    /// Returns this value after a round trip through JSON, so that its numbers compare equal to those of a
    /// stored manifest.
    pub(super) fn normal(self) -> Self {
        let text = serde_json::to_string(&self).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(self)
    }

    /// Returns this sweep with the versions of `then`, for planners whose version command did not run. The
    /// keys of runs depend on the versions, so their hash is taken from `then` too.
    pub(crate) fn with_versions_of(mut self, then: &Self) -> Self {
        for (own, then) in self.algorithms.iter_mut().zip(&then.algorithms) {
            own.version.clone_from(&then.version);
        }
        Self { keys: then.keys.clone(), ..self }
    }

    /// Returns a description of the first difference from the sweep `now`, such as `seeds is [0] instead of
    /// [1]`, or `None` if both are equal.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let same_inputs = self.inputs.len() == now.inputs.len()
            && self.inputs.iter().zip(&now.inputs).all(|(then, now)| then.is_same(now));
        if same_inputs && *self == (Self { inputs: self.inputs.clone(), ..now.clone() }) {
            return None;
        }
        let of_inputs = || {
            let name = |input: &InputRecord| format!("{} '{}'", input.suite, input.name);
            let pairs = self.inputs.iter().zip(&now.inputs);
            for (then, now) in pairs {
                if (&then.suite, &then.name) == (&now.suite, &now.name) && then.sha256 != now.sha256 {
                    return Some(format!("instances: {} has different contents", name(then)));
                }
                if (&then.suite, &then.name) == (&now.suite, &now.name) {
                    let what = format!("instances: capacity of {}", name(then));
                    if let Some(difference) = differs(&what, &then.capacity, &now.capacity) {
                        return Some(difference);
                    }
                    let what = format!("instances: terms of {}", name(then));
                    if let Some(difference) = differs(&what, &then.terms, &now.terms) {
                        return Some(difference);
                    }
                }
                if !then.is_same(now) {
                    return Some(format!("instances: {} instead of {}", name(then), name(now)));
                }
            }
            length("instances", self.inputs.len(), now.inputs.len())
        };
        of_inputs()
            .or_else(|| {
                self.algorithms.iter().zip(&now.algorithms).find_map(|(then, now)| then.difference(now))
            })
            .or_else(|| length("algorithms", self.algorithms.len(), now.algorithms.len()))
            .or_else(|| differs("metrics", &self.metrics, &now.metrics))
            .or_else(|| differs("trace", &self.trace, &now.trace))
            .or_else(|| differs("layouts", &self.layouts, &now.layouts))
            .or_else(|| differs("proofs", &self.proofs, &now.proofs))
            .or_else(|| differs("limits.grace", &self.grace, &now.grace))
            .or_else(|| differs("limits.memory", &self.memory, &now.memory))
            .or_else(|| Some("the keys of the runs differ".to_owned()))
    }
}

impl AlgorithmRecord {
    fn difference(&self, now: &Self) -> Option<String> {
        if self == now {
            return None;
        }
        let own = |record: &Self| format!("{} ({})", record.name, record.problem);
        if own(self) != own(now) {
            return Some(format!("algorithms: {} instead of {}", own(self), own(now)));
        }
        differs("terms", &self.terms, &now.terms)
            .or_else(|| differs("threads", &self.threads, &now.threads))
            .or_else(|| differs("decide", &self.decide, &now.decide))
            .or_else(|| differs("time", &self.time, &now.time))
            .or_else(|| differs("nodes", &self.nodes, &now.nodes))
            .or_else(|| differs("seeds", &self.seeds, &now.seeds))
            .or_else(|| differs("repetitions", &self.repetitions, &now.repetitions))
            .or_else(|| differs("external", &self.external, &now.external))
            .or_else(|| differs("version", &self.version, &now.version))
            .map(|text| format!("algorithm {}: {text}", own(self)))
    }
}

fn length(what: &str, then: usize, now: usize) -> Option<String> {
    (then != now).then(|| format!("{what}: {then} instead of {now}"))
}

/// Describes the difference between two values. Both are printed as JSON and cut to 80 characters.
fn differs<T: PartialEq + Serialize>(what: &str, then: &T, now: &T) -> Option<String> {
    let shown = |value: &T| -> String {
        let text = serde_json::to_string(value).unwrap_or_default().replace("null", "none");
        if text.chars().count() <= 80 {
            text
        } else {
            format!("{}..", text.chars().take(80).collect::<String>())
        }
    };
    (then != now).then(|| format!("{what} is {} instead of {}", shown(then), shown(now)))
}

/// The build and the machine at the start of a sweep, and the time of the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// The build and the machine.
    #[serde(flatten)]
    pub machine: Machine,
    /// The time of the start, in UTC.
    pub timestamp: String,
}

/// The stored description of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The name of the sweep file, or the command.
    pub file: String,
    /// The shard of the sweep. `None` means the whole sweep.
    pub shard: Option<Shard>,
    /// The resolved sweep. For a shard, this is still the whole sweep.
    pub sweep: Resolved,
    /// The build and the machine at the start.
    pub begun: Begun,
}

impl Manifest {
    /// Creates a manifest.
    pub fn new(file: &str, shard: Option<Shard>, sweep: Resolved, begun: Begun) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, file: file.to_owned(), shard, sweep, begun }
    }

    /// Reads the manifest of a folder. Returns `None` if there is none.
    ///
    /// # Errors
    /// [`ExperimentError`] if the manifest cannot be read, leads out of the folder, or has another format or
    /// version.
    pub fn read(folder: &Path) -> Result<Option<Self>, ExperimentError> {
        let path = folder.join(MANIFEST);
        if leads_out(&path, folder) {
            let why = "it is a symbolic link out of the record".to_owned();
            return Err(ExperimentError::Manifest { path, why });
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ExperimentError::Io { path, source }),
        };
        let record: Self = json_from_slice(text.as_bytes())
            .map_err(|error| ExperimentError::Manifest { path: path.clone(), why: json_error(&error) })?;
        if record.format != FORMAT || record.version != VERSION {
            let why = format!(
                "found format '{}' version {}; expected '{FORMAT}' version {VERSION}",
                record.format, record.version
            );
            return Err(ExperimentError::Manifest { path, why });
        }
        Ok(Some(record))
    }

    /// Atomically writes the manifest into a folder.
    ///
    /// # Errors
    /// [`ExperimentError::Io`] if the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ExperimentError> {
        let path = folder.join(MANIFEST);
        let written = write_durably(&path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            file.write_all(b"\n")
        });
        written.map_err(|source| ExperimentError::Io { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_in_terms_is_named() {
        let one = |terms: &str| AlgorithmRecord {
            problem: "tiers".to_owned(),
            name: "greedy".to_owned(),
            terms: terms.parse().unwrap(),
            threads: 1,
            decide: None,
            time: vec![None],
            nodes: vec![None],
            seeds: vec![0],
            repetitions: 1,
            external: None,
            version: None,
        };
        let difference = one("machine=luna").difference(&one("machine=npu"));
        let text = "algorithm greedy (tiers): terms is \"machine=luna\" instead of \"machine=npu\"";
        assert_eq!(difference.as_deref(), Some(text));
        assert_eq!(one("").difference(&one("")), None);
    }
}
