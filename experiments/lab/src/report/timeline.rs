//! Timelines for people: a trace for Chrome and Perfetto, a Gantt chart.
//!
//! ```text
//! compute    ░░█a█░█b████░█c█     a box is an operator, or the fetch of its weights in the same colour;
//! channel 0  █a█ █b██ █c██        where nothing computes, the operator waits for its weights
//! on chip    ▁▃▅▇▆▅▃              bytes of activations and weight buffers
//! ```

use super::svg::{escape, thousands};
use plimsoll::overlap::Scheduled;
use plimsoll_model::Bytes;
use plimsoll_model::overlap::{OverlapProgram, Time};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};

const WIDTH: f64 = 1280.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 96.0;
const LANE: f64 = 44.0;
const GAP: f64 = 14.0;
const MEMORY: f64 = 170.0;
const BOTTOM: f64 = 50.0;
const GOLDEN_ANGLE: f64 = 137.508;

/// One schedule of one program, along its longest run.
#[derive(Clone, Copy, Debug)]
pub struct Playback<'a> {
    /// The graph's name.
    pub graph: &'a str,
    /// The machine's name.
    pub machine: &'a str,
    /// The schedule's name.
    pub schedule: &'a str,
    /// The program.
    pub program: &'a OverlapProgram,
    /// Its timelines.
    pub scheduled: &'a Scheduled,
}

/// Something that takes a lane for a while.
struct Box {
    name: String,
    /// 0 is computing, 1 and above are channels.
    lane: usize,
    /// Whether weights come, by a channel or a copy.
    fetches: bool,
    start: Time,
    end: Time,
    /// Weights of the operator, or bytes carried.
    bytes: Bytes,
    /// Colour: position of the operator in all segments.
    colour: usize,
}

/// All that is drawn.
struct Scene {
    boxes: Vec<Box>,
    /// Moments and bytes on chip from each to the next.
    occupancy: Vec<(Time, Bytes)>,
    /// Where segments begin, and what is fetched before them.
    borders: Vec<Time>,
    channels: usize,
    capacity: Bytes,
    /// Of these, what resident weights take.
    resident: Bytes,
}

