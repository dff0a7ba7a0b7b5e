//! One map of a layout: the live bytes over time, the buffers, and the spilled buffers.

use super::axis::{Axis, Side, Unit};
use super::human;
use super::palette::{Colour, colour_of, group_colour};
use super::scene::{Point, SMALL, SOFT, Scene, fitted, text_width};
use plimsoll::Diagnosis;
use plimsoll::posed::profile;
use plimsoll_model::{BufferId, Bytes, Instance, Interval, Piece, Step, load};
use std::fmt::Write as _;

/// Height of the load profile, in pixels.
const PROFILE: f64 = 64.0;
/// Height of the map, in pixels.
const MAP: f64 = 400.0;
/// Height of a lane of spilled buffers, in pixels.
const LANE: f64 = 14.0;
/// Height of the labels of steps, in pixels.
const AXIS: f64 = 44.0;
/// Maximum number of lanes of spilled buffers that are drawn.
const MOST_LANES: usize = 10;
/// Maximum number of names of steps. If there are more names, none is drawn.
const MOST_NAMES: usize = 32;
/// Space for the names of steps, in pixels.
const NAMES: f64 = 120.0;
/// Font size of the heading of a panel.
const TEXT: f64 = 15.0;
/// Styles of the lines at the peak, at the load and at the capacity.
pub(super) const PEAK: &str = "stroke=\"#c1272d\" stroke-width=\"2\" pointer-events=\"none\"";
pub(super) const LOAD: &str =
    "stroke=\"#0072b2\" stroke-width=\"2\" stroke-dasharray=\"7 5\" pointer-events=\"none\"";
pub(super) const CAPACITY: &str =
    "class=\"rule\" stroke=\"#222\" stroke-width=\"2\" stroke-dasharray=\"2 4\" pointer-events=\"none\"";
/// Colours of the live bytes, and of the free bytes below the extent.
pub(super) const LIVE: &str = "#8fb8de";
pub(super) const FREE: &str = "#e69f9f";
/// Style of the vertical line at the first step at which the live bytes reach the load.
pub(super) const MOMENT: &str =
    "stroke=\"#0072b2\" stroke-width=\"1\" stroke-dasharray=\"3 3\" pointer-events=\"none\"";

/// Groups of buffers. Each group is drawn in its own colour, and buffers without a group are grey.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The names of the groups in the legend.
    pub names: &'a [String],
    /// The group of each buffer, as an index into `names`.
    pub of: &'a [Option<usize>],
}

/// A layout, and the other information that its map shows.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// The instance. The lifespans of its buffers give the horizontal extents of the rectangles.
    pub instance: &'a Instance,
    /// The problem that the layout solves.
    pub problem: &'a str,
    /// The algorithm that found the layout, or the name of its file.
    pub algorithm: &'a str,
    /// The pieces of every buffer, in the order of the buffers. A buffer of non-zero size without pieces is
    /// spilled.
    pub pieces: &'a [Vec<Piece>],
    /// The best known lower bound.
    pub bound: Bytes,
    pub(super) groups: Option<Groups<'a>>,
    pub(super) steps: &'a [String],
}

impl<'a> Map<'a> {
    /// Creates the map of a layout. The colour of a buffer depends only on its name.
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

    /// Names the steps, starting with step 0. The names are drawn if there are at most 32 of them.
    #[must_use]
    pub fn with_steps(self, steps: &'a [String]) -> Self {
        Self { steps, ..self }
    }

    /// Replaces the instance, for example by a copy with another name.
    #[must_use]
    pub fn of_instance(self, instance: &'a Instance) -> Self {
        Self { instance, ..self }
    }

    /// Returns the name of the value that the problem minimises.
    pub(super) fn value_name(&self) -> &'static str {
        profile(self.problem).map_or("value", |own| own.value)
    }

    /// Returns the fill of a buffer. With groups, it is a shade of the group's colour, so that neighbours
    /// remain distinct. Without groups, it is the colour of the buffer's name.
    pub(super) fn fill(&self, id: BufferId) -> Colour {
        match &self.groups {
            None => colour_of(self.instance.buffer(id).name()),
            Some(groups) => group_colour(groups.of.get(id.index()).copied().flatten(), id.index()),
        }
    }

    pub(super) fn is_spilled(&self, id: BufferId) -> bool {
        !self.instance.buffer(id).is_empty() && self.pieces[id.index()].is_empty()
    }
}

