//! Models in the ONNX format (`.onnx`).
//!
//! # Mapping
//!
//! | in the file | in the graph |
//! |---|---|
//! | node | operator of the same name and kind, in the order of the file; in other domains, the domain is part of the kind: `ai.x.Kind` |
//! | `Constant` node | a tensor with role weight; no operator |
//! | initialiser, even if it is also an input | a tensor with role weight; for external data, only the shape and the type are read |
//! | sparse initialiser | a tensor with role weight; its size is that of its values and indices |
//! | input or output, also of a body | a tensor with that role |
//! | call of a function that the file defines | the operators of its body, named after the call: `call/inner`; an operator with a built-in rule is not expanded, as ONNX Runtime prefers its kernels |
//! | two constants with the same name | the last one; initialisers count as earlier than `Constant` nodes, as in ONNX Runtime |
//! | body of `If`, `Loop`, `Scan` | a region named after its attribute, owned by the operator; it may capture tensors of enclosing graphs |
//!
//! Operators that compute shapes remain operators, and their outputs remain activations, as in the file,
//! although runtimes can compute these outputs when they load the model. The values are tracked because
//! `Reshape`, `Slice`, `Expand`, `If` and others depend on them. Weights that operators produce (by
//! `ConstantOfShape`, or by slicing an initialiser) are activations too, until [`crate::import_file`] folds
//! the operators that read only constants.
//!
//! # Sizes
//!
//! The size of a tensor is its number of elements times the bits per element, rounded up to bytes. A `bool`
//! occupies a byte, and types smaller than a byte are packed. Shapes are inferred from the inputs in
//! topological order. A declared shape is used only if inference produces none.
//!
//! If the condition of an `If` is known, the branch that runs determines the shapes, and tensors of unknown
//! size in the other branch have 0 bytes. Otherwise, the larger of the two results is used for each output. A
//! branch with an operator that cannot run on its input shapes is treated as never taken. If a data-dependent
//! extent has an upper bound, the bound is used. Elements of string tensors have the size of a `std::string`.
//! The size of a sequence is that of its tensors. A scan output of a `Loop` has as many rows as the maximum
//! trip count of the loop. [`Import::assumed`] lists all uncertain cases.
//!
//! If a loop changes the shape of a carried value, its body is inferred once per iteration. Each tensor of
//! the body has its largest size over all iterations. This requires the number of iterations: a constant
//! trip count, a condition that depends only on constants and the iteration number, the length of a `Scan`,
//! or [`ImportOptions::trips`].
//!
//! # Free dimensions
//!
//! Every free dimension of an input needs a value. One error message names all unbound dimensions. It also
//! proposes values ([`ImportProblem::Open`]). A short search looks for values with which the import succeeds.
//! If it fails, the message proposes 1 for every dimension. Values of inputs that determine shapes, and
//! shapes of intermediate tensors, can be given as options ([`ImportOptions::values`],
//! [`ImportOptions::tensor_shapes`]). The depth and the total size of inlined function bodies are limited.
//!
//! # Shared memory
//!
//! | operator | first output |
//! |---|---|
//! | `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`, `Identity`, `Dropout` in inference, `Cast` to the same type | view of the first input |
//! | `Relu`, `Sigmoid`, `Tanh`, `Clip` and all other elementwise functions of one operand; `BatchNormalization` in inference; `Cast`, `Not`, `QuantizeLinear`, `DequantizeLinear` | can overwrite the first input |
//! | `Add`, `Sub`, `Mul`, `Div`, `Pow`, `Min`, `Max`, `Sum`, `Mean`, `Where`, `PRelu`, comparisons, logic | can overwrite any input |
//!
//! An output can overwrite an input only if both have the same shape and size. A view must have the same size
//! as the input. `Softmax`, `LRN` and similar operators read elements after they would have been overwritten,
//! so these operators do not appear in the table.

mod advice;
mod bodies;
mod call;
mod constants;
mod dims;
mod emit;
mod flow;
mod functions;
mod largest;
mod loops;
mod open;
mod program;
mod proto;
mod run;
mod settle;
#[cfg(test)]
mod tests;
mod write;

use crate::import::{Import, ImportOptions, ImportProblem, OperatorPlace, SizeSources};
use crate::operators::element::Element;
use advice::Upstream;
use bytes::Bytes;
use dims::Dims;
use open::Trial;
use program::Program;
use prost::Message;
use proto::plain;
use run::Evaluation;
use std::path::Path;
pub(crate) use write::{name_in_file, reordered, with_properties};