impl Playback<'_> {
    fn scene(&self) -> Scene {
        let segments = self.program.segments();
        let residency = self.program.residency();
        let resident = residency.bytes;
        let mut first = Vec::with_capacity(segments.len());
        let mut count = 0;
        for segment in segments {
            first.push(count);
            count += segment.problem.len();
        }
        let mut scene = Scene {
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
            let colour = block.uses.first().map_or(0, |&(segment, at)| first[segment] + at);
            let (start, end) = (load.span.start, load.span.end);
            scene.boxes.push(Box { name, lane, fetches: true, start, end, bytes, colour });
        }
        let mut from = residency.preload;
        if from > Time::ZERO {
            scene.occupancy.push((Time::ZERO, resident));
            scene.borders.push(Time::ZERO);
        }
        for &at in &self.scheduled.path {
            let (problem, timeline) = (&segments[at].problem, &self.scheduled.timelines[at]);
            scene.borders.push(from);
            for (index, (span, one)) in timeline.computations.iter().zip(problem.operators()).enumerate() {
                let (start, end, colour) = (from + span.start, from + span.end, first[at] + index);
                scene.boxes.push(Box {
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
                // A copy is the processor's work.
                let lane = one.channel.map_or(0, |channel| 1 + channel as usize);
                let colour = first[at] + index;
                scene.boxes.push(Box { name, lane, fetches: true, start, end, bytes: one.bytes, colour });
            }
            let moments = timeline.occupancy(problem);
            let with = |bytes: Bytes| Bytes::new(bytes.get() + resident.get());
            scene.occupancy.extend(moments.into_iter().map(|(time, bytes)| (from + time, with(bytes))));
            from = from + timeline.makespan();
        }
        scene
    }

    /// Writes a trace in the JSON format of Chrome's and Perfetto's viewers: a thread for computing, one per channel, and
    /// a counter of the bytes on chip. Times are microseconds.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_trace(&self, output: &mut dyn Write) -> io::Result<()> {
        let scene = self.scene();
        let micros = |time: Time| time.get() as f64 / 1e6;
        writeln!(output, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[", self.about())?;
        let process = format!("{} by {} on {}", self.graph, self.schedule, self.machine);
        let head = json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": process}});
        write!(output, "{head}")?;
        for lane in 0..=scene.channels {
            let args = json!({"name": lane_name(lane)});
            let event = json!({"ph": "M", "pid": 1, "tid": lane, "name": "thread_name", "args": args});
            write!(output, ",\n{event}")?;
        }
        for one in &scene.boxes {
            let category = if one.fetches { "transfer" } else { "compute" };
            let event = json!({
                "ph": "X", "pid": 1, "tid": one.lane, "name": one.name, "cat": category, "ts": micros(one.start),
                "dur": micros(one.end.saturating_sub(one.start)), "args": {"weights": one.bytes},
            });
            write!(output, ",\n{event}")?;
        }
        for &(time, bytes) in &scene.occupancy {
            let args = json!({"bytes": bytes});
            let event = json!({"ph": "C", "pid": 1, "name": "on chip", "ts": micros(time), "args": args});
            write!(output, ",\n{event}")?;
        }
        writeln!(output, "\n]}}")
    }

    fn about(&self) -> serde_json::Value {
        json!({
            "graph": self.graph, "machine": self.machine, "schedule": self.schedule,
            "makespan_ps": self.scheduled.makespan, "lower_bound_ps": self.scheduled.lower_bound,
            "segments": self.scheduled.segments, "segments_shown": self.scheduled.path.len(),
        })
    }

    /// Draws the Gantt chart, an SVG picture.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_gantt(&self, output: &mut dyn Write) -> io::Result<()> {
        let scene = self.scene();
        let lanes = scene.channels + 1;
        let floor = TOP + lanes as f64 * (LANE + GAP) + MEMORY;
        let height = floor + BOTTOM;
        let end = scene.boxes.iter().map(|one| one.end).max().unwrap_or_default().max(Time::new(1));
        let x = |time: Time| LEFT + time.get() as f64 / end.get() as f64 * (WIDTH - LEFT - RIGHT);
        write!(
            output,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        )?;
        self.head(output)?;
        for lane in 0..lanes {
            let y = lane_top(lane);
            // Where nothing computes, something is waited for.
            let fill = if lane == 0 { "#f6c9c4" } else { "#f1f1f1" };
            writeln!(
                output,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.2}\" height=\"{LANE}\" fill=\"{fill}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                x(end) - LEFT,
                LEFT - 10.0,
                y + LANE / 2.0 + 4.0,
                lane_name(lane),
            )?;
        }
        boxes(output, &scene, &x)?;
        memory(output, &scene, &x, end, floor)?;
        ticks(output, &x, end, floor)?;
        if scene.borders.len() <= 400 {
            for &border in scene.borders.iter().skip(1) {
                let x = x(border);
                writeln!(
                    output,
                    "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{}\" y2=\"{floor}\" stroke=\"#000\" stroke-width=\"0.7\" \
                     stroke-dasharray=\"4 3\"/>",
                    TOP - 6.0
                )?;
            }
        }
        writeln!(output, "</svg>")
    }

    fn head(&self, output: &mut dyn Write) -> io::Result<()> {
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
        writeln!(
            output,
            "<text x=\"{LEFT}\" y=\"28\" font-size=\"18\" font-weight=\"600\">{}</text>\n\
             <text x=\"{LEFT}\" y=\"50\" fill=\"#555\">{} on {}: makespan {}, lower bound {}, at most {} bytes on chip{segments}\
             </text>\n\
             <rect x=\"{LEFT}\" y=\"62\" width=\"26\" height=\"13\" fill=\"hsl(210,60%,66%)\" stroke=\"#333\" \
             stroke-width=\"0.5\"/><text x=\"{}\" y=\"73\">an operator, and the fetch of its weights in the same colour</text>\n\
             <rect x=\"{}\" y=\"62\" width=\"26\" height=\"13\" fill=\"#f6c9c4\"/><text x=\"{}\" y=\"73\">waiting for \
             weights</text>",
            escape(self.graph),
            escape(self.schedule),
            escape(self.machine),
            scheduled.makespan,
            scheduled.lower_bound,
            thousands(scheduled.peak.get()),
            LEFT + 34.0,
            LEFT + 450.0,
            LEFT + 484.0,
        )
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

fn boxes(output: &mut dyn Write, scene: &Scene, x: &dyn Fn(Time) -> f64) -> io::Result<()> {
    let stroke = match scene.boxes.len() {
        0..=300 => 0.6,
        301..=1500 => 0.2,
        _ => 0.0,
    };
    writeln!(output, "<g stroke=\"#333\" stroke-width=\"{stroke}\">")?;
    for one in scene.boxes.iter().filter(|one| one.end > one.start) {
        let hue = (one.colour as f64 * GOLDEN_ANGLE).rem_euclid(360.0);
        let (left, right, y) = (x(one.start), x(one.end), lane_top(one.lane));
        let verb = match (one.fetches, one.lane) {
            (false, _) => "computes",
            (true, 0) => "is copied",
            (true, _) => "is fetched",
        };
        writeln!(
            output,
            "<rect x=\"{left:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{LANE}\" fill=\"hsl({hue:.0},60%,66%)\">\
             <title>{} {verb} from {} for {}: {} bytes of weights</title></rect>",
            right - left,
            escape(&one.name),
            one.start,
            one.end.saturating_sub(one.start),
            thousands(one.bytes.get()),
        )?;
    }
    writeln!(output, "</g>\n<g font-size=\"11\" text-anchor=\"middle\">")?;
    for one in &scene.boxes {
        let (left, right) = (x(one.start), x(one.end));
        let room = ((right - left - 6.0) / 6.5).max(0.0) as usize;
        let (middle, y) = (f64::midpoint(left, right), lane_top(one.lane) + LANE / 2.0 + 4.0);
        let length = one.name.chars().count();
        if length <= room {
            writeln!(output, "<text x=\"{middle:.2}\" y=\"{y}\">{}</text>", escape(&one.name))?;
        } else if room >= 5 {
            // The end of a name tells more than its beginning.
            let end: String = one.name.chars().skip(length + 1 - room).collect();
            writeln!(output, "<text x=\"{middle:.2}\" y=\"{y}\">…{}</text>", escape(&end))?;
        }
    }
    writeln!(output, "</g>")
}

fn memory(
    output: &mut dyn Write,
    scene: &Scene,
    x: &dyn Fn(Time) -> f64,
    end: Time,
    floor: f64,
) -> io::Result<()> {
    let peak = scene.occupancy.iter().map(|&(_, bytes)| bytes.get()).max().unwrap_or(0);
    // A capacity far above the peak would flatten the picture.
    let near = scene.capacity.get() <= peak.saturating_mul(2);
    let top = if near { scene.capacity.get() } else { peak }.max(1);
    let y = |bytes: u64| floor - bytes as f64 / top as f64 * (MEMORY - 20.0);
    let mut path = format!("M{LEFT} {floor}");
    for (at, &(time, bytes)) in scene.occupancy.iter().enumerate() {
        let until = scene.occupancy.get(at + 1).map_or(end, |next| next.0);
        let (from, to, level) = (x(time), x(until), y(bytes.get()));
        let _ = write!(path, " L{from:.2} {level:.2} L{to:.2} {level:.2}");
    }
    let _ = write!(path, " L{:.2} {floor} Z", x(end));
    writeln!(output, "<path d=\"{path}\" fill=\"#9ecae1\" stroke=\"#3182bd\" stroke-width=\"0.7\"/>")?;
    if scene.resident > Bytes::ZERO {
        let level = y(scene.resident.get());
        writeln!(
            output,
            "<rect x=\"{LEFT}\" y=\"{level:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"#c7b8dc\"/>\
             <text x=\"{}\" y=\"{:.2}\" fill=\"#555\">{} bytes of resident weights</text>",
            x(end) - LEFT,
            floor - level,
            LEFT + 6.0,
            floor - 6.0,
            thousands(scene.resident.get()),
        )?;
    }
    let mut marks = Vec::new();
    if peak < scene.capacity.get() {
        marks.push(("on chip", peak, "#3182bd"));
    }
    if near {
        marks.push(("capacity", scene.capacity.get(), "#d55e00"));
    }
    for (name, bytes, colour) in marks {
        let y = y(bytes);
        writeln!(
            output,
            "<line x1=\"{LEFT}\" x2=\"{:.2}\" y1=\"{y:.2}\" y2=\"{y:.2}\" stroke=\"{colour}\" stroke-dasharray=\"6 4\"/>\
             <text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\" fill=\"{colour}\">{name} {} bytes</text>",
            x(end),
            x(end) - 4.0,
            y - 4.0,
            thousands(bytes),
        )?;
    }
    writeln!(
        output,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">on chip</text>",
        LEFT - 10.0,
        floor - MEMORY / 2.0
    )
}

/// Marks at a round pace, at most ten of them.
fn ticks(output: &mut dyn Write, x: &dyn Fn(Time) -> f64, end: Time, floor: f64) -> io::Result<()> {
    let mut pace = 1u64;
    let mut factors = [2, 5, 10].into_iter().cycle();
    let (mut decade, mut factor) = (1u64, 1u64);
    while end.get() / pace > 10 {
        factor = factors.next().unwrap_or(factor);
        pace = decade.saturating_mul(factor);
        if factor == 10 {
            decade = pace;
        }
    }
    for tick in 0..=end.get() / pace {
        let (time, y) = (Time::new(tick * pace), floor + 20.0);
        let x = x(time);
        writeln!(
            output,
            "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{floor}\" y2=\"{}\" stroke=\"#222\"/>\
             <text x=\"{x:.2}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            floor + 5.0,
            if tick == 0 { "0".to_owned() } else { short(time) },
        )?;
    }
    Ok(())
}

/// A round time without the zeros behind its point.
fn short(time: Time) -> String {
    let text = time.to_string();
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}
