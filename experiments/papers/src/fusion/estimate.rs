//! Estimates for the platform that the paper describes. They are made with the tier model and compared with
//! the printed times.

use super::Measured;
use crate::{Context, Params, ReproduceError, Reproduction, generated, named};
use minijinja::{Value, context};
use plimsoll::graphs::GraphRun;
use plimsoll::tiers::{Fusing, TierSetting, tier_case};
use plimsoll_lab::report::bars::Panel;
use plimsoll_model::fusion::{Patterns, UnitRule};
use plimsoll_model::graph::{Boundary, LivenessOptions};
use plimsoll_model::tiers::{Addresses, TierMachine, Tiers, on_and_off_chip};
use plimsoll_model::timelines::Time;

/// The columns of table 1: the rule for units, and the placement algorithm.
const MEASURES: [(&str, UnitRule, &str); 4] = [
    ("baseline", UnitRule::Same, "off-chip"),
    ("algorithm", UnitRule::Any, "off-chip"),
    ("hardware", UnitRule::Same, "fused"),
    ("both", UnitRule::Any, "fused"),
];

/// The estimate for one network and one column of table 1.
struct Estimate {
    seconds: f64,
    groups: usize,
    /// Off-chip traffic as a percentage of the total traffic.
    share: f64,
}

/// Adds the estimates of all networks.
pub(super) fn platform(
    context: &Context<'_>,
    seconds: &[Measured],
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let (mut networks, mut panels) = (Vec::new(), Vec::new());
    for printed in seconds {
        let of = |rule, placement| estimate(context, &printed.family, rule, placement);
        let estimates: Vec<Estimate> =
            MEASURES.iter().map(|&(_, rule, placement)| of(rule, placement)).collect::<Result<_, _>>()?;
        let base = estimates[0].seconds;
        let line = |measure: &str, one: &Estimate, seconds: Option<f64>, total: Option<f64>| {
            let theirs = seconds.map(|seconds| printed.inference[0] / seconds);
            context! {
                measure, groups => one.groups, printed => seconds, total, theirs,
                seconds => one.seconds, ours => base / one.seconds, share => one.share,
            }
        };
        let (mut measures, mut groups) = (Vec::new(), Vec::new());
        for (at, (one, (measure, ..))) in estimates.iter().zip(MEASURES).enumerate() {
            let (seconds, total) = (printed.inference[at], printed.total[at]);
            measures.push(line(measure, one, Some(seconds), Some(total)));
            let bars = [seconds, one.seconds].map(|seconds| Some((seconds * 1e3).round() as u64));
            groups.push((measure.to_owned(), bars.to_vec()));
        }
        panels.push(Panel { name: printed.network.clone(), groups, mark: None });
        let best: Value = line("both, least transfers", &of(UnitRule::Any, "exact")?, None, None);
        networks.push(context! {
            network => &printed.network, measures, best,
            fewer => estimates[0].groups.saturating_sub(estimates[1].groups),
            saved => printed.inference[0] - printed.inference[1],
        });
    }
    found.fact("platform", networks);
    found.bars("platform", &().into(), panels)
}

fn estimate(
    context: &Context<'_>,
    family: &str,
    rule: UnitRule,
    placement: &str,
) -> Result<Estimate, ReproduceError> {
    let graph = generated(family, &Params::from([("int8".to_owned(), 1)]), 0)?;
    let machine = TierMachine::find("s3-platform").map_err(ReproduceError::defect)?;
    let patterns = Patterns::find("s3-joined").map_err(ReproduceError::defect)?;
    let order = named(&context.registry.orders, "as-in-file")?;
    let liveness = LivenessOptions { boundary: Boundary::Arena, ..LivenessOptions::default() };
    let setting = TierSetting {
        machine: &machine,
        run: GraphRun { liveness, order, setup: context.setup, limits: context.limits },
        fusing: Some(Fusing { patterns: &patterns, rule }),
        addresses: Addresses::Placed,
        boundary_off_chip: false,
    };
    let case = tier_case(&graph, &setting).map_err(ReproduceError::on(graph.name()))?;
    let (_, plan) = context.solve::<Tiers>(placement, graph.name(), &case)?;
    let none = || ReproduceError::Limit(format!("{}: no plan within the limits", graph.name()));
    let plan = plan.ok_or_else(none)?;
    let (on, off) = on_and_off_chip(&case.problem, &plan.traffic(&case.problem));
    let times = [plan.time(&case.problem), case.times.compute, case.times.overhead, case.times.weights.time];
    Ok(Estimate {
        seconds: Time::new(times.iter().map(|time| time.get()).sum()).seconds(),
        groups: case.groups,
        share: off as f64 / (on + off).max(1) as f64 * 100.0,
    })
}
