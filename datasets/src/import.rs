//! What importers are told, what they return, and how they fail.

use plimsoll_model::graph::{Graph, GraphError};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Files larger than this are refused, bytes: offsets inside the formats have 31 or 32 bits.
pub const FILE_LIMIT: u64 = 1 << 31;

/// What an importer cannot know from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Values of free dimensions, by the name they have in the file (`N`, `batch_size`).
    pub dims: BTreeMap<String, u64>,
    /// Whole shapes of inputs, by name; they override what the file says.
    pub input_shapes: BTreeMap<String, Vec<u64>>,
    /// Extent of the first dimension of every input that has at least one and is not named in `input_shapes`.
    pub batch: Option<u64>,
    /// Every tensor of a floating-point type takes this type instead: a name such as `float16`.
    pub element: Option<String>,
    /// Keep operators that read nothing but constants. Otherwise what they make is a weight
    /// ([`Graph::folded`]), as runtimes of ONNX models compute it before they start. `TFLite` models and
    /// graphs are taken as they are.
    pub keep_constants: bool,
    /// Bytes for tensors whose shape or type nobody can tell, instead of an error.
    pub assume_bytes: Option<u64>,
    /// Value of every free dimension that nothing else gives one.
    pub dim_default: Option<u64>,
    /// Values of inputs that decide shapes, by name: integers in row-major order.
    pub values: BTreeMap<String, Vec<i64>>,
    /// Shapes of tensors inside, by name, for where they cannot be inferred.
    pub tensor_shapes: BTreeMap<String, Vec<u64>>,
}

impl ImportOptions {
    /// The first option that is not as by default, as typed.
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

/// The option that gives an input a value, as typed.
pub(crate) fn value_option(name: &str, list: &[i64]) -> String {
    format!("--value {name}={}", list.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// A graph, and what had to be assumed to make it.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The operators and tensors of the file.
    pub graph: Graph,
    /// Free dimensions and tensors that were given a value nobody stated, one line each, for people.
    pub assumed: Vec<String>,
    /// What the sizes of its tensors rest on.
    pub sizes: SizeSources,
}

/// What the sizes of a graph's tensors rest on. All are empty where a graph is taken as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeSources {
    /// How many follow from the model's inputs and constants by the rules of its operators.
    pub inferred: usize,
    /// Names of those that rest on a shape that the file declares and nothing confirms: their own, or that of
    /// a tensor they depend on.
    pub declared: Vec<String>,
    /// Names of those that rest on an assumption: an upper bound of what data decide, or bytes that an option
    /// gives.
    pub assumed: Vec<String>,
}

/// What the size of a tensor rests on; of several inputs the last in this order counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The rules of operators, from the model's inputs on.
    #[default]
    Inferred,
    /// A shape that the file declares.
    Declared,
    /// A bound, or an option.
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

    /// Those of the tensors that a graph still has.
    pub(crate) fn within(mut self, graph: &Graph) -> Self {
        let names: HashSet<&str> = graph.tensors().iter().map(|tensor| tensor.name.as_str()).collect();
        self.declared.retain(|name| names.contains(name.as_str()));
        self.assumed.retain(|name| names.contains(name.as_str()));
        self.inferred = graph.tensors().len().saturating_sub(self.declared.len() + self.assumed.len());
        self
    }
}

/// Why a file gives no graph.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportError {
    /// A file that cannot be imported, and what is wrong with it.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: ImportProblem },
    /// A graph as JSON that is none.
    #[error(transparent)]
    Json(#[from] plimsoll_model::graph::GraphFileError),
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImportProblem {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Neither of the known formats, by extension and first bytes.
    #[error("no model this build can read; known are .onnx, .tflite and graphs as .json")]
    UnknownFormat,
    #[error("{0} bytes are more than the {FILE_LIMIT} a model file may have")]
    TooLarge(u64),
    /// It is truncated, inconsistent, or not of its format: what is wrong, and where.
    #[error("damaged: {0}")]
    Damaged(String),
    /// An operator whose outputs cannot be sized.
    #[error("operator {operator}: tensor '{tensor}': {reason}; --assume-bytes gives such tensors a size")]
    Unsized {
        /// Position, name and kind of the operator, or which input of the graph.
        operator: String,
        tensor: String,
        reason: String,
    },
    /// An operator that cannot run on the shapes it is given.
    #[error("operator {operator}: tensor '{tensor}': {reason}")]
    Misfit {
        /// Position, name and kind of the operator.
        operator: String,
        tensor: String,
        /// Why, and which free dimensions lead to it.
        reason: String,
    },
    /// Inputs whose shape or type neither the file nor an option gives.
    #[error("{what}; try {options}")]
    Open {
        /// Dimensions and inputs, all of them.
        what: String,
        /// Options that close it, as typed.
        options: String,
    },
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        what: String,
        /// Why, or what would help.
        reason: String,
    },
    /// An option that fits nothing in the file.
    #[error("{option}: {reason}")]
    Option {
        /// The option with its value, as typed.
        option: String,
        /// Why it cannot be followed, with the names there are.
        reason: String,
    },
    #[error(transparent)]
    Graph(#[from] Box<GraphError>),
}

impl ImportProblem {
    /// The problem with an option, given as typed.
    pub(crate) fn option(option: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Option { option: option.into(), reason: reason.into() }
    }

    /// The error for a file with this problem.
    pub(crate) fn of(self, path: &Path) -> ImportError {
        ImportError::File { path: path.to_path_buf(), problem: self }
    }
}

impl From<GraphError> for ImportProblem {
    fn from(error: GraphError) -> Self {
        Self::Graph(Box::new(error))
    }
}
