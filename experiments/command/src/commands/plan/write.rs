//! `plan --write`: the model with its operators in the planned order, and with the plan.

use super::alternatives::Alternatives;
use super::args::PlanArgs;
use super::capacity::Check;
use super::micro::{Micro, MicroReport, is_header};
use super::places::{Places, target};
use crate::args::element_alignment;
use crate::failure::{Failure, NOTHING_FOUND};
use crate::output;
use crate::report::{self, Printed, Text, WithLayout, bytes};
use plimsoll::assumptions::{Assumption, assumptions};
use plimsoll::datasets::{Import, ImportOptions, ModelFile, ModelFormat, read_model};
use plimsoll::model::csv::Rows;
use plimsoll::model::{Bytes, Instance, Layout};
use plimsoll_lab::report::Basis;
use plimsoll_support::contents::{Contents, has_suffix};
use serde::Serialize;
use std::path::{Path, PathBuf};

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
    if has_suffix(out, &[other]) {
        let message =
            format!("--write '{}': the model keeps its format; use a name ending in {own}", out.display());
        return Err(Failure::input(message));
    }
    Ok(Some(format))
}

/// Refuses to write a plan into a model if the runtime cannot run the model, or cannot run it as planned.
///
/// # Errors
/// Fails if the import contains operators that the runtime cannot run, or sharing that it does not know.
pub fn check(args: &PlanArgs, import: &Import) -> Result<(), Failure> {
    let options = &args.model.import;
    if let Some((kind, _)) = options.overlap.first() {
        let message =
            format!("--write: the kernels of {kind} in tflite-micro may not overlap input and output");
        return Err(Failure::input(message));
    }
    if options.parts {
        let message = "--write: tflite-micro copies slices, splits and concatenations; omit --parts";
        return Err(Failure::input(message));
    }
    if import.unrunnable.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = import.unrunnable.iter().map(ToString::to_string).collect();
    Err(Failure::input(format!("--write: tflite-micro cannot run {}", list.join("; "))))
}

/// Returns a note if a C header is written and `--align` does not suit the largest elements.
fn alignment(asked: &Alternatives<'_>) -> Result<Option<String>, Failure> {
    let align = asked.run.liveness.align;
    let needs = element_alignment(&asked.import.graph, asked.run.liveness);
    let is_short = !align.get().is_multiple_of(needs.get()) && is_header(asked.args)?;
    let [align, needs] = [align, needs].map(bytes);
    Ok(is_short.then(|| format!("--align {align}, but the largest elements have {needs}")))
}

/// The files that a plan was written to.
#[derive(Default)]
pub struct Stored {
    alignment: Option<String>,
    written: Option<Written>,
    /// The arena of `tflite-micro`, if the plan is made for it.
    pub micro: Option<Micro>,
}

/// The end of the report on a plan: the assumptions, the files, and whether the plan fits.
#[derive(Serialize)]
pub(super) struct Tail<'a> {
    #[serde(flatten)]
    pub basis: Basis,
    #[serde(serialize_with = "report::assumptions")]
    assumptions: Vec<Assumption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'a Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tflite_micro: Option<MicroReport<'a>>,
    #[serde(flatten)]
    check: Check<'a>,
    #[serde(flatten)]
    layout: Option<WithLayout<'a>>,
    #[serde(skip)]
    alignment: Option<&'a str>,
}

impl<'a> Tail<'a> {
    /// Returns the end of the report on a plan that was stored and checked. `layout` is its layout.
    pub fn new(
        stored: &'a Stored,
        check: Check<'a>,
        asked: &Alternatives<'_>,
        layout: Option<(&'a Instance, &'a Layout)>,
    ) -> Self {
        let rows = |(instance, layout)| Rows::of_layout(instance, layout);
        Self {
            basis: Basis::of(asked.import),
            assumptions: assumptions(&asked.run.liveness, &asked.import.graph),
            written: stored.written.as_ref(),
            tflite_micro: stored.micro.as_ref().map(Micro::report),
            check,
            layout: asked.args.with_layout.then(|| WithLayout { layout: layout.map(rows) }),
            alignment: stored.alignment.as_deref(),
        }
    }
}

