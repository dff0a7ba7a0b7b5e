//! Generated computation graphs and order problems.
//!
//! [`GRAPH_FAMILIES`] lists all families. Equal parameters and seeds produce the same graph on every machine.
//!
//! ```
//! use plimsoll_datasets::graphs::GraphFamily;
//!
//! let family = GraphFamily::named("randwire-ws").expect("is in the list");
//! let graph = family.generate(1, &[("nodes".to_owned(), 16)].into())?;
//! assert_eq!(graph.name(), "randwire-ws-nodes-16-1");
//! # Ok::<(), plimsoll_datasets::GenerateError>(())
//! ```

mod cells;
mod classic;
mod control;
mod experts;
mod families;
mod layers;
mod llm;
mod mobile;
mod net;
mod shapes;
mod small;
mod wide;
mod wired;
mod yolo;

pub use families::{GRAPH_FAMILIES, GraphFamily};
pub use small::{SmallOrderParams, min_peak_brute, small_order_problem};
