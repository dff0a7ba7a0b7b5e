//! Reads tables of a `FlatBuffers` file. The verifier of the `flatbuffers` crate runs first; later reads
//! check bounds again.
//!
//! The accessors of that crate and the code that its compiler generates are `unsafe`, but this workspace
//! forbids `unsafe`. The verifier has a safe interface. It checks everything that this
//! importer reads: offsets, vtables, vectors, alignment, depth, number of tables, and apparent size, in which
//! a shared part counts once per reference. The few kinds of fields needed are then read from byte slices. A
//! read out of bounds, which the verifier rules out, counts as an absent field.
//!
//! The documentation of `FlatBuffers` describes the layout on its page about internals. A table begins with
//! the signed 32-bit distance back to its vtable. A vtable begins with its own length and that of the table.
//! For each field id, one 16-bit distance from the start of the table follows; it is 0 for absent fields. A
//! string or a vector is a 32-bit distance to a 32-bit length, which is followed by the elements. All numbers
//! are little-endian.

use super::schema::{CALLS, Field, Stored, options};
use flatbuffers::{
    ForwardsUOffset, InvalidFlatbuffer, TableVerifier, Vector, Verifiable, Verifier, VerifierOptions,
};
use std::borrow::Cow;

/// The maximum number of tables. A model has one per tensor, buffer and operator.
const TABLES: usize = 1_000_000;

/// The maximum ratio of the apparent size to the length of the file. The apparent size counts a shared part
/// once per reference.
const APPARENT: usize = 8;

/// Returns the position of a field in a vtable.
const fn slot(id: u16) -> u16 {
    4 + 2 * id
}

type Verified<T = ()> = Result<T, InvalidFlatbuffer>;
type Offset<T> = ForwardsUOffset<T>;
type Text = Offset<Vector<'static, u8>>;
type Ints32 = Offset<Vector<'static, i32>>;
type TablesOf<T> = Offset<Vector<'static, Offset<T>>>;

/// Verifies all parts of a model that this importer reads.
///
/// # Errors
/// The error from the verifier of the `flatbuffers` crate, on one line.
pub(super) fn root(bytes: &[u8]) -> Result<Table<'_>, String> {
    let options = VerifierOptions {
        max_depth: 8,
        max_tables: TABLES,
        max_apparent_size: bytes.len().saturating_mul(APPARENT).saturating_add(1 << 20),
        ignore_missing_null_terminator: true,
    };
    let mut verifier = Verifier::new(&options, bytes);
    match <Offset<Model>>::run_verifier(&mut verifier, 0) {
        Ok(()) => {
            let at = read(bytes, 0).map_or(0, u32::from_le_bytes) as usize;
            Ok(Table { bytes, at })
        }
        Err(error) => {
            let text = error.to_string();
            let lines = text.lines().map(|line| line.trim().trim_end_matches('.'));
            Err(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Declares tables: the number of each field that is read, and a verifier for all of them. The names are
/// those of the schema.
macro_rules! tables {
    ($($table:ident in $fields:ident { $($field:ident = $id:literal, $name:literal: $type:ty;)* })*) => {$(
        struct $table;

        pub(super) mod $fields {
            $(pub const $field: u16 = $id;)*
        }

        impl $table {
            fn visit<'v, 'o, 'b>(table: TableVerifier<'v, 'o, 'b>) -> Verified<TableVerifier<'v, 'o, 'b>> {
                $(let table = table.visit_field::<$type>($name, slot($id), false)?;)*
                Ok(table)
            }
        }

        impl Verifiable for $table {
            fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
                Self::visit(v.visit_table(at)?)?.finish();
                Ok(())
            }
        }
    )*};
}

