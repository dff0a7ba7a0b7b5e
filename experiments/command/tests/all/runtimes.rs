//! Tests plans that runtimes and other tools read: `plan --write`, `plan --format` and `plimsoll-minimalloc`.

use crate::common::{Run, Scratch};
use plimsoll::datasets::{Import, ImportOptions, MicroArena, ModelFile, ModelFormat, import_file};
use plimsoll::model::csv::{ReadOptions, capacity_from_name, read_instance_file, read_layout_file};
use plimsoll::model::graph::{AliasKind, Role};
use plimsoll::model::{Bytes, check_layout};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a small model in the repository.
fn seed(name: &str) -> PathBuf {
    let (_, suffix) = name.split_once('.').unwrap();
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/seeds/{suffix}_model/{name}"))
}

fn read(path: &Path) -> Import {
    import_file(path, &ImportOptions::default()).unwrap()
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the offsets stored in a written model, and the offset problem of that model in the runtime.
fn micro(path: &Path) -> (Vec<i32>, MicroArena) {
    let file = ModelFile::new(path, ModelFormat::TfLite, std::fs::read(path).unwrap());
    (file.offsets().unwrap().unwrap(), file.micro_arena(&|how, _, _| how == AliasKind::View).unwrap())
}

#[test]
fn a_tflite_model_takes_its_plan() {
    let scratch = Scratch::new();
    for name in ["chain.tflite", "regions.tflite"] {
        let model = seed(name);
        let path = model.display().to_string();
        let out = scratch.path("out.tflite");
        let plan = json(&scratch.plimsoll(&["plan", &path, "--write", "out.tflite", "--json"]).exits(0));
        let (offsets, arena) = micro(&out);
        let layout = arena.layout(|tensor| u64::try_from(offsets[tensor]).ok().map(Into::into));
        let layout = layout.expect("every tensor has an offset");
        assert_eq!(check_layout(&arena.instance, &layout), [], "{name}");
        assert_eq!(plan["written"]["arena"], arena.arena(&layout).get());
        assert!(offsets.iter().all(|offset| offset % 16 == 0 || *offset == -1), "{offsets:?}");
        // The written model can be read, needs the same arena, and accepts the same plan again.
        let words = ["plan", "out.tflite", "--order", "as-in-file", "--align", "16", "--no-states", "--json"];
        let again = json(&scratch.plimsoll(&[&words[..], &["--write", "again.tflite"]].concat()).exits(0));
        assert_eq!(again["arena"], plan["arena"], "{name}");
        assert_eq!(read(&out).graph.tensors().len(), read(&model).graph.tensors().len());
        assert_eq!(std::fs::read(scratch.path("again.tflite")).unwrap(), std::fs::read(&out).unwrap());
        let bytes = std::fs::read(&out).unwrap();
        assert!(
            bytes.ends_with(&std::fs::read(&model).unwrap()),
            "{name}: the order of the file is the best"
        );
    }
}

#[test]
fn an_onnx_model_takes_its_plan() {
    let scratch = Scratch::new();
    for name in ["branch.onnx", "loop.onnx", "convolution.onnx", "shapes.onnx"] {
        let model = seed(name).display().to_string();
        let words = ["plan", &model, "--dim-default", "4", "--assume-bytes", "64", "--json"];
        let plan = json(&scratch.plimsoll(&[&words[..], &["--write", "out.onnx"]].concat()).exits(0));
        let words = ["plan", "out.onnx", "--dim-default", "4", "--assume-bytes", "64", "--json"];
        let again = json(&scratch.plimsoll(&[&words[..], &["--order", "as-in-file"]].concat()).exits(0));
        assert_eq!(again["arena"], plan["arena"], "{name}");
        let text = String::from_utf8_lossy(&std::fs::read(scratch.path("out.onnx")).unwrap()).into_owned();
        assert!(text.contains("plimsoll.plan") && text.contains("plimsoll.arena"), "{name}");
    }
}

/// `npu.tflite` has a compiled operator, whose scratch memory of 320 bytes contains its other operands. Two
/// tensors of 96 bytes lie outside.
#[test]
fn a_compiled_model_keeps_its_addresses() {
    let scratch = Scratch::new();
    let npu = seed("npu.tflite").display().to_string();
    let run = scratch.plimsoll(&["plan", &npu, "--capacity", "512", "--tensors", "t.csv"]).exits(0);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("capacity 512 bytes: fits without"), "{text}");
    assert!(
        text.contains("5 of them keep their relative addresses, which the code of npu may contain"),
        "{text}"
    );
    scratch.plimsoll(&["plan", &npu, "--capacity", "511"]).exits(1);
    let rows = scratch.read("t.csv");
    let row = |name: &str| -> Vec<String> {
        let row = rows.lines().find(|line| line.starts_with(&format!("0:body,{name},"))).expect(name);
        row.split(',').map(str::to_owned).collect()
    };
    let offset = |name: &str| row(name)[3].parse::<u64>().unwrap();
    let inside = ["x", "a", "b", "y"].map(|name| (row(name)[6].clone(), offset(name) - offset("s")));
    assert_eq!(inside.map(|(of, at)| (of == "s", at)), [(true, 208), (true, 0), (true, 64), (true, 16)]);
    // A written model keeps the positions, and so does a model written from it.
    let words = ["plan", &npu, "--align", "32", "--write", "out.tflite", "--json"];
    let plan = json(&scratch.plimsoll(&words).exits(0));
    assert_eq!(plan["written"]["arena"], 512);
    assert_eq!((&plan["written"]["in_file"], &plan["written"]["greedy"]), (&Value::from(512), &Value::Null));
    scratch.plimsoll(&["plan", "out.tflite", "--write", "again.tflite"]).exits(0);
    for name in ["out.tflite", "again.tflite"] {
        let (offsets, arena) = micro(&scratch.path(name));
        assert!(arena.is_compiled(), "{name}");
        let inside: Vec<i32> = offsets.iter().take(5).map(|offset| offset - offsets[0]).collect();
        assert_eq!(inside, [0, 208, 0, 64, 16], "{name}");
        let audit = json(&scratch.plimsoll(&["audit", name, "--max-gap", "0", "--json"]).exits(0));
        assert_eq!((&audit["planner_peak"], &audit["verdict"]), (&Value::from(512), &Value::from("optimal")));
    }
    // Another order is impossible, and other sizes do not fit the code.
    scratch
        .plimsoll(&["plan", &npu, "--batch", "48"])
        .refuses(&["'x', whose address compiled code may contain"]);
}

