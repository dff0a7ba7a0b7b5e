//! All families of generated graphs.

use super::{cells, classic, control, llm, mobile, shapes, wide, wired, yolo};
use crate::error::GenerateError;
use crate::family::{FamilyParam, Generator, family, param};
use plimsoll_model::graph::Graph;
use std::collections::BTreeMap;

/// A family of graphs.
pub type GraphFamily = Generator<Graph>;

impl GraphFamily {
    /// Generates the graph for these parameters and this seed. Its name consists of the family, the given
    /// parameters and the seed.
    ///
    /// # Errors
    /// [`GenerateError`] if a parameter is unknown or out of range, or if sizes exceed the address space.
    pub fn generate(&self, seed: u64, params: &BTreeMap<String, u64>) -> Result<Graph, GenerateError> {
        Ok(self.make_named(seed, params)?.0)
    }

    /// Returns the family with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        GRAPH_FAMILIES.iter().find(|family| family.name == name)
    }
}

const BATCH: FamilyParam = param("batch", 1, "images per batch");
/// A graph with a million operators occupies one to two gigabytes.
const N: FamilyParam = param("n", 100, "number of operators").up_to(1 << 20);
const KIB: FamilyParam = param("kib", 1024, "maximum size of a tensor in KiB; sizes are uniform");
const SIZE: &str = "height and width of the input, pixels";
const STAGES: FamilyParam = param("stages", 1, "stages, each halving the size and doubling the channels");
const WIRED: [FamilyParam; 3] = [
    param("nodes", 32, "nodes per stage"),
    param("channels", 78, "channels of the first stage"),
    param("size", 56, SIZE),
];

const BYTES: FamilyParam = param("bytes", 1024, "median size of a tensor in bytes");
const SPREAD: FamilyParam = param("spread", 50, "maximum deviation of sizes from the median, percent");
const PER_REGION: FamilyParam = param("operators", 3, "operators per region, without those that own regions");

const CLASSES: FamilyParam = param("classes", 80, "object classes");
const NORM: FamilyParam =
    param("norm", 0, "1: separate operators for batch normalisation; 0: folded into biases");
const SPLIT: FamilyParam = param("split", 1, "1: SiLU as a sigmoid and a product; 0: as one operator");
const INT8: FamilyParam = param("int8", 0, "1: one byte per element; 0: four");

const LAYERS: FamilyParam = param("layers", 40, "decoder layers");
const SEQUENCES: FamilyParam = param("batch", 1, "sequences at once");
const TOKENS: FamilyParam = param("tokens", 1024, "new tokens per sequence: the prompt, or 1 to decode");
const CACHE: FamilyParam = param("cache", 0, "earlier tokens per sequence, whose keys and values are cached");
const STATE: FamilyParam = param(
    "state",
    0,
    "1: keys and values are states written in place; 0: past ones are inputs, all are outputs",
);
const SHARDS: FamilyParam = param(
    "shards",
    1,
    "devices that share the heads and the feed-forward columns; the graph is that of one device",
);
const WEIGHTS: FamilyParam =
    param("weights", 0, "1: a separate operator converts each matrix, at the beginning of the file");
const TABLES: FamilyParam = param(
    "tables",
    0,
    "1: every layer computes its own masks and tables, at the beginning of the file; 0: shared",
);
const WIDTH: FamilyParam = param("width", 4096, "hidden size");
const HEADS: FamilyParam = param("heads", 32, "heads");
const KV_HEADS: FamilyParam = param("kv_heads", 8, "heads of keys and values; 1: multi-query");
const FFN: FamilyParam = param("ffn", 14336, "feed-forward columns");
const VOCABULARY: FamilyParam = param("vocabulary", 32_000, "size of the vocabulary");
const REPEAT: FamilyParam =
    param("repeat", 0, "1: keys and values are repeated for every head; 0: one product per group of heads");

/// Parameters of the language models with fixed dimensions.
const LLM: &[FamilyParam] = &[LAYERS, SEQUENCES, TOKENS, CACHE, STATE, SHARDS, WEIGHTS, TABLES];

const TRANSFORMER: &[FamilyParam] = &[
    LAYERS.or(4),
    WIDTH,
    HEADS,
    KV_HEADS,
    FFN,
    VOCABULARY,
    SEQUENCES,
    TOKENS,
    CACHE,
    STATE,
    REPEAT,
    SHARDS,
    WEIGHTS,
    TABLES,
];

const MOE: &[FamilyParam] = &[
    LAYERS.or(2),
    WIDTH,
    HEADS,
    KV_HEADS,
    FFN,
    VOCABULARY,
    param("experts", 8, "experts per layer"),
    param("chosen", 2, "experts that a token chooses"),
    param("capacity", 125, "capacity of an expert as a percentage of its fair share of tokens"),
    SEQUENCES,
    TOKENS.or(1),
    CACHE.or(1024),
    STATE,
    REPEAT,
];

