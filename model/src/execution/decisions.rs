//! The decisions of a run: the branches taken and the trip counts.

/// The `SplitMix64` generator.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..count`, or 0 if `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }
}

/// The decisions of successive runs. They are either drawn at random or enumerated in odometer order: the
/// last decision changes fastest.
///
/// Runs that have made the same decisions so far face the same next decision. The enumeration therefore
/// yields every combination exactly once.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// Each decision with its number of options.
    chosen: Vec<(usize, usize)>,
    /// The number of decisions made so far in this run.
    met: usize,
    random: Option<Random>,
}

impl Decisions {
    pub(super) fn choose(&mut self, count: usize) -> usize {
        if let Some(random) = &mut self.random {
            return random.below(count);
        }
        if self.met == self.chosen.len() {
            self.chosen.push((0, count));
        }
        self.met += 1;
        self.chosen[self.met - 1].0
    }

    /// Moves to the next combination. Returns false after the last combination.
    pub(super) fn advance(&mut self) -> bool {
        self.met = 0;
        while let Some((choice, count)) = self.chosen.pop() {
            if choice + 1 < count {
                self.chosen.push((choice + 1, count));
                return true;
            }
        }
        false
    }

    pub(super) fn draw(&mut self, seed: u64) {
        self.random = Some(Random::new(seed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odometer_yields_every_combination_once() {
        // The first choice has three options. It determines how many choices with two options follow.
        let (mut decisions, mut seen) = (Decisions::default(), Vec::new());
        loop {
            let more = decisions.choose(3);
            seen.push((0..more).map(|_| decisions.choose(2)).collect::<Vec<_>>());
            if !decisions.advance() {
                break;
            }
        }
        let wants: Vec<Vec<usize>> =
            vec![vec![], vec![0], vec![1], vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]];
        assert_eq!(seen, wants);
    }

    #[test]
    fn random_decisions_repeat_with_the_seed() {
        let draw = |seed| {
            let mut decisions = Decisions::default();
            decisions.draw(seed);
            (0..64).map(|_| decisions.choose(4)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!((0..4).all(|one| draw(1).contains(&one)));
    }
}
