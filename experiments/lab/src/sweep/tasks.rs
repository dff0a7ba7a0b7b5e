//! The tasks of a sweep, which are built-in algorithms and external planners with their parameters.

use super::file::{RawAlgorithms, RawSweep, Source};
use crate::experiment::{ExperimentError, Task};
use crate::external::{External, VersionCommands};
use crate::row::AlgorithmKind;
use plimsoll::posed::{
    self, Facts, PROBLEMS, TermError, Terms, algorithm, algorithms, check_terms, profile, terms_in_full,
};
use plimsoll::{Registry, registry};
use plimsoll_model::{Kind, Offsets, Problem, Setup};

/// Returns one task per algorithm and number of threads, in file order. Adds the byte position of the entry
/// of each task to `places`, and each external planner to `peers`.
pub(super) fn tasks(
    (source, raw): (&Source, &RawSweep),
    commands: VersionCommands,
    places: &mut Vec<usize>,
    peers: &mut Vec<External>,
) -> Result<Vec<Task>, ExperimentError> {
    let registry = registry();
    let mut tasks = Vec::new();
    for (at, entry) in raw.algorithms.get_ref().iter().enumerate() {
        let own = entry.get_ref();
        let wrong =
            |message: String| source.wrong(entry.span().start, &format!("algorithms[{}]: {message}", at + 1));
        let each = parameters(raw, own).map_err(&wrong)?;
        let found = if let Some(peer) = peer(&registry, own, commands).map_err(&wrong)? {
            if peers.iter().any(|other| other.name() == peer.name()) {
                return Err(wrong(format!("another external planner is named '{}'", peer.name())));
            }
            // An external planner without `{seed}` gets only the first seed. External planners have no node
            // limit.
            let once = if peer.is_seeded() { each.seeds.len() } else { 1 };
            let task = Task {
                algorithm: peer.name().to_owned(),
                kind: AlgorithmKind::External,
                peer: Some(peers.len()),
                nodes: vec![None],
                seeds: each.seeds[..once].to_vec(),
                ..each
            };
            peers.push(peer);
            vec![task]
        } else {
            let terms: Terms =
                own.terms.as_deref().unwrap_or_default().parse().map_err(|e| wrong(show(&e)))?;
            let chosen = chosen(&registry, own).map_err(&wrong)?;
            let named = |Facts { problem, name, kind, .. }: Facts| {
                let (algorithm, kind) = (name.to_owned(), kind.into());
                check_terms(&terms, &[problem], false).map_err(|error| wrong(show(&error)))?;
                let terms = terms_in_full(&terms, problem);
                Ok(Task { problem, algorithm, kind, terms, ..each.clone() })
            };
            chosen.into_iter().map(named).collect::<Result<_, ExperimentError>>()?
        };
        let threads = own.threads.as_ref().map_or(&[1][..], |threads| &threads.0);
        for task in found {
            let with = |&threads: &u64| Task { threads: threads as usize, ..task.clone() };
            tasks.extend(threads.iter().map(with));
        }
        places.resize(tasks.len(), entry.span().start);
    }
    Ok(tasks)
}

/// Returns the common parameters of the tasks of an entry. The values of the entry override those that the
/// file sets for all entries.
fn parameters(raw: &RawSweep, own: &RawAlgorithms) -> Result<Task, String> {
    let threads = own.threads.as_ref().map_or(&[1][..], |threads| &threads.0);
    let most = Setup::MOST_THREADS;
    if let Some(bad) = threads.iter().find(|&&threads| !(1..=most as u64).contains(&threads)) {
        return Err(format!("threads is {bad}; expected 1 to {most}"));
    }
    let repetitions = own.repetitions.or(raw.repetitions).map_or(1, |repetitions| repetitions.0);
    if repetitions == 0 {
        return Err("repetitions is 0; expected at least 1".to_owned());
    }
    let seeds = own.seeds.as_ref().or(raw.seeds.as_ref()).map_or_else(|| vec![0], |seeds| seeds.0.clone());
    let times = own.time.as_ref().or(raw.limits.time.as_ref());
    let nodes = own.nodes.as_ref().or(raw.limits.nodes.as_ref());
    Ok(Task {
        problem: Offsets::NAME,
        algorithm: String::new(),
        kind: AlgorithmKind::Heuristic,
        peer: None,
        threads: 1,
        terms: Terms::default(),
        decide: own.decide.as_ref().map(|capacity| capacity.0),
        times: times.map_or_else(|| vec![None], |times| times.0.iter().copied().map(Some).collect()),
        nodes: nodes.map_or_else(|| vec![None], |nodes| nodes.0.iter().copied().map(Some).collect()),
        seeds,
        repetitions,
    })
}

