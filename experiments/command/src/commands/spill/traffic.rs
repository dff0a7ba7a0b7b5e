//! Reads the traffic of buffers from a file.

use crate::failure::Failure;
use plimsoll::model::{BufferId, Bytes, Instance};
use std::collections::HashMap;
use std::path::Path;

/// Returns the buffer with this name.
pub(super) fn named(instance: &Instance, name: &str) -> Result<BufferId, Failure> {
    let found = instance.ids().find(|&id| instance.buffer(id).name() == name);
    found.ok_or_else(|| Failure::input(format!("no buffer is called '{name}'")))
}

/// Sets the traffic of the buffers that are listed in a CSV file with columns `id` and `traffic`. An empty
/// value means that the buffer must not be spilled.
pub(super) fn read(path: &Path, instance: &Instance, traffic: &mut [Option<Bytes>]) -> Result<(), Failure> {
    let shown = path.display();
    let broken = |error: csv::Error| Failure::input(format!("{shown}: {error}"));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(broken)?;
    let headers = reader.headers().map_err(broken)?.clone();
    let column = |name: &str| {
        let missing = || Failure::input(format!("{shown}: no column '{name}' (required: id, traffic)"));
        headers.iter().position(|header| header.eq_ignore_ascii_case(name)).ok_or_else(missing)
    };
    let (id, bytes) = (column("id")?, column("traffic")?);
    for name in ["id", "traffic"] {
        if headers.iter().filter(|header| header.eq_ignore_ascii_case(name)).count() > 1 {
            return Err(Failure::input(format!("{shown}: line 1: column '{name}' occurs twice")));
        }
    }
    let known: HashMap<&str, BufferId> = instance.ids().map(|id| (instance.buffer(id).name(), id)).collect();
    let mut seen = vec![false; instance.len()];
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let bad = |what: String| Failure::input(format!("{shown}: line {line}: {what}"));
        let name = record.get(id).unwrap_or_default();
        let at = known.get(name).ok_or_else(|| bad(format!("no buffer is called '{name}'")))?.index();
        if std::mem::replace(&mut seen[at], true) {
            return Err(bad(format!("buffer '{name}' occurs twice")));
        }
        let text = record.get(bytes).unwrap_or_default();
        traffic[at] = match text {
            "" => None,
            _ => Some(Bytes::new(
                text.parse().map_err(|_| bad(format!("traffic '{text}' is not a whole number of bytes")))?,
            )),
        };
    }
    Ok(())
}
