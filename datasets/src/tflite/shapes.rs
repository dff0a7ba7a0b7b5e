//! Shape rules of operators. The rules compute the shapes to which the kernels of the interpreter resize
//! their outputs.
//!
//! If an operator has an ONNX equivalent, the rule of that equivalent in [`operators`] is used. The other
//! rules are implemented here and in the neighbouring modules. Types are not inferred: like the
//! interpreter, the rules use the types in the file.
//!
//! Source: `Prepare` and `Eval` of the kernels in `TFLite` (`tflite/kernels/*.cc`, 2025).

use super::operation::{Made, Operation, int, ints};
use super::operator::sharing;
use super::schema::options;
use super::{flex, layers, parts};
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, Value, count, misfit, show, unknown};
use crate::operators::{self, Facts, is_listed};
use plimsoll_model::graph::AliasKind;

/// Pairs of an ONNX operator and the operators that are equivalent to it, with the same inputs and no
/// attributes. If values would differ, or there is no equivalent, the ONNX operator is one that gives the
/// same shape and no values.
const SAME: &[(&str, &str)] = &[
    ("Abs", "ABS"),
    ("Neg", "NEG"),
    ("Floor", "FLOOR"),
    ("Ceil", "CEIL"),
    ("Sqrt", "SQRT"),
    ("Relu", "RELU"),
    ("Sign", "SIGN"),
    ("Not", "LOGICAL_NOT"),
    ("Identity", "STABLEHLO_CONVERT"),
    ("Add", "ADD"),
    ("Sub", "SUB"),
    ("Mul", "MUL"),
    ("Div", "DIV"),
    ("Mod", "FLOOR_MOD"),
    ("Max", "MAXIMUM"),
    ("Min", "MINIMUM"),
    ("Pow", "POW"),
    ("Equal", "EQUAL"),
    ("Less", "LESS"),
    ("Greater", "GREATER"),
    ("LessOrEqual", "LESS_EQUAL"),
    ("GreaterOrEqual", "GREATER_EQUAL"),
    ("And", "LOGICAL_AND"),
    ("Or", "LOGICAL_OR"),
    ("Where", "SELECT_V2 STABLEHLO_SELECT"),
    ("Shape", "SHAPE"),
    ("Range", "RANGE"),
    ("Tile", "TILE"),
    ("GatherND", "GATHER_ND"),
    ("TopK", "TOPK_V2"),
    ("PRelu", "PRELU"),
    // The output has the shape of the first input, regardless of the computation.
    (
        "Sigmoid",
        "ADD_N BUCKETIZE COMPLEX_ABS CUMSUM DENSIFY IMAG L2_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION \
         MATRIX_SET_DIAG REAL REVERSE_SEQUENCE REVERSE_V2 STABLEHLO_SCATTER ZEROS_LIKE",
    ),
];

