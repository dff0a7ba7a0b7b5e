//! Tests plans that runtimes and other tools read: `plan --write`, `plan --format` and `plimsoll-minimalloc`.

use crate::common::{Run, Scratch, contains, has, pick, seed};
use plimsoll::datasets::{Import, ImportOptions, MicroArena, ModelFile, ModelFormat, import_file};
use plimsoll::model::csv::{ReadOptions, capacity_from_name, read_instance_file, read_layout_file};
use plimsoll::model::graph::{AliasKind, Role};
use plimsoll::model::{Bytes, check_layout};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn read(path: &Path) -> Import {
    import_file(path, &ImportOptions::default()).unwrap()
}

/// Returns the offsets stored in a written model, and the offset problem of that model in the runtime.
fn micro(path: &Path) -> (Vec<i32>, MicroArena) {
    let file = ModelFile::new(path, ModelFormat::TfLite, std::fs::read(path).unwrap());
    (file.offsets().unwrap().unwrap(), file.micro_arena(&|how, _, _| how == AliasKind::View).unwrap())
}

#[test]
fn a_tflite_model_takes_its_plan() {
    for name in ["chain.tflite", "regions.tflite"] {
        let scratch = Scratch::with_models(&[name]);
        let bytes = |name: &str| std::fs::read(scratch.path(name)).unwrap();
        let plan = scratch.json(format!("plan {name} --write out.tflite"));
        let (offsets, arena) = micro(&scratch.path("out.tflite"));
        let layout = arena.layout(|tensor| u64::try_from(offsets[tensor]).ok().map(Into::into));
        let layout = layout.expect("every tensor has an offset");
        assert_eq!(check_layout(&arena.instance, &layout), [], "{name}");
        assert_eq!(plan["written"]["arena"], arena.arena(&layout).get());
        assert!(offsets.iter().all(|offset| offset % 16 == 0 || *offset == -1), "{offsets:?}");
        // The written model can be read, needs the same arena, and accepts the same plan again.
        let line = "plan out.tflite --order as-in-file --align 16 --no-states --write again.tflite";
        assert_eq!(scratch.json(line)["arena"], plan["arena"], "{name}");
        let tensors = |name: &str| read(&scratch.path(name)).graph.tensors().len();
        assert_eq!(tensors("out.tflite"), tensors(name));
        assert_eq!(bytes("again.tflite"), bytes("out.tflite"));
        assert!(bytes("out.tflite").ends_with(&bytes(name)), "{name}: the order of the file is the best");
    }
}

#[test]
fn an_onnx_model_takes_its_plan() {
    for name in ["branch.onnx", "loop.onnx", "convolution.onnx", "shapes.onnx"] {
        let scratch = Scratch::with_models(&[name]);
        let free = "--dim-default 4 --assume-bytes 64";
        let plan = scratch.json(format!("plan {name} {free} --write out.onnx"));
        let again = scratch.json(format!("plan out.onnx {free} --order as-in-file"));
        assert_eq!(again["arena"], plan["arena"], "{name}");
        let text = String::from_utf8_lossy(&std::fs::read(scratch.path("out.onnx")).unwrap()).into_owned();
        assert!(text.contains("plimsoll.plan") && text.contains("plimsoll.arena"), "{name}");
    }
}

