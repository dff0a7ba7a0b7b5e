//! Compares merging with the optimum: plans graphs under every scheme, and counts the outcomes by family.

use super::inputs::{Family, Inputs};
use super::measured::{Measured, measure};
use super::memory::{BEFORE, arena};
use super::models::StandIn;
use super::printed::{STRATEGIES, gain};
use crate::{Context, Params, ReproduceError, Reproduction, generated};
use minijinja::{Value, context};
use plimsoll::branches::{Broken, Scheme, SchemeComparison};
use plimsoll::run::Limits;
use plimsoll_datasets::control_cases::CONTROL_CASES;
use plimsoll_model::graph::Boundary;
use std::time::Duration;

/// The plans of a graph, and the family in which the graph is counted.
#[derive(Debug)]
pub(super) struct Sample {
    /// The name of the family.
    pub family: String,
    /// The parameters with which the graph was generated.
    pub params: Params,
    /// The plans of all schemes.
    pub measured: Measured,
}

/// Node limit per run on a generated graph. It makes answers reproducible; the time limit is only a
/// safeguard.
const NODES: u64 = 500_000;
const TIME: Duration = Duration::from_secs(2);

/// Plans all graphs: real models with branches, graphs that join two of them, control-flow cases, and
/// generated graphs. The context limits the number of seeds per set of parameters.
pub(super) fn sample(
    inputs: &Inputs,
    context: &Context<'_>,
    stand_ins: &[StandIn],
    measured: Vec<Measured>,
) -> Result<Vec<Sample>, ReproduceError> {
    let mut samples = Vec::new();
    let mut add = |family: &str, params: &Params, measured: Measured| {
        samples.push(Sample { family: family.to_owned(), params: params.clone(), measured });
    };
    for (stand_in, measured) in stand_ins.iter().zip(measured) {
        // Stand-ins that were generated for the tables belong to the families below.
        if measured.comparison.regions > 1 && stand_in.differs != "generated" {
            let joined = stand_in.paper == "FusionDetect";
            add(if joined { "joined models" } else { "models" }, &Params::new(), measured);
        }
    }
    for case in CONTROL_CASES {
        let graph = (case.build)();
        let measured = measure(context, &graph, Boundary::Arena, context.limits)?;
        check(case.name, &measured.comparison, (case.optimum, case.merged))?;
        add("control-flow cases", &Params::new(), measured);
    }
    let time = context.limits.time.map_or(TIME, |time| time.min(TIME));
    let limits = Limits { time: Some(time), nodes: Some(NODES), ..context.limits };
    for Family { name, seeds, sets } in &inputs.families {
        for params in sets {
            for seed in (0..*seeds.min(&context.seeds)).map(|nth| context.setup.seed.wrapping_add(nth)) {
                let graph = generated(name, params, seed)?;
                add(name, params, measure(context, &graph, Boundary::Outside, limits)?);
            }
        }
    }
    match samples.iter().find_map(|sample| Some((sample, contradiction(&sample.measured.comparison)?))) {
        Some((sample, broken)) => Err(ReproduceError::on(&sample.measured.comparison.graph)(broken)),
        None => Ok(samples),
    }
}

/// Returns plans that contradict a theorem, if there are any. The theorem: every layout with blocks is also a
/// layout for sequential branches. It holds for two reasons. Everything live at some point during an operator
/// conflicts with the block of that operator. The regions of an operator are disjoint in time. (The theorem
/// would not hold if loops kept their state only while it is needed. Here, they keep it throughout.)
fn contradiction(comparison: &SchemeComparison) -> Option<Broken> {
    let (merged, bound) = (comparison.best(Scheme::Nested)?, comparison.bound(Scheme::Sequential));
    let low = "sequential-branches".to_owned();
    let high = format!("{} by {}", merged.scheme, merged.algorithm);
    (merged.arena < bound).then_some(Broken { low, bound, high, arena: merged.arena })
}

type Known = Option<plimsoll_model::Bytes>;

