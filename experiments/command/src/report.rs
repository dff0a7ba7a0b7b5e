//! The report of a command: one JSON object, and its members as lines and tables of text.

use crate::failure::Failure;
use crate::output;
use plimsoll::arithmetic::Arithmetic;
use plimsoll::assumptions::Assumption;
use plimsoll::model::printable::printable_line;
use plimsoll::model::timelines::Time;
use plimsoll::model::{BufferId, Bytes, Instance, load};
use plimsoll_lab::report::table::{Align, Table, wrapped};
use plimsoll_lab::report::{Basis, human, percent};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::path::Path;

/// Width in columns of the names at the start of lines, including the blanks after them.
const LABEL: usize = 13;

/// Formats a number of bytes with its unit, followed by binary units if the number is long.
pub fn bytes(number: Bytes) -> String {
    human::exact(number.get())
}

/// Formats a number of bytes followed by `words`. A long number is repeated in binary units: `11 live bytes`,
/// `1310720 live bytes (1.25 MiB)`.
pub fn sized(number: Bytes, words: &str) -> String {
    human::sized(number.get(), words)
}

/// Formats a number of bytes without its unit, followed by binary units if the number is long.
pub fn size(number: Bytes) -> String {
    sized(number, "")
}

/// Appends `note` to `text` in parentheses. If `text` already ends in parentheses, the note is added inside
/// them.
pub fn noted(text: &str, note: &str) -> String {
    text.strip_suffix(')').map_or_else(|| format!("{text} ({note})"), |text| format!("{text}; {note})"))
}

/// Describes a capacity and, if it is in the name of a file, its origin.
pub fn capacity(limit: Bytes, from: Option<&str>) -> String {
    let limit = size(limit);
    match from.filter(|from| !from.starts_with("--")) {
        Some(from) => format!(", capacity {}", noted(&limit, from)),
        None => format!(", capacity {limit}"),
    }
}

/// Returns the number of buffers with fixed offsets.
pub fn pinned(instance: &Instance) -> usize {
    instance.buffers().iter().filter(|buffer| buffer.fixed().is_some()).count()
}

/// Describes how many buffers are pinned.
pub fn pins(pinned: usize, buffers: usize) -> String {
    format!("{pinned} of {} at fixed offsets", human::count(buffers, "buffer"))
}

/// Names at most `most` buffers with their sizes, and counts the others. Sizes are in bytes, without binary
/// units.
pub fn named(instance: &Instance, buffers: &[BufferId], most: usize) -> String {
    let one = |&id: &BufferId| {
        let buffer = instance.buffer(id);
        let unit = if buffer.size() == Bytes::new(1) { "byte" } else { "bytes" };
        format!("{} ({} {unit})", shortened(buffer.name()), buffer.size())
    };
    let mut names: Vec<String> = buffers.iter().take(most).map(one).collect();
    if buffers.len() > most {
        names.push(format!("and {} more", buffers.len() - most));
    }
    names.join(", ")
}

/// Shortens a name that is longer than half the output width to the part before its first semicolon. The
/// `TFLite` converter joins the names of fused operators with semicolons.
fn shortened(name: &str) -> String {
    match name.split_once(';') {
        Some((first, _)) if name.len() > output::width() / 2 => format!("{first};..."),
        _ => name.to_owned(),
    }
}

/// A JSON object and its text.
///
/// The name of a member determines its format. The suffix `_ps` marks a time, and `_percent` a percentage
/// with two decimals. A `claim` is marked if its `arithmetic` is floating point, and a `region` is followed
/// by its `name`. `chance` has three decimals, and `wasted` has none. `seconds` are shown in a suitable unit.
/// A list is shown as its length.
#[derive(Debug)]
pub struct Report {
    object: Value,
    /// The member `layout` as JSON, the last member of the object. Values would take several times its
    /// memory.
    layout: Option<String>,
    basis: Basis,
    text: String,
}

impl Report {
    /// Creates a report without lines.
    pub fn new(object: Value) -> Self {
        Self { object, layout: None, basis: Basis::default(), text: String::new() }
    }

    /// Creates a report on a graph. `basis` lists the assumptions behind its sizes. These assumptions come
    /// first in the text, and they follow the members of `object` in JSON.
    pub fn of_graph(object: Value, basis: &Basis) -> Self {
        let mut report = Self { object, layout: None, text: String::new(), basis: basis.clone() };
        report.extend(json!(basis));
        report.push(&basis.text());
        report
    }