impl Printed for Tail<'_> {
    fn print(&self, text: &mut Text) {
        text.assuming(&self.assumptions);
        if let Some(alignment) = self.alignment {
            text.line("alignment", alignment);
        }
        if let Some(Written { file, arena, by, .. }) = self.written {
            text.line("written", format_args!("{}: {} {by}", file.display(), bytes(*arena)));
        }
        if let Some(micro) = &self.tflite_micro {
            micro.print(text);
        }
        self.check.print(text);
    }
}

/// A model file with the plan.
#[derive(Serialize)]
struct Written {
    file: PathBuf,
    /// Bytes of the arena that the written plan uses in the runtime.
    arena: Bytes,
    /// Bytes that tflite-micro uses without a plan.
    greedy: Option<Bytes>,
    /// Bytes that tflite-micro uses with the plan in the original file.
    in_file: Option<Bytes>,
    /// Describes the plan.
    #[serde(skip)]
    by: String,
}

/// Writes the files of `--tensors`, `--format` and `--write`.
pub fn store(asked: &Alternatives<'_>, places: &Places<'_>, arena: Bytes) -> Result<Stored, Failure> {
    if let Some((path, format)) = target(asked.args.tensors.as_ref(), asked.args.format)? {
        output::late(places.store(&path, format, (arena, asked.run.liveness.align)));
    }
    let stored = Stored { alignment: alignment(asked)?, ..Stored::default() };
    let model = &asked.args.model.model;
    if asked.args.write.is_none() && !asked.is_micro {
        return Ok(stored);
    }
    let format = if asked.is_micro { ModelFormat::TfLite } else { ModelFormat::Onnx };
    let contents = read_model(model).map_err(Failure::input)?;
    let options = asked.args.model.import.options()?;
    let original =
        ModelFile::new(&contents.name, format, contents.bytes).with_scratch(options.scratch.clone());
    let file = ordered(asked, places, &original, &options)?;
    let Some(out) = &asked.args.write else {
        return Ok(Stored { micro: Some(Micro::new(asked, places, &original, &file)?), ..stored });
    };
    if !asked.is_micro {
        let plan = serde_json::to_string(&places.file(arena)).map_err(Failure::internal)?;
        let properties = [("plimsoll.arena", arena.to_string()), ("plimsoll.plan", plan)];
        let file = file.with_properties(&properties).map_err(Failure::input)?;
        let by = "as metadata properties".to_owned();
        return Ok(Stored { written: written(out, &file, (arena, Before::default(), by)), ..stored });
    }
    let micro = Micro::new(asked, places, &original, &file)?;
    let offsets = micro.arena.offsets(&micro.layout).map_err(Failure::input)?;
    let (before, arena) = (Before::of(&original)?, micro.arena.arena(&micro.layout));
    if let Some(needs) = before.needs().filter(|&needs| arena > needs) {
        return Err(worse(arena, needs));
    }
    let file = file.with_offsets(&offsets).map_err(Failure::input)?;
    let scratch = if options.scratch.is_empty() { "; scratch memory of kernels is not counted" } else { "" };
    let by = format!("{}{}{scratch}", micro.by, before.text());
    let written = written(out, &file, (arena, before, by));
    Ok(Stored { written, micro: Some(micro), ..stored })
}

/// Returns the model with its operators in the planned order.
fn ordered<'a>(
    asked: &Alternatives<'_>,
    places: &Places<'_>,
    original: &ModelFile<'a>,
    options: &ImportOptions,
) -> Result<ModelFile<'a>, Failure> {
    let import = asked.import;
    let file = original.reordered(import, &places.orders).map_err(Failure::input)?;
    let misordered = file.first_misordered(import, &places.orders, options).map_err(Failure::input)?;
    if let Some(region) = misordered {
        let message = format!(
            "--write: the file cannot express the planned order of region '{}', because functions or subgraphs that are called several times share operators; --order as-in-file keeps the order",
            import.graph.region_called(region)
        );
        return Err(Failure::input(message));
    }
    Ok(file)
}

/// Writes a model. `arena` is the size of the arena under its plan, and `by` describes the plan. A failure is
/// [late](output::late).
fn written(
    out: &Path,
    file: &ModelFile<'_>,
    (arena, before, by): (Bytes, Before, String),
) -> Option<Written> {
    output::late(output::write_file(out, |out| out.write_all(file.bytes())))?;
    Some(Written { file: out.to_owned(), arena, greedy: before.greedy, in_file: before.in_file, by })
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
