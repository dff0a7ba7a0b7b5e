//! Rigid groups: statements, errors, the normal form, the checker and the CSV column `above`.

use plimsoll_model::csv::{ReadOptions, read_instance, write_instance};
use plimsoll_model::{
    Budget, Buffer, BufferId, Bytes, Instance, InstanceBuilder, InstanceError, Layout, Lifespan, LowerBound,
    Observer, Offsets, Outcome, Problem, SharedObjects, Silent, SolveError, Solver, SpillError, SpillProblem,
    SplitBuffers, Stats, Stop, Violation, Witness, check_layout, guarded, simple_bound, verify_bound,
};

fn buffer(name: &str, size: u64) -> Buffer {
    Buffer::new(name, size, Lifespan::single(0, 4).unwrap())
}

fn late(name: &str, size: u64) -> Buffer {
    Buffer::new(name, size, Lifespan::single(4, 8).unwrap())
}

/// Builds an instance with buffers and statements `(upper, lower, distance)`.
fn built<const N: usize>(
    buffers: [Buffer; N],
    above: &[(usize, usize, u64)],
) -> Result<Instance, InstanceError> {
    let builder = InstanceBuilder::new("t").buffers(buffers);
    above.iter().fold(builder, |builder, &(upper, lower, bytes)| builder.above(upper, lower, bytes)).build()
}

fn read(text: &str) -> Result<Instance, String> {
    read_instance("f.csv", text.as_bytes(), ReadOptions::default()).map_err(|error| error.to_string())
}

fn members(instance: &Instance, group: usize) -> Vec<(u32, u64)> {
    let members = instance.groups().all()[group].members().iter();
    members.map(|(id, distance)| (id.get(), distance.get())).collect()
}

#[test]
fn chains_form_one_group_with_distances_from_the_lowest_member() {
    let buffers = [buffer("a", 4), buffer("b", 4), buffer("c", 4), late("d", 9), late("e", 1)];
    let t = built(buffers, &[(2, 1, 4), (1, 4, 3), (0, 1, 0)]).unwrap();
    assert!(t.has_groups() && t.has_above() && !t.is_interval());
    assert_eq!(members(&t, 0), [(4, 0), (0, 3), (1, 3), (2, 7)]);
    assert_eq!(t.groups().of(BufferId::at(2)), Some((0, Bytes::new(7))));
    assert_eq!(t.groups().of(BufferId::at(3)), None);
    assert_eq!((t.distance(BufferId::at(2), BufferId::at(4)), t.grain().get()), (Some(-7), 1));
    assert_eq!(t.contradiction().unwrap().witness, Witness::Contradiction { buffers: ids(&[0, 1]) });
    assert!(verify_bound(&t, &t.contradiction().unwrap()).is_ok());
    assert!(
        t.contradiction().unwrap().witness.in_words(&t).contains("distance of 0 bytes makes them overlap")
    );
    let plain = built([buffer("a", 4)], &[]).unwrap();
    assert!(!plain.has_groups() && !plain.has_above() && plain.groups().all().is_empty());
}

fn ids(positions: &[u32]) -> Vec<BufferId> {
    positions.iter().copied().map(BufferId::new).collect()
}

#[test]
fn alignments_of_members_combine_into_one_condition_on_the_base() {
    let buffers = [buffer("a", 4).aligned(4), late("b", 4).aligned(6), late("c", 1).aligned(5)];
    let t = built(buffers, &[(1, 0, 2), (2, 1, 4)]).unwrap();
    let group = &t.groups().all()[0];
    // Multiples of 4 that are 4 modulo 6 and 4 modulo 5.
    assert_eq!((group.alignment().get(), group.residue().get(), group.extent().get()), (60, 4, 7));
    assert_eq!(group.base_from(Bytes::new(5)), Some(Bytes::new(64)));
    assert_eq!(group.base_from(Bytes::new(64)), Some(Bytes::new(64)));
    let bound = simple_bound(&t);
    assert_eq!(bound, LowerBound::new(Bytes::new(11), Witness::Raised { buffer: BufferId::at(2) }));
    assert_eq!(verify_bound(&t, &bound), Ok(()));
    let wrong = LowerBound::new(Bytes::new(12), Witness::Raised { buffer: BufferId::at(2) });
    assert!(verify_bound(&t, &wrong).is_err());
    let missing = LowerBound::new(Bytes::new(12), Witness::Raised { buffer: BufferId::at(3) });
    assert!(verify_bound(&t, &missing).is_err());
}

