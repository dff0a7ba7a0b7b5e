//! Tests the text of the project: terminology, length of sentences, width of comments, and links.
//!
//! The tests read the names, comments and string literals of Rust files, and the text of other files without
//! code.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words and phrases to avoid, each with its replacements. All are in lower case, with words separated by
/// spaces.
const DIALECT: [(&str, &str); 44] = [
    ("alive", "live"),
    ("memory on chip", "on-chip memory"),
    ("memory off chip", "off-chip memory"),
    ("outside of it", "off-chip memory"),
    ("who", "which, that"),
    ("whom", "which, that"),
    ("whoever", "whatever, any"),
    ("nobody", "no algorithm, none"),
    ("anybody", "any user"),
    ("somebody", "name it"),
    ("told", "reported"),
    ("tell", "report"),
    ("tells", "reports"),
    ("say", "report, print"),
    ("says", "reports, states"),
    ("scattered", "split"),
    ("in pieces", "split"),
    ("prices", "dual multipliers"),
    ("price", "dual multiplier"),
    ("start-up", "setup latency, startup of a process"),
    ("room", "space, module"),
    ("rooms", "modules"),
    ("course", "trace, control path"),
    ("made again", "regenerated"),
    ("against today's code", "rerun and compared"),
    ("left out", "skipped, omitted"),
    ("what is missing", "shortfall"),
    ("short by", "shortfall"),
    ("purse", "budget"),
    ("liar", "faulty solver"),
    ("judge", "check"),
    ("judges", "checks"),
    ("judged", "checked"),
    ("looks away", "no-op"),
    ("so many", "N, that many"),
    ("by the laws of", "with the same distributions as"),
    ("broke the checker", "was rejected by the checker"),
    ("one after the other", "sequentially"),
    ("lets go of", "evicts"),
    ("machinery", "internal failure"),
    ("take turns", "alternate"),
    ("takes turns", "alternates"),
    ("believe", "assume"),
    ("held against", "compared with"),
];

/// Exceptions: a part of the location, the word that is allowed there, and the reason.
const RIGHT: [(&str, &str, &str); 16] = [
    ("lab/src/record/file.rs", "alive", "wording of witnesses in older records"),
    ("lab/src/record/file.rs", "prices", "wording of witnesses in older records"),
    ("lab/src/record/file.rs", "room", "wording of witnesses in older records"),
    ("src/posed/mod.rs", "scattered", "former name of a problem, still accepted"),
    ("datasets/src/above_load.rs", "alive", "parameter of a family, part of names and hashes of files"),
    ("datasets/src/families", "alive", "parameter of a family, part of names and hashes of files"),
    ("datasets/src/suite.rs", "alive", "parameter of a family, part of names and hashes of files"),
    ("datasets/tests/families.rs", "alive", "parameter of a family, part of names and hashes of files"),
    ("command/tests/all/proof.rs", "alive", "parameter of a family, part of names and hashes of files"),
    ("datasets/tests/all/tflite.rs", "alive", "key of a file of facts by another reader"),
    ("papers/src/cann.rs", "alive", "rows on record, compared byte for byte"),
    ("papers/src/cann.rs", "say", "rows on record, compared byte for byte"),
    ("papers/data/patent.toml", "in pieces", "rows on record, compared byte for byte"),
    ("papers/data/patent.toml", "says", "rows on record, compared byte for byte"),
    ("commands/measure.rs", "room", "former name of an option, still accepted"),
    ("overlap/args.rs", "alive", "former value of an option, still accepted"),
];

/// Maximum length of a sentence, in words.
const SENTENCE: usize = 40;
/// Maximum width of a comment, in columns.
const COMMENT: usize = 110;

