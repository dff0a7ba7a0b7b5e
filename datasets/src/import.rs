//! Options, results and errors of the importers.

use plimsoll_model::OperatorId;
use plimsoll_model::graph::{FlowError, Graph, GraphError};
use plimsoll_support::contents::ContentsError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Memory that the kernel of an operator of a `TFLite` model requests from the runtime, and needs only
/// while it runs. Model files do not record such memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    /// The index of the subgraph in the file.
    pub subgraph: usize,
    /// The index of the operator in its subgraph.
    pub operator: usize,
    /// The size in bytes.
    pub bytes: u64,
}

/// How far an output and an input of an operator may overlap ([`Graph::overlap`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overlap {
    /// The bytes of the smaller one that do not overlap.
    pub apart: u64,
    /// The bytes of scratch memory that the operator needs for that.
    pub scratch: u64,
}

impl fmt::Display for Overlap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.apart)?;
        if self.scratch > 0 { write!(out, "+{}", self.scratch) } else { Ok(()) }
    }
}

/// The options of the importers. Most of them supply information that the file does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportOptions {
    /// Values of free dimensions, by their name in the file (`N`, `batch_size`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dims: BTreeMap<String, u64>,
    /// Full shapes of inputs, by name. They override the shapes in the file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub input_shapes: BTreeMap<String, Vec<u64>>,
    /// The extent of the first dimension of every input of rank 1 or higher that `input_shapes` does not
    /// name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// The element type, such as `float16`, that replaces every floating-point type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Whether operators that read only constants are kept. By default, such operators are removed and their
    /// outputs become weights ([`Graph::folded`]), since ONNX runtimes compute these outputs when they load
    /// the model. The option does not affect `TFLite` models. For graph files, it is an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_constants: bool,
    /// The size in bytes of tensors whose shape or type cannot be determined. Without it, such tensors are an
    /// error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assume_bytes: Option<u64>,
    /// The value of every free dimension that has no other value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim_default: Option<u64>,
    /// Values of inputs that determine shapes, by name: integers in row-major order.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<i64>>,
    /// Shapes of intermediate tensors, by name, for tensors whose shape cannot be inferred.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tensor_shapes: BTreeMap<String, Vec<u64>>,
    /// The largest number of iterations of every loop for which the file gives no number of iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trips: Option<u64>,
    /// True if slices, splits and concatenations of models share memory where elements are consecutive.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parts: bool,
    /// By kind of operator (`Conv`): how far its first output overlaps its first input. The only option that
    /// applies to graph files.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overlaps: BTreeMap<String, Overlap>,
    /// Scratch buffers of operators of a `TFLite` model. An operator may have several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scratch: Vec<Scratch>,
}

impl ImportOptions {
    /// Returns the options that differ from their defaults, in command-line syntax.
    pub fn given(&self) -> Vec<String> {
        let shape = |shape: &Vec<u64>| shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let dims = self.dims.iter().map(|(name, value)| format!("--dim {name}={value}"));
        let shapes = self
            .input_shapes
            .iter()
            .map(|(name, extents)| format!("--input-shape {name}={}", shape(extents)));
        let batch = self.batch.map(|batch| format!("--batch {batch}"));
        let element = self.element.as_ref().map(|element| format!("--element {element}"));
        let keep = self.keep_constants.then(|| "--keep-constants".to_owned());
        let assume = self.assume_bytes.map(|bytes| format!("--assume-bytes {bytes}"));
        let default = self.dim_default.map(|extent| format!("--dim-default {extent}"));
        let values = self.values.iter().map(|(name, list)| value_option(name, list));
        let inside = self
            .tensor_shapes
            .iter()
            .map(|(name, extents)| format!("--tensor-shape {name}={}", shape(extents)));
        let trips = self.trips.map(|trips| format!("--trips {trips}"));
        let parts = self.parts.then(|| "--parts".to_owned());
        let scratch = (!self.scratch.is_empty()).then(|| "--scratch FILE".to_owned());
        let overlaps = self.overlaps.iter().map(|(kind, overlap)| format!("--overlap {kind}={overlap}"));
        let sizes = dims.chain(default).chain(shapes).chain(batch).chain(values).chain(inside).chain(trips);
        sizes.chain(element).chain(keep).chain(assume).chain(parts).chain(scratch).chain(overlaps).collect()
    }
}

