//! Order problems for tests: small random ones with every feature, and graphs with the shape of real models.

use plimsoll_model::orders::{OrderProblem, Storage};
use plimsoll_model::{Bytes, OperatorId};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A graph under construction. Tensors are numbered, and every operator produces one tensor.
#[derive(Default)]
pub struct Draw {
    /// Per tensor: size, producer, consumers.
    tensors: Vec<(u64, Option<u32>, Vec<u32>)>,
    operators: u32,
    scratch: Vec<u64>,
}

impl Draw {
    /// Adds an input tensor and returns its number.
    pub fn input(&mut self, size: u64) -> usize {
        self.tensors.push((size, None, Vec::new()));
        self.tensors.len() - 1
    }

    /// Adds an operator and returns the number of its output.
    pub fn op(&mut self, reads: &[usize], size: u64) -> usize {
        let at = self.operators;
        self.operators += 1;
        self.scratch.push(0);
        for &tensor in reads {
            if !self.tensors[tensor].2.contains(&at) {
                self.tensors[tensor].2.push(at);
            }
        }
        self.tensors.push((size, Some(at), Vec::new()));
        self.tensors.len() - 1
    }

    /// Adds a chain of operators and returns the number of the last output.
    pub fn chain(&mut self, from: usize, sizes: &[u64]) -> usize {
        sizes.iter().fold(from, |last, &size| self.op(&[last], size))
    }

    /// Builds the problem. Tensors without consumers are outputs.
    pub fn problem(self, name: &str) -> OrderProblem {
        let mut storages = Vec::new();
        let mut edges = Vec::new();
        for (at, (size, maker, readers)) in self.tensors.iter().enumerate() {
            let users: Vec<u32> = maker.iter().chain(readers).copied().collect();
            edges.extend(maker.iter().flat_map(|&m| readers.iter().map(move |&r| (m, r))));
            storages.push(Storage {
                name: format!("t{at}"),
                size: Bytes::new(*size),
                from_start: maker.is_none(),
                to_end: readers.is_empty(),
                users: users.into_iter().map(OperatorId::new).collect(),
            });
        }
        let names = (0..self.operators).map(|at| format!("o{at}")).collect();
        let edges = edges.into_iter().map(|(a, b)| (OperatorId::new(a), OperatorId::new(b)));
        let scratch = self.scratch.into_iter().map(Bytes::new).collect();
        OrderProblem::new(name, names, edges, storages, scratch).unwrap()
    }
}

/// Returns a problem with sizes multiplied by `factor`. Each operator that begins a storage is followed by a
/// probe: an operator that reads these storages and produces a graph output of `size` bytes.
pub fn probed(problem: &OrderProblem, factor: u64, size: u64) -> OrderProblem {
    let scaled = |bytes: Bytes| Bytes::new(bytes.get() * factor);
    let mut names: Vec<String> = problem.ids().map(|id| problem.operator(id).to_owned()).collect();
    let mut scratch: Vec<Bytes> = problem.ids().map(|id| scaled(problem.scratch(id))).collect();
    let mut storages = problem.storages().to_vec();
    for storage in &mut storages {
        storage.size = scaled(storage.size);
    }
    let before = |id| problem.predecessors(id).iter().map(move |&before| (before, id));
    let mut edges: Vec<(OperatorId, OperatorId)> = problem.ids().flat_map(before).collect();
    for id in problem.ids() {
        let begun: Vec<usize> =
            (0..problem.storages().len()).filter(|&at| problem.first(at) == Some(id)).collect();
        if begun.is_empty() {
            continue;
        }
        let probe = OperatorId::new(names.len() as u32);
        for &at in &begun {
            storages[at].users.push(probe);
        }
        let (name, users) = (format!("probe{probe}"), vec![probe]);
        storages.push(Storage {
            name: name.clone(),
            size: Bytes::new(size),
            users,
            from_start: false,
            to_end: true,
        });
        names.push(name);
        edges.push((id, probe));
        scratch.push(Bytes::ZERO);
    }
    OrderProblem::new(problem.name(), names, edges, storages, scratch).unwrap()
}

