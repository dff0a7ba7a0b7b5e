//! Tests the specified properties of the families of instances (number of buffers, load, optimum, bytes) for
//! all parameters.

use plimsoll_datasets::{FAMILIES, Family, Written};
use plimsoll_model::csv::write_instance;
use plimsoll_model::{Bytes, Instance, LoadProfile, load};
use std::collections::BTreeMap;
use std::io;

fn params(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    list.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

fn make(family: &str, seed: u64, list: &[(&str, u64)]) -> Instance {
    Family::named(family).unwrap().generate(seed, &params(list)).unwrap().instance().unwrap()
}

fn written(family: &str, seed: u64, list: &[(&str, u64)]) -> Written {
    Family::named(family).unwrap().generate(seed, &params(list)).unwrap().write(io::sink()).unwrap()
}

fn refused(family: &str, list: &[(&str, u64)]) -> String {
    match Family::named(family).unwrap().generate(0, &params(list)) {
        Ok(made) => made.write(io::sink()).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// Returns the families whose number of buffers is a parameter.
fn counted() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().filter(|family| family.params[0].name == "buffers")
}

#[test]
fn recombined_instances_have_a_constant_load() {
    let spread =
        [[("alive", 1), ("steps", 1)], [("alive", 1), ("steps", 40)], [("alive", 14), ("steps", 24)]];
    for list in spread {
        for (seed, share) in [(0, 0), (1, 50), (2, 75), (3, 100)] {
            let list = [&list[..], &[("continue", share), ("unit", 8)]].concat();
            let made = make("recombined", seed, &list);
            assert_eq!(made, make("recombined", seed, &list));
            let profile = LoadProfile::of(&made);
            let [(interval, bytes)] = profile.pieces() else { panic!("the load changes") };
            assert_eq!((interval.lower.get(), interval.upper.get()), (0, list[1].1));
            let first = made.buffers().iter().filter(|b| b.lifespan().hull().lower.get() == 0);
            assert!(first.clone().all(|b| (24..=136).contains(&b.size().get())));
            assert_eq!(first.clone().count() as u64, list[0].1);
            assert_eq!(first.map(|b| b.size().get()).sum::<u64>(), bytes.get());
            assert!(made.buffers().iter().all(|b| b.size().get().is_multiple_of(8)));
            assert!(share < 100 || made.len() as u64 == list[0].1, "{list:?}");
        }
    }
    let name = "recombined-alive-14-steps-24-3";
    assert_eq!(make("recombined", 3, &[("alive", 14), ("steps", 24)]).name(), name);
    let text = refused("recombined", &[("buffers", 9)]);
    assert_eq!(text, "recombined has no parameter 'buffers'; it has alive, steps, continue, unit");
    assert_eq!(refused("recombined", &[("continue", 101)]), "continue is 101, but must be at most 100");
    for name in ["alive", "steps", "unit"] {
        assert_eq!(refused("recombined", &[(name, 0)]), format!("{name} is 0, but must be at least 1"));
    }
}

#[test]
fn families_keep_their_promises() {
    for family in counted() {
        for buffers in [6, 7, 100, 3000] {
            let made = family.make(buffers, 3).unwrap();
            assert_eq!(made.len() as u64, buffers, "{}", family.name);
            assert_eq!(made, family.make(buffers, 3).unwrap(), "{}", family.name);
            assert_eq!(made.name(), format!("{}-{buffers}-3", family.name));
            assert!(load(&made).0 < made.total_size() || buffers < 100, "{}", family.name);
        }
        assert_ne!(family.make(100, 1).unwrap(), family.make(100, 2).unwrap().with_name("x"));
        assert_eq!(Family::named(family.name).unwrap().about, family.about);
        assert_eq!((family.params[0].name, family.version), ("buffers", 1));
    }
    assert!(Family::named("none").is_none());
}

#[test]
fn rows_are_written_as_the_instance_would_be() {
    for family in counted() {
        let whole = family.generate(4, &params(&[("buffers", 500)])).unwrap();
        let capacity = whole.capacity;
        let instance = whole.instance().unwrap();
        let mut expected = Vec::new();
        write_instance(&instance, &mut expected).unwrap();
        let mut text = Vec::new();
        let said = family.generate(4, &params(&[("buffers", 500)])).unwrap().write(&mut text).unwrap();
        assert!(text == expected, "{}", family.name);
        assert_eq!((said.buffers, said.load), (500, load(&instance).0), "{}", family.name);
        assert_eq!(instance.capacity(), capacity);
        // These families cut a full rectangle.
        let is_tight = matches!(family.name, "packing" | "guillotine");
        assert!(!is_tight || said.optimum == Some(said.load), "{}", family.name);
    }
}

#[test]
fn parameters_are_checked() {
    for family in counted() {
        let unknown = refused(family.name, &[("colour", 1)]);
        assert!(unknown.contains("'colour'; it has buffers"), "{unknown}");
        assert_eq!(refused(family.name, &[("buffers", 0)]), "buffers is 0, but must be at least 1");
        for param in family.params {
            assert!(!param.about.is_empty());
            let extreme = refused(family.name, &[(param.name, u64::MAX)]);
            assert!(extreme.starts_with(&format!("{} is ", param.name)), "{}: {extreme}", family.name);
            // Other values lead to an instance or an error message.
            for value in [0, 1, 2, 3, 1000, param.most] {
                let few = [("buffers", 9), (param.name, value)];
                let given = if param.name == "buffers" { &few[..1] } else { &few[..] };
                if let Ok(made) = family.generate(1, &params(given)) {
                    let _ = made.write(io::sink());
                }
            }
        }
    }
    assert_eq!(
        refused("uniform", &[("min_size", 1 << 60), ("max_size", 1 << 60), ("unit", 1)]),
        "the sizes add up to more than 2^63 - 1 bytes: choose fewer or smaller buffers"
    );
    assert_eq!(
        refused("uniform", &[("min_size", 9), ("max_size", 8)]),
        "min_size is 9, but must not exceed max_size, which is 8"
    );
    assert_eq!(refused("trace", &[("young", 999)]), "young is 999, but must be at most 998");
    assert!(
        refused("packing", &[("bytes", 1025)]).starts_with("bytes is 1025, but must be a multiple of unit")
    );
    assert!(refused("packing", &[("bytes", 1024), ("min_duration", 100)]).contains("do not fit"));
}

#[test]
fn names_contain_parameters() {
    assert_eq!(make("stack", 7, &[("buffers", 30), ("disorder", 0)]).name(), "stack-disorder-0-30-7");
    let made = Family::named("minimalloc-like").unwrap().generate(2, &params(&[("law", 1)])).unwrap();
    assert_eq!(made.file_name(), "minimalloc-like-law-1-250-2.1048576.csv");
}

#[test]
fn perturbed_packings_keep_their_height_as_bound() {
    let mut below = 0;
    for seed in 0..20 {
        let list = [("buffers", 200), ("pinwheels", 30)];
        let whole = written("perturbed", seed, &[&list[..], &[("share", 0)]].concat());
        assert_eq!((whole.load.get(), whole.optimum), (1 << 20, Some(whole.load)));
        let shrunk = make("perturbed", seed, &list);
        let small = load(&shrunk).0;
        assert!(small <= whole.load && small.get() > 1 << 19, "{small}");
        below += usize::from(small < whole.load);
        // The pieces are the same, and none is larger or longer.
        let cut = make("perturbed", seed, &[&list[..], &[("share", 0)]].concat());
        let mut changed = 0;
        for (before, after) in cut.buffers().iter().zip(shrunk.buffers()) {
            let (b, a) = (before.lifespan().hull(), after.lifespan().hull());
            assert!(after.size() <= before.size() && b.lower <= a.lower && a.upper <= b.upper);
            changed += usize::from(before.size() != after.size() || a != b);
        }
        assert!((60..=120).contains(&changed), "{changed}");
    }
    assert!(below >= 10, "{below}");
    let all = written("perturbed", 1, &[("sizes", 100), ("lives", 100), ("share", 100)]);
    assert_eq!((all.buffers, all.optimum), (1000, None));
}

#[test]
fn minimalloc_like_instances_fill_their_capacity() {
    for law in [0, 1] {
        for buffers in [1, 2, 5, 40, 154, 454, 2000] {
            for seed in 0..6 {
                let list = [("law", law), ("buffers", buffers)];
                let said = written("minimalloc-like", seed, &list);
                assert_eq!(said.buffers as u64, buffers);
                assert_eq!((said.load.get(), said.optimum), (1 << 20, Some(said.load)), "{list:?}");
                let made = make("minimalloc-like", seed, &list);
                assert_eq!(made.capacity(), Some(Bytes::new(1 << 20)));
                let unit = |n: u64| n.is_multiple_of(1024);
                assert!(made.buffers().iter().all(|b| {
                    unit(b.size().get())
                        && unit(b.lifespan().hull().lower.get())
                        && unit(b.lifespan().duration())
                }));
            }
        }
    }
}

#[test]
fn above_load_reports_its_proof() {
    let proved: Vec<_> = (0..10)
        .map(|seed| Family::named("above-load").unwrap().generate(seed, &params(&[])).unwrap())
        .filter(|made| made.at_least > Some(Bytes::new(1 << 18)))
        .collect();
    assert!(proved.len() >= 5, "{}", proved.len());
    for made in proved {
        assert_eq!(made.at_least, Some(Bytes::new((1 << 18) + 1024)));
        let said = made.write(io::sink()).unwrap();
        assert_eq!((said.load.get(), said.optimum), (1 << 18, None));
    }
    let late = written("above-load", 3, &[("late", 1), ("buffers", 40)]);
    assert_eq!(late.buffers, 40);
}

#[test]
fn powers_of_two_keep_to_their_ends() {
    let list = [("sizes", 2), ("unit", 1), ("min_size", 100), ("max_size", 1000)];
    let sizes: Vec<u64> = make("uniform", 1, &list).buffers().iter().map(|b| b.size().get()).collect();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&128), Some(&512)));
    assert_eq!(
        refused("stack", &[("sizes", 2), ("min_size", 65), ("max_size", 100)]),
        "the smallest power of two at or above min_size is 128, but must not exceed max_size, which is 100"
    );
}

#[test]
fn large_exchanges_above_the_load_are_given_up() {
    // A hole with twenty heirs can be filled in too many ways to try all of them.
    for (buffers, turnover) in [(25, 9), (25, 1 << 24)] {
        let said = written("above-load", 7, &[("buffers", buffers), ("turnover", turnover)]);
        assert_eq!((said.buffers as u64, said.load.get()), (buffers, 1 << 18));
    }
}

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
fn high_water_mark() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
#[ignore = "takes a minute"]
fn a_million_buffers_stream() {
    for family in counted() {
        let said = written(family.name, 1, &[("buffers", 1_000_000)]);
        assert_eq!(said.buffers, 1_000_000, "{}", family.name);
        let Some(most) = high_water_mark() else { continue };
        println!("{}: {} MB so far", family.name, most / 1_000_000);
        assert!(most < 200_000_000, "{}: {most} bytes", family.name);
    }
}
