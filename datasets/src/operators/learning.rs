//! Sizing rules for operators of `ai.onnx.ml`: trees, linear models, feature extraction.

use super::call::{Call, Facts, extent, product, ranked};
use super::element::Element;
use super::elementwise;
use super::rules::{Rule, rule};
use super::value::{Fact, Reason, unknown};

const fn ours(kinds: &'static str, infer: fn(&Call) -> Facts) -> Rule {
    rule(kinds, infer).of("ai.onnx.ml")
}

pub(super) const RULES: &[Rule] = &[
    ours("Binarizer Imputer", elementwise::like_first).over(1),
    ours("Scaler", |call| Ok(vec![Fact::new(FLOAT, call.shape(0)?)])).over(1),
    ours("Normalizer", |call| Ok(vec![Fact::new(FLOAT, call.shape(0)?)])),
    ours("TreeEnsembleClassifier LinearClassifier SVMClassifier", classifier),
    ours("TreeEnsembleRegressor LinearRegressor SVMRegressor", |call| regressor(call, FLOAT)),
    ours("TreeEnsemble", |call| regressor(call, call.element(0))),
    ours("OneHotEncoder", one_hot),
    ours("ArrayFeatureExtractor", extractor),
    ours("FeatureVectorizer", vectorizer),
    ours("LabelEncoder", encoder),
    ours("CategoryMapper", mapper),
    ours("DictVectorizer", dictionary),
    ours("ZipMap", zip_map),
    ours("CastMap", |_| unknown("the number of its elements depends on data")).opaque(),
];

const FLOAT: Option<Element> = Some(Element::FLOAT32);

/// Returns the number of feature rows, which is 1 for inputs with fewer than two dimensions.
fn rows(call: &Call) -> Result<u64, Reason> {
    Ok(match call.shape(0)? {
        [] | [_] => 1,
        [rows, ..] => *rows,
    })
}

/// Returns the number of labels of a classifier and their type.
fn labels(call: &Call) -> (u64, Element) {
    let texts = call.attr_count(&["classlabels_strings"]);
    let numbers = call.attr_count(&["classlabels_int64s", "classlabels_ints"]);
    let element = if texts.is_some() { Element::STRING } else { Element::INT64 };
    (texts.or(numbers).unwrap_or(0) as u64, element)
}

/// Infers the outputs of a classifier: one label per row, and one score per row and class.
fn classifier(call: &Call) -> Facts {
    let (rows, (classes, element)) = (rows(call)?, labels(call));
    let count = |name: &str| call.attr_count(&[name]).unwrap_or(0) as u64;
    let scores = match call.kind {
        // With one score for two classes, the other score is computed from it.
        "LinearClassifier" => match count("intercepts") {
            0 => classes,
            1 if classes == 2 => 2,
            scores => scores,
        },
        // Without probabilities, there is one score per pair of classes.
        "SVMClassifier" if count("vectors_per_class") > 0 && count("prob_a") == 0 && classes > 2 => {
            product(&[classes, classes - 1])? / 2
        }
        _ => classes,
    };
    Ok(vec![Fact::new(Some(element), [rows]), Fact::new(FLOAT, [rows, scores])])
}

/// Infers the output of a regressor, which has one number per row and target.
fn regressor(call: &Call, element: Option<Element>) -> Facts {
    let targets = call.attr("n_targets").or(call.attr("targets")).unwrap_or(1);
    Ok(vec![Fact::new(element, [rows(call)?, extent(targets.into(), "the number of targets")?])])
}

/// Infers the output of `OneHotEncoder`. The output has one more dimension, with one number per category.
fn one_hot(call: &Call) -> Facts {
    let categories = call.attr_count(&["cats_strings", "cats_int64s"]).unwrap_or(0) as u64;
    Ok(vec![Fact::new(FLOAT, [call.shape(0)?, &[categories]].concat())])
}

/// Infers the output of `ArrayFeatureExtractor`. Input 1 contains the indices of the selected columns.
fn extractor(call: &Call) -> Facts {
    let (data, columns) = (ranked(call.shape(0)?, 1)?, product(call.shape(1)?)?);
    let rows = if data.len() == 1 { &[1] } else { &data[..data.len() - 1] };
    Ok(vec![Fact::new(call.element(0), [rows, &[columns]].concat())])
}

/// Infers the output of `FeatureVectorizer`. The output concatenates all features of a row.
fn vectorizer(call: &Call) -> Facts {
    let widths = call.attr_ints("inputdimensions").unwrap_or_default();
    let width: i128 = widths.iter().map(|&width| i128::from(width)).sum();
    Ok(vec![Fact::new(FLOAT, [rows(call)?, extent(width, "the number of features")?])])
}

/// Infers the output of `LabelEncoder`. Each element is replaced by a value from a table. In version 1, the
/// table maps strings to integers, or integers to strings.
fn encoder(call: &Call) -> Facts {
    let tables = [
        ("values_strings", Element::STRING),
        ("values_int64s", Element::INT64),
        ("values_floats", Element::FLOAT32),
    ];
    let given = tables.into_iter().find(|(name, _)| call.attr_count(&[name]).is_some());
    let element = match (given, call.attr_constant("values_tensor")?) {
        (Some((_, element)), _) => Some(element),
        (None, Some(table)) => table.element,
        (None, None) => Some(swapped(call)),
    };
    Ok(vec![Fact::new(element, call.shape(0)?)])
}

/// Returns the output type of a mapping between strings and integers.
fn swapped(call: &Call) -> Element {
    if call.element(0) == Some(Element::STRING) { Element::INT64 } else { Element::STRING }
}

/// Infers the output of `CategoryMapper`. The table maps strings to integers, or integers to strings.
fn mapper(call: &Call) -> Facts {
    Ok(vec![Fact::new(Some(swapped(call)), call.shape(0)?)])
}

/// Infers the output of `DictVectorizer`. The input is one dictionary. The output has one number per word of
/// the vocabulary.
fn dictionary(call: &Call) -> Facts {
    let words =
        call.attr_count(&["string_vocabulary", "int64_vocabulary"]).ok_or("the vocabulary is empty")?;
    Ok(vec![Fact::new(call.element(0), [1, words as u64])])
}

/// Infers the output of `ZipMap`. The output is a sequence of dictionaries, one per row, with one key and one
/// number per class. Dictionaries are not tensors; their size is the total size of their keys and numbers.
fn zip_map(call: &Call) -> Facts {
    let (rows, (classes, element)) = (rows(call)?, labels(call));
    let entry = (element.bits.unwrap_or(0) + 32) / 8;
    Ok(vec![Fact { bytes: Some(product(&[rows, classes, entry])?), ..Fact::default() }])
}