/// Returns a small random problem with every feature: storages that are live from the start or to the end,
/// storages with several users and producers, storages whose last user depends on the order, operators
/// without outputs, and scratch memory.
pub fn small(n: usize, seed: u64) -> OrderProblem {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let n = n as u32;
    let density = [0.05, 0.15, 0.3, 0.5][rng.random_range(0..4)];
    let largest = [1, 3, 9, 40][rng.random_range(0..4)];
    let mut edges = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            if rng.random_bool(density) {
                edges.push((a, b));
            }
        }
    }
    let mut storages = Vec::new();
    let mut add = |users: Vec<u32>, size: u64, from_start: bool, to_end: bool| {
        let name = format!("s{}", storages.len());
        let users = users.into_iter().map(OperatorId::new).collect();
        storages.push(Storage { name, size: Bytes::new(size), users, from_start, to_end });
    };
    for first in 0..n {
        for _ in 0..rng.random_range(0..=2u32) {
            let mut users = vec![first];
            for user in first + 1..n {
                if rng.random_bool(0.25) {
                    users.push(user);
                    edges.push((first, user));
                }
            }
            add(users, rng.random_range(1..=largest), rng.random_bool(0.05), rng.random_bool(0.1));
        }
    }
    for _ in 0..rng.random_range(0..=3u32) {
        let users: Vec<u32> = (0..n).filter(|_| rng.random_bool(0.3)).collect();
        let to_end = rng.random_bool(0.2);
        add(users, rng.random_range(1..=largest), true, to_end);
    }
    let scratch = (0..n).map(|_| if rng.random_bool(0.2) { rng.random_range(0..=largest) } else { 0 });
    let scratch = scratch.map(Bytes::new).collect();
    let names = (0..n).map(|at| format!("o{at}")).collect();
    let edges = edges.into_iter().map(|(a, b)| (OperatorId::new(a), OperatorId::new(b)));
    OrderProblem::new(format!("small-{seed}"), names, edges, storages, scratch).unwrap()
}

/// A random graph model and its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Wiring {
    /// Watts-Strogatz with n nodes and k neighbours, rewired with probability p.
    Ws(usize, usize, f64),
    /// Erdos-Renyi with n nodes and edge probability p.
    Er(usize, f64),
    /// Barabasi-Albert with n nodes and m edges per new node.
    Ba(usize, usize),
}

/// Returns the number of nodes and the edges, directed from lower to higher numbers.
fn wires(wiring: Wiring, rng: &mut Xoshiro256PlusPlus) -> (usize, Vec<(usize, usize)>) {
    let mut edges = std::collections::BTreeSet::new();
    let put = |edges: &mut std::collections::BTreeSet<(usize, usize)>, a: usize, b: usize| {
        edges.insert((a.min(b), a.max(b)))
    };
    let n = match wiring {
        Wiring::Ws(n, k, p) => {
            for a in 0..n {
                for i in 1..=k / 2 {
                    put(&mut edges, a, (a + i) % n);
                }
            }
            for i in 1..=k / 2 {
                for a in 0..n {
                    let b = (a + i) % n;
                    if rng.random_bool(p) {
                        let c = rng.random_range(0..n);
                        if c != a && !edges.contains(&(a.min(c), a.max(c))) {
                            edges.remove(&(a.min(b), a.max(b)));
                            put(&mut edges, a, c);
                        }
                    }
                }
            }
            n
        }
        Wiring::Er(n, p) => {
            for a in 0..n {
                for b in a + 1..n {
                    if rng.random_bool(p) {
                        put(&mut edges, a, b);
                    }
                }
            }
            n
        }
        Wiring::Ba(n, m) => {
            let mut ends: Vec<usize> = (0..m).collect();
            for a in m..n {
                let mut chosen = std::collections::BTreeSet::new();
                while chosen.len() < m {
                    chosen.insert(ends[rng.random_range(0..ends.len())]);
                }
                for b in chosen {
                    put(&mut edges, a, b);
                    ends.extend([a, b]);
                }
            }
            n
        }
    };
    (n, edges.into_iter().collect())
}

