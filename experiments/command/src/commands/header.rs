//! A layout as a C99 header: macros for sizes and offsets, and arrays.

use plimsoll::model::{Bytes, Instance, Layout};
use plimsoll_support::lcm;
use plimsoll_support::printable::is_hidden;
use std::collections::HashSet;
use std::io::{self, Write};

/// Maximum length of the name of a graph or a tensor in an identifier. C compilers may ignore all but the
/// first 63 characters of an identifier.
const LONGEST: usize = 24;

/// The struct type of a tensor in the array of tensors. Several headers of one program may contain it.
const STRUCT: &str = "
#ifndef PLIMSOLL_TENSOR
#define PLIMSOLL_TENSOR
/* Memory in the arena: the index of the tensor in the model (-1 for scratch memory) or of the buffer in the
   instance, its offset and size, the first and last step at which it is live, and the step of its producer in
   its region (-1 if it has none). */
struct plimsoll_tensor {
    long index;
    size_t offset, size;
    long first, last, producer;
};
#endif
";

/// A tensor or a buffer in the arena.
pub struct Row {
    pub name: String,
    /// The identifier that replaces the name if the name is too long.
    pub short: String,
    /// The text of the comment.
    pub note: String,
    /// The index in the file; `None` for scratch memory.
    pub index: Option<usize>,
    pub offset: Bytes,
    pub bytes: Bytes,
    /// The first step at which the memory is live.
    pub lower: u64,
    /// The step after the last step at which the memory is live.
    pub upper: u64,
    /// The step of the producer, if there is one.
    pub producer: Option<usize>,
}

/// The content of a header.
pub struct Header<'a> {
    /// The name of the graph or instance.
    pub name: &'a str,
    /// The size of the arena.
    pub arena: Bytes,
    /// The alignment of the arena: a multiple of the alignments of all offsets in it.
    pub align: Bytes,
    pub rows: Vec<Row>,
    /// The operators in their order, each with its index in the file and a comment.
    pub operators: Vec<(usize, String)>,
}

impl<'a> Header<'a> {
    /// Returns the header of a layout of an instance.
    pub fn of(instance: &'a Instance, layout: &Layout) -> Self {
        let row = |(at, (buffer, &offset)): (usize, (&plimsoll::model::Buffer, &Bytes))| {
            let hull = buffer.lifespan().hull();
            Row {
                name: buffer.name().to_owned(),
                short: format!("b{at}"),
                note: buffer.name().to_owned(),
                index: Some(at),
                offset,
                bytes: buffer.size(),
                lower: hull.lower.get(),
                upper: hull.upper.get(),
                producer: None,
            }
        };
        // If the least common multiple overflows, no address meets all alignments. The larger value is kept.
        let multiple = |all: u64, one: u64| lcm(all, one).unwrap_or(all.max(one));
        let align = instance.buffers().iter().map(|buffer| buffer.alignment().get()).fold(1, multiple);
        Self {
            name: instance.name(),
            arena: layout.peak(instance),
            align: Bytes::new(align),
            rows: instance.buffers().iter().zip(layout.offsets()).enumerate().map(row).collect(),
            operators: Vec::new(),
        }
    }

