//! Derives the order problem of a region: which tensors occupy memory, which tensors share memory, and when
//! the memory is held.
//!
//! A *storage* is the memory of one tensor, or of several tensors that share it. It is held from the
//! operator that produces its first tensor to the last operator that uses any of its tensors. Inputs of the
//! region are held from the first step, even if nothing reads them, and outputs are held to the last step
//! (LUNA, eq. 1). A [`Boundary`] may hold these tensors longer or place them outside the arena.
//!
//! # Sharing
//! - A **view** (reshape, identity) shares the storage of its input, even if other operators read the input,
//!   because nothing is written.
//! - An operator may write an output **in place** of an input under three conditions. Both have the same
//!   size. All tensors in the storage of the input are activations that are neither inputs nor outputs of the
//!   region. Every other operator that uses this storage produces a tensor in it. Those other operators run
//!   earlier in every order, so the overwritten data is never read again.
//!
//! If a loop body returns a view of its own input, the view gets a storage of its own and counts as a copy.
//! The reason is that the loop overwrites its state while it reads the result. Two tensors share nothing if
//! only one of them is in the arena, or if one of them has zero bytes. An output of the region may share its
//! storage with other tensors. An input of the region may have views, but is never overwritten.

use super::{AliasKind, Control, Graph, Operator, Role, Tensor};
use crate::orders::{OrderError, OrderProblem, Storage};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::{HashMap, HashSet};

/// Where the inputs and outputs of a region are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// In the arena while needed. Inputs are held from the start to their last use, and outputs from their
    /// producer to the end. An input without readers is held before the first operator, together with all
    /// other inputs, and is then released.
    #[default]
    Arena,
    /// In the arena. Inputs are held from the first step to the last, and outputs from their producer to the
    /// end.
    Held,
    /// In the arena from the first step to the last. Their memory is never reused (Mini-Infer).
    Persistent,
    /// Outside the arena, in memory provided by the caller (LUNA).
    Outside,
}

impl Boundary {
    /// Returns true if inputs must still be intact in the arena at the end.
    pub fn keeps_inputs(self) -> bool {
        matches!(self, Self::Held | Self::Persistent)
    }
}

/// The assumptions of a liveness analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivenessOptions {
    /// Where inputs and outputs are stored.
    pub boundary: Boundary,
    /// True if weights occupy the arena for the whole run.
    pub weights: bool,
    /// True if states (variable tensors) occupy the arena for the whole run, even if nothing uses them.
    pub states: bool,
    /// True if views share memory with their inputs.
    pub views: bool,
    /// True if operators write in place where the rules allow it.
    pub in_place: bool,
    /// The alignment in bytes to which sizes are rounded up.
    pub align: Bytes,
}

impl Default for LivenessOptions {
    /// Returns the options with inputs and outputs in the arena while they are needed, and states in the
    /// arena for the whole run. Weights are outside the arena. Views share memory, and no operator writes in
    /// place.
    fn default() -> Self {
        Self {
            boundary: Boundary::Arena,
            weights: false,
            states: true,
            views: true,
            in_place: false,
            align: Bytes::new(1),
        }
    }
}

/// The order problem of a region, and the mapping from its ids to those of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Storages {
    /// The order problem. Its operators are those of the region, in the order of [`Graph::file_order`].
    pub problem: OrderProblem,
    /// Per operator of the problem: the corresponding operator of the graph.
    pub operators: Vec<OperatorId>,
    /// Per storage of the problem: its tensors, ascending.
    pub tensors: Vec<Vec<TensorId>>,
    /// Tensors of zero bytes in the arena. They belong to no storage of the problem. Each tensor is paired
    /// with a separate storage that describes when the tensor is live.
    pub empty: Vec<(TensorId, Storage)>,
}

