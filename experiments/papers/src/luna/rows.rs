//! Every number the paper prints, and what stands in for it.

use super::models::StandIn;
use super::printed::{Printed, STRATEGIES, gain};
use super::tables::{BEFORE, arena};
use super::timed::Measured as Timed;
use super::times::PrintedTimes;
use super::{Inputs, Measured};
use crate::{Amount, Reproduction, Row};
use plimsoll::branches::{Comparison, Scheme};
use plimsoll_model::overlap::{Machine, Time};

/// Tables 1 and 2.
pub(super) fn memory(
    inputs: &Inputs,
    stand_ins: &[StandIn],
    measured: &[Measured],
    found: &mut Reproduction,
) {
    let pairs = || stand_ins.iter().zip(measured).map(|(one, measured)| (one, &measured.comparison));
    for printed in &inputs.tables {
        let mine: Vec<_> = pairs().filter(|(one, _)| one.paper == printed.model).collect();
        before(printed, &mine, found);
    }
    for printed in &inputs.tables {
        let branched = |(one, of): &(&StandIn, &Comparison)| one.paper == printed.model && of.regions > 1;
        let mine: Vec<_> = pairs().filter(branched).collect();
        after(printed, &mine, found);
    }
}

/// A printed peak beside that of every stand-in; or why there is none.
fn peaks(row: &Row, ours: &[(String, u64)], found: &mut Reproduction) {
    if ours.is_empty() {
        found.row(row.clone().missing("the paper's model is not public, and nothing stands in for it here"));
    }
    for (reason, bytes) in ours {
        found.row(row.clone().other(*bytes, reason.clone()));
    }
}

fn before(printed: &Printed, mine: &[(&StandIn, &Comparison)], found: &mut Reproduction) {
    let about = |one: &StandIn| format!("another model, {}: {}", one.graph.name(), one.differs);
    let row = |what: &str| Row::new("table 1", format!("{}, {what}", printed.model), "bytes");
    let naive =
        mine.iter().map(|(one, of)| (about(one), of.best(Scheme::Naive).map_or(0, |line| line.arena)));
    peaks(&row("naive").printed(printed.naive), &naive.collect::<Vec<_>>(), found);
    for (strategy, bytes) in STRATEGIES.into_iter().zip(printed.before) {
        let mut ours = Vec::new();
        for (one, of) in mine {
            let readings = BEFORE.into_iter().take(if of.regions == 1 { 1 } else { 2 });
            for (scheme, reading) in readings {
                let reading = if of.regions == 1 { String::new() } else { format!("; {reading}") };
                ours.push((about(one) + &reading, arena(of, scheme, strategy)));
            }
        }
        peaks(&row(strategy).printed(bytes), &ours, found);
    }
}

fn after(printed: &Printed, mine: &[(&StandIn, &Comparison)], found: &mut Reproduction) {
    let Some(after) = printed.after else { return };
    for (strategy, bytes) in STRATEGIES.into_iter().zip(after) {
        let row = Row::new("table 2", format!("{}, {strategy}", printed.model), "bytes").printed(bytes);
        let ours = mine.iter().map(|(one, of)| {
            let about = format!("another model, {}: {}", one.graph.name(), one.differs);
            (about, arena(of, Scheme::Nested, strategy))
        });
        peaks(&row, &ours.collect::<Vec<_>>(), found);
    }
}

/// Table 3: gains from its own times, and both times of stand-ins.
pub(super) fn times(
    rows: &[PrintedTimes],
    measured: &Timed<'_>,
    machine: &Machine,
    found: &mut Reproduction,
) {
    for one in rows {
        let row = |what: &str, unit| Row::new("table 3", format!("{}, {what}", one.model), unit);
        let percent = |hundredths: i64| Amount::Decimal(hundredths as f64 / 100.0, 2);
        let gained = row("gain", "%").printed(percent(one.gain as i64));
        found.row(gained.clone().same(percent(one.computed()), "from both times printed"));
        let millis = |micros: u64| Amount::Decimal(micros as f64 / 1e3, 3);
        let printed = [
            row("synchronous", "ms").printed(millis(one.synchronous)),
            row("ping-pong", "ms").printed(millis(one.overlapped)),
            gained,
        ];
        let mine: Vec<_> = measured.iter().filter(|(timed, _)| timed.stand_in.serves(one.model)).collect();
        if mine.is_empty() {
            for row in printed {
                found.row(row.missing("the paper's model is not public, and nothing stands in for it here"));
            }
            continue;
        }
        for (timed, times) in mine {
            let (name, differs) = (timed.graph().name(), timed.stand_in.differs);
            match times {
                Err(why) => {
                    for row in printed.clone() {
                        found.row(row.missing(format!("{name} does not fit on chip: {why}")));
                    }
                }
                Ok(times) => {
                    let millis = |time: Time| Amount::Decimal(time.seconds() * 1e3, 3);
                    let reason = format!(
                        "another model, {name}: {differs}; machine {}, of round numbers",
                        machine.name
                    );
                    let ours = [
                        millis(times.synchronous),
                        millis(times.overlapped),
                        Amount::Decimal(times.gain(), 2),
                    ];
                    for (row, ours) in printed.clone().into_iter().zip(ours) {
                        found.row(row.other(ours, reason.clone()));
                    }
                }
            }
        }
    }
}

/// What text, abstract and conclusion claim.
pub(super) fn claims(inputs: &Inputs, found: &mut Reproduction) {
    let pairs = inputs.tables.iter().flat_map(|one| {
        one.after
            .into_iter()
            .flat_map(|after| one.before.into_iter().zip(after))
            .map(|pair| (one.model, pair))
    });
    let gains = pairs.map(|(model, (before, after))| (gain(before, after), model));
    let best = gains.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, "no model"));
    let row = Row::new("abstract, section 2.2", "best gain of merging branches", "%");
    let row = row.printed(Amount::Decimal(inputs.best_gain, 1));
    found.row(row.same(Amount::Decimal(best.0, 2), format!("tables 1 and 2, {}", best.1)));
    let best = inputs.times.iter().max_by_key(|row| row.computed());
    let row = Row::new("abstract, section 2.3", "best gain of ping-pong", "%");
    let row = row.printed(Amount::Decimal(inputs.best_overlap as f64, 0));
    found.row(match best {
        Some(best) => {
            let ours = Amount::Decimal(best.computed() as f64 / 100.0, 2);
            row.same(ours, format!("table 3, {}", best.model))
        }
        None => row.missing("table 3 has no row"),
    });
    for &(network, percent) in &inputs.shares {
        let row =
            Row::new("introduction", format!("{network}: intermediate tensors in memory at run time"), "%");
        let row = row.printed(Amount::Decimal(percent, 0));
        found.row(row.missing("cited from others' measurements of a process, which holds more than tensors"));
    }
}
