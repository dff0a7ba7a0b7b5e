//! Implements [`Posed`] for the problems on instances, where the instance is the whole input, and derives
//! instances from graphs.

use super::graphs::order_of;
use super::terms::instance_keys;
use super::{Answer, By, PoseError, Posed, Provable, Subject, SubjectKind, TermError, Terms, Unanswered};
use crate::graphs::GraphRun;
use crate::registry::registry;
use crate::run::Limits;
use plimsoll_model::graph::Graph;
use plimsoll_model::{
    Bytes, Instance, InstanceProblem, Observer, Offsets, Piece, Problem, Setup, SharedObjects, SplitBuffers,
};
use std::io::{self, Write};

/// Node limit of each run that orders the operators or lays out an inner region. A time limit would make the
/// instance depend on the machine.
const NODES: u64 = 100_000;

/// Returns the given terms that determine the instance of a graph, completed with default values.
pub fn instance_terms(given: &Terms) -> Terms {
    given.among(instance_keys())
}

/// Rejects terms that do not determine the instance of a graph, and invalid values.
///
/// # Errors
/// Returns a [`TermError`] with key and value.
pub fn check_instance_terms(terms: &Terms) -> Result<(), TermError> {
    terms.known(&instance_keys().map(|(key, _)| key).collect(), &["instances of models"])?;
    terms.liveness()?;
    order_of(&instance_terms(terms)).map(drop)
}

/// Returns the offset problem of a graph's body as an instance with the name of the graph and without a
/// capacity. The term `order` names the algorithm that orders the operators; the other terms are those of
/// the liveness analysis. The regions of an operator count as one buffer, as large as the largest arena of
/// these regions. For the same graph, equal terms give equal instances.
///
/// # Errors
/// See [`PoseError`].
pub fn instance(graph: &Graph, terms: &Terms) -> Result<Instance, PoseError> {
    let terms = instance_terms(terms);
    let registry = registry();
    let solver = registry.find::<Offsets>("exact").unwrap_or(registry.offsets[0]);
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let (liveness, order) = (terms.liveness()?, order_of(&terms)?);
    let run = GraphRun { liveness, order, setup: Setup::default(), limits }.with_final_order();
    let instance = run.instance(graph, solver)?;
    Ok(instance.with_capacity(None).with_name(graph.name()))
}

macro_rules! posed_on_instances {
    ($($problem:ty: $value:literal $({ $($provable:tt)* })?),*) => {$(
        impl Posed for $problem {
            const VALUE: &'static str = $value;
            const DECIDES: bool = true;
            type Question<'a> = &'a Instance;

            fn takes(kind: SubjectKind) -> bool {
                kind == SubjectKind::Instance
            }

            fn pose<'a>(
                subject: &'a Subject,
                _: &Terms,
                _: Setup,
                _: Limits,
            ) -> Result<&'a Instance, PoseError> {
                match subject {
                    Subject::Instance(instance) => Ok(instance),
                    Subject::Graph(_) => Err(PoseError::Kind { problem: Self::NAME, kind: subject.kind() }),
                }
            }

            fn ask(
                question: &&Instance,
                by: By<Self>,
                observer: &mut dyn Observer<Self>,
            ) -> Result<Answer<Self>, Unanswered> {
                super::answer::<Self>(question, by, observer)
            }

            fn floor_of(question: &&Instance) -> Option<Bytes> {
                Some(Self::floor(question).value)
            }

            fn capacity_of(question: &&Instance) -> Option<u64> {
                question.capacity().map(Bytes::get)
            }

            fn drawn<'a>(
                question: &'a &Instance,
                solution: &Self::Solution,
            ) -> Option<(&'a Instance, Vec<Vec<Piece>>)> {
                Some((question, Self::pieces(question, solution)))
            }

            fn written(
                question: &&Instance,
                solution: &Self::Solution,
                output: &mut dyn Write,
            ) -> io::Result<bool> {
                <Self as InstanceProblem>::rows(question, solution).write(output).map(|()| true)
            }

            $($($provable)*)?
        }
    )*};
}

posed_on_instances!(
    Offsets: "peak" {
    fn provable<'a>(question: &'a &Instance, answer: &'a Answer<Offsets>) -> Option<Provable<'a>> {
        answer.bound.as_ref().map(|bound| Provable::Layouts(question, bound))
    }
    },
    SplitBuffers: "peak",
    SharedObjects: "total"
);

#[cfg(all(test, feature = "datasets"))]
mod tests {
    use super::*;
    use plimsoll_model::load;

    #[test]
    fn instances_of_graphs_depend_on_their_terms() {
        let terms = |text: &str| text.parse::<Terms>().unwrap();
        for graph in plimsoll_datasets::graph_suite() {
            let made = |text: &str| instance(&graph, &terms(text)).unwrap();
            let (file, exact) = (made(""), made("order=exact"));
            assert_eq!((file.name(), file.capacity()), (graph.name(), None));
            assert!(load(&exact).0 <= load(&file).0, "{}", graph.name());
            assert!(made("weights=yes").len() >= file.len(), "{}", graph.name());
        }
        assert_eq!(instance_terms(&terms("machine=luna align=64")).to_string(), "align=64 order=as-in-file");
        assert!(check_instance_terms(&terms("order=exact boundary=outside")).is_ok());
        for bad in ["order=fast", "machine=luna", "align=0"] {
            assert!(check_instance_terms(&terms(bad)).is_err(), "{bad}");
        }
    }
}
