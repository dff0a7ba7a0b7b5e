//! The integer program of one part, with its strengthening constraints.

use crate::offsets::formulation::{Domain, Part, bridges};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_model::Budget;

/// The components of the formulation, which can be switched off individually, and their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches, named, for ablation")]
pub struct Formulation {
    /// Whether to omit buffers that can always be placed within the addresses of another buffer.
    pub absorb: bool,
    /// Whether to propagate offset ranges exactly. This fixes orders and reduces big-M constants.
    pub positions: bool,
    /// Whether to add stacking cuts for every clique of at least three buffers.
    pub stacking: bool,
    /// Maximum number of triples of mutually conflicting buffers for which transitivity constraints are
    /// added.
    pub triangles: usize,
    /// Maximum number of bridges to add. A bridge is an inequality over order variables of two cliques that
    /// share a buffer.
    pub bridges: usize,
    /// Whether to break symmetry. This fixes the order of twins, and the order of one pair to exclude mirror
    /// images.
    pub symmetry: bool,
    /// Whether to solve the feasibility problem at the bound before minimising.
    pub decide: bool,
    /// Whether to warm-start the minimisation from the incumbent. If not, the model admits only layouts that
    /// are better than the incumbent.
    pub warm: bool,
    /// Maximum number of conflicts; instances with more are rejected.
    pub max_pairs: usize,
}

impl Default for Formulation {
    fn default() -> Self {
        Self {
            absorb: true,
            positions: true,
            stacking: true,
            triangles: 0,
            bridges: 20_000,
            symmetry: true,
            decide: true,
            warm: false,
            max_pairs: 100_000,
        }
    }
}

/// The model of one part for one allowed peak. The variables are the offsets, the peak, the order variables,
/// the alignment multipliers, and the multipliers of rigid groups, created in this order.
///
/// ```text
/// minimise P                                    (no objective if any layout within the allowed peak suffices)
/// o_i in [low_i, high_i]                        offset of buffer i; if aligned, o_i = a_i k_i with integer k_i
/// z_ij in {0, 1} per conflicting pair i < j     1 if i lies below j
/// o_i + r_ij <= o_j + (high_i + r_ij - low_j) (1 - z_ij)      big-M, as small as the offset ranges allow
/// o_j + r_ji <= o_i + (high_j + r_ji - low_i) z_ij            r_ij is s_i, rounded up to the gcd of both alignments
/// o_i - o_j = d_i - d_j                         for members of a rigid group with distances d
/// o_i = r + d_i + a k                           for one member, if the base is r plus a multiple of a > 1
/// o_i + s_i <= P
/// ```
///
/// Offsets and the peak are divided by a power of two above the allowed peak. Scaled sizes are exact, and
/// scaled offsets and peaks lie between 0 and 1. The errors that `HiGHS` allows in reduced costs (1e-7) are
/// then not multiplied by large offsets, such as 10^5 units. The peak is a continuous variable. If it were an
/// integer variable and the value of a relaxation were a millionth of a unit too high, `HiGHS` would round
/// that value up to the next unit. `HiGHS` has been observed to do so.
pub(super) struct Model<'a> {
    part: &'a Part,
    domain: &'a Domain,
    formulation: Formulation,
    /// Whether to minimise the peak. Otherwise any layout within the peak of the domain is a solution.
    minimise: bool,
    /// The lower bound on the peak of the whole instance. A layout of the part with a peak below this bound
    /// does not lower the peak of the instance any further.
    lower: i64,
    vars: ProblemVariables,
    offset: Vec<Variable>,
    peak: Variable,
    order: Vec<Variable>,
    multiple: Vec<Option<Variable>>,
    /// For each rigid group whose base is aligned, the number of alignments by which it exceeds the residue.
    steps: Vec<Option<Variable>>,
    /// Number of units that a scaled value of 1 stands for.
    full: f64,
}

/// Returns the number of units that a scaled value of 1 stands for: the smallest power of two above `upper`.
fn full(upper: i64) -> f64 {
    2f64.powi(64 - (upper.max(1) as u64).leading_zeros() as i32)
}

/// Returns the objective value of a scaled peak of 1. It is large because error tolerances are absolute, but
/// small enough to be numerically safe.
fn worth(upper: i64) -> f64 {
    full(upper).min(1024.0)
}

