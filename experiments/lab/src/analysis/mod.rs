//! Records read back: grouped and compared. No drawing here; `report` draws.
//!
//! Rows of `bench` (every version of its columns) and of `sweep` are [`Record`]s. A *group* holds those that may stand in
//! one table: they have one [`Question`]. Nothing is ever averaged over groups. Every report prints what its figures mean
//! ([`definitions`](crate::report::overview::definitions)). Curves, per group:
//!
//! - **Performance profile** (Dolan and Moré 2002): the share of the group's instances that an algorithm solves within
//!   a factor of the fastest time; and the share on which its gap is at most a given one.
//! - **Cactus**: how many instances each would have solved had the limit been shorter, one instance after the other in
//!   the order of their times.
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