#[test]
fn the_plan_in_a_model_is_audited() {
    let scratch = Scratch::new();
    let regions = seed("regions.tflite").display().to_string();
    scratch.plimsoll(&["audit", &regions]).refuses(&["there is no plan to audit"]);
    let plan = json(&scratch.plimsoll(&["plan", &regions, "--write", "out.tflite", "--json"]).exits(0));
    let audit = json(&scratch.plimsoll(&["audit", "out.tflite", "--json"]).exits(0));
    assert_eq!(audit["planner_peak"], plan["written"]["arena"]);
    assert_eq!(
        (&audit["planner"], &audit["valid"]),
        (&"OfflineMemoryAllocation in the file".into(), &true.into())
    );
    scratch
        .plimsoll(&["audit", "out.tflite", "--align", "64"])
        .refuses(&["do not apply to the plan in the file"]);
    // A plan in which all tensors begin at 0 is not valid. Folders contain plans, too.
    let file = ModelFile::new(
        Path::new("out"),
        ModelFormat::TfLite,
        std::fs::read(scratch.path("out.tflite")).unwrap(),
    );
    let offsets: Vec<i32> = file.offsets().unwrap().unwrap().iter().map(|&offset| offset.min(0)).collect();
    std::fs::create_dir(scratch.path("plans")).unwrap();
    std::fs::write(scratch.path("plans/zero.tflite"), file.with_offsets(&offsets).unwrap().bytes()).unwrap();
    scratch.plimsoll(&["audit", "plans/zero.tflite"]).exits(1);
    std::fs::write(scratch.path("plans/good.tflite"), file.bytes()).unwrap();
    std::fs::copy(&regions, scratch.path("plans/none.tflite")).unwrap();
    let audit = json(&scratch.plimsoll(&["audit", "plans", "--json"]).exits(1));
    assert_eq!((&audit["plans"], &audit["files_without_plan"]), (&Value::from(2), &Value::from(1)));
    // The plan of another planner may be replaced, which a note reports.
    let run = scratch.plimsoll(&["plan", "plans/good.tflite"]).exits(0);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("no operator contains its addresses, so another plan may replace it"), "{text}");
}

