//! SVG pictures, built element by element. All text is escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Colours of page, text, grid and rules on a dark page.
const DARK: &str = "@media (prefers-color-scheme:dark){svg{fill:#e4e4e4}.page{fill:#17191e}.soft{fill:#b0b0b0}\
    .grid{stroke:#3a3d44}.rule{stroke:#e4e4e4}.lane{fill:#2a2d33}}";

/// The style of hatching.
pub const HATCH: &str = "fill=\"none\" stroke=\"#333\" stroke-opacity=\"0.6\" pointer-events=\"none\"";

/// A point, or a width and a height, in pixels.
pub type Point = (f64, f64);

/// The elements of a picture in drawing order. A look is a string of SVG attributes such as `fill="#ddd"`.
#[derive(Debug)]
pub struct Scene {
    text: String,
}

impl Scene {
    /// Creates a white page. The width and the height are in pixels.
    pub fn new((width, height): Point) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"14\" fill=\"#222\">\n\
             <style>{DARK}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        Self { text }
    }

    /// Draws the title and the caption, starting at `left`.
    pub fn heads(&mut self, left: f64, title: &str, caption: &str) {
        self.text((left, 30.0), "font-size=\"18\" font-weight=\"600\"", title);
        self.text((left, 52.0), "class=\"soft\" fill=\"#555\"", caption);
    }

    /// Hatches a rectangle.
    pub fn hatch(&mut self, (x, y): Point, (width, height): Point) {
        // Lines from the upper left to the lower right, every 8 pixels; fewer in a huge rectangle.
        let pace = f64::max(8.0, (width + height) / 200.0);
        let mut path = String::new();
        let mut shift = pace / 2.0 - height;
        while shift < width {
            let (from, to) =
                ((shift.max(0.0), (-shift).max(0.0)), (width.min(shift + height), height.min(width - shift)));
            let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", x + from.0, y + from.1, x + to.0, y + to.1);
            shift += pace;
        }
        if !path.is_empty() {
            self.element("path", &[], &format!("d=\"{path}\" {HATCH}"), "");
        }
    }

    /// Draws a legend between two x positions, in as many rows as it needs. An entry has a style and a name.
    /// A style with a stroke and no fill is drawn as a line, and [`HATCH`] as a hatched swatch. An empty
    /// style draws nothing.
    pub fn legend(&mut self, entries: &[(String, String)], ends: (f64, f64), top: f64) {
        for ((look, name), (row, x)) in entries.iter().zip(places_of(entries, ends)) {
            let y = top + 22.0 * row as f64;
            if look.is_empty() {
                self.text((x, y), "", name);
            } else if look == HATCH {
                self.swatch((x, y), "fill=\"#fff\" stroke=\"#333\" stroke-width=\"0.5\"", name);
                self.hatch((x, y - 11.0), (26.0, 13.0));
            } else if look.contains("fill=") {
                self.swatch((x, y), look, name);
            } else {
                self.dash((x, y), look, name);
            }
        }
    }

    /// The number of rows of a legend.
    pub fn rows_of(entries: &[(String, String)], ends: (f64, f64)) -> usize {
        places_of(entries, ends).last().map_or(0, |(row, _)| row + 1)
    }

    /// Writes an element with a name, numeric attributes, a look and content.
    fn element(&mut self, name: &str, numbers: &[(&str, f64)], look: &str, inner: &str) {
        let _ = write!(self.text, "<{name}");
        for (attribute, number) in numbers {
            // Two decimals give a precision of a hundredth of a pixel.
            let _ = write!(self.text, " {attribute}=\"{}\"", (number * 100.0).round() / 100.0 + 0.0);
        }
        let space = if look.is_empty() { "" } else { " " };
        let _ = match inner {
            "" => writeln!(self.text, "{space}{look}/>"),
            inner => writeln!(self.text, "{space}{look}>{inner}</{name}>"),
        };
    }

    /// Draws a rectangle, with a tooltip unless `title` is empty.
    pub fn rect(&mut self, (x, y): Point, (width, height): Point, look: &str, title: &str) {
        let inner =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        self.element("rect", &[("x", x), ("y", y), ("width", width), ("height", height)], look, &inner);
    }

    /// Draws a line.
    pub fn line(&mut self, (x1, y1): Point, (x2, y2): Point, look: &str) {
        self.element("line", &[("x1", x1), ("x2", x2), ("y1", y1), ("y2", y2)], look, "");
    }

    /// Draws a text that starts at a point, unless `look` sets another `text-anchor`. Draws nothing for an
    /// empty text.
    pub fn text(&mut self, (x, y): Point, look: &str, text: &str) {
        if !text.is_empty() {
            self.element("text", &[("x", x), ("y", y)], look, &escape(text));
        }
    }

    /// Draws a text that runs upwards.
    pub fn upright(&mut self, (x, y): Point, look: &str, text: &str) {
        let turned = format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\"");
        self.element("text", &[], format!("{turned} {look}").trim_end(), &escape(text));
    }

    /// Draws a closed polygon.
    pub fn outline(&mut self, points: &[Point], look: &str) {
        let place = |(x, y): &Point| format!("{x:.2},{y:.2}");
        let points: Vec<String> = points.iter().map(place).collect();
        self.element("polygon", &[], &format!("points=\"{}\" {look}", points.join(" ")), "");
    }

    /// Draws a legend entry: a swatch and its name. Returns the x position of the next entry.
    pub fn swatch(&mut self, (x, y): Point, look: &str, name: &str) -> f64 {
        self.rect((x, y - 11.0), (26.0, 13.0), look, "");
        self.named((x, y), name)
    }

    /// Draws a legend entry with a line instead of a swatch. Returns the x position of the next entry.
    pub fn dash(&mut self, (x, y): Point, look: &str, name: &str) -> f64 {
        self.line((x, y - 4.0), (x + 26.0, y - 4.0), look);
        self.named((x, y), name)
    }

    fn named(&mut self, (x, y): Point, name: &str) -> f64 {
        self.text((x + 34.0, y), "", name);
        x + entry_width(name)
    }

    /// Opens a group of elements with a common look, with a tooltip unless `title` is empty.
    pub fn open(&mut self, look: &str, title: &str) {
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        let _ = writeln!(self.text, "<g {look}>{title}");
    }

    /// Closes the group opened last.
    pub fn close(&mut self) {
        self.text.push_str("</g>\n");
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(mut self, output: &mut dyn Write) -> io::Result<()> {
        self.text.push_str("</svg>\n");
        output.write_all(self.text.as_bytes())
    }
}