impl Graph {
    /// Derives the order problem of one region. O(s log s), where s is the size of the region and of the
    /// regions nested inside it.
    ///
    /// `scratch` returns the bytes that an operator needs while it runs, in addition to its own
    /// [`Operator::scratch`]: the memory of the regions that it owns. Tensors of enclosing regions are not
    /// counted, because they are counted in those regions. Tensors of size zero occupy no memory.
    ///
    /// # Errors
    /// [`OrderError::TooLarge`] if the rounded sizes add up to 2^63 bytes or more.
    pub fn storages(
        &self,
        region: RegionId,
        options: &LivenessOptions,
        mut scratch: impl FnMut(OperatorId) -> Bytes,
    ) -> Result<Storages, OrderError> {
        let operators = self.file_order(region);
        let mut scope = Scope::new(self, region, options, &operators);
        for (at, &id) in operators.iter().enumerate() {
            scope.share(at as u32, self.operator(id), options);
        }
        let (storages, tensors) = scope.storages(options)?;
        let empty = scope.empty(options);
        let mut needs = Vec::with_capacity(operators.len());
        for &id in &operators {
            let raw = self.operator(id).scratch.checked_add(scratch(id));
            needs.push(raw.and_then(|raw| raw.align_up(options.align)).ok_or(OrderError::TooLarge)?);
        }
        let names = operators.iter().map(|&id| self.called(id));
        let name = if region == Self::BODY {
            self.name().to_owned()
        } else {
            format!("{}/{}", self.name(), self.region(region).name)
        };
        let edges = scope.edges();
        let problem = OrderProblem::new(name, names.collect(), edges, storages, needs)?;
        Ok(Storages { problem, operators, tensors, empty })
    }
}

/// The tensors of one storage, and the data needed to decide whether it may be overwritten.
struct Shared {
    members: Vec<usize>,
    /// Operators that produce a member, in the order in which they were visited.
    makers: Vec<u32>,
    /// Operators that use a member and produce none.
    readers: HashSet<u32>,
    /// True if all members are activations that are neither inputs nor outputs of the region.
    plain: bool,
}

/// The state of one region while its storages are being determined.
struct Scope<'a> {
    graph: &'a Graph,
    region: RegionId,
    /// Tensors of the region that may occupy memory, in the order of their first appearance.
    tensors: Vec<TensorId>,
    /// The index in `tensors` of each tensor.
    known: HashMap<TensorId, usize>,
    /// Per tensor: the positions of the operators that use it.
    users: Vec<Vec<u32>>,
    /// Per tensor: the operator that produces it.
    makers: Vec<Option<u32>>,
    /// Per tensor: the tensor that represents its storage.
    root: Vec<usize>,
    /// Per root: the storage as determined so far.
    shared: Vec<Shared>,
    given: Vec<bool>,
    wanted: Vec<bool>,
    is_loop: bool,
}

impl<'a> Scope<'a> {
    fn new(graph: &'a Graph, region: RegionId, options: &LivenessOptions, operators: &[OperatorId]) -> Self {
        let (tensors, known) = (Vec::new(), HashMap::new());
        let (users, makers, root) = (Vec::new(), Vec::new(), Vec::new());
        let (given, wanted, shared) = (Vec::new(), Vec::new(), Vec::new());
        let owner = graph.region(region).owner.and_then(|owner| graph.flow(owner).ok()?);
        let is_loop = owner.as_ref().is_some_and(|flow| flow.control == Control::Loop);
        let mut scope =
            Self { graph, region, tensors, known, users, makers, root, shared, given, wanted, is_loop };
        for &tensor in &graph.region(region).inputs {
            scope.learn(tensor);
        }
        for (at, &id) in operators.iter().enumerate() {
            let at = at as u32;
            for tensor in graph.reads(id) {
                if let Some(one) = scope.learn(tensor) {
                    scope.users[one].push(at);
                }
            }
            for &tensor in &graph.operator(id).outputs {
                if let Some(one) = scope.learn(tensor) {
                    scope.makers[one] = Some(at);
                    scope.users[one].push(at);
                }
            }
        }
        // Tensors that are kept between runs occupy memory even if no operator uses them.
        let kept = |tensor: &Tensor| match tensor.role {
            Role::Weight => options.weights,
            Role::State => options.states,
            _ => false,
        };
        if region == Graph::BODY {
            let all = graph.tensors().iter().enumerate();
            all.filter(|(_, tensor)| kept(tensor)).for_each(|(at, _)| {
                scope.learn(TensorId::at(at));
            });
        }
        for &tensor in &graph.region(region).inputs {
            scope.mark(tensor, |scope, one| scope.given[one] = true);
        }
        for &tensor in &graph.region(region).outputs {
            scope.mark(tensor, |scope, one| scope.wanted[one] = true);
        }
        // A loop passes on the inputs of its condition, even if the condition does not read them.
        for handover in owner.iter().flat_map(|flow| &flow.handovers) {
            scope.mark(handover.from, |scope, one| {
                scope.wanted[one] |= scope.given[one] && scope.users[one].is_empty();
            });
        }
        scope.shared = (0..scope.tensors.len()).map(|one| scope.alone(one)).collect();
        scope
    }

    fn mark(&mut self, tensor: TensorId, set: impl FnOnce(&mut Self, usize)) {
        if let Some(&one) = self.known.get(&tensor) {
            set(self, one);
        }
    }

