//! Draws maps of the layouts that a sweep stored, with one map per instance: that of the layout with the
//! lowest peak.

use crate::analysis::Study;
use crate::record::Record;
use crate::report::map::Map;
use plimsoll_model::csv::{ReadOptions, read_instance, read_layout_file};
use plimsoll_model::{Bytes, Offsets, Piece, Problem};
use std::path::{Component, Path};

/// Maximum number of buffers in a map.
const MOST: usize = 20_000;

/// Returns the maps with their names, in the order of the rows. If a layout cannot be drawn, its map is an
/// error message. Only layouts of the offset problem are drawn.
pub fn maps(study: &Study) -> Vec<(String, Result<String, String>)> {
    let mut best: Vec<&Record> = Vec::new();
    let kept =
        |row: &&Record| row.problem == Offsets::NAME && row.verdict == "valid" && !row.layout.is_empty();
    for row in study.record.observations.iter().filter(kept) {
        let same = |other: &&mut &Record| {
            (&other.suite, &other.instance, &other.sha256) == (&row.suite, &row.instance, &row.sha256)
        };
        match best.iter_mut().find(same) {
            Some(other) if row.value < other.value => *other = row,
            Some(_) => {}
            None => best.push(row),
        }
    }
    best.into_iter().map(|row| (row.instance.clone(), map(study, row))).collect()
}

fn map(study: &Study, row: &Record) -> Result<String, String> {
    let inner = Path::new(&row.layout);
    if !inner.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("the layout '{}' is outside the folder of the record", row.layout));
    }
    let path = study.record.folder.join(inner);
    let file = std::fs::File::open(&path)
        .map_err(|error| format!("cannot open the layout {}: {error}", row.layout))?;
    let wrong = |error: &dyn std::fmt::Display| format!("cannot draw the layout: {error}");
    let instance =
        read_instance(&row.instance, file, ReadOptions::default()).map_err(|error| wrong(&error))?;
    if instance.len() > MOST {
        return Err(format!("{} buffers are too many to draw", instance.len()));
    }
    let layout = read_layout_file(&path, &instance).map_err(|error| wrong(&error))?;
    if !Offsets::check(&instance, &layout).is_empty() {
        return Err(format!("the layout '{}' is not valid", row.layout));
    }
    let groups = study.groups.iter().filter(|group| group.question.problem == Offsets::NAME);
    let known = groups.flat_map(|group| &group.instances);
    let bound = known.filter(|facts| facts.sha256 == row.sha256 && facts.name == row.instance);
    let bound = bound.filter_map(|facts| facts.best_bound).max().or(row.lower_bound).unwrap_or(0);
    let places = instance.buffers().iter().zip(layout.offsets());
    let pieces: Vec<Vec<Piece>> =
        places.map(|(buffer, &start)| vec![Piece { start, length: buffer.size() }]).collect();
    let map = Map::new(&instance, Offsets::NAME, &row.algorithm, &pieces, Bytes::new(bound));
    let mut svg = Vec::new();
    map.write(&mut svg).map_err(|error| wrong(&error))?;
    String::from_utf8(svg).map_err(|error| wrong(&error))
}
