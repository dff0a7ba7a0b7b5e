//! The map of a layout: a rectangle per buffer, steps to the right, addresses upwards.
//!
//! ```text
//! bytes
//!  peak ┼┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄  a buffer is one rectangle per run of steps it is
//!       │ ┌───┐   ┌───┐     alive, and per piece it is cut into; its gaps stay
//!  load ┼┄│ b │┄┄┄│ b │┄    empty, and others may lie there
//!       │ └─┬─┴───┴──┬┘
//!       │   │   a    │
//!     0 └───┴────────┴───  steps
//! ```
//!
//! Rectangles carry their story as a hover title; those with room carry their name, or the end of it. Time and memory are linear in
//! the number of rectangles: a map of 20,000 buffers is a file of a few megabytes.

use plimsoll::plan::ProblemKind;
use plimsoll_model::{Bytes, Instance, Piece, load};
use std::io::{self, Write};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 760.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 56.0;
/// Hues of neighbouring ids differ by the golden angle, so that they stay apart.
const GOLDEN_ANGLE: f64 = 137.508;

/// Which buffers belong together: they are drawn in one colour, all others grey.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// What the groups are called in the legend.
    pub names: &'a [String],
    /// Per buffer: its group, a position in `names`.
    pub of: &'a [Option<usize>],
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// What problem the solution answers.
    pub problem: ProblemKind,
    /// Who found it.
    pub algorithm: &'a str,
    /// Where every buffer lies, by position.
    pub pieces: &'a [Vec<Piece>],
    /// The best lower bound known.
    pub bound: Bytes,
    /// Buffers that belong together; without groups each has a colour of its own.
    pub groups: Option<Groups<'a>>,
}

/// From steps and bytes to points of the picture.
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
    /// Writes the picture.
    ///
    /// # Errors
    /// What the writer reports.
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
        write!(
            output,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        )?;
        self.head(output, peak, load)?;
        axes(output, &scale, (first, last), top)?;
        self.buffers(output, &scale)?;
        lines(output, &scale, peak, load)?;
        writeln!(output, "</svg>")
    }

    fn head(&self, output: &mut dyn Write, peak: u64, load: u64) -> io::Result<()> {
        let what = if self.problem == ProblemKind::Pools { "total" } else { "peak" };
        let bound = self.bound.get();
        writeln!(
            output,
            "<text x=\"{LEFT}\" y=\"28\" font-size=\"18\" font-weight=\"600\">{}</text>\n\
             <text x=\"{LEFT}\" y=\"48\" fill=\"#555\">{} buffers, {} by {}: {what} {} bytes, lower bound {} bytes\
             </text>",
            escape(self.instance.name()),
            thousands(self.instance.len() as u64),
            self.problem,
            escape(self.algorithm),
            thousands(peak),
            thousands(bound),
        )?;
        // The legend. With exclusions more may be alive than the peak.
        let no_bound = if self.instance.exclusions().is_empty() { "" } else { " (no bound: exclusions)" };
        let entries = [
            (format!("{what} {}", thousands(peak)), PEAK),
            (format!("load {}{no_bound}", thousands(load)), LOAD),
        ];
        let mut x = LEFT;
        for (text, (colour, dash)) in entries {
            writeln!(
                output,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"66\" y2=\"66\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"70\">{text}</text>",
                x + 28.0,
                x + 34.0,
            )?;
            x += 60.0 + LEGEND_LETTER * text.chars().count() as f64;
        }
        let Some(groups) = &self.groups else {
            let text = "a buffer while it is alive (point at it for its numbers)";
            return swatch(output, x, "hsl(210,60%,70%)", text);
        };
        groups.legend(output, x)
    }

    /// The fill of a buffer: that of its group, in two shades, so that neighbours stay apart; or one of its own.
    fn fill(&self, at: usize) -> String {
        match &self.groups {
            None => {
                let hue = (at as f64 * GOLDEN_ANGLE).rem_euclid(360.0);
                format!("hsl({hue:.0},60%,{}%)", 62 + 6 * (at % 4))
            }
            Some(groups) => match groups.of.get(at).copied().flatten() {
                None => format!("hsl(0,0%,{}%)", 80 + 4 * (at % 3)),
                Some(group) => group_colour(group, at),
            },
        }
    }

    fn buffers(&self, output: &mut dyn Write, scale: &Scale) -> io::Result<()> {
        let count: usize = self.instance.len();
        // Outlines would blacken a crowded map.
        let stroke = match count {
            0..=400 => 0.7,
            401..=3000 => 0.25,
            _ => 0.0,
        };
        writeln!(output, "<g stroke=\"#333\" stroke-width=\"{stroke}\">")?;
        let mut labels = String::new();
        // Exclusive buffers may lie over each other.
        let see_through = if self.instance.exclusions().is_empty() { "" } else { " fill-opacity=\"0.6\"" };
        for (id, pieces) in self.instance.ids().zip(self.pieces) {
            let buffer = self.instance.buffer(id);
            let name = escape(buffer.name());
            let fill = self.fill(id.index());
            write!(output, "<g fill=\"{fill}\"{see_through}><title>{name}: {} bytes", buffer.size())?;
            for piece in pieces {
                write!(output, ", at [{}, {})", piece.start, piece.end())?;
            }
            for part in buffer.lifespan().intervals() {
                write!(output, ", steps [{}, {})", part.lower, part.upper)?;
            }
            write!(output, "</title>")?;
            for part in buffer.lifespan().intervals() {
                let (x, right) = (scale.x(part.lower.get()), scale.x(part.upper.get()));
                for piece in pieces {
                    let (y, bottom) = (scale.y(piece.end().get()), scale.y(piece.start.get()));
                    let (w, h) = ((right - x).max(0.05), (bottom - y).max(0.05));
                    write!(output, "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\"/>")?;
                    if let Some(text) = label(buffer.name(), (x, y), (w, h)) {
                        labels.push_str(&text);
                    }
                }
            }
            writeln!(output, "</g>")?;
        }
        writeln!(
            output,
            "</g>\n<g text-anchor=\"middle\" font-size=\"12\" fill=\"#111\" pointer-events=\"none\">\n{labels}</g>"
        )
    }
}

