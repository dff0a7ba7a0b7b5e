//! Memory of compiled code, in which tensors have fixed addresses.
//!
//! A compiler for an accelerator places tensors inside a block of memory and writes their addresses into the
//! code of an operator. The block may move, but the tensors may not move inside it. A [`Segment`] describes
//! such a block. It belongs to the body, and it is in the arena for the whole run.
//!
//! Tensors of a segment may have bytes in common if they are never live at the same time in the order of the
//! file. The operators that use a segment therefore keep this order. Tensors of a segment share memory with
//! no tensor outside it.

use super::{Graph, Role, Tensor};
use crate::orders::Storage;
use crate::units::{Bytes, OperatorId, TensorId};
use std::collections::{HashMap, HashSet};

/// Memory in which tensors have fixed addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The name. [`GraphBuilder::build`](super::GraphBuilder::build) makes it different from the names of all
    /// tensors and segments.
    pub name: String,
    /// The size in bytes, including memory that belongs to no tensor of the graph.
    pub bytes: Bytes,
    /// The tensors, with their first bytes in the segment.
    pub tensors: Vec<(TensorId, Bytes)>,
}

impl Segment {
    /// Returns the memory of the segment; `None` if its rounded size overflows.
    pub(super) fn storage(&self, users: Vec<OperatorId>, align: Bytes) -> Option<Storage> {
        let size = self.bytes.align_up(align)?;
        Some(Storage { name: self.name.clone(), size, users, from_start: true, to_end: true })
    }
}

/// Per tensor of a segment: the index of the segment, and the first byte of the tensor in it.
pub(super) type Fixed = HashMap<TensorId, (usize, Bytes)>;

impl Graph {
    /// Returns the segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the index of the segment that contains a tensor, and the first byte of the tensor in it;
    /// `None` if the tensor has no fixed address.
    pub fn fixed(&self, id: TensorId) -> Option<(usize, Bytes)> {
        self.fixed.get(&id).copied()
    }

    /// Returns, for each segment, the positions of the operators that use it, ascending. `operators` are
    /// those of a region in file order.
    pub(super) fn segment_users(&self, operators: &[OperatorId]) -> Vec<Vec<OperatorId>> {
        let mut users = vec![Vec::new(); self.segments.len()];
        if users.is_empty() {
            return users;
        }
        for (at, &id) in operators.iter().enumerate() {
            for segment in self.segments_of(id) {
                users[segment].push(OperatorId::at(at));
            }
        }
        users
    }

    /// Returns the segments that an operator or the regions inside it use. The time is linear in the size of
    /// the operator and of these regions.
    fn segments_of(&self, id: OperatorId) -> HashSet<usize> {
        let (mut found, mut todo) = (HashSet::new(), vec![id]);
        while let Some(id) = todo.pop() {
            let operator = self.operator(id);
            let regions = || operator.regions.iter().map(|&region| self.region(region));
            let handed = regions().flat_map(|region| region.inputs.iter().chain(&region.outputs));
            let used = operator.inputs.iter().chain(&operator.outputs).chain(handed);
            found.extend(used.filter_map(|&tensor| Some(self.fixed(tensor)?.0)));
            todo.extend(regions().flat_map(|region| region.operators.iter().copied()));
        }
        found
    }
}

/// The reason why a segment is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("segment '{segment}', {tensor}: {reason}")]
pub struct Misplaced {
    segment: String,
    /// The name or the number of the tensor.
    tensor: String,
    reason: &'static str,
}

