//! Tests the pages of `view`: the answers that they contain, and the options after `--`.

use crate::common::{ABOVE_LOAD, Scratch, has};
#[cfg(target_os = "linux")]
use crate::common::{Run, command};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns the data in a page, and the output of the command in it.
fn data(scratch: &Scratch, page: &str) -> (Value, Value) {
    let text = scratch.read(page);
    let (_, data) = text.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let answer = serde_json::from_str(data["answer"]["out"].as_str().unwrap()).unwrap();
    (data, answer)
}

#[test]
fn the_content_security_policy_allows_the_script() {
    let scratch = Scratch::with("t.csv", ABOVE_LOAD);
    scratch.ok("view t.csv");
    let page = scratch.read("t.html");
    let (_, allowed) = page.split_once("script-src 'sha256-").unwrap();
    let (allowed, _) = allowed.split_once('\'').unwrap();
    let scripts = page.split("<script").skip(1).map(|rest| rest.split_once('>').unwrap().1);
    let mut hashes = scripts.map(|rest| {
        let (script, _) = rest.split_once("</script>").unwrap();
        BASE64_STANDARD.encode(Sha256::digest(script))
    });
    assert!(hashes.any(|hash| hash == allowed), "no script has the hash {allowed}");
}

#[test]
fn options_set_or_remove_the_capacity() {
    let scratch = Scratch::with("t.20.csv", ABOVE_LOAD);
    for (options, capacity) in [
        ("--algorithm exact", None),
        ("--capacity 1KiB --seed 3", Some(json!(1024))),
        ("--capacity=10", Some(json!(10))),
        ("--no-capacity", Some(Value::Null)),
    ] {
        scratch.ok(format!("view t.20.csv -- {options}"));
        let (data, answer) = data(&scratch, "t.20.html");
        assert_eq!(data.get("capacity"), capacity.as_ref(), "{options}");
        has(&answer, &json!({ "claim": "optimal", "peak": 17 }));
    }
    scratch.ok("generate lenet5 --out net.json");
    scratch.ok("view net.json -- --capacity 1MiB");
    let (data, answer) = data(&scratch, "net.html");
    assert_eq!([&data["capacity"], &answer["fits"]], [&json!(1 << 20), &json!(true)]);
}

#[test]
fn options_that_the_page_sets_are_refused_by_name() {
    let scratch = Scratch::with("t.20.csv", ABOVE_LOAD);
    scratch.ok("generate lenet5 --out net.json");
    for (line, why) in [
        ("t.20.csv -- --output x.csv", "view does not take --output"),
        ("t.20.csv -- --problem=offsets", "view does not take --problem"),
        ("t.20.csv -- --decide", "view does not take --decide"),
        ("t.20.csv -- --json", "view does not take --json"),
        ("t.20.csv -- -ox.csv", "view does not take -o"),
        ("t.20.csv -- --certificate c.json", "view does not take --certificate"),
        ("net.json -- --tensors x.csv", "view does not take --tensors"),
        ("net.json -- --conflicts mutex", "view does not take --conflicts"),
        ("net.json -- --compare", "view does not take --compare"),
        ("t.20.csv -- --capacity much", "--capacity 'much': "),
        ("t.20.csv -- --capacity", "--capacity requires a value"),
        ("t.20.csv -- --algorithm pool-exact", "pool-exact"),
    ] {
        let run = scratch.run(format!("view {line}")).refuses(&[why]);
        assert!(!run.stderr.contains("--tensors <"), "{}", run.stderr);
    }
}

#[test]
fn a_page_states_that_no_layout_exists() {
    let scratch = Scratch::with("x.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\nc,0,3,4,\n");
    scratch.ok("view x.csv");
    let (data, answer) = data(&scratch, "x.html");
    has(&answer, &json!({ "claim": "infeasible", "lower_bound": null }));
    assert_eq!([&data["answer"]["code"], &data["name"]], [&json!(1), &json!("x.csv")]);
}

/// Runs `view --open` with a folder of programs in place of PATH.
#[cfg(target_os = "linux")]
fn opened(scratch: &Scratch, programs: &str, line: &str) -> Run {
    let mut command = command(&scratch.path("."));
    Run::from(command.args(line.split(' ')).env("PATH", scratch.path(programs)).output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_only_on_request() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::with("t.csv", ABOVE_LOAD);
    let stub = format!("#!/bin/sh\necho \"$@\" > '{}'\n", scratch.path("opened").display());
    let stub = scratch.write("programs/xdg-open", stub);
    std::fs::set_permissions(stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    opened(&scratch, "programs", "view t.csv").exits(0);
    assert!(!scratch.path("opened").exists());
    let run =
        opened(&scratch, "programs", "view t.csv --output page.html --open -- --algorithm exact").exits(0);
    let [seen, page] = [scratch.read("opened"), scratch.path("page.html").display().to_string()];
    assert_eq!((seen.trim_end(), run.stderr.as_str()), (page.as_str(), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_without_a_browser_is_written_with_a_warning() {
    let scratch = Scratch::with("t.csv", ABOVE_LOAD);
    std::fs::create_dir(scratch.path("none")).unwrap();
    let run = opened(&scratch, "none", "view t.csv --open").exits(0);
    assert!(run.stderr.starts_with("plimsoll: warning: cannot open t.html in a browser: "), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    assert!(scratch.path("t.html").exists());
    scratch.run("view t.csv --open -o -").refuses(&["--open requires a file"]);
}
