//! The buffers of an instance, read from CSV, and the definition of a conflict.

use crate::error::InstanceError;
use std::collections::{HashMap, HashSet};

/// A block of memory to be placed.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// Size in bytes.
    pub size: i128,
    /// The offset must be a multiple of this number of bytes.
    pub alignment: i128,
    /// The required offset in bytes, if any.
    pub fixed: Option<i128>,
    /// The disjoint half-open intervals of steps at which the buffer is live, in ascending order.
    pub live: Vec<(u64, u64)>,
}

/// The buffers of an instance, and the pairs whose conflicts do not depend on lifespans.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) by_id: HashMap<String, usize>,
    separated: HashSet<(usize, usize)>,
    excluded: HashSet<(usize, usize)>,
    paired: HashSet<usize>,
    /// Number of intervals of all lifespans.
    pub(crate) intervals: usize,
    /// Length of the text in bytes.
    pub(crate) length: usize,
}

/// The column names that the checker accepts, each with the column that it denotes. A file that uses other
/// names for these columns must be converted with `plimsoll convert`.
const COLUMNS: [(&str, &str); 14] = [
    ("id", "id"),
    ("buffer", "id"),
    ("buffer_id", "id"),
    ("lower", "lower"),
    ("begin", "lower"),
    ("start", "lower"),
    ("upper", "upper"),
    ("end", "end"),
    ("size", "size"),
    ("alignment", "alignment"),
    ("gaps", "gaps"),
    ("offset", "offset"),
    ("separations", "separations"),
    ("exclusions", "exclusions"),
];

impl Instance {
    /// Reads an instance from CSV. The columns are `id`, `lower`, `upper`, `size` and optionally `alignment`,
    /// `gaps`, `offset`, `separations` and `exclusions`, in any order. If the file has a column `end` instead
    /// of `upper`, the ends of lifespans and gaps are inclusive: each is the last step, not the step after
    /// it. Other columns, such as capacities and hints, are ignored. Takes O(n log n) time for n bytes of
    /// text.
    ///
    /// # Errors
    /// Returns the number of the first invalid line and the reason.
    pub fn from_csv(text: &str) -> Result<Self, InstanceError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut rows = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let (line, head) = rows.next().ok_or_else(|| fail(1, "the file is empty"))?;
        let mut columns: HashMap<&str, usize> = HashMap::new();
        for (at, name) in fields(line, head)?.iter().enumerate() {
            let known = COLUMNS.iter().find(|(written, _)| written == name);
            if let Some(&(_, column)) = known
                && columns.insert(column, at).is_some()
            {
                return Err(fail(line, &format!("column '{column}' occurs twice")));
            }
        }
        let inclusive = columns.contains_key("end");
        if inclusive && columns.contains_key("upper") {
            return Err(fail(line, "columns 'upper' and 'end' exclude each other"));
        }
        let upper = if inclusive { "end" } else { "upper" };
        if let Some(missing) =
            ["id", "lower", upper, "size"].iter().find(|name| !columns.contains_key(**name))
        {
            return Err(fail(line, &format!("column '{missing}' is missing")));
        }
        let mut instance = Self { length: text.len(), ..Self::default() };
        let mut pairs = Vec::new();
        for (line, row) in rows {
            let fields = fields(line, row)?;
            let field =
                |name: &str| columns.get(name).and_then(|&at| fields.get(at)).map_or("", String::as_str);
            let number = |name: &str| -> Result<u64, InstanceError> {
                parse(field(name))
                    .ok_or_else(|| fail(line, &format!("'{}' is not a valid {name}", field(name))))
            };
            let (lower, upper) = (number("lower")?, number(upper)?.saturating_add(u64::from(inclusive)));
            let alignment = if field("alignment").is_empty() { 1 } else { number("alignment")? };
            let offset = field("offset");
            let buffer = Buffer {
                size: number("size")?.into(),
                alignment: alignment.into(),
                fixed: if offset.is_empty() { None } else { Some(number("offset")?.into()) },
                live: live(lower, upper, field("gaps"), inclusive)
                    .ok_or_else(|| fail(line, &format!("'{}' is not a list of gaps", field("gaps"))))?,
            };
            if alignment == 0 {
                return Err(fail(line, "the alignment is 0"));
            }
            let position = instance.buffers.len();
            if instance.by_id.insert(field("id").to_owned(), position).is_some() {
                return Err(fail(line, &format!("id '{}' occurs twice", field("id"))));
            }
            instance.intervals += buffer.live.len();
            instance.buffers.push(buffer);
            for (column, separated) in [("separations", true), ("exclusions", false)] {
                let ids = field(column).split_ascii_whitespace();
                pairs.extend(ids.map(|id| (line, position, decode(id), separated)));
            }
        }
        for (line, a, id, separated) in pairs {
            let b = instance
                .by_id
                .get(&id)
                .copied()
                .ok_or_else(|| fail(line, &format!("there is no buffer '{id}'")))?;
            let pair = (a.min(b), a.max(b));
            if separated {
                instance.separated.insert(pair)
            } else {
                instance.excluded.insert(pair)
            };
            instance.paired.extend([a, b]);
        }
        Ok(instance)
    }

    /// Returns the number of buffers.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Returns true if there are no buffers.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Returns true if the two buffers must not share an address.
    pub(crate) fn conflict(&self, a: usize, b: usize) -> bool {
        let pair = (a.min(b), a.max(b));
        let (x, y) = (&self.buffers[a], &self.buffers[b]);
        if a == b || x.size == 0 || y.size == 0 {
            return false;
        }
        if !self.paired.is_empty() && self.separated.contains(&pair) {
            return true;
        }
        meet(&x.live, &y.live) && !(self.paired.contains(&a) && self.excluded.contains(&pair))
    }

    /// Returns the number of units of work of [`Instance::conflict`].
    pub(crate) fn work(&self, a: usize, b: usize) -> usize {
        4 + self.buffers[a].live.len() + self.buffers[b].live.len()
    }

    /// Returns true if a common step shows that these buffers conflict pairwise. They must differ and must not
    /// have size 0. False means that they may conflict or not. Takes O(k) time for k intervals.
    pub(crate) fn share_a_step(&self, buffers: &[usize]) -> bool {
        let first = |&at: &usize| self.buffers[at].live.first().map(|interval| interval.0);
        let Some(step) = buffers.iter().filter_map(first).max() else { return false };
        let is_live = |&at: &usize| self.buffers[at].live.iter().any(|&(s, e)| s <= step && step < e);
        self.excluded.is_empty() && buffers.iter().all(is_live)
    }
}

