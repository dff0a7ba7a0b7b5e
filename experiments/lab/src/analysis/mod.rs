//! What rows on record say: read, grouped, compared. No drawing here; `report` draws.
//!
//! Rows of `bench` (every version of its columns) and of `sweep` are [`Record`]s. A *group* holds those that may
//! stand in one table: same problem, same question (decide or minimise), same limits, same number of threads, same
//! machine ([`Question`]). Nothing is ever averaged over groups. Definitions, per group:
//!
//! - **Best bound** of an instance: of any run on record for that instance and problem, whatever its limits, the bound
//!   that excludes most and that no valid value contradicts. The load stands in only where there is no other and the
//!   problem is one of peaks.
//! - **Value** of an algorithm on an instance: the median over its runs (seeds and repetitions); a run without a value
//!   counts as worse than all others, and of an even number the worse of the middle two is taken, a value that was
//!   really reached. **Gap**: its distance from the best bound, percent of the bound. The smaller of two values is better;
//!   of relations the larger is.
//! - **Time**, **solved**, **shifted geometric mean**, **PAR-2**: as in [`time`]. With a target gap a
//!   run also solves where its value is within that of the best bound; its time is that of the whole run then, too.
//! - Means of times and PAR-2 are none where runs without a time limit did not solve: nothing can stand for these.
//! - **Wins**: instances where another algorithm ran and none has a better value (a shorter time); *shared* where others
//!   have the same.
//! - **Virtual best**: on each instance the best of all algorithms. What an algorithm contributes is what the virtual
//!   best loses without it: instances solved, mean time (as a factor), mean gap (in percentage points).
//! - **Performance profile** (Dolan and Moré 2002): the share of the group's instances that an algorithm solves within
//!   a factor of the fastest time; and the share on which its gap is at most a given one.
//! - **Cactus**: how many instances each would have solved had the limit been shorter, one instance after the other in
//!   the order of their times.
//! - **Primal integral** (Berthold 2013, "Measuring the impact of primal heuristics"): the integral, from the start to
//!   the limit, of the primal gap `|p - q| / max(p, q)` of the best value `p` so far to the best valid value `q` on
//!   record; 1 while there is no value. Seconds: 0 is an optimum at once, the limit is nothing at all.
//!
//! Runs that failed, were refused, crashed or declined count as unsolved and without a value, and are listed.

pub mod curves;
pub mod files;
pub mod folder;
pub mod group;
pub mod integral;
pub mod sheet;
pub mod standing;
pub mod time;

pub use folder::{Folder, find};
pub use group::{Cell, Group, InstanceFacts, Options, Question, groups};
pub use sheet::Sheet;
pub use standing::{Mean, Standing, standings};

use crate::record::{Record, RecordError};
use crate::sweep::SweepError;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Why there is no analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A file cannot be read, or a line of it is none.
    #[error(transparent)]
    Rows(#[from] RecordError),
    /// The record of a sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// There is nothing at this path.
    #[error("{}: there is no such file or folder", .0.display())]
    Missing(PathBuf),
    /// There is nothing to analyse at this path.
    #[error("{}: {why}", path.display())]
    Nothing {
        /// Where.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
}

/// Values without repetition, in the order of their first.
pub(crate) fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}

/// A record with its groups and the standings in each.
#[derive(Clone, Debug)]
pub struct Study {
    /// The record.
    pub record: Folder,
    /// The groups, in the order of their first rows.
    pub groups: Vec<Group>,
    /// Per group the algorithms, in the order of their first rows, and last the virtual best where there are two.
    pub standings: Vec<Vec<Standing>>,
}

impl Study {
    /// Runs without an answer: first those of no group, whose instances could not be read.
    pub fn troubles(&self) -> impl Iterator<Item = &Record> {
        let groupless = self.record.observations.iter().filter(|row| !group::has_question(row));
        groupless.chain(self.groups.iter().flat_map(|group| &group.troubles))
    }
}

/// Analyses records.
pub fn study(records: Vec<Folder>, options: Options) -> Vec<Study> {
    let one = |record: Folder| {
        let groups = groups(&record.observations, &record.trace, options);
        let standings = groups.iter().map(|group| standings(group, options.shift)).collect();
        Study { record, groups, standings }
    };
    records.into_iter().map(one).collect()
}
