//! Public models that stand in for those of the LUNA paper, and graphs that join two of them.

use super::inputs::{Generated, Inputs, Joined, Model};
use crate::{Context, Params, ReproduceError, Reproduction, generated, import};
use plimsoll_datasets::ImportOptions;
use plimsoll_model::TensorId;
use plimsoll_model::graph::{self, Choice, Graph};

/// A graph that stands in for a model of the paper.
#[derive(Debug)]
pub(super) struct StandIn {
    /// The model of the paper.
    pub paper: String,
    /// The graph that is planned instead.
    pub graph: Graph,
    /// The difference between the graph and the model of the paper.
    pub differs: String,
}

/// The part of the joined model that has its own row in table 3, and the file that stands in for this part.
const BODY: (&str, &str) = ("BodyDetect", "vww_96_int8");
/// The joined model, and the files of the two models that stand in for its parts.
const JOINED: (&str, [&str; 2]) = ("FusionDetect", ["person_detect", "vww_96_int8"]);
/// Number of layers in the trunk, for graphs with a trunk. After these layers, each of the two networks has
/// an output of 18,432 bytes and has not reached its peak yet.
const SHARED_LAYERS: usize = 2;

impl StandIn {
    /// Returns true if the graph stands in for this model of the paper.
    pub fn serves(&self, model: &str) -> bool {
        self.paper == model || (model, self.graph.name()) == BODY
    }
}

/// Returns all available stand-ins. Missing ones are recorded as skipped.
pub(super) fn stand_ins(
    inputs: &Inputs,
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<StandIn>, ReproduceError> {
    let Some(corpora) = &context.corpora else {
        found.skip("real models: PLIMSOLL_CORPORA is not set");
        found.fact("substitute", "PLIMSOLL_CORPORA is not set: generated graphs stand in, no real models");
        return generated_stand_ins(inputs);
    };
    let mut stand_ins = Vec::new();
    for Model { folder, file, paper, differs } in &inputs.models {
        let path = corpora.join(folder).join(format!("{file}.{folder}"));
        if path.is_file() {
            let graph = import(&path, &free_dimensions(file))?;
            stand_ins.push(StandIn { paper: paper.clone(), graph, differs: differs.clone() });
        } else {
            found.skip(format!("{file}: the corpora have no {folder}/{file}.{folder}"));
        }
    }
    let named = |name: &str| stand_ins.iter().position(|one| one.graph.name() == name);
    if let [Some(face), Some(body)] = JOINED.1.map(named) {
        let fused = fusion(inputs, &stand_ins[face].graph, &stand_ins[body].graph, SHARED_LAYERS)?;
        stand_ins.extend(fused);
    }
    if stand_ins.is_empty() {
        found.fact("substitute", "the corpora contain none of the models: generated graphs stand in");
        return generated_stand_ins(inputs);
    }
    found.fact("substitute", ());
    Ok(stand_ins)
}

/// Binds the free dimensions of Silero models: one sequence of 512 samples and their context, at 16 kHz.
fn free_dimensions(file: &str) -> ImportOptions {
    let mut options = ImportOptions::default();
    if file.starts_with("silero") {
        options.input_shapes.insert("input".to_owned(), vec![1, 576]);
        options.input_shapes.insert("state".to_owned(), vec![2, 1, 128]);
    }
    options
}

fn generated_stand_ins(inputs: &Inputs) -> Result<Vec<StandIn>, ReproduceError> {
    let mut stand_ins = Vec::new();
    for Generated { paper, family, params } in &inputs.generated {
        let (graph, differs) = (generated(family, params, 0)?, "generated".to_owned());
        stand_ins.push(StandIn { paper: paper.clone(), graph, differs });
    }
    let hourglass = |depth| {
        let params = [("size", 64), ("channels", 8), ("depth", depth)];
        generated("hourglass", &Params::from(params.map(|(name, value)| (name.to_owned(), value))), 0)
    };
    stand_ins.extend(fusion(inputs, &hourglass(4)?, &hourglass(3)?, 1)?);
    Ok(stand_ins)
}

/// Returns graphs with two networks as the branches of one `If`. Without a trunk, the branches are the whole
/// networks. With a trunk, which consists of the first layers of `face`, the branches are the networks
/// without their first layers.
fn fusion(
    inputs: &Inputs,
    face: &Graph,
    body: &Graph,
    layers: usize,
) -> Result<Vec<StandIn>, ReproduceError> {
    let part = |graph: &Graph, name: &str, from: &[TensorId], to: &[TensorId]| {
        let part = graph.part(format!("{name} of {}", graph.name()), from, to);
        part.map_err(ReproduceError::on(graph.name()))
    };
    let outputs = |graph: &Graph| graph.region(Graph::BODY).outputs.clone();
    let (cut, other) = (behind(face, layers), behind(body, layers));
    let head = part(face, "head", &[], &cut)?;
    let rest = [part(face, "rest", &cut, &outputs(face))?, part(body, "rest", &other, &outputs(body))?];
    let make = |Joined { name, trunk, handed, differs }: &Joined| {
        let (trunk, branches) =
            if *trunk { (Some(&head), [&rest[0], &rest[1]]) } else { (None, [face, body]) };
        let inputs = if *handed { graph::Inputs::Handed } else { graph::Inputs::Captured };
        let graph = Choice { name, trunk, branches: &branches, inputs }.build();
        let graph = graph.map_err(ReproduceError::on(name))?;
        Ok(StandIn { paper: JOINED.0.to_owned(), graph, differs: differs.clone() })
    };
    inputs.joined.iter().map(make).collect()
}

/// Returns the outputs of the operator at position `layers`, counted from 1, in the file order of the body.
fn behind(graph: &Graph, layers: usize) -> Vec<TensorId> {
    let order = graph.file_order(Graph::BODY);
    let last = order.get(layers.saturating_sub(1)).or(order.last());
    last.map_or_else(Vec::new, |&id| graph.operator(id).outputs.clone())
}
