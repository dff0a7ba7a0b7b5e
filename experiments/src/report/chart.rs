//! Line charts: axes, steps, a legend.
//!
//! ```text
//!  1 ┼──────────┌────────  series are steps: a value holds until the next point;
//!    │     ┌────┘  ┄┄┄┄┄┄  dashed ones stand beside the solid one of their colour
//!  0 ┼─────┴─────────────
//!    1     10    100
//! ```

use std::fmt::Write as _;
use std::io::{self, Write};

const WIDTH: f64 = 928.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 56.0;
/// Eight colours that stay apart for colour-blind readers (Okabe and Ito 2008), yellow darkened.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b09b00", "#56b4e9", "#e69f00", "#000000"];
/// Ways a line is broken once the colours are used up.
const DASHES: [&str; 3] = ["none", "9 4", "2 3"];

/// An axis from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: &'static str,
    /// Where it begins; above 0 on a logarithmic axis.
    pub low: f64,
    /// Where it ends, above `low`.
    pub high: f64,
    /// Powers of ten at equal distances.
    pub logarithmic: bool,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend; empty for none.
    pub name: String,
    /// Which colour; lines of one colour belong together.
    pub colour: usize,
    /// True for the second line of a colour.
    pub dashed: bool,
    /// Points by ascending x; each value holds until the next.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// First line.
    pub title: String,
    /// Second line: how to read it.
    pub caption: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

impl Axis {
    /// Where a value lies, 0 to 1; values outside are moved to the ends.
    fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Values with a mark, ascending; none where an axis has no such values.
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
        // A few steps at most, whatever the rounding.
        (first..=last.min(first.saturating_add(20))).map(|nth| nth as f64 * pace).collect()
    }
}

fn x_at(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)
}

fn y_at(axis: &Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)
}

impl Chart {
    /// Writes the picture.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        write!(
            output,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"28\" font-size=\"18\" font-weight=\"600\">{}</text>\n\
             <text x=\"{LEFT}\" y=\"50\" fill=\"#555\">{}</text>\n",
            super::svg::escape(&self.title),
            super::svg::escape(&self.caption),
        )?;
        self.axes(output)?;
        for series in &self.series {
            self.line(series, output)?;
        }
        self.legend(output)?;
        writeln!(output, "</svg>")
    }

    fn axes(&self, output: &mut dyn Write) -> io::Result<()> {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut marks = String::new();
        writeln!(output, "<g stroke=\"#ddd\">")?;
        for tick in self.x.ticks() {
            let x = x_at(&self.x, tick);
            writeln!(output, "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{TOP}\" y2=\"{bottom}\"/>")?;
            let (y, text) = (bottom + 18.0, mark(tick));
            let _ = writeln!(marks, "<text x=\"{x:.2}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>");
        }
        for tick in self.y.ticks() {
            let y = y_at(&self.y, tick);
            writeln!(output, "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.2}\" y2=\"{y:.2}\"/>")?;
            let (x, y, text) = (LEFT - 8.0, y + 4.0, mark(tick));
            let _ = writeln!(marks, "<text x=\"{x}\" y=\"{y:.2}\" text-anchor=\"end\">{text}</text>");
        }
        let (middle, low, half) = (f64::midpoint(LEFT, right), HEIGHT - 14.0, f64::midpoint(TOP, bottom));
        writeln!(
            output,
            "</g>\n<g fill=\"#555\" font-size=\"12\">\n{marks}\
             <text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(22 {half}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</g>",
            super::svg::escape(self.x.label),
            super::svg::escape(self.y.label),
        )
    }

    /// One line as steps, to the right end of the picture.
    fn line(&self, series: &Series, output: &mut dyn Write) -> io::Result<()> {
        let mut path = String::new();
        let mut last: Option<f64> = None;
        for &(x, y) in &series.points {
            let (x, y) = (x_at(&self.x, x), y_at(&self.y, y));
            match last {
                None => {
                    let _ = write!(path, "M{x:.2} {y:.2}");
                }
                Some(before) if (before - y).abs() < 0.005 => {}
                Some(_) => {
                    let _ = write!(path, "H{x:.2}V{y:.2}");
                }
            }
            last = Some(y);
        }
        if last.is_none() {
            return Ok(());
        }
        let (colour, dash) = style(series);
        writeln!(
            output,
            "<path d=\"{path}H{:.2}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\" \
             stroke-linejoin=\"round\" stroke-dasharray=\"{dash}\"><title>{}</title></path>",
            WIDTH - RIGHT,
            super::svg::escape(&series.name)
        )
    }

    fn legend(&self, output: &mut dyn Write) -> io::Result<()> {
        let x = WIDTH - RIGHT + 16.0;
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        for (nth, series) in named.enumerate() {
            let y = TOP + 12.0 + 20.0 * nth as f64;
            let (colour, dash) = style(series);
            writeln!(
                output,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2.2\" \
                 stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 26.0,
                x + 32.0,
                y + 4.0,
                super::svg::escape(&series.name),
            )?;
        }
        Ok(())
    }
}

fn style(series: &Series) -> (&'static str, &'static str) {
    let colour = COLOURS[series.colour % COLOURS.len()];
    let broken = if series.dashed { 2 } else { series.colour / COLOURS.len() % 2 };
    (colour, DASHES[broken])
}

/// A number on an axis, short.
fn mark(number: f64) -> String {
    let size = number.abs();
    if size >= 1000.0 && number.fract() == 0.0 && size < 9e15 {
        super::svg::thousands(number as u64)
    } else if size != 0.0 && size < 0.001 {
        format!("{number:e}")
    } else {
        // Ticks are round; whatever lies behind the sixth digit is noise of the arithmetic.
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

    #[test]
    fn lines_are_steps_and_names_are_escaped() {
        let line =
            |name: &str, colour, dashed, points| Series { name: name.to_owned(), colour, dashed, points };
        let chart = Chart {
            title: "a & b".to_owned(),
            caption: String::new(),
            x: axis(1.0, 100.0, true),
            y: axis(0.0, 1.0, false),
            series: vec![
                line("x<y>", 0, false, vec![(1.0, 0.0), (10.0, 0.5), (1e9, 1.0)]),
                line("", 0, true, vec![(0.0, 2.0)]),
                line("none", 9, false, vec![]),
            ],
        };
        let mut text = Vec::new();
        chart.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("a &amp; b") && text.contains("x&lt;y&gt;"));
        // From the lower left corner, at half way up by half, at the right end to the top.
        assert!(text.contains("<path d=\"M120.00 464.00H419.00V268.00H718.00V72.00H718.00\""), "{text}");
        assert_eq!(text.matches("<path ").count(), 2);
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
