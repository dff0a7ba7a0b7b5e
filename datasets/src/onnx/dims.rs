//! Applies options to the types of inputs and binds free dimensions.

use super::open::Open;
use super::proto;
use crate::import::{ImportOptions, ImportProblem, value_option};
use crate::operators::element::Element;
use crate::operators::value::{FOLD_LIMIT, Fact, RANK_LIMIT, Value, count, show};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The reason for rejecting an extent or a shape that is too large.
pub const TOO_LARGE: &str =
    "too large; extents may be at most 2^63 - 1, and shapes may have at most 64 dimensions";

/// How options change the inputs on which a tensor depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// No change: a declared shape is valid.
    None,
    /// Free dimensions received values: a declared shape is valid only if it names one of them.
    Free,
    /// An extent differs from the one in the file, or an input has a given value: no declared shape is
    /// reliable.
    Fixed,
}

/// Values of named dimensions, each with the option that assigned it.
pub struct Dims<'o> {
    options: &'o ImportOptions,
    values: BTreeMap<String, (u64, String)>,
}

impl<'o> Dims<'o> {
    /// Binds names to values, as given by `--dim`, `--input-shape`, `--batch`, `--value` and
    /// `--dim-default`.
    ///
    /// # Errors
    /// If an option matches nothing, or two options contradict each other.
    pub fn new(options: &'o ImportOptions, graph: &proto::Graph) -> Result<Self, ImportProblem> {
        let mut dims = Self { options, values: BTreeMap::new() };
        dims.check_names(graph)?;
        for (name, &value) in &options.dims {
            dims.bind(name, value, &format!("--dim {name}={value}"))?;
        }
        for input in inputs(graph) {
            dims.bind_input(input)?;
        }
        let Some(default) = options.dim_default else { return Ok(dims) };
        let option = format!("--dim-default {default}");
        if default > i64::MAX as u64 {
            return Err(ImportProblem::option(option, TOO_LARGE));
        }
        let open = inputs(graph).filter(|input| !options.input_shapes.contains_key(&input.name));
        for name in open.filter_map(declared_dims).flatten().filter_map(free_name) {
            if !dims.values.contains_key(name) {
                dims.bind(name, default, &option)?;
            }
        }
        Ok(dims)
    }

