//! Tests names that contain escape sequences, late write errors, and records with symbolic links.

use crate::common::{Run, Scratch};
use serde_json::json;

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
    let scratch = Scratch::new();
    scratch.write("i.csv", format!("id,lower,upper,size\n{ESCAPES},0,3,7\n{REVERSED},1,4,9\n"));
    scratch.write("bad.csv", format!("id,lower,upper,size\n{ESCAPES},0,3,x{REVERSED}\n"));
    scratch.write("low.csv", "offset\n0\n3\n");
    let text = shown(scratch.plimsoll(&["spill", "i.csv", "--capacity", "9"]), 0);
    assert!(text.contains("a\\u{1b}]0;title\\u{7}") || text.contains("b\\u{202e}zyx"), "{text}");
    shown(scratch.plimsoll(&["solve", "i.csv"]), 0);
    let text = shown(scratch.plimsoll(&["verify", "i.csv", "low.csv"]), 1);
    assert!(
        text.contains("a\\u{1b}]0;title\\u{7}\\u{1b}[31m") && text.contains("b\\u{202e}zyx\\u{2066}\\u{9b}")
    );
    shown(scratch.plimsoll(&["audit", "i.csv", "low.csv"]), 1);
    shown(scratch.plimsoll(&["compare", "i.csv", "low.csv"]), 1);
    shown(scratch.plimsoll(&["solve", "bad.csv"]), 2);
    shown(scratch.plimsoll(&["solve", "none\u{1b}[2J.csv"]), 2);
    shown(scratch.plimsoll(&["solve", "i.csv", "--algorithm", "x\u{202e}\u{1b}[1m"]), 2);
    // JSON contains the names unchanged.
    let run = scratch.plimsoll(&["spill", "i.csv", "--capacity", "9", "--json", "--with-layout"]).exits(0);
    assert!(
        run.stdout.contains("\\u001b]0;title\\u0007") && run.stdout.contains("\\u202e"),
        "{}",
        run.stdout
    );
    assert_eq!(run.json()["layout"][1]["id"], REVERSED);
    // Files contain them too.
    let run = scratch.plimsoll(&["solve", "i.csv", "-o", "out.csv"]).exits(0);
    drop(run);
    assert!(scratch.read("out.csv").contains(ESCAPES));
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
    let scratch = Scratch::new();
    scratch.write("net.json", graph(&format!("{ESCAPES}\nplan valid"), REVERSED));
    for words in
        [&["import", "net.json"][..], &["order", "net.json"], &["plan", "net.json", "--capacity", "50"]]
    {
        let run = scratch.plimsoll(words);
        let code = run.code;
        let text = shown(run, code);
        // A line break in a name does not begin a line of the report.
        assert!(!text.lines().any(|line| line.starts_with("plan valid")), "{text}");
    }
    shown(scratch.plimsoll(&["plan", "net.json", "--tensors", "net.h"]), 0);
    let header = scratch.read("net.h");
    assert!(!header.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{header:?}");
    assert!(header.contains("b<U+202E>zyx<U+2066><U+009B>"), "{header}");
}

#[test]
fn plans_with_similar_names_are_exported_to_their_own_files() {
    let scratch = Scratch::new();
    let memory = |name: &str, size: u64| {
        json!({ "name": name, "alignment": 8, "peak": size,
            "buffers": [ { "id": "t", "size": size, "lower": 0, "upper": 3, "offset": 0 } ] })
    };
    let names = ["m/1", "m-1", "M:1", "m\\1", "m-1.layout", "m-1-2"];
    let memories: Vec<_> = names.iter().zip(1..).map(|(name, at)| memory(name, 16 * at)).collect();
    let plan = json!({ "format": "plimsoll-capture", "version": 1, "framework": "f", "framework_version": "1",
        "planner": "p", "model": "net", "batch": 1, "memories": memories });
    scratch.write("plan.json", plan.to_string());
    scratch.plimsoll(&["audit", "plan.json", "--export", "out"]).exits(0);
    let files = std::fs::read_dir(scratch.path("out")).unwrap();
    let mut files: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files.len(), 2 * names.len(), "{files:?}");
    let mut lower: Vec<String> = files.iter().map(|file| file.to_lowercase()).collect();
    lower.dedup();
    assert_eq!(lower.len(), files.len(), "{files:?}");
    let sizes: std::collections::BTreeSet<String> = files
        .iter()
        .map(|file| scratch.read(&format!("out/{file}")).lines().nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(sizes.len(), 2 * names.len(), "{sizes:?}");
}

