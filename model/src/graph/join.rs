//! Graphs built from other graphs: a part of one graph, or several graphs as the branches of one operator.

use super::{Alias, Graph, GraphBuilder, GraphError, Handover, Moment, Operator, Role, Segment, Tensor};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::HashSet;

/// How branches receive their inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inputs {
    /// Branches read tensors of the enclosing graph directly, as in ONNX.
    #[default]
    Captured,
    /// Branches receive copies when they begin, as in `TFLite`.
    Handed,
}

/// A choice between graphs: the branches of one `If`, or of a `Case` if there are more than two.
///
/// ```text
///  inputs ── trunk ──┬── branch 0 ──┐
///                    └── branch 1 ──┴── If ── results
///  choose ──────────────────────────┘
/// ```
///
/// The first inputs of every branch are the outputs of the trunk, if there is a trunk. The other inputs
/// become inputs of the whole graph. Result `k` has the size of the largest output `k` of any branch. A
/// branch without output `k` copies nothing to this result. The names of tensors and operators are prefixed
/// with the name of their part: `trunk/`, `0/`, `1/`.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The name of the resulting graph.
    pub name: &'a str,
    /// The graph that always runs before the choice, if any.
    pub trunk: Option<&'a Graph>,
    /// The graphs to choose from.
    pub branches: &'a [&'a Graph],
    /// How branches receive their inputs.
    pub inputs: Inputs,
}

/// The reason why graphs cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum JoinError {
    #[error("'{0}' has no branches")]
    NoBranches(String),
    /// An input of the branch and the corresponding output of the trunk differ in size.
    #[error("input {at} of branch '{branch}' has {wants} bytes, but the trunk produces {has}")]
    Size { branch: String, at: usize, wants: Bytes, has: Bytes },
    /// The branch has fewer inputs than the trunk has outputs.
    #[error("branch '{branch}' has fewer inputs ({wants}) than the trunk has outputs ({has})")]
    Count { branch: String, wants: usize, has: usize },
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Copies parts of a graph into another graph.
struct Copier<'a> {
    graph: &'a Graph,
    prefix: String,
    /// Per tensor of the original graph: its id in the new graph, once copied.
    tensors: Vec<Option<TensorId>>,
}

impl<'a> Copier<'a> {
    fn new(graph: &'a Graph, prefix: impl Into<String>) -> Self {
        Self { graph, prefix: prefix.into(), tensors: vec![None; graph.tensors().len()] }
    }

    fn name(&self, name: &str) -> String {
        if name.is_empty() { String::new() } else { format!("{}{name}", self.prefix) }
    }

    /// Returns the copy of a tensor in the new graph. Outputs become activations until they are used as
    /// results.
    fn tensor(&mut self, into: &mut GraphBuilder, id: TensorId) -> TensorId {
        if let Some(known) = self.tensors[id.index()] {
            return known;
        }
        let mut tensor = self.graph.tensor(id).clone();
        tensor.name = self.name(&tensor.name);
        if tensor.role == Role::Output {
            tensor.role = Role::Activation;
        }
        let made = into.tensor(tensor);
        self.tensors[id.index()] = Some(made);
        made
    }

    fn all(&mut self, into: &mut GraphBuilder, ids: &[TensorId]) -> Vec<TensorId> {
        ids.iter().map(|&id| self.tensor(into, id)).collect()
    }

    /// Copies the segments, with those of their tensors that were copied.
    fn segments(&self, into: &mut GraphBuilder) {
        for segment in self.graph.segments() {
            let copied = segment.tensors.iter().filter_map(|&(id, at)| Some((self.tensors[id.index()]?, at)));
            let (tensors, name): (Vec<_>, _) = (copied.collect(), self.name(&segment.name));
            if !tensors.is_empty() {
                into.segment(Segment { name, tensors, ..segment.clone() });
            }
        }
    }