    /// Binds the free dimensions of an input whose shape, first dimension or value is given.
    fn bind_input(&mut self, input: &proto::ValueInfo) -> Result<(), ImportProblem> {
        let options = self.options;
        let listed = declared_dims(input);
        if let Some(shape) = options.input_shapes.get(&input.name) {
            let option = format!("--input-shape {}={}", input.name, show(shape));
            if let Some(listed) = listed
                && listed.len() != shape.len()
            {
                let reason =
                    format!("in the file the input has {} dimensions: {}", listed.len(), text(listed));
                return Err(ImportProblem::option(option, reason));
            }
            if shape.len() > RANK_LIMIT || shape.iter().any(|&extent| extent > i64::MAX as u64) {
                return Err(ImportProblem::option(option, TOO_LARGE));
            }
            for (dimension, &extent) in listed.unwrap_or_default().iter().zip(shape) {
                if let Some(name) = free_name(dimension) {
                    self.bind(name, extent, &option)?;
                }
            }
            return Ok(());
        }
        if let (Some(batch), Some(first)) = (options.batch, listed.and_then(|listed| listed.first()))
            && let Some(name) = free_name(first)
        {
            self.bind(name, batch, &format!("--batch {batch}"))?;
        }
        if let (Some(list), Some([only])) = (options.values.get(&input.name), listed)
            && let Some(name) = free_name(only).filter(|name| !self.values.contains_key(*name))
        {
            self.bind(name, list.len() as u64, &value_option(&input.name, list))?;
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, value: u64, option: &str) -> Result<(), ImportProblem> {
        if value > i64::MAX as u64 {
            return Err(ImportProblem::option(option, TOO_LARGE));
        }
        match self.values.get(name) {
            Some((other, by)) if *other != value => {
                let reason = format!("this sets dimension {name} to {value}, but {by} sets it to {other}");
                Err(ImportProblem::option(option, reason))
            }
            Some(_) => Ok(()),
            None => {
                self.values.insert(name.to_owned(), (value, option.to_owned()));
                Ok(())
            }
        }
    }

    /// Checks that the file contains every input and every dimension that an option names.
    fn check_names(&self, graph: &proto::Graph) -> Result<(), ImportProblem> {
        let list = |names: BTreeSet<&str>| {
            let names: Vec<&str> = names.into_iter().collect();
            if names.is_empty() {
                "there are none".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            }
        };
        let shapes = self.options.input_shapes.iter();
        let shapes = shapes.map(|(name, shape)| (name, format!("--input-shape {name}={}", show(shape))));
        let values = self.options.values.iter().map(|(name, list)| (name, value_option(name, list)));
        for (name, option) in shapes.chain(values) {
            if !inputs(graph).any(|input| input.name == *name) {
                let names = inputs(graph).map(|input| input.name.as_str()).collect();
                return Err(ImportProblem::option(option, format!("no input of that name; {}", list(names))));
            }
        }
        if self.options.dims.is_empty() {
            return Ok(());
        }
        let mut known = HashSet::new();
        collect_names(graph, &mut known);
        for (name, value) in &self.options.dims {
            if !known.contains(name.as_str()) {
                let free = inputs(graph).filter_map(declared_dims).flatten().filter_map(free_name).collect();
                let reason = format!("no free dimension of that name; {}", list(free));
                return Err(ImportProblem::option(format!("--dim {name}={value}"), reason));
            }
        }
        Ok(())
    }

    /// Returns the type and shape of an input of the graph, and its value if one is given.
    ///
    /// # Errors
    /// If the input is not a tensor (unless `assume_bytes` is given), has too many dimensions, or has a given
    /// value that does not match its type and shape. Unbound extents are not an error: the fact then has no
    /// shape.
    pub fn input(&self, info: &proto::ValueInfo) -> Result<Fact, ImportProblem> {
        if self.options.assume_bytes.is_some() && is_no_tensor(info) {
            return Ok(Fact::default());
        }
        let element = Self::element(info)?;
        let listed = declared_dims(info);
        if let Some(listed) = listed
            && listed.len() > RANK_LIMIT
        {
            let (name, rank) = (&info.name, listed.len());
            let what = format!("'{name}' has {rank} dimensions, more than {RANK_LIMIT}");
            return Err(ImportProblem::Damaged(what));
        }
        let given = self.options.input_shapes.get(&info.name).cloned();
        let shape = given.or_else(|| (0..listed?.len()).map(|at| self.input_extent(info, at)).collect());
        let fact = Fact { element, shape, ..Fact::default() };
        match self.options.values.get(&info.name) {
            Some(list) if fact.shape.is_some() => Self::valued(info, fact, list),
            _ => Ok(fact),
        }
    }

    /// Returns one extent of an input whose shape no option gives, or `None` if the extent is unbound.
    fn input_extent(&self, info: &proto::ValueInfo, at: usize) -> Option<u64> {
        let listed = declared_dims(info)?;
        let batch = self.options.batch.filter(|_| at == 0);
        let counted =
            || Some(self.options.values.get(&info.name).filter(|_| listed.len() == 1)?.len() as u64);
        batch.or_else(|| self.extent(&listed[at])).or_else(counted).or(self.options.dim_default)
    }

    /// Returns an input with its value from `--value`.
    fn valued(info: &proto::ValueInfo, fact: Fact, list: &[i64]) -> Result<Fact, ImportProblem> {
        let refused = |reason| Err(ImportProblem::option(value_option(&info.name, list), reason));
        let shape = fact.shape.as_deref().unwrap_or_default();
        let Some(element) = fact.element else {
            return refused("the file gives the input no element type".to_owned());
        };
        if count(shape) != Some(list.len() as u64) {
            return refused(format!("{} values, but the input is {}", list.len(), show(shape)));
        }
        if list.len() as u64 > FOLD_LIMIT {
            return refused(format!("at most {FOLD_LIMIT} values are supported"));
        }
        let value = if element.float {
            Value::Floats(list.iter().map(|&i| i as f64).collect())
        } else {
            Value::Ints(list.to_vec())
        };
        let fact = fact.with(Some(value));
        if fact.value.is_none() {
            return refused(format!("not all of them are values of type {}", element.name));
        }
        Ok(fact)
    }

    /// Returns the given shapes of intermediate tensors, by name.
    pub fn tensor_shapes(&self) -> impl Iterator<Item = (&'o str, &'o [u64])> {
        self.options.tensor_shapes.iter().map(|(name, shape)| (name.as_str(), shape.as_slice()))
    }

    /// Returns all properties of inputs that neither the file nor an option determines.
    ///
    /// # Errors
    /// If an input is not a tensor, unless `assume_bytes` is given.
    pub fn open(&self, graph: &proto::Graph) -> Result<Open, ImportProblem> {
        let mut open = Open::default();
        for info in inputs(graph) {
            let name = info.name.as_str();
            if self.options.assume_bytes.is_some() && is_no_tensor(info) {
                continue;
            }
            if Self::element(info)?.is_none() && self.options.assume_bytes.is_none() {
                open.untyped.push(name.to_owned());
            }
            let Some(listed) = declared_dims(info) else {
                if self.options.assume_bytes.is_none() && !self.options.input_shapes.contains_key(name) {
                    open.shapeless.push(name.to_owned());
                }
                continue;
            };
            // A shape with more dimensions than `RANK_LIMIT` indicates a damaged file.
            if self.options.input_shapes.contains_key(name) || listed.len() > RANK_LIMIT {
                continue;
            }
            open.add(
                name,
                listed
                    .iter()
                    .enumerate()
                    .map(|(at, dimension)| self.input_extent(info, at).ok_or_else(|| free_name(dimension))),
            );
        }
        Ok(open)
    }

    /// Returns the element type of a value, or `None` if the file does not declare one.
    fn element(info: &proto::ValueInfo) -> Result<Option<Element>, ImportProblem> {
        let Some(kind) = &info.r#type else { return Ok(None) };
        let other = [
            ("a sequence", &kind.sequence),
            ("a map", &kind.map),
            ("a sparse tensor", &kind.sparse),
            ("an optional", &kind.optional),
        ];
        if let Some((what, _)) = other.iter().find(|(_, there)| there.is_some()) {
            return Err(ImportProblem::Unsupported {
                what: format!("input '{}'", info.name),
                reason: format!(
                    "it is {what}, and the file does not determine its size; --assume-bytes gives it one"
                ),
            });
        }
        let code = kind.tensor.as_ref().map_or(0, |tensor| tensor.elem_type);
        if code == 0 {
            return Ok(None);
        }
        Element::of(code).map(Some).ok_or_else(|| {
            ImportProblem::Damaged(format!("'{}' has element type {code}, which is not known", info.name))
        })
    }

    /// Returns how options change the shape of an input of the graph.
    pub fn change(&self, info: &proto::ValueInfo) -> Change {
        if self.options.values.contains_key(&info.name) {
            return Change::Fixed;
        }
        let listed = declared_dims(info).unwrap_or_default();
        let given = self.options.input_shapes.get(&info.name);
        let wanted = |at: usize| match given {
            Some(shape) => shape.get(at).copied(),
            None => self.options.batch.filter(|_| at == 0),
        };
        let fixed = |(at, dimension): (usize, &proto::Dimension)| {
            let value = dimension.value.and_then(|value| u64::try_from(value).ok());
            value.is_some_and(|value| wanted(at).is_some_and(|wanted| wanted != value))
        };
        if listed.iter().enumerate().any(fixed) {
            Change::Fixed
        } else if declared_dims(info).is_none() || listed.iter().any(|dimension| dimension.value.is_none()) {
            Change::Free
        } else {
            Change::None
        }
    }

    /// Returns the names in the declared shape that no option binds.
    pub fn names_open<'i>(&self, info: &'i proto::ValueInfo) -> impl Iterator<Item = &'i str> {
        let names = declared_dims(info).unwrap_or_default().iter().filter_map(free_name);
        names.filter(|name| !self.values.contains_key(*name))
    }

    /// Returns true if an option binds a name in the declared shape.
    pub fn names_given(&self, info: &proto::ValueInfo) -> bool {
        let names = declared_dims(info).unwrap_or_default().iter().filter_map(free_name);
        names.into_iter().any(|name| self.values.contains_key(name))
    }

    /// Returns the free dimensions of an input, each with its value and the option that assigned it.
    pub fn bound(&self, info: &proto::ValueInfo) -> Vec<String> {
        let listed = declared_dims(info).unwrap_or_default();
        let given = self.options.input_shapes.get(&info.name);
        let mut bound = Vec::new();
        for (at, dimension) in listed.iter().enumerate() {
            let here = || format!("dimension {at} of input '{}'", info.name);
            if let Some((name, (value, option))) =
                free_name(dimension).and_then(|n| Some((n, self.values.get(n)?)))
            {
                bound.push(format!("{name}={value} ({option})"));
            } else if let (Some(batch), 0, None) = (self.options.batch, at, given) {
                bound.push(format!("{}={batch} (--batch {batch})", here()));
            } else if dimension.value.is_none_or(|value| value < 0) {
                let value =
                    given.and_then(|shape| shape.get(at).copied()).or_else(|| self.input_extent(info, at));
                let option = if given.is_some() { "--input-shape" } else { "--dim-default" };
                bound.extend(value.map(|value| format!("{}={value} ({option})", here())));
            }
        }
        bound
    }

    /// Returns the declared fact about an intermediate value. It contains a shape only if all extents have
    /// values.
    ///
    /// # Errors
    /// If the element type is unknown.
    pub fn inner(&self, info: &proto::ValueInfo) -> Result<Fact, ImportProblem> {
        if is_no_tensor(info) {
            return Ok(Fact::default());
        }
        let element = Self::element(info)?;
        let listed = declared_dims(info).filter(|listed| listed.len() <= RANK_LIMIT);
        let shape = listed.and_then(|listed| listed.iter().map(|dimension| self.extent(dimension)).collect());
        Ok(Fact { element, shape, ..Fact::default() })
    }

    fn extent(&self, dimension: &proto::Dimension) -> Option<u64> {
        match dimension.value {
            Some(value) => u64::try_from(value).ok(),
            None => self.values.get(dimension.param.as_deref()?).map(|(value, _)| *value),
        }
    }
}

