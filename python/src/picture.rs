//! Draws memory maps for notebooks.

use plimsoll::model::{Bytes, Instance, Offsets, Piece, Problem as _};
use plimsoll_lab::report::map::{Map, write_maps};

/// Returns the memory maps of one or more layouts of an instance as one SVG picture. Each layout is given by
/// its name and its address ranges per buffer, and `bound` is the best lower bound in bytes.
pub fn svg(instance: &Instance, layouts: &[(String, Vec<Vec<Piece>>)], bound: Bytes) -> String {
    let map = |(name, pieces)| Map::new(instance, Offsets::NAME, name, pieces, bound);
    let maps: Vec<Map<'_>> =
        layouts.iter().map(|(name, pieces)| map((name.as_str(), pieces.as_slice()))).collect();
    let mut bytes = Vec::new();
    // Writing into a vector cannot fail.
    let written = write_maps(&maps, &mut bytes);
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a heading, and a picture below it if there is one, as HTML.
pub fn html(heading: &str, svg: Option<String>) -> String {
    let heading = heading.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<div><code>{heading}</code></div>{}", svg.unwrap_or_default())
}
