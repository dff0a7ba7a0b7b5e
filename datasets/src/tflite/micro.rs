//! The offset problem that `tflite-micro` solves for a file: the tensors that it places, and their lifespans.
//!
//! The runtime gives each scope a number. There is one scope for the start of a subgraph, one per operator,
//! and further ones for the subgraphs that an operator runs. A subgraph that several operators run has only
//! one set of tensors. Each tensor is live from its first use in any run to its last. All subgraphs share one
//! arena. The plan does not place variables, which get memory of their own, and outputs of `VAR_HANDLE`,
//! which refer to data of the kernel.
//!
//! If the file contains an offline plan, the tensors of a range of [fixed addresses](super::stated) are one
//! buffer, in which they keep their positions. Variables in such a range are placed with it.
//!
//! Model files do not list the scratch buffers of kernels, so an offline plan has no offsets for them. The
//! runtime places them around the tensors with its greedy planner, which [`MicroArena`] simulates.
//!
//! Sources: `micro_allocation_info.cc`, `greedy_memory_planner.cc`, `memory_helpers.cc` and `reshape.cc` of
//! `tflite-micro` (2026).

use super::infer::COPIES;
use super::model::{self, Info, Model, Step};
use super::plan::Offsets;
use super::schema::ELEMENTS;
use super::stated::{Fixed, fixed};
use crate::import::{ImportProblem, Scratch};
use crate::operators::is_listed;
use plimsoll_model::graph::AliasKind;
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Layout, Lifespan};
use plimsoll_support::root;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The alignment of all sizes and offsets in bytes, as in the runtime.
pub const MICRO_ALIGNMENT: Bytes = Bytes::new(16);

/// Operators whose kernel copies nothing if input and output have the same address, or copies each element
/// to itself.
const VIEWS: &str = "EXPAND_DIMS RESHAPE";

/// Operators whose kernel writes each element after it has read the elements at the same position.
const ELEMENTWISE: &str = "ABS ADD CEIL COS DIV EXP FLOOR HARD_SWISH LEAKY_RELU LOG LOGISTIC MAXIMUM MINIMUM \
                           MUL NEG PRELU RELU RELU6 ROUND RSQRT SIN SQRT SQUARE SQUARED_DIFFERENCE SUB TANH";

/// Returns the size in bytes that the runtime gives a scratch buffer.
pub(super) fn reserved(scratch: &Scratch) -> u64 {
    Bytes::new(scratch.bytes).align_up(MICRO_ALIGNMENT).map_or(u64::MAX, Bytes::get)
}

/// A function that decides whether an input and an output share memory, given their numbers among the tensors
/// of all subgraphs.
pub type Shares<'a> = dyn Fn(AliasKind, usize, usize) -> bool + 'a;

/// The offset problem that `tflite-micro` solves for a file.
#[derive(Clone, Debug)]
pub struct MicroArena {
    /// One buffer per tensor that the runtime places, or per group of tensors that share memory, followed
    /// by one per scratch buffer.
    pub instance: Instance,
    /// The tensors of each buffer, as numbers among the tensors of all subgraphs. Scratch buffers have the
    /// numbers that follow.
    buffers: Vec<Vec<usize>>,
    /// The first byte of each tensor in its buffer, for tensors with fixed addresses.
    inside: HashMap<usize, u64>,
    /// The offline plan of the file.
    plan: Option<Offsets>,
    /// Tensors that the runtime does not place, although the plan of the file gives them an offset.
    ignored: Vec<(usize, u64)>,
    /// Tensors that no operator uses, with their sizes. Their memory is never accessed.
    unused: Vec<(usize, u64)>,
    /// Number of tensors in all subgraphs.
    tensors: usize,
}

/// A tensor whose lifespan is being determined.
#[derive(Clone, Copy, Debug)]
struct Placed {
    bytes: u64,
    first: Option<u64>,
    last: Option<u64>,
}

impl MicroArena {
    /// Reads the problem from a file. The operators run in the order of the file. If the kernel of an
    /// operator allows an input and the output to share memory, `shares` decides whether they do. `scratch`
    /// contains the requests of the kernels. Takes time linear in the number of operators and operands in all
    /// uses of subgraphs.
    ///
    /// # Errors
    /// If the file is damaged, contains a tensor of unknown size, or runs subgraphs too often.
    pub(crate) fn of(bytes: &[u8], scratch: &[Scratch], shares: &Shares<'_>) -> Result<Self, ImportProblem> {
        let model = model::read(bytes)?;
        let mut scopes = Scopes::new(&model, scratch, shares)?;
        scopes.subgraph(0)?;
        scopes.problem()
    }

