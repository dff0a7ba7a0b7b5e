//! Memory sharing between inference buffers, as shared objects and by offsets (Pisarchyk and Lee 2020, arXiv
//! 2001.03288). Every strategy of the paper runs on the available `TFLite` models and is compared with the
//! lower bounds of the paper and with the proved optimum.
//!
//! The tables of the paper cover float32 networks that are not available. No text of the tables was available
//! either, so their numbers are not quoted. The quoted numbers come from the abstract and from the authors'
//! article of October 2020.

use crate::{
    Context, Params, ReproduceError, Reproduction, files, generated, import, intermediates, sheet, stem,
};
use minijinja::{Value, context};
use plimsoll::excluded;
use plimsoll::posed::Posed;
use plimsoll_datasets::graphs::GraphFamily;
use plimsoll_datasets::{ImportOptions, Worked, pisarchyk_lee};
use plimsoll_heuristics::shared_objects::positional_maxima;
use plimsoll_lab::report::bars::Panel;
use plimsoll_lab::report::map::Map;
use plimsoll_lab::report::{gap_percent, percent};
use plimsoll_lab::row::Row;
use plimsoll_model::graph::Graph;
use plimsoll_model::{
    Bytes, Claim, Instance, InstanceProblem, Layout, Offsets, Problem, SharedObjects, load,
};
use serde::{Deserialize, Serialize};

/// A kind of sharing: its name, the lower bound of the paper, the exact solver, and the strategies.
struct Kind {
    name: &'static str,
    bound: &'static str,
    exact: &'static str,
    strategies: &'static [&'static str],
    /// The number of strategies that the paper proposes. They are listed first, and the paper compares them
    /// with the remaining strategies.
    own: usize,
}

const OFFSETS: Kind = Kind {
    name: "offsets",
    bound: "peak live bytes over operators",
    exact: "exact",
    strategies: &["greedy-by-size", "greedy-by-breadth", "best-fit-start"],
    own: 2,
};
const OBJECTS: Kind = Kind {
    name: "objects",
    bound: "sum of the positional maxima",
    exact: "pool-ilp",
    strategies: &[
        "shared-greedy-by-size",
        "shared-greedy-by-size-improved",
        "shared-greedy-by-breadth",
        "in-order",
        "min-cost-flow",
        "equality",
    ],
    own: 3,
};

/// A network of the paper, and the generated family that stands in for it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/pisarchyk-lee.toml explains every value")]
pub struct Network {
    pub name: String,
    pub family: String,
    pub params: Params,
}

/// The authors' statement on `MobileNet` v2 in float32, and the operator kinds that occur in the available
/// file but not in their network.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/pisarchyk-lee.toml explains every value")]
pub struct MobileNet {
    pub begins: String,
    pub megabytes: f64,
    pub tensors: u64,
    pub without: Vec<String>,
}

/// The printed numbers, and the networks of the recomputation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[allow(missing_docs, reason = "data/pisarchyk-lee.toml explains every value")]
pub struct Inputs {
    #[serde(skip, default = "pisarchyk_lee")]
    pub worked: Worked,
    pub folder: String,
    pub networks: Vec<Network>,
    pub less_than_before: f64,
    pub times_less: f64,
    pub mobilenet: MobileNet,
}

impl Default for Inputs {
    fn default() -> Self {
        sheet::inputs("pisarchyk-lee")
    }
}

