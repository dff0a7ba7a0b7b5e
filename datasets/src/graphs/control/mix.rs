//! Random graphs that mix everything that a region can contain.

use super::maker::{Maker, depth, operators};
use crate::error::GenerateError;
use crate::family::Params;
use plimsoll_model::graph::{AliasKind, Graph, Handover, Moment, Role};
use plimsoll_model::{OperatorId, RegionId, TensorId};
use rand::RngExt;

/// Generates a random program of about `operators` operators, including those in regions. Regions are
/// nested up to `depth` levels. The program contains plain operators, views and in-place operators. While
/// the depth and the number of tensors permit it, an operator is a conditional, a loop or a call with a
/// probability of `control` percent. Results may be tensors of enclosing regions, constants or inputs of the
/// region. Regions may be empty, and tensors may have no bytes.
pub(in crate::graphs) fn mix(params: &Params, seed: u64) -> Result<Graph, GenerateError> {
    let (depth, operators) = (depth(params)?, operators(params)?);
    let control = params.percent("control")?;
    let mut maker = Maker::new(params, seed)?;
    let sizes = [maker.size(), maker.size(), maker.size(), maker.size()];
    let given = vec![maker.input(1), maker.input(sizes[0]), maker.input(sizes[1])];
    let kept = [maker.tensor(sizes[2], Role::Weight), maker.tensor(sizes[3], Role::State)];
    let region = maker.graph.body();
    let seen = [given.as_slice(), &kept].concat();
    let mut scope = Scope { region, level: depth, seen, own: Vec::new(), given };
    let mut mixer = Mixer { maker, control, most: 2 * operators as usize };
    mixer.fill(&mut scope, operators);
    // The outputs are the last two tensors that the body produces. If it produces none, and otherwise with a
    // probability of 10 %, an input is also an output.
    let mut wanted: Vec<TensorId> = scope.own.iter().rev().take(2).copied().collect();
    if wanted.is_empty() || mixer.maker.percent(10) {
        wanted.push(scope.given[1]);
    }
    mixer.maker.finish(&wanted)
}

struct Scope {
    region: RegionId,
    /// The remaining nesting depth of regions.
    level: u64,
    /// Every tensor that can be read. Those of enclosing regions come first.
    seen: Vec<TensorId>,
    own: Vec<TensorId>,
    given: Vec<TensorId>,
}

impl Scope {
    fn made(&mut self, tensors: &[TensorId]) {
        self.seen.extend(tensors);
        self.own.extend(tensors);
    }
}

struct Mixer {
    maker: Maker,
    /// The probability, in percent, that an operator owns regions. It applies until the maximum nesting depth
    /// or the maximum number of tensors is reached.
    control: u64,
    /// The number of tensors at which operators stop owning regions. This limit keeps small mixtures small.
    most: usize,
}

impl Mixer {
    fn fill(&mut self, scope: &mut Scope, operators: u64) {
        let mut left = operators;
        while left > 0 {
            left -= 1;
            if scope.level > 0 && self.maker.tensors < self.most && self.maker.percent(self.control) {
                // The region gets few operators, any number, or all remaining ones, so that both wide and
                // deep nesting occurs.
                let share = match self.maker.rng.random_range(0..5) {
                    0 | 1 => self.maker.rng.random_range(0..=left.min(12)),
                    2 | 3 => self.maker.rng.random_range(0..=left),
                    _ => left,
                };
                left -= share;
                self.control(scope, share);
            } else {
                self.plain(scope);
            }
        }
    }

    /// Draws a tensor to read. In most cases it is one of the last four.
    fn read(&mut self, scope: &Scope) -> TensorId {
        let near = scope.seen.len().min(4);
        let far = self.maker.percent(40);
        self.maker.pick(&scope.seen[if far { 0 } else { scope.seen.len() - near }..])
    }

    fn reads(&mut self, scope: &Scope, count: usize) -> Vec<TensorId> {
        (0..count).map(|_| self.read(scope)).collect()
    }

    fn plain(&mut self, scope: &mut Scope) {
        let x = self.read(scope);
        let bytes = self.maker.bytes(x);
        let (mut operator, made) = match self.maker.rng.random_range(0..10) {
            0 | 1 => {
                let y = self.maker.made(bytes);
                (self.maker.named("Reshape").reads([x]).makes([y]).alias(x, y, AliasKind::View), vec![y])
            }
            2 | 3 => {
                let (y, other) = (self.maker.made(bytes), self.read(scope));
                let operator = self.maker.named("Add").reads([x, other]).makes([y]);
                (operator.alias(x, y, AliasKind::InPlace), vec![y])
            }
            _ => {
                let count = self.maker.rng.random_range(0..=3);
                let reads = self.reads(scope, count);
                let made = self.outputs();
                (self.maker.named("Any").reads(reads).makes(made.iter().copied()), made)
            }
        };
        if self.maker.percent(10) {
            operator.scratch = self.maker.size().into();
        }
        self.maker.graph.operator(scope.region, operator);
        scope.made(&made);
    }

