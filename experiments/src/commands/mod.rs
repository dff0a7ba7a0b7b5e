//! One module per command.

pub mod bench;
pub mod choose;
pub mod generate;
pub mod list;
pub mod solve;
pub mod verify;
