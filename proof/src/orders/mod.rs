//! Checks proofs that no topological order of operators has a peak below a bound.

mod part;
mod problem;

use crate::error::{CheckError, Reason};
use crate::instance::decode;
use crate::words::{Lines, Words};
use crate::work::Work;
use part::{Part, Set, add, empty, has, size};
pub use problem::OrderProblem;
use problem::operator;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

/// Maximum size in bytes of the sets that are not yet refuted.
const MOST_BYTES: usize = 1 << 30;

/// Maximum number of predecessors and successors that are kept.
const MOST_REACH: usize = 1 << 26;

/// The content of an accepted section of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderProved {
    /// Name of the region.
    pub region: String,
    /// The problem to which the bound applies.
    pub problem: OrderProblem,
    /// The proved bound in bytes: no order of the problem has a lower peak.
    pub bound: u64,
    /// Number of refuted sets.
    pub sets: u64,
}

/// Checks a proof of lower bounds on the peaks of orders, one per region.
///
/// # Format
/// ```text
/// plimsoll-proof 1 orders         the first line
/// region NAME                     starts a section; a blank in the name is written %20
/// operator S I ...                the next operator, 0, 1, 2 ...: S bytes of scratch; it runs after I ...
/// storage S [start] [end] I ...   S bytes, live from the first to the last of the users I ...
/// bound B                         the claim: no order has a peak below B bytes
/// drop I ...                      these operators are removed; the proof is about the others
/// skip I ...                      these operators run first; the proof is about the others
/// keep I ...                      these operators run first; the proof is about these
/// reverse                         time runs backwards
/// held                            proves the claim: the storages held at one end have B bytes
/// ```
///
/// Each of the other statements refutes a *downset*, which is a set of operators with all their predecessors.
/// The first statement refutes the empty set. Each further statement refutes the smallest downset that has
/// been added and not yet refuted. Among downsets of equal size, it refutes the downset with the smallest sum
/// of `2^I` over its operators `I`. If no downset remains, the claim is proved.
///
/// ```text
/// e             for every operator that can run next below B bytes, adds the downset after it
/// r G ...       adds the downset after the groups G ... (numbers joined by +), which may run next
/// x I           operator I has not run, and needs B bytes whenever it runs
/// ```
///
/// # Soundness
/// Let `live(D)` be the bytes live after the downset `D`. This function is submodular, and so are the bytes
/// live while a given operator runs. A downset is completable if the other operators can run after it with
/// fewer than `B` live bytes. If a refuted downset is completable, at least one of the downsets added for it
/// is completable. Each added downset is larger, and the set of all operators is never added. Therefore, no
/// order has a peak below `B` bytes.
/// - `r`: let `W` be a group, and let no downset between `D` and `D + W` have fewer live bytes than `D + W`.
///   If the downsets `D_i` of an order complete `D`, then the downsets `D_i + W` complete `D + W`, because
///   `live(D_i + W) <= live(D_i) + live(D + W) - live(D_i and (D + W)) <= live(D_i)`. The same holds while
///   each operator runs.
/// - `x`: a storage counts if it has begun and is still needed. It has begun by then if it is held from the
///   start, or if the downset, the operator or one of its predecessors uses it. It is still needed if it is
///   held to the end, or if the operator or one of its successors uses it.
/// - `skip`: let `M` be the listed operators, and let `L` be the operators of `M` that precede all operators
///   outside `M`. Let no downset between `L` and `M` have fewer live bytes than `M`. Once an operator outside
///   `M` runs, the downsets `D_i` of an order contain `L`. The downsets `D_i + M` then complete `M`, as for
///   `r`.
/// - `keep`: the same with time reversed, for the operators that are not kept.
/// - `drop`: an order of all operators contains an order of the others. Each storage keeps its users among
///   them, so it is live at no step at which it was not live before. A storage that loses all its users
///   counts only if it is held throughout.
/// - `reverse`: a reversed order has the same peak.
///
/// # Complexity
/// The time of a statement is at most proportional to the size of the remaining problem times the number of
/// downsets that it adds or compares. The number of compared downsets is limited. Memory is proportional to
/// the size of the problem and of the downsets that are not yet refuted. These downsets are limited to 1 GiB.
///
/// **Source.** Downsets as states follow Ahn et al. 2020 (SERENITY), and `r` generalises the hills and
/// valleys of Liu 1987. The other rules were developed in this project.
///
/// # Errors
/// If a line is invalid or does not follow from the lines before it, returns its number and the reason. If
/// the proof is incomplete, returns the number of the line after the last one. Returns
/// [`Reason::TooMuchWork`] if the check needs more work than a file of this length may cause, and
/// [`Reason::Stopped`] soon after `stop` has returned true.
pub fn check_orders(proof: impl BufRead, stop: &dyn Fn() -> bool) -> Result<Vec<OrderProved>, CheckError> {
    let work = Work::new(stop);
    let mut lines = Lines::new(proof, &work);
    let result = follow(&mut lines);
    result.map_err(|reason| CheckError { line: lines.line, reason })
}