    /// Returns the layout that the runtime computes from an offline plan. `offset` gives the planned offset
    /// of a tensor by its number among the tensors of all subgraphs. Returns `None` if an offset is
    /// missing, or if tensors that share memory have different offsets. Offsets of tensors with fixed
    /// addresses may be missing if one of them is known. O(n^2 log n) for n buffers.
    pub fn layout(&self, offset: impl Fn(usize) -> Option<Bytes>) -> Option<Layout> {
        let one = |tensors: &Vec<usize>| {
            if self.is_scratch(tensors) {
                return Some(None);
            }
            let known = tensors
                .iter()
                .filter(|tensor| offset(**tensor).is_some() || !self.inside.contains_key(tensor));
            let mut starts = known.map(|&tensor| self.start(tensor, offset(tensor)?));
            let first = starts.next()??;
            starts.all(|start| start == Some(first)).then_some(Some(first))
        };
        Some(self.placed(self.buffers.iter().map(one).collect::<Option<_>>()?))
    }

    /// Returns the layout that the runtime computes from the offline plan of the file; `None` if the file has
    /// no such plan, or the plan gives tensors that share memory different offsets. The runtime places the
    /// tensors that the plan does not place. O(n^2 log n) for n buffers.
    pub fn in_file(&self) -> Option<Layout> {
        let plan = self.plan.as_ref()?;
        let one = |tensors: &Vec<usize>| {
            let offset = |tensor: usize| plan.get(tensor).copied().flatten().map(Bytes::new);
            let first = offset(*tensors.first()?);
            let Some(start) = first.and_then(|offset| self.start(*tensors.first()?, offset)) else {
                return tensors.iter().all(|&tensor| offset(tensor).is_none()).then_some(None);
            };
            let same = |&tensor: &usize| offset(tensor).and_then(|at| self.start(tensor, at)) == Some(start);
            tensors.iter().all(same).then_some(Some(start))
        };
        Some(self.placed(self.buffers.iter().map(one).collect::<Option<_>>()?))
    }

    /// Returns the first byte of the buffer of a tensor with this offset.
    fn start(&self, tensor: usize, offset: Bytes) -> Option<Bytes> {
        let inside = self.inside.get(&tensor).copied().unwrap_or(0);
        offset.get().checked_sub(inside).map(Bytes::new)
    }

    /// Returns true if compiled code may contain addresses of the offline plan in the file. The file then
    /// needs a plan.
    pub fn is_compiled(&self) -> bool {
        !self.inside.is_empty()
    }

    /// Returns the layout that the runtime computes from an offline plan in which the tensors have the
    /// offsets of `layout`. It differs from `layout` at most in the offsets of scratch buffers.
    /// O(n^2 log n) for n buffers.
    #[must_use]
    pub fn in_runtime(&self, layout: &Layout) -> Layout {
        let offsets = self.buffers.iter().zip(layout.offsets());
        self.placed(offsets.map(|(one, &offset)| (!self.is_scratch(one)).then_some(offset)).collect())
    }

    /// Returns the memory that the runtime reserves for a layout: its peak, or the size of the largest
    /// unused tensor if that is larger.
    pub fn arena(&self, layout: &Layout) -> Bytes {
        let unused = self.unused.iter().map(|&(_, bytes)| bytes).max();
        layout.peak(&self.instance).max(Bytes::new(unused.unwrap_or(0)))
    }

    /// Returns the memory that the runtime reserves for a file without an offline plan. Without a plan,
    /// unused tensors do not share memory with each other. O(n^2 log n) for n buffers.
    pub fn greedy(&self) -> Bytes {
        let unused = self.unused.iter().map(|&(_, bytes)| bytes).sum();
        self.placed(vec![None; self.buffers.len()]).peak(&self.instance).max(Bytes::new(unused))
    }

    fn is_scratch(&self, tensors: &[usize]) -> bool {
        tensors.first().is_some_and(|&first| first >= self.tensors)
    }

    /// Places the buffers without an offset, as the greedy planner of the runtime does. Larger buffers come
    /// first. Equally large buffers are placed in descending order of their indices. Each buffer is placed in
    /// the lowest gap that is large enough.
    fn placed(&self, mut offsets: Vec<Option<Bytes>>) -> Layout {
        let buffers = self.instance.buffers();
        let mut todo: Vec<usize> = (0..buffers.len()).rev().filter(|&at| offsets[at].is_none()).collect();
        todo.sort_by_key(|&at| Reverse(buffers[at].size()));
        for at in todo {
            let size = buffers[at].size().get();
            let others = buffers.iter().zip(&offsets);
            let others = others.filter(|(other, _)| other.lifespan().intersects(buffers[at].lifespan()));
            let mut below: Vec<(u64, u64)> = others
                .filter_map(|(other, offset)| Some((offset.as_ref()?.get(), other.size().get())))
                .collect();
            below.sort_unstable();
            let mut end = 0;
            for (offset, other) in below {
                if offset >= end + size {
                    break;
                }
                end = end.max(offset + other);
            }
            offsets[at] = Some(Bytes::new(end));
        }
        Layout::new(offsets.into_iter().flatten().collect())
    }

