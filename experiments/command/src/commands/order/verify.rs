//! Checks the output of `order` and a proof of its bound, for `plimsoll verify`.

use crate::commands::choose;
use crate::commands::proof::{self, Accepted, Refusal, Verdict};
use crate::commands::subject::SubjectArgs;
use crate::failure::{ANSWERED, Failure, NOTHING_FOUND, REFUTED};
use crate::report::{self, Printed, Text, bytes, noted, sized};
use plimsoll::datasets::Import;
use plimsoll::graphs::{GraphRun, reason};
use plimsoll::model::orders::{Order, around_bound, check_order};
use plimsoll::model::{Bytes, LowerBound, OperatorId, Orders, Problem as _, RegionId, Setup};
use plimsoll::run::Limits;
use plimsoll_lab::proofs::{problem_of_checker, region_key};
use plimsoll_lab::report::{Basis, gap_percent, human};
use plimsoll_proof::{CheckError, OrderProved};
use serde::Serialize;
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
    let valid = checked.violations.is_empty();
    let (peak, bound) = (checked.peak.filter(|_| valid), checked.bound.value);
    let report = VerifyReport {
        graph: import.graph.name(),
        operators: import.graph.operators().len(),
        problem: Orders::NAME,
        valid: (checked.peak.is_some() || !valid).then_some(valid),
        peak,
        lower_bound: bound,
        witness: checked.reason,
        gap_percent: peak.and_then(|peak| gap_percent(peak.get(), bound.get())),
        violations: checked.violations,
        basis: Basis::of(&import),
        proof: checked.proof.map(|proof| match proof {
            Ok(accepted) => Verdict::Accepted(accepted.report()),
            Err(refusal) => Verdict::Refused(refusal),
        }),
    };
    report::print(&report, json)?;
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

/// Checks the order of every region, and the proof for the problems of these regions.
fn check(
    run: &GraphRun<'_>,
    import: &Import,
    listed: Option<&Listed>,
    proof: Option<Result<Accepted<Vec<OrderProved>>, CheckError>>,
) -> Result<Checked, Failure> {
    let graph = &import.graph;
    let mut proof =
        proof.map(|proof| proof.map_err(|error| refused(error.to_string(), error.reason.is_verdict())));
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
                proof = Some(Err(refused(reason, true)));
            }
        }
        bounds[region.index()] = checked.bound.value;
    }
    let sections = proof.as_ref().and_then(|proof| Some(proof.as_ref().ok()?.proved.len()));
    if sections.is_some_and(|sections| sections != used) {
        let reason = "the proof has a section for another region, or two for one region".to_owned();
        proof = Some(Err(refused(reason, true)));
    }
    if let Some(peak) =
        checked.peak.filter(|&peak| peak < checked.bound.value && checked.violations.is_empty())
    {
        let bound = checked.bound.value;
        return Err(Failure::internal(format!("an order of peak {peak} refutes the proved bound {bound}")));
    }
    Ok(Checked { proof, ..checked })
}

fn refused(reason: String, rejected: bool) -> Refusal {
    Refusal { line: None, reason, rejected }
}

/// The report on an order and a proof.
#[derive(Serialize)]
struct VerifyReport<'a> {
    graph: &'a str,
    operators: usize,
    problem: &'static str,
    /// `None` without an order.
    valid: Option<bool>,
    peak: Option<Bytes>,
    lower_bound: Bytes,
    witness: String,
    gap_percent: Option<f64>,
    violations: Vec<String>,
    #[serde(flatten)]
    basis: Basis,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Verdict>,
}

impl Printed for VerifyReport<'_> {
    fn print(&self, text: &mut Text) {
        text.push(&self.basis.text());
        text.line("graph", format_args!("{}: {}", self.graph, human::count(self.operators, "operator")));
        if let Some(peak) = self.peak {
            text.line("peak", sized(peak, " live bytes"));
        }
        match self.violations.len() {
            0 if self.peak.is_none() => {}
            0 => text.line("order", "valid"),
            n => text.line("order", format_args!("invalid, {}", human::count(n, "violation"))),
        }
        for violation in self.violations.iter().take(8) {
            text.line("violation", violation);
        }
        text.line("lower bound", noted(&bytes(self.lower_bound), &self.witness));
        text.gap(self.gap_percent);
        if let Some(proof) = &self.proof {
            proof.print(text);
        }
    }
}