    /// Returns the index of a tensor of this region and adds the tensor if it is new. Returns `None` for
    /// tensors of other regions.
    fn learn(&mut self, tensor: TensorId) -> Option<usize> {
        if self.graph.place(tensor) != self.region {
            return None;
        }
        let next = self.tensors.len();
        let one = *self.known.entry(tensor).or_insert(next);
        if one == next {
            self.tensors.push(tensor);
            self.users.push(Vec::new());
            self.makers.push(None);
            self.root.push(one);
            self.given.push(false);
            self.wanted.push(false);
        }
        Some(one)
    }

    fn role(&self, one: usize) -> Role {
        self.graph.tensor(self.tensors[one]).role
    }

    /// Returns true if a tensor occupies memory in the arena.
    fn inside(&self, one: usize, options: &LivenessOptions) -> bool {
        match self.role(one) {
            Role::Weight => options.weights,
            Role::State => options.states,
            _ if self.given[one] || self.wanted[one] => options.boundary != Boundary::Outside,
            _ => true,
        }
    }

    /// Returns the storage of a tensor that does not share memory with any other tensor yet.
    fn alone(&self, one: usize) -> Shared {
        let maker = self.makers[one];
        let readers = self.users[one].iter().copied().filter(|&user| Some(user) != maker).collect();
        let plain = self.role(one) == Role::Activation && !self.wanted[one] && !self.given[one];
        Shared { members: vec![one], makers: maker.into_iter().collect(), readers, plain }
    }

    /// Adds outputs of the operator at position `at` to the storages of its inputs where the rules allow
    /// sharing.
    fn share(&mut self, at: u32, operator: &Operator, options: &LivenessOptions) {
        for alias in &operator.aliases {
            let (Some(&input), Some(&output)) = (self.known.get(&alias.input), self.known.get(&alias.output))
            else {
                continue;
            };
            let same_side = self.inside(input, options) == self.inside(output, options);
            let root = self.root[input];
            // A tensor of zero bytes has no address, so it shares nothing.
            let shares = same_side && self.has_bytes(input) && self.has_bytes(output);
            let allowed = match alias.kind {
                AliasKind::View => options.views && !self.carries(root, output),
                AliasKind::InPlace => options.in_place && self.overwritable(at, input, output),
            };
            if self.root[output] == output && shares && allowed {
                self.root[output] = root;
                let theirs = std::mem::take(&mut self.shared[output].readers);
                let plain = self.shared[output].plain;
                let shared = &mut self.shared[root];
                shared.members.push(output);
                shared.makers.push(at);
                shared.readers.remove(&at);
                shared.readers.extend(theirs);
                shared.plain &= plain;
            }
        }
    }

    fn has_bytes(&self, one: usize) -> bool {
        self.graph.tensor(self.tensors[one]).bytes > Bytes::ZERO
    }

    /// Returns true if a loop body returns `output`, which is a view of one of the body's inputs. If the view
    /// and the input shared a storage, the loop would read and overwrite it at the same time.
    fn carries(&self, root: usize, output: usize) -> bool {
        self.is_loop && self.wanted[output] && self.shared[root].members.iter().any(|&one| self.given[one])
    }

    /// Returns true if the operator at position `at` may overwrite `input` with `output`: both have the same
    /// size, and no other operator still needs the contents of the storage of `input`.
    fn overwritable(&self, at: u32, input: usize, output: usize) -> bool {
        let bytes = |one: usize| self.graph.tensor(self.tensors[one]).bytes;
        let shared = &self.shared[self.root[input]];
        bytes(input) == bytes(output)
            && shared.plain
            && !shared.makers.contains(&at)
            && shared.readers.iter().all(|&reader| reader == at)
    }

    /// Returns the storages, and the tensors of each storage.
    fn storages(&self, options: &LivenessOptions) -> Result<(Vec<Storage>, Vec<Vec<TensorId>>), OrderError> {
        let (mut storages, mut names) = (Vec::new(), Vec::new());
        for root in (0..self.tensors.len()).filter(|&one| self.root[one] == one) {
            let members = &self.shared[root].members;
            let largest = members.iter().map(|&one| self.graph.tensor(self.tensors[one]).bytes).max();
            let size = largest.unwrap_or(Bytes::ZERO);
            if size == Bytes::ZERO || !self.inside(root, options) {
                continue;
            }
            let size = size.align_up(options.align).ok_or(OrderError::TooLarge)?;
            storages.push(self.storage(root, members, size, options));
            let mut tensors: Vec<TensorId> = members.iter().map(|&one| self.tensors[one]).collect();
            tensors.sort_unstable();
            names.push(tensors);
        }
        Ok((storages, names))
    }

