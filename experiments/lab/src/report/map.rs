//! Draws maps of layouts. Buffers are rectangles, steps run to the right, and addresses run upwards.
//!
//! ```text
//!       live bytes  ▂▄▆█▇▅▂    blue: live; red: free below the extent
//! bytes
//!  peak ┼┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄     a buffer is one rectangle per interval of its
//!       │ ┌───┐   ┌───┐        lifespan and per piece; gaps in its lifespan are
//!  load ┼┄│ b │┄┄┄│ b │┄       empty and may hold other buffers
//!       │ └─┬─┴───┴──┬┘
//!       │   │   a    │
//!     0 └───┴────────┴───  steps
//!       spilled buffers, if any
//! ```
//!
//! The tooltip of a rectangle lists its buffer's size, addresses and steps. A rectangle that is large enough
//! shows the name of its buffer, or the end of that name. Apart from sorting, drawing takes time and memory
//! linear in the number of rectangles. The map of 20,000 buffers is a file of a few megabytes.

use super::human;
use super::palette::group_colour;
use super::panel::{CAPACITY, FREE, Frame, LIVE, LOAD, MOMENT, PEAK, Panel};
pub use super::panel::{Groups, Map};
use super::scene::{HATCH, MARGIN, Scene, WIDTH, fitted, thousands};
use plimsoll_model::{Bytes, load};
use std::io::{self, Write};

/// Distance between two maps.
const GAP: f64 = 20.0;
/// Maximum height of a map that is drawn beside others, as a multiple of the height of the lowest map.
const MOST_HEIGHT: u64 = 3;
/// Maximum number of groups in the legend.
const MOST_GROUPS: usize = 12;

impl Map<'_> {
    /// Writes the map as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        write_maps(&[*self], output)
    }
}

