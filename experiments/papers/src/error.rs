//! Why a reproduction cannot be made.

/// Why a reproduction cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The registry lacks an algorithm.
    #[error("no algorithm '{name}' for {problem}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// For which problem.
        problem: &'static str,
    },
    /// A run failed, or its answer was refused.
    #[error("{name} on {input}: {source}")]
    Run {
        /// Which algorithm.
        name: &'static str,
        /// On what.
        input: String,
        /// Why.
        source: plimsoll::run::RunError,
    },
    /// A graph could not be planned.
    #[error(transparent)]
    Graph(#[from] plimsoll::graphs::GraphRunError),
    /// A graph is none.
    #[error("{graph}: {source}")]
    Order {
        /// Which.
        graph: String,
        /// Why.
        source: plimsoll_model::order::OrderError,
    },
    /// A graph could not be generated.
    #[error("{graph}: {source}")]
    Generate {
        /// Of which family.
        graph: String,
        /// Why.
        source: plimsoll_datasets::GenerateError,
    },
    /// The checker refused an order made outside of a solver.
    #[error("{what}: the checker refused its order: {reason}")]
    Refused {
        /// Who made it.
        what: String,
        /// Why.
        reason: String,
    },
    /// A model of the corpora cannot be read.
    #[error(transparent)]
    Import(#[from] plimsoll_datasets::ImportError),
    /// Graphs could not be made into one.
    #[error("{graph}: {source}")]
    Join {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll_model::graph::JoinError>,
    },
    /// Tensors of a graph could not be placed in tiers.
    #[error("{graph}: {reason}")]
    Tiers {
        /// Which.
        graph: String,
        /// Why.
        reason: String,
    },
    /// A graph with branches could not be planned.
    #[error("{graph}: {source}")]
    Branches {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll::branches::BranchError>,
    },
    /// A plan takes less than another one's bound allows.
    #[error("{graph}: {source}")]
    Contradiction {
        /// Which graph.
        graph: String,
        /// Which two.
        source: Box<plimsoll::branches::Broken>,
    },
    /// A graph is no program of transfers and computations.
    #[error("{graph}: {source}")]
    Overlap {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll_model::overlap::OverlapError>,
    },
    /// A machine, or patterns, cannot be read.
    #[error(transparent)]
    Description(#[from] plimsoll_model::DescriptionError),
    /// A graph could not be fused.
    #[error("{graph}: {source}")]
    Fuse {
        /// Which.
        graph: String,
        /// Why.
        source: Box<plimsoll::fusion::FuseError>,
    },
    /// Processing units cannot be read.
    #[error(transparent)]
    Units(#[from] plimsoll_model::fusion::UnitsError),
    /// A value on record that was not met.
    #[error("{graph}: {what} is {computed} bytes, on record are {recorded}")]
    Record {
        /// Which graph.
        graph: String,
        /// Which value.
        what: &'static str,
        /// As computed.
        computed: String,
        /// As on record.
        recorded: u64,
    },
    /// An instance of the corpora cannot be read.
    #[error(transparent)]
    Instance(#[from] plimsoll_model::csv::CsvError),
    /// A plan that had to be drawn or compared was not found within the limits.
    #[error("{name} on {input}: nothing found within the limits")]
    Nothing {
        /// Which algorithm.
        name: &'static str,
        /// On what.
        input: String,
    },
    /// A plan takes less than a lower bound allows.
    #[error("{what} takes {value} bytes, below the lower bound of {bound}")]
    Below {
        /// Who, on what.
        what: String,
        /// What it takes.
        value: plimsoll_model::Bytes,
        /// What is the least.
        bound: plimsoll_model::Bytes,
    },
    /// A folder of the corpora cannot be read.
    #[error("cannot read the folder {}: {error}", folder.display())]
    Folder {
        /// Which.
        folder: std::path::PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

impl ReproduceError {
    /// True where a limit came before the first answer: more time may help.
    pub fn is_limit(&self) -> bool {
        use plimsoll::branches::BranchError;
        use plimsoll::graphs::GraphRunError;
        match self {
            Self::Nothing { .. } | Self::Graph(GraphRunError::Nothing { .. }) => true,
            Self::Branches { source, .. } => matches!(**source, BranchError::Nothing { .. }),
            _ => false,
        }
    }
}
