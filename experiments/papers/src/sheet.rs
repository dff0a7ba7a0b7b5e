//! The data of a paper: rows and figures in TOML, and the report in Markdown with placeholders.
//!
//! Placeholders and expressions use `MiniJinja`. They can refer by name to every fact that the module of the
//! paper defines. Rows are organised in groups. If a group has an expression `each` that yields a list, the
//! group is repeated for every element, which is bound to `it`. A row may have its own `each`, whose elements
//! are bound to `one`. Groups and rows may have a condition `when`.

use crate::ReproduceError;
use crate::row::{Amount, Expected, Row, unsigned_zero};
use crate::sources::sources;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value, context};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// The TOML file of a paper, without its inputs.
#[derive(Debug, Deserialize)]
pub(crate) struct Sheet {
    pub name: String,
    pub source: String,
    pub title: String,
    pub about: String,
    pub takes: String,
    #[serde(default)]
    groups: Vec<Group>,
    #[serde(default)]
    pub figures: BTreeMap<String, Figure>,
    #[serde(default)]
    pub files: Vec<Sidecar>,
}

/// The rows of one table of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    table: String,
    each: Option<String>,
    when: Option<String>,
    rows: Vec<Template>,
}

/// One row, or one per element of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    row: String,
    each: Option<String>,
    when: Option<String>,
    #[serde(default)]
    unit: String,
    /// Expressions that yield a number, a pair of numbers for a range, a string, or none.
    printed: Option<String>,
    ours: Option<String>,
    /// Number of decimals of the printed and the computed number. Without it, the numbers are integers.
    digits: Option<usize>,
    /// Number of decimals of the printed number, if it differs from `digits`.
    printed_digits: Option<usize>,
    #[serde(default = "same")]
    expect: String,
    reason: String,
}

fn same() -> String {
    "same".to_owned()
}

/// The file name of a figure, its description, and the labels in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    pub file: String,
    pub about: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub caption: String,
    #[serde(default)]
    pub series: Vec<String>,
    #[serde(default)]
    pub mark: String,
    #[serde(default)]
    pub unit: String,
}

/// A file that accompanies the report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sidecar {
    pub file: String,
    pub about: String,
    pub text: String,
}

/// Returns the inputs of a paper, such as the printed numbers.
///
/// # Panics
/// Panics if the embedded data file is not valid. The tests read every data file to exclude this.
pub(crate) fn inputs<I: DeserializeOwned>(paper: &str) -> I {
    #[derive(Deserialize)]
    struct Only<I> {
        inputs: I,
    }
    let only: Only<I> = toml::from_str(sources(paper).0).unwrap_or_else(|error| panic!("{paper}: {error}"));
    only.inputs
}

impl Sheet {
    /// Returns the sheet of a paper.
    ///
    /// # Panics
    /// Panics as [`inputs`] does.
    pub fn of(paper: &str) -> Self {
        toml::from_str(sources(paper).0).unwrap_or_else(|error| panic!("{paper}: {error}"))
    }

    /// Evaluates every row with these facts.
    pub fn rows(&self, facts: &Value) -> Result<Vec<Row>, ReproduceError> {
        let language = language();
        let scope = Scope { language: &language, facts: facts.clone() };
        let mut rows = Vec::new();
        for group in &self.groups {
            scope
                .each(group.each.as_deref(), group.when.as_deref(), "it", &mut |scope| {
                    for template in &group.rows {
                        scope.each(
                            template.each.as_deref(),
                            template.when.as_deref(),
                            "one",
                            &mut |scope| {
                                rows.push(template.row(&group.table, scope)?);
                                Ok(())
                            },
                        )?;
                    }
                    Ok(())
                })
                .map_err(|error| {
                    ReproduceError::Defect(format!("{}, {}: {error:#}", self.name, group.table))
                })?;
        }
        Ok(rows)
    }
}

