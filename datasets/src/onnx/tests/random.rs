//! Tests that no operator panics on arbitrary inputs and attributes.

use super::functions::function;
use super::{Attribute, Graph, Model, Node, body, graph, info, int, ints, model, node, text};
use crate::fuzzing::onnx_model;
use crate::onnx::proto::Tensor;
use crate::operators::{KnownOperator, known_operators};
use prost::Message;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::sync::LazyLock;

/// Two lists: all known operators, and only those of the standard ONNX domain.
static KINDS: LazyLock<(Vec<KnownOperator>, Vec<KnownOperator>)> = LazyLock::new(|| {
    let all = known_operators();
    let plain = all.iter().filter(|kind| kind.domain == "ai.onnx").copied().collect();
    (all, plain)
});
const NAMES: &str = "axis axes perm pads strides dilations kernel_shape output_shape output_padding group ceil_mode allowzero \
     blocksize keepdims noop_with_empty_axes starts ends steps split num_outputs to start end shape scales k batch_dims transA \
     hidden_size layout q_num_heads kv_num_heads onesided inverse broadcast fmod num_scan_inputs scan_input_axes dtype depth \
     value_ints training_mode num_heads qkv_hidden_sizes N K channels_last border scale vocab_size transBatchA transB new_axis \
     ngram_indexes sample_size inputdimensions classlabels_ints select_last_index sorted upper exclusive reverse axes dim size \
     n_targets targets past_present_share_buffer positive channels";
const TEXTS: &[(&str, &str)] = &[
    ("auto_pad", "SAME_UPPER"),
    ("auto_pad", "VALID"),
    ("equation", "ij,jk->ik"),
    ("equation", "...i, é...->i"),
    ("keep_aspect_ratio_policy", "not_larger"),
];
const EXTREMES: &[i64] =
    &[0, 1, 2, 3, 4, 5, 7, 64, -1, -2, -3, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 1 << 32, 1 << 62];
const TYPES: &[&str] = &[
    "float32:2x3x4",
    "float32:1x4x6x6",
    "8x4x3x3",
    "int64:3",
    "bool:",
    "int64:",
    "float16:0x5",
    "9223372036854775807x0x3",
    "4294967296x2",
];

struct Source(Xoshiro256PlusPlus);

impl Source {
    fn below(&mut self, limit: usize) -> usize {
        self.0.random_range(0..limit as u64) as usize
    }

    fn one<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Returns a number that is usually small and sometimes extreme.
    fn number(&mut self) -> i64 {
        if self.below(4) > 0 { *self.one(&EXTREMES[..9]) } else { *self.one(EXTREMES) }
    }

    fn numbers(&mut self) -> Vec<i64> {
        (0..self.below(6)).map(|_| self.number()).collect()
    }

    fn attribute(&mut self) -> Attribute {
        let names: Vec<&str> = NAMES.split_whitespace().collect();
        let name = *self.one(&names);
        match self.below(5) {
            0 | 1 => int(name, self.number()),
            2 | 3 => ints(name, &self.numbers()),
            _ => {
                let (name, value) = *self.one(TEXTS);
                text(name, value)
            }
        }
    }

    fn constant(&mut self, name: String) -> Tensor {
        let list = self.numbers();
        let dims = match self.below(4) {
            0 => vec![list.len() as i64, 1],
            1 if list.len() == 1 => vec![],
            2 => vec![0, self.number().max(0)],
            _ => vec![list.len() as i64],
        };
        let floats = list.iter().map(|&i| i as f32 / 2.0).collect();
        match self.below(3) {
            0 => Tensor { name, data_type: 1, dims, float_data: floats, ..Tensor::default() },
            _ => Tensor { name, data_type: 7, dims, int64_data: list, ..Tensor::default() },
        }
    }

    fn node(&mut self, known: &[String], at: usize, depth: usize) -> Node {
        let (all, plain) = &*KINDS;
        let kind = match self.below(8) {
            0 => KnownOperator { domain: "", name: ["If", "Loop", "Scan"][self.below(3)], sizing: "" },
            1..4 => *self.one(plain),
            _ => *self.one(all),
        };
        let (op_type, domain) = (kind.name.to_owned(), kind.domain.to_owned());
        let pick =
            |source: &mut Self| if source.below(9) == 0 { String::new() } else { source.one(known).clone() };
        let input = (0..self.below(6)).map(|_| pick(self)).collect();
        let output = (0..=self.below(3)).map(|out| format!("o{depth}_{at}_{out}")).collect();
        let mut attribute: Vec<Attribute> = (0..self.below(5)).map(|_| self.attribute()).collect();
        if depth < 2 && matches!(op_type.as_str(), "If" | "Loop" | "Scan") {
            for name in ["then_branch", "else_branch"] {
                attribute.push(body(name, self.graph(known.to_vec(), depth + 1)));
            }
        }
        Node { input, output, op_type, attribute, domain, ..Node::default() }
    }

