//! Families: rules that generate instances or graphs from named parameters and a seed.

use crate::error::{GenerateError, at_least};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A deterministic generator. The same parameters and seed give the same value on every machine.
#[derive(Clone, Copy)]
pub struct Generator<T> {
    /// The name on the command line.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The parameters. In families whose number of buffers can be chosen, `buffers` comes first.
    pub params: &'static [FamilyParam],
    /// The version of the output. It is incremented whenever a change to the code alters the output for the
    /// same parameters and seed.
    pub version: u32,
    make: fn(&Params, u64) -> Result<T, GenerateError>,
}

/// Returns a family of version 1.
pub(crate) const fn family<T>(
    name: &'static str,
    about: &'static str,
    params: &'static [FamilyParam],
    make: fn(&Params, u64) -> Result<T, GenerateError>,
) -> Generator<T> {
    Generator { name, about, params, version: 1, make }
}

impl<T> Generator<T> {
    /// Generates the value for these parameters and this seed, and returns it with its name. The name
    /// consists of the family, the given parameters except `buffers`, the number of buffers (if the family
    /// has that parameter) and the seed. Families without randomness accept a seed too.
    pub(crate) fn make_named(
        &self,
        seed: u64,
        given: &BTreeMap<String, u64>,
    ) -> Result<(T, String), GenerateError> {
        let params = Params::of(self.name, self.params, given, seed)?;
        Ok(((self.make)(&params, seed)?, params.name))
    }
}

impl<T> fmt::Debug for Generator<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// An integer parameter of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyParam {
    /// The name on the command line.
    pub name: &'static str,
    /// The default value.
    pub default: u64,
    /// A short description.
    pub about: &'static str,
    /// The maximum value. A family may also reject smaller values in combination with its other parameters.
    #[serde(skip)]
    pub most: u64,
}

impl FamilyParam {
    pub(crate) const fn up_to(self, most: u64) -> Self {
        Self { most, ..self }
    }

    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Returns the same parameter with another default.
    pub(crate) const fn or(self, default: u64) -> Self {
        Self { default, ..self }
    }
}

/// Returns a parameter with a maximum of 2^24.
pub(crate) const fn param(name: &'static str, default: u64, about: &'static str) -> FamilyParam {
    FamilyParam { name, default, about, most: 1 << 24 }
}

/// The values of the parameters of a family, by name.
pub(crate) struct Params {
    name: String,
    values: BTreeMap<&'static str, u64>,
}

impl Params {
    /// Combines the given values with the defaults of the other parameters.
    fn of(
        family: &'static str,
        declared: &[FamilyParam],
        given: &BTreeMap<String, u64>,
        seed: u64,
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
            if known.name != "buffers" {
                made = format!("{made}-{name}-{value}");
            }
        }
        if let Some(&buffers) = values.get("buffers") {
            at_least("buffers", buffers, 1)?;
            made = format!("{made}-{buffers}");
        }
        Ok(Self { name: format!("{made}-{seed}"), values })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn get(&self, name: &'static str) -> u64 {
        self.values[name]
    }

    /// Returns the value of a parameter, or `value` if the family does not have it.
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
