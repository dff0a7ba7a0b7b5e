//! Counts failed runs by algorithm.

use super::{AlgorithmKind, Row, Status};
use serde::Serialize;
use std::fmt::Write as _;

/// An algorithm with failed or refused runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// The problem that the algorithm solves.
    pub problem: String,
    /// The name of the algorithm.
    pub algorithm: String,
    /// The kind of the algorithm.
    pub kind: Option<AlgorithmKind>,
    /// Number of attempted runs, excluding skipped runs and unreadable instances.
    pub runs: usize,
    /// Number of runs that failed, crashed, or were killed for exceeding their time limit.
    pub failed: usize,
    /// Number of runs whose answer the checker rejected.
    pub refused: usize,
    /// The instance of the first failed or refused run.
    pub instance: String,
    /// The error of that run.
    pub reason: String,
}

impl Failures {
    /// Returns true if all attempted runs failed or were refused.
    pub fn is_total(&self) -> bool {
        self.failed + self.refused == self.runs
    }

    /// Returns true if the algorithm is an external program.
    pub fn is_external(&self) -> bool {
        self.kind == Some(AlgorithmKind::External)
    }
}

/// Returns the algorithms with failed or refused runs, in order of their first attempted run.
pub fn failures(records: &[Row]) -> Vec<Failures> {
    let mut all: Vec<Failures> = Vec::new();
    for run in records {
        if matches!(run.status, Status::Skipped | Status::Unreadable) {
            continue;
        }
        let own = |one: &Failures| {
            (&one.problem, &one.algorithm, one.kind) == (&run.problem, &run.algorithm, run.kind)
        };
        let at = all.iter().position(own).unwrap_or(all.len());
        if at == all.len() {
            all.push(Failures {
                problem: run.problem.clone(),
                algorithm: run.algorithm.clone(),
                kind: run.kind,
                ..Failures::default()
            });
        }
        let one = &mut all[at];
        one.runs += 1;
        let broke = run.status.is_broken();
        let refused = run.status == Status::Refused;
        if (broke || refused) && one.failed + one.refused == 0 {
            run.instance.clone_into(&mut one.instance);
            run.error.clone_into(&mut one.reason);
        }
        one.failed += usize::from(broke);
        one.refused += usize::from(refused);
    }
    all.retain(|one| one.failed + one.refused > 0);
    all
}

/// Returns one line per algorithm with the numbers of failed and refused runs and the first error.
pub fn lines(failures: &[Failures]) -> String {
    failures.iter().fold(String::new(), |mut text, one| {
        let Failures { problem, algorithm, runs, failed, refused, instance, reason, .. } = one;
        let how = match (failed, refused) {
            (failed, 0) => format!("failed in {failed} of {runs} runs"),
            (0, refused) => format!("refused in {refused} of {runs} runs"),
            _ => format!("failed in {failed} and refused in {refused} of {runs} runs"),
        };
        let _ = writeln!(text, "{algorithm} ({problem}) {how}; {instance}: {reason}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(algorithm: &str, status: Status, error: &str) -> Row {
        let [problem, instance, algorithm] = ["offsets", "i", algorithm].map(str::to_owned);
        let kind = Some(AlgorithmKind::External);
        Row { instance, problem, algorithm, kind, ..Row::default().without(status, error) }
    }

    #[test]
    fn reasons_are_those_of_the_first_failure() {
        let runs = [
            run("good", Status::Done, "a remark"),
            run("declines", Status::Skipped, "too large"),
            run("bad", Status::Skipped, "too large"),
            run("bad", Status::Failed, "exit status: 7; stderr: too small"),
            run("bad", Status::Refused, "a and b overlap"),
            run("mixed", Status::Done, ""),
            run("mixed", Status::Crashed, "signal: 11"),
            run("large", Status::OutOfMemory, "9 bytes"),
        ];
        let found = failures(&runs);
        let names: Vec<&str> = found.iter().map(|one| one.algorithm.as_str()).collect();
        assert_eq!(names, ["bad", "mixed"]);
        assert!(found[0].is_total() && !found[1].is_total());
        assert_eq!(
            lines(&found),
            "bad (offsets) failed in 1 and refused in 1 of 2 runs; i: exit status: 7; stderr: too small\n\
             mixed (offsets) failed in 1 of 2 runs; i: signal: 11\n"
        );
    }
}