    /// Returns the offset of each tensor of each subgraph; -1 for a tensor that the plan does not place.
    ///
    /// # Errors
    /// If an offset does not fit into 31 bits.
    pub fn offsets(&self, layout: &Layout) -> Result<Vec<i32>, ImportProblem> {
        let mut offsets = vec![-1; self.tensors];
        for &(tensor, offset) in &self.ignored {
            offsets[tensor] = i32::try_from(offset).unwrap_or(-1);
        }
        for &(tensor, _) in &self.unused {
            offsets[tensor] = 0;
        }
        let buffers = self.buffers.iter().zip(layout.offsets());
        for (tensors, offset) in buffers.filter(|(tensors, _)| !self.is_scratch(tensors)) {
            for &tensor in tensors {
                let offset = offset.get().saturating_add(self.inside.get(&tensor).copied().unwrap_or(0));
                offsets[tensor] = i32::try_from(offset).map_err(|_| ImportProblem::Unsupported {
                    what: format!("offset {offset}"),
                    reason: "the runtime stores offsets in 31 bits".to_owned(),
                })?;
            }
        }
        Ok(offsets)
    }
}

/// The lifespans of all tensors, in scopes.
struct Scopes<'m, 'a> {
    model: &'m Model<'a>,
    shares: &'m Shares<'m>,
    /// Per subgraph, the number of its first tensor.
    starts: Vec<usize>,
    /// The memory of each tensor of all subgraphs, and then of each scratch buffer; `None` if the runtime
    /// does not place it.
    tensors: Vec<Option<Placed>>,
    /// The numbers of the scratch buffers of operators, by subgraph and index.
    scratch: HashMap<(usize, usize), Vec<usize>>,
    /// Per tensor, itself or another tensor with the same memory (a union-find forest).
    shared: Vec<usize>,
    fixed: Vec<Fixed>,
    /// Per tensor with a fixed address: its first byte in the range of these addresses.
    inside: HashMap<usize, u64>,
    scope: u64,
    stack: Vec<usize>,
    work: usize,
}

impl<'m, 'a> Scopes<'m, 'a> {
    fn new(
        model: &'m Model<'a>,
        requests: &[Scratch],
        shares: &'m Shares<'m>,
    ) -> Result<Self, ImportProblem> {
        let (mut starts, mut tensors) = (Vec::new(), Vec::new());
        let fixed = fixed(model);
        let kept: HashSet<usize> = fixed.iter().flat_map(|one| one.tensors.iter().copied()).collect();
        for (at, subgraph) in model.subgraphs.iter().enumerate() {
            starts.push(tensors.len());
            let handles = model.handles(subgraph);
            for (index, info) in subgraph.tensors.iter().enumerate() {
                let apart = handles.contains(&index) || info.variable && !kept.contains(&tensors.len());
                let bytes = if info.held.is_some() || apart { 0 } else { size(info, (at, index))? };
                let placed = Placed { bytes, first: None, last: None };
                tensors.push((bytes > 0).then_some(placed));
            }
        }
        let mut scratch: HashMap<_, Vec<usize>> = HashMap::new();
        for one in requests.iter().filter(|one| one.bytes > 0) {
            scratch.entry((one.subgraph, one.operator)).or_default().push(tensors.len());
            tensors.push(Some(Placed { bytes: reserved(one), first: None, last: None }));
        }
        let mut shared: Vec<usize> = (0..tensors.len()).collect();
        for one in &fixed {
            one.tensors.iter().for_each(|&number| shared[number] = one.tensors[0]);
        }
        let (inside, stack, scope, work) = (inside(model, &fixed), Vec::new(), 0, 0);
        Ok(Self { model, shares, starts, tensors, scratch, shared, fixed, inside, scope, stack, work })
    }

