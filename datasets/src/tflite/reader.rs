//! Tables of a `FlatBuffers` file: the crate's verifier first, then reads that check their bounds again.
//!
//! The accessors of the `flatbuffers` crate are `unsafe` functions, and so is what its compiler generates; this
//! workspace forbids `unsafe`. Its verifier is safe to drive, so it goes over everything this importer reads (offsets,
//! vtables, vectors, alignment, depth, number of tables, size once shared parts are counted each time), and the few
//! kinds of fields needed are then read from plain slices. A read out of bounds, which the verifier rules out, counts
//! as an absent field.
//!
//! Layout, from the format's internals page: a table begins with the signed 32-bit distance back to its vtable; a
//! vtable holds its own length, the table's, then one 16-bit distance from the table's start per field id, 0 where
//! absent; strings and vectors are 32-bit distances to a 32-bit length and the elements; all little-endian.

use super::schema::{
    CALLS, Field, Stored, buffer, model, operator, operator_code, options, subgraph, tensor,
};
use flatbuffers::{ForwardsUOffset, InvalidFlatbuffer, Vector, Verifiable, Verifier, VerifierOptions};
use std::borrow::Cow;

/// Tables a file may have: a model has one per tensor, buffer and operator.
const TABLES: usize = 1_000_000;

/// Shared parts counted each time they are referred to, a file may hold so many times its own length.
const APPARENT: usize = 8;

/// The place of a field in a vtable.
const fn slot(id: u16) -> u16 {
    4 + 2 * id
}

type Verified = Result<(), InvalidFlatbuffer>;
type Offset<T> = ForwardsUOffset<T>;
type Text = Offset<Vector<'static, u8>>;
type Ints32 = Offset<Vector<'static, i32>>;
type TablesOf<T> = Offset<Vector<'static, Offset<T>>>;

/// Goes over all that this importer reads of a model.
///
/// # Errors
/// What the verifier of the crate says, on one line.
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

struct Model;
struct OperatorCode;
struct SubGraph;
struct Tensor;
struct Operator;
struct Buffer;
/// A table of which only its presence matters.
struct Present;

impl Verifiable for Model {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?
            .visit_field::<u32>("version", slot(model::VERSION), false)?
            .visit_field::<TablesOf<OperatorCode>>("operator_codes", slot(model::OPERATOR_CODES), false)?
            .visit_field::<TablesOf<SubGraph>>("subgraphs", slot(model::SUBGRAPHS), false)?
            .visit_field::<TablesOf<Buffer>>("buffers", slot(model::BUFFERS), false)?
            .finish();
        Ok(())
    }
}

impl Verifiable for OperatorCode {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?
            .visit_field::<i8>(
                "deprecated_builtin_code",
                slot(operator_code::DEPRECATED_BUILTIN_CODE),
                false,
            )?
            .visit_field::<Text>("custom_code", slot(operator_code::CUSTOM_CODE), false)?
            .visit_field::<i32>("builtin_code", slot(operator_code::BUILTIN_CODE), false)?
            .finish();
        Ok(())
    }
}

impl Verifiable for SubGraph {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?
            .visit_field::<TablesOf<Tensor>>("tensors", slot(subgraph::TENSORS), false)?
            .visit_field::<Ints32>("inputs", slot(subgraph::INPUTS), false)?
            .visit_field::<Ints32>("outputs", slot(subgraph::OUTPUTS), false)?
            .visit_field::<TablesOf<Operator>>("operators", slot(subgraph::OPERATORS), false)?
            .visit_field::<Text>("name", slot(subgraph::NAME), false)?
            .finish();
        Ok(())
    }
}

impl Verifiable for Tensor {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?
            .visit_field::<Ints32>("shape", slot(tensor::SHAPE), false)?
            .visit_field::<i8>("type", slot(tensor::TYPE), false)?
            .visit_field::<u32>("buffer", slot(tensor::BUFFER), false)?
            .visit_field::<Text>("name", slot(tensor::NAME), false)?
            .visit_field::<u8>("is_variable", slot(tensor::IS_VARIABLE), false)?
            .visit_field::<Offset<Present>>("sparsity", slot(tensor::SPARSITY), false)?
            .visit_field::<Ints32>("shape_signature", slot(tensor::SHAPE_SIGNATURE), false)?
            .visit_field::<u8>("has_rank", slot(tensor::HAS_RANK), false)?
            .visit_field::<u32>("external_buffer", slot(tensor::EXTERNAL_BUFFER), false)?
            .finish();
        Ok(())
    }
}

impl Verifiable for Operator {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        let mut table = v
            .visit_table(at)?
            .visit_field::<u32>("opcode_index", slot(operator::OPCODE_INDEX), false)?
            .visit_field::<Ints32>("inputs", slot(operator::INPUTS), false)?
            .visit_field::<Ints32>("outputs", slot(operator::OUTPUTS), false)?
            .visit_field::<Text>("custom_options", slot(operator::CUSTOM_OPTIONS), false)?;
        let unions = [
            (false, operator::OPTIONS_TYPE, operator::OPTIONS),
            (true, operator::OPTIONS_2_TYPE, operator::OPTIONS_2),
        ];
        for (second, tag, value) in unions {
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

impl Verifiable for Buffer {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?
            .visit_field::<Text>("data", slot(buffer::DATA), false)?
            .visit_field::<u64>("offset", slot(buffer::OFFSET), false)?
            .visit_field::<u64>("size", slot(buffer::SIZE), false)?
            .finish();
        Ok(())
    }
}

impl Verifiable for Present {
    fn run_verifier(v: &mut Verifier, at: usize) -> Verified {
        v.visit_table(at)?.finish();
        Ok(())
    }
}

/// `N` bytes from `at` on.
fn read<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// A table of a verified file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// Where a field is; none where it is absent.
    fn field(self, id: u16) -> Option<usize> {
        let back = i32::from_le_bytes(read(self.bytes, self.at)?);
        let vtable = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let length = u16::from_le_bytes(read(self.bytes, vtable)?);
        if slot(id) >= length {
            return None;
        }
        let distance = u16::from_le_bytes(read(self.bytes, vtable.checked_add(slot(id).into())?)?);
        if distance == 0 { None } else { self.at.checked_add(distance.into()) }
    }

