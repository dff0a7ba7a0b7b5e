//! Tests the analysis of records: figures computed by hand, general properties, bad input, and the command.

use crate::common::{Random, Scratch, TINY, contains, has};
use plimsoll::model::Claim;
use plimsoll_lab::analysis::integral::integral;
use plimsoll_lab::analysis::standing::{VIRTUAL, is_solved, virtual_best};
use plimsoll_lab::analysis::{Cell, Group, Options, Sort, Standing, curves, find, groups, standings, study};
use plimsoll_lab::report::plots::plots;
use plimsoll_lab::row::{AlgorithmKind, Row, Status, Unit};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const HEADER: &str = "schema_version,suite,instance,sha256,load,capacity,problem,algorithm,kind,seed,repetition,threads,time_limit,decide,status,claim,value,lower_bound,seconds,cpu,cores,error";

const PLAIN: Options<'_> =
    Options { target_gap: None, shift: 0.0, algorithms: &[], sort: Sort::Gap, reference: None };

/// `fast` is a heuristic with three seeds on `a`. `exact` proves `a`, stops at the limit on `b`, and fails on
/// `c`.
fn example() -> String {
    let rows = [
        "6,s,a,ha,90,,offsets,fast,heuristic,0,1,1,10,,done,feasible,110,90,1,cpu,2,",
        "6,s,a,ha,90,,offsets,fast,heuristic,1,1,1,10,,done,feasible,120,90,2,cpu,2,",
        "6,s,a,ha,90,,offsets,fast,heuristic,2,1,1,10,,done,feasible,130,90,3,cpu,2,",
        "6,s,a,ha,90,,offsets,exact,exact,0,1,1,10,,done,optimal,100,100,4,cpu,2,",
        "6,s,b,hb,30,,offsets,fast,heuristic,0,1,1,10,,done,feasible,50,30,0.25,cpu,2,",
        "6,s,b,hb,30,,offsets,exact,exact,0,1,1,10,,done,feasible,60,40,10,cpu,2,",
        "6,s,c,hc,10,,offsets,fast,heuristic,0,1,1,10,,done,optimal,10,10,0.5,cpu,2,",
        "6,s,c,hc,10,,offsets,exact,exact,0,1,1,10,,failed,,,,,cpu,2,\"it broke, \"\"badly\"\"\"",
    ];
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

fn analysed(text: &str, options: Options<'_>) -> (Vec<Group>, Vec<Vec<Standing>>) {
    let scratch = Scratch::new();
    let path = scratch.write("rows.csv", text);
    let records = find(&[path]).unwrap();
    let groups = groups(&records[0].observations, options);
    let standings = groups.iter().map(|group| standings(group, options.shift)).collect();
    (groups, standings)
}

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
}

#[test]
fn figures_match_those_computed_by_hand() {
    let (groups, standings) = analysed(&example(), PLAIN);
    assert_eq!((groups.len(), groups[0].instances.len()), (1, 3));
    let bounds: Vec<_> = groups[0].instances.iter().map(|i| (i.best_bound, i.best_value)).collect();
    assert_eq!(bounds, [(Some(100), Some(100)), (Some(40), Some(50)), (Some(10), Some(10))]);
    let [fast, exact, best] = &standings[0][..] else { panic!("two and their best") };
    assert_eq!((fast.instances, fast.runs, fast.answered, fast.solved, fast.at_bound), (3, 5, 3, 1, 1));
    assert_eq!((exact.instances, exact.runs, exact.answered, exact.solved, exact.at_bound), (3, 3, 2, 1, 1));
    // Medians and best bounds: for `fast`, 120 and 100, 50 and 40, 10 and 10; for `exact`, 100 and 100, 60
    // and 40.
    near(fast.mean_gap, 15.0);
    near(exact.mean_gap, 25.0);
    assert_eq!((fast.worst_gap, exact.worst_gap), (Some(25.0), Some(50.0)));
    // Times to solve: none, none, 0.5 for `fast`, and 4, >10, >10 for `exact`. A heuristic has no time to
    // solve for an unsolved instance, and therefore no mean time to solve.
    assert_eq!((fast.mean_time, fast.par2), (None, None));
    let times: Vec<_> = groups[0].cells[0].iter().flatten().map(Cell::time_to_solve).collect();
    assert!(times[0].is_none() && times[1].is_none() && times[2].is_some_and(|time| !time.censored));
    near(exact.mean_time.map(|mean| mean.value), 400f64.cbrt());
    assert!(exact.mean_time.unwrap().bound);
    near(exact.par2, 44.0 / 3.0);
    // Median times spent: 2, 0.25, 0.5.
    near(fast.mean_spent, 0.25f64.cbrt());
    let wins = |own: &Standing| (own.value_alone, own.value_shared, own.time_alone, own.time_shared);
    assert_eq!((wins(fast), wins(exact)), ((2, 0, 1, 0), (1, 0, 1, 0)));
    assert_eq!((best.algorithm.as_str(), best.solved), (VIRTUAL, 2));
    near(best.mean_time.map(|mean| mean.value), 20f64.cbrt());
    near(best.mean_gap, 25.0 / 3.0);
    assert_eq!((fast.only_solver, exact.only_solver), (Some(1), Some(1)));
    near(exact.time_factor.map(|mean| mean.value), 2.5f64.cbrt());
    assert!(exact.time_factor.unwrap().bound);
    near(exact.gap_loss, 20.0 / 3.0);
    near(fast.gap_loss, 12.5);
    assert_eq!(exact.troubles.get(&Status::Failed), Some(&1));
    assert_eq!(groups[0].troubles[0].error, "it broke, \"badly\"");
}

