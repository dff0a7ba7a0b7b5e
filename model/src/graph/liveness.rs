//! Derives the order problem of a region: which tensors occupy memory, which tensors share memory, and when
//! the memory is held.
//!
//! A *storage* is the memory of one tensor, or of several tensors that share it, each at its own byte. It is
//! held from the first operator that uses any of its tensors to the last. Inputs of the region are held from
//! the first step, even if nothing reads them, and outputs are held to the last step (LUNA, eq. 1). A
//! [`Boundary`] may hold these tensors longer or place them outside the arena.
//!
//! The module [`sharing`](super::sharing) decides which tensors share a storage. Tensors of
//! [segments](super::Segment) lie in the storage of their segment. Handles of resources (element type
//! `resource`) that an operator without inputs returns refer to data that the operator keeps, so they occupy
//! no memory in the arena.

use super::Graph;
use super::options::LivenessOptions;
use super::sharing::{Held, Member, Outer, Scope};
use crate::orders::{OrderError, OrderProblem, Storage};
use crate::units::{Bytes, OperatorId, RegionId, TensorId};

/// The order problem of a region, and the mapping from its ids to those of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Storages {
    /// The order problem. Its operators are those of the region, in the order of [`Graph::file_order`].
    pub problem: OrderProblem,
    /// Per operator of the problem: the corresponding operator of the graph.
    pub operators: Vec<OperatorId>,
    /// Per storage of the problem: its tensors, ascending.
    pub tensors: Vec<Vec<Member>>,
    /// Tensors in the memory of enclosing regions. They belong to no storage of the problem.
    pub outer: Vec<Outer>,
    /// Tensors of zero bytes in the arena. They belong to no storage of the problem. Each tensor is paired
    /// with a separate storage that describes when the tensor is live.
    pub empty: Vec<(TensorId, Storage)>,
}

impl Graph {
    /// Derives the order problem of one region. O(s log s), where s is the size of the region and of the
    /// regions nested inside it, plus the searches for operators that write in place.
    ///
    /// `options` are those of the whole graph. `scratch` returns the bytes that an operator needs while it
    /// runs, in addition to its own [`Operator::scratch`](super::Operator::scratch): the memory of the
    /// regions that it owns. Tensors of enclosing regions are not counted, because they are counted in those
    /// regions. Tensors of size zero occupy no memory.
    ///
    /// # Errors
    /// [`OrderError::TooLarge`] if the rounded sizes add up to 2^63 bytes or more, and [`OrderError::Views`]
    /// if declared views contradict each other.
    pub fn storages(
        &self,
        region: RegionId,
        options: &LivenessOptions,
        mut scratch: impl FnMut(OperatorId) -> Bytes,
    ) -> Result<Storages, OrderError> {
        let scope = Scope::shared(self, region, options)?;
        let Held { mut storages, mut tensors, outer } = scope.held()?;
        let (operators, empty, mut edges) = (scope.operators().to_vec(), scope.empty(), scope.edges());
        if options.file_order {
            let next = |at: usize| (OperatorId::at(at - 1), OperatorId::at(at));
            edges.extend((1..operators.len()).map(next));
        }
        let users = self.segment_users(&operators);
        edges.extend(users.iter().flat_map(|users| users.windows(2).map(|pair| (pair[0], pair[1]))));
        if region == Self::BODY {
            for (segment, users) in self.segments().iter().zip(users) {
                storages.push(segment.storage(users, options.align).ok_or(OrderError::TooLarge)?);
                let member = |&(tensor, offset): &(TensorId, Bytes)| Member { tensor, offset };
                let mut members: Vec<Member> = segment.tensors.iter().map(member).collect();
                members.sort_unstable_by_key(|one| one.tensor);
                tensors.push(members);
            }
        }
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
        let problem = OrderProblem::new(name, names.collect(), edges, storages, needs)?;
        Ok(Storages { problem, operators, tensors, outer, empty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{AliasKind, Boundary, GraphBuilder, Operator, Role, Tensor};

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
        // relu may overwrite a. add may overwrite c, which shares the storage of b: pool reads b, but add
        // reads the result of pool.
        let all = LivenessOptions { in_place: true, ..views };
        assert_eq!(storages(&all), ["in:8 <0", "a:4 0,1,2,3,4>", "d:4 3,4"]);
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
        let place = |tensor: TensorId| {
            made.tensors.iter().position(|list| list.iter().any(|one| one.tensor == tensor)).unwrap()
        };
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
            let holds: Vec<Option<TensorId>> = made
                .tensors
                .iter()
                .map(|list| list.iter().map(|one| one.tensor).find(|t| t.index() == 0))
                .collect();
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
