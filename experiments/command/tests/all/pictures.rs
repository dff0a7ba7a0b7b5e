//! Tests that no two labels overlap and nothing lies outside the page, in pictures of every kind, for small
//! and huge inputs.

use crate::common::{Scratch, TINY};
use plimsoll_lab::report::axis::{Axis, Unit};
use plimsoll_lab::report::bars::{Bars, Panel};
use plimsoll_lab::report::chart::{Chart, Series};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

/// An area of the page: left, top, right, bottom.
type Area = [f64; 4];

/// The drawn parts of a picture.
#[derive(Default)]
struct Drawn {
    page: Area,
    /// The labels with their areas.
    texts: Vec<(String, Area)>,
    /// All other elements with their areas.
    shapes: Vec<(String, Area)>,
}

/// Returns the width that a letter has in most fonts, in units of the font size.
fn width_of(letter: char) -> f64 {
    match letter {
        '\u{2009}' => 0.2,
        ' ' | 'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | '(' | ')' | ',' | '-' | '.' | '/' | ':' | '['
        | ']' => 0.33,
        'm' | 'w' | 'M' | 'W' | '\u{2026}' => 0.9,
        letter if letter.is_ascii() => 0.6,
        _ => 0.95,
    }
}

impl Drawn {
    /// Reads an SVG picture of this project: elements in any order, groups, and labels with entities.
    fn read(svg: &str) -> Self {
        let mut drawn = Self::default();
        // The font size and the text anchor, which elements inherit from their group.
        let mut open: Vec<(f64, String)> = vec![(15.0, "start".to_owned())];
        let mut rest = svg;
        while let Some((_, tag)) = rest.split_once('<') {
            let (tag, after) = tag.split_once('>').unwrap();
            rest = after;
            let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            let attributes = attributes_of(attributes);
            let number = |name: &str| attributes.get(name).and_then(|text| text.parse::<f64>().ok());
            let (size, anchor) = open.last().unwrap().clone();
            let size = number("font-size").unwrap_or(size);
            let anchor = attributes.get("text-anchor").map_or(anchor, |&text| text.to_owned());
            match name {
                "svg" => drawn.page = [0.0, 0.0, number("width").unwrap(), number("height").unwrap()],
                "g" => open.push((size, anchor)),
                "/g" => drop(open.pop()),
                "text" => {
                    let text = after.split('<').next().unwrap();
                    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
                    let text = text.replace("&amp;", "&");
                    let width: f64 = text.chars().map(width_of).sum::<f64>() * size;
                    drawn.texts.push((text, text_area(&attributes, (width, size), &anchor)));
                }
                "rect" if attributes.get("class") == Some(&"page") => {}
                "rect" => {
                    let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| number(name).unwrap());
                    drawn.shapes.push((tag.to_owned(), [x, y, x + w, y + h]));
                }
                "line" => {
                    let [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map(|name| number(name).unwrap());
                    drawn.shapes.push((tag.to_owned(), [x1.min(x2), y1.min(y2), x1.max(x2), y1.max(y2)]));
                }
                "circle" => {
                    let [x, y] = ["cx", "cy"].map(|name| number(name).unwrap());
                    drawn.shapes.push((tag.to_owned(), [x, y, x, y]));
                }
                "polygon" | "polyline" => {
                    for point in attributes["points"].split_whitespace() {
                        let (x, y) = point.split_once(',').unwrap();
                        let [x, y] = [x, y].map(|text| text.parse::<f64>().unwrap());
                        drawn.shapes.push((format!("{name} {point}"), [x, y, x, y]));
                    }
                }
                _ => {}
            }
        }
        drawn
    }

    /// Describes labels that overlap, and everything that extends beyond the page: at most 20 faults in all.
    fn faults(&self) -> Vec<String> {
        let [_, _, right, bottom] = self.page;
        let outside =
            |area: &Area| area[0] < -0.5 || area[1] < -0.5 || area[2] > right + 0.5 || area[3] > bottom + 0.5;
        let leaves = self.texts.iter().chain(&self.shapes).filter(|(_, area)| outside(area));
        let mut faults: Vec<String> =
            leaves.map(|(what, area)| format!("outside: {what} at {area:?}")).collect();
        for (at, (text, one)) in self.texts.iter().enumerate() {
            for (other, two) in &self.texts[..at] {
                let apart = one[0] >= two[2] || two[0] >= one[2] || one[1] >= two[3] || two[1] >= one[3];
                if !apart {
                    faults.push(format!("'{text}' at {one:?} is on '{other}' at {two:?}"));
                }
            }
        }
        faults.truncate(20);
        faults
    }
}

fn attributes_of(text: &str) -> HashMap<&str, &str> {
    let mut attributes = HashMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').unwrap();
        attributes.insert(name.trim(), value);
        rest = after;
    }
    attributes
}

