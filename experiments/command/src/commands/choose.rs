//! Finds algorithms by name.

use crate::failure::Failure;
use plimsoll::model::{Entry, Kind, Offsets, ParameterError, Problem, SharedObjects, SplitBuffers};
use plimsoll::posed::{Facts, PROBLEMS, algorithm, algorithms, problem};
use plimsoll::{Listed, NameError, Registry, excluded, first_found, registry};
use std::fmt::Display;
use std::path::Path;
use strsim::levenshtein;

/// Returns the name of a problem that `solve` answers. Fails if `solve` answers no problem of this name.
pub fn of_instances(text: &str) -> Result<&'static str, String> {
    let found = problem(text).filter(|problem| OF_INSTANCES.contains(problem));
    found.ok_or_else(|| format!("expected {}", OF_INSTANCES.join(", ")))
}

/// The maximum number of names to suggest.
const MOST_NEAR: usize = 3;

/// The problems that `solve` answers.
const OF_INSTANCES: [&str; 3] = [Offsets::NAME, SharedObjects::NAME, SplitBuffers::NAME];

/// An algorithm for one of the problems that `solve` answers.
pub enum Choice {
    /// An algorithm for offsets.
    Offsets(&'static Entry<Offsets>),
    /// An algorithm for split buffers.
    SplitBuffers(&'static Entry<SplitBuffers>),
    /// An algorithm for shared objects.
    SharedObjects(&'static Entry<SharedObjects>),
}

/// Returns the default algorithm among the algorithms of a problem, which is called `exact`. If there is
/// none, returns the first exact algorithm or, failing that, the first algorithm.
pub fn leading(all: &[Facts]) -> Option<&Facts> {
    let exact = all.iter().find(|facts| facts.name == "exact");
    exact.or_else(|| all.iter().find(|facts| facts.kind == Kind::Exact)).or(all.first())
}

/// Returns the entry of the [default](leading) algorithm of a problem.
pub fn default_entry<P: Listed>(registry: &Registry) -> Option<&'static Entry<P>> {
    registry.find(leading(&algorithms(registry, P::NAME))?.name).ok()
}

/// Returns the algorithm called `name`, or the default algorithm if `name` is `None`. If `problem` is
/// `None`, a name is looked up among the algorithms for offsets, shared objects and split buffers, in this
/// order, and the default algorithm is the default for offsets.
pub fn choose(registry: &Registry, name: Option<&str>, problem: Option<&str>) -> Result<Choice, Failure> {
    let problems = match (problem, name) {
        (Some(problem), _) => vec![problem],
        (None, None) => vec![Offsets::NAME],
        (None, Some(_)) => OF_INSTANCES.to_vec(),
    };
    let found = first_found(problems.iter().map(|problem| match *problem {
        Offsets::NAME => find(registry, name).map(Choice::Offsets),
        SplitBuffers::NAME => find(registry, name).map(Choice::SplitBuffers),
        _ => find(registry, name).map(Choice::SharedObjects),
    }));
    found.expect("there is a problem").map_err(|error| match (name, problem) {
        (Some(name), Some(problem)) if matches!(algorithm(registry, &OF_INSTANCES, name), Some(Ok(_))) => {
            Failure::input(format!(
                "algorithm '{name}' does not solve {problem}; see `plimsoll list {problem}`"
            ))
        }
        _ => refused(error, "algorithm", &names(registry, &problems), &listing(&problems)),
    })
}

fn find<P: Listed>(registry: &Registry, name: Option<&str>) -> Result<&'static Entry<P>, NameError> {
    match name {
        Some(name) => registry.find(name),
        None => registry.find(leading(&algorithms(registry, P::NAME)).map_or("exact", |facts| facts.name)),
    }
}

/// Returns the name of an algorithm with its parameters in the order in which rows contain them. Returns an
/// unknown name unchanged.
pub fn in_order(name: &str) -> Result<String, ParameterError> {
    match algorithm(&registry(), PROBLEMS, name) {
        Some(Ok(facts)) => Ok(facts.name.to_owned()),
        Some(Err(NameError::Parameter(error))) => Err(error),
        _ => Ok(name.to_owned()),
    }
}

/// Returns the algorithm called `name` among `entries`. `what` describes the kind of algorithm in error
/// messages, such as `algorithm`.
pub fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &str,
    what: &str,
) -> Result<&'static Entry<P>, Failure> {
    let known = || entries.iter().map(|entry| entry.name).collect::<Vec<_>>();
    plimsoll::named(entries, name).map_err(|error| refused(error, what, &known(), &listing(&[P::NAME])))
}

