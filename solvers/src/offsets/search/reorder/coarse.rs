//! Clusters of buffers that keep their places in a layout.

use crate::offsets::search::valley::Span;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use std::collections::HashMap;

/// Buffers that fill a rectangle of sections and addresses in a layout.
#[derive(Debug)]
pub(super) struct Cluster {
    pub span: Span,
    /// Each buffer with the distance of its offset from that of the cluster, in units. The first distance is
    /// 0.
    pub parts: Vec<(u32, i32)>,
}

impl Cluster {
    /// Returns the offset of the cluster, given those of the buffers.
    pub fn offset(&self, offsets: &[i32]) -> i32 {
        offsets[self.parts[0].0 as usize]
    }
}

/// Joins buffers of a layout to clusters, in the order of their starts, until no join is possible.
///
/// Two clusters can be joined if they form a rectangle: either one ends where the other starts, and both have
/// the same offset and size, or one lies directly above the other, and both have the same lifespan. Each
/// buffer permits joins with a given chance. A cluster grows only while the buffer that it received last
/// permits joins. Buffers of size 0 remain alone.
///
/// The time is expected to be O(n h) for n buffers and clusters that are nested h deep.
pub(super) fn coarsen(
    spans: &[Span],
    offsets: &[i32],
    chance: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Cluster> {
    let permits: Vec<bool> = spans.iter().map(|span| rng.random_bool(chance) && span.size > 0).collect();
    let single = |(b, &span): (usize, &Span)| Some(Cluster { span, parts: vec![(b as u32, 0)] });
    let mut clusters: Vec<Option<Cluster>> = spans.iter().enumerate().map(single).collect();
    let place = |cluster: &Cluster| (cluster.span.start, cluster.offset(offsets));
    let sized = clusters.iter().flatten().enumerate().filter(|(_, cluster)| cluster.span.size > 0);
    let mut at: HashMap<(u32, i32), usize> = sized.map(|(index, cluster)| (place(cluster), index)).collect();
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for index in 0..clusters.len() {
            let Some(mut cluster) = clusters[index].take() else { continue };
            while cluster.parts.last().is_some_and(|&(last, _)| permits[last as usize]) {
                let Some((next, span)) = neighbour(&cluster, offsets, &at, &clusters) else { break };
                let other = clusters[next].take().expect("a neighbour is a cluster");
                at.remove(&place(&other));
                let up = other.offset(offsets) - cluster.offset(offsets);
                cluster.parts.extend(other.parts.iter().map(|&(b, distance)| (b, distance + up)));
                cluster.span = span;
                grown = true;
            }
            clusters[index] = Some(cluster);
        }
    }
    clusters.into_iter().flatten().collect()
}

/// Returns the index of a cluster that forms a rectangle with a given one, and the span of both. It starts
/// where the given cluster ends, or lies directly above it.
fn neighbour(
    cluster: &Cluster,
    offsets: &[i32],
    at: &HashMap<(u32, i32), usize>,
    clusters: &[Option<Cluster>],
) -> Option<(usize, Span)> {
    let (span, offset) = (cluster.span, cluster.offset(offsets));
    let find = |place| {
        let index = *at.get(&place)?;
        Some((index, clusters[index].as_ref()?.span))
    };
    let later = find((span.end, offset)).filter(|(_, other)| other.size == span.size);
    let later = later.map(|(index, other)| (index, Span { end: other.end, ..span }));
    later.or_else(|| {
        let above = find((span.start, offset + span.size as i32)).filter(|(_, other)| other.end == span.end);
        above.map(|(index, other)| (index, Span { size: span.size + other.size, ..span }))
    })
}
