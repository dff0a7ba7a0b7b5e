//! Bar charts. Panels are drawn in one or two columns. Each panel has groups of bars and its own scale, which
//! starts at zero.
//!
//! ```text
//!  2 ┼ ██                  one group per name below the axis and one bar per
//!    │ ██ ▒▒    ██ ▒▒      series; the mark of a panel is a dashed line
//!  0 ┼─██─▒▒────██─▒▒──
//!      large    short
//! ```

use super::axis::{Axis, Side, Unit};
use super::human;
use super::palette::bar_colour;
use super::scene::{HALO, MARGIN, Point, RULE, SMALL, Scene, WIDTH, fitted, text_width, thousands};
use std::io::{self, Write};

/// Height of a panel, including its title and the names below the axis.
const HIGH: f64 = 250.0;
/// Space in a panel above the bars.
const ABOVE: f64 = 48.0;
/// Space in a panel below the axis.
const BELOW: f64 = 36.0;
const COLUMNS: usize = 2;
/// Distance between panels.
const GAP: f64 = 20.0;

/// One panel of a bar chart.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The title above the panel.
    pub name: String,
    /// The groups of bars. Each has a name and one optional height per series.
    pub groups: Vec<(String, Vec<Option<u64>>)>,
    /// A reference height, drawn as a dashed line.
    pub mark: Option<u64>,
}

/// A bar chart.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title, in the first line.
    pub title: String,
    /// An explanation of how to read the chart, drawn below the title.
    pub caption: String,
    /// The names of the series, in the order of the bars of a group.
    pub series: Vec<String>,
    /// The name of the dashed lines in the legend, or an empty string if there are none.
    pub mark: String,
    /// The unit of the heights, shown in tooltips. Heights in `bytes` have an axis in binary units.
    pub unit: String,
    /// The panels, which are drawn two per row, or one per row if the bars or the names of their groups need
    /// more space.
    pub panels: Vec<Panel>,
}

impl Bars {
    /// Writes the chart as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut scene = Scene::default();
        let top = scene.heads(&self.title, &self.caption);
        let mut entries: Vec<(String, String)> = Vec::new();
        // A single series is named by the title.
        let series = self.series.iter().enumerate().filter(|_| self.series.len() > 1);
        entries.extend(series.map(|(at, name)| (format!("fill=\"{}\"", bar_colour(at)), name.clone())));
        if !self.mark.is_empty() {
            entries.push((mark(), self.mark.clone()));
        }
        let top = scene.legend(&entries, top) + 4.0;
        let columns = if self.panels.len() > 1 && self.fits(COLUMNS) { COLUMNS } else { 1 };
        for (at, panel) in self.panels.iter().enumerate() {
            let (column, row) = (at % columns, at / columns);
            let corner = (MARGIN + (wide(columns) + GAP) * column as f64, top + HIGH * row as f64);
            panel.draw(&mut scene, corner, wide(columns), (self.series.len(), &self.unit));
        }
        let rows = self.panels.len().div_ceil(columns);
        output.write_all(scene.finish(top + HIGH * rows as f64 + 8.0).as_bytes())
    }

    /// Returns true if every panel has space for its bars and the names of its groups when panels are drawn
    /// in `columns` columns.
    fn fits(&self, columns: usize) -> bool {
        let fits = |panel: &Panel| {
            // The axis takes about a quarter of the width of a panel.
            let pace = wide(columns) * 0.75 / panel.groups.len().max(1) as f64;
            let name = |(name, _): &(String, _)| text_width(name, SMALL) + 6.0 <= pace;
            pace >= 10.0 * self.series.len() as f64 && panel.groups.iter().all(name)
        };
        self.panels.iter().all(fits)
    }
}

/// Returns the width of a panel when panels are drawn in `columns` columns.
fn wide(columns: usize) -> f64 {
    (WIDTH - 2.0 * MARGIN + GAP) / columns as f64 - GAP
}

/// Returns the style of the dashed line at the mark.
fn mark() -> String {
    format!("{RULE} stroke-width=\"1.6\" stroke-dasharray=\"6 4\"")
}

/// The drawing area of a panel.
struct Frame {
    left: f64,
    right: f64,
    ceiling: f64,
    bottom: f64,
    /// The value at the upper edge.
    most: u64,
}

impl Frame {
    fn y(&self, value: f64) -> f64 {
        self.bottom - value / self.most as f64 * (self.bottom - self.ceiling)
    }

    /// Draws a horizontal line at a value.
    fn across(&self, scene: &mut Scene, value: u64, look: &str) {
        let y = self.y(value as f64);
        scene.line((self.left, y), (self.right, y), look);
    }
}

