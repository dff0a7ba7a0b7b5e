//! Built-in suites of instances and graphs, which need no files.
//!
//! Their content and order never change. An instance is named after its family and parameters. After a
//! [stop request](plimsoll_support::interrupt), a suite lacks its last members.

use crate::control_cases::ControlCase;
use crate::graphs::GraphFamily;
use crate::{
    AttributedParams, Family, GenerateError, Generated, PackingParams, attributed, perfect_packing, refilled,
    reversed, thinned, welded, worked_examples,
};
use plimsoll_model::graph::Graph;
use plimsoll_model::{Bytes, Instance};
use plimsoll_support::interrupt::until_requested;
use std::collections::BTreeMap;

/// Generates an instance of a family with these parameters.
fn generated(family: &str, seed: u64, params: &[(&str, u64)]) -> Generated {
    tried(family, seed, params).expect("parameters in range")
}

fn tried(family: &str, seed: u64, params: &[(&str, u64)]) -> Result<Generated, GenerateError> {
    let family = Family::named(family).expect("a family");
    let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    family.generate(seed, &params)
}

fn called(made: Generated, name: &str) -> Instance {
    made.instance().expect("sizes in range").with_name(name)
}

/// Names of the packings in suites, with their families.
const PACKINGS: [(&str, &str); 2] = [("guillotine", "guillotine"), ("perfect", "packing")];

/// The height in bytes of the rectangles in packing suites, and therefore the optimum of their instances.
const HEIGHT: u64 = 1 << 20;

/// Cuts a rectangle of 2^20 bytes into `buffers` buffers.
fn packing(family: &str, buffers: u64, seed: u64, name: &str) -> Instance {
    called(generated(family, seed, &[("buffers", buffers), ("bytes", HEIGHT)]), name)
}

fn guillotine(buffers: u64, seed: u64) -> Instance {
    packing("guillotine", buffers, seed, &format!("guillotine-{buffers}-{seed}"))
}

/// Returns the seeds, in ascending order, for which the generator proves that there is no layout at the load.
/// Each seed comes with its instance.
fn above_load(params: &[(&str, u64)]) -> impl Iterator<Item = (u64, Generated)> {
    let made = until_requested(0..1000).map_while(move |seed| match tried("above-load", seed, params) {
        Err(GenerateError::Interrupted) => None,
        made => Some((seed, made.expect("parameters in range"))),
    });
    let bytes = params.iter().find(|(name, _)| *name == "bytes").map_or(1 << 18, |&(_, bytes)| bytes);
    made.filter(move |(_, made)| made.at_least > Some(Bytes::new(bytes)))
}

/// Generates the graphs of a list. Each line contains a family and its options `--seed N` and `--param
/// NAME=VALUE`, as in `generate`.
fn graphs(list: &str) -> Vec<Graph> {
    let graph = |line: &str| {
        let mut words = line.split_whitespace();
        let family = words.next().and_then(GraphFamily::named).expect("a family");
        let (mut seed, mut params) = (0, BTreeMap::new());
        while let (Some(option), Some(value)) = (words.next(), words.next()) {
            let number = |text: &str| text.parse::<u64>().expect("a number");
            match value.split_once('=') {
                Some((name, value)) => drop(params.insert(name.to_owned(), number(value))),
                None => seed = if option == "--seed" { number(value) } else { seed },
            }
        }
        family.generate(seed, &params).expect("parameters in range")
    };
    until_requested(list.lines()).map(graph).collect()
}

/// Returns small sequential and irregular networks, and graphs with branches.
///
/// # Panics
/// Never: all parameters are in range.
pub fn graph_suite() -> Vec<Graph> {
    let branched = ["cond-in-cond", "if-three-deep"].into_iter().filter_map(ControlCase::named);
    let networks = graphs("lenet5\nresnet18\ninception\ndarts");
    networks.into_iter().chain(branched.map(|case| (case.build)())).collect()
}

/// Returns synthetic graphs, published networks, random wirings and language models. Most of them have many
/// possible orders.
///
/// # Panics
/// Never: all parameters are in range.
pub fn networks_suite() -> Vec<Graph> {
    graphs(include_str!("../data/networks.txt"))
}

/// Returns networks with fusion opportunities, and the networks of the cross-unit fusion paper with 8-bit
/// elements.
///
/// # Panics
/// Never: all parameters are in range.
pub fn accelerated_suite() -> Vec<Graph> {
    graphs(include_str!("../data/accelerated.txt"))
}

