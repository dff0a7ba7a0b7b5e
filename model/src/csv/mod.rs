//! `MiniMalloc`'s CSV: instances in, layouts in and out.
//!
//! One row per buffer. Columns, in any order (synonyms in brackets):
//!
//! | column | meaning |
//! |---|---|
//! | `id` (`buffer`, `buffer_id`) | name, unique, required |
//! | `lower` (`begin`, `start`) | first step alive, required |
//! | `upper` (`end`) | end of life, required; `upper` is the first step after, `end` the last step alive |
//! | `size` | bytes, required; 0 is allowed, also with a lifespan of no step |
//! | `alignment` | bytes, default 1 |
//! | `gaps` | steps not alive inside the lifespan: `a-b` separated by blanks, ends as for the lifespan |
//! | `hint` | suggested offset, `-1` or empty for none |
//! | `offset` | in an instance: fixed offset, empty for none; in a layout: the answer |
//! | `separations`, `exclusions` | ours: ids separated by blanks that may not, or may, share addresses whatever their lifespans; a blank inside an id is written `%20` there, a `%` as `%25` |
//!
//! Columns of other names are passed over. Answers have the columns of their kind ([`Answer`]).
//!
//! Blanks around a field and blank lines are ignored, so an id neither begins nor ends with a blank. Lines end in
//! LF or CR LF; a byte order mark is ignored. Numbers are digits only.
//!
//! A gap with a window, `a-b@lo:hi`, means that part of the buffer stays alive; it is understood and refused.
//! Files whose names end in a number, `X.1048576.csv`, carry their capacity there.

mod answer;
mod error;
mod header;
mod pair_ids;
mod read;
mod write;

pub use answer::{Answer, read_answer, read_answer_file, read_layout, read_layout_file};
pub use error::{CsvError, CsvErrorKind};
pub use header::Endpoints;
pub use read::{
    Noted, ReadOptions, capacity_from_name, instance_name, read_instance, read_instance_file,
    read_instance_file_noted,
};
pub use write::{content_hash, write_instance, write_layout, write_with_columns};
