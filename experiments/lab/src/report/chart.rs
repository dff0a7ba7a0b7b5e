//! Line charts with axes, step functions and a legend.
//!
//! ```text
//!  1 ┼──────────┌────────  a series is a step function: a value holds until the next point;
//!    │     ┌────┘  ┄┄┄┄┄┄  a dashed line belongs to the solid line of the same colour
//!  0 ┼─────┴─────────────
//!    1     10    100
//! ```

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use std::io::{self, Write};

const WIDTH: i32 = 940;
/// Minimum height. A long legend enlarges it.
const HEIGHT: i32 = 520;
const LEFT: i32 = 96;
const TOP: i32 = 66;
const BOTTOM: i32 = 52;
/// Height of a line of text.
const LINE: i32 = 20;
/// Maximum number of characters in a line of the caption, and in an entry of the legend.
const CAPTION: usize = 128;
const ENTRY: usize = 44;
/// Eight colours that colour-blind readers can distinguish (Okabe and Ito 2008). Yellow is darkened.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xb0, 0x9b, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x00, 0x00),
];
/// The index of black in the palette.
pub const BLACK: usize = 7;
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0x55, 0x55, 0x55);
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
/// Dash patterns, which distinguish lines when the colours are exhausted. Each consists of the lengths of a
/// dash and of the gap after it, in pixels.
const DASHES: [Option<(i32, i32)>; 5] = [None, Some((9, 4)), Some((3, 3)), Some((18, 5)), Some((6, 8))];

/// An axis from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: &'static str,
    /// The lower end. It must be above 0 on a logarithmic axis.
    pub low: f64,
    /// The upper end, which must be above `low`.
    pub high: f64,
    /// Whether the scale is logarithmic.
    pub logarithmic: bool,
}

/// One line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the line in the legend. A line with an empty name has no entry.
    pub name: String,
    /// The index of the colour. Lines of the same colour belong together.
    pub colour: usize,
    /// Whether the line is dashed, as the second line of a colour is.
    pub dashed: bool,
    /// Points in ascending order of x. Each value holds until the next point.
    pub points: Vec<(f64, f64)>,
}

/// A line chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title, in the first line.
    pub title: String,
    /// The second line, which explains how to read the chart.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

impl Axis {
    /// Returns the position of a value on the axis, from 0 to 1. Values outside the range are clamped.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the values with a tick in ascending order, or no values if the range is invalid.
    fn ticks(&self) -> Vec<f64> {
        if !(self.low.is_finite() && self.high.is_finite()) || (self.logarithmic && self.low <= 0.0) {
            return Vec::new();
        }
        if self.logarithmic {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let narrow = self.high / self.low < 1000.0;
            let within: &[f64] = if narrow { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let all = decades.flat_map(|exponent| within.iter().map(move |m| m * 10f64.powi(exponent)));
            let slack = 1.0 + 1e-9;
            return all.filter(|&tick| tick * slack >= self.low && tick <= self.high * slack).collect();
        }
        let least = ((self.high - self.low) / 6.0).max(f64::MIN_POSITIVE);
        let power = 10f64.powf(least.log10().floor());
        let pace = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&pace| pace >= least * 0.999);
        let pace = pace.unwrap_or(10.0 * power);
        let (first, last) = ((self.low / pace).ceil() as i64, (self.high / pace + 1e-9).floor() as i64);
        // The limit of 20 steps guards against rounding errors.
        (first..=last.min(first.saturating_add(20))).map(|nth| nth as f64 * pace).collect()
    }
}

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Returns a font with a size in pixels. The library expects the line height instead of the size.
fn font(pixels: f64, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", pixels * 1.24).into_font().color(&colour)
}

/// `Axis` is the coordinate type of both linear and logarithmic axes.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.share(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl Chart {
    /// Writes the chart as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output` and from the drawing library.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(self.svg()?.as_bytes())
    }

    /// Returns the chart as SVG. O(points).
    ///
    /// # Errors
    /// Returns the errors from the drawing library.
    pub fn svg(&self) -> io::Result<String> {
        let mut text = String::new();
        self.draw(&mut text).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(text)
    }

    fn draw(&self, text: &mut String) -> Drawn {
        let named: Vec<&Series> = self.series.iter().filter(|series| !series.name.is_empty()).collect();
        let caption = wrapped(&self.caption, CAPTION);
        let top = TOP + LINE * (caption.len() as i32 - 1).max(0);
        let height = HEIGHT.max(top + LINE * named.len() as i32 + 24);
        let longest = named.iter().map(|series| shortened(&series.name).chars().count()).max().unwrap_or(0);
        let right = if named.is_empty() { 24 } else { 64 + (longest as f64 * 7.1) as i32 };
        let root = SVGBackend::with_string(text, (WIDTH as u32, height as u32)).into_drawing_area();
        root.fill(&WHITE)?;
        root.draw(&Text::new(self.title.clone(), (LEFT, 14), font(18.0, INK)))?;
        for (nth, line) in caption.into_iter().enumerate() {
            root.draw(&Text::new(line, (LEFT, 38 + LINE * nth as i32), font(13.0, FAINT)))?;
        }
        self.lines(&root.margin(top, 4, 10, right))?;
        for (nth, series) in named.into_iter().enumerate() {
            let at = (WIDTH - right + 14, top + 10 + LINE * nth as i32);
            entry(&root, series, at)?;
        }
        root.present()?;
        Ok(())
    }

    fn lines(&self, area: &Area<'_>) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT - 10)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(FAINT)
            .x_label_formatter(&|&tick| mark(tick))
            .y_label_formatter(&|&tick| mark(tick))
            .label_style(font(12.0, FAINT))
            .axis_desc_style(font(13.0, INK))
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .draw()?;
        for series in &self.series {
            let points = self.steps(series);
            let (colour, dash) = style(series);
            match dash {
                None => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
                Some((size, gap)) => {
                    chart.draw_series(DashedLineSeries::new(points, size, gap, colour.stroke_width(2)))?
                }
            };
        }
        Ok(())
    }

    /// Returns the points of a line as a step function that extends to the right edge.
    fn steps(&self, series: &Series) -> Vec<(f64, f64)> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for &(x, y) in &series.points {
            match steps.last() {
                None => steps.push((x, y)),
                // Changes of less than a tenth of a pixel are omitted.
                Some(&(_, before))
                    if (self.y.share(before) - self.y.share(y)).abs() * f64::from(HEIGHT) < 0.1 => {}
                Some(&(_, before)) => steps.extend([(x, before), (x, y)]),
            }
        }
        let end = steps.last().map(|&(_, y)| (self.x.high, y));
        steps.extend(end);
        steps
    }
}

