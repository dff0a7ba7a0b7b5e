//! Heuristics for offsets.

mod buffer_orders;
pub(crate) mod descending;
mod ejection;
mod gaps;
mod heat;
mod hill_climb;
mod iterated;
mod long_first;
mod naive;
mod ordered;
mod placement;
mod registry;
pub(crate) mod report;
mod two_level;
mod valley;

pub(crate) use buffer_orders::log2;
pub use buffer_orders::{Order, conflict_counts};
pub use descending::descending_split;
pub use ejection::{Ejection, EjectionSearch};
pub use heat::{Heat, Peak};
pub use iterated::{Effort, IteratedSearch, Iteration};
pub use long_first::long_first;
pub use naive::laid_end_to_end;
pub use placement::{Abandoned, Arrangement, Fit, place};
pub use registry::ENTRIES;
pub use report::unsplit;
pub use valley::{ValleyWeights, valley_fit};
