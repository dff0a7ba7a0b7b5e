//! Fusion patterns: sequences of kinds whose operators may run as one operator.
//!
//! ```text
//! # One pattern per line: a name, and the kinds of operators that follow each other.
//! class gate = Sigmoid|HardSigmoid|Tanh     # a name for several kinds, like the built-in conv, act and pool
//! conv-act   = conv act                     # each step reads an output of the previous one
//! conv-gate  = conv gate Mul^1              # step 3 also reads an output of step 1
//! conv-any   = conv *                       # step 2 matches every kind
//! ```
//!
//! A *match* of a pattern assigns one operator to each step. The operators are distinct, and each reads an
//! output of the previous one. Outputs of all operators but the last may be read only by members of the
//! match, and must not be outputs of the region. Otherwise, these outputs would have to be stored anyway, and
//! nothing would be saved. Members may read further outputs of each other and any tensors from outside.
//! Operators that own regions never match.

use super::kinds::KindSet;
use crate::description::{DescriptionError, preset_or_file};
use std::collections::BTreeMap;

/// The built-in patterns, as pairs of name and text.
pub const PATTERN_PRESETS: [(&str, &str); 4] = [
    ("default", include_str!("presets/default.patterns")),
    ("s3", include_str!("presets/s3.patterns")),
    ("s3-joined", include_str!("presets/s3-joined.patterns")),
    ("chains", include_str!("presets/chains.patterns")),
];

/// The maximum number of steps of a pattern.
pub const MAX_STEPS: usize = 16;

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kinds that match the step.
    pub kinds: KindSet,
    /// Earlier steps, counted from 0, whose outputs the operator must read in addition to an output of the
    /// previous step.
    pub also: Vec<usize>,
}

/// A sequence of operator kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The name of the pattern, used in reports.
    pub name: String,
    /// The steps, at least two.
    pub steps: Vec<Step>,
}

/// Patterns with distinct names, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Returns the patterns of the preset `name` or, if there is none, of the file `name`.
    ///
    /// # Errors
    /// The first [`DescriptionError`] found.
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        let text = preset_or_file("patterns", name, &PATTERN_PRESETS)?;
        Self::parse(name, &text)
    }

    /// Parses patterns. `file` is the name used in messages.
    ///
    /// # Errors
    /// [`DescriptionError::Line`] for the first invalid line.
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
            let (reason, text) = ("the file contains no pattern".to_owned(), String::new());
            return Err(DescriptionError::Line { file: file.to_owned(), line: 1, reason, text });
        }
        Ok(Self(reader.patterns))
    }

    /// Returns all patterns, in file order.
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
        let (name, steps) = line.split_once('=').ok_or("expected a name, `=` and kinds")?;
        let words: Vec<&str> = name.split_whitespace().collect();
        match words[..] {
            ["class", name] => {
                let [kinds] = steps.split_whitespace().collect::<Vec<_>>()[..] else {
                    return Err("the kinds of a class must be separated by `|` without spaces".to_owned());
                };
                let kinds = self.kinds(kinds)?;
                match self.classes.insert(name.to_owned(), kinds) {
                    Some(_) => Err(format!("class '{name}' is already defined")),
                    None => Ok(()),
                }
            }
            [name] => {
                if self.patterns.iter().any(|other| other.name == name) {
                    return Err(format!("pattern '{name}' is already defined"));
                }
                let steps: Vec<&str> = steps.split_whitespace().collect();
                if !(2..=MAX_STEPS).contains(&steps.len()) {
                    return Err(format!("a pattern must have 2 to {MAX_STEPS} steps; found {}", steps.len()));
                }
                let steps = steps.iter().enumerate().map(|(at, word)| self.step(at, word));
                let steps = steps.collect::<Result<_, _>>()?;
                self.patterns.push(Pattern { name: name.to_owned(), steps });
                Ok(())
            }
            _ => Err("a pattern name must not contain spaces".to_owned()),
        }
    }

    fn step(&self, at: usize, word: &str) -> Result<Step, String> {
        let mut parts = word.split('^');
        let kinds = self.kinds(parts.next().unwrap_or_default())?;
        let earlier = |part: &str| {
            let number = part.parse::<usize>().ok().filter(|number| (1..=at).contains(number));
            number
                .map(|number| number - 1)
                .ok_or_else(|| format!("'^{part}' does not refer to an earlier step"))
        };
        Ok(Step { kinds, also: parts.map(earlier).collect::<Result<_, _>>()? })
    }

    fn kinds(&self, word: &str) -> Result<KindSet, String> {
        let mut kinds = std::collections::BTreeSet::new();
        for part in word.split('|') {
            let set = match self.classes.get(part) {
                _ if part.is_empty() => return Err(format!("'{word}' contains an empty kind")),
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
