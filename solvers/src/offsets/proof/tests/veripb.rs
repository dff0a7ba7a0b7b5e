//! Tests translated proofs with `VeriPB`, a proof checker of another project (`make test-veripb`).

use super::*;
use plimsoll_model::csv::write_layout;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// Files, and the program that checks them.
struct VeriPb {
    program: PathBuf,
    folder: tempfile::TempDir,
    /// Arguments of the translator. Each case has three: an instance, a proof or layout, and the name of the
    /// result.
    given: Vec<PathBuf>,
}

impl VeriPb {
    /// Uses the program whose path is in the environment variable `PLIMSOLL_VERIPB`.
    fn installed() -> Self {
        let program = std::env::var_os("PLIMSOLL_VERIPB").filter(|path| !path.is_empty());
        let program = program.expect("PLIMSOLL_VERIPB is not set: run `make test-veripb`").into();
        Self { program, folder: tempfile::tempdir().unwrap(), given: Vec::new() }
    }

    fn path(&self, case: usize, end: &str) -> PathBuf {
        self.folder.path().join(format!("{case}{end}"))
    }

    /// Adds a proof (`.proof`) or a layout (`.layout.csv`) to be translated. Returns the number of the case.
    fn give(&mut self, csv: &str, end: &str, text: &str) -> usize {
        let case = self.given.len() / 3;
        let files = [(".csv", csv), (end, text)];
        for (end, text) in files {
            std::fs::write(self.path(case, end), text).unwrap();
            self.given.push(self.path(case, end));
        }
        self.given.push(self.path(case, ""));
        case
    }

    /// Translates all cases. Returns the line that the translator printed for each.
    fn translate(&self) -> Vec<String> {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../proof/oracle/veripb.py");
        let run = Command::new("python3").arg(program).args(&self.given).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let printed: Vec<String> =
            String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(printed.len(), self.given.len() / 3);
        printed
    }

    fn run(&self, question: &Path, answer: &Path) -> Output {
        Command::new(&self.program).args([question, answer]).env("RUST_BACKTRACE", "0").output().unwrap()
    }

    /// Returns true if the program confirms the verdict of a case.
    fn confirms(&self, case: usize, end: &str, verdict: &str) -> bool {
        let files = [".opb", ".pbp"].map(|suffix| self.path(case, &format!("{end}{suffix}")));
        let run = self.run(&files[0], &files[1]);
        let printed = String::from_utf8_lossy(&run.stdout);
        run.status.success() && printed.lines().any(|line| line == format!("s VERIFIED {verdict}"))
    }

    fn bytes(&self, case: usize, end: &str) -> u64 {
        std::fs::metadata(self.path(case, end)).unwrap().len()
    }
}

const REFUTED: &str = "UNSATISFIABLE";

/// Proves a bound without sweeps, which the translator does not support.
fn learnt(instance: &Instance, bound: Bytes) -> Result<Proof, NoProof> {
    Proof::searched(instance, bound, (LearnRules::default(), u64::MAX), &mut Budget::unlimited())
}

fn above_load(buffers: u64, seed: u64) -> Instance {
    hard_above_load(AboveLoadParams::with_buffers(buffers), seed).unwrap().instance.with_capacity(None)
}

