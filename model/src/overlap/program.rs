//! A graph with its orders as segments over which nothing overlaps, and the course through them.
//!
//! Segments are those of SOURCES S0, rules 1 to 5: what lies between the operators that own regions, in the body and in
//! every region, each on its own. Of a branch exactly one region runs, of a loop the body so many times and the
//! condition once more, of a call all. The operator that owns them takes no time of its own.

use super::machine::Machine;
use super::problem::{TimedOperator, TimelineError, TimelineProblem, sliced};
use super::time::Time;
use crate::graph::{Control, FlowError, Graph, Storages};
use crate::order::Order;
use crate::units::{Bytes, OperatorId, RegionId};

/// The order of one region, and what its operators hold.
#[derive(Clone, Copy, Debug)]
pub struct RegionOrder<'a> {
    /// Its order problem, in which an operator's scratch includes what the regions it owns take.
    pub storages: &'a Storages,
    /// An order of it.
    pub order: &'a Order,
}

/// What a program assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlapOptions {
    /// Trips of every loop.
    pub trips: u32,
    /// True where activations take their peak all the time, instead of the bytes alive at each step.
    pub peak: bool,
}

impl Default for OverlapOptions {
    /// One trip; the bytes alive at each step.
    fn default() -> Self {
        Self { trips: 1, peak: false }
    }
}

/// A straight piece of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapSegment {
    /// The region it is from.
    pub region: RegionId,
    /// Its operators and their times.
    pub problem: TimelineProblem,
}

/// One after the other.
pub type Course = Vec<Piece>;

/// What comes next on a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A segment, by position.
    Segment(usize),
    /// One of these.
    Branch(Vec<Course>),
    /// The condition before every trip and once more, the body on every trip.
    Loop {
        /// The condition; empty where the body is its own.
        condition: Course,
        /// The body.
        body: Course,
        /// How often it runs.
        trips: u32,
    },
}

/// Segments and the course through them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapProgram {
    segments: Vec<OverlapSegment>,
    course: Course,
}

/// Why a graph is no such program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverlapError {
    /// Nothing says how regions run.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// A segment that is no problem.
    #[error("segment '{segment}': {source}")]
    Segment {
        /// Which.
        segment: String,
        /// Why.
        source: TimelineError,
    },
    /// An operator whose time leaves the range.
    #[error("operator '{operator}' computes longer than time can say")]
    TooLong {
        /// Its name.
        operator: String,
    },
}

impl OverlapProgram {
    /// A program from a graph, the orders of its regions by id, and a machine. O(size of the graph).
    ///
    /// # Errors
    /// See [`OverlapError`].
    ///
    /// # Panics
    /// If there is not one order per region, or orders are not those of the graph.
    pub fn new(
        graph: &Graph,
        regions: &[RegionOrder<'_>],
        machine: &Machine,
        options: OverlapOptions,
    ) -> Result<Self, OverlapError> {
        assert_eq!(regions.len(), graph.regions().len(), "one order per region");
        let mut build = Build { graph, regions, machine, options, segments: Vec::new() };
        let course = build.region(Graph::BODY, 0)?;
        let parity = build.segments.iter().map(|one| one.problem.parity());
        let parity = parity.fold([Bytes::ZERO; 2], |all, own| [0, 1].map(|at| all[at].max(own[at])));
        let mut segments = build.segments;
        for one in &mut segments {
            one.problem = one.problem.clone().with_parity(parity);
        }
        Ok(Self { segments, course })
    }

    /// Its segments.
    pub fn segments(&self) -> &[OverlapSegment] {
        &self.segments
    }

    /// The course through them.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// The time of the longest course when every segment takes the time given; none on overflow. O(size).
    ///
    /// With lower bounds of segments this is a lower bound of the program's longest run, as segments do not overlap.
    pub fn longest(&self, time: &dyn Fn(usize) -> Time) -> Option<Time> {
        longest(&self.course, time)
    }

    /// The segments along the longest course, in the order they run; of equals the first. At most `limit` of them.
    /// O(size + limit).
    pub fn path(&self, time: &dyn Fn(usize) -> Time, limit: usize) -> Vec<usize> {
        let mut path = Vec::new();
        walk(&self.course, time, limit, &mut path);
        path
    }
}

fn longest(course: &Course, time: &dyn Fn(usize) -> Time) -> Option<Time> {
    let mut sum = Time::ZERO;
    for piece in course {
        let own = match piece {
            Piece::Segment(at) => time(*at),
            Piece::Branch(courses) => {
                let mut most = Time::ZERO;
                for course in courses {
                    most = most.max(longest(course, time)?);
                }
                most
            }
            Piece::Loop { condition, body, trips } => {
                let trips = u64::from(*trips);
                let condition = longest(condition, time)?.checked_mul(trips + 1)?;
                condition.checked_add(longest(body, time)?.checked_mul(trips)?)?
            }
        };
        sum = sum.checked_add(own)?;
    }
    Some(sum)
}

fn walk(course: &Course, time: &dyn Fn(usize) -> Time, limit: usize, path: &mut Vec<usize>) {
    for piece in course {
        if path.len() >= limit {
            return;
        }
        match piece {
            Piece::Segment(at) => path.push(*at),
            Piece::Branch(courses) => {
                let mut most: Option<(Time, &Course)> = None;
                for course in courses {
                    let length = longest(course, time).unwrap_or(Time::MAX);
                    if most.is_none_or(|(other, _)| length > other) {
                        most = Some((length, course));
                    }
                }
                if let Some((_, course)) = most {
                    walk(course, time, limit, path);
                }
            }
            Piece::Loop { condition, body, trips } => {
                for _ in 0..*trips {
                    let before = path.len();
                    walk(condition, time, limit, path);
                    walk(body, time, limit, path);
                    if path.len() == before || path.len() >= limit {
                        break;
                    }
                }
                walk(condition, time, limit, path);
            }
        }
    }
}

struct Build<'a> {
    graph: &'a Graph,
    regions: &'a [RegionOrder<'a>],
    machine: &'a Machine,
    options: OverlapOptions,
    segments: Vec<OverlapSegment>,
}

