//! Builds and validates graphs.

use super::segment::{Misplaced, Segment, fixed, name_segments};
use super::{Alias, AliasKind, Graph, Operator, Region, Role, Tensor};
use crate::topological::topological;
use crate::units::{Bytes, OperatorId, RegionId, TensorId};
use std::collections::{HashMap, HashSet};

/// The reason why operators and tensors do not form a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum GraphError {
    #[error("{what} refers to {kind} {id}, but there are only {count} {kind}s")]
    Unknown {
        what: String,
        /// `tensor`, `operator` or `region`.
        kind: &'static str,
        id: u32,
        count: usize,
    },
    #[error("tensor '{tensor}' is produced by {first} and by {second}")]
    TwoProducers { tensor: String, first: String, second: String },
    /// A weight, state or input is the output of an operator.
    #[error("tensor '{tensor}' has role {role}, but {operator} produces it")]
    MadeInside { tensor: String, role: Role, operator: String },
    #[error(
        "tensor '{tensor}' has role {role}, but no operator produces it and it is not an input of any region"
    )]
    NoProducer { tensor: String, role: Role },
    /// The region of the tensor does not enclose the region of the reader.
    #[error(
        "{operator} in region '{region}' uses tensor '{tensor}' of region '{place}', which does not enclose '{region}'"
    )]
    NotVisible { operator: String, region: String, tensor: String, place: String },
    #[error("the operators of region '{region}' form a cycle: {}", shown(.cycle))]
    Cycle {
        region: String,
        /// The operators of the cycle. Each depends on the previous one, and the first is repeated at the
        /// end.
        cycle: Vec<String>,
    },
    #[error("region '{region}' is nested more than {limit} regions deep")]
    TooDeep { region: String, limit: usize },
    /// The tensors of the alias are not an input and an output of the operator.
    #[error(
        "{operator} aliases '{output}' to '{input}', but these are not an output and an input of the operator"
    )]
    BadAlias { operator: String, input: String, output: String },
    /// The smaller tensor of the alias does not lie inside the larger one, or an output written in place has
    /// no bytes in common with its input.
    #[error(
        "{operator} aliases '{output}' ({output_bytes} bytes) to '{input}' ({input_bytes} bytes) at byte {offset}: {reason}"
    )]
    BadOffset {
        operator: String,
        input: String,
        input_bytes: Bytes,
        output: String,
        output_bytes: Bytes,
        offset: Bytes,
        reason: &'static str,
    },
    /// Two inputs cannot both be views in the output, because they have bytes in common or are the same
    /// input.
    #[error("{operator} declares '{first}' and '{second}' as views in '{output}', but both cannot lie there")]
    Overlap { operator: String, output: String, first: String, second: String },
    /// A tensor does not lie in its segment, or lies in two.
    #[error(transparent)]
    Segment(#[from] Misplaced),
    #[error("the tensors, segments and scratch memories have {bytes} bytes, which is more than 2^63 - 1")]
    TooLarge { bytes: u128 },
    /// There are more items than 32-bit ids can number.
    #[error("{count} {what} exceed the range of 32-bit ids")]
    TooMany { count: usize, what: &'static str },
}

/// Describes a cycle as text. The middle of a long cycle is omitted.
fn shown(cycle: &[String]) -> String {
    const ENDS: usize = 8;
    match cycle.len().checked_sub(2 * ENDS) {
        None | Some(0) => cycle.join(" -> "),
        Some(more) => {
            let (first, last) = (&cycle[..ENDS], &cycle[cycle.len() - ENDS..]);
            format!("{} -> ({more} more) -> {}", first.join(" -> "), last.join(" -> "))
        }
    }
}

/// The maximum nesting depth of regions, not counting the body. The limit comes from the parsers of graph and
/// model files. JSON parsers accept 127 nested arrays and objects, and a region needs four. Protobuf parsers
/// of ONNX models accept 100 nested messages, and a region needs three.
pub const MAX_DEPTH: usize = 30;

/// Collects tensors, operators and regions. [`GraphBuilder::build`] validates all of them.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    name: String,
    tensors: Vec<Tensor>,
    operators: Vec<Operator>,
    homes: Vec<RegionId>,
    regions: Vec<Region>,
    segments: Vec<Segment>,
}

