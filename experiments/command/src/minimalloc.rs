//! `plimsoll-minimalloc`: the flags and the formats of `MiniMalloc`, with the solvers of Plimsoll.
//!
//! If this program is installed as `minimalloc` and comes first on the path, tools that run `minimalloc
//! --capacity=N --input=FILE --output=FILE` run this program instead of `MiniMalloc`. It exits with 0 and
//! writes the layout, or it exits with 1 and writes no file. Flags that switch parts of `MiniMalloc`'s
//! search on or off are accepted and have no effect. The rows of the layout are in the order of the input.
//!
//! Source: `README.md`, `src/main.cc` and `src/converter.cc` of google/minimalloc (2025).

use plimsoll::model::csv::is_open;
use plimsoll::model::{
    Buffer, Bytes, Claim, Instance, InstanceBuilder, Interval, Layout, Lifespan, Offsets, Outcome, Setup,
    Silent,
};
use plimsoll::run::{Limits, run};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The flags with a value, and their meaning.
const VALUES: [(&str, &str); 5] = [
    ("capacity", "maximum memory in bytes (default 0)"),
    ("input", "input file (CSV)"),
    ("output", "output file (CSV)"),
    ("timeout", "time limit, such as 90s or 1.5m (default inf)"),
    ("preordering_heuristics", "no effect"),
];

