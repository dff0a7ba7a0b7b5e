//! Tests machines with memory tiers, problems built from graphs, and the violations that the checker finds
//! in plans.

use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, LivenessOptions, Operator, Role, Tensor};
use plimsoll_model::orders::Order;
use plimsoll_model::tiers::{
    Addresses, TIER_PRESETS, TierError, TierKind, TierMachine, TierMultiplier, TierOptions, TierPlan,
    TierProblem, TierRegion, TierSpace, TierTensor, TierUse, TierWitness, cheapest_bound, check_reach,
    check_tiers, confirm_tier_bound, dual_bound, on_and_off_chip,
};
use plimsoll_model::timelines::Time;
use plimsoll_model::{Bytes, LowerBound, TierId, UnitId};

/// The transfer of a byte takes half a second in the buffer and one second in the other tiers. Each off-chip
/// access takes one second more.
const MACHINE: &str = r#"
name = "unit"
alignment = 4
[[unit]]
name = "a"
kinds = ["Conv"]
macs_per_second = 1.0
bytes_per_second = 2.0
overhead = 5.0
[[unit]]
name = "b"
kinds = ["*"]
macs_per_second = 4.0
bytes_per_second = 8.0
[[tier]]
name = "buf"
kind = "buffer"
units = ["a"]
capacity = 8
bandwidth = 2.0
[[tier]]
name = "ram"
kind = "ram"
units = ["a", "b"]
capacity = 16
bandwidth = 1.0
[[tier]]
name = "ddr"
kind = "ddr"
capacity = 1_000
bandwidth = 1.0
latency = 1.0
"#;

fn machine() -> TierMachine {
    TierMachine::parse("unit.toml", MACHINE).unwrap()
}

/// Builds the graph x -conv1-> p -conv2-> q -view-> r -add(r, x)-> y. Each convolution has 6 bytes of
/// weights.
fn graph() -> Graph {
    let mut g = GraphBuilder::new("net");
    let mut t = |name: &str, bytes: u64, role| g.tensor(Tensor::new(name, bytes, role));
    let (x, w, v) = (t("x", 4, Role::Input), t("w", 6, Role::Weight), t("v", 6, Role::Weight));
    let (p, q, r) = (t("p", 5, Role::Activation), t("q", 3, Role::Activation), t("r", 3, Role::Activation));
    let y = t("y", 4, Role::Output);
    let body = g.body();
    let mut conv = Operator::new("conv1", "Conv").reads([x, w]).makes([p]);
    conv.cost = Some(7);
    g.operator(body, conv);
    let mut conv = Operator::new("conv2", "Conv").reads([p, v]).makes([q]);
    conv.cost = Some(2);
    conv.scratch = Bytes::new(2);
    g.operator(body, conv);
    g.operator(body, Operator::new("view", "Reshape").reads([q]).makes([r]).alias(q, r, AliasKind::View));
    g.operator(body, Operator::new("add", "Add").reads([r, x]).makes([y]));
    g.interface(body, [x], [y]);
    g.build().unwrap()
}

/// Calls a function with the body of a graph in file order.
fn with_region<T>(graph: &Graph, liveness: LivenessOptions, run: impl FnOnce(TierRegion<'_>) -> T) -> T {
    let machine = machine();
    let units = machine.assign(graph).unwrap();
    let storages = graph.storages(Graph::BODY, &liveness, |_| Bytes::ZERO).unwrap();
    let order: Order = storages.problem.as_in_file();
    run(TierRegion { graph, storages: &storages, order: &order, machine: &machine, units: &units })
}

fn options(addresses: Addresses) -> TierOptions<'static> {
    TierOptions { addresses, boundary_off_chip: false, groups: None }
}

fn problem(addresses: Addresses) -> TierProblem {
    with_region(&graph(), LivenessOptions::default(), |region| region.problem(options(addresses)).unwrap())
}

/// Returns a time in whole seconds.
fn whole(time: Time) -> u64 {
    time.get() / 1_000_000_000_000
}

/// Returns the transfer time of a tensor in each tier in seconds, or `None` for tiers that are not allowed.
fn seconds(tensor: &TierTensor) -> Vec<Option<u64>> {
    let seconds = |cost: &TierUse| cost.time.get() / 1_000_000_000_000;
    tensor.uses.iter().map(|cost| cost.as_ref().map(seconds)).collect()
}