    /// Returns the storage of the given tensors. Its name is that of the tensor `root`.
    fn storage(&self, root: usize, members: &[usize], size: Bytes, options: &LivenessOptions) -> Storage {
        let mut users: Vec<u32> = members.iter().flat_map(|&one| self.users[one].clone()).collect();
        users.sort_unstable();
        users.dedup();
        let given = members.iter().any(|&one| self.given[one]);
        let wanted = members.iter().any(|&one| self.wanted[one]);
        let constant = matches!(self.role(root), Role::Weight | Role::State);
        let always = constant
            || (options.boundary == Boundary::Persistent && (given || wanted))
            || (options.boundary == Boundary::Held && given);
        Storage {
            name: self.graph.tensor(self.tensors[root]).name.clone(),
            size,
            from_start: always || given,
            to_end: always || wanted,
            users: users.into_iter().map(OperatorId::new).collect(),
        }
    }

    /// Returns the tensors of zero bytes in the arena, which occupy no memory.
    fn empty(&self, options: &LivenessOptions) -> Vec<(TensorId, Storage)> {
        let empty = (0..self.tensors.len()).filter(|&one| !self.has_bytes(one) && self.inside(one, options));
        empty.map(|one| (self.tensors[one], self.storage(one, &[one], Bytes::ZERO, options))).collect()
    }

    /// Returns the precedences between operators: producers run before users.
    fn edges(&self) -> Vec<(OperatorId, OperatorId)> {
        let mut edges = Vec::new();
        for (one, maker) in self.makers.iter().enumerate() {
            let Some(maker) = *maker else { continue };
            let others = self.users[one].iter().filter(|&&user| user != maker);
            edges.extend(others.map(|&user| (OperatorId::new(maker), OperatorId::new(user))));
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// Builds the graph in -conv-> a -relu-> b -reshape-> c -add(c, d)-> out, with b -pool-> d.
    fn graph() -> Graph {
        let mut g = GraphBuilder::new("g");
        let mut t = |name: &str, bytes: u64, role| g.tensor(Tensor::new(name, bytes, role));
        let (x, w) = (t("in", 8, Role::Input), t("w", 100, Role::Weight));
        let (a, b) = (t("a", 4, Role::Activation), t("b", 4, Role::Activation));
        let (c, d) = (t("c", 4, Role::Activation), t("d", 4, Role::Activation));
        let out = t("out", 4, Role::Output);
        let body = g.body();
        g.operator(body, Operator::new("conv", "Conv").reads([x, w]).makes([a]));
        g.operator(body, Operator::new("relu", "Relu").reads([a]).makes([b]).alias(a, b, AliasKind::InPlace));
        let view = Operator::new("view", "Reshape").reads([b]).makes([c]).alias(b, c, AliasKind::View);
        g.operator(body, view);
        g.operator(body, Operator::new("pool", "Pool").reads([b]).makes([d]));
        let add = Operator::new("add", "Add").reads([c, d]).makes([out]);
        let add = add.alias(c, out, AliasKind::InPlace).alias(d, out, AliasKind::InPlace);
        g.operator(body, add);
        g.interface(body, [x], [out]);
        g.build().unwrap()
    }

    fn storages(options: &LivenessOptions) -> Vec<String> {
        let made = graph().storages(Graph::BODY, options, |_| Bytes::ZERO).unwrap();
        let show = |s: &Storage| {
            let users: Vec<String> = s.users.iter().map(ToString::to_string).collect();
            let (start, end) = (if s.from_start { "<" } else { "" }, if s.to_end { ">" } else { "" });
            format!("{}:{} {start}{}{end}", s.name, s.size, users.join(","))
        };
        made.problem.storages().iter().map(show).collect()
    }

    #[test]
    fn views_share_and_readers_forbid_writing_in_place() {
        let plain = LivenessOptions { views: false, ..LivenessOptions::default() };
        assert_eq!(storages(&plain), ["in:8 <0", "a:4 0,1", "b:4 1,2,3", "c:4 2,4", "d:4 3,4", "out:4 4>"]);
        let views = LivenessOptions::default();
        assert_eq!(storages(&views), ["in:8 <0", "a:4 0,1", "b:4 1,2,3,4", "d:4 3,4", "out:4 4>"]);
        // relu may overwrite a. add may overwrite d, but not c: c shares the storage of b, which pool reads.
        let all = LivenessOptions { in_place: true, ..views };
        assert_eq!(storages(&all), ["in:8 <0", "a:4 0,1,2,3,4", "d:4 3,4>"]);
    }

    /// Builds a random graph of `n` operators with one output each. Some operators return views, and others
    /// can write in place.
    fn random_graph(n: usize, seed: u64) -> Graph {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |end: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) as usize % end
        };
        let mut g = GraphBuilder::new("g");
        let x = g.tensor(Tensor::new("x", 4, Role::Input));
        let mut tensors = vec![x];
        for at in 0..n {
            let mut reads: Vec<TensorId> = (0..=below(2))
                .map(|_| tensors[below(tensors.len().min(4)).abs_diff(tensors.len() - 1)])
                .collect();
            reads.dedup();
            let output = g.tensor(Tensor::new(format!("t{at}"), 4, Role::Activation));
            let mut operator = Operator::new("", "F").reads(reads.iter().copied()).makes([output]);
            match below(4) {
                0 => operator = operator.alias(reads[0], output, AliasKind::View),
                1 => {}
                _ => {
                    for &one in &reads {
                        operator = operator.alias(one, output, AliasKind::InPlace);
                    }
                }
            }
            g.operator(Graph::BODY, operator);
            tensors.push(output);
        }
        let wanted = [tensors[below(tensors.len())], tensors[n]];
        for one in wanted.into_iter().filter(|&one| one != x) {
            g.tensor_mut(one).role = Role::Output;
        }
        g.interface(Graph::BODY, [x], wanted);
        g.build().unwrap()
    }

