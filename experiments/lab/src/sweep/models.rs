//! Models in sweeps: values of their free dimensions, and the problems that are posed on them.

use super::file::RawInstances;
use super::lists::{Numbers, products};
use crate::experiment::Input;
use plimsoll::posed::{
    self, PROBLEMS, SubjectKind, Terms, check_instance_terms, instance_terms, is_on_instances, takes,
};
use plimsoll_datasets::ImportOptions;
use std::collections::BTreeMap;

/// Maximum number of combinations of import options for one `[[instances]]` entry of a sweep file.
const MOST: usize = 1000;

/// One of the sets of import options with which the files of an entry are read.
pub(super) struct Variant {
    pub import: ImportOptions,
    /// The settings that distinguish this variant from the others of the entry, such as `batch=4`.
    pub label: String,
}

/// Returns one variant per combination of the listed values. The last key varies fastest.
pub(super) fn variants(raw: &RawInstances) -> Result<Vec<Variant>, String> {
    // Names of dimensions have the prefix `dim.`, so they cannot clash with the other keys.
    let dims = raw.dim.iter().map(|(name, values)| (format!("dim.{name}"), values.clone()));
    let sizes = [("batch", &raw.batch), ("dim_default", &raw.dim_default)];
    let sizes = sizes.into_iter().filter_map(|(key, values)| Some((key.to_owned(), values.clone()?)));
    let lists: BTreeMap<String, Numbers> = sizes.chain(dims).collect();
    let is_size = |key: &str| !key.starts_with("dim.");
    if let Some((key, _)) = lists.iter().find(|(key, values)| is_size(key) && values.0.contains(&0)) {
        return Err(format!("{key} is 0; expected at least 1"));
    }
    let count = lists.values().try_fold(1usize, |count, values| count.checked_mul(values.0.len()));
    if count.is_none_or(|count| count > MOST) {
        return Err(format!("the values of dimensions have more than {MOST} combinations"));
    }
    let of = |chosen: BTreeMap<String, u64>| {
        let dims = chosen.iter().filter_map(|(key, &value)| Some((key.strip_prefix("dim.")?, value)));
        let import = ImportOptions {
            dims: dims.map(|(name, value)| (name.to_owned(), value)).collect(),
            batch: chosen.get("batch").copied(),
            dim_default: chosen.get("dim_default").copied(),
            input_shapes: raw.input_shape.clone(),
            values: raw.value.clone(),
            tensor_shapes: raw.tensor_shape.clone(),
            element: raw.element.clone(),
            keep_constants: raw.keep_constants == Some(true),
            assume_bytes: raw.assume_bytes.map(|bytes| bytes.0),
            trips: raw.trips,
            ..ImportOptions::default()
        };
        let varied = chosen.iter().filter(|(key, _)| lists[*key].0.len() > 1);
        let words: Vec<String> = varied
            .map(|(key, value)| format!("{}={value}", key.strip_prefix("dim.").unwrap_or(key)))
            .collect();
        Variant { import, label: words.join(" ") }
    };
    Ok(products(&lists).into_iter().map(of).collect())
}

/// Returns the first key of the entry that applies only to models, if there is one.
pub(super) fn key(raw: &RawInstances) -> Option<&'static str> {
    let given = [
        ("batch", raw.batch.is_some()),
        ("dim_default", raw.dim_default.is_some()),
        ("dim", !raw.dim.is_empty()),
        ("input_shape", !raw.input_shape.is_empty()),
        ("tensor_shape", !raw.tensor_shape.is_empty()),
        ("value", !raw.value.is_empty()),
        ("element", raw.element.is_some()),
        ("keep_constants", raw.keep_constants.is_some()),
        ("assume_bytes", raw.assume_bytes.is_some()),
        ("trips", raw.trips.is_some()),
    ];
    given.into_iter().find_map(|(key, given)| given.then_some(key))
}

/// The problems that an entry poses on its inputs.
pub(super) struct Posing {
    problems: Vec<&'static str>,
    /// The terms under which a graph becomes an instance.
    terms: Terms,
}

impl Posing {
    /// Resolves `as` and `terms`. Returns `None` if `as` names no problem. In that case, every algorithm
    /// runs on all inputs that it accepts.
    pub fn of(raw: &RawInstances) -> Result<Option<Self>, String> {
        let mut problems: Vec<&'static str> = Vec::new();
        for word in raw.posed.iter().flat_map(|words| &words.0) {
            let known = || format!("as: unknown problem '{word}'; known: {}", PROBLEMS.join(", "));
            let problem = posed::problem(word).ok_or_else(known)?;
            if problems.contains(&problem) {
                return Err(format!("as: '{word}' is given twice"));
            }
            problems.push(problem);
        }
        let given = raw.terms.as_deref().unwrap_or_default();
        let terms: Terms = given.parse().map_err(|error| format!("terms: {error}"))?;
        check_instance_terms(&terms).map_err(|error| format!("terms: {error}"))?;
        if raw.terms.is_some() && !problems.iter().any(|problem| is_on_instances(problem)) {
            let on: Vec<&str> = PROBLEMS.iter().copied().filter(|problem| is_on_instances(problem)).collect();
            return Err(format!(
                "terms is allowed only with as = \"{}\"; terms of other problems belong to [[algorithms]]",
                on.join("\" or \"")
            ));
        }
        Ok((!problems.is_empty()).then(|| Self { problems, terms: instance_terms(&terms) }))
    }

    /// Poses the problems on an input. For problems on instances, a graph is converted to an instance. For
    /// other problems, the graph is kept.
    pub fn pose(&self, input: Input) -> Result<Vec<Input>, String> {
        if input.kind == SubjectKind::Instance {
            if let Some(other) = self.problems.iter().find(|problem| !takes(problem, input.kind)) {
                let name = &input.name;
                return Err(format!("as: {other} needs a graph or a model, but '{name}' is an instance"));
            }
            return Ok(vec![input.only(self.problems.clone())]);
        }
        let (on_instances, on_graphs): (Vec<&str>, Vec<&str>) =
            self.problems.iter().partition(|problem| is_on_instances(problem));
        let mut posed = Vec::new();
        if !on_instances.is_empty() {
            posed.push(input.derived(&self.terms).only(on_instances));
        }
        if !on_graphs.is_empty() {
            posed.push(input.only(on_graphs));
        }
        Ok(posed)
    }
}
