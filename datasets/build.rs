//! Compresses the captured instances for the feature `captured`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "captured")]
    captured().expect("the files that captured/manifest.csv lists are readable");
}

/// Writes the files that the manifest lists into one compressed archive. Each file is preceded by a line with
/// its path and its length in bytes.
#[cfg(feature = "captured")]
fn captured() -> std::io::Result<()> {
    use std::path::{Path, PathBuf};
    let folder = Path::new("captured");
    println!("cargo::rerun-if-changed=captured");
    let mut archive = Vec::new();
    for row in std::fs::read_to_string(folder.join("manifest.csv"))?.lines().skip(1) {
        let file = row.split(',').next().unwrap_or_default();
        let data = std::fs::read(folder.join(file))?;
        archive.extend(format!("{file} {}\n", data.len()).into_bytes());
        archive.extend(data);
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("captured"), miniz_oxide::deflate::compress_to_vec(&archive, 9))
}
