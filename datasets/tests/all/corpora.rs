//! Tests on real instances in the folder `PLIMSOLL_CORPORA`.

use plimsoll_datasets::{CORPORA_VARIABLE, MANIFEST};
use plimsoll_model::csv::{ReadOptions, read_instance, read_instance_file, write_instance};
use plimsoll_model::load;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Returns the folder of all corpora. Without one, prints that the test is skipped.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os(CORPORA_VARIABLE).filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!("skipped: {CORPORA_VARIABLE} is not set");
    }
    folder.map(PathBuf::from)
}

#[test]
fn instances_match_the_manifest() {
    let Some(folder) = folder() else { return };
    for corpus in MANIFEST.iter() {
        for (file, facts) in corpus.files.iter().filter_map(|file| Some((file, file.facts?))) {
            let path = folder.join(corpus.folder).join(file.name);
            let instance = read_instance_file(&path, ReadOptions::default()).unwrap();
            assert_eq!(instance.len(), facts.buffers, "{}", file.name);
            assert_eq!(load(&instance).0, facts.load, "{}", file.name);
            assert!(facts.optimum.is_none_or(|optimum| optimum >= facts.load), "{}", file.name);
            let mut written = Vec::new();
            write_instance(&instance, &mut written).unwrap();
            let again = read_instance(instance.name(), written.as_slice(), ReadOptions::default()).unwrap();
            assert_eq!(again.with_capacity(instance.capacity()), instance, "{}", file.name);
        }
    }
}

#[test]
fn files_are_the_listed_bytes() {
    let Some(folder) = folder() else { return };
    for corpus in MANIFEST.iter() {
        for file in &corpus.files {
            let path = folder.join(corpus.folder).join(file.name);
            let Ok(bytes) = std::fs::read(&path) else {
                eprintln!("not found: {}/{}", corpus.folder, file.name);
                continue;
            };
            let digest = Sha256::digest(&bytes);
            let digest: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digest.concat(), file.sha256, "{}/{}", corpus.folder, file.name);
        }
    }
}