#[test]
fn a_late_write_error_does_not_discard_the_answer() {
    let scratch = Scratch::new();
    // CSV cannot contain a name that begins with a blank.
    scratch.write("net.json", graph("conv", " padded"));
    for words in [
        &["plan", "net.json", "-o", "out.csv"][..],
        &["plan", "net.json", "--instance", "out.csv"],
        &["plan", "net.json", "--branches", "naive", "-o", "out.csv"],
        &["solve", "net.json", "-o", "out.csv"],
        &["order", "net.json", "--instance", "out.csv"],
    ] {
        let run = scratch.plimsoll(words).exits(2);
        assert!(run.stdout.contains("64 bytes") || run.stdout.contains("claim"), "{words:?}: {}", run.stdout);
        assert!(run.stderr.starts_with("plimsoll: cannot write out.csv: "), "{words:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{words:?}: {}", run.stderr);
        assert!(!scratch.path("out.csv").exists(), "{words:?}");
    }
    let json = scratch.plimsoll(&["plan", "net.json", "--json", "-o", "out.csv"]).exits(2).json();
    assert_eq!(json["claim"], "optimal");
    // The other files are written.
    scratch.plimsoll(&["plan", "net.json", "-o", "out.csv", "--orders", "orders.csv"]).exits(2);
    assert!(scratch.read("orders.csv").contains("conv") && !scratch.path("out.csv").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_discard_the_answer() {
    let scratch = Scratch::new();
    scratch.write("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    for words in [
        &["solve", "i.csv", "-o", "/dev/full"][..],
        &["solve", "i.csv", "--certificate", "/dev/full"],
        &["solve", "i.csv", "--plot", "/dev/full"],
        &["compare", "i.csv", "good.csv", "--plot", "/dev/full"],
        &["audit", "i.csv", "good.csv", "--plot", "/dev/full"],
    ] {
        scratch.write("good.csv", "offset\n0\n7\n");
        let run = scratch.plimsoll(words).exits(2);
        assert!(run.stdout.contains("16 bytes"), "{words:?}: {}", run.stdout);
        assert!(run.stderr.contains("cannot write /dev/full: No space left"), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn totals_of_shared_objects_are_limited() {
    let scratch = Scratch::new();
    scratch.write("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    for (second, is_valid) in [(i64::MAX as u64 - 7, true), (i64::MAX as u64 - 6, false), (u64::MAX, false)] {
        scratch.write("s.csv", format!("id,pool,pool_size\na,0,7\nb,1,{second}\n"));
        let run = scratch.plimsoll(&["verify", "i.csv", "s.csv"]);
        if is_valid {
            run.exits(0);
        } else {
            run.refuses(&["s.csv: column 'pool_size': the sizes of the pools add up to more than 2^63 - 1"]);
        }
    }
}

#[cfg(unix)]
#[test]
fn links_inside_records_are_not_followed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    scratch.write("i.csv", "id,lower,upper,size\na,0,3,7\nb,1,4,9\n");
    scratch.write("secret.md", "# a secret\n");
    scratch.write("secret.csv", "name,number\nsecret,1\n");
    let bench = ["bench", "i.csv", "--algorithms", "exact", "--time-limit", "5", "--out", "r"];
    scratch.plimsoll(&bench).exits(0);
    let layout = std::fs::read_dir(scratch.path("r/layouts")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&layout).unwrap();
    scratch.write("elsewhere.csv", "id,lower,upper,size,offset\nsecret,0,3,7,0\nb,1,4,9,7\n");
    symlink(scratch.path("elsewhere.csv"), &layout).unwrap();
    std::fs::remove_file(scratch.path("r/README.md")).unwrap();
    symlink(scratch.path("secret.md"), scratch.path("r/README.md")).unwrap();
    symlink(scratch.path("secret.csv"), scratch.path("r/more.csv")).unwrap();
    let run = scratch.plimsoll(&["report", "r", "--out", "page"]).exits(0);
    assert!(run.stderr.contains("more.csv is a symbolic link and was skipped"), "{}", run.stderr);
    let page = scratch.read("page/report.html");
    assert!(!page.contains("a secret") && !page.contains(">secret"), "the page shows other files");
    std::fs::rename(scratch.path("r/rows.csv"), scratch.path("rows.csv")).unwrap();
    symlink(scratch.path("rows.csv"), scratch.path("r/rows.csv")).unwrap();
    scratch.plimsoll(&["recheck", "r"]).refuses(&["r/rows.csv: it is a symbolic link out of the record"]);
}
