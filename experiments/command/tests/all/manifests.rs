//! Tests the manifests of generated and external datasets.

use crate::common::{Run, Scratch, command};
use plimsoll::datasets::MANIFEST;
use sha2::{Digest, Sha256};

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[test]
fn a_folder_of_instances_has_a_manifest() {
    let scratch = Scratch::new();
    let words = ["generate", "guillotine", "--buffers", "20", "--count", "3", "--seed", "7", "--out"];
    let run = scratch.plimsoll(&[&words[..], &["set"]].concat()).exits(0);
    assert_eq!(run.stdout, "guillotine: 3 files, seeds 7 to 9, and manifest.json, written to set\n");
    let text = scratch.read("set/manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["format"], "plimsoll-manifest");
    assert_eq!(manifest["family"], "guillotine");
    assert_eq!(manifest["parameters"]["buffers"], 20);
    assert_eq!(manifest["generator"]["version"], env!("CARGO_PKG_VERSION"));
    for (at, seed) in (7..10).enumerate() {
        let entry = &manifest["files"][at];
        let name = format!("guillotine-20-{seed}.csv");
        let file = scratch.read(&format!("set/{name}"));
        assert_eq!(entry["file"].as_str(), Some(name.as_str()));
        assert_eq!(entry["sha256"].as_str(), Some(digest(&file).as_str()));
        assert_eq!((&entry["seed"], &entry["buffers"]), (&seed.into(), &20.into()));
        assert_eq!(entry["optimum"], entry["load"]);
    }
    // A single file equals the file in the set with the same seed.
    let one = ["generate", "guillotine", "--buffers", "20", "--seed", "8", "--out", "one.csv"];
    scratch.plimsoll(&one).exits(0);
    assert_eq!(scratch.read("one.csv"), scratch.read("set/guillotine-20-8.csv"));
    scratch.plimsoll(&[&words[..], &["again"]].concat()).exits(0);
    assert_eq!(scratch.read("again/manifest.json"), text);
}

/// A family generates the same bytes on every machine, and in every later release with the same family
/// version.
#[test]
fn generated_bytes_match_recorded_hashes() {
    let scratch = Scratch::new();
    for (family, params, sha256) in STORED {
        let words = ["generate", family, "--seed", "5", "--count", "1", "--out", family];
        scratch.plimsoll(&[&words[..], params].concat()).exits(0);
        let manifest: serde_json::Value =
            serde_json::from_str(&scratch.read(&format!("{family}/manifest.json"))).unwrap();
        assert_eq!(manifest["files"][0]["sha256"].as_str(), Some(*sha256), "{family}");
    }
}

const STORED: &[(&str, &[&str], &str)] = &[
    ("uniform", &["--buffers", "30"], "b56e4f6232067af12bc4b05b85384006bc8b3810ee1f5dc50c25f187c070aaee"),
    ("log-uniform", &["--buffers", "30"], "25b823e84b26b2442dde47bc79dccddc86a89f390b344dea72df85fe0e21740f"),
    ("packing", &["--buffers", "30"], "a63c444bfa0b2c37541b9b8dc3c533b25ef1e5057d054fb14203814099e19fef"),
    ("guillotine", &["--buffers", "30"], "e95ac1134caad1b8e10b988ea9b8235e31247bb316750e1aea367c386838f3cb"),
    ("randwire-ws", &[], "773316accdc593c74e86b8f36b75cdf60b4328750e56c847fd066c5d137c577e"),
    ("darts", &[], "1edd2c2f01f8ec3ad0175aafd8810c1fad7b0c906ad6e809159a2ff826a6872e"),
    ("control-mix", &[], "c146de00089379a76093073f9267c6601368bf3943ad30747d64cf5a106000f6"),
];

#[test]
fn graphs_have_manifests_too() {
    let scratch = Scratch::new();
    let words = ["generate", "randwire-ws", "--count", "2", "--out", "set"];
    scratch.plimsoll(&words).exits(0);
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("set/manifest.json")).unwrap();
    assert_eq!(manifest["files"][1]["file"], "randwire-ws-1.json");
    assert!(manifest["files"][0]["operators"].as_u64() > Some(1));
    assert!(!manifest["parameters"].as_object().unwrap().is_empty());
}

