//! Graphs with conditionals that are nested, are unbalanced, or have branches with shared inputs.

use super::maker::{MOST_OPERATORS, Maker, depth, operators};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::graph::Graph;
use plimsoll_model::{RegionId, TensorId};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Generates nested conditionals. Every region is a chain of `operators` operators. Down to nesting depth
/// `depth`, the middle of the chain contains an `If`. One randomly chosen branch contains the next `If`, and
/// the other is a plain chain.
pub(in crate::graphs) fn nested(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (depth, operators) = (depth(params)?, operators(params)?);
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    let y = nest(&mut maker, body, (go, x), depth, operators);
    maker.finish(&[y])
}

fn nest(
    maker: &mut Maker,
    region: RegionId,
    (go, x): (TensorId, TensorId),
    depth: u64,
    operators: u64,
) -> TensorId {
    if depth == 0 {
        return maker.chain(region, x, operators);
    }
    let before = operators.div_ceil(2);
    let x = maker.chain(region, x, before);
    let bytes = maker.size();
    let made = maker.made(bytes);
    let owner = maker.owner(region, "If", &[go], &[made]);
    let deeper = maker.rng.random_range(0..2);
    for (branch, name) in ["then", "else"].into_iter().enumerate() {
        let inner = maker.graph.region(owner, name);
        // The last output of a branch is copied to the output of the `If`, so it has the same size.
        let y = if branch == deeper {
            nest(maker, inner, (go, x), depth - 1, operators)
        } else {
            maker.chain(inner, x, operators)
        };
        maker.graph.tensor_mut(y).bytes = bytes.into();
        maker.close(inner, &[], &[y], &[y]);
    }
    maker.chain(region, made, operators - before)
}

/// Generates conditionals in sequence. In both branches, a chain of `operators` operators precedes the
/// operator that produces the result. The tensors of the chain are exactly `ratio` times as large in one
/// random branch as in the other. The results of both branches have the same size.
pub(in crate::graphs) fn unbalanced(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (operators, ratio) = (operators(params)?, params.at_least("ratio", 1)?);
    params.at_most("ifs", MOST_OPERATORS)?;
    let ifs = params.at_least("ifs", 1)?;
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, mut x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    for _ in 0..ifs {
        let sizes: Vec<u64> = (0..operators).map(|_| maker.size()).collect();
        let bytes = maker.size();
        let made = maker.made(bytes);
        let owner = maker.owner(body, "If", &[go], &[made]);
        let heavy = maker.rng.random_range(0..2);
        for (branch, name) in ["then", "else"].into_iter().enumerate() {
            let region = maker.graph.region(owner, name);
            let factor = if branch == heavy { ratio } else { 1 };
            let inner =
                sizes.iter().fold(x, |x, &size| maker.step(region, "Any", &[x], size.saturating_mul(factor)));
            let y = maker.step(region, "Any", &[inner], bytes);
            maker.close(region, &[], &[y], &[y]);
        }
        x = made;
    }
    maker.finish(&[x])
}

/// The readers of a tensor of the enclosing region: branches of the `If`, or an operator after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    Then,
    Else,
    Both,
    After,
    BothAndAfter,
}

/// Generates an `If` after operators that produce `shared` tensors. Each tensor is read by the first branch,
/// by the second, by both, by an operator after the `If`, or by both branches and that operator. As many of
/// these five cases as possible occur. Each branch is a chain of `operators` operators.
pub(in crate::graphs) fn shared(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let operators = operators(params)?;
    params.at_most("shared", MOST_OPERATORS)?;
    let shared = params.at_least("shared", 1)?;
    let mut maker = Maker::new(params, seed)?;
    let bytes = maker.size();
    let (go, x) = (maker.input(1), maker.input(bytes));
    let body = maker.graph.body();
    let cases = [Readers::Then, Readers::Else, Readers::Both, Readers::After, Readers::BothAndAfter];
    let mut readers: Vec<Readers> = (0..shared).map(|at| cases[at as usize % cases.len()]).collect();
    readers.shuffle(&mut maker.rng);
    let outer: Vec<TensorId> = readers
        .iter()
        .map(|_| {
            let bytes = maker.size();
            maker.step(body, "Any", &[x], bytes)
        })
        .collect();
    let read_by = |wanted: &[Readers]| -> Vec<TensorId> {
        let pairs = outer.iter().zip(&readers);
        pairs.filter(|(_, one)| wanted.contains(one)).map(|(&tensor, _)| tensor).collect()
    };
    let bytes = maker.size();
    let made = maker.made(bytes);
    let owner = maker.owner(body, "If", &[go], &[made]);
    for (name, only) in [("then", Readers::Then), ("else", Readers::Else)] {
        let region = maker.graph.region(owner, name);
        let reads = read_by(&[only, Readers::Both, Readers::BothAndAfter]);
        let y = gather(&mut maker, region, &reads, operators, bytes);
        maker.close(region, &[], &[y], &[y]);
    }
    let mut reads = read_by(&[Readers::After, Readers::BothAndAfter]);
    reads.push(made);
    let bytes = maker.size();
    let y = maker.step(body, "Any", &reads, bytes);
    maker.finish(&[y])
}

/// Adds a chain of operators that read the given tensors at random positions. The last output has `bytes`
/// bytes.
fn gather(maker: &mut Maker, region: RegionId, reads: &[TensorId], operators: u64, bytes: u64) -> TensorId {
    let mut places: Vec<Vec<TensorId>> = vec![Vec::new(); operators as usize];
    for &tensor in reads {
        let at = maker.rng.random_range(0..places.len());
        places[at].push(tensor);
    }
    let mut last = None;
    for (at, mut reads) in places.into_iter().enumerate() {
        reads.extend(last);
        let bytes = if at as u64 + 1 == operators { bytes } else { maker.size() };
        last = Some(maker.step(region, "Any", &reads, bytes));
    }
    last.expect("there is at least one operator")
}
