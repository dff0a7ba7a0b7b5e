//! Tests models without operator names, and the answers of `plan --capacity` and `solve` for models.

use crate::common::Scratch;
use serde_json::Value;

/// Encodes a field of a protocol buffer: its number, its length, its bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap();
    let length = if length < 128 { vec![length] } else { vec![length, 1] };
    [&[number << 3 | 2], &length[..], bytes].concat()
}

fn tensor(name: &str, extents: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = extents.iter().flat_map(|&extent| field(1, &[8, extent])).collect();
    let dense = [vec![8, 1], field(2, &dims)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &dense))].concat()
}

/// Returns an ONNX model of unnamed operators on a batch of vectors of 10 floats: `Relu(x) -> a`,
/// `Sigmoid(a) -> b`, `Add(a, b) -> y`.
fn model(batch: u8) -> Vec<u8> {
    let node = |kind: &str, inputs: &[&str], output: &str| {
        let inputs: Vec<u8> = inputs.iter().flat_map(|name| field(1, name.as_bytes())).collect();
        field(1, &[inputs, field(2, output.as_bytes()), field(4, kind.as_bytes())].concat())
    };
    let graph = [
        node("Relu", &["x"], "a"),
        node("Sigmoid", &["a"], "b"),
        node("Add", &["a", "b"], "y"),
        field(11, &tensor("x", &[batch, 10])),
        field(12, &tensor("y", &[batch, 10])),
    ];
    [vec![8, 8], field(7, &graph.concat()), field(8, &[16, 17])].concat()
}

#[test]
fn unnamed_operators_are_called_by_their_output() {
    let scratch = Scratch::new();
    scratch.write("m.onnx", model(1));
    scratch.plimsoll(&["plan", "m.onnx", "--orders", "plan.csv"]).exits(0);
    scratch.plimsoll(&["order", "m.onnx", "-o", "order.csv"]).exits(0);
    let order = "region,step,operator,kind,live_bytes,index,reads,writes\n0:body,0,Relu(a),Relu,80,0,,\n\
        0:body,1,Sigmoid(b),Sigmoid,80,1,,\n0:body,2,Add(y),Add,120,2,,\n";
    assert_eq!((scratch.read("plan.csv"), scratch.read("order.csv")), (order.to_owned(), order.to_owned()));
    let plan = scratch.plimsoll(&["plan", "m.onnx"]).exits(0).words();
    assert!(plan.contains("no order needs less than 120 bytes (live while 'Add(y)' runs)"), "{plan}");
    assert!(
        plan.contains("no layout needs less than 120 bytes (load at step 2, while 'Add(y)' runs)"),
        "{plan}"
    );
}

#[test]
fn a_smaller_batch_that_fits_is_planned() {
    let scratch = Scratch::new();
    scratch.write("m.onnx", model(7));
    // A batch of n needs 120 n bytes.
    let plan = |bytes: &str| scratch.plimsoll(&["plan", "m.onnx", "--capacity", bytes]).exits(1).words();
    let text = plan("500");
    let in_place = "would help writing in place (--in-place) needs 560 bytes, 60 bytes short";
    assert!(text.contains(in_place), "{text}");
    let batch = "a batch of 4 instead of 7 needs 480 bytes and fits with 20 bytes to spare; a batch of 5 needs \
        600 bytes, 100 bytes short";
    assert!(text.contains(batch), "{text}");
    assert!(
        text.contains("needs 840 bytes at step 2, while 'Add(y)' runs (operator 2 of the file): a ("),
        "{text}"
    );
    let text = plan("119");
    assert!(text.contains("no smaller batch fits: a batch of 1 needs 120 bytes, 1 byte short"), "{text}");
    let json = scratch.plimsoll(&["plan", "m.onnx", "--capacity", "500", "--json"]).exits(1).json();
    assert_eq!((&json["smaller_batch"]["batch"], &json["smaller_batch"]["arena"]), (&4.into(), &480.into()));
    assert_eq!((&json["needs"]["operator"], &json["needs"]["index"]), (&"Add(y)".into(), &2.into()));
    // The advice can be followed.
    scratch.plimsoll(&["plan", "m.onnx", "--capacity", "500", "--batch", "4"]).exits(0);
    let json = scratch.plimsoll(&["plan", "m.onnx", "--capacity", "600", "--json"]).exits(1).json();
    assert_eq!(json["in_place"], 560);
    scratch.plimsoll(&["plan", "m.onnx", "--capacity", "600", "--in-place"]).exits(0);
    let json =
        scratch.plimsoll(&["plan", "m.onnx", "--capacity", "50", "--batch", "1", "--json"]).exits(1).json();
    assert_eq!(json["smaller_batch"], Value::Null);
}

/// Two branches whose file order needs more memory than the best order.
const NET: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "net",
  "tensors": [ { "name": "x", "bytes": 400, "role": "input" }, { "name": "y", "bytes": 40, "role": "output" },
    { "name": "left", "bytes": 1000 }, { "name": "right", "bytes": 1000 },
    { "name": "a", "bytes": 100 }, { "name": "b", "bytes": 100 } ],
  "body": { "inputs": ["x"], "outputs": ["y"], "operators": [
    { "name": "grow1", "kind": "Conv", "inputs": ["x"], "outputs": ["left"] },
    { "name": "grow2", "kind": "Conv", "inputs": ["x"], "outputs": ["right"] },
    { "name": "pool1", "kind": "MaxPool", "inputs": ["left"], "outputs": ["a"] },
    { "name": "pool2", "kind": "MaxPool", "inputs": ["right"], "outputs": ["b"] },
    { "name": "join", "kind": "Concat", "inputs": ["a", "b"], "outputs": ["y"] } ] } }"#;

