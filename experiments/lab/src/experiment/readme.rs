//! The README in the folder of an experiment. It names the command, the build and the machine, and explains
//! the files and the sources of the instances.

use super::ExperimentError;
use super::manifest::{InputRecord, MANIFEST, Manifest};
use crate::row::{ROWS, TRACE};
use crate::suite::{CORPORA, SUITES};
use plimsoll_support::files::write_durably;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of names listed per source.
const NAMED: usize = 3;
/// The layouts among [`FILES`].
const LAYOUT_FILES: &str = "layouts/*.csv";
/// Files that a folder may contain, with descriptions. A name with `*` stands for any number of files.
const FILES: [(&str, &str); 7] = [
    (
        ROWS,
        "one row per attempted run, including skipped, failed and refused runs; `plimsoll report` turns it into tables",
    ),
    (MANIFEST, "the resolved experiment with the hashes of its inputs, the build and the machine"),
    ("maps/*.svg", "the best solution of each instance; the axes are steps and addresses"),
    (LAYOUT_FILES, "solutions; the column `layout` names the file of a run"),
    ("charts/profile.svg", "share of instances solved within a factor of the fastest time to solve"),
    (TRACE, "the times at which values and bounds improved; external programs report these times themselves"),
    (
        "charts/gap*.svg",
        "the gap to the best bound over time, for all instances together and for each instance",
    ),
];
/// Explanations of sources, of names and of columns.
const EXPLANATIONS: &str = "
An instance read from a file has the name of the file without its extension. In `name.1024.csv`,
1024 is the capacity and not part of the name. A generated instance has the name of its family,
followed by its number of buffers and, if there are several, its seed. The name of a generated
network ends with its seed. Instances from papers have the name of the paper or of its tool. The
suffixes `reversed` and `thinned` mark instances derived from others. Brackets contain the values of
dimensions. An instance with terms was derived from the body of a model, with the operators in the
order that the term `order` names.

Values and bounds are in the unit given in the column `unit`, and sizes are in bytes. `seconds` is
wall-clock time. It is the time of the whole process if `whole_process` is set, as for all external
programs, and otherwise the time of the algorithm alone. `own_seconds` is the time that a program measures
itself, from the end of reading the instance to the answer. `own_resolution` is the resolution of that
time if it was printed. Every solution passed the checker. The best bound of an instance is the best bound
proved by any run, and the gap is the distance from this bound. `peak_memory_bytes` is the high-water mark of the
process. It is reset before each run and includes memory that was resident before the run.
";

/// Atomically writes `README.md` into the folder of an experiment. `notes` follow the facts about the build
/// and the machine.
///
/// # Errors
/// [`ExperimentError::Io`] if the file cannot be written.
pub fn explain(
    manifest: &Manifest,
    folder: &Path,
    command: &str,
    notes: &[String],
) -> Result<(), ExperimentError> {
    let path = folder.join("README.md");
    let text = readme(manifest, command, notes, |name| is_there(manifest, folder, name));
    let written = write_durably(&path, |file| file.write_all(text.as_bytes()));
    written.map_err(|source| ExperimentError::Io { path, source })
}

impl Manifest {
    /// Returns the command that runs this sweep or shard.
    pub(super) fn command(&self) -> String {
        let shard = self.shard.map_or_else(String::new, |shard| format!(" --shard {shard}"));
        format!("plimsoll sweep {}{shard}", self.file)
    }
}

/// Returns true if the folder contains a file of this name or, for files that every such experiment writes,
/// will contain it.
fn is_there(manifest: &Manifest, folder: &Path, name: &str) -> bool {
    match name {
        ROWS | MANIFEST => return true,
        TRACE => return manifest.sweep.trace,
        LAYOUT_FILES => return manifest.sweep.layouts,
        _ => {}
    }
    let path = folder.join(name);
    let (Some(folder), Some(file)) = (path.parent(), path.file_name().and_then(|file| file.to_str())) else {
        return false;
    };
    let (start, end) = file.split_once('*').unwrap_or((file, ""));
    let mut names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(end)))
}

