//! Finds unbound properties of inputs, and options that bind them.

use crate::import::{ImportOptions, ImportProblem};
use crate::operators::value::show;
use std::collections::HashMap;

/// Values that are tried for free dimensions, after 1: powers of two, and typical extents of images and
/// spectra.
const PLAUSIBLE: &[u64] = &[
    2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 3, 80, 160, 224, 320, 384, 416, 448, 480, 576, 640,
];

/// The maximum number of imports while a search changes one dimension at a time.
const TRIALS: usize = 96;

/// The maximum number of operators inferred while a search changes one dimension at a time, over all trials.
const OPERATORS: usize = 1 << 17;

/// The maximum number of occurrences of one dimension in a message.
const LISTED: usize = 3;

struct Dimension {
    /// The name in the file, if there is one.
    name: Option<String>,
    /// The inputs and positions with this dimension.
    places: Vec<(String, usize)>,
}

/// Extents of an input. Each is either a number, or an index into [`Open::dimensions`].
type Extents = Vec<Result<u64, usize>>;

/// The properties of inputs that neither the file nor an option gives.
#[derive(Default)]
pub struct Open {
    dimensions: Vec<Dimension>,
    named: HashMap<String, usize>,
    /// Inputs with a free dimension that has no name.
    unnamed: Vec<(String, Extents)>,
    pub shapeless: Vec<String>,
    pub untyped: Vec<String>,
}

/// The result of inferring shapes with trial extents.
pub enum Trial {
    /// Inference reaches the end.
    Fits,
    /// Inference reaches the end, but a branch that may be chosen cannot run.
    Partly,
    /// Inference stops at an operator that cannot run on the trial shapes. The field is the number of
    /// operators inferred before it.
    Misfit(usize),
    /// Inference fails for a reason that does not depend on the extents.
    Fails,
}