/// Returns the optimum and a layout that reaches it.
fn solved(t: &Instance) -> (Bytes, String) {
    let outcome = Exact::default().solve(t, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(outcome.claim, Claim::Optimal);
    let mut text = Vec::new();
    write_layout(t, &outcome.solution.unwrap(), &mut text).unwrap();
    (outcome.value.unwrap(), String::from_utf8(text).unwrap())
}

/// Translates proofs of optima, and layouts that reach these optima. Asserts that `VeriPB` confirms all of
/// them.
fn confirm(veripb: &mut VeriPb, name: &str, instances: &[Instance]) {
    let mut cases = Vec::new();
    for t in instances {
        let (best, layout) = solved(t);
        let case = veripb.give(&csv(t), ".proof", &text(&learnt(t, best).unwrap()));
        cases.push((t, case, veripb.give(&csv(t), ".layout.csv", &layout)));
    }
    let start = Instant::now();
    for (case, printed) in veripb.translate().iter().enumerate() {
        assert_eq!(printed, "translated", "{}", std::fs::read_to_string(veripb.path(case, ".csv")).unwrap());
    }
    let (translating, mut checking) = (start.elapsed(), Duration::ZERO);
    let (mut own, mut theirs, mut searched, mut twins, mut mirrored) = (0, 0, 0, 0, 0);
    for &(t, case, fit) in &cases {
        let start = Instant::now();
        assert!(veripb.confirms(case, "", REFUTED), "{}", csv(t));
        checking += start.elapsed();
        assert!(veripb.confirms(fit, ".fit", "SATISFIABLE"), "{}", csv(t));
        own += veripb.bytes(case, ".proof");
        theirs += veripb.bytes(case, ".pbp");
        let proof = std::fs::read_to_string(veripb.path(case, ".proof")).unwrap();
        for (count, word) in
            [(&mut searched, "\nclause"), (&mut twins, "\ntwin"), (&mut mirrored, "\nmirror")]
        {
            *count += usize::from(proof.contains(word));
        }
    }
    println!(
        "{name}: {} proofs and layouts confirmed, {searched} with clauses, {twins} with twins, {mirrored} with \
         mirror images; {own} bytes became {theirs}; \
         translated in {translating:.1?}, checked in {checking:.1?}",
        cases.len(),
    );
}

#[test]
#[ignore = "needs PLIMSOLL_VERIPB: run `make test-veripb`"]
fn veripb_accepts_proofs_and_layouts() {
    let mut veripb = VeriPb::installed();
    let random: Vec<Instance> = (0..400).map(|seed| small(4 + seed as usize % 5, seed % 16, seed)).collect();
    confirm(&mut veripb, "random", &random);
    let mut veripb = VeriPb::installed();
    let twins = (0..100).map(|seed| {
        let params = SmallParams::with_features(6, seed % 2 * 2);
        small_instance(SmallParams { max_size: 2, steps: 3, ..params }, seed).with_capacity(None)
    });
    confirm(&mut veripb, "twins", &twins.collect::<Vec<_>>());
    let mut veripb = VeriPb::installed();
    let above: Vec<Instance> = (0..40).map(|seed| above_load(16 + seed % 5 * 2, seed)).collect();
    confirm(&mut veripb, "above-load", &above);
}

#[test]
#[ignore = "needs PLIMSOLL_VERIPB: run `make test-veripb`"]
fn veripb_rejects_altered_proofs() {
    let mut veripb = VeriPb::installed();
    let mut cases = Vec::new();
    for seed in 0..60 {
        let t = if seed % 4 == 0 { above_load(16, seed) } else { small(7, seed % 16, seed) };
        let (best, _) = solved(&t);
        let proof = text(&learnt(&t, best).unwrap());
        let larger = proof.replacen(&format!("bound {best}"), &format!("bound {}", best.get() + 1), 1);
        let right = veripb.give(&csv(&t), ".proof", &proof);
        cases.push((right, veripb.give(&csv(&t), ".proof", &larger)));
    }
    let printed = veripb.translate();
    let mut rng = StdRng::seed_from_u64(1);
    let (mut replaced, mut rejected) = (0, 0);
    for (right, larger) in cases {
        // With one byte more, the claim is false.
        assert!(printed[larger] != "translated" || !veripb.confirms(larger, "", REFUTED));
        // The refutation of one capacity does not refute the next larger one.
        assert!(!veripb.run(&veripb.path(larger, ".opb"), &veripb.path(right, ".pbp")).status.success());
        let text = std::fs::read_to_string(veripb.path(right, ".pbp")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_step = |at: &usize| lines[*at].starts_with("pol ") || lines[*at].starts_with("rup ");
        let steps: Vec<usize> = (0..lines.len()).filter(is_step).collect();
        for _ in 0..5 {
            // The replacement copies the first inequality, so the numbers of all constraints remain valid.
            let mut altered = lines.clone();
            altered[steps[rng.random_range(0..steps.len())]] = "pol 1 ;";
            std::fs::write(veripb.path(right, ".pbp"), altered.join("\n")).unwrap();
            replaced += 1;
            rejected += usize::from(!veripb.confirms(right, "", REFUTED));
        }
    }
    println!("{rejected} of {replaced} refutations without one of their steps are rejected");
    // Some steps are not needed for a refutation.
    assert!(rejected * 2 > replaced);
}

#[test]
#[ignore = "needs PLIMSOLL_VERIPB: run `make test-veripb`"]
fn veripb_rejects_proofs_by_unsound_rules() {
    let mut veripb = VeriPb::installed();
    for (proof, csv) in RULES.iter().flat_map(|&wrong| false_proofs(wrong)) {
        veripb.give(&csv, ".proof", &proof);
    }
    let printed = veripb.translate();
    let translated = (0..printed.len()).filter(|&case| printed[case] == "translated");
    let accepted = translated.clone().filter(|&case| veripb.confirms(case, "", REFUTED));
    assert_eq!(accepted.collect::<Vec<_>>(), Vec::<usize>::new());
    println!("{} of {} false proofs are translated; VeriPB rejects all", translated.count(), printed.len());
}
