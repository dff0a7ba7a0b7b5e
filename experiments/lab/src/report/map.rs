//! Maps of layouts: a rectangle per buffer, steps to the right, addresses upwards.
//!
//! ```text
//!       live bytes  ▂▄▆█▇▅▂    light: live; dark: free below the extent
//! bytes
//!  peak ┼┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄     a buffer is one rectangle per interval of its
//!       │ ┌───┐   ┌───┐        lifespan and per piece; gaps in its lifespan are
//!  load ┼┄│ b │┄┄┄│ b │┄       empty and may hold other buffers
//!       │ └─┬─┴───┴──┬┘
//!       │   │   a    │
//!     0 └───┴────────┴───  steps
//!       spilled buffers, if any
//! ```
//!
//! The tooltip of a rectangle lists its buffer's size, addresses and steps. A rectangle that is large enough
//! shows the name, or the end of it. Time and memory are linear in the number of rectangles, up to sorting:
//! the map of 20,000 buffers is a file of a few megabytes.

use super::human;
use super::palette::{Colour, colour_of, group_colour};
use super::scene::{HATCH, Point, Scene, byte_ticks, shortened, thousands, ticks};
use plimsoll::Diagnosis;
use plimsoll_model::{BufferId, Bytes, Instance, Interval, Piece, Problem, SharedObjects, Step, load};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Width of the page, pixels.
const WIDTH: f64 = 880.0;
/// Space for the labels of addresses.
const LEFT: f64 = 88.0;
const RIGHT: f64 = 32.0;
/// Height of the load profile, of the map, of a lane of spilled buffers and of the labels of steps.
const PROFILE: f64 = 72.0;
const MAP: f64 = 460.0;
const LANE: f64 = 14.0;
const AXIS: f64 = 44.0;
/// Largest number of lanes of spilled buffers, and of names of steps.
const MOST_LANES: usize = 10;
const MOST_NAMES: usize = 40;
/// Space for names of steps.
const NAMES: f64 = 110.0;
/// Styles of the lines at the peak, at the load and at the capacity.
const PEAK: &str = "stroke=\"#c1272d\" stroke-width=\"2\" pointer-events=\"none\"";
const LOAD: &str = "stroke=\"#0072b2\" stroke-width=\"2\" stroke-dasharray=\"7 5\" pointer-events=\"none\"";
const CAPACITY: &str =
    "class=\"rule\" stroke=\"#222\" stroke-width=\"2\" stroke-dasharray=\"2 4\" pointer-events=\"none\"";
/// Colours of live bytes, and of the bytes below the extent that are free.
const LIVE: &str = "#8fb8de";
const FREE: &str = "#e69f9f";
/// Style of the vertical line at the first step of the peak.
const MOMENT: &str = "stroke=\"#c1272d\" stroke-width=\"1\" stroke-dasharray=\"3 3\" pointer-events=\"none\"";

/// Groups of buffers, drawn in one colour each; buffers without a group are grey.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The names of the groups in the legend.
    pub names: &'a [String],
    /// Per buffer: its group, a position in `names`.
    pub of: &'a [Option<usize>],
}

/// A layout and what its map shows beside it.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// The instance, whose lifespans give the horizontal extents.
    pub instance: &'a Instance,
    /// The problem that the layout solves.
    pub problem: &'a str,
    /// The algorithm that found the layout, or the name of its file.
    pub algorithm: &'a str,
    /// The pieces of every buffer, by position. A buffer of non-zero size without pieces is spilled.
    pub pieces: &'a [Vec<Piece>],
    /// The best known lower bound.
    pub bound: Bytes,
    groups: Option<Groups<'a>>,
    steps: &'a [String],
}

impl<'a> Map<'a> {
    /// The map of a layout, with a colour per buffer that depends on its name only.
    pub fn new(
        instance: &'a Instance,
        problem: &'a str,
        algorithm: &'a str,
        pieces: &'a [Vec<Piece>],
        bound: Bytes,
    ) -> Self {
        Self { instance, problem, algorithm, pieces, bound, groups: None, steps: &[] }
    }

    /// Colours buffers by group.
    #[must_use]
    pub fn grouped(self, groups: Groups<'a>) -> Self {
        Self { groups: Some(groups), ..self }
    }