/// Returns the option that gives an input a value, in command-line syntax.
pub(crate) fn value_option(name: &str, list: &[i64]) -> String {
    format!("--value {name}={}", list.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// A graph and the assumptions made to import it.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The operators and tensors of the file.
    pub graph: Graph,
    /// Notes about assumed values, uncertain sizes, and ambiguous or skipped parts of the file, one line
    /// each.
    pub assumed: Vec<String>,
    /// The sources of the tensor sizes.
    pub sizes: SizeSources,
    /// For each operator of the graph, its place in the file. Empty for files that already contain a graph.
    pub places: Vec<OperatorPlace>,
    /// For each tensor of the graph, its index in its subgraph of a `TFLite` file, or `None` for memory that
    /// is not a tensor of the file. Empty for other formats.
    pub tensors: Vec<Option<usize>>,
    /// The operators of a `TFLite` file that `tflite-micro` cannot run. Empty for other formats.
    pub unrunnable: Vec<Unrunnable>,
}

/// Operators of a `TFLite` file that `tflite-micro` cannot run, for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unrunnable {
    /// The name of the operator in the schema, or of the custom operator.
    pub operator: String,
    /// The reason.
    pub reason: String,
    /// The index of the subgraph, and the index of the operator in its subgraph.
    pub places: Vec<(usize, usize)>,
}

impl fmt::Display for Unrunnable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.places.len();
        let operators = if count == 1 { "operator" } else { "operators" };
        write!(out, "{} ({count} {operators}): {}", self.operator, self.reason)
    }
}

impl Import {
    /// Returns the import of a file that contains a graph. No assumptions were made.
    pub(crate) fn of(graph: Graph) -> Self {
        let (assumed, places, tensors, unrunnable) = Default::default();
        Self { graph, assumed, sizes: SizeSources::default(), places, tensors, unrunnable }
    }
}

/// The place of an operator in a model file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorPlace {
    /// The index of its subgraph in a `TFLite` file; 0 for ONNX.
    pub subgraph: usize,
    /// The index of the operator in its subgraph of a `TFLite` file. For ONNX, the index of the node in the
    /// list of nodes of its graph or of its subgraph, including constants. An operator from the body of a
    /// function has the index of the call.
    pub index: usize,
    /// The indices of the tensors that the operator reads, for `TFLite`. An absent optional input is -1.
    pub inputs: Vec<i32>,
    /// The indices of the tensors that the operator produces, for `TFLite`.
    pub outputs: Vec<i32>,
}

/// The sources of the tensor sizes of a graph. All fields are empty for files that already contain a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSources {
    /// The number of sizes that operator rules inferred from the inputs and constants of the model.
    pub inferred: usize,
    /// Names of tensors whose size depends on a declared shape that inference did not confirm. This shape is
    /// their own, or that of a tensor on which they depend.
    pub declared: Vec<String>,
    /// Names of tensors whose size depends on an assumption: an upper bound on a data-dependent extent, or a
    /// size given by an option.
    pub assumed: Vec<String>,
}

/// The source of the size of a tensor. If the inputs of an operator have different sources, its outputs get
/// the source that this enum declares last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Inferred from the inputs of the model by the operator rules.
    #[default]
    Inferred,
    /// Declared in the file.
    Declared,
    /// Assumed as an upper bound, or given by an option.
    Assumed,
}

impl SizeSources {
    pub(crate) fn new<'n>(tensors: impl IntoIterator<Item = (&'n str, Source)>) -> Self {
        let mut sources = Self::default();
        tensors.into_iter().for_each(|(name, source)| sources.add(name, source));
        sources
    }

    pub(crate) fn add(&mut self, name: &str, source: Source) {
        match source {
            Source::Inferred => self.inferred += 1,
            Source::Declared => self.declared.push(name.to_owned()),
            Source::Assumed => self.assumed.push(name.to_owned()),
        }
    }

    /// Restricts the names to tensors that are still part of the graph.
    pub(crate) fn within(mut self, graph: &Graph) -> Self {
        let names: HashSet<&str> = graph.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
        self.declared.retain(|name| names.contains(name.as_str()));
        self.assumed.retain(|name| names.contains(name.as_str()));
        self.inferred = graph.tensors().len().saturating_sub(self.declared.len() + self.assumed.len());
        self
    }
}

