//! Machines for timelines: on-chip memory, DMA channels and compute rates. Machines are described in TOML.
//!
//! ```toml
//! name = "mine"
//! about = "one line"              # optional
//!
//! [memory]
//! capacity = 655_360              # bytes of on-chip memory, for activations and weight buffers
//! alignment = 64                  # bytes, of offsets and sizes of weight buffers; default 1
//! slice = 65_536                  # bytes; operators with more weights run in slices; default: no slices
//! resident_weights = false        # whether weights may stay on chip from run to run; default false
//!
//! [dma]
//! channels = 1                    # default 1; each carries one transfer at a time
//! startup = 20e-6                 # setup latency: seconds per transfer; default 0
//! bandwidth = 50e6                # bytes per second of each channel
//!
//! [copy]                          # optional: the processor may copy weights, without computing meanwhile
//! bandwidth = 50e6                # bytes per second; no setup latency
//!
//! [compute]
//! macs_per_second = 2e9           # operators whose arithmetic (`cost`) is known
//! bytes_per_second = 400e6        # other operators: bytes of all tensors read and written
//! overhead = 5e-6                 # seconds per operator; default 0
//! times = "times.csv"             # measured times, columns operator,seconds; they take precedence;
//!                                 # operators without a name use kind and number, as in CONV_2D#0
//!
//! [compute.kinds.DEPTHWISE_CONV_2D]   # rates of one kind of operator
//! macs_per_second = 500e6         # or bytes_per_second, or both
//! ```
//!
//! The sections `unit`, `tier` and `switch`, which the command `tiers` reads, are ignored. Unknown keys are
//! rejected. An error message contains the file, the line number and the line. Seconds are stored as
//! picoseconds and rates as integers, so that all times computed from them are exact integers.

use crate::description::{DescriptionError, Source, preset_or_file};
use crate::graph::{Graph, Operator};
use crate::presets::{PRESETS, TIER_PRESETS};
use crate::time::Time;
use crate::units::{Bytes, OperatorId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The rates for one kind of operator. If both rates are given, `bytes` applies to operators whose
/// arithmetic cost is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Multiply-accumulates per second.
    pub macs: Option<u64>,
    /// Bytes read and written per second.
    pub bytes: Option<u64>,
}