/// Returns the worked examples, perfect packings of 20 to 400 buffers, instances whose optimum exceeds the
/// load, and random instances. The last two instances are a reversed and a thinned packing.
///
/// # Panics
/// Never: all parameters are in range.
pub fn embedded_suite() -> Vec<Instance> {
    let mut suite: Vec<Instance> = worked_examples().into_iter().map(|worked| worked.instance).collect();
    for buffers in [20, 50, 100, 200, 400] {
        for (name, family) in PACKINGS {
            suite.push(packing(family, buffers, 1, &format!("{name}-{buffers}")));
        }
    }
    for buffers in [20, 40, 80, 120] {
        // About half of the seeds have a proof.
        let made = above_load(&[("buffers", buffers)]).next();
        suite.extend(made.map(|(_, made)| called(made, &format!("above-load-{buffers}"))));
    }
    let laws: [(&str, &[(&str, u64)]); 3] = [
        ("uniform", &[("max_duration", 40), ("sizes", 1)]),
        ("heavy-tailed", &[("min_duration", 2)]),
        ("stack", &[]),
    ];
    for (law, params) in laws {
        let made = generated(law, 1, &[&[("buffers", 200)], params].concat());
        suite.push(called(made, &format!("random-{law}-200")));
    }
    let whole = packing("packing", 100, 2, "perfect-100");
    suite.push(reversed(&whole).with_name("perfect-100-reversed"));
    suite.push(thinned(&whole, 0.9, 1).expect("a share").with_name("perfect-100-thinned"));
    suite
}

/// Returns guillotine packings of increasing size, with three seeds each. They show how far an exact
/// algorithm scales.
pub fn scaling_suite() -> Vec<Instance> {
    let sizes = [20, 30, 40, 60, 80, 120, 160, 200];
    sizes.into_iter().flat_map(|buffers| (1..=3).map(move |seed| guillotine(buffers, seed))).collect()
}

/// Returns eight guillotine packings of 100 buffers for ablation studies.
pub fn ablation_suite() -> Vec<Instance> {
    (1..=8).map(|seed| guillotine(100, seed)).collect()
}

/// Returns perfect packings of 50 to 400 buffers. For every size, there are two packings with only
/// edge-to-edge cuts, and two that also have pinwheels. The optimum is their capacity. To reach it, an
/// algorithm must fill a rectangle without a hole.
pub fn packings_suite() -> Vec<Instance> {
    let mut suite = Vec::new();
    for buffers in [50, 100, 200, 400] {
        for (name, family) in PACKINGS {
            for seed in 1..=2 {
                let instance = packing(family, buffers, seed, &format!("{name}-{buffers}-{seed}"));
                suite.push(instance.with_capacity(Some(Bytes::new(HEIGHT))));
            }
        }
    }
    suite
}

/// Returns the first two instances that provably have no layout at the load, named `NAME-SEED`.
fn two_above_load(name: &str, params: &[(&str, u64)]) -> Vec<Instance> {
    above_load(params).take(2).map(|(seed, made)| called(made, &format!("{name}-{seed}"))).collect()
}

/// Returns instances of 20 to 120 buffers whose optimum provably exceeds the load. They test lower bounds.
///
/// About eight buffers are simultaneously live. There are three variants. In the first, two or three buffers
/// end at the same step. In the second, about seven buffers are live at each step, and only the last exchange
/// of buffers rules out a layout at the load. In the third, five or six buffers end at the same step, and
/// their sizes must add up to those of the buffers that replace them.
pub fn above_load_suite() -> Vec<Instance> {
    let laws: [(&str, &[(&str, u64)]); 3] = [
        ("free", &[("alive", 8)]),
        ("late", &[("alive", 7), ("late", 1)]),
        ("sums", &[("alive", 8), ("turnover", 6)]),
    ];
    let mut suite = Vec::new();
    for (law, params) in laws {
        for buffers in [20, 40, 60, 80, 100, 120] {
            let params = [&[("buffers", buffers), ("bytes", HEIGHT)], params].concat();
            suite.extend(two_above_load(&format!("above-load-{law}-{buffers}"), &params));
        }
    }
    suite
}

/// Returns instances like those of [`above_load_suite`] with nine to twelve simultaneously live buffers and
/// 60 to 120 buffers in total. Two or three buffers end at the same step. Sizes are multiples of 1/64 of the
/// load in one variant, and arbitrary in the other.
pub fn above_load_wide_suite() -> Vec<Instance> {
    let mut suite = Vec::new();
    for live in [9, 10, 11, 12] {
        for (sizes, unit) in [("coarse", 1 << 14), ("fine", 1)] {
            for buffers in [60, 90, 120] {
                let params = [("buffers", buffers), ("alive", live), ("bytes", HEIGHT), ("unit", unit)];
                suite.extend(two_above_load(&format!("above-load-wide-{live}-{sizes}-{buffers}"), &params));
            }
        }
    }
    suite
}

