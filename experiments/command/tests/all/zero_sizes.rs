//! Tests that instances with buffers of size 0, which some planners write, are read, solved by every
//! algorithm, checked and drawn.

use plimsoll::model::csv::{ReadOptions, read_instance};
use plimsoll::model::{
    Bytes, Claim, Entry, Instance, InstanceProblem, Kind, Observer, Offsets, Outcome, Parameter, Piece,
    Problem, Setup, SharedObjects, Silent, SpillProblem, Spilling, SplitBuffers, load, written_and_read,
};
use plimsoll::run::{Limits, run};
use plimsoll::{Listed, Registry, registry};
use plimsoll_datasets::dsa::read_dsa;
use plimsoll_lab::report::map::Map;
use std::iter;
use std::path::Path;

/// The CSV text of an instance, and the position and the expected offset of every buffer of size 0.
type Case = (&'static str, &'static [(usize, u64)]);

const CSV: &[Case] = &[
    ("id,lower,upper,size\na,0,4,8\nz,0,9,0\nb,2,6,8\n", &[(1, 0)]),
    ("id,lower,upper,size\nz,0,9,0\na,0,4,8\nb,2,6,8\n", &[(0, 0)]),
    ("id,lower,upper,size\na,0,4,8\nb,2,6,8\nz,0,9,0\n", &[(2, 0)]),
    // Never live, live after all others, and only buffers of size 0.
    ("id,lower,upper,size\na,0,4,8\nz,3,3,0\nb,2,6,8\n", &[(1, 0)]),
    ("id,lower,upper,size\na,0,4,8\nz,100,200,0\n", &[(1, 0)]),
    ("id,lower,upper,size\nz,0,4,0\n", &[(0, 0)]),
    ("id,lower,upper,size\ny,0,4,0\nz,0,0,0\n", &[(0, 0), (1, 0)]),
    // Inclusive ends; as written by TVM, and by idealloc for MindSpore.
    ("buffer,begin,end,size\na,0,3,8\nz,0,0,0\ny,1,0,0\nb,2,5,8\n", &[(1, 0), (2, 0)]),
    ("buffer_id,start,end,size\n0,0,3,1024\n1,0,9,0\n2,2,5,512\n", &[(1, 0)]),
    ("id,lower,upper,size\n0,0,12,4096\n1,0,12,0\n2,3,5,0\n3,5,9,512\n", &[(1, 0), (2, 0)]),
    // Alignments, and gaps, which may leave nothing.
    ("id,lower,upper,size,alignment\na,0,4,8,16\nz,0,9,0,4096\nb,2,6,8,16\n", &[(1, 0)]),
    ("id,lower,upper,size,gaps\na,0,9,8,3-5\nz,0,9,0,2-4 6-7\nb,3,5,8,\n", &[(1, 0)]),
    ("id,lower,upper,size,gaps\na,0,9,8,\nz,2,4,0,2-4\n", &[(1, 0)]),
    // Fixed above another, inside another, far outside, and aligned.
    ("id,lower,upper,size,offset\na,0,4,8,\nz,0,9,0,24\nb,2,6,8,0\n", &[(1, 24)]),
    ("id,lower,upper,size,offset\na,0,4,8,0\nz,0,9,0,4\n", &[(1, 4)]),
    ("id,lower,upper,size,offset\na,0,4,8,\nz,0,9,0,18446744073709551615\n", &[(1, u64::MAX)]),
    ("id,lower,upper,size,alignment,offset\na,0,4,6,4,\nz,0,9,0,64,128\nb,0,4,6,4,\n", &[(1, 128)]),
    ("id,lower,upper,size,separations\na,0,4,8,z b\nz,4,9,0,b\nb,6,8,8,\n", &[(1, 0)]),
    ("id,lower,upper,size,exclusions\na,0,4,8,z\nz,0,9,0,b\nb,2,6,8,a\n", &[(1, 0)]),
    ("id,lower,upper,size,hint\na,0,4,8,8\nz,0,9,0,16\nb,2,6,8,-1\n", &[(1, 0)]),
    // Twins, and a crowd.
    ("id,lower,upper,size\nx,0,4,0\ny,0,4,0\na,0,4,8\nb,0,4,8\nz,0,4,0\n", &[(0, 0), (1, 0), (4, 0)]),
    (
        "id,lower,upper,size\na,0,3,3\nb,1,5,5\nz,1,5,0\nc,2,8,4\nd,4,9,2\ny,4,4,0\ne,6,7,6\n",
        &[(2, 0), (5, 0)],
    ),
];

