//! Every family of generated graphs: the list that the command and the tests read.

use super::{cells, classic, control, llm, shapes, wired, yolo};
use crate::error::{GenerateError, at_least};
use plimsoll_model::graph::Graph;
use std::collections::BTreeMap;

/// A parameter of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphParam {
    /// The name users type.
    pub name: &'static str,
    /// Its value where none is given.
    pub default: u64,
    /// What it means, in a few words.
    pub about: &'static str,
}

/// No parameter may be larger.
const MOST: u64 = 1 << 24;

/// A rule that makes graphs.
#[derive(Clone, Copy, Debug)]
pub struct GraphFamily {
    /// The name users type.
    pub name: &'static str,
    /// What it is like, in one line.
    pub about: &'static str,
    /// Its parameters.
    pub params: &'static [GraphParam],
    make: fn(&Params, u64) -> Result<Graph, GenerateError>,
}

impl GraphFamily {
    /// The graph of these parameters and this seed, called after the family, the parameters given and the seed; the same
    /// on any machine. Families without chance take a seed all the same.
    ///
    /// # Errors
    /// [`GenerateError`] for parameters the family does not have or allow, or sizes that leave the address space.
    pub fn generate(&self, seed: u64, params: &BTreeMap<String, u64>) -> Result<Graph, GenerateError> {
        let mut graph = self.name.to_owned();
        let mut values: BTreeMap<&'static str, u64> =
            self.params.iter().map(|p| (p.name, p.default)).collect();
        for (name, &value) in params {
            let Some(known) = self.params.iter().find(|param| param.name == name) else {
                let known = self.params.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
                return Err(GenerateError::NoParameter { family: self.name, name: name.clone(), known });
            };
            if value > MOST {
                return Err(GenerateError::TooBig { name: known.name, value, most: MOST });
            }
            values.insert(known.name, value);
            graph = format!("{graph}-{name}-{value}");
        }
        let graph = format!("{graph}-{seed}");
        (self.make)(&Params { graph, values }, seed)
    }

    /// The family of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        GRAPH_FAMILIES.iter().find(|family| family.name == name)
    }
}

/// Values of a family's parameters, by name, and the name of the graph to make.
pub(super) struct Params {
    graph: String,
    values: BTreeMap<&'static str, u64>,
}

impl Params {
    pub fn graph(&self) -> &str {
        &self.graph
    }

    pub fn get(&self, name: &'static str) -> u64 {
        self.values[name]
    }

    pub fn at_least(&self, name: &'static str, least: u64) -> Result<u64, GenerateError> {
        at_least(name, self.get(name), least)?;
        Ok(self.get(name))
    }

    pub fn at_most(&self, name: &'static str, most: u64) -> Result<(), GenerateError> {
        let value = self.get(name);
        if value > most { Err(GenerateError::TooBig { name, value, most }) } else { Ok(()) }
    }

    pub fn percent(&self, name: &'static str) -> Result<u64, GenerateError> {
        self.at_most(name, 100)?;
        Ok(self.get(name))
    }
}

const fn param(name: &'static str, default: u64, about: &'static str) -> GraphParam {
    GraphParam { name, default, about }
}

const BATCH: GraphParam = param("batch", 1, "images at once");
const N: GraphParam = param("n", 100, "number of operators");
const KIB: GraphParam = param("kib", 1024, "tensors take 1 to so many KiB, every size as likely");
const SIZE: &str = "height and width of the input, pixels";
const STAGES: GraphParam = param("stages", 1, "stages, each halving the size and doubling the channels");
const WIRED: [GraphParam; 3] = [
    param("nodes", 32, "nodes per stage"),
    param("channels", 78, "channels of the first stage"),
    param("size", 56, SIZE),
];

const BYTES: GraphParam = param("bytes", 1024, "middle size of a tensor");
const SPREAD: GraphParam = param("spread", 50, "sizes differ from the middle by at most so many percent");
const PER_REGION: GraphParam = param("operators", 3, "operators per region, without those that own regions");

