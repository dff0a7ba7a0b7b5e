//! Language models at operator level: LLaMA-13B, Baichuan-13B, and models like `LLaMA` of any size, with or
//! without experts.
//!
//! A graph describes one run over `tokens` new tokens of each of `batch` sequences, after `cache` earlier
//! tokens. Without a cache, the run processes a prompt. With one new token, it decodes the next token.
//! Weights and activations are `float16`. Normalisations and `LLaMA`'s softmax are computed in `float32`,
//! as in the models. In shapes, b, s and t are the batch size, the number of new tokens, and the number of
//! all tokens. h, a, d and f are the hidden size, the number of heads, the size of a head, and the columns
//! of the feed-forward part. k is the number of heads for keys and values. If the model is split over
//! devices, a, f and k are per device.
//!
//! | part of a layer | operators (shape of the output) |
//! |---|---|
//! | normalisation, twice | cast, square, mean, rsqrt, mul `float32 [b,s,h]`, cast, scale |
//! | query, key, value | matmul `[b,s,a d]` each (Baichuan: one for all, then slices), reshape, transpose `[b,a,s,d]` |
//! | rotary positions (`LLaMA`) | for query and key: mul, slice, neg, slice, concat, mul, add |
//! | cache | concat with past keys and values `[b,k,t,d]`, or write into states |
//! | attention | matmul `[b,a,s,t]`, scale, add mask, softmax (`LLaMA`: in `float32`), matmul, transpose, reshape, matmul, add |
//! | feed-forward | gate, silu, up, mul `[b,s,f]`, down, add `[b,s,h]` |
//!
//! There may be fewer heads for keys and values than for queries (grouped-query attention, or multi-query
//! attention with a single head). By default, the queries of heads that share keys and values are rows of one
//! product, `[b,k,s a/k,t]`. With `repeat`, keys and values are first repeated for every head.
//!
//! The last operators are a normalisation, the output projection `[b,s,vocabulary]`, and a cast to `float32`.
//! Models on several devices sum the partial results after attention and feed-forward (`AllReduce`). They
//! split the output projection by columns of the vocabulary, and the embedding by columns of the hidden size.
//!
//! **Constants as graph engines may handle them.** With `weights`, every matrix passes through an operator
//! without other inputs. This operator converts the format, and its output has the size of the matrix. With
//! `tables`, every layer computes its own mask and its own rotary tables from constants. These operators are
//! at the beginning of the file, as if a front end had collected constants first or had sorted the operators
//! in breadth-first order. Each output is live from there until its layer reads it. The fixed rule of the
//! CANN graph engine would move each of these operators directly before its first consumer. The real graphs
//! of that engine are not published.

use super::net::{Element, Net, Node, volume};
use crate::error::{GenerateError, at_least};
use crate::family::Params;
use Element::{F16, F32, I64};
use plimsoll_model::TensorId;
use plimsoll_model::graph::Graph;
use std::collections::HashMap;

pub(super) struct Model {
    hidden: u64,
    heads: u64,
    /// Number of heads for keys and values.
    kv_heads: u64,
    ffn: u64,
    vocabulary: u64,
    /// Whether the model has rotary positions and three projections. Otherwise, it has `ALiBi` and one
    /// projection.
    rotary: bool,
    /// Whether keys and values are repeated for every head.
    repeat: bool,
    /// The number of experts that replace the feed-forward part, and the number of experts per token.
    experts: Option<(u64, u64)>,
    /// The capacity of experts as a percentage of their fair share of tokens.
    capacity: u64,
}

impl Model {
    const fn dense(hidden: u64, heads: u64, ffn: u64, vocabulary: u64, rotary: bool) -> Self {
        let (kv_heads, repeat, experts, capacity) = (heads, false, None, 100);
        Self { hidden, heads, kv_heads, ffn, vocabulary, rotary, repeat, experts, capacity }
    }
}

/// LLaMA-13B with 13,015,864,320 parameters.
pub(super) const LLAMA_13B: Model = Model::dense(5120, 40, 13824, 32_000, true);

