//! One instance or graph of a sweep.

use super::manifest::ModelRecord;
use crate::suite::sha256;
use plimsoll::posed::{Subject, SubjectKind};
use plimsoll_datasets::ImportOptions;
use plimsoll_model::{Bytes, Instance, load};

/// An instance or graph of a sweep.
#[derive(Debug)]
pub struct Input {
    /// The suite, path or family, as given in the sweep file.
    pub suite: String,
    /// The name of the instance or graph.
    pub name: String,
    /// The kind of the input, which is known even if the input could not be read.
    pub kind: SubjectKind,
    /// SHA-256 of the canonical form, or an empty string if the input could not be read.
    pub sha256: String,
    /// The load, if the input is an instance.
    pub load: Option<Bytes>,
    /// The instance (with its original capacity) or the graph, or the error from reading it.
    pub subject: Result<Subject, String>,
    /// The problems that may be posed on the input. An empty list stands for all problems that accept its
    /// kind.
    pub(super) problems: Vec<&'static str>,
    /// The terms under which an instance was derived from a graph, or an empty string for other inputs.
    pub(super) terms: String,
    /// The model and its import options, or `None` if all options have their default values.
    pub(super) model: Option<ModelRecord>,
}

impl Input {
    pub(super) fn of(suite: &str, subject: Subject) -> Self {
        let load = match &subject {
            Subject::Instance(instance) => Some(load(instance).0),
            Subject::Graph(_) => None,
        };
        Self {
            suite: suite.to_owned(),
            name: subject.name().to_owned(),
            kind: subject.kind(),
            sha256: sha256(&subject),
            load,
            subject: Ok(subject),
            problems: Vec::new(),
            terms: String::new(),
            model: None,
        }
    }

    /// Records how a model was read, and adds the label to the name of the input. The label is empty if the
    /// model is read with only one set of options.
    pub(super) fn read(&mut self, import: &ImportOptions, label: &str) {
        if *import == ImportOptions::default() {
            return;
        }
        self.model = Some(ModelRecord { name: self.name.clone(), import: import.clone() });
        if !label.is_empty() {
            self.name = format!("{} [{label}]", self.name);
        }
    }

    /// Returns the instance, if the input is one.
    pub(super) fn instance(&self) -> Option<&Instance> {
        match &self.subject {
            Ok(Subject::Instance(instance)) => Some(instance),
            _ => None,
        }
    }

    /// Returns the original capacity.
    pub(super) fn capacity(&self) -> Option<Bytes> {
        self.instance().and_then(Instance::capacity)
    }

    pub(super) fn unreadable(suite: &str, name: String, kind: SubjectKind, why: String) -> Self {
        let (suite, sha256, terms) = (suite.to_owned(), String::new(), String::new());
        let problems = Vec::new();
        Self { suite, name, kind, sha256, load: None, subject: Err(why), problems, terms, model: None }
    }
}