/// Hues of the first groups, far apart; the others follow by the golden angle.
const GROUP_HUES: [f64; 6] = [205.0, 28.0, 150.0, 320.0, 52.0, 265.0];
/// Width of a letter of the legend, points.
const LEGEND_LETTER: f64 = 7.6;

fn group_colour(group: usize, at: usize) -> String {
    let later = || (group as f64 * GOLDEN_ANGLE).rem_euclid(360.0);
    let hue = GROUP_HUES.get(group).copied().unwrap_or_else(later);
    format!("hsl({hue:.0},65%,{}%)", 64 + 5 * (at % 3))
}

impl Groups<'_> {
    /// The groups that have buffers, as many as there is room for.
    fn legend(&self, output: &mut dyn Write, mut x: f64) -> io::Result<()> {
        if self.of.contains(&None) {
            swatch(output, x, "hsl(0,0%,84%)", "around them")?;
            x += 54.0 + LEGEND_LETTER * 11.0;
        }
        let present = (0..self.names.len()).filter(|group| self.of.contains(&Some(*group)));
        let present: Vec<usize> = present.collect();
        for (nth, &group) in present.iter().enumerate() {
            let name = &self.names[group];
            let wide = 54.0 + LEGEND_LETTER * name.chars().count() as f64;
            // Further ones need room to be counted.
            let more = if nth + 1 < present.len() { 90.0 } else { 0.0 };
            if x + wide - 20.0 + more > WIDTH - RIGHT {
                return writeln!(output, "<text x=\"{x}\" y=\"70\">and {} more</text>", present.len() - nth);
            }
            swatch(output, x, &group_colour(group, 1), name)?;
            x += wide;
        }
        Ok(())
    }
}

/// One entry of the legend: a small rectangle and a text.
fn swatch(output: &mut dyn Write, x: f64, fill: &str, text: &str) -> io::Result<()> {
    writeln!(
        output,
        "<rect x=\"{x}\" y=\"59\" width=\"26\" height=\"13\" fill=\"{fill}\" stroke=\"#333\" \
         stroke-width=\"0.5\"/><text x=\"{}\" y=\"70\">{}</text>",
        x + 34.0,
        escape(text)
    )
}

/// Width of a letter and height of a line, points; a name cut shorter than so many letters says nothing.
const LETTER: f64 = 7.5;
const LINE: f64 = 15.0;
const LEAST_LETTERS: usize = 4;

/// The name in the middle of a rectangle, upright where that is longer than wide; the end of it where it is too long, as
/// names of tensors differ there. `None` without room.
fn label(name: &str, (x, y): (f64, f64), (w, h): (f64, f64)) -> Option<String> {
    let upright = w < LINE || (h > w && w < LETTER * name.chars().count() as f64 + 6.0);
    let (along, across) = if upright { (h, w) } else { (w, h) };
    let room = ((along - 6.0) / LETTER).max(0.0) as usize;
    let letters = name.chars().count();
    if across < LINE || room < letters.min(LEAST_LETTERS) || letters == 0 {
        return None;
    }
    let text = if letters <= room {
        escape(name)
    } else {
        let end: String = name.chars().skip(letters + 1 - room).collect();
        format!("\u{2026}{}", escape(&end))
    };
    let (cx, cy) = (x + w / 2.0, y + h / 2.0);
    Some(if upright {
        format!("<text transform=\"translate({:.1} {cy:.1}) rotate(-90)\">{text}</text>\n", cx + 4.0)
    } else {
        format!("<text x=\"{cx:.1}\" y=\"{:.1}\">{text}</text>\n", cy + 4.0)
    })
}