#[test]
fn the_condition_on_the_base_agrees_with_all_bases() {
    for (a, b, c, low, high) in (1..=6u64).flat_map(|a| {
        (1..=6u64).flat_map(move |b| {
            (1..=4u64).flat_map(move |c| [(0, 0), (1, 5), (3, 2), (7, 11)].map(|(l, h)| (a, b, c, l, h)))
        })
    }) {
        let buffers = [buffer("a", 0).aligned(a), buffer("b", 0).aligned(b), buffer("c", 0).aligned(c)];
        let is_base = |base: u64| {
            [(base, a), (base + low, b), (base + low + high, c)].iter().all(|&(at, by)| at.is_multiple_of(by))
        };
        match built(buffers, &[(1, 0, low), (2, 1, high)]) {
            Ok(t) => {
                let mut base = Bytes::ZERO;
                for at in 0..200 {
                    if is_base(at) {
                        base = t.groups().all()[0].base_from(base).unwrap();
                        assert_eq!(base.get(), at, "{a} {b} {c} {low} {high}");
                        base = Bytes::new(at + 1);
                    }
                }
            }
            Err(error) => {
                assert!(matches!(error, InstanceError::AlignmentsExclude { .. }), "{error}");
                assert!(!(0..200).any(is_base), "{a} {b} {c} {low} {high}");
            }
        }
    }
}

#[test]
fn one_fixed_member_fixes_the_group() {
    let t = built([buffer("a", 4), buffer("b", 4).fixed_at(12), late("c", 2)], &[(1, 0, 8), (2, 0, 3)]);
    let t = t.unwrap();
    let fixed: Vec<_> = t.buffers().iter().map(|b| b.fixed().unwrap().get()).collect();
    assert_eq!((fixed, t.has_groups(), t.has_above()), (vec![4, 12, 7], false, true));
    let free = t.freed();
    assert!(free.has_groups() && !free.has_fixed());
    assert_eq!(members(&free, 0), [(0, 0), (2, 3), (1, 8)]);
    let moved = Layout::from_raw([5, 13, 9]);
    assert!(
        matches!(check_layout(&free, &moved)[..], [Violation::Distance { required, .. }] if required.get() == 3)
    );
}

#[test]
fn wrong_statements_are_refused() {
    let text = |built: Result<Instance, InstanceError>| built.unwrap_err().to_string();
    let pair = || [buffer("a", 4), buffer("b", 4)];
    assert_eq!(
        text(built(pair(), &[(2, 0, 1)])),
        "a pair contains buffer number 2, but there are only 2 buffers"
    );
    assert_eq!(text(built(pair(), &[(1, 1, 1)])), "buffer 'b' lies above 'b', which lies above 'b'");
    assert_eq!(
        text(built(pair(), &[(1, 0, 1), (0, 1, 0)])),
        "buffer 'a' lies above 'b', which lies above 'a'"
    );
    assert_eq!(
        text(built(pair(), &[(1, 0, 1), (1, 0, 1)])),
        "buffer 'b' lies above two buffers, 'a' and 'a'; only one is allowed"
    );
    let aligned = [buffer("a", 4).aligned(4), late("b", 4).aligned(6)];
    assert_eq!(
        text(built(aligned, &[(1, 0, 3)])),
        "buffer 'b' lies 3 bytes above 'a', which no offset allows: the alignments are 6 and 4 bytes"
    );
    let fixed = [buffer("a", 4).fixed_at(4), late("b", 4).fixed_at(9)];
    assert_eq!(
        text(built(fixed, &[(1, 0, 4)])),
        "buffer 'b' is fixed at offset 9, but the distances from 'a', which is fixed too, require offset 8"
    );
    assert_eq!(
        text(built([buffer("a", 4), late("b", 4).fixed_at(3)], &[(1, 0, 4)])),
        "buffer 'b' is fixed at offset 3, but lies 4 bytes above 'a', which would have a negative offset"
    );
    let misaligned = built([buffer("a", 4).aligned(4), late("b", 4).fixed_at(5)], &[(1, 0, 4)]);
    assert!(matches!(misaligned, Err(InstanceError::FixedMisaligned { .. })));
    for (distance, alignment) in [(u64::MAX, 1), (i64::MAX as u64, 1), (0, 1 << 63)] {
        let large = built([buffer("a", 4), late("b", 4).aligned(alignment)], &[(1, 0, distance)]);
        assert!(matches!(large, Err(InstanceError::TotalOverflow { .. })), "{distance} {alignment}");
    }
}