/// The machine of a timeline: its on-chip memory, DMA channels and compute rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The name of the machine, as stated in its description.
    pub name: String,
    /// A one-line description.
    pub about: String,
    /// The size of on-chip memory in bytes, for activations and weight buffers.
    pub capacity: Bytes,
    /// The alignment in bytes of offsets and sizes of weight buffers.
    pub alignment: Bytes,
    /// An operator whose weights exceed this number of bytes runs in slices with at most this number of
    /// bytes of weights each.
    pub slice: Option<Bytes>,
    /// Whether weights may stay in on-chip memory from run to run.
    pub resident_weights: bool,
    /// The number of DMA channels. Each carries one transfer at a time.
    pub channels: u32,
    /// The setup latency of a transfer.
    pub startup: Time,
    /// The bandwidth of each channel in bytes per second.
    pub bandwidth: u64,
    /// The rate in bytes per second at which the processor copies weights; `None` if it does not copy.
    pub copy: Option<u64>,
    /// Multiply-accumulates per second, unless the operator kind has a rate of its own.
    pub macs_per_second: u64,
    /// Bytes read and written per second, for operators whose arithmetic cost is unknown, unless the
    /// operator kind has a rate of its own.
    pub bytes_per_second: u64,
    /// The time added to the computing time of every operator without a measured time.
    pub overhead: Time,
    /// Rates by operator kind.
    pub kinds: BTreeMap<String, Rates>,
    /// Measured times by display name of the operator. See [`Graph::called`].
    pub times: BTreeMap<String, Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMachine {
    name: String,
    #[serde(default)]
    about: String,
    memory: RawMemory,
    dma: RawDma,
    copy: Option<RawCopy>,
    compute: RawCompute,
    // Sections that describe the same machine for `tiers`.
    alignment: Option<Spanned<IgnoredAny>>,
    tier: Option<IgnoredAny>,
    #[serde(default, rename = "unit")]
    _unit: IgnoredAny,
    #[serde(default, rename = "switch")]
    _switch: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMemory {
    capacity: Spanned<u64>,
    alignment: Option<Spanned<u64>>,
    slice: Option<Spanned<u64>>,
    #[serde(default)]
    resident_weights: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDma {
    channels: Option<Spanned<u32>>,
    startup: Option<Spanned<f64>>,
    bandwidth: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCopy {
    bandwidth: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCompute {
    macs_per_second: Spanned<f64>,
    bytes_per_second: Spanned<f64>,
    overhead: Option<Spanned<f64>>,
    times: Option<PathBuf>,
    #[serde(default)]
    kinds: BTreeMap<String, RawRates>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRates {
    macs_per_second: Option<Spanned<f64>>,
    bytes_per_second: Option<Spanned<f64>>,
}

impl Source<'_> {
    pub(crate) fn positive(&self, value: &Spanned<u64>, what: &str) -> Result<u64, DescriptionError> {
        match *value.get_ref() {
            0 => Err(self.line(value.span().start, format!("{what} must be positive"))),
            value => Ok(value),
        }
    }

    pub(crate) fn rate(&self, value: &Spanned<f64>) -> Result<u64, DescriptionError> {
        let rate = *value.get_ref();
        if (1.0..=1e18).contains(&rate) {
            Ok(rate.round() as u64)
        } else {
            Err(self.line(value.span().start, "a rate must be between 1 and 1e18 per second"))
        }
    }

    pub(crate) fn seconds(&self, value: Option<&Spanned<f64>>) -> Result<Time, DescriptionError> {
        let Some(value) = value else { return Ok(Time::ZERO) };
        let time = Time::from_seconds(*value.get_ref()).filter(|_| *value.get_ref() <= 1e6);
        time.ok_or_else(|| self.line(value.span().start, "seconds must be between 0 and 1e6"))
    }
}

impl Machine {
    /// Returns the preset `name` or, if there is none, the machine in the file `name`.
    ///
    /// # Errors
    /// The first [`DescriptionError`] found.
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        if let Some((_, text)) = TIER_PRESETS.iter().find(|(preset, _)| *preset == name)
            && !PRESETS.iter().any(|(preset, _)| *preset == name)
        {
            return Self::parse(name, text);
        }
        Self::parse(name, &preset_or_file("machine", name, &PRESETS)?)
    }

    /// Parses a machine. `file` is the name used in messages. The path `times` is relative to the folder of
    /// `file`.
    ///
    /// # Errors
    /// [`DescriptionError`], with the line that contains the error.
    pub fn parse(file: &str, text: &str) -> Result<Self, DescriptionError> {
        let source = Source { file, text };
        source.refuse_other(
            &["memory", "dma", "compute"],
            &["unit", "tier"],
            "this is a machine with memory tiers ([[unit]], [[tier]]) for tiers; overlap and measure require \
             [memory], [dma] and [compute]",
        )?;
        let raw: RawMachine = source.toml()?;
        if let Some(alignment) = raw.alignment.filter(|_| raw.tier.is_none()) {
            return Err(source.line(alignment.span().start, "alignment belongs in the section [memory]"));
        }
        let (memory, dma, compute) = (raw.memory, raw.dma, raw.compute);
        let positive = |value: &Option<Spanned<u64>>, what| {
            value.as_ref().map(|value| source.positive(value, what)).transpose()
        };
        let channels = match &dma.channels {
            None => 1,
            Some(count) if (1..=64).contains(count.get_ref()) => *count.get_ref(),
            Some(count) => return Err(source.line(count.span().start, "channels must be between 1 and 64")),
        };
        let rate = |value: &Option<Spanned<f64>>| value.as_ref().map(|value| source.rate(value)).transpose();
        let mut kinds = BTreeMap::new();
        for (kind, rates) in &compute.kinds {
            let (macs, bytes) = (rate(&rates.macs_per_second)?, rate(&rates.bytes_per_second)?);
            kinds.insert(kind.clone(), Rates { macs, bytes });
        }
        let times = match &compute.times {
            Some(times) => read_times(&Path::new(file).parent().unwrap_or(Path::new("")).join(times))?,
            None => BTreeMap::new(),
        };
        Ok(Self {
            name: raw.name,
            about: raw.about,
            capacity: Bytes::new(source.positive(&memory.capacity, "capacity")?),
            alignment: Bytes::new(positive(&memory.alignment, "alignment")?.unwrap_or(1)),
            slice: positive(&memory.slice, "slice")?.map(Bytes::new),
            resident_weights: memory.resident_weights,
            channels,
            startup: source.seconds(dma.startup.as_ref())?,
            bandwidth: source.rate(&dma.bandwidth)?,
            copy: raw.copy.as_ref().map(|copy| source.rate(&copy.bandwidth)).transpose()?,
            macs_per_second: source.rate(&compute.macs_per_second)?,
            bytes_per_second: source.rate(&compute.bytes_per_second)?,
            overhead: source.seconds(compute.overhead.as_ref())?,
            kinds,
            times,
        })
    }

    /// Returns the machine as TOML text, without measured times. Parsing the text returns the same machine,
    /// except that it has no measured times and that times above 9000 seconds may differ in their last
    /// digits.
    pub fn toml(&self) -> String {
        let mut text = format!("name = {}\n", quoted(&self.name));
        if !self.about.is_empty() {
            let _ = writeln!(text, "about = {}", quoted(&self.about));
        }
        let _ = write!(text, "\n[memory]\ncapacity = {}\nalignment = {}\n", self.capacity, self.alignment);
        if let Some(slice) = self.slice {
            let _ = writeln!(text, "slice = {slice}");
        }
        let (channels, startup, bandwidth) = (self.channels, self.startup.seconds(), self.bandwidth);
        let copy = self.copy.map_or(String::new(), |rate| format!("\n[copy]\nbandwidth = {rate}.0\n"));
        let _ = write!(
            text,
            "resident_weights = {}\n\n[dma]\nchannels = {channels}\nstartup = {startup:e}\nbandwidth = {bandwidth}.0\n{copy}\n\
             [compute]\nmacs_per_second = {}.0\nbytes_per_second = {}.0\noverhead = {:e}\n",
            self.resident_weights,
            self.macs_per_second,
            self.bytes_per_second,
            self.overhead.seconds()
        );
        for (kind, rates) in &self.kinds {
            let _ = writeln!(text, "\n[compute.kinds.{}]", quoted(kind));
            for (what, rate) in [("macs_per_second", rates.macs), ("bytes_per_second", rates.bytes)] {
                if let Some(rate) = rate {
                    let _ = writeln!(text, "{what} = {rate}.0");
                }
            }
        }
        text
    }

    /// Returns the time of a transfer of `bytes` bytes on one channel; `None` on overflow.
    pub fn transfer(&self, bytes: Bytes) -> Option<Time> {
        Time::at_rate(bytes.get(), self.bandwidth)?.checked_add(self.startup)
    }

    /// Returns the computing time of an operator. A measured time takes precedence and is returned unchanged.
    /// Otherwise, the time follows from the arithmetic cost or the accessed bytes at the rate of the operator
    /// kind, plus the overhead. Views and operators that own regions take only the overhead. Returns `None`
    /// on overflow.
    pub fn compute(&self, graph: &Graph, id: OperatorId) -> Option<Time> {
        let operator = graph.operator(id);
        if !self.times.is_empty()
            && let Some(&time) = timed_as(graph, id).iter().find_map(|name| self.times.get(name))
        {
            return Some(time);
        }
        if graph.moves_nothing(id) || !operator.regions.is_empty() {
            return Some(self.overhead);
        }
        self.rated(graph, operator)?.checked_add(self.overhead)
    }

    /// Returns the names of measured times that match no computing operator of a graph, in ascending order.
    /// Operators that own regions do not compute.
    pub fn unused_times(&self, graph: &Graph) -> Vec<&str> {
        let all = (0..graph.operators().len()).map(OperatorId::at);
        let computing = all.filter(|&id| graph.operator(id).regions.is_empty());
        let called: HashSet<String> = computing.flat_map(|id| timed_as(graph, id)).collect();
        self.times.keys().filter(|name| !called.contains(*name)).map(String::as_str).collect()
    }

    /// Returns the number of operators whose computing time is estimated from the accessed bytes, because
    /// the graph does not contain their arithmetic cost. Operators with a measured time do not count.
    /// Neither do operators of a kind for which the machine has only a rate in bytes per second.
    pub fn estimated(&self, graph: &Graph) -> usize {
        let is_estimated = |&id: &OperatorId| {
            let operator = graph.operator(id);
            let computes = !graph.moves_nothing(id) && operator.regions.is_empty();
            let is_timed = || timed_as(graph, id).iter().any(|name| self.times.contains_key(name));
            computes && operator.cost.is_none() && !self.is_by_bytes(operator) && !is_timed()
        };
        (0..graph.operators().len()).map(OperatorId::at).filter(is_estimated).count()
    }

    /// Returns true if, for operators of this kind, the machine has only a rate in bytes per second.
    fn is_by_bytes(&self, operator: &Operator) -> bool {
        self.kinds.get(&operator.kind).is_some_and(|rates| rates.bytes.is_some() && rates.macs.is_none())
    }

    fn rated(&self, graph: &Graph, operator: &Operator) -> Option<Time> {
        let rates = self.kinds.get(&operator.kind).copied().unwrap_or_default();
        if let (Some(cost), false) = (operator.cost, self.is_by_bytes(operator)) {
            return Time::at_rate(cost, rates.macs.unwrap_or(self.macs_per_second));
        }
        let tensors = operator.inputs.iter().chain(&operator.outputs);
        let bytes = tensors.map(|&tensor| u128::from(graph.tensor(tensor).bytes.get())).sum::<u128>();
        Time::at_rate(u64::try_from(bytes).ok()?, rates.bytes.unwrap_or(self.bytes_per_second))
    }
}

/// Returns the names under which a file may list the measured time of an operator.
fn timed_as(graph: &Graph, id: OperatorId) -> Vec<String> {
    let mut names = vec![graph.called(id)];
    if graph.operator(id).name.is_empty() {
        names.push(graph.numbered(id));
    }
    names
}

/// Returns text as a quoted TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads measured times from a CSV file with the columns `operator` and `seconds`. Each name has one row.
///
/// # Errors
/// [`DescriptionError`], with the line that contains the error.
pub fn read_times(path: &Path) -> Result<BTreeMap<String, Time>, DescriptionError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| DescriptionError::Io { file: file.clone(), source })?;
    let source = Source { file: &file, text: &text };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let broken = |error: &csv::Error| {
        let at = error.position().map_or(0, |position| position.byte() as usize);
        source.line(at, "malformed CSV")
    };
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    if header.iter().ne(["operator", "seconds"]) {
        return Err(source.line(0, "the header must be operator,seconds"));
    }
    let mut times = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| broken(&error))?;
        let at = row.position().map_or(0, |position| position.byte() as usize);
        let seconds = row[1].parse::<f64>().ok().filter(|seconds| *seconds <= 1e6);
        let Some(time) = seconds.and_then(Time::from_seconds) else {
            return Err(source.line(at, "seconds must be between 0 and 1e6"));
        };
        if row[0].is_empty() {
            return Err(
                source.line(at, "the operator is empty; operators without a name use kind and number")
            );
        }
        if times.insert(row[0].to_owned(), time).is_some() {
            return Err(source.line(at, "this operator already has a time"));
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Role, Tensor};

    const PLAIN: &str = "name = \"m\"\n[memory]\ncapacity = 100\n[dma]\nstartup = 1e-6\nbandwidth = 2\n\
        [compute]\nmacs_per_second = 10\nbytes_per_second = 4\n";

    fn wrong(from: &str, to: &str) -> String {
        Machine::parse("m.toml", &PLAIN.replace(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn presets_are_read_with_their_names() {
        for (name, _) in PRESETS {
            let machine = Machine::find(name).unwrap();
            assert_eq!(machine.name, name);
            assert!(!machine.about.is_empty() && machine.channels >= 1);
        }
        assert_eq!(Machine::find("luna").unwrap().startup, Time::new(20_000_000));
        let unknown = Machine::find("moon").unwrap_err().to_string();
        assert_eq!(unknown, "no machine 'moon': neither a file nor one of luna, ethos-u, generic");
        assert!(Machine::find("moon.toml").unwrap_err().to_string().starts_with("moon.toml: cannot read"));
    }

    #[test]
    fn machines_are_written_as_they_are_read() {
        for (name, _) in PRESETS {
            let machine = Machine::find(name).unwrap();
            assert_eq!(Machine::parse("m.toml", &machine.toml()).unwrap(), machine, "{}", machine.toml());
        }
        let mut odd = Machine::parse("m.toml", PLAIN).unwrap();
        odd.name = "a \"b\" \\ c\n\u{7f}ü".to_owned();
        odd.bandwidth = 123_456_789_012_345;
        odd.startup = Time::new(123_456_789);
        odd.copy = Some(77);
        odd.kinds.insert("rows 4.a".to_owned(), Rates { macs: Some(7), bytes: Some(9) });
        assert_eq!(Machine::parse("m.toml", &odd.toml()).unwrap(), odd, "{}", odd.toml());
    }

    #[test]
    fn errors_state_file_line_and_value() {
        assert_eq!(
            wrong("bandwidth = 2", "bandwidth = 0"),
            "m.toml, line 6: a rate must be between 1 and 1e18 per second: `bandwidth = 0`"
        );
        assert!(wrong("capacity = 100", "capacity = -1").starts_with("m.toml, line 3: "));
        assert!(wrong("capacity = 100", "capacity = 0").contains("line 3: capacity must be positive"));
        assert!(wrong("startup = 1e-6", "startup = nan").contains("line 5: seconds must be"));
        assert!(wrong("startup", "start").contains("line 5: unknown field `start`"));
        assert!(
            wrong("[dma]", "[dma]\nchannels = 0")
                .contains("channels must be between 1 and 64: `channels = 0`")
        );
        assert!(wrong("[compute]", "[copy]\nbandwidth = 0\n[compute]").contains("line 8: a rate must be"));
        assert!(wrong("capacity = 100", "").contains("missing field `capacity`"));
        assert!(wrong("[memory]", "[memory").starts_with("m.toml, line 2: "));
    }

    #[test]
    fn times_follow_from_rates() {
        let machine =
            Machine::parse("m.toml", &format!("{PLAIN}[compute.kinds.Slow]\nmacs_per_second = 5\n")).unwrap();
        assert_eq!(machine.transfer(Bytes::new(4)), Some(Time::new(2_000_001_000_000)));
        let mut graph = GraphBuilder::new("g");
        let x = graph.tensor(Tensor::new("x", 4, Role::Input));
        let y = graph.tensor(Tensor::new("y", 8, Role::Output));
        let body = graph.body();
        for (name, kind, cost) in [("a", "Fast", Some(20)), ("b", "Slow", Some(20)), ("c", "Fast", None)] {
            let mut operator = Operator::new(name, kind).reads([x]);
            operator.cost = cost;
            graph.operator(body, if name == "c" { operator.makes([y]) } else { operator });
        }
        graph.interface(body, [x], [y]);
        let graph = graph.build().unwrap();
        let seconds = |at| machine.compute(&graph, OperatorId::new(at)).unwrap().to_string();
        assert_eq!([0, 1, 2].map(seconds), ["2.000 s", "4.000 s", "3.000 s"]);
        let mut measured = machine;
        measured.times.insert("b".to_owned(), Time::new(7));
        assert_eq!(measured.compute(&graph, OperatorId::new(1)), Some(Time::new(7)));
        assert_eq!(measured.unused_times(&graph), Vec::<&str>::new());
    }

    #[test]
    fn operators_without_names_have_times_by_kind_and_number() {
        let mut machine = Machine::parse("m.toml", PLAIN).unwrap();
        for (name, time) in [("CONV#1", 7), ("CONV#2", 9), ("other", 3)] {
            machine.times.insert(name.to_owned(), Time::new(time));
        }
        let mut graph = GraphBuilder::new("g");
        let x = graph.tensor(Tensor::new("x", 4, Role::Input));
        let y = graph.tensor(Tensor::new("y", 8, Role::Output));
        let body = graph.body();
        graph.operator(body, Operator::new("", "CONV").reads([x]));
        graph.operator(body, Operator::new("", "CONV").reads([x]).makes([y]));
        graph.interface(body, [x], [y]);
        let graph = graph.build().unwrap();
        let times = [0, 1].map(|at| machine.compute(&graph, OperatorId::new(at)).unwrap());
        assert_eq!(times, [Time::new(1_000_000_000_000), Time::new(7)]);
        assert_eq!(machine.unused_times(&graph), ["CONV#2", "other"]);
    }

    #[test]
    fn measured_times_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_times(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read("operator,seconds\nconv,1e-3\n").unwrap()["conv"], Time::new(1_000_000_000));
        assert!(
            read("operator,seconds\na,1\na,2\n")
                .unwrap_err()
                .contains("line 3: this operator already has a time")
        );
        assert!(
            read("operator,seconds\na,x\n")
                .unwrap_err()
                .ends_with("line 2: seconds must be between 0 and 1e6: `a,x`")
        );
        assert!(read("operator,seconds\n,1\n").unwrap_err().contains("line 2: the operator is empty"));
        assert!(read("name,seconds\n").unwrap_err().contains("line 1: the header must be"));
        assert!(read("operator,seconds\na,1,2\n").unwrap_err().contains("line 2: malformed CSV"));
    }
}
