//! Sizing rules for transformer operators, most of them in `com.microsoft`: attention, embeddings,
//! generation.
//!
//! Shapes follow the documentation of the operators and the behaviour of ONNX Runtime.

use super::call::{Call, Facts, extent, product, ranked};
use super::element::Element;
use super::value::{Fact, Reason, misfit, show, unknown};

fn positive(call: &Call, name: &str) -> Result<u64, Reason> {
    let value = call.attr(name).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    value.ok_or_else(|| format!("{name} is missing or not positive").into())
}

fn sum(a: u64, b: u64) -> Result<u64, Reason> {
    extent(i128::from(a) + i128::from(b), "an extent")
}

fn times(a: u64, b: u64) -> Result<u64, Reason> {
    product(&[a, b])
}

/// Returns the width of the values. One matrix projects queries, keys and values together. An attribute
/// gives their widths; by default, the values have a third of the columns.
fn value_width(call: &Call) -> Result<u64, Reason> {
    match call.attr_ints("qkv_hidden_sizes") {
        Some(&[_, _, width]) => extent(width.into(), "the width of the values"),
        _ => Ok(ranked(call.shape(1)?, 2)?[1] / 3),
    }
}

/// Infers the outputs of `Attention` and `QAttention`. One matrix projects queries, keys and values. Input
/// `past` contains the earlier keys and values, and the output has the type of input `like`.
pub fn projected(call: &Call, past: usize, like: usize) -> Facts {
    let input = ranked(call.shape(0)?, 3)?;
    let (heads, width) = (positive(call, "num_heads")?, value_width(call)?);
    let element = call.element(like);
    let output = Fact::new(element, [input[0], input[1], width]);
    let mut facts = vec![output];
    if call.outputs > 1 {
        let before = if call.input(past).is_some() { ranked(call.shape(past)?, 5)?[3] } else { 0 };
        let shared = call.attr("past_present_share_buffer").unwrap_or(0) != 0;
        let total = if shared { before } else { sum(before, input[1])? };
        facts.push(Fact::new(element, [2, input[0], heads, total, width / heads]));
    }
    Ok(facts)
}

/// Infers the output of `PackedAttention`. The tokens of all sequences form one dimension.
pub fn packed_attention(call: &Call) -> Facts {
    Ok(vec![Fact::new(call.element(0), [ranked(call.shape(0)?, 2)?[0], value_width(call)?])])
}

/// Infers the output of `PackedMultiHeadAttention`. Queries, keys and values may be one tensor.
pub fn packed_heads(call: &Call) -> Facts {
    let query = ranked(call.shape(0)?, 2)?;
    let width = match *query {
        [_, heads, 3, size] => times(heads, size)?,
        _ => ranked(call.shape(2)?, 2)?[1],
    };
    Ok(vec![Fact::new(call.element(0), [query[0], width])])
}

/// Returns the fact about the keys or values of all steps so far. If `shared` is true, earlier and new
/// entries are kept in one buffer, so the shape is that of input `past`.
fn cache(call: &Call, past: usize, shared: bool, shape: [u64; 4]) -> Result<Fact, Reason> {
    if call.input(past).is_none() {
        return Ok(Fact::new(call.element(0), shape));
    }
    let before = ranked(call.shape(past)?, 4)?;
    let mut shape = if shared { before.to_vec() } else { shape.to_vec() };
    if !shared {
        shape[2] = sum(before[2], shape[2])?;
    }
    Ok(Fact::new(call.element(past), shape))
}

/// Infers the outputs of `MultiHeadAttention` and its variant for decoders. The earlier keys are input
/// `past`, and the earlier values are the next input.
pub fn heads(call: &Call, past: usize, shared: bool) -> Facts {
    let query = ranked(call.shape(0)?, 3)?;
    let heads = positive(call, "num_heads")?;
    let (batch, length) = (query[0], query[1]);
    let packed = if call.input(1).is_some() { query[2] } else { query[2] / 3 };
    let width = if let [_, _, heads, 3, size] = *query { times(heads, size)? } else { packed };
    // Returns the length and the width of keys or values, which may have three, four or five dimensions.
    let part = |at: usize, otherwise: (u64, u64)| match call.input(at).map(|_| call.shape(at)).transpose()? {
        None => Ok(otherwise),
        Some(&[_, length, width]) => Ok((length, width)),
        Some(&([_, heads, length, size] | [_, length, heads, _, size])) => Ok((length, times(heads, size)?)),
        Some(shape) => misfit(format!("shape {} does not have three to five dimensions", show(shape))),
    };
    let (keys, key_width) = part(1, (length, width))?;
    let (_, value_width) = part(2, (keys, key_width))?;
    let keys_of = |past: usize, width: u64| cache(call, past, shared, [batch, heads, keys, width / heads]);
    let (key, value) = (keys_of(past, key_width)?, keys_of(past + 1, value_width)?);
    let total = key.shape.as_ref().map_or(0, |shape| shape[2]);
    let scores = Fact::new(call.element(0), [batch, heads, length, total]);
    let scores = if shared { scores.bounded() } else { scores };
    Ok(vec![Fact::new(call.element(0), [batch, length, value_width]), key, value, scores])
}

