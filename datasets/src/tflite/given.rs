//! Shapes and values given by options.

use super::known::Known;
use super::model::{Info, Model};
use crate::import::{ImportOptions, ImportProblem, Source, value_option};
use crate::operators::element::Element;
use crate::operators::value::{FOLD_LIMIT, Fact, RANK_LIMIT, Value, count, show};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(super) struct Given {
    input_shapes: BTreeMap<String, Vec<u64>>,
    tensor_shapes: BTreeMap<String, Vec<u64>>,
    values: BTreeMap<String, Vec<i64>>,
    batch: Option<u64>,
    /// The extent of dimensions that the file leaves free.
    default: Option<u64>,
    trips: Option<u64>,
}

impl Given {
    /// Collects and checks the options.
    ///
    /// # Errors
    /// If a name does not occur in the model, a shape does not have the rank in the file, or a number is
    /// out of range.
    pub(super) fn new(model: &Model, options: &ImportOptions) -> Result<Self, ImportProblem> {
        if let Some((name, value)) = options.dims.first_key_value() {
            let reason = "TFLite files do not name dimensions; use --batch, --input-shape or --dim-default";
            return Err(ImportProblem::option(format!("--dim {name}={value}"), reason));
        }
        let numbers = [("--batch", options.batch), ("--dim-default", options.dim_default)];
        for (option, number) in numbers.into_iter().filter_map(|(option, number)| Some((option, number?))) {
            let reason = match number {
                0 if option == "--batch" => "must be at least 1",
                _ if large(number) => "must be at most 2^63 - 1",
                _ => continue,
            };
            return Err(ImportProblem::option(format!("{option} {number}"), reason));
        }
        let inputs = inputs(model);
        if options.batch.is_some_and(|_| !inputs.iter().any(|info| info.shape.len() > 0)) {
            let option = format!("--batch {}", options.batch.unwrap_or(0));
            return Err(ImportProblem::option(option, "no input has a first dimension"));
        }
        check_shapes(model, options, &inputs)?;
        let given = Self {
            input_shapes: options.input_shapes.clone(),
            tensor_shapes: options.tensor_shapes.clone(),
            values: options.values.clone(),
            batch: options.batch,
            default: options.dim_default,
            trips: options.trips,
        };
        given.check_values(&inputs)?;
        Ok(given)
    }

    /// Checks that every `--value` option names an input and gives as many values as this input has elements.
    fn check_values(&self, inputs: &[&Info]) -> Result<(), ImportProblem> {
        for (name, value) in &self.values {
            let option = value_option(name, value);
            let refuse = |reason: String| Err(ImportProblem::option(&option, reason));
            let Some(info) = find(inputs, name) else { return refuse(none(inputs)) };
            let shape = self.input(info, None).fact.shape;
            let elements = shape.as_deref().and_then(count);
            if elements != Some(value.len() as u64) {
                let shape = shape.as_deref().map_or("unknown".to_owned(), show);
                return refuse(format!("the shape of the input is {shape}"));
            }
            if value.len() as u64 > FOLD_LIMIT {
                return refuse(format!("more than {FOLD_LIMIT} values are not supported"));
            }
        }
        Ok(())
    }

    /// Returns the fact about an input of the model.
    pub(super) fn input(&self, info: &Info, element: Option<Element>) -> Known {
        let own = info.declared();
        let name = info.name.as_ref();
        let shape = match self.input_shapes.get(name) {
            Some(shape) => Some(shape.clone()),
            None => info.shape.iter().enumerate().map(|(at, extent)| self.extent(info, at, extent)).collect(),
        };
        let Some(shape) = shape.filter(|shape| shape.len() <= RANK_LIMIT) else {
            let extents: Vec<i32> = info.shape.iter().collect();
            let free = extents.iter().position(|&extent| extent < 0).unwrap_or(0);
            let why = format!(
                "its dimension {free} is {}; --input-shape {name}=AxB gives its shape {extents:?}",
                extents.get(free).copied().unwrap_or(0)
            );
            return Known { why: Some(why.into()), ..Known::default() };
        };
        let value = self.values.get(name).map(|list| Value::Ints(list.clone()));
        let changed = value.is_some() || own.is_none_or(|own| own != shape);
        Known::new(Fact::new(element, shape).with(value), Source::Inferred, changed)
    }

