//! One module per command, and the list of all commands.

use crate::command::{Commands, Entry, native};

pub mod audit;
pub mod bench;
pub mod best;
pub mod choose;
pub mod compare;
pub mod contest;
pub mod convert;
pub mod datasets;
pub mod externals;
pub mod fit;
pub mod fuse;
pub mod generate;
pub mod header;
pub mod import;
pub mod in_model;
mod judge;
mod layouts;
pub mod list;
pub mod measure;
pub mod merge;
pub mod order;
pub mod overlap;
pub mod plan;
pub mod proof;
pub mod recheck;
pub mod report;
pub mod reproduce;
pub mod shell;
pub mod solve;
pub mod spill;
pub mod subject;
pub mod sweep;
pub mod tiers;
pub mod verify;
pub mod view;

/// All commands, in the order of the help.
pub const COMMANDS: Commands = Commands(&[
    Some(Entry::of::<solve::SolveArgs>()),
    native::<verify::VerifyArgs>(),
    native::<compare::CompareArgs>(),
    native::<audit::AuditArgs>(),
    Some(Entry::of::<spill::SpillArgs>()),
    native::<view::ViewArgs>(),
    native::<import::ImportArgs>(),
    native::<order::OrderArgs>(),
    Some(Entry::of::<plan::PlanArgs>()),
    Some(Entry::of::<overlap::OverlapArgs>()),
    native::<tiers::TiersArgs>(),
    native::<fuse::FuseArgs>(),
    native::<measure::MeasureArgs>(),
    native::<bench::BenchArgs>(),
    native::<sweep::SweepArgs>(),
    native::<merge::MergeArgs>(),
    native::<report::ReportArgs>(),
    native::<recheck::RecheckArgs>(),
    native::<reproduce::ReproduceArgs>(),
    Some(Entry::of::<generate::GenerateArgs>()),
    Some(Entry::of::<convert::ConvertArgs>()),
    native::<datasets::DatasetsArgs>(),
    Some(Entry::of::<list::ListArgs>()),
    native::<shell::CompletionsArgs>(),
    native::<shell::ManArgs>(),
    native::<sweep::WorkerArgs>(),
    native::<externals::ReaperArgs>(),
]);

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::posed::PROBLEMS;
    use std::collections::BTreeSet;

    #[test]
    fn the_arguments_are_consistent() {
        COMMANDS.declaration().debug_assert();
    }

    #[test]
    fn every_problem_has_a_command() {
        let solved = COMMANDS.iter().flat_map(|entry| entry.solves).map(|(problem, _)| *problem);
        assert_eq!(solved.collect::<BTreeSet<_>>(), PROBLEMS.iter().copied().collect());
    }
}
