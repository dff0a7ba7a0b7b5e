//! Proves bounds above the load on cores: windows without the buffers that are live in all their sections.
//!
//! # Definition
//!
//! Clipping lifespans to a window of sections is a relaxation (see [`crate::offsets::search::windows`]). A buffer that
//! is live in all sections of a window is a *slab*. The other buffers of the window are its *core*. If the
//! slabs have a total size of `s`, the minimum peak of the window is `s` plus the minimum peak of the core.
//!
//! ```text
//!            ┌────┐                    ┌────┐
//!    ┌────┐  │    │            ┌────┐  │ d  │     a is a slab. Move what lies above a down by its size, and
//!    │ b  │  │ d  │            │ b  │  ├────┤     put a below everything else (or omit it). So the core
//!    ├────┴──┴────┤      →     ├────┤  │ c  │     consists of b, c and d.
//!    │     a      │            ├────┴──┴────┤
//!    ├─────────┬──┘            │     a      │
//!    │    c    │               └────────────┘
//!    └─────────┘
//! ```
//!
//! # Why it is sound
//!
//! In any layout of the window, every other buffer lies above or below a slab, in all sections. Two
//! conflicting buffers on the same side of the slab keep their distance if all buffers above it move down by
//! its size. Two conflicting buffers on different sides were at least its size apart, so they do not overlap
//! afterwards. The peak falls by the size of the slab. Conversely, any layout of the core can be moved up by
//! the total size of the slabs, which then lie below it. A core is an instance of its own, often with half as
//! many simultaneously live buffers as the window.
//!
//! # Search
//!
//! A solver runs on overlapping windows of several widths, whose cores are instances of their own. The target
//! of a visit is the bound of the whole instance minus the size of the slabs. A layout that meets it proves
//! that the core cannot raise this bound, so the core is dropped. Otherwise, the next visit of the core has
//! twice as many nodes. After one visit of each core, the core with the lowest cost is visited next. The
//! cost is the number of nodes times the square of the number of buffers, divided by the distance from the
//! bound to the best known peak of the window. Most windows are easy. The nodes go to those that are short
//! and hard. If a call raises no bound, the next one has half as many nodes, down to a quarter.
//!
//! **Source.** This project. Clipping to a window is the relaxation that energetic reasoning uses to bound
//! schedules.

use super::portfolio::on_threads;
use super::valley::Reduced;
use super::windows::{Proof, Raise};
use plimsoll_model::{Budget, Bytes, Claim, Offsets, Silent, Solver};

/// Numbers of sections of the windows. Windows of the same number overlap by half.
const WIDTHS: [usize; 3] = [12, 25, 50];

/// Nodes of the first visit of a core.
const FIRST_VISIT: u64 = 200_000;

/// Maximum number of times that the nodes of a call are halved because the calls before it raised no bound.
const HALVINGS: u32 = 2;

/// The core of a window.
#[derive(Clone, Copy, Debug)]
struct Core {
    /// The first section of the window, and the section after the last.
    window: (usize, usize),
    /// Number of buffers, known after the first visit.
    buffers: u64,
    /// Nodes of the next visit.
    visit: u64,
    /// The peak of the best known layout of the window, in units.
    peak: i64,
}

impl Core {
    /// Returns the cost of the next visit, at a bound in units.
    fn cost(&self, low: i64) -> u64 {
        self.visit.saturating_mul(self.buffers.pow(2)) / (self.peak - low).max(1) as u64
    }
}

/// The result of a visit.
struct Visited {
    /// The core, or `None` if it is solved.
    core: Option<Core>,
    /// A lower bound on the peak of the window, in units.
    bound: i64,
    nodes: u64,
}

/// Runs a solver on the cores of an instance. Each call resumes where the previous one ended.
#[derive(Debug)]
pub(super) struct Cores<'a, S> {
    reduced: &'a Reduced,
    solver: S,
    threads: usize,
    /// The cores that may raise the bound.
    open: Vec<Core>,
    /// Number of calls since the bound rose.
    idle: u32,
}

