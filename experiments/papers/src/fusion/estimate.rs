//! What the described platform would take by the model of tiers, beside what was printed of it.

use super::super::{Amount, Context, ReproduceError, Reproduction, Row, generated};
use super::times::Measured;
use plimsoll::graphs::GraphRun;
use plimsoll::tiers::{Fusing, TierSetting, tier_case};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::fusion::{Patterns, UnitRule};
use plimsoll_model::graph::{Boundary, LivenessOptions};
use plimsoll_model::overlap::Time;
use plimsoll_model::tiers::{Addresses, TierMachine, on_and_off_chip};

/// Columns of table 1 as settings: whether groups span units, and who places.
const MEASURES: [(&str, UnitRule, &str); 4] = [
    ("baseline", UnitRule::Same, "off-chip"),
    ("algorithm", UnitRule::Any, "off-chip"),
    ("hardware", UnitRule::Same, "fused"),
    ("both", UnitRule::Any, "fused"),
];

/// One network under one measure.
struct Estimate {
    inference: Time,
    groups: usize,
    /// Bytes moved to and from memory off chip, of all that are moved.
    share: f64,
}

/// Adds the estimates of both networks.
pub(super) fn platform(
    context: &Context<'_>,
    seconds: &[Measured],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut table = columns();
    let mut notes = vec![
        "estimated: operators one after the other on the preset s3-platform, of which the paper prints clocks, units and sizes, and the \
         rest is guessed; elements of 8 bits, patterns s3-joined; inference only"
            .to_owned(),
    ];
    let mut panels = Vec::new();
    for printed in seconds {
        let family = printed.family;
        let estimates: Vec<Estimate> = MEASURES
            .iter()
            .map(|&(_, rule, placement)| estimate(context, family, rule, placement))
            .collect::<Result<_, _>>()?;
        let best = estimate(context, family, UnitRule::Any, "exact")?;
        panels.push(beside(printed, &estimates, found));
        lines(printed, &estimates, &best, &mut table);
        let fewer = estimates[0].groups.saturating_sub(estimates[1].groups);
        let saved = printed.inference[0] - printed.inference[1];
        if fewer > 0 {
            notes.push(format!(
                "{}: fusing across units makes {fewer} groups fewer; were the printed {saved:.3} s saved by starts alone, one would \
                 take {:.1} ms",
                printed.network,
                saved * 1e3 / fewer as f64
            ));
        }
    }
    notes.push(
        "so fusion saves in the model what starts cost, memory what transfers cost; in print, memory alone saves nearly nothing and fusion \
         most, of which no one time per start accounts for both networks"
            .to_owned(),
    );
    let chart = Bars {
        title: "Table 1: inference by measure, printed and by the model of tiers".to_owned(),
        caption: "milliseconds; fused: across units; tiers: memories on chip".to_owned(),
        series: ["printed", "estimated"].map(str::to_owned).to_vec(),
        mark: String::new(),
        unit: "milliseconds",
        panels,
    };
    found.file("table-1.svg", "inference by measure, printed and estimated", |file| chart.write(file));
    found.section("The described platform by the model of tiers");
    found.table(table);
    for note in notes {
        found.line(note);
    }
    Ok(())
}

fn columns() -> Table {
    Table::new([
        ("network", Align::Left),
        ("measure", Align::Left),
        ("groups", Align::Right),
        ("printed s", Align::Right),
        ("speed-up", Align::Right),
        ("estimated s", Align::Right),
        ("speed-up", Align::Right),
        ("off chip", Align::Right),
    ])
}

/// One network, a line per measure and one for the least transfers there are.
fn lines(printed: &Measured, estimates: &[Estimate], best: &Estimate, table: &mut Table) {
    let base = estimates[0].inference.seconds();
    let rows = MEASURES.iter().map(|measure| measure.0).zip(printed.inference.map(Some)).zip(estimates);
    for ((measure, seconds), one) in rows.chain([(("both, least transfers", None), best)]) {
        let (ours, theirs) = (one.inference.seconds(), printed.inference[0]);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            printed.network.to_owned(),
            measure.to_owned(),
            one.groups.to_string(),
            or_none(seconds.map(|seconds| format!("{seconds:.3}"))),
            or_none(seconds.map(|seconds| format!("{:.2}", theirs / seconds))),
            format!("{ours:.3}"),
            format!("{:.2}", base / ours),
            format!("{:.1} %", one.share * 100.0),
        ]);
    }
}

/// Rows of table 1, inference, and a panel of bars.
fn beside(printed: &Measured, estimates: &[Estimate], found: &mut Reproduction) -> Panel {
    let mut groups = Vec::new();
    for (((measure, ..), &seconds), one) in MEASURES.iter().zip(&printed.inference).zip(estimates) {
        let ours = one.inference.seconds();
        let row = Row::new("table 1", format!("{}, inference, {measure}", printed.network), "s");
        let row = row.printed(Amount::Decimal(seconds, 3));
        found.row(row.other(
            Amount::Decimal(ours, 3),
            "estimated on the preset s3-platform, whose bandwidths and starts are guessed; the paper measured a board",
        ));
        let bars = [seconds, ours].map(|seconds| Some((seconds * 1e3).round() as u64));
        groups.push(((*measure).to_owned(), bars.to_vec()));
    }
    let totals = MEASURES.iter().zip(printed.total);
    for ((measure, ..), seconds) in totals {
        let row = Row::new("table 1", format!("{}, total, {measure}", printed.network), "s");
        let row = row.printed(Amount::Decimal(seconds, 3));
        found.row(row.missing("measured on a board; what runs outside of inference is not described"));
    }
    Panel { name: printed.network.to_owned(), groups, mark: None }
}

fn estimate(
    context: &Context<'_>,
    family: &'static str,
    rule: UnitRule,
    placement: &'static str,
) -> Result<Estimate, ReproduceError> {
    let graph = generated(family, &[("int8", 1)])?;
    let (machine, patterns) = (TierMachine::find("s3-platform")?, Patterns::find("s3-joined")?);
    let order = context.registry.orders.iter().copied().find(|entry| entry.name == "as-in-file");
    let order = order.ok_or(ReproduceError::Missing { name: "as-in-file", problem: "orders" })?;
    let liveness = LivenessOptions { boundary: Boundary::Arena, ..LivenessOptions::default() };
    let setting = TierSetting {
        machine: &machine,
        run: GraphRun { liveness, order, setup: context.setup, limits: context.limits },
        fusing: Some(Fusing { patterns: &patterns, rule }),
        addresses: Addresses::Placed,
        boundary_off_chip: false,
    };
    let failed = |reason: String| ReproduceError::Tiers { graph: graph.name().to_owned(), reason };
    let case = tier_case(&graph, &setting).map_err(|error| failed(error.to_string()))?;
    let found = context.solve(&context.registry.tiers, placement, graph.name(), &case.problem)?;
    let plan = found.solution.ok_or_else(|| failed("no plan within the limits".to_owned()))?;
    let (on, off) = on_and_off_chip(&case.problem, &plan.traffic(&case.problem));
    let times = [plan.time(&case.problem), case.times.compute, case.times.overhead, case.times.weights.time];
    Ok(Estimate {
        inference: Time::new(times.iter().map(|time| time.get()).sum()),
        groups: case.groups,
        share: off as f64 / (on + off).max(1) as f64,
    })
}
