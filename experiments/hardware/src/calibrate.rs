//! Calibrates this machine with a synthetic chain of operators.
//!
//! The chain contains matrix products of many sizes for each kind of kernel, passes over tensors, and
//! operators without work, in random order. Under the schedule `synchronous`, every transfer and every
//! computation runs alone. The setup latency, the bandwidth, the overhead and the compute rates are fitted to
//! the median times under this schedule. Under the schedule `eager`, transfers and computations run
//! concurrently. The resulting slowdown is reported, but it is not part of the machine, whose rates exclude
//! contention.
//!
//! [`take_samples`] measures times and returns them as samples. The result of [`conclude`] depends only on
//! these samples and the settings. On a busy machine, the samples may be too noisy to determine the rates.
//! The outcome is then [`Inconclusive`].

use super::chains::Steps;
use super::cold::{Cold, Link};
use super::execute::{ExecuteError, Execution, Executor, Stretch};
use super::fit::{least_squares, median};
use super::kernel::{LINE, LINE_BYTES, Work};
use super::work::KINDS;
use plimsoll_heuristics::timelines::Turns;
use plimsoll_model::timelines::{Dma, Machine, Rates, Time, TimedOperator, TimelineError, TimelineProblem};
use plimsoll_model::{Budget, Bytes, Solver};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Settings of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The link through which weights are fetched.
    pub link: Link,
    /// Number of counted runs per schedule, after one warm-up run.
    pub repeat: u32,
    /// The seed for the order of the operators.
    pub seed: u64,
    /// The maximum size of the weights in one transfer.
    pub slice: Bytes,
    /// The on-chip capacity of the resulting machine.
    pub capacity: Bytes,
}

/// An error while taking samples.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// The chain does not form a valid problem.
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    /// The chain cannot be run.
    #[error("calibration: {0}")]
    Execute(#[from] ExecuteError),
    /// The results depend on the schedule.
    #[error("calibration: results differ from those of a run without transfers")]
    Digest,
}

/// The outcome if the samples do not determine all rates, usually because other programs kept this machine
/// busy.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error(
    "calibration is inconclusive: the times of {what} do not determine a rate; {spread}stop other programs and run it again, or \
     raise --repeat (now {repeat})",
    spread = .spread_percent.map_or_else(String::new, |spread| format!(
        "runs of the same operator differ by {spread:.0} % of their median (median over operators); "
    ))
)]
pub struct Inconclusive {
    /// The operators whose times do not determine a rate: `transfers`, `computations`, or a kind of
    /// computation.
    pub what: &'static str,
    /// The spread of a typical operator that runs alone. The spread of an operator is the difference between
    /// its longest and its shortest run, in percent of its median run. This field is the median spread over
    /// all operators, or `None` with a single run.
    pub spread_percent: Option<f64>,
    /// Number of counted runs per schedule.
    pub repeat: u32,
    /// Number of measured times.
    pub samples: usize,
}

/// One measured time of an operator of the chain, either for its computation or for its transfer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// `synchronous` or `eager`.
    pub schedule: &'static str,
    /// The number of the run, counted from 1.
    pub run: u32,
    /// `transfer`, or the kind of the computation.
    pub what: &'static str,
    /// The position of the operator in the chain.
    pub operator: usize,
    /// The amount of work: the bytes fetched by a transfer, the bytes read and written by a pass, or the
    /// multiply-accumulates of a product.
    pub amount: u64,
    /// The duration, in seconds.
    pub seconds: f64,
    /// For a transfer, the seconds from its request to the moment when its end is noticed. For a computation,
    /// equal to `seconds`.
    pub known_seconds: f64,
    /// True if other operations ran concurrently almost all the time (at least 95 %), false if none did at
    /// any time, and otherwise `None`.
    pub beside: Option<bool>,
}

/// The fitted parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Setup latency of a transfer, in seconds.
    #[serde(rename = "startup_seconds")]
    pub startup: f64,
    /// Bandwidth of transfers, in bytes per second.
    pub bandwidth: f64,
    /// Overhead of an operator, in seconds.
    #[serde(rename = "overhead_seconds")]
    pub overhead: f64,
    /// Rate of each kind in `KINDS` except the last, in multiply-accumulates or bytes per second. In JSON
    /// this is a list of pairs.
    #[serde(serialize_with = "pairs")]
    pub rates: BTreeMap<&'static str, f64>,
}

