//! Ablation variants of `smt`. Most switch off one component of the encoding.

use super::{Encoding, Smt, Theory};
use plimsoll_model::{Build, Entry, Kind, Offsets, Setup, guarded};

pub(crate) const VARIANTS: &[Entry<Offsets>] = &[
    theory("smt:no-bridges", "no bridges between cliques", &|s| guarded(smt(s, |e| e.bridges = 0))),
    theory("smt:no-positions", "does not propagate offset ranges", &|s| {
        guarded(smt(s, |e| e.positions = false))
    }),
    theory("smt:no-absorb", "keeps dominated buffers", &|s| guarded(smt(s, |e| e.absorb = false))),
    theory("smt:no-symmetry", "keeps twins and mirror images", &|s| guarded(smt(s, |e| e.symmetry = false))),
    theory("smt:linear", "linear integer arithmetic instead of difference logic", &|s| {
        guarded(smt(s, |e| e.theory = Theory::Linear))
    }),
    theory("smt:plain", "only disjunctions", &|s| {
        guarded(smt(s, |e| {
            *e = Encoding { absorb: false, positions: false, symmetry: false, bridges: 0, ..*e };
        }))
    }),
];

const fn theory(name: &'static str, about: &'static str, build: Build<Offsets>) -> Entry<Offsets> {
    Entry {
        name,
        kind: Kind::Exact,
        about,
        source: "ablation of smt",
        time: "exponential at worst, like smt",
        build,
    }
}

fn smt(setup: Setup, change: fn(&mut Encoding)) -> Smt {
    let mut encoding = Encoding::default();
    change(&mut encoding);
    Smt::new(setup).with_encoding(encoding)
}
