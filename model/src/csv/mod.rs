//! Reads and writes `MiniMalloc`'s CSV format for instances and layouts.
//!
//! A file has one row per buffer. Its columns may be in any order. Synonyms are in parentheses:
//!
//! | column | meaning |
//! |---|---|
//! | `id` (`buffer`, `buffer_id`) | unique name, required |
//! | `lower` (`begin`, `start`) | first step of the lifespan, required |
//! | `upper` (`end`, `finish`) | end of the lifespan, required: first step after it (`upper`) or last step (`end`, `finish`); open if the buffer is live to the last step of the file |
//! | `size` | bytes, required; 0 is allowed, even with an empty lifespan |
//! | `alignment` | bytes, default 1 |
//! | `gaps` | intervals `a-b` in which the buffer is not live, separated by spaces; `b` follows the same convention as the end of the lifespan |
//! | `hint` | suggested offset; `-1` or empty if there is none |
//! | `offset` | in an instance: fixed offset, or empty if there is none ([`Pins`]); in a layout: the computed offset |
//! | `separations` | extension: ids of buffers that may not share addresses with this one, whatever their lifespans |
//! | `exclusions` | extension: ids of buffers that may share addresses with this one, whatever their lifespans |
//! | `above` | extension: `a+64` if this buffer lies 64 bytes above buffer `a` |
//!
//! The ids in a list are separated by spaces. Inside such an id, a space is written `%20` and a `%` is
//! written `%25`. The same holds for the id in the column `above`. Unknown columns are ignored. Answers have
//! further columns that depend on their kind ([`Given`]).
//!
//! Blank lines are ignored. Blanks around a field are also ignored, so ids neither begin nor end with a
//! blank. Lines end in LF, CR LF or CR. A byte order mark is ignored. Numbers are decimal, optionally with a
//! fraction of zeros (`25.0`), or hexadecimal (`0x2000`). An open end is `-1`, empty, `inf`, `nan`, `none` or
//! `null`.
//!
//! During a gap with a window, `a-b@lo:hi`, a part of the buffer stays live. Such gaps are recognised, but
//! rejected. The capacity of an instance may be part of its file name ([`capacity_from_name`]).

mod answer;
mod error;
mod header;
mod name;
mod number;
mod pair_ids;
mod read;
mod write;

pub use answer::{Given, read_answer, read_answer_file, read_layout, read_layout_file};
pub use error::{CsvError, CsvErrorKind};
pub use header::Endpoints;
pub use name::{capacity_from_name, file_name, instance_name};
pub use number::is_open;
pub use pair_ids::encode as listed_id;
pub use read::{Noted, Pins, ReadOptions, read_instance, read_instance_file, read_instance_file_noted};
pub use write::{Cell, Rows, content_hash, write_instance, write_layout};
