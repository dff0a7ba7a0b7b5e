//! The placement of every tensor, for `--tensors` and `--format`.

use crate::commands::header::{Header, Row};
use crate::failure::Failure;
use crate::format::{self, Format};
use crate::output;
use clap::ValueEnum;
use plimsoll::datasets::Import;
use plimsoll::graphs::OrderedRegion;
use plimsoll::model::graph::{Graph, Member, Outer};
use plimsoll::model::{Bytes, OperatorId, RegionId};
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The format in which the placement is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlacesFormat {
    /// One row per tensor
    Csv,
    /// One object, with the tensors and with the operators in their new order
    Json,
    /// Macros for sizes, offsets and the alignment, and arrays of tensors and operators, in C99
    CHeader,
}

impl PlacesFormat {
    fn format(self) -> Format {
        match self {
            Self::Csv => format::CSV,
            Self::Json => format::JSON,
            Self::CHeader => format::HEADER,
        }
    }
}

/// Returns the file of the placement and its format, or `None` if neither `--tensors` nor `--format` is
/// given.
///
/// # Errors
/// Fails if the suffix of the file belongs to another format.
pub fn target(
    tensors: Option<&PathBuf>,
    format: Option<PlacesFormat>,
) -> Result<Option<(PathBuf, PlacesFormat)>, Failure> {
    let Some(path) = tensors else {
        return Ok(format.map(|format| (PathBuf::from("-"), format)));
    };
    let of_suffix = || match path.extension().map(|suffix| suffix.to_string_lossy().to_lowercase()) {
        Some(suffix) if suffix == "json" => PlacesFormat::Json,
        Some(suffix) if suffix == "h" => PlacesFormat::CHeader,
        _ => PlacesFormat::Csv,
    };
    let format = format.unwrap_or_else(of_suffix);
    output::check_format("--tensors", path, format.format())?;
    Ok(Some((path.clone(), format)))
}

/// Memory in the arena: a tensor, or the scratch memory of an operator.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// Number and name of the region.
    region: String,
    tensor: String,
    bytes: Bytes,
    offset: Bytes,
    /// The first step at which the memory is live.
    lower: u64,
    /// The step after the last step at which the memory is live.
    upper: u64,
    /// The tensor whose memory this tensor shares, or an empty string.
    shares: String,
    /// Index of the tensor in the `TFLite` file or, for other inputs, in the graph. `None` for
    /// scratch memory.
    index: Option<usize>,
    /// Position of the operator that writes the memory in the new order of the region. `None` for inputs.
    operator: Option<usize>,
}

impl Place {
    /// Returns the index of the tensor in its file.
    pub fn index(&self) -> Option<usize> {
        self.index
    }

    /// Returns true if both tensors have the same memory.
    pub fn shares_with(&self, other: &Self) -> bool {
        let memory = |one: &Self| {
            let name = if one.shares.is_empty() { &one.tensor } else { &one.shares };
            (name.clone(), one.offset, one.lower, one.upper)
        };
        memory(self) == memory(other)
    }

    /// Returns the offset in the arena.
    pub fn offset(&self) -> Bytes {
        self.offset
    }
}

/// The placement as a JSON file.
#[derive(Serialize)]
pub struct PlacesFile<'a> {
    graph: &'a str,
    arena: Bytes,
    tensors: &'a [Place],
    /// The operators in their new order.
    operators: Vec<OperatorRow<'a>>,
}

#[derive(Serialize)]
struct OperatorRow<'a> {
    /// Number and name of the region.
    region: String,
    /// Position in the new order of the region.
    step: usize,
    operator: String,
    kind: &'a str,
    /// Index in the model file.
    index: usize,
    /// The steps of the plan at which the operator runs.
    lower: u64,
    upper: u64,
}

/// Returns true if the memory of these tensors is not just theirs: they are none, or tensors of a segment.
pub fn is_apart(graph: &Graph, members: &[Member]) -> bool {
    members.iter().all(|one| graph.fixed(one.tensor).is_some())
}

/// The memory of a place: its offset and lifespan, with the name of the tensor that represents it.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    pub name: &'a str,
    pub offset: Bytes,
    pub lower: u64,
    pub upper: u64,
}

/// Creates places for the tensors of a plan.
pub struct Places<'a> {
    import: &'a Import,
    /// Per region, its operators in their new order.
    pub orders: Vec<Vec<OperatorId>>,
    /// Per operator, its position in that order.
    positions: Vec<usize>,
    /// Per operator, the steps of the plan at which it runs.
    runs: Vec<Range<u64>>,
    pub rows: Vec<Place>,
}

