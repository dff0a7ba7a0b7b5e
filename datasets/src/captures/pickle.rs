//! Reads pickles that contain only plain data.
//!
//! A pickle is a program for a stack machine. This reader executes only the instructions that build
//! dictionaries, lists, tuples, text and numbers, and those that repeat stored values. It accepts None, truth
//! values, floating-point numbers and bytes without storing their content. It rejects all other instructions,
//! such as those that import modules, create objects or call functions. It supports the binary protocols 2 to
//! 5.
//!
//! Values are nodes in a list and refer to each other by index. A value that occurs several times is stored
//! once, as in the file. Snapshots of `PyTorch` repeat the same stack frames in most events, and readers that
//! copy repeated values, such as `serde-pickle` 1.2, need many times as much memory. No function is
//! recursive, so deep nesting cannot overflow the stack.
//!
//! Source: `Lib/pickletools.py` of `CPython`.

use super::error::CaptureProblem;

/// The largest number of values in a pickle.
const VALUES: usize = 1 << 26;
/// The largest number of open lists, dictionaries and tuples.
const DEPTH: usize = 64;

/// The largest number of members of a dictionary that is searched.
const MEMBERS: usize = 64;

/// The index of a value.
pub(super) type Id = u32;

/// A value.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'d> {
    /// `None`, a truth value, a floating-point number, bytes, or an integer of more than 64 bits.
    Other,
    Integer(i64),
    Text(&'d str),
    /// A list or a tuple.
    List(Vec<Id>),
    /// A dictionary, as alternating keys and values.
    Map(Vec<Id>),
}

/// The values of a pickle.
#[derive(Debug)]
pub(super) struct Pickle<'d> {
    values: Vec<Value<'d>>,
    root: Id,
}

impl<'d> Pickle<'d> {
    /// Reads a pickle. Linear in its length.
    ///
    /// # Errors
    /// If an instruction is not supported or damaged, or if a limit is exceeded. The error gives the offset
    /// in bytes.
    pub(super) fn read(data: &'d [u8]) -> Result<Self, CaptureProblem> {
        let mut machine = Machine { data, at: 0, values: vec![Value::Other], ..Machine::default() };
        let root = machine.run()?;
        Ok(Self { values: machine.values, root })
    }

    /// Returns the index of the outermost value.
    pub(super) fn root(&self) -> Id {
        self.root
    }

    /// Returns the value of a key in a dictionary. If a key occurs several times, the last value counts.
    /// Dictionaries with more than 64 members are not searched: they are not part of a snapshot.
    pub(super) fn member(&self, map: Id, key: &str) -> Option<Id> {
        let Value::Map(pairs) = &self.values[map as usize] else { return None };
        if pairs.len() > 2 * MEMBERS {
            return None;
        }
        let is_key = |pair: &&[Id]| self.text(pair[0]) == Some(key);
        pairs.chunks_exact(2).rev().find(is_key).map(|pair| pair[1])
    }

    /// Returns the elements of a list or tuple; `None` for other values.
    pub(super) fn list(&self, list: Id) -> Option<&[Id]> {
        if let Value::List(list) = &self.values[list as usize] { Some(list) } else { None }
    }

    /// Returns the integer at an index; `None` for other values.
    pub(super) fn integer(&self, number: Id) -> Option<i64> {
        if let Value::Integer(number) = self.values[number as usize] { Some(number) } else { None }
    }

    /// Returns the text at an index; `None` for other values.
    pub(super) fn text(&self, text: Id) -> Option<&'d str> {
        if let Value::Text(text) = self.values[text as usize] { Some(text) } else { None }
    }

    /// Describes a value in messages.
    pub(super) fn shown(&self, value: Id) -> String {
        match &self.values[value as usize] {
            Value::Other => "another value".to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => (*text).to_owned(),
            Value::List(list) => format!("a list of {} values", list.len()),
            Value::Map(pairs) => format!("a dictionary with {} members", pairs.len() / 2),
        }
    }
}

/// The stack machine.
#[derive(Default)]
struct Machine<'d> {
    data: &'d [u8],
    /// The position of the next byte.
    at: usize,
    values: Vec<Value<'d>>,
    stack: Vec<Id>,
    /// The heights of the stack at which lists, dictionaries and tuples begin.
    marks: Vec<usize>,
    /// Values that later instructions may repeat.
    memo: Vec<Id>,
}