impl<'a> Model<'a> {
    /// Creates the variables.
    pub fn new(
        part: &'a Part,
        domain: &'a Domain,
        formulation: Formulation,
        minimise: bool,
        lower: i64,
    ) -> Self {
        let full = full(domain.upper);
        let share = |units: i64| units as f64 / full;
        let mut vars = ProblemVariables::new();
        let offset = (0..part.len())
            .map(|i| vars.add(variable().min(share(domain.low[i])).max(share(domain.high[i]))));
        let offset: Vec<Variable> = offset.collect();
        let top = share(domain.upper);
        let least = if minimise { share(lower) } else { top };
        let peak = vars.add(variable().min(least).max(top));
        let order = domain.below.iter().map(|below| {
            let (min, max) = match below {
                None => (0.0, 1.0),
                Some(true) => (1.0, 1.0),
                Some(false) => (0.0, 0.0),
            };
            vars.add(variable().integer().min(min).max(max))
        });
        let order = order.collect();
        let multiple = (0..part.len()).map(|i| {
            let align = part.align[i];
            (align > 1).then(|| {
                let (min, max) = (domain.low[i] / align, domain.high[i] / align);
                vars.add(variable().integer().min(min as f64).max(max as f64))
            })
        });
        let multiple = multiple.collect();
        let steps = part.rigid.iter().map(|group| {
            let (member, distance) = group.members[0];
            let most = (domain.high[member] - distance - group.residue) / group.align;
            (group.align > 1).then(|| vars.add(variable().integer().min(0).max(most as f64)))
        });
        let steps = steps.collect();
        Self { part, domain, formulation, minimise, lower, vars, offset, peak, order, multiple, steps, full }
    }

    /// Returns the values of all variables for a layout of the part.
    pub fn start(&self, offsets: &[i64]) -> Vec<f64> {
        let part = self.part;
        let mut values: Vec<f64> = offsets.iter().map(|&offset| self.share(offset)).collect();
        values.push(self.share(part.peak(offsets).max(self.lower)));
        values.extend(part.pairs.iter().map(|&(i, j)| f64::from(u8::from(offsets[i] < offsets[j]))));
        let aligned = (0..part.len()).filter(|&i| self.multiple[i].is_some());
        values.extend(aligned.map(|i| (offsets[i] / part.align[i]) as f64));
        let rigid = part.rigid.iter().filter(|group| group.align > 1);
        values.extend(rigid.map(|group| {
            let (member, distance) = group.members[0];
            ((offsets[member] - distance - group.residue) / group.align) as f64
        }));
        values
    }

    /// Returns the objective value of one unit of the peak.
    pub fn unit(domain: &Domain) -> f64 {
        worth(domain.upper) / full(domain.upper)
    }

    fn share(&self, units: i64) -> f64 {
        units as f64 / self.full
    }

    /// Returns the expression that is 1 if `i` lies below `j`, and 0 otherwise.
    fn below(&self, i: usize, j: usize) -> Expression {
        let pair = self.part.pair(i, j).expect("members of a clique conflict");
        if i < j { self.order[pair].into() } else { 1.0 - self.order[pair] }
    }

    /// Adds all constraints. The program is incomplete if the budget `watch` runs out.
    pub fn build(mut self, watch: &mut Budget) -> HighsProblem {
        let objective: Expression =
            if self.minimise { worth(self.domain.upper) * self.peak } else { 0.into() };
        let vars = std::mem::take(&mut self.vars);
        let mut problem = vars.minimise(objective).using(highs);
        let part = self.part;
        for i in 0..part.len() {
            problem.add_constraint(constraint!(self.offset[i] + self.share(part.size[i]) <= self.peak));
            if let Some(multiple) = self.multiple[i] {
                problem.add_constraint(constraint!(self.offset[i] == self.share(part.align[i]) * multiple));
            }
        }
        self.tie(&mut problem);
        for (at, &(i, j)) in part.pairs.iter().enumerate() {
            if watch.tick().is_some() {
                return problem;
            }
            self.separate(&mut problem, i, j, 1.0 - self.order[at]);
            self.separate(&mut problem, j, i, self.order[at].into());
        }
        if self.formulation.stacking {
            let cliques = part.cliques.iter().filter(|clique| clique.len() > 2);
            for clique in cliques.take_while(|_| watch.tick().is_none()) {
                self.stack(&mut problem, clique);
            }
        }
        self.triangles(&mut problem, watch);
        self.bridges(&mut problem, watch);
        problem
    }

