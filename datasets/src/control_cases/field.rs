//! Cases that were reported for real planners. The descriptions and the sizes are our own.

use super::sketch::Sketch;
use plimsoll_model::graph::Graph;

/// One conditional produces `r1`, which is read after the next conditional. Some runtimes leave the result of
/// a branch in the memory of that branch, and give the branches of all conditionals the same memory. Such a
/// runtime overwrites `r1`.
///
/// The peak is at the point at which the result of a branch of the first conditional is copied to `r1`: `go`,
/// `x`, this result and `r1` need 1 + 8 + 8 + 8 = 25 bytes. Elsewhere, at most three tensors of 8 bytes are
/// live, and `go` can have offset 24, so 25 bytes suffice. With one block of 8 bytes per conditional, the
/// second block is live together with `go`, `x`, `r1` and `r2`, so 33 bytes are needed.
pub(super) fn cond_then_cond() -> Graph {
    let mut s = Sketch::new("cond-then-cond");
    let (body, go, x) = (s.body, s.input("go", 1), s.input("x", 8));
    let mut results = Vec::new();
    for at in [1, 2] {
        let result = s.made(&format!("r{at}"), 8);
        let cond = s.makes(body, "If", &[go], &format!("cond{at}"), &[result]);
        for branch in ["then", "else"] {
            let region = s.region(cond, branch);
            let y = s.step(region, "Any", &[x], &format!("{branch}{at}"), 8);
            s.close(region, &[], &[y]);
        }
        results.push(result);
    }
    let y = s.step(body, "Add", &results, "y", 8);
    s.finish(&[y])
}

/// The first conditional produces `r1`. The second reads `r1` and contains the third. While the third runs,
/// `r1` and the tensor `q` of the enclosing branch are still needed. A plan that starts every nested branch
/// at the same offset overwrites one of these two tensors.
///
/// The peak is at the point at which the result of a branch of the third conditional is copied to `r3`: `r1`,
/// `q`, this result and `r3` need 32 bytes, and both flags are dead. Elsewhere, at most three tensors of
/// 8 bytes are live, which leaves enough space for the flags.
pub(super) fn cond_in_cond() -> Graph {
    let mut s = Sketch::new("cond-in-cond");
    let (body, go, neg, x) = (s.body, s.input("go", 1), s.input("neg", 1), s.input("x", 8));
    let r1 = s.made("r1", 8);
    let first = s.makes(body, "If", &[go], "cond1", &[r1]);
    for branch in ["then", "else"] {
        let region = s.region(first, branch);
        let y = s.step(region, "Any", &[x], &format!("{branch}1"), 8);
        s.close(region, &[], &[y]);
    }
    let r2 = s.made("r2", 8);
    let second = s.makes(body, "If", &[go], "cond2", &[r2]);
    let then = s.region(second, "then");
    let q = s.step(then, "Neg", &[r1], "q", 8);
    let r3 = s.made("r3", 8);
    let third = s.makes(then, "If", &[neg], "cond3", &[r3]);
    for branch in ["then", "else"] {
        let region = s.region(third, branch);
        let y = s.step(region, "Any", &[r1], &format!("{branch}3"), 8);
        s.close(region, &[], &[y]);
    }
    let w = s.step(then, "Add", &[q, r3], "w", 8);
    s.close(then, &[], &[w]);
    let other = s.region(second, "else");
    s.close(other, &[], &[r1]);
    let y = s.step(body, "Add", &[r1, r2], "y", 8);
    s.finish(&[y])
}

