//! Inlines the functions that a file defines.
//!
//! A call is replaced by the body of its function, as in runtimes without a kernel for the function.
//! Operators with a rule are not inlined: runtimes have a kernel for them, which does not need the tensors
//! inside the body.

use super::proto::{Attribute, Function, Graph, Node, Tensor, ValueInfo, plain};
use crate::operators;
use std::collections::{HashMap, HashSet};

/// The maximum nesting depth of bodies and calls together.
const DEPTH_LIMIT: usize = 64;

/// The maximum total size of all copies of bodies, as an estimate in bytes. A few functions that call each
/// other can request billions of nodes.
const WEIGHT_LIMIT: u64 = 1 << 27;

/// The domain, name and overload of a function.
type Id<'f> = (&'f str, &'f str, &'f str);

/// Inlines all calls, including those in bodies, until none remains. `opset` is the version of the standard
/// ONNX operators in the model. The time is linear in the size of the result.
///
/// # Errors
/// If functions call themselves, are nested too deeply or grow too large, or if a call has too many operands.
pub fn inline(graph: &mut Graph, functions: &[Function], opset: i64) -> Result<(), String> {
    let known =
        functions.iter().map(|function| (id(&function.domain, &function.name, &function.overload), function));
    let functions: HashMap<Id, &Function> =
        known.filter(|((domain, name, _), _)| !has_rule(domain, name)).collect();
    if functions.is_empty() {
        return Ok(());
    }
    let mut taken = HashSet::new();
    collect_names(graph, &mut taken);
    let mut inliner =
        Inliner { functions, opset, taken, prefixes: HashMap::new(), active: Vec::new(), weight: 0 };
    inliner.graph(graph, 0)
}

fn id<'f>(domain: &'f str, name: &'f str, overload: &'f str) -> Id<'f> {
    (if plain(domain) { "" } else { domain }, name, overload)
}

fn find<'s, 'f>(functions: &HashMap<Id<'s>, &'f Function>, node: &'s Node) -> Option<&'f Function> {
    functions.get(&id(&node.domain, &node.op_type, &node.overload)).copied()
}

/// Returns true if the importer has a rule for the operator.
fn has_rule(domain: &str, kind: &str) -> bool {
    let domain = if plain(domain) { "" } else { domain };
    domain.is_empty() && matches!(kind, "If" | "Loop" | "Scan" | "Constant")
        || operators::is_known(domain, kind)
}

fn collect_names(graph: &Graph, names: &mut HashSet<String>) {
    let mut todo = vec![graph];
    while let Some(graph) = todo.pop() {
        names.extend(graph.input.iter().map(|info| info.name.clone()));
        names.extend(graph.initializer.iter().map(|tensor| tensor.name.clone()));
        names.extend(graph.node.iter().flat_map(|node| &node.output).cloned());
        todo.extend(graph.node.iter().flat_map(Node::bodies).map(|(_, body)| body));
    }
}

struct Inliner<'f> {
    functions: HashMap<Id<'f>, &'f Function>,
    opset: i64,
    /// Names of tensors that are already in use.
    taken: HashSet<String>,
    /// The number of uses of each prefix.
    prefixes: HashMap<String, usize>,
    /// The functions whose bodies are being copied, outermost first.
    active: Vec<Id<'f>>,
    weight: u64,
}

impl<'f> Inliner<'f> {
    fn graph(&mut self, graph: &mut Graph, depth: usize) -> Result<(), String> {
        let nodes = std::mem::take(&mut graph.node);
        graph.node = self.nodes(nodes, &mut graph.value_info, depth)?;
        Ok(())
    }

