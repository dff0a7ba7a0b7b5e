//! The assumptions about a graph and the sources of its tensor sizes. Every report on a graph begins with
//! them.

use plimsoll_datasets::{Import, SizeSources, Unrunnable};
use plimsoll_model::Claim;
use serde::Serialize;
use std::fmt::Write as _;

/// The assumptions of an import, and the sources of its tensor sizes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Basis {
    /// One line per assumption.
    pub assumed: Vec<String>,
    /// The sources of the tensor sizes, or `None` if the graph was not imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<Sizes>,
    /// Operators that the runtime of the file format cannot run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unrunnable: Vec<Unrunnable>,
}

/// Numbers of tensors by the source of their size, as in [`SizeSources`].
#[derive(Clone, Copy, Debug, Serialize)]
struct Sizes {
    inferred: usize,
    declared: usize,
    assumed: usize,
}

impl Basis {
    /// Returns the assumptions of an import and the sources of its tensor sizes.
    pub fn of(import: &Import) -> Self {
        let SizeSources { inferred, declared, assumed } = &import.sizes;
        let sizes = Sizes { inferred: *inferred, declared: declared.len(), assumed: assumed.len() };
        let any = sizes.inferred + sizes.declared + sizes.assumed > 0;
        let (assumed, unrunnable) = (import.assumed.clone(), import.unrunnable.clone());
        Self { assumed, sizes: any.then_some(sizes), unrunnable }
    }

    /// Returns one line per assumption and per unsupported operator, and a line with the number of sizes per
    /// source.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.assumed {
            let _ = writeln!(text, "assumed      {line}");
        }
        for one in &self.unrunnable {
            let _ = writeln!(text, "runtime      tflite-micro cannot run {one}");
        }
        if let Some(Sizes { inferred, declared, assumed }) = self.sizes {
            let proofs = match (declared, assumed) {
                (0, 0) => "",
                (_, 0) => ": proofs hold for the declared sizes",
                _ => ": proofs hold for the assumed sizes",
            };
            let _ =
                writeln!(text, "sizes: inferred {inferred}, declared {declared}, assumed {assumed}{proofs}");
        }
        text
    }

    /// Returns the claim. If tensor sizes are declared or assumed, a restriction is appended to `optimal` and
    /// `infeasible`, as in `optimal for the declared sizes`. If sizes are assumed, the operators that the
    /// runtime cannot run are named too.
    pub fn claim(&self, claim: Claim) -> String {
        match self.sizes {
            _ if !claim.is_proved() => claim.to_string(),
            Some(Sizes { assumed: 1.., .. }) => format!("{claim}{} for the assumed sizes", self.obstacle()),
            Some(Sizes { declared: 1.., .. }) => format!("{claim} for the declared sizes"),
            _ => claim.to_string(),
        }
    }

    /// Names the operators that the runtime cannot run, in parentheses; empty if there are none.
    fn obstacle(&self) -> String {
        let Some(first) = self.unrunnable.first() else { return String::new() };
        let more = match self.unrunnable.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(" (tflite-micro cannot run {}{more})", first.operator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis(inferred: usize, declared: usize, assumed: usize) -> Basis {
        let sizes = Some(Sizes { inferred, declared, assumed });
        Basis { assumed: vec!["a line".to_owned()], sizes, unrunnable: Vec::new() }
    }

    #[test]
    fn claims_name_the_sizes_they_hold_for() {
        assert_eq!(basis(3, 0, 0).claim(Claim::Optimal), "optimal");
        assert_eq!(basis(3, 1, 0).claim(Claim::Optimal), "optimal for the declared sizes");
        assert_eq!(basis(3, 1, 1).claim(Claim::Infeasible), "infeasible for the assumed sizes");
        assert_eq!(basis(3, 1, 1).claim(Claim::Feasible), "feasible");
        let one =
            Unrunnable { operator: "FlexErf".to_owned(), reason: "why".to_owned(), places: vec![(0, 7)] };
        let flex = Basis { unrunnable: vec![one], ..basis(3, 0, 2) };
        assert_eq!(
            flex.claim(Claim::Optimal),
            "optimal (tflite-micro cannot run FlexErf) for the assumed sizes"
        );
        assert!(flex.text().contains("runtime      tflite-micro cannot run FlexErf (1 operator): why\n"));
        assert_eq!(Basis::default().text(), "");
        assert_eq!(basis(3, 0, 0).text(), "assumed      a line\nsizes: inferred 3, declared 0, assumed 0\n");
        assert!(
            basis(3, 2, 0).text().ends_with("declared 2, assumed 0: proofs hold for the declared sizes\n")
        );
    }
}