    /// Copies operators and, recursively, the regions that they own.
    fn operators(&mut self, into: &mut GraphBuilder, ids: &[OperatorId], region: RegionId) {
        let graph = self.graph;
        for &id in ids {
            let old = graph.operator(id);
            let handovers = old.handovers.as_ref().map(|listed| {
                let mut copied = Vec::with_capacity(listed.len());
                for one in listed {
                    let (from, to) = (self.tensor(into, one.from), self.tensor(into, one.to));
                    copied.push(Handover { from, to, ..*one });
                }
                copied
            });
            let mut aliases = Vec::with_capacity(old.aliases.len());
            for one in &old.aliases {
                let (input, output) = (self.tensor(into, one.input), self.tensor(into, one.output));
                aliases.push(Alias { input, output, ..*one });
            }
            let operator = Operator {
                name: self.name(&old.name),
                inputs: self.all(into, &old.inputs),
                outputs: self.all(into, &old.outputs),
                aliases,
                handovers,
                regions: Vec::new(),
                ..old.clone()
            };
            let owner = into.operator(region, operator);
            for &inner in &old.regions {
                let inner = graph.region(inner);
                let made = into.region(owner, &inner.name);
                self.operators(into, &inner.operators, made);
                let (given, wanted) = (self.all(into, &inner.inputs), self.all(into, &inner.outputs));
                into.interface(made, given, wanted);
            }
        }
    }
}

impl Graph {
    /// Extracts the part of the body that computes `outputs` from `inputs`.
    ///
    /// The part contains the operators on which `outputs` depend once `inputs` are given. Inputs of the body
    /// that are still needed are appended to `inputs`. O(s log s) for a graph of size s.
    ///
    /// # Errors
    /// [`GraphError`] if the part is not a valid graph, for example because one of `inputs` is produced
    /// inside a nested region.
    ///
    /// # Panics
    /// If the graph has no tensor with one of these ids. Ids of other graphs are not detected if they are in
    /// range.
    pub fn part(
        &self,
        name: impl Into<String>,
        inputs: &[TensorId],
        outputs: &[TensorId],
    ) -> Result<Self, GraphError> {
        let given: HashSet<TensorId> = inputs.iter().copied().collect();
        let mut needed = HashSet::new();
        let mut todo = outputs.to_vec();
        let mut seen: HashSet<TensorId> = HashSet::new();
        while let Some(tensor) = todo.pop() {
            if given.contains(&tensor) || !seen.insert(tensor) {
                continue;
            }
            if let Some(maker) = self.producer(tensor).filter(|&id| self.home(id) == Self::BODY)
                && needed.insert(maker)
            {
                todo.extend(self.reads(maker));
            }
        }
        let body = self.region(Self::BODY);
        let wanted: Vec<OperatorId> =
            body.operators.iter().copied().filter(|id| needed.contains(id)).collect();
        let late = body.inputs.iter().copied().filter(|id| seen.contains(id) && !given.contains(id));
        let ahead: Vec<TensorId> = inputs.iter().copied().chain(late).collect();
        let mut into = GraphBuilder::new(name);
        let mut copier = Copier::new(self, "");
        let ahead = copier.all(&mut into, &ahead);
        for &id in &ahead {
            into.tensor_mut(id).role = Role::Input;
        }
        copier.operators(&mut into, &wanted, Self::BODY);
        let last = copier.all(&mut into, outputs);
        for &id in last.iter().filter(|id| !ahead.contains(id)) {
            let role = &mut into.tensor_mut(id).role;
            if *role == Role::Activation {
                *role = Role::Output;
            }
        }
        into.interface(Self::BODY, ahead, last);
        copier.segments(&mut into);
        into.build()
    }
}

struct Joining {
    into: GraphBuilder,
    inputs: Vec<TensorId>,
    /// The outputs of the trunk.
    shared: Vec<TensorId>,
}

impl Joining {
    /// Returns the inputs of a branch, in the order of the branch. Inputs that do not come from the trunk
    /// become inputs of the whole graph.
    fn given(&mut self, branch: &Graph, copier: &mut Copier<'_>) -> Result<Vec<TensorId>, JoinError> {
        let wants = &branch.region(Graph::BODY).inputs;
        let name = || branch.name().to_owned();
        if wants.len() < self.shared.len() {
            let (wants, has) = (wants.len(), self.shared.len());
            return Err(JoinError::Count { branch: name(), wants, has });
        }
        let mut given = Vec::with_capacity(wants.len());
        for (at, &id) in wants.iter().enumerate() {
            let tensor = branch.tensor(id);
            if let Some(&shared) = self.shared.get(at) {
                let (wants, has) = (tensor.bytes, self.into.tensor_mut(shared).bytes);
                if wants != has {
                    return Err(JoinError::Size { branch: name(), at, wants, has });
                }
                given.push(shared);
            } else {
                let own = Tensor { name: copier.name(&tensor.name), role: Role::Input, ..tensor.clone() };
                let own = self.into.tensor(own);
                self.inputs.push(own);
                given.push(own);
            }
        }
        Ok(given)
    }
}