impl Map<'_> {
    pub(super) fn has_fixed(&self) -> bool {
        self.instance.buffers().iter().any(|buffer| buffer.fixed().is_some())
    }

    pub(super) fn has_names(&self) -> bool {
        (1..=MOST_NAMES).contains(&self.steps.len())
    }
}

/// A map, and the data that is computed before it is drawn.
pub(super) struct Panel<'a> {
    pub(super) map: Map<'a>,
    pub(super) found: Diagnosis,
    /// The spilled buffers, in lanes of disjoint lifespans.
    pub(super) lanes: Vec<Vec<BufferId>>,
}

impl<'a> Panel<'a> {
    pub(super) fn of(map: Map<'a>) -> Self {
        let found = Diagnosis::of(map.instance, map.pieces, map.bound);
        let spilled = map.instance.ids().filter(|&id| map.is_spilled(id));
        Self { found, lanes: lanes_of(map.instance, spilled.collect()), map }
    }

    pub(super) fn peak(&self) -> u64 {
        self.found.peak.get()
    }

    /// Returns the capacity if it is at most 1.5 times the peak. A higher capacity would flatten the map.
    pub(super) fn capacity(&self) -> Option<u64> {
        let capacity = self.map.instance.capacity()?.get();
        (capacity <= self.peak().max(1).saturating_mul(3) / 2).then_some(capacity)
    }

    /// Returns the highest address of the map.
    pub(super) fn top(&self) -> u64 {
        let load = load(self.map.instance).0.get();
        // With spilled buffers, the load may exceed what on-chip memory contains.
        let load = if self.lanes.is_empty() { load } else { 0 };
        self.peak().max(load).max(self.capacity().unwrap_or(0)).max(1)
    }

    /// Returns the height of the panel, which depends on the number of panels side by side.
    pub(super) fn height(&self, columns: usize) -> f64 {
        let names = if self.names(columns).is_empty() { 0.0 } else { NAMES };
        heading(columns) + PROFILE + MAP + self.strip() + AXIS + names
    }

    /// Returns the names of the steps, or nothing if there are several columns or too many steps.
    fn names(&self, columns: usize) -> &[String] {
        if columns == 1 && self.map.has_names() { self.map.steps } else { &[] }
    }

    /// Draws the name of the algorithm or file and the peak of the layout above the panel.
    fn heading(&self, scene: &mut Scene, frame: &Frame) {
        let (peak, bound) = (self.peak(), self.map.bound.get());
        let mut text = human::bytes(peak);
        match super::gap_percent(peak, bound) {
            Some(_) if peak == bound => text += ", optimal",
            Some(gap) => text = format!("{text}, {} % above", super::percent(gap)),
            None => {}
        }
        if peak > frame.top {
            text += ", cut off";
        }
        // Bold letters are a tenth wider.
        let name = fitted(self.map.algorithm, TEXT * 1.1, frame.right - frame.page).unwrap_or_default();
        scene.text((frame.page, frame.head - 30.0), "font-weight=\"600\"", &name);
        scene.text((frame.page, frame.head - 11.0), "", &text);
    }

    pub(super) fn draw(&self, scene: &mut Scene, frame: &Frame, columns: usize) {
        if columns > 1 {
            self.heading(scene, frame);
        }
        frame.axes(scene, self.names(columns), self.strip());
        self.profile(scene, frame);
        let labels = self.buffers(scene, frame);
        self.spilled(scene, frame);
        let (left, right) = (frame.left, frame.right);
        let load = load(self.map.instance).0.get();
        let capacity = self.capacity().map(|capacity| (capacity, CAPACITY));
        // If peak and load are equal, the dashed line of the load is drawn over that of the peak.
        let mut lines = vec![(self.peak(), PEAK)];
        lines.extend(self.lanes.is_empty().then_some((load, LOAD)));
        for (value, look) in lines.into_iter().chain(capacity).filter(|line| line.0 <= frame.top) {
            let y = frame.y(value);
            scene.line((left, y), (right, y), look);
        }
        if !self.found.at_load.is_empty() {
            let x = frame.x(self.found.load_step.get());
            scene.line((x, frame.head), (x, frame.floor), MOMENT);
        }
        draw_labels(scene, labels);
    }