/// Checks computed optima against the recorded ones, which were derived by hand.
fn check(
    name: &str,
    comparison: &SchemeComparison,
    (optimum, merged): (Known, Known),
) -> Result<(), ReproduceError> {
    let proved =
        comparison.best(Scheme::Nested).filter(|line| line.arena == comparison.bound(Scheme::Nested));
    let pairs = [
        ("the optimum", optimum, comparison.optimum()),
        ("the best merged plan", merged, proved.map(|line| line.arena)),
    ];
    for (what, recorded, computed) in pairs {
        let Some(recorded) = recorded.map(plimsoll_model::Bytes::get) else { continue };
        if computed != Some(recorded) {
            let computed = computed.map_or_else(|| "unproved".to_owned(), |bytes| bytes.to_string());
            let message = format!("{name}: {what} is {computed} bytes; recorded: {recorded}");
            return Err(ReproduceError::Defect(message));
        }
    }
    Ok(())
}

/// The result of comparing merging with sequential branches, as far as it is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duel {
    /// Merging needs more memory than sequential branches.
    Loses,
    /// Merging needs less memory than sequential branches.
    Wins,
    /// Both need the same amount of memory.
    Same,
    /// The comparison is undecided within the limits.
    Open,
}

impl Sample {
    /// Returns the size of the smallest arena found for a scheme, in bytes.
    pub fn best(&self, scheme: Scheme) -> u64 {
        self.measured.comparison.best(scheme).map_or(0, |line| line.arena)
    }

    /// Returns the size of the smallest arena that a strategy of the paper finds for merging, in bytes.
    pub fn fast(&self) -> u64 {
        self.measured.comparison.fast(Scheme::Nested).map_or(0, |line| line.arena)
    }

    /// Returns the optimum in bytes, if it is proved and positive.
    pub fn optimum(&self) -> Option<u64> {
        self.measured.comparison.optimum().filter(|&bytes| bytes > 0)
    }

    /// Compares merging with sequential branches, both planned exactly.
    pub fn duel(&self) -> Duel {
        let of = |scheme| (self.best(scheme), self.measured.comparison.bound(scheme));
        let ((merged, merged_bound), (turn, turn_bound)) = (of(Scheme::Nested), of(Scheme::Sequential));
        if merged_bound > turn {
            Duel::Loses
        } else if merged < turn_bound {
            Duel::Wins
        } else if merged == turn && (merged_bound, turn_bound) == (merged, turn) {
            Duel::Same
        } else {
            Duel::Open
        }
    }

    /// Compares merging with sequential branches, both planned with this strategy, as a user of the paper's
    /// method would.
    pub fn duel_of(&self, strategy: &str) -> Duel {
        let of = |scheme| arena(&self.measured.comparison, scheme, strategy);
        match of(Scheme::Nested).cmp(&of(Scheme::Sequential)) {
            std::cmp::Ordering::Greater => Duel::Loses,
            std::cmp::Ordering::Less => Duel::Wins,
            std::cmp::Ordering::Equal => Duel::Same,
        }
    }

    /// Returns the excess of the best merged plan over the optimum, in bytes: the part caused by blocks,
    /// and the part caused by packing.
    pub fn loss(&self) -> Option<(u64, u64)> {
        let optimum = self.optimum()?;
        let floor = self.measured.held.get().max(optimum);
        Some((floor - optimum, self.best(Scheme::Nested).saturating_sub(floor)))
    }
}

/// The counts of a family.
#[derive(Clone, Debug, Default)]
struct Count {
    pub graphs: usize,
    /// Number of graphs with a proved positive optimum.
    pub proved: usize,
    /// Percentages above the optimum, one per graph with a proved positive optimum. The lists are for merging
    /// with the best strategy, exact merging, and exact sequential branches.
    pub over: [Vec<f64>; 3],
    /// Number of graphs on which each scheme meets the optimum: naive, conflicting, sequential, merging with
    /// the best strategy, and merging exactly.
    pub met: [usize; 5],
    /// Numbers of graphs on which merging loses to sequential branches, beats them, ties with them, and on
    /// which the comparison is undecided. Both are planned exactly.
    pub duels: [usize; 4],
    /// The same counts for each strategy. Here no comparison is undecided.
    pub fast: [[usize; 4]; 3],
    /// Bytes above the optimum: those caused by blocks, and those caused by packing.
    pub loss: [u64; 2],
    /// Number of graphs on which the best merged plan exceeds the optimum.
    pub above: usize,
    /// Number of those graphs on which packing causes a part of the excess.
    pub packing: usize,
}

