//! Processing units and the kinds of operators that they run.
//!
//! ```toml
//! [[unit]]                              # in order of preference: the first unit that lists a kind runs it
//! name = "dla"
//! kinds = ["conv", "pool", "Relu"]      # kinds, or classes in lower case
//!
//! [[unit]]
//! name = "cpu"
//! kinds = ["*"]                         # everything
//! ```

use super::kinds::KindSet;
use crate::description::{DescriptionError, Source, preset_or_file};
use crate::graph::Graph;
use crate::units::{OperatorId, RegionId, UnitId};
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::Spanned;

/// The built-in lists of units, as pairs of name and TOML text.
pub const UNIT_PRESETS: [(&str, &str); 3] = [
    ("one", include_str!("presets/one.toml")),
    ("nvdla", include_str!("presets/nvdla.toml")),
    ("dla-gpu-cpu", include_str!("presets/dla-gpu-cpu.toml")),
];

/// A processing unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The name of the unit, unique in a list of units.
    pub name: String,
    /// The kinds of operators that the unit runs.
    pub kinds: KindSet,
}

/// Processing units in order of preference. There is at least one unit, and names are unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units(Vec<Unit>);

/// The reason why a list of units is invalid, or why an operator has no unit.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum UnitsError {
    #[error("the list of processing units is empty")]
    Empty,
    #[error("two processing units have the name '{0}'")]
    Twice(String),
    #[error("no processing unit can run {operator}; the units are {}", .units.join(", "))]
    NoUnit {
        /// The label of the operator: its number, name and kind.
        operator: String,
        units: Vec<String>,
    },
    /// The graph maps the operator to a unit that does not exist.
    #[error("{operator} is mapped to unit '{unit}', which does not exist; the units are {}", .units.join(", "))]
    Foreign {
        /// The label of the operator: its number, name and kind.
        operator: String,
        unit: String,
        units: Vec<String>,
    },
    #[error(transparent)]
    Description(#[from] DescriptionError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUnits {
    #[serde(default)]
    unit: Vec<RawUnit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUnit {
    name: Spanned<String>,
    kinds: Vec<String>,
}

impl Units {
    /// Creates a list of units in order of preference.
    ///
    /// # Errors
    /// [`UnitsError::Empty`] or [`UnitsError::Twice`].
    pub fn new(units: Vec<Unit>) -> Result<Self, UnitsError> {
        if units.is_empty() {
            return Err(UnitsError::Empty);
        }
        for (at, unit) in units.iter().enumerate() {
            if units[..at].iter().any(|other| other.name == unit.name) {
                return Err(UnitsError::Twice(unit.name.clone()));
            }
        }
        Ok(Self(units))
    }

    /// Creates a list with a single unit that runs every kind.
    pub fn one(name: impl Into<String>) -> Self {
        Self(vec![Unit { name: name.into(), kinds: KindSet::All }])
    }

    /// Returns the units that the operators of a graph are mapped to, in the order of their first appearance.
    ///
    /// If some operators are not mapped, or if there are no operators, the list contains a unit named `cpu`
    /// that runs every kind.
    pub fn of_graph(graph: &Graph) -> Self {
        let mut units: Vec<Unit> = Vec::new();
        let mut rest = graph.operators().is_empty();
        for operator in graph.operators() {
            match &operator.unit {
                None => rest = true,
                Some(name) if units.iter().any(|unit| unit.name == *name) => {}
                Some(name) => {
                    units.push(Unit { name: name.clone(), kinds: KindSet::Listed(BTreeSet::new()) });
                }
            }
        }
        match units.iter_mut().find(|unit| unit.name == "cpu") {
            _ if !rest => {}
            Some(unit) => unit.kinds = KindSet::All,
            None => units.push(Unit { name: "cpu".to_owned(), kinds: KindSet::All }),
        }
        Self(units)
    }

    /// Returns the units of the preset `name` or, if there is none, of the file `name`.
    ///
    /// # Errors
    /// The first [`UnitsError`] found.
    pub fn find(name: &str) -> Result<Self, UnitsError> {
        let text = preset_or_file("processing units", name, &UNIT_PRESETS)?;
        Self::parse(name, &text)
    }

    /// Parses a list of units. `file` is the name used in messages.
    ///
    /// # Errors
    /// [`UnitsError`], with the line if it is known.
    pub fn parse(file: &str, text: &str) -> Result<Self, UnitsError> {
        let source = Source { file, text };
        let raw: RawUnits = source.toml()?;
        let mut units: Vec<Unit> = Vec::new();
        for unit in raw.unit {
            let at = unit.name.span().start;
            let name = unit.name.into_inner();
            if name.is_empty() || units.iter().any(|other| other.name == name) {
                return Err(source.line(at, "unit names must be non-empty and unique").into());
            }
            units.push(Unit { kinds: KindSet::of(unit.kinds.iter().map(String::as_str)), name });
        }
        if units.is_empty() {
            return Err(source.line(0, "the list of processing units is empty").into());
        }
        Self::new(units)
    }

    /// Returns all units, indexed by unit id.
    pub fn list(&self) -> &[Unit] {
        &self.0
    }

    /// Returns the unit with the given id.
    ///
    /// # Panics
    /// If the list has no unit with this id.
    pub fn unit(&self, id: UnitId) -> &Unit {
        &self.0[id.index()]
    }

    /// Returns the unit with the given name, if any.
    pub fn named(&self, name: &str) -> Option<UnitId> {
        self.0.iter().position(|unit| unit.name == name).map(UnitId::at)
    }

    /// Returns the first unit that runs the given kind, if any.
    pub fn of_kind(&self, kind: &str) -> Option<UnitId> {
        self.0.iter().position(|unit| unit.kinds.has(kind)).map(UnitId::at)
    }

    /// Returns the unit of an operator: the unit that the graph maps it to or, if there is none, the first
    /// unit that runs its kind.
    ///
    /// # Errors
    /// [`UnitsError::NoUnit`] or [`UnitsError::Foreign`].
    pub fn of(&self, graph: &Graph, id: OperatorId) -> Result<UnitId, UnitsError> {
        let operator = graph.operator(id);
        let units = || self.0.iter().map(|unit| unit.name.clone()).collect();
        match &operator.unit {
            Some(name) => self.named(name).ok_or_else(|| UnitsError::Foreign {
                operator: graph.label(id),
                unit: name.clone(),
                units: units(),
            }),
            None => self
                .of_kind(&operator.kind)
                .ok_or_else(|| UnitsError::NoUnit { operator: graph.label(id), units: units() }),
        }
    }

    /// Returns the unit of each operator of a region, in the order in which the region lists its operators.
    /// O(n k) for n operators and k units.
    ///
    /// # Errors
    /// The same as for [`Units::of`], for the first operator that has no unit.
    pub fn assign(&self, graph: &Graph, region: RegionId) -> Result<Vec<UnitId>, UnitsError> {
        graph.region(region).operators.iter().map(|&id| self.of(graph, id)).collect()
    }
}