#[test]
fn more_relations_are_better() {
    let header = "schema_version,suite,instance,sha256,operators,problem,unit,algorithm,kind,seed,time_limit,status,claim,value,lower_bound,seconds";
    let rows = [
        "6,g,a,ha,7,fusion,relations,fast,heuristic,0,10,done,feasible,6,9,1",
        "6,g,a,ha,7,fusion,relations,fast,heuristic,1,10,done,feasible,4,9,1",
        "6,g,a,ha,7,fusion,relations,exact,exact,0,10,done,optimal,8,8,4",
        "6,g,b,hb,9,fusion,relations,fast,heuristic,0,10,done,feasible,5,20,1",
        "6,g,b,hb,9,fusion,relations,exact,exact,0,10,done,feasible,5,10,10",
        "6,g,c,hc,9,fusion,relations,fast,heuristic,0,10,done,feasible,3,3,1",
        "6,g,c,hc,9,fusion,relations,exact,exact,0,10,done,optimal,2,2,1",
    ];
    let (groups, standings) = analysed(&format!("{header}\n{}\n", rows.join("\n")), PLAIN);
    let group = &groups[0];
    assert!(group.question.to_string().starts_with("fusion, maximise, 10 s"));
    // The median of two runs is the worse run. An upper bound below a valid value is rejected.
    let cells = |at: usize| -> Vec<_> { group.cells[at].iter().flatten().map(|cell| cell.value).collect() };
    assert_eq!((cells(0), cells(1)), (vec![Some(4), Some(5), Some(3)], vec![Some(8), Some(5), None]));
    assert_eq!(group.troubles[0].error, "the bound 2 is below 3, the value of a valid solution");
    let facts: Vec<_> = group.instances.iter().map(|its| (its.best_bound, its.best_value)).collect();
    assert_eq!(facts, [(Some(8), Some(8)), (Some(10), Some(5)), (Some(3), Some(3))]);
    let [fast, exact, best] = &standings[0][..] else { panic!("two and their best") };
    near(fast.mean_gap, 100.0 / 3.0);
    assert_eq!((exact.mean_gap, exact.worst_gap, best.worst_gap), (Some(25.0), Some(50.0), Some(50.0)));
    let wins = |own: &Standing| (own.value_alone, own.value_shared);
    assert_eq!((wins(fast), wins(exact)), ((1, 1), (1, 1)));
    let profile = curves::value_profile(group);
    assert_eq!(profile[0].points.iter().map(|point| point.0).collect::<Vec<_>>(), [1.0, 1.5, 1.5]);
    // Empty columns are omitted from the tables.
    let scratch = Scratch::with("rows.csv", format!("{header}\n{}\n", rows.join("\n")));
    scratch.ok("report rows.csv --out out");
    let summary = scratch.read("out/summary.md");
    let columns = "| instance | operators | best bound, relations | best value, relations | fast gap % | exact gap % |\n";
    assert!(summary.contains(columns), "{summary}");
}

#[test]
fn curves_match_those_computed_by_hand() {
    let (groups, _) = analysed(&example(), PLAIN);
    let third = 1.0 / 3.0;
    let time = curves::time_profile(&groups[0]);
    assert_eq!(
        time.iter().map(|curve| curve.points.clone()).collect::<Vec<_>>(),
        [[(1.0, third)], [(1.0, third)]]
    );
    let value = curves::value_profile(&groups[0]);
    assert_eq!(value[0].points, [(1.0, third), (1.2, 2.0 * third), (1.25, 1.0)]);
    assert_eq!(value[1].points, [(1.0, third), (1.5, 2.0 * third)]);
    let cactus = curves::cactus(&groups[0]);
    assert_eq!(cactus[2].points, [(0.5, 1.0), (4.0, 2.0)]);
}

