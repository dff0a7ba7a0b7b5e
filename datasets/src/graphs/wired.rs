//! Randomly wired networks (Xie, Kirillov, Girshick, He: Exploring randomly wired neural networks, 2019).
//!
//! A stage is a random undirected graph whose edges are directed from the lower to the higher node number.
//! Every node applies a `ReLU`, a separable 3 x 3 convolution and a normalisation. A node with several inputs
//! first adds them with learnt weights. Nodes without inputs read the input of the stage with stride 2. The
//! output of the stage is the mean of the nodes without readers. Each further stage doubles the channels.
//! Activations are `float32`.

use super::layers::{Layers, Names, SHORT};
use super::net::{Element, Node, volume};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;

/// Pairs of nodes, the lower one first.
type Edges = BTreeSet<(usize, usize)>;

fn pair(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Returns a Watts-Strogatz graph. In the initial ring, every node is connected to the `k / 2` nearest nodes
/// on either side. One round per distance on the ring follows. In a round, each edge of this distance is
/// replaced with a probability of `percent` percent. The new edge joins the first node of the old edge to a
/// random node.
fn watts_strogatz(n: usize, k: usize, percent: u64, rng: &mut Xoshiro256PlusPlus) -> Edges {
    let far = |node: usize, step: usize| (node + step) % n;
    let ring = (1..=k / 2).flat_map(|step| (0..n).map(move |node| (node, step)));
    let mut edges: Edges = ring.clone().map(|(node, step)| pair(node, far(node, step))).collect();
    for (node, step) in ring {
        if rng.random_range(0..100) < percent {
            let free: Vec<usize> =
                (0..n).filter(|&other| other != node && !edges.contains(&pair(node, other))).collect();
            if !free.is_empty() {
                edges.remove(&pair(node, far(node, step)));
                edges.insert(pair(node, free[rng.random_range(0..free.len())]));
            }
        }
    }
    edges
}

/// Returns an Erdos-Renyi graph, which contains every pair with a probability of `percent` percent.
fn erdos_renyi(n: usize, percent: u64, rng: &mut Xoshiro256PlusPlus) -> Edges {
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    pairs.filter(|_| rng.random_range(0..100) < percent).collect()
}

/// Returns a Barabasi-Albert graph. It starts with `m` nodes without edges. Node `m` is connected to all of
/// them. Every later node is connected to `m` distinct earlier nodes, chosen with probability proportional to
/// their degrees.
fn barabasi_albert(n: usize, m: usize, rng: &mut Xoshiro256PlusPlus) -> Edges {
    let mut edges = Edges::new();
    // Every node appears once per edge in this list.
    let mut ends: Vec<usize> = (0..m).collect();
    for node in m..n {
        let mut chosen = BTreeSet::new();
        if node == m {
            ends.clear();
            chosen.extend(0..m);
        }
        while chosen.len() < m {
            chosen.insert(ends[rng.random_range(0..ends.len())]);
        }
        for other in chosen {
            edges.insert((other, node));
            ends.extend([other, node]);
        }
    }
    edges
}

/// Generates a Watts-Strogatz network. The defaults are 32 nodes, k = 4 and p = 0.75.
pub(super) fn ws(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let n = params.at_least("nodes", 2)?;
    params.at_least("k", 2)?;
    params.at_most("k", n - 1)?;
    let (k, percent) = (params.get("k") as usize, params.percent("p")?);
    network(params, seed, |rng| watts_strogatz(n as usize, k, percent, rng))
}

/// Generates an Erdos-Renyi network. The defaults are 32 nodes and p = 0.2.
pub(super) fn er(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (n, percent) = (params.at_least("nodes", 2)?, params.percent("p")?);
    network(params, seed, |rng| erdos_renyi(n as usize, percent, rng))
}

/// Generates a Barabasi-Albert network. The defaults are 32 nodes and m = 5.
pub(super) fn ba(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let n = params.at_least("nodes", 2)?;
    params.at_least("m", 1)?;
    params.at_most("m", n - 1)?;
    let m = params.get("m") as usize;
    network(params, seed, |rng| barabasi_albert(n as usize, m, rng))
}

fn network(
    params: &Params,
    seed: u64,
    wire: impl Fn(&mut Xoshiro256PlusPlus) -> Edges,
) -> Result<Graph, GenerateError> {
    params.at_most("nodes", 10_000)?;
    params.at_most("stages", 8)?;
    let (stages, channels) = (params.at_least("stages", 1)?, params.at_least("channels", 1)?);
    let (nodes, size) = (params.get("nodes") as usize, params.at_least("size", 1)?);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut net = Layers::named(params, false, Names { input: "x", ..SHORT }, Element::F32)?;
    let mut x = net.image(channels, size);
    for at in 0..stages {
        x = stage(&mut net, &format!("s{at}"), x, channels << at, nodes, &wire(&mut rng));
    }
    net.finish(x)
}

fn stage(net: &mut Layers, name: &str, x: TensorId, channels: u64, nodes: usize, edges: &Edges) -> TensorId {
    let mut made: Vec<TensorId> = Vec::with_capacity(nodes);
    let mut reads: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut read = vec![false; nodes];
    for &(a, b) in edges {
        reads[b].push(a);
        read[a] = true;
    }
    for (node, reads) in reads.iter().enumerate() {
        let name = format!("{name}.n{node}");
        let inputs: Vec<TensorId> = reads.iter().map(|&from| made[from]).collect();
        let (sum, stride) = match inputs[..] {
            [] => (x, 2),
            [one] => (one, 1),
            _ => (weighted(net, &format!("{name}.sum"), &inputs), 1),
        };
        let y = net.map(&format!("{name}.relu"), "Relu", &[sum]);
        let y = net.separable(&name, y, channels, 3, stride);
        made.push(net.scaled(&format!("{name}.norm"), y));
    }
    let wanted: Vec<TensorId> =
        made.into_iter().zip(read).filter(|(_, read)| !read).map(|(y, _)| y).collect();
    if wanted.len() == 1 { wanted[0] } else { net.map(&format!("{name}.mean"), "Mean", &wanted) }
}

/// Adds a sum with one learnt weight per operand.
fn weighted(net: &mut Layers, name: &str, inputs: &[TensorId]) -> TensorId {
    let weight = net.net.weight(&format!("{name}.w"), Element::F32, &[inputs.len() as u64]);
    let shape = net.net.shape(inputs[0]).to_vec();
    let reads: Vec<TensorId> = inputs.iter().copied().chain([weight]).collect();
    let node = Node::new(name, "WeightedSum").reads(&reads);
    let node = inputs.iter().fold(node, |node, &x| node.over(x));
    node.cost(volume(&shape).saturating_mul(inputs.len() as u64)).makes(&mut net.net, Element::F32, &shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_numbers_of_edges() {
        for seed in 0..20 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            assert_eq!(watts_strogatz(32, 4, 75, &mut rng).len(), 64);
            assert_eq!(barabasi_albert(32, 5, &mut rng).len(), 27 * 5);
            assert!(erdos_renyi(32, 0, &mut rng).is_empty());
            assert_eq!(erdos_renyi(32, 100, &mut rng).len(), 496);
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let ring = watts_strogatz(6, 2, 0, &mut rng);
        assert!(ring.into_iter().eq([(0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5)]));
    }
}
