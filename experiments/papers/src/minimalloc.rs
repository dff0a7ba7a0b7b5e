//! The instances A to K of MiniMalloc (Moffitt, ASPLOS 2023). For each instance, the capacity in its file
//! name is decided, the peak is minimised, and both runs are timed.
//!
//! The times of the paper are not quoted, because no text of its table was available. In addition to the
//! instances, an example with its capacity and layout is public. If a binary of MiniMalloc is given, it is
//! timed in the same run, and its times are also shown.

use crate::mini_infer::proved;
use crate::{Context, ReproduceError, Reproduction, files, sheet};
use minijinja::{Value, context};
use plimsoll::run::Limits;
use plimsoll_datasets::{Worked, minimalloc_five};
use plimsoll_lab::external::{External, answer};
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::row::{Row, Status};
use plimsoll_model::csv::{ReadOptions, read_instance_file};
use plimsoll_model::{Bytes, Claim, Instance, InstanceProblem, Layout, Offsets, Problem, Stop, load};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The text that is shown if the checker accepts the layout of a peer, or if the capacity is proved to
/// suffice.
const FITS: &str = "fits";
/// The answer if the limits ended the run before it decided the capacity.
const OPEN: &str = "open";

/// The instances, and the printed numbers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/minimalloc.toml explains every value")]
pub struct Inputs {
    #[serde(skip, default = "minimalloc_five")]
    pub example: Worked,
    pub folder: String,
    pub names: Vec<String>,
    pub capacity: u64,
    pub maps: Vec<String>,
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("minimalloc")
    }
}

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if an instance cannot be read or a run fails.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("minimalloc");
    example(context, &inputs.example, &mut found)?;
    let folder = context.folder(&inputs.folder);
    let mut solved = Vec::new();
    found.fact("corpora", folder.is_some());
    if let Some(folder) = folder {
        let peer = peer(context, &mut found);
        found.fact("peer", peer.is_some());
        let paths = files(&folder, "csv")?;
        for name in &inputs.names {
            let begins = |path: &&std::path::PathBuf| {
                let file = path.file_name().map(|file| file.to_string_lossy().into_owned());
                file.is_some_and(|file| file.split('.').next() == Some(name))
            };
            match paths.iter().find(begins) {
                Some(path) => solved.push(Solved::of(context, path, name, inputs.capacity, peer.as_ref())?),
                None => found.skip(format!("instance {name}: no such file in {}", folder.display())),
            }
        }
        figures(inputs, &solved, &mut found)?;
    } else {
        found.skip(format!("the instances A to K: {}", context.no_folder(&inputs.folder)));
    }
    found.fact("solved", solved.iter().map(Solved::row).collect::<Vec<_>>());
    found.fact("proved", solved.iter().filter(|one| one.is_proved()).count());
    found.fact("at_load", solved.iter().filter(|one| one.least.value == Some(one.load)).count());
    found.finish()
}

/// Computes the example in the README of MiniMalloc, which has five buffers.
fn example(context: &Context<'_>, worked: &Worked, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let instance = &worked.instance;
    let (exact, best) = context.solve::<Offsets>("exact", worked.name, &instance)?;
    found.fact("printed", worked.fact("minimalloc").unwrap_or(Bytes::ZERO).get());
    let layout = worked.layout.as_ref().map(|layout| match Offsets::check(instance, layout).first() {
        None => context! { peak => layout.peak(instance).get(), by => "its offsets, which pass the checker" },
        Some(fault) => context! { peak => "refused", by => fault.to_string() },
    });
    found.fact("layout", layout);
    found.fact("exact", exact.value.map_or_else(|| "none".into(), Value::from));
    found.fact("claim", exact.claim);
    map(instance, &exact, best.as_ref(), found)
}

/// Adds the memory map of the best layout, if there is one.
fn map(
    instance: &Instance,
    row: &Row,
    layout: Option<&Layout>,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let Some(layout) = layout else { return Ok(()) };
    let (problem, bound) = (Offsets::NAME, Bytes::new(row.lower_bound.unwrap_or_default()));
    let pieces = &Offsets::pieces(instance, layout);
    let drawn = Map::new(instance, problem, "exact", pieces, bound);
    found.map("map", &context! { name => instance.name(), claim => row.claim }, &drawn)
}

/// Returns MiniMalloc as an external planner, if its binary is given.
fn peer(context: &Context<'_>, found: &mut Reproduction) -> Option<External> {
    let Some(path) = &context.minimalloc else {
        found.skip("MiniMalloc itself: PLIMSOLL_MINIMALLOC does not name its binary");
        return None;
    };
    if !path.is_file() {
        found.skip(format!("MiniMalloc itself: {} is not a file", path.display()));
        return None;
    }
    let placeholders = ["--capacity={capacity}", "--input={input}", "--output={output}"];
    let words = [path.to_string_lossy().into_owned()].into_iter().chain(placeholders.map(str::to_owned));
    let mut peers = [External::new("minimalloc", words.collect())];
    // The pattern is known to be valid.
    let added = External::set_elapsed_pattern(&mut peers, "minimalloc=Elapsed time ([0-9.]+)s");
    debug_assert!(added.is_ok());
    let [peer] = peers;
    Some(peer)
}

