//! One module per command.

pub mod bench;
pub mod choose;
pub mod generate;
pub mod import;
pub mod list;
pub mod order;
pub mod overlap;
pub mod plan;
pub mod reproduce;
pub mod solve;
pub mod verify;