/// Returns the largest size of an element of a tensor that is not a weight.
fn largest_element(path: &Path) -> u64 {
    let options = ImportOptions { dim_default: Some(3), assume_bytes: Some(64), ..ImportOptions::default() };
    let graph = import_file(path, &options).unwrap().graph;
    let elements = graph.tensors().iter().filter(|tensor| tensor.role != Role::Weight);
    let sizes = elements.map(|tensor| match tensor.element.as_deref() {
        Some("float64" | "int64" | "uint64") => 8,
        Some("float32" | "int32" | "uint32") => 4,
        Some("float16" | "int16" | "uint16") => 2,
        _ => 1,
    });
    sizes.max().unwrap_or(1)
}

#[test]
fn headers_are_aligned_to_elements_and_runtimes() {
    let scratch = Scratch::new();
    let mixed = r#"{ "format": "plimsoll-graph", "version": 1, "name": "mixed", "tensors": [
        { "name": "x", "bytes": 253, "role": "input", "element": "int8" },
        { "name": "y", "bytes": 24, "role": "output", "element": "double", "shape": [3] },
        { "name": "z", "bytes": 12, "role": "output", "element": "f32" } ],
        "body": { "inputs": ["x"], "outputs": ["y", "z"], "operators": [
            { "kind": "F", "inputs": ["x"], "outputs": ["y"] }, { "kind": "F", "inputs": ["x"], "outputs": ["z"] } ] } }"#;
    let mixed = scratch.write("mixed.json", mixed);
    let names =
        ["chain.tflite", "regions.tflite", "npu.tflite", "branch.onnx", "loop.onnx", "convolution.onnx"];
    let models = names.iter().map(|name| (seed(name), 0)).chain([(mixed, 8)]);
    for (model, least) in models {
        let is_tflite = model.extension().is_some_and(|suffix| suffix == "tflite");
        let is_onnx = model.extension().is_some_and(|suffix| suffix == "onnx");
        let path = model.display().to_string();
        let least = match () {
            () if is_tflite => 16,
            () if is_onnx => largest_element(&model),
            () => least,
        };
        for words in [&["plan"][..], &["plan", "--joint"]] {
            let free: &[&str] = if is_onnx { &["--dim-default", "3", "--assume-bytes", "64"] } else { &[] };
            scratch.plimsoll(&[words, &[&path, "--tensors", "x.h"], free].concat()).exits(0);
            let header = scratch.read("x.h");
            let rows = header.lines().filter_map(|line| line.trim().strip_prefix("{ ")?.split(", ").nth(1));
            let offsets: Vec<u64> = rows.map(|offset| offset.parse().unwrap()).collect();
            assert!(offsets.iter().all(|offset| offset % least == 0), "{path}: {offsets:?}");
            let define = header.lines().find_map(|line| line.split_once("_ALIGN ")).expect("an alignment");
            assert_eq!(define.1.parse::<u64>().unwrap(), least, "{path}");
        }
    }
    // An alignment that is too small is used as it is, and a line reports it.
    let words = ["plan", "mixed.json", "--align", "4", "--tensors", "x.h"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.contains("--align 4 bytes, but the largest elements have 8 bytes"), "{}", run.stdout);
    assert!(scratch.read("x.h").contains("MIXED_ALIGN 4\n"));
    let run = scratch.plimsoll(&["solve", "mixed.json", "--output", "y.h"]).exits(0);
    assert!(scratch.read("y.h").contains("MIXED_ALIGN 8\n"), "{}", run.stdout);
}

