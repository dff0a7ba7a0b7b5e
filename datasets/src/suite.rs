//! The problems that need no file: what a benchmark runs everywhere.

use crate::{
    AboveLoadParams, FAMILIES, IntervalParams, LifeLaw, PackingParams, guillotine, hard_above_load,
    late_above_load, perfect_packing, random_intervals, reversed, thinned, worked_examples,
};
use plimsoll_model::{Bytes, Instance, load};

/// What is known of the least peak, apart from any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is this, bytes.
    Optimum(Bytes),
    /// It is at least this, bytes: the load, or more where that was proved otherwise.
    AtLeast(Bytes),
}

/// One problem of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteEntry {
    /// Family and parameters; also the name of the instance.
    pub name: String,
    /// The problem.
    pub instance: Instance,
    /// What is known of its least peak.
    pub known: Known,
    /// Why it is known, in a few words.
    pub reason: &'static str,
}

impl SuiteEntry {
    fn new(name: String, instance: Instance, known: Known, reason: &'static str) -> Self {
        Self { instance: instance.with_name(&name), name, known, reason }
    }
}

/// The worked examples, perfect packings of 20 to 400 buffers, instances above their load, and random ones. Always
/// the same, in the same order.
///
/// # Panics
/// Never: all parameters are in range.
pub fn embedded_suite() -> Vec<SuiteEntry> {
    let mut suite = Vec::new();
    for worked in worked_examples() {
        let known = match worked.optimum {
            Some(optimum) => Known::Optimum(optimum),
            None => Known::AtLeast(load(&worked.instance).0),
        };
        suite.push(SuiteEntry::new(worked.name.to_owned(), worked.instance, known, "worked example"));
    }
    for buffers in [20, 50, 100, 200, 400] {
        let params = PackingParams::with_buffers(buffers);
        for (family, make) in [("guillotine", guillotine as fn(_, _) -> _), ("perfect", perfect_packing)] {
            let packing = make(params, 1).expect("parameters in range");
            let known = Known::Optimum(packing.optimum);
            let name = format!("{family}-{buffers}");
            suite.push(SuiteEntry::new(name, packing.instance, known, "cut from a full rectangle"));
        }
    }
    for buffers in [20, 40, 80, 120] {
        let params = AboveLoadParams::with_buffers(buffers);
        // The first seed with a proof, so that the entry is what its name says.
        let made = (0..1000)
            .map(|seed| hard_above_load(params, seed).expect("parameters in range"))
            .find(|made| made.proved)
            .expect("about half of the seeds have a proof");
        let known = Known::AtLeast(made.lower_bound);
        suite.push(SuiteEntry::new(
            format!("above-load-{buffers}"),
            made.instance,
            known,
            "no order of the buffers alive survives all turns",
        ));
    }
    suite.extend(random_entries());
    suite
}

fn random_entries() -> Vec<SuiteEntry> {
    let plain = IntervalParams::with_buffers(200);
    let steps = 400;
    let laws = [
        ("uniform", LifeLaw::Uniform { steps, max_duration: 40 }),
        ("heavy-tailed", LifeLaw::HeavyTailed { steps, min_duration: 2 }),
        ("stack", LifeLaw::Stack { disorder: 0.1 }),
    ];
    let mut entries = Vec::new();
    let mut add = |name: String, instance: Instance| {
        let known = Known::AtLeast(load(&instance).0);
        entries.push(SuiteEntry::new(name, instance, known, "the load"));
    };
    for (law, lives) in laws {
        let instance = random_intervals(IntervalParams { lives, ..plain }, 1).expect("parameters in range");
        add(format!("random-{law}-200"), instance);
    }
    let packing = perfect_packing(PackingParams::with_buffers(100), 2).expect("parameters in range");
    add("perfect-100-reversed".to_owned(), reversed(&packing.instance));
    let thin = thinned(&packing.instance, 0.9, 1).expect("a share");
    add("perfect-100-thinned".to_owned(), thin);
    entries
}

