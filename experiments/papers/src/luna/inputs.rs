//! The printed numbers of the LUNA paper, and the graphs used in its recomputation.

use super::printed::Printed;
use super::times::PrintedTimes;
use crate::{Params, sheet};
use serde::{Deserialize, Serialize};

/// A corpus file that stands in for a model of the paper.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Model {
    pub folder: String,
    pub file: String,
    pub paper: String,
    pub differs: String,
}

/// Options for joining two models as branches of one operator.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Joined {
    pub name: String,
    pub trunk: bool,
    pub handed: bool,
    pub differs: String,
}

/// A generated graph that stands in for a model of the paper.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Generated {
    pub paper: String,
    pub family: String,
    pub params: Params,
}

/// A family of generated graphs on which merging is compared with the optimum.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Family {
    pub name: String,
    pub seeds: u64,
    pub sets: Vec<Params>,
}

/// The printed numbers, and the graphs used in the recomputation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/luna.toml explains every value")]
pub struct Inputs {
    pub tables: Vec<Printed>,
    pub best_gain: f64,
    pub times: Vec<PrintedTimes>,
    pub best_overlap: u64,
    pub shares: Vec<(String, f64)>,
    pub machine: String,
    pub models: Vec<Model>,
    pub joined: Vec<Joined>,
    pub generated: Vec<Generated>,
    pub families: Vec<Family>,
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("luna")
    }
}
