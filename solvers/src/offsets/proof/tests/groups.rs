//! Tests that proofs cover rigid groups, and that the checkers reject them for other distances.

use super::*;

/// Returns a small instance with rigid groups, and in half of the cases with buffers of size 0.
fn grouped(buffers: usize, seed: u64) -> Instance {
    small_instance(SmallParams::with_groups(buffers, seed % 32), seed)
}

/// Returns the CSV text with other distances, or `None` if the text has none or is then not an instance.
fn with_other_distances(instance: &Instance, change: impl Fn(u64) -> u64) -> Option<Instance> {
    let mut builder = InstanceBuilder::new("t").buffers(instance.clone().freed().buffers().iter().cloned());
    for (a, b) in instance.separations().iter() {
        builder = builder.separate(a.index(), b.index());
    }
    for (a, b) in instance.exclusions().iter() {
        builder = builder.exclude(a.index(), b.index());
    }
    for (id, (lower, distance)) in instance.ids().filter_map(|id| Some((id, instance.above(id)?))) {
        builder = builder.above(id.index(), lower.index(), change(distance.get()));
    }
    builder.build().ok().filter(Instance::has_groups)
}

#[test]
fn optima_with_groups_are_proved_and_larger_bounds_are_not() {
    let (mut pairs, mut ties) = (Vec::new(), 0);
    for seed in 0..500 {
        let t = grouped(2 + seed as usize % 5, seed);
        let best = optimum(&t);
        let above = prove(&t, Bytes::new(best.get() + 1));
        let refuted = matches!(&above, Err(NoProof::Refuted { peak, .. }) if *peak == best);
        assert!(refuted, "seed {seed}: {above:?} {t:?}");
        if best == Bytes::ZERO {
            continue;
        }
        let proof = text(&prove(&t, best).unwrap());
        let proved = checked(&csv(&t), &proof);
        assert!(proved.as_ref().is_ok_and(|one| one.bound == best.get()), "{proved:?}\n{}\n{proof}", csv(&t));
        ties += proof.lines().filter(|line| line.starts_with("r ")).count();
        pairs.push((csv(&t), proof));
    }
    assert!(ties > 50, "{ties}");
    assert_accepted_by_oracle(&pairs);
}

#[test]
fn proofs_hold_only_for_their_distances() {
    let (mut rejected, mut pairs) = (0, Vec::new());
    for seed in 0..400 {
        let t = grouped(3 + seed as usize % 3, seed);
        let best = optimum(&t);
        if best == Bytes::ZERO || !t.has_groups() {
            continue;
        }
        let proof = text(&prove(&t, best).unwrap());
        for change in [|_| 0, |distance| distance / 2, |distance| distance + 1] {
            let Some(other) = with_other_distances(&t, change) else { continue };
            if optimum(&other) < best {
                assert!(checked(&csv(&other), &proof).is_err(), "seed {seed}\n{}\n{proof}", csv(&other));
                rejected += 1;
                pairs.push((csv(&other), proof.clone()));
            }
        }
    }
    assert!(rejected > 50, "{rejected}");
    let printed = oracle(&pairs);
    assert!(printed.lines().all(|line| line.starts_with("rejected")), "{printed}");
}

#[test]
fn simple_bounds_with_groups_have_short_proofs() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..400 {
        let t = grouped(5, seed);
        let bound = plimsoll_model::simple_bound(&t);
        kinds.insert(format!("{:?}", bound.witness).split(' ').next().unwrap().to_owned());
        if bound.value > Bytes::ZERO {
            let proof = text(&Proof::of(&t, &bound, &mut Budget::unlimited()).unwrap());
            assert_eq!(checked(&csv(&t), &proof).unwrap().bound, bound.value.get(), "{}\n{proof}", csv(&t));
        }
    }
    assert!(kinds.contains("Raised") && kinds.contains("Fixed"), "{kinds:?}");
}

#[test]
fn members_that_overlap_have_a_proof() {
    let buffer = |name: &str| Buffer::new(name, 8, Lifespan::single(0, 2).unwrap());
    let t = InstanceBuilder::new("t").buffers(["a", "b", "c"].map(buffer)).above(1, 0, 7u64).build().unwrap();
    let bound = t.contradiction().unwrap();
    let proof = text(&Proof::of(&t, &bound, &mut Budget::unlimited()).unwrap());
    assert!(checked(&csv(&t), &proof).is_ok(), "{proof}");
    let apart = csv(&t).replace("a+7", "a+8");
    assert!(checked(&apart, &proof).is_err());
}

#[test]
fn the_checkers_read_the_column_above() {
    let error = |rows: &str| {
        let text = format!("id,lower,upper,size,alignment,offset,above\n{rows}");
        plimsoll_proof::Instance::from_csv(&text).unwrap_err().to_string()
    };
    assert_eq!(error("a,0,1,4,1,,\nb,0,1,4,1,,a\n"), "line 3: 'a' is not a distance");
    assert_eq!(error("a,0,1,4,1,,\nb,0,1,4,1,,c+1\n"), "line 3: there is no buffer 'c'");
    assert_eq!(error("a,0,1,4,1,,b+1\nb,0,1,4,1,,a+1\n"), "line 2: the buffer lies above itself");
    assert!(error("a,0,1,4,4,,\nb,0,1,4,4,,a+2\n").contains("exclude each other"));
    for offsets in ["3", "5"] {
        let rows = format!("a,0,1,4,2,{offsets},\nb,0,1,4,1,4,a+2\n");
        assert!(error(&rows).contains("do not allow the distances"), "{offsets}");
    }
}