fn pairs<S: Serializer>(rates: &BTreeMap<&'static str, f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(rates)
}

fn about_alone<S: Serializer>(machine: &Machine, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&machine.about)
}

fn count<S: Serializer>(samples: &[Sample], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(samples.len() as u64)
}

/// The result of a calibration. In JSON, the machine is replaced by its description, and the samples by their
/// number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The resulting machine, which [`Machine::toml`] converts to TOML.
    #[serde(rename = "about", serialize_with = "about_alone")]
    pub machine: Machine,
    /// The parameters fitted to operators that ran alone.
    #[serde(flatten)]
    pub alone: Fit,
    /// Slowdown factor of computations that run concurrently with transfers (median over computations).
    pub compute_slowdown: Option<f64>,
    /// Slowdown factor of transfers that run concurrently with computations (median over transfers).
    pub transfer_slowdown: Option<f64>,
    /// Warnings about implausible results.
    pub warnings: Vec<String>,
    /// All samples.
    #[serde(serialize_with = "count")]
    pub samples: Vec<Sample>,
}

/// An operator of the chain.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: &'static str,
    amount: u64,
    weights: u64,
    work: Work,
}

/// Returns the chain in random order. It contains two products for each number of rows and each size of
/// weights, two passes of each size, and eight operators without work.
fn chain(slice: Bytes, seed: u64) -> Vec<Step> {
    let mut all = Vec::new();
    for _ in 0..2 {
        for rows in [1u64, 2, 4, 8, 16, 64, 256] {
            for part in [256, 64, 16, 4, 1] {
                let weights = (slice.get() / part).max(LINE_BYTES as u64);
                let numbers = weights.div_ceil(LINE_BYTES as u64) * LINE as u64;
                let kind = KINDS[rows.min(4) as usize / 2];
                let work = Work { rows, ..Work::default() };
                all.push(Step { kind, amount: rows * numbers, weights, work });
            }
        }
        for stream in [1u64 << 12, 1 << 15, 1 << 18, 1 << 20, 1 << 22] {
            let work = Work { stream, ..Work::default() };
            all.push(Step { kind: KINDS[3], amount: stream, weights: 0, work });
        }
        for _ in 0..4 {
            all.push(Step { kind: KINDS[4], amount: 0, weights: 0, work: Work::default() });
        }
    }
    let mut random = Steps(seed);
    for at in (1..all.len()).rev() {
        all.swap(at, random.draw() as usize % (at + 1));
    }
    all
}

/// Runs the chain on this machine and returns all times. `before` is called before every run with the index
/// of the run and the total number of runs, both including warm-up runs.
///
/// # Errors
/// See [`CalibrateError`].
///
/// # Panics
/// Never, because the on-chip memory of the calibration has space for two slices.
pub fn take_samples(
    settings: Settings,
    cold: &Cold,
    before: &mut dyn FnMut(u32, u32),
) -> Result<Vec<Sample>, CalibrateError> {
    let chain = chain(settings.slice, settings.seed);
    let operators = chain.iter().enumerate().map(|(at, one)| TimedOperator {
        name: format!("{}-{at}", one.kind),
        compute: Time::new(1),
        weights: Bytes::new(one.weights),
        activations: Bytes::new(1),
    });
    let dma = Dma { channels: 1, startup: Time::ZERO, bandwidth: 1_000_000_000 };
    let capacity = Bytes::new(settings.slice.get().saturating_mul(2).saturating_add(1024));
    let problem = TimelineProblem::new("calibration", operators.collect(), dma, capacity, Bytes::new(64))?;
    let works: Vec<Work> = chain.iter().map(|one| one.work).collect();
    let executor = Executor { problem: &problem, works: &works, cold, link: settings.link };
    let lists = [Turns::SYNCHRONOUS, Turns::EAGER].map(|turns| {
        let timeline = turns.solution(&problem, &mut Budget::unlimited());
        (turns.name(), timeline.ok().flatten().expect("two slices fit").instructions())
    });
    let mut samples = Vec::new();
    let found = executor.rounds(
        &lists.each_ref().map(|(_, list)| list.as_slice()),
        settings.repeat,
        |run, at| before(run * 2 + at as u32, settings.repeat * 2 + 2),
        |run, at, execution| take(lists[at].0, run, &chain, &execution, &mut samples),
    );
    found.map_err(|(_, error)| error.map_or(CalibrateError::Digest, CalibrateError::Execute))?;
    Ok(samples)
}

