//! Line charts with axes, step functions and a legend.
//!
//! ```text
//! share
//!  1 ┼──────────┌────────  a series is a step function: a value holds until the next point;
//!    │     ┌────┘  ┄┄┄┄┄┄  a dashed line belongs to the solid line of the same colour
//!  0 ┼─────┴─────────────
//!    1     10    100
//!  ── legend
//! ```

use super::axis::{Axis, Side};
pub use super::palette::BLACK;
use super::palette::stroke_of;
use super::scene::{MARGIN, Point, RULE, SMALL, SOFT, Scene, WIDTH};
use std::io::{self, Write};

/// Height of the area between the axes.
const HEIGHT: f64 = 300.0;
/// Dash patterns, which distinguish lines of the same colour if a chart has more lines than there are
/// colours. The third pattern also marks dashed series.
const DASHES: [&str; 5] = ["", "9 4", "3 3", "18 5", "6 8"];

/// One line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the line in the legend. A line with an empty name has no entry in the legend.
    pub name: String,
    /// The index of the colour. Related lines have the same colour.
    pub colour: usize,
    /// Whether the line is dashed, to distinguish it from a solid line of the same colour.
    pub dashed: bool,
    /// Whether the points are marked with dots.
    pub dots: bool,
    /// Points in ascending order of x. Each value holds until the next point.
    pub points: Vec<(f64, f64)>,
}

/// A line chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title, in the first line.
    pub title: String,
    /// An explanation of how to read the chart, drawn below the title.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

/// The mapping from values to points of the picture.
struct Frame<'a> {
    chart: &'a Chart,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Chart {
    /// Writes the chart as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(self.svg().as_bytes())
    }

    /// Returns the chart as SVG. O(points).
    pub fn svg(&self) -> String {
        let mut scene = Scene::default();
        let top = scene.heads(&self.title, &self.caption);
        let small = format!("font-size=\"{SMALL}\" {SOFT}");
        scene.text((MARGIN, top + 16.0), &small, self.y.label);
        let side = Side::of(&self.y);
        let (left, right, top) = (MARGIN + side.width(), WIDTH - MARGIN, top + 30.0);
        let bottom = top + HEIGHT;
        let frame = Frame { chart: self, left, right, top, bottom };
        side.draw(&mut scene, (left, right), |value| frame.y(value));
        self.x.draw_across(&mut scene, (left, right), (top, bottom));
        scene.line((left, bottom), (right, bottom), RULE);
        let middle = f64::midpoint(left, right);
        scene.text((middle, bottom + 38.0), &format!("text-anchor=\"middle\" {small}"), self.x.label);
        for series in &self.series {
            frame.draw(&mut scene, series);
        }
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        let entries: Vec<_> = named.map(|series| (stroke(series), series.name.clone())).collect();
        let end = scene.legend(&entries, bottom + 48.0);
        scene.finish(end + 8.0)
    }

    /// Returns the points of a line as a step function that extends to the right edge.
    fn steps(&self, series: &Series) -> Vec<(f64, f64)> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for &(x, y) in &series.points {
            match steps.last() {
                None => steps.push((x, y)),
                // Changes of less than a tenth of a pixel are omitted.
                Some(&(_, before)) if (self.y.share(before) - self.y.share(y)).abs() * HEIGHT < 0.1 => {}
                Some(&(_, before)) => steps.extend([(x, before), (x, y)]),
            }
        }
        let end = steps.last().map(|&(_, y)| (self.x.high, y));
        steps.extend(end);
        steps
    }
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + self.chart.x.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.chart.y.share(value) * (self.bottom - self.top)
    }

    fn draw(&self, scene: &mut Scene, series: &Series) {
        let place = |(x, y): (f64, f64)| (self.x(x), self.y(y));
        let points: Vec<Point> = self.chart.steps(series).into_iter().map(place).collect();
        if points.is_empty() {
            return;
        }
        scene.curve(&points, &format!("fill=\"none\" stroke-linejoin=\"round\" {}", stroke(series)));
        if series.dots {
            for &point in &series.points {
                // A stroke of twice the radius fills the circle.
                scene.dot(place(point), 2.0, &format!("{} stroke-width=\"4\"", stroke_of(series.colour)));
            }
        }
    }
}

fn stroke(series: &Series) -> String {
    let dashes = if series.dashed { DASHES[2] } else { DASHES[series.colour / (BLACK + 1) % DASHES.len()] };
    let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
    format!("{} stroke-width=\"2\"{dashes}", stroke_of(series.colour))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::axis::Unit;

    fn axis(low: f64, high: f64, logarithmic: bool) -> Axis {
        Axis { label: "t", unit: Unit::Number, low, high, logarithmic }
    }

    fn line(name: &str, colour: usize, dashed: bool, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_owned(), colour, dashed, dots: false, points }
    }

    fn chart(series: Vec<Series>) -> Chart {
        Chart {
            title: "a & b".to_owned(),
            caption: String::new(),
            x: axis(1.0, 100.0, true),
            y: axis(0.0, 1.0, false),
            series,
        }
    }

    #[test]
    fn lines_are_steps_to_the_right_end() {
        let chart = chart(vec![line("x", 0, false, vec![(1.0, 0.0), (10.0, 0.5), (1e9, 1.0)])]);
        // The line starts in the lower left corner, is halfway up in the middle, and reaches the top at the
        // right end.
        let steps = [(1.0, 0.0), (10.0, 0.0), (10.0, 0.5), (1e9, 0.5), (1e9, 1.0), (100.0, 1.0)];
        assert_eq!(chart.steps(&chart.series[0]), steps);
        let frame = Frame { chart: &chart, left: 0.0, right: 200.0, top: 0.0, bottom: 100.0 };
        let places = steps.map(|(x, y)| (frame.x(x), frame.y(y)));
        let expected = [(0, 100), (100, 100), (100, 50), (200, 50), (200, 0), (200, 0)];
        assert_eq!(places.map(|(x, y)| (x.round() as i32, y.round() as i32)), expected);
    }

    #[test]
    fn lines_have_colours_and_names_are_escaped() {
        let text = chart(vec![
            line("x<y>", 0, false, vec![(1.0, 0.0), (10.0, 0.5), (1e9, 1.0)]),
            line("", 0, true, vec![(0.0, 2.0)]),
            line("none", 9, false, vec![]),
        ])
        .svg();
        assert!(text.contains("a &amp; b") && text.contains("x&lt;y&gt;"), "{text}");
        assert!(text.contains("#0072b2") && text.contains("#d55e00") && text.trim_end().ends_with("</svg>"));
        assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains(" id="));
        // This chart has no series, and its axes have length zero.
        let nothing = Chart { x: axis(1.0, 1.0, true), y: axis(0.0, 0.0, false), ..chart(Vec::new()) };
        assert!(!nothing.svg().contains("NaN"));
    }

    #[test]
    fn long_legends_enlarge_the_chart() {
        let height = |count: usize| -> f64 {
            let many =
                (0..count).map(|at| line(&format!("{at} {}", "x".repeat(60)), at, false, vec![(2.0, 0.5)]));
            let text = chart(many.collect()).svg();
            text.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        assert!((height(40) - height(1) - 39.0 * 22.0).abs() < 1.0);
    }
}
