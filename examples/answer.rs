//! Solves any problem with any algorithm, selected by name: `cargo run --example answer`

use plimsoll::Engine;
use plimsoll::model::csv::{ReadOptions, read_instance};
use plimsoll::model::orders::{OrderProblem, Storage};
use plimsoll::model::{Bytes, Joint, JointProblem, OperatorId, SharedObjects, SplitBuffers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::default();
    let rows = "id,lower,upper,size\na,0,2,4\nb,1,4,6\nc,3,6,2\n";
    let instance = read_instance("tiny", rows.as_bytes(), ReadOptions::default())?;

    let objects = engine.answer::<SharedObjects>("shared-greedy-by-size", &instance)?;
    println!("{}: objects of {} bytes", objects.claim, objects.value.unwrap_or_default());

    let pieces = engine.answer::<SplitBuffers>("exact", &instance)?;
    println!("{}: split layout of {} bytes", pieces.claim, pieces.value.unwrap_or_default());

    // Two operators, and one storage that the first writes and the second reads.
    let [write, read] = [0, 1].map(OperatorId::at);
    let users = vec![write, read];
    let storage = Storage { name: "t".into(), size: Bytes::new(16), users, from_start: false, to_end: false };
    let names = vec!["write".into(), "read".into()];
    let orders = OrderProblem::new("two", names, [(write, read)], vec![storage], vec![Bytes::ZERO; 2])?;
    let plan = engine.answer::<Joint>("exact", &JointProblem::new(orders, Bytes::new(64))?)?;
    println!("{}: arena of {} bytes", plan.claim, plan.value.unwrap_or_default());
    Ok(())
}
