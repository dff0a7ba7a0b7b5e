//! Tests that `--front` is never worse than plain `overlap` with the same memory.

use crate::common::{Random, Scratch};
use plimsoll::graphs::{GraphRun, OrderedRegion};
use plimsoll::model::graph::{Graph, GraphBuilder, LivenessOptions, Operator, Role, Tensor};
use plimsoll::model::timelines::{Machine, OverlapOptions, OverlapProgram, Time, Timelines, residency_bound};
use plimsoll::model::{Bytes, Entry, Setup};
use plimsoll::run::Limits;
use plimsoll::timelines::{Candidate, Effort, Front, fits, front, program, resident_within, schedule};

const EFFORT: Effort = Effort {
    each: Limits { nodes: Some(1_000), time: None, target: None, deadline: None },
    last: Limits { nodes: Some(20_000), time: None, target: None, deadline: None },
};

/// Generates a chain of operators, some of whose weights are read twice.
fn graph(random: &mut Random, operators: u64) -> Graph {
    let mut build = GraphBuilder::new("random");
    let mut last = build.tensor(Tensor::new("x", 40, Role::Input));
    let body = build.body();
    let (input, mut weights) = (last, Vec::new());
    for at in 0..operators {
        let (role, name) = if at + 1 == operators {
            (Role::Output, "y".to_owned())
        } else {
            (Role::Activation, format!("t{at}"))
        };
        let out = build.tensor(Tensor::new(name, 20 + random.below(400), role));
        let mut operator = Operator::new(format!("o{at}"), "Conv").reads([last]).makes([out]);
        operator.cost = Some(1 + random.below(900));
        match random.below(5) {
            0 => {}
            1 if !weights.is_empty() => {
                operator.inputs.push(weights[random.below(weights.len() as u64) as usize]);
            }
            _ => {
                let own = Tensor::new(format!("w{at}"), 10 + random.below(1200), Role::Weight);
                weights.push(build.tensor(own));
                operator.inputs.extend(weights.last());
            }
        }
        build.operator(body, operator);
        last = out;
    }
    build.interface(body, [input], [last]);
    build.build().unwrap()
}

fn machine(random: &mut Random) -> Machine {
    let stays = random.below(2) == 0;
    let (channels, alignment, capacity) =
        (1 + random.below(2), 1 << (random.below(3) * 3), 1500 + random.below(4000));
    let text = format!(
        "name = \"m\"\n[memory]\ncapacity = {capacity}\nalignment = {alignment}\nresident_weights = {stays}\n[dma]\n\
         channels = {channels}\nstartup = {}e-6\nbandwidth = 1e6\n[compute]\nmacs_per_second = 1e6\nbytes_per_second = 1e6\n",
        random.below(50)
    );
    Machine::parse("m.toml", &text).unwrap()
}

fn ordered(graph: &Graph) -> Vec<OrderedRegion> {
    let orders = plimsoll::registry().orders;
    let order = orders.iter().find(|entry| entry.name == "as-in-file").unwrap();
    let (liveness, setup) = (LivenessOptions::default(), Setup::default());
    GraphRun { liveness, order, setup, limits: Limits::default() }.order(graph).unwrap()
}

/// Returns all scheduling algorithms except the slow integer program.
fn entries() -> Vec<&'static Entry<Timelines>> {
    plimsoll::registry().timelines.into_iter().filter(|entry| entry.name != "ilp").collect()
}

