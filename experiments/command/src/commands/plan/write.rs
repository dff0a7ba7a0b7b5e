//! `plan --write`: the model with its operators in the planned order, and with the plan.

use super::alternatives::Alternatives;
use super::args::PlanArgs;
use super::places::{Place, Places, PlacesFormat, target};
use crate::args::element_alignment;
use crate::commands::choose;
use crate::failure::{Failure, NOTHING_FOUND};
use crate::output;
use crate::report::{Report, bytes};
use plimsoll::datasets::{Import, MICRO_ALIGNMENT, MicroArena, ModelFile, ModelFormat, read_model};
use plimsoll::model::contents::Contents;
use plimsoll::model::graph::{AliasKind, LivenessOptions};
use plimsoll::model::{Bytes, Layout, Offsets, Outcome, Silent, check_layout, load};
use plimsoll::run::run;
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// Returns the format of the written model, or `None` if no model is to be written.
///
/// # Errors
/// Fails if the input cannot be read or is a graph, or if the suffix of the output belongs to the other model
/// format.
pub fn format(out: Option<&Path>, model: &Path) -> Result<Option<ModelFormat>, Failure> {
    let Some(out) = out else { return Ok(None) };
    let Contents { name, bytes } = read_model(model).map_err(Failure::input)?;
    let format = ModelFormat::of(&name, &bytes).ok_or_else(|| {
        let message = "--write: a graph (.json) is not in the format of a runtime; --tensors writes its plan";
        Failure::input(message)
    })?;
    let (own, other) = match format {
        ModelFormat::TfLite => (".tflite", "onnx"),
        ModelFormat::Onnx => (".onnx", "tflite"),
    };
    if out.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case(other)) {
        let message =
            format!("--write '{}': the model keeps its format; use a name ending in {own}", out.display());
        return Err(Failure::input(message));
    }
    Ok(Some(format))
}

/// Returns the assumptions about liveness under which a model is planned. `written` is the format of the model
/// of `--write`.
///
/// # Errors
/// Fails for a model in `TFLite` format if the alignment is not a multiple of the alignment of the runtime.
pub fn liveness(
    args: &PlanArgs,
    import: &Import,
    written: Option<ModelFormat>,
) -> Result<LivenessOptions, Failure> {
    let is_micro = written == Some(ModelFormat::TfLite);
    let given = args.liveness.options_of(import, is_micro || is_header(args)?);
    if !is_micro {
        return Ok(given);
    }
    let align = given.align;
    if align.get() % MICRO_ALIGNMENT.get() != 0 {
        let message = format!("--align {align}: tflite-micro needs a multiple of {MICRO_ALIGNMENT}");
        return Err(Failure::input(message));
    }
    Ok(LivenessOptions { states: false, ..given })
}

fn is_header(args: &PlanArgs) -> Result<bool, Failure> {
    let target = target(args.tensors.as_ref(), args.format)?;
    Ok(target.is_some_and(|(_, format)| format == PlacesFormat::CHeader))
}

/// Adds a line to the report if a C header is written and `--align` does not suit the largest elements.
fn note_alignment(asked: &Alternatives<'_>, report: &mut Report) -> Result<(), Failure> {
    let align = asked.run.liveness.align;
    let needs = element_alignment(&asked.import.graph, asked.run.liveness);
    if align.get() % needs.get() != 0 && is_header(asked.args)? {
        let (align, needs) = (bytes(align), bytes(needs));
        report.line("alignment", format_args!("--align {align}, but the largest elements have {needs}"));
    }
    Ok(())
}

/// Writes the files of `--tensors`, `--format` and `--write`.
pub fn store(
    asked: &Alternatives<'_>,
    places: &Places<'_>,
    arena: Bytes,
    report: &mut Report,
) -> Result<(), Failure> {
    if let Some((path, format)) = target(asked.args.tensors.as_ref(), asked.args.format)? {
        output::late(places.store(&path, format, (arena, asked.run.liveness.align)));
    }
    note_alignment(asked, report)?;
    write(asked, places, arena, report)
}

/// Writes the model of `--write` for a plan whose arena has `arena` bytes, and adds a line to the report.
fn write(
    asked: &Alternatives<'_>,
    places: &Places<'_>,
    arena: Bytes,
    report: &mut Report,
) -> Result<(), Failure> {
    let (args, import) = (asked.args, asked.import);
    let (Some(out), model) = (&args.write, &args.model.model) else { return Ok(()) };
    let Some(format) = format(Some(out), model)? else { return Ok(()) };
    let contents = read_model(model).map_err(Failure::input)?;
    let options = args.model.import.options()?;
    let original =
        ModelFile::new(&contents.name, format, contents.bytes).with_scratch(options.scratch.clone());
    let file = original.reordered(import, &places.orders).map_err(Failure::input)?;
    let misordered = file.first_misordered(import, &places.orders, &options).map_err(Failure::input)?;
    if let Some(region) = misordered {
        let message = format!(
            "--write: the file cannot express the planned order of region '{}', because functions or subgraphs that are called several times share operators; --order as-in-file keeps the order",
            import.graph.region_called(region)
        );
        return Err(Failure::input(message));
    }
    let (file, arena, before, by) = match format {
        ModelFormat::Onnx => {
            let plan = places.json(arena).to_string();
            let properties = [("plimsoll.arena", arena.to_string()), ("plimsoll.plan", plan)];
            let file = file.with_properties(&properties).map_err(Failure::input)?;
            (file, arena, Before::default(), "as metadata properties".to_owned())
        }
        ModelFormat::TfLite => {
            let planned = Planned::new(asked, places);
            let shares = |how, from, to| planned.shares(how, from, to);
            let micro = file.micro_arena(&shares).map_err(Failure::input)?;
            let (layout, by) = placed(asked, &planned, &micro)?;
            let offsets = micro.offsets(&layout).map_err(Failure::input)?;
            let before = Before::of(&original)?;
            let arena = micro.arena(&layout);
            if let Some(needs) = before.needs().filter(|&needs| arena > needs) {
                return Err(worse(arena, needs));
            }
            let file = file.with_offsets(&offsets).map_err(Failure::input)?;
            let scratch =
                if options.scratch.is_empty() { "; scratch memory of kernels is not counted" } else { "" };
            (file, arena, before, format!("{by}{}{scratch}", before.text()))
        }
    };
    if output::late(output::write_file(out, |out| out.write_all(file.bytes()))).is_none() {
        return Ok(());
    }
    report.extend(json!({
        "written": {
            "file": out,
            // Bytes of the arena that the written plan uses in the runtime.
            "arena": arena,
            // Bytes that tflite-micro uses without a plan.
            "greedy": before.greedy,
            // Bytes that tflite-micro uses with the plan in the original file.
            "in_file": before.in_file,
        },
    }));
    report.line("written", format_args!("{}: {} {by}", out.display(), bytes(arena)));
    Ok(())
}