/// Recomputes the results from these inputs.
///
/// # Errors
/// [`ReproduceError`] if a model cannot be read or generated, or a run fails.
pub fn reproduce(inputs: &Inputs, context: &Context<'_>) -> Result<Reproduction, ReproduceError> {
    let mut found = Reproduction::of("pisarchyk-lee");
    let worked = &inputs.worked;
    let example = Model::of(context, worked.name.to_owned(), worked.instance.clone())?;
    example.map(&mut found)?;
    let mut models = Vec::new();
    for (name, instance) in instances(inputs, context, &mut found)? {
        models.push(Model::of(context, name, instance)?);
    }
    found.fact("inputs", inputs);
    found.fact("example", example.rows());
    found.fact("models", models.iter().flat_map(Model::rows).collect::<Vec<_>>());
    found.fact("count", models.len());
    claims(&models, &mut found);
    if let Some(largest) = models.iter().max_by_key(|model| model.instance.total_size()) {
        largest.map(&mut found)?;
    }
    for (name, of) in [("offsets", Model::offsets as fn(&Model) -> &Shared), ("objects", Model::objects)] {
        found.fact(name, models.iter().map(|model| model.cells(of(model))).collect::<Vec<_>>());
        found.bars(name, &().into(), models.iter().map(|model| model.panel(of(model))).collect())?;
    }
    found.finish()
}

/// Returns the name and the instance of every model.
fn instances(
    inputs: &Inputs,
    context: &Context<'_>,
    found: &mut Reproduction,
) -> Result<Vec<(String, Instance)>, ReproduceError> {
    let (mut all, mut article) = (Vec::new(), Vec::new());
    let mut add = |begins: &str, name: String, graph: &Graph, scale| {
        let instance = intermediates(&name, graph, false, 1)?.with_name(&name);
        if begins.starts_with(&inputs.mobilenet.begins) {
            article.push(of_article(&inputs.mobilenet, begins, graph, &instance, scale));
        }
        all.push((name, instance));
        Ok::<_, ReproduceError>(())
    };
    if let Some(folder) = context.folder(&inputs.folder) {
        for path in files(&folder, &inputs.folder)? {
            let (name, graph) = (stem(&path), import(&path, &ImportOptions::default())?);
            if graph.regions().len() > 1 {
                found.skip(format!("branches and loops of {name}, which the paper does not cover"));
            }
            add(&name.clone(), name, &graph, 4)?;
        }
    } else {
        found.skip(format!("TFLite models: {}", context.no_folder(&inputs.folder)));
    }
    for Network { name, family, params } in &inputs.networks {
        if GraphFamily::named(family).is_none() {
            found.skip(format!("{name}: no family '{family}' generates it"));
            continue;
        }
        add(&family.replace('-', "_"), format!("{name} (generated)"), &generated(family, params, 0)?, 1)?;
    }
    if all.is_empty() {
        let note = "lenet5, vgg16 and resnet18 stand in (generated, float32)";
        found.skip(format!("every network of the paper; {note}"));
        for family in ["lenet5", "vgg16", "resnet18"] {
            let graph = generated(family, &Params::new(), 0)?;
            all.push((family.to_owned(), intermediates(family, &graph, false, 1)?.with_name(family)));
        }
    }
    found.fact("article", article);
    Ok(all)
}

/// Returns the facts about a network that the authors' article describes. Sizes are multiplied by `scale`,
/// which converts them to float32.
fn of_article(printed: &MobileNet, name: &str, graph: &Graph, instance: &Instance, scale: u64) -> Value {
    let without = graph.operators().iter().filter(|operator| printed.without.contains(&operator.kind));
    let without = without.flat_map(|operator| &operator.outputs);
    let without: Vec<&str> = without.map(|&tensor| graph.tensor(tensor).name.as_str()).collect();
    let counted = || instance.buffers().iter().filter(|buffer| !without.contains(&buffer.name()));
    let bytes = counted().map(|buffer| buffer.size().get()).sum::<u64>().saturating_mul(scale);
    let (how, fuses) = match scale {
        1 => ("generated in float32".to_owned(), ", which the printed network fuses"),
        _ => (format!("{name}: int8, so times {scale}"), ""),
    };
    context! { bytes, tensors => counted().count(), how, fuses }
}

/// One model planned by every strategy of one kind of sharing.
struct Shared {
    kind: &'static Kind,
    /// The bytes that each strategy needs, or `None` if the limits ended its run before it found a plan.
    by: Vec<Option<Bytes>>,
    /// The lower bound of the paper.
    bound: Bytes,
    /// The best value that the exact solver found, the proven bound and the claim, or `None` if the solver
    /// found no value or did not run.
    least: Option<(Bytes, Bytes, Claim)>,
}

