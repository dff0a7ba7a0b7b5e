//! The experiment layer: runs of algorithms, their rows, and the analysis of these rows.
//!
//! | module | contents |
//! |---|---|
//! | [`suite`] | instances selected by suite, file, folder or pattern; suites derived from other suites |
//! | [`row`] | one row per run: the columns, their computation, and the CSV files |
//! | [`experiment`] | many runs with stable keys, and the folder with their rows |
//! | [`executor`] | ways to attempt the runs: in this process, in worker processes, as external programs |
//! | [`external`] | external planners, run as processes and checked like built-in algorithms |
//! | [`sweep`] | experiments described by a TOML file, and their scripts for a cluster |
//! | [`proofs`] | proofs of the bounds of runs, and the check of these proofs |
//! | [`analysis`] | analyses of rows: groups, standings, curves |
//! | [`report`] | tables, summaries, layout maps, charts, the HTML page |
//! | [`mod@recheck`] | reruns of rows, compared with the recorded results |
//! | [`machine`] | the machine and the build of a measurement |

pub mod analysis;
pub mod executor;
pub mod experiment;
pub mod external;
pub mod machine;
pub mod proofs;
pub mod recheck;
pub mod report;
pub mod row;
pub mod suite;
pub mod sweep;
