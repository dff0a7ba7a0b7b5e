//! The machine whose memory has tiers: processing units with their rates, and memories with who reaches them. Read from TOML.
//!
//! ```toml
//! name = "mine"
//! about = "one line"              # optional
//! alignment = 1024                # bytes; tensors begin at multiples, sizes are rounded up; default 1
//!
//! [switch]                        # optional: what joins units and shared memories
//! bandwidth = 12.8e9              # bytes per second
//!
//! [[unit]]                        # in order of preference: an operator runs on the first that runs its kind
//! name = "dla"
//! kinds = ["conv", "pool"]        # kinds of operators, or classes in small letters; "*" for all
//! macs_per_second = 51.2e9        # operators whose arithmetic (`cost`) is known
//! bytes_per_second = 6.4e9        # the others: bytes of all tensors read and made
//! overhead = 5e-6                 # seconds to start an operator, or a group that runs as one; default 0
//! bandwidth = 6.4e9               # optional: bytes per second it moves through the switch (S3, eq. 10)
//! elements = 256                  # optional, the three of eq. 11: arithmetic elements, bytes per second that each
//! local_bandwidth = 200e6         # needs, and what the bus inside the unit carries
//! bus_bandwidth = 51.2e9
//!
//! [[tier]]
//! name = "cbuf"
//! kind = "buffer"                 # of one unit; "ram": on chip, between units; "ddr": off chip, for all
//! units = ["dla"]                 # who reaches it; default for ram and ddr: all
//! capacity = 131_072              # bytes
//! bandwidth = 12.8e9              # bytes per second
//! latency = 5e-9                  # seconds before the first byte of every access; default 0
//! ```
//!
//! Unknown members are refused. Every error names file, line and value.

use crate::description::{DescriptionError, Source, preset_or_file};
use crate::fusion::{KindSet, Unit, Units, UnitsError};
use crate::graph::{Graph, Operator};
use crate::presets::{PRESETS, TIER_PRESETS};
use crate::time::Time;
use crate::units::{Bytes, OperatorId, UnitId};
use serde::{Deserialize, Serialize};
use std::fmt;
use toml::Spanned;

/// Where a memory stands (S3, eqs. 7 to 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TierKind {
    /// Inside one processing unit.
    Buffer,
    /// On chip, between units.
    Ram,
    /// Off chip.
    Ddr,
}

impl TierKind {
    /// The word in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::Ram => "ram",
            Self::Ddr => "ddr",
        }
    }

    /// True on chip.
    pub fn is_on_chip(self) -> bool {
        self != Self::Ddr
    }
}

impl fmt::Display for TierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One memory of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Its name, unique.
    pub name: String,
    /// On chip or off, inside a unit or between units.
    pub kind: TierKind,
    /// The units with access to it, ascending; none where all have.
    pub units: Option<Vec<UnitId>>,
    /// Size, bytes.
    pub capacity: Bytes,
    /// Bytes per second of one access.
    pub bandwidth: u64,
    /// Time before the first byte of an access.
    pub latency: Time,
}

impl Tier {
    /// Whether a unit reaches it.
    pub fn is_reached_by(&self, unit: UnitId) -> bool {
        self.units.as_ref().is_none_or(|units| units.contains(&unit))
    }

    /// The time one access of so many bytes takes; none where it leaves the range of time.
    pub fn access(&self, bytes: Bytes) -> Option<Time> {
        Time::at_rate(bytes.get(), self.bandwidth)?.checked_add(self.latency)
    }
}

/// How fast a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRates {
    /// Multiply-accumulates per second.
    pub macs: u64,
    /// Bytes per second of operators whose arithmetic is not known.
    pub bytes: u64,
    /// Time to start an operator.
    pub overhead: Time,
    /// Bytes per second through the switch, where known.
    pub bandwidth: Option<u64>,
    /// Arithmetic elements, where known.
    pub elements: Option<u64>,
    /// Bytes per second that each element needs, where known.
    pub local_bandwidth: Option<u64>,
    /// Bytes per second of the bus inside, where known.
    pub bus_bandwidth: Option<u64>,
}

