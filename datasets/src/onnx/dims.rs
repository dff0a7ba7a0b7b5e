//! Free dimensions: from options to the types of inputs.

use super::proto;
use crate::import::{ImportError, ImportOptions};
use crate::operators::element::Element;
use crate::operators::value::{Fact, RANK_LIMIT, show};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// What options change about the inputs that a tensor depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing: what the file declares of it can hold.
    None,
    /// Free dimensions got values: what it declares can hold where it names them.
    Free,
    /// An extent differs from the file's, or values are given: nothing that it declares can be relied on.
    Fixed,
}

/// Values of named dimensions, each with the option that gave it.
pub struct Dims<'o> {
    origin: &'o Path,
    options: &'o ImportOptions,
    values: BTreeMap<String, (u64, String)>,
}

impl<'o> Dims<'o> {
    /// Binds names to values: by `--dim`, by the shapes of inputs that are given whole, by `--batch`.
    ///
    /// # Errors
    /// Options that name nothing, or contradict each other.
    pub fn new(
        origin: &'o Path,
        options: &'o ImportOptions,
        graph: &proto::Graph,
    ) -> Result<Self, ImportError> {
        let mut dims = Self { origin, options, values: BTreeMap::new() };
        dims.check_names(graph)?;
        for (name, &value) in &options.dims {
            dims.bind(name, value, &format!("--dim {name}={value}"))?;
        }
        let constants: HashSet<&str> = graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
        for input in graph.input.iter().filter(|input| !constants.contains(input.name.as_str())) {
            let listed = declared_dims(input);
            if let Some(shape) = options.input_shapes.get(&input.name) {
                let option = format!("--input-shape {}={}", input.name, show(shape));
                if let Some(listed) = listed
                    && listed.len() != shape.len()
                {
                    let reason =
                        format!("in the file the input has {} dimensions: {}", listed.len(), text(listed));
                    return Err(dims.refused(option, reason));
                }
                if shape.len() > RANK_LIMIT || shape.iter().any(|&extent| extent > i64::MAX as u64) {
                    return Err(dims.refused(option, "more than anybody can hold".to_owned()));
                }
                for (dimension, &extent) in listed.unwrap_or_default().iter().zip(shape) {
                    if let Some(name) = free_name(dimension) {
                        dims.bind(name, extent, &option)?;
                    }
                }
            } else if let (Some(batch), Some(first)) =
                (options.batch, listed.and_then(|listed| listed.first()))
                && let Some(name) = free_name(first)
            {
                dims.bind(name, batch, &format!("--batch {batch}"))?;
            }
        }
        Ok(dims)
    }

    fn refused(&self, option: String, reason: String) -> ImportError {
        ImportError::Option { path: self.origin.to_path_buf(), option, reason }
    }

    fn bind(&mut self, name: &str, value: u64, option: &str) -> Result<(), ImportError> {
        if value > i64::MAX as u64 {
            return Err(self.refused(option.to_owned(), "more than anybody can hold".to_owned()));
        }
        match self.values.get(name) {
            Some((other, by)) if *other != value => {
                let reason = format!("dimension {name} is {value} by this, but {other} by {by}");
                Err(self.refused(option.to_owned(), reason))
            }
            Some(_) => Ok(()),
            None => {
                self.values.insert(name.to_owned(), (value, option.to_owned()));
                Ok(())
            }
        }
    }

    /// Every name in the options must be one of the file's.
    fn check_names(&self, graph: &proto::Graph) -> Result<(), ImportError> {
        let list = |names: BTreeSet<&str>| {
            let names: Vec<&str> = names.into_iter().collect();
            if names.is_empty() {
                "there are none".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            }
        };
        let constants: HashSet<&str> = graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
        let inputs = || graph.input.iter().filter(|input| !constants.contains(input.name.as_str()));
        for (name, shape) in &self.options.input_shapes {
            if !inputs().any(|input| input.name == *name) {
                let option = format!("--input-shape {name}={}", show(shape));
                let names = inputs().map(|input| input.name.as_str()).collect();
                return Err(self.refused(option, format!("no input of that name; {}", list(names))));
            }
        }
        if self.options.dims.is_empty() {
            return Ok(());
        }
        let mut known = HashSet::new();
        collect_names(graph, &mut known);
        for (name, value) in &self.options.dims {
            if !known.contains(name.as_str()) {
                let free = inputs().filter_map(declared_dims).flatten().filter_map(free_name).collect();
                let reason = format!("no free dimension of that name; {}", list(free));
                return Err(self.refused(format!("--dim {name}={value}"), reason));
            }
        }
        Ok(())
    }

    /// Type and shape of an input of the graph.
    ///
    /// # Errors
    /// Extents nobody gave, types that are no tensors. Without any shape the fact has none.
    pub fn input(&self, info: &proto::ValueInfo) -> Result<Fact, ImportError> {
        if self.options.assume_bytes.is_some() && is_no_tensor(info) {
            return Ok(Fact::default());
        }
        let mut fact = Fact { element: self.element(info)?, ..Fact::default() };
        if let Some(shape) = self.options.input_shapes.get(&info.name) {
            fact.shape = Some(shape.clone());
            return Ok(fact);
        }
        let Some(listed) = declared_dims(info) else { return Ok(fact) };
        let mut shape = Vec::with_capacity(listed.len());
        for (at, dimension) in listed.iter().enumerate() {
            let batch = self.options.batch.filter(|_| at == 0);
            let Some(extent) = batch.or_else(|| self.extent(dimension)) else {
                return Err(self.free(info, listed, at));
            };
            shape.push(extent);
        }
        if shape.len() > RANK_LIMIT {
            return Err(
                self.damaged(info, &format!("has {} dimensions, more than {RANK_LIMIT}", shape.len()))
            );
        }
        fact.shape = Some(shape);
        Ok(fact)
    }

