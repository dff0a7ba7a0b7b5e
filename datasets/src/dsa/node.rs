//! A JSON value with its path, for error messages.

use super::error::{DsaError, DsaErrorKind};
use serde_json::{Map, Value};
use std::path::Path;

/// Sorts the members of all objects by name, because their order otherwise depends on the enabled features of
/// `serde_json`.
pub(super) fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}

/// A value and its location.
#[derive(Clone)]
pub(super) struct Node<'a> {
    file: &'a Path,
    at: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn root(file: &'a Path, value: &'a Value) -> Self {
        Self { file, at: "the document".to_owned(), value }
    }

    pub(super) fn error(&self, kind: DsaErrorKind) -> DsaError {
        DsaError::Item { file: self.file.to_owned(), at: self.at.clone(), kind: Box::new(kind) }
    }

    fn expected(&self, expected: &'static str) -> DsaError {
        let found = match self.value {
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        };
        self.error(DsaErrorKind::Value { found, expected })
    }

    fn object(&self) -> Result<&'a Map<String, Value>, DsaError> {
        self.value.as_object().ok_or_else(|| self.expected("an object"))
    }

    /// Returns an error if the object has a member that is not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), DsaError> {
        match self.object()?.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(self.error(DsaErrorKind::UnknownMember(key.clone()))),
            None => Ok(()),
        }
    }

    fn child(&self, name: &str, value: &'a Value) -> Self {
        let at = if self.at == "the document" { name.to_owned() } else { format!("{}.{name}", self.at) };
        Self { file: self.file, at, value }
    }

    /// Returns a member, if it is present and not null.
    pub(super) fn optional(&self, name: &str) -> Result<Option<Self>, DsaError> {
        let found = self.object()?.get(name).filter(|value| !value.is_null());
        Ok(found.map(|value| self.child(name, value)))
    }

    /// Returns a mandatory member, which may be null.
    pub(super) fn member(&self, name: &'static str) -> Result<Self, DsaError> {
        match self.object()?.get(name) {
            Some(value) => Ok(self.child(name, value)),
            None => Err(self.error(DsaErrorKind::Missing(name))),
        }
    }

    /// Returns the entries of a mandatory array.
    pub(super) fn list(&self, name: &'static str) -> Result<Vec<Self>, DsaError> {
        self.member(name)?.entries()
    }

    pub(super) fn entries(&self) -> Result<Vec<Self>, DsaError> {
        let entries = self.value.as_array().ok_or_else(|| self.expected("an array"))?;
        let entry = |(at, value)| Self { file: self.file, at: format!("{}[{at}]", self.at), value };
        Ok(entries.iter().enumerate().map(entry).collect())
    }

    pub(super) fn members(&self) -> Result<Vec<(&'a str, Self)>, DsaError> {
        Ok(self.object()?.iter().map(|(name, value)| (name.as_str(), self.child(name, value))).collect())
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn written(&self) -> String {
        self.value.to_string()
    }

    pub(super) fn text(&self) -> Result<&'a str, DsaError> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub(super) fn flag(&self) -> Result<bool, DsaError> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// Returns the value as a number of bytes, which may be 0.
    pub(super) fn bytes(&self) -> Result<u64, DsaError> {
        self.value.as_u64().ok_or_else(|| self.expected("a whole number of bytes from 0 to 2^64 - 1"))
    }

    /// Returns the value as a positive number of bytes.
    pub(super) fn positive(&self) -> Result<u64, DsaError> {
        let bytes = self.bytes()?;
        if bytes == 0 { Err(self.expected("a positive whole number of bytes")) } else { Ok(bytes) }
    }

    /// Returns the value as a step, which may be negative.
    pub(super) fn step(&self) -> Result<i64, DsaError> {
        self.value.as_i64().ok_or_else(|| self.expected("a step, a whole number from -2^63 to 2^63 - 1"))
    }

    pub(super) fn id(&self) -> Result<u32, DsaError> {
        let id = self.value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| self.expected("an id, a whole number from 0 to 4294967295"))
    }
}
