//! Decides which tensors of a region share memory, and at which bytes.
//!
//! - A **view** (reshape, identity, slice) lies in its input, even if other operators read the input, because
//!   nothing is written. In a concatenation without copies, the inputs lie in the output. Each input is
//!   written into its part, so the storage is held from the first part on. Two storages are united only if
//!   different tensors of both have no bytes in common, apart from the view itself. If views that must share
//!   memory contradict each other, the region is refused. Optional views ([`AliasKind::Part`]) are then
//!   copied, and also if they would not be aligned.
//! - An operator may write an output **in place** of an input of the same size under three conditions. Every
//!   other operator that uses the storage of the input runs earlier in every order. The storage contains no
//!   weight or state, and no output of the region. Inputs of the region may be overwritten if nothing reads
//!   them later. For the body, this holds with [`Boundary::Arena`]. For an inner region, they must be written
//!   again before each of its runs, and nothing may be handed over from them.
//! - A tensor may lie in a tensor of an **enclosing region** that the region captures, as a view or in place.
//!   In place requires that the region runs at most once per run of the enclosing region. The owner of the
//!   region must also be the last user of the captured tensor in every order.
//! - If a **loop** body returns a tensor in the storage of one of its inputs, the next value of this input
//!   must be that tensor, at the same byte. Otherwise, the loop would overwrite the storage while it reads
//!   the result, and the tensor gets memory of its own.
//!
//! Two tensors share nothing if only one of them is in the arena, or if one of them has zero bytes.
//!
//! Operators are visited in file order, and aliases in the order in which they are listed. A decision is
//! never revised.

use super::options::{Boundary, LivenessOptions};
use super::overlap::Loads;
use super::{Alias, AliasKind, Control, Flow, Graph, Moment, Role, Tensor};
use crate::orders::{OrderError, Storage};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The maximum number of operators that the searches for earlier operators visit in one region. Beyond this
/// number, an operator writes in place only if it reads the results of all other users.
const MOST_VISITED: usize = 1 << 24;

/// A tensor in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The tensor.
    pub tensor: TensorId,
    /// The byte of the shared memory at which the tensor begins.
    pub offset: Bytes,
}

/// Tensors of a region that lie in the memory of a tensor of an enclosing region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outer {
    /// The tensor of the enclosing region.
    pub captured: TensorId,
    /// The tensors of the region, ascending. Their offsets count from the start of `captured`.
    pub members: Vec<Member>,
}

/// Tensors that share memory.
struct Shared {
    members: Vec<usize>,
    /// The first byte of all members and the byte after the last, counted from the first byte of the root.
    start: i64,
    end: i64,
    /// The last of the operators that produce a member.
    newest: Option<u32>,
    /// The users since the last operator that wrote in place. All other users run before that operator.
    users: Vec<u32>,
    /// True if the region may lose the contents of every member once nothing reads it.
    plain: bool,
    /// The member that belongs to an enclosing region.
    captured: Option<usize>,
}

/// The storages of a region.
pub(super) struct Held {
    pub(super) storages: Vec<Storage>,
    /// Per storage: its tensors, ascending.
    pub(super) tensors: Vec<Vec<Member>>,
    pub(super) outer: Vec<Outer>,
}