/// The result of the peer.
#[derive(Clone, Debug, Serialize)]
struct Peer {
    /// `fits`, or the reason why there is no layout.
    answer: String,
    /// Wall-clock time of the whole process, in seconds.
    seconds: f64,
    /// Self-reported seconds, if the planner prints them.
    own: Option<f64>,
}

/// The decision and the minimum for one instance, with their times.
struct Solved {
    instance: Instance,
    capacity: Bytes,
    load: u64,
    decided: Row,
    least: Row,
    layout: Option<Layout>,
    peer: Option<Peer>,
}

impl Solved {
    fn of(
        context: &Context<'_>,
        path: &Path,
        name: &str,
        capacity: u64,
        peer: Option<&External>,
    ) -> Result<Self, ReproduceError> {
        let instance = read_instance_file(path, ReadOptions::default()).map_err(ReproduceError::input)?;
        let capacity = instance.capacity().unwrap_or(Bytes::new(capacity));
        let instance = instance.with_name(name).with_capacity(None);
        let within = instance.clone().with_capacity(Some(capacity));
        let limits = Limits { target: Some(capacity), ..context.limits };
        let to_decide = Context { limits, ..context.clone() };
        let (decided, _) = to_decide.solve::<Offsets>("exact", name, &&within)?;
        let (least, layout) = context.solve::<Offsets>("exact", name, &&instance)?;
        let peer = peer.map(|peer| ask(context, peer, &within, capacity)).transpose()?;
        let load = load(&instance).0.get();
        Ok(Self { instance, capacity, load, decided, least, layout, peer })
    }

    fn decision(&self) -> &'static str {
        match self.decided.claim {
            Some(Claim::Optimal | Claim::Feasible) => FITS,
            Some(Claim::Infeasible) => "does not fit",
            Some(Claim::Unknown) | None => OPEN,
        }
    }

    /// Returns true if the minimum is proved.
    fn is_proved(&self) -> bool {
        self.least.claim == Some(Claim::Optimal)
    }

    fn row(&self) -> Value {
        context! {
            name => self.instance.name(), buffers => self.instance.len(), load => self.load,
            capacity => self.capacity.get(), decision => self.decision(), decided => self.decided.seconds,
            least => proved(&self.least), claim => self.least.claim,
            minimised => self.least.seconds, peer => &self.peer,
        }
    }

    /// Returns the bars of the instance, in milliseconds, rounded up. A star marks a run without an answer or
    /// proof.
    fn panel(&self) -> Panel {
        let group = |name: &str, is_done: bool, seconds: f64| {
            let name = if is_done { name.to_owned() } else { format!("{name} *") };
            (name, vec![Some((seconds * 1e3).ceil() as u64)])
        };
        let peer = self.peer.iter().map(|peer| group("MiniMalloc", peer.answer == FITS, peer.seconds));
        let own = [
            group("decide", self.decision() != OPEN, self.decided.seconds.unwrap_or_default()),
            group("minimise", self.is_proved(), self.least.seconds.unwrap_or_default()),
        ];
        let groups = own.into_iter().chain(peer).collect();
        Panel { name: self.instance.name().to_owned(), groups, mark: None }
    }
}

fn ask(
    context: &Context<'_>,
    peer: &External,
    instance: &Instance,
    capacity: Bytes,
) -> Result<Peer, ReproduceError> {
    let asked = Row { time_limit: context.limits.time.map(|time| time.as_secs_f64()), ..context.asked() };
    let (row, layout) = answer(peer, instance, capacity, asked, false)
        .ok_or_else(|| ReproduceError::Limit(format!("minimalloc on {}: interrupted", instance.name())))?;
    let answer = match row.status {
        _ if row.stop == Some(Stop::TimeLimit) => "killed at the time limit".to_owned(),
        _ if layout.is_some() => FITS.to_owned(),
        Status::Refused => format!("the checker rejected its layout: {}", row.error),
        _ => format!("no layout: {}", row.error),
    };
    Ok(Peer { answer, seconds: row.seconds.unwrap_or_default(), own: row.own_seconds })
}

fn figures(inputs: &Inputs, solved: &[Solved], found: &mut Reproduction) -> Result<(), ReproduceError> {
    for one in solved.iter().filter(|one| inputs.maps.iter().any(|name| name == one.instance.name())) {
        map(&one.instance, &one.least, one.layout.as_ref(), found)?;
    }
    if solved.is_empty() {
        return Ok(());
    }
    found.bars("times", &().into(), solved.iter().map(Solved::panel).collect())
}
