//! The offline plan that a file already contains, and the addresses that compiled code needs.
//!
//! The metadata `OfflineMemoryAllocation` states an offset in the arena for each tensor of all subgraphs, or
//! -1 for a tensor that the runtime places. Kernels of the runtime receive the addresses of their tensors, so
//! any plan suits them. A compiler for an accelerator instead emits a custom operator whose code contains
//! addresses. Vela, for example, places all tensors of an `ethos-u` operator inside the scratch memory of the
//! operator. Its command stream adds offsets to the address of that memory, and never uses the addresses of
//! the other operands.
//!
//! A file does not state which addresses its code contains. This module therefore assumes that a custom
//! operator contains the addresses of all its operands that the plan places, unless it is one of the kernels
//! of the runtime. These addresses form a range, which is fixed as a whole: tensors with bytes in the range
//! keep their positions in it, because the compiler may have placed them there around the code. Ranges that
//! have bytes in common are one range. The plan in the file thus remains feasible.
//!
//! Source: `memory_management.md`, `micro_mutable_op_resolver.h` and `ethosu.cc` of `tflite-micro` (2026).

use super::kernels::kernel;
use super::model::{Info, Model, Step};
use super::schema::ELEMENTS;
use crate::import::ImportProblem;
use crate::operators::is_listed;
use plimsoll_model::graph::Segment;
use plimsoll_model::{Bytes, TensorId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// Custom operators of the interpreter that are neither compiled nor kernels of the runtime.
const INTERPRETED: &str = "AudioSpectrogram Mfcc";

/// The custom operator with a kernel of the runtime that executes compiled code.
const COMPILED: &str = "ethos-u";

/// Addresses that are fixed relative to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    /// The addresses in the plan of the file.
    pub range: Range<u64>,
    /// The numbers of the tensors with these addresses, ascending.
    pub tensors: Vec<usize>,
    /// The names of the custom operators whose code may contain the addresses, without duplicates.
    pub operators: Vec<String>,
    /// The number of the largest operand that no operator produces. It is the scratch memory, whose address
    /// the runtime passes to the operator. Without it, the code can only contain addresses in the arena.
    pub scratch: Option<usize>,
}

/// Returns the addresses in the offline plan of a file that its compiled code needs, in ascending order.
/// O(n^2) for n tensors with planned offsets.
pub(super) fn fixed(model: &Model) -> Vec<Fixed> {
    let Some(plan) = &model.plan else { return Vec::new() };
    let tensors = model.subgraphs.iter().flat_map(|subgraph| &subgraph.tensors);
    let placed: Vec<(usize, Range<u64>)> = tensors
        .enumerate()
        .filter_map(|(number, info)| {
            let offset = plan.get(number).copied().flatten()?;
            let bytes = bytes(info).filter(|&bytes| bytes > 0 && info.held.is_none())?;
            Some((number, offset..offset.checked_add(bytes)?))
        })
        .collect();
    let mut found = seeds(model, &placed);
    loop {
        found.sort_by_key(|one| one.range.start);
        let mut merged: Vec<Fixed> = Vec::new();
        for one in found {
            match merged.last_mut() {
                Some(last) if last.range.end > one.range.start => last.merge(one),
                _ => merged.push(one),
            }
        }
        let mut grown = false;
        for one in &mut merged {
            for (_, range) in &placed {
                if meet(&one.range, range) {
                    let wider = one.range.start.min(range.start)..one.range.end.max(range.end);
                    grown |= wider != one.range;
                    one.range = wider;
                }
            }
        }
        found = merged;
        if !grown {
            break;
        }
    }
    for one in &mut found {
        let inside = placed.iter().filter(|(_, range)| meet(&one.range, range));
        one.tensors = inside.map(|&(number, _)| number).collect();
    }
    found
}

