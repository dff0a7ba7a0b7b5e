//! Sizing rules for operators on strings.

use super::call::{Call, Facts, broadcast, extent, ranked};
use super::element::Element;
use super::value::{Fact, misfit, unknown};

/// Infers the output of `StringConcat`. The operator concatenates strings elementwise, with broadcasting.
pub fn concat(call: &Call) -> Facts {
    Ok(vec![Fact::new(Some(Element::STRING), broadcast(call, call.shape(0)?, call.shape(1)?)?)])
}

pub fn split(_: &Call) -> Facts {
    unknown("the number of its elements depends on data")
}

/// Infers the output of `StringNormalizer`. The operator changes the case and removes stop words, so the
/// output has at most as many strings as the input.
pub fn normalize(call: &Call) -> Facts {
    let shape = call.shape(0)?;
    let words = call.attr_count(&["stopwords"]).is_some();
    let fact = Fact::new(Some(Element::STRING), shape);
    Ok(vec![if words { fact.bounded() } else { fact }])
}

pub fn full_match(call: &Call) -> Facts {
    Ok(vec![Fact::new(Some(Element::BOOL), call.shape(0)?)])
}

/// Infers the output of `TfIdfVectorizer`. For each list of words, the output has one number per known
/// n-gram.
pub fn tf_idf(call: &Call) -> Facts {
    let shape = ranked(call.shape(0)?, 1)?;
    let Some(list) = call.attr_ints("ngram_indexes") else {
        return misfit("ngram_indexes are missing");
    };
    let width = list.iter().max().map_or(0, |&most| i128::from(most) + 1);
    let width = extent(width, "the number of sequences")?;
    Ok(vec![Fact::new(Some(Element::FLOAT32), [&shape[..shape.len() - 1], &[width]].concat())])
}