impl Template {
    fn row(&self, table: &str, scope: &Scope<'_>) -> Result<Row, Error> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidOperation, what);
        let amount = |expression: &Option<String>, digits: Option<usize>| match expression {
            None => Ok(None),
            Some(expression) => amount(&scope.value(expression)?, digits)
                .map_err(|what| invalid(format!("{}: {expression}: {what}", self.row))),
        };
        let expected = scope.text(&self.expect)?;
        Ok(Row {
            table: scope.text(table)?,
            row: scope.text(&self.row)?,
            printed: amount(&self.printed, self.printed_digits.or(self.digits))?,
            ours: amount(&self.ours, self.digits)?,
            unit: scope.text(&self.unit)?,
            reason: scope.text(&self.reason)?,
            expected: Expected::named(&expected)
                .ok_or_else(|| invalid(format!("{}: expect '{expected}'", self.row)))?,
        })
    }
}

/// Converts a value to the amount of a row, or to `None` if the value is `none` in `MiniJinja`.
fn amount(value: &Value, digits: Option<usize>) -> Result<Option<Amount>, String> {
    let number = |value: &Value| f64::try_from(value.clone()).map_err(|error| error.to_string());
    match (value.kind(), digits) {
        (ValueKind::None, _) => Ok(None),
        (ValueKind::String, _) => Ok(Some(Amount::Words(value.to_string()))),
        (ValueKind::Number, Some(digits)) => Ok(Some(Amount::Decimal(number(value)?, digits))),
        (ValueKind::Number, None) if value.is_integer() => match u64::try_from(value.clone()) {
            Ok(whole) => Ok(Some(Amount::Whole(whole))),
            Err(_) => Ok(Some(Amount::Decimal(number(value)?, 0))),
        },
        (ValueKind::Number, None) => Err(format!("{value} is not an integer, and `digits` is not given")),
        (ValueKind::Seq, digits) => {
            let item = |at: usize| value.get_item_by_index(at).map_err(|error| error.to_string());
            Ok(Some(Amount::Range(number(&item(0)?)?, number(&item(1)?)?, digits.unwrap_or(0))))
        }
        (kind, _) => Err(format!("{kind} is not an amount")),
    }
}

/// The facts, and the list elements that are bound to `it` and `one`.
struct Scope<'e> {
    language: &'e Environment<'static>,
    facts: Value,
}

impl Scope<'_> {
    fn value(&self, expression: &str) -> Result<Value, Error> {
        self.language.compile_expression_owned(expression.to_owned())?.eval(&self.facts)
    }

    fn text(&self, template: &str) -> Result<String, Error> {
        self.language.render_str(template, &self.facts)
    }

    /// For every element of a list, calls `then` if the condition holds. Without a list, calls `then` once
    /// if the condition holds.
    fn each(
        &self,
        list: Option<&str>,
        condition: Option<&str>,
        name: &str,
        then: &mut dyn FnMut(&Scope<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let scopes: Vec<Value> = match list {
            None => vec![self.facts.clone()],
            Some(list) => {
                let bound =
                    |item| context! { ..Value::from_iter([(name.to_owned(), item)]), ..self.facts.clone() };
                self.value(list)?.try_iter()?.map(bound).collect()
            }
        };
        for facts in scopes {
            let scope = Scope { facts, ..*self };
            let holds = condition.map_or(Ok(true), |when| scope.value(when).map(|value| value.is_true()))?;
            if holds {
                then(&scope)?;
            }
        }
        Ok(())
    }
}

/// Evaluates a template. In files ending in `.md`, inserted values are escaped for Markdown tables.
pub(crate) fn fill(name: &str, template: &str, facts: &Value) -> Result<String, ReproduceError> {
    let filled = language().render_named_str(name, template, facts);
    filled.map_err(|error| ReproduceError::Defect(format!("{name}: {error:#}")))
}

/// Returns the template language with the number formats of this project.
fn language() -> Environment<'static> {
    let mut language = Environment::new();
    language.set_undefined_behavior(UndefinedBehavior::Strict);
    language.set_trim_blocks(true);
    language.set_lstrip_blocks(true);
    language.set_keep_trailing_newline(true);
    language.set_auto_escape_callback(|_| AutoEscape::None);
    language.set_formatter(|out, state, value| out.write_str(&shown(state, value)).map_err(Error::from));
    let none = || "-".to_owned();
    language.add_filter("fixed", move |number: Option<f64>, digits: usize| {
        number.map_or_else(none, |number| fixed(number, digits))
    });
    language.add_filter("percent", move |number: Option<f64>, digits: Option<usize>| {
        number.map_or_else(none, |number| format!("{} %", fixed(number, digits.unwrap_or(2))))
    });
    language.add_filter("gap", |number: f64| plimsoll_lab::report::percent(number));
    language.add_filter("signed", |number: f64, digits: usize| format!("{number:+.digits$}"));
    language.add_filter("millis", |micros: Option<i64>| {
        let shown = |micros: i64| {
            let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
            format!("{sign}{}.{:03}", micros / 1000, micros % 1000)
        };
        micros.map_or_else(|| "none".to_owned(), shown)
    });
    language
}

