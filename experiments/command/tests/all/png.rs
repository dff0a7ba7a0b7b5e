//! Tests pictures that are written as PNG.

use crate::common::{Scratch, TINY, lean};

/// Commands that draw a picture, without the file name that follows their last option.
const DRAWN: [&[&str]; 7] = [
    &["solve", "tiny.9.csv", "--plot"],
    &["compare", "tiny.9.csv", "layout.csv", "--plot"],
    &["spill", "tiny.9.csv", "--capacity", "6", "--plot"],
    &["plan", "net.json", "--plot"],
    &["order", "net.json", "--plot"],
    &["overlap", "net.json", "--machine", "generic", "--gantt"],
    &["overlap", "net.json", "--machine", "generic", "--front", "--plot"],
];

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tiny.9.csv", TINY);
    scratch.write("layout.csv", "id,offset\na,0\nb,4\nc,4\n");
    scratch.plimsoll(&["generate", "lenet5", "--out", "net.json"]).exits(0);
    scratch
}

#[test]
fn the_suffix_of_a_picture_selects_its_format() {
    let scratch = scratch();
    for words in DRAWN {
        scratch.plimsoll(&[words, &["map.svg"]].concat()).exits(0);
        assert!(scratch.read("map.svg").starts_with("<svg "), "{words:?}");
        let words = [words, &["map.png"]].concat();
        if cfg!(not(feature = "png")) || lean().is_some() {
            scratch.plimsoll(&words).refuses(&["map.png", "this build cannot write PNG; use .svg"]);
            assert!(!scratch.path("map.png").exists());
            continue;
        }
        let run = scratch.plimsoll(&words);
        if run.stderr.contains("this system has no fonts") {
            run.exits(2);
            continue;
        }
        run.exits(0);
        let data = std::fs::read(scratch.path("map.png")).unwrap();
        assert_eq!(&data[..8], b"\x89PNG\r\n\x1a\n", "{words:?}");
        let side = |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
        assert!(side(16) > 1000 && side(20) > 500, "{words:?}: {} x {}", side(16), side(20));
        std::fs::remove_file(scratch.path("map.png")).unwrap();
    }
}

/// The font configuration lists only an empty folder.
#[cfg(all(target_os = "linux", feature = "png"))]
#[test]
fn a_picture_without_fonts_is_refused() {
    if lean().is_some() {
        return;
    }
    let scratch = scratch();
    std::fs::create_dir(scratch.path("none")).unwrap();
    let folder = scratch.path("none");
    let text = format!("<?xml version=\"1.0\"?><fontconfig><dir>{}</dir></fontconfig>", folder.display());
    let fonts = scratch.write("fonts.conf", text);
    let words = ["solve", "tiny.9.csv", "--plot", "map.png"];
    let run = crate::common::command(&scratch.path("."))
        .args(words)
        .env("FONTCONFIG_FILE", fonts)
        .output()
        .unwrap();
    crate::common::Run::from(run).refuses(&["map.png", "this system has no fonts"]);
    assert!(!scratch.path("map.png").exists());
}