#[test]
fn csv_files_have_a_column_for_distances() {
    let text =
        "id,lower,upper,size,above\na+b c,0,2,4,\nb,2,4,4,a+b%20c+0x10\nc%,2,4,2,b+4\nd,0,4,1,c%25+0\n";
    let t = read(text).unwrap();
    assert_eq!(members(&t, 0), [(0, 0), (1, 16), (2, 20), (3, 20)]);
    let mut written = Vec::new();
    write_instance(&t, &mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert_eq!(written, text.replace("0x10", "16"));
    assert_eq!(read(&written).unwrap(), t);
    for (cell, why) in [
        ("a", "value 'a' is not the id of a buffer and a distance in bytes, such as 'a+64'"),
        ("+4", "value '+4' is not the id of a buffer and a distance in bytes, such as 'a+64'"),
        ("a+", "value 'a+' is not the id of a buffer and a distance in bytes, such as 'a+64'"),
        ("a+-4", "value 'a+-4' is not the id of a buffer and a distance in bytes, such as 'a+64'"),
        ("a+99999999999999999999", "value '99999999999999999999' is larger than 18446744073709551615"),
        ("x+4", "value 'x' is not the id of a buffer in this file"),
        ("b+4", "value 'b' is the buffer's own id"),
    ] {
        let error = read(&format!("id,lower,upper,size,above\na,0,2,4,\nb,2,4,4,{cell}\n")).unwrap_err();
        assert_eq!(error, format!("f.csv: line 3: column 'above': {why}"));
    }
    let cycle = read("id,lower,upper,size,above\na,0,2,4,b+0\nb,2,4,4,a+1\n").unwrap_err();
    let why = "buffer 'a' lies above 'b', which lies above 'a' (other row: line 3)";
    assert_eq!(cycle, format!("f.csv: line 2: column 'above': {why}"));
}

/// Records the instance that it receives, and places every group and every other buffer above the last one.
struct Stack {
    groups: bool,
}

impl Solver<Offsets> for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn supports_groups(&self) -> bool {
        self.groups
    }

    fn solve(
        &self,
        instance: &Instance,
        _: &mut Budget,
        _: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        assert!(!instance.has_empty());
        let (mut offsets, mut end) = (vec![Bytes::ZERO; instance.len()], Bytes::new(1));
        for group in instance.groups().all() {
            let base = group.base_from(end).unwrap();
            for &(id, distance) in group.members() {
                offsets[id.index()] = base.checked_add(distance).unwrap();
            }
            end = base.checked_add(group.extent()).unwrap();
        }
        for id in instance.ids().filter(|&id| instance.groups().of(id).is_none()) {
            let b = instance.buffer(id);
            offsets[id.index()] = b.fixed().unwrap_or(end.align_up(b.alignment()).unwrap());
            end = end.max(offsets[id.index()].checked_add(b.size()).unwrap());
        }
        let layout = Layout::new(offsets);
        assert_eq!(check_layout(instance, &layout), []);
        Ok(Outcome::of(instance, Some(layout), LowerBound::trivial(), Stop::Completed, Stats::default()))
    }
}

