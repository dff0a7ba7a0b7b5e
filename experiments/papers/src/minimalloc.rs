//! The instances A to K of MiniMalloc (Moffitt, ASPLOS 2023): decided at the capacity of their file names, minimised, timed.
//!
//! The paper's table of seconds is not quoted here, for no public text of it was at hand; what is public beside the
//! instances is an example with its capacity and its layout. Where a binary of MiniMalloc is named, its seconds of the same run stand
//! beside ours.

use super::{Amount, Context, ReproduceError, Reproduction, Row, files, named};
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::run::{Limits, run as run_one};
use plimsoll_datasets::{Worked, minimalloc_five};
use plimsoll_lab::external::{External, Task};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::Map;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_model::csv::{ReadOptions, read_instance_file};
use plimsoll_model::{Bytes, Claim, Instance, Layout, Offsets, Problem, Silent, load};

/// What is said of a peer's layout that the checker took.
const FITS: &str = "fits";

/// What is decided, and what is printed.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The example of the front page, with its capacity and layout.
    pub example: Worked,
    /// The folder of the corpora that holds the instances.
    pub folder: &'static str,
    /// Instances whose file name does not begin so, up to the first point, take no part; a letter each.
    pub names: Vec<&'static str>,
    /// The capacity to decide where the file name has none.
    pub capacity: Bytes,
    /// Instances whose optimal layout is drawn.
    pub maps: Vec<&'static str>,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            example: minimalloc_five(),
            folder: "minimalloc",
            names: vec!["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"],
            capacity: Bytes::new(1_048_576),
            maps: vec!["D", "J"],
        }
    }
}

/// Computes everything again.
pub(super) fn run(context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    reproduce(&Inputs::default(), context)
}

/// Computes everything again from these inputs.
///
/// # Errors
/// [`ReproduceError`]: an instance cannot be read, or a run failed.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    example(context, &inputs.example, &mut found)?;
    let row = Row::new("evaluation", "seconds of the paper on A to K", "s");
    found.row(
        row.missing("no public text with the paper's table was at hand; its repository prints no times"),
    );
    let Some(folder) = context.folder(inputs.folder) else {
        found.leave_out(format!("the instances A to K: {}", context.no_folder(inputs.folder)));
        return Ok(found);
    };
    let peer = peer(context, &mut found);
    let mut solved = Vec::new();
    let paths = files(&folder, "csv")?;
    for &name in &inputs.names {
        let path = paths.iter().find(|path| {
            let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
            file.split('.').next() == Some(name)
        });
        let Some(path) = path else {
            found.leave_out(format!("instance {name}: no such file in {}", folder.display()));
            continue;
        };
        let instance = read_instance_file(path, ReadOptions::default())?.with_name(name);
        let capacity = instance.capacity().unwrap_or(inputs.capacity);
        solved.push(Solved::of(context, instance.with_capacity(None), capacity, peer.as_ref())?);
    }
    for one in &solved {
        one.rows(&mut found);
    }
    table(&solved, peer.is_some(), &mut found);
    figures(inputs, &solved, peer.is_some(), &mut found);
    Ok(found)
}

/// The five buffers of the front page.
fn example(context: &Context<'_>, worked: &Worked, found: &mut Reproduction) -> Result<(), ReproduceError> {
    let instance = &worked.instance;
    let exact = context.solve(&context.registry.offsets, "exact", worked.name, instance)?;
    let row = |what: &str| Row::new("front page, example", what, "bytes");
    let printed = worked.fact("minimalloc").unwrap_or(Bytes::ZERO);
    if let Some(layout) = &worked.layout {
        let refused = Offsets::check(instance, layout);
        let peak = row("peak of the layout printed").printed(printed);
        found.row(match refused.first() {
            None => peak.same(layout.peak(instance), "its offsets, which pass the checker"),
            Some(fault) => peak.same("refused", fault.to_string()),
        });
    }
    if let Some(layout) = &exact.solution {
        map(&worked.instance, layout, (exact.lower_bound.value, exact.claim), found);
    }
    let least = row("least peak").printed(printed);
    let value = exact.value.map_or_else(|| Amount::from("none"), Amount::from);
    found.row(least.same(value, format!("exact: {}; printed as the capacity", exact.claim)));
    found.section("The paper");
    found.line("Moffitt, M. D.: MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning, ASPLOS 2023; instances and example from github google/minimalloc");
    found.line("its claim of orders of magnitude over the state of the art concerns solvers that are not public, and is not checked");
    Ok(())
}