/// Writes the maps of several layouts of one instance side by side. All maps have the same scales, and a
/// buffer has the same colour in all of them. If a layout is more than three times as high as the lowest
/// layout, its map is cut off at three times the height of the lowest.
///
/// # Errors
/// Returns the errors from `output`.
pub fn write_maps(maps: &[Map<'_>], output: &mut dyn Write) -> io::Result<()> {
    let Some(first) = maps.first() else { return Ok(()) };
    let panels: Vec<Panel<'_>> = maps.iter().map(|map| Panel::of(*map)).collect();
    let columns = if maps.len() == 1 { 1 } else { 2 };
    let mut scene = Scene::default();
    let top = scene.heads(first.instance.name(), &caption(&panels));
    let top = scene.legend(&legend_of(&panels), top) + 4.0;
    let wide = (WIDTH - 2.0 * MARGIN + GAP) / columns as f64;
    // A layout far above the best one is cut off, since it would flatten the others.
    let tops = || panels.iter().map(Panel::top);
    let high = tops().max().unwrap_or(1).min(tops().min().unwrap_or(1).saturating_mul(MOST_HEIGHT));
    let tall = panels.iter().map(|panel| panel.height(columns)).fold(0.0, f64::max);
    for (at, panel) in panels.iter().enumerate() {
        let corner = (MARGIN + (at % columns) as f64 * wide, top + (at / columns) as f64 * tall);
        panel.draw(&mut scene, &Frame::new(first.instance, corner, wide - GAP, columns, high), columns);
    }
    output.write_all(scene.finish(top + tall * maps.len().div_ceil(columns) as f64).as_bytes())
}

/// Returns the line below the title.
fn caption(drawn: &[Panel<'_>]) -> String {
    let map = &drawn[0].map;
    let s = if map.instance.len() == 1 { "" } else { "s" };
    let buffers = format!("{} buffer{s}", thousands(map.instance.len() as u64));
    let bound = human::exact(map.bound.get());
    match drawn {
        [one] => {
            let (what, peak) = (map.value_name(), human::exact(one.peak()));
            format!("{buffers}, {} by {}: {what} {peak}, lower bound {bound}", map.problem, map.algorithm)
        }
        _ => format!("{buffers}, {} layouts, lower bound {bound}", drawn.len()),
    }
}

/// Returns the entries of the legend, each with its style and name.
fn legend_of(drawn: &[Panel<'_>]) -> Vec<(String, String)> {
    let map = &drawn[0].map;
    let what = map.value_name();
    let peak = match drawn {
        [one] if one.peak() > 0 => format!("{what} {}", human::bytes(one.peak())),
        _ => what.to_owned(),
    };
    let (bytes, step) = load(map.instance);
    // With exclusions the load may exceed the peak.
    let no_bound =
        if map.instance.exclusions().is_empty() { "" } else { " (not a bound, due to exclusions)" };
    let load = format!("load {} at step {step}{no_bound}", human::bytes(bytes.get()));
    let mut entries = vec![(PEAK.to_owned(), peak)];
    if drawn.iter().all(|one| one.lanes.is_empty()) {
        entries.push((LOAD.to_owned(), load));
    } else {
        entries.push((MOMENT.to_owned(), format!("{load}, before spilling")));
    }
    if let Some(capacity) = map.instance.capacity() {
        let far = if drawn.iter().all(|one| one.capacity().is_none()) { " (above the picture)" } else { "" };
        entries.push((CAPACITY.to_owned(), format!("capacity {}{far}", human::bytes(capacity.get()))));
    }
    let swatch = |fill: &str| format!("fill=\"{fill}\" stroke=\"#333\" stroke-width=\"0.5\"");
    entries.push((format!("fill=\"{LIVE}\""), "live bytes".to_owned()));
    if drawn.iter().any(|one| one.found.sections.iter().any(|section| section.free() > Bytes::ZERO)) {
        entries.push((format!("fill=\"{FREE}\""), "free below the highest buffer".to_owned()));
    }
    if map.has_fixed() {
        entries.push((HATCH.to_owned(), "fixed offset".to_owned()));
    }
    if let Some(groups) = &map.groups {
        if groups.of.contains(&None) {
            entries.push((swatch(&group_colour(None, 0)), "outside the groups".to_owned()));
        }
        let present: Vec<usize> =
            (0..groups.names.len()).filter(|group| groups.of.contains(&Some(*group))).collect();
        for &group in present.iter().take(MOST_GROUPS) {
            let name = fitted(&groups.names[group], 15.0, 200.0).unwrap_or_default();
            entries.push((swatch(&group_colour(Some(group), 1)), name));
        }
        if present.len() > MOST_GROUPS {
            entries.push((String::new(), format!("and {} more", present.len() - MOST_GROUPS)));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{
        Buffer, Instance, InstanceBuilder, InstanceProblem, Interval, Layout, Lifespan, Offsets, Problem,
    };

    fn draw(instance: &Instance, layout: &Layout) -> String {
        let pieces = Offsets::pieces(instance, layout);
        let map = Map::new(instance, Offsets::NAME, "by <hand>", &pieces, Bytes::new(6));
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
            let mut text = Vec::new();
            let map =
                Map::new(&instance, problem, algorithm, &pieces, bound).grouped(Groups { names: &names, of });
            map.write(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let some = draw(&[Some(0), None, Some(39)]);
        assert!(some.contains("#77aadd") && some.contains("outside the groups"));
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
        // Background, two entries of the legend, two intervals of one buffer, one of the other.
        assert_eq!(svg.matches("<rect ").count(), 6, "{svg}");
        assert!(svg.contains("a &amp; &lt;b&gt;") && svg.contains("by &lt;hand&gt;"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn the_marked_step_has_the_largest_load() {
        // The highest buffer ends at step 2, but most bytes are live at step 6.
        let mut builder = InstanceBuilder::new("t");
        for (name, size, lower, upper) in [("a", 4, 0, 2), ("b", 3, 5, 8), ("c", 3, 6, 10)] {
            builder = builder.buffer(Buffer::new(name, size, Lifespan::single(lower, upper).unwrap()));
        }
        let instance = builder.build().unwrap();
        let svg = draw(&instance, &Layout::from_raw([5, 0, 3]));
        assert!(svg.contains(">peak 9 B<") && svg.contains(">load 6 B at step 6<"), "{svg}");
        let marks: Vec<&str> = svg.lines().filter(|line| line.contains("stroke-dasharray=\"3 3\"")).collect();
        let x = |line: &str| line.split("x1=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>();
        assert_eq!(marks.len(), 1, "{svg}");
        // Step 6 of 10 lies right of the middle, step 0 at the left edge.
        assert!(x(marks[0]).unwrap() > WIDTH / 2.0, "{svg}");
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
}