    /// The error for an extent that has no value.
    fn free(&self, info: &proto::ValueInfo, listed: &[proto::Dimension], at: usize) -> ImportError {
        let name = &info.name;
        let example: Vec<u64> = listed.iter().map(|dimension| self.extent(dimension).unwrap_or(1)).collect();
        let whole = format!("--input-shape {name}={}", show(&example));
        let reason = match free_name(&listed[at]) {
            Some(free) => format!(
                "dimension {free} has no value; give one with --dim {free}=1, or the shape with {whole}"
            ),
            None => format!("dimension {at} has neither value nor name; give the shape with {whole}"),
        };
        self.refused(format!("input '{name}' of shape {}", text(listed)), reason)
    }

    fn damaged(&self, info: &proto::ValueInfo, what: &str) -> ImportError {
        ImportError::Damaged { path: self.origin.to_path_buf(), what: format!("'{}' {what}", info.name) }
    }

    /// The element type of a value; none where the file has none.
    fn element(&self, info: &proto::ValueInfo) -> Result<Option<Element>, ImportError> {
        let Some(kind) = &info.r#type else { return Ok(None) };
        let other = [
            ("a sequence", &kind.sequence),
            ("a map", &kind.map),
            ("a sparse tensor", &kind.sparse),
            ("an optional", &kind.optional),
        ];
        if let Some((what, _)) = other.iter().find(|(_, there)| there.is_some()) {
            return Err(ImportError::Unsupported {
                path: self.origin.to_path_buf(),
                what: format!("'{}'", info.name),
                reason: format!("it is {what}, not a tensor"),
            });
        }
        match kind.tensor.as_ref().map(|tensor| tensor.elem_type) {
            None | Some(0) => Ok(None),
            Some(code) => match Element::of(code) {
                Some(element) => Ok(Some(element)),
                None => Err(self.damaged(info, &format!("has element type {code}, which is not known"))),
            },
        }
    }

    /// How options change the shape of an input of the graph.
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

    /// True where the file's shape has a name that an option gives a value.
    pub fn names_given(&self, info: &proto::ValueInfo) -> bool {
        let names = declared_dims(info).unwrap_or_default().iter().filter_map(free_name);
        names.into_iter().any(|name| self.values.contains_key(name))
    }

    /// What the file says of a value inside; the shape only where all its extents have values.
    ///
    /// # Errors
    /// Types that are not known.
    pub fn inner(&self, info: &proto::ValueInfo) -> Result<Fact, ImportError> {
        if is_no_tensor(info) {
            return Ok(Fact::default());
        }
        let element = self.element(info)?;
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

/// True where the file says that a value is a sequence, a map, an optional or a sparse tensor.
fn is_no_tensor(info: &proto::ValueInfo) -> bool {
    info.r#type.as_ref().is_some_and(|kind| {
        [&kind.sequence, &kind.map, &kind.sparse, &kind.optional].into_iter().any(Option::is_some)
    })
}

/// Extents as the file has them.
fn declared_dims(info: &proto::ValueInfo) -> Option<&[proto::Dimension]> {
    Some(&info.r#type.as_ref()?.tensor.as_ref()?.shape.as_ref()?.dim)
}

fn free_name(dimension: &proto::Dimension) -> Option<&str> {
    dimension.param.as_deref().filter(|name| dimension.value.is_none() && !name.is_empty())
}

/// Every name of a dimension, in bodies of operators too.
fn collect_names<'g>(graph: &'g proto::Graph, names: &mut HashSet<&'g str>) {
    let mut todo = vec![graph];
    while let Some(graph) = todo.pop() {
        let values = graph.input.iter().chain(&graph.output).chain(&graph.value_info);
        names.extend(values.filter_map(declared_dims).flatten().filter_map(free_name));
        todo.extend(graph.node.iter().flat_map(proto::Node::bodies).map(|(_, body)| body));
    }
}

/// A shape with free dimensions by name: `Nx3x?x224`.
fn text(listed: &[proto::Dimension]) -> String {
    let one = |dimension: &proto::Dimension| match (dimension.value, free_name(dimension)) {
        (Some(value), _) if value >= 0 => value.to_string(),
        (_, Some(name)) => name.to_owned(),
        _ => "?".to_owned(),
    };
    let extents: Vec<String> = listed.iter().map(one).collect();
    if extents.is_empty() { "scalar".to_owned() } else { extents.join("x") }
}

/// Value infos of one graph, by name; of two for one name the one that says more.
pub fn by_name(graph: &proto::Graph) -> HashMap<&str, &proto::ValueInfo> {
    let (bare, shaped): (Vec<_>, Vec<_>) =
        graph.value_info.iter().chain(&graph.output).partition(|info| declared_dims(info).is_none());
    bare.into_iter().chain(shaped).map(|info| (info.name.as_str(), info)).collect()
}