    /// Creates the outputs of an operator: usually one, sometimes none or two. Some have no bytes.
    fn outputs(&mut self) -> Vec<TensorId> {
        let count = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2][self.maker.rng.random_range(0..10)];
        let mut made = Vec::new();
        for _ in 0..count {
            let bytes = if self.maker.percent(10) { 0 } else { self.maker.size() };
            made.push(self.maker.made(bytes));
        }
        made
    }

    /// Adds an operator whose regions contain `operators` operators in total.
    fn control(&mut self, scope: &mut Scope, operators: u64) {
        match self.maker.rng.random_range(0..10) {
            0..=4 => self.branches(scope, operators),
            5 | 6 => self.counted(scope, operators),
            7 => self.conditioned(scope, operators),
            8 => self.scan(scope, operators),
            _ => self.call(scope, operators),
        }
    }

    /// Adds one input of a region for each of the given tensors, with the same size.
    fn copies(&mut self, like: &[TensorId]) -> Vec<TensorId> {
        let mut given = Vec::new();
        for &one in like {
            let bytes = self.maker.bytes(one);
            given.push(self.maker.tensor(bytes, Role::Input));
        }
        given
    }

    fn region(&mut self, scope: &Scope, owner: OperatorId, name: &str, given: Vec<TensorId>) -> Scope {
        let region = self.maker.graph.region(owner, name);
        let seen = [scope.seen.as_slice(), &given].concat();
        Scope { region, level: scope.level - 1, seen, own: Vec::new(), given }
    }

    fn close(&mut self, inner: &Scope, results: &[TensorId]) {
        self.maker.close(inner.region, &inner.given, results, &inner.own);
    }

    /// Draws a result of a region. It has `bytes` bytes if this number is given, and any size otherwise.
    fn result(&mut self, inner: &mut Scope, bytes: Option<u64>) -> TensorId {
        let any = match self.maker.rng.random_range(0..10) {
            0 | 1 => inner.seen.clone(),
            2 | 3 => inner.given.clone(),
            _ => inner.own.clone(),
        };
        let fits: Vec<TensorId> = match bytes {
            Some(bytes) => any.into_iter().filter(|&one| self.maker.bytes(one) == bytes).collect(),
            None => any,
        };
        if !fits.is_empty() {
            return self.maker.pick(&fits);
        }
        let bytes = bytes.unwrap_or_else(|| self.maker.size());
        let reads = self.reads(inner, 1);
        let made = self.maker.step(inner.region, "Any", &reads, bytes);
        inner.made(&[made]);
        made
    }

    /// Adds an `If`, `IF` or `Case` with two to four branches. In some cases, copies of its inputs are passed
    /// to the branches.
    fn branches(&mut self, scope: &mut Scope, operators: u64) {
        let count = [2, 2, 2, 3, 4][self.maker.rng.random_range(0..5)];
        let handed = if self.maker.percent(40) { self.maker.rng.random_range(1..=2) } else { 0 };
        let kind = match (count, handed) {
            (2, 0) => "If",
            (2, _) => "IF",
            _ => "Case",
        };
        let results = [0, 1, 1, 1, 1, 2][self.maker.rng.random_range(0..6)];
        let reads = self.reads(scope, 1 + handed);
        let made: Vec<TensorId> = (0..results).map(|_| self.maker.made(0)).collect();
        let owner = self.maker.owner(scope.region, kind, &reads, &made);
        let mut sizes: Vec<Option<u64>> = vec![None; results];
        let mut left = operators;
        for at in 0..count {
            let given = self.copies(&reads[1..]);
            let mut inner = self.region(scope, owner, &format!("branch{at}"), given);
            let share = if at + 1 == count { left } else { self.maker.rng.random_range(0..=left) };
            left -= share;
            self.fill(&mut inner, share);
            let mut returned = Vec::new();
            for size in &mut sizes {
                // Sometimes the results of the branches differ in size. The output then has the largest of
                // these sizes.
                let loose = self.maker.percent(10);
                let one = self.result(&mut inner, if loose { None } else { *size });
                let bytes = self.maker.bytes(one);
                *size = Some(size.map_or(bytes, |size| size.max(bytes)));
                returned.push(one);
            }
            self.close(&inner, &returned);
        }
        for (&one, size) in made.iter().zip(sizes) {
            self.maker.graph.tensor_mut(one).bytes = size.unwrap_or(0).into();
        }
        scope.made(&made);
    }

    /// Creates one output tensor for each of the given tensors, with the same size.
    fn alike(&mut self, like: &[TensorId]) -> Vec<TensorId> {
        let mut made = Vec::new();
        for &one in like {
            let bytes = self.maker.bytes(one);
            made.push(self.maker.made(bytes));
        }
        made
    }

    /// Draws the state of a loop after an iteration: one tensor for each tensor of the previous state, with
    /// the same size.
    fn next(&mut self, inner: &mut Scope, state: &[TensorId]) -> Vec<TensorId> {
        let mut next = Vec::new();
        for &one in state {
            let bytes = self.maker.bytes(one);
            next.push(self.result(inner, Some(bytes)));
        }
        next
    }

    /// Adds a `Loop` with a number of iterations, a condition, up to two carried values, and sometimes a scan
    /// output.
    fn counted(&mut self, scope: &mut Scope, operators: u64) {
        let count = self.maker.rng.random_range(0..=2);
        let reads = self.reads(scope, 2 + count);
        let (mut made, rows) = (self.alike(&reads[2..]), self.maker.percent(40));
        if rows {
            made.push(self.maker.made(0));
        }
        let owner = self.maker.owner(scope.region, "Loop", &reads, &made);
        let given = self.copies(&reads);
        let mut inner = self.region(scope, owner, "body", given);
        for (at, bytes) in [8u64, 1].into_iter().enumerate() {
            self.maker.graph.tensor_mut(inner.given[at]).bytes = bytes.into();
        }
        self.fill(&mut inner, operators);
        let mut returned = vec![self.result(&mut inner, Some(1))];
        let state = inner.given[2..].to_vec();
        returned.extend(self.next(&mut inner, &state));
        if rows {
            let row = self.result(&mut inner, None);
            let bytes = 3 * self.maker.bytes(row);
            self.maker.graph.tensor_mut(made[count]).bytes = bytes.into();
            returned.push(row);
        }
        self.close(&inner, &returned);
        scope.made(&made);
    }

    /// Adds a `WHILE` with a condition, a body, and one or two carried values.
    fn conditioned(&mut self, scope: &mut Scope, operators: u64) {
        let count = self.maker.rng.random_range(1..=2);
        let reads = self.reads(scope, count);
        let made = self.alike(&reads);
        let owner = self.maker.owner(scope.region, "WHILE", &reads, &made);
        let given = self.copies(&reads);
        let mut test = self.region(scope, owner, "cond", given);
        let share = self.maker.rng.random_range(0..=operators / 3);
        self.fill(&mut test, share);
        let go = self.result(&mut test, Some(1));
        self.close(&test, &[go]);
        let given = self.copies(&reads);
        let mut inner = self.region(scope, owner, "body", given);
        self.fill(&mut inner, operators - share);
        let state = inner.given.clone();
        let next = self.next(&mut inner, &state);
        self.close(&inner, &next);
        scope.made(&made);
    }

    /// Adds a `Scan` with explicit handovers: one state, one tensor that is read row by row, and one that is
    /// written row by row.
    fn scan(&mut self, scope: &mut Scope, operators: u64) {
        let reads = self.reads(scope, 2);
        let [state, row] = [self.maker.bytes(reads[0]), self.maker.bytes(reads[1]).div_ceil(2)];
        let stacked = self.maker.size();
        let made = [self.maker.made(state), self.maker.made(2 * stacked)];
        let given = [self.maker.tensor(state, Role::Input), self.maker.tensor(row, Role::Input)];
        let returned = [self.maker.made(state), self.maker.made(stacked)];
        let one = |when, from, to, part| Handover { when, from, to, part };
        let mut operator = self.maker.named("Scan").reads(reads.iter().copied()).makes(made);
        operator.handovers = Some(vec![
            one(Moment::Enter, reads[0], given[0], false),
            one(Moment::Begin(0), reads[1], given[1], true),
            one(Moment::End(0), returned[0], given[0], false),
            one(Moment::End(0), returned[1], made[1], true),
            one(Moment::Exit, given[0], made[0], false),
        ]);
        let owner = self.maker.graph.operator(scope.region, operator);
        let mut inner = self.region(scope, owner, "body", given.to_vec());
        self.fill(&mut inner, operators);
        let reads = self.reads(&inner, 2);
        let last = self.maker.named("Any").reads(reads).makes(returned);
        self.maker.graph.operator(inner.region, last);
        inner.made(&returned);
        self.close(&inner, &returned);
        scope.made(&made);
    }

    /// Adds a `CALL`, which receives copies of its inputs, or a `CALL_ONCE`, which has neither inputs nor
    /// outputs.
    fn call(&mut self, scope: &mut Scope, operators: u64) {
        let once = self.maker.percent(30);
        let count = if once { 0 } else { self.maker.rng.random_range(0..=2) };
        let reads = self.reads(scope, count);
        let made: Vec<TensorId> = (0..usize::from(!once)).map(|_| self.maker.made(0)).collect();
        let kind = if once { "CALL_ONCE" } else { "CALL" };
        let owner = self.maker.owner(scope.region, kind, &reads, &made);
        let given = self.copies(&reads);
        let mut inner = self.region(scope, owner, "callee", given);
        self.fill(&mut inner, operators);
        let mut returned = Vec::new();
        for &one in &made {
            let result = self.result(&mut inner, None);
            let bytes = self.maker.bytes(result);
            self.maker.graph.tensor_mut(one).bytes = bytes.into();
            returned.push(result);
        }
        self.close(&inner, &returned);
        scope.made(&made);
    }
}