/// Returns the range of the operands of each compiled operator, if the plan places any.
fn seeds(model: &Model, placed: &[(usize, Range<u64>)]) -> Vec<Fixed> {
    let (mut seeds, mut start) = (Vec::new(), 0);
    for subgraph in &model.subgraphs {
        let made = subgraph.operators.iter().flat_map(|step| step.outputs.iter());
        let known: HashSet<i32> = made.chain(subgraph.inputs.iter()).collect();
        for step in subgraph.operators.iter().filter(|step| is_compiled(model, step)) {
            let operands = step.inputs.iter().chain(step.outputs.iter());
            let operands = operands.filter_map(|tensor| {
                let number = start + usize::try_from(tensor).ok()?;
                let at = placed.binary_search_by_key(&number, |(number, _)| *number).ok()?;
                Some((number, placed[at].1.clone(), !known.contains(&tensor)))
            });
            let operands: Vec<(usize, Range<u64>, bool)> = operands.collect();
            let lowest = operands.iter().map(|(_, range, _)| range.start).min();
            let highest = operands.iter().map(|(_, range, _)| range.end).max();
            let (Some(lowest), Some(highest)) = (lowest, highest) else { continue };
            let scratch = operands.iter().filter(|(_, _, loose)| *loose);
            let scratch = scratch.max_by_key(|(_, range, _)| range.end - range.start);
            seeds.push(Fixed {
                range: lowest..highest,
                tensors: Vec::new(),
                operators: vec![model.kinds[step.code as usize].name.to_string()],
                scratch: scratch.map(|&(number, ..)| number),
            });
        }
        start += subgraph.tensors.len();
    }
    seeds
}

/// Returns true if the code of an operator may contain addresses.
fn is_compiled(model: &Model, step: &Step) -> bool {
    model.kinds.get(step.code as usize).is_some_and(|kind| {
        let is_kernel = kernel(kind).is_some() && kind.name != COMPILED;
        let is_kernel = is_kernel || is_listed(INTERPRETED, &kind.name) || kind.name.starts_with("Flex");
        // An operator of a newer schema has a number instead of a name.
        !kind.builtin && !is_kernel && !kind.name.starts_with("BUILTIN_")
    })
}

impl Fixed {
    fn merge(&mut self, other: Self) {
        self.range = self.range.start.min(other.range.start)..self.range.end.max(other.range.end);
        self.scratch = self.scratch.or(other.scratch);
        for operator in other.operators {
            if !self.operators.contains(&operator) {
                self.operators.push(operator);
            }
        }
    }
}