/// Returns the text of `README.md`. `is_there` returns whether a file belongs to the list of files.
fn readme(manifest: &Manifest, command: &str, notes: &[String], is_there: impl Fn(&str) -> bool) -> String {
    let Manifest { sweep, begun, .. } = manifest;
    let (facts, start) = (begun.machine.facts(), &begun.timestamp);
    let mut text = format!("# Record\n\nGenerated by\n\n    {command}\n\n{facts}- started at {start}\n");
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    let peers =
        sweep.algorithms.iter().filter_map(|own| Some((&own.name, &own.version, own.external.as_ref()?)));
    for (name, version, line) in peers.collect::<BTreeSet<_>>() {
        let version = version.as_deref().unwrap_or("version unknown");
        let _ = writeln!(text, "- external {name}: {version}; run as `{line}`");
    }
    text += "\n| file | contents |\n|---|---|\n";
    for (name, holds) in FILES.iter().filter(|(name, _)| is_there(name)) {
        let _ = writeln!(text, "| `{name}` | {holds} |");
    }
    text += "\n| source | inputs | terms | model options | origin |\n|---|---|---|---|---|\n";
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
        let origin = origin(&suite);
        let cells = [suite, names.join(", ") + &more, terms.to_string(), options, origin]
            .map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text + EXPLANATIONS
}

/// Returns where the inputs of a source come from.
fn origin(source: &str) -> String {
    match SUITES.iter().find(|known| known.name == source) {
        None => "the file, folder, pattern or family of this name".to_owned(),
        Some(known) => match known.origin.folder() {
            None => format!("generated by this build: {}", known.about),
            Some(folder) => format!("folder `{folder}` of `{CORPORA}`: {}", known.about),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::{AlgorithmRecord, Begun};
    use super::super::{Experiment, Input};
    use super::*;
    use crate::machine::{Machine, timestamp};

    #[test]
    fn the_command_and_the_sources_are_named() {
        let input = |suite: &str| Input::of(suite, plimsoll_datasets::cann().instance.into());
        let mut sweep = Experiment::new("e", vec![input("s"), input("graphs")], Vec::new()).resolved();
        let peer = |external: Option<&str>| AlgorithmRecord {
            problem: "offsets".to_owned(),
            name: "p".to_owned(),
            terms: "".parse().unwrap(),
            threads: 1,
            decide: None,
            time: vec![None],
            nodes: vec![None],
            seeds: vec![0],
            repetitions: 1,
            external: external.map(str::to_owned),
            version: Some("1.2".to_owned()),
        };
        sweep.algorithms =
            [None, Some("./p {input} {output}"), Some("./p {input} {output}")].map(peer).into();
        let begun = Begun { machine: Machine::here(), timestamp: timestamp() };
        let manifest = Manifest::new("s.toml", Some("1/2".parse().unwrap()), sweep, begun);
        assert_eq!(manifest.command(), "plimsoll sweep s.toml --shard 1/2");
        let listed = |name: &str| name != TRACE && !name.starts_with("charts");
        let text = readme(&manifest, "plimsoll bench", &["no corpora".to_owned()], listed);
        assert!(text.contains("    plimsoll bench\n") && text.contains("- no corpora\n"), "{text}");
        assert_eq!(text.matches("- external p: 1.2; run as `./p {input} {output}`\n").count(), 1, "{text}");
        assert!(text.contains("| `rows.csv` |") && text.contains("| `maps/*.svg` |"), "{text}");
        assert!(!text.contains("trace.csv") && !text.contains("charts/"), "{text}");
        assert!(text.contains("| s | cann |  |  | the file, folder, pattern"), "{text}");
        assert!(text.contains("| graphs | cann |  |  | generated by this build: small networks"), "{text}");
    }
}