/// Adds the samples of a run.
fn take(schedule: &'static str, run: u32, chain: &[Step], execution: &Execution, samples: &mut Vec<Sample>) {
    let transfers: Vec<Stretch> = execution.transfers.iter().map(|one| one.span).collect();
    let synchronous = schedule == "synchronous";
    for (at, (one, span)) in chain.iter().zip(&execution.computations).enumerate() {
        let beside = beside(*span, &transfers, synchronous);
        samples.push(Sample {
            schedule,
            run,
            what: one.kind,
            operator: at,
            amount: one.amount,
            seconds: span.seconds(),
            known_seconds: span.seconds(),
            beside,
        });
    }
    for one in &execution.transfers {
        let (seconds, known_seconds) = (one.span.seconds(), one.known.seconds());
        let beside = beside(one.span, &execution.computations, synchronous);
        let (operator, what) = (one.operator.index(), "transfer");
        let amount = chain[operator].weights;
        samples.push(Sample { schedule, run, what, operator, amount, seconds, known_seconds, beside });
    }
}

/// Returns true if `others`, which must be disjoint, cover at least 95 % of the time interval `own`, and
/// false if they cover none of it. Otherwise returns `None`. Under the schedule `synchronous`, nothing runs
/// concurrently, so the result is always false.
fn beside(own: Stretch, others: &[Stretch], synchronous: bool) -> Option<bool> {
    if synchronous {
        return Some(false);
    }
    let common = |other: &Stretch| {
        let (start, end) = (own.start.max(other.start), own.end.min(other.end));
        end.saturating_sub(start).as_secs_f64()
    };
    let covered: f64 = others.iter().map(common).sum();
    if covered >= 0.95 * own.seconds() {
        Some(true)
    } else if covered <= 0.0 {
        Some(false)
    } else {
        None
    }
}

/// The computation or the transfer of one operator, summarised by medians over all runs.
struct Usual {
    what: &'static str,
    amount: u64,
    /// The duration, in seconds.
    seconds: f64,
    /// For a transfer, the time from its request until its end is observed, in seconds: a schedule without
    /// overlap waits this long. Otherwise it equals `seconds`.
    known: f64,
    /// The difference between the longest and the shortest run, as a fraction of the median run.
    spread: f64,
}

/// Returns, for every operator that ran alone, the medians of its times over all runs. The key is a pair:
/// whether the times are those of a transfer, and the position of the operator.
fn medians(samples: &[Sample]) -> impl Iterator<Item = ((bool, usize), Usual)> {
    let mut groups: BTreeMap<(bool, usize), Vec<&Sample>> = BTreeMap::new();
    for one in samples.iter().filter(|one| one.schedule == "synchronous") {
        groups.entry((one.what == "transfer", one.operator)).or_default().push(one);
    }
    groups.into_iter().filter_map(|(key, group)| {
        let seconds = median(group.iter().map(|one| one.seconds))?.max(1e-9);
        let all = || group.iter().map(|one| one.known_seconds);
        let known = median(all())?.max(1e-9);
        let spread = (all().fold(0.0, f64::max) - all().fold(f64::INFINITY, f64::min)) / known;
        Some((key, Usual { what: group[0].what, amount: group[0].amount, seconds, known, spread }))
    })
}

/// Fits the setup latency, the bandwidth, the overhead and the rates to samples of operators that ran alone.
///
/// # Errors
/// The operators whose times are missing or do not determine the parameters, as in [`Inconclusive::what`].
pub fn fit(samples: &[Sample]) -> Result<Fit, &'static str> {
    let (transfers, computations): (Vec<Usual>, Vec<Usual>) =
        medians(samples).map(|(_, one)| one).partition(|one| one.what == "transfer");
    let rows: Vec<Vec<f64>> = transfers.iter().map(|one| vec![1.0, one.amount as f64]).collect();
    let seconds: Vec<f64> = transfers.iter().map(|one| one.known).collect();
    let found = least_squares(&rows, &seconds).filter(|found| found[1] > 0.0);
    let found = found.ok_or("transfers")?;
    let (startup, bandwidth) = (found[0], 1.0 / found[1]);
    let rated = &KINDS[..KINDS.len() - 1];
    let row = |kind: &str, amount: u64| {
        let share = |one: &&str| if *one == kind { amount as f64 } else { 0.0 };
        [1.0].into_iter().chain(rated.iter().map(share)).collect::<Vec<f64>>()
    };
    let rows: Vec<Vec<f64>> = computations.iter().map(|one| row(one.what, one.amount)).collect();
    let seconds: Vec<f64> = computations.iter().map(|one| one.known).collect();
    let found = least_squares(&rows, &seconds).ok_or("computations")?;
    let mut rates = BTreeMap::new();
    for (kind, seconds) in rated.iter().zip(&found[1..]) {
        if *seconds <= 0.0 {
            return Err(*kind);
        }
        rates.insert(*kind, 1.0 / seconds);
    }
    Ok(Fit { startup, bandwidth, overhead: found[0], rates })
}