/// Folders with the project's text.
const FOLDERS: [&str; 12] = [
    "src",
    "examples",
    "tests",
    "model",
    "proof",
    "heuristics",
    "solvers",
    "datasets",
    "experiments",
    "docs",
    "capi",
    "python",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(extensions: &[&str]) -> Vec<PathBuf> {
    fn below(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let is_ours = path.file_name().is_some_and(|name| name != "target");
            if path.is_dir() && is_ours {
                below(&path, extensions, found);
            } else if extensions.iter().any(|own| path.extension().is_some_and(|other| other == *own)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for folder in FOLDERS {
        below(&root().join(folder), extensions, &mut found);
    }
    if extensions.contains(&"md") {
        found.extend(
            ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
                .map(|name| root().join(name)),
        );
    }
    // This file is skipped because it contains the list of words.
    found.retain(|path| !path.ends_with("tests/language.rs"));
    found.sort();
    found
}

/// Text and its location.
struct Text {
    place: String,
    text: String,
}

/// Names, documentation and string literals of a Rust file.
#[derive(Default)]
struct Rust {
    names: BTreeSet<String>,
    docs: Vec<Text>,
    strings: Vec<Text>,
}

impl Rust {
    fn read(path: &Path) -> Self {
        let mut rust = Self::default();
        let shown = shown(path);
        let source = fs::read_to_string(path).unwrap();
        rust.tokens(source.parse().unwrap_or_else(|error| panic!("{shown}: {error}")), &shown);
        rust
    }

    fn tokens(&mut self, tokens: TokenStream, path: &str) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => match doc(&group.stream()) {
                    Some((line, text)) => self.doc(path, line, &text),
                    None => self.tokens(group.stream(), path),
                },
                TokenTree::Ident(name) => drop(self.names.insert(name.to_string())),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        let place = format!("{path}:{}", literal.span().start().line);
                        self.strings.push(Text { place, text: text.value() });
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Adds a line of documentation. The line continues the last text if it directly follows that text in the
    /// file.
    fn doc(&mut self, path: &str, line: usize, text: &str) {
        let follows = |last: &Text| {
            let (place, lines) = (last.place.rsplit_once(':'), last.text.split('\n').count());
            place.is_some_and(|(_, first)| first.parse::<usize>().is_ok_and(|first| first + lines == line))
        };
        match self.docs.last_mut() {
            Some(last) if follows(last) => last.text.extend(["\n", text]),
            _ => self.docs.push(Text { place: format!("{path}:{line}"), text: text.to_owned() }),
        }
    }
}

/// Returns the line number and the text of a `#[doc = ".."]` attribute.
fn doc(tokens: &TokenStream) -> Option<(usize, String)> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(text)] = tokens.as_slice() else {
        return None;
    };
    let value = syn::parse_str::<syn::LitStr>(&text.to_string()).ok()?.value();
    (name == "doc").then(|| (text.span().start().line, value))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Returns the paragraphs without fenced code, tables, headings, inline code and link targets.
fn prose(markdown: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fenced = false;
    for line in markdown.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let is_item = line.starts_with("- ")
            || line.starts_with("* ")
            || line.starts_with(|c: char| c.is_ascii_digit());
        if fenced || line.is_empty() || line.starts_with(['|', '#', '<', '`']) || is_item {
            paragraphs.push(String::new());
        }
        if !fenced && !line.starts_with(['|', '#', '<']) && !line.starts_with("```") {
            let last = paragraphs.last_mut().unwrap();
            last.push(' ');
            last.push_str(line);
        }
    }
    paragraphs
        .iter()
        .map(|paragraph| without_code(paragraph))
        .filter(|text| !text.trim().is_empty())
        .collect()
}

/// Replaces inline code by one word, and removes link targets.
fn without_code(text: &str) -> String {
    let plain = text.split('`').enumerate().map(|(nth, part)| if nth % 2 == 0 { part } else { "code" });
    let text: String = plain.collect();
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// Returns the words of `text` in lower case.
fn words(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '\'';
    let words = text.split(|letter| !is_word(letter)).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns the words of a name. `maxAlive`, `max_alive` and `MaxAlive` consist of the same two words.
fn segments(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() || letter == '_' {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase());
    }
    words(&spaced.replace('_', " "))
}

/// Describes the phrases of [`DIALECT`] that occur in `words`.
fn dialect(words: &[String], place: &str) -> Vec<String> {
    let found = DIALECT.iter().filter(|(phrase, _)| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window.iter().eq(phrase.iter()))
    });
    let is_right = |phrase: &str| RIGHT.iter().any(|(file, word, _)| place.contains(file) && *word == phrase);
    found
        .filter(|(phrase, _)| !is_right(phrase))
        .map(|(phrase, better)| format!("'{phrase}' (better: {better})"))
        .collect()
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "{} places:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn one_word_per_idea() {
    let mut faults = Vec::new();
    let mut text = |place: &str, text: &str| {
        for word in dialect(&words(text), place) {
            faults.push(format!("{place}: {word}: {}", text.trim().lines().next().unwrap_or_default()));
        }
    };
    for path in files(&["rs"]) {
        let rust = Rust::read(&path);
        for name in &rust.names {
            text(&shown(&path), &segments(name).join(" "));
        }
        for doc in &rust.docs {
            for paragraph in prose(&doc.text) {
                text(&doc.place, &paragraph);
            }
        }
        for string in &rust.strings {
            text(&string.place, &string.text);
        }
    }
    for path in files(&["md", "toml", "patterns", "html"]) {
        let source = fs::read_to_string(&path).unwrap();
        for paragraph in prose(&source) {
            text(&shown(&path), &paragraph);
        }
    }
    report(&faults);
}

