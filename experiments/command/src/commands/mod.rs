//! One module per command.

pub mod bench;
pub mod choose;
pub mod compare;
pub mod convert;
pub mod datasets;
pub mod fuse;
pub mod generate;
pub mod import;
pub mod list;
pub mod measure;
pub mod merge;
pub mod order;
pub mod overlap;
pub mod plan;
pub mod recheck;
pub mod report;
pub mod reproduce;
pub mod shell;
pub mod solve;
pub mod spill;
pub mod sweep;
pub mod tiers;
pub mod verify;
