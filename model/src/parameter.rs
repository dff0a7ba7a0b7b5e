//! Parameters of algorithms, for ablation studies.
//!
//! The name `search:-memo:-twins` runs `search` without two of its parts. Each parameter follows a colon:
//! `-PART` switches a part off, and `PART=METHOD` replaces it. The order of the parameters has no effect.

use serde::Serialize;

/// A parameter that changes an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// The text in the name of the algorithm, `-PART` or `PART=METHOD`.
    pub name: &'static str,
    /// What the parameter changes, in one line.
    pub about: &'static str,
}

/// The name and the description of a [`Parameter`], and its effect on the settings of an algorithm.
pub type Change<S> = (&'static str, &'static str, fn(&mut S));

/// Returns the parameters of a table of changes.
pub fn parameters<S>(changes: &[Change<S>]) -> Vec<Parameter> {
    changes.iter().map(|&(name, about, _)| Parameter { name, about }).collect()
}

/// The reason why an algorithm does not accept a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ParameterError {
    #[error("'{algorithm}' has no parameter '{parameter}'; expected {known}")]
    Unknown { algorithm: &'static str, parameter: String, known: String },
    #[error("'{algorithm}': '{parameter}' sets a part that another parameter sets")]
    Twice { algorithm: &'static str, parameter: String },
}

/// Returns the names of the parameters in `text`, which colons separate, in the order of `known`. At most one
/// parameter may set each part.
pub(crate) fn chosen(
    algorithm: &'static str,
    known: &[Parameter],
    text: &str,
) -> Result<Vec<&'static str>, ParameterError> {
    let names = || known.iter().map(|parameter| parameter.name);
    let (mut given, mut parts) = (Vec::new(), Vec::new());
    for name in text.split(':') {
        let parameter = name.to_owned();
        if !names().any(|known| known == name) {
            let all: Vec<&str> = names().collect();
            let known = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
            return Err(ParameterError::Unknown { algorithm, parameter, known });
        }
        let part = name.split('=').next();
        if parts.contains(&part) {
            return Err(ParameterError::Twice { algorithm, parameter });
        }
        given.push(name);
        parts.push(part);
    }
    Ok(names().filter(|name| given.contains(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked_and_sorted() {
        let changes: [Change<()>; 3] =
            [("-memo", "", |()| ()), ("kind=a", "", |()| ()), ("kind=b", "", |()| ())];
        let read = |text: &str| chosen("search", &parameters(&changes), text).map_err(|e| e.to_string());
        assert_eq!(read("-memo"), Ok(vec!["-memo"]));
        assert_eq!(read("kind=b:-memo"), Ok(vec!["-memo", "kind=b"]));
        for (text, expected) in [
            ("", "'search' has no parameter ''; expected -memo, kind=a, kind=b"),
            ("-memo:-mem", "'search' has no parameter '-mem'; expected -memo, kind=a, kind=b"),
            ("memo", "'search' has no parameter 'memo'; expected -memo, kind=a, kind=b"),
            ("-memo:-memo", "'search': '-memo' sets a part that another parameter sets"),
            ("kind=a:kind=b", "'search': 'kind=b' sets a part that another parameter sets"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
        let none = chosen("naive", &[], "-memo").unwrap_err().to_string();
        assert_eq!(none, "'naive' has no parameter '-memo'; expected none");
    }
}