    fn strip(&self) -> f64 {
        if self.lanes.is_empty() { 0.0 } else { self.lanes.len().min(MOST_LANES) as f64 * LANE + 26.0 }
    }

    /// Draws the live bytes over time and, in red, the free bytes below the extent, which is the highest end
    /// of a live buffer.
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
        let label = format!("text-anchor=\"end\" font-size=\"{SMALL}\" {SOFT}");
        scene.text((frame.left - 6.0, base - high / 2.0), &label, "live");
        scene.text((frame.left - 6.0, base - high / 2.0 + 14.0), &label, "bytes");
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
        // Buffers with an exclusion may overlap.
        let see_through = if instance.exclusions().is_empty() { "" } else { " fill-opacity=\"0.6\"" };
        let mut labels = Vec::new();
        let mut hatched = Vec::new();
        scene.open(&format!("stroke=\"#333\" stroke-width=\"{stroke}\""), "");
        for (id, pieces) in instance.ids().zip(self.map.pieces) {
            let buffer = instance.buffer(id);
            let title = tooltip(instance, id, pieces);
            scene.open(&format!("fill=\"{}\"{see_through}", self.map.fill(id)), &title);
            for part in buffer.lifespan().intervals() {
                for piece in pieces.iter().filter(|piece| piece.start.get() < frame.top) {
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

    /// Draws the spilled buffers below the map, in at most ten lanes.
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
        let text = format!("spilled: {}, {}{rest}", human::count(count, "buffer"), human::bytes(bytes));
        scene.text((frame.left, top), &format!("font-size=\"{SMALL}\""), &text);
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

/// Distributes buffers over lanes such that the lifespans within each lane are disjoint. Each buffer goes
/// into the first lane that is free. O(n log n + n l) for n buffers and l lanes.
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
    if let Some((lower, distance)) = instance.above(id) {
        let _ = write!(title, ", {distance} bytes above {}", instance.buffer(lower).name());
    }
    title
}

/// Returns the height of the heading above a panel. Only panels in several columns have a heading.
fn heading(columns: usize) -> f64 {
    if columns == 1 { 0.0 } else { 48.0 }
}

/// The area of a map on the page, and its scales.
pub(super) struct Frame {
    /// The x position of the labels of addresses.
    page: f64,
    left: f64,
    right: f64,
    /// The y position of the top of the profile.
    head: f64,
    /// The y position of address 0.
    floor: f64,
    first: u64,
    last: u64,
    top: u64,
    addresses: Side,
}

impl Frame {
    pub(super) fn new(instance: &Instance, (x, y): Point, wide: f64, columns: usize, top: u64) -> Self {
        let hulls = || instance.buffers().iter().map(|buffer| buffer.lifespan().hull());
        let first = hulls().map(|hull| hull.lower.get()).min().unwrap_or(0);
        let last = hulls().map(|hull| hull.upper.get()).max().unwrap_or(1).max(first + 1);
        let head = y + heading(columns);
        let floor = head + PROFILE + MAP;
        let axis = Axis { label: "", unit: Unit::Bytes, low: 0.0, high: top as f64, logarithmic: false };
        let addresses = Side::of(&axis);
        let left = x + addresses.width().max(text_width("bytes", SMALL) + 8.0);
        Self { page: x, left, right: x + wide, head, floor, first, last, top, addresses }
    }

    fn x(&self, step: u64) -> f64 {
        let share = (step - self.first) as f64 / (self.last - self.first) as f64;
        self.left + share * (self.right - self.left)
    }

    /// Returns the y position of an address. Addresses above the map are clamped to its upper edge.
    fn y(&self, address: u64) -> f64 {
        self.floor - (address as f64 / (self.top as f64 * 1.03)).min(1.0) * MAP
    }

    fn area(&self, part: Interval, piece: Piece) -> (Point, Point) {
        let (x, right) = (self.x(part.lower.get()), self.x(part.upper.get()));
        let (y, bottom) = (self.y(piece.end().get()), self.y(piece.start.get()));
        ((x, y), ((right - x).max(0.05), (bottom - y).max(0.05)))
    }

    /// Draws both axes. `names` contains the names of the steps, starting with step 0. `strip` is the height
    /// of the strip below address 0.
    fn axes(&self, scene: &mut Scene, names: &[String], strip: f64) {
        self.addresses.draw(scene, (self.left, self.right), |value| self.y(value as u64));
        let bottom = self.floor + strip;
        let (low, high) = (self.first as f64, self.last as f64);
        let steps = Axis { label: "step", unit: Unit::Count, low, high, logarithmic: false };
        steps.draw_across(scene, (self.left, self.right), (self.head + PROFILE, bottom));
        let small = format!("font-size=\"{SMALL}\" {SOFT}");
        if names.is_empty() {
            let middle = f64::midpoint(self.left, self.right);
            scene.text((middle, bottom + 36.0), &format!("text-anchor=\"middle\" {small}"), steps.label);
        }
        for (step, name) in (0u64..).zip(names).filter(|(step, _)| (self.first..self.last).contains(step)) {
            let x = f64::midpoint(self.x(step), self.x(step + 1)) + 4.0;
            let name = fitted(name, SMALL, NAMES - 8.0).unwrap_or_default();
            scene.upright((x, bottom + 28.0), &format!("text-anchor=\"end\" {small}"), &name);
        }
    }
}

/// Font size of a name, in pixels.
const NAME: f64 = 12.0;
/// Space that a name needs perpendicular to its text, in pixels.
const LINE: f64 = 14.0;

/// A name in the middle of a rectangle.
#[derive(Debug, PartialEq)]
struct Label {
    text: String,
    middle: Point,
    upright: bool,
}

impl Label {
    /// Returns the label of a rectangle. The label is turned upright if the name is too long for the width
    /// of the rectangle and the height offers more space. If the name is still too long, the label shows
    /// only its end. Returns `None` if fewer than three characters fit, or if the rectangle is too thin for
    /// a line of text.
    fn of(name: &str, (x, y): Point, (w, h): Point) -> Option<Self> {
        let upright = w < LINE || (h > w && w < text_width(name, NAME) + 6.0);
        let (along, across) = if upright { (h, w) } else { (w, h) };
        let text = fitted(name, NAME, along - 6.0)?;
        (across >= LINE).then_some(Self { text, middle: (x + w / 2.0, y + h / 2.0), upright })
    }
}

fn draw_labels(scene: &mut Scene, labels: Vec<Label>) {
    // The outline keeps a name legible where a line crosses it.
    let look = format!(
        "text-anchor=\"middle\" font-size=\"{NAME}\" fill=\"#111\" stroke=\"#fff\" stroke-width=\"3\" \
         stroke-opacity=\"0.55\" paint-order=\"stroke\" pointer-events=\"none\""
    );
    scene.open(&look, "");
    for Label { text, middle: (x, y), upright } in labels {
        if upright { scene.upright((x + 4.0, y), "", &text) } else { scene.text((x, y + 4.0), "", &text) }
    }
    scene.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_the_space_available() {
        let label = |name: &str, size| Label::of(name, (0.0, 0.0), size);
        assert_eq!(label("conv1", (60.0, 20.0)).unwrap().text, "conv1");
        assert_eq!(label("block/one/conv1", (62.0, 20.0)).unwrap().text, "\u{2026}/conv1");
        assert!(label("conv1", (20.0, 60.0)).unwrap().upright);
        assert_eq!(label("conv1", (20.0, 20.0)), None);
        assert_eq!(label("conv1", (600.0, 10.0)), None);
    }
}