impl Choice<'_> {
    /// Builds the graph. O(s log s) for a total size s of the graphs.
    ///
    /// # Errors
    /// The first [`JoinError`] found.
    pub fn build(&self) -> Result<Graph, JoinError> {
        if self.branches.is_empty() {
            return Err(JoinError::NoBranches(self.name.to_owned()));
        }
        let mut joining =
            Joining { into: GraphBuilder::new(self.name), inputs: Vec::new(), shared: Vec::new() };
        let choose = joining.into.tensor(Tensor::new("choose", 1, Role::Input));
        joining.inputs.push(choose);
        if let Some(trunk) = self.trunk {
            let (mut copier, body) = (Copier::new(trunk, "trunk/"), trunk.region(Graph::BODY));
            joining.inputs.extend(copier.all(&mut joining.into, &body.inputs));
            copier.operators(&mut joining.into, &body.operators, Graph::BODY);
            joining.shared = copier.all(&mut joining.into, &body.outputs);
            copier.segments(&mut joining.into);
        }
        let prefix = |at: usize| format!("{at}/");
        let mut copiers: Vec<Copier<'_>> = Vec::new();
        let mut given = Vec::new();
        for (at, branch) in self.branches.iter().enumerate() {
            copiers.push(Copier::new(branch, prefix(at)));
            given.push(joining.given(branch, &mut copiers[at])?);
        }
        let results = self.results(&mut joining.into);
        let kind = if self.branches.len() > 2 { "Case" } else { "If" };
        let mut owner = Operator::new("choice", kind).reads([choose]).makes(results.iter().copied());
        if self.inputs == Inputs::Handed {
            let mut handed: Vec<TensorId> = given.concat();
            let mut seen = HashSet::new();
            handed.retain(|id| seen.insert(*id));
            owner = owner.reads(handed);
        }
        let owner = joining.into.operator(Graph::BODY, owner);
        let mut handovers = Vec::new();
        for (at, (mut copier, given)) in copiers.into_iter().zip(given).enumerate() {
            handovers.extend(self.branch(&mut joining.into, &mut copier, (owner, at), &given, &results));
        }
        joining.into.operator_mut(owner).handovers = Some(handovers);
        joining.into.interface(Graph::BODY, joining.inputs, results);
        Ok(joining.into.build()?)
    }

    /// Creates one result tensor per output position. Each result is as large as the largest branch output
    /// at its position.
    fn results(&self, into: &mut GraphBuilder) -> Vec<TensorId> {
        let count = self.branches.iter().map(|branch| branch.region(Graph::BODY).outputs.len()).max();
        let largest = |at: usize| {
            let outputs = self.branches.iter().filter_map(|branch| {
                branch.region(Graph::BODY).outputs.get(at).map(|&id| branch.tensor(id).bytes)
            });
            outputs.max().unwrap_or(Bytes::ZERO)
        };
        let tensor = |at: usize| Tensor::new(format!("result {at}"), largest(at), Role::Output);
        (0..count.unwrap_or(0)).map(|at| into.tensor(tensor(at))).collect()
    }

    /// Copies a branch into a region of its own and returns its handovers.
    fn branch(
        &self,
        into: &mut GraphBuilder,
        copier: &mut Copier<'_>,
        (owner, at): (OperatorId, usize),
        given: &[TensorId],
        results: &[TensorId],
    ) -> Vec<Handover> {
        let branch = copier.graph;
        let body = branch.region(Graph::BODY);
        let region = into.region(owner, format!("{at}: {}", branch.name()));
        let mut handovers = Vec::new();
        let mut own = Vec::new();
        for (&outer, &inner) in given.iter().zip(&body.inputs) {
            match self.inputs {
                Inputs::Captured => copier.tensors[inner.index()] = Some(outer),
                Inputs::Handed => {
                    let tensor = branch.tensor(inner);
                    let name = format!("{} given", copier.name(&tensor.name));
                    let to = into.tensor(Tensor { name, role: Role::Input, ..tensor.clone() });
                    copier.tensors[inner.index()] = Some(to);
                    own.push(to);
                    handovers.push(Handover { when: Moment::Begin(at), from: outer, to, part: false });
                }
            }
        }
        copier.operators(into, &body.operators, region);
        let made = copier.all(into, &body.outputs);
        copier.segments(into);
        let back = made.iter().zip(results);
        handovers.extend(back.map(|(&from, &to)| Handover { when: Moment::End(at), from, to, part: false }));
        into.interface(region, own, made);
        handovers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{ExecutionOptions, check_execution};
    use crate::graph::{AliasKind, Control, LivenessOptions, read_graph, write_graph};
    use crate::offsets::Layout;
    use crate::program::{Program, ProgramOptions};

    /// Builds a chain of tensors with the given sizes. The first is the input, and the last is the output.
    fn chain(name: &str, sizes: &[u64]) -> Graph {
        let mut g = GraphBuilder::new(name);
        let mut ids = Vec::new();
        for (at, &bytes) in sizes.iter().enumerate() {
            let role = match at {
                0 => Role::Input,
                _ if at + 1 == sizes.len() => Role::Output,
                _ => Role::Activation,
            };
            ids.push(g.tensor(Tensor::new(format!("t{at}"), bytes, role)));
        }
        let w = g.tensor(Tensor::new("w", 7, Role::Weight));
        for pair in ids.windows(2) {
            g.operator(Graph::BODY, Operator::new("f", "F").reads([pair[0], w]).makes([pair[1]]));
        }
        g.interface(Graph::BODY, [ids[0]], [ids[ids.len() - 1]]);
        g.build().unwrap()
    }

    fn names(graph: &Graph, ids: &[TensorId]) -> Vec<String> {
        ids.iter().map(|&id| graph.tensor(id).name.clone()).collect()
    }

    /// Places every buffer at its own addresses, runs all control paths, and returns the peak live bytes.
    fn run(graph: &Graph) -> u64 {
        let orders = (0..graph.regions().len()).map(|at| graph.file_order(RegionId::at(at))).collect();
        let options = ProgramOptions { liveness: LivenessOptions::default(), ..ProgramOptions::default() };
        let program = Program::new(graph, orders, options).unwrap();
        let mut next = 0;
        let offsets = program.instance().buffers().iter().map(|buffer| {
            next += buffer.size().get();
            next - buffer.size().get()
        });
        let layout = Layout::from_raw(offsets.collect::<Vec<_>>());
        let report = check_execution(&program.placed(&layout), &ExecutionOptions::default()).unwrap();
        assert!(report.complete && report.violations.is_empty(), "{:?}", report.violations);
        crate::load(program.instance()).0.get()
    }

    #[test]
    fn branches_capture_or_copy_their_inputs() {
        let (wide, narrow) = (chain("wide", &[10, 40, 8]), chain("narrow", &[10, 20, 20, 3]));
        let branches = [&wide, &narrow];
        let choice = |inputs| Choice { name: "both", trunk: None, branches: &branches, inputs };
        let captured = choice(Inputs::Captured).build().unwrap();
        assert_eq!(names(&captured, &captured.region(Graph::BODY).inputs), ["choose", "0/t0", "1/t0"]);
        let result = captured.region(Graph::BODY).outputs[0];
        assert_eq!(captured.tensor(result).bytes, Bytes::new(8));
        let owner = captured.producer(result).unwrap();
        let flow = captured.flow(owner).unwrap().unwrap();
        assert_eq!((flow.control, flow.handovers.len()), (Control::Branch, 2));
        assert_eq!(captured.regions().len(), 3);
        assert_eq!(captured.region(RegionId::new(2)).name, "1: narrow");
        // Both inputs are live until a branch has begun. At the peak, a tensor of 40 bytes and an input of
        // 10 bytes are live.
        assert_eq!(run(&captured), 50);
        let handed = choice(Inputs::Handed).build().unwrap();
        assert_eq!(handed.operator(owner).inputs.len(), 3);
        let flow = handed.flow(owner).unwrap().unwrap();
        assert_eq!(flow.handovers.len(), 4);
        assert_eq!(run(&handed), 50);
        for graph in [captured, handed] {
            let mut file = Vec::new();
            write_graph(&graph, &mut file).unwrap();
            assert_eq!(read_graph("g".as_ref(), file.as_slice()).unwrap(), graph);
        }
    }

    #[test]
    fn a_trunk_feeds_every_branch() {
        let trunk = chain("trunk", &[5, 30, 10]);
        let (wide, narrow) = (chain("wide", &[10, 40, 8]), chain("narrow", &[10, 20, 20, 3]));
        for inputs in [Inputs::Captured, Inputs::Handed] {
            let branches = [&wide, &narrow, &narrow];
            let choice = Choice { name: "all", trunk: Some(&trunk), branches: &branches, inputs };
            let graph = choice.build().unwrap();
            assert_eq!(names(&graph, &graph.region(Graph::BODY).inputs), ["choose", "trunk/t0"]);
            assert_eq!(graph.operators().iter().filter(|one| one.kind == "Case").count(), 1);
            assert_eq!(run(&graph), 50);
        }
    }

    #[test]
    fn mismatches_are_rejected() {
        let (trunk, wide) = (chain("trunk", &[5, 9]), chain("wide", &[10, 40, 8]));
        let refused = |trunk, branches: &[&Graph]| {
            Choice { name: "no", trunk, branches, inputs: Inputs::Captured }.build().unwrap_err().to_string()
        };
        assert_eq!(refused(None, &[]), "'no' has no branches");
        let error = refused(Some(&trunk), &[&wide]);
        assert_eq!(error, "input 0 of branch 'wide' has 10 bytes, but the trunk produces 9");
        let mut idle = GraphBuilder::new("idle");
        let x = idle.tensor(Tensor::new("x", 1, Role::Activation));
        idle.operator(Graph::BODY, Operator::new("f", "F").makes([x]));
        idle.interface(Graph::BODY, [], [x]);
        let idle = idle.build().unwrap();
        let error = refused(Some(&trunk), &[&idle]);
        assert_eq!(error, "branch 'idle' has fewer inputs (0) than the trunk has outputs (1)");
    }

    #[test]
    fn parts_of_a_graph_stop_at_their_inputs() {
        let whole = chain("whole", &[1, 2, 3, 4, 5]);
        let id = |name: &str| TensorId::at(whole.tensors().iter().position(|t| t.name == name).unwrap());
        let head = whole.part("head", &[], &[id("t2")]).unwrap();
        assert_eq!(names(&head, &head.region(Graph::BODY).inputs), ["t0"]);
        assert_eq!((head.operators().len(), head.tensors().len()), (2, 4));
        let tail = whole.part("tail", &[id("t2")], &[id("t4")]).unwrap();
        assert_eq!(names(&tail, &tail.region(Graph::BODY).inputs), ["t2"]);
        assert_eq!(tail.tensor(tail.region(Graph::BODY).outputs[0]).role, Role::Output);
        assert_eq!(tail.operators().len(), 2);
        // Both parts are joined again. The peak occurs when the result of 5 bytes is copied.
        let branches = [&tail];
        let choice =
            Choice { name: "again", trunk: Some(&head), branches: &branches, inputs: Inputs::Captured };
        assert_eq!(run(&choice.build().unwrap()), 10);
    }

    #[test]
    fn regions_and_aliases_are_copied() {
        let (wide, narrow) = (chain("wide", &[10, 40, 8]), chain("narrow", &[10, 20, 20, 3]));
        let branches = [&wide, &narrow];
        let inner = Choice { name: "in", trunk: None, branches: &branches, inputs: Inputs::Handed };
        let mut view = GraphBuilder::new("view");
        let (x, y) =
            (view.tensor(Tensor::new("x", 10, Role::Input)), view.tensor(Tensor::new("y", 10, Role::Output)));
        let operator = Operator::new("r", "Reshape").reads([x]).makes([y]).alias(x, y, AliasKind::View);
        view.operator(Graph::BODY, operator);
        view.interface(Graph::BODY, [x], [y]);
        let (inner, view) = (inner.build().unwrap(), view.build().unwrap());
        let branches = [&inner, &view];
        let outer = Choice { name: "out", trunk: None, branches: &branches, inputs: Inputs::Captured };
        let outer = outer.build().unwrap();
        assert_eq!(outer.regions().len(), 5);
        assert!(outer.operators().iter().any(|one| one.aliases.len() == 1));
        assert!(outer.tensors().iter().any(|one| one.name == "0/1/t2"));
        run(&outer);
    }
}