impl Fit {
    /// Returns the predicted time of a sample, in seconds.
    pub fn predict(&self, what: &str, amount: u64) -> f64 {
        match what {
            "transfer" => self.startup + amount as f64 / self.bandwidth,
            kind => self.overhead + self.rates.get(kind).map_or(0.0, |rate| amount as f64 / rate),
        }
    }

    /// Returns the machine with these parameters.
    fn machine(&self, settings: Settings) -> Machine {
        let rate = |kind: &str| self.rates[kind].round().max(1.0) as u64;
        let time = |seconds| Time::from_seconds(seconds).unwrap_or_default();
        let products =
            KINDS[..3].iter().map(|&kind| (kind.to_owned(), Rates { macs: Some(rate(kind)), bytes: None }));
        Machine {
            name: "this-machine".to_owned(),
            about: about(settings.link),
            capacity: settings.capacity,
            alignment: Bytes::new(64),
            slice: Some(settings.slice),
            resident_weights: false,
            channels: 1,
            startup: time(self.startup),
            bandwidth: self.bandwidth.round().max(1.0) as u64,
            copy: None,
            macs_per_second: rate(KINDS[2]),
            bytes_per_second: rate(KINDS[3]),
            overhead: time(self.overhead),
            kinds: products.collect(),
            times: BTreeMap::new(),
        }
    }
}

/// Describes how weights are fetched. The wording must not change, because calibrated machines store it, and
/// a measurement compares it with the description of its own link.
pub fn about(link: Link) -> String {
    let startup = format!("setup latency {:.1} µs", link.startup.as_secs_f64() * 1e6);
    let pace = link
        .bandwidth
        .map_or("as fast as memory allows".to_owned(), |rate| format!("at most {:.1} MB/s", rate / 1e6));
    format!("measured: weights copied by a second thread, {pace}, {startup}")
}

/// Derives the machine from samples.
///
/// # Errors
/// [`Inconclusive`] if the samples do not determine the rates of the machine.
pub fn conclude(settings: Settings, samples: Vec<Sample>) -> Result<Calibration, Inconclusive> {
    let alone = fit(&samples).map_err(|what| Inconclusive {
        what,
        spread_percent: spread(&samples).filter(|_| settings.repeat > 1).map(|share| share * 100.0),
        repeat: settings.repeat,
        samples: samples.len(),
    })?;
    let usual: BTreeMap<(bool, usize), f64> =
        medians(&samples).map(|(key, one)| (key, one.seconds)).collect();
    let slowdown = |transfer: bool| {
        let beside = samples.iter().filter(|one| {
            // Short times are dominated by the resolution of the clock.
            one.beside == Some(true) && (one.what == "transfer") == transfer && one.seconds > 5e-6
        });
        median(beside.filter_map(|one| Some(one.seconds / usual.get(&(transfer, one.operator))?)))
    };
    let (compute_slowdown, transfer_slowdown) = (slowdown(false), slowdown(true));
    let machine = alone.machine(settings);
    let warnings = warnings(settings, &alone, &samples);
    Ok(Calibration { machine, alone, compute_slowdown, transfer_slowdown, warnings, samples })
}

/// A hand-over between threads takes microseconds. A setup latency is suspicious if it exceeds twice that of
/// the link by more than this number of seconds.
const ODD_STARTUP: f64 = 1e-4;
/// On an idle machine, the runs of a typical operator vary by a few percent. A spread above this fraction is
/// suspicious.
const ODD_SPREAD: f64 = 0.5;

