//! Options, results and errors of importers.

use plimsoll_model::graph::{Graph, GraphError};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a model file, bytes. Offsets inside the formats have 31 or 32 bits.
pub const FILE_LIMIT: u64 = 1 << 31;

/// Values that the file leaves open, and overrides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Values of free dimensions, by the name they have in the file (`N`, `batch_size`).
    pub dims: BTreeMap<String, u64>,
    /// Complete shapes of inputs, by name. They override the shapes in the file.
    pub input_shapes: BTreeMap<String, Vec<u64>>,
    /// Extent of the first dimension of every input that has at least one and is not named in `input_shapes`.
    pub batch: Option<u64>,
    /// Every tensor of a floating-point type gets this type instead: a name such as `float16`.
    pub element: Option<String>,
    /// Keep operators that read only constants. Otherwise their outputs become weights ([`Graph::folded`]),
    /// as runtimes of ONNX models compute them before inference. `TFLite` models and graphs are never folded.
    pub keep_constants: bool,
    /// Bytes for tensors whose shape or type cannot be determined, instead of an error.
    pub assume_bytes: Option<u64>,
    /// Value of every free dimension that no other option binds.
    pub dim_default: Option<u64>,
    /// Values of inputs that determine shapes, by name: integers in row-major order.
    pub values: BTreeMap<String, Vec<i64>>,
    /// Shapes of intermediate tensors, by name, where they cannot be inferred.
    pub tensor_shapes: BTreeMap<String, Vec<u64>>,
}

impl ImportOptions {
    /// Returns the first option that differs from its default, as typed.
    pub(crate) fn first_given(&self) -> Option<String> {
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
        let sizes = dims.chain(default).chain(shapes).chain(batch).chain(values).chain(inside);
        sizes.chain(element).chain(keep).chain(assume).next()
    }
}

/// Returns the option that gives an input a value, as typed.
pub(crate) fn value_option(name: &str, list: &[i64]) -> String {
    format!("--value {name}={}", list.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// A graph, and the assumptions made while importing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The operators and tensors of the file.
    pub graph: Graph,
    /// Free dimensions and tensors whose value is an assumption, one line each, for people.
    pub assumed: Vec<String>,
    /// The sources of its tensor sizes.
    pub sizes: SizeSources,
}

/// The sources of a graph's tensor sizes. All fields are empty for graph files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSources {
    /// Number of tensors inferred from the model's inputs and constants by the rules of operators.
    pub inferred: usize,
    /// Names of tensors whose size relies on a shape that the file declares and nothing confirms: their own
    /// shape or that of a tensor they depend on.
    pub declared: Vec<String>,
    /// Names of tensors whose size relies on an assumption: an upper bound on a data-dependent extent, or
    /// bytes given by an option.
    pub assumed: Vec<String>,
}

/// The source of a tensor's size. The greatest source among the inputs applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Inferred from the model's inputs by the rules of operators.
    #[default]
    Inferred,
    /// Relies on a shape declared in the file.
    Declared,
    /// Relies on an upper bound or an option.
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

    /// Keeps only the tensors that `graph` still contains.
    pub(crate) fn within(mut self, graph: &Graph) -> Self {
        let names: HashSet<&str> = graph.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
        self.declared.retain(|name| names.contains(name.as_str()));
        self.assumed.retain(|name| names.contains(name.as_str()));
        self.inferred = graph.tensors().len().saturating_sub(self.declared.len() + self.assumed.len());
        self
    }
}

/// Why an import fails.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportError {
    /// A file that cannot be imported, and the problem.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: ImportProblem },
    /// An invalid graph file in JSON.
    #[error(transparent)]
    Json(#[from] plimsoll_model::graph::GraphFileError),
}

/// A problem of a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportProblem {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An unsupported format, judging by extension and first bytes.
    #[error("unsupported format; supported are .onnx, .tflite and graphs as .json")]
    UnknownFormat,
    #[error("the file has {0} bytes; a model file may have at most {FILE_LIMIT}")]
    TooLarge(u64),
    /// A truncated, inconsistent or malformed file, with the location.
    #[error("damaged: {0}")]
    Damaged(String),
    /// An operator whose output sizes cannot be determined.
    #[error(
        "operator {operator}: tensor '{tensor}': {reason}; use --assume-bytes to give such tensors a size"
    )]
    Unsized {
        /// Index, name and kind of the operator, or the index of the graph's input.
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
        /// The reason, and the free dimensions that cause it.
        reason: String,
    },
    /// Inputs whose shape or type is given neither by the file nor by an option.
    #[error("{what}; try {options}")]
    Open {
        /// All open dimensions and inputs.
        what: String,
        /// Options that bind them, as typed.
        options: String,
    },
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        what: String,
        /// The reason, or a workaround.
        reason: String,
    },
    /// An option that matches nothing in the file.
    #[error("{option}: {reason}")]
    Option {
        /// The option with its value, as typed.
        option: String,
        /// The reason, with the available names.
        reason: String,
    },
    #[error(transparent)]
    Graph(#[from] Box<GraphError>),
}

impl ImportProblem {
    /// Returns the problem with an option, given as typed.
    pub(crate) fn option(option: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Option { option: option.into(), reason: reason.into() }
    }

    /// Returns the error for a file with this problem.
    pub(crate) fn of(self, path: &Path) -> ImportError {
        ImportError::File { path: path.to_path_buf(), problem: self }
    }
}

impl From<GraphError> for ImportProblem {
    fn from(error: GraphError) -> Self {
        Self::Graph(Box::new(error))
    }
}