fn meet(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Collects the tensors of the graph that have fixed addresses.
pub(super) struct Kept {
    fixed: Vec<Fixed>,
    /// Per tensor with a fixed address, by subgraph and index: the index in `fixed`, and the first byte in
    /// it.
    places: HashMap<(usize, usize), (usize, u64)>,
    /// The same tensors in the graph.
    ids: BTreeMap<(usize, usize), TensorId>,
}

impl Kept {
    pub(super) fn new(model: &Model) -> Self {
        let fixed = fixed(model);
        let sizes = model.subgraphs.iter().enumerate();
        let keys: Vec<(usize, usize)> =
            sizes.flat_map(|(subgraph, one)| (0..one.tensors.len()).map(move |at| (subgraph, at))).collect();
        let mut places = HashMap::new();
        for (at, one) in fixed.iter().enumerate() {
            for &number in &one.tensors {
                let offset = model.plan.as_ref().and_then(|plan| plan[number]).unwrap_or(0);
                places.insert(keys[number], (at, offset - one.range.start));
            }
        }
        Self { fixed, places, ids: BTreeMap::new() }
    }

    pub(super) fn contains(&self, place: (usize, usize)) -> bool {
        self.places.contains_key(&place)
    }

    /// Adds a tensor of the graph, if its address is fixed. `bytes` is its size under the options.
    ///
    /// # Errors
    /// If the size differs from that in the file, or the graph has two copies of the tensor.
    pub(super) fn add(
        &mut self,
        place: (usize, usize),
        id: TensorId,
        info: &Info,
        measured: u64,
    ) -> Result<(), ImportProblem> {
        if !self.contains(place) {
            return Ok(());
        }
        let refused = |reason: String| ImportProblem::Unsupported {
            what: format!("tensor '{}', whose address compiled code may contain,", info.named(place.1)),
            reason,
        };
        let in_file = bytes(info).unwrap_or(0);
        if measured != in_file {
            return Err(refused(format!(
                "it has {in_file} bytes in the file, but {measured} with the options"
            )));
        }
        match self.ids.insert(place, id) {
            Some(other) if other != id => Err(refused("several operators run its subgraph".to_owned())),
            _ => Ok(()),
        }
    }

    /// Checks that the graph shows the use of the addresses by an operator. `loose` are operands that are not
    /// part of the graph.
    ///
    /// # Errors
    /// If all operands with fixed addresses are among them.
    pub(super) fn check(
        &self,
        subgraph: usize,
        step: &Step,
        loose: &[i32],
        subject: &str,
    ) -> Result<(), ImportProblem> {
        let is_fixed = |tensor: &i32| usize::try_from(*tensor).is_ok_and(|at| self.contains((subgraph, at)));
        let mut operands = step.inputs.iter().chain(step.outputs.iter()).filter(is_fixed);
        if loose.iter().any(is_fixed) && operands.all(|tensor| loose.contains(&tensor)) {
            return Err(ImportProblem::Unsupported {
                what: format!("{subject} without an input or output"),
                reason: "it uses memory in which tensors have fixed addresses".to_owned(),
            });
        }
        Ok(())
    }

    /// Returns the segments of the graph.
    pub(super) fn segments(self, model: &Model) -> Vec<Segment> {
        let infos: Vec<&Info> = model.subgraphs.iter().flat_map(|subgraph| &subgraph.tensors).collect();
        let segment = |(at, one): (usize, Fixed)| {
            let inside = self.ids.iter().filter_map(|(place, &id)| Some((id, self.places.get(place)?)));
            let inside = inside.filter(|&(_, &(of, _))| of == at);
            let mut tensors: Vec<(TensorId, Bytes)> =
                inside.map(|(id, &(_, offset))| (id, Bytes::new(offset))).collect();
            tensors.sort_unstable();
            let name = one.scratch.map_or("compiled memory".to_owned(), |number| infos[number].named(number));
            (!tensors.is_empty()).then(|| Segment {
                name,
                bytes: Bytes::new(one.range.end - one.range.start),
                tensors,
            })
        };
        self.fixed.into_iter().enumerate().filter_map(segment).collect()
    }

    /// Returns a note about the offline plan of the file, if there is one.
    pub(super) fn note(&self, model: &Model) -> Option<String> {
        let infos = model.subgraphs.iter().flat_map(|subgraph| &subgraph.tensors);
        let placed = infos.zip(model.plan.as_ref()?).filter(|(info, _)| info.held.is_none());
        let ends: Vec<u64> = placed.filter_map(|(info, offset)| Some((*offset)? + bytes(info)?)).collect();
        let (count, end) = (ends.len(), ends.iter().max().copied().unwrap_or(0));
        let plan = format!("offline plan in the file: {count} tensors in {end} bytes");
        if self.fixed.is_empty() {
            return Some(format!(
                "{plan}; no operator contains its addresses, so another plan may replace it"
            ));
        }
        let mut operators: Vec<&str> =
            self.fixed.iter().flat_map(|one| &one.operators).map(String::as_str).collect();
        operators.sort_unstable();
        operators.dedup();
        Some(format!(
            "{plan}; {} of them keep their relative addresses, which the code of {} may contain, and \
             operators that use them keep their order",
            self.places.len(),
            operators.join(", ")
        ))
    }
}

/// Returns the size of a tensor in bytes, if its shape and its type determine it.
pub(super) fn bytes(info: &Info) -> Option<u64> {
    let bits = ELEMENTS.get(usize::try_from(info.element).ok()?)?.bits?;
    let elements = info.declared()?.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent))?;
    Some(elements.checked_mul(bits)?.div_ceil(8))
}