/// Returns the facts about the outputs.
///
/// # Errors
/// The reason why the outputs cannot be sized.
pub(super) fn infer(op: &Operation) -> Result<Made, Reason> {
    if !op.builtin {
        return match op.call.kind {
            "TFLite_Detection_PostProcess" => detections(op),
            kind => unknown(format!("operator {kind} is not known")),
        };
    }
    let kind = op.call.kind;
    if let Some(made) = layers::infer(op) {
        return made;
    }
    if let Some(&(name, _)) = SAME.iter().find(|(_, kinds)| is_listed(kinds, kind)) {
        return Ok(clipped(op, op.onnx(name, &op.all(), Vec::new())?).into());
    }
    if let Some(made) = parts::infer(op) {
        return made;
    }
    Ok(match kind {
        "CAST" => {
            let to = op.element.map(|element| int("to", element.code.into()));
            op.onnx("Cast", &[0], to.into_iter().collect())?.into()
        }
        "FLOOR_DIV" => floor_div(op)?.into(),
        "SELECT" => return select(op),
        "STABLEHLO_CLAMP" => op.onnx("Identity", &[1], Vec::new())?.into(),
        "RANK" => {
            let rank = op.shape(0)?.len() as i64;
            vec![op.fact([]).with(Some(Value::Ints(vec![rank])))].into()
        }
        "FILL" => op.onnx("Expand", &[1, 0], Vec::new())?.into(),
        "BROADCAST_TO" => return broadcast_to(op),
        "BROADCAST_ARGS" => return broadcast_args(op),
        "TRANSPOSE" => op.onnx("Transpose", &[0], vec![ints("perm", op.call.ints(1)?)])?.into(),
        "RESHAPE" => return reshape(op),
        "SQUEEZE" => {
            let axes: Vec<i64> = op.options.list(options::SQUEEZE_DIMS).map_or_else(Vec::new, widened);
            let axes = (!axes.is_empty()).then(|| ints("axes", axes));
            op.onnx("Squeeze", &[0], axes.into_iter().collect())?.into()
        }
        "EXPAND_DIMS" => op.onnx("Unsqueeze", &[0], vec![ints("axes", [op.call.int(1)?])])?.into(),
        "PAD" | "PADV2" | "MIRROR_PAD" => return pad(op),
        "ARG_MAX" | "ARG_MIN" => {
            op.onnx("ArgMax", &[0], vec![int("axis", op.call.int(1)?), int("keepdims", 0)])?.into()
        }
        "MEAN" | "REDUCE_ALL" | "REDUCE_ANY" | "REDUCE_MAX" | "REDUCE_MIN" | "REDUCE_PROD" | "SUM" => {
            reduce(op)?.into()
        }
        "ONE_HOT" => op.onnx("OneHot", &[0, 1, 2], vec![int("axis", op.int(options::ONE_HOT_AXIS))])?.into(),
        "MATRIX_DIAG" => {
            let shape = op.shape(0)?;
            let last = shape.last().ok_or("a scalar has no diagonal")?;
            return op.one([shape, &[*last]].concat());
        }
        "BITCAST" => return bitcast(op),
        _ => return by_values(op),
    })
}

/// Infers the remaining operators. For most of them, values of inputs determine the sizes of outputs.
fn by_values(op: &Operation) -> Result<Made, Reason> {
    match op.call.kind {
        "RANDOM_STANDARD_NORMAL" | "RANDOM_UNIFORM" => op.one(op.extents(0)?),
        "SPARSE_TO_DENSE" => op.one(op.extents(1)?),
        "SCATTER_ND" => scatter_nd(op),
        "MULTINOMIAL" => {
            let [batch, _] = *op.ranked(0)?;
            op.one([batch, operators::extent(op.call.int(1)?.into(), "the number of samples")?])
        }
        "WHERE" => positions(op),
        "UNIQUE" => {
            let [length] = *op.ranked(0)?;
            Ok(Made::at_most(vec![op.fact([length]); 2], "the number of distinct elements"))
        }
        "NON_MAX_SUPPRESSION_V4" | "NON_MAX_SUPPRESSION_V5" => {
            let kept = op.fact([operators::extent(op.call.int(2)?.into(), "the number of boxes")?]);
            let lists = op.call.outputs.saturating_sub(1).min(2);
            let mut facts = vec![kept; lists];
            facts.push(op.fact([]));
            Ok(facts.into())
        }
        "VAR_HANDLE" => op.one([]),
        "HASHTABLE_SIZE" => op.one([1]),
        kind => match sharing(kind) {
            Some((AliasKind::InPlace, positions)) => in_place(op, positions),
            _ => unknown(format!("operator {kind} has no rule")),
        },
    }
}

/// Infers an operator that can run in place. If it can overwrite only one of its operands, the output has
/// the shape of that operand. If it can overwrite either of two, the output has their broadcast shape.
fn in_place(op: &Operation, positions: &[usize]) -> Result<Made, Reason> {
    let name = if positions.len() > 1 { "PRelu" } else { "Sigmoid" };
    Ok(clipped(op, op.onnx(name, &op.all(), Vec::new())?).into())
}