/// `npu.tflite` has a compiled operator, whose scratch memory of 320 bytes contains its other operands. Two
/// tensors of 96 bytes lie outside.
#[test]
fn a_compiled_model_keeps_its_addresses() {
    let scratch = Scratch::with_models(&["npu.tflite"]);
    let run = scratch.ok("plan npu.tflite --capacity 512 --tensors t.csv");
    run.reports(&["capacity 512 bytes: fits without"]);
    run.reports(&["5 of them keep their relative addresses, which the code of npu may contain"]);
    scratch.run("plan npu.tflite --capacity 511").exits(1);
    let rows = scratch.cells("t.csv");
    let row =
        |name: &str| rows.iter().find(|row| pick(row, ["region", "tensor"]) == ["0:body", name]).unwrap();
    let offset = |name: &str| row(name)["offset"].parse::<u64>().unwrap();
    let inside = ["x", "a", "b", "y"].map(|name| (row(name)["shares"] == "s", offset(name) - offset("s")));
    assert_eq!(inside, [(true, 208), (true, 0), (true, 64), (true, 16)]);
    // A written model keeps the positions, and so does a model written from it.
    let plan = scratch.json("plan npu.tflite --align 32 --write out.tflite");
    has(&plan["written"], &json!({ "arena": 512, "in_file": 512, "greedy": null }));
    scratch.ok("plan out.tflite --write again.tflite");
    for name in ["out.tflite", "again.tflite"] {
        let (offsets, arena) = micro(&scratch.path(name));
        assert!(arena.is_compiled(), "{name}");
        let inside: Vec<i32> = offsets.iter().take(5).map(|offset| offset - offsets[0]).collect();
        assert_eq!(inside, [0, 208, 0, 64, 16], "{name}");
        let audit = scratch.json(format!("audit {name} --max-gap 0"));
        has(&audit, &json!({ "planner_peak": 512, "verdict": "optimal" }));
    }
    // Another order is impossible, and other sizes do not fit the code.
    scratch.refuses("plan npu.tflite --batch 48", &["'x', whose address compiled code may contain"]);
}

#[test]
fn the_plan_in_a_model_is_audited() {
    let scratch = Scratch::with_models(&["regions.tflite"]);
    scratch.refuses("audit regions.tflite", &["there is no plan to audit"]);
    let plan = scratch.json("plan regions.tflite --write out.tflite");
    let planner = "OfflineMemoryAllocation in the file";
    let expected = json!({ "planner_peak": plan["written"]["arena"], "planner": planner, "valid": true });
    has(&scratch.json("audit out.tflite"), &expected);
    scratch.refuses("audit out.tflite --align 64", &["do not apply to the plan in the file"]);
    // A plan in which all tensors begin at 0 is not valid. Folders contain plans, too.
    let bytes = std::fs::read(scratch.path("out.tflite")).unwrap();
    let file = ModelFile::new(Path::new("out"), ModelFormat::TfLite, bytes);
    let offsets: Vec<i32> = file.offsets().unwrap().unwrap().iter().map(|&offset| offset.min(0)).collect();
    std::fs::create_dir(scratch.path("plans")).unwrap();
    scratch.write("plans/zero.tflite", file.with_offsets(&offsets).unwrap().bytes());
    scratch.run("audit plans/zero.tflite").exits(1);
    scratch.write("plans/good.tflite", file.bytes());
    std::fs::copy(scratch.path("regions.tflite"), scratch.path("plans/none.tflite")).unwrap();
    let audit = scratch.run("audit plans --json").exits(1).json();
    has(&audit, &json!({ "plans": 2, "files_without_plan": 1 }));
    // The plan of another planner may be replaced, which a note reports.
    let note = "no operator contains its addresses, so another plan may replace it";
    scratch.ok("plan plans/good.tflite").reports(&[note]);
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
    let names =
        ["chain.tflite", "regions.tflite", "npu.tflite", "branch.onnx", "loop.onnx", "convolution.onnx"];
    let scratch = Scratch::with_models(&names);
    let mixed = r#"{ "format": "plimsoll-graph", "version": 1, "name": "mixed", "tensors": [
        { "name": "x", "bytes": 253, "role": "input", "element": "int8" },
        { "name": "y", "bytes": 24, "role": "output", "element": "double", "shape": [3] },
        { "name": "z", "bytes": 12, "role": "output", "element": "f32" } ],
        "body": { "inputs": ["x"], "outputs": ["y", "z"], "operators": [
            { "kind": "F", "inputs": ["x"], "outputs": ["y"] }, { "kind": "F", "inputs": ["x"], "outputs": ["z"] } ] } }"#;
    scratch.write("mixed.json", mixed);
    for name in names.into_iter().chain(["mixed.json"]) {
        let (least, free) = match name.split_once('.').unwrap().1 {
            "tflite" => (16, ""),
            "onnx" => (largest_element(&seed(name)), "--dim-default 3 --assume-bytes 64"),
            _ => (8, ""),
        };
        for joint in ["", "--joint"] {
            scratch.ok(format!("plan {name} --tensors x.h {joint} {free}"));
            let header = scratch.read("x.h");
            let rows = header.lines().filter_map(|line| line.trim().strip_prefix("{ ")?.split(", ").nth(1));
            let offsets: Vec<u64> = rows.map(|offset| offset.parse().unwrap()).collect();
            assert!(offsets.iter().all(|offset| offset % least == 0), "{name}: {offsets:?}");
            let define = header.lines().find_map(|line| line.split_once("_ALIGN ")).expect("an alignment");
            assert_eq!(define.1.parse::<u64>().unwrap(), least, "{name}");
        }
    }
    // An alignment that is too small is used as it is, and a line reports it.
    let run = scratch.ok("plan mixed.json --align 4 --tensors x.h");
    run.prints(&["--align 4 bytes, but the largest elements have 8 bytes"]);
    contains(&scratch.read("x.h"), &["MIXED_ALIGN 4\n"]);
    scratch.ok("solve mixed.json --output y.h");
    contains(&scratch.read("y.h"), &["MIXED_ALIGN 8\n"]);
}

