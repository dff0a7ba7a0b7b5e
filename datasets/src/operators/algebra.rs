//! Sizing rules for matrix products, normalisation, reductions, recurrent cells, and signal processing.

use super::call::{Call, Facts, axes, axis, broadcast, extent, product, ranked};
use super::fold::{extremes, reduced};
use crate::operators::element::Element;
use crate::operators::value::{Fact, Reason, extents, misfit, show};
use std::collections::BTreeMap;

/// Returns the shape of the product of two stacks of matrices. A vector is a row on the left and a column on
/// the right.
pub fn product_shape(call: &Call, a: &[u64], b: &[u64]) -> Result<Vec<u64>, Reason> {
    let (left, right) = (ranked(a, 1)?, ranked(b, 1)?);
    let rows = (left.len() > 1).then(|| left[left.len() - 2]);
    let columns = (right.len() > 1).then(|| right[right.len() - 1]);
    let inner = right[right.len().saturating_sub(2)];
    if left[left.len() - 1] != inner && !call.bounded() {
        return misfit(format!("matrices {} and {} do not fit together", show(a), show(b)));
    }
    let outer = |shape: &[u64]| shape[..shape.len().saturating_sub(2)].to_vec();
    let mut shape = broadcast(call, &outer(left), &outer(right))?;
    shape.extend(rows);
    shape.extend(columns);
    Ok(shape)
}

/// Infers the output of `MatMul` and its variants. The second matrix is input number `right`.
pub fn mat_mul(call: &Call, right: usize, element: Option<Element>) -> Facts {
    Ok(vec![Fact::new(element, product_shape(call, call.shape(0)?, call.shape(right)?)?)])
}

/// Infers the output of `Gemm` and its variants. The second matrix is input number `right`, and an attribute
/// can transpose either matrix.
pub fn gemm(call: &Call, right: usize, element: Option<Element>) -> Facts {
    let (a, b) = (call.shape(0)?, call.shape(right)?);
    let turned = |shape: &[u64], name: &str| match *shape {
        [x, y] if call.attr(name).unwrap_or(0) != 0 => Ok((y, x)),
        [x, y] => Ok((x, y)),
        _ => misfit(format!("{} is not a matrix", show(shape))),
    };
    let ((rows, k), (l, columns)) = (turned(a, "transA")?, turned(b, "transB")?);
    if k != l && !call.bounded() {
        return misfit(format!("matrices {} and {} do not fit together", show(a), show(b)));
    }
    Ok(vec![Fact::new(element, [rows, columns])])
}

/// Infers the output of `Einsum`. Subscripts are letters and `...`.
pub fn einsum(call: &Call) -> Facts {
    let equation: String = call.attr_text("equation").unwrap_or_default().split_whitespace().collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right.to_owned())),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != call.inputs.len() {
        return misfit(format!("equation {equation} does not fit {} inputs", call.inputs.len()));
    }
    let mut letters: BTreeMap<char, (u64, u32)> = BTreeMap::new();
    let mut dots: Vec<u64> = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let shape = call.shape(at)?;
        let named = term.chars().filter(|&c| c != '.').count();
        let spare = shape.len().checked_sub(named).filter(|&n| n == 0 || term.contains("..."));
        let spare = spare.ok_or_else(|| format!("term {term} does not fit shape {}", show(shape)))?;
        let before = term.find('.').unwrap_or(named);
        dots = broadcast(call, &dots, shape.get(before..before + spare).unwrap_or_default())?;
        for (i, letter) in term.chars().filter(|&c| c != '.').enumerate() {
            let extent = shape[if i < before { i } else { i + spare }];
            let entry = letters.entry(letter).or_insert((extent, 0));
            if entry.0 != extent && entry.0 != 1 && extent != 1 && !call.bounded() {
                return misfit(format!("{letter} is both {} and {extent} in {equation}", entry.0));
            }
            *entry = (entry.0.max(extent), entry.1 + 1);
        }
    }
    // Without a right-hand side, the output has the dimensions of `...`, then those of all letters that
    // appear once, in alphabetical order.
    let right = right.unwrap_or_else(|| {
        let once = letters.iter().filter(|(_, (_, times))| *times == 1).map(|(letter, _)| letter);
        "...".chars().chain(once.copied()).collect()
    });
    let mut shape = Vec::new();
    for (i, letter) in right.char_indices() {
        match letter {
            '.' if right[..i].contains('.') => {}
            '.' => shape.extend(&dots),
            letter => {
                shape.push(
                    letters
                        .get(&letter)
                        .ok_or_else(|| {
                            format!("output letter '{letter}' does not occur in the inputs '{left}'")
                        })?
                        .0,
                );
            }
        }
    }
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the outputs of `BatchNormalization`. In training mode, the running statistics are outputs too.
pub fn batch_norm(call: &Call) -> Facts {
    let mut facts = vec![Fact::new(call.element(0), call.shape(0)?)];
    for at in [3usize, 4, 3, 4] {
        facts.push(call.input(at).cloned().unwrap_or_default().variable());
    }
    Ok(facts)
}