/// Returns a `RandWire` graph. Every node is an operator that sums its inputs, followed by a chain of
/// `ops - 1` operators. Sizes vary if `varied` is true.
pub fn randwire(wiring: Wiring, ops: usize, varied: bool, seed: u64) -> OrderProblem {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (n, edges) = wires(wiring, &mut rng);
    let mut draw = Draw::default();
    let input = draw.input(64);
    let mut made = Vec::new();
    let mut read = vec![false; n];
    for node in 0..n {
        let size = if varied { rng.random_range(16..=128) } else { 64 };
        let mut reads: Vec<usize> = edges.iter().filter(|e| e.1 == node).map(|e| made[e.0]).collect();
        edges.iter().filter(|e| e.1 == node).for_each(|e| read[e.0] = true);
        if reads.is_empty() {
            reads.push(input);
        }
        let first = draw.op(&reads, size);
        made.push(draw.chain(first, &vec![size; ops - 1]));
    }
    let ends: Vec<usize> = (0..n).filter(|&node| !read[node]).map(|node| made[node]).collect();
    draw.op(&ends, 64);
    draw.problem(&format!("{wiring:?} {ops} {varied} {seed}"))
}

/// Returns a `DenseNet`. Each layer has the form BN-Relu-Conv-BN-Relu-Conv-Concat and reads all previous
/// outputs of its block.
pub fn densenet(blocks: &[usize], growth: u64) -> OrderProblem {
    let mut draw = Draw::default();
    let input = draw.input(3 * 224 * 224);
    let mut area = 56 * 56;
    let mut channels = 2 * growth;
    let stem =
        draw.chain(input, &[channels * 4 * area, channels * 4 * area, channels * 4 * area, channels * area]);
    let mut last = stem;
    for (at, &layers) in blocks.iter().enumerate() {
        let mut parts = vec![last];
        for _ in 0..layers {
            let wide =
                [channels * area, channels * area, 4 * growth * area, 4 * growth * area, 4 * growth * area];
            let inner = draw.chain(last, &wide);
            parts.push(draw.op(&[inner], growth * area));
            channels += growth;
            last = draw.op(&parts, channels * area);
        }
        if at + 1 < blocks.len() {
            let whole = channels * area;
            last = draw.chain(last, &[whole, whole, whole / 2, whole / 8]);
            channels /= 2;
            area /= 4;
        }
    }
    draw.chain(last, &[channels * area, channels, 1000]);
    draw.problem("densenet")
}

/// Returns an Inception network. Each module has four branches that read one tensor and whose outputs are
/// concatenated.
pub fn inception(modules: usize, deep: bool) -> OrderProblem {
    let mut draw = Draw::default();
    let input = draw.input(3 * 224 * 224);
    let mut area = 28 * 28;
    let mut last =
        draw.chain(input, &[64 * 112 * 112, 64 * 112 * 112, 64 * 56 * 56, 192 * 56 * 56, 192 * area]);
    for module in 0..modules {
        let w = 64 + 16 * module as u64;
        let c = |x: u64| x * area;
        let one = draw.chain(last, &[c(w), c(w)]);
        let three = draw.chain(last, &[c(w), c(w), c(2 * w), c(2 * w)]);
        let five = if deep {
            draw.chain(last, &[c(w / 4), c(w / 4), c(w / 2), c(w / 2), c(w / 2), c(w / 2)])
        } else {
            draw.chain(last, &[c(w / 4), c(w / 4), c(w / 2), c(w / 2)])
        };
        let pool = draw.chain(last, &[c(4 * w), c(w / 2), c(w / 2)]);
        last = draw.op(&[one, three, five, pool], c(4 * w));
        if module == 1 || module == 6 {
            area /= 4;
            last = draw.op(&[last], 4 * w * area);
        }
    }
    draw.chain(last, &[1024, 1000, 1000]);
    draw.problem("inception")
}

