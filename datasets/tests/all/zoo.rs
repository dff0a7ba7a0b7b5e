//! Tests that published networks have their published numbers of parameters and multiply-accumulates.

use plimsoll_datasets::GenerateError;
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_model::graph::{Graph, Role};

fn generate(family: &str, list: &[(&str, u64)]) -> Result<Graph, GenerateError> {
    let params = list.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    GraphFamily::named(family).unwrap().generate(0, &params)
}

fn make(family: &str, list: &[(&str, u64)]) -> Graph {
    generate(family, list).unwrap()
}

fn weights(graph: &Graph, bytes_each: u64) -> u64 {
    graph.bytes(Role::Weight).get() / bytes_each
}

/// Returns the multiply-accumulates of convolutions and dense layers.
fn arithmetic(graph: &Graph) -> u64 {
    let own = graph.operators().iter().filter(|operator| ["Conv", "Gemm"].contains(&operator.kind.as_str()));
    own.filter_map(|operator| operator.cost).sum()
}

fn output(graph: &Graph) -> Vec<u64> {
    graph.tensor(graph.region(Graph::BODY).outputs[0]).shape.clone().unwrap()
}

/// The columns are the network, the number of parameters with separate normalisation operators, and the
/// multiply-accumulates for one image in units of 10^7.
const PUBLISHED: &[(&str, u64, u64)] = &[
    ("alexnet", 61_100_840, 71),
    ("squeezenet", 1_248_424, 82),
    ("resnet34", 21_797_672, 366),
    ("resnet50", 25_557_032, 409),
    ("resnet101", 44_549_160, 780),
    ("resnext50", 25_028_904, 423),
    ("densenet121", 7_978_856, 283),
    ("googlenet", 6_998_552, 158),
    ("inception-v3", 23_834_568, 571),
    ("mobilenet-v1", 4_231_976, 57),
    ("mobilenet-v2", 3_504_872, 30),
    ("shufflenet-v2", 2_278_604, 14),
    ("efficientnet-b0", 5_288_548, 39),
];

#[test]
fn image_networks_are_the_published_ones() {
    for &(family, parameters, cost) in PUBLISHED {
        let known = GraphFamily::named(family).unwrap().params;
        let normed: &[(&str, u64)] =
            if known.iter().any(|param| param.name == "norm") { &[("norm", 1)] } else { &[] };
        let graph = make(family, normed);
        assert_eq!(weights(&graph, 4), parameters, "{family}");
        let hundredths = (arithmetic(&graph) + 5_000_000) / 10_000_000;
        assert_eq!(hundredths, cost, "{family}: {}", arithmetic(&graph));
        assert_eq!(output(&graph).iter().product::<u64>(), 1000, "{family}");
    }
}

#[test]
fn folding_turns_scales_and_shifts_into_biases() {
    for &(family, parameters, _) in PUBLISHED {
        if !GraphFamily::named(family).unwrap().params.iter().any(|param| param.name == "norm") {
            continue;
        }
        let (apart, folded) = (make(family, &[("norm", 1)]), make(family, &[]));
        let scales = |graph: &Graph| -> u64 {
            let norms = graph.operators().iter().filter(|one| one.kind == "BatchNormalization");
            norms.map(|one| graph.tensor(one.outputs[0]).shape.as_ref().unwrap()[1]).sum()
        };
        assert_eq!(weights(&folded, 4), parameters - scales(&apart), "{family}");
        assert_eq!(scales(&folded), 0);
        assert_eq!(arithmetic(&folded), arithmetic(&apart), "{family}");
    }
}

#[test]
fn batches_multiply_activations_alone() {
    for &(family, ..) in PUBLISHED {
        let (one, three) = (make(family, &[]), make(family, &[("batch", 3)]));
        assert_eq!(one.bytes(Role::Activation).get() * 3, three.bytes(Role::Activation).get(), "{family}");
        assert_eq!(one.bytes(Role::Weight), three.bytes(Role::Weight), "{family}");
        assert_eq!(arithmetic(&one) * 3, arithmetic(&three), "{family}");
    }
}

