//! Splits command lines into words, and quotes words.

/// Splits a command line into words as a shell does.
pub(super) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    shlex::split(line).ok_or("a quote is not closed, or nothing follows the last backslash")
}

/// Quotes a word for a shell if necessary.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/=:,@%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        let words = |line| split(line).unwrap();
        assert_eq!(words("a  b\tc"), ["a", "b", "c"]);
        assert_eq!(
            words(r#"sh -c 'x "y" \z' "q \"r\" \s" t\ u ''"#),
            ["sh", "-c", r#"x "y" \z"#, r#"q "r" \s"#, "t u", ""]
        );
        assert!(split("'a").is_err() && split("\"a").is_err() && split("a\\").is_err());
        for word in ["plain", "two words", "it's", "", "{input}"] {
            assert_eq!(split(&quote(word)).unwrap(), [word]);
        }
    }
}
