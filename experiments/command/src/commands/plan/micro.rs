//! The arena of `tflite-micro` under a plan: tensors and scratch buffers ("head"), and persistent data
//! ("tail").

use super::alternatives::Alternatives;
use super::args::PlanArgs;
use super::places::{Place, Places, PlacesFormat, target};
use crate::commands::choose;
use crate::failure::{Failure, NOTHING_FOUND};
use crate::report::{Printed, Text, bytes};
use plimsoll::datasets::{
    Import, MICRO_ALIGNMENT, MicroArena, MicroOverhead, ModelFile, ModelFormat, Pointers, Shares,
};
use plimsoll::model::graph::{AliasKind, Boundary, LivenessOptions};
use plimsoll::model::{Bytes, Layout, Offsets, Outcome, Silent, check_layout, load};
use plimsoll::run::run;
use serde::Serialize;
use std::collections::HashMap;

/// The plan of a `TFLite` file in the arena of the runtime.
pub struct Micro {
    /// Tensors and scratch buffers. The second part describes how the layout was found.
    pub arena: MicroArena,
    pub layout: Layout,
    pub by: String,
    /// Bytes of tensors and scratch buffers under the layout. If the command line contains no scratch
    /// buffers, those of the reference kernels count.
    pub head: Bytes,
    /// Bytes of tensors and scratch buffers without a plan, in the order of the file.
    pub greedy: Bytes,
    pub overhead: MicroOverhead,
    /// Bytes per pointer of the target.
    pub pointer: u64,
}

impl Micro {
    /// Plans the arena of the runtime for `file`, whose operators are in the planned order.
    pub fn new(
        asked: &Alternatives<'_>,
        places: &Places<'_>,
        original: &ModelFile<'_>,
        file: &ModelFile<'_>,
    ) -> Result<Self, Failure> {
        let planned = Planned::new(asked, places);
        let shares = |how, from, to| planned.shares(how, from, to);
        let arena = file.micro_arena(&shares).map_err(Failure::input)?;
        let (layout, by) = placed(asked, &planned, &arena)?;
        let pointers = asked.args.pointers.of();
        let overhead = file.micro_overhead(pointers).map_err(Failure::input)?;
        let (head, greedy) = heads(&shares, (&arena, &layout), [original, file], pointers)?;
        Ok(Self { arena, layout, by, head, greedy, overhead, pointer: pointers.bytes() })
    }

    /// Returns the bytes of the arena for a plan whose tensors and scratch buffers have `head` bytes.
    pub fn total(&self, head: Bytes) -> Bytes {
        self.overhead.arena(head)
    }

    /// Returns the bytes of an arena of `capacity` bytes that remain for tensors and scratch buffers.
    pub fn space(&self, capacity: Bytes) -> Bytes {
        let rest = capacity.get().saturating_sub(self.overhead.tail.get());
        if self.overhead.start > capacity { Bytes::ZERO } else { Bytes::new(rest) }
    }

    /// Names the custom operators whose data is not counted; `None` if there are none.
    pub fn uncounted(&self) -> Option<String> {
        let names = self.overhead.unknown.join(", ");
        (!names.is_empty()).then(|| format!("without the persistent data of {names}"))
    }

    /// Returns the arena of the runtime as part of a report.
    pub fn report(&self) -> MicroReport<'_> {
        let MicroOverhead { tail, start, unknown } = &self.overhead;
        let (head, greedy, arena) = (self.head, self.greedy, self.total(self.head));
        MicroReport {
            head,
            greedy,
            tail: *tail,
            start: *start,
            arena,
            unknown,
            pointer_bytes: self.pointer,
            rest: self.uncounted(),
        }
    }
}

/// The arena of tflite-micro as part of a report.
#[derive(Serialize)]
pub struct MicroReport<'a> {
    /// Bytes of tensors and scratch buffers with the plan and without it.
    head: Bytes,
    greedy: Bytes,
    /// Bytes of persistent data.
    tail: Bytes,
    /// Bytes that the runtime needs while it plans.
    start: Bytes,
    arena: Bytes,
    /// Custom operators with persistent data that is not counted.
    unknown: &'a [String],
    pointer_bytes: u64,
    #[serde(skip)]
    rest: Option<String>,
}

