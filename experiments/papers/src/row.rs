//! A row of a reproduction, which compares a printed number with the computed one ("ours").

use plimsoll_lab::report::table::{Align, Table};
use plimsoll_support::words;
use std::fmt;
use std::io::{self, Write};

/// A printed or computed value: a number with a precision, a range, or text.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// An integer.
    Whole(u64),
    /// A number, and the number of its decimals.
    Decimal(f64, usize),
    /// The two ends of a range, and the number of their decimals.
    Range(f64, f64, usize),
    /// Text.
    Words(String),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Decimal(number, digits) => write!(f, "{:.digits$}", unsigned_zero(*number, *digits)),
            Self::Range(low, high, digits) => write!(f, "{low:.digits$} to {high:.digits$}"),
            Self::Words(words) => f.write_str(words),
        }
    }
}

/// Returns the number, or zero if it is displayed as zero, to avoid a minus sign.
pub(crate) fn unsigned_zero(number: f64, digits: usize) -> f64 {
    let half = 0.5 * 0.1_f64.powi(i32::try_from(digits).unwrap_or(0));
    if number.abs() < half { 0.0 } else { number }
}

impl Amount {
    fn number(&self) -> Option<(f64, usize)> {
        match self {
            Self::Whole(number) => Some((*number as f64, 0)),
            Self::Decimal(number, digits) => Some((*number, *digits)),
            Self::Range(..) | Self::Words(_) => None,
        }
    }

    /// Returns true if `ours` equals the printed value at the printed precision, or is within the printed
    /// range.
    pub fn agrees(&self, ours: &Self) -> bool {
        match (self, ours) {
            (Self::Whole(printed), Self::Whole(ours)) => printed == ours,
            (Self::Words(printed), Self::Words(ours)) => printed == ours,
            (Self::Range(low, high, _), ours) => {
                ours.number().is_some_and(|(ours, _)| (*low..=*high).contains(&ours))
            }
            (printed, ours) => match (printed.number(), ours.number()) {
                (Some((printed, digits)), Some((ours, _))) => {
                    let shown = |number: f64| format!("{:.digits$}", unsigned_zero(number, digits));
                    shown(printed) == shown(ours)
                }
                _ => false,
            },
        }
    }

    /// Returns `ours` minus the printed number. For a printed range, returns the signed distance of `ours`
    /// from the range. Returns `None` if `ours` is a range, or if either value is text.
    pub fn difference(&self, ours: &Self) -> Option<Self> {
        let (other, digits) = ours.number()?;
        if let Self::Range(low, high, more) = self {
            let outside = if other < *low { other - low } else { (other - high).max(0.0) };
            return Some(Self::Decimal(outside, digits.max(*more)));
        }
        let (own, more) = self.number()?;
        Some(Self::Decimal(other - own, digits.max(more)))
    }
}

/// The expected verdict of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The computed value equals the printed one.
    Same,
    /// The computed value differs from the printed one, for the given reason.
    Different,
    /// There is no expectation, because the computed value was obtained with another input or on another
    /// machine.
    Open,
}

impl Expected {
    /// Returns the expectation that a word in the data files stands for.
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word {
            "same" => Some(Self::Same),
            "differs" => Some(Self::Different),
            "other" => Some(Self::Open),
            _ => None,
        }
    }
}

words! {
    /// The verdict of a row. Summaries list the verdicts in this order.
    Verdict {
        /// The computed value equals the printed one.
        Same => "same",
        /// The computed value differs, for a known reason.
        Explained => "differs",
        /// The computed value differs, and it was obtained with another input or on another machine. The reason
        /// states what is different.
        Other => "other input",
        /// There is no printed value.
        Own => "ours alone",
        /// There is no computed value; the reason is given.
        Missing => "not computed",
        /// The result is not the expected one.
        Unexpected => "UNEXPECTED",
    }
}

/// A printed number, the computed number, and the reason for a difference.
#[derive(Clone, Debug)]
pub struct Row {
    /// The table, figure or section of the paper.
    pub table: String,
    /// The label of the row within its table.
    pub row: String,
    /// The printed value, or `None` if nothing is printed.
    pub printed: Option<Amount>,
    /// The computed value, or `None` if it cannot be computed.
    pub ours: Option<Amount>,
    /// The unit of the printed and the computed value.
    pub unit: String,
    /// The reason for a difference, or the method of computation.
    pub reason: String,
    /// The expected verdict.
    pub expected: Expected,
}

impl Row {
    /// Derives the verdict from the printed value, the computed value and the expectation.
    pub fn verdict(&self) -> Verdict {
        let (Some(printed), Some(ours)) = (&self.printed, &self.ours) else {
            return if self.ours.is_some() { Verdict::Own } else { Verdict::Missing };
        };
        match (self.expected, printed.agrees(ours)) {
            (Expected::Same | Expected::Open, true) => Verdict::Same,
            (Expected::Different, false) => Verdict::Explained,
            (Expected::Open, false) => Verdict::Other,
            (Expected::Same, false) | (Expected::Different, true) => Verdict::Unexpected,
        }
    }