/// Returns a `ResNet` with bottleneck blocks.
pub fn resnet(blocks: &[usize]) -> OrderProblem {
    let mut draw = Draw::default();
    let input = draw.input(3 * 224 * 224);
    let mut last = draw.chain(input, &[64 * 112 * 112, 64 * 112 * 112, 64 * 112 * 112, 64 * 56 * 56]);
    let (mut width, mut area) = (64u64, 56 * 56u64);
    for (stage, &count) in blocks.iter().enumerate() {
        for block in 0..count {
            if stage > 0 && block == 0 {
                (width, area) = (2 * width, area / 4);
            }
            let inner = [width * area; 6];
            let main = draw.chain(last, &[&inner[..], &[4 * width * area; 2]].concat());
            let side = if block == 0 { draw.chain(last, &[4 * width * area; 2]) } else { last };
            let sum = draw.op(&[main, side], 4 * width * area);
            last = draw.op(&[sum], 4 * width * area);
        }
    }
    draw.chain(last, &[2048, 1000]);
    draw.problem("resnet")
}

/// Returns a `ShuffleNet` v2. In each unit except the first of a stage, half of the channels pass through and
/// half are transformed. The first unit transforms all channels. Every unit ends with a shuffle.
pub fn shufflenet(stages: &[usize]) -> OrderProblem {
    let mut draw = Draw::default();
    let input = draw.input(3 * 224 * 224);
    let mut last = draw.chain(input, &[24 * 112 * 112, 24 * 56 * 56]);
    let (mut width, mut area) = (116u64, 28 * 28u64);
    for &units in stages {
        for unit in 0..units {
            let whole = width * area;
            let (left, right) = if unit == 0 {
                let left = draw.chain(last, &[whole / 2, whole / 2]);
                (left, draw.chain(last, &[2 * whole, whole / 2, whole / 2]))
            } else {
                let left = draw.op(&[last], whole / 2);
                let right = draw.op(&[last], whole / 2);
                (left, draw.chain(right, &[whole / 2; 3]))
            };
            let joined = draw.op(&[left, right], whole);
            last = draw.chain(joined, &[whole; 3]);
        }
        (width, area) = (2 * width, area / 4);
    }
    draw.chain(last, &[1024 * 49, 1024, 1000]);
    draw.problem("shufflenet")
}

/// Returns a U-Net, which has skip connections from the encoder to the decoder.
pub fn unet(depth: usize) -> OrderProblem {
    let mut draw = Draw::default();
    let mut last = draw.input(3 << 16);
    let mut skips = Vec::new();
    let size = |level: usize| (64u64 << 16) >> level;
    for level in 0..depth {
        last = draw.chain(last, &[size(level); 4]);
        skips.push((last, level));
        last = draw.op(&[last], size(level) / 4);
    }
    last = draw.chain(last, &[size(depth); 4]);
    for (skip, level) in skips.into_iter().rev() {
        let up = draw.op(&[last], size(level));
        let both = draw.op(&[skip, up], 2 * size(level));
        last = draw.chain(both, &[size(level); 4]);
    }
    draw.op(&[last], 1 << 16);
    draw.problem("unet")
}