/// Infers the outputs of `GroupQueryAttention` and `SparseAttention`. There may be fewer heads for keys than
/// for queries, and queries, keys and values may be one tensor. An input gives the number of keys to store,
/// which is at least the number of earlier keys.
pub fn grouped(call: &Call) -> Facts {
    let query = ranked(call.shape(0)?, 3)?;
    let (heads, groups) = (positive(call, "num_heads")?, positive(call, "kv_num_heads")?);
    let size = match call.input(1) {
        Some(_) => query[2] / heads,
        None => query[2] / sum(heads, times(2, groups)?)?,
    };
    let output = Fact::new(call.element(0), [query[0], query[1], times(heads, size)?]);
    let mut facts = vec![output];
    if call.outputs < 2 {
        return Ok(facts);
    }
    let past = |at: usize| call.input(at).map(|_| ranked(call.shape(at)?, 4)).transpose();
    let (fixed, given) =
        if call.kind == "SparseAttention" { (true, None) } else { (false, call.int(6).ok()) };
    let mut bound = false;
    for at in [3, 4] {
        let before = past(at)?;
        let kept = before.map_or(0, |shape| shape[2]);
        let total = match given {
            _ if fixed => kept,
            Some(total) => kept.max(extent(total.into(), "the number of keys")?),
            None => {
                bound = true;
                sum(kept, query[1])?
            }
        };
        let last = before.map_or(size, |shape| shape[3]);
        let fact = Fact::new(call.element(at).or(call.element(0)), [query[0], groups, total, last]);
        facts.push(if bound { fact.bounded() } else { fact });
        if at == 4 {
            let scores = Fact::new(call.element(0), [query[0], heads, query[1], total]);
            facts.push(if bound { scores.bounded() } else { scores });
        }
    }
    Ok(facts)
}

/// Infers the outputs of `PagedAttention`. New keys and values are written in place, into the inputs that
/// contain the earlier ones.
pub fn paged(call: &Call) -> Facts {
    let query = ranked(call.shape(0)?, 2)?;
    let (heads, groups) = (positive(call, "num_heads")?, positive(call, "kv_num_heads")?);
    let width = match call.input(1) {
        Some(_) => query[1],
        None => times(heads, query[1] / sum(heads, times(2, groups)?)?)?,
    };
    let kept = |at: usize| call.input(at).cloned().unwrap_or_default().variable();
    Ok(vec![Fact::new(call.element(0), [query[0], width]), kept(3), kept(4)])
}

/// Infers the outputs of `DecoderAttention`. The first output has the shape of the queries: steps, batch,
/// width. The numbers of stored keys and values are upper bounds.
pub fn decoder(call: &Call) -> Facts {
    let (query, key) = (ranked(call.shape(0)?, 3)?, ranked(call.shape(1)?, 3)?);
    let heads = positive(call, "num_heads")?;
    let before = if call.input(6).is_some() { ranked(call.shape(6)?, 4)?[2] } else { 0 };
    let total = sum(before, key[0].max(query[0]))?;
    let kept = Fact::new(call.element(0), [query[1], heads, total, query[2] / heads]).bounded();
    Ok(vec![Fact::new(call.element(0), query), kept.clone(), kept])
}

/// Infers the outputs of `LinearAttention`. Queries, keys and values have the dimensions batch, length and
/// width. The state is one matrix per value head.
pub fn linear_attention(call: &Call) -> Facts {
    let (query, key, value) =
        (ranked(call.shape(0)?, 3)?, ranked(call.shape(1)?, 3)?, ranked(call.shape(2)?, 3)?);
    let (heads, groups) = (positive(call, "q_num_heads")?, positive(call, "kv_num_heads")?);
    let state = if call.input(3).is_some() {
        call.shape(3)?.to_vec()
    } else {
        vec![query[0], groups, key[2] / groups, value[2] / groups]
    };
    let width = times(heads.max(groups), value[2] / groups)?;
    let element = call.element(3).or(call.element(0));
    Ok(vec![Fact::new(call.element(0), [query[0], query[1], width]), Fact::new(element, state)])
}

/// Infers the outputs of `EmbedLayerNormalization`: the embedded words, the length of each sequence, and the
/// sum before normalisation. The embedding table of the words is input 2, and the output has the type of
/// input `like`.
pub fn embedded(call: &Call, like: usize) -> Facts {
    let ids = ranked(call.shape(0)?, 2)?;
    let output = Fact::new(call.element(like), [ids[0], ids[1], ranked(call.shape(2)?, 2)?[1]]);
    Ok(vec![output.clone(), Fact::new(Some(Element::INT32), [ids[0]]), output])
}

