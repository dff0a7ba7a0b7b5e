//! One row per attempted run: the record that summaries are made from.

use crate::machine::{Machine, timestamp};
use crate::report::gap_percent;
use crate::sweep::answer::Answer;
use plimsoll::plan::Plan;
use plimsoll::run::Attempt;
pub use plimsoll_model::csv::content_hash;
pub use plimsoll_model::hexadecimal;
use plimsoll_model::{Bytes, Instance, load};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the columns.
pub const SCHEMA_VERSION: u32 = 4;

/// One attempted run. Fields are columns, in this order; what does not apply, or an older record lacks, is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Version of the columns.
    pub schema_version: u32,
    /// Suite of the instance.
    pub suite: String,
    /// The instance.
    pub instance: String,
    /// The instance's [`content_hash`].
    pub sha256: String,
    /// Number of buffers.
    pub buffers: Option<usize>,
    /// Load, bytes.
    pub load: Option<u64>,
    /// Capacity the run had to keep, bytes.
    pub capacity: Option<u64>,
    /// `offsets`, `scattered`, `pools`.
    pub problem: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// `heuristic`, `exact`, `external`.
    pub kind: String,
    /// Command line of an external binary.
    pub params: String,
    /// Seed.
    pub seed: u64,
    /// Which run of this algorithm on this instance, from 1.
    pub run: u64,
    /// Threads allowed.
    pub threads: usize,
    /// Time limit, seconds.
    pub time_limit: Option<f64>,
    /// Node limit.
    pub node_limit: Option<u64>,
    /// True where the run was to decide the capacity, false where to minimise.
    pub decide: bool,
    /// `done`, `skipped` (declined), `failed` (broke), `refused` (by the checker), `unreadable` (instance).
    pub status: String,
    /// What is proved.
    pub claim: String,
    /// Why it ended.
    pub stop: String,
    /// Peak or total, bytes.
    pub peak: Option<u64>,
    /// Lower bound the run proved, bytes.
    pub lower_bound: Option<u64>,
    /// Why the bound holds.
    pub bound_witness: String,
    /// In which arithmetic the bound was proved: `exact`, `floating-point`.
    pub arithmetic: String,
    /// What an external binary claims; `contradicted` where a valid solution of somebody shows that it is wrong.
    pub claimed: String,
    /// Lower bound that an external binary claims, bytes.
    pub claimed_bound: Option<u64>,
    /// Best bound that any run proved on this instance and problem, bytes.
    pub best_bound: Option<u64>,
    /// How far the peak lies above the best bound, percent of the bound.
    pub gap_percent: Option<f64>,
    /// The checker's word: `valid`, `refused`, or empty where there was nothing to check.
    pub verdict: String,
    /// Wall-clock seconds: of the algorithm alone, or of the whole process.
    pub seconds: Option<f64>,
    /// True where `seconds` are those of a process of its own, from its start to its end.
    pub whole_process: bool,
    /// Wall-clock seconds from after reading the instance to the answer, by the algorithm's own clock: of our own as
    /// measured in their process, of an external as it says, where it was asked how.
    pub own_seconds: Option<f64>,
    /// One unit of the last digit that an external printed of them, seconds.
    pub own_resolution: Option<f64>,
    /// Seconds per phase, `name=seconds` separated by blanks.
    pub phases: String,
    /// Counters of the algorithm, `name=number` separated by blanks.
    pub counters: String,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Highest resident memory, bytes: of this process for our own, sampled for external ones.
    pub peak_memory_bytes: Option<u64>,
    /// Commit of the sources.
    pub commit: String,
    /// Whether sources differed from it.
    pub dirty: String,
    /// Version of the command, or of the external binary where it was asked.
    pub version: String,
    /// Compiler.
    pub rustc: String,
    /// Build profile.
    pub profile: String,
    /// Processor.
    pub cpu: String,
    /// Threads of the machine.
    pub cores: usize,
    /// When the run ended, UTC.
    pub timestamp: String,
    /// What went wrong, or what an external binary had to say.
    pub error: String,
}

impl Row {
    /// A row with what is known of the build and the machine.
    pub fn on(machine: &Machine) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            commit: machine.commit.to_owned(),
            dirty: machine.dirty.to_owned(),
            version: machine.version.to_owned(),
            rustc: machine.rustc.to_owned(),
            profile: machine.profile.to_owned(),
            cpu: machine.cpu.clone(),
            cores: machine.cores,
            timestamp: timestamp(),
            ..Self::default()
        }
    }

    /// Adds the instance.
    #[must_use]
    pub fn about(mut self, suite: &str, instance: &Instance, sha256: &str) -> Self {
        suite.clone_into(&mut self.suite);
        instance.name().clone_into(&mut self.instance);
        sha256.clone_into(&mut self.sha256);
        self.buffers = Some(instance.len());
        self.load = Some(load(instance).0.get());
        self.capacity = instance.capacity().map(Bytes::get);
        self
    }

    /// Adds the limits.
    #[must_use]
    pub fn limited(mut self, time: Option<Duration>, nodes: Option<u64>, decide: bool) -> Self {
        self.time_limit = time.map(|time| time.as_secs_f64());
        self.node_limit = nodes;
        self.decide = decide;
        self
    }

    /// Adds what became of a run of our own.
    #[must_use]
    pub fn attempted<P: Plan>(self, instance: &Instance, attempt: &Attempt<P>) -> Self {
        let answer = Answer::of::<P>(instance, attempt);
        Self {
            problem: P::NAME.to_owned(),
            status: answer.status,
            claim: answer.claim,
            stop: answer.stop,
            peak: answer.peak,
            lower_bound: answer.lower_bound,
            bound_witness: answer.bound_witness,
            arithmetic: answer.arithmetic,
            verdict: answer.verdict,
            seconds: answer.seconds,
            own_seconds: answer.seconds,
            phases: answer.phases,
            counters: answer.counters,
            nodes: answer.nodes,
            peak_memory_bytes: answer.peak_memory_bytes,
            error: answer.error,
            timestamp: timestamp(),
            ..self
        }
    }

    /// Marks what an external binary claims where the lowest valid peak of anybody shows that it is wrong.
    fn contradict(&mut self, lowest: Option<u64>) {
        let remark = contradiction(&self.claimed, self.peak, self.claimed_bound, self.capacity, lowest);
        if let Some(remark) = remark {
            self.error = [&self.error, remark.as_str()]
                .into_iter()
                .filter(|t| !t.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
            "contradicted".clone_into(&mut self.claimed);
            self.claimed_bound = None;
        }
    }

    /// Sets best bound and gap.
    pub fn compare(&mut self, best_bound: Bytes) {
        self.best_bound = Some(best_bound.get());
        self.gap_percent = self.peak.and_then(|peak| gap_percent(Bytes::new(peak), best_bound));
    }
}

