//! The columns of a row whose values are words from a fixed list.

use plimsoll_model::timelines::Time;
use plimsoll_model::{Bytes, Claim, Kind, Relations, Value};
use plimsoll_support::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

words! {
    /// How a run ended.
    #[derive(Default)]
    Status {
        /// The run ended with a result, which the checker accepted.
        Done => "done",
        /// The algorithm does not support the question, or the question cannot be posed.
        Skipped => "skipped",
        /// The run failed with an error. A row that was never completed has this status.
        #[default]
        Failed => "failed",
        /// The checker rejected the answer, or another run refuted it.
        Refused => "refused",
        /// The instance cannot be read.
        Unreadable => "unreadable",
        /// The process of the run crashed.
        Crashed => "crashed",
        /// The process was killed because it exceeded its time limit.
        Killed => "killed",
        /// The process exceeded its memory limit, or could not allocate memory.
        OutOfMemory => "out-of-memory",
    }

    /// What happened during a run.
    Happening {
        /// A better value was found.
        Incumbent => "incumbent",
        /// A tighter bound was proved.
        Bound => "bound",
        /// The run ended.
        End => "end",
    }

    /// The kind of an algorithm.
    AlgorithmKind {
        /// A fast algorithm that does not search for a proof.
        Heuristic => "heuristic",
        /// An algorithm that proves its answer, given enough time.
        Exact => "exact",
        /// A program of others, which nothing is assumed about.
        External => "external",
    }

    /// The unit of values and bounds.
    #[derive(Default)]
    Unit {
        /// Bytes of memory.
        #[default]
        Bytes => "bytes",
        /// Picoseconds.
        Picoseconds => "picoseconds",
        /// Relations between operators, of which more are better.
        Relations => "relations",
    }

    /// What a proof or a witness certifies.
    Certified {
        /// The value is optimal.
        Optimal => "optimal",
        /// The capacity is infeasible.
        Infeasible => "infeasible",
        /// The bound holds.
        Bound => "bound",
    }

    /// The evidence for a certified bound.
    Evidence {
        /// A proof that the independent checker accepted.
        Proof => "proof",
        /// A witness that was recomputed.
        Witness => "witness",
    }

    /// The claim of an external program. It proves nothing.
    Claimed {
        /// The program claims that its layout is optimal.
        Optimal => "optimal",
        /// The program claims a layout within the capacity.
        Feasible => "feasible",
        /// The program claims that no layout exists within the capacity.
        Infeasible => "infeasible",
        /// The program claims nothing.
        Unknown => "unknown",
        /// A valid solution disproves the claim.
        Contradicted => "contradicted",
    }
}

impl Status {
    /// Returns true if the run was attempted and has no result because of an error of the algorithm.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::Failed | Self::Crashed | Self::Killed)
    }
}

impl From<Kind> for AlgorithmKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Heuristic => Self::Heuristic,
            Kind::Exact => Self::Exact,
        }
    }
}

impl From<Claim> for Claimed {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Optimal => Self::Optimal,
            Claim::Feasible => Self::Feasible,
            Claim::Infeasible => Self::Infeasible,
            Claim::Unknown => Self::Unknown,
        }
    }
}

impl Claimed {
    /// Returns true if the program claims to have proved its answer.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Optimal | Self::Infeasible)
    }
}

impl Unit {
    /// Returns the unit of a kind of value.
    pub fn of<V: Value>() -> Self {
        V::UNIT.parse().unwrap_or_default()
    }

    /// Returns the rank of a number. The better of two numbers has the lower rank, and a bound with a higher
    /// rank than a valid value is wrong. The rank of a rank is the original number.
    pub fn rank(self, number: u64) -> u64 {
        if self == Self::Relations { u64::MAX - number } else { number }
    }

    /// Formats a number with its unit.
    pub fn written(self, number: u64) -> String {
        match self {
            Self::Bytes => Bytes::new(number).with_unit(),
            Self::Picoseconds => Time::of_number(number).with_unit(),
            Self::Relations => Relations::of_number(number).with_unit(),
        }
    }
}

/// The capacity that a run decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decide {
    /// The capacity in the file of the instance.
    File,
    /// The load of the instance.
    Load,
    /// A number of bytes.
    Bytes(u64),
}

impl fmt::Display for Decide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Load => f.write_str("load"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl FromStr for Decide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "load" => Ok(Self::Load),
            _ => text.parse().map(Self::Bytes).map_err(|_| "expected file, load or a capacity".to_owned()),
        }
    }
}

impl Serialize for Decide {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decide {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked_as_compared<V: Value>() {
        let (numbers, unit) = ([0, 1, 4, 6], Unit::of::<V>());
        assert_eq!(unit.as_str(), V::UNIT);
        for (a, b) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
            let compared = V::of_number(a).cmp(&V::of_number(b));
            assert_eq!(unit.rank(a).cmp(&unit.rank(b)), compared, "{a} and {b} {unit}");
            assert_eq!(unit.rank(unit.rank(a)), a);
        }
    }

    #[test]
    fn numbers_are_ranked_as_values_compare() {
        ranked_as_compared::<Bytes>();
        ranked_as_compared::<Time>();
        ranked_as_compared::<Relations>();
    }

    #[test]
    fn words_are_the_same_in_text_and_json() {
        for status in Status::ALL {
            assert_eq!(status.to_string().parse(), Ok(*status));
            assert_eq!(serde_json::to_string(status).unwrap(), format!("\"{status}\""));
        }
        assert!("fine".parse::<Status>().unwrap_err().contains("done, skipped"));
        for decide in [Decide::File, Decide::Load, Decide::Bytes(7)] {
            assert_eq!(decide.to_string().parse(), Ok(decide));
        }
        assert!("true".parse::<Decide>().is_err());
    }
}