#[test]
fn runs_within_the_target_gap_are_solved() {
    let (groups, standings) = analysed(&example(), Options { target_gap: Some(20.0), ..PLAIN });
    // The values 110 and 120 are within 20 % of 100, but 130 is not, so the last run is unsolved. The median
    // of 1 s, 2 s and an unsolved run is 2 s.
    let cell = groups[0].cells[0][0].as_ref().unwrap();
    assert_eq!((cell.solved, cell.time.map(|time| time.seconds.to_bits())), (2, Some(2f64.to_bits())));
    assert_eq!((standings[0][0].solved, standings[0][1].solved), (2, 1));
}

#[test]
fn ties_are_shared_and_bounds_above_peaks_do_not_count() {
    let text = format!(
        "{HEADER}\n\
         6,s,a,h,5,,offsets,x,exact,0,1,1,10,,done,optimal,10,10,2,cpu,2,\n\
         6,s,a,h,5,,offsets,y,exact,0,1,1,10,,done,optimal,10,10,2,cpu,2,\n\
         6,s,a,h,5,,offsets,z,exact,0,1,1,10,,done,optimal,12,12,1,cpu,2,\n"
    );
    let (groups, standings) = analysed(&text, PLAIN);
    let wins = |at: usize| {
        let own: &Standing = &standings[0][at];
        (own.value_alone, own.value_shared, own.time_alone, own.time_shared)
    };
    assert_eq!((wins(0), wins(1), wins(2)), ((0, 1, 0, 1), (0, 1, 0, 1), (0, 0, 0, 0)));
    assert_eq!(groups[0].instances[0].best_bound, Some(10));
    assert_eq!((groups[0].troubles.len(), groups[0].troubles[0].status), (1, Status::Refused));
    assert!(groups[0].troubles[0].error.contains("12 is above 10"));
    assert_eq!((standings[0][0].only_solver, standings[0][0].solved), (Some(0), 1));
}

#[test]
fn different_questions_form_different_groups() {
    let rows = ["10,", "5,", "10,file"]
        .map(|limit| format!("6,s,a,h,5,7,offsets,x,exact,0,1,1,{limit},done,feasible,6,5,2,cpu,2,"));
    let (groups, _) = analysed(&format!("{HEADER}\n{}\n", rows.join("\n")), PLAIN);
    assert_eq!(groups.len(), 3);
    assert_eq!(
        groups[2].question.to_string(),
        "offsets, decide the capacity, 10 s, 1 thread, cpu with 2 threads"
    );
    // A peak within the capacity counts as solved only in the last group.
    let solved: Vec<bool> = groups.iter().map(|g| is_solved(g.cells[0][0].as_ref().unwrap())).collect();
    assert_eq!(solved, [false, false, true]);
    assert!(groups[2].instances[0].capacity == Some(7) && groups[0].instances[0].capacity.is_none());
}

#[test]
fn different_terms_are_different_questions() {
    let header = "schema_version,instance,sha256,problem,unit,terms,algorithm,kind,status,value,lower_bound";
    let row = |machine, value, bound| {
        format!("6,g,h,tiers,picoseconds,machine={machine},x,exact,done,{value},{bound}")
    };
    let (groups, _) = analysed(&format!("{header}\n{}\n{}\n", row("a", 9, 6), row("b", 5, 4)), PLAIN);
    let found: Vec<_> = groups.iter().map(|group| (group.question.to_string(), &group.cells[0][0])).collect();
    assert!(found[0].0.starts_with("tiers, minimise, machine=a, "), "{}", found[0].0);
    let gaps: Vec<_> = found.iter().map(|(_, cell)| cell.as_ref().and_then(|cell| cell.gap)).collect();
    assert_eq!(gaps, [Some(50.0), Some(25.0)]);
}

#[test]
fn the_load_is_the_bound_only_without_another() {
    let rows = "6,s,a,h,5,,offsets,x,external,0,1,1,10,,done,,8,,2,cpu,2,\n\
                6,s,b,i,9,,offsets,x,external,0,1,1,10,,done,,8,,2,cpu,2,\n";
    let (groups, _) = analysed(&format!("{HEADER}\n{rows}"), PLAIN);
    let [a, b] = &groups[0].instances[..] else { panic!() };
    assert_eq!((a.best_bound, a.bound_from), (Some(5), "load"));
    // A load above a valid peak is not a bound, because the instance has exclusions.
    assert_eq!((b.best_bound, b.bound_from), (None, ""));
}

