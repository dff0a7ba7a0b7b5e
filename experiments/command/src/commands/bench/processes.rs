//! Runs in separate processes: built-in algorithms with `--processes`, and external programs.

use super::lanes::{Field, Shared};
use plimsoll::interrupt;
use plimsoll::model::{Entry, Instance, Offsets, load};
use plimsoll::plan::Plan;
use plimsoll_lab::attempt::NO_CAPACITY;
use plimsoll_lab::external::{External, Whose, answer};
use plimsoll_lab::record::{Record, settle};

impl Shared<'_> {
    /// Returns this binary as an external program that runs one algorithm.
    fn as_process(&self, entry: &Entry<Offsets>) -> External {
        let own = std::env::current_exe().unwrap_or_else(|_| "plimsoll".into());
        let mut words = vec![own.to_string_lossy().into_owned()];
        let line = "solve {input} --problem offsets --output {output} --seed {seed} --threads {threads} \
                    --time-limit {time_limit} --offsets fixed --json --solver";
        words.extend(line.split_whitespace().map(str::to_owned));
        words.push(entry.name.to_owned());
        if let Some(nodes) = self.args.node_limit {
            words.extend(["--node-limit".to_owned(), nodes.to_string()]);
        }
        let capacity: &[&str] = if self.args.decide.is_some() {
            &["--decide", "--capacity", "{capacity}"]
        } else {
            &["--no-capacity"]
        };
        words.extend(capacity.iter().map(|word| (*word).to_owned()));
        External::new(entry.name, words)
    }

    /// Runs a process once. With `--decide`, `{capacity}` expands to the capacity to decide, and the run is
    /// skipped if there is none. Otherwise, `{capacity}` expands to the capacity in the file name or, if
    /// there is none, to the load. Without `--decide`, an answer above this capacity is valid too.
    fn process(&self, field: &mut Field<Offsets>, peer: &External, whose: Whose, asked: Record) {
        let instance: &Instance = field.question;
        let own = if asked.decides() { instance.capacity() } else { field.ground.file_capacity };
        let capacity = own.unwrap_or_else(|| load(instance).0);
        let line = peer.line();
        let asked = if whose == Whose::Own {
            // The record omits the location of the binary.
            let params =
                line.split_once(' ').map_or_else(String::new, |(_, rest)| format!("plimsoll {rest}"));
            Record { params, ..asked }
        } else {
            let version = peer.version().unwrap_or_default().to_owned();
            Record { params: line, capacity: Some(capacity.get()), version, ..asked }
        };
        if asked.decides() && own.is_none() {
            field.done(asked.without("skipped", NO_CAPACITY), None);
        } else if let Some((row, layout)) = answer(peer, instance, capacity, whose, asked, self.args.trace) {
            field.done(row, layout);
        }
    }
}

/// Runs the processes: built-in algorithms with `--processes`, then external programs, whose answers are
/// compared with the best bound proved so far.
pub fn processes(shared: &Shared, own: &[&'static Entry<Offsets>], field: &mut Field<Offsets>) {
    if shared.args.processes {
        for entry in own {
            let process = shared.as_process(entry);
            for (nth, seed) in interrupt::until_requested(shared.seeds()) {
                let asked = field.asked(entry.name, &entry.kind.to_string(), nth, seed);
                shared.process(field, &process, Whose::Own, asked);
            }
        }
    }
    let floor = <Offsets as Plan>::floor(field.question).value.get();
    let bound = settle(&mut field.rows, Some(floor)).unwrap_or(floor).into();
    for peer in &shared.externals {
        for nth in interrupt::until_requested(1..=shared.repetitions(peer)) {
            let offset = if peer.is_seeded() { nth - 1 } else { 0 };
            let seed = shared.args.seed.wrapping_add(offset);
            let asked = field.asked(peer.name(), "external", nth, seed);
            shared.process(field, peer, Whose::Foreign(bound), asked);
        }
    }
}
