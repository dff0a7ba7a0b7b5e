//! Reads the layouts that a record stores: for each instance, the layout with the lowest peak.

use crate::analysis::Study;
use crate::row::{Row, leads_out};
use plimsoll_model::csv::{CsvError, Pins, ReadOptions, read_instance, read_layout_file};
use plimsoll_model::{Instance, Layout, Offsets, Problem};
use std::io;
use std::path::{Component, Path};
use thiserror::Error;

/// Maximum number of buffers in a map.
pub const MOST: usize = 200_000;

/// Why a layout cannot be drawn.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// The path of the layout leads out of the folder of its record, possibly through a symbolic link.
    #[error("the layout '{0}' is outside the folder of the record")]
    Outside(String),
    /// The file cannot be opened.
    #[error("cannot open the layout {path}: {source}")]
    Unreadable {
        /// The path of the layout, relative to the folder of its record.
        path: String,
        /// The error of the file system.
        source: io::Error,
    },
    /// The file is not a layout.
    #[error("cannot draw the layout: {0}")]
    Malformed(#[from] CsvError),
    /// There are more than [`MOST`] buffers.
    #[error("{0} buffers are too many to draw; at most {MOST} are drawn")]
    TooMany(usize),
    /// The checker rejects the layout.
    #[error("the layout '{0}' is not valid")]
    Invalid(String),
}

/// A valid layout.
#[derive(Debug)]
pub struct Drawn {
    /// The instance, as far as the file of the layout describes it.
    pub instance: Instance,
    /// The layout.
    pub layout: Layout,
    /// The best known lower bound, or 0.
    pub bound: u64,
}

/// The best layout of an instance.
#[derive(Debug)]
pub struct Best<'a> {
    /// The run that found the layout.
    pub row: &'a Row,
    /// The layout, or why it cannot be drawn.
    pub layout: Result<Drawn, LayoutError>,
}

/// Returns the best layout of each instance, in the order of the rows. Only layouts of the offset problem are
/// read.
pub fn best(study: &Study) -> Vec<Best<'_>> {
    let mut best: Vec<&Row> = Vec::new();
    let kept =
        |row: &&Row| row.problem == Offsets::NAME && row.valid_value().is_some() && !row.layout.is_empty();
    for row in study.record.observations.iter().filter(kept) {
        let same = |other: &&mut &Row| {
            (&other.suite, &other.instance, &other.sha256) == (&row.suite, &row.instance, &row.sha256)
        };
        match best.iter_mut().find(same) {
            Some(other) if row.value < other.value => *other = row,
            Some(_) => {}
            None => best.push(row),
        }
    }
    best.into_iter().map(|row| Best { row, layout: read(study, row) }).collect()
}

fn read(study: &Study, row: &Row) -> Result<Drawn, LayoutError> {
    let inner = Path::new(&row.layout);
    if !inner.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(LayoutError::Outside(row.layout.clone()));
    }
    let path = study.record.folder.join(inner);
    if leads_out(&path, &study.record.folder) {
        return Err(LayoutError::Outside(row.layout.clone()));
    }
    let file = std::fs::File::open(&path)
        .map_err(|source| LayoutError::Unreadable { path: row.layout.clone(), source })?;
    let free = ReadOptions { pins: Pins::Free, ..ReadOptions::default() };
    let instance = read_instance(&row.layout, file, free)?;
    if instance.len() > MOST {
        return Err(LayoutError::TooMany(instance.len()));
    }
    let layout = read_layout_file(&path, &instance)?;
    if !Offsets::check(&instance, &layout).is_empty() {
        return Err(LayoutError::Invalid(row.layout.clone()));
    }
    let groups = study.groups.iter().filter(|group| group.question.problem == Offsets::NAME);
    let known = groups.flat_map(|group| &group.instances);
    let bound = known.filter(|facts| facts.sha256 == row.sha256 && facts.name == row.instance);
    let bound = bound.filter_map(|facts| facts.best_bound).max().or(row.lower_bound).unwrap_or(0);
    Ok(Drawn { instance, layout, bound })
}
