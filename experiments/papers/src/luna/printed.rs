//! What the paper prints, and what follows from it by arithmetic alone.

use crate::Reproduction;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::gcd;

/// The three strategies, in the order of the columns of tables 1 and 2.
pub(super) const STRATEGIES: [&str; 3] = ["large-first", "short-first", "sequential"];

/// One model of tables 1 and 2, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// Its name there.
    pub model: &'static str,
    /// Table 1: every tensor in memory of its own.
    pub naive: u64,
    /// Table 1: the strategies, before merging.
    pub before: [u64; 3],
    /// Table 2: the same with merging; none for models without branches.
    pub after: Option<[u64; 3]>,
}

/// Tables 1 and 2.
pub(super) const PRINTED: [Printed; 5] = [
    Printed { model: "FaceDetect", naive: 934_000, before: [409_600, 409_600, 440_320], after: None },
    Printed { model: "FaceAlign", naive: 202_429, before: [46_080, 46_668, 46_668], after: None },
    Printed {
        model: "wake-up",
        naive: 312_664,
        before: [24_152, 24_152, 24_152],
        after: Some([24_152, 24_152, 24_152]),
    },
    Printed {
        model: "FusionDetect",
        naive: 26_502_400,
        before: [489_600, 489_600, 604_800],
        after: Some([460_800, 460_800, 576_000]),
    },
    Printed {
        model: "denoise",
        naive: 794_128,
        before: [99_840, 117_760, 142_848],
        after: Some([98_340, 116_224, 141_312]),
    },
];

impl Printed {
    /// All peaks printed for it.
    fn peaks(&self) -> Vec<u64> {
        self.before.iter().chain(self.after.iter().flatten()).copied().collect()
    }
}

/// How much less `after` is than `before`, percent; negative where it is more.
pub(super) fn gain(before: u64, after: u64) -> f64 {
    (1.0 - after as f64 / before.max(1) as f64) * 100.0
}

/// A gain as it is shown.
pub(super) fn shown(gain: f64) -> String {
    // No minus in front of zero.
    format!("{:.2} %", if gain.abs() < 0.005 { 0.0 } else { gain })
}

fn common(numbers: &[u64]) -> u64 {
    numbers.iter().copied().fold(0, gcd)
}

/// The peak without which the others have a common divisor many times as large, and that divisor.
fn outlier(peaks: &[u64]) -> Option<(u64, u64)> {
    let all = common(peaks).max(1);
    let without = |&odd: &u64| {
        let others: Vec<u64> = peaks.iter().copied().filter(|&peak| peak != odd).collect();
        // A single number divides itself.
        let several = others.iter().any(|&one| one != others[0]);
        several.then(|| (odd, common(&others))).filter(|&(_, divisor)| divisor >= 64 * all)
    };
    peaks.iter().find_map(without)
}

/// Checks the printed tables against themselves and against the text.
pub(super) fn arithmetic(tables: &[Printed], claimed: f64, found: &mut Reproduction) {
    let mut table = Table::new([
        ("printed", Align::Left),
        ("naive / large-first", Align::Right),
        ("saved: large-first", Align::Right),
        ("short-first", Align::Right),
        ("sequential", Align::Right),
        ("gain: large-first", Align::Right),
        ("short-first", Align::Right),
        ("sequential", Align::Right),
        ("all peaks divide by", Align::Right),
    ]);
    let mut best = ("", 0.0);
    for one in tables {
        let mut cells =
            vec![one.model.to_owned(), format!("{:.2}", one.naive as f64 / one.before[0].max(1) as f64)];
        let pairs: Vec<(u64, u64)> =
            one.after.iter().flat_map(|after| one.before.into_iter().zip(*after)).collect();
        cells.extend(
            pairs.iter().map(|&(before, after)| (i128::from(before) - i128::from(after)).to_string()),
        );
        cells.extend(pairs.iter().map(|&(before, after)| shown(gain(before, after))));
        for gain in pairs.iter().map(|&(before, after)| gain(before, after)) {
            if gain > best.1 {
                best = (one.model, gain);
            }
        }
        if pairs.is_empty() {
            cells.extend(["-"; 6].map(str::to_owned));
        }
        cells.push(common(&one.peaks()).to_string());
        table.row(cells);
    }
    found.section("The printed tables 1 and 2, checked against themselves");
    found.table(table);
    found.line("bytes; the gain of merging is 1 - table 2 / table 1");
    found.line(format!(
        "the best gain is {:.2} % ({}); text and abstract print {claimed} %, which is {}",
        best.1,
        best.0,
        if (best.1 - claimed).abs() < 0.05 { "the same, rounded up" } else { "not the same" }
    ));
    for one in tables {
        remarks(one, found);
    }
    for one in tables.iter().filter(|one| one.model == "wake-up") {
        let same = one.after == Some(one.before);
        found.line(format!(
            "wake-up: all peaks are {}, so that {}; its naive size is {:.2} times that",
            one.before[0],
            if same { "merging gains nothing, as the text says" } else { "merging changes something" },
            one.naive as f64 / one.before[0].max(1) as f64
        ));
    }
}