/// Infers the outputs of `SkipLayerNormalization` and similar operators. Further outputs are the means, the
/// inverse standard deviations, and the sum before normalisation.
pub fn skip_norm(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 1)?;
    let (mut each, last) = (shape.to_vec(), shape.len() - 1);
    each[last] = 1;
    let (whole, each) = (Fact::new(call.element(0), shape), Fact::new(Some(Element::FLOAT32), each));
    Ok(vec![whole.clone(), each.clone(), each, whole])
}

/// Infers outputs that all have the shape and the type of the first input.
pub fn all_like_first(call: &Call) -> Facts {
    Ok(vec![Fact::new(call.element(0), call.shape(0)?); call.outputs.max(1)])
}

/// Infers the outputs of `GemmaRotaryEmbedding`: the rotated queries and keys.
pub fn gemma_rotary(call: &Call) -> Facts {
    let like = |at: usize| Ok(Fact::new(call.element(at), call.shape(at)?));
    [1, 3].into_iter().map(like).collect()
}

/// Infers the output of `RelativePositionBias`. The output has one number per head, query and key.
pub fn position_bias(call: &Call) -> Facts {
    let table = ranked(call.shape(0)?, 2)?;
    let length = |at: usize| extent(call.int(at)?.into(), "a length");
    Ok(vec![Fact::new(call.element(0), [1, table[1], length(1)?, length(2)?])])
}

/// Infers the output of `GatedRelativePositionBias`. The output has one number per sequence, head, and pair
/// of positions.
pub fn gated_bias(call: &Call) -> Facts {
    let (heads, position) = (positive(call, "num_heads")?, ranked(call.shape(2)?, 4)?);
    let query = ranked(call.shape(0)?, 2)?;
    let batch = if call.input(6).is_some() { ranked(call.shape(6)?, 2)?[0] } else { query[0] };
    Ok(vec![Fact::new(call.element(0), [batch, heads, position[2], position[3]])])
}

/// Infers the outputs of `RemovePadding`: the tokens without padding (at most all tokens), their former
/// positions, the cumulative sequence lengths, and the maximum sequence length.
pub fn remove_padding(call: &Call) -> Facts {
    let [batch, length, width] = *call.shape(0)? else {
        return misfit("its input does not have three dimensions");
    };
    let index = |shape: &[u64]| Fact::new(Some(Element::INT32), shape);
    let tokens = Fact::new(call.element(0), [times(batch, length)?, width]).bounded();
    Ok(vec![tokens, index(&[batch, length]), index(&[sum(batch, 1)?]), index(&[1])])
}

pub fn restore_padding(call: &Call) -> Facts {
    let (tokens, offsets) = (ranked(call.shape(0)?, 2)?, ranked(call.shape(1)?, 2)?);
    Ok(vec![Fact::new(call.element(0), [offsets[0], offsets[1], tokens[1]])])
}

/// Returns the length to which generated sequences are padded.
fn longest(call: &Call) -> Result<u64, Reason> {
    extent(call.int(1)?.into(), "the length")
}

/// Infers the outputs of `BeamSearch` and `WhisperBeamSearch`: the sequences, their scores, and the scores of
/// all tokens of the vocabulary at every step.
pub fn beam_search(call: &Call) -> Facts {
    let input = ranked(call.shape(0)?, 2)?;
    let (length, batch) = (longest(call)?, input[0]);
    let number = |at: usize| extent(call.int(at)?.into(), "a number of sequences");
    let (beams, kept) = (number(3)?, number(4)?);
    let float = call.element(5).or(Some(Element::FLOAT32));
    let mut facts = vec![Fact::new(Some(Element::INT32), [batch, kept, length])];
    facts.push(Fact::new(float, [batch, kept]));
    if call.outputs > 2 {
        let words = positive(call, "vocab_size")?;
        facts.push(Fact::new(float, [length, batch, beams, words]).bounded());
    }
    if call.outputs > 3 {
        return unknown("the outputs after the third are not known");
    }
    Ok(facts)
}

/// Infers the outputs of `GreedySearch` and `Sampling`: one sequence per input sequence, and the scores of
/// the last step.
pub fn greedy_search(call: &Call) -> Facts {
    let input = ranked(call.shape(0)?, 2)?;
    let mut facts = vec![Fact::new(Some(Element::INT32), [input[0], longest(call)?])];
    if call.outputs > 1 {
        facts.push(Fact::new(Some(Element::FLOAT32), [input[0], positive(call, "vocab_size")?]));
    }
    Ok(facts)
}