/// Two memory pools of a compiler. Their buffers of size 0 cover several cases: never live, pinned, colocated
/// and separated.
const DSA: &str = r#"{
  "schema_version": 1, "profile": "pypto_research_v1", "instance": "zeros", "metadata": {},
  "problem": {
    "pools": [
      {"id": 0, "name": "Vec", "capacity": 64, "reserved_ranges": [{"begin": 0, "end": 8}]},
      {"id": 1, "name": "Mat", "capacity": null, "reserved_ranges": []}
    ],
    "buffers": [
      {"id": 0, "name": "a", "size": 16, "alignment": 8, "live_intervals": [{"lower": 0, "upper": 5}], "allowed_pools": [0]},
      {"id": 1, "name": "z", "size": 0, "alignment": 8, "live_intervals": [], "allowed_pools": [0]},
      {"id": 2, "name": "y", "size": 0, "alignment": 8, "live_intervals": [{"lower": 2, "upper": 2}], "allowed_pools": [0]},
      {"id": 3, "name": "pinned", "size": 0, "alignment": 8, "live_intervals": [{"lower": 0, "upper": 9}], "allowed_pools": [0]},
      {"id": 4, "name": "b", "size": 16, "alignment": 8, "live_intervals": [{"lower": 5, "upper": 9}], "allowed_pools": [0]},
      {"id": 5, "name": "with-b", "size": 0, "alignment": 8, "live_intervals": [{"lower": 0, "upper": 9}], "allowed_pools": [0]},
      {"id": 6, "name": "alone", "size": 0, "alignment": 1, "live_intervals": [{"lower": 0, "upper": 9}], "allowed_pools": [1]}
    ],
    "constraints": {
      "colocations": [{"first": 4, "second": 5}],
      "separations": [{"first": 0, "second": 1}],
      "temporal_exclusions": [{"first": 1, "second": 2}],
      "pinned_allocations": [{"buffer": 3, "pool": 0, "offset": 4000}]
    },
    "objective": {"aggregation": "lexicographic", "terms": ["total_peak"]}
  }
}"#;

fn csv(text: &str) -> Instance {
    read_instance("t.csv", text.as_bytes(), ReadOptions::default()).unwrap()
}

fn dsa() -> Vec<Instance> {
    let split = read_dsa(Path::new("t.json"), DSA.as_bytes()).unwrap().split().unwrap();
    split.pools.into_iter().map(|pool| pool.instance).collect()
}

/// Returns the instance without its buffers of size 0.
fn sized(instance: &Instance) -> Instance {
    let kept: Vec<_> = instance.ids().filter(|&id| !instance.buffer(id).is_empty()).collect();
    instance.induced(&kept)
}

/// An observer that asserts that every reported solution is valid and has the reported value.
struct Watch<'a>(&'a Instance);

impl<P: InstanceProblem> Observer<P> for Watch<'_> {
    fn incumbent(&mut self, solution: &P::Solution, value: Bytes) {
        assert_eq!(P::check_unlimited(self.0, solution), []);
        assert_eq!(P::value(self.0, solution), value);
    }
}