/// The flags that are true or false, and their meaning.
const SWITCHES: [(&str, &str); 12] = [
    ("validate", "print the result of the check, which always runs"),
    ("minimize_capacity", "find the smallest capacity up to --capacity"),
    ("print_solution", "not supported: plimsoll solve --plot draws a layout"),
    ("canonical_only", "no effect"),
    ("section_inference", "no effect"),
    ("dynamic_ordering", "no effect"),
    ("check_dominance", "no effect"),
    ("unallocated_floor", "no effect"),
    ("static_preordering", "no effect"),
    ("dynamic_decomposition", "no effect"),
    ("monotonic_floor", "no effect"),
    ("hatless_pruning", "no effect"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match answer(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Solves the problem given on the command line. An error contains the text to print to standard error.
fn answer(arguments: &[String]) -> Result<(), String> {
    let flags = Flags::parse(arguments)?;
    let input = flags.text("input");
    let text =
        std::fs::read_to_string(input).map_err(|error| format!("Opening file {input} failed: {error}."))?;
    let table = Table::read(&text).map_err(|problem| format!("INVALID_ARGUMENT: {input}: {problem}"))?;
    let capacity = flags.capacity()?;
    let outcome = solve(&table, capacity, &flags)?;
    eprintln!("Elapsed time {:.3}s", outcome.stats.seconds);
    let fits = |layout: &Layout| layout.peak(&table.instance) <= capacity;
    let Some(layout) = outcome.solution.filter(fits) else {
        return Err(match outcome.claim {
            Claim::Infeasible => format!("NOT_FOUND: no layout fits into {capacity} bytes"),
            _ => "DEADLINE_EXCEEDED: no layout was found within the time limit".to_owned(),
        });
    };
    if flags.is_set("validate", false)? {
        eprintln!("Validation PASS, height {}", layout.peak(&table.instance));
    }
    let output = flags.text("output");
    if output.is_empty() {
        return Ok(());
    }
    let write = |file: &mut dyn std::io::Write| file.write_all(table.text(&layout).as_bytes());
    plimsoll_support::files::write_atomically(Path::new(output), write)
        .map_err(|error| format!("Writing file {output} failed: {error}."))
}

fn solve(table: &Table, capacity: Bytes, flags: &Flags) -> Result<Outcome<Offsets>, String> {
    let registry = plimsoll::registry();
    let exact = registry.offsets.iter().find(|entry| entry.name == "exact").ok_or("no solver 'exact'")?;
    let target = (!flags.is_set("minimize_capacity", false)?).then_some(capacity);
    let limits = Limits { time: flags.timeout()?, target, ..Limits::default() };
    let instance = table.instance.clone().with_capacity(Some(capacity));
    run(exact, &instance, Setup::default(), limits, &mut Silent).map_err(|error| format!("INTERNAL: {error}"))
}

/// The flags of the command line, in the syntax of Abseil.
struct Flags<'a> {
    values: HashMap<&'a str, &'a str>,
}

impl<'a> Flags<'a> {
    /// Parses `--name=value`, `--name value`, `--switch` and `--noswitch`, each with one or two hyphens.
    /// Unknown flags are errors. Arguments without a hyphen are ignored, and so are all arguments after `--`.
    fn parse(arguments: &'a [String]) -> Result<Self, String> {
        let mut values = HashMap::new();
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(word) = rest.next().filter(|&word| word != "--") {
            let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) else { continue };
            let flag = flag.strip_prefix('-').unwrap_or(flag);
            let (name, value) =
                flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
            let is_switch = |name: &str| SWITCHES.iter().any(|(switch, _)| *switch == name);
            let negated = name.strip_prefix("no").filter(|name| is_switch(name) && value.is_none());
            if name == "help" {
                return Err(help());
            } else if let Some(name) = negated {
                values.insert(name, "false");
            } else if is_switch(name) {
                values.insert(name, value.unwrap_or("true"));
            } else if VALUES.iter().any(|(flag, _)| *flag == name) {
                let value = value.or_else(|| rest.next());
                let value = value.ok_or_else(|| format!("ERROR: Missing the value for the flag '{name}'"))?;
                values.insert(name, value);
            } else {
                return Err(format!("ERROR: Unknown command line flag '{name}'"));
            }
        }
        let flags = Self { values };
        for (switch, _) in SWITCHES {
            flags.is_set(switch, true)?;
        }
        if flags.is_set("print_solution", false)? {
            return Err("ERROR: --print_solution is not supported; use plimsoll solve --plot".to_owned());
        }
        Ok(flags)
    }

    fn text(&self, name: &str) -> &'a str {
        self.values.get(name).copied().unwrap_or_default()
    }

    fn illegal(&self, name: &str) -> String {
        format!("ERROR: Illegal value '{}' specified for flag '{name}'", self.text(name))
    }

    fn is_set(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.text(name).to_lowercase().as_str() {
            "" if !self.values.contains_key(name) => Ok(default),
            "true" | "t" | "yes" | "y" | "1" => Ok(true),
            "false" | "f" | "no" | "n" | "0" => Ok(false),
            _ => Err(self.illegal(name)),
        }
    }

    /// Returns the capacity in bytes. A negative capacity counts as 0.
    fn capacity(&self) -> Result<Bytes, String> {
        let capacity = self.values.get("capacity").map_or(Ok(0), |text| text.trim().parse::<i64>());
        let capacity = capacity.map_err(|_| self.illegal("capacity"))?;
        Ok(Bytes::new(u64::try_from(capacity).unwrap_or(0)))
    }

    /// Returns the time limit, or `None` for no limit.
    fn timeout(&self) -> Result<Option<Duration>, String> {
        match self.text("timeout") {
            "" | "inf" | "+inf" => Ok(None),
            text => duration(text).map(Some).ok_or_else(|| self.illegal("timeout")),
        }
    }
}

fn help() -> String {
    let mut text = "plimsoll-minimalloc: the flags of MiniMalloc, with the solvers of Plimsoll\n".to_owned();
    for (name, meaning) in VALUES.iter().chain(&SWITCHES) {
        let _ = writeln!(text, "    --{name} ({meaning})");
    }
    text
}

/// Parses a sequence of numbers with units, such as `1h30m` or `250ms`; `0` needs no unit.
fn duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        seconds += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// A problem file: its rows as text, and the problem.
struct Table {
    /// Per buffer, its row of the output without the offset.
    rows: Vec<String>,
    header: String,
    instance: Instance,
}

