//! Compares trees with lists of permutations.

use super::key::Labels;
use super::{Forest, Leaves, Tree};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Order = Vec<u8>;

/// Returns all permutations of `items`.
fn permutations(items: &[u8]) -> BTreeSet<Order> {
    if items.is_empty() {
        return BTreeSet::from([Vec::new()]);
    }
    let mut all = BTreeSet::new();
    for &first in items {
        let rest: Order = items.iter().copied().filter(|&item| item != first).collect();
        all.extend(permutations(&rest).into_iter().map(|order| [&[first], &order[..]].concat()));
    }
    all
}

fn is_contiguous(order: &[u8], set: Leaves) -> bool {
    let inside = |leaf: &u8| set >> leaf & 1 == 1;
    let Some(first) = order.iter().position(inside) else { return true };
    order[first..first + set.count_ones() as usize].iter().all(inside)
}

/// Returns the permutations of a tree, computed from the definition.
fn frontiers(forest: &Forest, tree: Tree) -> BTreeSet<Order> {
    use super::Kind;
    let node = forest.nodes[tree as usize];
    if node.kind == Kind::Leaf {
        return BTreeSet::from([vec![node.from as u8]]);
    }
    let children: Vec<Tree> = (node.from..node.to).map(|i| forest.child(i)).collect();
    let places: Order = (0..children.len() as u8).collect();
    let arranged = match node.kind {
        Kind::P => permutations(&places),
        _ => BTreeSet::from([places.clone(), places.into_iter().rev().collect()]),
    };
    let mut all = BTreeSet::new();
    for places in arranged {
        let mut orders = BTreeSet::from([Vec::new()]);
        for place in places {
            let inner = frontiers(forest, children[place as usize]);
            let join =
                |order: &Order| inner.iter().map(|more| [&order[..], more].concat()).collect::<Vec<Order>>();
            orders = orders.iter().flat_map(join).collect();
        }
        all.extend(orders);
    }
    all
}

fn key(forest: &Forest, tree: Tree, labels: &Labels) -> Vec<u8> {
    let mut key = Vec::new();
    forest.write(tree, labels, &mut key);
    key
}

/// Reduces the universal tree of `n` leaves by each set, except those after which no permutation would
/// remain.
fn reduced(forest: &mut Forest, n: u8, sets: &[Leaves]) -> (Tree, BTreeSet<Order>) {
    let mut tree = forest.universal((1 << n) - 1);
    let mut orders = permutations(&(0..n).collect::<Order>());
    for &set in sets {
        let left: BTreeSet<Order> =
            orders.iter().filter(|order| is_contiguous(order, set)).cloned().collect();
        match forest.reduce(tree, set) {
            None => assert!(left.is_empty(), "{sets:?}"),
            Some(narrower) => {
                assert_eq!(frontiers(forest, narrower), left, "{sets:?}");
                (tree, orders) = (narrower, left);
            }
        }
    }
    (tree, orders)
}

