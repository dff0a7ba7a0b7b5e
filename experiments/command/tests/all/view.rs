//! Tests the pages of `view`: the answers that they contain, and the options after `--`.

use crate::common::{ABOVE_LOAD, Scratch};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
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
    let scratch = Scratch::new();
    scratch.write("t.csv", ABOVE_LOAD);
    scratch.plimsoll(&["view", "t.csv"]).exits(0);
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
    let scratch = Scratch::new();
    scratch.write("t.20.csv", ABOVE_LOAD);
    for (options, capacity) in [
        (&["--algorithm", "exact"][..], None),
        (&["--capacity", "1KiB", "--seed", "3"], Some(Value::from(1024))),
        (&["--capacity=10"], Some(Value::from(10))),
        (&["--no-capacity"], Some(Value::Null)),
    ] {
        scratch.plimsoll(&[&["view", "t.20.csv", "--"], options].concat()).exits(0);
        let (data, answer) = data(&scratch, "t.20.html");
        assert_eq!(data.get("capacity"), capacity.as_ref(), "{options:?}");
        assert_eq!((&answer["claim"], &answer["peak"]), (&"optimal".into(), &17.into()), "{options:?}");
    }
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    scratch.plimsoll(&["view", "net.json", "--", "--capacity", "1MiB"]).exits(0);
    let (data, answer) = data(&scratch, "net.html");
    assert_eq!((&data["capacity"], &answer["fits"]), (&(1 << 20).into(), &true.into()));
}

#[test]
fn options_that_the_page_sets_are_refused_by_name() {
    let scratch = Scratch::new();
    scratch.write("t.20.csv", ABOVE_LOAD);
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    let refuses = |file: &str, options: &[&str], why: &str| {
        let run = scratch.plimsoll(&[&["view", file, "--"], options].concat()).refuses(&[why]);
        assert!(!run.stderr.contains("--tensors <"), "{}", run.stderr);
    };
    for options in [&["--output", "x.csv"][..], &["--problem=offsets"], &["--decide"], &["--json"]] {
        let name = options[0].split('=').next().unwrap();
        refuses("t.20.csv", options, &format!("view does not take {name}"));
    }
    refuses("t.20.csv", &["-ox.csv"], "view does not take -o");
    refuses("t.20.csv", &["--certificate", "c.json"], "view does not take --certificate");
    for options in [&["--tensors", "x.csv"][..], &["--conflicts", "mutex"], &["--compare"]] {
        refuses("net.json", options, &format!("view does not take {}", options[0]));
    }
    refuses("t.20.csv", &["--capacity", "much"], "--capacity 'much': ");
    refuses("t.20.csv", &["--capacity"], "--capacity requires a value");
    refuses("t.20.csv", &["--algorithm", "pool-exact"], "pool-exact");
}

#[test]
fn a_page_states_that_no_layout_exists() {
    let scratch = Scratch::new();
    scratch.write("x.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\nc,0,3,4,\n");
    scratch.plimsoll(&["view", "x.csv"]).exits(0);
    let (data, answer) = data(&scratch, "x.html");
    assert_eq!((&answer["claim"], &answer["lower_bound"]), (&"infeasible".into(), &Value::Null));
    assert_eq!((&data["answer"]["code"], &data["name"]), (&1.into(), &"x.csv".into()));
}
