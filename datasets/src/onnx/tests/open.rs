//! Tests the messages about unbound properties of inputs, and the options that bind them.

use super::{body, graph, int, model, node, read, shown};
use crate::import::{Import, ImportError, ImportOptions, ImportProblem};
use crate::onnx::proto::{Graph, Node, Type};

fn with(graph: &Graph, options: &ImportOptions) -> Result<Import, String> {
    read(&model(graph.clone()), options).map_err(|error| error.to_string())
}

fn defaults(extent: u64) -> ImportOptions {
    ImportOptions { dim_default: Some(extent), ..ImportOptions::default() }
}

/// Returns the options that a message proposes after `mark`.
fn proposed(message: &str, mark: &str) -> ImportOptions {
    let mut options = ImportOptions::default();
    let words: Vec<&str> =
        message.split(mark).nth(1).unwrap().split(", or ").next().unwrap().split(' ').collect();
    for pair in words.chunks(2) {
        let (name, value) = pair[1].rsplit_once('=').unwrap_or(("", pair[1]));
        let shape = || value.split('x').map(|extent| extent.parse().unwrap()).collect();
        match pair[0] {
            "--dim" => drop(options.dims.insert(name.to_owned(), value.parse().unwrap())),
            "--input-shape" => drop(options.input_shapes.insert(name.to_owned(), shape())),
            "--assume-bytes" => options.assume_bytes = value.parse().ok(),
            other => panic!("{other}"),
        }
    }
    options
}

#[test]
fn one_message_names_all_dimensions() {
    let nodes =
        [node("Add", "ids mask", "y", []), node("Relu", "audio", "z", []), node("Relu", "q", "w", [])];
    let inputs = [("ids", "batchxsequence"), ("mask", "batchxsequence"), ("audio", "1x?"), ("q", "*")];
    let open = graph(&inputs, nodes, "y z w");
    let message = with(&open, &ImportOptions::default()).unwrap_err();
    assert_eq!(
        message,
        "m.onnx: 3 dimensions have no value: batch ('ids' dimension 0, 'mask' dimension 0), \
         sequence ('ids' dimension 1, 'mask' dimension 1), dimension 1 of 'audio' (no name); 1 input has no shape: 'q'; \
         try --dim batch=1 --dim sequence=1 --input-shape audio=1x1 --input-shape q=1x1, \
         or --dim-default 1 --input-shape q=1x1"
    );
    assert!(with(&open, &proposed(&message, "try ")).is_ok());
    let mut default = defaults(3);
    default.input_shapes.insert("q".to_owned(), vec![4]);
    let import = with(&open, &default).unwrap();
    assert_eq!(["y", "z", "w"].map(|name| shown(&import, name)), ["float32:3x3", "float32:1x3", "float32:4"]);
    // Dimensions that have a value are not named in the message.
    default.dim_default = None;
    default.dims.insert("sequence".to_owned(), 5);
    default.batch = Some(2);
    let message = with(&open, &default).unwrap_err();
    assert_eq!(
        message,
        "m.onnx: 1 dimension has no value: dimension 1 of 'audio' (no name); try --input-shape audio=2x1, or --dim-default 1"
    );
}

#[test]
fn untyped_inputs_and_odd_names_are_named_too() {
    let mut open = graph(&[("x", "2")], [node("Relu", "x", "y", [])], "y");
    open.input[0].r#type = Some(Type::default());
    let message = with(&open, &ImportOptions::default()).unwrap_err();
    assert_eq!(
        message,
        "m.onnx: 1 input has no shape: 'x'; 1 input has no element type: 'x'; try --input-shape x=1x1 --assume-bytes 1024"
    );
    assert!(with(&open, &proposed(&message, "try ")).is_ok());
    let many: Vec<String> = (0..9).map(|at| format!("x{at}")).collect();
    let inputs: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "n-1")).collect();
    let message =
        with(&graph(&inputs, [node("Relu", "x0", "y", [])], "y"), &ImportOptions::default()).unwrap_err();
    assert_eq!(
        message,
        "m.onnx: 1 dimension has no value: n-1 ('x0' dimension 0, 'x1' dimension 0, 'x2' dimension 0, and 6 more); \
         try --dim n-1=1, or --dim-default 1"
    );
    let odd = graph(&[("x", "floor(n / 2)")], [node("Relu", "x", "y", [])], "y");
    let message = with(&odd, &ImportOptions::default()).unwrap_err();
    assert!(message.ends_with("try --dim 'floor(n / 2)=1', or --dim-default 1"), "{message}");
}

