//! Heuristics for the order problem: in which topological order should operators run?
//!
//! | rule | looks at |
//! |---|---|
//! | `as-in-file`, `bfs`, `dfs-left`, `dfs-right`, `reverse-dfs` | edges alone |
//! | `ge-fixed`, `ge-dynamic`, `ge`, `ge-bfs`, `ge-as-in-file` | ends of lives, to move operators later |
//! | `greedy`, `lpmf`, `inductor-bfs`, `inductor-dfs` | bytes alive, or touched, now |
//! | `sethi-ullman` | whole branches, as hills and valleys |
//! | `local-search` | whole orders |

mod costs;
mod engine;
mod list;
mod local;
mod registry;
mod rule;
mod series;
mod strings;
mod walk;

pub use engine::Adjust;
pub use registry::ORDERS;
pub use rule::{Base, OrderRule};
