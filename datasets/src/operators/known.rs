//! The list of all operators with a rule.

use super::rules::{Rule, Sizing};
use super::{learning, microsoft, onnx};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::LazyLock;

fn tables() -> impl Iterator<Item = &'static Rule> {
    [onnx::RULES, microsoft::RULES, learning::RULES].into_iter().flatten()
}

static INDEX: LazyLock<HashMap<(&str, &str), &Rule>> = LazyLock::new(|| {
    tables()
        .flat_map(|rule| rule.kinds.split_whitespace().map(move |kind| ((rule.domain, kind), rule)))
        .collect()
});

pub(super) fn find(domain: &str, kind: &str) -> Option<&'static Rule> {
    INDEX.get(&(domain, kind)).copied()
}

/// Returns true if there are rules for operators of that domain. The standard ONNX domain is the empty
/// string.
pub(super) fn knows(domain: &str) -> bool {
    tables().any(|rule| rule.domain == domain)
}

/// An operator with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KnownOperator {
    /// The domain; `ai.onnx` for the standard ONNX domain.
    pub domain: &'static str,
    /// The type of the operator, as spelled in files.
    pub name: &'static str,
    /// The precision of the sizes of the operator's outputs: `inferred`, `bounded` or `opaque`.
    pub sizing: &'static str,
}

/// Operators with bodies. The importer itself handles them.
const OWNERS: [&str; 3] = ["If", "Loop", "Scan"];

/// Returns all operators with a rule, sorted by domain and name. `Constant` is listed although no graph
/// contains it as an operator.
pub fn known_operators() -> Vec<KnownOperator> {
    let domain = |domain| if str::is_empty(domain) { "ai.onnx" } else { domain };
    let ruled = INDEX.iter().map(|(&(of, name), rule)| (domain(of), name, rule.sizing));
    let owners = OWNERS.into_iter().map(|name| ("ai.onnx", name, Sizing::Bounded));
    let all = ruled.chain(owners).chain([("ai.onnx", "Constant", Sizing::Inferred)]);
    let mut all: Vec<KnownOperator> =
        all.map(|(domain, name, sizing)| KnownOperator { domain, name, sizing: sizing.name() }).collect();
    all.sort_unstable();
    all
}