/// All arguments, here `a` and `b`, are copied to the inputs of the branch before the branch starts. `a` is
/// also read after the conditional. If `a1` overlaps `b`, the first copy overwrites the source of the second.
/// If any tensor of the branch overlaps `a`, the last operator reads garbage.
///
/// When a branch begins, `a`, `b` and both copies are live and need 16 bytes; `cond` is already dead. At all
/// other points, at most 16 bytes are live.
pub(super) fn copies_into_branch() -> Graph {
    let mut s = Sketch::new("copies-into-branch");
    let (body, cond, a, b) = (s.body, s.input("cond", 1), s.input("a", 4), s.input("b", 4));
    let out = s.made("out", 4);
    let choose = s.makes(body, "IF", &[cond, a, b], "choose", &[out]);
    for (at, kind) in [(1, "ADD"), (2, "MUL")] {
        let region = s.region(choose, if at == 1 { "then" } else { "else" });
        let given = [s.given(&format!("a{at}"), 4), s.given(&format!("b{at}"), 4)];
        let y = s.step(region, kind, &given, &format!("c{at}"), 4);
        s.close(region, &given, &[y]);
    }
    let y = s.step(body, "SUB", &[out, a], "y", 4);
    s.finish(&[y])
}

/// The else branch has no operator and returns its input. A planner that collects tensors only from operators
/// gives that input no lifespan, and hence no memory.
///
/// The larger branch has its peak at the operator that reads `wide` and produces `y1`, which need 12 + 4
/// bytes. By then, `x` is dead, because copying it to `x1` was its last use.
pub(super) fn empty_branch() -> Graph {
    let mut s = Sketch::new("empty-branch");
    let (body, cond, x) = (s.body, s.input("cond", 1), s.input("x", 4));
    let out = s.made("out", 4);
    let choose = s.makes(body, "IF", &[cond, x], "choose", &[out]);
    let then = s.region(choose, "then");
    let x1 = s.given("x1", 4);
    let wide = s.step(then, "CONV_2D", &[x1], "wide", 12);
    let y1 = s.step(then, "CONV_2D", &[wide], "y1", 4);
    s.close(then, &[x1], &[y1]);
    let other = s.region(choose, "else");
    let x2 = s.given("x2", 4);
    s.close(other, &[x2], &[x2]);
    let y = s.step(body, "RELU", &[out], "y", 4);
    s.finish(&[y])
}

/// The condition of a loop receives `data`. It never reads `data`, but the loop still copies `data`. If a
/// planner gives unread tensors no lifespan, that copy can overwrite any other tensor.
///
/// Of the tensors `data?`, `data in` and `data next`, one pair is live when the body begins, another in the
/// body, and the third when the body has ended. Hence no two of them may overlap. Yet at most 2 * (48 + 4) =
/// 104 bytes are live at any point of the program, because lifespans in a loop are circular. `count?` and
/// `count next` conflict with all of these, and with each other, so the optimum is 3 * 48 + 2 * 4 = 152.
pub(super) fn idle_argument() -> Graph {
    let mut s = Sketch::new("idle-argument");
    let (body, count, data) = (s.body, s.input("count", 4), s.input("data", 48));
    let made = [s.made("count out", 4), s.made("data out", 48)];
    let repeat = s.makes(body, "WHILE", &[count, data], "repeat", &made);
    let cond = s.region(repeat, "cond");
    let given = [s.given("count?", 4), s.given("data?", 48)];
    let go = s.step(cond, "LESS", &given[..1], "go", 1);
    s.close(cond, &given, &[go]);
    let inner = s.region(repeat, "body");
    let given = [s.given("count in", 4), s.given("data in", 48)];
    let next = [
        s.step(inner, "MUL", &given[..1], "count next", 4),
        s.step(inner, "MUL", &given[1..], "data next", 48),
    ];
    s.close(inner, &given, &next);
    s.finish(&made[1..])
}

