//! Tests that the length of a proof limits the work of its check, and that a check can be stopped.

use plimsoll_proof::{CheckError, Instance, Reason, check, check_orders};
use std::cell::Cell;
use std::fmt::Write as _;

/// Returns an instance and the text of a proof of 200 bytes. Between its two steps, nine buffers end and nine
/// begin. The listed tree contains all of the many ways to exchange them.
fn exchange() -> (Instance, String) {
    let mut csv = String::from("id,lower,upper,size\nstays,0,2,1\n");
    let mut proof = String::from("plimsoll-proof 1\nbound 11\nbuffer stays\n");
    for at in 0..9 {
        let _ = writeln!(csv, "old{at},0,1,1\nnew{at},1,2,1");
        let _ = writeln!(proof, "buffer old{at}\nbuffer new{at}");
    }
    let new: Vec<String> = (0..9).map(|at| (2 * at + 2).to_string()).collect();
    let _ = writeln!(proof, "sweep 1\nat 0\nat 1\ntree ( 0 {} )", new.join(" "));
    (Instance::from_csv(&csv).unwrap(), proof)
}

fn reason<T>(verdict: Result<T, CheckError>) -> Reason {
    verdict.err().expect("the proof is not accepted").reason
}

#[test]
fn a_short_proof_cannot_cause_much_work() {
    let (instance, proof) = exchange();
    let verdict = reason(check(&instance, proof.as_bytes(), &|| false));
    assert!(matches!(verdict, Reason::TooMuchWork { .. }), "{verdict}");
    assert!(verdict.is_limit() && !verdict.is_verdict());
    assert_eq!(verdict, reason(check(&instance, proof.as_bytes(), &|| false)), "the work is reproducible");
    // A longer file may cause more work.
    let longer = format!("{proof}{}", "c \n".repeat(1000));
    let Reason::TooMuchWork { most } = verdict else { panic!("{verdict}") };
    let verdict = reason(check(&instance, longer.as_bytes(), &|| false));
    assert!(matches!(verdict, Reason::TooMuchWork { most: more } if more > most), "{verdict}");
}

#[test]
fn a_check_can_be_stopped() {
    let (instance, proof) = exchange();
    let calls = Cell::new(0);
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() == 100
    };
    let verdict = reason(check(&instance, proof.as_bytes(), &stop));
    assert_eq!((verdict.clone(), calls.get()), (Reason::Stopped, 100));
    assert!(!verdict.is_limit() && !verdict.is_verdict());
    assert_eq!(reason(check(&instance, proof.as_bytes(), &|| true)), Reason::Stopped);
    assert_eq!(reason(check_orders(&b"plimsoll-proof 1 orders\n"[..], &|| true)), Reason::Stopped);
}

/// Interchangeable buffers are compared with all others, so each of these lines takes long.
#[test]
fn repeated_lines_are_counted() {
    let mut csv = String::from("id,lower,upper,size\n");
    let mut proof = String::from("plimsoll-proof 1\nbound 100000\n");
    for at in 0..4000 {
        let _ = writeln!(csv, "{at},0,1,1");
        let _ = writeln!(proof, "buffer {at}");
    }
    proof.push_str(&"twin 0 1\n".repeat(20_000));
    let verdict = reason(check(&Instance::from_csv(&csv).unwrap(), proof.as_bytes(), &|| false));
    assert!(matches!(verdict, Reason::TooMuchWork { .. }), "{verdict}");
}