    /// Simulates the contents of the storages in every order and checks that each read finds the expected
    /// value.
    fn run(graph: &Graph, made: &Storages, order: &mut Vec<usize>, holds: &[Option<TensorId>]) {
        let value = |mut tensor: TensorId| {
            while let Some(maker) = graph.producer(tensor)
                && let Some(view) = graph
                    .operator(maker)
                    .aliases
                    .iter()
                    .find(|a| a.output == tensor && a.kind == AliasKind::View)
            {
                tensor = view.input;
            }
            tensor
        };
        let place = |tensor: TensorId| made.tensors.iter().position(|list| list.contains(&tensor)).unwrap();
        if order.len() == made.operators.len() {
            for &wanted in &graph.region(Graph::BODY).outputs {
                assert_eq!(holds[place(wanted)], Some(value(wanted)), "{order:?} {graph:?}");
            }
            return;
        }
        for at in 0..made.operators.len() {
            let before = made.problem.predecessors(OperatorId::at(at));
            if order.contains(&at) || !before.iter().all(|one| order.contains(&one.index())) {
                continue;
            }
            let operator = graph.operator(made.operators[at]);
            for &read in &operator.inputs {
                // A view does not read the data of its input.
                let shown = value(operator.outputs[0]) != operator.outputs[0]
                    && place(read) == place(operator.outputs[0]);
                assert!(shown || holds[place(read)] == Some(value(read)), "{order:?} {at} {graph:?}");
            }
            let mut after = holds.to_vec();
            let output = operator.outputs[0];
            if value(output) == output {
                after[place(output)] = Some(output);
            }
            order.push(at);
            run(graph, made, order, &after);
            order.pop();
        }
    }

    #[test]
    fn no_order_overwrites_data_that_is_read_later() {
        let options = LivenessOptions { in_place: true, ..LivenessOptions::default() };
        let mut shared = 0;
        for seed in 0..2000 {
            let graph = random_graph(2 + seed as usize % 5, seed);
            let made = graph.storages(Graph::BODY, &options, |_| Bytes::ZERO).unwrap();
            shared += made.tensors.iter().filter(|list| list.len() > 1).count();
            let holds: Vec<Option<TensorId>> =
                made.tensors.iter().map(|list| list.iter().copied().find(|t| t.index() == 0)).collect();
            run(&graph, &made, &mut Vec::new(), &holds);
        }
        assert!(shared > 1000, "{shared}");
    }

    #[test]
    fn the_boundary_is_a_choice() {
        let with = |boundary| LivenessOptions { boundary, weights: true, ..LivenessOptions::default() };
        let persistent = storages(&with(Boundary::Persistent));
        assert!(persistent.contains(&"in:8 <0>".to_owned()) && persistent.contains(&"out:4 <4>".to_owned()));
        assert!(persistent.contains(&"w:100 <0>".to_owned()));
        let outside = storages(&with(Boundary::Outside));
        assert!(!outside.iter().any(|s| s.starts_with("in") || s.starts_with("out")), "{outside:?}");
        let aligned = LivenessOptions { align: Bytes::new(256), ..LivenessOptions::default() };
        assert!(storages(&aligned).iter().all(|s| s.contains(":256 ")));
    }
}
