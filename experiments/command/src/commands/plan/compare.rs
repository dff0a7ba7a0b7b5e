//! `plan --compare`: compares all schemes for branches.

use super::args::PlanArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::Registry;
use plimsoll::branches::{compare as run_all, ordered_program};
use plimsoll::datasets::Import;
use plimsoll::graphs::GraphRun;
use plimsoll::model::{Entry, Offsets};
use plimsoll_lab::report::{Basis, branches};

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
    if args.json {
        output::print_json(&found)?;
    } else {
        let text = Basis::of(import).text() + &branches::text(&found, output::width());
        output::print(&output::filled(&text))?;
    }
    Ok(ANSWERED)
}