impl Panel {
    fn draw(&self, scene: &mut Scene, (left, top): Point, wide: f64, (series, unit): (usize, &str)) {
        let heights = self.groups.iter().flat_map(|(_, bars)| bars.iter().flatten().copied());
        let most = heights.chain(self.mark).max().unwrap_or(1).max(1);
        // Bold letters are a tenth wider.
        let name = fitted(&self.name, 15.0 * 1.1, wide).unwrap_or_default();
        scene.text((left, top + 22.0), "font-weight=\"600\"", &name);
        let of = if unit == "bytes" { Unit::Bytes } else { Unit::Count };
        let side = Side::of(&Axis { label: "", unit: of, low: 0.0, high: most as f64, logarithmic: false });
        let (right, bottom) = (left + wide, top + HIGH - BELOW);
        let frame = Frame { left: left + side.width(), right, ceiling: top + ABOVE, bottom, most };
        side.draw(scene, (frame.left, right), |value| frame.y(value));
        let numbers = self.bars(scene, &frame, (series, unit));
        if let Some(value) = self.mark {
            frame.across(scene, value, &mark());
        }
        frame.across(scene, 0, RULE);
        scene.open(&format!("text-anchor=\"middle\" font-size=\"12\" {HALO}"), "");
        for (place, text) in numbers {
            scene.text(place, "", &text);
        }
        scene.close();
    }

    /// Draws the bars with tooltips and names. If the bars are wide enough for labels, returns the labels
    /// with their positions above the bars.
    fn bars(&self, scene: &mut Scene, frame: &Frame, (series, unit): (usize, &str)) -> Vec<(Point, String)> {
        let pace = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let bar = pace * 0.84 / series.max(1) as f64;
        let short = |value| if unit == "bytes" { human::bytes(value) } else { thousands(value) };
        let values = || self.groups.iter().flat_map(|(_, bars)| bars).flatten();
        let fits = |shown: &&dyn Fn(u64) -> String| {
            values().all(|&value| text_width(&shown(value), 12.0) + 4.0 <= bar)
        };
        let shown = [&thousands as &dyn Fn(u64) -> String, &short].into_iter().find(fits);
        let mut numbers = Vec::new();
        for (nth, (name, bars)) in self.groups.iter().enumerate() {
            let from = frame.left + pace * (nth as f64 + 0.08);
            let called = if name.is_empty() { String::new() } else { format!("{name}: ") };
            for (at, value) in bars.iter().enumerate() {
                let Some(value) = *value else { continue };
                let (x, high) = (from + bar * at as f64, frame.y(value as f64));
                let look = format!("fill=\"{}\"", bar_colour(at));
                let size = ((bar - 1.0).max(0.5), frame.bottom - high);
                scene.rect((x, high), size, &look, &format!("{called}{} {unit}", thousands(value)));
                numbers.extend(shown.map(|shown| ((x + bar / 2.0, high - 5.0), shown(value))));
            }
            let look = format!("text-anchor=\"middle\" font-size=\"{SMALL}\"");
            let name = fitted(name, SMALL, pace - 6.0).unwrap_or_default();
            scene.text((from + pace * 0.42, frame.bottom + 18.0), &look, &name);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_the_axis() {
        let panel = Panel {
            name: "a & b".to_owned(),
            groups: vec![("x".to_owned(), vec![Some(10), None]), ("y".to_owned(), vec![Some(0), Some(5)])],
            mark: Some(4),
        };
        let bars = Bars {
            title: "t".to_owned(),
            caption: String::new(),
            series: vec!["one".to_owned(), "two".to_owned()],
            mark: "least".to_owned(),
            unit: "bytes".to_owned(),
            panels: vec![panel; 4],
        };
        let mut text = Vec::new();
        bars.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        // The background, two swatches of the legend, and three bars per panel.
        assert_eq!(text.matches("<rect ").count(), 1 + 2 + 4 * 3);
        assert_eq!(text.matches("stroke-dasharray").count(), 1 + 4);
        // The bars are wide enough for their numbers.
        assert_eq!((text.matches(">10<").count(), text.matches(">5<").count()), (4, 4));
        assert!(text.contains("a &amp; b") && text.contains("height=\"166\"") && !text.contains("NaN"));
        // There are two rows of panels.
        let height = text.split("height=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!((550..650).contains(&height.parse::<u32>().unwrap()), "{height}");
        let none = Bars { panels: Vec::new(), ..bars };
        none.write(&mut Vec::new()).unwrap();
    }
}
