//! Drawings of timelines: a trace for Chrome and Perfetto, and a Gantt chart.
//!
//! ```text
//! compute    ░░█a█░█b████░█c█     a box is an operator; ░ is time spent waiting for weights
//! channel 0  █a█ █b██ █c██        a box is the transfer of weights, in the colour of the operator
//! on-chip    ▁▃▅▇▆▅▃              bytes of activations and weight buffers
//! ```

use super::axis::{Axis, Side, Unit};
use super::human;
use super::palette::{Colour, colour_of};
use super::scene::{MARGIN, Point, RULE, SMALL, SOFT, Scene, WIDTH, fitted, thousands};
use plimsoll::timelines::Scheduled;
use plimsoll_model::Bytes;
use plimsoll_model::timelines::{OverlapProgram, Time};
use serde_json::json;
use std::collections::HashMap;
use std::io::{self, Write};

/// Space for the names of lanes and for the labels of bytes.
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - MARGIN;
const LANE: f64 = 36.0;
/// Distance between lanes, where the critical path is marked.
const GAP: f64 = 14.0;
const MEMORY: f64 = 150.0;
/// Font size of the names of operators, in pixels.
const NAME: f64 = 12.0;
/// The look of the time in which an operator waits for its weights.
const WAITING: &str = "class=\"wait\" fill=\"#f6c9c4\"";
/// The look of the mark below operations on the critical path.
const CRITICAL: &str = "fill=\"#c1272d\" pointer-events=\"none\"";
/// The look of on-chip bytes.
const OCCUPIED: &str = "fill=\"#8fb8de\"";
/// The look of the bytes of resident weights.
const RESIDENT: &str = "fill=\"#c7b8dc\"";
/// The look of the line at the peak.
const PEAK: &str = "stroke=\"#c1272d\" stroke-width=\"2\"";
/// Maximum number of segment borders that are drawn. If there are more borders, none is drawn.
const BORDERS: usize = 60;

/// A schedule of a program, drawn along the longest run of the program: the control path with the largest
/// total makespan.
#[derive(Clone, Copy, Debug)]
pub struct Playback<'a> {
    /// The name of the graph.
    pub graph: &'a str,
    /// The name of the machine.
    pub machine: &'a str,
    /// The name of the schedule.
    pub schedule: &'a str,
    /// The program. Each timeline schedules one of its segments.
    pub program: &'a OverlapProgram,
    /// The timelines of the segments.
    pub scheduled: &'a Scheduled,
}

/// An operation that occupies a lane from `start` to `end`.
struct Box {
    name: String,
    /// The lane: 0 for the processor, 1 and above for the DMA channels.
    lane: usize,
    /// Whether the operation moves weights, by DMA or as a copy.
    fetches: bool,
    start: Time,
    end: Time,
    /// For a computation, the size of the operator's weights. For a transfer, the number of bytes moved.
    bytes: Bytes,
    /// The colour of the operator.
    colour: Colour,
}

/// The data shown in a drawing.
struct Activity {
    boxes: Vec<Box>,
    /// Points in time, each with the on-chip bytes that are occupied until the next point.
    occupancy: Vec<(Time, Bytes)>,
    /// The start times of the preload, if there is one, and of every segment on the path.
    borders: Vec<Time>,
    channels: usize,
    capacity: Bytes,
    /// The part of the capacity that resident weights occupy.
    resident: Bytes,
}

impl Activity {
    /// Returns the critical path in reverse order: a chain of operations without idle time between them
    /// that leads back from the makespan. The chain stops at an operation whose start is not the end of
    /// another operation. If several operations end at the same time, the transfer for the computation that
    /// follows is preferred, and then a computation.
    fn critical(&self) -> Vec<&Box> {
        let mut ending: HashMap<Time, Vec<&Box>> = HashMap::new();
        for one in self.boxes.iter().filter(|one| one.end > one.start) {
            ending.entry(one.end).or_default().push(one);
        }
        let mut path: Vec<&Box> = Vec::new();
        let mut time = self.boxes.iter().map(|one| one.end).max().unwrap_or_default();
        while let Some(found) = ending.get(&time) {
            let rank = |one: &&&Box| {
                let same =
                    path.last().is_some_and(|next| !next.fetches && one.fetches && one.name == next.name);
                (!same, one.fetches, one.lane)
            };
            let Some(one) = found.iter().min_by_key(rank) else { break };
            path.push(one);
            time = one.start;
        }
        path
    }
}

