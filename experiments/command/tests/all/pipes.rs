//! Standard input and output as files, and units of sizes and times.

use crate::common::{Scratch, TINY, command};
use std::io::Write as _;
use std::process::Stdio;

/// Runs `plimsoll` with a text on standard input; returns exit code, standard output and standard error.
fn piped(scratch: &Scratch, words: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = command(&scratch.path("."))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments may end before it reads.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn an_instance_is_piped_through() {
    let scratch = Scratch::new();
    let (code, layout, report) = piped(&scratch, &["solve", "-", "-o", "-"], TINY.as_bytes());
    assert_eq!(code, 0, "{report}");
    assert!(layout.starts_with("id,lower,upper,size,offset\na,0,4,4,"), "{layout}");
    assert!(report.contains("instance     standard-input: 3 buffers, load 8\n"), "{report}");
    scratch.write("t.csv", TINY);
    let (code, text, _) = piped(&scratch, &["verify", "t.csv", "-"], layout.as_bytes());
    assert_eq!((code, text.contains("gap          0 bytes, 0.00 %: optimal")), (0, true), "{text}");
    let (code, json, _) = piped(&scratch, &["compare", "t.csv", "-", "--json"], layout.as_bytes());
    assert_eq!(code, 0);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
}

#[test]
fn a_graph_is_piped_through() {
    let scratch = Scratch::new();
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let graph = scratch.read("net.json");
    let (code, text, _) = piped(&scratch, &["plan", "-"], graph.as_bytes());
    assert_eq!((code, text.contains("graph        lenet5-0: ")), (0, true), "{text}");
    let (code, picture, text) = piped(&scratch, &["plan", "-", "--plot", "-"], graph.as_bytes());
    assert_eq!((code, picture.starts_with("<svg ")), (0, true), "{text}");
    assert!(text.contains("arena "), "{text}");
}

#[test]
fn messages_about_standard_input_name_it() {
    let scratch = Scratch::new();
    let (code, _, message) = piped(&scratch, &["solve", "-"], b"id,lower,upper,size\na,0,x,4\n");
    assert_eq!(code, 2);
    assert!(message.starts_with("plimsoll: -: line 2: column 'upper': value 'x'"), "{message}");
    let (code, _, message) = piped(&scratch, &["compare", "-", "-"], TINY.as_bytes());
    assert_eq!((code, message.contains("standard input can be read only once")), (2, true), "{message}");
    let (code, _, message) = piped(&scratch, &["solve", "-", "-o", "-", "--plot", "-"], TINY.as_bytes());
    assert_eq!((code, message.contains("two outputs")), (2, true), "{message}");
}

#[test]
fn sizes_and_times_have_units() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "id,lower,upper,size\na,0,4,4096\nb,0,2,2048\n");
    let json = scratch.plimsoll(&["solve", "t.csv", "--capacity", "64k", "--time-limit", "200ms", "--json"]);
    let json = json.exits(0).json();
    assert_eq!((json["capacity"].as_u64(), json["time_limit"].as_f64()), (Some(65536), Some(0.2)));
    scratch.plimsoll(&["spill", "t.csv", "--capacity", "4KiB", "--time-limit", "5s"]).exits(0);
    scratch
        .plimsoll(&["solve", "t.csv", "--capacity", "64 parsecs"])
        .refuses(&["--capacity", "expected a size"]);
    scratch.plimsoll(&["solve", "t.csv", "--capacity", "1.3"]).refuses(&["expected a whole number of bytes"]);
    scratch.plimsoll(&["solve", "t.csv", "--time-limit", "5 days"]).refuses(&["expected a time such as 5"]);
}