#[test]
fn primal_integrals_are_areas() {
    let area = |events: &[(f64, u64)], best, horizon| integral(events.iter().copied(), best, horizon);
    // No solution for 1 s, then twice the best peak for 2 s, then the best peak.
    near(Some(area(&[(1.0, 200), (3.0, 100)], 100, 10.0)), 1.0 + 2.0 * 0.5);
    near(Some(area(&[], 100, 10.0)), 10.0);
    near(Some(area(&[(0.0, 100)], 100, 10.0)), 0.0);
    near(Some(area(&[(0.0, 0)], 0, 10.0)), 0.0);
    // Improvements after the limit do not count.
    near(Some(area(&[(2.0, 400), (12.0, 100)], 100, 10.0)), 2.0 + 8.0 * 0.75);
}

#[test]
fn traces_give_integrals_and_mean_gaps() {
    let trace = "1:incumbent:200: 3:incumbent:100: 4:end:100:100";
    let mut lines = example().lines().map(|line| format!("{line},")).collect::<Vec<_>>();
    lines[0] += "trace";
    lines[4] += trace;
    let (groups, _) = analysed(&(lines.join("\n") + "\n"), PLAIN);
    let exact = &standings(&groups[0], 0.0)[1];
    near(exact.integral, 2.0);
    near(exact.integral_share, 20.0);
    let (means, instances) = curves::gaps(&groups[0]);
    assert_eq!((means.len(), instances), (1, 1));
    assert_eq!(means[0].points, [(0.001, 100.0), (3.0, 0.0)]);
}

#[cfg(unix)]
#[test]
fn links_to_parent_folders_are_not_followed() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("all/r")).unwrap();
    std::fs::create_dir(scratch.path("aside")).unwrap();
    scratch.write("all/r/rows.csv", example());
    scratch.write("aside/rows.csv", "not a record");
    for (to, name) in [("..", "all/up"), (".", "all/here")] {
        std::os::unix::fs::symlink(to, scratch.path(name)).unwrap();
    }
    let names: Vec<String> =
        find(&[scratch.path("all")]).unwrap().into_iter().map(|record| record.name).collect();
    assert_eq!(names, ["r"]);
}

#[test]
fn traces_of_sweeps_belong_to_runs_by_seed_and_limit() {
    let mut rows =
        "schema_version,instance,problem,algorithm,kind,seed,time_limit,status,value,seconds,trace\n"
            .to_owned();
    // There are two limits and two seeds.
    for (limit, seed, found) in [(1, 0, 0.2), (1, 1, 0.4), (4, 0, 1.0), (4, 1, 3.0)] {
        writeln!(rows, "6,a,offsets,x,exact,{seed},{limit},done,7,1,{found}:incumbent:7:").unwrap();
    }
    let (groups, _) = analysed(&rows, PLAIN);
    let found: Vec<_> = groups.iter().map(|group| standings(group, 0.0)[0].integral).collect();
    assert_eq!(groups.len(), 2);
    near(found[0], 0.3);
    near(found[1], 2.0);
    assert_eq!(curves::gaps(&groups[1]).1, 0, "no bound is known");
}

#[test]
fn without_a_time_limit_unsolved_runs_have_no_time() {
    let row = |instance, algorithm, claim: &str, peak: u64, seconds: f64| {
        let bound = if claim == "optimal" { 10 } else { 5 };
        format!(
            "6,s,{instance},h{instance},5,,offsets,{algorithm},exact,0,1,1,,,done,{claim},{peak},{bound},{seconds},cpu,2,\n"
        )
    };
    let rows = [
        row("a", "gave-up", "feasible", 11, 0.001),
        row("a", "slow", "optimal", 10, 4.0),
        row("b", "slow", "optimal", 10, 4.0),
    ];
    let (groups, standings) = analysed(&format!("{HEADER}\n{}", rows.concat()), PLAIN);
    let [gave_up, slow, best] = &standings[0][..] else { panic!("two and their best") };
    assert_eq!((gave_up.par2, gave_up.mean_time.map(|mean| mean.value)), (None, None));
    near(gave_up.mean_spent, 0.001);
    near(slow.par2, 4.0);
    near(best.mean_time.map(|mean| mean.value), 4.0);
    assert_eq!(slow.time_factor.map(|mean| mean.value), None);
    // No other algorithm ran on b, so there is a note instead of a win.
    assert_eq!((slow.value_alone, slow.time_alone), (1, 1));
    assert!(groups[0].notes[0].contains("not every algorithm ran"), "{:?}", groups[0].notes);
}