/// Infers the outputs of `LayerNormalization`. Further outputs are the mean and the inverse standard
/// deviation over the dimensions from `axis` to the last. Runtimes give the first output the type of the
/// scale.
pub fn layer_norm(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let at = axis(call.attr("axis").unwrap_or(-1), shape.len())?;
    let mut statistics = shape.to_vec();
    statistics[at..].fill(1);
    let stash = call.attr_element("stash_type")?.unwrap_or(Element::FLOAT32);
    let statistics = Fact::new(Some(stash), statistics);
    let element = call.element(1).or(call.element(0));
    Ok(vec![Fact::new(element, shape), statistics.clone(), statistics])
}

/// Returns the shape after a reduction over the `gone` dimensions. If `keep` is true, these dimensions keep
/// extent 1. Otherwise, they are removed.
pub fn kept(shape: &[u64], gone: &[bool], keep: bool) -> Vec<u64> {
    let extent = |(&extent, &gone): (&u64, &bool)| match (gone, keep) {
        (false, _) => Some(extent),
        (true, true) => Some(1),
        (true, false) => None,
    };
    shape.iter().zip(gone).filter_map(extent).collect()
}

/// Infers the output of `ReduceSum` and the other reductions, over some dimensions or all of them.
pub fn reduce(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let keep = call.attr("keepdims").unwrap_or(1) != 0;
    let list = match call.ints_or_attr(1, "axes") {
        Ok(list) => list.unwrap_or_default(),
        // The reduced axes are unknown, but their number is not. An output extent is therefore at most the
        // largest input extent that can end up in its position. With `keepdims`, reduced dimensions have
        // extent 1.
        Err(reason) if !reason.misfit && call.input(0).is_some() => {
            let gone = if keep { 0 } else { product(call.shape(1)?)?.min(shape.len() as u64) as usize };
            let most =
                |at: usize| shape[at..=at + gone].iter().copied().max().unwrap_or(1).max(u64::from(keep));
            let most: Vec<u64> = (0..shape.len() - gone).map(most).collect();
            return Ok(vec![Fact::new(call.element(0), most).bounded()]);
        }
        Err(reason) => return Err(reason),
    };
    let gone = match list.as_slice() {
        [] => vec![call.attr("noop_with_empty_axes").unwrap_or(0) == 0; shape.len()],
        list => axes(list, shape.len())?,
    };
    let value = reduced(call, shape, &gone);
    Ok(vec![Fact::new(call.element(0), kept(shape, &gone, keep)).with(value)])
}

/// Infers the output of `ArgMax` and `ArgMin`.
pub fn arg(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let gone = axes(&[call.attr("axis").unwrap_or(0)], shape.len())?;
    let value = extremes(call, shape, &gone);
    let shape = kept(shape, &gone, call.attr("keepdims").unwrap_or(1) != 0);
    Ok(vec![Fact::new(Some(Element::INT64), shape).with(value)])
}