impl Playback<'_> {
    fn activity(&self) -> Activity {
        let segments = self.program.segments();
        let residency = self.program.residency();
        let resident = residency.bytes;
        let mut activity = Activity {
            boxes: Vec::new(),
            occupancy: Vec::new(),
            borders: Vec::new(),
            channels: segments.iter().map(|one| one.problem.dma().channels as usize).max().unwrap_or(0),
            capacity: Bytes::new(residency.ceiling.get() + resident.get()),
            resident,
        };
        for load in &residency.loads {
            let block = &self.program.blocks()[residency.blocks[load.resident]];
            let (lane, name, bytes) = (1 + load.channel as usize, block.name.clone(), block.bytes);
            let user =
                block.uses.first().map(|&(segment, at)| &segments[segment].problem.operators()[at].name);
            let colour = colour_of(user.unwrap_or(&block.name));
            let (start, end) = (load.span.start, load.span.end);
            activity.boxes.push(Box { name, lane, fetches: true, start, end, bytes, colour });
        }
        let mut from = residency.preload;
        if from > Time::ZERO {
            activity.occupancy.push((Time::ZERO, resident));
            activity.borders.push(Time::ZERO);
        }
        for &at in &self.scheduled.path {
            let (problem, timeline) = (&segments[at].problem, &self.scheduled.timelines[at]);
            activity.borders.push(from);
            for (span, one) in timeline.computations.iter().zip(problem.operators()) {
                let (start, end, colour) = (from + span.start, from + span.end, colour_of(&one.name));
                activity.boxes.push(Box {
                    name: one.name.clone(),
                    lane: 0,
                    fetches: false,
                    start,
                    end,
                    bytes: one.weights,
                    colour,
                });
            }
            for one in &timeline.transfers {
                let index = one.operator.index();
                let name = problem.operators()[index].name.clone();
                let (start, end) = (from + one.span.start, from + one.span.end);
                // A copy occupies the processor.
                let lane = one.channel.map_or(0, |channel| 1 + channel as usize);
                let colour = colour_of(&name);
                activity.boxes.push(Box { name, lane, fetches: true, start, end, bytes: one.bytes, colour });
            }
            let moments = timeline.occupancy(problem);
            let with = |bytes: Bytes| Bytes::new(bytes.get() + resident.get());
            activity.occupancy.extend(moments.into_iter().map(|(time, bytes)| (from + time, with(bytes))));
            from = from + timeline.makespan();
        }
        activity
    }

    /// Writes a trace in the JSON format of the Chrome and Perfetto viewers. It has a thread for the
    /// processor, one thread per channel, and a counter of on-chip bytes. Times are in microseconds. Members
    /// are written in order of their names, so that the output does not depend on whether `serde_json` was
    /// built to preserve insertion order.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write_trace(&self, output: &mut dyn Write) -> io::Result<()> {
        let activity = self.activity();
        let micros = |time: Time| time.get() as f64 / 1e6;
        writeln!(output, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[", self.about())?;
        let process = format!("{} by {} on {}", self.graph, self.schedule, self.machine);
        let head = json!({"args": {"name": process}, "name": "process_name", "ph": "M", "pid": 1});
        write!(output, "{head}")?;
        for lane in 0..=activity.channels {
            let args = json!({"name": lane_name(lane)});
            let event = json!({"args": args, "name": "thread_name", "ph": "M", "pid": 1, "tid": lane});
            write!(output, ",\n{event}")?;
        }
        for one in &activity.boxes {
            let category = if one.fetches { "transfer" } else { "compute" };
            let event = json!({
                "args": {"weights": one.bytes}, "cat": category, "dur": micros(one.end.saturating_sub(one.start)),
                "name": one.name, "ph": "X", "pid": 1, "tid": one.lane, "ts": micros(one.start),
            });
            write!(output, ",\n{event}")?;
        }
        for &(time, bytes) in &activity.occupancy {
            let args = json!({"bytes": bytes});
            let event = json!({"args": args, "name": "on chip", "ph": "C", "pid": 1, "ts": micros(time)});
            write!(output, ",\n{event}")?;
        }
        writeln!(output, "\n]}}")
    }

    fn about(&self) -> serde_json::Value {
        json!({
            "graph": self.graph, "lower_bound_ps": self.scheduled.lower_bound, "machine": self.machine,
            "makespan_ps": self.scheduled.makespan, "schedule": self.schedule,
            "segments": self.scheduled.segments, "segments_shown": self.scheduled.path.len(),
        })
    }

    /// Draws the Gantt chart as SVG.
    ///
    /// # Errors
    /// Returns the errors from `output`.
    pub fn write_gantt(&self, output: &mut dyn Write) -> io::Result<()> {
        let activity = self.activity();
        let mut scene = Scene::default();
        let top =
            scene.heads(&format!("{}: {} on {}", self.graph, self.schedule, self.machine), &self.caption());
        let top = scene.legend(&activity.legend(), top) + 8.0;
        let lanes = activity.channels + 1;
        let memory = top + lanes as f64 * (LANE + GAP) + 8.0;
        let end = activity.boxes.iter().map(|one| one.end).max().unwrap_or_default().max(Time::new(1));
        let frame = Frame { end, top, memory, floor: memory + MEMORY };
        let time = Axis { label: "", unit: Unit::Seconds, low: 0.0, high: end.seconds(), logarithmic: false };
        time.draw_across(&mut scene, (LEFT, RIGHT), (top, frame.floor));
        for lane in 0..lanes {
            let y = frame.lane(lane);
            let look = if lane == 0 { WAITING } else { "class=\"lane\" fill=\"#f1f1f1\"" };
            scene.rect((LEFT, y), (RIGHT - LEFT, LANE), look, "");
            let look = format!("text-anchor=\"end\" font-size=\"{SMALL}\"");
            scene.text((LEFT - 8.0, y + LANE / 2.0 + 4.0), &look, &lane_name(lane));
        }
        boxes(&mut scene, &activity, &frame);
        for (lane, start, end) in activity.marks() {
            let (left, right) = (frame.x(start), frame.x(end));
            scene.rect((left, frame.lane(lane) + LANE + 2.0), (right - left, 5.0), CRITICAL, "");
        }
        memory_over_time(&mut scene, &activity, &frame);
        if activity.borders.len() <= BORDERS {
            for &border in activity.borders.iter().skip(1) {
                let look = format!("{RULE} stroke-width=\"0.7\" stroke-dasharray=\"4 3\"");
                scene.line((frame.x(border), top - 4.0), (frame.x(border), frame.floor), &look);
            }
        }
        output.write_all(scene.finish(frame.floor + 28.0).as_bytes())
    }

    fn caption(&self) -> String {
        let scheduled = self.scheduled;
        let (shown, all) = (scheduled.path.len() as u64, scheduled.segments);
        let segments = match shown {
            count if count < all => {
                let (count, all) = (thousands(count), thousands(all));
                format!(", the first {count} of {all} segments along the longest run")
            }
            1 => String::new(),
            count if count as usize > BORDERS => {
                format!(", {} segments along the longest run", thousands(count))
            }
            count => format!(", {count} segments along the longest run (dashed borders)"),
        };
        format!(
            "makespan {}, lower bound {}, peak {} on-chip bytes{segments}",
            scheduled.makespan,
            scheduled.lower_bound,
            thousands(scheduled.peak.get()),
        )
    }
}