#[test]
fn u_nets_are_the_published_ones() {
    // The network of the paper has an input of 572 x 572, an output of 388 x 388, and two classes.
    let paper = make("unet", &[]);
    assert_eq!((output(&paper), weights(&paper, 4)), (vec![1, 2, 388, 388], 31_030_658));
    assert_eq!(weights(&make("unet", &[("classes", 1)]), 4), 31_030_593);
    // Current implementations have three input channels and normalisation.
    let today = make("unet", &[("inputs", 3), ("norm", 1), ("padded", 1), ("size", 256)]);
    assert_eq!((output(&today), weights(&today, 4)), (vec![1, 2, 256, 256], 31_037_698));
    let refused = |list: &[(&str, u64)]| generate("unet", list).unwrap_err().to_string();
    assert!(refused(&[("size", 573)]).starts_with("the size before a pooling operator is "));
    assert!(refused(&[("size", 60)]).starts_with("the size before a pooling operator is "));
    assert!(refused(&[("size", 0)]).starts_with("the size before a pooling operator is 0"));
    assert!(refused(&[("depth", 11)]).starts_with("depth is 11"));
}

/// Returns the number of parameters. It excludes the rotary tables, which contain `head` cosines and `head`
/// sines in `float32`.
fn language_parameters(family: &str, list: &[(&str, u64)], head: u64) -> u64 {
    let list = [list, &[("tokens", 1), ("cache", 0)]].concat();
    (make(family, &list).bytes(Role::Weight).get() - 2 * head * 4) / 2
}

#[test]
fn language_models_have_their_published_parameters() {
    let mistral_7b = language_parameters("transformer", &[("layers", 32)], 128);
    assert_eq!(mistral_7b, 7_241_732_096);
    let llama3_8b = language_parameters("transformer", &[("layers", 32), ("vocabulary", 128_256)], 128);
    assert_eq!(llama3_8b, 8_030_261_248);
    let llama2_7b = [("layers", 32), ("kv_heads", 32), ("ffn", 11_008)];
    assert_eq!(language_parameters("transformer", &llama2_7b, 128), 6_738_415_616);
    let tiny = [("layers", 22), ("width", 2048), ("heads", 32), ("kv_heads", 4), ("ffn", 5632)];
    assert_eq!(language_parameters("transformer", &tiny, 64), 1_100_048_384);
    let mixtral = language_parameters("moe", &[("layers", 32)], 128);
    assert_eq!(mixtral, 46_702_792_704);
}

#[test]
fn grouped_queries_keep_fewer_keys_and_values() {
    let list = [("layers", 2), ("tokens", 1), ("cache", 99), ("state", 1)];
    let cache = |kv_heads| {
        make("transformer", &[&list[..], &[("kv_heads", kv_heads)]].concat()).bytes(Role::State).get()
    };
    // Two layers have keys and values of 100 tokens, with 128 numbers of two bytes per head.
    assert_eq!([32, 8, 1].map(cache), [32, 8, 1].map(|heads| 2 * 2 * 100 * 128 * 2 * heads));
    let costs = |repeat| {
        let graph = make("transformer", &[("layers", 1), ("tokens", 16), ("repeat", repeat)]);
        let products = graph.operators().iter().filter(|operator| operator.kind == "MatMul");
        (products.filter_map(|operator| operator.cost).sum::<u64>(), graph.operators().len())
    };
    let (grouped, repeated) = (costs(0), costs(1));
    assert_eq!(grouped.0, repeated.0);
    assert_eq!((grouped.1, repeated.1), (repeated.1 + 2, grouped.1 - 2));
}