/// In the last iteration, `x`, its transpose, five rows, the new row and six rows are live.
#[test]
fn a_growing_loop_is_planned_for_its_last_iteration() {
    let scratch = Scratch::with_models(&["growing.onnx"]);
    has(&scratch.json("plan growing.onnx"), &json!({ "arena": 1536 + 1, "claim": "optimal" }));
    for command in ["import", "order", "plan"] {
        let line = format!("{command} growing.onnx --trips 3");
        scratch.refuses(line, &["--trips 3: the model has no loop"]);
    }
}

#[test]
fn plans_that_no_file_can_hold_are_refused() {
    let scratch = Scratch::with_models(&["chain.tflite"]);
    let body = json!({ "name": "body", "inputs": [], "outputs": [], "operators": [] });
    let graph = json!({ "format": "plimsoll-graph", "version": 1, "name": "g", "tensors": [], "body": body });
    scratch.write("g.json", graph.to_string());
    for (arguments, parts) in [
        ("g.json --write out.tflite", &["a graph (.json) is not in the format"][..]),
        ("chain.tflite --write out.onnx", &["the model keeps its format", "ending in .tflite"]),
        ("chain.tflite --write out.json", &["the output is a model"]),
        ("chain.tflite --write out.tflite --align 8", &["--align 8", "a multiple of 16"]),
        ("chain.tflite --write chain.tflite", &["it is an input of this command"]),
        ("chain.tflite --format json --tensors x.csv", &["the output is JSON, not CSV"]),
        ("chain.tflite --format json --compare", &["--compare"]),
    ] {
        scratch.refuses(format!("plan {arguments}"), parts);
    }
    // A plan that is worse than none is not written.
    let scratch = Scratch::with_models(&["regions.tflite"]);
    let run = scratch.run("plan regions.tflite --algorithm naive --write out.tflite").exits(3);
    run.warns(&["but tflite-micro needs"]);
    assert!(!scratch.path("out.tflite").exists());
}