    /// Adds members to the object.
    pub fn extend(&mut self, more: Value) {
        if let (Value::Object(object), Value::Object(more)) = (&mut self.object, more) {
            object.extend(more);
        }
    }

    /// Adds the members and the text of another report.
    pub fn append(&mut self, other: &Self) {
        self.extend(other.object.clone());
        self.text.push_str(&other.text);
    }

    /// Adds the text of another report.
    pub fn append_text(&mut self, other: &Self) {
        self.text.push_str(&other.text);
    }

    /// Returns the object without the text.
    pub fn into_object(self) -> Value {
        self.object
    }

    /// Adds a line. Long text continues on further lines. Line breaks, which may come from names in input
    /// files, are escaped.
    pub fn line(&mut self, name: &str, text: impl Display) {
        let mut name = name;
        for line in wrapped(&printable_line(&text.to_string()), output::width().saturating_sub(LABEL)) {
            let _ = writeln!(self.text, "{name:<12} {line}");
            name = "";
        }
    }

    /// Adds the assumptions on which the claims of the report rest.
    pub fn assuming(&mut self, assumptions: &[Assumption]) {
        let rows: Vec<Value> = assumptions
            .iter()
            .map(|assumption| json!({ "assumption": assumption, "text": assumption.to_string() }))
            .collect();
        self.extend(json!({ "assumptions": rows }));
        let list: Vec<String> = assumptions.iter().map(ToString::to_string).collect();
        self.line("assuming", list.join(", "));
    }

    /// Adds a line whose text contains placeholders for members. The placeholder of a size also contains the
    /// words that follow the size, as in `{peak live bytes}`. The placeholder of a count contains its noun,
    /// as in `{operators operator}`. Text from input files must be a member, because it may contain braces.
    pub fn show(&mut self, name: &str, text: &str) {
        let shown = |key: &str| match key.find(' ') {
            Some(end) => {
                let (key, words) = key.split_at(end);
                match self.member(&self.object, key) {
                    Value::Array(list) => human::count(list.len(), words.trim_start()),
                    number => number.as_u64().map_or_else(
                        || format!("-{words}"),
                        |number| {
                            if words.ends_with("bytes") {
                                human::sized(number, words)
                            } else {
                                human::count(number, words.trim_start())
                            }
                        },
                    ),
                }
            }
            None => self.cell(&self.object, key),
        };
        let parts = text.split('{').map(|part| match part.split_once('}') {
            Some((key, rest)) => shown(key) + rest,
            None => part.to_owned(),
        });
        let line: String = parts.collect();
        self.line(name, line);
    }

    /// Adds the lines about an instance: its number of buffers, load and capacity, and the number of pinned
    /// buffers. `capacity_from` is the origin of the capacity.
    pub fn instance(&mut self, instance: &Instance, capacity_from: Option<&str>) {
        let (name, buffers, load) = (instance.name(), instance.len(), load(instance).0);
        // With exclusions, the load may exceed the peak.
        let note = if instance.exclusions().is_empty() { "" } else { " (not a bound, due to exclusions)" };
        let limit = instance.capacity().map_or_else(String::new, |limit| capacity(limit, capacity_from));
        let load = size(load);
        let counted = human::count(buffers, "buffer");
        self.line("instance", format_args!("{name}: {counted}, load {load}{note}{limit}"));
        let pinned = pinned(instance);
        if pinned > 0 {
            self.line("pinned", pins(pinned, buffers));
        }
        let groups = instance.groups().all();
        if !groups.is_empty() {
            let members: usize = groups.iter().map(|group| group.members().len()).sum();
            let (groups, members) = (human::count(groups.len(), "group"), human::count(members, "buffer"));
            self.line("rigid", format_args!("{groups} of {members} at given distances"));
        }
        self.extend(
            json!({ "pinned": pinned, "rigid_groups": groups.len(), "capacity_from": capacity_from }),
        );
    }

    /// Adds a line that states how a file is read in which every buffer has an offset.
    pub fn plan(&mut self, instance: &Instance) {
        let is_plan = pinned(instance) == 0;
        if is_plan {
            self.line("offsets", "read as a plan, because every buffer has one; they fix nothing");
        }
        self.extend(json!({ "plan_in_file": is_plan }));
    }

    /// Returns the value of a member that is a count.
    pub fn count(&self, key: &str) -> u64 {
        self.member(&self.object, key).as_u64().unwrap_or_default()
    }