/// An error while importing a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportError {
    /// A file that cannot be imported.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: ImportProblem },
    /// A JSON file that is not a valid graph.
    #[error(transparent)]
    Json(#[from] plimsoll_model::graph::GraphFileError),
}

/// A problem with a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportProblem {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Neither the extension nor the first bytes identify a known format.
    #[error(
        "unknown model format; supported formats: .onnx, .tflite, C arrays of these (.c, .cc, .h), and graphs as \
         .json; `solve` reads instances (.csv)"
    )]
    UnknownFormat,
    /// A file that is compressed and cannot be decompressed, or that is known not to be a model.
    #[error(transparent)]
    Contents(ContentsError),
    /// A truncated, inconsistent or malformed file. The field describes the problem and its location.
    #[error("damaged: {0}")]
    Damaged(String),
    /// The size of an output of an operator cannot be determined.
    #[error("operator {operator}: tensor '{tensor}': {reason}; --assume-bytes gives such tensors a size")]
    Unsized {
        /// Index, name and kind of the operator, or the input of the graph.
        operator: String,
        tensor: String,
        reason: String,
    },
    /// An operator that cannot run on the shapes of its inputs.
    #[error("operator {operator}: tensor '{tensor}': {reason}")]
    Misfit {
        /// Index, name and kind of the operator.
        operator: String,
        tensor: String,
        /// The reason, with the free dimensions that cause it.
        reason: String,
    },
    /// A loop that changes the shape of a carried value in each iteration, without a known number of
    /// iterations.
    #[error("operator {operator}: '{tensor}' is {reason}; --trips N gives the largest number of iterations")]
    Growing {
        /// Index, name and kind of the operator.
        operator: String,
        tensor: String,
        /// The shapes in two iterations, and why the number of iterations is not known.
        reason: String,
    },
    /// Inputs whose shape or type neither the file nor an option gives.
    #[error("{what}; try {options}")]
    Open {
        /// All affected dimensions and inputs.
        what: String,
        /// The options that supply the missing values, in command-line syntax.
        options: String,
    },
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        what: String,
        /// The reason, or a remedy.
        reason: String,
    },
    /// An option that matches nothing in the file.
    #[error("{option}: {reason}")]
    Option {
        /// The option with its value, in command-line syntax.
        option: String,
        /// The reason, with the available names.
        reason: String,
    },
    #[error(transparent)]
    Graph(#[from] Box<GraphError>),
    /// An operator whose regions do not match it.
    #[error(transparent)]
    Flow(Box<FlowError>),
}

impl ImportProblem {
    /// Returns the error for an option, which is given in command-line syntax.
    pub(crate) fn option(option: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Option { option: option.into(), reason: reason.into() }
    }

    /// Checks that the regions of every operator of known control flow match the operator. Commands that run
    /// regions would reject the graph otherwise.
    pub(crate) fn check_flows(graph: &Graph) -> Result<(), Self> {
        for at in 0..graph.operators().len() {
            match graph.flow(OperatorId::at(at)) {
                Ok(_) | Err(FlowError::Unknown { .. }) => {}
                Err(error) => return Err(Self::Flow(Box::new(error))),
            }
        }
        Ok(())
    }

    /// Returns the error for `--trips` if every loop has a known number of iterations.
    pub(crate) fn unused_trips(trips: u64) -> Self {
        let reason = "the model has no loop for which the number of iterations is unknown";
        Self::option(format!("--trips {trips}"), reason)
    }

    /// Attaches the path of the file to this problem.
    pub(crate) fn of(self, path: &Path) -> ImportError {
        ImportError::File { path: path.to_path_buf(), problem: self }
    }
}

impl From<ContentsError> for ImportProblem {
    fn from(error: ContentsError) -> Self {
        match error {
            ContentsError::Io(error) => Self::Io(error),
            other => Self::Contents(other),
        }
    }
}

impl From<GraphError> for ImportProblem {
    fn from(error: GraphError) -> Self {
        Self::Graph(Box::new(error))
    }
}
