//! Reads the reports that an external planner prints on standard output.
//!
//! A report is a line with a JSON object that has at least one of the members `claim`, `peak` and
//! `lower_bound`. The members have the same meaning as in the output of `plimsoll solve --json`. All other
//! output is ignored. Reports with `seconds` form a trace of events. If a member is reported several times,
//! its last value counts.

use super::tail::tail;
use plimsoll_model::{Claim, Stop, WitnessSummary};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::io;
use std::path::Path;

/// Maximum number of bytes that are read from the end of standard output.
const TAIL: u64 = 4 << 20;

/// A report, or the last value of each member over several reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Said {
    /// Time since the start in seconds, as measured by the planner.
    pub seconds: Option<f64>,
    /// The claim: `optimal`, `feasible`, `infeasible` or `unknown`. Other words are ignored.
    #[serde(deserialize_with = "known")]
    pub claim: Option<Claim>,
    /// The termination reason, as `plimsoll solve` spells it. Other words are ignored.
    #[serde(deserialize_with = "known")]
    pub stop: Option<Stop>,
    /// The peak of the layout, in bytes.
    pub peak: Option<u64>,
    /// The reported lower bound, in bytes.
    pub lower_bound: Option<u64>,
    /// The reported witness of the bound, if it has the form of `plimsoll solve`.
    #[serde(rename = "witness_summary", deserialize_with = "known")]
    pub witness: Option<WitnessSummary>,
    /// The number of nodes, as the planner counts them.
    pub nodes: Option<u64>,
}

/// Reads a member that a stranger may fill in another way.
fn known<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

impl Said {
    /// Returns the last value of each member.
    pub fn last(lines: &[Self]) -> Self {
        let mut last = Self::default();
        for line in lines.iter().cloned() {
            last = Self {
                seconds: line.seconds.or(last.seconds),
                claim: line.claim.or(last.claim),
                stop: line.stop.or(last.stop),
                peak: line.peak.or(last.peak),
                lower_bound: line.lower_bound.or(last.lower_bound),
                witness: line.witness.or(last.witness),
                nodes: line.nodes.or(last.nodes),
            };
        }
        last
    }
}

/// Reads the reports from a file that contains the standard output of the planner.
pub(super) fn read(path: &Path) -> io::Result<Vec<Said>> {
    Ok(parse(&tail(path, TAIL)?))
}

fn parse(text: &str) -> Vec<Said> {
    let lines = text.lines().filter(|line| line.trim_start().starts_with('{'));
    let said = lines.filter_map(|line| serde_json::from_str::<Said>(line).ok());
    said.filter(|said| said.claim.is_some() || said.peak.is_some() || said.lower_bound.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_each_member_is_final() {
        let text = "banner\n{\"seconds\":0.5,\"peak\":12}\n{\"lower_bound\":8, \"seconds\":1}\n{broken\n\
                    {\"claim\":\"optimal\",\"peak\":9,\"extra\":[1]}\n{\"other\":1}\n[]\n";
        let lines = parse(text);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].seconds, lines[0].peak), (Some(0.5), Some(12)));
        let last = Said::last(&lines);
        assert_eq!((last.claim, last.peak, last.lower_bound), (Some(Claim::Optimal), Some(9), Some(8)));
        assert_eq!(Said::last(&[]), Said::default());
    }

    #[test]
    fn only_the_tail_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let filler = "x".repeat(TAIL as usize);
        std::fs::write(&path, format!("{{\"peak\":1}}\n{filler}\n{{\"peak\":2}}\n")).unwrap();
        assert_eq!(Said::last(&read(&path).unwrap()).peak, Some(2));
        assert_eq!(read(&path).unwrap().len(), 1);
    }
}