    /// Adds a line with the gap in percent, if there is one.
    pub fn gap(&mut self, gap: Option<f64>) {
        if let Some(gap) = gap {
            self.line("gap", format_args!("{} %", percent(gap)));
        }
    }

    /// Adds one line for each of these members, in the format that all reports share. Null members are
    /// skipped.
    pub fn lines(&mut self, keys: &[&str]) {
        for &key in keys {
            let (name, text) = match (key, self.member(&self.object, key)) {
                (_, Value::Null) => continue,
                ("claim", claim) => {
                    let claim = claim.as_str().and_then(|claim| claim.parse().ok());
                    (key, claim.map_or_else(String::new, |claim| self.basis.claim(claim)))
                }
                ("seconds", seconds) => {
                    let nodes = self.object.get("nodes").and_then(Value::as_u64);
                    let time = human::seconds(seconds.as_f64().unwrap_or_default());
                    let nodes = nodes.map(|nodes| format!(", {}", human::count(nodes, "node")));
                    ("time", time + &nodes.unwrap_or_default())
                }
                _ => (key, self.cell(&self.object, key)),
            };
            self.line(name, text);
        }
    }

    /// Adds the lines for memory without sharing and for weights.
    pub fn unshared(&mut self, naive: Bytes, arena: Bytes) {
        let times = naive.get() as f64 / arena.get().max(1) as f64;
        self.line("naive", format_args!("{}, {times:.2} times the arena", bytes(naive)));
        self.show("weights", "{weights bytes}");
    }

    /// Adds paragraphs, whose lines wrap.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(&output::filled(text));
    }

    /// Adds text unchanged.
    pub fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a table after a blank line. `columns` lists members of the rows; members that the rows lack are
    /// taken from the report. If a heading differs from the name of its member, it is written before that
    /// name: `bound = lower_bound, claim`. A table that is too wide omits the column `kind`.
    pub fn table(&mut self, rows: &[Value], columns: &str) {
        let columns: Vec<(&str, &str)> =
            columns.split(", ").map(|column| column.split_once(" = ").unwrap_or((column, column))).collect();
        let align = |key| match rows.iter().map(|row| self.member(row, key)).find(|one| !one.is_null()) {
            Some(Value::String(_)) => Align::Left,
            Some(_) if key == "region" => Align::Left,
            _ => Align::Right,
        };
        let mut table = Table::new(columns.iter().map(|(heading, key)| (*heading, align(key))));
        for row in rows {
            table.row(columns.iter().map(|(_, key)| self.cell(row, key)));
        }
        if !table.fits(output::width()) {
            table = table.without("kind");
        }
        let blank = if self.text.is_empty() { "" } else { "\n" };
        let _ = write!(self.text, "{blank}{}", table.text_within(output::width()));
    }

    /// Writes rows as a CSV file. `columns` lists members of the rows; members that the rows lack are taken
    /// from the report.
    pub fn write_rows(&self, path: &Path, rows: &[Value], columns: &str) -> Result<(), Failure> {
        let columns: Vec<&str> = columns.split(", ").collect();
        let field = |row, key| match self.member(row, key) {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => {
                let digits = if key == "seconds" { 6 } else { 4 };
                format!("{:.digits$}", number.as_f64().unwrap_or_default())
            }
            other => other.to_string(),
        };
        output::write_file(path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record(&columns)?;
            for row in rows {
                writer.write_record(columns.iter().map(|key| field(row, key)))?;
            }
            writer.flush()
        })
    }

    /// Adds the member `layout`: the rows of the CSV file that `write` writes, or null if `write` is `None`.
    /// Whole numbers become JSON numbers, except in the column `id`, which stays text. Empty fields become
    /// null. A failure is [late](output::late).
    pub fn layout(&mut self, write: Option<impl FnOnce(&mut dyn Write) -> io::Result<()>>) {
        let rows = write.and_then(|write| output::late(rows_of(write).map_err(Failure::input)));
        self.layout = Some(rows.unwrap_or_else(|| "null".to_owned()));
    }

    /// Writes the object as a JSON file.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        output::write_file(path, |file| writeln!(file, "{:#}", self.object))
    }

    /// Prints the object or the text.
    pub fn print(&self, is_json: bool) -> Result<(), Failure> {
        if !is_json {
            return output::print(&self.text);
        }
        let Some(layout) = &self.layout else { return output::print_json(&self.object) };
        let object = self.object.to_string();
        let members = object.strip_suffix('}').unwrap_or(&object);
        output::print_json_text(&format!("{members},\"layout\":{layout}}}"))
    }

    fn member<'a>(&'a self, row: &'a Value, key: &str) -> &'a Value {
        let member = row.get(key).or_else(|| self.object.get(key));
        debug_assert!(member.is_some(), "no member '{key}'");
        member.unwrap_or(&Value::Null)
    }

    fn cell(&self, row: &Value, key: &str) -> String {
        match self.member(row, key) {
            Value::Null => "-".to_owned(),
            Value::String(claim) if key == "claim" => {
                let arithmetic = Arithmetic::deserialize(self.member(row, "arithmetic")).unwrap_or_default();
                claim.parse().map_or_else(|_| claim.clone(), |claim| arithmetic.mark(claim))
            }
            Value::String(text) => printable_line(text).into_owned(),
            Value::Array(list) => list.len().to_string(),
            number if key == "region" => {
                format!("{number}:{}", printable_line(row["name"].as_str().unwrap_or_default()))
            }
            number if key.ends_with("_ps") => match number.as_i64() {
                Some(time @ ..0) => format!("-{}", Time::new(time.unsigned_abs())),
                _ => Time::new(number.as_u64().unwrap_or_default()).to_string(),
            },
            number if key == "chance" => format!("{:.3}", number.as_f64().unwrap_or_default()),
            number if key == "seconds" => human::seconds(number.as_f64().unwrap_or_default()),
            number if key == "wasted" => format!("{:.0}", number.as_f64().unwrap_or_default()),
            number if key.ends_with("_percent") => percent(number.as_f64().unwrap_or_default()),
            other => other.to_string(),
        }
    }
}