/// Returns stacked cells, each of which reads the two cells before it. A cell derives five states, each from
/// a pair of operator chains, and concatenates all unused states.
pub fn cells(count: usize, varied: bool, seed: u64) -> OrderProblem {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw = Draw::default();
    let input = draw.input(3 * 32 * 32);
    let stem = draw.op(&[input], 48 * 1024);
    let (mut before, mut last) = (stem, stem);
    // All cells have the same random design, as in architecture search.
    let picks: Vec<[(usize, usize); 2]> = (0..5)
        .map(|step| [0; 2].map(|_: i32| (rng.random_range(0..2 + step), rng.random_range(1..=4usize))))
        .collect();
    for cell in 0..count {
        let size = 16 * 1024 / (1 + cell as u64 / 4);
        let one = draw.chain(before, &[size; 3]);
        let two = draw.chain(last, &[size; 3]);
        let mut states = vec![one, two];
        let mut used = [false; 7];
        for pair in &picks {
            let mut sides = Vec::new();
            for &(from, length) in pair {
                used[from] = true;
                let scale = if varied { from as u64 + 1 } else { 2 };
                sides.push(draw.chain(states[from], &vec![size * scale / 2; length]));
            }
            states.push(draw.op(&sides, size));
        }
        let joined: Vec<usize> = (0..7).filter(|&at| !used[at]).map(|at| states[at]).collect();
        (before, last) = (last, draw.op(&joined, size * joined.len() as u64));
    }
    draw.chain(last, &[64, 10]);
    draw.problem("cells")
}

/// Returns a transformer decoder with `layers` layers. If `constants` is true, one mask for all layers and
/// the positions for each layer are computed from constants alone.
pub fn llama(layers: usize, constants: bool) -> OrderProblem {
    let mut draw = Draw::default();
    let (tokens, width) = (128u64, 5120u64);
    let hidden = tokens * width;
    let scores = 40 * tokens * tokens;
    let ids = draw.input(tokens * 8);
    let mut last = draw.op(&[ids], hidden);
    let mask = if constants {
        let range = draw.op(&[], tokens * 8);
        let compared = draw.op(&[range], tokens * tokens);
        Some(draw.op(&[compared], tokens * tokens * 4))
    } else {
        None
    };
    for _ in 0..layers {
        let normed = norm(&mut draw, last, hidden, tokens);
        let rotary = |draw: &mut Draw, x: usize| {
            let (cos, sin) =
                if constants { (draw.op(&[], tokens * 128), draw.op(&[], tokens * 128)) } else { (x, x) };
            let half = draw.op(&[x], hidden / 2);
            let other = draw.op(&[x], hidden / 2);
            let negated = draw.op(&[half], hidden / 2);
            let turned = draw.op(&[other, negated], hidden);
            let a = draw.op(&[x, cos], hidden);
            let b = draw.op(&[turned, sin], hidden);
            draw.op(&[a, b], hidden)
        };
        let q = draw.op(&[normed], hidden);
        let q = rotary(&mut draw, q);
        let k = draw.op(&[normed], hidden);
        let k = rotary(&mut draw, k);
        let v = draw.chain(normed, &[hidden, hidden]);
        let mut attention = draw.op(&[q, k], scores);
        if let Some(mask) = mask {
            attention = draw.op(&[attention, mask], scores);
        }
        attention = draw.op(&[attention], scores);
        let mixed = draw.op(&[attention, v], hidden);
        let out = draw.chain(mixed, &[hidden, hidden]);
        last = draw.op(&[last, out], hidden);
        let normed = norm(&mut draw, last, hidden, tokens);
        let wide = tokens * 13824;
        let gate = draw.op(&[normed], wide);
        let sigmoid = draw.op(&[gate], wide);
        let gate = draw.op(&[gate, sigmoid], wide);
        let up = draw.op(&[normed], wide);
        let product = draw.op(&[gate, up], wide);
        let down = draw.op(&[product], hidden);
        last = draw.op(&[last, down], hidden);
    }
    let normed = norm(&mut draw, last, hidden, tokens);
    draw.op(&[normed], tokens * 32000);
    draw.problem("llama")
}

fn norm(draw: &mut Draw, x: usize, hidden: u64, tokens: u64) -> usize {
    let square = draw.op(&[x], hidden);
    let scale = draw.chain(square, &[tokens * 4, tokens * 4, tokens * 4]);
    let scaled = draw.op(&[x, scale], hidden);
    draw.op(&[scaled], hidden)
}