/// Returns the area of a label from its position, or from `translate(x y) rotate(-90)`.
fn text_area(attributes: &HashMap<&str, &str>, (width, size): (f64, f64), anchor: &str) -> Area {
    let before = match anchor {
        "middle" => width / 2.0,
        "end" => width,
        _ => 0.0,
    };
    let (above, below) = (size * 0.7, size * 0.15);
    if let Some(turned) = attributes.get("transform") {
        let place =
            turned.strip_prefix("translate(").and_then(|rest| rest.strip_suffix(") rotate(-90)")).unwrap();
        let (x, y) = place.split_once(' ').unwrap();
        let [x, y] = [x, y].map(|text| text.parse::<f64>().unwrap());
        return [x - above, y + before - width, x + below, y + before];
    }
    let [x, y] = ["x", "y"].map(|name| attributes[name].parse::<f64>().unwrap());
    [x - before, y - above, x - before + width, y + below]
}

#[track_caller]
fn legible(name: &str, svg: &str) {
    let drawn = Drawn::read(svg);
    let faults = drawn.faults();
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
    assert!(drawn.texts.len() > 3 && drawn.shapes.len() > 3, "{name} is empty");
    assert!(svg.contains("prefers-color-scheme:dark") && !svg.contains("NaN"), "{name}");
}

/// Runs a command that writes the picture `p.svg`, and checks the picture.
fn draws(scratch: &Scratch, line: &str) {
    let run = scratch.run(line);
    assert!(run.code == 0 || run.code == 1, "{line}: {}", run.stderr);
    legible(line, &scratch.read("p.svg"));
    std::fs::remove_file(scratch.path("p.svg")).unwrap();
}

/// Checks all pictures in a folder, and returns their number.
fn all_in(folder: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += all_in(&path);
        } else if path.extension().is_some_and(|extension| extension == "svg") {
            legible(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
            count += 1;
        }
    }
    count
}

#[test]
fn overlaps_and_overflows_are_found() {
    let svg = "<svg width=\"100\" height=\"50\"><g font-size=\"10\"><text x=\"10\" y=\"20\">abc</text>\
               <text x=\"20\" y=\"22\">abc</text><text x=\"60\" y=\"20\">abcdefgh</text></g>\
               <rect x=\"0\" y=\"40\" width=\"5\" height=\"11\"/></svg>";
    let faults = Drawn::read(svg).faults();
    assert_eq!(faults.len(), 3, "{faults:?}");
}

/// Returns an instance with long names in several scripts, fixed offsets, gaps and huge sizes.
fn odd_instance() -> String {
    let mut text = "id,lower,upper,size,gaps,offset\n".to_owned();
    for at in 0..60 {
        let name = format!("{}/block_{at}/WWW:活性{}", "scope/".repeat(at % 30), "x".repeat(at % 7));
        let offset = if at % 9 == 0 { (at as u64 * 1_000_000_007).to_string() } else { String::new() };
        let gaps = if at % 5 == 1 { format!("{}-{}", at * 3 + 2, at * 3 + 4) } else { String::new() };
        let _ = writeln!(text, "{name},{},{},{},{gaps},{offset}", at * 3, at * 3 + 9, 900_000_000 + at * 17);
    }
    text
}

#[test]
fn maps_are_legible() {
    let scratch = Scratch::with("tiny.csv", TINY);
    scratch.write("odd.csv", odd_instance());
    scratch.ok("generate minimalloc-like --buffers 150 --out typical.csv");
    scratch.ok("generate log-uniform --buffers 20000 --out huge.csv");
    for name in ["tiny.csv", "odd.csv", "typical.csv", "huge.csv"] {
        draws(&scratch, &format!("solve {name} --algorithm first-fit-size --plot p.svg -o l.csv"));
    }
    scratch.ok("solve huge.csv --algorithm first-fit-size --plot huge.svg");
    let huge = scratch.read("huge.svg");
    assert!(huge.len() < 6_000_000, "{}", huge.len());
    for name in ["tiny.csv", "typical.csv"] {
        let long = format!("{}.csv", "layout-".repeat(12));
        for (solver, layout) in [("first-fit-size", &*long), ("short-first", "b.csv"), ("naive", "c.csv")] {
            scratch.ok(format!("solve {name} --algorithm {solver} -o {layout}"));
        }
        draws(&scratch, &format!("compare {name} {long} b.csv c.csv --time-limit 1 --plot p.svg"));
        let objects = "--problem shared-objects --algorithm shared-greedy-by-size";
        draws(&scratch, &format!("solve {name} {objects} --plot p.svg"));
    }
    for (name, capacity) in [("tiny.csv", 4), ("typical.csv", 500_000), ("huge.csv", 100_000_000)] {
        draws(&scratch, &format!("spill {name} --capacity {capacity} --time-limit 1 --plot p.svg"));
    }
}