#[test]
fn an_algorithm_has_one_colour_and_the_best_come_first() {
    let mut text = format!("{HEADER}\n");
    for (at, peak) in (0..9).rev().zip(20..) {
        writeln!(text, "6,s,a,h,10,,offsets,w{at},exact,0,1,1,10,,done,feasible,{peak},10,1,cpu,2,").unwrap();
    }
    text += "6,s,b,k,10,,offsets,w3,exact,0,1,1,10,,done,optimal,10,10,1,cpu,2,\n";
    let scratch = Scratch::new();
    let path = scratch.write("rows.csv", text);
    let studies = study(find(&[path]).unwrap(), PLAIN);
    let plots = plots(&studies);
    let names: Vec<&str> = plots.iter().map(|plot| plot.title.as_str()).collect();
    assert_eq!(
        names,
        ["Performance profile: time", "Performance profile: value", "Cactus: instances solved over time"]
    );
    for plot in &plots {
        let [third, other] = ["w3 (", "w8 ("].map(|name| plot.svg.find(name).unwrap());
        assert!(third < other, "{}", plot.title);
        // In the legend, the line of an algorithm precedes its name.
        let colour = |at: usize| plot.svg[..at].rsplit("stroke=\"").next().map(|rest| rest[..7].to_owned());
        assert_eq!(colour(third).as_deref(), Some("#56b4e9"), "w3, the sixth: {}", plot.title);
    }
}

/// Returns random rows.
fn random_rows(seed: u64, unit: Unit) -> Vec<Row> {
    let mut random = Random(seed);
    let mut next = |below: u64| random.below(below);
    let mut rows = Vec::new();
    for line in 0..60 {
        let instance = next(6);
        let peak = (next(5) > 0).then(|| 100 + instance + next(50));
        let optimal = next(3) == 0;
        rows.push(Row {
            line,
            instance: format!("i{instance}"),
            problem: "offsets".to_owned(),
            unit,
            kind: Some(AlgorithmKind::Exact),
            algorithm: format!("a{}", next(4)),
            time_limit: Some(10.0),
            threads: 1,
            status: if next(8) == 0 { Status::Crashed } else { Status::Done },
            claim: Some(if optimal { Claim::Optimal } else { Claim::Feasible }),
            value: peak,
            lower_bound: Some(90 + next(15)),
            seconds: Some(next(100) as f64 / 10.0),
            ..Row::default()
        });
    }
    rows
}

