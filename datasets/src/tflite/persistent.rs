//! The memory of the arena of `tflite-micro` that is not planned. One part is the data that the runtime and
//! its kernels keep for the whole run ("tail"). The other part exists only while the runtime plans.
//!
//! The runtime allocates persistent data from the end of the arena downwards, in a fixed order. Its own
//! allocators come first, then resource variables, an `EvalTensor` per tensor, and a node per operator. The
//! options of operators, the data of kernels (`Init`, then `Prepare`) and the handles of scratch buffers
//! follow. Variable tensors come next, and then a `Tensor` with its quantisation per input and output.
//! [`MicroOverhead::of`] repeats these allocations with their alignments. It counts the recording allocator,
//! which the Python package uses; the ordinary allocator takes about 200 bytes less.
//!
//! Sources: `micro_allocator.cc`, `micro_interpreter.cc`, `micro_allocation_info.cc`,
//! `micro_resource_variable.cc` and `greedy_memory_planner.h` of `tflite-micro` (2026).

use super::kernels::{Node, Pointers, bytes, kernel, nodes, tensor};
use super::micro::{MICRO_ALIGNMENT, size};
use super::model::{self, Model, Subgraph, Variable};
use crate::import::{ImportProblem, Scratch};
use plimsoll_model::Bytes;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Bytes that the greedy planner of the runtime needs per buffer while it plans.
const PLANNED: u64 = 40;

/// The number of scratch buffers that every operator may request.
const REQUESTS: u64 = 12;

/// The memory of the arena of `tflite-micro` that is not planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MicroOverhead {
    /// Bytes that the runtime and its kernels keep for the whole run.
    pub tail: Bytes,
    /// Bytes of the arena that the runtime needs while it prepares and plans. They include the persistent
    /// data that exists at that time.
    pub start: Bytes,
    /// Custom operators whose persistent data is unknown and not counted, each name once.
    pub unknown: Vec<String>,
}

impl MicroOverhead {
    /// Computes the memory for a file. `scratch` contains the requests of the kernels. An operator without
    /// requests in `scratch` has those of its reference kernel. The time is linear in the size of the file
    /// and the number of requests.
    ///
    /// # Errors
    /// If the file is damaged, or if it contains a tensor of unknown size.
    pub(crate) fn of(bytes: &[u8], scratch: &[Scratch], pointers: Pointers) -> Result<Self, ImportProblem> {
        let model = model::read(bytes)?;
        let mut arena = Arena { pointers, tail: 0, start: 0, requests: 0 };
        arena.runtime(&model);
        arena.kernels(&model, scratch);
        arena.plan(&model)?;
        arena.interface(&model);
        let kinds = model.kinds.iter().filter(|kind| !kind.builtin && kernel(kind).is_none());
        let unknown: BTreeSet<String> = kinds.map(|kind| kind.name.to_string()).collect();
        let unknown = unknown.into_iter().collect();
        Ok(Self { tail: Bytes::new(arena.tail), start: Bytes::new(arena.start), unknown })
    }

    /// Returns the bytes of the arena that the runtime needs if the planned part, which contains tensors and
    /// scratch buffers, has `head` bytes.
    #[must_use]
    pub fn arena(&self, head: Bytes) -> Bytes {
        Bytes::new(head.get().saturating_add(self.tail.get())).max(self.start)
    }
}

/// Returns the scratch buffers that the reference kernels of the runtime request for a file.
///
/// # Errors
/// If the file is damaged.
pub(crate) fn reference_scratch(bytes: &[u8], pointers: Pointers) -> Result<Vec<Scratch>, ImportProblem> {
    let model = model::read(bytes)?;
    let requests = nodes(&model).flat_map(|(subgraph, operator, node)| {
        let sizes = node.requests(pointers).into_iter();
        sizes.map(move |bytes| Scratch { subgraph, operator, bytes }).collect::<Vec<_>>()
    });
    Ok(requests.collect())
}

/// The simulated arena.
struct Arena {
    pointers: Pointers,
    /// Bytes of persistent data so far.
    tail: u64,
    /// The maximum so far of the persistent and the temporary data together.
    start: u64,
    /// The number of scratch buffers that kernels requested so far.
    requests: u64,
}

impl Arena {
    /// Allocates persistent data. The end of the arena is a multiple of every alignment.
    fn keep(&mut self, bytes: u64, alignment: u64) {
        self.tail = up(self.tail.saturating_add(bytes), alignment);
    }

    fn keep_aligned(&mut self, bytes: u64) {
        self.keep(bytes, MICRO_ALIGNMENT.get());
    }

    /// Allocates an array of structures with pointers. `sizes` are those for 64-bit and for 32-bit pointers.
    fn structures(&mut self, count: usize, sizes: [u64; 2]) {
        self.keep(self.pointers.of(sizes).saturating_mul(count as u64), self.pointers.bytes());
    }