/// What is odd about the numbers of one model.
fn remarks(one: &Printed, found: &mut Reproduction) {
    let peaks = one.peaks();
    let savings: Vec<u64> = one
        .after
        .iter()
        .flat_map(|after| one.before.into_iter().zip(*after))
        .map(|(a, b)| a.saturating_sub(b))
        .collect();
    if let Some((odd, divisor)) = outlier(&peaks) {
        // The saving the other strategies have in common says what would have been expected.
        let mut others: Vec<u64> = savings.clone();
        others.sort_unstable();
        let usual = others[others.len() / 2];
        let expected = one.after.and_then(|after| {
            let at = after.iter().position(|&peak| peak == odd)?;
            Some(one.before[at] - usual)
        });
        let digits = |number: u64| {
            let mut digits: Vec<char> = number.to_string().chars().collect();
            digits.sort_unstable();
            digits
        };
        let slip = expected.filter(|&expected| digits(expected) == digits(odd));
        let slip = slip.map_or_else(String::new, |expected| {
            format!(
                "; {expected}, the same digits in another order, does, and saves {usual} like the other strategies: a likely slip (gain {} instead of {})",
                shown(gain(expected + usual, expected)),
                shown(gain(expected + usual, odd))
            )
        });
        found.line(format!("{}: all printed peaks but {odd} divide by {divisor}{slip}", one.model));
    }
    if let [first, rest @ ..] = savings.as_slice()
        && *first > 0
        && rest.iter().all(|saving| saving == first)
    {
        let whole = peaks.iter().all(|peak| peak % first == 0);
        let tail = if whole { ", and every peak is a multiple of it" } else { "" };
        let after = one.after.unwrap_or(one.before);
        let [large, small] =
            [after.iter().max(), after.iter().min()].map(|peak| peak.map_or(0, |peak| peak / first));
        found.line(format!(
            "{}: merging saves {first} bytes whatever the strategy{tail}. If lifetimes of both branches overlap before, as the text on figure 6(a) says, this is what the smaller branch needs: the larger one takes {small} to {large} times as much",
            one.model
        ));
    }
    let [large, short, sequential] = one.before;
    if short == sequential && short != large && one.after.is_none() {
        found.line(format!(
            "{}: {short} against {large} is {} bytes more, {}; it divides by {} only, {large} by {}, and the naive {} is odd: tensors of a few bytes take part",
            one.model,
            short - large,
            shown(gain(short, large)),
            1u64 << short.trailing_zeros(),
            1u64 << large.trailing_zeros(),
            one.naive
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_tables() {
        let gains: Vec<String> = PRINTED
            .iter()
            .filter_map(|one| Some(one.before.into_iter().zip(one.after?)))
            .flat_map(|pairs| pairs.map(|(before, after)| shown(gain(before, after))))
            .collect();
        assert_eq!(gains[3..6], ["5.88 %", "5.88 %", "4.76 %"]);
        assert_eq!(gains[..3], ["0.00 %"; 3]);
        assert_eq!(gains[6..], ["1.50 %", "1.30 %", "1.08 %"]);
        assert_eq!(shown(-0.001), "0.00 %");
        assert_eq!(shown(gain(100, 107)), "-7.00 %");
    }

    #[test]
    fn the_number_that_does_not_fit_is_found() {
        assert_eq!(outlier(&PRINTED[4].peaks()), Some((98_340, 512)));
        assert!((0..4).all(|at| outlier(&PRINTED[at].peaks()).is_none()));
        let mut found = Reproduction::default();
        arithmetic(&PRINTED, 5.9, &mut found);
        let text = found.text();
        assert!(text.contains("98304, the same digits in another order"), "{text}");
        assert!(
            text.contains("FusionDetect: merging saves 28800 bytes whatever the strategy, and every peak")
        );
        assert!(text.contains("46668 against 46080 is 588 bytes more"));
    }
}