/// The first line of a proof.
const HEADER: &str = "plimsoll-proof 1 orders";

fn follow<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<Vec<OrderProved>, Reason> {
    if !lines.next()? || !lines.words().rest().eq(HEADER.split(' ')) {
        return Err(Reason::Header(HEADER));
    }
    let mut proved = Vec::new();
    while lines.next()? {
        proved.push(section(lines)?);
    }
    if proved.is_empty() { Err(Reason::Incomplete) } else { Ok(proved) }
}

/// Reads a section, whose first line has been read, up to the line that completes its proof.
fn section<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<OrderProved, Reason> {
    let mut words = lines.words();
    if words.word("region")? != "region" {
        return Err(Reason::TextAfterProof);
    }
    let region = decode(words.word("a name")?);
    words.end()?;
    let mut problem = OrderProblem::default();
    loop {
        if !lines.next()? {
            return Err(Reason::Incomplete);
        }
        if !problem.statement(lines.words())? {
            break;
        }
    }
    problem.check()?;
    let mut words = lines.words();
    let bound = words.word("bound").ok().filter(|&word| word == "bound").and_then(|_| words.number("").ok());
    let bound: u64 = bound.filter(|&bound| bound > 0).ok_or(Reason::Bound)?;
    words.end().map_err(|_| Reason::Bound)?;
    let mut cover = Cover {
        work: lines.work,
        part: Part::of(&problem),
        bound: bound.into(),
        pending: None,
        reach: HashMap::new(),
        sets: 0,
    };
    loop {
        if !lines.next()? {
            return Err(Reason::Incomplete);
        }
        let mut words = lines.words();
        let statement = words.word("a statement")?;
        if statement == "held" {
            words.end()?;
            let most = problem.held(|s| s.from_start).max(problem.held(|s| s.to_end));
            cover.exceeds(most)?;
            break;
        }
        if cover.statement(statement, words)? {
            break;
        }
    }
    Ok(OrderProved { region, problem, bound, sets: cover.sets })
}

/// The downsets that remain to be refuted. If an order stays below the bound, one of them is completable.
struct Cover<'a> {
    work: &'a Work<'a>,
    part: Part,
    bound: u128,
    /// The sets that are not yet refuted, by size; `None` before the first set is added.
    pending: Option<Pending>,
    /// The predecessors and successors of operators.
    reach: HashMap<u32, [Vec<bool>; 2]>,
    sets: u64,
}

#[derive(Default)]
struct Pending {
    by_size: BTreeMap<usize, BTreeSet<Set>>,
    count: usize,
}