#[test]
fn instances_are_derived_from_a_file() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "uniform", "--buffers", "30", "--out", "origin.csv"]).exits(0);
    let words = ["generate", "refilled", "--of", "origin.csv", "--param", "unit=64", "--seed", "3"];
    scratch.plimsoll(&[&words[..], &["--count", "2", "--out", "set"]].concat()).exits(0);
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("set/manifest.json")).unwrap();
    assert_eq!((&manifest["of"], &manifest["parameters"]["unit"]), (&"origin".into(), &64.into()));
    let file = &manifest["files"][1];
    assert_eq!((&file["file"], &file["seed"]), (&"origin-refilled-unit-64-4.csv".into(), &4.into()));
    assert!(file["buffers"].as_u64() > Some(30));
    let one = ["generate", "refilled", "--of", "origin.csv", "--param", "unit=64", "--seed", "4"];
    scratch.plimsoll(&[&one[..], &["--out", "one.csv"]].concat()).exits(0);
    assert_eq!(scratch.read("one.csv"), scratch.read("set/origin-refilled-unit-64-4.csv"));
    // A manifest of another origin is not overwritten.
    scratch.plimsoll(&["generate", "uniform", "--buffers", "20", "--out", "other.csv"]).exits(0);
    let other = ["generate", "refilled", "--of", "other.csv", "--param", "unit=64", "--out", "set"];
    scratch.plimsoll(&other).refuses(&["manifest.json"]);
    scratch.plimsoll(&["generate", "welded"]).refuses(&["welded", "--of"]);
    scratch.plimsoll(&["generate", "uniform", "--of", "origin.csv"]).refuses(&["--of", "refilled"]);
    let keep = ["generate", "thinned", "--of", "origin.csv", "--param", "keep=101"];
    scratch.plimsoll(&keep).refuses(&["keep", "101"]);
}

#[test]
fn attributes_are_drawn_from_a_layout() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "guillotine", "--buffers", "40", "--out", "origin.csv"]).exits(0);
    scratch.plimsoll(&["solve", "origin.csv", "--output", "layout.csv"]).exits(0);
    let words = ["generate", "attributed", "--of", "origin.csv", "--seed", "3"];
    let given = [&words[..], &["--layout", "layout.csv", "--out", "given.csv"]].concat();
    scratch.plimsoll(&given).exits(0);
    let made = scratch.read("given.csv");
    let header = made.lines().next().unwrap();
    assert!(
        ["alignment", "gaps", "separations", "exclusions", "offset"].iter().all(|&one| header.contains(one))
    );
    // Without a layout, one is found, and the result is the same in every run.
    for out in ["found.csv", "again.csv"] {
        scratch.plimsoll(&[&words[..], &["--out", out]].concat()).exits(0);
    }
    assert_eq!(scratch.read("found.csv"), scratch.read("again.csv"));
    let seeds = ["--param", "pins=0", "--count", "2", "--out", "set"];
    scratch.plimsoll(&[&words[..], &seeds].concat()).exits(0);
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("set/manifest.json")).unwrap();
    assert_eq!((&manifest["parameters"]["pins"], &manifest["parameters"]["gaps"]), (&0.into(), &10.into()));
    assert_eq!(manifest["files"][0]["capacity"], 1 << 30);
    scratch.plimsoll(&["generate", "attributed"]).refuses(&["attributed", "--of"]);
    let idle = ["--layout", "layout.csv", "--out", "idle.csv"];
    for family in [&["welded", "--of", "origin.csv"][..], &["uniform"], &["lenet5"]] {
        let words = [&["generate"][..], family, &idle].concat();
        scratch.plimsoll(&words).refuses(&["--layout", family[0], "attributed"]);
    }
    scratch.write("wrong.csv", header);
    let wrong = [&words[..], &["--layout", "wrong.csv", "--out", "x.csv"]].concat();
    scratch.plimsoll(&wrong).refuses(&["wrong.csv"]);
}