tables! {
    Model in model {
        VERSION = 0, "version": u32;
        OPERATOR_CODES = 1, "operator_codes": TablesOf<OperatorCode>;
        SUBGRAPHS = 2, "subgraphs": TablesOf<SubGraph>;
        BUFFERS = 4, "buffers": TablesOf<Buffer>;
        METADATA = 6, "metadata": TablesOf<Metadata>;
    }
    Metadata in metadata {
        NAME = 0, "name": Text;
        BUFFER = 1, "buffer": u32;
    }
    OperatorCode in operator_code {
        DEPRECATED_BUILTIN_CODE = 0, "deprecated_builtin_code": i8;
        CUSTOM_CODE = 1, "custom_code": Text;
        BUILTIN_CODE = 3, "builtin_code": i32;
    }
    SubGraph in subgraph {
        TENSORS = 0, "tensors": TablesOf<Tensor>;
        INPUTS = 1, "inputs": Ints32;
        OUTPUTS = 2, "outputs": Ints32;
        OPERATORS = 3, "operators": TablesOf<Operator>;
        NAME = 4, "name": Text;
    }
    Tensor in tensor {
        SHAPE = 0, "shape": Ints32;
        TYPE = 1, "type": i8;
        BUFFER = 2, "buffer": u32;
        NAME = 3, "name": Text;
        IS_VARIABLE = 5, "is_variable": u8;
        SPARSITY = 6, "sparsity": Offset<Present>;
        SHAPE_SIGNATURE = 7, "shape_signature": Ints32;
        HAS_RANK = 8, "has_rank": u8;
        EXTERNAL_BUFFER = 10, "external_buffer": u32;
    }
    OperatorFields in operator {
        OPCODE_INDEX = 0, "opcode_index": u32;
        INPUTS = 1, "inputs": Ints32;
        OUTPUTS = 2, "outputs": Ints32;
        CUSTOM_OPTIONS = 5, "custom_options": Text;
        LARGE_CUSTOM_OPTIONS_OFFSET = 9, "large_custom_options_offset": u64;
    }
    Buffer in buffer {
        DATA = 0, "data": Text;
        OFFSET = 1, "offset": u64;
        SIZE = 2, "size": u64;
    }
    // Only the presence of this table is relevant.
    Present in present {}
}

/// A union of options: the fields of its type and of its value.
#[derive(Clone, Copy)]
pub(super) struct Union(u16, u16);

pub(super) const UNIONS: [Union; 2] = [Union(3, 4), Union(11, 12)];

/// Verifies an operator: its fields and those fields of its options that are read.
struct Operator;

impl Verifiable for Operator {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        let mut table = OperatorFields::visit(v.visit_table(at)?)?;
        for (second, Union(tag, value)) in [false, true].into_iter().zip(UNIONS) {
            let (Some(tag), Some(value)) = (table.deref(slot(tag))?, table.deref(slot(value))?) else {
                continue;
            };
            let tag = table.verifier().get_u8(tag)?;
            let target = value.saturating_add(table.verifier().get_uoffset(value)? as usize);
            let mut members = table.verifier().visit_table(target)?;
            for call in CALLS.iter().filter(|call| (call.second, call.tag) == (second, tag)) {
                members = if call.many {
                    members.visit_field::<Ints32>(call.region, slot(call.field), false)?
                } else {
                    members.visit_field::<i32>(call.region, slot(call.field), false)?
                };
            }
            for field in options::ALL.iter().filter(|field| !second && field.tag == tag) {
                let at = slot(field.id);
                members = match field.stored {
                    Stored::Byte => members.visit_field::<u8>(field.name, at, false)?,
                    Stored::Int => members.visit_field::<i32>(field.name, at, false)?,
                    Stored::Text => {
                        members.visit_field::<flatbuffers::ForwardsUOffset<&str>>(field.name, at, false)?
                    }
                    Stored::Ints => members.visit_field::<Ints32>(field.name, at, false)?,
                };
            }
            members.finish();
        }
        table.finish();
        Ok(())
    }
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// Returns the position and the length of the vtable.
    fn vtable(self) -> Option<(usize, u16)> {
        let back = i32::from_le_bytes(read(self.bytes, self.at)?);
        let vtable = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        Some((vtable, u16::from_le_bytes(read(self.bytes, vtable)?)))
    }

    /// Returns the position of a field, if the field is present.
    pub(super) fn field(self, id: u16) -> Option<usize> {
        let (vtable, length) = self.vtable()?;
        if slot(id) >= length {
            return None;
        }
        let distance = u16::from_le_bytes(read(self.bytes, vtable.checked_add(slot(id).into())?)?);
        if distance == 0 { None } else { self.at.checked_add(distance.into()) }
    }

    /// Returns the position of the table.
    pub(super) fn position(self) -> usize {
        self.at
    }

    /// Returns true if a field with this number or a higher one is present.
    pub(super) fn has_fields_beyond(self, id: u16) -> bool {
        let fields = self.vtable().map_or(0, |(_, length)| length.saturating_sub(slot(0)) / 2);
        (id..fields).any(|id| self.field(id).is_some())
    }

    /// Returns the position to which a field refers.
    pub(super) fn target(self, id: u16) -> Option<usize> {
        let at = self.field(id)?;
        at.checked_add(u32::from_le_bytes(read(self.bytes, at)?) as usize)
    }

    /// Returns the bytes of a vector with elements of `size` bytes; empty if it is absent.
    fn vector(self, id: u16, size: usize) -> &'a [u8] {
        let elements = || {
            let at = self.target(id)?;
            let bytes = (u32::from_le_bytes(read(self.bytes, at)?) as usize).checked_mul(size)?;
            let from = at.checked_add(4)?;
            self.bytes.get(from..from.checked_add(bytes)?)
        };
        elements().unwrap_or_default()
    }

    /// Returns an unsigned byte, or 0 if it is absent.
    pub(super) fn u8(self, id: u16) -> u8 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u8::from_le_bytes)
    }

    /// Returns a signed byte, or 0 if it is absent.
    pub(super) fn i8(self, id: u16) -> i8 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, i8::from_le_bytes)
    }

    /// Returns a signed 32-bit integer, or 0 if it is absent.
    pub(super) fn i32(self, id: u16) -> i32 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, i32::from_le_bytes)
    }

    /// Returns an unsigned 32-bit integer, or 0 if it is absent.
    pub(super) fn u32(self, id: u16) -> u32 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u32::from_le_bytes)
    }

    /// Returns an unsigned 64-bit integer, or 0 if it is absent.
    pub(super) fn u64(self, id: u16) -> u64 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u64::from_le_bytes)
    }

    /// Returns the type and the value of a union; the value is `None` if it is absent.
    pub(super) fn union(self, Union(tag, value): Union) -> (u8, Option<Self>) {
        (self.u8(tag), self.table(value))
    }

    /// Returns a table, if it is present.
    pub(super) fn table(self, id: u16) -> Option<Self> {
        Some(Self { bytes: self.bytes, at: self.target(id)? })
    }

    /// Returns a vector of tables, which is empty if it is absent.
    pub(super) fn tables(self, id: u16) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let elements = self.vector(id, 4);
        let start = self.target(id).map_or(0, |at| at.saturating_add(4));
        elements.chunks_exact(4).enumerate().map(move |(index, distance)| {
            let distance = read(distance, 0).map_or(0, u32::from_le_bytes) as usize;
            let at = start.saturating_add(4 * index).saturating_add(distance);
            Self { bytes: self.bytes, at }
        })
    }

    /// Returns a vector of bytes, which is empty if it is absent.
    pub(super) fn bytes(self, id: u16) -> &'a [u8] {
        self.vector(id, 1)
    }

    /// Returns a string, which is empty if it is absent. Invalid UTF-8 is replaced.
    pub(super) fn text(self, id: u16) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes(id))
    }

    /// Returns a vector of signed 32-bit integers, which is empty if it is absent.
    pub(super) fn ints(self, id: u16) -> Ints<'a> {
        Ints(self.vector(id, 4))
    }
}