/// The memory that tflite-micro needs for the original model.
#[derive(Clone, Copy, Default)]
struct Before {
    /// The size with the offline plan in the file, if there is one.
    in_file: Option<Bytes>,
    /// The size without a plan; `None` if the model needs its plan.
    greedy: Option<Bytes>,
}

impl Before {
    fn of(original: &ModelFile<'_>) -> Result<Self, Failure> {
        let micro = original.micro_arena(&|_, _, _| false).map_err(Failure::input)?;
        let in_file = micro.in_file().map(|layout| micro.arena(&layout));
        Ok(Self { in_file, greedy: (!micro.is_compiled()).then(|| micro.greedy()) })
    }

    /// Returns the size that the written plan must not exceed.
    fn needs(self) -> Option<Bytes> {
        self.in_file.or(self.greedy)
    }

    fn text(self) -> String {
        let in_file =
            self.in_file.map(|size| format!("; {} with the plan in the original file", bytes(size)));
        let greedy = self.greedy.map(|size| format!("; {} without a plan", bytes(size)));
        in_file.into_iter().chain(greedy).collect()
    }
}

/// Returns the failure for a plan that needs more memory than the runtime needs without a plan.
fn worse(arena: Bytes, greedy: Bytes) -> Failure {
    let message = format!(
        "--write: the planned arena has {}, but tflite-micro needs {} for the original model; try --order as-in-file, or a longer --time-limit",
        bytes(arena),
        bytes(greedy)
    );
    Failure { code: NOTHING_FOUND, message }
}

/// The parts of a plan that are used to plan the arena of the runtime. `places` contains the tensors by their
/// index in the file, and is empty for a plan with control flow.
struct Planned<'p> {
    places: HashMap<usize, &'p Place>,
    is_straight: bool,
    views: bool,
}

impl<'p> Planned<'p> {
    fn new(asked: &Alternatives<'_>, places: &'p Places<'_>) -> Self {
        let is_straight = places.orders.len() == 1;
        let rows = places.rows.iter().filter(|_| is_straight);
        let places = rows.filter_map(|row| Some((row.index()?, row))).collect();
        Self { places, is_straight, views: asked.run.liveness.views }
    }

    /// Returns true if an operator's input `from` and output `to` share memory. Without control flow, the
    /// plan decides this. With control flow, views share the memory of their inputs unless `--no-views` is
    /// given, and no other tensors share memory.
    fn shares(&self, how: AliasKind, from: usize, to: usize) -> bool {
        if !self.is_straight {
            return self.views && how == AliasKind::View;
        }
        let pair = self.places.get(&from).zip(self.places.get(&to));
        pair.is_some_and(|(from, to)| from.shares_with(to))
    }
}

/// Returns a layout of the runtime's arena, and its description. The layout is that of the plan if it is
/// valid in the runtime, and otherwise a new one. For models with control flow, lifespans in the runtime
/// differ from those of the plan, because the runtime treats branches as if they ran in sequence, and gives
/// each subgraph one set of tensors.
fn placed(
    asked: &Alternatives<'_>,
    planned: &Planned<'_>,
    micro: &MicroArena,
) -> Result<(Layout, String), Failure> {
    let instance = &micro.instance;
    let own = micro.layout(|tensor| planned.places.get(&tensor).map(|row| row.offset()));
    if let Some(layout) = own.filter(|layout| check_layout(instance, layout).is_empty()) {
        return Ok((layout, "as an offline plan of tflite-micro".to_owned()));
    }
    let solver = choose::named(&asked.registry.offsets, &asked.args.solver, "solver")?;
    let attempt = run(solver, instance, asked.run.setup, asked.run.limits, &mut Silent);
    let outcome: Outcome<Offsets> = attempt.result.map_err(Failure::internal)?;
    let nothing = "--write: no layout of the tensors of tflite-micro was found within the limits";
    let layout =
        outcome.solution.ok_or_else(|| Failure { code: NOTHING_FOUND, message: nothing.to_owned() })?;
    let (load, claim) = (load(instance).0, outcome.claim);
    Ok((
        micro.in_runtime(&layout),
        format!("as an offline plan of tflite-micro, {claim} with its lifespans ({} live)", bytes(load)),
    ))
}
