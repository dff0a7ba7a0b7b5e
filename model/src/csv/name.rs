//! The name and the capacity of an instance in its file name, as in `X.1048576.csv`.

use super::error::{CsvError, CsvErrorKind};
use crate::units::Bytes;
use std::path::Path;

/// The digits that a capacity has at least if the name before it ends in a digit. Shorter numbers belong to
/// the name, as in `mobilenet_v1_1.0.csv` and `net_0.25.csv`.
const DIGITS: usize = 4;

/// Returns the capacity in a file name of the form of `MiniMalloc`, such as `A.1048576.csv` and
/// `input.12.csv`: the number between the last two dots. Returns `None` if there is no such number, if it is
/// out of range, or if it looks like a part of the name. The latter is the case for a number of less than
/// four digits that begins with 0, or that follows a name with a digit at its end.
pub fn capacity_from_name(path: &Path) -> Option<Bytes> {
    let (name, number) = parts(path)?;
    is_capacity(name, number).then(|| number.parse().ok().map(Bytes::new))?
}

/// Derives the name of an instance from its file name: `X` for `dir/X.1048576.csv` and for `X.csv`.
pub fn instance_name(path: &Path) -> String {
    match (capacity_from_name(path), parts(path)) {
        (Some(_), Some((name, _))) => name.to_owned(),
        _ => path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
    }
}

/// Returns the file name of an instance, from which [`capacity_from_name`] reads the same capacity: `X.csv`,
/// or `X.1048576.csv` with a capacity.
pub fn file_name(name: &str, capacity: Option<Bytes>) -> String {
    let Some(capacity) = capacity else { return format!("{name}.csv") };
    let plain = capacity.to_string();
    let width = if is_capacity(name, &plain) { 0 } else { DIGITS };
    format!("{name}.{plain:0>width$}.csv")
}

fn parts(path: &Path) -> Option<(&str, &str)> {
    path.file_stem()?.to_str()?.rsplit_once('.').filter(|(name, _)| !name.is_empty())
}

/// Returns true if `number`, which follows `name` and a dot, is a capacity.
fn is_capacity(name: &str, number: &str) -> bool {
    let is_short = number.len() < DIGITS;
    let is_part = name.ends_with(|last: char| last.is_ascii_digit()) || number.starts_with('0');
    is_number(number) && !(is_short && is_part)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the capacity as [`capacity_from_name`] does, or an error if the number is negative or out of
/// range.
pub(super) fn checked_capacity(path: &Path) -> Result<Option<Bytes>, CsvError> {
    let found = capacity_from_name(path);
    let (name, number) = parts(path).unwrap_or_default();
    let digits = number.strip_prefix('-').unwrap_or(number);
    if found.is_none() && is_capacity(name, digits) {
        let expected = "a capacity in bytes (the number before '.csv' is the capacity)";
        let kind = Box::new(CsvErrorKind::BadValue { value: number.to_owned(), expected });
        return Err(CsvError { file: path.display().to_string(), line: None, column: None, kind });
    }
    Ok(found)
}

/// Returns a remark if a file name contains a number that could be meant as a capacity, but is not read as
/// one.
pub(super) fn remark(path: &Path) -> Option<String> {
    let (name, number) = parts(path)?;
    let could_be = is_number(number) && !number.starts_with('0') && !is_capacity(name, number);
    could_be.then(|| {
        format!(
            "'{number}' in the file name is part of the name and no capacity, because it follows a digit; \
             --capacity sets one"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn capacities_have_the_form_of_minimalloc() {
        let capacity = |name: &str| capacity_from_name(Path::new(name)).map(Bytes::get);
        for (name, bytes) in [
            ("dir/A.1048576.csv", 1_048_576),
            ("input.12.csv", 12),
            ("deep.net.4096.csv", 4096),
            ("G_1.98304.csv", 98_304),
            ("pool.2024.csv", 2024),
            ("net-3.0064.csv", 64),
            ("net.0000.csv", 0),
        ] {
            assert_eq!(capacity(name), Some(bytes), "{name}");
        }
        for name in [
            "A.csv",
            "12.csv",
            ".12.csv2",
            "A.12B.csv",
            "A.-3.csv",
            "A..csv",
            "mobilenet_v1_1.0.csv",
            "mobilenet_v1_0.25.csv",
            "mobilenet_v2_1.4.csv",
            "pangu_2.6B.csv",
            "resnet.v1.5.csv",
            "b0.7.csv",
            "2026.11.29.csv",
            "net.0.csv",
            "net.007.csv",
            "A.99999999999999999999999.csv",
        ] {
            assert_eq!(capacity(name), None, "{name}");
        }
        assert_eq!(instance_name(Path::new("dir/mobilenet_v1_1.0.csv")), "mobilenet_v1_1.0");
        assert_eq!(instance_name(Path::new("dir/deep.net.4096.csv")), "deep.net");
        assert!(remark(Path::new("net-3.64.csv")).is_some());
        assert!(
            ["net.64.csv", "net-3.csv", "net_1.0.csv"].iter().all(|name| remark(Path::new(name)).is_none())
        );
    }

    proptest! {
        #[test]
        fn capacities_are_read_back(name in "[a-z0-9._-]{0,5}[a-z0-9]", bytes in 0..20_000_u64) {
            let file = file_name(&name, Some(Bytes::new(bytes)));
            let path = Path::new(&file);
            prop_assert_eq!((instance_name(path), capacity_from_name(path)), (name, Some(Bytes::new(bytes))));
        }
    }
}