    /// Returns one extent of an input whose shape no option gives.
    fn extent(&self, info: &Info, at: usize, extent: i32) -> Option<u64> {
        let batch = self.batch.filter(|_| at == 0);
        let default = self.default.filter(|_| extent < 0 || info.is_free(at));
        batch.or(default).or_else(|| u64::try_from(extent).ok())
    }

    /// Returns true if an option sets this dimension of the input.
    pub(super) fn sets(&self, info: &Info, at: usize) -> bool {
        self.input_shapes.contains_key(info.name.as_ref())
            || (at == 0 && self.batch.is_some())
            || (self.default.is_some() && info.is_free(at))
    }

    /// Returns the assumed limit on the iterations of a loop.
    pub(super) fn trips(&self) -> Option<u64> {
        self.trips
    }

    /// Returns the shape of an intermediate tensor, if an option gives it.
    pub(super) fn tensor(&self, info: &Info, at: usize) -> Option<&[u64]> {
        if self.tensor_shapes.is_empty() {
            return None;
        }
        self.tensor_shapes.get(&info.named(at)).map(Vec::as_slice)
    }
}

/// Checks that given shapes belong to inputs and have their ranks, or belong to outputs of operators.
fn check_shapes(model: &Model, options: &ImportOptions, inputs: &[&Info]) -> Result<(), ImportProblem> {
    let shapes = [("--input-shape", &options.input_shapes), ("--tensor-shape", &options.tensor_shapes)];
    for (option, shapes) in shapes {
        for (name, shape) in shapes {
            let option_ = format!("{option} {name}={}", show(shape));
            let refuse = |reason: String| Err(ImportProblem::option(&option_, reason));
            if shape.len() > RANK_LIMIT || shape.iter().any(|&extent| large(extent)) {
                let limits =
                    "too large; extents may be at most 2^63 - 1, and shapes may have at most 64 dimensions";
                return refuse(limits.to_owned());
            }
            match find(inputs, name) {
                _ if option == "--tensor-shape" => {
                    if !makes(model, name) {
                        return refuse("no operator produces a tensor of that name".to_owned());
                    }
                }
                None => return refuse(none(inputs)),
                Some(info) if info.shape.len() > 0 && info.shape.len() != shape.len() => {
                    let own: Vec<i32> = info.shape.iter().collect();
                    return refuse(format!("in the file the input has {} dimensions: {own:?}", own.len()));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

fn large(extent: u64) -> bool {
    i64::try_from(extent).is_err()
}

fn find<'m, 'a>(inputs: &[&'m Info<'a>], name: &str) -> Option<&'m Info<'a>> {
    inputs.iter().copied().find(|info| info.name == name)
}

fn none(inputs: &[&Info]) -> String {
    let names: Vec<&str> = inputs.iter().map(|info| info.name.as_ref()).collect();
    format!("no such input; the inputs are: {}", names.join(", "))
}

/// Returns the inputs of the model, except those that refer to tensors that do not exist.
fn inputs<'m, 'a>(model: &'m Model<'a>) -> Vec<&'m Info<'a>> {
    let body = &model.subgraphs[0];
    body.inputs.iter().filter_map(|at| body.tensors.get(usize::try_from(at).ok()?)).collect()
}

/// Returns true if an operator produces a tensor of that name, or passes it to a subgraph.
fn makes(model: &Model, name: &str) -> bool {
    model.subgraphs.iter().enumerate().any(|(index, subgraph)| {
        let inputs = subgraph.inputs.iter().filter(|_| index > 0);
        let made = subgraph.operators.iter().flat_map(|step| step.outputs.iter()).chain(inputs);
        let places = made.filter_map(|at| usize::try_from(at).ok());
        let mut infos = places.filter_map(|at| Some((at, subgraph.tensors.get(at)?)));
        infos.any(|(at, info)| info.named(at) == name)
    })
}
