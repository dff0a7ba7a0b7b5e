//! One page with everything in it.

use crate::analysis::{Options, Study};
use crate::report::plots::Plot;

/// What goes onto the page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its title.
    pub title: &'a str,
    /// The records.
    pub studies: &'a [Study],
    /// Their pictures.
    pub plots: &'a [Plot],
    /// How things were counted.
    pub options: Options,
}

/// The page, HTML.
pub fn page(page: &Page<'_>) -> String {
    page.title.to_owned() + " cut short"
}
