//! Tests that generated graphs with control flow are valid, that all their operators with regions have a
//! control kind, and that the graphs have the intended features.

use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_datasets::{CORPORA_VARIABLE, ImportOptions, import_file};
use plimsoll_model::graph::{AliasKind, Control, Graph, MAX_DEPTH, Role, read_graph, write_graph};
use plimsoll_model::{OperatorId, RegionId, TensorId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FAMILIES: [&str; 5] = ["nested-if", "unbalanced-if", "shared-if", "loops", "control-mix"];

fn make(family: &str, seed: u64, list: &[(&str, u64)]) -> Graph {
    let params = list.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    GraphFamily::named(family).unwrap().generate(seed, &params).unwrap()
}

fn operators(graph: &Graph) -> impl Iterator<Item = OperatorId> {
    (0..graph.operators().len()).map(OperatorId::at)
}

fn regions(graph: &Graph) -> impl Iterator<Item = RegionId> {
    (0..graph.regions().len()).map(RegionId::at)
}

/// Checks that every operator with regions has a control kind, and that its regions connect to its inputs and
/// outputs.
fn check(graph: &Graph) {
    for id in operators(graph) {
        let operator = graph.operator(id);
        let flow = graph.flow(id).unwrap_or_else(|error| panic!("{}: {error}", graph.name()));
        assert_eq!(flow.is_some(), !operator.regions.is_empty());
        let Some(flow) = flow else { continue };
        for &region in &operator.regions {
            let last = Some(&region) == operator.regions.last();
            for input in &graph.region(region).inputs {
                let ahead = operator.kind == "Loop" && graph.region(region).inputs[..2].contains(input);
                assert!(ahead || flow.handovers.iter().any(|h| h.to == *input), "{}", graph.name());
            }
            let skip = usize::from(flow.control == Control::Loop && operator.kind == "Loop" || !last);
            for output in graph.region(region).outputs.iter().skip(skip) {
                assert!(flow.handovers.iter().any(|h| h.from == *output), "{}", graph.name());
            }
        }
        for output in &operator.outputs {
            assert!(flow.handovers.iter().any(|h| h.to == *output), "{}", graph.name());
        }
    }
    // File order is topological, and names are the intended ones.
    for region in regions(graph) {
        assert_eq!(graph.file_order(region), graph.region(region).operators);
    }
    assert!(graph.tensors().iter().all(|tensor| !tensor.name.contains('~')));
}

fn depth(graph: &Graph, region: RegionId) -> usize {
    graph.region(region).owner.map_or(0, |owner| 1 + depth(graph, graph.home(owner)))
}

fn deepest(graph: &Graph) -> usize {
    regions(graph).map(|region| depth(graph, region)).max().unwrap()
}

fn written(graph: &Graph) -> Vec<u8> {
    let mut text = Vec::new();
    write_graph(graph, &mut text).unwrap();
    text
}

#[test]
fn every_seed_makes_a_graph_that_can_be_run() {
    for family in FAMILIES {
        for seed in 0..300 {
            let graph = make(family, seed, &[]);
            check(&graph);
            if seed % 10 == 0 {
                let text = written(&graph);
                assert_eq!(graph, make(family, seed, &[]));
                assert_eq!(read_graph(Path::new("g.json"), text.as_slice()).unwrap(), graph);
            }
        }
    }
}

#[test]
fn mixtures_are_small_by_default() {
    let mut above = 0;
    for seed in 0..1000 {
        let count = make("control-mix", seed, &[]).tensors().len();
        assert!((10..48).contains(&count), "seed {seed}: {count}");
        above += usize::from(count > 40);
        let none = make("control-mix", seed, &[("control", 0)]);
        assert_eq!((none.regions().len(), none.operators().len()), (1, 9));
    }
    assert!(above < 5, "{above}");
    let large = make("control-mix", 1, &[("operators", 5000), ("depth", 8)]);
    check(&large);
    assert!((5000..10_000).contains(&large.operators().len()), "{}", large.operators().len());
    assert!((6..=8).contains(&deepest(&large)), "{}", deepest(&large));
    let deep = make("control-mix", 1, &[("operators", 3000), ("control", 90), ("depth", 24)]);
    check(&deep);
    assert!((12..=MAX_DEPTH).contains(&deepest(&deep)), "{}", deepest(&deep));
    assert_eq!(read_graph(Path::new("g.json"), written(&deep).as_slice()).unwrap(), deep);
}

#[test]
fn extremes_are_graphs() {
    for seed in 0..40 {
        for family in FAMILIES {
            check(&make(family, seed, &[("operators", 1)]));
            check(&make(family, seed, &[("bytes", 1), ("spread", 100)]));
        }
        let flat = make("nested-if", seed, &[("depth", 0)]);
        assert_eq!((flat.regions().len(), flat.operators().len()), (1, 3));
        let mixed = make("control-mix", seed, &[("depth", 0)]);
        assert_eq!(mixed.regions().len(), 1);
        let deep = make("nested-if", seed, &[("depth", MAX_DEPTH as u64), ("operators", 1)]);
        check(&deep);
        assert_eq!(deepest(&deep), MAX_DEPTH);
        assert_eq!(read_graph(Path::new("g.json"), written(&deep).as_slice()).unwrap(), deep);
        check(&make("loops", seed, &[("captured", 0), ("rows", 0), ("carried", 1), ("loops", 1)]));
        check(&make("shared-if", seed, &[("shared", 1)]));
    }
    for (family, name) in [("nested-if", "depth"), ("control-mix", "depth"), ("loops", "rows")] {
        let family = GraphFamily::named(family).unwrap();
        assert!(family.generate(0, &[(name.to_owned(), 1 << 20)].into()).is_err());
    }
}

/// Returns the total bytes of the outputs of operators in a region, except for the results of the region.
fn temporaries(graph: &Graph, region: RegionId) -> u64 {
    let made = graph.region(region).operators.iter().flat_map(|&id| &graph.operator(id).outputs);
    let own = made.filter(|t| !graph.region(region).outputs.contains(t));
    own.map(|&t| graph.tensor(t).bytes.get()).sum()
}

#[test]
fn parameters_determine_the_graph() {
    for seed in 0..50 {
        let nested = make("nested-if", seed, &[("depth", 4), ("operators", 6), ("spread", 0), ("bytes", 64)]);
        assert_eq!((deepest(&nested), nested.regions().len()), (4, 9));
        for region in regions(&nested) {
            let list = nested.region(region).operators.iter();
            assert_eq!(list.filter(|&&id| nested.operator(id).regions.is_empty()).count(), 6);
        }
        let sizes: BTreeSet<u64> = nested.tensors().iter().map(|t| t.bytes.get()).collect();
        assert_eq!(sizes, BTreeSet::from([1, 64]));
        let spread = make("nested-if", seed, &[("bytes", 1000), ("spread", 20)]);
        assert!(spread.tensors()[1..].iter().all(|t| (800..=1200).contains(&t.bytes.get())));

        let graph = make("unbalanced-if", seed, &[("ratio", 5), ("ifs", 4)]);
        let owners: Vec<OperatorId> =
            operators(&graph).filter(|&id| !graph.operator(id).regions.is_empty()).collect();
        assert_eq!(owners.len(), 4);
        for id in owners {
            let list = &graph.operator(id).regions;
            let [a, b] = [temporaries(&graph, list[0]), temporaries(&graph, list[1])];
            assert_eq!(a.max(b), 5 * a.min(b));
        }

        let graph = make("loops", seed, &[("loops", 5), ("carried", 3), ("captured", 4), ("rows", 2)]);
        let kinds: Vec<&str> =
            graph.operators().iter().filter(|o| !o.regions.is_empty()).map(|o| o.kind.as_str()).collect();
        assert!(kinds == ["Loop", "WHILE", "Loop", "WHILE", "Loop"] || kinds.first() == Some(&"WHILE"));
        let loops = kinds.iter().filter(|&&kind| kind == "Loop").count();
        let parts = operators(&graph).filter_map(|id| graph.flow(id).unwrap()).flat_map(|f| f.handovers);
        let parts: Vec<_> = parts.filter(|h| h.part).collect();
        assert_eq!(parts.len(), 2 * loops);
        for row in parts {
            assert_eq!(graph.tensor(row.to).bytes.get(), 4 * graph.tensor(row.from).bytes.get());
        }
        // The bodies of `Loop` operators read captured tensors directly. `WHILE` operators pass them as
        // inputs.
        for id in operators(&graph).filter(|&id| !graph.operator(id).regions.is_empty()) {
            let operator = graph.operator(id);
            let inside = graph.reads(id).len() - operator.inputs.len();
            assert_eq!(inside, if operator.kind == "Loop" { 4 } else { 0 });
        }
    }
}

#[test]
fn shared_tensors_are_read_in_every_way() {
    for seed in 0..50 {
        let graph = make("shared-if", seed, &[("shared", 5), ("operators", 4)]);
        let owner = operators(&graph).find(|&id| !graph.operator(id).regions.is_empty()).unwrap();
        let inside = |tensor: TensorId, region: RegionId| {
            graph.consumers(tensor).iter().any(|&reader| graph.home(reader) == region)
        };
        let [then, other] = graph.operator(owner).regions[..] else { panic!("two branches") };
        let outer = (0..graph.tensors().len()).map(TensorId::at);
        let outer = outer.filter(|&t| graph.place(t) == Graph::BODY && graph.tensor(t).bytes.get() > 1);
        let ways: Vec<[bool; 3]> = outer
            .filter(|&t| graph.producer(t).is_some_and(|id| id != owner))
            .filter(|&t| graph.tensor(t).role != Role::Output)
            .map(|t| [inside(t, then), inside(t, other), inside(t, Graph::BODY)])
            .collect();
        let all = BTreeSet::from([
            [true, false, false],
            [false, true, false],
            [true, true, false],
            [false, false, true],
            [true, true, true],
        ]);
        assert_eq!((ways.len(), ways.into_iter().collect::<BTreeSet<_>>()), (5, all), "seed {seed}");
    }
}

/// Adds the features that occur in a mixture to `seen`.
fn features(graph: &Graph, seen: &mut BTreeSet<String>) {
    for id in operators(graph) {
        let operator = graph.operator(id);
        for alias in &operator.aliases {
            let kind = if alias.kind == AliasKind::View { "view" } else { "in place" };
            let outer = graph.place(alias.input) != graph.home(id);
            seen.insert(format!("{kind} of {}", if outer { "outer" } else { "own" }));
        }
        if operator.outputs.is_empty() {
            seen.insert("nothing made".to_owned());
        }
        if operator.scratch.get() > 0 {
            seen.insert("scratch".to_owned());
        }
        let home = graph.region(graph.home(id));
        for tensor in &operator.outputs {
            let used = !graph.consumers(*tensor).is_empty() || home.outputs.contains(tensor);
            if !used {
                seen.insert("unused".to_owned());
            }
        }
        for tensor in &operator.inputs {
            let role = graph.tensor(*tensor).role;
            if graph.home(id) != Graph::BODY && matches!(role, Role::State | Role::Weight) {
                seen.insert(format!("{role} read inside"));
            }
        }
        if operator.regions.is_empty() {
            continue;
        }
        seen.insert(format!("{} of {}", operator.kind, operator.regions.len()));
        let follows = home.operators.iter().skip_while(|&&one| one != id).nth(1);
        if follows.is_some_and(|&next| !graph.operator(next).regions.is_empty()) {
            seen.insert("two in a row".to_owned());
        }
        for &region in &operator.regions {
            results(graph, region, seen);
        }
        let handovers = graph.flow(id).unwrap().unwrap().handovers;
        if handovers.iter().any(|h| h.part) {
            seen.insert(format!("rows of {}", operator.kind));
        }
        if handovers.iter().any(|h| !h.part && graph.tensor(h.from).bytes != graph.tensor(h.to).bytes) {
            seen.insert("results of two sizes".to_owned());
        }
    }
}

fn results(graph: &Graph, region: RegionId, seen: &mut BTreeSet<String>) {
    let list = graph.region(region);
    seen.insert(format!("depth {}", depth(graph, region)));
    if list.operators.is_empty() {
        seen.insert("empty region".to_owned());
    }
    for (at, &output) in list.outputs.iter().enumerate() {
        if list.inputs.contains(&output) {
            seen.insert("given and wanted".to_owned());
        } else if graph.place(output) != region {
            seen.insert(format!("outer {} passed through", graph.tensor(output).role));
        }
        if list.outputs[..at].contains(&output) {
            seen.insert("wanted twice".to_owned());
        }
        if graph.tensor(output).bytes.get() == 0 {
            seen.insert("no bytes wanted".to_owned());
        }
    }
}

#[test]
fn mixtures_have_everything() {
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let graph = make("control-mix", seed, &[]);
        features(&graph, &mut seen);
    }
    let expected = [
        "If of 2",
        "IF of 2",
        "Case of 3",
        "Case of 4",
        "Loop of 1",
        "WHILE of 2",
        "Scan of 1",
        "CALL of 1",
        "CALL_ONCE of 1",
        "view of own",
        "view of outer",
        "in place of own",
        "in place of outer",
        "nothing made",
        "scratch",
        "unused",
        "state read inside",
        "weight read inside",
        "two in a row",
        "rows of Loop",
        "rows of Scan",
        "results of two sizes",
        "depth 1",
        "depth 2",
        "depth 3",
        "empty region",
        "given and wanted",
        "outer activation passed through",
        "outer weight passed through",
        "outer state passed through",
        "outer input passed through",
        "wanted twice",
        "no bytes wanted",
    ];
    for one in expected {
        assert!(seen.contains(one), "{one} never occurs");
    }
}

