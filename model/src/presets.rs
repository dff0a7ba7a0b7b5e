//! Descriptions that are built in, or else lie in files.

use std::borrow::Cow;
use std::path::Path;

/// Why there is no text of a name.
pub(crate) enum Missing {
    /// Neither a preset nor a file.
    Unknown {
        /// Presets there are.
        known: String,
    },
    /// The file cannot be read.
    Io(std::io::Error),
}

/// The text of a preset, or else that of the file of this name. What looks like no file is taken for a preset that is not there.
pub(crate) fn preset_or_file<'a>(name: &str, presets: &[(&str, &'a str)]) -> Result<Cow<'a, str>, Missing> {
    if let Some((_, text)) = presets.iter().find(|(preset, _)| *preset == name) {
        return Ok(Cow::Borrowed(text));
    }
    let path = Path::new(name);
    if !path.exists() && path.extension().is_none() {
        let known: Vec<&str> = presets.iter().map(|(preset, _)| *preset).collect();
        return Err(Missing::Unknown { known: known.join(", ") });
    }
    std::fs::read_to_string(path).map(Cow::Owned).map_err(Missing::Io)
}