impl Activity {
    fn peak(&self) -> u64 {
        self.occupancy.iter().map(|&(_, bytes)| bytes.get()).max().unwrap_or(0)
    }

    /// Returns the capacity if it is at most twice the peak. A higher capacity would flatten the picture.
    fn near_capacity(&self) -> Option<u64> {
        Some(self.capacity.get()).filter(|&capacity| capacity <= self.peak().saturating_mul(2))
    }

    fn legend(&self) -> Vec<(String, String)> {
        let mut entries = vec![
            (
                format!("fill=\"{}\" stroke=\"#333\" stroke-width=\"0.5\"", colour_of("")),
                "operator or its weights".to_owned(),
            ),
            (WAITING.to_owned(), "waiting for weights".to_owned()),
            (CRITICAL.to_owned(), "critical path".to_owned()),
            (OCCUPIED.to_owned(), "on-chip bytes".to_owned()),
        ];
        if self.resident > Bytes::ZERO {
            let name = format!("resident weights {}", human::bytes(self.resident.get()));
            entries.push((RESIDENT.to_owned(), name));
        }
        entries.push((PEAK.to_owned(), format!("peak {}", human::bytes(self.peak()))));
        let far = if self.near_capacity().is_none() { " (above the picture)" } else { "" };
        entries.push((capacity(), format!("capacity {}{far}", human::bytes(self.capacity.get()))));
        entries
    }