/// One branch needs 500 bytes, and the other needs 400. A tool that adds them up reserves 900 bytes in
/// addition to `x` and `y`.
///
/// `then wide` has 400 bytes and is live together with either `x` or `then narrow`, each of 100 bytes.
/// Nothing else is live at these points, and all other points need less, so 500 bytes suffice. One block of
/// 500 bytes for both branches is live together with `x`, `y` and `go`, so 701 bytes are needed.
pub(super) fn both_branches_summed() -> Graph {
    let mut s = Sketch::new("both-branches-summed");
    let (body, go, x) = (s.body, s.input("go", 1), s.input("x", 100));
    let y = s.made("y", 100);
    let choose = s.makes(body, "If", &[go], "choose", &[y]);
    for (branch, bytes) in [("then", 400), ("else", 300)] {
        let region = s.region(choose, branch);
        let wide = s.step(region, "Conv", &[x], &format!("{branch} wide"), bytes);
        let narrow = s.step(region, "Conv", &[wide], &format!("{branch} narrow"), 100);
        s.close(region, &[], &[narrow]);
    }
    s.finish(&[y])
}

/// The last use of `a` is in the innermost of three branches, which then produces `c` of the same size. A
/// planner needs space for both if it extends `a` to the end of the outermost conditional, or if it plans
/// only the outermost region.
///
/// When `a` is produced, it is live together with `x` and three flags, which need 64 + 16 + 3 = 83 bytes. In
/// the innermost branch, `x` is dead from the beginning, so at most 64 + 16 + 3 bytes are live. `c` can reuse
/// the space of `a`, so 83 bytes suffice.
pub(super) fn if_three_deep() -> Graph {
    let mut s = Sketch::new("if-three-deep");
    let (body, x) = (s.body, s.input("x", 16));
    let flags = ["p", "q", "r"].map(|name| s.input(name, 1));
    let a = s.step(body, "Any", &[x], "a", 64);
    let results = [1, 2, 3].map(|at| s.made(&format!("r{at}"), 16));
    let (mut region, mut around) = (body, Vec::new());
    for (at, flag) in flags.into_iter().enumerate() {
        let owner = s.makes(region, "scf.if", &[flag], &format!("if{}", at + 1), &results[at..=at]);
        region = s.region(owner, &format!("then{}", at + 1));
        around.push((owner, region));
    }
    let b = s.step(region, "Any", &[a], "b", 16);
    let c = s.step(region, "Any", &[b], "c", 64);
    let mut result = s.step(region, "Any", &[c], "d", 16);
    for (at, (owner, then)) in around.into_iter().enumerate().rev() {
        s.close(then, &[], &[result]);
        let other = s.region(owner, &format!("else{}", at + 1));
        s.close(other, &[], &[x]);
        result = results[at];
    }
    let y = s.step(body, "Any", &[result], "y", 16);
    s.finish(&[y])
}

/// The operators run in the order A, either B or C, D, either E or F, G. The chosen result is copied to the
/// input of the next operator.
///
/// The peak is at the point at which the 10 bytes of F are copied to 10 other bytes, which gives 20 bytes. If
/// both branches are laid out sequentially, 10 bytes are reserved for the copy of E. D and this copy are live
/// when F is produced: 4 + 10 + 10 = 24.
pub(super) fn two_branches_in_a_row() -> Graph {
    let mut s = Sketch::new("two-branches-in-a-row");
    let (body, p, q) = (s.body, s.input("p", 1), s.input("q", 1));
    let mut last = s.step(body, "Any", &[], "A", 4);
    let rounds = [(p, "B or C", 8, [("B", 6), ("C", 8)]), (q, "E or F", 10, [("E", 6), ("F", 10)])];
    for ((flag, name, bytes, branches), (after, size)) in rounds.into_iter().zip([("D", 4), ("G", 4)]) {
        let chosen = s.made(name, bytes);
        let choose = s.makes(body, "If", &[flag], name, &[chosen]);
        for (branch, bytes) in branches {
            let region = s.region(choose, branch);
            let made = s.step(region, "Any", &[last], branch, bytes);
            s.close(region, &[], &[made]);
        }
        last = s.step(body, "Any", &[chosen], after, size);
    }
    s.finish(&[last])
}