/// The state of one region while its storages are being determined.
pub(super) struct Scope<'a> {
    graph: &'a Graph,
    region: RegionId,
    /// The options of the graph, and those of this region.
    all: LivenessOptions,
    options: LivenessOptions,
    operators: Vec<OperatorId>,
    /// Tensors that may occupy memory, in the order of their first appearance.
    tensors: Vec<TensorId>,
    /// The index in `tensors` of each tensor.
    known: HashMap<TensorId, usize>,
    /// Per tensor: the positions of the operators that use it.
    users: Vec<Vec<u32>>,
    /// Per tensor: the operator that produces it.
    makers: Vec<Option<u32>>,
    /// Per tensor: the tensor that represents its storage.
    root: Vec<usize>,
    /// Per tensor: its first byte, counted from the first byte of its root.
    offset: Vec<i64>,
    /// Per root: the storage as determined so far.
    shared: Vec<Shared>,
    given: Vec<bool>,
    wanted: Vec<bool>,
    /// Per tensor: true if it belongs to an enclosing region.
    captured: Vec<bool>,
    /// The control flow of the owner of the region, and the position of the region among its regions.
    around: Option<(Flow, usize)>,
    /// Per operator: the operators that produce its inputs.
    before: Vec<Vec<u32>>,
    /// Per operator: the last search that visited it.
    seen: Vec<u32>,
    searches: u32,
    visited: usize,
    rule: Rule,
    /// True if a rule was applied.
    is_partial: bool,
    /// The loads in the order of the file, once they are needed.
    loads: Option<Loads>,
}

/// The condition under which an output overlaps a part of its input.
#[derive(Clone, Copy)]
enum Rule {
    /// This saves at least as many bytes while both are live as it costs while one of them is.
    Sizes,
    /// This reduces the loads in the order of the file.
    Loads,
}

impl<'a> Scope<'a> {
    /// Determines the storages of a region.
    ///
    /// # Errors
    /// [`OrderError::Views`] if declared views contradict each other.
    pub(super) fn shared(
        graph: &'a Graph,
        region: RegionId,
        options: &LivenessOptions,
    ) -> Result<Self, OrderError> {
        Self::with(graph, region, options, None)
    }

    /// Determines the storages of a region, including that of a captured tensor.
    fn with(
        graph: &'a Graph,
        region: RegionId,
        options: &LivenessOptions,
        captured: Option<TensorId>,
    ) -> Result<Self, OrderError> {
        let by = |rule: Rule| {
            let mut scope = Self::new(graph, region, options, captured);
            scope.rule = rule;
            for at in 0..scope.operators.len() {
                scope.share(at as u32)?;
            }
            Ok(scope)
        };
        let first = by(Rule::Sizes);
        // Both rules look at one operator at a time, so neither is always better.
        match first {
            Ok(first) if first.is_partial => match by(Rule::Loads) {
                Ok(second) if second.all_loads().sorted() < first.all_loads().sorted() => Ok(second),
                _ => Ok(first),
            },
            first => first,
        }
    }

    fn new(
        graph: &'a Graph,
        region: RegionId,
        options: &LivenessOptions,
        captured: Option<TensorId>,
    ) -> Self {
        let operators = graph.file_order(region);
        let around = graph.region(region).owner.and_then(|owner| {
            let position = graph.operator(owner).regions.iter().position(|&one| one == region)?;
            Some((graph.flow(owner).ok()??, position))
        });
        let count = operators.len();
        let mut scope = Self {
            graph,
            region,
            all: *options,
            options: options.inside(region),
            operators,
            tensors: Vec::new(),
            known: HashMap::new(),
            users: Vec::new(),
            makers: Vec::new(),
            root: Vec::new(),
            offset: Vec::new(),
            shared: Vec::new(),
            given: Vec::new(),
            wanted: Vec::new(),
            captured: Vec::new(),
            around,
            before: vec![Vec::new(); count],
            seen: vec![0; count],
            searches: 0,
            visited: 0,
            rule: Rule::Sizes,
            is_partial: false,
            loads: None,
        };
        scope.learn_all(captured);
        scope.mark_interface();
        for (one, maker) in scope.makers.iter().enumerate() {
            let Some(maker) = *maker else { continue };
            for &user in scope.users[one].iter().filter(|&&user| user != maker) {
                scope.before[user as usize].push(maker);
            }
        }
        let alone = |one: usize| Shared {
            members: vec![one],
            start: 0,
            end: scope.bytes(one).get() as i64,
            newest: scope.makers[one],
            users: scope.users[one].clone(),
            plain: scope.may_lose(one),
            captured: Some(one).filter(|&one| scope.captured[one]),
        };
        scope.shared = (0..scope.tensors.len()).map(alone).collect();
        scope
    }

