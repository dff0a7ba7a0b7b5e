//! Finds algorithms by name.

use crate::failure::Failure;
use plimsoll::model::{Entry, Kind, Offsets, Problem, SharedObjects, SplitBuffers};
use plimsoll::posed::{algorithms, problem};
use plimsoll::{Listed, Registry, excluded};
use strsim::levenshtein;

/// Returns the problem on instances with this name, current or former.
pub fn of_instances(text: &str) -> Result<&'static str, String> {
    let found = problem(text).filter(|problem| OF_INSTANCES.contains(problem));
    found.ok_or_else(|| format!("expected {}", OF_INSTANCES.join(", ")))
}

/// The problems on instances.
const OF_INSTANCES: [&str; 3] = [Offsets::NAME, SplitBuffers::NAME, SharedObjects::NAME];

/// An algorithm for one of the problems on instances.
pub enum Choice {
    /// An algorithm for offsets.
    Offsets(&'static Entry<Offsets>),
    /// An algorithm for split buffers.
    SplitBuffers(&'static Entry<SplitBuffers>),
    /// An algorithm for shared objects.
    SharedObjects(&'static Entry<SharedObjects>),
}

/// Returns the default algorithm: the one called `exact`. If there is none, returns the first exact algorithm
/// or, failing that, the first entry.
pub fn default_entry<P: Listed>(registry: &Registry) -> Option<&'static Entry<P>> {
    let entries = P::entries(registry);
    let exact = entries.iter().find(|entry| entry.name == "exact");
    exact.or_else(|| entries.iter().find(|entry| entry.kind == Kind::Exact)).or(entries.first()).copied()
}

/// Returns the algorithm called `name`, or the default algorithm if `name` is `None`. If `problem` is `None`,
/// tries the problems in turn.
pub fn choose(registry: &Registry, name: Option<&str>, problem: Option<&str>) -> Result<Choice, Failure> {
    let problems = match (problem, name) {
        (Some(problem), _) => vec![problem],
        (None, None) => vec![Offsets::NAME],
        (None, Some(_)) => vec![Offsets::NAME, SharedObjects::NAME, SplitBuffers::NAME],
    };
    let found = problems.iter().find_map(|problem| match *problem {
        Offsets::NAME => find(registry, name).map(Choice::Offsets),
        SplitBuffers::NAME => find(registry, name).map(Choice::SplitBuffers),
        _ => find(registry, name).map(Choice::SharedObjects),
    });
    found.ok_or_else(|| match (name, problem) {
        (Some(name), Some(problem)) if names(registry, &OF_INSTANCES).contains(&name) => {
            let known = names(registry, &problems).join(", ");
            Failure::input(format!("solver '{name}' does not solve {problem} (known: {known})"))
        }
        _ => unknown("solver", name.unwrap_or_default(), &names(registry, &problems)),
    })
}

fn find<P: Listed>(registry: &Registry, name: Option<&str>) -> Option<&'static Entry<P>> {
    match name {
        Some(name) => registry.named(name),
        None => default_entry(registry),
    }
}

/// Returns the algorithm called `name` among `entries`. `what` describes the algorithm in messages.
pub fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &str,
    what: &str,
) -> Result<&'static Entry<P>, Failure> {
    let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let found = entries.iter().copied().find(|entry| entry.name == name);
    found.ok_or_else(|| unknown(what, name, &known))
}

/// Returns the distinct names of all algorithms of these problems, in order.
pub fn names(registry: &Registry, problems: &[&str]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for facts in problems.iter().flat_map(|problem| algorithms(registry, problem)).flatten() {
        if !names.contains(&facts.name) {
            names.push(facts.name);
        }
    }
    names
}

/// Returns the error for an unknown name. It explains why this build lacks the algorithm, or suggests the
/// nearest known name.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    if let Some(reason) = excluded(name) {
        return Failure::input(reason);
    }
    let nearest = known.iter().min_by_key(|candidate| levenshtein(name, candidate));
    let hint = match nearest {
        Some(near) if levenshtein(name, near) <= 2 + name.len() / 4 => format!("; did you mean '{near}'?"),
        _ => String::new(),
    };
    Failure::input(format!("unknown {what} '{name}'{hint} (known: {})", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let failure = unknown("solver", "exakt", &["ilp", "exact"]);
        assert_eq!(failure.message, "unknown solver 'exakt'; did you mean 'exact'? (known: ilp, exact)");
        assert!(!unknown("solver", "zzzzzzzz", &["ilp", "exact"]).message.contains("did you mean"));
    }
}
