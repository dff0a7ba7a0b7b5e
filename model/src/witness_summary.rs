//! Witnesses in short, as rows of experiments store them.

use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A witness in its serialised form, with names in place of positions and with the length of each list in
/// place of the list. A clique of 500 buffers is `{"kind":"clique","buffers":500}`. Its size therefore does
/// not depend on the size of the input. A certificate contains the whole witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WitnessSummary(BTreeMap<String, Value>);

impl WitnessSummary {
    /// Summarises the witness of a bound for one input.
    pub fn of<P: Problem>(input: &P::Input, witness: &P::Witness) -> Self {
        let Ok(Value::Object(members)) = serde_json::to_value(witness) else { return Self(BTreeMap::new()) };
        let mut members = BTreeMap::from_iter(members);
        for (member, value) in &mut members {
            if let Value::Array(items) = value {
                *value = json!(items.len());
            } else if let Some(index) = value.as_u64().and_then(|index| usize::try_from(index).ok())
                && let Some(name) = P::name_of(input, member, index)
            {
                *value = json!(name);
            }
        }
        Self(members)
    }

    /// Summarises a bound that combines the bounds of several parts of an input. `parts` is the name of the
    /// parts, such as `regions`.
    pub fn combined(kind: &str, parts: &str, count: usize) -> Self {
        Self(BTreeMap::from([("kind".to_owned(), json!(kind)), (parts.to_owned(), json!(count))]))
    }

    /// Returns the kind of the witness, such as `load`.
    pub fn kind(&self) -> &str {
        self.0.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the solver whose completed search is the reason for the bound, if there is one.
    pub fn solver(&self) -> Option<&str> {
        self.0.get("solver").and_then(Value::as_str)
    }
}

impl fmt::Display for WitnessSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for WitnessSummary {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Witness;
    use crate::instance::{Buffer, InstanceBuilder};
    use crate::lifespan::Lifespan;
    use crate::offsets::Offsets;
    use crate::units::{BufferId, Step};

    #[test]
    fn lists_become_lengths_and_positions_become_names() {
        let buffer = |name| Buffer::new(name, 3, Lifespan::single(0, 1).unwrap());
        let input = InstanceBuilder::new("t").buffers([buffer("a"), buffer("b")]).build().unwrap();
        let text = |witness: Witness| WitnessSummary::of::<Offsets>(&input, &witness).to_string();
        let ids = [0, 1].map(BufferId::new);
        assert_eq!(text(Witness::Clique { buffers: ids.to_vec() }), r#"{"buffers":2,"kind":"clique"}"#);
        assert_eq!(text(Witness::Fixed { buffer: ids[1] }), r#"{"buffer":"b","kind":"fixed"}"#);
        assert_eq!(text(Witness::Load { step: Step::new(1) }), r#"{"kind":"load","step":1}"#);
        let search = text(Witness::Search { solver: "ilp".into() });
        let read: WitnessSummary = search.parse().unwrap();
        assert_eq!((read.kind(), read.solver(), read.to_string()), ("search", Some("ilp"), search.clone()));
        let sum = WitnessSummary::combined("sum", "regions", 3);
        assert_eq!(sum.to_string(), r#"{"kind":"sum","regions":3}"#);
        assert!("[]".parse::<WitnessSummary>().is_err());
    }
}