    /// Finds the tensors of the region, and those of enclosing regions that aliases refer to or that `also`
    /// names.
    fn learn_all(&mut self, also: Option<TensorId>) {
        let (graph, region) = (self.graph, self.region);
        let operators = self.operators.clone();
        let aliases = operators.iter().flat_map(|&id| &graph.operator(id).aliases);
        let captured: HashSet<TensorId> = aliases
            .filter(|alias| {
                self.options.captured && self.is_enabled(alias.kind) && graph.place(alias.input) != region
            })
            .map(|alias| alias.input)
            .chain(also)
            .collect();
        let relevant = |tensor: &TensorId| graph.place(*tensor) == region || captured.contains(tensor);
        for &tensor in graph.region(region).inputs.iter().filter(|tensor| relevant(tensor)) {
            self.learn(tensor);
        }
        for (at, &id) in operators.iter().enumerate() {
            let at = at as u32;
            for tensor in graph.reads(id).into_iter().filter(&relevant) {
                let one = self.learn(tensor);
                self.users[one].push(at);
            }
            for &tensor in graph.operator(id).outputs.iter().filter(|tensor| relevant(tensor)) {
                let one = self.learn(tensor);
                self.makers[one] = Some(at);
                self.users[one].push(at);
            }
        }
        // Tensors that are kept between runs occupy memory even if no operator uses them.
        let kept = |tensor: &Tensor| match tensor.role {
            Role::Weight => self.options.weights,
            Role::State => self.options.states,
            _ => false,
        };
        if region == Graph::BODY {
            let all = graph.tensors().iter().enumerate().filter(|(_, tensor)| kept(tensor));
            let all: Vec<TensorId> = all.map(|(at, _)| TensorId::at(at)).collect();
            for tensor in all.into_iter().filter(&relevant) {
                self.learn(tensor);
            }
        }
    }

    /// Marks the inputs and outputs of the region.
    fn mark_interface(&mut self) {
        let region = self.graph.region(self.region);
        for tensor in &region.inputs {
            if let Some(&one) = self.known.get(tensor) {
                self.given[one] = true;
            }
        }
        for tensor in &region.outputs {
            if let Some(&one) = self.known.get(tensor) {
                self.wanted[one] = true;
            }
        }
        // A loop passes on the inputs of its condition, even if the condition does not read them.
        for handover in self.around.iter().flat_map(|(flow, _)| &flow.handovers) {
            if let Some(&one) = self.known.get(&handover.from).filter(|_| self.is_loop()) {
                self.wanted[one] |= self.given[one] && self.users[one].is_empty();
            }
        }
    }

    /// Returns the index of a tensor, and adds the tensor if it is new.
    fn learn(&mut self, tensor: TensorId) -> usize {
        let next = self.tensors.len();
        let one = *self.known.entry(tensor).or_insert(next);
        if one == next {
            self.tensors.push(tensor);
            self.users.push(Vec::new());
            self.makers.push(None);
            self.root.push(one);
            self.offset.push(0);
            self.given.push(false);
            self.wanted.push(false);
            self.captured.push(self.graph.place(tensor) != self.region);
        }
        one
    }

    pub(super) fn operators(&self) -> &[OperatorId] {
        &self.operators
    }

    fn is_loop(&self) -> bool {
        self.around.as_ref().is_some_and(|(flow, _)| flow.control == Control::Loop)
    }

    fn is_enabled(&self, kind: AliasKind) -> bool {
        match kind {
            AliasKind::View | AliasKind::Part => self.options.views,
            AliasKind::InPlace => self.options.in_place,
        }
    }

    fn role(&self, one: usize) -> Role {
        self.graph.tensor(self.tensors[one]).role
    }

    fn bytes(&self, one: usize) -> Bytes {
        self.graph.tensor(self.tensors[one]).bytes
    }

