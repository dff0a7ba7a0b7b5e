//! Parameters of families, by name: what a family takes, and what somebody gave.

use crate::error::{GenerateError, at_least};
use std::collections::BTreeMap;

/// A parameter of a family: a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyParam {
    /// The name users type.
    pub name: &'static str,
    /// Its value where none is given.
    pub default: u64,
    /// What it means, in a few words.
    pub about: &'static str,
    /// No family takes a larger value; what is too large for a family beside its other parameters, it says itself.
    pub most: u64,
}

impl FamilyParam {
    /// The same, with another largest value.
    pub(crate) const fn up_to(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// The same, with another meaning.
    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The same, with another value where none is given.
    pub(crate) const fn or(self, default: u64) -> Self {
        Self { default, ..self }
    }
}

/// A parameter up to 2^24.
pub(crate) const fn param(name: &'static str, default: u64, about: &'static str) -> FamilyParam {
    FamilyParam { name, default, about, most: 1 << 24 }
}

/// Values of a family's parameters, by name.
pub(crate) struct Params {
    /// What is to be made is called so, but for what the family adds.
    name: String,
    values: BTreeMap<&'static str, u64>,
}

impl Params {
    /// What was given, and defaults for all else. The name is the family's with the parameters given, but for those in `silent`.
    pub fn of(
        family: &'static str,
        declared: &[FamilyParam],
        given: &BTreeMap<String, u64>,
        silent: &[&str],
    ) -> Result<Self, GenerateError> {
        let mut made = family.to_owned();
        let mut values: BTreeMap<&'static str, u64> = declared.iter().map(|p| (p.name, p.default)).collect();
        for (name, &value) in given {
            let Some(known) = declared.iter().find(|param| param.name == name) else {
                let known = declared.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
                return Err(GenerateError::NoParameter { family, name: name.clone(), known });
            };
            if value > known.most {
                return Err(GenerateError::TooBig { name: known.name, value, most: known.most });
            }
            values.insert(known.name, value);
            if !silent.contains(&known.name) {
                made = format!("{made}-{name}-{value}");
            }
        }
        Ok(Self { name: made, values })
    }

    /// The family and what was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same with this at the end of its name.
    pub fn named(self, end: &str) -> Self {
        Self { name: format!("{}-{end}", self.name), ..self }
    }

    pub fn get(&self, name: &'static str) -> u64 {
        self.values[name]
    }

    /// The value, or this for families without such a parameter.
    pub fn get_or(&self, name: &'static str, value: u64) -> u64 {
        self.values.get(name).copied().unwrap_or(value)
    }

    pub fn at_least(&self, name: &'static str, least: u64) -> Result<u64, GenerateError> {
        at_least(name, self.get(name), least)?;
        Ok(self.get(name))
    }

    pub fn at_most(&self, name: &'static str, most: u64) -> Result<u64, GenerateError> {
        let value = self.get(name);
        if value > most { Err(GenerateError::TooBig { name, value, most }) } else { Ok(value) }
    }

    pub fn percent(&self, name: &'static str) -> Result<u64, GenerateError> {
        self.at_most(name, 100)
    }
}