/// Units and memories. Immutable once read; at least one unit, and one memory off chip that all reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierMachine {
    /// The preset or what the file calls it.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    /// Tensors begin at multiples of this in every tier and are rounded up to them, bytes.
    pub alignment: Bytes,
    /// Bytes per second of the switch, where known.
    pub switch: Option<u64>,
    /// The processing units and the operators each runs.
    pub units: Units,
    /// Speeds, one entry per unit.
    pub rates: Vec<UnitRates>,
    /// All memories, on chip and off.
    pub tiers: Vec<Tier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMachine {
    name: String,
    #[serde(default)]
    about: String,
    alignment: Option<Spanned<u64>>,
    switch: Option<RawSwitch>,
    #[serde(default)]
    unit: Vec<RawUnit>,
    #[serde(default)]
    tier: Vec<RawTier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSwitch {
    bandwidth: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUnit {
    name: Spanned<String>,
    kinds: Vec<String>,
    macs_per_second: Spanned<f64>,
    bytes_per_second: Spanned<f64>,
    overhead: Option<Spanned<f64>>,
    bandwidth: Option<Spanned<f64>>,
    elements: Option<Spanned<u64>>,
    local_bandwidth: Option<Spanned<f64>>,
    bus_bandwidth: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTier {
    name: Spanned<String>,
    kind: TierKind,
    units: Option<Spanned<Vec<String>>>,
    capacity: Spanned<u64>,
    bandwidth: Spanned<f64>,
    latency: Option<Spanned<f64>>,
}

/// The most a capacity or an alignment may say: sums of a few of them fit 63 bits.
const MOST_BYTES: u64 = 1 << 60;

fn bounded(source: &Source<'_>, value: &Spanned<u64>, what: &str) -> Result<Bytes, DescriptionError> {
    match source.positive(value, what)? {
        bytes if bytes <= MOST_BYTES => Ok(Bytes::new(bytes)),
        _ => Err(source.line(value.span().start, format!("{what} must be at most 2^60"))),
    }
}

fn rates(source: &Source<'_>, raw: &RawUnit) -> Result<UnitRates, DescriptionError> {
    let rate = |value: &Option<Spanned<f64>>| value.as_ref().map(|value| source.rate(value)).transpose();
    let elements = raw.elements.as_ref().map(|elements| source.positive(elements, "elements"));
    Ok(UnitRates {
        macs: source.rate(&raw.macs_per_second)?,
        bytes: source.rate(&raw.bytes_per_second)?,
        overhead: source.seconds(raw.overhead.as_ref())?,
        bandwidth: rate(&raw.bandwidth)?,
        elements: elements.transpose()?,
        local_bandwidth: rate(&raw.local_bandwidth)?,
        bus_bandwidth: rate(&raw.bus_bandwidth)?,
    })
}

fn tier(source: &Source<'_>, raw: &RawTier, units: &Units) -> Result<Tier, DescriptionError> {
    let at = raw.name.span().start;
    let reached = match &raw.units {
        None if raw.kind == TierKind::Buffer => {
            return Err(source.line(at, "a buffer is of one unit: say which under `units`"));
        }
        None => None,
        Some(names) => {
            let at = names.span().start;
            let mut reached = Vec::new();
            for name in names.get_ref() {
                let known = || units.list().iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>();
                let unit = units.named(name);
                reached.push(unit.ok_or_else(|| {
                    source.line(at, format!("no unit '{name}'; there are {}", known().join(", ")))
                })?);
            }
            reached.sort_unstable();
            reached.dedup();
            match (raw.kind, reached.len()) {
                (_, 0) => return Err(source.line(at, "nobody reaches this tier")),
                (TierKind::Buffer, count) if count > 1 => {
                    return Err(source.line(at, "a buffer is of one unit; memory between units is `ram`"));
                }
                (TierKind::Ddr, count) if count < units.list().len() => {
                    return Err(source.line(at, "memory off chip is reached by all units"));
                }
                _ => Some(reached),
            }
        }
    };
    Ok(Tier {
        name: raw.name.get_ref().clone(),
        kind: raw.kind,
        units: reached,
        capacity: bounded(source, &raw.capacity, "capacity")?,
        bandwidth: source.rate(&raw.bandwidth)?,
        latency: source.seconds(raw.latency.as_ref())?,
    })
}

impl TierMachine {
    /// The preset of a name, or else the machine described in the file of that name.
    ///
    /// # Errors
    /// See [`DescriptionError`].
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name)
            && !TIER_PRESETS.iter().any(|(preset, _)| *preset == name)
        {
            return Self::parse(name, text);
        }
        Self::parse(name, &preset_or_file("machine", name, &TIER_PRESETS)?)
    }

    /// The machine a text describes; `file` is what messages call it.
    ///
    /// # Errors
    /// [`DescriptionError`] with the line of whatever is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, DescriptionError> {
        let source = Source { file, text };
        source.refuse_other(
            &["unit", "tier"],
            &["memory", "dma", "compute"],
            "it is a machine with one memory on chip ([memory], [dma], [compute]), as overlap and measure take it; \
             tiers takes one with [[unit]] and [[tier]]",
        )?;
        let raw: RawMachine = source.toml()?;
        let mut units: Vec<Unit> = Vec::new();
        let mut speeds = Vec::new();
        for unit in &raw.unit {
            let name = unit.name.get_ref();
            if name.is_empty() || units.iter().any(|other| other.name == *name) {
                return Err(source.line(unit.name.span().start, "names of units must be there and differ"));
            }
            let kinds = KindSet::of(unit.kinds.iter().map(String::as_str));
            units.push(Unit { name: name.clone(), kinds });
            speeds.push(rates(&source, unit)?);
        }
        let units = Units::new(units).map_err(|_| source.line(0, "a machine has a `[[unit]]`"))?;
        let mut tiers: Vec<Tier> = Vec::new();
        for one in &raw.tier {
            let name = one.name.get_ref();
            if name.is_empty() || tiers.iter().any(|other| other.name == *name) {
                return Err(source.line(one.name.span().start, "names of tiers must be there and differ"));
            }
            tiers.push(tier(&source, one, &units)?);
        }
        if tiers.iter().all(|tier| tier.kind != TierKind::Ddr) {
            return Err(source.line(0, "a machine has a `[[tier]]` of kind \"ddr\""));
        }
        if tiers.len() > 64 {
            return Err(source.line(0, "a machine has at most 64 tiers"));
        }
        let alignment =
            raw.alignment.as_ref().map(|alignment| bounded(&source, alignment, "alignment")).transpose()?;
        Ok(Self {
            name: raw.name,
            about: raw.about,
            alignment: alignment.unwrap_or(Bytes::new(1)),
            switch: raw.switch.as_ref().map(|switch| source.rate(&switch.bandwidth)).transpose()?,
            units,
            rates: speeds,
            tiers,
        })
    }

    /// The unit of every operator of the graph, those of all regions included.
    ///
    /// # Errors
    /// [`UnitsError`] for the first operator without one.
    pub fn assign(&self, graph: &Graph) -> Result<Vec<UnitId>, UnitsError> {
        (0..graph.operators().len()).map(|at| self.units.of(graph, OperatorId::at(at))).collect()
    }

    /// The time an operator computes on a unit, without what it takes to start it: its arithmetic, or the bytes it touches. What
    /// only gives a tensor another shape, or runs regions, takes none. None where it leaves the range of time.
    pub fn compute(&self, graph: &Graph, operator: &Operator, unit: UnitId) -> Option<Time> {
        let rates = self.rates[unit.index()];
        if operator.moves_nothing() || !operator.regions.is_empty() {
            return Some(Time::ZERO);
        }
        if let Some(cost) = operator.cost {
            return Time::at_rate(cost, rates.macs);
        }
        let named = operator.inputs.iter().enumerate();
        let inputs =
            named.filter(|&(at, tensor)| !operator.inputs[..at].contains(tensor)).map(|(_, tensor)| tensor);
        let tensors = inputs.chain(&operator.outputs);
        let bytes = tensors.map(|&tensor| u128::from(graph.tensor(tensor).bytes.get())).sum::<u128>();
        Time::at_rate(u64::try_from(bytes).ok()?, rates.bytes)
    }
}
