//! Tests the manifests of generated and external datasets.

use crate::common::{Run, Scratch, command, contains, has};
use plimsoll::datasets::MANIFEST;
use serde_json::json;
use sha2::{Digest, Sha256};

#[test]
fn a_folder_of_instances_has_a_manifest() {
    let scratch = Scratch::new();
    let line = "generate guillotine --buffers 20 --count 3 --seed 7 --out";
    let text = scratch.ok(format!("{line} set")).stdout;
    assert_eq!(text, "guillotine: 3 files, seeds 7 to 9, and manifest.json, written to set\n");
    let manifest = scratch.document("set/manifest.json");
    has(&manifest, &json!({ "format": "plimsoll-manifest", "family": "guillotine" }));
    has(&manifest["generator"], &json!({ "version": env!("CARGO_PKG_VERSION") }));
    assert_eq!(manifest["parameters"]["buffers"], 20);
    for (entry, seed) in manifest["files"].as_array().unwrap().iter().zip(7..10) {
        let name = format!("guillotine-20-{seed}.csv");
        let digest = Sha256::digest(scratch.read(&format!("set/{name}")));
        let digest: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        has(entry, &json!({ "file": name, "sha256": digest.concat(), "seed": seed, "buffers": 20 }));
        assert_eq!(entry["optimum"], entry["load"]);
    }
    assert_eq!(manifest["files"].as_array().map(Vec::len), Some(3));
    // A single file equals the file in the set with the same seed.
    scratch.ok("generate guillotine --buffers 20 --seed 8 --out one.csv");
    assert_eq!(scratch.read("one.csv"), scratch.read("set/guillotine-20-8.csv"));
    scratch.ok(format!("{line} again"));
    assert_eq!(scratch.read("again/manifest.json"), scratch.read("set/manifest.json"));
    // Graphs have manifests too.
    scratch.ok("generate randwire-ws --count 2 --out graphs");
    let manifest = scratch.document("graphs/manifest.json");
    assert_eq!(manifest["files"][1]["file"], "randwire-ws-1.json");
    assert!(manifest["files"][0]["operators"].as_u64() > Some(1));
    assert!(!manifest["parameters"].as_object().unwrap().is_empty());
}

#[test]
fn instances_are_derived_from_a_file() {
    let scratch = Scratch::after("generate uniform --buffers 30 --out origin.csv");
    let line = "generate refilled --of origin.csv --param unit=64";
    scratch.ok(format!("{line} --seed 3 --count 2 --out set"));
    let manifest = scratch.document("set/manifest.json");
    assert_eq!([&manifest["of"], &manifest["parameters"]["unit"]], [&json!("origin"), &json!(64)]);
    let file = &manifest["files"][1];
    has(file, &json!({ "file": "origin-refilled-unit-64-4.csv", "seed": 4 }));
    assert!(file["buffers"].as_u64() > Some(30));
    scratch.ok(format!("{line} --seed 4 --out one.csv"));
    assert_eq!(scratch.read("one.csv"), scratch.read("set/origin-refilled-unit-64-4.csv"));
    // A manifest of another origin is not overwritten.
    scratch.ok("generate uniform --buffers 20 --out other.csv");
    for (arguments, parts) in [
        ("refilled --of other.csv --param unit=64 --out set", &["manifest.json"][..]),
        ("welded", &["welded", "--of"]),
        ("uniform --of origin.csv", &["--of", "refilled"]),
        ("thinned --of origin.csv --param keep=101", &["keep", "101"]),
    ] {
        scratch.refuses(format!("generate {arguments}"), parts);
    }
}

#[test]
fn attributes_are_drawn_from_a_layout() {
    let scratch = Scratch::after("generate guillotine --buffers 40 --out origin.csv");
    scratch.ok("solve origin.csv --output layout.csv");
    let line = "generate attributed --of origin.csv --seed 3";
    scratch.ok(format!("{line} --layout layout.csv --out given.csv"));
    let made = scratch.read("given.csv");
    let header = made.lines().next().unwrap();
    contains(header, &["alignment", "gaps", "separations", "exclusions", "offset"]);
    // Without a layout, one is found, and the result is the same in every run.
    scratch.ok(format!("{line} --out found.csv"));
    scratch.ok(format!("{line} --out again.csv"));
    assert_eq!(scratch.read("found.csv"), scratch.read("again.csv"));
    scratch.ok(format!("{line} --param pins=0 --count 2 --out set"));
    let manifest = scratch.document("set/manifest.json");
    has(&manifest["parameters"], &json!({ "pins": 0, "gaps": 10 }));
    assert_eq!(manifest["files"][0]["capacity"], 1 << 30);
    scratch.refuses("generate attributed", &["attributed", "--of"]);
    for (family, of) in [("welded", "--of origin.csv"), ("uniform", ""), ("lenet5", "")] {
        let idle = format!("generate {family} {of} --layout layout.csv --out idle.csv");
        scratch.refuses(idle, &["--layout", family, "attributed"]);
    }
    scratch.write("wrong.csv", header);
    scratch.refuses(format!("{line} --layout wrong.csv --out x.csv"), &["wrong.csv"]);
}