/// In the last iteration, `x`, its transpose, five rows, the new row and six rows are live.
#[test]
fn a_growing_loop_is_planned_for_its_last_iteration() {
    let (scratch, model) = (Scratch::new(), seed("growing.onnx").display().to_string());
    let plan = json(&scratch.plimsoll(&["plan", &model, "--json"]).exits(0));
    assert_eq!((&plan["arena"], &plan["claim"]), (&(1536 + 1).into(), &"optimal".into()));
    for command in ["import", "order", "plan"] {
        scratch.plimsoll(&[command, &model, "--trips", "3"]).refuses(&["--trips 3: the model has no loop"]);
    }
}

#[test]
fn plans_that_no_file_can_hold_are_refused() {
    let scratch = Scratch::new();
    let chain = seed("chain.tflite").display().to_string();
    let graph = "{\"format\":\"plimsoll-graph\",\"version\":1,\"name\":\"g\",\"tensors\":[],\"body\":{\"name\":\"body\",\"inputs\":[],\"outputs\":[],\"operators\":[]}}";
    scratch.write("g.json", graph);
    let refuses = |words: &[&str], parts: &[&str]| drop(scratch.plimsoll(words).refuses(parts));
    refuses(&["plan", "g.json", "--write", "out.tflite"], &["a graph (.json) is not in the format"]);
    refuses(&["plan", &chain, "--write", "out.onnx"], &["the model keeps its format", "ending in .tflite"]);
    refuses(&["plan", &chain, "--write", "out.json"], &["the output is a model"]);
    refuses(&["plan", &chain, "--write", "out.tflite", "--align", "8"], &["--align 8", "a multiple of 16"]);
    refuses(&["plan", &chain, "--write", &chain], &["it is an input of this command"]);
    refuses(&["plan", &chain, "--format", "json", "--tensors", "x.csv"], &["the output is JSON, not CSV"]);
    scratch.plimsoll(&["plan", &chain, "--format", "json", "--compare"]).exits(2);
}

#[test]
fn scratch_memory_is_planned_with_the_tensors() {
    let scratch = Scratch::new();
    let chain = seed("chain.tflite").display().to_string();
    let plan = |more: &[&str]| {
        let words = ["plan", &chain, "--write", "out.tflite", "--json"];
        json(&scratch.plimsoll(&[&words[..], more].concat()).exits(0))
    };
    let before = plan(&[]);
    scratch.write("s.csv", "subgraph,operator,bytes\n0,1,4000\n0,1,20\n");
    let over = scratch.plimsoll(&["plan", &chain, "--scratch", "s.csv", "--tensors", "s.csv"]);
    over.refuses(&["it is an input of this command"]);
    let after = plan(&["--scratch", "s.csv"]);
    let number = |plan: &Value, key: &str| plan["written"][key].as_u64().unwrap();
    assert!(number(&after, "arena") >= number(&before, "arena").max(4032), "{after}");
    assert_eq!(after["written"]["arena"], after["arena"], "the runtime places the scratch as planned");
    assert!(number(&after, "arena") <= number(&after, "greedy"));
    let refuses = |text: &str, part: &str| {
        scratch.write("s.csv", text);
        scratch.plimsoll(&["plan", &chain, "--scratch", "s.csv"]).refuses(&[part]);
    };
    refuses(
        "operator,bytes\n0,1\n",
        "line 1: the header is 'operator,bytes'; expected subgraph,operator,bytes",
    );
    refuses("subgraph,operator,bytes\n0,1,1\n0,x,1\n", "s.csv: line 3: operator 'x' is not a whole number");
    refuses("subgraph,operator,bytes\n0,9,1\n", "operator 9 of subgraph 0: the subgraph has 3 operators");
    let onnx = seed("convolution.onnx").display().to_string();
    scratch.plimsoll(&["plan", &onnx, "--scratch", "s.csv"]).refuses(&["only to models of TFLite"]);
}

