//! Simulates a run of a graph in a memory that records the writer of every byte.

use super::decisions::Decisions;
use super::memory::Memory;
use super::placed::{ExecutionOptions, Seat};
use super::prepared::{Cell, Owner, Prepared, holder_name};
use super::violation::{ExecutionViolation, Stage};
use crate::graph::{Alias, AliasKind, Control, Graph, Handover, Moment};
use crate::units::{Bytes, OperatorId, RegionId};
use std::collections::HashSet;

/// The maximum number of decisions that a message lists. Only the latest decisions are listed, and the
/// earlier decisions are counted.
const MOST_LISTED: usize = 24;

/// The operator and the stage at which a value is checked.
type Event = (Option<OperatorId>, Stage);

/// Consecutive bytes of a cell, which belong to a written value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    /// The bytes of the cell.
    start: u64,
    end: u64,
    value: u32,
    /// The address of the first byte. The value was written there.
    address: u64,
}

/// The contents of a cell, in ascending order of bytes.
type Contents = Vec<Chunk>;

/// The state of a run, with the violations found so far.
pub(super) struct Machine<'a> {
    prepared: &'a Prepared<'a>,
    options: &'a ExecutionOptions,
    pub(super) decisions: Decisions,
    memory: Memory,
    /// Per cell: its current memory. Slots may be exchanged between iterations of a loop.
    seat: Vec<Option<Seat>>,
    /// Per cell: its contents; `None` if the cell was not written in this run or its contents were discarded.
    contents: Vec<Option<Contents>>,
    /// Per value: the cell that the value was written to.
    written: Vec<Cell>,
    decided: Vec<(OperatorId, usize)>,
    steps: usize,
    /// True if some run was truncated at the step limit.
    pub(super) clipped: bool,
    seen: HashSet<(Cell, Event)>,
    pub(super) violations: Vec<ExecutionViolation>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(prepared: &'a Prepared<'a>, options: &'a ExecutionOptions) -> Self {
        Self {
            prepared,
            options,
            decisions: Decisions::default(),
            memory: Memory::default(),
            seat: prepared.home.clone(),
            contents: vec![None; prepared.home.len()],
            written: Vec::new(),
            decided: Vec::new(),
            steps: 0,
            clipped: false,
            seen: HashSet::new(),
            violations: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        self.memory.clear();
        self.contents.fill(None);
        self.written.clear();
        self.decided.clear();
        self.steps = 0;
        let prepared = self.prepared;
        let body = prepared.graph.region(Graph::BODY);
        let mut given = prepared.held.clone();
        given.extend(body.inputs.iter().map(|input| input.index()));
        self.write_all(&given);
        self.check_all(&given, (None, Stage::Start));
        self.operators(Graph::BODY);
        let wanted = body.outputs.iter().map(|output| output.index());
        let inputs = body.inputs.iter().filter(|_| self.options.keep_inputs).map(|input| input.index());
        let kept: Vec<Cell> = wanted.chain(prepared.held.iter().copied()).chain(inputs).collect();
        self.check_all(&kept, (None, Stage::End));
    }

    /// Returns the address at which a cell begins; 0 if it is not in memory.
    fn address(&self, cell: Cell) -> u64 {
        let address = |seat: Seat| self.prepared.slots[seat.slot].offset.get() + seat.offset.get();
        self.seat[cell].map_or(0, address)
    }

    /// Writes a new value to a cell, and to memory if the cell has a slot.
    fn write(&mut self, cell: Cell) {
        self.write_around(cell, Vec::new());
    }

    /// Writes a new value to all bytes of a cell except the given contents, which are taken over.
    fn write_around(&mut self, cell: Cell, taken: Contents) {
        let (value, address) = (self.written.len() as u32, self.address(cell));
        let mut contents = Vec::with_capacity(taken.len() + 1);
        let mut at = 0;
        let end = Chunk { start: self.prepared.bytes[cell], end: u64::MAX, value, address };
        for next in taken.into_iter().chain([end]) {
            if at < next.start {
                contents.push(Chunk { start: at, end: next.start, value, address: address + at });
            }
            at = next.end;
            if next != end {
                contents.push(next);
            }
        }
        if self.seat[cell].is_some() {
            for chunk in contents.iter().filter(|chunk| chunk.value == value) {
                self.memory.write(chunk.address, chunk.address + chunk.end - chunk.start, value);
            }
        }
        self.written.push(cell);
        self.contents[cell] = Some(contents);
    }

    fn write_all(&mut self, cells: &[Cell]) {
        for &cell in cells {
            self.write(cell);
        }
    }

    /// Returns true if cell `b` begins `distance` bytes after cell `a` in the same slot.
    fn share(&self, a: Cell, b: Cell, distance: i64) -> bool {
        let (Some(a), Some(b)) = (self.seat[a], self.seat[b]) else { return false };
        a.slot == b.slot && a.offset.get().checked_add_signed(distance) == Some(b.offset.get())
    }

    fn check_all(&mut self, cells: &[Cell], event: Event) {
        for &cell in cells {
            self.check(cell, event);
        }
    }

    /// Returns true if the memory of a cell still contains its value. A violation is reported once per cell,
    /// operator and stage.
    fn check(&mut self, cell: Cell, event: Event) -> bool {
        let lost = match (&self.contents[cell], self.seat[cell]) {
            (Some(_), None) => None,
            (None, _) => Some((0, None)),
            (Some(contents), Some(_)) => self.lost(cell, contents),
        };
        let Some((address, by)) = lost else { return true };
        if self.seen.insert((cell, event)) {
            self.report(cell, event, address, by);
        }
        false
    }

    /// Returns the first address of a cell that does not contain the byte that belongs there, with the value
    /// found instead, if any.
    fn lost(&self, cell: Cell, contents: &Contents) -> Option<(u64, Option<u32>)> {
        let (address, bytes) = (self.address(cell), self.prepared.bytes[cell]);
        let mut at = 0;
        for chunk in contents.iter().filter(|chunk| chunk.start < bytes) {
            let (start, end) = (address + chunk.start, address + chunk.end.min(bytes));
            // A value written at other addresses does not count, even if the ranges overlap.
            let value = if chunk.address == start { chunk.value } else { u32::MAX };
            if let Some(lost) = self.memory.lacks(start, end, value) {
                return Some(lost);
            }
            at = chunk.end;
        }
        (at < bytes).then_some((address + at, None))
    }

    fn report(&mut self, cell: Cell, (operator, stage): Event, address: u64, by: Option<u32>) {
        let Prepared { graph, bytes, .. } = self.prepared;
        let holder = self.prepared.holder(cell);
        let name = holder_name(graph, holder);
        let place = operator.map_or_else(|| graph.name().to_owned(), |id| graph.called(id));
        let run = self.outcomes();
        let violation = match (&self.contents[cell], self.seat[cell]) {
            (Some(_), Some(_)) => {
                let start = self.address(cell);
                let range = (Bytes::new(start), Bytes::new(start + bytes[cell]));
                let by = by.map(|value| self.prepared.holder(self.written[value as usize]));
                let by = by.map(|holder| holder_name(graph, holder));
                let address = Bytes::new(address);
                ExecutionViolation::Lost { holder, name, operator, place, stage, range, address, by, run }
            }
            _ => ExecutionViolation::NotWritten { holder, name, operator, place, stage, run },
        };
        self.violations.push(violation);
    }

    /// Describes the decisions of the run as text.
    fn outcomes(&self) -> String {
        let graph = self.prepared.graph;
        let skip = self.decided.len().saturating_sub(MOST_LISTED);
        let show = |&(id, choice): &(OperatorId, usize)| {
            let name = graph.called(id);
            match self.prepared.owners[id.index()].as_ref().map(|owner| owner.flow.control) {
                Some(Control::Loop) if choice == 1 => format!("{name}: 1 iteration"),
                Some(Control::Loop) => format!("{name}: {choice} iterations"),
                _ => match graph.operator(id).regions.get(choice) {
                    Some(&region) => format!("{name}: {}", graph.region(region).name),
                    None => format!("{name}: no region"),
                },
            }
        };
        let mut listed: Vec<String> = self.decided[skip..].iter().map(show).collect();
        if skip > 0 {
            listed.insert(0, format!("{skip} more"));
        }
        if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
    }

    fn operators(&mut self, region: RegionId) {
        let prepared = self.prepared;
        for &id in &prepared.orders[region.index()] {
            self.steps += 1;
            match &prepared.owners[id.index()] {
                Some(owner) => self.owner(id, owner),
                None => self.plain(id),
            }
        }
    }

    /// Runs an operator without regions. It writes its outputs while it reads its inputs.
    fn plain(&mut self, id: OperatorId) {
        let prepared = self.prepared;
        let operator = prepared.graph.operator(id);
        let mut kept = Vec::new();
        for &input in &operator.inputs {
            let read = self.check(input.index(), (Some(id), Stage::Reads));
            let over = operator.aliases.iter().any(|alias| {
                (alias.input, alias.kind) == (input, AliasKind::InPlace) && self.in_place(alias)
            });
            if read && !over {
                kept.push(input.index());
            }
        }
        for &output in &operator.outputs {
            let views = operator.aliases.iter();
            let views = views.filter(|one| one.output == output && one.kind != AliasKind::InPlace);
            let mut taken: Contents = views.flat_map(|view| self.viewed(view)).collect();
            taken.sort_unstable_by_key(|chunk| chunk.start);
            // An operator copies an input that would lie where another one lies.
            let mut end = 0;
            taken.retain(|chunk| {
                let apart = chunk.start >= end;
                end = if apart { chunk.end } else { end };
                apart
            });
            self.write_around(output.index(), taken);
            kept.push(output.index());
        }
        self.write(prepared.scratch(id));
        kept.push(prepared.scratch(id));
        self.check_all(&kept, (Some(id), Stage::Writes));
    }

    /// Returns true if the output of an alias begins where its input begins, or far enough before it.
    fn in_place(&self, alias: &Alias) -> bool {
        let seats = (self.seat[alias.input.index()], self.seat[alias.output.index()]);
        let (Some(input), Some(output)) = seats else { return false };
        input.slot == output.slot && alias.allows(input.offset.get() as i64 - output.offset.get() as i64)
    }

    /// Returns the contents that the output of a view takes over from its input: none if the two do not lie
    /// at the declared distance in the same slot.
    fn viewed(&self, view: &Alias) -> Contents {
        let (input, output) = (view.input.index(), view.output.index());
        let distance = self.prepared.graph.displacement(view);
        let Some(contents) = self.contents[input].as_ref().filter(|_| self.share(input, output, distance))
        else {
            return Vec::new();
        };
        let bytes = self.prepared.bytes[output] as i64;
        let moved = contents.iter().filter_map(|chunk| {
            let start = (chunk.start as i64 - distance).max(0);
            let end = (chunk.end as i64 - distance).min(bytes);
            let address = chunk.address + (start + distance - chunk.start as i64) as u64;
            (start < end).then_some(Chunk {
                start: start as u64,
                end: end as u64,
                value: chunk.value,
                address,
            })
        });
        moved.collect()
    }

    /// Runs an operator that owns regions, from its entry to its exit.
    fn owner(&mut self, id: OperatorId, owner: &Owner) {
        let operator = self.prepared.graph.operator(id);
        for input in &operator.inputs {
            self.check(input.index(), (Some(id), Stage::Reads));
        }
        let outputs: Vec<Cell> = operator.outputs.iter().map(|output| output.index()).collect();
        for &cell in outputs.iter().chain(&owner.fresh) {
            self.contents[cell] = None;
        }
        let scratch = self.prepared.scratch(id);
        self.write(scratch);
        self.hand(id, owner, Moment::Enter, &[]);
        self.write_all(&owner.stacked);
        self.check_all(&owner.stacked, (Some(id), Stage::Hands(Moment::Enter)));
        self.check(scratch, (Some(id), Stage::Hands(Moment::Enter)));
        let mut exchanged = Vec::new();
        self.regions(id, owner, &mut exchanged);
        let moves = self.moves(owner, Moment::Exit);
        let rest =
            |cell: &Cell| self.contents[*cell].is_none() && !moves.iter().any(|m| m.to.index() == *cell);
        let rest: Vec<Cell> = outputs.iter().copied().filter(rest).collect();
        self.hand(id, owner, Moment::Exit, &rest);
        self.check_all(&outputs, (Some(id), Stage::Hands(Moment::Exit)));
        self.check(scratch, (Some(id), Stage::Hands(Moment::Exit)));
        for &(a, b) in exchanged.iter().rev() {
            self.exchange(owner, a, b);
        }
    }

    /// Runs the regions according to the control flow of their owner.
    fn regions(&mut self, id: OperatorId, owner: &Owner, exchanged: &mut Vec<(usize, usize)>) {
        let count = owner.given.len();
        match owner.flow.control {
            Control::Call => (0..count).for_each(|region| self.region(id, owner, region, exchanged)),
            Control::Branch => {
                // A branch operator with one region and no outputs may skip its region.
                let idle = count == 1 && self.prepared.graph.operator(id).outputs.is_empty();
                let region = self.decide(id, count + usize::from(idle));
                if region < count {
                    self.region(id, owner, region, exchanged);
                }
            }
            Control::Loop => {
                let cut = self.steps >= self.options.steps;
                self.clipped |= cut && self.options.trips > 0;
                let trips = self.decide(id, if cut { 1 } else { self.options.trips.saturating_add(1) });
                for _ in 0..trips {
                    (0..count).for_each(|region| self.region(id, owner, region, exchanged));
                }
                if count == 2 {
                    self.region(id, owner, 0, exchanged);
                }
            }
        }
    }

    fn decide(&mut self, id: OperatorId, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        let choice = self.decisions.choose(count);
        self.decided.push((id, choice));
        choice
    }

    fn region(
        &mut self,
        id: OperatorId,
        owner: &Owner,
        position: usize,
        exchanged: &mut Vec<(usize, usize)>,
    ) {
        let graph = self.prepared.graph;
        let region = graph.operator(id).regions[position];
        let begin = Moment::Begin(position);
        let moves = self.moves(owner, begin);
        let is_fresh = |cell: Cell, handed: bool| {
            let comes = moves.iter().any(|m| m.to.index() == cell);
            !handed || (self.contents[cell].is_none() && !comes)
        };
        let given = owner.given[position].iter();
        let given: Vec<Cell> =
            given.filter(|&&(cell, handed)| is_fresh(cell, handed)).map(|one| one.0).collect();
        self.hand(id, owner, begin, &given);
        self.operators(region);
        for output in &graph.region(region).outputs {
            self.check(output.index(), (Some(id), Stage::Hands(Moment::End(position))));
        }
        exchanged.extend(self.hand(id, owner, Moment::End(position), &[]));
    }

    /// Returns the handovers at a moment, except those whose source has no value. A region that has not run
    /// hands over nothing.
    fn moves(&self, owner: &Owner, when: Moment) -> Vec<Handover> {
        let there = |h: &&Handover| h.when == when && self.contents[h.from.index()].is_some();
        owner.flow.handovers.iter().filter(there).copied().collect()
    }

    /// Performs all handovers at a moment simultaneously and writes the cells in `more`. Returns the pairs of
    /// slots that were exchanged.
    fn hand(&mut self, id: OperatorId, owner: &Owner, when: Moment, more: &[Cell]) -> Vec<(usize, usize)> {
        let event = (Some(id), Stage::Hands(when));
        let moves = self.moves(owner, when);
        for one in &moves {
            self.check(one.from.index(), event);
            if one.part && self.prepared.graph.operator(id).outputs.contains(&one.to) {
                self.check(one.to.index(), event);
            }
        }
        let before: Vec<Option<Contents>> =
            moves.iter().map(|one| self.contents[one.from.index()].clone()).collect();
        let (mut touched, mut roles) = (more.to_vec(), Vec::new());
        for (at, one) in moves.iter().enumerate() {
            let (from, to) = (one.from.index(), one.to.index());
            touched.push(to);
            if let Some(pair) = self.exchangeable(id, owner, &moves, at) {
                roles.push((pair, from, to, before[at].clone()));
                continue;
            }
            touched.push(from);
            if self.share(from, to, 0) && !one.part {
                self.contents[to].clone_from(&before[at]);
            } else {
                self.write(to);
            }
        }
        self.write_all(more);
        let mut pairs = Vec::with_capacity(roles.len());
        for ((a, b), from, to, contents) in roles {
            self.exchange(owner, a, b);
            (self.contents[from], self.contents[to]) = (None, contents);
            pairs.push((a, b));
        }
        self.check_all(&touched, event);
        pairs
    }

    /// Returns the two slots of handover `at` if they may be exchanged between two iterations, so that the
    /// handover needs no copy. Otherwise, returns `None`.
    ///
    /// Both slots must have the same size, and so must both tensors. The body must produce the source and
    /// hand it over only once. No other handover at the end of the iteration may use either slot.
    fn exchangeable(
        &self,
        id: OperatorId,
        owner: &Owner,
        moves: &[Handover],
        at: usize,
    ) -> Option<(usize, usize)> {
        let (prepared, one) = (self.prepared, &moves[at]);
        let last = *prepared.graph.operator(id).regions.last()?;
        let between = owner.flow.control == Control::Loop && one.when == Moment::End(owner.given.len() - 1);
        if !self.options.swap || !between || one.part {
            return None;
        }
        let made = prepared.graph.producer(one.from).is_some_and(|maker| prepared.graph.home(maker) == last);
        let once = owner.flow.handovers.iter().filter(|other| other.from == one.from).count() == 1;
        let (from, to) = (one.from.index(), one.to.index());
        let (Seat { slot: a, offset }, Seat { slot: b, offset: other }) = (self.seat[from]?, self.seat[to]?);
        let alike = offset == other
            && prepared.slots[a].size == prepared.slots[b].size
            && prepared.bytes[from] == prepared.bytes[to];
        let state = owner.inside.binary_search(&to).is_ok();
        let free = |cell: Cell| self.seat[cell].is_none_or(|seat| seat.slot != a && seat.slot != b);
        let mut others = moves.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, other)| other);
        let alone = others.all(|other| free(other.from.index()) && free(other.to.index()));
        (a != b && made && once && alike && state && alone).then_some((a, b))
    }

    /// Exchanges two slots for all cells inside a loop.
    fn exchange(&mut self, owner: &Owner, a: usize, b: usize) {
        for &cell in &owner.inside {
            match &mut self.seat[cell] {
                Some(seat) if seat.slot == a => seat.slot = b,
                Some(seat) if seat.slot == b => seat.slot = a,
                _ => {}
            }
        }
    }
}