/// Returns the numbers of steps, batch entries and directions, and the hidden size, of a recurrent operator.
pub fn recurrence(call: &Call) -> Result<(u64, u64, u64, u64), Reason> {
    let (input, recurrent) = (call.shape(0)?, call.shape(2)?);
    let ([x, y, _], &[directions, _, last]) = (input, recurrent) else {
        return misfit(format!(
            "input {} and weights {} do not have three dimensions",
            show(input),
            show(recurrent)
        ));
    };
    let hidden = match call.attr("hidden_size") {
        Some(hidden) => extent(hidden.into(), "the hidden size")?,
        None => last,
    };
    let by_batch = call.attr("layout") == Some(1);
    let (steps, batch) = if by_batch { (*y, *x) } else { (*x, *y) };
    Ok((steps, batch, directions, hidden))
}

/// Infers the outputs of `LSTM`, `GRU` and `RNN`: the hidden states of all steps, the last hidden state and,
/// for an `LSTM`, the last cell state.
pub fn recurrent(call: &Call) -> Facts {
    let (steps, batch, directions, hidden) = recurrence(call)?;
    let element = call.element(0);
    let (all, last) = if call.attr("layout") == Some(1) {
        (vec![batch, steps, directions, hidden], vec![batch, directions, hidden])
    } else {
        (vec![steps, directions, batch, hidden], vec![directions, batch, hidden])
    };
    let last = Fact::new(element, last);
    Ok(vec![Fact::new(element, all), last.clone(), last])
}

/// Infers the outputs of `Attention` (since version 23). Queries, keys and values have three or four
/// dimensions.
pub fn attention(call: &Call) -> Facts {
    let (q, k, v) = (call.shape(0)?, call.shape(1)?, call.shape(2)?);
    let heads = |name: &str| call.attr(name).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let missing = "the number of heads is missing";
    let (query_heads, key_heads) = match q.len() {
        4 => (q[1], ranked(k, 4)?[1]),
        _ => (heads("q_num_heads").ok_or(missing)?, heads("kv_num_heads").ok_or(missing)?),
    };
    let split = |shape: &[u64], heads: u64| match *shape {
        [_, _, length, width] => Ok((length, width)),
        [_, length, width] => Ok((length, width / heads.max(1))),
        _ => misfit(format!("shape {} has neither three nor four dimensions", show(shape))),
    };
    let (length, _) = split(q, query_heads)?;
    let ((keys, key_width), (_, value_width)) = (split(k, key_heads)?, split(v, key_heads)?);
    let past = if call.input(4).is_some() { ranked(call.shape(4)?, 4)?[2] } else { 0 };
    let total = extent(i128::from(past) + i128::from(keys), "the number of keys")?;
    let output = if q.len() == 4 {
        vec![q[0], query_heads, length, value_width]
    } else {
        let width = extent(i128::from(query_heads) * i128::from(value_width), "the width")?;
        vec![q[0], length, width]
    };
    let element = call.element(0);
    Ok(vec![
        Fact::new(element, output),
        Fact::new(element, [q[0], key_heads, total, key_width]),
        Fact::new(element, [q[0], key_heads, total, value_width]),
        Fact::new(element, [q[0], query_heads, length, total]),
    ])
}

/// Infers the output of `STFT`. The output has the dimensions batch, frames, frequencies, and real and
/// imaginary part.
pub fn stft(call: &Call) -> Facts {
    let signal = ranked(call.shape(0)?, 2)?;
    let step = extent(call.int(1)?.into(), "the step")?;
    let length = match (call.input(3), call.input(2)) {
        (Some(_), _) => extent(call.int(3)?.into(), "the frame length")?,
        (None, Some(_)) => ranked(call.shape(2)?, 1)?[0],
        (None, None) => signal[1],
    };
    if step == 0 || length > signal[1] {
        return misfit(format!("frames of {length} every {step} do not fit a signal of {}", signal[1]));
    }
    let frequencies = if call.attr("onesided").unwrap_or(1) != 0 { length / 2 + 1 } else { length };
    let frames = (signal[1] - length) / step + 1;
    Ok(vec![Fact::new(call.element(0), [signal[0], frames, frequencies, 2])])
}

