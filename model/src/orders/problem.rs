//! Order problems: operators with precedences, and storages whose lifespans depend on the order.

use crate::bound::Witness;
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::instance_error::InstanceError;
use crate::lifespan::Lifespan;
use crate::topological::topological;
use crate::units::{Bytes, OperatorId};
use plimsoll_support::gcd;
use std::borrow::Cow;
use std::collections::HashSet;

/// Memory that must be held from its first use to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The name, unique within the problem.
    pub name: String,
    /// The size in bytes. It must not be zero.
    pub size: Bytes,
    /// The operators that use the storage. In a problem, they are ascending and without duplicates. The
    /// storage is held from the first of them in the order to the last.
    pub users: Vec<OperatorId>,
    /// True if the storage is held from the start, even before the first operator, whichever operator uses it
    /// first.
    pub from_start: bool,
    /// True if the storage is held to the last step, whichever operator uses it last.
    pub to_end: bool,
}

impl Storage {
    /// Returns true if no operator uses the storage and it is not held to the end. It is then held only
    /// before the first operator.
    pub(crate) fn is_unused(&self) -> bool {
        self.users.is_empty() && !self.to_end
    }
}

/// The reason why operators and storages do not form an order problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum OrderError {
    #[error("{what} refers to operator {operator}, but there are only {count} operators")]
    Unknown { what: String, operator: OperatorId, count: usize },
    /// The operator depends on itself, directly or indirectly.
    #[error("operator '{name}' depends on itself")]
    Cycle { operator: OperatorId, name: String },
    /// The storage has no bytes, or no operator uses it and it is not held from the start.
    #[error("storage '{storage}' has no bytes or no user")]
    Empty { storage: String },
    #[error("two storages have the name '{storage}'")]
    Twice { storage: String },
    /// The output must share the memory of the input, but other views occupy the same bytes.
    #[error(
        "{operator}: '{output}' cannot be a view of '{input}', because other views occupy the same bytes"
    )]
    Views { operator: String, input: String, output: String },
    #[error("there are {scratch} scratch sizes, but {operators} operators")]
    Length { scratch: usize, operators: usize },
    #[error("sizes add up to more than 2^63 - 1 bytes")]
    TooLarge,
    /// The orders have no corresponding offset problem.
    #[error("the order problem has no corresponding offset problem: {0}")]
    Instance(#[from] InstanceError),
}

/// Operators with precedences, and the memory that they use. An order problem is validated and immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderProblem {
    name: String,
    operators: Vec<String>,
    predecessors: Vec<Vec<OperatorId>>,
    successors: Vec<Vec<OperatorId>>,
    storages: Vec<Storage>,
    /// Per storage: the user that precedes all others in every order; `None` if there is none, or if the
    /// storage is held from the start.
    first: Vec<Option<OperatorId>>,
    /// Per operator: the indices of the storages that it uses, ascending.
    touched: Vec<Vec<u32>>,
    scratch: Vec<Bytes>,
    /// The number of steps before the first operator.
    lead: u64,
}

impl OrderProblem {
    /// Creates an order problem. O(s log s) for s operators, edges and users of storages, plus one search
    /// for each storage whose first user does not directly precede all others.
    ///
    /// `operators` contains the names of the operators. The first operator of each edge must run before the
    /// second. `scratch` contains the bytes that each operator needs only while it runs.
    ///
    /// # Errors
    /// The first [`OrderError`] found.
    pub fn new(
        name: impl Into<String>,
        operators: Vec<String>,
        edges: impl IntoIterator<Item = (OperatorId, OperatorId)>,
        mut storages: Vec<Storage>,
        scratch: Vec<Bytes>,
    ) -> Result<Self, OrderError> {
        let count = operators.len();
        if scratch.len() != count {
            return Err(OrderError::Length { scratch: scratch.len(), operators: count });
        }
        let known = |what: &dyn Fn() -> String, operator: OperatorId| {
            if operator.index() < count {
                Ok(())
            } else {
                Err(OrderError::Unknown { what: what(), operator, count })
            }
        };
        let mut predecessors = vec![Vec::new(); count];
        let mut successors = vec![Vec::new(); count];
        for (before, after) in edges {
            known(&|| "an edge".to_owned(), before)?;
            known(&|| "an edge".to_owned(), after)?;
            predecessors[after.index()].push(before);
            successors[before.index()].push(after);
        }
        for list in predecessors.iter_mut().chain(&mut successors) {
            list.sort_unstable();
            list.dedup();
        }
        for storage in &mut storages {
            storage.users.sort_unstable();
            storage.users.dedup();
        }
        let mut touched = vec![Vec::new(); count];
        let mut names = HashSet::new();
        for (at, storage) in storages.iter().enumerate() {
            let name = || storage.name.clone();
            for &user in &storage.users {
                known(&|| format!("storage '{}'", storage.name), user)?;
                touched[user.index()].push(at as u32);
            }
            let held = !storage.users.is_empty() || storage.from_start;
            if storage.size == Bytes::ZERO || !held {
                return Err(OrderError::Empty { storage: name() });
            }
            if !names.insert(storage.name.as_str()) {
                return Err(OrderError::Twice { storage: name() });
            }
        }
        let sizes = storages.iter().map(|s| s.size).chain(scratch.iter().copied());
        if sizes.map(|size| u128::from(size.get())).sum::<u128>() > i64::MAX as u128 {
            return Err(OrderError::TooLarge);
        }
        let (name, first) = (name.into(), vec![None; storages.len()]);
        let lead = u64::from(storages.iter().any(Storage::is_unused));
        let mut problem =
            Self { name, operators, predecessors, successors, storages, first, touched, scratch, lead };
        problem.find_first()?;
        Ok(problem)
    }