const PEAK: (&str, &str) = ("#b00020", "none");
const LOAD: (&str, &str) = ("#004a9f", "7 5");

/// Peak and load over the rectangles; where they are one, the dashes of the load lie on the peak.
fn lines(output: &mut dyn Write, scale: &Scale, peak: u64, load: u64) -> io::Result<()> {
    for (value, (colour, dash)) in [(peak, PEAK), (load, LOAD)] {
        let y = scale.y(value);
        writeln!(
            output,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.2}\" y2=\"{y:.2}\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\" pointer-events=\"none\"/>",
            WIDTH - RIGHT
        )?;
    }
    Ok(())
}

fn axes(output: &mut dyn Write, scale: &Scale, steps: (u64, u64), top: u64) -> io::Result<()> {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    writeln!(output, "<g stroke=\"#ddd\" stroke-width=\"1\">")?;
    let ticks_y = ticks(0, top, 8);
    let ticks_x = ticks(steps.0, steps.1, 12);
    for &tick in &ticks_y {
        let y = scale.y(tick);
        writeln!(output, "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.2}\" y2=\"{y:.2}\"/>")?;
    }
    for &tick in &ticks_x {
        let x = scale.x(tick);
        writeln!(output, "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{TOP}\" y2=\"{bottom}\"/>")?;
    }
    writeln!(output, "</g>\n<g fill=\"#555\" font-size=\"12\">")?;
    for &tick in &ticks_y {
        let y = scale.y(tick) + 4.0;
        let x = LEFT - 8.0;
        writeln!(output, "<text x=\"{x}\" y=\"{y:.2}\" text-anchor=\"end\">{}</text>", thousands(tick))?;
    }
    for &tick in &ticks_x {
        let x = scale.x(tick);
        let y = bottom + 18.0;
        writeln!(output, "<text x=\"{x:.2}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", thousands(tick))?;
    }
    let (middle, low) = (f64::midpoint(LEFT, right), HEIGHT - 14.0);
    let half = f64::midpoint(TOP, bottom);
    writeln!(
        output,
        "<text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">step</text>\n\
         <text transform=\"translate(20 {half}) rotate(-90)\" text-anchor=\"middle\">address, bytes</text>\n</g>"
    )
}

/// Round numbers between two ends, at most about `most` of them.
pub(super) fn ticks(from: u64, to: u64, most: u64) -> Vec<u64> {
    let least = (to.saturating_sub(from) / most).max(1);
    let mut pace = 1u64;
    let pace = loop {
        let found = [1u64, 2, 5].into_iter().filter_map(|m| pace.checked_mul(m)).find(|&p| p >= least);
        match (found, pace.checked_mul(10)) {
            (Some(found), _) => break found,
            (None, Some(next)) => pace = next,
            (None, None) => break least,
        }
    };
    let start = from.div_ceil(pace).saturating_mul(pace);
    std::iter::successors(Some(start), |tick| tick.checked_add(pace)).take_while(|&tick| tick <= to).collect()
}

/// A number with a thin blank between groups of three digits.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Text as XML may hold it; control characters, which it may not, become question marks.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            c if c.is_control() => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
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
            problem: ProblemKind::Offsets,
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
        let (problem, algorithm, bound) = (ProblemKind::Offsets, "x", Bytes::new(12));
        let draw = |of: &[Option<usize>]| {
            let groups = Some(Groups { names: &names, of });
            let mut text = Vec::new();
            let map = Map { instance: &instance, problem, algorithm, pieces: &pieces, bound, groups };
            map.write(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let some = draw(&[Some(0), None, Some(39)]);
        assert!(some.contains("hsl(205,65%,64%)") && some.contains("around them"));
        assert!(some.contains(">branch 39 &lt;of many&gt;<") && !some.contains("branch 1 "));
        let none = draw(&[Some(1), Some(2), Some(3)]);
        assert!(!none.contains("around them") && none.contains("branch 3 "));
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
        // Background, legend, two parts of one buffer, one of the other.
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
    fn names_are_cut_to_the_room_there_is() {
        let text = |name: &str, size| label(name, (0.0, 0.0), size);
        assert!(text("conv1", (60.0, 20.0)).unwrap().contains(">conv1<"));
        assert!(text("block/one/conv1", (60.0, 20.0)).unwrap().contains(">\u{2026}/conv1<"));
        assert!(text("conv1", (20.0, 60.0)).unwrap().contains("rotate(-90)\">conv1<"));
        assert_eq!(text("conv1", (20.0, 20.0)), None);
        assert_eq!(text("conv1", (600.0, 10.0)), None);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0, 12, 8), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(ticks(0, 1_048_576, 8), [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]);
        assert_eq!(ticks(95, 120, 12), [96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120]);
        assert!(ticks(u64::MAX - 3, u64::MAX, 12).len() <= 4);
        assert_eq!(thousands(1_048_576), "1\u{2009}048\u{2009}576");
    }
}
