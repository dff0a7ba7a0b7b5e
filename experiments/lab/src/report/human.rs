//! Formats sizes, counts and times for people.

use std::fmt::Display;

/// Formats a number of bytes in binary units with three significant digits: `11 B`, `1.25 MiB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = 0;
    let mut scaled = number as f64;
    // 999.5 would be rounded to four digits.
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    match scaled {
        _ if unit == 0 => format!("{number} B"),
        scaled if scaled < 9.995 => format!("{scaled:.2} {}", UNITS[unit]),
        scaled if scaled < 99.95 => format!("{scaled:.1} {}", UNITS[unit]),
        scaled => format!("{scaled:.0} {}", UNITS[unit]),
    }
}

/// Formats a number of bytes, followed by binary units if it has at least five digits: `11 bytes`, `1310720
/// bytes (1.25 MiB)`.
pub fn exact(number: u64) -> String {
    if number == 1 { "1 byte".to_owned() } else { sized(number, " bytes") }
}

/// Formats a number of bytes and the words after it, followed by binary units if it has at least five digits:
/// `11 live bytes`, `1310720 live bytes (1.25 MiB)`.
pub fn sized(number: u64, words: &str) -> String {
    match number {
        0..10_000 => format!("{number}{words}"),
        _ => format!("{number}{words} ({})", bytes(number)),
    }
}

/// Formats a number with its noun in the singular or the plural: `1 buffer`, `2 buffers`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let s = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Formats a duration in seconds with three significant digits: `3.10 ms`, `12.5 s`, `2 min 5 s`.
pub fn seconds(number: f64) -> String {
    let digits = |scaled: f64, unit: &str| match scaled {
        scaled if scaled < 9.995 => format!("{scaled:.2} {unit}"),
        scaled if scaled < 99.95 => format!("{scaled:.1} {unit}"),
        scaled => format!("{scaled:.0} {unit}"),
    };
    match number {
        number if number <= 0.0 => "0 s".to_owned(),
        number if number < 999.5e-9 => digits(number * 1e9, "ns"),
        number if number < 999.5e-6 => digits(number * 1e6, "µs"),
        number if number < 0.9995 => digits(number * 1e3, "ms"),
        number if number < 99.95 => digits(number, "s"),
        number => format!("{} min {} s", (number.round() as u64) / 60, (number.round() as u64) % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let shown = [0, 999, 1000, 1024, 10_239, 1_310_720, 14_614_528, 1_047_552, u64::MAX].map(bytes);
        let text = [
            "0 B", "999 B", "0.98 KiB", "1.00 KiB", "10.0 KiB", "1.25 MiB", "13.9 MiB", "1.00 MiB",
            "16.0 EiB",
        ];
        assert_eq!(shown, text);
        assert_eq!([1, 9_999, 1_310_720].map(exact), ["1 byte", "9999 bytes", "1310720 bytes (1.25 MiB)"]);
        assert_eq!([11, 1_310_720].map(|number| sized(number, "")), ["11", "1310720 (1.25 MiB)"]);
    }

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!([0, 1, 2].map(|number: u64| count(number, "row")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!(count(1_usize, "live buffer"), "1 live buffer");
    }

    #[test]
    fn durations_have_three_digits() {
        let shown = [0.0, 2e-9, 0.0031, 0.99951, 12.5, 125.2].map(seconds);
        assert_eq!(shown, ["0 s", "2.00 ns", "3.10 ms", "1.00 s", "12.5 s", "2 min 5 s"]);
    }
}