    /// Allocates the data of the runtime: `RecordingSingleArenaBufferAllocator`, `GreedyMemoryPlanner`,
    /// `RecordingMicroAllocator`, `MicroResourceVariables` with its variables, `MicroBuiltinDataAllocator`,
    /// and for each subgraph `SubgraphAllocations`, its `TfLiteEvalTensor`s and its `NodeAndRegistration`s.
    fn runtime(&mut self, model: &Model) {
        for sizes in [[104, 52], [72, 44], [272, 136]] {
            self.structures(1, sizes);
        }
        let variables: BTreeSet<_> = model.subgraphs.iter().flat_map(Subgraph::variables).collect();
        if !variables.is_empty() {
            self.keep_aligned(self.pointers.of([16, 12]));
            self.keep_aligned(self.pointers.of([40, 20]) * variables.len() as u64);
        }
        self.structures(1, [16, 8]);
        self.structures(model.subgraphs.len(), [24, 12]);
        for subgraph in &model.subgraphs {
            self.structures(subgraph.tensors.len(), [24, 12]);
        }
        for subgraph in &model.subgraphs {
            self.structures(subgraph.operators.len(), [64, 32]);
        }
    }

    /// Allocates the options of operators, the data of kernels, and the handles of scratch buffers.
    fn kernels(&mut self, model: &Model, scratch: &[Scratch]) {
        let pointers = self.pointers;
        for (_, _, node) in nodes(model) {
            let (bytes, alignment) = node.options(pointers);
            self.keep(bytes, alignment);
        }
        for (_, _, node) in nodes(model) {
            node.initial(pointers).into_iter().for_each(|bytes| self.keep_aligned(bytes));
        }
        let mut given: HashMap<(usize, usize), u64> = HashMap::new();
        for one in scratch {
            *given.entry((one.subgraph, one.operator)).or_default() += 1;
        }
        let mut assigned = HashSet::new();
        for (subgraph, operator, node) in nodes(model) {
            let before = self.requests;
            let own = node.requests(pointers).len() as u64;
            self.requests += given.get(&(subgraph, operator)).copied().unwrap_or(0).max(own);
            if assignment(&node).is_some_and(|variable| assigned.insert(variable)) {
                self.keep_aligned(node.input(1).map_or(0, bytes));
            }
            node.prepared(pointers).into_iter().for_each(|bytes| self.keep_aligned(bytes));
            self.temporary(before, [node.temporary(pointers), 0]);
        }
        self.keep(pointers.bytes() * self.requests, pointers.bytes());
    }

    /// Counts temporary data. It begins with an array for `requests` requests of scratch buffers and those of
    /// one more operator. Each of the two further parts starts at a multiple of the alignment.
    fn temporary(&mut self, requests: u64, parts: [u64; 2]) {
        let array = self.pointers.of([16, 12]) * (requests + REQUESTS);
        let [first, second] = parts.map(|bytes| up(bytes, MICRO_ALIGNMENT.get()));
        let temporary = up(array, MICRO_ALIGNMENT.get()).saturating_add(first).saturating_add(second);
        self.start = self.start.max(up(self.tail, MICRO_ALIGNMENT.get()).saturating_add(temporary));
    }

    /// Plans the tensors and scratch buffers: allocates variable tensors, and counts the temporary data. This
    /// is one `AllocationInfo` per tensor and scratch buffer, and the data of the planner.
    fn plan(&mut self, model: &Model) -> Result<(), ImportProblem> {
        let (mut tensors, mut planned) = (0, 0);
        for (at, subgraph) in model.subgraphs.iter().enumerate() {
            tensors += subgraph.tensors.len() as u64;
            let handles = model.handles(subgraph);
            for (index, info) in subgraph.tensors.iter().enumerate() {
                if info.variable {
                    self.keep_aligned(size(info, (at, index))?);
                } else if info.held.is_none() && !handles.contains(&index) && size(info, (at, index))? > 0 {
                    planned += 1;
                }
            }
        }
        let offsets = self.pointers.bytes() * model.subgraphs.len() as u64;
        let infos = self.pointers.of([32, 24]) * (tensors + self.requests);
        self.temporary(self.requests, [offsets + infos, PLANNED * (planned + self.requests)]);
        Ok(())
    }

    /// Allocates the `TfLiteTensor`s of the inputs and outputs of the model.
    fn interface(&mut self, model: &Model) {
        let (body, pointers) = (&model.subgraphs[0], self.pointers);
        for tensors in [body.inputs, body.outputs] {
            self.keep_aligned(pointers.bytes() * tensors.len() as u64);
            let infos = tensors.iter().filter_map(|at| body.tensor(at));
            for (bytes, alignment) in infos.flat_map(|info| tensor(info, pointers)) {
                self.keep(bytes, alignment);
            }
        }
    }
}

/// Returns the variable to which an operator assigns a value.
fn assignment<'m, 'a>(node: &Node<'m, 'a>) -> Option<&'m Variable<'a>> {
    node.subgraph.variable(node.step).filter(|_| node.name() == "ASSIGN_VARIABLE")
}

fn up(bytes: u64, alignment: u64) -> u64 {
    bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX)
}