    /// Adds the distances within rigid groups, and the alignments of their bases.
    fn tie(&self, problem: &mut HighsProblem) {
        for (group, steps) in self.part.rigid.iter().zip(&self.steps) {
            let (first, lowest) = group.members[0];
            for &(member, distance) in &group.members[1..] {
                let apart = self.share(distance - lowest);
                problem.add_constraint(constraint!(self.offset[member] == self.offset[first] + apart));
            }
            if let Some(steps) = *steps {
                let least = self.share(group.residue + lowest);
                let step = self.share(group.align);
                problem.add_constraint(constraint!(self.offset[first] == step * steps + least));
            }
        }
    }

    /// Adds the bridges. Each is implied by two stacking cuts for the same offset. A bridge contains only
    /// binaries, however, so `HiGHS` treats it as a knapsack constraint and derives cuts and implications
    /// from it.
    fn bridges(&self, problem: &mut HighsProblem, watch: &mut Budget) {
        bridges(self.part, self.domain.upper, self.formulation.bridges, watch, |bridge| {
            let mut sum = Expression::with_capacity(bridge.terms.len());
            for (pair, below, size) in bridge.terms {
                let order = self.order[pair];
                sum += size as f64 * if below { order.into() } else { 1.0 - order };
            }
            problem.add_constraint(constraint!(sum <= bridge.most as f64));
        });
    }

    /// Adds the constraint that `i` lies below `j` unless `otherwise` is 1.
    fn separate(&self, problem: &mut HighsProblem, i: usize, j: usize, otherwise: Expression) {
        let (part, domain) = (self.part, self.domain);
        let rise = part.rise(i, j);
        let m = if self.formulation.positions {
            domain.high[i] + rise - domain.low[j]
        } else {
            domain.upper + rise - part.size[i]
        };
        problem.add_constraint(constraint!(
            self.offset[i] + self.share(rise) <= self.offset[j] + self.share(m.max(0)) * otherwise
        ));
    }

    /// Adds stacking cuts: for every member `j` of a clique, the members below support `j`, and those above
    /// lie on it.
    ///
    /// The cuts are `o_j >= sum s_i z_ij` and `o_j + s_j + sum s_i z_ji <= P`. If the clique fills the whole
    /// peak, both cuts hold with equality and link the orders of this clique to those of the next clique.
    fn stack(&self, problem: &mut HighsProblem, clique: &[usize]) {
        let part = self.part;
        for &j in clique {
            let mut under = Expression::with_capacity(clique.len() + 1);
            let mut over = Expression::with_capacity(clique.len() + 2);
            for &i in clique.iter().filter(|&&i| i != j) {
                under += self.share(part.size[i]) * self.below(i, j);
                over += self.share(part.size[i]) * self.below(j, i);
            }
            problem.add_constraint(constraint!(self.offset[j] >= under));
            problem
                .add_constraint(constraint!(self.offset[j] + self.share(part.size[j]) + over <= self.peak));
        }
    }

    /// Adds transitivity constraints, which exclude cyclic orders of three mutually conflicting buffers:
    /// `z_ij + z_jk - z_ik` is 0 or 1.
    fn triangles(&self, problem: &mut HighsProblem, watch: &mut Budget) {
        let part = self.part;
        let mut left = self.formulation.triangles;
        for (ij, &(i, j)) in part.pairs.iter().enumerate() {
            for &k in part.neighbours[j].iter().filter(|&&k| k > j) {
                let (Some(ik), Some(jk)) = (part.pair(i, k), part.pair(j, k)) else { continue };
                if left == 0 || watch.tick().is_some() {
                    return;
                }
                left -= 1;
                let turn = || self.order[ij] + self.order[jk] - self.order[ik];
                problem.add_constraint(constraint!(turn() <= 1.0));
                problem.add_constraint(constraint!(turn() >= 0.0));
            }
        }
    }
}
