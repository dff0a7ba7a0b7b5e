//! The laboratory: many runs, their records, and what they show.
//!
//! | module | contents |
//! |---|---|
//! | [`suite`] | instances by suite, file, folder, pattern; suites made from others |
//! | [`record`] | one run: its columns, from the algorithm to the CSV file and back |
//! | [`mod@attempt`] | runs of our own algorithms as a record asks for them |
//! | [`external`] | other people's planners, run and checked like ours |
//! | [`mod@sweep`] | many runs described by one file, each in a process of its own |
//! | [`analysis`] | records read back: groups, standings, curves |
//! | [`report`] | tables, rows, summaries, maps, charts, the page |
//! | [`mod@recheck`] | records rerun and compared |
//! | [`machine`] | where and by what something was measured |

pub mod analysis;
pub mod attempt;
pub mod external;
pub mod machine;
pub mod recheck;
pub mod record;
pub mod report;
pub mod suite;
pub mod sweep;