    /// Finds the user of each storage that precedes its other users in every order. Only the first user in
    /// file order can be this user.
    fn find_first(&mut self) -> Result<(), OrderError> {
        let position = self.positions(&self.file_order()?);
        let mut seen = vec![u32::MAX; self.len()];
        for at in 0..self.storages.len() {
            let storage = &self.storages[at];
            let first = storage.users.iter().copied().min_by_key(|user| position[user.index()]);
            let first = first.filter(|_| !storage.from_start);
            self.first[at] = first
                .filter(|&first| self.precedes_all(first, &storage.users, &position, &mut seen, at as u32));
        }
        Ok(())
    }

    fn positions(&self, order: &Order) -> Vec<usize> {
        let mut position = vec![0usize; self.len()];
        for (at, &id) in order.operators().iter().enumerate() {
            position[id.index()] = at;
        }
        position
    }

    /// Returns a problem in which the first user of each storage is the same in every order: the first in
    /// file order. Its orders are valid for this problem and have the same peaks, but this problem may have
    /// further orders. Returns this problem if nothing changes. O(s log s) for a problem of size s.
    ///
    /// # Panics
    /// Never: all added precedences agree with the file order.
    pub fn with_first_users(&self) -> Cow<'_, Self> {
        let open = |&at: &usize| {
            let storage = &self.storages[at];
            self.first[at].is_none() && !storage.from_start && !storage.users.is_empty()
        };
        let open: Vec<usize> = (0..self.storages.len()).filter(open).collect();
        if open.is_empty() {
            return Cow::Borrowed(self);
        }
        let position = self.positions(&self.as_in_file());
        let mut settled = self.clone();
        for at in open {
            let users = &self.storages[at].users;
            let first = *users.iter().min_by_key(|user| position[user.index()]).expect("it has users");
            settled.first[at] = Some(first);
            settled.successors[first.index()].extend(users.iter().filter(|&&user| user != first));
            for user in users.iter().filter(|&&user| user != first) {
                settled.predecessors[user.index()].push(first);
            }
        }
        for list in settled.predecessors.iter_mut().chain(&mut settled.successors) {
            list.sort_unstable();
            list.dedup();
        }
        Cow::Owned(settled)
    }

    /// Returns true if each of `users` is `first` or must run after it.
    ///
    /// Direct successors are tested first, which is nearly always sufficient. `seen` is scratch space.
    /// Visited operators are marked with `mark`.
    fn precedes_all(
        &self,
        first: OperatorId,
        users: &[OperatorId],
        position: &[usize],
        seen: &mut [u32],
        mark: u32,
    ) -> bool {
        let direct = &self.successors[first.index()];
        let mut left: Vec<OperatorId> = users
            .iter()
            .copied()
            .filter(|user| *user != first && direct.binary_search(user).is_err())
            .collect();
        if left.is_empty() {
            return true;
        }
        let horizon = left.iter().map(|user| position[user.index()]).max().unwrap_or(0);
        let mut todo = vec![first];
        while let Some(at) = todo.pop() {
            for &next in &self.successors[at.index()] {
                if seen[next.index()] != mark && position[next.index()] <= horizon {
                    seen[next.index()] = mark;
                    todo.push(next);
                }
            }
        }
        left.retain(|user| seen[user.index()] != mark);
        left.is_empty()
    }

    /// Returns the name of the problem, used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of operators.
    pub fn len(&self) -> usize {
        self.operators.len()
    }

    /// Returns true if there are no operators.
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Returns the ids of the operators, ascending.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = OperatorId> + use<> {
        (0..self.operators.len()).map(OperatorId::at)
    }

    /// Returns the name of an operator. Names need not be unique.
    pub fn operator(&self, id: OperatorId) -> &str {
        &self.operators[id.index()]
    }

    /// Returns the direct predecessors of an operator, ascending.
    pub fn predecessors(&self, id: OperatorId) -> &[OperatorId] {
        &self.predecessors[id.index()]
    }

    /// Returns the direct successors of an operator, ascending.
    pub fn successors(&self, id: OperatorId) -> &[OperatorId] {
        &self.successors[id.index()]
    }

    /// Returns the storages. Their lifespans depend on the order.
    pub fn storages(&self) -> &[Storage] {
        &self.storages
    }

    /// Returns the indices of the storages that an operator uses, ascending.
    pub fn touched(&self, id: OperatorId) -> &[u32] {
        &self.touched[id.index()]
    }

    /// Returns the user of the storage at an index that precedes its other users in every order. Returns
    /// `None` if no user does, or if the storage is held from the start.
    pub fn first(&self, storage: usize) -> Option<OperatorId> {
        self.first[storage]
    }

    /// Returns the bytes that an operator needs only while it runs.
    pub fn scratch(&self, id: OperatorId) -> Bytes {
        self.scratch[id.index()]
    }

    /// Returns the topological order closest to ascending ids: among all ready operators, the one with the
    /// lowest id comes next.
    ///
    /// # Errors
    /// [`OrderError::Cycle`] if there is a cycle, which [`OrderProblem::new`] rejects.
    fn file_order(&self) -> Result<Order, OrderError> {
        let after = |at: usize| self.successors[at].iter().map(|next| next.index());
        match topological(self.len(), after) {
            Ok(order) => Ok(Order::new(order.into_iter().map(OperatorId::at).collect())),
            Err(waiting) => {
                let stuck = |id: &OperatorId| waiting[id.index()] > 0;
                // A waiting operator may depend on a cycle without being part of it. Following waiting
                // predecessors leads to the cycle.
                let mut operator = self.ids().find(stuck).unwrap_or_default();
                for _ in self.ids() {
                    let before = self.predecessors(operator).iter().copied().find(stuck);
                    operator = before.unwrap_or(operator);
                }
                Err(OrderError::Cycle { operator, name: self.operator(operator).to_owned() })
            }
        }
    }

    /// Returns the topological order closest to file order: among all ready operators, the one with the
    /// lowest id comes next. O(n log n + e) for n operators and e edges.
    ///
    /// # Panics
    /// Never: [`OrderProblem::new`] rejects cycles.
    pub fn as_in_file(&self) -> Order {
        self.file_order().expect("checked by OrderProblem::new")
    }

    /// Returns the step of each operator in [`OrderProblem::instance`] for a given order, indexed by
    /// operator. O(n) for n operators.
    ///
    /// # Panics
    /// If the order is not valid for this problem. Check it first.
    pub fn steps(&self, order: &Order) -> Vec<u64> {
        let (mut steps, lead) = (vec![0u64; self.len()], self.lead);
        for (at, &id) in order.operators().iter().enumerate() {
            steps[id.index()] = lead + at as u64;
        }
        steps
    }

    /// Returns the half-open range of steps during which a storage is held if the operators run at the given
    /// [steps](OrderProblem::steps).
    ///
    /// # Panics
    /// If a user of the storage is not in the problem.
    pub fn held(&self, storage: &Storage, steps: &[u64]) -> (u64, u64) {
        let end = self.lead + (self.len() as u64).max(1);
        let used = storage.users.iter().map(|user| steps[user.index()]);
        let lower = if storage.from_start { 0 } else { used.clone().min().unwrap_or(0) };
        (lower, if storage.to_end { end } else { used.max().unwrap_or(0) + 1 })
    }

    /// Returns the offset problem that results from an order. O(s log s) for a problem of size s.
    ///
    /// The instance has one buffer per storage, and one per operator with scratch. Each buffer is live at
    /// the steps at which its memory is held. The load of the instance is the peak of the order. The
    /// operator at position `i` of the order runs at step `i`, or at step `i + 1` if unused storages need an
    /// extra step before the first operator. Offsets are multiples of `align` bytes. Whether the instance
    /// can be built does not depend on the order.
    ///
    /// # Errors
    /// [`OrderError::Instance`] if `align` is zero, or so large that aligned sizes add up to 2^63 bytes or
    /// more.
    ///
    /// # Panics
    /// If the order is not valid for this problem. Check it first.
    pub fn instance(&self, order: &Order, align: Bytes) -> Result<Instance, OrderError> {
        let step = self.steps(order);
        let buffer = |name: &str, size: Bytes, lower: u64, upper: u64| {
            let lifespan = Lifespan::single(lower, upper).expect("a storage is held for at least one step");
            Buffer::new(name, size, lifespan).aligned(align)
        };
        let held = |storage: &Storage| {
            let (lower, upper) = self.held(storage, &step);
            buffer(&storage.name, storage.size, lower, upper)
        };
        let taken: HashSet<&str> = self.storages.iter().map(|s| s.name.as_str()).collect();
        let scratch = self.ids().filter(|&id| self.scratch(id) > Bytes::ZERO).map(|id| {
            let mut name = format!("scratch of {}#{id}", self.operator(id));
            while taken.contains(name.as_str()) {
                name.push('~');
            }
            buffer(&name, self.scratch(id), step[id.index()], step[id.index()] + 1)
        });
        let buffers = self.storages.iter().map(held).chain(scratch);
        Ok(InstanceBuilder::new(self.name.clone()).buffers(buffers).build()?)
    }

    /// Returns the bytes held before the first operator runs: all storages held from the start, including
    /// unused ones. No order has a smaller peak. O(s) for s storages.
    pub fn at_start(&self) -> Bytes {
        self.sum(|storage| storage.from_start)
    }

    /// Returns the bytes held from the start that are still held when the first operator runs. O(s) for s
    /// storages.
    pub fn at_first_step(&self) -> Bytes {
        self.sum(|storage| storage.from_start && !storage.is_unused())
    }

    /// Returns the bytes held after the last operator has run: all storages held to the end. No order has a
    /// smaller peak. O(s) for s storages.
    pub fn at_end(&self) -> Bytes {
        self.sum(|storage| storage.to_end)
    }

    fn sum(&self, counts: impl Fn(&Storage) -> bool) -> Bytes {
        Bytes::new(
            self.storages.iter().filter(|storage| counts(storage)).map(|storage| storage.size.get()).sum(),
        )
    }

    /// Returns the number of steps before the first operator in [`OrderProblem::instance`]: 1 if some storage
    /// is unused, otherwise 0.
    ///
    /// At the extra step, exactly the storages held from the start are live, including unused ones. O(1).
    pub fn lead(&self) -> u64 {
        self.lead
    }

    /// Describes a witness as text with the names of operators.
    pub fn explain(&self, witness: &Witness) -> String {
        let name = |id: OperatorId| match self.operators.get(id.index()) {
            Some(name) => format!("'{name}'"),
            None => format!("operator number {id}"),
        };
        witness.clone().map(|buffer| buffer, name).to_string()
    }

    /// Returns the greatest common divisor of all sizes in bytes. Every peak is a multiple of it.
    pub fn grain(&self) -> Bytes {
        let sizes = self.storages.iter().map(|s| s.size).chain(self.scratch.iter().copied());
        Bytes::new(sizes.fold(0, |grain, size| gcd(grain, size.get())).max(1))
    }
}