#[test]
fn a_capacity_includes_persistent_data() {
    let scratch = Scratch::new();
    let chain = seed("chain.tflite").display().to_string();
    let plan = |capacity: u64, more: &[&str]| {
        let capacity = capacity.to_string();
        scratch.plimsoll(&[&["plan", &chain, "--capacity", &capacity, "--json"], more].concat())
    };
    let micro = plan(100_000, &[]).exits(0).json()["tflite_micro"].clone();
    let [head, tail, start, arena] =
        ["head", "tail", "start", "arena"].map(|key| micro[key].as_u64().unwrap());
    assert_eq!(arena, (head + tail).max(start));
    assert!(tail > 900 && micro["pointer_bytes"] == 8, "{micro}");
    assert_eq!(plan(arena, &[]).exits(0).json()["fits"], true);
    // The tensors alone would fit.
    let short = plan(arena - 1, &[]);
    assert_ne!(short.code, 0);
    assert_eq!(short.json()["shortfall_max"], 1);
    let small = plan(arena, &["--pointers", "32"]).exits(0).json();
    assert!(small["tflite_micro"]["tail"].as_u64().unwrap() < tail);
    // Other assumptions are not those of the runtime.
    let text = scratch.plimsoll(&["plan", &chain, "--capacity", "100000", "--boundary", "outside"]);
    assert!(text.exits(0).words().contains("the persistent data of the runtime"));
}

#[test]
fn a_plan_that_is_worse_than_none_is_not_written() {
    let scratch = Scratch::new();
    let model = seed("regions.tflite").display().to_string();
    let run = scratch.plimsoll(&["plan", &model, "--algorithm", "naive", "--write", "out.tflite"]).exits(3);
    assert!(run.stderr.contains("but tflite-micro needs"), "{}", run.stderr);
    assert!(!scratch.path("out.tflite").exists());
}

#[test]
fn the_placement_has_three_formats() {
    let scratch = Scratch::new();
    let chain = seed("chain.tflite").display().to_string();
    let run = scratch.plimsoll(&["plan", &chain, "--format", "json"]).exits(0);
    assert!(run.stderr.starts_with("sizes: ") || run.stderr.contains("arena"), "{}", run.stderr);
    let plan = json(&run);
    assert_eq!(plan["operators"].as_array().unwrap().len(), 3);
    let tensors = plan["tensors"].as_array().unwrap();
    let of = |name: &str| tensors.iter().find(|row| row["tensor"] == name).unwrap();
    assert_eq!((&of("x")["index"], &of("x")["operator"]), (&Value::from(0), &Value::Null));
    assert_eq!(of("y")["operator"], 0);
    // The suffix selects CSV or JSON, which contain the same rows.
    scratch.plimsoll(&["plan", &chain, "--tensors", "t.csv"]).exits(0);
    assert_eq!(scratch.read("t.csv").lines().count(), tensors.len() + 1);
    scratch.plimsoll(&["plan", &chain, "--tensors", "t.json"]).exits(0);
    assert_eq!(serde_json::from_str::<Value>(&scratch.read("t.json")).unwrap(), plan);
    scratch.plimsoll(&["plan", &chain, "--tensors", "plain", "--format", "json"]).exits(0);
    assert_eq!(scratch.read("plain"), scratch.read("t.json"));
}

/// A graph whose best order is not that of the file. `idle` has no reader, which adds a step before the first
/// operator, and `pool` needs scratch memory.
const IDLE: &str = r#"{ "format": "plimsoll-graph", "version": 1, "name": "idle",
  "tensors": [
    { "name": "x", "bytes": 9, "role": "input" }, { "name": "idle", "bytes": 3, "role": "input" },
    { "name": "y", "bytes": 2, "role": "output" }, { "name": "left", "bytes": 80 },
    { "name": "right", "bytes": 60 }, { "name": "a", "bytes": 4 }, { "name": "b", "bytes": 5 } ],
  "body": { "inputs": ["x", "idle"], "outputs": ["y"], "operators": [
    { "name": "grow", "kind": "Conv", "inputs": ["x"], "outputs": ["left"] },
    { "name": "rise", "kind": "Conv", "inputs": ["x"], "outputs": ["right"] },
    { "name": "pool", "kind": "MaxPool", "inputs": ["left"], "outputs": ["a"], "scratch": 7 },
    { "name": "fold", "kind": "MaxPool", "inputs": ["right"], "outputs": ["b"] },
    { "name": "join", "kind": "Concat", "inputs": ["a", "b"], "outputs": ["y"] } ] } }"#;

