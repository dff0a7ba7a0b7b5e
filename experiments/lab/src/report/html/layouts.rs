//! The layouts on the page. Each is a sentence with its figures, and data that the script of the page draws.
//!
//! The script is built from the same components as the page of `plimsoll view`, so both show the same map.
//! Without the script, a table lists the largest buffers at the step with the largest load.

use super::table;
use crate::report::human;
use crate::report::layouts::Drawn;
use crate::report::scene::{escape, thousands};
use crate::row::Row;
use plimsoll_model::{Buffer, Bytes, Interval, Step, load};
use serde::Serialize;

/// The style and the script that draw layouts. `make web` writes this file.
pub const MAP: &str = include_str!("map.html");
/// The start of the element in which the script draws a layout. Escaped text cannot contain it.
pub const PLACE: &str = "<div class=\"layout\">";

/// Number of buffers that the page lists without its script.
const LISTED: usize = 10;

/// The data of a layout. The script reads it; see `web/src/model/stored.ts`. One column per property is
/// shorter than one object per buffer.
#[derive(Serialize)]
struct Columns<'a> {
    instance: &'a str,
    algorithm: &'a str,
    bound: u64,
    capacity: Option<u64>,
    names: Vec<&'a str>,
    sizes: Vec<u64>,
    offsets: Vec<u64>,
    starts: Vec<u64>,
    lengths: Vec<u64>,
    /// Buffer, start and length of each interval but the first of a lifespan.
    more: Vec<(usize, u64, u64)>,
}

/// Returns the data as JSON in which no character ends or starts an element.
fn data(row: &Row, drawn: &Drawn) -> String {
    let buffers = drawn.instance.buffers();
    let first = |buffer: &Buffer| buffer.lifespan().intervals().first().copied();
    let start = |part: Interval| (part.lower.get(), part.duration());
    let of = |buffer: &Buffer| first(buffer).map_or((0, 0), start);
    let further = |(at, buffer): (usize, &Buffer)| -> Vec<_> {
        let rest = buffer.lifespan().intervals().iter().skip(1);
        rest.map(|&part| (at, part.lower.get(), part.duration())).collect()
    };
    let columns = Columns {
        instance: &row.instance,
        algorithm: &row.algorithm,
        bound: drawn.bound,
        capacity: row.capacity.filter(|_| row.decides()),
        names: buffers.iter().map(Buffer::name).collect(),
        sizes: buffers.iter().map(|buffer| buffer.size().get()).collect(),
        offsets: drawn.layout.offsets().iter().map(|offset| offset.get()).collect(),
        starts: buffers.iter().map(|buffer| of(buffer).0).collect(),
        lengths: buffers.iter().map(|buffer| of(buffer).1).collect(),
        more: buffers.iter().enumerate().flat_map(further).collect(),
    };
    // Numbers and strings always have a representation in JSON.
    serde_json::to_string(&columns).unwrap_or_default().replace('<', "\\u003c")
}

/// States the figures of a layout.
fn sentences(row: &Row, drawn: &Drawn) -> String {
    let instance = &drawn.instance;
    let s = if instance.len() == 1 { "" } else { "s" };
    let places = instance.buffers().iter().zip(drawn.layout.offsets());
    let used = places.filter(|(buffer, _)| buffer.size() > Bytes::ZERO);
    let peak = used.map(|(buffer, offset)| offset.get() + buffer.size().get()).max().unwrap_or(0);
    let floor = match drawn.bound {
        0 => String::new(),
        bound if bound == peak => " No layout has a lower peak.".to_owned(),
        bound => format!(" No layout has a peak below {}.", human::exact(bound)),
    };
    let (bytes, step) = load(instance);
    format!(
        "{} buffer{s}. The layout of {} has a peak of {}.{floor} At most {} are live at once, at step {step}.",
        thousands(instance.len() as u64),
        row.algorithm,
        human::exact(peak),
        human::exact(bytes.get())
    )
}