#[test]
fn bad_counts_and_parameters_are_rejected() {
    let scratch = Scratch::with("file", "");
    for (arguments, part) in [
        ("uniform --count 2", "--out"),
        ("uniform --count 0 --out d", "0 is not in"),
        ("uniform --count 2 --seed 18446744073709551615 --out d", "exceed 2^64"),
        ("nonsense --count 2 --out d", "unknown family 'nonsense'"),
        ("nonsense", "uniform"),
        ("nonsense", "training"),
        ("uniform --buffers 0", "--buffers"),
        ("uniform --out file/folder.csv", "file is not a folder"),
        ("uniform --count 2 --out file", "cannot create the folder file"),
        ("uniform --buffers 3 --param buffers=3", "--buffers and --param buffers"),
        ("uniform --param unit=0", "unit is 0, but must be at least 1"),
        ("unet --param depth=11", "depth is 11"),
    ] {
        scratch.refuses(format!("generate {arguments}"), &[part]);
    }
}

#[test]
fn copies_of_corpora_are_compared_with_the_list() {
    let scratch = Scratch::new();
    scratch.refuses("datasets verify", &["set PLIMSOLL_CORPORA"]);
    let verify = |words: &[&str]| {
        let mut command = command(&scratch.path(""));
        command.env("PLIMSOLL_CORPORA", scratch.path("corpora"));
        Run::from(command.args(["datasets", "verify"]).args(words).output().unwrap())
    };
    verify(&[]).refuses(&["PLIMSOLL_CORPORA: ", "is not a folder"]);
    std::fs::create_dir_all(scratch.path("corpora/minimalloc")).unwrap();
    let why = "unknown corpus 'nothing' (known: dsa, idealloc, minimalloc, onnx, tflite, ";
    verify(&["nothing"]).refuses(&[why]);
    // Writes a changed file, an unknown file, and a file whose extension is not in the list.
    scratch.write("corpora/minimalloc/input.12.csv", "id,lower,upper,size\n");
    scratch.write("corpora/minimalloc/own.csv", "");
    scratch.write("corpora/minimalloc/README.md", "");
    verify(&["minimalloc"]).exits(1).prints(&[
        "missing  minimalloc/A.1048576.csv\n",
        "changed  minimalloc/input.12.csv, SHA-256 ",
        "unknown  minimalloc/own.csv, not on the list\n",
        "0 files match, 13 differ\n",
    ]);
    let json = verify(&["minimalloc", "--json"]).exits(1).json();
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(13));
    assert_eq!(json["findings"][11]["standing"], "changed");
}

#[test]
fn generated_folders_are_compared_with_their_manifests() {
    let scratch = Scratch::new();
    for (family, name) in [("perturbed", "perturbed-1000-1.csv"), ("unet", "unet-1.json")] {
        scratch.ok(format!("generate {family} --count 2 -o {family}"));
        let line = format!("datasets verify {family}");
        assert_eq!(scratch.ok(&line).stdout, "2 files match, 0 differ\n");
        let file = format!("{family}/{name}");
        let text = scratch.read(&file);
        scratch.write(&file, text.replacen('1', "2", 1));
        scratch.write(&format!("{family}/other.{}", &name[name.len() - 3..]), "");
        scratch.run(&line).exits(1).prints(&[&format!("changed  {file}, SHA-256 ")]);
        std::fs::remove_file(scratch.path(&file)).unwrap();
        scratch.run(&line).exits(1).prints(&[&format!("missing  {file}\n")]);
    }
    std::fs::create_dir(scratch.path("odd")).unwrap();
    let with = |version: u64, files: &str| {
        format!("{{\"format\":\"plimsoll-manifest\",\"version\":{version},\"files\":[{files}]}}")
    };
    let a = "{\"file\":\"a\",\"sha256\":\"\"}";
    for (text, part) in [
        ("{".to_owned(), "the file ends too early"),
        ("{}".to_owned(), "the member 'format' is missing"),
        (with(1, &a.replace("\"a\"", "\"../x\"")), "'../x' is not the name of a file in this folder"),
        (with(1, &format!("{a},{a}")), "'a' is listed twice"),
        (with(9, ""), "version 9, is not supported"),
    ] {
        scratch.write("odd/manifest.json", text);
        scratch.refuses("datasets verify odd", &["odd/manifest.json: ", part]);
    }
}