#[test]
fn operators_of_a_placement_have_steps_of_the_plan() {
    let scratch = Scratch::new();
    scratch.write("idle.json", IDLE);
    let regions = seed("regions.tflite").display().to_string();
    for (model, first) in [("idle.json", 1), (&*regions, 1)] {
        let plan = json(&scratch.plimsoll(&["plan", model, "--format", "json"]).exits(0));
        let operators = plan["operators"].as_array().unwrap();
        assert_eq!(operators[0]["lower"], first);
        for tensor in plan["tensors"].as_array().unwrap() {
            let is_own =
                |one: &&Value| one["region"] == tensor["region"] && one["step"] == tensor["operator"];
            let Some(writer) = operators.iter().find(is_own) else { continue };
            let [lower, upper] = ["lower", "upper"].map(|member| writer[member].as_u64().unwrap());
            let [from, to] = ["lower", "upper"].map(|member| tensor[member].as_u64().unwrap());
            assert!(from < upper && lower < to, "{tensor} is not live during {writer}");
        }
    }
    let plan = json(&scratch.plimsoll(&["plan", "idle.json", "--format", "json"]).exits(0));
    let of = |list: &str, member: &str, name: &str| {
        let rows = plan[list].as_array().unwrap();
        rows.iter().find(|row| row[member] == name).unwrap().clone()
    };
    assert_eq!(of("tensors", "tensor", "a")["operator"], of("operators", "operator", "pool")["step"]);
    let memory = of("tensors", "tensor", "scratch of pool#2");
    assert_eq!(memory["operator"], of("operators", "operator", "pool")["step"]);
    assert_eq!(memory["lower"], of("operators", "operator", "pool")["lower"]);
}

#[test]
#[cfg(unix)]
fn the_header_compiles() {
    let scratch = Scratch::new();
    let (chain, regions) = (seed("chain.tflite"), seed("regions.tflite"));
    let [chain, regions] = [chain, regions].map(|path| path.display().to_string());
    scratch.plimsoll(&["plan", &chain, "--tensors", "chain.h"]).exits(0);
    scratch.plimsoll(&["plan", &regions, "--tensors", "regions.h"]).exits(0);
    let plan = json(&scratch.plimsoll(&["plan", &chain, "--align", "16", "--format", "json"]).exits(0));
    let source = "
        #include \"chain.h\"
        #include \"regions.h\"
        #include <stdio.h>
        int main(void) {
            size_t end = 0;
            for (int i = 0; i < CHAIN_TENSORS; i++) {
                const struct plimsoll_tensor *t = &chain_tensors[i];
                const size_t last = (t->offset + t->size + CHAIN_ALIGN - 1) / CHAIN_ALIGN * CHAIN_ALIGN;
                if (last > end) end = last;
            }
            printf(\"%lu %d %ld %lu %d\\n\", (unsigned long)end, CHAIN_ARENA, chain_operators[0],
                   (unsigned long)regions_tensors[0].size, REGIONS_OPERATORS);
            return end <= CHAIN_ARENA && CHAIN_SIZE_X == 108 ? 0 : 1;
        }";
    scratch.write("main.c", source);
    let words = ["-std=c99", "-pedantic-errors", "-Wall", "-Werror", "main.c", "-o", "main"];
    let compiled = Command::new("cc").args(words).current_dir(scratch.path("")).status();
    assert!(compiled.expect("a C compiler").success());
    let run = Command::new(scratch.path("main")).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{text}");
    let arena = plan["arena"].as_u64().unwrap();
    assert!(text.starts_with(&format!("{arena} {arena} 0 ")), "{text}");
}

/// Runs `plimsoll-minimalloc` in a folder.
fn minimalloc(scratch: &Scratch, words: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-minimalloc"));
    Run::from(command.current_dir(scratch.path("")).args(words).output().unwrap())
}

const INPUT: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