impl Open {
    /// Adds the extents of an input. A free extent is given by its name, if it has one.
    pub fn add<'n>(&mut self, input: &str, listed: impl Iterator<Item = Result<u64, Option<&'n str>>>) {
        let mut extents = Extents::new();
        let mut complete = true;
        for (at, extent) in listed.enumerate() {
            let place = (input.to_owned(), at);
            extents.push(extent.map_err(|name| {
                let next = self.dimensions.len();
                let dimension = match name {
                    Some(name) => *self.named.entry(name.to_owned()).or_insert(next),
                    None => next,
                };
                complete &= name.is_some();
                if dimension == next {
                    self.dimensions.push(Dimension { name: name.map(str::to_owned), places: Vec::new() });
                }
                self.dimensions[dimension].places.push(place);
                dimension
            }));
        }
        if !complete {
            self.unnamed.push((input.to_owned(), extents));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.dimensions.is_empty() && self.shapeless.is_empty() && self.untyped.is_empty()
    }

    /// Returns the options with these values of the dimensions.
    fn close(&self, options: &ImportOptions, values: &[u64]) -> ImportOptions {
        let mut options = options.clone();
        for (dimension, &value) in self.dimensions.iter().zip(values) {
            if let Some(name) = &dimension.name {
                options.dims.insert(name.clone(), value);
            }
        }
        for (input, extents) in &self.unnamed {
            let shape = extents.iter().map(|extent| extent.unwrap_or_else(|at| values[at])).collect();
            options.input_shapes.insert(input.clone(), shape);
        }
        options.input_shapes.extend(self.shapeless.iter().map(|input| (input.clone(), vec![1, 1])));
        if !self.untyped.is_empty() {
            options.assume_bytes = options.assume_bytes.or(Some(1024));
        }
        options
    }

    /// Searches for values with which an import succeeds. The search starts with 1 for all dimensions and
    /// changes one dimension at a time, keeping the values with which inference proceeds furthest. Values
    /// with which all branches can run are preferred. Returns `None` if no trial succeeds.
    fn search(&self, options: &ImportOptions, attempt: &dyn Fn(&ImportOptions) -> Trial) -> Option<Vec<u64>> {
        let mut values = vec![1; self.dimensions.len()];
        let mut partly = None;
        let (mut trials, mut operators) = (TRIALS, OPERATORS);
        let mut reached = match attempt(&self.close(options, &values)) {
            Trial::Fits => return Some(values),
            Trial::Partly => {
                partly = Some(values.clone());
                usize::MAX
            }
            Trial::Misfit(reached) => reached,
            Trial::Fails => return None,
        };
        loop {
            let before = reached;
            for at in 0..values.len() {
                for &value in PLAUSIBLE {
                    if trials == 0 || operators == 0 {
                        return partly;
                    }
                    let old = std::mem::replace(&mut values[at], value);
                    let far = match attempt(&self.close(options, &values)) {
                        Trial::Fits => return Some(values),
                        Trial::Misfit(far) => far,
                        Trial::Partly => {
                            partly.get_or_insert(values.clone());
                            0
                        }
                        Trial::Fails => 0,
                    };
                    (trials, operators) = (trials - 1, operators.saturating_sub(far.max(1)));
                    if far > reached {
                        reached = far;
                    } else {
                        values[at] = old;
                    }
                }
            }
            if reached == before {
                return self.together(options, attempt, trials).or(partly);
            }
        }
    }

    /// Tries the same value for all dimensions that cannot be 1, because height and width of an image are
    /// often equal.
    fn together(
        &self,
        options: &ImportOptions,
        attempt: &dyn Fn(&ImportOptions) -> Trial,
        trials: usize,
    ) -> Option<Vec<u64>> {
        let fits = |values: &[u64]| matches!(attempt(&self.close(options, values)), Trial::Fits);
        let equal = PLAUSIBLE.iter().map(|&value| vec![value; self.dimensions.len()]);
        let mut values = equal.take(trials).find(|values| fits(values))?;
        for at in 0..values.len().min(trials) {
            let old = std::mem::replace(&mut values[at], 1);
            if !fits(&values) {
                values[at] = old;
            }
        }
        Some(values)
    }

    /// Returns the options that set these values, in command-line syntax.
    fn typed(&self, values: &[u64]) -> Vec<String> {
        let mut typed = Vec::new();
        for (dimension, value) in self.dimensions.iter().zip(values) {
            let shaped = |(input, _): &(String, usize)| self.unnamed.iter().any(|(other, _)| other == input);
            if let Some(name) = dimension.name.as_ref().filter(|_| !dimension.places.iter().any(shaped)) {
                typed.push(argument("--dim", &format!("{name}={value}")));
            }
        }
        for (input, extents) in &self.unnamed {
            let shape: Vec<u64> =
                extents.iter().map(|extent| extent.unwrap_or_else(|at| values[at])).collect();
            typed.push(argument("--input-shape", &format!("{input}={}", show(&shape))));
        }
        typed.extend(self.beyond());
        typed
    }

    fn beyond(&self) -> Vec<String> {
        let shapes = self.shapeless.iter().map(|input| argument("--input-shape", &format!("{input}=1x1")));
        let sizes = self.untyped.first().map(|_| "--assume-bytes 1024".to_owned());
        shapes.chain(sizes).collect()
    }

    /// Returns options with which an import succeeds, in command-line syntax, or `None` if none were found.
    pub fn fitting(
        &self,
        options: &ImportOptions,
        attempt: &dyn Fn(&ImportOptions) -> Trial,
    ) -> Option<String> {
        (!self.dimensions.is_empty())
            .then(|| self.search(options, attempt))?
            .map(|values| self.typed(&values).join(" "))
    }

    /// Returns the error that names all unbound dimensions and inputs, with options that bind them.
    pub fn error(&self, options: &ImportOptions, attempt: &dyn Fn(&ImportOptions) -> Trial) -> ImportProblem {
        let found = self.search(options, attempt);
        let ones = found.as_ref().is_none_or(|values| values.iter().all(|&value| value == 1));
        let values = found.unwrap_or_else(|| vec![1; self.dimensions.len()]);
        let mut options = self.typed(&values).join(" ");
        if ones && !self.dimensions.is_empty() {
            let default = std::iter::once("--dim-default 1".to_owned()).chain(self.beyond());
            options = format!("{options}, or {}", default.collect::<Vec<_>>().join(" "));
        }
        ImportProblem::Open { what: self.list(), options }
    }

    fn list(&self) -> String {
        let mut parts = Vec::new();
        if !self.dimensions.is_empty() {
            let list: Vec<String> = self.dimensions.iter().map(Dimension::text).collect();
            let verb = if list.len() == 1 { "dimension has" } else { "dimensions have" };
            parts.push(format!("{} {verb} no value: {}", list.len(), list.join(", ")));
        }
        for (inputs, what) in [(&self.shapeless, "shape"), (&self.untyped, "element type")] {
            if !inputs.is_empty() {
                let (list, verb) = (shortened(inputs.iter().map(|name| format!("'{name}'"))), inputs.len());
                let verb = if verb == 1 { "input has" } else { "inputs have" };
                parts.push(format!("{} {verb} no {what}: {list}", inputs.len()));
            }
        }
        parts.join("; ")
    }
}

impl Dimension {
    fn text(&self) -> String {
        let place = |(input, at): &(String, usize)| format!("'{input}' dimension {at}");
        match (&self.name, self.places.first()) {
            (Some(name), _) => format!("{name} ({})", shortened(self.places.iter().map(place))),
            (None, place) => {
                place.map_or_else(String::new, |(input, at)| format!("dimension {at} of '{input}' (no name)"))
            }
        }
    }
}

fn shortened(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(LISTED);
    let mut list: Vec<String> = items.take(LISTED).collect();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}

/// Returns an option and its value, quoted for a shell.
pub fn argument(option: &str, value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%^".contains(c);
    let value = if value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    };
    let between = if value.trim_start_matches('\'').starts_with('-') { '=' } else { ' ' };
    format!("{option}{between}{value}")
}