    fn graph(&mut self, mut known: Vec<String>, depth: usize) -> Graph {
        let mut made = graph(&[], [], "x0");
        for at in 0..self.below(4) {
            let name = format!("x{depth}_{at}");
            let kind = *self.one(TYPES);
            made.input.push(info(&name, kind));
            known.push(name);
        }
        for at in 0..3 {
            let name = format!("c{depth}_{at}");
            made.initializer.push(self.constant(name.clone()));
            known.push(name);
        }
        for at in 0..=self.below(5) {
            let node = self.node(&known, at, depth);
            known.extend(node.output.iter().cloned());
            made.node.push(node);
        }
        let wanted = self.below(3);
        made.output = (0..wanted).map(|_| info(self.one(&known).as_str(), "*")).collect();
        made
    }
}

impl Source {
    /// Returns a model whose functions call each other. Most calls lead to a function with a higher number.
    fn functions(&mut self) -> Model {
        let mut main = self.graph(Vec::new(), 0);
        let mut functions = Vec::new();
        for at in 0..4 {
            let mut body = self.graph(Vec::new(), 1);
            let inputs: Vec<&str> = body.input.iter().map(|info| info.name.as_str()).collect();
            let inputs = inputs.join(" ");
            self.call(&mut body, at + 1);
            let outputs = body.node.iter().filter_map(|node| node.output.first()).take(2);
            let outputs = outputs.cloned().collect::<Vec<_>>().join(" ");
            let constants = body.initializer.into_iter().map(|tensor| {
                let value = Attribute {
                    name: "value".to_owned(),
                    t: Some(Box::new(tensor.clone())),
                    ..Attribute::default()
                };
                node("Constant", "", &tensor.name, [value])
            });
            let nodes: Vec<Node> = constants.chain(body.node).collect();
            let mut made = function(&format!("F{at}"), &inputs, nodes, &outputs);
            made.attribute_proto = vec![self.attribute()];
            made.value_info = body.input;
            functions.push(made);
        }
        self.call(&mut main, 0);
        Model { functions, ..model(main) }
    }

    /// Turns random nodes into calls of a function, and random attributes into references to attributes of
    /// a function.
    fn call(&mut self, graph: &mut Graph, from: usize) {
        for node in &mut graph.node {
            if self.below(2) == 0 {
                let at = if self.below(30) == 0 { 0 } else { from };
                (node.op_type, node.domain) = (format!("F{at}"), "local".to_owned());
                node.input.truncate(self.below(4));
                node.output.truncate(2);
            }
            for attribute in &mut node.attribute {
                if self.below(5) == 0 {
                    attribute.ref_attr_name.clone_from(&self.attribute().name);
                }
            }
        }
    }
}

#[test]
fn arbitrary_functions() {
    let mut inlined = 0;
    for seed in 0..3_000 {
        let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(seed));
        let model = source.functions();
        let bytes = model.encode_to_vec();
        let fine = std::panic::catch_unwind(|| onnx_model(&bytes)).is_ok();
        assert!(fine, "seed {seed}");
        let mut graph = model.graph.unwrap();
        let before = graph.node.len();
        let done = crate::onnx::functions::inline(&mut graph, &model.functions, 17).is_ok();
        inlined += usize::from(done && graph.node.len() > before);
    }
    assert!(inlined > 100, "{inlined}");
}

#[test]
fn arbitrary_operators() {
    let rounds = std::env::var("PLIMSOLL_RANDOM_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    for seed in 0..rounds {
        let mut source = Source(Xoshiro256PlusPlus::seed_from_u64(seed));
        let bytes = model(source.graph(Vec::new(), 0)).encode_to_vec();
        let fine = std::panic::catch_unwind(|| onnx_model(&bytes)).is_ok();
        assert!(fine, "seed {seed}");
    }
}