/// Drops the values if a fused activation may change them.
fn clipped(op: &Operation, facts: Vec<Fact>) -> Vec<Fact> {
    let fused = [options::ADD_FUSED, options::MUL_FUSED, options::SUB_FUSED, options::DIV_FUSED];
    if fused.into_iter().any(|field| op.options.is(field)) {
        return facts.into_iter().map(Fact::variable).collect();
    }
    facts
}

pub(super) fn widened(list: super::reader::Ints) -> Vec<i64> {
    list.iter().map(i64::from).collect()
}

/// Infers `FLOOR_DIV`, which rounds down, whereas the ONNX rule rounds towards zero.
fn floor_div(op: &Operation) -> Facts {
    let whole =
        |at: usize| matches!(op.call.value(at), Some(Value::Ints(list)) if list.iter().all(|&i| i >= 0));
    let facts = op.onnx("Div", &[0, 1], Vec::new())?;
    Ok(if whole(0) && whole(1) { facts } else { facts.into_iter().map(Fact::variable).collect() })
}

/// Infers `SELECT`. The condition has the shape of the operands, a single element, or one element per row.
/// Any other condition is an error, even if it could be broadcast.
fn select(op: &Operation) -> Result<Made, Reason> {
    let (condition, x, y) = (op.shape(0)?, op.shape(1)?, op.shape(2)?);
    let fits = condition == x || condition.is_empty() || condition == [1] || x.get(..1) == Some(condition);
    if x != y || !fits {
        let shapes = [condition, x, y].map(show).join(", ");
        return misfit(format!("shapes {shapes} do not fit together"));
    }
    if condition == x {
        return Ok(op.onnx("Where", &[0, 1, 2], Vec::new())?.into());
    }
    op.one(x)
}

fn broadcast_to(op: &Operation) -> Result<Made, Reason> {
    let wanted = op.extents(1)?;
    let facts = op.onnx("Expand", &[0, 1], Vec::new())?;
    if facts[0].shape.as_ref() != Some(&wanted) {
        return misfit(format!("shape {} cannot be broadcast to {}", show(op.shape(0)?), show(&wanted)));
    }
    Ok(facts.into())
}

/// Infers `BROADCAST_ARGS`, whose output contains the shape to which two shapes are broadcast.
fn broadcast_args(op: &Operation) -> Result<Made, Reason> {
    let ([a], [b]) = (op.ranked(0)?, op.ranked(1)?);
    let of = |at: usize| Some(Fact::new(None, op.extents(at).ok()?));
    let both = of(0).zip(of(1)).map(|(a, b)| op.onnx_of("PRelu", &[a, b], Vec::new())).transpose()?;
    let shape = both.and_then(|mut facts| facts.pop()?.shape);
    let value = shape.map(|shape| Value::Ints(shape.into_iter().map(u64::cast_signed).collect()));
    Ok(vec![op.fact([*a.max(b)]).with(value)].into())
}

/// Infers `RESHAPE`. The shape is given by a vector or, if there is none, by the options. In options, the
/// list `[0]` stands for a scalar, as in old files. Otherwise, an extent of 0 has no special meaning.
fn reshape(op: &Operation) -> Result<Made, Reason> {
    let vector = op.call.input(1).is_some_and(|fact| {
        fact.element == Some(Element::INT32) && fact.shape.as_ref().is_none_or(|shape| shape.len() == 1)
    });
    let wanted = if vector {
        op.call.ints(1)?.to_vec()
    } else {
        let list = op.options.list(options::NEW_SHAPE).map(widened).ok_or("no new shape is given")?;
        if list == [0] { Vec::new() } else { list }
    };
    Ok(op.onnx("Reshape", &[0], vec![ints("shape", wanted), int("allowzero", 1)])?.into())
}

