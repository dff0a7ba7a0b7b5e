//! The assumptions on which claims about a graph rest.

use plimsoll_model::Bytes;
use plimsoll_model::graph::{Alias, AliasKind, Boundary, Graph, LivenessOptions, Role};
use serde::Serialize;
use std::fmt;

/// An assumption of a liveness analysis. Optima and proofs that nothing fits rest on all assumptions that
/// [`assumptions`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// No operator writes an output over an input, not even over a part of it.
    OutputsApart,
    /// Operators write outputs only over inputs of the same size, as the aliases of the graph allow, and only
    /// if they are the last to use the memory in every order.
    WholeInPlace,
    /// Operators write outputs over inputs only by the bytes that the aliases of the graph allow, only if
    /// they are the last to use the memory in every order, and only where a rule expects that it saves
    /// memory.
    PartlyInPlace,
    /// The operators of every region run in the order of the file.
    FileOrder,
    /// Views are copies.
    ViewsCopied,
    /// Inputs and outputs of the graph are outside the arena.
    BoundaryOutside,
    /// Inputs and outputs of the graph are in the arena longer than needed.
    BoundaryHeld,
    /// Weights are outside the arena.
    WeightsOutside,
    /// States are outside the arena.
    StatesOutside,
    /// Sizes are rounded up to a multiple of this many bytes.
    Aligned(Bytes),
    /// Operators run one at a time.
    OneAtATime,
    /// No tensor is computed twice, moved, or stored elsewhere.
    Resident,
}

impl fmt::Display for Assumption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OutputsApart => "no operator writes an output over an input",
            Self::WholeInPlace => "outputs overwrite only inputs of the same size, after their last use",
            Self::PartlyInPlace => "outputs overlap inputs only by the given bytes, after their last use, where a rule selects it",
            Self::FileOrder => "operators run in the order of the file",
            Self::ViewsCopied => "views are copies",
            Self::BoundaryOutside => "inputs and outputs of the graph are outside the arena",
            Self::BoundaryHeld => "inputs and outputs of the graph keep their memory",
            Self::WeightsOutside => "weights are outside the arena",
            Self::StatesOutside => "states are outside the arena",
            Self::Aligned(bytes) => return write!(out, "sizes are multiples of {bytes} bytes"),
            Self::OneAtATime => "operators run one at a time",
            Self::Resident => "no tensor is recomputed, moved or spilled",
        })
    }
}

/// Returns the assumptions on which claims about a graph rest, without those that do not concern the graph.
pub fn assumptions(options: &LivenessOptions, graph: &Graph) -> Vec<Assumption> {
    let has = |role: Role| graph.bytes(role) > Bytes::ZERO;
    let boundary = match options.boundary {
        Boundary::Arena => None,
        Boundary::Outside => Some(Assumption::BoundaryOutside),
        Boundary::Held | Boundary::Persistent => Some(Assumption::BoundaryHeld),
    };
    let aliases = || graph.operators().iter().flat_map(|operator| &operator.aliases);
    let is_partial = |alias: &Alias| {
        let [input, output] = [alias.input, alias.output].map(|id| graph.tensor(id).bytes);
        alias.kind == AliasKind::InPlace && (alias.offset > Bytes::ZERO || input != output)
    };
    let sharing = match options.in_place {
        false => Assumption::OutputsApart,
        true if aliases().any(is_partial) => Assumption::PartlyInPlace,
        true => Assumption::WholeInPlace,
    };
    let views = aliases().any(|alias| alias.kind != AliasKind::InPlace);
    let list = [
        Some(sharing),
        options.file_order.then_some(Assumption::FileOrder),
        (views && !options.views).then_some(Assumption::ViewsCopied),
        boundary,
        (!options.weights && has(Role::Weight)).then_some(Assumption::WeightsOutside),
        (!options.states && has(Role::State)).then_some(Assumption::StatesOutside),
        (options.align > Bytes::new(1)).then_some(Assumption::Aligned(options.align)),
        Some(Assumption::OneAtATime),
        Some(Assumption::Resident),
    ];
    list.into_iter().flatten().collect()
}
