//! Operators with precedences, and the memory that they use, as a proof states them.

use crate::error::{CheckError, Reason};
use crate::words::{Lines, Words, number};
use crate::work::Work;

/// Memory that is live from its first to its last use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    pub size: u64,
    pub from_start: bool,
    pub to_end: bool,
    /// The users in ascending order.
    pub users: Vec<u32>,
}

/// Operators with precedences, and the memory that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderProblem {
    /// Per operator: the bytes that it needs only while it runs.
    pub(super) scratch: Vec<u64>,
    /// Per operator: the operators that must run before it.
    pub(super) before: Vec<Vec<u32>>,
    pub(super) storages: Vec<Storage>,
}

impl OrderProblem {
    /// Reads the statements `operator` and `storage` in linear time.
    ///
    /// # Errors
    /// Returns the number of the first invalid line and the reason.
    pub fn from_text(text: &str) -> Result<Self, CheckError> {
        let work = Work::new(&|| false);
        let mut lines = Lines::new(text.as_bytes(), &work);
        let mut problem = Self::default();
        let mut read = || -> Result<(), Reason> {
            while lines.next()? {
                if !problem.statement(lines.words())? {
                    return Err(Reason::UnknownStatement(
                        lines.words().rest().next().unwrap_or_default().to_owned(),
                    ));
                }
            }
            problem.check()
        };
        let result = read();
        result.map_err(|reason| CheckError { line: lines.line, reason })?;
        Ok(problem)
    }

    /// Returns the number of operators.
    pub fn len(&self) -> usize {
        self.scratch.len()
    }

    /// Returns true if there are no operators.
    pub fn is_empty(&self) -> bool {
        self.scratch.is_empty()
    }

    /// Reads a statement that describes the problem. Returns false if it is another statement.
    pub(super) fn statement(&mut self, mut words: Words<'_>) -> Result<bool, Reason> {
        match words.word("a statement")? {
            "operator" => {
                self.scratch.push(words.number("a number of bytes")?);
                self.before.push(words.rest().map(operator).collect::<Result<_, _>>()?);
            }
            "storage" => {
                let size = words.number("a number of bytes")?;
                let mut rest = words.rest().peekable();
                let from_start = rest.next_if_eq(&"start").is_some();
                let to_end = rest.next_if_eq(&"end").is_some();
                let users = rest.map(operator).collect::<Result<Vec<u32>, _>>()?;
                if !users.is_sorted_by(|a, b| a < b) {
                    return Err(Reason::NotAscending);
                }
                self.storages.push(Storage { size, from_start, to_end, users });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks that all operators that occur are declared.
    pub(super) fn check(&self) -> Result<(), Reason> {
        let mut named = self.before.iter().chain(self.storages.iter().map(|s| &s.users)).flatten();
        match named.find(|&&at| at as usize >= self.len()) {
            Some(&at) => Err(Reason::UnknownOperator(at)),
            None => Ok(()),
        }
    }

    /// Returns the total size, in bytes, of the storages for which `counts` returns true.
    pub(super) fn held(&self, counts: impl Fn(&Storage) -> bool) -> u128 {
        self.storages.iter().filter(|s| counts(s)).map(|s| u128::from(s.size)).sum()
    }
}

/// Parses the number of an operator.
pub(super) fn operator(word: &str) -> Result<u32, Reason> {
    number(word, "the number of an operator")
}