#[test]
fn the_virtual_best_is_never_worse_and_profiles_rise() {
    for seed in 0..200 {
        let unit = if seed % 2 == 0 { Unit::Picoseconds } else { Unit::Relations };
        let rows = random_rows(seed, unit);
        let groups = groups(&rows, PLAIN);
        let group = &groups[0];
        let (all, standings) = (virtual_best(group, None), standings(group, 0.01));
        for own in &group.cells {
            for (cell, best) in own.iter().zip(&all) {
                let Some(cell) = cell else { continue };
                let best = best.as_ref().unwrap();
                let rank = |cell: &Cell| cell.value.map(|value| unit.rank(value));
                assert!(cell.value.is_none() || rank(best) <= rank(cell) && best.value.is_some());
                assert!(
                    !is_solved(cell)
                        || is_solved(best) && best.time.unwrap().seconds <= cell.time.unwrap().seconds
                );
            }
        }
        let lost = standings.iter().filter_map(|own| own.time_factor);
        assert!(lost.clone().all(|factor| factor.value >= 1.0 - 1e-12), "seed {seed}");
        assert!(standings.iter().filter_map(|own| own.gap_loss).all(|loss| loss >= 0.0), "seed {seed}");
        let curves = [curves::time_profile(group), curves::value_profile(group), curves::cactus(group)];
        for curve in curves.iter().flatten() {
            assert!(curve.points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{curve:?}");
        }
        for curve in curves[..2].iter().flatten() {
            assert!(curve.points.iter().all(|&(x, y)| x >= 1.0 && y <= 1.0), "{curve:?}");
        }
        // Every run is in a cell, and every run without an answer is listed.
        let runs: usize = group.cells.iter().flatten().flatten().map(|cell| cell.runs).sum();
        assert_eq!(runs, rows.len());
        let crashed = rows.iter().filter(|row| row.status == Status::Crashed).count();
        assert_eq!(group.troubles.iter().filter(|row| row.status == Status::Crashed).count(), crashed);
    }
}

#[test]
fn errors_name_file_line_and_value() {
    let scratch = Scratch::new();
    let good = example();
    for (from, to, why) in [
        (",100,100,4", ",x100,100,4", "rows.csv: line 5: value is 'x100'"),
        (",100,4,cpu", ",100,-4,cpu", "rows.csv: line 5: seconds is '-4'; expected a time in seconds"),
        ("10,,done", "10,perhaps,done", "line 2: decide is 'perhaps': expected file, load or a capacity"),
        ("fast,heuristic", "fast,quick", "line 2: kind is 'quick': expected heuristic,"),
        ("6,s,b", "5,s,b", "line 6: schema_version is '5'; the supported version is 6"),
        ("exact,exact", ",exact", "line 5: algorithm is '', but must not be empty"),
        ("6,s,b", "s,b", "rows.csv: line 6: 21 fields, but the header has 22"),
        ("problem", "puzzle", "rows.csv: line 1: missing column 'problem'"),
        ("seed", "repetition", "two columns are named 'repetition'"),
        (good.split_once('\n').unwrap().1, "", "rows.csv: the files (rows.csv and others) contain no rows"),
        (&good, "", "rows.csv"),
    ] {
        scratch.write("rows.csv", good.replacen(from, to, 1));
        scratch.refuses("report rows.csv --out o", &[why]);
        assert!(!scratch.path("o").exists());
    }
    std::fs::create_dir(scratch.path("empty")).unwrap();
    scratch.refuses("report empty --out o", &["empty: no CSV file in this folder"]);
    scratch.write("rows.csv", &good);
    scratch.write("file", "");
    scratch.write("empty/mine", "");
    for (line, why) in [
        ("nowhere --out o", "nowhere: no such file or folder"),
        ("file --out o", "file: expected a folder or a CSV file"),
        ("rows.csv --out file", "file: it is not a folder"),
        ("rows.csv --out empty/..", "cannot write"),
        ("rows.csv --out empty", "it is neither empty nor an earlier report"),
        ("rows.csv --out o --target-gap -1", "--target-gap"),
    ] {
        scratch.refuses(format!("report {line}"), &[why]);
    }
}

#[test]
fn truncated_rows_and_unknown_columns_are_noted() {
    let scratch = Scratch::new();
    let text = example().replacen("error\n", "mood\n", 1);
    scratch.write("rows.csv", format!("{text}6,s,c,hc,10,,off"));
    let run = scratch.ok("report rows.csv --out o --json");
    run.warns(&["the last line is truncated (16 bytes", "unknown column 'mood' is ignored"]);
    has(&run.json(), &json!({ "runs": 8, "without_answer": 1 }));
    contains(&scratch.read("o/summary.md"), &["is truncated"]);
    contains(&scratch.read("o/report.html"), &["is truncated"]);
}

#[test]
fn a_report_is_reproducible_and_replaced_as_a_whole() {
    let scratch = Scratch::with("t.csv", TINY);
    scratch.ok("bench t.csv --time-limit 5 --trace --out all/bench");
    let toml = "trace = true\nlayouts = true\nseeds = [0, 1]\nlimits.nodes = 50\n[[instances]]\n\
        family = 'uniform'\nbuffers = [5, 30]\n[[algorithms]]\nnames = ['first-fit-size', 'search']\n";
    scratch.write("s.toml", toml);
    scratch.ok("sweep s.toml --out all/sweep");
    std::fs::create_dir(scratch.path("all/other")).unwrap();
    scratch.write("all/other/graphs.csv", "graph,n,why\nx,1,<b>&\"'\ny,2,\n");
    let files = |out: &str| {
        let entries = [out.to_owned(), format!("{out}/charts")].map(|folder| scratch.path(&folder));
        let entries = entries.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let name = |path: &Path| path.strip_prefix(scratch.path(out)).unwrap().display().to_string();
        paths.map(|path| (name(&path), std::fs::read(path).unwrap())).collect::<BTreeMap<_, _>>()
    };
    scratch.ok("report all --out one").prints(&["\nrecords      3\n"]);
    scratch.ok("report all --out two");
    let first = files("one");
    assert!(first == files("two"));
    // The sweep kept layouts and traces.
    contains(&scratch.read("one/report.html"), &["Layouts: 2 of 2", "<summary>uniform-30-0"]);
    contains(&scratch.read("one/gap-over-time.csv"), &["sweep,1,search,"]);
    for name in ["instances", "algorithms", "profile", "cactus", "gap-over-time"] {
        assert!(first.contains_key(&format!("{name}.csv")), "{name}");
    }
    assert!(first.keys().any(|name| name.ends_with("-gap-over-time.svg")));
    // The report is replaced; a report among the inputs is ignored.
    scratch.ok("report all --out one");
    assert!(first == files("one"));
    scratch.ok("report all --out all/report");
    scratch.ok("report all --out all/report");
    assert!(scratch.read("all/report/summary.md") == scratch.read("one/summary.md"));
    scratch.refuses("report all/bench --out all", &["it contains an input of this command"]);
    // Other files are not deleted.
    scratch.write("one/mine.txt", "");
    scratch.refuses("report all --out one", &["one: it contains 'mine.txt'"]);
}

#[test]
fn layouts_are_drawn_by_the_page_or_have_a_reason() {
    const DATA: &str = "<div class=\"layout\"><script type=\"application/json\">{\"instance\":\"t\",";
    let scratch = Scratch::with("t.csv", TINY);
    scratch.ok("bench t.csv --problems offsets --algorithms exact --out rec --report");
    let page = scratch.read("rec/report/report.html");
    assert!(page.contains("Layouts: 1 of 1") && page.contains(DATA), "no layout");
    assert!(page.contains("No layout has a lower peak.") && page.contains("The map needs JavaScript."));
    // The scripts of the map, of the data and of the tables. The layout is not repeated as a picture.
    assert_eq!(page.matches("<script").count(), 3);
    assert!(scratch.path("rec/maps/t.svg").exists() && !page.contains("Pictures: "));
    let (rows, layout) = (scratch.read("rec/rows.csv"), scratch.read("rec/layouts/t.csv"));
    let fails = |why: &str| {
        scratch.ok("report rec --out o");
        let page = scratch.read("o/report.html");
        assert!(page.contains("Layouts: 0 of 1") && !page.contains(DATA), "{why}");
        assert!(page.contains(&format!("t is not shown: {why}")), "{why}");
        // The picture replaces the layout, and the script of the map is not needed.
        assert!(page.contains("Pictures: 1 of 1") && page.matches("<script").count() == 1);
    };
    std::fs::remove_file(scratch.path("rec/layouts/t.csv")).unwrap();
    fails("cannot open the layout layouts/t.csv: ");
    scratch.write("rec/layouts/t.csv", "id,lower\n");
    fails("cannot draw the layout: layouts/t.csv");
    let last = layout.trim_end().rsplit_once(',').unwrap().0;
    scratch.write("rec/layouts/t.csv", format!("{last},1\n"));
    fails("the layout 'layouts/t.csv' is not valid");
    let many: Vec<String> = (0..=200_000).map(|at| format!("{at},0,1,1,{at}\n")).collect();
    scratch.write("rec/layouts/t.csv", format!("id,lower,upper,size,offset\n{}", many.concat()));
    fails("200001 buffers are too many to draw; at most 200000 are drawn");
    scratch.write("rec/layouts/t.csv", layout);
    scratch.write("rec/rows.csv", rows.replace("layouts/t.csv", "../t.csv"));
    fails("the layout '../t.csv' is outside the folder of the record");
}

/// Returns the element ids on a page.
fn identifiers(page: &str) -> Vec<&str> {
    page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn names_cannot_break_the_page() {
    let scratch = Scratch::new();
    let evil = "\"<b>&\"\"'</script><script>alert(1)</script>\"";
    std::fs::create_dir_all(scratch.path("all/r/maps")).unwrap();
    let text =
        example().replace("s,a,ha", &format!("s,{evil},ha")).replace("it broke", "<img src=x onerror=y>");
    scratch.write("all/r/rows.csv", text.replace(",fast,", &format!(",{evil},")));
    scratch.write("all/r/README.md", "# <script>x</script>\n\n    plimsoll bench '<i>'\n\n- `<b>` & more\n");
    scratch.write(
        "all/r/maps/good.svg",
        "<svg xmlns=\"x\" id=\"r1\" viewBox=\"0 0 1 1\"><rect width=\"1\" height=\"1\"/></svg>",
    );
    scratch.write("all/r/maps/evil.svg", "<svg xmlns=\"x\"><script>alert(2)</script></svg>");
    std::fs::create_dir_all(scratch.path("all/<u>")).unwrap();
    scratch.write("all/<u>/t.csv", format!("<i>name,{evil}\n{},1\n<u>,2\n", "<s>".repeat(99)));
    scratch.ok("report all --out o --title '<em>&'");
    let page = scratch.read("o/report.html");
    for bad in ["<b>&", "<script>alert", "<script>x", "<img src=x", "<i>", "<u>", "<s>", "<em>"] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("default-src 'none'") && page.contains("&lt;b&gt;&amp;&quot;"));
    // Scripts do not run in images.
    assert_eq!(page.matches("<img alt=\"").count(), page.matches("src=\"data:image/svg+xml;base64,").count());
    assert!(page.contains("alt=\"good.svg\"") && page.contains("alt=\"evil.svg\""));
    for tag in ["table", "details", "section", "figure", "svg", "div", "summary", "ul"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let mut ids = identifiers(&page);
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&link), "{link}");
    }
    assert!(
        !page.contains("href=\"h")
            && page.matches(" src=\"").count() == page.matches(" src=\"data:image/svg+xml;base64,").count()
            && !page.contains("url(")
            && !page.contains("@import")
    );
}

