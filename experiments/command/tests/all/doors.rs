//! Tests names that contain escape sequences, late write errors, and records with symbolic links.

use crate::common::{Run, Scratch, contains};
use serde_json::json;
use std::collections::BTreeSet;

/// The name of a buffer that would change the title and the colours of a terminal.
const ESCAPES: &str = "a\u{1b}]0;title\u{7}\u{1b}[31m";
/// The name of a buffer that would be shown from right to left.
const REVERSED: &str = "b\u{202e}zyx\u{2066}\u{9b}";

/// Asserts that no output contains a character that changes how other characters are shown.
#[track_caller]
fn shown(run: Run, code: i32) -> String {
    let run = run.exits(code);
    let text = run.stdout + &run.stderr;
    let hidden = |c: char| c != '\n' && (c.is_control() || ('\u{2028}'..='\u{2069}').contains(&c));
    assert!(!text.contains(hidden), "{text:?}");
    text
}

#[test]
fn names_reach_the_terminal_without_escape_sequences() {
    let scratch = Scratch::with("i.csv", format!("id,lower,upper,size\n{ESCAPES},0,3,7\n{REVERSED},1,4,9\n"));
    scratch.write("bad.csv", format!("id,lower,upper,size\n{ESCAPES},0,3,x{REVERSED}\n"));
    scratch.write("low.csv", "offset\n0\n3\n");
    let text = shown(scratch.run("spill i.csv --capacity 9"), 0);
    assert!(text.contains("a\\u{1b}]0;title\\u{7}") || text.contains("b\\u{202e}zyx"), "{text}");
    let text = shown(scratch.run("verify i.csv low.csv"), 1);
    contains(&text, &["a\\u{1b}]0;title\\u{7}\\u{1b}[31m", "b\\u{202e}zyx\\u{2066}\\u{9b}"]);
    for (line, code) in [
        ("solve i.csv", 0),
        ("audit i.csv low.csv", 1),
        ("compare i.csv low.csv", 1),
        ("solve bad.csv", 2),
        ("solve none\u{1b}[2J.csv", 2),
        ("solve i.csv --algorithm x\u{202e}\u{1b}[1m", 2),
    ] {
        shown(scratch.run(line), code);
    }
    // JSON contains the names unchanged, and so do files.
    let run = scratch.ok("spill i.csv --capacity 9 --json --with-layout");
    run.prints(&["\\u001b]0;title\\u0007", "\\u202e"]);
    assert_eq!(run.json()["layout"][1]["id"], REVERSED);
    scratch.ok("solve i.csv -o out.csv");
    contains(&scratch.read("out.csv"), &[ESCAPES]);
}

/// Returns a graph of one operator with these names.
fn graph(operator: &str, tensor: &str) -> String {
    json!({ "format": "plimsoll-graph", "version": 1, "name": "net",
        "tensors": [ { "name": "x", "bytes": 24, "role": "input" }, { "name": tensor, "bytes": 40, "role": "output" } ],
        "body": { "inputs": ["x"], "outputs": [tensor],
            "operators": [ { "name": operator, "kind": "Conv", "inputs": ["x"], "outputs": [tensor] } ] } })
    .to_string()
}

