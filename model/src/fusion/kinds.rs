//! Classes of operator kinds. A class is one name for several similar kinds, such as the kinds of
//! convolutions in different file formats.

use std::collections::BTreeSet;
use std::fmt;

/// A class of operator kinds, for use in patterns and units. Its name is in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The name that stands for the kinds in a pattern or a list of units.
    pub name: &'static str,
    /// The kinds as written in ONNX and `TFLite` files.
    pub kinds: &'static [&'static str],
}

const CLASSES: &[Class] = &[
    Class {
        name: "conv",
        kinds: &[
            "Conv",
            "ConvTranspose",
            "ConvInteger",
            "QLinearConv",
            "CONV_2D",
            "DEPTHWISE_CONV_2D",
            "TRANSPOSE_CONV",
            "CONV_3D",
            "CONV_3D_TRANSPOSE",
        ],
    },
    Class {
        name: "dense",
        kinds: &["Gemm", "MatMul", "MatMulInteger", "QLinearMatMul", "FULLY_CONNECTED", "BATCH_MATMUL"],
    },
    Class {
        name: "act",
        kinds: &[
            "Relu",
            "LeakyRelu",
            "PRelu",
            "Clip",
            "Elu",
            "Selu",
            "Celu",
            "Gelu",
            "Sigmoid",
            "HardSigmoid",
            "HardSwish",
            "Swish",
            "SiLU",
            "Mish",
            "Softplus",
            "Tanh",
            "RELU",
            "RELU6",
            "RELU_N1_TO_1",
            "LEAKY_RELU",
            "PRELU",
            "ELU",
            "GELU",
            "LOGISTIC",
            "HARD_SWISH",
            "TANH",
        ],
    },
    Class { name: "sigmoid", kinds: &["Sigmoid", "HardSigmoid", "LOGISTIC"] },
    Class { name: "norm", kinds: &["BatchNormalization"] },
    Class { name: "mul", kinds: &["Mul", "MUL"] },
    Class { name: "add", kinds: &["Add", "ADD"] },
    Class { name: "concat", kinds: &["Concat", "CONCATENATION"] },
    Class { name: "pool", kinds: &["MaxPool", "AveragePool", "MAX_POOL_2D", "AVERAGE_POOL_2D"] },
    Class { name: "resize", kinds: &["Resize", "Upsample", "RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"] },
    Class {
        name: "elementwise",
        kinds: &["Add", "Sub", "Mul", "Div", "Sum", "ADD", "SUB", "MUL", "DIV", "ADD_N"],
    },
];

/// Returns the class with the given name, if any.
pub fn class(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// A set of kinds: either every kind, or kinds listed individually or by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindSet {
    /// Every kind.
    All,
    /// The listed kinds, with classes expanded.
    Listed(BTreeSet<String>),
}

impl KindSet {
    /// Builds the set of kinds given by `words`. A class name denotes all its kinds, `*` denotes every kind,
    /// and any other word denotes one kind.
    pub(crate) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut kinds = BTreeSet::new();
        for word in words {
            match class(word) {
                _ if word == "*" => return Self::All,
                Some(class) => kinds.extend(class.kinds.iter().map(|&kind| kind.to_owned())),
                None => drop(kinds.insert(word.to_owned())),
            }
        }
        Self::Listed(kinds)
    }

    /// Returns true if the set contains a kind.
    pub fn has(&self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::Listed(kinds) => kinds.contains(kind),
        }
    }
}

impl fmt::Display for KindSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => write!(f, "every kind"),
            Self::Listed(kinds) => {
                let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
                write!(f, "{}", kinds.join(" "))
            }
        }
    }
}
