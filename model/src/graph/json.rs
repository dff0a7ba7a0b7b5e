//! Graphs as JSON, schema version 1.
//!
//! ```json
//! { "format": "plimsoll-graph", "version": 1, "name": "tiny",
//!   "tensors": [
//!     { "name": "x", "bytes": 4, "role": "input", "element": "float32", "shape": [1] },
//!     { "name": "y", "bytes": 8, "role": "output" } ],
//!   "body": {
//!     "inputs": ["x"], "outputs": ["y"],
//!     "operators": [
//!       { "name": "relu", "kind": "Relu", "inputs": ["x"], "outputs": ["y"],
//!         "aliases": [ { "input": "x", "output": "y", "kind": "in-place" } ] } ] } }
//! ```
//!
//! | member | meaning | default |
//! |---|---|---|
//! | `tensors[].name` | unique, not empty | |
//! | `tensors[].bytes` | size in bytes | |
//! | `tensors[].role` | `activation`, `weight`, `input`, `output`, `state` | `activation` |
//! | `tensors[].element`, `.shape` | element type, extents | unknown |
//! | `body`, `operators[].regions[]` | regions, with `name`, `inputs`, `outputs`, `operators` | |
//! | `operators[].inputs`, `.outputs` | names of tensors | none |
//! | `operators[].aliases[]` | outputs that may share the memory of an input: `view`, `part` or `in-place` | none |
//! | `operators[].aliases[].offset` | byte at which the smaller tensor begins in the larger one | see below |
//! | `operators[].scratch` | bytes that the operator needs only while it runs | 0 |
//! | `operators[].unit` | processing unit | unknown |
//! | `operators[].control` | control flow of its regions: `branch`, `loop`, `call` | derived from the kind |
//! | `operators[].handovers[]` | tensors copied into and out of its regions (see below) | derived from positions |
//! | `operators[].cost` | multiply-accumulates; elementary operations if the operator has none | unknown |
//!
//! | `segments[]` | memory with fixed addresses: `name`, `bytes`, and `tensors[]` with `tensor` and `offset` | none |
//!
//! A handover has the members `when` (`"enter"`, `{"begin": 0}`, `{"end": 0}` or `"exit"`), `from`, `to` and
//! `part`.
//!
//! If `offset` is missing, tensors of equal size have the offset 0. If the inputs aliased to one output, in
//! the order of the list, are together as large as the output, each begins where the one before it ends. The
//! same holds for the outputs aliased to one input. In all other cases, `offset` is required.
//!
//! Unknown members are rejected, so that misspelt names are noticed.

use super::{
    Alias, AliasKind, Control, Graph, GraphBuilder, GraphError, Handover, Moment, Operator, Role, Segment,
    Tensor,
};
use crate::json::json_from_reader;
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use crate::words::json_error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The value of the member `format`.
pub const FORMAT: &str = "plimsoll-graph";

/// The only schema version that this build reads and writes.
pub const VERSION: u32 = 1;

/// The reason why a file does not contain a graph.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum GraphFileError {
    /// The file is not valid JSON, or does not match the schema.
    #[error("{path}: {}", json_error(.source), path = .path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    /// The file has another format, or a version that this build does not support.
    #[error(
        "{path}: format '{format}' version {version} is not supported; expected '{FORMAT}' version {VERSION}",
        path = .path.display()
    )]
    Version { path: PathBuf, format: String, version: u32 },
    #[error("{path}: {what} refers to tensor '{tensor}', which is not in `tensors`", path = .path.display())]
    Unknown { path: PathBuf, what: String, tensor: String },
    /// The name of the tensor is empty or occurs twice.
    #[error("{path}: tensor {at} has the name '{tensor}', which is empty or belongs to an earlier tensor", path = .path.display())]
    Name {
        path: PathBuf,
        /// The index in `tensors`, counted from 0.
        at: usize,
        tensor: String,
    },
    /// The alias does not state where the smaller tensor begins in the larger one, or how many bytes before
    /// its input an output of another size begins.
    #[error("{path}: {operator} aliases '{part}' ({part_bytes} bytes) and '{whole}' ({whole_bytes} bytes): {expected} as `offset`", path = .path.display(), expected = expected(*.kind))]
    Offset {
        path: PathBuf,
        operator: String,
        part: String,
        part_bytes: Bytes,
        whole: String,
        whole_bytes: Bytes,
        kind: AliasKind,
    },
    #[error("{path}: {source}", path = .path.display())]
    Graph { path: PathBuf, source: Box<GraphError> },
}

