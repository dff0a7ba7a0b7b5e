//! Frames: the nested units of a planner that plans every region separately (LUNA, Alg. 2).

use super::Program;
use super::points::Points;
use crate::graph::{Control, Graph};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::instance_error::InstanceError;
use crate::lifespan::{Interval, Lifespan};
use crate::offsets::Layout;
use crate::units::{Bytes, OperatorId, RegionId};
use std::ops::Range;

/// A unit of planning: the body, one branch of an operator, or all regions of a loop or call. The regions of
/// a loop or call are planned together, because they may need each other's memory. Inside a frame, an
/// operator that owns regions takes one step, at which it occupies one block.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The index of the enclosing frame; `None` for the body.
    pub parent: Option<usize>,
    /// The operator that owns the regions of the frame; `None` for the body.
    pub owner: Option<OperatorId>,
    /// The regions that are planned together.
    pub regions: Vec<RegionId>,
    /// The items to place: buffers of the program, and the blocks of operators that own frames.
    pub buffers: Vec<FrameBuffer>,
    /// Per item: the steps of the frame at which the item is live.
    lifespans: Vec<Lifespan>,
}

/// An item to be placed in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBuffer {
    /// A buffer of the program, given by its index.
    Buffer(usize),
    /// The block of an operator. It is as large as the largest frame of this operator.
    Block(OperatorId),
}

impl Program<'_> {
    /// Returns the frames of the program. The body comes first, and each frame precedes the frames nested
    /// inside it. O(s + f n) for f frames and n buffers of a program of size s.
    ///
    /// Each buffer belongs to exactly one frame. With [`super::Sharing::Alias`], a buffer may have tensors
    /// in several frames. Such a buffer belongs to the innermost frame that encloses all of its tensors.
    pub fn frames(&self) -> Vec<Frame> {
        let mut frames = Vec::new();
        Collect { program: self, frames: &mut frames }.frame(None, None, vec![Graph::BODY]);
        frames
    }

    /// Returns the offset problem of a frame. `block` returns the size in bytes of an operator's block.
    /// Blocks of zero bytes are omitted. O(n log n) for n items.
    ///
    /// The second result maps each buffer of the instance to its index in [`Frame::buffers`].
    ///
    /// # Errors
    /// [`InstanceError`] if sizes add up to 2^63 bytes or more.
    pub fn frame_instance(
        &self,
        frame: &Frame,
        block: impl Fn(OperatorId) -> Bytes,
    ) -> Result<(Instance, Vec<usize>), InstanceError> {
        let align = self.options().liveness.align;
        let name = match frame.regions.first() {
            Some(&region) if region != Graph::BODY => {
                format!("{}/{}", self.graph().name(), self.graph().region(region).name)
            }
            _ => self.graph().name().to_owned(),
        };
        let mut builder = InstanceBuilder::new(name);
        let mut which = Vec::new();
        for (at, (one, lifespan)) in frame.buffers.iter().zip(&frame.lifespans).enumerate() {
            let (name, size) = match *one {
                FrameBuffer::Buffer(at) => {
                    let buffer = &self.instance().buffers()[at];
                    (buffer.name().to_owned(), buffer.size())
                }
                FrameBuffer::Block(id) => (format!("block of {}#{id}", self.graph().called(id)), block(id)),
            };
            if size > Bytes::ZERO {
                builder = builder.buffer(Buffer::new(name, size, lifespan.clone()).aligned(align));
                which.push(at);
            }
        }
        Ok((builder.build()?, which))
    }

    /// Assembles the layout of the program from the layouts of its frames.
    ///
    /// `offsets` contains, for each frame, the offsets of its items relative to the block of the operator
    /// that owns the frame. Blocks of zero bytes may have any offset.
    ///
    /// # Panics
    /// If `offsets` does not match `frames`.
    pub fn assemble(&self, frames: &[Frame], offsets: &[Vec<Bytes>]) -> Layout {
        let mut base = vec![0u64; frames.len()];
        let mut blocks = vec![0u64; self.graph().operators().len()];
        let mut layout = vec![0u64; self.buffers().len()];
        for (at, frame) in frames.iter().enumerate() {
            base[at] = frame.owner.map_or(0, |owner| blocks[owner.index()]);
            for (one, offset) in frame.buffers.iter().zip(&offsets[at]) {
                match *one {
                    FrameBuffer::Buffer(buffer) => layout[buffer] = base[at] + offset.get(),
                    FrameBuffer::Block(id) => blocks[id.index()] = base[at] + offset.get(),
                }
            }
        }
        Layout::from_raw(layout)
    }
}