/// Lists the largest buffers that are live at a step.
fn largest(drawn: &Drawn, step: Step) -> String {
    let places = drawn.instance.buffers().iter().zip(drawn.layout.offsets());
    let mut live: Vec<_> = places.filter(|(buffer, _)| buffer.lifespan().contains(step)).collect();
    live.sort_by_key(|(buffer, _)| std::cmp::Reverse(buffer.size()));
    let steps = |buffer: &Buffer| {
        let parts = buffer.lifespan().intervals().iter();
        let parts: Vec<String> = parts.map(|part| format!("[{}, {})", part.lower, part.upper)).collect();
        parts.join(" ")
    };
    let rows: Vec<[String; 4]> = live
        .into_iter()
        .take(LISTED)
        .map(|(buffer, offset)| {
            let (size, offset) = (buffer.size().to_string(), offset.to_string());
            [buffer.name().to_owned(), size, offset, steps(buffer)]
        })
        .collect();
    let columns = [("buffer", false), ("bytes", true), ("offset", true), ("steps", false)];
    table::sortable("largest buffers", &columns, table::LONG, rows.iter().map(<[String; 4]>::as_slice))
}

/// Returns a layout as HTML.
pub fn layout(row: &Row, drawn: &Drawn) -> String {
    let step = load(&drawn.instance).1;
    format!(
        "<p>{}</p>\n{PLACE}<script type=\"application/json\">{}</script></div>\n\
         <noscript><p>The map needs JavaScript. The largest buffers at step {step}:</p>\n{}</noscript>\n",
        escape(&sentences(row, drawn)),
        data(row, drawn),
        largest(drawn, step)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{InstanceBuilder, Layout, Lifespan};
    use serde_json::{Value, json};

    fn example() -> (Row, Drawn) {
        let gappy = Lifespan::with_gaps(Interval::new(0, 9), [Interval::new(3, 6)]).unwrap();
        let instance = InstanceBuilder::new("file")
            .buffer(Buffer::new("x</script><script>alert(1)</script>", 4, gappy))
            .buffer(Buffer::new("none", 0, Lifespan::empty_at(5)))
            .buffer(Buffer::new("<b>&\"", 2, Lifespan::single(7, 9).unwrap()))
            .build()
            .unwrap();
        let row =
            Row { instance: "a & <b>".to_owned(), algorithm: "by </script>".to_owned(), ..Row::default() };
        (row, Drawn { instance, layout: Layout::from_raw([0, 0, 4]), bound: 5 })
    }

    #[test]
    fn the_data_contains_gaps_and_empty_buffers() {
        let (row, drawn) = example();
        let text = data(&row, &drawn);
        assert!(!text.contains('<'), "{text}");
        let found: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({
            "instance": "a & <b>", "algorithm": "by </script>", "bound": 5, "capacity": null,
            "names": ["x</script><script>alert(1)</script>", "none", "<b>&\""],
            "sizes": [4, 0, 2], "offsets": [0, 0, 4],
            "starts": [0, 0, 7], "lengths": [3, 0, 2], "more": [[0, 6, 3]],
        });
        assert_eq!(found, expected);
        // A capacity is part of the picture only if it was to be decided.
        let decided = Row { capacity: Some(8), decide: Some(crate::row::Decide::Bytes(8)), ..row };
        let found: Value = serde_json::from_str(&data(&decided, &drawn)).unwrap();
        assert_eq!(found["capacity"], 8);
    }

    #[test]
    fn sentences_and_table_need_no_script() {
        let (row, drawn) = example();
        let html = layout(&row, &drawn);
        let figures = "3 buffers. The layout of by &lt;/script&gt; has a peak of 6 bytes. No layout has a peak below 5 bytes. \
                       At most 6 bytes are live at once, at step 7.";
        assert!(html.contains(figures), "{html}");
        assert_eq!((html.matches("<script").count(), html.matches("</script>").count()), (1, 1), "{html}");
        let rows = "<tr><td>x&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;<td class=\"n\">4<td class=\"n\">0<td>[0, 3) [6, 9)\n\
                    <tr><td>&lt;b&gt;&amp;&quot;<td class=\"n\">2<td class=\"n\">4<td>[7, 9)\n";
        assert!(html.contains(rows), "{html}");
    }

    #[test]
    fn equal_bounds_and_unknown_bounds() {
        let (row, drawn) = example();
        let text = |bound| {
            let drawn = Drawn { bound, instance: drawn.instance.clone(), layout: drawn.layout.clone() };
            sentences(&row, &drawn)
        };
        assert!(text(6).contains(" No layout has a lower peak."));
        assert!(!text(0).contains("No layout"));
    }
}
