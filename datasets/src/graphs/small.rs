//! Small random order problems with every feature of the model, and their optima by enumeration. They are
//! meant for tests.

use plimsoll_model::orders::{OrderProblem, Storage};
use plimsoll_model::{Bytes, OperatorId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The features that a small random order problem may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallOrderParams {
    /// Number of operators.
    pub operators: usize,
    /// Maximum size in bytes; the minimum is 1.
    pub max_size: u64,
    /// Whether some storages are live from the start, including some that no operator uses.
    pub from_start: bool,
    /// Whether some storages are live to the end, and some throughout.
    pub to_end: bool,
    /// Whether some operators have scratch memory.
    pub scratch: bool,
    /// Whether some storages are passed on: operators that are not direct successors of the producer use
    /// them, as with in-place operators.
    pub passed_on: bool,
    /// Whether some storages may begin with any of several users, as with parts that are written separately.
    pub parts: bool,
}

impl SmallOrderParams {
    /// Returns parameters with the features given by the bits of `mask`: 1 for `from_start`, 2 for `to_end`,
    /// 4 for `scratch`, 8 for `passed_on`, 16 for `parts`.
    pub fn with_features(operators: usize, mask: u64) -> Self {
        Self {
            operators,
            max_size: 9,
            from_start: mask & 1 != 0,
            to_end: mask & 2 != 0,
            scratch: mask & 4 != 0,
            passed_on: mask & 8 != 0,
            parts: mask & 16 != 0,
        }
    }
}

/// Generates a small random order problem. Equal parameters and seeds produce the same problem. Four in
/// five operators produce one or two storages. Some operators use no storage, and some precedences exist
/// without a storage.
///
/// # Panics
/// If `max_size` is zero.
pub fn small_order_problem(params: SmallOrderParams, seed: u64) -> OrderProblem {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let n = params.operators;
    // Ids are shuffled, so that their order is not topological.
    let mut number: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        number.swap(at, rng.random_range(0..=at));
    }
    let density = [0.1, 0.25, 0.5][rng.random_range(0..3)];
    let mut reach = vec![vec![false; n]; n];
    let mut direct = vec![vec![false; n]; n];
    for a in (0..n).rev() {
        for b in a + 1..n {
            if rng.random_bool(density) {
                direct[a][b] = true;
                reach[a][b] = true;
                let further = reach[b].clone();
                reach[a].iter_mut().zip(further).for_each(|(one, further)| *one |= further);
            }
        }
    }
    let id = |at: usize| OperatorId::at(number[at]);
    let mut storages = Vec::new();
    let mut add = |mut users: Vec<OperatorId>, from_start, to_end, rng: &mut Xoshiro256PlusPlus| {
        users.sort_unstable();
        users.dedup();
        let size = Bytes::new(rng.random_range(1..=params.max_size));
        storages.push(Storage { name: format!("s{}", storages.len()), size, users, from_start, to_end });
    };
    for a in 0..n {
        for _ in 0..[0, 1, 1, 1, 2][rng.random_range(0..5)] {
            let below = if params.passed_on && rng.random_bool(0.4) { &reach[a] } else { &direct[a] };
            let mut users = vec![id(a)];
            users.extend((a + 1..n).filter(|&b| below[b] && rng.random_bool(0.8)).map(id));
            let to_end = params.to_end && rng.random_bool(0.15);
            add(users, false, to_end, &mut rng);
        }
        if params.from_start && rng.random_bool(0.25) {
            let users: Vec<_> =
                std::iter::once(a).chain((0..n).filter(|_| rng.random_bool(0.15))).map(id).collect();
            let to_end = params.to_end && rng.random_bool(0.3);
            add(users, true, to_end, &mut rng);
        }
    }
    for b in (0..n).filter(|_| params.parts) {
        let users: Vec<_> = (0..=b).filter(|&a| a == b || direct[a][b]).map(id).collect();
        if rng.random_bool(0.3) {
            add(users, false, params.to_end && rng.random_bool(0.15), &mut rng);
        }
    }
    if params.from_start && params.to_end && rng.random_bool(0.2) {
        add(Vec::new(), true, true, &mut rng);
    }
    let needs = (0..n).map(|_| {
        if params.scratch && rng.random_bool(0.3) { rng.random_range(1..=params.max_size) } else { 0 }
    });
    let scratch = needs.map(Bytes::new).collect();
    if params.from_start && rng.random_bool(0.2) {
        add(Vec::new(), true, false, &mut rng);
    }
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let edges: Vec<_> = pairs.filter(|&(a, b)| direct[a][b]).map(|(a, b)| (id(a), id(b))).collect();
    let names = (0..n).map(|at| format!("f{at}")).collect();
    OrderProblem::new(format!("small-{n}-{seed}"), names, edges, storages, scratch)
        .expect("edges point to later operators, and producers precede users")
}

