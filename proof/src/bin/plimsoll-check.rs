//! `plimsoll-check INSTANCE.csv PROOF`: checks a proof that no layout of the instance has a peak below a
//! bound. `plimsoll-check PROOF`: checks a proof that no order of operators has a peak below a bound. Such a
//! proof contains its problem. `--time-limit SECONDS` before the files limits the time of the check.
//!
//! Exit status: 0 if the proof is accepted, 1 if it is rejected, 2 for other errors, 3 if the check ends
//! without a verdict at a limit.

use plimsoll_proof::{CheckError, Instance, check, check_orders};
use std::fs::File;
use std::io::{BufReader, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: plimsoll-check [--time-limit SECONDS] INSTANCE.csv PROOF, or plimsoll-check \
    [--time-limit SECONDS] PROOF for orders";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (limit, files) = match arguments.as_slice() {
        [option, seconds, files @ ..] if option == "--time-limit" => {
            let seconds = seconds.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let Some(limit) = seconds else {
                return complain(2, "--time-limit requires a number of seconds");
            };
            (Some(limit), files)
        }
        files => (None, files),
    };
    let start = Instant::now();
    let stop = || limit.is_some_and(|limit| start.elapsed() >= limit);
    match files {
        [proof] => orders(proof, &stop),
        [instance, proof] => offsets(instance, proof, &stop),
        _ => complain(2, USAGE),
    }
}

fn offsets(instance: &str, proof: &str, stop: &dyn Fn() -> bool) -> ExitCode {
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
    match check(&read, BufReader::new(file), stop) {
        Ok(proved) => {
            let (bound, clauses, steps) = (proved.bound, proved.clauses, proved.steps);
            let line = format!(
                "accepted: no layout has a peak below {bound} bytes ({clauses} clauses, {steps} steps)"
            );
            let written = writeln!(std::io::stdout(), "{line}");
            ExitCode::from(if written.is_ok() { 0 } else { 2 })
        }
        Err(error) => refuse(proof, &error),
    }
}

fn orders(proof: &str, stop: &dyn Fn() -> bool) -> ExitCode {
    let file = match File::open(proof) {
        Ok(file) => file,
        Err(error) => return complain(2, &format!("{proof}: {error}")),
    };
    let proved = match check_orders(BufReader::new(file), stop) {
        Ok(proved) => proved,
        Err(error) => return refuse(proof, &error),
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

fn refuse(proof: &str, error: &CheckError) -> ExitCode {
    if error.reason.is_no_proof() {
        complain(2, &format!("{proof}: not a proof of this kind: {error}"))
    } else if error.reason.is_verdict() {
        complain(1, &format!("{proof}: rejected: {error}"))
    } else {
        complain(3, &format!("{proof}: not checked: {error}"))
    }
}

fn complain(code: u8, message: &str) -> ExitCode {
    // A failure to write to standard error cannot be reported.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(code)
}