const CLASSES: GraphParam = param("classes", 80, "classes of objects");
const NORM: GraphParam =
    param("norm", 0, "1: batch normalisation by operators of its own; 0: folded into biases");
const SPLIT: GraphParam = param("split", 1, "1: SiLU is a sigmoid and a product; 0: one operator");
const INT8: GraphParam = param("int8", 0, "1: everything takes one byte per element; 0: four");

/// Parameters of both language models.
const LLM: &[GraphParam] = &[
    param("layers", 40, "decoder layers"),
    param("batch", 1, "sequences at once"),
    param("tokens", 1024, "tokens per sequence computed in this run: the prompt, or 1 to decode"),
    param("cache", 0, "tokens per sequence computed before, whose keys and values are kept"),
    param("state", 0, "1: keys and values are states written in place; 0: past ones go in, all come out"),
    param(
        "shards",
        1,
        "devices the heads and the feed-forward columns are divided among; this is one of them",
    ),
    param("weights", 0, "1: every matrix is converted by an operator of its own, at the front of the file"),
    param("tables", 0, "1: every layer makes its own masks and tables, at the front of the file; 0: shared"),
];

/// Every family.
pub const GRAPH_FAMILIES: &[GraphFamily] = &[
    GraphFamily {
        name: "chain",
        about: "operators one after the other",
        params: &[N, KIB],
        make: shapes::chain,
    },
    GraphFamily {
        name: "in-tree",
        about: "every tensor is read by one later operator; leaves read nothing",
        params: &[N, KIB, param("window", 10, "readers are at most so much further on")],
        make: shapes::in_tree,
    },
    GraphFamily {
        name: "layered",
        about: "layers of operators that read some tensors of the layers before",
        params: &[N, KIB, param("width", 8, "operators per layer"), param("reads", 3, "most tensors read")],
        make: shapes::layered,
    },
    GraphFamily {
        name: "hourglass",
        about: "down to few pixels and up again, with branches across at every level",
        params: &[
            param("depth", 4, "levels"),
            param("convs", 2, "convolutions per level and way"),
            param("skip", 1, "convolutions on the branch across; 0 is a U-Net"),
            param("narrow", 4, "the branch across has so many times fewer channels"),
            param("channels", 32, "channels at the top"),
            param("size", 256, SIZE),
        ],
        make: shapes::hourglass,
    },
    GraphFamily {
        name: "inception",
        about: "blocks of four parallel branches, concatenated (GoogLeNet's 3a)",
        params: &[
            param("blocks", 4, "blocks"),
            param("channels", 16, "16 is the published width"),
            param("size", 28, SIZE),
        ],
        make: shapes::inception,
    },
    GraphFamily {
        name: "lenet5",
        about: "LeNet-5 with rectifiers, 28 x 28 inputs (after LeCun et al. 1998)",
        params: &[BATCH],
        make: |params, _| classic::lenet5(params),
    },
    GraphFamily {
        name: "vgg16",
        about: "VGG-16, configuration D (Simonyan, Zisserman 2015)",
        params: &[
            BATCH,
            param("classifier", 1, "0: convolutions and pooling only; 1: the three dense layers too"),
        ],
        make: |params, _| classic::vgg16(params),
    },
    GraphFamily {
        name: "resnet18",
        about: "ResNet-18, batch normalisation folded (He et al. 2016)",
        params: &[BATCH],
        make: |params, _| classic::resnet18(params),
    },
    GraphFamily {
        name: "yolov5s",
        about: "YOLOv5s up to the last convolutions (Jocher et al. 2021)",
        params: &[
            param("size", 640, SIZE),
            CLASSES,
            param("release", 6, "release 6.0 or 5.0"),
            NORM,
            SPLIT,
            INT8,
        ],
        make: |params, _| yolo::yolov5s(params),
    },
    GraphFamily {
        name: "yolox-nano",
        about: "YOLOX-Nano, up to the scores of every level (Ge et al. 2021)",
        params: &[param("size", 416, SIZE), CLASSES, NORM, SPLIT, INT8],
        make: |params, _| yolo::yolox_nano(params),
    },
    GraphFamily {
        name: "randwire-ws",
        about: "randomly wired network, Watts-Strogatz model (Xie et al. 2019)",
        params: &[
            WIRED[0],
            param("k", 4, "neighbours on the ring"),
            param("p", 75, "percent of edges rewired"),
            WIRED[1],
            WIRED[2],
            STAGES,
        ],
        make: wired::ws,
    },
    GraphFamily {
        name: "randwire-er",
        about: "randomly wired network, Erdos-Renyi model (Xie et al. 2019)",
        params: &[WIRED[0], param("p", 20, "percent of pairs joined"), WIRED[1], WIRED[2], STAGES],
        make: wired::er,
    },
    GraphFamily {
        name: "randwire-ba",
        about: "randomly wired network, Barabasi-Albert model (Xie et al. 2019)",
        params: &[WIRED[0], param("m", 5, "edges of a new node"), WIRED[1], WIRED[2], STAGES],
        make: wired::ba,
    },
    GraphFamily {
        name: "darts",
        about: "stack of cells of the published genotype DARTS_V2, for CIFAR (Liu et al. 2019)",
        params: &[
            param("cells", 20, "cells; those at one and two thirds reduce"),
            param("channels", 36, "channels of the first cell"),
            param("size", 32, SIZE),
        ],
        make: cells::darts,
    },
    GraphFamily {
        name: "nasnet-a",
        about: "stack of NASNet-A cells, for ImageNet (Zoph et al. 2018); mobile by default",
        params: &[
            param("cells", 4, "normal cells per part, of which there are three"),
            param("filters", 44, "filters of the first part: penultimate filters / 24"),
            param("stem", 32, "channels of the stem"),
            param("size", 224, SIZE),
        ],
        make: cells::nasnet,
    },
    GraphFamily {
        name: "llama-13b",
        about: "LLaMA-13B operator by operator, float16 (Touvron et al. 2023)",
        params: LLM,
        make: |params, _| llm::graph(params, &llm::LLAMA_13B),
    },
    GraphFamily {
        name: "baichuan-13b",
        about: "Baichuan-13B operator by operator, float16, ALiBi",
        params: LLM,
        make: |params, _| llm::graph(params, &llm::BAICHUAN_13B),
    },
    GraphFamily {
        name: "nested-if",
        about: "a conditional in a branch of a conditional, and so on",
        params: &[param("depth", 3, "conditionals inside each other"), PER_REGION, BYTES, SPREAD],
        make: control::nested,
    },
    GraphFamily {
        name: "unbalanced-if",
        about: "conditionals in a row, one branch of each takes many times the memory of the other",
        params: &[
            param("ifs", 2, "conditionals"),
            PER_REGION,
            param("ratio", 8, "one branch's tensors are so many times as large as the other's"),
            BYTES,
            SPREAD,
        ],
        make: control::unbalanced,
    },
    GraphFamily {
        name: "shared-if",
        about: "a conditional whose branches read tensors made before it, some of them for the last time",
        params: &[param("shared", 10, "tensors made before it"), PER_REGION, BYTES, SPREAD],
        make: control::shared,
    },
    GraphFamily {
        name: "loops",
        about: "counted loops and loops with a condition in turn, with carried and captured values",
        params: &[
            param("loops", 2, "loops in a row"),
            param("carried", 2, "values carried from trip to trip"),
            param("captured", 2, "tensors read in every trip"),
            param("rows", 1, "values stacked by a counted loop, a row per trip"),
            param("trips", 4, "rows there is room for"),
            PER_REGION,
            BYTES,
            SPREAD,
        ],
        make: control::loops,
    },
    GraphFamily {
        name: "control-mix",
        about: "conditionals, loops, calls, views and writing in place, mixed at random",
        params: &[
            param("operators", 9, "operators, about, those in regions included"),
            param("depth", 3, "regions inside each other at most"),
            param("control", 25, "percent of operators that own regions"),
            BYTES,
            SPREAD,
        ],
        make: control::mix,
    },
];
