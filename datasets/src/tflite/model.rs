//! A model as stored in the file: tables converted to plain values, with unresolved indices.

use super::plan::{self, Offsets};
use super::reader::{
    Ints, Options, Table, UNIONS, buffer, model, operator, operator_code, quantization, root, subgraph,
    tensor,
};
use super::schema::{CALLS, COMPOSITE, CUSTOM, ELEMENTS, IDENTIFIER, OPERATORS, VERSION, options};
use crate::import::ImportProblem;
use crate::operators::element::Element;
use crate::operators::value::RANK_LIMIT;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

#[derive(Debug)]
pub(super) struct Model<'a> {
    pub kinds: Vec<Kind<'a>>,
    /// The subgraphs. The first one is the body.
    pub subgraphs: Vec<Subgraph<'a>>,
    /// True if the file declares the rank of any tensor. Older writers never declare ranks.
    pub ranked: bool,
    /// The offline plan of the file, if there is one.
    pub plan: Option<Offsets>,
}

impl Model<'_> {
    /// Returns the tensors of a subgraph that are handles of variables. The runtime keeps their values in
    /// data of the kernel.
    pub(super) fn handles(&self, subgraph: &Subgraph) -> HashSet<usize> {
        let makes = |step: &&Step| {
            self.kinds.get(step.code as usize).is_some_and(|kind| kind.builtin && kind.name == "VAR_HANDLE")
        };
        let outputs = subgraph.operators.iter().filter(makes).flat_map(|step| step.outputs.iter());
        outputs.filter_map(|tensor| usize::try_from(tensor).ok()).collect()
    }
}

#[derive(Debug)]
pub(super) struct Kind<'a> {
    /// The name in the schema, or the name of the custom operator.
    pub name: Cow<'a, str>,
    /// False if the schema does not define the operator.
    pub builtin: bool,
}

/// A subgraph: its operators and the tensors to which they refer.
#[derive(Debug)]
pub(super) struct Subgraph<'a> {
    pub name: Cow<'a, str>,
    pub tensors: Vec<Info<'a>>,
    pub inputs: Ints<'a>,
    pub outputs: Ints<'a>,
    pub operators: Vec<Step<'a>>,
    /// The variables, by the tensor that serves as their handle.
    handles: HashMap<i32, Variable<'a>>,
}

/// A variable of the runtime: its container and its name in the container.
pub(super) type Variable<'a> = (Cow<'a, str>, Cow<'a, str>);

impl<'a> Subgraph<'a> {
    /// Returns the variable that an operator reads or assigns. The first input is the handle of the
    /// variable.
    pub(super) fn variable(&self, step: &Step) -> Option<&Variable<'a>> {
        self.handles.get(&step.inputs.get(0)?)
    }

    /// Returns the variables for which the subgraph has handles, in no particular order.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable<'a>> {
        self.handles.values()
    }

    /// Returns a tensor by its index; `None` for -1, which is an absent operand.
    pub(super) fn tensor(&self, index: i32) -> Option<&Info<'a>> {
        self.tensors.get(usize::try_from(index).ok()?)
    }
}

/// The location of the values of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Held {
    /// In the buffer of this index.
    Buffer(u32),
    /// In another file, under this id.
    External(u32),
}

#[derive(Debug)]
pub(super) struct Info<'a> {
    pub name: Cow<'a, str>,
    pub element: i8,
    pub shape: Ints<'a>,
    /// The shape with -1 for free dimensions; empty if the file contains no such shape.
    pub signature: Ints<'a>,
    /// The location of the values of a constant.
    pub held: Option<Held>,
    /// The values, if they are in this file.
    pub data: Option<&'a [u8]>,
    pub variable: bool,
    pub sparse: bool,
    pub has_rank: bool,
    /// The number of quantisation scales. It is 0 if the tensor has no scales or no zero points.
    pub scales: u32,
}

