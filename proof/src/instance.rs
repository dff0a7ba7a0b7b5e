//! The buffers of an instance, read from CSV, and the definition of a conflict.

use crate::error::InstanceError;
use crate::groups::{Above, base, distances};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A block of memory to be placed.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// Size in bytes.
    pub size: i128,
    /// The offset minus the residue must be a multiple of this number of bytes.
    pub alignment: i128,
    /// The offset modulo the alignment, in bytes. It is 0 outside of rigid groups.
    pub residue: i128,
    /// The required offset in bytes, if any.
    pub fixed: Option<i128>,
    /// The rigid group, given by the position of its root, and the distance from the root in bytes. A group
    /// has no fixed members, because the fixed offset of one member determines those of the others.
    pub group: Option<(usize, i128)>,
    /// The number of bytes by which a member of the rigid group ends above this buffer.
    pub over: i128,
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
const COLUMNS: [(&str, &str); 16] = [
    ("id", "id"),
    ("buffer", "id"),
    ("buffer_id", "id"),
    ("lower", "lower"),
    ("begin", "lower"),
    ("start", "lower"),
    ("upper", "upper"),
    ("end", "end"),
    ("finish", "end"),
    ("size", "size"),
    ("alignment", "alignment"),
    ("gaps", "gaps"),
    ("offset", "offset"),
    ("separations", "separations"),
    ("exclusions", "exclusions"),
    ("above", "above"),
];

impl Instance {
    /// Reads an instance from CSV. The columns are `id`, `lower`, `upper`, `size` and optionally `alignment`,
    /// `gaps`, `offset`, `separations`, `exclusions` and `above`, in any order. If the file has a column
    /// `end` instead of `upper`, the ends of lifespans and gaps are inclusive: each is the last step, not the
    /// step after it. An end that is -1, empty, `inf`, `nan`, `none` or `null` is open: the buffer is live
    /// until the last step of the file. Other columns, such as capacities and hints, are ignored. Takes O(n
    /// log n) time for n bytes of text.
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
        let (mut pairs, mut above) = (Vec::new(), Vec::new());
        let mut spans: Vec<Span> = Vec::new();
        for (line, row) in rows {
            let fields = fields(line, row)?;
            let field =
                |name: &str| columns.get(name).and_then(|&at| fields.get(at)).map_or("", String::as_str);
            let number = |name: &str| -> Result<u64, InstanceError> {
                parse(field(name))
                    .ok_or_else(|| fail(line, &format!("'{}' is not a valid {name}", field(name))))
            };
            let has_end = fields.len() > columns[upper];
            let end = if has_end && is_open(field(upper)) { None } else { Some(number(upper)?) };
            let gaps = gaps(field("gaps"), inclusive)
                .ok_or_else(|| fail(line, &format!("'{}' is not a list of gaps", field("gaps"))))?;
            let upper = end.map(|end| end.saturating_add(u64::from(inclusive)));
            spans.push(Span { lower: number("lower")?, upper, gaps });
            let alignment = if field("alignment").is_empty() { 1 } else { number("alignment")? };
            let offset = field("offset");
            let buffer = Buffer {
                size: number("size")?.into(),
                alignment: alignment.into(),
                residue: 0,
                group: None,
                over: 0,
                fixed: if offset.is_empty() { None } else { Some(number("offset")?.into()) },
                live: Vec::new(),
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
            if !field("above").is_empty() {
                let (id, distance) = field("above")
                    .rsplit_once('+')
                    .and_then(|(id, distance)| Some((decode(id), parse(distance)?)))
                    .ok_or_else(|| fail(line, &format!("'{}' is not a distance", field("above"))))?;
                above.push((line, position, id, distance.into()));
            }
            for (column, separated) in [("separations", true), ("exclusions", false)] {
                let ids = field(column).split_ascii_whitespace();
                pairs.extend(ids.map(|id| (line, position, decode(id), separated)));
            }
        }
        let last = spans.iter().map(Span::last).max().unwrap_or(0);
        for (buffer, span) in instance.buffers.iter_mut().zip(spans) {
            buffer.live = span.live(last);
        }
        let by_id = instance.by_id.clone();
        let known = |line, id: String| {
            by_id.get(&id).copied().ok_or_else(|| fail(line, &format!("there is no buffer '{id}'")))
        };
        for (line, a, id, separated) in pairs {
            let b = known(line, id)?;
            let pair = (a.min(b), a.max(b));
            if separated {
                instance.separated.insert(pair)
            } else {
                instance.excluded.insert(pair)
            };
            instance.paired.extend([a, b]);
        }
        let above = above
            .into_iter()
            .map(|(line, upper, id, distance)| Ok(Above { line, upper, lower: known(line, id)?, distance }));
        instance.tie(&above.collect::<Result<Vec<Above>, InstanceError>>()?)?;
        Ok(instance)
    }