/// Returns the median of the spreads of all operators, each running alone. The spread of an operator is the
/// difference between its longest and its shortest run, as a fraction of its median run.
fn spread(samples: &[Sample]) -> Option<f64> {
    median(medians(samples).map(|(_, one)| one.spread))
}

/// Returns warnings about results that suggest a busy machine.
fn warnings(settings: Settings, alone: &Fit, samples: &[Sample]) -> Vec<String> {
    let mut warnings = Vec::new();
    let asked = settings.link.startup.as_secs_f64();
    if alone.startup > 2.0 * asked + ODD_STARTUP {
        warnings.push(format!(
            "transfers have a setup latency of {:.1} µs, but {:.1} µs were requested; is the machine busy?",
            alone.startup * 1e6,
            asked * 1e6
        ));
    }
    if let Some(spread) = spread(samples).filter(|one| *one > ODD_SPREAD) {
        warnings.push(format!(
            "the run times of half of the operators vary by at least {:.0} % of their median; is the machine busy?",
            spread * 100.0
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn sample(
        schedule: &'static str,
        run: u32,
        what: &'static str,
        operator: usize,
        amount: u64,
        [seconds, known_seconds]: [f64; 2],
    ) -> Sample {
        let beside = Some(schedule == "eager");
        Sample { schedule, run, what, operator, amount, seconds, known_seconds, beside }
    }

    fn settings(slice: Bytes) -> Settings {
        let link = Link { startup: Duration::from_micros(5), bandwidth: Some(2e9) };
        Settings { link, repeat: 2, seed: 1, slice, capacity: Bytes::new(1 << 20) }
    }

    /// A slow hand-over does not count as a slowdown of transfers by computations.
    #[test]
    fn slowdowns_compare_the_same_stretches() {
        let slice = Bytes::new(1 << 20);
        let mut samples = Vec::new();
        for run in 1..=2u32 {
            for (at, one) in chain(slice, 7).iter().enumerate() {
                let computed = 3e-7 + one.amount as f64 / 1e9;
                samples.push(sample("synchronous", run, one.kind, at, one.amount, [computed; 2]));
                samples.push(sample("eager", run, one.kind, at, one.amount, [1.5 * computed; 2]));
                if one.weights > 0 {
                    let fetched = 1e-5 + one.weights as f64 / 1e9;
                    let known = [fetched, fetched + 3e-3];
                    samples.push(sample("synchronous", run, "transfer", at, one.weights, known));
                    samples.push(sample("eager", run, "transfer", at, one.weights, [2.0 * fetched; 2]));
                }
            }
        }
        let found = conclude(settings(slice), samples).unwrap();
        let near =
            |found: Option<f64>, truth: f64| assert!((found.unwrap() - truth).abs() < 1e-9, "{found:?}");
        near(found.compute_slowdown, 1.5);
        near(found.transfer_slowdown, 2.0);
        assert!((found.alone.startup - 3.01e-3).abs() < 1e-5, "{:?}", found.alone);
        let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
        assert!(warning.contains("but 5.0 µs were requested"), "{warning}");
    }

    #[test]
    fn the_fit_recovers_the_parameters() {
        let truth = Fit {
            startup: 20e-6,
            bandwidth: 1e9,
            overhead: 3e-7,
            rates: BTreeMap::from([("rows-1", 4e9), ("rows-2", 8e9), ("rows-4", 2e10), ("stream", 3e10)]),
        };
        let mut samples = Vec::new();
        for run in 1..=5u32 {
            // One run in five is disturbed. The others deviate by one percent.
            let factor = if run == 3 { 4.0 } else { 0.99 + f64::from(run % 3) * 0.01 };
            for (at, one) in chain(Bytes::new(1 << 20), 7).iter().enumerate() {
                let mut push = |what, amount| {
                    let seconds = truth.predict(what, amount) * factor;
                    samples.push(sample("synchronous", run, what, at, amount, [seconds, seconds]));
                };
                push(one.kind, one.amount);
                if one.weights > 0 {
                    push("transfer", one.weights);
                }
            }
        }
        let found = fit(&samples).unwrap();
        let near = |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 0.03, "{found} {truth}");
        near(found.startup, truth.startup);
        near(found.bandwidth, truth.bandwidth);
        near(found.overhead, truth.overhead);
        for (kind, rate) in &truth.rates {
            near(found.rates[kind], *rate);
        }
        samples.retain(|one| one.what != "rows-2");
        assert_eq!(fit(&samples), Err("computations"));
        samples.retain(|one| one.what != "transfer");
        assert_eq!(fit(&samples), Err("transfers"));
    }

    /// This test does not check the measured times themselves.
    #[test]
    fn every_operator_is_sampled_in_every_run() {
        let cold = Cold::new(1 << 20);
        let slice = Bytes::new(16 * 1024);
        let mut asked = 0;
        let samples = take_samples(settings(slice), &cold, &mut |_, of| {
            assert_eq!(of, 6);
            asked += 1;
        });
        let samples = samples.unwrap();
        assert_eq!(asked, 6);
        let chain = chain(slice, 1);
        let weighted = chain.iter().filter(|one| one.weights > 0).count();
        assert_eq!((chain.len(), samples.len()), (88, 4 * (88 + weighted)));
        assert!(samples.iter().all(|one| one.seconds >= 0.0 && one.known_seconds >= one.seconds));
    }

    /// Returns the times of a synthetic machine. `factor` returns the number by which all durations of a run
    /// are multiplied.
    fn synthetic(factor: impl Fn(u32) -> f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for run in 1..=2u32 {
            for (at, one) in chain(Bytes::new(16 * 1024), 1).iter().enumerate() {
                let computed = (1e-6 + one.amount as f64 / 1e9) * factor(run);
                samples.push(sample("synchronous", run, one.kind, at, one.amount, [computed; 2]));
                if one.weights > 0 {
                    let fetched = (5e-6 + one.weights as f64 / 2e9) * factor(run);
                    samples.push(sample("synchronous", run, "transfer", at, one.weights, [fetched; 2]));
                }
            }
        }
        samples
    }

    #[test]
    fn a_machine_is_calibrated_and_can_be_read_again() {
        let (slice, capacity) = (Bytes::new(16 * 1024), Bytes::new(1 << 20));
        let calibration = conclude(settings(slice), synthetic(|_| 1.0)).unwrap();
        let machine = &calibration.machine;
        assert_eq!((machine.slice, machine.capacity, machine.channels), (Some(slice), capacity, 1));
        assert_eq!((machine.bandwidth, machine.startup), (2_000_000_000, Time::new(5_000_000)));
        assert_eq!(&Machine::parse("m.toml", &machine.toml()).unwrap(), machine);
        assert!(machine.about.contains("at most 2000.0 MB/s, setup latency 5.0 µs"));
        assert_eq!(calibration.warnings, Vec::<String>::new());
    }

    /// On a busy machine, larger transfers may appear to be faster. Then no rate can be fitted.
    #[test]
    fn a_busy_machine_is_inconclusive() {
        let mut samples = synthetic(f64::from);
        for one in samples.iter_mut().filter(|one| one.what == "transfer") {
            one.known_seconds = f64::from(one.run) / one.amount as f64;
        }
        let found = conclude(settings(Bytes::new(16 * 1024)), samples.clone()).unwrap_err();
        assert_eq!((found.what, found.repeat, found.samples), ("transfers", 2, samples.len()));
        assert!((found.spread_percent.unwrap() - 200.0 / 3.0).abs() < 1e-6, "{found:?}");
        let text = found.to_string();
        assert!(text.starts_with(
            "calibration is inconclusive: the times of transfers do not determine a rate; runs of"
        ));
        assert!(text.ends_with("stop other programs and run it again, or raise --repeat (now 2)"), "{text}");
        let once = conclude(Settings { repeat: 1, ..settings(Bytes::new(16 * 1024)) }, samples).unwrap_err();
        assert_eq!(once.spread_percent, None);
        assert!(!once.to_string().contains("differ"), "{once}");
    }

    #[test]
    fn concurrency_is_derived_from_coverage() {
        let stretch =
            |start, end| Stretch { start: Duration::from_micros(start), end: Duration::from_micros(end) };
        let others = [stretch(0, 50), stretch(50, 100)];
        assert_eq!(beside(stretch(10, 90), &others, false), Some(true));
        assert_eq!(beside(stretch(10, 190), &others, false), None);
        assert_eq!(beside(stretch(100, 190), &others, false), Some(false));
        assert_eq!(beside(stretch(10, 90), &others, true), Some(false));
    }
}
