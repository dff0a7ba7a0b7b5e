//! Sanitises SVG files before they are embedded into the page.
//!
//! Scripts in embedded content would run, so only the elements and attributes listed below are allowed. A
//! file with anything else (scripts, links, embedded pictures) is rejected as a whole, and the page shows
//! only its name and the reason. Identifiers are dropped because two pictures on a page could use the same
//! one. Styles are dropped because they would apply to the whole page.

use std::fmt::Write as _;

const ELEMENTS: [&str; 11] =
    ["svg", "g", "rect", "line", "path", "polyline", "polygon", "circle", "ellipse", "text", "title"];
const ATTRIBUTES: [&str; 37] = [
    "viewBox",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "dx",
    "dy",
    "d",
    "points",
    "width",
    "height",
    "transform",
    "fill",
    "fill-opacity",
    "fill-rule",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-linecap",
    "stroke-opacity",
    "opacity",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "text-anchor",
    "pointer-events",
    "dominant-baseline",
    "paint-order",
];
/// Attributes that are dropped because an embedded picture does not need them.
const DROPPED: [&str; 7] = ["xmlns", "version", "id", "class", "role", "aria-label", "xml:space"];

/// Returns the picture as the page embeds it, with the label `name`.
///
/// # Errors
/// Returns a description of the first construct that is not allowed.
pub fn fit(svg: &str, name: &str) -> Result<String, String> {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg.trim_start_matches('\u{feff}').trim();
    if let Some(after) = rest.strip_prefix("<?xml") {
        rest = after.split_once("?>").ok_or("the XML declaration has no end")?.1.trim_start();
    }
    let mut open: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let Some(after) = rest.strip_prefix('<') else {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            let is_blank = text.trim().is_empty();
            if open.is_empty() && !is_blank {
                return Err("text outside the svg element".to_owned());
            }
            out.push_str(if is_blank { "" } else { text });
            rest = after;
            continue;
        };
        if let Some(after) = after.strip_prefix("!--") {
            rest = after.split_once("-->").ok_or("a comment has no end")?.1;
            continue;
        }
        let (tag, after) = split_tag(after)?;
        rest = after;
        if tag == "style" {
            rest = rest.split_once("</style>").ok_or("a style has no end")?.1;
            continue;
        }
        if let Some(closed) = tag.strip_prefix('/') {
            let expected = open.pop();
            if expected != Some(closed.trim()) {
                return Err(format!("'</{closed}>' closes an element that is not open"));
            }
            let _ = write!(out, "</{}>", closed.trim());
            continue;
        }
        let empty = tag.ends_with('/');
        let tag = tag.strip_suffix('/').unwrap_or(tag);
        let (element, attributes) = tag.split_at(tag.find(char::is_whitespace).unwrap_or(tag.len()));
        if !ELEMENTS.contains(&element) || (element == "svg") != open.is_empty() {
            return Err(format!("the element '{element}' is not allowed"));
        }
        let _ = write!(out, "<{element}");
        if element == "svg" {
            let _ = write!(out, " role=\"img\" aria-label=\"{}\"", crate::report::scene::escape(name));
        }
        push_attributes(&mut out, element, attributes)?;
        out.push_str(if empty { "/>" } else { ">" });
        if !empty {
            open.push(element);
        }
    }
    if out.is_empty() || !open.is_empty() {
        return Err("an element is not closed".to_owned());
    }
    Ok(out)
}

/// Splits the rest of a file, whose first character follows a `<`, into the contents of the tag and the text
/// after its `>`. A quoted `>` does not end the tag.
fn split_tag(text: &str) -> Result<(&str, &str), String> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Ok((&text[..at], &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (None, '<') => break,
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    Err("a tag has no end".to_owned())
}

fn push_attributes(out: &mut String, element: &str, attributes: &str) -> Result<(), String> {
    let mut rest = attributes.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or("an attribute has no value")?;
        let (name, after) = (name.trim(), after.trim_start());
        let quote =
            after.chars().next().filter(|c| "\"'".contains(*c)).ok_or("an attribute value has no quotes")?;
        let (value, after) = after[1..].split_once(quote).ok_or("an attribute value has no closing quote")?;
        rest = after.trim_start();
        // The page sets the size of a picture.
        let sized = element == "svg" && ["width", "height"].contains(&name);
        if DROPPED.contains(&name) || sized {
            continue;
        }
        if !ATTRIBUTES.contains(&name) {
            return Err(format!("the attribute '{name}' is not allowed"));
        }
        if value.contains(['<', '"']) || value.contains("url") {
            return Err(format!("the value of the attribute '{name}' is not allowed"));
        }
        let _ = write!(out, " {name}=\"{value}\"");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_kept_and_identifiers_are_dropped() {
        let svg = "<?xml version=\"1.0\"?>\n<!-- > --><svg xmlns=\"x\" viewBox=\"0 0 9 9\" width=\"9\" id='a'>\n<g fill='red'><title>a &lt; b</title>\n<rect x=\"1\" y=\"2\"/></g></svg>\n";
        assert_eq!(
            fit(svg, "<n>").unwrap(),
            "<svg role=\"img\" aria-label=\"&lt;n&gt;\" viewBox=\"0 0 9 9\"><g fill=\"red\"><title>a &lt; b</title><rect x=\"1\" y=\"2\"/></g></svg>"
        );
    }

    #[test]
    fn active_and_external_content_is_rejected() {
        for bad in [
            "<svg><script>alert(1)</script></svg>",
            "<svg onload=\"x\"></svg>",
            "<svg><g onclick='x'/></svg>",
            "<svg><image href=\"http://x\"/></svg>",
            "<svg><rect fill=\"url(http://x)\"/></svg>",
            "<svg><rect style=\"x\"/></svg>",
            "<svg><g></svg>",
            "<svg>",
            "<svg></svg><b>",
            "<svg></svg>text",
            "<svg><rect x=\"1</svg>",
            "<!DOCTYPE html><svg></svg>",
            "plain",
            "",
        ] {
            assert!(fit(bad, "n").is_err(), "{bad}");
        }
    }
}