    /// Returns the nodes with calls inlined. The declarations of tensors of the functions are added to
    /// `infos`.
    fn nodes(
        &mut self,
        nodes: Vec<Node>,
        infos: &mut Vec<ValueInfo>,
        depth: usize,
    ) -> Result<Vec<Node>, String> {
        if depth > DEPTH_LIMIT {
            return Err(format!("function bodies and calls are nested more than {DEPTH_LIMIT} deep"));
        }
        let mut replaced = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            let Some(function) = find(&self.functions, &node) else {
                for attribute in &mut node.attribute {
                    for body in attribute.g.iter_mut().map(AsMut::as_mut).chain(&mut attribute.graphs) {
                        self.graph(body, depth + 1)?;
                    }
                }
                replaced.push(node);
                continue;
            };
            let id = id(&function.domain, &function.name, &function.overload);
            if self.active.contains(&id) {
                let chain: Vec<String> = self.active.iter().chain([&id]).map(|&id| text(id)).collect();
                return Err(format!("function {} calls itself: {}", text(id), chain.join(" -> ")));
            }
            self.active.push(id);
            let body = self.body(function, &node, infos)?;
            replaced.extend(self.nodes(body, infos, depth + 1)?);
            self.active.pop();
        }
        Ok(replaced)
    }

    /// Returns the body of a function for one call.
    fn body(
        &mut self,
        function: &'f Function,
        call: &Node,
        infos: &mut Vec<ValueInfo>,
    ) -> Result<Vec<Node>, String> {
        let first = call.output.iter().find(|name| !name.is_empty());
        let mut prefix =
            if call.name.is_empty() { first.unwrap_or(&call.op_type).clone() } else { call.name.clone() };
        for (given, wanted, what) in
            [(&call.input, &function.input, "inputs"), (&call.output, &function.output, "outputs")]
        {
            if given.len() > wanted.len() {
                return Err(format!(
                    "'{prefix}' has {} {what}, but function {} has {}",
                    given.len(),
                    text(id(&function.domain, &function.name, &function.overload)),
                    wanted.len()
                ));
            }
        }
        let uses = self.prefixes.entry(prefix.clone()).or_insert(0);
        *uses += 1;
        if *uses > 1 {
            prefix = format!("{prefix}~{uses}");
        }
        let actual = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_default();
        let inputs = function.input.iter().enumerate();
        let mut names: HashMap<&'f str, String> =
            inputs.map(|(at, formal)| (formal.as_str(), actual(&call.input, at))).collect();
        // A value that the function returns unchanged is copied.
        let mut copies = Vec::new();
        for (at, formal) in function.output.iter().enumerate() {
            let output = actual(&call.output, at);
            match names.get(formal.as_str()) {
                _ if output.is_empty() => {}
                Some(name) => copies.push(identity(name, &output)),
                None => drop(names.insert(formal, output)),
            }
        }
        let mut attributes: HashMap<&str, &Attribute> =
            function.attribute_proto.iter().map(|default| (default.name.as_str(), default)).collect();
        attributes.extend(call.attribute.iter().map(|given| (given.name.as_str(), given)));
        let versions = function.opset_import.iter().filter(|set| plain(&set.domain)).map(|set| set.version);
        let opset = versions.max().filter(|&version| version != self.opset);
        let mut copy = Copy { inliner: self, prefix, names, attributes, opset, index: call.index };
        let mut nodes = function.node.iter().map(|node| copy.node(node)).collect::<Result<Vec<_>, _>>()?;
        infos.extend(copy.infos(&function.value_info));
        nodes.extend(copies.into_iter().map(|copy| Node { index: call.index, ..copy }));
        Ok(nodes)
    }
}

fn text((domain, name, overload): Id) -> String {
    let parts = [domain, name, overload];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".")
}

fn identity(from: &str, to: &str) -> Node {
    let (input, output) = (vec![from.to_owned()], vec![to.to_owned()]);
    Node { op_type: "Identity".to_owned(), name: to.to_owned(), input, output, ..Node::default() }
}

struct Copy<'c, 'f> {
    inliner: &'c mut Inliner<'f>,
    prefix: String,
    /// For each tensor of the function: its name in the graph.
    names: HashMap<&'f str, String>,
    /// The attributes of the call, and the function's defaults for attributes that the call omits.
    attributes: HashMap<&'c str, &'c Attribute>,
    /// The version of the standard ONNX operators, if it differs from that of the model.
    opset: Option<i64>,
    /// The index of the call.
    index: u32,
}