#[test]
fn tensors_cost_what_their_accesses_take() {
    let problem = problem(Addresses::Placed);
    let names: Vec<&str> = problem.tensors().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["x", "p", "q", "y", "scratch of conv2#1"]);
    let spans: Vec<(usize, usize)> = problem.tensors().iter().map(|one| (one.lower, one.upper)).collect();
    assert_eq!(spans, [(0, 4), (0, 2), (1, 4), (3, 4), (1, 2)]);
    // Both units read x. Only unit a uses p, and 5 bytes are written and read. Unit b reads q through a view,
    // which moves no data.
    assert_eq!(seconds(&problem.tensors()[0]), [None, Some(8), Some(10)]);
    assert_eq!(seconds(&problem.tensors()[1]), [Some(5), Some(10), Some(12)]);
    assert_eq!(seconds(&problem.tensors()[2]), [None, Some(6), Some(8)]);
    assert_eq!(seconds(&problem.tensors()[3]), [None, Some(4), Some(5)]);
    assert_eq!(seconds(&problem.tensors()[4]), [Some(2), Some(4), Some(6)]);
    let q = &problem.tensors()[2];
    assert_eq!((q.producer, q.consumers.as_slice()), (Some(1), [3usize].as_slice()));
    assert_eq!(problem.tensors()[1].uses[0].unwrap().traffic, Bytes::new(10));
    assert_eq!(problem.size(1, TierId::new(0)), Bytes::new(8));
    assert_eq!(problem.options(1), [0, 1, 2].map(TierId::new));
    let units: Vec<UnitId> = problem.steps().iter().map(|step| step.unit).collect();
    assert_eq!(units, [0, 0, 1, 1].map(UnitId::new));
}

#[test]
fn inputs_and_outputs_may_stay_off_chip_and_weights_come_in() {
    let off = TierOptions { boundary_off_chip: true, ..options(Addresses::Counted) };
    let problem = with_region(&graph(), LivenessOptions::default(), |region| region.problem(off).unwrap());
    assert_eq!(seconds(&problem.tensors()[0]), [None, None, Some(10)]);
    assert_eq!(seconds(&problem.tensors()[3]), [None, None, Some(5)]);
    let weights = LivenessOptions { weights: true, ..LivenessOptions::default() };
    let problem = with_region(&graph(), weights, |region| region.problem(off).unwrap());
    let w = problem.tensors().iter().find(|one| one.name == "w").unwrap();
    assert_eq!((w.lower, w.upper, w.producer), (0, 4, None));
    assert_eq!(seconds(w), [Some(3), Some(6), Some(7)]);
}

#[test]
fn other_times_of_a_run_are_added_up() {
    with_region(&graph(), LivenessOptions::default(), |region| {
        let times = region.times(options(Addresses::Counted), false).unwrap();
        let millis = |time: Time| time.get() / 1_000_000_000;
        // Unit a takes 7 and 2 seconds for the convolutions. The view takes no time. Unit b accesses 11 bytes
        // at 8 bytes per second.
        assert_eq!(millis(times.compute), 9_000 + 1_375);
        assert_eq!(millis(times.overhead), 10_000);
        assert_eq!((millis(times.weights.time), times.weights.traffic), (14_000, Bytes::new(12)));
        let fused = TierOptions { groups: Some(&[3, 3, 1, 2]), ..options(Addresses::Counted) };
        assert_eq!(millis(region.times(fused, true).unwrap().overhead), 5_000);
        assert_eq!(region.times(fused, true).unwrap().weights, TierUse::default());
    });
}