/// Baichuan-13B with 13,264,901,120 parameters.
pub(super) const BAICHUAN_13B: Model = Model::dense(5120, 40, 13696, 64_000, false);

/// Returns a model like `LLaMA` with the sizes given by the parameters. [`graph`] reads the parameters that
/// describe a run, such as `batch`, `tokens` and `cache`.
fn like_llama(params: &Params) -> Result<Model, GenerateError> {
    let (hidden, heads) = (params.at_least("width", 1)?, params.at_least("heads", 1)?);
    let kv_heads = params.at_least("kv_heads", 1)?;
    // Rotation swaps the halves of a head, so its size must be even.
    for (name, value, of_name, of) in
        [("width", hidden, "twice heads", 2 * heads), ("heads", heads, "kv_heads", kv_heads)]
    {
        if value % of != 0 {
            return Err(GenerateError::NoMultiple { name, value, of_name, of });
        }
    }
    let (ffn, vocabulary) = (params.at_least("ffn", 1)?, params.at_least("vocabulary", 1)?);
    let repeat = params.at_most("repeat", 1)? == 1;
    Ok(Model { kv_heads, repeat, ..Model::dense(hidden, heads, ffn, vocabulary, true) })
}

pub(super) fn transformer(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    graph(params, &like_llama(params)?)
}

/// Generates a model like `LLaMA` with experts in place of the feed-forward part of every layer; see
/// [`super::experts`].
pub(super) fn moe(params: &Params, _seed: u64) -> Result<Graph, GenerateError> {
    let experts = params.at_least("experts", 2)?;
    params.at_most("experts", 10_000)?;
    let chosen = params.at_least("chosen", 1)?;
    params.at_most("chosen", experts)?;
    let capacity = params.at_least("capacity", 1)?;
    let (name, value, most) = ("layers times experts", params.get("layers") * experts, 1 << 16);
    if value > most {
        return Err(GenerateError::TooBig { name, value, most });
    }
    graph(params, &Model { experts: Some((experts, chosen)), capacity, ..like_llama(params)? })
}

/// The graph of one run on one device, under construction, and the sizes on this device.
pub(super) struct Run<'a> {
    pub net: Net,
    model: &'a Model,
    pub batch: u64,
    pub tokens: u64,
    all: u64,
    heads: u64,
    kv_heads: u64,
    head: u64,
    ffn: u64,
    cache: u64,
    state: bool,
    shards: u64,
    /// Matrices that were already created or converted, by name.
    pub converted: HashMap<String, TensorId>,
    /// The masks that layers add to the scores: one for all layers, or one per layer.
    masks: Vec<TensorId>,
    /// Cosines and sines for all positions: one pair for all layers, or one per layer.
    tables: Vec<[TensorId; 2]>,
    /// Keys and values that are outputs.
    kept: Vec<TensorId>,
}

/// Generates the graph of a model; see the documentation of this module.
pub(super) fn graph(params: &Params, model: &Model) -> Result<Graph, GenerateError> {
    let layers = params.at_least("layers", 1)?;
    params.at_most("layers", 10_000)?;
    params.at_most("state", 1)?;
    // Models with experts do not have the parameters `weights`, `tables` and `shards`.
    let switch = |name| match params.get_or(name, 0) {
        value if value > 1 => Err(GenerateError::TooBig { name, value, most: 1 }),
        value => Ok(value == 1),
    };
    let (weights, tables) = (switch("weights")?, switch("tables")?);
    let (tokens, shards) = (params.at_least("tokens", 1)?, params.get_or("shards", 1));
    at_least("shards", shards, 1)?;
    for (name, of) in [
        ("heads", model.heads),
        ("kv_heads", model.kv_heads),
        ("ffn", model.ffn),
        ("vocabulary", model.vocabulary),
    ] {
        if of % shards != 0 {
            return Err(GenerateError::NoMultiple { name, value: of, of_name: "shards", of: shards });
        }
    }
    let mut run = Run {
        net: Net::new(params.name()),
        model,
        batch: params.at_least("batch", 1)?,
        tokens,
        all: tokens + params.get("cache"),
        heads: model.heads / shards,
        kv_heads: model.kv_heads / shards,
        head: model.hidden / model.heads,
        ffn: model.ffn / shards,
        cache: params.get("cache"),
        state: params.get("state") == 1,
        shards,
        converted: HashMap::new(),
        masks: Vec::new(),
        tables: Vec::new(),
        kept: Vec::new(),
    };
    if weights {
        run.convert(layers);
    }
    let ids = run.net.input("ids", I64, &[run.batch, tokens]);
    let positions = model.rotary.then(|| run.net.input("positions", I64, &[run.batch, tokens]));
    run.constants(if tables { layers } else { 1 });
    let mut x = run.embedding(ids);
    let mut rotation = None;
    for layer in 0..layers {
        if let Some(positions) = positions
            && (layer as usize) < run.tables.len()
        {
            rotation = Some(run.rotation(layer as usize, positions));
        }
        x = run.layer(layer, x, rotation);
    }
    let logits = run.logits(x);
    let outputs: Vec<TensorId> = std::iter::once(logits).chain(run.kept).collect();
    run.net.finish(&outputs)
}

