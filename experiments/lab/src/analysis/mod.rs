//! Reads, groups and compares records. The module `report` presents the results.
//!
//! Rows of `bench` and of `sweep` are [`Row`]s. The runs of one [`Question`] are
//! comparable and form a *group*. No average spans several groups. Every report prints the definitions of its
//! figures ([`definitions`](crate::report::overview::definitions)). A group has these curves:
//!
//! - **Performance profile** (Dolan and Moré 2002). There are two profiles. The first shows the share of
//!   instances that an algorithm solves within a given factor of the fastest time. The second shows the share
//!   of instances on which the gap of an algorithm is at most a given value.
//! - **Cactus plot.** It shows the number of instances that an algorithm solves within a time limit, as a
//!   function of the limit.
//! - **Gap over time.** It shows the mean gap to the best bound over the traced runs of an algorithm, as a
//!   function of time.
//!
//! Runs without an answer (failed, refused, crashed or skipped) count as unsolved and have no value. They are
//! listed separately.

pub mod curves;
pub mod files;
pub mod folder;
pub mod group;
pub mod integral;
pub mod sheet;
pub mod standing;
pub mod time;

pub use folder::{Folder, find};
pub use group::{Cell, Group, InstanceFacts, Options, Question, Sort, groups};
pub use sheet::Sheet;
pub use standing::{Mean, Standing, standings};

use crate::experiment::ExperimentError;
use crate::row::{Row, RowError};
use group::has_question;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// An error during the analysis of records.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A file cannot be read, or one of its lines is invalid.
    #[error(transparent)]
    Rows(#[from] RowError),
    /// The manifest of a sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] ExperimentError),
    /// The path does not exist.
    #[error("{}: no such file or folder", .0.display())]
    Missing(PathBuf),
    /// The path contains nothing to analyse.
    #[error("{}: {why}", path.display())]
    Nothing {
        /// The path as given.
        path: PathBuf,
        /// The reason why there is nothing to analyse.
        why: String,
    },
}

/// Returns the distinct values, in order of first appearance.
pub(crate) fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}

/// A record with its groups, and the standings of each group.
#[derive(Clone, Debug)]
pub struct Study {
    /// The record as read from disk.
    pub record: Folder,
    /// The groups, in order of first appearance.
    pub groups: Vec<Group>,
    /// Per group: the standings of the algorithms in the order of [`Options::sort`]. If there are at least
    /// two algorithms, the virtual best follows.
    pub standings: Vec<Vec<Standing>>,
}

impl Study {
    /// Returns the runs without an answer. Runs on unreadable instances belong to no group and come first.
    pub fn troubles(&self) -> impl Iterator<Item = &Row> {
        let groupless = self.record.observations.iter().filter(|row| !has_question(row));
        groupless.chain(self.groups.iter().flat_map(|group| &group.troubles))
    }
}

/// Analyses records: groups their runs and compares the algorithms.
pub fn study(records: Vec<Folder>, options: Options<'_>) -> Vec<Study> {
    let one = |mut record: Folder| {
        let groups = groups(&record.observations, options);
        let sorted = |group: &Group| {
            let mut all = standings(group, options.shift);
            standing::sort(&mut all, &group.question, options.sort);
            all
        };
        let standings = groups.iter().map(sorted).collect();
        record.observations.retain(|row| !has_question(row) || options.keeps(row));
        Study { record, groups, standings }
    };
    records.into_iter().map(one).collect()
}
