//! Cases in which memory is wasted if every conditional gets one contiguous block.

use super::sketch::Sketch;
use plimsoll_model::graph::Graph;

/// ```text
///          A B   B C D   B D E   D E u v   E F
/// A 4      ###                                    reads A, makes B
/// B 1      ###   #####   #####
/// C 2            #####
/// D 2            #####   #####   #######
/// E 1                    #####   #######   ###
/// u 1, v 1                       #######          in a branch
/// F 3                                      ###
/// ```
/// Five bytes suffice, with offsets A 0, B 4, C 0, D 2, E 1, u 0, v 4, F 2. In *every* layout of five bytes,
/// u and v are not adjacent, so a block of two bytes does not fit, and a layout with such a block needs six
/// bytes. Proof:
/// - A and B fill five bytes, so B has offset 0 or 4. Assume that it is 4; the other case is the mirror
///   image.
/// - C and D fill the four bytes below B, so D has offset 0 or 2.
/// - Next to F, E can have offsets 0, 1, 3 and 4.
/// - With B at 4 and D at 2, E can have offsets 0 and 1. With D at 0, it can have 2 and 3, but only 3 is
///   possible next to F.
/// - D and E leave the offsets {1, 4}, {0, 4} or {2, 4} for u and v.
pub(super) fn block_fills_no_holes() -> Graph {
    let mut s = Sketch::new("block-fills-no-holes");
    let (body, a) = (s.body, s.input("A", 4));
    let b = s.step(body, "Any", &[a], "B", 1);
    let c = s.step(body, "Any", &[b], "C", 2);
    let d = s.step(body, "Any", &[b, c], "D", 2);
    let e = s.step(body, "Any", &[b, d], "E", 1);
    let report = s.makes(body, "If", &[e], "report", &[]);
    let then = s.region(report, "then");
    let halves = [s.made("u", 1), s.made("v", 1)];
    s.makes(then, "Split", &[d], "split", &halves);
    s.makes(then, "Send", &halves, "send", &[]);
    s.close(then, &[], &[]);
    let other = s.region(report, "else");
    s.makes(other, "Send", &[d], "send all", &[]);
    s.close(other, &[], &[]);
    let f = s.step(body, "Any", &[e], "F", 3);
    s.finish(&[f])
}

/// Both branches read `x`. In the larger branch, only the first operator reads `x`, so `wide` can reuse the
/// space of `x`.
///
/// `x` and `t`, or `t` and `wide`, need eight bytes, and eight bytes suffice with offsets t 6, wide 0, s 6.
/// Planned on its own, the branch also needs a block of 8 bytes. The block is live together with `go`, `x`
/// and `y`: 8 + 1 + 6 + 2 = 17.
pub(super) fn block_beside_its_input() -> Graph {
    branching("block-beside-its-input", true)
}

/// Like the previous case, but the smaller branch does not read `x`.
///
/// If both branches are executed sequentially and their results are kept, the peak is 8 bytes, because `x`
/// dies in the first operator. The plan with a block needs 17 bytes as before.
pub(super) fn block_behind_sequence() -> Graph {
    branching("block-behind-sequence", false)
}

fn branching(name: &str, both: bool) -> Graph {
    let mut s = Sketch::new(name);
    let (body, go, x) = (s.body, s.input("go", 1), s.input("x", 6));
    let y = s.made("y", 2);
    let choose = s.makes(body, "If", &[go], "choose", &[y]);
    let then = s.region(choose, "then");
    let t = s.step(then, "Any", &[x], "t", 2);
    let wide = s.step(then, "Any", &[t], "wide", 6);
    let small = s.step(then, "Any", &[wide], "s", 2);
    s.close(then, &[], &[small]);
    let other = s.region(choose, "else");
    let reads: &[_] = if both { &[x] } else { &[] };
    let e = s.step(other, "Any", reads, "e", 2);
    s.close(other, &[], &[e]);
    s.finish(&[y])
}