/// MiniMalloc as a peer, where its binary is named.
fn peer(context: &Context<'_>, found: &mut Reproduction) -> Option<External> {
    let Some(path) = &context.minimalloc else {
        found.leave_out("MiniMalloc itself: PLIMSOLL_MINIMALLOC does not name its binary");
        return None;
    };
    if !path.is_file() {
        found.leave_out(format!("MiniMalloc itself: {} is no file", path.display()));
        return None;
    }
    let placeholders = ["--capacity={capacity}", "--input={input}", "--output={output}"];
    let words = [path.to_string_lossy().into_owned()].into_iter().chain(placeholders.map(str::to_owned));
    let mut peers = [External::new("minimalloc", words.collect())];
    // A pattern that is known to be one.
    let told = External::tell_elapsed(&mut peers, "minimalloc=Elapsed time ([0-9.]+)s");
    debug_assert!(told.is_ok());
    let [peer] = peers;
    Some(peer)
}

/// What the peer did.
#[derive(Clone, Debug)]
struct Peer {
    /// `fits`, or why not.
    answer: String,
    /// Of the whole process.
    seconds: f64,
    /// By its own clock, where it says so.
    own: Option<f64>,
}

/// One instance decided and minimised.
#[derive(Clone, Debug)]
struct Solved {
    instance: Instance,
    capacity: Bytes,
    load: Bytes,
    /// The claim at the capacity, and seconds.
    decided: (Claim, f64),
    /// The least peak found, the bound, the claim, seconds.
    least: (Option<Bytes>, Bytes, Claim, f64),
    layout: Option<Layout>,
    peer: Option<Peer>,
}

impl Solved {
    fn of(
        context: &Context<'_>,
        instance: Instance,
        capacity: Bytes,
        peer: Option<&External>,
    ) -> Result<Self, ReproduceError> {
        let exact = named(&context.registry.offsets, "exact")?;
        let timed = |instance: &Instance, target| {
            let limits = Limits { target, ..context.limits };
            let attempt = run_one(exact, instance, context.setup, limits, &mut Silent);
            let input = instance.name().to_owned();
            let failed = |source| ReproduceError::Run { name: "exact", input, source };
            attempt.result.map_err(failed).map(|outcome| (outcome, attempt.seconds))
        };
        let within = instance.clone().with_capacity(Some(capacity));
        let (decided, seconds) = timed(&within, Some(capacity))?;
        let (least, more) = timed(&instance, None)?;
        let peer = peer.map(|peer| ask(context, peer, &within, capacity));
        Ok(Self {
            load: load(&instance).0,
            decided: (decided.claim, seconds),
            least: (least.value, least.lower_bound.value, least.claim, more),
            layout: least.solution,
            instance,
            capacity,
            peer,
        })
    }

    fn decision(&self) -> &'static str {
        match self.decided.0 {
            Claim::Optimal | Claim::Feasible => "fits",
            Claim::Infeasible => "does not fit",
            Claim::Unknown => "open",
        }
    }

    fn optimum(&self) -> String {
        match self.least {
            (Some(value), _, Claim::Optimal, _) => value.to_string(),
            (Some(value), bound, ..) => format!("{bound} to {value}"),
            (None, bound, ..) => format!("at least {bound}"),
        }
    }

    fn rows(&self, found: &mut Reproduction) {
        let name = self.instance.name();
        let row = |what: &str, unit| Row::new("A to K", format!("{name}, {what}"), unit);
        found.row(row("buffers", "buffers").same(self.instance.len(), "lines of the file"));
        found.row(row("load", "bytes").same(self.load, "most bytes alive at a step"));
        let by = |what: &str, seconds: f64| format!("exact, {what}: {seconds:.3} s");
        let decision = row("at the capacity of the file", "");
        // A file is named after a capacity that its layout keeps.
        let decision = if self.decided.0 == Claim::Unknown {
            decision.printed("fits").other("open", by("within the limit undecided", self.decided.1))
        } else {
            decision.printed("fits").same(self.decision(), by("decided", self.decided.1))
        };
        found.row(decision);
        let by = by(&format!("minimised, {}", self.least.2), self.least.3);
        found.row(row("least peak", "bytes").same(self.optimum(), by));
        let seconds = |who: &str| row(&format!("seconds to decide, {who}"), "s");
        let how = "wall clock, in process, this machine";
        found.row(seconds("exact").same(Amount::Decimal(self.decided.1, 3), how));
        if let Some(peer) = &self.peer {
            let own = peer.own.map_or_else(String::new, |own| format!("; {own} s by its own clock"));
            let how = format!("its answer: {}; whole process, same run{own}", peer.answer);
            found.row(seconds("MiniMalloc").same(Amount::Decimal(peer.seconds, 3), how));
        }
    }
}

