//! A forward pass over subgraphs that infers the shape of every tensor and the source of the shape.
//!
//! The shapes of inputs come from the file or from options, and those of constants from the file. All other
//! shapes follow from operators, in the order of the file. A subgraph is inferred once for every operator
//! that runs it, with the arguments of that operator. The last result is cached, since most copies have the
//! same arguments.
//!
//! If no rule gives a shape, the shape declared in the file is used under two conditions. Options must not
//! have changed anything on which the operator depends, and its inputs must have the shapes declared in the
//! file. Otherwise, the shape is unknown, and the reason is recorded.

use super::given::Given;
use super::known::Known;
use super::model::{Info, Model, Step, Subgraph, Variable};
use super::operation::{Made, Operation};
use super::shapes;
use crate::import::{ImportProblem, Source};
use crate::operators::element::Element;
use crate::operators::value::{FOLD_LIMIT, FOLD_TOTAL, Fact, RANK_LIMIT, Reason, Value, count, show};
use crate::operators::{Call, Share, is_listed};
use plimsoll_model::graph::{GraphError, MAX_DEPTH};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The maximum number of operators, tensors and references to tensors in all copies of subgraphs, not
/// counting the first copy of each subgraph. Files of a few kilobytes can request billions of them.
pub(super) const COPIES: usize = 1 << 20;

/// The maximum number of operators, operands and tensors in repeated visits to the subgraphs of loops.
pub(super) const REPEATS: usize = 1 << 18;

pub(super) fn too_many(model: &Model, index: usize) -> ImportProblem {
    let name = &model.subgraphs[index].name;
    ImportProblem::Unsupported {
        what: format!("subgraph {index} '{name}', which is called from too many places,"),
        reason: format!("copies of subgraphs may have {COPIES} operators and tensors together"),
    }
}

/// The facts about a subgraph for one of its callers.
#[derive(Debug, Default)]
pub(super) struct Inferred {
    /// The facts about tensors, by index; `None` for unused tensors.
    pub tensors: Vec<Option<Known>>,
    /// For each operator that runs subgraphs, by position: the facts about these subgraphs, without absent
    /// ones.
    pub inner: HashMap<usize, Vec<Rc<Inferred>>>,
    /// Pairs of an input and the first output of an operator that cannot share memory, because their numbers
    /// of elements differ in some iteration of a loop.
    pub apart: BTreeSet<(i32, i32)>,
    /// For each slice, split and concatenation, by position: the inputs and outputs that lie in each other in
    /// all iterations of loops.
    pub parts: HashMap<usize, Vec<Share>>,
}

/// Notes of one kind. Only the first ones are printed.
#[derive(Debug, Default)]
pub(super) struct Lines {
    seen: BTreeSet<(usize, usize)>,
    first: Vec<String>,
}

impl Lines {
    const SHOWN: usize = 3;

    /// Adds a note. Each tensor has at most one.
    pub(super) fn add(&mut self, tensor: (usize, usize), line: impl FnOnce() -> String) {
        if self.seen.insert(tensor) && self.first.len() < Self::SHOWN {
            self.first.push(line());
        }
    }

    fn summary(&self, what: &str) -> Option<String> {
        let (count, shown) = (self.seen.len(), self.first.join("; "));
        let rest = count - self.first.len();
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        (count > 0).then(|| format!("{what} {count} tensors: {shown}{more}"))
    }
}

pub(super) struct Inference<'m, 'a> {
    pub model: &'m Model<'a>,
    pub given: &'m Given,
    stack: Vec<usize>,
    /// The last value assigned to each variable.
    variables: HashMap<Variable<'a>, Known>,
    /// The last arguments and results of each subgraph.
    last: Vec<Option<(Vec<Known>, Rc<Inferred>)>>,
    /// The work done in repeated visits to subgraphs: the number of their operators, operands, inputs,
    /// outputs and tensors.
    pub work: usize,
    /// The work that may still be done in later iterations of loops.
    pub repeats: usize,
    /// True if [`ImportOptions::trips`](crate::ImportOptions::trips) may limit the iterations of a loop.
    pub capped: bool,
    /// The total number of elements of tracked constants.
    folded: u64,
    contradictions: Lines,
    declared: Lines,
    bounds: Lines,
    pub varying: Lines,
    /// The first error.
    pub failure: Option<ImportProblem>,
}

