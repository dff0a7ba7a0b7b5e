//! `plimsoll-check INSTANCE.csv PROOF`: checks a proof that no layout of the instance has a peak below a
//! bound. `plimsoll-check PROOF`: checks a proof that no order of operators has a peak below a bound. Such a
//! proof contains its problem.
//!
//! Exit status: 0 if the proof is accepted, 1 if it is rejected, 2 for other errors.

use plimsoll_proof::{Instance, check, check_orders};
use std::fs::File;
use std::io::{BufReader, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (instance, proof) = match arguments.as_slice() {
        [proof] => return orders(proof),
        [instance, proof] => (instance, proof),
        _ => {
            return complain(
                2,
                "usage: plimsoll-check INSTANCE.csv PROOF, or plimsoll-check PROOF for orders",
            );
        }
    };
    let text = match std::fs::read_to_string(instance) {
        Ok(text) => text,
        Err(error) => return complain(2, &format!("{instance}: {error}")),
    };
    let read = match Instance::from_csv(&text) {
        Ok(read) => read,
        Err(error) => return complain(2, &format!("{instance}: {error}")),
    };
    let file = match File::open(proof) {
        Ok(file) => file,
        Err(error) => return complain(2, &format!("{proof}: {error}")),
    };
    match check(&read, BufReader::new(file)) {
        Ok(proved) => {
            let (bound, clauses, steps) = (proved.bound, proved.clauses, proved.steps);
            let line = format!(
                "accepted: no layout has a peak below {bound} bytes ({clauses} clauses, {steps} steps)"
            );
            let written = writeln!(std::io::stdout(), "{line}");
            ExitCode::from(if written.is_ok() { 0 } else { 2 })
        }
        Err(error) => complain(1, &format!("{proof}: rejected: {error}")),
    }
}

fn orders(proof: &str) -> ExitCode {
    let file = match File::open(proof) {
        Ok(file) => file,
        Err(error) => return complain(2, &format!("{proof}: {error}")),
    };
    let proved = match check_orders(BufReader::new(file)) {
        Ok(proved) => proved,
        Err(error) => return complain(1, &format!("{proof}: rejected: {error}")),
    };
    for one in proved {
        let (region, bound, operators, sets) = (&one.region, one.bound, one.problem.len(), one.sets);
        let line = format!(
            "accepted: no order of '{region}' has a peak below {bound} bytes ({operators} operators, {sets} sets)"
        );
        if writeln!(std::io::stdout(), "{line}").is_err() {
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn complain(code: u8, message: &str) -> ExitCode {
    // A failure to write to standard error cannot be reported.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(code)
}