#[test]
fn experts_are_regions() {
    let regions = |list: &[(&str, u64)]| {
        let graph = make("moe", &[list, &[("layers", 1), ("width", 64), ("ffn", 96)]].concat());
        let owners = graph.operators().iter().filter(|operator| !operator.regions.is_empty());
        let owners: Vec<(String, usize)> =
            owners.map(|operator| (operator.kind.clone(), operator.regions.len())).collect();
        (owners, graph)
    };
    let (owners, _) = regions(&[("heads", 4), ("kv_heads", 2)]);
    assert_eq!(owners, vec![("Case".to_owned(), 8); 2]);
    let (owners, prompt) = regions(&[("heads", 4), ("kv_heads", 2), ("tokens", 64), ("cache", 0)]);
    assert_eq!(owners, vec![("If".to_owned(), 2); 8]);
    // Each of 64 tokens chooses two of eight experts, and the capacity is a quarter more than the fair share.
    let rows = prompt.tensors().iter().find(|tensor| tensor.name == "l0.moe.e0.gathered").unwrap();
    assert_eq!(rows.shape.as_deref(), Some(&[20, 64][..]));
}

#[test]
fn odd_sizes_are_refused_by_name() {
    let refused = |family: &str, list: &[(&str, u64)]| generate(family, list).unwrap_err().to_string();
    assert_eq!(
        refused("transformer", &[("kv_heads", 5)]),
        "heads is 32, but must be a multiple of kv_heads, which is 5"
    );
    assert_eq!(
        refused("transformer", &[("heads", 48)]),
        "width is 4096, but must be a multiple of twice heads, which is 96"
    );
    assert_eq!(refused("transformer", &[("kv_heads", 0)]), "kv_heads is 0, but must be at least 1");
    assert!(
        refused("transformer", &[("shards", 16)]).contains("kv_heads is 8, but must be a multiple of shards")
    );
    assert_eq!(refused("moe", &[("chosen", 9)]), "chosen is 9, but must be at most 8");
    assert!(refused("moe", &[("shards", 2)]).starts_with("moe has no parameter 'shards'; it has layers, "));
    assert_eq!(
        refused("moe", &[("experts", 10), ("layers", 10_000)]),
        "layers times experts is 100000, but must be at most 65536"
    );
    assert_eq!(refused("resnet50", &[("batch", 0)]), "batch is 0, but must be at least 1");
    assert_eq!(refused("weight-chain", &[("free", 101)]), "free is 101, but must be at most 100");
    assert_eq!(refused("series-parallel", &[("branches", 1)]), "branches is 1, but must be at least 2");
}

#[test]
fn weaves_have_two_ends() {
    for n in [1, 2, 3, 4, 17, 400] {
        for seed in 0..8 {
            let params = [("n".to_owned(), n)].into();
            let graph = GraphFamily::named("series-parallel").unwrap().generate(seed, &params).unwrap();
            assert_eq!(graph.operators().len() as u64, n);
            let idle = (0..graph.tensors().len())
                .filter(|&at| graph.consumers(plimsoll_model::TensorId::at(at)).is_empty());
            assert_eq!(idle.count(), 1, "only the output has no reader");
        }
    }
    let chain = make("series-parallel", &[("parallel", 0), ("n", 50)]);
    assert!(chain.operators().iter().all(|operator| operator.inputs.len() == 1));
}

#[test]
fn chains_have_the_weights_asked_for() {
    let list = [("n", 400), ("weight", 100), ("intensity", 10), ("spread", 20), ("free", 0)];
    let graph = make("weight-chain", &list);
    for operator in graph.operators() {
        let bytes = graph.tensor(operator.inputs[1]).bytes.get();
        assert!((80 * 1024..=120 * 1024).contains(&bytes));
        let each = operator.cost.unwrap() as f64 / bytes as f64;
        assert!((7.9..=12.1).contains(&each), "{each}");
    }
    let bare = make("weight-chain", &[("free", 100)]);
    assert_eq!(bare.bytes(Role::Weight).get(), 0);
}