impl<'m, 'a> Inference<'m, 'a> {
    pub(super) fn new(model: &'m Model<'a>, given: &'m Given) -> Self {
        Self {
            model,
            given,
            stack: Vec::new(),
            variables: HashMap::new(),
            last: vec![None; model.subgraphs.len()],
            work: 0,
            repeats: REPEATS,
            capped: false,
            folded: 0,
            contradictions: Lines::default(),
            declared: Lines::default(),
            bounds: Lines::default(),
            varying: Lines::default(),
            failure: None,
        }
    }

    /// Infers subgraph 0 from its inputs.
    ///
    /// # Errors
    /// If a subgraph runs itself, subgraphs are nested too deeply or have too many copies, or a given shape
    /// contradicts the inferred one.
    pub(super) fn body(&mut self) -> Result<Rc<Inferred>, ImportProblem> {
        let body = &self.model.subgraphs[0];
        let inputs = body.inputs.iter().map(|at| {
            let info = usize::try_from(at).ok().and_then(|at| body.tensors.get(at));
            info.map_or_else(Known::default, |info| self.given.input(info, info.element()))
        });
        let inputs: Vec<Known> = inputs.collect();
        let inferred = self.subgraph(0, &inputs);
        self.failure.take().map_or(Ok(inferred), Err)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let notes = [
            self.contradictions.summary("the inferred shape differs from the declared shape of"),
            self.declared.summary("the declared shape is used for"),
            self.bounds.summary("the shape depends on data, and the upper bound is used for"),
            self.varying.summary("the branches differ, and the larger shape is used for"),
        ];
        notes.into_iter().flatten().collect()
    }

    pub(super) fn subgraph(&mut self, index: usize, inputs: &[Known]) -> Rc<Inferred> {
        if let Some((given, result)) = &self.last[index]
            && given == inputs
        {
            return Rc::clone(result);
        }
        if self.failure.is_some() {
            return Rc::default();
        }
        self.failure = self.endless(index);
        if self.failure.is_some() {
            return Rc::default();
        }
        let subgraph = &self.model.subgraphs[index];
        let mut scope = Scope::new(index, subgraph);
        self.stack.push(index);
        for (tensor, known) in subgraph.inputs.iter().zip(inputs) {
            if let Some(at) = scope.place(tensor) {
                let info = &subgraph.tensors[at];
                let known = match self.given.tensor(info, at).filter(|_| index > 0) {
                    Some(shape) => known.shaped(shape, info),
                    None => known.clone(),
                };
                scope.tensors[at] = Some(known);
            }
        }
        for (at, step) in subgraph.operators.iter().enumerate() {
            self.step(&mut scope, at, step);
        }
        for tensor in subgraph.outputs.iter() {
            self.ensure(&mut scope, tensor, false);
        }
        self.stack.pop();
        let Scope { tensors, inner, parts, .. } = scope;
        let result = Rc::new(Inferred { tensors, inner, apart: BTreeSet::new(), parts });
        self.last[index] = Some((inputs.to_vec(), Rc::clone(&result)));
        result
    }

    /// Returns the error for a subgraph that runs itself, is nested too deeply, or has too many copies.
    fn endless(&mut self, index: usize) -> Option<ImportProblem> {
        let subgraph = &self.model.subgraphs[index];
        let name = format!("subgraph {index} '{}'", subgraph.name);
        if let Some(from) = self.stack.iter().position(|&outer| outer == index) {
            let cycle: Vec<String> =
                self.stack[from..].iter().chain([&index]).map(ToString::to_string).collect();
            let what = format!("{name}, which calls itself ({})", cycle.join(" -> "));
            let reason = "such a program has no bounded memory".to_owned();
            return Some(ImportProblem::Unsupported { what, reason });
        }
        if self.stack.len() > MAX_DEPTH {
            return Some(GraphError::TooDeep { region: name, limit: MAX_DEPTH }.into());
        }
        let references = subgraph.operators.iter().map(|step| 1 + step.inputs.len() + step.outputs.len());
        self.work += if self.last[index].is_some() {
            references.sum::<usize>()
                + subgraph.inputs.len()
                + subgraph.outputs.len()
                + subgraph.tensors.len()
        } else {
            0
        };
        (self.work > COPIES).then(|| too_many(self.model, index))
    }

    /// Returns the inputs of a subgraph as declared in the file.
    pub(super) fn interface(&self, index: usize) -> Vec<Known> {
        let subgraph = &self.model.subgraphs[index];
        let known = |at: i32| {
            let info = subgraph.tensors.get(usize::try_from(at).ok()?)?;
            let fact = Fact { element: info.element(), shape: info.declared(), ..Fact::default() };
            Some(Known::new(fact, Source::Inferred, false))
        };
        subgraph.inputs.iter().map(|at| known(at).unwrap_or_default()).collect()
    }