/// Infers the output of `DFT`. The last dimension contains the real and the imaginary part. A one-sided
/// transform returns the first half of the frequencies. An inverse one-sided transform reads that half and
/// returns a real signal, by default of even length.
pub fn dft(call: &Call) -> Facts {
    let mut shape = ranked(call.shape(0)?, 2)?.to_vec();
    let given =
        if call.opset >= 20 && call.input(2).is_some() { Some(call.int(2)?) } else { call.attr("axis") };
    let at = axis(given.unwrap_or(if call.opset >= 20 { -2 } else { 1 }), shape.len())?;
    let last = shape.len() - 1;
    if at == last {
        return misfit("its axis is the dimension of real and imaginary parts");
    }
    let set = |name: &str| call.attr(name).unwrap_or(0) != 0;
    let (onesided, inverse) = (set("onesided"), set("inverse"));
    let length = match (call.input(1), onesided && inverse) {
        (Some(_), _) => call.int(1)?.into(),
        (None, true) => 2 * (i128::from(shape[at]) - 1),
        (None, false) => i128::from(shape[at]),
    };
    let length = extent(length, "the length")?;
    shape[at] = if onesided && !inverse { length / 2 + 1 } else { length };
    shape[last] = if onesided && inverse { 1 } else { 2 };
    Ok(vec![Fact::new(call.element(0), shape)])
}

/// Infers the output of `HannWindow` and the other window functions. The input is the length of the window.
pub fn window(call: &Call) -> Facts {
    let element = call.attr_element("output_datatype")?.unwrap_or(Element::FLOAT32);
    Ok(vec![Fact::new(Some(element), [extent(call.int(0)?.into(), "the length")?])])
}

/// Infers the output of `RandomNormal` and the other generators of random numbers. The shape is given by an
/// attribute or, without this attribute, by the input.
pub fn random(call: &Call) -> Facts {
    let shape = match call.attr_ints("shape") {
        Some(list) => extents(list)?,
        None => call.shape(0)?.to_vec(),
    };
    let like = if call.kind.ends_with("Like") || call.kind == "Bernoulli" { call.element(0) } else { None };
    let element = call.attr_element("dtype")?.or(like).unwrap_or(Element::FLOAT32);
    Ok(vec![Fact::new(Some(element), shape)])
}

/// Infers the output of `EyeLike`. The output has the shape of the input; an attribute can change the type.
pub fn eye_like(call: &Call) -> Facts {
    Ok(vec![Fact::new(call.attr_element("dtype")?.or(call.element(0)), call.shape(0)?)])
}

/// Infers the output of `Det`. The output has one number per matrix.
pub fn det(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 2)?;
    Ok(vec![Fact::new(call.element(0), &shape[..shape.len() - 2])])
}

/// Infers the output of `MelWeightMatrix`. The output has one row per frequency and one column per band.
pub fn mel_weights(call: &Call) -> Facts {
    let (bands, length) = (call.int(0)?, call.int(1)?);
    let frequencies = extent(i128::from(length).div_euclid(2) + 1, "the number of frequencies")?;
    let element = call.attr_element("output_datatype")?.unwrap_or(Element::FLOAT32);
    Ok(vec![Fact::new(Some(element), [frequencies, extent(bands.into(), "the number of bands")?])])
}

/// Infers the output of `Multinomial`. The output has `sample_size` samples per row of the input.
pub fn multinomial(call: &Call) -> Facts {
    let rows = ranked(call.shape(0)?, 1)?[0];
    let samples = extent(call.attr("sample_size").unwrap_or(1).into(), "the number of samples")?;
    Ok(vec![Fact::new(Some(call.attr_element("dtype")?.unwrap_or(Element::INT32)), [rows, samples])])
}
