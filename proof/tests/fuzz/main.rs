//! Runs the fuzz targets `proof_text` and `order_proof_text` on their seeds and on edited copies of them.

mod body;

use body::{INSTANCES, order_proof_text, proof_text};
use plimsoll_proof::{Instance, check, check_orders};
use proptest::prelude::*;
use std::path::Path;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn seeds_prove_the_optima() {
    for seed in seeds("proof_text") {
        proof_text(&seed);
        if let Some(end) = seed.iter().position(|&byte| byte == 0) {
            let instance = Instance::from_csv(std::str::from_utf8(&seed[..end]).unwrap()).unwrap();
            check(&instance, &seed[end + 1..], &|| false).unwrap();
        } else {
            let (csv, optimum) = INSTANCES[usize::from(seed[0]) % INSTANCES.len()];
            let proved = check(&Instance::from_csv(csv).unwrap(), &seed[1..], &|| false).unwrap();
            assert_eq!(proved.bound, optimum);
        }
    }
}

#[test]
fn seeds_about_orders_are_proofs() {
    let seeds = seeds("order_proof_text");
    for seed in &seeds {
        order_proof_text(seed);
        assert!(check_orders(seed.as_slice(), &|| false).is_ok(), "{}", String::from_utf8_lossy(seed));
    }
    // Together, the seeds contain all statements.
    let all = String::from_utf8(seeds.concat()).unwrap();
    for word in ["e", "r", "x", "drop", "skip", "keep", "reverse", "held"] {
        assert!(all.lines().any(|line| line.split(' ').next() == Some(word)), "{word}");
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
        seed in prop::sample::select(seeds("proof_text")),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..7, prop::sample::select(vec![
            "0", "1", "7", "26", "18446744073709551616", "-1", "0<1", "1<0", "x 0 1", "u 1", "clause 9 0<1",
            "delete 1", "twin 0 1", "mirror 0 1", "buffer b3", "bound 26", "t 0 1 2", "\u{e9}",
        ])), 1..6),
    ) {
        proof_text(&edited(&seed, &edits));
    }
    #[test]
    fn edited_texts_about_orders_prove_nothing_false(
        seed in prop::sample::select(seeds("order_proof_text")),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..7, prop::sample::select(vec![
            "0", "1", "7", "26", "18446744073709551615", "18446744073709551616", "-1", "0+1", "1+0", "x 0", "e",
            "r 0", "r 1+2", "skip 0", "keep 0 1", "reverse", "held", "operator 3 0", "storage 4 start 1",
            "storage 5 end 0 1", "bound 26", "region 1:other", "c x", "\u{e9}",
        ])), 1..6),
    ) {
        order_proof_text(&edited(&seed, &edits));
    }
}