    pub(super) fn results(&self, index: usize, inferred: &Inferred) -> Vec<Known> {
        let outputs = self.model.subgraphs[index].outputs.iter();
        let known = |at: i32| inferred.tensors.get(usize::try_from(at).ok()?)?.clone();
        outputs.map(|at| known(at).unwrap_or_default()).collect()
    }

    /// Determines the fact about a tensor that has none yet: a constant, a state, or a tensor without a
    /// producer. Reads the values of a constant only if `values` is true, possibly in a later call.
    fn ensure(&mut self, scope: &mut Scope<'m, 'a>, tensor: i32, values: bool) {
        let Some(at) = scope.place(tensor) else { return };
        if scope.tensors[at].is_some() && !(values && std::mem::take(&mut scope.blind[at])) {
            return;
        }
        let info = &scope.subgraph.tensors[at];
        let constant = info.held.is_some();
        let mut fact = Fact { element: info.element(), shape: info.declared(), ..Fact::default() };
        if !values && constant {
            scope.blind[at] = true;
        } else if values && !info.variable {
            let data = info.data.unwrap_or_default();
            let few = fact.shape.as_deref().and_then(count).is_some_and(|count| count <= FOLD_LIMIT);
            let whole = few && fact.size(None) == Ok(data.len() as u64);
            let value = fact.element.filter(|_| whole).and_then(|element| Value::read(data, element));
            fact = self.followed(fact.with(value));
        }
        let source = if constant || info.variable { Source::Inferred } else { Source::Declared };
        scope.tensors[at] = Some(Known::new(fact, source, false));
    }

    /// Limits the total number of tracked constant elements.
    fn followed(&mut self, fact: Fact) -> Fact {
        self.folded += fact.value.as_ref().map_or(0, |value| value.len() as u64);
        if self.folded > FOLD_TOTAL { fact.variable() } else { fact }
    }

    fn step(&mut self, scope: &mut Scope<'m, 'a>, at: usize, step: &Step<'a>) {
        let kind = self.model.kinds.get(step.code as usize);
        let (kind, builtin) = kind.map_or(("", false), |kind| (kind.name.as_ref(), kind.builtin));
        let values = builtin && !is_listed(BLIND, kind);
        for tensor in step.inputs.iter() {
            self.ensure(scope, tensor, values);
        }
        let mut outcome = match kind {
            _ if !step.calls.is_empty() => self.control(scope, at, step, kind),
            "ASSIGN_VARIABLE" | "READ_VARIABLE" if builtin => self.variable(scope, step),
            _ => Outcome::Rule(scope.plain(step, kind, builtin)),
        };
        if let Outcome::Rule(Ok(made)) = &mut outcome
            && !made.parts.is_empty()
        {
            scope.parts.insert(at, std::mem::take(&mut made.parts));
        }
        for (position, tensor) in step.outputs.iter().enumerate() {
            if let Some(output) = scope.place(tensor) {
                let made = Output { operator: at, kind, position, tensor: output };
                let known = self.settle(scope, step, &made, &mut outcome);
                scope.tensors[output] = Some(known);
            }
        }
    }

    /// Infers an operator on a runtime variable, which has the shape of the last assigned value.
    fn variable(&mut self, scope: &Scope<'m, 'a>, step: &Step<'a>) -> Outcome {
        let Some(variable) = scope.subgraph.variable(step) else {
            return Outcome::Rule(Err(Reason::unknown("the variable that it refers to is not known")));
        };
        let value = step.inputs.get(1).and_then(|tensor| scope.tensors[scope.place(tensor)?].as_ref());
        if let Some(value) = value {
            self.variables.insert(variable.clone(), value.variable());
            return Outcome::Carried(Vec::new());
        }
        match self.variables.get(variable) {
            Some(known) => Outcome::Carried(vec![known.clone()]),
            None => Outcome::Rule(Err(Reason::unknown("no value was assigned to its variable before"))),
        }
    }