/// The fields of one row.
struct Row<'t> {
    id: &'t str,
    interval: (i64, i64),
    /// True if the end is open, so that the buffer is live until the last step of the file.
    is_open: bool,
    size: i64,
    alignment: i64,
    hint: i64,
    gaps: Vec<(i64, i64)>,
    offset: Option<i64>,
}

impl Table {
    /// Reads all rows up to the first empty line. Columns may have any order; unknown columns are ignored.
    fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().take_while(|line| !line.is_empty()).enumerate();
        let header = lines.next().map_or("", |(_, header)| header);
        let columns = Columns::read(header)?;
        let parsed: Result<Vec<Row>, String> = lines
            .map(|(at, line)| columns.row(line).map_err(|problem| format!("line {}: {problem}", at + 1)))
            .collect();
        let mut parsed = parsed?;
        let last = parsed.iter().map(Row::last).max().unwrap_or(0);
        parsed.iter_mut().filter(|row| row.is_open).for_each(|row| row.interval.1 = last);
        let points = |row: &Row| row.gaps.iter().chain([&row.interval]).map(|&(lower, _)| lower).min();
        let first = parsed.iter().filter_map(points).min().unwrap_or(0).min(0);
        let buffers: Result<Vec<Buffer>, String> =
            parsed.iter().enumerate().map(|(at, row)| row.buffer(at, first)).collect();
        let instance = InstanceBuilder::new("minimalloc").buffers(buffers?).build();
        let (aligned, hinted, gaps) = (
            parsed.iter().any(|row| row.alignment != 1),
            parsed.iter().any(|row| row.hint >= 0),
            parsed.iter().any(|row| !row.gaps.is_empty()),
        );
        let optional = [(aligned, "alignment"), (hinted, "hint"), (gaps, "gaps")];
        let optional = optional.iter().filter(|(shown, _)| *shown).map(|(_, name)| *name);
        let header: Vec<&str> = ["id", "lower", "upper", "size"].into_iter().chain(optional).collect();
        let rows = parsed.iter().map(|row| row.text(aligned, hinted, gaps)).collect();
        Ok(Self { rows, header: header.join(","), instance: instance.map_err(|error| error.to_string())? })
    }

    /// Returns the output file: the rows in the order of the input, with offsets in the last column.
    fn text(&self, layout: &Layout) -> String {
        let rows = self.rows.iter().zip(layout.offsets()).map(|(row, offset)| format!("{row},{offset}\n"));
        rows.fold(format!("{},offset\n", self.header), |text, row| text + &row)
    }
}

impl Row<'_> {
    /// Returns the first step after the lifespan. An open lifespan has at least one step after its start and
    /// after each of its gaps.
    fn last(&self) -> i64 {
        let start = self.gaps.iter().map(|gap| gap.1).chain([self.interval.0]).max().unwrap_or(0);
        if self.is_open { start.saturating_add(1) } else { self.interval.1 }
    }

    fn text(&self, aligned: bool, hinted: bool, gaps: bool) -> String {
        let (lower, upper) = self.interval;
        let mut text = format!("{},{lower},{upper},{}", self.id, self.size);
        if aligned {
            let _ = write!(text, ",{}", self.alignment);
        }
        if hinted {
            let _ = write!(text, ",{}", self.hint);
        }
        if gaps {
            let list: Vec<String> =
                self.gaps.iter().map(|(lower, upper)| format!("{lower}-{upper}")).collect();
            let _ = write!(text, ",{}", list.join(" "));
        }
        text
    }

    /// Returns the buffer. Ids may repeat, so the name of the buffer is the number of its row. Steps are
    /// counted from `first`.
    fn buffer(&self, at: usize, first: i64) -> Result<Buffer, String> {
        let wrong = |what: &str, value: i64| format!("buffer '{}': {what} {value}", self.id);
        let natural = |what: &str, value: i64| u64::try_from(value).map_err(|_| wrong(what, value));
        let step = |value: i64| natural("step", value.saturating_sub(first));
        let interval =
            |(lower, upper): (i64, i64)| Ok::<_, String>(Interval::new(step(lower)?, step(upper)?));
        let hull = interval(self.interval)?;
        let gaps: Result<Vec<Interval>, String> = self.gaps.iter().map(|&gap| interval(gap)).collect();
        let lifespan = if hull.is_empty() && hull.lower == hull.upper {
            Lifespan::empty_at(hull.lower)
        } else {
            let lifespan = Lifespan::with_gaps(hull, gaps?);
            lifespan.map_err(|error| format!("buffer '{}': {error}", self.id))?
        };
        // A buffer that is never live conflicts with no other buffer.
        let size = if lifespan.is_empty() { 0 } else { natural("size", self.size)? };
        let buffer = Buffer::new(at.to_string(), size, lifespan);
        let buffer = buffer.aligned(natural("alignment", self.alignment)?);
        match self.offset {
            Some(offset) => Ok(buffer.fixed_at(natural("offset", offset)?)),
            None => Ok(buffer),
        }
    }
}