/// Returns the minimum peak over all topological orders, by dynamic programming over the sets of completed
/// operators. O(2^n n s) for n operators and s storages; practical for up to about 16 operators.
///
/// # Panics
/// With 25 operators or more.
pub fn min_peak_brute(problem: &OrderProblem) -> Bytes {
    let n = problem.len();
    assert!(n < 25, "2^{n} sets are too many");
    let bit = |id: OperatorId| 1u32 << id.index();
    let set = |ids: &[OperatorId]| ids.iter().fold(0u32, |set, &id| set | bit(id));
    let users: Vec<u32> = problem.storages().iter().map(|s| set(&s.users)).collect();
    let before: Vec<u32> = problem.ids().map(|id| set(problem.predecessors(id))).collect();
    let given: u64 = problem.storages().iter().filter(|s| s.from_start).map(|s| s.size.get()).sum();
    if n == 0 {
        return Bytes::new(given);
    }
    let live = |done: u32, id: OperatorId| -> u64 {
        let here = |(s, &users): (&Storage, &u32)| {
            let begun = s.from_start || users & (done | bit(id)) != 0;
            let needed = s.to_end || users & !done != 0;
            if begun && needed { s.size.get() } else { 0 }
        };
        problem.storages().iter().zip(&users).map(here).sum::<u64>() + problem.scratch(id).get()
    };
    let all = (1u32 << n) - 1;
    let mut best = vec![u64::MAX; all as usize + 1];
    best[0] = 0;
    for done in 0..all {
        let so_far = best[done as usize];
        if so_far == u64::MAX {
            continue;
        }
        for id in problem.ids().filter(|&id| done & bit(id) == 0 && before[id.index()] & !done == 0) {
            let peak = so_far.max(live(done, id));
            let next = &mut best[(done | bit(id)) as usize];
            *next = (*next).min(peak);
        }
    }
    Bytes::new(best[all as usize].max(given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::orders::{Order, around_bound};

    /// Returns the minimum peak by enumerating every order.
    fn walk(problem: &OrderProblem, order: &mut Vec<OperatorId>) -> u64 {
        if order.len() == problem.len() {
            return Order::new(order.clone()).peak(problem).get();
        }
        let mut best = u64::MAX;
        for id in problem.ids() {
            let ready = problem.predecessors(id).iter().all(|before| order.contains(before));
            if ready && !order.contains(&id) {
                order.push(id);
                best = best.min(walk(problem, order));
                order.pop();
            }
        }
        best
    }

    #[test]
    fn sets_agree_with_orders() {
        for seed in 0..96 {
            let params = SmallOrderParams::with_features(seed as usize % 7, seed % 32);
            let problem = small_order_problem(params, seed);
            let best = min_peak_brute(&problem);
            assert_eq!(best.get(), walk(&problem, &mut Vec::new()), "seed {seed}");
            assert!(around_bound(&problem).value <= best, "seed {seed}");
            assert_eq!(problem, small_order_problem(params, seed));
        }
    }

    #[test]
    fn features_occur() {
        let all = |mask| {
            (0..200).map(move |seed| small_order_problem(SmallOrderParams::with_features(9, mask), seed))
        };
        let any = |mask, test: fn(&OrderProblem, &Storage) -> bool| {
            all(mask).any(|p| p.storages().iter().any(|s| test(&p, s)))
        };
        assert!(any(1, |_, s| s.from_start) && !any(0, |_, s| s.from_start));
        assert!(any(2, |_, s| s.to_end) && !any(0, |_, s| s.to_end));
        assert!(any(3, |_, s| s.users.is_empty()));
        let direct = |p: &OrderProblem, s: &Storage| {
            let first = s
                .users
                .iter()
                .copied()
                .find(|&u| s.users.iter().all(|&v| u == v || p.successors(u).contains(&v)));
            first.is_some()
        };
        assert!(all(8).any(|p| p.storages().iter().any(|s| !direct(&p, s))));
        assert!(all(0).all(|p| p.storages().iter().all(|s| direct(&p, s))));
        assert!(all(4).any(|p| p.ids().any(|id| p.scratch(id) > Bytes::ZERO)));
    }
}