/// Returns what a file must state about an alias of this kind.
fn expected(kind: AliasKind) -> &'static str {
    match kind {
        AliasKind::InPlace => "state how many bytes before its input the output begins",
        AliasKind::View | AliasKind::Part => {
            "state the byte at which the smaller one begins in the larger one"
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    name: String,
    tensors: Vec<TensorRow>,
    body: RegionRow,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    segments: Vec<SegmentRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentRow {
    name: String,
    bytes: u64,
    tensors: Vec<FixedRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FixedRow {
    tensor: String,
    offset: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorRow {
    name: String,
    bytes: u64,
    #[serde(default = "activation")]
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    element: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
}

fn activation() -> Role {
    Role::Activation
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegionRow {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    operators: Vec<OperatorRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorRow {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    kind: String,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<AliasRow>,
    #[serde(default, skip_serializing_if = "is_zero")]
    scratch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    control: Option<Control>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handovers: Option<Vec<HandoverRow>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoverRow {
    when: Moment,
    from: String,
    to: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    part: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AliasRow {
    input: String,
    output: String,
    kind: AliasKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
}

/// Reads a graph. `origin` is the file name used in messages.
///
/// A graph written by [`write_graph`] is read back unchanged, except that operators may be renumbered: each
/// operator is followed by the operators of its regions.
///
/// # Errors
/// The first [`GraphFileError`] found. JSON nested more than 127 levels deep is rejected.
pub fn read_graph(origin: &Path, input: impl Read) -> Result<Graph, GraphFileError> {
    let path = || origin.to_path_buf();
    let file: File = json_from_reader(io::BufReader::new(input))
        .map_err(|source| GraphFileError::Json { path: path(), source })?;
    if file.format != FORMAT || file.version != VERSION {
        let (format, version) = (file.format, file.version);
        return Err(GraphFileError::Version { path: path(), format, version });
    }
    let mut reader = Reader { origin, graph: GraphBuilder::new(file.name), tensors: HashMap::new() };
    for (at, row) in file.tensors.into_iter().enumerate() {
        let mut tensor = Tensor::new(row.name.clone(), row.bytes, row.role);
        (tensor.element, tensor.shape) = (row.element, row.shape);
        let id = reader.graph.tensor(tensor);
        if row.name.is_empty() || reader.tensors.insert(row.name.clone(), id).is_some() {
            return Err(GraphFileError::Name { path: path(), at, tensor: row.name });
        }
    }
    let body = reader.graph.body();
    reader.region(body, &file.body)?;
    file.segments.iter().try_for_each(|row| reader.segment(row))?;
    reader.graph.build().map_err(|source| GraphFileError::Graph { path: path(), source: Box::new(source) })
}

struct Reader<'a> {
    origin: &'a Path,
    graph: GraphBuilder,
    tensors: HashMap<String, TensorId>,
}

impl Reader<'_> {
    /// Reads a region and the regions nested inside it. The JSON parser limits the depth of the recursion.
    fn region(&mut self, region: RegionId, row: &RegionRow) -> Result<(), GraphFileError> {
        let what = || format!("region '{}'", row.name);
        let inputs = self.find(&what, &row.inputs)?;
        let outputs = self.find(&what, &row.outputs)?;
        self.graph.interface(region, inputs, outputs);
        for row in &row.operators {
            let what = || format!("operator '{}' ({})", row.name, row.kind);
            let mut operator = Operator::new(row.name.clone(), row.kind.clone())
                .reads(self.find(&what, &row.inputs)?)
                .makes(self.find(&what, &row.outputs)?);
            operator.aliases = self.aliases(&what, &row.aliases)?;
            operator.scratch = Bytes::new(row.scratch);
            operator.unit.clone_from(&row.unit);
            operator.cost = row.cost;
            operator.control = row.control;
            if let Some(rows) = &row.handovers {
                operator.handovers = Some(self.handovers(&what, rows)?);
            }
            let id = self.graph.operator(region, operator);
            for row in &row.regions {
                let inner = self.graph.region(id, row.name.clone());
                self.region(inner, row)?;
            }
        }
        Ok(())
    }

    fn aliases(&self, what: &dyn Fn() -> String, rows: &[AliasRow]) -> Result<Vec<Alias>, GraphFileError> {
        let mut aliases = Vec::with_capacity(rows.len());
        for row in rows {
            let pair = self.find(what, &[row.input.clone(), row.output.clone()])?;
            let offset = Bytes::new(row.offset.unwrap_or(0));
            aliases.push(Alias { input: pair[0], output: pair[1], kind: row.kind, offset });
        }
        let bytes = |id: TensorId| self.graph.get(id).bytes;
        // The aliases without the offsets that they need, by the larger tensor.
        let mut parts: BTreeMap<TensorId, Vec<(usize, TensorId)>> = BTreeMap::new();
        for (at, alias) in aliases.iter().enumerate() {
            let (input, output) = (bytes(alias.input), bytes(alias.output));
            if rows[at].offset.is_some() || input == output || input.min(output) == Bytes::ZERO {
                continue;
            }
            let (whole, part) =
                if output < input { (alias.input, alias.output) } else { (alias.output, alias.input) };
            if alias.kind == AliasKind::InPlace {
                return Err(self.no_offset(what(), part, whole, alias.kind));
            }
            parts.entry(whole).or_default().push((at, part));
        }
        for (whole, parts) in parts {
            let mut next = Bytes::ZERO;
            for &(at, part) in &parts {
                aliases[at].offset = next;
                next = next.checked_add(bytes(part)).unwrap_or(Bytes::new(u64::MAX));
            }
            if next != bytes(whole) {
                return Err(self.no_offset(what(), parts[0].1, whole, AliasKind::View));
            }
        }
        Ok(aliases)
    }

    fn no_offset(
        &self,
        operator: String,
        part: TensorId,
        whole: TensorId,
        kind: AliasKind,
    ) -> GraphFileError {
        let [part, whole] = [part, whole].map(|id| self.graph.get(id));
        GraphFileError::Offset {
            path: self.origin.to_path_buf(),
            operator,
            part: part.name.clone(),
            part_bytes: part.bytes,
            whole: whole.name.clone(),
            whole_bytes: whole.bytes,
            kind,
        }
    }

    fn segment(&mut self, row: &SegmentRow) -> Result<(), GraphFileError> {
        let what = || format!("segment '{}'", row.name);
        let names: Vec<String> = row.tensors.iter().map(|one| one.tensor.clone()).collect();
        let offsets = row.tensors.iter().map(|one| Bytes::new(one.offset));
        let tensors = self.find(&what, &names)?.into_iter().zip(offsets).collect();
        self.graph.segment(Segment { name: row.name.clone(), bytes: Bytes::new(row.bytes), tensors });
        Ok(())
    }

    fn handovers(
        &self,
        what: &dyn Fn() -> String,
        rows: &[HandoverRow],
    ) -> Result<Vec<Handover>, GraphFileError> {
        let handover = |row: &HandoverRow| {
            let pair = self.find(what, &[row.from.clone(), row.to.clone()])?;
            Ok(Handover { when: row.when, from: pair[0], to: pair[1], part: row.part })
        };
        rows.iter().map(handover).collect()
    }

    fn find(&self, what: &dyn Fn() -> String, names: &[String]) -> Result<Vec<TensorId>, GraphFileError> {
        let find = |name: &String| {
            self.tensors.get(name).copied().ok_or_else(|| GraphFileError::Unknown {
                path: self.origin.to_path_buf(),
                what: what(),
                tensor: name.clone(),
            })
        };
        names.iter().map(find).collect()
    }
}

/// Writes a graph as JSON.
///
/// # Errors
/// Any error from the writer.
pub fn write_graph(graph: &Graph, output: &mut dyn Write) -> io::Result<()> {
    let row = |tensor: &Tensor| TensorRow {
        name: tensor.name.clone(),
        bytes: tensor.bytes.get(),
        role: tensor.role,
        element: tensor.element.clone(),
        shape: tensor.shape.clone(),
    };
    let fixed = |&(id, offset): &(TensorId, Bytes)| FixedRow {
        tensor: graph.tensor(id).name.clone(),
        offset: offset.get(),
    };
    let segment = |one: &Segment| SegmentRow {
        name: one.name.clone(),
        bytes: one.bytes.get(),
        tensors: one.tensors.iter().map(fixed).collect(),
    };
    let file = File {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: graph.name().to_owned(),
        tensors: graph.tensors().iter().map(row).collect(),
        body: region_row(graph, Graph::BODY),
        segments: graph.segments().iter().map(segment).collect(),
    };
    serde_json::to_writer_pretty(&mut *output, &file)?;
    writeln!(output)
}

fn region_row(graph: &Graph, id: RegionId) -> RegionRow {
    let names = |ids: &[TensorId]| ids.iter().map(|&id| graph.tensor(id).name.clone()).collect();
    let region = graph.region(id);
    RegionRow {
        name: region.name.clone(),
        inputs: names(&region.inputs),
        outputs: names(&region.outputs),
        operators: region.operators.iter().map(|&id| operator_row(graph, id)).collect(),
    }
}

fn operator_row(graph: &Graph, id: OperatorId) -> OperatorRow {
    let name = |id: TensorId| graph.tensor(id).name.clone();
    let operator = graph.operator(id);
    let alias = |alias: &Alias| AliasRow {
        input: name(alias.input),
        output: name(alias.output),
        kind: alias.kind,
        offset: (alias.offset > Bytes::ZERO
            || graph.tensor(alias.input).bytes != graph.tensor(alias.output).bytes)
            .then_some(alias.offset.get()),
    };
    let handover = |handover: &Handover| HandoverRow {
        when: handover.when,
        from: name(handover.from),
        to: name(handover.to),
        part: handover.part,
    };
    OperatorRow {
        name: operator.name.clone(),
        kind: operator.kind.clone(),
        inputs: operator.inputs.iter().copied().map(name).collect(),
        outputs: operator.outputs.iter().copied().map(name).collect(),
        aliases: operator.aliases.iter().map(alias).collect(),
        scratch: operator.scratch.get(),
        unit: operator.unit.clone(),
        cost: operator.cost,
        control: operator.control,
        handovers: operator.handovers.as_ref().map(|list| list.iter().map(handover).collect()),
        regions: operator.regions.iter().map(|&id| region_row(graph, id)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "tiny",
        "tensors": [ { "name": "c", "bytes": 1, "role": "input" }, { "name": "x", "bytes": 4, "role": "input" },
                     { "name": "w", "bytes": 9, "role": "weight", "element": "int8", "shape": [3, 3] },
                     { "name": "y", "bytes": 8, "role": "output" }, { "name": "z", "bytes": 8 } ],
        "body": { "inputs": ["c", "x"], "outputs": ["y"], "operators": [
            { "name": "choose", "kind": "If", "inputs": ["c"], "outputs": ["y"], "regions": [
                { "name": "then", "outputs": ["z"], "operators": [
                    { "kind": "Conv", "inputs": ["x", "w"], "outputs": ["z"], "scratch": 2, "cost": 36 } ] },
                { "name": "else", "outputs": ["x"], "operators": [] } ] } ] },
        "segments": [ { "name": "npu", "bytes": 12, "tensors": [ { "tensor": "z", "offset": 3 } ] } ] }"#;

    fn read(text: &str) -> Result<Graph, String> {
        read_graph(Path::new("g.json"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn written_graphs_are_read_back() {
        let graph = read(TINY).unwrap();
        let choose = OperatorId::new(0);
        assert_eq!(graph.weight_bytes(choose).get(), 9);
        assert_eq!(graph.regions().len(), 3);
        let mut text = Vec::new();
        write_graph(&graph, &mut text).unwrap();
        assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap(), graph);
        let mut dot = Vec::new();
        super::super::write_dot(&graph, &mut dot).unwrap();
        assert!(String::from_utf8(dot).unwrap().contains("subgraph cluster_1 { label=\"then\";"));
    }

    /// Returns a graph in which `cut` and `cat` have the given aliases. `cut` reads t (60 bytes) and makes a
    /// (20) and b (40). `cat` reads a and c (15) and makes d (35).
    fn views(cut: &str, cat: &str) -> Result<Vec<(String, u64)>, String> {
        let graph = read(&format!(
            r#"{{ "format": "plimsoll-graph", "version": 1, "name": "views", "tensors": [
                {{ "name": "t", "bytes": 60, "role": "input" }}, {{ "name": "a", "bytes": 20 }},
                {{ "name": "b", "bytes": 40 }}, {{ "name": "c", "bytes": 15, "role": "input" }},
                {{ "name": "d", "bytes": 35, "role": "output" }} ],
              "body": {{ "inputs": ["t", "c"], "outputs": ["d"], "operators": [
                {{ "name": "cut", "kind": "Split", "inputs": ["t"], "outputs": ["a", "b"], "aliases": [{cut}] }},
                {{ "name": "cat", "kind": "Concat", "inputs": ["a", "c"], "outputs": ["d"], "aliases": [{cat}] }}
              ] }} }}"#
        ))?;
        let mut text = Vec::new();
        write_graph(&graph, &mut text).unwrap();
        assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap(), graph);
        let aliases = graph.operators().iter().flat_map(|operator| &operator.aliases);
        let show = |alias: &Alias| {
            let name = |id: TensorId| graph.tensor(id).name.as_str();
            (format!("{}{}", name(alias.input), name(alias.output)), alias.offset.get())
        };
        Ok(aliases.map(show).collect())
    }

    #[test]
    fn offsets_of_views_are_stated_or_follow_from_sizes() {
        let alias = |input: &str, output: &str, more: &str| {
            format!(r#"{{ "input": "{input}", "output": "{output}", "kind": "view"{more} }}"#)
        };
        let (ta, tb) = (alias("t", "a", ""), alias("t", "b", ""));
        let (ad, cd) = (alias("a", "d", ""), alias("c", "d", ""));
        let pair = |name: &str, offset| (name.to_owned(), offset);
        let found = views(&format!("{ta}, {tb}"), &format!("{ad}, {cd}")).unwrap();
        assert_eq!(found, [pair("ta", 0), pair("tb", 20), pair("ad", 0), pair("cd", 20)]);
        // The order of the list counts.
        let found = views(&format!("{tb}, {ta}"), "").unwrap();
        assert_eq!(found, [pair("tb", 0), pair("ta", 40)]);
        let found = views(&alias("t", "b", r#", "offset": 7"#), "").unwrap();
        assert_eq!(found, [pair("tb", 7)]);
        let error = views(&tb, "").unwrap_err();
        assert_eq!(
            error,
            "g.json: operator 'cut' (Split) aliases 'b' (40 bytes) and 't' (60 bytes): state the byte at which the smaller one begins in the larger one as `offset`"
        );
        let place = |alias: String| alias.replace("view", "in-place");
        let error = views(&place(tb), "").unwrap_err();
        assert!(error.contains("how many bytes before its input the output begins as `offset`"), "{error}");
        let found = views(&place(alias("t", "b", r#", "offset": 39"#)), "").unwrap();
        assert_eq!(found, [pair("tb", 39)]);
        let error = views(&place(alias("t", "b", r#", "offset": 40"#)), "").unwrap_err();
        assert!(error.contains("at byte 40") && error.contains("no bytes in common"), "{error}");
        let error = views(&alias("t", "b", r#", "offset": 21"#), "").unwrap_err();
        assert!(error.contains("at byte 21: the smaller one ends after the larger one"), "{error}");
        let at = |input: &str, offset: u64| alias(input, "d", &format!(r#", "offset": {offset}"#));
        let error = views("", &format!("{}, {}", at("a", 10), at("c", 0))).unwrap_err();
        assert!(error.contains("declares 'c' and 'a' as views in 'd', but both cannot lie there"), "{error}");
        let error = views("", &format!("{}, {}", at("a", 0), at("a", 15))).unwrap_err();
        assert!(error.contains("declares 'a' and 'a' as views in 'd'"), "{error}");
    }

    #[test]
    fn typing_errors_are_rejected() {
        let swap = |from: &str, to: &str| read(&TINY.replacen(from, to, 1)).unwrap_err();
        assert_eq!(
            swap("\"version\": 1", "\"version\": 2"),
            "g.json: format 'plimsoll-graph' version 2 is not supported; expected 'plimsoll-graph' version 1"
        );
        assert!(swap("\"inputs\": [\"c\"]", "\"inputs\": [\"d\"]").contains("refers to tensor 'd'"));
        assert!(swap("\"scratch\"", "\"scrach\"").contains("unknown member 'scrach'"));
        assert!(swap("\"name\": \"z\"", "\"name\": \"y\"").contains("tensor 4 has the name 'y'"));
        assert!(swap("\"bytes\": 4", "\"bytes\": -4").contains("line 2"));
    }
}