impl GraphBuilder {
    /// Creates a builder for a graph with an empty body.
    pub fn new(name: impl Into<String>) -> Self {
        let body = Region {
            name: "body".to_owned(),
            owner: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            operators: Vec::new(),
        };
        Self {
            name: name.into(),
            tensors: Vec::new(),
            operators: Vec::new(),
            homes: Vec::new(),
            regions: vec![body],
            segments: Vec::new(),
        }
    }

    /// Returns the body: the region that encloses all others.
    pub fn body(&self) -> RegionId {
        Graph::BODY
    }

    /// Adds a tensor. Ids are assigned in the order of insertion, from 0. If a name is empty or already in
    /// use, [`GraphBuilder::build`] makes it unique.
    ///
    /// # Panics
    /// If there are already 2^32 tensors.
    pub fn tensor(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId::at(self.tensors.len() - 1)
    }

    /// Returns a tensor that was added earlier, for modification.
    ///
    /// # Panics
    /// If the builder has no tensor with this id. Ids of other graphs are not detected if they are in range.
    pub fn tensor_mut(&mut self, id: TensorId) -> &mut Tensor {
        &mut self.tensors[id.index()]
    }

    /// Returns a tensor for reading.
    pub(crate) fn get(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// Appends an operator to a region.
    ///
    /// # Panics
    /// If the region does not exist, or there are already 2^32 operators.
    pub fn operator(&mut self, region: RegionId, operator: Operator) -> OperatorId {
        let id = OperatorId::at(self.operators.len());
        self.operators.push(operator);
        self.homes.push(region);
        self.regions[region.index()].operators.push(id);
        id
    }

    /// Returns an operator that was added earlier, for modification. Its list of regions must not be changed.
    ///
    /// # Panics
    /// If the builder has no operator with this id. Ids of other graphs are not detected if they are in
    /// range.
    pub(crate) fn operator_mut(&mut self, id: OperatorId) -> &mut Operator {
        &mut self.operators[id.index()]
    }

    /// Adds a region owned by an operator.
    ///
    /// # Panics
    /// If the operator does not exist.
    pub fn region(&mut self, owner: OperatorId, name: impl Into<String>) -> RegionId {
        let id = RegionId::at(self.regions.len());
        let (inputs, outputs, operators) = (Vec::new(), Vec::new(), Vec::new());
        self.regions.push(Region { name: name.into(), owner: Some(owner), inputs, outputs, operators });
        self.operators[owner.index()].regions.push(id);
        id
    }

    /// Sets the inputs and outputs of a region.
    ///
    /// # Panics
    /// If the region does not exist.
    pub fn interface(
        &mut self,
        region: RegionId,
        inputs: impl IntoIterator<Item = TensorId>,
        outputs: impl IntoIterator<Item = TensorId>,
    ) {
        let region = &mut self.regions[region.index()];
        region.inputs = inputs.into_iter().collect();
        region.outputs = outputs.into_iter().collect();
    }

    /// Adds memory in which tensors have fixed addresses.
    pub fn segment(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Validates all parts and builds the graph. O(s log s) for a graph of size s, plus the time of
    /// [`Graph::reads`] for all operators.
    ///
    /// # Errors
    /// The first [`GraphError`] found.
    pub fn build(mut self) -> Result<Graph, GraphError> {
        for (count, what) in [(self.tensors.len(), "tensors"), (self.operators.len(), "operators")] {
            if u32::try_from(count).is_err() {
                return Err(GraphError::TooMany { count, what });
            }
        }
        check_bytes(&self.tensors, &self.operators, &self.segments)?;
        self.check_ids()?;
        self.check_depth()?;
        self.name_tensors();
        name_segments(&self.tensors, &mut self.segments);
        let fixed = fixed(&self.tensors, &self.segments)?;
        let producers = self.producers()?;
        let places = self.places(&producers)?;
        let mut consumers = vec![Vec::new(); self.tensors.len()];
        for (at, operator) in self.operators.iter().enumerate() {
            for tensor in &operator.inputs {
                let list: &mut Vec<OperatorId> = &mut consumers[tensor.index()];
                if list.last() != Some(&OperatorId::at(at)) {
                    list.push(OperatorId::at(at));
                }
            }
        }
        let Self { name, tensors, operators, homes, regions, segments } = self;
        let graph =
            Graph { name, tensors, operators, regions, producers, consumers, homes, places, segments, fixed };
        check_visible(&graph)?;
        for region in 0..graph.regions.len() {
            sorted(&graph, RegionId::at(region))?;
        }
        Ok(graph)
    }

    fn check_ids(&self) -> Result<(), GraphError> {
        let count = self.tensors.len();
        let check =
            |what: &dyn Fn() -> String, ids: &[TensorId]| match ids.iter().find(|t| t.index() >= count) {
                Some(id) => Err(GraphError::Unknown { what: what(), kind: "tensor", id: id.get(), count }),
                None => Ok(()),
            };
        for (at, operator) in self.operators.iter().enumerate() {
            let what = || label(operator, at);
            check(&what, &operator.inputs)?;
            check(&what, &operator.outputs)?;
            for handover in operator.handovers.iter().flatten() {
                check(&what, &[handover.from, handover.to])?;
            }
            if operator.aliases.is_empty() {
                continue;
            }
            let inputs: HashSet<TensorId> = operator.inputs.iter().copied().collect();
            let outputs: HashSet<TensorId> = operator.outputs.iter().copied().collect();
            for alias in &operator.aliases {
                check(&what, &[alias.input, alias.output])?;
                if !inputs.contains(&alias.input) || !outputs.contains(&alias.output) {
                    return Err(GraphError::BadAlias {
                        operator: what(),
                        input: self.tensors[alias.input.index()].name.clone(),
                        output: self.tensors[alias.output.index()].name.clone(),
                    });
                }
                self.check_offset(&what, alias)?;
            }
            self.check_views(&what, operator)?;
        }
        for region in &self.regions {
            let what = || format!("region '{}'", region.name);
            check(&what, &region.inputs)?;
            check(&what, &region.outputs)?;
        }
        Ok(())
    }

    /// Checks that one tensor of an alias lies inside the other, or in place, that they have bytes in common.
    fn check_offset(&self, what: &dyn Fn() -> String, alias: &Alias) -> Result<(), GraphError> {
        let (input, output) = (&self.tensors[alias.input.index()], &self.tensors[alias.output.index()]);
        let (part, whole) = (input.bytes.min(output.bytes), input.bytes.max(output.bytes));
        let reason = match alias.kind {
            AliasKind::InPlace if alias.offset > Bytes::ZERO && alias.offset >= output.bytes => {
                "the output ends before the input, so they have no bytes in common"
            }
            AliasKind::View | AliasKind::Part
                if alias.offset.checked_add(part).is_none_or(|end| end > whole) =>
            {
                "the smaller one ends after the larger one"
            }
            _ => return Ok(()),
        };
        Err(GraphError::BadOffset {
            operator: what(),
            input: input.name.clone(),
            input_bytes: input.bytes,
            output: output.name.clone(),
            output_bytes: output.bytes,
            offset: alias.offset,
            reason,
        })
    }

    /// Checks that the views declared by an operator do not contradict each other. O(a log a) for a aliases.
    fn check_views(&self, what: &dyn Fn() -> String, operator: &Operator) -> Result<(), GraphError> {
        let bytes = |id: TensorId| self.tensors[id.index()].bytes;
        let views = operator.aliases.iter().filter(|alias| alias.kind != AliasKind::InPlace);
        let mut views: Vec<&Alias> = views.filter(|view| bytes(view.input) > Bytes::ZERO).collect();
        views.sort_by_key(|view| (view.output, view.offset, view.input));
        let mut seen = HashSet::new();
        let repeats =
            |view: &&&Alias| !seen.insert((view.output, view.input)) && view.kind == AliasKind::View;
        let repeated = views.iter().find(repeats).map(|&one| (one, one));
        let clash = views.windows(2).map(|pair| (pair[0], pair[1])).find(|(first, second)| {
            // An input that contains the output leaves no space for another input.
            let whole = [first, second].iter().any(|view| bytes(view.output) <= bytes(view.input));
            let end = first.offset.checked_add(bytes(first.input));
            first.output == second.output && (whole || end.is_none_or(|end| end > second.offset))
        });
        let Some((first, second)) = repeated.or(clash) else { return Ok(()) };
        let name = |id: TensorId| self.tensors[id.index()].name.clone();
        let (operator, output) = (what(), name(first.output));
        Err(GraphError::Overlap { operator, output, first: name(first.input), second: name(second.input) })
    }

    fn check_depth(&self) -> Result<(), GraphError> {
        // Owners precede the regions that they own.
        let mut depth = vec![0usize; self.regions.len()];
        for (at, region) in self.regions.iter().enumerate() {
            depth[at] = region.owner.map_or(0, |owner| depth[self.homes[owner.index()].index()] + 1);
            if depth[at] > MAX_DEPTH {
                return Err(GraphError::TooDeep { region: region.name.clone(), limit: MAX_DEPTH });
            }
        }
        Ok(())
    }

    /// Makes the names of tensors unique. An empty name becomes `t` followed by the number of the tensor, and
    /// a repeated name gets a suffix.
    fn name_tensors(&mut self) {
        let mut taken: HashSet<String> = self.tensors.iter().map(|t| t.name.clone()).collect();
        let mut seen = HashSet::new();
        for (at, tensor) in self.tensors.iter_mut().enumerate() {
            if !tensor.name.is_empty() && seen.insert(tensor.name.clone()) {
                continue;
            }
            let base = if tensor.name.is_empty() { format!("t{at}") } else { tensor.name.clone() };
            let mut name = if tensor.name.is_empty() { base.clone() } else { format!("{base}~{at}") };
            while !taken.insert(name.clone()) {
                name.push('~');
            }
            seen.insert(name.clone());
            tensor.name = name;
        }
    }

    fn producers(&self) -> Result<Vec<Option<OperatorId>>, GraphError> {
        let mut producers: Vec<Option<OperatorId>> = vec![None; self.tensors.len()];
        for (at, operator) in self.operators.iter().enumerate() {
            for &output in &operator.outputs {
                let tensor = &self.tensors[output.index()];
                if matches!(tensor.role, Role::Weight | Role::Input | Role::State) {
                    let (name, role) = (tensor.name.clone(), tensor.role);
                    return Err(GraphError::MadeInside { tensor: name, role, operator: label(operator, at) });
                }
                if let Some(first) = producers[output.index()].replace(OperatorId::at(at)) {
                    return Err(GraphError::TwoProducers {
                        tensor: tensor.name.clone(),
                        first: label(&self.operators[first.index()], first.index()),
                        second: label(operator, at),
                    });
                }
            }
        }
        Ok(producers)
    }

    fn places(&self, producers: &[Option<OperatorId>]) -> Result<Vec<RegionId>, GraphError> {
        let mut given: HashMap<TensorId, RegionId> = HashMap::new();
        for (at, region) in self.regions.iter().enumerate() {
            for &tensor in &region.inputs {
                given.entry(tensor).or_insert(RegionId::at(at));
            }
        }
        let place = |(at, tensor): (usize, &Tensor)| {
            if let Some(producer) = producers[at] {
                return Ok(self.homes[producer.index()]);
            }
            match (given.get(&TensorId::at(at)), tensor.role) {
                (Some(&region), _) => Ok(region),
                (None, Role::Weight | Role::State) => Ok(Graph::BODY),
                (None, role) => Err(GraphError::NoProducer { tensor: tensor.name.clone(), role }),
            }
        };
        self.tensors.iter().enumerate().map(place).collect()
    }
}

impl Graph {
    /// Returns the label of an operator for messages: its number, name and kind.
    ///
    /// # Panics
    /// If the graph has no operator with this id. Ids of other graphs are not detected if they are in range.
    pub fn label(&self, id: OperatorId) -> String {
        label(self.operator(id), id.index())
    }

    /// Returns the operators of a region in the topological order that is closest to file order: among all
    /// ready operators, the first in the file comes next. O(n log n + e) for n operators and e edges.
    ///
    /// # Panics
    /// Never: [`GraphBuilder::build`] rejects cycles.
    pub fn file_order(&self, region: RegionId) -> Vec<OperatorId> {
        sorted(self, region).expect("a graph has no cycle once built")
    }
}

fn label(operator: &Operator, at: usize) -> String {
    if operator.name.is_empty() {
        format!("operator {at} ({})", operator.kind)
    } else {
        format!("operator {at} '{}' ({})", operator.name, operator.kind)
    }
}

/// Checks that each tensor is used only in its own region and in the regions nested inside it.
fn check_visible(graph: &Graph) -> Result<(), GraphError> {
    let encloses = |outer: RegionId, inner: RegionId| {
        let mut at = Some(inner);
        while let Some(region) = at {
            if region == outer {
                return true;
            }
            at = graph.region(region).owner.map(|owner| graph.home(owner));
        }
        false
    };
    let check = |reader: &dyn Fn() -> String, region: RegionId, tensors: &[TensorId]| match tensors
        .iter()
        .find(|&&tensor| !encloses(graph.place(tensor), region))
    {
        Some(&tensor) => Err(GraphError::NotVisible {
            operator: reader(),
            region: graph.region(region).name.clone(),
            tensor: graph.tensor(tensor).name.clone(),
            place: graph.region(graph.place(tensor)).name.clone(),
        }),
        None => Ok(()),
    };
    for (at, operator) in graph.operators.iter().enumerate() {
        check(&|| label(operator, at), graph.homes[at], &operator.inputs)?;
    }
    for (at, region) in graph.regions.iter().enumerate() {
        check(&|| "the output list".to_owned(), RegionId::at(at), &region.outputs)?;
    }
    Ok(())
}

/// Sorts the operators of a region topologically. Among all ready operators, the first in the file comes
/// next.
fn sorted(graph: &Graph, region: RegionId) -> Result<Vec<OperatorId>, GraphError> {
    let operators = &graph.region(region).operators;
    let position: HashMap<OperatorId, usize> =
        operators.iter().enumerate().map(|(at, &id)| (id, at)).collect();
    let mut successors = vec![Vec::new(); operators.len()];
    for (at, &id) in operators.iter().enumerate() {
        let makers: HashSet<usize> =
            graph.reads(id).into_iter().filter_map(|t| position.get(&graph.producer(t)?).copied()).collect();
        for maker in makers {
            successors[maker].push(at);
        }
    }
    let waiting = match topological(operators.len(), |at| successors[at].iter().copied()) {
        Ok(order) => return Ok(order.into_iter().map(|at| operators[at]).collect()),
        Err(waiting) => waiting,
    };
    let label = |at: usize| label(graph.operator(operators[at]), operators[at].index());
    let cycle = cycle(&successors, &waiting).into_iter().map(label).collect();
    Err(GraphError::Cycle { region: graph.region(region).name.clone(), cycle })
}

/// Finds a cycle among the positions that still wait for a predecessor. The search walks from each position
/// to a predecessor that is itself waiting, until a position repeats.
fn cycle(successors: &[Vec<usize>], waiting: &[usize]) -> Vec<usize> {
    let mut before = vec![None; waiting.len()];
    for (at, list) in successors.iter().enumerate().filter(|&(at, _)| waiting[at] > 0) {
        for &next in list {
            before[next] = Some(at);
        }
    }
    let mut at = waiting.iter().position(|&count| count > 0);
    let (mut seen, mut walk) = (HashSet::new(), Vec::new());
    while let Some(here) = at
        && seen.insert(here)
    {
        walk.push(here);
        at = before[here];
    }
    let from = walk.iter().position(|&one| Some(one) == at).unwrap_or(0);
    let mut cycle = walk.split_off(from);
    cycle.reverse();
    cycle.extend(cycle.first().copied());
    cycle
}

/// Checks that tensors, segments and scratch memories have less than 2^63 bytes.
pub(super) fn check_bytes(
    tensors: &[Tensor],
    operators: &[Operator],
    segments: &[Segment],
) -> Result<(), GraphError> {
    let tensors: u128 = tensors.iter().map(|t| u128::from(t.bytes.get())).sum();
    let scratch: u128 = operators.iter().map(|o| u128::from(o.scratch.get())).sum();
    let segments: u128 = segments.iter().map(|s| u128::from(s.bytes.get())).sum();
    let bytes = tensors + scratch + segments;
    if bytes > i64::MAX as u128 { Err(GraphError::TooLarge { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn tensor(graph: &mut GraphBuilder, name: &str, role: Role) -> TensorId {
        graph.tensor(Tensor::new(name, 4, role))
    }

    #[test]
    fn cycles_are_named() {
        let mut g = GraphBuilder::new("g");
        let (a, b) = (tensor(&mut g, "a", Role::Activation), tensor(&mut g, "b", Role::Activation));
        g.operator(Graph::BODY, Operator::new("f", "F").reads([b]).makes([a]));
        g.operator(Graph::BODY, Operator::new("g", "G").reads([a]).makes([b]));
        let error = g.build().unwrap_err().to_string();
        assert_eq!(
            error,
            "the operators of region 'body' form a cycle: \
             operator 1 'g' (G) -> operator 0 'f' (F) -> operator 1 'g' (G)"
        );
    }

    #[test]
    fn long_cycles_are_abbreviated() {
        let mut g = GraphBuilder::new("g");
        let around: Vec<TensorId> = (0..100).map(|_| tensor(&mut g, "", Role::Activation)).collect();
        for at in 0..100 {
            g.operator(
                Graph::BODY,
                Operator::new("", "F").reads([around[at]]).makes([around[(at + 1) % 100]]),
            );
        }
        let error = g.build().unwrap_err().to_string();
        assert!(error.contains(" -> (85 more) -> ") && error.len() < 500, "{error}");
    }

    #[test]
    fn names_become_unique() {
        let mut g = GraphBuilder::new("g");
        for name in ["", "x", "x", "x~2", ""] {
            tensor(&mut g, name, Role::Weight);
        }
        let g = g.build().unwrap();
        let names: Vec<&str> = g.tensors().iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["t0", "x", "x~2~", "x~2", "t4"]);
    }

    #[test]
    fn invalid_graphs_are_rejected() {
        let mut g = GraphBuilder::new("g");
        let a = tensor(&mut g, "a", Role::Activation);
        assert_eq!(
            g.clone().build(),
            Err(GraphError::NoProducer { tensor: "a".into(), role: Role::Activation })
        );
        g.operator(Graph::BODY, Operator::new("", "F").makes([a]));
        g.operator(Graph::BODY, Operator::new("", "G").makes([a]));
        assert_eq!(
            g.build().unwrap_err().to_string(),
            "tensor 'a' is produced by operator 0 (F) and by operator 1 (G)"
        );
        let mut g = GraphBuilder::new("g");
        g.operator(Graph::BODY, Operator::new("f", "F").reads([TensorId::new(3)]));
        assert!(
            g.build().unwrap_err().to_string().contains("refers to tensor 3, but there are only 0 tensors")
        );
        let mut g = GraphBuilder::new("g");
        g.tensor(Tensor::new("a", u64::MAX, Role::Weight));
        assert!(matches!(g.build(), Err(GraphError::TooLarge { .. })));
    }

    /// One operator has 200,000 aliases. Comparing them pairwise would take minutes.
    #[test]
    fn aliases_are_looked_up() {
        let mut g = GraphBuilder::new("g");
        let given: Vec<TensorId> = (0..200_000).map(|_| tensor(&mut g, "", Role::Input)).collect();
        let sum = tensor(&mut g, "sum", Role::Output);
        let mut operator = Operator::new("sum", "Sum").reads(given.iter().copied()).makes([sum]);
        for &one in &given {
            operator = operator.alias(one, sum, crate::graph::AliasKind::InPlace);
        }
        g.operator(Graph::BODY, operator);
        g.interface(Graph::BODY, given, [sum]);
        assert_eq!(g.build().unwrap().operators()[0].aliases.len(), 200_000);
    }

    #[test]
    fn a_branch_sees_only_enclosing_regions() {
        let mut g = GraphBuilder::new("g");
        let (c, x) = (tensor(&mut g, "c", Role::Input), tensor(&mut g, "x", Role::Input));
        let (y, z) = (tensor(&mut g, "y", Role::Output), tensor(&mut g, "z", Role::Output));
        let choose = g.operator(Graph::BODY, Operator::new("if", "If").reads([c]).makes([y]));
        let then = g.region(choose, "then");
        g.operator(then, Operator::new("f", "F").reads([x]).makes([z]));
        g.interface(Graph::BODY, [c, x], [y]);
        g.interface(then, [], [z]);
        let built = g.clone().build().unwrap();
        assert_eq!(built.reads(choose), [c, x]);
        assert_eq!(built.place(z), then);
        assert_eq!(built.bytes(Role::Input), Bytes::new(8));
        let q = tensor(&mut g, "q", Role::Output);
        g.operator(Graph::BODY, Operator::new("late", "G").reads([z]).makes([q]));
        assert!(matches!(g.build(), Err(GraphError::NotVisible { .. })));
    }
}