/// The best bound among the rows of one instance and problem, never below `floor`. A bound above a peak that the
/// checker found valid is wrong: its row is marked refused, and it does not count. Claims of external binaries that a
/// valid peak contradicts are marked as such; they never count.
pub fn settle(rows: &mut [Row], floor: Bytes) -> Bytes {
    let lowest = rows.iter().filter(|row| row.verdict == "valid").filter_map(|row| row.peak).min();
    let mut best = floor.get();
    for row in rows.iter_mut() {
        row.contradict(lowest);
    }
    for row in rows.iter_mut() {
        let Some(bound) = row.lower_bound else { continue };
        if let Some(why) = impossible(bound, lowest) {
            row.status = "refused".into();
            row.verdict = "refused".into();
            row.error = why;
            row.claim.clear();
        } else {
            best = best.max(bound);
        }
    }
    for row in rows {
        row.compare(Bytes::new(best));
    }
    Bytes::new(best)
}

/// Why what a peer claims of an answer with this peak, or of this capacity, cannot hold: somebody's valid solution is lower.
pub(crate) fn contradiction(
    claimed: &str,
    peak: Option<u64>,
    bound: Option<u64>,
    capacity: Option<u64>,
    lowest: Option<u64>,
) -> Option<String> {
    let lowest = lowest?;
    let claim = match claimed {
        "optimal" => peak.is_some_and(|peak| peak > lowest),
        "infeasible" => capacity.is_some_and(|capacity| lowest <= capacity),
        _ => false,
    };
    let wrong = claim || bound.is_some_and(|bound| bound > lowest);
    wrong.then(|| format!("its claims are contradicted by {lowest}, the peak of a valid solution"))
}

/// Why a bound cannot hold: somebody's valid solution has a lower peak.
pub(crate) fn impossible(bound: u64, lowest: Option<u64>) -> Option<String> {
    let peak = lowest.filter(|&peak| bound > peak)?;
    Some(format!("its bound {bound} is above {peak}, the peak of a valid solution"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::csv::{ReadOptions, read_instance};
    use sha2::{Digest, Sha256};

    fn row(peak: Option<u64>, bound: u64) -> Row {
        let verdict = if peak.is_some() { "valid" } else { "" }.to_owned();
        Row { peak, lower_bound: Some(bound), verdict, status: "done".to_owned(), ..Row::default() }
    }

    #[test]
    fn the_best_bound_is_the_highest_that_can_be_true() {
        let mut rows = vec![row(Some(12), 8), row(Some(10), 10), row(None, 9), row(None, 11)];
        assert_eq!(settle(&mut rows, Bytes::new(7)).get(), 10);
        assert_eq!(rows[0].gap_percent, Some(20.0));
        assert_eq!(rows[1].gap_percent, Some(0.0));
        assert_eq!(rows[2].gap_percent, None);
        assert_eq!(rows[3].status, "refused");
        assert!(rows.iter().all(|row| row.best_bound == Some(10)));
        assert_eq!(settle(&mut [], Bytes::new(7)).get(), 7);
    }

    #[test]
    fn claims_of_others_are_contradicted_by_valid_peaks() {
        let claims = |claimed: &str, peak, claimed_bound| Row {
            claimed: claimed.to_owned(),
            claimed_bound,
            capacity: Some(11),
            lower_bound: None,
            ..row(peak, 0)
        };
        let mut rows = vec![
            row(Some(10), 5),
            claims("optimal", Some(10), Some(10)),
            claims("optimal", Some(12), Some(9)),
            claims("feasible", Some(12), Some(11)),
            claims("infeasible", None, None),
        ];
        assert_eq!(settle(&mut rows, Bytes::new(1)).get(), 5);
        settle(&mut rows, Bytes::new(1));
        let claimed: Vec<&str> = rows.iter().map(|row| row.claimed.as_str()).collect();
        assert_eq!(claimed, ["", "optimal", "contradicted", "contradicted", "contradicted"]);
        assert_eq!(rows[4].error.matches("contradicted").count(), 1);
    }

    #[test]
    fn the_hash_is_of_the_written_form() {
        let text = "id,lower,upper,size\na,0,4,4\n";
        let instance = read_instance("t", text.as_bytes(), ReadOptions::default()).unwrap();
        let other = "size,buffer,end,start\n4,a,3,0\n";
        let same = read_instance("u", other.as_bytes(), ReadOptions::default()).unwrap();
        assert_eq!(content_hash(&instance), content_hash(&same));
        assert_eq!(content_hash(&instance), hexadecimal(&Sha256::digest(text)));
    }
}
