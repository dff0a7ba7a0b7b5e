//! Families: generators of instances or graphs with named parameters and a seed.

use crate::error::{GenerateError, at_least};
use std::collections::BTreeMap;
use std::fmt;

/// A generator of values of one kind. The same parameters and seed give the same value on any machine.
#[derive(Clone, Copy)]
pub struct Generator<T> {
    /// The name that users type.
    pub name: &'static str,
    /// A summary of one line.
    pub about: &'static str,
    /// Its parameters. The first one of every family of instances is `buffers`.
    pub params: &'static [FamilyParam],
    /// Incremented whenever the same parameters and seed generate different bytes.
    pub version: u32,
    make: fn(&Params, u64) -> Result<T, GenerateError>,
}

/// A family whose version is 1.
pub(crate) const fn family<T>(
    name: &'static str,
    about: &'static str,
    params: &'static [FamilyParam],
    make: fn(&Params, u64) -> Result<T, GenerateError>,
) -> Generator<T> {
    Generator { name, about, params, version: 1, make }
}

impl<T> Generator<T> {
    /// Returns the value for these parameters and this seed, and its name. The name consists of the family,
    /// the parameters given, the number of buffers if the family has one, and the seed. Deterministic
    /// families have a seed too.
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

/// A parameter of a family: a non-negative integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyParam {
    /// The name that users type.
    pub name: &'static str,
    /// The default value.
    pub default: u64,
    /// Its meaning, in a few words.
    pub about: &'static str,
    /// The largest value any family accepts. Limits that depend on other parameters are checked by the
    /// family.
    pub most: u64,
}

impl FamilyParam {
    pub(crate) const fn up_to(self, most: u64) -> Self {
        Self { most, ..self }
    }

    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The same parameter with another default.
    pub(crate) const fn or(self, default: u64) -> Self {
        Self { default, ..self }
    }
}

/// A parameter with a maximum of 2^24.
pub(crate) const fn param(name: &'static str, default: u64, about: &'static str) -> FamilyParam {
    FamilyParam { name, default, about, most: 1 << 24 }
}

/// Values of a family's parameters, by name.
pub(crate) struct Params {
    name: String,
    values: BTreeMap<&'static str, u64>,
}

impl Params {
    /// Combines the given values with the defaults of all other parameters.
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

    /// Returns the value, or `value` if the family has no such parameter.
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
