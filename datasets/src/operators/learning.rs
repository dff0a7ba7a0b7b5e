//! Operators of `ai.onnx.ml`: trees, linear models, features.

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

/// How many rows of features there are: one, where there is no dimension for them.
fn rows(call: &Call) -> Result<u64, Reason> {
    Ok(match call.shape(0)? {
        [] | [_] => 1,
        [rows, ..] => *rows,
    })
}

/// The labels of a classifier: how many, and their type.
fn labels(call: &Call) -> (u64, Element) {
    let texts = call.attr_count(&["classlabels_strings"]);
    let numbers = call.attr_count(&["classlabels_int64s", "classlabels_ints"]);
    let element = if texts.is_some() { Element::STRING } else { Element::INT64 };
    (texts.or(numbers).unwrap_or(0) as u64, element)
}

/// A label per row, and a score per row and class.
fn classifier(call: &Call) -> Facts {
    let (rows, (classes, element)) = (rows(call)?, labels(call));
    let count = |name: &str| call.attr_count(&[name]).unwrap_or(0) as u64;
    let scores = match call.kind {
        // Of one score for two classes, the other follows.
        "LinearClassifier" => match count("intercepts") {
            0 => classes,
            1 if classes == 2 => 2,
            scores => scores,
        },
        // Without probabilities: a score per pair of classes.
        "SVMClassifier" if count("vectors_per_class") > 0 && count("prob_a") == 0 && classes > 2 => {
            product(&[classes, classes - 1])? / 2
        }
        _ => classes,
    };
    Ok(vec![Fact::new(Some(element), [rows]), Fact::new(FLOAT, [rows, scores])])
}

/// A number per row and target.
fn regressor(call: &Call, element: Option<Element>) -> Facts {
    let targets = call.attr("n_targets").or(call.attr("targets")).unwrap_or(1);
    Ok(vec![Fact::new(element, [rows(call)?, extent(targets.into(), "the number of targets")?])])
}

/// One dimension more, with a number per category.
fn one_hot(call: &Call) -> Facts {
    let categories = call.attr_count(&["cats_strings", "cats_int64s"]).unwrap_or(0) as u64;
    Ok(vec![Fact::new(FLOAT, [call.shape(0)?, &[categories]].concat())])
}

/// Columns by index.
fn extractor(call: &Call) -> Facts {
    let (data, columns) = (ranked(call.shape(0)?, 1)?, product(call.shape(1)?)?);
    let rows = if data.len() == 1 { &[1] } else { &data[..data.len() - 1] };
    Ok(vec![Fact::new(call.element(0), [rows, &[columns]].concat())])
}

/// All features of a row side by side.
fn vectorizer(call: &Call) -> Facts {
    let widths = call.attr_ints("inputdimensions").unwrap_or_default();
    let width: i128 = widths.iter().map(|&width| i128::from(width)).sum();
    Ok(vec![Fact::new(FLOAT, [rows(call)?, extent(width, "the number of features")?])])
}

/// Each element replaced by a value of a table. In its first version the table leads from texts to numbers
/// and back.
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

/// Numbers for texts, texts for numbers.
fn swapped(call: &Call) -> Element {
    if call.element(0) == Some(Element::STRING) { Element::INT64 } else { Element::STRING }
}

/// Each category replaced by its other name.
fn mapper(call: &Call) -> Facts {
    Ok(vec![Fact::new(Some(swapped(call)), call.shape(0)?)])
}

/// A number per word of the vocabulary, for one dictionary.
fn dictionary(call: &Call) -> Facts {
    let words =
        call.attr_count(&["string_vocabulary", "int64_vocabulary"]).ok_or("the vocabulary is empty")?;
    Ok(vec![Fact::new(call.element(0), [1, words as u64])])
}

/// A sequence of dictionaries, one per row: a key and a number per class. They are no tensors, and count what
/// keys and numbers take.
fn zip_map(call: &Call) -> Facts {
    let (rows, (classes, element)) = (rows(call)?, labels(call));
    let entry = (element.bits.unwrap_or(0) + 32) / 8;
    Ok(vec![Fact { bytes: Some(product(&[rows, classes, entry])?), ..Fact::default() }])
}