    /// Writes the header.
    ///
    /// # Errors
    /// Returns any error from the writer.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        let mut taken = HashSet::new();
        let name = identifier(self.name, "net", &mut taken);
        let (upper, count) = (name.to_uppercase(), self.rows.len());
        writeln!(file, "/* Memory plan of {}, in bytes. Written by Plimsoll. */", plain(self.name))?;
        writeln!(file, "#ifndef PLIMSOLL_{upper}_H\n#define PLIMSOLL_{upper}_H\n\n#include <stddef.h>\n")?;
        writeln!(file, "#define {upper}_ARENA {}\n#define {upper}_ALIGN {}", self.arena, self.align)?;
        writeln!(file, "#define {upper}_TENSORS {count}")?;
        writeln!(file, "#define {upper}_OPERATORS {}\n", self.operators.len())?;
        for row in &self.rows {
            let tensor = identifier(&row.name, &row.short, &mut taken).to_uppercase();
            writeln!(file, "#define {upper}_OFFSET_{tensor} {}", row.offset)?;
            writeln!(file, "#define {upper}_SIZE_{tensor} {}", row.bytes)?;
        }
        writeln!(file, "{STRUCT}")?;
        let number = |number: Option<usize>| number.map_or(-1, |number| number as i64);
        let rows = self.rows.iter().map(|row| {
            let (index, producer) = (number(row.index), number(row.producer));
            let Row { offset, bytes, lower, upper, .. } = row;
            let last = upper.saturating_sub(1);
            let note = plain(&row.note);
            format!("{{ {index}, {offset}, {bytes}, {lower}, {last}, {producer} }}, /* {note} */")
        });
        array(file, &format!("struct plimsoll_tensor {name}_tensors[{upper}_TENSORS]"), rows)?;
        if !self.operators.is_empty() {
            writeln!(file, "/* Indices of operators in the model, in their new order. */")?;
        }
        let rows = self.operators.iter().map(|(index, note)| format!("{index}, /* {} */", plain(note)));
        array(file, &format!("long {name}_operators[{upper}_OPERATORS]"), rows)?;
        writeln!(file, "#endif")
    }
}

/// Writes an array, unless it is empty.
fn array(
    file: &mut dyn Write,
    declaration: &str,
    rows: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    if rows.len() == 0 {
        return Ok(());
    }
    writeln!(file, "static const {declaration} = {{")?;
    for row in rows {
        writeln!(file, "    {row}")?;
    }
    writeln!(file, "}};\n")
}

/// Returns a C identifier that is not yet taken, derived from the name or, if the name is too long, from
/// `short`. Names that differ only in case get different identifiers.
fn identifier(name: &str, short: &str, taken: &mut HashSet<String>) -> String {
    let name = if name.len() > LONGEST { short } else { name };
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name };
    let mut free = name.clone();
    let mut number = 1;
    while free.is_empty() || !taken.insert(free.to_lowercase()) {
        number += 1;
        free = format!("{name}_{number}");
    }
    free
}

/// Returns the text for a C comment. Blank characters become spaces, and other [hidden characters](is_hidden)
/// become their code point, as in `<U+202E>`. A space separates the two characters of every sequence that
/// begins or ends a comment.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.replace("*/", "* /").replace("/*", "/ *").chars() {
        match letter {
            letter if letter.is_whitespace() => plain.push(' '),
            letter if is_hidden(letter) => plain.extend(format!("<U+{:04X}>", u32::from(letter)).chars()),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::model::{Buffer, InstanceBuilder, Lifespan};

    #[test]
    fn identifiers_are_valid_and_distinct() {
        let mut taken = HashSet::new();
        let mut of = |name: &str| identifier(name, "t7", &mut taken);
        assert_eq!(of("conv/1:0"), "conv_1_0");
        assert_eq!(of("Conv.1:0"), "Conv_1_0_2");
        assert_eq!(of("3x3"), "_3x3");
        assert_eq!(of(""), "_2");
        assert_eq!(of(&"long".repeat(9)), "t7");
        assert_eq!(plain("a*/b\nc"), "a* /b c");
        assert_eq!(plain("x\u{1b}[2J\u{202e}y*/\u{2067}"), "x<U+001B>[2J<U+202E>y* /<U+2067>");
    }

    #[test]
    fn the_alignment_of_the_arena_is_a_multiple_of_all() {
        let buffer = |alignment: u64| {
            let lifespan = Lifespan::single(0, 1).unwrap();
            Buffer::new(alignment.to_string(), 1, lifespan).aligned(alignment)
        };
        let instance = InstanceBuilder::new("t").buffers([4, 6, 8].map(buffer)).build().unwrap();
        let layout = Layout::new([0, 6, 8].map(Bytes::new).to_vec());
        assert_eq!(Header::of(&instance, &layout).align, Bytes::new(24));
    }
}
