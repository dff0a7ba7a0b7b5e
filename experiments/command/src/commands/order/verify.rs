//! Checks the output of `order` and a proof of its bound, for `plimsoll verify`.

use crate::commands::choose;
use crate::commands::proof::{self, Accepted};
use crate::commands::subject::SubjectArgs;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::report::{Report, bytes, noted};
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, reason};
use plimsoll::model::orders::{Order, around_bound, check_order};
use plimsoll::model::{Bytes, LowerBound, OperatorId, RegionId, Setup};
use plimsoll::run::Limits;
use plimsoll_lab::proofs::{problem_of_checker, region_key};
use plimsoll_lab::report::{Basis, gap_percent, human};
use plimsoll_proof::{CheckError, OrderProved};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// The beginning of a file with an order.
const ORDER: &str = "region,step,operator";
/// The beginning of a proof about orders.
const PROOF: &str = "plimsoll-proof 1 orders";

/// Returns true if the answer or, without an answer, the proof is about orders.
pub fn is_order(answer: Option<&Path>, proof: Option<&Path>) -> Result<bool, Failure> {
    match (answer, proof) {
        (Some(path), _) => proof::starts_with(path, ORDER),
        (None, Some(path)) => proof::starts_with(path, PROOF),
        (None, None) => Ok(false),
    }
}

/// Checks an order, a proof, or both.
pub fn main(
    subject: &SubjectArgs,
    answer: Option<&Path>,
    proof: Option<&Path>,
    limits: Limits,
    json: bool,
) -> Result<u8, Failure> {
    let (import, liveness) = subject.import()?;
    let entry = choose::named(&plimsoll::registry().orders, "as-in-file", "order")?;
    let run = GraphRun { liveness, order: entry, setup: Setup::default(), limits: Limits::default() };
    let listed = answer.map(|path| read(path, &import)).transpose()?;
    let proof = proof.map(|path| proof::read_orders(path, limits)).transpose()?;
    let checked = check(&run, &import, listed.as_ref(), proof)?;
    let code = match checked.proof {
        _ if !checked.violations.is_empty() => REFUTED,
        Some(Err(Refusal { rejected: true, .. })) => REFUTED,
        Some(Err(_)) => NOTHING_FOUND,
        _ => ANSWERED,
    };
    report(&import, &checked).print(json)?;
    Ok(code)
}

/// The operators of each region in the order of a file.
type Listed = HashMap<String, Vec<OperatorId>>;