/// Converts raw numbers to subsets of `n` leaves.
fn subsets(n: u8, raw: &[u32]) -> Vec<Leaves> {
    raw.iter().map(|&bits| Leaves::from(bits) % ((1 << n) - 1) + 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]
    #[test]
    fn a_reduction_keeps_exactly_the_orders_with_the_sets_contiguous(
        n in 1u8..7, raw in proptest::collection::vec(any::<u32>(), 0..6),
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        // The tree must yield the same contiguous sets as the list of permutations.
        let (mut defining, mut contiguous) = (Vec::new(), Vec::new());
        forest.defining(tree, &mut defining);
        forest.contiguous(tree, &mut contiguous);
        let all: Leaves = (1 << n) - 1;
        let found: BTreeSet<Leaves> = contiguous.iter().copied().collect();
        prop_assert_eq!(found.len(), contiguous.len());
        for set in (1..all).filter(|set: &Leaves| set.count_ones() > 1) {
            let expected = orders.iter().all(|order| is_contiguous(order, set));
            prop_assert_eq!(found.contains(&set), expected, "{:b}", set);
        }
        prop_assert!(defining.iter().all(|set| found.contains(set)));
        let again = reduced(&mut forest, n, &defining);
        prop_assert_eq!(&again.1, &orders);
        // The logarithm is rounded once per factor.
        let exact = (orders.len() as f64).ln() * 1024.0;
        prop_assert!((f64::from(forest.permutations(tree)) - exact).abs() < 10.0);
    }

    #[test]
    fn trees_have_equal_keys_if_and_only_if_their_orders_are_equal(
        n in 1u8..6,
        one in proptest::collection::vec(any::<u32>(), 0..4),
        two in proptest::collection::vec(any::<u32>(), 0..4),
    ) {
        let labels = Labels::new([]);
        let mut forest = Forest::default();
        let (a, of_a) = reduced(&mut forest, n, &subsets(n, &one));
        let (b, of_b) = reduced(&mut forest, n, &subsets(n, &two));
        let (key_a, key_b) = (key(&forest, a, &labels), key(&forest, b, &labels));
        prop_assert_eq!(key_a == key_b, of_a == of_b);
        let read = forest.read(&key_a, &labels);
        prop_assert_eq!(&frontiers(&forest, read), &of_a);
        // Leaves with equal labels are interchangeable.
        let alike: Vec<u8> = (0..n).collect();
        let (half, rest) = alike.split_at(alike.len() / 2);
        let labels = Labels::new([half, rest]);
        let word = |order: &Order| order.iter().map(|&leaf| half.contains(&leaf)).collect::<Vec<bool>>();
        let words = |orders: &BTreeSet<Order>| orders.iter().map(word).collect::<BTreeSet<_>>();
        let key_a = key(&forest, a, &labels);
        let read = forest.read(&key_a, &labels);
        prop_assert_eq!(&key(&forest, read, &labels), &key_a);
        prop_assert_eq!(words(&frontiers(&forest, read)), words(&of_a));
        if key_a == key(&forest, b, &labels) {
            prop_assert_eq!(words(&of_a), words(&of_b));
        }
    }

    #[test]
    fn an_exchange_replaces_a_contiguous_set(
        n in 2u8..6, raw in proptest::collection::vec(any::<u32>(), 0..4), set: u32, new in 1u8..4,
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        let set = subsets(n, &[set])[0];
        let fresh: Order = (10..10 + new).collect();
        let mark = forest.mark();
        let by = forest.universal(((1 << new) - 1) << 10);
        let mut expected = BTreeSet::new();
        for order in orders.iter().filter(|order| is_contiguous(order, set)) {
            let at = order.iter().position(|leaf| set >> leaf & 1 == 1).unwrap();
            let rest = &order[at + set.count_ones() as usize..];
            let put = |fresh: &Order| [&order[..at], &fresh[..], rest].concat();
            expected.extend(permutations(&fresh).iter().map(put));
        }
        match forest.exchange(tree, set, by) {
            None => prop_assert!(expected.is_empty()),
            Some(tree) => prop_assert_eq!(frontiers(&forest, tree), expected),
        }
        forest.rewind(mark);
        prop_assert_eq!(frontiers(&forest, tree), orders);
    }

    #[test]
    fn atoms_are_the_maximal_contiguous_subsets(
        n in 1u8..7, raw in proptest::collection::vec(any::<u32>(), 0..5), set: u32,
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        let set = subsets(n, &[set])[0];
        let mut atoms = Vec::new();
        forest.atoms(tree, set, &mut atoms);
        atoms.sort_unstable();
        let all: Vec<Leaves> = (1..1 << n)
            .filter(|part| part & !set == 0 && orders.iter().all(|order| is_contiguous(order, *part)))
            .collect();
        let maximal = |one: &&Leaves| !all.iter().any(|other| other != *one && other & *one == **one);
        let expected: Vec<Leaves> = all.iter().filter(maximal).copied().collect();
        prop_assert_eq!(atoms, expected);
    }

    #[test]
    fn insertions_cover_every_place(
        n in 1u8..6, raw in proptest::collection::vec(any::<u32>(), 0..4), new in 1u8..3,
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        let by = forest.universal(((1 << new) - 1) << 10);
        let blocks = permutations(&(10..10 + new).collect::<Order>());
        let mut expected = BTreeSet::new();
        for order in &orders {
            for at in 0..=order.len() {
                let put = |block: &Order| [&order[..at], &block[..], &order[at..]].concat();
                expected.extend(blocks.iter().map(put));
            }
        }
        let mut trees = Vec::new();
        forest.insertions(tree, by, &mut trees);
        let found: BTreeSet<Order> = trees.iter().flat_map(|&tree| frontiers(&forest, tree)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_restriction_omits_leaves(
        n in 1u8..7, raw in proptest::collection::vec(any::<u32>(), 0..5), set: u32,
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        let kept = subsets(n, &[set])[0];
        let short = |order: &Order| order.iter().copied().filter(|leaf| kept >> leaf & 1 == 1).collect();
        let expected: BTreeSet<Order> = orders.iter().map(short).collect();
        let restricted = forest.restricted(tree, kept).unwrap();
        prop_assert_eq!(frontiers(&forest, restricted), expected);
        prop_assert_eq!(forest.restricted(tree, 1 << 20), None);
    }

    #[test]
    fn a_frontier_follows_an_order(
        n in 1u8..7, raw in proptest::collection::vec(any::<u32>(), 0..5), pick: proptest::sample::Index,
    ) {
        let mut forest = Forest::default();
        let (tree, orders) = reduced(&mut forest, n, &subsets(n, &raw));
        let order = orders.iter().nth(pick.index(orders.len())).unwrap();
        let mut place = [0; 128];
        (1..).zip(order).for_each(|(at, &leaf)| place[leaf as usize] = at);
        let mut found = Vec::new();
        forest.frontier(tree, &place, &mut found);
        prop_assert_eq!(&found, order);
        let labels = Labels::new([]);
        let canonical = forest.canonical(tree, &labels);
        prop_assert!(orders.contains(&canonical));
        let leaves: Order = key(&forest, tree, &labels).into_iter().filter(|&byte| byte < n).collect();
        prop_assert_eq!(canonical, leaves);
    }
}