impl Build<'_> {
    /// The course through a region, around which `outer` bytes are alive.
    fn region(&mut self, region: RegionId, outer: u64) -> Result<Course, OverlapError> {
        let RegionOrder { storages, order } = self.regions[region.index()];
        let mut profile: Vec<u64> = order
            .profile(&storages.problem)
            .into_iter()
            .map(|bytes| outer.saturating_add(bytes.get()))
            .collect();
        let peak = profile.iter().copied().max().unwrap_or(outer);
        let mut course = Course::new();
        let mut straight = Vec::new();
        for (step, &id) in order.operators().iter().enumerate() {
            let operator = storages.operators[id.index()];
            if self.graph.operator(operator).regions.is_empty() {
                if self.options.peak {
                    profile[step] = peak;
                }
                straight.push(self.timed(
                    operator,
                    Bytes::new(profile[step]),
                    storages.problem.operator(id),
                )?);
                continue;
            }
            self.cut(region, &mut straight, &mut course)?;
            let own = self.graph.operator(operator).scratch.get();
            let around = profile[step].saturating_sub(storages.problem.scratch(id).get()).saturating_add(own);
            self.owned(operator, around, &mut course)?;
        }
        self.cut(region, &mut straight, &mut course)?;
        Ok(course)
    }

    fn timed(&self, id: OperatorId, activations: Bytes, name: &str) -> Result<TimedOperator, OverlapError> {
        let compute = self.machine.compute(self.graph, id);
        let compute = compute.ok_or_else(|| OverlapError::TooLong { operator: name.to_owned() })?;
        let weights = self.graph.weight_bytes(id);
        Ok(TimedOperator { name: name.to_owned(), compute, weights, activations })
    }

    /// Ends a segment, unless it is empty.
    fn cut(
        &mut self,
        region: RegionId,
        straight: &mut Vec<TimedOperator>,
        course: &mut Course,
    ) -> Result<(), OverlapError> {
        if straight.is_empty() {
            return Ok(());
        }
        let mut operators = std::mem::take(straight);
        if let Some(slice) = self.machine.slice {
            operators = sliced(operators, slice);
        }
        let name = format!("{}#{}", self.graph.region(region).name, self.segments.len());
        let problem = TimelineProblem::on(self.machine, name.clone(), operators)
            .map_err(|source| OverlapError::Segment { segment: name, source })?;
        course.push(Piece::Segment(self.segments.len()));
        self.segments.push(OverlapSegment { region, problem });
        Ok(())
    }

    /// The courses through the regions an operator owns.
    fn owned(&mut self, id: OperatorId, around: u64, course: &mut Course) -> Result<(), OverlapError> {
        let control = self.graph.flow(id)?.map(|flow| flow.control);
        let mut courses = Vec::new();
        for &region in &self.graph.operator(id).regions {
            courses.push(self.region(region, around)?);
        }
        match control {
            Some(Control::Branch) => course.push(Piece::Branch(courses)),
            Some(Control::Loop) => {
                let body = courses.pop().unwrap_or_default();
                let condition = courses.pop().unwrap_or_default();
                course.push(Piece::Loop { condition, body, trips: self.options.trips });
            }
            Some(Control::Call) | None => course.extend(courses.into_iter().flatten()),
        }
        Ok(())
    }
}