/// Reads the output of `order`. Operators are identified by region, name and index in the file.
fn read(path: &Path, import: &Import) -> Result<Listed, Failure> {
    let graph = &import.graph;
    let mut known: HashMap<(String, String, String), Vec<OperatorId>> = HashMap::new();
    for region in (0..graph.regions().len()).map(RegionId::at) {
        for &id in &graph.region(region).operators {
            let index = import.places.get(id.index()).map_or(id.index(), |place| place.index);
            let key = (region_key(graph, region), graph.called(id), index.to_string());
            known.entry(key).or_default().push(id);
        }
    }
    // If several operators have the same name and index, they are taken in file order.
    for ids in known.values_mut() {
        ids.reverse();
    }
    let fail = |line: u64, why: &str| Failure::input(format!("{}: line {line}: {why}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(|error| fail(1, &error.to_string()))?;
    let head = reader.headers().map_err(|error| fail(1, &error.to_string()))?.clone();
    let column = |name: &str| {
        head.iter().position(|one| one == name).ok_or_else(|| fail(1, &format!("column '{name}' is missing")))
    };
    let (region, step, operator, index) =
        (column("region")?, column("step")?, column("operator")?, column("index")?);
    let mut listed = Listed::new();
    for row in reader.records() {
        let row = row.map_err(|error| fail(0, &error.to_string()))?;
        let line = row.position().map_or(0, csv::Position::line);
        let key = [region, operator, index].map(|at| row.get(at).unwrap_or_default().to_owned());
        let [region, name, index] = key;
        let ids = known.get_mut(&(region.clone(), name.clone(), index));
        let Some(id) = ids.and_then(Vec::pop) else {
            return Err(fail(
                line,
                &format!("region '{region}' has no further operator '{name}' with this index"),
            ));
        };
        let steps = listed.entry(region).or_default();
        if row.get(step).and_then(|step| step.parse().ok()) != Some(steps.len()) {
            return Err(fail(line, &format!("expected step {}", steps.len())));
        }
        steps.push(id);
    }
    Ok(listed)
}

struct Checked {
    /// The peak of the body, if its order is valid.
    peak: Option<Bytes>,
    violations: Vec<String>,
    bound: LowerBound,
    /// The reason why the bound holds.
    reason: String,
    proof: Option<Result<Accepted<Vec<OrderProved>>, Refusal>>,
}

/// The reason why a proof was not accepted. If it is not rejected, its check ended at a limit.
struct Refusal {
    rejected: bool,
    reason: String,
}

/// Checks the order of every region, and the proof for the problems of these regions.
fn check(
    run: &GraphRun<'_>,
    import: &Import,
    listed: Option<&Listed>,
    proof: Option<Result<Accepted<Vec<OrderProved>>, CheckError>>,
) -> Result<Checked, Failure> {
    let graph = &import.graph;
    let mut proof = proof.map(|proof| {
        proof.map_err(|error| Refusal { rejected: error.reason.is_verdict(), reason: error.to_string() })
    });
    let count = graph.regions().len();
    // The bytes of every region: its peak under the listed order, and its lower bound.
    let (mut peaks, mut bounds) = (vec![Bytes::ZERO; count], vec![Bytes::ZERO; count]);
    let mut checked = Checked {
        peak: None,
        violations: Vec::new(),
        bound: LowerBound::trivial(),
        reason: String::new(),
        proof: None,
    };
    let mut used = 0;
    for region in (0..count).rev().map(RegionId::at) {
        let key = region_key(graph, region);
        if let Some(listed) = listed {
            let storages = run.storages(graph, region, &peaks).map_err(Failure::input)?;
            let place: HashMap<OperatorId, usize> =
                storages.operators.iter().enumerate().map(|(at, &id)| (id, at)).collect();
            let ids = listed.get(&key).map(Vec::as_slice).unwrap_or_default();
            let order =
                Order::new(ids.iter().filter_map(|id| place.get(id)).map(|&at| OperatorId::at(at)).collect());
            let found = check_order(&storages.problem, &order);
            checked
                .violations
                .extend(found.iter().map(|one| format!("{}: {one}", graph.region_called(region))));
            checked.peak = found.is_empty().then(|| order.peak(&storages.problem));
            peaks[region.index()] = checked.peak.unwrap_or(Bytes::ZERO);
        }
        let problem = run.storages(graph, region, &bounds).map_err(Failure::input)?.problem;
        checked.bound = around_bound(&problem);
        checked.reason = reason(&problem, &checked.bound);
        let proved = proof.as_ref().and_then(|proof| proof.as_ref().ok());
        if let Some(one) = proved.and_then(|proof| proof.proved.iter().find(|one| one.region == key)) {
            used += 1;
            if problem_of_checker(&problem).map_err(Failure::internal)? == one.problem {
                checked.bound.value = checked.bound.value.max(Bytes::new(one.bound));
                "checked proof".clone_into(&mut checked.reason);
            } else {
                let name = graph.region_called(region);
                let reason = format!("the proof is for another problem than that of region '{name}'");
                proof = Some(Err(Refusal { rejected: true, reason }));
            }
        }
        bounds[region.index()] = checked.bound.value;
    }
    let sections = proof.as_ref().and_then(|proof| Some(proof.as_ref().ok()?.proved.len()));
    if sections.is_some_and(|sections| sections != used) {
        let reason = "the proof has a section for another region, or two for one region".to_owned();
        proof = Some(Err(Refusal { rejected: true, reason }));
    }
    if let Some(peak) =
        checked.peak.filter(|&peak| peak < checked.bound.value && checked.violations.is_empty())
    {
        let bound = checked.bound.value;
        return Err(Failure::internal(format!("an order of peak {peak} refutes the proved bound {bound}")));
    }
    Ok(Checked { proof, ..checked })
}

fn report(import: &Import, checked: &Checked) -> Report {
    let graph = &import.graph;
    let valid = checked.violations.is_empty();
    let peak = checked.peak.filter(|_| valid);
    let bound = checked.bound.value;
    let gap = peak.and_then(|peak| gap_percent(peak.get(), bound.get()));
    let mut report = Report::of_graph(
        json!({
            "graph": graph.name(),
            "operators": graph.operators().len(),
            "problem": "orders",
            "valid": (checked.peak.is_some() || !valid).then_some(valid),
            "peak": peak,
            "lower_bound": bound,
            "witness": checked.reason,
            "gap_percent": gap,
            "violations": checked.violations,
        }),
        &Basis::of(import),
    );
    report.show("graph", "{graph}: {operators operator}");
    if peak.is_some() {
        report.show("peak", "{peak live bytes}");
    }
    match checked.violations.len() {
        0 if peak.is_none() => {}
        0 => report.line("order", "valid"),
        n => report.line("order", format_args!("invalid, {}", human::count(n, "violation"))),
    }
    for violation in checked.violations.iter().take(8) {
        report.line("violation", violation);
    }
    report.line("lower bound", noted(&bytes(bound), &checked.reason));
    report.gap(gap);
    match &checked.proof {
        None => {}
        Some(Ok(accepted)) => {
            report.line("proof", format_args!("accepted: {}", accepted.line()));
            report.extend(json!({ "proof": accepted.members() }));
        }
        Some(Err(Refusal { rejected, reason })) => {
            let verdict = if *rejected { "rejected" } else { "not checked" };
            report.line("proof", format_args!("{verdict}: {reason}"));
            report.extend(json!({ "proof": { "reason": reason, "rejected": rejected } }));
        }
    }
    report
}