impl Info<'_> {
    /// Returns the tensor's name in the graph. `at` is its index in the subgraph.
    pub(super) fn named(&self, at: usize) -> String {
        if self.name.is_empty() { format!("t{at}") } else { self.name.to_string() }
    }

    /// Returns the element type for the shape rules, or `None` for strings and handles.
    pub(super) fn element(&self) -> Option<Element> {
        Element::of(ELEMENTS.get(usize::try_from(self.element).ok()?)?.onnx)
    }

    /// Returns the shape declared in the file, if all its extents are declared.
    pub(super) fn declared(&self) -> Option<Vec<u64>> {
        if self.shape.len() > RANK_LIMIT {
            return None;
        }
        self.shape.iter().map(|extent| u64::try_from(extent).ok()).collect()
    }

    /// Returns true if the file leaves dimension `at` free.
    pub(super) fn is_free(&self, at: usize) -> bool {
        self.signature.len() == self.shape.len() && self.signature.get(at) == Some(-1)
    }

    /// Describes why the shape in the file is invalid.
    pub(super) fn odd_shape(&self) -> String {
        match self.shape.iter().enumerate().find(|&(_, extent)| extent < 0) {
            Some((at, extent)) => format!("its dimension {at} is {extent}"),
            None => format!("its shape has {} dimensions", self.shape.len()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Step<'a> {
    pub code: u32,
    /// Indices of tensors; -1 for an absent optional one.
    pub inputs: Ints<'a>,
    pub outputs: Ints<'a>,
    /// The subgraphs that the operator runs, with their roles.
    pub calls: Vec<(i32, &'static str)>,
    pub options: Options<'a>,
    /// The options of a custom operator, in any format.
    pub custom: &'a [u8],
}

/// Reads and verifies a file.
///
/// # Errors
/// [`ImportProblem::Damaged`], or [`ImportProblem::Unsupported`] for another version of the schema.
pub(super) fn read(bytes: &[u8]) -> Result<Model<'_>, ImportProblem> {
    let damaged = ImportProblem::Damaged;
    if bytes.get(4..8) != Some(IDENTIFIER) {
        return Err(damaged("bytes 4 to 7 are not 'TFL3'".to_owned()));
    }
    let table = root(bytes).map_err(damaged)?;
    let version = table.u32(model::VERSION);
    if version != VERSION {
        return Err(ImportProblem::Unsupported {
            what: format!("version {version} of the TFLite schema"),
            reason: format!("the only supported version is {VERSION}"),
        });
    }
    let buffers = table.tables(model::BUFFERS).enumerate().map(|(at, table)| {
        let (offset, size) = (table.u64(buffer::OFFSET), table.u64(buffer::SIZE));
        // Offsets 0 and 1 mean that the values are in the table itself.
        if offset <= 1 {
            return Ok(table.bytes(buffer::DATA));
        }
        let range = || Some(usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(size)?).ok()?);
        match range().and_then(|range| bytes.get(range)) {
            Some(data) => Ok(data),
            None => Err(damaged(format!(
                "buffer {at} holds {size} bytes at {offset}, but the file ends at {}",
                bytes.len()
            ))),
        }
    });
    let buffers: Vec<&[u8]> = buffers.collect::<Result<_, _>>()?;
    let subgraphs = table.tables(model::SUBGRAPHS).enumerate();
    let subgraphs: Vec<Subgraph> = subgraphs
        .map(|(at, table)| subgraph(at, table, &buffers).map_err(damaged))
        .collect::<Result<_, _>>()?;
    if subgraphs.is_empty() {
        return Err(damaged("there are no subgraphs".to_owned()));
    }
    let ranked = subgraphs.iter().flat_map(|subgraph| &subgraph.tensors).any(|tensor| tensor.has_rank);
    let tensors = subgraphs.iter().map(|subgraph| subgraph.tensors.len()).sum();
    let plan = plan::plan(table).map(|plan| plan::offsets(&plan, tensors)).transpose()?;
    Ok(Model { kinds: table.tables(model::OPERATOR_CODES).map(kind).collect(), subgraphs, ranked, plan })
}

/// Reads the kind of an operator. The schema has an old and a new field for its code, and the larger value is
/// valid.
fn kind(table: Table<'_>) -> Kind<'_> {
    let old = i32::from(table.i8(operator_code::DEPRECATED_BUILTIN_CODE));
    let code = old.max(table.i32(operator_code::BUILTIN_CODE));
    let custom = table.text(operator_code::CUSTOM_CODE);
    match usize::try_from(code) {
        Ok(CUSTOM) if !custom.is_empty() => Kind { name: custom, builtin: false },
        Ok(code) if code < OPERATORS.len() => {
            Kind { name: Cow::Borrowed(OPERATORS[code]), builtin: code != CUSTOM }
        }
        _ => Kind { name: Cow::Owned(format!("BUILTIN_{code}")), builtin: false },
    }
}

fn subgraph<'a>(at: usize, table: Table<'a>, buffers: &[&'a [u8]]) -> Result<Subgraph<'a>, String> {
    let tensors = table.tables(subgraph::TENSORS).enumerate();
    let tensors = tensors.map(|(which, table)| {
        info(table, buffers).map_err(|what| format!("tensor {which} of subgraph {at}: {what}"))
    });
    let operators: Vec<Step> = table.tables(subgraph::OPERATORS).map(step).collect();
    let handles = operators.iter().filter_map(|step| {
        let name = |field| step.options.text(field);
        Some((step.outputs.get(0)?, (name(options::VARIABLE_CONTAINER)?, name(options::VARIABLE_NAME)?)))
    });
    Ok(Subgraph {
        handles: handles.collect(),
        name: table.text(subgraph::NAME),
        tensors: tensors.collect::<Result<_, _>>()?,
        inputs: table.ints(subgraph::INPUTS),
        outputs: table.ints(subgraph::OUTPUTS),
        operators,
    })
}

fn info<'a>(table: Table<'a>, buffers: &[&'a [u8]]) -> Result<Info<'a>, String> {
    let index = table.u32(tensor::BUFFER);
    let external = table.u32(tensor::EXTERNAL_BUFFER);
    // Buffer 0 means that there is no buffer. Files without any buffers exist.
    let data = match buffers.get(index as usize) {
        _ if index == 0 => &[],
        Some(&bytes) => bytes,
        None => return Err(format!("it refers to buffer {index}, but there are only {}", buffers.len())),
    };
    let held = match (data, external) {
        ([], 0) => None,
        ([], id) => Some(Held::External(id)),
        _ => Some(Held::Buffer(index)),
    };
    Ok(Info {
        name: table.text(tensor::NAME),
        element: table.i8(tensor::TYPE),
        shape: table.ints(tensor::SHAPE),
        signature: table.ints(tensor::SHAPE_SIGNATURE),
        held,
        data: (!data.is_empty()).then_some(data),
        variable: table.u8(tensor::IS_VARIABLE) != 0,
        sparse: table.table(tensor::SPARSITY).is_some(),
        has_rank: table.u8(tensor::HAS_RANK) != 0,
        scales: table.table(tensor::QUANTIZATION).map_or(0, scales),
    })
}

fn scales(table: Table<'_>) -> u32 {
    if table.count(quantization::ZERO_POINT) == 0 { 0 } else { table.count(quantization::SCALE) }
}

fn step(table: Table<'_>) -> Step<'_> {
    let [first, second] = UNIONS.map(|union| table.union(union));
    let calls = CALLS.iter().flat_map(|call| {
        let (tag, options) = if call.second { second } else { first };
        let options = options.filter(|_| tag == call.tag);
        let indices = match options {
            Some(options) if call.many => options.ints(call.field).iter().collect(),
            Some(options) => vec![options.i32(call.field)],
            None => Vec::new(),
        };
        let composite = call.second && call.tag == COMPOSITE;
        indices.into_iter().filter(move |&index| !composite || index > 0).map(|index| (index, call.region))
    });
    Step {
        code: table.u32(operator::OPCODE_INDEX),
        inputs: table.ints(operator::INPUTS),
        outputs: table.ints(operator::OUTPUTS),
        calls: calls.collect(),
        options: Options::new(first.0, first.1),
        custom: table.bytes(operator::CUSTOM_OPTIONS),
    }
}