impl<'f> Copy<'_, 'f> {
    fn name(&mut self, name: &'f str) -> String {
        if name.is_empty() {
            return String::new();
        }
        let (prefix, taken) = (&self.prefix, &mut self.inliner.taken);
        let fresh = || {
            let mut fresh = format!("{prefix}/{name}");
            while !taken.insert(fresh.clone()) {
                fresh.push('~');
            }
            fresh
        };
        self.names.entry(name).or_insert_with(fresh).clone()
    }

    fn list(&mut self, names: &'f [String]) -> Vec<String> {
        names.iter().map(|name| self.name(name)).collect()
    }

    fn infos(&mut self, infos: &'f [ValueInfo]) -> Vec<ValueInfo> {
        infos
            .iter()
            .map(|info| ValueInfo { name: self.name(&info.name), r#type: info.r#type.clone() })
            .collect()
    }

    fn count(&mut self, weight: u64) -> Result<(), String> {
        self.inliner.weight += weight;
        if self.inliner.weight > WEIGHT_LIMIT {
            return Err(format!(
                "the function bodies take more than {WEIGHT_LIMIT} bytes after replacing the calls"
            ));
        }
        Ok(())
    }

    fn node(&mut self, node: &'f Node) -> Result<Node, String> {
        let words = node.input.iter().chain(&node.output);
        self.count(512 + words.map(|word| (64 + word.len() + self.prefix.len()) as u64).sum::<u64>())?;
        let attribute = node.attribute.iter().filter_map(|attribute| self.attribute(attribute).transpose());
        let attribute = attribute.collect::<Result<_, _>>()?;
        let name =
            if node.name.is_empty() { String::new() } else { format!("{}/{}", self.prefix, node.name) };
        let (input, output) = (self.list(&node.input), self.list(&node.output));
        let (op_type, domain, overload) = (node.op_type.clone(), node.domain.clone(), node.overload.clone());
        let (opset, index) = (self.opset, self.index);
        Ok(Node { input, output, name, op_type, attribute, domain, overload, opset, index })
    }

    /// Returns an attribute of a node. If it refers to an attribute of the call, the result has the value of
    /// that attribute. The result is `None` if neither the call nor the function gives a value.
    fn attribute(&mut self, attribute: &'f Attribute) -> Result<Option<Attribute>, String> {
        if !attribute.ref_attr_name.is_empty() {
            let Some(&given) = self.attributes.get(attribute.ref_attr_name.as_str()) else { return Ok(None) };
            self.count(weight(given))?;
            return Ok(Some(Attribute { name: attribute.name.clone(), ..given.clone() }));
        }
        if attribute.g.is_none() && attribute.graphs.is_empty() {
            self.count(weight(attribute))?;
            return Ok(Some(attribute.clone()));
        }
        self.count(256)?;
        let g = attribute.g.as_ref().map(|body| self.graph(body).map(Box::new)).transpose()?;
        let graphs = attribute.graphs.iter().map(|body| self.graph(body)).collect::<Result<_, _>>()?;
        Ok(Some(Attribute { name: attribute.name.clone(), g, graphs, ..Attribute::default() }))
    }

    fn graph(&mut self, graph: &'f Graph) -> Result<Graph, String> {
        let infos = graph.input.iter().chain(&graph.output).chain(&graph.value_info);
        self.count(256 + 256 * infos.count() as u64 + graph.initializer.iter().map(weigh).sum::<u64>())?;
        let mut copy = Graph { name: graph.name.clone(), ..Graph::default() };
        copy.node = graph.node.iter().map(|node| self.node(node)).collect::<Result<_, _>>()?;
        for tensor in &graph.initializer {
            copy.initializer.push(Tensor { name: self.name(&tensor.name), ..tensor.clone() });
        }
        for sparse in &graph.sparse_initializer {
            let mut other = sparse.clone();
            if let (Some(to), Some(from)) = (&mut other.values, &sparse.values) {
                self.count(weigh(from) + sparse.indices.as_ref().map_or(0, weigh))?;
                to.name = self.name(&from.name);
            }
            copy.sparse_initializer.push(other);
        }
        (copy.input, copy.output) = (self.infos(&graph.input), self.infos(&graph.output));
        copy.value_info = self.infos(&graph.value_info);
        Ok(copy)
    }
}

/// Returns the approximate size in bytes of a copy of an attribute.
fn weight(attribute: &Attribute) -> u64 {
    let lists = 8 * (attribute.ints.len() + attribute.floats.len()) as u64;
    let bodies =
        attribute.g.iter().map(AsRef::as_ref).chain(&attribute.graphs).map(prost::Message::encoded_len);
    let sparse =
        attribute.sparse_tensor.as_ref().map_or(0, |sparse| prost::Message::encoded_len(sparse.as_ref()));
    256 + lists + attribute.t.as_deref().map_or(0, weigh) + 64 * (bodies.sum::<usize>() + sparse) as u64
}

/// Returns the approximate size in bytes of a copy of a constant. Raw data are shared, so they do not
/// count.
fn weigh(tensor: &Tensor) -> u64 {
    let small = tensor.float_data.len() + tensor.int32_data.len() + tensor.dims.len();
    let large = tensor.int64_data.len() + tensor.double_data.len() + tensor.uint64_data.len();
    256 + 8 * (small + large) as u64 + tensor.name.len() as u64
}