/// Returns a graph in which `s` must be 4, because the weights have 4 rows.
fn strict() -> Graph {
    let mut strict = graph(&[("x", "bxs")], [node("Relu", "x", "r", []), node("Add", "r w", "y", [])], "y");
    strict.initializer = vec![super::floats("w", &[4, 4], &[0.5; 16])];
    strict.node[1].op_type = "MatMul".to_owned();
    strict
}

#[test]
fn values_that_fit_are_found() {
    let message = with(&strict(), &ImportOptions::default()).unwrap_err();
    assert_eq!(
        message,
        "m.onnx: 2 dimensions have no value: b ('x' dimension 0), s ('x' dimension 1); try --dim b=1 --dim s=4"
    );
    assert_eq!(shown(&with(&strict(), &proposed(&message, "try ")).unwrap(), "y"), "float32:1x4");
    let message = with(&strict(), &defaults(1)).unwrap_err();
    assert!(
        message.ends_with("; free dimensions on which it depends: b=1 (--dim-default 1), s=1 (--dim-default 1); these work: --dim b=1 --dim s=4"),
        "{message}"
    );
    let mut given = ImportOptions { batch: Some(2), ..ImportOptions::default() };
    given.dims.insert("s".to_owned(), 5);
    let message = with(&strict(), &given).unwrap_err();
    assert!(message.contains("operator 1 'y' (MatMul): tensor 'y': "), "{message}");
    assert!(
        message.ends_with("; free dimensions on which it depends: b=2 (--batch 2), s=5 (--dim s=5)"),
        "{message}"
    );
    assert!(matches!(
        read(&model(strict()), &given),
        Err(ImportError::File { problem: ImportProblem::Misfit { .. }, .. })
    ));
}

fn valued(name: &str, list: &[i64]) -> ImportOptions {
    let values = [(name.to_owned(), list.to_vec())].into();
    ImportOptions { values, ..ImportOptions::default() }
}

#[test]
fn values_of_inputs_decide_shapes() {
    let inputs = [("x", "2x6"), ("size", "int64:n"), ("scale", "int32:1")];
    let nodes = [
        node("Cast", "scale", "k", [int("to", 7)]),
        node("Mul", "size k", "s", []),
        node("Reshape", "x s", "y", []),
    ];
    let mut sized = graph(&inputs, nodes, "y");
    let mut both = valued("size", &[2, 3]);
    both.values.insert("scale".to_owned(), vec![1]);
    both.values.insert("size".to_owned(), vec![3, 4]);
    assert_eq!(shown(&with(&sized, &both).unwrap(), "y"), "float32:3x4");
    // The number of values determines the extent. The message names the input that decides the shape.
    let message =
        with(&sized, &ImportOptions { dims: [("n".to_owned(), 2)].into(), ..ImportOptions::default() });
    let message = message.unwrap_err();
    assert!(
        message.contains(
            "; --value size=1,1 gives input 'size' a value; --value scale=1 gives input 'scale' a value; \
             --tensor-shape y=AxB gives it a shape; --assume-bytes gives"
        ),
        "{message}"
    );
    let refused = |options: &ImportOptions| with(&sized, options).unwrap_err();
    let mut wrong = valued("size", &[2, 6]);
    wrong.dims.insert("n".to_owned(), 3);
    assert_eq!(refused(&wrong), "m.onnx: --value size=2,6: 2 values, but the input is 3");
    assert_eq!(
        refused(&valued("sizes", &[1])),
        "m.onnx: --value sizes=1: no input of that name; there are scale, size, x"
    );
    let mut large = valued("scale", &[1 << 40]);
    large.dims.insert("n".to_owned(), 2);
    assert_eq!(
        refused(&large),
        "m.onnx: --value scale=1099511627776: not all of them are values of type int32"
    );
    // An input of which only the shape is read is not proposed.
    sized.node[0] = node("Shape", "scale", "k", []);
    let named = ImportOptions { dims: [("n".to_owned(), 1)].into(), ..ImportOptions::default() };
    let message = with(&sized, &named).unwrap_err();
    assert!(message.contains("--value size=1 gives") && !message.contains("--value scale"), "{message}");
}