/// All families of graphs.
pub const GRAPH_FAMILIES: &[GraphFamily] = &[
    family("chain", "operators in sequence", &[N, KIB], shapes::chain),
    family(
        "in-tree",
        "every tensor is read by one later operator; leaves have no inputs",
        &[N, KIB, param("window", 10, "maximum distance from an operator to its reader")],
        shapes::in_tree,
    ),
    family(
        "layered",
        "layers of operators that read tensors of earlier layers",
        &[
            N,
            KIB,
            param("width", 8, "operators per layer"),
            param("reads", 3, "maximum number of tensors read").up_to(1 << 12),
        ],
        shapes::layered,
    ),
    family(
        "series-parallel",
        "series-parallel: nested serial and parallel parts between one input and one output",
        &[
            N,
            KIB,
            param("parallel", 50, "percentage of the parts that are parallel"),
            param("branches", 4, "maximum number of parallel parts"),
        ],
        shapes::series_parallel,
    ),
    family(
        "weight-chain",
        "operators with weights in sequence, to study how much latency prefetching can hide",
        &[
            N.or(32),
            KIB.or(64).about("size of every output in KiB"),
            param("weight", 1024, "median size of a weight in KiB"),
            param("intensity", 48, "approximate multiply-accumulates per byte of weight"),
            param("spread", 50, "maximum deviation of weights and of multiply-accumulates per byte, percent"),
            param("free", 25, "percentage of the operators without a weight"),
        ],
        shapes::weight_chain,
    ),
    family(
        "unet",
        "U-Net, with its crops (Ronneberger et al. 2015)",
        &[
            param("size", 572, SIZE),
            param("inputs", 1, "channels of the image"),
            param("classes", 2, "channels of the output"),
            param("channels", 64, "channels at the top"),
            param("depth", 4, "levels"),
            param("padded", 0, "1: 3 x 3 convolutions keep the size; 0: they crop the edges"),
            NORM,
            BATCH,
        ],
        wide::unet,
    ),
    family(
        "hourglass",
        "downsampling and upsampling, with skip branches at every level",
        &[
            param("depth", 4, "levels"),
            param("convs", 2, "convolutions per level and direction").up_to(1 << 12),
            param("skip", 1, "convolutions on the skip branch; 0 is a U-Net").up_to(1 << 12),
            param("narrow", 4, "the factor by which the skip branch has fewer channels"),
            param("channels", 32, "channels at the top"),
            param("size", 256, SIZE),
        ],
        shapes::hourglass,
    ),
    family(
        "inception",
        "blocks of four parallel branches, concatenated (GoogLeNet's 3a)",
        &[
            param("blocks", 4, "blocks").up_to(1 << 16),
            param("channels", 16, "channels; the published width is 16"),
            param("size", 28, SIZE),
        ],
        shapes::inception,
    ),
    family(
        "lenet5",
        "LeNet-5 with rectifiers, 28 x 28 inputs (after LeCun et al. 1998)",
        &[BATCH],
        |params, _| classic::lenet5(params),
    ),
    family(
        "vgg16",
        "VGG-16, configuration D (Simonyan, Zisserman 2015)",
        &[BATCH, param("classifier", 1, "1: with the three dense layers; 0: convolutions and pooling only")],
        |params, _| classic::vgg16(params),
    ),
    family("resnet18", "ResNet-18, batch normalisation folded (He et al. 2016)", &[BATCH], |params, _| {
        classic::resnet18(params)
    }),
    family("resnet34", "ResNet-34 (He et al. 2016)", &[BATCH, NORM], |params, _| {
        wide::resnet(params, &wide::RESNET34)
    }),
    family(
        "resnet50",
        "ResNet-50, strides in the 3 x 3 convolutions (He et al. 2016)",
        &[BATCH, NORM],
        |params, _| wide::resnet(params, &wide::RESNET50),
    ),
    family(
        "resnet101",
        "ResNet-101, strides in the 3 x 3 convolutions (He et al. 2016)",
        &[BATCH, NORM],
        |params, _| wide::resnet(params, &wide::RESNET101),
    ),
    family("resnext50", "ResNeXt-50 32 x 4d (Xie et al. 2017)", &[BATCH, NORM], |params, _| {
        wide::resnet(params, &wide::RESNEXT50)
    }),
    family("alexnet", "AlexNet on one device (Krizhevsky 2014)", &[BATCH], wide::alexnet),
    family("densenet121", "DenseNet-121 (Huang et al. 2017)", &[BATCH], wide::densenet121),
    family(
        "googlenet",
        "GoogLeNet without auxiliary classifiers (Szegedy et al. 2015)",
        &[BATCH],
        wide::googlenet,
    ),
    family(
        "inception-v3",
        "Inception v3 without the auxiliary classifier, 299 x 299 (Szegedy et al. 2016)",
        &[BATCH, NORM],
        wide::inception_v3,
    ),
    family("squeezenet", "SqueezeNet 1.0 (Iandola et al. 2016)", &[BATCH], mobile::squeezenet),
    family("mobilenet-v1", "MobileNet, width 1 (Howard et al. 2017)", &[BATCH, NORM], mobile::mobilenet_v1),
    family(
        "mobilenet-v2",
        "MobileNetV2, width 1 (Sandler et al. 2018)",
        &[BATCH, NORM],
        mobile::mobilenet_v2,
    ),
    family("shufflenet-v2", "ShuffleNetV2, width 1 (Ma et al. 2018)", &[BATCH, NORM], mobile::shufflenet_v2),
    family("efficientnet-b0", "EfficientNet-B0 (Tan, Le 2019)", &[BATCH, NORM], mobile::efficientnet_b0),
    family(
        "yolov5s",
        "YOLOv5s up to the last convolutions (Jocher et al. 2021)",
        &[param("size", 640, SIZE), CLASSES, param("release", 6, "release 6.0 or 5.0"), NORM, SPLIT, INT8],
        |params, _| yolo::yolov5s(params),
    ),
    family(
        "yolox-nano",
        "YOLOX-Nano, up to the scores of every level (Ge et al. 2021)",
        &[param("size", 416, SIZE), CLASSES, NORM, SPLIT, INT8],
        |params, _| yolo::yolox_nano(params),
    ),
    family(
        "randwire-ws",
        "randomly wired network, Watts-Strogatz model (Xie et al. 2019)",
        &[
            WIRED[0],
            param("k", 4, "neighbours on the ring"),
            param("p", 75, "percent of edges rewired"),
            WIRED[1],
            WIRED[2],
            STAGES,
        ],
        wired::ws,
    ),
    family(
        "randwire-er",
        "randomly wired network, Erdos-Renyi model (Xie et al. 2019)",
        &[WIRED[0], param("p", 20, "percent of pairs connected by an edge"), WIRED[1], WIRED[2], STAGES],
        wired::er,
    ),
    family(
        "randwire-ba",
        "randomly wired network, Barabasi-Albert model (Xie et al. 2019)",
        &[WIRED[0], param("m", 5, "edges of a new node"), WIRED[1], WIRED[2], STAGES],
        wired::ba,
    ),
    family(
        "darts",
        "stack of cells of the published genotype DARTS_V2, for CIFAR (Liu et al. 2019)",
        &[
            param("cells", 20, "cells; those at one and two thirds are reduction cells"),
            param("channels", 36, "channels of the first cell"),
            param("size", 32, SIZE),
        ],
        cells::darts,
    ),
    family(
        "nasnet-a",
        "stack of NASNet-A cells, for ImageNet (Zoph et al. 2018); mobile by default",
        &[
            param("cells", 4, "normal cells in each of the three parts"),
            param("filters", 44, "filters of the first part: penultimate filters / 24"),
            param("stem", 32, "channels of the stem"),
            param("size", 224, SIZE),
        ],
        cells::nasnet,
    ),
    family("llama-13b", "LLaMA-13B operator by operator, float16 (Touvron et al. 2023)", LLM, |params, _| {
        llm::graph(params, &llm::LLAMA_13B)
    }),
    family("baichuan-13b", "Baichuan-13B operator by operator, float16, ALiBi", LLM, |params, _| {
        llm::graph(params, &llm::BAICHUAN_13B)
    }),
    family(
        "transformer",
        "decoder with grouped-query attention, float16: Mistral's sizes, four layers (Jiang et al. 2023)",
        TRANSFORMER,
        llm::transformer,
    ),
    family(
        "moe",
        "mixture-of-experts decoder with experts as regions: Mixtral's sizes, two layers (Jiang et al. 2024)",
        MOE,
        llm::moe,
    ),
    family(
        "nested-if",
        "nested conditionals",
        &[param("depth", 3, "nesting depth of conditionals"), PER_REGION, BYTES, SPREAD],
        control::nested,
    ),
    family(
        "unbalanced-if",
        "conditionals in sequence, one branch of each taking many times the memory of the other",
        &[
            param("ifs", 2, "conditionals"),
            PER_REGION,
            param("ratio", 8, "ratio of tensor sizes between the two branches"),
            BYTES,
            SPREAD,
        ],
        control::unbalanced,
    ),
    family(
        "shared-if",
        "a conditional whose branches read earlier tensors, some of them for the last time",
        &[param("shared", 10, "tensors produced before the conditional"), PER_REGION, BYTES, SPREAD],
        control::shared,
    ),
    family(
        "loops",
        "alternating counted and conditional loops, with carried and captured values",
        &[
            param("loops", 2, "loops in sequence"),
            param("carried", 2, "values carried between iterations"),
            param("captured", 2, "tensors read in every iteration"),
            param("rows", 1, "values stacked by a counted loop, one row per iteration"),
            param("trips", 4, "capacity of a stacked value in rows"),
            PER_REGION,
            BYTES,
            SPREAD,
        ],
        control::loops,
    ),
    family(
        "control-mix",
        "a random mixture of conditionals, loops, calls, views and in-place operators",
        &[
            param("operators", 9, "approximate number of operators, including those in regions"),
            param("depth", 3, "maximum nesting depth of regions"),
            param("control", 25, "percentage of operators that own regions"),
            BYTES,
            SPREAD,
        ],
        control::mix,
    ),
];