impl<'a, S: Solver<Offsets> + Sync> Cores<'a, S> {
    /// Lists the windows, the narrowest first. The time is linear in their number. Every thread runs the
    /// solver on another core.
    pub fn new(reduced: &'a Reduced, solver: S, threads: usize) -> Self {
        let sections = reduced.sections;
        let windows = WIDTHS.into_iter().filter(|&width| width < sections).flat_map(|width| {
            let last = sections - width;
            let starts = (0..last).step_by(width / 2).chain([last]);
            starts.map(move |from| (from, from + width))
        });
        let core = |window| Core { window, buffers: 0, visit: FIRST_VISIT, peak: i64::MAX };
        Self { reduced, solver, threads: threads.max(1), open: windows.map(core).collect(), idle: 0 }
    }

    /// Runs the solver on a core, at a bound of the whole instance in units.
    fn visit(&self, core: Core, low: i64, budget: &Budget) -> Visited {
        let (instance, slabs) = self.reduced.core(core.window.0, core.window.1);
        let grain = self.reduced.grain;
        let target = Bytes::new((low - slabs).max(0) as u64 * grain);
        let mut part = budget.part(Some(core.visit), None).with_target(target);
        let Ok(outcome) = self.solver.solve(&instance, &mut part, &mut Silent) else {
            return Visited { core: None, bound: 0, nodes: part.nodes() };
        };
        let units = |bytes: Bytes| slabs + bytes.get().div_ceil(grain) as i64;
        let peak = outcome.value.map_or(core.peak, |peak| core.peak.min(units(peak)));
        let next = Core { buffers: instance.len() as u64, visit: core.visit.saturating_mul(2), peak, ..core };
        let open = Some(next).filter(|_| outcome.claim != Claim::Optimal);
        Visited { core: open, bound: units(outcome.lower_bound.value), nodes: part.nodes() }
    }
}

