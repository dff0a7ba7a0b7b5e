//! What activations take on chip in a layout.

use crate::branches::{BranchError, OrderedProgram, Planner};
use plimsoll_model::program::{Point, Program};
use plimsoll_model::{Bytes, Layout};

/// Plans the whole graph, and gives per operator the highest address in use while it runs, bytes; of an operator that owns
/// regions, when it starts.
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

/// Per operator: up to where buffers alive at its first point lie. O(n log n) for so many intervals of lifespans.
fn tops(program: &Program<'_>, layout: &Layout) -> Vec<Bytes> {
    let mut starts: Vec<(u64, u64, Bytes)> = Vec::new();
    for (buffer, &offset) in program.instance().buffers().iter().zip(layout.offsets()) {
        let top = Bytes::new(offset.get() + buffer.size().get());
        let alive = buffer.lifespan().intervals().iter();
        starts.extend(alive.map(|one| (one.lower.get(), one.upper.get(), top)));
    }
    starts.sort_unstable();
    let mut next = starts.into_iter().peekable();
    // The highest first; what has ended is dropped when it comes to the top.
    let mut alive: std::collections::BinaryHeap<(Bytes, u64)> = std::collections::BinaryHeap::new();
    let mut tops = vec![Bytes::ZERO; program.graph().operators().len()];
    for (step, point) in program.points().iter().enumerate() {
        let step = step as u64;
        while let Some((_, upper, top)) = next.next_if(|&(lower, _, _)| lower <= step) {
            alive.push((top, upper));
        }
        while alive.peek().is_some_and(|&(_, upper)| upper <= step) {
            alive.pop();
        }
        if let Point::Run(id) | Point::Enter(id) = point {
            tops[id.index()] = alive.peek().map_or(Bytes::ZERO, |&(top, _)| top);
        }
    }
    tops
}