    /// Returns the bytes of a tensor, counted from the start of its root.
    fn range(&self, one: usize) -> (i64, i64) {
        (self.offset[one], self.offset[one] + self.bytes(one).get() as i64)
    }

    /// Returns true if a tensor has a fixed address, or refers to data that its operator keeps, as the output
    /// of `VAR_HANDLE` does.
    fn is_apart(&self, one: usize) -> bool {
        let (graph, id) = (self.graph, self.tensors[one]);
        let is_alone = |maker| graph.operator(maker).inputs.is_empty();
        let is_handle = || graph.tensor(id).element.as_deref() == Some("resource");
        graph.fixed(id).is_some() || is_handle() && graph.producer(id).is_some_and(is_alone)
    }

    /// Returns true if a tensor occupies memory in the arena, outside of all segments.
    fn inside(&self, one: usize) -> bool {
        if self.is_apart(one) {
            return false;
        }
        let at_border = if self.captured[one] {
            let place = self.graph.region(self.graph.place(self.tensors[one]));
            let is_listed =
                [&place.inputs, &place.outputs].iter().any(|list| list.contains(&self.tensors[one]));
            is_listed && self.graph.place(self.tensors[one]) == Graph::BODY
        } else {
            self.given[one] || self.wanted[one]
        };
        let boundary = if self.captured[one] { self.all.boundary } else { self.options.boundary };
        match self.role(one) {
            Role::Weight => self.options.weights,
            Role::State => self.options.states,
            _ => !at_border || boundary != Boundary::Outside,
        }
    }

    /// Adds outputs of the operator at position `at` to the storages of its inputs where the rules allow
    /// sharing.
    fn share(&mut self, at: u32) -> Result<(), OrderError> {
        let graph = self.graph;
        for alias in &graph.operator(self.operators[at as usize]).aliases {
            let (Some(&input), Some(&output)) = (self.known.get(&alias.input), self.known.get(&alias.output))
            else {
                continue;
            };
            let has_bytes = self.bytes(input) > Bytes::ZERO && self.bytes(output) > Bytes::ZERO;
            let is_apart = self.is_apart(input) || self.is_apart(output);
            if !self.is_enabled(alias.kind)
                || !has_bytes
                || is_apart
                || self.inside(input) != self.inside(output)
            {
                continue;
            }
            match alias.kind {
                AliasKind::InPlace => {
                    if let Some(shift) = self.overwritable(at, alias, input, output) {
                        self.unite(input, output, shift);
                        let users = self.users[output].clone();
                        self.shared[self.root[input]].users = users;
                    }
                }
                AliasKind::View => {
                    if !self.view(alias, input, output) && !self.is_copied_by_loop(alias, input, output) {
                        let name = |id: TensorId| graph.tensor(id).name.clone();
                        return Err(OrderError::Views {
                            operator: graph.called(self.operators[at as usize]),
                            input: name(alias.input),
                            output: name(alias.output),
                        });
                    }
                }
                AliasKind::Part => {
                    if alias.offset.get().is_multiple_of(self.options.align.get().max(1)) {
                        self.view(alias, input, output);
                    }
                }
            }
        }
        Ok(())
    }

    /// Unites the storages of a view and its input. Returns false if the rules forbid it.
    fn view(&mut self, alias: &Alias, input: usize, output: usize) -> bool {
        let shift = self.graph.displacement(alias);
        let distance = shift + self.offset[input] - self.offset[output];
        let (a, b) = (self.root[input], self.root[output]);
        if a == b {
            return distance == 0;
        }
        let fits = self.fits(alias, input, output, distance) && self.renews(input, output, distance);
        if fits {
            self.unite(input, output, shift);
        }
        fits
    }

    /// Returns true if the loop copies a view because it does not renew the input of its body in place.
    fn is_copied_by_loop(&self, alias: &Alias, input: usize, output: usize) -> bool {
        let distance = self.graph.displacement(alias) + self.offset[input] - self.offset[output];
        self.root[input] != self.root[output] && !self.renews(input, output, distance)
    }

