//! Processing units and who runs what.
//!
//! ```toml
//! [[unit]]                              # in order of preference: an operator runs on the first that runs its kind
//! name = "dla"
//! kinds = ["conv", "pool", "Relu"]      # kinds, or classes in small letters
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

/// Units that are always there, by name.
pub const UNIT_PRESETS: [(&str, &str); 3] = [
    ("one", include_str!("presets/one.toml")),
    ("nvdla", include_str!("presets/nvdla.toml")),
    ("dla-gpu-cpu", include_str!("presets/dla-gpu-cpu.toml")),
];

/// A processing unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Unique among the units.
    pub name: String,
    /// The kinds of operators it runs.
    pub kinds: KindSet,
}

/// Processing units in order of preference. At least one, names unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units(Vec<Unit>);

/// Why there are no such units, or an operator has none.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum UnitsError {
    #[error("no processing unit is given")]
    Empty,
    #[error("there are two processing units '{0}'")]
    Twice(String),
    #[error("no processing unit runs {operator}; there are {}", .units.join(", "))]
    NoUnit {
        /// Its number, name and kind.
        operator: String,
        units: Vec<String>,
    },
    /// An operator mapped to a unit that is not there.
    #[error("{operator} is mapped to unit '{unit}'; there are {}", .units.join(", "))]
    Foreign {
        /// Its number, name and kind.
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
    /// A list of units, the preferred first.
    ///
    /// # Errors
    /// [`UnitsError::Empty`], [`UnitsError::Twice`].
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

    /// One unit that runs everything.
    pub fn one(name: impl Into<String>) -> Self {
        Self(vec![Unit { name: name.into(), kinds: KindSet::All }])
    }

    /// The units a graph names, in the order in which it does, for the operators it maps to them; one called `cpu` runs the others, where there
    /// are any, or no operators at all.
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

    /// The preset of a name, or else the units listed in the file of that name.
    ///
    /// # Errors
    /// See [`UnitsError`].
    pub fn find(name: &str) -> Result<Self, UnitsError> {
        let text = preset_or_file("processing units", name, &UNIT_PRESETS)?;
        Self::parse(name, &text)
    }

    /// The units a text lists; `file` is what messages call it.
    ///
    /// # Errors
    /// [`UnitsError`], with the line where there is one.
    pub fn parse(file: &str, text: &str) -> Result<Self, UnitsError> {
        let source = Source { file, text };
        let raw: RawUnits = source.toml()?;
        let mut units: Vec<Unit> = Vec::new();
        for unit in raw.unit {
            let at = unit.name.span().start;
            let name = unit.name.into_inner();
            if name.is_empty() || units.iter().any(|other| other.name == name) {
                return Err(source.line(at, "names of units must be there and differ").into());
            }
            units.push(Unit { kinds: KindSet::of(unit.kinds.iter().map(String::as_str)), name });
        }
        Self::new(units)
    }

    /// All, by id.
    pub fn list(&self) -> &[Unit] {
        &self.0
    }

    /// One of them.
    ///
    /// # Panics
    /// If the id is of another list.
    pub fn unit(&self, id: UnitId) -> &Unit {
        &self.0[id.index()]
    }

    /// The unit of a name.
    pub fn named(&self, name: &str) -> Option<UnitId> {
        self.0.iter().position(|unit| unit.name == name).map(UnitId::at)
    }

    /// The first unit that runs a kind.
    pub fn of_kind(&self, kind: &str) -> Option<UnitId> {
        self.0.iter().position(|unit| unit.kinds.has(kind)).map(UnitId::at)
    }

    /// The unit of one operator: what the graph maps it to, else the first that runs its kind.
    ///
    /// # Errors
    /// [`UnitsError::NoUnit`], [`UnitsError::Foreign`].
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

    /// The unit of every operator of a region, in the order in which the region lists them. O(operators x kinds).
    ///
    /// # Errors
    /// As [`Units::of`], for the first operator without a unit.
    pub fn assign(&self, graph: &Graph, region: RegionId) -> Result<Vec<UnitId>, UnitsError> {
        graph.region(region).operators.iter().map(|&id| self.of(graph, id)).collect()
    }
}
