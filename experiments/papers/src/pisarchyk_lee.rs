//! Buffers of inference shared as objects and by offsets (Pisarchyk and Lee 2020, arXiv 2001.03288): every strategy on the
//! `TFLite` models at hand, its lower bounds, and the proven optimum beside each.
//!
//! The paper's tables are of float32 networks that are not at hand, and their numbers are not quoted here, for no public text
//! that could be checked has them; what is quoted is from its abstract and from its authors' article of October 2020.

use super::{Amount, Context, ReproduceError, Reproduction, Row, files, generated, stem};
use plimsoll::left_out;
use plimsoll::plan::{Plan, ProblemKind};
use plimsoll::run::RunError;
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_datasets::{ImportOptions, Worked, import_file, pisarchyk_lee};
use plimsoll_heuristics::positional_maxima;
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::svg::Map;
use plimsoll_lab::report::table::{Align, Table};
use plimsoll_lab::report::{gap_percent, percent};
use plimsoll_model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll_model::{Bytes, Claim, Entry, Instance, InstanceProblem, Layout, Offsets, SolveError, load};

/// Strategies by offsets: our name, and a short one for figures.
const OFFSETS: [(&str, &str); 3] =
    [("greedy-by-size", "by size"), ("greedy-by-breadth", "by breadth"), ("best-fit-start", "in order")];
/// Strategies by objects; the last three are what the paper compares with.
const OBJECTS: [(&str, &str); 6] = [
    ("shared-greedy-by-size", "by size"),
    ("shared-greedy-by-size-improved", "by size, improved"),
    ("shared-greedy-by-breadth", "by breadth"),
    ("in-order", "in order"),
    ("min-cost-flow", "least-cost flow"),
    ("equality", "equal sizes"),
];
/// Strategies of one way of sharing.
type Strategies = &'static [(&'static str, &'static str)];
/// That way of a model.
type Way = fn(&Model) -> &Shared;
/// How many of [`OBJECTS`] are the paper's own.
const OWN: usize = 3;
/// Bytes of a mebibyte.
const MEBI: f64 = 1_048_576.0;

/// A network of the paper that a generated family can stand in for.
#[derive(Clone, Debug)]
pub struct Network {
    /// Its name in the paper.
    pub name: &'static str,
    /// The family; left out where this build has none.
    pub family: &'static str,
    /// Parameters of the family.
    pub params: Vec<(&'static str, u64)>,
}

/// What is said of `MobileNet` v2 in float32, and which operators of the file at hand have no counterpart there.
#[derive(Clone, Debug)]
pub struct MobileNet {
    /// Name of the model, as file or family, begins so.
    pub begins: &'static str,
    /// All intermediate tensors, in units of 2^20 bytes.
    pub megabytes: f64,
    /// How many they are.
    pub tensors: u64,
    /// Kinds of operators that the printed network does without.
    pub without: Vec<&'static str>,
}

/// What is printed, and what it is tried on.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The small example.
    pub worked: Worked,
    /// The folder of the corpora, and the extension of its files.
    pub folder: &'static str,
    /// Networks that may be generated.
    pub networks: Vec<Network>,
    /// At best so many percent less than what was best before.
    pub less_than_before: f64,
    /// At best so many times less than without sharing.
    pub times_less: f64,
    /// What the authors' article says of one network.
    pub mobilenet: MobileNet,
}