    /// Returns true if no bytes of the two storages belong to different tensors. The origin of the storage of
    /// `output` lies `distance` bytes after that of `input`.
    fn fits(&self, alias: &Alias, input: usize, output: usize, distance: i64) -> bool {
        let (own, other) = (&self.shared[self.root[input]], &self.shared[self.root[output]]);
        let (ours, theirs) = (&own.members, &other.members);
        let inside = self.graph.is_inside(alias);
        if inside && theirs.len() == 1 {
            return true;
        }
        if own.captured.is_some() || other.captured.is_some() {
            return false;
        }
        let is_within = |shared: &Shared, one: usize| {
            let (start, end) = self.range(one);
            start <= shared.start && shared.end <= end
        };
        if !inside && is_within(own, input) && is_within(other, output) {
            return true;
        }
        let meet = |a: (i64, i64), b: (i64, i64)| a.0 < b.1 && b.0 < a.1;
        let moved = |one: usize| {
            let (start, end) = self.range(one);
            (start + distance, end + distance)
        };
        let (input_range, output_range) = (self.range(input), moved(output));
        // All that both tensors of the view have in common is the smaller one.
        let common = (input_range.0.max(output_range.0), input_range.1.min(output_range.1));
        let within = |range: (i64, i64), whole: (i64, i64)| {
            let part = (range.0.max(whole.0), range.1.min(whole.1));
            part.0 >= part.1 || common.0 <= part.0 && part.1 <= common.1
        };
        ours.iter().all(|&one| within(self.range(one), output_range))
            && theirs.iter().filter(|&&one| one != output).all(|&two| {
                within(moved(two), input_range) && !ours.iter().any(|&one| meet(self.range(one), moved(two)))
            })
    }

    /// Returns true if a loop may use the united storages of two tensors: if a result of its body is in them,
    /// each input of the body that is in them receives its next value without a copy.
    fn renews(&self, input: usize, output: usize, distance: i64) -> bool {
        let Some((flow, position)) = self.around.as_ref().filter(|_| self.is_loop()) else { return true };
        let (ours, theirs) =
            (&self.shared[self.root[input]].members, &self.shared[self.root[output]].members);
        if !ours.iter().chain(theirs).any(|&one| self.wanted[one]) {
            return true;
        }
        let ours = ours.iter().map(|&one| (one, self.offset[one]));
        let all: HashMap<usize, i64> =
            ours.chain(theirs.iter().map(|&one| (one, self.offset[one] + distance))).collect();
        let place = |tensor: TensorId| {
            let one = *self.known.get(&tensor)?;
            Some((*all.get(&one)?, self.bytes(one), self.given[one]))
        };
        let ends = flow.handovers.iter().filter(|one| one.when == Moment::End(*position) && !one.part);
        ends.filter_map(|one| Some((one.from, place(one.to).filter(|to| to.2)?)))
            .all(|(from, to)| place(from).is_some_and(|from| (from.0, from.1) == (to.0, to.1)))
    }

    /// Moves the storage of `output` into that of `input`. `shift` is the distance of the two tensors.
    fn unite(&mut self, input: usize, output: usize, shift: i64) {
        let (mut into, mut from) = (self.root[input], self.root[output]);
        let mut distance = shift + self.offset[input] - self.offset[output];
        if let Some(mut loads) = self.loads.take() {
            let (parts, united) = self.both([into, from], distance);
            loads.unite(&parts, united);
            self.loads = Some(loads);
        }
        if self.shared[into].members.len() < self.shared[from].members.len() {
            (into, from, distance) = (from, into, -distance);
        }
        let members = std::mem::take(&mut self.shared[from].members);
        for &one in &members {
            self.root[one] = into;
            self.offset[one] += distance;
        }
        let users = std::mem::take(&mut self.shared[from].users);
        let Shared { start, end, newest, plain, captured, .. } = self.shared[from];
        let shared = &mut self.shared[into];
        shared.members.extend(members);
        shared.users.extend(users);
        shared.start = shared.start.min(start + distance);
        shared.end = shared.end.max(end + distance);
        shared.newest = shared.newest.max(newest);
        shared.plain &= plain;
        shared.captured = shared.captured.or(captured);
    }

