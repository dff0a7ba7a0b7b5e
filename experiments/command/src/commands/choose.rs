//! Finds algorithms by the names users type.

use crate::failure::Failure;
use plimsoll::model::{Entry, Kind, Offsets, Problem, SharedObjects, SplitBuffers};
use plimsoll::posed::{algorithms, problem};
use plimsoll::{Listed, Registry, left_out};
use strsim::levenshtein;

/// A problem of instances by its name, today's or that of before.
pub fn of_instances(text: &str) -> Result<&'static str, String> {
    let found = problem(text).filter(|problem| OF_INSTANCES.contains(problem));
    found.ok_or_else(|| format!("expected {}", OF_INSTANCES.join(", ")))
}

/// The problems of instances.
const OF_INSTANCES: [&str; 3] = [Offsets::NAME, SplitBuffers::NAME, SharedObjects::NAME];

/// One entry of one problem.
pub enum Choice {
    /// For the offset problem.
    Offsets(&'static Entry<Offsets>),
    /// For scattered layouts.
    SplitBuffers(&'static Entry<SplitBuffers>),
    /// For the shared-object problem.
    SharedObjects(&'static Entry<SharedObjects>),
}

/// The entry used where none is named: the one called `exact`, else the first exact method, else the first.
pub fn default_entry<P: Listed>(registry: &Registry) -> Option<&'static Entry<P>> {
    let entries = P::entries(registry);
    let exact = entries.iter().find(|entry| entry.name == "exact");
    exact.or_else(|| entries.iter().find(|entry| entry.kind == Kind::Exact)).or(entries.first()).copied()
}

/// The entry called `name`, of `problem` where given, else of the first problem that has it.
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
            Failure::input(format!("solver '{name}' is not for {problem} (those are: {known})"))
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

/// The entry called `name` among those of one problem; `what` is what messages call it.
pub fn named<P: Problem>(
    entries: &[&'static Entry<P>],
    name: &str,
    what: &str,
) -> Result<&'static Entry<P>, Failure> {
    let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let found = entries.iter().copied().find(|entry| entry.name == name);
    found.ok_or_else(|| unknown(what, name, &known))
}

/// Names of all algorithms of these problems, in their order, once each.
pub fn names(registry: &Registry, problems: &[&str]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for facts in problems.iter().flat_map(|problem| algorithms(registry, problem)).flatten() {
        if !names.contains(&facts.name) {
            names.push(facts.name);
        }
    }
    names
}

/// The error for a name nobody carries, with the nearest that somebody does, or the reason why nobody does.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    if let Some(reason) = left_out(name) {
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
