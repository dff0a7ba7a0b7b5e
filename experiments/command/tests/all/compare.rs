//! Tests `compare`, and how `verify` compares a layout with the best bound.

use crate::common::Scratch;
use serde_json::{Value, json};

const TWELVE: &str = "id,lower,upper,size\ninput,0,2,4\nconv,1,4,6\npool,3,6,2\ndense,5,8,8\noutput,7,9,3\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("t.12.csv", TWELVE);
    scratch.write("offsets.csv", "offset\n0\n4\n10\n0\n8\n");
    scratch
        .write("mixed.csv", "comment,offset,buffer\nx,8,output\nx,0,dense\nx,10,pool\nx,4,conv\nx,0,input\n");
    scratch.write("over.csv", "id,offset\ninput,10\nconv,14\npool,30\ndense,20\noutput,28\n");
    scratch
}

#[test]
fn layouts_are_compared_with_the_proven_optimum() {
    let scratch = scratch();
    scratch.plimsoll(&["solve", "t.12.csv", "-o", "best.csv"]).exits(0);
    let run =
        scratch.plimsoll(&["compare", "t.12.csv", "offsets.csv", "best.csv", "--plot", "p.svg"]).exits(0);
    for line in [
        "best known   11 bytes by exact, optimal",
        "offsets.csv    12            1   9.09  above the optimum",
        "best.csv       11            0   0.00  optimal",
        "above bound  1 buffer ends above 11 bytes: pool (2 bytes)",
        "at peak      8 bytes are live at step 3: pool (2 bytes), conv (6 bytes)",
        "lost at peak 4 of 12 bytes are free at steps [3, 4)\n",
        "load         11 bytes are live at step 7: dense (8 bytes), output (3 bytes)",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    let picture = scratch.read("p.svg");
    for title in [">offsets<", ">12 B, 9.09 % above<", ">best<", ">exact<", ">11 B, optimal<"] {
        assert!(picture.contains(title), "{title}");
    }
}

#[test]
fn the_json_has_every_reason() {
    let scratch = scratch();
    let json = scratch.plimsoll(&["compare", "t.12.csv", "offsets.csv", "--json"]).exits(0).json();
    let one = &json["layouts"][0];
    assert_eq!(
        json["best"],
        json!({ "algorithm": "exact", "peak": 11, "claim": "optimal", "stop": "completed" })
    );
    assert_eq!((one["gap_bytes"].as_u64(), one["verdict"].as_str()), (Some(1), Some("above the optimum")));
    assert_eq!(one["above_bound"], json!(["pool"]));
    let section = json!({ "lower": 3, "upper": 4, "extent": 12, "live": 8, "free": 4 });
    assert_eq!(one["sections_above_bound"][0], section);
    assert_eq!((&one["load_step"], &one["at_load"]), (&json!(7), &json!(["dense", "output"])));
}

#[test]
fn verify_searches_only_when_asked() {
    let scratch = scratch();
    let open = scratch.plimsoll(&["verify", "t.12.csv", "offsets.csv"]).exits(0);
    assert!(open.stdout.contains("gap          1 byte, 9.09 %: open\n"), "{}", open.stdout);
    for limits in [&["--best"][..], &["--node-limit", "1000"]] {
        let run = scratch.plimsoll(&[&["verify", "t.12.csv", "offsets.csv"], limits].concat()).exits(0);
        assert!(run.stdout.contains("gap          1 byte, 9.09 %: above the optimum\n"), "{}", run.stdout);
    }
    let json =
        scratch.plimsoll(&["compare", "t.12.csv", "offsets.csv", "--no-best", "--json"]).exits(0).json();
    assert_eq!((&json["best"], &json["layouts"][0]["verdict"]), (&Value::Null, &json!("open")));
}

#[test]
fn columns_come_in_any_order_and_unknown_ones_are_noted() {
    let scratch = scratch();
    let run = scratch.plimsoll(&["verify", "t.12.csv", "mixed.csv"]).exits(0);
    assert!(run.stdout.contains("peak         12 bytes"), "{}", run.stdout);
    assert!(
        run.stderr.contains("ignores the column 'comment'") || run.stderr.contains("'comment'"),
        "{}",
        run.stderr
    );
    for (text, message) in [
        ("offset\n0\n4\n", "found 2 rows without a column 'id', but the instance has 5 buffers"),
        (
            "name,offset\nconv,4\ninput,0\npool,10\ndense,0\noutput,8\n",
            "column 'name' contains the ids of the buffers in another order; name it 'id'",
        ),
        ("size,offset\n5,0\n6,4\n", "line 2: column 'size': value '5' of buffer 'input' differs"),
    ] {
        scratch.write("bad.csv", text);
        let run = scratch.plimsoll(&["compare", "t.12.csv", "bad.csv"]).exits(2);
        assert!(run.stderr.contains("bad.csv: ") && run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn violations_of_the_capacity_share_a_line() {
    let scratch = scratch();
    let run = scratch.plimsoll(&["verify", "t.12.csv", "over.csv"]).exits(1);
    assert_eq!(run.stdout.matches("violation ").count(), 1, "{}", run.stdout);
    let line = "5 buffers end above the capacity; the worst: buffer 'pool' ends at 32, beyond the capacity of 12 bytes";
    assert!(run.words().contains(line), "{}", run.stdout);
    let json = scratch.plimsoll(&["verify", "t.12.csv", "over.csv", "--json"]).exits(1).json();
    assert_eq!(json["violations"].as_array().map(Vec::len), Some(5));
    scratch.plimsoll(&["compare", "t.12.csv", "over.csv", "offsets.csv"]).exits(1);
}

#[test]
fn answers_to_other_problems_are_compared_among_themselves() {
    let scratch = scratch();
    for solver in ["shared-greedy-by-size", "split-by-size"] {
        scratch
            .plimsoll(&["solve", "t.12.csv", "--no-capacity", "--algorithm", solver, "-o", "other.csv"])
            .exits(0);
        let run = scratch.plimsoll(&["compare", "t.12.csv", "other.csv", "--plot", "p.svg"]);
        assert!(run.stdout.contains("other.csv"), "{}{}", run.stdout, run.stderr);
        let run = scratch.plimsoll(&["compare", "t.12.csv", "offsets.csv", "other.csv"]).exits(2);
        assert!(
            run.stderr.contains("other.csv: not an answer for offsets, unlike offsets.csv"),
            "{}",
            run.stderr
        );
    }
}