/// Returns the external planner of an entry with its version, if the entry describes one.
fn peer(
    registry: &Registry,
    own: &RawAlgorithms,
    commands: VersionCommands,
) -> Result<Option<External>, String> {
    let Some(line) = &own.external else {
        let idle = [("version", own.version.is_some()), ("elapsed", own.elapsed.is_some())];
        let idle = idle.into_iter().find_map(|(key, given)| given.then_some(key));
        return idle.map_or(Ok(None), |key| Err(format!("{key} is allowed only with external")));
    };
    let [name] = own.names.0.as_slice() else {
        let count = own.names.0.len();
        return Err(format!("names: an external planner must have exactly one name; found {count}"));
    };
    if let Some(problem) = own.problem.as_deref().filter(|&problem| problem != Offsets::NAME) {
        return Err(format!("problem is '{problem}'; external planners support only offsets"));
    }
    if own.terms.is_some() {
        return Err("terms: external planners support only offsets, which have no terms".to_owned());
    }
    if own.nodes.is_some() {
        return Err("nodes: external planners have no node limit".to_owned());
    }
    let known = PROBLEMS.iter().flat_map(|problem| algorithms(registry, problem));
    if ["all", "heuristics", "solvers"].contains(&name.as_str())
        || known.into_iter().any(|own| own.name == name)
    {
        return Err(format!("external '{name}': the name is already in use; choose another"));
    }
    let mut peers = [External::parse(&format!("{name}={line}"))?];
    if let Some(command) = &own.version {
        External::ask_version(&mut peers, &format!("{name}={command}"), commands)?;
    }
    if let Some(pattern) = &own.elapsed {
        External::set_elapsed_pattern(&mut peers, &format!("{name}={pattern}"))
            .map_err(|error| error.to_string())?;
    }
    let [peer] = peers;
    Ok(Some(peer))
}

/// Returns the algorithms of an entry.
fn chosen(registry: &Registry, own: &RawAlgorithms) -> Result<Vec<Facts>, String> {
    let problem = match own.problem.as_deref() {
        None => None,
        Some(text) => Some(
            posed::problem(text)
                .ok_or_else(|| format!("unknown problem '{text}'; known: {}", PROBLEMS.join(", ")))?,
        ),
    };
    let mut all = Vec::new();
    for name in &own.names.0 {
        let group = |kind: Kind| match name.as_str() {
            "all" => true,
            "heuristics" => kind == Kind::Heuristic,
            "solvers" => kind == Kind::Exact,
            _ => false,
        };
        let found: Vec<Facts> = if ["all", "heuristics", "solvers"].contains(&name.as_str()) {
            algorithms(registry, problem.unwrap_or(Offsets::NAME))
                .into_iter()
                .filter(|found| group(found.kind))
                .collect()
        } else {
            let found = algorithm(registry, problem.as_ref().map_or(PROBLEMS, std::slice::from_ref), name);
            vec![found.expect("the problems exist").map_err(|error| error.to_string())?]
        };
        let decides = |problem: &str| profile(problem).is_some_and(|own| own.decides);
        if let Some(other) = found.iter().find(|found| own.decide.is_some() && !decides(found.problem)) {
            return Err(format!(
                "decide: '{}' is for {}, which has no capacity to decide",
                other.name, other.problem
            ));
        }
        all.extend(found);
    }
    Ok(all)
}

fn show(error: &TermError) -> String {
    format!("terms: {error}")
}
