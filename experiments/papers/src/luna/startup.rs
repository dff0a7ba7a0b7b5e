//! Finds the lowest setup latency at which ping-pong loses to copies by the processor, which have no setup
//! latency.
//!
//! Let each of n equal operators compute for time c. DMA transfers its weights in time l = s + b (setup
//! latency plus bytes over bandwidth), and the processor copies them in time p. Copying takes n (c + p) in
//! total, and ping-pong takes l + (n - 1) max(c, l) + c. Ping-pong takes longer in two cases:
//! - n p <= c and l > n p: the first transfer alone takes longer than all copies.
//! - n p > c and l > p + c (n - 1) / n: a transfer takes longer than a copy plus the share of computing that
//!   overlaps with it.
//!
//! At equal rates (b = p), this means s > (n - 1) / n min(c, n p). For whole graphs, the time of ping-pong is
//! a sum of maxima and never decreases as the setup latency grows. Bisection therefore finds the lowest setup
//! latency at which ping-pong loses, with a precision of one picosecond.

use super::timed::{Measured, PING_PONG, SYNCHRONOUS, Timed, Times, gain, micros, refused};
use crate::{ReproduceError, Reproduction};
use minijinja::{Value, context};
use plimsoll_lab::report::axis::{Axis, Unit};
use plimsoll_lab::report::chart::{Chart, Series};
use plimsoll_model::timelines::{Machine, Time};
use std::fmt::Write as _;

/// Rates of copies relative to the rate of DMA, with their names.
const RATES: [(u64, u64, &str); 3] = [(1, 2, "half the rate"), (1, 1, "the rate"), (2, 1, "twice the rate")];
/// The index of the rate that the figure shows.
const DRAWN: usize = 1;
/// Number of intervals between the points of a line in the figure.
const POINTS: i32 = 240;
/// The factor between the setup latency of the machine and either end of the x axis of the figure.
const SPAN: f64 = 100.0;
/// The minimum gain shown in the figure, in percent. Lower gains are drawn at this value. The CSV file
/// contains all gains.
const LEAST_GAIN: f64 = -60.0;
/// The setup latency in the middle of the figure, if the machine has none.
const MIDDLE: Time = Time::new(1_000_000);

/// Returns the lowest setup latency at which ping-pong loses for `operators` equal operators. For each
/// operator, `compute` is the computing time, `bare` the transfer time without setup latency, and `copy` the
/// copying time, in picoseconds. `operators` is at least one.
fn uniform(operators: u64, compute: u64, bare: u64, copy: u64) -> u64 {
    let n = u128::from(operators);
    let [c, p] = [compute, copy].map(u128::from);
    let most = if n * p <= c { n * p } else { (n * p + (n - 1) * c) / n };
    u64::try_from((most + 1).saturating_sub(u128::from(bare))).unwrap_or(u64::MAX)
}

