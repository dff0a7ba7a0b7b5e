//! Tests of the structured schema: round trips, errors, and real captures if available.

use plimsoll_datasets::dsa::{
    Allocation, Document, Split, read_dsa, read_dsa_file, write_allocations, write_dsa,
};
use plimsoll_datasets::{CORPORA_VARIABLE, SmallParams, small_instance};
use plimsoll_model::csv::{ReadOptions, read_instance, write_instance};
use plimsoll_model::{Bytes, Instance, Layout, check_layout, verify_bound};
use serde_json::{Value, json};
use std::path::Path;

fn read(value: &Value) -> Result<Document, String> {
    read_dsa(Path::new("p.json"), value.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn split(value: &Value) -> Result<Split, String> {
    read(value)?.split().map_err(|error| error.to_string())
}

/// Returns a document with two pools, two pairs, and four buffers, one of them with a gap and one pinned.
fn example() -> Value {
    let buffer = |id: u32, size: u64, lives: Value, pool: u32| {
        json!({ "id": id, "name": format!("b{id}"), "size": size, "alignment": 4, "live_intervals": lives,
                "allowed_pools": [pool] })
    };
    let life = |lower: u64, upper: u64| json!({ "lower": lower, "upper": upper });
    json!({
        "schema_version": 1, "profile": "pypto_hard_v1", "instance": "kernel", "metadata": { "target": "t" },
        "problem": {
            "pools": [
                { "id": 7, "name": "Vec", "capacity": 64, "reserved_ranges": [{ "begin": 0, "end": 8 }] },
                { "id": 3, "name": "Mat", "capacity": null, "reserved_ranges": [] } ],
            "buffers": [
                buffer(10, 8, json!([life(0, 2), life(4, 6)]), 7),
                buffer(11, 4, json!([life(2, 4)]), 7),
                buffer(12, 16, json!([life(1, 5)]), 3),
                buffer(13, 4, json!([life(1, 5)]), 7) ],
            "constraints": {
                "colocations": [],
                "separations": [{ "first": 10, "second": 11, "reasons": ["generic"] }],
                "temporal_exclusions": [{ "first": 13, "second": 11 }],
                "pinned_allocations": [
                    { "buffer": 13, "pool": 7, "offset": 16, "exclusive_for_all_time": false }] },
            "objective": { "aggregation": "lexicographic", "terms": ["total_peak", "max_peak"] } } })
}

/// Returns a mutable reference to the value at a JSON pointer.
fn at<'a>(value: &'a mut Value, pointer: &str) -> &'a mut Value {
    value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"))
}

fn changed(pointer: &str, to: Value) -> Value {
    let mut value = example();
    *at(&mut value, pointer) = to;
    value
}

