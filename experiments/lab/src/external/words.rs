//! A command line as words, and back.

/// Splits a line into words as a shell does: blanks separate; single quotes keep everything; double quotes keep
/// everything but backslashes before `"` and `\`; a backslash keeps the next letter.
pub(super) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a single quote is not closed")? {
                        '\'' => break,
                        kept => word.push(kept),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a double quote is not closed")? {
                        '"' => break,
                        '\\' if letters.peek().is_some_and(|&next| next == '"' || next == '\\') => {
                            word.extend(letters.next());
                        }
                        kept => word.push(kept),
                    }
                }
            }
            '\\' => {
                let kept = letters.next().ok_or("nothing follows the last backslash")?;
                word.get_or_insert_default().push(kept);
            }
            kept => word.get_or_insert_default().push(kept),
        }
    }
    words.extend(word);
    Ok(words)
}

/// A word as a shell would read it back.
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
