//! Bar charts. Panels are side by side, and each has grouped bars on its own scale from zero.
//!
//! ```text
//!  2 ┼ ██                  one group per name below the axis and one bar per
//!    │ ██ ▒▒    ██ ▒▒      series; the mark of a panel is a dashed line
//!  0 ┼─██─▒▒────██─▒▒──
//!      large    short
//! ```

use super::scene::{Point, Scene, thousands, ticks};
use std::io::{self, Write};

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 40.0;
const TOP: f64 = 104.0;
/// Height of a panel, including its title and the names below the axis.
const HIGH: f64 = 300.0;
/// Space in a panel to the left of the axis, above the bars and below the axis.
const LEFT: f64 = 78.0;
const ABOVE: f64 = 46.0;
const BELOW: f64 = 44.0;
const COLUMNS: usize = 3;
/// Width of a digit above a bar, in pixels.
const FIGURE: f64 = 6.6;
const COLOURS: [&str; 8] =
    ["#9aa5b1", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
const MARK: &str = "stroke=\"#111\" stroke-width=\"1.6\" stroke-dasharray=\"6 4\"";

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
    /// The second line, which explains how to read the chart.
    pub caption: String,
    /// The names of the series, in the order of the bars of a group.
    pub series: Vec<String>,
    /// The name of the dashed lines in the legend, or an empty string if there are none.
    pub mark: String,
    /// The unit of the heights, shown in tooltips.
    pub unit: String,
    /// The panels, three per row.
    pub panels: Vec<Panel>,
}

impl Bars {
    /// Writes the chart as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let mut scene = Scene::new((WIDTH, TOP + rows as f64 * HIGH + 8.0));
        scene.heads(MARGIN, &self.title, &self.caption);
        let mut x = MARGIN;
        for (name, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            x = scene.swatch((x, 81.0), &format!("fill=\"{colour}\""), name);
        }
        if !self.mark.is_empty() {
            scene.dash((x, 81.0), MARK, &self.mark);
        }
        let wide = (WIDTH - 2.0 * MARGIN) / columns as f64;
        for (at, panel) in self.panels.iter().enumerate() {
            let (column, row) = (at % columns, at / columns);
            let corner = (MARGIN + wide * column as f64, TOP + HIGH * row as f64);
            panel.draw(&mut scene, corner, wide - 18.0, (self.series.len(), &self.unit));
        }
        scene.write(output)
    }
}

/// The drawing area of a panel.
struct Frame {
    axis: f64,
    right: f64,
    ceiling: f64,
    bottom: f64,
    /// The value at the ceiling.
    most: u64,
}

impl Frame {
    fn y(&self, value: u64) -> f64 {
        self.bottom - value as f64 / self.most as f64 * (self.bottom - self.ceiling)
    }

    /// Draws a horizontal line at a value.
    fn across(&self, scene: &mut Scene, value: u64, look: &str) {
        scene.line((self.axis, self.y(value)), (self.right, self.y(value)), look);
    }
}

impl Panel {
    fn draw(&self, scene: &mut Scene, (left, top): Point, wide: f64, (series, unit): (usize, &str)) {
        let heights = self.groups.iter().flat_map(|(_, bars)| bars.iter().flatten().copied());
        let most = heights.chain(self.mark).max().unwrap_or(1).max(1);
        let (axis, right) = (left + LEFT, left + wide);
        let frame = Frame { axis, right, ceiling: top + ABOVE, bottom: top + HIGH - BELOW, most };
        scene.text((axis, top + 20.0), "font-weight=\"600\"", &self.name);
        for tick in ticks(0, most, 5) {
            frame.across(scene, tick, "stroke=\"#ddd\"");
            let place = (axis - 6.0, frame.y(tick) + 4.0);
            scene.text(place, "text-anchor=\"end\" font-size=\"12\" fill=\"#555\"", &thousands(tick));
        }
        self.bars(scene, &frame, (series, unit));
        if let Some(mark) = self.mark {
            frame.across(scene, mark, MARK);
        }
        frame.across(scene, 0, "stroke=\"#333\"");
    }

    /// Draws the bars with tooltips and names. If the bars are wide enough, each value is printed above its
    /// bar.
    fn bars(&self, scene: &mut Scene, frame: &Frame, (series, unit): (usize, &str)) {
        let pace = (frame.right - frame.axis) / self.groups.len().max(1) as f64;
        let bar = pace * 0.78 / series.max(1) as f64;
        let values = self.groups.iter().flat_map(|(_, bars)| bars).flatten();
        let widest = values.map(|&value| thousands(value).chars().count()).max().unwrap_or(0);
        let has_numbers = bar >= FIGURE * widest as f64;
        for (nth, (name, bars)) in self.groups.iter().enumerate() {
            let from = frame.axis + pace * nth as f64 + pace * 0.11;
            let called = if name.is_empty() { String::new() } else { format!("{name}: ") };
            for (at, value) in bars.iter().enumerate() {
                let Some(value) = *value else { continue };
                let (x, high, shown) = (from + bar * at as f64, frame.y(value), thousands(value));
                let look = format!("fill=\"{}\"", COLOURS[at % COLOURS.len()]);
                let size = ((bar - 1.0).max(0.5), frame.bottom - high);
                scene.rect((x, high), size, &look, &format!("{called}{shown} {unit}"));
                if has_numbers {
                    let look = "text-anchor=\"middle\" font-size=\"11\"";
                    scene.text((x + bar / 2.0, high - 4.0), look, &shown);
                }
            }
            let place = (from + pace * 0.39, frame.bottom + 18.0);
            scene.text(place, "text-anchor=\"middle\" font-size=\"12\"", name);
        }
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
        assert_eq!(text.matches("font-size=\"11\"").count(), 4 * 3);
        assert!(text.contains("a &amp; b") && text.contains("height=\"210\"") && !text.contains("NaN"));
        // There are two rows of panels.
        assert!(text.contains("height=\"712\""));
        let none = Bars { panels: Vec::new(), ..bars };
        none.write(&mut Vec::new()).unwrap();
    }
}