struct Collect<'a, 'p> {
    program: &'a Program<'p>,
    frames: &'a mut Vec<Frame>,
}

impl Collect<'_, '_> {
    /// Adds a frame and, recursively, the frames nested inside it.
    fn frame(&mut self, parent: Option<usize>, owner: Option<OperatorId>, regions: Vec<RegionId>) {
        let (program, points) = (self.program, self.program.points());
        let range = match owner {
            Some(owner) if regions.len() > 1 || is_loop(points, owner) => points.of_operator(owner),
            _ => points.of_region(regions[0]),
        };
        let owners = regions.iter().flat_map(|region| program.orders()[region.index()].iter().copied());
        let owners: Vec<OperatorId> = owners.filter(|&id| points.flow(id).is_some()).collect();
        let steps = steps(points, &range, &owners);
        let mut frame = Frame { parent, owner, regions, buffers: Vec::new(), lifespans: Vec::new() };
        for (at, buffer) in program.buffers().iter().enumerate() {
            if frame.regions.contains(&buffer.home) {
                frame.buffers.push(FrameBuffer::Buffer(at));
                frame.lifespans.push(shrink(program.instance().buffers()[at].lifespan(), &range, &steps));
            }
        }
        for &id in &owners {
            let step = steps[points.of_operator(id).start - range.start];
            frame.buffers.push(FrameBuffer::Block(id));
            frame.lifespans.push(Lifespan::single(step, step + 1).expect("one step"));
        }
        let here = self.frames.len();
        self.frames.push(frame);
        for id in owners {
            let inner = &program.graph().operator(id).regions;
            let branches = points.flow(id).is_some_and(|flow| flow.control == Control::Branch);
            if branches {
                for &region in inner {
                    self.frame(Some(here), Some(id), vec![region]);
                }
            } else {
                self.frame(Some(here), Some(id), inner.clone());
            }
        }
    }
}

fn is_loop(points: &Points, owner: OperatorId) -> bool {
    points.flow(owner).is_some_and(|flow| flow.control != Control::Branch)
}

/// Returns the step of each point in a range. Each operator that owns regions takes one step.
fn steps(points: &Points, range: &Range<usize>, owners: &[OperatorId]) -> Vec<u64> {
    let mut first: Vec<bool> = vec![true; range.len()];
    for &id in owners {
        let inner = points.of_operator(id);
        first[inner.start + 1 - range.start..inner.end - range.start].fill(false);
    }
    let mut step = 0;
    let number = |(at, &first): (usize, &bool)| {
        step += u64::from(first && at > 0);
        step
    };
    first.iter().enumerate().map(number).collect()
}

/// Converts a lifespan in points to a lifespan in steps of a frame.
fn shrink(lifespan: &Lifespan, range: &Range<usize>, steps: &[u64]) -> Lifespan {
    let step = |at: u64| steps[(at as usize).clamp(range.start, range.end - 1) - range.start];
    let parts = lifespan.intervals().iter();
    let parts = parts.map(|one| Interval::new(step(one.lower.get()), step(one.upper.get() - 1) + 1));
    Lifespan::from_intervals(super::liveness::union(parts.collect())).expect("it is live in its frame")
}