#[test]
fn another_order_that_fits_is_planned() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    let plan = |bytes: &str, more: &[&str]| {
        let words = [&["plan", "net.json", "--order", "as-in-file", "--capacity", bytes], more].concat();
        scratch.plimsoll(&words)
    };
    let text = plan("1600", &[]).exits(3).words();
    assert!(
        text.contains("capacity 1600 bytes: this plan is 800 bytes short, but another order fits"),
        "{text}"
    );
    assert!(
        text.contains("another order (--joint) needs 1500 bytes and fits with 100 bytes to spare"),
        "{text}"
    );
    let json = plan("1600", &["--json"]).exits(3).json();
    assert_eq!((&json["fits"], &json["another_order"]["arena"]), (&Value::Null, &1500.into()));
    assert_eq!(json["another_order"]["fits"], true);
    // The bound of the file order alone does not exclude 1450 bytes; the search over all orders does.
    let json = plan("1450", &["--json"]).exits(1).json();
    assert_eq!((&json["fits"], &json["shortfall_min"]), (&false.into(), &50.into()));
}

#[test]
fn models_are_solved_in_the_order_of_the_file() {
    let scratch = Scratch::new();
    scratch.write("net.json", NET);
    scratch.write("m.onnx", model(2));
    let solved = scratch.plimsoll(&["solve", "net.json", "-o", "layout.csv", "--certificate", "proof.json"]);
    let text = solved.exits(0).words();
    assert!(text.starts_with("model 5 operators, in the order of the file `plimsoll plan` also"), "{text}");
    assert!(text.contains("lower bound 2400 bytes (load at step 1, while 'grow2' runs)"), "{text}");
    let verified = scratch.plimsoll(&["verify", "net.json", "layout.csv", "--certificate", "proof.json"]);
    assert!(verified.exits(0).words().contains("certificate confirmed: claim 'optimal'"));
    let compared = scratch.plimsoll(&["compare", "net.json", "layout.csv", "--json"]).exits(0).json();
    assert_eq!(
        (&compared["layouts"][0]["verdict"], &compared["order"]),
        (&"optimal".into(), &"as-in-file".into())
    );
    let text = scratch.plimsoll(&["solve", "m.onnx", "--capacity", "100", "--batch", "3"]).exits(1).words();
    assert!(text.contains("smaller batches and spilling: plimsoll plan m.onnx --capacity 100"), "{text}");
    scratch.write("i.csv", "id,lower,upper,size\na,0,2,4\n");
    for (words, part) in [
        (
            &["solve", "i.csv", "--batch", "3"][..],
            "i.csv: options for models are not allowed with a CSV instance",
        ),
        (
            &["solve", "net.json", "--no-capacity"],
            "net.json: --no-capacity, --endpoints and --offsets are allowed only",
        ),
        (&["solve", "net.json", "--batch", "3"], "net.json: --batch 3: the option does not apply to a graph"),
        (&["solve", "none.onnx"], "none.onnx"),
    ] {
        scratch.plimsoll(words).refuses(&[part]);
    }
}

/// A graph whose operator runs one of two regions.
const BRANCHES: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "fork",
  "tensors": [ { "name": "c", "bytes": 1, "role": "input" }, { "name": "x", "bytes": 8, "role": "input" },
    { "name": "y", "bytes": 8, "role": "output" }, { "name": "t", "bytes": 64 }, { "name": "u", "bytes": 8 },
    { "name": "v", "bytes": 8 } ],
  "body": { "inputs": ["c", "x"], "outputs": ["y"], "operators": [
    { "kind": "If", "inputs": ["c"], "outputs": ["y"], "regions": [
      { "name": "then", "outputs": ["u"], "operators": [
        { "kind": "Conv", "inputs": ["x"], "outputs": ["t"] }, { "kind": "Relu", "inputs": ["t"], "outputs": ["u"] } ] },
      { "name": "else", "outputs": ["v"], "operators": [
        { "kind": "Neg", "inputs": ["x"], "outputs": ["v"] } ] } ] } ] } }"#;

#[test]
fn the_operators_of_branches_are_named() {
    let scratch = Scratch::new();
    scratch.write("fork.json", BRANCHES);
    let text = scratch.plimsoll(&["plan", "fork.json", "--capacity", "70"]).exits(1).words();
    assert!(text.contains("while 'Conv(t)' runs: t (64 bytes), x (8 bytes)"), "{text}");
    let json = scratch.plimsoll(&["plan", "fork.json", "--capacity", "70", "--json"]).exits(1).json();
    assert_eq!(json["needs"]["operator"], "Conv(t)");
    let solved = scratch.plimsoll(&["solve", "fork.json"]).exits(0).words();
    assert!(solved.contains("4 operators in 3 regions, in the order of the file"), "{solved}");
    assert!(solved.contains("while 'Conv(t)' runs"), "{solved}");
}
