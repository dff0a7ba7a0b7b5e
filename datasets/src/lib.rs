//! Sources of problems: worked examples, generators and importers.
//!
//! A generator is deterministic: the same parameters and seed give the same instance or graph on every
//! machine.

mod above_load;
mod attributed;
#[cfg(test)]
mod brute;
mod c_array;
#[cfg(feature = "captured")]
mod captured;
pub mod captures;
pub mod control_cases;
mod derivations;
mod derive;
pub mod dsa;
mod error;
mod families;
mod family;
#[doc(hidden)]
pub mod fuzzing;
pub mod graphs;
mod import;
mod inductor;
mod manifest;
mod model_file;
mod onnx;
mod operators;
mod packing;
mod random;
mod refill;
mod rewrite;
mod rows;
mod small;
mod suite;
mod tflite;
mod worked;

pub use above_load::{AboveLoad, AboveLoadParams, DRAWS, ORDERS, hard_above_load, late_above_load};
pub use attributed::{AttributedParams, attributed};
#[cfg(feature = "captured")]
pub use captured::{captured_sample, captured_suite};
pub use derivations::{DERIVATIONS, Derivation, Derive};
pub use derive::{reversed, thinned};
pub use error::GenerateError;
pub use families::{FAMILIES, Family};
pub use family::{FamilyParam, Generator};
pub use import::{
    Import, ImportError, ImportOptions, ImportProblem, OperatorPlace, Overlap, Scratch, SizeSources,
    Unrunnable,
};
pub use manifest::{CORPORA_VARIABLE, Corpus, CorpusFile, Facts, MANIFEST, Origin};
pub use model_file::{MODEL_SUFFIXES, import_file, is_model, read_model, read_onnx, read_tflite};
pub use operators::{KnownOperator, known_operators};
pub use packing::{Packing, PackingParams, guillotine, perfect_packing};
pub use random::{IntervalParams, LifeLaw, SizeLaw, random_intervals};
pub use refill::{FULL_PERCENT, refilled, welded};
pub use rewrite::{ModelFile, ModelFormat};
pub use rows::{Generated, PlainBuffer, Written};
pub use small::{SmallParams, small_instance};
pub use suite::{
    ablation_suite, above_load_suite, above_load_wide_suite, accelerated_suite, attributed_suite,
    derived_refilled, derived_reversed, derived_thinned, derived_welded, embedded_suite, graph_suite,
    large_suite, networks_suite, packings_suite, recombined_suite, scaling_suite,
};
pub use tflite::{MICRO_ALIGNMENT, MicroArena, MicroOverhead, Pointers, Shares};
pub use worked::{
    Fact, Worked, cann, leading_gap, minimalloc_five, patent, patent_graph, pisarchyk_lee, worked_examples,
};
