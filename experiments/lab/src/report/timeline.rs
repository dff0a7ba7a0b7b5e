//! Drawings of timelines: a trace for Chrome and Perfetto, and a Gantt chart.
//!
//! ```text
//! compute    ░░█a█░█b████░█c█     a box is an operator; ░ is time spent waiting for weights
//! channel 0  █a█ █b██ █c██        a box is the transfer of weights, in the colour of the operator
//! on-chip    ▁▃▅▇▆▅▃              bytes of activations and weight buffers
//! ```

use super::palette::{Colour, colour_of};
use super::scene::{Point, Scene, shortened, thousands, ticks};
use plimsoll::timelines::Scheduled;
use plimsoll_model::Bytes;
use plimsoll_model::timelines::{OverlapProgram, Time};
use serde_json::json;
use std::collections::HashMap;
use std::io::{self, Write};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 118.0;
const LANE: f64 = 44.0;
const GAP: f64 = 14.0;
const MEMORY: f64 = 170.0;
const BOTTOM: f64 = 50.0;
/// Width of a character of a name, in pixels. Many names are in capitals.
const LETTER: f64 = 7.8;
/// The look of the time in which an operator waits for its weights.
const WAITING: &str = "fill=\"#f6c9c4\"";
/// Style of operations on the critical path.
const CRITICAL: &str =
    "class=\"rule\" fill=\"none\" stroke=\"#222\" stroke-width=\"2.5\" pointer-events=\"none\"";

/// A schedule of a program, drawn along the longest run.
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
    /// The size of the weights of the operator, or the number of bytes moved.
    bytes: Bytes,
    /// The colour of the operator.
    colour: Colour,
}

/// The contents of a drawing.
struct Activity {
    boxes: Vec<Box>,
    /// Points in time, each with the on-chip bytes occupied until the next one.
    occupancy: Vec<(Time, Bytes)>,
    /// The start of the preload, if there is one, and of every segment on the path.
    borders: Vec<Time>,
    channels: usize,
    capacity: Bytes,
    /// The part of the capacity that resident weights occupy.
    resident: Bytes,
}

impl Activity {
    /// Returns the critical path, last operation first: a chain of operations without idle time between them
    /// that ends with the makespan. It ends early where an operation starts without another ending. Among
    /// operations that end at the same time, it prefers the transfer of the same operator, then computations.
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
    /// are sorted by name because every build of `serde_json` keeps that order.
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
        let lanes = activity.channels + 1;
        let floor = TOP + lanes as f64 * (LANE + GAP) + MEMORY;
        let end = activity.boxes.iter().map(|one| one.end).max().unwrap_or_default().max(Time::new(1));
        let frame = Frame { end, floor };
        let mut scene = Scene::new((WIDTH, floor + BOTTOM));
        self.head(&mut scene);
        for lane in 0..lanes {
            let y = lane_top(lane);
            let look = if lane == 0 { WAITING } else { "class=\"lane\" fill=\"#f1f1f1\"" };
            scene.rect((LEFT, y), (frame.x(end) - LEFT, LANE), look, "");
            let place = (LEFT - 10.0, y + LANE / 2.0 + 4.0);
            scene.text(place, "text-anchor=\"end\"", &lane_name(lane));
        }
        boxes(&mut scene, &activity, &frame);
        for one in activity.critical() {
            let (left, right) = (frame.x(one.start), frame.x(one.end));
            scene.rect((left, lane_top(one.lane)), (right - left, LANE), CRITICAL, "");
        }
        memory(&mut scene, &activity, &frame);
        for tick in ticks(0, end.get(), 9) {
            let (time, x) = (Time::new(tick), frame.x(Time::new(tick)));
            scene.line((x, floor), (x, floor + 5.0), "class=\"rule\" stroke=\"#222\"");
            let name = if tick == 0 { "0".to_owned() } else { short(time) };
            scene.text((x, floor + 20.0), "text-anchor=\"middle\"", &name);
        }
        if activity.borders.len() <= 400 {
            for &border in activity.borders.iter().skip(1) {
                let (x, look) = (
                    frame.x(border),
                    "class=\"rule\" stroke=\"#222\" stroke-width=\"0.7\" stroke-dasharray=\"4 3\"",
                );
                scene.line((x, TOP - 6.0), (x, floor), look);
            }
        }
        scene.write(output)
    }

    fn head(&self, scene: &mut Scene) {
        let scheduled = self.scheduled;
        let (shown, all) = (scheduled.path.len() as u64, scheduled.segments);
        let segments = match shown {
            count if count < all => {
                let (count, all) = (thousands(count), thousands(all));
                format!(", the first {count} of {all} segments along the longest run")
            }
            1 => String::new(),
            count => format!(", {count} segments along the longest run (dashed borders)"),
        };
        let caption = format!(
            "makespan {}, lower bound {}, peak {} on-chip bytes{segments}",
            scheduled.makespan,
            scheduled.lower_bound,
            thousands(scheduled.peak.get()),
        );
        let title = format!("{}: {} on {}", self.graph, self.schedule, self.machine);
        scene.heads(20.0, &shortened(&title, 80).unwrap_or_default(), &caption);
        let look = format!("fill=\"{}\" stroke=\"#333\" stroke-width=\"0.5\"", colour_of(""));
        let entries = [
            (look.as_str(), "an operator or its weights"),
            (WAITING, "waiting for weights"),
            (CRITICAL, "critical path"),
        ];
        let entries = entries.map(|(look, name)| (look.to_owned(), name.to_owned()));
        scene.legend(&entries, (LEFT, WIDTH - RIGHT), 76.0);
    }
}

