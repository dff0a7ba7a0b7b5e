//! Machines with memory tiers: processing units with their rates, and memories with the units that can
//! access them. Machines are described in TOML.
//!
//! ```toml
//! name = "mine"
//! about = "one line"              # optional
//! alignment = 1024                # bytes; tensors begin at multiples, sizes are rounded up; default 1
//!
//! [switch]                        # optional: the switch between units and shared memories
//! bandwidth = 12.8e9              # bytes per second
//!
//! [[unit]]                        # in order of preference: an operator runs on the first unit for its kind
//! name = "dla"
//! kinds = ["conv", "pool"]        # kinds of operators, or classes in lower case; "*" for all
//! macs_per_second = 51.2e9        # operators whose arithmetic (`cost`) is known
//! bytes_per_second = 6.4e9        # other operators: bytes of all tensors read and written
//! overhead = 5e-6                 # seconds to start an operator or a fused group; default 0
//! bandwidth = 6.4e9               # optional: bytes per second through the switch (fusion paper, eq. 10)
//! elements = 256                  # optional, three values for eq. 11: elements, bytes per second that each
//! local_bandwidth = 200e6         # needs, and bytes per second of the bus inside the unit
//! bus_bandwidth = 51.2e9
//!
//! [[tier]]
//! name = "cbuf"
//! kind = "buffer"                 # inside one unit; "ram": on chip, between units; "ddr": off chip, for all
//! units = ["dla"]                 # the units with access; default for ram and ddr: all
//! capacity = 131_072              # bytes
//! bandwidth = 12.8e9              # bytes per second
//! latency = 5e-9                  # seconds before the first byte of every access; default 0
//! ```
//!
//! The sections `memory`, `dma`, `copy` and `compute`, which the commands `overlap` and `measure` read, are
//! ignored. Unknown keys are rejected. An error message contains the file, the line number and the line.

use crate::description::{DescriptionError, Source, preset_or_file};
use crate::fusion::{KindSet, Unit, Units, UnitsError};
use crate::graph::Graph;
use crate::presets::{PRESETS, TIER_PRESETS};
use crate::time::Time;
use crate::units::{Bytes, OperatorId, UnitId};
use plimsoll_support::words;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

words! {
    /// The location of a memory (cross-unit fusion, eqs. 7 to 9).
    TierKind {
        /// Inside one processing unit.
        Buffer => "buffer",
        /// On chip, between units.
        Ram => "ram",
        /// Off chip.
        Ddr => "ddr",
    }
}

impl TierKind {
    /// Returns true if the memory is on chip.
    pub fn is_on_chip(self) -> bool {
        self != Self::Ddr
    }
}

/// A memory of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The name, unique within the machine.
    pub name: String,
    /// The location of the memory.
    pub kind: TierKind,
    /// The units with access, ascending; `None` if all units have access.
    pub units: Option<Vec<UnitId>>,
    /// The size in bytes.
    pub capacity: Bytes,
    /// The bandwidth of an access in bytes per second.
    pub bandwidth: u64,
    /// The setup latency of an access.
    pub latency: Time,
}

impl Tier {
    /// Returns true if a unit has access to the memory.
    pub fn is_reached_by(&self, unit: UnitId) -> bool {
        self.units.as_ref().is_none_or(|units| units.contains(&unit))
    }

    /// Returns the time of one access of `bytes` bytes; `None` on overflow.
    pub fn access(&self, bytes: Bytes) -> Option<Time> {
        Time::at_rate(bytes.get(), self.bandwidth)?.checked_add(self.latency)
    }
}

/// The speed of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRates {
    /// Multiply-accumulates per second.
    pub macs: u64,
    /// Bytes per second, for operators whose arithmetic cost is unknown.
    pub bytes: u64,
    /// The time to start an operator.
    pub overhead: Time,
    /// Bytes per second through the switch, if known.
    pub bandwidth: Option<u64>,
    /// The number of arithmetic elements, if known.
    pub elements: Option<u64>,
    /// Bytes per second that each element needs, if known.
    pub local_bandwidth: Option<u64>,
    /// Bytes per second of the bus inside the unit, if known.
    pub bus_bandwidth: Option<u64>,
}

/// A machine with processing units and several memories. It has at least one unit and at least one off-chip
/// memory, to which all units have access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierMachine {
    /// The name of the machine, as stated in its description.
    pub name: String,
    /// A one-line description.
    pub about: String,
    /// The alignment in bytes of offsets and sizes in every tier.
    pub alignment: Bytes,
    /// Bytes per second of the switch, if known.
    pub switch: Option<u64>,
    /// The processing units, each with the kinds of operators that it runs.
    pub units: Units,
    /// The speed of each unit.
    pub rates: Vec<UnitRates>,
    /// All memories, both on-chip and off-chip.
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
    // Sections that describe the same machine for `overlap` and `measure`.
    #[serde(default, rename = "memory")]
    _memory: IgnoredAny,
    #[serde(default, rename = "dma")]
    _dma: IgnoredAny,
    #[serde(default, rename = "copy")]
    _copy: IgnoredAny,
    #[serde(default, rename = "compute")]
    _compute: IgnoredAny,
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