    /// Determines the fact about an output of an operator.
    fn settle(
        &mut self,
        scope: &Scope<'m, 'a>,
        step: &Step<'a>,
        output: &Output,
        outcome: &mut Outcome,
    ) -> Known {
        let (key, info) = ((scope.index, output.tensor), &scope.subgraph.tensors[output.tensor]);
        let few = || Reason::unknown("its rule gives fewer outputs");
        let known = match outcome {
            Outcome::Rule(Err(reason)) => self.by_file(scope, step, output, reason),
            Outcome::Rule(Ok(made)) => match made.facts.get_mut(output.position) {
                Some(fact) if fact.shape.as_ref().is_some_and(|shape| shape.len() <= RANK_LIMIT) => {
                    let (source, changed) = scope.rests_on(step);
                    let fact = self.followed(retyped(std::mem::take(fact), info.element()));
                    let bound =
                        made.bound.map(|what| (what, show(fact.shape.as_deref().unwrap_or_default())));
                    if let Some((what, shape)) = &bound {
                        let name = info.named(output.tensor);
                        self.bounds
                            .add(key, || format!("'{name}' is {shape}, {}: {what}", output.label(scope)));
                    }
                    let bound = bound.is_some() || fact.bound;
                    Known::new(fact, if bound { Source::Assumed } else { source }, changed)
                }
                _ => self.by_file(scope, step, output, &few()),
            },
            Outcome::Carried(known) => match known.get(output.position) {
                Some(known) => Known { fact: retyped(known.fact.clone(), info.element()), ..known.clone() },
                None => self.by_file(scope, step, output, &few()),
            },
        };
        self.compare(info, key, &known);
        let Some(shape) = self.given.tensor(info, output.tensor) else { return known };
        let sure = known.source == Source::Inferred && known.why.is_none();
        if let Some(inferred) = known.fact.shape.as_deref().filter(|&own| sure && own != shape) {
            let option = format!("--tensor-shape {}={}", info.named(output.tensor), show(shape));
            let reason = format!("the inputs of {} imply {}", output.label(scope), show(inferred));
            self.failure.get_or_insert(ImportProblem::option(option, reason));
        }
        if sure { known } else { known.shaped(shape, info) }
    }

    /// Returns the fact with the shape declared in the file if that shape is reliable, and otherwise the
    /// reason why the shape is unknown.
    fn by_file(&mut self, scope: &Scope<'m, 'a>, step: &Step<'a>, output: &Output, reason: &Reason) -> Known {
        let info = &scope.subgraph.tensors[output.tensor];
        let (source, changed) = scope.rests_on(step);
        let against = if changed {
            Some("an option changes what it depends on".to_owned())
        } else {
            scope.other_input(step)
        };
        let shape = info.declared().filter(|shape| !shape.is_empty() || info.has_rank);
        let name = info.named(output.tensor);
        let why = match (against, shape) {
            (None, Some(shape)) => {
                let fact = Fact { element: info.element(), shape: Some(shape), ..Fact::default() };
                let line = || format!("'{name}', {}: {reason}", output.label(scope));
                self.declared.add((scope.index, output.tensor), line);
                return Known::new(fact, source.max(Source::Declared), false);
            }
            (None, None) if info.shape.len() > 0 => format!("and in the file {}", info.odd_shape()),
            (None, None) => "and the file declares no shape for it".to_owned(),
            (Some(against), _) => format!("and the shape in the file may not hold: {against}"),
        };
        Known::unknown(format!("{reason}, {why}; --tensor-shape {name}=AxB gives its shape"), changed)
    }

    /// Records a contradiction between the declared and the inferred shape, unless an option caused it.
    fn compare(&mut self, info: &Info, key: (usize, usize), known: &Known) {
        let Some(shape) = known.fact.shape.as_deref().filter(|_| !known.changed && info.shape.len() > 0)
        else {
            return;
        };
        let fits = |(at, (own, &extent)): (usize, (i32, &u64))| {
            own < 0 || u64::try_from(own) == Ok(extent) || info.is_free(at)
        };
        let same = info.shape.len() == shape.len();
        if !same || !info.shape.iter().zip(shape).enumerate().all(fits) {
            let own: Vec<String> = info.shape.iter().map(|extent| extent.to_string()).collect();
            let line = || format!("'{}' is {}, not {}", info.named(key.1), show(shape), own.join("x"));
            self.contradictions.add(key, line);
        }
    }
}

pub(super) enum Outcome {
    Rule(Result<Made, Reason>),
    /// The results of the subgraphs that the operator runs, or the value of a variable.
    Carried(Vec<Known>),
}

struct Output<'s> {
    operator: usize,
    kind: &'s str,
    position: usize,
    tensor: usize,
}

