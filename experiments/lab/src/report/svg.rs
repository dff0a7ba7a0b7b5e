//! Maps of layouts. Buffers are rectangles, the horizontal axis is time, and the vertical axis is the
//! address.
//!
//! ```text
//! bytes
//!  peak ┼┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄  a buffer is one rectangle per interval of its
//!       │ ┌───┐   ┌───┐     lifespan and per piece; gaps in its lifespan are
//!  load ┼┄│ b │┄┄┄│ b │┄    empty and may hold other buffers
//!       │ └─┬─┴───┴──┬┘
//!       │   │   a    │
//!     0 └───┴────────┴───  steps
//! ```
//!
//! The tooltip of a rectangle lists the size, the addresses and the steps of its buffer. A rectangle that is
//! large enough shows the name of the buffer, or the end of the name. Time and memory are linear in the
//! number of rectangles. The map of 20,000 buffers is a file of a few megabytes.

use super::scene::{Point, Scene, entry_width, hue, shortened, thousands, ticks};
use plimsoll_model::{Bytes, Instance, Piece, Problem, SharedObjects, load};
use std::fmt::Write as _;
use std::io::{self, Write};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 760.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 56.0;
/// Styles of the lines at the peak and at the load.
const PEAK: &str = "stroke=\"#b00020\" stroke-width=\"2\" pointer-events=\"none\"";
const LOAD: &str = "stroke=\"#004a9f\" stroke-width=\"2\" stroke-dasharray=\"7 5\" pointer-events=\"none\"";

/// Groups of buffers. Each group is drawn in one colour, and buffers without a group are grey.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The names of the groups, as shown in the legend.
    pub names: &'a [String],
    /// Per buffer: the index of its group in `names`, if it has a group.
    pub of: &'a [Option<usize>],
}

/// A layout, and the other contents of its map.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// The instance, whose lifespans give the horizontal extents.
    pub instance: &'a Instance,
    /// The problem that the layout solves.
    pub problem: &'a str,
    /// The algorithm that found the layout.
    pub algorithm: &'a str,
    /// The pieces of every buffer, indexed by buffer id.
    pub pieces: &'a [Vec<Piece>],
    /// The best known lower bound.
    pub bound: Bytes,
    /// Groups of buffers. Without groups, each buffer has its own colour.
    pub groups: Option<Groups<'a>>,
}

/// Converts steps and bytes to points of the picture.
struct Scale {
    first: f64,
    steps: f64,
    bytes: f64,
}

impl Scale {
    fn x(&self, step: u64) -> f64 {
        LEFT + (step as f64 - self.first) / self.steps * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, address: u64) -> f64 {
        HEIGHT - BOTTOM - address as f64 / self.bytes * (HEIGHT - TOP - BOTTOM)
    }
}