    /// Returns the critical path as intervals of lanes. Consecutive operations on one lane are merged.
    fn marks(&self) -> Vec<(usize, Time, Time)> {
        let mut marks: Vec<(usize, Time, Time)> = Vec::new();
        for one in self.critical() {
            match marks.last_mut() {
                Some((lane, start, _)) if *lane == one.lane && *start == one.end => *start = one.start,
                _ => marks.push((one.lane, one.start, one.end)),
            }
        }
        marks
    }
}

/// Returns the look of the line at the capacity.
fn capacity() -> String {
    format!("{RULE} stroke-width=\"2\" stroke-dasharray=\"2 4\"")
}

fn lane_name(lane: usize) -> String {
    match lane {
        0 => "compute".to_owned(),
        channel => format!("channel {}", channel - 1),
    }
}

/// The mapping from times to points in the picture.
struct Frame {
    end: Time,
    /// The y position of the first lane.
    top: f64,
    /// The y position of the memory chart.
    memory: f64,
    /// The y position of the axis.
    floor: f64,
}

impl Frame {
    fn x(&self, time: Time) -> f64 {
        LEFT + time.get() as f64 / self.end.get() as f64 * (RIGHT - LEFT)
    }

    fn lane(&self, lane: usize) -> f64 {
        self.top + lane as f64 * (LANE + GAP)
    }
}

fn boxes(scene: &mut Scene, activity: &Activity, frame: &Frame) {
    let stroke = match activity.boxes.len() {
        0..=300 => 0.6,
        301..=1500 => 0.2,
        _ => 0.0,
    };
    scene.open(&format!("{RULE} stroke-width=\"{stroke}\""), "");
    for one in activity.boxes.iter().filter(|one| one.end > one.start) {
        let verb = match (one.fetches, one.lane) {
            (false, _) => "computes",
            (true, 0) => "is copied",
            (true, _) => "is fetched",
        };
        let title = format!(
            "{} {verb} from {} for {}: {} bytes of weights",
            one.name,
            one.start,
            one.end.saturating_sub(one.start),
            thousands(one.bytes.get()),
        );
        let (left, right) = (frame.x(one.start), frame.x(one.end));
        let look = format!("fill=\"{}\"", one.colour);
        scene.rect((left, frame.lane(one.lane)), (right - left, LANE), &look, &title);
    }
    scene.close();
    let look = format!("font-size=\"{NAME}\" text-anchor=\"middle\" fill=\"#111\" pointer-events=\"none\"");
    scene.open(&look, "");
    for one in &activity.boxes {
        let (left, right) = (frame.x(one.start), frame.x(one.end));
        if let Some(name) = fitted(&one.name, NAME, right - left - 6.0) {
            scene.text((f64::midpoint(left, right), frame.lane(one.lane) + LANE / 2.0 + 4.0), "", &name);
        }
    }
    scene.close();
}

/// Draws the on-chip bytes over time, with the resident weights, the peak and the capacity.
fn memory_over_time(scene: &mut Scene, activity: &Activity, frame: &Frame) {
    let near = activity.near_capacity();
    let top = near.unwrap_or(activity.peak()).max(1);
    let y = |bytes: f64| frame.floor - bytes / top as f64 * (frame.floor - frame.memory - 24.0);
    let look = format!("font-size=\"{SMALL}\" {SOFT}");
    scene.text((MARGIN, frame.memory + 12.0), &look, "on-chip memory");
    let axis = Axis { label: "", unit: Unit::Bytes, low: 0.0, high: top as f64, logarithmic: false };
    Side::of(&axis).draw(scene, (LEFT, RIGHT), y);
    let mut points: Vec<Point> = vec![(LEFT, frame.floor)];
    for (at, &(time, bytes)) in activity.occupancy.iter().enumerate() {
        let until = activity.occupancy.get(at + 1).map_or(frame.end, |next| next.0);
        points.extend([time, until].map(|time| (frame.x(time), y(bytes.get() as f64))));
    }
    points.push((RIGHT, frame.floor));
    scene.outline(&points, OCCUPIED);
    if activity.resident > Bytes::ZERO {
        let level = y(activity.resident.get() as f64);
        scene.rect((LEFT, level), (RIGHT - LEFT, frame.floor - level), RESIDENT, "");
    }
    for (bytes, look) in [(Some(activity.peak()), PEAK.to_owned()), (near, capacity())] {
        if let Some(y) = bytes.map(|bytes| y(bytes as f64)) {
            scene.line((LEFT, y), (RIGHT, y), &look);
        }
    }
    scene.line((LEFT, frame.floor), (RIGHT, frame.floor), RULE);
}
