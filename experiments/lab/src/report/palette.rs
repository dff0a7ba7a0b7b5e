//! Colours that remain distinct for colour-blind readers.

use super::scene::RULE;

/// A colour as an SVG attribute value.
pub(super) type Colour = String;

/// The light qualitative scheme of Paul Tol (Colour Schemes, SRON/EPS/TN/09-002), as red, green and blue. The
/// colours are distinct under every common colour vision deficiency, and light enough for black text.
const LIGHT: [[u8; 3]; 8] = [
    [0x77, 0xaa, 0xdd],
    [0xee, 0x88, 0x66],
    [0xee, 0xdd, 0x88],
    [0xff, 0xaa, 0xbb],
    [0x99, 0xdd, 0xff],
    [0x44, 0xbb, 0x99],
    [0xbb, 0xcc, 0x33],
    [0xaa, 0xaa, 0x00],
];

/// The scheme of Okabe and Ito (2008) for lines and bars on a light or a dark page, with a darker yellow.
const STRONG: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b09b00", "#56b4e9", "#e69f00"];

/// The index of black among the colours of lines.
pub const BLACK: usize = STRONG.len();

/// Returns the stroke of a line as SVG attributes. The colours repeat cyclically. On a dark page, black is
/// replaced by light grey.
pub(super) fn stroke_of(index: usize) -> String {
    match index % (STRONG.len() + 1) {
        BLACK => RULE.to_owned(),
        colour => format!("stroke=\"{}\"", STRONG[colour]),
    }
}

/// Returns the fill of a bar: grey for the first series, and then the colours of lines. The colours repeat
/// cyclically.
pub(super) fn bar_colour(series: usize) -> &'static str {
    match series % (STRONG.len() + 1) {
        0 => "#9aa5b1",
        colour => STRONG[colour - 1],
    }
}

/// Shares of white that are mixed into a colour, in percent.
const TINTS: [u32; 3] = [0, 20, 40];

/// Returns a colour of the scheme with white mixed in.
fn tinted(colour: usize, tint: usize) -> Colour {
    let white = TINTS[tint % TINTS.len()];
    let mixed = LIGHT[colour % LIGHT.len()]
        .map(|part| ((u32::from(part) * (100 - white) + 255 * white) / 100).min(255));
    format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
}

/// Returns the colour of a name. The colour depends only on the 64-bit FNV-1a hash of the name, so it is the
/// same in every picture.
pub(super) fn colour_of(name: &str) -> Colour {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The last byte alone barely changes the high bits, so all bits are mixed.
    let mixed = ((hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 40) as usize;
    tinted(mixed, mixed / LIGHT.len())
}

/// Returns the colour of the buffer at position `at` of the instance: a shade of the colour of its group.
/// Buffers without a group are grey.
pub(super) fn group_colour(group: Option<usize>, at: usize) -> Colour {
    match group {
        None => format!("hsl(0,0%,{}%)", 80 + 4 * (at % 3)),
        Some(group) => tinted(group, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_keep_their_colour_and_spread_over_the_scheme() {
        assert_eq!(colour_of("conv1"), colour_of("conv1"));
        let all: BTreeSet<Colour> = (0..400).map(|at| colour_of(&format!("b{at}"))).collect();
        assert_eq!(all.len(), LIGHT.len() * TINTS.len());
        assert_eq!((tinted(0, 0), tinted(0, 1)), ("#77aadd".to_owned(), "#92bbe3".to_owned()));
    }
}