    /// Returns the printed value, the computed value and the difference as text. A missing value becomes an
    /// empty string.
    fn numbers(&self) -> [String; 3] {
        let text = |amount: Option<&Amount>| amount.map_or_else(String::new, ToString::to_string);
        let difference = self.printed.as_ref().zip(self.ours.as_ref()).and_then(|(a, b)| a.difference(b));
        let shown = text(difference.as_ref());
        let shown = if shown.is_empty() || shown.starts_with('-') || is_zero(&shown) {
            shown
        } else {
            format!("+{shown}")
        };
        [text(self.printed.as_ref()), text(self.ours.as_ref()), shown]
    }

    /// Returns two lines. The first contains the label of the row, the printed value, the computed value and
    /// the verdict. The second contains the indented reason.
    pub fn in_words(&self) -> String {
        let ([printed, ours, _], verdict) = (self.numbers(), self.verdict().as_str());
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let head = format!("{}, {}: printed {printed}, ours {ours}{unit} ({verdict})", self.table, self.row);
        format!("{head}\n    {}\n", self.reason.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the cells in the order of [`COLUMNS`].
    fn cells(&self) -> [String; 8] {
        let ([printed, ours, difference], verdict) = (self.numbers(), self.verdict().as_str().to_owned());
        let [table, row, unit, reason] =
            [&self.table, &self.row, &self.unit, &self.reason].map(String::clone);
        [table, row, printed, ours, difference, unit, verdict, reason]
    }
}

fn is_zero(text: &str) -> bool {
    text.chars().all(|c| c == '0' || c == '.')
}

const COLUMNS: [(&str, Align); 8] = [
    ("table", Align::Left),
    ("row", Align::Left),
    ("printed", Align::Right),
    ("ours", Align::Right),
    ("difference", Align::Right),
    ("unit", Align::Left),
    ("verdict", Align::Left),
    ("reason", Align::Left),
];

/// Returns the rows as a table.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(COLUMNS);
    for row in rows {
        let mut cells = row.cells();
        for number in cells.iter_mut().skip(2).take(3).filter(|number| number.is_empty()) {
            "-".clone_into(number);
        }
        table.row(cells);
    }
    table
}

/// Writes rows as CSV. The first column is the name of the paper.
///
/// # Errors
/// Any error from `output`.
pub fn write_rows<'a>(
    rows: impl IntoIterator<Item = (&'a str, &'a Row)>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(["paper"].into_iter().chain(COLUMNS.map(|(name, _)| name)))?;
    for (paper, row) in rows {
        writer.write_record([paper.to_owned()].into_iter().chain(row.cells()))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(printed: Option<Amount>, ours: Option<Amount>, expected: Expected) -> Row {
        let [table, row, unit, reason] = ["t, 1", "a \"b\"", "bytes", "by\nhand"].map(str::to_owned);
        Row { table, row, printed, ours, unit, reason, expected }
    }

    #[test]
    fn verdicts_follow_from_numbers_and_expectations() {
        let outcome = |printed: Option<u64>, ours: Option<u64>, expected| {
            let row = row(printed.map(Amount::Whole), ours.map(Amount::Whole), expected);
            (row.numbers()[2].clone(), row.verdict())
        };
        let against = |ours, expected| outcome(Some(46), ours, expected);
        assert_eq!(against(Some(46), Expected::Same), ("0".to_owned(), Verdict::Same));
        assert_eq!(against(Some(47), Expected::Same), ("+1".to_owned(), Verdict::Unexpected));
        assert_eq!(against(Some(43), Expected::Different), ("-3".to_owned(), Verdict::Explained));
        assert_eq!(against(Some(46), Expected::Different), ("0".to_owned(), Verdict::Unexpected));
        assert_eq!(against(Some(9), Expected::Open).1, Verdict::Other);
        assert_eq!(against(None, Expected::Same), (String::new(), Verdict::Missing));
        assert_eq!(outcome(None, Some(3), Expected::Same).1, Verdict::Own);
    }

    #[test]
    fn numbers_are_compared_as_printed() {
        let decimal = |number, digits| Amount::Decimal(number, digits);
        let words = |text: &str| Amount::Words(text.to_owned());
        assert!(decimal(5.9, 1).agrees(&decimal(5.882, 2)));
        assert!(!decimal(75.1, 1).agrees(&decimal(75.93, 2)));
        assert!(decimal(0.0, 2).agrees(&decimal(-0.001, 3)));
        assert_eq!(decimal(-0.001, 2).to_string(), "0.00");
        let range = Amount::Range(50.0, 80.0, 0);
        assert!(range.agrees(&decimal(74.77, 2)) && !range.agrees(&decimal(28.0, 2)));
        assert_eq!(range.difference(&decimal(28.02, 2)).unwrap().to_string(), "-21.98");
        assert_eq!(range.difference(&decimal(96.5, 1)).unwrap().to_string(), "16.5");
        assert!(words("a").agrees(&words("a")) && words("a").difference(&words("a")).is_none());
        assert!(!words("3").agrees(&Amount::Whole(3)));
    }

    #[test]
    fn rows_are_quoted() {
        let amount = Some(Amount::Words("x".to_owned()));
        let row = row(amount.clone(), amount, Expected::Same);
        let mut text = Vec::new();
        write_rows([("p", &row)], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("paper,table,row,printed,ours,difference,unit,verdict,reason\n"), "{text}");
        assert!(text.contains("p,\"t, 1\",\"a \"\"b\"\"\",x,x,,bytes,same,\"by\nhand\"\n"), "{text}");
    }
}