#[test]
fn shapes_of_tensors_inside_are_given() {
    let magic = Node { domain: "odd".to_owned(), ..node("Magic", "x", "m", []) };
    let then = graph(&[], [magic, node("Relu", "m", "t", [])], "t");
    let otherwise = graph(&[], [node("Relu", "x", "e", [])], "e");
    let branches = [body("then_branch", then), body("else_branch", otherwise)];
    let given = graph(&[("x", "float16:2x3"), ("c", "bool:")], [node("If", "c", "y", branches)], "y");
    let shaped = |name: &str, shape: &[u64]| {
        let tensor_shapes = [(name.to_owned(), shape.to_vec())].into();
        with(&given, &ImportOptions { tensor_shapes, ..ImportOptions::default() })
    };
    let import = shaped("m", &[2, 3]).unwrap();
    assert_eq!([shown(&import, "m"), shown(&import, "y")], ["float16:2x3"; 2]);
    assert_eq!(
        import.assumed,
        ["operator 1 'm' (odd.Magic): 'm' has elements of type float16, like its input"]
    );
    let both = [("m".to_owned(), vec![2, 3]), ("e".to_owned(), vec![2, 4])].into();
    assert_eq!(
        with(&given, &ImportOptions { tensor_shapes: both, ..ImportOptions::default() }).unwrap_err(),
        "m.onnx: --tensor-shape e=2x4: operator 3 'e' (Relu) produces 2x3"
    );
    assert_eq!(
        shaped("mm", &[2]).unwrap_err(),
        "m.onnx: --tensor-shape mm=2: no tensor of that name; similar names: m, c, e"
    );
    assert_eq!(
        shaped("x", &[2]).unwrap_err(),
        "m.onnx: --tensor-shape x=2: it is an input of the model: --input-shape gives its shape"
    );
    assert!(
        with(&given, &ImportOptions::default()).unwrap_err().ends_with(
            "operators of domain odd are not known; --tensor-shape m=AxB gives it a shape; --assume-bytes gives such tensors a size"
        )
    );
}

#[test]
fn values_with_which_all_branches_run_go_ahead() {
    let branch =
        |weights: &str, name: &str| graph(&[], [node("MatMul", &format!("x {weights}"), name, [])], name);
    let branches = [body("then_branch", branch("v", "t")), body("else_branch", branch("w", "e"))];
    let mut choosing = graph(&[("x", "1xs"), ("c", "bool:")], [node("If", "c", "y", branches)], "y");
    let weights = |name: &str, rows: i64| super::floats(name, &[rows, 4], &vec![0.5; 4 * rows as usize]);
    choosing.initializer = vec![weights("v", 16), weights("w", 2)];
    let message = with(&choosing, &ImportOptions::default()).unwrap_err();
    assert!(message.ends_with("try --dim s=2"), "{message}");
    choosing.initializer = vec![weights("v", 16), weights("w", 16)];
    let first = &mut choosing.node[0].attribute[1].g.as_mut().unwrap().node[0];
    first.op_type = "Add".to_owned();
    choosing.initializer[1] = super::floats("w", &[1, 16], &[0.5; 16]);
    let message = with(&choosing, &ImportOptions::default()).unwrap_err();
    assert!(message.ends_with("try --dim s=16"), "{message}");
}

#[test]
fn extents_that_grow_together_are_found() {
    let pool = [super::ints("kernel_shape", &[5, 5])];
    let image = graph(&[("x", "nx3xhxw")], [node("MaxPool", "x", "y", pool)], "y");
    let message = with(&image, &ImportOptions::default()).unwrap_err();
    assert!(message.ends_with("try --dim n=1 --dim h=8 --dim w=8"), "{message}");
}
