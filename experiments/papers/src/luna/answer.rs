//! How far is merging from the optimum, and when does it lose? Tables, and the answer in words with computed numbers.

use super::against::{Count, Sample};
use super::printed::{STRATEGIES, gain, shown};
use super::tables::{BEFORE, arena};
use crate::Reproduction;
use plimsoll::branches::{Comparison, Scheme};
use plimsoll_lab::report::percent;
use plimsoll_lab::report::table::{Align, Table};

/// Adds the comparison and its answer.
pub(super) fn answer(samples: &[Sample], found: &mut Reproduction) {
    let mut families: Vec<&'static str> = Vec::new();
    for sample in samples {
        if !families.contains(&sample.family) {
            families.push(sample.family);
        }
    }
    let of = |family: &str| Count::of(samples.iter().filter(|sample| sample.family == family));
    let mut counts: Vec<(&str, Count)> = families.into_iter().map(|family| (family, of(family))).collect();
    counts.push(("all", Count::of(samples)));
    distances(&counts, found);
    duels(&counts, found);
    losses(&counts, found);
    ratios(samples, found);
    words(samples, &counts[counts.len() - 1].1, found);
    let lines: Vec<Comparison> = samples.iter().map(|one| one.measured.comparison.clone()).collect();
    found.file("comparison.csv", "every graph by every scheme and solver: arena, bound, seconds", |file| {
        plimsoll_lab::report::branches::write_lines(&lines, file)
    });
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn worst(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn table(columns: &[&'static str]) -> Table {
    let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
    Table::new(columns.iter().enumerate().map(|(at, name)| (*name, align(at))))
}

fn distances(counts: &[(&str, Count)], found: &mut Reproduction) {
    let mut rows = table(&[
        "family",
        "graphs",
        "optimum proved",
        "merged, best strategy: mean",
        "worst",
        "merged exactly: mean",
        "worst",
        "in turn exactly: mean",
        "worst",
        "meets it: naive",
        "conflict",
        "in turn",
        "merged, best strategy",
        "merged exactly",
    ]);
    for (family, count) in counts {
        let mut cells = vec![(*family).to_owned(), count.graphs.to_string(), count.proved.to_string()];
        for over in &count.over {
            cells.extend([shown(mean(over)), shown(worst(over))]);
        }
        cells.extend(count.met.iter().map(ToString::to_string));
        rows.row(cells);
    }
    found.section("How far is merging from the optimum?");
    found.table(rows);
    found.line("percent over the proved optimum, over graphs that have one above zero bytes; then on how many of them each way meets it. The optimum is that of all layouts that hold in every run, operators in the order of the file; best strategy: the smallest of large-first, short-first, sequential");
    found.line("field cases are small graphs made to be hard, inputs and outputs in the arena; everywhere else these lie outside. Their optima on record were met");
}

fn duels(counts: &[(&str, Count)], found: &mut Reproduction) {
    let mut rows = table(&[
        "family",
        "exactly: loses",
        "wins",
        "same",
        "open",
        "large-first: loses",
        "wins",
        "short-first: loses",
        "wins",
        "sequential: loses",
        "wins",
    ]);
    for (family, count) in counts {
        let mut cells = vec![(*family).to_owned()];
        cells.extend(count.duels.iter().map(ToString::to_string));
        cells.extend(count.fast.iter().flat_map(|duel| [duel[0].to_string(), duel[1].to_string()]));
        rows.row(cells);
    }
    found.section("Merging against branches in turn without merging");
    found.table(rows);
    found.line("graphs. Exactly: both planned without loss, counted where proved; then with the same strategy on both sides");
}

fn losses(counts: &[(&str, Count)], found: &mut Reproduction) {
    let mut rows = table(&[
        "family",
        "above the optimum",
        "bytes above",
        "held beside blocks",
        "lost in packing",
        "graphs with loss in packing",
    ]);
    for (family, count) in counts {
        let [holding, packing] = count.loss;
        let total = holding + packing;
        let share = |part: u64| format!("{} %", percent(100.0 * part as f64 / total.max(1) as f64));
        rows.row([
            (*family).to_owned(),
            format!("{} of {}", count.above, count.proved),
            total.to_string(),
            share(holding),
            share(packing),
            count.packing.to_string(),
        ]);
    }
    found.section("Where the loss comes from");
    found.table(rows);
    found.line("held: the most bytes alive at a time once every operator with regions holds a block as large as what is alive inside, less the optimum: what branches read, what they make and what is dead in them lies beside the block all the time. Packing: what the best merged plan takes beyond that, for blocks must be contiguous");
}

/// The claim that branches of different sizes gain nothing.
fn ratios(samples: &[Sample], found: &mut Reproduction) {
    let ratio = |sample: &Sample| {
        let all = sample.params.iter();
        all.filter(|(name, _)| *name == "ratio").map(|&(_, value)| value).next()
    };
    let mut values: Vec<u64> = samples.iter().filter_map(ratio).collect();
    values.sort_unstable();
    values.dedup();
    let mut rows = table(&[
        "one branch's tensors are so many times as large",
        "graphs",
        "gain over in turn: large-first",
        "exact",
        "gain over conflict: large-first",
        "exact",
        "merged exactly over the optimum",
    ]);
    for value in values {
        let of: Vec<&Sample> = samples.iter().filter(|sample| ratio(sample) == Some(value)).collect();
        let average = |number: &dyn Fn(&Sample) -> f64| {
            shown(mean(&of.iter().map(|sample| number(sample)).collect::<Vec<_>>()))
        };
        let mut cells = vec![value.to_string(), of.len().to_string()];
        for (scheme, _) in BEFORE {
            let large = |sample: &Sample| {
                let of = |scheme| arena(&sample.measured.comparison, scheme, STRATEGIES[0]);
                gain(of(scheme), of(Scheme::Nested))
            };
            cells.push(average(&large));
            cells.push(average(&|sample| gain(sample.best(scheme), sample.best(Scheme::Nested))));
        }
        let over =
            |sample: &Sample| sample.optimum().map_or(0.0, |least| -gain(least, sample.best(Scheme::Nested)));
        cells.push(average(&over));
        rows.row(cells);
    }
    found.section("Branches of different sizes");
    found.table(rows);
    found.line("means over generated graphs of the family unbalanced-if; the paper says of its wake-up model that branches of too different sizes gain nothing. Over conflicting branches that is so: where one is r times as large as the other and nothing else is alive, merging saves 1 / (1 + r)");
    found.line(format!(
        "for r = 16 that is {}, which is the best gain printed: FusionDetect is as if its branches were that unequal and conflicting before",
        shown(100.0 / 17.0)
    ));
}

/// The answer in words.
fn words(samples: &[Sample], all: &Count, found: &mut Reproduction) {
    found.section("The answer");
    let Count { graphs, proved, over, met, duels, fast: same, above, packing, loss } = all;
    let [fast, exact, turn] = over;
    let far = |of: &[f64]| format!("{} on average, {} at worst", shown(mean(of)), shown(worst(of)));
    let hardest = samples.iter().filter_map(|sample| Some((sample, sample.optimum()?)));
    let hardest = hardest.max_by(|a, b| {
        let over = |(sample, least): &(&Sample, u64)| sample.best(Scheme::Nested) as f64 / *least as f64;
        over(a).total_cmp(&over(b))
    });
    let at =
        hardest.map_or_else(String::new, |(sample, _)| format!(" ({})", sample.measured.comparison.graph));
    found.line(format!(
        "{graphs} graphs with branches or loops, {proved} with a proved optimum above zero. Merging branches into blocks at its best lies {} above it{at}, by the best of the three strategies {}. It meets the optimum on {} ({}), by strategies on {}",
        far(exact),
        far(fast),
        met[4],
        shown(100.0 * met[4] as f64 / (*proved).max(1) as f64),
        met[3]
    ));
    found.line(format!(
        "planning branches in turn without merging lies {} above the optimum and meets it on {}. Merging surely takes more than that on {}, less on {}, the same on {}; {} are open",
        far(turn),
        met[2],
        duels[0],
        duels[1],
        duels[2],
        duels[3]
    ));
    let [lost, won] = [0, 1].map(|at| same.iter().map(|duel| duel[at]).sum::<usize>());
    found.line(format!(
        "blocks never win by themselves: a layout by blocks is one of branches in turn too, for what is alive at any point of an operator lies beside its block, and its branches are apart in time. What merging gains there is what a strategy misses without it: with the same strategy on both sides it wins {won} and loses {lost} of {} times. It can gain much over a planner that takes branches for conflicting, but that one is beaten by branches in turn as well",
        3 * graphs
    ));
    let total = (loss[0] + loss[1]).max(1);
    found.line(format!(
        "when it loses: on {above} graphs it is above the optimum, and {} % of the bytes lost there are held, {} % lost in packing (graphs with any: {packing}). Blocks cost memory where branches read tensors that die in them, or make results that need no room while the branch runs: a block stands beside all of these from the beginning of the operator to its end",
        percent(100.0 * loss[0] as f64 / total as f64),
        percent(100.0 * loss[1] as f64 / total as f64)
    ));
    let known = |sample: &&Sample| sample.optimum().is_some();
    let tells = |sample: &&Sample| {
        let held = sample.measured.held.get() > sample.measured.comparison.load;
        let lost = sample.loss().is_some_and(|(holding, packing)| holding + packing > 0);
        held == lost
    };
    let told = samples.iter().filter(known).filter(tells).count();
    found.line(format!(
        "it can be told beforehand: \"merging is above the optimum where what blocks hold exceeds the most bytes alive\" is right on {told} of {proved} graphs, without any placement"
    ));
    let loops = |sample: &&Sample| sample.family == "loops";
    let looped = Count::of(samples.iter().filter(loops));
    found.line(format!(
        "loops gain nothing from blocks, since the regions of a loop are one frame: merging is worse than planning all in turn on {} of {} such graphs",
        looped.duels[0], looped.graphs
    ));
}