/// Returns the minimum setup latency for which `loses` is true, or `None` if it is false at `most`. `loses`
/// must be monotone.
fn least<E>(most: u64, mut loses: impl FnMut(u64) -> Result<bool, E>) -> Result<Option<u64>, E> {
    if !loses(most)? {
        return Ok(None);
    }
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if loses(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(Some(high))
}

/// The comparison of ping-pong with copies at one rate, for one graph.
#[derive(Debug)]
struct Against {
    /// The makespan without overlap, with weights copied by the processor.
    copied: Time,
    /// The lowest setup latency at which ping-pong takes longer, or `None` if it never does.
    from: Option<Time>,
}

impl Against {
    fn new(timed: &Timed<'_>, times: &Times, rate: (u64, u64)) -> Result<Self, ReproduceError> {
        let bandwidth = u128::from(times.machine.bandwidth) * u128::from(rate.0) / u128::from(rate.1);
        let copy = u64::try_from(bandwidth).unwrap_or(u64::MAX).max(1);
        let machine = Machine { copy: Some(copy), ..times.machine.clone() };
        // A schedule that fits into memory with DMA also fits with copies.
        let what = format!("{SYNCHRONOUS} with copies on {}", timed.graph().name());
        let copied = timed.makespan(&machine, SYNCHRONOUS)?.map_err(|reason| refused(&what, &reason))?;
        // If there is a transfer, ping-pong loses at a setup latency longer than the whole run with copies.
        // The sum of all setup latencies must not overflow.
        let most = (copied.get() + 1).min(Time::LONGEST.get() / 4 / (times.steps as u64).max(1));
        let from = least(most, |startup| {
            let machine = Machine { startup: Time::new(startup), ..machine.clone() };
            Ok::<_, ReproduceError>(timed.makespan(&machine, PING_PONG)?.is_ok_and(|time| time > copied))
        })?;
        Ok(Self { copied, from: from.map(Time::new) })
    }
}

/// Defines the table, the figure and the CSV rows.
pub(super) fn startup(
    measured: &Measured<'_>,
    machine: &Machine,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let mut all = Vec::new();
    for (timed, times) in measured {
        let Ok(times) = times else { continue };
        let against = RATES.map(|(over, under, _)| Against::new(timed, times, (over, under)));
        let [half, same, twice] = against;
        all.push((timed, times, [half?, same?, twice?]));
    }
    found.fact("startups", all.iter().map(row).collect::<Vec<_>>());
    let losing = RATES.iter().enumerate().map(|(at, (.., rate))| {
        let loses = |(.., against): &&(_, _, [Against; 3])| {
            against[at].from.is_some_and(|from| from <= machine.startup)
        };
        let lost: Vec<&str> = all.iter().filter(loses).map(|(timed, ..)| timed.graph().name()).collect();
        context! { rate, lost }
    });
    found.fact("losing", losing.collect::<Vec<_>>());
    figure(&all, machine, found)
}

type One<'m, 'a> = (&'m Timed<'a>, &'m Times, [Against; 3]);

/// Returns the table row of a graph.
fn row((timed, times, against): &One<'_, '_>) -> Value {
    let from = |against: &Against| match against.from {
        None => "never".to_owned(),
        Some(Time::ZERO) => "any".to_owned(),
        Some(time) => time.to_string(),
    };
    let same = &against[DRAWN];
    let steps = times.run.max(1);
    let each = same.copied.saturating_sub(times.computing).get() / steps;
    let equal = uniform(steps, times.computing.get() / steps, each, each);
    context! {
        name => timed.graph().name(), run => times.run, transfers => times.transfers,
        computing => micros(times.computing), copied => micros(same.copied),
        overlapped => micros(times.overlapped), gain => times.gain(),
        over_copies => gain(same.copied, times.overlapped), from => against.each_ref().map(from),
        equal => Time::new(equal).to_string(),
    }
}

/// Returns the gain as a function of the setup latency, as lines and as CSV.
fn lines(all: &[One<'_, '_>], middle: Time) -> Result<(Vec<Series>, String), ReproduceError> {
    let startups = (0..=POINTS).map(|nth| {
        let power = f64::from(nth) / f64::from(POINTS) * 2.0 - 1.0;
        Time::new((middle.get() as f64 * SPAN.powf(power)).round() as u64)
    });
    let startups: Vec<Time> = startups.collect();
    let mut rows = String::from(
        "graph,startup_ps,ping_pong_ps,synchronous_ps,copied_ps,gain_over_dma_percent,gain_over_copies_percent\n",
    );
    let mut series = Vec::new();
    for (colour, (timed, times, against)) in all.iter().enumerate() {
        let (name, copied) = (timed.graph().name(), against[DRAWN].copied);
        let mut points = Vec::new();
        for &startup in &startups {
            let machine = Machine { startup, ..times.machine.clone() };
            let [slow, fast] = [timed.makespan(&machine, SYNCHRONOUS)?, timed.makespan(&machine, PING_PONG)?];
            let (Ok(slow), Ok(fast)) = (slow, fast) else { continue };
            points.push((startup.seconds(), gain(copied, fast)));
            let [at, ends, synchronous, copies] = [startup, fast, slow, copied].map(Time::get);
            let [over_dma, over_copies] = [slow, copied].map(|before| gain(before, fast));
            let _ =
                writeln!(rows, "{name},{at},{ends},{synchronous},{copies},{over_dma:.4},{over_copies:.4}");
        }
        series.push(Series { name: name.to_owned(), colour, dashed: false, dots: false, points });
    }
    Ok((series, rows))
}

/// Draws the figure.
fn figure(all: &[One<'_, '_>], machine: &Machine, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let middle = if machine.startup == Time::ZERO { MIDDLE } else { machine.startup };
    let (series, rows) = lines(all, middle)?;
    let chart = Chart {
        title: String::new(),
        caption: String::new(),
        x: Axis {
            label: "setup latency of a transfer",
            unit: Unit::Seconds,
            low: middle.seconds() / SPAN,
            high: middle.seconds() * SPAN,
            logarithmic: true,
        },
        y: Axis { label: "gain", unit: Unit::Percent, low: LEAST_GAIN, high: 60.0, logarithmic: false },
        series,
    };
    found.file("table-3-startup.csv", "gain of ping-pong by setup latency, per stand-in", |file| {
        file.write_all(rows.as_bytes())
    });
    let it = context! { machine => &machine.name, middle => middle.to_string(), least => LEAST_GAIN };
    found.chart("startup", &it, chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::luna::models::StandIn;
    use crate::luna::{Inputs, timed};
    use crate::{Context, Params};
    use plimsoll::run::Limits;
    use plimsoll_heuristics::timelines::Turns;
    use plimsoll_model::timelines::{Dma, TimedOperator, TimelineProblem};
    use plimsoll_model::{Budget, Bytes, Solver};

    /// Returns two makespans: without overlap, if the processor copies the weights, and with ping-pong. A
    /// byte is transferred by DMA in one picosecond, and copied in `slow` picoseconds.
    fn makespans(chain: &[(u64, u64)], startup: u64, slow: u64) -> (u64, u64) {
        let operators = chain.iter().map(|&(compute, weights)| TimedOperator {
            name: "o".to_owned(),
            compute: Time::new(compute),
            weights: Bytes::new(weights),
            activations: Bytes::ZERO,
        });
        let dma = Dma { channels: 1, startup: Time::new(startup), bandwidth: 1_000_000_000_000 };
        let p = TimelineProblem::new("p", operators.collect(), dma, Bytes::new(1 << 40), Bytes::new(1));
        let p = p.unwrap().with_copy(1_000_000_000_000 / slow).unwrap();
        let makespan =
            |turns: Turns| turns.solution(&p, &mut Budget::unlimited()).unwrap().unwrap().makespan().get();
        (makespan(Turns::SYNCHRONOUS), makespan(Turns::PING_PONG))
    }

    fn searched(chain: &[(u64, u64)], slow: u64) -> u64 {
        let loses = |startup| {
            let (copied, overlapped) = makespans(chain, startup, slow);
            Ok::<_, ()>(overlapped > copied)
        };
        least(100_000, loses).unwrap().unwrap()
    }

    #[test]
    fn equal_operators_lose_where_the_closed_form_predicts() {
        // Each case has n operators with computing time c, b bytes of weights and copying time
        // `p = b * slow`. Expected values are derived by hand.
        let cases = [
            // Computing and transfer are equal: l > 10 + 10 * 3/4 = 17.5, so 18 - 10.
            ((4, 10, 10, 1), 8),
            // Computing takes longer than all copies: l > n p = 4 * 2, so 9 - 2.
            ((4, 100, 2, 1), 7),
            // Transfers take longer than computing: l > 100 + 2 * 3/4 = 101.5, so 102 - 100.
            ((4, 2, 100, 1), 2),
            // Copies run at half the rate: l > 20 + 7.5, so 28 - 10.
            ((4, 10, 10, 2), 18),
            // With one operator, nothing overlaps, so ping-pong loses at any setup latency.
            ((1, 10, 10, 1), 1),
        ];
        for ((n, c, b, slow), expected) in cases {
            let chain = vec![(c, b); n as usize];
            assert_eq!(uniform(n, c, b, b * slow), expected);
            assert_eq!(searched(&chain, slow), expected, "{n} of {c}, {b}");
        }
        // Only the setup latency matters, since transfers are negligible.
        assert_eq!(makespans(&[(2, 1); 5], 100, 1), (15, 507));
        for n in 1..7 {
            for (c, b) in [(0, 3), (5, 1), (1, 5), (9, 9), (40, 3)] {
                for slow in [1, 2, 4] {
                    assert_eq!(
                        searched(&vec![(c, b); n], slow),
                        uniform(n as u64, c, b, b * slow),
                        "{n} {c} {b} {slow}"
                    );
                }
            }
        }
        // Copies are faster than transfers, so ping-pong loses even without setup latency.
        assert_eq!(uniform(3, 1, 100, 10), 0);
    }

    #[test]
    fn bisection_finds_the_first_true_value() {
        for first in 0..40 {
            assert_eq!(least(39, |at| Ok::<_, ()>(at >= first)), Ok((first < 40).then_some(first)));
        }
        assert_eq!(least(39, |_| Ok::<_, ()>(false)), Ok(None));
        assert_eq!(least(39, |at| if at == 19 { Err(at) } else { Ok(at > 19) }), Err(19));
    }

    /// Returns table 3 as CSV, with notes on graphs that do not fit.
    fn text(machine: &Machine) -> String {
        let registry = plimsoll::registry();
        let limits = Limits { nodes: Some(1000), ..Limits::default() };
        let context = Context { limits, ..Context::new(&registry) };
        let stand_ins = [("FaceAlign", "lenet5"), ("wake-up", "nested-if")].map(|(paper, family)| StandIn {
            paper: paper.to_owned(),
            graph: crate::generated(family, &Params::new(), 0).unwrap(),
            differs: "generated".to_owned(),
        });
        let (mut found, rows) = (Reproduction::of("luna"), Inputs::default().times);
        crate::luna::overlap(&context, &stand_ins, &rows, machine, &mut found).unwrap();
        let measured = timed::measure(&context, &stand_ins, &rows, machine).unwrap();
        for (timed, times) in &measured {
            let Ok(times) = times else { continue };
            // At a setup latency that is one picosecond lower, ping-pong does not lose.
            let against = Against::new(timed, times, (1, 1)).unwrap();
            // Without weights, ping-pong never loses.
            let Some(from) = against.from else { continue };
            for (startup, loses) in [(from, true), (from.saturating_sub(Time::new(1)), false)] {
                let machine = Machine { startup, ..times.machine.clone() };
                let time = timed.makespan(&machine, PING_PONG).unwrap().unwrap();
                assert_eq!(time > against.copied, loses, "{}", timed.graph().name());
            }
        }
        let notes = "{% for one in timed %}{{ one.name }}: {{ one.why }}, {{ one.slice }}\n{% endfor %}";
        found.filled("table-3.csv") + &found.fill(notes)
    }

    #[test]
    fn another_machine_gives_other_numbers() {
        let machine = Machine::find("luna").unwrap();
        let plain = text(&machine);
        assert!(plain.contains("lenet5-0: -, -") && !plain.contains("NaN"), "{plain}");
        let line = |text: &str| {
            text.lines().find(|line| line.starts_with("FaceAlign,lenet5-0,")).unwrap().to_owned()
        };
        let faster = text(&Machine { bandwidth: 2 * machine.bandwidth, ..machine.clone() });
        assert_ne!(line(&plain), line(&faster));
        let small = text(&Machine { capacity: Bytes::new(64), ..machine.clone() });
        assert!(small.contains("lenet5-0: ") && !small.contains("lenet5-0: -, "), "{small}");
        let tight = text(&Machine { capacity: Bytes::new(60_000), ..machine });
        assert!(tight.contains("lenet5-0: -, ") && !tight.contains("lenet5-0: -, -"), "{tight}");
    }
}
