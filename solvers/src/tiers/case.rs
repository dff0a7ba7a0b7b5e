//! Preprocessing: removes options that an optimal plan does not need.
//!
//! A tier is *free* for a tensor if the tensor never competes for space there. If bytes are only counted,
//! the tier is free if, at every step of the lifespan of the tensor, all live tensors that may be in the
//! tier fit together. If addresses are required, the tier is free if all tensors that may ever be in it fit
//! end to end. If a tier is free for a tensor, the other options of the tensor that cost at least as much
//! are removed. By an exchange argument, an optimal plan does not need them. A removal may make more tiers
//! free, so the rule is applied until nothing changes.

use plimsoll_model::TierId;
use plimsoll_model::tiers::{Addresses, TierProblem};
use plimsoll_support::gcd;

/// Maximum number of parts into which a capacity is divided; see
/// [`dual_bound`](plimsoll_model::tiers::dual_bound).
pub(super) const PARTS: usize = 5;

/// One tier as an option for one tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub tier: TierId,
    /// Transfer time in picoseconds.
    pub cost: u64,
    /// Size in bytes, rounded up to the alignment.
    pub size: u64,
    /// Whether the tier is free for the tensor.
    pub free: bool,
    /// The share of the tensor if the capacity is divided into one part, into two parts, and so on; see
    /// [`parts`].
    pub parts: [u32; PARTS],
}

pub(super) struct Case<'a> {
    pub problem: &'a TierProblem,
    /// Tensors in ascending order of their first live step. Among tensors with the same first step, long
    /// lifespans come first.
    pub order: Vec<usize>,
    /// Options of each tensor, the cheapest first. The list of a tensor is empty only if the tensor fits
    /// into no tier.
    pub options: Vec<Vec<Choice>>,
    /// Per tier and step: whether the live tensors that may be in the tier exceed its capacity.
    pub tight: Vec<Vec<bool>>,
    /// The greatest common divisor of the differences between possible total costs. It is zero if only one
    /// total cost is possible.
    grain: u64,
    /// The total cost if every tensor takes its cheapest option.
    base: u64,
}

/// Returns the values of the dual feasible functions floor((k + 1) size / (capacity + 1)) for k = 1 to 5. For
/// tensors that fit together, the values for the same k add up to at most k.
fn parts(size: u64, capacity: u64) -> [u32; PARTS] {
    std::array::from_fn(|at| {
        let share = (at as u128 + 2) * u128::from(size) / (u128::from(capacity) + 1);
        share.min(u128::from(u32::MAX)) as u32
    })
}

impl<'a> Case<'a> {
    /// Creates the case and removes options. The time is O(n log n + r t (n + s)) for n tensors, t tiers, s
    /// steps and r rounds. The number of rounds is small.
    pub fn new(problem: &'a TierProblem) -> Self {
        let count = problem.tensors().len();
        let options = (0..count).map(|at| {
            let choice = |tier: TierId| Choice {
                tier,
                cost: problem.cost(at, tier).map_or(0, |cost| cost.time.get()),
                size: problem.size(at, tier).get(),
                free: false,
                parts: parts(problem.size(at, tier).get(), problem.space(tier).capacity.get()),
            };
            problem.options(at).into_iter().map(choice).collect()
        });
        let mut order: Vec<usize> = (0..count).collect();
        let tensors = problem.tensors();
        order.sort_by_key(|&at| (tensors[at].lower, std::cmp::Reverse(tensors[at].upper), at));
        let (options, tight) = (options.collect(), Vec::new());
        let mut case = Self { problem, order, options, tight, grain: 0, base: 0 };
        while case.reduce() {}
        let all = || case.options.iter().filter_map(|options| Some((options.first()?.cost, options)));
        let steps = all().flat_map(|(least, options)| options.iter().map(move |one| one.cost - least));
        (case.grain, case.base) = (steps.fold(0, gcd), all().map(|(least, _)| least).sum());
        case
    }

    /// Determines the free tiers and removes dominated options. Returns true if any option was removed.
    fn reduce(&mut self) -> bool {
        let problem = self.problem;
        let duration = problem.duration();
        let tiers = problem.spaces().len();
        let mut change = vec![vec![0i128; duration + 1]; tiers];
        let mut total = vec![0u128; tiers];
        for (at, options) in self.options.iter().enumerate() {
            let one = &problem.tensors()[at];
            for choice in options {
                change[choice.tier.index()][one.lower] += i128::from(choice.size);
                change[choice.tier.index()][one.upper] -= i128::from(choice.size);
                total[choice.tier.index()] += u128::from(choice.size);
            }
        }
        let tight = change.iter().zip(problem.spaces()).map(|(change, space)| {
            let mut live = 0i128;
            let at = |change: &i128| {
                live += change;
                live > i128::from(space.capacity.get())
            };
            change[..duration].iter().map(at).collect()
        });
        self.tight = tight.collect();
        // Computes prefix counts of the tight steps of a tier.
        let count = |line: &Vec<bool>| {
            let mut sum = 0usize;
            let sums = line.iter().map(|&tight| {
                sum += usize::from(tight);
                sum
            });
            std::iter::once(0).chain(sums).collect::<Vec<_>>()
        };
        let counts: Vec<Vec<usize>> = self.tight.iter().map(count).collect();
        let mut dropped = false;
        for (at, options) in self.options.iter_mut().enumerate() {
            let one = &problem.tensors()[at];
            for choice in options.iter_mut() {
                let tier = choice.tier.index();
                choice.free = match problem.addresses() {
                    Addresses::Counted => counts[tier][one.upper] == counts[tier][one.lower],
                    Addresses::Placed => total[tier] <= u128::from(problem.spaces()[tier].capacity.get()),
                };
            }
            if let Some(first) = options.iter().position(|choice| choice.free)
                && first + 1 < options.len()
            {
                options.truncate(first + 1);
                dropped = true;
            }
        }
        dropped
    }

    /// Returns those tight steps of a tier at which the capacity constraints imply the constraints at all
    /// other steps. Each returned step is the last step of some tensor, and some tensor has begun since the
    /// previous returned step. At any other tight step, all live tensors are also live at one returned step.
    pub fn telling(&self, tier: TierId) -> Vec<usize> {
        let duration = self.problem.duration();
        let (mut begins, mut ends) = (vec![false; duration], vec![false; duration + 1]);
        for (at, options) in self.options.iter().enumerate() {
            if options.iter().any(|choice| choice.tier == tier && !choice.free) {
                let one = &self.problem.tensors()[at];
                begins[one.lower] = true;
                ends[one.upper] = true;
            }
        }
        let mut begun = false;
        let last = |&step: &usize| {
            begun |= begins[step];
            let last = begun && ends[step + 1];
            begun &= !last;
            last
        };
        (0..duration).filter(last).filter(|&step| self.tight[tier.index()][step]).collect()
    }

    /// Returns the least possible total cost that is at least `at_least`, or `u64::MAX` if there is none.
    pub fn next_sum(&self, at_least: u64) -> u64 {
        match at_least.checked_sub(self.base) {
            None | Some(0) => self.base,
            Some(_) if self.grain == 0 => u64::MAX,
            Some(above) => above
                .checked_next_multiple_of(self.grain)
                .and_then(|above| above.checked_add(self.base))
                .unwrap_or(u64::MAX),
        }
    }

    /// Returns the granularity of total costs, at least one picosecond.
    #[cfg(feature = "ilp")]
    pub fn grain(&self) -> u64 {
        self.grain.max(1)
    }

    #[cfg(feature = "ilp")]
    pub fn base(&self) -> u64 {
        self.base
    }
}