impl Map<'_> {
    /// Writes the map as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let hulls = || self.instance.buffers().iter().map(|buffer| buffer.lifespan().hull());
        let first = hulls().map(|hull| hull.lower.get()).min().unwrap_or(0);
        let last = hulls().map(|hull| hull.upper.get()).max().unwrap_or(1);
        let peak = self.pieces.iter().flatten().map(|piece| piece.end().get()).max().unwrap_or(0);
        let load = load(self.instance).0.get();
        let top = peak.max(load).max(1);
        let scale = Scale {
            first: first as f64,
            steps: last.saturating_sub(first).max(1) as f64,
            bytes: top as f64 * 1.04,
        };
        let mut scene = Scene::new((WIDTH, HEIGHT));
        self.head(&mut scene, peak, load);
        axes(&mut scene, &scale, (first, last), top);
        self.buffers(&mut scene, &scale);
        // If both are equal, the dashed line of the load is drawn over that of the peak.
        for (value, look) in [(peak, PEAK), (load, LOAD)] {
            let y = scale.y(value);
            scene.line((LEFT, y), (WIDTH - RIGHT, y), look);
        }
        scene.write(output)
    }

    /// Draws the title, the numbers and the legend.
    fn head(&self, scene: &mut Scene, peak: u64, load: u64) {
        let what = if self.problem == SharedObjects::NAME { "total" } else { "peak" };
        let caption = format!(
            "{} buffers, {} by {}: {what} {} bytes, lower bound {} bytes",
            thousands(self.instance.len() as u64),
            self.problem,
            self.algorithm,
            thousands(peak),
            thousands(self.bound.get()),
        );
        scene.heads(LEFT, self.instance.name(), &caption);
        // With exclusions, the load may exceed the peak.
        let no_bound = if self.instance.exclusions().is_empty() { "" } else { " (no bound: exclusions)" };
        let x = scene.dash((LEFT, 70.0), PEAK, &format!("{what} {}", thousands(peak)));
        let x = scene.dash((x, 70.0), LOAD, &format!("load {}{no_bound}", thousands(load)));
        if let Some(groups) = &self.groups {
            groups.legend(scene, x);
        } else {
            let text = "a live buffer (hover for size, addresses and steps)";
            swatch(scene, x, "hsl(210,60%,70%)", text);
        }
    }

    /// Returns the fill of a buffer. With groups it is a shade of the colour of its group, so that neighbours
    /// remain distinct. Without groups, each buffer has its own colour.
    fn fill(&self, at: usize) -> String {
        match &self.groups {
            None => {
                format!("hsl({:.0},60%,{}%)", hue(at), 62 + 6 * (at % 4))
            }
            Some(groups) => match groups.of.get(at).copied().flatten() {
                None => format!("hsl(0,0%,{}%)", 80 + 4 * (at % 3)),
                Some(group) => group_colour(group, at),
            },
        }
    }

    fn buffers(&self, scene: &mut Scene, scale: &Scale) {
        // Thick outlines would blacken a crowded map.
        let stroke = match self.instance.len() {
            0..=400 => 0.7,
            401..=3000 => 0.25,
            _ => 0.0,
        };
        // Mutually exclusive buffers may overlap.
        let see_through = if self.instance.exclusions().is_empty() { "" } else { " fill-opacity=\"0.6\"" };
        let mut labels = Vec::new();
        scene.open(&format!("stroke=\"#333\" stroke-width=\"{stroke}\""), "");
        for (id, pieces) in self.instance.ids().zip(self.pieces) {
            let buffer = self.instance.buffer(id);
            let mut title = format!("{}: {} bytes", buffer.name(), buffer.size());
            for piece in pieces {
                let _ = write!(title, ", at [{}, {})", piece.start, piece.end());
            }
            for part in buffer.lifespan().intervals() {
                let _ = write!(title, ", steps [{}, {})", part.lower, part.upper);
            }
            scene.open(&format!("fill=\"{}\"{see_through}", self.fill(id.index())), &title);
            for part in buffer.lifespan().intervals() {
                let (x, right) = (scale.x(part.lower.get()), scale.x(part.upper.get()));
                for piece in pieces {
                    let (y, bottom) = (scale.y(piece.end().get()), scale.y(piece.start.get()));
                    let size = ((right - x).max(0.05), (bottom - y).max(0.05));
                    scene.rect((x, y), size, "", "");
                    labels.extend(Label::of(buffer.name(), (x, y), size));
                }
            }
            scene.close();
        }
        scene.close();
        let look = "text-anchor=\"middle\" font-size=\"12\" fill=\"#111\" pointer-events=\"none\"";
        scene.open(look, "");
        for Label { text, middle: (x, y), upright } in labels {
            if upright { scene.upright((x + 4.0, y), "", &text) } else { scene.text((x, y + 4.0), "", &text) }
        }
        scene.close();
    }
}

/// Hues of the first groups, which are far apart. The hues of further groups are derived from the golden
/// angle.
const GROUP_HUES: [f64; 6] = [205.0, 28.0, 150.0, 320.0, 52.0, 265.0];

fn group_colour(group: usize, at: usize) -> String {
    let hue = GROUP_HUES.get(group).copied().unwrap_or_else(|| hue(group));
    format!("hsl({hue:.0},65%,{}%)", 64 + 5 * (at % 3))
}