/// Returns the minimum makespan over the schedules of all algorithms.
fn fastest(program: &OverlapProgram, entries: &[&'static Entry<Timelines>]) -> Option<Time> {
    let made = |entry: &&Entry<Timelines>| schedule(program, entry, Setup::default(), EFFORT.last).ok();
    entries.iter().filter_map(made).map(|scheduled| scheduled.makespan).min()
}

fn check(front: &Front, machine: &Machine) {
    let pairs: Vec<(Bytes, Time)> = front.points.iter().map(|one| (one.memory, one.makespan())).collect();
    assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{pairs:?}");
    assert!(front.points.iter().all(|point| point.bound <= point.makespan()));
    // A bound for one capacity also holds for all smaller capacities.
    assert!(front.bounds.is_sorted_by(|a, b| a.0 < b.0 && a.1 >= b.1), "{:?}", front.bounds);
    assert_eq!(front.bounds.last().unwrap().0, machine.capacity);
}

#[test]
fn no_schedule_at_the_capacity_is_faster_than_the_front() {
    let mut seen = 0;
    for seed in 0..60 {
        let random = &mut Random(seed);
        let operators = 2 + random.below(7);
        let (graph, machine) = (graph(random, operators), machine(random));
        let program = program(&graph, &ordered(&graph), &machine, OverlapOptions::default()).unwrap();
        if fits(&program).is_err() {
            continue;
        }
        seen += 1;
        let candidate = Candidate { order: "as-in-file", program: program.clone() };
        let entries = entries();
        let found = front(&machine, &[candidate], &entries, EFFORT).unwrap();
        check(&found, &machine);
        let best = found.fastest().unwrap().makespan();
        assert!(best <= fastest(&program, &entries).unwrap(), "{seed}: {best}");
        assert!(residency_bound(&program, &machine).unwrap() <= best, "{seed}");
        for space in [100, 400, 500, 900, 1300, 2000, 3100] {
            let space = Bytes::new(space).min(machine.capacity);
            let resident = resident_within(&program, &machine, space).unwrap();
            if let Some(time) = fastest(&resident, &entries) {
                assert!(best <= time, "{seed}, {space} bytes resident: {best} against {time}");
            }
        }
    }
    assert!(seen >= 30, "{seen} of 60 fit");
}

/// The exact algorithm alone yields a front whose fastest point has the same makespan as with all
/// algorithms.
#[test]
fn exact_schedules_alone_form_a_front() {
    let random = &mut Random(11);
    let (graph, machine) = (graph(random, 6), Machine::find("luna").unwrap());
    let program = program(&graph, &ordered(&graph), &machine, OverlapOptions::default()).unwrap();
    let candidate = [Candidate { order: "as-in-file", program }];
    let only: Vec<&'static Entry<Timelines>> =
        entries().into_iter().filter(|entry| entry.name == "exact").collect();
    let alone = front(&machine, &candidate, &only, EFFORT).unwrap();
    let all = front(&machine, &candidate, &entries(), EFFORT).unwrap();
    check(&alone, &machine);
    assert_eq!(alone.fastest().unwrap().makespan(), all.fastest().unwrap().makespan());
    assert!(alone.points.iter().all(|point| point.schedule == "exact"));
}

#[test]
fn fronts_are_reproducible() {
    let random = &mut Random(5);
    let (graph, machine) = (graph(random, 8), machine(random));
    let program = program(&graph, &ordered(&graph), &machine, OverlapOptions::default()).unwrap();
    let once = || {
        let candidate = [Candidate { order: "as-in-file", program: program.clone() }];
        let found = front(&machine, &candidate, &entries(), EFFORT).unwrap();
        let points = found.points.into_iter().map(|one| (one.memory, one.schedule, one.scheduled.timelines));
        (found.tried, points.collect::<Vec<_>>())
    };
    assert_eq!(once(), once());
}

/// The capacities lie between those that the search for the front tries.
#[test]
fn models_are_no_slower_with_a_front() {
    let Some(corpora) = std::env::var_os("PLIMSOLL_CORPORA").filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: PLIMSOLL_CORPORA is not set");
        return;
    };
    let scratch = Scratch::new();
    for (model, machine, capacity) in [
        ("tflite/vww_96_int8.tflite", "luna", "150000"),
        ("tflite/person_detect.tflite", "luna", "93000"),
        ("tflite/kws_ref_model.tflite", "ethos-u", "29000"),
    ] {
        let path = std::path::Path::new(&corpora).join(model);
        let run = |more: &[&str]| {
            let words = ["overlap", path.to_str().unwrap(), "--machine", machine, "--capacity", capacity];
            let words = [&words[..], &["--boundary", "outside", "--json"], more].concat();
            scratch.plimsoll(&words).exits(0).json()
        };
        let least = |rows: &serde_json::Value| {
            rows.as_array().unwrap().iter().filter_map(|row| row["makespan_ps"].as_u64()).min().unwrap()
        };
        let front = least(&run(&["--front"])["points"]);
        for more in [&[][..], &["--resident", "2000"], &["--resident", "5000"]] {
            let plain = least(&run(more)["schedules"]);
            assert!(front <= plain, "{model} on {machine}, {more:?}: {front} against {plain}");
        }
    }
}
