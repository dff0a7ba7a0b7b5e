//! Facts about a tensor of a `TFLite` model.

use super::model::Info;
use crate::import::Source;
use crate::operators::value::Fact;
use std::rc::Rc;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    pub fact: Fact,
    pub source: Source,
    /// True if the tensor depends on something that an option changed.
    pub changed: bool,
    pub why: Option<Rc<str>>,
}

impl Known {
    pub(super) fn new(fact: Fact, source: Source, changed: bool) -> Self {
        Self { fact, source, changed, why: None }
    }

    pub(super) fn unknown(why: String, changed: bool) -> Self {
        Self { changed, why: Some(why.into()), ..Self::default() }
    }

    /// Returns the fact without values, because they may differ between runs.
    pub(super) fn variable(&self) -> Self {
        Self { fact: self.fact.clone().variable(), ..self.clone() }
    }

    /// Returns the fact with the shape given by an option.
    pub(super) fn shaped(&self, shape: &[u64], info: &Info) -> Self {
        let changed = self.changed || info.declared().is_none_or(|own| own != shape);
        Self::new(Fact::new(info.element(), shape), Source::Assumed, changed)
    }
}