    /// Returns where `output` begins if the operator at position `at` may write it over `input`, in bytes
    /// after the first byte of `input`. Returns `None` if something else still needs the contents of the
    /// storage of `input`, or if sharing costs more memory than it saves.
    fn overwritable(&mut self, at: u32, alias: &Alias, input: usize, output: usize) -> Option<i64> {
        let root = self.root[input];
        let is_alone = self.root[output] == output && self.shared[output].members.len() == 1;
        // The output may begin even earlier, at an aligned byte.
        let before = alias.offset.get().checked_next_multiple_of(self.options.align.get().max(1))?;
        let shift = -i64::try_from(before).ok()?;
        let distance = self.offset[input] + shift;
        let is_whole = shift == 0 && self.bytes(input) == self.bytes(output);
        let may = is_alone
            && root != output
            && self.shared[root].newest != Some(at)
            && self.renews(input, output, distance)
            && self.is_free_after(at, input)
            && self.leaves_inputs(at, alias, distance)
            && (is_whole || self.is_worth(root, output, distance));
        may.then_some(shift)
    }

    /// Returns true if moving `output` into a storage, `distance` bytes after its root, saves memory by the
    /// rule that is in use.
    fn is_worth(&mut self, root: usize, output: usize, distance: i64) -> bool {
        self.is_partial = true;
        let (parts, united) = self.both([root, output], distance);
        match self.rule {
            Rule::Sizes => parts[0].1 + parts[1].1 - united >= united - parts[0].1.min(parts[1].1),
            Rule::Loads => {
                let loads = self.loads.take().unwrap_or_else(|| self.all_loads());
                let falls = loads.fall(&parts, united);
                self.loads = Some(loads);
                falls
            }
        }
    }

    fn all_loads(&self) -> Loads {
        let storages = (0..self.tensors.len()).filter(|&one| self.root[one] == one && self.inside(one));
        Loads::new(self.operators.len(), storages.map(|one| (self.span(one), self.extent(one))))
    }

    /// Returns the positions at which two storages are live, their bytes, and the bytes of both as one. The
    /// root of the second one lies `distance` bytes after that of the first one.
    fn both(&self, roots: [usize; 2], distance: i64) -> ([(Range<usize>, i64); 2], i64) {
        let parts = roots.map(|root| (self.span(root), self.extent(root)));
        let [own, other] = roots.map(|root| (self.shared[root].start, self.shared[root].end));
        (parts, own.1.max(other.1 + distance) - own.0.min(other.0 + distance))
    }

    fn extent(&self, root: usize) -> i64 {
        self.shared[root].end - self.shared[root].start
    }

    /// Returns the positions at which a storage is live in the order of the file.
    fn span(&self, root: usize) -> Range<usize> {
        let members = &self.shared[root].members;
        let users = || members.iter().flat_map(|&one| &self.users[one]).map(|&at| at as usize);
        let is_given = members.iter().any(|&one| self.given[one] || self.captured[one]);
        let is_wanted = members.iter().any(|&one| self.wanted[one] || self.captured[one]);
        let first = if is_given { Some(0) } else { users().min() };
        let end = if is_wanted { Some(self.operators.len()) } else { users().max().map(|last| last + 1) };
        first.zip(end).map_or(0..0, |(first, end)| first..end)
    }