#[test]
fn the_example_of_minimalloc_is_solved() {
    let scratch = Scratch::new();
    let input = scratch.write("in.csv", INPUT);
    let solve = |capacity: &str| {
        minimalloc(&scratch, &[&format!("--capacity={capacity}"), "--input=in.csv", "--output=out.csv"])
    };
    let run = solve("12").exits(0);
    assert!(run.stdout.is_empty() && run.stderr.starts_with("Elapsed time "), "{}", run.stderr);
    let text = scratch.read("out.csv");
    assert!(text.starts_with("id,lower,upper,size,offset\nb1,0,3,4,"), "{text}");
    let instance = read_instance_file(&input, ReadOptions::default()).unwrap();
    let layout = read_layout_file(&scratch.path("out.csv"), &instance).unwrap();
    assert!(check_layout(&instance, &layout).is_empty() && layout.peak(&instance).get() <= 12);
    std::fs::remove_file(scratch.path("out.csv")).unwrap();
    let run = solve("11").exits(1);
    assert!(run.stderr.contains("NOT_FOUND: "), "{}", run.stderr);
    assert!(!scratch.path("out.csv").exists(), "no layout, no file");
    // If no capacity is given, it is 0.
    minimalloc(&scratch, &["--input", "in.csv"]).exits(1);
}

#[test]
fn flags_of_minimalloc_have_their_syntax() {
    let scratch = Scratch::new();
    scratch.write("in.csv", INPUT);
    let words =
        ["-capacity", "99", "--input", "in.csv", "--output=out.csv", "--minimize_capacity", "--validate"];
    let run = minimalloc(&scratch, &[&words[..], &["--nocanonical_only", "--timeout=1h", "extra"]].concat())
        .exits(0);
    assert!(run.stderr.ends_with("Validation PASS, height 12\n"), "{}", run.stderr);
    let fails = |words: &[&str], part: &str| {
        let run = minimalloc(&scratch, words).exits(1);
        assert!(run.stderr.contains(part) && run.stdout.is_empty(), "{words:?}: {}", run.stderr);
    };
    fails(&["--capacty=12"], "ERROR: Unknown command line flag 'capacty'");
    fails(&["--capacity=x", "--input=in.csv"], "Illegal value 'x' specified for flag 'capacity'");
    fails(&["--timeout=5", "--input=in.csv"], "Illegal value '5' specified for flag 'timeout'");
    fails(&["--validate=maybe", "--input=in.csv"], "Illegal value 'maybe'");
    fails(&["--input"], "Missing the value for the flag 'input'");
    fails(&["--input=none.csv"], "Opening file none.csv failed");
    fails(&["--print_solution", "--input=in.csv"], "not supported");
    fails(&["--help"], "--minimize_capacity");
    fails(&["--capacity=12", "--input=in.csv", "--output=none/out.csv"], "Writing file none/out.csv failed");
}

#[test]
fn formats_of_minimalloc_are_read() {
    let scratch = Scratch::new();
    let solve = |text: &str| {
        scratch.write("in.csv", text);
        minimalloc(&scratch, &["--capacity=64", "--input=in.csv", "--output=out.csv"])
    };
    // The input has inclusive ends, other column names, repeated ids, negative steps, gaps, alignments, a
    // hint and an unknown column.
    let text = "size,buffer_id,start,end,gaps,alignment,hint,note\n8,a,-2,5,0-2,1,-1,x\n8,a,-2,5,,16,3,y\n";
    solve(text).exits(0);
    let written = scratch.read("out.csv");
    let expected = "id,lower,upper,size,alignment,hint,gaps,offset\na,-2,6,8,1,-1,0-3,";
    assert!(written.starts_with(expected), "{written}");
    assert_eq!(written.lines().count(), 3);
    // Reading ends at the first empty line.
    solve("id,lower,upper,size\na,0,1,8\n\nnothing").exits(0);
    assert_eq!(scratch.read("out.csv"), "id,lower,upper,size,offset\na,0,1,8,0\n");
    // The input has a fixed offset and a lifespan of length 0.
    solve("id,lower,upper,size,offset\na,0,4,8,8\nb,2,2,64,0\n").exits(0);
    assert!(scratch.read("out.csv").contains("a,0,4,8,8\n"));
    solve("id,lower,upper,size\n").exits(0);
    assert_eq!(scratch.read("out.csv"), "id,lower,upper,size,offset\n");
    // Ends are open, also below a negative step.
    solve("id,start,end,size,gaps\na,-3,-1,8,\nb,2,-1,8,\nc,1,inf,8,4-6\nd,0,5,4,\n").exits(0);
    let rows = scratch.read("out.csv");
    assert!(
        rows.contains("a,-3,0,8,") && rows.contains("b,2,8,8,") && rows.contains("c,1,8,8,4-7"),
        "{rows}"
    );
    let fails = |text: &str, part: &str| {
        let run = solve(text).exits(1);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    };
    fails("", "column 'id' is missing");
    fails("id,lower,start,size\n", "two columns have the same name");
    fails("id,lower,upper,size\na,0,1\n", "in.csv: line 2: 3 fields instead of 4");
    fails("id,lower,upper,size\na,0,x,1\n", "line 2: column 'upper': 'x' is not an integer");
    fails("id,lower,upper,size,gaps\na,0,9,1,2-4@0:1\n", "memory used during a gap is not supported");
    fails("id,lower,upper,size\na,5,3,1\n", "buffer 'a': ");
    fails("id,lower,upper,size\na,0,3,-1\n", "buffer 'a': size -1");
}

