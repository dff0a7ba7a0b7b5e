//! The options of a section and the order in which they are tried.

use super::analyse::{Branch, Dead, OPEN, View};
use super::engine::{Engine, Node};
use super::state::NONE;
use plimsoll_model::Budget;
use rand::RngExt;

/// Score of the option that leaves the floor empty. It is far below the scores of buffers, but lookahead can
/// rank it above a buffer that consumes nearly all slack.
pub(in crate::offsets::search) const NOTHING: f64 = 1e-9;

/// Penalty of an option that lookahead did not try. It is larger than any penalty for consumed slack.
pub(in crate::offsets::search) const UNSEEN: f64 = 1e6;

/// The fraction of the capacity that is added to every slack, so that small differences do not matter.
pub(in crate::offsets::search) const SOFT: f64 = 0.01;

/// Returns the score of a buffer that covers `width` sections, without noise. Successive runs cycle through
/// four scores.
pub(in crate::offsets::search) fn base_score(run: u64, width: f64, size: f64) -> f64 {
    match run % 4 {
        0 => width * size,
        1 => width * size.sqrt(),
        2 => size * width.sqrt(),
        _ => width,
    }
}

impl Engine<'_> {
    /// Computes a score with random noise for every buffer.
    pub(super) fn draw_values(&mut self) {
        for b in 0..self.reduced.len() {
            let width = f64::from(self.reduced.spans[b].end - self.reduced.spans[b].start);
            let size = self.reduced.spans[b].size as f64;
            let base = base_score(self.restarts, width, size);
            let noise = self.rules.noise * (self.rng.random::<f64>() - 0.5);
            self.value[b] = base * (1.0 + noise);
        }
    }

    /// Pushes the unplaced buffers that can lie on the floor of the section, the most promising first. Then
    /// pushes [`NONE`], the option of an empty floor, if the slack allows it.
    pub(super) fn gather(&mut self, branch: Branch) {
        let first = self.options.len();
        let (reduced, state) = (self.reduced, &self.state);
        let (section, left, right) = (branch.section as usize, branch.left as usize, branch.right as usize);
        let mut b = state.first_unplaced(reduced, left);
        let mut last_twin = NONE;
        while b != NONE {
            let at = b as usize;
            let (start, end) = reduced.spans[at].sections();
            if start > section {
                break;
            }
            let covers = end > section && end <= right;
            let seen = self.rules.twins && reduced.twin[at] == last_twin;
            if covers && !seen && state.real[start..end].contains(&true) {
                last_twin = reduced.twin[at];
                let mut value = self.value[at];
                let touches = u32::from(start == left) + u32::from(end == right);
                value *= 1.0 + self.rules.touch * f64::from(touches);
                if branch.depth != OPEN && reduced.spans[at].size == branch.depth {
                    value *= self.rules.flush;
                }
                self.options.push((value, b));
            }
            b = state.next_unplaced(b);
        }
        self.sort_options(first);
        if branch.raise.is_some() {
            self.options.push((NOTHING, NONE));
        }
    }

    fn sort_options(&mut self, first: usize) {
        self.options[first..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }

    /// Tries the best options from index `first` on for one step. Removes those that fail immediately and
    /// sorts the others by score and consumed slack. Every trial counts as a node.
    pub(super) fn look_ahead(&mut self, node: Node, branch: Branch, first: usize, budget: &mut Budget) {
        let mut kept = first;
        for at in first..self.options.len() {
            let (value, option) = self.options[at];
            if at - first >= self.rules.looks && option != NONE {
                self.options[kept] = (value.ln() - UNSEEN, option);
                kept += 1;
                continue;
            }
            budget.tick();
            self.run_left = self.run_left.saturating_sub(1);
            if let Some(burnt) = self.burnt_by(node, branch, option) {
                self.options[kept] = (value.ln() - self.rules.burn * burnt, option);
                kept += 1;
            }
        }
        self.options.truncate(kept);
        self.sort_options(first);
    }

    /// Returns the slack consumed by the raises that an option forces, as a difference of logarithms summed
    /// over sections. Returns `None` if the option fails.
    fn burnt_by(&mut self, node: Node, branch: Branch, option: u32) -> Option<f64> {
        let mark = self.state.mark();
        let known = node.valleys..self.valleys.len();
        let (changed, _) = self.apply(branch, option);
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        let placed = if option == NONE { mark } else { self.state.mark() };
        let view = View {
            reduced: self.reduced,
            component: node.component,
            rules: &self.rules,
            weight: &self.failures.weight,
        };
        let seen = self.scratch.look(view, &mut self.state, changed, (&mut self.valleys, valleys));
        self.valleys.truncate(valleys);
        let burnt = match seen {
            Ok(()) => Some(self.state.burnt_since(placed, SOFT)),
            Err(Dead(section)) => {
                self.failures.blame(section);
                None
            }
        };
        self.state.undo(self.reduced, mark);
        burnt
    }
}