impl Groups<'_> {
    /// Draws as many groups with buffers as fit into the legend.
    fn legend(&self, scene: &mut Scene, mut x: f64) {
        if self.of.contains(&None) {
            x = swatch(scene, x, "hsl(0,0%,84%)", "outside the groups");
        }
        let present = (0..self.names.len()).filter(|group| self.of.contains(&Some(*group)));
        let present: Vec<usize> = present.collect();
        for (nth, &group) in present.iter().enumerate() {
            let name = &self.names[group];
            // Unless this is the last group, space is kept for the number of omitted groups.
            let more = if nth + 1 < present.len() { 90.0 } else { 0.0 };
            if x + entry_width(name) - 20.0 + more > WIDTH - RIGHT {
                scene.text((x, 70.0), "", &format!("and {} more", present.len() - nth));
                return;
            }
            x = swatch(scene, x, &group_colour(group, 1), name);
        }
    }
}

/// Draws a legend entry.
fn swatch(scene: &mut Scene, x: f64, fill: &str, text: &str) -> f64 {
    scene.swatch((x, 70.0), &format!("fill=\"{fill}\" stroke=\"#333\" stroke-width=\"0.5\""), text)
}

/// Width of a character and height of a line, in pixels.
const LETTER: f64 = 7.5;
const LINE: f64 = 15.0;

/// A name in the middle of a rectangle.
#[derive(Debug, PartialEq)]
struct Label {
    text: String,
    middle: Point,
    upright: bool,
}

impl Label {
    /// Returns the label of a rectangle, or `None` if nothing fits. The label is vertical if the rectangle is
    /// higher than wide and the name does not fit horizontally. A name that is too long is reduced to its
    /// end.
    fn of(name: &str, (x, y): Point, (w, h): Point) -> Option<Self> {
        let upright = w < LINE || (h > w && w < LETTER * name.chars().count() as f64 + 6.0);
        let (along, across) = if upright { (h, w) } else { (w, h) };
        let text = shortened(name, ((along - 6.0) / LETTER).max(0.0) as usize)?;
        (across >= LINE).then_some(Self { text, middle: (x + w / 2.0, y + h / 2.0), upright })
    }
}

fn axes(scene: &mut Scene, scale: &Scale, steps: (u64, u64), top: u64) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    scene.open("stroke=\"#ddd\" stroke-width=\"1\" fill=\"#555\" font-size=\"12\"", "");
    for tick in ticks(0, top, 8) {
        let y = scale.y(tick);
        scene.line((LEFT, y), (right, y), "");
        scene.text((LEFT - 8.0, y + 4.0), "stroke=\"none\" text-anchor=\"end\"", &thousands(tick));
    }
    for tick in ticks(steps.0, steps.1, 12) {
        let x = scale.x(tick);
        scene.line((x, TOP), (x, bottom), "");
        scene.text((x, bottom + 18.0), "stroke=\"none\" text-anchor=\"middle\"", &thousands(tick));
    }
    let look = "stroke=\"none\" text-anchor=\"middle\"";
    scene.text((f64::midpoint(LEFT, right), HEIGHT - 14.0), look, "step");
    scene.upright((20.0, f64::midpoint(TOP, bottom)), look, "address, bytes");
    scene.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::plan::Plan;
    use plimsoll_model::{Buffer, InstanceBuilder, Interval, Layout, Lifespan, Offsets};

    fn draw(instance: &Instance, layout: &Layout) -> String {
        let pieces = Offsets::pieces(instance, layout);
        let map = Map {
            instance,
            problem: Offsets::NAME,
            algorithm: "by <hand>",
            pieces: &pieces,
            bound: Bytes::new(6),
            groups: None,
        };
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
            let groups = Some(Groups { names: &names, of });
            let mut text = Vec::new();
            let map = Map { instance: &instance, problem, algorithm, pieces: &pieces, bound, groups };
            map.write(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let some = draw(&[Some(0), None, Some(39)]);
        assert!(some.contains("hsl(205,65%,64%)") && some.contains("outside the groups"));
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
        // The background, the legend, two intervals of one buffer, and one of the other.
        assert_eq!(svg.matches("<rect ").count(), 5);
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