#[test]
fn sentences_are_short() {
    let (mut faults, mut lengths) = (Vec::new(), Vec::new());
    let mut paragraph = |place: &str, text: &str| {
        for sentence in
            text.split_inclusive(['.', '!', '?', ';', ':']).collect::<Vec<_>>().chunk_by(|end, next| {
                // A sentence ends at a mark that is followed by a space.
                !(end.ends_with(['.', '!', '?']) && next.starts_with(' '))
            })
        {
            let sentence = sentence.concat();
            let length =
                sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            lengths.push(length);
            if length > SENTENCE {
                faults.push(format!("{place}: {length} words: {}", sentence.trim()));
            }
        }
    };
    for path in files(&["rs"]) {
        for doc in Rust::read(&path).docs {
            for text in prose(&doc.text) {
                paragraph(&doc.place, &text);
            }
        }
    }
    for path in files(&["md"]) {
        let source = fs::read_to_string(&path).unwrap();
        // The length of a sentence in a template is known only after substitution.
        let plain = prose(&source).into_iter().filter(|text| !text.contains("{{"));
        plain.for_each(|text| paragraph(&shown(&path), &text));
    }
    report(&faults);
    assert!(lengths.iter().sum::<usize>() < 20 * lengths.len());
}

#[test]
fn comments_are_narrow() {
    let mut faults = Vec::new();
    for path in files(&["rs"]) {
        let mut is_fenced = false;
        for (nth, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            is_fenced ^= line.contains("//! ```") || line.contains("/// ```");
            let is_comment = line.trim_start().starts_with("//");
            // Rows of tables and lines of diagrams cannot be wrapped.
            let is_row = line.trim_start_matches(['/', '!', ' ']).starts_with('|');
            if is_comment && !is_row && !is_fenced && line.chars().count() > COMMENT {
                faults.push(format!("{}:{}", shown(&path), nth + 1));
            }
        }
    }
    report(&faults);
}

#[test]
fn links_lead_somewhere() {
    let anchors = |path: &Path| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        // `# Heading {#name}` sets the anchor of the heading.
        let headings = text
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| line.split_once("{#").map_or(line, |(_, name)| name.trim_end_matches('}')));
        let is_kept = |letter: &char| letter.is_alphanumeric() || ['-', ' ', '_'].contains(letter);
        headings
            .map(|line| line.trim_start_matches('#').trim().to_lowercase())
            .map(|line| line.chars().filter(is_kept).collect::<String>().replace(' ', "-"))
            .collect()
    };
    let mut faults = Vec::new();
    for path in files(&["md"]) {
        let text = fs::read_to_string(&path).unwrap();
        for target in
            text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.starts_with("http") {
                continue;
            }
            let linked = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let is_there =
                linked.exists() && (anchor.is_empty() || anchors(&linked).iter().any(|own| own == anchor));
            if !is_there {
                faults.push(format!("{}: {target}", shown(&path)));
            }
        }
    }
    report(&faults);
}

#[test]
fn citations_are_in_the_book() {
    let mut faults = Vec::new();
    for path in files(&["rs", "md", "toml", "patterns"]) {
        // The book summarises the sources on a page of its own. No text may cite a file outside the
        // repository.
        if fs::read_to_string(&path).unwrap().contains(concat!("SOURCES", " S")) {
            faults.push(shown(&path));
        }
    }
    report(&faults);
}

#[test]
fn the_front_page_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 150 && text.matches("![").count() == 2);
}