impl<S: Solver<Offsets> + Sync + std::fmt::Debug> Raise for Cores<'_, S> {
    fn raise(&mut self, (low, high): (i64, i64), nodes: u64, budget: &mut Budget) -> Vec<Proof> {
        let end = budget.nodes().saturating_add(nodes >> self.idle.min(HALVINGS));
        let (mut low, mut proofs) = (low, Vec::new());
        while low <= high && budget.nodes() < end && budget.check().is_none() {
            self.open.retain(|core| core.peak > low);
            // The sort is stable, so narrow windows come first.
            self.open.sort_by_key(|core| core.cost(low));
            let next: Vec<Core> = self.open.drain(..self.threads.min(self.open.len())).collect();
            if next.is_empty() {
                break;
            }
            let share = budget.nodes_left().map(|left| left / next.len() as u64);
            let visit = |&core: &Core| self.visit(core, low, &budget.part(share, None));
            let visited = on_threads(next.iter(), visit);
            for (Core { window, .. }, Visited { core, bound, nodes }) in next.into_iter().zip(visited) {
                budget.spend(nodes);
                self.open.extend(core);
                if bound > low {
                    proofs.push(Proof::Bound { bound, window });
                    low = bound;
                }
            }
        }
        self.idle = if proofs.is_empty() { self.idle + 1 } else { 0 };
        proofs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::BruteForce;
    use crate::offsets::search::Search;
    use crate::offsets::search::arrangements::tests::flat;
    use crate::offsets::search::valley::Span;
    use plimsoll_datasets::{SmallParams, small_instance};
    use plimsoll_model::{
        Buffer, Instance, InstanceBuilder, Lifespan, Observer, Outcome, Setup, SolveError, load,
    };
    use proptest::prelude::*;

    fn optimum(instance: &Instance) -> u64 {
        BruteForce.solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap().value.unwrap().get()
    }

    /// Returns the instance of a window.
    fn window(reduced: &Reduced, from: usize, to: usize) -> Instance {
        let clipped = reduced.clipped(from, to);
        let buffer = |(b, &Span { start, end, size }): (usize, &Span)| {
            let life = Lifespan::single(u64::from(start), u64::from(end)).unwrap();
            Buffer::new(b.to_string(), size as u64 * reduced.grain, life)
        };
        InstanceBuilder::new("window").buffers(clipped.spans.iter().enumerate().map(buffer)).build().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn the_minimum_peak_of_a_window_is_that_of_its_core_plus_its_slabs(
            n in 2usize..9, seed: u64, steps in 2u64..7, max_size in 1u64..9
        ) {
            let t = small_instance(SmallParams { steps, max_size, ..SmallParams::with_features(n, 0) }, seed);
            let reduced = Reduced::of(&t).unwrap();
            let from = seed as usize % reduced.sections;
            for to in from + 1..=reduced.sections {
                let (core, slabs) = reduced.core(from, to);
                let peak = optimum(&core) + slabs as u64 * reduced.grain;
                prop_assert_eq!(peak, optimum(&window(&reduced, from, to)));
            }
        }
    }

    /// A solver that spends all nodes and finds nothing.
    #[derive(Debug)]
    struct Futile;

    impl Solver<Offsets> for Futile {
        fn name(&self) -> &'static str {
            "futile"
        }

        fn solve(
            &self,
            _: &Instance,
            budget: &mut Budget,
            _: &mut dyn Observer<Offsets>,
        ) -> Result<Outcome<Offsets>, SolveError> {
            budget.spend(budget.nodes_left().unwrap());
            Err(SolveError::Internal { solver: "futile", reason: "it finds nothing".to_owned() })
        }
    }

    #[test]
    fn calls_after_futile_ones_have_fewer_nodes() {
        let t = flat(9, 80, 0.7, (3, 17), 1);
        let reduced = Reduced::of(&t).unwrap();
        let mut cores = Cores::new(&reduced, Futile, 1);
        for visits in [8, 4, 2, 2] {
            let mut budget = Budget::unlimited();
            assert!(cores.raise((0, 1), 8 * FIRST_VISIT, &mut budget).is_empty());
            assert_eq!(budget.nodes(), visits * FIRST_VISIT);
        }
    }

    /// Raises bounds by cores alone. The bounds are above most loads, and never above the optimum.
    #[test]
    fn cores_raise_bounds_to_at_most_the_optimum() {
        let mut above = 0;
        for seed in 0..12 {
            let t = flat(9, 24, 0.7, (3, 17), seed);
            let reduced = Reduced::of(&t).unwrap();
            let outcome = Search::default().solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
            let units = |bytes: Bytes| (bytes.get() / reduced.grain) as i64;
            let (low, best) = (units(load(&t).0), units(outcome.value.unwrap()));
            for threads in 1..=2 {
                let mut cores = Cores::new(&reduced, Search::new(Setup::default()), threads);
                let mut budget = Budget::unlimited().with_node_limit(100_000);
                let proofs = cores.raise((low, best), u64::MAX, &mut budget);
                let mut again = Cores::new(&reduced, Search::new(Setup::default()), threads);
                let mut same = Budget::unlimited().with_node_limit(100_000);
                assert_eq!(again.raise((low, best), u64::MAX, &mut same), proofs, "seed {seed}");
                assert_eq!(same.nodes(), budget.nodes(), "seed {seed}");
                for proof in &proofs {
                    let Proof::Bound { bound, window } = *proof else { panic!("{proof:?}") };
                    let (core, slabs) = reduced.core(window.0, window.1);
                    let peak = Search::default().solve(&core, &mut Budget::unlimited(), &mut Silent).unwrap();
                    assert!(bound <= best && bound <= slabs + units(peak.value.unwrap()), "seed {seed}");
                }
                above += usize::from(!proofs.is_empty());
            }
        }
        assert!(above >= 4, "{above}");
    }
}