#[test]
fn bad_counts_are_rejected() {
    let scratch = Scratch::new();
    let refuses = |words: &[&str], parts: &[&str]| {
        scratch.plimsoll(&[&["generate"], words].concat()).refuses(parts);
    };
    refuses(&["uniform", "--count", "2"], &["--out"]);
    refuses(&["uniform", "--count", "0", "--out", "d"], &["0 is not in"]);
    refuses(&["uniform", "--count", "2", "--seed", "18446744073709551615", "--out", "d"], &["exceed 2^64"]);
    refuses(&["nonsense", "--count", "2", "--out", "d"], &["unknown family 'nonsense'"]);
    scratch.write("file", "");
    refuses(&["uniform", "--count", "2", "--out", "file"], &["cannot create the folder file"]);
}

#[test]
fn copies_of_corpora_are_compared_with_the_list() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["datasets", "verify"]).refuses(&["set PLIMSOLL_CORPORA"]);
    let verify = |words: &[&str]| {
        let mut command = command(&scratch.path(""));
        command.env("PLIMSOLL_CORPORA", scratch.path("corpora"));
        Run::from(command.args(["datasets", "verify"]).args(words).output().unwrap())
    };
    verify(&[]).refuses(&["PLIMSOLL_CORPORA: ", "is not a folder"]);
    std::fs::create_dir_all(scratch.path("corpora/minimalloc")).unwrap();
    verify(&["nothing"])
        .refuses(&["unknown corpus 'nothing' (known: dsa, idealloc, minimalloc, onnx, tflite, "]);
    // Writes a changed file, an unknown file, and a file whose extension is not in the list.
    scratch.write("corpora/minimalloc/input.12.csv", "id,lower,upper,size\n");
    scratch.write("corpora/minimalloc/own.csv", "");
    scratch.write("corpora/minimalloc/README.md", "");
    let run = verify(&["minimalloc"]).exits(1);
    assert!(run.stdout.contains("missing  minimalloc/A.1048576.csv\n"), "{}", run.stdout);
    assert!(run.stdout.contains("changed  minimalloc/input.12.csv, SHA-256 "), "{}", run.stdout);
    assert!(run.stdout.contains("unknown  minimalloc/own.csv, not on the list\n"), "{}", run.stdout);
    assert!(run.stdout.ends_with("0 files match, 13 differ\n"), "{}", run.stdout);
    let json = verify(&["minimalloc", "--json"]).exits(1).json();
    assert_eq!(json["findings"].as_array().unwrap().len(), 13);
    assert_eq!(json["findings"][11]["standing"], "changed");
}

#[test]
fn generated_folders_are_compared_with_their_manifests() {
    let scratch = Scratch::new();
    for (family, name) in [("perturbed", "perturbed-1000-1.csv"), ("unet", "unet-1.json")] {
        scratch.plimsoll(&["generate", family, "--count", "2", "-o", family]).exits(0);
        let run = scratch.plimsoll(&["datasets", "verify", family]).exits(0);
        assert_eq!(run.stdout, "2 files match, 0 differ\n");
        let file = format!("{family}/{name}");
        let text = scratch.read(&file);
        scratch.write(&file, text.replacen('1', "2", 1));
        scratch.write(&format!("{family}/other.{}", &name[name.len() - 3..]), "");
        let run = scratch.plimsoll(&["datasets", "verify", family]).exits(1);
        assert!(run.stdout.contains(&format!("changed  {file}, SHA-256 ")), "{}", run.stdout);
        std::fs::remove_file(scratch.path(&file)).unwrap();
        let run = scratch.plimsoll(&["datasets", "verify", family]).exits(1);
        assert!(run.stdout.contains(&format!("missing  {file}\n")), "{}", run.stdout);
    }
    let refuses = |text: &str, part: &str| {
        std::fs::create_dir_all(scratch.path("odd")).unwrap();
        scratch.write("odd/manifest.json", text);
        scratch.plimsoll(&["datasets", "verify", "odd"]).refuses(&["odd/manifest.json: ", part]);
    };
    refuses("{", "the file ends too early");
    refuses("{}", "the member 'format' is missing");
    let with =
        |files: &str| format!("{{\"format\":\"plimsoll-manifest\",\"version\":1,\"files\":[{files}]}}");
    refuses(&with("{\"file\":\"../x\",\"sha256\":\"\"}"), "'../x' is not the name of a file in this folder");
    refuses(
        &with("{\"file\":\"a\",\"sha256\":\"\"},{\"file\":\"a\",\"sha256\":\"\"}"),
        "'a' is listed twice",
    );
    refuses(&with("").replace("\"version\":1", "\"version\":9"), "version 9, is not supported");
}