/// Returns true if two lists of disjoint intervals in ascending order have a common step. Takes O(k) time for k
/// intervals in total.
fn meet(mut a: &[(u64, u64)], mut b: &[(u64, u64)]) -> bool {
    while let (Some(p), Some(q)) = (a.first(), b.first()) {
        if p.0 < q.1 && q.0 < p.1 {
            return true;
        }
        if p.1 <= q.1 {
            a = &a[1..];
        } else {
            b = &b[1..];
        }
    }
    false
}

fn fail(line: u64, reason: &str) -> InstanceError {
    InstanceError { line, reason: reason.to_owned() }
}

/// Parses a number that consists of digits only.
fn parse(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Splits a row into its fields. A field can be quoted. A quoted field cannot contain a line break.
fn fields(line: u64, row: &str) -> Result<Vec<String>, InstanceError> {
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        let mut field = String::new();
        let end = if let Some(mut quoted) = rest.trim_start().strip_prefix('"') {
            loop {
                let at = quoted.find('"').ok_or_else(|| fail(line, "a quotation mark is missing"))?;
                field.push_str(&quoted[..at]);
                quoted = &quoted[at + 1..];
                let Some(more) = quoted.strip_prefix('"') else { break };
                field.push('"');
                quoted = more;
            }
            let end = quoted.find(',').unwrap_or(quoted.len());
            if !quoted[..end].trim().is_empty() {
                return Err(fail(line, "text follows a quoted field"));
            }
            quoted.get(end + 1..)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            field.push_str(&rest[..end]);
            rest.get(end + 1..)
        };
        fields.push(field.trim().to_owned());
        match end {
            Some(more) => rest = more,
            None => return Ok(fields),
        }
    }
}

/// Returns the intervals between `lower` and `upper` that remain after the gaps are removed, or `None` if the
/// gaps cannot be read.
fn live(lower: u64, upper: u64, gaps: &str, inclusive: bool) -> Option<Vec<(u64, u64)>> {
    let mut away = Vec::new();
    for gap in gaps.split_ascii_whitespace() {
        let (from, to) = gap.split_once('-')?;
        away.push((parse(from)?, parse(to)?.saturating_add(u64::from(inclusive))));
    }
    away.sort_unstable();
    let (mut live, mut from) = (Vec::new(), lower);
    for (start, end) in away.into_iter().chain([(upper, upper)]) {
        if from < start.min(upper) {
            live.push((from, start.min(upper)));
        }
        from = from.max(end);
    }
    Some(live)
}

/// Decodes `%XX` in an id where it encodes a percent sign or ASCII whitespace.
pub(crate) fn decode(text: &str) -> String {
    let mut id = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if b"% \t\n\x0c\r".contains(&byte) => {
                id.push(byte);
                at += 3;
            }
            _ => {
                id.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&id).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_removed() {
        assert_eq!(live(0, 9, "2-4 6-7", false), Some(vec![(0, 2), (4, 6), (7, 9)]));
        assert_eq!(live(0, 9, "2-3 8-20", true), Some(vec![(0, 2), (4, 8)]));
        assert_eq!(live(3, 3, "", false), Some(vec![]));
        assert_eq!(live(0, 9, "2", false), None);
    }

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(fields(1, "a, \"b,\"\"c\" ,,d").unwrap(), ["a", "b,\"c", "", "d"]);
        assert!(fields(1, "\"a").is_err() && fields(1, "\"a\"b,c").is_err());
    }

    #[test]
    fn conflicts_follow_lifespans_and_pairs() {
        let text = "id,lower,upper,size,gaps,separations,exclusions\n\
                    a,0,9,4,2-5,,d\nb,2,5,4,,,\nc,8,9,1,,b,\nd,0,9,1,,,\ne,0,9,0,,,\n";
        let t = Instance::from_csv(text).unwrap();
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let found: Vec<_> = pairs.filter(|&(a, b)| t.conflict(a, b) && t.conflict(b, a)).collect();
        assert_eq!(found, [(0, 2), (1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn bad_rows_are_rejected_with_their_line() {
        let error = |text: &str| Instance::from_csv(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 1: the file is empty");
        assert_eq!(error("id,lower,size\n"), "line 1: column 'upper' is missing");
        assert_eq!(error("id,lower,upper,size\na,0,1,-4\n"), "line 2: '-4' is not a valid size");
        assert_eq!(error("id,lower,upper,size\na,0,1,4\na,0,1,4\n"), "line 3: id 'a' occurs twice");
        assert_eq!(error("id,lower,upper,size,separations\na,0,1,4,b\n"), "line 2: there is no buffer 'b'");
    }
}
