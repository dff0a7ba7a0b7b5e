//! What can be read off a program without planning it: whose region a buffer is in, and what blocks must hold.

use plimsoll_model::graph::Graph;
use plimsoll_model::program::Program;
use plimsoll_model::{Bytes, InstanceError, RegionId, load};

/// For maps: names of the regions inside operators of the body, with their owner where there are several, and per buffer which of them it lies in, those nested
/// deeper included. Buffers of the body have none. O(buffers times depth).
pub fn program_groups(program: &Program<'_>) -> (Vec<String>, Vec<Option<usize>>) {
    let graph = program.graph();
    let around = |region: RegionId| graph.region(region).owner.map(|owner| graph.home(owner));
    let outer = |region: RegionId| around(region) == Some(Graph::BODY);
    let regions: Vec<RegionId> =
        (0..graph.regions().len()).map(RegionId::at).filter(|&region| outer(region)).collect();
    let alone = regions.iter().all(|&region| graph.region(region).owner == graph.region(regions[0]).owner);
    let name = |&region: &RegionId| {
        let one = graph.region(region);
        let owner = one.owner.map(|owner| graph.operator(owner).name.as_str()).unwrap_or_default();
        let owner: String = owner.chars().take(NAME).collect();
        let own: String = one.name.chars().take(NAME).collect();
        if owner.is_empty() || alone { own } else { format!("{owner}, {own}") }
    };
    let group = |home: RegionId| {
        let mut chain = std::iter::successors(Some(home), |&region| around(region));
        chain.find_map(|region| regions.iter().position(|&one| one == region))
    };
    let of = program.buffers().iter().map(|buffer| group(buffer.home)).collect();
    (regions.iter().map(name).collect(), of)
}

/// Letters of a name in a legend.
const NAME: usize = 24;

/// The most bytes alive at a step where operators hold a block as large as the most bytes alive in it: no plan that
/// merges regions into blocks takes less, however well its blocks are packed. O(size, log).
///
/// # Errors
/// Sizes whose sum leaves 63 bits.
pub fn held(program: &Program<'_>) -> Result<Bytes, InstanceError> {
    let frames = program.frames();
    let mut blocks = vec![Bytes::ZERO; program.graph().operators().len()];
    let mut most = Bytes::ZERO;
    for frame in frames.iter().rev() {
        let (instance, _) = program.frame_instance(frame, |id| blocks[id.index()])?;
        most = load(&instance).0;
        if let Some(owner) = frame.owner {
            let block = &mut blocks[owner.index()];
            *block = (*block).max(most);
        }
    }
    Ok(most)
}