fn csv(instance: &Instance) -> String {
    let mut text = Vec::new();
    write_instance(instance, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_pool_is_an_instance() {
    let split = split(&example()).unwrap();
    assert_eq!(
        csv(&split.pools[0].instance),
        "id,lower,upper,size,alignment,gaps,separations,exclusions,offset\n\
         b10,0,6,8,4,2-4,b11,,\nb11,2,4,4,4,,b10,b13,\nb13,1,5,4,4,,,b11,16\nreserved-0,0,6,8,1,,,,0\n"
    );
    assert_eq!(split.pools[0].instance.capacity(), Some(Bytes::new(64)));
    assert_eq!(csv(&split.pools[1].instance), "id,lower,upper,size,alignment\nb12,1,5,16,4\n");
    assert_eq!(split.pools[1].instance.capacity(), None);
    assert_eq!(split.pools[0].members, [vec![0], vec![1], vec![3], vec![]]);
    assert!(split.notes.is_empty());
}

#[test]
fn layouts_go_back_under_their_ids() {
    let document = read(&example()).unwrap();
    let split = document.split().unwrap();
    let layouts = [Layout::from_raw([8, 20, 16, 0]), Layout::from_raw([4])];
    assert!(check_layout(&split.pools[0].instance, &layouts[0]).is_empty());
    let placed = document.allocations(&split, &layouts);
    let raw: Vec<(u32, u32, u64)> = placed.iter().map(|a| (a.buffer, a.pool, a.offset.get())).collect();
    assert_eq!(raw, [(10, 7, 8), (11, 7, 20), (12, 3, 4), (13, 7, 16)]);
    assert_eq!(document.check(&placed), Vec::<String>::new());
    let mut text = Vec::new();
    write_allocations(&document, &placed, &mut text).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(value["placements"][3], json!({ "buffer": 13, "pool": 7, "offset": 16 }));
    assert_eq!(value["instance"], "kernel");
}

/// The expected values were computed by `FingerprintStructuredProblem` of dsa-solver.
#[test]
fn answers_carry_the_fingerprint_of_their_problem() {
    let print = |value: &Value| read(value).unwrap().fingerprint().to_owned();
    let mut value = example();
    value["metadata"] =
        json!({ "lifetime_ordering": "pypto_read_before_write", "solver_input": "pre_memory_reuse" });
    value["profile"] = json!("pypto_research_v1");
    assert_eq!(print(&value), "2e4296c9ea73b78b");
    let mut odd = value.clone();
    odd["problem"]["buffers"][0]["name"] = json!("a \"b\"\n\u{1}\u{7f} é / \\");
    odd["problem"]["constraints"]["separations"][0]["reasons"] = json!([]);
    odd["problem"]["buffers"][2]["live_intervals"] = json!([{ "lower": -5, "upper": -1 }]);
    assert_eq!(print(&odd), "73565234a5c31f2d");
}

#[test]
fn steps_before_nought_are_counted_from_the_first() {
    let mut value = example();
    value["problem"]["buffers"][2]["live_intervals"] = json!([{ "lower": i64::MIN, "upper": -1 }]);
    value["problem"]["buffers"][0]["live_intervals"] = json!([{ "lower": 0, "upper": i64::MAX }]);
    let document = read(&value).unwrap();
    assert_eq!(document.notes(), ["steps are counted from -9223372036854775808, the first step in the file"]);
    let hull = |at: usize| document.buffers()[at].lifespan.hull();
    assert_eq!((hull(2).lower.get(), hull(2).upper.get()), (0, (1 << 63) - 1));
    assert_eq!((hull(0).lower.get(), hull(0).upper.get()), (1 << 63, u64::MAX));
    value["problem"]["buffers"][2]["live_intervals"] = json!([{ "lower": -1, "upper": -1 }]);
    assert!(read(&value).unwrap_err().contains("live_intervals[0]: [-1, -1) is empty"));
}

#[test]
fn what_is_written_is_of_a_profile_that_takes_it() {
    let write = |texts: &[&str]| -> Value {
        let instance = |text: &&str| read_instance("i", text.as_bytes(), ReadOptions::default()).unwrap();
        let instances: Vec<Instance> = texts.iter().map(instance).collect();
        let mut written = Vec::new();
        write_dsa(Path::new("i.json"), "i", &instances, &mut written).unwrap();
        serde_json::from_slice(&written).unwrap()
    };
    let plain = "id,lower,upper,size\na,0,3,4\n";
    assert_eq!(write(&[plain])["profile"], "standard_dsa");
    for texts in [
        &[plain, plain][..],
        &["id,lower,upper,size,alignment\na,0,3,4,2\n"],
        &["id,lower,upper,size,gaps\na,0,3,4,1-2\n"],
        &["id,lower,upper,size,offset\na,0,3,4,0\n"],
        &["id,lower,upper,size,separations\na,0,3,4,b\nb,5,6,1,\n"],
    ] {
        let value = write(texts);
        assert_eq!(value["profile"], "pypto_research_v1");
        assert_eq!(value["metadata"]["lifetime_ordering"], "pypto_read_before_write");
        assert_eq!(value["metadata"]["solver_input"], "pre_memory_reuse");
    }
}

#[test]
fn wrong_allocations_are_reported() {
    let document = read(&example()).unwrap();
    let place = |buffer, pool, offset| Allocation { buffer, pool, offset: Bytes::new(offset) };
    let wrong = |places: &[(u32, u32, u64)]| {
        document.check(&places.iter().map(|&(b, p, o)| place(b, p, o)).collect::<Vec<_>>()).join("; ")
    };
    let rest = [(12, 3, 4), (13, 7, 16)];
    let with = |a, b| wrong(&[&[a, b][..], &rest].concat());
    assert_eq!(
        with((10, 7, 8), (11, 7, 8)),
        "buffer 10 'b10' and buffer 11 'b11' conflict, but share addresses"
    );
    assert!(with((10, 7, 16), (11, 7, 28)).contains("buffer 10 'b10' and buffer 13 'b13' conflict"));
    assert!(with((10, 7, 4), (11, 7, 28)).contains("overlaps the reserved range [0, 8)"));
    assert!(with((10, 7, 60), (11, 7, 28)).contains("[60, 68) extends beyond the capacity 64"));
    assert!(with((10, 3, 60), (11, 7, 28)).contains("pool 3 'Mat' is not one of its allowed pools"));
    assert!(with((10, 7, 10), (11, 7, 28)).contains("offset 10 is not a multiple of 4"));
    assert!(wrong(&rest).contains("buffer 10 'b10' has no offset"));
    assert!(wrong(&[(13, 7, 20), (13, 7, 20), (9, 7, 0)]).contains("pinned to offset 16 of pool 7 'Vec'"));
}

/// Asserts that every change to the example is rejected with the expected message.
fn refused(cases: &[(&str, Value, &str)]) {
    for (pointer, to, message) in cases {
        let error = read(&changed(pointer, to.clone())).unwrap_err();
        assert!(error.starts_with("p.json: ") && error.contains(message), "{pointer}: {error}");
    }
}

#[test]
fn slips_are_refused_with_file_and_item() {
    let cases: &[(&str, Value, &str)] = &[
        ("/schema_version", json!(2), "p.json: schema_version: version 2 is not supported"),
        ("/schema_version", json!("1"), "schema_version: version \"1\" is not supported"),
        ("/instance", json!(5), "p.json: instance: expected a string, found 5"),
        ("/problem", json!([]), "p.json: problem: expected an object, found an array"),
        ("/problem/pools/1/id", json!(7), "problem.pools[1].id: id 7 is already used by pool 0"),
        (
            "/problem/pools/0/capacity",
            json!(-4),
            "problem.pools[0].capacity: expected a whole number of bytes from 0 to 2^64 - 1, found -4",
        ),
        (
            "/problem/pools/0/reserved_ranges/0/end",
            json!(0),
            "problem.pools[0].reserved_ranges[0]: [0, 0) is empty",
        ),
        (
            "/problem/pools/0/reserved_ranges/0/end",
            json!(65),
            "[0, 65) extends beyond the capacity 64 of pool 7 'Vec'",
        ),
        ("/problem/buffers/1/id", json!(10), "problem.buffers[1].id: id 10 is already used by buffer 0"),
        (
            "/problem/buffers/1/size",
            json!(1.5),
            "problem.buffers[1].size: expected a whole number of bytes from 0 to 2^64 - 1, found 1.5",
        ),
        (
            "/problem/buffers/1/size",
            json!(-1),
            "problem.buffers[1].size: expected a whole number of bytes from 0 to 2^64 - 1, found -1",
        ),
        (
            "/problem/buffers/1/alignment",
            json!(null),
            "problem.buffers[1].alignment: expected a whole number of bytes from 0 to 2^64 - 1, found null",
        ),
        (
            "/problem/buffers/1/live_intervals",
            json!([]),
            "problem.buffers[1].live_intervals: the buffer has no live interval",
        ),
        (
            "/problem/buffers/1/live_intervals/0/lower",
            json!(1.5),
            "live_intervals[0].lower: expected a step, a whole number from -2^63 to 2^63 - 1, found 1.5",
        ),
        ("/problem/buffers/1/live_intervals/0/lower", json!(4), "live_intervals[0]: [4, 4) is empty"),
        (
            "/problem/buffers/1/allowed_pools",
            json!([]),
            "problem.buffers[1].allowed_pools: expected at least one allowed pool",
        ),
        (
            "/problem/buffers/1/allowed_pools",
            json!([1]),
            "problem.buffers[1].allowed_pools[0]: there is no pool with id 1",
        ),
    ];
    refused(cases);
}

#[test]
fn slips_in_constraints_are_refused_with_file_and_item() {
    let cases: &[(&str, Value, &str)] = &[
        (
            "/problem/constraints/separations/0/first",
            json!(9),
            "separations[0].first: there is no buffer with id 9",
        ),
        (
            "/problem/constraints/separations/0/first",
            json!(11),
            "separations[0]: buffer 11 is paired with itself",
        ),
        (
            "/problem/constraints/pinned_allocations/0/offset",
            json!(64),
            "pinned_allocations[0]: [64, 68) extends beyond the capacity 64",
        ),
        (
            "/problem/constraints/pinned_allocations/0/offset",
            json!(4),
            "[4, 8) overlaps the reserved range [0, 8) of pool 7 'Vec'",
        ),
        (
            "/problem/constraints/pinned_allocations/0/offset",
            json!(18),
            "offset 18 is not a multiple of the alignment 4",
        ),
        (
            "/problem/constraints/pinned_allocations/0/pool",
            json!(3),
            "pinned to pool 3 'Mat', which is not one of the allowed pools",
        ),
        (
            "/problem/constraints/pinned_allocations/0/pool",
            json!(4),
            "pinned_allocations[0].pool: there is no pool with id 4",
        ),
        (
            "/metadata",
            json!({ "plimsoll": "{" }),
            "metadata.plimsoll: expected a JSON object with hints and names by buffer id, found '{'",
        ),
    ];
    refused(cases);
}

#[test]
fn pins_that_contradict_are_infeasible_and_not_bad_input() {
    let mut document = example();
    let pins = at(&mut document, "/problem/constraints/pinned_allocations").as_array_mut().unwrap();
    // Buffers 10 and 13 are live at step 1.
    pins.push(json!({ "buffer": 10, "pool": 7, "offset": 12 }));
    let instance = split(&document).unwrap().pools.remove(0).instance;
    let bound = instance.contradiction().unwrap();
    assert!(bound.value > instance.limit());
    assert_eq!(verify_bound(&instance, &bound), Ok(()));
    assert!(bound.witness.in_words(&instance).starts_with("buffers 'b10' and 'b13' conflict"));
    let mut written = Vec::new();
    write_dsa(Path::new("t.json"), "t", std::slice::from_ref(&instance), &mut written).unwrap();
    let again = read_dsa(Path::new("t.json"), &written).unwrap().split().unwrap();
    assert_eq!(again.pools[0].instance.buffers(), instance.buffers());
}

#[test]
fn wrong_members_and_broken_files_are_refused() {
    let mut more = example();
    at(&mut more, "/problem/buffers/0").as_object_mut().unwrap().insert("bank".to_owned(), json!(1));
    assert_eq!(read(&more).unwrap_err(), "p.json: problem.buffers[0]: unknown member 'bank'");
    at(&mut more, "/problem").as_object_mut().unwrap().remove("pools");
    assert_eq!(read(&more).unwrap_err(), "p.json: problem: member 'pools' is missing");
    let broken = read_dsa(Path::new("p.json"), b"{\n \"a\": }").unwrap_err().to_string();
    assert!(broken.starts_with("p.json: ") && broken.contains("line 2, column 7: "), "{broken}");
    assert!(read_dsa(Path::new("p.json"), b"[]").unwrap_err().to_string().contains("expected an object"));
}

#[test]
fn buffers_with_a_choice_are_bound_or_refused() {
    let choice = |size: u64| {
        let mut value = changed("/problem/buffers/2/allowed_pools", json!([7, 3, 7]));
        *at(&mut value, "/problem/buffers/2/size") = json!(size);
        value
    };
    let error = split(&choice(16)).unwrap_err();
    assert!(
        error.starts_with("p.json: buffer 12 'b12': more than one pool is possible: 7 'Vec', 3 'Mat'"),
        "{error}"
    );
    let bound = split(&choice(100)).unwrap();
    assert_eq!(bound.pools[1].members, [[2]]);
    assert!(bound.notes[0].contains("buffer 12 'b12': bound to pool 3 'Mat'"));
    let mut none = choice(100);
    *at(&mut none, "/problem/pools/1/capacity") = json!(99);
    let message = "the 100 bytes of the buffer do not fit into any of its allowed pools: 7 'Vec', 3 'Mat'";
    assert!(split(&none).unwrap_err().contains(message));
    // A pin determines the pool.
    let mut pinned = choice(16);
    let pins = at(&mut pinned, "/problem/constraints/pinned_allocations").as_array_mut().unwrap();
    pins.push(json!({ "buffer": 12, "pool": 7, "offset": 32 }));
    assert_eq!(split(&pinned).unwrap().pools[0].members, [vec![0], vec![1], vec![2], vec![3], vec![]]);
    // If only one pool is allowed, splitting accepts a buffer that is too large, and solvers reject it.
    assert!(split(&changed("/problem/buffers/0/size", json!(100))).is_ok());
}

#[test]
fn colocated_buffers_are_one() {
    let colocated =
        |a: u32, b: u32| changed("/problem/constraints/colocations", json!([{ "first": a, "second": b }]));
    let error = |value: &Value| split(value).unwrap_err();
    assert!(error(&colocated(10, 11)).contains("buffers 10 and 11 are both separated and colocated"));
    assert!(
        error(&colocated(11, 12))
            .contains("buffer 11 'b11': the 2 colocated buffers have no allowed pool in common")
    );
    // Buffer 13 is pinned and live in the gap of 10. The merged buffer therefore has no gap, and it has the
    // size of buffer 10.
    let merged = split(&colocated(13, 10)).unwrap();
    assert_eq!(merged.pools[0].members, [vec![0, 3], vec![1], vec![]]);
    let buffer = &merged.pools[0].instance.buffers()[0];
    assert_eq!((buffer.size().get(), buffer.fixed()), (8, Some(Bytes::new(16))));
    assert!(!buffer.lifespan().has_gaps());
    // The exclusion of 13 and 11 would remain because 10 and 11 are never simultaneously live, but 10 and 11
    // are separated.
    assert!(merged.pools[0].instance.exclusions().is_empty());
    assert!(merged.notes[0].contains("1 temporal exclusions have no effect"), "{:?}", merged.notes);
    let mut twice = colocated(13, 10);
    let pins = at(&mut twice, "/problem/constraints/pinned_allocations").as_array_mut().unwrap();
    pins.push(json!({ "buffer": 10, "pool": 7, "offset": 32 }));
    assert!(
        error(&twice).contains("is pinned to both offset 32 of pool 7 'Vec' and offset 16 of pool 7 'Vec'")
    );
}

#[test]
fn what_no_offset_problem_knows_is_noted() {
    let mut value = changed("/problem/objective/terms", json!(["capacity_overflow", "reuse_cost"]));
    let problem = at(&mut value, "/problem").as_object_mut().unwrap();
    let penalty = json!({ "first": 10, "second": 11, "cost": 5, "reason": "generic" });
    problem.insert("cost_model".to_owned(), json!({ "reuse_penalties": [penalty] }));
    at(&mut value, "/problem/constraints/separations")
        .as_array_mut()
        .unwrap()
        .push(json!({ "first": 10, "second": 12 }));
    let document = read(&value).unwrap();
    assert!(document.notes()[0].contains("1 reuse costs are ignored"));
    assert!(
        document.notes()[1]
            .contains("terms of the objective are ignored, because only peaks are minimised: reuse_cost")
    );
    assert!(
        document.split().unwrap().notes[0].contains("1 pairs of buffers in different pools have no effect")
    );
}

#[test]
fn an_exclusive_pin_is_always_live() {
    let pin = "/problem/constraints/pinned_allocations/0/exclusive_for_all_time";
    let split = split(&changed(pin, json!(true))).unwrap();
    let instance = &split.pools[0].instance;
    assert_eq!(instance.buffers()[2].lifespan().hull().duration(), 6);
    assert!(instance.exclusions().is_empty());
}

#[test]
fn odd_names_are_made_ids() {
    let mut value = example();
    for (at_buffer, name) in [(0, ""), (1, " b13 "), (3, "b13")] {
        *at(&mut value, &format!("/problem/buffers/{at_buffer}/name")) = json!(name);
    }
    let split = split(&value).unwrap();
    let names: Vec<&str> =
        split.pools[0].instance.buffers().iter().map(plimsoll_model::Buffer::name).collect();
    assert_eq!(names, ["buffer-10", "b13", "b13#13", "reserved-0"]);
}

#[test]
fn csv_to_json_to_csv_keeps_everything() {
    for seed in 0..200 {
        let mut instances: Vec<Instance> = (0..=seed % 3)
            .map(|k| {
                let made = small_instance(
                    SmallParams::with_features((seed % 7) as usize, seed / 3),
                    seed + 1000 * k,
                );
                let ceiling = made.ceiling();
                made.with_name(format!("pool {k}")).with_capacity((k != 1).then_some(ceiling))
            })
            .collect();
        if seed % 5 == 0 {
            let text = "id,lower,upper,size,hint\n\"a,\"\"b\",0,3,1152921504606846976,-1\na b,2,9223372036854775807,1,64\n";
            let odd = read_instance("odd", text.as_bytes(), ReadOptions::default()).unwrap();
            instances.push(odd);
        }
        let mut written = Vec::new();
        write_dsa(Path::new("x.json"), "all", &instances, &mut written).unwrap();
        let document = read_dsa(Path::new("x.json"), &written).unwrap();
        assert!(document.is_exported());
        let split = document.split().unwrap();
        let again: Vec<Instance> = split.pools.into_iter().map(|pool| pool.instance).collect();
        assert_eq!(again, instances, "seed {seed}");
        for (one, other) in again.iter().zip(&instances) {
            assert_eq!(csv(one), csv(other));
        }
    }
}

#[test]
fn unrepresentable_instances_are_refused() {
    let write = |text: &str, capacity: u64| {
        let options = ReadOptions { capacity: Some(Bytes::new(capacity)), ..ReadOptions::default() };
        let instance = read_instance("i", text.as_bytes(), options).unwrap();
        write_dsa(Path::new("i.json"), "i", &[instance], &mut Vec::new()).unwrap_err().to_string()
    };
    let late = write("id,lower,upper,size\na,0,9223372036854775808,1\n", 9);
    assert!(late.starts_with("i.json: instance 'i', buffer 'a': step 9223372036854775808 exceeds"), "{late}");
    let high = write("id,lower,upper,size,offset\na,0,1,4,8\n", 9);
    assert!(high.contains("[8, 12) extends beyond the capacity 9 of pool 'i'"), "{high}");
}

/// Checks that layouts of the merged instances are valid under the document's own rules.
#[test]
fn layouts_of_split_problems_are_valid_for_the_document() {
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};
    let mut merged = 0;
    for seed in 0..150 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let value = random_document(&mut rng);
        let document = read(&value).unwrap();
        let Ok(split) = document.split() else { continue };
        merged += split.pools.iter().flat_map(|pool| &pool.members).filter(|m| m.len() > 1).count();
        let layouts: Vec<Layout> = split.pools.iter().map(|pool| first_fit(&pool.instance)).collect();
        let placed = document.allocations(&split, &layouts);
        let valid = split
            .pools
            .iter()
            .zip(&layouts)
            .all(|(pool, layout)| check_layout(&pool.instance, layout).is_empty());
        if valid {
            assert_eq!(document.check(&placed), Vec::<String>::new(), "seed {seed}: {value:#}");
        }
        // In this check, a class has the extent of its largest buffer, so that the two checkers agree on all
        // offsets.
        let random: Vec<Layout> = split
            .pools
            .iter()
            .map(|pool| {
                let offset = |b: &plimsoll_model::Buffer| {
                    b.fixed().unwrap_or_else(|| Bytes::new(b.alignment().get() * rng.random_range(0..8)))
                };
                Layout::new(pool.instance.buffers().iter().map(offset).collect())
            })
            .collect();
        let placed = document.allocations(&split, &random);
        let valid = split
            .pools
            .iter()
            .zip(&random)
            .all(|(pool, layout)| check_layout(&pool.instance, layout).is_empty());
        assert_eq!(document.check(&placed).is_empty(), valid, "seed {seed}: {value:#}");
    }
    assert!(merged > 50, "{merged}");
}