#[test]
fn manifests_contain_known_bounds() {
    let scratch = Scratch::new();
    let manifest = |words: &[&str]| -> serde_json::Value {
        // Each set needs its own folder, because a manifest that lists other files is never overwritten.
        let folder = words.concat();
        scratch.plimsoll(&[&["generate"], words, &["--count", "1", "--out", &folder]].concat()).exits(0);
        serde_json::from_str(&scratch.read(&format!("{folder}/manifest.json"))).unwrap()
    };
    let bound =
        manifest(&["perturbed", "--param", "share=100", "--param", "sizes=50", "--param", "lives=30"]);
    assert_eq!((bound["family_version"].as_u64(), &bound["parameters"]["share"]), (Some(1), &100.into()));
    assert_eq!(bound["files"][0]["at_most"], 1 << 20);
    assert!(bound["files"][0]["optimum"].is_null());
    let full = manifest(&["minimalloc-like", "--param", "law=1", "--buffers", "90"]);
    let file = &full["files"][0];
    assert_eq!(file["file"], "minimalloc-like-law-1-90-0.1048576.csv");
    assert_eq!((&file["optimum"], &file["capacity"]), (&(1 << 20).into(), &(1 << 20).into()));
    let above = manifest(&["above-load", "--seed", "1"]);
    let file = &above["files"][0];
    assert_eq!((&file["load"], &file["at_least"]), (&(1 << 18).into(), &((1 << 18) + 1024).into()));
    let graph = manifest(&["mobilenet-v2"]);
    assert_eq!(graph["files"][0]["weights"].as_u64(), Some(4 * (3_504_872 - 17_056)));
    let case = manifest(&["perturbed", "--param", "buffers=12"]);
    assert_eq!(case["parameters"]["buffers"], 12);
    let twice = ["generate", "uniform", "--buffers", "3", "--param", "buffers=3"];
    scratch.plimsoll(&twice).refuses(&["--buffers and --param buffers"]);
    scratch
        .plimsoll(&["generate", "uniform", "--param", "unit=0"])
        .refuses(&["unit is 0, but must be at least 1"]);
    scratch.plimsoll(&["generate", "unet", "--param", "depth=11"]).refuses(&["depth is 11"]);
}

