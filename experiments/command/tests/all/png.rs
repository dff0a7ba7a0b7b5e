//! Tests pictures that are written as PNG.

#[cfg(all(target_os = "linux", feature = "png"))]
use crate::common::{Run, command};
use crate::common::{Scratch, TINY, lean};

/// Commands that draw a picture, without the file name that follows their last option.
const DRAWN: [&str; 7] = [
    "solve tiny.9.csv --plot",
    "compare tiny.9.csv layout.csv --plot",
    "spill tiny.9.csv --capacity 6 --plot",
    "plan net.json --plot",
    "order net.json --plot",
    "overlap net.json --machine generic --gantt",
    "overlap net.json --machine generic --front --plot",
];

fn scratch() -> Scratch {
    let scratch = Scratch::with("tiny.9.csv", TINY);
    scratch.write("layout.csv", "id,offset\na,0\nb,4\nc,4\n");
    scratch.ok("generate lenet5 --out net.json");
    scratch
}

#[test]
fn the_suffix_of_a_picture_selects_its_format() {
    let scratch = scratch();
    for line in DRAWN {
        scratch.ok(format!("{line} map.svg"));
        assert!(scratch.read("map.svg").starts_with("<svg "), "{line}");
        let run = scratch.run(format!("{line} map.png"));
        if cfg!(not(feature = "png")) || lean().is_some() {
            run.refuses(&["map.png", "this build cannot write PNG; use .svg"]);
            assert!(!scratch.path("map.png").exists());
            continue;
        }
        if run.stderr.contains("this system has no fonts") {
            run.exits(2);
            continue;
        }
        run.exits(0);
        let data = std::fs::read(scratch.path("map.png")).unwrap();
        assert_eq!(&data[..8], b"\x89PNG\r\n\x1a\n", "{line}");
        let side = |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
        assert!(side(16) > 1000 && side(20) > 500, "{line}: {} x {}", side(16), side(20));
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
    let mut command = command(&scratch.path("."));
    let run =
        command.args(["solve", "tiny.9.csv", "--plot", "map.png"]).env("FONTCONFIG_FILE", fonts).output();
    Run::from(run.unwrap()).refuses(&["map.png", "this system has no fonts"]);
    assert!(!scratch.path("map.png").exists());
}
