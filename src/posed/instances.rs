//! Implements [`Posed`] for the problems on instances. The instance is the whole input.

use super::{Answered, Asked, PoseError, Posed, Subject, SubjectKind, Terms};
use crate::plan::Plan;
use crate::run::Limits;
use plimsoll_model::{Bytes, Instance, Offsets, Piece, Problem, Setup, SharedObjects, SplitBuffers};
use std::io::{self, Write};

macro_rules! posed_on_instances {
    ($($problem:ty: $value:literal),*) => {$(
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

            fn ask(question: &&Instance, asked: Asked<'_, Self>) -> Answered<Self> {
                asked.on(question)
            }

            fn floor_of(question: &&Instance) -> Option<Bytes> {
                Some(<Self as Plan>::floor(question).value)
            }

            fn capacity_of(question: &&Instance) -> Option<u64> {
                question.capacity().map(Bytes::get)
            }

            fn drawn<'a>(
                question: &'a &Instance,
                solution: &Self::Solution,
            ) -> Option<(&'a Instance, Vec<Vec<Piece>>)> {
                Some((question, <Self as Plan>::pieces(question, solution)))
            }

            fn written(
                question: &&Instance,
                solution: &Self::Solution,
                output: &mut dyn Write,
            ) -> io::Result<bool> {
                <Self as Plan>::write(question, solution, output).map(|()| true)
            }
        }
    )*};
}

posed_on_instances!(Offsets: "peak", SplitBuffers: "peak", SharedObjects: "total");