/// Returns the width of a legend entry in pixels, including the distance to the next entry.
pub fn entry_width(name: &str) -> f64 {
    58.0 + 7.4 * name.chars().count() as f64
}

/// The row and the x position of every entry of a legend.
fn places_of(entries: &[(String, String)], (left, right): (f64, f64)) -> Vec<(usize, f64)> {
    let (mut row, mut x) = (0, left);
    let place = |(_, name): &(String, String)| {
        let width = entry_width(name);
        if x > left && x + width - 20.0 > right {
            (row, x) = (row + 1, left);
        }
        x += width;
        (row, x - width)
    };
    entries.iter().map(place).collect()
}

/// Shortens a name to `most` characters. It keeps the end, because long names differ most there. Returns
/// `None` if too little would remain.
pub fn shortened(name: &str, most: usize) -> Option<String> {
    const LEAST: usize = 4;
    let letters = name.chars().count();
    if letters == 0 || most < letters.min(LEAST) {
        return None;
    }
    if letters <= most {
        return Some(name.to_owned());
    }
    Some(format!("\u{2026}{}", name.chars().skip(letters + 1 - most).collect::<String>()))
}

/// Returns about `most` round numbers between two ends.
pub fn ticks(from: u64, to: u64, most: u64) -> Vec<u64> {
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

/// Round sizes up to `top` with their labels in binary units, about `most` of them.
pub fn byte_ticks(top: u64, most: u64) -> Vec<(u64, String)> {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = (top / most).max(1);
    let unit = (0..UNITS.len()).rev().find(|&at| step >= 1 << (10 * at)).unwrap_or(0);
    // Below one unit per tick, the unit would need decimals.
    let bytes = 1u64 << (10 * unit);
    let label = |tick: u64| {
        // The next unit where all labels would be multiples of it.
        if tick == 0 { "0".to_owned() } else { format!("{} {}", tick / bytes, UNITS[unit]) }
    };
    let pace = (step.div_ceil(bytes)).next_power_of_two().saturating_mul(bytes);
    let all = std::iter::successors(Some(0u64), |tick| tick.checked_add(pace));
    all.take_while(|&tick| tick <= top).map(|tick| (tick, label(tick))).collect()
}

/// Formats a number with thin spaces between groups of three digits.
pub fn thousands(number: u64) -> String {
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

/// Escapes text for XML. Control characters, which XML does not allow, become question marks.
pub fn escape(text: &str) -> String {
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

    #[test]
    fn elements_are_written_with_their_attributes() {
        let mut scene = Scene::new((10.0, 5.5));
        scene.open("fill=\"red\"", "a & b");
        scene.rect((1.0, 2.346), (0.05, 3.0), "", "<t>");
        scene.line((-0.001, 0.0), (1.5, 0.0), "stroke=\"#333\"");
        scene.close();
        scene.upright((1.0, 2.0), "", "u\u{1}");
        let mut text = Vec::new();
        scene.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("prefers-color-scheme"));
        assert!(text.contains("viewBox=\"0 0 10 5.5\"") && text.ends_with("</svg>\n"));
        for part in [
            "<g fill=\"red\"><title>a &amp; b</title>\n",
            "<rect x=\"1\" y=\"2.35\" width=\"0.05\" height=\"3\"><title>&lt;t&gt;</title></rect>\n",
            "<line x1=\"0\" x2=\"1.5\" y1=\"0\" y2=\"0\" stroke=\"#333\"/>\n</g>\n",
            "<text transform=\"translate(1.0 2.0) rotate(-90)\">u?</text>\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn names_keep_their_end() {
        assert_eq!(shortened("conv1", 7).as_deref(), Some("conv1"));
        assert_eq!(shortened("block/one/conv1", 7).as_deref(), Some("\u{2026}/conv1"));
        assert_eq!((shortened("conv1", 3), shortened("", 9)), (None, None));
        assert_eq!(shortened("abc", 3).as_deref(), Some("abc"));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0, 12, 8), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(ticks(0, 1_048_576, 8), [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]);
        assert_eq!(ticks(95, 120, 12), [96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120]);
        assert!(ticks(u64::MAX - 3, u64::MAX, 12).len() <= 4);
        let labels = |top| byte_ticks(top, 8).into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(
            labels(12),
            ["0", "1 B", "2 B", "3 B", "4 B", "5 B", "6 B", "7 B", "8 B", "9 B", "10 B", "11 B", "12 B"]
        );
        assert_eq!(
            labels(1 << 20),
            ["0", "128 KiB", "256 KiB", "384 KiB", "512 KiB", "640 KiB", "768 KiB", "896 KiB", "1024 KiB"]
        );
        assert!(byte_ticks(u64::MAX, 8).len() < 12);
        assert_eq!(thousands(1_048_576), "1\u{2009}048\u{2009}576");
    }
}
