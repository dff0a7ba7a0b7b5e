//! Descriptions of machines, units and patterns, either built in or read from files.

use std::borrow::Cow;
use std::path::Path;

/// The reason why a description could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DescriptionError {
    #[error("{file}: cannot read: {source}")]
    Io { file: String, source: std::io::Error },
    #[error("{file}, line {line}: {reason}{}", quoted(.text))]
    Line {
        file: String,
        /// The line number, counted from 1.
        line: usize,
        reason: String,
        text: String,
    },
    #[error("no {what} '{name}': neither a file nor one of {known}")]
    Unknown { what: &'static str, name: String, known: String },
}

/// Quotes a line at the end of a message, unless it is empty.
fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": `{text}`") }
}

/// A description as text, with the file name used in messages.
pub(crate) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    /// Creates an error for the line that contains byte `at` of the text.
    pub fn line(&self, at: usize, reason: impl Into<String>) -> DescriptionError {
        let line = self.text.bytes().take(at).filter(|&byte| byte == b'\n').count();
        let text = self.text.lines().nth(line).unwrap_or_default().trim().to_owned();
        DescriptionError::Line { file: self.file.to_owned(), line: line + 1, reason: reason.into(), text }
    }

    /// Parses the text as TOML.
    pub fn toml<T: serde::de::DeserializeOwned>(&self) -> Result<T, DescriptionError> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.line(at, error.message())
        })
    }

    /// Rejects a description of another kind: one that has a section named in `other`, but none named in
    /// `own`.
    ///
    /// # Errors
    /// [`DescriptionError::Line`] with `reason`, at the first line of such a section.
    pub(crate) fn refuse_other(
        &self,
        own: &[&str],
        other: &[&str],
        reason: &str,
    ) -> Result<(), DescriptionError> {
        let Ok(table) = toml::from_str::<toml::Table>(self.text) else { return Ok(()) };
        let has = |names: &[&str]| names.iter().any(|name| table.contains_key(*name));
        if has(own) || !has(other) {
            return Ok(());
        }
        let heads = |line: &str| {
            let name = line.trim().trim_start_matches('[').trim_start();
            other.iter().any(|other| name.starts_with(other))
        };
        let at = self.text.lines().take_while(|line| !heads(line)).map(|line| line.len() + 1).sum();
        Err(self.line(at, reason))
    }
}

/// Returns the text of the preset `name` or, if there is none, of the file `name`. If that file does not
/// exist and its name has no extension, the error reports an unknown preset.
pub(crate) fn preset_or_file<'a>(
    what: &'static str,
    name: &str,
    presets: &[(&str, &'a str)],
) -> Result<Cow<'a, str>, DescriptionError> {
    if let Some((_, text)) = presets.iter().find(|(preset, _)| *preset == name) {
        return Ok(Cow::Borrowed(text));
    }
    let path = Path::new(name);
    if !path.exists() && path.extension().is_none() {
        let known: Vec<&str> = presets.iter().map(|(preset, _)| *preset).collect();
        return Err(DescriptionError::Unknown { what, name: name.to_owned(), known: known.join(", ") });
    }
    let unread = |source| DescriptionError::Io { file: name.to_owned(), source };
    std::fs::read_to_string(path).map(Cow::Owned).map_err(unread)
}