impl Count {
    fn of<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> Self {
        let mut count = Self::default();
        for sample in samples {
            count.graphs += 1;
            count.duels[sample.duel() as usize] += 1;
            for (duels, strategy) in count.fast.iter_mut().zip(STRATEGIES) {
                duels[sample.duel_of(strategy) as usize] += 1;
            }
            let Some(optimum) = sample.optimum() else { continue };
            count.proved += 1;
            let turn = sample.best(Scheme::Sequential);
            let merged = [sample.fast(), sample.best(Scheme::Nested)];
            let arenas = [merged[0], merged[1], turn];
            for (over, arena) in count.over.iter_mut().zip(arenas) {
                over.push((arena as f64 / optimum as f64 - 1.0) * 100.0);
            }
            let all = [sample.best(Scheme::Naive), sample.best(Scheme::Flat), turn, merged[0], merged[1]];
            for (met, arena) in count.met.iter_mut().zip(all) {
                *met += usize::from(arena == optimum);
            }
            let (holding, packing) = sample.loss().unwrap_or_default();
            count.loss[0] += holding;
            count.loss[1] += packing;
            count.above += usize::from(holding + packing > 0);
            count.packing += usize::from(packing > 0);
        }
        count
    }
}

impl Count {
    fn facts(&self, family: &str) -> Value {
        let over = self.over.each_ref().map(|over| {
            context! { mean => mean(over), worst => over.iter().copied().fold(0.0, f64::max) }
        });
        let lost = self.loss[0] + self.loss[1];
        let [held, packed] = self.loss.map(|part| 100.0 * part as f64 / lost.max(1) as f64);
        context! {
            family, graphs => self.graphs, proved => self.proved, over, met => self.met, duels => self.duels,
            fast => self.fast, above => self.above, lost, held, packed, packing => self.packing,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Defines the facts about the gap between merging and the optimum.
pub(super) fn answer(samples: &[Sample], found: &mut Reproduction) {
    let mut families: Vec<&str> = Vec::new();
    for sample in samples {
        if !families.contains(&sample.family.as_str()) {
            families.push(&sample.family);
        }
    }
    let of = |family: &str| Count::of(samples.iter().filter(|sample| sample.family == family)).facts(family);
    let mut counts: Vec<Value> = families.into_iter().map(of).collect();
    counts.push(Count::of(samples).facts("all"));
    found.fact("counts", counts);
    found.fact("ratios", ratios(samples));
    let hardest = samples.iter().filter_map(|sample| Some((sample, sample.optimum()?)));
    let over = |(sample, least): &(&Sample, u64)| sample.best(Scheme::Nested) as f64 / *least as f64;
    let hardest = hardest.max_by(|a, b| over(a).total_cmp(&over(b)));
    let predicts = |sample: &&Sample| {
        let held = sample.measured.held.get() > sample.measured.comparison.load;
        sample.optimum().is_some()
            && held == sample.loss().is_some_and(|(holding, packing)| holding + packing > 0)
    };
    let answer = context! {
        hardest => hardest.map(|(sample, _)| &sample.measured.comparison.graph),
        predicted => samples.iter().filter(predicts).count(), loops => of("loops"),
    };
    found.fact("answer", answer);
    let lines: Vec<SchemeComparison> = samples.iter().map(|one| one.measured.comparison.clone()).collect();
    found.file("comparison.csv", "every graph with every scheme and solver: arena, bound, seconds", |file| {
        plimsoll_lab::report::branches::write_lines(&lines, file)
    });
}

/// Computes the mean gains for each size ratio of the branches, to check the claim that merging branches of
/// different sizes gains nothing.
fn ratios(samples: &[Sample]) -> Vec<Value> {
    let ratio = |sample: &Sample| sample.params.get("ratio").copied();
    let mut values: Vec<u64> = samples.iter().filter_map(ratio).collect();
    values.sort_unstable();
    values.dedup();
    let row = |value: u64| {
        let of: Vec<&Sample> = samples.iter().filter(|sample| ratio(sample) == Some(value)).collect();
        let average =
            |number: &dyn Fn(&Sample) -> f64| mean(&of.iter().map(|one| number(one)).collect::<Vec<_>>());
        let mut means = Vec::new();
        for (scheme, _) in BEFORE {
            means.push(average(&|sample| {
                let of = |scheme| arena(&sample.measured.comparison, scheme, STRATEGIES[0]);
                gain(of(scheme), of(Scheme::Nested))
            }));
            means.push(average(&|sample| gain(sample.best(scheme), sample.best(Scheme::Nested))));
        }
        means.push(average(&|sample| {
            sample.optimum().map_or(0.0, |least| -gain(least, sample.best(Scheme::Nested)))
        }));
        context! { ratio => value, graphs => of.len(), means }
    };
    values.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::branches::Line;
    use plimsoll_model::Bytes;

    /// Returns a sample with these arenas and bounds for the schemes naive, conflicting, sequential, nested
    /// and exclusive.
    fn sample(arenas: [(u64, u64); 5], held: u64) -> Sample {
        let names = ["naive", "flat-conflict", "sequential-branches", "nested", "exclusive"];
        let line = |(scheme, (arena, lower_bound))| Line {
            scheme,
            algorithm: if scheme == "naive" { "-" } else { "first-fit-size" },
            arena,
            lower_bound,
            witness: String::new(),
            arithmetic: plimsoll::arithmetic::Arithmetic::Exact,
            optimal: arena == lower_bound,
            seconds: 0.0,
            runs: 1,
            all_runs: true,
        };
        let lines = names.into_iter().zip(arenas).map(line).collect();
        let graph = "g".to_owned();
        let comparison =
            SchemeComparison { graph, regions: 2, buffers: 3, load: 1, lines, missing: Vec::new() };
        Sample {
            family: "f".to_owned(),
            params: Params::new(),
            measured: Measured { comparison, held: Bytes::new(held) },
        }
    }

    #[test]
    fn duels_are_decided_by_bounds() {
        let duel = |turn, merged| sample([(90, 90), (80, 80), turn, merged, (5, 5)], 5).duel();
        assert_eq!(duel((10, 10), (12, 11)), Duel::Loses);
        assert_eq!(duel((10, 10), (12, 10)), Duel::Open);
        assert_eq!(duel((10, 9), (8, 5)), Duel::Wins);
        assert_eq!(duel((10, 10), (10, 10)), Duel::Same);
        assert_eq!(duel((10, 10), (10, 9)), Duel::Open);
    }

    #[test]
    fn no_block_beats_sequential_branches() {
        let check = |turn, merged| {
            contradiction(&sample([(90, 90), (80, 80), turn, merged, (5, 5)], 5).measured.comparison)
        };
        assert!(check((12, 10), (10, 10)).is_none());
        assert_eq!(check((12, 11), (10, 10)).unwrap().bound, 11);
    }

    #[test]
    fn losses_are_held_or_packed() {
        let all = [
            sample([(90, 90), (80, 80), (12, 12), (15, 15), (10, 10)], 13),
            sample([(90, 90), (80, 80), (10, 10), (10, 10), (10, 10)], 9),
            sample([(90, 90), (80, 80), (12, 12), (15, 15), (10, 8)], 13),
        ];
        assert_eq!(all.each_ref().map(Sample::loss), [Some((3, 2)), Some((0, 0)), None]);
        let count = Count::of(&all);
        assert_eq!((count.graphs, count.proved, count.above, count.packing), (3, 2, 1, 1));
        assert_eq!((count.loss, count.met), ([3, 2], [0, 0, 1, 1, 1]));
        assert_eq!(count.duels, [2, 0, 1, 0]);
        assert_eq!(count.over[1].iter().map(|over| over.round()).collect::<Vec<_>>(), [50.0, 0.0]);
    }
}
