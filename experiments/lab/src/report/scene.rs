//! SVG pictures, built element by element. All text is escaped.
//!
//! Every picture is 640 pixels wide, so that its text is also legible on a phone. On a dark page, elements
//! with a class change their colours. Other coloured areas keep their colours, and the text on them is black.

use plimsoll_support::printable::is_hidden;
use std::fmt::Write as _;

/// Width of every picture, in pixels.
pub const WIDTH: f64 = 640.0;
/// Margin on the left and the right of every picture, in pixels.
pub const MARGIN: f64 = 16.0;
/// Font size of normal text, in pixels.
const TEXT: f64 = 15.0;
/// Font size of the text beside axes and on areas, in pixels.
pub const SMALL: f64 = 13.0;
/// Height of a line of text.
const LINE: f64 = 20.0;

/// Styles that change on a dark page: secondary text, grid lines, and black lines.
pub const SOFT: &str = "class=\"soft\" fill=\"#555\"";
pub const GRID: &str = "class=\"grid\" stroke=\"#ddd\"";
pub const RULE: &str = "class=\"rule\" stroke=\"#222\"";
/// The style of text that lines may cross: a halo in the colour of the page.
pub const HALO: &str =
    "class=\"halo\" stroke=\"#fff\" stroke-width=\"3\" stroke-opacity=\"0.8\" paint-order=\"stroke\"";

/// The colours of text, page, secondary text, grid, rules, lanes, waiting times and halos on a dark page.
const DARK: &str = "@media (prefers-color-scheme:dark){svg{fill:#e4e4e4}.page{fill:#17191e}.soft{fill:#b0b0b0}\
    .grid{stroke:#3a3d44}.rule{stroke:#e4e4e4}.lane{fill:#2a2d33}.wait{fill:#5c3b38}.halo{stroke:#17191e}}";

/// The style of hatching.
pub const HATCH: &str = "fill=\"none\" stroke=\"#333\" stroke-opacity=\"0.6\" pointer-events=\"none\"";

/// A point, or a width and a height, in pixels.
pub type Point = (f64, f64);

/// The elements of a picture in drawing order. A look is a string of SVG attributes such as `fill="#ddd"`.
#[derive(Debug, Default)]
pub struct Scene {
    text: String,
}

impl Scene {
    /// Draws the title and the caption in as many lines as they need. Returns the y position below them.
    pub fn heads(&mut self, title: &str, caption: &str) -> f64 {
        let mut y = 8.0;
        // Bold letters are a tenth wider.
        for line in wrapped(title, 18.0 * 1.1) {
            y += 23.0;
            self.text((MARGIN, y), "font-size=\"18\" font-weight=\"600\"", &line);
        }
        for line in wrapped(caption, TEXT) {
            y += LINE;
            self.text((MARGIN, y), SOFT, &line);
        }
        y + 8.0
    }

    /// Draws a legend below `top`, in as many rows as it needs, and returns the y position below it. An entry
    /// has a style and a name. A style with a stroke and no fill is drawn as a line, and [`HATCH`] as a
    /// hatched swatch. An entry with an empty style shows only its name.
    pub fn legend(&mut self, entries: &[(String, String)], top: f64) -> f64 {
        let (mut x, mut y) = (MARGIN, top + 17.0);
        for (look, name) in entries {
            let indent = if look.is_empty() { 0.0 } else { 33.0 };
            let name = fitted(name, TEXT, WIDTH - 2.0 * MARGIN - indent).unwrap_or_default();
            let width = indent + text_width(&name, TEXT);
            if x > MARGIN && x + width > WIDTH - MARGIN {
                (x, y) = (MARGIN, y + 22.0);
            }
            self.sample((x, y), look);
            self.text((x + indent, y), "", &name);
            x += width + 24.0;
        }
        if entries.is_empty() { top } else { y + 8.0 }
    }

    /// Draws the line or the swatch of an entry.
    fn sample(&mut self, (x, y): Point, look: &str) {
        let (corner, size) = ((x, y - 11.0), (26.0, 13.0));
        if look == HATCH {
            self.rect(corner, size, "fill=\"#fff\" stroke=\"#333\" stroke-width=\"0.5\"", "");
            self.hatch(corner, size);
        } else if look.contains("fill=") {
            self.rect(corner, size, look, "");
        } else if !look.is_empty() {
            self.line((x, y - 5.0), (x + 26.0, y - 5.0), look);
        }
    }

    /// Hatches a rectangle.
    pub fn hatch(&mut self, (x, y): Point, (width, height): Point) {
        // Lines run from the upper left to the lower right, 8 pixels apart, or further apart in a huge
        // rectangle.
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

    /// Draws text that starts at a point, unless `look` sets another `text-anchor`. An empty string is not
    /// drawn.
    pub fn text(&mut self, (x, y): Point, look: &str, text: &str) {
        if !text.is_empty() {
            self.element("text", &[("x", x), ("y", y)], look, &escape(text));
        }
    }

    /// Draws text that runs upwards.
    pub fn upright(&mut self, (x, y): Point, look: &str, text: &str) {
        let turned = format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\"");
        self.element("text", &[], format!("{turned} {look}").trim_end(), &escape(text));
    }

    /// Draws a closed polygon.
    pub fn outline(&mut self, points: &[Point], look: &str) {
        self.through("polygon", points, look);
    }

    /// Draws a line through points.
    pub fn curve(&mut self, points: &[Point], look: &str) {
        self.through("polyline", points, look);
    }