    /// Visits the operators of a subgraph. Recursion ends, since a subgraph that runs itself is an error.
    fn subgraph(&mut self, index: usize) -> Result<(), ImportProblem> {
        let model = self.model;
        let Some(subgraph) = model.subgraphs.get(index).filter(|_| !self.stack.contains(&index)) else {
            return Err(ImportProblem::Damaged(format!("an operator cannot run subgraph {index}")));
        };
        self.stack.push(index);
        for tensor in subgraph.inputs.iter() {
            self.make(index, tensor);
            self.read(index, tensor);
        }
        for (at, step) in subgraph.operators.iter().enumerate() {
            self.scope += 1;
            let start = self.scope;
            self.work += 1 + step.inputs.len() + step.outputs.len();
            if self.work > COPIES {
                return Err(super::infer::too_many(model, index));
            }
            for tensor in step.outputs.iter() {
                self.make(index, tensor);
            }
            for called in self.runs(step) {
                self.scope += 1;
                self.subgraph(called)?;
            }
            for tensor in step.inputs.iter().chain(step.outputs.iter()) {
                self.read(index, tensor);
            }
            for &number in self.scratch.get(&(index, at)).into_iter().flatten() {
                if let Some(placed) = self.tensors[number].as_mut() {
                    placed.first.get_or_insert(start);
                    placed.last = Some(self.scope);
                }
            }
            self.share(index, step);
        }
        for tensor in subgraph.outputs.iter() {
            self.make(index, tensor);
            self.read(index, tensor);
        }
        self.stack.pop();
        Ok(())
    }

    /// Returns the subgraphs that the runtime plans together with an operator.
    fn runs(&self, step: &Step) -> Vec<usize> {
        let kind = self.model.kinds.get(step.code as usize).map_or("", |kind| kind.name.as_ref());
        let known = matches!(kind, "IF" | "WHILE" | "CALL_ONCE");
        step.calls.iter().filter(|_| known).filter_map(|&(called, _)| usize::try_from(called).ok()).collect()
    }

    fn place(&mut self, subgraph: usize, tensor: i32) -> Option<(usize, &mut Placed)> {
        let at = usize::try_from(tensor).ok()?;
        self.model.subgraphs[subgraph].tensors.get(at)?;
        let number = self.starts[subgraph] + at;
        Some((number, self.tensors[number].as_mut()?))
    }

    fn make(&mut self, subgraph: usize, tensor: i32) {
        let scope = self.scope;
        if let Some((_, placed)) = self.place(subgraph, tensor) {
            placed.first.get_or_insert(scope);
        }
    }

    fn read(&mut self, subgraph: usize, tensor: i32) {
        let scope = self.scope;
        if let Some((_, placed)) = self.place(subgraph, tensor) {
            placed.last = Some(scope);
        }
    }

    /// Lets the first output of an operator share the memory of inputs of the same size, if the kernel and
    /// `shares` allow it.
    fn share(&mut self, index: usize, step: &Step) {
        let Some(kind) = self.model.kinds.get(step.code as usize).filter(|kind| kind.builtin) else { return };
        let (how, most) = match () {
            () if is_listed(VIEWS, &kind.name) => (AliasKind::View, 1),
            () if is_listed(ELEMENTWISE, &kind.name) => (AliasKind::InPlace, 2),
            () => return,
        };
        let mut find = |tensor| self.place(index, tensor).map(|(number, placed)| (number, placed.bytes));
        let Some((to, bytes)) = step.outputs.get(0).and_then(&mut find) else { return };
        for (from, same) in step.inputs.iter().take(most).filter_map(find).collect::<Vec<_>>() {
            let is_fixed = [from, to].iter().any(|number| self.inside.contains_key(number));
            if bytes == same && !is_fixed && (self.shares)(how, from, to) {
                let (from, to) = (root(&mut self.shared, from), root(&mut self.shared, to));
                self.shared[from.max(to)] = from.min(to);
            }
        }
    }

    /// Returns the constants and the tensors without bytes to which the plan of the file gives an offset.
    fn ignored(&self) -> Vec<(usize, u64)> {
        let infos = self.model.subgraphs.iter().flat_map(|one| &one.tensors).enumerate();
        let apart = infos.filter(|(number, info)| self.tensors[*number].is_none() && !info.variable);
        let offset = |number: usize| self.model.plan.as_ref().and_then(|plan| plan[number]);
        apart.filter_map(|(number, _)| Some((number, offset(number)?))).collect()
    }

    /// Returns unique names for the tensors and scratch buffers. A range of fixed addresses has the name of
    /// its scratch memory.
    fn names(&self) -> Vec<String> {
        let infos = self.model.subgraphs.iter().flat_map(|one| one.tensors.iter().enumerate());
        let mut names: Vec<String> = infos.map(|(at, info)| info.named(at)).collect();
        let tensors = names.len();
        names.extend((tensors..self.tensors.len()).map(|number| format!("scratch {}", number - tensors)));
        for (first, scratch) in self.fixed.iter().filter_map(|one| Some((one.tensors[0], one.scratch?))) {
            names.swap(first, scratch);
        }
        let mut taken = HashSet::new();
        for name in &mut names {
            while !taken.insert(name.clone()) {
                name.push('~');
            }
        }
        names
    }