    /// Where what a field refers to is.
    fn target(self, id: u16) -> Option<usize> {
        let at = self.field(id)?;
        at.checked_add(u32::from_le_bytes(read(self.bytes, at)?) as usize)
    }

    /// The elements of a vector of things `size` bytes each.
    fn vector(self, id: u16, size: usize) -> &'a [u8] {
        let elements = || {
            let at = self.target(id)?;
            let bytes = (u32::from_le_bytes(read(self.bytes, at)?) as usize).checked_mul(size)?;
            let from = at.checked_add(4)?;
            self.bytes.get(from..from.checked_add(bytes)?)
        };
        elements().unwrap_or_default()
    }

    /// A byte; 0 where absent.
    pub(super) fn u8(self, id: u16) -> u8 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u8::from_le_bytes)
    }

    /// A signed byte; 0 where absent.
    pub(super) fn i8(self, id: u16) -> i8 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, i8::from_le_bytes)
    }

    /// A signed 32-bit integer; 0 where absent.
    pub(super) fn i32(self, id: u16) -> i32 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, i32::from_le_bytes)
    }

    /// An unsigned 32-bit integer; 0 where absent.
    pub(super) fn u32(self, id: u16) -> u32 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u32::from_le_bytes)
    }

    /// An unsigned 64-bit integer; 0 where absent.
    pub(super) fn u64(self, id: u16) -> u64 {
        self.field(id).and_then(|at| read(self.bytes, at)).map_or(0, u64::from_le_bytes)
    }

    /// A table; none where absent.
    pub(super) fn table(self, id: u16) -> Option<Self> {
        Some(Self { bytes: self.bytes, at: self.target(id)? })
    }

    /// A vector of tables; empty where absent.
    pub(super) fn tables(self, id: u16) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let elements = self.vector(id, 4);
        let start = self.target(id).map_or(0, |at| at.saturating_add(4));
        elements.chunks_exact(4).enumerate().map(move |(index, distance)| {
            let distance = read(distance, 0).map_or(0, u32::from_le_bytes) as usize;
            let at = start.saturating_add(4 * index).saturating_add(distance);
            Self { bytes: self.bytes, at }
        })
    }

    /// A vector of bytes; empty where absent.
    pub(super) fn bytes(self, id: u16) -> &'a [u8] {
        self.vector(id, 1)
    }

    /// A string, whatever is no UTF-8 replaced; empty where absent.
    pub(super) fn text(self, id: u16) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes(id))
    }

    /// A vector of signed 32-bit integers; empty where absent.
    pub(super) fn ints(self, id: u16) -> Ints<'a> {
        Ints(self.vector(id, 4))
    }
}

/// Options of an operator, in union `BuiltinOptions`; none for other unions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options<'a>(Option<(u8, Table<'a>)>);

impl<'a> Options<'a> {
    /// A table that is this member of the union.
    pub(super) const fn new(tag: u8, table: Option<Table<'a>>) -> Self {
        Self(match table {
            Some(table) => Some((tag, table)),
            None => None,
        })
    }

    fn table(self, field: Field) -> Option<Table<'a>> {
        self.0.filter(|(tag, _)| *tag == field.tag).map(|(_, table)| table)
    }

    /// A number; the field's default where it is left out, 0 where all options are.
    pub(super) fn int(self, field: Field) -> i32 {
        let Some(table) = self.table(field) else { return 0 };
        if table.field(field.id).is_none() {
            return field.default;
        }
        if field.stored == Stored::Int { table.i32(field.id) } else { i32::from(table.i8(field.id)) }
    }

    /// True where a number is not 0.
    pub(super) fn is(self, field: Field) -> bool {
        self.int(field) != 0
    }

    /// A text, empty where it is left out; none where there are no such options.
    pub(super) fn text(self, field: Field) -> Option<Cow<'a, str>> {
        self.table(field).map(|table| table.text(field.id))
    }

    /// Numbers; none where there are no options.
    pub(super) fn list(self, field: Field) -> Option<Ints<'a>> {
        self.table(field).map(|table| table.ints(field.id))
    }
}

/// A vector of signed 32-bit integers, where it lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ints<'a>(&'a [u8]);

impl<'a> Ints<'a> {
    /// How many.
    pub(super) const fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Their values.
    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = i32> + DoubleEndedIterator + use<'a> {
        self.0.chunks_exact(4).map(|four| read(four, 0).map_or(0, i32::from_le_bytes))
    }

    /// One of them.
    pub(super) fn get(self, index: usize) -> Option<i32> {
        self.iter().nth(index)
    }
}