impl Run<'_> {
    /// Returns the hidden size, and the width of the feed-forward part on this device.
    pub fn widths(&self) -> [u64; 2] {
        [self.model.hidden, self.ffn]
    }

    /// Returns the names and the shapes of the matrices of a layer.
    fn matrices(&self, layer: u64) -> Vec<(String, [u64; 2])> {
        let (hidden, own) = (self.model.hidden, self.heads * self.head);
        let kept = self.kv_heads * self.head;
        let attention: &[(&str, u64)] =
            if self.model.rotary { &[("q", own), ("k", kept), ("v", kept)] } else { &[("qkv", 3 * own)] };
        let mut list: Vec<(String, [u64; 2])> = attention
            .iter()
            .map(|&(name, columns)| (format!("l{layer}.{name}"), [hidden, columns]))
            .collect();
        list.push((format!("l{layer}.o"), [own, hidden]));
        for (name, shape) in
            [("gate", [hidden, self.ffn]), ("up", [hidden, self.ffn]), ("down", [self.ffn, hidden])]
        {
            list.push((format!("l{layer}.{name}"), shape));
        }
        list
    }

    /// Adds the operators that convert every matrix.
    fn convert(&mut self, layers: u64) {
        let mut list: Vec<_> = (0..layers).flat_map(|layer| self.matrices(layer)).collect();
        list.push(("head".to_owned(), [self.model.hidden, self.model.vocabulary / self.shards]));
        for (name, shape) in list {
            let weight = self.net.weight(&format!("{name}.w"), F16, &shape);
            let node =
                Node::new(format!("{name}.convert"), "TransData").reads(&[weight]).cost(volume(&shape));
            let made = node.makes(&mut self.net, F16, &shape);
            self.converted.insert(name, made);
        }
    }

    /// Adds `times` masks and, for rotary positions, `times` pairs of tables. All are computed from
    /// constants.
    fn constants(&mut self, times: u64) {
        let mask = if self.model.rotary { [1, 1] } else { [1, self.heads] };
        let table = self.model.rotary.then(|| {
            ["cos", "sin"].map(|name| self.net.weight(&format!("{name}.w"), F32, &[self.all, self.head]))
        });
        for at in 0..times {
            let shape = [mask[0], mask[1], self.tokens, self.all];
            let node =
                Node::new(format!("l{at}.mask"), if self.model.rotary { "CausalMask" } else { "AlibiMask" });
            let made = node.cost(volume(&shape)).makes(&mut self.net, F16, &shape);
            self.masks.push(made);
            if let Some(table) = table {
                let shape = [self.all, self.head];
                let cut = [("cos", table[0]), ("sin", table[1])].map(|(name, table)| {
                    let node = Node::new(format!("l{at}.{name}.cast"), "Cast").reads(&[table]);
                    node.cost(volume(&shape)).makes(&mut self.net, F16, &shape)
                });
                self.tables.push(cut);
            }
        }
    }

    /// Adds the cosines and the sines at the current positions, with shape `[b,1,s,d]`.
    fn rotation(&mut self, at: usize, positions: TensorId) -> [TensorId; 2] {
        let shape = [self.batch, 1, self.tokens, self.head];
        let [cos, sin] = self.tables[at];
        [("cos", cos), ("sin", sin)].map(|(name, table)| {
            Node::new(format!("l{at}.{name}"), "Gather").reads(&[table, positions]).makes(
                &mut self.net,
                F16,
                &shape,
            )
        })
    }

    fn embedding(&mut self, ids: TensorId) -> TensorId {
        let table =
            self.net.weight("embedding.w", F16, &[self.model.vocabulary, self.model.hidden / self.shards]);
        let shape = [self.batch, self.tokens, self.model.hidden / self.shards];
        let x = Node::new("embedding", "Gather").reads(&[ids, table]).makes(&mut self.net, F16, &shape);
        if self.shards == 1 {
            return x;
        }
        Node::new("embedding.gather", "AllGather").reads(&[x]).makes(
            &mut self.net,
            F16,
            &[self.batch, self.tokens, self.model.hidden],
        )
    }

    /// Adds an elementwise operator. The output has the shape of the first operand and can overwrite it.
    pub fn map(&mut self, name: &str, kind: &str, xs: &[TensorId], element: Element) -> TensorId {
        let shape = self.net.shape(xs[0]).to_vec();
        Node::new(name, kind).reads(xs).over(xs[0]).cost(volume(&shape)).makes(&mut self.net, element, &shape)
    }

    fn cast(&mut self, name: &str, x: TensorId, element: Element) -> TensorId {
        let shape = self.net.shape(x).to_vec();
        Node::new(name, "Cast").reads(&[x]).cost(volume(&shape)).makes(&mut self.net, element, &shape)
    }

    /// Adds an operator that multiplies the last dimension by a weight matrix.
    fn matmul(&mut self, name: &str, x: TensorId, shape: [u64; 2]) -> TensorId {
        let matrix = match self.converted.get(name) {
            Some(&matrix) => matrix,
            None => self.net.weight(&format!("{name}.w"), F16, &shape),
        };
        let made = [self.batch, self.tokens, shape[1]];
        let cost = volume(&made).saturating_mul(shape[0]);
        Node::new(name, "MatMul").reads(&[x, matrix]).cost(cost).makes(&mut self.net, F16, &made)
    }

    fn norm(&mut self, name: &str, x: TensorId) -> TensorId {
        let wide = self.cast(&format!("{name}.wide"), x, F32);
        let shape = self.net.shape(wide).to_vec();
        let square = Node::new(format!("{name}.square"), "Square").reads(&[wide]).cost(volume(&shape));
        let square = square.makes(&mut self.net, F32, &shape);
        let node = Node::new(format!("{name}.mean"), "ReduceMean").reads(&[square]).cost(volume(&shape));
        let mean = node.makes(&mut self.net, F32, &[self.batch, self.tokens, 1]);
        let root = self.map(&format!("{name}.rsqrt"), "Rsqrt", &[mean], F32);
        let scaled = self.map(&format!("{name}.mul"), "Mul", &[wide, root], F32);
        let narrow = self.cast(&format!("{name}.narrow"), scaled, F16);
        let weight = self.net.weight(&format!("{name}.w"), F16, &[self.model.hidden]);
        self.map(&format!("{name}.scale"), "Mul", &[narrow, weight], F16)
    }

    fn layer(&mut self, layer: u64, x: TensorId, rotation: Option<[TensorId; 2]>) -> TensorId {
        let named = |piece: &str| format!("l{layer}.{piece}");
        let y = self.norm(&named("norm1"), x);
        let [q, k, v] = self.projections(layer, y);
        let (q, k) = match rotation {
            Some(rotation) => (self.rotate(&named("q"), q, rotation), self.rotate(&named("k"), k, rotation)),
            None => (q, k),
        };
        let k = self.keep(&named("key"), k);
        let v = self.keep(&named("value"), v);
        let y = self.attention(layer, q, k, v);
        let x = self.map(&named("add1"), "Add", &[y, x], F16);
        let y = self.norm(&named("norm2"), x);
        if let Some((experts, chosen)) = self.model.experts {
            let y = self.experts(&named("moe"), y, (experts, chosen), self.model.capacity);
            return self.map(&named("add2"), "Add", &[y, x], F16);
        }
        let (hidden, ffn) = (self.model.hidden, self.ffn);
        let gate = self.matmul(&named("gate"), y, [hidden, ffn]);
        let gate = self.map(&named("silu"), "Silu", &[gate], F16);
        let up = self.matmul(&named("up"), y, [hidden, ffn]);
        let y = self.map(&named("mul"), "Mul", &[gate, up], F16);
        let y = self.matmul(&named("down"), y, [ffn, hidden]);
        let y = self.summed(&named("down"), y);
        self.map(&named("add2"), "Add", &[y, x], F16)
    }

    /// Adds the query `[b,a,s,d]` and the key and the value `[b,k,s,d]`, split by head.
    fn projections(&mut self, layer: u64, x: TensorId) -> [TensorId; 3] {
        let (hidden, own) = (self.model.hidden, self.heads * self.head);
        let packed =
            (!self.model.rotary).then(|| self.matmul(&format!("l{layer}.qkv"), x, [hidden, 3 * own]));
        let kept = self.kv_heads;
        [("q", self.heads), ("k", kept), ("v", kept)].map(|(name, heads)| {
            let name = format!("l{layer}.{name}");
            let own = heads * self.head;
            let flat = [self.batch, self.tokens, own];
            let y = match packed {
                Some(packed) => Node::new(&name, "Slice").reads(&[packed]).makes(&mut self.net, F16, &flat),
                None => self.matmul(&name, x, [hidden, own]),
            };
            let split = [self.batch, self.tokens, heads, self.head];
            let node = Node::new(format!("{name}.reshape"), "Reshape").reads(&[y]).view(y);
            let y = node.makes(&mut self.net, F16, &split);
            let turned = [self.batch, heads, self.tokens, self.head];
            Node::new(format!("{name}.transpose"), "Transpose").reads(&[y]).makes(&mut self.net, F16, &turned)
        })
    }

    /// Adds the rotation `x cos + (-right half, left half) sin`.
    fn rotate(&mut self, name: &str, x: TensorId, [cos, sin]: [TensorId; 2]) -> TensorId {
        let shape = self.net.shape(x).to_vec();
        let half = [shape[0], shape[1], shape[2], shape[3] / 2];
        let named = |piece: &str| format!("{name}.{piece}");
        // x is read again below, so this cannot be done in place.
        let node = Node::new(named("cos"), "Mul").reads(&[x, cos]).cost(volume(&shape));
        let straight = node.makes(&mut self.net, F16, &shape);
        let right = Node::new(named("right"), "Slice").reads(&[x]).makes(&mut self.net, F16, &half);
        let right = self.map(&named("neg"), "Neg", &[right], F16);
        let left = Node::new(named("left"), "Slice").reads(&[x]).makes(&mut self.net, F16, &half);
        let node = Node::new(named("turned"), "Concat").reads(&[right, left]);
        let turned = node.makes(&mut self.net, F16, &shape);
        let turned = self.map(&named("sin"), "Mul", &[turned, sin], F16);
        self.map(&named("rotated"), "Add", &[straight, turned], F16)
    }

    /// Returns the keys or the values of all tokens, with shape `[b,k,t,d]`.
    fn keep(&mut self, name: &str, new: TensorId) -> TensorId {
        let shape = [self.batch, self.kv_heads, self.all, self.head];
        if self.state {
            let state = self.net.state(&format!("{name}.state"), F16, &shape);
            let node = Node::new(format!("{name}.update"), "ScatterUpdate").reads(&[state, new]).view(state);
            return node.makes(&mut self.net, F16, &shape);
        }
        let kept = if self.cache == 0 {
            new
        } else {
            let past = [self.batch, self.kv_heads, self.cache, self.head];
            let past = self.net.input(&format!("{name}.past"), F16, &past);
            Node::new(format!("{name}.present"), "Concat").reads(&[past, new]).makes(
                &mut self.net,
                F16,
                &shape,
            )
        };
        self.kept.push(kept);
        kept
    }

    fn attention(&mut self, layer: u64, q: TensorId, k: TensorId, v: TensorId) -> TensorId {
        let named = |piece: &str| format!("l{layer}.{piece}");
        let (batch, heads, tokens, own) = (self.batch, self.heads, self.tokens, self.heads * self.head);
        let square = [batch, heads, tokens, self.all];
        let grouped = self.kv_heads < heads && !self.model.repeat;
        let [k, v] = if self.kv_heads < heads && self.model.repeat {
            [("key", k), ("value", v)].map(|(name, x)| {
                let shape = [batch, heads, self.all, self.head];
                let node = Node::new(named(&format!("{name}.repeat")), "Expand").reads(&[x]);
                node.cost(volume(&shape)).makes(&mut self.net, F16, &shape)
            })
        } else {
            [k, v]
        };
        // Queries of heads that share keys and values are rows of one product: `[b,k,s a/k,..]`.
        let rows = |last| [batch, self.kv_heads, heads / self.kv_heads * tokens, last];
        let (by_group, context) = (rows(self.all), rows(self.head));
        let q = if grouped { self.viewed(&named("q.grouped"), q, &context) } else { q };
        let node = Node::new(named("scores"), "MatMul")
            .reads(&[q, k])
            .cost(volume(&square).saturating_mul(self.head));
        let mut scores = node.makes(&mut self.net, F16, if grouped { &by_group } else { &square });
        if grouped {
            scores = self.viewed(&named("scores.heads"), scores, &square);
        }
        let scores = self.map(&named("scale"), "Mul", &[scores], F16);
        let mask = self.masks[if self.masks.len() == 1 { 0 } else { layer as usize }];
        let mut scores = self.map(&named("masked"), "Add", &[scores, mask], F16);
        if self.model.rotary {
            scores = self.cast(&named("scores.wide"), scores, F32);
            scores = self.map(&named("softmax"), "Softmax", &[scores], F32);
            scores = self.cast(&named("scores.narrow"), scores, F16);
        } else {
            scores = self.map(&named("softmax"), "Softmax", &[scores], F16);
        }
        let scores = if grouped { self.viewed(&named("softmax.grouped"), scores, &by_group) } else { scores };
        let node = Node::new(named("context"), "MatMul").reads(&[scores, v]);
        let node = node.cost(volume(&square).saturating_mul(self.head));
        let by_head = [batch, heads, tokens, self.head];
        let mut y = node.makes(&mut self.net, F16, if grouped { &context } else { &by_head });
        if grouped {
            y = self.viewed(&named("context.heads"), y, &by_head);
        }
        let node = Node::new(named("context.transpose"), "Transpose").reads(&[y]);
        let y = node.makes(&mut self.net, F16, &[batch, tokens, heads, self.head]);
        let node = Node::new(named("context.reshape"), "Reshape").reads(&[y]).view(y);
        let y = node.makes(&mut self.net, F16, &[batch, tokens, own]);
        let y = self.matmul(&named("o"), y, [own, self.model.hidden]);
        self.summed(&named("o"), y)
    }

    /// Adds a view with another shape.
    fn viewed(&mut self, name: &str, x: TensorId, shape: &[u64]) -> TensorId {
        Node::new(name, "Reshape").reads(&[x]).view(x).makes(&mut self.net, F16, shape)
    }

    /// Adds the sum over devices, which is computed in place. A single device needs no operator.
    fn summed(&mut self, name: &str, x: TensorId) -> TensorId {
        if self.shards == 1 { x } else { self.map(&format!("{name}.sum"), "AllReduce", &[x], F16) }
    }

    fn logits(&mut self, x: TensorId) -> TensorId {
        let x = self.norm("norm", x);
        let y = self.matmul("head", x, [self.model.hidden, self.model.vocabulary / self.shards]);
        self.cast("logits", y, F32)
    }
}
