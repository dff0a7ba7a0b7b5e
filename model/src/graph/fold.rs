//! Constant folding of whole operators.

use super::{Graph, GraphBuilder, Operator, Role, Segment};
use crate::units::{OperatorId, RegionId, TensorId};
use std::collections::HashMap;

/// Prefixes of operator kinds whose output differs between runs.
const RANDOM: [&str; 4] = ["Random", "RANDOM", "Multinomial", "Bernoulli"];

impl Graph {
    /// Removes operators that read nothing but constants. Returns the folded graph and, for each of its
    /// operators, the id in the original graph.
    ///
    /// As in runtimes, the outputs of removed operators are computed once, before the program runs, and
    /// become weights. Weights without readers are dropped. Operators that own regions, draw random numbers,
    /// have no outputs or produce an output of the graph are kept. O(s log s) for a graph of size s.
    ///
    /// # Panics
    /// Never: the remaining operators form a valid graph.
    #[must_use]
    pub fn folded(&self) -> (Self, Vec<OperatorId>) {
        let mut constant: Vec<bool> = self.tensors.iter().map(|tensor| tensor.role == Role::Weight).collect();
        let mut gone = vec![false; self.operators.len()];
        for region in (0..self.regions.len()).map(RegionId::at) {
            for id in self.file_order(region) {
                let operator = self.operator(id);
                if self.is_foldable(operator) && operator.inputs.iter().all(|t| constant[t.index()]) {
                    gone[id.index()] = true;
                    operator.outputs.iter().for_each(|output| constant[output.index()] = true);
                }
            }
        }
        let (to, ids, kept) = (GraphBuilder::new(self.name()), HashMap::new(), Vec::new());
        let mut rebuild = Rebuild { graph: self, gone, to, ids, kept };
        rebuild.tensors(&constant);
        rebuild.region(Self::BODY, Self::BODY);
        rebuild.segments();
        (rebuild.to.build().expect("the remaining operators form a valid graph"), rebuild.kept)
    }

    fn is_foldable(&self, operator: &Operator) -> bool {
        operator.regions.is_empty()
            && !operator.outputs.is_empty()
            && !RANDOM.iter().any(|random| operator.kind.starts_with(random))
            && operator.outputs.iter().all(|&output| self.tensor(output).role == Role::Activation)
    }
}

struct Rebuild<'a> {
    graph: &'a Graph,
    gone: Vec<bool>,
    to: GraphBuilder,
    ids: HashMap<TensorId, TensorId>,
    kept: Vec<OperatorId>,
}