fn random_document(rng: &mut rand::rngs::Xoshiro256PlusPlus) -> Value {
    use rand::RngExt;
    let count = rng.random_range(2..7u32);
    let buffers: Vec<Value> = (0..count)
        .map(|id| {
            let lower = rng.random_range(0..6u64);
            let again = lower + rng.random_range(1..4u64);
            json!({ "id": id, "name": format!("b{id}"), "size": rng.random_range(1..9u64), "alignment": rng.random_range(1..4u64),
                    "live_intervals": [{ "lower": lower, "upper": lower + 1 }, { "lower": again, "upper": again + 2 }],
                    "allowed_pools": [0] })
        })
        .collect();
    let mut pairs = |most: u32| -> Vec<Value> {
        let pair = |_| {
            let first = rng.random_range(0..count);
            json!({ "first": first, "second": (first + rng.random_range(1..count)) % count })
        };
        (0..most).map(pair).collect()
    };
    let (colocations, separations, exclusions) = (pairs(1), pairs(1), pairs(3));
    json!({
        "schema_version": 1, "profile": "pypto_research_v1", "instance": "random",
        "problem": {
            "pools": [{ "id": 0, "name": "only", "capacity": 200, "reserved_ranges": [{ "begin": 2, "end": 5 }] }],
            "buffers": buffers,
            "constraints": { "colocations": colocations, "separations": separations,
                "temporal_exclusions": exclusions, "pinned_allocations": [] },
            "objective": { "aggregation": "lexicographic", "terms": [] } } })
}

