//! Numbers of bytes, and descriptions of JSON errors in plain words.

use crate::units::Bytes;

/// Formats a number of bytes with its unit: `1 byte`, `2 bytes`.
pub fn byte_count(bytes: Bytes) -> String {
    if bytes == Bytes::new(1) { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// Describes an error in a JSON document with line, column, and the value or member at fault, as in `line 3,
/// column 32: value '6KiB' is not a whole number; write 6144`.
pub fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (line, column) = (error.line(), error.column());
    let text = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    let plain = in_plain_words(text);
    if line == 0 { plain } else { format!("line {line}, column {column}: {plain}") }
}

/// How the JSON reader begins the name of a type that is written as an object.
const NAMED: [&str; 2] = ["struct ", "internally tagged enum "];

/// Rewrites a message of the JSON reader in plain words.
fn in_plain_words(text: &str) -> String {
    let quoted = |text: &str| text.replace('`', "'");
    let kind = ["invalid type: ", "invalid value: "].into_iter().find_map(|kind| text.strip_prefix(kind));
    if let Some((found, expected)) = kind.and_then(|rest| rest.split_once(", expected ")) {
        let expected = match expected {
            "u64" | "u32" | "usize" => "a whole number",
            "a string" => "text",
            "a sequence" => "a list",
            "i64" => "an integer",
            "f64" => "a number",
            other if NAMED.iter().any(|kind| other.starts_with(kind)) => "an object",
            other => other,
        };
        let bytes = found.strip_prefix("string \"").and_then(|found| found.strip_suffix('"'));
        let size = bytes.filter(|_| expected == "a whole number").and_then(|text| text.parse::<Bytes>().ok());
        let hint = size.map_or_else(String::new, |size| format!("; write {size}"));
        return format!("{} is not {}{hint}", value(found), quoted(expected));
    }
    if let Some((name, known)) =
        text.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "))
    {
        let known = names(known);
        return format!("unknown member '{name}'; allowed: {known}");
    }
    if let Some((name, known)) =
        text.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected "))
    {
        let known = names(known);
        return format!("value '{name}' is not allowed; expected {known}");
    }
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("the member {} is missing", quoted(name));
    }
    if let Some(name) = text.strip_prefix("duplicate field ") {
        return format!("the member {} occurs twice", quoted(name));
    }
    if text.starts_with("EOF while parsing") {
        return "the file ends too early".to_owned();
    }
    quoted(text)
}

/// Converts a list of quoted names, such as "one of `a`, `b`" or "`a` or `b`", to the form "a, b".
fn names(list: &str) -> String {
    list.trim_start_matches("one of ").replace("` or `", ", ").replace('`', "")
}

/// Describes a value that the JSON reader found.
fn value(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        "null" => "null".to_owned(),
        other => {
            let number = other.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
            let text = other.strip_prefix("string \"").and_then(|rest| rest.strip_suffix('"'));
            format!("value '{}'", number.or(text).unwrap_or(other))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors matter")]
    struct Row {
        size: u64,
        #[serde(default)]
        names: Vec<String>,
    }

    #[test]
    fn errors_in_json_name_line_and_value() {
        let message = |text: &str| json_error(&serde_json::from_str::<Row>(text).unwrap_err());
        for (text, expected) in [
            ("{\n\"size\": \"6KiB\"}", "line 2, column 14: value '6KiB' is not a whole number; write 6144"),
            ("{\"size\": \"big\"}", "value 'big' is not a whole number"),
            ("{\"size\": 1.5}", "value '1.5' is not a whole number"),
            ("{\"size\": -1}", "value '-1' is not a whole number"),
            ("{\"size\": [1]}", "a list is not a whole number"),
            ("{\"size\": null}", "null is not a whole number"),
            ("{\"size\": 1, \"names\": 3}", "value '3' is not a list"),
            ("{\"size\": 1, \"names\": [{}]}", "an object is not text"),
            ("{\"sise\": 1}", "unknown member 'sise'; allowed: size, names"),
            ("{}", "the member 'size' is missing"),
            ("{\"size\": 1, \"size\": 2}", "the member 'size' occurs twice"),
            ("{\"size\": 1", "the file ends too early"),
            ("{\"size\" 1}", "expected ':'"),
            ("7 ", "value '7' is not an object"),
        ] {
            assert!(message(text).ends_with(expected), "{text}: {}", message(text));
            assert!(message(text).starts_with("line "), "{}", message(text));
        }
    }
}