impl Output<'_> {
    fn label(&self, scope: &Scope) -> String {
        let (at, kind) = (self.operator, self.kind);
        match scope.index {
            0 => format!("operator {at} ({kind})"),
            index => format!("operator {at} ({kind}) of subgraph {index}"),
        }
    }
}

/// Operators that read large constants, but whose rules do not depend on the values.
const BLIND: &str = "BATCH_MATMUL BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN CONV_2D CONV_3D \
                      DEPTHWISE_CONV_2D DEQUANTIZE EMBEDDING_LOOKUP FULLY_CONNECTED LSTM PRELU RNN SVDF \
                      UNIDIRECTIONAL_SEQUENCE_LSTM UNIDIRECTIONAL_SEQUENCE_RNN";

/// A subgraph during inference for one of its callers.
pub(super) struct Scope<'m, 'a> {
    pub index: usize,
    pub subgraph: &'m Subgraph<'a>,
    pub tensors: Vec<Option<Known>>,
    pub inner: HashMap<usize, Vec<Rc<Inferred>>>,
    pub parts: HashMap<usize, Vec<Share>>,
    /// Whether a tensor is a constant whose values no rule has needed so far.
    blind: Vec<bool>,
}

impl<'m, 'a> Scope<'m, 'a> {
    fn new(index: usize, subgraph: &'m Subgraph<'a>) -> Self {
        let tensors = vec![None; subgraph.tensors.len()];
        let blind = vec![false; tensors.len()];
        Self { index, subgraph, tensors, inner: HashMap::new(), parts: HashMap::new(), blind }
    }

    /// Returns the position of a tensor; `None` for an index that is out of range.
    pub(super) fn place(&self, tensor: i32) -> Option<usize> {
        usize::try_from(tensor).ok().filter(|&at| at < self.tensors.len())
    }

    /// Applies the rule of an operator.
    pub(super) fn plain(&self, step: &Step<'a>, kind: &str, builtin: bool) -> Result<Made, Reason> {
        let tensors = || step.inputs.iter().map(|tensor| self.place(tensor));
        let fact = |at: Option<usize>| self.tensors[at?].as_ref().map(|known| &known.fact);
        let name = |at: Option<usize>| at.map_or("", |at| self.subgraph.tensors[at].name.as_ref());
        let first = step.outputs.iter().next().and_then(|tensor| self.place(tensor));
        // Trailing absent inputs are omitted.
        let count = step.inputs.iter().rposition(|tensor| tensor != -1).map_or(0, |last| last + 1);
        let call = Call {
            domain: "",
            kind,
            attributes: Vec::new(),
            inputs: tensors().map(fact).take(count).collect(),
            names: tensors().map(name).take(count).collect(),
            outputs: step.outputs.len(),
            opset: 0,
        };
        let element = first.and_then(|at| self.subgraph.tensors[at].element());
        shapes::infer(&Operation { call, builtin, options: step.options, custom: step.custom, element })
    }

    /// Returns the least certain source among the inputs of an operator, and whether any of these inputs
    /// depends on something that an import option changed.
    fn rests_on(&self, step: &Step) -> (Source, bool) {
        let inputs = step.inputs.iter().filter_map(|tensor| self.tensors[self.place(tensor)?].as_ref());
        inputs.fold((Source::Inferred, false), |(source, changed), known| {
            (source.max(known.source), changed || known.changed)
        })
    }

    /// Describes an input whose shape is unknown or differs from the declared one, if there is one.
    fn other_input(&self, step: &Step) -> Option<String> {
        step.inputs.iter().filter_map(|tensor| self.place(tensor)).find_map(|at| {
            let (info, known) = (&self.subgraph.tensors[at], self.tensors[at].as_ref()?);
            let Some(shape) = known.fact.shape.as_deref() else {
                return Some(format!("the shape of its input '{}' is not known", info.name));
            };
            let missing = info.shape.len() == 0 && !info.has_rank;
            let same = info.declared().is_some_and(|own| own == shape);
            let own = || info.shape.iter().map(|extent| extent.to_string()).collect::<Vec<_>>().join("x");
            (!same && !missing)
                .then(|| format!("its input '{}' is {}, not {}", info.name, show(shape), own()))
        })
    }
}

/// Returns a fact with the type declared in the file.
fn retyped(fact: Fact, element: Option<Element>) -> Fact {
    if fact.element == element {
        return fact;
    }
    let value = fact.value.as_deref().cloned();
    Fact { element, value: None, ..fact }.with(value)
}