    fn through(&mut self, name: &str, points: &[Point], look: &str) {
        let place = |(x, y): &Point| format!("{x:.1},{y:.1}");
        let points: Vec<String> = thinned(points).iter().map(place).collect();
        self.element(name, &[], &format!("points=\"{}\" {look}", points.join(" ")), "");
    }

    /// Draws a filled circle.
    pub fn dot(&mut self, (x, y): Point, radius: f64, look: &str) {
        self.element("circle", &[("cx", x), ("cy", y), ("r", radius)], look, "");
    }

    /// Opens a group of elements with a common look, with a tooltip unless `title` is empty.
    pub fn open(&mut self, look: &str, title: &str) {
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        let _ = writeln!(self.text, "<g {look}>{title}");
    }

    /// Closes the group that was opened last.
    pub fn close(&mut self) {
        self.text.push_str("</g>\n");
    }

    /// Returns the finished picture with the given height.
    pub fn finish(self, height: f64) -> String {
        let height = height.ceil();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"{TEXT}\" fill=\"#222\">\n\
             <style>{DARK}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.text
        )
    }
}

/// Returns the width of text in pixels for a wide sans-serif font. Most fonts are narrower.
pub fn text_width(text: &str, size: f64) -> f64 {
    let em = |letter| match letter {
        '\u{2009}' => 0.2,
        ' ' | 'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | '!' | '\'' | '(' | ')' | ',' | '-' | '.' | '/'
        | ':' | ';' | '[' | ']' | '|' => 0.41,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 1.0,
        'A'..='Z' | '#' | '&' | '+' | '<' | '=' | '>' | '~' | '\u{a0}'..='\u{24f}' => 0.8,
        letter if letter.is_ascii() => 0.64,
        _ => 1.05,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Shortens a name to at most `most` pixels. The end is kept, because long names differ most at their ends.
/// Returns `None` if fewer than three characters would remain.
pub fn fitted(name: &str, size: f64, most: f64) -> Option<String> {
    if text_width(name, size) <= most {
        return (!name.is_empty()).then(|| name.to_owned());
    }
    let mut width = text_width("\u{2026}", size) + text_width(name, size);
    for (at, letter) in name.char_indices() {
        if width <= most {
            return (name[at..].chars().count() >= 3).then(|| format!("\u{2026}{}", &name[at..]));
        }
        width -= text_width(letter.encode_utf8(&mut [0; 4]), size);
    }
    None
}

/// Splits text at spaces into lines that fit into the width of a picture. If a word is wider than a line,
/// only its end is kept.
fn wrapped(text: &str, size: f64) -> Vec<String> {
    let most = WIDTH - 2.0 * MARGIN;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(" ", size) + text_width(word, size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(fitted(word, size, most)),
        }
    }
    lines
}

/// Keeps at most four points per half pixel of width: the first, the lowest, the highest and the last.
fn thinned(points: &[Point]) -> Vec<Point> {
    let column = |point: &Point| (point.0 * 2.0).round() as i64;
    let mut kept = Vec::new();
    for same in points.chunk_by(|one, other| column(one) == column(other)) {
        let by_height = |one: &&Point, other: &&Point| one.1.total_cmp(&other.1);
        match same {
            [first, middle @ .., last] if middle.len() > 2 => {
                kept.push(*first);
                kept.extend(middle.iter().min_by(by_height));
                kept.extend(middle.iter().max_by(by_height));
                kept.push(*last);
            }
            few => kept.extend(few),
        }
    }
    kept
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

/// Escapes text for XML. Control characters, which XML does not allow, and other
/// [hidden characters](is_hidden) become question marks.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            c if is_hidden(c) => escaped.push('?'),
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
        let mut scene = Scene::default();
        scene.open("fill=\"red\"", "a & b");
        scene.rect((1.0, 2.346), (0.05, 3.0), "", "<t>");
        scene.line((-0.001, 0.0), (1.5, 0.0), "stroke=\"#333\"");
        scene.close();
        scene.upright((1.0, 2.0), "", "u\u{1}");
        let text = scene.finish(5.5);
        assert!(text.contains("prefers-color-scheme"));
        assert!(text.contains("viewBox=\"0 0 640 6\"") && text.ends_with("</svg>\n"));
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
        assert_eq!(fitted("conv1", 10.0, 33.0).as_deref(), Some("conv1"));
        assert_eq!(fitted("block/one/conv1", 10.0, 47.0).as_deref(), Some("\u{2026}/conv1"));
        assert_eq!((fitted("conv1", 10.0, 22.0), fitted("", 10.0, 99.0)), (None, None));
        assert_eq!(thousands(1_048_576), "1\u{2009}048\u{2009}576");
    }

    #[test]
    fn captions_are_wrapped() {
        let lines = wrapped(&format!("a {} b", "word ".repeat(40)), 15.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| text_width(line, 15.0) <= 608.0), "{lines:?}");
        assert!(wrapped(&"x".repeat(500), 15.0)[0].starts_with('\u{2026}') && wrapped(" ", 15.0).is_empty());
    }

    #[test]
    fn dense_lines_are_thinned() {
        let zigzag = (0..100_000u32).map(|at| (f64::from(at) / 1000.0, f64::from(at % 7)));
        let kept = thinned(&zigzag.collect::<Vec<_>>());
        assert!(kept.len() <= 4 * 201 && kept.contains(&(99.999, 4.0)), "{}", kept.len());
    }
}