/// Guillotine packings of growing size, three seeds each: how far does an exact method get?
///
/// # Panics
/// Never: all parameters are in range.
pub fn scaling_suite() -> Vec<SuiteEntry> {
    let sizes = [20, 30, 40, 60, 80, 120, 160, 200];
    sizes.into_iter().flat_map(|buffers| (1..=3).map(move |seed| packing(buffers, seed))).collect()
}

/// Eight guillotine packings of 100 buffers: what does each part of a method buy?
///
/// # Panics
/// Never: all parameters are in range.
pub fn ablation_suite() -> Vec<SuiteEntry> {
    (1..=8).map(|seed| packing(100, seed)).collect()
}

/// Perfect packings of 50 to 400 buffers, guillotine and not, two seeds each, with the optimum as their capacity: can a
/// method fill a rectangle without a single hole?
///
/// # Panics
/// Never: all parameters are in range.
pub fn packings_suite() -> Vec<SuiteEntry> {
    let mut suite = Vec::new();
    for buffers in [50, 100, 200, 400] {
        let params = PackingParams::with_buffers(buffers);
        for (family, make) in [("guillotine", guillotine as fn(_, _) -> _), ("perfect", perfect_packing)] {
            for seed in 1..=2 {
                let packing = make(params, seed).expect("parameters in range");
                let (known, capacity) = (Known::Optimum(packing.optimum), Some(packing.optimum));
                let instance = packing.instance.with_capacity(capacity);
                let name = format!("{family}-{buffers}-{seed}");
                suite.push(SuiteEntry::new(name, instance, known, "cut from a full rectangle"));
            }
        }
    }
    suite
}

/// Instances whose optimum is proved to lie above the load, 20 to 120 buffers: what can be proved there?
///
/// Eight alive at a time, by three laws: two or three die together; as many, but the contradiction comes late (seven
/// alive); five or six die together, whose sums must match those of their heirs.
///
/// # Panics
/// Never: all parameters are in range.
pub fn above_load_suite() -> Vec<SuiteEntry> {
    type Make = fn(AboveLoadParams, u64) -> Result<crate::AboveLoad, crate::GenerateError>;
    let plain = AboveLoadParams { bytes: 1 << 20, ..AboveLoadParams::with_buffers(0) };
    let laws: [(&str, AboveLoadParams, Make); 3] = [
        ("free", AboveLoadParams { alive: 8, ..plain }, hard_above_load),
        ("late", AboveLoadParams { alive: 7, ..plain }, late_above_load),
        ("sums", AboveLoadParams { alive: 8, turnover: 6, ..plain }, hard_above_load),
    ];
    let mut suite = Vec::new();
    for (law, params, make) in laws {
        for buffers in [20, 40, 60, 80, 100, 120] {
            let params = AboveLoadParams { buffers, ..params };
            suite.extend(two_above_load(&format!("above-load-{law}-{buffers}"), params, make));
        }
    }
    suite
}

/// The first two seeds with a proof.
fn two_above_load(
    name: &str,
    params: AboveLoadParams,
    make: fn(AboveLoadParams, u64) -> Result<crate::AboveLoad, crate::GenerateError>,
) -> impl Iterator<Item = SuiteEntry> {
    let made = (0..1000).map(move |seed| (seed, make(params, seed).expect("parameters in range")));
    made.filter(|(_, made)| made.proved).take(2).map(move |(seed, made)| {
        let known = Known::AtLeast(made.lower_bound);
        let reason = "no order of the buffers alive survives all turns";
        SuiteEntry::new(format!("{name}-{seed}"), made.instance, known, reason)
    })
}

/// The same question with more alive at a time: nine to twelve, 60 to 120 buffers, two or three of which die together;
/// sizes that are multiples of a 64th of the load, or any number of bytes.
///
/// # Panics
/// Never: all parameters are in range.
pub fn above_load_wide_suite() -> Vec<SuiteEntry> {
    let mut suite = Vec::new();
    for alive in [9, 10, 11, 12] {
        for (sizes, unit) in [("coarse", 1 << 14), ("fine", 1)] {
            for buffers in [60, 90, 120] {
                let params = AboveLoadParams { buffers, alive, bytes: 1 << 20, unit, turnover: 3 };
                let name = format!("above-load-wide-{alive}-{sizes}-{buffers}");
                suite.extend(two_above_load(&name, params, hard_above_load));
            }
        }
    }
    suite
}