fn stacked(instance: &Instance) -> Layout {
    let outcome = guarded(Stack { groups: true }).solve(instance, &mut Budget::unlimited(), &mut Silent);
    outcome.unwrap().solution.unwrap()
}

#[test]
fn members_of_size_zero_follow_their_group() {
    // The lowest member is empty, and its alignment and offset constrain the others.
    let buffers = [buffer("base", 0).aligned(8), buffer("a", 4), late("top", 0), buffer("b", 2)];
    let t = built(buffers, &[(1, 0, 6), (2, 1, 100)]).unwrap();
    let layout = stacked(&t);
    assert_eq!(check_layout(&t, &layout), []);
    assert_eq!(layout, Layout::from_raw([8, 14, 114, 18]));
    let part = t.induced(&ids(&[1, 3]));
    assert_eq!(members(&part, 0), [(0, 6)]);
    assert_eq!(part.groups().all()[0].alignment().get(), 8);
    assert_eq!(simple_bound(&part).value.get(), 10);
    // A group without sized members is no constraint on the others.
    let t = built([buffer("x", 0).aligned(8), buffer("a", 4), late("y", 0).aligned(4)], &[(2, 0, 4)]);
    assert_eq!(stacked(&t.unwrap()), Layout::from_raw([0, 1, 4]));
}

#[test]
fn the_normal_form_keeps_distances() {
    let buffers =
        [buffer("a", 8).aligned(4), late("b", 16).aligned(2), buffer("c", 8), buffer("d", 0).aligned(4)];
    let t = built(buffers, &[(1, 0, 12), (3, 2, 0)]).unwrap();
    let layout = stacked(&t);
    assert_eq!(check_layout(&t, &layout), [], "{layout:?}");
    let odd = built([buffer("a", 8).aligned(4), late("b", 16), buffer("c", 8)], &[(1, 0, 3)]).unwrap();
    assert_eq!(check_layout(&odd, &stacked(&odd)), []);
}

#[test]
fn algorithms_that_do_not_support_groups_refuse_them() {
    let t = built([buffer("a", 4), late("b", 4)], &[(1, 0, 4)]).unwrap();
    let plain = guarded(Stack { groups: false });
    let refusal = "stack does not support this instance: it has rigid groups (column 'above')";
    assert_eq!(plain.supports(&t).unwrap_err().to_string(), refusal);
    let error = plain.solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap_err();
    assert_eq!(error.to_string(), refusal);
    assert!(guarded(Stack { groups: true }).supports(&t).is_ok());
    let fixed = built([buffer("a", 4).fixed_at(0), late("b", 4)], &[(1, 0, 4)]).unwrap();
    assert!(plain.supports(&fixed).is_ok());
    let one = built([buffer("a", 4), late("b", 0)], &[(1, 0, 4)]).unwrap();
    assert!(plain.supports(&one).is_ok(), "a group of one sized member is no constraint");
}

#[test]
fn other_problems_refuse_groups() {
    let t = built([buffer("a", 4), late("b", 4)], &[(1, 0, 4)]).unwrap();
    let split = SplitBuffers::check(&t, &plimsoll_model::SplitLayout::new(vec![Vec::new(); 2]));
    assert_eq!(split, [Violation::Groups { problem: "split buffers" }]);
    let pools = plimsoll_model::PoolPlan::new(vec![plimsoll_model::PoolId::at(0); 2], vec![Bytes::new(4)]);
    assert_eq!(SharedObjects::check(&t, &pools), [Violation::Groups { problem: "shared objects" }]);
    let spill = SpillProblem::written_and_read(t.with_capacity(Some(Bytes::new(8))));
    assert!(matches!(spill, Err(SpillError::Groups { .. })));
}

#[test]
fn the_ceiling_leaves_space_for_groups() {
    let t = built([buffer("a", 4), late("b", 4).aligned(7), buffer("c", 2)], &[(1, 0, 100)]).unwrap();
    let layout = stacked(&t);
    assert_eq!(check_layout(&t, &layout), []);
    assert!(layout.peak(&t) <= t.ceiling(), "{layout:?} {}", t.ceiling());
}