#[test]
fn scratch_memory_is_planned_with_the_tensors() {
    let scratch = Scratch::with_models(&["chain.tflite", "convolution.onnx"]);
    let line = "plan chain.tflite --write out.tflite";
    let before = scratch.json(line);
    scratch.write("s.csv", "subgraph,operator,bytes\n0,1,4000\n0,1,20\n");
    let overwrite = "plan chain.tflite --scratch s.csv --tensors s.csv";
    scratch.refuses(overwrite, &["it is an input of this command"]);
    let after = scratch.json(format!("{line} --scratch s.csv"));
    let number = |plan: &Value, key: &str| plan["written"][key].as_u64().unwrap();
    assert!(number(&after, "arena") >= number(&before, "arena").max(4032), "{after}");
    assert_eq!(after["written"]["arena"], after["arena"], "the runtime places the scratch as planned");
    assert!(number(&after, "arena") <= number(&after, "greedy"));
    let header = "subgraph,operator,bytes\n";
    for (text, part) in [
        ("operator,bytes\n0,1\n", "line 1: the header is 'operator,bytes'; expected subgraph,operator,bytes"),
        (&format!("{header}0,1,1\n0,x,1\n"), "s.csv: line 3: operator 'x' is not a whole number"),
        (&format!("{header}0,9,1\n"), "operator 9 of subgraph 0: the subgraph has 3 operators"),
    ] {
        scratch.write("s.csv", text);
        scratch.refuses("plan chain.tflite --scratch s.csv", &[part]);
    }
    scratch.refuses("plan convolution.onnx --scratch s.csv", &["only to models of TFLite"]);
}

#[test]
fn a_capacity_includes_persistent_data() {
    let scratch = Scratch::with_models(&["chain.tflite"]);
    let plan = |capacity: u64, more: &str| {
        scratch.run(format!("plan chain.tflite --capacity {capacity} --json {more}"))
    };
    let micro = plan(100_000, "").exits(0).json()["tflite_micro"].clone();
    let [head, tail, start, arena] =
        ["head", "tail", "start", "arena"].map(|key| micro[key].as_u64().unwrap());
    assert_eq!(arena, (head + tail).max(start));
    assert!(tail > 900 && micro["pointer_bytes"] == 8, "{micro}");
    assert_eq!(plan(arena, "").exits(0).json()["fits"], true);
    // The tensors alone would fit.
    let short = plan(arena - 1, "");
    assert!(short.code != 0 && short.json()["shortfall_max"] == 1, "{}", short.stdout);
    let small = plan(arena, "--pointers 32").exits(0).json();
    assert!(small["tflite_micro"]["tail"].as_u64().unwrap() < tail);
    // Other assumptions are not those of the runtime.
    let run = scratch.ok("plan chain.tflite --capacity 100000 --boundary outside");
    run.reports(&["the persistent data of the runtime"]);
}

#[test]
fn the_placement_has_three_formats() {
    let scratch = Scratch::with_models(&["chain.tflite"]);
    let run = scratch.ok("plan chain.tflite --format json");
    run.warns(&["arena"]);
    let plan = run.json();
    assert_eq!(plan["operators"].as_array().unwrap().len(), 3);
    let tensors = plan["tensors"].as_array().unwrap();
    let of = |name: &str| tensors.iter().find(|row| row["tensor"] == name).unwrap();
    has(of("x"), &json!({ "index": 0, "operator": null }));
    has(of("y"), &json!({ "operator": 0 }));
    // The suffix selects CSV or JSON, which contain the same rows.
    scratch.ok("plan chain.tflite --tensors t.csv");
    assert_eq!(scratch.read("t.csv").lines().count(), tensors.len() + 1);
    scratch.ok("plan chain.tflite --tensors t.json");
    assert_eq!(scratch.document("t.json"), plan);
    scratch.ok("plan chain.tflite --tensors plain --format json");
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
    let scratch = Scratch::with_models(&["regions.tflite"]);
    scratch.write("idle.json", IDLE);
    for model in ["regions.tflite", "idle.json"] {
        let plan = scratch.json(format!("plan {model} --format json"));
        let operators = plan["operators"].as_array().unwrap();
        assert_eq!(operators[0]["lower"], 1);
        for tensor in plan["tensors"].as_array().unwrap() {
            let is_own =
                |one: &&Value| one["region"] == tensor["region"] && one["step"] == tensor["operator"];
            let Some(writer) = operators.iter().find(is_own) else { continue };
            let [lower, upper] = ["lower", "upper"].map(|member| writer[member].as_u64().unwrap());
            let [from, to] = ["lower", "upper"].map(|member| tensor[member].as_u64().unwrap());
            assert!(from < upper && lower < to, "{tensor} is not live during {writer}");
        }
    }
    let plan = scratch.json("plan idle.json --format json");
    let of = |list: &str, member: &str, name: &str| {
        let rows = plan[list].as_array().unwrap();
        rows.iter().find(|row| row[member] == name).unwrap().clone()
    };
    let pool = of("operators", "operator", "pool");
    assert_eq!(of("tensors", "tensor", "a")["operator"], pool["step"]);
    let memory = json!({ "operator": pool["step"], "lower": pool["lower"] });
    has(&of("tensors", "tensor", "scratch of pool#2"), &memory);
}

