//! Patterns: which operators may run as one, by kind.
//!
//! ```text
//! # One pattern per line: a name, and the kinds of operators that follow each other.
//! class gate = Sigmoid|HardSigmoid|Tanh     # a word for several kinds; those of KindSet are there already
//! conv-act   = conv act                     # each step reads what the one before makes
//! conv-gate  = conv gate Mul^1              # the third also reads what step 1 makes
//! conv-any   = conv *                       # of any kind
//! ```
//!
//! A *match* of a pattern is one operator per step, all different, each reading a result of the one before; whatever they make,
//! but for the last, is read by members of the match only and wanted by nobody outside of the region: otherwise it would have to be stored
//! all the same, and nothing would be saved. Members may read each other's results in other ways too, and anything from
//! outside. An operator that owns regions matches nothing.

use super::kinds::KindSet;
use crate::description::{DescriptionError, preset_or_file};
use std::collections::BTreeMap;

/// Patterns that are always there, by name.
pub const PATTERN_PRESETS: [(&str, &str); 4] = [
    ("default", include_str!("presets/default.patterns")),
    ("s3", include_str!("presets/s3.patterns")),
    ("s3-joined", include_str!("presets/s3-joined.patterns")),
    ("chains", include_str!("presets/chains.patterns")),
];

/// A pattern may have so many steps.
pub const MAX_STEPS: usize = 16;

/// One operator of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kinds it may be of.
    pub kinds: KindSet,
    /// Steps, from 0, whose results it must read besides that of the one before.
    pub also: Vec<usize>,
}

/// A sequence of kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Names the pattern in reports.
    pub name: String,
    /// Two steps at least.
    pub steps: Vec<Step>,
}

/// Patterns with different names, in the order of their file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// The preset of a name, or else the patterns in the file of that name.
    ///
    /// # Errors
    /// See [`DescriptionError`].
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        let text = preset_or_file("patterns", name, &PATTERN_PRESETS)?;
        Self::parse(name, &text)
    }

    /// The patterns of a text; `file` is what messages call it.
    ///
    /// # Errors
    /// [`DescriptionError::Line`] with the first line that is none.
    pub fn parse(file: &str, text: &str) -> Result<Self, DescriptionError> {
        let mut reader = Reader::default();
        for (at, line) in text.lines().enumerate() {
            let bare = line.split('#').next().unwrap_or_default().trim();
            if bare.is_empty() {
                continue;
            }
            reader.line(bare).map_err(|reason| DescriptionError::Line {
                file: file.to_owned(),
                line: at + 1,
                reason,
                text: line.trim().to_owned(),
            })?;
        }
        if reader.patterns.is_empty() {
            let (reason, text) = ("no pattern in it".to_owned(), String::new());
            return Err(DescriptionError::Line { file: file.to_owned(), line: 1, reason, text });
        }
        Ok(Self(reader.patterns))
    }

    /// All, in the order of the file.
    pub fn list(&self) -> &[Pattern] {
        &self.0
    }
}

#[derive(Default)]
struct Reader {
    patterns: Vec<Pattern>,
    classes: BTreeMap<String, KindSet>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (name, steps) = line.split_once('=').ok_or("a pattern is a name, `=` and kinds")?;
        let words: Vec<&str> = name.split_whitespace().collect();
        match words[..] {
            ["class", name] => {
                let [kinds] = steps.split_whitespace().collect::<Vec<_>>()[..] else {
                    return Err("a class is one word of kinds with `|` between".to_owned());
                };
                let kinds = self.kinds(kinds)?;
                match self.classes.insert(name.to_owned(), kinds) {
                    Some(_) => Err(format!("there is a class '{name}' already")),
                    None => Ok(()),
                }
            }
            [name] => {
                if self.patterns.iter().any(|other| other.name == name) {
                    return Err(format!("there is a pattern '{name}' already"));
                }
                let steps: Vec<&str> = steps.split_whitespace().collect();
                if !(2..=MAX_STEPS).contains(&steps.len()) {
                    return Err(format!("a pattern has from 2 to {MAX_STEPS} steps, not {}", steps.len()));
                }
                let steps = steps.iter().enumerate().map(|(at, word)| self.step(at, word));
                let steps = steps.collect::<Result<_, _>>()?;
                self.patterns.push(Pattern { name: name.to_owned(), steps });
                Ok(())
            }
            _ => Err("a pattern has a name of one word".to_owned()),
        }
    }

    fn step(&self, at: usize, word: &str) -> Result<Step, String> {
        let mut parts = word.split('^');
        let kinds = self.kinds(parts.next().unwrap_or_default())?;
        let earlier = |part: &str| {
            let number = part.parse::<usize>().ok().filter(|number| (1..=at).contains(number));
            number.map(|number| number - 1).ok_or_else(|| format!("'^{part}' names no step before this one"))
        };
        Ok(Step { kinds, also: parts.map(earlier).collect::<Result<_, _>>()? })
    }

    fn kinds(&self, word: &str) -> Result<KindSet, String> {
        let mut kinds = std::collections::BTreeSet::new();
        for part in word.split('|') {
            let set = match self.classes.get(part) {
                _ if part.is_empty() => return Err(format!("'{word}' lacks a kind")),
                Some(set) => set.clone(),
                None => KindSet::of([part]),
            };
            match set {
                KindSet::All => return Ok(KindSet::All),
                KindSet::Listed(more) => kinds.extend(more),
            }
        }
        Ok(KindSet::Listed(kinds))
    }
}