#[test]
fn pictures_of_graphs_are_legible() {
    let scratch = Scratch::new();
    let overlap = "--machine luna --capacity 64000000";
    for n in [5, 50, 5000] {
        scratch.ok(format!("generate weight-chain --param n={n} --out {n}.json"));
        let schedule = "--boundary outside --algorithm ping-pong-weighted --gantt p.svg";
        draws(&scratch, &format!("overlap {n}.json {overlap} {schedule}"));
        draws(&scratch, &format!("order {n}.json --algorithm greedy --plot p.svg"));
    }
    draws(&scratch, &format!("overlap 5.json {overlap} --front --plot p.svg"));
    for family in ["layered --param n=28", "control-mix --param operators=40"] {
        scratch.ok(format!("generate {family} --out g.json"));
        draws(&scratch, "plan g.json --time-limit 1 --plot p.svg");
    }
}

#[test]
fn pictures_of_records_are_legible() {
    let scratch = Scratch::with("tiny.csv", TINY);
    scratch.ok("generate minimalloc-like --buffers 60 --out more.csv");
    let line = "bench tiny.csv more.csv --algorithms exact,heuristics --problems offsets";
    scratch.ok(format!("{line} --trace --time-limit 0.2 --out record"));
    assert!(all_in(&scratch.path("record")) >= 5);
    scratch.ok("report record --out report");
    // Four charts of the group and two traces.
    assert_eq!(all_in(&scratch.path("report")), 6);
    for paper in ["patent", "fusion", "cann", "mini-infer"] {
        let run = scratch.run(format!("reproduce {paper} --time-limit 1 --out {paper}"));
        assert!(run.code <= 1, "{}", run.stderr);
        assert!(all_in(&scratch.path(paper)) >= 2);
    }
}

#[test]
fn charts_with_many_long_names_are_legible() {
    let long =
        |at: usize| format!("{}{at}", "a quite long name of an algorithm with options:".repeat(1 + at % 3));
    let axis = |unit, low, high, logarithmic| Axis { label: "quantity", unit, low, high, logarithmic };
    let axes = [
        axis(Unit::Bytes, 0.0, u64::MAX as f64, false),
        axis(Unit::Bytes, 1_048_000.0, 1_048_600.0, false),
        axis(Unit::Bytes, 1.0, 1e18, true),
        axis(Unit::Seconds, 1e-12, 1e9, true),
        axis(Unit::Seconds, 0.0, 1e9, false),
        axis(Unit::Percent, -1e6, 1e6, false),
        axis(Unit::Number, 1.0, 1.000_01, true),
        axis(Unit::Count, 9e15, 1e19, false),
        axis(Unit::Count, 0.0, 1.0, false),
    ];
    for x in &axes {
        for y in &axes {
            let series = (0..40).map(|at| Series {
                name: long(at),
                colour: at,
                dashed: at % 2 == 1,
                dots: at % 3 == 0,
                points: (0..9).map(|nth| (x.low + (x.high - x.low) * f64::from(nth) / 8.0, y.high)).collect(),
            });
            let series = series.collect();
            let chart = Chart { title: long(2), caption: long(5), x: x.clone(), y: y.clone(), series };
            legible(&format!("{x:?} {y:?}"), &chart.svg());
        }
    }
    for groups in [1, 4, 30] {
        let bar = |at: u64| Some(u64::MAX >> (at % 60));
        let panel = |nth: usize| Panel {
            name: long(nth),
            groups: (0..groups).map(|at| (long(at), (0..5).map(bar).collect())).collect(),
            mark: Some(u64::MAX / 3),
        };
        let bars = Bars {
            title: long(2),
            caption: long(8),
            series: (0..5).map(long).collect(),
            mark: "mark".to_owned(),
            unit: if groups == 4 { "bytes" } else { "things" }.to_owned(),
            panels: (0..7).map(panel).collect(),
        };
        let mut svg = Vec::new();
        bars.write(&mut svg).unwrap();
        legible("bars", &String::from_utf8(svg).unwrap());
    }
}