    /// Names the steps, from step 0 on. The names are drawn if there are at most 40.
    #[must_use]
    pub fn with_steps(self, steps: &'a [String]) -> Self {
        Self { steps, ..self }
    }

    /// Replaces the instance, as by one with another name.
    #[must_use]
    pub fn of_instance(self, instance: &'a Instance) -> Self {
        Self { instance, ..self }
    }

    /// Writes the map as SVG.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        write_maps(&[*self], output)
    }

    /// The name of the value that the problem minimises.
    fn value_name(&self) -> &'static str {
        if self.problem == SharedObjects::NAME { "total" } else { "peak" }
    }

    /// The fill of a buffer: a shade of its group's colour, so that neighbours remain distinct; or a colour
    /// of its own.
    fn fill(&self, id: BufferId) -> Colour {
        match &self.groups {
            None => colour_of(self.instance.buffer(id).name()),
            Some(groups) => group_colour(groups.of.get(id.index()).copied().flatten(), id.index()),
        }
    }

    fn is_spilled(&self, id: BufferId) -> bool {
        !self.instance.buffer(id).is_empty() && self.pieces[id.index()].is_empty()
    }
}

/// Writes maps of layouts of one instance side by side, with the same scales; a buffer has the same colour in
/// all of them.
///
/// # Errors
/// Returns the errors of `output`.
pub fn write_maps(maps: &[Map<'_>], output: &mut dyn Write) -> io::Result<()> {
    let Some(first) = maps.first() else { return Ok(()) };
    let drawn: Vec<Drawn<'_>> = maps.iter().map(|map| Drawn::of(*map)).collect();
    let columns = if maps.len() == 1 { 1 } else { 2 };
    let heading = if maps.len() == 1 { 0.0 } else { 30.0 };
    let lanes = drawn.iter().map(|one| one.lanes.len().min(MOST_LANES)).max().unwrap_or(0);
    let strip = if lanes == 0 { 0.0 } else { lanes as f64 * LANE + 26.0 };
    let names = if first.has_names() && columns == 1 { NAMES } else { 0.0 };
    let panel = heading + PROFILE + MAP + strip + AXIS + names;
    let legend = legend_of(&drawn);
    let top = 66.0 + 22.0 * Scene::rows_of(&legend, (LEFT, WIDTH - RIGHT)) as f64;
    let rows = maps.len().div_ceil(columns);
    let mut scene = Scene::new((WIDTH, top + rows as f64 * panel));
    let most = ((WIDTH - 20.0 - RIGHT) / 7.0) as usize;
    let title = shortened(first.instance.name(), most * 3 / 4).unwrap_or_default();
    scene.heads(20.0, &title, &caption(&drawn));
    scene.legend(&legend, (LEFT, WIDTH - RIGHT), 74.0);
    let wide = WIDTH / columns as f64;
    let high = drawn.iter().map(Drawn::top).max().unwrap_or(1);
    for (at, one) in drawn.iter().enumerate() {
        let corner = ((at % columns) as f64 * wide, top + (at / columns) as f64 * panel);
        let frame = Frame::new(first.instance, corner, wide, heading, high);
        if maps.len() > 1 {
            one.heading(&mut scene, &frame, corner.1 + 18.0);
        }
        one.draw(&mut scene, &frame, columns == 1);
    }
    scene.write(output)
}

/// The line below the title.
fn caption(drawn: &[Drawn<'_>]) -> String {
    let map = &drawn[0].map;
    let buffers = thousands(map.instance.len() as u64);
    let bound = human::exact(map.bound.get());
    match drawn {
        [one] => {
            let (what, peak) = (map.value_name(), human::exact(one.peak()));
            format!(
                "{buffers} buffers, {} by {}: {what} {peak}, lower bound {bound}",
                map.problem, map.algorithm
            )
        }
        _ => format!("{buffers} buffers, {} layouts, lower bound {bound}", drawn.len()),
    }
}

/// The entries of the legend: their style and name.
fn legend_of(drawn: &[Drawn<'_>]) -> Vec<(String, String)> {
    let map = &drawn[0].map;
    let what = map.value_name();
    let peak = match drawn {
        [one] => one.found.worst().map_or_else(
            || what.to_owned(),
            |worst| format!("{what} {} at step {}", human::bytes(one.peak()), worst.steps.lower),
        ),
        _ => what.to_owned(),
    };
    // With exclusions the load may exceed the peak.
    let no_bound = if map.instance.exclusions().is_empty() { "" } else { " (no bound: exclusions)" };
    let load = format!("load {}{no_bound}", human::bytes(load(map.instance).0.get()));
    let mut entries = vec![(PEAK.to_owned(), peak)];
    if drawn.iter().all(|one| one.lanes.is_empty()) {
        entries.push((LOAD.to_owned(), load));
    }
    if let Some(capacity) = map.instance.capacity() {
        let far = if drawn.iter().all(|one| one.capacity().is_none()) { " (above the picture)" } else { "" };
        entries.push((CAPACITY.to_owned(), format!("capacity {}{far}", human::bytes(capacity.get()))));
    }
    let swatch = |fill: &str| format!("fill=\"{fill}\" stroke=\"#333\" stroke-width=\"0.5\"");
    entries.push((format!("fill=\"{LIVE}\""), "live bytes".to_owned()));
    if drawn.iter().any(|one| one.found.sections.iter().any(|section| section.free() > Bytes::ZERO)) {
        entries.push((format!("fill=\"{FREE}\""), "free below the highest buffer".to_owned()));
    }
    if map.has_fixed() {
        entries.push((HATCH.to_owned(), "fixed offset".to_owned()));
    }
    if let Some(groups) = &map.groups {
        if groups.of.contains(&None) {
            entries.push((swatch(&group_colour(None, 0)), "outside the groups".to_owned()));
        }
        let present: Vec<usize> =
            (0..groups.names.len()).filter(|group| groups.of.contains(&Some(*group))).collect();
        for &group in present.iter().take(MOST_GROUPS) {
            let name = shortened(&groups.names[group], 24).unwrap_or_default();
            entries.push((swatch(&group_colour(Some(group), 1)), name));
        }
        if present.len() > MOST_GROUPS {
            entries.push((String::new(), format!("and {} more", present.len() - MOST_GROUPS)));
        }
    }
    entries
}

/// Largest number of groups in the legend.
const MOST_GROUPS: usize = 12;

/// A map with everything that is computed before drawing.
struct Drawn<'a> {
    map: Map<'a>,
    found: Diagnosis,
    /// The spilled buffers, in lanes of disjoint lifespans.
    lanes: Vec<Vec<BufferId>>,
}

impl<'a> Drawn<'a> {
    fn of(map: Map<'a>) -> Self {
        let found = Diagnosis::of(map.instance, map.pieces, map.bound);
        let spilled = map.instance.ids().filter(|&id| map.is_spilled(id));
        Self { found, lanes: lanes_of(map.instance, spilled.collect()), map }
    }

    fn peak(&self) -> u64 {
        self.found.peak.get()
    }

    /// The capacity, unless it is so far above the peak that it would flatten the map.
    fn capacity(&self) -> Option<u64> {
        let capacity = self.map.instance.capacity()?.get();
        (capacity <= self.peak().max(1).saturating_mul(3) / 2).then_some(capacity)
    }

    /// The highest address of the map.
    fn top(&self) -> u64 {
        let load = load(self.map.instance).0.get();
        // The load of spilled buffers is not in on-chip memory.
        let load = if self.lanes.is_empty() { load } else { 0 };
        self.peak().max(load).max(self.capacity().unwrap_or(0)).max(1)
    }

    /// Draws the title of a panel.
    fn heading(&self, scene: &mut Scene, frame: &Frame, y: f64) {
        let (peak, bound) = (self.peak(), self.map.bound.get());
        let gap = super::gap_percent(peak, bound).map_or_else(String::new, |gap| {
            if peak == bound { ", optimal".to_owned() } else { format!(", {} % above", super::percent(gap)) }
        });
        let text = format!("{}{gap}", human::bytes(peak));
        let most = ((frame.right - frame.left) / 7.6) as usize;
        let name = shortened(self.map.algorithm, most.saturating_sub(text.chars().count() + 2));
        let text = name.map_or_else(|| text.clone(), |name| format!("{name}: {text}"));
        scene.text((frame.left, y), "font-weight=\"600\"", &text);
    }

    fn draw(&self, scene: &mut Scene, frame: &Frame, names: bool) {
        frame.axes(scene, if names && self.map.has_names() { self.map.steps } else { &[] }, self.strip());
        self.profile(scene, frame);
        let labels = self.buffers(scene, frame);
        self.spilled(scene, frame);
        let (left, right) = (frame.left, frame.right);
        let load = load(self.map.instance).0.get();
        let capacity = self.capacity().map(|capacity| (capacity, CAPACITY));
        // Where both are equal, the dashed load is drawn over the peak.
        let mut lines = vec![(self.peak(), PEAK)];
        lines.extend(self.lanes.is_empty().then_some((load, LOAD)));
        for (value, look) in lines.into_iter().chain(capacity) {
            let y = frame.y(value);
            scene.line((left, y), (right, y), look);
        }
        if let Some(worst) = self.found.worst() {
            let x = frame.x(worst.steps.lower.get());
            scene.line((x, frame.head), (x, frame.floor), MOMENT);
        }
        draw_labels(scene, labels);
    }

    fn strip(&self) -> f64 {
        if self.lanes.is_empty() { 0.0 } else { self.lanes.len().min(MOST_LANES) as f64 * LANE + 26.0 }
    }

    /// Draws the live bytes over time and, in red, the bytes that are free below the extent.
    fn profile(&self, scene: &mut Scene, frame: &Frame) {
        let columns = (frame.right - frame.left) as usize;
        let mut highest = vec![(0u64, 0u64); columns + 1];
        for section in &self.found.sections {
            let from = (frame.x(section.steps.lower.get()) - frame.left) as usize;
            let to = ((frame.x(section.steps.upper.get()) - frame.left).ceil() as usize).max(from + 1);
            for one in highest.iter_mut().take(to).skip(from) {
                *one = (one.0.max(section.live.get()), one.1.max(section.extent.get()));
            }
        }
        let most = highest.iter().map(|one| one.0.max(one.1)).max().unwrap_or(0).max(1);
        let (base, high) = (frame.head + PROFILE - 14.0, PROFILE - 18.0);
        let y = |bytes: u64| base - bytes as f64 / most as f64 * high;
        let outline = |value: &dyn Fn(&(u64, u64)) -> u64| {
            let mut points: Vec<Point> = vec![(frame.left, base)];
            let mut last = None;
            for (at, one) in highest.iter().enumerate() {
                let (x, level) = (frame.left + at as f64, y(value(one)));
                if last != Some(level) {
                    points.extend(last.map(|before| (x, before)));
                    points.push((x, level));
                    last = Some(level);
                }
            }
            points.extend(last.map(|level| (frame.right, level)));
            points.push((frame.right, base));
            points
        };
        scene.outline(&outline(&|one| one.0.max(one.1)), &format!("fill=\"{FREE}\""));
        scene.outline(&outline(&|one| one.0), &format!("fill=\"{LIVE}\""));
        let label = "text-anchor=\"end\" class=\"soft\" fill=\"#555\" font-size=\"12\"";
        scene.text((frame.left - 8.0, base - high / 2.0), label, "live");
        scene.text((frame.left - 8.0, base - high / 2.0 + 14.0), label, "bytes");
    }

    /// Draws the buffers and returns their labels.
    fn buffers(&self, scene: &mut Scene, frame: &Frame) -> Vec<Label> {
        let instance = self.map.instance;
        // Outlines would blacken a crowded map.
        let stroke = match instance.len() {
            0..=400 => 0.7,
            401..=3000 => 0.25,
            _ => 0.0,
        };
        // Mutually exclusive buffers may overlap.
        let see_through = if instance.exclusions().is_empty() { "" } else { " fill-opacity=\"0.6\"" };
        let mut labels = Vec::new();
        let mut hatched = Vec::new();
        scene.open(&format!("stroke=\"#333\" stroke-width=\"{stroke}\""), "");
        for (id, pieces) in instance.ids().zip(self.map.pieces) {
            let buffer = instance.buffer(id);
            let title = tooltip(instance, id, pieces);
            scene.open(&format!("fill=\"{}\"{see_through}", self.map.fill(id)), &title);
            for part in buffer.lifespan().intervals() {
                for piece in pieces {
                    let (corner, size) = frame.area(*part, *piece);
                    scene.rect(corner, size, "", "");
                    if buffer.fixed().is_some() {
                        hatched.push((corner, size));
                    }
                    labels.extend(Label::of(buffer.name(), corner, size));
                }
            }
            scene.close();
        }
        scene.close();
        for (corner, size) in hatched {
            scene.hatch(corner, size);
        }
        labels
    }

    /// Draws the spilled buffers below the map, as many lanes as there is space for.
    fn spilled(&self, scene: &mut Scene, frame: &Frame) {
        if self.lanes.is_empty() {
            return;
        }
        let count: usize = self.lanes.iter().map(Vec::len).sum();
        let bytes: u64 =
            self.lanes.iter().flatten().map(|&id| self.map.instance.buffer(id).size().get()).sum();
        let shown: usize = self.lanes.iter().take(MOST_LANES).map(Vec::len).sum();
        let rest = if shown < count { format!(", {shown} of them drawn") } else { String::new() };
        let top = frame.floor + 18.0;
        let text = format!("spilled: {count} buffers, {}{rest}", human::bytes(bytes));
        scene.text((frame.left, top), "font-size=\"12\"", &text);
        let mut labels = Vec::new();
        for (lane, ids) in self.lanes.iter().take(MOST_LANES).enumerate() {
            let y = top + 5.0 + lane as f64 * LANE;
            for &id in ids {
                let buffer = self.map.instance.buffer(id);
                let look = format!("fill=\"{}\" stroke=\"#333\" stroke-width=\"0.5\"", self.map.fill(id));
                let hull = buffer.lifespan().hull();
                let (x, right) = (frame.x(hull.lower.get()), frame.x(hull.upper.get()));
                let size = ((right - x).max(0.05), LANE - 1.0);
                scene.rect((x, y), size, &look, &tooltip(self.map.instance, id, &[]));
                labels.extend(Label::of(buffer.name(), (x, y), size));
            }
        }
        draw_labels(scene, labels);
    }
}

impl Map<'_> {
    fn has_fixed(&self) -> bool {
        self.instance.buffers().iter().any(|buffer| buffer.fixed().is_some())
    }

    fn has_names(&self) -> bool {
        (1..=MOST_NAMES).contains(&self.steps.len())
    }
}

/// Distributes buffers over lanes of disjoint lifespans, each into the first that is free. O(n log n + n l)
/// for l lanes.
fn lanes_of(instance: &Instance, mut buffers: Vec<BufferId>) -> Vec<Vec<BufferId>> {
    let hull = |id: BufferId| instance.buffer(id).lifespan().hull();
    buffers.sort_by_key(|&id| (hull(id), id));
    let mut lanes: Vec<(Step, Vec<BufferId>)> = Vec::new();
    for id in buffers {
        match lanes.iter_mut().find(|lane| lane.0 <= hull(id).lower) {
            Some(lane) => {
                lane.0 = hull(id).upper;
                lane.1.push(id);
            }
            None => lanes.push((hull(id).upper, vec![id])),
        }
    }
    lanes.into_iter().map(|lane| lane.1).collect()
}

fn tooltip(instance: &Instance, id: BufferId, pieces: &[Piece]) -> String {
    let buffer = instance.buffer(id);
    let mut title = format!("{}: {} bytes", buffer.name(), buffer.size());
    for piece in pieces {
        let _ = write!(title, ", at [{}, {})", piece.start, piece.end());
    }
    for part in buffer.lifespan().intervals() {
        let _ = write!(title, ", steps [{}, {})", part.lower, part.upper);
    }
    if buffer.fixed().is_some() {
        title.push_str(", fixed");
    }
    title
}

/// The area of a map on the page, and its scales.
struct Frame {
    left: f64,
    right: f64,
    /// The y position of the top of the profile.
    head: f64,
    /// The y position of address 0.
    floor: f64,
    first: u64,
    last: u64,
    top: u64,
}

impl Frame {
    fn new(instance: &Instance, (x, y): Point, wide: f64, heading: f64, top: u64) -> Self {
        let hulls = || instance.buffers().iter().map(|buffer| buffer.lifespan().hull());
        let first = hulls().map(|hull| hull.lower.get()).min().unwrap_or(0);
        let last = hulls().map(|hull| hull.upper.get()).max().unwrap_or(1).max(first + 1);
        let head = y + heading;
        let floor = head + PROFILE + MAP;
        Self { left: x + LEFT, right: x + wide - RIGHT, head, floor, first, last, top }
    }

    fn x(&self, step: u64) -> f64 {
        let share = (step - self.first) as f64 / (self.last - self.first) as f64;
        self.left + share * (self.right - self.left)
    }

    fn y(&self, address: u64) -> f64 {
        self.floor - address as f64 / (self.top as f64 * 1.03) * MAP
    }

    fn area(&self, part: Interval, piece: Piece) -> (Point, Point) {
        let (x, right) = (self.x(part.lower.get()), self.x(part.upper.get()));
        let (y, bottom) = (self.y(piece.end().get()), self.y(piece.start.get()));
        ((x, y), ((right - x).max(0.05), (bottom - y).max(0.05)))
    }

    /// Draws both axes; `names` are those of the steps from 0 on, and `strip` is the space below address 0.
    fn axes(&self, scene: &mut Scene, names: &[String], strip: f64) {
        scene.open("class=\"grid\" stroke=\"#ddd\" stroke-width=\"1\" font-size=\"13\"", "");
        for (tick, label) in byte_ticks(self.top, 8) {
            let y = self.y(tick);
            scene.line((self.left, y), (self.right, y), "");
            let look = "stroke=\"none\" text-anchor=\"end\" class=\"soft\" fill=\"#555\"";
            scene.text((self.left - 8.0, y + 4.0), look, &label);
        }
        let bottom = self.floor + strip;
        let label = 9.0 * thousands(self.last).chars().count() as f64 + 14.0;
        let most = ((self.right - self.left) / label).clamp(1.0, 12.0) as u64;
        for tick in ticks(self.first, self.last, most) {
            let x = self.x(tick);
            scene.line((x, self.head + PROFILE), (x, self.floor), "");
            let look = "stroke=\"none\" text-anchor=\"middle\" class=\"soft\" fill=\"#555\"";
            scene.text((x, bottom + 17.0), look, &thousands(tick));
        }
        let middle = f64::midpoint(self.left, self.right);
        let look = "stroke=\"none\" text-anchor=\"middle\" class=\"soft\" fill=\"#555\"";
        scene.text((middle, bottom + 36.0), look, if names.is_empty() { "step" } else { "" });
        scene.close();
        let most = ((NAMES - 8.0) / LETTER) as usize;
        for (step, name) in (0u64..).zip(names).filter(|(step, _)| (self.first..self.last).contains(step)) {
            let x = f64::midpoint(self.x(step), self.x(step + 1)) + 4.0;
            let name = shortened(name, most).unwrap_or_default();
            let look = "text-anchor=\"end\" class=\"soft\" fill=\"#555\" font-size=\"12\"";
            scene.upright((x, bottom + 28.0), look, &name);
        }
    }
}

/// Width of a character and height of a line, pixels.
const LETTER: f64 = 7.2;
const LINE: f64 = 13.0;

/// A name in the middle of a rectangle.
#[derive(Debug, PartialEq)]
struct Label {
    text: String,
    middle: Point,
    upright: bool,
}

impl Label {
    /// The label of a rectangle: upright where it is higher than wide, the end of the name where that is too
    /// long. `None` where nothing fits.
    fn of(name: &str, (x, y): Point, (w, h): Point) -> Option<Self> {
        let upright = w < LINE || (h > w && w < LETTER * name.chars().count() as f64 + 6.0);
        let (along, across) = if upright { (h, w) } else { (w, h) };
        let text = shortened(name, ((along - 6.0) / LETTER).max(0.0) as usize)?;
        (across >= LINE).then_some(Self { text, middle: (x + w / 2.0, y + h / 2.0), upright })
    }
}

fn draw_labels(scene: &mut Scene, labels: Vec<Label>) {
    // The outline keeps a name legible where a line crosses it.
    let look = "text-anchor=\"middle\" font-size=\"12\" fill=\"#111\" stroke=\"#fff\" stroke-width=\"3\" \
                stroke-opacity=\"0.55\" paint-order=\"stroke\" pointer-events=\"none\"";
    scene.open(look, "");
    for Label { text, middle: (x, y), upright } in labels {
        if upright { scene.upright((x + 4.0, y), "", &text) } else { scene.text((x, y + 4.0), "", &text) }
    }
    scene.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::plan::Plan;
    use plimsoll_model::{Buffer, InstanceBuilder, Interval, Layout, Lifespan, Offsets};

    fn draw(instance: &Instance, layout: &Layout) -> String {
        let pieces = Offsets::pieces(instance, layout);
        let map = Map::new(instance, Offsets::NAME, "by <hand>", &pieces, Bytes::new(6));
        let mut text = Vec::new();
        map.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn groups_have_a_colour_and_a_line_in_the_legend() {
        let mut builder = InstanceBuilder::new("g");
        for name in ["a", "b", "c"] {
            builder = builder.buffer(Buffer::new(name, 4, Lifespan::single(0, 2).unwrap()));
        }
        let instance = builder.build().unwrap();
        let layout = Layout::from_raw([0, 4, 8]);
        let pieces = Offsets::pieces(&instance, &layout);
        let names: Vec<String> = (0..40).map(|nth| format!("branch {nth} <of many>")).collect();
        let (problem, algorithm, bound) = (Offsets::NAME, "x", Bytes::new(12));
        let draw = |of: &[Option<usize>]| {
            let mut text = Vec::new();
            let map =
                Map::new(&instance, problem, algorithm, &pieces, bound).grouped(Groups { names: &names, of });
            map.write(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let some = draw(&[Some(0), None, Some(39)]);
        assert!(some.contains("#77aadd") && some.contains("outside the groups"));
        assert!(some.contains(">branch 39 &lt;of many&gt;<") && !some.contains("branch 1 "));
        let none = draw(&[Some(1), Some(2), Some(3)]);
        assert!(!none.contains("outside the groups") && none.contains("branch 3 "));
    }

    #[test]
    fn gaps_are_gaps_and_names_are_escaped() {
        let gappy = Lifespan::with_gaps(Interval::new(0, 9), [Interval::new(3, 6)]).unwrap();
        let instance = InstanceBuilder::new("a & <b>")
            .buffer(Buffer::new("x<y>\"&\u{1}", 4, gappy))
            .buffer(Buffer::new("plain", 2, Lifespan::single(0, 9).unwrap()))
            .build()
            .unwrap();
        let svg = draw(&instance, &Layout::from_raw([0, 4]));
        assert!(
            svg.contains("<title>x&lt;y&gt;&quot;&amp;?: 4 bytes, at [0, 4), steps [0, 3), steps [6, 9)")
        );
        // Background, two entries of the legend, two intervals of one buffer, one of the other.
        assert_eq!(svg.matches("<rect ").count(), 6);
        assert!(svg.contains("a &amp; &lt;b&gt;") && svg.contains("by &lt;hand&gt;"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn empty_and_huge_instances_are_drawn() {
        let empty = InstanceBuilder::new("empty").build().unwrap();
        assert!(!draw(&empty, &Layout::from_raw([])).contains("NaN"));
        let huge = InstanceBuilder::new("huge")
            .buffer(Buffer::new("h", 1 << 62, Lifespan::single(u64::MAX - 2, u64::MAX).unwrap()))
            .build()
            .unwrap();
        assert!(!draw(&huge, &Layout::from_raw([0])).contains("NaN"));
    }

    #[test]
    fn names_are_cut_to_the_space_available() {
        let label = |name: &str, size| Label::of(name, (0.0, 0.0), size);
        assert_eq!(label("conv1", (60.0, 20.0)).unwrap().text, "conv1");
        assert_eq!(label("block/one/conv1", (60.0, 20.0)).unwrap().text, "\u{2026}/conv1");
        assert!(label("conv1", (20.0, 60.0)).unwrap().upright);
        assert_eq!(label("conv1", (20.0, 20.0)), None);
        assert_eq!(label("conv1", (600.0, 10.0)), None);
    }
}
