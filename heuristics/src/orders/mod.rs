//! Heuristics for the order problem, which asks for a topological order of the operators with a low peak.
//!
//! | rule | information used |
//! |---|---|
//! | `as-in-file`, `bfs`, `dfs-left`, `dfs-right`, `reverse-dfs` | edges only |
//! | `ge-fixed`, `ge-dynamic`, `ge`, `ge-bfs`, `ge-as-in-file` | ends of lifespans, to move operators later |
//! | `greedy`, `lpmf`, `inductor-bfs`, `inductor-dfs` | live bytes, or bytes used, at the current step |
//! | `sethi-ullman` | whole branches, as hills and valleys of live bytes |
//! | `local-search` | whole orders |
//!
//! Rules that use live bytes must know in advance which operator begins a storage. If that depends on the
//! order, they search only the orders in which the first user in file order begins the storage.

mod costs;
mod engine;
mod list;
mod local;
mod registry;
mod rule;
mod series;
pub mod strings;
mod walk;

pub use engine::Adjust;
pub use registry::ENTRIES;
pub use rule::{Base, OrderRule};
