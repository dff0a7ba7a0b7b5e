//! Properties of a program that do not depend on a plan: the region of every buffer, and a lower bound for
//! schemes with blocks.

use plimsoll_model::graph::Graph;
use plimsoll_model::program::Program;
use plimsoll_model::{Bytes, InstanceError, RegionId, load};

/// Groups the buffers of a program by region, for the colours of memory maps.
///
/// Returns the names of the regions that operators of the body own, and for every buffer the index of its
/// region. Each name includes the owner if several operators of the body own regions. A buffer of a nested
/// region is assigned to the named region that encloses it. A buffer of the body is assigned to no region.
/// Takes O(b d r) time for b buffers, r regions and nesting depth d.
pub fn program_groups(program: &Program<'_>) -> (Vec<String>, Vec<Option<usize>>) {
    let graph = program.graph();
    let around = |region: RegionId| graph.region(region).owner.map(|owner| graph.home(owner));
    let outer = |region: RegionId| around(region) == Some(Graph::BODY);
    let regions: Vec<RegionId> =
        (0..graph.regions().len()).map(RegionId::at).filter(|&region| outer(region)).collect();
    let alone = regions.iter().all(|&region| graph.region(region).owner == graph.region(regions[0]).owner);
    let name = |&region: &RegionId| {
        let one = graph.region(region);
        let owner = one.owner.map(|owner| graph.called(owner)).unwrap_or_default();
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

/// Maximum number of characters of a name in a legend.
const NAME: usize = 24;

/// Returns a lower bound, in bytes, on the arena of every plan that merges regions into blocks, however well
/// the blocks are packed.
///
/// The bound is the load of the body if every operator with regions occupies a block as large as the largest
/// load of its regions. Takes O(n log n) time for n buffers.
///
/// # Errors
/// Returns an error if the sizes add up to 2^63 bytes or more.
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