/// Returns `recombined` instances in order of difficulty, two per choice of parameters. The optima of the
/// first ones are easy to prove, and those of the last ones are open. In `recombined-K-SEED`, about K
/// buffers are live at each of the 14 to 30 steps.
///
/// # Panics
/// Never: all parameters are in range.
pub fn recombined_suite() -> Vec<Instance> {
    let rows = [(8, 14, 70), (10, 16, 70), (12, 20, 70), (13, 22, 72), (14, 24, 75), (16, 24, 75)];
    let open = [(20, 26, 75), (24, 30, 75)];
    let made = |(alive, steps, share)| {
        (1..=2).map(move |seed| {
            let params = [("alive", alive), ("steps", steps), ("continue", share)];
            called(generated("recombined", seed, &params), &format!("recombined-{alive}-{seed}"))
        })
    };
    until_requested(rows.into_iter().chain(open)).flat_map(made).collect()
}

/// Returns the kinds of attributes of [`attributed_suite`], for a packing of this many buffers.
fn kinds(buffers: usize) -> [(&'static str, AttributedParams); 10] {
    let (none, many, few) = (AttributedParams::NONE, buffers.div_ceil(10), buffers.div_ceil(20));
    let mixed = AttributedParams {
        aligned: 20,
        ragged: 50,
        groups: few,
        pins: few,
        gaps: many,
        binding_gaps: few,
        separations: few,
        exclusions: few,
        binding_exclusions: few,
        ..none
    };
    [
        ("aligned", AttributedParams { aligned: 50, ..none }),
        ("ragged", AttributedParams { aligned: 100, ragged: 100, alignment: 1024, ..none }),
        ("gaps", AttributedParams { gaps: buffers / 5, gap_steps: 4, ..none }),
        ("binding-gaps", AttributedParams { binding_gaps: many, ..none }),
        ("groups", AttributedParams { groups: many, ..none }),
        ("pins", AttributedParams { pins: many, ..none }),
        ("separations", AttributedParams { separations: many, ..none }),
        ("exclusions", AttributedParams { exclusions: many, ..none }),
        ("binding-exclusions", AttributedParams { binding_exclusions: many, ..none }),
        ("mixed", mixed),
    ]
}

/// Returns perfect packings with drawn [attributes](attributed()), named `attributed-KIND-BUFFERS`. Their
/// capacity, the height of the packing, is feasible. Without gaps and exclusions, it is the optimum.
///
/// # Panics
/// Never: all parameters are in range.
pub fn attributed_suite() -> Vec<Instance> {
    let made = |buffers: usize| {
        let packing = perfect_packing(PackingParams::with_buffers(buffers as u64), 1).expect("in range");
        kinds(buffers).into_iter().map(move |(kind, params)| {
            let made = attributed(&packing.instance, &packing.layout, &params, 1);
            made.expect("the layout is valid").0.with_name(format!("attributed-{kind}-{buffers}"))
        })
    };
    ATTRIBUTED_BUFFERS.into_iter().flat_map(made).collect()
}

/// The numbers of buffers in [`attributed_suite`], before attributes are drawn.
const ATTRIBUTED_BUFFERS: [usize; 2] = [16, 32];

/// Returns three variants `X-refilled-SEED` whose slack below the load is filled.
///
/// # Panics
/// If the sizes exceed the address space.
pub fn derived_refilled(instance: &Instance) -> Vec<Instance> {
    (1..=3).map(|seed| refilled(instance, None, seed).expect("sizes in range")).collect()
}

/// Returns the instance `X-welded-1` with buffers joined end to end, or nothing if no two buffers can be
/// joined.
pub fn derived_welded(instance: &Instance) -> Vec<Instance> {
    let joined = welded(instance, 1);
    if joined.len() < instance.len() { vec![joined] } else { Vec::new() }
}

/// Returns the instance with reversed time, named `X-reversed`. The capacity stays the same.
pub fn derived_reversed(instance: &Instance) -> Vec<Instance> {
    vec![reversed(instance).with_name(format!("{}-reversed", instance.name()))]
}

/// Percentages of the buffers that thinned variants keep.
const KEPT_PERCENT: [u8; 2] = [98, 95];

/// Returns two thinned variants. Each buffer is kept with probability 0.98 in `X-thinned-98`, and with
/// probability 0.95 in `X-thinned-95`. The capacity stays the same. The percentage is the seed.
///
/// # Panics
/// Never: the probabilities are valid.
pub fn derived_thinned(instance: &Instance) -> Vec<Instance> {
    let thin = |percent: u8| {
        let part = thinned(instance, f64::from(percent) / 100.0, u64::from(percent)).expect("a share");
        part.with_name(format!("{}-thinned-{percent}", instance.name()))
    };
    KEPT_PERCENT.into_iter().map(thin).collect()
}

const LARGE: [&str; 8] =
    ["uniform", "log-uniform", "heavy-tailed", "stack", "trace", "training", "packing", "guillotine"];

/// Returns instances of eight [families](crate::FAMILIES) with ten thousand, a hundred thousand and a
/// million buffers. They need about a gigabyte of memory.
pub fn large_suite() -> Vec<Instance> {
    families(&[10_000, 100_000, 1_000_000])
}

fn families(sizes: &[u64]) -> Vec<Instance> {
    let all = LARGE.into_iter().flat_map(|family| sizes.iter().map(move |&buffers| (family, buffers)));
    let made = |(family, buffers)| {
        called(generated(family, 1, &[("buffers", buffers)]), &format!("{family}-{buffers}"))
    };
    until_requested(all).map(made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::load;
    use std::collections::BTreeSet;

    #[test]
    fn suites_are_stable_and_their_names_are_unique() {
        let suites = [
            embedded_suite,
            scaling_suite,
            ablation_suite,
            packings_suite,
            recombined_suite,
            attributed_suite,
        ];
        for make in suites {
            check(&make(), &make());
        }
        check(&families(&[50, 2000]), &families(&[50, 2000]));
        check(&hard(), &hard());
    }

    #[test]
    #[ignore = "takes two minutes"]
    fn suites_above_the_load_are_stable_and_their_names_are_unique() {
        for make in [above_load_suite, above_load_wide_suite] {
            check(&make(), &make());
        }
    }

    #[test]
    fn packings_are_to_be_filled() {
        for instance in packings_suite() {
            assert_eq!(load(&instance).0, instance.capacity().unwrap());
        }
    }

    #[test]
    fn what_construction_proves_is_no_less_than_the_load() {
        for params in [[("buffers", 40), ("late", 0)], [("buffers", 40), ("late", 1)]] {
            for (_, made) in above_load(&params).take(2) {
                let least = made.at_least.unwrap();
                assert!(least > load(&made.instance().unwrap()).0);
            }
        }
        for family in LARGE {
            let made = generated(family, 1, &[("buffers", 2000)]);
            let most = made.at_most;
            assert!(most.is_none_or(|most| most >= load(&made.instance().unwrap()).0), "{family}");
        }
    }

    #[test]
    fn derived_instances_keep_capacity_and_origin() {
        let origin = &packings_suite()[2];
        let back = derived_reversed(origin);
        assert_eq!(back.len(), 1);
        assert_eq!(back[0].name(), format!("{}-reversed", origin.name()));
        assert_eq!((back[0].len(), back[0].capacity()), (origin.len(), origin.capacity()));
        let thin = derived_thinned(origin);
        let names: Vec<&str> = thin.iter().map(Instance::name).collect();
        assert_eq!(names, ["98", "95"].map(|kept| format!("{}-thinned-{kept}", origin.name())));
        for part in &thin {
            assert!(part.len() < origin.len() && part.len() > origin.len() * 8 / 10);
            assert_eq!(part.capacity(), origin.capacity());
        }
        assert_eq!(thin, derived_thinned(origin));
    }

    #[test]
    fn refilled_and_welded_variants_keep_the_load() {
        let origin = &hard()[0];
        let full = derived_refilled(&thinned(origin, 0.8, 1).unwrap());
        let names: Vec<&str> = full.iter().map(Instance::name).collect();
        assert_eq!(names, [1, 2, 3].map(|seed| format!("{}-thinned-1-refilled-{seed}", origin.name())));
        assert!(full.iter().all(|one| load(one).0 == load(&full[0]).0 && one.capacity().is_none()));
        assert!(derived_welded(&worked_examples()[0].instance).len() <= 1);
    }

    /// Returns the first instances of [`above_load_suite`].
    fn hard() -> Vec<Instance> {
        two_above_load("hard", &[("buffers", 20), ("bytes", HEIGHT), ("alive", 8)])
    }

    fn check(suite: &[Instance], again: &[Instance]) {
        assert_eq!(suite, again);
        let names: BTreeSet<&str> = suite.iter().map(Instance::name).collect();
        assert_eq!(names.len(), suite.len());
    }
}