/// Returns the algorithms, and each algorithm with each of its parameters.
fn with_parameters<P: Problem>(entries: &[&'static Entry<P>]) -> impl Iterator<Item = &'static Entry<P>> {
    entries.iter().flat_map(|entry| {
        let changed = |parameter: Parameter| entry.with(parameter.name).unwrap();
        iter::once(*entry).chain(entry.parameters().into_iter().map(changed))
    })
}

fn solved<P: InstanceProblem>(entry: &Entry<P>, instance: &Instance) -> Outcome<P> {
    let limits = Limits { nodes: Some(20_000), ..Limits::default() };
    let outcome = run(entry, instance, Setup::default(), limits, &mut Watch(instance));
    outcome.unwrap_or_else(|error| panic!("{} {} on {instance:?}: {error}", P::NAME, entry.name))
}

fn spilled(entry: &Entry<Spilling>, problem: &SpillProblem) -> Outcome<Spilling> {
    run(entry, problem, Setup::default(), Limits::default(), &mut Silent)
        .unwrap_or_else(|error| panic!("{}: {error}", entry.name))
}

/// Runs all algorithms on the instance with and without its buffers of size 0. Values, bounds and claims must
/// be equal, and every memory map must show all buffers.
fn everywhere<P: InstanceProblem + Listed>(registry: &Registry, instance: &Instance) {
    let part = sized(instance);
    for entry in with_parameters(P::entries(registry)) {
        let (whole, without) = (solved(entry, instance), solved(entry, &part));
        assert_eq!(whole.value, without.value, "{} on {instance:?}", entry.name);
        assert_eq!(whole.lower_bound.value, without.lower_bound.value, "{}", entry.name);
        assert_eq!(whole.claim, without.claim, "{}", entry.name);
        let Some(solution) = &whole.solution else { continue };
        let mut written = Vec::new();
        P::rows(instance, solution).write(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap().lines().count(), instance.len() + 1);
        draw::<P>(instance, &P::pieces(instance, solution));
    }
}

fn draw<P: InstanceProblem>(instance: &Instance, pieces: &[Vec<Piece>]) {
    let (problem, bound) = (P::NAME, Bytes::ZERO);
    let map = Map::new(instance, problem, "x", pieces, bound);
    let mut text = Vec::new();
    map.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains("=\"-"), "{text}");
    assert_eq!(text.matches("<title>").count(), instance.len());
}

#[test]
fn buffers_of_size_zero_are_solved_by_every_algorithm() {
    let registry = registry();
    assert!(CSV.len() >= 20);
    for &(text, empty) in CSV {
        let instance = csv(text);
        assert!(instance.has_empty(), "{text}");
        everywhere::<Offsets>(&registry, &instance);
        everywhere::<SplitBuffers>(&registry, &instance);
        everywhere::<SharedObjects>(&registry, &instance);
        for entry in &registry.offsets {
            let layout = solved(entry, &instance).solution.unwrap();
            for &(at, offset) in empty {
                assert_eq!(layout.offsets()[at].get(), offset, "{text}: {}", entry.name);
            }
        }
    }
}

#[test]
fn documents_with_buffers_of_size_zero_are_solved() {
    let registry = registry();
    let instances = dsa();
    assert_eq!(instances.len(), 2);
    for instance in &instances {
        everywhere::<Offsets>(&registry, instance);
        everywhere::<SplitBuffers>(&registry, instance);
        everywhere::<SharedObjects>(&registry, instance);
    }
    // 'b' and 'with-b' form one buffer of 16 bytes with the lifespan of 'b'. This buffer may reuse the memory
    // of 'a'.
    let best = registry.offsets.iter().find(|entry| entry.name == "exact").unwrap();
    assert_eq!(solved(best, &instances[0]).value, Some(Bytes::new(24)));
}

#[test]
fn buffers_of_size_zero_are_never_spilled() {
    let registry = registry();
    let problems = CSV.iter().map(|&(text, _)| csv(text)).chain(dsa());
    for instance in problems {
        let capacity = load(&instance).0.get() / 2;
        let instance = instance.with_capacity(Some(Bytes::new(capacity)));
        let problem = SpillProblem::written_and_read(instance.clone()).unwrap();
        let part = SpillProblem::written_and_read(sized(&instance)).unwrap();
        for entry in &registry.spilling {
            let (whole, without) = (spilled(entry, &problem), spilled(entry, &part));
            assert_eq!(whole.value, without.value, "{} on {instance:?}", entry.name);
            let solution = whole.solution.unwrap();
            assert!(solution.spilled().all(|id| !instance.buffer(id).is_empty()), "{}", entry.name);
        }
    }
}

/// Instances with contradictory fixed offsets, each with the buffers that the proof names.
const PINS: &[(&str, &[&str])] = &[
    ("id,lower,upper,size,offset\na,0,4,8,0\nb,2,6,8,4\nc,0,9,8,\n", &["a", "b"]),
    ("id,lower,upper,size,offset\nz,0,9,0,3\nc,0,9,8,\na,0,4,8,10\nb,2,6,8,4\n", &["a", "b"]),
    ("id,lower,upper,size,offset,separations\na,0,2,8,0,b\nb,4,6,8,7,\n", &["a", "b"]),
    ("id,lower,upper,size,gaps,offset\na,0,9,8,3-5,0\nb,3,6,8,,0\n", &["a", "b"]),
];

#[test]
fn every_algorithm_proves_contradictory_fixed_offsets_infeasible() {
    let registry = registry();
    for (text, names) in PINS {
        for capacity in [None, Some(4), Some(1 << 40), Some(u64::MAX)] {
            let instance = csv(text).with_capacity(capacity.map(Bytes::new));
            refuted::<Offsets>(&registry, &instance, names);
            refuted::<SplitBuffers>(&registry, &instance, names);
        }
        // Shared objects have no addresses.
        for entry in &registry.shared_objects {
            assert!(matches!(solved(entry, &csv(text)).claim, Claim::Feasible | Claim::Optimal));
        }
    }
}

fn refuted<P: InstanceProblem + Listed>(registry: &Registry, instance: &Instance, names: &[&str]) {
    for entry in with_parameters(P::entries(registry)) {
        let outcome = solved(entry, instance);
        assert_eq!(outcome.claim, Claim::Infeasible, "{}", entry.name);
        let reason = P::explain(instance, &outcome.lower_bound.witness);
        assert!(names.iter().all(|name| reason.contains(&format!("'{name}'"))), "{reason}");
    }
}

#[test]
fn every_algorithm_proves_a_fixed_end_above_the_capacity_infeasible() {
    let registry = registry();
    let instance =
        csv("id,lower,upper,size,offset\na,0,4,8,4\nb,2,6,1,0\n").with_capacity(Some(Bytes::new(11)));
    refuted::<Offsets>(&registry, &instance, &["a"]);
    refuted::<SplitBuffers>(&registry, &instance, &["a"]);
}

#[test]
fn one_of_two_contradictory_fixed_offsets_is_spilled() {
    let registry = registry();
    for &(text, names) in PINS {
        let instance = csv(text).with_capacity(Some(Bytes::new(1000)));
        let ids: Vec<_> = instance.ids().filter(|&id| names.contains(&instance.buffer(id).name())).collect();
        let problem = SpillProblem::written_and_read(instance.clone()).unwrap();
        let mut kept = written_and_read(&instance);
        for id in ids {
            kept[id.index()] = None;
        }
        let stuck = SpillProblem::new(instance, kept).unwrap();
        for entry in &registry.spilling {
            let outcome = spilled(entry, &problem);
            assert_eq!(outcome.value, Some(Bytes::new(16)), "{}", entry.name);
            let expected = if entry.kind == Kind::Exact { Claim::Infeasible } else { Claim::Unknown };
            assert_eq!(spilled(entry, &stuck).claim, expected, "{}", entry.name);
        }
    }
}

#[test]
fn the_largest_sizes_are_solved_by_every_algorithm() {
    let registry = registry();
    let half = (1u64 << 62) - 1;
    for text in [
        "id,lower,upper,size\na,0,4,9223372036854775807\n".to_owned(),
        "id,lower,upper,size\na,0,4,9223372036854775806\nb,2,4,1\n".to_owned(),
        format!("id,lower,upper,size\na,0,4,{half}\nb,2,5,{half}\nc,4,6,1\n"),
    ] {
        let instance = csv(&text);
        for entry in with_parameters(&registry.offsets) {
            let limits = Limits { nodes: Some(20_000), ..Limits::default() };
            match run(entry, &instance, Setup::default(), limits, &mut Watch(&instance)) {
                Ok(outcome) => assert!(outcome.value >= Some(load(&instance).0), "{}", entry.name),
                // The numbers are too large for floating-point arithmetic.
                Err(error) => {
                    assert!(error.to_string().contains("does not support"), "{}: {error}", entry.name);
                }
            }
        }
    }
}