/// Draws an entry of the legend, starting at a point.
fn entry(root: &Area<'_>, series: &Series, (x, y): (i32, i32)) -> Drawn {
    let (colour, dash) = style(series);
    let (size, gap) = dash.unwrap_or((26, 0));
    let mut from = 0;
    while from < 26 {
        let dash = vec![(x + from, y), (x + (from + size).min(26), y)];
        root.draw(&PathElement::new(dash, colour.stroke_width(2)))?;
        from += size + gap;
    }
    Ok(root.draw(&Text::new(shortened(&series.name), (x + 33, y - 7), font(13.0, INK)))?)
}

fn style(series: &Series) -> (RGBColor, Option<(i32, i32)>) {
    let colour = COLOURS[series.colour % COLOURS.len()];
    let broken = if series.dashed { 2 } else { series.colour / COLOURS.len() % DASHES.len() };
    (colour, DASHES[broken])
}

/// Cuts a name to the width of the legend, but keeps a suffix in parentheses.
fn shortened(name: &str) -> String {
    let letters = name.chars().count();
    if letters <= ENTRY {
        return name.to_owned();
    }
    let tail = name.rfind(" (").map_or("", |at| &name[at..]);
    let kept = ENTRY.saturating_sub(tail.chars().count() + 1).max(8);
    format!("{}\u{2026}{tail}", name.chars().take(kept).collect::<String>())
}

/// Splits a text at blanks into lines of at most `most` characters. An empty text has no lines.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns a short label for a number on an axis.
fn mark(number: f64) -> String {
    let size = number.abs();
    if size >= 1000.0 && number.fract() == 0.0 && size < 9e15 {
        super::scene::thousands(number as u64)
    } else if size != 0.0 && size < 0.001 {
        format!("{number:e}")
    } else {
        // Ticks are round numbers, so digits beyond the sixth decimal are rounding noise.
        let text = format!("{number:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, logarithmic: bool) -> Axis {
        Axis { label: "t", low, high, logarithmic }
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(
            axis(0.0, 1.0, false).ticks().iter().map(|&t| mark(t)).collect::<Vec<_>>().join(" "),
            "0 0.2 0.4 0.6 0.8 1"
        );
        assert_eq!(axis(0.001, 10.0, true).ticks().len(), 5);
        assert_eq!(axis(1.0, 60.0, true).ticks().len(), 6);
        assert!(axis(5.0, 5.0, false).ticks().len() <= 21);
        let large = axis(0.0, 1_048_576.0, false).ticks();
        assert_eq!(mark(large[1]), "200\u{2009}000");
    }

    fn line(name: &str, colour: usize, dashed: bool, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_owned(), colour, dashed, points }
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
        let places = steps.map(|(x, y)| (chart.x.map(&x, (0, 200)), chart.y.map(&y, (100, 0))));
        assert_eq!(places, [(0, 100), (100, 100), (100, 50), (200, 50), (200, 0), (200, 0)]);
    }

    #[test]
    fn lines_have_colours_and_names_are_escaped() {
        let text = chart(vec![
            line("x<y>", 0, false, vec![(1.0, 0.0), (10.0, 0.5), (1e9, 1.0)]),
            line("", 0, true, vec![(0.0, 2.0)]),
            line("none", 9, false, vec![]),
        ])
        .svg()
        .unwrap();
        assert!(text.contains("a &amp; b") && text.contains("x&lt;y&gt;"), "{text}");
        assert!(text.contains("#0072B2") && text.contains("#D55E00") && text.trim_end().ends_with("</svg>"));
        assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains(" id="));
        // This chart has no series, and its axes have length zero.
        let nothing = Chart { x: axis(1.0, 1.0, true), y: axis(0.0, 0.0, false), ..chart(Vec::new()) };
        assert!(!nothing.svg().unwrap().contains("NaN"));
    }

    #[test]
    fn long_legends_enlarge_the_chart() {
        let many = (0..40).map(|at| line(&format!("{at} {}", "x".repeat(60)), at, false, vec![(2.0, 0.5)]));
        let text = chart(many.collect()).svg().unwrap();
        assert!(text.starts_with("<svg width=\"940\" height=\"890\""), "{}", &text[..80]);
        assert_eq!(shortened(&format!("{} (3 of 4)", "y".repeat(99))).chars().count(), ENTRY);
        assert_eq!(wrapped("a bc  d", 4), ["a bc", "d"]);
    }
}
