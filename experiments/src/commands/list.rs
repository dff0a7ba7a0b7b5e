//! `plimsoll list`: every algorithm, every suite and every generated family.

use crate::cli::ListArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::Registry;
use plimsoll::datasets::FAMILIES;
use plimsoll::model::{Entry, Offsets, Pools, Problem, Scattered};
use plimsoll::plan::Plan;
use plimsoll::report::table::{Align, Table};
use plimsoll::suite::{SUITES, corpora};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Algorithm {
    problem: &'static str,
    name: &'static str,
    kind: String,
    about: &'static str,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct Suite {
    name: &'static str,
    about: &'static str,
    available: bool,
}

#[derive(Debug, Serialize)]
struct Generated {
    name: &'static str,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct Listing {
    algorithms: Vec<Algorithm>,
    variants: Vec<Algorithm>,
    suites: Vec<Suite>,
    families: Vec<Generated>,
}

fn algorithms<P: Plan>(registry: &Registry) -> impl Iterator<Item = Algorithm> + '_ {
    P::entries(registry).iter().map(|entry| Algorithm::of(entry))
}

impl Algorithm {
    fn of<P: Problem>(entry: &Entry<P>) -> Self {
        Self {
            problem: P::NAME,
            name: entry.name,
            kind: entry.kind.to_string(),
            about: entry.about,
            source: entry.source,
        }
    }
}

/// Runs the command.
pub fn main(args: &ListArgs) -> Result<u8, Failure> {
    let registry = plimsoll::registry();
    let all =
        algorithms::<Offsets>(&registry)
            .chain(algorithms::<Scattered>(&registry))
            .chain(algorithms::<Pools>(&registry));
    let variants = registry.variants.iter().map(|entry| Algorithm::of(entry)).collect();
    let suites = SUITES.iter().map(|suite| Suite {
        name: suite.name,
        about: suite.about,
        available: suite.origin.folder().is_none() || corpora().is_some(),
    });
    let families = FAMILIES.iter().map(|family| Generated { name: family.name, about: family.about });
    let (algorithms, suites, families) = (all.collect(), suites.collect(), families.collect());
    let listing = Listing { algorithms, variants, suites, families };
    if args.json {
        let text = serde_json::to_string(&listing).map_err(Failure::internal)?;
        output::print(&format!("{text}\n"))?;
    } else {
        output::print(&listing.text())?;
    }
    Ok(ANSWERED)
}

impl Listing {
    fn text(&self) -> String {
        let mut text = String::new();
        let of = |problem| self.algorithms.iter().filter(move |a| a.problem == problem);
        let mut groups: Vec<(&str, Vec<&Algorithm>)> =
            [Offsets::NAME, Scattered::NAME, Pools::NAME].map(|name| (name, of(name).collect())).into();
        groups.push(("offsets, for ablation", self.variants.iter().collect()));
        for (title, group) in groups {
            let mut table = Table::new([
                (title, Align::Left),
                ("kind", Align::Left),
                ("what it does", Align::Left),
                ("source", Align::Left),
            ]);
            for a in group {
                table.row([a.name.to_owned(), a.kind.clone(), a.about.to_owned(), a.source.to_owned()]);
            }
            text.push_str(&table.text());
            text.push('\n');
        }
        let mut table = Table::new([("suite", Align::Left), ("instances", Align::Left)]);
        for suite in &self.suites {
            let note =
                if suite.available { "" } else { " (set PLIMSOLL_CORPORA to the folder that holds it)" };
            table.row([suite.name.to_owned(), format!("{}{note}", suite.about)]);
        }
        text.push_str(&table.text());
        text.push('\n');
        let mut table = Table::new([("family", Align::Left), ("instances to generate", Align::Left)]);
        for family in &self.families {
            table.row([family.name.to_owned(), family.about.to_owned()]);
        }
        text.push_str(&table.text());
        text
    }
}
