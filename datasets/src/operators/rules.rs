//! The table of operators: which rule sizes which, and how its first output may share memory.

use super::call::{Call, Facts};
use std::collections::HashMap;
use std::sync::LazyLock;

/// How far the sizes of an operator's outputs can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// They follow from shapes, attributes and constant inputs.
    Inferred,
    /// Some extents depend on data: where the data are not constant, an upper bound is taken.
    Bounded,
    /// Nothing that a file contains says how large its outputs are.
    Opaque,
}

impl Sizing {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Bounded => "bounded",
            Self::Opaque => "opaque",
        }
    }
}

/// Which inputs the first output may be written over, or is a view of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// None.
    Apart,
    /// A view of the first input.
    View,
    /// Over one of the first inputs: so many.
    Over(usize),
}

/// A rule, and the operators of one domain that follow it.
pub(super) struct Rule {
    /// Their domain; empty for ONNX's own.
    pub domain: &'static str,
    /// Their names, with spaces between them.
    pub kinds: &'static str,
    pub infer: fn(&Call) -> Facts,
    pub sizing: Sizing,
    pub sharing: Sharing,
}

/// A rule for operators of ONNX's own domain whose outputs have memory of their own.
pub(super) const fn rule(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    Rule { domain: "", kinds, infer, sizing: Sizing::Inferred, sharing: Sharing::Apart }
}

impl Rule {
    /// The same for another domain.
    pub const fn of(self, domain: &'static str) -> Self {
        Self { domain, ..self }
    }

    /// The first output may take the place of one of the first `inputs`.
    pub const fn over(self, inputs: usize) -> Self {
        Self { sharing: Sharing::Over(inputs), ..self }
    }

    /// The first output is a view of the first input.
    pub const fn view(self) -> Self {
        Self { sharing: Sharing::View, ..self }
    }

    /// Extents may be upper bounds.
    pub const fn bounded(self) -> Self {
        Self { sizing: Sizing::Bounded, ..self }
    }

    /// Nothing is known of the outputs.
    pub const fn opaque(self) -> Self {
        Self { sizing: Sizing::Opaque, ..self }
    }
}

/// Any number of inputs.
pub(super) const ANY: usize = usize::MAX;

/// All tables.
fn tables() -> impl Iterator<Item = &'static Rule> {
    [super::RULES, super::microsoft::RULES, super::learning::RULES].into_iter().flatten()
}

static INDEX: LazyLock<HashMap<(&str, &str), &Rule>> = LazyLock::new(|| {
    tables()
        .flat_map(|rule| rule.kinds.split_whitespace().map(move |kind| ((rule.domain, kind), rule)))
        .collect()
});

/// The rule of an operator.
pub(super) fn find(domain: &str, kind: &str) -> Option<&'static Rule> {
    INDEX.get(&(domain, kind)).copied()
}

/// True where there are rules for operators of that domain; ONNX's own is empty.
pub(super) fn knows(domain: &str) -> bool {
    tables().any(|rule| rule.domain == domain)
}

/// An operator that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownOperator {
    /// Its domain; `ai.onnx` for ONNX's own.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// How its outputs are sized: `inferred`, `bounded` or `opaque`.
    pub sizing: &'static str,
}

/// Operators with bodies, which the importer itself follows.
const OWNERS: [&str; 3] = ["If", "Loop", "Scan"];

/// All operators that are known, by domain and name. A constant is no operator of a graph, but is listed.
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
