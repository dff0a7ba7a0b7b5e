//! The JSON format `plimsoll-capture`, version 1.
//!
//! | member | meaning |
//! |---|---|
//! | `format`, `version` | `plimsoll-capture`, 1 |
//! | `framework`, `framework_version`, `planner` | the origin of the plan, as text |
//! | `model`, `batch` | name of the model; batch size |
//! | `memories[]` | `name`, `alignment` in bytes (default 1), `peak` in bytes, `buffers[]` |
//! | `memories[].buffers[]` | `id`, `size` and `offset` (optional) in bytes, `lower` and `upper` in steps |
//!
//! Lifespans are half-open.
//!
//! `peak` is the number of bytes that the planner itself reserves. Unknown members are rejected.

use super::capture::{Capture, stem};
use super::error::CaptureProblem;
use plimsoll_model::{Buffer, Bytes, InstanceBuilder, Layout, Lifespan, json_from_slice};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The value of the member `format`.
const FORMAT: &str = "plimsoll-capture";

/// A document in the format `plimsoll-capture`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureDocument {
    /// Always `plimsoll-capture`.
    pub format: String,
    /// Always 1.
    pub version: u64,
    /// The framework.
    pub framework: String,
    /// The version of the framework.
    #[serde(default)]
    pub framework_version: String,
    /// The algorithm or component that computed the plan.
    #[serde(default)]
    pub planner: String,
    /// The model.
    pub model: String,
    /// The batch size.
    #[serde(default)]
    pub batch: Option<u64>,
    /// The memories, each with a plan of its own.
    pub memories: Vec<CapturedMemory>,
}

/// The plan of one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturedMemory {
    /// The name of the memory.
    pub name: String,
    /// The alignment of all offsets, in bytes.
    #[serde(default = "one")]
    pub alignment: u64,
    /// The number of bytes that the planner reserves.
    pub peak: u64,
    /// The buffers.
    pub buffers: Vec<CapturedBuffer>,
}

/// A buffer, with its offset if the plan contains one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapturedBuffer {
    /// The name, unique within the memory.
    pub id: String,
    /// The size in bytes.
    pub size: u64,
    /// The first step at which the buffer is live.
    pub lower: u64,
    /// The first step after its lifespan.
    pub upper: u64,
    /// The offset in bytes.
    #[serde(default)]
    pub offset: Option<u64>,
}

fn one() -> u64 {
    1
}

pub(super) fn read(path: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureProblem> {
    let document: CaptureDocument = json_from_slice(data)?;
    if document.format != FORMAT {
        return Err(CaptureProblem::Format(document.format));
    }
    if document.version != 1 {
        return Err(CaptureProblem::Version(document.version));
    }
    let (framework, planner) = (&document.framework, &document.planner);
    let planner = [framework.as_str(), planner].join(" ").trim_end().to_owned();
    let named = document.memories.len() > 1;
    let capture = |memory: &CapturedMemory| {
        let stem = stem(path, ".capture");
        let name = if named { format!("{stem}:{}", memory.name) } else { stem };
        of_memory(memory, name, planner.clone())
    };
    let captures = document.memories.iter().filter(|memory| !memory.buffers.is_empty()).map(capture);
    let captures = captures.collect::<Result<Vec<_>, _>>()?;
    if captures.is_empty() { Err(CaptureProblem::Nothing("no memory has buffers")) } else { Ok(captures) }
}

fn of_memory(memory: &CapturedMemory, name: String, planner: String) -> Result<Capture, CaptureProblem> {
    let mut builder = InstanceBuilder::new(name);
    for one in &memory.buffers {
        let lifespan = Lifespan::single(one.lower, one.upper).map_err(|error| {
            let (memory, buffer) = (memory.name.clone(), one.id.clone());
            CaptureProblem::Buffer { memory, buffer, reason: error.to_string() }
        })?;
        builder = builder.buffer(Buffer::new(one.id.as_str(), one.size, lifespan).aligned(memory.alignment));
    }
    let instance =
        builder.build().map_err(|source| CaptureProblem::Instance { memory: memory.name.clone(), source })?;
    let offsets: Option<Vec<u64>> = memory.buffers.iter().map(|one| one.offset).collect();
    Ok(Capture {
        planner,
        instance,
        layout: offsets.map(Layout::from_raw),
        peak: Some(Bytes::new(memory.peak)),
    })
}
