//! Memory plans captured from production compilers and runtimes: buffers, lifespans and the planner's layout.
//!
//! | format | source | interval ends |
//! |---|---|---|
//! | XLA | `*-buffer-assignment.txt` and `*-live-range.txt`, written with `--xla_dump_to` | inclusive |
//! | IREE | MLIR printed before and after the pass `iree-stream-layout-slices` | inclusive |
//! | `PyTorch` | pickle of `torch.cuda.memory._dump_snapshot` | half-open |
//! | `idealloc` | binary traces `.trc` and placements `.plc` | exclusive |
//! | JSON | `plimsoll-capture`, written by the scripts in `experiments/production` | half-open |
//!
//! The readers convert all intervals to half-open ones. Text formats of compilers have no version. Each
//! reader therefore rejects unexpected text inside the sections that it reads, and skips all other sections.

mod capture;
mod document;
mod error;
mod idealloc;
mod iree;
mod pickle;
mod read;
mod torch;
mod xla;

pub use capture::Capture;
pub use document::{CaptureDocument, CapturedBuffer, CapturedMemory};
pub use error::{CaptureError, CaptureProblem};
pub use read::{CaptureFormat, capture_format, read_capture, read_captures, read_xla};
