//! Runs the fuzz target `proof_text` on its seeds and on edited copies of them.

mod body;

use body::{INSTANCES, proof_text};
use plimsoll_proof::{Instance, check};
use proptest::prelude::*;
use std::path::Path;

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/proof_text");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn seeds_prove_the_optima() {
    for seed in seeds() {
        proof_text(&seed);
        if let Some(end) = seed.iter().position(|&byte| byte == 0) {
            let instance = Instance::from_csv(std::str::from_utf8(&seed[..end]).unwrap()).unwrap();
            check(&instance, &seed[end + 1..]).unwrap();
        } else {
            let (csv, optimum) = INSTANCES[usize::from(seed[0]) % INSTANCES.len()];
            let proved = check(&Instance::from_csv(csv).unwrap(), &seed[1..]).unwrap();
            assert_eq!(proved.bound, optimum);
        }
    }
}

/// An edit of a seed: the line to change, the operation, and a new word.
type Edit = (prop::sample::Index, u8, &'static str);

fn edited(seed: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = seed.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for (at, what, word) in edits {
        let at = at.index(lines.len());
        match what {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines.swap(at, 0),
            3 => lines[at].extend_from_slice(format!(" {word}").as_bytes()),
            4 => {
                let blank = lines[at].iter().rposition(|&byte| byte == b' ').unwrap_or(0);
                lines[at].truncate(blank);
                lines[at].extend_from_slice(format!(" {word}").as_bytes());
            }
            5 => lines.truncate(at + 1),
            _ => lines.insert(at, word.as_bytes().to_vec()),
        }
    }
    lines.join(&b'\n')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn edited_texts_prove_nothing_false(
        seed in prop::sample::select(seeds()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..7, prop::sample::select(vec![
            "0", "1", "7", "26", "18446744073709551616", "-1", "0<1", "1<0", "x 0 1", "u 1", "clause 9 0<1",
            "delete 1", "twin 0 1", "mirror 0 1", "buffer b3", "bound 26", "t 0 1 2", "\u{e9}",
        ])), 1..6),
    ) {
        proof_text(&edited(&seed, &edits));
    }
}
