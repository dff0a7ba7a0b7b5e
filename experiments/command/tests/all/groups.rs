//! Tests that every command keeps, checks or refuses rigid groups (column `above`).

use crate::common::Scratch;

/// The inputs of one all-reduce, `g1`, `g2` and `g3`, are contiguous. The load, 200, is the optimum.
const GRADS: &str = "id,lower,upper,size,above\na0,0,9,96,\ng1,1,10,32,\ng2,3,10,16,g1+32\n\
    g3,5,10,48,g2+16\nt1,1,3,40,\nt2,3,5,56,\n";

/// Two pairs of buffers at given distances. The load is 8, and only a search proves the optimum of 14.
const CROSSED: &str = "id,lower,upper,size,above\na,0,2,4,\nb,2,4,4,a+6\nc,0,2,4,\nd,2,4,4,c+2\n";

#[test]
fn contiguous_gradients_are_solved_and_verified() {
    let scratch = Scratch::new();
    scratch.write("grads.csv", GRADS);
    for solver in ["brute-force", "iterated-search", "first-fit-size"] {
        let words = ["solve", "grads.csv", "--algorithm", solver, "-o", "layout.csv", "--json"];
        let json = scratch.plimsoll(&words).exits(0).json();
        assert_eq!(json["rigid_groups"], 1, "{solver}");
        assert!(json["peak"].as_u64() >= Some(200), "{solver}");
        scratch.plimsoll(&["verify", "grads.csv", "layout.csv"]).exits(0);
    }
    let words = ["solve", "grads.csv", "--algorithm", "brute-force", "-o", "best.csv", "--plot", "best.svg"];
    let run = scratch.plimsoll(&words).exits(0);
    for part in ["1 group of 3 buffers at given distances", "optimal", "200 bytes"] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    assert!(scratch.read("best.svg").contains("32 bytes above g1"));
    let layout = scratch.read("best.csv");
    let offset = |name: &str| -> u64 {
        let row = layout.lines().find(|line| line.starts_with(name)).unwrap();
        row.rsplit(',').next().unwrap().parse().unwrap()
    };
    assert_eq!((offset("g2"), offset("g3")), (offset("g1") + 32, offset("g1") + 48));
    scratch.write("moved.csv", "id,offset\na0,0\ng1,96\ng2,128\ng3,152\nt1,128\nt2,144\n");
    let run = scratch.plimsoll(&["verify", "grads.csv", "moved.csv"]).exits(1);
    let violation = "buffer 'g3' lies at 152 and 'g2' at 128, but 'g3' must lie 16 bytes above 'g2'";
    assert!(run.stdout.contains(violation), "{}", run.stdout);
}

#[test]
fn proofs_hold_for_the_distances_of_the_file_only() {
    let scratch = Scratch::new();
    scratch.write("t.csv", CROSSED);
    let words = ["solve", "t.csv", "--algorithm", "brute-force", "-o", "l.csv", "--proof", "t.proof"];
    let run = scratch.plimsoll(&words).exits(0);
    assert!(run.stdout.contains("no layout below 14 bytes"), "{}", run.stdout);
    scratch.plimsoll(&["verify", "t.csv", "l.csv", "--proof", "t.proof"]).exits(0);
    scratch.write("other.csv", CROSSED.replace("a+6", "a+4").replace("c+2", "c+0"));
    scratch.plimsoll(&["verify", "other.csv", "--proof", "t.proof"]).exits(1);
}

#[test]
fn unsupported_uses_are_refused() {
    let scratch = Scratch::new();
    scratch.write("t.64.csv", CROSSED);
    let refuses = |words: &[&str], part: &str| {
        scratch.plimsoll(words).refuses(&[part]);
    };
    let groups = "it has rigid groups (column 'above')";
    refuses(&["solve", "t.64.csv", "--algorithm", "valley-fit"], groups);
    refuses(&["solve", "t.64.csv", "--problem", "shared-objects"], groups);
    refuses(&["solve", "t.64.csv", "--problem", "split-buffers"], groups);
    refuses(&["spill", "t.64.csv"], "has rigid groups (column 'above')");
    refuses(&["convert", "t.64.csv", "-o", "t.json"], "must lie 6 bytes above buffer 'a'");
    scratch.write("cycle.csv", CROSSED.replace("a,0,2,4,", "a,0,2,4,b+0"));
    refuses(&["solve", "cycle.csv"], "cycle.csv: line 3: column 'above': buffer 'b' lies above 'a'");
}

#[test]
fn plans_are_compared_and_audited() {
    let scratch = Scratch::new();
    let plan = "id,lower,upper,size,offset,above\na,0,2,4,0,\nb,2,4,4,6,a+6\nc,0,2,4,4,\nd,2,4,4,6,c+2\n";
    scratch.write("plan.csv", plan);
    let run = scratch.plimsoll(&["verify", "plan.csv"]);
    assert!(run.stdout.contains("share 4 bytes"), "{}{}", run.stdout, run.stderr);
    scratch.write("fixed.csv", "id,lower,upper,size,offset,above\na,0,2,4,4,\nb,2,4,4,,a+6\nc,0,2,4,,\n");
    let run = scratch.plimsoll(&["solve", "fixed.csv"]).exits(0);
    assert!(run.stdout.contains("2 of 3 buffers at fixed offsets"), "{}", run.stdout);
    scratch.plimsoll(&["convert", "fixed.csv", "-o", "fixed.json"]).exits(0);
    scratch.plimsoll(&["convert", "fixed.json", "-o", "again.csv"]).exits(0);
    let again = "id,lower,upper,size,offset\na,0,2,4,4\nb,2,4,4,10\nc,0,2,4,\n";
    assert_eq!(scratch.read("again.csv"), again);
    let words = ["generate", "reversed", "--of", "fixed.csv", "--out", "reversed.csv"];
    scratch.plimsoll(&words).exits(0);
    scratch.write("t.csv", CROSSED);
    scratch.plimsoll(&["generate", "reversed", "--of", "t.csv", "--out", "back.csv"]).exits(0);
    assert!(scratch.read("back.csv").contains("a+6"), "{}", scratch.read("back.csv"));
}
