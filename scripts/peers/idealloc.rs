//! A command-line driver for the idealloc library, because idealloc's own binary prints no layout.
//!
//! The driver is the adapter through which `plimsoll bench --external` runs idealloc. Build it inside a
//! checkout of idealloc, as README.md in this folder describes.
//!
//! Usage: `offsets --input A.csv --output layout.csv [--capacity BYTES] [--lives N] [--time-limit SECONDS]`
//!
//! The input is CSV with the columns `id,lower,upper,size` and half-open lifespans, like those of idealloc.
//! `--lives` sets the number of attempts of a run. A run ends earlier if the makespan, which is idealloc's
//! term for the peak, is within the capacity (by default the load). idealloc is randomised and has no seed.
//! RAYON_NUM_THREADS sets its number of threads. With a time limit, the driver repeats runs until a layout
//! is within the capacity or the limit is reached, and keeps the best layout. Each run is a new process,
//! because idealloc creates its threads only once.

use coreba::jobset::init;
use coreba::{ByteSteps, Job};
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the `--name value` pairs of the command line.
fn options() -> HashMap<String, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    words.chunks(2).map(|pair| (pair[0].clone(), pair.get(1).cloned().unwrap_or_default())).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options();
    match options.get("--time-limit") {
        Some(limit) => repeatedly(&options, limit.parse()?),
        None => once(&options),
    }
}

/// Repeats runs until a layout is within the capacity or the time limit is reached, and keeps the layout
/// with the smallest makespan.
fn repeatedly(options: &HashMap<String, String>, limit: f64) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let deadline = started + Duration::from_secs_f64(limit);
    let output = options.get("--output").ok_or("--output is missing")?;
    let trial = format!("{output}.trial");
    let mut best: Option<usize> = None;
    while Instant::now() < deadline {
        let mut command = Command::new(std::env::current_exe()?);
        for (name, value) in options.iter().filter(|(name, _)| *name != "--time-limit" && *name != "--output") {
            command.args([name, value]);
        }
        let mut child = command.args(["--output", &trial]).stdout(Stdio::piped()).spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() >= deadline {
                child.kill()?;
                break child.wait()?;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if !status.success() {
            break;
        }
        let mut printed = String::new();
        std::io::Read::read_to_string(&mut child.stdout.take().ok_or("no output")?, &mut printed)?;
        let words = printed.lines().rev().find_map(|line| line.strip_prefix(SUMMARY)).ok_or("no summary")?;
        let (makespan, load) = words.trim().split_once(' ').ok_or("no summary")?;
        let (makespan, load): (usize, usize) = (makespan.parse()?, load.parse()?);
        if best.is_none_or(|best| makespan < best) {
            best = Some(makespan);
            fs::rename(&trial, output)?;
            println!("{{\"seconds\": {:.4}, \"peak\": {makespan}}}", started.elapsed().as_secs_f64());
        }
        let capacity = options.get("--capacity").map_or(Ok(load), |capacity| capacity.parse())?;
        if makespan <= capacity.max(load) {
            break;
        }
    }
    best.map(|_| ()).ok_or_else(|| "no run ended within the limit".into())
}

/// The prefix of the line in which a single run prints the makespan and the load in bytes.
const SUMMARY: &str = "offsets: makespan and load";

fn once(options: &HashMap<String, String>) -> Result<(), Box<dyn Error>> {
    let option = |name: &str| options.get(name).ok_or(format!("{name} is missing"));
    let text = fs::read_to_string(option("--input")?)?;
    let mut lines = text.lines();
    if lines.next() != Some("id,lower,upper,size") {
        return Err("expected the columns id,lower,upper,size".into());
    }
    let (mut names, mut jobs) = (Vec::new(), Vec::new());
    for line in lines {
        // Quoted names may contain commas; the three numbers come last.
        let mut fields = line.rsplitn(4, ',');
        let mut number = || fields.next().unwrap_or_default().parse::<ByteSteps>();
        let (size, death, birth) = (number()?, number()?, number()?);
        let id = u32::try_from(names.len())?;
        names.push(fields.next().ok_or("a name is missing")?.to_owned());
        jobs.push(Job {
            size,
            birth,
            death,
            req_size: size,
            alignment: None,
            contents: None,
            originals_boxed: 0,
            id,
        });
    }
    let load = load(&jobs);
    // idealloc stops at the makespan load * fragmentation. The additional half byte prevents rounding below
    // the capacity.
    let fragmentation = match options.get("--capacity") {
        Some(capacity) => ((capacity.parse::<f64>()? + 0.5) / load as f64).max(1.0),
        None => 1.0,
    };
    let lives = options.get("--lives").map_or(Ok(1), |lives| lives.parse())?;
    let (placement, makespan) = coreba::algo::idealloc(init(jobs)?, fragmentation, 0, lives);
    let mut layout = String::from("id,offset\n");
    for (id, name) in names.iter().enumerate() {
        let place = placement.get(&u32::try_from(id)?).ok_or("a buffer is not placed")?;
        layout.push_str(&format!("{name},{}\n", place.offset.get()));
    }
    fs::write(option("--output")?, layout)?;
    println!("{SUMMARY} {makespan} {load}");
    Ok(())
}

/// Returns the peak live bytes over all steps.
fn load(jobs: &[Job]) -> ByteSteps {
    let mut events: Vec<(ByteSteps, bool, ByteSteps)> = Vec::new();
    for job in jobs {
        events.extend([(job.birth, true, job.size), (job.death, false, job.size)]);
    }
    // Ends sort before starts at the same step.
    events.sort_unstable();
    let (mut now, mut highest) = (0, 0);
    for (_, begins, size) in events {
        if begins {
            now += size;
        } else {
            now -= size;
        }
        highest = highest.max(now);
    }
    highest
}