/// The maximum capacity and alignment. Sums of a few such values are less than 2^63.
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
            return Err(source.line(at, "a buffer belongs to one unit: set `units`"));
        }
        None => None,
        Some(names) => {
            let at = names.span().start;
            let mut reached = Vec::new();
            for name in names.get_ref() {
                let known = || units.list().iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>();
                let unit = units.named(name);
                reached.push(unit.ok_or_else(|| {
                    source.line(at, format!("no unit '{name}'; the units are {}", known().join(", ")))
                })?);
            }
            reached.sort_unstable();
            reached.dedup();
            match (raw.kind, reached.len()) {
                (_, 0) => return Err(source.line(at, "no unit has access to this tier")),
                (TierKind::Buffer, count) if count > 1 => {
                    return Err(
                        source.line(at, "a buffer belongs to one unit; memory between units is `ram`")
                    );
                }
                (TierKind::Ddr, count) if count < units.list().len() => {
                    return Err(source.line(at, "off-chip memory must be accessible to all units"));
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
    /// Returns the preset `name` or, if there is none, the machine in the file `name`.
    ///
    /// # Errors
    /// The first [`DescriptionError`] found.
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name)
            && !TIER_PRESETS.iter().any(|(preset, _)| *preset == name)
        {
            return Self::parse(name, text);
        }
        Self::parse(name, &preset_or_file("machine", name, &TIER_PRESETS)?)
    }

    /// Parses a machine. `file` is the name used in messages.
    ///
    /// # Errors
    /// [`DescriptionError`], with the line that contains the error.
    pub fn parse(file: &str, text: &str) -> Result<Self, DescriptionError> {
        let source = Source { file, text };
        source.refuse_other(
            &["unit", "tier"],
            &["memory", "dma", "compute"],
            "this is a machine with one on-chip memory ([memory], [dma], [compute]) for overlap and measure; \
             tiers requires [[unit]] and [[tier]]",
        )?;
        let raw: RawMachine = source.toml()?;
        let mut units: Vec<Unit> = Vec::new();
        let mut speeds = Vec::new();
        for unit in &raw.unit {
            let name = unit.name.get_ref();
            if name.is_empty() || units.iter().any(|other| other.name == *name) {
                return Err(source.line(unit.name.span().start, "unit names must be non-empty and unique"));
            }
            let kinds = KindSet::of(unit.kinds.iter().map(String::as_str));
            units.push(Unit { name: name.clone(), kinds });
            speeds.push(rates(&source, unit)?);
        }
        let units =
            Units::new(units).map_err(|_| source.line(0, "a machine needs at least one `[[unit]]`"))?;
        let mut tiers: Vec<Tier> = Vec::new();
        for one in &raw.tier {
            let name = one.name.get_ref();
            if name.is_empty() || tiers.iter().any(|other| other.name == *name) {
                return Err(source.line(one.name.span().start, "tier names must be non-empty and unique"));
            }
            tiers.push(tier(&source, one, &units)?);
        }
        if tiers.iter().all(|tier| tier.kind != TierKind::Ddr) {
            return Err(source.line(0, "a machine needs at least one `[[tier]]` of kind \"ddr\""));
        }
        if tiers.len() > 64 {
            return Err(source.line(0, "a machine may have at most 64 tiers"));
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

    /// Returns the unit of each operator of a graph, including operators of inner regions, indexed by
    /// operator.
    ///
    /// # Errors
    /// [`UnitsError`] for the first operator without a unit.
    pub fn assign(&self, graph: &Graph) -> Result<Vec<UnitId>, UnitsError> {
        (0..graph.operators().len()).map(|at| self.units.of(graph, OperatorId::at(at))).collect()
    }

    /// Returns the time that a unit needs to compute an operator, without the time to start the operator.
    /// This compute time follows from the arithmetic cost of the operator or, if that cost is unknown, from
    /// the bytes that the operator accesses. Views and operators that own regions need no time. Returns
    /// `None` on overflow.
    pub fn compute(&self, graph: &Graph, id: OperatorId, unit: UnitId) -> Option<Time> {
        let (operator, rates) = (graph.operator(id), self.rates[unit.index()]);
        if graph.moves_nothing(id) || !operator.regions.is_empty() {
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
