//! One instance or graph of an experiment.

use super::manifest::ModelRecord;
use crate::suite::{Case, CaseError, sha256};
use plimsoll::posed::{Subject, SubjectKind, Terms, instance};
use plimsoll_datasets::ImportOptions;
use plimsoll_model::{Bytes, Instance, load};

/// An instance or graph of an experiment.
#[derive(Debug)]
pub struct Input {
    /// The suite, path or family, as given by the user.
    pub suite: String,
    /// The name of the instance or graph.
    pub name: String,
    /// The kind of the input, which is known even if the input could not be read.
    pub kind: SubjectKind,
    /// SHA-256 of the canonical form, or an empty string if the input could not be read.
    pub sha256: String,
    /// The load, if the input is an instance.
    pub load: Option<Bytes>,
    /// The instance (with its original capacity) or the graph, or the reason why there is none.
    pub subject: Result<Subject, Unready>,
    /// The problems that may be posed on the input. An empty list stands for all problems that accept its
    /// kind.
    pub(crate) problems: Vec<&'static str>,
    /// The terms under which an instance was derived from a graph, and no terms for other inputs.
    pub(crate) terms: Terms,
    /// The model and its import options, or `None` if all options have their default values.
    pub(crate) model: Option<ModelRecord>,
}

/// The reason why an input has no instance or graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// The file cannot be read.
    Unreadable(String),
    /// The model can be read, but no instance can be derived from it.
    NotPosed(String),
}

impl Input {
    /// Creates an input on which all problems that accept its kind may be posed.
    pub fn of(suite: &str, subject: Subject) -> Self {
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
            terms: Terms::default(),
            model: None,
        }
    }

    /// Records how a model was read, and adds the label to the name of the input. The label is empty if the
    /// model is read with only one set of options.
    pub(crate) fn read(&mut self, import: &ImportOptions, label: &str) {
        if *import == ImportOptions::default() {
            return;
        }
        self.model = Some(ModelRecord { name: self.name.clone(), import: import.clone() });
        if !label.is_empty() {
            self.name = format!("{} [{label}]", self.name);
        }
    }

    /// Returns true if the file of the input cannot be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.subject, Err(Unready::Unreadable(_)))
    }

    /// Returns the instance, if the input is one.
    pub(crate) fn instance(&self) -> Option<&Instance> {
        match &self.subject {
            Ok(Subject::Instance(instance)) => Some(instance),
            _ => None,
        }
    }

    /// Returns the original capacity.
    pub(crate) fn capacity(&self) -> Option<Bytes> {
        self.instance().and_then(Instance::capacity)
    }

    /// Restricts the problems that may be posed on the input. An empty list means no restriction.
    #[must_use]
    pub fn only(self, problems: Vec<&'static str>) -> Self {
        Self { problems, ..self }
    }

    /// Derives an instance from a graph under the given terms. If that is not possible, runs on the input are
    /// skipped.
    #[must_use]
    pub fn derived(&self, terms: &Terms) -> Self {
        let made = match &self.subject {
            Ok(Subject::Graph(graph)) => {
                instance(graph, terms).map_err(|error| Unready::NotPosed(error.to_string()))
            }
            Ok(Subject::Instance(_)) => Err(Unready::NotPosed("not a graph".to_owned())),
            Err(why) => Err(why.clone()),
        };
        let made = match made {
            Ok(instance) => Self::of(&self.suite, Subject::Instance(instance)),
            Err(why) => Self::without(&self.suite, self.name.clone(), SubjectKind::Instance, why),
        };
        Self { name: self.name.clone(), terms: terms.clone(), model: self.model.clone(), ..made }
    }

    /// Converts a case of a suite.
    pub fn from_case(case: Case) -> Self {
        match case.subject {
            Ok(subject) => Self::of(&case.suite, subject),
            Err(error) => {
                let kind = match &error {
                    CaseError::Model(_) => SubjectKind::Graph,
                    CaseError::Csv(_) | CaseError::Dsa(_) => SubjectKind::Instance,
                };
                let why = Unready::Unreadable(error.to_string());
                Self::without(&case.suite, case.name, kind, why)
            }
        }
    }

    /// Creates an input without an instance or graph.
    pub fn without(suite: &str, name: String, kind: SubjectKind, why: Unready) -> Self {
        let (suite, sha256, terms) = (suite.to_owned(), String::new(), Terms::default());
        let problems = Vec::new();
        Self { suite, name, kind, sha256, load: None, subject: Err(why), problems, terms, model: None }
    }
}