#[test]
#[cfg(unix)]
fn the_header_compiles() {
    let scratch = Scratch::with_models(&["chain.tflite", "regions.tflite"]);
    scratch.ok("plan chain.tflite --tensors chain.h");
    scratch.ok("plan regions.tflite --tensors regions.h");
    let plan = scratch.ok("plan chain.tflite --align 16 --format json").json();
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
    let text = Run::from(Command::new(scratch.path("main")).output().unwrap()).exits(0).stdout;
    let arena = plan["arena"].as_u64().unwrap();
    assert!(text.starts_with(&format!("{arena} {arena} 0 ")), "{text}");
}

/// Runs `plimsoll-minimalloc` in a folder.
fn minimalloc(scratch: &Scratch, line: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-minimalloc"));
    Run::from(command.current_dir(scratch.path("")).args(shlex::split(line).unwrap()).output().unwrap())
}

const INPUT: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

#[test]
fn the_example_of_minimalloc_is_solved() {
    let scratch = Scratch::new();
    let input = scratch.write("in.csv", INPUT);
    let run = minimalloc(&scratch, "--capacity=12 --input=in.csv --output=out.csv").exits(0);
    assert!(run.stdout.is_empty() && run.stderr.starts_with("Elapsed time "), "{}", run.stderr);
    let text = scratch.read("out.csv");
    assert!(text.starts_with("id,lower,upper,size,offset\nb1,0,3,4,"), "{text}");
    assert!(checked(&scratch.path("out.csv"), &input, Bytes::new(12)).1);
    std::fs::remove_file(scratch.path("out.csv")).unwrap();
    minimalloc(&scratch, "--capacity=11 --input=in.csv --output=out.csv").exits(1).warns(&["NOT_FOUND: "]);
    assert!(!scratch.path("out.csv").exists(), "no layout, no file");
    // If no capacity is given, it is 0.
    minimalloc(&scratch, "--input in.csv").exits(1);
}

#[test]
fn flags_of_minimalloc_have_their_syntax() {
    let scratch = Scratch::with("in.csv", INPUT);
    let line = "-capacity 99 --input in.csv --output=out.csv --minimize_capacity --validate";
    let run = minimalloc(&scratch, &format!("{line} --nocanonical_only --timeout=1h extra")).exits(0);
    assert!(run.stderr.ends_with("Validation PASS, height 12\n"), "{}", run.stderr);
    for (line, part) in [
        ("--capacty=12", "ERROR: Unknown command line flag 'capacty'"),
        ("--capacity=x --input=in.csv", "Illegal value 'x' specified for flag 'capacity'"),
        ("--timeout=5 --input=in.csv", "Illegal value '5' specified for flag 'timeout'"),
        ("--validate=maybe --input=in.csv", "Illegal value 'maybe'"),
        ("--input", "Missing the value for the flag 'input'"),
        ("--input=none.csv", "Opening file none.csv failed"),
        ("--print_solution --input=in.csv", "not supported"),
        ("--help", "--minimize_capacity"),
        ("--capacity=12 --input=in.csv --output=none/out.csv", "Writing file none/out.csv failed"),
    ] {
        let run = minimalloc(&scratch, line).exits(1);
        run.warns(&[part]);
        assert!(run.stdout.is_empty(), "{line}: {}", run.stdout);
    }
}

