//! The README in the folder of a sweep. It explains the files and the sources of the instances.

use super::ExperimentError;
use super::manifest::{InputRecord, MANIFEST, Manifest};
use crate::row::{LAYOUTS, ROWS, TRACE};
use plimsoll_model::files::write_durably;
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of names listed per source.
const NAMED: usize = 3;

/// Atomically writes `README.md` into the folder of a sweep.
///
/// # Errors
/// [`ExperimentError::Io`] if the file cannot be written.
pub(super) fn explain(manifest: &Manifest, folder: &Path) -> Result<(), ExperimentError> {
    let path = folder.join("README.md");
    let written = write_durably(&path, |file| file.write_all(readme(manifest).as_bytes()));
    written.map_err(|source| ExperimentError::Io { path, source })
}

/// Returns the text of `README.md`.
fn readme(manifest: &Manifest) -> String {
    let Manifest { file, shard, sweep, begun, .. } = manifest;
    let part = shard.map_or_else(String::new, |shard| format!(", shard {shard}"));
    let mut text = format!(
        "# Record of a sweep\n\nWritten by `plimsoll sweep {file}`{part}, started at {}.\n\n{}\n\
         | file | contents |\n|---|---|\n\
         | `{ROWS}` | one row per run; `plimsoll report` turns it into tables and charts |\n\
         | `{MANIFEST}` | the resolved sweep with the hashes of its {} inputs, the build and the machine |\n",
        begun.timestamp,
        begun.machine.facts(),
        sweep.inputs.len(),
    );
    let more = [
        (sweep.trace, TRACE, "improvements over time, written when all runs are present"),
        (sweep.layouts, LAYOUTS, "one layout per valid run"),
    ];
    for (_, name, holds) in more.iter().filter(|(is_kept, ..)| *is_kept) {
        let _ = writeln!(text, "| `{name}` | {holds} |");
    }
    text.push_str(
        "\nSources are suites, families, and paths relative to the sweep file. An instance with terms was derived from the \
         body of\na model, with the operators in the order that the term `order` names. Brackets in a name contain the \
         values of\ndimensions.\n\n| source | inputs | terms | model options |\n|---|---|---|---|\n",
    );
    let options = |input: &InputRecord| {
        let given = input.model.iter().flat_map(|model| model.import.given());
        given.collect::<Vec<_>>().join(" ")
    };
    let key = |input: &InputRecord| (input.suite.clone(), input.terms.clone(), options(input));
    let mut sources: Vec<Vec<&InputRecord>> = Vec::new();
    for input in &sweep.inputs {
        match sources.iter_mut().find(|own| key(own[0]) == key(input)) {
            Some(own) => own.push(input),
            None => sources.push(vec![input]),
        }
    }
    for own in sources {
        let names: Vec<&str> = own.iter().take(NAMED).map(|input| input.name.as_str()).collect();
        let more = if own.len() > NAMED { format!(", .. ({} in all)", own.len()) } else { String::new() };
        let (suite, terms, options) = key(own[0]);
        let cells = [suite, names.join(", ") + &more, terms.to_string(), options]
            .map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