#[test]
fn targets_without_a_file_suffix_are_folders_with_a_manifest() {
    let scratch = Scratch::new();
    let generate = |words: &[&str]| scratch.plimsoll(&[&["generate"], words].concat());
    for (family, file) in
        [("packing", "packing-20-3.csv"), ("chain", "chain-3.json"), ("cond-in-cond", "cond-in-cond.json")]
    {
        let count = if family == "packing" { vec!["--buffers", "20"] } else { Vec::new() };
        let run = generate(&[&[family, "--seed", "3", "-o", family], count.as_slice()].concat()).exits(0);
        assert!(run.stdout.contains(&format!("{file}, ")), "{}", run.stdout);
        assert_eq!(std::fs::read_dir(scratch.path(family)).unwrap().count(), 2);
        scratch.plimsoll(&["datasets", "verify", family]).exits(0);
    }
    let manifest: serde_json::Value = serde_json::from_str(&scratch.read("packing/manifest.json")).unwrap();
    assert_eq!(manifest["files"][0]["optimum"], manifest["files"][0]["load"]);
    // A new manifest may list the same or more files, but must not omit any.
    let more = |words: &[&str]| generate(&[&["packing", "-o", "packing", "--buffers", "20"], words].concat());
    more(&["--seed", "3"]).exits(0);
    more(&["--seed", "2", "--count", "3"]).exits(0);
    more(&["--seed", "3"]).refuses(&["packing/manifest.json", "other files"]);
    generate(&["stack", "-o", "packing"]).refuses(&["packing/manifest.json", "other files"]);
    generate(&["packing", "-o", "new/", "--buffers", "5"]).exits(0);
    assert!(scratch.path("new/manifest.json").is_file());
    // With the suffix of a file, the target is a file.
    generate(&["packing", "-o", "x.csv"]).exits(0);
    generate(&["chain", "-o", "x.JSON"]).exits(0);
    assert!(scratch.path("x.csv").is_file() && scratch.path("x.JSON").is_file());
}

#[test]
fn parameters_are_explained() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["list", "moe"]).exits(0);
    assert!(
        run.stdout.starts_with("moe: mixture-of-experts decoder with experts as regions"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("chosen            2  experts per token\n"), "{}", run.stdout);
    let json = scratch.plimsoll(&["list", "perturbed", "--json"]).exits(0).json();
    assert_eq!((&json["params"][0]["name"], &json["version"]), (&"buffers".into(), &1.into()));
    scratch.plimsoll(&["list", "colour"]).refuses(&["unknown name 'colour'"]);
    let operators = scratch.plimsoll(&["list", "operators"]).exits(0).stdout;
    for words in
        ["\nai.onnx, bounded (", "\ncom.microsoft, inferred (", " MatMulNBits ", "\nai.onnx.ml, opaque ("]
    {
        assert!(operators.contains(words), "{words}: {operators}");
    }
    let json = scratch.plimsoll(&["list", "operators", "--json"]).exits(0).json();
    let nms = json.as_array().unwrap().iter().find(|one| one["name"] == "NonMaxSuppression").unwrap();
    assert_eq!((nms["domain"].as_str(), nms["sizing"].as_str()), (Some("ai.onnx"), Some("bounded")));
}

#[test]
fn corpora_are_listed() {
    let scratch = Scratch::new();
    let run = scratch.plimsoll(&["datasets"]).exits(0);
    for corpus in MANIFEST.iter() {
        let line = run.stdout.lines().find(|line| line.contains(corpus.version)).unwrap();
        assert!(line.contains(corpus.folder) && line.contains(corpus.licence), "{line}");
    }
    let files = scratch.plimsoll(&["datasets", "list", "--files"]).exits(0).stdout;
    let count: usize = MANIFEST.iter().map(|corpus| corpus.files.len()).sum();
    assert_eq!(
        files.lines().filter(|line| line.contains("  minimalloc/") || line.contains('/')).count(),
        count + MANIFEST.len()
    );
    let json = scratch.plimsoll(&["datasets", "list", "--json"]).exits(0).json();
    assert_eq!(json["corpora"].as_array().unwrap().len(), MANIFEST.len());
}

#[test]
fn real_copies_are_the_listed_ones() {
    let Some(root) = std::env::var_os("PLIMSOLL_CORPORA").filter(|root| !root.is_empty()) else {
        return eprintln!("skipped: PLIMSOLL_CORPORA is not set");
    };
    let scratch = Scratch::new();
    let mut command = command(&scratch.path(""));
    let run = Run::from(command.env("PLIMSOLL_CORPORA", root).args(["datasets", "verify"]).output().unwrap());
    // Some corpora may be missing, but none may differ.
    assert!(!run.stdout.contains("changed"), "{}", run.stdout);
}