/// The instance with time running backwards, under the name `X-reversed`; its capacity stays.
pub fn derived_reversed(instance: &Instance) -> Vec<Instance> {
    vec![reversed(instance).with_name(format!("{}-reversed", instance.name()))]
}

/// Shares of the buffers kept in thinned variants, percent.
const KEPT_PERCENT: [u8; 2] = [98, 95];

/// The instance with each buffer kept with probability 0.98, and with 0.95, under the names `X-thinned-98` and
/// `X-thinned-95`; its capacity stays. Always the same variants: the dice start from the share.
///
/// # Panics
/// Never: the shares are shares.
pub fn derived_thinned(instance: &Instance) -> Vec<Instance> {
    let thin = |percent: u8| {
        let part = thinned(instance, f64::from(percent) / 100.0, u64::from(percent)).expect("a share");
        part.with_name(format!("{}-thinned-{percent}", instance.name()))
    };
    KEPT_PERCENT.into_iter().map(thin).collect()
}

/// Families of the suite `large`.
const LARGE: [&str; 8] =
    ["uniform", "log-uniform", "heavy-tailed", "stack", "trace", "training", "packing", "guillotine"];

/// Eight [families](FAMILIES) with ten thousand, a hundred thousand and a million buffers. About a gigabyte.
///
/// # Panics
/// Never: all parameters are in range.
pub fn large_suite() -> Vec<SuiteEntry> {
    families(&[10_000, 100_000, 1_000_000])
}

fn families(sizes: &[u64]) -> Vec<SuiteEntry> {
    let chosen = FAMILIES.iter().filter(|family| LARGE.contains(&family.name));
    let all = chosen.flat_map(|family| sizes.iter().map(move |&buffers| (family, buffers)));
    let entry = |(family, buffers): (&crate::Family, u64)| {
        let made =
            family.generate(1, &[("buffers".to_owned(), buffers)].into()).expect("parameters in range");
        let at_most = made.at_most;
        let instance = made.instance().expect("sizes in range");
        let load = load(&instance).0;
        let (known, reason) = if at_most == Some(load) {
            (Known::Optimum(load), "cut from a full rectangle")
        } else {
            (Known::AtLeast(load), "the load")
        };
        SuiteEntry::new(format!("{}-{buffers}", family.name), instance, known, reason)
    };
    all.map(entry).collect()
}

fn packing(buffers: u64, seed: u64) -> SuiteEntry {
    let packing = guillotine(PackingParams::with_buffers(buffers), seed).expect("parameters in range");
    let known = Known::Optimum(packing.optimum);
    SuiteEntry::new(
        format!("guillotine-{buffers}-{seed}"),
        packing.instance,
        known,
        "cut from a full rectangle",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn suites_are_stable_and_their_names_are_unique() {
        let makes = [embedded_suite, scaling_suite, ablation_suite, packings_suite, above_load_suite];
        for make in makes.into_iter().chain([above_load_wide_suite as fn() -> _]) {
            check(&make(), &make());
        }
        check(&families(&[50, 2000]), &families(&[50, 2000]));
    }

    #[test]
    fn packings_are_to_be_filled() {
        for entry in packings_suite() {
            assert_eq!(entry.known, Known::Optimum(entry.instance.capacity().unwrap()));
            assert_eq!(load(&entry.instance).0, entry.instance.capacity().unwrap());
        }
    }

    #[test]
    fn derived_instances_keep_capacity_and_origin() {
        let origin = &packings_suite()[2].instance;
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

    fn check(suite: &[SuiteEntry], again: &[SuiteEntry]) {
        assert_eq!(suite, again);
        let names: BTreeSet<&str> = suite.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names.len(), suite.len());
        for entry in suite {
            assert_eq!(entry.instance.name(), entry.name);
            let (Known::Optimum(least) | Known::AtLeast(least)) = entry.known;
            assert!(least >= load(&entry.instance).0, "{}", entry.name);
        }
    }
}