impl Printed for MicroReport<'_> {
    fn print(&self, text: &mut Text) {
        let [head, greedy, kept, arena] = [self.head, self.greedy, self.tail, self.arena].map(bytes);
        let first = if self.arena == self.start { " while it starts, and then" } else { ":" };
        let rest = self.rest.as_ref().map_or_else(String::new, |rest| format!(", {rest}"));
        let bits = 8 * self.pointer_bytes;
        text.line(
            "runtime",
            format_args!(
                "tflite-micro needs {arena}{first} {head} for tensors ({greedy} without a plan) and {kept} of persistent data (reference kernels, {bits}-bit pointers){rest}"
            ),
        );
    }
}

/// Returns the bytes of tensors and scratch buffers under a layout, and without a plan. If the command line
/// contains no scratch buffers, those of the reference kernels count.
fn heads(
    shares: &Shares<'_>,
    (arena, layout): (&MicroArena, &Layout),
    [original, file]: [&ModelFile<'_>; 2],
    pointers: Pointers,
) -> Result<(Bytes, Bytes), Failure> {
    let with_scratch = |file: &ModelFile<'_>, shares: &Shares<'_>| {
        file.with_reference_scratch(pointers)
            .and_then(|file| file.micro_arena(shares))
            .map_err(Failure::input)
    };
    let (all, offsets) = (with_scratch(file, shares)?, arena.offsets(layout).map_err(Failure::input)?);
    let placed = all.layout(|tensor| Some(u64::try_from(*offsets.get(tensor)?).ok()?.into()));
    let placed = placed.ok_or_else(|| Failure::internal("a tensor of tflite-micro has no offset"))?;
    let greedy = with_scratch(original, &|_, _, _| false)?.greedy();
    Ok((all.arena(&placed), greedy))
}

/// Returns true if a plan is made for `tflite-micro`. Either the model is written, or its arena is compared
/// with a capacity under the assumptions of the runtime. The persistent data of compiled code is unknown, so
/// a capacity for a compiled model is that of its tensors.
pub fn is_planned(args: &PlanArgs, import: &Import, written: Option<ModelFormat>) -> bool {
    let given = args.liveness.options();
    let align = args.liveness.activations.align;
    let is_aligned = align.is_none_or(|align| align % MICRO_ALIGNMENT.get() == 0);
    let import_args = &args.model.import;
    let copies = !import_args.parts && import_args.overlap.is_empty();
    let is_usual = given.boundary == Boundary::Arena && !given.weights && is_aligned && copies;
    let is_compiled = !import.graph.segments().is_empty();
    let is_compared = args.capacity.is_some() && !import.tensors.is_empty() && !is_compiled;
    written == Some(ModelFormat::TfLite) || (is_compared && is_usual && import.unrunnable.is_empty())
}

/// Returns the assumptions about liveness under which a model is planned. `is_micro` is true if the plan is
/// made for the runtime.
///
/// # Errors
/// Fails if the alignment for the runtime is not a multiple of its own alignment.
pub fn liveness(args: &PlanArgs, import: &Import, is_micro: bool) -> Result<LivenessOptions, Failure> {
    let given = args.liveness.options_of(import, is_micro || is_header(args)?);
    if !is_micro {
        return Ok(given);
    }
    let align = given.align;
    if !align.get().is_multiple_of(MICRO_ALIGNMENT.get()) {
        let message = format!("--align {align}: tflite-micro needs a multiple of {MICRO_ALIGNMENT}");
        return Err(Failure::input(message));
    }
    Ok(LivenessOptions { states: false, ..given })
}

/// Returns true if a C header is written.
pub fn is_header(args: &PlanArgs) -> Result<bool, Failure> {
    let target = target(args.tensors.as_ref(), args.format)?;
    Ok(target.is_some_and(|(_, format)| format == PlacesFormat::CHeader))
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
    let entry = choose::named(&asked.registry.offsets, &asked.args.algorithm, "algorithm")?;
    let outcome: Outcome<Offsets> =
        run(entry, instance, asked.run.setup, asked.run.limits, &mut Silent).map_err(Failure::internal)?;
    let nothing = "--write: no layout of the tensors of tflite-micro was found within the limits";
    let layout =
        outcome.solution.ok_or_else(|| Failure { code: NOTHING_FOUND, message: nothing.to_owned() })?;
    let (load, claim) = (load(instance).0, outcome.claim);
    Ok((
        micro.in_runtime(&layout),
        format!("as an offline plan of tflite-micro, {claim} with its lifespans ({} live)", bytes(load)),
    ))
}