impl Shared {
    /// Runs every strategy. A value below the lower bound is an error.
    fn of<P: for<'i> Posed<Question<'i> = &'i Instance>>(
        context: &Context<'_>,
        kind: &'static Kind,
        instance: &Instance,
        bound: Bytes,
        exact: Option<&Row>,
    ) -> Result<Self, ReproduceError> {
        let mut by = Vec::new();
        for name in kind.strategies {
            let (row, _) = context.solve::<P>(name, instance.name(), &instance)?;
            let value = row.value.map(Bytes::new);
            if let Some(value) = value.filter(|&value| value < bound) {
                let what = format!("{name} on {} takes {value} bytes", instance.name());
                return Err(ReproduceError::Defect(format!("{what}, below the lower bound of {bound}")));
            }
            by.push(value);
        }
        let least =
            |exact: &Row| Some((Bytes::new(exact.value?), Bytes::new(exact.lower_bound?), exact.claim?));
        Ok(Self { kind, by, bound, least: exact.and_then(least) })
    }

    fn best(&self, of: std::ops::Range<usize>) -> Bytes {
        self.by[of].iter().flatten().copied().min().unwrap_or(Bytes::ZERO)
    }

    fn proven(&self) -> Option<Bytes> {
        self.least.filter(|least| least.2 == Claim::Optimal).map(|least| least.0)
    }

    fn optimum(&self) -> Option<String> {
        let (value, bound, _) = self.least?;
        let open = || format!("{} to {value}", bound.max(self.bound));
        Some(self.proven().map_or_else(open, |least| least.to_string()))
    }

    /// Returns the rows for the bound, all strategies and the optimum.
    fn rows(&self) -> Vec<Value> {
        let gap = |bytes: Bytes, floor: Bytes| {
            gap_percent(bytes.get(), floor.get()).map_or_else(|| "-".to_owned(), percent)
        };
        let over = |bytes: Bytes| {
            let low = format!("{} % above the lower bound", gap(bytes, self.bound));
            self.proven()
                .map_or(low.clone(), |least| format!("{low}, {} % above the optimum", gap(bytes, least)))
        };
        let Kind { bound, exact, .. } = *self.kind;
        let mut rows = vec![context! { what => "lower bound", ours => self.bound.get(), reason => bound }];
        for (what, &bytes) in self.kind.strategies.iter().zip(&self.by) {
            let reason = bytes.map_or_else(|| "nothing within the limit".to_owned(), over);
            rows.push(context! { what, ours => bytes.map(Bytes::get), reason });
        }
        let many = || format!("{exact} does not support this number of tensors");
        let reason = match self.least {
            Some((_, _, claim)) => format!("{exact}: {claim}"),
            None => excluded(exact).map_or_else(many, |reason| reason.to_string()),
        };
        rows.push(context! { what => "least there is", ours => self.optimum(), reason });
        rows
    }
}

/// One model, planned with offsets and with shared objects.
struct Model {
    name: String,
    instance: Instance,
    layout: Option<Layout>,
    offsets: Shared,
    objects: Shared,
}

impl Model {
    fn of(context: &Context<'_>, name: String, instance: Instance) -> Result<Self, ReproduceError> {
        let instance = instance.with_name(&name);
        let bound = load(&instance).0;
        let (exact, layout) = context.solve::<Offsets>(OFFSETS.exact, &name, &&instance)?;
        let offsets = Shared::of::<Offsets>(context, &OFFSETS, &instance, bound, Some(&exact))?;
        let bound = Bytes::new(positional_maxima(&instance).iter().map(|bytes| bytes.get()).sum());
        let pools = context.try_solve::<SharedObjects>(OBJECTS.exact, &name, &&instance)?;
        let pools = pools.map(|(row, _)| row);
        let objects = Shared::of::<SharedObjects>(context, &OBJECTS, &instance, bound, pools.as_ref())?;
        Ok(Self { name, instance, layout, offsets, objects })
    }