/// Checks segments, and returns the segment of each tensor that has one.
pub(super) fn fixed(tensors: &[Tensor], segments: &[Segment]) -> Result<Fixed, Misplaced> {
    let mut fixed = Fixed::new();
    for (at, segment) in segments.iter().enumerate() {
        let bad = |tensor: String, reason| Misplaced { segment: segment.name.clone(), tensor, reason };
        if segment.bytes == Bytes::ZERO || segment.tensors.is_empty() {
            return Err(bad("all tensors".to_owned(), "the segment has no bytes or no tensors"));
        }
        for &(id, offset) in &segment.tensors {
            let Some(tensor) = tensors.get(id.index()) else {
                return Err(bad(format!("tensor {id}"), "there is no such tensor"));
            };
            let bad = |reason| Err(bad(format!("tensor '{}'", tensor.name), reason));
            if tensor.role == Role::Weight || tensor.bytes == Bytes::ZERO {
                return bad("a weight or a tensor without bytes has no fixed address");
            }
            if offset.checked_add(tensor.bytes).is_none_or(|end| end > segment.bytes) {
                return bad("the tensor ends after the segment");
            }
            if fixed.insert(id, (at, offset)).is_some() {
                return bad("the tensor already has a fixed address");
            }
        }
    }
    Ok(fixed)
}

/// Makes the names of segments differ from each other and from those of tensors.
pub(super) fn name_segments(tensors: &[Tensor], segments: &mut [Segment]) {
    let mut taken: HashSet<String> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
    for segment in segments {
        while !taken.insert(segment.name.clone()) {
            segment.name.push('~');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, GraphError, LivenessOptions, Operator};
    use crate::units::RegionId;

    /// Builds x -npu1-> a -cpu-> b -npu2-> y, with x, a, b and y in a segment of 90 bytes, and t = side(x).
    fn graph(change: impl FnOnce(&mut Segment)) -> Result<Graph, GraphError> {
        let mut g = GraphBuilder::new("g");
        let mut t = |name: &str, bytes: u64, role| g.tensor(Tensor::new(name, bytes, role));
        let (x, y) = (t("x", 30, Role::Input), t("y", 30, Role::Output));
        let (a, b) = (t("a", 20, Role::Activation), t("b", 40, Role::Activation));
        let other = t("t", 7, Role::Activation);
        g.operator(Graph::BODY, Operator::new("npu1", "npu").reads([x]).makes([a]));
        g.operator(Graph::BODY, Operator::new("side", "Relu").reads([x]).makes([other]));
        g.operator(Graph::BODY, Operator::new("cpu", "Relu").reads([a]).makes([b]));
        g.operator(Graph::BODY, Operator::new("npu2", "npu").reads([b]).makes([y]));
        g.interface(Graph::BODY, [x], [y]);
        let tensors = [(x, 0), (a, 40), (b, 50), (y, 0)].map(|(id, at)| (id, Bytes::new(at))).to_vec();
        let mut segment = Segment { name: "t".into(), bytes: Bytes::new(90), tensors };
        change(&mut segment);
        g.segment(segment);
        g.build()
    }

    #[test]
    fn a_segment_is_one_storage_and_keeps_the_order_of_its_users() {
        let graph = graph(|_| ()).unwrap();
        assert_eq!(graph.segments()[0].name, "t~");
        assert_eq!(graph.fixed(TensorId::new(3)), Some((0, Bytes::new(50))));
        let made = graph.storages(RegionId::at(0), &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
        let sizes: Vec<(String, u64)> =
            made.problem.storages().iter().map(|one| (one.name.clone(), one.size.get())).collect();
        assert_eq!(sizes, [("t".to_owned(), 7), ("t~".to_owned(), 90)]);
        // npu1, side, cpu and npu2 all use the segment, so only the order of the file is possible.
        for at in 1..4 {
            let before = made.problem.predecessors(OperatorId::new(at));
            assert!(before.contains(&OperatorId::new(at - 1)), "{at}: {before:?}");
        }
        assert_eq!(made.problem.as_in_file().peak(&made.problem), Bytes::new(97));
    }

    #[test]
    fn invalid_segments_are_rejected() {
        let reason = |change: fn(&mut Segment)| graph(change).unwrap_err().to_string();
        assert!(reason(|one| one.bytes = Bytes::new(89)).contains("tensor 'b': the tensor ends after"));
        assert!(reason(|one| one.tensors.clear()).contains("no bytes or no tensors"));
        assert!(reason(|one| one.tensors[1].0 = TensorId::new(0)).contains("already has a fixed address"));
        assert!(
            reason(|one| one.tensors[0].0 = TensorId::new(9)).contains("tensor 9: there is no such tensor")
        );
    }
}