    /// Returns true if the output of an alias, `distance` bytes after the root of its input, overwrites no
    /// other input of the operator at position `at`, except as further aliases allow.
    fn leaves_inputs(&self, at: u32, alias: &Alias, distance: i64) -> bool {
        let operator = self.graph.operator(self.operators[at as usize]);
        let Some(&input) = self.known.get(&alias.input) else { return false };
        let end = distance + self.graph.tensor(alias.output).bytes.get() as i64;
        operator.inputs.iter().filter(|&&other| other != alias.input).all(|other| {
            let Some(&one) = self.known.get(other).filter(|&&one| self.root[one] == self.root[input]) else {
                return true;
            };
            let (first, last) = self.range(one);
            let is_apart = last <= distance || end <= first;
            let mut also = operator.aliases.iter().filter(|also| {
                (also.input, also.output, also.kind) == (*other, alias.output, AliasKind::InPlace)
            });
            is_apart || also.any(|also| also.allows(first - distance))
        })
    }

    /// Returns true if nothing needs the storage of a tensor after the operator at position `at` has run,
    /// except that operator.
    fn is_free_after(&mut self, at: u32, tensor: usize) -> bool {
        let Shared { users, plain, captured, .. } = &self.shared[self.root[tensor]];
        let (plain, captured) = (*plain, *captured);
        let others: Vec<u32> = users.iter().copied().filter(|&user| user != at).collect();
        plain && self.all_precede(&others, at) && captured.is_none_or(|one| self.may_lose_captured(one))
    }

    /// Returns true if the region may overwrite a tensor that nothing reads any more.
    fn may_lose(&self, one: usize) -> bool {
        let constant = matches!(self.role(one), Role::Weight | Role::State);
        !constant && !self.wanted[one] && (!self.given[one] || self.may_lose_given(one))
    }

    /// Returns true if an input of the region may be overwritten.
    fn may_lose_given(&self, one: usize) -> bool {
        let Some((flow, position)) = &self.around else { return self.options.boundary == Boundary::Arena };
        let (id, owner) = (self.tensors[one], self.graph.region(self.region).owner);
        let last = owner.map_or(0, |owner| self.graph.operator(owner).regions.len() - 1);
        let written = |when: Moment| flow.handovers.iter().any(|h| h.to == id && h.when == when);
        let is_renewed = flow.control != Control::Loop
            || flow.handovers.iter().all(|h| h.to != id)
            || written(Moment::Begin(*position))
            || written(Moment::End(last));
        let next = last == 0 && written(Moment::End(*position));
        let mut readers = flow.handovers.iter().filter(|h| h.from == id);
        is_renewed && readers.all(|h| h.when == Moment::Exit && next)
    }

    /// Returns true if the region may overwrite a captured tensor: the region runs at most once, and nothing
    /// needs the tensor after the owner of the region.
    fn may_lose_captured(&self, one: usize) -> bool {
        let (Some((flow, _)), Some(owner)) = (&self.around, self.graph.region(self.region).owner) else {
            return false;
        };
        let regions = &self.graph.operator(owner).regions;
        let once = flow.control == Control::Branch || flow.control == Control::Call && regions.len() == 1;
        let id = self.tensors[one];
        let handed = flow
            .handovers
            .iter()
            .any(|h| h.from == id && !matches!(h.when, Moment::Enter | Moment::Begin(_)));
        if !once || handed {
            return false;
        }
        let outer = Scope::with(self.graph, self.graph.home(owner), &self.all, Some(id));
        let Ok(mut outer) = outer else { return false };
        let at = outer.operators.iter().position(|&id| id == owner);
        match (at, outer.known.get(&id).copied()) {
            (Some(at), Some(one)) => outer.is_free_after(at as u32, one),
            _ => false,
        }
    }

