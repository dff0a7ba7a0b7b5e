//! Horizontal bars that compare algorithms. They are plain HTML, so that they adapt to the width of the page.

use crate::analysis::files::status_counts;
use crate::analysis::{Group, Standing};
use crate::report::percent;
use crate::report::ranking::{real, time};
use crate::report::scene::escape;
use std::fmt::Write as _;

/// Maximum number of bars that are shown unfolded.
const MOST: usize = 15;

/// Returns one bar per algorithm on a linear axis from 0: its mean gap or, if a capacity is decided, its
/// number of decided instances. Returns an empty string if no algorithm has such a number.
pub fn bars(group: &Group, standings: &[Standing]) -> String {
    let all: Vec<&Standing> = real(standings).collect();
    let decide = group.question.decide;
    let length = |own: &Standing| if decide { Some(own.solved as f64) } else { own.mean_gap };
    if !all.iter().any(|own| length(own).is_some()) {
        return String::new();
    }
    let (shown, folded) = all.split_at(all.len().min(MOST));
    let mut text = list(shown, group, length);
    if !folded.is_empty() {
        let _ = write!(
            text,
            "<details class=\"part\"><summary>{} more algorithms</summary>\n{}</details>\n",
            folded.len(),
            list(folded, group, length)
        );
    }
    text
}

/// Returns a list of bars with its title. The longest bar spans the whole axis.
fn list(own: &[&Standing], group: &Group, length: impl Fn(&Standing) -> Option<f64>) -> String {
    let decide = group.question.decide;
    let most = own.iter().filter_map(|own| length(own)).fold(0.0, f64::max);
    let title = if decide {
        format!("Decided instances of {}", group.instances.len())
    } else {
        format!("Mean gap to the best bound, axis from 0 to {}\u{a0}%", percent(most))
    };
    let bar = |own: &&Standing| {
        let share = length(own).filter(|_| most > 0.0).map_or(0.0, |length| length / most * 100.0);
        format!(
            "<li><span>{}</span><span class=\"track\"><i style=\"width:{share:.2}%\"></i></span><span>{}</span></li>\n",
            escape(&own.algorithm),
            escape(&label(own, decide))
        )
    };
    let bars: String = own.iter().map(bar).collect();
    format!("<h4>{}</h4>\n<ol class=\"bars\">\n{bars}</ol>\n", escape(&title))
}

/// Returns the numbers next to a bar, or the reason why there are none.
fn label(own: &Standing, decide: bool) -> String {
    let spent = time(own.mean_spent);
    match own.mean_gap {
        _ if decide => format!("{} of {}, {spent}", own.solved, own.instances),
        Some(gap) => format!("{} %, {} of {} optimal, {spent}", percent(gap), own.at_bound, own.instances),
        None if own.troubles.is_empty() => "- (no solution)".to_owned(),
        None => format!("- ({})", status_counts(&own.troubles)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_linear_and_reasons_replace_missing_gaps() {
        let own = |algorithm: &str, mean_gap| Standing {
            algorithm: algorithm.to_owned(),
            kind: Some(crate::row::AlgorithmKind::Heuristic),
            instances: 2,
            mean_gap,
            ..Standing::default()
        };
        let mut silent = own("silent", None);
        silent.troubles.insert(crate::row::Status::Skipped, 2);
        let all = [own("a<b", Some(0.0)), own("half", Some(5.0)), own("worst", Some(10.0)), silent];
        let text = bars(&Group::default(), &all);
        for part in [
            "a&lt;b",
            "width:0.00%",
            "width:50.00%",
            "width:100.00%",
            "- (skipped=2)",
            "from 0 to 10.00\u{a0}%",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(bars(&Group::default(), &all[3..]), "");
        let many: Vec<Standing> = (0..20).map(|at| own(&format!("a{at}"), Some(0.0))).collect();
        let text = bars(&Group::default(), &many);
        assert!(text.contains("5 more algorithms") && !text.contains("NaN"), "{text}");
    }
}