fn ask(context: &Context<'_>, peer: &External, instance: &Instance, capacity: Bytes) -> Peer {
    let (limit, seed, threads) = (context.limits.time, context.setup.seed, context.setup.threads);
    let attempt = peer.run(&Task { instance, capacity, limit, seed, threads });
    let answer = match &attempt.layout {
        _ if attempt.timed_out => "was ended at the limit".to_owned(),
        Err(why) => format!("left nothing to check: {why}"),
        Ok(layout) => match Offsets::check(instance, layout).first() {
            None => FITS.to_owned(),
            Some(fault) => format!("left a layout that the checker refused: {fault}"),
        },
    };
    let own = attempt.elapsed.and_then(Result::ok).map(|elapsed| elapsed.seconds);
    Peer { answer, seconds: attempt.seconds, own }
}

fn table(solved: &[Solved], has_peer: bool, found: &mut Reproduction) {
    let mut columns = vec![
        ("instance", Align::Left),
        ("buffers", Align::Right),
        ("load", Align::Right),
        ("capacity", Align::Right),
        ("decision", Align::Left),
        ("s", Align::Right),
        ("least peak", Align::Right),
        ("claim", Align::Left),
        ("s", Align::Right),
    ];
    if has_peer {
        columns.extend([("MiniMalloc", Align::Left), ("s", Align::Right), ("its own s", Align::Right)]);
    }
    let mut table = Table::new(columns);
    for one in solved {
        let mut cells = vec![
            one.instance.name().to_owned(),
            one.instance.len().to_string(),
            one.load.to_string(),
            one.capacity.to_string(),
            one.decision().to_owned(),
            format!("{:.3}", one.decided.1),
            one.optimum(),
            one.least.2.to_string(),
            format!("{:.3}", one.least.3),
        ];
        if let Some(peer) = &one.peer {
            let own = peer.own.map_or_else(|| "-".to_owned(), |own| format!("{own:.3}"));
            cells.extend([peer.answer.clone(), format!("{:.3}", peer.seconds), own]);
        }
        table.row(cells);
    }
    found.section("A to K: decided, then minimised");
    found.table(table);
    let proved = solved.iter().filter(|one| one.least.2 == Claim::Optimal).count();
    let at_load = solved.iter().filter(|one| one.least.0 == Some(one.load)).count();
    found.line(format!(
        "{proved} of {} optima proved; on {at_load} the optimum is the load: where it is the capacity too, a layout within the capacity leaves nothing to spare",
        solved.len()
    ));
    found.line("bytes and wall-clock seconds of this run, one after the other; the peer's are of a whole process, reading the file among them");
}

/// The map of a layout.
fn map(instance: &Instance, layout: &Layout, (bound, claim): (Bytes, Claim), found: &mut Reproduction) {
    let pieces = Offsets::pieces(instance, layout);
    let problem = ProblemKind::Offsets;
    let map = Map { instance, problem, algorithm: "exact", pieces: &pieces, bound, groups: None };
    let name = instance.name();
    let about = format!("{name}: the best layout found ({claim}), addresses over steps");
    found.file(format!("map-{name}.svg"), about, |file| map.write(file));
}

fn figures(inputs: &Inputs, solved: &[Solved], has_peer: bool, found: &mut Reproduction) {
    for one in solved.iter().filter(|one| inputs.maps.contains(&one.instance.name())) {
        let Some(layout) = &one.layout else { continue };
        map(&one.instance, layout, (one.least.1, one.least.2), found);
    }
    if solved.is_empty() {
        return;
    }
    let starred = |name: &str, is_done: bool| if is_done { name.to_owned() } else { format!("{name} *") };
    let millis = |seconds: f64| Some((seconds * 1e3).ceil() as u64);
    let panels = solved.iter().map(|one| {
        let mut groups = vec![
            (starred("decide", one.decided.0 != Claim::Unknown), vec![millis(one.decided.1)]),
            (starred("minimise", one.least.2 == Claim::Optimal), vec![millis(one.least.3)]),
        ];
        if let Some(peer) = &one.peer {
            groups.push((starred("MiniMalloc", peer.answer == FITS), vec![millis(peer.seconds)]));
        }
        Panel { name: one.instance.name().to_owned(), groups, mark: None }
    });
    let chart = Bars {
        title: "Time on A to K".to_owned(),
        caption: format!(
            "milliseconds, rounded up: ours decides the capacity, and minimises{}; * no answer or proof within the limit",
            if has_peer { "; MiniMalloc decides, whole process" } else { "" }
        ),
        series: vec!["wall clock".to_owned()],
        mark: String::new(),
        unit: "milliseconds",
        panels: panels.collect(),
    };
    found.file("times.svg", "milliseconds per instance, every panel on its own scale", |file| {
        chart.write(file)
    });
}
