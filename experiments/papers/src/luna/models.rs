//! Public models that stand in for those of the paper, and graphs made of two of them.

use crate::{Context, ReproduceError, Reproduction, generated};
use plimsoll_datasets::{ImportOptions, import_file};
use plimsoll_model::TensorId;
use plimsoll_model::graph::{Choice, Graph, Inputs};
use std::path::Path;

/// A graph in the place of a model of the paper.
#[derive(Debug)]
pub(super) struct StandIn {
    /// The model of the paper.
    pub paper: &'static str,
    /// What is planned instead.
    pub graph: Graph,
    /// How it differs.
    pub differs: &'static str,
}

/// The part of the joined model that has a row of its own in table 3, and what stands in for it.
const BODY: (&str, &str) = ("BodyDetect", "vww_96_int8");

impl StandIn {
    /// True where it is in the place of that model of the paper.
    pub fn serves(&self, model: &str) -> bool {
        self.paper == model || (model, self.graph.name()) == BODY
    }
}

/// A file below the corpora: folder, stem, extension; in whose place; how it differs.
type File = (&'static str, &'static str, &'static str, &'static str);

const FILES: [File; 9] = [
    ("tflite", "person_detect", "FaceDetect", "another network; straight, as the paper's"),
    ("tflite", "vww_96_int8", "FaceDetect", "another network; straight, as the paper's"),
    ("tflite", "kws_ref_model", "FaceAlign", "keywords, not faces; straight, as the paper's"),
    ("tflite", "keyword_scrambled", "FaceAlign", "keywords, not faces; straight, as the paper's"),
    ("tflite", "str_ww_ref_model", "wake-up", "no branches; the paper's has some"),
    ("tflite", "micro_speech_quantized", "wake-up", "no branches; the paper's has some"),
    ("onnx", "silero_vad", "wake-up", "voice activity, float32; conditionals five deep"),
    ("onnx", "silero_vad_16k_op15", "wake-up", "voice activity, float32; conditionals inside each other"),
    ("tflite", "dtln_noise_suppression", "denoise", "no branches; the paper's has some"),
];

const APART: &str = "an If of two whole networks, inputs outside, as the paper's";
const APART_HANDED: &str = "the same, inputs copied into the branches";
const TRUNK: &str = "an If of the rest of two networks behind common layers";
const TRUNK_HANDED: &str = "the same, what the common layers make copied into the branches";

/// Every stand-in there is; what is missing is said.
pub(super) fn stand_ins(
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<StandIn>, ReproduceError> {
    let Some(corpora) = &context.corpora else {
        found.leave_out("real models: PLIMSOLL_CORPORA is not set");
        found.line("PLIMSOLL_CORPORA is not set: generated graphs stand in, no real models");
        return generated_stand_ins();
    };
    let mut stand_ins = Vec::new();
    for (folder, stem, paper, differs) in FILES {
        let path = corpora.join(folder).join(format!("{stem}.{folder}"));
        if path.is_file() {
            stand_ins.push(StandIn { paper, graph: import(&path)?, differs });
        } else {
            found.leave_out(format!("{stem}: the corpora have no {folder}/{stem}.{folder}"));
        }
    }
    let named = |name: &str| stand_ins.iter().position(|one| one.graph.name() == name);
    if let (Some(face), Some(body)) = (named("person_detect"), named("vww_96_int8")) {
        // Both make 18 432 bytes there, the peak lies behind.
        let fused = fusion(&stand_ins[face].graph, &stand_ins[body].graph, SHARED_LAYERS)?;
        stand_ins.extend(fused);
    }
    if stand_ins.is_empty() {
        found.line("the corpora hold none of the models: generated graphs stand in");
        return generated_stand_ins();
    }
    Ok(stand_ins)
}

/// Layers that two networks have in common in the graphs with a trunk.
const SHARED_LAYERS: usize = 2;

/// A model of the corpora. What the free dimensions of Silero's models stand for: one sequence, 512 samples and their
/// context, at 16 kHz.
fn import(path: &Path) -> Result<Graph, ReproduceError> {
    let mut options = ImportOptions::default();
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("silero")) {
        options.input_shapes.insert("input".to_owned(), vec![1, 576]);
        options.input_shapes.insert("state".to_owned(), vec![2, 1, 128]);
    }
    Ok(import_file(path, &options)?.graph)
}

fn generated_stand_ins() -> Result<Vec<StandIn>, ReproduceError> {
    let small: &[(&str, u64)] = &[("size", 64), ("channels", 8), ("depth", 4)];
    let shallow: &[(&str, u64)] = &[("size", 64), ("channels", 8), ("depth", 3)];
    let one = |paper, family, params: &[(&str, u64)]| {
        let differs = "generated";
        generated(family, params).map(|graph| StandIn { paper, graph, differs })
    };
    let mut stand_ins = vec![
        one("FaceDetect", "inception", &[])?,
        one("FaceAlign", "lenet5", &[])?,
        one("wake-up", "unbalanced-if", &[("ratio", 16)])?,
        one("denoise", "nested-if", &[])?,
    ];
    stand_ins.extend(fusion(&generated("hourglass", small)?, &generated("hourglass", shallow)?, 1)?);
    Ok(stand_ins)
}

/// Two networks as the branches of one `If`: whole, and behind the first layers of the first one.
fn fusion(face: &Graph, body: &Graph, layers: usize) -> Result<Vec<StandIn>, ReproduceError> {
    let refused =
        |graph: &str, source| ReproduceError::Join { graph: graph.to_owned(), source: Box::new(source) };
    let join = |name, trunk, branches: [&Graph; 2], inputs| {
        let choice = Choice { name, trunk, branches: &branches, inputs };
        choice.build().map_err(|source| refused(name, source))
    };
    let (cut, other) = (behind(face, layers), behind(body, layers));
    let part = |graph: &Graph, name: &str, from: &[TensorId], to: &[TensorId]| {
        let part = graph.part(format!("{name} of {}", graph.name()), from, to);
        part.map_err(|source| refused(graph.name(), source.into()))
    };
    let outputs = |graph: &Graph| graph.region(Graph::BODY).outputs.clone();
    let trunk = part(face, "head", &[], &cut)?;
    let rest = [part(face, "rest", &cut, &outputs(face))?, part(body, "rest", &other, &outputs(body))?];
    let rest = [&rest[0], &rest[1]];
    let kinds = [
        ("fusion", None, [face, body], Inputs::Captured, APART),
        ("fusion-handed", None, [face, body], Inputs::Handed, APART_HANDED),
        ("fusion-trunk", Some(&trunk), rest, Inputs::Captured, TRUNK),
        ("fusion-trunk-handed", Some(&trunk), rest, Inputs::Handed, TRUNK_HANDED),
    ];
    let make = |(name, trunk, branches, inputs, differs)| {
        Ok(StandIn { paper: "FusionDetect", graph: join(name, trunk, branches, inputs)?, differs })
    };
    kinds.into_iter().map(make).collect()
}

/// What the body's operator number `layers` makes, in the order of the file.
fn behind(graph: &Graph, layers: usize) -> Vec<TensorId> {
    let order = graph.file_order(Graph::BODY);
    let last = order.get(layers.saturating_sub(1)).or(order.last());
    last.map_or_else(Vec::new, |&id| graph.operator(id).outputs.clone())
}
