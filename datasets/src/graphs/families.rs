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
/// The number of operators. A graph with a million operators occupies one to two gigabytes.
const N: FamilyParam = param("n", 100, "number of operators").up_to(1 << 20);
const KIB: FamilyParam = param("kib", 1024, "maximum size of a tensor, KiB; sizes are uniform from 1 KiB");
const SIZE: &str = "height and width of the input, pixels";
const STAGES: FamilyParam = param("stages", 1, "stages, each halving the size and doubling the channels");
const WIRED: [FamilyParam; 3] = [
    param("nodes", 32, "nodes per stage"),
    param("channels", 78, "channels of the first stage"),
    param("size", 56, SIZE),
];

const BYTES: FamilyParam = param("bytes", 1024, "median size of a tensor, bytes");
const SPREAD: FamilyParam = param("spread", 50, "maximum deviation of a size from the median, percent");
const PER_REGION: FamilyParam =
    param("operators", 3, "operators per region, excluding those that own regions");

const CLASSES: FamilyParam = param("classes", 80, "object classes");
const NORM: FamilyParam =
    param("norm", 0, "1: batch normalisation as separate operators; 0: folded into biases");
const SPLIT: FamilyParam = param("split", 1, "1: SiLU as a sigmoid and a product; 0: as one operator");
const INT8: FamilyParam = param("int8", 0, "1: one byte per element; 0: four");

const LAYERS: FamilyParam = param("layers", 40, "decoder layers");
const SEQUENCES: FamilyParam = param("batch", 1, "sequences per batch");
const TOKENS: FamilyParam =
    param("tokens", 1024, "tokens computed per sequence: the length of the prompt, or 1 to decode");
const CACHE: FamilyParam = param("cache", 0, "tokens per sequence in the key-value cache");
const STATE: FamilyParam =
    param("state", 0, "1: keys and values are states updated in place; 0: they are inputs and outputs");
const SHARDS: FamilyParam = param(
    "shards",
    1,
    "devices that share the heads and feed-forward columns; the graph is that of one device",
);
const WEIGHTS: FamilyParam =
    param("weights", 0, "1: separate operators at the start of the file convert every weight matrix");
const TABLES: FamilyParam = param(
    "tables",
    0,
    "1: every layer has its own masks and tables, produced at the start of the file; 0: all layers share them",
);
const WIDTH: FamilyParam = param("width", 4096, "hidden size");
const HEADS: FamilyParam = param("heads", 32, "heads");
const KV_HEADS: FamilyParam = param("kv_heads", 8, "key-value heads; 1: multi-query");
const FFN: FamilyParam = param("ffn", 14336, "feed-forward columns");
const VOCABULARY: FamilyParam = param("vocabulary", 32_000, "number of tokens in the vocabulary");
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
    param("chosen", 2, "experts per token"),
    param("capacity", 125, "capacity of an expert, percentage of its fair share of tokens"),
    SEQUENCES,
    TOKENS.or(1),
    CACHE.or(1024),
    STATE,
    REPEAT,
];

/// All families of graphs.
pub const GRAPH_FAMILIES: &[GraphFamily] = &[
    family("chain", "a chain of operators", &[N, KIB], shapes::chain),
    family(
        "in-tree",
        "in-tree: every tensor is read by exactly one later operator; leaves have no inputs",
        &[N, KIB, param("window", 10, "maximum distance between an operator and the reader of its output")],
        shapes::in_tree,
    ),
    family(
        "layered",
        "layers of operators that read tensors of earlier layers",
        &[
            N,
            KIB,
            param("width", 8, "operators per layer"),
            param("reads", 3, "maximum number of tensors that an operator reads").up_to(1 << 12),
        ],
        shapes::layered,
    ),
    family(
        "series-parallel",
        "nested series and parallel compositions with one source and one sink",
        &[
            N,
            KIB,
            param("parallel", 50, "percentage of the compositions that are parallel"),
            param("branches", 4, "maximum number of parallel branches"),
        ],
        shapes::series_parallel,
    ),
    family(
        "weight-chain",
        "a chain of operators with weights, to study how much transfer time prefetching hides",
        &[
            N.or(32),
            KIB.or(64).about("size of every output, KiB"),
            param("weight", 1024, "median size of a weight, KiB"),
            param("intensity", 48, "approximate multiply-accumulates per byte of weight"),
            param("spread", 50, "maximum deviation of weights and of multiply-accumulates per byte, percent"),
            param("free", 25, "percentage of the operators without weights"),
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
            param("padded", 0, "1: padded 3 x 3 convolutions; 0: unpadded"),
            NORM,
            BATCH,
        ],
        wide::unet,
    ),
    family(
        "hourglass",
        "encoder and decoder with a skip branch at every level",
        &[
            param("depth", 4, "levels"),
            param("convs", 2, "convolutions per level in the encoder and in the decoder").up_to(1 << 12),
            param("skip", 1, "convolutions on the skip branch; 0: a U-Net").up_to(1 << 12),
            param("narrow", 4, "factor by which the skip branch reduces the channels"),
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
    family("lenet5", "LeNet-5 with ReLU, 28 x 28 inputs (after LeCun et al. 1998)", &[BATCH], |params, _| {
        classic::lenet5(params)
    }),
    family(
        "vgg16",
        "VGG-16, configuration D (Simonyan, Zisserman 2015)",
        &[BATCH, param("classifier", 1, "1: with the three dense layers; 0: only convolutions and pooling")],
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
        &[
            param("size", 640, SIZE),
            CLASSES,
            param("release", 6, "6: release 6.0; 5: release 5.0"),
            NORM,
            SPLIT,
            INT8,
        ],
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
            param("p", 75, "percentage of the edges that are rewired"),
            WIRED[1],
            WIRED[2],
            STAGES,
        ],
        wired::ws,
    ),
    family(
        "randwire-er",
        "randomly wired network, Erdos-Renyi model (Xie et al. 2019)",
        &[
            WIRED[0],
            param("p", 20, "percentage of the pairs that are connected by an edge"),
            WIRED[1],
            WIRED[2],
            STAGES,
        ],
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
            param("cells", 20, "number of cells; those at one third and two thirds are reduction cells"),
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
        "a sequence of conditionals, each with one large and one small branch",
        &[
            param("ifs", 2, "conditionals"),
            PER_REGION,
            param("ratio", 8, "ratio of the tensor sizes of the two branches"),
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
            param("loops", 2, "number of loops"),
            param("carried", 2, "loop-carried values"),
            param("captured", 2, "tensors captured by every iteration"),
            param("rows", 1, "values stacked by a counted loop, one row per iteration"),
            param("trips", 4, "rows of a stacked value, which is the assumed number of iterations"),
            PER_REGION,
            BYTES,
            SPREAD,
        ],
        control::loops,
    ),
    family(
        "control-mix",
        "a random mix of conditionals, loops, calls, views and in-place operators",
        &[
            param("operators", 9, "approximate number of operators, including those in regions"),
            param("depth", 3, "maximum nesting depth of regions"),
            param("control", 25, "probability, in percent, that an operator owns regions"),
            BYTES,
            SPREAD,
        ],
        control::mix,
    ),
];
