//! On-chip memory of activations under a layout of the whole graph.

use crate::branches::{BranchError, OrderedProgram, Planner};
use plimsoll_model::program::{Point, Program};
use plimsoll_model::{Bytes, Layout};

/// Plans the whole graph. Returns, for every operator, the highest address in use while it runs, in bytes.
/// For an operator with regions, this is the highest address in use when it starts.
///
/// # Errors
/// See [`BranchError`].
pub fn placed_activations(
    ordered: &OrderedProgram<'_>,
    planner: &Planner<'_>,
) -> Result<Vec<Bytes>, BranchError> {
    let plan = planner.plan(&ordered.program)?;
    Ok(tops(&ordered.program, &plan.layout))
}

/// Returns, for every operator, the highest end address of the buffers live at its first point. Takes
/// O(n log n) time for n lifespan intervals.
fn tops(program: &Program<'_>, layout: &Layout) -> Vec<Bytes> {
    let mut starts: Vec<(u64, u64, Bytes)> = Vec::new();
    for (buffer, &offset) in program.instance().buffers().iter().zip(layout.offsets()) {
        let top = Bytes::new(offset.get() + buffer.size().get());
        let intervals = buffer.lifespan().intervals().iter();
        starts.extend(intervals.map(|one| (one.lower.get(), one.upper.get(), top)));
    }
    starts.sort_unstable();
    let mut next = starts.into_iter().peekable();
    // A max-heap by address; buffers that have ended are removed when they reach the top.
    let mut live: std::collections::BinaryHeap<(Bytes, u64)> = std::collections::BinaryHeap::new();
    let mut tops = vec![Bytes::ZERO; program.graph().operators().len()];
    for (step, point) in program.points().iter().enumerate() {
        let step = step as u64;
        while let Some((_, upper, top)) = next.next_if(|&(lower, _, _)| lower <= step) {
            live.push((top, upper));
        }
        while live.peek().is_some_and(|&(_, upper)| upper <= step) {
            live.pop();
        }
        if let Point::Run(id) | Point::Enter(id) = point {
            tops[id.index()] = live.peek().map_or(Bytes::ZERO, |&(top, _)| top);
        }
    }
    tops
}
