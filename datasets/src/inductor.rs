//! Reads the graphs that `PyTorch` Inductor exports if `reorder_for_peak_memory_debug` is set.
//!
//! The file contains the kernels in execution order with their buffers. For each buffer, it lists the bytes
//! allocated and freed, and the buffers that its kernel reads. Kernels become operators, and buffers become
//! tensors. A kernel with several results has one buffer without a size of its own, from which other kernels
//! extract the results. In the graph, the first kernel produces the memory of these results, and the
//! extracted tensors are views of that memory.
//!
//! **Source.** `export_graph_for_simulator` and `compute_size_for_scheduler_buffer` in
//! `torch/_inductor/memory.py`, `PyTorch` 2.15.

use crate::import::{Import, ImportProblem};
use plimsoll_model::graph::{AliasKind, Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{TensorId, json_error, json_from_slice};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeSet, HashMap};

/// The kind of all operators.
const KIND: &str = "Kernel";

#[derive(Deserialize)]
struct File {
    nodes: Vec<Node>,
    buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
struct Node {
    name: String,
    buffer_names: Vec<String>,
}

#[derive(Deserialize)]
struct Buffer {
    name: String,
    /// Bytes allocated before its kernel runs.
    size_alloc: u64,
    /// Bytes freed after its last reader runs.
    size_free: u64,
    is_input: bool,
    is_output: bool,
    /// Names of the buffers that its kernel reads.
    deps: Vec<String>,
}

#[derive(Deserialize)]
struct Members {
    format: Option<IgnoredAny>,
    nodes: Option<IgnoredAny>,
    buffers: Option<IgnoredAny>,
}

/// Returns true if a JSON document has the lists `nodes` and `buffers`, and no member `format`.
pub(crate) fn is_inductor(bytes: &[u8]) -> bool {
    let members = json_from_slice::<Members>(bytes);
    members.is_ok_and(|all| all.format.is_none() && all.nodes.is_some() && all.buffers.is_some())
}

fn damaged(reason: String) -> ImportProblem {
    ImportProblem::Damaged(reason)
}

/// Reads a graph. `name` becomes its name. O(n + d) for n buffers with d dependencies in total, if results
/// are extracted directly from the kernel that allocates them.
///
/// # Errors
/// See [`ImportProblem`].
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Import, ImportProblem> {
    let file: File = json_from_slice(bytes).map_err(|error| damaged(json_error(&error)))?;
    Ok(Import::of(Reader::new(&file)?.graph(name)?))
}

/// Returns the name of the tensor for the memory of an extracted result.
fn memory_of(name: &str) -> String {
    format!("{name} (memory)")
}

/// A file whose names have been resolved to positions.
struct Reader<'a> {
    file: &'a File,
    /// The node of each buffer; `None` for inputs.
    node: Vec<Option<usize>>,
    /// The dependencies of each buffer.
    deps: Vec<Vec<usize>>,
    /// For each buffer, the node that allocates its memory, if that is not the buffer's own node.
    origin: Vec<Option<usize>>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a File) -> Result<Self, ImportProblem> {
        let mut place: HashMap<&str, usize> = HashMap::new();
        for (at, buffer) in file.buffers.iter().enumerate() {
            if buffer.name.is_empty() || place.insert(&buffer.name, at).is_some() {
                return Err(damaged(format!("buffer '{}' occurs twice, or has no name", buffer.name)));
            }
        }
        if let Some(buffer) =
            file.buffers.iter().find(|one| place.contains_key(memory_of(&one.name).as_str()))
        {
            return Err(damaged(format!("the names '{}' and '{0} (memory)' are ambiguous", buffer.name)));
        }
        let find = |name: &str, owner: &str| {
            let unknown =
                || damaged(format!("buffer '{owner}' refers to buffer '{name}', which is not in the file"));
            place.get(name).copied().ok_or_else(unknown)
        };
        let mut node: Vec<Option<usize>> = vec![None; file.buffers.len()];
        for (at, own) in file.nodes.iter().enumerate() {
            for name in &own.buffer_names {
                // Buffers of removed kernels are not in the list.
                let Some(&buffer) = place.get(name.as_str()) else { continue };
                if file.buffers[buffer].is_input || node[buffer].replace(at).is_some() {
                    return Err(damaged(format!(
                        "buffer '{name}' of node '{}' is an input or belongs to an earlier node",
                        own.name
                    )));
                }
            }
        }
        let mut deps = Vec::with_capacity(file.buffers.len());
        for (own, node) in file.buffers.iter().zip(&node) {
            if node.is_none() && !own.is_input {
                return Err(damaged(format!("buffer '{}' belongs to no node and is not an input", own.name)));
            }
            deps.push(own.deps.iter().map(|dep| find(dep, &own.name)).collect::<Result<Vec<_>, _>>()?);
        }
        let mut reader = Self { file, node, deps, origin: Vec::new() };
        reader.origin = (0..file.buffers.len()).map(|at| reader.origin(at)).collect::<Result<_, _>>()?;
        reader.check_sizes()?;
        Ok(reader)
    }

    /// Returns the node that allocates the memory of an extracted buffer, or `None` if the buffer's own node
    /// allocates it.
    fn origin(&self, at: usize) -> Result<Option<usize>, ImportProblem> {
        let buffer = &self.file.buffers[at];
        if buffer.size_alloc >= buffer.size_free || self.node[at].is_none() {
            return Ok(None);
        }
        let (mut seen, mut open) = (BTreeSet::from([at]), vec![at]);
        while let Some(next) = open.pop() {
            let other = &self.file.buffers[next];
            if other.size_alloc > other.size_free {
                return Ok(self.node[next].filter(|_| self.node[next] != self.node[at]));
            }
            // The buffers in between have no size of their own.
            let deps = self.deps[next].iter();
            open.extend(deps.filter(|&&dep| self.file.buffers[dep].size_free == 0 && seen.insert(dep)));
        }
        Err(damaged(format!(
            "buffer '{}' frees {} bytes, but {} are allocated",
            buffer.name, buffer.size_free, buffer.size_alloc
        )))
    }

    /// Checks that every node allocates as many bytes as are freed later.
    fn check_sizes(&self) -> Result<(), ImportProblem> {
        let mut balance = vec![0_i128; self.file.nodes.len()];
        for (at, buffer) in self.file.buffers.iter().enumerate() {
            let Some(node) = self.node[at] else { continue };
            balance[node] += i128::from(buffer.size_alloc);
            balance[self.origin[at].unwrap_or(node)] -= i128::from(buffer.size_free);
        }
        let Some(at) = balance.iter().position(|&rest| rest != 0) else { return Ok(()) };
        let (name, bytes) = (&self.file.nodes[at].name, balance[at].unsigned_abs());
        let word = if balance[at] > 0 { "more" } else { "fewer" };
        Err(damaged(format!("node '{name}' allocates {bytes} bytes {word} than are freed")))
    }

    fn graph(&self, name: &str) -> Result<Graph, ImportProblem> {
        let mut graph = GraphBuilder::new(name);
        // The tensors of each buffer: the buffer itself and, if another node allocates it, its memory.
        let tensors: Vec<Vec<TensorId>> = self
            .file
            .buffers
            .iter()
            .zip(&self.origin)
            .map(|(buffer, origin)| {
                let role = match (buffer.is_input, buffer.is_output) {
                    (true, _) => Role::Input,
                    (false, true) => Role::Output,
                    (false, false) => Role::Activation,
                };
                let own = |bytes: u64| Tensor::new(buffer.name.clone(), bytes, role);
                if origin.is_none() {
                    return vec![graph.tensor(own(buffer.size_free))];
                }
                let memory = Tensor::new(memory_of(&buffer.name), buffer.size_free, Role::Activation);
                vec![graph.tensor(own(buffer.size_free)), graph.tensor(memory)]
            })
            .collect();
        let all = |chosen: &dyn Fn(&Buffer) -> bool| -> Vec<TensorId> {
            let rows = self.file.buffers.iter().zip(&tensors);
            rows.filter(|(buffer, _)| chosen(buffer)).map(|(_, own)| own[0]).collect()
        };
        let body = graph.body();
        graph.interface(body, all(&|buffer| buffer.is_input), all(&|buffer| buffer.is_output));
        let mut reads: Vec<BTreeSet<TensorId>> = vec![BTreeSet::new(); self.file.nodes.len()];
        let mut makes: Vec<Vec<TensorId>> = vec![Vec::new(); self.file.nodes.len()];
        let mut views: Vec<Vec<(TensorId, TensorId)>> = vec![Vec::new(); self.file.nodes.len()];
        for (at, node) in self.node.iter().enumerate() {
            let Some(node) = *node else { continue };
            makes[node].push(tensors[at][0]);
            if let (Some(origin), Some(&memory)) = (self.origin[at], tensors[at].get(1)) {
                makes[origin].push(memory);
                reads[node].insert(memory);
                views[node].push((memory, tensors[at][0]));
            }
            let others = self.deps[at].iter().filter(|&&dep| self.node[dep] != Some(node));
            reads[node].extend(others.map(|&dep| tensors[dep][0]));
        }
        for (at, (own, (reads, makes))) in
            self.file.nodes.iter().zip(reads.into_iter().zip(makes)).enumerate()
        {
            let operator = Operator::new(own.name.clone(), KIND).reads(reads).makes(makes);
            let view = |operator: Operator, &(from, to): &_| operator.alias(from, to, AliasKind::View);
            graph.operator(body, views[at].iter().fold(operator, view));
        }
        graph.build().map_err(|error| Box::new(error).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::Bytes;
    use plimsoll_model::graph::LivenessOptions;

    fn buffer(name: &str, (alloc, free): (u64, u64), ends: &str, deps: &str) -> String {
        let deps: Vec<&str> = deps.split_whitespace().collect();
        format!(
            r#"{{"name": "{name}", "size_alloc": {alloc}, "size_free": {free}, "size": {free}, "is_input": {}, "is_output": {}, "deps": {deps:?}, "unmet_deps": []}}"#,
            ends == "input",
            ends == "output"
        )
    }

    fn document(nodes: &[(&str, &str)], buffers: &[String]) -> String {
        let nodes: Vec<String> = nodes
            .iter()
            .map(|(name, own)| {
                let own: Vec<&str> = own.split_whitespace().collect();
                format!(r#"{{"name": "{name}", "buffer_names": {own:?}}}"#)
            })
            .collect();
        format!(r#"{{"nodes": [{}], "buffers": [{}]}}"#, nodes.join(", "), buffers.join(", "))
    }

    /// Returns a document with two branches of a convolution, and a kernel with two results, one of which is
    /// returned.
    fn split() -> String {
        document(
            &[("op0", "buf0"), ("op1", "buf1"), ("op2", "buf2"), ("op3", "buf3"), ("op4", "buf4")],
            &[
                buffer("primals_1", (8, 8), "input", ""),
                buffer("buf0", (16, 16), "", "primals_1"),
                buffer("buf1", (12, 0), "", "buf0"),
                buffer("buf2", (0, 4), "output", "buf1"),
                buffer("buf3", (0, 8), "", "buf1"),
                buffer("buf4", (4, 4), "output", "buf3"),
            ],
        )
    }

    #[test]
    fn results_are_live_from_the_kernel_that_allocates_them() {
        let text = split();
        assert!(is_inductor(text.as_bytes()));
        let graph = read("split", text.as_bytes()).unwrap().graph;
        let bytes =
            |name: &str| graph.tensors().iter().find(|tensor| tensor.name == name).unwrap().bytes.get();
        assert_eq!([bytes("buf0"), bytes("buf1"), bytes("buf2"), bytes("buf2 (memory)")], [16, 0, 4, 4]);
        let storages = graph.storages(Graph::BODY, &LivenessOptions::default(), |_| Bytes::ZERO).unwrap();
        let problem = storages.problem;
        // While op1 runs, buf0 has 16 bytes, and the results that it allocates have 12.
        assert_eq!(problem.as_in_file().peak(&problem), Bytes::new(28));
    }

    #[test]
    fn one_node_may_extract_its_own_results() {
        let text = document(
            &[("op0_op1", "buf0 buf1")],
            &[buffer("buf0", (12, 0), "", ""), buffer("buf1", (0, 12), "output", "buf0")],
        );
        let graph = read("fused", text.as_bytes()).unwrap().graph;
        let sizes: Vec<u64> = graph.tensors().iter().map(|tensor| tensor.bytes.get()).collect();
        assert_eq!((sizes, graph.operators().len()), (vec![0, 12], 1));
    }

    #[test]
    fn errors_name_buffers_and_nodes() {
        let refused = |text: String| read("x", text.as_bytes()).unwrap_err().to_string();
        let one =
            |sizes, ends: &str, deps: &str| document(&[("op0", "a")], &[buffer("a", sizes, ends, deps)]);
        assert_eq!(
            refused(one((4, 4), "", "b")),
            "damaged: buffer 'a' refers to buffer 'b', which is not in the file"
        );
        assert_eq!(refused(one((4, 2), "", "")), "damaged: node 'op0' allocates 2 bytes more than are freed");
        let three = [buffer("a", (4, 0), "", ""), buffer("b", (0, 4), "", "a"), buffer("c", (0, 4), "", "a")];
        let fewer = document(&[("op0", "a"), ("op1", "b"), ("op2", "c")], &three);
        assert_eq!(refused(fewer), "damaged: node 'op0' allocates 4 bytes fewer than are freed");
        assert_eq!(refused(one((0, 2), "", "")), "damaged: buffer 'a' frees 2 bytes, but 0 are allocated");
        assert_eq!(
            refused(document(&[], &[buffer("a", (4, 4), "", "")])),
            "damaged: buffer 'a' belongs to no node and is not an input"
        );
        let twice = buffer("a", (4, 4), "input", "");
        assert_eq!(
            refused(document(&[], &[twice.clone(), twice])),
            "damaged: buffer 'a' occurs twice, or has no name"
        );
        assert!(refused(r#"{"nodes": [], "buffers": [{}]}"#.to_owned()).starts_with("damaged: line 1"));
    }
}