/// Checks that every operator with regions in every real model has a control kind.
#[test]
fn regions_of_real_models_can_be_run() {
    let Some(folder) = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
        return;
    };
    // Both Silero models have free shapes. The options do not apply to any other model.
    let shapes: [(&str, &[u64]); 3] = [("input", &[1, 576]), ("state", &[2, 1, 128]), ("sr", &[])];
    let shapes = shapes.map(|(name, shape)| (name.to_owned(), shape.to_vec()));
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for kind in ["onnx", "tflite"] {
        for entry in std::fs::read_dir(Path::new(&folder).join(kind)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != kind) {
                continue;
            }
            let silero = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("silero"));
            let input_shapes = if silero { shapes.clone().into() } else { BTreeMap::new() };
            let options = ImportOptions { input_shapes, assume_bytes: Some(4), ..ImportOptions::default() };
            let graph = import_file(&path, &options).unwrap_or_else(|error| panic!("{error}")).graph;
            for id in operators(&graph) {
                let flow = graph.flow(id).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                if flow.is_some() {
                    *kinds.entry(graph.operator(id).kind.clone()).or_default() += 1;
                }
            }
        }
    }
    assert!(kinds.get("If").is_some_and(|&count| count > 0), "{kinds:?}");
    eprintln!("operators with regions: {kinds:?}");
}