impl Rebuild<'_> {
    /// Adds the tensors that are still used. Constants become weights.
    fn tensors(&mut self, constant: &[bool]) {
        let graph = self.graph;
        let mut touched = vec![false; graph.tensors.len()];
        let mut touch = |list: &[TensorId]| list.iter().for_each(|tensor| touched[tensor.index()] = true);
        for (operator, gone) in graph.operators.iter().zip(&self.gone) {
            if !gone {
                touch(&operator.inputs);
                touch(&operator.outputs);
            }
        }
        for region in &graph.regions {
            touch(&region.inputs);
            touch(&region.outputs);
        }
        for (at, tensor) in graph.tensors.iter().enumerate().filter(|&(at, _)| touched[at]) {
            let mut tensor = tensor.clone();
            if constant[at] {
                tensor.role = Role::Weight;
            }
            let id = self.to.tensor(tensor);
            self.ids.insert(TensorId::at(at), id);
        }
    }

    /// Copies the segments, with those of their tensors that are still used.
    fn segments(&mut self) {
        for segment in self.graph.segments() {
            let kept = segment.tensors.iter().filter_map(|&(id, at)| Some((*self.ids.get(&id)?, at)));
            let is_weight = |id: TensorId| self.to.get(id).role == Role::Weight;
            let tensors: Vec<_> = kept.filter(|&(id, _)| !is_weight(id)).collect();
            if !tensors.is_empty() {
                self.to.segment(Segment { tensors, ..segment.clone() });
            }
        }
    }

    /// Copies a region with its contents. The recursion is safe, because the nesting depth is limited.
    fn region(&mut self, from: RegionId, to: RegionId) {
        let region = self.graph.region(from);
        let [inputs, outputs] = [&region.inputs, &region.outputs].map(|list| self.map(list));
        self.to.interface(to, inputs, outputs);
        for &id in &region.operators {
            if !self.gone[id.index()] {
                self.operator(id, to);
            }
        }
    }

    fn operator(&mut self, id: OperatorId, region: RegionId) {
        let mut operator = self.graph.operator(id).clone();
        let owned = std::mem::take(&mut operator.regions);
        operator.inputs = self.map(&operator.inputs);
        operator.outputs = self.map(&operator.outputs);
        for alias in &mut operator.aliases {
            (alias.input, alias.output) = (self.ids[&alias.input], self.ids[&alias.output]);
        }
        for handover in operator.handovers.iter_mut().flatten() {
            (handover.from, handover.to) = (self.ids[&handover.from], self.ids[&handover.to]);
        }
        let copied = self.to.operator(region, operator);
        self.kept.push(id);
        for inner in owned {
            let copy = self.to.region(copied, self.graph.region(inner).name.clone());
            self.region(inner, copy);
        }
    }

    fn map(&self, list: &[TensorId]) -> Vec<TensorId> {
        list.iter().map(|id| self.ids[id]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Handover, Moment, Tensor};

    #[test]
    fn outputs_of_constants_become_weights() {
        let mut g = GraphBuilder::new("g");
        let mut t = |name: &str, bytes: u64, role| g.tensor(Tensor::new(name, bytes, role));
        let (shape, filled) = (t("shape", 8, Role::Weight), t("filled", 100, Role::Activation));
        let (cast, x) = (t("cast", 50, Role::Activation), t("x", 4, Role::Input));
        let (noise, y) = (t("noise", 4, Role::Activation), t("y", 4, Role::Output));
        let (inner, z) = (t("inner", 10, Role::Activation), t("z", 4, Role::Output));
        let body = g.body();
        g.operator(body, Operator::new("fill", "ConstantOfShape").reads([shape]).makes([filled]));
        g.operator(body, Operator::new("cast", "Cast").reads([filled]).makes([cast]));
        g.operator(body, Operator::new("noise", "RandomNormal").makes([noise]));
        let mut choose = Operator::new("if", "If").reads([x]).makes([y]);
        let handover = Handover { when: Moment::End(0), from: z, to: y, part: false };
        choose.handovers = Some(vec![handover]);
        let choose = g.operator(body, choose);
        let then = g.region(choose, "then");
        g.operator(then, Operator::new("cut", "Slice").reads([cast]).makes([inner]));
        g.operator(then, Operator::new("use", "Add").reads([inner, cast, noise]).makes([z]));
        g.interface(body, [x], [y]);
        g.interface(then, [], [z]);
        let (folded, kept) = g.build().unwrap().folded();
        assert_eq!(kept, [2, 3, 5].map(OperatorId::new));
        let kinds: Vec<&str> = folded.operators().iter().map(|o| o.kind.as_str()).collect();
        assert_eq!(kinds, ["RandomNormal", "If", "Add"]);
        // `shape` and `filled` have no readers left and are dropped.
        assert_eq!(folded.bytes(Role::Weight).get(), 60);
        assert_eq!(folded.folded(), (folded.clone(), (0..3).map(OperatorId::new).collect()));
        let names = |h: &Handover| (folded.tensor(h.from).name.clone(), folded.tensor(h.to).name.clone());
        let flow = folded.flow(OperatorId::new(1)).unwrap().unwrap();
        assert_eq!(flow.handovers.iter().map(names).collect::<Vec<_>>(), [("z".into(), "y".into())]);
    }
}