/// Returns the error for a name that refers to no algorithm. For an unknown name, it is that of [`unknown`].
pub fn refused(error: NameError, what: &str, known: &[&str], listing: &str) -> Failure {
    match error {
        NameError::Unknown { name, .. } => unknown(what, &name, known, listing),
        error => Failure::input(error),
    }
}

/// Returns the distinct names of all algorithms of these problems, in order of first occurrence.
pub fn names(registry: &Registry, problems: &[&str]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for facts in problems.iter().flat_map(|problem| algorithms(registry, problem)) {
        if !names.contains(&facts.name) {
            names.push(facts.name);
        }
    }
    names
}

/// Returns the command that lists the algorithms of these problems.
pub fn listing(problems: &[&str]) -> String {
    format!("plimsoll list {}", if let [problem] = problems { problem } else { "algorithms" })
}

/// Returns the error for an unknown name. The message explains why this build lacks the algorithm, or
/// suggests the nearest known names and the command that lists all names.
pub fn unknown(what: &str, name: &str, known: &[&str], listing: &str) -> Failure {
    if let Some(reason) = excluded(name) {
        return Failure::input(reason);
    }
    let hint = near(name, known).map_or_else(String::new, |near| near + " ");
    Failure::input(format!("unknown {what} '{name}'; {hint}`{listing}` lists all"))
}

/// Returns the error for a machine that is neither built in nor a file. If a built-in machine has a similar
/// name, the error suggests it.
pub fn no_machine(error: impl Display, name: &str, presets: &[(&str, &str)]) -> Failure {
    let known: Vec<&str> = presets.iter().map(|(preset, _)| *preset).collect();
    let is_file = Path::new(name).extension().is_some() || Path::new(name).exists();
    if is_file { Failure::input(error) } else { misspelt(error, name, &known) }
}

/// Returns an error about a name. If known names are similar, the error suggests them.
pub fn misspelt(error: impl Display, name: &str, known: &[&str]) -> Failure {
    Failure::input(near(name, known).map_or_else(|| error.to_string(), |near| format!("{error}; {near}")))
}

/// Suggests the known names that are nearest to a name, as in `did you mean 'exact'?`.
pub fn near(name: &str, known: &[&str]) -> Option<String> {
    let distance = |candidate: &str| levenshtein(name, candidate);
    let is_near = |candidate: &&str| {
        distance(candidate) <= 2 + name.len() / 4 || (name.len() > 2 && candidate.contains(name))
    };
    let mut near: Vec<&str> = known.iter().copied().filter(is_near).collect();
    near.sort_by_key(|candidate| distance(candidate));
    near.dedup();
    let near: Vec<String> = near.iter().take(MOST_NEAR).map(|near| format!("'{near}'")).collect();
    match near.as_slice() {
        [] => None,
        [near] => Some(format!("did you mean {near}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_machines_are_suggested() {
        let presets = [("luna", ""), ("generic", "")];
        let message = |name| no_machine("no machine", name, &presets).message;
        assert_eq!(message("genric"), "no machine; did you mean 'generic'?");
        assert_eq!(
            (message("gpu"), message("luna.toml")),
            ("no machine".to_owned(), "no machine".to_owned())
        );
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let failure = unknown("algorithm", "exakt", &["ilp", "exact"], "plimsoll list offsets");
        let message = "unknown algorithm 'exakt'; did you mean 'exact'? `plimsoll list offsets` lists all";
        assert_eq!(failure.message, message);
        let failure =
            unknown("algorithm", "best-fit", &["best-fit-skyline", "last-fit", "ilp"], "plimsoll list");
        assert!(failure.message.contains("'last-fit' or 'best-fit-skyline'"), "{}", failure.message);
        let failure = unknown("algorithm", "zzzzzzzz", &["ilp", "exact"], "plimsoll list");
        assert!(!failure.message.contains("did you mean"));
    }
}