#[test]
fn a_report_begins_with_the_result() {
    let scratch = Scratch::with("rows.csv", example());
    let text = scratch.narrow(&["report", "rows.csv", "--out", "o"]).exits(0).stdout;
    assert!(text.starts_with("offsets: fast is best with a mean gap of 15.00 % and reaches, on 1 of 3"));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let headline = "fast is best with a mean gap of 15.00 % and reaches, on 1 of 3 instances, a bound that needs no search; the mean gap of exact is 25.00 %.";
    let page = scratch.read("o/report.html").replace('\u{a0}', " ");
    contains(&scratch.read("o/summary.md"), &[headline]);
    contains(&page, &[headline, "axis from 0 to 25.00 %", "width:60.00%", "- (failed)"]);
    assert_eq!(scratch.json("report rows.csv --out o")["headlines"][0]["headline"], headline);
}

#[test]
fn algorithms_are_selected_and_sorted() {
    let scratch = Scratch::with("rows.csv", example());
    let rows = |options: &str| -> Vec<String> {
        scratch.ok(format!("report rows.csv --out o {options}"));
        let summary = scratch.read("o/summary.md");
        let values = summary.lines().skip_while(|line| !line.starts_with("| algorithm | kind")).skip(2);
        values.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
    };
    for (options, names) in [
        ("", ["fast", "exact", VIRTUAL]),
        ("--sort name", ["exact", "fast", VIRTUAL]),
        ("--sort time", ["fast", "exact", VIRTUAL]),
    ] {
        let found = rows(options);
        assert!(found.iter().map(|row| row.split('|').nth(1).unwrap().trim()).eq(names), "{found:?}");
    }
    // The gaps of `fast` still refer to the bounds that `exact` proved.
    let alone = rows("--algorithms fast");
    assert!(alone.len() == 1 && alone[0].contains("| 15.00 | 25.00 |"), "{alone:?}");
    assert!(!scratch.read("o/report.html").contains("exact"), "other algorithms are on the page");
    let line = "report rows.csv --out none --algorithms fats";
    scratch.refuses(line, &["unknown algorithm 'fats'; did you mean 'fast'?"]);
    scratch.run("report rows.csv --out none --sort size").exits(2);
    assert!(!scratch.path("none").exists());
}