    /// Returns the offset problem with the lifespans that were found. A tensor that is read but never
    /// written is live from the start.
    fn problem(mut self) -> Result<MicroArena, ImportProblem> {
        let tensors = self.model.subgraphs.iter().map(|subgraph| subgraph.tensors.len()).sum();
        let inside = std::mem::take(&mut self.inside);
        let mut names = self.names();
        let (mut groups, mut unused) = (BTreeMap::<usize, Vec<usize>>::new(), Vec::new());
        for number in 0..self.tensors.len() {
            match self.tensors[number] {
                Some(Placed { first: None, last: None, bytes }) => unused.push((number, bytes)),
                Some(_) => groups.entry(root(&mut self.shared, number)).or_default().push(number),
                None => {}
            }
        }
        // Scratch buffers of operators that never run take no memory.
        unused.retain(|&(number, _)| number < tensors);
        let mut buffer = |(&first, tensors): (&usize, &Vec<usize>)| {
            let all = || tensors.iter().filter_map(|&number| self.tensors[number]);
            let lower = all().map(|one| one.first.map_or(0, |first| first + 1)).min().unwrap_or(0);
            let upper = all().map(|one| one.last.or(one.first).unwrap_or(0) + 2).max().unwrap_or(2);
            let lifespan = Lifespan::single(lower, upper.max(lower + 1)).ok()?;
            let start = |number: &usize| inside.get(number).copied().unwrap_or(0);
            let end = |number: &usize| Some(self.tensors[*number]?.bytes.saturating_add(start(number)));
            let bytes = tensors.iter().filter_map(end).max()?;
            let buffer =
                Buffer::new(std::mem::take(&mut names[first]), bytes, lifespan).aligned(MICRO_ALIGNMENT);
            let pinned = self.fixed.iter().find(|one| tensors.contains(&one.tensors[0]));
            // Without scratch memory, the code can only contain addresses in the arena.
            let pinned = pinned.filter(|one| one.scratch.is_none());
            Some(pinned.map_or(buffer.clone(), |one| buffer.fixed_at(one.range.start)))
        };
        let buffers: Vec<Buffer> = groups.iter().filter_map(&mut buffer).collect();
        let instance = InstanceBuilder::new("tflite-micro").buffers(buffers).build();
        let instance = instance.map_err(|error| ImportProblem::Damaged(error.to_string()))?;
        let ignored = self.ignored();
        let (buffers, plan) = (groups.into_values().collect(), self.model.plan.clone());
        Ok(MicroArena { instance, buffers, inside, plan, ignored, unused, tensors })
    }
}

/// Returns the first byte of each tensor with a fixed address in the range of these addresses.
fn inside(model: &Model, fixed: &[Fixed]) -> HashMap<usize, u64> {
    let plan = |number: usize| model.plan.as_ref().and_then(|plan| plan[number]);
    let offset = |one: &Fixed, number: usize| plan(number)?.checked_sub(one.range.start);
    let one = |one: &Fixed| -> Vec<(usize, u64)> {
        one.tensors.iter().filter_map(|&number| Some((number, offset(one, number)?))).collect()
    };
    fixed.iter().flat_map(one).collect()
}

/// Returns the size in bytes that the runtime gives a tensor, rounded up to the alignment. It follows from
/// the shape in the file, with at least one byte per element.
pub(super) fn size(info: &Info, (subgraph, index): (usize, usize)) -> Result<u64, ImportProblem> {
    let unknown = |reason: String| ImportProblem::Unsupported {
        what: format!("an offline plan with tensor {index} of subgraph {subgraph} ('{}')", info.named(index)),
        reason,
    };
    let element = usize::try_from(info.element).ok().and_then(|at| ELEMENTS.get(at));
    let bits = element.and_then(|element| element.bits);
    let bits = bits.ok_or_else(|| unknown(format!("elements of type {} have no size", info.element)))?;
    let shape = info.declared().ok_or_else(|| unknown(info.odd_shape()))?;
    let bytes = shape.iter().try_fold(bits.max(8) / 8, |bytes: u64, &extent| bytes.checked_mul(extent));
    let aligned = bytes.and_then(|bytes| Bytes::new(bytes).align_up(MICRO_ALIGNMENT));
    aligned.map(Bytes::get).ok_or_else(|| unknown("its size overflows".to_owned()))
}