    fn offsets(&self) -> &Shared {
        &self.offsets
    }

    fn objects(&self) -> &Shared {
        &self.objects
    }

    /// Returns the rows of the naive plan and of both kinds of sharing.
    fn rows(&self) -> Vec<Value> {
        let reason = format!("{} tensors, nothing shared", self.instance.len());
        let naive = context! { what => "naive", ours => self.instance.total_size().get(), reason };
        let tables = [("both", vec![naive])].into_iter();
        let kinds = [&self.offsets, &self.objects].map(|shared| (shared.kind.name, shared.rows()));
        tables.chain(kinds).map(|(table, rows)| context! { table, model => &self.name, rows }).collect()
    }

    /// Returns the cells of the model in the table of one kind of sharing.
    fn cells(&self, shared: &Shared) -> Value {
        let by: Vec<Option<u64>> = shared.by.iter().map(|bytes| bytes.map(Bytes::get)).collect();
        context! {
            name => &self.name, tensors => self.instance.len(), naive => self.instance.total_size().get(),
            by, bound => shared.bound.get(), optimum => shared.optimum(),
        }
    }

    fn panel(&self, shared: &Shared) -> Panel {
        let bars = shared.by.iter().copied().chain([shared.least.map(|(value, ..)| value)]);
        let groups = vec![(String::new(), bars.map(|bytes| bytes.map(Bytes::get)).collect())];
        Panel { name: self.name.clone(), groups, mark: Some(shared.bound.get()) }
    }

    /// Draws the best layout of the offset problem.
    fn map(&self, found: &mut Reproduction) -> Result<(), ReproduceError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let pieces = &Offsets::pieces(&self.instance, layout);
        let (instance, problem, bound) = (&self.instance, Offsets::NAME, self.offsets.bound);
        let bound = self.offsets.least.map_or(bound, |least| least.1.max(bound));
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let file: String = self.name.chars().map(plain).collect();
        let map = Map::new(instance, problem, "exact", pieces, bound);
        found.map("map", &context! { name => &self.name, file }, &map)
    }
}

/// Defines the facts about the claims of the abstract, and the number of models on which each strategy is
/// best.
fn claims(models: &[Model], found: &mut Reproduction) {
    let most = |of: &dyn Fn(&Model) -> f64| {
        let all = models.iter().map(|model| (of(model), model.name.as_str()));
        let Some((most, name)) = all.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            return context! { most => (), reason => "no model" };
        };
        context! { most, reason => format!("other networks than in the paper; best on {name}") }
    };
    let own = |shared: &Shared| shared.best(0..shared.kind.own);
    found.fact(
        "less",
        most(&|model| {
            let before = model.objects.best(OBJECTS.own..OBJECTS.strategies.len());
            (1.0 - own(&model.objects).get() as f64 / (before.get() as f64).max(1.0)) * 100.0
        }),
    );
    found.fact(
        "times",
        most(&|model| {
            let best = own(&model.offsets).min(own(&model.objects)).get().max(1);
            model.instance.total_size().get() as f64 / best as f64
        }),
    );
    let mut wins = Vec::new();
    for (kind, of) in [(&OFFSETS, Model::offsets as fn(&Model) -> &Shared), (&OBJECTS, Model::objects)] {
        for (at, strategy) in kind.strategies.iter().enumerate() {
            let all = || models.iter().map(of);
            let count = |meets: &dyn Fn(&Shared) -> bool| all().filter(|one| meets(one)).count();
            let gaps = all().filter_map(|one| gap_percent(one.by[at]?.get(), one.bound.get()));
            wins.push(context! {
                how => kind.name, strategy,
                least => count(&|one| one.by[at] == Some(one.best(0..one.by.len()))),
                bound => count(&|one| one.by[at] == Some(one.bound)),
                proven => count(&|one| one.by[at].is_some() && one.by[at] == one.proven()),
                worst => gaps.fold(0.0, f64::max),
            });
        }
    }
    found.fact("wins", wins);
}
