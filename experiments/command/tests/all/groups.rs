//! Tests that every command keeps, checks or refuses rigid groups (column `above`).

use crate::common::{Scratch, contains};

/// The inputs of one all-reduce, `g1`, `g2` and `g3`, are contiguous. The load, 200, is the optimum.
const GRADS: &str = "id,lower,upper,size,above\na0,0,9,96,\ng1,1,10,32,\ng2,3,10,16,g1+32\n\
    g3,5,10,48,g2+16\nt1,1,3,40,\nt2,3,5,56,\n";

/// Two pairs of buffers at given distances. The load is 8, and only a search proves the optimum of 14.
const CROSSED: &str = "id,lower,upper,size,above\na,0,2,4,\nb,2,4,4,a+6\nc,0,2,4,\nd,2,4,4,c+2\n";

#[test]
fn contiguous_gradients_are_solved_and_verified() {
    let scratch = Scratch::with("grads.csv", GRADS);
    for solver in ["iterated-search", "first-fit-size", "brute-force"] {
        let json = scratch.json(format!("solve grads.csv --algorithm {solver} -o layout.csv --plot p.svg"));
        assert_eq!(json["rigid_groups"], 1, "{solver}");
        assert!(json["peak"] == 200 || solver != "brute-force" && json["peak"].as_u64() > Some(200));
        scratch.ok("verify grads.csv layout.csv");
    }
    contains(&scratch.read("p.svg"), &["32 bytes above g1"]);
    let rows = scratch.cells("layout.csv");
    let offset =
        |name: &str| rows.iter().find(|row| row["id"] == name).unwrap()["offset"].parse::<u64>().unwrap();
    assert_eq!((offset("g2"), offset("g3")), (offset("g1") + 32, offset("g1") + 48));
    scratch.write("moved.csv", "id,offset\na0,0\ng1,96\ng2,128\ng3,152\nt1,128\nt2,144\n");
    let violation = "buffer 'g3' lies at 152 and 'g2' at 128, but 'g3' must lie 16 bytes above 'g2'";
    scratch.run("verify grads.csv moved.csv").exits(1).prints(&[violation]);
}

#[test]
fn proofs_hold_for_the_distances_of_the_file_only() {
    let scratch = Scratch::with("t.csv", CROSSED);
    let run = scratch.ok("solve t.csv --algorithm brute-force -o l.csv --proof t.proof");
    run.prints(&["no layout below 14 bytes"]);
    scratch.ok("verify t.csv l.csv --proof t.proof");
    scratch.write("other.csv", CROSSED.replace("a+6", "a+4").replace("c+2", "c+0"));
    scratch.run("verify other.csv --proof t.proof").exits(1);
}

#[test]
fn unsupported_uses_are_refused() {
    let scratch = Scratch::with("t.64.csv", CROSSED);
    scratch.write("cycle.csv", CROSSED.replace("a,0,2,4,", "a,0,2,4,b+0"));
    let groups = "it has rigid groups (column 'above')";
    for (line, part) in [
        ("solve t.64.csv --algorithm valley-fit", groups),
        ("solve t.64.csv --problem shared-objects", groups),
        ("solve t.64.csv --problem split-buffers", groups),
        ("spill t.64.csv", "has rigid groups (column 'above')"),
        ("convert t.64.csv -o t.json", "must lie 6 bytes above buffer 'a'"),
        ("solve cycle.csv", "cycle.csv: line 3: column 'above': buffer 'b' lies above 'a'"),
    ] {
        scratch.refuses(line, &[part]);
    }
}

#[test]
fn plans_are_compared_and_audited() {
    let scratch = Scratch::new();
    let plan = "id,lower,upper,size,offset,above\na,0,2,4,0,\nb,2,4,4,6,a+6\nc,0,2,4,4,\nd,2,4,4,6,c+2\n";
    scratch.write("plan.csv", plan);
    scratch.run("verify plan.csv").prints(&["share 4 bytes"]);
    scratch.write("fixed.csv", "id,lower,upper,size,offset,above\na,0,2,4,4,\nb,2,4,4,,a+6\nc,0,2,4,,\n");
    scratch.ok("solve fixed.csv").prints(&["2 of 3 buffers at fixed offsets"]);
    scratch.ok("convert fixed.csv -o fixed.json");
    scratch.ok("convert fixed.json -o again.csv");
    let again = "id,lower,upper,size,offset\na,0,2,4,4\nb,2,4,4,10\nc,0,2,4,\n";
    assert_eq!(scratch.read("again.csv"), again);
    scratch.ok("generate reversed --of fixed.csv --out reversed.csv");
    scratch.write("t.csv", CROSSED);
    scratch.ok("generate reversed --of t.csv --out back.csv");
    contains(&scratch.read("back.csv"), &["a+6"]);
}