#[test]
fn names_of_models_are_escaped_in_reports_and_headers() {
    let scratch = Scratch::with("net.json", graph(&format!("{ESCAPES}\nplan valid"), REVERSED));
    for line in ["import net.json", "order net.json", "plan net.json --capacity 50"] {
        let run = scratch.run(line);
        let code = run.code;
        let text = shown(run, code);
        // A line break in a name does not begin a line of the report.
        assert!(!text.lines().any(|line| line.starts_with("plan valid")), "{text}");
    }
    shown(scratch.run("plan net.json --tensors net.h"), 0);
    let header = scratch.read("net.h");
    assert!(!header.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{header:?}");
    contains(&header, &["b<U+202E>zyx<U+2066><U+009B>"]);
}

#[test]
fn plans_with_similar_names_are_exported_to_their_own_files() {
    let scratch = Scratch::new();
    let names = ["m/1", "m-1", "M:1", "m\\1", "m-1.layout", "m-1-2"];
    let memory = |(name, at): (&&str, u64)| {
        let buffer = json!({ "id": "t", "size": 16 * at, "lower": 0, "upper": 3, "offset": 0 });
        json!({ "name": name, "alignment": 8, "peak": 16 * at, "buffers": [buffer] })
    };
    let memories: Vec<_> = names.iter().zip(1..).map(memory).collect();
    let plan = json!({ "format": "plimsoll-capture", "version": 1, "framework": "f", "framework_version": "1",
        "planner": "p", "model": "net", "batch": 1, "memories": memories });
    scratch.write("plan.json", plan.to_string());
    scratch.ok("audit plan.json --export out");
    let files = std::fs::read_dir(scratch.path("out")).unwrap();
    let files: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    // Even without regard to case, all names differ, and all files have their own content.
    let lower: BTreeSet<String> = files.iter().map(|file| file.to_lowercase()).collect();
    let row = |file: &String| scratch.read(&format!("out/{file}")).lines().nth(1).unwrap().to_owned();
    let rows: BTreeSet<String> = files.iter().map(row).collect();
    assert_eq!([files.len(), lower.len(), rows.len()], [2 * names.len(); 3], "{files:?}");
}

#[test]
fn a_late_write_error_does_not_discard_the_answer() {
    let scratch = Scratch::new();
    // CSV cannot contain a name that begins with a blank.
    scratch.write("net.json", graph("conv", " padded"));
    for line in [
        "plan net.json -o out.csv",
        "plan net.json --instance out.csv",
        "plan net.json --branches naive -o out.csv",
        "solve net.json -o out.csv",
        "order net.json --instance out.csv",
    ] {
        let run = scratch.run(line).exits(2);
        assert!(run.stdout.contains("64 bytes") || run.stdout.contains("claim"), "{line}: {}", run.stdout);
        assert!(run.stderr.starts_with("plimsoll: cannot write out.csv: "), "{line}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{line}: {}", run.stderr);
        assert!(!scratch.path("out.csv").exists(), "{line}");
    }
    let json = scratch.run("plan net.json --json -o out.csv").exits(2).json();
    assert_eq!(json["claim"], "optimal");
    // The other files are written.
    scratch.run("plan net.json -o out.csv --orders orders.csv").exits(2);
    assert!(scratch.read("orders.csv").contains("conv") && !scratch.path("out.csv").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_discard_the_answer() {
    let scratch = Scratch::with("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    scratch.write("good.csv", "offset\n0\n7\n");
    for line in [
        "solve i.csv -o",
        "solve i.csv --certificate",
        "solve i.csv --plot",
        "compare i.csv good.csv --plot",
        "audit i.csv good.csv --plot",
    ] {
        let run = scratch.run(format!("{line} /dev/full")).exits(2);
        run.prints(&["16 bytes"]).warns(&["cannot write /dev/full: No space left"]);
    }
}

#[test]
fn totals_of_shared_objects_are_limited() {
    let scratch = Scratch::with("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    let with = |second: u64| scratch.write("s.csv", format!("id,pool,pool_size\na,0,7\nb,1,{second}\n"));
    with(i64::MAX as u64 - 7);
    scratch.ok("verify i.csv s.csv");
    for second in [i64::MAX as u64 - 6, u64::MAX] {
        with(second);
        let why = "s.csv: column 'pool_size': the sizes of the pools add up to more than 2^63 - 1";
        scratch.refuses("verify i.csv s.csv", &[why]);
    }
}

#[cfg(unix)]
#[test]
fn links_inside_records_are_not_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::with("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    scratch.write("secret.md", "# a secret\n");
    scratch.write("secret.csv", "name,number\nsecret,1\n");
    scratch.ok("bench i.csv --algorithms exact --time-limit 5 --out r");
    let layout = std::fs::read_dir(scratch.path("r/layouts")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&layout).unwrap();
    scratch.write("elsewhere.csv", "id,lower,upper,size,offset\nsecret,0,3,7,0\nb,1,4,9,7\n");
    symlink(scratch.path("elsewhere.csv"), &layout).unwrap();
    std::fs::remove_file(scratch.path("r/README.md")).unwrap();
    symlink(scratch.path("secret.md"), scratch.path("r/README.md")).unwrap();
    symlink(scratch.path("secret.csv"), scratch.path("r/more.csv")).unwrap();
    scratch.ok("report r --out page").warns(&["more.csv is a symbolic link and was skipped"]);
    let page = scratch.read("page/report.html");
    assert!(!page.contains("a secret") && !page.contains(">secret"), "the page shows other files");
    std::fs::rename(scratch.path("r/rows.csv"), scratch.path("rows.csv")).unwrap();
    symlink(scratch.path("rows.csv"), scratch.path("r/rows.csv")).unwrap();
    scratch.refuses("recheck r", &["r/rows.csv: it is a symbolic link out of the record"]);
}