#[test]
fn latex_tables_are_escaped_and_need_no_folder() {
    let scratch = Scratch::with("rows.csv", example().replace(",fast,", ",a_b & 100%,"));
    let latex = |options: &str| scratch.ok(format!("report rows.csv --latex {options}")).stdout;
    let unshifted = latex("--shift 0");
    contains(&unshifted, &["  a\\_b \\& 100\\% & 15.00 & 25.00 & 1/3 & 630 ms & - & - \\\\\n"]);
    contains(&unshifted, &["  exact & 25.00 & 50.00 & 1/3 & 6.32 s & - & \\textgreater{}7.37 s \\\\\n"]);
    let shifted = latex("--shift 0.5");
    assert!(shifted == latex("--shift 500ms") && shifted != unshifted, "{shifted}");
    scratch.run("report rows.csv --latex --json").exits(2);
    scratch.run("report rows.csv").exits(2);
    latex("--out o");
    assert!(scratch.read("o/report.html").contains("100%"));
}

/// Checks the page in a browser with `scripts/report-browser.sh`.
#[test]
#[ignore = "needs a browser: apt-get install chromium"]
fn a_browser_shows_and_sorts_the_page() {
    let scratch = Scratch::with("rows.csv", example());
    scratch.ok("report rows.csv --out o");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/report-browser.sh");
    let output =
        std::process::Command::new("bash").arg(script).arg(scratch.path("o/report.html")).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("sorted") || text.contains("skipped: chromium"), "{text}");
}
