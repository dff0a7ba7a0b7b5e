//! Reads the slices that IREE packs, from MLIR text.
//!
//! The compiler prints its program before and after the pass that places transient buffers:
//!
//! ```text
//! PASS=iree-stream-layout-slices
//! iree-compile .. --mlir-print-ir-before=$PASS --mlir-print-ir-after=$PASS
//! ```
//!
//! In the text before the pass, an operation lists the buffers. **Both ends of an interval are inclusive.**
//!
//! ```text
//! %7:3 = stream.resource.pack on(..) slices({
//!   [0, 2] = %c50700,
//!   [2, 6] = %c32768
//! }) : index
//! ```
//!
//! `%7#0` is the number of bytes to be reserved, and `%7#1` and `%7#2` are the offsets. After the pass,
//! constants replace them. The reader pairs the operands of a function before the pass with those after it,
//! in order of their occurrence. Only constant sizes are supported.
//!
//! Source: `iree/compiler/Dialect/Stream/Transforms/LayoutSlices.cpp`.

use super::capture::{ALIGNMENT, Capture, alignment_of, stem, text_of};
use super::error::CaptureProblem;
use plimsoll_model::{Buffer, Bytes, InstanceBuilder, Layout, Lifespan};
use std::collections::HashMap;
use std::path::Path;

const PACK: &str = "stream.resource.pack";

/// A function in the text before or after the pass.
#[derive(Default)]
struct Function<'t> {
    name: &'t str,
    /// Constants of type `index`, by name. Regions may redefine a name.
    constants: HashMap<&'t str, u64>,
    packs: Vec<Pack<'t>>,
    /// The operands that may be offsets or sizes of memory, in order of their occurrence.
    operands: Vec<Operand>,
}

/// An operand that may be an offset or the size of a memory.
struct Operand {
    /// If the operand is the result of a pack: the index in `packs`, and the number of the result.
    result: Option<(usize, usize)>,
    /// The value, if the operand is a constant.
    value: Option<u64>,
}

impl Function<'_> {
    /// Adds an operand. Its name refers to the latest preceding definition.
    fn use_operand(&mut self, name: &str) {
        let result = name.split_once('#').and_then(|(own, number)| {
            let pack = self.packs.iter().rposition(|pack| pack.result == own)?;
            Some((pack, number.parse().ok()?))
        });
        self.operands.push(Operand { result, value: self.constants.get(name).copied() });
    }
}

/// An operation `stream.resource.pack`, which requests a plan.
struct Pack<'t> {
    /// The name of its result, without the number.
    result: &'t str,
    /// Size, first step and last step of each slice.
    slices: Vec<(u64, u64, u64)>,
}

pub(super) fn read(path: &Path, data: &[u8]) -> Result<Vec<Capture>, CaptureProblem> {
    let (before, after) = functions(text_of(data)?)?;
    let after: HashMap<&str, &Function<'_>> = after.iter().map(|one| (one.name, one)).collect();
    let filled = |one: &Function<'_>| -> Vec<usize> {
        let used = |at: &usize| !one.name.is_empty() && !one.packs[*at].slices.is_empty();
        (0..one.packs.len()).filter(used).collect()
    };
    let packs: Vec<_> =
        before.iter().flat_map(|one| filled(one).into_iter().map(move |at| (one, at))).collect();
    let stem = stem(path, ".layout-slices");
    let mut captures = Vec::new();
    for &(function, at) in &packs {
        let name = match packs.len() {
            1 => stem.clone(),
            _ => format!("{stem}:{}-{at}", function.name.trim_start_matches('@')),
        };
        captures.extend(capture(name, function, at, after.get(function.name).copied())?);
    }
    if captures.is_empty() {
        return Err(CaptureProblem::Nothing(
            "the file must contain stream.resource.pack with slices, both before and after the pass",
        ));
    }
    Ok(captures)
}

/// Returns the functions before and after the pass.
fn functions(text: &str) -> Result<(Vec<Function<'_>>, Vec<Function<'_>>), CaptureProblem> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut is_after = false;
    let mut lines = text.lines().zip(1..);
    while let Some((text, line)) = lines.next() {
        if text.starts_with("// -----// IR Dump ") {
            is_after = text.starts_with("// -----// IR Dump After");
            // Initialisers have no name and are not paired.
            let list = if is_after { &mut after } else { &mut before };
            list.push(Function::default());
            continue;
        }
        let list: &mut Vec<Function<'_>> = if is_after { &mut after } else { &mut before };
        if let Some(name) = function_name(text) {
            list.push(Function { name, ..Function::default() });
        }
        let Some(function) = list.last_mut() else { continue };
        if let Some((result, rest)) = text.split_once(&format!(" = {PACK}")) {
            if !rest.contains("slices({") || rest.contains(" offset(") {
                return Err(CaptureProblem::line(line, text, "stream.resource.pack .. slices({"));
            }
            let result = result.trim().split(':').next().unwrap_or_default();
            let slices = slices(&mut lines, function)?;
            function.packs.push(Pack { result, slices });
            continue;
        }
        constant(text, function);
        operands(text, |name| function.use_operand(name));
    }
    Ok((before, after))
}