/// A permutation of the operators. The first operator of the permutation runs first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    operators: Vec<OperatorId>,
}

impl Order {
    /// Creates an order without validation. [`check_order`](super::check_order) checks it against a problem.
    pub fn new(operators: Vec<OperatorId>) -> Self {
        Self { operators }
    }

    /// Returns the operators in execution order.
    pub fn operators(&self) -> &[OperatorId] {
        &self.operators
    }

    /// Returns the peak: the maximum number of live bytes at any step or before the first one. The time is
    /// linear in the size of the problem.
    ///
    /// # Panics
    /// May panic if the order is not valid for this problem. Check it first.
    pub fn peak(&self, problem: &OrderProblem) -> Bytes {
        self.profile(problem).into_iter().fold(problem.at_start(), Bytes::max)
    }

    /// Returns the live bytes while each operator runs, in execution order. The time is linear in the size
    /// of the problem.
    ///
    /// # Panics
    /// May panic if the order is not valid for this problem. Check it first.
    pub fn profile(&self, problem: &OrderProblem) -> Vec<Bytes> {
        let mut left: Vec<usize> = problem.storages().iter().map(|s| s.users.len()).collect();
        let mut begun: Vec<bool> = problem.storages().iter().map(|s| s.from_start).collect();
        let mut live = problem.at_first_step().get();
        let mut profile = Vec::with_capacity(self.operators.len());
        for &id in &self.operators {
            for &at in problem.touched(id) {
                if !std::mem::replace(&mut begun[at as usize], true) {
                    live += problem.storages()[at as usize].size.get();
                }
            }
            profile.push(Bytes::new(live + problem.scratch(id).get()));
            for &at in problem.touched(id) {
                left[at as usize] -= 1;
                let storage = &problem.storages()[at as usize];
                if left[at as usize] == 0 && !storage.to_end {
                    live -= storage.size.get();
                }
            }
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::super::around::around_bound;
    use super::super::check::{check_order, confirm_order_bound, recomputed_peak};
    use super::*;
    use crate::bound::{LowerBound, Witness};

    fn id(raw: u32) -> OperatorId {
        OperatorId::new(raw)
    }

    fn storage(name: &str, size: u64, users: &[u32]) -> Storage {
        let users = users.iter().copied().map(OperatorId::new).collect();
        Storage { name: name.into(), size: Bytes::new(size), users, from_start: false, to_end: false }
    }

    /// Builds the graph x -> a -> (b | c) -> d. Operator a produces 4 bytes. From them, b produces 1 byte and
    /// c produces 2, and d reads both.
    fn diamond() -> OrderProblem {
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| (id(a), id(b)));
        let mut x = storage("x", 8, &[0]);
        x.from_start = true;
        let mut out = storage("out", 1, &[3]);
        out.to_end = true;
        let storages =
            vec![x, storage("a", 4, &[0, 1, 2]), storage("b", 1, &[1, 3]), storage("c", 2, &[2, 3]), out];
        OrderProblem::new("diamond", names, edges, storages, vec![Bytes::ZERO; 4]).unwrap()
    }

    #[test]
    fn peaks_are_counted_step_by_step() {
        let p = diamond();
        let order = p.as_in_file();
        let profile: Vec<u64> = order.profile(&p).into_iter().map(Bytes::get).collect();
        assert_eq!(profile, [12, 5, 7, 4]);
        assert_eq!(recomputed_peak(&p, &order), order.peak(&p));
        let instance = p.instance(&order, Bytes::new(1)).unwrap();
        assert_eq!(crate::load::load(&instance).0, order.peak(&p));
        let bound = around_bound(&p);
        assert_eq!(bound.value.get(), 12);
        assert_eq!(confirm_order_bound(&p, &bound), Ok(()));
    }

    #[test]
    fn storages_that_span_an_operator_count() {
        // p begins s, q runs in between, and r ends s. q itself uses 1 byte of storage and 7 bytes of
        // scratch.
        let names = ["p", "q", "r"].map(str::to_owned).to_vec();
        let edges = [(id(0), id(1)), (id(1), id(2))];
        let storages = vec![storage("s", 5, &[0, 2]), storage("t", 1, &[1, 2])];
        let scratch = vec![Bytes::ZERO, Bytes::new(7), Bytes::ZERO];
        let p = OrderProblem::new("p", names, edges, storages, scratch).unwrap();
        let bound = around_bound(&p);
        assert_eq!((bound.value.get(), bound.witness.clone()), (13, Witness::Around { operator: id(1) }));
        assert_eq!(confirm_order_bound(&p, &bound), Ok(()));
        let more = LowerBound::new(Bytes::new(14), bound.witness);
        assert!(matches!(confirm_order_bound(&p, &more), Err(crate::bound::BoundError::TooWeak { .. })));
    }

    #[test]
    fn invalid_orders_are_reported() {
        let p = diamond();
        let order = |ids: &[u32]| Order::new(ids.iter().copied().map(OperatorId::new).collect());
        assert!(check_order(&p, &order(&[0, 2, 1, 3])).is_empty());
        let text = |ids: &[u32]| {
            let violations = check_order(&p, &order(ids));
            violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(
            text(&[1, 0, 2, 3]),
            "operator 'b' runs at step 0, but must run after operator 'a', which runs at step 1"
        );
        assert_eq!(text(&[0, 1, 2]), "operator 'd' is missing from the order");
        assert!(text(&[0, 1, 2, 3, 3]).contains("operator 'd' runs at step 3 and again at step 4"));
        assert!(
            text(&[0, 1, 2, 3, 9]).contains("the order contains operator 9, but there are only 4 operators")
        );
    }

    #[test]
    fn invalid_problems_are_rejected() {
        let names = || ["a", "b"].map(str::to_owned).to_vec();
        let zero = || vec![Bytes::ZERO; 2];
        let new = |edges: &[(u32, u32)], storages: Vec<Storage>| {
            let edges = edges.iter().map(|&(a, b)| (id(a), id(b)));
            OrderProblem::new("p", names(), edges, storages, zero()).unwrap_err().to_string()
        };
        assert_eq!(new(&[(0, 1), (1, 0)], vec![]), "operator 'a' depends on itself");
        // Operator 0 depends on a cycle, but is not part of it.
        let behind = [(1, 2), (2, 1), (2, 0)].map(|(a, b)| (id(a), id(b)));
        let three = ["a", "b", "c"].map(str::to_owned).to_vec();
        let stuck = OrderProblem::new("p", three, behind, vec![], vec![Bytes::ZERO; 3]).unwrap_err();
        assert!(
            matches!(stuck, OrderError::Cycle { operator, .. } if operator != id(0)),
            "{stuck} is behind the cycle only"
        );
        assert!(new(&[(0, 2)], vec![]).contains("refers to operator 2"));
        assert!(new(&[], vec![storage("s", 0, &[0])]).contains("no bytes or no user"));
        assert!(new(&[], vec![storage("s", 1, &[])]).contains("no bytes or no user"));
        assert!(new(&[], vec![storage("s", 1, &[0]), storage("s", 1, &[1])]).contains("two storages"));
    }

    #[test]
    fn storages_may_begin_with_any_user() {
        // p and q write one storage in either order, r reads it, and q needs 5 bytes while it runs.
        let names = ["p", "q", "r"].map(str::to_owned).to_vec();
        let edges = [(id(0), id(2)), (id(1), id(2))];
        let scratch = vec![Bytes::ZERO, Bytes::new(5), Bytes::ZERO];
        let storages = vec![storage("s", 4, &[0, 1, 2]), storage("t", 2, &[0, 2])];
        let p = OrderProblem::new("p", names, edges, storages, scratch).unwrap();
        assert_eq!((p.first(0), p.first(1)), (None, Some(id(0))));
        let peak = |order: &[u32]| Order::new(order.iter().map(|&at| id(at)).collect()).peak(&p).get();
        assert_eq!((peak(&[0, 1, 2]), peak(&[1, 0, 2])), (11, 9));
        let settled = p.with_first_users();
        assert_eq!((settled.first(0), settled.predecessors(id(1))), (Some(id(0)), &[id(0)][..]));
        assert_eq!(settled.as_in_file().peak(&settled), p.as_in_file().peak(&p));
        let bound = around_bound(&p);
        assert_eq!(bound.value.get(), 9);
        assert_eq!(confirm_order_bound(&p, &bound), Ok(()));
    }

    #[test]
    fn users_named_twice_or_out_of_order_count_once() {
        let new = |users: &[u32]| {
            let names = ["a", "b"].map(str::to_owned).to_vec();
            let storages = vec![storage("s", 3, users), storage("t", 1, &[1])];
            OrderProblem::new("p", names, [(id(0), id(1))], storages, vec![Bytes::ZERO; 2]).unwrap()
        };
        assert_eq!(new(&[1, 0, 1, 0]), new(&[0, 1]));
        assert_eq!(new(&[1, 0, 1]).touched(id(1)), [0, 1]);
    }

    #[test]
    fn sizes_that_cannot_be_aligned_are_rejected() {
        let sizes = [1 << 60, 1 << 60, 1 << 60, 1 << 60];
        let storages = sizes.iter().enumerate().map(|(at, &size)| storage(&at.to_string(), size, &[0]));
        let p = OrderProblem::new("p", vec!["a".into()], [], storages.collect(), vec![Bytes::ZERO]).unwrap();
        let instance = |align| p.instance(&p.as_in_file(), Bytes::new(align));
        assert!(instance(1 << 20).is_ok());
        for align in [0, 1 << 61] {
            assert!(matches!(instance(align), Err(OrderError::Instance(_))), "{align}");
        }
    }
}
