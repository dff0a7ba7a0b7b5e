//! Mixtures of experts as control flow (Shazeer et al. 2017; Switch Transformer, Fedus et al. 2022; Mixtral,
//! Jiang et al. 2024).
//!
//! A router scores the experts for every token. The best `chosen` experts run, and their weighted results are
//! summed.
//!
//! ```text
//! one token:     router - softmax - choice - Case { expert 0 | expert 1 | .. } - weigh -+- add      once per choice
//! several:       router - softmax - choice - If { its tokens: gather, expert, weigh, add to sum | sum as it is } - If ..   once per expert
//! ```
//!
//! With one token, exactly `chosen` experts run, each as a region of a `Case`, so they can share memory. With
//! several tokens, an expert runs if any token chose it. It processes a table with one of its tokens per row.
//! The table has a fixed number of rows: the fair share of an expert multiplied by the capacity factor, but
//! at most the number of tokens. The fair share is the number of tokens times `chosen`, divided by the number
//! of experts. Tokens beyond the number of rows are dropped.

use super::llm::Run;
use super::net::{Element, Node, volume};
use Element::{Byte, F16, F32, I64};
use plimsoll_model::TensorId;

impl Run<'_> {
    /// Adds the weighted sum of the chosen experts of every token, with shape `[b,s,h]`.
    pub(super) fn experts(
        &mut self,
        name: &str,
        x: TensorId,
        (experts, chosen): (u64, u64),
        capacity: u64,
    ) -> TensorId {
        let [hidden, _] = self.widths();
        let scores = [self.batch, self.tokens, experts];
        let router = self.net.weight(&format!("{name}.router.w"), F16, &[hidden, experts]);
        let node = Node::new(format!("{name}.router"), "MatMul").reads(&[x, router]);
        let y = node.cost(volume(&scores).saturating_mul(hidden)).makes(&mut self.net, F16, &scores);
        let node = Node::new(format!("{name}.wide"), "Cast").reads(&[y]).cost(volume(&scores));
        let y = node.makes(&mut self.net, F32, &scores);
        let shares = self.map(&format!("{name}.softmax"), "Softmax", &[y], F32);
        let best = [self.batch, self.tokens, chosen];
        let node = Node::new(format!("{name}.choice"), "TopK").reads(&[shares]).cost(volume(&scores));
        let choice = node.makes(&mut self.net, I64, &best);
        if self.batch * self.tokens == 1 {
            return self.one_by_one(name, x, [shares, choice], experts, chosen);
        }
        // The number of rows of an expert is its fair share of all choices, multiplied by the capacity
        // factor, but at most the number of tokens.
        let tokens = self.batch.saturating_mul(self.tokens);
        let fair = u128::from(tokens) * u128::from(chosen) * u128::from(capacity);
        let rows = fair.div_ceil(u128::from(100 * experts)).clamp(1, u128::from(tokens)) as u64;
        self.all_in_turn(name, x, [shares, choice], experts, rows)
    }

    /// Adds a `Case` per choice.
    fn one_by_one(
        &mut self,
        name: &str,
        x: TensorId,
        [shares, choice]: [TensorId; 2],
        experts: u64,
        chosen: u64,
    ) -> TensorId {
        let [hidden, _] = self.widths();
        let mut parts = Vec::new();
        for at in 0..chosen {
            let named = |piece: &str| format!("{name}.{at}.{piece}");
            let index = Node::new(named("index"), "Slice").reads(&[choice]).makes(&mut self.net, I64, &[1]);
            let node = Node::new(named("share"), "Gather").reads(&[shares, index]);
            let share = node.makes(&mut self.net, F16, &[1, 1, 1]);
            let node = Node::new(named("case"), "Case").reads(&[index]);
            let (made, owner) = node.owns(&mut self.net, F16, &[1, 1, hidden]);
            for expert in 0..experts {
                let outer = self.net.open(owner, &named(&format!("e{expert}")));
                let y = self.expert(&named(&format!("e{expert}")), name, expert, (x, 1));
                self.net.close(outer, y);
            }
            parts.push(self.map(&named("weighed"), "Mul", &[made, share], F16));
        }
        if parts.len() == 1 { parts[0] } else { self.map(&format!("{name}.sum"), "Sum", &parts, F16) }
    }

    /// Adds an `If` per expert.
    fn all_in_turn(
        &mut self,
        name: &str,
        x: TensorId,
        [shares, choice]: [TensorId; 2],
        experts: u64,
        rows: u64,
    ) -> TensorId {
        let [hidden, _] = self.widths();
        let whole = [self.batch, self.tokens, hidden];
        let node = Node::new(format!("{name}.zero"), "ConstantOfShape").cost(volume(&whole));
        let mut sum = node.makes(&mut self.net, F16, &whole);
        for expert in 0..experts {
            let named = |piece: &str| format!("{name}.e{expert}.{piece}");
            let node = Node::new(named("any"), "AnyEqual").reads(&[choice]);
            let any = node.makes(&mut self.net, Byte, &[1]);
            let (made, owner) = Node::new(named("if"), "If").reads(&[any]).owns(&mut self.net, F16, &whole);
            let outer = self.net.open(owner, &named("then"));
            let node = Node::new(named("tokens"), "NonZero").reads(&[choice]);
            let tokens = node.makes(&mut self.net, I64, &[rows]);
            let table = [rows, hidden];
            let node = Node::new(named("gathered"), "Gather").reads(&[x, tokens]).cost(volume(&table));
            let y = node.makes(&mut self.net, F16, &table);
            let y = self.expert(&format!("{name}.e{expert}"), name, expert, (y, rows));
            let node = Node::new(named("share"), "Gather").reads(&[shares, tokens]);
            let share = node.makes(&mut self.net, F16, &[rows, 1]);
            let y = self.map(&named("weighed"), "Mul", &[y, share], F16);
            let node = Node::new(named("added"), "ScatterElements").reads(&[sum, tokens, y]);
            let added = node.cost(volume(&table)).makes(&mut self.net, F16, &whole);
            self.net.close(outer, added);
            let outer = self.net.open(owner, &named("else"));
            self.net.close(outer, sum);
            sum = made;
        }
        sum
    }

    /// Adds the feed-forward part of one expert on `rows` rows. All choices share the matrices of an expert.
    fn expert(&mut self, name: &str, layer: &str, expert: u64, (x, rows): (TensorId, u64)) -> TensorId {
        let [hidden, ffn] = self.widths();
        let product = |run: &mut Self, piece: &str, x: TensorId, [from, to]: [u64; 2]| {
            let matrix = run.shared(&format!("{layer}.e{expert}.{piece}.w"), [from, to]);
            let mut shape = run.net.shape(x).to_vec();
            *shape.last_mut().expect("has columns") = to;
            let cost = rows.saturating_mul(from).saturating_mul(to);
            let node = Node::new(format!("{name}.{piece}"), "MatMul").reads(&[x, matrix]).cost(cost);
            node.makes(&mut run.net, F16, &shape)
        };
        let gate = product(self, "gate", x, [hidden, ffn]);
        let gate = self.map(&format!("{name}.silu"), "Silu", &[gate], F16);
        let up = product(self, "up", x, [hidden, ffn]);
        let y = self.map(&format!("{name}.mul"), "Mul", &[gate, up], F16);
        product(self, "down", y, [ffn, hidden])
    }

    /// Returns a matrix that several operators may read. It is created on first use.
    fn shared(&mut self, name: &str, shape: [u64; 2]) -> TensorId {
        if let Some(&known) = self.converted.get(name) {
            return known;
        }
        let made = self.net.weight(name, F16, &shape);
        self.converted.insert(name.to_owned(), made);
        made
    }
}
