//! The problems on instances, whose solutions have files and memory maps.

use crate::bound::Witness;
use crate::buffer::Buffer;
use crate::csv::{Cell, Rows};
use crate::instance::Instance;
use crate::offsets::{Offsets, Piece, SharedObjects, SplitBuffers, Violation};
use crate::problem::Problem;
use crate::units::{BufferId, Bytes, PoolId};

/// A problem whose input is an [`Instance`] and whose solutions can be written and drawn.
pub trait InstanceProblem:
    Problem<Input = Instance, Value = Bytes, Witness = Witness, Violation = Violation>
{
    /// Returns one line per property of the instance that this problem ignores.
    fn notes(_instance: &Instance) -> Vec<String> {
        Vec::new()
    }

    /// Returns the address ranges of every buffer for a memory map; a buffer of size 0 has none. Shared
    /// objects are drawn end to end.
    fn pieces(instance: &Instance, solution: &Self::Solution) -> Vec<Vec<Piece>>;

    /// Returns a checked solution as rows: the columns of the instance, then those of the solution.
    fn rows<'a>(instance: &'a Instance, solution: &'a Self::Solution) -> Rows<'a>;
}

impl InstanceProblem for Offsets {
    fn pieces(instance: &Instance, layout: &Self::Solution) -> Vec<Vec<Piece>> {
        let places = instance.buffers().iter().zip(layout.offsets());
        let piece = |(buffer, &start): (&Buffer, &Bytes)| {
            let length = buffer.size();
            if buffer.is_empty() { Vec::new() } else { vec![Piece { start, length }] }
        };
        places.map(piece).collect()
    }

    fn rows<'a>(instance: &'a Instance, layout: &'a Self::Solution) -> Rows<'a> {
        Rows::of_layout(instance, layout)
    }
}

impl InstanceProblem for SplitBuffers {
    fn pieces(_: &Instance, layout: &Self::Solution) -> Vec<Vec<Piece>> {
        layout.pieces().to_vec()
    }

    fn rows<'a>(instance: &'a Instance, layout: &'a Self::Solution) -> Rows<'a> {
        Rows::of_instance(instance).with("pieces", |id| {
            let pieces = layout.pieces()[id.index()].iter();
            let ranges = pieces.map(|piece| format!("{}-{}", piece.start, piece.end()));
            ranges.collect::<Vec<_>>().join(" ").into()
        })
    }
}

impl InstanceProblem for SharedObjects {
    fn notes(instance: &Instance) -> Vec<String> {
        let count = |test: fn(&&Buffer) -> bool| instance.buffers().iter().filter(test).count();
        let asked = [
            ("an alignment", count(|b| b.alignment().get() > 1)),
            ("a fixed offset", count(|b| b.fixed().is_some())),
        ];
        let line = |(what, count): (&str, usize)| {
            let have = if count == 1 { "buffer has" } else { "buffers have" };
            format!("{count} {have} {what}, which is ignored: shared objects have no addresses")
        };
        asked.into_iter().filter(|(_, count)| *count > 0).map(line).collect()
    }

    fn pieces(instance: &Instance, plan: &Self::Solution) -> Vec<Vec<Piece>> {
        let mut bases = Vec::with_capacity(plan.sizes().len());
        let mut next = 0u64;
        for size in plan.sizes() {
            bases.push(next);
            next = next.saturating_add(size.get());
        }
        let piece = |(buffer, pool): (&Buffer, &PoolId)| {
            let (start, length) = (Bytes::new(bases[pool.index()]), plan.sizes()[pool.index()]);
            if buffer.is_empty() { Vec::new() } else { vec![Piece { start, length }] }
        };
        instance.buffers().iter().zip(plan.assignment()).map(piece).collect()
    }

    fn rows<'a>(instance: &'a Instance, plan: &'a Self::Solution) -> Rows<'a> {
        let pool = |id: BufferId| plan.assignment()[id.index()];
        Rows::of_instance(instance)
            .with("pool", move |id| Cell::Number(pool(id).index() as i128))
            .with("pool_size", move |id| plan.sizes()[pool(id).index()].into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::InstanceBuilder;
    use crate::lifespan::Lifespan;
    use crate::offsets::{PoolPlan, SplitLayout};

    fn instance() -> Instance {
        let buffer = |name: &str, size: u64, lower: u64, upper: u64| {
            Buffer::new(name, size, Lifespan::single(lower, upper).unwrap())
        };
        InstanceBuilder::new("t")
            .buffers([buffer("a", 4, 0, 4), buffer("b,\"", 2, 2, 6), buffer("c", 3, 4, 8)])
            .build()
            .unwrap()
    }

    #[test]
    fn shared_objects_are_written_with_their_sizes() {
        let t = instance();
        let plan = PoolPlan::fitted(&t, [0, 1, 0].map(PoolId::new).to_vec(), Bytes::new(1));
        let mut text = Vec::new();
        SharedObjects::rows(&t, &plan).write(&mut text).unwrap();
        let expected = "id,lower,upper,size,pool,pool_size\na,0,4,4,0,4\n\"b,\"\"\",2,6,2,1,2\nc,4,8,3,0,4\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!(SharedObjects::pieces(&t, &plan)[1][0].start.get(), 4);
    }

    #[test]
    fn split_buffers_are_written_as_ranges() {
        let t = instance();
        let piece = |start, length| Piece { start: Bytes::new(start), length: Bytes::new(length) };
        let layout =
            SplitLayout::new(vec![vec![piece(0, 1), piece(3, 3)], vec![piece(1, 2)], vec![piece(3, 3)]]);
        assert!(SplitBuffers::check(&t, &layout).is_empty());
        let mut text = Vec::new();
        SplitBuffers::rows(&t, &layout).write(&mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("a,0,4,4,0-1 3-6\n"));
    }

    #[test]
    fn the_floor_of_shared_objects_ignores_addresses() {
        let t = InstanceBuilder::new("t")
            .buffer(Buffer::new("a", 4, Lifespan::single(0, 4).unwrap()).fixed_at(100))
            .build()
            .unwrap();
        assert_eq!(SharedObjects::floor(&t).value.get(), 4);
        assert_eq!(Offsets::floor(&t).value.get(), 104);
    }
}
