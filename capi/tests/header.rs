//! The header is generated from the code. `PLIMSOLL_WRITE_DOCS=1 cargo test -p plimsoll-capi` updates the
//! header.

use std::path::Path;

#[test]
fn the_header_agrees_with_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    let (header, text) = (folder.join("include/plimsoll.h"), String::from_utf8(text).unwrap());
    if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
        std::fs::write(&header, &text).unwrap();
    }
    let known = std::fs::read_to_string(&header).unwrap_or_default();
    assert_eq!(known, text, "the header is out of date: see the first lines of this test");
}
