//! `plan --compare`: compares all schemes for branches.

use super::args::PlanArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use crate::report::{self, Printed, Text};
use plimsoll::Registry;
use plimsoll::branches::{SchemeComparison, compare as run_all, ordered_program};
use plimsoll::datasets::Import;
use plimsoll::graphs::GraphRun;
use plimsoll::model::{Entry, Offsets};
use plimsoll_lab::report::{Basis, branches};
use serde::Serialize;

/// Compares the schemes and prints the results. Fails with an internal error if the results violate an
/// inequality that holds between schemes.
pub fn compare(
    args: &PlanArgs,
    import: &Import,
    run: &GraphRun<'_>,
    registry: &Registry,
    solver: &Entry<Offsets>,
) -> Result<u8, Failure> {
    let first = GraphRun { limits: run.limits.from_now(), ..*run };
    let ordered = ordered_program(&import.graph, &first, args.control.options(run.liveness))?;
    let execution = args.control.execution(run.setup.seed);
    let found = run_all(&ordered.program, registry, &[solver], run.setup, run.limits, execution)?;
    if let Some(broken) = found.broken() {
        return Err(Failure::internal(broken));
    }
    if let Some(path) = &args.output {
        output::late(output::write_file(path, |file| {
            branches::write_lines(std::slice::from_ref(&found), file)
        }));
    }
    report::print(&SchemesReport { found, basis: Basis::of(import) }, args.json)?;
    Ok(ANSWERED)
}

/// The results of all schemes.
#[derive(Serialize)]
#[serde(transparent)]
struct SchemesReport {
    found: SchemeComparison,
    #[serde(skip)]
    basis: Basis,
}

impl Printed for SchemesReport {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        text.push(&branches::text(&self.found, output::width()));
    }
}