    /// Returns true if all of the given operators run before the operator at position `at` in every order.
    fn all_precede(&mut self, others: &[u32], at: u32) -> bool {
        if self.options.file_order {
            return others.iter().all(|&one| one < at);
        }
        let direct = &self.before[at as usize];
        let mut left: HashSet<u32> = others.iter().copied().filter(|one| !direct.contains(one)).collect();
        let Some(least) = left.iter().copied().min() else { return true };
        self.searches += 1;
        let mut todo = vec![at];
        while let Some(next) = todo.pop() {
            for before in &self.before[next as usize] {
                // Operators are numbered in a topological order.
                if *before < least || self.seen[*before as usize] == self.searches {
                    continue;
                }
                self.seen[*before as usize] = self.searches;
                self.visited += 1;
                left.remove(before);
                todo.push(*before);
            }
            if left.is_empty() {
                return true;
            }
            if self.visited > MOST_VISITED {
                return false;
            }
        }
        false
    }

    /// Returns the storages of the region.
    ///
    /// # Errors
    /// [`OrderError::TooLarge`] if a rounded size exceeds 64 bits.
    pub(super) fn held(&self) -> Result<Held, OrderError> {
        let mut held = Held { storages: Vec::new(), tensors: Vec::new(), outer: Vec::new() };
        for root in (0..self.tensors.len()).filter(|&one| self.root[one] == one) {
            let Shared { members, start, end, captured, .. } = &self.shared[root];
            if let Some(captured) = *captured {
                let others: Vec<usize> = members.iter().copied().filter(|&one| one != captured).collect();
                if !others.is_empty() {
                    let members = self.members(&others, self.offset[captured]);
                    held.outer.push(Outer { captured: self.tensors[captured], members });
                }
                continue;
            }
            let size = Bytes::new((end - start) as u64);
            if size == Bytes::ZERO || !self.inside(root) {
                continue;
            }
            let size = size.align_up(self.options.align).ok_or(OrderError::TooLarge)?;
            held.storages.push(self.storage(members, size));
            held.tensors.push(self.members(members, *start));
        }
        Ok(held)
    }

    /// Returns tensors of one storage, ascending, with offsets from byte `start`.
    fn members(&self, list: &[usize], start: i64) -> Vec<Member> {
        let member = |&one: &usize| Member {
            tensor: self.tensors[one],
            offset: Bytes::new((self.offset[one] - start) as u64),
        };
        let mut members: Vec<Member> = list.iter().map(member).collect();
        members.sort_unstable();
        members
    }

    /// Returns the storage of the given tensors. It has the name of the largest one, or of the first of the
    /// largest ones.
    fn storage(&self, members: &[usize], size: Bytes) -> Storage {
        let named = members.iter().copied().max_by_key(|&one| (self.bytes(one), Reverse(one)));
        let named = named.unwrap_or(members[0]);
        let mut users: Vec<u32> = members.iter().flat_map(|&one| self.users[one].clone()).collect();
        users.sort_unstable();
        users.dedup();
        let given = members.iter().any(|&one| self.given[one]);
        let wanted = members.iter().any(|&one| self.wanted[one]);
        let constant = members.iter().any(|&one| matches!(self.role(one), Role::Weight | Role::State));
        let boundary = self.options.boundary;
        let always = constant
            || (boundary == Boundary::Persistent && (given || wanted))
            || (boundary == Boundary::Held && given);
        Storage {
            name: self.graph.tensor(self.tensors[named]).name.clone(),
            size,
            from_start: always || given,
            to_end: always || wanted,
            users: users.into_iter().map(OperatorId::new).collect(),
        }
    }

    /// Returns the tensors of zero bytes in the arena, which occupy no memory.
    pub(super) fn empty(&self) -> Vec<(TensorId, Storage)> {
        let empty = (0..self.tensors.len())
            .filter(|&one| self.bytes(one) == Bytes::ZERO && !self.captured[one] && self.inside(one));
        empty.map(|one| (self.tensors[one], self.storage(&[one], Bytes::ZERO))).collect()
    }

    /// Returns the precedences between operators: producers run before users.
    pub(super) fn edges(&self) -> Vec<(OperatorId, OperatorId)> {
        let edges = self.before.iter().enumerate();
        edges
            .flat_map(|(user, before)| {
                before.iter().map(move |&maker| (OperatorId::new(maker), OperatorId::at(user)))
            })
            .collect()
    }
}