#[test]
fn formats_of_minimalloc_are_read() {
    let scratch = Scratch::new();
    let solve = |text: &str, code: i32| {
        scratch.write("in.csv", text);
        minimalloc(&scratch, "--capacity=64 --input=in.csv --output=out.csv").exits(code)
    };
    let solved = |text: &str| {
        solve(text, 0);
        scratch.read("out.csv")
    };
    // The input has inclusive ends, other column names, repeated ids, negative steps, gaps, alignments, a
    // hint and an unknown column.
    let text = "size,buffer_id,start,end,gaps,alignment,hint,note\n8,a,-2,5,0-2,1,-1,x\n8,a,-2,5,,16,3,y\n";
    let written = solved(text);
    let expected = "id,lower,upper,size,alignment,hint,gaps,offset\na,-2,6,8,1,-1,0-3,";
    assert!(written.starts_with(expected) && written.lines().count() == 3, "{written}");
    // Reading ends at the first empty line.
    let written = solved("id,lower,upper,size\na,0,1,8\n\nnothing");
    assert_eq!(written, "id,lower,upper,size,offset\na,0,1,8,0\n");
    // The input has a fixed offset and a lifespan of length 0.
    contains(&solved("id,lower,upper,size,offset\na,0,4,8,8\nb,2,2,64,0\n"), &["a,0,4,8,8\n"]);
    assert_eq!(solved("id,lower,upper,size\n"), "id,lower,upper,size,offset\n");
    // Ends are open, also below a negative step.
    let rows = solved("id,start,end,size,gaps\na,-3,-1,8,\nb,2,-1,8,\nc,1,inf,8,4-6\nd,0,5,4,\n");
    contains(&rows, &["a,-3,0,8,", "b,2,8,8,", "c,1,8,8,4-7"]);
    for (text, part) in [
        ("", "column 'id' is missing"),
        ("id,lower,start,size\n", "two columns have the same name"),
        ("id,lower,upper,size\na,0,1\n", "in.csv: line 2: 3 fields instead of 4"),
        ("id,lower,upper,size\na,0,x,1\n", "line 2: column 'upper': 'x' is not an integer"),
        ("id,lower,upper,size,gaps\na,0,9,1,2-4@0:1\n", "memory used during a gap is not supported"),
        ("id,lower,upper,size\na,5,3,1\n", "buffer 'a': "),
        ("id,lower,upper,size\na,0,3,-1\n", "buffer 'a': size -1"),
    ] {
        solve(text, 1).warns(&[part]);
    }
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
        let line = |output: &str| {
            format!("--capacity={capacity} '--input={}' --output={output} --timeout=60s", input.display())
        };
        minimalloc(&scratch, &line("own.csv")).exits(0);
        let (columns, is_valid) = checked(&scratch.path("own.csv"), &input, capacity);
        assert!(is_valid, "{}", input.display());
        let Some(peer) = &peer else {
            println!("{}: solved", input.display());
            continue;
        };
        let mut other = Command::new(peer);
        other.current_dir(scratch.path("")).args(shlex::split(&line("peer.csv")).unwrap());
        let status = other.output().unwrap().status;
        if status.success() {
            let (other, is_valid) = checked(&scratch.path("peer.csv"), &input, capacity);
            assert!(is_valid, "{}: MiniMalloc", input.display());
            assert_eq!(columns, other, "{}", input.display());
        }
        println!("{}: solved; MiniMalloc: {status}", input.display());
    }
}