/// Reads a model. `origin` names the graph. Apart from the evaluation of small constants, the time is
/// linear in the size of the file.
pub(crate) fn read(origin: &Path, bytes: Bytes, options: &ImportOptions) -> Result<Import, ImportProblem> {
    if !options.scratch.is_empty() {
        let reason = "the option applies only to models of TFLite";
        return Err(ImportProblem::option("--scratch FILE", reason));
    }
    let float = match &options.element {
        None => None,
        Some(name) => Some(Element::named(name).ok_or_else(|| {
            let reason = format!("no element type of that name; the types are {}", Element::names());
            ImportProblem::option(format!("--element {name}"), reason)
        })?),
    };
    if proto::count_parts(&bytes, proto::PART_LIMIT) > proto::PART_LIMIT {
        return Err(ImportProblem::Damaged(format!(
            "more than {} nodes, names and attributes",
            proto::PART_LIMIT
        )));
    }
    let model = proto::Model::decode(bytes)
        .map_err(|why| ImportProblem::Damaged(format!("not an ONNX model: {why}")))?;
    let proto::Model { opset_import, graph, functions } = model;
    let mut graph =
        graph.ok_or_else(|| ImportProblem::Damaged("not an ONNX model: it has no graph".to_owned()))?;
    let opset = opset_import.iter().filter(|set| plain(&set.domain)).map(|set| set.version).max();
    let opset = opset.unwrap_or(1);
    graph.number();
    functions::inline(&mut graph, &functions, opset).map_err(ImportProblem::Damaged)?;
    let source = Source { graph: &graph, float, opset };
    let dims = Dims::new(options, &graph)?;
    let mut run = source.run(options, &dims)?;
    let open = dims.open(&graph)?;
    if !open.is_empty() {
        return Err(open.error(options, &|options| source.attempt(options)));
    }
    let complete = run.run().map_err(|problem| source.explain(problem, &run, &dims, options))?;
    if let (Some(trips), false) = (options.trips, run.capped) {
        return Err(ImportProblem::unused_trips(trips));
    }
    run.sum_up();
    let (program, assumed) = (run.program, run.assumed);
    let sizes = SizeSources::new(program.slots.iter().map(|slot| (slot.name, slot.source)));
    let name =
        origin.file_stem().map_or_else(|| graph.name.clone(), |stem| stem.to_string_lossy().into_owned());
    let graph = emit::graph(&name, &program, float)?;
    if !complete {
        return Err(ImportProblem::Damaged("its operators form a cycle".to_owned()));
    }
    ImportProblem::check_flows(&graph)?;
    let mut places = vec![OperatorPlace::default(); graph.operators().len()];
    for step in program.blocks.iter().flat_map(|block| &block.steps) {
        places[step.id].index = step.node.index as usize;
    }
    Ok(Import { graph, assumed, sizes, places, tensors: Vec::new(), unrunnable: Vec::new() })
}

/// Returns true if the bytes are an ONNX model with at least one operator.
pub(crate) fn is_onnx(bytes: &[u8]) -> bool {
    let has_node = |model: proto::Model| model.graph.is_some_and(|graph| !graph.node.is_empty());
    proto::count_parts(bytes, proto::PART_LIMIT) <= proto::PART_LIMIT
        && proto::Model::decode(bytes).is_ok_and(has_node)
}

struct Source<'m> {
    graph: &'m proto::Graph,
    float: Option<Element>,
    opset: i64,
}

impl<'m> Source<'m> {
    fn run<'o>(&self, options: &'o ImportOptions, dims: &Dims) -> Result<Evaluation<'m, 'o>, ImportProblem>
    where
        'm: 'o,
    {
        let mut program = Program::new(self.graph, dims)?;
        let assumed = std::mem::take(&mut program.notes);
        let (float, opset) = (self.float, self.opset);
        Ok(Evaluation {
            program,
            options,
            float,
            opset,
            assumed,
            declared: Vec::new(),
            contradictions: Vec::new(),
            void: 0,
            folded: 0,
            done: 0,
            pruned: 0,
            failed: None,
            repeats: loops::REPEATS,
            capped: false,
        })
    }

    /// Returns how far inference proceeds with these options.
    fn attempt(&self, options: &ImportOptions) -> Trial {
        let Ok(dims) = Dims::new(options, self.graph) else { return Trial::Fails };
        let Ok(mut run) = self.run(options, &dims) else { return Trial::Fails };
        run.repeats = loops::TRIAL_REPEATS;
        match run.run() {
            Ok(_) if run.pruned > 0 => Trial::Partly,
            Ok(_) => Trial::Fits,
            Err(ImportProblem::Misfit { .. }) => Trial::Misfit(run.done),
            Err(_) => Trial::Fails,
        }
    }

    /// Extends the error with causes and remedies.
    fn explain(
        &self,
        mut problem: ImportProblem,
        run: &Evaluation,
        dims: &Dims,
        options: &ImportOptions,
    ) -> ImportProblem {
        let misfit = matches!(problem, ImportProblem::Misfit { .. });
        let (ImportProblem::Misfit { reason, .. } | ImportProblem::Unsized { reason, .. }) = &mut problem
        else {
            return problem;
        };
        if let Some(tensor) = run.failed {
            let upstream = Upstream::new(&run.program, tensor);
            reason.push_str(&if misfit {
                upstream.free_dimensions(self.graph, dims)
            } else {
                upstream.options(reason)
            });
        }
        let free = ImportOptions { dim_default: None, ..options.clone() };
        if misfit
            && options.dim_default.is_some()
            && let Ok(dims) = Dims::new(&free, self.graph)
            && let Ok(open) = dims.open(self.graph)
            && let Some(fitting) = open.fitting(&free, &|options| self.attempt(options))
        {
            reason.push_str("; these work: ");
            reason.push_str(&fitting);
        }
        problem
    }
}