/// Returns the symbol of the function that begins on a line, if any.
fn function_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    if !rest.contains("func") || !rest.ends_with('{') {
        return None;
    }
    let head = rest.split('(').next()?;
    let name = head.split_ascii_whitespace().last()?;
    (head.contains("func") && name.starts_with('@')).then_some(name)
}

/// Adds the constant of a line such as `%c4608 = arith.constant 4608 : index`.
fn constant<'t>(line: &'t str, function: &mut Function<'t>) {
    let Some((name, rest)) = line.trim_start().split_once(" = arith.constant ") else { return };
    if let Some(Ok(value)) = rest.strip_suffix(" : index").map(str::parse) {
        function.constants.insert(name, value);
    }
}

/// Finds the operands in `[%a for %b]` and in `!stream.resource<transient>{%c}`.
fn operands(line: &str, mut found: impl FnMut(&str)) {
    let mut rest = line;
    while let Some(at) = rest.find(['[', '{']) {
        let is_offset = rest.as_bytes()[at] == b'[';
        let kind = rest[..at].strip_suffix('>').and_then(|head| head.rsplit_once("!stream.resource<"));
        let is_size = kind.is_some_and(|(_, kind)| kind.bytes().all(|byte| byte.is_ascii_lowercase()));
        rest = &rest[at + 1..];
        let end = if is_offset { " for " } else { "}" };
        if let Some((operand, _)) = rest.split_once(end).filter(|_| is_offset || is_size)
            && operand.starts_with('%')
            && !operand.contains([' ', ','])
        {
            found(operand);
        }
    }
}

/// Reads the lines `[0, 2] = %c50700,` up to `})`.
fn slices<'t>(
    lines: &mut impl Iterator<Item = (&'t str, usize)>,
    function: &Function<'t>,
) -> Result<Vec<(u64, u64, u64)>, CaptureProblem> {
    let mut slices = Vec::new();
    for (text, line) in lines {
        if text.trim_start().starts_with('}') {
            return Ok(slices);
        }
        let wrong = || CaptureProblem::line(line, text, "a slice such as [0, 2] = %c64 with a constant size");
        let slice = text.trim().strip_prefix('[').ok_or_else(wrong)?;
        let (range, size) = slice.split_once("] = ").ok_or_else(wrong)?;
        let (first, last) = range.split_once(", ").ok_or_else(wrong)?;
        let (first, last): (u64, u64) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        let &size = function.constants.get(size.trim_end_matches(',')).ok_or_else(wrong)?;
        if last < first || last == u64::MAX {
            return Err(wrong());
        }
        slices.push((size, first, last));
    }
    Err(CaptureProblem::Nothing("a list of slices does not end"))
}

/// Returns the plan of the operation `packs[at]`. Returns `None` if the function is missing after the pass,
/// if it has another number of operands there, or if the size of the memory is not a constant.
fn capture(
    name: String,
    function: &Function<'_>,
    at: usize,
    after: Option<&Function<'_>>,
) -> Result<Option<Capture>, CaptureProblem> {
    let Some(after) = after.filter(|after| after.operands.len() == function.operands.len()) else {
        return Ok(None);
    };
    // The values of the results `%7#0`, `%7#1`, ..
    let mut results: Vec<Option<u64>> = vec![None; function.packs[at].slices.len() + 1];
    for (operand, replaced) in function.operands.iter().zip(&after.operands) {
        if let Some((pack, number)) = operand.result
            && pack == at
            && let Some(result) = results.get_mut(number)
        {
            *result = replaced.value;
        }
    }
    let Some(peak) = results[0] else { return Ok(None) };
    let offsets: Option<Vec<u64>> = results[1..].iter().copied().collect();
    let alignment = alignment_of(ALIGNMENT, offsets.iter().flatten().copied());
    let mut builder = InstanceBuilder::new(name.clone());
    for (at, &(size, first, last)) in function.packs[at].slices.iter().enumerate() {
        let lifespan = Lifespan::single(first, last + 1).expect("the last step is not before the first");
        builder = builder.buffer(Buffer::new(format!("slice{at}"), size, lifespan).aligned(alignment));
    }
    let instance = builder.build().map_err(|source| CaptureProblem::Instance { memory: name, source })?;
    let layout = offsets.map(Layout::from_raw);
    Ok(Some(Capture { planner: "IREE".to_owned(), instance, layout, peak: Some(Bytes::new(peak)) }))
}