    /// Combines buffers into rigid groups, and fixes all members of a group with a fixed member.
    fn tie(&mut self, above: &[Above]) -> Result<(), InstanceError> {
        let distances = distances(self.buffers.len(), above)?;
        let mut groups: BTreeMap<usize, Vec<(usize, i128)>> = BTreeMap::new();
        for (at, place) in distances.into_iter().enumerate() {
            if let Some((root, distance)) = place {
                groups.entry(root).or_default().push((at, distance));
            }
        }
        let line = |root: usize| above.iter().find(|one| one.lower == root).map_or(1, |one| one.line);
        for (root, members) in groups {
            let fixed = |&(at, distance): &(usize, i128)| Some(self.buffers[at].fixed? - distance);
            let fixed = members.iter().find_map(fixed);
            let conditions: Vec<_> =
                members.iter().map(|&(at, distance)| (self.buffers[at].alignment, distance)).collect();
            let Some((alignment, residue)) = base(&conditions) else {
                return Err(fail(line(root), "the alignments of a rigid group exclude each other"));
            };
            let end = |&(at, distance): &(usize, i128)| match self.buffers[at].size {
                0 => 0,
                size => distance + size,
            };
            let extent = members.iter().map(end).max().unwrap_or(0);
            for (at, distance) in members {
                let buffer = &mut self.buffers[at];
                if let Some(base) = fixed {
                    let offset = base + distance;
                    let apart = buffer.fixed.is_some_and(|own| own != offset);
                    if base < 0 || apart || offset % buffer.alignment != 0 {
                        return Err(fail(line(root), "the fixed offsets do not allow the distances"));
                    }
                    buffer.fixed = Some(offset);
                } else {
                    buffer.group = Some((root, distance));
                    (buffer.alignment, buffer.residue) = (alignment, (residue + distance) % alignment);
                    buffer.over = extent - distance - buffer.size;
                }
            }
        }
        Ok(())
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

    /// Returns true if a common step shows that these buffers conflict pairwise. They must differ and must
    /// not have size 0. False means that they may conflict or not. Takes O(k) time for k intervals.
    pub(crate) fn share_a_step(&self, buffers: &[usize]) -> bool {
        let first = |&at: &usize| self.buffers[at].live.first().map(|interval| interval.0);
        let Some(step) = buffers.iter().filter_map(first).max() else { return false };
        let is_live = |&at: &usize| self.buffers[at].live.iter().any(|&(s, e)| s <= step && step < e);
        self.excluded.is_empty() && buffers.iter().all(is_live)
    }
}

/// Returns true if two lists of disjoint intervals in ascending order have a common step. Takes O(k) time for
/// k intervals in total.
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

/// Parses a number: decimal digits, optionally with a fraction of zeros, or hexadecimal digits after `0x`.
fn parse(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((whole(text), 10), |digits| (digits, 16));
    let is_plain = digits.chars().all(|digit| digit.is_digit(radix));
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

/// Returns a number without its fraction if the fraction consists of zeros.
fn whole(text: &str) -> &str {
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    }
}

/// Returns true if an end is open, so that the buffer is live until the last step of the file.
fn is_open(end: &str) -> bool {
    let end = end.to_ascii_lowercase();
    matches!(whole(&end), "-1" | "" | "none" | "null" | "nan" | "inf" | "+inf" | "infinity")
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

/// The lifespan of a buffer as the file states it.
struct Span {
    lower: u64,
    /// The first step after the lifespan; `None` if the end is open.
    upper: Option<u64>,
    gaps: Vec<(u64, u64)>,
}

impl Span {
    /// Returns the first step after the lifespan. An open lifespan has at least one step after its start and
    /// after each of its gaps.
    fn last(&self) -> u64 {
        let start = self.gaps.iter().map(|&(_, end)| end).chain([self.lower]).max().unwrap_or(0);
        self.upper.unwrap_or_else(|| start.saturating_add(1))
    }

    /// Returns the intervals that remain after the gaps are removed. An open end is `last`.
    fn live(mut self, last: u64) -> Vec<(u64, u64)> {
        let upper = self.upper.unwrap_or(last);
        self.gaps.sort_unstable();
        let (mut live, mut from) = (Vec::new(), self.lower);
        for (start, end) in self.gaps.into_iter().chain([(upper, upper)]) {
            if from < start.min(upper) {
                live.push((from, start.min(upper)));
            }
            from = from.max(end);
        }
        live
    }
}

/// Parses a list of gaps, or returns `None` if it is not valid.
fn gaps(text: &str, inclusive: bool) -> Option<Vec<(u64, u64)>> {
    let gap = |gap: &str| {
        let (from, to) = gap.split_once('-')?;
        Some((parse(from)?, parse(to)?.saturating_add(u64::from(inclusive))))
    };
    text.split_ascii_whitespace().map(gap).collect()
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
        let live = |lower, upper, list: &str, inclusive| {
            gaps(list, inclusive).map(|gaps| Span { lower, upper: Some(upper), gaps }.live(0))
        };
        assert_eq!(live(0, 9, "2-4 6-7", false), Some(vec![(0, 2), (4, 6), (7, 9)]));
        assert_eq!(live(0, 9, "2-3 8-20", true), Some(vec![(0, 2), (4, 8)]));
        assert_eq!(live(3, 3, "", false), Some(vec![]));
        assert_eq!(live(0, 9, "2", false), None);
    }

    #[test]
    fn ends_and_numbers_are_read_in_the_ways_of_other_tools() {
        let text = "id,start,finish,size,gaps\na,0,0x3,5.0,\nb,2,-1,0x10,\nc,4,inf,1,5-7\nd,1,,2,\n";
        let t = Instance::from_csv(text).unwrap();
        let live: Vec<_> = t.buffers.iter().map(|buffer| (buffer.size, buffer.live.clone())).collect();
        let expected = [(5, vec![(0, 4)]), (16, vec![(2, 9)]), (1, vec![(4, 5), (8, 9)]), (2, vec![(1, 9)])];
        assert_eq!(live, expected);
        for row in ["a,0,-2,4", "a,-1,3,4", "a,0,3,4.5", "a,0,3,0x", "a,0"] {
            assert!(Instance::from_csv(&format!("id,lower,upper,size\n{row}\n")).is_err(), "{row}");
        }
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
