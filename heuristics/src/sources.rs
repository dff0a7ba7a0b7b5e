//! The sources of several heuristics.

pub(crate) const LUNA: &str =
    "Wang, Shen, Jing, Lyu: memory optimisation for control-flow graphs, Alg. 1 (the LUNA paper)";
pub(crate) const PISARCHYK: &str =
    "Pisarchyk, Lee: Efficient Memory Management for Deep Neural Net Inference, 2020";
pub(crate) const CLASSICAL: &str = "classical list placement for dynamic storage allocation";
pub(crate) const MINI_INFER: &str = "Mini-Infer report, static memory planning";
pub(crate) const PATENT: &str = "memory-planning patent, mutually exclusive operators";
pub(crate) const CANN: &str = "CANN graph engine, memory reuse";