fn fixed(number: f64, digits: usize) -> String {
    format!("{:.digits$}", unsigned_zero(number, digits))
}

/// Formats a value. Numbers are formatted as in Rust, and `none` is formatted as a dash.
fn shown(state: &State<'_, '_>, value: &Value) -> String {
    let text = match value.kind() {
        ValueKind::None => "-".to_owned(),
        ValueKind::Number if !value.is_integer() => {
            f64::try_from(value.clone()).map_or_else(|_| value.to_string(), |number| number.to_string())
        }
        _ => value.to_string(),
    };
    let is_markdown = Path::new(state.name()).extension().is_some_and(|extension| extension == "md");
    if is_markdown { escaped(&text) } else { text }
}

/// Escapes text for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(rows: &str) -> Sheet {
        let head = "name = 'n'\nsource = 's'\ntitle = 't'\nabout = 'a'\ntakes = 't'\n";
        toml::from_str(&format!("{head}{rows}")).unwrap()
    }

    #[test]
    fn a_row_appears_per_element_where_its_condition_holds() {
        let sheet = sheet(
            "[[groups]]\ntable = 'table {{ it.at }}'\neach = 'list'\nrows = [\n\
             { row = 'r {{ one }}', each = 'it.of', when = 'one > 1', printed = '2', ours = 'one / 3', digits = 2, printed_digits = 0, expect = 'other', reason = 'by {{ one }}' },\n\
             { row = 's', printed = \"'a'\", ours = 'it.none', unit = 'u', reason = '' },\n]",
        );
        let list = [
            context! { at => 1, of => [1, 2, 3], none => () },
            context! { at => 2, of => [0; 0], none => "a" },
        ];
        let rows = sheet.rows(&context! { list }).unwrap();
        let names: Vec<String> = rows.iter().map(|row| format!("{} {}", row.table, row.row)).collect();
        assert_eq!(names, ["table 1 r 2", "table 1 r 3", "table 1 s", "table 2 s"]);
        assert_eq!(rows[0].ours, Some(Amount::Decimal(2.0 / 3.0, 2)));
        assert_eq!((&rows[0].printed, rows[0].reason.as_str()), (&Some(Amount::Decimal(2.0, 0)), "by 2"));
        assert_eq!((&rows[2].ours, rows[2].unit.as_str()), (&None, "u"));
        assert!(rows[3].printed.as_ref().unwrap().agrees(rows[3].ours.as_ref().unwrap()));
    }

    #[test]
    fn missing_facts_are_errors() {
        let wrong = |row: &str| {
            let sheet = sheet(&format!("[[groups]]\ntable = 't'\nrows = [{row}]"));
            sheet.rows(&context! { half => 0.5 }).unwrap_err().to_string()
        };
        assert!(wrong("{ row = '{{ absent }}', reason = '' }").starts_with("n, t: "));
        assert!(wrong("{ row = 'r', ours = 'half', reason = '' }").contains("r: half: "));
        assert!(wrong("{ row = 'r', expect = 'perhaps', reason = '' }").contains("expect 'perhaps'"));
    }

    #[test]
    fn numbers_are_shown_as_elsewhere() {
        let filled =
            |template: &str| fill("x.md", template, &context! { a => 5.0, b => "p|q", c => () }).unwrap();
        assert_eq!(
            filled("{{ a }} {{ a | fixed(2) }} {{ a | percent }} {{ c | fixed(1) }} {{ c }}"),
            "5 5.00 5.00 % - -"
        );
        assert_eq!(
            filled("{{ b }} {{ -0.001 | fixed(2) }} {{ 1234 | millis }} {{ -4 | millis }}"),
            "p\\|q 0.00 1.234 -0.004"
        );
        assert_eq!(filled("{{ 2.5 | signed(2) }} {{ 0.001 | gap }}"), "+2.50 <0.01");
    }
}
