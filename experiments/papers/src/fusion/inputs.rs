//! The printed numbers of the fusion paper.

use crate::{Params, sheet};
use serde::{Deserialize, Serialize};

/// The numbers of tables 1 to 3 for one network.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/fusion.toml explains every value")]
pub struct Measured {
    pub network: String,
    pub family: String,
    pub inference: [f64; 4],
    pub total: [f64; 4],
    pub performance: [f64; 4],
    pub subgraph_gain: f64,
    pub fast: (f64, f64),
}

/// Subgraph counts before and after fusion.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/fusion.toml explains every value")]
pub struct Subgraphs {
    pub network: String,
    pub family: String,
    pub before: usize,
    pub after: usize,
    pub coverage: f64,
}

/// The printed numbers, and the networks to which they refer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/fusion.toml explains every value")]
pub struct Inputs {
    pub seconds: Vec<Measured>,
    pub subgraphs: Vec<Subgraphs>,
    pub vgg16: Params,
    pub yolov5s: Params,
    pub clocks: (f64, f64),
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("fusion")
    }
}
