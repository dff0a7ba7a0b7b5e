//! Converts a model to a graph. Subgraphs become regions. Each operator that runs a subgraph gets a copy of
//! it.

use super::given::Given;
use super::infer::{COPIES, Inference, Inferred, too_many};
use super::micro::reserved;
use super::model::{Held, Info, Model, Step, Subgraph, Variable};
use super::operator::{Shapes, control, cost, fits, sharing};
use super::runnable::unrunnable;
use super::schema::options;
use super::size::{Measured, Sizes, Trouble};
use super::stated::Kept;
use crate::import::{Import, ImportOptions, ImportProblem, OperatorPlace, SizeSources, Source};
use crate::operators::{Share, offset_of};
use plimsoll_model::graph::{Alias, AliasKind, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{Bytes, RegionId, TensorId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The location of a constant's values, its type and its shape. Constants that agree in all three share one
/// tensor of the graph.
type Constant = (Held, i8, Vec<i32>);

pub(super) struct Conversion<'m, 'a> {
    model: &'m Model<'a>,
    sizes: Sizes,
    given: Given,
    assume_bytes: Option<u64>,
    parts: bool,
    graph: GraphBuilder,
    /// The number of conversions per subgraph.
    uses: Vec<usize>,
    /// The number of operators, operands and tensors in copies so far.
    copied: usize,
    constants: HashMap<Constant, TensorId>,
    /// Variables, and constants without bytes, by subgraph and index. Copies of a subgraph share them.
    kept: HashMap<(usize, usize), TensorId>,
    assumed: Vec<String>,
    /// The number of tensors of used subgraphs that have neither a producer nor a consumer.
    idle: usize,
    sources: SizeSources,
    /// The bytes that kernels request, by subgraph and index of the operator.
    requested: BTreeMap<(usize, usize), u64>,
    /// Scratch tensors by subgraph and index, with the number of operators that refer to them.
    scratch: BTreeMap<(usize, usize), usize>,
    /// Per operator of the graph, its place in the file.
    places: Vec<OperatorPlace>,
    /// Per tensor of the graph, its index in its subgraph.
    tensors: Vec<Option<usize>>,
    /// The state tensors of runtime variables.
    resources: HashMap<Variable<'a>, TensorId>,
    /// Sparse constants that already have a note.
    noted: BTreeSet<(usize, usize)>,
    /// The addresses that compiled operators need.
    fixed: Kept,
}

/// The roles of the tensors of a subgraph, and their counterparts in the graph.
struct Scope {
    index: usize,
    given: Vec<bool>,
    wanted: Vec<bool>,
    made: Vec<bool>,
    inferred: Rc<Inferred>,
    ids: Vec<Option<TensorId>>,
    measured: Vec<Option<Measured>>,
}

impl Scope {
    fn new(index: usize, subgraph: &Subgraph, inferred: &Rc<Inferred>) -> Self {
        let count = subgraph.tensors.len();
        // Indices out of range are rejected where the tensor is used.
        let marked = |tensors: &mut dyn Iterator<Item = i32>| {
            let mut flags = vec![false; count];
            for tensor in tensors {
                if let Some(flag) = usize::try_from(tensor).ok().and_then(|at| flags.get_mut(at)) {
                    *flag = true;
                }
            }
            flags
        };
        Self {
            index,
            given: marked(&mut subgraph.inputs.iter()),
            wanted: marked(&mut subgraph.outputs.iter()),
            made: marked(&mut subgraph.operators.iter().flat_map(|step| step.outputs.iter())),
            inferred: Rc::clone(inferred),
            ids: vec![None; count],
            measured: vec![None; count],
        }
    }
}

/// Returns the bytes that kernels request, by subgraph and index of the operator.
///
/// # Errors
/// If the file does not contain one of the operators.
fn requested(model: &Model, options: &ImportOptions) -> Result<BTreeMap<(usize, usize), u64>, ImportProblem> {
    let mut requested: BTreeMap<_, u64> = BTreeMap::new();
    for one in &options.scratch {
        let count = model.subgraphs.get(one.subgraph).map_or(0, |subgraph| subgraph.operators.len());
        if one.operator >= count {
            let option = format!("--scratch, operator {} of subgraph {}", one.operator, one.subgraph);
            let reason = match model.subgraphs.len() {
                subgraphs if one.subgraph >= subgraphs => format!("the file has {subgraphs} subgraphs"),
                _ => format!("the subgraph has {count} operators"),
            };
            return Err(ImportProblem::option(option, reason));
        }
        let bytes = requested.entry((one.subgraph, one.operator)).or_default();
        *bytes = bytes.saturating_add(reserved(one));
    }
    Ok(requested)
}

impl<'m, 'a> Conversion<'m, 'a> {
    pub(super) fn new(
        name: String,
        model: &'m Model<'a>,
        options: &ImportOptions,
    ) -> Result<Self, ImportProblem> {
        Ok(Self {
            model,
            sizes: Sizes::new(options)?,
            given: Given::new(model, options)?,
            assume_bytes: options.assume_bytes,
            parts: options.parts,
            graph: GraphBuilder::new(name),
            uses: vec![0; model.subgraphs.len()],
            copied: 0,
            constants: HashMap::new(),
            kept: HashMap::new(),
            assumed: Vec::new(),
            idle: 0,
            sources: SizeSources::default(),
            requested: requested(model, options)?,
            scratch: BTreeMap::new(),
            places: Vec::new(),
            tensors: Vec::new(),
            resources: HashMap::new(),
            noted: BTreeSet::new(),
            fixed: Kept::new(model),
        })
    }

    pub(super) fn run(mut self) -> Result<Import, ImportProblem> {
        self.note_free_dimensions();
        let given = self.given.clone();
        let mut inference = Inference::new(self.model, &given);
        let inferred = inference.body()?;
        if let (Some(trips), false) = (given.trips(), inference.capped) {
            return Err(ImportProblem::unused_trips(trips));
        }
        self.assumed.extend(inference.notes());
        let body = self.graph.body();
        self.region(body, 0, &inferred)?;
        self.note_rest();
        self.assumed.extend(self.fixed.note(self.model));
        let unrunnable = unrunnable(self.model);
        let Self { mut graph, assumed, sources, places, tensors, fixed, .. } = self;
        fixed.segments(self.model).into_iter().for_each(|segment| graph.segment(segment));
        let graph = graph.build()?;
        ImportProblem::check_flows(&graph)?;
        Ok(Import { graph, assumed, sizes: sources, places, tensors, unrunnable })
    }

    /// Converts one subgraph to a region, which must be empty.
    fn region(
        &mut self,
        region: RegionId,
        index: usize,
        inferred: &Rc<Inferred>,
    ) -> Result<(), ImportProblem> {
        self.enter(index)?;
        let subgraph = &self.model.subgraphs[index];
        let mut scope = Scope::new(index, subgraph, inferred);
        let inputs = self.interface(&mut scope, &subgraph.inputs.iter().collect::<Vec<_>>(), "input")?;
        for (at, step) in subgraph.operators.iter().enumerate() {
            self.step(region, &mut scope, at, step)?;
        }
        let outputs = self.interface(&mut scope, &subgraph.outputs.iter().collect::<Vec<_>>(), "output")?;
        self.variables(&mut scope)?;
        self.graph.interface(region, inputs, outputs);
        if self.uses[index] == 1 {
            let held = |at| self.scratch.contains_key(&(index, at)) || self.fixed.contains((index, at));
            let idle = |at: usize| scope.ids[at].is_none() && !held(at);
            self.idle += (0..scope.ids.len()).filter(|&at| idle(at)).count();
        }
        Ok(())
    }

    /// Adds the variables that have a size, but no producer or consumer. The runtime keeps them between runs.
    fn variables(&mut self, scope: &mut Scope) -> Result<(), ImportProblem> {
        let subject = format!("a variable of subgraph {}", scope.index);
        for (at, info) in self.model.subgraphs[scope.index].tensors.iter().enumerate() {
            let sized = || info.declared().is_some_and(|shape| self.sizes.measure(info, shape).is_ok());
            let idle = info.variable && scope.ids[at].is_none() && sized();
            if let (true, Ok(at)) = (idle, i32::try_from(at)) {
                self.tensor(scope, at, &subject)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, index: usize) -> Result<(), ImportProblem> {
        if self.uses[index] > 0 {
            let subgraph = &self.model.subgraphs[index];
            let operators = subgraph.operators.iter();
            let references: usize = operators.map(|step| 1 + step.inputs.len() + step.outputs.len()).sum();
            let interface = subgraph.inputs.len() + subgraph.outputs.len();
            self.copied += 1 + references + interface + subgraph.tensors.len();
            if self.copied > COPIES {
                return Err(too_many(self.model, index));
            }
        }
        self.uses[index] += 1;
        Ok(())
    }

    /// Returns the inputs or outputs of a subgraph without the absent ones, which are marked by -1.
    fn interface(
        &mut self,
        scope: &mut Scope,
        tensors: &[i32],
        what: &str,
    ) -> Result<Vec<TensorId>, ImportProblem> {
        let mut ids = Vec::with_capacity(tensors.len());
        for (at, &tensor) in tensors.iter().enumerate() {
            if tensor != -1 {
                let subject = format!("{what} {at} of subgraph {}", scope.index);
                ids.push(self.tensor(scope, tensor, &subject)?);
            }
        }
        Ok(ids)
    }

    /// Converts one operator and the subgraphs that it runs.
    fn step(
        &mut self,
        region: RegionId,
        scope: &mut Scope,
        at: usize,
        step: &Step,
    ) -> Result<(), ImportProblem> {
        let Some(kind) = self.model.kinds.get(step.code as usize) else {
            let what = format!(
                "operator {at} of subgraph {} has operator code {}, but there are only {}",
                scope.index,
                step.code,
                self.model.kinds.len()
            );
            return Err(ImportProblem::Damaged(what));
        };
        let subject = if scope.index == 0 {
            format!("operator {at} ({})", kind.name)
        } else {
            format!("operator {at} ({}) of subgraph {}", kind.name, scope.index)
        };
        let scratch = if kind.builtin { Vec::new() } else { self.scratch(scope, step) };
        let inputs = step.inputs.iter().map(|tensor| if scratch.contains(&tensor) { -1 } else { tensor });
        let inputs = self.operands(scope, inputs, &subject)?;
        let outputs = self.operands(scope, step.outputs.iter(), &subject)?;
        let mut operator = Operator::new("", kind.name.as_ref());
        operator.inputs = inputs.iter().flatten().map(|&(_, id)| id).collect();
        operator.outputs = outputs.iter().flatten().map(|&(_, id)| id).collect();
        let requested = self.requested.get(&(scope.index, at)).copied().unwrap_or(0);
        let held = self.hold(scope, &scratch, &subject)?;
        self.fixed.check(scope.index, step, &scratch, &subject)?;
        operator.scratch = Bytes::new(held.get().saturating_add(requested));
        if kind.builtin && matches!(kind.name.as_ref(), "ASSIGN_VARIABLE" | "READ_VARIABLE") {
            let value = inputs.get(1).or(outputs.first()).copied().flatten();
            operator.inputs.extend(self.resource(scope, step, value));
        }
        if kind.builtin {
            self.share(scope, &mut operator, &inputs, &outputs);
            if let Some(parts) = scope.inferred.parts.get(&at).filter(|_| self.parts) {
                operator
                    .aliases
                    .extend(parts.iter().filter_map(|part| self.part(scope, *part, &inputs, &outputs)));
            }
            let shape = |one: &Option<(usize, TensorId)>| {
                one.and_then(|(tensor, _)| scope.measured[tensor].as_ref()?.shape.as_deref())
            };
            let read: Vec<Option<&[u64]>> = inputs.iter().map(shape).collect();
            let made: Vec<Option<&[u64]>> = outputs.iter().flatten().map(|&one| shape(&Some(one))).collect();
            let shapes =
                Shapes { inputs: &read, outputs: &made, transposed: step.options.is(options::ADJ_X) };
            operator.cost = cost(&kind.name, &shapes);
        }
        if !step.calls.is_empty() {
            (operator.control, operator.handovers) = control(&operator.kind);
        }
        let id = self.graph.operator(region, operator);
        let (inputs, outputs) = (step.inputs.iter().collect(), step.outputs.iter().collect());
        self.places.push(OperatorPlace { subgraph: scope.index, index: at, inputs, outputs });
        debug_assert_eq!(self.places.len(), id.index() + 1, "one place per operator");
        let inferred = Rc::clone(&scope.inferred);
        let mut inner_facts = inferred.inner.get(&at).into_iter().flatten();
        for &(called, role) in &step.calls {
            let known = usize::try_from(called).ok().filter(|&called| called < self.model.subgraphs.len());
            let Some(called) = known else {
                let count = self.model.subgraphs.len();
                let what = format!("{subject} runs subgraph {called}, but there are only {count}");
                return Err(ImportProblem::Damaged(what));
            };
            let name = &self.model.subgraphs[called].name;
            let inner = self.graph.region(id, if name.is_empty() { role } else { name });
            let unknown = Rc::default();
            self.region(inner, called, inner_facts.next().unwrap_or(&unknown))?;
        }
        Ok(())
    }

    /// Returns the tensors of an operator by position; `None` for absent optional ones.
    fn operands(
        &mut self,
        scope: &mut Scope,
        tensors: impl Iterator<Item = i32>,
        subject: &str,
    ) -> Result<Vec<Option<(usize, TensorId)>>, ImportProblem> {
        let one = |tensor: i32| {
            if tensor == -1 {
                Ok(None)
            } else {
                Ok(Some((tensor as usize, self.tensor(scope, tensor, subject)?)))
            }
        };
        tensors.map(one).collect()
    }

    /// Records which outputs may share memory with inputs.
    fn share(
        &self,
        scope: &Scope,
        operator: &mut Operator,
        inputs: &[Option<(usize, TensorId)>],
        outputs: &[Option<(usize, TensorId)>],
    ) {
        let infos = &self.model.subgraphs[scope.index].tensors;
        let Some((kind, positions)) = sharing(&operator.kind) else { return };
        let Some(&Some((to, output))) = outputs.first() else { return };
        for &position in positions {
            let Some(&Some((from, input))) = inputs.get(position) else { continue };
            let plain = infos[from].held.is_none() && !infos[from].variable;
            let (Some(operand), Some(result)) = (&scope.measured[from], &scope.measured[to]) else {
                continue;
            };
            let known = operator.aliases.iter().any(|alias| alias.input == input);
            let apart = scope.inferred.apart.contains(&(from as i32, to as i32));
            if plain && from != to && !known && !apart && fits(kind, operand, result) {
                operator.aliases.push(Alias { input, output, kind, offset: Bytes::ZERO });
            }
        }
    }

    /// Returns the alias for an input and an output of which one is a part of the other, or `None` if the
    /// file gives them other sizes or memory of their own.
    fn part(
        &self,
        scope: &Scope,
        part: Share,
        inputs: &[Option<(usize, TensorId)>],
        outputs: &[Option<(usize, TensorId)>],
    ) -> Option<Alias> {
        let Share::Part { input, output, first } = part else { return None };
        let ((from, input), (to, output)) = ((*inputs.get(input)?)?, (*outputs.get(output)?)?);
        let infos = &self.model.subgraphs[scope.index].tensors;
        if from == to || [from, to].iter().any(|&at| infos[at].held.is_some() || infos[at].variable) {
            return None;
        }
        let (from, to) = (scope.measured[from].as_ref()?, scope.measured[to].as_ref()?);
        let offset =
            offset_of(first, [(from.bytes, from.shape.as_deref()?), (to.bytes, to.shape.as_deref()?)])?;
        Some(Alias { input, output, kind: AliasKind::Part, offset: Bytes::new(offset) })
    }

    /// Returns the tensor of the graph for a tensor of a subgraph, and creates it at its first use.
    fn tensor(&mut self, scope: &mut Scope, tensor: i32, subject: &str) -> Result<TensorId, ImportProblem> {
        let subgraph = &self.model.subgraphs[scope.index];
        let Some((at, info)) =
            usize::try_from(tensor).ok().and_then(|at| Some((at, subgraph.tensors.get(at)?)))
        else {
            let count = subgraph.tensors.len();
            return Err(ImportProblem::Damaged(format!(
                "{subject} refers to tensor {tensor}, but there are only {count}"
            )));
        };
        if let Some(id) = scope.ids[at] {
            return Ok(id);
        }
        let name = info.named(at);
        let (measured, source) = self.measure(scope, at, info, subject)?;
        if self.model.ranked && !info.has_rank && info.shape.len() == 0 && scope.given[at] {
            self.assumed
                .push(format!("input '{name}': the file does not declare its rank; read as a scalar"));
        }
        let role = role(scope, at, info, &measured);
        let id = match role {
            Role::Weight | Role::State => self.kept((scope.index, at), info, role, name, (&measured, source)),
            _ => self.add(name, role, &measured, source, Some(at)),
        };
        self.fixed.add((scope.index, at), id, info, measured.bytes)?;
        scope.ids[at] = Some(id);
        scope.measured[at] = Some(measured);
        Ok(id)
    }

    /// Adds a tensor to the graph. `at` is its index in its subgraph.
    fn add(
        &mut self,
        name: String,
        role: Role,
        measured: &Measured,
        source: Source,
        at: Option<usize>,
    ) -> TensorId {
        self.tensors.push(at);
        self.sources.add(&name, source);
        let mut tensor = Tensor::new(name, measured.bytes, role);
        tensor.element = measured.element.map(str::to_owned);
        tensor.shape.clone_from(&measured.shape);
        self.graph.tensor(tensor)
    }

    /// Returns the tensor of a constant or a variable. There is only one, regardless of the number of copies
    /// of the subgraph. Constants with the same buffer, type and shape also share one tensor.
    fn kept(
        &mut self,
        place: (usize, usize),
        info: &Info,
        role: Role,
        name: String,
        (measured, source): (&Measured, Source),
    ) -> TensorId {
        if info.sparse && role == Role::Weight && self.noted.insert(place) {
            let line = format!("tensor '{name}' is sparse: counted as stored, {} bytes", measured.bytes);
            self.assumed.push(line);
        }
        let source = if info.sparse && role == Role::Weight { Source::Assumed } else { source };
        let constant = info.held.filter(|_| role == Role::Weight);
        if let Some(held) = constant {
            let key = (held, info.element, info.shape.iter().collect());
            if let Some(&id) = self.constants.get(&key) {
                return id;
            }
            let id = self.add(name, role, measured, source, Some(place.1));
            self.constants.insert(key, id);
            return id;
        }
        if let Some(&id) = self.kept.get(&place) {
            return id;
        }
        let id = self.add(name, role, measured, source, Some(place.1));
        self.kept.insert(place, id);
        id
    }

    /// Returns the memory of a runtime variable that an operator reads or assigns. It is a state with the
    /// size of the value.
    fn resource(&mut self, scope: &Scope, step: &Step, value: Option<(usize, TensorId)>) -> Option<TensorId> {
        let variable = self.model.subgraphs[scope.index].variable(step)?;
        let measured = scope.measured[value?.0].clone()?;
        let source = scope.inferred.tensors[value?.0].as_ref().map_or(Source::Assumed, |known| known.source);
        if let Some(&id) = self.resources.get(variable) {
            return Some(id);
        }
        let name = format!("variable {}", variable.1);
        let id = self.add(name, Role::State, &measured, source, None);
        self.resources.insert(variable.clone(), id);
        Some(id)
    }

    fn measure(
        &mut self,
        scope: &Scope,
        at: usize,
        info: &Info,
        subject: &str,
    ) -> Result<(Measured, Source), ImportProblem> {
        // Inference has visited all tensors except unused states.
        let known = scope.inferred.tensors.get(at).and_then(Option::as_ref);
        let constant = info.held.is_some() && !scope.given[at];
        let shape = match known {
            Some(known) if !constant => known.fact.shape.clone(),
            _ => info.declared(),
        };
        let source = known.map_or(Source::Inferred, |known| known.source);
        let reason = match shape.map(|shape| self.sizes.measure(info, shape)) {
            Some(Ok(measured)) => return Ok((measured, source)),
            Some(Err(Trouble::Damaged(what))) => {
                return Err(ImportProblem::Damaged(format!("tensor '{}': {what}", info.named(at))));
            }
            Some(Err(Trouble::Unsized(reason))) => reason,
            None => {
                let why = known.and_then(|known| known.why.as_deref());
                why.map_or_else(|| info.odd_shape(), str::to_owned)
            }
        };
        let name = info.named(at);
        let Some(bytes) = self.assume_bytes else {
            let operator = subject.strip_prefix("operator ").unwrap_or(subject).to_owned();
            return Err(ImportProblem::Unsized { operator, tensor: name, reason });
        };
        self.assumed.push(format!("tensor '{name}': {reason}; {bytes} bytes assumed"));
        Ok((Measured { bytes, element: None, shape: None }, Source::Assumed))
    }

    /// Returns those operands of a custom operator that nothing produces. These tensors are its working
    /// memory.
    fn scratch(&self, scope: &Scope, step: &Step) -> Vec<i32> {
        let infos = &self.model.subgraphs[scope.index].tensors;
        let loose = |tensor: i32| {
            let Some((at, info)) = usize::try_from(tensor).ok().and_then(|at| Some((at, infos.get(at)?)))
            else {
                return false;
            };
            let known = scope.given[at] || scope.made[at] || info.held.is_some() || info.variable;
            // A tensor without bytes is a constant that needs no values.
            !known && info.declared().is_none_or(|shape| !shape.contains(&0))
        };
        step.inputs.iter().filter(|&tensor| loose(tensor)).collect()
    }

    /// Returns the size of an operator's scratch memory in bytes.
    fn hold(&mut self, scope: &Scope, scratch: &[i32], subject: &str) -> Result<Bytes, ImportProblem> {
        let mut sum = 0u64;
        for (position, &tensor) in scratch.iter().enumerate() {
            let at = tensor as usize;
            if scratch[..position].contains(&tensor) || self.fixed.contains((scope.index, at)) {
                continue;
            }
            let info = &self.model.subgraphs[scope.index].tensors[at];
            let (measured, _) = self.measure(scope, at, info, subject)?;
            *self.scratch.entry((scope.index, at)).or_default() += 1;
            sum = sum.saturating_add(measured.bytes);
        }
        Ok(Bytes::new(sum))
    }

    /// Adds notes about dimensions of inputs that the file leaves free and no option sets.
    fn note_free_dimensions(&mut self) {
        let body = &self.model.subgraphs[0];
        for at in body.inputs.iter() {
            let Some(info) = usize::try_from(at).ok().and_then(|at| body.tensors.get(at)) else { continue };
            for (dimension, (extent, signed)) in info.shape.iter().zip(info.signature.iter()).enumerate() {
                if signed == -1 && !self.given.sets(info, dimension) {
                    self.assumed.push(format!(
                        "input '{}': dimension {dimension} is free; {extent} is used, as in its shape",
                        info.name
                    ));
                }
            }
        }
    }

    /// Adds notes about skipped tensors and about scratch memory.
    fn note_rest(&mut self) {
        for (&(subgraph, at), &operators) in &self.scratch {
            let name = self.model.subgraphs[subgraph].tensors[at].named(at);
            let held = if operators > 1 {
                format!("each of the {operators} operators that use it holds a copy while it runs")
            } else {
                "held while its operator runs".to_owned()
            };
            self.assumed.push(format!("tensor '{name}', which nothing produces, is scratch memory: {held}"));
        }
        if self.idle > 0 {
            self.assumed.push(format!("skipped: {} tensors that nothing produces or consumes", self.idle));
        }
        let unused = self.uses.iter().filter(|&&uses| uses == 0).count();
        if unused > 0 {
            self.assumed.push(format!("skipped: {unused} subgraphs that the body does not run"));
        }
    }
}

/// Returns the role of a tensor. An empty tensor that nothing produces is a constant without values.
fn role(scope: &Scope, at: usize, info: &Info, measured: &Measured) -> Role {
    let loose = !scope.made[at] && measured.bytes == 0;
    match () {
        () if scope.given[at] => Role::Input,
        () if info.variable && !scope.made[at] => Role::State,
        () if info.held.is_some() || loose => Role::Weight,
        () if scope.wanted[at] => Role::Output,
        () => Role::Activation,
    }
}