/// The positions of the columns.
struct Columns {
    positions: HashMap<String, usize>,
    count: usize,
    /// The number added to the upper end of a lifespan: 1 if the file gives the last live step, and 0 if it
    /// gives the step after that.
    addend: i64,
}

impl Columns {
    fn read(header: &str) -> Result<Self, String> {
        let names: Vec<&str> = header.split(',').collect();
        let name = |name: &&str| match *name {
            "begin" | "start" => "lower".to_owned(),
            "buffer" | "buffer_id" => "id".to_owned(),
            "end" => "upper".to_owned(),
            other => other.to_owned(),
        };
        let positions: HashMap<String, usize> =
            names.iter().map(name).enumerate().map(|(at, name)| (name, at)).collect();
        if positions.len() != names.len() {
            return Err("two columns have the same name".to_owned());
        }
        if let Some(missing) =
            ["id", "lower", "upper", "size"].iter().find(|name| !positions.contains_key(**name))
        {
            return Err(format!("column '{missing}' is missing"));
        }
        Ok(Self { positions, count: names.len(), addend: i64::from(names.contains(&"end")) })
    }

    fn row<'t>(&self, line: &'t str) -> Result<Row<'t>, String> {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != self.count {
            return Err(format!("{} fields instead of {}", fields.len(), self.count));
        }
        let field = |name: &str| self.positions.get(name).map(|&at| fields[at]);
        let number = |name: &str, default: i64| match field(name) {
            Some(text) => integer(text).ok_or_else(|| format!("column '{name}': '{text}' is not an integer")),
            None => Ok(default),
        };
        let gap = |text: &str| {
            let ends =
                text.split_once('-').and_then(|(lower, upper)| Some((integer(lower)?, integer(upper)?)));
            let (lower, upper) = ends.ok_or_else(|| {
                let why = if text.contains('@') {
                    "memory used during a gap is not supported"
                } else {
                    "expected LOWER-UPPER"
                };
                format!("gap '{text}': {why}")
            })?;
            Ok::<_, String>((lower, upper.saturating_add(self.addend)))
        };
        let gaps = field("gaps").unwrap_or_default().split(' ').filter(|gap| !gap.trim().is_empty());
        let (lower, end) = (number("lower", 0)?, field("upper").unwrap_or_default().trim());
        // Steps may be negative, so -1 is an open end only after a non-negative start.
        let is_open = is_open(end) && (lower >= 0 || !end.starts_with('-'));
        let upper = if is_open { lower } else { number("upper", 0)?.saturating_add(self.addend) };
        Ok(Row {
            id: field("id").unwrap_or_default(),
            interval: (lower, upper),
            is_open,
            size: number("size", 0)?,
            alignment: number("alignment", 1)?,
            hint: number("hint", -1)?,
            gaps: gaps.map(gap).collect::<Result<_, _>>()?,
            offset: field("offset").is_some().then(|| number("offset", 0)).transpose()?,
        })
    }
}

fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("0"), Some(Duration::ZERO));
        for bad in ["5", "s", "1x", "-1s"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
