//! Units and fusions: what is refused, and what they say.

use plimsoll_model::fusion::{Fusion, Units, relations};
use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{OperatorId, UnitId};

/// A graph of operators with kinds, each reading the results of others by number; the first reads an input.
fn graph(operators: &[(&str, &[usize])]) -> Graph {
    let mut g = GraphBuilder::new("g");
    let x = g.tensor(Tensor::new("x", 4, Role::Input));
    let made: Vec<_> = operators.iter().map(|_| g.tensor(Tensor::new("", 4, Role::Activation))).collect();
    for (at, (kind, from)) in operators.iter().enumerate() {
        let reads = if from.is_empty() { vec![x] } else { from.iter().map(|&from| made[from]).collect() };
        g.operator(Graph::BODY, Operator::new(format!("o{at}"), *kind).reads(reads).makes([made[at]]));
    }
    g.interface(Graph::BODY, [x], made.last().copied());
    g.build().unwrap()
}

fn ids(group: &[u32]) -> Vec<OperatorId> {
    group.iter().copied().map(OperatorId::new).collect()
}

fn fusion(graph: &Graph, groups: &[&[u32]]) -> Result<Fusion, String> {
    let groups = groups.iter().map(|group| ids(group)).collect();
    Fusion::new(graph, Graph::BODY, groups).map_err(|error| error.to_string())
}

#[test]
fn a_relation_is_a_pair_and_counts_once() {
    // Conv, Sigmoid, Mul of both, Mul with itself: the conv is read by two, the first product twice by one.
    let graph = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Mul", &[0, 1]), ("Mul", &[2, 2])]);
    assert_eq!(relations(&graph, Graph::BODY).len(), 4);
    let fused = fusion(&graph, &[&[2, 0, 1], &[3]]).unwrap();
    assert_eq!(fused.groups(), [ids(&[0, 1, 2]), ids(&[3])]);
    assert_eq!(fused.coverage(&graph).to_string(), "3 of 4 (75.0 %)");
    assert_eq!(fused.merged(), 2);
    assert_eq!(Fusion::none(&graph, Graph::BODY).coverage(&graph).optimised, 0);
}

#[test]
fn what_is_no_fusion_is_refused() {
    let graph = graph(&[("A", &[]), ("B", &[0]), ("C", &[1]), ("D", &[0, 2])]);
    let refuse = |groups: &[&[u32]]| fusion(&graph, groups).unwrap_err();
    assert_eq!(refuse(&[&[0], &[], &[1, 2, 3]]), "group 1 has no members");
    assert_eq!(refuse(&[&[0, 1], &[1, 2, 3]]), "operator 1 'o1' (B) is in group 0 and in group 1");
    assert_eq!(refuse(&[&[0, 1], &[2]]), "operator 3 'o3' (D) is in no group");
    assert_eq!(
        refuse(&[&[0], &[1, 3], &[2]]),
        "group 1 falls apart: nothing passes between operator 3 'o3' (D) and the rest"
    );
    assert!(refuse(&[&[0, 3], &[1, 2]]).starts_with("groups wait for each other"));
}

#[test]
fn an_empty_region_has_a_fusion() {
    let graph = GraphBuilder::new("empty").build().unwrap();
    let fused = fusion(&graph, &[]).unwrap();
    assert_eq!(fused, Fusion::none(&graph, Graph::BODY));
    assert_eq!((fused.coverage(&graph).ratio(), fused.merged()), (None, 0));
}

#[test]
fn the_first_unit_that_runs_a_kind_gets_it() {
    let graph = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Softmax", &[1])]);
    let units = Units::find("dla-gpu-cpu").unwrap();
    assert_eq!(units.assign(&graph, Graph::BODY).unwrap(), [0, 1, 2].map(UnitId::new));
    let alone = Units::parse("mine.toml", "[[unit]]\nname = \"dla\"\nkinds = [\"conv\"]\n").unwrap();
    let error = alone.assign(&graph, Graph::BODY).unwrap_err().to_string();
    assert_eq!(error, "no processing unit runs operator 1 'o1' (Sigmoid); there are dla");
    assert!(Units::find("one").unwrap().assign(&graph, Graph::BODY).is_ok());
}

#[test]
fn units_are_read_with_lines() {
    let fault = |text: &str| Units::parse("u.toml", text).unwrap_err().to_string();
    assert!(fault("[[unit]]\nname = \"a\"\n").starts_with("u.toml, line 1: missing field `kinds`"));
    let twice = "[[unit]]\nname = \"a\"\nkinds = []\n[[unit]]\nname = \"a\"\nkinds = []\n";
    assert_eq!(fault(twice), "u.toml, line 5: names of units must be there and differ: `name = \"a\"`");
    assert_eq!(fault(""), "no processing unit is given");
    assert!(Units::find("nothing").unwrap_err().to_string().contains("one, nvdla, dla-gpu-cpu"));
}