/// Infers `SCATTER_ND`. An input gives the output shape, and indices locate the updates.
fn scatter_nd(op: &Operation) -> Result<Made, Reason> {
    let (indices, updates, shape) = (op.shape(0)?, op.shape(1)?, op.extents(2)?);
    let part = indices.split_last().and_then(|(&last, outer)| {
        let inner = shape.get(usize::try_from(last).ok()?..)?;
        Some([outer, inner].concat())
    });
    if part.as_deref() != Some(updates) {
        return misfit(format!("updates {} do not fit indices {}", show(updates), show(indices)));
    }
    op.one(shape)
}

/// Infers the padding operators. For each dimension, two numbers give the padding before and after the data.
fn pad(op: &Operation) -> Result<Made, Reason> {
    let pairs = op.call.ints(1)?;
    if let Some(pad) = pairs.iter().find(|&&pad| pad < 0) {
        return misfit(format!("padding {pad} is negative"));
    }
    let pads: Vec<i64> = pairs.iter().step_by(2).chain(pairs.iter().skip(1).step_by(2)).copied().collect();
    Ok(op.onnx("Pad", &[0], vec![ints("pads", pads)])?.into())
}

/// Infers a reduction. An input lists the axes. An empty list means that nothing is reduced.
fn reduce(op: &Operation) -> Facts {
    let kind = match op.call.kind {
        "SUM" => "ReduceSum",
        "REDUCE_PROD" => "ReduceProd",
        "REDUCE_MAX" | "REDUCE_ANY" => "ReduceMax",
        "REDUCE_MIN" | "REDUCE_ALL" => "ReduceMin",
        _ => "ReduceMean",
    };
    if op.shape(0)?.is_empty() {
        return op.onnx("Sigmoid", &[0], Vec::new());
    }
    let axes = ints("axes", op.call.ints(1)?);
    let keep = int("keepdims", op.int(options::KEEP_DIMS));
    op.onnx(kind, &[0], vec![axes, keep, int("noop_with_empty_axes", 1)])
}

/// Infers `BITCAST`. If the types differ in width, the output may have one dimension more or one less.
fn bitcast(op: &Operation) -> Result<Made, Reason> {
    let bits = |element: Option<Element>| element.and_then(|element| element.bits);
    let (Some(from), Some(to)) = (bits(op.call.element(0)), bits(op.element)) else {
        return unknown("its element type is not known");
    };
    let shape = op.shape(0)?;
    match shape.split_last() {
        _ if from == to => op.one(shape),
        _ if from > to => op.one([shape, &[from / to]].concat()),
        Some((&last, rest)) if last == to / from => op.one(rest),
        _ => misfit(format!("shape {} does not fit the wider type", show(shape))),
    }
}

/// Infers `WHERE`, whose output has one row for each nonzero element.
fn positions(op: &Operation) -> Result<Made, Reason> {
    let shape = op.shape(0)?;
    let rank = shape.len() as u64;
    if let Ok(facts) = op.onnx("NonZero", &[0], Vec::new())
        && !facts[0].bound
        && let Some(&[_, found]) = facts[0].shape.as_deref()
    {
        return op.one([found, rank]);
    }
    let most = count(shape).ok_or("there are more than 2^64 elements")?;
    Ok(Made::at_most(vec![op.fact([most, rank])], "the number of non-zero elements"))
}

/// Infers `TFLite_Detection_PostProcess`. The outputs are boxes, classes, scores and their number, all for
/// one image.
fn detections(op: &Operation) -> Result<Made, Reason> {
    let number = |name: &str| {
        flex::int(op.custom, name)
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| Reason::unknown(format!("its options lack {name}")))
    };
    if op.shape(0)?.first() != Some(&1) {
        return misfit(format!(
            "boxes of shape {} are for several images; the first extent must be 1",
            show(op.shape(0)?)
        ));
    }
    let (boxes, classes) = (number("max_detections")?, number("max_classes_per_detection")?);
    let kept = operators::extent(i128::from(boxes) * i128::from(classes), "the number of boxes")?;
    let list = op.fact([1, kept]);
    Ok(vec![op.fact([1, kept, 4]), list.clone(), list, op.fact([1])].into())
}