#[test]
fn the_checker_finds_violations() {
    let problem = problem(Addresses::Placed);
    let plan = |tiers: [u32; 5], offsets: [u64; 5]| TierPlan {
        tiers: tiers.map(TierId::new).to_vec(),
        offsets: Some(offsets.map(Bytes::new).to_vec()),
    };
    let faults = |plan: &TierPlan| -> Vec<String> {
        check_tiers(&problem, plan).iter().map(ToString::to_string).collect()
    };
    let good = plan([1, 0, 1, 1, 1], [0, 0, 4, 8, 8]);
    assert_eq!(faults(&good), Vec::<String>::new());
    assert_eq!(check_reach(&problem, &good), None);
    assert_eq!(whole(good.time(&problem)), 8 + 5 + 6 + 4 + 4);
    assert_eq!(on_and_off_chip(&problem, &good.traffic(&problem)), (8 + 10 + 6 + 4 + 4, 0));
    assert_eq!(good.peaks(&problem), [8, 12, 0].map(Bytes::new));
    let same = faults(&plan([1, 0, 1, 1, 1], [0, 0, 0, 8, 8]));
    assert_eq!(same, ["tensors 'x' and 'q' share bytes of tier 'ram' at step 1"]);
    let full = faults(&plan([1, 0, 1, 1, 0], [0, 0, 4, 8, 8]));
    assert_eq!(full[0], "at step 1, tier 'buf' holds 12 bytes, more than its capacity of 8 bytes");
    assert_eq!(
        full[1],
        "tensor 'scratch of conv2#1' ends at 12 in tier 'buf', beyond its capacity of 8 bytes"
    );
    let odd = faults(&plan([1, 0, 1, 1, 1], [2, 0, 8, 12, 12]));
    assert_eq!(odd, ["in tier 'ram', tensor 'x' begins at 2, which is not a multiple of 4"]);
    assert_eq!(faults(&plan([0, 0, 1, 1, 1], [0; 5])), ["tensor 'x' is not allowed in tier 'buf'"]);
    assert_eq!(
        faults(&plan([7, 0, 1, 1, 1], [0; 5])),
        ["tensor 'x' is in tier 7, but there are only 3 tiers"]
    );
    let short = TierPlan { tiers: vec![TierId::new(2)], offsets: None };
    assert_eq!(faults(&short), ["the number of tiers is 1, but the number of tensors is 5"]);
    let bare = TierPlan { offsets: None, ..good };
    assert_eq!(faults(&bare), ["the number of addresses is 0, but the number of tensors is 5"]);
    let counted = problem.clone().with_addresses(Addresses::Counted);
    assert!(check_tiers(&counted, &bare).is_empty());
}

#[test]
fn dual_multipliers_prove_bounds() {
    let problem = problem(Addresses::Counted);
    let cheapest = cheapest_bound(&problem);
    assert_eq!(whole(cheapest.value), 8 + 5 + 6 + 4 + 2);
    // At step 1, p and the scratch do not both fit into the buffer. With a multiplier of half a second per
    // byte, ram is as good as the buffer for the scratch.
    let half = 1u64 << 15;
    let multiplier =
        TierMultiplier { tier: TierId::new(0), step: 1, parts: 0, multiplier: half * 1_000_000_000_000 };
    let shown = dual_bound(&problem, &[multiplier]).unwrap();
    assert_eq!(whole(shown), 8 + 9 + 6 + 4 + 4 - 4);
    let bound = |seconds: f64, witness| LowerBound::new(Time::from_seconds(seconds).unwrap(), witness);
    let witness = TierWitness::Multipliers { multipliers: vec![multiplier] };
    assert_eq!(confirm_tier_bound(&problem, &bound(27.0, witness.clone())), Ok(()));
    let error = confirm_tier_bound(&problem, &bound(27.5, witness)).unwrap_err().to_string();
    assert!(error.contains("only 27.000 s, but the bound is 27.500 s"), "{error}");
    assert!(confirm_tier_bound(&problem, &bound(26.0, TierWitness::Cheapest)).is_err());
    // p is larger than half of the buffer, and the scratch is exactly half. With one part, p counts as 1 and
    // the scratch as 0, so the multiplier does not improve the bound.
    let second = 1_000_000_000_000 << 16;
    let one_of_two = TierMultiplier { parts: 1, multiplier: 7 * second, ..multiplier };
    assert_eq!(whole(dual_bound(&problem, &[one_of_two]).unwrap()), 8 + 10 + 6 + 4 + 2 - 7);
    // With two parts, p counts as 2 and the scratch as 1. One of them moves to ram, and for the scratch this
    // takes two more seconds.
    let two = TierMultiplier { parts: 2, multiplier: 2 * second, ..multiplier };
    assert_eq!(whole(dual_bound(&problem, &[two]).unwrap()), 8 + 9 + 6 + 4 + 4 - 4);
    for nowhere in
        [TierMultiplier { step: 9, ..multiplier }, TierMultiplier { tier: TierId::new(9), ..multiplier }]
    {
        assert_eq!(dual_bound(&problem, &[nowhere]), None);
    }
}