#[test]
fn manifests_contain_known_bounds() {
    let scratch = Scratch::new();
    let manifest = |arguments: &str| {
        // Each set needs its own folder, because a manifest that lists other files is never overwritten.
        let folder = arguments.replace(' ', "");
        scratch.ok(format!("generate {arguments} --count 1 --out {folder}"));
        scratch.document(&format!("{folder}/manifest.json"))
    };
    let bound = manifest("perturbed --param share=100 --param sizes=50 --param lives=30");
    assert_eq!([&bound["family_version"], &bound["parameters"]["share"]], [&json!(1), &json!(100)]);
    has(&bound["files"][0], &json!({ "at_most": 1 << 20, "optimum": null }));
    let full = manifest("minimalloc-like --param law=1 --buffers 90");
    let name = "minimalloc-like-law-1-90-0.1048576.csv";
    has(&full["files"][0], &json!({ "file": name, "optimum": 1 << 20, "capacity": 1 << 20 }));
    let above = manifest("above-load --seed 1");
    has(&above["files"][0], &json!({ "load": 1 << 18, "at_least": (1 << 18) + 1024 }));
    let graph = manifest("mobilenet-v2");
    has(&graph["files"][0], &json!({ "weights": 4 * (3_504_872 - 17_056) }));
    assert_eq!(manifest("perturbed --param buffers=12")["parameters"]["buffers"], 12);
}

#[test]
fn targets_without_a_file_suffix_are_folders_with_a_manifest() {
    let scratch = Scratch::new();
    for (family, count, file) in [
        ("packing", "--buffers 20", "packing-20-3.csv"),
        ("chain", "", "chain-3.json"),
        ("cond-in-cond", "", "cond-in-cond.json"),
    ] {
        scratch.ok(format!("generate {family} --seed 3 -o {family} {count}")).prints(&[&format!("{file}, ")]);
        assert_eq!(std::fs::read_dir(scratch.path(family)).unwrap().count(), 2);
        scratch.ok(format!("datasets verify {family}"));
    }
    let file = &scratch.document("packing/manifest.json")["files"][0];
    assert_eq!(file["optimum"], file["load"]);
    // A new manifest may list the same or more files, but must not omit any.
    let line = "generate packing -o packing --buffers 20 --seed";
    scratch.ok(format!("{line} 3"));
    scratch.ok(format!("{line} 2 --count 3"));
    scratch.refuses(format!("{line} 3"), &["packing/manifest.json", "other files"]);
    scratch.refuses("generate stack -o packing", &["packing/manifest.json", "other files"]);
    scratch.ok("generate packing -o new/ --buffers 5");
    // With the suffix of a file, the target is a file. The default is a file, too.
    scratch.ok("generate uniform --buffers 5 --seed 3");
    assert_eq!(scratch.read("uniform-5-3.csv").lines().count(), 6);
    scratch.ok("generate packing -o x.csv");
    scratch.ok("generate chain -o x.JSON");
    assert!(["new/manifest.json", "x.csv", "x.JSON"].iter().all(|name| scratch.path(name).is_file()));
}

#[test]
fn parameters_and_operators_are_listed() {
    let scratch = Scratch::new();
    let json = scratch.json("list perturbed");
    assert_eq!([&json["params"][0]["name"], &json["version"]], [&json!("buffers"), &json!(1)]);
    scratch.refuses("list colour", &["unknown name 'colour'"]);
    let json = scratch.json("list operators");
    let nms = json.as_array().unwrap().iter().find(|one| one["name"] == "NonMaxSuppression").unwrap();
    has(nms, &json!({ "domain": "ai.onnx", "sizing": "bounded" }));
}

#[test]
fn corpora_are_listed() {
    let scratch = Scratch::new();
    let text = scratch.ok("datasets").stdout;
    for corpus in MANIFEST.iter() {
        let line = text.lines().find(|line| line.contains(corpus.version)).unwrap();
        contains(line, &[corpus.folder, corpus.licence]);
    }
    let files = scratch.ok("datasets list --files").stdout;
    let count: usize = MANIFEST.iter().map(|corpus| corpus.files.len()).sum();
    assert_eq!(files.lines().filter(|line| line.contains('/')).count(), count + MANIFEST.len());
    assert_eq!(scratch.json("datasets list")["corpora"].as_array().map(Vec::len), Some(MANIFEST.len()));
}