/// Returns true if the file declares a value as a sequence, a map, an optional or a sparse tensor.
fn is_no_tensor(info: &proto::ValueInfo) -> bool {
    info.r#type.as_ref().is_some_and(|kind| {
        [&kind.sequence, &kind.map, &kind.sparse, &kind.optional].into_iter().any(Option::is_some)
    })
}

fn declared_dims(info: &proto::ValueInfo) -> Option<&[proto::Dimension]> {
    Some(&info.r#type.as_ref()?.tensor.as_ref()?.shape.as_ref()?.dim)
}

fn free_name(dimension: &proto::Dimension) -> Option<&str> {
    dimension.param.as_deref().filter(|name| dimension.value.is_none() && !name.is_empty())
}

/// Returns the inputs of the graph that are not constants.
fn inputs(graph: &proto::Graph) -> impl Iterator<Item = &proto::ValueInfo> {
    let constants: HashSet<&str> = graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
    graph.input.iter().filter(move |input| !constants.contains(input.name.as_str()))
}

/// Collects every name of a dimension, including those in bodies of operators.
fn collect_names<'g>(graph: &'g proto::Graph, names: &mut HashSet<&'g str>) {
    let mut todo = vec![graph];
    while let Some(graph) = todo.pop() {
        let values = graph.input.iter().chain(&graph.output).chain(&graph.value_info);
        names.extend(values.filter_map(declared_dims).flatten().filter_map(free_name));
        todo.extend(graph.node.iter().flat_map(proto::Node::bodies).map(|(_, body)| body));
    }
}

/// Formats a shape with the names of its free dimensions, as in `Nx3x?x224`.
fn text(listed: &[proto::Dimension]) -> String {
    let one = |dimension: &proto::Dimension| match (dimension.value, free_name(dimension)) {
        (Some(value), _) if value >= 0 => value.to_string(),
        (_, Some(name)) => name.to_owned(),
        _ => "?".to_owned(),
    };
    let extents: Vec<String> = listed.iter().map(one).collect();
    if extents.is_empty() { "scalar".to_owned() } else { extents.join("x") }
}

/// Returns the value infos of one graph by name. If a name has several, one with a shape takes precedence.
pub fn by_name(graph: &proto::Graph) -> HashMap<&str, &proto::ValueInfo> {
    let (bare, shaped): (Vec<_>, Vec<_>) =
        graph.value_info.iter().chain(&graph.output).partition(|info| declared_dims(info).is_none());
    bare.into_iter().chain(shaped).map(|info| (info.name.as_str(), info)).collect()
}