/// Converts the rows of a CSV file to a JSON list of objects.
fn rows_of(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    let mut text = Vec::new();
    write(&mut text)?;
    let mut reader = csv::Reader::from_reader(text.as_slice());
    let columns = reader.headers()?.clone();
    let mut json = String::from("[");
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        json.push_str(if json.len() > 1 { ",{" } else { "{" });
        for (at, (column, cell)) in columns.iter().zip(&record).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let value = match cell.parse::<i64>() {
                Ok(number) if column != "id" => number.to_string(),
                _ if cell.is_empty() => "null".to_owned(),
                _ => json!(cell).to_string(),
            };
            let _ = write!(json, "{comma}{}:{value}", json!(column));
        }
        json.push('}');
    }
    json.push(']');
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_formatted_by_name() {
        let rows = [
            json!({ "region": 0, "name": "body", "time_ps": 1_500, "over_percent": 0.001, "claim": "optimal" }),
            json!({ "region": 1, "name": "a, b", "time_ps": -2, "over_percent": null, "claim": "feasible" }),
        ];
        let object = json!({
            "graph": "{net}", "peak": 7, "weights": 1_310_720, "arithmetic": "floating-point", "stop": null, "seconds": 1.23456,
            "nodes": 3, "operators": 1, "regions": rows,
        });
        let mut basis = Basis::default();
        basis.assumed.push("a line".to_owned());
        let mut report = Report::of_graph(object, &basis);
        report.show("graph", "{graph}: {peak bytes} in {regions region}");
        report.show("weights", "{weights live bytes}");
        report.show("counts", "{operators operator}, {nodes node}");
        report.lines(&["stop", "seconds"]);
        report.gap(Some(12.5));
        report.table(&rows, "region, time = time_ps, over % = over_percent, claim");
        let text = "assumed      a line\ngraph        {net}: 7 bytes in 2 regions\n\
            weights      1310720 live bytes (1.25 MiB)\n\
            counts       1 operator, 3 nodes\ntime         1.23 s, 3 nodes\n\
            gap          12.50 %\n\n\
            region      time  over %  claim\n\
            ------  --------  ------  ------------------------\n\
            0:body  1.500 ns   <0.01  optimal (floating point)\n\
            1:a, b     -2 ps       -  feasible\n";
        assert_eq!(report.text, text);
        assert!(report.object.to_string().ends_with(r#"}],"assumed":["a line"]}"#));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        report.write_rows(&path, &rows, "graph, name, over_percent, seconds").unwrap();
        let file = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            file,
            "graph,name,over_percent,seconds\n{net},body,0.0010,1.234560\n{net},\"a, b\",,1.234560\n"
        );
    }
}