impl<'a> Places<'a> {
    /// Creates an empty placement. `runs` contains, per operator, the steps of the plan at which it runs.
    pub fn new<'r>(
        import: &'a Import,
        regions: impl IntoIterator<Item = &'r OrderedRegion>,
        runs: Vec<Range<u64>>,
    ) -> Self {
        let graph = &import.graph;
        let mut orders = vec![Vec::new(); graph.regions().len()];
        let mut positions = vec![0; graph.operators().len()];
        for one in regions {
            let steps = one.order.operators().iter();
            let order: Vec<_> = steps.map(|&id| one.storages.operators[id.index()]).collect();
            for (at, id) in order.iter().enumerate() {
                positions[id.index()] = at;
            }
            orders[one.region.index()] = order;
        }
        Self { import, orders, positions, runs, rows: Vec::new() }
    }

    fn graph(&self) -> &'a Graph {
        &self.import.graph
    }

    /// Adds a tensor in `memory`.
    pub fn member(&mut self, region: RegionId, member: Member, memory: &Memory<'_>) {
        let (graph, id) = (self.graph(), member.tensor);
        let tensor = graph.tensor(id);
        let shares = if tensor.name == memory.name { "" } else { memory.name };
        let index = self.import.tensors.get(id.index()).copied().unwrap_or(Some(id.index()));
        let operator = graph.producer(id).map(|id| self.positions[id.index()]);
        let offset = Bytes::new(memory.offset.get() + member.offset.get());
        let memory = Memory { offset, ..*memory };
        self.push(region, (&tensor.name, tensor.bytes, shares), &memory, index, operator);
    }

    /// Adds the tensors of an inner region that lie in a tensor of an enclosing region. That tensor must have
    /// been added before. The rows have the region, offset and lifespan of its memory.
    pub fn outer(&mut self, outer: &Outer) {
        let graph = self.graph();
        let name = &graph.tensor(outer.captured).name;
        let Some(found) = self.rows.iter().find(|row| row.tensor == *name).cloned() else { return };
        let shared = if found.shares.is_empty() { &found.tensor } else { &found.shares };
        let memory = Memory { name: shared, offset: found.offset, lower: found.lower, upper: found.upper };
        for member in &outer.members {
            self.member(graph.place(outer.captured), *member, &memory);
        }
    }

    /// Adds memory that is not a tensor. `user` is the operator that uses it.
    pub fn scratch(&mut self, region: RegionId, user: Option<OperatorId>, bytes: Bytes, memory: &Memory<'_>) {
        let operator = user.map(|id| self.positions[id.index()]);
        self.push(region, (memory.name, bytes, ""), memory, None, operator);
    }

    fn push(
        &mut self,
        region: RegionId,
        (tensor, bytes, shares): (&str, Bytes, &str),
        memory: &Memory<'_>,
        index: Option<usize>,
        operator: Option<usize>,
    ) {
        self.rows.push(Place {
            region: format!("{region}:{}", self.graph().region(region).name),
            tensor: tensor.to_owned(),
            bytes,
            offset: memory.offset,
            lower: memory.lower,
            upper: memory.upper,
            shares: shares.to_owned(),
            index,
            operator,
        });
    }

    /// Writes the placement to a file. `arena` is the size of the arena, and `align` its alignment.
    pub fn store(
        &self,
        path: &Path,
        format: PlacesFormat,
        (arena, align): (Bytes, Bytes),
    ) -> Result<(), Failure> {
        output::write_file(path, |file| match format {
            PlacesFormat::Csv => output::csv(file, &self.rows),
            PlacesFormat::Json => {
                serde_json::to_writer_pretty(&mut *file, &self.file(arena))?;
                writeln!(file)
            }
            PlacesFormat::CHeader => self.header(arena, align).write(file),
        })
    }

    /// Returns the placement as written to a JSON file.
    pub fn file(&self, arena: Bytes) -> PlacesFile<'_> {
        let graph = self.graph();
        let operator = |(region, step, id): (RegionId, usize, OperatorId)| OperatorRow {
            region: format!("{region}:{}", graph.region(region).name),
            step,
            operator: graph.called(id),
            kind: &graph.operator(id).kind,
            index: self.index_of(id),
            lower: self.runs[id.index()].start,
            upper: self.runs[id.index()].end,
        };
        let operators = self.steps().map(operator).collect();
        PlacesFile { graph: graph.name(), arena, tensors: &self.rows, operators }
    }

    /// Returns all operators in their new order, with their region and position.
    fn steps(&self) -> impl Iterator<Item = (RegionId, usize, OperatorId)> {
        let regions = self.orders.iter().enumerate();
        regions.flat_map(|(region, order)| {
            order.iter().enumerate().map(move |(step, &id)| (RegionId::at(region), step, id))
        })
    }

    fn index_of(&self, id: OperatorId) -> usize {
        self.import.places.get(id.index()).map_or(id.index(), |place| place.index)
    }

    fn header(&self, arena: Bytes, align: Bytes) -> Header<'_> {
        let graph = self.graph();
        let row = |row: &'_ Place| Row {
            name: row.tensor.clone(),
            short: row.index.map_or_else(|| "scratch".to_owned(), |index| format!("t{index}")),
            note: format!("{} {}", row.region, row.tensor),
            index: row.index,
            offset: row.offset,
            bytes: row.bytes,
            lower: row.lower,
            upper: row.upper,
            producer: row.operator,
        };
        let operator = |(region, _, id): (RegionId, usize, OperatorId)| {
            let note = format!("{region}:{} {}", graph.region(region).name, graph.called(id));
            (self.index_of(id), note)
        };
        let (rows, operators) = (self.rows.iter().map(row).collect(), self.steps().map(operator).collect());
        Header { name: graph.name(), arena, align, rows, operators }
    }
}