fn lane_name(lane: usize) -> String {
    match lane {
        0 => "compute".to_owned(),
        channel => format!("channel {}", channel - 1),
    }
}

fn lane_top(lane: usize) -> f64 {
    TOP + lane as f64 * (LANE + GAP)
}

/// Converts times to points of the picture.
struct Frame {
    end: Time,
    /// The y position of the axis.
    floor: f64,
}

impl Frame {
    fn x(&self, time: Time) -> f64 {
        LEFT + time.get() as f64 / self.end.get() as f64 * (WIDTH - LEFT - RIGHT)
    }
}

fn boxes(scene: &mut Scene, activity: &Activity, frame: &Frame) {
    let stroke = match activity.boxes.len() {
        0..=300 => 0.6,
        301..=1500 => 0.2,
        _ => 0.0,
    };
    scene.open(&format!("stroke=\"#333\" stroke-width=\"{stroke}\""), "");
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
        scene.rect((left, lane_top(one.lane)), (right - left, LANE), &look, &title);
    }
    scene.close();
    scene.open("font-size=\"11\" text-anchor=\"middle\"", "");
    for one in &activity.boxes {
        let (left, right) = (frame.x(one.start), frame.x(one.end));
        let most = ((right - left - 6.0) / LETTER).max(0.0) as usize;
        if let Some(name) = shortened(&one.name, most) {
            scene.text((f64::midpoint(left, right), lane_top(one.lane) + LANE / 2.0 + 4.0), "", &name);
        }
    }
    scene.close();
}

/// Draws the on-chip bytes over time, with the resident weights, the peak and the capacity.
fn memory(scene: &mut Scene, activity: &Activity, frame: &Frame) {
    let peak = activity.occupancy.iter().map(|&(_, bytes)| bytes.get()).max().unwrap_or(0);
    // If the capacity is far above the peak, it is omitted, since it would flatten the picture.
    let near = activity.capacity.get() <= peak.saturating_mul(2);
    let top = if near { activity.capacity.get() } else { peak }.max(1);
    let y = |bytes: u64| frame.floor - bytes as f64 / top as f64 * (MEMORY - 20.0);
    let right = frame.x(frame.end);
    let mut points: Vec<Point> = vec![(LEFT, frame.floor)];
    for (at, &(time, bytes)) in activity.occupancy.iter().enumerate() {
        let until = activity.occupancy.get(at + 1).map_or(frame.end, |next| next.0);
        points.extend([time, until].map(|time| (frame.x(time), y(bytes.get()))));
    }
    points.push((right, frame.floor));
    scene.outline(&points, "fill=\"#9ecae1\" stroke=\"#3182bd\" stroke-width=\"0.7\"");
    if activity.resident > Bytes::ZERO {
        let level = y(activity.resident.get());
        scene.rect((LEFT, level), (right - LEFT, frame.floor - level), "fill=\"#c7b8dc\"", "");
        let text = format!("{} bytes of resident weights", thousands(activity.resident.get()));
        scene.text((LEFT + 6.0, frame.floor - 6.0), "fill=\"#555\"", &text);
    }
    let peak_mark = (peak < activity.capacity.get()).then_some(("peak", peak, "#3182bd"));
    let capacity_mark = near.then_some(("capacity", activity.capacity.get(), "#d55e00"));
    for (name, bytes, colour) in peak_mark.into_iter().chain(capacity_mark) {
        let y = y(bytes);
        scene.line((LEFT, y), (right, y), &format!("stroke=\"{colour}\" stroke-dasharray=\"6 4\""));
        let look = format!("text-anchor=\"end\" fill=\"{colour}\"");
        scene.text((right - 4.0, y - 4.0), &look, &format!("{name} {} bytes", thousands(bytes)));
    }
    let place = (LEFT - 10.0, frame.floor - MEMORY / 2.0);
    scene.text(place, "text-anchor=\"end\"", "on-chip");
}

/// Formats a time without trailing zeros after the decimal point.
fn short(time: Time) -> String {
    let text = time.to_string();
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}