#[test]
fn errors_in_machines_state_the_line() {
    for (name, _) in TIER_PRESETS {
        let machine = TierMachine::find(name).unwrap();
        assert_eq!(machine.name, name);
        assert!(machine.tiers.iter().any(|tier| tier.kind == TierKind::Ddr) && !machine.about.is_empty());
    }
    let refused = |from: &str, to: &str| {
        let text = MACHINE.replacen(from, to, 1);
        TierMachine::parse("m.toml", &text).unwrap_err().to_string()
    };
    for (from, to, expected) in [
        (
            "\"buf\"\nkind = \"buffer\"\nunits = [\"a\"]\n",
            "\"buf\"\nkind = \"buffer\"\n",
            "a buffer belongs to one unit",
        ),
        (
            "units = [\"a\", \"b\"]",
            "units = [\"a\", \"c\"]",
            "line 24: no unit 'c'; the units are a, b: `units = [\"a\", \"c\"]`",
        ),
        ("units = [\"a\"]", "units = [\"a\", \"b\"]", "memory between units is `ram`"),
        ("units = [\"a\"]", "units = []", "no unit has access to this tier"),
        (
            "kind = \"ddr\"\n",
            "kind = \"ddr\"\nunits = [\"a\"]\n",
            "off-chip memory must be accessible to all units",
        ),
        ("kind = \"ddr\"", "kind = \"ram\"", "a machine needs at least one `[[tier]]` of kind \"ddr\""),
        ("capacity = 16", "capacity = 0", "line 25: capacity must be positive: `capacity = 0`"),
        ("capacity = 16", "capacity = 2000000000000000000", "capacity must be at most 2^60"),
        ("name = \"ram\"", "name = \"buf\"", "line 22: tier names must be non-empty and unique"),
        ("name = \"b\"", "name = \"a\"", "line 11: unit names must be non-empty and unique"),
        ("alignment = 4", "alignment = 0", "line 3: alignment must be positive"),
        ("alignment = 4", "aligned = 4", "unknown field `aligned`"),
        ("kind = \"ram\"", "kind = \"rom\"", "unknown variant `rom`"),
        ("latency = 1.0", "latency = -1.0", "seconds must be between 0 and 1e6"),
    ] {
        let error = refused(from, to);
        assert!(error.contains(expected), "{to}: {error}");
    }
    let error = TierMachine::find("s3").unwrap_err().to_string();
    assert_eq!(error, "no machine 's3': neither a file nor one of s3-platform, two-tier, generic");
    assert!(TierMachine::find("nowhere.toml").unwrap_err().to_string().contains("nowhere.toml: cannot read"));
}

#[test]
fn invalid_problems_are_rejected() {
    let space = |alignment: u64| TierSpace {
        name: "ddr".to_owned(),
        kind: TierKind::Ddr,
        units: None,
        capacity: Bytes::new(1 << 60),
        alignment: Bytes::new(alignment),
    };
    let tensor = |bytes: u64, time: u64| TierTensor {
        name: "t".to_owned(),
        bytes: Bytes::new(bytes),
        lower: 0,
        upper: 1,
        producer: None,
        consumers: vec![],
        uses: vec![Some(TierUse { time: Time::new(time), traffic: Bytes::new(bytes) })],
    };
    let new = |spaces: Vec<TierSpace>, tensors: Vec<TierTensor>| {
        TierProblem::new("p", spaces, vec![], tensors, Addresses::Placed).unwrap_err()
    };
    assert_eq!(new(vec![], vec![]), TierError::Tiers(0));
    assert!(matches!(new(vec![space(0)], vec![]), TierError::Alignment { .. }));
    let long = TierTensor { upper: 2, ..tensor(1, 1) };
    assert!(matches!(new(vec![space(1)], vec![long]), TierError::Lifespan { upper: 2, steps: 1, .. }));
    let homeless = TierTensor { uses: vec![None], ..tensor(1, 1) };
    assert!(matches!(new(vec![space(1)], vec![homeless]), TierError::Homeless { .. }));
    let other = TierTensor { uses: vec![], ..tensor(1, 1) };
    assert!(matches!(new(vec![space(1)], vec![other]), TierError::Uses { given: 0, tiers: 1, .. }));
    let large = vec![tensor(1 << 62, 1), tensor(1 << 62, 1)];
    assert!(matches!(new(vec![space(1)], large), TierError::TooLarge { .. }));
    assert!(matches!(new(vec![space(1 << 60)], vec![tensor(u64::MAX, 1)]), TierError::TooLarge { .. }));
    assert!(matches!(new(vec![space(1)], vec![tensor(1, u64::MAX)]), TierError::TooLong { .. }));
}