impl Default for Inputs {
    fn default() -> Self {
        let network = |name, family| Network { name, family, params: Vec::new() };
        Self {
            worked: pisarchyk_lee(),
            folder: "tflite",
            networks: vec![
                network("MobileNet v1", "mobilenet-v1"),
                network("MobileNet v2", "mobilenet-v2"),
                network("Inception v3", "inception-v3"),
                network("DeepLab v3", "deeplab-v3"),
                network("PoseNet", "posenet"),
                network("BlazeFace", "blazeface"),
            ],
            less_than_before: 11.0,
            times_less: 10.5,
            mobilenet: MobileNet {
                begins: "mobilenet_v2",
                megabytes: 26.0,
                tensors: 65,
                without: vec!["PAD", "TRANSPOSE", "RESHAPE", "Clip", "Flatten"],
            },
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
/// [`ReproduceError`]: a model cannot be read or generated, or a run failed.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::default();
    let worked = &inputs.worked;
    let example = Model::of(context, worked.name.to_owned(), worked.instance.clone())?;
    example.rows("worked example", &mut found);
    example.maps(&mut found);
    let mut models = Vec::new();
    for (name, instance) in instances(inputs, context, &mut found)? {
        models.push(Model::of(context, name, instance)?);
    }
    for model in &models {
        model.rows("models", &mut found);
    }
    claims(inputs, &models, &mut found);
    tables(&models, &mut found);
    figures(&models, &mut found);
    printed(&mut found);
    Ok(found)
}

/// What stands for the paper's tables.
fn printed(found: &mut Reproduction) {
    found.section("What is printed, and where it is known from");
    found.line("the tables of the paper (MobileNet v1 and v2, DeepLab v3, Inception v3, PoseNet, BlazeFace, float32, six strategies) are not quoted: no text of them was at hand to check a number against, and none is made up");
    found.line("networks marked generated are float32 as published, but their activations are operators with tensors of their own, which the paper's networks fuse: their bytes are no stand-in for the paper's");
    found.line("11 percent: abstract of the paper; 10.5 times: abstract of its later version; 26 MB in 65 tensors: Lee, Pisarchyk, Optimizing TensorFlow Lite Runtime Memory, October 2020; there a MB is 2^20 bytes, as the sum shows");
    found.line("best before, by objects: in order (Lee et al. 2019, greedy), a flow of least cost (the same), and equal sizes only; by offsets best-fit-start, in execution order into the tightest gap, stands for an arena that is filled as operators come");
}

/// Instances of all models, with their names.
fn instances(
    inputs: &Inputs,
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<(String, Instance)>, ReproduceError> {
    let mut all = Vec::new();
    if let Some(folder) = context.folder(inputs.folder) {
        for path in files(&folder, inputs.folder)? {
            let (name, graph) = (stem(&path), import_file(&path, &ImportOptions::default())?.graph);
            if graph.regions().len() > 1 {
                found.leave_out(format!("what branches and loops of {name} own: the paper has none"));
            }
            of_article(inputs, &name, &graph, 4, found)?;
            all.push((name.clone(), intermediates(&name, &graph)?));
        }
    } else {
        found.leave_out(format!("TFLite models: {}", context.no_folder(inputs.folder)));
    }
    for network in &inputs.networks {
        if GraphFamily::named(network.family).is_none() {
            found.leave_out(format!("{}: no family '{}' generates it", network.name, network.family));
            continue;
        }
        let graph = generated(network.family, &network.params)?;
        let name = format!("{} (generated)", network.name);
        of_article(inputs, &network.family.replace('-', "_"), &graph, 1, found)?;
        all.push((name.clone(), intermediates(&name, &graph)?));
    }
    if all.is_empty() {
        let note = "lenet5, vgg16 and resnet18 stand in: generated, float32";
        found.leave_out(format!("every network of the paper; {note}"));
        for family in ["lenet5", "vgg16", "resnet18"] {
            all.push((family.to_owned(), intermediates(family, &generated(family, &[])?)?));
        }
    }
    Ok(all)
}

/// What the authors' article says of a network, where this is it; `scale` makes bytes those of float32.
fn of_article(
    inputs: &Inputs,
    name: &str,
    graph: &Graph,
    scale: u64,
    found: &mut Reproduction,
) -> Result<(), ReproduceError> {
    let printed = &inputs.mobilenet;
    if !name.starts_with(printed.begins) {
        return Ok(());
    }
    let instance = intermediates(name, graph)?;
    let without: Vec<&str> = graph
        .operators()
        .iter()
        .filter(|operator| printed.without.contains(&operator.kind.as_str()))
        .flat_map(|operator| &operator.outputs)
        .map(|&tensor| graph.tensor(tensor).name.as_str())
        .collect();
    let counted: Vec<u64> = instance
        .buffers()
        .iter()
        .filter(|buffer| !without.contains(&buffer.name()))
        .map(|buffer| buffer.size().get())
        .collect();
    let bytes = counted.iter().sum::<u64>().saturating_mul(scale);
    let row = |what: &str, unit| Row::new("article of 2020", format!("MobileNet v2, {what}"), unit);
    let how = if scale == 1 {
        format!(
            "generated in float32; without {}, which the printed network fuses",
            printed.without.join(", ")
        )
    } else {
        format!("{name}: int8, so times {scale}; without {}", printed.without.join(", "))
    };
    let sum = row("intermediate tensors", "MB").printed(Amount::Decimal(printed.megabytes, 0));
    found.row(sum.other(Amount::Decimal(bytes as f64 / MEBI, 3), how.clone()));
    let count = row("intermediate tensors", "tensors").printed(printed.tensors);
    found.row(count.other(counted.len(), format!("{how}; the article's colours may count input or output")));
    Ok(())
}

/// What the paper calls intermediate tensors: neither inputs, outputs, weights nor states; views are tensors of their own.
fn intermediates(name: &str, graph: &Graph) -> Result<Instance, ReproduceError> {
    let liveness = LivenessOptions {
        boundary: Boundary::Outside,
        states: false,
        views: false,
        ..LivenessOptions::default()
    };
    let refused = |source| ReproduceError::Order { graph: name.to_owned(), source };
    let problem = graph.storages(Graph::BODY, &liveness, |_| Bytes::ZERO).map_err(refused)?.problem;
    let instance = problem.instance(&problem.as_in_file(), Bytes::new(1)).map_err(refused)?;
    Ok(instance.with_name(name))
}

/// One model by every strategy of one way of sharing.
#[derive(Debug)]
struct Shared {
    /// Bytes, in the order of the strategies; none where the limit came first.
    by: Vec<Option<Bytes>>,
    /// The paper's lower bound.
    bound: Bytes,
    /// The best known, the bound proved, the claim; none where no exact solver took it.
    least: Option<(Bytes, Bytes, Claim)>,
}

impl Shared {
    /// Below this nothing is possible.
    fn floor(&self) -> Bytes {
        self.least.map_or(self.bound, |(_, bound, _)| bound.max(self.bound))
    }

    fn best(&self, of: &[usize]) -> Bytes {
        of.iter().filter_map(|&at| self.by[at]).min().unwrap_or(Bytes::ZERO)
    }

    fn optimum(&self) -> String {
        match self.least {
            Some((value, _, Claim::Optimal)) => value.to_string(),
            Some((value, bound, _)) => format!("{} to {value}", bound.max(self.bound)),
            None => "-".to_owned(),
        }
    }
}

/// One model.
#[derive(Debug)]
struct Model {
    name: String,
    instance: Instance,
    layout: Option<Layout>,
    offsets: Shared,
    objects: Shared,
}

/// The value of one strategy; a plan below its bound is refused.
fn strategy<P: InstanceProblem>(
    context: &Context<'_>,
    entries: &[&'static Entry<P>],
    name: &'static str,
    instance: &Instance,
    bound: Bytes,
) -> Result<Option<Bytes>, ReproduceError> {
    let input = instance.name().to_owned();
    let outcome = context.solve(entries, name, &input, instance)?;
    match outcome.value {
        Some(value) if value < bound => {
            let what = format!("{name} on {input}");
            Err(ReproduceError::Below { what, value, bound })
        }
        value => Ok(value),
    }
}

impl Model {
    fn of(context: &Context<'_>, name: String, instance: Instance) -> Result<Self, ReproduceError> {
        let instance = instance.with_name(&name);
        let (bound, registry) = (load(&instance).0, context.registry);
        let by = |(own, _): (&'static str, &str)| strategy(context, &registry.offsets, own, &instance, bound);
        let by = OFFSETS.into_iter().map(by).collect::<Result<_, _>>()?;
        let exact = context.solve(&registry.offsets, "exact", &name, &instance)?;
        let least = exact.value.map(|value| (value, exact.lower_bound.value, exact.claim));
        let offsets = Shared { by, bound, least };
        let bound = Bytes::new(positional_maxima(&instance).iter().map(|bytes| bytes.get()).sum());
        let by = |(own, _): (&'static str, &str)| strategy(context, &registry.pools, own, &instance, bound);
        let by = OBJECTS.into_iter().map(by).collect::<Result<_, _>>()?;
        let least = match context.solve(&registry.pools, "pool-ilp", &name, &instance) {
            // A build without it, or too many tensors for the integer program.
            Err(ReproduceError::Missing { .. }) if left_out("pool-ilp").is_some() => None,
            Err(ReproduceError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. }) => None,
            outcome => {
                let outcome = outcome?;
                outcome.value.map(|value| (value, outcome.lower_bound.value, outcome.claim))
            }
        };
        let objects = Shared { by, bound, least };
        Ok(Self { name, layout: exact.solution, instance, offsets, objects })
    }

    /// Rows of all strategies.
    fn rows(&self, table: &str, found: &mut Reproduction) {
        let naive = self.instance.total_size();
        let row = |how: &str, what: &str| {
            Row::new(format!("{table}, {how}"), format!("{}, {what}", self.name), "bytes")
        };
        found.row(
            row("both", "naive").same(naive, format!("{} tensors, nothing shared", self.instance.len())),
        );
        let ways: [(&str, Strategies, &Shared, &str, &'static str); 2] = [
            ("offsets", &OFFSETS, &self.offsets, "most bytes alive at an operator", "exact"),
            ("objects", &OBJECTS, &self.objects, "sum of the positional maxima", "pool-ilp"),
        ];
        for (how, strategies, shared, bound, solver) in ways {
            found.row(row(how, "lower bound").same(shared.bound, bound));
            for ((name, _), &bytes) in strategies.iter().zip(&shared.by) {
                let row = row(how, name);
                found.row(match bytes {
                    Some(bytes) => row.same(bytes, over(bytes, shared)),
                    None => row.missing("nothing within the limit"),
                });
            }
            let least = row(how, "least there is");
            found.row(match shared.least {
                Some((_, _, claim)) => least.same(shared.optimum(), format!("{solver}: {claim}")),
                None => least.missing(left_out(solver).map_or_else(
                    || format!("{solver} does not take so many tensors"),
                    |reason| reason.to_string(),
                )),
            });
        }
    }

    /// The layout of the best offsets.
    fn maps(&self, found: &mut Reproduction) {
        let Some(layout) = &self.layout else { return };
        let pieces = Offsets::pieces(&self.instance, layout);
        let map = Map {
            instance: &self.instance,
            problem: ProblemKind::Offsets,
            algorithm: "exact",
            pieces: &pieces,
            bound: self.offsets.floor(),
            groups: None,
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let file = format!("map-{}.svg", self.name.chars().map(plain).collect::<String>());
        found.file(file, format!("{}: the best offsets, addresses over operators", self.name), |file| {
            map.write(file)
        });
    }
}

/// How far above the lower bound and the optimum, in words.
fn over(bytes: Bytes, shared: &Shared) -> String {
    let gap = |floor| gap_percent(bytes, floor).map_or_else(|| "-".to_owned(), percent);
    match shared.least {
        Some((least, _, Claim::Optimal)) => {
            format!("{} % above the lower bound, {} % above the least", gap(shared.bound), gap(least))
        }
        _ => format!("{} % above the lower bound", gap(shared.bound)),
    }
}

/// What the abstract claims, and which strategy wins how often.
fn claims(inputs: &Inputs, models: &[Model], found: &mut Reproduction) {
    let own: Vec<usize> = (0..OWN).collect();
    let before: Vec<usize> = (OWN..OBJECTS.len()).collect();
    let less = models.iter().map(|model| {
        let [now, then] = [&own, &before].map(|of| model.objects.best(of).get() as f64);
        ((1.0 - now / then.max(1.0)) * 100.0, model.name.as_str())
    });
    let row = Row::new("abstract", "objects: less than the best before, at best", "%");
    let row = row.printed(Amount::Decimal(inputs.less_than_before, 0));
    let other = "other networks than the paper's; at best";
    found.row(match less.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((most, name)) => row.other(Amount::Decimal(most, 2), format!("{other} on {name}")),
        None => row.missing("no model"),
    });
    let times = models.iter().map(|model| {
        let best = model.offsets.best(&[0, 1]).min(model.objects.best(&own)).get().max(1);
        (model.instance.total_size().get() as f64 / best as f64, model.name.as_str())
    });
    let row = Row::new("abstract", "naive over the best strategy, at best", "times");
    let row = row.printed(Amount::Decimal(inputs.times_less, 1));
    found.row(match times.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((most, name)) => row.other(Amount::Decimal(most, 2), format!("{other} on {name}")),
        None => row.missing("no model"),
    });
    let offsets: Vec<&Shared> = models.iter().map(|model| &model.offsets).collect();
    let objects: Vec<&Shared> = models.iter().map(|model| &model.objects).collect();
    wins("offsets", &OFFSETS, &offsets, found);
    wins("objects", &OBJECTS, &objects, found);
}

/// How often each strategy meets its bound, meets the optimum, is the least of all, and how far it is off at worst.
fn wins(how: &str, strategies: &[(&str, &str)], all: &[&Shared], found: &mut Reproduction) {
    for (at, (name, _)) in strategies.iter().enumerate() {
        let count = |meets: &dyn Fn(&Shared) -> bool| all.iter().filter(|one| meets(one)).count();
        let every: Vec<usize> = (0..strategies.len()).collect();
        let row = |what: &str, unit| Row::new(format!("{how}, all models"), format!("{name}, {what}"), unit);
        let of = format!("of {} models", all.len());
        found.row(
            row("least of the strategies", "models")
                .same(count(&|one| one.by[at] == Some(one.best(&every))), of.clone()),
        );
        found.row(
            row("meets the lower bound", "models")
                .same(count(&|one| one.by[at] == Some(one.bound)), of.clone()),
        );
        let least = |one: &Shared| one.least.filter(|least| least.2 == Claim::Optimal).map(|least| least.0);
        found.row(
            row("meets the proven least", "models")
                .same(count(&|one| one.by[at].is_some() && one.by[at] == least(one)), of),
        );
        let gaps = all.iter().filter_map(|one| gap_percent(one.by[at]?, one.bound));
        let worst = gaps.fold(0.0, f64::max);
        found.row(
            row("above the lower bound, at worst", "%")
                .same(Amount::Decimal(worst, 2), "worst of all models"),
        );
    }
}

fn tables(models: &[Model], found: &mut Reproduction) {
    let ways: [(&str, Strategies, Way); 2] = [
        ("Offsets: bytes of the arena", &OFFSETS, |model| &model.offsets),
        ("Objects: sum of all objects, bytes", &OBJECTS, |model| &model.objects),
    ];
    for (title, strategies, of) in ways {
        let mut columns = vec![("model", Align::Left), ("tensors", Align::Right), ("naive", Align::Right)];
        columns.extend(strategies.iter().map(|(name, _)| (*name, Align::Right)));
        columns.extend([("lower bound", Align::Right), ("least", Align::Right)]);
        let mut table = Table::new(columns);
        for model in models {
            let shared = of(model);
            let mut cells = vec![
                model.name.clone(),
                model.instance.len().to_string(),
                model.instance.total_size().to_string(),
            ];
            cells.extend(
                shared.by.iter().map(|bytes| bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string())),
            );
            cells.extend([shared.bound.to_string(), shared.optimum()]);
            table.row(cells);
        }
        found.section(title);
        found.table(table);
    }
    found.line("intermediate tensors only, in the order of the file; least: proven by exact (offsets) and by pool-ilp (objects), from where to where where the limit came first; lower bounds are the paper's: most bytes alive at an operator, sum of the positional maxima");
}

fn figures(models: &[Model], found: &mut Reproduction) {
    if let Some(largest) = models.iter().max_by_key(|model| model.instance.total_size()) {
        largest.maps(found);
    }
    let ways: [(&str, &str, Strategies, Way); 2] = [
        ("offsets.svg", "Offsets: bytes of the arena by strategy", &OFFSETS, |model| &model.offsets),
        ("objects.svg", "Objects: sum of all objects by strategy", &OBJECTS, |model| &model.objects),
    ];
    for (file, title, strategies, of) in ways {
        let panels = models.iter().map(|model| {
            let shared = of(model);
            let bars = shared.by.iter().map(|bytes| bytes.map(Bytes::get));
            let bars = bars.chain([shared.least.map(|(value, ..)| value.get())]).collect();
            Panel {
                name: model.name.clone(),
                groups: vec![(String::new(), bars)],
                mark: Some(shared.bound.get()),
            }
        });
        let chart = Bars {
            title: title.to_owned(),
            caption: "bytes; intermediate tensors, in the order of the file; least: proven optimum, or the best known".to_owned(),
            series: strategies.iter().map(|(_, short)| *short).chain(["least"]).map(str::to_owned).collect(),
            mark: "lower bound".to_owned(),
            unit: "bytes",
            panels: panels.collect(),
        };
        found.file(file, format!("{title}, one panel per model"), |file| chart.write(file));
    }
}