/// Returns the columns of a layout without its offsets, and whether the layout is valid at this capacity.
fn checked(layout: &Path, input: &Path, capacity: Bytes) -> (Vec<String>, bool) {
    let instance = read_instance_file(input, ReadOptions::default()).unwrap();
    let offsets = read_layout_file(layout, &instance).unwrap();
    let text = std::fs::read_to_string(layout).unwrap();
    let columns = text.lines().filter_map(|line| Some(line.rsplit_once(',')?.0.to_owned())).collect();
    (columns, check_layout(&instance, &offsets).is_empty() && offsets.peak(&instance) <= capacity)
}

/// Compares `plimsoll-minimalloc` with `MiniMalloc` itself on every instance in the repository of
/// `MiniMalloc` (`make test-minimalloc`). `PLIMSOLL_CORPORA` names the folder of the corpora, and
/// `PLIMSOLL_MINIMALLOC` names the binary of `MiniMalloc`. Without that binary, the test checks only the
/// layouts of `plimsoll-minimalloc`.
#[test]
#[ignore = "needs the corpora, and takes minutes"]
fn every_instance_of_minimalloc_is_solved() {
    let folder = |name| std::env::var_os(name).filter(|path| !path.is_empty());
    let Some(corpora) = folder("PLIMSOLL_CORPORA") else {
        return eprintln!("skipped: PLIMSOLL_CORPORA is not set");
    };
    let peer = folder("PLIMSOLL_MINIMALLOC");
    let entries = std::fs::read_dir(Path::new(&corpora).join("minimalloc")).unwrap();
    let inputs = entries.map(|entry| entry.unwrap().path());
    let mut inputs: Vec<PathBuf> =
        inputs.filter(|path| path.extension().is_some_and(|suffix| suffix == "csv")).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "no instances");
    let scratch = Scratch::new();
    for input in inputs {
        let capacity = capacity_from_name(&input).expect("the name contains the capacity");
        let words = |output: &str| {
            let (path, output) = (input.display(), scratch.path(output));
            [
                format!("--capacity={capacity}"),
                format!("--input={path}"),
                format!("--output={}", output.display()),
                "--timeout=60s".to_owned(),
            ]
        };
        let own = words("own.csv");
        minimalloc(&scratch, &own.each_ref().map(String::as_str)).exits(0);
        let (columns, is_valid) = checked(&scratch.path("own.csv"), &input, capacity);
        assert!(is_valid, "{}", input.display());
        let Some(peer) = &peer else {
            println!("{}: solved", input.display());
            continue;
        };
        let status = Command::new(peer).args(words("peer.csv")).output().unwrap().status;
        if status.success() {
            let (other, is_valid) = checked(&scratch.path("peer.csv"), &input, capacity);
            assert!(is_valid, "{}: MiniMalloc", input.display());
            assert_eq!(columns, other, "{}", input.display());
        }
        println!("{}: solved; MiniMalloc: {status}", input.display());
    }
}
