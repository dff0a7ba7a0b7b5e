//! doc
use super::z3run::decide;
use crate::formulation::{Domain, Engine, Found, Task, Verdict, drive};
use plimsoll_model::{
    Budget, ConflictGraph, Instance, Layout, Observer, Offsets, Outcome, Setup, SolveError, Solver, Stats,
};

/// theory
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// d
    Difference,
    /// l
    Linear,
}

/// Encoding
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// a
    pub absorb: bool,
    /// a
    pub positions: bool,
    /// a
    pub symmetry: bool,
    /// a
    pub theory: Theory,
    /// a
    pub bridges: usize,
    /// a
    pub max_pairs: usize,
}

impl Default for Encoding {
    fn default() -> Self {
        Self {
            absorb: true,
            positions: true,
            symmetry: true,
            theory: Theory::Difference,
            bridges: 50_000,
            max_pairs: 100_000,
        }
    }
}

/// Smt
#[derive(Clone, Copy, Debug, Default)]
pub struct Smt {
    setup: Setup,
    encoding: Encoding,
}

impl Smt {
    /// new
    pub fn new(setup: Setup) -> Self {
        Self { setup, encoding: Encoding::default() }
    }
    /// with
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }
}

impl Engine for Smt {
    fn name(&self) -> &'static str {
        "smt"
    }
    fn solve(
        &self,
        task: Task<'_>,
        budget: &mut Budget,
        stats: &mut Stats,
        found: &mut Found<'_>,
    ) -> Result<Verdict, SolveError> {
        let mut lower = task.lower;
        let mut upper = task.upper;
        let mut question = task.enough;
        while lower <= upper {
            let domain = if self.encoding.positions {
                Domain::new(task.part, question, self.encoding.symmetry)
            } else {
                Domain::plain(task.part, question, self.encoding.symmetry)
            };
            let Some(domain) = domain else {
                lower = question + 1;
                question = lower + (upper - lower) / 2;
                continue;
            };
            let answer = decide(task.part, &domain, self.encoding, self.setup, budget)?;
            stats.count("calls", 1);
            budget.spend(answer.conflicts);
            match answer.exists {
                Some(true) => {
                    let Some(offsets) =
                        answer.offsets.and_then(|o| task.part.settle(&o)).filter(|o| found(o))
                    else {
                        break;
                    };
                    let peak = task.part.peak(&offsets);
                    if peak <= task.enough {
                        break;
                    }
                    upper = peak - 1;
                }
                Some(false) => lower = question + 1,
                None => return Ok(Verdict { lower, stop: answer.stop }),
            }
            question = lower + (upper - lower) / 2;
        }
        Ok(Verdict { lower, stop: None })
    }
}

impl Solver<Offsets> for Smt {
    fn name(&self) -> &'static str {
        "smt"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Layout>, SolveError> {
        self.supports(instance)?;
        drive(self, self.encoding.absorb, instance, budget, observer)
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        let (pairs, most) = (ConflictGraph::of(instance).edges(), self.encoding.max_pairs);
        if pairs > most {
            let reason = format!("{pairs} conflicting pairs are more than {most}");
            return Err(SolveError::Unsupported { solver: "smt", reason });
        }
        Ok(())
    }
}
