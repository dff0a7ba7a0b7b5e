//! Uses minimum cuts to extend downsets to downsets with fewer live bytes.

use super::net::Net;
use crate::network::{INFINITE, Network};
use std::collections::HashMap;

/// Returns the nodes of `region` whose addition to the downset `ran` minimises the live bytes. Returns `None`
/// if no extension has fewer live bytes than `ran` itself.
///
/// `region` must be closed: the predecessors of its nodes are in `region` or have run. A finite cut of the
/// network corresponds to a downset: the nodes on its source side.
/// - A storage that has begun and is not needed after the region costs its size unless all its users have
///   run.
/// - A storage that has not begun and is needed after the region costs its size if a user has run.
/// - A storage that has not begun and is not needed after the region costs its size if some of its users have
///   run and some have not.
///
/// The time is that of one maximum flow, with one vertex per node of the region and up to two per storage
/// that these nodes touch.
pub(super) fn lower(net: &Net, ran: &dyn Fn(u32) -> bool, region: &[u32]) -> Option<Vec<u32>> {
    let mut flow = Network::default();
    let (source, sink) = (flow.place(), flow.place());
    let places: HashMap<u32, u32> = region.iter().map(|&node| (node, flow.place())).collect();
    let mut storages: Vec<u32> = region.iter().flat_map(|&node| net.touch(node).iter().copied()).collect();
    storages.sort_unstable();
    storages.dedup();
    for &node in region {
        for before in &net.before[node as usize] {
            if let Some(&before) = places.get(before) {
                flow.arc(places[&node], before, INFINITE);
            }
        }
    }
    let mut now = 0;
    for s in storages {
        let held = &net.held[s as usize];
        let begun = held.begun || held.users.iter().any(|&user| ran(user));
        let kept = held.kept || held.users.iter().any(|user| !ran(*user) && !places.contains_key(user));
        if begun && kept {
            continue;
        }
        let users: Vec<u32> = held.users.iter().filter_map(|user| places.get(user).copied()).collect();
        // `some` is on the source side if a user has run, and `open` is on the sink side if a user has not
        // run.
        let some = if begun { source } else { flow.place() };
        let open = if kept { sink } else { flow.place() };
        for user in users {
            if !begun {
                flow.arc(user, some, INFINITE);
            }
            if !kept {
                flow.arc(open, user, INFINITE);
            }
        }
        flow.arc(some, open, held.size);
        now += if begun { held.size } else { 0 };
    }
    if flow.most(source, sink) >= now {
        return None;
    }
    let level = flow.levels(source);
    Some(region.iter().copied().filter(|node| level[places[node] as usize] != u32::MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::super::draft::{Draft, Store, Work};
    use super::super::net::State;
    use super::*;
    use plimsoll_model::OperatorId;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    fn draft(rng: &mut Xoshiro256PlusPlus, n: u32) -> Draft {
        let mut draft = Draft::default();
        let stores = rng.random_range(1..=8u32);
        for at in 0..n {
            let touch = (0..stores).filter(|_| rng.random_bool(0.3)).collect();
            draft.nodes.push(vec![Work { operator: OperatorId::new(at), touch, scratch: 0 }]);
            draft.before.push((0..at).filter(|_| rng.random_bool(0.2)).collect());
            draft.after.push(Vec::new());
        }
        for at in 0..n {
            for before in draft.before[at as usize].clone() {
                draft.after[before as usize].push(at);
            }
        }
        let mut store = || Store {
            size: rng.random_range(1..=5),
            begun: rng.random_bool(0.3),
            kept: rng.random_bool(0.3),
        };
        draft.stores = (0..stores).map(|_| store()).collect();
        draft.tidied()
    }

    fn live(net: &Net, set: u32) -> u64 {
        let mut state = State::new(net);
        state.load(&[u64::from(set)]);
        state.live
    }

    #[test]
    fn the_least_downset_is_found() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut found = 0;
        for _ in 0..2_000 {
            let n = rng.random_range(1..=8u32);
            let net = Net::of(&draft(&mut rng, n));
            let closed = |set: u32| {
                let ran = |node: &u32| set >> node & 1 == 1;
                (0..n).filter(ran).all(|node| net.before[node as usize].iter().all(ran))
            };
            let from = (0..1u32 << n).filter(|&set| closed(set) && rng.random_bool(0.3)).last().unwrap_or(0);
            let region: Vec<u32> = (0..n).filter(|node| from >> node & 1 == 0).collect();
            let all = (0..1u32 << n).filter(|set| closed(*set) && set & from == from);
            let least = all.map(|set| live(&net, set)).min().unwrap_or(0);
            let added = lower(&net, &|node| from >> node & 1 == 1, &region);
            let set = added.iter().flatten().fold(from, |set, node| set | 1 << node);
            assert!(closed(set));
            assert_eq!(live(&net, set), least);
            assert_eq!(added.is_some(), least < live(&net, from));
            found += usize::from(added.is_some());
        }
        assert!(found > 100);
    }
}