/// Places the buffers in sequence, each at the lowest address that fits: 0 or the end of another buffer.
fn first_fit(instance: &Instance) -> Layout {
    let fixed = |id| instance.buffer(id).fixed().map(Bytes::get);
    let mut offsets: Vec<Option<u64>> = instance.ids().map(fixed).collect();
    for id in instance.ids() {
        if offsets[id.index()].is_some() {
            continue;
        }
        let (size, alignment) = (instance.buffer(id).size().get(), instance.buffer(id).alignment().get());
        let placed = instance.ids().filter(|&other| instance.conflict(id, other));
        let taken: Vec<(u64, u64)> = placed
            .filter_map(|other| {
                let begin = offsets[other.index()]?;
                Some((begin, begin + instance.buffer(other).size().get()))
            })
            .collect();
        let tops = taken.iter().map(|&(_, end)| end.next_multiple_of(alignment)).chain([0]);
        let free = |offset: &u64| taken.iter().all(|&(begin, end)| end <= *offset || offset + size <= begin);
        offsets[id.index()] = tops.filter(free).min();
    }
    Layout::from_raw(offsets.into_iter().map(Option::unwrap))
}

#[test]
fn captures_are_split_into_their_pools() {
    let Some(folder) = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty()) else {
        return eprintln!("skipped: {CORPORA_VARIABLE} is not set");
    };
    let folder = Path::new(&folder).join("dsa");
    let Ok(entries) = std::fs::read_dir(&folder) else { return eprintln!("skipped: no folder dsa") };
    let (mut pools, mut buffers) = (0, 0);
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let document = read_dsa_file(&path).unwrap();
        let split = document.split().unwrap();
        let layouts: Vec<Layout> = split.pools.iter().map(|pool| first_fit(&pool.instance)).collect();
        let placed = document.allocations(&split, &layouts);
        let broken: Vec<String> = document.check(&placed);
        assert!(
            broken.iter().all(|why| why.contains("beyond the capacity")),
            "{}: {broken:?}",
            path.display()
        );
        pools += split.pools.len();
        buffers += document.buffers().len();
    }
    assert_eq!((pools, buffers), (70, 743));
}

#[test]
fn groups_are_refused_unless_a_member_is_fixed() {
    let text = "id,lower,upper,size,offset,above\na,0,3,8,OFFSET,\nb,0,3,8,,a+8\n";
    let read = |offset: &str| {
        let text = text.replace("OFFSET", offset);
        read_instance("t", text.as_bytes(), ReadOptions::default()).unwrap()
    };
    let write = |instance: &Instance| {
        let mut written = Vec::new();
        write_dsa(Path::new("x.json"), "t", std::slice::from_ref(instance), &mut written).map(|()| written)
    };
    let error = write(&read("")).unwrap_err().to_string();
    assert!(error.contains("instance 't', buffer 'b': must lie 8 bytes above buffer 'a'"), "{error}");
    let written = write(&read("16")).unwrap();
    let split = read_dsa(Path::new("x.json"), &written).unwrap().split().unwrap();
    let fixed = split.pools[0].instance.buffers().iter().map(|b| b.fixed().unwrap().get());
    assert_eq!(fixed.collect::<Vec<_>>(), [16, 24]);
}