impl<'d> Machine<'d> {
    /// Runs the program up to the instruction STOP, and returns the value on top of the stack.
    fn run(&mut self) -> Result<Id, CaptureProblem> {
        loop {
            let at = self.at;
            let code = self.bytes(1)?[0];
            match code {
                b'.' => return self.pop(),
                // Protocol, and the length of the next frame.
                0x80 => self.skip(1)?,
                0x95 => self.skip(8)?,
                b'(' if self.marks.len() < DEPTH => self.marks.push(self.stack.len()),
                b'(' => return Err(wrong(at, "another level", "at most 64 levels of nesting")),
                // None, truth values, a floating-point number.
                b'N' | 0x88 | 0x89 => self.stack.push(0),
                b'G' => self.skip(8).map(|()| self.stack.push(0))?,
                b'K' | b'M' | b'J' | 0x8a | 0x8b => self.integer(code)?,
                b'X' | 0x8c | 0x8d => self.text(code)?,
                b'B' | b'C' | 0x8e => {
                    let length = self.length(code)?;
                    self.skip(length)?;
                    self.stack.push(0);
                }
                b'}' => self.push(Value::Map(Vec::new()))?,
                b']' | b')' => self.push(Value::List(Vec::new()))?,
                0x85..=0x87 => {
                    let all = self.stack.len().checked_sub(usize::from(code - 0x84));
                    self.tuple(all.ok_or_else(|| underflow(at))?)?;
                }
                b't' => self.mark().and_then(|mark| self.tuple(mark))?,
                b'a' | b's' => {
                    let all = self.stack.len().checked_sub(if code == b'a' { 1 } else { 2 });
                    self.extend(all.ok_or_else(|| underflow(at))?, code == b's', at)?;
                }
                b'e' | b'u' => self.mark().and_then(|mark| self.extend(mark, code == b'u', at))?,
                0x94 => self.memoize(self.memo.len(), at)?,
                b'q' | b'r' => self.number(code).and_then(|index| self.memoize(index, at))?,
                b'h' | b'j' => {
                    let index = self.number(code)?;
                    let missing =
                        || wrong(at, &format!("repeated value {index}"), "the index of a stored value");
                    self.stack.push(*self.memo.get(index).ok_or_else(missing)?);
                }
                _ => {
                    let found = format!("instruction 0x{code:02x}");
                    return Err(wrong(at, &found, "dictionaries, lists, text and numbers only"));
                }
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Result<&'d [u8], CaptureProblem> {
        let found = self.at.checked_add(count).and_then(|end| self.data.get(self.at..end));
        let found = found.ok_or_else(|| wrong(self.at, "end of the file", "more bytes"))?;
        self.at += count;
        Ok(found)
    }

    fn skip(&mut self, count: usize) -> Result<(), CaptureProblem> {
        self.bytes(count).map(|_| ())
    }

    fn push(&mut self, value: Value<'d>) -> Result<(), CaptureProblem> {
        if self.values.len() >= VALUES {
            return Err(wrong(self.at, "another value", "at most 67108864 values"));
        }
        self.stack.push(self.values.len() as Id);
        self.values.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Id, CaptureProblem> {
        self.stack.pop().ok_or_else(|| underflow(self.at))
    }

    /// Removes the latest mark, and returns the height of the stack at that mark.
    fn mark(&mut self) -> Result<usize, CaptureProblem> {
        self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(|| underflow(self.at))
    }

    /// Reads an unsigned number of 1, 2, 4 or 8 bytes, in little-endian order.
    fn unsigned(&mut self, bytes: usize) -> Result<u64, CaptureProblem> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Reads the index of an instruction that stores or repeats a value.
    fn number(&mut self, code: u8) -> Result<usize, CaptureProblem> {
        let bytes = if matches!(code, b'q' | b'h') { 1 } else { 4 };
        self.unsigned(bytes).map(|number| number as usize)
    }

    /// Reads the length of a text, of bytes or of a long integer.
    fn length(&mut self, code: u8) -> Result<usize, CaptureProblem> {
        let bytes = match code {
            0x8c | b'C' | 0x8a => 1,
            0x8d | 0x8e => 8,
            _ => 4,
        };
        self.unsigned(bytes).map(|length| usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn integer(&mut self, code: u8) -> Result<(), CaptureProblem> {
        let length = match code {
            b'K' => 1,
            b'M' => 2,
            b'J' => 4,
            _ => self.length(code)?,
        };
        if length > 8 {
            self.skip(length)?;
            self.stack.push(0);
            return Ok(());
        }
        let number = self.unsigned(length)? as i64;
        let unused = 64 - 8 * length as u32;
        let is_signed = !matches!(code, b'K' | b'M') && length > 0;
        self.push(Value::Integer(if is_signed { number << unused >> unused } else { number }))
    }

    fn text(&mut self, code: u8) -> Result<(), CaptureProblem> {
        let length = self.length(code)?;
        let at = self.at;
        let text = std::str::from_utf8(self.bytes(length)?);
        self.push(Value::Text(text.map_err(|_| wrong(at, "bytes that are not UTF-8", "UTF-8 text"))?))
    }

    /// Replaces the values at and above a height of the stack with a tuple.
    fn tuple(&mut self, height: usize) -> Result<(), CaptureProblem> {
        let elements = self.stack.split_off(height);
        self.push(Value::List(elements))
    }

    /// Moves the values at and above a height of the stack into the list or dictionary below them.
    fn extend(&mut self, height: usize, is_map: bool, at: usize) -> Result<(), CaptureProblem> {
        let added = height..self.stack.len();
        let target = height.checked_sub(1).map(|below| self.stack[below] as usize);
        match target.map(|target| &mut self.values[target]) {
            Some(Value::Map(all)) if is_map && added.len() % 2 == 0 => all.extend(self.stack.drain(added)),
            Some(Value::List(all)) if !is_map => all.extend(self.stack.drain(added)),
            _ => return Err(wrong(at, "another value", "a list or dictionary to be extended")),
        }
        Ok(())
    }

    /// Stores the value on top of the stack. Indices are consecutive.
    fn memoize(&mut self, index: usize, at: usize) -> Result<(), CaptureProblem> {
        let &top = self.stack.last().ok_or_else(|| underflow(at))?;
        if index > self.memo.len() {
            return Err(wrong(at, &format!("index {index}"), "consecutive indices of stored values"));
        }
        self.memo.resize(self.memo.len().max(index + 1), top);
        self.memo[index] = top;
        Ok(())
    }
}

fn wrong(at: usize, found: &str, expected: &'static str) -> CaptureProblem {
    CaptureProblem::at(format!("byte {at}"), found, expected)
}

fn underflow(at: usize) -> CaptureProblem {
    wrong(at, "an instruction without operand", "a value on the stack")
}
