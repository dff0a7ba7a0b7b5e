//! The captured instances, embedded in the library.

use plimsoll_model::Instance;
use plimsoll_model::csv::{ReadOptions, read_instance};

/// The archive that the build script writes.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/captured"));

/// Returns the instances of `datasets/captured`, which other compilers handed to their memory planners. Their
/// names have the form `FRAMEWORK-NAME`. O(n log n) for n buffers.
///
/// # Panics
/// Never: the tests read every file.
pub fn captured_suite() -> Vec<Instance> {
    let archive = miniz_oxide::inflate::decompress_to_vec(ARCHIVE).expect("a compressed archive");
    let mut rest = archive.as_slice();
    let mut suite = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = std::str::from_utf8(&rest[..end]).expect("a path and a length");
        let (path, bytes) = head.split_once(' ').expect("a path and a length");
        let (file, more) = rest[end + 1..].split_at(bytes.parse().expect("a length"));
        let name = path.trim_end_matches(".csv").replace('/', "-");
        suite.push(read_instance(&name, file, ReadOptions::default()).expect("an instance"));
        rest = more;
    }
    suite
}

/// Instances of [`captured_sample`], one per framework. Its own planner is far from the optimum, and every
/// algorithm answers within 0.3 s.
const SAMPLE: [&str; 7] = [
    "executorch-mnasnet1_0-b1",
    "inductor-inception_v3-forward-b1",
    "iree-pyramid-forward-b1",
    "tflm-mobile_v1_150x6-b1",
    "tinygrad-pyramid-training-b8",
    "tvm-bottleneck_150x6-b1",
    "xla-attention_4x128-forward-b4",
];

/// Returns one instance of [`captured_suite`] per framework.
///
/// # Panics
/// Never: see [`captured_suite`].
pub fn captured_sample() -> Vec<Instance> {
    captured_suite().into_iter().filter(|instance| SAMPLE.contains(&instance.name())).collect()
}
