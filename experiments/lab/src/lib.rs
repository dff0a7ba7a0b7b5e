//! The experiment layer: runs of algorithms, their records, and the analysis of these records.
//!
//! | module | contents |
//! |---|---|
//! | [`suite`] | instances selected by suite, file, folder or pattern; suites derived from other suites |
//! | [`record`] | records with one row per run: the columns, their computation, and the CSV files |
//! | [`mod@attempt`] | runs of the built-in algorithms under the limits in a record |
//! | [`proofs`] | proofs of the bounds of runs, and the check of these proofs |
//! | [`external`] | external planners, run as processes and checked like built-in algorithms |
//! | [`mod@sweep`] | sweeps: many runs described by one file and isolated in separate processes |
//! | [`analysis`] | analyses of records: groups, standings, curves |
//! | [`report`] | tables, summaries, layout maps, charts, the HTML page |
//! | [`mod@recheck`] | reruns of records, compared with the recorded results |
//! | [`machine`] | the machine and the build of a measurement |

pub mod analysis;
pub mod attempt;
pub mod external;
pub mod machine;
pub mod proofs;
pub mod recheck;
pub mod record;
pub mod report;
pub mod suite;
pub mod sweep;