/// The options of an operator in union `BuiltinOptions`; `None` for other unions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options<'a>(Option<(u8, Table<'a>)>);

impl<'a> Options<'a> {
    /// Creates options from the table that is this member of the union.
    pub(super) const fn new(tag: u8, table: Option<Table<'a>>) -> Self {
        Self(match table {
            Some(table) => Some((tag, table)),
            None => None,
        })
    }

    fn table(self, field: Field) -> Option<Table<'a>> {
        self.0.filter(|(tag, _)| *tag == field.tag).map(|(_, table)| table)
    }

    /// Returns a number: the default if these options lack the field, and 0 if there are no such options.
    pub(super) fn int(self, field: Field) -> i32 {
        let Some(table) = self.table(field) else { return 0 };
        if table.field(field.id).is_none() {
            return field.default;
        }
        if field.stored == Stored::Int { table.i32(field.id) } else { i32::from(table.i8(field.id)) }
    }

    /// Returns true if a number is not 0.
    pub(super) fn is(self, field: Field) -> bool {
        self.int(field) != 0
    }

    /// Returns a string, which is empty if the field is absent, or `None` if there are no such options.
    pub(super) fn text(self, field: Field) -> Option<Cow<'a, str>> {
        self.table(field).map(|table| table.text(field.id))
    }

    /// Returns a list of numbers, or `None` if there are no such options.
    pub(super) fn list(self, field: Field) -> Option<Ints<'a>> {
        self.table(field).map(|table| table.ints(field.id))
    }
}

/// A vector of signed 32-bit integers, stored in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ints<'a>(&'a [u8]);

impl<'a> Ints<'a> {
    pub(super) const fn len(self) -> usize {
        self.0.len() / 4
    }

    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = i32> + DoubleEndedIterator + use<'a> {
        self.0.chunks_exact(4).map(|four| read(four, 0).map_or(0, i32::from_le_bytes))
    }

    pub(super) fn get(self, index: usize) -> Option<i32> {
        self.iter().nth(index)
    }
}