impl Cover<'_> {
    /// Processes one statement. Returns true if all sets are refuted.
    fn statement(&mut self, statement: &str, words: Words<'_>) -> Result<bool, Reason> {
        match statement {
            "drop" | "skip" | "keep" if self.pending.is_none() => {
                let mut named = vec![false; self.part.len()];
                for word in words.rest() {
                    named[self.operator(word)?] = true;
                }
                self.part = if statement == "drop" {
                    self.work.spend(self.part.size)?;
                    self.part.without(&named)
                } else {
                    self.part.clone().cut(&named, statement == "skip", self.work)?
                };
                return Ok(false);
            }
            "reverse" if self.pending.is_none() => {
                words.end()?;
                self.work.spend(self.part.size)?;
                self.part = self.part.clone().reversed();
                self.pending = Some(Pending::default());
                self.add(empty(self.part.len()))?;
                return Ok(false);
            }
            "drop" | "skip" | "keep" | "reverse" => return Err(Reason::Misplaced("a cut")),
            _ => {}
        }
        if self.pending.is_none() {
            self.pending = Some(Pending::default());
            self.add(empty(self.part.len()))?;
        }
        let ran = self.take().ok_or(Reason::Incomplete)?;
        self.sets += 1;
        // Each statement visits the whole problem, which takes about a nanosecond per operator or user.
        self.work.spend(self.part.size / 4)?;
        match statement {
            "e" => {
                words.end()?;
                for (at, bytes) in self.part.steps(&ran) {
                    if bytes < self.bound {
                        let mut next = ran.clone();
                        add(&mut next, at as usize);
                        self.add(next)?;
                    }
                }
            }
            "r" => self.commit(ran, words)?,
            "x" => self.needs(&ran, words)?,
            other => return Err(Reason::UnknownStatement(other.to_owned())),
        }
        Ok(self.pending.as_ref().is_none_or(|pending| pending.count == 0))
    }

    /// Parses the number of an operator in the problem, and returns its number in the part.
    fn operator(&self, word: &str) -> Result<usize, Reason> {
        let id = operator(word)?;
        self.part.ids.binary_search(&id).map_err(|_| Reason::UnknownOperator(id))
    }

    fn exceeds(&self, needed: u128) -> Result<(), Reason> {
        if needed >= self.bound {
            return Ok(());
        }
        let bytes = |bytes: u128| i128::try_from(bytes).unwrap_or(i128::MAX);
        Err(Reason::EnoughSpace { needed: bytes(needed), capacity: bytes(self.bound) - 1 })
    }

    /// Removes and returns the set with the fewest operators. Of sets of equal size, this is the one with
    /// the lowest binary number.
    fn take(&mut self) -> Option<Set> {
        let pending = self.pending.as_mut()?;
        let mut first = pending.by_size.first_entry()?;
        let set = first.get_mut().pop_first()?;
        if first.get().is_empty() {
            first.remove();
        }
        pending.count -= 1;
        Some(set)
    }

    /// Adds a set to those that must be refuted. Fails if it contains all operators.
    fn add(&mut self, set: Set) -> Result<(), Reason> {
        let (size, words) = (size(&set), set.len());
        self.work.spend(16 + words)?;
        if size == self.part.len() {
            return Err(Reason::Completes);
        }
        let pending = self.pending.get_or_insert_default();
        pending.count += usize::from(pending.by_size.entry(size).or_default().insert(set));
        let most = MOST_BYTES / (8 * words + 64);
        if pending.count > most { Err(Reason::TooManyPending(most)) } else { Ok(()) }
    }

    /// `r`: runs groups of operators without alternatives.
    fn commit(&mut self, mut ran: Set, words: Words<'_>) -> Result<(), Reason> {
        let before = size(&ran);
        let mut seen = self.part.seen(|at| has(&ran, at));
        for word in words.rest() {
            let group = word.split('+').map(|word| Ok(self.operator(word)? as u32));
            let group = group.collect::<Result<Vec<u32>, Reason>>()?;
            self.part.is_least(&seen, &group, |at| has(&ran, at), self.work)?;
            for &at in &group {
                add(&mut ran, at as usize);
                self.part.count(&mut seen, at);
            }
        }
        if size(&ran) == before { Err(Reason::MissingWord("operators")) } else { self.add(ran) }
    }

    /// `x`: refutes a set, because a remaining operator needs too many bytes.
    fn needs(&mut self, ran: &Set, mut words: Words<'_>) -> Result<(), Reason> {
        let at = self.operator(words.word("the number of an operator")?)?;
        words.end()?;
        if has(ran, at) {
            return Err(Reason::NotReady(self.part.ids[at]));
        }
        if self.reach.len() * self.part.len() > MOST_REACH {
            self.reach.clear();
        }
        let reach = self.reach.entry(at as u32).or_insert_with(|| self.part.reach(at));
        let needed = self.part.needed(ran, at, reach);
        self.exceeds(needed)
    }
}
